/* Stands in for a C library's header: byte orders. */
#pragma once
#include <stdint.h>
#define htons(value) __builtin_bswap16(value)
#define htonl(value) __builtin_bswap32(value)
#define ntohs(value) __builtin_bswap16(value)
#define ntohl(value) __builtin_bswap32(value)
