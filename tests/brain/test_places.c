// test_places.c - a place that a person names where the robot stands: it is gone to by that name, after a death and in
// another run too, in that world only; and named only where the robot is sure, stands still, and the name is free.
#include "brain_bench.h"
#include "pons/brain_places.h"
#include "unit.h"

#include <math.h>
#include <string.h>

#define NS   "test.places"
#define SOON 3.0

static void make_ready(bench *b)
{
    b->places = NS;
    b->keep_running = true;
    b->x = 3.25;
    b->y = 1.75;
    bench_brain(b);
    bench_run(b, 1.0);
}

static void ready(bench *b)
{
    bench_open(b, NULL);
    make_ready(b);
}

static size_t kept(bench *b)
{
    pons_error err = PONS_ERROR_INIT;
    pons_autovalue all = NULL;
    const pons_items it = {.store = b->memory, .clock = b->clock};
    pons_items_search(&it, &(pons_items_query){.prefix = NS, .limit = -1}, &all, &err);
    return json_array_size(all);
}

static void goes_there(bench *b, const char *text)
{
    b->x = b->y = 8.0;
    const int before = bench_starts(b, "navigate_to_pose");
    bench_say(b, text);
    bench_await(b, "task.done", "status", "succeeded", 20.0);
    assert_int_equal(bench_starts(b, "navigate_to_pose"), before + 1);
    const pons_value *pose = pons_get(bench_newest(b, "navigate_to_pose")->args, "pose");
    assert_true(fabs(pons_get_num(pose, "x", 0.0) - 3.25) < 1e-6);
    assert_true(fabs(pons_get_num(pose, "y", 0.0) - 1.75) < 1e-6);
}

