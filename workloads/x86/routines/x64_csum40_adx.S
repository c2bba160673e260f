/* x64-csum40-adx: words 1 to 3 on word 0 by adcx, word 4 on the sum by adox, then both together; any other length is
   x64-csum-dumazet. */
#include "../routine.h"
#include "x64_csum40.inc"

FORTY x64_csum40_adx, "x64-csum40-adx", NEEDS_ADX
    xor eax, eax                         /* neither carry nor overflow */
    mov rdx, [rdi]
    mov ecx, 0
    adcx rdx, [rdi+8]
    adox rax, [rdi+32]
    adcx rdx, [rdi+16]
    adox rax, rcx
    adcx rdx, [rdi+24]
    adcx rdx, rcx
    add rax, rdx
    adc rax, 0
    FOLD_64
    ret
END x64_csum40_adx
