// cmd_word.c - what a person says from another terminal: say, pause, continue, cancel; stop and
// reset.
//
// Words go to the thread's inbox in the store, durable before the command returns, and a datagram
// on run/brain.sock wakes the brain that holds it. Stop goes past all of that: a datagram to the
// safety thread's own socket.
#include "app/workspace/which_robot.h"
#include "cli/agent/agent_cli.h"
#include "pons/link_message.h"
#include "pons/link_report.h"
#include "pons/rule_policy.h"

#include <poll.h>
#include <string.h>

#define SAID_BYTES_MAX     4095
#define STOP_TIMEOUT_MS    1000
#define OBSERVE_TIMEOUT_MS 500
#define PRIORITY_MAX       1000
#define TAKEN_TIMEOUT_MS   3000 // of a brain that is there
#define LOOK_EVERY_MS      10

static int check_typed(const cli *c, pons_error *err)
{
    app_robot meant;
    if (!c->app.driver && !c->app.world) {
        return PONS_OK;
    }
    const int rc = app_robot_meant(&c->app, NULL, NULL, &meant, err);
    return rc < 0 ? rc : app_robot_check(&c->app, &meant, err);
}

// Which robot of a fleet is looked at follows from the thread, also where that is the newest.
static pons_value *look(cli *c, const char *thread, pons_value *word)
{
    pons_store store = {0};
    pons_error none = PONS_ERROR_INIT;
    char latest[PONS_NAME_MAX];
    if (!thread && app_fleet_here(&c->app) && app_store_read(&c->app, &store, &none) >= 0) {
        thread = app_latest_thread(store, latest, &none) >= 0 ? latest : NULL;
    }
    pons_store_close(&store);
    return app_stop_state_note(&c->app, thread, OBSERVE_TIMEOUT_MS, word);
}

// "yes" and "no" are answers where a question is open, and their teller learns what became of them.
// Not answered: it is none of them, or nothing is asked.
static int answer_word(cli *c, const char *thread, const char *text, const char *word,
                       bool *ret_answered, pons_error *err)
{
    const bool yes = strcmp(word, "yes") == 0;
    if (!yes && strcmp(word, "no") != 0) {
        return PONS_OK;
    }
    pons_autovalue answer = pons_object("action", json_string(yes ? "approve" : "reject"), "reason",
                                        json_string(text), NULL);
    return cli_answer_open(c, thread, answer, ret_answered, err);
}

// The control word that is said and no goal with it, "" where there is none.
static void word_alone(cli *c, const char *text, char ret[16])
{
    pons_error none = PONS_ERROR_INIT;
    pons_policy policy = {0};
    pons_autovalue parsed = NULL;
    pons_autovalue world = json_object();
    *ret = '\0';
    if (app_policy(&c->app, &policy, &none) < 0) {
        return;
    }
    const int rc = policy.ops->parse(policy.self, text, world, &parsed, &none);
    if (rc >= 0 && json_array_size(pons_get(parsed, "goals")) == 0) {
        snprintf(ret, 16, "%s", pons_get_str(parsed, "control", ""));
    }
    pons_rules_close(&policy);
}

// ---- what became of it --------------------------------------------------------------------------

// The letter carries a nonce. The kernel takes letters one after the other, each in a superstep's own commit, and the
// event `said.taken` with that nonce is the last of what it tells of this one. Where a task is only a question, its
// answer follows.
typedef struct became {
    cli *c;
    const char *thread, *nonce;
    bool taken, refused, shown, over;
    int64_t last;
    pons_value *task; // NULL: it became none
    cli_display *display;
} became;

