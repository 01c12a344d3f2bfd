// notify.h - a person is told by HTTP or by a command when the robot needs one (config/notify.yaml).
#pragma once

#include "app/workspace/context.h"

typedef struct app_notify app_notify;
// *ret NULL: nobody wants to be told. Before the thread's first event of this session: what comes from then on is told,
// and what an earlier session still owes.
int app_notify_open(const app_context *c, pons_store store, const char *thread, app_notify **ret,
                    pons_error *err);
void app_notify_event(app_notify *n, const pons_event *ev); // does not block; NULL-safe
void app_notify_close(app_notify *n); // waits a little for who is told; NULL-safe
// What is wrong with the file; for `pons config check`.
int app_notify_check(const app_context *c, pons_error *err);
