// plan_step.c - a step of a plan, carried out by the engine that `pons plan run` and the brain have.
//
// The engine (pons_plan_carry_out) looks at preconditions, asks, performs, falls back; what a step does
// is the executors' here. Each asks for one thing, writes it into the loop's channel `step` and parks:
//
//     confirm  a person's yes to the step        ask   a person's answer
//     do       a tool's call, or where the step names none, the loop's own thinking
//
//     step: {cursor, status, pend: {kind, fallback}}
//
// When it has come (pons__step_reported), the engine runs again from the same cursor and gets it. So the
// three ways to run a plan differ in who performs, and in nothing else.
#include "agent/graph/plan_step.h"

#include "agent/event_output.h"
#include "agent/graph/plan_state.h"
#include "agent/graph/plan_turn.h"
#include "agent/graph/tool_calls.h"
#include "agent/prompts.h"
#include "agent/tool_registry.h"
#include "pons/agent.h"
#include "pons/buf.h"
#include "pons/schema.h"

#include <stdlib.h>
#include <string.h>

#define RESPONSE_MAX 4000 // characters of a step's response that later steps see

typedef struct pursuit { // one run of the engine, inside a node
    pons__role *role;
    pons_cx *cx;
    const pons_value *pend;     // what was asked for; NULL: nothing
    bool reported, reported_ok; // and what came of it
    const char *said;
    pons_value *asked;  // the new pend
    pons_value *calls;  // to be made
    pons_value *output; // of the step, when it has ended
    char message[PONS_PLAN_MESSAGE_MAX];
} pursuit;

// ---- what a step waits for ----------------------------------------------------------------------

// Whether that has come; if not, it is what is waited for now.
static bool has_come(pursuit *u, const char *kind, bool fallback)
{
    if (u->reported && strcmp(pons_get_str(u->pend, "kind", ""), kind) == 0 &&
        pons_get_bool(u->pend, "fallback", false) == fallback) {
        u->reported = false; // for this step's next need it has not
        return true;
    }
    pons_value_unref(u->asked);
    u->asked = pons_object("kind", json_string(kind), "fallback", json_boolean(fallback), NULL);
    return false;
}

static void add_call(pursuit *u, const pons_plan_step *s, bool fallback, const char *name,
                     const pons_value *args, const char *kind)
{
    char id[48];
    snprintf(id, sizeof id, "step-%lld%s%s", (long long)s->step_id, fallback ? "-fallback" : "",
             kind && strcmp(kind, "step_confirmation") == 0 ? "-confirm" : "");
    json_array_append_new(
        u->calls, pons_object("id", json_string(id), "name", json_string(name), "arguments",
                              pons_value_ref(args), "motivation", json_string(s->action), "node",
                              json_string("executor"), "state", json_string("pending"), "kind",
                              kind ? json_string(kind) : NULL, "direct",
                              kind && strcmp(kind, "question") != 0 ? NULL : json_true(), NULL));
}

static int came(pursuit *u, pons_plan_outcome *out)
{
    out->success = u->reported_ok;
    pons_utf8_copy(out->message, sizeof out->message, u->reported_ok ? "" : u->said);
    out->output = u->reported_ok ? pons_object("text", json_string(u->said), NULL) : NULL;
    return PONS_OK;
}

static int confirm(void *user, const pons_plan *p, const pons_plan_step *step, const char *question,
                   bool *ret, pons_error *err)
{
    pursuit *u = user;
    if (has_come(u, "confirm", false)) {
        *ret = u->reported_ok;
        return PONS_OK;
    }
    pons_autovalue args = pons_object(
        "plan_id", json_string(p->plan_id), "step_id", json_integer(step->step_id), "action",
        json_string(step->action), "question", json_string(question), "parameters", NULL, NULL);
    pons_value *parameters = NULL;
    pons_error ignored = PONS_ERROR_INIT;
    if (pons_plan_object(step->parameters, &parameters, &ignored) >= 0) {
        json_object_set_new(args, "parameters", parameters);
    }
    add_call(u, step, false, "plan_step", args, "step_confirmation");
    return PONS_EPARKED;
}

// ---- executors ----------------------------------------------------------------------------------