static void named_and_gone_to(void **state)
{
    (void)state;
    static const char *const rows[][3] = {
        {"记住这里叫窗边", "去窗边", "忘记地点窗边"},
        {"remember this place as corner", "go to the corner", "forget the place corner"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        bench b;
        ready(&b);
        bench_say(&b, rows[i][0]);
        bench_await(&b, "place.kept", NULL, NULL, SOON);
        goes_there(&b, rows[i][1]);
        bench_kill(&b);
        bench_brain(&b);
        goes_there(&b, rows[i][1]);
        bench_say(&b, rows[i][2]);
        bench_await(&b, "place.forgotten", NULL, NULL, SOON);
        assert_int_equal(kept(&b), 0);
        bench_say(&b, rows[i][1]);
        bench_await(&b, "task.done", "status", "failed", SOON); // nobody knows it any more
        bench_close(&b);
    }
}

static void named_anew(void **state)
{
    (void)state;
    bench b;
    ready(&b);
    b.x = 9.0;
    bench_run(&b, 1.0);
    bench_say(&b, "记住这里叫窗边");
    bench_await(&b, "place.kept", NULL, NULL, SOON);
    b.x = 3.25;
    bench_run(&b, 1.0);
    bench_say(&b, "记住这里叫窗边");
    bench_await(&b, "place.kept", NULL, NULL, SOON);
    assert_int_equal(kept(&b), 1);
    goes_there(&b, "去窗边");
    bench_close(&b);
}

// However it is spelled, it is one place: the second saying moves it.
static void spelled_otherwise(void **state)
{
    (void)state;
    bench b;
    ready(&b);
    b.x = 9.0;
    bench_run(&b, 1.0);
    bench_say(&b, "remember this place as the corner");
    bench_await(&b, "place.kept", NULL, NULL, SOON);
    b.x = 3.25;
    bench_run(&b, 1.0);
    bench_say(&b, "remember this place as Corner");
    const pons_value *p = bench_await(&b, "place.kept", NULL, NULL, SOON);
    assert_string_equal(pons_get_str(pons_get(p, "place"), "name", ""), "the corner");
    assert_int_equal(kept(&b), 1);
    goes_there(&b, "go to the corner");
    goes_there(&b, "go to Corner");
    bench_say(&b, "forget the place CORNER");
    bench_await(&b, "place.forgotten", NULL, NULL, SOON);
    assert_int_equal(kept(&b), 0);
    bench_close(&b);
}

// A name that another world has is kept there, too.
static void one_name_in_two_worlds(void **state)
{
    (void)state;
    pons_error err = PONS_ERROR_INIT;
    bench b;
    ready(&b);
    const pons_items it = {.store = b.memory, .clock = b.clock};
    pons_autovalue far =
        json_pack("{s:s,s:s,s:f,s:f}", "name", "窗边", "world", "other", "x", 1.0, "y", 1.0);
    assert_int_equal(pons_items_put(&it, NS, "窗边", far, NULL, &err), PONS_OK);
    for (int i = 0; i < 2; i++) { // once, and moved
        bench_say(&b, "记住这里叫窗边");
        bench_await(&b, "place.kept", NULL, NULL, SOON);
        assert_int_equal(kept(&b), 2);
    }
    goes_there(&b, "去窗边");
    bench_say(&b, "忘记地点窗边");
    bench_await(&b, "place.forgotten", NULL, NULL, SOON);
    pons_autovalue left = NULL;
    assert_int_equal(kept(&b), 1);
    assert_int_equal(pons_items_get(&it, NS, "窗边", &left, &err), PONS_OK);
    assert_string_equal(pons_get_str(pons_get(left, "value"), "world", ""), "other");
    bench_close(&b);
}

static void refused(void **state)
{
    (void)state;
    static const char *const texts[] = {"记住这里叫厨房",
                                        "remember this place as kitchen",
                                        "记住这里叫停",
                                        "remember this place as yes",
                                        "remember this place as slower",
                                        "记住这里叫慢一点",
                                        "remember this place as the apple",
                                        "forget the place corner",
                                        "call this place go to the kitchen",
                                        "记住这里叫去厨房",
                                        "remember this place as den\x1b[2J",
                                        "记住这里"};
    bench b;
    bench_open(&b, NULL);
    b.objects = json_pack("[{s:s,s:[s]}]", "id", "apple", "names", "apple");
    make_ready(&b);
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        bench_say(&b, texts[i]);
        const pons_value *p = bench_await(&b, "place.refused", NULL, NULL, SOON);
        assert_string_not_equal(pons_get_str(p, "reason", ""), "");
    }
    b.astray = true; // the scans contradict where it says it is
    bench_run(&b, 1.0);
    bench_say(&b, "记住这里叫窗边");
    const pons_value *p = bench_await(&b, "place.refused", "name", "窗边", SOON);
    assert_non_null(strstr(pons_get_str(p, "reason", ""), "not sure"));
    b.astray = false;
    bench_post(&b, "wish", "{'text':'记住这里叫窗边'}"); // a model's words name nothing
    bench_run(&b, SOON);
    assert_int_equal(kept(&b), 0);
    bench_close(&b);
}

// A patrol of all zones leaves it out, and one that names it goes there, too.
static void patrolled(void **state)
{
    (void)state;
    bench b;
    ready(&b);
    b.base_ms = 500;
    bench_say(&b, "remember this place as the corner");
    bench_await(&b, "place.kept", NULL, NULL, SOON);
    bench_say(&b, "patrol");
    bench_await(&b, "task.done", "status", "succeeded", 60.0);
    bench_say(&b, "patrol everywhere");
    bench_await(&b, "task.done", "status", "succeeded", 60.0);
    goes_there(&b, "patrol the corner");
    bench_close(&b);
}

static int asked(const bench *b, const char *type)
{
    int n = 0;
    pons_each(msg, b->got) {
        n += strcmp(pons_get_str(msg, "type", ""), type) == 0;
    }
    return n;
}

