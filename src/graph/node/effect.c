// effect.c - the ledger of intended changes of the world.
//
//   INTENDED --+--> DISPATCHED --+--> ACCEPTED --+--> DONE, FAILED, CANCELED, OUTCOME_UNKNOWN
//              |                 |
//              +--> REFUSED      +--> REFUSED, and where ACCEPTED goes
//
// An effect's id is a hash of where it was intended (thread, namespace, run, superstep, node, call,
// attempt), so a node that is run again intends the same effect again and finds it as it is. What
// may repeat and what may not:
//
//   intend    gathers a row for the step's commit; an effect that the store already has (the crash
//             came after its dispatch) keeps its state
//   dispatch  commits DISPATCHED with full sync *before* it calls send, and calls it only when it
//             found INTENDED: so send runs at most once for an id, whatever dies when
//   settle    gathers a row for the step's commit
//
// A task sees its own changes, then what its run has gathered, then the store.
#include "graph/core/faults.h"
#include "graph/engine.h"
#include "graph/node/await.h"
#include "graph/persist/commit.h"
#include "graph/state/effect_life.h"
#include "pons/yes_no.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { ID_BYTES = 16, ID_TEXT_MAX = 1024 };

// ---- finding ------------------------------------------------------------------------------------

typedef struct found {
    pons__change *c;
    int st;
} found;

static int find_row(void *user, const pons_effect_row *row)
{
    found *f = user;
    f->st = pons_value_read(row->data.data, row->data.len, &f->c->data, NULL);
    if (f->st != PONS_OK) {
        return 1;
    }
    snprintf(f->c->id, sizeof f->c->id, "%s", row->id);
    snprintf(f->c->ns, sizeof f->c->ns, "%s", row->ns ? row->ns : "");
    f->c->state = (pons_effect_state)row->state;
    f->c->created = row->created;
    f->c->updated = row->updated;
    return 1;
}

static int find_memory(const pons_thread *t, const char *id, pons__change *ret)
{
    const pons_value *e = json_object_get(t->mem_effects, id);
    if (!e) {
        return PONS_ENOTFOUND;
    }
    snprintf(ret->id, sizeof ret->id, "%s", id);
    snprintf(ret->ns, sizeof ret->ns, "%s", pons_get_str(e, "ns", ""));
    ret->state = (pons_effect_state)pons_get_int(e, "state", 0);
    ret->created = pons_get_int(e, "created", 0);
    ret->updated = pons_get_int(e, "updated", 0);
    ret->data = pons_value_ref(pons_get(e, "data"));
    return PONS_OK;
}

// *ret->data is a new reference.
static int effect_find(pons_cx *cx, const char *id, pons__change *ret, pons_error *err)
{
    for (pons_cx *at = cx; at; at = at->run->parent_task) {
        const pons__change *c = pons__out_change(&at->out, id);
        c = c ? c : pons__out_change(&at->run->out, id);
        if (c) {
            *ret = *c;
            ret->data = pons_value_ref(c->data);
            return PONS_OK;
        }
    }
    pons_thread *t = cx->run->t;
    found f = {.c = ret};
    int st = t->store.ops ? t->store.ops->effect_get(t->store.self, t->id, id, find_row, &f, err)
                          : find_memory(t, id, ret);
    st = st == PONS_OK ? f.st : st;
    if (st == PONS_ENOTFOUND) {
        return pons_error_set(err, st, PONS__MODULE, "thread %s has no effect %s", t->id, id);
    }
    return st;
}

// ---- helpers ------------------------------------------------------------------------------------

static void make_id(pons_cx *cx, int attempt, char ret[40])
{
    static const char hex[] = "0123456789abcdef";
    char text[ID_TEXT_MAX];
    uint8_t digest[32];
    int n = snprintf(text, sizeof text, "%s|%s|%016" PRIx64 "|%lld|%s|%llu|%d", cx->run->t->id,
                     cx->run->ns->name, cx->run->ns->run_id, (long long)(cx->run->ns->step + 1),
                     cx->node->name, (unsigned long long)cx->effect_at++, attempt);
    if (cx->send_ix && (size_t)n < sizeof text) { // sends to one node are tasks of their own
        n += snprintf(text + n, sizeof text - (size_t)n, "|%u", cx->send_ix);
    }
    pons_sha256(text, (size_t)n < sizeof text ? (size_t)n : sizeof text - 1, digest);
    for (size_t i = 0; i < ID_BYTES; i++) {
        ret[2 * i] = hex[digest[i] >> 4];
        ret[2 * i + 1] = hex[digest[i] & 15];
    }
    ret[2 * ID_BYTES] = '\0';
}

