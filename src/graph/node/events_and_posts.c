// events_and_posts.c - events and posts of a node, and its inbox. They go with the step's commit: an inbox
// message is consumed by the step that saw it.
#include "graph/core/faults.h"
#include "graph/engine.h"

#include <string.h>

int pons_cx_emit(pons_cx *cx, const char *type, pons_value *payload)
{
    pons_error e = PONS_ERROR_INIT;
    int st = PONS_OK;
    if (!type || !type[0]) {
        st = pons_error_set(&e, PONS_EINVAL, PONS__MODULE,
                            "node '%s' emits an event without a type", cx->node->name);
    } else if (!pons_value_fits(payload)) {
        st = pons__too_deep(cx, "emits", &e);
    }
    if (st != PONS_OK) {
        pons_value_unref(payload);
    } else {
        st = pons__out_emit(&cx->out, type, payload, pons_wall_ms(&cx->run->t->clock));
    }
    if (st != PONS_OK) {
        pons__cx_fault(cx, st, &e);
    }
    return st;
}

int pons_cx_post(pons_cx *cx, const char *ns, const char *kind, pons_value *value)
{
    pons_error e = PONS_ERROR_INIT;
    int st = PONS_OK;
    if (!pons_value_fits(value)) {
        pons_value_unref(value);
        st = pons__too_deep(cx, "posts", &e);
    } else {
        st = pons__out_post(&cx->out, ns, kind, value);
    }
    if (st != PONS_OK) {
        pons__cx_fault(cx, st, &e);
    }
    return st;
}

// ---- inbox --------------------------------------------------------------------------------------

typedef struct inbox_read {
    pons_value *list;
    int64_t bound; // the newest that may be taken; INT64_MAX: all
    int st;
} inbox_read;

static int inbox_row(void *user, const pons_inbox_row *row)
{
    inbox_read *r = user;
    if (row->seq > r->bound) {
        return 1;
    }
    pons_value *v = NULL;
    r->st = pons_value_read(row->value.data, row->value.len, &v, NULL);
    if (r->st == PONS_OK &&
        json_array_append_new(r->list, json_pack("{sIssso}", "seq", (json_int_t)row->seq, "kind",
                                                 row->kind, "value", v)) != 0) {
        r->st = PONS_ENOMEM;
    }
    return r->st;
}

static void inbox_memory(const pons_thread *t, const pons__ns *ns, inbox_read *r)
{
    pons_each(m, t->mem_inbox) {
        int64_t seq = pons_get_int(m, "seq", 0);
        if (strcmp(pons_get_str(m, "ns", ""), ns->name) == 0 && seq > ns->inbox_after &&
            seq <= r->bound) {
            json_array_append(r->list, m);
        }
    }
}

const pons_value *pons_cx_inbox(pons_cx *cx, pons_error *err)
{
    if (cx->inbox) {
        return cx->inbox;
    }
    pons_thread *t = cx->run->t;
    pons__ns *ns = cx->run->ns;
    int st = PONS_OK;
    inbox_read r = {.list = json_array(), .bound = cx->inbox_fixed ? cx->inbox_bound : INT64_MAX};
    if (!t->store.ops) {
        inbox_memory(t, ns, &r);
    } else {
        st = t->store.ops->inbox_read(t->store.self, t->id, ns->name, ns->inbox_after, inbox_row,
                                      &r, err);
    }
    st = st == PONS_OK ? r.st : st;
    if (st != PONS_OK || !r.list) {
        pons_value_unref(r.list);
        pons__cx_break(cx, st, err);
        return NULL;
    }
    size_t n = json_array_size(r.list);
    if (!cx->inbox_fixed) {
        cx->inbox_bound =
            n > 0 ? pons_get_int(json_array_get(r.list, n - 1), "seq", 0) : ns->inbox_after;
    }
    cx->inbox_fixed = true;
    cx->inbox = r.list;
    return r.list;
}