static const cli_event_row outcomes[] = {
    {"task.merged", "", "%s is the same, and was there already", {"task_id"}},
    {"task.raised", "", "%s has priority %s now", {"task_id", "priority"}},
    {"control", "refused", "%s did nothing: %-s", {"word", "ignored"}},
    {"place.refused", "refused", "refused: %-s", {"reason"}},
    {"schedule.refused", "refused", "refused: %-s", {"reason"}},
    {"tempo.refused", "refused", "refused: %-s", {"reason"}},
    {"place.kept", "", "%s is a place now (`pons places`)", {"place.name"}},
    {"place.forgotten", "", "%s is forgotten", {"name"}},
    {"schedule.added", "", "kept for its time as %s (`pons schedule list`)", {"schedule.id"}},
    {"speak", "", "%s", {"text"}},
    {"approval.resolved", "", "the question is answered", {NULL}},
    {"failed", "refused", "refused: %-s", {"reason"}}, // its own task.done, and that of another
    {"cancelled", "", "%s is cancelled: %s", {"task_id", "text"}},
    {NULL}};

static void show_outcome(became *b, const char *type, const pons_value *p)
{
    const char *status = pons_get_str(p, "status", "");
    const bool mine =
        b->task && strcmp(pons_get_str(b->task, "id", ""), pons_get_str(p, "task_id", "")) == 0;
    const bool ended = strcmp(type, "task.done") == 0;
    pons_autobuf text = PONS_BUF_INIT;
    b->over = b->over || (ended && mine) || strcmp(type, "speak") == 0;
    if (ended && mine && strcmp(status, "succeeded") != 0) {
        status = "failed";
    }
    const cli_event_row *row = cli_event_sentence(outcomes, ended ? status : type, p, &text);
    if (!row) {
        return;
    }
    b->refused = b->refused || *row->label;
    b->shown = true;
    if (!b->c->json) {
        cli_out("%s\n", text.data);
    }
}

// A question has its answer in a moment: who asks waits for it.
static bool asks(const pons_value *task)
{
    const pons_value *goals = pons_get(task, "goals");
    bool all = json_array_size(goals) > 0;
    pons_each(goal, goals) {
        const char *intent = pons_get_str(goal, "intent", "");
        all = all && (strcmp(intent, "where") == 0 || strcmp(intent, "battery") == 0 ||
                      strcmp(intent, "look_for") == 0);
    }
    return all;
}

static bool complete(const became *b)
{
    return b->taken && (b->over || !asks(b->task));
}

static int see_outcome(void *user, const pons_event_row *row)
{
    became *b = user;
    pons_autovalue p = NULL;
    const char *type = row->type;
    const bool later = strcmp(type, "speak") == 0 || strcmp(type, "task.done") == 0;
    b->last = row->seq;
    if ((b->taken ? !later : strcmp(row->ns, "kernel") != 0) ||
        pons_value_read(row->payload.data, row->payload.len, &p, NULL) < 0) {
        return 0;
    }
    if (b->c->json) {
        cli_display_event(b->display, &(pons_event){.seq = row->seq,
                                                    .thread = b->thread,
                                                    .ns = row->ns,
                                                    .ts_ms = row->ts_ms,
                                                    .type = type,
                                                    .payload = p});
    }
    if (strcmp(type, "task.queued") == 0) {
        pons_value_unref(b->task);
        b->task = pons_value_ref(pons_get(p, "task"));
    }
    b->taken = b->taken || (strcmp(type, "said.taken") == 0 &&
                            strcmp(pons_get_str(p, "nonce", ""), b->nonce) == 0);
    show_outcome(b, type, p);
    return complete(b);
}

static void show_end(became *b, pons_store store, const pons_value *looked)
{
    pons_error none = PONS_ERROR_INIT;
    pons_autovalue status = NULL;
    pons_autobuf why = PONS_BUF_INIT;
    if (!b->taken) {
        cli_err("pons: kept for %s; its brain has not taken it yet\n", b->thread);
    } else if (b->c->json || b->over || (b->shown && !b->task)) {
        return;
    } else if (!b->task) {
        cli_out("done\n");
    } else {
        cli_out("accepted as %s: %s\n", pons_get_str(b->task, "id", ""),
                pons_get_str(b->task, "text", ""));
        if (pons_status_read(store, b->thread, looked, NULL, &status, &none) >= 0) {
            cli_why_still(status, &why);
        }
        if (why.len > 0) {
            cli_out("nothing moves for it yet: %-s\n", why.data);
        }
    }
}

