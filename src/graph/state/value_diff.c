// value_diff.c - what changed between two values, as a value.
//
// A channel that is written anew often differs in one place: a task of a queue has become active,
// the oldest of fifty entries has made room for a new one. Its row (checkpoint_pack.c) then holds a patch of
// what the store has instead of the value:
//
//     {"queue":["~",[0,7],[7,{"status":["active"]}],[8,292]],"next":[301],"flag":[]}
//
//   {key: p}          an object in which these keys change
//   ["~", s, ...]     a list that is put together anew, from
//       [i,n]             n items of the old one, from its i-th on
//       [i,p]             its i-th item, changed
//       [v]               v
//   [v]               replaced by v       } of a key only:
//   []                the key goes        } a patch begins with one of the two above
//
// A patch gives the value as a row would have it, to the byte (keys have no order there). Where it
// would take as much as the value itself, there is none.
//
// Values are shared, never changed, so most of what did not change is the same pointer, and is
// passed over in one comparison. Otherwise a list's items are looked for a little way ahead, with a
// budget, so a list of a thousand new numbers costs no more than a list of a thousand.
#include "graph/state/value_diff.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

enum {
    AHEAD = 64,          // items that are looked at for one that was further on
    AHEAD_BUDGET = 4096, // of a list in all
    DEPTH_MAX = 32,
    NUMBER_BYTES = 8,
    QUOTES = 3, // and what comes before or after
};

#define LIST "~"

// ---- the same -----------------------------------------------------------------------------------

static bool same(const pons_value *a, const pons_value *b);

static bool same_objects(const pons_value *a, const pons_value *b)
{
    if (json_object_size(a) != json_object_size(b)) {
        return false;
    }
    pons_each_member(key, v, a) {
        const pons_value *other = json_object_get(b, key);
        if (!other || !same(v, other)) {
            return false;
        }
    }
    return true;
}

// The same text: 1 is not 1.0, and -0.0 is not 0.0.
static bool same(const pons_value *a, const pons_value *b)
{
    if (a == b) {
        return true;
    }
    if (json_typeof(a) != json_typeof(b)) {
        return false;
    }
    double x, y;
    switch (json_typeof(a)) {
    case JSON_OBJECT:
        return same_objects(a, b);
    case JSON_ARRAY:
        if (json_array_size(a) != json_array_size(b)) {
            return false;
        }
        for (size_t i = 0; i < json_array_size(a); i++) {
            if (!same(json_array_get(a, i), json_array_get(b, i))) {
                return false;
            }
        }
        return true;
    case JSON_STRING:
        return json_string_length(a) == json_string_length(b) &&
               memcmp(json_string_value(a), json_string_value(b), json_string_length(a)) == 0;
    case JSON_INTEGER:
        return json_integer_value(a) == json_integer_value(b);
    case JSON_REAL:
        x = json_real_value(a);
        y = json_real_value(b);
        return x == y && signbit(x) == signbit(y);
    case JSON_TRUE:
    case JSON_FALSE:
    case JSON_NULL:
        return true;
    }
    return false;
}

// ---- differences --------------------------------------------------------------------------------

typedef struct weave { // a list's patch in the making
    const pons_value *was;
    pons_value *patch;
    size_t from, run; // items of the old one that are not written yet
    int budget;
    bool ok;
} weave;

// [v]; takes v. NULL: no memory.
static pons_value *boxed(pons_value *v)
{
    pons_value *box = json_array();
    if (!box || json_array_append_new(box, v) != 0) {
        json_decref(box);
        return NULL;
    }
    return box;
}

static pons_value *diff(const pons_value *was, const pons_value *now, int depth);

// A patch of a key: nested, or the whole value in a box.
static pons_value *diff_of_key(const pons_value *was, const pons_value *now, int depth)
{
    pons_value *nested = diff(was, now, depth);
    return nested ? nested : boxed(pons_value_ref(now));
}

