// plan_shapes.c - the reader's last mile: from JSON in any of the shapes that models and APIs use to the
// one shape of a plan.
//
//     "…"                              JSON in a string: read what is in it
//     {"plan": {…}}  [{…}]             one plan in a wrapper
//     plan_create(goal=…, steps=[…])   a plan as the arguments of the tool that makes plans
//     {"tool_calls": […]}  [call, …]   tool calls: each becomes a step
//     ["f(x=1)", …]                    calls in strings
//     [step, …]                        steps without a plan
//
// A call is known by the members that the APIs give it (the table below). Its step has the call's
// name and arguments, its place in the list as step_id, and nothing else; the goal must come from
// the caller. The new text is read like any other, and marks lead its positions back.
#include "plan/json_tokens.h"
#include "plan/plan_read.h"
#include "plan/repair/json_repair.h"
#include "pons/buf.h"
#include "pons/plan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WRAPPERS_MAX = 4, PLACE_MAX = 64 };

// What one reading needs on its way; all is freed together.
typedef struct reading {
    const pons_plan_read_options *o;
    pons_error *err;
    int wrappers; // taken off already
} reading;

typedef struct call {
    const pons__node *name, *arguments; // arguments NULL: none
} call;

typedef struct composer { // writes a new text whose positions lead to those of a tape
    pons__tokens *from;
    pons__repaired to;
    pons_pool scratch;
} composer;

static pons__read reported(const reading *g, pons__tokens *t)
{
    return (pons__read){.tokens = t,
                        .flags = PONS__READ_NEW_ID | PONS__READ_UNIQUE | PONS__READ_REPORT,
                        .goal = g->o->goal,
                        .from = g->o->from,
                        .fn = g->o->fn,
                        .user = g->o->user};
}

static int fault(const reading *g, pons__tokens *t, const pons__node *at, const char *what)
{
    int line, column;
    pons_error_set(g->err, PONS_EINVAL, "plan", "%s", what);
    pons__tokens_place(t, at->at, &line, &column);
    pons_error_source(g->err, "%d:%d", line, column);
    return PONS_EINVAL;
}

static int read_shape(reading *g, pons__tokens *t, const pons__node *node, pons_plan **ret);

static int read_text(reading *g, const char *text, size_t len, pons_plan **ret)
{
    pons__tokens t = {0};
    pons__repaired repaired = {.text = PONS_BUF_INIT};
    int rc = pons__tokens_parse(&t, text, len, NULL);
    if (rc == PONS_EINVAL) {
        pons__tokens_fini(&t);
        rc = pons__repair(text, len, g->o->fn, g->o->user, &repaired, g->err);
        t.places = (pons__places){.text = text, .len = len};
        t.marks = repaired.marks;
        t.n_marks = repaired.n_marks;
        rc = rc < 0 ? rc : pons__tokens_parse(&t, repaired.text.data, repaired.text.len, g->err);
    } else if (rc < 0) {
        pons_error_set(g->err, rc, "plan", "out of memory");
    }
    rc = rc < 0 ? rc : read_shape(g, &t, t.nodes, ret);
    pons__tokens_fini(&t);
    pons__repaired_fini(&repaired);
    return rc;
}

int pons_plan_read(const char *text, size_t len, const pons_plan_read_options *o, pons_plan **ret,
                   pons_error *err)
{
    reading g = {.o = o, .err = err};
    if (len > PONS_PLAN_TEXT_MAX) {
        return pons_error_set(err, PONS_EINVAL, "plan", "a text of %zu bytes; at most %d are read",
                              len, PONS_PLAN_TEXT_MAX);
    }
    return read_text(&g, text, len, ret);
}

// ---- calls --------------------------------------------------------------------------------------

static bool has(const pons__tokens *t, const pons__node *object, const char *key)
{
    return pons__tokens_get(t, object, key) != NULL;
}

static bool is_call(const pons__tokens *t, const pons__node *v, call *ret)
{
    static const char *const names[] = {"name", "tool", "tool_name", "recipient_name", NULL};
    static const char *const arguments[] = {"arguments",  "parameters", "args", "input",
                                            "tool_input", "kwargs",     NULL};
    if (!v || v->kind != PONS__OBJECT || has(t, v, "step_id") || has(t, v, "steps")) {
        return false;
    }
    const pons__node *inner = pons__tokens_get(t, v, "function");
    inner = inner ? inner : pons__tokens_get(t, v, "function_call");
    if (inner && inner->kind == PONS__OBJECT) {
        return is_call(t, inner, ret);
    }
    const pons__node *name = NULL, *args = NULL;
    for (const char *const *n = names; !name && *n; n++) {
        name = pons__tokens_get(t, v, *n);
    }
    for (const char *const *a = arguments; !args && *a; a++) {
        args = pons__tokens_get(t, v, *a);
    }
    if (!name && has(t, v, "action_input")) { // as ReAct agents write it
        name = pons__tokens_get(t, v, "action");
        args = pons__tokens_get(t, v, "action_input");
    }
    if (!name || name->kind != PONS__STRING || name->len == 0 ||
        (has(t, v, "action") && !has(t, v, "action_input"))) {
        return false;
    }
    *ret = (call){name, args};
    return true;
}

