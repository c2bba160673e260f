/* go-memmove: Go's without AVX. To 256 bytes everything is loaded before anything is stored. Backwards by rep movsq if the
   destination lies within the source's bytes. Forwards 256 bytes an iteration through sixteen xmm registers up to the
   parameter (2048), above it rep movsq if both pointers are multiples of eight, rep movsb otherwise. What is left of less
   than a unit goes back to the beginning. */
#include "x64_memmove.inc"

.macro XMM_PAIRS op:req, base:req, count:req, direction:req, first=0
    .set i, 0
    .irp r, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
    .if i >= \first && i < \first + \count
    .if \direction
    movups [\base+16*(i-\first)], xmm\r
    .else
    movups xmm\r, [\base+16*(i-\first)]
    .endif
    .endif
    .set i, i + 1
    .endr
.endm

/* `count` vectors from either end. */
.macro XMM_ENDS count:req
    XMM_PAIRS load, rsi, \count, 0
    XMM_PAIRS load, rsi+rdx-16*\count, \count, 0, \count
    XMM_PAIRS store, rdi, \count, 1
    XMM_PAIRS store, rdi+rdx-16*\count, \count, 1, \count
    ret
.endm

ROUTINE go_memmove, "go-memmove", KIND_MOVE, NEEDS_SSE2, 2048
    mov r10, rcx
1:  cmp rdx, 16
    jbe 2f
    cmp rdx, 32
    jbe 3f
    cmp rdx, 64
    jbe 4f
    cmp rdx, 128
    jbe 5f
    cmp rdx, 256
    jbe 6f
    mov r8, rdi
    sub r8, rsi
    cmp r8, rdx
    jb 10f
    cmp rdx, r10
    jbe 7f
    mov eax, esi
    or eax, edi
    mov rcx, rdx
    test al, 7
    jz 9f
    rep movsb
    ret

2:  MOVE_SHORT_AND_RETURN
3:  XMM_ENDS 1
4:  XMM_ENDS 2
5:  XMM_ENDS 4
6:  XMM_ENDS 8

7:  sub rdx, 256
    XMM_PAIRS load, rsi, 16, 0
    XMM_PAIRS store, rdi, 16, 1
    cmp rdx, 256
    lea rsi, [rsi+256]
    lea rdi, [rdi+256]
    jge 7b
    jmp 1b

9:  shr rcx, 3
    and edx, 7
    rep movsq
    jmp 1b

10: mov rcx, rdx
    lea rsi, [rsi+rdx-8]
    lea rdi, [rdi+rdx-8]
    shr rcx, 3
    and edx, 7
    std
    rep movsq
    cld
    add rsi, 8
    add rdi, 8
    sub rsi, rdx
    sub rdi, rdx
    jmp 1b
END go_memmove