static pons_value *diff_objects(const pons_value *was, const pons_value *now, int depth)
{
    pons_value *patch = json_object();
    bool ok = patch != NULL;
    pons_each_member(key, v, was) {
        if (!json_object_get(now, key)) {
            ok = ok && json_object_set_new_nocheck(patch, key, json_array()) == 0;
        }
    }
    pons_each_member(key, v, now) {
        const pons_value *old = json_object_get(was, key);
        if (!old || !same(old, v)) {
            ok = ok && json_object_set_new_nocheck(patch, key, diff_of_key(old, v, depth)) == 0;
        }
    }
    if (!ok) {
        json_decref(patch);
        return NULL;
    }
    return patch;
}

// Whether b may be what a has become: things that have ids keep them.
static bool kin(const pons_value *a, const pons_value *b)
{
    if (json_typeof(a) != json_typeof(b) || !(json_is_object(a) || json_is_array(a))) {
        return false;
    }
    const pons_value *x = json_object_get(a, "id"), *y = json_object_get(b, "id");
    return (!x && !y) || (x && y && same(x, y));
}

static void weave_add(weave *w, pons_value *segment) // takes it
{
    w->ok = json_array_append_new(w->patch, segment) == 0 && w->ok;
}

static void weave_flush(weave *w)
{
    if (w->run > 0) {
        pons_value *segment = boxed(json_integer((json_int_t)w->from));
        w->ok = json_array_append_new(segment, json_integer((json_int_t)w->run)) == 0 && w->ok;
        weave_add(w, segment);
    }
    w->run = 0;
}

// Where item is in the old list, from `at` on; the list's length: nowhere near.
static size_t weave_find(weave *w, size_t at, const pons_value *item)
{
    const size_t n = json_array_size(w->was);
    for (size_t i = at; i < n && i <= at + AHEAD && w->budget > 0; i++, w->budget--) {
        if (same(json_array_get(w->was, i), item)) {
            return i;
        }
    }
    return n;
}

static pons_value *diff_lists(const pons_value *was, const pons_value *now, int depth)
{
    const size_t n_was = json_array_size(was), n_now = json_array_size(now);
    weave w = {.was = was, .budget = AHEAD_BUDGET + (int)(n_now < AHEAD_BUDGET ? n_now : 0)};
    w.patch = boxed(json_string(LIST));
    w.ok = w.patch != NULL;
    for (size_t at = 0, k = 0; k < n_now && w.ok; k++) {
        const pons_value *item = json_array_get(now, k);
        const pons_value *old = at < n_was ? json_array_get(was, at) : NULL;
        const size_t found = old && same(old, item) ? at : weave_find(&w, at, item);
        if (found < n_was) {
            if (w.run > 0 && w.from + w.run != found) {
                weave_flush(&w);
            }
            w.from = w.run > 0 ? w.from : found;
            w.run++;
            at = found + 1;
            continue;
        }
        weave_flush(&w);
        pons_value *nested = old && kin(old, item) ? diff(old, item, depth) : NULL;
        pons_value *segment = boxed(nested ? json_integer((json_int_t)at) : pons_value_ref(item));
        if (nested) {
            w.ok = json_array_append_new(segment, nested) == 0 && w.ok;
            at++;
        }
        weave_add(&w, segment);
    }
    weave_flush(&w);
    if (!w.ok) {
        json_decref(w.patch);
        return NULL;
    }
    return w.patch;
}

static pons_value *diff(const pons_value *was, const pons_value *now, int depth)
{
    if (!was || !now || json_typeof(was) != json_typeof(now) || depth >= DEPTH_MAX) {
        return NULL;
    }
    pons_value *patch = json_is_object(now)  ? diff_objects(was, now, depth + 1)
                        : json_is_array(now) ? diff_lists(was, now, depth + 1)
                                             : NULL;
    if (patch && pons__patch_weight(patch) >= pons__patch_weight(now)) {
        json_decref(patch);
        return NULL;
    }
    return patch;
}

// ---- the way back -------------------------------------------------------------------------------

