// bench_lanes.c - sessions in the lanes of their targets, on both stores. One JSON object a line; arguments
// choose benches by the beginning of their names. Each STORE is sqlite or postgres:
//
//   lanes.STORE.raw       commits/s: one row written by each, nothing else (SQLite's own calls; one
//                         statement a commit on PostgreSQL)
//   lanes.STORE.pair      sessions/s: claimed by one call, ended by another
//   lanes.STORE.chained   sessions/s: ended by the call that claims the lane's next
//   lanes.STORE.stuck     %: by how much the pairs of others are slower, while one lane with 50,000 sessions
//                         is held by somebody who hangs, than in a store without it at the same time
//   lanes.notify          ms: a session enqueued in one process's store, claimed by another that waits, p99
#include "bench.h"
#include "bench_postgres.h"
#include "pons/ext/store.h"
#include "pons/out_of_memory.h"
#include "pons/value.h"

#include <sqlite3.h>

#include <poll.h>

enum {
    SESSIONS = 4000,
    LANES = 100,
    STUCK = 50000,
    BATCH = 1000,
    NOTICES = 300,
    RAW = 4000,
    PIECES = 41,
    PIECE = 200
};

static char dir[200];

typedef struct got {
    char id[64], lane[64];
    uint64_t epoch;
    int n;
} got;

static int take(void *user, const pons_session_row *row)
{
    got *g = user;
    snprintf(g->id, sizeof g->id, "%s", row->id);
    snprintf(g->lane, sizeof g->lane, "%s", row->lane);
    g->epoch = row->epoch;
    g->n++;
    return 0;
}

static const char data[] =
    "{\"target_ref\":\"sim\",\"skill_ref\":\"pick\",\"timeouts\":{\"session\":120,"
    "\"skill\":60},\"retry\":{\"max_attempts\":3},\"execution\":{\"params\":"
    "{\"object_id\":\"apple_01\",\"gripper\":\"parallel_jaw\"}}}";

static void put(pons_lanes l, const char *what, int n, int lanes)
{
    static char ids[BATCH][64], names[BATCH][64];
    static pons_session_row rows[BATCH];
    pons_error err = PONS_ERROR_INIT;
    for (int i = 0; i < n;) {
        int k = 0;
        for (; k < BATCH && i < n; k++, i++) {
            snprintf(ids[k], sizeof ids[k], "%s-%d", what, i);
            snprintf(names[k], sizeof names[k], "%s-%d", what, i % lanes);
            rows[k] = (pons_session_row){.id = ids[k],
                                         .lane = names[k],
                                         .priority = 1,
                                         .order_ms = i,
                                         .data = {data, sizeof data - 1}};
        }
        bench_must(l.ops->enqueue(l.self, rows, (size_t)k, &err), &err);
    }
}

static double pairs(pons_lanes l, int n)
{
    pons_error err = PONS_ERROR_INIT;
    const pons_session_claim how = {.runner = "bench"};
    const double from = bench_now_s();
    for (int i = 0; i < n; i++) {
        got g = {.n = 0};
        bench_must(l.ops->claim(l.self, &how, take, &g, &err), &err);
        const pons_session_end end = {
            .id = g.id, .epoch = g.epoch, .state = PONS_SESSION_SUCCEEDED};
        bench_must(l.ops->finish(l.self, &end, take, &g, &err), &err);
    }
    return n / (bench_now_s() - from);
}

static double chained(pons_lanes l, int n)
{
    pons_error err = PONS_ERROR_INIT;
    const pons_session_claim how = {.runner = "bench"};
    got g = {.n = 0};
    const double from = bench_now_s();
    for (int i = 0; i < n; i++) {
        if (!g.n) {
            bench_must(l.ops->claim(l.self, &how, take, &g, &err), &err);
        }
        const got was = g;
        const pons_session_end end = {
            .id = was.id, .epoch = was.epoch, .state = PONS_SESSION_SUCCEEDED, .next_for = "bench"};
        g.n = 0;
        bench_must(l.ops->finish(l.self, &end, take, &g, &err), &err);
    }
    return n / (bench_now_s() - from);
}

static double raw_sqlite(int turn)
{
    char path[400];
    sqlite3 *db = NULL;
    sqlite3_stmt *st = NULL;
    snprintf(path, sizeof path, "%s/raw%d.db", dir, turn);
    if (sqlite3_open(path, &db) != SQLITE_OK ||
        sqlite3_exec(db,
                     "PRAGMA page_size=2048; PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;"
                     "CREATE TABLE t(id INTEGER PRIMARY KEY, data BLOB)",
                     NULL, NULL, NULL) != SQLITE_OK ||
        sqlite3_prepare_v2(db, "INSERT INTO t(data) VALUES(?1)", -1, &st, NULL) != SQLITE_OK) {
        fprintf(stderr, "bench: %s\n", sqlite3_errmsg(db));
        exit(1);
    }
    const double from = bench_now_s();
    for (int i = 0; i < RAW; i++) {
        sqlite3_bind_blob(st, 1, data, sizeof data, SQLITE_STATIC);
        sqlite3_step(st);
        sqlite3_reset(st);
    }
    const double rate = RAW / (bench_now_s() - from);
    sqlite3_finalize(st);
    sqlite3_close(db);
    return rate;
}

static double raw_commits(pons_lanes l) // one statement that writes one row
{
    pons_error err = PONS_ERROR_INIT;
    const double from = bench_now_s();
    for (int i = 0; i < RAW; i++) {
        bench_must(l.ops->beat(l.self, "raw", &err), &err);
    }
    return RAW / (bench_now_s() - from);
}

