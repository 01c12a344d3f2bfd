// test_small_model.c - what a model is asked in the house that is shipped is small enough for a small
// model: the requests of a run with three goals, as the recording has them, in bytes.
//
// SmolLM2's tokenizer makes a token of some 2.5 bytes of these texts, so TEXTS_MAX are 3,000 of them.
#include "cli_bench.h"
#include "unit.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEXTS_MAX 7500 // bytes of all messages of a request
#define FORM_MAX  6000 // and of the form of its answer
#define TALK_LINE (1 << 20)

static const char script[] =
    "replies:\n"
    "  - decision: {type: CONTINUE, reason: off, ops: [{op: dispatch, skill: look, args: {}}]}\n"
    "  - decision: {type: CONTINUE, reason: on, ops: [{op: dispatch, skill: wait, args: {s: 1}}]}\n"
    "  - decision: {type: FINISH, reason: there}\n"
    "  - decision: {type: CONTINUE, reason: once more, ops: [{op: dispatch, skill: "
    "navigate_to_pose, "
    "args: {zone: kitchen}}]}\n"
    "  - decision: {type: FINISH, reason: there}\n"
    "    repeat: true\n";

// Of one request: the bytes of its texts, and of its form.
static void measure(const pons_value *request, size_t *ret_texts, size_t *ret_form)
{
    size_t i;
    json_t *message;
    char *form = NULL;
    *ret_texts = 0;
    json_array_foreach(pons_get(request, "messages"), i, message) {
        *ret_texts += strlen(pons_get_str(message, "content", ""));
    }
    const long n = pons_value_line(pons_get(request, "schema"), &form);
    *ret_form = n > 0 ? (size_t)n : 0;
    free(form);
}

static void requests_in_the_house_are_small(void **state)
{
    (void)state;
    bench b;
    proc p = {0};
    char path[160], talk[160], words[512];
    bench_open(&b);
    snprintf(path, sizeof path, "%s/small.yaml", b.dir);
    snprintf(talk, sizeof talk, "%s/talk.jsonl", b.dir);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(script, f);
    fclose(f);
    snprintf(words, sizeof words,
             "run --json --thread t " FAST " --llm record:%s:script:%s 去厨房 "
             "'patrol the kitchen and the bedroom' 等三秒",
             talk, path);
    bench_start(&b, &p, NULL, words);
    bench_await(&p, "run.done", NULL, NULL);
    bench_finish(&p);
    bench_free(&p);
    char *line = malloc(TALK_LINE);
    size_t requests = 0, texts_max = 0, form_max = 0;
    f = fopen(talk, "r");
    assert_non_null(f);
    while (fgets(line, TALK_LINE, f)) {
        pons_autovalue v = NULL;
        size_t texts, form;
        if (pons_value_parse(line, strlen(line), &v, NULL) >= 0 && pons_get(v, "request")) {
            measure(pons_get(v, "request"), &texts, &form);
            assert_true(texts > 0 && form > 0);
            // The first may drive and speak, whatever the budget has room for.
            assert_true(requests > 0 || strstr(line, "{\"const\":\"speak\"}"));
            requests++;
            texts_max = texts > texts_max ? texts : texts_max;
            form_max = form > form_max ? form : form_max;
        }
    }
    fclose(f);
    free(line);
    print_message("%zu requests, at most %zu bytes of texts and %zu of form\n", requests, texts_max,
                  form_max);
    assert_true(requests >= 4);
    assert_true(texts_max <= TEXTS_MAX);
    assert_true(form_max <= FORM_MAX);
    bench_end_body(&b);
    bench_close(&b);
}

// What the rules refuse, a name that they do not know among it, is the model's where there is one.
static void what_the_rules_do_not_know_is_the_models(void **state)
{
    (void)state;
    static const char *const words[] = {"帮我看看有没有人",
                                        "go to the kitchen, no wait, the bedroom",
                                        "去厨房，同时告诉我你走了", "go to the moon"};
    bench b;
    char path[160], command[512];
    bench_open(&b);
    snprintf(path, sizeof path, "%s/abort.yaml", b.dir);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs("replies:\n  - decision: {type: ABORT, reason: the model was asked}\n    repeat: true\n",
          f);
    fclose(f);
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        snprintf(command, sizeof command, "run --new --thread m%zu " FAST " --llm script:%s '%s'",
                 i, path, words[i]);
        proc p = {0};
        bench_start(&b, &p, NULL, command);
        bench_must_exit(&p, 1); // 2: refused before it was asked
        if (!strstr(p.text, "the model was asked")) {
            fail_msg("%s: %s", words[i], p.text);
        }
        bench_free(&p);
    }
    bench_end_body(&b);
    bench_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(requests_in_the_house_are_small, bench_teardown),
        cmocka_unit_test_teardown(what_the_rules_do_not_know_is_the_models, bench_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
