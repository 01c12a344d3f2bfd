// notify.h - a person is told by HTTP or by a command when the robot needs one (config/notify.yaml).
#ifndef CLI_RUN_NOTIFY_H
#define CLI_RUN_NOTIFY_H

#include "cli/cli.h"

typedef struct cli_notify cli_notify;
// *ret NULL: nobody wants to be told. Before the thread's first event of this session: what comes from then on is told,
// and what an earlier session still owes.
int cli_notify_open(const cli *c, pons_store store, const char *thread, cli_notify **ret,
                    pons_error *err);
void cli_notify_event(cli_notify *n, const pons_event *ev); // does not block; NULL-safe
void cli_notify_close(cli_notify *n); // waits a little for who is told; NULL-safe
// What is wrong with the file; for `pons config check`.
int cli_notify_check(const cli *c, pons_error *err);

#endif
