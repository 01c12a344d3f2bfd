// channel_update.c - what a step's updates make of a channel's value.
//
// A fold is pure: it makes a new value from the old one and the updates in task order, and is what
// a router's view uses as well. The apply of a step (run/apply_writes.c) takes two short cuts around it
// that give the same value: appending in place, and merging in place, when nobody else holds the
// value.
#include "graph/state/channel_update.h"

#include "graph/engine.h"
#include "graph/state/list_update.h"
#include "graph/state/messages.h"

// ---- reducers -----------------------------------------------------------------------------------

static int nomem(pons_error *err)
{
    return pons_error_set(err, PONS_ENOMEM, PONS__MODULE, "no memory to reduce a channel");
}

static int fold_append(const pons_value *old, pons_value *const *updates, size_t n,
                       pons_value **ret, size_t *keep, pons_error *err)
{
    pons_value *list = json_array();
    bool ok = list != NULL;
    if (ok && old) {
        ok = pons__list_extend(list, old);
    }
    *keep = ok ? json_array_size(list) : 0;
    for (size_t i = 0; i < n && ok; i++) {
        ok = pons__list_extend(list, updates[i]);
    }
    if (!ok) {
        pons_value_unref(list);
        return nomem(err);
    }
    *ret = list;
    return PONS_OK;
}

static int reduce_append(void *user, const pons_value *old, const pons_value *update,
                         pons_value **ret, pons_error *err)
{
    size_t keep;
    pons_value *one[] = {(pons_value *)(uintptr_t)update};
    return fold_append(old, one, 1, ret, &keep, err);
}

static int reduce_add(void *user, const pons_value *old, const pons_value *update, pons_value **ret,
                      pons_error *err)
{
    if (!json_is_number(update) || (old && !json_is_number(old))) {
        return pons_error_set(err, PONS_EINVAL, PONS__MODULE, "only numbers can be added");
    }
    pons_value *sum;
    json_int_t whole;
    if (!old) {
        sum = pons_value_ref(update);
    } else if (json_is_integer(old) && json_is_integer(update) &&
               !__builtin_add_overflow(json_integer_value(old), json_integer_value(update),
                                       &whole)) {
        sum = json_integer(whole);
    } else {
        sum = json_real(json_number_value(old) + json_number_value(update));
    }
    if (!sum) {
        return pons_error_set(err, PONS_EINVAL, PONS__MODULE, "the sum is not a finite number");
    }
    *ret = sum;
    return PONS_OK;
}

static int reduce_merge(void *user, const pons_value *old, const pons_value *update,
                        pons_value **ret, pons_error *err)
{
    if (!json_is_object(update) || (old && !json_is_object(old))) {
        return pons_error_set(err, PONS_EINVAL, PONS__MODULE, "only objects can be merged");
    }
    pons_value *obj = json_object();
    if (!obj || (old && !pons__object_merge(obj, old, true)) ||
        !pons__object_merge(obj, update, false)) {
        pons_value_unref(obj);
        return nomem(err);
    }
    *ret = obj;
    return PONS_OK;
}

static bool list_has(const pons_value *list, const pons_value *v)
{
    size_t n = json_array_size(list);
    for (size_t i = 0; i < n; i++) {
        if (json_equal(json_array_get(list, i), v)) {
            return true;
        }
    }
    return false;
}

static int reduce_union(void *user, const pons_value *old, const pons_value *update,
                        pons_value **ret, pons_error *err)
{
    const pons_value *parts[] = {old, update};
    pons_value *set = json_array();
    bool ok = set != NULL;
    for (size_t p = 0; p < 2 && ok; p++) {
        if (!parts[p]) {
            continue;
        }
        size_t n = json_is_array(parts[p]) ? json_array_size(parts[p]) : 1;
        for (size_t i = 0; i < n && ok; i++) {
            const pons_value *v = json_is_array(parts[p]) ? json_array_get(parts[p], i) : parts[p];
            if (!list_has(set, v)) {
                ok = json_array_append_new(set, pons_value_ref(v)) == 0;
            }
        }
    }
    if (!ok) {
        pons_value_unref(set);
        return nomem(err);
    }
    *ret = set;
    return PONS_OK;
}

// ---- folds --------------------------------------------------------------------------------------

static int fold_updates(const pons__channel *ch, const pons_value *old, pons_value *const *updates,
                        size_t n, pons_value **ret, size_t *keep, pons_error *err)
{
    if (ch->kind == PONS_CHANNEL_MESSAGES) {
        return pons__messages_fold(old, updates, n, ret, keep, err);
    }
    if (ch->appends) {
        return fold_append(old, updates, n, ret, keep, err);
    }
    pons_value *acc = pons_value_ref(old);
    for (size_t i = 0; i < n; i++) {
        pons_value *next = NULL;
        int st = ch->reduce(ch->reduce_user, acc, updates[i], &next, err);
        pons_value_unref(acc);
        if (st != PONS_OK) {
            return st;
        }
        acc = next;
    }
    if (!pons_value_fits(acc)) {
        pons_value_unref(acc);
        return pons_error_set(err, PONS_EINVAL, PONS__MODULE,
                              "the reducer nests its value deeper than %d", PONS_VALUE_DEPTH_MAX);
    }
    *ret = acc;
    return PONS_OK;
}

static int fold_reduce(const pons__channel *ch, const pons_value *old, pons_value *const *updates,
                       size_t n, pons_value **ret, size_t *keep, pons_error *err)
{
    const pons_value *over = NULL;
    for (size_t i = 0; i < n; i++) {
        const pons_value *v = pons__overwrite(updates[i]);
        if (v && over) {
            return pons_error_set(err, PONS_ECONCURRENT, PONS__MODULE,
                                  "channel '%s' is overwritten twice in one step", ch->name);
        }
        over = v ? v : over;
    }
    if (!over) {
        return fold_updates(ch, old, updates, n, ret, keep, err);
    }
    if (ch->appends && !json_is_array(over)) {
        return pons_error_set(err, PONS_EINVAL, PONS__MODULE,
                              "channel '%s' is a list and can't be overwritten with another type",
                              ch->name);
    }
    *ret = pons_value_ref(over);
    return PONS_OK;
}

const pons_reducer_fn pons_reduce_append = reduce_append;
const pons_reducer_fn pons_reduce_add = reduce_add;
const pons_reducer_fn pons_reduce_merge = reduce_merge;
const pons_reducer_fn pons_reduce_union = reduce_union;

int pons__channel_fold(const pons__channel *ch, const pons_value *old, pons_value *const *updates,
                       size_t n, pons_value **ret, size_t *keep, pons_error *err)
{
    *keep = 0;
    if (n == 0) {
        *ret = ch->transient ? NULL : pons_value_ref(old);
        return PONS_OK;
    }
    switch (ch->kind) {
    case PONS_CHANNEL_LAST:
    case PONS_CHANNEL_ANY:
    case PONS_CHANNEL_EPHEMERAL:
    case PONS_CHANNEL_UNTRACKED:
    case PONS_CHANNEL_IS_LAST_STEP: // never written
    case PONS_CHANNEL_REMAINING_STEPS:
        *ret = pons_value_ref(updates[n - 1]);
        return PONS_OK;
    case PONS_CHANNEL_TOPIC:
        return fold_append(NULL, updates, n, ret, keep, err);
    case PONS_CHANNEL_TOPIC_ACC:
    case PONS_CHANNEL_MESSAGES:
    case PONS_CHANNEL_REDUCE:
        return fold_reduce(ch, old, updates, n, ret, keep, err);
    }
    return PONS_EINVAL;
}
