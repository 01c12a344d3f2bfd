// state.c - reading a thread from outside: any process may, no lease is taken.
#include "graph/graph_internal.h"

#include <stdio.h>
#include <stdlib.h>

static int need_store(pons_store store, pons_error *err);

int pons_state_read(pons_store store, const char *thread, const char *ns, pons_value **ret_state,
                    pons_error *err)
{
    int st = need_store(store, err);
    if (st != PONS_OK)
        return st;
    pons__image im = {0};
    st = pons__image_head(store, thread, ns, &im, err);
    if (st != PONS_OK)
        return st;
    *ret_state = pons_value_ref(im.state);
    pons__image_fini(&im);
    return PONS_OK;
}

// ---------------------------------------------------------------- history

typedef struct history_walk {
    pons_value *list;
    size_t limit;            // 0: none
    const pons_value *newer; // what the row after this one stood on
    size_t told;   // rows from here on wait for the row that names the graphs around their run
    char back[32]; // what was rolled back is skipped, up to this one
    bool rolled;
} history_walk;

static int tell_parents(history_walk *h, const pons_value *data);

static int history_row(void *user, const pons_checkpoint_row *row)
{
    history_walk *h = user;
    pons_autovalue data = NULL;
    if (pons_value_parse(row->data.data, row->data.len, &data, NULL) != PONS_OK)
        data = json_object();
    if (h->rolled && strcmp(row->id, h->back) != 0)
        return 0;
    if (h->limit && json_array_size(h->list) >= h->limit) // only looking for parents
        return tell_parents(h, data);
    const char *source = pons_get_str(data, "k", "l");
    h->rolled = source[0] == 'b';
    snprintf(h->back, sizeof h->back, "%s", row->parent);
    if (h->rolled && !row->parent[0])
        return 1;                    // back to where there was nothing
    pons_value *next = json_array(); // triggered nodes, then sends
    size_t i;
    pons_value *v;
    json_array_extend(next, (pons_value *)(uintptr_t)pons_get(data, "n"));
    json_array_foreach(pons_get(data, "s"), i, v)
    {
        json_array_append(next, json_array_get(v, 0));
    }
    int bad = json_array_append_new(
        h->list,
        pons_object("checkpoint_id", json_string(row->id), "parent_id",
                    row->parent[0] ? json_string(row->parent) : json_null(), "step",
                    json_integer(row->step), "source", json_string(pons__source_word(source[0])),
                    "ts_ms", json_integer(pons__id_ms(row->id)), "next", next, NULL));
    return bad || tell_parents(h, data);
}

// A run's row that names it says what it stood on; those after it do not repeat that. Returns
// whether all is told.
static int tell_parents(history_walk *h, const pons_value *data)
{
    const bool input = strcmp(pons_get_str(data, "k", ""), "i") == 0;
    const pons_value *parents = input ? h->newer : pons_get(data, "P");
    if (input || pons_get(data, "r")) { // an input comes just before its run's row
        for (; h->told < json_array_size(h->list); h->told++) {
            pons_value *row = json_array_get(h->list, h->told);
            json_object_set_new(row, "parents", parents ? pons_value_ref(parents) : json_object());
            h->newer = pons_get(row, "parents");
        }
    }
    return h->limit && h->told >= h->limit;
}

int pons_state_history(pons_store store, const char *thread, const char *ns, int64_t limit,
                       bool with_values, pons_value **ret_list, pons_error *err)
{
    int st = need_store(store, err);
    if (st != PONS_OK)
        return st;
    pons_autovalue list = json_array();
    history_walk walk = {.list = list, .limit = limit > 0 ? (size_t)limit : 0};
    st = store.ops->history(store.self, thread, ns, "", 0, history_row, &walk, err);
    size_t i;
    pons_value *row;
    for (; walk.told < json_array_size(list); walk.told++) // the input of a first run stands alone
        json_object_set_new(json_array_get(list, walk.told), "parents", json_object());
    json_array_foreach(list, i, row)
    {
        if (!with_values || st != PONS_OK)
            break;
        pons__image im = {0};
        st = pons__image_at(store, thread, ns, pons_get_str(row, "checkpoint_id", ""), &im, err);
        json_object_set_new(row, "values", pons_value_ref(im.state));
        pons__image_fini(&im);
    }
    if (st == PONS_OK)
        *ret_list = pons_value_ref(list);
    return st;
}

// ---------------------------------------------------------------- threads as a whole

int pons_state_copy(pons_store store, const char *from, const char *to, pons_error *err)
{
    int st = need_store(store, err);
    if (st != PONS_OK)
        return st;
    if (!store.ops->thread_copy)
        return pons_error_set(err, PONS_EUNSUPPORTED, PONS__MODULE, "store %s can't copy a thread",
                              store.ops->name);
    return store.ops->thread_copy(store.self, from, to, err);
}

