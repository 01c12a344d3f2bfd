// robot.h - the robot: what is, what a person says, where it is.
#pragma once

#include "serve/access/route.h"

int pons__steering_open(pons_serve *s, pons__steering **ret, pons_error *err);
void pons__steering_close(pons__steering *h); // NULL-safe

// live_pose.c: the server's observer of the body.
int pons__live_open(pons_serve *s, pons__live **ret, pons_error *err);
void pons__live_stop(pons__live *l);  // its thread ends, and every stream; NULL-safe
void pons__live_close(pons__live *l); // frees; after the server's last request. NULL-safe
// navigator_tree.c: takes what the body said of its tree; *tree is the caller's. True: it may be another one now.
bool pons__tree_hear(pons_value **tree, const pons_value *said);
// A person's hand (manual_control.c), sent by the thread at once. False: no goal of drive_by_hand runs. Any
// thread.
bool pons__live_steer(pons__live *l, double v, double w, bool let_go);
