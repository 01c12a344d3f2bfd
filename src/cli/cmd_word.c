// cmd_word.c - what a person says from another terminal: say, pause, continue, approve; stop and
// reset.
//
// Words go to the thread's inbox in the store, durable before the command returns, and a datagram
// on run/brain.sock wakes the brain that holds it. Stop goes past all of that: a datagram to the
// safety thread's own socket.
#include "cli/agent_cli.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define STOP_TIMEOUT_MS  1000
#define RESET_TIMEOUT_MS 1000

static int post(cli *c, const char *thread, const char *kind, const pons_value *value);
static void ring(const cli *c);
static int control(cli *c, const char *command, const char *word);
static int show_approval(cli *c, pons_store store, const char *thread);
static pons_value *questions(pons_store store, const char *thread, pons_error *err);

int cmd_say(cli *c)
{
    const char *thread = NULL;
    const cli_option options[] = {{"--thread", "ID", "default: the newest thread", &thread},
                                  {NULL, NULL, NULL, NULL}};
    const int parsed = cli_parse(c, cli_find("say"), options);
    if (parsed >= 0) {
        return parsed;
    }
    char text[4096] = "";
    size_t used = 0;
    for (int i = 0; i < c->argc; i++) {
        const int n = snprintf(text + used, sizeof text - used, "%s%s", i ? " " : "", c->argv[i]);
        used += (size_t)n;
        if (used >= sizeof text) {
            return cli_bad("say: that is longer than %zu bytes", sizeof text - 1);
        }
    }
    if (text[strspn(text, " \t\r\n")] == '\0') {
        return cli_bad("say: nothing to say");
    }
    pons_autovalue value = pons_object("text", json_string(text), NULL);
    if (!value || !pons_get(value, "text")) {
        return cli_bad("say: the text is not valid UTF-8");
    }
    return post(c, thread, "say", value);
}

int cmd_pause(cli *c)
{
    return control(c, "pause", "pause");
}

int cmd_continue(cli *c)
{
    return control(c, "continue", "continue");
}

static int control(cli *c, const char *command, const char *word)
{
    const char *thread = NULL;
    const cli_option options[] = {{"--thread", "ID", "default: the newest thread", &thread},
                                  {NULL, NULL, NULL, NULL}};
    const int parsed = cli_parse(c, cli_find(command), options);
    if (parsed >= 0) {
        return parsed;
    }
    pons_autovalue value = pons_object("word", json_string(word), NULL);
    return post(c, thread, "control", value);
}

int cmd_approve(cli *c)
{
    const char *id = NULL;
    const cli_option options[] = {{"--id", "ID", "of the question, when it must be that one", &id},
                                  {NULL, NULL, NULL, NULL}};
    const int parsed = cli_parse(c, cli_find("approve"), options);
    if (parsed >= 0) {
        return parsed;
    }
    pons_autovalue answer = NULL;
    const int bad =
        c->argc > 1 ? cli_answer(c->argv[1], c->argc > 2 ? c->argv[2] : NULL, &answer) : -1;
    if (bad >= 0) {
        return bad;
    }
    if (c->argc > 0 && strncmp(c->argv[0], CLI_MCP_QUESTION, strlen(CLI_MCP_QUESTION)) == 0) {
        return cli_mcp_approve(c, c->argv[0], answer);
    }
    pons_error err = PONS_ERROR_INIT;
    pons_store store = {0};
    char latest[PONS_NAME_MAX];
    int rc = cli_workspace(c, false, &err);
    rc = rc < 0 ? rc : cli_store(c, &store, &err);
    if (rc >= 0 && c->argc == 0) {
        rc = cli_latest_of_any(store, latest, &err);
    } else if (rc >= 0) {
        snprintf(latest, sizeof latest, "%s", c->argv[0]);
    }
    if (rc >= 0 && pons_agent_thread_is(store, latest)) {
        const int done = cli_agent_approve(c, store, latest, answer, id);
        pons_store_close(&store);
        return done;
    }
    if (rc < 0) {
        pons_store_close(&store);
        return cli_fail(&err);
    }
    if (c->argc < 2) {
        const int status = show_approval(c, store, latest);
        pons_store_close(&store);
        return status;
    }
    // An answer without a question would only look accepted.
    char open_id[64] = "";
    pons_autovalue open = questions(store, latest, &err);
    snprintf(open_id, sizeof open_id, "%s", pons_get_str(json_array_get(open, 0), "id", ""));
    pons_store_close(&store);
    if (!open_id[0]) {
        return cli_bad("approve: %s waits for nobody", latest);
    }
    json_object_set_new(answer, "id", json_string(id ? id : open_id));
    return post(c, latest, "answer", answer);
}

