// call.c - "do SKILL {…}": any skill by its name, with its arguments as JSON.
//
//     do spin {"angle_rad": 1.57}  -->  {intent: do, skill: spin, args: {angle_rad: 1.57}, text}
//
// It is no sentence, and no part of one: names of skills are not words that people say. Whether the
// arguments fit is the critic's to say, as with every other operation. Any thread.
#include "policy/intents.h"

#include <stdio.h>
#include <string.h>

#define NAME_MAX_BYTES 64
#define LIST_MAX_BYTES 320

// "spin, wait, look".
static void list_names(const pons_value *skills, char *ret, size_t cap)
{
    size_t used = 0;
    ret[0] = '\0';
    for (size_t i = 0; i < json_array_size(skills); i++) {
        const char *one = pons_get_str(json_array_get(skills, i), "name", "");
        if (used + strlen(one) + 3 < cap) {
            used += (size_t)snprintf(ret + used, cap - used, "%s%s", used ? ", " : "", one);
        }
    }
}

static bool is_known(const pons_value *skills, const char *skill)
{
    bool known = !skills; // nobody can tell
    for (size_t i = 0; i < json_array_size(skills); i++) {
        const char *one = pons_get_str(json_array_get(skills, i), "name", "");
        known = known || strcmp(one, skill) == 0;
    }
    return known;
}

int pons__call_parse(const char *text, const pons_value *world, pons_value **ret, pons_error *err)
{
    static const char call[] = "do ";
    const char *at = text ? text + strspn(text, " \t") : "";
    if (strncmp(at, call, strlen(call)) != 0) {
        return PONS_ENOTFOUND;
    }
    at += strlen(call);
    at += strspn(at, " ");
    char skill[NAME_MAX_BYTES + 1], list[LIST_MAX_BYTES];
    const size_t n = strspn(at, "abcdefghijklmnopqrstuvwxyz0123456789_");
    const char *json = at + n + strspn(at + n, " ");
    if (n == 0 || n >= sizeof skill || (at[n] && at[n] != ' ' && at[n] != '{') ||
        (*json && *json != '{')) {
        return PONS_ENOTFOUND;
    }
    snprintf(skill, sizeof skill, "%.*s", (int)n, at);
    const pons_value *skills = pons_get(world, "skills");
    if (!is_known(skills, skill)) {
        list_names(skills, list, sizeof list);
        return pons_error_set(err, PONS_EINVAL, "rules", "unknown skill \"%s\"; known skills: %s",
                              skill, list);
    }
    pons_value *args = NULL;
    const int rc = *json ? pons_value_parse(json, strlen(json), &args, err) : PONS_OK;
    if (rc < 0) {
        return pons_error_context(err, "the arguments of %s", skill);
    }
    *ret = pons_object("intent", json_string("do"), "skill", json_string(skill), "args",
                       args ? args : json_object(), "text", json_string(text), NULL);
    return *ret ? PONS_OK : pons_error_set(err, PONS_ENOMEM, "rules", "no memory for a goal");
}