// The charger is written into the world's file and sent to the body. The robot can charge there at once, without a restart.
static void its_own_place(void **state)
{
    (void)state;
    static const char *const texts[] = {"this is your place", "这是你的充电座。"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        bench b;
        bench_open(&b, NULL);
        b.lacks = "dock_to_charger";
        b.std_m = 0.03;
        make_ready(&b);
        bench_say(&b, "charge");
        bench_await(&b, "task.done", "status", "aborted", SOON);
        bench_say(&b, "go to the kitchen");
        bench_run(&b, 1.0);
        assert_int_equal(bench_starts(&b, "navigate_to_pose"), 1);
        bench_say(&b, texts[i]);
        const pons_value *p = bench_await(&b, "charger.kept", NULL, NULL, SOON);
        assert_true(pons_get_num(p, "x", 0.0) == 3.25 && pons_get_num(p, "std_m", 0.0) == 0.03);
        bench_await(&b, "task.done", "status", "succeeded", 20.0);
        assert_int_equal(bench_starts(&b, "navigate_to_pose"), 1);
        assert_int_equal(asked(&b, "status"), 0); // effects in flight are not asked about again
        assert_true(json_equal(pons_get(b.told, "charger"), b.charger));
        assert_null(pons_get(b.told, "zones")); // they stay
        assert_int_equal(kept(&b), 0);
        bench_say(&b, "charge");
        bench_run(&b, 2.0);
        assert_int_equal(bench_starts(&b, "dock_to_charger"), 1);
        bench_close(&b);
    }
}

// A room without a name gets it. A second name, or "this place", names the place.
static void a_room(void **state)
{
    (void)state;
    bench b;
    ready(&b);
    b.in_room = true;
    bench_say(&b, "remember this place as the corner");
    bench_await(&b, "place.kept", NULL, NULL, SOON);
    assert_null(b.told);
    bench_say(&b, "this is the pantry");
    bench_await(&b, "room.named", "name", "pantry", SOON);
    bench_run(&b, 0.5);
    const pons_value *zone = json_array_get(pons_get(b.told, "zones"), 0);
    assert_string_equal(pons_get_str(zone, "id", ""), "room_1");
    assert_null(pons_get(b.told, "charger"));
    assert_int_equal(kept(&b), 1);
    bench_say(&b, "this is the tea table");
    bench_await(&b, "place.kept", NULL, NULL, SOON);
    assert_int_equal(kept(&b), 2);
    bench_close(&b);
}

static void its_own_place_refused(void **state)
{
    (void)state;
    static const char *const whys[] = {"ships", "is 0.40 m", "not sure"};
    bench b;
    ready(&b);
    for (size_t i = 0; i < sizeof whys / sizeof whys[0]; i++) {
        b.no_world_file = i == 0;
        b.std_m = i == 1 ? 0.4 : 0.02;
        b.astray = i == 2;
        bench_run(&b, 1.0);
        bench_say(&b, "this is your charger");
        const pons_value *p = bench_await(&b, "place.refused", NULL, NULL, SOON);
        assert_non_null(strstr(pons_get_str(p, "reason", ""), whys[i]));
    }
    b.astray = false;
    bench_run(&b, 1.0);
    bench_post(&b, "wish", "{'text':'this is your place'}"); // a model's words
    bench_run(&b, SOON);
    assert_null(b.charger);
    assert_null(b.told);
    bench_close(&b);
}

// One of another world is no place here, and what is no way to go there is said.
static void of_another_world(void **state)
{
    (void)state;
    pons_error err = PONS_ERROR_INIT;
    bench b;
    ready(&b);
    const pons_items it = {.store = b.memory, .clock = b.clock};
    pons_autovalue far =
        json_pack("{s:s,s:s,s:f,s:f}", "name", "窗边", "world", "other", "x", 1.0, "y", 1.0);
    assert_int_equal(pons_items_put(&it, NS, "窗边", far, NULL, &err), PONS_OK);
    bench_say(&b, "去窗边");
    bench_await(&b, "task.done", "status", "failed", SOON);
    bench_say(&b, "记住这里叫窗边");
    bench_await(&b, "place.kept", NULL, NULL, SOON);
    bench_say(&b, "把苹果拿到窗边");
    bench_await(&b, "task.done", "status", "failed", SOON);
    goes_there(&b, "去窗边");
    bench_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(named_and_gone_to),
        cmocka_unit_test(named_anew),
        cmocka_unit_test(spelled_otherwise),
        cmocka_unit_test(one_name_in_two_worlds),
        cmocka_unit_test(refused),
        cmocka_unit_test(patrolled),
        cmocka_unit_test(of_another_world),
        cmocka_unit_test(its_own_place),
        cmocka_unit_test(its_own_place_refused),
        cmocka_unit_test(a_room),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