static void put_mark(composer *c, const pons__node *v)
{
    pons__repaired_mark(&c->to, pons__tokens_given(c->from, v->at));
}

static int put_value(reading *g, composer *c, const pons__node *v)
{
    const char *text = NULL;
    put_mark(c, v);
    const int rc = pons__tokens_canonical(c->from, v, &c->scratch, &text, g->err);
    if (rc >= 0) {
        pons_buf_str(&c->to.text, text);
    }
    return rc;
}

// Which members of a call the step does not need and nobody misses.
static bool is_usual(const pons__node *key)
{
    static const char *const usual[] = {"id", "type", "index", "call_id", "status", NULL};
    for (const char *const *u = usual; *u; u++) {
        if (strlen(*u) == key->len && memcmp(*u, key->s, key->len) == 0) {
            return true;
        }
    }
    return false;
}

// Arguments: an object, or one in a string as the APIs send it; none, null and "" are {}.
static int put_arguments(reading *g, composer *c, const pons__node *v, size_t place)
{
    const pons__read r = reported(g, c->from);
    if (!v || v->kind == PONS__NULL || (v->kind == PONS__STRING && v->len == 0)) {
        pons_buf_str(&c->to.text, "{}");
        return PONS_OK;
    }
    if (v->kind != PONS__STRING) {
        return put_value(g, c, v); // not an object: said when the step is read
    }
    pons__tokens t = {0};
    const char *text = NULL;
    pons_error why = PONS_ERROR_INIT;
    int rc = pons__tokens_parse(&t, v->s, v->len, &why);
    rc = rc < 0 ? rc : pons__tokens_canonical(&t, t.nodes, &c->scratch, &text, &why);
    pons__tokens_fini(&t);
    if (rc < 0) {
        char what[PONS_ERROR_MESSAGE_MAX];
        snprintf(what, sizeof what, "steps[%zu].parameters: arguments that are not JSON: %.300s",
                 place, why.message);
        return fault(g, c->from, v, what);
    }
    pons__tell(&r, PONS_REPAIR_ENCODED, v, "steps[%zu].parameters: JSON in a string", place);
    put_mark(c, v);
    pons_buf_str(&c->to.text, text);
    return PONS_OK;
}

static int put_call(reading *g, composer *c, const pons__node *v, const call *k, size_t place)
{
    const pons__read r = reported(g, c->from);
    pons_buf *b = &c->to.text;
    pons__tell(&r, PONS_REPAIR_CALLS, v, "steps[%zu]: the call %.*s made a step", place,
               (int)k->name->len, k->name->s);
    pons__tell(&r, PONS_REPAIR_STEP_ID, v, "steps[%zu].step_id: %zu, its place in the list", place,
               place + 1);
    const pons__node *key = v + 1;
    for (uint32_t i = 0; i < v->len; i++, key = &c->from->nodes[key[1].next]) {
        const pons__node *value = key + 1;
        const bool holds = value->kind == PONS__OBJECT && k->name > value &&
                           k->name < &c->from->nodes[value->next];
        if (value != k->name && value != k->arguments && !holds && !is_usual(key)) {
            pons__tell(&r, PONS_REPAIR_LEFT_OUT, key,
                       "steps[%zu]: %.*s of a call is no field of a step, left out", place,
                       (int)key->len, key->s);
        }
    }
    put_mark(c, v);
    pons_buf_printf(b, "{\"step_id\":%zu,\"action\":", place + 1);
    int rc = put_value(g, c, k->name);
    pons_buf_str(b, ",\"parameters\":");
    rc = rc < 0 ? rc : put_arguments(g, c, k->arguments, place);
    pons_buf_str(b, "}");
    return rc;
}

// ---- shapes -------------------------------------------------------------------------------------

static bool is_container(const pons__node *v)
{
    return v && (v->kind == PONS__OBJECT || v->kind == PONS__ARRAY);
}

