// cmd_scenario.c - `pons scenario run` and `pons scenario fuzz`: what each must show, as a table.
//
// run NAME|FILE…|all    plays scenarios and prints a row for each; exit 1 when one missed something
//   --sweep             also kills the brain at every commit of each, before and after it
//   --driver NAME       instead of the file's
//   --as rules|model    of files without a model: who decides, the rules as they are, or in a
//                       model's clothes; default both, one after the other
// fuzz --seeds A..B     a story drawn from each seed; one that fails is cut down to the least that
//                       still does, and written as a file that `run` plays
//   --seed N            that one, with its events
// fuzz NAME… --seeds A..B  these scenarios with random kills
#include "cli/cli.h"
#include "pons/ext/slam.h"
#include "pons/llm.h"
#include "pons/module.h"
#include "pons/record.h"
#include "pons/rule_policy.h"
#include "pons/scenario.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SCENARIOS_MAX 256

typedef struct player {
    cli *c;
    const char *driver; // NULL: the file's
    pons_value *config;
    pons_policy policy;
    char dir[64];
    bool trace;
    bool as_model, as_rules; // of files without a model
    const char *out;         // where stories that failed are written
    int passed, failed;
    cli_display *display;
    pons_recorder *recorder; // NULL: none
    const pons_value *world; // of the run, until it is recorded
} player;

// ---- shown --------------------------------------------------------------------------------------

static void show_row(player *p, const pons_value *report, const char *variant)
{
    const bool passed = pons_get_bool(report, "passed", false);
    p->passed += passed;
    p->failed += !passed;
    if (p->c->json) {
        pons_autovalue row = json_copy((json_t *)report);
        json_object_set_new(row, "variant", json_string(variant));
        cli_print_json(row);
        return;
    }
    if (passed && *variant) {
        return; // a sweep has hundreds of these
    }
    cli_out("%s  %-*s %-10s %7.1f s  %3lld commits  %2lld starts  %zu decisions  %s\n",
            passed ? "✓" : "✗", 28, pons_get_str(report, "name", ""),
            pons_get_str(report, "status", ""), pons_get_num(report, "robot_s", 0.0),
            (long long)pons_get_int(report, "commits", 0),
            (long long)pons_get_int(report, "starts", 0),
            json_array_size(pons_get(report, "decisions")), variant);
    pons_each(end, pons_get(report, "results")) {
        if (pons_get(end, "goal")) { // a story without a brain: its goals are all there is to tell
            cli_out("     %-12s %s %lld\n", pons_get_str(end, "goal", ""),
                    pons_get_str(end, "status", ""), (long long)pons_get_int(end, "error_code", 0));
        }
    }
    pons_each(miss, pons_get(report, "misses")) {
        cli_out("     %s\n", json_string_value(miss));
    }
}

static void show_event(void *user, const pons_event *ev)
{
    player *p = user;
    if (p->recorder) {
        pons_recorder_event(p->recorder, &(pons_record_event){.thread = ev->thread,
                                                              .ns = ev->ns,
                                                              .type = ev->type,
                                                              .seq = ev->seq,
                                                              .ts_ms = ev->ts_ms,
                                                              .payload = ev->payload});
    }
    if (p->trace) {
        cli_display_event(p->display, ev);
    }
}

static void record_report(void *user, const pons_value *report, int64_t wall_ms)
{
    player *p = user;
    if (p->world) {
        pons_recorder_world(p->recorder, p->world, wall_ms * PONS_NS_PER_MS);
        p->world = NULL;
    }
    pons_recorder_report(p->recorder, report, wall_ms * PONS_NS_PER_MS);
}

static void tell_recording(void *user, const char *line)
{
    cli_err("pons: %s\n", line);
}

// ---- stories of seeds ---------------------------------------------------------------------------

static int env_of(player *p, const pons_scenario *s, pons_scenario_env *ret, pons_value **ret_world,
                  pons_error *err)
{
    *ret = (pons_scenario_env){.config = p->config,
                               .policy = p->policy,
                               .script = &pons_llm_script,
                               .dir = p->dir,
                               .on_event = p->trace || p->recorder ? show_event : NULL,
                               .on_report = p->recorder ? record_report : NULL,
                               .user = p};
    int rc = app_driver(p->driver ? p->driver : pons_scenario_driver(s), &ret->robot, err);
    rc = rc < 0 ? rc : app_world(pons_scenario_world(s), ret_world, err);
    ret->world = p->world = *ret_world;
    const void *slam = NULL;
    rc = rc < 0 || !pons_scenario_is_unmapped(s)
             ? rc
             : pons_module_load_of("slam", "mrpt", PONS_SLAM_ABI, &slam, err);
    ret->slam = slam;
    return rc;
}

