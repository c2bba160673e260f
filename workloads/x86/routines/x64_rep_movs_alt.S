/* x64-rep-movs-alt-v1 to -v4: the kernel's rep_movs_alternative, called where FSRM is missing. Below eight bytes a byte a
   turn; below 64 a word a turn and then bytes; from 64 on what the versions differ in. After a fault bytes are tried again
   from where the pointers stand, so the count is exact.

     v1    April 2023: 64 bytes a turn through four registers, nothing aligned
     v2    August 2023: rep movsq, then bytes
     v3    March 2025: eight bytes unaligned, the destination then advanced to a multiple of 8 (by 1 to 8), rep movsq, bytes
     v4    proposed in 2025: as v3, and below 64 the last bytes by one word that overlaps what has been copied
     -erms where ERMS is there all of them do rep movsb from 64 on

   rcx holds the length as the original's contract has it. */
#include "../routine.h"
#include "x64_copy_user.inc"

.macro LARGE_UNROLLED bytes:req, words:req, out:req
.Lturn\@:
    COPY_64 \bytes, mov
    add rsi, 64
    add rdi, 64
    sub rcx, 64
    cmp rcx, 64
    jae .Lturn\@
    cmp ecx, 8
    jae \words
    test ecx, ecx
    jnz \bytes
    jmp \out
.endm

.macro LARGE_MOVSQ bytes:req, words:req, out:req
    mov rax, rcx
    shr rcx, 3
    and eax, 7
    MAY_FAULT .Lcut\@, rep movsq
    mov ecx, eax
    test ecx, ecx
    jnz \bytes
    jmp \out
.Lcut\@:
    lea rcx, [rax+8*rcx]
    jmp \bytes
.endm

.macro LARGE_ALIGNED bytes:req, words:req, out:req
    MAY_FAULT \bytes, mov rax, [rsi]
    MAY_FAULT \bytes, mov [rdi], rax
    mov rax, rdi
    add rdi, 8
    and rdi, -8
    sub rax, rdi                         /* less the distance */
    sub rsi, rax
    add rcx, rax
    LARGE_MOVSQ \bytes, \words, \out
.endm

.macro LARGE_ERMS bytes:req, words:req, out:req
    MAY_FAULT \bytes, rep movsb
    jmp \out
.endm

.macro BYTES_LAST bytes:req, out:req
    jmp \bytes
.endm

.macro WORD_LAST bytes:req, out:req
    MAY_FAULT \bytes, mov rax, [rsi+rcx-8]
    MAY_FAULT \bytes, mov [rdi+rcx-8], rax
    xor ecx, ecx
    jmp \out
.endm

.macro ALTERNATIVE symbol:req, name:req, large:req, last:req
ROUTINE \symbol, "\name", KIND_USER_COPY
    mov rcx, rdx
    OPEN_USER
    cmp rcx, 64
    jae .Llarge\@
    cmp ecx, 8
    jae .Lwords\@
    test ecx, ecx
    jz .Lout\@
.Lbytes\@:
    MAY_FAULT .Lout\@, mov al, [rsi]
    MAY_FAULT .Lout\@, mov [rdi], al
    inc rdi
    inc rsi
    dec rcx
    jnz .Lbytes\@
.Lout\@:
    CLOSE_USER
    mov rax, rcx
    ret
.Lwords\@:
    MAY_FAULT .Lbytes\@, mov rax, [rsi]
    MAY_FAULT .Lbytes\@, mov [rdi], rax
    add rsi, 8
    add rdi, 8
    sub ecx, 8
    jz .Lout\@
    cmp ecx, 8
    jae .Lwords\@
    \last .Lbytes\@, .Lout\@
.Llarge\@:
    \large .Lbytes\@, .Lwords\@, .Lout\@
END \symbol
.endm

ALTERNATIVE x64_rep_movs_alt_v1, "x64-rep-movs-alt-v1", LARGE_UNROLLED, BYTES_LAST
ALTERNATIVE x64_rep_movs_alt_v2, "x64-rep-movs-alt-v2", LARGE_MOVSQ, BYTES_LAST
ALTERNATIVE x64_rep_movs_alt_v3, "x64-rep-movs-alt-v3", LARGE_ALIGNED, BYTES_LAST
ALTERNATIVE x64_rep_movs_alt_v4, "x64-rep-movs-alt-v4", LARGE_ALIGNED, WORD_LAST
ALTERNATIVE x64_rep_movs_alt_erms, "x64-rep-movs-alt-erms", LARGE_ERMS, BYTES_LAST
