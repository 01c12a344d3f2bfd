// checkpoint_read.c - checkpoints read: rows as checkpoint_pack.c writes them, from the nearest snapshot on, into an
// image that knows no graph. Any process may; nothing is written.
#include "graph/state/checkpoint_read.h"

#include "graph/engine.h"
#include "graph/state/list_update.h"
#include "graph/state/value_diff.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FORMAT = 2 }; // the newest that this program reads

void pons__image_fini(pons__image *im)
{
    pons_value_unref(im->state);
    pons_value_unref(im->next);
    pons_value_unref(im->joins);
    pons_value_unref(im->sends);
    pons_value_unref(im->waiting);
    pons_value_unref(im->fired);
    pons_value_unref(im->wrote);
    pons_value_unref(im->parents);
    pons_value_unref(im->metadata);
    pons_value_unref(im->began);
    *im = (pons__image){0};
}

// ---- words --------------------------------------------------------------------------------------

const char *pons__source_word(char source)
{
    switch (source) {
    case 'i':
        return "input";
    case 'u':
        return "update";
    case 'f':
    case 'b': // back to where a run had started
        return "fork";
    default:
        return "loop";
    }
}

int64_t pons__id_ms(const char *id)
{
    static const char digits[] = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
    enum { MS_DIGITS = 10, DIGIT_BITS = 5 }; // 48 bits of ms, in front
    int64_t ms = 0;
    for (int i = 0; i < MS_DIGITS && id[i]; i++) {
        const char *at = strchr(digits, id[i]);
        ms = ms << DIGIT_BITS | (at ? at - digits : 0);
    }
    return ms;
}

static int corrupt(const pons_checkpoint_row *row, pons_error *err, const char *what)
{
    return pons_error_set(err, PONS_ECORRUPT, PONS__MODULE, "checkpoint %s can't be read: %s",
                          row->id, what);
}

// ---- one row ------------------------------------------------------------------------------------

static bool image_tail(pons_value *list, const pons_value *pair)
{
    size_t keep = (size_t)json_integer_value(json_array_get(pair, 0));
    const pons_value *items = json_array_get(pair, 1);
    if (!json_is_array(list) || !json_is_array(items) || keep > json_array_size(list)) {
        return false;
    }
    while (json_array_size(list) > keep) {
        json_array_remove(list, json_array_size(list) - 1);
    }
    return json_array_extend(list, (pons_value *)(uintptr_t)items) == 0;
}

static int image_parts(pons__image *im, const pons_value *row)
{
    pons_each_member(name, v, json_object_get(row, "c")) {
        if (json_object_set(im->state, name, v) != 0) {
            return PONS_ENOMEM;
        }
    }
    pons_each_member(name, v, json_object_get(row, "l")) {
        if (!image_tail(json_object_get(im->state, name), v)) {
            return PONS_ECORRUPT;
        }
    }
    pons_each_member(name, v, json_object_get(row, "m")) {
        pons_value *obj = json_object_get(im->state, name);
        if (!json_is_object(obj) || !pons__object_merge(obj, v, false)) {
            return PONS_ECORRUPT;
        }
    }
    pons_each_member(name, v, json_object_get(row, "p")) {
        pons_value *next = pons__patch_apply(json_object_get(im->state, name), v);
        if (json_object_set_new_nocheck(im->state, name, next) != 0) {
            return PONS_ECORRUPT;
        }
    }
    pons_each(v, json_object_get(row, "x")) {
        json_object_del(im->state, json_string_value(v));
    }
    return PONS_OK;
}

static int apply_row(pons__image *im, const pons_checkpoint_row *row, pons_error *err)
{
    pons_autovalue v = NULL;
    int st = pons_value_read(row->data.data, row->data.len, &v, err);
    if (st != PONS_OK) {
        return corrupt(row, err, "it is not JSON");
    }
    int64_t format = pons_get_int(v, "v", 0);
    if (format > FORMAT) {
        return pons_error_set(err, PONS_EUNSUPPORTED, PONS__MODULE,
                              "checkpoint %s has format %lld, this program reads up to %d", row->id,
                              (long long)format, FORMAT);
    }
    if (row->snapshot) {
        pons__image_fini(im);
        im->state = json_object();
    } else if (!im->found) {
        return corrupt(row, err, "its snapshot is missing");
    }
    pons_value_unref(im->next);
    pons_value_unref(im->joins);
    pons_value_unref(im->sends);
    pons_value_unref(im->waiting);
    pons_value_unref(im->fired);
    pons_value_unref(im->wrote);
    im->fired = pons_value_ref(pons_get(v, "t"));
    im->wrote = pons_value_ref(pons_get(v, "a"));
    im->next = pons_value_ref(pons_get(v, "n"));
    im->sends = pons_value_ref(pons_get(v, "s"));
    im->waiting = pons_value_ref(pons_get(v, "d"));
    im->joins = pons_value_ref(pons_get(v, "j"));
    st = image_parts(im, v);
    if (st != PONS_OK) {
        return corrupt(row, err, "a part of it does not fit");
    }
    const char *run = pons_get_str(v, "r", NULL);
    if (run) {
        im->run_id = strtoull(run, NULL, 16);
        im->forked = pons_get_bool(v, "F", false);
        pons_value_unref(im->parents);
        im->parents = pons_value_ref(pons_get(v, "P"));
        pons_value_unref(im->metadata);
        im->metadata = pons_value_ref(pons_get(v, "M"));
        pons_value_unref(im->began);
        im->began = pons_value_ref(pons_get(v, "B"));
        snprintf(im->owner, sizeof im->owner, "%s", pons_get_str(v, "o", ""));
    }
    im->source = pons_get_str(v, "k", "l")[0];
    im->step = row->step;
    snprintf(im->id, sizeof im->id, "%s", row->id);
    snprintf(im->parent, sizeof im->parent, "%s", row->parent);
    im->snapshot_bytes = row->snapshot ? row->data.len : im->snapshot_bytes;
    im->tail_bytes = row->snapshot ? 0 : im->tail_bytes + row->data.len;
    im->tail_rows = row->snapshot ? 0 : im->tail_rows + 1;
    im->found = true;
    return PONS_OK;
}

// ---- reading ------------------------------------------------------------------------------------

typedef struct read_state {
    pons__image *im;
    pons_error *err;
    int st;
} read_state;

static int read_row(void *user, const pons_checkpoint_row *row)
{
    read_state *r = user;
    r->st = apply_row(r->im, row, r->err);
    return r->st;
}

int pons__image_head(pons_store store, const char *thread, const char *ns, pons__image *ret,
                     pons_error *err)
{
    read_state r = {.im = ret, .err = err};
    int st = store.ops->head(store.self, thread, ns, read_row, &r, err);
    if (st == PONS_OK) {
        st = r.st;
    }
    if (st == PONS_OK && !ret->found) {
        st = pons_error_set(err, PONS_ENOTFOUND, PONS__MODULE,
                            "thread %s has no checkpoint in namespace '%s'", thread, ns);
    }
    if (st != PONS_OK) {
        pons__image_fini(ret);
    }
    return st;
}

int pons__image_at(pons_store store, const char *thread, const char *ns, const char *id,
                   pons__image *ret, pons_error *err)
{
    read_state r = {.im = ret, .err = err};
    int st = store.ops->checkpoint(store.self, thread, ns, id, read_row, &r, err);
    if (st == PONS_OK) {
        st = r.st;
    }
    if (st != PONS_OK) {
        pons__image_fini(ret);
    }
    return st;
}