typedef struct sweep { // namespaces of subgraphs that nobody can come back to
    pons_store store;
    const char *thread;
    pons_thread *holder; // or NULL
    const pons_prune *what;
    pons_value *names;
    int st;
} sweep;

static int sweep_name(void *user, const char *ns)
{
    sweep *s = user;
    if (!strchr(ns, ':')) // only those have a subgraph that is fresh for each task above them
        return 0;
    if (json_array_append_new(s->names, json_string(ns)) == 0)
        return 0;
    s->st = PONS_ENOMEM;
    return 1;
}

static int by_length(const void *a, const void *b)
{
    const size_t x = strlen(*(const char *const *)a), y = strlen(*(const char *const *)b);
    return (x > y) - (x < y);
}

typedef struct id_search {
    const char *id;
    bool found;
} id_search;

static int is_id(void *user, const pons_checkpoint_row *row)
{
    id_search *s = user;
    s->found = !s->id || strcmp(row->id, s->id) == 0;
    return s->found;
}

// A fresh one belongs to the checkpoint above it that its task ran from: it stays with one that a
// rule keeps, not with one that others are only read from, since a fork of that runs it anew. One
// that keeps its state belongs to the namespace above it.
static int is_dead(const sweep *s, const char *ns, bool *ret, pons_error *err)
{
    const char *bar = strrchr(ns, '|');
    char above[PONS_NAME_MAX];
    snprintf(above, sizeof above, "%.*s", bar ? (int)(bar - ns) : 0, ns);
    *ret = false;
    for (pons__ns *n = s->holder ? s->holder->namespaces : NULL; n; n = n->next_ns)
        if (n->active && strcmp(n->name, ns) == 0)
            return PONS_OK;
    const bool fresh = strchr(bar ? bar : ns, ':') != NULL;
    pons__image im = {0};
    int st = fresh ? pons__image_head(s->store, s->thread, ns, &im, err) : PONS_OK;
    id_search look = {.id = fresh ? pons_get_str(im.parents, above, NULL) : NULL};
    const int64_t since = s->what->keep_since_ms;
    const bool known = !fresh || look.id;
    const bool recent = look.id && since && pons__id_ms(look.id) >= since;
    if (st == PONS_OK && known && !recent)
        st = s->store.ops->history(s->store.self, s->thread, above, "",
                                   s->what->keep_last > 1 ? s->what->keep_last : 1, is_id, &look,
                                   err);
    pons__image_fini(&im);
    *ret = st == PONS_OK && known && !recent && !look.found;
    return st;
}

static int sweep_all(sweep *s, const pons_lease *lease, pons_prune_result *sum, pons_error *err)
{
    int st = s->store.ops->namespaces(s->store.self, s->thread, sweep_name, s, err);
    if (s->st != PONS_OK)
        st = pons_error_set(err, s->st, PONS__MODULE, "no memory to prune thread %s", s->thread);
    bool swept = false;
    const size_t n = json_array_size(s->names);
    const char **names = st == PONS_OK && n ? malloc(n * sizeof *names) : NULL;
    if (st == PONS_OK && n && !names)
        st = pons_error_set(err, PONS_ENOMEM, PONS__MODULE, "no memory to prune thread %s",
                            s->thread);
    for (size_t i = 0; names && i < n; i++)
        names[i] = json_string_value(json_array_get(s->names, i));
    if (names)
        qsort(names, n, sizeof *names, by_length); // what is above comes first
    for (size_t i = 0; names && i < n && st == PONS_OK; i++) {
        bool dead = false;
        st = is_dead(s, names[i], &dead, err);
        if (st != PONS_OK || !dead)
            continue;
        pons_prune_result one = {0};
        st = s->store.ops->prune(
            s->store.self, s->thread,
            &(pons_prune){.lease = lease, .ns = names[i], .keep_last = -1, .more = true}, &one,
            err);
        sum->checkpoints += one.checkpoints;
        swept = true;
    }
    free(names);
    if (st == PONS_OK && swept) { // gives the space back
        pons_prune_result rest = {0};
        pons_prune again = *s->what;
        again.lease = lease;
        st = s->store.ops->prune(s->store.self, s->thread, &again, &rest, err);
        sum->checkpoints += rest.checkpoints;
        sum->bytes_after = rest.bytes_after;
    }
    return st;
}

