// test_scenarios.c - the stories of scenarios/ as a gate, and the judge that is trusted with them.
//
// Every file of scenarios/ is run as `pons scenario run` would; the plain navigation is also run
// once for every commit that its brain makes, killed just before and just after it. The same seed
// must give the same trace, byte for byte. A judge that cannot say no is worth nothing: each kind
// of expectation is also shown failing. Files with mistakes are refused with their place.
#include "pons/body.h"
#include "pons/buf.h"
#include "pons/drivers.h"
#include "pons/llm.h"
#include "pons/module.h"
#include "pons/rule_policy.h"
#include "pons/scenario.h"
#include "pons/schema.h"
#include "pons/yaml.h"
#include "rounds.h"
#include "unit.h"

#include <dirent.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SCENARIOS_MAX 128

static struct {
    char dir[64]; // of the ledger and of the files that the tests write
    char ledger[96];
    pons_value *config;
    pons_policy policy;
    pons_schema *observation, *decision, *task;
} shop;

static void must(int rc, const pons_error *err, const char *what)
{
    char line[1200];
    if (rc < 0) {
        fail_msg("%s: %s", what, pons_error_line(err, line, sizeof line));
    }
}

static pons_value *load_config(const char *name)
{
    char path[512];
    pons_error err = PONS_ERROR_INIT;
    pons_yaml *yaml = NULL;
    snprintf(path, sizeof path, "%s/config/%s", PONS_SOURCE_DIR, name);
    must(pons_yaml_load(path, &yaml, &err), &err, path);
    pons_value *v = pons_value_ref(pons_yaml_value(yaml));
    pons_yaml_destroy(yaml);
    return v;
}

static pons_schema *load_schema(const char *name)
{
    char path[512];
    pons_error err = PONS_ERROR_INIT;
    pons_autovalue value = NULL;
    pons_schema *schema = NULL;
    snprintf(path, sizeof path, "%s/schemas/%s", PONS_SOURCE_DIR, name);
    must(pons_value_load(path, &value, &err), &err, path);
    must(pons_schema_compile(value, &schema, &err), &err, path);
    return schema;
}

static int open_shop(void **state)
{
    (void)state;
    pons_error err = PONS_ERROR_INIT;
    setenv("PONS_SHARE", PONS_SOURCE_DIR, 0);
    setenv("PONS_MODULE_PATH", PONS_BINARY_DIR "/lib/pons", 0);
    snprintf(shop.dir, sizeof shop.dir, "/tmp/pons-scenario-XXXXXX");
    assert_non_null(mkdtemp(shop.dir));
    snprintf(shop.ledger, sizeof shop.ledger, "%s/body.ledger", shop.dir);
    shop.config = load_config("kernel.yaml");
    shop.observation = load_schema("observation.json");
    shop.decision = load_schema("decision.json");
    shop.task = load_schema("task.json");
    pons_autovalue intents = load_config("intents.yaml");
    must(pons_rules_open(intents, &shop.policy, &err), &err, "rules");
    return 0;
}

static int close_shop(void **state)
{
    (void)state;
    char path[128];
    pons_rules_close(&shop.policy);
    pons_value_unref(shop.config);
    pons_schema_destroy(shop.observation);
    pons_schema_destroy(shop.decision);
    pons_schema_destroy(shop.task);
    unlink(shop.ledger);
    snprintf(path, sizeof path, "%s/body.epoch", shop.dir);
    unlink(path);
    snprintf(path, sizeof path, "%s/body.sim", shop.dir);
    unlink(path);
    snprintf(path, sizeof path, "%s/story.yaml", shop.dir);
    unlink(path);
    return rmdir(shop.dir);
}

static void hold_against(const pons_schema *schema, const pons_value *v, const char *what)
{
    pons_error err = PONS_ERROR_INIT;
    if (v) {
        must(pons_schema_check(schema, v, &err), &err, what);
    }
}

