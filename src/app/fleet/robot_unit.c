// robot_unit.c - one robot of a fleet: a brain on a thread of the fleet's store, a body process in a
// workspace of its own, whose files judge it (unit_embodied.c), and one thing at a time to do.
//
// A zone to enter and a stop to work at are tasks of its brain (app/session/keyed_task.h), one at a time.
#include "app/fleet/robot_unit.h"

#include "app/session/keyed_task.h"
#include "app/workspace/onboarded_workspace.h"
#include "app/workspace/which_robot.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#define START_EVERY_MS 3000
#define STARTS_MAX     5 // in a row that have come to nothing; then
#define START_LATER_MS 30000
#define LOOK_MS        100
#define AGAIN_MS       3000 // after a way that failed
#define WORK_S         2.0
#define AT_M           0.3 // from the middle of its zone: it has not left it

// ---- what it was given --------------------------------------------------------------------------

static void set_key(app_unit *u, const char *from, const char *to)
{
    if (u->kind == PONS_FLEET_MOVE) {
        snprintf(u->key, sizeof u->key, "%s: %s > %s (fleet %lld)", u->robot->is.id, from, to,
                 (long long)u->number);
    } else if (u->kind == PONS_FLEET_CHARGE) {
        snprintf(u->key, sizeof u->key, "%s: charge at %s (fleet %lld)", u->robot->is.id, from,
                 (long long)u->number);
    } else {
        snprintf(u->key, sizeof u->key, "%s, stop %zu (%s)", u->name, u->stop + 1, u->task);
    }
}

void app_unit_note(app_unit *u, const pons_fleet_command *c, const pons_value *work)
{
    if (c->what == PONS_FLEET_MOVE) {
        if (u->open && u->kind == PONS_FLEET_MOVE && u->to == c->zone) {
            return; // it is on its way
        }
        u->to = c->zone;
        u->number++;
    } else if (c->what == PONS_FLEET_WORK) {
        if (u->kind == PONS_FLEET_WORK && strcmp(u->task, c->task->id) == 0 && u->stop == c->stop) {
            u->reported = !u->open; // asked again: its end is said again
            return;
        }
        snprintf(u->task, sizeof u->task, "%s", c->task->id);
        snprintf(u->name, sizeof u->name, "%s", *c->task->name ? c->task->name : c->task->id);
        u->stop = c->stop;
        pons_value_unref(u->work);
        u->work = json_is_object(work) ? pons_value_ref((pons_value *)work) : NULL;
    } else if (c->what == PONS_FLEET_CHARGE) {
        if (u->open && u->kind == PONS_FLEET_CHARGE) {
            return;
        }
        u->number++;
    } else { // its brain is told, and its task's end is the stop's
        u->canceled = u->open && u->kind == PONS_FLEET_WORK;
        return;
    }
    u->canceled = u->hindered = u->doubts = u->tried = u->stays = false;
    u->task_id[0] = u->asks[0] = '\0';
    u->kind = c->what;
    u->open = true;
    u->posted = u->reported = u->ok = false;
    u->given_ms = u->looked_ms = 0;
    u->key[0] = '\0';
}

static const char *const kinds[] = {
    [PONS_FLEET_MOVE] = "move", [PONS_FLEET_WORK] = "work", [PONS_FLEET_CHARGE] = "charge"};

pons_value *app_unit_value(const app_unit *u, const pons_fleet_map *map)
{
    const pons_fleet_zone *at = pons_fleet_map_zone(map, (size_t)u->at);
    return pons_object(
        "number", json_integer(u->number), "kind", json_string(kinds[u->kind]), "at",
        json_string(at->id), "to",
        u->to >= 0 ? json_string(pons_fleet_map_zone(map, (size_t)u->to)->id) : json_null(), "task",
        json_string(u->task), "name", json_string(u->name), "stop",
        json_integer((json_int_t)u->stop), "work", u->work ? pons_value_ref(u->work) : json_null(),
        "canceled", json_boolean(u->canceled), "open", json_boolean(u->open), "ok",
        json_boolean(u->ok), NULL);
}

