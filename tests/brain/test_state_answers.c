// test_state_answers.c - what a person asks of the brain is answered at once, from its state and in their language,
// whatever goes on; what is said not to be done cancels that and nothing else; what was done is done again.
#include "brain_bench.h"
#include "unit.h"

#include <string.h>

#define SOON 2.0

static void ready(bench *b, int64_t base_ms)
{
    bench_open(b, NULL);
    b->keep_running = true;
    b->base_ms = base_ms;
    bench_brain(b);
    bench_run(b, 1.0);
}

// The answer, which is what the robot says, too.
static const char *answer_to(bench *b, const char *question)
{
    bench_say(b, question);
    const pons_value *said = bench_await(b, "speak", NULL, NULL, SOON);
    const pons_value *done = bench_await(b, "task.done", "status", "succeeded", SOON);
    assert_string_equal(pons_get_str(done, "text", ""), question);
    assert_string_equal(pons_get_str(done, "reason", ""), pons_get_str(said, "text", "?"));
    return pons_get_str(done, "reason", "");
}

static void says(bench *b, const char *question, const char *part)
{
    const char *answer = answer_to(b, question);
    if (!strstr(answer, part)) {
        fail_msg("\"%s\" is answered \"%s\", without \"%s\"", question, answer, part);
    }
}

static void what_it_can_do(void **state)
{
    (void)state;
    static const char *const asking[] = {"help", "/help", "?", "hello", "what can you do?"},
                             *const zh[] = {"帮助", "你好", "你能做什么？"};
    bench b;
    ready(&b, 1000);
    for (size_t i = 0; i < sizeof asking / sizeof asking[0]; i++) {
        says(&b, asking[i], "navigate_to_pose");
        says(&b, asking[i], "kitchen (厨房)");
        says(&b, asking[i], "\"go to the ");
    }
    for (size_t i = 0; i < sizeof zh / sizeof zh[0]; i++) {
        says(&b, zh[i], "厨房（kitchen）");
        says(&b, zh[i], "“还有多少电”");
    }
    assert_int_equal(b.n_goals, 0); // nothing was sent
    bench_close(&b);
}

static void what_it_did_and_will_do(void **state)
{
    (void)state;
    bench b;
    ready(&b, 1000);
    says(&b, "what did you do?", "nothing yet");
    says(&b, "接下来做什么", "没有别的任务");
    says(&b, "what are you doing?", "no task");
    bench_say(&b, "go to the kitchen");
    bench_await(&b, "task.done", "text", "go to the kitchen", 20.0);
    says(&b, "what did you do?", "\"go to the kitchen\", done");
    b.base_ms = 60000;
    bench_say(&b, "go to the bedroom");
    bench_say(&b, "去客厅");
    bench_await(&b, "effect", "state", "accepted", SOON);
    says(&b, "what are you doing?", "\"go to the bedroom\"");
    says(&b, "what is next?", "1. go to the bedroom (now); 2. 去客厅");
    says(&b, "where are you?", "I am in");    // although a task is active,
    says(&b, "还有多少电？", "电量是百分之"); // and in the language of the question
    assert_int_equal(bench_starts(&b, "navigate_to_pose"), 2);
    assert_int_equal(bench_starts(&b, "speak"), 0);
    bench_close(&b);
}

// Questions push no task out of what it did.
static void asked_often(void **state)
{
    (void)state;
    bench b;
    ready(&b, 100);
    bench_say(&b, "go to the kitchen");
    bench_await(&b, "task.done", "text", "go to the kitchen", 20.0);
    for (int i = 0; i < 55; i++) {
        says(&b, "what are you doing?", "no task");
    }
    says(&b, "what did you do", "\"go to the kitchen\"");
    bench_close(&b);
}

static void why_it_stands(void **state)
{
    (void)state;
    bench b;
    ready(&b, 60000);
    bench_say(&b, "go to the kitchen");
    bench_await(&b, "effect", "state", "accepted", SOON);
    bench_say(&b, "pause");
    bench_run(&b, SOON);
    says(&b, "为什么停下来了", "暂停");
    bench_say(&b, "stop");
    bench_run(&b, SOON);
    says(&b, "why did you stop?", "a person said stop");
    says(&b, "why did you stop?", "\"reset\"");
    says(&b, "你怎么不动了", "有人说了停");
    bench_close(&b);
}

