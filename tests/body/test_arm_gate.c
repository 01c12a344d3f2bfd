// test_arm_gate.c - the arm's gate, by numbers: whatever is wished, the joints keep their speeds,
// accelerations and ends, the links keep off the table and off each other, and the tool in its box.
//
// The arm is a perfect one here, which moves as it is told: q += v·dt.
#include "body/safety/arm_gate.h"
#include "pons/random.h"
#include "unit.h"

#include <math.h>
#include <string.h>

#define DT 0.01

static pons_arm *arm;
static const double HOME[] = {0, -M_PI_4, 0, -3 * M_PI_4, 0, M_PI_2, M_PI_4};

static int load(void **unused)
{
    (void)unused;
    return pons_arm_load(PONS_SOURCE_DIR "/worlds/arm7.urdf", "link0", "tool", &arm, NULL);
}

static int unload(void **unused)
{
    (void)unused;
    pons_arm_destroy(arm);
    return 0;
}

static void open_gate(pons__arm_gate *g)
{
    const pons__arm_params p = {.model = arm,
                                .accel = 5.0,
                                .brake = 10.0,
                                .speed_share = 0.8,
                                .effort_share = 0.9,
                                .effort_s = 0.3,
                                .margin_m = 0.004,
                                .react_s = 0.03,
                                .boxes = {{0.6, 0, -0.2, 0, {0.45, 0.7, 0.2}}},
                                .n_boxes = 1,
                                .floor = -0.4,
                                .workspace_min = {-0.3, -0.75, 0.0},
                                .workspace_max = {0.85, 0.75, 1.0}};
    pons__arm_gate_init(g, &p);
}

static pons_robot_arm_state state_of(const double *q)
{
    pons_robot_arm_state s = {.n = arm->n, .width_m = 0.08};
    memcpy(s.q, q, (size_t)arm->n * sizeof *q);
    return s;
}

static void test_random_wishes(void **unused)
{
    (void)unused;
    const uint64_t seed = 23;
    pons__arm_gate g;
    pons_rand r;
    pons_rand_seed(&r, seed);
    double nearest = INFINITY;
    for (int life = 0; life < 20; life++) {
        double q[PONS_ARM_JOINTS] = {0}, want[PONS_ARM_JOINTS] = {0}, last[PONS_ARM_JOINTS] = {0};
        memcpy(q, HOME, sizeof HOME);
        open_gate(&g);
        for (int k = 0; k < 1000; k++) {
            if (k % 40 == 0) {
                for (int i = 0; i < arm->n; i++) {
                    want[i] = 20.0 * (pons_rand_unit(&r) - 0.5);
                }
            }
            const pons_robot_arm_state s = state_of(q);
            double v[PONS_ARM_JOINTS];
            pons__arm_gate_step(&g, PONS__ARM_CLEAR, want, &s, DT, v);
            for (int i = 0; i < arm->n; i++) {
                assert_true(fabs(v[i]) <= 0.8 * pons_arm_joint_of(arm, i)->speed_max + 1e-9);
                assert_true(fabs(v[i]) <= fabs(last[i]) + 5.0 * DT + 1e-9); // rises slowly
                q[i] += v[i] * DT;
                last[i] = v[i];
            }
            assert_true(pons_arm_within(arm, q, 0.0));
            const pons_arm_room room = {.boxes = g.p.boxes, .n = 1, .floor = -0.4, .others = 0.04};
            nearest = fmin(nearest, pons_arm_clearance(arm, q, &room, NULL));
            pons_pose3 tool;
            pons_arm_forward(arm, q, &tool);
            for (int i = 0; i < 3; i++) {
                if (tool.p[i] < g.p.workspace_min[i] - 0.01 ||
                    tool.p[i] > g.p.workspace_max[i] + 0.01) {
                    fail_msg("life %d step %d: the tool is at %g on axis %d (%s)", life, k,
                             tool.p[i], i, pons__arm_zone_word(g.status.zone));
                }
            }
        }
    }
    print_message("seed %d: never nearer than %.4f m\n", (int)seed, nearest);
    assert_true(nearest > 0.0);
}

