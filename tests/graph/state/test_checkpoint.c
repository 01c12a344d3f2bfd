// test_checkpoint.c - packed rows: whatever a seeded random sequence of writes does, the store
// gives back exactly the state of every step; and storage costs what changed.
#include "graph/graph_help.h"
#include "graph/unsynced.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { STEPS = 400 };

typedef struct chaos {
    pons_rand rand;
    int step;
    pons_value *states; // (STEPS) the state after each step
    pons_run *run;
} chaos;

static pons_value *message(chaos *c)
{
    char id[8];
    snprintf(id, sizeof id, "m%d", (int)pons_rand_below(&c->rand, 40));
    return pons_object("id", json_string(id), "t",
                       json_integer((json_int_t)pons_rand_below(&c->rand, 1000)), NULL);
}

static pons_value *keyed(chaos *c)
{
    char key[8];
    snprintf(key, sizeof key, "k%d", (int)pons_rand_below(&c->rand, 12));
    pons_value *o = json_object();
    json_object_set_new(o, key, pons_rand_below(&c->rand, 4) ? json_integer(c->step) : json_null());
    return o;
}

static int node_chaos(pons_cx *cx, void *user, pons_error *err)
{
    (void)err;
    chaos *c = user;
    bool over = false; // twice in a step would be a conflict
    for (uint64_t n = pons_rand_below(&c->rand, 4); n-- > 0;) {
        switch (pons_rand_below(&c->rand, 8)) {
        case 0:
            pons_cx_put(cx, "last", json_integer((json_int_t)pons_rand_below(&c->rand, 3)));
            break;
        case 1:
            pons_cx_put(cx, "list", json_integer(c->step));
            break;
        case 2:
            pons_cx_put(cx, "messages", message(c));
            break;
        case 3:
            pons_cx_put(cx, "object", keyed(c));
            break;
        case 4:
            pons_cx_put(cx, "once", json_string("é\"\\\n"));
            break;
        case 5:
            pons_cx_put(cx, "topic", json("[1,2]"));
            break;
        case 6:
            if (!over && pons_rand_below(&c->rand, 10) == 0 && (over = true)) {
                pons_cx_put(cx, "list", json("{'__overwrite__':[0]}"));
            }
            break;
        default:
            if (!over && pons_rand_below(&c->rand, 10) == 0 && (over = true)) {
                pons_cx_put(cx, "object", json("{'__overwrite__':{'k1':'new'}}"));
            }
            break;
        }
    }
    return PONS_OK;
}

static int route_chaos(pons_cx *cx, void *user, pons_error *err)
{
    (void)err;
    pons_cx_goto(cx, ++((chaos *)user)->step < STEPS ? "chaos" : PONS_END);
    return PONS_OK;
}

static pons_graph *chaos_graph(chaos *c)
{
    static const char *const to[] = {"chaos", PONS_END, NULL};
    pons_graph_builder *gb = pons_graph_builder_create("chaos");
    channel(gb, "last", PONS_CHANNEL_LAST, NULL);
    channel(gb, "list", PONS_CHANNEL_REDUCE, pons_reduce_append);
    channel(gb, "messages", PONS_CHANNEL_MESSAGES, NULL);
    channel(gb, "object", PONS_CHANNEL_REDUCE, pons_reduce_merge);
    channel(gb, "once", PONS_CHANNEL_EPHEMERAL, NULL);
    channel(gb, "topic", PONS_CHANNEL_TOPIC, NULL);
    pons_graph_node(gb, "chaos", node_chaos, c);
    pons_graph_edge(gb, PONS_START, "chaos");
    pons_graph_router(gb, "chaos", route_chaos, c, to);
    return compile(gb, &(pons_graph_options){.recursion_limit = STEPS + 1});
}

static pons_value *state_of(const pons_run *r)
{
    static const char *const names[] = {"last", "list", "messages", "object", "once", "topic"};
    pons_value *v = json_object();
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (pons_run_get(r, names[i])) {
            json_object_set_new(v, names[i],
                                json_deep_copy((pons_value *)(uintptr_t)pons_run_get(r, names[i])));
        }
    }
    return v;
}

static void every_step_reads_back_as_it_was(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 4; seed++) {
        print_message("  seed %llu\n", (unsigned long long)seed);
        bed b;
        bed_open(&b);
        chaos c = {.states = json_array()};
        pons_rand_seed(&c.rand, seed);
        pons_graph *g = chaos_graph(&c);
        pons_run *r;
        pons_run_options o = {.durability = PONS_DURABILITY_SYNC};
        assert_ok(pons_run_start(b.t, g, "", NULL, &o, &r, &b.err));
        while (pons_run_state_get(r) == PONS_RUN_READY) {
            assert_ok(pons_run_step(r, &b.err));
            json_array_append_new(c.states, state_of(r));
            if (c.step % 97 == 0) { // a process dies and another goes on
                pons_run_destroy(r);
                bed_thread(&b);
                assert_ok(pons_run_resume(b.t, g, "", &o, &r, &b.err));
            }
        }
        assert_int_equal(pons_run_state_get(r), PONS_RUN_DONE);
        pons_run_destroy(r);
        pons_autovalue history = NULL;
        assert_ok(pons_state_history(b.store, "t1", "", STEPS, true, &history, &b.err));
        assert_int_equal(json_array_size(history), STEPS);
        for (size_t i = 0; i < STEPS; i++) {
            const pons_value *have = pons_get(json_array_get(history, STEPS - 1 - i), "values");
            if (!json_equal((pons_value *)(uintptr_t)have, json_array_get(c.states, i))) {
                fail_msg("seed %llu, step %zu reads back differently", (unsigned long long)seed, i);
            }
        }
        pons_value_unref(c.states);
        pons_graph_destroy(g);
        bed_close(&b);
    }
}

