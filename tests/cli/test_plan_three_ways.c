// test_plan_three_ways.c - one plan, carried out by `pons plan run`, by `pons run --plan` and by the agent: each
// step comes to the same, the same is asked, and only a plan without a failed step is completed.
//
// The steps are those of the protocol's demo (a query, a confirmed question, a step with a precondition and
// a fallback, a word), and what each may be refused for. All is the real program; a person's answers come
// by standard input, and by `pons approve` from another terminal.
#include "cli_bench.h"
#include "pons/buf.h"
#include "unit.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define WORLD_STEP                                                                                 \
    "{\"step_id\":1,\"action\":\"query_world_state\",\"tool_call_type\":\"query_world\","          \
    "\"parameters\":{\"query\":\"world.objects\"},\"description\":\"what is there\"}"
#define ASK_STEP                                                                                   \
    "{\"step_id\":2,\"action\":\"confirm_action\",\"tool_call_type\":\"ask_user\",\"parameters\":" \
    "{\"prompt\":\"Shall it be cooler?\"},\"requires_confirmation\":true,"                         \
    "\"confirmation_message\":\"Too warm. Cooler?\"}"
#define DO_STEP                                                                                    \
    "{\"step_id\":3,\"action\":\"cool\",\"tool_call_type\":\"noop\",\"preconditions\":"            \
    "{\"world.objects_not\":[]},\"fallback\":\"stop_base\"}"
#define SAY_STEP                                                                                   \
    "{\"step_id\":4,\"action\":\"say\",\"tool_call_type\":\"speak\",\"parameters\":"               \
    "{\"message\":\"It is cooler.\"}}"
#define NOOP(id, more)                                                                             \
    "{\"step_id\":" #id ",\"action\":\"nothing\",\"tool_call_type\":\"noop\"" more "}"

typedef struct row {
    const char *steps;
    const char *answer; // to each question
    const char *expected, *asked;
    bool completed;
} row;

static const row rows[] = {
    {WORLD_STEP "," ASK_STEP "," DO_STEP "," SAY_STEP, "y",
     "1 success; 2 success; 3 success; 4 success; ", "Too warm. Cooler?; ", true},
    {NOOP(1, ",\"requires_confirmation\":true,\"confirmation_message\":\"Now?\"") "," NOOP(2, ""),
     "y", "1 success; 2 success; ", "Now?; ", true},
    {NOOP(1, ",\"requires_confirmation\":true,\"confirmation_message\":\"Now?\"") "," NOOP(2, ""),
     "n", "1 skipped; 2 skipped; ", "Now?; ", false},
    {NOOP(1, ",\"preconditions\":{\"world.moon_above\":1}") "," NOOP(2, "") "," NOOP(3, ""), "y",
     "1 failed; 2 skipped; 3 skipped; ", "", false},
    {NOOP(1, ",\"preconditions\":{\"world.moon\":1},\"fallback\":\"stop_base\"") "," NOOP(
         2, "") "," NOOP(3, ""),
     "y", "1 failed; 2 skipped; 3 skipped; ", "", false},
    {NOOP(1, ",\"preconditions\":{\"world.moon\":1},\"requires_confirmation\":true") "," NOOP(
         2, "") "," NOOP(3, ""),
     "y", "1 failed; 2 skipped; 3 skipped; ", "", false},
    {"{\"step_id\":1,\"action\":\"q\",\"tool_call_type\":\"query_world\",\"parameters\":"
     "{\"query\":\"world.moon\"}}," NOOP(2, "") "," NOOP(3, ""),
     "y", "1 failed; 2 skipped; 3 skipped; ", "", false},
    {"{\"step_id\":1,\"action\":\"a\",\"tool_call_type\":\"ask_user\",\"confirmation_message\":"
     "\"Which?\"}",
     "yes", "1 success; ", "Which?; ", true},
};

typedef struct account {
    char steps[512], asked[512], results[8192];
    bool completed;
} account;

