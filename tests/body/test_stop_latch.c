// What a protective stop leaves behind: that a body which cannot prove that it may move boots
// latched, for every byte of the state file; that only the policy's own kind of latch lifts itself;
// what is answered when while the disk takes nothing; and who may come in to reset. Under the
// virtual clock, on one thread; a full disk is played by a limit on the size of files.
#include "body/safety/epoch_file.h"
#include "body_bench.h"
#include "unit.h"

#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define HOUSE PONS_SOURCE_DIR "/worlds/house.yaml"
#define DRIVE "{\"zone\":\"kitchen\"}"

static bench t; // of the test that runs

static int open_house(void **state)
{
    (void)state;
    bench_open(&t, HOUSE);
    bench_hello(&t);
    return 0;
}

static int close_house(void **state)
{
    (void)state;
    bench_close(&t);
    return 0;
}

static const char *file(const char *name)
{
    static char path[128];
    snprintf(path, sizeof path, "%s/%s", t.dir, name);
    return path;
}

static char *slurp(const char *name, size_t *ret_n)
{
    char *text = calloc(1, 65536);
    FILE *f = fopen(file(name), "r");
    assert_non_null(f);
    *ret_n = fread(text, 1, 65536, f);
    fclose(f);
    return text;
}

static void put(const char *name, const char *text, size_t n)
{
    FILE *f = fopen(file(name), "w");
    assert_non_null(f);
    assert_int_equal(fwrite(text, 1, n, f), n);
    fclose(f);
}

static pons_value *word(const char *type)
{
    return pons_object("type", json_string(type), NULL);
}

static const pons_value *stop_of(void)
{
    return pons_get(t.telemetry, "stop");
}

static bool latched(void)
{
    return pons_get_bool(stop_of(), "latched", false);
}

static bool durable(void)
{
    return pons_get_bool(t.telemetry, "latch_durable", false);
}

static const char *origin(void)
{
    return pons_get_str(stop_of(), "origin", "");
}

static void reboot(void)
{
    bench_reboot(&t);
    bench_hello(&t);
    bench_step(&t, 0.1);
}

static void reset(void)
{
    bench_send(&t, word("reset"));
    bench_step(&t, 0.1);
    assert_false(latched());
}

static void start_drive(const char *id)
{
    bench_goal(&t, id, "navigate_to_pose", DRIVE);
    bench_step(&t, 3.0);
    assert_true(bench_speed(&t) > 0.2);
}

static int count(const char *type)
{
    int n = 0;
    for (size_t i = 0; i < json_array_size(t.inbox); i++) {
        n += strcmp(pons_get_str(json_array_get(t.inbox, i), "type", ""), type) == 0;
    }
    return n;
}

static void fill_disk(bool full)
{
    struct rlimit r;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &r), 0);
    r.rlim_cur = full ? 0 : r.rlim_max;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &r), 0);
}

// ---- boots --------------------------------------------------------------------------------------

static void next_boot(const char *what, bool *ret_latched, pons_body_files *ret)
{
    pons_error err = PONS_ERROR_INIT;
    if (pons_body_verify(t.dir, ret, &err) < 0) {
        fail_msg("%s: %s %s", what, err.source, err.message);
    }
    *ret_latched = ret->boots_latched;
}

