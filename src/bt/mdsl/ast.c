// ast.c - what both forms of a mistreevous tree are read into.
#include "bt/mdsl/ast.h"

void pons__bt_ast_fini(pons__bt_ast *n)
{
    for (; n; n = n->next) {
        pons_value_unref(n->args);
        for (int i = 0; n->at && i < AT_COUNT; i++) {
            pons_value_unref(n->at[i].args);
        }
        pons__bt_ast_fini(n->first);
    }
}

void pons__bt_ast_counts(pons__bt_faults *f, pons__bt_ast *n, const int64_t *v, int count,
                         pons__bt_pos pos)
{
    static const char *const what[] = {
        [M_REPEAT] = "iteration count", [M_RETRY] = "attempt count", [M_WAIT] = "duration"};
    const char *type = pons__bt_types[n->type].word;
    for (int i = 0; i < count; i++) {
        if (v[i] < 0) {
            pons__bt_fault(f, pos,
                           n->type == M_LOTTO
                               ? "%s node weight arguments must be positive integer values"
                               : "a %s node must have a positive %s",
                           type, n->type == M_LOTTO ? "" : what[n->type]);
            return;
        }
    }
    if (n->type == M_LOTTO) {
        return;
    }
    if (count > 2) {
        pons__bt_fault(f, pos, "invalid number of %s node %s arguments defined", type,
                       what[n->type]);
    } else if (count == 2 && v[0] > v[1]) {
        pons__bt_fault(f, pos, "a %s node must not have a minimum %s that exceeds the maximum %s",
                       type, what[n->type], what[n->type]);
    } else if (count > 0) {
        n->low = v[0];
        n->high = v[count - 1];
        n->drawn = count == 2;
    }
}