// A call of a tool by its name. Without arguments, a word that happens to be a tool's name is the
// model's to understand. False: there is no such tool, or not with these.
static bool call_tool(pursuit *u, const pons_plan_call *call, const char *name,
                      const pons_value *args)
{
    pons_error ignored = PONS_ERROR_INIT;
    pons_autovalue none = json_object();
    const pons__tool *t = pons__registry_find(&u->role->a->registry, name);
    const bool fits = t && (!t->schema || pons_schema_check(t->schema, args, &ignored) >= 0);
    const bool words = !pons__given(u->role->a); // then a model understands them
    if (!t || !t->provider ||
        (words && !fits && !call->is_fallback && json_object_size(args) == 0)) {
        return false;
    }
    // A fallback gets the step's parameters where it takes them.
    add_call(u, call->step, call->is_fallback, name, call->is_fallback && !fits ? none : args,
             NULL);
    return true;
}

static int run_execute(void *user, const pons_plan_call *call, pons_plan_outcome *out,
                       pons_error *err)
{
    pursuit *u = user;
    if (has_come(u, "do", call->is_fallback)) {
        return came(u, out);
    }
    const bool called = call_tool(u, call, call->action, call->parameters);
    if (!called && pons__given(u->role->a)) {
        snprintf(out->message, sizeof out->message, "there is no tool %.128s here", call->action);
        return PONS_OK;
    }
    if (!called && call->is_fallback) {
        char id[PONS_ID_MAX];
        pons_cx_id(u->cx, id);
        pons_cx_put(
            u->cx, "turn",
            pons_object("id", json_string(id), "role", json_string("user"), "content",
                        json_sprintf("That can't be done. Do this instead: %s", call->action),
                        NULL));
    }
    return PONS_EPARKED;
}

static int run_speak(void *user, const pons_plan_call *call, pons_plan_outcome *out,
                     pons_error *err)
{
    pursuit *u = user;
    const char *text = NULL;
    if (call->is_fallback) {
        return run_execute(user, call, out, err);
    }
    if (has_come(u, "do", false)) {
        return came(u, out);
    }
    if (!pons_plan_speech(call, &text, out)) {
        return PONS_OK;
    }
    pons_autovalue args = pons_object("text", json_string(text), NULL);
    if (call_tool(u, call, "speak", args)) {
        return PONS_EPARKED;
    }
    // Nobody here has a voice: whoever watches reads it.
    pons__agent_emit(u->role->a, u->cx, NULL, "tool_start",
                     pons_object("tool", json_string("speak"), "input", pons_value_ref(args),
                                 "motivation", json_string(call->step->action), NULL));
    pons__agent_emit(u->role->a, u->cx, NULL, "tool_end",
                     pons_object("tool", json_string("speak"), "output", json_string(text),
                                 "cached", json_false(), "duration_ms", json_integer(0), NULL));
    pons_plan_spoken(text, out);
    return PONS_OK;
}

static int run_ask(void *user, const pons_plan_call *call, pons_plan_outcome *out, pons_error *err)
{
    pursuit *u = user;
    if (call->is_fallback) {
        return run_execute(user, call, out, err);
    }
    if (has_come(u, "ask", false)) {
        pons_plan_answered(u->reported_ok, u->said, u->said, out);
        return PONS_OK;
    }
    pons_autovalue args = pons_object(
        "question", json_string(pons_plan_call_words(call)), "parameters",
        json_object_size(call->parameters) > 0 ? pons_value_ref(call->parameters) : NULL, NULL);
    add_call(u, call->step, false, "ask_user", args, "question");
    return PONS_EPARKED;
}

static int look(void *user, const char *name, pons_value **ret, pons_error *err)
{
    const pursuit *u = user;
    const pons_agent_options *o = &u->role->a->opts;
    return o->look ? o->look(o->look_user, name, ret, err)
                   : pons_error_set(err, PONS_ENOTFOUND, PONS__AGENT, "%s is not known", name);
}

static int run_query(void *user, const pons_plan_call *call, pons_plan_outcome *out,
                     pons_error *err)
{
    pursuit *u = user;
    const char *query = pons_plan_call_words(call);
    if (call->is_fallback) {
        return run_execute(user, call, out, err);
    }
    if (has_come(u, "do", false)) {
        return came(u, out);
    }
    // Without a name it is all that the tool of that name says.
    if ((!query || !u->role->a->opts.look) && call_tool(u, call, "query_world", call->parameters)) {
        return PONS_EPARKED;
    }
    pons_plan_query(call, look, user, out);
    return PONS_OK;
}

