// stop_words.c - words that stop or pause the robot: what is said so goes past whatever is asked.
//
// A stop goes to the wheels first, past the store and past the brain; what its thread makes of it comes
// after. Without a body the brain sends the stop when there is one.
#include "app/fleet/fleet.h"
#include "app/operator/operator.h"
#include "pons/log.h"
#include "pons/rule_policy.h"

#include <string.h>

#define STOP_TIMEOUT_MS 1000
#define WORD_MAX        80 // bytes of words that do nothing but stop

// The control word of what is said, "" where there is none. only: nothing else may be said.
static void control_of(const pons_policy *policy, const char *text, bool only, char ret[16])
{
    pons_error none = PONS_ERROR_INIT;
    pons_autovalue parsed = NULL;
    pons_autovalue world = json_object();
    const bool read = policy->ops->parse(policy->self, text, world, &parsed, &none) >= 0;
    const bool more = json_array_size(pons_get(parsed, "goals")) > 0 ||
                      pons_get(parsed, "cancel") || pons_get_bool(parsed, "somewhere", false);
    snprintf(ret, 16, "%s", read && !(only && more) ? pons_get_str(parsed, "control", "") : "");
}

bool app_words_stop_or_pause(const pons_policy *policy, const char *text)
{
    char word[16];
    control_of(policy, text, false, word);
    return strcmp(word, "stop") == 0 || strcmp(word, "pause") == 0;
}

// The control word that stands first and alone in what is said, "" where there is none.
static void first_word(const pons_policy *policy, const char *text, char ret[16])
{
    static const char *const marks[] = {"!",  ",",  ".",  ";",  ":", "\n",
                                        "！", "，", "。", "；", "："};
    size_t n = strlen(text);
    for (size_t i = 0; i < sizeof marks / sizeof marks[0]; i++) {
        const char *at = strstr(text, marks[i]);
        n = at && (size_t)(at - text) < n ? (size_t)(at - text) : n;
    }
    char first[WORD_MAX + 1];
    *ret = '\0';
    if (n > 0 && n <= WORD_MAX) {
        snprintf(first, sizeof first, "%.*s", (int)n, text);
        control_of(policy, first, true, ret);
    }
}

bool app_words_stop(const pons_policy *policy, const char *text)
{
    char word[16];
    first_word(policy, text, word);
    return strcmp(word, "stop") == 0;
}

bool app_words_end(const pons_policy *policy, const char *text)
{
    char word[16];
    first_word(policy, text, word);
    return strcmp(word, "stop") == 0 || strcmp(word, "cancel") == 0;
}

pons_value *app_stopped_value(const char *reason)
{
    return pons_object("type", json_string("stop"), "latched", json_true(), "durable", json_true(),
                       "reason", json_string(reason), NULL);
}

bool app_stop_words(const app_context *c, const pons_policy *policy, const char *text)
{
    pons_error err = PONS_ERROR_INIT;
    pons_policy own = {0};
    char word[16];
    if (!policy && app_policy(c, &own, &err) < 0) {
        return false;
    }
    control_of(policy ? policy : &own, text, false, word);
    const bool stop = strcmp(word, "stop") == 0;
    const int rc = stop ? app_stop_robots(c, "a person said stop", STOP_TIMEOUT_MS, &err) : PONS_OK;
    if (rc < 0) {
        pons_log(PONS_LOG_INFO, "stop", "%s; the brain will send it", err.message);
    }
    pons_rules_close(&own);
    return stop && rc >= 0;
}

int app_say_stop(const app_context *c, pons_store store, const char *thread, const char *text,
                 pons_error *err)
{
    pons_autovalue value = pons_object("text", json_string(text), NULL);
    json_object_set_new(value, "stop_sent", json_boolean(app_stop_words(c, NULL, text)));
    const int rc = pons_inbox_post(store, thread, "kernel", "say", value, err);
    app_wake_brain(c);
    return rc;
}

bool app_not_understood(const char *why)
{
    static const char *const lost[] = {"did not understand", "没听懂"};
    return strncmp(why, lost[0], strlen(lost[0])) == 0 ||
           strncmp(why, lost[1], strlen(lost[1])) == 0;
}
