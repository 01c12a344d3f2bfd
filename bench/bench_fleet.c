// bench_fleet.c - the fleet's core. One JSON object a line; arguments choose benches by the beginning of their
// names.
//
//   fleet.match      ms: 1,000 tasks and 1,000 robots with random costs
//   fleet.tasks      an hour and robot: 100 robots, an hour, always more to do
//   fleet.bound      what these could do without any wait: their ways, and the work at the stops
//   fleet.simple     the same with the nearest robot first, and a robot on its whole way alone
//   fleet.longest    s that a robot of those 100 has waited at most
//   fleet.move       us of processor time a move, with all that belongs to it
#include "bench.h"
#include "pons/fleet.h"
#include "pons/out_of_memory.h"
#include "pons/random.h"

enum { SIDE = 1000, ROBOTS = 100 };

static void match(void)
{
    pons_rand r;
    double *cost = pons_need(sizeof *cost * SIDE * SIDE);
    int32_t *column = pons_need(sizeof *column * SIDE);
    pons_rand_seed(&r, 1);
    for (size_t i = 0; i < (size_t)SIDE * SIDE; i++) {
        cost[i] = pons_rand_unit(&r) * 1000.0;
    }
    const double began = bench_cpu_s();
    pons_fleet_match(cost, SIDE, SIDE, column);
    bench_print("fleet.match", (bench_cpu_s() - began) * 1000.0, "ms");
    free(cost);
    free(column);
}

static pons_value *play(bool simple)
{
    const pons_fleet_play p = {
        .robots = ROBOTS, .hours = 1.0, .seed = 1, .greedy = simple, .lanes_alone = simple};
    pons_value *report = NULL;
    pons_error err = PONS_ERROR_INIT;
    bench_must(pons_fleet_simulate(&p, &report, NULL, &err), &err);
    return report;
}

int main(int argc, char **argv)
{
    pons_value_init();
    pons_memory_of_a_process();
    if (bench_wants(argc, argv, "fleet.match")) {
        match();
    }
    if (bench_wants(argc, argv, "fleet.tasks") || bench_wants(argc, argv, "fleet.bound") ||
        bench_wants(argc, argv, "fleet.longest") || bench_wants(argc, argv, "fleet.move")) {
        const double began = bench_cpu_s();
        pons_autovalue r = play(false);
        const double took_s = bench_cpu_s() - began;
        bench_print("fleet.tasks", pons_get_num(pons_get(r, "tasks"), "per_robot_hour", 0.0), "/h");
        bench_print("fleet.bound", pons_get_num(pons_get(r, "tasks"), "bound_per_robot_hour", 0.0),
                    "/h");
        bench_print("fleet.longest", pons_get_num(pons_get(r, "waits"), "longest_s", 0.0), "s");
        bench_print("fleet.move", took_s * 1e6 / pons_get_num(r, "moves", 1.0), "us");
    }
    if (bench_wants(argc, argv, "fleet.simple")) {
        pons_autovalue r = play(true);
        bench_print("fleet.simple", pons_get_num(pons_get(r, "tasks"), "per_robot_hour", 0.0),
                    "/h");
    }
    return 0;
}
