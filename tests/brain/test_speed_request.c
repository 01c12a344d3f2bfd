// test_speed_request.c - how fast a person wants the robot: the body gets it, once it is said; a death at any commit of
// that loses nothing and does nothing twice, on each store; and nobody but a person makes it faster.
#include "brain_bench.h"
#include "pons/ext/store.h"
#include "store/cluster.h"
#include "unit.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SOON 3.0

// Its brain runs, for as long as the test does, and knows how fast the body is.
static void begin(bench *b, int pace)
{
    b->keep_running = true;
    b->pace = pace;
    bench_brain(b);
    bench_run(b, 1.0);
}

static void ready(bench *b)
{
    bench_open(b, NULL);
    begin(b, 100);
}

// A person is asked whether it may drive.
static void asks_before_it_drives(bench *b)
{
    bench_open(b, NULL);
    json_object_set_new(json_object_get(b->config, "approval"), "skills",
                        json_pack("[s]", "navigate_to_pose"));
    begin(b, 100);
    bench_say(b, "去厨房");
    bench_await(b, "approval.requested", NULL, NULL, SOON);
}

static void set_to(bench *b, const char *text, int percent)
{
    bench_say(b, text);
    const pons_value *p = bench_await(b, "tempo.set", NULL, NULL, SOON);
    if (pons_get_int(p, "percent", 0) != percent || b->pace != percent) {
        fail_msg("\"%s\": %lld, the body has %d", text, (long long)pons_get_int(p, "percent", 0),
                 b->pace);
    }
}

static void refused_within(bench *b, const char *says, double seconds)
{
    const pons_value *p = bench_await(b, "tempo.refused", NULL, NULL, seconds);
    if (!strstr(pons_get_str(p, "reason", ""), says)) {
        fail_msg("%s", pons_get_str(p, "reason", ""));
    }
}

static void refused(bench *b, const char *says)
{
    refused_within(b, says, SOON);
}

static void said_step_by_step(void **state)
{
    (void)state;
    bench b;
    ready(&b);
    set_to(&b, "slower", 75);
    set_to(&b, "慢一点", 50);
    set_to(&b, "再慢一点", 25);
    set_to(&b, "slow down", 10);
    bench_say(&b, "slower");
    refused(&b, "as slow as it goes");
    bench_say(&b, "slow down to 60%");
    refused(&b, "slower than that already: 10 %");
    bench_say(&b, "减速到30%");
    refused(&b, "slower than that already: 10 %");
    set_to(&b, "快一点", 25);
    set_to(&b, "speed 30%", 30);
    set_to(&b, "slow down to 20%", 20);
    set_to(&b, "speed 30%", 30);
    set_to(&b, "faster", 50);
    set_to(&b, "正常速度", 100);
    bench_say(&b, "faster");
    refused(&b, "as fast as it may be");
    bench_say(&b, "at 5% speed");
    refused(&b, "from 10 to 100 %");
    bench_say(&b, "at 150% speed");
    refused(&b, "from 10 to 100 %");
    assert_int_equal(b.pace, 100);
    assert_int_equal(bench_count(&b, "task.queued", NULL, NULL), 0); // none of it is a task
    bench_close(&b);
}

// "Slower, go to the kitchen" is both; the drive that is under way goes on, slower.
static void with_a_wish_and_while_it_drives(void **state)
{
    (void)state;
    bench b;
    ready(&b);
    b.base_ms = 20000;
    bench_say(&b, "慢一点，去厨房");
    bench_await(&b, "task.active", NULL, NULL, SOON);
    bench_run(&b, 1.0);
    assert_int_equal(b.pace, 75);
    set_to(&b, "slower", 50);
    bench_await(&b, "task.done", "status", "succeeded", 40.0);
    assert_int_equal(bench_starts(&b, "navigate_to_pose"), 1);
    bench_close(&b);
}

