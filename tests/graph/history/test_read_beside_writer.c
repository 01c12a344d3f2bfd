// test_read_beside_writer.c - a thread read from outside while a process of its own writes it: each look is whole,
// and never older than the one before.
#include "graph/graph_help.h"
#include "graph/unsynced.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WRITTEN = 300 };

static int node_counts(pons_cx *cx, void *user, pons_error *err)
{
    (void)user;
    (void)err;
    const json_int_t n = json_integer_value(pons_cx_get(cx, "n"));
    pons_cx_put(cx, "n", json_integer(n + 1));
    pons_cx_put(cx, "twice", json_integer(2 * (n + 1)));
    return PONS_OK;
}

static int route_on(pons_cx *cx, void *user, pons_error *err)
{
    (void)user;
    (void)err;
    pons_cx_goto(cx, json_integer_value(pons_cx_get(cx, "n")) < WRITTEN ? "count" : PONS_END);
    return PONS_OK;
}

// The child writes; it holds the thread until it is told to end.
static void write_along(const char *path, int reported)
{
    static const char *const targets[] = {"count", PONS_END, NULL};
    pons_store s = {0};
    bed b;
    char end;
    if (pons_store_sqlite_open(path, &s, NULL)) {
        _exit(3);
    }
    bed_open_on(&b, s);
    pons_graph_builder *gb = pons_graph_builder_create("count");
    channel(gb, "n", PONS_CHANNEL_LAST, NULL);
    channel(gb, "twice", PONS_CHANNEL_LAST, NULL);
    pons_graph_node(gb, "count", node_counts, NULL);
    pons_graph_edge(gb, PONS_START, "count");
    pons_graph_router(gb, "count", route_on, NULL, targets);
    const pons_graph_options go = {.recursion_limit = WRITTEN + 5};
    pons_graph *g = compile(gb, &go);
    pons_run_options opts = {.durability = PONS_DURABILITY_SYNC};
    pons_run *r = NULL;
    pons_value *input = json("{'n':0,'twice':0}");
    const bool good = !pons_run_start(b.t, g, "", input, &opts, &r, NULL) &&
                      !pons_run_advance(r, NULL) && pons_run_state_get(r) == PONS_RUN_DONE;
    _exit(good && read(reported, &end, 1) == 0 ? 0 : 4);
}

static void test_beside_a_process(void **state)
{
    (void)state;
    char dir[] = "/tmp/pons-look-XXXXXX", path[64], command[96];
    int reported[2], status;
    assert_non_null(mkdtemp(dir));
    snprintf(path, sizeof path, "%s/t.db", dir);
    assert_int_equal(pipe(reported), 0);
    fflush(NULL);
    const pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        close(reported[1]);
        write_along(path, reported[0]);
    }
    close(reported[0]);
    pons_store s = {0};
    pons_error err = PONS_ERROR_INIT;
    assert_ok(pons_store_sqlite_open(path, &s, &err));
    json_int_t newest = -1;
    int looks = 0;
    while (newest < WRITTEN) { // each look is whole, and never older than the one before
        pons_value *v = NULL;
        const int st = pons_state_snapshot(s, "t1", "", NULL, &v, &err);
        assert_int_equal(waitpid(pid, &status, WNOHANG), 0); // it waits to be told
        if (st == PONS_ENOTFOUND) {
            usleep(1000);
            continue;
        }
        assert_ok(st);
        const pons_value *values = pons_get(v, "values");
        const json_int_t n = pons_get_int(values, "n", -1);
        assert_int_equal(pons_get_int(values, "twice", -1), 2 * n);
        assert_true(n >= newest);
        newest = n;
        looks++;
        pons_value_unref(v);
    }
    assert_true(looks > 0);
    pons_value *threads = NULL; // held, with nothing to do
    assert_ok(pons_threads_find(s, &(pons_threads_query){0}, &threads, &err));
    assert_string_equal(pons_get_str(json_array_get(threads, 0), "status", ""), "idle");
    pons_value_unref(threads);
    close(reported[1]);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    pons_store_close(&s);
    snprintf(command, sizeof command, "rm -rf '%s'", dir);
    assert_int_equal(system(command), 0);
}

int main(void)
{
    unsynced();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_beside_a_process),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