static void fails(bench *b, const char *text, const char *part)
{
    const int before = b->n_goals;
    bench_say(b, text);
    const pons_value *done = bench_await(b, "task.done", "status", "failed", SOON);
    if (!strstr(pons_get_str(done, "reason", ""), part)) {
        fail_msg("\"%s\" fails: %s", text, pons_get_str(done, "reason", ""));
    }
    assert_int_equal(b->n_goals, before);
}

static void asked_back(void **state)
{
    (void)state;
    bench b;
    ready(&b, 1000);
    fails(&b, "go to the kichen", "did you mean kitchen?");
    fails(&b, "去橱房", "厨房");
    fails(&b, "did you go to the kitchen?", "did not understand");
    fails(&b, "去厨房吗", "这是在问");
    fails(&b, "go to the kitchen?", "that is a question");
    bench_close(&b);
}

static void only_that_is_cancelled(void **state)
{
    (void)state;
    static const struct {
        const char *said, *gone;
    } rows[] = {{"cancel the second task", "go to the bedroom"},
                {"取消第二个任务", "go to the bedroom"},
                {"cancel the last one", "去客厅"},
                {"don't go to the bedroom", "go to the bedroom"},
                {"不要去客厅了", "去客厅"},
                {"not the kitchen", "go to the kitchen"}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        bench b;
        ready(&b, 60000);
        bench_say(&b, "go to the kitchen");
        bench_await(&b, "effect", "state", "accepted", SOON);
        bench_say(&b, "go to the bedroom");
        bench_say(&b, "去客厅");
        bench_run(&b, 0.5);
        bench_say(&b, rows[i].said);
        const pons_value *done = bench_await(&b, "task.done", "status", "cancelled", SOON);
        assert_string_equal(pons_get_str(done, "text", ""), rows[i].gone);
        bench_run(&b, 0.5);
        assert_int_equal(bench_count(&b, "task.done", NULL, NULL), 1);
        bench_close(&b);
    }
}

static void what_nobody_does_is_not_cancelled(void **state)
{
    (void)state;
    bench b;
    ready(&b, 60000);
    bench_say(&b, "go to the kitchen");
    bench_await(&b, "effect", "state", "accepted", SOON);
    bench_say(&b, "不要去卧室");
    const pons_value *ignored = bench_await(&b, "control", "word", "cancel", SOON);
    assert_string_equal(pons_get_str(ignored, "ignored", ""), "没有这样的任务，什么也没有改变");
    bench_say(&b, "not the bedroom, the living room");
    bench_await(&b, "task.queued", NULL, NULL, SOON);
    bench_run(&b, 0.5);
    assert_int_equal(bench_count(&b, "task.done", NULL, NULL), 0);
    bench_close(&b);
}

static void once_more(void **state)
{
    (void)state;
    bench b;
    ready(&b, 1000);
    fails(&b, "do that again", "nothing was done yet");
    bench_say(&b, "go to the kitchen");
    bench_await(&b, "task.done", "status", "succeeded", 20.0);
    says(&b, "what did you do?", "kitchen");
    b.x = b.y = 1.0;
    bench_say(&b, "再来一次");
    bench_await(&b, "task.done", "text", "再来一次", 20.0);
    assert_int_equal(bench_starts(&b, "navigate_to_pose"), 2);
    assert_string_equal(pons_get_str(bench_newest(&b, "navigate_to_pose")->args, "zone", ""),
                        "kitchen");
    bench_close(&b);
}

// What the rules only guess is a model's to answer, where there is one.
static void a_guess_is_left_to_a_model(void **state)
{
    (void)state;
    for (int with_model = 0; with_model <= 1; with_model++) {
        bench b;
        bench_open(&b, with_model ? "[]" : NULL);
        b.keep_running = true;
        bench_brain(&b);
        bench_run(&b, 1.0);
        says(&b, "what is next?", "Nothing is left"); // that is known
        bench_say(&b, "is there a plan for dinner at all?");
        bench_run(&b, 0.5);
        assert_int_equal(bench_count(&b, "speak", NULL, NULL), with_model ? 1 : 2);
        bench_close(&b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_it_can_do),
        cmocka_unit_test(what_it_did_and_will_do),
        cmocka_unit_test(asked_often),
        cmocka_unit_test(why_it_stands),
        cmocka_unit_test(asked_back),
        cmocka_unit_test(only_that_is_cancelled),
        cmocka_unit_test(what_nobody_does_is_not_cancelled),
        cmocka_unit_test(once_more),
        cmocka_unit_test(a_guess_is_left_to_a_model),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
