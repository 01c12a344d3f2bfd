// test_serve_beside.c - `--serve` of run, agent and companion: the page and the API of the process that
// somebody sits at. One process serves a workspace; what is said on one side is seen on the other.
#include "cli/serve_client.h"
#include "unit.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define KINEMATIC " --driver kinematic"
#define PLAN      "- tool_calls: [{name: plan_create, arguments: {title: T, steps: [one]}}]\n"

static void beside_the_prompt_of_a_run(void **state)
{
    (void)state;
    bench b;
    proc p = {0};
    char pid[32], line[256];
    bench_open(&b);
    snprintf(line, sizeof line, "agent --serve 0 --llm script:%s" KINEMATIC,
             bench_file(&b, "script.yaml", "- content: hello\n"));
    bench_start(&b, &p, NULL,
                "run --serve 127.0.0.1:0 --json --thread robot " WATCHABLE " '去厨房'");
    const serve_at a = serve_ready(&b, &p);
    bench_await(&p, "run.started", NULL, NULL);
    serve_must(&a, a.port, "GET", "/v1/state", "", 200, "\"thread\":\"robot\"");
    // Whoever comes second learns who is there, before anything is made. The run lasts so long: it pauses.
    serve_must(&a, a.port, "POST", "/v1/pause", "{}", 202, "");
    snprintf(pid, sizeof pid, "process %ld", (long)p.pid);
    bench_must_fail(&b, "run --serve 0 " FAST " '去卧室'", 3, "pons say --thread robot");
    bench_must_fail(&b, "serve --listen 127.0.0.1:0" KINEMATIC, 3, pid);
    bench_must_fail(&b, line, 3, pid);
    bench_must_fail(&b, "companion run --serve 0" KINEMATIC, 3, pid);
    serve_must(&a, a.port, "POST", "/v1/continue", "{}", 202, "");
    bench_must_exit(&p, 0); // and ends as a run does: when its goals are done
    assert_int_equal(bench_count(&p, "run.done", "status", "succeeded"), 1);
    bench_free(&p);
    bench_close(&b);
}

static void a_run_that_was_killed_leaves_no_lock(void **state)
{
    (void)state;
    bench b;
    proc p = {0}, q = {0};
    bench_open(&b);
    bench_start(&b, &p, NULL, "run --serve 0 --json --thread one " WATCHABLE " '去厨房'");
    serve_ready(&b, &p);
    bench_signal(&p, SIGKILL);
    bench_finish(&p);
    bench_start(&b, &q, NULL, SERVE FAST);
    serve_ready(&b, &q);
    bench_signal(&q, SIGTERM);
    bench_must_exit(&q, 0);
    bench_free(&p);
    bench_free(&q);
    bench_close(&b);
}

static void words_without_a_server(void **state)
{
    (void)state;
    bench b;
    bench_open(&b);
    bench_must_fail(&b, "run --open '去厨房'", 2, "go with --serve");
    bench_must_fail(&b, "run --token-file x '去厨房'", 2, "go with --serve");
    bench_must_fail(&b, "run --serve=kitchen:1 '去厨房'", 2, "no IP address");
    bench_must_fail(&b, "run --serve=127.0.0.1:99999 '去厨房'", 2, "99999");
    bench_must_fail(&b, "agent --open hello", 2, "go with --serve");
    bench_must_fail(&b, "companion run --open", 2, "go with --serve");
    assert_int_not_equal(access(b.workspace, F_OK), 0); // nothing was made
    bench_close(&b);
}

