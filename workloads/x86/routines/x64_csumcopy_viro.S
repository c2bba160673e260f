/* x64-csumcopy-viro: A. Viro, 2020. Starts at ~0, so that a sum is never 0, and aligns the destination by 1, 2 and 4
   bytes; after an odd start everything is rotated by a byte. */
#include "../routine.h"
#include "x64_csumcopy.inc"

/* A piece at the front of the destination, if the address has that bit and there is as much. */
.macro ALIGN_BY size:req, out:req, load:req, register:req, wide:req
    test dil, \size
    jz .Laligned\@
    cmp rdx, \size
    jb \out
    \load
    mov [rdi], \register
    add rsi, \size
    add rdi, \size
    sub rdx, \size
    add rax, \wide
    adc rax, 0
.Laligned\@:
.endm

ROUTINE x64_csumcopy_viro, "x64-csumcopy-viro", KIND_COPY_CHECKSUM
    SAVE
    mov eax, -1
    mov r12d, edi
    test dil, 7
    jz 2f
    test dil, 1
    jz 1f
    test rdx, rdx
    jz 3f
    movzx ebx, byte ptr [rsi]
    mov [rdi], bl
    inc rsi
    inc rdi
    dec rdx
    shl ebx, 8
    add rax, rbx
1:  ALIGN_BY 2, 2f, "movzx ebx, word ptr [rsi]", bx, rbx
    ALIGN_BY 4, 2f, "mov ebx, [rsi]", ebx, rbx
2:  COPY_AND_SUM
    test r12b, 1
    jz 3f
    rol eax, 8
3:  RESTORE
    ret
END x64_csumcopy_viro
