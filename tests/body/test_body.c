// What the body does as a whole, under the virtual clock with the kinematic robot in the house: it
// drives to zones, docks and charges, and keeps every rule of the goal protocol on the way. One
// thread, no waiting: a minute of robot time takes a fraction of a second.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "body_bench.h"

#define HOUSE PONS_SOURCE_DIR "/worlds/house.yaml"

static double truth_to(bench *t, double x, double y)
{
    pons_pose2 p;
    assert_int_equal(pons_body_truth(t->body, &p, NULL), PONS_OK);
    return hypot(p.x - x, p.y - y);
}

static void it_drives_to_a_zone(void **state)
{
    (void)state;
    bench t;
    bench_open(&t, HOUSE);
    bench_hello(&t);
    const char *id = bench_goal(&t, NULL, "navigate_to_pose", "{\"zone\":\"kitchen\"}");
    assert_string_equal(bench_until_result(&t, id, 120.0), "done 0");
    assert_true(truth_to(&t, 6.7, 6.4) < 0.25);
    bench_close(&t);
}

int main(void)
{
    pons_value_init();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_drives_to_a_zone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
