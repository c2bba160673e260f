/* The kernel's types, and what a Linux host's header of this name has. */
#include <stand_in/types.h>
#if !defined(STAND_INS_ALONE) && __has_include_next(<asm/types.h>)
#include_next <asm/types.h>
#endif
