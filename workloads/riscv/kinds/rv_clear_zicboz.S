/* rv-clear-zicboz: zeros by cbo.zero (Zicboz), a line of 64 bytes at a time, as kernels clear pages; words and bytes around the
   lines, and alone below 128 bytes. */
#include "rv_clear.inc"

#define LINE 64

/* The line that holds `address`. */
.macro CBO_ZERO address:req
    .insn i 0x0f, 2, zero, \address, 4
.endm

ROUTINE rv_clear_zicboz, "rv-clear-zicboz", KIND_CLEAR, NEEDS_ZICBOZ
    li t2, 2 * LINE
    sltu t2, a1, t2
    CLEAR_TO_WORDS 9f
    bnez t2, 8f
    addi t0, a0, LINE - 1
    andi t0, t0, -LINE
3:  bgeu a0, t0, 4f
    sd zero, 0(a0)
    addi a0, a0, W
    j 3b
4:  andi t0, a1, -LINE
    bgeu a0, t0, 8f
5:  CBO_ZERO a0
    addi a0, a0, LINE
    bltu a0, t0, 5b
8:  CLEAR_WORDS
9:  CLEAR_BYTES
    ret
END rv_clear_zicboz
