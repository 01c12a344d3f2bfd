// cmd_explore.c - `pons explore [NAME]`: the skill explore, in the world NAME, which is made where there is none.
//
//     pons explore home        worlds/home.yaml of the workspace: the robot of --world (or the usual one), and no map yet
//     pons explore home        again: the rest of it, or what is new there
//
// It is a goal of `pons run`, whose options it takes, as `pons do explore` is. A simulated robot starts in
// the world that describes it, without that world's map.
#include "app/map/world_files.h"
#include "app/workspace/which_robot.h"
#include "cli/cli.h"
#include "pons/ext/robot.h"
#include "pons/module.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_name(const char *text)
{
    static const char letters[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
    const size_t n = strlen(text);
    return n > 0 && n <= APP_WORLD_NAME_MAX && strspn(text, letters) == n;
}

// The world of that name, in the workspace; made, if it is not there.
static int find_world(cli *c, const char *name, pons_error *err)
{
    char path[PATH_MAX + 80], folder[PATH_MAX + 16], in_share[APP_WORLD_NAME_MAX + 16];
    pons_autovalue world = NULL;
    const pons_robot_ops *driver = NULL;
    app_robot meant = {0};
    if (!is_name(name)) {
        return app_bad(err, "a world's name has letters, digits, - and _, not '%s'", name);
    }
    int rc = app_workspace(&c->app, true, err);
    snprintf(folder, sizeof folder, "%s/worlds", c->app.workspace);
    snprintf(path, sizeof path, "%s/%s.yaml", folder, name);
    if (rc < 0 || access(path, F_OK) == 0) {
        return rc;
    }
    char shipped[PATH_MAX];
    snprintf(in_share, sizeof in_share, "worlds/%s.yaml", name);
    if (pons_share_path(in_share, shipped, sizeof shipped, NULL) >= 0) {
        return app_bad(err, "%s is a world that pons ships: explore needs another name", name);
    }
    (void)mkdir(folder, 0700); // when that is no use the world's file says so
    rc = app_robot_meant(&c->app, NULL, NULL, &meant, err);
    rc = rc < 0 ? rc : app_world(meant.world, &world, err);
    rc = rc < 0 ? rc : app_driver(meant.driver, &driver, err);
    const char *simulated = rc == PONS_OK && driver->step ? meant.world_file : NULL;
    rc = rc < 0 ? rc : app_world_unmapped(path, name, world, simulated, err);
    if (rc == PONS_OK) {
        cli_err("pons: %s: the world of the robot %s, without a map\n", path,
                pons_get_str(pons_get(world, "robot"), "id", "pons-1"));
    }
    return rc;
}

// What was typed but for NAME and the world whose robot is meant; then the world and the goal. The caller frees.
static const char **as_run(cli *c, char *const *typed, int n, const char *name, int *ret_n)
{
    const char **all = calloc((size_t)n + 5, sizeof *all);
    *ret_n = 0;
    for (int i = 0; all && i < n; i++) {
        const bool world = name && strcmp(typed[i], "--world") == 0;
        const bool skip = (name && typed[i] == name) || strcmp(typed[i], "--") == 0 ||
                          (name && strncmp(typed[i], "--world=", 8) == 0);
        if (world) {
            i++;
        } else if (!skip) {
            all[(*ret_n)++] = typed[i];
        }
    }
    if (all && name) {
        all[(*ret_n)++] = "--world";
        all[(*ret_n)++] = name;
    }
    if (all) {
        all[(*ret_n)++] = "--";
        all[(*ret_n)++] = "do explore {}";
    }
    c->argv = (char **)all;
    c->argc = *ret_n;
    return all;
}

// Prints what a person still has to do.
static void tell_next(const cli *c, const char *name)
{
    pons_autovalue world = NULL;
    if (c->json || app_world(name, &world, NULL) < 0) {
        return;
    }
    if (!pons_get(world, "zones")) {
        cli_err("pons: its rooms have no names yet: `pons map rooms %s`, or the page\n", name);
    }
    if (!pons_get(world, "charger")) {
        cli_err(
            "pons: where it charges is not known yet: say \"this is your place\" when it stands "
            "there\n");
    }
}

int cmd_explore(cli *c, pons_error *err)
{
    const int typed_n = c->argc;
    int n = 0;
    const char **all = NULL;
    char **typed = calloc((size_t)typed_n + 1, sizeof *typed);
    if (!typed) {
        return pons_error_set(err, PONS_ENOMEM, "pons", "out of memory");
    }
    memcpy(typed, c->argv, (size_t)typed_n * sizeof *typed);
    int rc = cli_run_options(c, err);
    if (rc == PONS_OK && c->argc > 1) {
        rc = app_bad(err, "explore takes one name of a world: pons explore home");
    }
    const char *name = c->argc == 1 ? c->argv[0] : NULL;
    rc = rc < 0 || !name ? rc : find_world(c, name, err);
    if (rc == PONS_OK) {
        all = as_run(c, typed, typed_n, name, &n);
        rc = all ? cmd_run(c, err) : pons_error_set(err, PONS_ENOMEM, "pons", "out of memory");
        c->argc = 0;
    }
    if (rc == PONS_OK && name) {
        tell_next(c, name);
    }
    free((void *)all);
    free(typed);
    return rc;
}
