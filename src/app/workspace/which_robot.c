// which_robot.c - which robot a command means, and whether the body of this workspace is that one (which_robot.h).
//
//     typed, config.json --meant--> driver, world, world_id
//     run/body.sock --its process--> run/body.json of that process --same driver, world_id, config?--> link
//
// body.json is read and not the body asked: a hello as the controller would already take the robot.
#include "app/workspace/which_robot.h"

#include "app/workspace/onboarded_workspace.h"
#include "pons/buf.h"
#include "pons/config_file.h"
#include "pons/drivers.h"
#include "pons/module.h"
#include "pons/value.h"
#include "pons/yaml.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

const char *app_driver_usual(void)
{
    return pons_module_installed("driver", APP_DRIVER_USUAL) ? APP_DRIVER_USUAL
                                                             : pons_robot_kinematic.name;
}

int app_robot_meant(const app_context *c, const char *driver, const char *world, app_robot *ret,
                    pons_error *err)
{
    pons_autovalue config = NULL;
    pons_autovalue loaded = NULL;
    pons_ws_dialect dialect;
    int rc = app_workspace_config(c, &config, &dialect, err);
    ret->kept = driver || world;
    driver = driver ? driver : c->driver;
    world = world ? world : c->world;
    if (rc >= 0) {
        const pons_value *robot = pons_get(config, "robot");
        driver = driver ? driver : pons_get_str(robot, "driver", NULL);
        const char *usual = driver ? driver : app_driver_usual();
        ret->fallback = !driver && strcmp(usual, APP_DRIVER_USUAL) != 0;
        driver = usual;
        world = world ? world : pons_get_str(robot, "world", APP_WORLD_USUAL);
        snprintf(ret->driver, sizeof ret->driver, "%s", driver);
        snprintf(ret->world, sizeof ret->world, "%s", world);
        rc = app_world(world, &loaded, err);
    }
    if (rc >= 0 && !realpath(pons_get_str(loaded, "path", ""), ret->world_file)) {
        rc = app_lacks(err, "%s: %s", world, strerror(errno));
    }
    if (rc >= 0 && app_is_path(world)) { // a resume has another folder
        memcpy(ret->world, ret->world_file, sizeof ret->world);
    }
    snprintf(ret->world_name, sizeof ret->world_name, "%s", pons_get_str(loaded, "name", ""));
    ret->charger = pons_get(loaded, "charger");
    return rc < 0 ? rc : pons_world_id(loaded, ret->world_id, err);
}

// What a person knows a robot by in its driver's file. The environment's word comes before the file's, or where it has none.
static const struct {
    const char *driver, *key, *variable;
    bool first;
} marks[] = {{"ros2", "domain", "ROS_DOMAIN_ID", true},
             {"ros2", "namespace", "", false},
             {"gazebo", "partition", "IGN_PARTITION", false},
             {"gazebo", "model", "", false}};

static void add_marks(const char *driver, pons_value *said, pons_buf *says)
{
    for (size_t i = 0; i < sizeof marks / sizeof marks[0]; i++) {
        const char *key = marks[i].key, *from = getenv(marks[i].variable);
        const pons_value *own = pons_get(said, key);
        char word[256];
        if (strcmp(marks[i].driver, driver) != 0) {
            continue;
        }
        snprintf(word, sizeof word, "%s", pons_get_str(said, key, ""));
        if (json_is_integer(own)) {
            snprintf(word, sizeof word, "%lld", (long long)json_integer_value(own));
        }
        const bool other = from && *from && (marks[i].first || !*word);
        if (other) {
            snprintf(word, sizeof word, "%s", from);
        }
        if (*word) {
            json_object_set_new(said, key, pons_string(word));
            pons_buf_printf(says, "%s%s %s%s%s", says->len ? ", " : "", key, word,
                            other ? " of " : "", other ? marks[i].variable : "");
        }
    }
}

