/* Stands in for a C library's header. */
#pragma once
#define LITTLE_ENDIAN 1234
#define BIG_ENDIAN 4321
#define BYTE_ORDER LITTLE_ENDIAN
#define _LITTLE_ENDIAN LITTLE_ENDIAN
#define _BIG_ENDIAN BIG_ENDIAN
#define _BYTE_ORDER BYTE_ORDER
#ifndef __LITTLE_ENDIAN
#define __LITTLE_ENDIAN LITTLE_ENDIAN
#endif
#define __BIG_ENDIAN BIG_ENDIAN
#define __BYTE_ORDER LITTLE_ENDIAN
#define htobe16(value) __builtin_bswap16(value)
#define htobe32(value) __builtin_bswap32(value)
#define htobe64(value) __builtin_bswap64(value)
#define be16toh(value) __builtin_bswap16(value)
#define be32toh(value) __builtin_bswap32(value)
#define be64toh(value) __builtin_bswap64(value)
#define htole16(value) (value)
#define htole32(value) (value)
#define htole64(value) (value)
#define le16toh(value) (value)
#define le32toh(value) (value)
#define le64toh(value) (value)
