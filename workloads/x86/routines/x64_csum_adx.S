/* x64-csum-adx: two carry chains at once, adcx through the carry flag and adox through the overflow flag, 64 bytes per
   iteration; then 32, 16 and 8, and the last bytes by 4, 2 and 1. */
#include "../routine.h"
#include "x64_csum.inc"

ROUTINE x64_csum_adx, "x64-csum-adx", KIND_CHECKSUM, NEEDS_ADX
    mov ecx, esi
    and ecx, -64
    add rdi, rcx
    neg rcx
    xor eax, eax
    xor edx, edx                         /* neither carry nor overflow */
1:  jrcxz 2f
    .irp at, 0, 16, 32, 48
    adcx rax, [rdi+rcx+\at]
    adox rdx, [rdi+rcx+\at+8]
    .endr
    lea rcx, [rcx+64]
    jmp 1b
2:  adcx rax, rcx
    adox rdx, rcx
    add rax, rdx
    adc rax, 0
    ADD_32_16_8
    FINISH_421
END x64_csum_adx
