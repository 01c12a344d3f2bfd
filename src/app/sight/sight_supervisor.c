// sight_supervisor.c - `pons sight` beside a run: started with it, again after a death, ended with it.
#include "app/sight/sight.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

enum { WAIT_FIRST_MS = 1000, WAIT_MOST_MS = 60000, END_MS = 5000 };

int app_sight_child_open(app_sight_child *s, const app_context *c, const char *world,
                         pons_error *err)
{
    const char *store = getenv("PONS_STORE");
    *s = (app_sight_child){.wait_ms = WAIT_FIRST_MS};
    app_objects_space(c, s->space);
    int rc = app_sight_config(c, &s->config, err);
    rc = rc < 0 ? rc : app_world(world, &s->world, err);
    // What is in this process's memory is not there for another one.
    s->wanted = rc >= 0 && !(store && strncmp(store, "memory", 6) == 0) &&
                app_sight_detectors(s->config, s->world) > 0;
    return rc;
}

bool app_sight_wanted(const app_context *c, const char *world)
{
    app_sight_child s;
    pons_error none = PONS_ERROR_INIT;
    const bool wanted = app_sight_child_open(&s, c, world, &none) >= 0 && s.wanted;
    app_sight_child_end(&s);
    return wanted;
}

void app_sight_child_look(app_sight_child *s, const app_context *c, int64_t now_ms)
{
    const char *const argv[] = {"pons", "sight", "--for-run", "--workspace", c->workspace, NULL};
    if (s->pid > 0 && waitpid(s->pid, NULL, WNOHANG) == s->pid) {
        s->pid = 0;
        s->again_ms = now_ms + s->wait_ms;
        s->wait_ms = 2 * s->wait_ms < WAIT_MOST_MS ? 2 * s->wait_ms : WAIT_MOST_MS;
    }
    if (s->wanted && s->pid == 0 && now_ms >= s->again_ms) {
        const pid_t pid = app_child_start(c, "sight.log", argv);
        s->pid = pid > 0 ? pid : 0;
        s->again_ms = now_ms + s->wait_ms;
    }
}

void app_sight_child_end(app_sight_child *s)
{
    if (s->pid > 0) {
        kill(s->pid, SIGTERM);
        app_child_await(s->pid, END_MS,
                        NULL); // one that hangs in a store loses what it had not written
        s->pid = 0;
    }
    pons_value_unref(s->config);
    pons_value_unref(s->world);
    s->config = s->world = NULL;
}
