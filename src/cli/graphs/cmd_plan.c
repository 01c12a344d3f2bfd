// cmd_plan.c - `pons plan check|show|run|results FILE`: what a plan says, and what is wrong with it.
//
// check prints the plan's canonical JSON on stdout and every repair on stderr, so that
// `model | pons plan check - > plan.json` makes a plan of what a model wrote, or says why not.
// With --world or --embodiment it is also held against them by the critic, which lists every rule
// that it breaks; `pons run --plan FILE` does that before anything is made.
// run executes what needs no robot: noop, speak (printed), ask_user (asked here), query_world (a
// world given with --world). A plan with steps for a robot is what `pons run --plan FILE` makes of it. One whose steps
// name tools is a turn of the agent (cli_agent_plan).
#include "cli/agent/agent_cli.h"
#include "pons/buf.h"
#include "pons/language.h"
#include "pons/out_of_memory.h"
#include "pons/plan.h"
#include "pons/rule_policy.h"
#include "pons/yes_no.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define WORLD "world."

enum { ANSWER_MAX = 1024 };

typedef struct runner { // what the executors of `plan run` use
    cli *c;
    pons_value *world; // NULL: none
    pons_clock clock;
    pons_tools documents; // ops NULL: not asked yet
    pons_policy policy;
    bool chinese; // the plan
    bool ended;   // a person said stop, or cancel
} runner;

// ---- check and show -----------------------------------------------------------------------------

static int check(const pons_plan *p, pons_error *err)
{
    char *text = NULL;
    const long n = pons_plan_text(p, &text);
    if (n < 0) {
        return pons_error_set(err, PONS_EENV, "plan", "cannot write the plan out");
    }
    cli_out_canonical(text, (size_t)n);
    free(text);
    return PONS_OK;
}

static int judge(cli *c, const pons_plan *p, const char *world, const char *embodiment,
                 pons_error *err)
{
    pons_autoverdict verdict = NULL;
    int rc = check(p, err);
    if (rc < 0 || (!world && !embodiment)) {
        return rc;
    }
    rc = cli_plan_judge(c, p, world, embodiment, NULL, &verdict, err);
    if (rc < 0) {
        return rc;
    }
    cli_plan_verdict(verdict);
    if (c->json) {
        pons_autovalue v = pons_verdict_to_value(verdict);
        if (!v) {
            pons_end_no_memory("a verdict");
        }
        cli_print_json(v);
    }
    return pons_verdict_ok(verdict) ? PONS_OK : APP_NO_SUCCESS;
}

static const char *tick(pons_step_status status)
{
    static const char *const ticks[PONS_STEP_STATUSES] = {
        [PONS_STEP_PENDING] = " ", [PONS_STEP_RUNNING] = "~", [PONS_STEP_SUCCESS] = "x",
        [PONS_STEP_FAILED] = "!",  [PONS_STEP_SKIPPED] = "-", [PONS_STEP_WAIT_CONFIRMATION] = "?"};
    return ticks[status];
}

static void show_object(const char *what, const char *text)
{
    if (strcmp(text, "{}") != 0) {
        cli_out("        %s %s\n", what, text);
    }
}

static int show(const cli *c, const pons_plan *p, pons_error *err)
{
    if (c->json) {
        return check(p, err);
    }
    cli_out("%s  %s\n", p->plan_id, p->goal);
    cli_out("  %s, risk %s, from %s%s\n", pons_plan_status_word(p->status),
            pons_risk_level_word(p->risk_level), p->source,
            p->requires_confirmation ? ", to be confirmed" : "");
    if (*p->reasoning) {
        cli_out("  %s\n", p->reasoning);
    }
    for (size_t i = 0; i < p->n_steps; i++) {
        const pons_plan_step *s = &p->steps[i];
        cli_out("  [%s] %lld. %s (%s)%s%s%s\n", tick(s->status), (long long)s->step_id, s->action,
                pons_tool_call_word(s->tool_call_type), *s->description ? " - " : "",
                s->description, s->requires_confirmation ? "; to be confirmed" : "");
        show_object("with", s->parameters);
        show_object("when", s->preconditions);
        if (s->fallback) {
            cli_out("        else %s\n", s->fallback);
        }
    }
    return PONS_OK;
}

// ---- run ----------------------------------------------------------------------------------------

// A fallback is an action, and those need a robot or an agent.
static bool is_fallback(const pons_plan_call *call, pons_plan_outcome *out)
{
    if (call->is_fallback) {
        snprintf(out->message, sizeof out->message, "no runner for a fallback");
    }
    return call->is_fallback;
}

