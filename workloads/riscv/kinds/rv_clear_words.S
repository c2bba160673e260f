/* rv-clear-words: zeros by words: bytes to the first whole one, eight an iteration, single ones, bytes. */
#include "rv_clear.inc"

ROUTINE rv_clear_words, "rv-clear-words", KIND_CLEAR
    CLEAR_TO_WORDS 9f
    CLEAR_WORDS
9:  CLEAR_BYTES
    ret
END rv_clear_words
