// record_text.c - between a file's words and the model's.
//
//     {"id":"a","parameters":{…},"x":1}  --read-->   {"action_id":"a","params":{…},"x":1}
//                                        <--write--
//
// Reading takes each field from whichever of its names is there; two that disagree are a fault, as
// nobody can know which was meant. Patching writes a change under the name that the file has.
#include "workspace/model/record_text.h"

#include "pons/out_of_memory.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define SCHEME "://"

// ---- paths --------------------------------------------------------------------------------------

// snprintf of "%.*s" costs ten times as much, and this is asked for every name of every field.
static void copy_name(char ret[64], const char *s, size_t n)
{
    n = n < 63 ? n : 63;
    memcpy(ret, s, n);
    ret[n] = '\0';
}

// One step of a path into name; what follows it, or NULL at the end.
static const char *step(const char *path, char name[64])
{
    const char *dot = strchr(path, '.');
    const size_t n = dot ? (size_t)(dot - path) : strlen(path);
    copy_name(name, path, n);
    return dot ? dot + 1 : NULL;
}

const pons_value *pons__ws_path_get(const pons_value *v, const char *path)
{
    char name[64];
    while (path && v) {
        path = step(path, name);
        v = pons_get(v, name);
    }
    return v;
}

void pons__ws_path_set(pons_value *v, const char *path, pons_value *take)
{
    char name[64];
    for (path = step(path, name); path; path = step(path, name)) {
        pons_value *inner = json_object_get(v, name);
        if (!json_is_object(inner)) {
            inner = json_object();
            json_object_set_new(v, name, inner);
        }
        v = inner;
    }
    json_object_set_new(v, name, take);
}

void pons__ws_path_remove(pons_value *v, const char *path)
{
    char name[64];
    const char *rest = step(path, name);
    pons_value *inner = json_object_get(v, name);
    if (rest && json_is_object(inner)) {
        pons__ws_path_remove(inner, rest);
        if (json_object_size(inner) > 0) {
            return;
        }
    }
    if (!rest || json_is_object(inner)) {
        json_object_del(v, name);
    }
}

// ---- one field ----------------------------------------------------------------------------------

typedef enum ws_reading {
    AS_IT_IS,
    ONE_LESS,
    INSTEAD
} ws_reading; // INSTEAD: where no other name is

// The n-th name that a field is read by, and how; NULL behind the last.
static const char *name_at(const ws_field *f, int n, char buf[64], ws_reading *ret_how)
{
    const char *name = NULL;
    *ret_how = AS_IT_IS;
    if (n == 0) {
        name = f->name;
    } else if (n < PONS_WS_DIALECTS) {
        name = f->names[n] && (n == 1 || !f->names[1] || strcmp(f->names[1], f->names[n]) != 0)
                   ? f->names[n]
                   : "";
    } else {
        const char *at = f->also ? f->also : "";
        for (int i = PONS_WS_DIALECTS; *at && i < n; i++) {
            at += strcspn(at, " ");
            at += strspn(at, " ");
        }
        *ret_how = *at == '?' ? INSTEAD : AS_IT_IS;
        at += *ret_how == INSTEAD;
        const size_t len = strcspn(at, " ");
        copy_name(buf, at, len);
        return len ? buf : NULL;
    }
    const size_t len = strlen(name);
    const bool less = len && name[len - 1] == '-';
    *ret_how = less ? ONE_LESS : AS_IT_IS;
    copy_name(buf, name, len - less);
    return buf;
}

static void copy_word(char ret[40], const char *s, size_t n)
{
    n = n < 39 ? n : 39;
    memcpy(ret, s, n);
    ret[n] = '\0';
}

// The word of the model that `text` is among `words`, or, `write`, the dialect's of one of the model's.
static bool find_word(const char *words, const char *text, pons_ws_dialect d, bool write,
                      char ret[40])
{
    const size_t len = strlen(text);
    for (const char *at = words; *at;) {
        const size_t n = strcspn(at, " "), main = strcspn(at, " =>");
        const char *second = at + main + 1;
        const size_t second_len = n > main ? n - main - 1 : 0;
        const bool alias = n > main && at[main] == '>';
        const bool is_main = main == len && strncmp(at, text, len) == 0;
        if (write && !alias && is_main) {
            const bool other = second_len && d == PONS_WS_PAOS2;
            copy_word(ret, other ? second : at, other ? second_len : main);
            return true;
        }
        if (!write && is_main) {
            copy_word(ret, alias ? second : at, alias ? second_len : main);
            return true;
        }
        if (!write && !alias && second_len && second_len == len &&
            strncmp(second, text, len) == 0) {
            copy_word(ret, at, main);
            return true;
        }
        at += n;
        at += strspn(at, " ");
    }
    return false;
}

