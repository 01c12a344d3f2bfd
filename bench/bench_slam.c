// bench_slam.c - what the mapper takes (docs/internals/benchmarks.md).
//
//   slam.add   a lidar of 360 beams and 10 Hz goes round a room for a minute, in which loops are closed: how many times faster
//              than that the module slam-mrpt makes the map, in processor time
#include "bench.h"
#include "pons/clock.h"
#include "pons/ext/slam.h"
#include "pons/module.h"

enum { BEAMS = 360, SCANS = 600 };
static const double HZ = 10.0, LENGTH_M = 8.0, WIDTH_M = 6.0, ROUND_M = 1.8, SPEED_MPS = 0.4;

// Of the walls round the middle of a room.
static double range_to_wall(pons_pose2 eye, double bearing)
{
    const double dx = cos(bearing), dy = sin(bearing);
    return fmin((copysign(0.5 * LENGTH_M, dx) - eye.x) / dx,
                (copysign(0.5 * WIDTH_M, dy) - eye.y) / dy);
}

static void look(int number, pons_pose2 at, pons_scan *ret)
{
    *ret = (pons_scan){.stamp_ns = (int64_t)(number / HZ * (double)PONS_NS_PER_S),
                       .n = BEAMS,
                       .angle_min = (float)-M_PI,
                       .angle_increment = (float)(2.0 * M_PI / BEAMS),
                       .range_min = 0.05f,
                       .range_max = 10.0f};
    for (int i = 0; i < BEAMS; i++) {
        const double rough = 0.01 * sin(7.0 * i + number); // a centimetre
        ret->ranges[i] = (float)(range_to_wall(at, at.yaw - M_PI + i * 2.0 * M_PI / BEAMS) + rough);
    }
}

int main(int argc, char **argv)
{
    pons_error err = PONS_ERROR_INIT;
    const void *loaded = NULL;
    void *self = NULL;
    pons_pose2 map_from_odom;
    bool changed;
    double took_s = 0.0;
    if (!bench_wants(argc, argv, "slam.add")) {
        return 0;
    }
    bench_must(pons_module_load("slam", "mrpt", &loaded, &err), &err);
    const pons_slam_ops *slam = loaded;
    pons_autovalue config = json_pack("{s:f}", "resolution_m", 0.05);
    bench_must(slam->open(config, &self, &err), &err);
    for (int i = 0; i < SCANS; i++) {
        const double round = SPEED_MPS * i / HZ / ROUND_M;
        const pons_pose2 at = {ROUND_M * sin(round), -ROUND_M * cos(round), pons_wrap_angle(round)};
        const pons_pose2 odom = {1.01 * at.x, 1.01 * at.y, at.yaw}; // a percent off
        pons_scan scan;
        look(i, at, &scan);
        const double from_s = bench_cpu_s();
        if (i == 0) {
            bench_must(slam->place(self, at, odom), NULL);
        }
        bench_must(slam->add(self, &scan, odom, &map_from_odom, &changed, &err), &err);
        took_s += bench_cpu_s() - from_s;
    }
    bench_print("slam.add", SCANS / HZ / took_s, "x real time");
    slam->close(self);
    return 0;
}
