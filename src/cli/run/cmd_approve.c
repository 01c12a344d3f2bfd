// cmd_approve.c - a person's answer to a question of a run, and what became of it.
//
// An answer goes into the thread's inbox with a nonce of its own, durable before anything is said;
// then its teller is told what it is: the answer, or too late (already answered by whom, and when).
// Whoever posted first has answered, whether a brain lives or not (pons_answer_read). It is never a
// line on a socket: who may answer is who may write the store, and that is the owner.
#include "cli/agent/agent_cli.h"
#include "cli/terminal/answer.h"
#include "pons/buf.h"
#include "pons/rule_policy.h"

#include <poll.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define ANSWER_BYTES_MAX (16 * 1024)
#define HEARD_TIMEOUT_MS 1500 // of a brain that is there
#define LOOK_EVERY_MS    10

// ---- an answer ----------------------------------------------------------------------------------

typedef struct resolved {
    const char *id; // NULL: of any question
    pons_value *last;
} resolved;

// Bad input, and who has answered: {action, by, at_ms, reason?}.
static int already(const char *thread, const pons_value *first, pons_error *err)
{
    char when[CLI_MOMENT] = "an unknown time";
    if (pons_get_int(first, "at_ms", 0) > 0) {
        cli_moment(pons_get_int(first, "at_ms", 0), when, "%F %T");
    }
    char said[CLI_ANSWER_MAX];
    return app_bad(err, "approve: %s was already answered by %s, at %s: %s", thread,
                   pons_get_str(first, "by", "a person"), when, cli_answer_text(first, said));
}

static int scan_answer(void *user, const pons_event_row *row)
{
    resolved *a = user;
    pons_autovalue payload = NULL;
    if (strcmp(row->type, "approval.resolved") == 0 &&
        pons_value_read(row->payload.data, row->payload.len, &payload, NULL) >= 0 &&
        (!a->id || strcmp(a->id, pons_get_str(payload, "id", "")) == 0)) {
        pons_value_unref(a->last);
        a->last = pons_value_ref(payload);
    }
    return 0;
}

// The answer to a question that is over; NULL: there is none. The caller's.
static pons_value *last_answer(pons_store store, const char *thread, const char *id)
{
    pons_error none = PONS_ERROR_INIT;
    resolved a = {.id = id};
    store.ops->events(store.self, thread, 0, 0, scan_answer, &a, &none);
    return a.last;
}

// What became of it: by a brain that is there, in a moment; else by the order of the inbox.
static int tell(cli *c, pons_store store, const char *thread, const char *question,
                const char *nonce, pons_error *err)
{
    pons_error none = PONS_ERROR_INIT;
    pons_lease holder = {0};
    const bool held = store.ops->lease_peek(store.self, thread, &holder, &none) >= 0;
    const pons_clock clock = pons_clock_real();
    const int64_t until = pons_now_ms(&clock) + (held ? HEARD_TIMEOUT_MS : 0);
    pons_value *got = NULL;
    for (;;) {
        pons_value_unref(got);
        got = NULL;
        const int rc = pons_answer_read(store, thread, question, nonce, &got, err);
        if (rc < 0) {
            return rc;
        }
        if (pons_get_bool(got, "heard", false) || pons_now_ms(&clock) >= until) {
            break;
        }
        poll(NULL, 0, LOOK_EVERY_MS);
    }
    pons_autovalue outcome = got;
    const char *verdict = pons_get_str(outcome, "verdict", "");
    if (strcmp(verdict, "late") == 0) {
        return already(thread, pons_get(outcome, "first"), err);
    }
    if (strcmp(verdict, "closed") == 0) {
        pons_autovalue last = last_answer(store, thread, question);
        return last ? already(thread, last, err)
                    : app_bad(err, "approve: that question of %s is closed", thread);
    }
    if (c->json) {
        pons_autovalue out =
            pons_object("type", json_string("answer"), "thread", json_string(thread), "id",
                        json_string(question), "verdict", json_string(verdict), NULL);
        cli_print_json(out);
    } else if (!held) {
        cli_err("pons: kept for %s; no brain runs it now (`pons resume %s`)\n", thread, thread);
    } else if (strcmp(verdict, "overrides") == 0) {
        cli_err("pons: it was approved and had not started; the reject counts\n");
    }
    return PONS_OK;
}

