// tree_leaf.c - what every leaf of the navigator's tree does: register, begin, run, want, succeed, fail.
#include "body/nav/tree.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const int64_t SETTLE_NS = PONS_NS_PER_S / 2; // a cleared costmap is looked at for so long,
enum { SETTLE_SCANS = 4 };                          // and by so many scans

static int run_leaf(pons_bt_call *call, void *user, pons_error *err)
{
    const pons__nav_bound *b = user;
    if (call->reason == PONS_BT_HALT && !b->leaf->halts) {
        return PONS_BT_READY;
    }
    return b->leaf->fn(b->n, call, b->leaf->what, err);
}

int pons__nav_register(pons__nav *n, const pons__nav_leaf *leaves, size_t count, pons_error *err)
{
    int rc = PONS_OK;
    for (size_t i = 0; i < count && rc >= 0; i++) {
        assert(n->n_bound < PONS__NAV_LEAVES_MAX);
        pons__nav_bound *b = &n->bound[n->n_bound++];
        *b = (pons__nav_bound){n, &leaves[i]};
        const pons_bt_leaf leaf = {
            .name = leaves[i].name, .condition = leaves[i].condition, .fn = run_leaf, .user = b};
        rc = pons_bt_register(n->leaves, &leaf, err);
    }
    return rc;
}

void pons__nav_begin_leaf(pons__nav *n, const pons_bt_call *call)
{
    n->runs[call->node].start_ns = n->now_ns;
}

int pons__nav_ok(pons__nav *n, const pons_bt_call *call)
{
    pons__nav_out(call, "error_code_id", json_integer(0));
    pons__nav_out(call, "error_msg", json_string(""));
    return PONS_BT_SUCCESS;
}

int pons__nav_fail_leaf(pons__nav *n, const pons_bt_call *call, int code, const char *fmt, ...)
{
    pons__nav_fail f = {.code = code, .node = call->node};
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(f.msg, sizeof f.msg, fmt, ap);
    va_end(ap);
    pons__nav_out(call, "error_code_id", json_integer(code));
    pons__nav_out(call, "error_msg", json_string(f.msg));
    // One entry a number, the newest last.
    int kept = 0;
    for (int i = 0; i < n->n_fails; i++) {
        if (n->fails[i].code != code) {
            n->fails[kept++] = n->fails[i];
        }
    }
    if (kept == PONS__NAV_FAILS_MAX) {
        memmove(n->fails, n->fails + 1, sizeof *n->fails * (size_t)--kept);
    }
    n->fails[kept] = f;
    n->n_fails = kept + 1;
    return PONS_BT_FAILURE;
}

int pons__nav_running(pons__nav *n, const pons_bt_call *call)
{
    n->at_node = call->node;
    n->at_known = true;
    return PONS_BT_RUNNING;
}

void pons__nav_want(pons__nav *n, pons_twist2 want)
{
    n->want = want;
    n->limited = false;
}

bool pons__nav_current(pons__nav *n, pons__which_costmap which)
{
    if (n->cleared[which].waits && n->now_ns - n->cleared[which].ns >= SETTLE_NS &&
        n->cleared[which].scans >= SETTLE_SCANS) {
        n->cleared[which].waits = false;
    }
    return !n->cleared[which].waits;
}
