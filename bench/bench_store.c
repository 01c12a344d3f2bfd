// bench_store.c - what a commit costs, and what is left of it. One JSON object a line; arguments
// choose figures by the beginning of their names.
//
//   store.thread1.rate     commits/s of one thread, each on the disk (FULL) before the next
//   store.threads64.rate   the same of 64 threads at once, in a file that has 10,000
//   store.threads64.p99    ms of such a commit
//   store.append           bytes of the file after 1,000 commits of 100 bytes and an event each
//   store.async.rate       queued commits/s over 100,000 steps, to the end of the last
//   store.async.slope      bytes of memory a step that it grew by over the second half of them
//   store.async.bytes      bytes of the file a step, of 100 bytes and an event, at their end
//   store.prune            ms to prune 10,000 checkpoints of 1 KB to 100, space given back
//   store.postgres.…       thread1.rate, threads64.rate and .p99, async.rate as above, on a private
//                          PostgreSQL; nothing where there is none
#include "bench.h"
#include "bench_postgres.h"
#include "pons/ext/store.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <sys/stat.h>

enum {
    THREADS = 64,
    THREADS_ALL = 10000,
    FULL_ALONE = 400, // commits
    FULL_EACH = 100,
    APPENDS = 1000,
    APPEND_BYTES = 100,
    ASYNC_STEPS = 100000,
    PRUNE_STEPS = 10000,
    POSTGRES_STEPS = 20000,
    PRUNE_BYTES = 1000,
};

static char dir[256];

typedef struct bench_store {
    pons_store s;
    char path[512];
} bench_store;

static bench_store open_store(const char *name)
{
    bench_store b;
    pons_error err = PONS_ERROR_INIT;
    snprintf(b.path, sizeof b.path, "%s/%s.db", dir, name);
    bench_must(pons_store_sqlite_open(b.path, &b.s, &err), &err);
    return b;
}

static pons_lease hold(pons_store s, const char *thread)
{
    pons_lease lease;
    pons_error err = PONS_ERROR_INIT;
    bench_must(s.ops->lease_acquire(s.self, thread, &lease, &err), &err);
    return lease;
}

// Step i: one checkpoint with these bytes, one event.
static void step(pons_store s, const pons_lease *lease, int i, pons_bytes data, pons_sync sync,
                 bool async)
{
    pons_checkpoint_row row = {.step = i, .snapshot = i % 32 == 0, .data = data};
    snprintf(row.id, sizeof row.id, "01J%023d", i);
    if (i) {
        snprintf(row.parent, sizeof row.parent, "01J%023d", i - 1);
    }
    pons_event_row e = {.ns = "", .ts_ms = i, .type = "step", .payload = {"{}", 2}};
    pons_commit c = {.lease = lease,
                     .ns = "",
                     .sync = sync,
                     .checkpoints = &row,
                     .n_checkpoints = 1,
                     .events = &e,
                     .n_events = 1};
    pons_error err = PONS_ERROR_INIT;
    bench_must(async ? s.ops->commit_async(s.self, &c, &err) : s.ops->commit(s.self, &c, &err),
               &err);
}

static const pons_bytes hundred = {
    "0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123"
    "456789",
    APPEND_BYTES};

// ---- many threads -------------------------------------------------------------------------------

typedef struct worker {
    pons_store s;
    int number;
    double took_ms[FULL_EACH];
} worker;

static void *work(void *arg)
{
    worker *w = arg;
    char thread[32];
    snprintf(thread, sizeof thread, "t%d", w->number * (THREADS_ALL / THREADS));
    pons_lease lease = hold(w->s, thread);
    for (int i = 0; i < FULL_EACH; i++) {
        double since_s = bench_now_s();
        step(w->s, &lease, i, hundred, PONS_SYNC_FULL, false);
        w->took_ms[i] = (bench_now_s() - since_s) * 1000;
    }
    w->s.ops->lease_release(w->s.self, &lease);
    return NULL;
}

static void bench_alone(void)
{
    bench_store b = open_store("alone");
    pons_lease lease = hold(b.s, "t");
    double since_s = bench_now_s();
    for (int i = 0; i < FULL_ALONE; i++) {
        step(b.s, &lease, i, hundred, PONS_SYNC_FULL, false);
    }
    bench_print("store.thread1.rate", FULL_ALONE / (bench_now_s() - since_s), "commits/s");
    b.s.ops->lease_release(b.s.self, &lease);
    pons_store_close(&b.s);
}

static void crowd(pons_store s, const char *name);

static void bench_many(void)
{
    bench_store b = open_store("many");
    for (int i = 0; i < THREADS_ALL; i++) {
        char thread[32];
        snprintf(thread, sizeof thread, "t%d", i);
        pons_inbox_row mail = {.ns = "", .kind = "input", .value = {"{}", 2}};
        pons_error err = PONS_ERROR_INIT;
        bench_must(b.s.ops->inbox_post(b.s.self, thread, &mail, NULL, &err), &err);
    }
    crowd(b.s, "store.threads64");
    pons_store_close(&b.s);
}

