// plan_read.c - a plan, a step or a result from a tape: types, defaults, and errors that name the path.
//
// One reader with flags serves the seed's from_dict, its create_plan_from_llm_response and the
// tolerant reader. For each object the members are first sorted into slots, one a field of the
// protocol; then each field is taken from its slot or gets the seed's default. Values come here as
// text too (dumped), so that there is one way in.
#include "plan/plan_read.h"

#include "plan/internal.h"
#include "plan/json_tokens.h"
#include "plan/plan_enums.h"
#include "pons/plan.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PATH_MAX_BYTES = 160, SHOWN_MAX = 40, WORDS_MAX = 160 };
#define FIELDS_MAX 11

typedef enum plan_field {
    PLAN_ID,
    GOAL,
    REASONING,
    RISK_LEVEL,
    PLAN_CONFIRM,
    PLAN_MESSAGE,
    STEPS,
    STATUS,
    CREATED_AT,
    SOURCE,
    PLAN_METADATA,
    PLAN_FIELDS
} plan_field;

typedef enum step_field {
    STEP_ID,
    ACTION,
    TOOL_CALL_TYPE,
    PARAMETERS,
    PRECONDITIONS,
    FALLBACK,
    STEP_STATUS,
    DESCRIPTION,
    STEP_CONFIRM,
    STEP_MESSAGE,
    METADATA,
    STEP_FIELDS
} step_field;

typedef enum result_field {
    RESULT_PLAN,
    RESULT_STEP,
    SUCCESS,
    RESULT_STATUS,
    MESSAGE,
    OUTPUT,
    TIMESTAMP,
    RESULT_FIELDS
} result_field;

_Static_assert((int)PLAN_FIELDS <= FIELDS_MAX && (int)STEP_FIELDS <= FIELDS_MAX, "slots");
_Static_assert((int)RESULT_FIELDS <= FIELDS_MAX, "slots");

typedef struct name {
    const char *text;
    uint32_t len;
} name;
#define NAME(s)                                                                                    \
    {                                                                                              \
        (s), sizeof(s) - 1                                                                         \
    }

static const name plan_names[PLAN_FIELDS] = {NAME("plan_id"),
                                             NAME("goal"),
                                             NAME("reasoning"),
                                             NAME("risk_level"),
                                             NAME("requires_confirmation"),
                                             NAME("confirmation_message"),
                                             NAME("steps"),
                                             NAME("status"),
                                             NAME("created_at"),
                                             NAME("source"),
                                             NAME("metadata")};
static const name step_names[STEP_FIELDS] = {NAME("step_id"),
                                             NAME("action"),
                                             NAME("tool_call_type"),
                                             NAME("parameters"),
                                             NAME("preconditions"),
                                             NAME("fallback"),
                                             NAME("status"),
                                             NAME("description"),
                                             NAME("requires_confirmation"),
                                             NAME("confirmation_message"),
                                             NAME("metadata")};
static const name result_names[RESULT_FIELDS] = {NAME("plan_id"),  NAME("step_id"), NAME("success"),
                                                 NAME("status"),   NAME("message"), NAME("output"),
                                                 NAME("timestamp")};

// An object being read: its slots, and where it is for messages.
typedef struct object {
    const pons__read *read;
    const pons__node *node;
    const name *names;
    int n;
    const char *noun; // "plan", "step", "result"
    size_t index;     // of the step in its plan
    bool in_steps;    // index counts
    pons_pool *arena;
    pons_error *err;
    const pons__node *slots[FIELDS_MAX];
} object;

// ---- slots and messages -------------------------------------------------------------------------

// Whether a key is this name of the protocol (four bytes or more), without a call.
static inline bool is_name(const name *n, const pons__node *key)
{
    uint64_t a, b;
    if (n->len != key->len) {
        return false;
    }
    if (n->len >= sizeof a) {
        memcpy(&a, n->text, sizeof a);
        memcpy(&b, key->s, sizeof b);
        if (a != b) {
            return false;
        }
        return n->len == sizeof a ||
               memcmp(n->text + sizeof a, key->s + sizeof a, n->len - sizeof a) == 0;
    }
    return memcmp(n->text, key->s, n->len) == 0;
}