// user: NULL, or where every event goes as a line.
static void witness(void *user, const pons_event *ev)
{
    char *payload = NULL;
    hold_against(shop.observation, pons_get(ev->payload, "observation"), "observation");
    hold_against(shop.decision, pons_get(ev->payload, "decision"), "decision");
    hold_against(shop.task, pons_get(ev->payload, "task"), "task");
    if (!user) {
        return;
    }
    assert_true(pons_value_dump(ev->payload, &payload) > 0);
    pons_buf_printf(user, "%lld %s %lld %s %s\n", (long long)ev->seq, ev->ns, (long long)ev->ts_ms,
                    ev->type, payload);
    free(payload);
}

// trace: NULL, or where every event goes as a line.
static int run_story(const pons_scenario *s, const pons_scenario_options *o, pons_buf *trace,
                     pons_value **ret_report, pons_error *err)
{
    pons_scenario_env env = {.robot = &pons_robot_kinematic,
                             .config = shop.config,
                             .policy = shop.policy,
                             .script = &pons_llm_script,
                             .dir = shop.dir,
                             .on_event = witness,
                             .user = trace};
    if (strcmp(pons_scenario_driver(s), "kinematic") != 0) {
        const void *ops = NULL;
        must(pons_module_load("driver", pons_scenario_driver(s), &ops, err), err, "driver");
        env.robot = ops;
    }
    if (pons_scenario_is_unmapped(s)) {
        const void *ops = NULL;
        must(pons_module_load("slam", "mrpt", &ops, err), err, "slam");
        env.slam = ops;
    }
    char world_path[512];
    pons_autovalue world = NULL;
    snprintf(world_path, sizeof world_path, "%s/worlds/%s.yaml", PONS_SOURCE_DIR,
             pons_scenario_world(s));
    must(pons_world_load(world_path, &world, err), err, world_path);
    env.world = world;
    return pons_scenario_run(s, &env, o, ret_report, err);
}

// The same of a file that is right. The caller's report.
static pons_value *play(const char *path, const pons_scenario_options *o, pons_buf *trace)
{
    pons_error err = PONS_ERROR_INIT;
    pons_scenario *s = NULL;
    pons_value *report = NULL;
    must(pons_scenario_load(path, &s, &err), &err, path);
    must(run_story(s, o, trace, &report, &err), &err, pons_scenario_name(s));
    pons_scenario_destroy(s);
    return report;
}

static void must_pass(const pons_value *report, const char *what)
{
    size_t i;
    json_t *miss;
    json_array_foreach(pons_get(report, "misses"), i, miss) {
        print_error("%s, %s: %s\n", pons_get_str(report, "name", "?"), what,
                    json_string_value(miss));
    }
    assert_true(pons_get_bool(report, "passed", false));
}

static const char *in_scenarios(const char *name)
{
    static char path[512];
    snprintf(path, sizeof path, "%s/scenarios/%s", PONS_SOURCE_DIR, name);
    return path;
}

static const char *write_story(const char *text)
{
    static char path[128];
    snprintf(path, sizeof path, "%s/story.yaml", shop.dir);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    assert_true(fputs(text, f) >= 0);
    assert_int_equal(fclose(f), 0);
    return path;
}

// ---- the stories --------------------------------------------------------------------------------

static int by_name(const void *a, const void *b)
{
    return strcmp(a, b);
}

// By the rules, and again with their decisions over a model's wire, where the file has no model.
static bool ends_as_it_says(const char *name, bool as_model)
{
    const pons_scenario_options o = {.as_model = as_model};
    pons_error err = PONS_ERROR_INIT;
    pons_scenario *s = NULL;
    must(pons_scenario_load(in_scenarios(name), &s, &err), &err, name);
    const pons_value *v = pons_scenario_value(s);
    const bool again = pons_get(v, "goals") && !pons_get(v, "model");
    pons_scenario_destroy(s);
    if (as_model && !again) {
        return true;
    }
    pons_autovalue report = play(in_scenarios(name), &o, NULL);
    const bool passed = pons_get_bool(report, "passed", false);
    print_message(
        "%s %s%s: %lld commits, %lld kills, %lld starts, %.1f s of robot time\n",
        passed ? "ok " : "BAD", name, as_model ? " as a model" : "",
        (long long)pons_get_int(report, "commits", 0), (long long)pons_get_int(report, "kills", 0),
        (long long)pons_get_int(report, "starts", 0), pons_get_num(report, "robot_s", 0.0));
    size_t k;
    json_t *miss;
    json_array_foreach(pons_get(report, "misses"), k, miss) {
        print_error("  %s\n", json_string_value(miss));
    }
    return passed;
}

