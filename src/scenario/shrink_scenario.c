// shrink_scenario.c - the smallest story that still goes wrong in the same way.
//
// Of a story that failed, goals, events, replies of the model and the other members are left out one
// after the other, the last ones first; what fails without it fails all the same is left out for
// good, until nothing more can go. A story fails in the same way when its first miss is the same but
// for its numbers and names: a shorter one that fails otherwise is another story.
#include "scenario/checks/expectations.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

// A copy in which the index-th item of a list, or a member that is no list, is missing.
static pons_value *without(const pons_value *story, const char *key, size_t index)
{
    pons_value *fewer = json_copy((json_t *)story);
    const pons_value *list = pons_get(story, key);
    pons_autovalue rest = json_array();
    for (size_t i = 0; i < json_array_size(list); i++) {
        if (i != index) {
            json_array_append(rest, json_array_get(list, i));
        }
    }
    json_object_del(fewer, key);
    if (json_array_size(rest) > 0) {
        json_object_set(fewer, key, rest);
    }
    return fewer;
}

// The first miss's words, without its time, and with the letters only: ids and places differ.
static void kind_of(const pons_value *report, char ret[128])
{
    const char *miss = json_string_value(json_array_get(pons_get(report, "misses"), 0));
    const char *from = miss && strncmp(miss, "at ", 3) == 0 ? strchr(miss, ':') : miss;
    size_t n = 0;
    for (const char *c = from; c && *c && n < 40; c++) {
        const bool hex = isxdigit((unsigned char)c[0]) && isxdigit((unsigned char)c[1]) &&
                         isdigit((unsigned char)c[1]);
        if (hex) {
            break; // an id begins
        }
        if (!isdigit((unsigned char)*c)) {
            ret[n++] = *c;
        }
    }
    ret[n] = '\0';
}

static bool fails_so(const pons_value *story, const pons_scenario_env *env,
                     const pons_scenario_options *opts, const char *kind, int64_t *runs)
{
    const pons_scenario fewer = {.value = (pons_value *)story};
    pons_autovalue report = NULL;
    pons_error ignored = PONS_ERROR_INIT;
    char now[128];
    ++*runs;
    if (pons_scenario_run(&fewer, env, opts, &report, &ignored) < 0) {
        return false;
    }
    kind_of(report, now);
    return strcmp(now, kind) == 0;
}

// Tries to leave out each item of a list; an emptied list goes as a whole.
static bool cut(pons_value **story, const char *key, size_t least, const pons_scenario_env *env,
                const pons_scenario_options *opts, const char *kind, int64_t *runs)
{
    bool less = false;
    const pons_value *list = pons_get(*story, key);
    for (size_t i = json_is_array(list) ? json_array_size(list) : 0;
         i > 0 && json_array_size(pons_get(*story, key)) > least; i--) {
        pons_value *fewer = without(*story, key, i - 1);
        if (fails_so(fewer, env, opts, kind, runs)) {
            pons_value_unref(*story);
            *story = pons_value_ref(fewer);
            less = true;
        }
        pons_value_unref(fewer);
    }
    return less;
}

int pons_scenario_shrink(const pons_scenario *s, const pons_scenario_env *env,
                         const pons_scenario_options *opts, pons_scenario **ret, int64_t *ret_runs,
                         pons_error *err)
{
    static const char *const lists[] = {"events", "model", "goals"};
    static const char *const words[] = {"model", "approval_skills", "after_reset", "battery_pct"};
    char kind[128];
    pons_autovalue report = NULL;
    pons_scenario_env quiet = *env;
    quiet.on_event = NULL;
    *ret_runs = 1;
    const int rc = pons_scenario_run(s, &quiet, opts, &report, err);
    if (rc < 0) {
        return rc;
    }
    kind_of(report, kind);
    pons_value *story = pons_value_ref(s->value);
    bool less = *kind != '\0';
    while (less) {
        less = false;
        for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
            const size_t least = strcmp(lists[i], "goals") == 0 ? 1 : 0;
            less = cut(&story, lists[i], least, &quiet, opts, kind, ret_runs) || less;
        }
        for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
            pons_value *fewer = without(story, words[i], 0);
            if (pons_get(story, words[i]) && !json_is_array(pons_get(story, words[i])) &&
                fails_so(fewer, &quiet, opts, kind, ret_runs)) {
                pons_value_unref(story);
                story = pons_value_ref(fewer);
                less = true;
            }
            pons_value_unref(fewer);
        }
    }
    pons_scenario *small = calloc(1, sizeof *small);
    if (!small) {
        pons_value_unref(story);
        return pons_error_set(err, PONS_ENOMEM, "scenario", "no memory");
    }
    small->value = story;
    *ret = small;
    return PONS_OK;
}