// "steps[2].field: …" [line:col]. field NULL: the object itself.
__attribute__((format(printf, 5, 6))) static int
fault(const object *o, const char *field, size_t len, const pons__node *where, const char *fmt, ...)
{
    char what[PONS_ERROR_MESSAGE_MAX], path[PATH_MAX_BYTES];
    int line, column, n = 0;
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(what, sizeof what, fmt, ap);
    va_end(ap);
    if (o->in_steps) {
        n = snprintf(path, sizeof path, "steps[%zu]%s", o->index, field ? "." : "");
    }
    snprintf(path + n, sizeof path - (size_t)n, "%.*s", (int)len,
             field         ? field
             : o->in_steps ? ""
                           : o->noun);
    if (!field && !o->in_steps) {
        snprintf(path, sizeof path, "%s", o->noun);
    }
    pons_error_set(o->err, PONS_EINVAL, "plan", "%s: %s", path, what);
    pons__tokens_place(o->read->tokens, where ? where->at : o->node->at, &line, &column);
    pons_error_source(o->err, "%d:%d", line, column);
    return PONS_EINVAL;
}

static int sort_members(object *o)
{
    const pons__node *nodes = o->read->tokens->nodes, *key = o->node + 1;
    if (o->node->kind != PONS__OBJECT) {
        return fault(o, NULL, 0, o->node, "expected an object");
    }
    memset(o->slots, 0, sizeof o->slots);
    int guess = 0; // members mostly come in one order: look behind the last one first
    for (uint32_t i = 0; i < o->node->len; i++) {
        int f = guess, tried = 0;
        for (; tried < o->n; tried++, f = f + 1 == o->n ? 0 : f + 1) {
            if (is_name(&o->names[f], key)) {
                break;
            }
        }
        if (tried < o->n) {
            if (o->slots[f]) {
                return fault(o, key->s, key->len, key, "is there twice");
            }
            o->slots[f] = key + 1;
            guess = f + 1 == o->n ? 0 : f + 1;
        } else if (o->read->flags & PONS__READ_REPORT) {
            char prefix[PATH_MAX_BYTES] = "";
            if (o->in_steps) {
                snprintf(prefix, sizeof prefix, "steps[%zu].", o->index);
            }
            pons__tell(o->read, PONS_REPAIR_LEFT_OUT, key, "%s%.*s: not a field of a %s, left out",
                       prefix, (int)key->len, key->s, o->noun);
        }
        key = &nodes[key[1].next];
    }
    return PONS_OK;
}

void pons__tell(const pons__read *r, pons_repair_kind kind, const pons__node *where,
                const char *fmt, ...)
{
    char what[PONS_ERROR_MESSAGE_MAX];
    if (!r->fn) {
        return;
    }
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(what, sizeof what, fmt, ap);
    va_end(ap);
    pons_plan_repair repair = {.kind = kind, .what = what};
    pons__tokens_place(r->tokens, where->at, &repair.line, &repair.column);
    r->fn(r->user, &repair);
}

static const char *found(const pons__node *v, char buf[SHOWN_MAX + 32])
{
    static const char *const words[] = {"null", "false", "true"};
    const int shown = v->len > SHOWN_MAX ? SHOWN_MAX : (int)v->len;
    switch (v->kind) {
    case PONS__NUMBER:
        snprintf(buf, SHOWN_MAX + 32, "%s %.*s", v->integer ? "integer" : "number", shown, v->s);
        return buf;
    case PONS__STRING:
        snprintf(buf, SHOWN_MAX + 32, "string \"%.*s%s\"", shown, v->s,
                 (uint32_t)shown < v->len ? "…" : "");
        return buf;
    case PONS__ARRAY:
        snprintf(buf, SHOWN_MAX + 32, "an array of %u", v->len);
        return buf;
    case PONS__OBJECT:
        snprintf(buf, SHOWN_MAX + 32, "an object of %u", v->len);
        return buf;
    default:
        return words[v->kind];
    }
}