// What failed, cut down, as a file.
static int explain(player *p, const pons_scenario *s, const pons_scenario_env *env,
                   const pons_value *report, pons_error *err)
{
    const pons_scenario_options o = PONS_SCENARIO_OPTIONS_INIT;
    pons_scenario *small = NULL;
    int64_t runs = 0;
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s.yaml", p->out, pons_get_str(report, "name", "story"));
    int rc = pons_scenario_shrink(s, env, &o, &small, &runs, err);
    rc = rc < 0 ? rc : pons_scenario_save(small, path, err);
    if (rc >= 0 && !p->c->json) {
        const pons_value *v = pons_scenario_value(small);
        cli_out("     cut down in %lld runs to %zu goals, %zu events, %zu replies: %s\n",
                (long long)runs, json_array_size(pons_get(v, "goals")),
                json_array_size(pons_get(v, "events")), json_array_size(pons_get(v, "model")),
                path);
    }
    pons_scenario_destroy(small);
    return rc;
}

static int fuzz_one(player *p, uint64_t seed, pons_error *err)
{
    const pons_scenario_options o = PONS_SCENARIO_OPTIONS_INIT;
    pons_scenario *s = NULL;
    pons_scenario_env env;
    pons_value *world = NULL;
    pons_autovalue report = NULL;
    char variant[32];
    int rc = pons_scenario_random(seed, &s, err);
    if (rc < 0) {
        return rc;
    }
    snprintf(variant, sizeof variant, "seed %llu", (unsigned long long)seed);
    rc = env_of(p, s, &env, &world, err);
    rc = rc < 0 ? rc : pons_scenario_run(s, &env, &o, &report, err);
    if (rc >= 0) {
        show_row(p, report, variant);
        if (!pons_get_bool(report, "passed", false)) {
            rc = explain(p, s, &env, report, err);
        }
    }
    pons_value_unref(world);
    pons_scenario_destroy(s);
    return rc;
}

static double now_s(void)
{
    const pons_clock clock = pons_clock_real();
    return (double)pons_now_ns(&clock) / 1e9;
}

static int fuzz_all(player *p, long long from, long long to, pons_error *err)
{
    const double began_s = now_s();
    int rc = PONS_OK;
    cli_busy("stories", (size_t)(to - from + 1));
    for (long long seed = from; seed <= to && rc >= 0; seed++) {
        rc = fuzz_one(p, (uint64_t)seed, err);
        cli_busy_count((size_t)(seed - from + 1));
    }
    const double took_s = now_s() - began_s;
    if (rc >= 0 && !p->c->json) {
        cli_out("%lld seeds in %.1f s, %.1f a second\n", to - from + 1, took_s,
                (double)(to - from + 1) / (took_s > 0.0 ? took_s : 1.0));
    }
    return rc;
}

// ---- public functions ---------------------------------------------------------------------------

static int compare_paths(const void *a, const void *b)
{
    return strcmp(a, b);
}

// Names are looked for in scenarios/; "all" are all of them.
static int collect(cli *c, char paths[][PATH_MAX], size_t *ret_n, pons_error *err)
{
    char dir[PATH_MAX];
    size_t n = 0;
    for (int i = 1; i < c->argc && strcmp(c->argv[1], "all") != 0 && n < SCENARIOS_MAX; i++) {
        const char *word = c->argv[i];
        if (app_is_path(word)) {
            snprintf(paths[n++], PATH_MAX, "%s", word);
            continue;
        }
        char relative[256];
        snprintf(relative, sizeof relative, "scenarios/%s.yaml", word);
        const int rc = pons_share_path(relative, paths[n], PATH_MAX, err);
        if (rc < 0) {
            return rc == PONS_ENOTFOUND ? app_no_such(&c->app, "scenarios", "scenario", word, err)
                                        : rc;
        }
        n++;
    }
    if (n == 0) {
        const int rc = pons_share_path("scenarios", dir, sizeof dir, err);
        if (rc < 0) {
            return rc;
        }
        DIR *d = opendir(dir);
        for (const struct dirent *e = d ? readdir(d) : NULL; e && n < SCENARIOS_MAX;
             e = readdir(d)) {
            const size_t length = strlen(e->d_name);
            if (length > strlen(".yaml") &&
                strcmp(e->d_name + length - strlen(".yaml"), ".yaml") == 0 &&
                snprintf(paths[n], PATH_MAX, "%s/%s", dir, e->d_name) < PATH_MAX) {
                n++;
            }
        }
        if (d) {
            closedir(d);
        }
        qsort(paths, n, PATH_MAX, compare_paths);
    }
    *ret_n = n;
    return PONS_OK;
}

