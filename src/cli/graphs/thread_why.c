// thread_why.c - `pons threads show THREAD --why`: the log of a thread as prose, for who wants to know why the
// robot did what it did.
//
//     18:02:11  It was asked to "go to the kitchen" (task-1, priority 50).
//     18:02:11  The mode became EXEC, as a task is waiting.
//     18:02:11  The rules go on: Goal 1 of 1: go to kitchen.
//     18:02:12  navigate_to_pose {"zone":"kitchen"} began.
//     18:02:31  navigate_to_pose ended as failed: no valid path.
//
// It is made of the durable events alone, so it says the same tomorrow, and of a thread whose brain is
// gone. What says nothing about a reason (telemetry, observations, tokens) is left out.
#include "cli/graphs/thread_why.h"

#include "app/notify/secret_filter.h"
#include "pons/buf.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define KERNELS "kernel: " // how the reason of a decision of the kernel's begins

typedef struct teller {
    const pons_value *p; // of the event
    pons_buf *out;
} teller;

typedef void tell_fn(teller *t);

static const char *text(const teller *t, const char *key)
{
    return pons_get_str(t->p, key, "");
}

static void began(teller *t)
{
    if (json_array_size(pons_get(t->p, "goal")) == 0) {
        return;
    }
    const size_t n = json_array_size(pons_get(t->p, "goal"));
    pons_buf_printf(t->out, "A run began, with %zu goal%s.", n, n == 1 ? "" : "s");
}

static void queued(teller *t)
{
    const pons_value *task = pons_get(t->p, "task");
    pons_buf_printf(t->out, "It was asked to \"%s\" (%s, priority %lld).",
                    pons_get_str(task, "text", ""), pons_get_str(task, "id", ""),
                    (long long)pons_get_int(task, "priority", 0));
}

static void active(teller *t)
{
    pons_buf_printf(t->out, "It took up %s.", pons_get_str(pons_get(t->p, "task"), "id", ""));
}

static void task_ended(teller *t)
{
    const bool unsure = json_is_false(pons_get(t->p, "verified"));
    pons_buf_printf(t->out, "%s is %s%s: %s", text(t, "task_id"), text(t, "status"),
                    unsure ? ", though nothing could check it" : "", text(t, "reason"));
}

static void switched(teller *t)
{
    pons_buf_printf(t->out, "It left %s for %s: %s", text(t, "from"), text(t, "to"),
                    text(t, "reason"));
}

static void merged(teller *t)
{
    pons_buf_printf(t->out, "%s was said again.", text(t, "task_id"));
}

static void overdue(teller *t)
{
    pons_buf_printf(t->out, "The deadline of %s passed.", text(t, "task_id"));
}

static void raised(teller *t)
{
    pons_buf_printf(t->out, "A person gave %s the priority %lld.", text(t, "task_id"),
                    (long long)pons_get_int(t->p, "priority", 0));
}

static void mode(teller *t)
{
    pons_buf_printf(t->out, "The mode became %s: %s.", text(t, "mode"), text(t, "reason"));
}

static void decided(teller *t)
{
    static const struct {
        const char *type, *does;
    } rows[] = {{"CONTINUE", "on with it"},    {"REPLAN", "another way"},
                {"RETRY", "once more"},        {"SWITCH_TASK", "let go of the task"},
                {"ASK_HUMAN", "ask a person"}, {"FINISH", "it is done"},
                {"ABORT", "it cannot be done"}};
    static const struct {
        const char *source, *who;
    } people[] = {{"llm", "The model"},
                  {"rule_engine", "The rules"},
                  {"ladder", "The ladder"},
                  {"plan", "The plan"},
                  {"guard", "The guard"}};
    const pons_value *d = pons_get(t->p, "decision");
    const char *does = pons_get_str(d, "type", ""), *who = text(t, "source");
    const char *reason = pons_get_str(d, "reason", "");
    if (strncmp(reason, KERNELS, sizeof KERNELS - 1) == 0) { // R2 says it in the kernel's name
        pons_buf_printf(t->out, "The kernel took over: %s.", reason + sizeof KERNELS - 1);
        return;
    }
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        does = strcmp(does, rows[i].type) == 0 ? rows[i].does : does;
    }
    for (size_t i = 0; i < sizeof people / sizeof people[0]; i++) {
        who = strcmp(who, people[i].source) == 0 ? people[i].who : who;
    }
    if (*text(t, "fallback")) {
        pons_buf_printf(t->out, "(%s.) ", text(t, "fallback"));
    }
    pons_buf_printf(t->out, "%s decided: %s. %s", who, does, reason);
}

static void effect(teller *t)
{
    const char *state = text(t, "state"), *reason = text(t, "reason");
    char *args = NULL;
    if (strcmp(state, "intended") == 0 || strcmp(state, "accepted") == 0) {
        return;
    }
    if (strcmp(state, "dispatched") == 0) {
        pons_buf_printf(t->out, "%s %s began.", text(t, "skill"),
                        pons_value_line(pons_get(t->p, "args"), &args) >= 0 ? args : "");
        free(args);
        return;
    }
    pons_buf_printf(t->out, "%s ended as %s%s%s.", text(t, "skill"), state, *reason ? ": " : "",
                    reason);
}

