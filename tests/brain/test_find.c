// test_find.c - what was seen is told without moving, and a thing is found: where it was seen last first, then zone by
// zone, each once, also after a death; it ends with where it is, or with where it was looked.
#include "brain_bench.h"
#include "pons/object_memory.h"
#include "unit.h"

#include <math.h>
#include <string.h>

#define NS   "test.objects"
#define SOON 3.0

static const char spin[] =
    "[{'name':'spin','interface_type':'internal','resources_required':['base'],"
    "'args_schema':{'type':'object'},'timeout_s':60.0,'error_map':{'default':'retry'}}]";

typedef struct scene {
    bench b;
    pons_value *words, *zones;
    pons_object_memory *memory;
    int64_t stamp;
} scene;

static void open_memory(scene *s)
{
    pons_error err = PONS_ERROR_INIT;
    pons_autovalue config = json_pack("{s{sf}s[O]}", "half_life_s", "default", 3600.0, "synonyms",
                                      json_array_get((json_t *)s->words, 0));
    const pons_object_memory_options o = {.items = {.store = s->b.memory, .clock = s->b.clock},
                                          .ns = NS,
                                          .config = config,
                                          .zones = s->zones};
    assert_int_equal(pons_object_memory_open(&o, &s->memory, &err), PONS_OK);
}

static void ready_for(scene *s, const char *model)
{
    memset(s, 0, sizeof *s);
    bench_open(&s->b, model);
    s->words = json_pack("[[ssss][ss]]", "cup", "mug", "杯子", "茶杯", "key", "钥匙");
    s->zones =
        json_pack("[{sss[[ii][ii][ii][ii]]}{sss[[ii][ii][ii][ii]]}]", "id", "kitchen", "polygon", 6,
                  6, 9, 6, 9, 9, 6, 9, "id", "bedroom", "polygon", 6, 1, 9, 1, 9, 4, 6, 4);
    s->b.seen = NS;
    s->b.seen_words = s->words;
    s->b.skills_more = spin;
    s->b.base_ms = 200;
    open_memory(s);
    bench_brain(&s->b);
    bench_run(&s->b, 1.0);
}

static void ready(scene *s)
{
    ready_for(s, NULL);
}

static void done(scene *s)
{
    pons_object_memory_close(s->memory);
    bench_close(&s->b);
    pons_value_unref(s->words);
    pons_value_unref(s->zones);
    pons_value_unref((pons_value *)(uintptr_t)s->b.map);
}

static void see_one(scene *s, const char *label, const char *identity, double x, double y)
{
    pons_error err = PONS_ERROR_INIT;
    const pons_detection d = {.label = label,
                              .identity = identity,
                              .score = 0.9,
                              .position = {x, y, 0.8},
                              .cov = {0.001, 0, 0.001, 0.001}};
    for (int i = 0; i < 3; i++) {
        pons_object_seen seen;
        const pons_object_view v = {.detector = "sim",
                                    .source = "sim eye boot",
                                    .stamp_ns = ++s->stamp,
                                    .at_ms = pons_wall_ms(&s->b.clock),
                                    .eye = {x - 1.0, y, 0.8},
                                    .fov_rad = 1.2,
                                    .far_m = 4.0,
                                    .miss = 0.2};
        assert_int_equal(pons_object_memory_put(s->memory, &v, &d, 1, &seen, &err), PONS_OK);
    }
    assert_int_equal(pons_object_memory_save(s->memory, true, &err), PONS_OK);
}

static void see(scene *s, const char *label, double x, double y)
{
    see_one(s, label, NULL, x, y);
}

// The robot stands where its newest way has led; a bench has no wheels.
static const char *go_on(scene *s, double seconds)
{
    static const struct {
        const char *zone;
        double x, y;
    } at[] = {{"kitchen", 7.5, 7.5}, {"living_room", 2.5, 2.5}, {"bedroom", 7.5, 2.5}};
    const char *zone = "";
    for (double t = 0.0; t < seconds; t += 0.1) {
        const bench_goal *way = bench_newest(&s->b, "navigate_to_pose");
        zone = way ? pons_get_str(way->args, "zone", "") : "";
        const pons_value *pose = way ? pons_get(way->args, "pose") : NULL;
        if (pose) { // at once
            s->b.x = pons_get_num(pose, "x", 0.0);
            s->b.y = pons_get_num(pose, "y", 0.0);
            s->b.yaw = pons_get_num(pose, "yaw", s->b.yaw);
        }
        for (size_t i = 0; i < sizeof at / sizeof at[0]; i++) {
            if (strcmp(zone, at[i].zone) == 0 && strcmp(way->state, "done") == 0) {
                s->b.x = at[i].x;
                s->b.y = at[i].y;
            }
        }
        bench_run(&s->b, 0.1);
    }
    return zone;
}