// The state of the robot's last body, whole, as the only thing that changes.
static void each_byte_counts(const char *which)
{
    size_t n;
    char *text = slurp("body.epoch", &n), what[64];
    pons_body_files f;
    bool latches;
    assert_true(n > 100);
    for (size_t i = 0; i < n; i++) {
        const char was = text[i];
        for (int bit = 0; bit < 8; bit++) {
            snprintf(what, sizeof what, "%s: byte %zu of %zu, bit %d", which, i, n, bit);
            text[i] = (char)(was ^ (1 << bit));
            put("body.epoch", text, n);
            next_boot(what, &latches, &f);
            if (!latches || f.state != PONS_ECORRUPT || strcmp(f.origin, "unknown") != 0) {
                fail_msg("%s: latches %d, state %d, origin %s", what, latches, f.state, f.origin);
            }
        }
        text[i] = was;
        put("body.epoch", text, i); // cut off before that byte
        next_boot(which, &latches, &f);
        if (!latches || f.state != PONS_ECORRUPT) {
            fail_msg("%s: cut to %zu of %zu bytes", which, i, n);
        }
        char *less = malloc(n); // and without that byte
        memcpy(less, text, i);
        memcpy(less + i, text + i + 1, n - i - 1);
        put("body.epoch", less, n - 1);
        free(less);
        next_boot(which, &latches, &f);
        if (!latches) {
            fail_msg("%s: without byte %zu of %zu", which, i, n);
        }
    }
    assert_int_equal(unlink(file("body.epoch")), 0);
    next_boot(which, &latches, &f);
    assert_true(latches);
    assert_int_equal(f.state, PONS_ENOTFOUND);
    put("body.epoch", text, n);
    free(text);
}

static void each_byte_of_the_state_that_is_damaged_or_missing_latches(void **state)
{
    (void)state;
    pons_body_files f;
    bool latches;
    next_boot("fresh", &latches, &f);
    assert_false(latches);
    each_byte_counts("free");
    pons_body_stop(t.body, "a person");
    next_boot("stopped", &latches, &f);
    assert_true(latches);
    assert_string_equal(f.origin, "stop");
    assert_string_equal(f.reason, "a person");
    each_byte_counts("latched");
    // The verdict is the body's own: some of these files, booted.
    size_t n;
    bench_step(&t,
               0.1); // a reset of a stop that nobody has been told of may have been said before it
    reset();
    char *text = slurp("body.epoch", &n);
    for (size_t i = 0; i < n; i += 16) {
        text[i] ^= 1;
        put("body.epoch", text, n);
        text[i] ^= 1;
        reboot();
        assert_true(latched());
        assert_string_equal(origin(), "unknown");
        assert_true(strncmp(pons_get_str(stop_of(), "reason", ""), "boot:", 5) == 0);
        reset();
    }
    put("body.epoch", text, 0);
    reboot();
    assert_true(latched());
    free(text);
}

static void a_stop_that_no_reset_followed_is_in_the_ledger_too(void **state)
{
    (void)state;
    size_t n;
    char *free_state = slurp("body.epoch", &n);
    pons_body_stop(t.body, "a person");
    bench_step(&t, 0.1);
    put("body.epoch", free_state, n); // whole, and of an hour ago
    reboot();
    assert_true(latched());
    assert_string_equal(origin(), "stop");
    assert_string_equal(pons_get_str(stop_of(), "reason", ""), "a person");
    reset();
    reboot();
    assert_false(latched()); // the reset is there as well
    free(free_state);
    assert_int_equal(unlink(file("body.ledger")), 0);
    reboot();
    assert_true(latched()); // goals may have been in it
    assert_string_equal(origin(), "unknown");
}

static void a_torn_ledger_latches_and_a_fresh_place_does_not(void **state)
{
    (void)state;
    FILE *f = fopen(file("body.ledger"), "a");
    assert_non_null(f);
    fputs("{\"kind\":\"lat", f);
    fclose(f);
    reboot();
    assert_true(latched());
    assert_string_equal(origin(), "boot");
    assert_int_equal(unlink(file("body.ledger")), 0);
    assert_int_equal(unlink(file("body.epoch")), 0);
    bench_reboot(&t); // the body that wrote them is gone; nothing is left of it
    bench_hello(&t);
    bench_step(&t, 0.1);
    assert_false(latched());
}

