// robot_unit.h - a robot of a fleet that runs: its brain, its body, and what it was given last (robot_unit.c).
#pragma once

#include "app/fleet/fleet.h"
#include "app/workspace/which_robot.h"
#include "pons/workspace_live.h"

#define APP_FLEET_ROBOTS "fleet.robots" // items: what each was given last

typedef struct app_unit {
    app_context own; // with its own workspace
    const app_fleet_robot *robot;
    pons_store store; // of the fleet
    pons_clock clock;
    pons_brain *brain;
    app_body_child body;
    int64_t given_ms, looked_ms, reported_ms; // looked_ms 0: it is looked at now
    char world[PATH_MAX + 32];
    app_robot meant;
    char thread[PONS_NAME_MAX];
    // What it was given: kept as an item before it is said to the brain.
    int64_t number;
    pons_fleet_do kind;
    int32_t at, to; // zones; to: of a MOVE
    char task[PONS_FLEET_NAME_MAX], name[96];
    size_t stop;
    pons_value *work; // of a WORK: {skill, parameters}; NULL: it waits
    char key[256];
    bool open, posted, ok;
    bool tried;     // it has begun, and failed
    bool stays;     // it will not begin: the orchestrator has not heard
    char why[256];  // how its last task ended, or its last try
    bool hindered;  // its way was blocked, or it waits on its way; it tries again
    char asks[256]; // what its brain asks a person; "": nothing
    bool doubts;    // it asks whether to go on with a way: that is not for a person to say
    bool canceled;  // and its brain has been told
    char task_id[PONS_NAME_MAX]; // of its brain, when that has it
    // What the brain says.
    bool connected, reported; // told: an end that the orchestrator has not heard
    bool latched;             // its stop
    bool idle;                // it has no task
    double x, y, battery_pct;
    double speed; // robot seconds in a second
    // Its own files.
    pons_ws_live *files;
    char unread[320]; // what is wrong with EMBODIED.md as it stands; "": it can be read
    char barred[320]; // why it may not drive at all; "": it may
    int64_t asked_ms; // when that was asked last; 0: never
} app_unit;

// before: its item, NULL: it has none and stands at `start`. speed: of a body that has to be started. PONS_EBUSY: another brain has its thread.
int app_unit_open(app_unit *u, const app_context *c, const app_fleet_robot *robot, pons_store store,
                  const pons_fleet_map *map, int32_t start, const pons_value *before,
                  pons_value *config, pons_policy policy, double speed, pons_error *err);
// lost: another process leads. Nothing is said to the robot, and its body stays: it is that one's.
void app_unit_close(app_unit *u, bool lost);
// Does what is due; sets told when what it was given has ended.
int app_unit_poll(app_unit *u, const pons_fleet_map *map, pons_error *err);
// What a command says, when it is not that already. work: what a WORK is, {skill, parameters}; NULL: to wait.
void app_unit_note(app_unit *u, const pons_fleet_command *c, const pons_value *work);
// Its body was started again and again, and came to nothing.
bool app_unit_fails(const app_unit *u);
// What is to be kept of it.
pons_value *app_unit_value(const app_unit *u, const pons_fleet_map *map);

// unit_embodied.c: its own files, which judge what its brain does.
int app_unit_files_open(app_unit *u, pons_error *err);
void app_unit_files_close(app_unit *u);
void app_unit_files_look(app_unit *u, int64_t now_ms); // at what people have changed
void app_unit_on_event(void *user, const pons_event *ev);
void app_unit_judge(void *user, const char *skill, const pons_value *args, bool asked,
                    pons_value *rules);

// fleet_page.c: what others see of a fleet that runs, and of its map.
pons_value *app_fleet_now(const pons_fleet *fleet, const pons_fleet_map *map, const app_unit *units,
                          size_t n, int64_t pid);
pons_value *app_fleet_now_map(const pons_fleet_map *map);
