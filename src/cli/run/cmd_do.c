// cmd_do.c - `pons do SKILL ARGS`: one skill by its name, as a goal like every other.
//
//     pons do spin angle_rad=1.57      pons do navigate_to_pose '{"zone": "kitchen"}'
//
// It becomes the words "do SKILL {…}" (src/intents/skill_call.c), a goal of `pons run`, whose options it takes: said to
// the brain that runs, or of a new run. So it is queued, judged, approved, sent and kept as everything else.
#include "cli/cli.h"
#include "pons/buf.h"

#include <stdlib.h>
#include <string.h>

// "k=v": a number, true, false or JSON as it is, everything else as text. False: it is none.
static bool take_pair(pons_value *args, const char *pair)
{
    const char *is = strchr(pair, '=');
    pons_value *v = NULL;
    if (!is || is == pair) {
        return false;
    }
    char key[128];
    snprintf(key, sizeof key, "%.*s", (int)(is - pair), pair);
    pons_autobuf wrapped = PONS_BUF_INIT; // any JSON value, and not only an object
    pons_buf_printf(&wrapped, "[%s]", is + 1);
    pons_autovalue list = NULL;
    const bool json =
        pons_value_parse(wrapped.data, wrapped.len, &list, NULL) >= 0 && json_array_size(list) == 1;
    v = json ? pons_value_ref(json_array_get(list, 0)) : json_string(is + 1);
    return v && json_object_set_new(args, key, v) == 0;
}

static int read_args(int n, char **words, pons_value **ret, pons_error *err)
{
    if (n == 1 && words[0][0] == '{') {
        return pons_value_parse(words[0], strlen(words[0]), ret, err);
    }
    *ret = json_object();
    for (int i = 0; i < n; i++) {
        if (!take_pair(*ret, words[i])) {
            return app_bad(err, "do: '%s' is neither NAME=VALUE nor one JSON object", words[i]);
        }
    }
    return PONS_OK;
}

// What was typed but for the words that are left of it, and then the goal: (*ret_n), the caller frees.
static const char **with_goal(char *const *typed, int n, char *const *left, int n_left, char *goal,
                              int *ret_n)
{
    const char **all = calloc((size_t)n + 2, sizeof *all);
    *ret_n = 0;
    for (int i = 0, word = 0; all && i < n; i++) {
        if (word < n_left && typed[i] == left[word]) {
            word++;
        } else if (strcmp(typed[i], "--") != 0) {
            all[(*ret_n)++] = typed[i];
        }
    }
    if (all) {
        all[(*ret_n)++] = "--";
        all[(*ret_n)++] = goal;
    }
    return all;
}

// Options may stand before, between and behind the words, as everywhere.
int cmd_do(cli *c, pons_error *err)
{
    const int typed_n = c->argc;
    char **typed = calloc((size_t)typed_n + 1, sizeof *typed);
    if (!typed) {
        return pons_error_set(err, PONS_ENOMEM, "pons", "out of memory");
    }
    memcpy(typed, c->argv, (size_t)typed_n * sizeof *typed);
    int rc = cli_run_options(c, err);
    pons_autovalue args = NULL;
    char *json = NULL;
    if (rc == PONS_OK && c->argc == 0) {
        rc = app_bad(err, "do takes a skill and its arguments: pons do spin angle_rad=1.57");
    }
    rc = rc == PONS_OK ? read_args(c->argc - 1, c->argv + 1, &args, err) : rc;
    if (rc == PONS_OK && pons_value_line(args, &json) < 0) {
        rc = app_bad(err, "do: the arguments are too deep");
    }
    if (rc == PONS_OK) {
        int n = 0;
        pons_autobuf text = PONS_BUF_INIT;
        pons_buf_printf(&text, "do %s %s", c->argv[0], json);
        const char **all = with_goal(typed, typed_n, c->argv, c->argc, text.data, &n);
        c->argv = (char **)all;
        c->argc = n;
        rc = all ? cmd_run(c, err) : pons_error_set(err, PONS_ENOMEM, "pons", "out of memory");
        free((void *)all);
        c->argc = 0;
    }
    free(json);
    free(typed);
    return rc;
}