static int run_speak(void *user, const pons_plan_call *call, pons_plan_outcome *out,
                     pons_error *err)
{
    const runner *r = user;
    const char *text = NULL;
    if (is_fallback(call, out) || !pons_plan_speech(call, &text, out)) {
        return PONS_OK;
    }
    if (!r->c->json) {
        cli_out("  says: %s\n", text);
    }
    pons_plan_spoken(text, out);
    return PONS_OK;
}

// The workspace's documents. Nothing else is going on here, so it waits.
static int run_search(void *user, const pons_plan_call *call, pons_plan_outcome *out,
                      pons_error *err)
{
    runner *r = user;
    const char *query = pons_plan_call_words(call);
    if (is_fallback(call, out)) {
        return PONS_OK;
    }
    int rc = r->documents.ops ? PONS_OK : app_workspace(&r->c->app, true, err);
    rc = rc < 0 || r->documents.ops
             ? rc
             : app_core_tools(&r->c->app, &r->clock, NULL, &r->documents, err);
    pons_autovalue args = pons_object("query", json_string(query), NULL);
    rc = rc < 0 ? rc
                : r->documents.ops->start(r->documents.self, (uint64_t)call->step->step_id,
                                          "search_knowledge", args, call->plan->plan_id, err);
    pons_tool_event ev = {0};
    while (rc >= 0 && ev.kind != PONS_TOOL_DONE && ev.kind != PONS_TOOL_FAILED) {
        struct pollfd fd = {.fd = r->documents.ops->event_fd(r->documents.self), .events = POLLIN};
        pons_tool_event_clear(&ev);
        if (!r->documents.ops->next(r->documents.self, &ev)) {
            poll(&fd, 1, -1);
        }
    }
    if (rc < 0) {
        return rc;
    }
    pons_plan_found(call, ev.value, ev.kind == PONS_TOOL_DONE ? NULL : ev.error.message, out);
    pons_tool_event_clear(&ev);
    return PONS_OK;
}

// A word that stops or cancels is no answer: it ends the plan.
static int answer(runner *r, const char *question, char buf[ANSWER_MAX], pons_error *err)
{
    cli_err("%s ", question);
    if (!cli_line(buf, ANSWER_MAX)) {
        cli_err("\n");
        return pons_error_set(err, PONS_EPARKED, "plan", "waits for a person: %s", question);
    }
    r->ended = app_words_end(&r->policy, buf);
    if (r->ended) {
        if (app_stop_words(&r->c->app, &r->policy, buf)) { // a robot that is there
            cli_err("pons: " APP_STOPPED "\n");
        }
        return pons_error_set(err, PONS_EPARKED, "plan", "a person ended it");
    }
    return PONS_OK;
}

static int run_ask(void *user, const pons_plan_call *call, pons_plan_outcome *out, pons_error *err)
{
    char line[ANSWER_MAX];
    if (is_fallback(call, out)) {
        return PONS_OK;
    }
    const int rc = answer(user, pons_plan_call_words(call), line, err);
    if (rc < 0) {
        return rc;
    }
    pons_plan_answered(true, line, NULL, out);
    return PONS_OK;
}

// As the brain and the agent have it: world.NAME; and NAME, as there is nothing else here.
static int look(void *user, const char *name, pons_value **ret, pons_error *err)
{
    const runner *r = user;
    const char *of_world =
        strncmp(name, WORLD, sizeof WORLD - 1) == 0 ? name + sizeof WORLD - 1 : name;
    return pons_plan_look_in(r->world, of_world, ret, err);
}

static int run_query(void *user, const pons_plan_call *call, pons_plan_outcome *out,
                     pons_error *err)
{
    if (!is_fallback(call, out)) {
        pons_plan_query(call, look, user, out);
    }
    return PONS_OK;
}

static int confirm(void *user, const pons_plan *p, const pons_plan_step *step, const char *question,
                   bool *ret, pons_error *err)
{
    char line[ANSWER_MAX], asked[ANSWER_MAX];
    snprintf(asked, sizeof asked, "%s [y/n, 是/否]", question);
    pons_yes_no said = PONS_SAID_NEITHER;
    while (said == PONS_SAID_NEITHER) { // what is neither approves nothing: it is asked again
        const int rc = answer(user, asked, line, err);
        if (rc < 0) {
            return rc;
        }
        said = pons_yes_no_of(line, NULL, NULL);
    }
    *ret = said == PONS_SAID_YES;
    return PONS_OK;
}