static int post_answer(cli *c, pons_store store, const char *thread, const char *id,
                       pons_value *answer, pons_error *err)
{
    json_object_set_new(answer, "id", json_string(id));
    app_answer_sign(answer, "pons approve");
    const int rc = pons_inbox_post(store, thread, "kernel", "answer", answer, err);
    if (rc < 0) {
        return rc;
    }
    app_wake_brain(&c->app);
    return tell(c, store, thread, id, pons_get_str(answer, "nonce", ""), err);
}

static int answer_question(cli *c, pons_store store, const char *thread, const pons_value *question,
                           pons_value *answer, pons_error *err)
{
    const int rc = app_question_fits(question, answer, err);
    return rc < 0 ? rc
                  : post_answer(c, store, thread, pons_get_str(question, "id", ""), answer, err);
}

static int scan_question(void *user, const pons_event_row *row)
{
    pons_value **open = user;
    pons_autovalue payload = NULL;
    const bool asks = strcmp(row->type, "approval.requested") == 0;
    if ((asks || strcmp(row->type, "approval.resolved") == 0 ||
         strcmp(row->type, "run.started") == 0) &&
        pons_value_read(row->payload.data, row->payload.len, &payload, NULL) >= 0) {
        pons_value_unref(*open);
        *open = asks ? pons_value_ref(payload) : NULL;
    }
    return 0;
}

// What the thread waits for a person with: the inner loop's own question is in its state, that of a
// forked effect, which comes later, only in the log. A list, the caller's; NULL: the error.
static pons_value *questions(pons_store store, const char *thread, pons_error *err)
{
    pons_autovalue status = NULL;
    pons_autovalue open = NULL;
    if (pons_status_read(store, thread, NULL, NULL, &status, err) < 0) {
        return NULL;
    }
    if (store.ops->events(store.self, thread, 0, 0, scan_question, &open, err) < 0) {
        return NULL;
    }
    pons_value *list = json_array();
    const pons_value *own = pons_get(status, "approvals");
    for (size_t i = 0; i < json_array_size(own); i++) {
        json_array_append(list, json_array_get(own, i));
    }
    if (open && json_is_array(pons_get(open, "ops")) &&
        !app_question_named(list, pons_get_str(open, "id", ""))) {
        json_array_append(list, open);
    }
    return list;
}

// Those of tasks that wait for their turn, with a yes. A list, the caller's; empty where the store cannot be read.
static pons_value *answered(pons_store store, const char *thread)
{
    pons_error none = PONS_ERROR_INIT;
    pons_autovalue status = NULL;
    pons_status_read(store, thread, NULL, NULL, &status, &none);
    const pons_value *list = pons_get(status, "answered");
    return list ? pons_value_ref(list) : json_array();
}

static void print_line(void *user, const char *text)
{
    cli_out("  %s\n", text);
}

// What the run waits for; APP_WAITING when it does.
static int show_approval(cli *c, pons_store store, const char *thread, pons_error *err)
{
    pons_autovalue approvals = questions(store, thread, err);
    if (!approvals) {
        return err->status;
    }
    if (c->json) {
        cli_print_json(approvals);
        return json_array_size(approvals) ? APP_WAITING : PONS_OK;
    }
    const bool several = json_array_size(approvals) > 1;
    pons_each(question, approvals) {
        cli_out("%s asks: %s\n", thread, pons_get_str(question, "question", ""));
        app_question_show(question, print_line, NULL);
        cli_out("pons approve %s%s%s %s\n", thread, several ? " --id " : "",
                several ? pons_get_str(question, "id", "") : "", app_question_takes(question));
    }
    pons_autovalue waits = answered(store, thread);
    if (json_array_size(approvals) == 0 && json_array_size(waits) == 0) {
        cli_out("%s waits for nobody\n", thread);
    }
    pons_each(question, waits) {
        char said[CLI_ANSWER_MAX];
        const pons_value *answer = pons_get(question, "answer");
        cli_out("%s: \"%s\" was answered by %s (%s), and its task waits for its turn; it is taken "
                "back by\npons approve %s --id %s reject REASON\n",
                thread, pons_get_str(question, "question", ""),
                pons_get_str(answer, "by", "a person"), cli_answer_text(answer, said), thread,
                pons_get_str(question, "id", ""));
    }
    return json_array_size(approvals) ? APP_WAITING : PONS_OK;
}

