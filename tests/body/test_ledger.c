// The goal ledger: what it remembers over a restart, what it does with a line that a crash tore,
// and that no goal id can start twice. Files are in a mkdtemp directory; a crash is played by
// cutting the file at every byte.
#include "body/ledger/ledger.h"
#include "documented.h"
#include "unit.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char dir[64], path[96];

static int make_dir(void **state)
{
    (void)state;
    snprintf(dir, sizeof dir, "/tmp/pons-ledger-XXXXXX");
    assert_non_null(mkdtemp(dir));
    snprintf(path, sizeof path, "%s/body.ledger", dir);
    return 0;
}

static int remove_dir(void **state)
{
    (void)state;
    unlink(path);
    return rmdir(dir);
}

static pons_ledger_line line(const char *goal_id, pons_goal_state state, int epoch)
{
    return (pons_ledger_line){.goal_id = goal_id,
                              .args_hash = "h",
                              .skill = "wait",
                              .state = state,
                              .boot_id = "b1",
                              .epoch = epoch};
}

static int append(pons__ledger *l, const char *goal_id, pons_goal_state state, int epoch)
{
    const pons_ledger_line one = line(goal_id, state, epoch);
    return pons__ledger_append(l, &one, 1, NULL);
}

static pons__ledger *open_ledger(const char *at)
{
    pons__ledger *l = NULL;
    pons_error err = PONS_ERROR_INIT;
    char text[1024];
    if (pons__ledger_open(at, &l, &err) < 0) {
        fail_msg("%s", pons_error_line(&err, text, sizeof text));
    }
    return l;
}

static bool heard_of(pons__ledger *l, const char *goal_id)
{
    pons__ledger_entry received;
    return pons__ledger_find(l, goal_id, &received);
}

static const char *state_of(pons__ledger *l, const char *goal_id)
{
    pons__ledger_entry received;
    return pons__ledger_find(l, goal_id, &received) ? pons_goal_states[received.line.state]
                                                    : "unknown";
}

static void spoil(const char *text, const char *mode)
{
    FILE *f = fopen(path, mode);
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

static void it_remembers_over_a_restart(void **state)
{
    (void)state;
    pons__ledger *l = open_ledger(path);
    assert_false(heard_of(l, "g1"));
    assert_int_equal(append(l, "g1", PONS_GOAL_ACCEPTED, 3), PONS_OK);
    assert_false(pons__ledger_started(l, "g1"));
    assert_int_equal(append(l, "g1", PONS_GOAL_STARTED, 3), PONS_OK);
    assert_int_equal(append(l, "g1", PONS_GOAL_HELD, 3), PONS_OK);
    assert_int_equal(append(l, "g2", PONS_GOAL_STARTED, 4), PONS_OK);
    assert_int_equal(append(l, "g2", PONS_GOAL_DONE, 4), PONS_OK);
    pons__ledger_close(l);
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);

    l = open_ledger(path);
    assert_int_equal(pons__ledger_torn(l), 0);
    assert_string_equal(state_of(l, "g1"), "held");
    assert_true(pons__ledger_started(l, "g1"));
    assert_string_equal(state_of(l, "g2"), "done");
    assert_int_equal(pons__ledger_epoch(l), 4);
    assert_string_equal(pons__ledger_unfinished(l, "b1"), "g1");
    assert_null(pons__ledger_unfinished(l, "another boot"));
    assert_string_equal(pons__ledger_unfinished(l, NULL), "g1");
    pons__ledger_close(l);
}

static void no_goal_starts_twice(void **state)
{
    const char *at = *state ? path : NULL; // on disk, and in memory
    pons__ledger *l = open_ledger(at);
    assert_int_equal(append(l, "g1", PONS_GOAL_STARTED, 1), PONS_OK);
    assert_int_equal(append(l, "g1", PONS_GOAL_STARTED, 1), PONS_EEXIST);
    assert_int_equal(append(l, "g1", PONS_GOAL_DONE, 1), PONS_OK);
    assert_int_equal(append(l, "g1", PONS_GOAL_STARTED, 2), PONS_EEXIST);
    if (at) {
        pons__ledger_close(l);
        l = open_ledger(at);
        assert_int_equal(append(l, "g1", PONS_GOAL_STARTED, 3), PONS_EEXIST);
    }
    // All lines of an append are refused together.
    const pons_ledger_line both[] = {line("g2", PONS_GOAL_ACCEPTED, 1),
                                     line("g1", PONS_GOAL_STARTED, 1)};
    assert_int_equal(pons__ledger_append(l, both, 2, NULL), PONS_EEXIST);
    assert_false(heard_of(l, "g2"));
    pons__ledger_close(l);
}

