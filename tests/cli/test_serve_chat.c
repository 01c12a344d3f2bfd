// test_serve_chat.c - the agent in `pons serve`, as a chat program meets it: events in their order, a
// plan and a call that wait for a person in one turn, an answer after the server was killed, a page
// that was closed and comes back, and the configuration that says when people are asked.
#include "cli/serve_client.h"
#include "pons/buf.h"
#include "unit.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PLAN "- tool_calls: [{name: plan_create, arguments: {title: T, steps: [one]}}]\n"

typedef struct talk {
    bench b;
    proc p;
    serve_at a;
} talk;

static void start(talk *t)
{
    char line[512];
    snprintf(line, sizeof line, SERVE FAST " --llm script:%s/script.yaml", t->b.dir);
    t->p = (proc){0};
    bench_start(&t->b, &t->p, NULL, line);
    t->a = serve_ready(&t->b, &t->p);
}

static void open_talk(talk *t, const char *config, const char *script)
{
    char path[256];
    *t = (talk){.p = {0}};
    bench_open(&t->b);
    mkdir(t->b.workspace, 0700);
    if (config) {
        snprintf(path, sizeof path, "%s/graph_config.yaml", t->b.workspace);
        FILE *f = fopen(path, "w");
        assert_non_null(f);
        fputs(config, f);
        fclose(f);
    }
    bench_file(&t->b, "script.yaml", script);
    start(t);
}

static void close_talk(talk *t)
{
    bench_signal(&t->p, SIGTERM);
    bench_must_exit(&t->p, 0);
    bench_free(&t->p);
    bench_close(&t->b);
}

static int chat(const talk *t, const char *body)
{
    return serve_ask(&t->a, t->a.port, "POST", "/api/chat", "", body);
}

// Of the last `"KEY":"…"` in a text.
static void value_of(const char *text, const char *key, char ret[128])
{
    char what[64];
    const char *last = NULL;
    snprintf(what, sizeof what, "\"%s\":\"", key);
    for (const char *at = text; (at = strstr(at, what)); at++) {
        last = at + strlen(what);
    }
    assert_non_null(last);
    snprintf(ret, 128, "%.*s", (int)strcspn(last, "\""), last);
}

static void yes(const talk *t, const char *path, const char *key, const char *id, const char *more,
                int status, const char *says)
{
    char body[512];
    snprintf(body, sizeof body, "{\"%s\":\"%s\",%s}", key, id, more);
    serve_must(&t->a, t->a.port, "POST", path, body, status, says);
}

// Until this event is there as a whole; the caller's text.
static char *hear_event(int fd, const char *what)
{
    char *r = serve_hear(fd, what);
    if (strstr(strstr(r, what), "\n\n")) {
        return r;
    }
    char *rest = serve_hear(fd, "\n\n"), *both = NULL;
    assert_true(asprintf(&both, "%s%s", r, rest) > 0);
    free(r);
    free(rest);
    return both;
}

// In this order in the text; the caller's text.
static void in_order(const char *text, const char *const *what)
{
    const char *at = text;
    for (; *what; what++) {
        const char *found = strstr(at, *what);
        if (!found) {
            fail_msg("no '%s' after\n%.400s\nin\n%s", *what, at, text);
        }
        at = found + strlen(*what);
    }
}

// As `pons status` has it, once the body answers: `pons serve` listens before the body and the brain that it starts
// do. Until one of them is there, no thread is known, and status says so (2).
static bool is_latched(talk *t)
{
    for (int64_t since = 0;; bench_again(&since, "a body that answers")) {
        proc p = {0};
        bench_start(&t->b, &p, NULL, "status --json");
        const int status = bench_finish(&p);
        if (status == 2) {
            char *reported = bench_stderr(&p);
            assert_string_equal(
                reported, "pons: threads: there is no thread yet; `pons run GOAL` begins one\n");
            free(reported);
        } else {
            bench_must_exit(&p, 0);
        }
        const pons_value *is = json_array_get(p.events, 0);
        const bool answers = json_is_object(pons_get(is, "pose"));
        const bool latched = pons_get_bool(pons_get(is, "stop"), "latched", false);
        bench_free(&p);
        if (answers) {
            return latched;
        }
    }
}

