/* folly-memcpy and its AVX form: the last eight bytes first, by an unaligned store; then, by the bits of the length, 8, 16 and
   32 leading bytes; then 64 bytes a turn through four xmm or two ymm registers. Nothing is aligned. Below eight bytes a
   ladder of overlapping moves. */
#include "../routine.h"

.macro FOLLY symbol:req, name:req, flags:req, bytes:req, vector:req, load:req, ending
ROUTINE \symbol, "\name", KIND_COPY, \flags
    cmp rdx, 8
    jb 5f
    mov r8, [rsi+rdx-8]
    mov [rdi+rdx-8], r8
    test dl, 8
    jz 1f
    mov r8, [rsi]
    mov [rdi], r8
    add rsi, 8
    add rdi, 8
1:  test dl, 16
    jz 2f
    movups xmm0, [rsi]
    movups [rdi], xmm0
    add rsi, 16
    add rdi, 16
2:  test dl, 32
    jz 3f
    MOVE_VECTORS 32, \bytes, \vector, \load
    add rsi, 32
    add rdi, 32
3:  shr rdx, 6
    jz 9f
4:  MOVE_VECTORS 64, \bytes, \vector, \load
    add rsi, 64
    add rdi, 64
    dec rdx
    jnz 4b
9:  \ending
    ret
5:  test dl, 4
    jnz 7f
    test dl, 2
    jnz 8f
    test dl, dl
    jz 6f
    mov al, [rsi]
    mov [rdi], al
6:  ret
7:  mov eax, [rsi]
    mov r8d, [rsi+rdx-4]
    mov [rdi], eax
    mov [rdi+rdx-4], r8d
    ret
8:  mov ax, [rsi]
    mov r8w, [rsi+rdx-2]
    mov [rdi], ax
    mov [rdi+rdx-2], r8w
    ret
END \symbol
.endm

.macro MOVE_VECTORS count:req, bytes:req, vector:req, load:req
    .set i, 0
    .irp r, 0, 1, 2, 3
    .if i < \count
    \load \vector\r, [rsi+i]
    .endif
    .set i, i + \bytes
    .endr
    .set i, 0
    .irp r, 0, 1, 2, 3
    .if i < \count
    \load [rdi+i], \vector\r
    .endif
    .set i, i + \bytes
    .endr
.endm

FOLLY folly_memcpy, "folly-memcpy", 0, 16, xmm, movups
FOLLY folly_memcpy_avx2, "folly-memcpy-avx2", NEEDS_AVX2, 32, ymm, vmovdqu, vzeroupper