static int run_search(void *user, const pons_plan_call *call, pons_plan_outcome *out,
                      pons_error *err)
{
    pursuit *u = user;
    if (call->is_fallback) {
        return run_execute(user, call, out, err);
    }
    if (has_come(u, "do", false)) {
        return came(u, out);
    }
    pons_autovalue args = pons_object("query", json_string(pons_plan_call_words(call)), NULL);
    if (!call_tool(u, call, "search_knowledge", args)) {
        snprintf(out->message, sizeof out->message, "no executor for query_knowledge is connected");
        return PONS_OK;
    }
    return PONS_EPARKED;
}

// ---- the engine ---------------------------------------------------------------------------------

static void end(const pursuit *u, const pons_plan_step *s)
{
    const bool ok = s->status == PONS_STEP_SUCCESS;
    const char *text = pons_get_str(u->output, "text", pons_get_str(u->output, "answer", NULL));
    char *dumped = NULL;
    if (ok && !text && json_object_size(u->output) > 0 && pons_value_line(u->output, &dumped) > 0) {
        text = dumped;
    }
    text = text && ok                                  ? text
           : ok && s->tool_call_type == PONS_TOOL_NOOP ? "nothing to do"
                                                       : u->message;
    pons_cx_put(u->cx, "ended",
                pons_object("status",
                            json_string(ok                               ? "answer"
                                        : s->status == PONS_STEP_SKIPPED ? PONS__STEP_REFUSED
                                                                         : "failed"),
                            ok ? "content" : "error", json_string(text), NULL));
    free(dumped);
}

static int run(pons__role *role, pons_cx *cx, pursuit *u, pons_error *err);

// The plan as it is stored, and the step in hand.
static int load(const pons__role *role, pons_plan **ret, size_t *ret_at, pons_error *err)
{
    *ret_at = (size_t)json_integer_value(pons_run_get(role->a->run, "current_step_index"));
    return pons__agent_plan_load(pons_run_get(role->a->run, "plan_data"), ret, err);
}

static void result(void *user, const pons_execution_result *r)
{
    pursuit *u = user;
    pons_error ignored = PONS_ERROR_INIT;
    if (u->output || *u->message) { // of the step itself; others are skipped with it
        return;
    }
    if (pons_plan_object(r->output, &u->output, &ignored) < 0) {
        u->output = NULL;
    }
    const pons_value *fallback = pons_get(u->output, "fallback");
    if (fallback) {
        const bool done = pons_get_bool(fallback, "success", false);
        pons_autobuf text = PONS_BUF_INIT;
        pons_buf_printf(&text, "%s; its fallback %s %s", r->message,
                        pons_get_str(fallback, "action", ""), done ? "was done: " : "failed: ");
        pons_buf_str(&text, done ? pons_get_str(pons_get(fallback, "output"), "text", "")
                                 : pons_get_str(fallback, "message", ""));
        pons_utf8_copy(u->message, sizeof u->message, text.failed ? "failed" : text.data);
    } else {
        pons_utf8_copy(u->message, sizeof u->message,
                       r->status == PONS_STEP_SKIPPED && u->said && *u->said ? u->said
                                                                             : r->message);
    }
}

