// test_agent_files.c - `pons agent` in a workspace with protocol files: what a model proposes goes through the door of a
// person's edit, and no other; the critic of the files holds for its proposals and for the body's skills; a person is asked as
// configured; killed, nothing is done twice; and an apple ends in the basket because a model asked for it, by physics.
#include "cli_bench.h"
#include "pons/workspace.h"
#include "unit.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DOG "watchdog hal --json --driver kinematic --seed 3 --speed 20"

static void path_of(const bench *b, const char *name, char ret[160])
{
    snprintf(ret, 160, "%s/%s", b->workspace, name);
}

static char *get(const bench *b, const char *name) // free()
{
    char path[160];
    path_of(b, name, path);
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    char *text = calloc(1, 65536);
    const size_t n = fread(text, 1, 65535, f);
    (void)n;
    fclose(f);
    return text;
}

static void replace(const bench *b, const char *name, const char *what, const char *by)
{
    char path[160], saved[170];
    char *text = get(b, name), *at = strstr(text, what);
    path_of(b, name, path);
    snprintf(saved, sizeof saved, "%s.saved", path);
    assert_non_null(at);
    FILE *f = fopen(saved, "w");
    assert_non_null(f);
    fprintf(f, "%.*s%s%s", (int)(at - text), text, by, at + strlen(what));
    assert_int_equal(fclose(f), 0);
    assert_int_equal(rename(saved, path), 0);
    free(text);
}

// A workspace with a watchdog whose body answers.
static void start(bench *b, proc *dog, const char *onboard, const char *watchdog)
{
    bench_open(b);
    assert_int_equal(bench_run(b, onboard), 0);
    bench_name_robot(b, watchdog);
    replace(b, "ACTION.md", "{\"queue\": []}",
            "{\"queue\": [{\"action_id\":\"first\",\"action_type\":\"check_connection\"}]}");
    bench_start(b, dog, NULL, watchdog);
    bench_await(dog, "action", "id", "first");
}

static void stop(bench *b, proc *dog)
{
    bench_signal(dog, SIGTERM);
    bench_finish(dog);
    bench_free(dog);
    bench_close(b);
}

static void begin(bench *b, proc *p, const char *script, const char *words)
{
    char line[512];
    bench_file(b, "script.yaml", script);
    snprintf(line, sizeof line, "%s --json --llm script:%s/script.yaml", words, b->dir);
    bench_start(b, p, NULL, line);
}

static void say(bench *b, const char *script, const char *words, int status)
{
    proc p = {0};
    begin(b, &p, script, words);
    bench_must_exit(&p, status);
    bench_free(&p);
}

// How many actions have this type (NULL: any) and status.
static int actions(const bench *b, const char *type, const char *status)
{
    pons_ws_doc *d = NULL;
    pons_error err = PONS_ERROR_INIT;
    size_t n = 0;
    int found = 0;
    assert_int_equal(pons_ws_load(PONS_WS_BY_PERSON, b->workspace, PONS_WS_ACTION, &d, &err),
                     PONS_OK);
    const pons_ws_record *all = pons_ws_records(d, &n);
    for (size_t i = 0; i < n; i++) {
        found += (!type || strcmp(pons_get_str(all[i].value, "action_type", ""), type) == 0) &&
                 strcmp(pons_get_str(all[i].value, "status", ""), status) == 0;
    }
    pons_ws_destroy(d);
    return found;
}

// Until the drive that was proposed is so.
static void await_action(const bench *b, const char *status)
{
    for (int64_t since = 0; actions(b, "target_navigation", status) == 0;) {
        bench_again(&since, status);
    }
}

#define GO_KITCHEN                                                                                 \
    "- tool_calls: [{name: propose_action, arguments: {action_type: target_navigation, params: "   \
    "{target_label: kitchen}}}]\n"
#define TOLD(words, then) "- when: {messages.-1.content: {contains: '" words "'}}\n  " then "\n"

