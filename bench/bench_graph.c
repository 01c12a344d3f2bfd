// bench_graph.c - what a superstep costs. One JSON object a line; arguments choose benches by the
// beginning of their names.
//
//   graph.loop           supersteps without a store: a counter and a router
//   graph.memory         the same on the memory store, sync
//   graph.raw            a raw loop of one-row commits: 100-byte row, prepared, WAL, NORMAL
//   graph.sqlite.sync    supersteps on SQLite, each committed before the next
//   graph.sqlite.async   the same, queued
//   graph.append.bytes   bytes of the file after 1,000 appends of 100-byte messages
//   graph.read.10k       ms to read the head of a thread with 10,000 checkpoints
//   graph.resume.10k     ms to open such a thread and run it on
//   graph.compile.1k     ms to compile a graph of 1,000 nodes with options, edges and routers
//   graph.wide           cost of a step in a state of 1,000 keys over one of 10 keys
//   graph.async.slope    bytes of memory a step, over the second half of 100,000 queued steps
//
// The raw loop and the two on SQLite take turns, and the best of three rounds of each counts: what
// else the machine does falls on all of them.
#include "bench.h"
#include "pons/graph.h"

#include <sqlite3.h>

#include <sys/stat.h>

enum {
    LOOP_STEPS = 2000000,
    STORE_STEPS = 20000,
    STORE_ROUNDS = 3,
    SLOPE_STEPS = 100000,
    APPENDS = 1000,
    MESSAGE_BYTES = 100
};

static char dir[200];
static pons_clock real_clock;

static void die(const char *what, const pons_error *err)
{
    char line[1024];
    fprintf(stderr, "bench_graph: %s: %s\n", what, pons_error_line(err, line, sizeof line));
    exit(1);
}

static double seconds(int64_t since_ns)
{
    return (double)(pons_now_ns(&real_clock) - since_ns) / (double)PONS_NS_PER_S;
}

// ---- graphs -------------------------------------------------------------------------------------

static int node_count(pons_cx *cx, void *user, pons_error *err)
{
    (void)user;
    (void)err;
    return pons_cx_put(cx, "count", json_integer(json_integer_value(pons_cx_get(cx, "count")) + 1));
}

static int route_count(pons_cx *cx, void *user, pons_error *err)
{
    (void)err;
    const int64_t *until = user;
    pons_cx_goto(cx, json_integer_value(pons_cx_get(cx, "count")) < *until ? "count" : PONS_END);
    return PONS_OK;
}

static int node_append(pons_cx *cx, void *user, pons_error *err)
{
    (void)user;
    (void)err;
    char text[MESSAGE_BYTES + 1];
    memset(text, 'x', MESSAGE_BYTES);
    text[MESSAGE_BYTES] = '\0';
    pons_cx_put(cx, "messages",
                pons_object("role", json_string("user"), "content", json_string(text), NULL));
    return node_count(cx, user, err);
}

static pons_graph *graph(pons_node_fn fn, int64_t *until, int keys)
{
    static const char *const to[] = {"count", PONS_END, NULL};
    pons_graph_builder *b = pons_graph_builder_create("bench");
    pons_channel_options messages = {.kind = PONS_CHANNEL_MESSAGES};
    pons_error err = PONS_ERROR_INIT;
    pons_graph *g = NULL;
    pons_graph_channel(b, "count", NULL);
    pons_graph_channel(b, "messages", &messages);
    for (int i = 0; i < keys; i++) {
        char name[16];
        snprintf(name, sizeof name, "key%d", i);
        pons_graph_channel(b, name, NULL);
    }
    pons_graph_node(b, "count", fn, NULL);
    pons_graph_edge(b, PONS_START, "count");
    pons_graph_router(b, "count", route_count, until, to);
    if (pons_graph_compile(b, &(pons_graph_options){.recursion_limit = INT32_MAX}, &g, &err) != 0) {
        die("compile", &err);
    }
    pons_graph_builder_destroy(b);
    return g;
}