static void print_result(void *user, const pons_execution_result *result)
{
    const runner *r = user;
    char *text = NULL;
    if (r->c->json) {
        if (pons_execution_result_text(result, &text) >= 0) {
            cli_out_json(text, strlen(text));
        }
    } else {
        cli_out("  %lld. %s%s%s%s%s\n", (long long)result->step_id,
                pons_translate(r->chinese, pons_step_status_word(result->status)),
                *result->message ? ": " : "", result->message,
                strcmp(result->output, "{}") ? " " : "",
                strcmp(result->output, "{}") ? result->output : "");
    }
    free(text);
}

static double now_s(void *user)
{
    const pons_clock clock = pons_clock_real();
    return (double)pons_wall_ms(&clock) / 1e3;
}

// Names the first step that nothing here can run; before anything is done.
static int can_run(const pons_plan *p, const pons_plan_ops *ops, pons_error *err)
{
    for (size_t i = 0; i < p->n_steps; i++) {
        const pons_plan_step *s = &p->steps[i];
        const bool done = pons_machine_final(&pons_step_machine, s->status);
        if (done || s->tool_call_type == PONS_TOOL_NOOP || ops->executors[s->tool_call_type]) {
            continue;
        }
        return app_lacks(
            err, "plan: step %lld, %s: no runner for %s is connected%s; nothing was done",
            (long long)s->step_id, s->action, pons_tool_call_word(s->tool_call_type),
            s->tool_call_type == PONS_TOOL_QUERY_WORLD ? " (--world NAME)"
            : s->tool_call_type == PONS_TOOL_EXECUTE   ? " (from a file, or `pons run --plan -`)"
                                                       : "");
    }
    return PONS_OK;
}

static int run(cli *c, pons_plan *p, const char *world, pons_error *err)
{
    runner r = {.c = c, .clock = pons_clock_real(), .chinese = pons_language_chinese(p->goal)};
    pons_plan_cursor cursor = {0};
    int rc = app_policy(&c->app, &r.policy, err);
    rc = rc >= 0 && world ? app_world(world, &r.world, err) : rc;
    pons_plan_ops ops = {.executors = {[PONS_TOOL_SPEAK] = run_speak,
                                       [PONS_TOOL_ASK_USER] = run_ask,
                                       [PONS_TOOL_QUERY_KNOWLEDGE] = run_search,
                                       [PONS_TOOL_QUERY_WORLD] = world ? run_query : NULL},
                         .look = look,
                         .confirm = confirm,
                         .result = print_result,
                         .now_s = now_s,
                         .user = &r};
    rc = rc < 0 ? rc : can_run(p, &ops, err);
    if (rc >= 0) {
        if (!c->json) {
            cli_out("%s  %s\n", p->plan_id, p->goal);
        }
        rc = pons_plan_run(p, &cursor, &ops, err);
        rc = r.ended ? pons_plan_cancel(p, &ops, err) : rc;
        if (!c->json) {
            const char *waits = pons_translate(r.chinese, "waits for a person");
            cli_out("  %s\n", rc == PONS_EPARKED
                                  ? waits
                                  : pons_translate(r.chinese, pons_plan_status_word(p->status)));
        }
        rc = rc == PONS_EPARKED                            ? APP_WAITING
             : rc >= 0 && p->status != PONS_PLAN_COMPLETED ? APP_NO_SUCCESS
                                                           : rc;
    }
    if (r.documents.ops) {
        r.documents.ops->close(r.documents.self);
    }
    pons_value_unref(r.world);
    pons_rules_close(&r.policy);
    return rc < 0 ? rc : PONS_OK;
}

// ---- results ------------------------------------------------------------------------------------

// One result, of a line of the file: checked, and printed.
static int one_result(runner *r, const pons_value *v, bool *failed, pons_error *err)
{
    pons_execution_result *result = NULL;
    const int rc = pons_execution_result_from_value(v, now_s(NULL), &result, err);
    if (rc >= 0) {
        print_result(r, result);
        *failed = *failed || result->status == PONS_STEP_FAILED;
    }
    pons_execution_result_destroy(result);
    return rc;
}