static void the_policy_lifts_only_the_bodys_own_doubt(void **state)
{
    (void)state;
    t.opts.auto_reset_sim = true;
    reboot();
    start_drive("g");
    pons_body_stop(t.body, "boot: says a person"); // with a goal under way, and killed at once
    for (int i = 0; i < 3; i++) {
        reboot();
        assert_true(latched());
        assert_string_equal(origin(), "stop");
    }
    // The brain's automatic reset is for a boot's latch alone.
    bench_send(&t, pons_object("type", json_string("reset"), "auto", json_true(), NULL));
    bench_step(&t, 0.1);
    assert_true(latched());
    assert_string_equal(pons_get_str(bench_last(&t, "error"), "code", ""), "latched");
    reset();
    // A file that is gone might have held a person's stop.
    assert_int_equal(unlink(file("body.epoch")), 0);
    reboot();
    assert_true(latched());
    reboot();
    assert_true(latched());
    assert_string_equal(origin(), "unknown");
    reset();
    // A boot's latch that a person stopped as well is the person's.
    t.opts.auto_reset_sim = false;
    start_drive("h");
    reboot();
    assert_string_equal(origin(), "boot");
    bench_send(&t, word("stop"));
    bench_step(&t, 0.1);
    assert_string_equal(origin(), "stop");
    t.opts.auto_reset_sim = true;
    reboot();
    assert_true(latched());
}

static void epochs_end_with_a_refusal(void **state)
{
    (void)state;
    pons__durable d = {.epoch = PONS__EPOCH_MAX - 1};
    bench_reboot(&t);
    assert_int_equal(pons__durable_save(file("body.epoch"), &d, NULL), PONS_OK);
    reboot();
    assert_int_equal(t.epoch, PONS__EPOCH_MAX);
    pons_link *l = bench_join(&t);
    bench_drop(&t);
    bench_step(&t, 0.1);
    pons_link_send(l,
                   pons_object("type", json_string("hello"), "protocol", json_integer(1), "role",
                               json_string("controller"), NULL),
                   NULL);
    bench_step(&t, 0.1);
    pons_autovalue no = NULL;
    assert_int_equal(pons_link_recv(l, &no, NULL), 1);
    assert_string_equal(pons_get_str(no, "code", ""), "epoch");
    pons_link_close(l);
}

// ---- a full disk --------------------------------------------------------------------------------

static void a_stop_on_a_full_disk_holds_and_is_saved_later(void **state)
{
    (void)state;
    start_drive("g");
    bench_forget(&t);
    fill_disk(true);
    bench_send(&t, word("stop"));
    bench_step(&t, 1.0);
    assert_true(latched());
    assert_false(durable());
    assert_non_null(strstr(pons_get_str(stop_of(), "unsaved", ""), "body.epoch"));
    assert_true(bench_speed(&t) < 0.01);
    assert_int_equal(count("stopped"), 1);
    assert_int_equal(count("unsaved"), 1);
    assert_int_equal(count("latched"), 0);
    // What cannot be recorded is not lifted either.
    bench_send(&t, word("reset"));
    bench_step(&t, 3.0);
    assert_string_equal(pons_get_str(bench_last(&t, "error"), "re", ""), "reset");
    assert_string_equal(pons_get_str(bench_last(&t, "error"), "code", ""), "unsaved");
    assert_true(latched());
    fill_disk(false);
    bench_step(&t, 1.5);
    assert_true(durable());
    assert_int_equal(count("latched"), 1);
    assert_null(pons_get(stop_of(), "unsaved"));
    reboot();
    assert_true(latched());
    assert_string_equal(origin(), "stop");
    reset();
}

static void a_stop_on_a_durable_latch_is_answered_twice_at_once(void **state)
{
    (void)state;
    pons_body_stop(t.body, "first");
    bench_step(&t, 0.1);
    bench_forget(&t);
    fill_disk(true); // nothing needs to be written
    bench_send(&t, word("stop"));
    bench_step(&t, 0.01);
    fill_disk(false);
    assert_int_equal(count("stopped"), 1);
    assert_int_equal(count("latched"), 1);
}

// ---- who comes in -------------------------------------------------------------------------------