static void add(char *buf, size_t cap, const char *text)
{
    const size_t n = strlen(buf);
    snprintf(buf + n, cap - n, "%s; ", text);
}

// An execution result: its status, and all of it but the time, and what a voice says of itself: a robot's
// has moved nothing and says so.
static void add_result(account *a, const pons_value *r)
{
    char line[128];
    char *text = NULL;
    const pons_value *output = pons_get(r, "output");
    const bool voice = pons_get(output, "text") || pons_get(output, "goal_id");
    snprintf(line, sizeof line, "%lld %s", (long long)pons_get_int(r, "step_id", 0),
             pons_get_str(r, "status", ""));
    add(a->steps, sizeof a->steps, line);
    pons_autovalue what = pons_object("step_id", pons_value_ref(pons_get(r, "step_id")), "message",
                                      pons_value_ref(pons_get(r, "message")), "success",
                                      pons_value_ref(pons_get(r, "success")), "output",
                                      voice ? json_null() : pons_value_ref(output), NULL);
    assert_true(pons_value_line(what, &text) > 0);
    add(a->results, sizeof a->results, text);
    free(text);
}

static void by_plan_run(bench *b, const char *answer, account *ret)
{
    proc p;
    char words[256], input[64], *said;
    snprintf(words, sizeof words, "plan run --json --world house %s/plan.json", b->dir);
    snprintf(input, sizeof input, "%s\n%s\n", answer, answer);
    bench_start(b, &p, input, words);
    const int status = bench_finish(&p);
    ret->completed = status == 0;
    assert_true(status == 0 || status == 1);
    for (size_t i = 0; i < json_array_size(p.events); i++) {
        add_result(ret, json_array_get(p.events, i));
    }
    said = bench_stderr(&p); // "QUESTION [y/n] " and "QUESTION "
    for (char *at = said, *end; (end = strchr(at, '?')) != NULL; at = end + 1) {
        at += strspn(at, " \n");
        at += strncmp(at, "[y/n] ", 6) == 0 ? 6 : 0;
        char question[256];
        snprintf(question, sizeof question, "%.*s", (int)(end + 1 - at), at);
        add(ret->asked, sizeof ret->asked, question);
    }
    free(said);
    bench_free(&p);
}

// Starts, and while a person is waited for, answers from elsewhere and resumes.
static void until_it_ends(bench *b, const char *start, const char *resume, const char *thread,
                          const char *answer, void (*take)(account *, const pons_value *),
                          account *ret)
{
    char words[64];
    const char *line = start;
    for (int lives = 0; lives < 4; lives++) {
        proc p;
        bench_start(b, &p, NULL, line);
        const int status = bench_finish(&p);
        for (size_t i = 0; i < json_array_size(p.events); i++) {
            take(ret, json_array_get(p.events, i));
        }
        if (status != 4) {
            bench_free(&p);
            return;
        }
        bench_free(&p);
        snprintf(words, sizeof words, "approve %s %s", thread,
                 *answer == 'y' ? "approve" : "reject");
        assert_int_equal(bench_run(b, words), 0);
        line = resume;
    }
    fail_msg("it asks for ever");
}

static void take_of_brain(account *a, const pons_value *e)
{
    const char *type = pons_get_str(e, "type", "");
    if (strcmp(type, "plan.result") == 0) {
        add_result(a, e);
    } else if (strcmp(type, "plan.status") == 0) {
        a->completed = strcmp(pons_get_str(e, "status", ""), "completed") == 0;
    } else if (strcmp(type, "approval.requested") == 0) {
        add(a->asked, sizeof a->asked,
            pons_get_str(json_array_get(pons_get(e, "ops"), 0), "question",
                         pons_get_str(e, "question", "")));
    }
}