static void says(scene *s, const char *question, const char *answer)
{
    bench_say(&s->b, question);
    const pons_value *ended = bench_await(&s->b, "task.done", "status", "succeeded", SOON);
    assert_string_equal(pons_get_str(ended, "reason", ""), answer);
}

static void told_without_moving(void **state)
{
    (void)state;
    scene s;
    ready(&s);
    says(&s, "where is the cup", "I have not seen the cup.");
    says(&s, "钥匙在哪里", "我还没有看到过钥匙。");
    see(&s, "cup", 7.0, 7.0);
    says(&s, "where is the cup?", "I last saw the cup in the kitchen, just now.");
    s.b.time.wall_epoch_ms += 40 * 60 * 1000;
    s.b.latched = true; // and a stop does not keep it back
    bench_run(&s.b, 1.0);
    says(&s, "where is the mug", "I last saw the cup in the kitchen, 40 min ago.");
    says(&s, "杯子在哪", "我上次看到杯子是在厨房，40 分钟前。");
    s.b.time.wall_epoch_ms += (int64_t)5 * 3600 * 1000;
    bench_say(&s.b, "have you seen the cup");
    const char *faded =
        pons_get_str(bench_await(&s.b, "task.done", "status", "succeeded", SOON), "reason", "");
    assert_non_null(strstr(faded, "6 h ago. It may not be there any more ("));
    bench_say(&s.b, "where is the unicorn");
    bench_await(&s.b, "task.done", "status", "failed", SOON);
    assert_int_equal(bench_starts(&s.b, "navigate_to_pose") + bench_starts(&s.b, "speak"), 0);
    done(&s);
}

// Of two that are of one kind the one that is meant.
static void which_of_two(void **state)
{
    (void)state;
    scene s;
    ready(&s);
    s.b.objects = json_pack("[{ssssss s{s[s]s[s]}}{ssssss s{s[s]}}]", "id", "red_cup", "class",
                            "cup", "tag", "tag:7", "names", "en", "red cup", "zh", "红杯子", "id",
                            "blue_cup", "class", "cup", "tag", "tag:8", "names", "en", "blue cup");
    assert_non_null(s.b.objects);
    bench_drop(&s.b); // the next hello has them
    bench_run(&s.b, 2.0);
    see_one(&s, "cup", "tag:8", 7.0, 2.0);
    says(&s, "where is the red cup", "I have not seen the red cup.");
    see_one(&s, "cup", "tag:7", 7.0, 7.0);
    see_one(&s, "cup", "tag:8", 7.1, 2.0);
    says(&s, "where is the red cup", "I last saw the red cup in the kitchen, just now.");
    says(&s, "where is the blue cup", "I last saw the blue cup in the bedroom, just now.");
    says(&s, "红杯子在哪", "我上次看到红杯子是在厨房，就在刚才。");
    done(&s);
}

static void found_where_it_was(void **state)
{
    (void)state;
    scene s;
    ready(&s);
    see(&s, "cup", 7.0, 2.0); // in the bedroom; the living room, where it stands, is nearer
    s.b.time.wall_epoch_ms += 60 * 1000;
    bench_say(&s.b, "find the cup");
    assert_string_equal(go_on(&s, 0.3), "bedroom");
    see(&s, "cup", 7.1, 2.1);
    bench_await(&s.b, "task.done", "status", "succeeded", 5.0);
    assert_string_equal(pons_get_str(bench_newest(&s.b, "speak")->args, "text", ""),
                        "I found the cup: it is in the bedroom.");
    assert_int_equal(bench_starts(&s.b, "navigate_to_pose"), 1);
    done(&s);
}

static void not_found(void **state)
{
    (void)state;
    scene s;
    ready(&s);
    bench_say(&s.b, "find the key");
    go_on(&s, 30.0);
    const pons_value *ended = bench_await(&s.b, "task.done", "status", "aborted", SOON);
    assert_non_null(
        strstr(pons_get_str(ended, "reason", ""), "did not find key; looked in: living_room, "));
    assert_int_equal(bench_starts(&s.b, "look"), 3);
    assert_int_equal(bench_starts(&s.b, "spin"), 3);
    assert_int_equal(bench_starts(&s.b, "navigate_to_pose"), 2); // it stood in one of the three

    bench_say(&s.b, "在厨房里找钥匙"); // one zone is one zone
    go_on(&s, 15.0);
    const pons_value *zh = bench_await(&s.b, "task.done", "status", "aborted", SOON);
    assert_non_null(strstr(pons_get_str(zh, "reason", ""), "没有找到 key；看过的地方：kitchen"));
    assert_int_equal(bench_starts(&s.b, "look"), 4);
    done(&s);
}