static void every_story_ends_as_it_says(void **state)
{
    (void)state;
    static char names[SCENARIOS_MAX][64];
    size_t n = 0;
    DIR *d = opendir(PONS_SOURCE_DIR "/scenarios");
    assert_non_null(d);
    for (const struct dirent *e = readdir(d); e && n < SCENARIOS_MAX; e = readdir(d)) {
        const size_t length = strlen(e->d_name);
        if (length > 5 && length < sizeof names[0] &&
            strcmp(e->d_name + length - 5, ".yaml") == 0) {
            memcpy(names[n++], e->d_name, length + 1);
        }
    }
    closedir(d);
    assert_true(n >= 2);
    qsort(names, n, sizeof names[0], by_name);
    bool good = true;
    for (size_t i = 0; i < n; i++) {
        good = ends_as_it_says(names[i], false) && good;
        if (rounds_take(ROUNDS_scenario_models, (long)i, (long)n)) {
            good = ends_as_it_says(names[i], true) && good;
        }
    }
    assert_true(good);
}

// The same story, with wheels that slip and a body that has mass.
static void a_swing_is_seen_in_mujoco_too(void **state)
{
    (void)state;
    const void *ops = NULL;
    if (pons_module_load("driver", "mujoco", &ops, NULL) < 0) {
        print_message("no mujoco driver here\n");
        skip();
    }
    static const char kinematic[] = "driver: kinematic";
    char *text = NULL;
    size_t n = 0;
    FILE *f = fopen(in_scenarios("44-model-that-swings.yaml"), "re");
    assert_non_null(f);
    assert_true(getdelim(&text, &n, '\0', f) > 0);
    fclose(f);
    char *at = strstr(text, kinematic);
    assert_non_null(at);
    memcpy(at, "driver: mujoco   ", sizeof kinematic - 1);
    const pons_scenario_options o = {0};
    pons_autovalue report = play(write_story(text), &o, NULL);
    free(text);
    must_pass(report, "in mujoco");
    assert_in_range(pons_get_int(report, "starts", 0), 6, 8);
}

static void a_navigation_survives_a_kill_at_every_commit(void **state)
{
    (void)state;
    const char *path = in_scenarios("1-navigate.yaml");
    pons_scenario_options o = PONS_SCENARIO_OPTIONS_INIT;
    pons_autovalue plain = play(path, &o, NULL);
    must_pass(plain, "not killed");
    const int64_t commits = pons_get_int(plain, "commits", 0);
    assert_true(commits >= 10);
    print_message("N = %lld commits, %lld lives\n", (long long)commits, (long long)(2 * commits));
    for (int64_t k = 1; k <= commits; k++) {
        if (!rounds_take(ROUNDS_scenario_kills, k - 1, commits)) {
            continue;
        }
        for (int before = 0; before <= 1; before++) {
            char what[48];
            snprintf(what, sizeof what, "killed %s commit %lld", before ? "before" : "after",
                     (long long)k);
            o.kill_at_commit = k;
            o.kill_before = before;
            pons_autovalue report = play(path, &o, NULL);
            must_pass(report, what);
            assert_int_equal(pons_get_int(report, "kills", -1), 1);
        }
    }
}

// ---- the same seed ------------------------------------------------------------------------------

static char *read_ledger(void)
{
    FILE *f = fopen(shop.ledger, "r");
    assert_non_null(f);
    static char text[1 << 18];
    const size_t n = fread(text, 1, sizeof text - 1, f);
    assert_true(n > 0 && n + 1 < sizeof text);
    text[n] = '\0';
    fclose(f);
    return strdup(text);
}

static void must_repeat(const char *name, const pons_scenario_options *o)
{
    pons_autobuf first = PONS_BUF_INIT;
    pons_autobuf second = PONS_BUF_INIT;
    pons_autovalue a = play(in_scenarios(name), o, &first);
    char *ledger_a = read_ledger();
    pons_autovalue b = play(in_scenarios(name), o, &second);
    char *ledger_b = read_ledger();
    assert_true(first.len > 1000);
    assert_int_equal(first.len, second.len);
    assert_string_equal(first.data, second.data);
    assert_string_equal(ledger_a, ledger_b);
    assert_true(json_equal(a, b));
    free(ledger_a);
    free(ledger_b);
}