static void remove_dir(const char *dir)
{
    static const char *const files[] = {"body.ledger", "body.epoch", "body.sim"};
    char path[128];
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        snprintf(path, sizeof path, "%s/%s", dir, files[i]);
        unlink(path);
    }
    rmdir(dir);
}

static int play(player *p, const pons_scenario *s, const pons_scenario_options *o, pons_value **ret,
                pons_error *err)
{
    pons_scenario_env env;
    pons_autovalue world = NULL;
    int rc = env_of(p, s, &env, &world, err);
    rc = rc < 0 ? rc : pons_scenario_run(s, &env, o, ret, err);
    return rc;
}

// By the rules, and where the file has no model again in a model's clothes. *ret: the first report.
static int play_as(player *p, const pons_scenario *s, pons_value **ret, pons_error *err)
{
    const pons_value *v = pons_scenario_value(s);
    const bool both = !pons_get(v, "model") && pons_get(v, "goals");
    int rc = PONS_OK;
    for (int as_model = 0; as_model <= 1 && rc >= 0; as_model++) {
        const pons_scenario_options o = {.as_model = as_model == 1};
        pons_autovalue report = NULL;
        if (both ? !(as_model ? p->as_model : p->as_rules) : as_model == 1) {
            continue;
        }
        rc = play(p, s, &o, &report, err);
        if (rc >= 0) {
            show_row(p, report, as_model ? "as a model" : "");
            pons_value_unref(*ret);
            *ret = pons_value_ref(report);
        }
    }
    return rc;
}

static int play_file(player *p, const char *path, bool sweep, int64_t seed_from, int64_t seed_to,
                     pons_error *err)
{
    pons_scenario *s = NULL;
    pons_autovalue report = NULL;
    pons_scenario_options o = PONS_SCENARIO_OPTIONS_INIT;
    int rc = pons_scenario_load(path, &s, err);
    if (rc < 0) {
        return rc;
    }
    if (seed_to < seed_from) {
        rc = play_as(p, s, &report, err);
    }
    for (int64_t seed = seed_from; rc >= 0 && seed <= seed_to; seed++) {
        char variant[48];
        pons_autovalue fuzzed = NULL;
        o.fuzz_seed = (uint64_t)seed;
        rc = play(p, s, &o, &fuzzed, err);
        snprintf(variant, sizeof variant, "seed %lld", (long long)seed);
        if (rc >= 0) {
            show_row(p, fuzzed, variant);
        }
    }
    // Two lives for every commit: one that ends just before it is kept, one just after.
    const int64_t commits = sweep ? pons_get_int(report, "commits", 0) : 0;
    for (int64_t k = 1; rc >= 0 && k <= 2 * commits; k++) {
        char variant[48];
        pons_autovalue swept = NULL;
        o = (pons_scenario_options){.kill_at_commit = (k + 1) / 2, .kill_before = k % 2 == 1};
        rc = play(p, s, &o, &swept, err);
        snprintf(variant, sizeof variant, "killed %s commit %lld",
                 o.kill_before ? "before" : "after", (long long)o.kill_at_commit);
        if (rc >= 0) {
            show_row(p, swept, variant);
        }
    }
    pons_scenario_destroy(s);
    return rc;
}

typedef struct scenario_words { // the options, as they were typed; NULL: not given
    const char *driver, *sweep, *seeds, *trace, *seed, *as, *out, *record;
    bool fuzz;
    long long from, to;
} scenario_words;

static int check_seeds(scenario_words *w, pons_error *err)
{
    char rest = '\0', range[64];
    const char *seeds = w->seeds ? w->seeds : "";
    if (w->seed && !w->seeds) {
        snprintf(range, sizeof range, "%s..%s", w->seed, w->seed);
        seeds = range;
    }
    if (sscanf(seeds, "%lld..%lld%c", &w->from, &w->to, &rest) != 2 || w->from < 1 ||
        w->to < w->from) {
        return app_bad(err, "scenario fuzz: --seeds takes A..B with 1 <= A <= B, not '%s'", seeds);
    }
    // Not after an hour, at the first that fails.
    if (mkdir(w->out, 0777) < 0 && errno != EEXIST) {
        return app_bad(err, "scenario fuzz: --out: cannot make %s: %s", w->out, strerror(errno));
    }
    return PONS_OK;
}