// after: the number of the newest event before it was posted. looked: telemetry, or NULL. APP_NO_SUCCESS: it came to
// nothing.
static int await_outcome(cli *c, pons_store store, const char *thread, int64_t after,
                         const char *nonce, const pons_value *looked, pons_error *err)
{
    const pons_clock clock = pons_clock_real();
    became b = {.c = c,
                .thread = thread,
                .nonce = nonce,
                .last = after,
                .display = cli_display_create(c, false)};
    const int64_t until = pons_now_ms(&clock) + TAKEN_TIMEOUT_MS;
    int rc = PONS_OK;
    while (rc >= 0 && !complete(&b) && pons_now_ms(&clock) < until) {
        rc = store.ops->events(store.self, thread, b.last, 0, see_outcome, &b, err);
        if (rc >= 0 && !complete(&b)) {
            poll(NULL, 0, LOOK_EVERY_MS);
        }
    }
    if (rc >= 0) {
        show_end(&b, store, looked);
    }
    cli_display_destroy(b.display);
    pons_value_unref(b.task);
    return rc >= 0 && b.refused ? APP_NO_SUCCESS : rc;
}

// ---- words --------------------------------------------------------------------------------------

// goes_on: it sets the robot free, which is for a person to say who can see that no stop is in force. looked: what the
// body says of that; NULL: none answers.
static int post_word(cli *c, const char *thread, const char *kind, pons_value *value, bool goes_on,
                     const pons_value *looked, pons_error *err)
{
    pons_store store = {0};
    char latest[PONS_NAME_MAX];
    int rc = app_thread_open(&c->app, true, &thread, latest, &store, err);
    int64_t last = 0;
    pons_lease holder = {0};
    pons_error none = PONS_ERROR_INIT;
    const bool held = rc >= 0 && store.ops->lease_peek(store.self, thread, &holder, &none) >= 0;
    rc = rc < 0 ? rc : store.ops->event_last(store.self, thread, &last, err);
    if (rc >= 0 && last == 0 && !held) { // a misspelt thread is bad input, not a new one
        rc = pons_error_set(err, PONS_ENOTFOUND, "threads", "there is no thread %s", thread);
    }
    rc = rc >= 0 && goes_on ? app_may_continue(store, thread, looked, err) : rc;
    const char *nonce = held ? app_nonce(value) : "";
    rc = rc < 0 ? rc : pons_inbox_post(store, thread, "kernel", kind, value, err);
    if (rc >= 0) {
        app_wake_brain(&c->app);
    }
    if (rc >= 0 && held) {
        rc = await_outcome(c, store, thread, last, nonce, looked, err);
    } else if (rc >= 0 && !c->json) {
        cli_err("pons: kept for %s; no brain runs it now (`pons resume %s`)\n", thread, thread);
    }
    pons_store_close(&store);
    return rc;
}

static int post(cli *c, const char *thread, const char *kind, pons_value *value, pons_error *err)
{
    return post_word(c, thread, kind, value, false, NULL, err);
}