// ---- public functions ---------------------------------------------------------------------------

// A call of the agent's has a rule that is kept (`/always`); nobody else's question has.
static int read_always(const char *rest, pons_value **ret, pons_error *err)
{
    const bool tool = strcmp(rest, "tool") == 0;
    if (*rest && !tool) {
        return app_bad(err,
                       "approve: always: these very arguments; always tool: whatever they are");
    }
    *ret = pons_object("action", json_string("approve"), "always",
                       json_string(tool ? "tool" : "call"), NULL);
    return *ret ? PONS_OK : pons_error_set(err, PONS_ENOMEM, "", "out of memory");
}

static int never_always(const char *whose, pons_error *err)
{
    return app_bad(
        err,
        "approve: always is for calls of `pons agent`: what %s asks is asked each time, as "
        "the robot has moved since; answer approve, or see `approval` in kernel.yaml "
        "(`pons config path kernel.yaml`)",
        whose);
}

// Words that stop or pause the robot do that, whatever is asked.
static bool halts(const cli *c, const pons_value *answer)
{
    const char *words = pons_get_str(answer, "answer", NULL);
    pons_policy policy = {0};
    pons_error none = PONS_ERROR_INIT;
    if (!words || app_policy(&c->app, &policy, &none) < 0) {
        return false;
    }
    const bool yes = app_words_stop_or_pause(&policy, words);
    pons_rules_close(&policy);
    return yes;
}

// A no takes back a yes of which nothing has begun: of the question that is named, else of the one that was answered.
// last: what was answered last. Its teller hears what becomes of it, as of every answer. True: it was one, and *ret_rc is how that went.
static bool take_back(cli *c, pons_store store, const char *thread, pons_value *answer,
                      const char *id, const pons_value *last, int *ret_rc, pons_error *err)
{
    if (strcmp(pons_get_str(answer, "action", ""), "reject") != 0) {
        return false;
    }
    pons_autovalue waits = answered(store, thread);
    const pons_value *one = id                            ? app_question_named(waits, id)
                            : json_array_size(waits) == 1 ? json_array_get(waits, 0)
                                                          : NULL;
    if (!id && json_array_size(waits) > 1) {
        *ret_rc = app_question_which(thread, waits, err);
        return true;
    }
    const bool yes = last && strcmp(pons_get_str(last, "action", ""), "reject") != 0;
    const char *of = one ? pons_get_str(one, "id", "") : yes ? pons_get_str(last, "id", "") : "";
    if (*of) {
        *ret_rc = post_answer(c, store, thread, of, answer, err);
    }
    return *of;
}

// The question that is open, when it is the one that is meant. Of several one must be named.
static int answer_open(cli *c, pons_store store, const char *thread, pons_value *answer,
                       const char *id, pons_error *err)
{
    pons_autovalue open = questions(store, thread, err);
    if (!open) {
        return err->status;
    }
    if (!id && json_array_size(open) > 1) {
        return app_question_which(thread, open, err);
    }
    const pons_value *question = id ? app_question_named(open, id) : json_array_get(open, 0);
    if (question) {
        return answer_question(c, store, thread, question, answer, err);
    }
    int rc = PONS_OK;
    pons_autovalue last = last_answer(store, thread, id);
    if (take_back(c, store, thread, answer, id, last, &rc, err)) {
        return rc;
    }
    return last ? already(thread, last, err) : app_question_unknown(thread, id, open, err);
}

