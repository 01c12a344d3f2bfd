// cmd_do.c - `pons do SKILL ARGS`: one skill by its name, as a goal like every other.
//
//     pons do spin angle_rad=1.57      pons do navigate_to_pose '{"zone": "kitchen"}'
//
// It becomes the words "do SKILL {…}" (src/policy/call.c): said to the brain that runs, or the goal of a
// new run, whose options it takes. So it is queued, judged, approved, sent and kept as everything else.
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
            return cli_bad(err, "do: '%s' is neither NAME=VALUE nor one JSON object", words[i]);
        }
    }
    return PONS_OK;
}

// Whether a brain has the thread that is meant: --thread's, else the newest.
static bool brain_lives(cli *c, const char *thread)
{
    pons_error none = PONS_ERROR_INIT;
    pons_store store = {0};
    char latest[PONS_NAME_MAX];
    pons_lease holder = {0};
    int rc = cli_workspace(c, false, &none);
    rc = rc < 0 ? rc : cli_store(c, &store, &none);
    if (rc >= 0 && !thread) {
        rc = cli_latest_thread(store, latest, &none);
        thread = latest;
    }
    const bool lives = rc >= 0 && store.ops->lease_peek(store.self, thread, &holder, &none) >= 0;
    pons_store_close(&store);
    return lives;
}

int cmd_do(cli *c, pons_error *err)
{
    int words = 0;
    while (words < c->argc && strncmp(c->argv[words], "--", 2) != 0) {
        words++;
    }
    if (words == 0 || strcmp(c->argv[0], "-h") == 0) {
        if (c->argc > 0) {
            return cmd_run(c, err); // --help: its options are those of run
        }
        return cli_bad(err, "do takes a skill and its arguments: pons do spin angle_rad=1.57");
    }
    pons_autovalue args = NULL;
    const int rc = read_args(words - 1, c->argv + 1, &args, err);
    if (rc < 0) {
        return rc;
    }
    char *json = NULL;
    if (pons_value_line(args, &json) < 0) {
        return cli_bad(err, "do: the arguments are too deep");
    }
    pons_autobuf text = PONS_BUF_INIT;
    pons_buf_printf(&text, "do %s %s", c->argv[0], json);
    free(json);
    const char *thread = NULL;
    for (int i = words; i + 1 < c->argc; i++) {
        thread = strcmp(c->argv[i], "--thread") == 0 ? c->argv[i + 1] : thread;
    }
    char *goal = text.data;
    c->argv[words - 1] = goal; // one word in place of all of them
    c->argv += words - 1;
    c->argc -= words - 1;
    return brain_lives(c, thread) ? cmd_say(c, err) : cmd_run(c, err);
}