// A person's stop in the chat is the robot's, also while a turn is under way, which ends; no model hears it.
static void a_stop_is_the_robots(void **state)
{
    talk t;
    (void)state;
    open_talk(
        &t, NULL,
        "replies:\n- {content: a loop}\n- {content: never, delay_ms: 600000, repeat: true}\n");
    char *r = serve_reply(&t.a, t.a.port, "POST", "/api/chat",
                          "{\"message\":\"write a loop that stops at 3\",\"stream\":false}");
    assert_non_null(strstr(r, "\"content\":\"a loop\""));
    free(r);
    const int fd = chat(&t, "{\"message\":\"for ever\"}");
    free(serve_hear(fd, "llm_start"));
    assert_false(is_latched(&t));
    r = serve_reply(&t.a, t.a.port, "POST", "/api/chat", "{\"message\":\"停\",\"stream\":false}");
    assert_non_null(strstr(r, "\"status\":\"stopped\",\"content\":\"stopped; the latch holds"));
    free(r);
    r = serve_hear(fd, NULL); // to its end
    assert_non_null(strstr(r, "\"done\",\"status\":\"stopped\""));
    free(r);
    close(fd);
    assert_true(is_latched(&t));
    close_talk(&t);
}

// One that is said before there is a body: no model hears it, and the body stops when it comes.
static void a_stop_before_there_is_a_body(void **state)
{
    talk t = {.p = {0}};
    proc body = {0};
    (void)state;
    bench_open(&t.b);
    assert_int_equal(bench_run(&t.b, "onboard --fleet"), 0); // its server starts no body
    bench_file(&t.b, "script.yaml",
               "replies:\n- {content: never, delay_ms: 600000, repeat: true}\n");
    char line[512];
    snprintf(line, sizeof line, "serve --listen 127.0.0.1:0 --json --llm script:%s/script.yaml",
             t.b.dir);
    bench_start(&t.b, &t.p, NULL, line);
    t.a = serve_ready(&t.b, &t.p);
    const int fd = chat(&t, "{\"message\":\"for ever\"}");
    free(serve_hear(fd, "llm_start"));
    char *r =
        serve_reply(&t.a, t.a.port, "POST", "/api/chat", "{\"message\":\"stop\",\"stream\":false}");
    assert_non_null(
        strstr(r, "\"status\":\"stopped\",\"content\":\"no body answers; the stop is kept"));
    free(r);
    r = serve_hear(fd, NULL);
    assert_non_null(strstr(r, "\"done\",\"status\":\"stopped\""));
    free(r);
    close(fd);
    bench_signal(&t.p, SIGKILL); // what was kept is on the disk
    bench_finish(&t.p);
    bench_free(&t.p);
    t.p = (proc){0};
    bench_name_robot(&t.b, FAST);
    bench_start(&t.b, &t.p, NULL, line);
    t.a = serve_ready(&t.b, &t.p);
    bench_start_body(&t.b, &body, FAST);
    for (int64_t since = 0; !is_latched(&t);) {
        bench_again(&since, "the body's stop");
    }
    bench_signal(&body, SIGTERM);
    bench_must_exit(&body, 0);
    bench_free(&body);
    close_talk(&t);
}

static void events_of_a_turn(void **state)
{
    talk t;
    (void)state;
    open_talk(&t, NULL,
              "replies:\n- tool_calls: [{name: list_dir, arguments: {path: .}}]\n"
              "- content: hello there\n- content: again\n");
    int fd = chat(&t, "{\"message\":\"hi\"}");
    char *r = serve_hear(fd, NULL);
    close(fd);
    static const char *const order[] = {"Content-Type: text/event-stream",
                                        "data: {\"type\":\"llm_start\",",
                                        "data: {\"type\":\"llm_end\",",
                                        "data: {\"type\":\"tool_start\",\"tool\":\"list_dir\",",
                                        "data: {\"type\":\"tool_end\",\"tool\":\"list_dir\",",
                                        "data: {\"type\":\"token\",\"content\":\"",
                                        "data: {\"type\":\"done\",\"status\":\"success\"",
                                        NULL};
    in_order(r, order);
    assert_null(strstr(r, "event: ")); // lines without names
    assert_null(strstr(r, "\"seq\":"));
    free(r);
    // Not as a stream; the session is the seed's, and goes on.
    r = serve_reply(&t.a, t.a.port, "POST", "/api/chat", "{\"message\":\"x\",\"stream\":false}");
    assert_non_null(strstr(r, "{\"session_id\":\"main_session\",\"status\":\"success\",\"content\":"
                              "\"again\"}"));
    free(r);
    // What is no chat.
    const int port = t.a.port;
    serve_must(&t.a, port, "POST", "/api/chat", "{\"message\":\"  \"}", 422, "message");
    serve_must(&t.a, port, "POST", "/api/chat", "{\"message\":7}", 422, "message");
    serve_must(&t.a, port, "POST", "/api/chat", "{\"message\":\"x\",\"stream\":\"no\"}", 422,
               "/stream: expected null or boolean");
    serve_must(&t.a, port, "POST", "/api/chat", "{\"message\":\"x\",\"session_id\":\"../x\"}", 422,
               "session_id");
    serve_must(&t.a, port, "POST", "/api/chat", "{\"message\":\"x\",\"session_id\":\"main\"}", 409,
               "no session");
    serve_must(&t.a, port, "GET", "/api/chat?session_id=nobody", "", 404, "no session");
    yes(&t, "/api/plan/approve", "plan_id", "none", "\"approved\":true", 404, "nobody asks");
    close_talk(&t);
}