static void read_item(app_unit *u, const pons_fleet_map *map, const pons_value *v)
{
    if (!v) {
        return;
    }
    const int32_t at = pons_fleet_map_find(map, pons_get_str(v, "at", ""));
    u->number = pons_get_int(v, "number", 0);
    const char *kind = pons_get_str(v, "kind", "");
    u->kind = strcmp(kind, kinds[PONS_FLEET_WORK]) == 0     ? PONS_FLEET_WORK
              : strcmp(kind, kinds[PONS_FLEET_CHARGE]) == 0 ? PONS_FLEET_CHARGE
                                                            : PONS_FLEET_MOVE;
    const pons_value *work = pons_get(v, "work");
    u->work = json_is_object(work) ? pons_value_ref((pons_value *)work) : NULL;
    u->canceled = pons_get_bool(v, "canceled", false);
    u->at = at >= 0 ? at : u->at;
    u->to = pons_fleet_map_find(map, pons_get_str(v, "to", ""));
    snprintf(u->task, sizeof u->task, "%s", pons_get_str(v, "task", ""));
    snprintf(u->name, sizeof u->name, "%s", pons_get_str(v, "name", ""));
    u->stop = (size_t)pons_get_int(v, "stop", 0);
    u->ok = pons_get_bool(v, "ok", false);
    u->open = pons_get_bool(v, "open", false) && (u->kind != PONS_FLEET_MOVE || u->to >= 0);
}

// ---- its body -----------------------------------------------------------------------------------

bool app_unit_fails(const app_unit *u)
{
    return u->body.starts >= STARTS_MAX;
}

static int connect_body(void *user, pons_link **ret, pons_error *err)
{
    app_unit *u = user;
    const int rc = app_robot_connect(&u->own, &u->meant, ret, err);
    if (app_no_body(rc)) {
        const app_body_how how = {
            .driver = u->robot->driver, .world = u->world, .speed = u->speed, .seed = 1};
        const int64_t rest_ms = app_unit_fails(u) ? START_LATER_MS : START_EVERY_MS;
        app_body_child_start(&u->body, &u->own, &how, pons_now_ms(&u->clock), INT_MAX,
                             u->body.starts > 0 ? rest_ms : 0);
    }
    return rc < 0 ? PONS_EAGAIN : rc;
}

// The robot's world, with the robot where it begins.
static int write_world(app_unit *u, const pons_fleet_zone *at, pons_error *err)
{
    pons_autovalue world = NULL;
    char *text = NULL, path[PATH_MAX];
    const int rc = app_world(u->robot->world, &world, err);
    if (rc < 0) {
        return rc;
    }
    if (!realpath(pons_get_str(world, "path", ""), path)) {
        return app_lacks(err, "cannot find the world %s", u->robot->world);
    }
    pons_autovalue copy = pons_object(
        "of", json_string(path), "start",
        pons_object("x", json_real(at->x), "y", json_real(at->y), "yaw", json_real(0.0), NULL),
        "robot_id", json_string(u->robot->is.id), NULL);
    snprintf(u->world, sizeof u->world, "%s/world.yaml", u->own.run_dir);
    const long n = pons_value_line(copy, &text);
    FILE *f = n > 0 ? fopen(u->world, "we") : NULL;
    const bool wrote = f && fwrite(text, 1, (size_t)n, f) == (size_t)n;
    const bool closed = f && fclose(f) == 0;
    free(text);
    return wrote && closed ? app_robot_meant(&u->own, u->robot->driver, u->world, &u->meant, err)
                           : app_lacks(err, "cannot write %s", u->world);
}

// ---- public functions ---------------------------------------------------------------------------

