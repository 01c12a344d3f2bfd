// run_files.c - what people write into the files is said to the run, and what it does is shown in them.
#include "app/session/run_files.h"

#include "app/session/keyed_task.h"

#include <stdio.h>

static int say_edit(void *user, const char *words, pons_error *err)
{
    const run_files *f = user;
    return pons_brain_wish(f->brain, words, err); // a model's tools write in TASK.md too
}

static int cancel_task(void *user, const char *task, pons_error *err)
{
    const run_files *f = user;
    const int rc = app_task_cancel(f->store, f->thread, task, NULL, err);
    pons_brain_wake(f->brain);
    return rc;
}

static void notice(void *user, const char *file, const char *text)
{
    const run_files *f = user;
    char line[1024];
    snprintf(line, sizeof line, "%s: %s", file, text);
    f->note(f->user, line);
}

int run_files_open(run_files *f, const app_context *c, const app_robot *meant,
                   const pons_clock *clock, pons_error *err)
{
    pons_ws_live_options o = {.hal = f->hal_lock >= 0,
                              .who = f->thread,
                              .clock = *clock,
                              .say = say_edit,
                              .cancel = cancel_task,
                              .notice = notice,
                              .user = f};
    return app_files_open(c, meant->driver, meant->world, &o, &f->live, err);
}

void run_files_close(run_files *f)
{
    app_files_close(&f->live, &f->hal_lock);
}
