// test_robot_map.c - /map for a world whose map grows: the driver gives the maps that a robot's SLAM publishes, each with another
// size and origin. It refuses invalid maps, and says when nobody publishes any.
#include "../conformance.h"
#include "peer.h"
#include "pons/clock.h"
#include "ros2.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { LOOKS = 20000 }; // each of a millisecond or more

typedef struct both {
    void *driver;
    peer robot; // publishes its senses, in tests that need them
    ros2_node node;
    dds_entity_t writer;
    char ns[64], topic[96];
} both;

static void open_writer(both *b)
{
    static int nth;
    pons_error err = PONS_ERROR_INIT;
    *b = (both){.driver = NULL};
    snprintf(b->ns, sizeof b->ns, "%s/m%d", peer_ns, nth++);
    snprintf(b->topic, sizeof b->topic, "%s/map", b->ns);
    assert_int_equal(ros2_node_open(&b->node, peer_domain, &err), PONS_OK);
    b->writer =
        ros2_node_writer(&b->node, "rt", b->topic, NULL, &nav_msgs_msg_dds__OccupancyGrid__desc,
                         (ros2_qos){.reliable = true, .transient = true, .depth = 1}, &err);
    assert_true(b->writer > 0);
}

static void open_driver(both *b, bool walls, const char *more)
{
    char yaml[512];
    pons_error err = PONS_ERROR_INIT;
    pons_autovalue world = house_world();
    json_t *map = json_object_get(world, "map");
    json_object_set_new(map, "grows", json_true());
    if (walls) {
        peer_open(&b->robot, world, NULL, b->ns, peer_domain, false);
    } else {
        json_object_set_new(map, "boxes", json_array());
    }
    snprintf(yaml, sizeof yaml, "namespace: %s\ndomain: %u\nnavigation: pons\n%s", b->ns,
             peer_domain, more);
    if (peer_driver_open(yaml, world, NULL, &b->driver, &err) < 0) {
        fail_msg("%s [%s]", err.message, err.source);
    }
}

static void close_both(both *b)
{
    ros2->close(b->driver);
    if (b->robot.sim) {
        peer_close(&b->robot);
    }
    ros2_node_close(&b->node);
}

typedef struct grid {
    uint32_t w, h;
    pons_pose2 origin;
    int64_t stamp_ns; // wall clock
    const char *frame;
    int8_t *cells;
} grid;

static void say(both *b, const grid *g)
{
    nav_msgs_msg_dds__OccupancyGrid_ m = {
        .header = {{(int32_t)(g->stamp_ns / PONS_NS_PER_S),
                    (uint32_t)(g->stamp_ns % PONS_NS_PER_S)},
                   (char *)(g->frame ? g->frame : "map")},
        .info = {.resolution = 0.05F, .width = g->w, .height = g->h},
        .data = {._maximum = g->w * g->h, ._length = g->w * g->h, ._buffer = g->cells}};
    m.info.origin.position.x = g->origin.x;
    m.info.origin.position.y = g->origin.y;
    m.info.origin.orientation.z = sin(0.5 * g->origin.yaw);
    m.info.origin.orientation.w = cos(0.5 * g->origin.yaw);
    assert_int_equal(dds_write(b->writer, &m), 0);
}

// Waits for one that is newer than that.
static pons_robot_map newer(both *b, uint64_t seen)
{
    pons_robot_map m = {0};
    char why[PONS_OUTSIDE_TEXT_MAX];
    for (int i = 0; i < LOOKS; i++) {
        if (ros2->outside->map(b->driver, seen, &m, why)) {
            return m;
        }
        peer_wait(&b->robot);
    }
    fail_msg("no map has come: %s", why);
    return m;
}

static void is_given(both *b, uint64_t *seen, const grid *g)
{
    const pons_robot_map m = newer(b, *seen);
    assert_true(m.number != *seen && m.number != 0);
    *seen = m.number;
    assert_int_equal(m.w, g->w);
    assert_int_equal(m.h, g->h);
    assert_true(fabs(m.resolution_m - 0.05) < 1e-6);
    assert_true(fabs(m.origin.x - g->origin.x) < 1e-9 && fabs(m.origin.y - g->origin.y) < 1e-9 &&
                fabs(m.origin.yaw - g->origin.yaw) < 1e-9);
    assert_memory_equal(m.cells, g->cells, g->w * g->h);
    assert_true(m.stamp_ns <= ros2->time_ns(b->driver));
    free(m.cells);
}

static void is_not_given(both *b, uint64_t seen, const char *says)
{
    pons_robot_map m;
    char why[PONS_OUTSIDE_TEXT_MAX] = "";
    for (int i = 0; i < LOOKS; i++) {
        assert_false(ros2->outside->map(b->driver, seen, &m, why));
        if (strstr(why, says) && (*says || !*why)) {
            return;
        }
        peer_wait(&b->robot);
    }
    fail_msg("'%s', not '%s'", why, says);
}

static void lacks(both *b, const char *expected)
{
    peer_until_lacks(b->driver, expected, peer_wait, &b->robot);
}

