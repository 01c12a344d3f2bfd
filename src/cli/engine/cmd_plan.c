// cmd_plan.c - `pons plan check|show|run FILE`: what a plan says, and what is wrong with it.
//
// check prints the plan's canonical JSON on stdout and every repair on stderr, so that
// `model | pons plan check - > plan.json` makes a plan of what a model wrote, or says why not.
// With --world or --embodiment it is also held against them by the critic, which lists every rule
// that it breaks; `pons run --plan FILE` does that before anything is made.
// run executes what needs no robot: noop, speak (printed), ask_user (asked here), query_world (a
// world given with --world). A plan with other steps is refused before anything is done.
#include "cli/agent/agent_cli.h"
#include "pons/buf.h"
#include "pons/file.h"
#include "pons/memory.h"
#include "pons/module.h"
#include "pons/plan.h"
#include "pons/schema.h"
#include "pons/yaml.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define WORLD "world."

enum { READ_BYTES = 1 << 16, ANSWER_MAX = 1024, BODY_WAIT_MS = 500 };

typedef struct runner { // what the executors of `plan run` use
    cli *c;
    pons_value *world; // NULL: none
    pons_clock clock;
    pons_tools documents; // ops NULL: not asked yet
} runner;

typedef struct teller { // who prints repairs
    const char *name;   // of the file
    bool defaults;      // what was absent, too
} teller;

static int read_all(const char *path, pons_buf *ret, pons_error *err);
static int check(const pons_plan *p, pons_error *err);
static int judge(cli *c, const pons_plan *p, const char *world, const char *embodiment,
                 pons_error *err);
static int show(const cli *c, const pons_plan *p, pons_error *err);
static int look(void *user, const char *name, pons_value **ret, pons_error *err);
static int run(cli *c, pons_plan *p, const char *world, pons_error *err);

int cmd_plan(cli *c, pons_error *err)
{
    const char *goal = NULL, *world = NULL, *embodiment = NULL;
    const cli_option options[] = {
        {"--goal", "TEXT", "the goal of a list of calls, which has none", &goal},
        {"--world", "NAME",
         "check: hold it against this world; run: what query_world and preconditions look at",
         &world},
        {"--embodiment", "FILE", "check: hold it against what this body can do", &embodiment},
        {NULL, NULL, NULL, NULL}};
    const int parsed = cli_parse(c, options, err);
    if (parsed < 0) {
        return parsed;
    }
    const char *verb = c->argc > 0 ? c->argv[0] : "";
    const bool known = !strcmp(verb, "check") || !strcmp(verb, "show") || !strcmp(verb, "run");
    if (c->argc != 2 || !known) {
        return cli_bad(err, "plan: use `pons plan check|show|run FILE`, FILE may be -");
    }
    pons_plan *p = NULL;
    int rc = cli_plan_read(c->argv[1], goal, strcmp(verb, "check") == 0, &p, err);
    if (rc >= 0) {
        rc = !strcmp(verb, "check")  ? judge(c, p, world, embodiment, err)
             : !strcmp(verb, "show") ? show(c, p, err)
                                     : run(c, p, world, err);
    }
    pons_plan_destroy(p);
    return rc;
}

// ---- reading ------------------------------------------------------------------------------------

static int read_all(const char *path, pons_buf *ret, pons_error *err)
{
    const bool is_stdin = strcmp(path, "-") == 0;
    FILE *f = is_stdin ? stdin : pons_file_read(path);
    if (!f) {
        pons_error_set(err, PONS_ENOTFOUND, "plan", "cannot open %s", path);
        return pons_error_cause(err, "%s", pons_file_why(errno));
    }
    int rc = PONS_OK;
    char block[READ_BYTES];
    for (size_t n; rc == PONS_OK && (n = fread(block, 1, sizeof block, f)) > 0;) {
        rc = pons_buf_bytes(ret, block, n);
        if (ret->len > PONS_PLAN_TEXT_MAX) { // the reader says how much is too much
            break;
        }
    }
    if (ferror(f)) {
        rc = pons_error_set(err, PONS_EINVAL, "plan", "cannot read %s", path);
        pons_error_cause(err, "%s", strerror(errno));
    } else if (rc < 0) {
        pons_error_set(err, rc, "plan", "out of memory");
    }
    if (!is_stdin) {
        fclose(f);
    }
    return rc;
}

static void print_repair(void *user, const pons_plan_repair *r)
{
    const teller *t = user;
    const bool filled = r->kind == PONS_REPAIR_DEFAULT || r->kind == PONS_REPAIR_NEW_ID ||
                        r->kind == PONS_REPAIR_NEW_TIME;
    if (t->defaults || !filled) {
        cli_err("pons: %s:%d:%d: %s: %s\n", t->name, r->line, r->column, pons_repair_word(r->kind),
                r->what);
    }
}

