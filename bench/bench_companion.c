// bench_companion.c - companion.day: 1,000 companions, each ticked through a simulated school day
// by the tree and world view that pons ships, one after the other minute by minute [ticks/s];
// companion.week: the seven days of `pons companion run --days 7` with everything kept in SQLite
// [s].
#include "bench.h"
#include "pons/companion.h"
#include "pons/module.h"

#include <limits.h>

enum { COMPANIONS = 1000, MINUTES_A_DAY = 1440 };
static const char MONDAY[] = "2026-03-02";

typedef struct world {
    pons_world_view *view;
    pons_bt *tree;
    int64_t from;
    pons_error err;
} world;

static void load(world *w)
{
    char path[PATH_MAX];
    bench_must(pons_share_path("config/world-view.yaml", path, sizeof path, &w->err), &w->err);
    bench_must(pons_world_view_load(path, &w->view, &w->err), &w->err);
    bench_must(pons_share_path("trees/companion.mdsl", path, sizeof path, &w->err), &w->err);
    const pons_bt_load_options o = {.format = PONS_BT_MDSL};
    bench_must(pons_bt_load_file(path, &o, &w->tree, NULL, &w->err), &w->err);
    bench_must(pons_world_view_minute(w->view, MONDAY, 0, &w->from, &w->err), &w->err);
}

static void day(world *w)
{
    static pons_companion *all[COMPANIONS];
    for (size_t i = 0; i < COMPANIONS; i++) {
        const pons_companion_options o = {
            .view = w->view, .tree = w->tree, .seed = i, .start_min = w->from, .simulated = true};
        bench_must(pons_companion_open(&o, &all[i], &w->err), &w->err);
    }
    const double began = bench_cpu_s();
    for (int minute = 0; minute < MINUTES_A_DAY; minute++) {
        for (size_t i = 0; i < COMPANIONS; i++) {
            bench_must(pons_companion_tick(all[i], true, &w->err), &w->err);
        }
    }
    const double took = bench_cpu_s() - began;
    for (size_t i = 0; i < COMPANIONS; i++) {
        pons_companion_close(all[i]);
    }
    bench_print("companion.day", COMPANIONS * (double)MINUTES_A_DAY / took, "ticks/s");
}

static void week(world *w)
{
    char dir[PATH_MAX], path[PATH_MAX + 16];
    pons_store store;
    pons_companion *c;
    bench_folder(dir, sizeof dir);
    snprintf(path, sizeof path, "%s/pons.db", dir);
    const double began = bench_now_s();
    bench_must(pons_store_sqlite_open(path, &store, &w->err), &w->err);
    const pons_companion_options o = {.view = w->view,
                                      .tree = w->tree,
                                      .store = store,
                                      .seed = 1,
                                      .start_min = w->from,
                                      .simulated = true};
    bench_must(pons_companion_open(&o, &c, &w->err), &w->err);
    for (int minute = 0; minute < 7 * MINUTES_A_DAY; minute++) {
        bench_must(pons_companion_tick(c, true, &w->err), &w->err);
    }
    pons_companion_close(c);
    pons_store_close(&store);
    bench_print("companion.week", bench_now_s() - began, "s");
    bench_remove(dir);
}

int main(int argc, char **argv)
{
    world w = {.err = PONS_ERROR_INIT};
    pons_value_init();
    load(&w);
    if (bench_wants(argc, argv, "companion.day")) {
        day(&w);
    }
    if (bench_wants(argc, argv, "companion.week")) {
        week(&w);
    }
    pons_bt_unref(w.tree);
    pons_world_view_unref(w.view);
    return 0;
}