// Asked whether it is there, no is an answer; and so is yes, said before the search is over.
static void yes_or_no(void **state)
{
    (void)state;
    scene s;
    ready(&s);
    bench_say(&s.b, "看看厨房有没有钥匙");
    go_on(&s, 15.0);
    bench_await(&s.b, "task.done", "status", "succeeded", SOON);
    assert_string_equal(pons_get_str(bench_newest(&s.b, "speak")->args, "text", ""),
                        "没有，我看过厨房，没看到钥匙。");
    s.b.base_ms = 8000;
    s.b.x = 2.5, s.b.y = 2.5;
    bench_say(&s.b, "check if there is a cup in the bedroom");
    go_on(&s, 2.0);
    see(&s, "cup", 7.0, 2.0); // through the door
    go_on(&s, 4.0);
    bench_await(&s.b, "task.done", "status", "succeeded", SOON);
    assert_string_equal(pons_get_str(bench_newest(&s.b, "speak")->args, "text", ""),
                        "Yes, I see the cup: it is in the bedroom.");
    assert_string_equal(bench_newest(&s.b, "navigate_to_pose")->state, "canceled");
    assert_int_equal(bench_starts(&s.b, "spin"), 1);
    done(&s);
}

static void said(scene *s, const char *wish, double s_max, const char *answer)
{
    bench_say(&s->b, wish);
    go_on(s, s_max);
    bench_await(&s->b, "task.done", "status", "succeeded", SOON);
    assert_string_equal(pons_get_str(bench_newest(&s->b, "speak")->args, "text", ""), answer);
}

// What was seen while it looked is said, and is in the skill's end for programs and models.
static void what_it_sees(void **state)
{
    (void)state;
    scene s;
    ready(&s);
    see(&s, "cup", 7.0, 7.0);
    s.b.time.wall_epoch_ms += 60 * 1000; // long before the look
    bench_run(&s.b, 0.2);
    said(&s, "what do you see", 3.0, "I see: nothing that it knows in 0.1 s.");
    bench_say(&s.b, "你看到什么");
    bench_await(&s.b, "effect", "state", "accepted", SOON);
    see(&s, "key", 3.0, 2.5);
    see(&s, "cup", 3.0, 3.0);
    see(&s, "cup", 3.5, 1.5);
    go_on(&s, 2.0);
    bench_await(&s.b, "task.done", "status", "succeeded", SOON);
    const char *text = pons_get_str(bench_newest(&s.b, "speak")->args, "text", "");
    assert_non_null(strstr(text, "我看到："));
    assert_non_null(strstr(text, "杯子（2 个）"));
    assert_non_null(strstr(text, "钥匙"));
    assert_non_null(strstr(text, "；0.1 秒里没有看到别的。"));
    assert_int_equal(bench_count(&s.b, "effect", "reason", "nothing that it knows in 0.1 s"), 1);
    assert_int_equal(bench_starts(&s.b, "navigate_to_pose"), 0);

    said(&s, "go and see what is in the kitchen", 6.0, "I see: nothing that it knows in 0.1 s.");
    assert_string_equal(pons_get_str(bench_newest(&s.b, "navigate_to_pose")->args, "zone", ""),
                        "kitchen");
    done(&s);
}

// It says what it cannot see, and where the thing is.
static void state_of_a_thing(void **state)
{
    (void)state;
    scene s;
    ready(&s);
    see(&s, "cup", 7.0, 7.0);
    says(&s, "is the cup empty",
         "I do not know: I see where the cup is, not what state it is in. I last saw the cup in "
         "the kitchen, just now.");
    says(
        &s, "杯子空了吗",
        "我不知道：杯子在哪里我能看到，它是什么状态我看不出来。我上次看到杯子是在厨房，就在刚才。");
    assert_int_equal(bench_starts(&s.b, "look"), 0);
    done(&s);
}

