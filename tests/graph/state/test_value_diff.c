// test_value_diff.c - a channel that is written anew is stored by what changed in it. Whatever a seeded
// random sequence of changes makes of a value of any shape, every checkpoint gives it back as it
// was: on both stores that are linked in, over restarts and after forks. A queue of hundreds costs
// its one change; a row that does not fit what it stands on is damage, said in one line.
#include "graph/graph_help.h"
#include "graph/unsynced.h"
#include "rounds.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { STEPS = 250, FORKS = 4, QUEUE = 300, TURNS = 100, ROW_BYTES_MAX = 200 };

typedef struct dream { // what the node makes of the channel, step by step
    pons_rand rand;
    int step, end;
    bool queue; // a queue, as the brain has one; else anything
    int turn;
} dream;

static pons_value *some(dream *d, int depth);

static pons_value *some_object(dream *d, int depth)
{
    pons_value *o = json_object();
    for (uint64_t n = pons_rand_below(&d->rand, 6); n-- > 0;) {
        char key[8];
        snprintf(key, sizeof key, "k%d", (int)pons_rand_below(&d->rand, 9));
        json_object_set_new(o, key, some(d, depth + 1));
    }
    if (pons_rand_below(&d->rand, 2)) {
        json_object_set_new(o, "id", json_integer((json_int_t)pons_rand_below(&d->rand, 50)));
    }
    return o;
}

static pons_value *some(dream *d, int depth)
{
    static const char *const words[] = {"", "~", "status", "a somewhat longer line of text",
                                        "é\"\n"};
    pons_value *list;
    switch (pons_rand_below(&d->rand, depth < 4 ? 9 : 6)) {
    case 0:
        return json_integer((json_int_t)pons_rand_below(&d->rand, 1000) - 500);
    case 1:
        return json_real(pons_rand_below(&d->rand, 3) ? 0.5 : -0.0);
    case 2:
        return json_boolean(pons_rand_below(&d->rand, 2));
    case 3:
        return json_null();
    case 4:
    case 5:
        return json_string(words[pons_rand_below(&d->rand, sizeof words / sizeof *words)]);
    case 6:
        return some_object(d, depth);
    default:
        list = json_array();
        for (uint64_t n = pons_rand_below(&d->rand, 12); n-- > 0;) {
            json_array_append_new(list, some(d, depth + 1));
        }
        return list;
    }
}

// The value with a change somewhere in it; the rest is shared, or (copies) made anew.
static pons_value *changed(dream *d, const pons_value *v)
{
    const size_t n = json_array_size(v);
    if (pons_rand_below(&d->rand, 8) == 0) {
        return some(d, 0);
    }
    if (json_is_object(v)) {
        pons_value *o = json_copy((pons_value *)(uintptr_t)v);
        char key[8];
        snprintf(key, sizeof key, "k%d", (int)pons_rand_below(&d->rand, 9));
        const pons_value *old = json_object_get(o, key);
        if (old && pons_rand_below(&d->rand, 3) == 0) {
            json_object_del(o, key);
        } else {
            json_object_set_new(o, key, old ? changed(d, old) : some(d, 1));
        }
        return o;
    }
    if (json_is_array(v) && n > 0) {
        pons_value *list = json_copy((pons_value *)(uintptr_t)v);
        const size_t at = pons_rand_below(&d->rand, n);
        switch (pons_rand_below(&d->rand, 4)) {
        case 0:
            json_array_remove(list, at);
            break;
        case 1:
            json_array_insert_new(list, at, some(d, 1));
            break;
        case 2:
            json_array_append_new(list, some(d, 1));
            break;
        default:
            json_array_set_new(list, at, changed(d, json_array_get(v, at)));
            break;
        }
        return list;
    }
    return some(d, 1);
}

static pons_value *task(int n, const char *status)
{
    return json_pack("{s:o, s:s, s:s, s:[s], s:i}", "id", json_sprintf("task-%d", n), "text",
                     "go to the kitchen", "status", status, "resources", "base", "priority", 50);
}