int cmd_say(cli *c, pons_error *err)
{
    const char *thread = NULL, *priority = NULL, *deadline = NULL;
    const cli_option options[] = {
        {"--thread", "ID", "default: the newest thread", &thread},
        {"--priority", "P", "of a goal: background, user, urgent, or a number", &priority},
        {"--deadline", "T", "a goal is over T from now: seconds, or with m or h behind it",
         &deadline},
        CLI_ROBOT_OPTIONS(c),
        {NULL, NULL, NULL, NULL}};
    int64_t deadline_ms = 0;
    int parsed = cli_parse(c, options, err);
    parsed = parsed < 0 ? parsed : cli_wish(priority, deadline, &deadline_ms, err);
    if (parsed < 0) {
        return parsed;
    }
    pons_autobuf words = PONS_BUF_INIT;
    parsed = cli_words(c, 0, SAID_BYTES_MAX, &words, err);
    if (parsed < 0) {
        return parsed;
    }
    const char *text = words.data;
    if (text[strspn(text, " \t\r\n")] == '\0') {
        return app_bad(err, "say: nothing to say");
    }
    parsed = check_typed(c, err);
    if (parsed < 0) {
        if (app_stop_words(&c->app, NULL, text)) { // the robot that is here stops all the same
            cli_err("pons: " APP_STOPPED "\n");
        }
        return parsed;
    }
    const pons_clock clock = pons_clock_real();
    pons_autovalue value =
        pons_object("text", json_string(text), "at_ms", json_integer(pons_wall_ms(&clock)),
                    "priority", priority ? json_string(priority) : NULL, "deadline_ms",
                    deadline_ms ? json_integer(deadline_ms) : NULL, NULL);
    if (!value || !pons_get(value, "text")) {
        return app_bad(err, "say: the text is not valid UTF-8");
    }
    pons_error none = PONS_ERROR_INIT; // what is wrong there is told by the post
    const int found = app_workspace(&c->app, false, &none);
    // A stop is carried also where the rest is refused because others may write there.
    if (found >= 0 || none.status == PONS_EREFUSED) {
        bool answered = false;
        char word[16];
        word_alone(c, text, word);
        const int rc = found >= 0 ? answer_word(c, thread, text, word, &answered, err) : PONS_OK;
        if (answered) {
            return rc;
        }
        json_object_set_new(value, "stop_sent", json_boolean(app_stop_words(&c->app, NULL, text)));
        pons_autovalue looked = look(c, thread, value);
        if (!looked && strcmp(word, "reset") == 0) {
            return app_lacks(err, "say: %s", APP_UNSEEN_RESET);
        }
        return post_word(c, thread, "say", value, !looked && strcmp(word, "continue") == 0, looked,
                         err);
    }
    return post(c, thread, "say", value, err);
}

static int parse_thread(cli *c, const char **ret, pons_error *err)
{
    const cli_option options[] = {{"--thread", "ID", "default: the newest thread", ret},
                                  {NULL, NULL, NULL, NULL}};
    return cli_parse(c, options, err);
}

static int control(cli *c, const char *word, pons_error *err)
{
    const char *thread = NULL;
    const int parsed = parse_thread(c, &thread, err);
    if (parsed < 0) {
        return parsed;
    }
    pons_autovalue value = pons_object("word", json_string(word), NULL);
    return post(c, thread, "control", value, err);
}

int cmd_pause(cli *c, pons_error *err)
{
    return control(c, "pause", err);
}

// A `continue` that comes before the reset would be one that the reset sets in motion.
int cmd_continue(cli *c, pons_error *err)
{
    const char *thread = NULL;
    const int parsed = parse_thread(c, &thread, err);
    if (parsed < 0) {
        return parsed;
    }
    const int rc = app_workspace(&c->app, false, err);
    if (rc < 0) {
        return rc;
    }
    pons_autovalue value = pons_object("word", json_string("continue"), NULL);
    pons_autovalue telemetry = look(c, thread, value);
    return post_word(c, thread, "control", value, true, telemetry, err);
}

// A task that nobody knows is a slip of the hand, and nothing is cancelled for it.
static int task_known(cli *c, const char *thread, const char *task, pons_error *err)
{
    pons_store store = {0};
    char latest[PONS_NAME_MAX];
    pons_autovalue status = NULL;
    int rc = app_thread_open(&c->app, true, &thread, latest, &store, err);
    rc = rc < 0 ? rc : pons_status_read(store, thread, NULL, NULL, &status, err);
    pons_store_close(&store);
    if (rc < 0) {
        return rc;
    }
    char known[512] = "";
    size_t used = 0;
    pons_each(item, pons_get(status, "queue")) {
        const char *id = pons_get_str(item, "id", "");
        if (strcmp(id, task) == 0) {
            return PONS_OK;
        }
        if (used < sizeof known) {
            used +=
                (size_t)snprintf(known + used, sizeof known - used, "%s%s", item_at ? " " : "", id);
        }
    }
    return app_bad(err, "%s has no task %s; there are: %s", thread, task, *known ? known : "none");
}

