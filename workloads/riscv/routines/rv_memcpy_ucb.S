/* rv-memcpy-ucb: the kernel's first memcpy. From 128 bytes on and aligned alike: bytes up to a word, then iterations of
   sixteen words through ten registers (ten loads, ten stores, six loads, six stores). What is left, or everything:
   32-bit words if both pointers and the end allow, else bytes. */
#include "../routine.h"

ROUTINE rv_memcpy_ucb, "rv-memcpy-ucb", KIND_COPY
    mv t6, a0                           /* the return value stays in a0 */
    add a3, a1, a2                      /* end of the source */
    sltiu t0, a2, 128
    bnez t0, 4f
    xor t0, a0, a1
    andi t0, t0, W - 1
    bnez t0, 4f
    andi t0, a1, W - 1
    beqz t0, 2f
    addi t0, a1, W - 1
    andi t0, t0, -W
1:  lb t1, 0(a1)
    addi a1, a1, 1
    sb t1, 0(t6)
    addi t6, t6, 1
    bltu a1, t0, 1b
2:  sub a2, a3, a1
    andi a4, a2, -(16 * W)
    beqz a4, 4f
    add a2, a1, a4                      /* end of the iterations */
3:  ld a4, 0*W(a1)
    ld a5, 1*W(a1)
    ld a6, 2*W(a1)
    ld a7, 3*W(a1)
    ld t0, 4*W(a1)
    ld t1, 5*W(a1)
    ld t2, 6*W(a1)
    ld t3, 7*W(a1)
    ld t4, 8*W(a1)
    ld t5, 9*W(a1)
    sd a4, 0*W(t6)
    sd a5, 1*W(t6)
    sd a6, 2*W(t6)
    sd a7, 3*W(t6)
    sd t0, 4*W(t6)
    sd t1, 5*W(t6)
    sd t2, 6*W(t6)
    sd t3, 7*W(t6)
    sd t4, 8*W(t6)
    sd t5, 9*W(t6)
    ld a4, 10*W(a1)
    ld a5, 11*W(a1)
    ld a6, 12*W(a1)
    ld a7, 13*W(a1)
    ld t0, 14*W(a1)
    ld t1, 15*W(a1)
    addi a1, a1, 16*W
    sd a4, 10*W(t6)
    sd a5, 11*W(t6)
    sd a6, 12*W(t6)
    sd a7, 13*W(t6)
    sd t0, 14*W(t6)
    sd t1, 15*W(t6)
    addi t6, t6, 16*W
    bltu a1, a2, 3b
4:  bgeu a1, a3, 7f
    or t0, a1, t6
    or t0, t0, a3
    andi t0, t0, 3
    bnez t0, 6f
5:  lw t1, 0(a1)
    addi a1, a1, 4
    sw t1, 0(t6)
    addi t6, t6, 4
    bltu a1, a3, 5b
    ret
6:  lb t1, 0(a1)
    addi a1, a1, 1
    sb t1, 0(t6)
    addi t6, t6, 1
    bltu a1, a3, 6b
7:  ret
END rv_memcpy_ucb