// A policy client that is one string: an address, a path, or a kind.
static pons_value *client_of(const char *s)
{
    if (strstr(s, SCHEME)) {
        const bool http = strncmp(s, "http", 4) == 0;
        char kind[40];
        snprintf(kind, sizeof kind, "%.*s", (int)strcspn(s, ":"), s);
        return pons_object("type", json_string(http ? "http" : kind), "endpoint", json_string(s),
                           NULL);
    }
    if (*s == '/' || *s == '.' || *s == '~') {
        return pons_object("type", json_string("local"), "checkpoint", json_string(s), NULL);
    }
    return pons_object("type", json_string(s), NULL);
}

// The string that says the same as the client, or NULL.
static pons_value *client_string(const pons_value *v)
{
    const char *endpoint = pons_get_str(v, "endpoint", NULL);
    const char *checkpoint = pons_get_str(v, "checkpoint", NULL);
    const char *s = endpoint ? endpoint : checkpoint ? checkpoint : pons_get_str(v, "type", NULL);
    pons_autovalue back = s ? client_of(s) : NULL;
    return back && json_equal(back, v) ? json_string(s) : NULL;
}

static bool fits(const ws_field *f, const pons_value *v)
{
    switch (f->type) {
    case WS_ANY:
    case WS_POSE:
        return true;
    case WS_STRING:
    case WS_WORD:
    case WS_REF:
        return json_is_string(v);
    case WS_NUMBER:
        return json_is_number(v);
    case WS_COUNT:
        return (json_is_integer(v) && json_integer_value(v) >= 0) ||
               (json_is_real(v) && json_real_value(v) >= 0 &&
                floor(json_real_value(v)) == json_real_value(v));
    case WS_BOOL:
        return json_is_boolean(v);
    case WS_MAP:
        return json_is_object(v);
    case WS_LIST:
    case WS_WORDS:
        return json_is_array(v);
    case WS_NUMBERS:
        if (json_is_object(v)) {
            const pons_value *z = pons_get(v, "z");
            return json_is_number(pons_get(v, "x")) && json_is_number(pons_get(v, "y")) &&
                   (!z || json_is_number(z));
        }
        pons_each(item, v) {
            if (!json_is_number(item)) {
                return false;
            }
        }
        return json_is_array(v);
    case WS_CLIENT:
        return json_is_object(v) || json_is_string(v);
    }
    return false;
}

static const char *const type_words[] = {
    [WS_ANY] = "anything",          [WS_STRING] = "a string",
    [WS_NUMBER] = "a number",       [WS_COUNT] = "a whole number, not negative",
    [WS_BOOL] = "true or false",    [WS_MAP] = "a map",
    [WS_LIST] = "a list",           [WS_NUMBERS] = "a list of numbers, or x, y and z",
    [WS_POSE] = "anything",         [WS_WORD] = "a word",
    [WS_REF] = "a string",          [WS_CLIENT] = "a map or a string",
    [WS_WORDS] = "a list of words",
};

// A list with its words as the model, or, `write`, the dialect has them.
static pons_value *words_of(const ws_field *f, const pons_value *list, pons_ws_dialect d,
                            bool write)
{
    char word[40];
    pons_value *out = json_array();
    pons_each(v, list) {
        const char *s = json_string_value(v);
        json_array_append_new(out, s && find_word(f->words, s, d, write, word) ? json_string(word)
                                                                               : json_deep_copy(v));
    }
    return out;
}

// paos2's policy says under policy_client what type it is.
static pons_value *client_read(const pons_value *v)
{
    const char *type = pons_get_str(v, "policy_client", NULL);
    if (!type || pons_get(v, "type")) {
        return json_deep_copy(v);
    }
    pons_value *client = json_object();
    json_object_set_new(client, "type", json_string(type));
    json_object_update(client, (json_t *)(uintptr_t)v);
    json_object_del(client, "policy_client");
    return client;
}

