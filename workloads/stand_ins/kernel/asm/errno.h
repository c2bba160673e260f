/* Numbers of errors, and what a Linux host's header of this name has. */
#if !defined(STAND_INS_ALONE) && __has_include_next(<asm/errno.h>)
#include_next <asm/errno.h>
#else
#ifndef EFAULT
#define EFAULT 14
#endif
#endif