// An answer is the owner's, whoever else may read or write here.
static int same_person(const cli *c, pons_error *err)
{
    const char *const places[] = {c->app.workspace, c->app.run_dir, c->app.db};
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        struct stat st;
        if (stat(places[i], &st) == 0 && st.st_uid != geteuid()) {
            return app_bad(err, "approve: %s belongs to user %lld, and only its owner answers",
                           places[i], (long long)st.st_uid);
        }
    }
    return PONS_OK;
}

int cmd_approve(cli *c, pons_error *err)
{
    const char *id = NULL;
    const cli_option options[] = {{"--id", "ID", "of the question, when it must be that one", &id},
                                  {NULL, NULL, NULL, NULL}};
    const int parsed = cli_parse(c, options, err);
    if (parsed < 0) {
        return parsed;
    }
    pons_autovalue answer = NULL;
    pons_autobuf words = PONS_BUF_INIT;
    int rc = cli_words(c, 2, ANSWER_BYTES_MAX, &words, err);
    if (rc < 0) {
        return rc;
    }
    const char *rest = words.data;
    const bool always = c->argc > 1 && strcmp(c->argv[1], "always") == 0;
    rc = always        ? read_always(rest, &answer, err)
         : c->argc > 1 ? app_answer(c->argv[1], c->argc > 2 ? rest : NULL, &answer, err)
                       : PONS_OK;
    if (rc < 0) {
        return rc;
    }
    if (c->argc > 0 && strncmp(c->argv[0], APP_MCP_QUESTION, strlen(APP_MCP_QUESTION)) == 0) {
        return always ? never_always("a client of `pons mcp serve`", err)
                      : cli_mcp_approve(c, c->argv[0], answer, err);
    }
    pons_store store = {0};
    char thread[PONS_NAME_MAX];
    rc = app_workspace(&c->app, false, err);
    rc = rc < 0 ? rc : app_store(&c->app, &store, err);
    if (rc >= 0 && c->argc == 0) {
        rc = app_latest_of_any(store, thread, err);
    } else if (rc >= 0) {
        snprintf(thread, sizeof thread, "%s", c->argv[0]);
    }
    rc = rc < 0 || !answer ? rc : same_person(c, err);
    if (rc >= 0 && pons_agent_thread_is(store, thread)) {
        rc = cli_agent_approve(c, store, thread, answer, id, err);
    } else if (rc >= 0 && always) {
        rc = never_always("the robot's brain", err);
    } else if (rc >= 0 && halts(c, answer)) {
        rc = app_say_stop(&c->app, store, thread, pons_get_str(answer, "answer", ""), err);
    } else if (rc >= 0) {
        rc = answer ? answer_open(c, store, thread, answer, id, err)
                    : show_approval(c, store, thread, err);
    }
    pons_store_close(&store);
    return rc;
}

int cli_answer_open(cli *c, const char *thread, pons_value *answer, bool *ret_asked,
                    pons_error *err)
{
    pons_error none = PONS_ERROR_INIT;
    pons_store store = {0};
    char latest[PONS_NAME_MAX];
    int rc = app_thread_open(&c->app, false, &thread, latest, &store, &none);
    pons_autovalue open = rc < 0 ? NULL : questions(store, thread, &none);
    *ret_asked = json_array_size(open) > 0;
    rc = *ret_asked ? same_person(c, err) : PONS_OK;
    if (rc >= 0 && json_array_size(open) > 1) { // "yes" to which?
        rc = app_question_which(thread, open, err);
    } else if (rc >= 0 && *ret_asked) {
        rc = answer_question(c, store, thread, json_array_get(open, 0), answer, err);
    }
    pons_store_close(&store);
    return rc;
}

// ---- words --------------------------------------------------------------------------------------