static void a_proposal_is_done(void **state)
{
    (void)state;
    bench b;
    proc dog = {0};
    start(&b, &dog, "onboard", DOG);
    say(&b,
        "replies:\n"
        "- tool_calls: [{name: read_workspace, arguments: {file: EMBODIED, kind: "
        "action_type}}]\n" TOLD("target_navigation",
                                "tool_calls: [{name: propose_action, arguments: {action_type: "
                                "target_navigation, params: {target_label: kitchen}}}]")
            TOLD("target_navigation: completed",
                 "tool_calls: [{name: read_workspace, arguments: {file: "
                 "ACTION}}]") TOLD("\"proposed_by\":\"agent\"", "content: there it is"),
        "agent 'go to the kitchen'", 0);
    assert_int_equal(actions(&b, "target_navigation", "completed"), 1);
    bench_ledger_check(&b);
    assert_int_equal(bench_ledger_skill(&b, "navigate_to_pose"), 1);
    stop(&b, &dog);
}

static void what_the_files_forbid_is_refused(void **state)
{
    (void)state;
    bench b;
    proc dog = {0};
    start(&b, &dog, "onboard", DOG);
    replace(&b, "EMBODIED.md", "| target_navigation ", "| something_else ");
    replace(&b, "EMBODIED.md", "| move_to ", "| another_thing ");
    // By the file's door, and by the body's own skill; the second time by the lesson's name.
    say(&b,
        "replies:\n" GO_KITCHEN TOLD("supported_action", "tool_calls: [{name: navigate_to_pose, "
                                                         "arguments: {zone: kitchen}}]")
            TOLD("it failed before", "tool_calls: [{name: search_lessons, arguments: {query: "
                                     "kitchen}}]") TOLD("target_navigation", "content: so be it"),
        "agent 'go to the kitchen'", 0);
    assert_int_equal(actions(&b, "target_navigation", "pending"), 0);
    assert_int_equal(actions(&b, NULL, "failed"), 0); // it was never written
    assert_int_equal(bench_ledger_skill(&b, "navigate_to_pose"), 0);
    stop(&b, &dog);
}

static void without_a_watchdog_nothing_is_asked_for(void **state)
{
    (void)state;
    bench b;
    bench_open(&b);
    assert_int_equal(bench_run(&b, "onboard"), 0);
    char *before = get(&b, "ACTION.md");
    say(&b, "replies:\n" GO_KITCHEN TOLD("pons watchdog hal", "content: nobody is there"),
        "agent 'go to the kitchen'", 0);
    char *after = get(&b, "ACTION.md");
    assert_string_equal(before, after);
    free(before);
    free(after);
    bench_close(&b);
}

// All that a model might write around the critic.
static void there_is_no_other_door(void **state)
{
    (void)state;
    static const char *const calls[] = {
        "{name: write_file, arguments: {path: ACTION.md, content: X}}",
        "{name: write_file, arguments: {path: ./action.MD, content: X}}",
        "{name: write_file, arguments: {path: .pons/base/ACTION.md.9, content: X}}",
        "{name: edit_file, arguments: {path: ACTION.md, old_text: '[]', new_text: '[1]'}}",
        "{name: edit_file, arguments: {path: EMBODIED.md, old_text: 'move_to', new_text: 'x'}}",
        "{name: propose_action, arguments: {action_type: move_to, status: running}}",
        "{name: propose_action, arguments: {action_type: move_to, claimed_by: me, params: {}}}",
        "{name: propose_action, arguments: {action_type: stop, action_id: first}}",
        "{name: read_workspace, arguments: {file: ORCHESTRATOR}}",
        "{name: read_workspace, arguments: {file: ../../etc/passwd}}",
    };
    enum { N = sizeof calls / sizeof calls[0] };
    bench b;
    proc p = {0};
    char script[8192] = "replies:\n", words[128], input[N * 8] = "";
    bench_open(&b);
    assert_int_equal(bench_run(&b, "onboard"), 0);
    char *action = get(&b, "ACTION.md"), *body = get(&b, "EMBODIED.md");
    for (size_t i = 0, n = strlen(script); i < N; i++) {
        n += (size_t)snprintf(script + n, sizeof script - n,
                              "- tool_calls: [%s]\n- content: done\n", calls[i]);
        assert_true(n < sizeof script);
        snprintf(input + strlen(input), 8, "try %zu\n", i);
    }
    bench_file(&b, "script.yaml", script);
    snprintf(words, sizeof words, "agent --json --llm script:%s/script.yaml", b.dir);
    bench_start(&b, &p, input, words); // a turn for each
    for (size_t i = 0; i < N; i++) {
        bench_await(&p, "done", "content", "done");
        char *is = get(&b, "ACTION.md"), *body_is = get(&b, "EMBODIED.md");
        assert_string_equal(is, action);
        assert_string_equal(body_is, body);
        free(is);
        free(body_is);
    }
    bench_must_exit(&p, 0);
    assert_int_equal(bench_count(&p, "tool_end", NULL, NULL), N);
    assert_null(strstr(p.text, "root:"));
    bench_free(&p);
    free(action);
    free(body);
    bench_close(&b);
}