static int check_words(const cli *c, scenario_words *w, pons_error *err)
{
    const bool all = c->argc > 1 && strcmp(c->argv[1], "all") == 0;
    if (w->record && (c->argc != 2 || w->sweep || w->seeds || w->seed || all)) {
        return app_bad(err, "scenario: --record takes one run of one file");
    }
    w->fuzz = c->argc > 0 && strcmp(c->argv[0], "fuzz") == 0;
    if (!w->fuzz && (c->argc < 2 || strcmp(c->argv[0], "run") != 0)) {
        return app_bad(err,
                       "scenario: use `pons scenario run NAME|FILE…|all` or `pons scenario fuzz "
                       "--seeds A..B`");
    }
    if (w->as && strcmp(w->as, "rules") != 0 && strcmp(w->as, "model") != 0) {
        return app_bad(err, "scenario: --as takes rules or model, not '%s'", w->as);
    }
    return w->fuzz ? check_seeds(w, err) : PONS_OK;
}

static int play_files(player *p, const scenario_words *w, char paths[][PATH_MAX], size_t n,
                      pons_error *err)
{
    const pons_recorder_options recorded = {
        .path = w->record, .clock = pons_clock_real(), .at_once = true, .tell = tell_recording};
    int rc = w->record ? pons_recorder_open(&recorded, &p->recorder, err) : PONS_OK;
    cli_busy("scenarios", n);
    for (size_t i = 0; rc >= 0 && i < n; i++) {
        rc = play_file(p, paths[i], w->sweep != NULL, w->from, w->to, err);
        cli_busy_count(i + 1);
    }
    pons_recorder_about about = {.received = 1};
    const bool recording = p->recorder != NULL;
    const int closed = pons_recorder_close(p->recorder, &about, rc < 0 ? NULL : err);
    if (recording && about.received == 0) {
        unlink(w->record); // nothing was run: no file that looks as if
    }
    return rc < 0 ? rc : closed;
}

int cmd_scenario(cli *c, pons_error *err)
{
    scenario_words w = {.out = ".", .to = -1};
    const cli_option options[] = {
        {"--driver", "NAME", "instead of the one that the file names", &w.driver},
        {"--sweep", NULL, "kill the brain at every commit, before and after it", &w.sweep},
        {"--as", "rules|model", "files without a model: who decides (default: both in turn)",
         &w.as},
        {"--seeds", "A..B", "fuzz: a story for each seed; with names, random kills in these",
         &w.seeds},
        {"--seed", "N", "fuzz: the story of one seed, with its events", &w.seed},
        {"--out", "DIR", "fuzz: where a story that failed is written (default: here)", &w.out},
        {"--record", "FILE",
         "one run of one file into a new MCAP file; with --as where it is needed", &w.record},
        {"--trace", NULL, "show the events of each run", &w.trace},
        {NULL, NULL, NULL, NULL},
    };
    int rc = cli_parse(c, options, err);
    rc = rc < 0 ? rc : check_words(c, &w, err);
    if (rc < 0) {
        return rc;
    }
    static char paths[SCENARIOS_MAX][PATH_MAX];
    size_t n = 0;
    player p = {.c = c,
                .driver = w.driver,
                .trace = w.trace || w.seed,
                .as_model = w.as ? strcmp(w.as, "model") == 0 : !w.record,
                .as_rules = !w.as || strcmp(w.as, "rules") == 0,
                .out = w.out};
    // In memory where there is such a place: the ledger is synced at every line.
    snprintf(p.dir, sizeof p.dir, "%s/pons-scenario-XXXXXX",
             access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
    if (!mkdtemp(p.dir)) {
        return pons_error_set(err, PONS_EENV, "scenario", "cannot make a directory like %s", p.dir);
    }
    const bool stories = w.fuzz && c->argc == 1;
    rc = stories ? PONS_OK : collect(c, paths, &n, err);
    rc = rc < 0 ? rc : app_config(&c->app, &p.config, err);
    rc = rc < 0 ? rc : app_policy(&c->app, &p.policy, err);
    p.display = cli_display_create(c, false);
    if (rc >= 0) {
        rc = stories ? fuzz_all(&p, w.from, w.to, err) : play_files(&p, &w, paths, n, err);
    }
    cli_display_destroy(p.display);
    pons_rules_close(&p.policy);
    pons_value_unref(p.config);
    remove_dir(p.dir);
    if (rc < 0) {
        return rc;
    }
    if (!c->json) {
        cli_out("%d passed, %d failed\n", p.passed, p.failed);
    }
    return p.failed ? APP_NO_SUCCESS : PONS_OK;
}
