// speed_command.h - how fast the robot may be: what a person says of it, and the body's answer. Nothing here waits, so
// a chat's loop can ask as well as `pons pace`.
#pragma once

#include "app/workspace/context.h"

typedef struct app_pace {
    pons_link *link;  // NULL: nobody is asked
    pons_value *said; // NULL: only how fast it may be
    int64_t percent;  // of its speed: in force
    double top_mps;   // its own limit; 0: not told
    bool asked;       // and waits for the body's yes
    int64_t until_ms; // of the host's clock
} app_pace;

// What the words say about how fast, as a policy's `pace` has it. asked: they are said where nothing else is
// ("30%"). PONS_ENOTFOUND: nothing.
int app_pace_of(const pons_policy *policy, const char *text, bool asked, pons_value **ret,
                pons_error *err);
// Asks the body of this workspace; said is referenced.
int app_pace_begin(const app_context *c, const pons_value *said, app_pace *p, pons_error *err);
// 1: percent and top_mps are what is in force; 0: not yet, wait for the link until until_ms. On 1 and on an
// error it is over, and to be ended.
int app_pace_step(app_pace *p, pons_error *err);
void app_pace_end(app_pace *p);
void app_pace_line(const app_pace *p, char *ret, size_t cap); // for people
pons_value *app_pace_row(const app_pace *p);                  // for programs