// The first becomes active, then it goes; one more comes.
static pons_value *queue_turn(dream *d, const pons_value *old)
{
    pons_value *list = old ? json_copy(json_object_get(old, "queue")) : json_array();
    while (json_array_size(list) < QUEUE) {
        json_array_append_new(list, task(d->turn++, "queued"));
    }
    if (old && d->step % 2) {
        json_array_set_new(list, 0, task(d->turn - QUEUE, "active"));
    } else if (old) {
        json_array_remove(list, 0);
        json_array_append_new(list, task(d->turn++, "queued"));
    }
    return json_pack("{s:o, s:s}", "queue", list, "mode", "EXEC");
}

static int node_dream(pons_cx *cx, void *user, pons_error *err)
{
    (void)err;
    dream *d = user;
    const pons_value *old = pons_cx_get(cx, "value");
    pons_value *v = d->queue ? queue_turn(d, old) : old ? changed(d, old) : some(d, 0);
    if (pons_rand_below(&d->rand, 3) == 0) { // as a program that decodes and encodes it
        pons_value *anew = json_deep_copy(v);
        pons_value_unref(v);
        v = anew;
    }
    return pons_cx_put(cx, "value", v);
}

static int route_dream(pons_cx *cx, void *user, pons_error *err)
{
    (void)err;
    dream *d = user;
    pons_cx_goto(cx, ++d->step < d->end ? "dream" : PONS_END);
    return PONS_OK;
}

static pons_graph *dream_graph(dream *d)
{
    static const char *const to[] = {"dream", PONS_END, NULL};
    pons_graph_builder *gb = pons_graph_builder_create("dream");
    channel(gb, "value", PONS_CHANNEL_LAST, NULL);
    pons_graph_node(gb, "dream", node_dream, d);
    pons_graph_edge(gb, PONS_START, "dream");
    pons_graph_router(gb, "dream", route_dream, d, to);
    return compile(gb, &(pons_graph_options){.recursion_limit = 10000});
}

static void assert_same(const pons_value *have, const pons_value *want, const char *what, size_t i)
{
    char *a = NULL, *b = NULL;
    pons_value_dump(have, &a);
    pons_value_dump(want, &b);
    if (strcmp(a, b) != 0) {
        fail_msg("%s %zu reads back as\n%s\nand was\n%s", what, i, a, b);
    }
    free(a);
    free(b);
}

// Drives to the end and keeps what each step left; dies and comes back now and then.
static void live(bed *b, dream *d, const pons_graph *g, pons_run *r, pons_value *states)
{
    pons_run_options o = {.durability = PONS_DURABILITY_SYNC};
    while (pons_run_state_get(r) == PONS_RUN_READY) {
        assert_ok(pons_run_step(r, &b->err));
        json_array_append_new(states, pons_value_ref(pons_run_get(r, "value")));
        if (d->step % 61 == 0 && pons_run_state_get(r) == PONS_RUN_READY) {
            pons_run_destroy(r);
            bed_thread(b);
            assert_ok(pons_run_resume(b->t, g, "", &o, &r, &b->err));
        }
    }
    pons_run_destroy(r);
}

static void dream_on(pons_store store, uint64_t seed)
{
    bed b;
    bed_open_on(&b, store);
    dream d = {.end = STEPS};
    pons_rand_seed(&d.rand, seed);
    pons_graph *g = dream_graph(&d);
    pons_run *r;
    pons_run_options o = {.durability = PONS_DURABILITY_SYNC};
    pons_autovalue states = json_array();
    assert_ok(pons_run_start(b.t, g, "", NULL, &o, &r, &b.err));
    live(&b, &d, g, r, states);
    pons_autovalue history = NULL;
    assert_ok(pons_state_history(b.store, "t1", "", STEPS, true, &history, &b.err));
    assert_int_equal(json_array_size(history), STEPS);
    for (size_t i = 0; i < STEPS; i++) {
        assert_same(pons_get(pons_get(json_array_get(history, STEPS - 1 - i), "values"), "value"),
                    json_array_get(states, i), "step", i);
    }
    for (int f = 0; f < FORKS; f++) {                          // and goes on from any of them
        const size_t at = pons_rand_below(&d.rand, STEPS - 1); // the last has nothing next
        const pons_value *row = json_array_get(history, STEPS - 1 - at);
        pons_autovalue later = json_array();
        d.end = d.step + 70;
        assert_ok(pons_run_fork(b.t, g, "", pons_get_str(row, "checkpoint_id", ""), NULL, &o, &r,
                                &b.err));
        assert_same(pons_run_get(r, "value"), json_array_get(states, at), "fork of", at);
        live(&b, &d, g, r, later);
        pons_autovalue head = NULL;
        assert_ok(pons_state_read(b.store, "t1", "", &head, &b.err));
        assert_same(pons_get(head, "value"), json_array_get(later, json_array_size(later) - 1),
                    "after fork", at);
    }
    pons_graph_destroy(g);
    bed_close(&b);
}

