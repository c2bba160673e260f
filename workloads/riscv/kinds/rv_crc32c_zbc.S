/* rv-crc32c-zbc: CRC-32C eight bytes at a time by carry-less multiplication (Zbc), after Barrett: the quotient of a word by the
   polynomial is the word times a constant, the remainder what the quotient times the polynomial has above 64 bits; all with
   bits reflected. A first and a last part of a word are shifted to its upper end, and take one step each. Loads are of aligned
   words, which lie in a page of the data's. */
#include "../routine.h"

/* a5 = what is left of `from`; a2 and a3 are the constants. */
.macro REDUCE from:req
    clmul a5, \from, a2
    clmulh a5, a5, a3
.endm

/* The lower t2 bytes (1 to 7) of t0 after the CRC in a5. */
.macro PART
    slli t2, t2, 3
    neg t3, t2                          /* 64 - bits, to a shift */
    xor t0, t0, a5
    sll t0, t0, t3
    srl t4, a5, t2
    REDUCE t0
    xor a5, a5, t4
.endm

CHECKSUM_LIKE crc32c, rv_crc32c_zbc, "rv-crc32c-zbc", NEEDS_ZBC
    li a5, 0xffffffff
    beqz a1, 5f
    li a2, 0x4869ec38dea713f1           /* x^96 / P, without its highest bit, and 1 */
    li a3, 0x105ec76f0                  /* P without its highest bit, one place higher */
    add a4, a0, a1                      /* end */
    andi t1, a0, W - 1
    beqz t1, 1f
    sub a0, a0, t1
    ld t0, 0(a0)
    slli t2, t1, 3
    srl t0, t0, t2
    li t2, W
    addi a0, a0, W
    sub t2, t2, t1                      /* bytes of the first word */
    bleu t2, a1, 2f
    mv t2, a1
2:  PART
1:  addi a6, a4, -W
    bltu a6, a0, 4f
3:  ld t0, 0(a0)
    addi a0, a0, W
    xor t0, t0, a5
    REDUCE t0
    bgeu a6, a0, 3b
4:  bgeu a0, a4, 5f
    sub t2, a4, a0
    ld t0, 0(a0)
    PART
5:  not a0, a5
    sext.w a0, a0
    ret
END rv_crc32c_zbc