static void a_crash_at_any_byte_loses_at_most_the_last_line(void **state)
{
    (void)state;
    pons__ledger *l = open_ledger(path);
    append(l, "g1", PONS_GOAL_STARTED, 1);
    append(l, "g1", PONS_GOAL_DONE, 1);
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    const off_t whole = st.st_size;
    append(l, "g2", PONS_GOAL_STARTED, 2);
    pons__ledger_close(l);
    assert_int_equal(stat(path, &st), 0);
    const off_t full = st.st_size;
    for (off_t cut = full - 1; cut >= whole; cut--) {
        assert_int_equal(truncate(path, cut), 0);
        l = open_ledger(path);
        assert_int_equal(pons__ledger_torn(l), (size_t)(cut - whole));
        assert_string_equal(state_of(l, "g1"), "done");
        assert_false(pons__ledger_started(l, "g2")); // it had not been acknowledged to anybody
        pons__ledger_close(l);
        assert_int_equal(stat(path, &st), 0);
        assert_int_equal(st.st_size, whole); // cut away, so that the next line is a good one
        l = open_ledger(path);
        assert_int_equal(append(l, "g2", PONS_GOAL_STARTED, 2), PONS_OK);
        pons__ledger_close(l);
    }
}

static void must_be_damaged(const char *at_line)
{
    pons__ledger *l = NULL;
    pons_error err = PONS_ERROR_INIT;
    char source[128];
    assert_int_equal(pons__ledger_open(path, &l, &err), PONS_ECORRUPT);
    assert_null(l);
    snprintf(source, sizeof source, "%s:%s", path, at_line);
    assert_string_equal(err.source, source);
    assert_non_null(strstr(err.message, "`pons doctor --repair`"));
}

static void damage_is_named_not_guessed_over(void **state)
{
    (void)state;
    spoil("{\"goal_id\":\"g1\",\"state\":\"started\"}\nrubbish\n"
          "{\"goal_id\":\"g1\",\"state\":\"done\"}\n",
          "w");
    must_be_damaged("2");
    spoil("{\"goal_id\":7,\"state\":\"done\"}\n", "w"); // whole, so no crash tore it
    must_be_damaged("1");
}

// The bytes of a ledger of three lines; the caller frees.
static char *three_lines(size_t *ret_n)
{
    pons__ledger *l = open_ledger(path);
    append(l, "g1", PONS_GOAL_STARTED, 1);
    append(l, "g1", PONS_GOAL_DONE, 1);
    append(l, "g2", PONS_GOAL_STARTED, 2);
    pons__ledger_close(l);
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    char *text = calloc(1, 4096);
    *ret_n = fread(text, 1, 4096, f);
    fclose(f);
    return text;
}

static void each_byte_of_a_ledger_that_is_changed_is_found(void **state)
{
    (void)state;
    size_t n;
    char *text = three_lines(&n);
    for (size_t i = 0; i < n; i++) {
        const char was = text[i];
        int line = 1;
        for (size_t k = 0; k < i; k++) {
            line += text[k] == '\n';
        }
        for (int bit = 0; bit < 8; bit++) {
            text[i] = (char)(was ^ (1 << bit));
            pons__ledger *l = NULL;
            pons_error err = PONS_ERROR_INIT;
            const int rc = pons__ledger_parse(text, n, &l, &err);
            pons__ledger_close(l);
            if (rc != PONS_ECORRUPT) {
                fail_msg("byte %zu of line %d, bit %d: status %d", i, line, bit, rc);
            }
            char number[32];
            snprintf(number, sizeof number, ":%d", line);
            assert_string_equal(strrchr(err.source, ':'), number);
        }
        text[i] = was;
    }
    free(text);
}

static void a_ledger_without_checksums_still_loads(void **state)
{
    (void)state;
    spoil("{\"goal_id\":\"g1\",\"state\":\"started\",\"epoch\":4}\n", "w");
    pons__ledger *l = open_ledger(path);
    assert_int_equal(append(l, "g1", PONS_GOAL_DONE, 5), PONS_OK);
    pons__ledger_close(l);
    l = open_ledger(path);
    assert_string_equal(state_of(l, "g1"), "done");
    assert_int_equal(pons__ledger_plain(l), 1);
    assert_int_equal(pons__ledger_lines(l), 2);
    pons__ledger_close(l);
    spoil("{\"goal_id\":\"g2\",\"state\":\"started\"}\n", "a"); // after lines that have one
    must_be_damaged("3");
}

