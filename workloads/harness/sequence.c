#include "sequence.h"

/* What sequence.S calls: the functions with their parameters. A caller in a program names them; there they are loaded. */
struct {
    void *copy, *sum;
    u64 copy_parameter, sum_parameter;
} sequence_now __attribute__((section(".late")));

void sequence_copy_sum(void), sequence_sum_copy(void), sequence_user_copy_sum(void), sequence_sum_user_copy(void);

void *sequence_function(const struct sequence *s) {
    int user = s->copy->kind == KIND_USER_COPY;
    sequence_now.copy = s->copy->fn;
    sequence_now.sum = s->sum->fn;
    sequence_now.copy_parameter = s->copy->parameter;
    sequence_now.sum_parameter = s->sum->parameter;
    if (s->order == COPY_THEN_SUM)
        return (void *)(user ? sequence_user_copy_sum : sequence_copy_sum);
    return (void *)(user ? sequence_sum_user_copy : sequence_sum_copy);
}
