// fuzz_bt.c - no text may crash a loader of behaviour trees, the script language or the tick of
// what they load, leak, take long, or be refused without a place and a reason.
//
// The first byte of an input says what the rest is: m MDSL, j its JSON form, x XML, s a script of
// XML, t a script of leaves for a small tree (what `pons bt run` reads).
#include "pons/bt.h"
#include "pons/buf.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { TICKS = 4, NODES_MOST = 5000 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerInitialize(int *argc, char ***argv);

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    pons_value_init();
    return 0;
}

// Answers by what it is called, and differently each time; sometimes later, sometimes with an
// error.
static int leaf(pons_bt_call *call, void *user, pons_error *err)
{
    unsigned *n = user;
    pons_autovalue args = pons_bt_call_args(call); // as a leaf would: they can be read
    (void)args;
    pons_value *in = NULL;
    if (call->reason == PONS_BT_HALT) {
        return PONS_BT_READY;
    }
    if (pons_bt_call_input(call, "x", &in, NULL) >= 0) {
        pons_bt_call_output(call, "y", in, NULL);
    }
    *n = *n * 1103515245u + 12345u + (unsigned char)*call->name;
    switch (*n >> 16 & 15) {
    case 0:
        return pons_error_set(err, PONS_EIO, "fuzz", "no");
    case 1:
    case 2:
    case 3:
    case 4:
        call->deferred = (*n >> 20 & 3) == 0;
        return PONS_BT_RUNNING;
    case 5:
        return PONS_BT_SKIPPED;
    default:
        return *n >> 21 & 1 ? PONS_BT_SUCCESS : PONS_BT_FAILURE;
    }
}

static pons_bt_registry *leaves(unsigned *n)
{
    static const char *const names[] = {"a", "b", "A", "B", "Act", "Cond"};
    pons_bt_registry *r = pons_bt_registry_create();
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const pons_bt_leaf l = {
            .name = names[i], .condition = i == 5, .fn = leaf, .user = n, .ports = NULL};
        if (pons_bt_register(r, &l, NULL) < 0) {
            abort();
        }
    }
    pons_bt_register_enum(r, "RED", 3, NULL);
    return r;
}

static void check_fault(pons_bt *bt, const pons_error *err, pons_value *faults)
{
    size_t i;
    pons_value *f;
    if (bt || err->status == PONS_OK || !err->message[0] || (faults && !err->source[0])) {
        abort(); // a failure leaves its output alone and says why, and where
    }
    json_array_foreach(faults, i, f) {
        if (pons_get_int(f, "line", 0) < 1 || pons_get_int(f, "col", 0) < 1 ||
            !*pons_get_str(f, "message", "")) {
            abort();
        }
    }
}

// A few ticks, with a save and a restore between them: the two trees must be alike.
static void play(pons_bt *bt, const pons_bt_registry *r)
{
    pons_clock_manual clock = {0};
    const pons_bt_tree_options o = {.clock = pons_clock_from_manual(&clock), .leaves = r};
    pons_bt_tree *t = NULL, *again = NULL;
    if (pons_bt_tree_create(bt, &o, &t, NULL) < 0) {
        return;
    }
    for (int i = 0; i < TICKS; i++) {
        pons_bt_status s;
        pons_error err = PONS_ERROR_INIT;
        if (pons_bt_tick(t, PONS_BT_EXACTLY_ONCE, &s, &err) < 0 && !err.message[0]) {
            abort();
        }
        clock.now_ns += 300 * PONS_NS_PER_MS;
    }
    pons_value *saved = NULL;
    if (pons_bt_save(t, &saved, NULL) < 0 || pons_bt_tree_create(bt, &o, &again, NULL) < 0 ||
        pons_bt_restore(again, saved, NULL) < 0) {
        abort();
    }
    char *a = pons_bt_states(t), *b = pons_bt_states(again);
    if (strcmp(a, b) != 0) {
        abort();
    }
    free(a);
    free(b);
    pons_value_unref(saved);
    pons_bt_halt(t, NULL);
    pons_bt_reload(again, bt, r, NULL);
    pons_bt_tree_destroy(again);
    pons_bt_tree_destroy(t);
}

static void load(pons_bt_format format, const char *text, size_t len)
{
    unsigned n = (unsigned)len;
    pons_bt_registry *r = leaves(&n);
    const pons_bt_load_options o = {.format = format, .leaves = r, .any_leaf = len % 2};
    pons_bt *bt = NULL;
    pons_value *faults = NULL;
    pons_error err = PONS_ERROR_INIT;
    if (pons_bt_load(text, len, &o, &bt, &faults, &err) < 0) {
        check_fault(bt, &err, faults);
    } else {
        char *drawn = NULL;
        if (pons_bt_nodes(bt) <= NODES_MOST) {
            if (pons_bt_draw(bt, "dot", &drawn, NULL) < 0) {
                abort();
            }
            play(bt, r);
        }
        free(drawn);
    }
    pons_value_unref(faults);
    pons_bt_unref(bt);
    pons_bt_registry_destroy(r);
}

// The text as a script: `<Script code="…"/>`, then the same as a condition.
static void load_script(const char *text, size_t len)
{
    pons_buf b = PONS_BUF_INIT;
    pons_buf_str(&b, "<root BTCPP_format=\"4\"><BehaviorTree ID=\"M\"><Sequence><Script code=\"");
    for (int twice = 0; twice < 2; twice++) {
        for (size_t i = 0; i < len; i++) {
            const unsigned char c = (unsigned char)text[i];
            if (c < 0x20 || c == '<' || c == '&' || c == '"' || c >= 0x7f) {
                pons_buf_printf(&b, "&#%d;", c < 0x20 ? ' ' : c);
            } else {
                pons_buf_byte(&b, c);
            }
        }
        pons_buf_str(&b, twice ? "\"/></Sequence></BehaviorTree></root>"
                               : "\"/><ScriptCondition code=\"");
    }
    load(PONS_BT_XML, b.data, b.len);
    pons_buf_fini(&b);
}

static void on_line(void *user, const pons_value *line)
{
    (void)user;
    if (!pons_get(line, "tick")) {
        abort();
    }
}

static void try_leaves(const char *text, size_t len)
{
    static const char tree[] = "root { sequence while(c) { lotto { action [a, $x] wait [1, 5] } "
                               "retry [2] { action [b] exit(a) } } }";
    pons_autovalue script = NULL;
    pons_value *faults = NULL;
    pons_error err = PONS_ERROR_INIT;
    if (pons_value_parse(text, len, &script, &err) < 0 || pons_get_int(script, "ticks", 0) > 50) {
        return;
    }
    if (pons_bt_try("t.mdsl", tree, script, on_line, NULL, &faults, &err) < 0 && !err.message[0]) {
        abort();
    }
    pons_value_unref(faults);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0) {
        return 0;
    }
    char *text = malloc(size); // the rest and a zero: nothing may be read behind it
    if (!text) {
        return 0;
    }
    memcpy(text, data + 1, size - 1);
    text[size - 1] = '\0';
    switch (*data) {
    case 'm':
        load(PONS_BT_MDSL, text, size - 1);
        break;
    case 'j':
        load(PONS_BT_JSON, text, size - 1);
        break;
    case 'x':
        load(PONS_BT_XML, text, size - 1);
        break;
    case 's':
        load_script(text, size - 1);
        break;
    case 't':
        try_leaves(text, size - 1);
        break;
    default:
        break;
    }
    free(text);
    return 0;
}
