/* Stands in for a header of the Linux kernel's, so that a file of its own copies and checksums is built without it. */
#ifdef __ASSEMBLER__
#include <stand_in/assembly.h>
#else
#include <stand_in/c.h>
#endif
