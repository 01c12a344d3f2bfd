// items.c - one item: put, got, deleted; a write as a store takes it, as one block and as JSON.
//
//     value, fields --leaves--> words ---------+
//                   --texts---> embed --> vectors --> pons_item_write --> the store, or a superstep
//
// Vectors lie one after the other, 4 bytes a number, the smallest first.
#include "pons/items.h"

#include "items/names.h"
#include "items/value_paths.h"
#include "items/vectors.h"
#include "pons/buf.h"

#include <stdlib.h>
#include <string.h>

static int no_memory(pons_error *err)
{
    return pons_error_set(err, PONS_ENOMEM, "items", "no memory for an item");
}

// ---- names --------------------------------------------------------------------------------------

static const char reserved[] = "langgraph";

bool pons__item_ns_reserved(const char *ns)
{
    const size_t n = strcspn(ns, ".");
    return n == strlen(reserved) && memcmp(ns, reserved, n) == 0;
}

int pons__item_ns_check(const char *ns, pons_error *err)
{
    if (!ns || !ns[0]) {
        return pons_error_set(err, PONS_EINVAL, "items", "an item needs a namespace");
    }
    if (ns[0] == '.' || ns[strlen(ns) - 1] == '.' || strstr(ns, "..")) {
        return pons_error_set(err, PONS_EINVAL, "items", "a label of namespace '%.80s' is empty",
                              ns);
    }
    if (pons__item_ns_reserved(ns)) {
        return pons_error_set(err, PONS_EINVAL, "items",
                              "the first label of a namespace is not '%s'", reserved);
    }
    return PONS_OK;
}

pons_value *pons__item_labels(const char *ns)
{
    pons_value *list = json_array();
    for (const char *at = ns; list && *at;) {
        const size_t n = strcspn(at, ".");
        if (json_array_append_new(list, json_stringn(at, n))) {
            pons_value_unref(list);
            return NULL;
        }
        at += n + (at[n] == '.');
    }
    return list;
}

int pons_items_ns(const pons_value *labels, char *ret, size_t cap, pons_error *err)
{
    size_t at = 0;
    if (!json_is_array(labels)) {
        return pons_error_set(err, PONS_EINVAL, "items", "a namespace is a list of labels");
    }
    if (cap) {
        ret[0] = '\0';
    }
    pons_each(label, labels) {
        const char *text = json_string_value(label);
        if (!text || !text[0] || strchr(text, '.')) {
            return pons_error_set(err, PONS_EINVAL, "items",
                                  "label %zu of a namespace must be a text that is not empty and "
                                  "has no '.'",
                                  label_at + 1);
        }
        const size_t n = strlen(text);
        if (at + n + 2 > cap) {
            return pons_error_set(err, PONS_EINVAL, "items", "a namespace is too long");
        }
        if (at) {
            ret[at++] = '.';
        }
        memcpy(ret + at, text, n + 1);
        at += n;
    }
    return PONS_OK;
}

// ---- a write as one block -----------------------------------------------------------------------

static char *carve(char **at, const void *from, size_t n)
{
    char *to = *at;
    if (n) {
        memcpy(to, from, n);
    }
    *at += n;
    return to;
}

// Copies all that a row refers to behind the write itself.
static int block_of(pons_item_do what, const pons_item_row *row, pons_item_write **ret,
                    pons_error *err)
{
    const size_t ns = strlen(row->ns) + 1, key = strlen(row->key) + 1,
                 words = row->words ? strlen(row->words) + 1 : 0;
    pons_item_write *w =
        malloc(sizeof *w + ns + key + words + row->value.len + row->vectors.len + 1);
    if (!w) {
        return no_memory(err);
    }
    char *at = (char *)(w + 1);
    *w = (pons_item_write){.what = what, .row = *row};
    w->row.ns = carve(&at, row->ns, ns);
    w->row.key = carve(&at, row->key, key);
    w->row.words = row->words ? carve(&at, row->words, words) : NULL;
    w->row.value.data = carve(&at, row->value.data, row->value.len);
    w->row.vectors.data = carve(&at, row->vectors.data, row->vectors.len);
    *ret = w;
    return PONS_OK;
}

static int words_of(const pons_value *value, const char *const *fields, bool none, char **ret,
                    pons_error *err)
{
    pons_autobuf leaves = PONS_BUF_INIT;
    int st = none ? PONS_OK : pons__item_leaves(value, fields, &leaves);
    st = st ? st : pons_buf_byte(&leaves, '\0');
    return st ? no_memory(err) : pons_items_words(leaves.data, ret, err);
}

static bool is_text(const char *s)
{
    for (size_t n; *s; s += n) {
        n = (unsigned char)*s < 0x80 ? 1 : pons_utf8_sequence(s, strlen(s));
        if (n == 0) {
            return false;
        }
    }
    return true;
}