// A copy of data with one more member; takes v, which may be NULL.
static pons_value *with(const pons_value *data, const char *key, pons_value *v)
{
    pons_value *copy = json_copy((pons_value *)(uintptr_t)data);
    if (v && (!copy || json_object_set_new(copy, key, v) != 0)) {
        pons_value_unref(copy);
        return NULL;
    }
    return copy;
}

static void show(const pons__change *c, pons_effect *ret)
{
    *ret = (pons_effect){
        .state = c->state,
        .attempt = (int)pons_get_int(c->data, "attempt", 0),
        .skill = pons_get(c->data, "skill"),
        .args = pons_get(c->data, "args"),
        .details = pons_get(c->data, "details"),
        .result = pons_get(c->data, "result"),
        .tag = pons_get(c->data, "tag"),
    };
    snprintf(ret->id, sizeof ret->id, "%s", c->id);
    snprintf(ret->args_hash, sizeof ret->args_hash, "%s", pons_get_str(c->data, "args_hash", ""));
}

// ---- in a node ----------------------------------------------------------------------------------

int pons_effect_intend(pons_cx *cx, const char *skill, pons_value *args, int attempt,
                       pons_value *tag, char ret_id[40], pons_error *err)
{
    pons_autovalue named =
        pons_object_whole("skill", json_string(skill), "args", args ? args : json_object(), NULL);
    pons_autovalue owned_tag = tag;
    pons__change c = {.state = PONS_EFFECT_INTENDED, .fresh = true};
    pons__change known = {0};
    char hash[33];
    if (!named) {
        return pons_error_set(err, PONS_ENOMEM, PONS__MODULE, "no memory for an effect");
    }
    pons_value_hash(named, hash);
    make_id(cx, attempt, c.id);
    pons_error ignored = PONS_ERROR_INIT;
    int st = effect_find(cx, c.id, &known, &ignored);
    if (st == PONS_OK) { // a replay: it keeps what has become of it
        pons_autovalue data = known.data;
        if (strcmp(pons_get_str(data, "args_hash", ""), hash) != 0) {
            return pons_error_set(err, PONS_ENONDETERMINISM, PONS__MODULE,
                                  "effect %s of node '%s' was %s (%s) and is now %s (%s)", c.id,
                                  cx->node->name, pons_get_str(data, "skill", ""),
                                  pons_get_str(data, "args_hash", ""), skill, hash);
        }
        snprintf(ret_id, sizeof c.id, "%s", c.id);
        return PONS_OK;
    }
    if (st != PONS_ENOTFOUND) {
        pons__cx_break(cx, st, &ignored);
        if (err) {
            *err = ignored;
        }
        return st;
    }
    snprintf(c.ns, sizeof c.ns, "%s", cx->run->ns->name);
    c.created = c.updated = pons_wall_ms(&cx->run->t->clock);
    c.data = json_copy(named);
    if (json_object_set_new(c.data, "args_hash", json_string(hash)) != 0 ||
        json_object_set_new(c.data, "attempt", json_integer(attempt)) != 0 ||
        (owned_tag && json_object_set_new(c.data, "tag", pons_value_ref(owned_tag)) != 0)) {
        pons_value_unref(c.data);
        c.data = NULL;
    }
    st = c.data ? pons__out_change_put(&cx->out, &c) : PONS_ENOMEM;
    if (st != PONS_OK) {
        return pons_error_set(err, st, PONS__MODULE, "no memory for an effect");
    }
    snprintf(ret_id, sizeof c.id, "%s", c.id);
    return PONS_OK;
}

static bool forked(const pons_cx *cx)
{
    for (const pons_run *r = cx->run; r; r = r->parent) {
        if (r->ns->forked) {
            return true;
        }
    }
    return false;
}

static bool is_yes(const pons_value *answer)
{
    return json_is_true(answer) || pons_get_bool(answer, "confirm", false) ||
           pons_yes_no_of(json_string_value(answer), NULL, NULL) == PONS_SAID_YES;
}