// The terminal's session is the server's: each side sees what the other one says and answers.
static void beside_the_prompt_of_an_agent(void **state)
{
    (void)state;
    bench b;
    proc p = {0};
    char line[512], path[256];
    bench_open(&b);
    mkdir(b.workspace, 0700);
    snprintf(path, sizeof path, "%s/graph_config.yaml", b.workspace);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs("graph:\n  nodes:\n    approval: {enabled: true}\n", f);
    fclose(f);
    bench_file(&b, "script.yaml",
               "- content: from the terminal\n- content: from the page\n" PLAN
               "- content: one is done\n- content: all is done\n");
    snprintf(line, sizeof line,
             "agent --serve 0 --json --session mine --llm script:%s/script.yaml" KINEMATIC, b.dir);
    bench_start(&b, &p, "hello\n", line); // its input ends: it goes on serving
    const serve_at a = serve_ready(&b, &p);
    bench_await(&p, "done", "content", "from the terminal");
    const char *words = "{\"message\":\"and I\",\"session_id\":\"mine\",\"stream\":false}";
    serve_must(&a, a.port, "POST", "/api/chat", words, 200, "from the page");
    bench_await(&p, "done", "content", "from the page");
    // A question that the terminal sees is answered by the page.
    serve_must(&a, a.port, "POST", "/api/chat",
               "{\"message\":\"plan\",\"session_id\":\"mine\",\"stream\":false}", 200, "waiting");
    const pons_value *q = bench_await(&p, "plan_approval_request", NULL, NULL);
    snprintf(line, sizeof line, "{\"plan_id\":\"%s\",\"approved\":true}",
             pons_get_str(q, "plan_id", ""));
    serve_must(&a, a.port, "POST", "/api/plan/approve", line, 200, "\"approved\":true");
    bench_await(&p, "done", "content", "all is done");
    bench_signal(&p, SIGTERM);
    bench_must_exit(&p, 0);
    bench_free(&p);
    bench_close(&b);
}

// The page answers a robot's question with what a person may say, and with nothing that is the kernel's own.
static void the_page_answers_the_robot(void **state)
{
    (void)state;
    static const char *const wrong[] = {
        "{\"action\":\"shrug\"}",
        "{\"action\":\"approve\",\"aside\":true}",
        "{\"action\":\"approve\",\"detached\":true}",
        "{\"action\":\"approve\",\"answer\":\"left\"}",
        "{\"action\":\"answer\"}",
        "{\"action\":\"answer\",\"answer\":\"\"}",
        "{\"action\":\"answer\",\"answer\":7}",
        "{\"action\":\"answer\",\"answer\":\"3\"}", // of two
        "{\"action\":\"edit\"}",
        "{\"action\":\"edit\",\"args\":{}}", // of no operation
        "{\"action\":\"reject\",\"reason\":{}}",
        "[]",
    };
    bench b;
    proc p = {0};
    char line[512], path[256];
    bench_open(&b);
    bench_file(&b, "doors.yaml",
               "replies:\n- decision: {type: ASK_HUMAN, reason: two doors, ops: [{op: approval, "
               "question: 'which door?', options: [left, right]}]}\n"
               "- decision: {type: FINISH, reason: done}\n");
    snprintf(line, sizeof line, SERVE FAST " --llm script:%s/doors.yaml", b.dir);
    bench_start(&b, &p, NULL, line);
    const serve_at a = serve_ready(&b, &p);
    serve_must(&a, a.port, "POST", "/v1/say", "{\"text\":\"water the plants\"}", 202, "");
    const pons_value *q = bench_await(&p, "approval.requested", NULL, NULL);
    snprintf(path, sizeof path, "/v1/approvals/%s", pons_get_str(q, "id", ""));
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        serve_must(&a, a.port, "POST", path, wrong[i], 422, "");
    }
    serve_must(&a, a.port, "POST", path, "{\"action\":\"answer\",\"answer\":\"2\"}", 200, "bound");
    const pons_value *seen = bench_await(&p, "observation", NULL, NULL);
    const pons_value *human = pons_get(pons_get(seen, "observation"), "human");
    assert_string_equal(pons_get_str(human, "answer", ""), "right");
    bench_signal(&p, SIGTERM);
    bench_finish(&p);
    bench_free(&p);
    bench_close(&b);
}

// A number that no option has, said by a client of the graph, is no end of its run: it is told, and asked again.
static void a_client_of_the_graph_slips(void **state)
{
    (void)state;
    static const char wish[] = "{\"assistant_id\":\"react\",\"if_not_exists\":\"create\",\"input\":"
                               "{\"messages\":[{\"role\":\"user\",\"content\":\"water the "
                               "plants\"}]}}",
                      slip[] = "{\"assistant_id\":\"react\",\"command\":{\"resume\":{\"decisions\":"
                               "[{\"type\":\"respond\",\"message\":\"3\"}]}}}",
                      says[] = "{\"assistant_id\":\"react\",\"command\":{\"resume\":{\"decisions\":"
                               "[{\"type\":\"respond\",\"message\":\"2\"}]}}}",
                      path[] = "/threads/5eed5eed-5eed-4eed-8eed-5eed5eed0001/runs/wait";
    bench b;
    proc p = {0};
    char line[512];
    bench_open(&b);
    bench_file(&b, "doors.yaml",
               "replies:\n- decision: {type: ASK_HUMAN, reason: two doors, ops: [{op: approval, "
               "question: 'which door?', options: [left, right]}]}\n"
               "- decision: {type: ABORT, reason: as you wish}\n");
    snprintf(line, sizeof line, SERVE FAST " --llm script:%s/doors.yaml", b.dir);
    bench_start(&b, &p, NULL, line);
    const serve_at a = serve_ready(&b, &p);
    serve_must(&a, a.port, "POST", path, wish, 200, "which door?");
    serve_must(&a, a.port, "POST", path, slip, 200, "there are 2 options, and none of number 3");
    serve_must(&a, a.port, "POST", path, says, 200, "as you wish");
    bench_await(&p, "approval.resolved", "answer", "right");
    bench_signal(&p, SIGTERM);
    bench_finish(&p);
    bench_free(&p);
    bench_close(&b);
}

