// test_slam.c - runs the conformance suite on the SLAM modules that pons ships.
#include "slam/conformance.h"
#include "unit.h"

#define CASE(promise)                                                                              \
    static void mrpt_##promise(void **state)                                                       \
    {                                                                                              \
        (void)state;                                                                               \
        slam_##promise(slam_ops("mrpt"));                                                          \
    }
CASE(refuses_configurations)
CASE(knows_nothing_at_first)
CASE(drives_a_round)
CASE(takes_odometry_where_scans_show_nothing)
CASE(keeps_its_way_free)
CASE(makes_the_same_map_again)
CASE(goes_on_from_elsewhere)
CASE(refuses_damaged_files)
CASE(takes_any_scan)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mrpt_refuses_configurations),
        cmocka_unit_test(mrpt_knows_nothing_at_first),
        cmocka_unit_test(mrpt_drives_a_round),
        cmocka_unit_test(mrpt_takes_odometry_where_scans_show_nothing),
        cmocka_unit_test(mrpt_keeps_its_way_free),
        cmocka_unit_test(mrpt_makes_the_same_map_again),
        cmocka_unit_test(mrpt_goes_on_from_elsewhere),
        cmocka_unit_test(mrpt_refuses_damaged_files),
        cmocka_unit_test(mrpt_takes_any_scan),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
