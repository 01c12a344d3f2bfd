// test_hostile_model.c - a model that means harm, or is merely broken, for ever.
//
// What is asserted is what a person would see: the task that the person gave is done all the same,
// the heartbeats go on, the store grows by a bounded amount, and what crossed a door was as its
// schema says (bench_close counts the events schema.failed).
#include "brain_bench.h"
#include "unit.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SOON    2.0
#define WHILE_S 25.0
#define MIB     (1024 * 1024)

static void begin(bench *b, const char *script)
{
    bench_open(b, script);
    bench_brain(b);
    bench_run(b, 0.5);
}

static int add_bytes(void *user, const pons_thread_info *info)
{
    *(int64_t *)user += info->bytes;
    return PONS_OK;
}

static int64_t store_bytes(bench *b)
{
    int64_t n = 0;
    pons_error err = PONS_ERROR_INIT;
    assert_int_equal(b->memory.ops->threads(b->memory.self, add_bytes, &n, &err), PONS_OK);
    return n;
}

// [n goals] as a script's text; each is said, and longer than it need be.
static char *goals_text(int n)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    for (int i = 0; i < n; i++) {
        fprintf(out, "%s{'intent':'say','text':'number %d %0100d'}", i ? "," : "", i, 0);
    }
    fclose(out);
    return text;
}

static bool fell_back_because(const bench *b, const char *why)
{
    size_t i;
    json_t *ev;
    json_array_foreach(b->events, i, ev) {
        if (strstr(pons_get_str(pons_get(ev, "payload"), "fallback", ""), why)) {
            return true;
        }
    }
    return false;
}