static void crowd(pons_store s, const char *name)
{
    static worker workers[THREADS];
    static double all[THREADS * FULL_EACH];
    pthread_t ids[THREADS];
    char line[64];
    double since_s = bench_now_s();
    for (int i = 0; i < THREADS; i++) {
        workers[i] = (worker){.s = s, .number = i};
        if (pthread_create(&ids[i], NULL, work, &workers[i]) != 0) {
            exit(1);
        }
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(ids[i], NULL);
    }
    double took_s = bench_now_s() - since_s;
    for (int i = 0; i < THREADS; i++) {
        memcpy(all + i * FULL_EACH, workers[i].took_ms, sizeof workers[i].took_ms);
    }
    snprintf(line, sizeof line, "%s.rate", name);
    bench_print(line, THREADS * FULL_EACH / took_s, "commits/s");
    snprintf(line, sizeof line, "%s.p99", name);
    bench_print(line, bench_quantile(all, THREADS * FULL_EACH, 0.99), "ms");
}

// ---- size, memory -------------------------------------------------------------------------------

static void bench_append(void)
{
    bench_store b = open_store("append");
    pons_lease lease = hold(b.s, "t");
    for (int i = 0; i < APPENDS; i++) {
        step(b.s, &lease, i, hundred, PONS_SYNC_NORMAL, false);
    }
    b.s.ops->lease_release(b.s.self, &lease);
    pons_store_close(&b.s); // the log goes into the file
    struct stat st;
    if (stat(b.path, &st) == 0) {
        bench_print("store.append", (double)st.st_size, "bytes");
    }
}

static void bench_async(void)
{
    bench_store b = open_store("async");
    pons_lease lease = hold(b.s, "t");
    pons_error err = PONS_ERROR_INIT;
    double half_mib = 0, since_s = bench_now_s();
    for (int i = 0; i < ASYNC_STEPS; i++) {
        step(b.s, &lease, i, hundred, PONS_SYNC_NORMAL, true);
        if (i == ASYNC_STEPS / 2) {
            half_mib = bench_pss_mib(getpid());
        }
    }
    double end_mib = bench_pss_mib(getpid());
    bench_must(b.s.ops->drain(b.s.self, &err), &err);
    bench_print("store.async.rate", ASYNC_STEPS / (bench_now_s() - since_s), "commits/s");
    bench_print("store.async.slope",
                (end_mib - half_mib) * (1 << 20) / (ASYNC_STEPS - ASYNC_STEPS / 2.0), "bytes/step");
    b.s.ops->lease_release(b.s.self, &lease);
    pons_store_close(&b.s);
    struct stat st;
    if (stat(b.path, &st) == 0) {
        bench_print("store.async.bytes", (double)st.st_size / ASYNC_STEPS, "bytes/step");
    }
}

static void bench_prune(void)
{
    static char data[PRUNE_BYTES];
    bench_store b = open_store("prune");
    pons_lease lease = hold(b.s, "t");
    for (int i = 0; i < PRUNE_STEPS; i++) {
        step(b.s, &lease, i, (pons_bytes){data, sizeof data}, PONS_SYNC_NORMAL, true);
    }
    pons_prune what = {.lease = &lease, .keep_last = 100};
    pons_prune_result done;
    pons_error err = PONS_ERROR_INIT;
    double since_s = bench_now_s();
    bench_must(b.s.ops->prune(b.s.self, "t", &what, &done, &err), &err);
    bench_print("store.prune", (bench_now_s() - since_s) * 1000, "ms");
    bench_print("store.prune.left", (double)done.bytes_after / (double)done.bytes_before, "ratio");
    b.s.ops->lease_release(b.s.self, &lease);
    pons_store_close(&b.s);
}

// ---- PostgreSQL ---------------------------------------------------------------------------------

static void bench_postgres(void)
{
    if (!server_start(dir)) {
        return;
    }
    bench_store b;
    pons_error err = PONS_ERROR_INIT;
    if (pons_store_open(server_url(), &b.s, &err) != PONS_OK) {
        char line[1200];
        fprintf(stderr, "bench: %s\n", pons_error_line(&err, line, sizeof line));
        server_stop();
        return;
    }
    pons_lease lease = hold(b.s, "alone");
    double since_s = bench_now_s();
    for (int i = 0; i < FULL_ALONE; i++) {
        step(b.s, &lease, i, hundred, PONS_SYNC_FULL, false);
    }
    bench_print("store.postgres.thread1.rate", FULL_ALONE / (bench_now_s() - since_s), "commits/s");
    b.s.ops->lease_release(b.s.self, &lease);
    crowd(b.s, "store.postgres.threads64");
    lease = hold(b.s, "async");
    since_s = bench_now_s();
    for (int i = 0; i < POSTGRES_STEPS; i++) {
        step(b.s, &lease, i, hundred, PONS_SYNC_NORMAL, true);
    }
    bench_must(b.s.ops->drain(b.s.self, &err), &err);
    bench_print("store.postgres.async.rate", POSTGRES_STEPS / (bench_now_s() - since_s),
                "commits/s");
    b.s.ops->lease_release(b.s.self, &lease);
    pons_store_close(&b.s);
    server_stop();
}

int main(int argc, char **argv)
{
    bench_folder(dir, sizeof dir);
    if (bench_wants(argc, argv, "store.thread1.rate")) {
        bench_alone();
    }
    if (bench_wants(argc, argv, "store.threads64.")) {
        bench_many();
    }
    if (bench_wants(argc, argv, "store.append")) {
        bench_append();
    }
    if (bench_wants(argc, argv, "store.async.")) {
        bench_async();
    }
    if (bench_wants(argc, argv, "store.prune")) {
        bench_prune();
    }
    if (bench_wants(argc, argv, "store.postgres.")) {
        bench_postgres();
    }
    bench_remove(dir);
    return 0;
}
