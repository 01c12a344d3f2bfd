// world_names.c - names of zones and objects, as the world has them.
#include "intents/sentence/world_names.h"

#include <stdlib.h>
#include <string.h>

// FNV-1a: a world may have thousands of names, and each is looked for among all.
static uint32_t sum_of(const char *text)
{
    uint32_t sum = 2166136261u;
    for (; *text; text++) {
        sum = (sum ^ (unsigned char)*text) * 16777619u;
    }
    return sum;
}

int pons__parse_no_memory(pons_error *err)
{
    return pons_error_set(err, PONS_ENOMEM, "rules", "cannot understand the goal");
}

static int names_add(pons__parse_state *s, const char *text, const char *id, bool object)
{
    pons__fold f;
    if (!text || !*text) {
        return PONS_OK;
    }
    if (pons__fold_init(&f, text, strlen(text)) != PONS_OK) {
        return pons__parse_no_memory(s->err);
    }
    int rc = PONS_OK;
    pons__name *grown = s->names;
    const uint32_t sum = sum_of(f.s);
    for (size_t i = 0; i < s->names_n; i++) {
        pons__name *n = &s->names[i];
        if (n->sum == sum && n->object == object && strcmp(n->s, f.s) == 0) {
            n->other_id = strcmp(n->id, id) != 0 ? id : n->other_id;
            goto done;
        }
    }
    if (!*f.s) {
        goto done;
    }
    if ((s->names_n & (s->names_n - 1)) == 0) { // 0 or a power of two: it is full
        grown = realloc(s->names, (s->names_n ? 2 * s->names_n : 1) * sizeof *grown);
    }
    if (grown) {
        s->names = grown;
        s->names[s->names_n] =
            (pons__name){.s = strdup(f.s), .id = id, .sum = sum, .object = object};
    }
    if (!grown || !s->names[s->names_n].s) {
        rc = pons__parse_no_memory(s->err);
        goto done;
    }
    s->names_n++;
done:
    pons__fold_fini(&f);
    return rc;
}

// "living room", and as some write it, "livingroom".
static int names_add_both(pons__parse_state *s, const char *text, const char *id, bool object)
{
    char joined[64];
    size_t n = 0;
    const int rc = names_add(s, text, id, object);
    for (size_t i = 0; text && text[i] && n < sizeof joined; i++) {
        if (text[i] != ' ' && text[i] != '_') {
            joined[n++] = text[i];
        }
    }
    if (rc != PONS_OK || !text || n == strlen(text) || n == sizeof joined) {
        return rc;
    }
    joined[n] = '\0';
    return names_add(s, joined, id, object);
}

// names: {lang: text or [text…]}, [text…], or text.
static int names_add_all(pons__parse_state *s, const pons_value *names, const char *id, bool object)
{
    int rc = PONS_OK;
    if (json_is_string(names)) {
        return names_add_both(s, json_string_value(names), id, object);
    }
    if (json_is_array(names)) {
        for (size_t i = 0; rc == PONS_OK && i < json_array_size(names); i++) {
            rc = names_add_both(s, json_string_value(json_array_get(names, i)), id, object);
        }
    } else if (json_is_object(names)) {
        pons_each_member(lang, list, names) {
            if (!json_is_object(list) && (rc = names_add_all(s, list, id, object)) != PONS_OK) {
                break;
            }
        }
    }
    return rc;
}

static int longer_first(const void *a, const void *b)
{
    const pons__name *x = a, *y = b;
    size_t n = strlen(x->s), m = strlen(y->s);
    return n != m                   ? (n < m) - (n > m)
           : x->object != y->object ? x->object - y->object // a zone before an object
                                    : strcmp(x->s, y->s);
}

int pons__names_load(pons__parse_state *s, const char *key, bool object)
{
    const pons_value *list = pons_get(s->world, key);
    size_t n = json_array_size(list);
    int rc = PONS_OK;
    for (size_t i = 0; rc == PONS_OK && i < n; i++) {
        const pons_value *thing = json_array_get(list, i);
        const char *id =
            json_is_string(thing) ? json_string_value(thing) : pons_get_str(thing, "id", NULL);
        if (id && (rc = names_add_both(s, id, id, object)) == PONS_OK) {
            rc = names_add_all(s, pons_get(thing, "names"), id, object);
        }
    }
    // A class names its one object; two apples need their own names.
    for (size_t i = 0; rc == PONS_OK && i < n; i++) {
        const pons_value *thing = json_array_get(list, i);
        const char *id = pons_get_str(thing, "id", NULL);
        rc = id ? names_add(s, pons_get_str(thing, "class", NULL), id, object) : PONS_OK;
    }
    if (s->names_n) {
        qsort(s->names, s->names_n, sizeof *s->names, longer_first);
    }
    return rc;
}

size_t pons__name_here(const pons__parse_state *s, size_t pos, size_t end, const pons__name **ret)
{
    for (size_t i = 0; i < s->names_n; i++) {
        size_t after = pons__literal_at(s->f.s, pos, end, s->names[i].s);
        if (after) {
            *ret = &s->names[i];
            return after;
        }
    }
    return 0;
}

bool pons__name_fits(pons__slot slot, const pons__name *n)
{
    return slot == SLOT_PLACE || n->object == (slot == SLOT_OBJECT);
}

size_t pons__zone_here(const pons__parse_state *s, size_t pos, size_t end, const pons__name **ret)
{
    for (size_t k = 0; k <= ARTICLES_MAX; k++) {
        for (size_t j = 0; j < s->names_n; j++) {
            size_t after =
                s->names[j].object ? 0 : pons__literal_at(s->f.s, pos, end, s->names[j].s);
            if (after) {
                *ret = &s->names[j];
                return after;
            }
        }
        if (!(pos = pons__word_at(&s->r->articles, s->f.s, pos, end, NULL))) {
            break;
        }
    }
    return 0;
}