// The plan inside a wrapper, or NULL. Members beside it are told.
static const pons__node *unwrap(reading *g, pons__tokens *t, const pons__node *node)
{
    static const char *const keys[] = {"plan",     "tool_calls", "data", "result", "output",
                                       "response", "answer",     "json", NULL};
    const pons__read r = reported(g, t);
    if (has(t, node, "goal") || has(t, node, "steps")) {
        return NULL;
    }
    for (const char *const *k = keys; *k; k++) {
        const pons__node *v = pons__tokens_get(t, node, *k);
        if (!v || !(is_container(v) || v->kind == PONS__STRING) || v->len == 0) {
            continue;
        }
        pons__tell(&r, PONS_REPAIR_UNWRAPPED, v, "the plan is the value of \"%s\"", *k);
        const pons__node *key = node + 1;
        for (uint32_t i = 0; i < node->len; i++, key = &t->nodes[key[1].next]) {
            if (key + 1 != v) {
                pons__tell(&r, PONS_REPAIR_LEFT_OUT, key, "%.*s: beside the plan, left out",
                           (int)key->len, key->s);
            }
        }
        return v;
    }
    return NULL;
}

static bool makes_plans(const pons__node *name)
{
    static const char *const names[] = {"plan_create", "create_plan", "make_plan", "submit_plan",
                                        NULL};
    for (const char *const *n = names; *n; n++) {
        if (strlen(*n) == name->len && memcmp(*n, name->s, name->len) == 0) {
            return true;
        }
    }
    return false;
}

static bool all_strings(const pons__tokens *t, const pons__node *list)
{
    const pons__node *v = list + 1;
    for (uint32_t i = 0; i < list->len; i++, v = &t->nodes[v->next]) {
        if (v->kind != PONS__STRING) {
            return false;
        }
    }
    return list->len > 0;
}

static int read_composed(reading *g, composer *c, pons_plan **ret)
{
    pons__tokens t = {.places = c->from->places, .marks = c->to.marks, .n_marks = c->to.n_marks};
    const pons__read r = reported(g, &t);
    int rc = c->to.text.failed ? pons_error_set(g->err, PONS_ENOMEM, "plan", "out of memory")
                               : pons__tokens_parse(&t, c->to.text.data, c->to.text.len, g->err);
    rc = rc < 0 ? rc : pons__read_plan(&r, t.nodes, ret, g->err);
    pons__tokens_fini(&t);
    pons__repaired_fini(&c->to);
    pons_pool_fini(&c->scratch);
    return rc;
}

// A plan object; steps that are calls become steps first.
static int read_plan(reading *g, pons__tokens *t, const pons__node *node, pons_plan **ret)
{
    const pons__node *steps = pons__tokens_get(t, node, "steps");
    const pons__read r = reported(g, t);
    call k;
    bool calls = false;
    if (steps && steps->kind == PONS__ARRAY) {
        const pons__node *v = steps + 1;
        for (uint32_t i = 0; i < steps->len; i++, v = &t->nodes[v->next]) {
            calls = calls || is_call(t, v, &k);
        }
    }
    if (!calls) {
        return pons__read_plan(&r, node, ret, g->err);
    }
    composer c = {.from = t, .to = {.text = PONS_BUF_INIT}};
    int rc = PONS_OK;
    const pons__node *key = node + 1;
    for (uint32_t i = 0; rc >= 0 && i < node->len; i++, key = &t->nodes[key[1].next]) {
        pons_buf_str(&c.to.text, i ? "," : "{");
        rc = put_value(g, &c, key);
        pons_buf_str(&c.to.text, ":");
        if (key + 1 != steps) {
            rc = rc < 0 ? rc : put_value(g, &c, key + 1);
            continue;
        }
        const pons__node *v = steps + 1;
        pons_buf_str(&c.to.text, "[");
        for (uint32_t n = 0; rc >= 0 && n < steps->len; n++, v = &t->nodes[v->next]) {
            if (n) {
                pons_buf_str(&c.to.text, ",");
            }
            rc = is_call(t, v, &k) ? put_call(g, &c, v, &k, n) : put_value(g, &c, v);
        }
        pons_buf_str(&c.to.text, "]");
    }
    pons_buf_str(&c.to.text, "}");
    if (rc < 0) {
        pons__repaired_fini(&c.to);
        pons_pool_fini(&c.scratch);
        return rc;
    }
    return read_composed(g, &c, ret);
}

// A list of calls or of steps, or one call by itself.
static int read_list(reading *g, pons__tokens *t, const pons__node *list, pons_plan **ret)
{
    const bool one = list->kind == PONS__OBJECT;
    const pons__node *v = one ? list : list + 1;
    const pons__read r = reported(g, t);
    const uint32_t n = one ? 1 : list->len;
    call k;
    bool steps = false;
    int rc = n > 0 ? PONS_OK : fault(g, t, list, "no plan found: an empty list");
    composer c = {.from = t, .to = {.text = PONS_BUF_INIT}};
    pons_buf_str(&c.to.text, "{\"steps\":[");
    for (uint32_t i = 0; rc >= 0 && i < n; i++, v = &t->nodes[v->next]) {
        if (i) {
            pons_buf_str(&c.to.text, ",");
        }
        if (is_call(t, v, &k)) {
            rc = put_call(g, &c, v, &k, i);
        } else if (has(t, v, "action")) {
            steps = true;
            rc = put_value(g, &c, v);
        } else {
            rc = fault(g, t, v, "no plan found: neither a call nor a step");
        }
    }
    pons_buf_str(&c.to.text, "]}");
    if (rc >= 0 && !g->o->goal) {
        rc = fault(g, t, list,
                   steps ? "goal: is missing; a list of steps has none, give one (--goal)"
                         : "goal: is missing; a list of calls has none, give one "
                           "(--goal)");
    }
    if (rc < 0) {
        pons__repaired_fini(&c.to);
        pons_pool_fini(&c.scratch);
        return rc;
    }
    if (steps) {
        pons__tell(&r, PONS_REPAIR_UNWRAPPED, list, "a list of steps made a plan");
    }
    return read_composed(g, &c, ret);
}

