// fleet_simulate.c - `pons fleet simulate`: a fleet on the virtual clock, and what it has shown.
#include "cli/fleet/fleet.h"
#include "pons/fleet.h"

#include <errno.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define SEEDS_MAX 10000

static void progress(void *user, double hours)
{
    char text[64];
    snprintf(text, sizeof text, "%.2f h", hours);
    cli_live_line(text);
}

static void show(const pons_value *r)
{
    const pons_value *map = pons_get(r, "map"), *tasks = pons_get(r, "tasks");
    const pons_value *waits = pons_get(r, "waits"), *kills = pons_get(r, "kills");
    cli_out("seed %lld: %lld robots, %g h, map %s (%lld lanes, %lld parks, %lld stations, %lld "
            "docks)\n",
            (long long)pons_get_int(r, "seed", 0), (long long)pons_get_int(r, "robots", 0),
            pons_get_num(r, "hours", 0), pons_get_str(map, "name", ""),
            (long long)pons_get_int(map, "lanes", 0), (long long)pons_get_int(map, "parks", 0),
            (long long)pons_get_int(map, "stations", 0), (long long)pons_get_int(map, "docks", 0));
    cli_out("  tasks      %lld done, %.2f an hour for each robot; driving without a wait would "
            "give %.2f\n",
            (long long)pons_get_int(tasks, "done", 0), pons_get_num(tasks, "per_robot_hour", 0),
            pons_get_num(tasks, "bound_per_robot_hour", 0));
    cli_out("             %lld lost, %lld done twice, %lld outcome_unknown, %lld waiting\n",
            (long long)pons_get_int(tasks, "lost", 0), (long long)pons_get_int(tasks, "twice", 0),
            (long long)pons_get_int(tasks, "outcome_unknown", 0),
            (long long)pons_get_int(tasks, "waiting", 0));
    cli_out("  waits      longest %.1f s (%s), mean %.2f s, 99 in 100 at most %.0f s\n",
            pons_get_num(waits, "longest_s", 0), pons_get_str(waits, "longest", ""),
            pons_get_num(waits, "mean_s", 0), pons_get_num(waits, "p99_s", 0));
    cli_out("  driven     %.1f km in %lld moves, %.0f batteries, %lld charges\n",
            pons_get_num(r, "distance_m", 0) / 1000.0, (long long)pons_get_int(r, "moves", 0),
            pons_get_num(r, "energy_pct", 0) / 100.0, (long long)pons_get_int(r, "charges", 0));
    cli_out("  safety     %lld shared zones, %lld deadlocks, %lld states that were not safe\n",
            (long long)pons_get_int(r, "shared_zones", 0),
            (long long)pons_get_int(r, "deadlocks", 0),
            (long long)pons_get_int(r, "unsafe_states", 0));
    if (pons_get_int(kills, "robots", 0) + pons_get_int(kills, "orchestrator", 0) > 0) {
        cli_out("  kills      %lld robots, %lld of the orchestrator; %lld tasks given to others, "
                "after %.1f s at most\n",
                (long long)pons_get_int(kills, "robots", 0),
                (long long)pons_get_int(kills, "orchestrator", 0),
                (long long)pons_get_int(kills, "given_back", 0),
                pons_get_num(kills, "given_back_longest_s", 0));
    }
    cli_out("  memory     %.1f MB, and %.1f MB of the map\n",
            (double)pons_get_int(r, "memory_bytes", 0) / 1e6,
            (double)pons_get_int(map, "bytes", 0) / 1e6);
}

static int write_file(const char *path, const pons_buf *text, pons_error *err)
{
    FILE *f = fopen(path, "we");
    const bool written = f && fwrite(text->data, 1, text->len, f) == text->len;
    const bool closed = f && fclose(f) == 0;
    return written && closed ? PONS_OK
                             : app_lacks(err, "cannot write %s: %s", path, strerror(errno));
}