static void any_value_reads_back_as_it_was(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= (uint64_t)rounds(ROUNDS_graph_values); seed++) {
        print_message("  seed %llu\n", (unsigned long long)seed);
        pons_error err = PONS_ERROR_INIT;
        pons_store memory = {0}, file = {0};
        char dir[] = "/tmp/pons-patch-XXXXXX", path[64], words[96];
        assert_non_null(mkdtemp(dir));
        snprintf(path, sizeof path, "%s/t.db", dir);
        assert_ok(pons_store_memory_open(&memory, &err));
        assert_ok(pons_store_sqlite_open(path, &file, &err));
        dream_on(memory, seed);
        dream_on(file, seed);
        pons_store_close(&memory);
        pons_store_close(&file);
        snprintf(words, sizeof words, "rm -rf '%s'", dir);
        assert_int_equal(system(words), 0);
    }
}

typedef struct sizes {
    int rows, snapshots;
    size_t bytes; // of rows that are no snapshots
} sizes;

static int add_size(void *user, const pons_checkpoint_row *row)
{
    sizes *s = user;
    s->rows++;
    s->snapshots += row->snapshot;
    s->bytes += row->snapshot ? 0 : row->data.len;
    return 0;
}

static void a_queue_costs_its_one_change(void **state)
{
    (void)state;
    bed b;
    bed_open(&b);
    dream d = {.end = TURNS, .queue = true};
    pons_rand_seed(&d.rand, 1);
    pons_graph *g = dream_graph(&d);
    pons_run *r = run_to(&b, g, "", NULL, PONS_RUN_DONE);
    assert_int_equal(json_array_size(pons_get(pons_run_get(r, "value"), "queue")), QUEUE);
    pons_run_destroy(r);
    sizes s = {0};
    assert_ok(b.store.ops->history(b.store.self, "t1", "", "", 0, add_size, &s, &b.err));
    print_message("  %d changes of %d items: %zu bytes, %d snapshots\n", s.rows, QUEUE, s.bytes,
                  s.snapshots);
    // The first row has the queue whole; the snapshots before it were small.
    pons_autovalue first = json_pack("{s:o}", "value", queue_turn(&d, NULL));
    char *text = NULL;
    const long whole = pons_value_dump(first, &text);
    free(text);
    assert_true(s.bytes < (size_t)whole + (size_t)s.rows * ROW_BYTES_MAX);
    pons_graph_destroy(g);
    bed_close(&b);
}

