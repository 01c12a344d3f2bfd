// test_machine.c - only the transitions that were drawn can happen.
#include "pons/machine.h"
#include "unit.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { IDLE, SENT, DONE, STATES };

static const pons_machine goal = {.name = "goal",
                                  .n = STATES,
                                  .states = (const char *const[]){"idle", "sent", "done"},
                                  .may = (const uint64_t[]){
                                      [IDLE] = PONS_TO(SENT),
                                      [SENT] = PONS_TO(SENT) | PONS_TO(DONE) | PONS_TO(IDLE),
                                      [DONE] = 0,
                                  }};

static void test_the_table_decides(void **state)
{
    (void)state;
    static const bool may[STATES][STATES] = {
        [IDLE] = {[SENT] = true},
        [SENT] = {[IDLE] = true, [SENT] = true, [DONE] = true},
    };
    for (int from = 0; from < STATES; from++) {
        for (int to = 0; to < STATES; to++) {
            pons_error err = PONS_ERROR_INIT;
            int at = from;
            assert_int_equal(pons_machine_may(&goal, from, to), may[from][to]);
            const int r = pons_machine_move(&goal, &at, to, &err);
            assert_int_equal(r, may[from][to] ? PONS_OK : PONS_EPROTOCOL);
            assert_int_equal(at, may[from][to] ? to : from);
        }
    }
}

static void test_numbers_that_name_no_state(void **state)
{
    (void)state;
    static const int none[] = {-1, STATES, 63, 64, 1000, -1000};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        assert_false(pons_machine_may(&goal, none[i], SENT));
        assert_false(pons_machine_may(&goal, SENT, none[i]));
        assert_false(pons_machine_final(&goal, none[i]));
        assert_string_equal(pons_machine_state(&goal, none[i]), "?");
        int at = none[i];
        assert_int_equal(pons_machine_move(&goal, &at, IDLE, NULL), PONS_EPROTOCOL);
        assert_int_equal(at, none[i]);
    }
}

static void test_messages_name_both_states(void **state)
{
    (void)state;
    pons_error err = PONS_ERROR_INIT;
    char line[128];
    int at = DONE;
    assert_int_equal(pons_machine_move(&goal, &at, SENT, &err), PONS_EPROTOCOL);
    assert_string_equal(pons_error_line(&err, line, sizeof line), "goal: done may not become sent");
}

static void test_names(void **state)
{
    (void)state;
    assert_string_equal(pons_machine_state(&goal, SENT), "sent");
    assert_true(pons_machine_final(&goal, DONE));
    assert_false(pons_machine_final(&goal, SENT));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_table_decides),
        cmocka_unit_test(test_numbers_that_name_no_state),
        cmocka_unit_test(test_messages_name_both_states),
        cmocka_unit_test(test_names),
    };
    return cmocka_run_group_tests_name("base/machine", tests, NULL, NULL);
}