static const char ASKS[] = "graph:\n  nodes:\n    approval: {enabled: true}\n";

static void two_approvals_in_one_chat(void **state)
{
    talk t;
    char id[128];
    (void)state;
    open_talk(&t, ASKS,
              "replies:\n" PLAN
              "- tool_calls: [{name: terminal, arguments: {command: 'rm -rf none'}}]\n"
              "- content: did one\n- content: all done\n");
    const int fd = chat(&t, "{\"message\":\"do it\",\"session_id\":\"s1\"}");
    char *r = hear_event(fd, "plan_approval_request");
    value_of(r, "plan_id", id);
    free(r);
    yes(&t, "/api/plan/approve", "plan_id", id, "\"approved\":\"true\"", 422,
        "/approved: expected boolean");
    yes(&t, "/api/approve", "request_id", id, "\"approved\":true,\"action\":\"deny\"", 422,
        "opposite");
    // Meanwhile nobody else's words get between; the question is what the turn waits for.
    yes(&t, "/api/plan/approve", "plan_id", id, "\"approved\":true", 200, "\"status\":\"ok\"");
    yes(&t, "/api/plan/approve", "plan_id", id, "\"approved\":true", 404, "nobody asks");
    r = hear_event(fd, "\"type\":\"approval_request\"");
    static const char *const first[] = {"\"type\":\"plan_approval_resolved\"",
                                        "\"type\":\"plan_updated\"", NULL};
    in_order(r, first);
    value_of(r, "request_id", id);
    free(r);
    yes(&t, "/api/approve", "request_id", id, "\"approved\":true,\"action\":\"approve\"", 200,
        "\"approved\":true");
    r = serve_hear(fd, NULL);
    close(fd);
    static const char *const then[] = {"\"type\":\"tool_end\",\"tool\":\"terminal\"",
                                       "\"status\":\"completed\"", "\"type\":\"done\"", NULL};
    in_order(r, then);
    free(r);
    close_talk(&t);
}

// A yes may have a note with it, which is none of the words that a question in words wants.
static void a_yes_with_a_note(void **state)
{
    talk t;
    char id[128];
    (void)state;
    open_talk(
        &t, ASKS,
        "replies:\n- tool_calls: [{name: plan_create, arguments: {title: T, steps: [one, "
        "{action: which, tool_call_type: ask_user, parameters: {question: 'Which one?'}}]}}]\n"
        "- tool_calls: [{name: terminal, arguments: {command: 'rm -rf none'}}]\n"
        "- content: did one\n- content: all done\n");
    const int fd = chat(&t, "{\"message\":\"do it\",\"session_id\":\"s4\"}");
    char *r = hear_event(fd, "plan_approval_request");
    value_of(r, "plan_id", id);
    free(r);
    yes(&t, "/api/plan/approve", "plan_id", id, "\"approved\":true,\"feedback\":\"fine, go\"", 200,
        "\"status\":\"ok\"");
    r = hear_event(fd, "\"type\":\"approval_request\"");
    value_of(r, "request_id", id);
    free(r);
    yes(&t, "/api/approve", "request_id", id, "\"approved\":true,\"feedback\":\"no harm\"", 200,
        "\"approved\":true");
    r = hear_event(fd, "\"type\":\"approval_request\"");
    assert_non_null(strstr(r, "\"type\":\"tool_end\",\"tool\":\"terminal\""));
    assert_non_null(strstr(r, "Which one?"));
    value_of(r, "request_id", id);
    free(r);
    yes(&t, "/api/approve", "request_id", id, "\"approved\":true,\"feedback\":\"the red one\"", 200,
        "\"approved\":true");
    r = serve_hear(fd, NULL);
    close(fd);
    static const char *const then[] = {"the red one", "\"type\":\"done\"", NULL};
    in_order(r, then);
    free(r);
    close_talk(&t);
}