static pons_value *client_write(const pons_value *v)
{
    pons_value *policy = json_object();
    pons_each_member(key, member, v) {
        const char *name = strcmp(key, "type") == 0 ? "policy_client" : key;
        json_object_set_new(policy, name, json_deep_copy(member));
    }
    return policy;
}

// {x, y} and {x, y, z} as a list; a map that says more stays as it is.
static pons_value *list_of_axes(const pons_value *v)
{
    const pons_value *z = pons_get(v, "z");
    if (!json_is_object(v) || json_object_size(v) != 2u + (z != NULL)) {
        return json_deep_copy(v);
    }
    pons_value *list = json_array();
    json_array_append(list, json_object_get(v, "x"));
    json_array_append(list, json_object_get(v, "y"));
    if (z) {
        json_array_append(list, (json_t *)(uintptr_t)z);
    }
    return list;
}

// A list of numbers in the form of what stands there: {x, y, z, …} where it is such a map; else the list. A pose's
// third number of three is its yaw.
static pons_value *axes_of_list(const ws_field *f, const pons_value *there, const pons_value *v)
{
    static const char *const position[] = {"x", "y", "z"}, *const flat[] = {"x", "y", "yaw"},
                             *const pose[] = {"x", "y", "z", "roll", "pitch", "yaw"};
    const size_t n = json_array_size(v);
    const bool is_pose = f->type == WS_POSE;
    if (!json_is_object(there) || !(n == 3 || (n == 2 && !is_pose) || (n == 6 && is_pose))) {
        return json_deep_copy(v);
    }
    const char *const *names = !is_pose ? position : n == 3 ? flat : pose;
    pons_value *map = json_deep_copy(there);
    json_object_del(map, "stamp"); // when the old ones were so
    for (size_t i = 0; i < n; i++) {
        json_object_set(map, names[i], json_array_get(v, i));
    }
    return map;
}

// A field's value by the model, from a file's; NULL: what says why not.
static pons_value *field_read(const ws_field *f, const char *name, bool less, const pons_value *v,
                              char what[WS_WHAT_MAX])
{
    char word[40];
    if (json_is_null(v)) {
        return json_null();
    }
    if (!fits(f, v)) {
        snprintf(what, WS_WHAT_MAX, "%s must be %s", name, type_words[f->type]);
        return NULL;
    }
    const char *s = json_string_value(v);
    if (f->required && s && !*s) {
        snprintf(what, WS_WHAT_MAX, "%s is empty", name);
        return NULL;
    }
    if (f->type == WS_WORD) {
        if (!find_word(f->words, s, PONS_WS_SEED, false, word)) {
            snprintf(what, WS_WHAT_MAX, "%s cannot be '%.40s'", name, s);
            return NULL;
        }
        return json_string(word);
    }
    if (f->type == WS_REF) {
        const char *scheme = strstr(s, SCHEME);
        return json_string(scheme ? scheme + strlen(SCHEME) : s);
    }
    if (f->type == WS_CLIENT) {
        return s ? client_of(s) : client_read(v);
    }
    if (f->type == WS_WORDS) {
        return words_of(f, v, PONS_WS_SEED, false);
    }
    if (less) {
        return json_integer((json_int_t)json_number_value(v) + 1);
    }
    return f->type == WS_NUMBERS ? list_of_axes(v) : json_deep_copy(v);
}

static pons_value *field_write(const ws_field *f, pons_ws_dialect d, const pons_value *v)
{
    char word[40], ref[512];
    const char *s = json_string_value(v);
    const char *name = pons__ws_field_name(f, d);
    const size_t len = strlen(name);
    switch (f->type) {
    case WS_WORD:
        if (s && find_word(f->words, s, d, true, word)) {
            return json_string(word);
        }
        break;
    case WS_REF:
        if (s && d == PONS_WS_PAOS2 && !strstr(s, SCHEME)) {
            snprintf(ref, sizeof ref, "%s%s%s", f->words, SCHEME, s);
            return json_string(ref);
        }
        break;
    case WS_NUMBERS:
        if (d == PONS_WS_PAOS1) { // its programs read them by name
            pons_autovalue axes = json_object();
            return axes_of_list(f, axes, v);
        }
        break;
    case WS_CLIENT:
        if (d == PONS_WS_PAOS1) {
            pons_value *string = client_string(v);
            return string ? string : json_deep_copy(v);
        }
        if (d == PONS_WS_PAOS2 && json_is_object(v)) {
            return client_write(v);
        }
        break;
    case WS_WORDS:
        if (json_is_array(v)) {
            return words_of(f, v, d, true);
        }
        break;
    default:
        break;
    }
    if (len && name[len - 1] == '-' && json_is_number(v)) {
        const json_int_t n = (json_int_t)json_number_value(v);
        return json_integer(n > 0 ? n - 1 : 0);
    }
    return json_deep_copy(v);
}

