/* How a routine in C is registered: in the first table (EARLIER, of its instruction set's routine.h) or in the one behind it, by
   its kind. */
#pragma once

#define NEWEST(symbol, routine_name, routine_kind, routine_flags)                                                      \
    ROUTINE_IN(".routines.kinds", all_##symbol, symbol, routine_name, routine_kind, routine_flags)                     \
    struct routine_entry
#define TABLE_KIND_COPY EARLIER
#define TABLE_0 EARLIER
#define TABLE_KIND_CHECKSUM EARLIER
#define TABLE_1 EARLIER
#define TABLE_KIND_USER_COPY EARLIER
#define TABLE_2 EARLIER
#define TABLE_KIND_COPY_CHECKSUM EARLIER
#define TABLE_3 EARLIER
#define TABLE_KIND_SET EARLIER
#define TABLE_4 EARLIER
#define TABLE_KIND_MOVE EARLIER
#define TABLE_5 EARLIER
#define TABLE_KIND_CLEAR NEWEST
#define TABLE_6 NEWEST
#define ROUTINE(symbol, routine_name, routine_kind, routine_flags)                                                     \
    TABLE_##routine_kind(symbol, routine_name, routine_kind, routine_flags)

/* What a checksum other than the Internet's is to be: a name, and a plain function, uint64_t f(const void *data, uint64_t
   size). CHECKSUM_LIKE registers those that are to return the same. */
struct reference {
    char name[40];
    void *fn;
};
#define REFERENCE(checksum, function)                                                                                  \
    extern const struct reference like_##checksum;                                                                     \
    const struct reference like_##checksum = {#checksum, (void *)function}
#define CHECKSUM_LIKE(checksum, symbol, routine_name, routine_flags)                                                   \
    __attribute__((section(".routines.kinds"), used, aligned(8))) static const struct routine_entry all_##symbol = {   \
        routine_name, KIND_OTHER_CHECKSUM, routine_flags, (void *)symbol, (uint64_t)&like_##checksum}
