// messages.c - the messages channel: a list of objects known by their ids.
//
// An update is a message or a list of them. A message without an id gets one when it is written, so
// that a replay gives the same. In the order of the update: a known id replaces in place, a new one
// is appended, {"type":"remove","id"} deletes (an unknown id is an error), and the id
// "__remove_all__" drops everything before its last occurrence. What is removed and then written
// again stays where it was.
//
// Appending needs to know that an id is new. A list of thousands is not searched for that: the
// namespace keeps a table from id to place, extended as the list grows.
#include "graph/state/messages.h"

#include "graph/engine.h"
#include "graph/state/list_update.h"
#include "graph/util/hash.h"
#include "pons/growing_list.h"
#include "pons/messages.h"
#include "pons/random.h"

#include <stdlib.h>
#include <string.h>

#define NOWHERE UINT32_MAX

// ---- helpers ------------------------------------------------------------------------------------

static const char *id_of(const pons_value *msg)
{
    return json_string_value(json_object_get(msg, "id"));
}

static bool is_remove(const pons_value *msg)
{
    const char *type = json_string_value(json_object_get(msg, "type"));
    return type && strcmp(type, "remove") == 0;
}

static int prepare_one(pons__make_id_fn make, void *ctx, bool chat, pons_value **msg,
                       pons_error *err)
{
    pons_value *formed = NULL;
    int st = chat ? pons_message_of(*msg, &formed, err) : PONS_OK;
    if (st != PONS_OK) {
        return st;
    }
    if (formed) {
        pons_value_unref(*msg);
        *msg = formed;
    }
    if (!json_is_object(*msg)) {
        return pons_error_set(err, PONS_EINVAL, PONS__MODULE, "a message must be an object");
    }
    if (id_of(*msg)) {
        return PONS_OK;
    }
    if (is_remove(*msg)) {
        return pons_error_set(err, PONS_EINVAL, PONS__MODULE, "a removal needs a message's id");
    }
    char id[PONS_ID_MAX];
    make(ctx, id);
    pons_value *with = json_copy(*msg);
    if (!with || json_object_set_new_nocheck(with, "id", json_string_nocheck(id)) != 0) {
        pons_value_unref(with);
        return pons_error_set(err, PONS_ENOMEM, PONS__MODULE, "no memory for a message's id");
    }
    pons_value_unref(*msg);
    *msg = with;
    return PONS_OK;
}

static void ids_put(pons__ids *ids, const char *id, uint32_t pos)
{
    uint32_t at = (uint32_t)pons__hash64(PONS__HASH_SEED, id, strlen(id)) & ids->mask;
    while (ids->slots[at]) {
        at = (at + 1) & ids->mask;
    }
    ids->slots[at] = pos + 1;
}

// Indexes what list has beyond ids->n; the table grows at half full.
static bool ids_extend(pons__ids *ids, const pons_value *list)
{
    enum { FIRST = 64 };
    size_t n = json_array_size(list);
    if (!ids->slots || 2 * n > ids->mask) {
        uint32_t size = FIRST;
        while (size <= 4 * n) {
            size *= 2;
        }
        uint32_t *slots = calloc(size, sizeof *slots);
        if (!slots) {
            return false;
        }
        free(ids->slots);
        *ids = (pons__ids){.slots = slots, .mask = size - 1};
    }
    for (; ids->n < n; ids->n++) {
        const char *id = id_of(json_array_get(list, ids->n));
        if (id) {
            ids_put(ids, id, (uint32_t)ids->n);
        }
    }
    return true;
}

static uint32_t ids_find(const pons__ids *ids, const pons_value *list, const char *id)
{
    uint32_t at = (uint32_t)pons__hash64(PONS__HASH_SEED, id, strlen(id)) & ids->mask;
    for (; ids->slots[at]; at = (at + 1) & ids->mask) {
        const char *have = id_of(json_array_get(list, ids->slots[at] - 1));
        if (have && strcmp(have, id) == 0) {
            return ids->slots[at] - 1;
        }
    }
    return NOWHERE;
}

static int merge_one(pons_value *list, pons__ids *ids, bool **gone, size_t *cap_gone,
                     const pons_value *msg, size_t *keep, pons_error *err)
{
    const char *id = id_of(msg);
    if (!id) {
        return pons_error_set(err, PONS_EINVAL, PONS__MODULE, "a message must have an id");
    }
    if (!ids_extend(ids, list)) {
        return PONS_ENOMEM;
    }
    uint32_t at = ids_find(ids, list, id);
    if (at == NOWHERE && is_remove(msg)) {
        return pons_error_set(err, PONS_EINVAL, PONS__MODULE,
                              "can't remove message '%s': there is none of that id", id);
    }
    if (at == NOWHERE) {
        return json_array_append_new(list, pons_value_ref(msg)) == 0 ? PONS_OK : PONS_ENOMEM;
    }
    size_t had = *cap_gone;
    if (!pons_list_reserve(gone, cap_gone, at + 1, sizeof **gone)) {
        return PONS_ENOMEM;
    }
    memset(*gone + had, 0, *cap_gone - had);
    *keep = at < *keep ? at : *keep;
    (*gone)[at] = is_remove(msg);
    if (!is_remove(msg) && json_array_set_new(list, at, pons_value_ref(msg)) != 0) {
        return PONS_ENOMEM;
    }
    return PONS_OK;
}

