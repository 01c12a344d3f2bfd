// test_which_robot.c - a command moves the robot that it means and no other, and a body ends with the run that had
// started it, unless something needs it longer.
#include "cli_bench.h"
#include "unit.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HERE "the robot here is kinematic pons-1 in house, since "

// A body that nothing but its own command names.
static void start_unnamed(bench *b, proc *body, const char *words)
{
    bench_start(b, body, NULL, words);
    for (int64_t since = 0; bench_body_pid(b) != body->pid;) {
        bench_again(&since, "the body");
    }
}

static void another_robot_than_the_one_that_is_there_is_refused(void **state)
{
    (void)state;
    bench b;
    proc body;
    bench_open(&b);
    start_unnamed(&b, &body, "body --driver kinematic --speed 20");
    // What is not named is the simulated robot in the house.
    bench_must_fail(&b, "run 'go to the kitchen'", 2, HERE);
    bench_must_fail(&b, "run --driver mujoco 'go to the kitchen'", 2,
                    "this command means mujoco in house");
    bench_must_fail(&b, "run --driver kinematic --world corridor 'go to the east'", 2,
                    "this command means kinematic in corridor: say `--driver kinematic --world "
                    "house` to use it");
    bench_must_fail(&b, "serve --listen 127.0.0.1:0", 2, HERE);
    bench_must_fail(&b, "mcp serve --driver mujoco", 2, HERE);
    bench_must_fail(&b, "do spin angle_rad=0.1", 2, "say `--driver kinematic --world house`");
    bench_must_fail(&b, "say --driver mujoco 'go to the kitchen'", 2, HERE);
    bench_must_fail(&b, "body --driver kinematic --world corridor", 2,
                    "this command means kinematic in corridor");
    assert_int_equal(bench_ledger_skill(&b, "navigate_to_pose"), 0);
    assert_true(bench_alive(&body));
    // It is named, by the command or by the workspace's config.json.
    assert_int_equal(bench_run(&b, "run --driver kinematic 'go to the kitchen'"), 0);
    bench_put(&b, "config.json", "{\"robot\": {\"driver\": \"kinematic\"}}");
    assert_int_equal(bench_run(&b, "run 'go to the bedroom'"), 0);
    bench_must_fail(&b, "run --driver mujoco 'go to the kitchen'", 2,
                    "this command means mujoco in house");
    // A person's body outlives the runs that have used it.
    assert_true(bench_alive(&body));
    pons_autovalue status = NULL;
    assert_int_equal(bench_run_json(&b, "status --json", &status), 0);
    assert_string_equal(pons_get_str(pons_get(status, "body"), "world", ""), "house");
    assert_int_equal(strlen(pons_get_str(pons_get(status, "body"), "world_id", "")), 12);
    // A stop is for whatever robot is here.
    pons_autovalue after = NULL;
    proc say = {0};
    bench_start(&b, &say, NULL, "say --driver mujoco stop");
    bench_must_exit(&say, 2);
    char *said = bench_stderr(&say);
    assert_non_null(strstr(said, "pons: stopped; the latch holds"));
    assert_non_null(strstr(said, HERE));
    free(said);
    bench_free(&say);
    assert_int_equal(bench_run_json(&b, "status --json", &after), 0);
    assert_true(pons_get_bool(pons_get(after, "stop"), "latched", false));
    bench_signal(&body, SIGTERM);
    bench_must_exit(&body, 0);
    bench_free(&body);
    bench_close(&b);
}

// The world's file changes while a body has the one of before.
static void the_same_name_is_not_the_same_world(void **state)
{
    (void)state;
    bench b;
    proc body;
    char text[8192], words[256];
    bench_open(&b);
    FILE *f = fopen("worlds/empty.yaml", "r");
    assert_non_null(f);
    text[fread(text, 1, sizeof text - 1, f)] = '\0';
    fclose(f);
    const char *yard = bench_file(&b, "yard.yaml", text);
    snprintf(words, sizeof words, "body --driver kinematic --speed 20 --world %s", yard);
    start_unnamed(&b, &body, words);
    char *speed = strstr(text, "speed_max_mps: 0.6");
    assert_non_null(speed);
    memcpy(speed, "speed_max_mps: 0.5", strlen("speed_max_mps: 0.5"));
    bench_file(&b, "yard.yaml", text);
    snprintf(words, sizeof words, "run --driver kinematic --world %s 'go to the east'", yard);
    bench_must_fail(&b, words, 2, "as it was before its file changed");
    memcpy(speed, "speed_max_mps: 0.6", strlen("speed_max_mps: 0.6"));
    bench_file(&b, "yard.yaml", text);
    assert_int_equal(bench_run(&b, words), 0);
    bench_signal(&body, SIGTERM);
    bench_must_exit(&body, 0);
    bench_free(&body);
    bench_close(&b);
}

