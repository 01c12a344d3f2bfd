// bench_bt.c - what behaviour trees cost. One JSON object a line; arguments choose figures by
// the beginnings of their names.
//
// bt.tick.leaves [ticks/s]: 121 nodes (a root, 20 composites, 100 leaves), all of them ticked, in
// MDSL; bt.tick.xml: the same in XML.
// bt.tick.running [ticks/s]: only the last leaf is running (MDSL).
// bt.load.mdsl, bt.load.xml [ms]: a definition of 985 nodes.
// bt.node.bytes, bt.tree.bytes [B/node]: definition and tree, the tree alone.
// bt.day [s]: 1,000 trees of 121 nodes tick each minute of a day.
#include "bench.h"
#include "pons/bt.h"
#include "pons/buf.h"

enum { COMPOSITES = 20, LEAVES_EACH = 5, COMPANIONS = 1000, MINUTES = 1440 };

typedef struct tree {
    pons_clock_manual clock;
    pons_bt_registry *leaves;
    pons_bt *bt;
    pons_bt_tree *t;
} tree;

static int succeed(pons_bt_call *call, void *user, pons_error *err)
{
    (void)call;
    (void)user;
    (void)err;
    return PONS_BT_SUCCESS;
}

static int run_on(pons_bt_call *call, void *user, pons_error *err)
{
    (void)call;
    (void)user;
    (void)err;
    return PONS_BT_RUNNING;
}

static pons_bt_registry *registry(void)
{
    pons_error err = PONS_ERROR_INIT;
    pons_bt_registry *r = pons_bt_registry_create();
    bench_must(pons_bt_register(r, &(pons_bt_leaf){.name = "A", .fn = succeed}, &err), &err);
    bench_must(pons_bt_register(r, &(pons_bt_leaf){.name = "R", .fn = run_on}, &err), &err);
    return r;
}

// n composites of 5 leaves under one; the last leaf of all may be another one.
static char *text_of(bool xml, int n, const char *last)
{
    pons_buf b = PONS_BUF_INIT;
    pons_buf_str(&b, xml ? "<root BTCPP_format=\"4\"><BehaviorTree ID=\"M\"><Sequence>"
                         : "root { sequence {\n");
    for (int i = 0; i < n; i++) {
        pons_buf_str(&b, xml ? "<Sequence>\n" : "  sequence {\n");
        for (int k = 0; k < LEAVES_EACH; k++) {
            const char *leaf = i == n - 1 && k == LEAVES_EACH - 1 ? last : "A";
            pons_buf_printf(&b, xml ? "  <Action ID=\"%s\"/>\n" : "    action [%s]\n", leaf);
        }
        pons_buf_str(&b, xml ? "</Sequence>\n" : "  }\n");
    }
    pons_buf_str(&b, xml ? "</Sequence></BehaviorTree></root>" : "} }");
    return pons_buf_take(&b, NULL);
}

static tree make(bool xml, const char *last)
{
    pons_error err = PONS_ERROR_INIT;
    tree x = {.leaves = registry()};
    char *text = text_of(xml, COMPOSITES, last);
    const pons_bt_load_options o = {.format = xml ? PONS_BT_XML : PONS_BT_MDSL, .leaves = x.leaves};
    static pons_clock_manual clock;
    bench_must(pons_bt_load(text, strlen(text), &o, &x.bt, NULL, &err), &err);
    const pons_bt_tree_options t = {.clock = pons_clock_from_manual(&clock), .leaves = x.leaves};
    bench_must(pons_bt_tree_create(x.bt, &t, &x.t, &err), &err);
    free(text);
    return x;
}

static void destroy(tree *x)
{
    pons_bt_tree_destroy(x->t);
    pons_bt_unref(x->bt);
    pons_bt_registry_destroy(x->leaves);
}