static void ask_before_drives(const bench *b)
{
    char command[512];
    snprintf(command, sizeof command,
             "mkdir -p %s/config && sed 's/  skills: \\[\\]/  skills: "
             "[navigate_to_pose]/' " PONS_SOURCE_DIR
             "/config/kernel.yaml >%s/config/kernel.yaml && grep -q "
             "'skills: .navigate_to_pose' %s/config/kernel.yaml",
             b->workspace, b->workspace, b->workspace);
    assert_int_equal(system(command), 0);
}

static void a_person_is_asked_as_configured(void **state)
{
    (void)state;
    bench b;
    proc dog = {0};
    bench_open(&b);
    assert_int_equal(bench_run(&b, "onboard"), 0);
    ask_before_drives(&b);
    replace(&b, "ACTION.md", "{\"queue\": []}",
            "{\"queue\": [{\"action_id\":\"first\",\"action_type\":\"check_connection\"}]}");
    bench_name_robot(&b, DOG);
    bench_start(&b, &dog, NULL, DOG);
    bench_await(&dog, "action", "id", "first");
    // A tree is asked about whatever its leaves are.
    static const char *const asks[] = {
        "{action_type: target_navigation, params: {target_label: kitchen}}",
        "{action_type: strategy, params: {tree: 'root { action [wait, \"s\", 0.1] }'}}"};
    for (int i = 0; i < 2; i++) {
        char script[256], words[64], resume[64];
        snprintf(script, sizeof script,
                 "replies:\n- tool_calls: [{name: propose_action, arguments: %s}]\n", asks[i]);
        snprintf(words, sizeof words, "agent --session s%d go", i);
        say(&b, script, words, 4);
        assert_int_equal(actions(&b, NULL, "completed"),
                         1 + i); // the first one alone, and what was approved
        snprintf(words, sizeof words, "approve s%d approve", i);
        assert_int_equal(bench_run(&b, words), 0);
        snprintf(resume, sizeof resume, "resume s%d", i);
        say(&b, "replies:\n" TOLD(": completed", "content: done"), resume, 0);
        assert_int_equal(actions(&b, NULL, "completed"), 2 + i);
    }
    bench_ledger_check(&b);
    stop(&b, &dog);
}

// Killed while what it asked for runs, or waits behind something else: resumed, it is told of the one action.
static void killed(bool runs)
{
    bench b;
    proc dog = {0}, p = {0};
    start(&b, &dog, "onboard",
          runs ? "watchdog hal --json --driver kinematic --seed 3 --speed 2" : DOG);
    if (!runs) {
        bench_signal(&dog, SIGSTOP); // it has the workspace, and takes nothing up
    }
    begin(&b, &p, "replies:\n" GO_KITCHEN, "agent go");
    await_action(&b, runs ? "running" : "pending");
    bench_signal(&p, SIGKILL);
    bench_must_exit(&p, 128 + SIGKILL);
    bench_free(&p);
    if (!runs) {
        bench_signal(&dog, SIGCONT);
    }
    say(&b, "replies:\n" TOLD("target_navigation: completed", "content: done"), "resume agent", 0);
    assert_int_equal(actions(&b, "target_navigation", "completed"), 1);
    bench_ledger_check(&b);
    assert_int_equal(bench_ledger_skill(&b, "navigate_to_pose"), 1);
    stop(&b, &dog);
}

static void killed_while_it_runs(void **state)
{
    (void)state;
    killed(true);
}

static void killed_while_it_waits(void **state)
{
    (void)state;
    killed(false);
}

