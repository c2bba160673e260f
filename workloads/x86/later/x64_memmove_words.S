/* x64-memmove-words: the kernel's without fast rep movsb: 32 bytes an iteration by words, rep movsq for long moves between
   places aligned alike; x64_memmove.inc. */
#include "x64_memmove.inc"

MEMMOVE_KERNEL x64_memmove_words, "x64-memmove-words"
