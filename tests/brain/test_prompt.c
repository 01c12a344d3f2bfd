// test_prompt.c - a prompt has a budget of bytes and tokens, and keeps what matters.
//
// The request is what the scripted model is given. Its texts are counted here: bytes as they are,
// tokens at a quarter of the bytes, which is what English and JSON come to; the brain's own estimate
// is higher, so what it says must fit by this measure.
#include "brain_bench.h"
#include "unit.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define QUEUED       1000
#define OBJECTS      200 // of 50 KB: 10 MB
#define BYTES_MAX    65536
#define TOKENS_MAX   3600
#define LEAST_BYTES  6144 // the smallest budget that is allowed
#define LEAST_TOKENS 1800

#define GO                                                                                         \
    "{'decision':{'type':'CONTINUE','reason':'go','ops':[{'op':'dispatch','skill':'navigate_to_"   \
    "pose','args':{'zone':'kitchen'}}]},'repeat':true}"

// All the texts of the newest request, one after the other; and held against the budget.
static char *texts(const bench *b, long bytes_max, long tokens_max)
{
    char *all = NULL, *schema = NULL;
    size_t size = 0, i;
    json_t *m;
    FILE *out = open_memstream(&all, &size);
    json_array_foreach(pons_get(b->llm_request, "messages"), i, m)
    {
        fprintf(out, "%s\n", pons_get_str(m, "content", ""));
    }
    fclose(out);
    const long n = pons_value_line(pons_get(b->llm_request, "schema"), &schema);
    free(schema);
    assert_true((long)size + n <= bytes_max);
    assert_true(((long)size + n) / 4 <= tokens_max);
    return all;
}

static void says(const char *text, const char *part)
{
    if (!strstr(text, part)) {
        fail_msg("the prompt has no %s", part);
    }
}

static void a_world_that_is_too_big_is_cut(void **state)
{
    (void)state;
    bench b;
    bench_open(&b, "[" GO "]");
    b.objects = json_array();
    for (int i = 0; i < OBJECTS; i++) {
        json_array_append_new(b.objects, pons_object("id", json_sprintf("cup_%d", i), "class",
                                                     json_string("cup"), "note",
                                                     json_sprintf("%050000d", i), NULL));
    }
    b.fail_code = 106;
    bench_brain(&b);
    bench_run(&b, 0.5);
    bench_goal_text(&b, "go to the kitchen");
    for (int i = 0; i < QUEUED; i++) {
        bench_post(&b, "say", i % 2 ? "{'text':'去卧室'}" : "{'text':'go to the living room'}");
    }
    bench_await(&b, "effect", "state", "failed", 60.0);
    bench_await(&b, "decision", NULL, NULL, 10.0);
    char *all = texts(&b, BYTES_MAX, TOKENS_MAX);
    says(all, "\"mode\":\"EXEC\"");
    says(all, "\"zone\":\"kitchen\"");
    says(all, "\"last_result\":{");
    says(all, "\"status\":\"failed\"");
    says(all, "\"error_code\":106");
    static const char *const skills[] = {
        "navigate_to_pose", "stop_base", "dock_to_charger", "wait", "look", "speak"};
    for (size_t i = 0; i < sizeof skills / sizeof skills[0]; i++) {
        says(all, skills[i]);
    }
    says(all, "Waiting tasks: [");
    says(all, "Objects: [");
    says(all, "cup_0");
    says(all, "more are left out to fit)");
    print_message("%zu bytes of prompt for %d tasks and %d objects\n", strlen(all), QUEUED,
                  OBJECTS);
    free(all);
    bench_close(&b);
}

// A task whose words are more than its share of the budget; the smallest budget that is allowed.
static void a_task_that_is_too_long_is_cut(void **state)
{
    (void)state;
    bench b;
    char text[9100] = "go to the kitchen";
    bench_open(&b, "[" GO "]");
    pons_value *model = json_object_get(b.config, "model");
    json_object_set_new(model, "prompt_bytes_max", json_integer(LEAST_BYTES));
    json_object_set_new(model, "prompt_tokens_max", json_integer(LEAST_TOKENS));
    bench_brain(&b);
    bench_run(&b, 0.5);
    while (strlen(text) < 9000) { // more than the rules understand, less than a task may have
        strcat(text, "很");
    }
    bench_goal_text(&b, text);
    bench_await(&b, "decision", NULL, NULL, 10.0);
    char *all = texts(&b, LEAST_BYTES, LEAST_TOKENS);
    says(all, "\"mode\":\"EXEC\"");
    says(all, "\"cut\":\"to fit");
    says(all, "go to the kitchen很");
    says(all, "navigate_to_pose");
    free(all);
    bench_close(&b);
}

// A server that counts twice what was estimated gets shorter prompts from then on.
static void a_servers_count_corrects_the_estimate(void **state)
{
    (void)state;
    size_t length[2] = {0};
    for (int i = 0; i < 2; i++) {
        bench b;
        char script[512];
        snprintf(script, sizeof script,
                 "[{'decision':{'type':'CONTINUE','reason':'go','ops':[{'op':'dispatch','skill':"
                 "'wait','args':{}}]},'usage':{'prompt_tokens':%d,'completion_tokens':1},"
                 "'repeat':true}]",
                 i ? 5000 : 1200);
        bench_open(&b, script);
        json_object_set_new(json_object_get(b.config, "model"), "decisions_max", json_integer(99));
        json_object_set_new(json_object_get(b.config, "model"), "prompt_tokens_max",
                            json_integer(2500));
        bench_brain(&b);
        bench_run(&b, 0.5);
        bench_goal_text(&b, "go to the kitchen");
        while (b.llm_starts < 12) {
            bench_await(&b, "decision", NULL, NULL, 10.0);
        }
        char *all = texts(&b, BYTES_MAX, TOKENS_MAX);
        length[i] = strlen(all);
        says(all, "\"mode\":\"EXEC\"");
        says(all, "\"zone\":\"kitchen\"");
        free(all);
        bench_close(&b);
    }
    print_message("%zu and %zu bytes\n", length[0], length[1]);
    assert_true(length[1] < length[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_world_that_is_too_big_is_cut),
        cmocka_unit_test(a_task_that_is_too_long_is_cut),
        cmocka_unit_test(a_servers_count_corrects_the_estimate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
