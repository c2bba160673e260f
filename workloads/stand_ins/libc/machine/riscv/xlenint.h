/* Stands in for a header of newlib's: an integer of a register's width. */
#pragma once
#include <stdint.h>
typedef uint64_t uintxlen_t;
