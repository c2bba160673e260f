/* rvv-adler32: Adler-32 by vectors (RVV 1.0), at most 128 bytes at a time: the sum of the bytes, and of each times the number of
   those from it on, which 16 bits hold; both sums stay in 64 bits and are reduced at the end and after a MiB. */
#include "../routine.h"

CHECKSUM_LIKE adler32, rvv_adler32, "rvv-adler32", NEEDS_V
    li a2, 1                            /* sums: of the bytes, of its values */
    li a3, 0
    li a4, 65521
    li a6, 128
    li a7, 1 << 20
    vsetivli zero, 1, e64, m1, ta, ma
    vmv.v.i v16, 0
1:  mv t3, a1                           /* bytes up to the next reduction */
    bleu t3, a7, 2f
    mv t3, a7
2:  sub a1, a1, t3
    beqz t3, 4f
3:  mv t0, t3
    bleu t0, a6, 31f
    mv t0, a6
31: vsetvli t0, t0, e8, m2, ta, ma
    vle8.v v0, (a0)
    add a0, a0, t0
    sub t3, t3, t0
    vid.v v2
    vrsub.vx v2, v2, t0                 /* each byte's weight */
    vwmulu.vv v4, v0, v2
    vwredsumu.vs v8, v0, v16
    vsetvli zero, zero, e16, m4, ta, ma
    vmv.x.s t1, v8
    vwredsumu.vs v12, v4, v16
    vsetvli zero, zero, e32, m8, ta, ma
    vmv.x.s t2, v12
    mul t4, a2, t0
    add a2, a2, t1
    add a3, a3, t2
    add a3, a3, t4
    bnez t3, 3b
4:  remu a2, a2, a4
    remu a3, a3, a4
    bnez a1, 1b
    slli a3, a3, 16
    or a0, a2, a3
    sext.w a0, a0
    ret
END rvv_adler32