static double better(double a, double b)
{
    return a > b ? a : b;
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

// Two stores that differ by the stuck lane alone, by turns in small pieces, so that whoever else uses the machine
// slows both: the middle one of the pieces' ratios.
static void stuck(const char *store, pons_lanes l, const char *other_url)
{
    char name[64];
    double slower[PIECES];
    pons_store s;
    pons_lanes with;
    pons_error err = PONS_ERROR_INIT;
    got g = {.n = 0};
    const char *const lane = "stuck-0";
    const pons_session_claim its = {.runner = "hangs", .lanes = &lane, .n_lanes = 1};
    bench_must(pons_store_open(other_url, &s, &err), &err);
    s.ops->lanes(s.self, &with);
    put(with, "stuck", STUCK, 1);
    bench_must(with.ops->claim(with.self, &its, take, &g, &err), &err);
    put(l, "free", PIECES * PIECE, LANES);
    put(with, "free", PIECES * PIECE, LANES);
    for (int i = 0; i < PIECES; i++) { // who is first changes too
        const double a = pairs(i % 2 ? l : with, PIECE), b = pairs(i % 2 ? with : l, PIECE);
        slower[i] = i % 2 ? a / b : b / a;
    }
    bench_must(with.ops->cancel(with.self, "stuck-1", (pons_bytes){"", 0}, &err), &err);
    pons_store_close(&s);
    qsort(slower, PIECES, sizeof *slower, by_value);
    snprintf(name, sizeof name, "lanes.%s.stuck", store);
    bench_print(name, (slower[PIECES / 2] - 1) * 100, "%");
}

static void rates(const char *store, pons_lanes l, bool sqlite)
{
    char name[64];
    double raw = 0, pair = 0, chain = 0;
    for (int i = 0; i < 3; i++) { // the best of three turns of each
        char what[16];
        snprintf(what, sizeof what, "p%d", i);
        raw = better(raw, sqlite ? raw_sqlite(i) : raw_commits(l));
        put(l, what, SESSIONS, LANES);
        pair = better(pair, pairs(l, SESSIONS));
        snprintf(what, sizeof what, "c%d", i);
        put(l, what, SESSIONS, LANES);
        chain = better(chain, chained(l, SESSIONS));
    }
    snprintf(name, sizeof name, "lanes.%s.raw", store);
    bench_print(name, raw, "commits/s");
    snprintf(name, sizeof name, "lanes.%s.pair", store);
    bench_print(name, pair, "sessions/s");
    snprintf(name, sizeof name, "lanes.%s.chained", store);
    bench_print(name, chain, "sessions/s");
}

static void notices(pons_lanes l)
{
    pons_store other;
    pons_lanes waits;
    pons_error err = PONS_ERROR_INIT;
    static double ms[NOTICES];
    bench_must(pons_store_open(server_url(), &other, &err), &err);
    other.ops->lanes(other.self, &waits);
    struct pollfd fd = {.fd = waits.ops->event_fd(waits.self), .events = POLLIN};
    const pons_session_claim how = {.runner = "waits"};
    uint64_t ticks;
    bench_sleep_s(0.5); // it listens
    for (int i = 0; i < NOTICES; i++) {
        char id[32];
        got g = {.n = 0};
        while (poll(&fd, 1, 0) > 0 && read(fd.fd, &ticks, sizeof ticks) > 0) {
        }
        snprintf(id, sizeof id, "n-%d", i);
        const pons_session_row row = {.id = id, .lane = "notice", .data = {data, sizeof data - 1}};
        const double from = bench_now_s();
        bench_must(l.ops->enqueue(l.self, &row, 1, &err), &err);
        while (!g.n) {
            if (poll(&fd, 1, 1000) > 0 && read(fd.fd, &ticks, sizeof ticks) > 0) {
                waits.ops->claim(waits.self, &how, take, &g, &err);
            }
        }
        ms[i] = (bench_now_s() - from) * 1000;
        const pons_session_end end = {
            .id = g.id, .epoch = g.epoch, .state = PONS_SESSION_SUCCEEDED};
        bench_must(waits.ops->finish(waits.self, &end, take, &g, &err), &err);
    }
    bench_print("lanes.notify", bench_quantile(ms, NOTICES, 0.99), "ms");
    pons_store_close(&other);
}

static void bench_of(const char *store, const char *url, const char *other, int argc, char **argv)
{
    pons_store s;
    pons_lanes l;
    pons_error err = PONS_ERROR_INIT;
    char name[64];
    bench_must(pons_store_open(url, &s, &err), &err);
    s.ops->lanes(s.self, &l);
    if (strcmp(store, "postgres") == 0 && bench_wants(argc, argv, "lanes.notify")) {
        notices(l);
    }
    snprintf(name, sizeof name, "lanes.%s", store);
    if (bench_wants(argc, argv, name)) {
        rates(store, l, strcmp(store, "sqlite") == 0);
    }
    snprintf(name, sizeof name, "lanes.%s.stuck", store);
    if (bench_wants(argc, argv, name)) {
        stuck(store, l, other);
    }
    pons_store_close(&s);
}

int main(int argc, char **argv)
{
    char path[400], other[400];
    pons_value_init();
    bench_folder(dir, sizeof dir);
    snprintf(path, sizeof path, "%s/lanes.db", dir);
    snprintf(other, sizeof other, "%s/other.db", dir);
    if (bench_wants(argc, argv, "lanes.sqlite")) {
        bench_of("sqlite", path, other, argc, argv);
    }
    if ((bench_wants(argc, argv, "lanes.postgres") || bench_wants(argc, argv, "lanes.notify")) &&
        server_start(dir)) {
        server_database("other");
        bench_of("postgres", server_url(), server_url_of("other", other, sizeof other), argc, argv);
        server_stop();
    }
    bench_remove(dir);
    return 0;
}