// ---- a record -----------------------------------------------------------------------------------

void pons__ws_record_fill(pons_value *into, const pons_value *from)
{
    pons_each_member(key, v, from) {
        pons_value *have = json_object_get(into, key);
        if (!have) {
            json_object_set_new(into, key, json_deep_copy(v));
        } else if (json_is_object(have) && json_is_object(v)) {
            pons__ws_record_fill(have, v);
        }
    }
}

// As pons__ws_path_remove, of a value whose members are somebody else's too: those on the way are copied.
static void remove_shared(pons_value *v, const char *path)
{
    char name[64];
    const char *rest = step(path, name);
    pons_value *inner = rest ? json_object_get(v, name) : NULL;
    pons_autovalue own = json_is_object(inner) ? json_copy(inner) : NULL;
    if (own) {
        remove_shared(own, rest);
    }
    if (own && json_object_size(own) > 0) {
        json_object_set(v, name, own);
    } else if (!rest || own) {
        json_object_del(v, name);
    }
}

// Names that were taken, each behind its length.
static void note_taken(pons_buf *taken, const char *name)
{
    const char len = (char)strlen(name);
    if (pons_buf_bytes(taken, &len, 1) < 0 || pons_buf_bytes(taken, name, (size_t)len) < 0) {
        pons_end_no_memory("a record");
    }
}

// What of raw was not taken, its members shared; NULL: nothing. `at`, its first n bytes, is where raw stands.
static pons_value *untaken(const pons_value *raw, const pons_buf *taken, char at[64], size_t n)
{
    pons_value *rest = NULL;
    pons_each_member(key, v, raw) {
        const size_t len = strlen(key), end = n + len;
        bool whole = false, part = false;
        if (end < 63 && !strchr(key, '.')) { // else it is nobody's name
            memcpy(at + n, key, len);
            for (size_t i = 0; i < taken->len; i += 1 + (size_t)taken->data[i]) {
                const size_t has = (size_t)taken->data[i];
                const char *name = taken->data + i + 1;
                if (has >= end && memcmp(name, at, end) == 0) {
                    whole = whole || has == end;
                    part = part || (has > end && name[end] == '.');
                }
            }
        }
        if (whole) {
            continue;
        }
        pons_value *left = NULL;
        if (part && json_is_object(v)) {
            at[end] = '.';
            left = untaken(v, taken, at, end + 1);
        } else {
            left = pons_value_ref(v);
        }
        if (left) {
            rest = rest ? rest : json_object();
            json_object_set_new(rest, key, left);
        }
    }
    return rest;
}

// One field into `out`, its names among `taken`; false: what and path say why.
static bool take_field(const ws_field *f, const pons_value *raw, pons_buf *taken, pons_value *out,
                       bool all_names, char what[WS_WHAT_MAX], char path[64])
{
    char buf[64], first[64] = "";
    ws_reading how;
    pons_value *have = NULL;
    const char *name;
    for (int n = 0; (name = name_at(f, n, buf, &how)) != NULL; n++) {
        const pons_value *v = *name && (all_names || n == 0) ? pons__ws_path_get(raw, name) : NULL;
        if (!v || (have && how == INSTEAD)) {
            continue;
        }
        copy_name(path, name, strlen(name));
        pons_value *is = field_read(f, name, how == ONE_LESS, v, what);
        if (!is || (have && !json_equal(is, have))) {
            if (is) {
                snprintf(what, WS_WHAT_MAX, "%s and %s contradict each other", first, name);
            }
            json_decref(is);
            json_decref(have);
            return false;
        }
        json_decref(have);
        have = is;
        copy_name(first, name, strlen(name));
        note_taken(taken, name);
    }
    if (!have && f->preset) {
        have = json_string(f->preset);
    }
    const bool excused = f->unless && pons_get(raw, f->unless);
    if (f->required && !excused && (!have || json_is_null(have))) {
        snprintf(what, WS_WHAT_MAX, "%s is missing", f->name);
        path[0] = '\0';
        json_decref(have);
        return false;
    }
    if (have) {
        pons__ws_path_set(out, f->name, have);
    }
    return true;
}