static int prune(pons_store store, const char *thread, pons_thread *holder, const pons_prune *what,
                 pons_prune_result *ret, pons_error *err)
{
    int st = need_store(store, err);
    if (st != PONS_OK)
        return st;
    if (!store.ops->prune)
        return pons_error_set(err, PONS_EUNSUPPORTED, PONS__MODULE, "store %s can't prune",
                              store.ops->name);
    if (what->keep_last < 0)
        return pons_error_set(err, PONS_EINVAL, PONS__MODULE,
                              "a thread keeps at least one checkpoint");
    pons_prune_result sum = {0};
    st = store.ops->prune(store.self, thread, what, &sum, err);
    if (st != PONS_OK || (!what->keep_last && !what->keep_since_ms)) {
        if (st == PONS_OK && ret)
            *ret = sum;
        return st;
    }
    sweep s = {
        .store = store, .thread = thread, .holder = holder, .what = what, .names = json_array()};
    pons_lease lease = {0};
    if (!s.names)
        return pons_error_set(err, PONS_ENOMEM, PONS__MODULE, "no memory to prune thread %s",
                              thread);
    if (what->lease)
        st = sweep_all(&s, what->lease, &sum, err);
    else
        st = store.ops->lease_acquire(store.self, thread, &lease, err);
    if (!what->lease && st == PONS_OK) {
        st = sweep_all(&s, &lease, &sum, err);
        store.ops->lease_release(store.self, &lease);
    } else if (!what->lease && st == PONS_EBUSY) { // just taken: the rest goes another time
        st = PONS_OK;
        if (err)
            *err = (pons_error)PONS_ERROR_INIT;
    }
    pons_value_unref(s.names);
    if (st == PONS_OK && ret)
        *ret = sum;
    return st;
}

int pons_state_prune_as(pons_store store, const char *thread, const pons_prune *what,
                        pons_prune_result *ret, pons_error *err)
{
    if (what->ns || what->lease)
        return pons_error_set(err, PONS_EINVAL, PONS__MODULE,
                              "a whole thread is pruned, which nobody holds");
    return prune(store, thread, NULL, what, ret, err);
}

int pons_state_prune(pons_store store, const char *thread, int64_t keep_last, int64_t keep_since_ms,
                     int64_t *ret_removed, pons_error *err)
{
    pons_prune_result r = {0};
    int st = prune(store, thread, NULL,
                   &(pons_prune){.keep_last = keep_last, .keep_since_ms = keep_since_ms}, &r, err);
    if (st == PONS_OK && ret_removed)
        *ret_removed = r.checkpoints;
    return st;
}

int pons_thread_prune(pons_thread *t, int64_t keep_last, int64_t keep_since_ms,
                      int64_t *ret_removed, pons_error *err)
{
    int st = t->store.ops ? pons__thread_flush(t, err) : PONS_OK;
    if (st != PONS_OK)
        return st;
    pons_prune_result r = {0};
    st = prune(
        t->store, t->id, t,
        &(pons_prune){.lease = &t->lease, .keep_last = keep_last, .keep_since_ms = keep_since_ms},
        &r, err);
    if (st == PONS_OK && ret_removed)
        *ret_removed = r.checkpoints;
    return st;
}

// ---------------------------------------------------------------- inbox, effects

int pons_inbox_post(pons_store store, const char *thread, const char *ns, const char *kind,
                    const pons_value *value, pons_error *err)
{
    int st = need_store(store, err);
    if (st != PONS_OK)
        return st;
    if (!thread || !ns || !kind || !value)
        return pons_error_set(err, PONS_EINVAL, PONS__MODULE,
                              "a post needs a thread, a namespace, a kind and a value");
    char *text = NULL;
    long n = pons_value_dump(value, &text);
    if (n < 0)
        return pons_error_set(err, PONS_ENOMEM, PONS__MODULE, "no memory for a post");
    pons_inbox_row row = {.ns = ns, .kind = kind, .value = {text, (size_t)n}};
    int64_t seq;
    st = store.ops->inbox_post(store.self, thread, &row, &seq, err);
    free(text);
    return st;
}

static int effects_row(void *user, const pons_effect_row *row)
{
    pons_value *v = NULL;
    if (pons_value_parse(row->data.data, row->data.len, &v, NULL) != PONS_OK)
        return 0;
    pons_value *e = pons_object(
        "id", json_string(row->id), "ns", json_string(row->ns ? row->ns : ""), "state",
        json_string(pons_effect_state_word((pons_effect_state)row->state)), "created_ms",
        json_integer(row->created), "updated_ms", json_integer(row->updated), NULL);
    if (e)
        json_object_update_missing(e, v); // skill, args, attempt, args_hash, details, result, tag
    pons_value_unref(v);
    return json_array_append_new(user, e);
}

int pons_effects_read(pons_store store, const char *thread, uint32_t state_mask,
                      pons_value **ret_list, pons_error *err)
{
    int st = need_store(store, err);
    if (st != PONS_OK)
        return st;
    pons_value *list = json_array();
    st = store.ops->effects(store.self, thread, state_mask, effects_row, list, err);
    if (st != PONS_OK)
        pons_value_unref(list);
    else
        *ret_list = list;
    return st;
}

static int need_store(pons_store store, pons_error *err)
{
    return store.ops ? PONS_OK
                     : pons_error_set(err, PONS_EUNSUPPORTED, PONS__MODULE,
                                      "a thread without a store can't be read from outside");
}