// What else makes it another robot: the name in config.json, and what the driver's file says. Of kinematic there is
// none but a person's own.
static void the_same_driver_is_not_the_same_robot(void **state)
{
    (void)state;
    static const struct {
        const char *file, *text, *says; // text NULL: none; says NULL: the same robot
    } all[] = {
        {"config/kinematic.yaml", "# what it said\nnamespace: a\ndomain: 3\n", NULL},
        {"config/kinematic.yaml", "domain: 3 # and a comment\nnamespace: \"a\"\n", NULL},
        {"config/kinematic.yaml", "domain: 77\nnamespace: a\n",
         "config/kinematic.yaml says something else now: `kill "},
        {"config/kinematic.yaml", NULL, "config/kinematic.yaml is gone: `kill "},
        {"config/kinematic.yaml", "domain: 3\n", "says something else now"},
        {"config/kinematic.yaml", "namespace: a\ndomain: 3\n", NULL},
        {"config/kinematic.yaml", "namespace: a\ndomain: 3\npath: /dev/other\n",
         "/config/kinematic.yaml says"},
        {"config/kinematic.yaml", "namespace: a\ndomain: 3\n", NULL},
        {"config.json", "{\"robot\": {\"id\": \"tug-2\"}}",
         "'tug-1' of config.json, which names 'tug-2' now: `kill "},
        {"config.json", "{\"version\": 1,\n \"robot\": { \"id\": \"tug-1\" }}", NULL},
    };
    bench b;
    proc body;
    bench_open(&b);
    bench_shell("mkdir -p %s/config", b.workspace);
    bench_put(&b, "config.json", "{\"robot\": {\"id\": \"tug-1\"}}");
    bench_put(&b, all[0].file, all[0].text);
    start_unnamed(&b, &body, "body --driver kinematic");
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        static const char words[] = "body --driver kinematic";
        if (all[i].text) {
            bench_put(&b, all[i].file, all[i].text);
        } else {
            bench_shell("rm %s/%s", b.workspace, all[i].file);
        }
        bench_must_fail(&b, words, all[i].says ? 2 : 3,
                        all[i].says ? all[i].says : "listens there");
    }
    bench_signal(&body, SIGTERM);
    bench_must_exit(&body, 0);
    bench_free(&body);
    bench_close(&b);
}

// Until no body has the workspace.
static void gone(bench *b, pid_t body)
{
    for (int64_t since = 0; kill(body, 0) == 0;) {
        bench_again(&since, "the body's end");
    }
    assert_int_equal(bench_body_pid(b), 0);
}

static void a_body_ends_with_its_run(void **state)
{
    (void)state;
    static const int ends[] = {SIGINT, SIGTERM, SIGHUP};
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        bench b;
        proc p;
        bench_open(&b);
        bench_start(&b, &p, NULL, "run --json " WATCHABLE " 'go to the kitchen'");
        bench_ledger_await(&b, "started", 1);
        const pid_t body = bench_body_pid(&b);
        assert_true(body > 1);
        bench_signal(&p, ends[i]);
        bench_must_exit(&p, 1);
        bench_free(&p);
        gone(&b, body);
        bench_close(&b);
    }
}

// A run that dies before it has met its body, whenever that is: the body does not wait for a resume.
static void a_body_that_nobody_came_to_ends_with_its_starter(void **state)
{
    (void)state;
    enum { LOST_MS = 60000, LOOK_MS = 20 };
    bench b;
    proc p;
    char words[512];
    bench_open(&b);
    snprintf(words, sizeof words,
             "-c '%s body --workspace %s --for-run --driver kinematic >/dev/null & while ! test -e "
             "%s/run/body.json; do :; done; cat %s/run/body.json; echo'",
             PONS_BINARY_DIR "/pons", b.workspace, b.workspace, b.workspace);
    bench_start_program(&b, &p, "/bin/sh", words);
    const pid_t body = (pid_t)pons_get_int(bench_await(&p, "", NULL, NULL), "pid", 0);
    assert_true(body > 1);
    for (int left = LOST_MS / 2; bench_body_pid(&b) > 0; left -= LOOK_MS) {
        assert_true(left > 0);
        bench_rest(LOOK_MS);
    }
    gone(&b, body);
    bench_must_exit(&p, 0);
    bench_free(&p);
    bench_close(&b);
}

static void a_body_stays_while_a_person_is_asked(void **state)
{
    (void)state;
    bench b;
    proc p;
    bench_open(&b);
    bench_share(&b, BENCH_ASKS);
    bench_start(&b, &p, NULL, "run --json " FAST " 'go to the kitchen'");
    bench_must_exit(&p, 4);
    const pid_t body = bench_body_pid(&b);
    assert_int_equal(kill(body, 0), 0);
    char *said = bench_stderr(&p);
    if (!strstr(p.text, "a question is open") && !strstr(said, "a question is open")) {
        fail_msg("nothing says until when the body stays:\n%s%s", p.text, said);
    }
    free(said);
    bench_free(&p);
    kill(body, SIGTERM);
    gone(&b, body);
    bench_close(&b);
}

int main(void)
{
    pons_value_init();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(another_robot_than_the_one_that_is_there_is_refused,
                                  bench_teardown),
        cmocka_unit_test_teardown(the_same_name_is_not_the_same_world, bench_teardown),
        cmocka_unit_test_teardown(the_same_driver_is_not_the_same_robot, bench_teardown),
        cmocka_unit_test_teardown(a_body_ends_with_its_run, bench_teardown),
        cmocka_unit_test_teardown(a_body_that_nobody_came_to_ends_with_its_starter, bench_teardown),
        cmocka_unit_test_teardown(a_body_stays_while_a_person_is_asked, bench_teardown),
    };
    return bench_together("which_robot", tests, sizeof tests / sizeof tests[0]);
}