static pons_value *read_fields(ws_kind kind, const pons_value *raw, bool all_names,
                               char what[WS_WHAT_MAX], char path[64])
{
    const ws_kind_info *k = pons__ws_kind_of(kind);
    path[0] = '\0';
    if (!json_is_object(raw)) {
        snprintf(what, WS_WHAT_MAX, "%s %s must be a map", strchr("aeio", k->name[0]) ? "an" : "a",
                 k->name);
        return NULL;
    }
    char at[64];
    pons_autobuf taken = PONS_BUF_INIT;
    pons_value *out = json_object();
    for (size_t i = 0; i < k->n_fields; i++) {
        if (!take_field(&k->fields[i], raw, &taken, out, all_names, what, path)) {
            json_decref(out);
            return NULL;
        }
    }
    pons_autovalue rest = untaken(raw, &taken, at, 0);
    pons__ws_record_fill(out, rest);
    return out;
}

pons_value *pons__ws_record_read(ws_kind kind, const pons_value *raw, char what[WS_WHAT_MAX],
                                 char path[64])
{
    return read_fields(kind, raw, true, what, path);
}

pons_value *pons__ws_record_check(ws_kind kind, const pons_value *value, char what[WS_WHAT_MAX],
                                  char path[64])
{
    return read_fields(kind, value, false, what, path);
}

// A dialect's name of a field without its mark.
static void written_name(const ws_field *f, pons_ws_dialect d, char ret[64])
{
    const char *name = pons__ws_field_name(f, d);
    const size_t len = strlen(name);
    copy_name(ret, name, len && name[len - 1] == '-' ? len - 1 : len);
}

pons_value *pons__ws_record_write(ws_kind kind, pons_ws_dialect d, const pons_value *value)
{
    const ws_kind_info *k = pons__ws_kind_of(kind);
    pons_autovalue rest = json_copy((json_t *)(uintptr_t)value);
    pons_value *out = json_object();
    char name[64];
    for (size_t i = 0; i < k->n_fields; i++) {
        const ws_field *f = &k->fields[i];
        const pons_value *v = pons__ws_path_get(value, f->name);
        if (v) {
            written_name(f, d, name);
            pons__ws_path_set(out, name, field_write(f, d, v));
            remove_shared(rest, f->name);
        }
    }
    pons__ws_record_fill(out, rest);
    return out;
}

// What of `after` is not as in `before` is put into raw; both without fields.
static void patch_rest(pons_value *raw, const pons_value *before, const pons_value *after)
{
    pons_each_member(key, v, before) {
        if (!pons_get(after, key)) {
            json_object_del(raw, key);
        }
    }
    pons_each_member(key, v, after) {
        const pons_value *was = pons_get(before, key);
        pons_value *inner = json_object_get(raw, key);
        if (was && json_equal(was, v)) {
            continue;
        }
        if (json_is_object(v) && json_is_object(inner) && (!was || json_is_object(was))) {
            patch_rest(inner, was, v);
        } else {
            json_object_set_new(raw, key, json_deep_copy(v));
        }
    }
}

static pons_value *without_fields(const ws_kind_info *k, const pons_value *v)
{
    pons_value *rest = json_deep_copy(v);
    for (size_t i = 0; i < k->n_fields; i++) {
        pons__ws_path_remove(rest, k->fields[i].name);
    }
    return rest;
}