static void only_a_person_makes_it_faster(void **state)
{
    (void)state;
    static const char *const faster[] = {"{'text':'faster'}", "{'text':'normal speed'}",
                                         "{'text':'at 60% speed'}", "{'text':'正常速度'}",
                                         "{'text':'slower, normal speed'}"};
    bench b;
    ready(&b);
    set_to(&b, "half speed", 50);
    for (size_t i = 0; i < sizeof faster / sizeof faster[0]; i++) {
        bench_post(&b, "wish", faster[i]);
        bench_await(&b, "tempo.refused", NULL, NULL, SOON);
        bench_run(&b, 1.0);
        assert_true(b.pace <= 50);
    }
    bench_await(&b, "tempo.set", NULL, NULL, SOON); // the last began with "slower"
    assert_int_equal(b.pace, 25);
    bench_post(&b, "wish", "{'text':'slower'}");
    bench_await(&b, "tempo.set", NULL, NULL, SOON);
    assert_int_equal(b.pace, 10);
    bench_close(&b);
}

// At another terminal somebody has made it slower meanwhile: "faster" was not said of that.
static void another_person_was_first(void **state)
{
    (void)state;
    bench b;
    ready(&b);
    set_to(&b, "half speed", 50);
    b.silent = true; // no telemetry tells the brain
    b.pace = 10;
    bench_say(&b, "faster");
    refused(&b, "the test wants it so");
    assert_int_equal(b.pace, 10);
    bench_close(&b);
}

// What the body cannot save is told where it would be faster, and asked for again where it is slower.
static void a_body_that_cannot_save(void **state)
{
    (void)state;
    bench b;
    ready(&b);
    set_to(&b, "half speed", 50);
    b.pace_refuse = "unsaved";
    bench_say(&b, "faster");
    refused(&b, "the test wants it so");
    b.pace_refuse = NULL;
    set_to(&b, "slower", 25);
    b.pace_mute = true;
    bench_say(&b, "slower");
    bench_run(&b, SOON);
    assert_int_equal(bench_count(&b, "tempo.set", NULL, NULL), 2);
    b.pace_mute = false;
    bench_await(&b, "tempo.set", NULL, NULL, SOON);
    assert_int_equal(b.pace, 10);
    bench_close(&b);
}

// A disk that stays full: the run is not kept for ever by it.
static void a_disk_that_stays_full(void **state)
{
    (void)state;
    bench b;
    ready(&b);
    b.pace_refuse = "unsaved";
    bench_say(&b, "slower");
    const pons_value *p = bench_await(&b, "tempo.refused", NULL, NULL, 20.0);
    assert_string_equal(pons_get_str(p, "reason", ""),
                        "it is slower, but the body could not save it");
    const int sent = bench_sent(&b, "pace", NULL, NULL);
    assert_true(sent > 2);
    bench_run(&b, SOON);
    assert_int_equal(bench_sent(&b, "pace", NULL, NULL), sent);
    b.pace_refuse = NULL;
    set_to(&b, "slower", 75);
    bench_close(&b);
}

// Before telemetry shows the first one the second is already said.
static void again_before_any_telemetry(void **state)
{
    (void)state;
    bench b;
    ready(&b);
    b.silent = true;
    set_to(&b, "slower", 75);
    set_to(&b, "slower", 50);
    set_to(&b, "faster", 75);
    b.silent = false;
    bench_run(&b, 1.0);
    set_to(&b, "faster", 100);
    bench_close(&b);
}

// An ok is of the pace that it names: one that was sent twice is answered twice.
static void an_answer_to_an_earlier_one(void **state)
{
    (void)state;
    bench b;
    ready(&b);
    b.pace_mute = true;
    bench_say(&b, "slower");
    bench_run(&b, 1.5);
    bench_ok_pace(&b, 75);
    bench_await(&b, "tempo.set", NULL, NULL, SOON);
    bench_say(&b, "half speed");
    bench_run(&b, 0.5);
    bench_ok_pace(&b, 75);
    bench_run(&b, 0.5);
    assert_int_equal(bench_count(&b, "tempo.set", NULL, NULL), 1);
    b.pace_mute = false;
    const pons_value *p = bench_await(&b, "tempo.set", NULL, NULL, SOON);
    assert_int_equal(pons_get_int(p, "percent", 0), 50);
    assert_int_equal(b.pace, 50);
    bench_close(&b);
}