static void an_answer_after_a_kill(void **state)
{
    talk t;
    char id[128];
    (void)state;
    open_talk(&t, ASKS, "replies:\n" PLAN "- content: did one\n- content: all done\n");
    int fd = chat(&t, "{\"message\":\"do it\",\"session_id\":\"s2\"}");
    free(serve_hear(fd, "plan_approval_request"));
    bench_signal(&t.p, SIGKILL);
    close(fd);
    bench_finish(&t.p);
    bench_free(&t.p);
    bench_file(&t.b, "script.yaml", "replies:\n- content: did one\n- content: all done\n");
    start(&t);
    // The page comes back: what is asked is still asked, in a turn that begins where it began.
    fd = serve_ask(&t.a, t.a.port, "GET", "/api/chat?session_id=s2", "", "");
    char *r = hear_event(fd, "plan_approval_request");
    value_of(r, "plan_id", id);
    assert_non_null(strstr(r, "\"type\":\"plan_created\""));
    free(r);
    yes(&t, "/api/plan/approve", "plan_id", id, "\"approved\":true", 200, "\"approved\":true");
    r = serve_hear(fd, NULL);
    close(fd);
    assert_non_null(strstr(r, "\"type\":\"done\",\"status\":\"success\""));
    assert_null(strstr(r, "plan_approval_request")); // each once
    free(r);
    // It is over: who comes now hears its end, and nothing else.
    r = serve_reply(&t.a, t.a.port, "GET", "/api/chat?session_id=s2", "");
    assert_non_null(strstr(r, "\r\n\r\ndata: {\"type\":\"done\","));
    free(r);
    close_talk(&t);
}

// Nobody is there when the person answers, in a server that has just started: the turn goes on.
static void an_answer_to_a_page_that_is_closed(void **state)
{
    talk t;
    char id[128];
    (void)state;
    open_talk(&t, ASKS, "replies:\n" PLAN "- content: never mind\n");
    char *r = serve_reply(&t.a, t.a.port, "POST", "/api/chat",
                          "{\"message\":\"do it\",\"session_id\":\"s3\",\"stream\":false}");
    assert_non_null(strstr(r, "\"status\":\"waiting\""));
    value_of(r, "plan_id", id);
    free(r);
    bench_signal(&t.p, SIGTERM);
    bench_must_exit(&t.p, 0);
    bench_free(&t.p);
    bench_file(&t.b, "script.yaml", "replies:\n- content: never mind\n");
    start(&t);
    yes(&t, "/api/plan/approve", "plan_id", id, "\"approved\":false,\"feedback\":\"not today\"",
        200, "\"approved\":false");
    char *all = NULL;
    for (int i = 0; i < 15000; i++) { // it goes on without being heard
        free(all);
        all = serve_reply(&t.a, t.a.port, "GET", "/api/chat?session_id=s3", "");
        if (strstr(all, "never mind")) {
            break;
        }
        usleep(10000);
    }
    assert_non_null(strstr(all, "never mind"));
    free(all);
    close_talk(&t);
}

