/* Stands in for a C library's header: byte orders. */
#include <netinet/in.h>
