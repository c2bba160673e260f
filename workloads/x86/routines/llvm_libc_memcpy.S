/* llvm-libc-memcpy and its AVX form. 0 to 4 bytes exactly; then head and tail that overlap, of 4, 8, 16, 32 and 64 bytes (AVX:
   and 128). Above, a block of 32, the destination advanced to a multiple of 32, 32 bytes a turn (AVX: 64), and the last as
   many bytes over what has been copied. */
#include "../routine.h"

/* `count` bytes at `at` from both pointers, loads first. */
.macro BLOCK count:req, at:req, bytes:req, v:req, movu:req, store:req
    .set i, 0
    .irp r, 0, 1, 2, 3
    .if i < \count
    \movu \v\r, [rsi+\at+i]
    .endif
    .set i, i + \bytes
    .endr
    .set i, 0
    .irp r, 0, 1, 2, 3
    .if i < \count
    \store [rdi+\at+i], \v\r
    .endif
    .set i, i + \bytes
    .endr
.endm

.macro ENDS count:req, bytes:req, v:req, movu:req
    BLOCK \count, 0, \bytes, \v, \movu, \movu
    BLOCK \count, rdx-\count, \bytes, \v, \movu, \movu
.endm

.macro ENDS_OF register:req, size:req
    mov \register, [rsi]
    mov [rdi], \register
    mov \register, [rsi+rdx-\size]
    mov [rdi+rdx-\size], \register
.endm

.macro MEMCPY symbol:req, name:req, flags:req, bytes:req, v:req, movu:req, mova:req, turn:req, ending
ROUTINE \symbol, "\name", KIND_COPY, \flags
    mov rax, rdi
    test rdx, rdx
    jz 9f
    cmp rdx, 1
    je 1f
    cmp rdx, 2
    je 2f
    cmp rdx, 3
    je 3f
    cmp rdx, 4
    je 4f
    cmp rdx, 8
    jb 5f
    cmp rdx, 16
    jb 6f
    cmp rdx, 32
    jb 7f
    cmp rdx, 64
    jb 8f
    cmp rdx, 128
    jb 10f
    .if \turn == 64
    cmp rdx, 256
    jb 11f
    .endif
    BLOCK 32, 0, \bytes, \v, \movu, \movu
    mov ecx, edi
    and ecx, 31
    sub rcx, 32
    sub rsi, rcx
    sub rdi, rcx
    add rdx, rcx
    .balign 16
12: BLOCK \turn, 0, \bytes, \v, \movu, \mova
    add rsi, \turn
    add rdi, \turn
    sub rdx, \turn
    cmp rdx, \turn
    ja 12b
    BLOCK \turn, rdx-\turn, \bytes, \v, \movu, \movu
    \ending
9:  ret
1:  mov cl, [rsi]
    mov [rdi], cl
    ret
2:  mov cx, [rsi]
    mov [rdi], cx
    ret
3:  mov cx, [rsi]
    mov dl, [rsi+2]
    mov [rdi], cx
    mov [rdi+2], dl
    ret
4:  mov ecx, [rsi]
    mov [rdi], ecx
    ret
5:  ENDS_OF ecx, 4
    ret
6:  ENDS_OF rcx, 8
    ret
7:  ENDS 16, 16, xmm, movups
    ret
8:  ENDS 32, \bytes, \v, \movu
    \ending
    ret
10: ENDS 64, \bytes, \v, \movu
    \ending
    ret
11: .if \turn == 64
    ENDS 128, \bytes, \v, \movu
    \ending
    ret
    .endif
END \symbol
.endm

MEMCPY llvm_libc_memcpy, "llvm-libc-memcpy", 0, 16, xmm, movups, movaps, 32
MEMCPY llvm_libc_memcpy_avx2, "llvm-libc-memcpy-avx2", NEEDS_AVX2, 32, ymm, vmovdqu, vmovdqa, 64, vzeroupper