static int read_strings(reading *g, pons__tokens *t, const pons__node *list, pons_plan **ret);
static int read_encoded(reading *g, pons__tokens *t, const pons__node *node, pons_plan **ret);

// The one element of a list that is a plan, or a call that makes one.
static const pons__node *only_plan(const pons__tokens *t, const pons__node *list)
{
    call k;
    const pons__node *only = list + 1;
    if (list->len != 1) {
        return NULL;
    }
    const bool plan =
        is_call(t, only, &k) ? makes_plans(k.name) : has(t, only, "goal") || has(t, only, "steps");
    return plan ? only : NULL;
}

static int read_shape(reading *g, pons__tokens *t, const pons__node *node, pons_plan **ret)
{
    const pons__read r = reported(g, t);
    call k;
    if (++g->wrappers > WRAPPERS_MAX) {
        return fault(g, t, node, "a plan in too many wrappers");
    }
    if (node->kind == PONS__STRING) {
        return read_encoded(g, t, node, ret);
    }
    if (node->kind == PONS__ARRAY) {
        const pons__node *only = only_plan(t, node);
        if (!only) {
            return all_strings(t, node) ? read_strings(g, t, node, ret)
                                        : read_list(g, t, node, ret);
        }
        pons__tell(&r, PONS_REPAIR_UNWRAPPED, node, "the plan is the only one of a list");
        node = only;
    }
    if (node->kind != PONS__OBJECT) {
        return fault(g, t, node, "no plan found");
    }
    if (is_call(t, node, &k) && k.arguments && makes_plans(k.name)) {
        pons__tell(&r, PONS_REPAIR_UNWRAPPED, k.arguments, "the plan is the arguments of %.*s",
                   (int)k.name->len, k.name->s);
        return read_shape(g, t, k.arguments, ret);
    }
    if (is_call(t, node, &k)) {
        return read_list(g, t, node, ret);
    }
    const pons__node *inner = unwrap(g, t, node);
    if (!inner && g->o->goal && !has(t, node, "goal") && !has(t, node, "steps")) {
        return fault(g, t, node, "no plan found: an object with neither goal nor steps");
    }
    return inner ? read_shape(g, t, inner, ret) : read_plan(g, t, node, ret);
}

static int read_encoded(reading *g, pons__tokens *t, const pons__node *node, pons_plan **ret)
{
    const pons__read r = reported(g, t);
    char *text = malloc((size_t)node->len + 1); // the tape's strings do not outlive it
    int line, column;
    if (!text) {
        return pons_error_set(g->err, PONS_ENOMEM, "plan", "out of memory");
    }
    memcpy(text, node->s, node->len);
    pons__tell(&r, PONS_REPAIR_ENCODED, node, "a plan in a string; positions are those inside it");
    int rc = read_text(g, text, node->len, ret);
    free(text);
    if (rc < 0 && g->err && g->err->source[0]) {
        char inside[PLACE_MAX];
        snprintf(inside, sizeof inside, "%.60s", g->err->source);
        pons__tokens_place(t, node->at, &line, &column);
        pons_error_source(g->err, "%s in the string at %d:%d", inside, line, column);
    }
    return rc;
}

// A list of strings is the list of the calls that are written in them.
static int read_strings(reading *g, pons__tokens *t, const pons__node *list, pons_plan **ret)
{
    const pons__read r = reported(g, t);
    pons_autobuf b = PONS_BUF_INIT;
    const pons__node *v = list + 1;
    for (uint32_t i = 0; i < list->len; i++, v = &t->nodes[v->next]) {
        pons_buf_str(&b, i ? "," : "[");
        pons_buf_bytes(&b, v->s, v->len);
    }
    pons_buf_str(&b, "]");
    if (b.failed) {
        return pons_error_set(g->err, PONS_ENOMEM, "plan", "out of memory");
    }
    pons__tell(&r, PONS_REPAIR_ENCODED, list, "calls in strings; positions are those inside them");
    return read_text(g, b.data, b.len, ret);
}