// A wall at x = 5 from the south to a gap at y = 6 … 8; the kitchen is an L behind it.
static void put_map(scene *s)
{
    s->b.map =
        json_pack("{s[iiii]s{sf}s{s[{sfsfsfsfss}{sfsfsfsfss}]}}", "bounds", 0, 0, 10, 10, "sight",
                  "range_m", 4.0, "map", "boxes", "x", 5.0, "y", 3.0, "sx", 0.1, "sy", 6.0, "kind",
                  "wall", "x", 5.0, "y", 9.0, "sx", 0.1, "sy", 2.0, "kind", "wall");
    assert_non_null(s->b.map);
}

static void looked_at(void **state)
{
    (void)state;
    scene s;
    ready(&s);
    pons_brain_close(s.b.brain);
    put_map(&s);
    bench_brain(&s.b);
    bench_run(&s.b, 1.0);
    s.b.x = 2.5, s.b.y = 2.5;
    said(&s, "look at 2.5 4.5", 4.0, "I see: nothing that it knows in 0.1 s.");
    const bench_goal *way = bench_newest(&s.b, "navigate_to_pose");
    assert_true(fabs(pons_get_num(pons_get(way->args, "pose"), "y", 0.0) - 2.5) <
                0.01); // it turned
    assert_true(fabs(pons_get_num(pons_get(way->args, "pose"), "yaw", 0.0) - 1.571) < 0.01);
    see(&s, "cup", 7.0, 2.0); // behind the wall
    s.b.time.wall_epoch_ms += 60 * 1000;
    said(&s, "look at the cup", 4.0,
         "I do not see the cup there. I see: nothing that it knows in 0.1 s.");
    way = bench_newest(&s.b, "navigate_to_pose");
    assert_true(pons_get_num(pons_get(way->args, "pose"), "x", 0.0) > 5.05);
    bench_say(&s.b, "看着钥匙");
    const pons_value *refused = bench_await(&s.b, "task.done", "status", "failed", SOON);
    assert_non_null(strstr(pons_get_str(refused, "reason", ""), "nobody knows where key is"));
    done(&s);
}

// A zone that cannot be seen from its target is looked at from other places too, each once.
static void from_several_places(void **state)
{
    (void)state;
    scene s;
    ready(&s);
    pons_brain_close(s.b.brain);
    s.b.map = json_pack("{s[iiii]s{sf}s{s[{sfsfsfsfss}]}}", "bounds", 0, 0, 10, 10, "sight",
                        "range_m", 4.0, "map", "boxes", "x", 8.1, "y", 7.8, "sx", 0.1, "sy", 2.4,
                        "kind", "wall"); // behind it is a fifth of the kitchen
    assert_non_null(s.b.map);
    bench_brain(&s.b);
    bench_run(&s.b, 1.0);
    bench_say(&s.b, "在厨房里找钥匙");
    for (int i = 0; i < 4; i++) {
        go_on(&s, 3.0);
        bench_kill(&s.b); // what was looked at is not looked at again
        bench_brain(&s.b);
    }
    go_on(&s, 12.0);
    const pons_value *ended = bench_await(&s.b, "task.done", "status", "aborted", SOON);
    assert_non_null(strstr(pons_get_str(ended, "reason", ""), "kitchen, kitchen (2)"));
    assert_true(pons_get_num(pons_get(bench_newest(&s.b, "navigate_to_pose")->args, "pose"), "x",
                             0.0) > 8.15);
    assert_int_equal(bench_starts(&s.b, "look"), 2);
    done(&s);
}

static void watching(scene *s)
{
    ready(s);
    pons_brain_close(s->b.brain);
    s->b.schedules = "test.schedules";
    bench_brain(&s->b);
    bench_run(&s->b, 1.0);
}

// Said once for each time that it comes; not again while it is there, and not for what was seen before.
static void told_when_it_is_seen(void **state)
{
    (void)state;
    scene s;
    watching(&s);
    see(&s, "cup", 7.0, 7.0);
    bench_say(&s.b, "tell me when you see the cup in the kitchen");
    bench_await(&s.b, "schedule.added", NULL, NULL, SOON);
    bench_say(&s.b, "有杯子在卧室时告诉我");
    bench_await(&s.b, "schedule.added", NULL, NULL, SOON);
    bench_run(&s.b, 3.0);
    assert_int_equal(bench_count(&s.b, "schedule.due", NULL, NULL), 0);
    for (int i = 0; i < 5; i++) {
        see(&s, "cup", 7.0, 7.0);
        bench_run(&s.b, 3.0);
    }
    assert_int_equal(bench_count(&s.b, "schedule.due", NULL, NULL), 1);
    assert_string_equal(pons_get_str(bench_newest(&s.b, "speak")->args, "text", ""),
                        "I see the cup in the kitchen");
    s.b.time.wall_epoch_ms += 6 * 60 * 1000; // it was away
    bench_run(&s.b, 2.0);
    assert_int_equal(bench_count(&s.b, "schedule.due", NULL, NULL), 1);
    see(&s, "cup", 7.0, 7.0);
    bench_run(&s.b, 3.0);
    assert_int_equal(bench_count(&s.b, "schedule.due", NULL, NULL), 2);
    assert_int_equal(bench_starts(&s.b, "speak"), 2);
    see(&s, "cup", 7.0, 2.0);
    bench_run(&s.b, 3.0);
    assert_string_equal(pons_get_str(bench_newest(&s.b, "speak")->args, "text", ""),
                        "有杯子在卧室");
    bench_say(&s.b, "tell me when the cup is at the lighthouse");
    const pons_value *refused = bench_await(&s.b, "schedule.refused", NULL, NULL, SOON);
    assert_string_equal(pons_get_str(refused, "reason", ""), "nobody knows where lighthouse is");
    done(&s);
}