static int node_message(pons_cx *cx, void *user, pons_error *err)
{
    (void)err;
    int64_t *bytes = user;
    char text[101];
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    pons_value *m = pons_object("role", json_string("user"), "content", json_string(text), NULL);
    char id[PONS_ID_MAX];
    pons_cx_id(cx, id);
    json_object_set_new(m, "id", json_string(id));
    char *line = NULL;
    *bytes += pons_value_dump(m, &line);
    free(line);
    return pons_cx_put(cx, "messages", m);
}

static int route_forever(pons_cx *cx, void *user, pons_error *err)
{
    (void)err;
    pons_cx_goto(cx, pons_cx_remaining_steps(cx) > *(int *)user ? "add" : PONS_END);
    return PONS_OK;
}

static void storage_costs_what_changed(void **state)
{
    (void)state;
    enum { APPENDS = 1000, TEXT_BYTES = 100, STEP_BYTES = 256 };
    static const char *const to[] = {"add", PONS_END, NULL};
    char dir[] = "/tmp/pons-bytes-XXXXXX", path[64];
    assert_non_null(mkdtemp(dir));
    snprintf(path, sizeof path, "%s/t.db", dir);
    pons_error err = PONS_ERROR_INIT;
    pons_store s;
    assert_ok(pons_store_sqlite_open(path, &s, &err));
    bed b;
    bed_open_on(&b, s);
    int64_t bytes = 0;
    int left = 2;
    pons_graph_builder *gb = pons_graph_builder_create("append");
    channel(gb, "messages", PONS_CHANNEL_MESSAGES, NULL);
    pons_graph_node(gb, "add", node_message, &bytes);
    pons_graph_edge(gb, PONS_START, "add");
    pons_graph_router(gb, "add", route_forever, &left, to);
    pons_graph *g = compile(gb, &(pons_graph_options){.recursion_limit = APPENDS + 1});
    pons_run *r = run_to(&b, g, "", NULL, PONS_RUN_DONE);
    assert_int_equal(json_array_size(pons_run_get(r, "messages")), APPENDS);
    pons_run_destroy(r);
    pons_graph_destroy(g);
    bed_close(&b);
    pons_store_close(&s);
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    print_message("  %d messages of %lld bytes: a file of %lld\n", APPENDS,
                  (long long)(bytes / APPENDS), (long long)st.st_size);
    assert_true(bytes > (int64_t)TEXT_BYTES * APPENDS); // the bound counts the words alone
    assert_true(st.st_size <= (2 * TEXT_BYTES + STEP_BYTES) * APPENDS);
    unlink(path);
    char locks[80];
    snprintf(locks, sizeof locks, "rm -rf '%s'", dir);
    assert_int_equal(system(locks), 0);
}

static void a_checkpoint_of_a_lost_node_is_refused_by_name(void **state)
{
    (void)state;
    bed b;
    bed_open(&b);
    pons_graph *graphs[2];
    for (int i = 0; i < 2; i++) {
        pons_graph_builder *gb = pons_graph_builder_create(i ? "new" : "old");
        channel(gb, "log", PONS_CHANNEL_REDUCE, pons_reduce_append);
        channel(gb, i ? "added" : "dropped", PONS_CHANNEL_LAST, NULL);
        pons_graph_node(gb, "one", node_log, NULL);
        pons_graph_node(gb, i ? "deux" : "two", node_log, NULL);
        pons_graph_edge(gb, PONS_START, "one");
        pons_graph_edge(gb, "one", i ? "deux" : "two");
        pons_graph_edge(gb, i ? "deux" : "two", PONS_END);
        graphs[i] = compile(gb, NULL);
    }
    pons_run *r;
    pons_run_options o = {.durability = PONS_DURABILITY_SYNC};
    pons_autovalue in = json("{'dropped':5}");
    assert_ok(pons_run_start(b.t, graphs[0], "", in, &o, &r, &b.err));
    assert_ok(pons_run_step(r, &b.err));
    pons_run_destroy(r);
    assert_int_equal(pons_run_resume(b.t, graphs[1], "", &o, &r, &b.err), PONS_EINVAL);
    assert_non_null(strstr(b.err.message, "'two'"));
    r = run_to(&b, graphs[1], "", "{'added':1}", PONS_RUN_DONE); // a new run may; nothing is lost
    pons_run_destroy(r);
    pons_autovalue v = NULL;
    assert_ok(pons_state_read(b.store, "t1", "", &v, &b.err));
    assert_json(v, "{'added':1,'dropped':5,'log':['one','one','deux']}");
    bed_thread(&b);
    r = run_to(&b, graphs[0], "", NULL, PONS_RUN_DONE);
    assert_json(pons_run_get(r, "dropped"), "5");
    pons_run_destroy(r);
    pons_graph_destroy(graphs[0]);
    pons_graph_destroy(graphs[1]);
    bed_close(&b);
}

int main(void)
{
    unsynced();
    pons_value_init();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_step_reads_back_as_it_was),
        cmocka_unit_test(storage_costs_what_changed),
        cmocka_unit_test(a_checkpoint_of_a_lost_node_is_refused_by_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
