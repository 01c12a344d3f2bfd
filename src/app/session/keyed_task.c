// keyed_task.c - a task that is found again by its key (keyed_task.h).
#include "app/session/keyed_task.h"

int app_keyed_task_plan(const app_keyed_task *t, const pons_clock *clock, pons_plan **ret,
                        pons_error *err)
{
    pons_plan_step step = {.step_id = 1,
                           .action = (char *)(uintptr_t)t->skill,
                           .tool_call_type = PONS_TOOL_EXECUTE,
                           .parameters = (char *)(uintptr_t)t->args,
                           .status = PONS_STEP_PENDING};
    const pons_plan fields = {.plan_id = (char *)(uintptr_t)t->id,
                              .goal = (char *)(uintptr_t)t->key,
                              .risk_level = PONS_RISK_LOW,
                              .steps = &step,
                              .n_steps = 1,
                              .source = "rule_engine",
                              .created_at = (double)pons_wall_ms(clock) / 1000.0};
    return pons_plan_create(&fields, ret, err);
}

static int see_any(void *user, const pons_inbox_row *row)
{
    *(bool *)user = false;
    return 1;
}

int app_inbox_is_read(pons_store store, const char *thread, bool *ret, pons_error *err)
{
    *ret = true;
    return store.ops->inbox_read(store.self, thread, "kernel", 0, see_any, ret, err);
}

int app_task_cancel(pons_store store, const char *thread, const char *task, const char *by,
                    pons_error *err)
{
    pons_autovalue word = pons_object("word", json_string("cancel"), "task", json_string(task),
                                      "by", by ? json_string(by) : NULL, NULL);
    return pons_inbox_post(store, thread, "kernel", "control", word, err);
}