// ---- public functions ---------------------------------------------------------------------------

int pons__messages_prepare(pons__make_id_fn make, void *ctx, bool chat, pons_value *v,
                           pons_value **ret, pons_error *err)
{
    if (pons__overwrite(v)) {
        *ret = v;
        return PONS_OK;
    }
    int st = PONS_OK;
    if (!json_is_array(v)) {
        st = prepare_one(make, ctx, chat, &v, err);
        *ret = v;
        return st;
    }
    size_t n = json_array_size(v);
    pons_value *list = NULL; // a copy, made when something changes
    for (size_t i = 0; i < n && st == PONS_OK; i++) {
        pons_value *was = json_array_get(v, i), *msg = json_incref(was);
        st = prepare_one(make, ctx, chat, &msg, err);
        if (msg != was && !list) {
            list = json_copy(v);
        }
        if (msg != was && st == PONS_OK && (!list || json_array_set(list, i, msg) != 0)) {
            st = pons_error_set(err, PONS_ENOMEM, PONS__MODULE, "no memory for a message");
        }
        pons_value_unref(msg);
    }
    if (list) {
        pons_value_unref(v);
        v = list;
    }
    *ret = v;
    return st;
}

// An update is a message or a list of them.
static size_t count_of(const pons_value *update)
{
    return json_is_array(update) ? json_array_size(update) : 1;
}

static const pons_value *message_of(const pons_value *update, size_t i)
{
    return json_is_array(update) ? json_array_get(update, i) : update;
}

static size_t after_remove_all(const pons_value *update)
{
    size_t first = 0;
    for (size_t i = 0; i < count_of(update); i++) {
        const pons_value *m = message_of(update, i);
        const char *id = is_remove(m) ? id_of(m) : NULL;
        if (id && strcmp(id, PONS_REMOVE_ALL) == 0) {
            first = i + 1;
        }
    }
    return first;
}

static void forget(pons__ids *ids, bool *gone, size_t n)
{
    pons__ids_reset(ids);
    if (gone) {
        memset(gone, 0, n);
    }
}

// At the end of an update, so that a later re-add finds its place. Returns whether there were any.
static bool remove_gone(pons_value *list, const bool *gone, size_t n)
{
    bool any = false;
    for (size_t i = json_array_size(list); i-- > 0;) {
        if (i < n && gone[i]) {
            json_array_remove(list, i);
            any = true;
        }
    }
    return any;
}

int pons__messages_fold(const pons_value *old, pons_value *const *updates, size_t n,
                        pons_value **ret, size_t *keep, pons_error *err)
{
    pons_value *list = json_array();
    pons__ids ids = {0};
    bool *gone = NULL;
    size_t cap_gone = 0;
    int st = list && (!old || pons__list_extend(list, old)) ? PONS_OK : PONS_ENOMEM;
    *keep = json_array_size(list);
    for (size_t u = 0; u < n && st == PONS_OK; u++) {
        const size_t first = after_remove_all(updates[u]), count = count_of(updates[u]);
        if (first > 0) {
            json_array_clear(list);
            forget(&ids, gone, cap_gone);
            *keep = 0;
        }
        for (size_t i = first; i < count && st == PONS_OK; i++) {
            st = merge_one(list, &ids, &gone, &cap_gone, message_of(updates[u], i), keep, err);
        }
        if (st == PONS_OK && remove_gone(list, gone, cap_gone)) {
            forget(&ids, gone, cap_gone);
        }
    }
    pons__ids_reset(&ids);
    free(gone);
    if (st == PONS_ENOMEM) {
        pons_error_set(err, st, PONS__MODULE, "no memory for messages");
    }
    if (st != PONS_OK) {
        pons_value_unref(list);
    } else {
        *ret = list;
    }
    return st;
}

// Whether an update has no id twice.
static bool ids_differ(const pons_value *update)
{
    pons__ids own = {0};
    const size_t n = json_array_size(update);
    bool differ = n < 2 || ids_extend(&own, update);
    for (size_t i = 0; i < n && differ && n > 1; i++) { // the first of an id is found first
        differ = ids_find(&own, update, id_of(json_array_get(update, i))) == i;
    }
    pons__ids_reset(&own);
    return differ;
}

bool pons__messages_all_new(pons__ids *ids, const pons_value *list, const pons_value *update)
{
    if (!ids_extend(ids, list)) {
        return false;
    }
    size_t n = json_is_array(update) ? json_array_size(update) : 1;
    for (size_t i = 0; i < n; i++) {
        const pons_value *m = json_is_array(update) ? json_array_get(update, i) : update;
        const char *id = id_of(m);
        if (!id || is_remove(m) || ids_find(ids, list, id) != NOWHERE) {
            return false;
        }
    }
    return ids_differ(update);
}

void pons__ids_reset(pons__ids *ids)
{
    free(ids->slots);
    *ids = (pons__ids){0};
}