// So is a refusal: a late one does not end what was said after it.
static void a_refusal_of_an_earlier_one(void **state)
{
    (void)state;
    bench b;
    ready(&b);
    b.pace_mute = true;
    bench_say(&b, "slower");
    bench_run(&b, 0.5);
    bench_say(&b, "half speed");
    bench_run(&b, 1.5);
    bench_no_pace(&b, 75, "changed");
    bench_run(&b, 0.5);
    assert_int_equal(bench_count(&b, "tempo.refused", NULL, NULL), 0);
    b.pace_mute = false;
    const pons_value *p = bench_await(&b, "tempo.set", NULL, NULL, SOON);
    assert_int_equal(pons_get_int(p, "percent", 0), 50);
    assert_int_equal(b.pace, 50);
    bench_close(&b);
}

// A body that never says a word to it: the run ends all the same, and the next one is heard.
static void a_body_that_never_answers(void **state)
{
    (void)state;
    bench b;
    bench_open(&b, NULL);
    b.pace = 100;
    b.pace_mute = true;
    b.keep_running = false;
    bench_post(&b, "run", "{'goals':['slower']}");
    bench_brain(&b);
    refused_within(&b, "the body does not answer", 60.0);
    bench_await(&b, "run.done", NULL, NULL, SOON);
    b.pace_mute = false;
    set_to(&b, "slower", 75);
    bench_close(&b);
}

static void a_body_that_knows_of_none(void **state)
{
    (void)state;
    bench b;
    ready(&b);
    b.pace = 0;
    bench_run(&b, 1.0);
    bench_say(&b, "slower");
    refused(&b, "cannot be told");
    bench_close(&b);
}

// Answers are given by words; how fast it drives is none, whatever is asked.
static void while_something_is_asked(void **state)
{
    (void)state;
    bench b;
    asks_before_it_drives(&b);
    set_to(&b, "慢一点", 75);
    assert_int_equal(bench_count(&b, "approval.resolved", NULL, NULL), 0);
    bench_close(&b);
}

// A yes or a no goes with it, and both count.
static void an_answer_and_a_pace(void **state)
{
    (void)state;
    static const struct {
        const char *text, *action;
        int percent;
    } rows[] = {
        {"ok, slower", "approve", 75},      {"可以，慢一点", "approve", 75},
        {"ok slower", "approve", 75},       {"可以慢一点", "approve", 75},
        {"yes, half speed", "approve", 50}, {"no, slower", "reject", 75},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        bench b;
        asks_before_it_drives(&b);
        bench_say(&b, rows[i].text);
        if (strcmp(rows[i].action, "reject") == 0) {
            bench_await(&b, "approval.resolved", "action", rows[i].action, SOON);
            bench_await(&b, "tempo.set", NULL, NULL, SOON);
        } else { // a yes to that pace: it is heard when the body has it
            bench_await(&b, "tempo.set", NULL, NULL, SOON);
            bench_await(&b, "approval.resolved", "action", rows[i].action, SOON);
        }
        assert_int_equal(b.pace, rows[i].percent);
        bench_close(&b);
    }
}

