// adapters.c - worlds, drivers and skills by the names that people give them.
#include "app/workspace/context.h"
#include "pons/drivers.h"
#include "pons/ext/slam.h"
#include "pons/module.h"
#include "pons/protected_files.h"

#include <string.h>
#include <unistd.h>

static const char *own_workspace; // of this process; app_setup says which, before there are threads

void app_worlds_of(const char *workspace)
{
    own_workspace = workspace;
}

bool app_is_path(const char *name)
{
    return strchr(name, '/') || strstr(name, ".yaml") || strstr(name, ".yml");
}

int app_world(const char *name, pons_value **ret, pons_error *err)
{
    char path[PATH_MAX];
    if (app_is_path(name)) {
        return pons_world_load(name, ret, err);
    }
    const int n = own_workspace
                      ? snprintf(path, sizeof path, "%s/worlds/%s.yaml", own_workspace, name)
                      : (int)sizeof path;
    if (n < (int)sizeof path && access(path, F_OK) == 0) {
        const int rc = pons_workspace_check(own_workspace, err);
        return rc < 0 ? rc : pons_world_load(path, ret, err);
    }
    char relative[256];
    snprintf(relative, sizeof relative, "worlds/%s.yaml", name);
    const int rc = pons_share_path(relative, path, sizeof path, err);
    if (rc == PONS_ENOTFOUND) {
        app_context c = {0};
        snprintf(c.workspace, sizeof c.workspace, "%s", own_workspace ? own_workspace : "");
        return app_no_such(&c, "worlds", "world", name, err);
    }
    return rc < 0 ? rc : pons_world_load(path, ret, err);
}

int app_driver(const char *name, const pons_robot_ops **ret, pons_error *err)
{
    if (strcmp(name, pons_robot_kinematic.name) == 0) {
        *ret = &pons_robot_kinematic;
        return PONS_OK;
    }
    const void *ops = NULL;
    const int rc = pons_module_load("driver", name, &ops, err);
    if (rc ==
        PONS_ENOTFOUND) { // where it was looked for is told only of one that is like none there is
        app_context c = {0};
        pons_error like = PONS_ERROR_INIT;
        app_no_such(&c, "drivers", "driver", name, &like);
        *err = strstr(like.message, "did you mean") ? like : *err;
        return err->status;
    }
    *ret = rc < 0 ? *ret : ops;
    return rc;
}

int app_slam(const pons_value *world, const pons_robot_ops *robot, const pons_slam_ops **ret,
             pons_error *err)
{
    const pons_value *map = pons_get(world, "map");
    const void *ops = NULL;
    if (!pons_get_bool(map, "grows", false)) {
        return PONS_OK;
    }
    const int rc =
        pons_module_load_of("slam", pons_get_str(map, "slam", "mrpt"), PONS_SLAM_ABI, &ops, err);
    if (rc == PONS_ENOTFOUND && pons_robot_gives_map(robot)) {
        return PONS_OK; // the robot may make the map itself: the body decides
    }
    *ret = rc < 0 ? *ret : ops;
    return rc;
}

int app_skills_load(const char *names, app_skills *ret, pons_error *err)
{
    *ret = (app_skills){0};
    for (const char *at = names; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL) {
        char name[PONS_NAME_MAX];
        const void *skill = NULL;
        if (snprintf(name, sizeof name, "%.*s", (int)strcspn(at, ","), at) >= (int)sizeof name ||
            ret->n == PONS_BODY_SKILLS_MAX) {
            return app_bad(err, "--skills takes at most %d names of modules skill-NAME, not '%s'",
                           PONS_BODY_SKILLS_MAX, names);
        }
        const int rc = pons_module_load("skill", name, &skill, err);
        if (rc < 0) {
            return rc;
        }
        const pons_skill *s = ret->at[ret->n++] = skill;
        if (s->abi >= PONS_SKILL_ABI_FIRST && s->abi <= PONS_SKILL_ABI &&
            (!s->name || strcmp(s->name, name) != 0)) {
            return app_bad(err, "the module skill-%s has a skill of another name", name);
        }
    }
    pons_value *registry = NULL; // whatever is wrong with one is said before anything is made
    const int rc = names ? pons_body_skills(ret->at, ret->n, &registry, err) : PONS_OK;
    pons_value_unref(registry);
    return rc;
}
