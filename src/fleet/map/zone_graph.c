// zone_graph.c - zones and where they lead, as a compiled graph.
//
// A zone is a piece of floor that one robot has at a time. Lanes are gone along, one way unless
// somebody drew both; bays hang on lanes (in and out) and nobody's way goes through them. What makes
// the traffic's promise possible is checked here, once: from each lane each other lane can be reached
// (strongly connected), and each bay can be entered from a lane and left to one. So a robot that has
// the lanes for itself gets from any bay to any other.
#include "fleet/map/zone_graph.h"

#include "pons/out_of_memory.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const pons_fleet_kinds[] = {"lane", "park", "station", "dock", NULL};

typedef struct making {
    pons_fleet_map *map;
    int32_t *number; // of the caller's zones
    void (*where)(void *user, size_t zone, pons_error *err);
    void *user;
    pons_error *err;
} making;

static int by_name(const void *a, const void *b)
{
    const pons_fleet_zone *const *x = a, *const *y = b;
    const int order = strcmp((*x)->id, (*y)->id);
    return order ? order : (*x > *y) - (*x < *y);
}

static int fault(making *m, int32_t zone, const char *text)
{
    const int rc = pons_error_set(m->err, PONS_EINVAL, "fleet", "map %s: zone %s %s", m->map->name,
                                  m->map->zones[zone].id, text);
    for (size_t i = 0; m->where && i < m->map->n; i++) {
        if (m->number[i] == zone) {
            m->where(m->user, i, m->err);
        }
    }
    return rc;
}

static int check_names(making *m, const pons_fleet_zone *zones, size_t n)
{
    const pons_fleet_zone **sorted = pons_need(n * sizeof *sorted);
    int rc = PONS_OK;
    for (size_t i = 0; i < n; i++) {
        sorted[i] = &zones[i];
    }
    qsort(sorted, n, sizeof *sorted, by_name);
    for (size_t i = 1; i < n && rc >= 0; i++) {
        if (strcmp(sorted[i - 1]->id, sorted[i]->id) == 0) {
            rc = fault(m, m->number[sorted[i] - zones], "is there twice");
        }
    }
    free(sorted);
    return rc;
}

static void link_arcs(pons_fleet_map *map, const pons__arc *arcs, size_t n_arcs)
{
    map->arcs = n_arcs;
    map->first_out = pons_need_zeroed(map->n + 2, sizeof(int32_t));
    map->first_in = pons_need_zeroed(map->n + 2, sizeof(int32_t));
    map->out = pons_need((n_arcs + 1) * sizeof(int32_t));
    map->in = pons_need((n_arcs + 1) * sizeof(int32_t));
    for (size_t i = 0; i < n_arcs; i++) {
        map->first_out[arcs[i].from + 2]++;
        map->first_in[arcs[i].to + 2]++;
    }
    for (size_t z = 2; z < map->n + 2; z++) {
        map->first_out[z] += map->first_out[z - 1];
        map->first_in[z] += map->first_in[z - 1];
    }
    for (size_t i = 0; i < n_arcs; i++) { // first[z + 1] runs from z's begin to its end
        map->out[map->first_out[arcs[i].from + 1]++] = arcs[i].to;
        map->in[map->first_in[arcs[i].to + 1]++] = arcs[i].from;
    }
}

static void link_lanes(pons_fleet_map *map)
{
    size_t n = 0;
    map->first_before = pons_need((map->lanes + 1) * sizeof *map->first_before);
    map->before = pons_need((map->arcs + 1) * sizeof *map->before);
    for (size_t z = 0; z < map->lanes; z++) {
        map->first_before[z] = (int32_t)n;
        for (int32_t k = map->first_in[z]; k < map->first_in[z + 1]; k++) {
            const int32_t lane = map->in[k];
            uint8_t hop = 0;
            while (map->out[map->first_out[lane] + hop] != (int32_t)z) {
                hop++;
            }
            if (!pons__map_bay(map, lane)) {
                map->before[n++] =
                    (struct pons__before){lane, (float)pons__map_step(map, lane, (int32_t)z), hop};
            }
        }
    }
    map->first_before[map->lanes] = (int32_t)n;
}

// A way is kept as the number of an exit, in a byte.
static int check_exits(making *m)
{
    const pons_fleet_map *map = m->map;
    for (size_t z = 0; z < map->n; z++) {
        if (map->first_out[z + 1] - map->first_out[z] > UINT8_MAX) {
            return fault(m, (int32_t)z, "leads to more than 255 zones");
        }
    }
    return PONS_OK;
}

static int check_bays(making *m)
{
    const pons_fleet_map *map = m->map;
    for (size_t z = map->lanes; z < map->n; z++) {
        if (map->first_in[z] == map->first_in[z + 1]) {
            return fault(m, (int32_t)z, "cannot be entered from a lane");
        }
        if (map->first_out[z] == map->first_out[z + 1]) {
            return fault(m, (int32_t)z, "cannot be left to a lane");
        }
        for (int32_t k = map->first_out[z]; k < map->first_out[z + 1]; k++) {
            if (pons__map_bay(map, map->out[k])) {
                return fault(m, (int32_t)z, "is a bay that leads into a bay, not into a lane");
            }
        }
    }
    return PONS_OK;
}

static size_t reach(const pons_fleet_map *map, const int32_t *first, const int32_t *to, bool *seen)
{
    int32_t *stack = map->heap;
    size_t n = 0, count = 1;
    stack[n++] = 0;
    seen[0] = true;
    while (n > 0) {
        const int32_t z = stack[--n];
        for (int32_t k = first[z]; k < first[z + 1]; k++) {
            if (!pons__map_bay(map, to[k]) && !seen[to[k]]) {
                seen[to[k]] = true;
                stack[n++] = to[k];
                count++;
            }
        }
    }
    return count;
}