static int wrong(const object *o, int field, const char *expected)
{
    char shown[SHOWN_MAX + 32];
    return fault(o, o->names[field].text, o->names[field].len, o->slots[field],
                 "expected %s, found %s", expected, found(o->slots[field], shown));
}

static int absent(const object *o, int field)
{
    return fault(o, o->names[field].text, o->names[field].len, NULL, "is missing");
}

static void defaulted(const object *o, int field, const char *value)
{
    char prefix[PATH_MAX_BYTES] = "";
    if (!(o->read->flags & PONS__READ_REPORT) || !o->read->fn) {
        return;
    }
    if (o->in_steps) {
        snprintf(prefix, sizeof prefix, "steps[%zu].", o->index);
    }
    pons__tell(o->read, PONS_REPAIR_DEFAULT, o->node, "%s%s: absent, the default %s", prefix,
               o->names[field].text, value);
}

// ---- fields -------------------------------------------------------------------------------------

static int copy(object *o, const char *s, size_t len, const char **ret)
{
    *ret = pons_pool_text(o->arena, s, len);
    return *ret ? PONS_OK : pons_error_set(o->err, PONS_ENOMEM, "plan", "out of memory");
}

// fallback NULL: the field must be there.
static int take_text(object *o, int field, const char *fallback, const char **ret)
{
    const pons__node *v = o->slots[field];
    char shown[SHOWN_MAX];
    if (v) {
        return v->kind == PONS__STRING ? copy(o, v->s, v->len, ret) : wrong(o, field, "a string");
    }
    if (!fallback) {
        return absent(o, field);
    }
    snprintf(shown, sizeof shown, "\"%s\"", fallback);
    defaulted(o, field, shown);
    return copy(o, fallback, strlen(fallback), ret);
}

static int take_text_or_null(object *o, int field, const char **ret)
{
    const pons__node *v = o->slots[field];
    *ret = NULL;
    if (!v) {
        defaulted(o, field, "null");
    }
    if (!v || v->kind == PONS__NULL) {
        return PONS_OK;
    }
    return v->kind == PONS__STRING ? copy(o, v->s, v->len, ret)
                                   : wrong(o, field, "a string or null");
}

static int take_bool(object *o, int field, bool *ret)
{
    const pons__node *v = o->slots[field];
    *ret = v && v->kind == PONS__TRUE;
    if (!v) {
        defaulted(o, field, "false");
    }
    return !v || v->kind == PONS__TRUE || v->kind == PONS__FALSE ? PONS_OK
                                                                 : wrong(o, field, "true or false");
}

static int take_word(object *o, int field, const pons__words *words, int fallback, int *ret)
{
    const pons__node *v = o->slots[field];
    *ret = fallback;
    if (!v) {
        char shown[SHOWN_MAX];
        snprintf(shown, sizeof shown, "\"%s\"", words->words[fallback]);
        defaulted(o, field, shown);
        return PONS_OK;
    }
    const int i = v->kind == PONS__STRING ? pons__words_find(words, v->s, v->len) : -1;
    if (i < 0) {
        char list[WORDS_MAX] = "one of";
        for (int w = 0; w < words->n; w++) {
            const size_t used = strlen(list);
            snprintf(list + used, sizeof list - used, "%s %s", w ? "," : "", words->words[w]);
        }
        return wrong(o, field, list);
    }
    *ret = i;
    return PONS_OK;
}