static void a_patch_that_does_not_fit_is_damage(void **state)
{
    (void)state;
    static const char *const patches[] = {
        "{'nothing':['~',[0,1]]}",
        "['~',[0,9]]",
        "['~',[-1,1]]",
        "['~',['x',1]]",
        "['~',[7,{'a':[1]}]]",
        "['~',[0,1,2]]",
        "['~',7]",
        "['?',[0,1]]",
        "{'list':{'a':[1]}}",
        "{'list':['~',[0,4611686018427387904]]}",
        "{'gone':[]}",
        "7",
        "{'list':['~',[2,['~',[0,1]]]]}",
    };
    for (size_t i = 0; i < sizeof patches / sizeof *patches; i++) {
        bed b;
        bed_open(&b);
        pons_lease lease;
        pons_thread_close(b.t);
        b.t = NULL;
        assert_ok(b.store.ops->lease_acquire(b.store.self, "t1", &lease, &b.err));
        pons_autovalue whole = json("{'v':1,'c':{'value':{'list':[1,2,3]}}}");
        pons_autovalue p = json(patches[i]);
        pons_autovalue row = json_pack("{s:i, s:{s:O}}", "v", 2, "p", "value", p);
        char *texts[2] = {NULL, NULL};
        const long n0 = pons_value_dump(whole, &texts[0]), n1 = pons_value_dump(row, &texts[1]);
        const pons_checkpoint_row rows[] = {
            {.id = "00000000000000000000000001", .snapshot = true, .data = {texts[0], (size_t)n0}},
            {.id = "00000000000000000000000002",
             .parent = "00000000000000000000000001",
             .step = 1,
             .data = {texts[1], (size_t)n1}}};
        const pons_commit c = {.lease = &lease, .ns = "", .checkpoints = rows, .n_checkpoints = 2};
        assert_ok(b.store.ops->commit(b.store.self, &c, &b.err));
        b.store.ops->lease_release(b.store.self, &lease);
        pons_value *v = NULL;
        if (pons_state_read(b.store, "t1", "", &v, &b.err) != PONS_ECORRUPT) {
            fail_msg("%s was taken", patches[i]);
        }
        assert_non_null(strstr(b.err.message, "can't be read"));
        free(texts[0]);
        free(texts[1]);
        bed_close(&b);
    }
}

static int node_add(pons_cx *cx, void *user, pons_error *err)
{
    (void)err;
    const bool *later = user;
    pons_cx_put(cx, "old", json_integer(1));
    return *later ? pons_cx_put(cx, "counts", json("{'a':5}")) : PONS_OK;
}

// Its initial value is in no row yet, so a change of it is stored whole.
static void a_channel_that_a_graph_got_later(void **state)
{
    (void)state;
    static const pons_channel_kind kinds[] = {PONS_CHANNEL_REDUCE, PONS_CHANNEL_LAST};
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        bed b;
        bed_open(&b);
        pons_graph *graphs[2];
        bool later[2] = {false, true};
        pons_autovalue initial = json("{'a':1,'b':2,'c':'three and more'}");
        for (int i = 0; i < 2; i++) {
            pons_graph_builder *gb = pons_graph_builder_create("grows");
            channel(gb, "old", PONS_CHANNEL_LAST, NULL);
            const bool merges = kinds[k] == PONS_CHANNEL_REDUCE;
            const pons_channel_options counts = {
                .kind = kinds[k], .reduce = merges ? pons_reduce_merge : NULL, .initial = initial};
            if (i == 1) {
                pons_graph_channel(gb, "counts", &counts);
            }
            pons_graph_node(gb, "add", node_add, &later[i]);
            pons_graph_edge(gb, PONS_START, "add");
            pons_graph_edge(gb, "add", PONS_END);
            graphs[i] = compile(gb, NULL);
        }
        pons_run_destroy(run_to(&b, graphs[0], "", NULL, PONS_RUN_DONE));
        bed_thread(&b);
        pons_run_destroy(run_to(&b, graphs[1], "", NULL, PONS_RUN_DONE));
        pons_autovalue v = NULL;
        assert_ok(pons_state_read(b.store, "t1", "", &v, &b.err));
        assert_json(pons_get(v, "counts"), kinds[k] == PONS_CHANNEL_LAST
                                               ? "{'a':5}"
                                               : "{'a':5,'b':2,'c':'three and more'}");
        pons_graph_destroy(graphs[0]);
        pons_graph_destroy(graphs[1]);
        bed_close(&b);
    }
}

int main(void)
{
    unsynced();
    pons_value_init();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_value_reads_back_as_it_was),
        cmocka_unit_test(a_queue_costs_its_one_change),
        cmocka_unit_test(a_patch_that_does_not_fit_is_damage),
        cmocka_unit_test(a_channel_that_a_graph_got_later),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