static void test_what_forbids_motion(void **unused)
{
    (void)unused;
    const double want[PONS_ARM_JOINTS] = {0.5, 0, 0, 0, 0, 0, 0}, none[PONS_ARM_JOINTS] = {NAN};
    const pons_robot_arm_state s = state_of(HOME);
    pons__arm_gate g;
    double v[PONS_ARM_JOINTS];
    open_gate(&g);
    for (int i = 0; i < 20; i++) {
        pons__arm_gate_step(&g, PONS__ARM_CLEAR, want, &s, DT, v);
    }
    assert_true(fabs(v[0] - 0.5) < 1e-9);
    pons__arm_gate_step(&g, PONS__ARM_HELD, want, &s, DT, v); // braked
    assert_true(fabs(v[0] - 0.4) < 1e-9);
    assert_int_equal(g.status.zone, PONS__ARM_HELD);
    pons__arm_gate_step(&g, PONS__ARM_LATCHED, want, &s, DT, v); // at once
    assert_true(v[0] == 0.0);
    pons__arm_gate_step(&g, PONS__ARM_CLEAR, none, &s, DT, v);
    assert_true(v[0] == 0.0);
}

static void test_gives_way(void **unused)
{
    (void)unused;
    const double want[PONS_ARM_JOINTS] = {0.5};
    pons_robot_arm_state s = state_of(HOME);
    pons__arm_gate g;
    double v[PONS_ARM_JOINTS];
    open_gate(&g);
    s.effort[0] = 85.0;
    for (int i = 0; i < 29; i++) {
        pons__arm_gate_step(&g, PONS__ARM_CLEAR, want, &s, DT, v);
        assert_true(v[0] >= 0.0);
    }
    for (int i = 0; i < 5; i++) {
        pons__arm_gate_step(&g, PONS__ARM_CLEAR, want, &s, DT, v);
    }
    assert_int_equal(g.status.zone, PONS__ARM_FORCE);
    assert_true(v[0] < 0.0 && v[1] == 0.0);
    s.effort[0] = 20.0;
    pons__arm_gate_step(&g, PONS__ARM_CLEAR, want, &s, DT, v);
    pons__arm_gate_step(&g, PONS__ARM_CLEAR, want, &s, DT, v);
    assert_true(v[0] >= -0.25 + 5.0 * DT - 1e-9);
    s.effort[0] = 85.0; // latched: not even that
    for (int i = 0; i < 40; i++) {
        pons__arm_gate_step(&g, PONS__ARM_LATCHED, want, &s, DT, v);
    }
    assert_true(v[0] == 0.0);
}

// Who stands in the table already gets out of it, and no deeper.
static void test_way_out(void **unused)
{
    (void)unused;
    pons_arm_ik_options o = PONS_ARM_IK_OPTIONS_INIT;
    const pons_pose3 low = pons_pose3_of(0.5, 0, 0.005, M_PI, 0, 0); // the tips are in it
    pons_pose3 high = low;
    double q[PONS_ARM_JOINTS], up[PONS_ARM_JOINTS], want[PONS_ARM_JOINTS], v[PONS_ARM_JOINTS];
    high.p[2] = 0.1;
    assert_int_equal(pons_arm_inverse(arm, &low, HOME, &o, q, NULL), PONS_OK);
    assert_int_equal(pons_arm_inverse(arm, &high, q, &o, up, NULL), PONS_OK);
    const pons_robot_arm_state s = state_of(q);
    pons__arm_gate g;
    for (int way = -1; way <= 1; way += 2) {
        open_gate(&g);
        for (int i = 0; i < arm->n; i++) {
            want[i] = way * (up[i] - q[i]);
        }
        for (int i = 0; i < 20; i++) {
            pons__arm_gate_step(&g, PONS__ARM_CLEAR, want, &s, DT, v);
        }
        double most = 0.0;
        for (int i = 0; i < arm->n; i++) {
            most = fmax(most, fabs(v[i]));
        }
        assert_true(way > 0 ? most > 0.05 : most < 1e-9);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_wishes),
        cmocka_unit_test(test_what_forbids_motion),
        cmocka_unit_test(test_gives_way),
        cmocka_unit_test(test_way_out),
    };
    return cmocka_run_group_tests(tests, load, unload);
}