static int run(pons__role *role, pons_cx *cx, pursuit *u, pons_error *err)
{
    const pons_plan_ops ops = {.executors = {[PONS_TOOL_EXECUTE] = run_execute,
                                             [PONS_TOOL_ASK_USER] = run_ask,
                                             [PONS_TOOL_SPEAK] = run_speak,
                                             [PONS_TOOL_QUERY_WORLD] = run_query,
                                             [PONS_TOOL_QUERY_KNOWLEDGE] = run_search},
                               .look = look,
                               .confirm = confirm,
                               .result = result,
                               .user = u};
    const pons_value *state = pons_cx_get(cx, "step");
    pons_plan_cursor cursor = {0};
    pons_plan *p = NULL;
    size_t at = 0;
    int rc = load(role, &p, &at, err);
    if (rc < 0) {
        return rc;
    }
    // The plan that is stored says that the step runs; how far it has come is the loop's.
    pons_plan_step *s = &p->steps[at];
    const int status = pons_step_status_find(pons_get_str(state, "status", "pending"));
    s->status = status < 0 ? PONS_STEP_PENDING : (pons_step_status)status;
    p->status = s->status == PONS_STEP_WAIT_CONFIRMATION ? PONS_PLAN_WAIT_CONFIRMATION
                                                         : PONS_PLAN_EXECUTING;
    pons_plan_cursor_from_value(pons_get(state, "cursor"), &cursor);
    u->calls = json_array();
    rc = pons_plan_carry_out(p, s, &cursor, &ops, err);
    if (rc == PONS_EPARKED) {
        pons_value *calls = NULL;
        pons_cx_put(cx, "step",
                    pons_object("cursor", pons_plan_cursor_to_value(&cursor), "status",
                                json_string(pons_step_status_word((int)s->status)), "pend",
                                u->asked, NULL));
        u->asked = NULL;
        rc = pons__calls_vet(role, cx, u->calls, &calls, err);
        u->calls = NULL;
        rc = rc < 0 ? rc : pons_cx_put(cx, "calls", calls);
    } else if (rc >= 0) {
        end(u, s);
        rc = pons_cx_put(cx, "calls", json_array());
    }
    pons_value_unref(u->calls);
    pons_value_unref(u->asked);
    pons_value_unref(u->output);
    pons_plan_destroy(p);
    return rc;
}

// ---- beginning ----------------------------------------------------------------------------------

// What the executor is told: the plan's title, what the steps before this one found, and the step.
static pons_value *step_message(const pons__role *role, const pons_plan *p, const pons_plan_step *s,
                                const char *id)
{
    const pons_value *past = pons_run_get(role->a->run, "past_steps");
    pons_autobuf text = PONS_BUF_INIT;
    pons__agent_users_words(&text, pons_run_get(role->a->run, "messages"));
    pons_buf_printf(&text, "Plan: %s\n", p->goal);
    pons_each(one, past) {
        pons_autovalue said =
            pons__agent_ends(json_string_value(json_array_get(one, 1)), RESPONSE_MAX);
        pons_buf_printf(&text, "Done before: %s\n  Result: %s\n",
                        json_string_value(json_array_get(one, 0)), json_string_value(said));
    }
    pons_buf_printf(&text, "\nYour step: %s", s->action);
    if (s->description && *s->description && strcmp(s->description, s->action) != 0) {
        pons_buf_printf(&text, "\n%s", s->description);
    }
    if (s->parameters && strcmp(s->parameters, "{}") != 0) {
        pons_buf_printf(&text, "\nParameters: %s", s->parameters);
    }
    return text.failed ? NULL
                       : pons_object("id", json_string(id), "role", json_string("user"), "content",
                                     json_string(text.data), NULL);
}

int pons__step_begin(pons__role *role, pons_cx *cx, pons_error *err)
{
    pons_plan *p = NULL;
    size_t at = 0;
    int rc = load(role, &p, &at, err);
    if (rc < 0) {
        return rc;
    }
    char id[PONS_ID_MAX];
    pons_cx_id(cx, id);
    pons_cx_put(cx, "turn", step_message(role, p, &p->steps[at], id));
    pons_autoverdict verdict = NULL;
    pons_error bad = PONS_ERROR_INIT;
    const bool refused = role->a->opts.judge &&
                         role->a->opts.judge(role->a->opts.judge_user, NULL, NULL, &p->steps[at],
                                             &verdict, &bad) >= 0 &&
                         pons_verdict_error(verdict, &bad) < 0;
    pons_plan_destroy(p);
    if (refused) { // nobody is asked about what can't be
        pons_cx_put(cx, "calls", json_array());
        return pons_cx_put(cx, "ended",
                           pons_object("status", json_string("failed"), "error",
                                       json_sprintf("refused: %s", bad.message), NULL));
    }
    pursuit u = {.role = role, .cx = cx};
    return run(role, cx, &u, err);
}

int pons__step_reported(pons__role *role, pons_cx *cx, bool ok, const char *said, pons_error *err)
{
    pursuit u = {.role = role,
                 .cx = cx,
                 .pend = pons_get(pons_cx_get(cx, "step"), "pend"),
                 .reported = true,
                 .reported_ok = ok,
                 .said = said ? said : ""};
    return run(role, cx, &u, err);
}