static void refused(teller *t)
{
    size_t i;
    json_t *rule;
    pons_buf_printf(t->out, "That was refused: ");
    json_array_foreach(pons_get(t->p, "rules"), i, rule) {
        pons_buf_printf(t->out, "%s%s", i ? "; " : "", pons_get_str(rule, "message", ""));
    }
}

static void asked(teller *t)
{
    size_t i;
    json_t *item;
    pons_buf_printf(t->out, "It asked a person: %s", text(t, "question"));
    json_array_foreach(pons_get(t->p, "ops"), i, item) {
        char *args = NULL;
        pons_buf_printf(t->out, "%s%s %s", i ? "; " : " (", pons_get_str(item, "skill", ""),
                        pons_value_line(pons_get(item, "args"), &args) >= 0 ? args : "");
        free(args);
    }
    pons_buf_printf(t->out, "%s", i ? ")" : "");
    json_array_foreach(pons_get(t->p, "options"), i, item) {
        pons_buf_printf(t->out, "%s%s", i ? ", " : " Options: ", json_string_value(item));
    }
}

static void answered_late(teller *t)
{
    const pons_value *first = pons_get(t->p, "first");
    pons_buf_printf(t->out, "%s came too late: ", text(t, "action"));
    if (json_is_object(first)) {
        pons_buf_printf(t->out, "%s had answered.", pons_get_str(first, "by", "a person"));
    } else {
        pons_buf_printf(t->out, "no such question was open.");
    }
}

static void goal_replaced(teller *t)
{
    const pons_value *to = pons_get(t->p, "to");
    const char *zone = pons_get_str(to, "zone", "");
    char *pose = NULL;
    if (!*zone && pons_get(to, "pose")) {
        pons_value_line(pons_get(to, "pose"), &pose);
    }
    pons_buf_printf(t->out, "By that edit its goal is now %s.", pose ? pose : zone);
    free(pose);
}

static void ignored(teller *t)
{
    pons_buf_printf(t->out, "A word did nothing: %s (%s).", text(t, "word"), text(t, "ignored"));
}

static void answered(teller *t)
{
    const char *words = text(t, "answer"), *reason = text(t, "reason");
    pons_buf_printf(t->out, "%s answered: %s%s%s", text(t, "by"),
                    *words ? words : text(t, "action"), *reason ? ", " : "", reason);
}

static void stopped(teller *t)
{
    const bool latched = pons_get_bool(t->p, "latched", false);
    pons_buf_printf(t->out, latched ? "A protective stop latched: %s." : "The stop was lifted%s.",
                    latched ? text(t, "reason") : "");
}

static void run_ended(teller *t)
{
    pons_buf_printf(t->out, "The run ended as %s, after %lld decisions and %.1f m.",
                    text(t, "status"), (long long)pons_get_int(t->p, "iterations", 0),
                    pons_get_num(t->p, "distance_m", 0.0));
}

static const struct {
    const char *type;
    tell_fn *tell;
} rows[] = {{"run.started", began},
            {"task.queued", queued},
            {"task.active", active},
            {"task.done", task_ended},
            {"task.switched", switched},
            {"task.merged", merged},
            {"task.overdue", overdue},
            {"task.raised", raised},
            {"mode", mode},
            {"decision", decided},
            {"effect", effect},
            {"guard.refused", refused},
            {"approval.requested", asked},
            {"approval.resolved", answered},
            {"approval.late", answered_late},
            {"goal.replaced", goal_replaced},
            {"control", ignored},
            {"stop", stopped},
            {"run.done", run_ended}};

typedef struct pass {
    bool count; // instead of showing
    size_t n, skip;
} pass;

static int tell_event(void *user, const pons_event_row *row)
{
    pass *left = user;
    pons_autovalue p = NULL;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (strcmp(rows[i].type, row->type) != 0 ||
            pons_value_read(row->payload.data, row->payload.len, &p, NULL) < 0) {
            continue;
        }
        pons_autobuf out = PONS_BUF_INIT;
        teller t = {.p = p, .out = &out};
        rows[i].tell(&t);
        char when[16] = "";
        struct tm local;
        const time_t s = (time_t)(row->ts_ms / 1000);
        if (localtime_r(&s, &local)) {
            strftime(when, sizeof when, "%H:%M:%S", &local);
        }
        if (out.len > 0) {
            char *clean = app_without_secrets(out.data);
            if (left->skip > 0) {
                left->skip--;
            } else if (left->count) {
                left->n++;
            } else {
                cli_out("%s  ", when);
                cli_out_text(clean, SIZE_MAX);
                cli_out("\n");
            }
            free(clean);
        }
        break;
    }
    return 0;
}

int cli_why(pons_store store, const char *thread, size_t last, pons_error *err)
{
    pass all = {.count = true}, shown = {0};
    const int rc =
        last ? store.ops->events(store.self, thread, 0, 0, tell_event, &all, err) : PONS_OK;
    shown.skip = all.n > last ? all.n - last : 0;
    return rc < 0 ? rc : store.ops->events(store.self, thread, 0, 0, tell_event, &shown, err);
}
