// rounds.h - how often the tests that try seeds, kills, faults or random inputs do so: the one table. `./dev test`
// takes the first number, `./dev test --full` the second; PONS_ROUNDS=kills=100,faults=9 takes those instead.
#ifndef PONS_TESTS_ROUNDS_H
#define PONS_TESTS_ROUNDS_H

// X(NAME, every time, before a release, what one round is)
#define ROUNDS(X)                                                                                  \
    X(kills, 3, 20, "a run that is killed and resumed until it is done")                            \
    X(body_arcs, 1200, 5670, "an arc past a pole, of a radius, a distance and a bearing")           \
    X(body_boxes, 5, 16, "a place where boxes come to stand beside the robot")                      \
    X(body_carries, 8, 24, "a place that the robot is carried to")                                  \
    X(body_corners, 6, 15, "half a minute of wishes of a robot with corners among boxes")           \
    X(body_drives, 3, 8, "a goal that each planner reaches around what is kept out")                \
    X(body_faults, 8, 200, "a call of the ledger at which the disk fails or the process ends")       \
    X(body_goals, 5500, 20000, "a goal in the ledger")                                              \
    X(body_grasps, 2, 20, "a seed of the arm's apple that is put into the basket")                  \
    X(body_halls, 6, 12, "a way of a long robot through a hall of 50 by 50 m")                      \
    X(body_paces, 3, 10, "a raise of the pace that the disk has no word of")                        \
    X(body_resets, 16, 60, "a stop that races with a reset")                                        \
    X(body_stops, 3, 60, "a moment of a pick at which it is stopped")                               \
    X(body_wishes, 18, 45, "half a minute of wishes among keep-out areas")                          \
    X(drivers_crowd, 24, 48, "a participant beside the robot")                                      \
    X(drivers_samples, 800, 3000, "a message of a thousand a second")                               \
    X(drivers_walls, 5, 10, "a place from which a robot drives into a wall")                        \
    X(fleet_seeds, 1, 3, "a seed of a hundred robots for an hour")                                  \
    X(scenario_tasks, 120, 240, "a task that leaves no more than a line behind")                    \
    X(vda5050_requests, 400, 3000, "an instant action of a hostile master")

typedef enum rounds_of {
#define X(name, usual, full, what) ROUNDS_##name,
    ROUNDS(X)
#undef X
} rounds_of;

// How many rounds of this are asked for, at least 1.
long rounds(rounds_of of);

#endif