// Runs to the end on a store; returns the seconds that it took.
static double run(pons_store store, const char *thread, const pons_graph *g,
                  pons_durability durability, const pons_value *input)
{
    pons_error err = PONS_ERROR_INIT;
    pons_thread *t;
    pons_run *r;
    pons_thread_options o = {.clock = real_clock, .seed = 1};
    if (pons_thread_open(store, thread, &o, &t, &err) != PONS_OK ||
        pons_run_start(t, g, "", input, &(pons_run_options){.durability = durability}, &r, &err) !=
            PONS_OK) {
        die("start", &err);
    }
    int64_t since_ns = pons_now_ns(&real_clock);
    if (pons_run_advance(r, &err) != PONS_OK) {
        die("advance", &err);
    }
    double took_s = seconds(since_ns);
    if (pons_run_state_get(r) != PONS_RUN_DONE) {
        die("run", pons_run_error(r));
    }
    pons_run_destroy(r);
    pons_thread_close(t);
    return took_s;
}

static pons_store sqlite_store(const char *name, char path[256])
{
    pons_error err = PONS_ERROR_INIT;
    pons_store s;
    snprintf(path, 256, "%s/%s.db", dir, name);
    if (pons_store_sqlite_open(path, &s, &err) != PONS_OK) {
        die("open", &err);
    }
    return s;
}

// ---- benches ------------------------------------------------------------------------------------

static void bench_loop(void)
{
    int64_t until = LOOP_STEPS;
    pons_graph *g = graph(node_count, &until, 0);
    double took_s = run((pons_store){0}, "t", g, PONS_DURABILITY_SYNC, NULL);
    bench_print("graph.loop", LOOP_STEPS / took_s, "steps/s");
    pons_graph_destroy(g);
}

static void bench_memory(void)
{
    int64_t until = STORE_STEPS;
    pons_error err = PONS_ERROR_INIT;
    pons_store s;
    if (pons_store_memory_open(&s, &err) != PONS_OK) {
        die("memory", &err);
    }
    pons_graph *g = graph(node_count, &until, 0);
    bench_print("graph.memory", STORE_STEPS / run(s, "t", g, PONS_DURABILITY_SYNC, NULL),
                "steps/s");
    pons_graph_destroy(g);
    pons_store_close(&s);
}

static double raw_rate(int round)
{
    char path[256], row[MESSAGE_BYTES];
    snprintf(path, sizeof path, "%s/raw%d.db", dir, round);
    memset(row, 'x', sizeof row);
    sqlite3 *db;
    sqlite3_stmt *insert;
    if (sqlite3_open(path, &db) != SQLITE_OK ||
        sqlite3_exec(db,
                     "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;"
                     "CREATE TABLE t (id INTEGER PRIMARY KEY, data BLOB)",
                     NULL, NULL, NULL) != SQLITE_OK ||
        sqlite3_prepare_v2(db, "INSERT INTO t (data) VALUES (?)", -1, &insert, NULL) != SQLITE_OK) {
        fprintf(stderr, "bench_graph: raw: %s\n", sqlite3_errmsg(db));
        exit(1);
    }
    int64_t since_ns = pons_now_ns(&real_clock);
    for (int i = 0; i < STORE_STEPS; i++) {
        sqlite3_bind_blob(insert, 1, row, sizeof row, SQLITE_STATIC);
        if (sqlite3_step(insert) != SQLITE_DONE || sqlite3_reset(insert) != SQLITE_OK) {
            fprintf(stderr, "bench_graph: raw: %s\n", sqlite3_errmsg(db));
            exit(1);
        }
    }
    double rate = STORE_STEPS / seconds(since_ns);
    sqlite3_finalize(insert);
    sqlite3_close(db);
    return rate;
}

