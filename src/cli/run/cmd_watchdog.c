// cmd_watchdog.c - `pons watchdog`. runtime is session_runner.c's; here is `pons watchdog hal`: the actions of a
// workspace's ACTION.md, done by its body.
//
// It joins the body that runs in the workspace, else it starts the one that config.json names and ends it
// with itself. One at a time a workspace: a second one says whose pid has it, and exits 3. --once ends when
// nothing is pending: 0 all done, 1 something failed, 2 ACTION.md cannot be read.
#include "cli/agent/agent_cli.h"
#include "cli/run/picture_child.h"
#include "cli/run/session_runner.h"
#include "cli/run/text_tasks.h"
#include "cli/run/workspace_profile.h"
#include "cli/which_robot.h"
#include "pons/agent.h"
#include "pons/module.h"
#include "pons/watchdog.h"
#include "pons/watchdog_trees.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define WHERE         "watchdog"
#define START_EVERY_S 5
#define STARTS_MAX    3

typedef struct dog {
    cli *c;
    const char *robot, *id;
    pons_ws_dialect dialect;
    double speed, seed;
    pons_value *config;
    cli_robot meant;
    pid_t body; // that this one has started; 0: none
    int starts;
    int64_t tried_ms;
    pons_clock clock;
    pons_tools tools, errands, trees, pictures;
    pons_ws_place *place;
    pons_hal *hal;
    int lock;
} dog;

static volatile sig_atomic_t ended;

static void on_signal(int s)
{
    (void)s;
    ended = 1;
}

// ---- the body -----------------------------------------------------------------------------------

static int connect_body(void *user, pons_link **ret, pons_error *err)
{
    dog *d = user;
    const int rc = cli_robot_connect(d->c, &d->meant, ret, err);
    int status;
    if (d->body && waitpid(d->body, &status, WNOHANG) == d->body) {
        d->body = 0;
    }
    const int64_t now = pons_now_ms(&d->clock);
    if (cli_no_body(rc) && !d->body && d->starts < STARTS_MAX &&
        (!d->tried_ms || now - d->tried_ms > START_EVERY_S * 1000)) {
        const pid_t pid = cli_body_start(d->c, d->meant.driver, d->meant.world, NULL, d->speed,
                                         (uint64_t)d->seed, false);
        d->body = pid > 0 ? pid : 0;
        d->tried_ms = now;
        d->starts++;
    }
    return rc;
}

static bool body_is_lost(const dog *d)
{
    return !d->body && d->starts >= STARTS_MAX;
}

static int judge(void *user, const char *skill, const pons_value *args, char *why, size_t cap)
{
    const dog *d = user;
    pons_verdict *v = NULL;
    pons_error err = PONS_ERROR_INIT;
    const int rc = pons_robot_tools_judge(d->tools.self, skill, args, NULL, &v, &err);
    if (rc < 0) {
        pons_autovalue status = pons_robot_tools_status(d->tools.self);
        snprintf(why, cap, "%s", err.message);
        return pons_get_bool(status, "connected", false) ? PONS_EREFUSED : PONS_EAGAIN;
    }
    const bool ok = pons_verdict_ok(v);
    const pons_value *rule = json_array_get(pons_verdict_rules(v), 0);
    snprintf(why, cap, "%s: %s", pons_get_str(rule, "rule", ""), pons_get_str(rule, "message", ""));
    pons_verdict_destroy(v);
    return ok ? PONS_OK : PONS_EREFUSED;
}

// ---- what is said -------------------------------------------------------------------------------

static void told(void *user, const char *id, const char *status, const pons_value *action)
{
    const dog *d = user;
    const pons_value *error = pons_get(action, "error");
    if (d->c->json) {
        pons_autovalue row =
            pons_object("type", json_string("action"), "id", json_string(id), "status",
                        json_string(status), "error", pons_optional(error), NULL);
        cli_print_json(row);
    } else {
        cli_out("%s  %s %s%s%s\n", id, pons_get_str(action, "action_type", ""), status,
                error ? ": " : "", error ? pons_get_str(error, "message", "") : "");
    }
    cli_flush();
}

static void notice(void *user, const char *file, const char *text)
{
    (void)user;
    cli_err("%s: %s\n", file, text);
}

// ---- begun and ended ----------------------------------------------------------------------------

static int take_lock(dog *d, pons_error *err)
{
    char pid[32] = "";
    const int rc = cli_hal_lock(d->c, &d->lock, pid, err);
    return rc == PONS_EBUSY ? cli_unreached(err) : rc;
}

// Entries in the files are the named robot's, else config.json's.
static int read_config(dog *d, pons_error *err)
{
    int rc = cli_workspace_config(d->c, &d->config, &d->dialect, err);
    rc = rc < 0 ? rc : cli_robot_meant(d->c, NULL, NULL, &d->meant, err);
    rc = rc < 0 ? rc : cli_robot_check(d->c, &d->meant, err);
    d->id = d->robot ? d->robot : pons_get_str(pons_get(d->config, "robot"), "id", "robot_001");
    return rc < 0 ? rc : cli_embodied(d->c, d->meant.driver, d->meant.world, d->dialect, err);
}

