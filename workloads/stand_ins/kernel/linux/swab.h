/* Byte orders, and what a Linux host's header of this name has. */
#include <stand_in/kernel.h>
#if !defined(STAND_INS_ALONE) && __has_include_next(<linux/swab.h>)
#include_next <linux/swab.h>
#endif