int app_unit_open(app_unit *u, const app_context *c, const app_fleet_robot *robot, pons_store store,
                  const pons_fleet_map *map, int32_t start, const pons_value *before,
                  pons_value *config, pons_policy policy, double speed, pons_error *err)
{
    *u = (app_unit){.own = *c, .robot = robot, .store = store, .clock = pons_clock_real()};
    u->at = start;
    u->speed = speed;
    u->to = -1;
    snprintf(u->thread, sizeof u->thread, "fleet-%s", robot->is.id);
    const int w = snprintf(u->own.workspace, sizeof u->own.workspace, "%s", robot->dir);
    const int r =
        snprintf(u->own.run_dir, sizeof u->own.run_dir, "%.*s/run", PATH_MAX - 8, robot->dir);
    if (w >= PATH_MAX || r >= PATH_MAX) {
        return app_bad(err, "robot %s: its workspace's path is too long", robot->is.id);
    }
    read_item(u, map, before);
    int rc = app_workspace(&u->own, true, err);
    rc = rc < 0 ? rc : write_world(u, pons_fleet_map_zone(map, (size_t)start), err);
    rc = rc < 0 ? rc : app_unit_files_open(u, err);
    if (rc >= 0) {
        const pons_brain_options o = {.store = store,
                                      .thread = u->thread,
                                      .clock = u->clock,
                                      .config = config,
                                      .policy = policy,
                                      .connect = connect_body,
                                      .judge = app_unit_judge,
                                      .on_event = app_unit_on_event,
                                      .user = u,
                                      .keep_running = true,
                                      .resumed = true,
                                      // A watchdog's body is the watchdog's.
                                      .stop_body = !app_hal_served(&u->own)};
        rc = pons_brain_open(&o, &u->brain, err);
    }
    return rc < 0 ? rc : pons_brain_add_goals(u->brain, NULL, 0, err);
}

void app_unit_close(app_unit *u, bool lost)
{
    if (lost) {
        pons_brain_kill(u->brain);
    } else {
        pons_brain_close(u->brain);
    }
    u->brain = NULL;
    app_unit_files_close(u);
    pons_value_unref(u->work);
    u->work = NULL;
    if (!lost) {
        app_body_child_end(&u->body);
    }
}

// ---- its brain ----------------------------------------------------------------------------------

// It may not drive. One that stands in its zone gives the next zone back; one that may stand between two keeps both.
static void stay(app_unit *u, const pons_fleet_zone *at)
{
    if (u->idle && hypot(u->x - at->x, u->y - at->y) <= AT_M) {
        u->open = u->ok = u->hindered = false;
        u->stays = true;
    }
}

// What its brain asks about the task. A question with nothing to permit is a doubt: "shall I try once more?"
static void look_asks(app_unit *u, const pons_value *status)
{
    const pons_value *asks = pons_get(status, "approvals"), *mine = NULL;
    for (size_t i = 0; i < json_array_size(asks) && !mine; i++) {
        const pons_value *q = json_array_get(asks, i);
        mine = strcmp(pons_get_str(q, "task_id", ""), u->task_id) == 0 ? q : NULL;
    }
    snprintf(u->asks, sizeof u->asks, "%s", mine ? pons_get_str(mine, "question", "?") : "");
    u->doubts = mine && u->kind != PONS_FLEET_WORK && json_array_size(pons_get(mine, "ops")) == 0;
    u->hindered = u->hindered || (mine && u->kind == PONS_FLEET_MOVE);
}

static void look(app_unit *u, const pons_value *status)
{
    const pons_value *pose = pons_get(status, "pose");
    u->connected = json_is_object(pons_get(status, "body")) && json_is_object(pose);
    u->body.starts = u->connected ? 0 : u->body.starts;
    u->idle = json_array_size(pons_get(status, "queue")) == 0 &&
              !json_is_object(pons_get(status, "active_task"));
    u->latched = pons_get_bool(pons_get(status, "stop"), "latched", false);
    u->x = pons_get_num(pose, "x", NAN);
    u->y = pons_get_num(pose, "y", NAN);
    u->battery_pct = pons_get_num(status, "battery_pct", NAN);
    if (!u->open || !*u->key) {
        return;
    }
    bool over = false;
    const pons_value *mine = app_task_called(status, u->key, &over);
    if (mine && !over) {
        u->posted = true;
        snprintf(u->task_id, sizeof u->task_id, "%s", pons_get_str(mine, "id", ""));
        look_asks(u, status);
        return;
    }
    u->asks[0] = '\0';
    u->doubts = false;
    if (!mine) {
        return;
    }
    const char *how = pons_get_str(mine, "status", "");
    snprintf(u->why, sizeof u->why, "%s", pons_get_str(mine, "reason", ""));
    u->posted = true;
    u->ok = strcmp(how, "succeeded") == 0;
    if (u->kind != PONS_FLEET_WORK && !u->ok) { // another attempt, under another key
        u->hindered = u->kind == PONS_FLEET_MOVE;
        u->tried = true;
        u->number++;
        u->key[0] = u->task_id[0] = '\0';
        u->posted = false;
        u->given_ms = u->looked_ms;
        return;
    }
    u->at = u->kind == PONS_FLEET_MOVE ? u->to : u->at;
    u->hindered = false;
    u->open = false;
    u->reported = true;
}

