/* sol-bcopy: the body of Solaris' kcopy, copyin and ddi_copyin on amd64, 2008. Below 80 bytes a table of 80 places in
   straight-line code of 8-byte moves and a fixed end for the last bytes, the pointers being advanced by the length
   first. From 80 on the destination is aligned by moves of 1, 2 and 4 bytes, then 64 bytes per iteration through r8,
   r10 and rcx in pairs of loads and pairs of stores, the rest through the table. From the parameter on (128; 768 on
   Nehalem) rep movsq instead, nothing aligned, the rest through the table. Faults end the original as a whole, so none
   is expected here. */
#include "../routine.h"

#define IN_TABLE 80

.macro MOVE at:req, register:req
    mov \register, [rsi-(\at)]
    mov [rdi-(\at)], \register
.endm

/* The lengths that are `rest` modulo 8, longest first; `last` moves the rest. */
.macro MOVE_WORD words:req, rest:req
.Lmove_\words\()_\rest:
    MOVE 8*\words+\rest, r8
.endm
.macro CHAIN rest:req, last:vararg
    .irp words, 9, 8, 7, 6, 5, 4, 3, 2, 1
    MOVE_WORD \words, \rest
    .endr
.Lmove_0_\rest:
    \last
    ret
.endm
.macro LAST_3
    MOVE 3, r8w
    MOVE 1, r8b
.endm
.macro LAST_5
    MOVE 5, r8d
    MOVE 1, r8b
.endm
.macro LAST_6
    MOVE 6, r8d
    MOVE 2, r8w
.endm
.macro LAST_7
    MOVE 7, r8d
    LAST_3
.endm

.macro PLACE words:req, rest:req
    .long .Lmove_\words\()_\rest - .Lplaces
.endm
.macro PLACES words:req
    .irp rest, 0, 1, 2, 3, 4, 5, 6, 7
    PLACE \words, \rest
    .endr
.endm

    .section .rodata
    .balign 64
.Lplaces:
    .irp words, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9
    PLACES \words
    .endr

/* rdx bytes, fewer than 80. */
.macro THROUGH_TABLE
    add rsi, rdx
    add rdi, rdx
    lea r11, .Lplaces[rip]
    movsxd rcx, dword ptr [r11+4*rdx]
    lea rcx, [rcx+r11]
    jmp rcx
.endm

ROUTINE sol_bcopy, "sol-bcopy", KIND_COPY, 0, 128
    cmp rdx, IN_TABLE
    jae 1f
.Lrest:
    THROUGH_TABLE
1:  cmp rdx, rcx
    jae 6f
    test dil, 7
    jz 5f
    test dil, 1
    jz 2f
    movzx r8d, byte ptr [rsi]
    mov [rdi], r8b
    inc rsi
    inc rdi
    dec rdx
2:  test dil, 2
    jz 3f
    movzx r8d, word ptr [rsi]
    mov [rdi], r8w
    add rsi, 2
    add rdi, 2
    sub rdx, 2
3:  test dil, 4
    jz 5f
    mov r8d, [rsi]
    mov [rdi], r8d
    add rsi, 4
    add rdi, 4
    sub rdx, 4
5:  mov r11, rdx
    shr r11, 6
7:  .irp at, 0, 24, 48
    mov r8, [rsi+\at]
    mov r10, [rsi+\at+8]
    .if \at < 48
    mov rcx, [rsi+\at+16]
    .endif
    mov [rdi+\at], r8
    mov [rdi+\at+8], r10
    .if \at < 48
    mov [rdi+\at+16], rcx
    .endif
    .endr
    add rsi, 64
    add rdi, 64
    dec r11
    jnz 7b
    and edx, 63
    jmp .Lrest
6:  mov rcx, rdx
    shr rcx, 3
    rep movsq
    and edx, 7
    jmp .Lrest
    CHAIN 0
    CHAIN 1, MOVE 1, r8b
    CHAIN 2, MOVE 2, r8w
    CHAIN 3, LAST_3
    CHAIN 4, MOVE 4, r8d
    CHAIN 5, LAST_5
    CHAIN 6, LAST_6
    CHAIN 7, LAST_7
END sol_bcopy
