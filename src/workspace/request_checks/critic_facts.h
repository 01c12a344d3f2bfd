// critic_facts.h - what EMBODIED.md and ENVIRONMENT.md say, as the critic wants it.
#pragma once

#include "pons/workspace_critic.h"

typedef struct ws_body { // EMBODIED.md; NAN: it does not say
    const char *name;
    double reach_m, payload_kg, volume_m3, speed_mps;
    double shoulder_m; // reach and volume are measured from so high; 0: it does not say
    bool has_bounds;
    double low[3], high[3]; // in its base's frame, m
    bool plans_paths;       // it finds its own way around what is in it
    bool has_sensors, sees; // sensors are listed; one of those that are ticked sees
    bool has_actions;       // supported actions are listed
    pons_value *actions;    // their names
    pons_value *unticked;   // names of sensors that it has not
} ws_body;

typedef struct ws_robot { // its entry of ENVIRONMENT.md
    bool known;
    double at[3], yaw;
    const pons_value *holding; // NULL: it does not say
} ws_robot;

typedef struct ws_target { // what an action goes to or takes
    bool known;
    const char *id; // of a record, or NULL
    double at[3];
    bool has_z;
} ws_target;

// robot: whose sections count where the page is about several; NULL, or none of them: the first one's.
void pons__ws_body_read(const pons_ws_doc *embodied, const char *robot, ws_body *ret);
void pons__ws_body_clear(ws_body *b);
void pons__ws_robot_read(const pons_ws_doc *environment, const char *id, const ws_body *body,
                         ws_robot *ret);
// The body's own word, which is newer: {pose: {x, y, yaw}, holding?}. NULL: nothing is known.
void pons__ws_robot_hear(const pons_value *says, ws_robot *robot);
void pons__ws_target_read(const pons_ws_doc *environment, const pons_value *params, ws_target *ret);
// {objects, bounds?} of the critic.
pons_value *pons__ws_world(const pons_ws_doc *environment);
// Whether an action of this type moves the base.
bool pons__ws_drives(const ws_body *body, const char *action_type);
// How many numbers a list begins with, or of x, y, z a map has; at most `cap` are taken.
size_t pons__ws_numbers(const pons_value *list, double *ret, size_t cap);

// direct_path.c: what stands on the direct way, as "chair_01"; false: nothing does. *ret_gap: how far from it, of
// `ret_need`; via: a node by which both halves of the way are free, or "".
bool pons__ws_path_blocked(const pons_ws_doc *environment, const ws_robot *from,
                           const ws_target *to, char *ret_by, size_t by_cap, double *ret_gap,
                           double *ret_need, char *via, size_t cap);

// The text, cut between two characters where it is too long.
void pons__ws_copy_text(char *ret, size_t cap, const char *text, size_t len);

// lesson_entry.c: "pick_up apple_01", as the seed's lessons have it.
void pons__ws_action_says(const pons_ws_asked *asked, char *ret, size_t cap);