// Each answer is wrong in its own way; each goes back once, with the reason, and the rules do what
// the person asked for.
static void a_bad_patch_never_costs_the_task(void **state)
{
    (void)state;
    static const struct {
        const char *patch, *why;
    } rows[] = {
        {"{'goals':[{'intent':'juggle'}]}", "/plan_patch/goals/0/intent"},
        {"{'goals':['kitchen']}", "/plan_patch/goals/0"},
        {"{'goals':{'intent':'charge'}}", "/plan_patch/goals"},
        {"{'goals':[{'intent':'go_to','zone':'moon'}]}", "unknown zone moon"},
        {"{'goals':[{'intent':'go_to'}]}", "go_to needs pose or zone"},
        {"{'goals':[{'intent':'patrol','zones':['kitchen','moon']}]}", "zones/1: unknown zone"},
        {"{'goals':[{'intent':'wait','seconds':-1}]}", "/plan_patch/goals/0/seconds"},
        {"{'goals':[{'intent':'charge','sudo':true}]}", "sudo"},
        {"{'goals':[],'steps':[]}", "/plan_patch/steps"},
        {"{'steps':[{'action':'wait','tool_call_type':'fly'}]}", "tool_call_type"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        bench b;
        char script[512];
        snprintf(script, sizeof script,
                 "[{'decision':{'type':'CONTINUE','reason':'r','plan_patch':%s},'repeat':true}]",
                 rows[i].patch);
        begin(&b, script);
        bench_goal_text(&b, "去厨房");
        bench_await(&b, "task.done", "status", "succeeded", 60.0);
        if (!fell_back_because(&b, rows[i].why)) {
            fail_msg("%s: nobody said %s", rows[i].patch, rows[i].why);
        }
        assert_int_equal(b.llm_starts, 2); // once, and once more with the reason
        bench_close(&b);
    }
}

static void hundreds_of_goals_are_refused(void **state)
{
    (void)state;
    bench b;
    char *goals = goals_text(100), *script = NULL;
    assert_true(asprintf(&script,
                         "[{'decision':{'type':'CONTINUE','reason':'r','plan_patch':{'goals':[%s]},"
                         "'ops':[{'op':'dispatch','skill':'wait','args':{}}]},'repeat':true}]",
                         goals) > 0);
    begin(&b, script);
    b.base_ms = BENCH_NEVER; // it drives and drives
    bench_goal_text(&b, "去厨房");
    bench_run(&b, WHILE_S);
    print_message("100 goals a decision: %lld bytes in %.0f s, %d calls, %d heartbeats\n",
                  (long long)store_bytes(&b), WHILE_S, b.llm_starts, b.heartbeats);
    assert_int_equal(bench_count(&b, "decision", "source", "llm"), 0);
    assert_true(store_bytes(&b) < MIB / 2);
    assert_true(b.heartbeats >= (int)(WHILE_S * 9));
    free(script);
    free(goals);
    bench_close(&b);
}

// As many goals as one decision may have, other ones each time, and something to do that ends at
// once: the costliest that is allowed. Progress is the robot's, so nothing ends the task.
static void a_model_that_decides_without_end_is_slowed_down(void **state)
{
    (void)state;
    bench b;
    char *script = NULL, *goals = goals_text(15);
    assert_true(asprintf(&script,
                         "[{'decision':{'type':'CONTINUE','reason':'r','plan_patch':{'goals':[%s,"
                         "{'intent':'say','text':'one'}]},"
                         "'ops':[{'op':'dispatch','skill':'wait','args':{}}]},'repeat':true}]",
                         goals) > 0);
    begin(&b, script);
    json_object_set_new(json_object_get(b.config, "limits"), "iterations_max", json_integer(9999));
    json_object_set_new(json_object_get(b.config, "model"), "decisions_max", json_integer(9999));
    json_object_set_new(json_object_get(b.config, "model"), "calls_max", json_integer(0));
    bench_kill(&b);
    bench_brain(&b);
    bench_run(&b, 0.5);
    bench_goal_text(&b, "去厨房");
    bench_run(&b, WHILE_S);
    const int decided = bench_count(&b, "decision", "source", "llm");
    print_message("16 goals a decision: %lld bytes in %.0f s, %d decisions\n",
                  (long long)store_bytes(&b), WHILE_S, decided);
    assert_true(decided > 20);
    assert_true(decided <= 20 + (int)WHILE_S + 1);
    const int64_t before = store_bytes(&b);
    assert_true(before < 6 * MIB);
    bench_run(&b, WHILE_S);
    assert_true(bench_count(&b, "decision", "source", "llm") - decided <= (int)WHILE_S + 1);
    const int64_t more = store_bytes(&b) - before;
    print_message("and %lld bytes in the next %.0f s\n", (long long)more, WHILE_S);
    assert_true(more < 4 * MIB);
    // The newest task has the person's goal and one patch's, not fifty patches'.
    pons_autovalue status = pons_brain_status(b.brain);
    const pons_value *task = pons_get(status, "task");
    assert_true(json_array_size(pons_get(task, "goals")) <= 17);
    free(script);
    free(goals);
    bench_close(&b);
}

#define SWITCH(more) "[{'repeat':true,'decision':{'type':'SWITCH_TASK','reason':'r'" more "}}]"

// Each switch is a decision that leads nowhere, whether it was granted or not: the budget is each task's own, is
// kept over activations, and then the rules go on.
static void a_flood_of_switches_ends(void **state)
{
    (void)state;
    static const struct {
        const char *script, *second; // what a person says beside
        int switches;                // that are granted at most
    } rows[] = {{SWITCH(""), "去卧室", 10},
                {SWITCH(",'task_id':'task-2'"), "去卧室", 10},
                {SWITCH(",'task_id':'task-9'"), "去卧室", 0},
                {SWITCH(",'task_id':'task-1'"), NULL, 0}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        bench b;
        begin(&b, rows[i].script);
        b.base_ms = 2000;
        bench_goal_text(&b, "去厨房");
        if (rows[i].second) {
            bench_say(&b, rows[i].second);
        }
        bench_run(&b, 40.0);
        const int tasks = rows[i].second ? 2 : 1;
        print_message("row %zu: %d decisions of the model, %d switches\n", i,
                      bench_count(&b, "decision", "source", "llm"),
                      bench_count(&b, "task.switched", NULL, NULL));
        assert_int_equal(bench_count(&b, "task.done", "status", "succeeded"), tasks);
        assert_true(bench_count(&b, "decision", "source", "llm") <= 5 * tasks);
        assert_true(bench_count(&b, "task.switched", NULL, NULL) <= rows[i].switches);
        bench_close(&b);
    }
}

// A task that is put aside and taken up again has the same model: it rests for as long as it would have.
static void a_new_turn_is_no_new_model(void **state)
{
    (void)state;
    bench b;
    begin(&b, "[{'content':'nonsense','repeat':true}]");
    b.base_ms = BENCH_NEVER;
    bench_goal_text(&b, "去厨房");
    for (int i = 0; i < 5; i++) {
        bench_run(&b, 1.5);
        bench_say(&b, "pause");
        bench_run(&b, 1.5);
        bench_say(&b, "continue");
    }
    assert_int_equal(b.llm_starts, 2); // 15 s, and the rules decide for 20
    bench_close(&b);
}

// Tasks that only a model understands: a person is asked about each, after as many decisions as any other
// model may make in vain.
static void a_flood_of_switches_ends_at_a_person(void **state)
{
    (void)state;
    bench b;
    begin(&b, SWITCH(""));
    b.keep_running = true;
    bench_goal_text(&b, "water the plants");
    bench_say(&b, "sing a song");
    bench_run(&b, 120.0);
    assert_int_equal(bench_count(&b, "approval.requested", NULL, NULL), 2);
    const int calls = b.llm_starts;
    print_message("%d calls, %d switches\n", calls, bench_count(&b, "task.switched", NULL, NULL));
    assert_true(calls <= 2 * 20 + 2);
    bench_run(&b, 60.0);
    assert_int_equal(b.llm_starts, calls);
    bench_close(&b);
}

// What it says is kept as far as it is used: a decision's length, not a reply's four megabytes.
static void a_long_answer_is_not_stored(void **state)
{
    (void)state;
    bench b;
    char *script = NULL;
    assert_true(asprintf(&script, "[{'content':'%0*d','repeat':true}]", 2 * MIB, 0) > 0);
    begin(&b, script);
    json_object_set_new(json_object_get(b.config, "model"), "tokens_max", json_integer(0));
    bench_kill(&b); // it is about one answer, and not about what they cost together
    bench_brain(&b);
    bench_run(&b, 0.5);
    bench_goal_text(&b, "去厨房");
    bench_await(&b, "task.done", "status", "succeeded", 60.0);
    assert_true(fell_back_because(&b, "bytes is too long"));
    assert_true(store_bytes(&b) < MIB / 4);
    free(script);
    bench_close(&b);
}

// A sub-goal of the model's own that the rules cannot do is dropped when they take over.
static void a_sub_goal_that_cannot_be_met_is_dropped(void **state)
{
    (void)state;
    bench b;
    begin(&b, "[{'decision':{'type':'CONTINUE','reason':'r','plan_patch':{'goals':["
              "{'intent':'bring','object':'cup'}]}}},{'content':'nonsense','repeat':true}]");
    bench_goal_text(&b, "去厨房");
    bench_await(&b, "decision", "type", "REPLAN", 10.0);
    bench_await(&b, "task.done", "status", "succeeded", 60.0);
    bench_close(&b);
}

// Numbers of any size in a model's goal are said, and end in nothing worse than a place that cannot be reached.
static void a_goal_far_away_breaks_nothing(void **state)
{
    (void)state;
    bench b;
    begin(&b, "[{'decision':{'type':'REPLAN','reason':'r','plan_patch':{'goals':"
              "[{'intent':'where','pose':{'x':1e308,'y':1e308}}]}}}]");
    bench_goal_text(&b, "等1秒");
    bench_await(&b, "decision", "source", "llm", 20.0);
    bench_await(&b, "task.done", NULL, NULL, 120.0);
    assert_int_equal(bench_starts(&b, "wait"), 1);
    bench_close(&b);
}

// A patch takes nothing away that a person has wished, not what was wished twice, nor one of two places without names.
static void no_patch_takes_a_goal_away(void **state)
{
    (void)state;
    static const struct {
        const char *wish, *patch;
        int waits, drives;
    } rows[] = {
        {"等1秒，去厨房，等1秒，去卧室，等1秒", "[]", 3, 2},
        {"等1秒，去厨房，等1秒", "[{'intent':'go_to','zone':'kitchen'}]", 2, 1},
        {"go to 7.5 7.5, then go to 2.5 2.0", "[]", 0, 2},
        {"go to 7.5 7.5, then go to 2.5 2.0", "[{'intent':'go_to','pose':{'x':7.5,'y':2.5}}]", 0,
         3},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        bench b;
        char script[512];
        snprintf(script, sizeof script,
                 "[{'decision':{'type':'REPLAN','reason':'r','plan_patch':{'goals':%s}}}]",
                 rows[i].patch);
        begin(&b, script);
        bench_goal_text(&b, rows[i].wish);
        bench_await(&b, "task.done", "status", "succeeded", 120.0);
        assert_int_equal(bench_count(&b, "decision", "source", "llm"), 1);
        assert_int_equal(bench_starts(&b, "wait"), rows[i].waits);
        assert_int_equal(bench_starts(&b, "navigate_to_pose"), rows[i].drives);
        bench_close(&b);
    }
}

// Nor does it change the order of what a person said: the task ends at the last place, whatever a model names first.
static void no_patch_changes_a_persons_order(void **state)
{
    (void)state;
    static const char *const patches[] = {
        "[{'intent':'go_to','zone':'kitchen','done':true}]",
        "[{'intent':'go_to','zone':'kitchen'},{'intent':'go_to','zone':'bedroom'}]",
        "[{'intent':'say','text':'hello'},{'intent':'go_to','zone':'kitchen'}]",
    };
    for (size_t i = 0; i < sizeof patches / sizeof patches[0]; i++) {
        bench b;
        char script[512];
        snprintf(script, sizeof script,
                 "[{'decision':{'type':'RETRY','reason':'r','plan_patch':{'goals':%s}}}]",
                 patches[i]);
        begin(&b, script);
        bench_goal_text(&b, "去卧室，去厨房");
        bench_await(&b, "task.done", "status", "succeeded", 200.0);
        assert_int_equal(bench_starts(&b, "navigate_to_pose"), 2);
        assert_int_equal(bench_starts(&b, "speak"), i == 2);
        assert_true(b.x > 6.0 && b.y > 6.0); // the kitchen
        bench_close(&b);
    }
}

// What a model adds when the robot is there leads it away, and back to where it was sent before the task is done.
static void it_ends_where_it_was_sent(void **state)
{
    (void)state;
    bench b;
    begin(&b,
          "[{'decision':{'type':'CONTINUE','reason':'go','ops':[{'op':'dispatch','skill':"
          "'navigate_to_pose','args':{'zone':'kitchen'},'goal_index':0}]}},"
          "{'decision':{'type':'CONTINUE','reason':'and away','plan_patch':{'goals':[{'intent':"
          "'go_to','zone':'bedroom'}]},'ops':[{'op':'dispatch','skill':'navigate_to_pose','args':"
          "{'zone':'bedroom'},'goal_index':1}]}},"
          "{'decision':{'type':'FINISH','reason':'all of it is done'}}]");
    bench_goal_text(&b, "去厨房");
    bench_await(&b, "guard.refused", "rule", "goal_met", 60.0);
    bench_await(&b, "task.done", "status", "succeeded", 60.0);
    assert_int_equal(bench_starts(&b, "navigate_to_pose"), 3);
    assert_true(b.x > 6.0 && b.y > 6.0);
    bench_close(&b);
}

// And where the last thing that was wished is done wherever it stands: that moves nobody from the place before it.
static void it_ends_there_whatever_was_wished_behind_it(void **state)
{
    (void)state;
    bench b;
    begin(&b, "[{'decision':{'type':'CONTINUE','reason':'go','ops':[{'op':'dispatch','skill':"
              "'navigate_to_pose','args':{'zone':'kitchen'},'goal_index':0}]}},"
              "{'decision':{'type':'CONTINUE','reason':'wait','ops':[{'op':'dispatch','skill':"
              "'wait','args':{'s':1},'goal_index':1}]}},"
              "{'decision':{'type':'CONTINUE','reason':'away','ops':[{'op':'dispatch','skill':"
              "'navigate_to_pose','args':{'zone':'bedroom'}}]}},"
              "{'decision':{'type':'FINISH','reason':'all of it is done'}}]");
    bench_goal_text(&b, "去厨房，等1秒");
    bench_await(&b, "guard.refused", "rule", "goal_met", 60.0);
    bench_await(&b, "task.done", "status", "succeeded", 60.0);
    assert_int_equal(bench_starts(&b, "navigate_to_pose"), 3);
    assert_true(b.x > 6.0 && b.y > 6.0);
    bench_close(&b);
}

// More than a task can hold: it is not lost, it ends at once.
static void a_person_may_say_too_much(void **state)
{
    (void)state;
    bench b;
    char *text = NULL;
    assert_true(asprintf(&text, "去厨房 %0*d", 5000, 0) > 0);
    begin(&b, NULL);
    bench_say(&b, text);
    bench_await(&b, "task.done", "status", "failed", SOON);
    bench_goal_text(&b, "去厨房");
    bench_await(&b, "task.done", "status", "succeeded", 60.0);
    free(text);
    bench_close(&b);
}

static void a_skill_that_is_not_as_published_is_not_there(void **state)
{
    (void)state;
    bench b;
    bench_open(&b, NULL);
    b.bad_skill = b.schemas_fail = true;
    bench_brain(&b);
    const pons_value *said = bench_await(&b, "schema.failed", "skill", "fly", SOON);
    assert_string_equal(pons_get_str(said, "schema", ""), "schemas/skill.json");
    bench_goal_text(&b, "去厨房");
    const pons_value *seen = bench_await(&b, "observation", NULL, NULL, SOON);
    const pons_value *skills = pons_get(pons_get(seen, "observation"), "skills");
    size_t i;
    json_t *name;
    assert_true(json_array_size(skills) > 0);
    json_array_foreach(skills, i, name) {
        assert_string_not_equal(json_string_value(name), "fly");
    }
    bench_close(&b);
}

// Schemas are read when something first passes their door. One that is damaged, or goes away while
// the brain runs, closes that door with its own name.
static void a_damaged_schema_closes_its_door(void **state)
{
    (void)state;
    char share[] = "/tmp/pons-brain-XXXXXX", command[1024];
    assert_non_null(mkdtemp(share));
    snprintf(command, sizeof command,
             "cp -r '%s/schemas' '%s/config' '%s/worlds' '%s/trees' '%s' && "
             "echo '{\"type\": 7}' >'%s/schemas/decision.json'",
             PONS_SOURCE_DIR, PONS_SOURCE_DIR, PONS_SOURCE_DIR, PONS_SOURCE_DIR, share, share);
    assert_int_equal(system(command), 0);
    char *before = getenv("PONS_SHARE") ? strdup(getenv("PONS_SHARE")) : NULL;
    bench b;
    bench_open(&b, "[{'decision':{'type':'FINISH','reason':'it is done'},'repeat':true}]");
    setenv("PONS_SHARE", share, 1);
    b.schemas_fail = true;
    bench_brain(&b);
    bench_run(&b, 0.5);
    bench_goal_text(&b, "去厨房");
    const pons_value *decided = bench_await(&b, "decision", NULL, NULL, 60.0);
    assert_non_null(strstr(pons_get_str(decided, "fallback", ""), "schemas/decision.json: /type"));
    before ? setenv("PONS_SHARE", before, 1) : unsetenv("PONS_SHARE");
    free(before);
    bench_close(&b);
    snprintf(command, sizeof command, "rm -r '%s'", share);
    assert_int_equal(system(command), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_damaged_schema_closes_its_door),
        cmocka_unit_test(a_bad_patch_never_costs_the_task),
        cmocka_unit_test(hundreds_of_goals_are_refused),
        cmocka_unit_test(a_model_that_decides_without_end_is_slowed_down),
        cmocka_unit_test(a_flood_of_switches_ends),
        cmocka_unit_test(a_new_turn_is_no_new_model),
        cmocka_unit_test(a_flood_of_switches_ends_at_a_person),
        cmocka_unit_test(a_long_answer_is_not_stored),
        cmocka_unit_test(a_sub_goal_that_cannot_be_met_is_dropped),
        cmocka_unit_test(a_goal_far_away_breaks_nothing),
        cmocka_unit_test(no_patch_takes_a_goal_away),
        cmocka_unit_test(no_patch_changes_a_persons_order),
        cmocka_unit_test(it_ends_where_it_was_sent),
        cmocka_unit_test(it_ends_there_whatever_was_wished_behind_it),
        cmocka_unit_test(a_person_may_say_too_much),
        cmocka_unit_test(a_skill_that_is_not_as_published_is_not_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
