// traffic.h - who may enter which zone (traffic.c).
#pragma once

#include "fleet/map/zone_graph.h"

#define PONS__NOBODY     (-1)
#define PONS__BLOCKED    (-2)
#define PONS__NO_VERSION UINT32_MAX
#define PONS__KEPT       (-3) // for robots that were there last, and have not been seen since a restart

typedef struct pons__mover {
    int32_t at;   // -1: not on the map
    int32_t next; // granted and not yet entered; -1: none
    int32_t to;   // the bay it wants to be in; -1: any park
    int32_t *leg; // zones after next (or at), the last one a bay that it has booked
    size_t n, cap;
    bool stuck;    // without a leg, on a lane, not to be counted on
    bool dead;     // does not move: a stuck one that is not to be helped
    bool wants;    // to move
    int32_t waits; // for this zone; -1: it does not
    int32_t by;    // a robot, nobody, or blocked
    int64_t since; // it waits
    int32_t next_waiter;
    uint32_t stamp;
} pons__mover;

typedef struct pons__traffic {
    pons_fleet_map *map;
    size_t n, moving, moving_max;
    pons__mover *at;   // (n)
    int32_t *holder;   // (zones)
    int32_t *booked;   // (zones) bays: by whom
    uint16_t *kept;    // (zones) by how many that are not on the map
    uint16_t *blocked; // (zones) by how many that are no robots
    int32_t *waiters;  // (zones) the first, longest wait first
    bool *shut;        // (zones) has a blocked, stuck or dead one on it
    bool *shut_bay;    // (zones) a bay that nobody is sent to
    bool *shut_before; // (zones) at the last version
    uint32_t version;  // of shut_before; 0: no lane is shut
    uint32_t versions; // given so far
    uint32_t stamp;
    int32_t *stack; // (n)
    // Ways as they are now: round what is shut, and where many wait counted as longer.
    struct pons__way {
        float *far;   // (lanes) metres to the zone; NULL: not asked yet
        uint8_t *hop; // (lanes) by which exit
        int64_t built_ms;
        uint32_t version;
    } *ways;           // (zones)
    float *queue;      // (zones) what a wait before it costs [m]
    int32_t *path;     // (zones) of a search
    int32_t *back;     // (lanes) of a search
    uint32_t *reached; // (lanes)
    uint32_t search;
    bool whole_streets; // a leg's zones must all be free: the simple way
    int32_t *claimed;   // (zones) bays: for whom they are kept who has waited for them for long
    bool *late;         // (zones) on the leg of one who has waited for long
    // The leg has changed.
    void (*leg)(void *user, int32_t robot);
    // It may enter at[robot].next.
    void (*grant)(void *user, int32_t robot);
    void *user;
} pons__traffic;

void pons__traffic_init(pons__traffic *t, pons_fleet_map *map, size_t n, double moving_max);
void pons__traffic_fini(pons__traffic *t);
size_t pons__traffic_bytes(const pons__traffic *t);

// Puts a robot that is not on the map into a zone, on its way into `next` (-1: it stands). False:
// somebody is there. On a lane it is stuck until pons__traffic_again has found a leg.
bool pons__traffic_put(pons__traffic *t, int32_t robot, int32_t zone, int32_t next);
// A robot that is not on the map is in one of these zones: nobody is sent there until it is put or taken.
void pons__traffic_keep(pons__traffic *t, int32_t robot, const int32_t *zones, size_t n);
void pons__traffic_take(pons__traffic *t, int32_t robot, int64_t now_ms); // off the map

// Where it is to go; -1: into any park, when it is not in a bay.
void pons__traffic_send(pons__traffic *t, int32_t robot, int32_t to, int64_t now_ms);
void pons__traffic_entered(pons__traffic *t, int32_t robot, int64_t now_ms); // its next zone
void pons__traffic_dead(pons__traffic *t, int32_t robot, bool dead, int64_t now_ms);
// A zone that it was given and never heard of is nobody's again.
void pons__traffic_revoke(pons__traffic *t, int32_t robot, int64_t now_ms);
void pons__traffic_block(pons__traffic *t, int32_t zone, bool blocked, int64_t now_ms);
// All who wait are looked at again, the longest wait first.
void pons__traffic_again(pons__traffic *t, int64_t now_ms);

bool pons__traffic_safe(const pons__traffic *t);

// route_legs.c: of a robot at zone `from` (at, or next when it is granted), a leg into t->path; its length, 0:
// there is none. try: 0 is the best, then worse ones.
size_t pons__leg_ahead(pons__traffic *t, int32_t robot, int32_t from, size_t try, int64_t now_ms,
                       bool *ret_more);
// Whether its way to where it wants to be has at most so many lanes before the one that the bay is at.
bool pons__leg_near(pons__traffic *t, int32_t robot, size_t zones, int64_t now_ms);
size_t pons__leg_aside(pons__traffic *t, int32_t robot, int32_t from, size_t try, bool *ret_more);
