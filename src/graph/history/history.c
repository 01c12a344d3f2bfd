// history.c - the checkpoints of a namespace, newest first, from a place on, by what is known of their
// runs.
//
// Rows do not repeat what their run is: the row that began it says it, and comes after them here; an
// input's row comes after that and is the run's, too. So rows wait until they are told:
//
//   row row row(run R) input | row row(run Q) input | ...
//   \__ wait __/ told   told
#include "graph/engine.h"
#include "graph/history/snapshot.h"
#include "pons/growing_list.h"
#include "pons/items.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct waiting { // a row that is not told yet
    char id[32];
    int64_t step;
    char source;
} waiting;

typedef struct walk {
    const pons_history_query *q;
    pons_value *found; // ids that fit, newest first
    waiting *rows;
    size_t n, cap;
    pons__image newer; // of which only the run counts: that of the rows just told
    char back[32];     // what was rolled back is skipped, up to this one
    bool rolled;
    int st;
} walk;

static bool is_enough(const walk *w)
{
    return w->q->limit > 0 && json_array_size(w->found) >= (size_t)w->q->limit;
}

// Rows that wait belong to the run of `newer`: those that fit are found.
static int tell(walk *w)
{
    for (size_t i = 0; i < w->n && !is_enough(w); i++) {
        w->newer.source = w->rows[i].source;
        w->newer.step = w->rows[i].step;
        pons_autovalue metadata = w->q->filter ? pons__metadata_of(&w->newer) : NULL;
        if (w->q->filter && !metadata) {
            return w->st = PONS_ENOMEM;
        }
        if ((!w->q->filter || pons_items_fits(metadata, w->q->filter)) &&
            json_array_append_new(w->found, json_string(w->rows[i].id))) {
            return w->st = PONS_ENOMEM;
        }
    }
    w->n = 0;
    return PONS_OK;
}

static int wait_for_run(walk *w, const pons_checkpoint_row *row, char source)
{
    if (!pons_list_reserve(&w->rows, &w->cap, w->n + 1, sizeof *w->rows)) {
        return w->st = PONS_ENOMEM;
    }
    waiting *mine = &w->rows[w->n++];
    *mine = (waiting){.step = row->step, .source = source};
    snprintf(mine->id, sizeof mine->id, "%s", row->id);
    return PONS_OK;
}

static int see_row(void *user, const pons_checkpoint_row *row)
{
    walk *w = user;
    pons_autovalue data = NULL;
    if (pons_value_read(row->data.data, row->data.len, &data, NULL) != PONS_OK) {
        return 0; // a snapshot of it says what is wrong; here it tells nothing
    }
    if (w->rolled && strcmp(row->id, w->back) != 0) {
        return 0;
    }
    const char source = pons_get_str(data, "k", "l")[0];
    w->rolled = source == 'b';
    snprintf(w->back, sizeof w->back, "%s", row->parent);
    if (w->rolled && !row->parent[0]) {
        return 1; // back to where there was nothing
    }
    if (wait_for_run(w, row, source)) {
        return 1;
    }
    if (pons_get(data, "r")) {
        pons_value_unref(w->newer.parents);
        pons_value_unref(w->newer.metadata);
        w->newer.parents = pons_value_ref(pons_get(data, "P"));
        w->newer.metadata = pons_value_ref(pons_get(data, "M"));
        w->newer.run_id = strtoull(pons_get_str(data, "r", "0"), NULL, 16);
    }
    if (pons_get(data, "r") || source == 'i') {
        tell(w);
    }
    return w->st || is_enough(w);
}

int pons_state_history_find(pons_store store, const char *thread, const char *ns,
                            const pons_history_query *q, pons_value **ret, pons_error *err)
{
    if (!store.ops) {
        return pons_error_set(err, PONS_EUNSUPPORTED, PONS__MODULE,
                              "a thread without a store can't be read from outside");
    }
    const char *before = q->before ? q->before : "";
    walk w = {.q = q, .found = json_array()};
    pons_autovalue list = json_array();
    pons_autovalue spaces = NULL;
    int st = w.found && list ? PONS_OK : PONS_ENOMEM;
    if (st == PONS_OK && before[0]) { // the run of what is newer, and whether that went back
        st = pons__image_at(store, thread, ns, before, &w.newer, err);
        w.rolled = w.newer.source == 'b';
        snprintf(w.back, sizeof w.back, "%s", w.newer.parent);
    }
    if (st == PONS_OK && !(w.rolled && !w.back[0])) {
        st = store.ops->history(store.self, thread, ns, before, 0, see_row, &w, err);
    }
    st = st ? st : w.st;
    st = st ? st : tell(&w); // the input of a first run stands alone
    st = st ? st : pons__look_open(store, thread, &spaces, err);
    pons_each(id, w.found) {
        pons_value *one = NULL;
        st = st ? st
                : pons__look(store, thread, spaces, ns, json_string_value(id), q->bare, &one, err);
        st = st ? st : json_array_append_new(list, one) ? PONS_ENOMEM : PONS_OK;
    }
    pons_value_unref(w.found);
    pons__image_fini(&w.newer);
    free(w.rows);
    if (st == PONS_ENOMEM) {
        return pons_error_set(err, st, PONS__MODULE, "no memory for the history of thread %s",
                              thread);
    }
    if (st == PONS_OK) {
        *ret = pons_value_ref(list);
    }
    return st;
}