// A map that was published before the driver started is given as well.
static void test_each_map_is_given_once(void **state)
{
    (void)state;
    static int8_t cells[60 * 40];
    both b;
    uint64_t seen = 0;
    const int64_t now = peer_clock_ns(CLOCK_REALTIME);
    for (size_t i = 0; i < sizeof cells; i++) {
        cells[i] = (int8_t)((int)(i % 102) - 1);
    }
    grid g = {.w = 40, .h = 30, .origin = {-1.0, 2.5, 0.0}, .stamp_ns = now, .cells = cells};
    open_writer(&b);
    say(&b, &g);
    open_driver(&b, false, "");
    is_given(&b, &seen, &g);
    is_not_given(&b, seen, "");
    const grid others[] = {
        {.w = 60, .h = 40, .origin = {-2.33, 1.1, 0.0}, .stamp_ns = now, .cells = cells},
        {.w = 1, .h = 1, .origin = {0, 0, 0.4}, .stamp_ns = 0, .cells = cells},
        {.w = 40,
         .h = 60,
         .origin = {7, -9, -3.0},
         .stamp_ns = now + 1000 * PONS_NS_PER_S,
         .cells = cells}};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        say(&b, &others[i]);
        is_given(&b, &seen, &others[i]);
    }
    // Stamps are robot time.
    g.stamp_ns = now - 5 * PONS_NS_PER_S;
    say(&b, &g);
    const pons_robot_map one = newer(&b, seen);
    g.stamp_ns = now - 3 * PONS_NS_PER_S;
    say(&b, &g);
    const pons_robot_map two = newer(&b, one.number);
    assert_true(llabs(two.stamp_ns - one.stamp_ns - 2 * PONS_NS_PER_S) < PONS_NS_PER_MS);
    free(one.cells);
    free(two.cells);
    close_both(&b);
}

static void test_nobody_publishes_it(void **state)
{
    (void)state;
    static int8_t cells[4];
    both b;
    char line[160];
    uint64_t seen = 0;
    const grid g = {.w = 2, .h = 2, .stamp_ns = peer_clock_ns(CLOCK_REALTIME), .cells = cells};
    open_writer(&b);
    snprintf(line, sizeof line, "%s: nobody publishes it", b.topic);
    open_driver(&b, false, "");
    say(&b, &g);
    is_given(&b, &seen, &g);
    dds_delete(b.writer);
    is_not_given(&b, seen, line);
    close_both(&b);
    open_writer(&b);
    open_driver(&b, false, "topics: {map: null}\n");
    is_not_given(&b, 0, "config/ros2.yaml has no topic for a map");
    close_both(&b);
}

// Draws the walls of a saved map on cells of the house; with `none`, all these cells are free.
static void draw_house(int8_t *cells, uint32_t w, uint32_t h, bool none)
{
    pons_autovalue world = house_world();
    memset(cells, 0, (size_t)w * h);
    pons_each(box, pons_get(pons_get(world, "map"), "boxes")) {
        const pons_box2 at = {pons_get_num(box, "x", 0), pons_get_num(box, "y", 0),
                              pons_get_num(box, "yaw", 0), pons_get_num(box, "sx", 0),
                              pons_get_num(box, "sy", 0)};
        for (uint32_t c = 0; c < w * h && !none; c++) {
            if (pons_box2_distance(&at, (c % w + 0.5) * 0.05, (c / w + 0.5) * 0.05) < 0.03) {
                cells[c] = 100;
            }
        }
    }
}

// A map that contradicts the saved map is not given. Once a map has agreed, its walls may move later.
static void test_what_is_no_map_of_this_place(void **state)
{
    (void)state;
    enum { W = 200, H = 160 };
    static int8_t house[W * H], empty[W * H];
    both b;
    uint64_t seen = 0;
    const grid right = {.w = W, .h = H, .cells = house}, wrong = {.w = W, .h = H, .cells = empty},
               framed = {.w = W, .h = H, .cells = house, .frame = "odom"};
    draw_house(house, W, H, false);
    draw_house(empty, W, H, true);
    open_writer(&b);
    open_driver(&b, true,
                "use_sim_time: true\n"
                "topics: {tf: tf, tf_static: tf_static, clock: clock}\n");
    lacks(&b, "");
    say(&b, &wrong);
    lacks(&b, "/map: it is of another place than the world");
    is_not_given(&b, 0, "/map: nothing has come yet");
    say(&b, &framed);
    lacks(&b, "/map: it is in the frame 'odom', not 'map'");
    is_not_given(&b, 0, "/map: nothing has come yet");
    say(&b, &right);
    is_given(&b, &seen, &right);
    lacks(&b, "");
    say(&b, &wrong);
    is_given(&b, &seen, &wrong);
    lacks(&b, "");
    close_both(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_map_is_given_once),
        cmocka_unit_test(test_nobody_publishes_it),
        cmocka_unit_test(test_what_is_no_map_of_this_place),
    };
    return cmocka_run_group_tests(tests, peer_group_open, peer_group_close);
}