// Ticks for about a second after a warm-up.
static void bench_ticks(const char *name, bool xml, const char *last)
{
    pons_error err = PONS_ERROR_INIT;
    pons_bt_status s;
    tree x = make(xml, last);
    double began = 0;
    long n = 0;
    for (int round = 0; round < 2; round++) {
        began = bench_cpu_s();
        for (n = 0; bench_cpu_s() - began < (round ? 1.0 : 0.2); n += 1000) {
            for (int i = 0; i < 1000; i++) {
                bench_must(pons_bt_tick(x.t, PONS_BT_EXACTLY_ONCE, &s, &err), &err);
            }
        }
    }
    bench_print(name, (double)n / (bench_cpu_s() - began), "ticks/s");
    destroy(&x);
}

// 164 composites of 5 leaves and the one above them: 985 nodes. The middle of 101 loads.
static void bench_load(const char *name, bool xml)
{
    enum { LOADS = 101 };
    pons_error err = PONS_ERROR_INIT;
    double ms[LOADS];
    pons_bt_registry *r = registry();
    char *text = text_of(xml, 164, "A");
    const pons_bt_load_options o = {.format = xml ? PONS_BT_XML : PONS_BT_MDSL, .leaves = r};
    for (int i = 0; i < LOADS; i++) {
        const double began = bench_now_s(); // as the peers' loads are timed
        pons_bt *bt = NULL;
        bench_must(pons_bt_load(text, strlen(text), &o, &bt, NULL, &err), &err);
        ms[i] = (bench_now_s() - began) * 1e3;
        pons_bt_unref(bt);
    }
    bench_print(name, bench_quantile(ms, LOADS, 0.5), "ms");
    free(text);
    pons_bt_registry_destroy(r);
}

static void bench_bytes(void)
{
    tree x = make(false, "A");
    bench_print("bt.node.bytes",
                (double)(pons_bt_bytes(x.bt) + pons_bt_tree_bytes(x.t)) / pons_bt_nodes(x.bt),
                "B/node");
    bench_print("bt.tree.bytes", (double)pons_bt_tree_bytes(x.t) / pons_bt_nodes(x.bt), "B/node");
    destroy(&x);
}

static void bench_day(void)
{
    pons_error err = PONS_ERROR_INIT;
    tree first = make(false, "R");
    pons_bt_tree *trees[COMPANIONS];
    pons_clock_manual clock = {0};
    const pons_bt_tree_options o = {.clock = pons_clock_from_manual(&clock),
                                    .leaves = first.leaves};
    for (int i = 0; i < COMPANIONS; i++) {
        bench_must(pons_bt_tree_create(first.bt, &o, &trees[i], &err), &err);
    }
    const double began = bench_now_s();
    for (int m = 0; m < MINUTES; m++) {
        clock.now_ns += 60 * PONS_NS_PER_S;
        for (int i = 0; i < COMPANIONS; i++) {
            pons_bt_status s;
            if (m % 60 == 0) { // every hour all leaves are ticked
                bench_must(pons_bt_halt(trees[i], &err), &err);
            }
            bench_must(pons_bt_tick(trees[i], PONS_BT_EXACTLY_ONCE, &s, &err), &err);
        }
    }
    bench_print("bt.day", bench_now_s() - began, "s");
    for (int i = 0; i < COMPANIONS; i++) {
        pons_bt_tree_destroy(trees[i]);
    }
    destroy(&first);
}

int main(int argc, char **argv)
{
    pons_value_init();
    if (bench_wants(argc, argv, "bt.tick.leaves")) {
        bench_ticks("bt.tick.leaves", false, "A");
    }
    if (bench_wants(argc, argv, "bt.tick.xml")) {
        bench_ticks("bt.tick.xml", true, "A");
    }
    if (bench_wants(argc, argv, "bt.tick.running")) {
        bench_ticks("bt.tick.running", false, "R");
    }
    if (bench_wants(argc, argv, "bt.load.mdsl")) {
        bench_load("bt.load.mdsl", false);
    }
    if (bench_wants(argc, argv, "bt.load.xml")) {
        bench_load("bt.load.xml", true);
    }
    if (bench_wants(argc, argv, "bt.node.bytes")) {
        bench_bytes();
    }
    if (bench_wants(argc, argv, "bt.day")) {
        bench_day();
    }
    return 0;
}