// What a client of the graph sees of the brain that it waits for: its nodes, what its model says, its channels, also of
// the robot's own thread.
static void a_client_of_the_graph_sees_the_brain(void **state)
{
    (void)state;
    static const char wish[] = "{\"assistant_id\":\"react\",\"if_not_exists\":\"create\",\"input\":"
                               "{\"messages\":[{\"role\":\"user\",\"content\":\"water the "
                               "plants\"}]},\"stream_mode\":[\"messages-tuple\"]}",
                      thread[] = "/threads/5eed5eed-5eed-4eed-8eed-5eed5eed0003";
    bench b;
    proc p = {0};
    char line[512];
    bench_open(&b);
    bench_file(&b, "sky.yaml", "replies:\n- decision: {type: ABORT, reason: no can is here}\n");
    snprintf(line, sizeof line, SERVE FAST " --llm script:%s/sky.yaml", b.dir);
    bench_start(&b, &p, NULL, line);
    const serve_at a = serve_ready(&b, &p);
    static const char *const nodes[] = {"follow:kernel:hci_ingress", "follow:kernel:kernel_route",
                                        "follow:react:react_decide",
                                        "follow:react:dispatch_skills"};
    for (size_t i = 0; i < sizeof nodes / sizeof nodes[0]; i++) {
        serve_must(&a, a.port, "GET", "/assistants/react/graph?xray=true", "", 200, nodes[i]);
    }
    serve_must(&a, a.port, "GET", "/assistants/react/graph", "", 200, "\"follow\"");
    serve_must(&a, a.port, "GET", "/assistants/agent/graph?xray=1", "", 200, "agent:replanner");
    serve_must(&a, a.port, "GET", "/assistants/react/subgraphs?recurse=true", "", 200,
               "follow|react");
    snprintf(line, sizeof line, "%s/runs/stream", thread);
    char *said = serve_reply(&a, a.port, "POST", line, wish);
    const char *token = strstr(said, "AIMessageChunk");
    assert_non_null(token);
    assert_non_null(strstr(token, "no can is here"));
    assert_non_null(strstr(token, "\"langgraph_node\":\"react_decide\""));
    free(said);
    snprintf(line, sizeof line, "%s/state", thread);
    serve_must(&a, a.port, "GET", line, "", 200, "\"tasks\":{");
    serve_must(&a, a.port, "GET", line, "", 200, "\"outcome\":{"); // its own are there too
    serve_must(&a, a.port, "GET", "/threads/main/state", "", 200, "\"react\":{");
    serve_must(&a, a.port, "GET", "/threads/main/state", "", 200, "\"hci\":{");
    bench_signal(&p, SIGTERM);
    bench_finish(&p);
    bench_free(&p);
    bench_close(&b);
}

