// test_explore.c - a robot that has no map makes one: the floor that it can reach is known, the map is that of the place, nothing
// was touched, and the way is no detour. People walk about; it is stopped, killed, carried off, and goes on.
//
// The places are generated (floor_plan.c): in `./dev test` one with racks and one with two rooms, with `--full` twelve of up to 120
// square metres; and published maps, if PONS_NAV2_MAPS names a folder of them. It takes half a minute: a robot drives through
// a place ten times, for a minute of the virtual clock each.
#include "body/body_bench.h"
#include "body/core/body.h"
#include "body/floor_plan.h"
#include "body/mapping/mapper.h"
#include "killer.h"
#include "pons/drivers.h"
#include "pons/ext/outside.h"
#include "pons/ext/slam.h"
#include "pons/file.h"
#include "pons/map_rooms.h"
#include "pons/module.h"
#include "rounds.h"
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

enum { PLACES = 12 };
static const double KNOWN = 0.98, IOU = 0.95, DETOUR = 2.0, RANGE_M = 10.0, LONGEST_S = 1500.0;

static const pons_slam_ops *slam; // NULL: this build has none
static bench t;

// A body in the world that lies there, with the map as far as it is made.
static void open_body(int seed)
{
    bench_open_with(&t, in_place("new.yaml"), &pons_robot_kinematic, (uint64_t)seed);
    t.opts.slam = slam;
    t.opts.auto_reset_sim = true;
    bench_reboot(&t);
    bench_hello(&t);
}

static void open_place(int number)
{
    place_write(number);
    open_body(number + 1);
}

static void close_place(void)
{
    bench_close(&t);
    place_remove(NULL);
}

static pons_pose2 truth(void)
{
    pons_pose2 p;
    assert_int_equal(pons_body_truth(t.body, &p, NULL), PONS_OK);
    return p;
}

static int64_t bumps(void)
{
    pons_value *saved = NULL;
    assert_int_equal(t.body->robot->save(t.body->self, &saved, NULL), PONS_OK);
    const int64_t n = pons_get_int(saved, "bumps", -1);
    pons_value_unref(saved);
    return n;
}

typedef struct trip {
    double way_m, robot_s, cpu_s; // the processor's time of all threads, the simulated robot's too
    char result[256];
} trip;