static void the_same_seed_gives_the_same_trace(void **state)
{
    (void)state;
    const pons_scenario_options plain = PONS_SCENARIO_OPTIONS_INIT;
    must_repeat("1-navigate.yaml", &plain);
    must_repeat("6-killed-and-resumed.yaml", &plain);
    const pons_scenario_options fuzzed = {.fuzz_seed = 7};
    must_repeat("6-killed-and-resumed.yaml", &fuzzed);
}

static void another_seed_gives_another_trace(void **state)
{
    (void)state;
    pons_autobuf first = PONS_BUF_INIT;
    pons_autobuf second = PONS_BUF_INIT;
    pons_scenario_options o = {.seed = 1};
    pons_autovalue a = play(in_scenarios("1-navigate.yaml"), &o, &first);
    o.seed = 2;
    pons_autovalue b = play(in_scenarios("1-navigate.yaml"), &o, &second);
    must_pass(a, "seed 1");
    must_pass(b, "seed 2");
    assert_string_not_equal(first.data, second.data);
}

static void random_kills_lose_nothing(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= (uint64_t)rounds(ROUNDS_scenario_fuzz); seed++) {
        char what[32];
        const pons_scenario_options o = {.fuzz_seed = seed};
        snprintf(what, sizeof what, "fuzz seed %llu", (unsigned long long)seed);
        pons_autovalue report = play(in_scenarios("1-navigate.yaml"), &o, NULL);
        must_pass(report, what);
    }
}

// A kill that a sweep or a seed adds comes beside those of the story, and is not counted as one.
static void added_kills_come_beside_the_storys_own(void **state)
{
    (void)state;
    const char *path = in_scenarios("21-ladder-and-kills.yaml");
    pons_scenario_options o = PONS_SCENARIO_OPTIONS_INIT;
    pons_autovalue plain = play(path, &o, NULL);
    must_pass(plain, "as it is");
    const int64_t commits = pons_get_int(plain, "commits", 0);
    assert_true(commits > 200);
    o.kill_at_commit = commits - 20; // long after the first of the story's own
    pons_autovalue swept = play(path, &o, NULL);
    must_pass(swept, "swept");
    assert_int_equal(pons_get_int(swept, "kills_told", -1), 5);
    assert_int_equal(pons_get_int(swept, "kills", -1), 6);
    const pons_scenario_options fuzzed = {.fuzz_seed = 2};
    pons_autovalue random = play(path, &fuzzed, NULL);
    must_pass(random, "fuzz seed 2");
    assert_int_equal(pons_get_int(random, "kills_told", -1), 5);
}

// ---- stories of seeds ---------------------------------------------------------------------------

// The file of a seed's story, which is read back.
static const char *story_of(uint64_t seed)
{
    pons_error err = PONS_ERROR_INIT;
    pons_scenario *s = NULL;
    const char *path = write_story("");
    must(pons_scenario_random(seed, &s, &err), &err, "a story");
    must(pons_scenario_save(s, path, &err), &err, "a story");
    pons_scenario_destroy(s);
    return path;
}

static void a_seed_is_a_story_that_repeats(void **state)
{
    (void)state;
    const pons_scenario_options o = PONS_SCENARIO_OPTIONS_INIT;
    for (uint64_t seed = 1; seed <= (uint64_t)rounds(ROUNDS_scenario_seeds); seed++) {
        char what[32];
        pons_autobuf first = PONS_BUF_INIT;
        pons_autobuf second = PONS_BUF_INIT;
        snprintf(what, sizeof what, "seed %llu", (unsigned long long)seed);
        pons_autovalue report = play(story_of(seed), &o, &first);
        must_pass(report, what);
        if (seed % 4 == 0) {
            pons_autovalue again = play(story_of(seed), &o, &second);
            assert_true(first.len > 0);
            assert_string_equal(first.data, second.data);
            assert_true(json_equal(report, again));
        }
    }
}

