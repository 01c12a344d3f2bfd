// tool_calls.c - one tool call, from the model's words to the tool's.
//
//   pending --vet--> refused ----------------------------+
//                |                                        +-> done: a tool message
//                +-> asks a person --reject--------------+
//                |        | approve, edit                 |
//                +--------+-> read only: await ----------+   several at once
//                             else: intend, dispatch,     |   one at a time, in order
//                                   await, settle --------+
//
// Vetting happens a superstep before running, so that what a person is asked is committed and shown
// before the run parks, and so that a verdict is taken once. A batch is the calls that may run
// together: as many read-only ones as stand in a row, or one that changes something.
//
// A call that changes something is an effect. Its id is the key that the provider gets: sent once;
// after a crash the provider is asked about the key (pending_calls.c), and what nobody knows is told to the
// model as unknown, never tried again by itself.
#include "agent/graph/tool_calls.h"

#include "agent/config.h"
#include "agent/event_output.h"
#include "agent/graph/plan_state.h"
#include "agent/graph/url_leak.h"
#include "agent/pending_calls.h"
#include "agent/session.h"
#include "agent/standing_approvals.h"
#include "agent/tool_registry.h"
#include "pons/agent.h"
#include "pons/buf.h"
#include "pons/schema.h"

#include <stdlib.h>
#include <string.h>

#define REASON_MAX 512
#define ENDS_NOTE  100 // characters that say how much is left out

// ---- vetting ------------------------------------------------------------------------------------

static bool is_pending(const pons_value *call)
{
    return strcmp(pons_get_str(call, "state", ""), "pending") == 0;
}

bool pons__calls_pending(const pons_value *calls)
{
    for (size_t i = 0; i < json_array_size(calls); i++) {
        if (is_pending(json_array_get(calls, i))) {
            return true;
        }
    }
    return false;
}

// A member, where there is one.
static pons_value *kept(const pons_value *v, const char *key)
{
    return pons_get(v, key) ? pons_value_ref(pons_get(v, key)) : NULL;
}

static bool runs_together(const pons_value *call)
{
    return pons_get(call, "refusal") ||
           (pons_get_bool(call, "read_only", false) && !pons_get_bool(call, "ask", false) &&
            !pons_get_bool(call, "own", false));
}

__attribute__((format(printf, 2, 3))) static void refuse(pons_value *call, const char *fmt, ...)
{
    char text[REASON_MAX + 256];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    json_object_set_new(call, "refusal", pons__agent_cut(text, sizeof text));
}

// With the names that there are: a model that slipped sees what it meant.
static void refuse_unknown(const pons__role *role, pons_value *v, const char *name)
{
    const pons_agent *a = role->a;
    const pons_value *specs =
        pons__cfg(a->config, role->executor ? "nodes.executor.tools" : "nodes.agent.tools");
    pons_autobuf names = PONS_BUF_INIT;
    for (size_t i = 0; i < a->registry.n_tools && names.len < REASON_MAX / 2; i++) {
        const pons__tool *t = &a->registry.tools[i];
        if (t->provider && pons__specs_have(specs, t)) {
            pons_buf_printf(&names, " %s", t->name);
        }
    }
    refuse(v, "there is no tool %.64s here; there are:%s", name, names.len ? names.data : " none");
}

static int risk_of(const char *word)
{
    static const char *const words[] = {"safe", "warn", "dangerous", "blocked"};
    for (int i = 0; i < 4; i++) {
        if (word && strcmp(words[i], word) == 0) {
            return i;
        }
    }
    return -1;
}

// What it asks for by an address may go out with it: a person is shown whose address it is (url_leak.c).
static bool carries(const pons__role *role, pons_cx *cx, const pons_value *call,
                    const pons__tool *t, const pons_value *args, char *why, size_t cap)
{
    const char *name = pons_get_str(t->item, "address", NULL);
    const char *url = name ? pons_get_str(args, name, NULL) : NULL;
    if (!url || !cx ||
        !pons__address_made(&role->a->registry, role->executor,
                            pons_run_get(role->a->run, "messages"), pons_cx_get(cx, "turn"),
                            pons_get_str(call, "id", ""), url)) {
        return false;
    }
    snprintf(why, cap,
             "what was read may go out with it: the model made this address, which nobody gave it "
             "and which stands in nothing that it read");
    return true;
}

