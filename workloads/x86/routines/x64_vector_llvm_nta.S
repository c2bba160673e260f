/* llvm-libc-memcpy-avx2-nta: LLVM libc's AVX memcpy with software prefetching, as of 2026. Below 256 bytes it is
   llvm-libc-memcpy-avx2-2023 (the prefetches there are left out). Above, the source and the destination (for writing)
   are prefetched three lines ahead; a block of 32, the destination advanced to a multiple of 32, 224 bytes; three lines
   per iteration: below the parameter (1 MiB) prefetched ahead, from it on by non-temporal stores without prefetching,
   and sfence; then 64 bytes per iteration, and the last 64 over what has been copied. */
#include "../routine.h"
#include "llvm_libc_memcpy.inc"

.macro PREFETCH_LINES first:req
    .irp line, 0, 64, 128
    prefetcht0 [rsi+\first+\line]
    prefetchw [rdi+\first+\line]
    .endr
.endm

ROUTINE llvm_libc_memcpy_avx2_nta, "llvm-libc-memcpy-avx2-nta", KIND_COPY, NEEDS_AVX2, 1 << 20
    cmp rdx, 256
    jb llvm_libc_memcpy_avx2_2023
    mov r8, rdx
    PREFETCH_LINES 64
    BLOCK 32, 0, 32, ymm, vmovdqu, vmovdqu
    mov eax, edi
    and eax, 31
    sub rax, 32
    sub rsi, rax
    sub rdi, rax
    add rdx, rax
    cmp rdx, 224
    jb 5f                               /* 224 to 255 are copied by 64 */
    BLOCK 128, 0, 32, ymm, vmovdqu, vmovdqa
    BLOCK 96, 128, 32, ymm, vmovdqu, vmovdqa
    add rsi, 224
    add rdi, 224
    sub rdx, 224
    cmp rdx, 256
    jb 5f
    cmp r8, rcx
    jb 3f
    .balign 16
2:  .irp at, 0, 32, 64, 96, 128, 160
    vmovdqu ymm0, [rsi+\at]
    vmovntdq [rdi+\at], ymm0
    .endr
    add rsi, 192
    add rdi, 192
    sub rdx, 192
    cmp rdx, 256
    jae 2b
    sfence
    jmp 5f
    .balign 16
3:  PREFETCH_LINES 64
    .irp line, 0, 64, 128
    BLOCK 64, \line, 32, ymm, vmovdqu, vmovdqa
    .endr
    add rsi, 192
    add rdi, 192
    sub rdx, 192
    cmp rdx, 256
    jae 3b
    jmp 5f
4:  BLOCK 64, 0, 32, ymm, vmovdqu, vmovdqa
    add rsi, 64
    add rdi, 64
    sub rdx, 64
5:  cmp rdx, 64
    jae 4b
    BLOCK 64, rdx-64, 32, ymm, vmovdqu, vmovdqu
    vzeroupper
    ret
END llvm_libc_memcpy_avx2_nta
