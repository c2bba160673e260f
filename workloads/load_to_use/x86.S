/* Load-to-use latency, as riscv.S. Runs in ring 0 with the machine's own tables: the first 4 GiB identity-mapped. */
#define TABLE 0x400000
#define BYTES 0x10000000
#define LOADS 64

.intel_syntax noprefix
.macro PSEUDO_OP function:req
    .byte 0x0f, 0x04
    .short \function
.endm
.macro CHASE turns:req
    mov rcx, \turns
    call chase
.endm
.macro MEASURE turns:req
    xor edi, edi
    xor esi, esi
    PSEUDO_OP 0x40                       /* resetstats */
    CHASE \turns
    xor edi, edi
    xor esi, esi
    PSEUDO_OP 0x41                       /* dumpstats */
.endm

    .text
    .globl _start
_start:
    cli
    cld
    lea rsp, stack_top[rip]
    mov edi, TABLE
    mov esi, BYTES
    xor edx, edx
    PSEUDO_OP 0x50                       /* readfile(buffer, length, offset) */
    mov ebx, TABLE
    cmp rax, [rbx]                       /* bytes of the file, then an entry for each level */
    jne fail
    add rbx, 8
next:
    mov r15, [rbx]                       /* what is followed first, and so many turns of it; 0: the end */
    test r15, r15
    jz done
    mov r12, [rbx+24]                    /* turns of the two measurements */
    mov r13, [rbx+32]
    CHASE [rbx+8]
    mov rdx, [rbx+16]                    /* what is measured; 0: on where the first ended */
    test rdx, rdx
    jz 1f
    mov r15, rdx
1:  add rbx, 40
    MEASURE r12
    MEASURE r13
    jmp next
done:
    xor edi, edi
    PSEUDO_OP 0x21                       /* exit(delay) */
1:  jmp 1b
fail:
    xor edi, edi
    mov esi, 1
    PSEUDO_OP 0x22                       /* fail(delay, code) */
1:  jmp 1b

    .balign 64
chase:
    .rept LOADS
    mov r15, [r15]
    .endr
    dec rcx
    jnz chase
    ret

    .bss
    .balign 64
    .skip 256
stack_top:
.section .note.GNU-stack, "", @progbits