// What moves a robot is held against the critic; a model may not lift a rule.
static bool judged(pons__role *role, const pons__tool *t, const pons_value *args, char *why,
                   size_t cap)
{
    pons_agent *a = role->a;
    if (!a->opts.judge || strcmp(pons_get_str(t->item, "category", ""), "robot") != 0 ||
        pons_get_bool(t->item, "read_only", false)) {
        return true;
    }
    pons_autoverdict verdict = NULL;
    pons_error err = PONS_ERROR_INIT;
    const int rc = a->opts.judge(a->opts.judge_user, t->name, args, NULL, &verdict, &err);
    if (rc == PONS_ENOTFOUND) {
        return true;
    }
    if (rc < 0) { // no verdict is no leave
        snprintf(why, cap, "%s", err.message);
        return false;
    }
    if (pons_verdict_error(verdict, &err) < 0) {
        snprintf(why, cap, "%s", err.message);
        return false;
    }
    return true;
}

// Schema, risk and critic; cx NULL: the arguments are a person's. What is blocked stays so; the configuration can raise a risk, and name
// tools whose dangerous calls it has approved beforehand.
static void check_call(pons__role *role, pons_cx *cx, pons_value *call, const pons__tool *t,
                       const pons_value *args, pons_tool_risk *ret_risk, char *why, size_t cap)
{
    pons_agent *a = role->a;
    pons_error bad = PONS_ERROR_INIT;
    if (t->schema && pons_schema_check(t->schema, args, &bad) < 0) {
        refuse(call, "the arguments are not right: %s", bad.message);
        return;
    }
    const int own = risk_of(pons_get_str(t->item, "risk", "safe"));
    int risk = own < 0 ? PONS_TOOL_DANGEROUS : own;
    if (t->provider->ops->assess) {
        const int here = (int)t->provider->ops->assess(t->provider->self, t->name, args, why, cap);
        risk = here > risk ? here : risk;
    }
    const int raised = risk_of(pons_get_str(pons__cfg(a->config, "tools.risk"), t->name, NULL));
    risk = raised > risk ? raised : risk;
    if (risk < PONS_TOOL_DANGEROUS && carries(role, cx, call, t, args, why, cap)) {
        risk = PONS_TOOL_DANGEROUS;
    }
    char broken[REASON_MAX] = "";
    if (risk == PONS_TOOL_BLOCKED) {
        refuse(call, "%s is blocked%s%s", t->name, *why ? ": " : "", why);
    } else if (!judged(role, t, args, broken, sizeof broken)) {
        refuse(call, "refused: %s", broken);
    }
    if (risk == PONS_TOOL_DANGEROUS) {
        const pons_value *approved = pons__cfg(a->config, "tools.approve");
        for (size_t i = 0; i < json_array_size(approved); i++) {
            if (strcmp(json_string_value(json_array_get(approved, i)), t->name) == 0) {
                risk = PONS_TOOL_WARN;
            }
        }
    }
    if (risk == PONS_TOOL_DANGEROUS && pons__allowed(a, t->name, args)) {
        risk = PONS_TOOL_WARN;
    }
    *ret_risk = (pons_tool_risk)risk;
}

// What a person is to see. What is too long to be shown whole is not asked about: a part of it that
// nobody saw would be agreed to with the rest.
static bool add_preview(pons_value *v, const pons__tool *t, const pons_value *args)
{
    pons_error ignored = PONS_ERROR_INIT;
    pons_value *shown = NULL;
    char *text = NULL;
    if (t->provider->ops->preview) {
        t->provider->ops->preview(t->provider->self, t->name, args, &shown, &ignored);
    }
    const size_t preview = json_string_length(pons_get(shown, "text"));
    const long n = pons_value_line(args, &text);
    const size_t longest = n < 0 ? SIZE_MAX : (size_t)n > preview ? (size_t)n : preview;
    free(text);
    if (longest > PONS_AGENT_QUESTION_MAX) {
        pons_value_unref(shown);
        refuse(
            v,
            "it is too long to be shown to a person as a whole: %zu bytes, %d at most; do less at "
            "a time",
            longest, PONS_AGENT_QUESTION_MAX);
        return false;
    }
    if (shown) {
        json_object_set_new(v, "preview", shown);
    }
    return true;
}