// A yes, or "continue", at a pace that the body does not take is none: nothing moves, and it is told.
static void no_pace_and_no_yes(void **state)
{
    (void)state;
    static const struct {
        int pace;
        const char *refuse;
        bool mute;
    } bodies[] = {{0, NULL, false}, {100, "unsupported", false}, {100, NULL, true}};
    for (size_t i = 0; i < 2 * sizeof bodies / sizeof bodies[0]; i++) {
        bench b;
        asks_before_it_drives(&b);
        b.pace = bodies[i / 2].pace;
        b.pace_refuse = bodies[i / 2].refuse;
        b.pace_mute = bodies[i / 2].mute;
        bench_run(&b, 0.5);
        if (i % 2) { // another person's no, while the pace is asked for, is before the yes
            bench_say(&b, "yes, at half speed");
            bench_say(&b, "no");
            bench_await(&b, "approval.resolved", "action", "reject", SOON);
            bench_run(&b, 40.0);
        } else {
            bench_say(&b, "yes, at half speed");
            bench_await(&b, "control", "word", "pace", 40.0);
            bench_run(&b, 2.0);
            assert_int_equal(bench_count(&b, "approval.resolved", NULL, NULL), 0);
        }
        assert_int_equal(bench_starts(&b, "navigate_to_pose"), 0);
        if (i % 2 == 0) { // it can still be answered
            bench_say(&b, "yes");
            bench_await(&b, "approval.resolved", "action", "approve", SOON);
        }
        bench_close(&b);
    }
}

// Who posted first has answered: what is said behind "yes, at half speed" is late, though the yes is acted on later.
static void a_yes_with_a_pace_was_first(void **state)
{
    (void)state;
    static const char *const second[] = {
        "{'nonce':'bert','by':'bert','action':'edit','args':{'zone':'bedroom'}}",
        "{'nonce':'bert','by':'bert','action':'approve'}"};
    for (size_t i = 0; i < sizeof second / sizeof second[0]; i++) {
        bench b;
        asks_before_it_drives(&b);
        b.pace_mute = true;
        bench_say(&b, "yes, at half speed");
        bench_post(&b, "answer", second[i]);
        const pons_value *late = bench_await(&b, "approval.late", "verdict", "late", SOON);
        assert_string_equal(pons_get_str(pons_get(late, "first"), "action", ""), "approve");
        assert_int_equal(bench_starts(&b, "navigate_to_pose"), 0);
        b.pace_mute = false;
        bench_await(&b, "tempo.set", NULL, NULL, 40.0);
        bench_await(&b, "effect", "state", "accepted", SOON);
        const bench_goal *sent = bench_newest(&b, "navigate_to_pose");
        assert_string_equal(pons_get_str(sent->args, "zone", ""), "kitchen");
        bench_close(&b);
    }
}

// The question is over before the body has the pace, and another one is open: the yes was not to that.
static void a_yes_is_to_the_question_of_its_time(void **state)
{
    (void)state;
    bench b;
    asks_before_it_drives(&b);
    b.pace_mute = true;
    bench_say(&b, "yes, at half speed");
    bench_run(&b, 1.0);
    bench_say(&b, "cancel");
    bench_await(&b, "approval.resolved", "action", "reject", SOON);
    bench_say(&b, "去卧室");
    bench_await(&b, "approval.requested", NULL, NULL, SOON);
    bench_run(&b, 1.0);
    b.pace_mute = false; // it takes it now
    bench_await(&b, "tempo.set", NULL, NULL, 40.0);
    bench_run(&b, 5.0);
    assert_int_equal(bench_starts(&b, "navigate_to_pose"), 0);
    bench_close(&b);
}

