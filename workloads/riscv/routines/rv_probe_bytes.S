/* rv-probe-bytes: the byte half of the yardstick (rv_probe_words.S). Eight byte loads, eight byte stores per iteration.
   The probe rounds the length down to whole iterations; here the up to seven bytes left are copied one by one. */
#include "../routine.h"

ROUTINE rv_probe_bytes, "rv-probe-bytes", KIND_COPY
    add a3, a1, a2                      /* end of the source */
    andi a4, a2, -8
    beqz a4, 2f
    add a4, a1, a4
1:  lb a5, 0(a1)
    lb a6, 1(a1)
    lb a7, 2(a1)
    lb t0, 3(a1)
    lb t1, 4(a1)
    lb t2, 5(a1)
    lb t3, 6(a1)
    lb t4, 7(a1)
    sb a5, 0(a0)
    sb a6, 1(a0)
    sb a7, 2(a0)
    sb t0, 3(a0)
    sb t1, 4(a0)
    sb t2, 5(a0)
    sb t3, 6(a0)
    sb t4, 7(a0)
    addi a0, a0, 8
    addi a1, a1, 8
    bltu a1, a4, 1b
2:  bgeu a1, a3, 4f
3:  lb t0, 0(a1)
    sb t0, 0(a0)
    addi a1, a1, 1
    addi a0, a0, 1
    bltu a1, a3, 3b
4:  ret
END rv_probe_bytes