static void take_of_agent(account *a, const pons_value *e)
{
    const char *type = pons_get_str(e, "type", ""), *status = pons_get_str(e, "status", "");
    char line[64];
    if (strcmp(type, "plan_updated") == 0 && strcmp(status, "running") != 0) {
        snprintf(line, sizeof line, "%lld %s", (long long)pons_get_int(e, "step_id", 0),
                 strcmp(status, "completed") == 0 ? "success" : status);
        add(a->steps, sizeof a->steps, line);
    } else if (strcmp(type, "approval_request") == 0) {
        add(a->asked, sizeof a->asked, pons_get_str(pons_get(e, "input"), "question", ""));
    } else if (strcmp(type, "done") == 0) {
        a->completed = strcmp(pons_get_str(e, "content", ""), "it is completed") == 0;
    }
}

// The row that *state is.
static void a_plan_comes_to_the_same_three_ways(void **state)
{
    const size_t i = (size_t)((const row *)*state - rows);
    bench b;
    proc body;
    char start[512], resume[512];
    bench_open(&b);
    pons_autobuf text = PONS_BUF_INIT;
    pons_buf_printf(&text,
                    "{\"plan_id\":\"plan_1\",\"goal\":\"g\",\"created_at\":0,\"steps\":[%s]}",
                    rows[i].steps);
    bench_file(&b, "plan.json", text.data);
    account plain = {0}, brain = {0}, agent = {0};
    by_plan_run(&b, rows[i].answer, &plain);

    snprintf(start, sizeof start, "run --json --thread t " FAST " --plan %s/plan.json", b.dir);
    until_it_ends(&b, start, "resume --json t", "t", rows[i].answer, take_of_brain, &brain);

    pons_buf_clear(&text);
    pons_buf_printf(
        &text,
        "replies:\n"
        "- {when: {messages.-1.content: go}, tool_calls: [{name: plan_create, arguments: "
        "{title: g, steps: [%s]}}]}\n"
        "- {when: {messages.0.content: {contains: goes on}}, content: '{\"action\":\"finish\","
        "\"reason\":\"\"}', repeat: true}\n"
        "- {when: {messages.-1.content: {contains: '\": completed.'}}, content: it is "
        "completed}\n"
        "- {content: it is not, repeat: true}\n",
        rows[i].steps);
    bench_file(&b, "script.yaml", text.data);
    bench_start_body(&b, &body, "--driver kinematic --speed 4 --seed 3");
    snprintf(start, sizeof start, "agent --json go --llm script:%s/script.yaml", b.dir);
    snprintf(resume, sizeof resume, "resume agent --json --llm script:%s/script.yaml", b.dir);
    until_it_ends(&b, start, resume, "agent", rows[i].answer, take_of_agent, &agent);
    bench_signal(&body, SIGTERM);
    bench_finish(&body);
    bench_free(&body);

    const account *all[] = {&plain, &brain, &agent};
    static const char *const who[] = {"pons plan run", "pons run --plan", "the agent"};
    for (size_t k = 0; k < 3; k++) {
        if (strcmp(all[k]->steps, rows[i].expected) != 0 ||
            strcmp(all[k]->asked, rows[i].asked) != 0 || all[k]->completed != rows[i].completed) {
            fail_msg("row %zu, %s: %s/ asked %s/ %s", i, who[k], all[k]->steps, all[k]->asked,
                     all[k]->completed ? "completed" : "not completed");
        }
    }
    assert_string_equal(plain.results, brain.results);
    bench_close(&b);
}

int main(void)
{
    enum { ROWS = sizeof rows / sizeof rows[0] };
    struct CMUnitTest tests[ROWS];
    for (size_t i = 0; i < ROWS; i++) {
        tests[i] = (struct CMUnitTest){.name = rows[i].expected,
                                       .test_func = a_plan_comes_to_the_same_three_ways,
                                       .teardown_func = bench_teardown,
                                       .initial_state = (void *)(rows + i)};
    }
    pons_value_init();
    return bench_together("three ways", tests, ROWS);
}
