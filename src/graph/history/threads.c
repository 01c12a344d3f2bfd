// threads.c - threads as a whole, from outside: what is known of them, how they stand, and looking for
// them by either.
//
// A thread's metadata is a note of the store's, written without the lease: {"m": {...}}. How it stands
// is read from the heads of its namespaces (those of subgraphs are in their parents' tasks) and from
// who holds it:
//
//   busy         somebody holds it, and something is to be done that no person has to answer
//   error        a task has failed
//   interrupted  something is to be done: people have to answer, or it was left as it is
//   idle         nothing is
#include "graph/engine.h"
#include "graph/history/snapshot.h"
#include "pons/items.h"

#include <stdlib.h>
#include <string.h>

enum { PAGE = 10, CHANGES_TRIED = 100 };

typedef enum standing { IDLE, INTERRUPTED, FAILED, BUSY } standing; // the greatest counts
static const char *const standing_words[] = {"idle", "interrupted", "error", "busy"};

typedef struct finder {
    pons_store store;
    const pons_threads_query *q;
    pons_value *rows; // [{thread_id, created_ms, updated_ms, metadata, held}]
    pons_error *err;
    int st;
} finder;

// ---- the page -----------------------------------------------------------------------------------

typedef struct placed {
    pons_value *row;
    pons_threads_by by;
    bool down;
    size_t at;
} placed;

static int by_order(const void *a, const void *b)
{
    const placed *x = a, *y = b;
    static const char *const members[] = {"created_ms", "updated_ms", "thread_id", "status"};
    const pons_value *v = pons_get(x->row, members[x->by]), *w = pons_get(y->row, members[x->by]);
    int order = json_is_string(v)
                    ? strcmp(json_string_value(v), json_string_value(w) ? json_string_value(w) : "")
                    : (json_integer_value(v) > json_integer_value(w)) -
                          (json_integer_value(v) < json_integer_value(w));
    order = x->down ? -order : order;
    return order ? order : (x->at > y->at) - (x->at < y->at);
}

// Whether a row, described, is wanted.
static bool is_wanted(const finder *f, const pons_value *row)
{
    const pons_threads_query *q = f->q;
    return (!q->status || strcmp(q->status, pons_get_str(row, "status", "")) == 0) &&
           (!q->values || (json_is_object(pons_get(row, "values")) &&
                           pons_items_fits(pons_get(row, "values"), q->values)));
}

static standing standing_of(const pons_value *snapshot, bool held)
{
    standing s = json_array_size(pons_get(snapshot, "next")) ? INTERRUPTED : IDLE;
    pons_each(task, pons_get(snapshot, "tasks")) {
        const bool done = !json_is_null(pons_get(task, "result"));
        const bool failed = !json_is_null(pons_get(task, "error"));
        const bool asks = json_array_size(pons_get(task, "interrupts")) > 0;
        if (failed && s < FAILED) {
            s = FAILED;
        }
        if (held && !done && !failed && !asks) {
            s = BUSY;
        }
    }
    return s;
}

static int no_memory(pons_error *err)
{
    return pons_error_set(err, PONS_ENOMEM, PONS__MODULE, "no memory to look for threads");
}

// Adds to a row how the thread stands: {status, values, interrupts: {task: [...]}}.
static int describe(finder *f, pons_value *row)
{
    const char *thread = pons_get_str(row, "thread_id", ""), *name;
    const bool held = pons_get_int(row, "holder_pid", 0) != 0;
    pons_autovalue spaces = NULL;
    pons_autovalue values = NULL;
    pons_autovalue asked = json_object();
    standing s = IDLE;
    size_t looked = 0;
    int st = pons__look_open(f->store, thread, &spaces, f->err);
    pons_each(space, spaces) {
        pons_autovalue look = NULL;
        name = json_string_value(space);
        const bool wanted = f->q->ns ? strcmp(name, f->q->ns) == 0 : !strpbrk(name, "|:");
        if (st || !wanted) {
            continue;
        }
        st = pons__look(f->store, thread, spaces, name, NULL, false, &look, f->err);
        if (st == PONS_ENOTFOUND) { // gone meanwhile
            st = PONS_OK;
            continue;
        }
        const standing mine = standing_of(look, held);
        s = mine > s ? mine : s;
        pons_each(task, pons_get(look, "tasks")) {
            if (json_array_size(pons_get(task, "interrupts"))) {
                json_object_set(asked, pons_get_str(task, "id", ""),
                                (pons_value *)(uintptr_t)pons_get(task, "interrupts"));
            }
        }
        if (pons_get_int(look, "ts_ms", 0) > pons_get_int(row, "updated_ms", 0)) {
            json_object_set(row, "updated_ms", (pons_value *)(uintptr_t)pons_get(look, "ts_ms"));
        }
        pons_value_unref(values); // of several there is none that is the thread's
        values = looked++ ? NULL : pons_value_ref(pons_get(look, "values"));
    }
    json_object_del(row, "holder_pid");
    if (st || !asked || json_object_set_new(row, "status", json_string(standing_words[s])) ||
        json_object_set_new(row, "values", values ? pons_value_ref(values) : json_null()) ||
        json_object_set(row, "interrupts", asked)) {
        return st ? st : no_memory(f->err);
    }
    return PONS_OK;
}

static int place_rows(finder *f, bool describe_all, placed *list, size_t *n)
{
    pons_each(row, f->rows) {
        const int st = describe_all ? describe(f, row) : PONS_OK;
        if (st) {
            return st;
        }
        if (!describe_all || is_wanted(f, row)) {
            list[*n] = (placed){row, f->q->by, !f->q->ascending, *n};
            ++*n;
        }
    }
    return PONS_OK;
}

