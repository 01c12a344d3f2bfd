// search.c - items looked for: by namespace, members, words or meaning.
//
//     store -- rows under the prefix, with one of the words, newest first --> filter --> score
//     writes that the store does not have yet stand in the place of its rows --+
//     --> best first --> the page that was asked for, as JSON
//
// Without a score the store's order is the answer's, so a page ends the reading. With one, each row
// that fits is kept (as it lies in the store, not as JSON) until the best are known.
#include "items/item_filter.h"
#include "items/names.h"
#include "items/vectors.h"
#include "pons/growing_list.h"
#include "pons/items.h"

#include <stdlib.h>
#include <string.h>

enum { PAGE = 10 };

typedef struct hit {
    pons_item_row row; // what it points to lies in block, or is the caller's
    char *block;
    double score;
    bool scored;
    size_t place; // in the order in which it was found
} hit;

typedef struct hunt {
    const pons_items *it;
    const pons_items_query *q;
    int64_t now_ms;
    char *words; // of the query; or NULL
    size_t n_words;
    float *vector;         // of the query; or NULL
    int64_t *over_created; // (n_over) created_ms of the rows that writes stand in for
    hit *hits;
    size_t n, cap;
    size_t enough; // rows in the store's order; 0: all are wanted
    int st;
    pons_error *err;
} hunt;

// ---- what is looked for -------------------------------------------------------------------------

static int prepare(hunt *h, pons_error *err)
{
    const pons_items_query *q = h->q;
    const pons_items_options *o = &h->it->opts;
    const bool meaning =
        q->by == PONS_ITEMS_BY_MEANING || (q->by == PONS_ITEMS_BY_BEST && o->embed);
    int st = pons__item_filter_check(q->filter, err);
    if (!st && q->query && meaning) {
        st = o->embed ? pons__item_embed_text(o, q->query, &h->vector, err)
                      : pons_error_set(err, PONS_EUNSUPPORTED, "items",
                                       "a search by meaning needs an embedding function");
    } else if (!st && q->query) {
        st = pons_items_words(q->query, &h->words, err);
    }
    for (const char *w = h->words; w && *w; w += strcspn(w, " "), w += *w == ' ') {
        h->n_words++;
    }
    if (!st && q->n_over) {
        h->over_created = calloc(q->n_over, sizeof *h->over_created);
        st = h->over_created ? PONS_OK
                             : pons_error_set(err, PONS_ENOMEM, "items", "no memory to search");
    }
    const int64_t limit = q->limit ? q->limit : PAGE;
    if (!q->query && !q->n_over && limit > 0) {
        h->enough = (size_t)(q->offset > 0 ? q->offset : 0) + (size_t)limit;
    }
    return st;
}

static bool has_word(const char *have, const char *word, size_t n)
{
    for (const char *h = have; *h; h += strcspn(h, " "), h += *h == ' ') {
        if (strcspn(h, " ") == n && memcmp(h, word, n) == 0) {
            return true;
        }
    }
    return false;
}

// Whether it fits, and how well.
static bool judge(hunt *h, const pons_item_row *row, hit *ret)
{
    *ret = (hit){.row = *row, .place = h->n};
    if (h->words) {
        size_t found = 0;
        for (const char *w = h->words; *w; w += strcspn(w, " "), w += *w == ' ') {
            found += has_word(row->words, w, strcspn(w, " "));
        }
        if (found == 0) {
            return false;
        }
        ret->score = (double)found / (double)h->n_words;
        ret->scored = true;
    } else if (h->vector) {
        ret->scored = pons__item_nearness(h->vector, h->it->opts.dims, row->vectors, &ret->score);
    }
    if (!h->q->filter || json_object_size(h->q->filter) == 0) {
        return true;
    }
    pons_autovalue value = NULL;
    h->st = pons_value_read(row->value.data, row->value.len, &value, NULL);
    if (h->st) {
        pons_error_set(h->err, h->st, "items", "item %.80s in %.80s can't be read", row->key,
                       row->ns);
    }
    return !h->st && pons__item_fits(value, h->q->filter);
}

// ---- what is found ------------------------------------------------------------------------------

static int keep(hunt *h, const hit *found, bool copy)
{
    if (!pons_list_reserve(&h->hits, &h->cap, h->n + 1, sizeof *h->hits)) {
        return pons_error_set(h->err, PONS_ENOMEM, "items", "no memory to search");
    }
    hit *mine = &h->hits[h->n];
    *mine = *found;
    if (copy) {
        const size_t ns = strlen(found->row.ns) + 1, key = strlen(found->row.key) + 1;
        mine->block = malloc(ns + key + found->row.value.len);
        if (!mine->block) {
            return pons_error_set(h->err, PONS_ENOMEM, "items", "no memory to search");
        }
        mine->row.ns = memcpy(mine->block, found->row.ns, ns);
        mine->row.key = memcpy(mine->block + ns, found->row.key, key);
        mine->row.value.data =
            memcpy(mine->block + ns + key, found->row.value.data, found->row.value.len);
    }
    mine->row.words = NULL; // judged
    mine->row.vectors = (pons_bytes){0};
    h->n++;
    return PONS_OK;
}

