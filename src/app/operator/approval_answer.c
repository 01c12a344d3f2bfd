// approval_answer.c - a person's answer to a question, from its words; and who gave it.
#include "app/operator/operator.h"
#include "pons/yes_no.h"

#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

// "[N] JSON": N from 1; JSON an object of arguments, or (without N) a list of all operations.
static int read_edit(const char *rest, pons_value *answer, pons_error *err)
{
    char *end = NULL;
    pons_value *edit = NULL;
    const long long n = strtoll(rest, &end, 10);
    const bool named = end != rest && *end == ' ';
    const char *json = named ? end + strspn(end, " ") : rest;
    const int rc = pons_value_parse(json, strlen(json), &edit, err);
    if (rc < 0) {
        return rc;
    }
    const bool list = json_is_array(edit);
    if ((!json_is_object(edit) && !list) || (list && named) || (named && n < 1)) {
        pons_value_unref(edit);
        return app_bad(err, named ? "edit N takes the new arguments of operation N as an object"
                                  : "edit takes the new arguments as an object, or a list of "
                                    "{skill,args}");
    }
    json_object_set_new(answer, list ? "ops" : "args", edit);
    if (named) {
        json_object_set_new(answer, "op", json_integer(n));
    }
    return PONS_OK;
}

int app_answer(const char *action, const char *rest, pons_value **ret, pons_error *err)
{
    const pons_yes_no said = pons_yes_no_of(action, NULL, NULL); // 好, yes, no
    action = said == PONS_SAID_YES ? "approve" : said == PONS_SAID_NO ? "reject" : action;
    pons_autovalue answer = pons_object("action", json_string(action), NULL);
    if (strcmp(action, "approve") == 0 && rest) {
        return app_bad(
            err, "approve takes nothing more; answer WORDS, edit [N] JSON and reject REASON do");
    }
    if (strcmp(action, "reject") == 0) {
        json_object_set_new(answer, "reason", json_string(rest ? rest : ""));
    } else if (strcmp(action, "edit") == 0 && rest) {
        const int rc = read_edit(rest, answer, err);
        if (rc < 0) {
            return rc;
        }
    } else if (strcmp(action, "answer") == 0 && rest) { // words: what the question wants to know
        json_object_set_new(answer, "action", json_string("approve"));
        json_object_set_new(answer, "answer", json_string(rest));
    } else if (strcmp(action, "answer") == 0) {
        return app_bad(err, "approve: answer needs words");
    } else if (strcmp(action, "approve") != 0) {
        return app_bad(err,
                       "approve: %s; use approve, answer WORDS, edit [N] JSON, or reject REASON",
                       strcmp(action, "edit") == 0 ? "edit needs JSON" : action);
    }
    *ret = pons_value_ref(answer);
    return PONS_OK;
}

const char *app_nonce(pons_value *letter)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    json_object_set_new(
        letter, "nonce",
        json_sprintf("%lld-%lld.%09ld", (long long)getpid(), (long long)now.tv_sec, now.tv_nsec));
    return pons_get_str(letter, "nonce", "");
}

void app_answer_sign(pons_value *answer, const char *where)
{
    const struct passwd *me = getpwuid(geteuid());
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    json_object_set_new(answer, "by",
                        me ? json_sprintf("%s (%s)", me->pw_name, where)
                           : json_sprintf("user %lld (%s)", (long long)geteuid(), where));
    json_object_set_new(answer, "at_ms", json_integer(now.tv_sec * 1000LL + now.tv_nsec / 1000000));
    app_nonce(answer);
}