// A result a line, as `run --json` prints them. Ends with 1 where a step has failed.
static int results(cli *c, const char *path, pons_error *err)
{
    runner r = {.c = c};
    pons_autobuf text = PONS_BUF_INIT;
    const char *name = strcmp(path, "-") == 0 ? "stdin" : path;
    bool failed = false;
    size_t n = 0, number = 1;
    int rc = cli_plan_text(path, &text, err);
    for (const char *at = text.data; rc >= 0 && at && *at; number++) {
        const size_t length = strcspn(at, "\n");
        pons_autovalue v = NULL;
        if (strspn(at, " \t\r") < length) {
            rc = pons_value_parse(at, length, &v, err);
            rc = rc < 0 ? rc : one_result(&r, v, &failed, err);
            n++;
        }
        if (rc < 0) {
            pons_error_source(err, "%s:%zu", name, number);
            rc = err->status = PONS_EINVAL;
        }
        at += length + (at[length] == '\n');
    }
    if (rc >= 0 && n == 0) {
        return app_bad(err, "plan: there is no result in %s", name);
    }
    return rc < 0 ? rc : failed ? APP_NO_SUCCESS : PONS_OK;
}

// ---- public functions ---------------------------------------------------------------------------

static bool needs_robot(const pons_plan *p)
{
    bool any = false;
    for (size_t i = 0; i < p->n_steps; i++) {
        const pons_plan_step *s = &p->steps[i];
        any = any || (s->tool_call_type == PONS_TOOL_EXECUTE &&
                      !pons_machine_final(&pons_step_machine, s->status));
    }
    return any;
}

// As `pons run --plan FILE`: with a body, the critic and the ledger.
static int run_on_robot(cli *c, const char *world, const char *driver, pons_error *err)
{
    static char plan_option[] = "--plan", world_option[] = "--world", driver_option[] = "--driver";
    char *argv[7] = {plan_option, c->argv[1]};
    int n = 2;
    if (world) {
        argv[n++] = world_option;
        argv[n++] = (char *)(uintptr_t)world;
    }
    if (driver) {
        argv[n++] = driver_option;
        argv[n++] = (char *)(uintptr_t)driver;
    }
    c->argc = n;
    c->argv = argv;
    return cmd_run(c, err);
}

int cmd_plan(cli *c, pons_error *err)
{
    const char *goal = NULL, *world = NULL, *embodiment = NULL, *driver = NULL;
    const cli_option options[] = {
        {"--goal", "TEXT", "the goal of a list of calls, which has none", &goal},
        {"--world", "NAME",
         "check: hold it against this world; run: what query_world and preconditions look at",
         &world},
        {"--embodiment", "FILE", "check: hold it against what this body can do", &embodiment},
        {"--driver", "NAME", "run: the robot's driver; default: config.json's, else mujoco",
         &driver},
        {NULL, NULL, NULL, NULL}};
    const int parsed = cli_parse(c, options, err);
    if (parsed < 0) {
        return parsed;
    }
    const char *verb = c->argc > 0 ? c->argv[0] : "";
    const bool known = !strcmp(verb, "check") || !strcmp(verb, "show") || !strcmp(verb, "run") ||
                       !strcmp(verb, "results");
    if (c->argc != 2 || !known) {
        return app_bad(err, "plan: use `pons plan check|show|run|results FILE`, FILE may be -");
    }
    if (!strcmp(verb, "results")) {
        return results(c, c->argv[1], err);
    }
    pons_plan *p = NULL;
    int rc =
        cli_plan_read(c->argv[1], goal,
                      strcmp(verb, "check") == 0 ? CLI_PLAN_DEFAULTS : CLI_PLAN_REPAIRS, &p, err);
    bool tools = false;
    if (rc >= 0 && !strcmp(verb, "run") && needs_robot(p)) {
        rc = app_workspace(&c->app, true, err);
        rc = rc < 0 ? rc : app_agent_plan_calls(&c->app, p, &tools, err);
    }
    if (rc >= 0 && tools) {
        c->app.world = world;
        c->app.driver = driver;
        rc = cli_agent_plan(c, p, err);
        pons_plan_destroy(p);
        return rc;
    }
    if (rc >= 0 && !strcmp(verb, "run") && needs_robot(p) && strcmp(c->argv[1], "-") != 0) {
        pons_plan_destroy(p);
        return run_on_robot(c, world, driver, err);
    }
    if (rc >= 0) {
        rc = !strcmp(verb, "check")  ? judge(c, p, world, embodiment, err)
             : !strcmp(verb, "show") ? show(c, p, err)
                                     : run(c, p, world, err);
    }
    pons_plan_destroy(p);
    return rc;
}
