/* Stands in for a C library's header: nothing is asserted in what is measured. */
#undef assert
#define assert(condition) ((void)0)
#ifndef static_assert
#define static_assert _Static_assert
#endif
#ifndef _DIAGASSERT
#define _DIAGASSERT(condition) ((void)0)
#endif