static int check_connected(making *m)
{
    const pons_fleet_map *map = m->map;
    bool *seen = pons_need_zeroed(map->lanes, 1);
    int rc = PONS_OK;
    for (int pass = 0; pass < 2 && rc >= 0; pass++) {
        memset(seen, 0, map->lanes);
        const bool all = reach(map, pass ? map->first_in : map->first_out,
                               pass ? map->in : map->out, seen) == map->lanes;
        for (size_t z = 0; z < map->lanes && !all && rc >= 0; z++) {
            if (!seen[z]) {
                char text[96];
                snprintf(text, sizeof text,
                         pass ? "leads no way to %s" : "cannot be reached from %s",
                         map->zones[0].id);
                rc = fault(m, (int32_t)z, text);
            }
        }
    }
    free(seen);
    return rc;
}

int pons__map_make(const char *name, pons_fleet_zone *zones, size_t n, pons__arc *arcs,
                   size_t n_arcs, void (*where)(void *user, size_t zone, pons_error *err),
                   void *user, pons_fleet_map **ret, pons_error *err)
{
    pons_fleet_map *map = pons_need_zeroed(1, sizeof *map);
    making m = {.map = map,
                .number = pons_need((n + 1) * sizeof(int32_t)),
                .where = where,
                .user = user,
                .err = err};
    snprintf(map->name, sizeof map->name, "%s", name);
    map->n = n;
    map->zones = pons_need((n + 1) * sizeof *map->zones);
    for (int pass = 0; pass < 2; pass++) { // lanes, then bays
        for (size_t i = 0; i < n; i++) {
            if ((zones[i].kind == PONS_FLEET_LANE) == (pass == 0)) {
                m.number[i] = (int32_t)(map->lanes + (pass ? map->arcs : 0));
                map->zones[m.number[i]] = zones[i];
                map->counts[zones[i].kind]++;
                *(pass ? &map->arcs : &map->lanes) += 1;
            }
        }
    }
    for (size_t i = 0; i < n_arcs; i++) {
        arcs[i] = (pons__arc){m.number[arcs[i].from], m.number[arcs[i].to]};
    }
    map->ways = pons_need_zeroed(n + 1, sizeof *map->ways);
    map->heap = pons_need((map->lanes + 1) * sizeof *map->heap);
    map->place = pons_need((map->lanes + 1) * sizeof *map->place);
    link_arcs(map, arcs, n_arcs);
    int rc = n > 0 && map->lanes > 0
                 ? check_names(&m, zones, n)
                 : pons_error_set(err, PONS_EINVAL, "fleet", "a map without lanes");
    rc = rc < 0 ? rc : check_exits(&m);
    rc = rc < 0 ? rc : check_bays(&m);
    rc = rc < 0 ? rc : check_connected(&m);
    if (rc >= 0) {
        link_lanes(map);
    }
    free(m.number);
    free(zones);
    free(arcs);
    if (rc < 0) {
        pons_fleet_map_destroy(map);
        return rc;
    }
    *ret = map;
    return PONS_OK;
}

void pons_fleet_map_destroy(pons_fleet_map *map)
{
    if (!map) {
        return;
    }
    for (size_t i = 0; i < map->n; i++) {
        free(map->ways[i]);
    }
    free(map->ways);
    free(map->heap);
    free(map->place);
    free(map->first_out);
    free(map->out);
    free(map->first_in);
    free(map->in);
    free(map->first_before);
    free(map->before);
    free(map->zones);
    free(map);
}

// ---- what is asked ------------------------------------------------------------------------------

const char *pons_fleet_map_name(const pons_fleet_map *map)
{
    return map->name;
}

size_t pons_fleet_map_size(const pons_fleet_map *map)
{
    return map->n;
}

const pons_fleet_zone *pons_fleet_map_zone(const pons_fleet_map *map, size_t zone)
{
    return zone < map->n ? &map->zones[zone] : NULL;
}

int32_t pons_fleet_map_find(const pons_fleet_map *map, const char *id)
{
    for (size_t i = 0; i < map->n; i++) {
        if (strcmp(map->zones[i].id, id) == 0) {
            return (int32_t)i;
        }
    }
    return -1;
}

size_t pons_fleet_map_count(const pons_fleet_map *map, pons_fleet_kind kind)
{
    return map->counts[kind];
}

const int32_t *pons_fleet_map_exits(const pons_fleet_map *map, size_t zone, size_t *ret_n)
{
    *ret_n = (size_t)(map->first_out[zone + 1] - map->first_out[zone]);
    return map->out + map->first_out[zone];
}

int32_t pons_fleet_map_near(const pons_fleet_map *map, double x, double y, double *ret_m)
{
    int32_t best = -1;
    double least = INFINITY;
    for (size_t i = 0; i < map->n; i++) {
        const double d = hypot(map->zones[i].x - x, map->zones[i].y - y);
        if (d < least) {
            least = d;
            best = (int32_t)i;
        }
    }
    *ret_m = least;
    return best;
}

size_t pons_fleet_map_bytes(const pons_fleet_map *map)
{
    size_t bytes = sizeof *map + map->n * (sizeof *map->zones + sizeof *map->ways) + map->arcs * 8 +
                   map->n * 8 + map->lanes * 8;
    for (size_t i = 0; i < map->n; i++) {
        bytes += map->ways[i] ? map->lanes * sizeof(float) : 0;
    }
    return bytes;
}
