// home.h - generated homes, and a robot that tours them: the kinematic driver, body and localizer under the virtual clock,
// an observer that hears what the simulated detector finds, and a memory that is told.
#ifndef SIGHT_HOME_H
#define SIGHT_HOME_H

#include "body/body_bench.h"
#include "pons/object_memory.h"
#include "pons/random.h"
#include "sight/line_of_sight.h"

enum { HOME_OBJECTS = 10, HOME_ROOMS_MAX = 6 };

typedef struct home_object {
    char id[32], label[32];
    double at[3];
    int room;
} home_object;

typedef struct home {
    bench bench;
    pons_rand rand;
    int columns, rows, rooms;
    double width_m, depth_m; // of a room
    home_object objects[HOME_OBJECTS];
    pons_link *observer;
    char boot_id[64];
    pons_items items;
    pons__walls walls;
    pons_object_memory *memory;
    int looks, refused, gone, moved;
} home;

// A home of columns × rows rooms by its seed, its file in a folder of its own; the robot is in the first room.
void home_open(home *h, uint64_t seed, int columns, int rows);
void home_close(home *h);
// Through all rooms, turning round in each; the memory is told all the way.
void home_tour(home *h);
// Each object is put somewhere else, into another room if there is one.
void home_move_all(home *h);

typedef struct home_score {
    int objects, known;          // of the objects: how many the memory knows, where they are
    int extra;                   // known objects of the memory where nothing is
    double errors[HOME_OBJECTS]; // (known) [m]
} home_score;
home_score home_judge(home *h);

#endif