static double sqlite_rate(int round, pons_durability durability)
{
    char path[256], name[32];
    int64_t until = STORE_STEPS;
    snprintf(name, sizeof name, "steps%d-%d", (int)durability, round);
    pons_store s = sqlite_store(name, path);
    pons_graph *g = graph(node_count, &until, 0);
    double rate = STORE_STEPS / run(s, "t", g, durability, NULL);
    pons_graph_destroy(g);
    pons_store_close(&s);
    return rate;
}

static double larger(double a, double b)
{
    return a > b ? a : b;
}

static void bench_sqlite(void)
{
    double raw = 0, sync = 0, async = 0;
    for (int i = 0; i < STORE_ROUNDS; i++) {
        raw = larger(raw, raw_rate(i));
        sync = larger(sync, sqlite_rate(i, PONS_DURABILITY_SYNC));
        async = larger(async, sqlite_rate(i, PONS_DURABILITY_ASYNC));
    }
    bench_print("graph.raw", raw, "commits/s");
    bench_print("graph.sqlite.sync", sync, "steps/s");
    bench_print("graph.sqlite.async", async, "steps/s");
}

// Memory must not grow with the steps, however much faster they come than the disk takes them.
static void bench_slope(void)
{
    char path[256];
    int64_t until = SLOPE_STEPS + 1;
    pons_error err = PONS_ERROR_INIT;
    pons_store s = sqlite_store("slope", path);
    pons_graph *g = graph(node_count, &until, 0);
    pons_thread *t = NULL;
    pons_run *r = NULL;
    pons_thread_options o = {.clock = real_clock, .seed = 1};
    bench_must(pons_thread_open(s, "t", &o, &t, &err), &err);
    bench_must(pons_run_start(t, g, "", NULL,
                              &(pons_run_options){.recursion_limit = SLOPE_STEPS + 2}, &r, &err),
               &err);
    double half_mib = 0;
    for (int i = 0; i < SLOPE_STEPS; i++) {
        bench_must(pons_run_step(r, &err), &err);
        if (i == SLOPE_STEPS / 2) {
            half_mib = bench_pss_mib(getpid());
        }
    }
    double grown = (bench_pss_mib(getpid()) - half_mib) * (1 << 20);
    bench_print("graph.async.slope", grown / (SLOPE_STEPS - SLOPE_STEPS / 2.0), "bytes/step");
    pons_run_destroy(r);
    pons_thread_close(t);
    pons_graph_destroy(g);
    pons_store_close(&s);
}

static void bench_append(void)
{
    char path[256];
    struct stat st = {0};
    int64_t until = APPENDS;
    pons_store s = sqlite_store("append", path);
    pons_graph *g = graph(node_append, &until, 0);
    run(s, "t", g, PONS_DURABILITY_SYNC, NULL);
    pons_graph_destroy(g);
    pons_store_close(&s); // the log goes into the file
    if (stat(path, &st) == 0) {
        bench_print("graph.append.bytes", (double)st.st_size, "bytes");
    }
}

static void bench_read(void)
{
    enum { CHECKPOINTS = 10000, READS = 20 };
    char path[256];
    int64_t until = CHECKPOINTS;
    pons_error err = PONS_ERROR_INIT;
    pons_store s = sqlite_store("read", path);
    pons_graph *g = graph(node_count, &until, 0);
    run(s, "t", g, PONS_DURABILITY_ASYNC, NULL);
    int64_t since_ns = pons_now_ns(&real_clock);
    for (int i = 0; i < READS; i++) {
        pons_value *v;
        if (pons_state_read(s, "t", "", &v, &err) != PONS_OK) {
            die("read", &err);
        }
        pons_value_unref(v);
    }
    bench_print("graph.read.10k", seconds(since_ns) * 1000 / READS, "ms");
    pons_thread_options o = {.clock = real_clock, .seed = 1};
    pons_thread *t = NULL;
    pons_run *r = NULL;
    static const char *const go[] = {"count", NULL};
    since_ns = pons_now_ns(&real_clock);
    if (pons_thread_open(s, "t", &o, &t, &err) != PONS_OK ||
        pons_run_command(t, g, "", &(pons_command){.go = go}, NULL, &r, &err) != PONS_OK ||
        pons_run_advance(r, &err) != PONS_OK) {
        die("resume", &err);
    }
    bench_print("graph.resume.10k", seconds(since_ns) * 1000, "ms");
    pons_run_destroy(r);
    pons_thread_close(t);
    pons_graph_destroy(g);
    pons_store_close(&s);
}

