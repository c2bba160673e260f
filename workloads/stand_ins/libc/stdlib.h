/* Stands in for a C library's header: declarations, for a compiler that has no library. */
#pragma once
#include <stddef.h>
void abort(void) __attribute__((noreturn));
void *malloc(size_t bytes);
void free(void *memory);
