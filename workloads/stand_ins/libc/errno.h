/* Stands in for a C library's header. */
#pragma once
#define EFAULT 14
#define EINVAL 22
#define ERANGE 34
