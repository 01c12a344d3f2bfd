// test_outcome_unknown.c - an end of which nobody knows what came: a person's yes settles what that person was shown,
// and no more.
#include "brain_bench.h"
#include "unit.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SOON    5.0
#define LONG    60.0
#define MOVES   "navigate_to_pose"
#define KITCHEN "{'op':'dispatch','skill':'navigate_to_pose','args':{'zone':'kitchen'}}"
#define GRASP   "{'op':'dispatch','skill':'grasp','args':{'ms':1000}}"
#define WIPE    "{'op':'dispatch','skill':'wipe','args':{'ms':500}}"
#define ASKS    "{'decision':{'type':'ASK_HUMAN','reason':'and now?'},'repeat':true}]"
#define OF_ARM(name)                                                                               \
    "{'name':'" name "','description':'with the arm','interface_type':'internal','args_schema':"   \
    "{'type':'object'},'resources_required':['arm'],'preemptible':true,'cancel_supported':true,"   \
    "'timeout_s':60,'success_criteria':'it ends','error_map':{'default':'retry'}}"

#define NUDGE                                                                                      \
    "{'name':'nudge','description':'a little on','interface_type':'internal','args_schema':"       \
    "{'type':'object'},'resources_required':['base'],'preemptible':true,'cancel_supported':true,"  \
    "'timeout_s':60,'success_criteria':'it ends','error_map':{'default':'retry'},'remains':'m'}"

// With an arm; grasp ends so that nobody knows, once.
static void begin(bench *b, const char *script, const char *ask_on_unknown)
{
    bench_open(b, script);
    b->skills_more = "[" OF_ARM("grasp") "," OF_ARM("wipe") "]";
    pons_value *skills = json_pack("[s]", "grasp");
    if (ask_on_unknown) {
        json_array_append_new(skills, json_string(ask_on_unknown));
    }
    json_object_set_new(json_object_get(b->config, "approval"), "ask_on_unknown", skills);
    b->fail_skill = "grasp";
    b->fail_skill_code = 9909;
    b->fail_skill_times = 1;
    bench_brain(b);
    bench_run(b, 0.2);
}

static void yes_to(bench *b, const pons_value *asked)
{
    char text[200];
    snprintf(text, sizeof text, "{'id':'%s','nonce':'anna','by':'anna','action':'approve'}",
             pons_get_str(asked, "id", ""));
    bench_post(b, "answer", text);
}

static void yes_to_next(bench *b)
{
    yes_to(b, bench_await(b, "approval.requested", NULL, NULL, LONG));
}

// While a person is asked, with one in view, another end becomes unknown: the yes was not to that.
static void a_yes_settles_no_later_one(void **state)
{
    (void)state;
    bench b;
    char id[64], text[200];
    begin(&b,
          "[{'decision':{'type':'CONTINUE','reason':'r','ops':[" GRASP "," KITCHEN
          "]}},{'decision':{'type':'CONTINUE','reason':'wipe','ops':[" WIPE "]}}," ASKS,
          MOVES);
    b.fail_code = 9909;
    b.base_ms = 5000;
    bench_goal_text(&b, "water the plants");
    const pons_value *asked = bench_await(&b, "approval.requested", NULL, NULL, LONG);
    snprintf(id, sizeof id, "%s", pons_get_str(asked, "id", ""));
    bench_post(&b, "say", "{'text':'wait 3 seconds'}"); // so it is put aside, and looks at what ran
    bench_run(&b, 7.0);
    snprintf(text, sizeof text, "{'id':'%s','nonce':'anna','action':'approve'}", id);
    bench_post(&b, "answer", text);
    bench_run(&b, 12.0);
    assert_int_equal(bench_starts(&b, "wipe"), 0);
    pons_autovalue is = pons_brain_status(b.brain);
    const char *shown = pons_get_str(json_array_get(pons_get(is, "approvals"), 0), "question", "");
    if (!strstr(shown, "grasp") || !strstr(shown, MOVES)) { // nobody has settled either
        fail_msg("it asks: %s", shown);
    }
    bench_close(&b);
}

// A yes to an end that is refused, or to another task, lets nothing go on.
static void a_yes_to_what_was_refused_settles_nothing(void **state)
{
    (void)state;
    bench b;
    begin(&b,
          "[{'decision':{'type':'CONTINUE','reason':'r','ops':[" GRASP "," KITCHEN
          "]}},{'decision':{'type':'CONTINUE','reason':'w'}},"
          "{'decision':{'type':'FINISH','reason':'f','ops':[{'op':'approval','question':"
          "'may I end it?'}]}},{'decision':{'type':'CONTINUE','reason':'wipe','ops':[" WIPE
          "]}}," ASKS,
          NULL);
    b.base_ms = 500;
    bench_goal_text(&b, "去厨房");
    yes_to_next(&b);
    b.x = b.y = 0.0; // carried off: the goal is not met any more
    bench_await(&b, "guard.refused", NULL, NULL, SOON);
    const pons_value *again = bench_await(&b, "approval.requested", NULL, NULL, SOON);
    assert_string_equal(pons_get_str(json_array_get(pons_get(again, "ops"), 0), "skill", ""),
                        "wipe");
    bench_run(&b, 3.0);
    assert_int_equal(bench_starts(&b, "wipe"), 0);
    bench_close(&b);
}

// A body that says nothing of what is left of a motion (a robot's own software may not): all of it again could be too
// much. However it was cut short, a person is asked before; and told that it was canceled, as it was.
static void a_motion_of_which_no_rest_is_told(void **state)
{
    (void)state;
    static const char *const cut[] = {"pause", "stop"};
    for (size_t i = 0; i < sizeof cut / sizeof cut[0]; i++) {
        bench b;
        bench_open(&b, NULL);
        b.skills_more = "[" NUDGE "]";
        bench_brain(&b);
        bench_run(&b, 0.3);
        bench_say(&b, "do nudge m=2 ms=9000");
        bench_await(&b, "effect", "state", "accepted", SOON);
        bench_run(&b, 1.0);
        if (strcmp(cut[i], "stop") == 0) {
            bench_latch(&b, "a hand");
            bench_await(&b, "mode", "mode", "SAFE", SOON);
            b.latched = false;
        } else {
            bench_say(&b, cut[i]);
        }
        bench_run(&b, 2.0);
        bench_say(&b, "continue");
        const pons_value *asked = bench_await(&b, "approval.requested", NULL, NULL, LONG);
        pons_autovalue all = json_deep_copy(asked);
        char *text = NULL;
        assert_true(pons_value_line(all, &text) >= 0);
        assert_non_null(strstr(text, "nobody knows what came of nudge"));
        free(text);
        bench_run(&b, 5.0);
        assert_int_equal(bench_starts(&b, "nudge"), 1);
        yes_to(&b, all);
        bench_await(&b, "task.done", "status", "succeeded", LONG);
        assert_int_equal(bench_starts(&b, "nudge"), 2);
        bench_close(&b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_yes_settles_no_later_one),
        cmocka_unit_test(a_yes_to_what_was_refused_settles_nothing),
        cmocka_unit_test(a_motion_of_which_no_rest_is_told),
    };
    return cmocka_run_group_tests_name("unsettled", tests, NULL, NULL);
}
