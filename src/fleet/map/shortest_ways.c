// shortest_ways.c - the shortest ways to a zone: Dijkstra's algorithm from it, backwards along lanes.
//
// What is kept is a number a lane: metres to the zone. Who is on a lane goes to the exit from which it
// is least. Nobody's way goes through a bay.
#include "fleet/map/zone_graph.h"
#include "pons/out_of_memory.h"

#include <math.h>

double pons_fleet_map_way(pons_fleet_map *map, size_t from, size_t to)
{
    if (from == to) {
        return 0.0;
    }
    if (!map->ways[to]) {
        map->ways[to] = pons_need(map->lanes * sizeof(float));
        pons__map_build(map, (int32_t)to, NULL, NULL, map->ways[to], NULL);
    }
    const float *far = map->ways[to];
    if (!pons__map_bay(map, (int32_t)from)) {
        return far[from];
    }
    double least = INFINITY;
    for (int32_t k = map->first_out[from]; k < map->first_out[from + 1]; k++) {
        least = fmin(least, pons__map_step(map, (int32_t)from, map->out[k]) + far[map->out[k]]);
    }
    return least;
}

// A binary heap of lanes by `far`; `place` says where each stands.
static void put(pons_fleet_map *map, size_t at, int32_t zone)
{
    map->heap[at] = zone;
    map->place[zone] = (int32_t)at;
}

static void lower(pons_fleet_map *map, const float *far, int32_t zone, size_t *n)
{
    const float key = far[zone];
    size_t at = map->place[zone] < 0 ? (*n)++ : (size_t)map->place[zone];
    while (at > 0 && far[map->heap[(at - 1) / 2]] > key) {
        put(map, at, map->heap[(at - 1) / 2]);
        at = (at - 1) / 2;
    }
    put(map, at, zone);
}

static int32_t take_least(pons_fleet_map *map, const float *far, size_t *n)
{
    const int32_t least = map->heap[0];
    const int32_t last = map->heap[--*n];
    size_t at = 0;
    map->place[least] = -1;
    if (*n == 0) {
        return least;
    }
    for (;;) {
        size_t child = 2 * at + 1;
        if (child >= *n) {
            break;
        }
        if (child + 1 < *n && far[map->heap[child + 1]] < far[map->heap[child]]) {
            child++;
        }
        if (far[map->heap[child]] >= far[last]) {
            break;
        }
        put(map, at, map->heap[child]);
        at = child;
    }
    put(map, at, last);
    return least;
}

void pons__map_build(pons_fleet_map *map, int32_t to, const bool *shut, const float *extra,
                     float *far, uint8_t *hop)
{
    size_t n = 0;
    for (size_t z = 0; z < map->lanes; z++) {
        far[z] = INFINITY;
        map->place[z] = -1;
    }
    if (!pons__map_bay(map, to)) {
        far[to] = 0.0F;
        lower(map, far, to, &n);
    } else {
        for (int32_t k = map->first_in[to]; k < map->first_in[to + 1]; k++) {
            const int32_t z = map->in[k];
            if (!shut || !shut[z]) {
                far[z] = (float)pons__map_step(map, z, to);
                lower(map, far, z, &n);
            }
        }
    }
    while (n > 0) {
        const int32_t z = take_least(map, far, &n);
        const float here = far[z] + (extra ? extra[z] : 0.0F);
        const struct pons__before *b = map->before + map->first_before[z];
        for (const struct pons__before *end = map->before + map->first_before[z + 1]; b < end;
             b++) {
            const float d = here + b->m;
            if (d < far[b->lane] && !(shut && shut[b->lane])) {
                far[b->lane] = d;
                if (hop) {
                    hop[b->lane] = b->hop;
                }
                lower(map, far, b->lane, &n);
            }
        }
    }
}