int app_robot_config(const app_context *c, const char *driver, pons_value **ret, pons_error *err)
{
    char relative[PONS_NAME_MAX + 16], path[PATH_MAX], id[PONS_WORLD_ID_MAX];
    pons_autovalue config = NULL;
    pons_autobuf says = PONS_BUF_INIT;
    pons_ws_dialect dialect;
    pons_yaml *yaml = NULL;
    int rc = app_workspace_config(c, &config, &dialect, err);
    if (rc < 0) {
        return rc;
    }
    const char *robot = pons_get_str(pons_get(config, "robot"), "id", NULL);
    pons_value *which = pons_object("robot", robot ? json_string(robot) : NULL, NULL);
    snprintf(relative, sizeof relative, "config/%s.yaml", driver);
    rc = pons_config_find(c->workspace, relative, path, sizeof path, NULL, err);
    if (rc == PONS_ENOTFOUND) { // the driver has none
        *ret = which;
        return PONS_OK;
    }
    rc = rc < 0 ? rc : pons_yaml_load(path, &yaml, err);
    // Below a key of its own: of a world, `path` and `start` at the top are no part of its id.
    pons_autovalue said =
        rc < 0 ? NULL : pons_object("said", json_deep_copy(pons_yaml_value(yaml)), NULL);
    pons_yaml_destroy(yaml);
    if (rc >= 0) {
        add_marks(driver, json_object_get(said, "said"), &says);
        rc = pons_world_id(said, id, err);
    }
    if (rc < 0) {
        pons_value_unref(which);
        return rc;
    }
    json_object_set_new(which, "file", pons_string(path));
    json_object_set_new(which, "id", json_string(id));
    json_object_set_new(which, "says", pons_string(says.len ? says.data : ""));
    *ret = which;
    return PONS_OK;
}

pons_value *app_robot_reported(const app_context *c)
{
    char path[PATH_MAX + 16];
    pons_value *reported = NULL;
    snprintf(path, sizeof path, "%s/body.json", c->run_dir);
    return pons_value_load(path, &reported, &(pons_error)PONS_ERROR_INIT) < 0 ? NULL : reported;
}

const char *app_robot_world(const pons_value *reported)
{
    return pons_get_str(reported, "world_file", pons_get_str(reported, "world", NULL));
}

const char *app_robot_line(const pons_value *reported, char *ret, size_t cap)
{
    const pons_value *world = pons_get(reported, "world");
    const char *id = pons_get_str(reported, "robot_id", pons_get_str(reported, "robot", ""));
    const time_t since = (time_t)(pons_get_int(reported, "started_ms", 0) / 1000);
    struct tm at;
    char clock[16] = "";
    strftime(clock, sizeof clock, "%H:%M:%S", localtime_r(&since, &at));
    snprintf(ret, cap, "%s %s in %s, since %s", pons_get_str(reported, "driver", "?"), id,
             json_is_object(world) ? pons_get_str(world, "name", "?")
                                   : pons_get_str(reported, "world", "?"),
             clock);
    return ret;
}

// What to type for the world of a body: its name, where that means the same file.
static const char *to_type(const pons_value *body)
{
    const char *name = pons_get_str(body, "world", ""),
               *file = pons_get_str(body, "world_file", "");
    char path[PATH_MAX];
    pons_autovalue world = NULL;
    const bool same = app_world(name, &world, &(pons_error)PONS_ERROR_INIT) >= 0 &&
                      realpath(pons_get_str(world, "path", ""), path) && strcmp(path, file) == 0;
    return same || !*file ? name : file;
}

static int another(const app_robot *meant, const pons_value *body, pons_error *err)
{
    char line[256];
    const char *driver = pons_get_str(body, "driver", "");
    const long long pid = (long long)pons_get_int(body, "pid", 0);
    app_robot_line(body, line, sizeof line);
    if (strcmp(driver, meant->driver) == 0 &&
        strcmp(pons_get_str(body, "world_file", ""), meant->world_file) == 0) {
        return app_bad(err,
                       "the robot here is %s, with that world as it was before its file changed: "
                       "`kill %lld` ends it",
                       line, pid);
    }
    char options[PATH_MAX + 64];
    snprintf(options, sizeof options, "say `--driver %.64s --world %s` to use it, or ", driver,
             to_type(body));
    return app_bad(err, "the robot here is %s, and this command means %s in %s: %s`kill %lld` %s",
                   line, meant->driver, meant->world, meant->kept ? "" : options, pid,
                   meant->kept ? "ends it" : "to end it");
}