// A changed field goes under the name that the file has for it, else the dialect's.
static void patch_field(const ws_field *f, pons_ws_dialect d, pons_value *raw,
                        const pons_value *after)
{
    char buf[64], name[64];
    ws_reading how;
    bool found = false;
    const char *n;
    written_name(f, d, name);
    for (int i = 0; (n = name_at(f, i, buf, &how)) != NULL; i++) {
        const pons_value *there = *n ? pons__ws_path_get(raw, n) : NULL;
        if (!there || (found && how == INSTEAD)) {
            continue;
        }
        found = true;
        if (!after) {
            pons__ws_path_remove(raw, n);
        } else if (f->type == WS_NUMBERS || f->type == WS_POSE) {
            pons__ws_path_set(raw, n, axes_of_list(f, there, after));
        } else {
            // Under another dialect's name it has that dialect's way of saying it.
            const pons_ws_dialect as = i > 0 && i < PONS_WS_DIALECTS ? (pons_ws_dialect)i : d;
            const bool own = strcmp(n, name) == 0;
            pons__ws_path_set(raw, n, field_write(f, own ? d : i == 0 ? PONS_WS_SEED : as, after));
        }
    }
    if (!found && after) {
        pons__ws_path_set(raw, name, field_write(f, d, after));
    }
}

pons_value *pons__ws_record_patch(ws_kind kind, pons_ws_dialect d, const pons_value *raw,
                                  const pons_value *before, const pons_value *after)
{
    const ws_kind_info *k = pons__ws_kind_of(kind);
    pons_value *out = json_deep_copy(raw);
    for (size_t i = 0; i < k->n_fields; i++) {
        const ws_field *f = &k->fields[i];
        const pons_value *was = pons__ws_path_get(before, f->name),
                         *is = pons__ws_path_get(after, f->name);
        if (was == is || (was && is && json_equal(was, is))) {
            continue;
        }
        patch_field(f, d, out, is);
    }
    pons_autovalue old_rest = without_fields(k, before);
    pons_autovalue new_rest = without_fields(k, after);
    patch_rest(out, old_rest, new_rest);
    return out;
}

char *pons__ws_record_id(ws_kind kind, const pons_value *value)
{
    pons_autobuf id = PONS_BUF_INIT;
    const ws_kind_info *k = pons__ws_kind_of(kind);
    const char *text = k->id ? json_string_value(pons__ws_path_get(value, k->id)) : NULL;
    if (k->id && (!text || !*text)) {
        return NULL;
    }
    const bool of_body =
        kind == WS_IDENTITY || kind == WS_SENSOR || kind == WS_ACTION_TYPE || kind == WS_LIMIT;
    const char *target = of_body ? pons_get_str(value, WS_TARGET_KEY, "") : "";
    const char *section = of_body ? pons_get_str(value, WS_SECTION_KEY, "") : "";
    if (*target) { // of a page about several robots
        pons_buf_printf(&id, "%s::", target);
    }
    if (*section) {
        pons_buf_printf(&id, "%s ", section);
    }
    if (k->id) {
        pons_buf_str(&id, text);
    } else if (kind == WS_EDGE) {
        pons_buf_printf(&id, "%s %s %s", pons_get_str(value, "from", ""),
                        pons_get_str(value, "relation", ""), pons_get_str(value, "to", ""));
    } else if (kind == WS_LESSON) {
        const char *at = pons_get_str(value, "at", ""), *title = pons_get_str(value, "title", "");
        const char *given = pons_get_str(value, "id", "");
        if (*given) {
            pons_buf_str(&id, given);
        } else if (*at) {
            pons_buf_printf(&id, "%s %s", at, title);
        } else {
            char hash[33];
            pons_value_hash(value, hash);
            pons_buf_printf(&id, "%s-%.8s", *title ? title : "lesson", hash);
        }
    } else {
        pons_buf_str(&id, k->name);
    }
    char *taken = pons_buf_take(&id, NULL);
    return taken;
}

int pons__ws_record_resembles(ws_kind kind, pons_ws_dialect d, const pons_value *raw)
{
    const ws_kind_info *k = pons__ws_kind_of(kind);
    char name[64];
    int n = 0;
    for (size_t i = 0; i < k->n_fields; i++) {
        const ws_field *f = &k->fields[i];
        written_name(f, d, name);
        const bool refers = d == PONS_WS_PAOS2 && f->type == WS_REF;
        const bool other = strcmp(name, f->name) != 0; // than in the first dialect
        const pons_value *v = refers || other ? pons__ws_path_get(raw, name) : NULL;
        const char *s = refers ? json_string_value(v) : NULL;
        n += (other && v) + (s && strstr(s, SCHEME));
    }
    return n;
}