// "Yes", or "continue", at a slow pace: a pause, or a faster pace, that is said before the body has that one goes before it.
static void what_is_said_since_goes_before(void **state)
{
    (void)state;
    static const char *const since[] = {"pause", "normal speed", "stop"};
    for (size_t i = 0; i < sizeof since / sizeof since[0]; i++) {
        bench b;
        asks_before_it_drives(&b);
        b.pace_mute = true;
        bench_say(&b, "yes, at half speed");
        bench_run(&b, 1.0);
        bench_say(&b, since[i]);
        bench_run(&b, 1.0);
        b.pace_mute = false;
        bench_run(&b, 40.0);
        if (bench_starts(&b, "navigate_to_pose") != 0) {
            fail_msg("\"%s\": it moves", since[i]);
        }
        assert_true(bench_count(&b, "control", "word", "pace") > 0); // that is told
        bench_close(&b);
    }
    bench b;
    ready(&b);
    bench_say(&b, "pause");
    bench_run(&b, 0.5);
    bench_say(&b, "去厨房");
    bench_run(&b, 1.0);
    b.pace_mute = true;
    bench_say(&b, "continue, half speed");
    bench_run(&b, 1.0);
    bench_say(&b, "pause");
    bench_run(&b, 0.5);
    b.pace_mute = false;
    bench_run(&b, 40.0);
    assert_int_equal(bench_starts(&b, "navigate_to_pose"), 0);
    bench_close(&b);
}

// What is so already is no reason to wait: the yes counts at once.
static void a_yes_at_the_pace_that_it_has(void **state)
{
    (void)state;
    static const char *const words[] = {"yes, slower", "yes, slow down to 50%", "yes, faster"};
    static const int paces[] = {10, 20, 100};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        bench b;
        asks_before_it_drives(&b);
        b.pace = paces[i];
        bench_run(&b, 0.5);
        bench_say(&b, words[i]);
        bench_await(&b, "approval.resolved", "action", "approve", SOON);
        assert_int_equal(b.pace, paces[i]);
        bench_close(&b);
    }
}

// What asks for words gets them, a share too; "slower" alone is for the robot.
static void words_that_answer(void **state)
{
    (void)state;
    static const char *const rows[] = {"50%",          "it's at 80%", "0.2 m/s", "half speed",
                                       "normal speed", "too slow",    "faster"};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        bench b;
        bench_open(&b, "[{'decision':{'type':'ASK_HUMAN','reason':'how full?','ops':[{'op':"
                       "'approval','question':'how full is it?'}]}},{'repeat':true,'decision':{"
                       "'type':'ABORT','reason':'that was all'}}]");
        begin(&b, 50);
        bench_say(&b, "water the plants");
        bench_await(&b, "approval.requested", NULL, NULL, SOON);
        set_to(&b, "slower", 25);
        assert_int_equal(bench_count(&b, "approval.resolved", NULL, NULL), 0);
        bench_say(&b, rows[i]);
        bench_await(&b, "approval.resolved", "answer", rows[i], SOON);
        bench_run(&b, 1.0);
        assert_int_equal(b.pace, 25);
        bench_close(&b);
    }
}

// While it is paused: it goes on, and slower.
static void on_again_and_slower(void **state)
{
    (void)state;
    static const char *const rows[] = {"resume at half speed", "continue, half speed", "继续，半速",
                                       "继续半速"};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        bench b;
        ready(&b);
        bench_say(&b, "pause");
        bench_run(&b, 0.5);
        bench_say(&b, "去厨房");
        bench_run(&b, 1.0);
        assert_int_equal(bench_starts(&b, "navigate_to_pose"), 0);
        set_to(&b, rows[i], 50);
        bench_await(&b, "task.done", "status", "succeeded", 40.0);
        bench_close(&b);
    }
}

// ---- deaths -------------------------------------------------------------------------------------

static void lease_is_over(void)
{
    cluster_sql("UPDATE pons.thread SET until=clock_timestamp()-interval '1 second'");
}

// "Slower" is in the inbox (say has answered); then the brain dies at its n-th commit, or just before that is
// written; the next one lives on. Returns whether it died.
static bool dies_at(bench *b, int n, bool before, bool pg)
{
    bench_say(b, "慢一点");
    b->kill_at = b->commits + n;
    b->kill_before = before;
    for (int i = 0; i < 100 && !b->dead && !b->error.status; i++) {
        pons_error err = PONS_ERROR_INIT;
        b->time.now_ns += 20 * PONS_NS_PER_MS;
        if (pons_brain_poll(b->brain, &err) < 0) {
            break;
        }
    }
    const bool died = b->dead;
    bench_kill(b);
    if (pg) {
        lease_is_over();
    }
    bench_brain(b);
    bench_run(b, SOON);
    return died;
}

