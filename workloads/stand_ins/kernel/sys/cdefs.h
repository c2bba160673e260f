/* Marks of the BSDs in C, and what a C library's header of this name has. */
#if !defined(STAND_INS_ALONE) && __has_include_next(<sys/cdefs.h>)
#include_next <sys/cdefs.h>
#endif
#ifndef __FBSDID
#define __FBSDID(text) struct stand_in
#endif
#ifndef __RCSID
#define __RCSID(text) struct stand_in
#endif
#ifndef __KERNEL_RCSID
#define __KERNEL_RCSID(number, text) struct stand_in
#endif
#ifndef __CONCAT
#define __CONCAT(one, other) one##other
#endif
#ifndef __BEGIN_DECLS
#define __BEGIN_DECLS
#define __END_DECLS
#endif
#ifndef __weak_reference
#define __weak_reference(function, alias) extern __typeof__(function) alias __attribute__((weak, alias(#function)))
#endif
#ifndef __strong_alias
#define __strong_alias(name, function) extern __typeof__(function) name __attribute__((alias(#function)))
#endif
#ifndef __weak_alias
#define __weak_alias(name, function) extern __typeof__(function) name __attribute__((weak, alias(#function)))
#endif
#ifndef __unused
#define __unused __attribute__((unused))
#endif
#ifndef __predict_true
#define __predict_true(condition) __builtin_expect((condition) != 0, 1)
#define __predict_false(condition) __builtin_expect((condition) != 0, 0)
#endif
#ifndef DEF_STRONG
#define DEF_STRONG(name) struct stand_in
#define DEF_WEAK(name) struct stand_in
#endif
#ifndef _DIAGASSERT
#define _DIAGASSERT(condition) ((void)0)
#endif
