// action_runner.c - the actions of a workspace's ACTION.md, done by its body: `pons watchdog hal`.
//
// It joins the body that runs in the workspace, else it starts the one that config.json names and ends it
// with itself. `once` ends when nothing is pending: 0 all done, 1 something failed, 2 ACTION.md cannot be read.
#include "app/sight/sight.h"
#include "app/watchdog/watchdog.h"
#include "app/workspace/onboarded_workspace.h"
#include "app/workspace/workspace_profile.h"
#include "pons/agent.h"
#include "pons/watchdog.h"
#include "pons/watchdog_trees.h"

#include <poll.h>
#include <string.h>
#include <unistd.h>

#define START_EVERY_MS 5000
#define STARTS_MAX     3

typedef struct runner {
    const app_context *c;
    const app_watchdog_options *o;
    const char *id;
    pons_ws_dialect dialect;
    pons_value *config;
    app_robot meant;
    app_body_child body; // that this one has started
    pons_clock clock;
    pons_tools tools, text_tasks, trees, pictures;
    pons_ws_place *place;
    pons_store memory; // where what was seen is kept; opened by the first question
    pons_hal *hal;
    int lock;
} runner;

// ---- the body -----------------------------------------------------------------------------------

static int connect_body(void *user, pons_link **ret, pons_error *err)
{
    runner *d = user;
    const int rc = app_robot_connect(d->c, &d->meant, ret, err);
    app_body_child_ended(&d->body, NULL);
    if (app_no_body(rc)) {
        const app_body_how how = {.driver = d->meant.driver,
                                  .world = d->meant.world,
                                  .speed = d->o->speed,
                                  .seed = d->o->seed};
        app_body_child_start(&d->body, d->c, &how, pons_now_ms(&d->clock), STARTS_MAX,
                             START_EVERY_MS);
    }
    return rc;
}

static bool body_is_lost(const runner *d)
{
    return !d->body.pid && d->body.starts >= STARTS_MAX;
}

int app_watchdog_judge(const pons_tools *robot, const char *skill, const pons_value *args,
                       char *why, size_t cap)
{
    pons_verdict *v = NULL;
    pons_error err = PONS_ERROR_INIT;
    const int rc = pons_robot_tools_judge(robot->self, skill, args, NULL, &v, &err);
    if (rc < 0) {
        pons_autovalue status = pons_robot_tools_status(robot->self);
        snprintf(why, cap, "%s", err.message);
        return pons_get_bool(status, "connected", false) ? PONS_EREFUSED : PONS_EAGAIN;
    }
    const bool ok = pons_verdict_ok(v);
    const pons_value *rule = json_array_get(pons_verdict_rules(v), 0);
    snprintf(why, cap, "%s: %s", pons_get_str(rule, "rule", ""), pons_get_str(rule, "message", ""));
    pons_verdict_destroy(v);
    return ok ? PONS_OK : PONS_EREFUSED;
}

static int judge(void *user, const char *skill, const pons_value *args, char *why, size_t cap)
{
    return app_watchdog_judge(&((const runner *)user)->tools, skill, args, why, cap);
}

static bool sees(void *user, const char *what, const char *zone, double within_s)
{
    runner *d = user;
    return app_seen(d->c, &d->memory, what, zone, within_s, NULL, 0);
}

static bool seen(void *user, const char *what, char *line, size_t cap)
{
    runner *d = user;
    return app_seen(d->c, &d->memory, what, NULL, -1, line, cap);
}

// ---- what is said -------------------------------------------------------------------------------

static void report(void *user, const char *id, const char *status, const pons_value *action)
{
    const runner *d = user;
    d->o->record(d->o->user, id, status, action);
}

static void notice(void *user, const char *file, const char *text)
{
    const runner *d = user;
    app_tell(d->c, "%s: %s", file, text);
}

// ---- begun and ended ----------------------------------------------------------------------------

static int take_lock(runner *d, pons_error *err)
{
    char pid[32] = "";
    const int rc = app_hal_lock(d->c, &d->lock, pid, err);
    return rc == PONS_EBUSY ? app_unreached(err) : rc;
}