static void idle_connections_keep_no_controller_out(void **state)
{
    (void)state;
    pons_link *idle[60], *watch[40];
    bench_drop(&t);
    for (size_t i = 0; i < 60; i++) {
        idle[i] = bench_join(&t);
    }
    for (size_t i = 0; i < 40; i++) {
        watch[i] = bench_join(&t);
        pons_link_send(watch[i],
                       pons_object("type", json_string("hello"), "protocol", json_integer(1), NULL),
                       NULL);
        bench_step(&t, 0.01);
    }
    int in = 0, busy = 0;
    for (size_t i = 0; i < 40; i++) {
        pons_autovalue m = NULL;
        assert_int_equal(pons_link_recv(watch[i], &m, NULL), 1);
        in += strcmp(pons_get_str(m, "type", ""), "hello") == 0;
        busy += strcmp(pons_get_str(m, "code", ""), "busy") == 0;
    }
    assert_int_equal(in, 24);
    assert_int_equal(busy, 16);
    bench_hello(&t); // fails the test when it gets no epoch
    assert_true(t.epoch > 0);
    for (size_t i = 0; i < 60; i++) {
        pons_link_close(idle[i]);
    }
    for (size_t i = 0; i < 40; i++) {
        pons_link_close(watch[i]);
    }
}

static void who_says_nothing_is_closed(void **state)
{
    (void)state;
    pons_link *l = bench_join(&t);
    bench_step(&t, 1.9);
    pons_value *m = NULL;
    assert_int_equal(pons_link_recv(l, &m, NULL), 0);
    bench_step(&t, 0.3);
    assert_int_equal(pons_link_recv(l, &m, NULL), 1);
    assert_string_equal(pons_get_str(m, "code", ""), "no_hello");
    pons_value_unref(m);
    assert_int_equal(pons_link_recv(l, &m, NULL), PONS_ECLOSED);
    pons_link_close(l);
}

// ---- without a body -----------------------------------------------------------------------------

static void a_damaged_ledger_is_repaired_and_latches(void **state)
{
    (void)state;
    size_t n;
    pons_body_files f;
    pons_error err = PONS_ERROR_INIT;
    int64_t lost = -1;
    char copy[256] = "";
    bench_goal(&t, "g", "wait", "{\"s\":0}");
    bench_step(&t, 0.5);
    char *text = slurp("body.ledger", &n);
    char *line = strstr(text, "\"started\"");
    line[3] ^= 1;
    put("body.ledger", text, n);
    assert_int_equal(pons_body_verify(t.dir, &f, &err), PONS_ECORRUPT);
    assert_true(strncmp(err.source, file("body.ledger"), strlen(file("body.ledger"))) == 0);
    assert_string_equal(strrchr(err.source, ':'), ":3");
    assert_int_equal(pons_body_repair(t.dir, &lost, copy, sizeof copy, &err), PONS_OK);
    assert_int_equal(lost, 1);
    assert_int_equal(pons_body_verify(t.dir, &f, &err), PONS_OK);
    assert_true(f.boots_latched);
    assert_string_equal(f.origin, "unknown");
    size_t kept;
    FILE *c = fopen(copy, "r");
    char *old = calloc(1, n + 1);
    assert_non_null(c);
    kept = fread(old, 1, n + 1, c);
    fclose(c);
    assert_int_equal(kept, n);
    assert_memory_equal(old, text, n);
    assert_int_equal(unlink(copy), 0);
    free(old);
    free(text);
    reboot();
    assert_true(latched());
    assert_int_equal(pons_body_repair(t.dir, &lost, copy, sizeof copy, &err), PONS_OK);
    assert_int_equal(lost, 0);
}

int main(void)
{
    pons_value_init();
    signal(SIGXFSZ, SIG_IGN); // past the limit a write fails, as on a full disk
#define ONE(test) cmocka_unit_test_setup_teardown(test, open_house, close_house)
    const struct CMUnitTest tests[] = {
        ONE(each_byte_of_the_state_that_is_damaged_or_missing_latches),
        ONE(a_stop_that_no_reset_followed_is_in_the_ledger_too),
        ONE(a_torn_ledger_latches_and_a_fresh_place_does_not),
        ONE(the_policy_lifts_only_the_bodys_own_doubt),
        ONE(epochs_end_with_a_refusal),
        ONE(a_stop_on_a_full_disk_holds_and_is_saved_later),
        ONE(a_stop_on_a_durable_latch_is_answered_twice_at_once),
        ONE(idle_connections_keep_no_controller_out),
        ONE(who_says_nothing_is_closed),
        ONE(a_damaged_ledger_is_repaired_and_latches),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