static int take_object(object *o, int field, const char **ret)
{
    const pons__node *v = o->slots[field];
    *ret = "{}";
    if (!v) {
        defaulted(o, field, "{}");
    } else if (v->kind != PONS__OBJECT) {
        return wrong(o, field, "an object");
    }
    if (!v || v->len == 0) {
        return PONS_OK;
    }
    const int rc = pons__tokens_canonical(o->read->tokens, v, o->arena, ret, o->err);
    if (rc == PONS_EINVAL) { // a path only when there is something to say
        if (o->in_steps) {
            pons_error_context(o->err, "steps[%zu].%s", o->index, o->names[field].text);
        } else {
            pons_error_context(o->err, "%s", o->names[field].text);
        }
    }
    return rc;
}

static int take_id(object *o, int field, int64_t *ret)
{
    const pons__node *v = o->slots[field];
    if (!v) {
        return absent(o, field);
    }
    if (v->kind != PONS__NUMBER || !v->integer) {
        return wrong(o, field, "an integer");
    }
    const bool negative = v->s[0] == '-';
    int64_t id = 0;
    for (uint32_t i = negative; i < v->len; i++) {
        if (__builtin_mul_overflow(id, 10, &id) || __builtin_add_overflow(id, v->s[i] - '0', &id)) {
            return wrong(o, field, "an integer of at most 9223372036854775807");
        }
    }
    if (negative && id > 0) {
        return fault(o, o->names[field].text, o->names[field].len, v,
                     "must not be negative, found -%lld", (long long)id);
    }
    *ret = id;
    return PONS_OK;
}

static int take_time(object *o, int field, double *ret, const char **ret_text)
{
    const pons__node *v = o->slots[field];
    char made[PONS__NUMBER_MAX];
    if (v) {
        if (v->kind != PONS__NUMBER) {
            return wrong(o, field, "a number (Unix time in seconds)");
        }
        const int rc = copy(o, v->s, v->len, ret_text);
        *ret = rc < 0 ? 0 : strtod(*ret_text, NULL);
        return rc;
    }
    int rc = pons__number_text(o->read->from.now_s, o->names[field].text, made, o->err);
    if (rc < 0) {
        return rc;
    }
    if (o->read->flags & PONS__READ_REPORT) {
        pons__tell(o->read, PONS_REPAIR_NEW_TIME, o->node, "%s: absent, now: %s",
                   o->names[field].text, made);
    }
    *ret = o->read->from.now_s;
    return copy(o, made, strlen(made), ret_text);
}

// ---- objects ------------------------------------------------------------------------------------

typedef struct placed_id {
    int64_t id;
    size_t index;
} placed_id;

static int plan_id(object *o, pons_plan *p)
{
    if (!o->slots[PLAN_ID] && o->read->flags & PONS__READ_NEW_ID) {
        char id[PONS__PLAN_ID_MAX];
        pons__plan_id_make(o->read->from.rand, id);
        if (o->read->flags & PONS__READ_REPORT) {
            pons__tell(o->read, PONS_REPAIR_NEW_ID, o->node, "plan_id: absent, a new one: %s", id);
        }
        p->plan_id = pons_pool_text(o->arena, id, strlen(id));
        return p->plan_id ? PONS_OK : pons_error_set(o->err, PONS_ENOMEM, "plan", "out of memory");
    }
    const int rc = take_text(o, PLAN_ID, NULL, &p->plan_id);
    if (rc >= 0 && pons__is_blank(p->plan_id)) {
        return fault(o, "plan_id", 7, o->slots[PLAN_ID], "must not be empty");
    }
    return rc;
}

static int by_id(const void *a, const void *b)
{
    const placed_id *x = a, *y = b;
    if (x->id != y->id) {
        return x->id < y->id ? -1 : 1;
    }
    return (x->index > y->index) - (x->index < y->index);
}

