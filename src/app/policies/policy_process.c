// policy_process.c - `pons watchdog policy CLIENT`: one session's talk with a server of a policy, in a process of its own.
//
//     watchdog runtime --question, a line--> inputs --protocol--> server
//                      <--answer, a line---- actions <-- rows <---'
//
// Whatever the server says becomes one line: actions, or {error: {code, message}} with a code of the session's. After an
// error the connection is closed, and the next question opens a new one. A server may have closed the connection since
// the question before: then the same question goes out once more, over a new one.
#include "app/policies/policies.h"
#include "pons/module.h"

#include <stdlib.h>
#include <string.h>

#define WHERE "policy"

typedef struct talk {
    pons_value *client;
    policy_meaning meaning;
    const pons_policy_server_ops *ops;
    void *self; // NULL: not open
} talk;

static int find_protocol(talk *t, pons_error *err)
{
    const char *name = pons_get_str(t->client, "protocol", "");
    const void *found = NULL;
    int rc = PONS_OK;
    if (strcmp(name, "openvla") == 0) {
        found = &app_policy_openvla;
    } else if (strcmp(name, "lerobot") == 0) {
        found = &app_policy_lerobot;
    } else {
        rc = pons_module_load_of("policy", name, PONS_POLICY_SERVER_ABI, &found, err);
    }
    t->ops = rc < 0 ? NULL : found;
    return rc;
}

// The session's code for a status of the protocol's.
static const char *code_of(int status)
{
    switch (status) {
    case PONS_EIO:
        return "POLICY_UNREACHABLE";
    case PONS_EPROTOCOL:
        return "POLICY_BAD_ANSWER";
    case PONS_EREFUSED:
        return "POLICY_ERROR";
    default:
        return "POLICY_NOT_AVAILABLE";
    }
}

static void hang_up(talk *t)
{
    t->ops->close(t->self);
    t->self = NULL;
}

static int ask_server(talk *t, const policy_inputs *in, pons_policy_rows *ret, pons_error *err)
{
    const int rc = t->self ? PONS_OK : t->ops->open(t->client, &t->self, err);
    return rc < 0 ? rc : t->ops->ask(t->self, in->at, in->n, ret, err);
}

static int ask(talk *t, const char *line, pons_value **ret, pons_error *err)
{
    pons_autovalue question = NULL;
    policy_inputs in = {0};
    pons_policy_rows rows = {0};
    int rc = pons_value_parse(line, strlen(line), &question, err);
    const pons_value *mode = pons_get(pons_get(question, "observation"), "control_mode");
    if (rc >= 0 && t->meaning.delta &&
        strcmp(json_is_string(mode) ? json_string_value(mode) : "", "tool_delta") != 0) {
        return pons_error_set(err, PONS_EINVAL, WHERE,
                              "the server gives deltas of the tool: the target's "
                              "config.control_mode has to be tool_delta");
    }
    const bool kept = t->self != NULL;
    rc = rc < 0 ? rc : app_policy_inputs(&t->meaning, question, &in, err);
    rc = rc < 0 ? rc : ask_server(t, &in, &rows, err);
    if (rc == PONS_EIO && kept) {
        hang_up(t);
        rc = ask_server(t, &in, &rows, err);
    }
    rc = rc < 0 ? rc : app_policy_actions(&t->meaning, &rows, ret, err);
    app_policy_inputs_clear(&in);
    free(rows.at);
    if (rc < 0) {
        hang_up(t);
    }
    return rc;
}

int app_policy_process(const char *client, FILE *in, FILE *out, pons_error *err)
{
    talk t = {0};
    char *line = NULL;
    size_t cap = 0;
    int rc = pons_value_parse(client, strlen(client), &t.client, err);
    if (rc < 0) {
        return rc;
    }
    pons_error bad = PONS_ERROR_INIT;
    int usable = find_protocol(&t, &bad);
    usable = usable < 0 ? usable : app_policy_meaning(t.client, &t.meaning, &bad);
    while (getline(&line, &cap, in) > 0) {
        pons_autovalue answer = NULL;
        char *text = NULL;
        const int said = usable < 0 ? usable : ask(&t, line, &answer, &bad);
        if (said < 0) {
            answer = pons_object("error",
                                 pons_object("code", json_string(code_of(said)), "message",
                                             pons_string(bad.message), NULL),
                                 NULL);
        }
        bad = usable < 0 ? bad : (pons_error)PONS_ERROR_INIT;
        if (pons_value_line(answer, &text) >= 0) {
            fprintf(out, "%s\n", text);
            fflush(out);
        }
        free(text);
    }
    free(line);
    if (t.ops) {
        t.ops->close(t.self);
    }
    pons_value_unref(t.client);
    return PONS_OK;
}
