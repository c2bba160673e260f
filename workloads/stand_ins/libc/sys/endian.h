/* Stands in for a header of the BSDs. */
#include <endian.h>