static bool extend_run(pons_value *list, const pons_value *was, json_int_t from, json_int_t n)
{
    const json_int_t size = (json_int_t)json_array_size(was);
    if (from < 0 || n < 0 || from > size || n > size - from) {
        return false;
    }
    for (json_int_t i = from; i < from + n; i++) {
        if (json_array_append_new(list, pons_value_ref(json_array_get(was, (size_t)i))) != 0) {
            return false;
        }
    }
    return true;
}

static pons_value *apply(const pons_value *was, const pons_value *patch, int depth);

static pons_value *apply_list(const pons_value *was, const pons_value *patch, int depth)
{
    pons_value *list = json_array();
    bool ok = list && json_is_array(was);
    for (size_t k = 1; k < json_array_size(patch) && ok; k++) {
        const pons_value *segment = json_array_get(patch, k);
        const pons_value *first = json_array_get(segment, 0), *second = json_array_get(segment, 1);
        if (json_array_size(segment) == 1) {
            ok = json_array_append_new(list, pons_value_ref(first)) == 0;
        } else if (!json_is_integer(first) || json_array_size(segment) != 2) {
            ok = false;
        } else if (json_is_integer(second)) {
            ok = extend_run(list, was, json_integer_value(first), json_integer_value(second));
        } else {
            const json_int_t i = json_integer_value(first);
            const pons_value *old = i >= 0 ? json_array_get(was, (size_t)i) : NULL;
            ok = json_array_append_new(list, old ? apply(old, second, depth) : NULL) == 0;
        }
    }
    if (!ok) {
        json_decref(list);
        return NULL;
    }
    return list;
}

static pons_value *apply_object(const pons_value *was, const pons_value *patch, int depth)
{
    pons_value *obj = json_is_object(was) ? json_copy((pons_value *)(uintptr_t)was) : NULL;
    bool ok = obj != NULL;
    pons_each_member(key, p, patch) {
        const pons_value *old = json_object_get(was, key);
        if (json_is_array(p) && json_array_size(p) == 0) {
            ok = ok && json_object_del(obj, key) == 0;
        } else if (json_is_array(p) && json_array_size(p) == 1) {
            ok = ok &&
                 json_object_set_new_nocheck(obj, key, pons_value_ref(json_array_get(p, 0))) == 0;
        } else {
            ok = ok && old && json_object_set_new_nocheck(obj, key, apply(old, p, depth)) == 0;
        }
    }
    if (!ok) {
        json_decref(obj);
        return NULL;
    }
    return obj;
}

static pons_value *apply(const pons_value *was, const pons_value *patch, int depth)
{
    if (!was || !patch || depth >= 2 * DEPTH_MAX) {
        return NULL;
    }
    if (json_is_object(patch)) {
        return apply_object(was, patch, depth + 1);
    }
    const char *tag = json_string_value(json_array_get(patch, 0));
    return tag && strcmp(tag, LIST) == 0 ? apply_list(was, patch, depth + 1) : NULL;
}

// ---- public functions ---------------------------------------------------------------------------

pons_value *pons__patch_make(const pons_value *was, const pons_value *now)
{
    return diff(was, now, 0);
}

pons_value *pons__patch_apply(const pons_value *was, const pons_value *patch)
{
    return apply(was, patch, 0);
}

size_t pons__patch_weight(const pons_value *v)
{
    size_t sum = 2;
    switch (json_typeof(v)) {
    case JSON_OBJECT:
        pons_each_member(key, item, v) {
            sum += strlen(key) + QUOTES + 1 + pons__patch_weight(item);
        }
        return sum;
    case JSON_ARRAY:
        pons_each(item, v) {
            sum += 1 + pons__patch_weight(item);
        }
        return sum;
    case JSON_STRING:
        return json_string_length(v) + 2;
    case JSON_INTEGER:
        sum = json_integer_value(v) < 0 ? 2 : 1;
        for (json_int_t n = json_integer_value(v); n > 9 || n < -9; n /= 10) {
            sum++;
        }
        return sum;
    case JSON_REAL:
        return NUMBER_BYTES;
    case JSON_TRUE:
    case JSON_FALSE:
    case JSON_NULL:
        return 4;
    }
    return sum;
}
