// rounds.h - how often the tests that try seeds, kills, faults or random inputs do so: the one table. `./dev test`
// takes the first number, `./dev test --full` the second; PONS_ROUNDS=kills=100,faults=9 takes those instead,
// each=2 so many of everything that it does not name.
#ifndef PONS_TESTS_ROUNDS_H
#define PONS_TESTS_ROUNDS_H

#include <stdbool.h>

// X(NAME, every time, before a release, what one round is)
#define ROUNDS(X)                                                                                  \
    X(agent_kills, 24, 1000, "an agent's turn that is killed at one of its commits")               \
    X(allocations, 500, 100000, "an allocation that fails")                                        \
    X(arm_tables, 1, 20, "the six steps of an arm, at a table that is laid by its seed")           \
    X(base_characters, 30000, 1114112, "a character that a terminal is to be spared")              \
    X(base_doubles, 1500, 8000, "a handful of numbers that read back as they were")                \
    X(base_texts, 800, 4000, "a damaged YAML text")                                                \
    X(body_arcs, 1200, 5670, "an arc past a pole, of a radius, a distance and a bearing")          \
    X(body_boxes, 5, 16, "a place where boxes come to stand beside the robot")                     \
    X(body_carries, 8, 24, "a place that the robot is carried to")                                 \
    X(body_chunks, 6, 100, "four seconds of a policy that thinks for 200 +- 100 ms")               \
    X(body_corners, 6, 15, "half a minute of wishes of a robot with corners among boxes")          \
    X(body_drives, 3, 8, "a goal that each planner reaches around what is kept out")               \
    X(body_faults, 8, 200, "a call of the ledger at which the disk fails or the process ends")     \
    X(body_goals, 5500, 20000, "a goal in the ledger")                                             \
    X(body_grasps, 2, 20, "a seed of the arm's apple that is put into the basket")                 \
    X(body_halls, 6, 12, "a way of a long robot through a hall of 50 by 50 m")                     \
    X(body_homes, 4, 100, "a home of narrow doors in which five goals are driven to")              \
    X(body_paces, 3, 10, "a raise of the pace that the disk has no word of")                       \
    X(body_resets, 16, 60, "a stop that races with a reset")                                       \
    X(body_stops, 3, 60, "a moment of a pick at which it is stopped")                              \
    X(body_wishes, 18, 45, "half a minute of wishes among keep-out areas")                         \
    X(brain_arbiter, 90, 1344, "a state of the arbiter, what the body says, and a word")           \
    X(brain_deaths, 7, 120, "a commit at which the brain is killed, in each story")                \
    X(brain_keep, 3, 14, "a write of a pass of store.keep at which it is killed")                  \
    X(brain_quiet, 3, 60, "seconds without a commit after which nothing more is waited for")       \
    X(brain_reads, 12, 100000, "a checkpoint of a namespace that is read with its values")         \
    X(companion_kills, 16, 1000, "a companion's day that is killed at one of its commits")         \
    X(damaged_files, 2, 100, "a place at which a file that a killed run left is damaged")          \
    X(drivers_crowd, 24, 48, "a participant beside the robot")                                     \
    X(drivers_samples, 800, 3000, "a message of a thousand a second")                              \
    X(drivers_walls, 5, 10, "a place from which a robot drives into a wall")                       \
    X(errand_dog_kills, 4, 20, "a watchdog that dies at a writing call while a task is at work")   \
    X(errand_run_kills, 3, 20, "the run of that task dies at one")                                 \
    X(explore_kills, 1, 60, "a writing call of an exploration at which the body is killed")        \
    X(explore_places, 1, 12, "a place that a robot explores without a map")                        \
    X(fleet_seeds, 1, 3, "a seed of a hundred robots for an hour")                                 \
    X(graph_values, 2, 6, "a thread whose value changes at random")                                \
    X(kills, 3, 20, "a run that is killed and resumed until it is done")                           \
    X(latched_kills, 6, 24, "a stop, and brain and body killed up to 50 ms after its answer")      \
    X(plan_random, 1200, 10000, "a random plan that goes out and comes back")                      \
    X(policy_observations, 2000, 40000, "a random observation that the rules decide on")           \
    X(policy_sentences, 1500, 20000, "a random sentence that the rules read")                      \
    X(record_bytes, 250, 100000, "a byte of a recording that is changed, or where it is cut off")  \
    X(record_files, 60, 200, "a recording with changed bytes")                                     \
    X(scenario_fuzz, 3, 5, "a seed of kills in a drive to the kitchen")                            \
    X(scenario_kills, 6, 1000, "a commit before and after which a drive to the kitchen is killed") \
    X(scenario_models, 6, 1000,                                                                    \
      "a scenario that is played again with decisions over a model's wire")                        \
    X(scenario_seeds, 4, 12, "a story that a seed makes")                                          \
    X(scenario_tasks, 120, 240, "a task that leaves no more than a line behind")                   \
    X(sight_homes, 1, 20, "a home that is toured three times")                                     \
    X(sight_kills, 12, 1000, "a writing call of a memory's half minute at which it is killed")     \
    X(sight_seconds, 2000, 86400, "a look a second of a day")                                      \
    X(store_allocations, 300, 100000, "an allocation of a store's story that fails")               \
    X(store_damage, 12, 100, "of a hundred seeds of each way to damage an SQLite file")            \
    X(store_kills, 2, 8, "a store's process that is killed while it writes or prunes")             \
    X(store_log, 20, 100, "sixteen bad bytes in the log of an SQLite file")                        \
    X(store_pages, 4, 100, "a file of a PostgreSQL server that is damaged")                        \
    X(store_repairs, 20, 1000, "a repair of an SQLite file in which rows were changed")            \
    X(store_sessions, 800, 10000, "a session in a lane, of runners that are killed")               \
    X(store_turns, 20, 157, "a turn of each of the 64 that are at work in one SQLite file")        \
    X(store_twins, 1, 4, "a random story that two stores tell")                                    \
    X(store_writes, 16, 1000, "a write to the SQLite file that fails")                             \
    X(sweep_deaths, 9, 1000, "of a graph's life, a process that ends before or after a commit")    \
    X(sweep_deaths_server, 3, 1000, "the same on PostgreSQL")                                      \
    X(tools_lines, 400, 100000, "a line for the terminal that is safe, or is asked about")         \
    X(vda5050_floods, 1, 100, "a pause behind 400 messages of a master that are read more slowly") \
    X(vda5050_requests, 400, 3000, "an instant action of a hostile master")                        \
    X(watchdog_kills, 3, 40, "a watchdog that dies at a writing call, each kind on each store")    \
    X(workspace_files, 15, 60, "a random workspace file in one dialect after the other")           \
    X(workspace_kills, 20, 1000, "a process that is killed as it writes the workspace")

typedef enum rounds_of {
#define X(name, usual, full, what) ROUNDS_##name,
    ROUNDS(X)
#undef X
} rounds_of;

// How many rounds of this are asked for, at least 1.
long rounds(rounds_of of);
// Whether i, from 0, is among the rounds that are asked for where there could be n: they are spread evenly over
// all, with the first and the last.
bool rounds_take(rounds_of of, long i, long n);

#endif
