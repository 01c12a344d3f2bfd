// thread_read.c - reading a thread from outside: any process may, no lease is taken.
#include "graph/engine.h"
#include "graph/state/checkpoint_read.h"
#include "pons/graph.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct history_walk {
    pons_value *list;
    size_t limit;            // 0: none
    const pons_value *newer; // what the row after this one stood on
    size_t reported; // rows from here on wait for the row that names the graphs around their run
    char back[32];   // what was rolled back is skipped, up to this one
    bool rolled;
} history_walk;

// ---- inbox, effects -----------------------------------------------------------------------------

static int need_store(pons_store store, pons_error *err)
{
    return store.ops ? PONS_OK
                     : pons_error_set(err, PONS_EUNSUPPORTED, PONS__MODULE,
                                      "a thread without a store can't be read from outside");
}

int pons_inbox_post(pons_store store, const char *thread, const char *ns, const char *kind,
                    const pons_value *value, pons_error *err)
{
    int st = need_store(store, err);
    if (st != PONS_OK) {
        return st;
    }
    if (!thread || !ns || !kind || !value) {
        return pons_error_set(err, PONS_EINVAL, PONS__MODULE,
                              "a post needs a thread, a namespace, a kind and a value");
    }
    char *text = NULL;
    long n = pons_value_dump(value, &text);
    if (n < 0) {
        return pons_error_set(err, PONS_ENOMEM, PONS__MODULE, "no memory for a post");
    }
    pons_inbox_row row = {.ns = ns, .kind = kind, .value = {text, (size_t)n}};
    int64_t seq;
    st = store.ops->inbox_post(store.self, thread, &row, &seq, err);
    free(text);
    return st;
}

static int effects_row(void *user, const pons_effect_row *row)
{
    pons_value *v = NULL;
    if (pons_value_read(row->data.data, row->data.len, &v, NULL) != PONS_OK) {
        return 0;
    }
    pons_value *e = pons_object_whole(
        "id", json_string(row->id), "ns", json_string(row->ns ? row->ns : ""), "state",
        json_string(pons_effect_state_word((pons_effect_state)row->state)), "created_ms",
        json_integer(row->created), "updated_ms", json_integer(row->updated), NULL);
    if (e) {
        json_object_update_missing(e, v); // skill, args, attempt, args_hash, details, result, tag
    }
    pons_value_unref(v);
    return json_array_append_new(user, e);
}

int pons_effects_read(pons_store store, const char *thread, uint32_t state_mask,
                      pons_value **ret_list, pons_error *err)
{
    int st = need_store(store, err);
    if (st != PONS_OK) {
        return st;
    }
    pons_value *list = json_array();
    st = store.ops->effects(store.self, thread, state_mask, effects_row, list, err);
    if (st != PONS_OK) {
        pons_value_unref(list);
    } else {
        *ret_list = list;
    }
    return st;
}

int pons_state_read(pons_store store, const char *thread, const char *ns, pons_value **ret_state,
                    pons_error *err)
{
    int st = need_store(store, err);
    if (st != PONS_OK) {
        return st;
    }
    pons__image im = {0};
    st = pons__image_head(store, thread, ns, &im, err);
    if (st != PONS_OK) {
        return st;
    }
    *ret_state = pons_value_ref(im.state);
    pons__image_fini(&im);
    return PONS_OK;
}

// ---- history ------------------------------------------------------------------------------------

// A run's row that names it says what it stood on; those after it do not repeat that. Returns
// whether all is told.
static int tell_parents(history_walk *h, const pons_value *data)
{
    const bool input = strcmp(pons_get_str(data, "k", ""), "i") == 0;
    const pons_value *parents = input ? h->newer : pons_get(data, "P");
    if (input || pons_get(data, "r")) { // an input comes just before its run's row
        for (; h->reported < json_array_size(h->list); h->reported++) {
            pons_value *row = json_array_get(h->list, h->reported);
            json_object_set_new(row, "parents", parents ? pons_value_ref(parents) : json_object());
            h->newer = pons_get(row, "parents");
        }
    }
    return h->limit && h->reported >= h->limit;
}

static int history_row(void *user, const pons_checkpoint_row *row)
{
    history_walk *h = user;
    pons_autovalue data = NULL;
    if (pons_value_read(row->data.data, row->data.len, &data, NULL) != PONS_OK) {
        data = json_object();
    }
    if (h->rolled && strcmp(row->id, h->back) != 0) {
        return 0;
    }
    if (h->limit && json_array_size(h->list) >= h->limit) { // only looking for parents
        return tell_parents(h, data);
    }
    const char *source = pons_get_str(data, "k", "l");
    h->rolled = source[0] == 'b';
    snprintf(h->back, sizeof h->back, "%s", row->parent);
    if (h->rolled && !row->parent[0]) {
        return 1; // back to where there was nothing
    }
    pons_value *next = json_array(); // triggered nodes, then sends
    json_array_extend(next, (pons_value *)(uintptr_t)pons_get(data, "n"));
    pons_each(v, pons_get(data, "s")) {
        json_array_append(next, json_array_get(v, 0));
    }
    int bad = json_array_append_new(
        h->list, pons_object_whole("checkpoint_id", json_string(row->id), "parent_id",
                                   row->parent[0] ? json_string(row->parent) : json_null(), "step",
                                   json_integer(row->step), "source",
                                   json_string(pons__source_word(source[0])), "ts_ms",
                                   json_integer(pons__id_ms(row->id)), "next", next, NULL));
    return bad || tell_parents(h, data);
}

int pons_state_history(pons_store store, const char *thread, const char *ns, int64_t limit,
                       bool with_values, pons_value **ret_list, pons_error *err)
{
    int st = need_store(store, err);
    if (st != PONS_OK) {
        return st;
    }
    pons_autovalue list = json_array();
    history_walk walk = {.list = list, .limit = limit > 0 ? (size_t)limit : 0};
    st = store.ops->history(store.self, thread, ns, "", 0, history_row, &walk, err);
    for (; walk.reported < json_array_size(list);
         walk.reported++) { // the input of a first run stands alone
        json_object_set_new(json_array_get(list, walk.reported), "parents", json_object());
    }
    pons_each(row, list) {
        if (!with_values || st != PONS_OK) {
            break;
        }
        pons__image im = {0};
        st = pons__image_at(store, thread, ns, pons_get_str(row, "checkpoint_id", ""), &im, err);
        json_object_set_new(row, "values", pons_value_ref(im.state));
        pons__image_fini(&im);
    }
    if (st == PONS_OK) {
        *ret_list = pons_value_ref(list);
    }
    return st;
}

// ---- threads as a whole -------------------------------------------------------------------------

int pons_state_copy(pons_store store, const char *from, const char *to, pons_error *err)
{
    int st = need_store(store, err);
    if (st != PONS_OK) {
        return st;
    }
    if (!store.ops->thread_copy) {
        return pons_error_set(err, PONS_EUNSUPPORTED, PONS__MODULE, "store %s can't copy a thread",
                              store.ops->name);
    }
    return store.ops->thread_copy(store.self, from, to, err);
}