static void killed_everywhere(const char *store)
{
    const bool pg = strcmp(store, "postgres") == 0;
    enum { COMMITS = 6 };
    int deaths = 0, tried = 0;
    for (int n = 1; n <= COMMITS; n++) {
        for (int before = 0; before < 2; before++) {
            if (!bench_due(ROUNDS_brain_deaths, 2 * (n - 1) + before, 2 * COMMITS)) {
                continue;
            }
            tried++;
            char dir[] = "/tmp/pons-test-tempo-XXXXXX", path[64], command[80];
            pons_store s;
            pons_error err = PONS_ERROR_INIT;
            bench b;
            assert_non_null(mkdtemp(dir));
            snprintf(path, sizeof path, "%s/pons.db", dir);
            snprintf(command, sizeof command, "rm -rf %s", dir);
            bench_open(&b, NULL);
            if (pg) {
                assert_true(cluster_open(cluster_empty(""), &s, &err) >= 0);
                bench_store(&b, s);
            } else if (strcmp(store, "sqlite") == 0) {
                assert_true(pons_store_sqlite_open(path, &s, &err) >= 0);
                bench_store(&b, s);
            }
            begin(&b, 100);
            deaths += dies_at(&b, n, before, pg);
            if (b.pace != 75 || bench_count(&b, "tempo.set", NULL, NULL) != 1 ||
                bench_sent(&b, "pace", NULL, NULL) < 1) {
                fail_msg("%s, killed %s commit %d: %d %%, told %d times", store,
                         before ? "before" : "after", n, b.pace,
                         bench_count(&b, "tempo.set", NULL, NULL));
            }
            bench_await(&b, "tempo.set", NULL, NULL, SOON);
            set_to(&b, "faster", 100);
            bench_close(&b);
            assert_int_equal(system(command), 0);
        }
    }
    print_message("%s: %d deaths\n", store, deaths);
    assert_true(deaths * 2 * COMMITS >= 4 * tried);
}

static void a_death_at_each_commit(void **state)
{
    (void)state;
    killed_everywhere("memory");
    killed_everywhere("sqlite");
}

static void a_death_at_each_commit_on_postgres(void **state)
{
    (void)state;
    if (!cluster_share()) {
        skip();
    }
    killed_everywhere("postgres");
    cluster_stop();
}

int main(void)
{
    pons_value_init();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(said_step_by_step),
        cmocka_unit_test(with_a_wish_and_while_it_drives),
        cmocka_unit_test(only_a_person_makes_it_faster),
        cmocka_unit_test(another_person_was_first),
        cmocka_unit_test(a_body_that_cannot_save),
        cmocka_unit_test(a_disk_that_stays_full),
        cmocka_unit_test(again_before_any_telemetry),
        cmocka_unit_test(an_answer_to_an_earlier_one),
        cmocka_unit_test(a_refusal_of_an_earlier_one),
        cmocka_unit_test(a_body_that_never_answers),
        cmocka_unit_test(a_body_that_knows_of_none),
        cmocka_unit_test(while_something_is_asked),
        cmocka_unit_test(an_answer_and_a_pace),
        cmocka_unit_test(no_pace_and_no_yes),
        cmocka_unit_test(a_yes_with_a_pace_was_first),
        cmocka_unit_test(a_yes_is_to_the_question_of_its_time),
        cmocka_unit_test(what_is_said_since_goes_before),
        cmocka_unit_test(a_yes_at_the_pace_that_it_has),
        cmocka_unit_test(words_that_answer),
        cmocka_unit_test(on_again_and_slower),
        cmocka_unit_test(a_death_at_each_commit),
        cmocka_unit_test(a_death_at_each_commit_on_postgres),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
