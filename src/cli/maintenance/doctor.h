// doctor.h - one line of `pons doctor`, for the files that look.
#pragma once

#include "cli/cli.h"

typedef struct doctor {
    cli *c;
    bool repair;  // mend what is damaged
    bool healthy; // nothing that the default run needs is missing
    bool damaged; // something is lost or altered, and was not repaired
} doctor;

// state: ok, absent (not needed), missing (needed), damaged, repaired, note. advice: or NULL.
void doctor_say(doctor *d, const char *what, const char *state, const char *detail,
                const char *advice);

// doctor_data.c: what the workspace keeps.
void doctor_store(doctor *d);
void doctor_pictures(doctor *d); // how many were kept
void doctor_body_files(doctor *d);

// doctor_reach.c: servers that are configured, asked now.
void doctor_model(doctor *d);
void doctor_broker(doctor *d);
void doctor_ros2(doctor *d); // doctor_ros2.c: a robot of ROS 2 that is configured

// doctor_modules.c: the modules in lib/ of the workspace.
void doctor_modules(doctor *d);