// A person says whether the past may touch the world again. A refusal makes the effect REFUSED, in
// this step's commit. The question is asked again by a replay, whatever has become of the effect.
static int confirm(pons_cx *cx, pons__change *c, pons_error *err)
{
    pons_value *question =
        pons_object_whole("type", json_string("confirm_effect"), "effect_id", json_string(c->id),
                          "skill", pons_optional(pons_get(c->data, "skill")), "args",
                          pons_optional(pons_get(c->data, "args")), NULL);
    const pons_value *answer = NULL;
    if (!question) {
        return pons_error_set(err, PONS_ENOMEM, PONS__MODULE, "no memory to ask for an effect");
    }
    if (c->state != PONS_EFFECT_INTENDED && !pons__await_expected(cx, PONS__HUMAN, question)) {
        pons_value_unref(question);
        return PONS_OK;
    }
    int st = pons_interrupt(cx, question, &answer, err);
    if (st != PONS_OK || is_yes(answer) || c->state != PONS_EFFECT_INTENDED) {
        return st;
    }
    pons__change no = *c;
    no.data = pons_value_ref(c->data);
    no.state = c->state = PONS_EFFECT_REFUSED;
    no.updated = pons_wall_ms(&cx->run->t->clock);
    st = pons__out_change_put(&cx->out, &no);
    return st == PONS_OK ? st
                         : pons_error_set(err, st, PONS__MODULE, "no memory to refuse an effect");
}

int pons_effect_dispatch(pons_cx *cx, const char *id, pons_value *details, pons_effect_send_fn send,
                         void *user, pons_effect_state *ret_state, pons_error *err)
{
    pons_autovalue owned = details;
    pons__change c = {0};
    int st = effect_find(cx, id, &c, err);
    if (st != PONS_OK) {
        return st;
    }
    pons_autovalue was = c.data;
    if (forked(cx)) {
        st = confirm(cx, &c, err);
        if (st != PONS_OK) {
            return st;
        }
    }
    if (c.state != PONS_EFFECT_INTENDED) {
        if (ret_state) {
            *ret_state = c.state;
        }
        return PONS_OK;
    }
    pons_autovalue data = with(was, "details", pons_value_ref(owned));
    if (!data) {
        return pons_error_set(err, PONS_ENOMEM, PONS__MODULE, "no memory to dispatch an effect");
    }
    c.data = data;
    c.state = PONS_EFFECT_DISPATCHED;
    c.updated = pons_wall_ms(&cx->run->t->clock);
    pons_run *r = cx->run;
    while (!r->durable && r->parent) {
        r = r->parent;
    }
    st = pons__run_commit(r, &(pons__extra){.sync = PONS_SYNC_FULL, .effect = &c}, err);
    if (st != PONS_OK) {
        pons__cx_break(cx, st, err);
        return st;
    }
    for (pons_cx *at = cx; at; at = at->run->parent_task) { // it is in the store now
        pons__out_change_drop(&at->out, id);
        pons__out_change_drop(&at->run->out, id);
    }
    if (ret_state) {
        *ret_state = PONS_EFFECT_INTENDED;
    }
    pons_effect e;
    show(&c, &e);
    return send ? send(user, &e, err) : PONS_OK;
}

int pons_effect_settle(pons_cx *cx, const char *id, pons_effect_state to, pons_value *result,
                       pons_error *err)
{
    pons_autovalue owned = result;
    pons__change c = {0};
    int st = effect_find(cx, id, &c, err);
    if (st != PONS_OK) {
        return st;
    }
    pons_autovalue was = c.data;
    if (to == PONS_EFFECT_DISPATCHED) {
        return pons_error_set(err, PONS_EINVAL, PONS__MODULE,
                              "effect %s becomes dispatched by a dispatch alone", id);
    }
    st = pons__effect_check_move(c.state, to, id, err);
    if (st != PONS_OK) {
        return st;
    }
    c.data = owned ? with(was, "result", pons_value_ref(owned)) : pons_value_ref(was);
    c.state = to;
    c.updated = pons_wall_ms(&cx->run->t->clock);
    st = c.data ? pons__out_change_put(&cx->out, &c) : PONS_ENOMEM;
    return st == PONS_OK ? st
                         : pons_error_set(err, st, PONS__MODULE, "no memory to settle an effect");
}

int pons_effect_get(pons_cx *cx, const char *id, pons_effect *ret, pons_error *err)
{
    pons__change c = {0};
    int st = effect_find(cx, id, &c, err);
    if (st != PONS_OK) {
        return st;
    }
    pons__task_hold(cx, c.data);
    show(&c, ret);
    return PONS_OK;
}