static int post(app_unit *u, const pons_fleet_map *map, pons_error *err)
{
    char text[256], id[64];
    const char *action = "navigate_to_pose";
    if (u->kind == PONS_FLEET_MOVE) {
        const pons_fleet_zone *a = pons_fleet_map_zone(map, (size_t)u->at);
        const pons_fleet_zone *b = pons_fleet_map_zone(map, (size_t)u->to);
        snprintf(text, sizeof text, "{\"pose\":{\"x\":%.3f,\"y\":%.3f,\"yaw\":%.4f}}", b->x, b->y,
                 atan2(b->y - a->y, b->x - a->x));
        snprintf(id, sizeof id, "plan_move_%lld", (long long)u->number);
    } else if (u->kind == PONS_FLEET_CHARGE) {
        action = "dock_to_charger";
        snprintf(text, sizeof text, "{}");
        snprintf(id, sizeof id, "plan_charge_%lld", (long long)u->number);
    } else {
        action = pons_get_str(u->work, "skill", "wait");
        snprintf(text, sizeof text, "{\"s\":%g}", WORK_S);
        snprintf(id, sizeof id, "plan_%s_%zu", u->task, u->stop);
    }
    char *parameters = NULL;
    if (u->kind == PONS_FLEET_WORK && u->work &&
        pons_value_dump(pons_get(u->work, "parameters"), &parameters) < 0) {
        return pons_error_set(err, PONS_ENOMEM, "fleet", "out of memory");
    }
    const app_keyed_task task = {
        .id = id, .key = u->key, .skill = action, .args = parameters ? parameters : text};
    pons_plan *plan = NULL;
    int rc = app_keyed_task_plan(&task, &u->clock, &plan, err);
    rc = rc < 0 ? rc : pons_brain_add_plan(u->brain, plan, err);
    pons_brain_wake(u->brain);
    pons_plan_destroy(plan);
    free(parameters);
    return rc;
}

int app_unit_poll(app_unit *u, const pons_fleet_map *map, pons_error *err)
{
    int rc = pons_brain_poll(u->brain, err);
    app_body_child_ended(&u->body, NULL);
    const int64_t now = pons_now_ms(&u->clock);
    if (rc < 0 || now - u->looked_ms < LOOK_MS) {
        return rc;
    }
    u->looked_ms = now;
    if (u->open && !*u->key) {
        set_key(u, pons_fleet_map_zone(map, (size_t)u->at)->id,
                u->to >= 0 ? pons_fleet_map_zone(map, (size_t)u->to)->id : "");
    }
    pons_autovalue v = pons_brain_status(u->brain);
    look(u, v);
    app_unit_files_look(u, now);
    if (u->open && !u->posted && u->connected && now - u->given_ms >= AGAIN_MS) {
        bool all_read = false;
        rc = app_inbox_is_read(u->store, u->thread, &all_read, err);
        if (rc >= 0 && all_read) {
            u->given_ms = now;
            if (u->kind == PONS_FLEET_MOVE && *u->barred) {
                stay(u, pons_fleet_map_zone(map, (size_t)u->at));
                return rc;
            }
            u->posted = true;
            if (u->canceled) { // it has never heard of it
                u->open = u->ok = false;
                u->reported = true;
            } else {
                rc = post(u, map, err);
            }
        }
    }
    if (rc >= 0 && u->open && (u->canceled || u->doubts) && *u->task_id &&
        now - u->reported_ms >= AGAIN_MS) {
        u->reported_ms = now;
        rc = app_task_cancel(u->store, u->thread, u->task_id, "fleet", err);
    }
    return rc;
}
