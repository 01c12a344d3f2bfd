// run_body.h - the body of a run: joined when it is there, else started, and started again.
#pragma once

#include "app/workspace/which_robot.h"

typedef struct run_body {
    const app_context *c;
    const app_robot *meant; // no other one is moved
    app_body_how how;
    bool by_hand; // never start one
    app_body_child child;
    int64_t unready_ms; // since when a body listens that is not ready; 0: there is none
    int failed;         // an app_outcome: a child could not start, and it was said
    void (*note)(void *user, const char *line);
    void *user;
} run_body;

// As pons_brain_options has it: PONS_EAGAIN as long as there is none.
int run_body_connect(run_body *b, int64_t now_ms, pons_link **ret, pons_error *err);
void run_body_look(run_body *b); // whether a child of ours has ended
// A child that does not listen yet ends; one that does is the brain's to end, unless it is another brain's by now.
void run_body_close(run_body *b);
