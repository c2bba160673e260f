/* x64-word-add: a probe of one word. It copies (four bytes by one move, other lengths by rep movsb) and then, from four
   bytes on, adds nothing to the destination's first 32-bit word 256 times, its address loaded anew each time: each
   iteration's load waits for the store of the iteration before. The destination's offset says whether the word lies
   across two lines or pages. */
#include "../routine.h"

ROUTINE x64_word_add, "x64-word-add", KIND_COPY
    cmp rdx, 4
    jne 3f
    mov eax, [rsi]
    mov [rdi], eax
1:  push rdi
    xor eax, eax
    mov ecx, 256
    .balign 16
2:  mov rdx, [rsp]
    add [rdx], eax
    dec ecx
    jnz 2b
    pop rdi
    ret
3:  mov r8, rdi
    mov rcx, rdx
    rep movsb
    mov rdi, r8
    cmp rdx, 4
    ja 1b
    ret
END x64_word_add