static void bench_compile(void)
{
    enum { NODES = 1000, TIMES = 20 };
    static char names[NODES + 1][16];
    double took_s = 0;
    for (int i = 0; i < NODES; i++) {
        snprintf(names[i], sizeof names[i], "node%d", i);
    }
    snprintf(names[NODES], sizeof names[NODES], "%s", PONS_END);
    for (int k = 0; k < TIMES; k++) {
        int64_t until = 0;
        pons_error err = PONS_ERROR_INIT;
        pons_graph *g = NULL;
        pons_graph_builder *b = pons_graph_builder_create("thousand");
        int64_t since_ns = pons_now_ns(&real_clock);
        pons_graph_channel(b, "count", NULL);
        pons_graph_edge(b, PONS_START, names[0]);
        for (int i = 0; i < NODES; i++) { // a chain, each with a way back
            const char *to[] = {names[i + 1], names[i / 2], NULL};
            pons_graph_node(b, names[i], node_count, NULL);
            pons_graph_node_options(b, names[i], &(pons_node_options){.goes = to});
            pons_graph_edge(b, names[i], names[i + 1]);
            pons_graph_router(b, names[i], route_count, &until, to);
        }
        if (pons_graph_compile(b, NULL, &g, &err) != PONS_OK) {
            die("compile", &err);
        }
        took_s += seconds(since_ns);
        pons_graph_destroy(g);
        pons_graph_builder_destroy(b);
    }
    bench_print("graph.compile.1k", took_s * 1000 / TIMES, "ms");
}

static void bench_wide(void)
{
    enum { NARROW = 10, WIDE = 1000 };
    double took_s[2];
    for (int wide = 0; wide < 2; wide++) {
        char path[256];
        int64_t until = STORE_STEPS;
        int keys = wide ? WIDE : NARROW;
        pons_store s = sqlite_store(wide ? "wide" : "narrow", path);
        pons_graph *g = graph(node_count, &until, keys);
        pons_value *input = json_object();
        for (int i = 0; i < keys; i++) {
            char name[16];
            snprintf(name, sizeof name, "key%d", i);
            json_object_set_new(input, name, json_string("value"));
        }
        took_s[wide] = run(s, "t", g, PONS_DURABILITY_SYNC, input);
        pons_value_unref(input);
        pons_graph_destroy(g);
        pons_store_close(&s);
    }
    bench_print("graph.wide", took_s[1] / took_s[0], "ratio");
}

int main(int argc, char **argv)
{
    static const struct {
        const char *names[3];
        void (*fn)(void);
    } benches[] = {
        {{"graph.loop"}, bench_loop},
        {{"graph.memory"}, bench_memory},
        {{"graph.raw", "graph.sqlite.sync", "graph.sqlite.async"}, bench_sqlite},
        {{"graph.append.bytes"}, bench_append},
        {{"graph.read.10k", "graph.resume.10k"}, bench_read},
        {{"graph.compile.1k"}, bench_compile},
        {{"graph.wide"}, bench_wide},
        {{"graph.async.slope"}, bench_slope},
    };
    pons_value_init();
    real_clock = pons_clock_real();
    bench_folder(dir, sizeof dir);
    for (size_t i = 0; i < sizeof benches / sizeof *benches; i++) {
        bool wanted = false;
        for (int k = 0; k < 3 && benches[i].names[k]; k++) {
            wanted = wanted || bench_wants(argc, argv, benches[i].names[k]);
        }
        if (wanted) {
            benches[i].fn();
        }
    }
    bench_remove(dir);
    return 0;
}