static void the_configuration(void **state)
{
    talk t;
    serve_at admin;
    char path[256], role[16];
    (void)state;
    open_talk(&t, "graph:\n  nodes:\n    approval: {enabled: false}\n",
              "replies:\n- content: one\n" PLAN);
    admin = t.a;
    snprintf(path, sizeof path, "%s/run/serve.token", t.b.workspace);
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    do {
        assert_int_equal(fscanf(f, "%15s %64s", role, admin.token), 2);
    } while (strcmp(role, "admin") != 0);
    fclose(f);
    static const char on[] = "{\"text\":\"graph:\\n  nodes:\\n    approval: {enabled: true}\\n\"}";
    static const char url[] = "/api/graph-config";
    serve_must(&t.a, t.a.port, "GET", url, "", 200, "approval: {enabled: false}");
    serve_must(&t.a, t.a.port, "PUT", url, on, 403, "admin");
    serve_must(&admin, t.a.port, "PUT", url, "{\"text\":\"graph: {nods: 1}\"}", 422, ":1:");
    serve_must(&admin, t.a.port, "PUT", url, "{\"config\":{\"graph\":{}},\"text\":\"\"}", 422,
               "/config: not allowed");
    serve_must(
        &admin, t.a.port, "PUT", url,
        "{\"dry_run\":true,\"config\":{\"graph\":{\"nodes\":{\"approval\":{\"enabled\":true}}"
        "}}}",
        200, "\"status\":\"dry_run\",\"changed\":true");
    serve_must(&t.a, t.a.port, "GET", url, "", 200, "approval: {enabled: false}");
    // A session that is open takes it at its next turn.
    serve_must(&t.a, t.a.port, "POST", "/api/chat", "{\"message\":\"a\",\"stream\":false}", 200,
               "\"content\":\"one\"");
    bench_file(&t.b, "script.yaml", "replies:\n" PLAN);
    serve_must(&admin, t.a.port, "PUT", url, on, 200,
               "\"diff\":\"-    approval: {enabled: false}\\n+    approval: {enabled: true}\\n\"");
    serve_must(&t.a, t.a.port, "POST", "/api/chat", "{\"message\":\"a\",\"stream\":false}", 200,
               "\"status\":\"waiting\"");
    serve_must(&admin, t.a.port, "PUT", url, on, 200, "\"changed\":false");
    close_talk(&t);
}

// A chat program's own requests may look; the user's marked words act, and once.
static void programs_of_others(void **state)
{
    talk t;
    char path[256];
    (void)state;
    open_talk(
        &t, NULL,
        "replies:\n- tool_calls: [{name: write_file, arguments: {path: made.txt, content: x}}]\n"
        "- content: I tried\n- content: A title\n");
    const int port = t.a.port;
    static const char url[] = "/v1/chat/completions";
    snprintf(path, sizeof path, "%s/made.txt", t.b.workspace);
    serve_must(&t.a, port, "GET", "/v1/models", "", 200, "\"id\":\"agent\"");
    serve_must(&t.a, port, "POST", url, "{\"model\":\"gpt\",\"messages\":[{\"role\":\"user\"}]}",
               404, "no model");
    serve_must(&t.a, port, "POST", url, "{\"model\":\"agent\",\"messages\":[]}", 422,
               "\"param\":\"messages\"");
    serve_must(&t.a, port, "POST", url,
               "{\"model\":\"agent\",\"tools\":[{}],\"messages\":[{\"role\":\"user\",\"content\":"
               "\"x\"}]}",
               422, "\"param\":\"tools\"");
    // Without the mark, also when it stands elsewhere or is the program's: nothing is made.
    static const char *const looks[] = {
        "{\"role\":\"user\",\"content\":\"write it\"}",
        "{\"role\":\"user\",\"content\":\"A title for: /do write it\"}",
        "{\"role\":\"system\",\"content\":\"/do write it\"},{\"role\":\"user\",\"content\":"
        "\"title?\"}",
        "{\"role\":\"user\",\"content\":\"/do write it\"},{\"role\":\"assistant\",\"content\":"
        "\"ok\"},{\"role\":\"user\",\"content\":\"title?\"}"};
    for (size_t i = 0; i < sizeof looks / sizeof looks[0]; i++) {
        char body[512];
        snprintf(body, sizeof body, "{\"model\":\"agent\",\"messages\":[%s]}", looks[i]);
        serve_must(&t.a, port, "POST", url, body, 200, "I tried"); // told that nobody offered it
        assert_int_equal(access(path, F_OK), -1);
    }
    // With it, and the same words in the same place no second time.
    static const char acts[] =
        "{\"model\":\"agent\",\"stream\":true,\"messages\":[{\"role\":\"user\",\"content\":[{"
        "\"type\":\"text\",\"text\":\"/do write it\"}]}]}";
    char *r = serve_reply(&t.a, port, "POST", url, acts);
    static const char *const order[] = {"data: {\"id\":\"chatcmpl-", "chat.completion.chunk",
                                        "\"role\":\"assistant\"",    "\"finish_reason\":\"stop\"",
                                        "data: [DONE]\n\n",          NULL};
    in_order(r, order);
    free(r);
    assert_int_equal(access(path, F_OK), 0);
    assert_int_equal(unlink(path), 0);
    serve_must(&t.a, port, "POST", url, acts, 409, "done once");
    // The conversation goes on in the session that it was.
    serve_must(
        &t.a, port, "POST", url,
        "{\"model\":\"agent\",\"messages\":[{\"role\":\"user\",\"content\":\"/do write it\"},{"
        "\"role\":\"assistant\",\"content\":\"I tried\"},{\"role\":\"user\",\"content\":"
        "\"again\"}]}",
        200, "I tried"); // told so
    assert_int_equal(access(path, F_OK), -1);
    close_talk(&t);
}