// Wherever the brain dies, one coming is told once.
static void told_once_through_deaths(void **state)
{
    (void)state;
    for (int at = 1; at <= 8; at++) {
        for (int before = 0; before < 2; before++) {
            scene s;
            watching(&s);
            bench_say(&s.b, "tell me when you see the cup in the kitchen");
            bench_await(&s.b, "schedule.added", NULL, NULL, SOON);
            bench_run(&s.b, 2.0);
            s.b.kill_at = s.b.commits + at;
            s.b.kill_before = before;
            see(&s, "cup", 7.0, 7.0);
            bench_settle(&s.b, 6.0);
            s.b.kill_at = 0;
            bench_kill(&s.b);
            bench_brain(&s.b);
            bench_run(&s.b, 6.0);
            if (bench_starts(&s.b, "speak") != 1) {
                fail_msg("killed %s commit %d: told %d times", before ? "before" : "after", at,
                         bench_starts(&s.b, "speak"));
            }
            done(&s);
        }
    }
}

// Killed after each of its steps: what was looked at is not looked at again.
static void killed(void **state)
{
    (void)state;
    scene s;
    ready(&s);
    bench_say(&s.b, "find the key");
    for (int i = 0; i < 12; i++) {
        go_on(&s, 0.7);
        bench_kill(&s.b);
        bench_brain(&s.b);
    }
    go_on(&s, 30.0);
    bench_await(&s.b, "task.done", "status", "aborted", SOON);
    assert_int_equal(bench_starts(&s.b, "look"), 3);
    assert_true(bench_starts(&s.b, "navigate_to_pose") <= 4);
    done(&s);
}

static void no_more_time(void **state)
{
    (void)state;
    scene s;
    ready(&s);
    s.b.base_ms = 3000;
    pons_brain_close(s.b.brain);
    json_object_set_new(json_object_get(s.b.config, "limits"), "find_s", json_integer(5));
    bench_brain(&s.b);
    bench_run(&s.b, 1.0);
    bench_say(&s.b, "find the key");
    go_on(&s, 40.0);
    bench_await(&s.b, "task.done", "status", "aborted", SOON);
    assert_true(bench_starts(&s.b, "look") < 3);
    done(&s);
}

// What a model is told of the world has what was seen, and where.
static void in_the_world(void **state)
{
    (void)state;
    scene s;
    ready_for(&s, "[{'content':'{}'}]");
    see(&s, "cup", 7.0, 7.0);
    bench_run(&s.b, 2.0);
    bench_say(&s.b, "make it nice here");
    bench_run(&s.b, 1.0);
    pons_autovalue request = json_deep_copy((json_t *)s.b.llm_request);
    char *text = json_dumps(request, JSON_COMPACT);
    assert_non_null(text);
    assert_non_null(strstr(text, "obj-1"));
    assert_non_null(strstr(text, "last_seen_ms"));
    free(text);
    done(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(told_without_moving),
        cmocka_unit_test(which_of_two),
        cmocka_unit_test(found_where_it_was),
        cmocka_unit_test(not_found),
        cmocka_unit_test(killed),
        cmocka_unit_test(yes_or_no),
        cmocka_unit_test(told_when_it_is_seen),
        cmocka_unit_test(told_once_through_deaths),
        cmocka_unit_test(what_it_sees),
        cmocka_unit_test(state_of_a_thing),
        cmocka_unit_test(looked_at),
        cmocka_unit_test(from_several_places),
        cmocka_unit_test(no_more_time),
        cmocka_unit_test(in_the_world),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
