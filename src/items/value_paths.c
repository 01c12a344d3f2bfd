// value_paths.c - paths into an item's value, and the texts that they lead to.
//
//     $         all of it
//     a.b       the member b of the member a
//     a[0] a[-1] a[*]    an item of a list, from its end, each
//
// For words, what counts is the leaves: the names of members say nothing about an item. For vectors, a
// thing is one text: a string as it is, everything else as JSON.
#include "items/value_paths.h"

#include <stdlib.h>
#include <string.h>

typedef int (*found_fn)(void *user, const pons_value *v);

static const char *const whole[] = {"$", NULL};

// ---- paths --------------------------------------------------------------------------------------

static int follow(const pons_value *v, const char *path, found_fn fn, void *user);

static int follow_index(const pons_value *v, const char *path, found_fn fn, void *user)
{
    const char *end = strchr(path, ']') + 1;
    const size_t n = json_array_size(v);
    int st = PONS_OK;
    if (path[1] == '*') {
        for (size_t i = 0; i < n && !st; i++) {
            st = follow(json_array_get(v, i), end, fn, user);
        }
        return st;
    }
    const long at = strtol(path + 1, NULL, 10);
    const long place = at < 0 ? at + (long)n : at;
    return place < 0 ? PONS_OK : follow(json_array_get(v, (size_t)place), end, fn, user);
}

// v: what the path so far has led to, or NULL. path: the rest, checked.
static int follow(const pons_value *v, const char *path, found_fn fn, void *user)
{
    if (!v) {
        return PONS_OK;
    }
    path += *path == '.';
    if (!*path) {
        return fn(user, v);
    }
    if (*path == '[') {
        return follow_index(v, path, fn, user);
    }
    const size_t n = strcspn(path, ".[");
    return follow(json_object_getn(v, path, n), path + n, fn, user);
}

// ---- texts --------------------------------------------------------------------------------------

static int add_leaves(void *user, const pons_value *v)
{
    pons_buf *b = user;
    int st = PONS_OK;
    if (json_is_object(v)) {
        pons_each_member(name, child, v) {
            st = st ? st : add_leaves(user, child);
        }
    } else if (json_is_array(v)) {
        pons_each(child, v) {
            st = st ? st : add_leaves(user, child);
        }
    } else if (json_is_string(v)) {
        st = pons_buf_bytes(b, json_string_value(v), json_string_length(v));
        st = st ? st : pons_buf_byte(b, '\n');
    } else if (json_is_number(v)) {
        char *text = NULL;
        const long n = pons_value_dump(v, &text);
        st = n < 0 ? PONS_ENOMEM : pons_buf_printf(b, "%s\n", text);
        free(text);
    }
    return st;
}

static int add_text(void *user, const pons_value *v)
{
    if (json_is_null(v)) {
        return PONS_OK;
    }
    if (json_is_string(v)) {
        return json_array_append(user, (pons_value *)(uintptr_t)v) ? PONS_ENOMEM : PONS_OK;
    }
    char *text = NULL;
    const long n = pons_value_dump(v, &text);
    const int bad = n < 0 || json_array_append_new(user, json_string(text));
    free(text);
    return bad ? PONS_ENOMEM : PONS_OK;
}

int pons__item_paths_check(const char *const *fields, pons_error *err)
{
    for (size_t i = 0; fields && fields[i]; i++) {
        const char *p = fields[i];
        bool good = *p && *p != '.';
        while (good && *p) {
            const char *bracket = strchr(p, '[');
            if (!bracket) {
                break;
            }
            char *end = NULL;
            if (bracket[1] == '*') {
                end = (char *)(uintptr_t)bracket + 2;
            } else {
                strtol(bracket + 1, &end, 10);
            }
            good = end > bracket + 1 && *end == ']' && (!end[1] || end[1] == '.' || end[1] == '[');
            p = good ? end + 1 : p;
        }
        good = good && !strstr(fields[i], "..") && fields[i][strlen(fields[i]) - 1] != '.';
        if (!good) {
            return pons_error_set(err, PONS_EINVAL, "items", "'%s' is no path into an item",
                                  fields[i]);
        }
    }
    return PONS_OK;
}

int pons__item_leaves(const pons_value *value, const char *const *fields, pons_buf *ret)
{
    int st = PONS_OK;
    fields = fields ? fields : whole;
    for (size_t i = 0; fields[i] && !st; i++) {
        st = strcmp(fields[i], "$") == 0 ? add_leaves(ret, value)
                                         : follow(value, fields[i], add_leaves, ret);
    }
    return st;
}

int pons__item_texts(const pons_value *value, const char *const *fields, pons_value *ret_list)
{
    int st = PONS_OK;
    fields = fields ? fields : whole;
    for (size_t i = 0; fields[i] && !st; i++) {
        st = strcmp(fields[i], "$") == 0 ? add_text(ret_list, value)
                                         : follow(value, fields[i], add_text, ret_list);
    }
    return st;
}