// Finds the first step whose id an earlier one has.
static int check_unique(const object *o, const pons_plan *p, const pons__node *steps)
{
    placed_id *ids = malloc(p->n_steps * sizeof *ids);
    if (!ids) {
        return pons_error_set(o->err, PONS_ENOMEM, "plan", "out of memory");
    }
    for (size_t i = 0; i < p->n_steps; i++) {
        ids[i] = (placed_id){p->steps[i].step_id, i};
    }
    qsort(ids, p->n_steps, sizeof *ids, by_id);
    size_t first = SIZE_MAX;
    for (size_t i = 1; i < p->n_steps; i++) {
        if (ids[i].id == ids[i - 1].id && ids[i].index < first) {
            first = ids[i].index;
        }
    }
    free(ids);
    if (first == SIZE_MAX) {
        return PONS_OK;
    }
    const pons__node *step = steps + 1;
    for (size_t i = 0; i < first; i++) {
        step = &o->read->tokens->nodes[step->next];
    }
    object at = {.read = o->read,
                 .names = step_names,
                 .n = STEP_FIELDS,
                 .noun = "step",
                 .in_steps = true,
                 .index = first,
                 .err = o->err};
    const pons__node *id = pons__tokens_get(o->read->tokens, step, "step_id");
    fault(&at, "step_id", 7, id ? id : step, "%lld already exists, use a unique id",
          (long long)p->steps[first].step_id);
    if (o->err) {
        o->err->status = PONS_EEXIST;
    }
    return PONS_EEXIST;
}

static int read_step(object *o, pons_plan_step *s)
{
    int type = 0, status = 0;
    if (o->node->kind != PONS__OBJECT) {
        return fault(o, NULL, 0, o->node, "expected an object");
    }
    int rc = sort_members(o);
    rc = rc < 0 ? rc : take_id(o, STEP_ID, &s->step_id);
    rc = rc < 0 ? rc : take_text(o, ACTION, NULL, &s->action);
    if (rc >= 0 && pons__is_blank(s->action)) {
        rc = fault(o, "action", 6, o->slots[ACTION], "must not be empty");
    }
    rc = rc < 0 ? rc : take_word(o, TOOL_CALL_TYPE, &pons__tool_words, PONS_TOOL_EXECUTE, &type);
    rc = rc < 0 ? rc : take_object(o, PARAMETERS, &s->parameters);
    rc = rc < 0 ? rc : take_object(o, PRECONDITIONS, &s->preconditions);
    rc = rc < 0 ? rc : take_text_or_null(o, FALLBACK, &s->fallback);
    rc = rc < 0 ? rc : take_word(o, STEP_STATUS, &pons__step_words, PONS_STEP_PENDING, &status);
    rc = rc < 0 ? rc : take_text(o, DESCRIPTION, "", &s->description);
    rc = rc < 0 ? rc : take_bool(o, STEP_CONFIRM, &s->requires_confirmation);
    rc = rc < 0 ? rc : take_text_or_null(o, STEP_MESSAGE, &s->confirmation_message);
    s->tool_call_type = (pons_tool_call_type)type;
    s->status = (pons_step_status)status;
    return rc < 0 ? rc : take_object(o, METADATA, &s->metadata);
}

static int take_steps(object *o, pons_plan *p)
{
    const pons__node *steps = o->slots[STEPS];
    if (!steps) {
        defaulted(o, STEPS, "[]");
        return PONS_OK;
    }
    if (steps->kind != PONS__ARRAY) {
        return wrong(o, STEPS, "an array");
    }
    object step = {.read = o->read,
                   .names = step_names,
                   .n = STEP_FIELDS,
                   .noun = "step",
                   .in_steps = true,
                   .arena = o->arena,
                   .err = o->err};
    bool ascending = true;
    step.node = steps + 1;
    for (uint32_t i = 0; i < steps->len; i++) {
        pons_plan_step *s = &p->steps[i];
        step.index = i;
        const int rc = read_step(&step, s);
        if (rc < 0) {
            return rc;
        }
        p->n_steps++;
        ascending = ascending && s->step_id > p->own->max_id;
        if (s->step_id > p->own->max_id) {
            p->own->max_id = s->step_id;
        }
        step.node = &o->read->tokens->nodes[step.node->next];
    }
    return ascending || !(o->read->flags & PONS__READ_UNIQUE) ? PONS_OK : check_unique(o, p, steps);
}

