// thread_why.c - `pons threads show THREAD --why`: the log of a thread as prose, for who wants to know why the
// robot did what it did.
//
//     2026-11-29
//     18:02:11  It was asked to "go to the kitchen" (task-1, priority 50).
//     18:02:11  The mode became EXEC, as a task is waiting.
//     18:02:11  The rules go on: Goal 1 of 1: go to kitchen.
//     18:02:12  navigate_to_pose {"zone":"kitchen"} began.
//     18:02:31  navigate_to_pose ended as failed: no valid path.
//
// It is made of the durable events alone, so it says the same tomorrow, and of a thread whose brain is
// gone. What says nothing about a reason (telemetry, observations, tokens) is left out. A fork has a copy of the whole log
// that it was made from: what happened there after the checkpoint is not the fork's.
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
    const pons_value *forked = pons_get(t->p, "forked");
    if (json_is_object(forked)) {
        pons_buf_printf(t->out, "It was forked here, from %s.", pons_get_str(forked, "thread", ""));
        return;
    }
    if (json_array_size(pons_get(t->p, "goal")) == 0) {
        return;
    }
    const size_t n = json_array_size(pons_get(t->p, "goal"));
    pons_buf_printf(t->out, "A run began, with %zu goal%s.", n, n == 1 ? "" : "s");
}

static void task_ended(teller *t)
{
    const bool unsure = json_is_false(pons_get(t->p, "verified"));
    pons_buf_printf(t->out, "%s ended as %s%s: %s", text(t, "task_id"), text(t, "status"),
                    unsure ? ", though nothing could check it" : "", text(t, "reason"));
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
    pons_buf_printf(t->out, "That was refused: ");
    pons_each(rule, pons_get(t->p, "rules")) {
        pons_buf_printf(t->out, "%s%s", rule_at ? "; " : "", pons_get_str(rule, "message", ""));
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

static const cli_event_row sentences[] = {
    {"task.active", NULL, "It took up %s.", {"task.id"}},
    {"task.switched", NULL, "It left %s for %s: %-s", {"from", "to", "reason"}},
    {"task.merged", NULL, "%s was said again.", {"task_id"}},
    {"task.overdue", NULL, "The deadline of %s passed.", {"task_id"}},
    {"task.raised", NULL, "A person gave %s the priority %s.", {"task_id", "priority"}},
    {"task.queued",
     NULL,
     "It was asked to \"%s\" (%s, priority %s).",
     {"task.text", "task.id", "task.priority"}},
    {"mode", NULL, "The mode became %s: %-s.", {"mode", "reason"}},
    {"run.done",
     NULL,
     "The run ended as %s, after %s decisions and %s m.",
     {"status", "iterations", "distance_m"}},
    {"control", NULL, "A word did nothing: %s (%-s).", {"word", "ignored"}},
    {NULL}};

static const struct {
    const char *type;
    tell_fn *tell;
} rows[] = {{"run.started", began},
            {"task.done", task_ended},
            {"decision", decided},
            {"effect", effect},
            {"guard.refused", refused},
            {"approval.requested", asked},
            {"approval.resolved", answered},
            {"approval.late", answered_late},
            {"goal.replaced", goal_replaced},
            {"stop", stopped}};

typedef struct pass {
    bool count; // instead of showing
    size_t n, skip;
    int64_t fork_seq,
        fork_ms; // what is older than that event and younger than that time is another thread's
    char fork_at[32];     // the checkpoint
    char day[CLI_MOMENT]; // that was shown last
} pass;

static void show_sentence(pass *left, int64_t ts_ms, const char *text)
{
    char day[CLI_MOMENT], when[CLI_MOMENT];
    cli_moment(ts_ms, when, "%T");
    if (strcmp(cli_moment(ts_ms, day, "%F"), left->day) != 0) {
        snprintf(left->day, sizeof left->day, "%s", day);
        cli_out("%s\n", day);
    }
    cli_out("%s  %-s\n", when, text);
}

static int tell_event(void *user, const pons_event_row *row)
{
    pass *left = user;
    pons_autovalue p = NULL;
    pons_autobuf out = PONS_BUF_INIT;
    size_t i = 0;
    while (i < sizeof rows / sizeof rows[0] && strcmp(rows[i].type, row->type) != 0) {
        i++;
    }
    if ((row->seq < left->fork_seq && row->ts_ms > left->fork_ms) ||
        pons_value_read(row->payload.data, row->payload.len, &p, NULL) < 0) {
        return 0;
    }
    if (i < sizeof rows / sizeof rows[0]) {
        rows[i].tell(&(teller){.p = p, .out = &out});
    } else {
        cli_event_sentence(sentences, row->type, p, &out);
    }
    if (out.len > 0 && left->skip > 0) {
        left->skip--;
    } else if (out.len > 0 && left->count) {
        left->n++;
    } else if (out.len > 0) {
        char *clean = app_without_secrets(out.data);
        show_sentence(left, row->ts_ms, clean);
        free(clean);
    }
    return 0;
}

static int see_fork(void *user, const pons_event_row *row)
{
    pass *left = user;
    pons_autovalue p = NULL;
    if (strcmp(row->type, "run.started") == 0 &&
        pons_value_read(row->payload.data, row->payload.len, &p, NULL) >= 0 &&
        json_is_object(pons_get(p, "forked"))) {
        left->fork_seq = row->seq;
        snprintf(left->fork_at, sizeof left->fork_at, "%s",
                 pons_get_str(pons_get(p, "forked"), "checkpoint_id", ""));
    }
    return 0;
}

// When the checkpoint was made that a fork goes on from.
static void date_fork(pons_store store, const char *thread, pass *left)
{
    static const char *const lines[] = {"kernel", "react"};
    pons_error none = PONS_ERROR_INIT;
    for (size_t i = 0; i < sizeof lines / sizeof lines[0] && left->fork_seq > 0; i++) {
        pons_autovalue list = NULL;
        pons_state_history(store, thread, lines[i], 0, false, &list, &none);
        const pons_value *row = pons_find(list, "checkpoint_id", left->fork_at);
        left->fork_ms = row ? pons_get_int(row, "ts_ms", 0) : left->fork_ms;
    }
    left->fork_seq = left->fork_ms > 0 ? left->fork_seq : 0; // it is pruned, and nobody can tell
}

int cli_why(pons_store store, const char *thread, size_t last, pons_error *err)
{
    pass all = {.count = true};
    int rc = store.ops->events(store.self, thread, 0, 0, see_fork, &all, err);
    date_fork(store, thread, &all);
    pass shown = all;
    shown.count = false;
    rc = rc >= 0 && last ? store.ops->events(store.self, thread, 0, 0, tell_event, &all, err) : rc;
    shown.skip = all.n > last ? all.n - last : 0;
    return rc < 0 ? rc : store.ops->events(store.self, thread, 0, 0, tell_event, &shown, err);
}
