// route_legs.c - where a robot could go next: ways that end in a bay.
//
// A leg is a way along lanes into a bay where nobody is and that nobody has booked. `ahead` looks along
// the shortest way to where the robot wants to be: to there, when it is near enough and free, else to a
// park beside that way, the farthest first. `aside` looks everywhere for parks, the nearest first.
#include "fleet/traffic/traffic.h"
#include "pons/out_of_memory.h"

#include <math.h>
#include <string.h>

#define AHEAD_MAX   14 // zones that are looked along; more when there is no park beside them
#define PARKS_MAX   32
#define GAIN_LEAST  3 // zones that it must get on to leave a bay for another one
#define ASIDE_TRIES 6
#define WAYS_MS     120000

static bool free_bay(const pons__traffic *t, int32_t robot, int32_t bay)
{
    return t->holder[bay] == PONS__NOBODY &&
           (t->booked[bay] == PONS__NOBODY || t->booked[bay] == robot) &&
           (t->claimed[bay] == PONS__NOBODY || t->claimed[bay] == robot) && !t->shut_bay[bay];
}

static int32_t park_beside(const pons__traffic *t, int32_t robot, int32_t lane)
{
    const pons_fleet_map *map = t->map;
    for (int32_t k = map->first_out[lane]; k < map->first_out[lane + 1]; k++) {
        const int32_t bay = map->out[k];
        if (map->zones[bay].kind == PONS_FLEET_PARK && free_bay(t, robot, bay)) {
            return bay;
        }
    }
    return -1;
}

static bool leads_to(const pons_fleet_map *map, int32_t from, int32_t to)
{
    for (int32_t k = map->first_out[from]; k < map->first_out[from + 1]; k++) {
        if (map->out[k] == to) {
            return true;
        }
    }
    return false;
}

// Metres to a zone as things stand; built again when it is old, or leads through what is shut now.
static const struct pons__way *ways_to(pons__traffic *t, int32_t to, int64_t now_ms, bool fresh)
{
    struct pons__way *w = &t->ways[to];
    const bool shut = w->version != t->version && (fresh || w->version != 0);
    if (!w->far || shut || now_ms - w->built_ms > WAYS_MS) {
        if (!w->far) {
            w->far = pons_need(t->map->lanes * (sizeof *w->far + sizeof *w->hop));
            w->hop = (uint8_t *)(w->far + t->map->lanes);
        }
        pons__map_build(t->map, to, t->shut, t->queue, w->far, w->hop);
        w->built_ms = now_ms;
        // While what is shut is just being found out, the ways are of no version: built again at the next look.
        w->version =
            memcmp(t->shut, t->shut_before, t->map->n) == 0 ? t->version : PONS__NO_VERSION;
    }
    return w;
}

// The exit from which the way is shortest; -1: none.
static int32_t step_ahead(const pons__traffic *t, const struct pons__way *w, int32_t from)
{
    const pons_fleet_map *map = t->map;
    if (!pons__map_bay(map, from)) {
        return w->far[from] < INFINITY ? map->out[map->first_out[from] + w->hop[from]] : -1;
    }
    int32_t best = -1;
    double least = INFINITY;
    for (int32_t k = map->first_out[from]; k < map->first_out[from + 1]; k++) {
        const double d = w->far[map->out[k]] + pons__map_step(map, from, map->out[k]);
        if (d < least) {
            least = d;
            best = map->out[k];
        }
    }
    return best;
}

bool pons__leg_near(pons__traffic *t, int32_t robot, size_t zones, int64_t now_ms)
{
    const int32_t to = t->at[robot].to;
    const struct pons__way *w = ways_to(t, to, now_ms, false);
    int32_t z = t->at[robot].at;
    for (size_t n = 0; z >= 0; n++) {
        if (!pons__map_bay(t->map, z) && leads_to(t->map, z, to)) {
            return true;
        }
        z = n < zones ? step_ahead(t, w, z) : -1;
    }
    return false;
}

static bool has_choice(const size_t which[3], size_t n_parks, size_t try)
{
    return n_parks > 0 && try < 3 && (try == 0 || which[try] < which[try - 1]);
}

size_t pons__leg_ahead(pons__traffic *t, int32_t robot, int32_t from, size_t try, int64_t now_ms,
                       bool *ret_more)
{
    const pons_fleet_map *map = t->map;
    const int32_t to = t->at[robot].to;
    int32_t parks[PARKS_MAX];
    size_t ends[PARKS_MAX], n_parks = 0, n = 0;
    *ret_more = false;
    if (to < 0) {
        return 0;
    }
    const bool in_bay = pons__map_bay(map, from);
    for (int pass = 0; pass < 2; pass++) { // the second with ways round what is shut
        const struct pons__way *w = ways_to(t, to, now_ms, pass == 1);
        int32_t z = from;
        bool there = false, met_shut = false;
        n = n_parks = 0;
        while ((n < AHEAD_MAX || n_parks == 0) && n <= map->lanes) {
            if (!pons__map_bay(map, z) && leads_to(map, z, to)) {
                there = true;
                break;
            }
            z = step_ahead(t, w, z);
            if (z < 0) {
                return 0; // no way, as it is
            }
            met_shut = t->shut[z];
            if (met_shut) {
                break;
            }
            t->path[n++] = z;
            const int32_t park = n_parks < PARKS_MAX ? park_beside(t, robot, z) : -1;
            if (park >= 0 && (!in_bay || n > GAIN_LEAST)) {
                parks[n_parks] = park;
                ends[n_parks++] = n;
            }
        }
        if (met_shut) {
            continue;
        }
        if (there && free_bay(t, robot, to)) {
            if (try == 0) {
                *ret_more = n_parks > 0;
                t->path[n] = to;
                return n + 1;
            }
            try--;
        }
        break;
    }
    // The farthest, one in the middle, the nearest.
    const size_t which[] = {n_parks - 1, n_parks / 2, 0};
    if (!has_choice(which, n_parks, try)) {
        return 0;
    }
    *ret_more = try < 2 && n_parks > 1;
    n = ends[which[try]];
    t->path[n] = parks[which[try]];
    return n + 1;
}

size_t pons__leg_aside(pons__traffic *t, int32_t robot, int32_t from, size_t try, bool *ret_more)
{
    const pons_fleet_map *map = t->map;
    int32_t *queue = t->path; // as the search goes; the way is put there at its end
    size_t head = 0, tail = 0, found = 0;
    const uint32_t search = ++t->search;
    *ret_more = false;
    int32_t lane = -1, park = -1;
    for (int32_t z = from;; z = queue[head++]) {
        park = pons__map_bay(map, z) ? -1 : park_beside(t, robot, z);
        if (park >= 0 && found++ == try) {
            lane = z;
            break;
        }
        for (int32_t k = map->first_out[z]; k < map->first_out[z + 1]; k++) {
            const int32_t to = map->out[k];
            if (!pons__map_bay(map, to) && !t->shut[to] && t->reached[to] != search && to != from) {
                t->reached[to] = search;
                t->back[to] = z;
                queue[tail++] = to;
            }
        }
        if (head == tail) {
            return 0;
        }
    }
    size_t n = 0;
    for (int32_t z = lane; z != from; z = t->back[z]) {
        n++;
    }
    t->path[n] = park;
    size_t i = n;
    for (int32_t z = lane; z != from; z = t->back[z]) {
        t->path[--i] = z;
    }
    *ret_more = try + 1 < ASIDE_TRIES;
    return n + 1;
}
