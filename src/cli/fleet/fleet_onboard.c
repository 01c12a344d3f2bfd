// fleet_onboard.c - `pons onboard --fleet`: the shared workspace of a fleet and its robots' own.
//
// The shared one has fleet.yaml, the map and all protocol files but ACTION and EMBODIED; these are in each
// robot's folder, with its config.json. What is there stays as it is; a robot that is not enabled is
// not made.
#include "app/workspace/workspace_profile.h"
#include "cli/fleet/fleet.h"
#include "pons/module.h"
#include "pons/workspace.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void reported(const cli *c, const char *path, bool made)
{
    if (c->json) {
        pons_autovalue row = pons_object("type", json_string("made"), "file", pons_string(path),
                                         "new", json_boolean(made), NULL);
        cli_print_json(row);
    } else {
        cli_out("%s%s\n", path, made ? "" : " was there and stays");
    }
}

static int write_new(const cli *c, const char *path, const char *text, size_t n, pons_error *err)
{
    const int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0 && errno == EEXIST) {
        reported(c, path, false);
        return PONS_OK;
    }
    const bool wrote = fd >= 0 && write(fd, text, n) == (ssize_t)n && fsync(fd) == 0;
    if (fd >= 0) {
        close(fd);
    }
    if (!wrote) {
        return app_lacks(err, "cannot write %s: %s", path, strerror(errno));
    }
    reported(c, path, true);
    return PONS_OK;
}

// A file that pons ships.
static int copy_shipped(const cli *c, const char *name, pons_error *err)
{
    char relative[64], from[PATH_MAX], to[PATH_MAX + 64], text[16384];
    snprintf(relative, sizeof relative, "config/fleet/%s", name);
    snprintf(to, sizeof to, "%s/%s", c->app.workspace, name);
    const int rc = pons_share_path(relative, from, sizeof from, err);
    if (rc < 0) {
        return rc;
    }
    FILE *f = fopen(from, "re");
    const size_t n = f ? fread(text, 1, sizeof text, f) : 0;
    if (f) {
        fclose(f);
    }
    return n == 0 ? app_lacks(err, "cannot read %s", from) : write_new(c, to, text, n, err);
}

static int make_file(const cli *c, const char *dir, pons_ws_file file, pons_ws_dialect dialect,
                     pons_error *err)
{
    char path[PATH_MAX + 32];
    pons_autobuf text = PONS_BUF_INIT;
    pons_error why = PONS_ERROR_INIT;
    pons_ws_template(file, dialect, &text);
    const int wrote =
        pons_ws_write(PONS_WS_BY_PERSON, dir, file, text.data, text.len, NULL, 0, &why);
    if (wrote < 0 && wrote != PONS_ESTALE) { // stale: it is there already, and stays
        *err = why;
        return wrote;
    }
    snprintf(path, sizeof path, "%s/%s", dir, pons_ws_file_name(file));
    reported(c, path, wrote >= 0);
    return PONS_OK;
}

static int make_robot(const cli *c, const app_fleet_robot *r, pons_ws_dialect dialect,
                      pons_error *err)
{
    app_context own = c->app;
    char path[PATH_MAX + 16];
    snprintf(own.workspace, sizeof own.workspace, "%s", r->dir);
    snprintf(own.run_dir, sizeof own.run_dir, "%.*s/run", PATH_MAX - 8, r->dir);
    for (char *p = own.workspace + strlen(c->app.workspace) + 1;
         strlen(c->app.workspace) < strlen(r->dir) && *p;
         p++) { // the folders above it, where it is below the shared one
        if (*p == '/') {
            *p = '\0';
            mkdir(own.workspace, 0700);
            *p = '/';
        }
    }
    int rc = app_workspace(&own, true, err);
    rc = rc < 0 ? rc : make_file(c, r->dir, PONS_WS_ACTION, dialect, err);
    rc = rc < 0 ? rc : make_file(c, r->dir, PONS_WS_EMBODIED, dialect, err);
    if (rc >= 0) { // what a person has written there stays
        rc = *r->profile ? app_profile_apply_file(&own, r->profile, dialect, err)
                         : app_profile_apply(&own, r->driver, r->world, dialect, err);
    }
    if (rc >= 0) {
        char *text = NULL;
        pons_autovalue config =
            pons_object("version", json_integer(1), "dialect",
                        json_string(pons_ws_dialect_name(dialect)), "robot",
                        pons_object("id", json_string(r->is.id), "driver", json_string(r->driver),
                                    "world", json_string(r->world), NULL),
                        NULL);
        const long n = pons_value_line(config, &text);
        snprintf(path, sizeof path, "%s/config.json", r->dir);
        rc = n < 0 ? pons_error_set(err, PONS_ENOMEM, "fleet", "out of memory")
                   : write_new(c, path, text, (size_t)n, err);
        free(text);
    }
    return rc;
}

int cli_fleet_onboard(cli *c, int dialect, pons_error *err)
{
    app_fleet_file f = {0};
    int rc = app_workspace(&c->app, true, err);
    rc = rc < 0 ? rc : copy_shipped(c, "fleet.yaml", err);
    rc = rc < 0 ? rc : copy_shipped(c, "map.yaml", err);
    for (int k = 0; k < PONS_WS_FILES && rc >= 0; k++) {
        if (k != PONS_WS_ACTION && k != PONS_WS_EMBODIED && k != PONS_WS_SKILLRUNTIME) {
            rc = make_file(c, c->app.workspace, (pons_ws_file)k, (pons_ws_dialect)dialect, err);
        }
    }
    rc = rc < 0 ? rc : app_fleet_load(&c->app, &f, err);
    for (size_t i = 0; i < f.n && rc >= 0; i++) {
        rc = f.robots[i].enabled ? make_robot(c, &f.robots[i], (pons_ws_dialect)dialect, err)
                                 : PONS_OK;
    }
    app_fleet_free(&f);
    return rc;
}
