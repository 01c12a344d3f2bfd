// bt_watch.c - `pons bt watch`: the tree of the robot that drives, as it changes.
//
// An observer on the body link that asks for the tree (docs/reference/link.md). It says whom it watches. Each
// tree is announced with its file and size; of its outline the nodes that are at work are shown, so
// that who comes in the middle knows where it is; then every change of every node is one line, as
// soon as it is heard. It ends with the body, or with Ctrl-C, and changes nothing. With --groot it answers
// Groot2 as well, which loads the tree anew when the robot does.
#include "cli/cli.h"
#include "cli/graphs/bt_groot.h"
#include "pons/link_message.h"
#include "pons/link_report.h"

#include <poll.h>
#include <string.h>
#include <time.h>

enum {
    LOOK_MS = 500, // a signal between two looks is seen at the next one
    GROOT_MS = 20  // changes wait for so long while Groot2 is answered
};

static cli_groot *groot; // NULL: nobody looks
static bool has_tree;    // groot knows one

// ---- Groot2 -------------------------------------------------------------------------------------

static pons_bt_status status_of(const char *word)
{
    for (int s = PONS_BT_READY; s <= PONS_BT_SKIPPED; s++) {
        if (strcmp(word, pons_bt_status_word(PONS_BT_XML, (pons_bt_status)s)) == 0) {
            return (pons_bt_status)s;
        }
    }
    return PONS_BT_READY;
}

// The file of the robot's tree, with the robot's states.
static int take_tree(const pons_report_tree *t, pons_error *err)
{
    const pons_bt_load_options o = {.format = PONS_BT_XML, .any_leaf = true};
    pons_bt *bt = NULL;
    int rc = pons_bt_load_file(t->file, &o, &bt, NULL, err);
    if (rc >= 0 && pons_bt_nodes(bt) != t->of) {
        rc = pons_error_set(err, PONS_EINVAL, "bt",
                            "%s has changed since the robot loaded it: Groot2 is shown no tree",
                            t->file);
    }
    rc = rc < 0 ? rc : cli_groot_tree(groot, bt, false, err);
    pons_bt_unref(bt);
    return rc;
}

static int look_with_groot(const pons_report_tree *t, pons_error *err)
{
    for (size_t i = 0; i < json_array_size(t->nodes); i++) {
        pons_report_node n;
        pons_report_node_read(json_array_get(t->nodes, i), &n);
        const int rc = i == 0 && n.node == 0 ? take_tree(t, err) : PONS_OK; // its first part
        if (rc < 0) {
            return rc;
        }
        has_tree = true;
        if (status_of(n.state) != PONS_BT_READY) {
            cli_groot_change(groot, (uint32_t)n.node, PONS_BT_READY, status_of(n.state));
        }
    }
    for (size_t i = 0; i < json_array_size(t->changes); i++) {
        pons_report_change x;
        pons_report_change_read(json_array_get(t->changes, i), &x);
        cli_groot_change(groot, (uint32_t)x.node, status_of(x.from), status_of(x.to));
    }
    return 1;
}

static int attach(const cli *c, pons_link **ret, pons_error *err)
{
    const int rc = app_body_link(&c->app, ret, err);
    const pons_message hello = {
        .type = PONS_MESSAGE_HELLO,
        .as.hello = {.protocol = PONS_LINK_PROTOCOL, .name = "pons bt watch", .tree = true}};
    return rc < 0 ? rc : pons_message_send(*ret, &hello, err);
}

// One line: for programs an object with the tree's number and goal, for people TEXT. of: NULL, or
// the tree that it is about.
static void show(const cli *c, const pons_report_tree *of, pons_value *line, const char *text)
{
    const pons_clock clock = pons_clock_real();
    const int64_t ms = pons_wall_ms(&clock);
    if (c->json) {
        json_object_set_new(line, "ts_ms", json_integer(ms));
        if (of) {
            json_object_set_new(line, "tree", json_integer(of->tree));
            json_object_set_new(line, "goal_id",
                                *of->goal_id ? json_string(of->goal_id) : json_null());
        }
        cli_print_json(line);
    } else {
        char at[CLI_MOMENT];
        cli_out("%s.%03d  %s\n", cli_moment(ms, at, "%T"), (int)(ms % 1000), text);
    }
    pons_value_unref(line);
}

static void show_hello(const cli *c, const pons_report_hello *h)
{
    char text[256];
    snprintf(text, sizeof text, "watching %.100s", h->robot_id);
    show(c, NULL,
         pons_object("type", json_string("watching"), "robot_id", json_string(h->robot_id), NULL),
         text);
}

