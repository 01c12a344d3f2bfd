// run_body.c - the body of a run (run_body.h).
//
//     connect --PONS_ENOTFOUND--> started, at most STARTS_MAX times, START_EVERY_MS apart
//             --PONS_EAGAIN-----> not ready yet: given up after UNREADY_MAX_MS
//             --PONS_EINVAL-----> another robot has come: the run ends
#include "app/session/run_body.h"

#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#define START_EVERY_MS 3000
#define STARTS_MAX     5
#define UNREADY_MAX_MS 15000 // how long a body that listens may take to say which robot it is

static void start(run_body *b, int64_t now_ms)
{
    char line[PATH_MAX + 64];
    if (b->meant->fallback && b->child.starts == 0) {
        b->note(b->user, "without physics (driver kinematic): the module driver-mujoco is not "
                         "installed; `pons doctor` says how");
    }
    if (b->child.starts < STARTS_MAX) {
        app_body_child_start(&b->child, b->c, &b->how, now_ms, STARTS_MAX, START_EVERY_MS);
    } else if (now_ms - b->child.tried_ms >= START_EVERY_MS) {
        b->failed = APP_LACKING;
        snprintf(line, sizeof line, "the body died %d times; see %s/body.log", STARTS_MAX,
                 b->c->run_dir);
        b->note(b->user, line);
    }
}

int run_body_connect(run_body *b, int64_t now_ms, pons_link **ret, pons_error *err)
{
    const int rc = app_robot_connect(b->c, b->meant, ret, err);
    const int64_t since_ms = b->unready_ms ? b->unready_ms : now_ms;
    b->unready_ms = rc == PONS_EAGAIN ? since_ms : 0;
    if (rc == PONS_EINVAL) { // another robot has come meanwhile
        app_tell_error(b->c, err);
        b->failed = APP_FAULTY;
    } else if (b->unready_ms && now_ms - b->unready_ms > UNREADY_MAX_MS) {
        app_bad(err, "the body here does not say which robot it is (%s/body.json)", b->c->run_dir);
        app_tell_error(b->c, err);
        b->failed = APP_FAULTY;
    } else if (app_no_body(rc) && !b->by_hand && !b->child.pid) {
        start(b, now_ms);
    }
    return rc < 0 ? PONS_EAGAIN : rc;
}

static bool listens(const run_body *b)
{
    pons_link *there = NULL;
    pons_error ignored = PONS_ERROR_INIT;
    const int rc = app_body_link(b->c, &there, &ignored);
    pons_link_close(there);
    return rc >= 0;
}

static void tell_last_line(const run_body *b)
{
    char path[PATH_MAX + 16], text[1024], last[1024] = "";
    snprintf(path, sizeof path, "%s/body.log", b->c->run_dir);
    FILE *log = fopen(path, "r");
    while (log && fgets(text, sizeof text, log)) {
        memcpy(last, text, sizeof last);
    }
    if (log) {
        fclose(log);
    }
    last[strcspn(last, "\n")] = '\0';
    app_tell(b->c, "%s", *last ? last : "pons: the body could not start");
}

// A child that ends with damaged data, bad input or a missing environment would only do so again: its
// last line says why.
void run_body_look(run_body *b)
{
    static const int outcomes[] = {[EXIT_NO_SUCCESS] = APP_NO_SUCCESS,
                                   [EXIT_BAD_INPUT] = APP_FAULTY,
                                   [EXIT_ENVIRONMENT] = APP_LACKING};
    int status = 0;
    if (!app_body_child_ended(&b->child, &status) || !WIFEXITED(status)) {
        return;
    }
    const int code = WEXITSTATUS(status);
    if (code < EXIT_NO_SUCCESS || code > EXIT_ENVIRONMENT ||
        listens(b)) { // it lost a race for the socket: somebody else's body is there
        return;
    }
    tell_last_line(b);
    b->failed = outcomes[code];
}

void run_body_close(run_body *b)
{
    run_body_look(b);
    if (b->child.pid && !listens(b)) {
        kill(b->child.pid, SIGTERM);
    }
}
