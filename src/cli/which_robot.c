// which_robot.c - which robot a command means, and whether the body of this workspace is that one (which_robot.h).
//
//     typed, config.json --meant--> driver, world, world_id
//     run/body.sock --its process--> run/body.json of that process --same driver and world_id?--> link
//
// body.json is read and not the body asked: a hello as the controller would already take the robot.
#include "cli/which_robot.h"

#include "cli/onboarded.h"
#include "pons/value.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

int cli_robot_meant(const cli *c, const char *driver, const char *world, cli_robot *ret,
                    pons_error *err)
{
    pons_autovalue config = NULL;
    pons_autovalue loaded = NULL;
    pons_ws_dialect dialect;
    int rc = cli_workspace_config(c, &config, &dialect, err);
    driver = driver ? driver : c->driver;
    world = world ? world : c->world;
    if (rc >= 0) {
        const pons_value *robot = pons_get(config, "robot");
        driver = driver ? driver : pons_get_str(robot, "driver", CLI_DRIVER_USUAL);
        world = world ? world : pons_get_str(robot, "world", CLI_WORLD_USUAL);
        snprintf(ret->driver, sizeof ret->driver, "%s", driver);
        snprintf(ret->world, sizeof ret->world, "%s", world);
        rc = cli_world(world, &loaded, err);
    }
    if (rc >= 0 && !realpath(pons_get_str(loaded, "path", ""), ret->world_file)) {
        rc = cli_lacks(err, "%s: %s", world, strerror(errno));
    }
    if (rc >= 0 && cli_is_path(world)) { // a resume has another folder
        memcpy(ret->world, ret->world_file, sizeof ret->world);
    }
    snprintf(ret->world_name, sizeof ret->world_name, "%s", pons_get_str(loaded, "name", ""));
    ret->charger = pons_get(loaded, "charger");
    return rc < 0 ? rc : pons_world_id(loaded, ret->world_id, err);
}

pons_value *cli_robot_told(const cli *c)
{
    char path[PATH_MAX + 16];
    pons_value *told = NULL;
    snprintf(path, sizeof path, "%s/body.json", c->run_dir);
    return pons_value_load(path, &told, &(pons_error)PONS_ERROR_INIT) < 0 ? NULL : told;
}

const char *cli_robot_world(const pons_value *told)
{
    return pons_get_str(told, "world_file", pons_get_str(told, "world", NULL));
}

const char *cli_robot_line(const pons_value *told, bool zh, char *ret, size_t cap)
{
    const pons_value *world = pons_get(told, "world");
    const char *id = pons_get_str(told, "robot_id", pons_get_str(told, "robot", ""));
    const time_t since = (time_t)(pons_get_int(told, "started_ms", 0) / 1000);
    struct tm at;
    char clock[16] = "";
    strftime(clock, sizeof clock, "%H:%M:%S", localtime_r(&since, &at));
    snprintf(ret, cap, zh ? "%s %s，世界 %s，%s 起" : "%s %s in %s, since %s",
             pons_get_str(told, "driver", "?"), id,
             json_is_object(world) ? pons_get_str(world, "name", "?")
                                   : pons_get_str(told, "world", "?"),
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
    const bool same = cli_world(name, &world, &(pons_error)PONS_ERROR_INIT) >= 0 &&
                      realpath(pons_get_str(world, "path", ""), path) && strcmp(path, file) == 0;
    return same || !*file ? name : file;
}

static int another(const cli_robot *meant, const pons_value *body, pons_error *err)
{
    char line[256];
    const char *driver = pons_get_str(body, "driver", "");
    const long long pid = (long long)pons_get_int(body, "pid", 0);
    cli_robot_line(body, false, line, sizeof line);
    if (strcmp(driver, meant->driver) == 0 &&
        strcmp(pons_get_str(body, "world_file", ""), meant->world_file) == 0) {
        return cli_bad(err,
                       "the robot here is %s, with that world as it was before its file changed: "
                       "`kill %lld` ends it",
                       line, pid);
    }
    return cli_bad(
        err,
        "the robot here is %s, and this command means %s in %s: say `--driver %s --world "
        "%s` to use it, or `kill %lld` to end it",
        line, meant->driver, meant->world, driver, to_type(body), pid);
}

// A body of somebody's own (docs/ros2-own-body.md) has read no file of ours: the world's name tells.
static bool has_world(const pons_value *body, const cli_robot *meant)
{
    const char *id = pons_get_str(body, "world_id", NULL);
    return id ? strcmp(id, meant->world_id) == 0
              : strcmp(pons_get_str(body, "world", ""), meant->world_name) == 0;
}

int cli_robot_connect(const cli *c, const cli_robot *meant, pons_link **ret, pons_error *err)
{
    char path[PATH_MAX + 16];
    snprintf(path, sizeof path, "%s/body.sock", c->run_dir);
    int rc = pons_link_connect(path, ret, err);
    if (rc < 0) {
        return rc;
    }
    pons_autovalue body = cli_robot_told(c);
    // Until the process behind the socket has written it, it is an earlier one's or not there.
    if (pons_get_int(body, "pid", 0) != pons_link_peer_pid(*ret)) {
        rc = pons_error_set(err, PONS_EAGAIN, "body", "the robot's body is not ready yet");
    } else if (strcmp(pons_get_str(body, "driver", ""), meant->driver) != 0 ||
               !has_world(body, meant)) {
        rc = another(meant, body, err);
    }
    if (rc < 0) {
        pons_link_close(*ret);
        *ret = NULL;
    }
    return rc;
}

int cli_robot_check(const cli *c, const cli_robot *meant, pons_error *err)
{
    pons_error why = PONS_ERROR_INIT;
    pons_link *there = NULL;
    const int rc = cli_robot_connect(c, meant, &there, &why);
    pons_link_close(there);
    if (rc != PONS_EINVAL) {
        return PONS_OK;
    }
    *err = why;
    return rc;
}

int cli_robot_offered(const cli *c, cli_robot *ret, pons_error *err)
{
    pons_error why = PONS_ERROR_INIT;
    const int rc = cli_robot_meant(c, NULL, NULL, ret, err);
    if (rc < 0 || cli_robot_check(c, ret, &why) == PONS_OK) {
        return rc;
    }
    if (c->driver || c->world) {
        *err = why;
        return why.status;
    }
    cli_tell(&why);
    return PONS_OK;
}
