// fuzz_plan.c - the plan reader: any text gives a plan or a reason, and a plan reads back as itself
// without a repair.
#include "pons/plan.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void count(void *user, const pons_plan_repair *r)
{
    if (r->line < 1 || r->column < 1 || !*r->what) {
        abort();
    }
    ++*(int *)user;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    pons_rand rand;
    int repairs = 0;
    pons_plan *p = NULL, *q = NULL;
    pons_error err = PONS_ERROR_INIT;
    char *text = NULL, *again = NULL;
    pons_rand_seed(&rand, 1);
    const pons_plan_read_options o = {
        .goal = "g", .from = {.rand = &rand}, .fn = count, .user = &repairs};
    const int rc = pons_plan_read((const char *)data, size, &o, &p, &err);
    if (rc < 0) {
        if (rc != err.status || !*err.message) {
            abort();
        }
        return 0;
    }
    const long n = pons_plan_text(p, &text);
    repairs = 0;
    if (n < 0 || pons_plan_read(text, (size_t)n, &o, &q, &err) < 0 || repairs > 0) {
        abort();
    }
    if (pons_plan_text(q, &again) != n || memcmp(text, again, (size_t)n) != 0) {
        abort();
    }
    free(text);
    free(again);
    pons_plan_destroy(p);
    pons_plan_destroy(q);
    return 0;
}