// Of three goals, three things that happen and a model, one goal is what breaks the rule.
static void a_story_that_fails_is_cut_down(void **state)
{
    (void)state;
    const pons_scenario_options o = PONS_SCENARIO_OPTIONS_INIT;
    pons_error err = PONS_ERROR_INIT;
    pons_scenario *s = NULL, *small = NULL;
    pons_value *world = NULL;
    int64_t runs = 0;
    must(pons_scenario_load(write_story("name: long\nseed: 1\n"
                                        "goals: [wait 1 second, 去厨房, say hello]\n"
                                        "model:\n  - content: hm\n"
                                        "events:\n"
                                        "  - at_s: 1\n    do: {battery: 70}\n"
                                        "  - at_s: 2\n    do: {say: wait 1 second}\n"
                                        "  - at_s: 3\n    do: {pause_brain_s: 0.2}\n"
                                        "always: {outside: corridor}\n"
                                        "expect: {status: over}\n"),
                            &s, &err),
         &err, "a story");
    must(pons_world_load(PONS_SOURCE_DIR "/worlds/house.yaml", &world, &err), &err, "house");
    const pons_scenario_env env = {.robot = &pons_robot_kinematic,
                                   .world = world,
                                   .config = shop.config,
                                   .policy = shop.policy,
                                   .script = &pons_llm_script,
                                   .dir = shop.dir};
    must(pons_scenario_shrink(s, &env, &o, &small, &runs, &err), &err, "cut down");
    const pons_value *v = pons_scenario_value(small);
    assert_int_equal(json_array_size(pons_get(v, "goals")), 1);
    assert_string_equal(json_string_value(json_array_get(pons_get(v, "goals"), 0)), "去厨房");
    assert_null(pons_get(v, "events"));
    assert_null(pons_get(v, "model"));
    assert_true(runs >= 6);
    pons_scenario_destroy(s);
    pons_scenario_destroy(small);
    pons_value_unref(world);
}

// ---- the judge ----------------------------------------------------------------------------------

static void a_wrong_expectation_is_missed(void **state)
{
    (void)state;
    static const struct {
        const char *expect, *miss;
    } rows[] = {
        {"{status: aborted}", "status is succeeded, expected aborted"},
        {"{status: succeeded, in_zone: bedroom}", "not in bedroom"},
        {"{status: succeeded, decisions: [FINISH, CONTINUE]}", "decisions: no CONTINUE"},
        {"{status: succeeded, decisions_include: [ASK_HUMAN]}", "no decision ASK_HUMAN"},
        {"{status: succeeded, modes: [EXEC, CHARGE]}", "modes: no CHARGE"},
        {"{status: succeeded, events_include: [approval.requested]}",
         "no event approval.requested"},
        {"{status: succeeded, events_exclude: [decision]}", "an unexpected event decision"},
        {"{status: succeeded, effects_include: [navigate_to_pose failed]}",
         "no effect navigate_to_pose failed"},
        {"{status: succeeded, kills: 1}", "0 kills, expected 1"},
        {"{status: succeeded, sources: [llm]}", "sources: no llm"},
        {"{status: succeeded, stood_s: 5}", "at least 5.0 expected"},
        {"{status: succeeded, said: hello}", "nobody said"},
        {"{status: succeeded, map_m2: 1}", "has 0.0 m2 of floor, expected 1"},
    };
    const pons_scenario_options o = PONS_SCENARIO_OPTIONS_INIT;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char text[512];
        snprintf(text, sizeof text, "name: wrong\nseed: 1\ngoals: [去厨房]\nexpect: %s\n",
                 rows[i].expect);
        pons_autovalue report = play(write_story(text), &o, NULL);
        assert_false(pons_get_bool(report, "passed", true));
        assert_int_equal(json_array_size(pons_get(report, "misses")), 1);
        const char *miss = json_string_value(json_array_get(pons_get(report, "misses"), 0));
        if (!strstr(miss, rows[i].miss)) {
            fail_msg("%s: the miss is “%s”", rows[i].expect, miss);
        }
    }
}

