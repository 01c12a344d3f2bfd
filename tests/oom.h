// oom.h - allocations that fail on demand: those of the program (the linker wraps malloc and its kin for
// tests that are named *_memory) and those of its JSON values. Included by one file of a test.
#ifndef PONS_TESTS_OOM_H
#define PONS_TESTS_OOM_H

#include "pons/error.h"
#include "pons/value.h"
#include "rounds.h"
#include "unit.h"

#include <stdlib.h>
#include <string.h>

static struct {
    long count; // allocations so far
    long fail;  // the one that fails; -1: none
    bool off;   // the test's own business
} oom = {.fail = -1, .off = true};

static inline bool oom_fails(void)
{
    return !oom.off && oom.count++ == oom.fail;
}

void *__real_malloc(size_t n);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t n);
char *__real_strdup(const char *s);
void *__wrap_malloc(size_t n);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *p, size_t n);
char *__wrap_strdup(const char *s);

void *__wrap_malloc(size_t n)
{
    return oom_fails() ? NULL : __real_malloc(n);
}
void *__wrap_calloc(size_t n, size_t size)
{
    return oom_fails() ? NULL : __real_calloc(n, size);
}
void *__wrap_realloc(void *p, size_t n)
{
    return oom_fails() ? NULL : __real_realloc(p, n);
}
char *__wrap_strdup(const char *s)
{
    return oom_fails() ? NULL : __real_strdup(s);
}

// JSON values find no memory either. Before anything else.
static inline void oom_init(void)
{
    json_set_alloc_funcs(malloc,
                         free); // the wrapped one, which pons_value_init takes for the usual
    pons_value_init();
}

// Something that is done with public calls. Returns its status, and says what came of it in *ret_said
// (heap; NULL: nothing to say). It is done again and again, so it cleans up behind itself.
typedef int (*oom_act)(const void *user, char **ret_said, pons_error *err);

// Does it undisturbed, then with each of its allocations that is tried (rounds.h) failing once. Each time it must either say
// that there is no memory, or come out as undisturbed; afterwards it must work again. What leaks the
// sanitizer sees.
static inline void oom_sweep(const char *name, oom_act act, const void *user)
{
    pons_error err = PONS_ERROR_INIT;
    char *want = NULL;
    oom.count = 0;
    oom.fail = -1;
    oom.off = false;
    const int well = act(user, &want, &err);
    oom.off = true;
    const long n = oom.count;
    int reported = 0, failed = 0;
    for (long i = 0; i < n; i++) {
        char *said = NULL;
        if (!rounds_take(ROUNDS_allocations, i, n)) {
            continue;
        }
        failed++;
        err = (pons_error)PONS_ERROR_INIT;
        oom.count = 0;
        oom.fail = i;
        oom.off = false;
        const int st = act(user, &said, &err);
        oom.off = true;
        if (st == PONS_ENOMEM) {
            reported++;
            if (err.status != PONS_OK && err.status != PONS_ENOMEM) {
                fail_msg("%s, allocation %ld of %ld: no memory, but the error is '%s'", name, i, n,
                         err.message);
            }
        } else if (st != well) {
            fail_msg("%s, allocation %ld of %ld: status %d (%s) instead of %d", name, i, n, st,
                     err.message, well);
        } else if ((want == NULL) != (said == NULL) || (want && strcmp(want, said) != 0)) {
            fail_msg("%s, allocation %ld of %ld: it said\n%s\ninstead of\n%s", name, i, n,
                     said ? said : "(nothing)", want ? want : "(nothing)");
        }
        free(said);
    }
    char *said = NULL;
    const int again = act(user, &said, &err);
    assert_int_equal(again, well);
    assert_true((want == NULL) == (said == NULL) && (!want || strcmp(want, said) == 0));
    free(said);
    free(want);
    print_message("  %s: %d of %ld allocations failed, %d said so\n", name, failed, n, reported);
}

#endif