int cli_answer(const char *action, const char *rest, pons_value **ret)
{
    pons_error err = PONS_ERROR_INIT;
    pons_autovalue answer = pons_object("action", json_string(action), NULL);
    if (strcmp(action, "approve") == 0 && rest) {
        return cli_bad("approve takes nothing more; edit JSON and reject REASON do");
    }
    if (strcmp(action, "reject") == 0) {
        json_object_set_new(answer, "reason", json_string(rest ? rest : ""));
    } else if (strcmp(action, "edit") == 0 && rest) {
        pons_value *edit = NULL;
        if (pons_value_parse(rest, strlen(rest), &edit, &err) < 0) {
            return cli_fail(&err);
        }
        if (!json_is_object(edit) && !json_is_array(edit)) {
            pons_value_unref(edit);
            return cli_bad("edit takes the new arguments as an object, or a list of {skill,args}");
        }
        json_object_set_new(answer, json_is_array(edit) ? "ops" : "args", edit);
    } else if (strcmp(action, "approve") != 0) {
        return cli_bad("approve: %s; use approve, edit JSON, or reject REASON",
                       strcmp(action, "edit") == 0 ? "edit needs JSON" : action);
    }
    *ret = pons_value_ref(answer);
    return -1;
}

static int scan_question(void *user, const pons_event_row *row)
{
    pons_value **open = user;
    pons_autovalue payload = NULL;
    const bool asks = strcmp(row->type, "approval.requested") == 0;
    if ((asks || strcmp(row->type, "approval.resolved") == 0 ||
         strcmp(row->type, "run.started") == 0) &&
        pons_value_parse(row->payload.data, row->payload.len, &payload, NULL) >= 0) {
        pons_value_unref(*open);
        *open = asks ? pons_value_ref(payload) : NULL;
    }
    return 0;
}

// What the thread waits for a person with: the inner loop's own question is in its state, that of a
// forked effect only in the log. A list, the caller's; NULL: the error.
static pons_value *questions(pons_store store, const char *thread, pons_error *err)
{
    pons_autovalue status = NULL;
    pons_autovalue open = NULL;
    if (pons_status_read(store, thread, NULL, NULL, &status, err) < 0) {
        return NULL;
    }
    const pons_value *approvals = pons_get(status, "approvals");
    if (json_array_size(approvals) > 0) {
        return pons_value_ref(approvals);
    }
    if (store.ops->events(store.self, thread, 0, 0, scan_question, &open, err) < 0) {
        return NULL;
    }
    pons_value *list = json_array();
    if (open && json_is_array(pons_get(open, "ops"))) {
        json_array_append(list, open);
    }
    return list;
}

// What the run waits for: exit 4 when it waits, 0 when it does not.
static int show_approval(cli *c, pons_store store, const char *thread)
{
    pons_error err = PONS_ERROR_INIT;
    pons_autovalue approvals = questions(store, thread, &err);
    if (!approvals) {
        return cli_fail(&err);
    }
    if (c->json) {
        cli_print_json(approvals);
        return json_array_size(approvals) ? EXIT_WAITING : EXIT_DONE;
    }
    size_t i;
    json_t *a;
    json_array_foreach(approvals, i, a)
    {
        printf("%s asks: %s\n", thread, pons_get_str(a, "question", ""));
        size_t k;
        json_t *op;
        json_array_foreach(pons_get(a, "ops"), k, op)
        {
            char *text = NULL;
            if (pons_value_line(op, &text) >= 0) {
                printf("  %s\n", text);
            }
            free(text);
        }
    }
    if (json_array_size(approvals) == 0) {
        printf("%s waits for nobody\n", thread);
    }
    return json_array_size(approvals) ? EXIT_WAITING : EXIT_DONE;
}

