/* The loops that were compared in 2016 and later, none of which aligns; what they leave goes by 4, 2 and 1 bytes.

   x64-csum-naive-adc: adc, dec, jge: one word a turn, from the last to the first. dec leaves the carry alone, but writes the
   other flags.
   x64-csum-dec-lea (A. Duyck): the same with 64 bytes a turn, forwards, lea and dec. */
#include "../routine.h"
#include "x64_csum.inc"

.macro FINISH
    ADD_LAST_421
    FOLD_64
    ret
.endm

ROUTINE x64_csum_naive_adc, "x64-csum-naive-adc", KIND_CHECKSUM
    xor eax, eax
    mov ecx, esi
    shr ecx, 3
    lea rdx, [rdi+8*rcx]
    sub ecx, 1                           /* no carry if there is a word */
    jb 2f
1:  adc rax, [rdi+8*rcx]
    dec ecx
    jge 1b
    adc rax, 0
2:  mov rdi, rdx
    FINISH
END x64_csum_naive_adc

ROUTINE x64_csum_dec_lea, "x64-csum-dec-lea", KIND_CHECKSUM
    mov ecx, esi
    shr ecx, 6
    xor eax, eax
    test ecx, ecx
    jz 2f
1:  ADC_BYTES 64
    lea rdi, [rdi+64]
    dec ecx
    jnz 1b
    adc rax, 0
2:  mov ecx, esi
    shr ecx, 3
    and ecx, 7
    jz 4f
3:  adc rax, [rdi]
    lea rdi, [rdi+8]
    dec ecx
    jnz 3b
    adc rax, 0
4:  FINISH
END x64_csum_dec_lea

/* x64-csum-jrcxz (D. Laight 2016): four instructions a word, jrcxz, adc, lea, jmp, none of which but adc touches a flag.
   x64-csum-jrcxz-two: two words a turn (2010 and 2024). An odd word goes first. */
.macro COUNT_UP bytes:req
    mov ecx, esi
    and ecx, -\bytes
    add rdi, rcx
    neg rcx
    test eax, eax                        /* no carry */
.endm

ROUTINE x64_csum_jrcxz, "x64-csum-jrcxz", KIND_CHECKSUM
    xor eax, eax
    COUNT_UP 8
1:  jrcxz 2f
    adc rax, [rdi+rcx]
    lea rcx, [rcx+8]
    jmp 1b
2:  adc rax, 0
    FINISH
END x64_csum_jrcxz

.macro ODD_WORD
    xor eax, eax
    test sil, 8
    jz .Leven\@
    mov rax, [rdi]
    add rdi, 8
.Leven\@:
.endm

ROUTINE x64_csum_jrcxz_two, "x64-csum-jrcxz-two", KIND_CHECKSUM
    ODD_WORD
    COUNT_UP 16
1:  jrcxz 2f
    adc rax, [rdi+rcx]
    adc rax, [rdi+rcx+8]
    lea rcx, [rcx+16]
    jmp 1b
2:  adc rax, 0
    FINISH
END x64_csum_jrcxz_two

/* x64-csum-jrcxz-alternating: for processors whose adc takes two cycles from register to register but one from flag to flag
   (Sandy Bridge to Haswell): the carry goes from one sum to the other, 32 bytes a turn; 16 bytes first if the length has
   them. */
ROUTINE x64_csum_jrcxz_alternating, "x64-csum-jrcxz-alternating", KIND_CHECKSUM
    ODD_WORD
    mov ecx, esi
    xor edx, edx
    and ecx, -32
    mov r8, rcx
    neg rcx
    bt esi, 4
    jnc 1f
    add rax, [rdi]
    adc rdx, [rdi+8]
    lea rdi, [rdi+16]
1:  lea rdi, [rdi+r8]
2:  jrcxz 3f
    adc rax, [rdi+rcx]
    adc rdx, [rdi+rcx+8]
    adc rax, [rdi+rcx+16]
    adc rdx, [rdi+rcx+24]
    lea rcx, [rcx+32]
    jmp 2b
3:  adc rax, rdx
    adc rax, 0
    FINISH
END x64_csum_jrcxz_alternating

/* x64-csum-adx: two carry chains at once, adcx through the carry flag and adox through the overflow flag, 64 bytes a turn. */
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
    FINISH
END x64_csum_adx
