// settings.c - numbers of config/sight.yaml by label, and the words for a label.
//
//     label "cup" --world's objects of that class--> cup, mug, 杯子 --synonyms: groups that have one--> …, 茶杯
//
// schemas/sight.json has checked the file; a configuration that was made otherwise is checked here for what the memory
// would not survive.
#include "sight/memory/settings.h"

#include "pons/object_memory.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

static const double HALF_LIFE_S = 86400.0, MERGE_M = 0.3;

static double by_label(const pons_value *table, const char *label, double fallback)
{
    return pons_get_num(table, label, pons_get_num(table, "default", fallback));
}

double pons__sight_half_life_s(const pons__sight_settings *s, const char *label)
{
    return by_label(pons_get(s->config, "half_life_s"), label, HALF_LIFE_S);
}

double pons__sight_merge_m(const pons__sight_settings *s, const char *label)
{
    return by_label(pons_get(s->config, "merge_m"), label, MERGE_M);
}

static bool above(const pons_value *table, double least)
{
    pons_each_member(key, v, table) {
        if (!json_is_number(v) || !(json_number_value(v) >= least)) {
            return false;
        }
    }
    return true;
}

int pons__sight_settings_init(pons__sight_settings *s, const pons_value *config,
                              const pons_value *objects, pons_error *err)
{
    const double forget_s = pons_get_num(config, "forget_s", 30.0 * 86400.0),
                 write_s = pons_get_num(config, "write_s", 30.0);
    *s = (pons__sight_settings){.known_after = pons_get_int(config, "known_after", 2),
                                .sure_score = pons_get_num(config, "sure_score", 0.98),
                                .forget_ms = (int64_t)(forget_s * 1000.0),
                                .write_ms = (int64_t)(write_s * 1000.0)};
    if (!above(pons_get(config, "half_life_s"), 1.0) || !above(pons_get(config, "merge_m"), 0.0) ||
        s->known_after < 1 || !(forget_s >= 0.0 && forget_s < 1e10) ||
        !(write_s >= 0.0 && write_s < 1e10)) {
        return pons_error_set(err, PONS_EINVAL, "sight",
                              "half_life_s must be 1 or more, merge_m, forget_s and write_s 0 or "
                              "more, known_after 1 or more");
    }
    s->names = json_object();
    if (!s->names) {
        return pons_error_set(err, PONS_ENOMEM, "sight", "no memory for names");
    }
    s->config = pons_value_ref(config);
    s->objects = pons_value_ref(objects);
    return PONS_OK;
}

void pons__sight_settings_fini(pons__sight_settings *s)
{
    pons_value_unref(s->names);
    pons_value_unref(s->objects);
    pons_value_unref(s->config);
    *s = (pons__sight_settings){0};
}

static bool add_words(pons_value *into, const pons_value *words)
{
    pons_each(w, words) {
        if (json_is_string(w) && !pons_list_has_word(into, json_string_value(w)) &&
            json_array_append_new(into, pons_value_ref(w))) {
            return false;
        }
    }
    return true;
}

static bool same_words(const pons_value *a, const pons_value *b)
{
    pons_each(w, a) {
        if (json_is_string(w) && pons_list_has_word(b, json_string_value(w))) {
            return true;
        }
    }
    return false;
}

// Whether a thing of the map may be called so: of a kind of which it has a tag, the one with that tag alone.
static bool is_named(const pons_value *thing, const char *label, const char *identity)
{
    const char *tag = pons_get_str(thing, "tag", "");
    return (strcasecmp(pons_get_str(thing, "class", ""), label) == 0 ||
            strcasecmp(pons_get_str(thing, "id", ""), label) == 0) &&
           (!*tag || !*identity || strcmp(tag, identity) == 0);
}

const pons_value *pons__sight_names(pons__sight_settings *s, const char *label,
                                    const char *identity)
{
    char key[2 * PONS_OBJECT_TEXT + 1];
    snprintf(key, sizeof key, "%s\n%s", label, identity ? identity : "");
    const pons_value *have = pons_get(s->names, key);
    if (have) {
        return have;
    }
    pons_autovalue list = json_array();
    bool whole = list && !json_array_append_new(list, json_string(label));
    pons_each(o, s->objects) {
        if (whole && is_named(o, label, identity ? identity : "")) {
            pons_each_member(language, words, pons_get(o, "names")) {
                whole = whole && add_words(list, words);
            }
        }
    }
    pons_each(group, pons_get(s->config, "synonyms")) {
        whole = whole && (!same_words(group, list) || add_words(list, group));
    }
    if (!whole || json_object_set(s->names, key, list)) {
        return NULL;
    }
    return list; // the table has it
}