// Ends a task, or all that people have asked for.
int cmd_cancel(cli *c, pons_error *err)
{
    const char *thread = NULL;
    const int parsed = parse_thread(c, &thread, err);
    if (parsed < 0) {
        return parsed;
    }
    if (c->argc > 1) {
        return app_bad(err, "cancel takes one task (see `pons status`), or none for all");
    }
    const int known = c->argc ? task_known(c, thread, c->argv[0], err) : PONS_OK;
    if (known < 0) {
        return known;
    }
    pons_autovalue value = pons_object("word", json_string("cancel"), "task",
                                       c->argc ? json_string(c->argv[0]) : NULL, NULL);
    return post(c, thread, "control", value, err);
}

// Gives one task another priority: before all that wait, or as the second argument says.
int cmd_raise(cli *c, pons_error *err)
{
    const char *thread = NULL;
    int rc = parse_thread(c, &thread, err);
    if (rc >= 0 && (c->argc < 1 || c->argc > 2)) {
        rc = app_bad(err, "raise takes a task (see `pons status`), and its priority or none");
    }
    const char *priority = rc >= 0 && c->argc > 1 ? c->argv[1] : NULL;
    int64_t none = 0;
    rc = rc < 0 ? rc : cli_wish(priority, NULL, &none, err);
    rc = rc < 0 ? rc : task_known(c, thread, c->argv[0], err);
    if (rc < 0) {
        return rc;
    }
    pons_autovalue value =
        pons_object("word", json_string("raise"), "task", json_string(c->argv[0]), "priority",
                    priority ? json_string(priority) : NULL, NULL);
    return post(c, thread, "control", value, err);
}

int cli_wish(const char *priority, const char *deadline, int64_t *ret_ms, pons_error *err)
{
    static const char *const words[] = {"background", "user", "urgent"};
    bool known = !priority;
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        known = known || strcmp(priority, words[i]) == 0;
    }
    // The brain reads digits, and takes what it cannot read for the usual priority.
    const size_t n_digits = known ? 0 : strspn(priority, "0123456789");
    known = known || (n_digits > 0 && n_digits < 5 && priority[n_digits] == '\0' &&
                      strtol(priority, NULL, 10) <= PRIORITY_MAX);
    if (!known) {
        return app_bad(err,
                       "--priority takes background, user, urgent, or a whole number from 0 to %d, "
                       "not '%s'",
                       PRIORITY_MAX, priority);
    }
    if (!deadline) {
        return PONS_OK;
    }
    double s = 0.0;
    const int rc = cli_duration(deadline, "--deadline", &s, err);
    const pons_clock clock = pons_clock_real();
    *ret_ms = clock.wall_ms(clock.ctx) + (int64_t)(s * 1e3);
    return rc;
}

int cmd_stop(cli *c, pons_error *err)
{
    const int parsed = cli_parse(c, NULL, err);
    if (parsed < 0) {
        return parsed;
    }
    const char *reason = c->argc ? c->argv[0] : "pons stop";
    if (app_stop_robots(&c->app, reason, STOP_TIMEOUT_MS, err) < 0) {
        return app_unreached(err);
    }
    if (c->json) {
        pons_autovalue out = app_stopped_value(reason);
        cli_print_json(out);
    } else {
        char robot[256];
        pons_autovalue body = app_robot_reported(&c->app); // of a fleet's robots each has its own
        if (body) {
            cli_out("stopped: %-s; ", app_robot_line(body, robot, sizeof robot));
        } else {
            cli_out("stopped; ");
        }
        cli_out("the latch holds until `pons reset`\n");
    }
    return PONS_OK;
}

int cmd_reset(cli *c, pons_error *err)
{
    int rc = cli_parse(c, NULL, err);
    rc = rc < 0 ? rc : app_reset_robots(&c->app, err);
    if (rc < 0) {
        return rc;
    }
    if (c->json) {
        pons_autovalue out =
            pons_object("type", json_string("reset"), "latched", json_false(), NULL);
        cli_print_json(out);
    } else {
        cli_out("reset; tasks that were stopped wait for `pons continue`\n");
    }
    return PONS_OK;
}
