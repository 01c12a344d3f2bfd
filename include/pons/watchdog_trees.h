// watchdog_trees.h - strategy{tree}: a behaviour tree whose leaves are actions, for the HAL watchdog.
//
// params: tree, the text of a tree (XML or MDSL), mistreevous' JSON, or "trees/NAME.xml" (.mdsl, .json) of the workspace;
// timeout_s (600). A leaf is named by an action_type or a skill; its attributes (in MDSL: names and values by turns) are
// the params. One leaf at a time. Each is held against the workspace's critic and the body's own before it begins, and
// what is refused or fails is a leaf that failed: the tree says what then. The body is asked under a key that is the
// leaf's own, so a tree that a killed watchdog had begun is ticked again and finds what its leaves did.
#pragma once

#include "pons/linkage.h"
#include "pons/watchdog.h"

PONS_C_BEGIN

typedef struct pons_hal_trees_options {
    pons_ws_place *place; // as of pons_hal_options, as are the others
    const char *dir;      // the workspace
    pons_tools robot;     // of its own: nobody else takes its events
    pons_clock clock;
    const char *robot_id;
    // Whether such a thing is known, in that zone ("": anywhere), and was seen in the last so many seconds: the leaf `sees`
    // {what, zone?, within_s? (30)}. Called from poll. NULL: there is no such leaf.
    bool (*sees)(void *user, const char *what, const char *zone, double within_s);
    int (*judge)(void *user, const char *skill, const pons_value *args, char *why, size_t cap);
    void *user;
} pons_hal_trees_options;

// A provider of "strategy", for pons_hal_options.trees; the robot's is closed with it.
int pons_hal_trees_open(const pons_hal_trees_options *options, pons_tools *ret, pons_error *err);

PONS_C_END