// Entries in the files are the named robot's, else config.json's.
static int read_config(runner *d, pons_error *err)
{
    int rc = app_workspace_config(d->c, &d->config, &d->dialect, err);
    rc = rc < 0 ? rc : app_robot_meant(d->c, NULL, NULL, &d->meant, err);
    rc = rc < 0 ? rc : app_robot_check(d->c, &d->meant, err);
    d->id = d->o->only ? d->o->only : pons_get_str(pons_get(d->config, "robot"), "id", "robot_001");
    return rc < 0 ? rc : app_profile_apply(d->c, d->meant.driver, d->meant.world, d->dialect, err);
}

static int open_parts(runner *d, pons_error *err)
{
    pons_autovalue policy = NULL;
    const pons_ws_place_options place = {.role = PONS_WS_BY_HAL,
                                         .dialect = d->dialect,
                                         .robot_id = d->id,
                                         .writes_per_s = PONS_WS_WRITES_PER_S,
                                         .no_wait = true, // it beats for a body
                                         .seen = seen,
                                         .notice = notice,
                                         .user = d};
    int rc = pons_ws_place_open(d->c->workspace, &place, &d->place, err);
    rc = rc < 0 ? rc : app_critic_policy(d->c, &policy, err);
    const pons_robot_tools_options own = {.clock = d->clock,
                                          .connect = connect_body,
                                          .user = d,
                                          .name = "pons watchdog",
                                          .thread = "watchdog",
                                          .policy = policy};
    rc = rc < 0 ? rc : pons_robot_tools_open(&own, &d->tools, err);
    rc = rc < 0 ? rc : app_text_tasks_open(d->c, &d->text_tasks, err);
    rc = rc < 0 ? rc : app_pictures_open(d->c, &d->pictures, err);
    if (rc >= 0) {
        pons_tools robot = {0};
        rc = pons_robot_tools_open(&own, &robot, err);
        const pons_hal_trees_options trees = {.place = d->place,
                                              .dir = d->c->workspace,
                                              .robot = robot,
                                              .clock = d->clock,
                                              .robot_id = d->id,
                                              .sees = sees,
                                              .judge = judge,
                                              .user = d};
        rc = rc < 0 ? rc : pons_hal_trees_open(&trees, &d->trees, err);
    }
    if (rc >= 0) {
        const pons_hal_options hal = {.place = d->place,
                                      .robot = d->tools,
                                      .errands = d->text_tasks,
                                      .trees = d->trees,
                                      .pictures = d->pictures,
                                      .clock = d->clock,
                                      .robot_id = d->id,
                                      .only = d->o->only,
                                      .judge = judge,
                                      .reported = report,
                                      .user = d};
        rc = pons_hal_open(&hal, &d->hal, err);
    }
    return rc;
}

static void close_parts(runner *d)
{
    pons_hal_close(d->hal);
    pons_robot_tools_close(&d->text_tasks);
    pons_robot_tools_close(&d->pictures);
    pons_robot_tools_close(&d->trees);
    pons_robot_tools_close(&d->tools);
    pons_ws_place_close(d->place);
    pons_store_close(&d->memory);
    app_body_child_end(&d->body);
    if (d->lock >= 0) {
        close(d->lock);
    }
    pons_value_unref(d->config);
}

static int run(runner *d, pons_error *err)
{
    while (!*d->o->ended) {
        const int wait = pons_hal_step(d->hal);
        if (d->o->once && pons_ws_place_suspended(d->place, PONS_WS_ACTION)) {
            return APP_FAULTY; // told already, with its place
        }
        if (d->o->once && pons_hal_idle(d->hal)) {
            break;
        }
        if (body_is_lost(d)) {
            return app_lacks(err, "the body died %d times; see %s/body.log", STARTS_MAX,
                             d->c->run_dir);
        }
        struct pollfd fds[] = {
            {.fd = pons_ws_place_fd(d->place), .events = POLLIN},
            {.fd = d->tools.ops->event_fd(d->tools.self), .events = POLLIN},
        };
        poll(fds, 2, wait);
    }
    return pons_hal_failed(d->hal) ? APP_NO_SUCCESS : PONS_OK;
}

int app_actions_run(const app_context *c, const app_watchdog_options *o, pons_error *err)
{
    runner d = {.c = c, .o = o, .lock = -1, .clock = pons_clock_real()};
    int rc = take_lock(&d, err);
    rc = rc < 0 ? rc : read_config(&d, err);
    rc = rc < 0 ? rc : open_parts(&d, err);
    rc = rc < 0 ? rc : run(&d, err);
    close_parts(&d);
    return rc;
}