static int post(cli *c, const char *thread, const char *kind, const pons_value *value)
{
    pons_error err = PONS_ERROR_INIT;
    pons_store store = {0};
    char latest[PONS_NAME_MAX];
    int rc = cli_workspace(c, false, &err);
    rc = rc < 0 ? rc : cli_store(c, &store, &err);
    if (rc >= 0 && !thread) {
        rc = cli_latest_thread(store, latest, &err);
        thread = latest;
    }
    int64_t last = 0;
    pons_lease holder = {0};
    pons_error none = PONS_ERROR_INIT;
    const bool held = rc >= 0 && store.ops->lease_peek(store.self, thread, &holder, &none) >= 0;
    rc = rc < 0 ? rc : store.ops->event_last(store.self, thread, &last, &err);
    if (rc >= 0 && last == 0 && !held) { // a misspelt thread is bad input, not a new one
        rc = pons_error_set(&err, PONS_ENOTFOUND, "threads", "there is no thread %s", thread);
    }
    rc = rc < 0 ? rc : pons_inbox_post(store, thread, "kernel", kind, value, &err);
    pons_store_close(&store);
    if (rc < 0) {
        return cli_fail(&err);
    }
    ring(c);
    if (!held && !c->json) {
        fprintf(stderr, "pons: kept for %s; no brain runs it now (`pons resume %s`)\n", thread,
                thread);
    }
    return EXIT_DONE;
}

static void ring(const cli *c)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    const int n = snprintf(address.sun_path, sizeof address.sun_path, "%s/brain.sock", c->run_dir);
    const int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) {
        return;
    }
    if (n < (int)sizeof address.sun_path) {
        const ssize_t sent = sendto(fd, "!", 1, 0, (struct sockaddr *)&address, sizeof address);
        (void)sent; // nobody there: the message is in the inbox all the same
    }
    close(fd);
}

int cmd_stop(cli *c)
{
    const int parsed = cli_parse(c, cli_find("stop"), NULL);
    if (parsed >= 0) {
        return parsed;
    }
    pons_error err = PONS_ERROR_INIT;
    const char *reason = c->argc ? c->argv[0] : "pons stop";
    if (pons_stop_send(c->run_dir, reason, STOP_TIMEOUT_MS, &err) < 0) {
        cli_fail(&err);
        return EXIT_ENVIRONMENT;
    }
    if (c->json) {
        pons_autovalue out = pons_object("type", json_string("stop"), "latched", json_true(),
                                         "reason", json_string(reason), NULL);
        cli_print_json(out);
    } else {
        puts("stopped; the latch holds until `pons reset`");
    }
    return EXIT_DONE;
}

int cmd_reset(cli *c)
{
    const int parsed = cli_parse(c, cli_find("reset"), NULL);
    if (parsed >= 0) {
        return parsed;
    }
    char path[PATH_MAX + 16];
    pons_error err = PONS_ERROR_INIT;
    pons_link *link = NULL;
    const pons_clock clock = pons_clock_real();
    const int64_t until = pons_now_ms(&clock) + RESET_TIMEOUT_MS;
    snprintf(path, sizeof path, "%s/body.sock", c->run_dir);
    if (pons_link_connect(path, &link, &err) < 0) {
        cli_fail(&err);
        return EXIT_ENVIRONMENT;
    }
    pons_link_send(link,
                   pons_object("type", json_string("hello"), "protocol",
                               json_integer(PONS_LINK_PROTOCOL), "role", json_string("observer"),
                               "name", json_string("pons reset"), NULL),
                   &err);
    int rc = pons_link_send(link, pons_object("type", json_string("reset"), NULL), &err);
    bool done = false;
    while (rc >= 0 && !done && pons_now_ms(&clock) < until) {
        pons_autovalue msg = NULL;
        rc = pons_link_recv(link, &msg, &err);
        if (rc == 0) {
            struct pollfd p = {.fd = pons_link_fd(link), .events = POLLIN};
            poll(&p, 1, (int)(until - pons_now_ms(&clock)));
        } else if (rc > 0 && strcmp(pons_get_str(msg, "type", ""), "ok") == 0 &&
                   strcmp(pons_get_str(msg, "re", ""), "reset") == 0) {
            done = true;
        } else if (rc > 0 && strcmp(pons_get_str(msg, "type", ""), "error") == 0) {
            pons_link_close(link);
            fprintf(stderr, "pons: the body refuses: %s\n", pons_get_str(msg, "message", ""));
            return EXIT_ENVIRONMENT;
        }
    }
    pons_link_close(link);
    if (!done) {
        fprintf(stderr, "pons: the body did not answer the reset\n");
        return EXIT_ENVIRONMENT;
    }
    if (!c->json) {
        puts("reset; only a new command moves the robot");
    }
    return EXIT_DONE;
}
