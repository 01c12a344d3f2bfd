// fleet_report.c - what a played fleet has shown: numbers, and the flow as a picture.
#include "fleet/sim/fleet_sim.h"

#include <math.h>

#define STOP_S 20.0 // work at each of two stops

static pons_value *number(double v)
{
    return json_real(round(v * 1000.0) / 1000.0);
}

// Half of the waits, and 99 in 100 of them, are shorter than that.
static double quantile(const pons__sim *s, double part)
{
    const size_t slots = sizeof s->waits / sizeof *s->waits;
    int64_t below = 0;
    for (size_t i = 0; i < slots; i++) {
        below += s->waits[i];
        if ((double)below >= part * (double)s->n_waits) {
            return (double)(i + 1);
        }
    }
    return (double)slots;
}

// Tasks that are neither live nor ended are lost; so are those that ended with a stop undone.
static int64_t lost_tasks(const pons__sim *s)
{
    return (int64_t)s->n_tasks - (int64_t)s->n_live - s->tasks_done - s->tasks_failed;
}

static int64_t ended_undone(const pons__sim *s)
{
    int64_t both = 0;
    for (uint32_t i = 0; i < s->n_tasks; i++) {
        both += (s->done[i] & 0xf) > 0 && (s->done[i] >> 4) > 0;
    }
    return s->tasks_done > both ? s->tasks_done - both : 0;
}

pons_value *pons__sim_report(pons__sim *s)
{
    const pons_fleet_map *map = s->map;
    const double robots = (double)s->play->robots, hours = s->play->hours;
    const double a_task_s =
        s->tasks_done > 0 ? s->ideal_s / (double)(s->tasks_done + 1) + 2 * STOP_S : 0.0;
    int64_t unknown = 0, waiting = 0;
    for (size_t i = 0; i < s->n_live; i++) {
        unknown += s->live[i].state == PONS_FLEET_UNKNOWN;
        waiting += s->live[i].state == PONS_FLEET_WAITING;
    }
    size_t bytes = s->cap_heap * sizeof *s->heap + s->cap_live * sizeof *s->live + s->cap_tasks +
                   s->play->robots * (sizeof *s->bodies + sizeof *s->robots + sizeof *s->legs) +
                   (s->core ? pons_fleet_bytes(s->core) : 0);
    return pons_object(
        "robots", json_integer((json_int_t)s->play->robots), "hours", json_real(hours), "seed",
        json_integer((json_int_t)s->play->seed), "map",
        pons_object("name", json_string(map->name), "lanes", json_integer((json_int_t)map->lanes),
                    "parks", json_integer((json_int_t)map->counts[PONS_FLEET_PARK]), "stations",
                    json_integer((json_int_t)map->counts[PONS_FLEET_STATION]), "docks",
                    json_integer((json_int_t)map->counts[PONS_FLEET_DOCK]), "bytes",
                    json_integer((json_int_t)pons_fleet_map_bytes(map)), NULL),
        "tasks",
        pons_object("done", json_integer(s->tasks_done), "failed", json_integer(s->tasks_failed),
                    "waiting", json_integer(waiting), "outcome_unknown", json_integer(unknown),
                    "lost", json_integer(lost_tasks(s) + ended_undone(s)), "twice",
                    json_integer(s->twice), "per_robot_hour",
                    number((double)s->tasks_done / robots / hours), "bound_per_robot_hour",
                    number(a_task_s > 0.0 ? 3600.0 / a_task_s : 0.0), NULL),
        "waits",
        pons_object("longest_s", number(s->longest_s), "longest", pons_string(s->longest_why),
                    "mean_s", number(s->n_waits ? s->wait_s / (double)s->n_waits : 0.0), "p50_s",
                    number(quantile(s, 0.5)), "p99_s", number(quantile(s, 0.99)), NULL),
        "distance_m", number(s->distance_m), "energy_pct", number(s->energy_pct), "charges",
        json_integer(s->charges), "moves", json_integer((json_int_t)s->moves), "shared_zones",
        json_integer(s->shared), "people", json_integer(s->persons), "deadlocks",
        json_integer(s->deadlocks), "unsafe_states", json_integer(s->unsafe), "kills",
        pons_object("robots", json_integer(s->kills), "orchestrator", json_integer(s->core_kills),
                    "given_back", json_integer(s->reassigned), "given_back_longest_s",
                    number(s->reassigned_s), NULL),
        "memory_bytes", json_integer((json_int_t)bytes), NULL);
}

// ---- the picture --------------------------------------------------------------------------------

void pons__sim_picture(pons__sim *s, pons_buf *out)
{
    static const char *const colours[] = {"", "#8c8c8c", "#1f6fb2", "#c77700"};
    const pons_fleet_map *map = s->map;
    double x0 = INFINITY, y0 = INFINITY, x1 = -INFINITY, y1 = -INFINITY;
    uint64_t most = 1;
    for (size_t z = 0; z < map->n; z++) {
        x0 = fmin(x0, map->zones[z].x);
        y0 = fmin(y0, map->zones[z].y);
        x1 = fmax(x1, map->zones[z].x);
        y1 = fmax(y1, map->zones[z].y);
        most = z < map->lanes && s->flow[z] > most ? s->flow[z] : most;
    }
    pons_buf_printf(out,
                    "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"%.1f %.1f %.1f %.1f\">\n"
                    "<title>Flow: the widest lane was entered %llu times</title>\n"
                    "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"#fff\"/>\n",
                    x0 - 3, -y1 - 3, x1 - x0 + 6, y1 - y0 + 6, (unsigned long long)most, x0 - 3,
                    -y1 - 3, x1 - x0 + 6, y1 - y0 + 6);
    for (size_t z = 0; z < map->lanes; z++) {
        const double part = (double)s->flow[z] / (double)most;
        for (int32_t k = map->first_out[z]; k < map->first_out[z + 1]; k++) {
            const pons_fleet_zone *a = &map->zones[z], *b = &map->zones[map->out[k]];
            if (!pons__map_bay(map, map->out[k])) {
                pons_buf_printf(out,
                                "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" "
                                "stroke=\"hsl(%.0f 80%% 45%%)\" stroke-width=\"%.2f\"/>\n",
                                a->x, -a->y, b->x, -b->y, 140.0 * (1.0 - part), 0.15 + 1.2 * part);
            }
        }
    }
    for (size_t z = map->lanes; z < map->n; z++) {
        const pons_fleet_zone *a = &map->zones[z];
        pons_buf_printf(out, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"0.6\" fill=\"%s\"/>\n", a->x,
                        -a->y, colours[a->kind]);
    }
    pons_buf_str(out, "</svg>\n");
}