static void an_epoch_out_of_range_is_damage(void **state)
{
    (void)state;
    spoil("{\"goal_id\":\"g1\",\"state\":\"started\",\"epoch\":9223372036854775807}\n", "w");
    must_be_damaged("1");
    spoil("{\"goal_id\":\"g1\",\"state\":\"started\",\"epoch\":-1}\n", "w");
    must_be_damaged("1");
}

static void lines_of_other_kinds_pass(void **state)
{
    (void)state;
    spoil("{\"note\":\"of another version\"}\n{\"goal_id\":\"g1\",\"state\":\"started\"}\n", "w");
    pons__ledger *l = open_ledger(path);
    assert_true(pons__ledger_started(l, "g1"));
    pons__ledger_close(l);
}

// Bytes of the file as bodies have written them since there are checksums.
static void a_line_is_written_as_ever(void **state)
{
    (void)state;
    static const char *const written[] = {
        "{\"kind\":\"boot\",\"boot_id\":\"b1\",\"ts_ms\":1763766000000,\"latched\":false}",
        "{\"kind\":\"latch\",\"origin\":\"stop\",\"reason\":\"a person\",\"boot_id\":\"b1\","
        "\"ts_ms\":1763766000001}",
        "{\"kind\":\"reset\",\"origin\":\"stop\",\"reason\":\"\",\"boot_id\":\"b1\","
        "\"ts_ms\":1763766000002}",
        "{\"kind\":\"repair\",\"lost\":2,\"ts_ms\":1763766000003}",
        "{\"goal_id\":\"g1\",\"args_hash\":\"c2\",\"skill\":\"wait\",\"state\":\"started\",\"ts_"
        "ms\":5,"
        "\"boot_id\":\"b1\",\"robot_id\":\"pons-1\",\"epoch\":3,\"thread\":\"t1\",\"task_id\":"
        "\"k1\","
        "\"attempt\":1}",
        "{\"goal_id\":\"g1\",\"args_hash\":\"c2\",\"skill\":\"wait\",\"state\":\"failed\",\"ts_"
        "ms\":6,"
        "\"boot_id\":\"b1\",\"robot_id\":\"pons-1\",\"epoch\":3,\"thread\":\"t1\",\"task_id\":"
        "\"k1\","
        "\"attempt\":1,\"error_code\":9902,\"error_msg\":\"STOPPED: a person\",\"metrics\":"
        "{\"distance_m\":0.5,\"duration_s\":1.5,\"recoveries\":0,\"distance_remaining_m\":null}}",
    };
    for (size_t i = 0; i < sizeof written / sizeof written[0]; i++) {
        pons_autovalue json = NULL;
        pons_autovalue again = NULL;
        char *text = NULL;
        assert_int_equal(pons_value_parse(written[i], strlen(written[i]), &json, NULL), PONS_OK);
        if (pons_ledger_about_goal(json)) {
            pons_ledger_line l;
            assert_int_equal(pons_ledger_line_decode(json, &l, NULL), PONS_OK);
            again = pons_ledger_line_encode(&l);
        } else {
            pons_ledger_note n;
            assert_int_equal(pons_ledger_note_decode(json, &n, NULL), PONS_OK);
            again = pons_ledger_note_encode(&n);
        }
        assert_true(pons_value_line(again, &text) > 0);
        assert_string_equal(text, written[i]);
        free(text);
    }
}

// What happened to the latch is read whatever else its line says.
static void a_latch_of_another_version_is_a_latch(void **state)
{
    (void)state;
    spoil("{\"kind\":\"latch\",\"origin\":7,\"reason\":[],\"ts_ms\":\"now\"}\n", "w");
    pons__ledger *l = open_ledger(path);
    assert_true(pons__ledger_witness(l)->latched);
    assert_int_equal(pons__ledger_witness(l)->origin, PONS__ORIGIN_UNKNOWN);
    pons__ledger_close(l);
}

static void what_could_not_be_read_again_is_not_written(void **state)
{
    (void)state;
    pons__ledger *l = open_ledger(path);
    assert_int_equal(append(l, "g\xff", PONS_GOAL_STARTED, 1), PONS_EINVAL);
    assert_int_equal(append(l, "g1", PONS_GOAL_NONE, 1), PONS_EINVAL);
    assert_int_equal(append(l, "g1", PONS_GOAL_STARTED, -1), PONS_EINVAL);
    assert_false(heard_of(l, "g1"));
    assert_int_equal(pons__ledger_goals(l), 0);
    pons__ledger_close(l);
    l = open_ledger(path);
    assert_int_equal(pons__ledger_lines(l), 0);
    pons__ledger_close(l);
}