static int open_parts(dog *d, pons_error *err)
{
    pons_autovalue policy = NULL;
    const pons_ws_place_options place = {.role = PONS_WS_BY_HAL,
                                         .dialect = d->dialect,
                                         .robot_id = d->id,
                                         .writes_per_s = PONS_WS_WRITES_PER_S,
                                         .no_wait = true, // it beats for a body
                                         .notice = notice,
                                         .user = d};
    int rc = pons_ws_place_open(d->c->workspace, &place, &d->place, err);
    rc = rc < 0 ? rc : cli_critic_policy(d->c, &policy, err);
    if (rc >= 0) {
        const pons_robot_tools_options robot = {.clock = d->clock,
                                                .connect = connect_body,
                                                .user = d,
                                                .name = "pons watchdog",
                                                .thread = "watchdog",
                                                .policy = policy};
        rc = pons_robot_tools_open(&robot, &d->tools, err);
    }
    rc = rc < 0 ? rc : cli_errands_open(d->c, &d->errands, err);
    rc = rc < 0 ? rc : cli_pictures_open(d->c, &d->pictures, err);
    if (rc >= 0) {
        pons_tools robot = {0};
        const pons_robot_tools_options own = {.clock = d->clock,
                                              .connect = connect_body,
                                              .user = d,
                                              .name = "pons watchdog",
                                              .thread = "watchdog",
                                              .policy = policy};
        rc = pons_robot_tools_open(&own, &robot, err);
        const pons_hal_trees_options trees = {.place = d->place,
                                              .dir = d->c->workspace,
                                              .robot = robot,
                                              .clock = d->clock,
                                              .robot_id = d->id,
                                              .judge = judge,
                                              .user = d};
        rc = rc < 0 ? rc : pons_hal_trees_open(&trees, &d->trees, err);
    }
    if (rc >= 0) {
        const pons_hal_options hal = {.place = d->place,
                                      .robot = d->tools,
                                      .errands = d->errands,
                                      .trees = d->trees,
                                      .pictures = d->pictures,
                                      .clock = d->clock,
                                      .robot_id = d->id,
                                      .only = d->robot,
                                      .judge = judge,
                                      .told = told,
                                      .user = d};
        rc = pons_hal_open(&hal, &d->hal, err);
    }
    return rc;
}

static void close_parts(dog *d)
{
    pons_hal_close(d->hal);
    pons_robot_tools_close(&d->errands);
    pons_robot_tools_close(&d->pictures);
    pons_robot_tools_close(&d->trees);
    pons_robot_tools_close(&d->tools);
    pons_ws_place_close(d->place);
    if (d->body) {
        kill(d->body, SIGTERM);
        waitpid(d->body, NULL, 0);
    }
    if (d->lock >= 0) {
        close(d->lock);
    }
    pons_value_unref(d->config);
}

static int run(dog *d, bool once, pons_error *err)
{
    while (!ended) {
        const int wait = pons_hal_step(d->hal);
        if (once && pons_ws_place_suspended(d->place, PONS_WS_ACTION)) {
            return CLI_FAULTY; // told already, with its place
        }
        if (once && pons_hal_idle(d->hal)) {
            break;
        }
        if (body_is_lost(d)) {
            return cli_lacks(err, "the body died %d times; see %s/body.log", STARTS_MAX,
                             d->c->run_dir);
        }
        struct pollfd fds[] = {
            {.fd = pons_ws_place_fd(d->place), .events = POLLIN},
            {.fd = d->tools.ops->event_fd(d->tools.self), .events = POLLIN},
        };
        poll(fds, 2, wait);
    }
    return pons_hal_failed(d->hal) ? CLI_NO_SUCCESS : PONS_OK;
}

int cmd_watchdog(cli *c, pons_error *err)
{
    const char *once = NULL, *speed = NULL, *seed = NULL;
    dog d = {.c = c, .speed = 1.0, .seed = 1.0, .lock = -1, .clock = pons_clock_real()};
    const cli_option options[] = {
        {"--once", NULL, "end when nothing is pending", &once},
        {"--robot", "ID", "hal: this robot's actions, and those of none; runtime: this target's",
         &d.robot},
        CLI_ROBOT_OPTIONS(c),
        {"--speed", "X", "of a body that has to be started: robot seconds in a second", &speed},
        {"--seed", "N", "of a body that has to be started; default 1", &seed},
        {NULL, NULL, NULL, NULL}};
    const int parsed = cli_parse(c, options, err);
    if (parsed < 0) {
        return parsed;
    }
    const bool sessions = c->argc == 1 && strcmp(c->argv[0], "runtime") == 0;
    if (c->argc != 1 || (!sessions && strcmp(c->argv[0], "hal") != 0)) {
        return cli_bad(err, "watchdog: use `pons watchdog hal` or `pons watchdog runtime`");
    }
    int rc = speed ? cli_number(speed, "--speed", 0.01, 1000.0, &d.speed, err) : PONS_OK;
    rc = rc >= 0 && seed ? cli_number(seed, "--seed", 0, 1e15, &d.seed, err) : rc;
    rc = rc < 0 ? rc : cli_workspace(c, false, err);
    if (rc >= 0 && sessions) {
        const cli_sessions_options o = {.once = once != NULL,
                                        .target = d.robot,
                                        .speed = d.speed,
                                        .seed = (uint64_t)d.seed,
                                        .ended = &ended};
        signal(SIGINT, on_signal);
        signal(SIGTERM, on_signal);
        return cli_watch_sessions(c, &o, err);
    }
    rc = rc < 0 ? rc : take_lock(&d, err);
    rc = rc < 0 ? rc : read_config(&d, err);
    signal(SIGINT, on_signal);
    signal(SIGTERM, on_signal);
    rc = rc < 0 ? rc : open_parts(&d, err);
    rc = rc < 0 ? rc : run(&d, once != NULL, err);
    close_parts(&d);
    return rc;
}