static int check_put(const char *ns, const char *key, const pons_value *value,
                     const char *const *fields, pons_error *err)
{
    int st = pons__item_ns_check(ns, err);
    if (!st && (!key || !key[0])) {
        st = pons_error_set(err, PONS_EINVAL, "items", "an item needs a key");
    }
    if (!st && (strlen(ns) >= PONS_ITEM_MAX || strlen(key) >= PONS_ITEM_MAX)) {
        st = pons_error_set(err, PONS_EINVAL, "items",
                            "an item's namespace and key have less than %d bytes each",
                            PONS_ITEM_MAX);
    }
    if (!st && (!is_text(ns) || !is_text(key))) {
        st = pons_error_set(err, PONS_EINVAL, "items", "an item's namespace and key are UTF-8");
    }
    if (!st && !json_is_object(value)) {
        st = pons_error_set(err, PONS_EINVAL, "items", "an item's value is a JSON object");
    }
    if (!st && !pons_value_fits(value)) {
        st = pons_error_set(err, PONS_EINVAL, "items", "an item's value is nested deeper than %d",
                            PONS_VALUE_DEPTH_MAX);
    }
    return st ? st : pons__item_paths_check(fields, err);
}

int pons_items_write_put(const pons_items_options *opts, int64_t now_ms, const char *ns,
                         const char *key, const pons_value *value, const pons_item_put *put,
                         pons_item_write **ret, pons_error *err)
{
    const char *const *fields = put && put->fields ? put->fields : opts->fields;
    const bool unsearched = put && put->unsearched;
    int st = check_put(ns, key, value, fields, err);
    if (st) {
        return st;
    }
    char *text = NULL, *words = NULL;
    pons_autobuf vectors = PONS_BUF_INIT;
    const long n = pons_value_dump(value, &text);
    st = n < 0 ? no_memory(err) : words_of(value, fields, unsearched, &words, err);
    if (!st && opts->embed && !unsearched) {
        st = pons__item_embed(opts, value, fields, &vectors, err);
    }
    const int64_t ttl = put && put->ttl_ms ? put->ttl_ms : opts->ttl_ms;
    if (!st) {
        const pons_item_row row = {
            .ns = ns,
            .key = key,
            .value = {text, (size_t)n},
            .words = words,
            .vectors = {vectors.data, vectors.len},
            .updated_ms = now_ms,
            .ttl_ms = ttl > 0 ? ttl : 0,
            .expires_ms = ttl > 0 ? pons_later_ms(now_ms, ttl) : 0,
        };
        st = block_of(PONS_ITEM_PUT, &row, ret, err);
    }
    free(text);
    free(words);
    return st;
}

int pons_items_write_delete(const char *ns, const char *key, pons_item_write **ret, pons_error *err)
{
    int st = pons__item_ns_check(ns, err);
    if (!st && (!key || !key[0])) {
        st = pons_error_set(err, PONS_EINVAL, "items", "an item needs a key");
    }
    return st ? st : block_of(PONS_ITEM_DELETE, &(pons_item_row){.ns = ns, .key = key}, ret, err);
}

// ---- a write as JSON ----------------------------------------------------------------------------

static char *hex_of(pons_bytes b)
{
    static const char digits[] = "0123456789abcdef";
    char *text = malloc(b.len * 2 + 1);
    for (size_t i = 0; text && i < b.len; i++) {
        const uint8_t byte = ((const uint8_t *)b.data)[i];
        text[2 * i] = digits[byte >> 4];
        text[2 * i + 1] = digits[byte & 15];
    }
    if (text) {
        text[b.len * 2] = '\0';
    }
    return text;
}

pons_value *pons_items_write_json(const pons_item_write *w)
{
    const pons_item_row *row = &w->row;
    if (w->what == PONS_ITEM_DELETE) {
        return pons_object_whole("n", json_string(row->ns), "k", json_string(row->key), NULL);
    }
    char *hex = hex_of(row->vectors);
    pons_value *v = pons_object_whole(
        "n", json_string(row->ns), "k", json_string(row->key), "v",
        json_stringn(row->value.data, row->value.len), "w", json_string(row->words), "x",
        hex ? json_string(hex) : NULL, "u", json_integer(row->updated_ms), "t",
        json_integer(row->ttl_ms), "e", json_integer(row->expires_ms), NULL);
    free(hex);
    return v;
}