static void a_state_that_nobody_knows_is_damage(void **state)
{
    (void)state;
    spoil("{\"goal_id\":\"g1\",\"state\":\"dancing\"}\n", "w");
    must_be_damaged("1");
}

static void a_full_disk_is_an_error_and_leaves_nothing_behind(void **state)
{
    (void)state;
    pons__ledger *l = NULL;
    pons_error err = PONS_ERROR_INIT;
    if (access("/dev/full", W_OK) < 0) {
        skip();
    }
    // /dev/full takes no byte: every append must fail and the goal stay unknown.
    if (pons__ledger_open("/dev/full", &l, &err) < 0) {
        skip();
    }
    assert_int_equal(append(l, "g1", PONS_GOAL_STARTED, 1), PONS_EIO);
    assert_false(heard_of(l, "g1"));
    assert_int_equal(append(l, "g1", PONS_GOAL_STARTED, 1), PONS_EIO);
    pons__ledger_close(l);
}

static void the_latch_is_replaced_whole(void **state)
{
    (void)state;
    pons__durable d = {0};
    assert_int_equal(pons__durable_load(path, &d, NULL), PONS_ENOTFOUND);
    const pons__durable first = {.epoch = 7,
                                 .boot_id = "b1",
                                 .latched = true,
                                 .origin = PONS__ORIGIN_STOP,
                                 .reason = "a cat\xff"};
    assert_int_equal(pons__durable_save(path, &first, NULL), PONS_OK);
    assert_int_equal(pons__durable_load(path, &d, NULL), PONS_OK);
    assert_int_equal(d.epoch, 7);
    assert_string_equal(d.boot_id, "b1");
    assert_true(d.latched);
    assert_int_equal(d.origin, PONS__ORIGIN_STOP);
    assert_string_equal(d.reason, "a cat");
    spoil("{\"epo", "w");
    assert_int_equal(pons__durable_load(path, &d, NULL), PONS_ECORRUPT);
    spoil("{\"epoch\":7,\"boot_id\":\"b1\",\"latched\":false,\"reason\":\"\"}\n", "w");
    assert_int_equal(pons__durable_load(path, &d, NULL), PONS_ECORRUPT); // it has no checksum
    assert_int_equal(d.epoch, 7);                                        // untouched
}

static void the_documentation_shows_the_table(void **state)
{
    (void)state;
    pons_autobuf table = PONS_BUF_INIT;
    assert_int_equal(pons_ledger_describe(&table), PONS_OK);
    assert_int_equal(pons_buf_byte(&table, 0), PONS_OK);
    documented_rows(table.data);
}

int main(void)
{
    pons_value_init();
    static char on_disk[] = "disk";
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(it_remembers_over_a_restart, make_dir, remove_dir),
        {"no_goal_starts_twice [disk]", no_goal_starts_twice, make_dir, remove_dir, on_disk},
        {"no_goal_starts_twice [memory]", no_goal_starts_twice, make_dir, remove_dir, NULL},
        cmocka_unit_test_setup_teardown(a_crash_at_any_byte_loses_at_most_the_last_line, make_dir,
                                        remove_dir),
        cmocka_unit_test_setup_teardown(damage_is_named_not_guessed_over, make_dir, remove_dir),
        cmocka_unit_test_setup_teardown(each_byte_of_a_ledger_that_is_changed_is_found, make_dir,
                                        remove_dir),
        cmocka_unit_test(a_line_is_written_as_ever),
        cmocka_unit_test(the_documentation_shows_the_table),
        cmocka_unit_test_setup_teardown(a_latch_of_another_version_is_a_latch, make_dir,
                                        remove_dir),
        cmocka_unit_test_setup_teardown(what_could_not_be_read_again_is_not_written, make_dir,
                                        remove_dir),
        cmocka_unit_test_setup_teardown(a_state_that_nobody_knows_is_damage, make_dir, remove_dir),
        cmocka_unit_test_setup_teardown(a_ledger_without_checksums_still_loads, make_dir,
                                        remove_dir),
        cmocka_unit_test_setup_teardown(an_epoch_out_of_range_is_damage, make_dir, remove_dir),
        cmocka_unit_test_setup_teardown(lines_of_other_kinds_pass, make_dir, remove_dir),
        cmocka_unit_test_setup_teardown(a_full_disk_is_an_error_and_leaves_nothing_behind, make_dir,
                                        remove_dir),
        cmocka_unit_test_setup_teardown(the_latch_is_replaced_whole, make_dir, remove_dir),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
