/* Copy and checksum in one, of the 64-bit kernels. Faults, which the originals report, do not occur here.

   Both: 64 bytes a turn as eight loads into eight registers, a prefetch five lines ahead, eight adc of registers whose carry
   lives across turns because lea and dec leave it alone, eight stores; words one at a time; up to three 16-bit words; a byte.

   x64-csumcopy-kleen (A. Kleen, 2002 to 2020) leaves alignment to its callers and starts from their sum, here 0.
   x64-csumcopy-viro (A. Viro, 2020) starts at ~0, so that a sum is never 0, and aligns the destination by 1, 2 and 4 bytes;
   after an odd start everything is rotated by a byte. */
#include "../routine.h"

/* rsi to rdi, rdx bytes, into eax; rcx, rdx, r8 to r11 and what is pushed are scratch. */
.macro COPY_AND_SUM
    mov r9, rdx
    mov ecx, edx
    shr ecx, 6
    jz .Lwords\@
    test eax, eax                        /* no carry */
.Lturn\@:
    mov rbx, [rsi]
    mov r8, [rsi+8]
    mov r11, [rsi+16]
    mov rdx, [rsi+24]
    mov r10, [rsi+32]
    mov rbp, [rsi+40]
    mov r14, [rsi+48]
    mov r13, [rsi+56]
    prefetcht0 [rsi+320]
    adc rax, rbx
    adc rax, r8
    adc rax, r11
    adc rax, rdx
    adc rax, r10
    adc rax, rbp
    adc rax, r14
    adc rax, r13
    dec ecx
    mov [rdi], rbx
    mov [rdi+8], r8
    mov [rdi+16], r11
    mov [rdi+24], rdx
    mov [rdi+32], r10
    mov [rdi+40], rbp
    mov [rdi+48], r14
    mov [rdi+56], r13
    lea rsi, [rsi+64]
    lea rdi, [rdi+64]
    jnz .Lturn\@
    adc rax, 0
.Lwords\@:
    mov ecx, r9d
    shr ecx, 3
    and ecx, 7
    jz .Lfold\@
    test eax, eax
.Lword\@:
    mov rbx, [rsi]
    adc rax, rbx
    mov [rdi], rbx
    lea rsi, [rsi+8]
    lea rdi, [rdi+8]
    dec ecx
    jnz .Lword\@
    adc rax, 0
.Lfold\@:
    mov rbx, rax
    shr rax, 32
    add eax, ebx
    adc eax, 0
    mov ecx, r9d
    shr ecx, 1
    and ecx, 3
    jz .Lbyte\@
    test eax, eax
.Lhalf\@:
    movzx ebx, word ptr [rsi]
    adc eax, ebx
    mov [rdi], bx
    lea rsi, [rsi+2]
    lea rdi, [rdi+2]
    dec ecx
    jnz .Lhalf\@
    adc eax, 0
.Lbyte\@:
    test r9b, 1
    jz .Ldone\@
    movzx ebx, byte ptr [rsi]
    mov [rdi], bl
    add eax, ebx
    adc eax, 0
.Ldone\@:
.endm

.macro SAVE
    .irp r, rbx, rbp, r12, r13, r14
    push \r
    .endr
.endm
.macro RESTORE
    .irp r, r14, r13, r12, rbp, rbx
    pop \r
    .endr
.endm

ROUTINE x64_csumcopy_kleen, "x64-csumcopy-kleen", KIND_COPY_CHECKSUM
    SAVE
    xor eax, eax
    COPY_AND_SUM
    RESTORE
    ret
END x64_csumcopy_kleen

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
