/* From the entry to guest_main. The machine is in 64-bit mode, ring 0, the first 4 GiB identity-mapped, its descriptor
   table below 2 MiB; there is no stack and no interrupt table (docs/guests.md). */
.intel_syntax noprefix

    .section .text.start, "ax"
    .globl _start
_start:
    cli
    cld
    lea rsp, stack_top[rip]
    lea rdi, __bss_start[rip]
    lea rcx, __bss_end[rip]
    xor eax, eax
1:  mov [rdi], rax
    mov [rdi+8], rax
    mov [rdi+16], rax
    mov [rdi+24], rax
    add rdi, 32
    cmp rdi, rcx
    jb 1b

    call paging_init                     /* returns cr3 */
    mov cr3, rax
    call trap_init
    call cpu_init
    call guest_main
.section .note.GNU-stack, "", @progbits