// Each operation has its decision, and a no to one of them is none to be sent without it.
static void a_client_of_the_graph_refuses_one_of_two(void **state)
{
    (void)state;
    static const char wish[] = "{\"assistant_id\":\"react\",\"if_not_exists\":\"create\",\"input\":"
                               "{\"messages\":[{\"role\":\"user\",\"content\":\"water the "
                               "plants\"}]}}",
                      path[] = "/threads/5eed5eed-5eed-4eed-8eed-5eed5eed0002/runs/wait";
    static const struct {
        const char *decisions, *action; // decisions: of {}, or words
    } rows[] = {
        {"\"好像不行\"", "reject"},
        {"\"is that ok\"", "reject"},
        {"\"可以\"", "approve"},
        {"{\"type\":\"approve\"},{\"type\":\"reject\",\"message\":\"no driving\"}", "reject"},
        {"{\"type\":\"reject\"},{\"type\":\"approve\"}", "reject"},
        {"{\"type\":\"approve\"}", "reject"},
        {"{\"type\":\"approve\"},{\"type\":\"approve\"},{\"type\":\"approve\"}", "reject"},
        {"{\"type\":\"approve\"},{\"type\":\"shrug\"}", "reject"},
        {"{\"type\":\"edit\",\"edited_action\":{\"name\":\"stop_base\",\"args\":{\"s\":1}}},"
         "{\"type\":\"approve\"}",
         "reject"},
        {"{\"type\":\"edit\",\"edited_action\":{\"name\":\"wait\",\"args\":{\"s\":1}}},"
         "{\"type\":\"reject\"}",
         "reject"},
        {"{\"type\":\"approve\"},{\"type\":\"approve\"}", "approve"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        bench b;
        proc p = {0};
        char line[512], resume[512];
        bench_open(&b);
        bench_file(
            &b, "two.yaml",
            "replies:\n- decision: {type: CONTINUE, reason: both, ops: [{op: dispatch, skill: "
            "wait, args: {s: 1}}, {op: dispatch, skill: navigate_to_pose, args: {zone: "
            "kitchen}}, {op: approval, question: 'may I?'}]}\n"
            "- decision: {type: ABORT, reason: as you wish}\n");
        snprintf(line, sizeof line, SERVE FAST " --llm script:%s/two.yaml", b.dir);
        bench_start(&b, &p, NULL, line);
        const serve_at a = serve_ready(&b, &p);
        serve_must(&a, a.port, "POST", path, wish, 200, "may I?");
        snprintf(resume, sizeof resume,
                 *rows[i].decisions == '"'
                     ? "{\"assistant_id\":\"react\",\"command\":{\"resume\":%s}}"
                     : "{\"assistant_id\":\"react\",\"command\":{\"resume\":{\"decisions\":[%s]}}}",
                 rows[i].decisions);
        serve_must(&a, a.port, "POST", path, resume, 200, "as you wish");
        bench_await(&p, "approval.resolved", "action", rows[i].action);
        const bool sent = bench_count(&p, "effect", "skill", "navigate_to_pose") > 0;
        assert_int_equal(sent, strcmp(rows[i].action, "approve") == 0);
        bench_signal(&p, SIGTERM);
        bench_finish(&p);
        bench_free(&p);
        bench_close(&b);
    }
}

static void beside_a_companion(void **state)
{
    (void)state;
    bench b;
    proc p = {0};
    bench_open(&b);
    bench_start(&b, &p, NULL,
                "companion run --serve 0 --json --from 2026-03-02T06:00 --days 1 --seed 1"
                " --llm rules" KINEMATIC);
    serve_ready(&b, &p);
    bench_await(&p, "action.started", NULL, NULL);
    bench_must_exit(&p, 0); // a life that is over ends it all
    bench_free(&p);
    bench_start(
        &b, &p, NULL,
        "companion run --serve 0 --json --from 2026-03-03T06:00 --speed 60 --llm rules" KINEMATIC);
    const serve_at a = serve_ready(&b, &p);
    bench_await(&p, "tick", NULL, NULL);
    serve_must(&a, a.port, "GET", "/v1/threads", "", 200, "\"companion\"");
    bench_signal(&p, SIGTERM); // and who leaves ends the life
    bench_must_exit(&p, 0);
    bench_free(&p);
    bench_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(beside_the_prompt_of_a_run, bench_teardown),
        cmocka_unit_test_teardown(a_run_that_was_killed_leaves_no_lock, bench_teardown),
        cmocka_unit_test_teardown(words_without_a_server, bench_teardown),
        cmocka_unit_test_teardown(beside_the_prompt_of_an_agent, bench_teardown),
        cmocka_unit_test_teardown(the_page_answers_the_robot, bench_teardown),
        cmocka_unit_test_teardown(a_client_of_the_graph_slips, bench_teardown),
        cmocka_unit_test_teardown(a_client_of_the_graph_sees_the_brain, bench_teardown),
        cmocka_unit_test_teardown(a_client_of_the_graph_refuses_one_of_two, bench_teardown),
        cmocka_unit_test_teardown(beside_a_companion, bench_teardown),
    };
    return bench_together("serve beside", tests, sizeof tests / sizeof tests[0]);
}