// Describing a thread reads its heads, so it is done for all of them only where that decides.
static int give_page(finder *f, pons_value **ret)
{
    const pons_threads_query *q = f->q;
    const bool all = q->status || q->values || q->by == PONS_THREADS_BY_UPDATED ||
                     q->by == PONS_THREADS_BY_STATUS;
    const size_t n = json_array_size(f->rows), from = q->offset > 0 ? (size_t)q->offset : 0;
    const int64_t limit = q->limit ? q->limit : PAGE;
    placed *list = malloc((n + 1) * sizeof *list);
    pons_autovalue page = json_array();
    size_t kept = 0;
    int st = list && page ? place_rows(f, all, list, &kept) : no_memory(f->err);
    if (!st && kept) {
        qsort(list, kept, sizeof *list, by_order);
    }
    for (size_t i = from; i < kept && !st && (limit < 0 || i - from < (size_t)limit); i++) {
        st = all ? PONS_OK : describe(f, list[i].row);
        st = st ? st : json_array_append(page, list[i].row) ? no_memory(f->err) : PONS_OK;
    }
    free(list);
    if (!st) {
        *ret = pons_value_ref(page);
    }
    return st;
}

// ---- metadata -----------------------------------------------------------------------------------

typedef struct note_read {
    pons_value *note;
    char *text; // as it stands there
    size_t len;
    int st;
} note_read;

static int see_note(void *user, const pons_thread_info *info)
{
    note_read *n = user;
    n->len = info->note.len;
    n->text = malloc(n->len + 1);
    n->st = n->text ? PONS_OK : PONS_ENOMEM;
    if (n->text && n->len) {
        memcpy(n->text, info->note.data, n->len);
        n->st = pons_value_read(n->text, n->len, &n->note, NULL);
    }
    return 1;
}

static int change_once(pons_store store, const char *thread, const pons_value *metadata, bool merge,
                       pons_error *err)
{
    note_read was = {0};
    int st = store.ops->thread_list(store.self, thread, false, see_note, &was, err);
    st = st == PONS_ENOTFOUND ? PONS_OK : st;
    st = st ? st : was.st;
    const pons_value *old = merge ? pons_get(was.note, "m") : NULL;
    pons_autovalue now = old ? json_copy((pons_value *)(uintptr_t)old) : json_object();
    pons_autovalue note = NULL;
    char *text = NULL;
    long n = 0;
    if (!st) {
        const int bad = !now || json_object_update(now, (pons_value *)(uintptr_t)metadata);
        note = bad ? NULL : pons_object_whole("m", pons_value_ref(now), NULL);
        n = note ? pons_value_dump(note, &text) : -1;
        st = n < 0 ? no_memory(err) : PONS_OK;
    }
    if (!st) {
        const pons_bytes before = {was.text, was.len};
        st =
            store.ops->thread_note(store.self, thread, (pons_bytes){text, (size_t)n}, &before, err);
    }
    free(text);
    free(was.text);
    pons_value_unref(was.note);
    return st;
}

int pons_thread_metadata_set(pons_store store, const char *thread, const pons_value *metadata,
                             bool merge, pons_error *err)
{
    if (!store.ops || !store.ops->thread_note) {
        return pons_error_set(err, PONS_EUNSUPPORTED, PONS__MODULE,
                              "this store keeps no metadata of threads");
    }
    if (!json_is_object(metadata)) {
        return pons_error_set(err, PONS_EINVAL, PONS__MODULE, "a thread's metadata is an object");
    }
    int st = PONS_EEXIST;
    for (int i = 0; i < CHANGES_TRIED && st == PONS_EEXIST; i++) { // somebody else was quicker
        if (err) {
            *err = (pons_error)PONS_ERROR_INIT;
        }
        st = change_once(store, thread, metadata, merge, err);
    }
    return st;
}

// ---- looking for threads ------------------------------------------------------------------------

static int see_thread(void *user, const pons_thread_info *info)
{
    finder *f = user;
    pons_autovalue note = NULL;
    if (info->note.len) {
        f->st = pons_value_read(info->note.data, info->note.len, &note, f->err);
    }
    const pons_value *known = pons_get(note, "m");
    pons_autovalue metadata = known ? pons_value_ref(known) : json_object();
    if (f->st || (f->q->metadata && !pons_items_fits(metadata, f->q->metadata))) {
        return f->st;
    }
    pons_value *row = pons_object_whole(
        "thread_id", json_string(info->thread), "created_ms", json_integer(info->created_ms),
        "updated_ms", json_integer(info->updated_ms), "metadata", pons_value_ref(metadata),
        "holder_pid", json_integer(info->holder_pid), NULL);
    f->st = row && !json_array_append_new(f->rows, row) ? PONS_OK : no_memory(f->err);
    return f->st;
}

int pons_threads_find(pons_store store, const pons_threads_query *q, pons_value **ret,
                      pons_error *err)
{
    if (!store.ops || !store.ops->thread_list) {
        return pons_error_set(err, PONS_EUNSUPPORTED, PONS__MODULE,
                              "the threads of this store can't be searched");
    }
    finder f = {.store = store, .q = q, .rows = json_array(), .err = err};
    int st = f.rows ? PONS_OK : no_memory(err);
    st = st ? st : store.ops->thread_list(store.self, q->thread, false, see_thread, &f, err);
    st = st ? st : f.st;
    st = st ? st : give_page(&f, ret);
    pons_value_unref(f.rows);
    return st;
}
