// bench_sight.c - the memory of what a robot has seen (docs/internals/benchmarks.md).
//
//   sight.where       "where is the cup", among 10,000 objects of 50 labels in an SQLite store, the median
//   sight.where.max   the longest of 200 of these
//   all in processor time
//   sight.where.alike the median when all 10,000 are cups
//   sight.all         the median without a word: what was seen last
//   sight.put         a picture with 20 detections among 10,000 objects, processor time
#include "bench.h"
#include "pons/object_memory.h"

#define NS "pons-objects"
enum { OBJECTS = 10000, LABELS = 50, AT_ONCE = 250, ASKED = 200 };

typedef struct rig {
    char dir[64], path[80];
    pons_clock_manual time;
    pons_items items;
    pons_object_memory *memory;
    int64_t stamp_ns;
} rig;

static char labels[LABELS][16];

// n objects from the i-th on, a metre from each other, seen from above by an eye without a blind side.
static void put(rig *r, int i, size_t n, bool alike)
{
    pons_detection d[AT_ONCE];
    pons_object_seen seen;
    pons_error err = PONS_ERROR_INIT;
    for (size_t k = 0; k < n; k++) {
        const int at = i + (int)k;
        d[k] = (pons_detection){.label = labels[alike ? 0 : at % LABELS],
                                .score = 0.8,
                                .position = {at % 100, (double)(at / 100), 0.5},
                                .cov = {0.01, 0.0, 0.01, 0.01}};
    }
    r->time.now_ns += PONS_NS_PER_S;
    r->stamp_ns += PONS_NS_PER_S;
    const pons_object_view v = {.detector = "bench",
                                .source = "bench",
                                .stamp_ns = r->stamp_ns,
                                .at_ms = pons_wall_ms(&r->items.clock),
                                .fov_rad = 6.283,
                                .far_m = 1000.0,
                                .miss = 0.2};
    bench_must(pons_object_memory_put(r->memory, &v, d, n, &seen, &err), &err);
}

static void open_rig(rig *r, bool alike)
{
    pons_error err = PONS_ERROR_INIT;
    *r = (rig){.dir = "/tmp/pons-sight-XXXXXX", .time.wall_epoch_ms = 1700000000000};
    snprintf(r->path, sizeof r->path, "%s/t.db", mkdtemp(r->dir) ? r->dir : "");
    bench_must(pons_store_sqlite_open(r->path, &r->items.store, &err), &err);
    r->items.clock = pons_clock_from_manual(&r->time);
    for (int i = 0; i < LABELS; i++) {
        snprintf(labels[i], sizeof labels[i], i ? "thing%d" : "cup", i);
    }
    const pons_object_memory_options o = {.items = r->items, .ns = NS};
    bench_must(pons_object_memory_open(&o, &r->memory, &err), &err);
    for (int i = 0; i < OBJECTS; i += AT_ONCE) {
        put(r, i, AT_ONCE, alike); // twice: then they are known
        put(r, i, AT_ONCE, alike);
    }
    bench_must(pons_object_memory_save(r->memory, true, &err), &err);
    if (pons_object_memory_count(r->memory, false) != OBJECTS) {
        fprintf(stderr, "bench: %zu objects\n", pons_object_memory_count(r->memory, false));
        exit(1);
    }
}

static void close_rig(rig *r)
{
    char command[96];
    pons_object_memory_close(r->memory);
    pons_store_close(&r->items.store);
    snprintf(command, sizeof command, "rm -rf '%s'", r->dir);
    if (system(command)) {
        exit(1);
    }
}

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void ask(rig *r, const char *what, const char *name, const char *name_max)
{
    double ms[ASKED];
    pons_error err = PONS_ERROR_INIT;
    for (int i = 0; i < ASKED; i++) {
        pons_value *found = NULL;
        const double begin = bench_cpu_s();
        bench_must(
            pons_objects_find(&r->items, NS, &(pons_object_query){.what = what}, &found, &err),
            &err);
        ms[i] = 1e3 * (bench_cpu_s() - begin);
        if (json_array_size(found) != 20) {
            exit(1);
        }
        pons_value_unref(found);
    }
    qsort(ms, ASKED, sizeof *ms, by_size);
    bench_print(name, ms[ASKED / 2], "ms");
    if (name_max) {
        bench_print(name_max, ms[ASKED - 1], "ms");
    }
}

int main(int argc, char **argv)
{
    rig r;
    pons_value_init();
    open_rig(&r, false);
    ask(&r, "where is the cup", "sight.where", "sight.where.max");
    ask(&r, NULL, "sight.all", NULL);
    const double begin = bench_cpu_s();
    for (int i = 0; i < 100; i++) {
        put(&r, 20 * i, 20, false);
    }
    bench_print("sight.put", 10.0 * (bench_cpu_s() - begin), "ms");
    close_rig(&r);
    open_rig(&r, true);
    ask(&r, "cup", "sight.where.alike", NULL);
    close_rig(&r);
    return 0;
}
