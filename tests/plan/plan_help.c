// plan_help.c - see plan_help.h.
#include "plan/plan_help.h"

pons_value *json(const char *text)
{
    pons_value *v = NULL;
    pons_error err = PONS_ERROR_INIT;
    if (pons_value_parse(text, strlen(text), &v, &err) < 0) {
        fail_msg("bad JSON in the test: %s: %s", err.message, text);
    }
    return v;
}

static void list(void *user, const pons_plan_repair *r)
{
    pons_buf *b = user;
    assert_true(r->line > 0 && r->column > 0);
    assert_true(r->what[0] != '\0');
    if (!b || r->kind == PONS_REPAIR_DEFAULT || r->kind == PONS_REPAIR_NEW_ID ||
        r->kind == PONS_REPAIR_NEW_TIME) {
        return;
    }
    pons_buf_printf(b, "%s%s", b->len ? " " : "", pons_repair_word(r->kind));
}

int read_plan(const char *text, const char *goal, pons_plan **ret, pons_buf *repairs,
              pons_error *err)
{
    pons_rand rand;
    pons_rand_seed(&rand, 7);
    const pons_plan_read_options o = {
        .goal = goal, .from = {.now_s = NOW_S, .rand = &rand}, .fn = list, .user = repairs};
    return pons_plan_read(text, strlen(text), &o, ret, err);
}

char *plan_text(const pons_plan *p)
{
    char *text = NULL;
    assert_true(pons_plan_text(p, &text) > 0);
    return text;
}