// The body's config.json and driver's file said what they say now.
static int same_config(const app_context *c, const app_robot *meant, const pons_value *body,
                       pons_error *err)
{
    const pons_value *was = pons_get(body, "config");
    pons_autovalue now = NULL;
    char line[256];
    const int rc = was ? app_robot_config(c, meant->driver, &now, err) : PONS_OK;
    if (rc < 0 || !was) {
        return rc;
    }
    const long long pid = (long long)pons_get_int(body, "pid", 0);
    const char *had = pons_get_str(was, "robot", ""), *has = pons_get_str(now, "robot", "");
    app_robot_line(body, line, sizeof line);
    if (strcmp(had, has) != 0) {
        return app_bad(err,
                       "the robot here is %s, '%s' of config.json, which names '%s' now: `kill "
                       "%lld` ends it",
                       line, had, has, pid);
    }
    const char *had_file = pons_get_str(was, "file", NULL), *file = pons_get_str(now, "file", NULL);
    const char *said = pons_get_str(was, "says", ""), *says = pons_get_str(now, "says", "");
    if (strcmp(pons_get_str(was, "id", ""), pons_get_str(now, "id", "")) == 0) {
        return PONS_OK;
    }
    if (!file) {
        return app_bad(err, "the robot here is %s, and its %s is gone: `kill %lld` ends it", line,
                       had_file ? had_file : "driver's file", pid);
    }
    if (strcmp(said, says) ==
        0) { // what a person knows it by is the same, or there is nothing of that kind
        return app_bad(err,
                       "the robot here is %s, and %s says something else now: `kill %lld` ends it",
                       line, file, pid);
    }
    return app_bad(
        err, "the robot here is %s (%s), and %s says something else now (%s): `kill %lld` ends it",
        line, *said ? said : "nothing", file, *says ? says : "nothing", pid);
}

// A custom body (docs/reference/ros2-own-body.md) has read no file of pons, so only the world's name is compared. Zones that
// were named since the robot was chosen are in the world's file.
static bool has_world(const pons_value *body, const app_robot *meant)
{
    const char *id = pons_get_str(body, "world_id", NULL);
    char now[PONS_WORLD_ID_MAX] = "";
    pons_autovalue world = NULL;
    if (!id) {
        return strcmp(pons_get_str(body, "world", ""), meant->world_name) == 0;
    }
    return strcmp(id, meant->world_id) == 0 ||
           (pons_world_load(meant->world_file, &world, NULL) >= 0 &&
            pons_world_id(world, now, NULL) >= 0 && strcmp(id, now) == 0);
}

int app_robot_connect(const app_context *c, const app_robot *meant, pons_link **ret,
                      pons_error *err)
{
    int rc = app_body_link(c, ret, err);
    if (rc < 0) {
        return rc;
    }
    pons_autovalue body = app_robot_reported(c);
    // Until the process behind the socket has written it, it is an earlier one's or not there.
    if (pons_get_int(body, "pid", 0) != pons_link_peer_pid(*ret)) {
        rc = pons_error_set(err, PONS_EAGAIN, "body", "the robot's body is not ready yet");
    } else if (strcmp(pons_get_str(body, "driver", ""), meant->driver) != 0 ||
               !has_world(body, meant)) {
        rc = another(meant, body, err);
    } else {
        rc = same_config(c, meant, body, err);
    }
    if (rc < 0) {
        pons_link_close(*ret);
        *ret = NULL;
    }
    return rc;
}

int app_robot_check(const app_context *c, const app_robot *meant, pons_error *err)
{
    pons_error why = PONS_ERROR_INIT;
    pons_link *there = NULL;
    const int rc = app_robot_connect(c, meant, &there, &why);
    pons_link_close(there);
    if (rc != PONS_EINVAL) {
        return PONS_OK;
    }
    *err = why;
    return rc;
}

int app_robot_offered(const app_context *c, app_robot *ret, pons_error *err)
{
    pons_error why = PONS_ERROR_INIT;
    const int rc = app_robot_meant(c, NULL, NULL, ret, err);
    if (rc < 0 || app_robot_check(c, ret, &why) == PONS_OK) {
        return rc;
    }
    if (c->driver || c->world) {
        *err = why;
        return why.status;
    }
    app_tell_error(c, &why);
    return PONS_OK;
}

bool app_no_body(int rc)
{
    return rc == PONS_ENOTFOUND || rc == PONS_ECLOSED;
}
