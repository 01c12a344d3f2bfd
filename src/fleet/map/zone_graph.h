// zone_graph.h - what the files of the map share.
#pragma once

#include "pons/fleet.h"

typedef struct pons__arc {
    int32_t from, to;
} pons__arc;

struct pons_fleet_map {
    char name[64];
    pons_fleet_zone *zones; // lanes first
    size_t n, lanes;
    int32_t *first_out,
        *out; // (n + 1), exits of zone z: out[first_out[z]] … out[first_out[z + 1] - 1]
    int32_t *first_in, *in;
    // The lanes that lead into a lane, for a search backwards: (lanes + 1), and those of lane z from
    // before[first_before[z]] on.
    int32_t *first_before;
    struct pons__before {
        int32_t lane;
        float m;     // from its middle
        uint8_t hop; // by which of its exits
    } *before;
    size_t arcs, counts[PONS_FLEET_KINDS];
    float **ways;   // (n) to a zone: metres from each lane; NULL: not asked yet
    int32_t *heap;  // scratch of one search
    int32_t *place; // (lanes) in the heap; -1: not in it
};

// Makes a map of zones in any order and arcs between their numbers; takes both (also on failure). The
// error names zones; `where` (NULL: nobody) fills the source for a zone of the caller's numbering.
int pons__map_make(const char *name, pons_fleet_zone *zones, size_t n, pons__arc *arcs,
                   size_t n_arcs, void (*where)(void *user, size_t zone, pons_error *err),
                   void *user, pons_fleet_map **ret, pons_error *err);

// Fills far: metres from each lane to `to`. shut: zones that may not be gone through, by number; extra: what
// entering a zone costs beside its way [m]; NULL: none. hop (NULL: not asked): which exit of each lane it is,
// none where far is not finite, or it leads into `to` itself.
void pons__map_build(pons_fleet_map *map, int32_t to, const bool *shut, const float *extra,
                     float *far, uint8_t *hop);

static inline double pons__map_step(const pons_fleet_map *map, int32_t a, int32_t b)
{
    const double dx = map->zones[a].x - map->zones[b].x, dy = map->zones[a].y - map->zones[b].y;
    return __builtin_sqrt(dx * dx + dy * dy);
}

static inline bool pons__map_bay(const pons_fleet_map *map, int32_t zone)
{
    return (size_t)zone >= map->lanes;
}
