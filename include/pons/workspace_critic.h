// workspace_critic.h - the critic of a workspace: what is asked of a robot, held against its files.
//
// The rules are pons/critic.h's, with the numbers of EMBODIED.md (reach, payload, speed, supported actions) and
// what ENVIRONMENT.md says of the robot and of what is around it. Beside them, from the same files:
//
//   volume   a target lies in the half ball that has the workspace's volume
//   sensor   what goes or grasps by sight has a camera, a depth sensor or a lidar that is ticked
//   path     nothing known stands on the direct way of a robot that plans none (EMBODIED.md's
//            "Path Planning": a robot that has it finds its own way)
//   seen     what is to be picked is believed to be somewhere, by the memory of what was seen; what that knows of it stands
//            behind every other refusal, too: "(cup in kitchen, seen 40 min ago, 82 %)"
//   lesson   the same action failed before, and what it depends on is as it was
//
// A refusal becomes a dated lesson of LESSONS.md with the figures that broke the limit and what to do instead;
// what is refused a second time under the same conditions is refused by that lesson's name.
//
// One thread at a time for a place.
#pragma once

#include "pons/linkage.h"
#include "pons/workspace.h"

PONS_C_BEGIN

#define PONS_WS_WHY_MAX    512
#define PONS_WS_LESSON_MAX 256

// What is asked, in the seed's words.
typedef struct pons_ws_asked {
    const char *action_type;  // "pick_up"
    const pons_value *params; // or NULL
    const char *robot_id;     // whose pose counts; NULL: the only one there is
    const pons_value *robot;  // what its body says of itself now ({pose, holding?}), which the
                              // file may have a second later; NULL: as ENVIRONMENT.md has it
} pons_ws_asked;

typedef struct pons_ws_judgement {
    bool ok;
    bool known;                       // it is refused before: `lesson` is there already
    pons_value *rules;                // [{rule, message, found?, limit?, unit?}]; the caller's
    char why[PONS_WS_WHY_MAX];        // all of them on one line
    char action[160];                 // "pick_up apple_01"
    char conditions[PONS_WS_WHY_MAX]; // what the judgement rests on
    char lesson[PONS_WS_LESSON_MAX];  // its name, when one was found or written; else ""
} pons_ws_judgement;

// Holds it against the files as the place has them. Writes nothing.
void pons_ws_judge(const pons_ws_place *place, const pons_ws_asked *asked, pons_ws_judgement *ret);
void pons_ws_judgement_clear(pons_ws_judgement *j);

// Writes the lesson of a refusal, unless there is one already; its name is in j->lesson then.
// PONS_EBUSY: LESSONS.md cannot be read as it stands.
int pons_ws_learn(pons_ws_place *place, const pons_ws_asked *asked, pons_ws_judgement *j,
                  pons_error *err);
// The same of an action that passed and failed when it was done.
int pons_ws_learn_failure(pons_ws_place *place, const pons_ws_asked *asked, pons_ws_judgement *j,
                          const char *code, const char *message, pons_error *err);

PONS_C_END