static void a_story_that_does_not_end_is_missed(void **state)
{
    (void)state;
    const pons_scenario_options o = PONS_SCENARIO_OPTIONS_INIT;
    pons_autovalue report = play(write_story("name: long\nseed: 1\ntime_limit_s: 2\n"
                                             "goals: [去厨房]\nexpect: {status: succeeded}\n"),
                                 &o, NULL);
    assert_false(pons_get_bool(report, "passed", true));
    assert_string_equal(pons_get_str(report, "status", ""), "unfinished");
}

// ---- files --------------------------------------------------------------------------------------

static void a_bad_file_is_refused_with_its_place(void **state)
{
    (void)state;
    static const struct {
        const char *text, *place;
    } rows[] = {
        {"name: a\ngoals: [x]\nexpect: {status: happy}\n", "story.yaml:3:18"},
        {"name: a\ngoals: []\nexpect: {status: succeeded}\n", "story.yaml:2:8"},
        {"name: a\ngoals: [x]\nexpect: {status: succeeded}\nsped: 3\n", "story.yaml:4:"},
        {"name: a\ngoals: [x]\ndriver: gazebo\nexpect: {status: succeeded}\n", "story.yaml:3:9"},
        {"name: a\ngoals: [x]\nseed: soon\nexpect: {status: succeeded}\n", "story.yaml:3:7"},
        {"name: a\ngoals: [x]\nexpect: {status: succeeded}\nevents:\n  - at_s: -1\n    do: {say: "
         "x}\n",
         "story.yaml:5:11"},
        {"name: a\ngoals: [x]\nexpect: {status: succeeded}\nevents:\n  - at_s: 1\n"
         "    do: {explode: now}\n",
         "story.yaml:6:"},
        {"name: a\nname: b\ngoals: [x]\nexpect: {status: succeeded}\n", "story.yaml:2:1"},
        {"name: [a\ngoals: [x]\n", "story.yaml:"},
        {"just words\n", "story.yaml:1:1"},
        {"name: a\ngoals: [x]\nexpect: {status: succeeded}\nevents:\n  - at_s: 1\n"
         "    do: {spawn: {id: b, x: 1.0, y: 1.0, sx: 0.5}}\n",
         "story.yaml:6:"},
        {"name: a\ngoals: [x]\nexpect: {status: succeeded}\nevents:\n  - at_s: 1\n"
         "    do: {spawn: {id: b, x: 1.0, y: 1.0, sx: 0.5, sy: 0.5, sz: 1.0}}\n",
         "story.yaml:6:"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        pons_error err = PONS_ERROR_INIT;
        pons_scenario *s = NULL;
        char line[1200];
        const int rc = pons_scenario_load(write_story(rows[i].text), &s, &err);
        pons_error_line(&err, line, sizeof line);
        if (rc != PONS_EINVAL || !strstr(line, rows[i].place)) {
            fail_msg("row %zu: %d, “%s”, expected %s", i, rc, line, rows[i].place);
        }
        assert_null(s);
    }
    pons_error err = PONS_ERROR_INIT;
    pons_scenario *s = NULL;
    assert_int_equal(pons_scenario_load("/nonexistent/story.yaml", &s, &err), PONS_ENOTFOUND);
    pons_scenario_destroy(NULL);
}

static void an_unmapped_story_needs_a_mapper(void **state)
{
    (void)state;
    const pons_scenario_options o = PONS_SCENARIO_OPTIONS_INIT;
    const pons_scenario_env env = {
        .robot = &pons_robot_kinematic, .config = shop.config, .dir = shop.dir};
    pons_error err = PONS_ERROR_INIT;
    pons_scenario *s = NULL;
    pons_value *report = NULL;
    must(pons_scenario_load(in_scenarios("84-explored-among-people.yaml"), &s, &err), &err, "84");
    assert_int_equal(pons_scenario_run(s, &env, &o, &report, &err), PONS_EINVAL);
    assert_string_equal(err.message, "'unmapped' needs a mapper");
    assert_null(report);
    pons_scenario_destroy(s);
}

// What a file names and nobody has would never come: it is said before the story begins.
static void a_name_that_nobody_has_is_refused_with_its_place(void **state)
{
    (void)state;
#define STORY "name: a\ngoals: [go to the kitchen]\n"
    static const struct {
        const char *text, *place, *says;
    } rows[] = {
        {STORY "expect: {status: over}\nalways: {outside: kitchn}\n", "story.yaml:4:", "kitchn"},
        {STORY "expect: {status: over}\nalways: {skills: [wait, graps]}\n",
         "story.yaml:4:", "graps"},
        {STORY "expect: {status: over}\napproval_skills: [navigate]\n",
         "story.yaml:4:", "navigate"},
        {STORY "expect: {status: over, in_zone: kitchn}\n", "story.yaml:3:", "kitchn"},
        {STORY "expect: {status: over, events_include: [stop, task.finished]}\n",
         "story.yaml:3:", "task.finished"},
        {STORY "expect: {status: over, events_exclude: [stopp]}\n", "story.yaml:3:", "stopp"},
        {STORY "expect: {status: over, results: [{skill: waits, status: done}]}\n",
         "story.yaml:3:", "waits"},
        {STORY "expect: {status: over, effects_include: [wait ended]}\n",
         "story.yaml:3:", "wait ended"},
        {STORY "expect: {status: over, effects_include: [waits done]}\n", "story.yaml:3:", "waits"},
        {STORY "expect: {status: over}\nevents:\n  - when: {event: task.finished}\n"
               "    do: {say: x}\n",
         "story.yaml:5:", "task.finished"},
        {STORY "expect: {status: over}\nevents:\n  - when: {effect: graps done}\n"
               "    do: {say: x}\n",
         "story.yaml:5:", "graps"},
        {STORY "expect: {status: over}\nmodel:\n  - {content: x}\n  - {contnet: x}\n",
         "story.yaml:6:", "contnet"},
        {STORY "expect: {status: over}\nevents:\n  - at_s: 1\n"
               "    do: {goal: {id: g, skill: wait}}\n",
         "story.yaml:6:", "goal"},
    };
#undef STORY
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const pons_scenario_options o = PONS_SCENARIO_OPTIONS_INIT;
        pons_error err = PONS_ERROR_INIT;
        pons_scenario *s = NULL;
        pons_autovalue report = NULL;
        char line[1200];
        must(pons_scenario_load(write_story(rows[i].text), &s, &err), &err, "story.yaml");
        const int rc = run_story(s, &o, NULL, &report, &err);
        pons_error_line(&err, line, sizeof line);
        if (rc != PONS_EINVAL || !strstr(line, rows[i].place) || !strstr(line, rows[i].says)) {
            fail_msg("row %zu: %d, “%s”, expected %s", i, rc, line, rows[i].place);
        }
        pons_scenario_destroy(s);
    }
}

