/* Stands in for a C library's header: declarations, for a compiler that has no library. */
#pragma once
#include <stddef.h>
void *memcpy(void *restrict to, const void *restrict from, size_t bytes);
void *mempcpy(void *restrict to, const void *restrict from, size_t bytes);
void *memmove(void *to, const void *from, size_t bytes);
void *memset(void *to, int byte, size_t bytes);
void *memchr(const void *from, int byte, size_t bytes);
int memcmp(const void *one, const void *other, size_t bytes);
size_t strlen(const char *text);
int strcmp(const char *one, const char *other);
char *strcpy(char *restrict to, const char *restrict from);