// What becomes of the call, as members of it: refusal; or risk, read_only, ask and why. Must give
// the same for the same state: it runs once a commit.
static pons_value *vet_one(pons__role *role, pons_cx *cx, const pons_value *call)
{
    pons_agent *a = role->a;
    pons_value *v = json_copy((pons_value *)(uintptr_t)call);
    const char *name = pons_get_str(v, "name", ""), *kind = pons_get_str(v, "kind", NULL);
    const char *specs_at = role->executor ? "nodes.executor.tools" : "nodes.agent.tools";
    char why[REASON_MAX] = "";
    json_object_set_new(v, "vetted", json_true());
    if (kind) { // a person is asked something by the plan, or by the loop, itself
        char id[PONS_ID_MAX];
        pons_cx_id(cx, id);
        json_object_set_new(v, "ask", json_true());
        json_object_set_new(v, "request_id", json_string(id));
        json_object_set_new(v, "risk", json_string("dangerous"));
        return v;
    }
    if (pons_get(v, "refusal")) {
        return v;
    }
    const pons__tool *t = pons__registry_find(&a->registry, name);
    const bool plan = strcmp(name, PONS__PLAN_CREATE) == 0,
               step = strcmp(name, PONS__STEP_FAILED) == 0;
    if (plan && (role->executor || !pons__cfg_bool(a->config, "nodes.planner.enabled"))) {
        refuse(v, "plan_create is the agent's alone: carry out this step with the other tools");
    } else if (!t || (step && !role->executor) ||
               (!plan && !step && !pons__specs_have(pons__cfg(a->config, specs_at), t))) {
        refuse_unknown(role, v, name);
    } else if (plan || step) {
        json_object_set_new(v, "own", json_true());
        pons_plan *made = NULL;
        pons_error bad = PONS_ERROR_INIT;
        if (plan &&
            pons__agent_plan_make(pons_get(v, "arguments"), "plan_0", 0.0, &made, &bad) < 0) {
            refuse(v, "that is not a plan: %s", bad.message);
        }
        pons_plan_destroy(made);
    } else {
        pons_tool_risk risk = PONS_TOOL_SAFE;
        check_call(role, cx, v, t, pons_get(v, "arguments"), &risk, why, sizeof why);
        static const char *const words[] = {"safe", "warn", "dangerous", "blocked"};
        json_object_set_new(v, "risk", json_string(words[risk]));
        json_object_set_new(v, "read_only",
                            json_boolean(pons_get_bool(t->item, "read_only", false)));
        if (risk == PONS_TOOL_DANGEROUS && !pons_get(v, "refusal") &&
            add_preview(v, t, pons_get(v, "arguments"))) {
            char id[PONS_ID_MAX];
            pons_cx_id(cx, id);
            json_object_set_new(v, "ask", json_true());
            json_object_set_new(v, "why", pons__agent_cut(why, REASON_MAX));
            json_object_set_new(v, "request_id", json_string(id));
        }
    }
    return v;
}

