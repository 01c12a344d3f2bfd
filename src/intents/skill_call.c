// skill_call.c - "do SKILL {…}", 执行 SKILL {…}: any skill by its name, with its arguments.
//
//     do spin {"angle_rad": 1.57}  -->  {intent: do, skill: spin, args: {angle_rad: 1.57}, text}
//     do spin angle_rad=1.57            the same; what is no JSON is a text
//
// It is no sentence, and no part of one: names of skills are not words that people say. Whether the
// arguments fit is the critic's to say, as with every other operation. Any thread.
#include "intents/intent_file.h"
#include "pons/buf.h"

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

// "a=1 b=hello there": up to the next name. NULL: it is none of that.
static const char *take_pair(const char *at, pons_value *args)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789_";
    const size_t n = strspn(at, letters);
    char name[NAME_MAX_BYTES + 1];
    if (n == 0 || n >= sizeof name || at[n] != '=') {
        return NULL;
    }
    snprintf(name, sizeof name, "%.*s", (int)n, at);
    const char *value = at + n + 1, *end = value + strlen(value);
    for (const char *gap = strchr(value, ' '); gap && end > gap; gap = strchr(gap + 1, ' ')) {
        const char *next = gap + strspn(gap, " ");
        const size_t m = strspn(next, letters);
        end = !*next || (m > 0 && next[m] == '=') ? gap : end;
    }
    pons_autobuf wrapped = PONS_BUF_INIT; // any JSON value, and not only an object
    pons_buf_printf(&wrapped, "[%.*s]", (int)(end - value), value);
    pons_autovalue list = NULL;
    const bool json =
        pons_value_parse(wrapped.data, wrapped.len, &list, NULL) >= 0 && json_array_size(list) == 1;
    pons_value *v =
        json ? pons_value_ref(json_array_get(list, 0)) : json_stringn(value, (size_t)(end - value));
    if (json_object_get(args, name)) { // said twice
        pons_value_unref(v);
        return NULL;
    }
    if (json_object_set_new(args, name, v) != 0) {
        return NULL;
    }
    return end + strspn(end, " ");
}

// {} where there is nothing; NULL: it is neither JSON nor NAME=VALUE.
static pons_value *read_pairs(const char *at)
{
    pons_value *args = json_object();
    while (at && *at) {
        at = take_pair(at, args);
    }
    if (!at) {
        pons_value_unref(args);
        return NULL;
    }
    return args;
}

// What stands behind the word that calls; NULL: it is no call.
static const char *behind_verb(const char *text)
{
    static const char *const verbs[] = {"do ", "执行", "调用", "运行", "做"};
    static const char skill[] = "技能";
    const char *at = text ? text + strspn(text, " \t") : "";
    for (size_t i = 0; i < sizeof verbs / sizeof verbs[0]; i++) {
        if (strncmp(at, verbs[i], strlen(verbs[i])) == 0) {
            at += strlen(verbs[i]);
            at += strspn(at, " ");
            at += strncmp(at, skill, strlen(skill)) == 0 ? strlen(skill) : 0;
            return at + strspn(at, " ");
        }
    }
    return NULL;
}

int pons__call_parse(const char *text, const pons_value *world, pons_value **ret, pons_error *err)
{
    const char *at = behind_verb(text);
    if (!at) {
        return PONS_ENOTFOUND;
    }
    char skill[NAME_MAX_BYTES + 1], list[LIST_MAX_BYTES];
    const size_t n = strspn(at, "abcdefghijklmnopqrstuvwxyz0123456789_");
    const char *json = at + n + strspn(at + n, " ");
    if (n == 0 || n >= sizeof skill || (at[n] && at[n] != ' ' && at[n] != '{')) {
        return PONS_ENOTFOUND;
    }
    pons_autovalue pairs = *json == '{' ? NULL : read_pairs(json);
    if (*json != '{' && !pairs) {
        return PONS_ENOTFOUND;
    }
    snprintf(skill, sizeof skill, "%.*s", (int)n, at);
    const pons_value *skills = pons_get(world, "skills");
    if (!is_known(skills, skill)) {
        list_names(skills, list, sizeof list);
        return pons_error_set(err, PONS_EINVAL, "rules", "unknown skill \"%s\"; known skills: %s",
                              skill, list);
    }
    pons_value *args = pons_value_ref(pairs);
    const int rc = pairs ? PONS_OK : pons_value_parse(json, strlen(json), &args, err);
    if (rc < 0) {
        return pons_error_context(err, "the arguments of %s", skill);
    }
    *ret = pons_object("intent", json_string("do"), "skill", json_string(skill), "args", args,
                       "text", json_string(text), NULL);
    return *ret ? PONS_OK : pons_error_set(err, PONS_ENOMEM, "rules", "no memory for a goal");
}
