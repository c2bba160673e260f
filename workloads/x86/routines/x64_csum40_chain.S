/* x64-csum40-chain: one chain of five, on a sum that happens to be 0; any other length is x64-csum-dumazet. */
#include "../routine.h"
#include "x64_csum40.inc"

FORTY x64_csum40_chain, "x64-csum40-chain"
    xor eax, eax
    ADD_BYTES 40
    adc rax, 0
    FOLD_64
    ret
END x64_csum40_chain