// A watchdog that goes leaves nobody waiting, and nothing to be done by surprise.
static void what_nobody_does_is_withdrawn(void **state)
{
    (void)state;
    bench b;
    proc dog = {0}, p = {0};
    start(&b, &dog, "onboard", DOG);
    bench_signal(&dog, SIGSTOP);
    begin(&b, &p, "replies:\n" GO_KITCHEN TOLD("is withdrawn", "content: so be it"), "agent go");
    await_action(&b, "pending");
    bench_signal(&dog, SIGKILL);
    bench_signal(&dog, SIGCONT);
    bench_must_exit(&p, 0);
    bench_free(&p);
    assert_int_equal(actions(&b, "target_navigation", "cancelled"), 1);
    bench_end_body(&b);
    stop(&b, &dog);
}

static double coordinate(const bench *b, const char *object, size_t axis)
{
    pons_ws_doc *d = NULL;
    pons_error err = PONS_ERROR_INIT;
    assert_int_equal(pons_ws_load(PONS_WS_BY_PERSON, b->workspace, PONS_WS_ENVIRONMENT, &d, &err),
                     PONS_OK);
    const pons_ws_record *r = pons_ws_find(d, "object", object);
    assert_non_null(r);
    const double m = json_number_value(json_array_get(pons_get(r->value, "position"), axis));
    pons_ws_destroy(d);
    return m;
}

static void an_apple_ends_in_the_basket(const char *script)
{
    bench b;
    proc dog = {0};
    if (access(PONS_BINARY_DIR "/lib/pons/driver-mujoco.so", F_OK) < 0) {
        skip();
    }
    start(&b, &dog, "onboard --world tabletop --robot arm_001",
          "watchdog hal --json --speed 8 --seed 4");
    say(&b, script, "agent 'put the apple into the basket'", 0);
    for (int64_t since = 0; coordinate(&b, "apple", 2) < 0.42;) {
        bench_again(&since, "a look at where the apple is");
    }
    const double dx = coordinate(&b, "apple", 0) - coordinate(&b, "basket", 0),
                 dy = coordinate(&b, "apple", 1) - coordinate(&b, "basket", 1);
    assert_true(dx * dx + dy * dy < 0.1 * 0.1);
    assert_int_equal(bench_ledger_skill(&b, "pick"), 1);
    assert_int_equal(bench_ledger_skill(&b, "place"), 1);
    stop(&b, &dog);
}

// Picked and placed action by action; and in one sentence, that the rules carry out. One after the other: two
// simulations at once would only be slower.
static void an_apple_by_actions_and_by_a_sentence(void **state)
{
    (void)state;
    an_apple_ends_in_the_basket(
        "replies:\n- tool_calls: [{name: propose_action, arguments: {action_type: pick_up, params: "
        "{object_id: apple}}}]\n" TOLD(
            "pick_up: completed", "tool_calls: [{name: propose_action, arguments: {action_type: "
                                  "place, params: {target: basket}}}]")
            TOLD("place: completed", "content: it is in the basket"));
    an_apple_ends_in_the_basket(
        "replies:\n- tool_calls: [{name: propose_action, arguments: {action_type: real_execute, "
        "params: {nl_task: put the apple into the basket}}}]\n" TOLD(
            "real_execute: completed", "content: it is in the basket"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(killed_while_it_runs, bench_teardown),
        cmocka_unit_test_teardown(an_apple_by_actions_and_by_a_sentence, bench_teardown),
        cmocka_unit_test_teardown(a_proposal_is_done, bench_teardown),
        cmocka_unit_test_teardown(what_the_files_forbid_is_refused, bench_teardown),
        cmocka_unit_test_teardown(without_a_watchdog_nothing_is_asked_for, bench_teardown),
        cmocka_unit_test_teardown(there_is_no_other_door, bench_teardown),
        cmocka_unit_test_teardown(a_person_is_asked_as_configured, bench_teardown),
        cmocka_unit_test_teardown(killed_while_it_waits, bench_teardown),
        cmocka_unit_test_teardown(what_nobody_does_is_withdrawn, bench_teardown),
    };
    return bench_together("agent files", tests, sizeof tests / sizeof tests[0]);
}
