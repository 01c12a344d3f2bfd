// bt_groot.c - `--groot` of `pons bt run` and `pons bt watch`: Groot2 looks at a tree.
//
// The program answers requests between the ticks, on its own thread: of a trial it waits dt_ms between two
// ticks (100 ms when the script says nothing), and after the last one until Ctrl-C, because a monitor
// wants something to look at. Breakpoints are of a trial alone; the robot's tree is only looked at, and from
// another process than the robot's.
#include "cli/graphs/bt_groot.h"

#include "cli/cli.h"
#include "pons/module.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

enum { PACE_MS = 100, LOOK_MS = 50 };

struct cli_groot {
    const pons_groot_socket_ops *ops;
    pons_groot_socket *socket;
    pons_groot *monitor; // NULL: no tree yet
    pons_error failed;
};

int cli_groot_open(const char *at, cli_groot **ret, pons_error *err)
{
    const char *colon = strrchr(at, ':');
    char address[64] = "127.0.0.1";
    double number = 0;
    struct in_addr any;
    if (colon) {
        snprintf(address, sizeof address, "%.*s", (int)(colon - at), at);
    }
    if (inet_pton(AF_INET, address, &any) != 1) {
        return app_bad(err, "--groot: '%s' is no IP address", address);
    }
    int rc = cli_number(colon ? colon + 1 : at, "--groot", 0, UINT16_MAX - 1, &number, err);
    cli_groot *g = rc < 0 ? NULL : calloc(1, sizeof *g);
    if (!g) {
        return rc < 0 ? rc : pons_error_set(err, PONS_ENOMEM, "groot", "no memory for a monitor");
    }
    uint16_t port = (uint16_t)number;
    const void *ops = NULL;
    rc = pons_module_load("groot", "zmq", &ops, err);
    g->ops = ops;
    rc = rc < 0 ? rc : g->ops->open(address, &port, &g->socket, err);
    if (rc < 0) {
        free(g);
        return rc;
    }
    cli_end_on_signals(0);
    cli_err("pons: Groot2 finds the tree at %s, port %u\n", address, port);
    *ret = g;
    return PONS_OK;
}

void cli_groot_close(cli_groot *g)
{
    if (g) {
        pons_groot_destroy(g->monitor);
        g->ops->close(g->socket);
        free(g);
    }
}

int cli_groot_tree(cli_groot *g, pons_bt *bt, bool hooks, pons_error *err)
{
    pons_groot *monitor = NULL;
    const pons_groot_options o = {.clock = pons_clock_real(), .hooks = hooks};
    const int rc = pons_groot_create(bt, &o, &monitor, err);
    if (rc >= 0) {
        pons_groot_destroy(g->monitor);
        g->monitor = monitor;
    }
    return rc;
}

void cli_groot_change(cli_groot *g, uint32_t node, pons_bt_status from, pons_bt_status to)
{
    if (g->monitor) {
        pons_groot_change(g->monitor, node, from, to);
    }
}

int cli_groot_serve(cli_groot *g, int ms, pons_error *err)
{
    const pons_clock clock = pons_clock_real();
    const int64_t until = pons_now_ns(&clock) + ms * PONS_NS_PER_MS;
    int rc = PONS_OK;
    for (int64_t left = ms; left > 0 && rc >= 0 && !cli_ended;
         left = (until - pons_now_ns(&clock)) / PONS_NS_PER_MS) {
        pons_groot_beat(g->monitor);
        rc = g->ops->serve(g->socket, (int)(left < LOOK_MS ? left : LOOK_MS), g->monitor, err);
    }
    return cli_ended ? PONS_ECANCELED : rc < 0 ? rc : PONS_OK;
}

// ---- a trial ------------------------------------------------------------------------------------

static int begins(void *user, pons_bt *bt, const pons_bt_tree *tree, pons_error *err)
{
    cli_groot *g = user;
    const int rc = cli_groot_tree(g, bt, true, err);
    if (rc >= 0) {
        pons_groot_show(g->monitor, tree);
    }
    return rc;
}

static void on_change(void *user, const pons_bt_change *change)
{
    cli_groot_change(user, change->node, change->from, change->to);
}

// A breakpoint holds the trial here, and requests are answered meanwhile.
static pons_bt_status on_hook(void *user, uint32_t node, bool after)
{
    cli_groot *g = user;
    if (!pons_groot_hooked(g->monitor, node, after)) {
        return PONS_BT_READY;
    }
    pons_groot_reply reached;
    int rc = pons_groot_reached(node, &reached);
    rc = rc < 0 ? rc : g->ops->publish(g->socket, &reached, &g->failed);
    pons_groot_reply_fini(&reached);
    int wanted = rc < 0 ? PONS_BT_READY : pons_groot_hook(g->monitor, node, after);
    while (wanted == PONS_GROOT_HOLD && rc >= 0) {
        rc = cli_groot_serve(g, LOOK_MS, &g->failed);
        wanted = pons_groot_hook(g->monitor, node, after);
    }
    return wanted == PONS_GROOT_HOLD ? PONS_BT_READY : (pons_bt_status)wanted;
}

static int ticked(void *user, double dt_ms)
{
    cli_groot *g = user;
    cli_flush(); // whoever watches the lines sees them at the same pace
    return cli_groot_serve(g, dt_ms >= 1 ? (int)dt_ms : PACE_MS, &g->failed);
}

static void ends(void *user)
{
    cli_groot *g = user;
    if (!cli_ended) {
        cli_err("pons: the trial is over; Ctrl-C ends the monitor\n");
    }
    while (cli_groot_serve(g, PACE_MS, &g->failed) >= 0) {
    }
}

int cli_groot_try(cli_groot *g, const char *path, const pons_value *script, pons_bt_line_fn line,
                  void *user, pons_value **ret_faults, pons_error *err)
{
    const pons_bt_spectator spectator = {.begins = begins,
                                         .on_change = on_change,
                                         .hook = on_hook,
                                         .ticked = ticked,
                                         .ends = ends,
                                         .user = g};
    g->failed = (pons_error)PONS_ERROR_INIT;
    const int rc = pons_bt_try_before(&spectator, path, script, line, user, ret_faults, err);
    if (rc >= 0 && g->failed.message[0] && !cli_ended) {
        *err = g->failed;
        return PONS_EIO;
    }
    return rc;
}