int pons__calls_vet(pons__role *role, pons_cx *cx, pons_value *calls, pons_value **ret,
                    pons_error *err)
{
    pons_autovalue owned = calls;
    pons_value *list = json_array();
    size_t batch = 0;
    bool open = true; // the batch takes more
    int rc = pons__registry_refresh(&role->a->registry, err);
    pons_each(call, owned) {
        if (rc < 0 || !open || !is_pending(call)) {
            json_array_append_new(list, pons_value_ref(call));
            continue;
        }
        pons_value *vetted = vet_one(role, cx, call);
        const bool together = runs_together(vetted);
        if (batch > 0 && !together) { // the next batch's
            pons_value_unref(vetted);
            json_array_append_new(list, pons_value_ref(call));
            open = false;
            continue;
        }
        if (pons_get_bool(vetted, "ask", false)) {
            pons__agent_emit(
                role->a, cx, NULL, "approval_request",
                pons_object("request_id", pons_value_ref(pons_get(vetted, "request_id")), "tool",
                            pons_value_ref(pons_get(vetted, "name")), "input",
                            pons_value_ref(pons_get(vetted, "arguments")), "risk_level",
                            pons_value_ref(pons_get(vetted, "risk")), "why",
                            pons_get(vetted, "why") ? pons_value_ref(pons_get(vetted, "why"))
                                                    : NULL,
                            "preview", kept(vetted, "preview"), NULL));
        }
        json_array_append_new(list, vetted);
        open = together && ++batch < PONS__PARALLEL_MAX;
    }
    if (rc < 0) {
        pons_value_unref(list);
        return rc;
    }
    *ret = list;
    return PONS_OK;
}

// ---- small things -------------------------------------------------------------------------------

__attribute__((format(printf, 1, 2))) static pons_value *failed(const char *fmt, ...)
{
    char text[2 * REASON_MAX];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    return pons_object("ok", json_false(), "output", pons__agent_cut(text, sizeof text), NULL);
}

// tool_end, and tool_start for what never reached a tool: who watches sees every call begin and
// end.
static void say_result(pons__role *role, pons_cx *cx, const pons_value *call,
                       const pons_value *result)
{
    const pons_value *cached = pons_get(result, "cached");
    if (pons_get(call, "kind")) {
        return;
    }
    if (!pons_get_bool(result, "started", false)) {
        pons__agent_emit(role->a, cx, NULL, "tool_start",
                         pons_object("tool", pons_value_ref(pons_get(call, "name")), "input",
                                     pons_value_ref(pons_get(call, "arguments")), "motivation",
                                     pons_value_ref(pons_get(call, "motivation")), NULL));
    }
    pons__agent_emit(role->a, cx, NULL, "tool_end",
                     pons_object("tool", pons_value_ref(pons_get(call, "name")), "output",
                                 pons__agent_ends(pons_get_str(result, "output", ""),
                                                  PONS__SHOWN_MAX - ENDS_NOTE),
                                 "cached", json_boolean(json_is_true(cached)), "duration_ms",
                                 json_integer(pons_get_int(result, "duration_ms", 0)), NULL));
}

// ---- running ------------------------------------------------------------------------------------

// A person changed the arguments: the conversation has the call as it ran.
static void show_as_run(pons_cx *cx, const pons_value *call, pons_value *messages)
{
    const pons_value *turn = pons_cx_get(cx, "turn");
    const char *id = pons_get_str(call, "id", "");
    for (size_t i = json_array_size(turn); i-- > 0;) {
        // Another call of the same reply may have been edited just before.
        const pons_value *m = json_array_get(turn, i), *calls = pons_get(m, "tool_calls");
        size_t place = 0;
        while (place < json_array_size(messages) &&
               !json_equal(pons_get(json_array_get(messages, place), "id"), pons_get(m, "id"))) {
            place++;
        }
        const bool again = place < json_array_size(messages);
        calls = again ? pons_get(json_array_get(messages, place), "tool_calls") : calls;
        pons_each(c, calls) {
            if (strcmp(pons_get_str(c, "id", ""), id) != 0) {
                continue;
            }
            pons_value *next = json_copy((pons_value *)(uintptr_t)calls);
            json_array_set_new(
                next, c_at,
                pons__agent_put_in(c, "arguments", pons_value_ref(pons_get(call, "arguments"))));
            pons_value *message = pons__agent_put_in(m, "tool_calls", next);
            if (again) {
                json_array_set_new(messages, place, message);
            } else {
                json_array_append_new(messages, message);
            }
            return;
        }
    }
}

// *result, which may be shared, becomes one of its own with this text before its output.
static void put_before(pons_value **result, const char *text)
{
    pons_value *reported = pons__agent_put_in(
        *result, "output", json_sprintf("%s%s", text, pons_get_str(*result, "output", "")));
    pons_value_unref(*result);
    *result = reported;
}

