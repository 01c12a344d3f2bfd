// generated_hall.c - a hall for so many robots: streets in a grid, each one way, with bays along them.
//
//        <   <   <   <          streets go west and east by turns, and south and north, so that
//      v   ^   v   ^            round each block there is a way; an even number of both makes the outer
//        >   >   >   >          ring a way round
//
// Between two crossings a street has SPAN zones, each with room for a bay on either side. Parks are
// more than robots, stations four for five robots, docks one for five: whose batteries last for eight
// hours and charge in one and a half needs 16 in 100.
#include "fleet/map/zone_graph.h"
#include "pons/out_of_memory.h"

#include <math.h>
#include <stdio.h>

#define SPAN          3   // zones between two crossings
#define STEP_M        4.0 // from zone to zone
#define LANES_A_ROBOT 3.6
#define PARKS         1.5 // a robot
#define STATIONS      0.8
#define DOCKS         0.22
#define ROBOTS_MAX    5000

typedef struct hall {
    size_t side; // streets in each direction
    pons_fleet_zone *zones;
    pons__arc *arcs;
    size_t n, n_arcs;
    double wish[PONS_FLEET_KINDS], due[PONS_FLEET_KINDS];
    size_t slots;
} hall;

__attribute__((format(printf, 5, 6))) static void add_zone(hall *h, pons_fleet_kind kind, double x,
                                                           double y, const char *fmt, ...)
{
    pons_fleet_zone *z = &h->zones[h->n++];
    va_list ap;
    *z = (pons_fleet_zone){.kind = kind, .x = x, .y = y};
    va_start(ap, fmt);
    vsnprintf(z->id, sizeof z->id, fmt, ap);
    va_end(ap);
}

static void add_arc(hall *h, size_t from, size_t to)
{
    h->arcs[h->n_arcs++] = (pons__arc){(int32_t)from, (int32_t)to};
}

// On both sides, in the kinds' shares, evenly.
static void add_bays(hall *h, size_t lane, bool along_x)
{
    const double x = h->zones[lane].x, y = h->zones[lane].y;
    for (int side = -1; side <= 1; side += 2) {
        int kind = -1;
        for (int k = PONS_FLEET_PARK; k < PONS_FLEET_KINDS; k++) {
            h->due[k] += h->wish[k];
            if (h->due[k] >= 0.5 && (kind < 0 || h->due[k] > h->due[kind])) {
                kind = k;
            }
        }
        if (kind < 0) {
            continue;
        }
        h->due[kind] -= 1.0;
        add_zone(h, (pons_fleet_kind)kind, x + (along_x ? 0 : side * 1.8),
                 y + (along_x ? side * 1.8 : 0), "%c%zu", "?psd"[kind], h -> n);
        add_arc(h, lane, h->n - 1);
        add_arc(h, h->n - 1, lane);
    }
}

static void add_street(hall *h, size_t from, size_t to, bool along_x, size_t street, size_t part)
{
    const pons_fleet_zone a = h->zones[from], b = h->zones[to];
    size_t before = from;
    for (size_t i = 1; i <= SPAN; i++) {
        const double t = (double)i / (SPAN + 1);
        add_zone(h, PONS_FLEET_LANE, a.x + t * (b.x - a.x), a.y + t * (b.y - a.y), "%s%zu-%zu-%zu",
                 along_x ? "h" : "v", street, part, i);
        add_arc(h, before, h->n - 1);
        before = h->n - 1;
        add_bays(h, before, along_x);
    }
    add_arc(h, before, to);
}

int pons_fleet_map_hall(size_t robots, pons_fleet_map **ret, pons_error *err)
{
    if (robots < 1 || robots > ROBOTS_MAX) {
        return pons_error_set(err, PONS_EINVAL, "fleet", "a hall is for 1 to %d robots, not %zu",
                              ROBOTS_MAX, robots);
    }
    hall h = {.side = 4};
    const size_t wanted = robots < 8 ? 8 : robots;
    while (h.side * h.side + 2 * h.side * (h.side - 1) * SPAN <
           (size_t)(LANES_A_ROBOT * (double)wanted)) {
        h.side += 2;
    }
    const size_t parts = 2 * h.side * (h.side - 1);
    const size_t most = h.side * h.side + parts * SPAN * 3;
    h.slots = parts * SPAN * 2;
    h.zones = pons_need_zeroed(most, sizeof *h.zones);
    h.arcs = pons_need(most * 3 * sizeof *h.arcs);
    h.wish[PONS_FLEET_PARK] = ceil(PARKS * (double)wanted) / (double)h.slots;
    h.wish[PONS_FLEET_STATION] = ceil(STATIONS * (double)wanted) / (double)h.slots;
    h.wish[PONS_FLEET_DOCK] = ceil(DOCKS * (double)wanted) / (double)h.slots;
    for (size_t y = 0; y < h.side; y++) { // crossing (x, y) is zone y * side + x
        for (size_t x = 0; x < h.side; x++) {
            add_zone(&h, PONS_FLEET_LANE, (double)x * (SPAN + 1) * STEP_M,
                     (double)y * (SPAN + 1) * STEP_M, "x%zu-%zu", x, y);
        }
    }
    for (size_t street = 0; street < h.side; street++) {
        for (size_t part = 0; part + 1 < h.side; part++) {
            const size_t a = street * h.side + part, b = a + 1;
            const bool back = street % 2 == 1;
            add_street(&h, back ? b : a, back ? a : b, true, street, part);
        }
        for (size_t part = 0; part + 1 < h.side; part++) {
            const size_t a = part * h.side + street, b = a + h.side;
            const bool back = street % 2 == 0;
            add_street(&h, back ? b : a, back ? a : b, false, street, part);
        }
    }
    return pons__map_make("hall", h.zones, h.n, h.arcs, h.n_arcs, NULL, NULL, ret, err);
}