static int plan_fields(object *o, pons_plan *p)
{
    int risk = 0, status = 0, rc;
    const pons__read *r = o->read;
    if (r->flags & PONS__READ_REPLY) { // what the seed does not take from a reply
        o->slots[STATUS] = o->slots[CREATED_AT] = o->slots[SOURCE] = NULL;
    }
    rc = plan_id(o, p);
    if (!o->slots[GOAL] && r->goal) {
        pons__tell(r, PONS_REPAIR_GOAL, o->node,
                   "goal: absent, the one that was given with the text");
        p->goal = pons_pool_text(o->arena, r->goal, strlen(r->goal));
        rc = rc < 0 || p->goal ? rc : PONS_ENOMEM;
    } else {
        rc = rc < 0 ? rc : take_text(o, GOAL, NULL, &p->goal);
    }
    if (rc >= 0 && pons__is_blank(p->goal)) {
        rc = fault(o, "goal", 4, o->slots[GOAL], "must not be empty");
    }
    rc = rc < 0 ? rc : take_text(o, REASONING, "", &p->reasoning);
    rc = rc < 0 ? rc : take_word(o, RISK_LEVEL, &pons__risk_words, PONS_RISK_LOW, &risk);
    rc = rc < 0 ? rc : take_bool(o, PLAN_CONFIRM, &p->requires_confirmation);
    rc = rc < 0 ? rc : take_text_or_null(o, PLAN_MESSAGE, &p->confirmation_message);
    rc = rc < 0 ? rc : take_steps(o, p);
    rc = rc < 0 ? rc : take_word(o, STATUS, &pons__plan_words, PONS_PLAN_CREATED, &status);
    rc = rc < 0 ? rc : take_time(o, CREATED_AT, &p->created_at, &p->created_at_text);
    rc = rc < 0 ? rc
                : take_text(o, SOURCE, r->flags & PONS__READ_REPLY && r->source ? r->source : "llm",
                            &p->source);
    p->risk_level = (pons_risk_level)risk;
    p->status = (pons_plan_status)status;
    return rc < 0 ? rc : take_object(o, PLAN_METADATA, &p->metadata);
}

int pons__read_plan(const pons__read *r, const pons__node *node, pons_plan **ret, pons_error *err)
{
    object o = {
        .read = r, .node = node, .names = plan_names, .n = PLAN_FIELDS, .noun = "plan", .err = err};
    int rc = sort_members(&o);
    if (rc < 0) {
        return rc;
    }
    const pons__node *steps = o.slots[STEPS];
    pons_plan *p = pons__plan_new(steps && steps->kind == PONS__ARRAY ? steps->len : 0);
    if (!p) {
        return pons_error_set(err, PONS_ENOMEM, "plan", "out of memory");
    }
    o.arena = &p->own->arena;
    rc = plan_fields(&o, p);
    if (rc < 0) {
        pons_plan_destroy(p);
        return rc;
    }
    *ret = p;
    return PONS_OK;
}

// ---- values -------------------------------------------------------------------------------------

// A value as a tape; *text is the caller's to free, also after a failure.
static int tokens_of(const pons_value *v, pons__tokens *tokens, char **text, pons_error *err)
{
    const long len = pons_value_dump(v, text);
    if (len < 0) {
        return pons_error_set(err, (int)len, "plan", "the value cannot be written");
    }
    return pons__tokens_parse(tokens, *text, (size_t)len, err);
}

// Positions are those of a dump, which the caller has never seen.
static int without_source(int rc, pons_error *err)
{
    if (rc < 0 && err) {
        err->source[0] = '\0';
    }
    return rc;
}

