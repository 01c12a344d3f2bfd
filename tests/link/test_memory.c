// test_memory.c - every allocation of the link's messages made to fail once: writing each message and each
// report of the tables, in full and with bytes that are no text, and reading them again. Each says that
// there is no memory or comes out as undisturbed, never as a message with a member less; nothing leaks.
#include "oom.h"
#include "pons/link_message.h"
#include "pons/link_report.h"

#include <string.h>

static int line_of(pons_value *json, char **ret, pons_error *err)
{
    if (!json) {
        return pons_error_set(err, PONS_ENOMEM, "test", "no memory");
    }
    const long n = pons_value_line(json, ret);
    pons_value_unref(json);
    return n < 0 ? (int)n : PONS_OK;
}

static int write_message(const void *user, char **ret, pons_error *err)
{
    return line_of(pons_message_encode(user), ret, err);
}

static int write_report(const void *user, char **ret, pons_error *err)
{
    return line_of(pons_report_encode(user), ret, err);
}

static int write_item(const void *user, char **ret, pons_error *err)
{
    return line_of(pons_report_change_value(user), ret, err);
}

static void writing(void **state)
{
    (void)state;
    pons_autovalue args = json_pack("{s:s}", "zone", "kitchen");
    const pons_message goal = {.type = PONS_MESSAGE_GOAL,
                               .as.goal = {.goal_id = "g",
                                           .epoch = 3,
                                           .skill = "wait",
                                           .args = args,
                                           .args_hash = "c2",
                                           .thread = "t\xff", // is left out
                                           .preempt = true}};
    oom_sweep("goal", write_message, &goal);
    const pons_message spawn = {.type = PONS_MESSAGE_SPAWN, .as.spawn = {.id = "box", .x = 1.5}};
    oom_sweep("spawn", write_message, &spawn);
    for (int t = PONS_MESSAGE_NONE + 1; t < PONS_MESSAGE_TYPES; t++) {
        const pons_message m = {.type = (pons_message_type)t};
        oom_sweep(pons_message_word(m.type), write_message, &m);
    }
    for (int t = PONS_REPORT_NONE + 1; t < PONS_REPORT_TYPES; t++) {
        const pons_report r = {.type = (pons_report_type)t};
        oom_sweep(pons_report_word(r.type), write_report, &r);
    }
    pons_report r = {.type = PONS_REPORT_TELEMETRY,
                     .as.telemetry = {.boot_id = "b", .stop = {.reason = "a \xff stop"}}};
    r.as.telemetry.goal.active = true;
    r.as.telemetry.goal.goal_id = "g";
    oom_sweep("telemetry with a goal", write_report, &r);
    r = (pons_report){.type = PONS_REPORT_FEEDBACK,
                      .as.feedback = {.goal_id = "g", .navigates = true, .current_node = "a"}};
    oom_sweep("feedback of a navigation", write_report, &r);
    const pons_report_change change = {.path = "a > b", .from = "IDLE", .to = "RUNNING"};
    oom_sweep("change", write_item, &change);
}

int main(void)
{
    oom_init();
    const struct CMUnitTest tests[] = {cmocka_unit_test(writing)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