static double cpu_s(void)
{
    struct rusage used;
    assert_int_equal(getrusage(RUSAGE_SELF, &used), 0);
    return (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
           1e-6 * (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
}

// Explores to the end, or for so many seconds.
static trip explore(double seconds)
{
    char id[32];
    trip r = {0};
    pons_pose2 last = truth();
    const double began_s = cpu_s();
    snprintf(id, sizeof id, "%s", bench_goal(&t, NULL, "explore", "{}"));
    for (; r.robot_s < seconds && !pons_get(t.results, id); r.robot_s += 0.05) {
        bench_step(&t, 0.05);
        const pons_pose2 now = truth();
        r.way_m += hypot(now.x - last.x, now.y - last.y);
        last = now;
    }
    snprintf(r.result, sizeof r.result, "%s", bench_until_result(&t, id, 0.01));
    r.cpu_s = cpu_s() - began_s;
    const pons_value *end = pons_get(t.results, id);
    if (end && pons_get_int(end, "error_code", 0) != 0) {
        print_message("%s\n", pons_get_str(end, "error_msg", ""));
    }
    return r;
}

static place_score judge(void)
{
    return place_judge(pons_get(t.world, "simulated"), t.world, in_place("new.map.yaml"),
                       t.body->caps.radius_m + 0.1, RANGE_M);
}

static void check_map(const char *what)
{
    const place_score s = judge();
    if (!(s.known >= KNOWN && s.iou >= IOU)) {
        fail_msg("%s: %.4f of the floor is known, IoU %.4f", what, s.known, s.iou);
    }
}

static void check_explored(int number)
{
    const pons_pose2 from = truth();
    const trip r = explore(LONGEST_S);
    const place_score s = judge();
    const pons_pose2 to = truth();
    print_message(
        "place %d: %.0f m2, known %.4f, IoU %.4f, way %.1f m of %.1f m (%.2f), %d contacts, "
        "%.0f s, %.2f of a processor\n",
        number, s.reached_m2, s.known, s.iou, r.way_m, s.tour_m, r.way_m / s.tour_m, (int)bumps(),
        r.robot_s, r.cpu_s / r.robot_s);
    assert_string_equal(r.result, "done 0");
    assert_int_equal(bumps(), 0);
    assert_true(s.known >= KNOWN);
    assert_true(s.iou >= IOU);
    assert_true(r.way_m <= DETOUR * s.tour_m);
    assert_true(hypot(to.x - from.x, to.y - from.y) < 0.3);
}

static void test_places(void **state)
{
    (void)state;
    const long all = rounds(ROUNDS_explore_places);
    if (!slam) {
        skip();
    }
    for (int i = 0; i < all; i++) {
        const int number = all < PLACES ? PLACE_BAYS : i;
        open_place(number);
        check_explored(number);
        close_place();
    }
}

// Two rooms and a door between them.
static void check_rooms(void)
{
    pons_map *m = NULL;
    pons_room *rooms = NULL;
    size_t n = 0;
    assert_int_equal(pons_map_load(in_place("new.map.yaml"), &m, NULL), PONS_OK);
    assert_int_equal(pons_map_rooms(m, PONS_ROOM_DOOR_M, &rooms, &n, NULL), PONS_OK);
    assert_int_equal(n, 2);
    for (size_t i = 0; i < n; i++) {
        assert_true(rooms[i].area_m2 > 12.0 &&
                    rooms[i].area_m2 < 17.0); // 4.1 × 3.9 m, and furniture
        assert_true(rooms[i].n >= 4);
        assert_true(pons_map_is_free(m, rooms[i].x, rooms[i].y));
    }
    free(rooms);
    pons_map_destroy(m);
}

// Where the map is there, and loaded as any map, every ordinary goal works; the localizer has it.
static void test_then_an_ordinary_day(void **state)
{
    (void)state;
    if (!slam) {
        skip();
    }
    open_place(PLACE_SMALL);
    check_explored(PLACE_SMALL);
    check_rooms();
    const pons_pose2 first = {
        pons_get_num(pons_get(pons_get(t.world, "simulated"), "start"), "x", 0.0),
        pons_get_num(pons_get(pons_get(t.world, "simulated"), "start"), "y", 0.0),
        pons_get_num(pons_get(pons_get(t.world, "simulated"), "start"), "yaw", 0.0)};
    // Both in the body that made the map, and in one that starts with it.
    for (int life = 0; life < 2; life++) {
        const pons_pose2 far = {1.6, 5.2, 0.0}; // of the place: in its other room
        const pons_pose2 goal = pons_pose_between(first, far);
        char args[128];
        snprintf(args, sizeof args, "{\"pose\":{\"x\":%.3f,\"y\":%.3f}}", goal.x, goal.y);
        char id[32];
        snprintf(id, sizeof id, "%s", bench_goal(&t, NULL, "navigate_to_pose", args));
        assert_string_equal(bench_until_result(&t, id, 120.0), "done 0");
        assert_true(bench_truth_to(&t, far.x, far.y) < 0.3);
        bench_close(&t);
        open_body(3);
        bench_step(&t, 1.0);
    }
    close_place();
}

// The body dies at one of its writing calls; the next one begins with what is on the disk, and ends with the whole map.
static void test_killed(void **state)
{
    (void)state;
    long calls = 0, killed = 0;
    typedef struct shared {
        char dir[sizeof t.dir];
    } shared;
    if (!slam) {
        skip();
    }
    shared *s = mmap(NULL, sizeof *s, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(s != MAP_FAILED);
    for (long at = 0; at == 0 || at <= calls; at++) {
        if (at > 0 && !rounds_take(ROUNDS_explore_kills, at - 1, calls)) {
            continue;
        }
        place_write(PLACE_SMALL);
        killer k = {.at = at};
        const pid_t pid = fork();
        if (pid == 0) {
            killer_wait();
            open_body(3);
            snprintf(s->dir, sizeof s->dir, "%s", t.dir);
            explore(LONGEST_S);
            bench_close(&t);
            _exit(0);
        }
        assert_true(pid > 0);
        if (!killer_run(&k, pid)) {
            print_message("nobody may be traced here\n");
            place_remove(NULL);
            break;
        }
        place_remove(s->dir);
        calls = at == 0 ? k.calls : calls;
        open_body(3);
        assert_string_equal(explore(LONGEST_S).result, "done 0");
        assert_int_equal(bumps(), 0);
        check_map("after a kill");
        close_place();
        killed += at > 0;
    }
    print_message("killed at %ld of %ld writing calls\n", killed, calls);
    munmap(s, sizeof *s);
}

static bool lacks_nothing(void *self, char ret_why[PONS_OUTSIDE_TEXT_MAX])
{
    (void)self;
    (void)ret_why;
    return false;
}

static bool at_the_origin(void *self, pons_robot_place *ret)
{
    (void)self;
    *ret = (pons_robot_place){.known = true};
    return true;
}

// Two would say where it is.
static void test_a_robot_that_localises_itself(void **state)
{
    (void)state;
    static const pons_robot_outside_ops outside = {.lacks = lacks_nothing, .place = at_the_origin};
    if (!slam) {
        skip();
    }
    open_place(PLACE_SMALL);
    pons_robot_ops robot = pons_robot_kinematic;
    robot.outside = &outside;
    pons_body_options opts = t.opts;
    opts.robot = &robot;
    opts.ledger_path = opts.sim_state_path = NULL;
    pons_body *body = NULL;
    pons_error err = PONS_ERROR_INIT;
    assert_int_equal(pons_body_create(&opts, &body, &err), PONS_EINVAL);
    assert_non_null(strstr(err.message, "localises itself"));
    close_place();
}

// Where the world's bounds end, half a room from the start.
static void test_beyond_the_bounds(void **state)
{
    (void)state;
    if (!slam) {
        skip();
    }
    place_write(PLACE_SMALL);
    size_t n = 0;
    char *world = pons_file_text(in_place("new.yaml"), 4096, &n), *at = strstr(world, "bounds: [");
    assert_non_null(at);
    assert_true(strcspn(at, "\n") >= strlen("bounds: [-1,-1,1,1]"));
    memset(at, ' ', strcspn(at, "\n"));
    memcpy(at, "bounds: [-1,-1,1,1]", strlen("bounds: [-1,-1,1,1]"));
    assert_int_equal(pons_file_replace(in_place("new.yaml"), world, n, 0600), 0);
    free(world);
    open_body(5);
    char id[32];
    snprintf(id, sizeof id, "%s", bench_goal(&t, NULL, "explore", "{}"));
    assert_string_equal(bench_until_result(&t, id, 120.0), "done 0");
    assert_string_equal(pons_get_str(pons_get(t.results, id), "error_msg", ""),
                        "the place goes on beyond the world's bounds");
    close_place();
}

// A pose graph that somebody has damaged is not driven with, nor written over.
static void test_damaged_graph(void **state)
{
    (void)state;
    static const char damaged[] = "VERTEX_SE2 0 0 0 0\nROBOTLASER1 0 -3.14 6.28\n";
    if (!slam) {
        skip();
    }
    open_place(PLACE_SMALL);
    assert_int_equal(pons_file_replace(in_place("new.map.g2o"), damaged, strlen(damaged), 0600), 0);
    assert_string_equal(explore(20.0).result, "failed 9910");
    size_t n = 0;
    char *text = pons_file_text(in_place("new.map.g2o"), 4096, &n);
    assert_string_equal(text, damaged);
    free(text);
    close_place();
}

static void carry(double x, double y, double yaw)
{
    pons_value *saved = NULL;
    assert_int_equal(t.body->robot->save(t.body->self, &saved, NULL), PONS_OK);
    json_object_set_new(saved, "pose", json_pack("{s:f,s:f,s:f}", "x", x, "y", y, "yaw", yaw));
    assert_int_equal(t.body->robot->restore(t.body->self, saved, NULL), PONS_OK);
    pons_value_unref(saved);
}

// Half of it is in the map when it is switched off. It is switched on elsewhere, finds itself, and makes the rest.
static void test_extended_from_elsewhere(void **state)
{
    (void)state;
    if (!slam) {
        skip();
    }
    open_place(PLACE_SMALL);
    explore(4.0);
    bench_close(&t);
    open_body(4);
    assert_true(judge().known < 0.9);
    carry(2.0, 2.4, -2.0);
    bench_step(&t, 30.0);
    assert_string_equal(explore(LONGEST_S).result, "done 0");
    check_map("extended");
    close_place();
}

static void test_a_person_walks_about(void **state)
{
    (void)state;
    if (!slam) {
        skip();
    }
    open_place(PLACE_SMALL);
    char id[32];
    snprintf(id, sizeof id, "%s", bench_goal(&t, NULL, "explore", "{}"));
    for (int i = 0; i < 20 * 300 && !pons_get(t.results, id); i++) {
        const double s = 0.05 * i, x = 1.8 + 0.9 * sin(0.4 * s), y = 2.4 + 0.6 * cos(0.3 * s);
        const pons_pose2 at = truth();
        pons_autovalue person =
            pons_object("id", json_string("person"), "x", json_real(x), "y", json_real(y), "sx",
                        json_real(0.3), "sy", json_real(0.3), "height", json_real(1.7), NULL);
        if (i % 4 == 0 &&
            hypot(at.x - x, at.y - y) > 0.8) { // who sees a robot does not walk into it
            assert_int_equal(t.body->robot->spawn(t.body->self, person, NULL), PONS_OK);
        }
        bench_step(&t, 0.05);
    }
    assert_string_equal(bench_until_result(&t, id, 0.01), "done 0");
    assert_int_equal(bumps(), 0);
    check_map("with a person");
    close_place();
}

// A glass screen between the robot and the door blocks the way, and the lidar sees through it (the simulated lidar sees
// nothing that is lower than itself).
static const pons_box2 screen = {1.25, 2.8, 0.0, 2.4, 0.04};

static void put_screen(void)
{
    pons_autovalue glass = pons_object("id", json_string("glass"), "x", json_real(screen.x), "y",
                                       json_real(screen.y), "sx", json_real(screen.sx), "sy",
                                       json_real(screen.sy), "height", json_real(0.1), NULL);
    assert_int_equal(t.body->robot->spawn(t.body->self, glass, NULL), PONS_OK);
}

// A person has drawn a keep-out area there: the robot touches nothing, and drives round it.
static void test_glass_in_a_keep_out_area(void **state)
{
    (void)state;
    if (!slam) {
        skip();
    }
    place_write(PLACE_SMALL);
    const pons_pose2 start = {1.5, 1.6, 0.3}; // in the place; the origin of the new map's frame
    FILE *f = fopen(in_place("new.yaml"), "ae");
    assert_non_null(f);
    fputs("keep_out:\n  - id: glass\n    polygon:\n", f);
    for (int i = 0; i < 4; i++) {
        const double dx = i == 0 || i == 3 ? -0.5 : 0.5, dy = i < 2 ? -0.5 : 0.5;
        const pons_pose2 corner = {screen.x + dx * screen.sx, screen.y + dy * (screen.sy + 0.06),
                                   0.0};
        const pons_pose2 p = pons_pose_between(start, corner);
        fprintf(f, "      - [%.3f, %.3f]\n", p.x, p.y);
    }
    fclose(f);
    open_body(3);
    put_screen();
    assert_string_equal(explore(LONGEST_S).result, "done 0");
    assert_int_equal(bumps(), 0);
    check_map("beside glass");
    close_place();
}

// Without a keep-out area the robot stops where it touches the glass, and looks for another way. The map is still complete.
static void test_glass_that_nobody_has_drawn(void **state)
{
    (void)state;
    if (!slam) {
        skip();
    }
    open_place(PLACE_SMALL);
    put_screen();
    assert_string_equal(explore(LONGEST_S).result, "done 0");
    assert_true(bumps() > 0);
    check_map("beside glass");
    close_place();
}

// Somebody puts a chest where the robot began: it cannot come back, but the map is on the disk.
static void test_no_way_home(void **state)
{
    (void)state;
    if (!slam) {
        skip();
    }
    open_place(PLACE_SMALL);
    const pons_pose2 from = truth();
    char id[32];
    snprintf(id, sizeof id, "%s", bench_goal(&t, NULL, "explore", "{}"));
    for (int i = 0; i < 20 * 60 && bench_truth_to(&t, from.x, from.y) < 2.0; i++) {
        bench_step(&t, 0.05);
    }
    pons_autovalue chest =
        pons_object("id", json_string("chest"), "x", json_real(from.x), "y", json_real(from.y),
                    "sx", json_real(1.0), "sy", json_real(1.0), "height", json_real(1.7), NULL);
    assert_int_equal(t.body->robot->spawn(t.body->self, chest, NULL), PONS_OK);
    assert_memory_equal(bench_until_result(&t, id, LONGEST_S), "failed", 6);
    assert_non_null(strstr(pons_get_str(pons_get(t.results, id), "error_msg", ""),
                           "the map is saved, but the robot has not come back"));
    assert_int_equal(pons__mapper_state_of(t.body->mapper), PONS__MAPPER_IDLE);
    close_place();
}

static void test_stopped_and_gone_on(void **state)
{
    (void)state;
    if (!slam) {
        skip();
    }
    open_place(PLACE_SMALL);
    char id[32];
    snprintf(id, sizeof id, "%s", bench_goal(&t, NULL, "explore", "{}"));
    bench_step(&t, 6.0);
    pons_body_stop(t.body, "a person");
    assert_string_equal(bench_until_result(&t, id, 5.0), "failed 9902");
    bench_step(&t, 0.7); // it brakes
    const pons_pose2 at = truth();
    bench_step(&t, 5.0);
    assert_true(bench_truth_to(&t, at.x, at.y) < 0.01);
    bench_send(&t, pons_object("type", json_string("reset"), NULL));
    bench_step(&t, 1.0);
    assert_string_equal(explore(LONGEST_S).result, "done 0");
    check_map("after a stop");
    close_place();
}

// Published maps: each line of $PONS_NAV2_MAPS/places.txt is `file x y`.
static void test_published_maps(void **state)
{
    (void)state;
    const char *maps = getenv("PONS_NAV2_MAPS");
    char path[512], name[128], line[512];
    double x, y;
    if (!slam || !maps) {
        skip();
    }
    snprintf(path, sizeof path, "%s/places.txt", maps);
    FILE *list = fopen(path, "r");
    assert_non_null(list);
    for (int i = 100;
         fgets(line, sizeof line, list) && sscanf(line, "%127s %lf %lf", name, &x, &y) == 3; i++) {
        place_write_of_map(maps, name, (pons_pose2){x, y, 0.0});
        open_body(i);
        check_explored(i);
        close_place();
    }
    fclose(list);
}

int main(void)
{
    const void *ops = NULL;
    if (pons_module_load("slam", "mrpt", &ops, NULL) == PONS_OK) {
        slam = ops;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_places),
        cmocka_unit_test(test_then_an_ordinary_day),
        cmocka_unit_test(test_a_robot_that_localises_itself),
        cmocka_unit_test(test_beyond_the_bounds),
        cmocka_unit_test(test_damaged_graph),
        cmocka_unit_test(test_killed),
        cmocka_unit_test(test_extended_from_elsewhere),
        cmocka_unit_test(test_a_person_walks_about),
        cmocka_unit_test(test_glass_in_a_keep_out_area),
        cmocka_unit_test(test_glass_that_nobody_has_drawn),
        cmocka_unit_test(test_no_way_home),
        cmocka_unit_test(test_stopped_and_gone_on),
        cmocka_unit_test(test_published_maps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