static void show_outline(const cli *c, const pons_report_tree *t)
{
    char text[1024];
    for (size_t i = 0; i < json_array_size(t->nodes); i++) {
        pons_report_node n;
        pons_report_node_read(json_array_get(t->nodes, i), &n);
        if (i == 0 && n.node == 0) { // its first part
            snprintf(text, sizeof text, "tree %lld: %s, %d nodes, goal %s", (long long)t->tree,
                     t->file, (int)t->of, *t->goal_id ? t->goal_id : "-");
            show(c, t,
                 pons_object("type", json_string("tree"), "file", json_string(t->file), "nodes",
                             json_integer(t->of), NULL),
                 text);
        }
        if (strcmp(n.state, "IDLE") != 0) {
            snprintf(text, sizeof text, "%12s%s: is %s", "", n.path, n.state);
            show(c, t,
                 pons_object("type", json_string("state"), "node", json_integer(n.node), "path",
                             json_string(n.path), "state", json_string(n.state), NULL),
                 text);
        }
    }
}

static void show_changes(const cli *c, const pons_report_tree *t)
{
    char text[1024];
    if (t->lost > 0) {
        snprintf(text, sizeof text, "%12s%lld changes were lost", "", (long long)t->lost);
        show(c, t, pons_object("type", json_string("lost"), "changes", json_integer(t->lost), NULL),
             text);
    }
    for (size_t i = 0; i < json_array_size(t->changes); i++) {
        pons_report_change x;
        pons_report_change_read(json_array_get(t->changes, i), &x);
        snprintf(text, sizeof text, "%8.3f s  %s: %s -> %s", (double)x.robot_ms / 1000.0, x.path,
                 x.from, x.to);
        show(c, t,
             pons_object("type", json_string("change"), "robot_ms", json_integer(x.robot_ms),
                         "node", json_integer(x.node), "path", json_string(x.path), "from",
                         json_string(x.from), "to", json_string(x.to), NULL),
             text);
    }
}

// All that is there, shown; then waits for more.
static int look(const cli *c, pons_link *link, pons_error *err)
{
    int rc;
    do {
        pons_autovalue msg = NULL;
        rc = pons_link_recv(link, &msg, err);
        pons_report r = {.type = PONS_REPORT_NONE};
        if (rc > 0 && pons_report_decode(msg, &r, NULL) < 0) {
            r.type = PONS_REPORT_NONE; // of another version
        }
        if (r.type == PONS_REPORT_HELLO) {
            show_hello(c, &r.as.hello);
        } else if (r.type == PONS_REPORT_TREE) {
            show_outline(c, &r.as.tree);
            show_changes(c, &r.as.tree);
            rc = groot ? look_with_groot(&r.as.tree, err) : rc;
        } else if (r.type == PONS_REPORT_ERROR) {
            rc = pons_error_set(err, PONS_EUNSUPPORTED, "bt", "the body refuses: %s",
                                r.as.error.message);
        }
        pons_report_clear(&r);
    } while (rc > 0 && !cli_ended && !cli_out_broken());
    cli_flush();
    if (rc == 0 && has_tree) {
        rc = cli_groot_serve(groot, GROOT_MS, err);
    } else if (rc == 0) {
        struct pollfd p = {.fd = pons_link_fd(link), .events = POLLIN};
        poll(&p, 1, LOOK_MS);
    }
    return rc;
}

int cli_bt_watch(cli *c, const char *groot_at, pons_error *err)
{
    pons_link *link = NULL;
    int rc = app_workspace(&c->app, false, err);
    if (rc < 0) {
        return app_unreached(err);
    }
    if (attach(c, &link, err) < 0) {
        return app_lacks(err,
                         "no body runs in %s: nothing to watch (`pons run` or `pons body` "
                         "starts one)",
                         c->app.run_dir);
    }
    rc = groot_at ? cli_groot_open(groot_at, &groot, err) : PONS_OK;
    if (rc < 0) {
        pons_link_close(link);
        return rc;
    }
    cli_end_on_signals(0);
    while (rc >= 0 && !cli_ended && !cli_out_broken()) {
        rc = look(c, link, err);
    }
    pons_link_close(link);
    cli_groot_close(groot);
    if (cli_ended || cli_out_broken()) {
        return PONS_OK;
    }
    if (rc == PONS_ECLOSED) {
        cli_err("pons: the body is gone\n");
        return PONS_OK;
    }
    return app_unreached(err);
}
