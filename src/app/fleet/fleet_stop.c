// fleet_stop.c - a stop and a reset in the shared workspace of a fleet are for every robot of it.
//
// Each robot's body has its own stop socket, in its own workspace. All are told at the same time: one that
// does not answer holds none of the others up. A robot whose body does not run has nothing to stop. The
// workspace's own body, where there is one, is told too. A fleet.yaml that cannot be read (somebody edits
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

static void add(reported *all, size_t *n, const reported *like, const char *id, const char *dir)
{
    reported *t = &all[(*n)++];
    *t = *like;
    snprintf(t->id, sizeof t->id, "%s", id);
    snprintf(t->own.run_dir, sizeof t->own.run_dir, "%.*s/run", PATH_MAX - 8, dir);
}

static int tell_all(const app_context *c, void *(*how)(void *user), const char *reason,
                    int timeout_ms, pons_error *err)
{
    char robots[PATH_MAX + 16], dir[2 * PATH_MAX];
    app_fleet_file file = {0};
    pthread_attr_t attr;
    size_t n = 0, received = 0, folders = 0;
    const reported like = {.own = *c, .reason = reason, .timeout_ms = timeout_ms};
    const int read = app_fleet_load(c, &file, err);
    snprintf(robots, sizeof robots, "%s/robots", c->workspace);
    struct dirent **names = NULL;
    const int there = read < 0 ? scandir(robots, &names, NULL, NULL) : 0;
    folders = there > 0 ? (size_t)there : 0;
    reported *all = pons_need_zeroed(1 + file.n + folders, sizeof *all);
    add(all, &n, &like, "", c->workspace);
    for (size_t i = 0; i < file.n; i++) {
        add(all, &n, &like, file.robots[i].is.id, file.robots[i].dir);
    }
    for (size_t i = 0; i < folders; i++) {
        if (*names[i]->d_name != '.') {
            snprintf(dir, sizeof dir, "%s/%s", robots, names[i]->d_name);
            add(all, &n, &like, names[i]->d_name, dir);
        }
        free(names[i]);
    }
    free(names);
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

int app_stop_robots(const app_context *c, const char *reason, int timeout_ms, pons_error *err)
{
    return app_fleet_here(c) ? tell_all(c, stop_one, reason, timeout_ms, err)
                             : pons_stop_send(c->run_dir, reason, timeout_ms, err);
}

int app_reset_robots(const app_context *c, pons_error *err)
{
    return app_fleet_here(c) ? tell_all(c, reset_one, NULL, 0, err) : app_reset_body(c, err);
}