static int play_seeds(cli *c, pons_fleet_play *play, const char *map, int64_t seeds,
                      const char *svg, pons_error *err)
{
    int rc = map ? pons_fleet_map_load(map, &play->map, err) : PONS_OK;
    bool sound = true;
    for (int64_t i = 0; i < seeds && rc >= 0; i++, play->seed++) {
        pons_autovalue report = NULL;
        pons_autobuf picture = PONS_BUF_INIT;
        rc = pons_fleet_simulate(play, &report, svg && i == 0 ? &picture : NULL, err);
        if (rc < 0) {
            break;
        }
        if (play->progress) {
            cli_erase_line();
        }
        struct rusage used;
        getrusage(RUSAGE_SELF, &used);
        json_object_set_new(report, "process_max_kb", json_integer(used.ru_maxrss));
        if (c->json) {
            cli_print_json(report);
        } else {
            show(report);
        }
        cli_flush();
        const pons_value *tasks = pons_get(report, "tasks");
        sound = sound && pons_get_int(report, "shared_zones", 1) == 0 &&
                pons_get_int(report, "deadlocks", 1) == 0 &&
                pons_get_int(report, "unsafe_states", 1) == 0 &&
                pons_get_int(tasks, "lost", 1) == 0 && pons_get_int(tasks, "twice", 1) == 0;
        rc = svg && i == 0 ? write_file(svg, &picture, err) : PONS_OK;
    }
    pons_fleet_map_destroy(play->map);
    return rc < 0 ? rc : sound ? PONS_OK : APP_NO_SUCCESS;
}

int cmd_fleet_simulate(cli *c, pons_error *err)
{
    const char *map = NULL, *svg = NULL, *baseline = NULL;
    double n = 100, h = 1, s = 1, many = 1, r = 0, k = 0, o = 0, p = 0;
    const cli_option options[] = {
        {"--robots", "N", "how many; default 100", CLI_NUMBER(&n, 1, 5000)},
        {"--hours", "H", "of the virtual clock; default 1", CLI_NUMBER(&h, 0.001, 10000)},
        {"--seed", "S", "of all that is drawn; default 1", CLI_NUMBER(&s, 0, 9e15)},
        {"--seeds", "N", "so many runs, from seed S on", CLI_NUMBER(&many, 1, SEEDS_MAX)},
        {"--map", "FILE", "a map of zones; else a hall for so many robots", &map},
        {"--rate", "X", "tasks that come for each robot in an hour; else there is always one more",
         CLI_NUMBER(&r, 0.001, 1000)},
        {"--kills", "X", "robots that die in an hour; they come back after 1 to 10 minutes",
         CLI_NUMBER(&k, 0.001, 100000)},
        {"--orchestrator-kills", "X", "of the orchestrator, in an hour",
         CLI_NUMBER(&o, 0.001, 600)},
        {"--people", "X", "who step onto a lane in an hour, for 20 s to 5 minutes",
         CLI_NUMBER(&p, 0.001, 1e6)},
        {"--baseline", NULL, "to compare: nearest robot first, one robot on a way at a time",
         &baseline},
        {"--svg", "FILE", "the flow as a picture", &svg},
        {NULL, NULL, NULL, NULL}};
    int rc = cli_parse(c, options, err);
    if (rc >= 0 && c->argc > 0) {
        return app_bad(err, "fleet simulate: what is '%s'?", c->argv[0]);
    }
    if (rc < 0) {
        return rc;
    }
    pons_fleet_play play = {.robots = (size_t)n,
                            .hours = h,
                            .seed = (uint64_t)s,
                            .tasks_per_robot_hour = r,
                            .robot_kills_per_hour = k,
                            .kills_of_orchestrator_per_hour = o,
                            .people_per_hour = p,
                            .greedy = baseline != NULL,
                            .lanes_alone = baseline != NULL,
                            .progress = isatty(STDERR_FILENO) ? progress : NULL};
    return play_seeds(c, &play, map, (int64_t)many, svg, err);
}
