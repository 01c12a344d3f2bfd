// test_random.c - random plans go out and come back, and lose nothing.
//
// Each plan has random fields: all words of the enumerations, texts with quotes, control
// characters, Chinese and emoji, nested objects, large and small numbers. It goes text → plan →
// text, value → plan → value, and through the tolerant reader in a fenced block with single-quoted
// damage left out; every time the bytes must be the same, and no repair be told of a clean text.
// The seed is printed; PONS_SEED runs another.
#include "plan/plan_help.h"
#include "rounds.h"

enum { STEPS_MAX = 6, TEXT_PIECES = 6, DEPTH = 3 };

static pons_rand rnd;

static int below(int n)
{
    return (int)pons_rand_below(&rnd, (uint64_t)n);
}

static const char *text_of(char buf[128], bool may_be_empty)
{
    static const char *const pieces[] = {"a",    "go",   " ",  "\"", "\\", "\n", "\t", "\x01",
                                         "巡检", "é",    "😀", "'",  "{",  "}",  "[",  "//",
                                         "```",  "\x7f", "\b", "/",  "#",  ":",  ",",  "None"};
    buf[0] = '\0';
    if (!may_be_empty) {
        strcat(buf, "x");
    }
    for (int i = below(TEXT_PIECES); i > 0; i--) {
        strcat(buf, pieces[below(sizeof pieces / sizeof *pieces)]);
    }
    return buf;
}

static pons_value *value_of(int depth)
{
    char buf[128];
    const int kind = below(depth > 0 ? 8 : 6);
    if (kind == 0) {
        return json_null();
    }
    if (kind == 1) {
        return json_boolean(below(2));
    }
    if (kind == 2) {
        return json_integer((json_int_t)pons_rand_u64(&rnd) >> below(64));
    }
    if (kind == 3) {
        return json_real(pons_rand_normal(&rnd, 0, 1e3));
    }
    if (kind < 6) {
        return json_string(text_of(buf, true));
    }
    pons_value *v = kind == 6 ? json_array() : json_object();
    for (int i = below(4); i > 0; i--) {
        if (kind == 6) {
            json_array_append_new(v, value_of(depth - 1));
        } else {
            json_object_set_new(v, text_of(buf, true), value_of(depth - 1));
        }
    }
    return v;
}

static char *object_of(void)
{
    char buf[128], *text = NULL;
    pons_autovalue v = json_object();
    for (int i = below(4); i > 0; i--) {
        json_object_set_new(v, text_of(buf, true), value_of(DEPTH));
    }
    assert_true(pons_value_dump(v, &text) > 0);
    return text;
}

static pons_plan *plan_of(void)
{
    char id[128], goal[128], reasoning[128], source[128], message[128];
    char *metadata = object_of();
    const pons_plan fields = {.plan_id = text_of(id, false),
                              .goal = text_of(goal, false),
                              .reasoning = below(2) ? text_of(reasoning, true) : NULL,
                              .risk_level = (pons_risk_level)below(PONS_RISK_LEVELS),
                              .requires_confirmation = below(2),
                              .confirmation_message = below(2) ? text_of(message, true) : NULL,
                              .status = (pons_plan_status)below(PONS_PLAN_STATUSES),
                              .created_at = below(2) ? NOW_S : pons_rand_normal(&rnd, 0, 1e9),
                              .source = below(2) ? text_of(source, true) : NULL,
                              .metadata = metadata};
    pons_plan *p = NULL;
    assert_int_equal(pons_plan_create(&fields, &p, NULL), PONS_OK);
    free(metadata);
    for (int n = below(STEPS_MAX); n > 0; n--) {
        char action[128], fallback[128], description[128], ask[128];
        char *objects[] = {object_of(), object_of(), object_of()};
        const pons_plan_step s = {
            .step_id = below(2) ? pons_plan_next_step_id(p) : (int64_t)below(1000000),
            .action = text_of(action, false),
            .tool_call_type = (pons_tool_call_type)below(PONS_TOOL_CALL_TYPES),
            .parameters = objects[0],
            .preconditions = objects[1],
            .fallback = below(2) ? text_of(fallback, true) : NULL,
            .status = (pons_step_status)below(PONS_STEP_STATUSES),
            .description = text_of(description, true),
            .requires_confirmation = below(2),
            .confirmation_message = below(2) ? text_of(ask, true) : NULL,
            .metadata = objects[2]};
        const int rc = pons_plan_add_step(p, &s, NULL);
        assert_true(rc == PONS_OK || (rc == PONS_EEXIST && pons_plan_step_get(p, s.step_id)));
        for (size_t i = 0; i < sizeof objects / sizeof *objects; i++) {
            free(objects[i]);
        }
    }
    return p;
}

static void same_text(const pons_plan *p, const char *expected)
{
    char *text = plan_text(p);
    if (strcmp(text, expected) != 0) {
        fail_msg("%s\n  is not\n%s", text, expected);
    }
    free(text);
}

static void round_trip(void)
{
    pons_plan *p = plan_of(), *q = NULL;
    pons_error err = PONS_ERROR_INIT;
    pons_autobuf repairs = PONS_BUF_INIT, fenced = PONS_BUF_INIT;
    char *text = plan_text(p);
    // A copy, the text, and the text in a fence.
    assert_int_equal(pons_plan_create(p, &q, &err), PONS_OK);
    same_text(q, text);
    pons_plan_destroy(q);
    if (read_plan(text, NULL, &q, &repairs, &err) < 0) {
        fail_msg("%s [%s]: %s", err.message, err.source, text);
    }
    assert_int_equal(repairs.len, 0);
    same_text(q, text);
    pons_plan_destroy(q);
    pons_buf_printf(&fenced, "The plan:\n```json\n%s\n```\n", text);
    if (read_plan(fenced.data, NULL, &q, &repairs, &err) < 0) {
        fail_msg("%s [%s]: %s", err.message, err.source, fenced.data);
    }
    assert_string_equal(repairs.data, "fence prose fence");
    same_text(q, text);
    pons_plan_destroy(q);
    // The value, which is what the same JSON library makes of the text.
    pons_autovalue v = NULL;
    assert_int_equal(pons_plan_to_value(p, &v, &err), PONS_OK);
    char *dumped = NULL;
    assert_true(pons_value_dump(v, &dumped) > 0);
    assert_int_equal(pons_plan_from_value(v, 0, &q, &err), PONS_OK);
    same_text(q, dumped);
    free(dumped);
    pons_plan_destroy(q);
    free(text);
    pons_plan_destroy(p);
}

static void test_round_trips(void **state)
{
    (void)state;
    const char *given = getenv("PONS_SEED");
    const uint64_t seed = given ? strtoull(given, NULL, 10) : 20261121;
    print_message("seed %llu\n", (unsigned long long)seed);
    pons_rand_seed(&rnd, seed);
    for (long i = rounds(ROUNDS_plan_random); i > 0; i--) {
        round_trip();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_round_trips)};
    pons_value_init();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