// The agent as a graph: runs of LangGraph's clients, whose threads are not its sessions.
static void runs_of_the_agent(void **state)
{
    talk t;
    (void)state;
    open_talk(&t, NULL,
              "replies:\n- tool_calls: [{name: terminal, arguments: {command: 'rm -rf none'}}]\n"
              "- content: did one\n- content: hello again\n");
    const int port = t.a.port;
    static const char
        wait_at[] = "/threads/t1/runs/wait",
        say[] = "{\"assistant_id\":\"agent\",\"if_not_exists\":\"create\",\"input\":{\"messages\":["
                "{\"role\":\"user\",\"content\":\"do it\"}]}}";
    serve_must(&t.a, port, "POST", wait_at, say, 200, "\"name\":\"terminal\"");
    serve_must(&t.a, port, "GET", "/threads/t1", "", 200, "\"status\":\"interrupted\"");
    bench_signal(&t.p, SIGKILL);
    bench_finish(&t.p);
    bench_free(&t.p);
    start(&t); // the script begins anew
    serve_must(&t.a, t.a.port, "POST", wait_at,
               "{\"assistant_id\":\"agent\",\"command\":{\"resume\":{\"decisions\":[{\"type\":"
               "\"reject\",\"message\":\"not today\"}]}}}",
               200, "not today");
    serve_must(&t.a, t.a.port, "POST", "/threads/t1/runs/wait",
               "{\"assistant_id\":\"agent\",\"input\":{\"messages\":[]}}", 200, "__error__");
    // Who begins in the midst, or writes what is not so, is told; nobody waits for ever.
    static const char *const nonsense[][3] = {
        {"agent", "\"goto\":\"approval\"", "nothing is asked"},
        {"agent", "\"goto\":\"agent\"", "begin with a message"},
        {"agent", "\"goto\":\"agent\",\"update\":{\"turn\":{\"session\":\"main\",\"text\":\"x\"}}",
         "no session of an agent"},
        {"agent", "\"goto\":\"agent\",\"update\":{\"turn\":{\"session\":\"../x\",\"text\":\"x\"}}",
         "session_id"},
        {"agent", "\"goto\":\"agent\",\"update\":{\"turn\":7}", "begin with a message"},
        {"companion", "\"goto\":\"companion\"", "begin with a message"},
        {"react", "\"goto\":\"approval\"", "nothing is asked"},
        {"react", "\"goto\":\"follow\"", "begin with a message"},
    };
    for (size_t i = 0; i < sizeof nonsense / sizeof nonsense[0]; i++) {
        char where[64], body[256];
        snprintf(where, sizeof where, "/threads/n%zu/runs/wait", i);
        snprintf(body, sizeof body,
                 "{\"assistant_id\":\"%s\",\"if_not_exists\":\"create\",\"command\":{%s}}",
                 nonsense[i][0], nonsense[i][1]);
        serve_must(&t.a, t.a.port, "POST", where, body, 200, nonsense[i][2]);
    }
    close_talk(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(events_of_a_turn, bench_teardown),
        cmocka_unit_test_teardown(a_stop_is_the_robots, bench_teardown),
        cmocka_unit_test_teardown(a_stop_before_there_is_a_body, bench_teardown),
        cmocka_unit_test_teardown(two_approvals_in_one_chat, bench_teardown),
        cmocka_unit_test_teardown(a_yes_with_a_note, bench_teardown),
        cmocka_unit_test_teardown(an_answer_after_a_kill, bench_teardown),
        cmocka_unit_test_teardown(an_answer_to_a_page_that_is_closed, bench_teardown),
        cmocka_unit_test_teardown(the_configuration, bench_teardown),
        cmocka_unit_test_teardown(runs_of_the_agent, bench_teardown),
        cmocka_unit_test_teardown(programs_of_others, bench_teardown),
    };
    pons_value_init();
    return bench_together("serve_chat", tests, sizeof tests / sizeof tests[0]);
}