static int nibble(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

int pons_items_write_parse(const pons_value *v, pons_item_write **ret, pons_error *err)
{
    const char *ns = pons_get_str(v, "n", NULL), *key = pons_get_str(v, "k", NULL),
               *value = pons_get_str(v, "v", NULL), *hex = pons_get_str(v, "x", "");
    if (!ns || !key) {
        return pons_error_set(err, PONS_EINVAL, "items", "a write of an item needs its name");
    }
    if (!value) {
        return block_of(PONS_ITEM_DELETE, &(pons_item_row){.ns = ns, .key = key}, ret, err);
    }
    const size_t n = strlen(hex) / 2;
    uint8_t *bytes = malloc(n + 1);
    if (!bytes) {
        return no_memory(err);
    }
    for (size_t i = 0; i < n; i++) {
        bytes[i] = (uint8_t)(nibble(hex[2 * i]) << 4 | nibble(hex[2 * i + 1]));
    }
    const pons_item_row row = {
        .ns = ns,
        .key = key,
        .value = {value, strlen(value)},
        .words = pons_get_str(v, "w", ""),
        .vectors = {bytes, n},
        .updated_ms = pons_get_int(v, "u", 0),
        .ttl_ms = pons_get_int(v, "t", 0),
        .expires_ms = pons_get_int(v, "e", 0),
    };
    int st = block_of(PONS_ITEM_PUT, &row, ret, err);
    free(bytes);
    return st;
}

// ---- one item -----------------------------------------------------------------------------------

static int have_items(const pons_items *it, pons_error *err)
{
    if (it->store.ops && it->store.ops->items_write) {
        return PONS_OK;
    }
    return pons_error_set(err, PONS_EUNSUPPORTED, "items", "store %s has no items",
                          it->store.ops ? it->store.ops->name : "(none)");
}

static int write_one(const pons_items *it, pons_item_write *w, pons_error *err)
{
    int st = it->store.ops->items_write(it->store.self, w, 1, PONS_SYNC_NORMAL, err);
    free(w);
    return st;
}

int pons_items_put(const pons_items *it, const char *ns, const char *key, const pons_value *value,
                   const pons_item_put *opts, pons_error *err)
{
    pons_item_write *w;
    int st = have_items(it, err);
    st = st ? st
            : pons_items_write_put(&it->opts, pons_wall_ms(&it->clock), ns, key, value, opts, &w,
                                   err);
    return st ? st : write_one(it, w, err);
}

int pons_items_delete(const pons_items *it, const char *ns, const char *key, pons_error *err)
{
    pons_item_write *w;
    int st = have_items(it, err);
    st = st ? st : pons_items_write_delete(ns, key, &w, err);
    return st ? st : write_one(it, w, err);
}

int pons_items_row_json(const pons_item_row *row, pons_value **ret, pons_error *err)
{
    pons_value *value = NULL;
    int st = pons_value_read(row->value.data, row->value.len, &value, NULL);
    if (st) {
        return pons_error_set(err, st == PONS_ENOMEM ? st : PONS_ECORRUPT, "items",
                              "item %.80s in %.80s can't be read", row->key, row->ns);
    }
    *ret = pons_object_whole("namespace", pons__item_labels(row->ns), "key", json_string(row->key),
                             "value", value, "created_ms", json_integer(row->created_ms),
                             "updated_ms", json_integer(row->updated_ms), "expires_ms",
                             row->expires_ms ? json_integer(row->expires_ms) : PONS_ABSENT, NULL);
    return *ret ? PONS_OK : no_memory(err);
}

typedef struct one_item {
    pons_value *item;
    int64_t ttl_ms;
    int st;
    pons_error *err;
} one_item;

static int take_item(void *user, const pons_item_row *row)
{
    one_item *one = user;
    one->st = pons_items_row_json(row, &one->item, one->err);
    one->ttl_ms = row->ttl_ms;
    return 1;
}

int pons_items_get(const pons_items *it, const char *ns, const char *key, pons_value **ret,
                   pons_error *err)
{
    one_item one = {.err = err};
    const int64_t now_ms = pons_wall_ms(&it->clock);
    int st = have_items(it, err);
    st = st ? st : it->store.ops->item_get(it->store.self, ns, key, now_ms, take_item, &one, err);
    st = st ? st : one.st;
    if (!st && it->opts.keep_read && one.ttl_ms) {
        st = pons__item_keep(it, one.item, one.ttl_ms, now_ms, err);
    }
    if (st) {
        pons_value_unref(one.item);
        return st;
    }
    *ret = one.item;
    return PONS_OK;
}

// Where nothing may be written a reading keeps nothing alive, and is a reading all the same.
int pons__item_keep(const pons_items *it, pons_value *item, int64_t ttl_ms, int64_t now_ms,
                    pons_error *err)
{
    char ns[PONS_ITEM_MAX];
    int st = pons_items_ns(pons_get(item, "namespace"), ns, sizeof ns, err);
    if (st) {
        return st;
    }
    const pons_item_write touch = {.what = PONS_ITEM_TOUCH,
                                   .row = {.ns = ns,
                                           .key = pons_get_str(item, "key", ""),
                                           .updated_ms = now_ms,
                                           .expires_ms = pons_later_ms(now_ms, ttl_ms)}};
    st = it->store.ops->items_write(it->store.self, &touch, 1, PONS_SYNC_NORMAL, err);
    if (st == PONS_EENV) {
        if (err) {
            *err = (pons_error)PONS_ERROR_INIT;
        }
        return PONS_OK;
    }
    return st || !json_object_set_new(item, "expires_ms", json_integer(touch.row.expires_ms))
               ? st
               : no_memory(err);
}

int pons_items_sweep(const pons_items *it, int64_t *ret_removed, pons_error *err)
{
    int st = have_items(it, err);
    return st ? st
              : it->store.ops->items_sweep(it->store.self, pons_wall_ms(&it->clock), ret_removed,
                                           err);
}