int cli_plan_read(const char *path, const char *goal, bool defaults, pons_plan **ret,
                  pons_error *err)
{
    pons_autobuf text = PONS_BUF_INIT;
    const pons_clock clock = pons_clock_real();
    pons_rand rand;
    const char *name = strcmp(path, "-") == 0 ? "stdin" : path;
    int rc = read_all(path, &text, err);
    if (rc < 0) {
        return rc;
    }
    pons_rand_seed_os(&rand);
    const pons_plan_read_options options = {
        .goal = goal,
        .from = {.now_s = (double)pons_wall_ms(&clock) / 1e3, .rand = &rand},
        .fn = print_repair,
        .user = &(teller){.name = name, .defaults = defaults}};
    rc = pons_plan_read(text.data ? text.data : "", text.len, &options, ret, err);
    if (rc < 0) {
        char where[PONS_ERROR_SOURCE_MAX];
        snprintf(where, sizeof where, "%s", err->source);
        pons_error_source(err, "%s%s%s", name, *where ? ":" : "", where);
        rc = err->status = rc == PONS_EEXIST ? PONS_EINVAL : rc;
    }
    return rc;
}

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

// ---- the critic ---------------------------------------------------------------------------------

static int load_checked(const char *path, const char *schema, pons_value **ret, pons_error *err)
{
    char place[PATH_MAX];
    pons_yaml *yaml = NULL;
    pons_schema *compiled = NULL;
    pons_autovalue rules = NULL;
    int rc = pons_yaml_load(path, &yaml, err);
    rc = rc < 0 ? rc : pons_share_path(schema, place, sizeof place, err);
    rc = rc < 0 ? rc : pons_value_load(place, &rules, err);
    rc = rc < 0 ? rc : pons_schema_compile(rules, &compiled, err);
    rc = rc < 0 ? rc : pons_schema_check_yaml(compiled, yaml, err);
    if (rc >= 0) {
        *ret = pons_value_ref(pons_yaml_value(yaml));
    }
    pons_schema_destroy(compiled);
    pons_yaml_destroy(yaml);
    return rc;
}

// Of a robot that is only a world's: its size and speeds.
static pons_value *embodiment_of(const pons_value *world)
{
    const pons_value *robot = pons_get(world, "robot"), *radius = pons_get(robot, "radius_m");
    return pons_object("name", json_string(pons_get_str(robot, "id", "this robot")), "radius_m",
                       radius ? pons_value_ref(radius) : NULL, "limits",
                       robot ? pons_value_ref(robot) : NULL, NULL);
}

int cli_plan_judge(cli *c, const pons_plan *p, const char *world_name, const char *embodiment_path,
                   const char *skill_names, pons_verdict **ret, pons_error *err)
{
    pons_autovalue hello = NULL;
    pons_autovalue telemetry = NULL;
    pons_autovalue world = NULL;
    pons_autovalue skills = NULL;
    pons_autovalue embodiment = NULL;
    pons_autovalue config = NULL;
    pons_critic *critic = NULL;
    cli_observe(c, BODY_WAIT_MS, &hello, &telemetry);
    int rc = world_name ? cli_world(world_name, &world, err) : PONS_OK;
    if (rc >= 0 && embodiment_path) {
        rc = load_checked(embodiment_path, "schemas/embodiment.json", &embodiment, err);
    } else if (rc >= 0 && world) {
        embodiment = embodiment_of(world);
    }
    rc = rc < 0 ? rc : cli_config(c, &config, err);
    if (rc < 0) {
        return rc;
    }
    const pons_value *told = pons_get(hello, "skills");
    cli_skills modules = {0};
    rc = told ? PONS_OK : cli_skills_load(skill_names, &modules, err);
    rc = rc >= 0 && !told ? pons_body_skills(modules.at, modules.n, &skills, err) : rc;
    if (rc < 0) {
        return rc;
    }
    skills = told ? pons_value_ref(told) : skills;
    pons_autovalue policy = pons_brain_critic_policy(config);
    // A profile of another body lists that body's own actions: they are no skills of ours.
    const bool foreign = pons_get(embodiment, "supported_actions") != NULL;
    const pons_critic_options o = {.skills = foreign ? NULL : skills,
                                   .embodiment = embodiment,
                                   .world = world,
                                   .policy = policy};
    // On paper: what is true at this moment (a latch, the battery) is the run's to see.
    const pons_critic_situation now = {.robot = NULL};
    rc = pons_critic_create(&o, &critic, err);
    rc = rc < 0 ? rc : pons_critic_judge_plan(critic, p, &now, ret, err);
    pons_critic_destroy(critic);
    return rc;
}