static void a_file_says_what_it_is(void **state)
{
    (void)state;
    pons_error err = PONS_ERROR_INIT;
    pons_scenario *s = NULL;
    must(pons_scenario_load(in_scenarios("1-navigate.yaml"), &s, &err), &err, "1-navigate");
    assert_string_equal(pons_scenario_name(s), "1-navigate");
    assert_string_equal(pons_scenario_world(s), "house");
    assert_string_equal(pons_scenario_driver(s), "kinematic");
    pons_scenario_destroy(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_story_ends_as_it_says),
        cmocka_unit_test(a_swing_is_seen_in_mujoco_too),
        cmocka_unit_test(a_navigation_survives_a_kill_at_every_commit),
        cmocka_unit_test(the_same_seed_gives_the_same_trace),
        cmocka_unit_test(another_seed_gives_another_trace),
        cmocka_unit_test(random_kills_lose_nothing),
        cmocka_unit_test(added_kills_come_beside_the_storys_own),
        cmocka_unit_test(a_seed_is_a_story_that_repeats),
        cmocka_unit_test(a_story_that_fails_is_cut_down),
        cmocka_unit_test(a_wrong_expectation_is_missed),
        cmocka_unit_test(a_story_that_does_not_end_is_missed),
        cmocka_unit_test(a_bad_file_is_refused_with_its_place),
        cmocka_unit_test(an_unmapped_story_needs_a_mapper),
        cmocka_unit_test(a_name_that_nobody_has_is_refused_with_its_place),
        cmocka_unit_test(a_file_says_what_it_is),
    };
    pons_value_init();
    return cmocka_run_group_tests_name("scenarios", tests, open_shop, close_shop);
}
