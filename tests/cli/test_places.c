// test_places.c - `pons places` as a person types it: a place that was named in one run is gone to in another, listed and
// forgotten, and what is none is one clear line.
#include "cli_bench.h"
#include "pons/body.h"
#include "unit.h"

#include <math.h>
#include <string.h>

static void named_gone_to_and_forgotten(void **state)
{
    (void)state;
    bench b;
    proc p = {0};
    bench_open(&b);
    bench_must_fail(&b, "run " FAST " 去窗边", 2, "没有叫“窗边”的地方");
    bench_start(&b, &p, NULL, "run --json --thread t " FAST " 记住这里叫窗边");
    bench_await(&p, "place.kept", NULL, NULL);
    bench_must_exit(&p, 0);
    bench_free(&p);
    bench_start(&b, &p, NULL, "run --json --thread u " FAST " 去厨房 去窗边");
    bench_await(&p, "run.done", "status", "succeeded");
    bench_must_exit(&p, 0);
    bench_free(&p);
    pons_autovalue place = NULL;
    assert_int_equal(bench_run_json(&b, "places --json", &place), 0);
    assert_string_equal(pons_get_str(place, "name", ""), "窗边");
    bench_must_fail(&b, "places forget 窗边 nothing", 2, "there is no 'nothing'"); // all or none
    assert_int_equal(bench_run(&b, "places forget 窗边"), 0);
    bench_must_fail(&b, "run " FAST " 去窗边", 2, "没有叫“窗边”的地方");
    bench_close(&b);
}

// The charger is written into the world's file. All other lines stay as a person wrote them.
static void its_own_place(void **state)
{
    (void)state;
    bench b;
    proc p = {0};
    pons_autovalue world = NULL;
    char path[160];
    bench_open(&b);
    assert_int_equal(bench_run(&b, "run " FAST " 'this is your place'"),
                     1); // pons ships that world
    bench_shell("mkdir -p %s/worlds && sed /mjcf/d %s/worlds/house.yaml >%s/worlds/mine.yaml && cp "
                "%s/worlds/mine.yaml %s/was",
                b.workspace, PONS_SOURCE_DIR, b.workspace, b.workspace, b.dir);
    bench_start(&b, &p, NULL, "run --json --world mine " FAST " 这里是你的充电座");
    bench_await(&p, "charger.kept", NULL, NULL);
    bench_must_exit(&p, 0);
    bench_free(&p);
    snprintf(path, sizeof path, "%s/worlds/mine.yaml", b.workspace);
    assert_int_equal(pons_world_load(path, &world, NULL), PONS_OK);
    const pons_value *charger = pons_get(world, "charger"), *pose = pons_get(charger, "pose");
    assert_true(fabs(pons_get_num(pose, "x", 0.0) - 2.0) < 0.1);
    assert_true(fabs(pons_get_num(pose, "y", 0.0) - 1.6) < 0.1);
    assert_true(pons_get_num(charger, "contact_m", 0.0) == 0.12);
    bench_shell("diff %s/was %s | grep -c '^[<>]' | grep -qx 4", b.dir, path); // 3 lines become 1
    bench_close(&b);
}

static void refused(void **state)
{
    (void)state;
    static const char *const rows[][2] = {
        {"run " FAST " 去厨房 记住这里叫窗边", "say it alone"},
        {"run " FAST " 记住这里", "say its name, too"},
        {"places forget", "needs a name"},
        {"places list all", "nothing more"},
        {"places forgt x", "did you mean 'forget'"},
        {"plases", "did you mean 'places'"},
    };
    bench b;
    bench_open(&b);
    assert_int_equal(bench_run(&b, "items put pons-places x {\"name\":\"x\"}"), 0);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        bench_must_fail(&b, rows[i][0], 2, rows[i][1]);
    }
    // What came to nothing is no success.
    assert_int_equal(bench_run(&b, "run " FAST " 记住这里叫厨房"), 1);
    assert_int_equal(bench_run(&b, "run " FAST " 'every 5 seconds go to the kitchen'"), 1);
    assert_int_equal(bench_run(&b, "run " FAST " faster"), 1);
    assert_int_equal(bench_run(&b, "run " FAST " faster 'wait 1 seconds'"), 0);
    bench_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(named_gone_to_and_forgotten, bench_teardown),
        cmocka_unit_test_teardown(its_own_place, bench_teardown),
        cmocka_unit_test_teardown(refused, bench_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