static int see_row(void *user, const pons_item_row *row)
{
    hunt *h = user;
    hit found;
    if (pons__item_ns_reserved(row->ns)) {
        return 0;
    }
    for (size_t i = 0; i < h->q->n_over; i++) {
        const pons_item_row *over = &h->q->over[i]->row;
        if (strcmp(over->ns, row->ns) == 0 && strcmp(over->key, row->key) == 0) {
            h->over_created[i] = row->created_ms;
            return 0;
        }
    }
    if (judge(h, row, &found)) {
        h->st = keep(h, &found, true);
    }
    return h->st || (h->enough && h->n >= h->enough);
}

static bool is_under(const char *ns, const char *prefix)
{
    const size_t n = prefix ? strlen(prefix) : 0;
    return n == 0 || (strncmp(ns, prefix, n) == 0 && (ns[n] == '\0' || ns[n] == '.'));
}

// The newest write of an item counts.
static bool is_newest(const pons_items_query *q, size_t at)
{
    for (size_t i = at + 1; i < q->n_over; i++) {
        if (strcmp(q->over[i]->row.ns, q->over[at]->row.ns) == 0 &&
            strcmp(q->over[i]->row.key, q->over[at]->row.key) == 0) {
            return false;
        }
    }
    return true;
}

static int add_over(hunt *h)
{
    const pons_items_query *q = h->q;
    for (size_t i = 0; i < q->n_over && !h->st; i++) {
        hit found;
        pons_item_row row = q->over[i]->row;
        row.created_ms = h->over_created[i] ? h->over_created[i] : row.updated_ms;
        if (q->over[i]->what == PONS_ITEM_PUT && is_newest(q, i) && is_under(row.ns, q->prefix) &&
            (!row.expires_ms || row.expires_ms > h->now_ms) && judge(h, &row, &found)) {
            h->st = keep(h, &found, false);
        }
    }
    return h->st;
}

// ---- the page -----------------------------------------------------------------------------------

static int best_first(const void *a, const void *b)
{
    const hit *x = a, *y = b;
    int order = y->scored - x->scored;
    order = order || !x->scored ? order : (x->score < y->score) - (x->score > y->score);
    order = order
                ? order
                : (x->row.updated_ms < y->row.updated_ms) - (x->row.updated_ms > y->row.updated_ms);
    order = order ? order : strcmp(x->row.ns, y->row.ns);
    order = order ? order : strcmp(x->row.key, y->row.key);
    return order ? order : (x->place > y->place) - (x->place < y->place);
}

static int item_of(hunt *h, const hit *found, pons_value **ret, pons_error *err)
{
    int st = pons_items_row_json(&found->row, ret, err);
    if (!st && h->q->query) {
        pons_value *score = found->scored ? json_real(found->score) : json_null();
        st = json_object_set_new(*ret, "score", score) ? PONS_ENOMEM : PONS_OK;
    }
    if (!st && h->it->opts.keep_read && found->row.ttl_ms && found->block) {
        st = pons__item_keep(h->it, *ret, found->row.ttl_ms, h->now_ms, err);
    }
    return st;
}

static int give_page(hunt *h, pons_value **ret, pons_error *err)
{
    const pons_items_query *q = h->q;
    const size_t from = q->offset > 0 ? (size_t)q->offset : 0;
    const int64_t limit = q->limit ? q->limit : PAGE;
    pons_autovalue list = json_array();
    int st = list ? PONS_OK : PONS_ENOMEM;
    if (h->n) {
        qsort(h->hits, h->n, sizeof *h->hits, best_first);
    }
    for (size_t i = from; i < h->n && !st && (limit < 0 || i - from < (size_t)limit); i++) {
        const hit *found = &h->hits[i];
        pons_value *item = NULL;
        st = item_of(h, found, &item, err);
        st = st ? st : json_array_append(list, item) ? PONS_ENOMEM : PONS_OK;
        pons_value_unref(item);
    }
    if (st) {
        return st == PONS_ENOMEM ? pons_error_set(err, st, "items", "no memory to search") : st;
    }
    *ret = pons_value_ref(list);
    return PONS_OK;
}

static void hunt_fini(hunt *h)
{
    for (size_t i = 0; i < h->n; i++) {
        free(h->hits[i].block);
    }
    free(h->hits);
    free(h->words);
    free(h->vector);
    free(h->over_created);
}

// ---- public functions ---------------------------------------------------------------------------

int pons_items_search(const pons_items *it, const pons_items_query *q, pons_value **ret,
                      pons_error *err)
{
    hunt h = {.it = it, .q = q, .now_ms = pons_wall_ms(&it->clock), .err = err};
    if (!it->store.ops || !it->store.ops->items) {
        return pons_error_set(err, PONS_EUNSUPPORTED, "items", "store %s has no items",
                              it->store.ops ? it->store.ops->name : "(none)");
    }
    int st = prepare(&h, err);
    if (!st) {
        const pons_item_find find = {.prefix = q->prefix, .words = h.words, .now_ms = h.now_ms};
        st = it->store.ops->items(it->store.self, &find, see_row, &h, err);
    }
    st = st ? st : h.st;
    st = st ? st : add_over(&h);
    st = st ? st : give_page(&h, ret, err);
    hunt_fini(&h);
    return st;
}