void cli_plan_verdict(const pons_verdict *v)
{
    size_t i;
    json_t *rule;
    json_array_foreach(pons_verdict_rules(v), i, rule)
    {
        const int64_t step = pons_get_int(rule, "step_id", -1);
        cli_err("pons: plan: ");
        if (step >= 0) {
            cli_err("step %lld, %s: ", (long long)step, pons_get_str(rule, "skill", ""));
        }
        cli_err("%s: %s\n", pons_get_str(rule, "rule", ""), pons_get_str(rule, "message", ""));
    }
    json_array_foreach(pons_verdict_approvals(v), i, rule)
    {
        cli_err("pons: plan: a person is asked: %s\n", pons_get_str(rule, "message", ""));
    }
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
    return pons_verdict_ok(verdict) ? PONS_OK : CLI_NO_SUCCESS;
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
    (void)err;
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
    int rc = r->documents.ops ? PONS_OK : cli_workspace(r->c, true, err);
    rc =
        rc < 0 || r->documents.ops ? rc : cli_core_tools(r->c, &r->clock, NULL, &r->documents, err);
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

static int answer(const char *question, char buf[ANSWER_MAX], pons_error *err)
{
    cli_err("%s ", question);
    if (!fgets(buf, ANSWER_MAX, stdin)) {
        cli_err("\n");
        return pons_error_set(err, PONS_EPARKED, "plan", "waits for a person: %s", question);
    }
    buf[strcspn(buf, "\r\n")] = '\0';
    return PONS_OK;
}

static int run_ask(void *user, const pons_plan_call *call, pons_plan_outcome *out, pons_error *err)
{
    char line[ANSWER_MAX];
    (void)user;
    if (is_fallback(call, out)) {
        return PONS_OK;
    }
    const int rc = answer(pons_plan_call_words(call), line, err);
    if (rc < 0) {
        return rc;
    }
    pons_plan_answered(true, line, NULL, out);
    return PONS_OK;
}

static int run_query(void *user, const pons_plan_call *call, pons_plan_outcome *out,
                     pons_error *err)
{
    (void)err;
    if (!is_fallback(call, out)) {
        pons_plan_query(call, look, user, out);
    }
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

static int confirm(void *user, const pons_plan *p, const pons_plan_step *step, const char *question,
                   bool *ret, pons_error *err)
{
    char line[ANSWER_MAX], asked[ANSWER_MAX];
    (void)user;
    (void)p;
    (void)step;
    snprintf(asked, sizeof asked, "%s [y/n]", question);
    const int rc = answer(asked, line, err);
    if (rc < 0) {
        return rc;
    }
    *ret = line[0] == 'y' || line[0] == 'Y';
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
                pons_step_status_word(result->status), *result->message ? ": " : "",
                result->message, strcmp(result->output, "{}") ? " " : "",
                strcmp(result->output, "{}") ? result->output : "");
    }
    free(text);
}

static double now_s(void *user)
{
    const pons_clock clock = pons_clock_real();
    (void)user;
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
        return cli_lacks(
            err, "plan: step %lld, %s: no runner for %s is connected%s; nothing was done",
            (long long)s->step_id, s->action, pons_tool_call_word(s->tool_call_type),
            s->tool_call_type == PONS_TOOL_QUERY_WORLD ? " (--world NAME)"
            : s->tool_call_type == PONS_TOOL_EXECUTE   ? " (`pons run --plan` has a robot)"
                                                       : "");
    }
    return PONS_OK;
}

static int run(cli *c, pons_plan *p, const char *world, pons_error *err)
{
    runner r = {.c = c, .clock = pons_clock_real()};
    pons_plan_cursor cursor = {0};
    int rc = world ? cli_world(world, &r.world, err) : PONS_OK;
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
        if (!c->json) {
            cli_out("  %s\n",
                    rc == PONS_EPARKED ? "waits for a person" : pons_plan_status_word(p->status));
        }
        rc = rc == PONS_EPARKED                            ? CLI_WAITING
             : rc >= 0 && p->status != PONS_PLAN_COMPLETED ? CLI_NO_SUCCESS
                                                           : rc;
    }
    if (r.documents.ops) {
        r.documents.ops->close(r.documents.self);
    }
    pons_value_unref(r.world);
    return rc < 0 ? rc : PONS_OK;
}
