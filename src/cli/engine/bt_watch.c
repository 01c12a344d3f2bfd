// bt_watch.c - `pons bt watch`: the tree of the robot that drives, as it changes.
//
// An observer on the body link that asks for the tree (docs/link.md). It says whom it watches. Each
// tree is announced with its file and size; of its outline the nodes that are at work are shown, so
// that who comes in the middle knows where it is; then every change of every node is one line, as
// soon as it is heard. It ends with the body, or with Ctrl-C, and changes nothing.
#include "cli/cli.h"
#include "pons/link_message.h"

#include <poll.h>
#include <string.h>
#include <time.h>

enum { LOOK_MS = 500 }; // a signal between two looks is seen at the next one

static volatile sig_atomic_t quit;

static void on_signal(int number);
static int attach(const cli *c, pons_link **ret, pons_error *err);
static int look(const cli *c, pons_link *link, pons_error *err);
static void show_hello(const cli *c, const pons_value *msg);
static void show_tree(const cli *c, const pons_value *msg);
static void show_changes(const cli *c, const pons_value *msg);

int cli_bt_watch(cli *c, pons_error *err)
{
    pons_link *link = NULL;
    const struct sigaction act = {.sa_handler = on_signal}; // no SA_RESTART: a write ends as well
    int rc = cli_workspace(c, false, err);
    if (rc < 0) {
        return cli_unreached(err);
    }
    if (attach(c, &link, err) < 0) {
        return cli_lacks(err,
                         "no body runs in %s: nothing to watch (`pons run` or `pons body` "
                         "starts one)",
                         c->run_dir);
    }
    sigaction(SIGINT, &act, NULL);
    sigaction(SIGTERM, &act, NULL);
    rc = PONS_OK;
    while (rc >= 0 && !quit && !cli_out_broken()) {
        rc = look(c, link, err);
    }
    pons_link_close(link);
    if (quit || cli_out_broken()) {
        return PONS_OK;
    }
    if (rc == PONS_ECLOSED) {
        cli_err("pons: the body is gone\n");
        return PONS_OK;
    }
    return cli_unreached(err);
}

static void on_signal(int number)
{
    (void)number;
    quit = 1;
}

static int attach(const cli *c, pons_link **ret, pons_error *err)
{
    char path[PATH_MAX + 16];
    snprintf(path, sizeof path, "%s/body.sock", c->run_dir);
    const int rc = pons_link_connect(path, ret, err);
    const pons_message hello = {
        .type = PONS_MESSAGE_HELLO,
        .as.hello = {.protocol = PONS_LINK_PROTOCOL, .name = "pons bt watch", .tree = true}};
    return rc < 0 ? rc : pons_message_send(*ret, &hello, err);
}

// All that is there, shown; then waits for more.
static int look(const cli *c, pons_link *link, pons_error *err)
{
    int rc;
    do {
        pons_autovalue msg = NULL;
        rc = pons_link_recv(link, &msg, err);
        const char *type = rc > 0 ? pons_get_str(msg, "type", "") : "";
        if (strcmp(type, "hello") == 0) {
            show_hello(c, msg);
        } else if (strcmp(type, "tree") == 0) {
            show_tree(c, msg);
            show_changes(c, msg);
        } else if (strcmp(type, "error") == 0) {
            rc = pons_error_set(err, PONS_EUNSUPPORTED, "bt", "the body refuses: %s",
                                pons_get_str(msg, "message", ""));
        }
    } while (rc > 0 && !quit && !cli_out_broken());
    cli_flush();
    if (rc == 0) {
        struct pollfd p = {.fd = pons_link_fd(link), .events = POLLIN};
        poll(&p, 1, LOOK_MS);
    }
    return rc;
}

// One line: for programs an object with the tree's number and goal, for people TEXT.
static void show(const cli *c, const pons_value *msg, pons_value *line, const char *text)
{
    const pons_clock clock = pons_clock_real();
    const int64_t ms = pons_wall_ms(&clock);
    if (c->json) {
        json_object_set_new(line, "ts_ms", json_integer(ms));
        json_object_set(line, "tree", (json_t *)pons_get(msg, "tree"));
        json_object_set(line, "goal_id", (json_t *)pons_get(msg, "goal_id"));
        cli_print_json(line);
    } else {
        const time_t s = (time_t)(ms / 1000);
        struct tm now;
        char at[16] = "";
        strftime(at, sizeof at, "%H:%M:%S", localtime_r(&s, &now));
        cli_out("%s.%03d  %s\n", at, (int)(ms % 1000), text);
    }
    pons_value_unref(line);
}

static void show_hello(const cli *c, const pons_value *msg)
{
    const char *robot = pons_get_str(msg, "robot_id", "?");
    char text[256];
    snprintf(text, sizeof text, "watching %.100s", robot);
    show(c, msg, pons_object("type", json_string("watching"), "robot_id", json_string(robot), NULL),
         text);
}

static void show_tree(const cli *c, const pons_value *msg)
{
    const pons_value *nodes = pons_get(msg, "nodes");
    char text[1024];
    size_t i;
    pons_value *n;
    if (pons_get_int(json_array_get(nodes, 0), "node", -1) == 0) { // its first part
        snprintf(text, sizeof text, "tree %lld: %s, %d nodes, goal %s",
                 (long long)pons_get_int(msg, "tree", 0), pons_get_str(msg, "file", "?"),
                 (int)pons_get_int(msg, "of", 0), pons_get_str(msg, "goal_id", "-"));
        show(c, msg,
             pons_object("type", json_string("tree"), "file",
                         json_string(pons_get_str(msg, "file", "")), "nodes",
                         json_integer(pons_get_int(msg, "of", 0)), NULL),
             text);
    }
    json_array_foreach((pons_value *)nodes, i, n)
    {
        const char *path = pons_get_str(n, "path", ""), *state = pons_get_str(n, "state", "");
        if (strcmp(state, "IDLE") != 0) {
            snprintf(text, sizeof text, "%12s%s: is %s", "", path, state);
            show(c, msg,
                 pons_object("type", json_string("state"), "node",
                             json_integer(pons_get_int(n, "node", 0)), "path", json_string(path),
                             "state", json_string(state), NULL),
                 text);
        }
    }
}

static void show_changes(const cli *c, const pons_value *msg)
{
    char text[1024];
    size_t i;
    pons_value *x;
    const long long lost = pons_get_int(msg, "lost", 0);
    if (lost > 0) {
        snprintf(text, sizeof text, "%12s%lld changes were lost", "", lost);
        show(c, msg, pons_object("type", json_string("lost"), "changes", json_integer(lost), NULL),
             text);
    }
    json_array_foreach((pons_value *)pons_get(msg, "changes"), i, x)
    {
        const int64_t robot_ms = pons_get_int(x, "robot_ms", 0);
        const char *path = pons_get_str(x, "path", ""), *from = pons_get_str(x, "from", ""),
                   *to = pons_get_str(x, "to", "");
        snprintf(text, sizeof text, "%8.3f s  %s: %s -> %s", (double)robot_ms / 1000.0, path, from,
                 to);
        show(c, msg,
             pons_object("type", json_string("change"), "robot_ms", json_integer(robot_ms), "node",
                         json_integer(pons_get_int(x, "node", 0)), "path", json_string(path),
                         "from", json_string(from), "to", json_string(to), NULL),
             text);
    }
}
