/* x64-memmove-avx512: to 64 bytes a masked vector, to 512 everything is loaded before anything is stored. Above, the first and
   the last 256 bytes are loaded at the beginning and stored at the end; between them four vectors an iteration, stores
   aligned; backwards if the destination lies within the source's bytes. */
#include "x64_avx512.inc"

.macro LOAD_LAST_4 base:req
    vmovdqu64 zmm20, [\base]
    vmovdqu64 zmm21, [\base+64]
    vmovdqu64 zmm22, [\base+128]
    vmovdqu64 zmm23, [\base+192]
.endm
.macro STORE_LAST_4 base:req
    vmovdqu64 [\base], zmm20
    vmovdqu64 [\base+64], zmm21
    vmovdqu64 [\base+128], zmm22
    vmovdqu64 [\base+192], zmm23
.endm

ROUTINE x64_memmove_avx512, "x64-memmove-avx512", KIND_MOVE, NEEDS_AVX512
    cmp rdx, 64
    ja 1f
    COPY_MASKED
    ret
1:  cmp rdx, 128
    ja 2f
    vmovdqu64 zmm16, [rsi]
    vmovdqu64 zmm17, [rsi+rdx-64]
    vmovdqu64 [rdi], zmm16
    vmovdqu64 [rdi+rdx-64], zmm17
    ret
2:  cmp rdx, 256
    ja 3f
    vmovdqu64 zmm16, [rsi]
    vmovdqu64 zmm17, [rsi+64]
    vmovdqu64 zmm18, [rsi+rdx-128]
    vmovdqu64 zmm19, [rsi+rdx-64]
    vmovdqu64 [rdi], zmm16
    vmovdqu64 [rdi+64], zmm17
    vmovdqu64 [rdi+rdx-128], zmm18
    vmovdqu64 [rdi+rdx-64], zmm19
    ret
3:  cmp rdx, 512
    ja 4f
    LOAD_4_ZMM rsi
    LOAD_LAST_4 rsi+rdx-256
    STORE_4_ZMM vmovdqu64, rdi
    STORE_LAST_4 rdi+rdx-256
    ret
4:  mov r8, rdi
    sub r8, rsi
    lea r10, [rdi+rdx-256]              /* where the last four go */
    cmp r8, rdx
    jb 6f
    vmovdqu64 zmm24, [rsi]
    LOAD_LAST_4 rsi+rdx-256
    mov r9, rdi
    sub rsi, rdi                        /* the source, from the destination */
    add rdi, 64
    and rdi, -64
5:  LOAD_4_ZMM rdi+rsi
    STORE_4_ZMM vmovdqa64, rdi
    add rdi, 256
    cmp rdi, r10
    jb 5b
    STORE_LAST_4 r10
    vmovdqu64 [r9], zmm24
    ret
6:  vmovdqu64 zmm24, [rsi+rdx-64]
    LOAD_LAST_4 rsi
    lea r9, [rdi+rdx-64]
    lea r11, [rdi+rdx-1]
    and r11, -64
    sub rsi, rdi
    lea r10, [rdi+256]
7:  sub r11, 256
    LOAD_4_ZMM r11+rsi
    STORE_4_ZMM vmovdqa64, r11
    cmp r11, r10
    ja 7b
    STORE_LAST_4 rdi
    vmovdqu64 [r9], zmm24
    ret
END x64_memmove_avx512
