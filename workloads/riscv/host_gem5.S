/* The host as gem5's pseudo-ops: one instruction word each, arguments and result as in a C call. */
.macro PSEUDO_OP symbol:req, function:req
    .globl \symbol
\symbol:
    .word (\function << 25) | 0x7b
    ret
.endm

    .text
    .balign 16
    PSEUDO_OP arch_writefile, 0x4f
    PSEUDO_OP arch_readfile, 0x50

    .globl arch_exit
arch_exit:
    li a0, 0
    .word (0x21 << 25) | 0x7b            /* exit(delay) */
1:  j 1b

    .globl arch_fail
arch_fail:
    mv a1, a0
    li a0, 0
    .word (0x22 << 25) | 0x7b            /* fail(delay, code) */
2:  j 2b

    .globl arch_work_begin
arch_work_begin:
    li a0, 0
    li a1, 0
    .word (0x5a << 25) | 0x7b            /* work_begin(id, thread) */
    ret

    .globl arch_work_end
arch_work_end:
    li a0, 0
    li a1, 0
    .word (0x5b << 25) | 0x7b            /* work_end(id, thread) */
    ret
