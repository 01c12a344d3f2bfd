// conformance_ok.h - a call that must do, and one that must be refused with words; both say the line.
#ifndef PONS_TESTS_STORE_CONFORMANCE_OK_H
#define PONS_TESTS_STORE_CONFORMANCE_OK_H

#include "pons/error.h"
#include "unit.h"

static inline void ok_at(int rc, const pons_error *err, int line)
{
    char text[1024];
    if (rc != PONS_OK) {
        fail_msg("line %d: %s: %s", line, pons_status_word(rc),
                 pons_error_line(err, text, sizeof text));
    }
}
#define OK(call)                                                                                   \
    do {                                                                                           \
        pons_error err = PONS_ERROR_INIT;                                                          \
        ok_at((call), &err, __LINE__);                                                             \
    } while (0)
#define REFUSED(want, call)                                                                        \
    do {                                                                                           \
        pons_error err = PONS_ERROR_INIT;                                                          \
        assert_int_equal(call, want);                                                              \
        assert_int_equal(err.status, want);                                                        \
        assert_true(err.message[0] != '\0');                                                       \
    } while (0)

#endif
