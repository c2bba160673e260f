/* x64-csum40-zero: one chain of five, begun with the first word, as the sum so far is known to be 0; any other length
   is x64-csum-dumazet. */
#include "../routine.h"
#include "x64_csum40.inc"

FORTY x64_csum40_zero, "x64-csum40-zero"
    mov rax, [rdi]
    add rax, [rdi+8]
    adc rax, [rdi+16]
    adc rax, [rdi+24]
    adc rax, [rdi+32]
    adc rax, 0
    FOLD_64
    ret
END x64_csum40_zero