static int vet_edit(void *user, const pons_value *args, pons_value **ret, pons_error *err)
{
    pons__role *role = user;
    pons_value *probe = json_object();
    const pons__tool *t = pons__registry_find(&role->a->registry, pons_get_str(args, "tool", ""));
    pons_tool_risk risk;
    char why[REASON_MAX] = "";
    if (t) {
        check_call(role, NULL, probe, t, pons_get(args, "arguments"), &risk, why, sizeof why);
    } else {
        refuse(probe, "the tool is gone");
    }
    *ret = probe;
    return PONS_OK;
}

// Asks a person. *ret_result is set when nothing is to be run any more; *ret_args may be edited. *ret_note (new): what
// the person said beside a yes; NULL: nothing.
static int ask(pons__role *role, pons_cx *cx, const pons_value *call, pons_value **ret_args,
               pons_value **ret_note, pons_value **ret_result, pons_error *err)
{
    const char *kind = pons_get_str(call, "kind", NULL);
    const double limit_s =
        json_number_value(pons__cfg(role->a->config, "settings.tool_approval_timeout_s"));
    pons_value *question = pons_object("type", json_string(kind ? kind : "tool_approval"),
                                       "request_id", pons_value_ref(pons_get(call, "request_id")),
                                       "tool", pons_value_ref(pons_get(call, "name")), "input",
                                       pons_value_ref(pons_get(call, "arguments")), "risk_level",
                                       pons_value_ref(pons_get(call, "risk")), "why",
                                       kept(call, "why"), "preview", kept(call, "preview"), NULL);
    const pons_value *answer = NULL;
    int rc = pons_await(cx, "human", question, (int64_t)(limit_s * 1e3), &answer, err);
    if (rc < 0) {
        return rc;
    }
    const char *action = pons_get_str(answer, "action", "reject");
    const char *reason = pons_get_str(answer, "reason", "");
    if (pons_get_bool(answer, "stopped", false)) {
        *ret_result = failed("not run: the user stopped here");
        json_object_set_new(*ret_result, "stopped", json_true());
    } else if (pons_get_bool(answer, "timeout", false)) {
        *ret_result = failed("nobody answered in time: refused");
    } else if (kind && strcmp(kind, "question") == 0 && strcmp(action, "reject") != 0) {
        *ret_result = pons_object("ok", json_true(), "output",
                                  json_string(pons_get_str(answer, "answer", action)), NULL);
    } else if (strcmp(action, "approve") == 0 || strcmp(action, "edit") == 0) {
        const pons_value *edited = pons_get(answer, "args");
        if (kind) {
            *ret_result =
                pons_object("ok", json_true(), "output",
                            json_sprintf("confirmed%s%s", *reason ? ": " : "", reason), NULL);
        } else if (strcmp(action, "edit") == 0 && !json_is_object(edited)) {
            *ret_result = failed("error: as edited by a person, the arguments are no object");
        } else if (strcmp(action, "edit") == 0) {
            // A person's edit is held against the same rules, once.
            const pons_value *verdict = NULL;
            pons_autovalue about = pons_object("tool", pons_value_ref(pons_get(call, "name")),
                                               "arguments", pons_value_ref(edited), NULL);
            rc = pons_task(cx, "vet_edit", about, vet_edit, role, &verdict, err);
            if (rc < 0) {
                return rc;
            }
            const char *refusal = pons_get_str(verdict, "refusal", NULL);
            if (refusal) {
                *ret_result = failed("error: as edited by a person, %s", refusal);
            }
            pons_value_unref(*ret_args);
            *ret_args = pons_value_ref(edited);
        }
        *ret_note = *reason && !*ret_result ? pons_value_ref(pons_get(answer, "reason")) : NULL;
    } else {
        *ret_result = failed(PONS__REFUSED_BY_PERSON "%s%s", *reason ? ": " : "", reason);
    }
    return PONS_OK;
}

static int64_t time_limit_ms(pons__role *role)
{
    return (int64_t)(json_number_value(pons__cfg(role->a->config, "settings.tool_timeout_s")) *
                     1e3);
}

