// floor_plan.h - generated places for a robot without a map, and a judge that compares its map with the place.
#ifndef PONS_TESTS_FLOOR_PLAN_H
#define PONS_TESTS_FLOOR_PLAN_H

#include "body/costmap/costmap.h"
#include "pons/map.h"

enum {
    PLACE_KINDS =
        4, // rooms; rooms along a corridor; a narrow passage with dead ends; a hall with pillars
    PLACE_BAYS = 102, // number of a place with three racks
    PLACE_SMALL = 103 // the number of one with two rooms, which is explored in half a minute
};

// Writes real.yaml, the place by its number, and new.yaml, the world of a robot that is to explore it, into a new folder.
void place_write(int number);
// The same for from/NAME.yaml, a map of nav2_map_server, whose picture's edge is a wall; the robot starts there.
void place_write_of_map(const char *from, const char *name, pons_pose2 start);
const char *in_place(const char *name); // path of a file of that folder; valid until the next call
// A folder and the files in it; NULL: the place's.
void place_remove(const char *folder);

typedef struct place_score {
    double known;  // share of the floor that the robot's middle can reach, that the map has as free
    double iou;    // of free cells, within what the robot can see from there; of 5 cm
    double tour_m; // of a robot that knows the place, sees all of that floor, and comes back
    double reached_m2;
} place_score;
// Of the map that lies there. real: the world of real.yaml; new_: that of new.yaml, whose frame counts.
place_score place_judge(const pons_value *real, const pons_value *new_, const char *map_path,
                        double room_m, double range_m);

#endif
