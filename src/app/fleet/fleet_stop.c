// fleet_stop.c - a stop and a reset in a workspace are for every robot of it: its own, a fleet's, and the targets' that
// sessions have in targets/ID (app/watchdog/session_runner.c).
//
// Each robot's body has its own stop socket, in its own workspace. All are told at the same time: one that
// does not answer holds none of the others up. A robot whose body does not run has nothing to stop. A fleet.yaml that cannot be read (somebody edits
// it) does not keep a stop from the robots whose folders stand where they are made, but then nobody may
// say that all have heard it.
#include "app/fleet/fleet.h"
#include "pons/body.h"
#include "pons/out_of_memory.h"

#include <dirent.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define STACK_BYTES (256UL * 1024UL)
#define THREAD      "fleet-" // and the robot's id

typedef struct reported { // one body
    app_context own;
    char id[PONS_FLEET_NAME_MAX]; // "": the workspace's own
    const char *reason;
    int timeout_ms;
    bool begun;
    pthread_t thread;
    int rc;
    pons_error err;
} reported;

bool app_fleet_here(const app_context *c)
{
    char path[PATH_MAX + 16];
    snprintf(path, sizeof path, "%s/fleet.yaml", c->workspace);
    return access(path, F_OK) == 0;
}

app_context app_fleet_at(const app_context *c, const char *thread)
{
    app_context at = *c;
    pons_error none = PONS_ERROR_INIT;
    app_fleet_file file = {0};
    const char *id =
        thread && strncmp(thread, THREAD, strlen(THREAD)) == 0 ? thread + strlen(THREAD) : NULL;
    if (!id || !app_fleet_here(c)) {
        return at;
    }
    if (app_fleet_load(c, &file, &none) >= 0) {
        for (size_t i = 0; i < file.n; i++) {
            if (strcmp(file.robots[i].is.id, id) == 0) {
                snprintf(at.run_dir, sizeof at.run_dir, "%.*s/run", PATH_MAX - 8,
                         file.robots[i].dir);
            }
        }
    }
    app_fleet_free(&file);
    return at;
}

static void *stop_one(void *user)
{
    reported *t = user;
    t->rc = pons_stop_send(t->own.run_dir, t->reason, t->timeout_ms, &t->err);
    return NULL;
}

static void *reset_one(void *user)
{
    reported *t = user;
    pons_link *link = NULL;
    t->rc = app_body_link(&t->own, &link, &t->err);
    pons_link_close(link);
    t->rc = t->rc < 0 ? PONS_ENOTFOUND : app_reset_body(&t->own, &t->err);
    return NULL;
}

// Whether nobody is there who could be told.
static bool absent(const reported *t)
{
    return t->rc == PONS_ENOTFOUND || t->rc == PONS_ECLOSED;
}

typedef struct robots {
    reported like, *all;
    size_t n;
} robots;

static void add(robots *r, const char *id, const char *dir)
{
    r->all = pons_need_more(r->all, (r->n + 1) * sizeof *r->all);
    reported *t = &r->all[r->n++];
    *t = r->like;
    snprintf(t->id, sizeof t->id, "%s", id);
    snprintf(t->own.run_dir, sizeof t->own.run_dir, "%.*s/run", PATH_MAX - 8, dir);
}

// Those of a folder, each in a folder of its own.
static void add_folder(robots *r, const char *workspace, const char *folder)
{
    char path[PATH_MAX + 16], dir[2 * PATH_MAX];
    struct dirent **names = NULL;
    snprintf(path, sizeof path, "%s/%s", workspace, folder);
    const int n = scandir(path, &names, NULL, NULL);
    for (int i = 0; i < n; i++) {
        if (*names[i]->d_name != '.') {
            snprintf(dir, sizeof dir, "%s/%s", path, names[i]->d_name);
            add(r, names[i]->d_name, dir);
        }
        free(names[i]);
    }
    free(names);
}

static int tell_all(const app_context *c, void *(*how)(void *user), const char *reason,
                    int timeout_ms, pons_error *err)
{
    app_fleet_file file = {0};
    pthread_attr_t attr;
    size_t received = 0;
    robots r = {.like = {.own = *c, .reason = reason, .timeout_ms = timeout_ms}};
    const int read = app_fleet_here(c) ? app_fleet_load(c, &file, err) : PONS_OK;
    add(&r, "", c->workspace);
    for (size_t i = 0; i < file.n; i++) {
        add(&r, file.robots[i].is.id, file.robots[i].dir);
    }
    if (read < 0) {
        add_folder(&r, c->workspace, "robots");
    }
    add_folder(&r, c->workspace, "targets");
    reported *all = r.all;
    const size_t n = r.n;
    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, STACK_BYTES);
    for (size_t i = 0; i < n; i++) {
        all[i].begun = pthread_create(&all[i].thread, &attr, how, &all[i]) == 0;
        if (!all[i].begun) {
            how(&all[i]);
        }
    }
    pthread_attr_destroy(&attr);
    int rc = PONS_OK;
    for (size_t i = 0; i < n; i++) {
        if (all[i].begun) {
            pthread_join(all[i].thread, NULL);
        }
        received += all[i].rc >= 0;
        if (all[i].rc < 0 && rc >= 0 && !absent(&all[i])) {
            rc = all[i].rc;
            *err = all[i].err;
            pons_error_context(err, "robot %s", *all[i].id ? all[i].id : "of this workspace");
        }
    }
    if (rc >= 0 && read < 0) {
        rc = read; // who else there is, is not known: nobody may say that all have heard it
    } else if (rc >= 0 && received == 0) {
        rc = pons_error_set(err, PONS_ENOTFOUND, "fleet", "no robot's body runs");
    }
    free(all);
    app_fleet_free(&file);
    return rc;
}

static bool several(const app_context *c)
{
    char path[PATH_MAX + 16];
    snprintf(path, sizeof path, "%s/targets", c->workspace);
    return app_fleet_here(c) || access(path, F_OK) == 0;
}

int app_stop_robots(const app_context *c, const char *reason, int timeout_ms, pons_error *err)
{
    return several(c) ? tell_all(c, stop_one, reason, timeout_ms, err)
                      : pons_stop_send(c->run_dir, reason, timeout_ms, err);
}

int app_reset_robots(const app_context *c, pons_error *err)
{
    return several(c) ? tell_all(c, reset_one, NULL, 0, err) : app_reset_body(c, err);
}
