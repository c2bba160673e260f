/* Stands in for a C library's header: declarations, for a compiler that has no library. */
#pragma once
#include <stddef.h>
void bcopy(const void *from, void *to, size_t bytes);
void bzero(void *to, size_t bytes);
int bcmp(const void *one, const void *other, size_t bytes);