static int plan_from(const pons_value *v, const pons__read *like, pons_plan **ret, pons_error *err)
{
    pons__tokens tokens = {0};
    char *text = NULL;
    pons__read r = *like;
    r.tokens = &tokens;
    int rc = tokens_of(v, &tokens, &text, err);
    rc = rc < 0 ? rc : pons__read_plan(&r, tokens.nodes, ret, err);
    pons__tokens_fini(&tokens);
    free(text);
    return without_source(rc, err);
}

int pons_plan_from_value(const pons_value *v, double now_s, pons_plan **ret, pons_error *err)
{
    const pons__read r = {.from = {.now_s = now_s}};
    return plan_from(v, &r, ret, err);
}

int pons_plan_from_llm_response(const pons_value *v, const char *source,
                                const pons_plan_origin *from, pons_plan **ret, pons_error *err)
{
    const pons__read r = {.flags = PONS__READ_NEW_ID | PONS__READ_UNIQUE | PONS__READ_REPLY,
                          .source = source,
                          .from = *from};
    return plan_from(v, &r, ret, err);
}

int pons_plan_step_from_value(const pons_value *v, pons_plan_step **ret, pons_error *err)
{
    pons__tokens tokens = {0};
    char *text = NULL;
    pons_pool *arena = NULL;
    const pons__read r = {.tokens = &tokens};
    int rc = tokens_of(v, &tokens, &text, err);
    pons_plan_step *step = rc < 0 ? NULL : pons__step_new(&arena);
    if (rc >= 0 && !step) {
        rc = pons_error_set(err, PONS_ENOMEM, "plan", "out of memory");
    }
    if (rc >= 0) {
        object o = {.read = &r,
                    .node = tokens.nodes,
                    .names = step_names,
                    .n = STEP_FIELDS,
                    .noun = "step",
                    .arena = arena,
                    .err = err};
        rc = read_step(&o, step);
    }
    if (rc < 0) {
        pons_plan_step_destroy(step);
    } else {
        *ret = step;
    }
    pons__tokens_fini(&tokens);
    free(text);
    return without_source(rc, err);
}

static int read_result(object *o, pons_execution_result *r)
{
    int status = PONS_STEP_FAILED;
    int rc = sort_members(o);
    rc = rc < 0 ? rc : take_text(o, RESULT_PLAN, NULL, &r->plan_id);
    rc = rc < 0 ? rc : take_id(o, RESULT_STEP, &r->step_id);
    rc = rc < 0 ? rc : take_bool(o, SUCCESS, &r->success);
    rc = rc < 0 ? rc : take_word(o, RESULT_STATUS, &pons__step_words, PONS_STEP_FAILED, &status);
    rc = rc < 0 ? rc : take_text(o, MESSAGE, "", &r->message);
    rc = rc < 0 ? rc : take_object(o, OUTPUT, &r->output);
    rc = rc < 0 ? rc : take_time(o, TIMESTAMP, &r->timestamp, &r->timestamp_text);
    r->status = (pons_step_status)status;
    return rc < 0 ? rc : pons__result_check(r, o->err);
}

int pons_execution_result_from_value(const pons_value *v, double now_s, pons_execution_result **ret,
                                     pons_error *err)
{
    pons__tokens tokens = {0};
    char *text = NULL;
    const pons__read read = {.tokens = &tokens, .from = {.now_s = now_s}};
    int rc = tokens_of(v, &tokens, &text, err);
    pons_execution_result *r = rc < 0 ? NULL : pons__result_new();
    if (rc >= 0 && !r) {
        rc = pons_error_set(err, PONS_ENOMEM, "plan", "out of memory");
    }
    if (rc >= 0) {
        object o = {.read = &read,
                    .node = tokens.nodes,
                    .names = result_names,
                    .n = RESULT_FIELDS,
                    .noun = "result",
                    .arena = &r->own->arena,
                    .err = err};
        rc = read_result(&o, r);
    }
    if (rc < 0) {
        pons_execution_result_destroy(r);
    } else {
        *ret = r;
    }
    pons__tokens_fini(&tokens);
    free(text);
    return without_source(rc, err);
}
