/* Load-to-use latency: rings of pointers, each followed by dependent loads (breakeven/analysis/load_to_use.py, which writes the
   table at TABLE, the pointers behind it, and reads the cycles out of the statistics). Runs in M-mode: no translation. */
#define TABLE 0x80200000
#define BYTES 0x10000000
#define LOADS 64

.macro PSEUDO_OP function:req
    .word (\function << 25) | 0x7b
.endm
.macro CHASE turns:req
    mv s11, \turns
    jalr s10
.endm
.macro MEASURE turns:req
    li a0, 0
    li a1, 0
    PSEUDO_OP 0x40                       /* resetstats */
    CHASE \turns
    li a0, 0
    li a1, 0
    PSEUDO_OP 0x41                       /* dumpstats */
.endm

    .text
    .globl _start
_start:
    li a0, TABLE
    li a1, BYTES
    li a2, 0
    PSEUDO_OP 0x50                       /* readfile(buffer, length, offset) */
    mv s0, a0                            /* bytes that there was memory for */
    li s1, TABLE
    ld t1, 0(s1)                         /* bytes of the file, then an entry for each level */
    bne s0, t1, fail
    la s10, chase
    addi s1, s1, 8
next:
    ld t0, 0(s1)                         /* what is followed first, and so many turns of it; 0: the end */
    beqz t0, done
    ld s2, 8(s1)
    ld s3, 16(s1)                        /* what is measured; 0: on where the first ended */
    ld s4, 24(s1)                        /* turns of the two measurements */
    ld s5, 32(s1)
    addi s1, s1, 40
    CHASE s2
    beqz s3, 1f
    mv t0, s3
1:  MEASURE s4
    MEASURE s5
    j next
done:
    li a0, 0
    PSEUDO_OP 0x21                       /* exit(delay) */
1:  j 1b
fail:
    li a0, 0
    li a1, 1
    PSEUDO_OP 0x22                       /* fail(delay, code) */
1:  j 1b

    .balign 64
chase:
    .rept LOADS
    ld t0, 0(t0)
    .endr
    addi s11, s11, -1
    bnez s11, chase
    ret
