/* The kernel's types, and what a Linux host's header of this name has. */
#include <stand_in/types.h>
#if !defined(STAND_INS_ALONE) && __has_include_next(<linux/types.h>)
#include_next <linux/types.h>
#endif