static pons_value *result_of(const pons_value *answer)
{
    if (pons_get_bool(answer, "timeout", false)) {
        return failed("error: the tool gave no answer in time and was canceled");
    }
    return pons_value_ref(answer);
}

static pons_value *tool_request(const pons_value *call, const char *key)
{
    return pons_object("tool", pons_value_ref(pons_get(call, "name")), "call_id",
                       pons_value_ref(pons_get(call, "id")), "node",
                       pons_value_ref(pons_get(call, "node")), "motivation",
                       pons_value_ref(pons_get(call, "motivation")), "effect",
                       key ? json_string(key) : NULL, NULL);
}

static int run_read(pons__role *role, pons_cx *cx, const pons_value *call, const pons_value *args,
                    pons_value **ret_result, pons_error *err)
{
    const pons_value *answer = NULL;
    pons_value *request = tool_request(call, NULL);
    json_object_set_new(request, "arguments", pons_value_ref(args));
    const int rc = pons_await(cx, PONS__TOOL_CALL, request, time_limit_ms(role), &answer, err);
    if (rc < 0) {
        return rc;
    }
    *ret_result = result_of(answer);
    return PONS_OK;
}

// Takes nothing; args are in the effect's row from here on.
static int run_effect(pons__role *role, pons_cx *cx, const pons_value *call, pons_value *args,
                      pons_value **ret_result, pons_error *err)
{
    char id[40];
    const pons_value *answer = NULL;
    pons_effect_state found;
    const pons__tool *t = pons__registry_find(&role->a->registry, pons_get_str(call, "name", ""));
    pons_value *tag = pons_object(
        "provider", json_string(t && t->provider ? t->provider->ops->name : ""), "call_id",
        pons_value_ref(pons_get(call, "id")), "node", pons_value_ref(pons_get(call, "node")),
        "motivation", pons_value_ref(pons_get(call, "motivation")), NULL);
    int rc = pons_effect_intend(cx, pons_get_str(call, "name", ""), pons_value_ref(args), 1, tag,
                                id, err);
    if (rc >= 0) {
        rc = pons_effect_dispatch(cx, id, json_object(), pons__host_send, role->a, &found, err);
    }
    if (rc < 0) {
        return rc;
    }
    if (found == PONS_EFFECT_REFUSED) { // a fork, and a person said no
        *ret_result = failed(PONS__REFUSED_BY_PERSON);
        return PONS_OK;
    }
    rc = pons_await(cx, PONS__TOOL_CALL, tool_request(call, id), time_limit_ms(role), &answer, err);
    if (rc < 0) {
        return rc;
    }
    const bool late = pons_get_bool(answer, "timeout", false);
    const pons_effect_state to = late || pons_get_bool(answer, "unknown", false)
                                     ? PONS_EFFECT_OUTCOME_UNKNOWN
                                 : pons_get_bool(answer, "ok", false)       ? PONS_EFFECT_DONE
                                 : pons_get_bool(answer, "canceled", false) ? PONS_EFFECT_CANCELED
                                 : pons_get_bool(answer, "refused", false)  ? PONS_EFFECT_REFUSED
                                                                            : PONS_EFFECT_FAILED;
    *ret_result = late ? failed("error: the tool gave no answer in time; whether it did something "
                                "is not known. Look before you try again.")
                       : pons_value_ref(answer);
    pons_autovalue kept =
        pons__agent_put_in(NULL, "ok", pons_value_ref(pons_get(*ret_result, "ok")));
    return pons_effect_settle(cx, id, to, pons_value_ref(kept), err);
}

