// test_wall_clock.c - the machine's clock is set while the driver runs, by half a minute, forward and back, as a robot
// without a clock of its own has it when it finds a network: robot time goes on, and the stamps of the new clock count.
#include "drivers/ros2/senses.h"
#include "peer.h"
#include "pons/clock.h"
#include "ros2.h"
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static char ns[32];
static uint32_t domain;

// What the driver's reader does, for a wall's clock that is so far from the machine's own.
static void take(ros2_senses *s, int64_t shift_ns)
{
    const int64_t host_ns = peer_clock_ns(CLOCK_MONOTONIC);
    ros2_senses_wall(s, peer_clock_ns(CLOCK_REALTIME) - host_ns + shift_ns, host_ns);
    ros2_senses_take(s, host_ns);
}

static void test_the_clock_is_set(void **state)
{
    (void)state;
    static const int64_t shifts[] = {0, 30 * PONS_NS_PER_S, -30 * PONS_NS_PER_S};
    char yaml[512], workspace[64], why[PONS_OUTSIDE_TEXT_MAX], topic[64];
    ros2_config c = {.domain = 0};
    ros2_senses *s = NULL;
    ros2_node n = {.hashed = false}, robot = {.hashed = false};
    pons_error err = PONS_ERROR_INIT;
    snprintf(yaml, sizeof yaml, "namespace: %s\ndomain: %u\nnavigation: pons\n", ns, domain);
    peer_workspace(yaml, workspace);
    assert_int_equal(ros2_config_load(workspace, &c, &err), PONS_OK);
    peer_workspace_remove(workspace);
    assert_int_equal(ros2_node_open(&n, domain, &err), PONS_OK);
    assert_int_equal(ros2_node_open(&robot, domain, &err), PONS_OK);
    assert_int_equal(ros2_senses_open(&n, &c, &s, &err), PONS_OK);
    snprintf(topic, sizeof topic, "%s/odom", ns);
    const dds_entity_t odom =
        ros2_node_writer(&robot, "rt", topic, NULL, &nav_msgs_msg_dds__Odometry__desc,
                         (ros2_qos){.reliable = true, .depth = 10}, &err);
    assert_true(odom > 0);
    for (size_t i = 0; i < sizeof shifts / sizeof *shifts; i++) {
        uint64_t before, good, scans;
        const int64_t was = ros2_senses_now(s);
        take(s, shifts[i]);
        if (i > 0) {
            ros2_senses_lack(s, peer_clock_ns(CLOCK_MONOTONIC), why);
            assert_string_equal(why, "this machine's clock was set: the senses begin anew");
        }
        assert_true(ros2_senses_now(s) >= was && ros2_senses_now(s) - was < 60 * PONS_NS_PER_S);
        ros2_senses_good(s, &before, &scans);
        for (int k = 0; k < 20000; k++) {
            const int64_t t = peer_clock_ns(CLOCK_REALTIME) + shifts[i];
            nav_msgs_msg_dds__Odometry_ m = {
                .header = {{(int32_t)(t / PONS_NS_PER_S), (uint32_t)(t % PONS_NS_PER_S)},
                           (char *)"odom"},
                .child_frame_id = (char *)"base_link"};
            m.pose.pose.orientation.w = 1;
            assert_int_equal(dds_write(odom, &m), 0);
            take(s, shifts[i]);
            ros2_senses_good(s, &good, &scans);
            if (good > before) {
                break;
            }
            dds_sleepfor(DDS_MSECS(1));
        }
        assert_true(good > before);
        pons_robot_state at;
        ros2_senses_state(s, &at);
        assert_true(ros2_senses_now(s) - at.stamp_ns < 5 * PONS_NS_PER_S);
        assert_true(at.stamp_ns <= ros2_senses_now(s) + PONS_NS_PER_S);
    }
    ros2_senses_close(s);
    ros2_node_close(&robot);
    ros2_node_close(&n);
    ros2_config_fini(&c);
}

int main(void)
{
    setenv("PONS_SHARE", PONS_SOURCE_DIR, 1);
    peer_surroundings(ns, &domain);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_clock_is_set),
    };
    return cmocka_run_group_tests_name("drivers/ros2/wall_clock", tests, NULL, NULL);
}
