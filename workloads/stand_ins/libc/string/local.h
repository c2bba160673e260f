/* Stands in for a header of newlib's string functions. */
#pragma once
#include <stddef.h>
#include <stdint.h>
#define __inhibit_loop_to_libcall
#define __no_builtin
#define __disable_sanitizer