// *ret_result: {ok, output, cached?, duration_ms?, started?, edited?}.
static int run_one(pons__role *role, pons_cx *cx, const pons_value *call, pons_value **ret_result,
                   pons_error *err)
{
    const char *refusal = pons_get_str(call, "refusal", NULL);
    if (refusal) {
        *ret_result = failed("error: %s", refusal);
        return PONS_OK;
    }
    if (pons_get_bool(call, "own", false)) {
        *ret_result = pons_object("ok", json_true(), "output", json_string("noted"), NULL);
        return PONS_OK;
    }
    pons_autovalue args = pons_value_ref(pons_get(call, "arguments"));
    pons_autovalue note = NULL;
    if (pons_get_bool(call, "ask", false)) {
        const int rc = ask(role, cx, call, &args, &note, ret_result, err);
        if (rc < 0 || *ret_result) {
            return rc;
        }
    }
    const int rc = pons_get_bool(call, "read_only", false)
                       ? run_read(role, cx, call, args, ret_result, err)
                       : run_effect(role, cx, call, args, ret_result, err);
    if (rc >= 0 && note) {
        pons_autovalue line =
            json_sprintf("(The person who allowed it said: %s)\n", json_string_value(note));
        put_before(ret_result, json_string_value(line));
    }
    if (rc >= 0 && args != pons_get(call, "arguments")) {
        put_before(ret_result, "(A person changed the arguments before it ran.)\n");
        json_object_set_new(*ret_result, "edited", pons_value_ref(args));
    }
    return rc;
}

// A call with its result.
static pons_value *done_call(pons_cx *cx, const pons_value *call, const pons_value *result,
                             pons_value *messages)
{
    pons_value *done = pons__agent_put_in(call, "state", json_string("done"));
    json_object_set_new(done, "failed", json_boolean(!pons_get_bool(result, "ok", false)));
    json_object_set_new(done, "said", pons_value_ref(pons_get(result, "output")));
    if (pons_get_bool(result, "stopped", false)) {
        json_object_set_new(done, "stopped", json_true());
    }
    if (pons_get(result, "edited")) {
        json_object_set_new(done, "arguments", pons_value_ref(pons_get(result, "edited")));
        show_as_run(cx, done, messages);
    }
    return done;
}

static void tell_result(pons__role *role, pons_cx *cx, const pons_value *call,
                        const pons_value *result, pons_value *messages)
{
    const bool own = pons_get_bool(call, "own", false) && !pons_get(call, "refusal");
    if (!own) {
        say_result(role, cx, call, result);
    }
    const bool plan = own && strcmp(pons_get_str(call, "name", ""), PONS__PLAN_CREATE) == 0;
    if (!pons_get(call, "kind") && !pons_get_bool(call, "direct", false) && !plan) {
        char id[PONS_ID_MAX];
        pons_cx_id(cx, id);
        json_array_append_new(messages,
                              pons_object("id", json_string(id), "role", json_string("tool"),
                                          "tool_call_id", pons_value_ref(pons_get(call, "id")),
                                          "name", pons_value_ref(pons_get(call, "name")), "content",
                                          pons_value_ref(pons_get(result, "output")), "pictures",
                                          kept(result, "pictures"), NULL));
    }
}

int pons__calls_run(pons__role *role, pons_cx *cx, const pons_value *calls, pons_value **ret_calls,
                    pons_value **ret_messages, pons_error *err)
{
    enum { NOT_YET = -1 };
    const size_t n = json_array_size(calls);
    pons_autovalue results = json_array();
    pons_autovalue places = json_array();
    bool parked = false;
    // All of the batch is asked for before anything is waited for.
    for (size_t i = 0; i < n; i++) {
        const pons_value *call = json_array_get(calls, i);
        if (!is_pending(call) || !pons_get_bool(call, "vetted", false)) {
            continue;
        }
        pons_value *result = NULL;
        const int rc = run_one(role, cx, call, &result, err);
        if (rc == PONS_EPARKED) {
            parked = true;
        } else if (rc < 0) {
            return rc;
        } else {
            json_array_append_new(results, result);
            json_array_append_new(places, json_integer((json_int_t)i));
        }
    }
    if (parked) {
        return PONS_EPARKED;
    }
    pons_value *list = json_copy((pons_value *)(uintptr_t)calls), *messages = json_array();
    for (size_t k = 0; k < json_array_size(results); k++) {
        const size_t i = (size_t)json_integer_value(json_array_get(places, k));
        const pons_value *call = json_array_get(calls, i), *result = json_array_get(results, k);
        json_array_set_new(list, i, done_call(cx, call, result, messages));
        tell_result(role, cx, call, result, messages);
    }
    *ret_calls = list;
    *ret_messages = messages;
    return PONS_OK;
}
