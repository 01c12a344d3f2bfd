// fuzz_groot.c - whatever a monitor asks by Groot2's protocol, it is answered, and the tree goes on working.
//
// The input is records: a byte for how many parts a request has (0 to 3; 4 and more: the tree is ticked), then, for
// each, two bytes for its length (little-endian) and the part itself.
#include "pons/groot.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { PARTS_MAX = 3, REQUESTS_MAX = 64, HEADER = 6 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char text[] =
    "<root BTCPP_format=\"4\" main_tree_to_execute=\"Main\"><BehaviorTree ID=\"Main\">"
    "<Sequence name=\"seq\"><Script code=\"x:=1; y:=2.5; s:='hi'\"/><SubTree ID=\"Sub\" p=\"{x}\"/>"
    "<SubTree ID=\"Sub\" name=\"second\" p=\"{y}\"/><Action ID=\"a\"/></Sequence></BehaviorTree>"
    "<BehaviorTree ID=\"Sub\"><Fallback><ScriptCondition code=\"p==1\"/><AlwaysSuccess/></Fallback>"
    "</BehaviorTree><TreeNodesModel><Action ID=\"a\"/></TreeNodesModel></root>";

typedef struct rig {
    pons_clock_manual clock;
    pons_bt_tree *tree;
    pons_groot *g;
} rig;

static pons_bt_registry *leaves;
static pons_bt *bt;

static void must(int holds)
{
    if (!holds) {
        abort();
    }
}

static int leaf(pons_bt_call *call, void *user, pons_error *err)
{
    (void)user;
    (void)err;
    return call->reason == PONS_BT_START ? PONS_BT_RUNNING : PONS_BT_SUCCESS;
}

static void on_change(void *user, const pons_bt_change *c)
{
    pons_groot_change(((rig *)user)->g, c->node, c->from, c->to);
}

static pons_bt_status hook(void *user, uint32_t node, bool after)
{
    rig *r = user;
    const int wanted = r->g ? pons_groot_hook(r->g, node, after) : PONS_BT_READY;
    must(wanted == PONS_GROOT_HOLD || wanted == PONS_BT_READY || wanted == PONS_BT_SUCCESS ||
         wanted == PONS_BT_FAILURE);
    return wanted == PONS_GROOT_HOLD ? PONS_BT_READY : (pons_bt_status)wanted;
}

static void ask(rig *r, const pons_groot_part *parts, size_t n)
{
    pons_groot_reply reply;
    must(pons_groot_answer(r->g, parts, n, &reply) == PONS_OK);
    must(reply.head.len > 0 && (!reply.packed || (reply.has_body && reply.body.len == 0)));
    if (n > 0 && parts[0].len == HEADER && reply.head.len > HEADER) { // which request it answers
        must(memcmp(reply.head.data + 1, (const char *)parts[0].data + 1, HEADER - 1) == 0);
    }
    pons_groot_reply_fini(&reply);
}

static size_t request(rig *r, const uint8_t *data, size_t size, size_t n)
{
    pons_groot_part parts[PARTS_MAX];
    size_t at = 0;
    for (size_t i = 0; i < n; i++) {
        const size_t left = size - at;
        const size_t head = left < 2 ? left : 2;
        size_t len = head == 2 ? (size_t)data[at] | (size_t)data[at + 1] << 8 : 0;
        at += head;
        len = len < size - at ? len : size - at;
        void *part = malloc(len ? len : 1); // of its own size: what is read behind it is seen
        must(part != NULL);
        memcpy(part, data + at, len);
        parts[i] = (pons_groot_part){part, len};
        at += len;
    }
    ask(r, parts, n);
    for (size_t i = 0; i < n; i++) {
        free((void *)(uintptr_t)parts[i].data);
    }
    return at;
}

static void load(void)
{
    const pons_bt_leaf l = {.name = "a", .fn = leaf};
    pons_bt_load_options o = {.format = PONS_BT_XML};
    pons_value_init();
    leaves = pons_bt_registry_create();
    o.leaves = leaves;
    must(leaves && pons_bt_register(leaves, &l, NULL) == PONS_OK);
    must(pons_bt_load(text, sizeof text - 1, &o, &bt, NULL, NULL) == PONS_OK);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (!bt) {
        load();
    }
    rig r = {.g = NULL};
    const pons_groot_options g = {.clock = pons_clock_from_manual(&r.clock), .hooks = true};
    const pons_bt_tree_options o = {
        .clock = g.clock, .leaves = leaves, .on_change = on_change, .hook = hook, .user = &r};
    must(pons_groot_create(bt, &g, &r.g, NULL) == PONS_OK);
    must(pons_bt_tree_create(bt, &o, &r.tree, NULL) == PONS_OK);
    pons_groot_show(r.g, r.tree);
    size_t at = 0;
    for (int i = 0; at < size && i < REQUESTS_MAX; i++) {
        const uint8_t what = data[at++];
        if (what > PARTS_MAX) {
            pons_bt_status s;
            pons_error err = PONS_ERROR_INIT;
            r.clock.now_ns += 100 * PONS_NS_PER_MS;
            // A result that a monitor replaced may leave out what a later node needs: that is said.
            must(pons_bt_tick(r.tree, PONS_BT_EXACTLY_ONCE, &s, &err) == PONS_OK || err.message[0]);
            pons_groot_beat(r.g);
        } else {
            at += request(&r, data + at, size - at, what);
        }
    }
    pons_bt_tree_destroy(r.tree);
    pons_groot_destroy(r.g);
    return 0;
}
