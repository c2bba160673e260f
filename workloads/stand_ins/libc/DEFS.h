/* Stands in for a C library's header with macros for assembly. */
#include <stand_in_libc/assembly.h>
