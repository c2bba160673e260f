/* The host as gem5's pseudo-ops: bytes 0f 04 and a 16-bit function, arguments and result as in a C call. */
.intel_syntax noprefix

.macro PSEUDO_OP function:req
    .byte 0x0f, 0x04
    .short \function
.endm

    .text
    .balign 16
    .globl arch_writefile
arch_writefile:
    PSEUDO_OP 0x4f
    ret
    .globl arch_readfile
arch_readfile:
    PSEUDO_OP 0x50
    ret
    .globl arch_exit
arch_exit:
    xor edi, edi
    PSEUDO_OP 0x21                       /* exit(delay) */
1:  jmp 1b
    .globl arch_fail
arch_fail:
    mov rsi, rdi
    xor edi, edi
    PSEUDO_OP 0x22                       /* fail(delay, code) */
2:  jmp 2b
    .globl arch_work_begin
arch_work_begin:
    xor edi, edi
    xor esi, esi
    PSEUDO_OP 0x5a                       /* work_begin(id, thread) */
    ret
    .globl arch_work_end
arch_work_end:
    xor edi, edi
    xor esi, esi
    PSEUDO_OP 0x5b                       /* work_end(id, thread) */
    ret
.section .note.GNU-stack, "", @progbits
