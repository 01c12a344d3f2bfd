// test_life.c - days of a companion that nobody tells what to do: a simulated week twice, school
// days, weekends and holidays, messages at night and in lessons, and a kill at every commit, after
// which the life must be the one that was never killed.
#include "life_help.h"
#include "pons/items.h"
#include "rounds.h"

static const char MONDAY[] = "2026-03-02";

static char *week(uint64_t seed)
{
    life l;
    life_init(&l, NULL, NULL);
    life_open(&l, MONDAY, seed);
    life_run(&l, "2026-03-09");
    char *text = life_text(&l);
    life_fini(&l);
    return text;
}

static void same_seed_same_week(void **state)
{
    (void)state;
    char *a = week(7), *b = week(7), *other = week(8);
    assert_string_equal(a, b);
    assert_string_not_equal(a, other);
    free(a);
    free(b);
    free(other);
}

static void a_school_day(void **state)
{
    (void)state;
    life l;
    life_init(&l, NULL, NULL);
    life_open(&l, MONDAY, 1);
    life_run(&l, "2026-03-03");
    const pons_value *wake = life_find(&l, "action.started", "wake", 0);
    assert_true(strcmp(life_time(wake), "2026-03-02T06:32") >= 0);
    assert_true(strcmp(life_time(wake), "2026-03-02T06:48") <= 0);
    const pons_value *go = life_find(&l, "action.started", "go_to_school", 0);
    assert_string_equal(life_time(go), "2026-03-02T07:20");
    const pons_value *study = life_find(&l, "action.started", "study", 0);
    assert_true(strcmp(life_time(study), "2026-03-02T07:36") >= 0);
    assert_string_equal(life_time(life_find(&l, "action.ended", "study", 0)), "2026-03-02T16:30");
    assert_string_equal(life_time(life_find(&l, "action.started", "go_home", 0)),
                        "2026-03-02T16:30");
    assert_non_null(life_find(&l, "action.ended", "go_home", 0));
    assert_int_equal(life_count(&l, "action.started", "sleep"), 2); // at midnight, in the evening
    // Each of them is explained by a decision of the same minute.
    const pons_value *why = life_find(&l, "decision", "go_to_school", 0);
    assert_string_equal(pons_get_str(why, "branch", ""), "RoutineFallback.School");
    assert_string_equal(life_time(why), "2026-03-02T07:20");
    life_fini(&l);
}

static size_t schooldays(const char *from, const char *until, const edit *edits)
{
    life l;
    life_init(&l, edits, NULL);
    life_open(&l, from, 3);
    life_run(&l, until);
    const size_t n = life_count(&l, "action.started", "go_to_school");
    life_fini(&l);
    return n;
}

static void weekends_and_holidays(void **state)
{
    (void)state;
    assert_int_equal(schooldays("2026-03-02", "2026-03-09", NULL), 5);
    assert_int_equal(schooldays("2026-03-07", "2026-03-09", NULL), 0);
    assert_int_equal(schooldays("2026-05-01", "2026-05-06", NULL), 0);
    const edit made_up[] = {{"school_days: []", "school_days: [\"2026-03-07\"]"}, {NULL, NULL}};
    assert_int_equal(schooldays("2026-03-07", "2026-03-09", made_up), 1);
    const edit zone[] = {{"timezone: \"+08:00\"", "timezone: \"-05:00\""}, {NULL, NULL}};
    assert_int_equal(schooldays("2026-03-02", "2026-03-09", zone), 5);
}

static void personal_parameters(void **state)
{
    (void)state;
    const edit owl[] = {{"sleep_tendency_min: 0", "sleep_tendency_min: 90"},
                        {"sleep_jitter_min: 8", "sleep_jitter_min: 0"},
                        {"commute_min: 20", "commute_min: 5"},
                        {"commute_jitter_min: 4", "commute_jitter_min: 0"},
                        {NULL, NULL}};
    life l;
    life_init(&l, owl, NULL);
    life_open(&l, "2026-03-07T12:00", 1); // a Saturday
    life_run(&l, "2026-03-09T12:00");
    assert_string_equal(life_time(life_find(&l, "action.started", "sleep", 0)), "2026-03-08T00:00");
    assert_string_equal(life_time(life_find(&l, "action.started", "wake", 0)), "2026-03-08T09:50");
    // On Monday it is 08:10 when such a one gets up: the window to school is over.
    assert_string_equal(life_time(life_find(&l, "action.started", "wake", 1)), "2026-03-09T08:10");
    assert_int_equal(life_count(&l, "action.started", "go_to_school"), 0);
    life_fini(&l);
}

// ---- messages -----------------------------------------------------------------------------------

static void say(life *l, const char *text, const char *from, bool urgent)
{
    assert_int_equal(pons_companion_message(l->store, NULL, text, from, urgent, &l->err), PONS_OK);
}

static void night(const edit *edits, const char *text, const char *from, bool urgent, bool wakes)
{
    life l;
    life_init(&l, edits, NULL);
    life_open(&l, MONDAY, 1);
    life_run(&l, "2026-03-02T02:00");
    say(&l, text, from, urgent);
    life_run(&l, "2026-03-02T12:00");
    const pons_value *read = life_find(&l, "action.started", "read_message", 0);
    if (!edits) { // what is urgent wakes, and the event says so, whatever made it urgent
        const pons_value *received = life_find(&l, "external.message", NULL, 0);
        assert_int_equal(pons_get_bool(received, "urgent", !wakes), wakes);
    }
    if (wakes) {
        assert_string_equal(life_time(life_find(&l, "action.started", "wake", 0)),
                            "2026-03-02T02:00");
        assert_string_equal(life_time(read), "2026-03-02T02:01");
        // … and sleeps again, and still gets to school.
        assert_string_equal(life_time(life_find(&l, "action.started", "sleep", 1)),
                            "2026-03-02T02:03");
        const pons_value *why = life_find(&l, "decision", "wake", 0);
        assert_string_equal(pons_get_str(why, "branch", ""), "Emergency");
    } else {
        const pons_value *no = life_find(&l, "filtered", "read_message", 0);
        assert_string_equal(pons_get_str(no, "rule", ""), "message_waits");
        assert_string_equal(life_time(no), "2026-03-02T02:00");
        assert_int_equal(life_count(&l, "filtered", "read_message"),
                         1); // told once, not each minute
        // Read in the morning, within minutes of getting up.
        assert_true(
            strcmp(life_time(life_find(&l, "action.started", "wake", 0)), "2026-03-02T06:32") >= 0);
        assert_non_null(read);
        assert_true(strcmp(life_time(read), "2026-03-02T06:50") < 0);
    }
    assert_int_equal(life_count(&l, "action.started", "read_message"), 1);
    assert_string_equal(life_time(life_find(&l, "action.started", "go_to_school", 0)),
                        "2026-03-02T07:20");
    life_fini(&l);
}

// Sleep would follow at once: while the message is read, that it may not is told once.
static void sleep_waits_for_a_reader(void **state)
{
    (void)state;
    static const edit edits[] = {
        {"minutes: 2\n    interruptible: false\n    preemptive: true\n    "
         "reads_messages",
         "minutes: 20\n    interruptible: false\n    preemptive: true\n    "
         "reads_messages"},
        {NULL, NULL}};
    life l;
    life_init(&l, edits, NULL);
    life_open(&l, MONDAY, 1);
    life_run(&l, "2026-03-02T02:00");
    say(&l, "call me", "mother", true);
    life_run(&l, "2026-03-02T03:00");
    assert_int_equal(life_count(&l, "action.started", "read_message"), 1);
    assert_int_equal(life_count(&l, "filtered", "sleep"), 1);
    assert_int_equal(life_count(&l, "action.started", "sleep"), 2);
    life_fini(&l);
}

static void a_message_at_night(void **state)
{
    (void)state;
    const edit never[] = {{"interrupt: urgent", "interrupt: never"}, {NULL, NULL}};
    const edit always[] = {{"interrupt: urgent", "interrupt: always"}, {NULL, NULL}};
    night(NULL, "are you awake?", NULL, false, false);
    night(NULL, "are you awake?", NULL, true, true);
    night(NULL, "are you awake?", "mother", false, true);
    night(NULL, "This is URGENT", "friend", false, true);
    night(NULL, "救命!", NULL, false, true);
    night(never, "help", "mother", true, false);
    night(always, "hm", NULL, false, true);
}

static void a_lesson_is_gone_on_with(void **state)
{
    (void)state;
    life l;
    life_init(&l, NULL, NULL);
    life_open(&l, MONDAY, 1);
    life_run(&l, "2026-03-02T10:00");
    say(&l, "lunch later?", NULL, false);
    life_run(&l, "2026-03-02T10:30");
    assert_int_equal(life_count(&l, "action.started", "read_message"), 0);
    say(&l, "come to the phone", "mother", false);
    life_run(&l, "2026-03-02T17:00");
    const pons_value *cut = life_find(&l, "action.ended", "study", 0);
    assert_string_equal(life_time(cut), "2026-03-02T10:30");
    assert_string_equal(pons_get_str(cut, "status", ""), "interrupted");
    assert_string_equal(life_time(life_find(&l, "action.started", "study", 1)), "2026-03-02T10:32");
    assert_string_equal(life_time(life_find(&l, "action.ended", "study", 1)), "2026-03-02T16:30");
    assert_int_equal(life_count(&l, "external.message", NULL), 2);
    life_fini(&l);
}

// ---- restarts -----------------------------------------------------------------------------------

static void sleep_survives(void **state)
{
    (void)state;
    life l;
    life_init(&l, NULL, NULL);
    life_open(&l, "2026-03-02T12:00", 1);
    life_run(&l, "2026-03-03T01:00");
    char until[32];
    snprintf(until, sizeof until, "%s",
             pons_get_str(life_find(&l, "action.started", "sleep", 0), "until", ""));
    life_close(&l);
    pons_value *kept = NULL;
    assert_int_equal(pons_companion_read(l.store, NULL, &kept, &l.err), PONS_OK);
    assert_string_equal(pons_get_str(pons_get(kept, "activity"), "type", ""), "sleep");
    pons_value_unref(kept);
    life_open(&l, "2020-01-01", 99); // of a new life; this one goes on
    assert_int_equal(pons_companion_minute(l.c), life_minute(&l, "2026-03-03T01:00"));
    life_run(&l, "2026-03-03T12:00");
    assert_string_equal(pons_get_str(life_find(&l, "action.ended", "sleep", 0), "time", ""), until);
    assert_int_equal(life_count(&l, "action.started", "sleep"), 1);
    life_fini(&l);
}

static struct fault { // a store that dies at its n-th commit, before it or after it
    pons_store_ops ops;
    int (*commit)(void *self, const pons_commit *c, pons_error *err);
    long n, kill_at;
    bool before, dead;
} fault;

static int dying_commit(void *self, const pons_commit *c, pons_error *err)
{
    const bool last = ++fault.n == fault.kill_at;
    if (fault.dead || (last && fault.before)) {
        fault.dead = true;
        return pons_error_set(err, PONS_EIO, "test", "killed");
    }
    const int rc = fault.commit(self, c, err);
    if (last) {
        fault.dead = true;
        return pons_error_set(err, PONS_EIO, "test", "killed");
    }
    return rc;
}

static const char REPLIES[] =
    "[{\"when\":{\"place\":\"home\"},\"content\":\"{\\\"type\\\":\\\"draw\\\"}\",\"repeat\":true},"
    " {\"when\":{\"place\":\"school\"},\"content\":\"{\\\"type\\\":\\\"library\\\"}\",\"repeat\":"
    "true}]";

static int log_text(void *user, const pons_value *ev)
{
    char *line = NULL;
    assert_true(pons_value_line(ev, &line) > 0);
    pons_buf_printf(user, "%s\n", line);
    free(line);
    return 0;
}

static pons_value *memories_of(const life *l, const char *ns)
{
    const pons_items it = {.store = l->store, .clock = l->model_clock};
    const pons_items_query q = {.prefix = ns, .limit = -1};
    pons_value *list = NULL;
    pons_error err = PONS_ERROR_INIT;
    assert_int_equal(pons_items_search(&it, &q, &list, &err), PONS_OK);
    return list;
}

// Lives a day, killed once at a commit; what the store then has of it.
static char *a_life_killed_at(long kill_at, bool before)
{
    static const char END[] = "2026-03-02T19:00";
    life l;
    life_init(&l, NULL, NULL);
    life_model(&l, REPLIES);
    const pons_store whole = l.store;
    fault = (struct fault){
        .ops = *whole.ops, .commit = whole.ops->commit, .kill_at = kill_at, .before = before};
    fault.ops.commit = dying_commit;
    l.store.ops = &fault.ops;
    say(&l, "good night", NULL, false); // waits in the inbox from the start
    say(&l, "are you up?", "mother", true);
    say(&l, "write to me", "mother", false);
    int rc = 0;
    for (int lives = 0; lives < 2; lives++) {
        life_open(&l, MONDAY, 5);
        const int64_t end = life_minute(&l, END);
        rc = 0;
        while (rc >= 0 && pons_companion_minute(l.c) < end) {
            l.clock.now_ns = pons_companion_minute(l.c) * 60000 * PONS_NS_PER_MS;
            rc = pons_companion_tick(l.c, true, &l.err);
        }
        rc = rc < 0 ? rc : pons_companion_flush(l.c, &l.err);
        life_close(&l);
        if (rc >= 0) {
            break;
        }
        fault.dead = false;
    }
    assert_true(rc >= 0);
    pons_buf b = PONS_BUF_INIT;
    assert_int_equal(pons_companion_log(l.store, NULL, 0, INT32_MAX, log_text, &b, &l.err),
                     PONS_OK);
    pons_value *kept = NULL;
    assert_int_equal(pons_companion_read(l.store, NULL, &kept, &l.err), PONS_OK);
    log_text(&b, kept);
    pons_value_unref(kept);
    pons_autovalue memories = memories_of(&l, "companion");
    assert_int_equal(json_array_size(memories), 2);
    log_text(&b, memories); // each message was counted once
    l.store = whole;
    life_fini(&l);
    return pons_buf_take(&b, NULL);
}

static void killed_at_every_commit(void **state)
{
    (void)state;
    char *whole = a_life_killed_at(0, false);
    const long commits = fault.n;
    assert_true(commits > 30);
    const long asked_for = rounds(ROUNDS_companion_kills), all_of_them = 2 * commits;
    const long kills = asked_for < all_of_them ? asked_for : all_of_them;
    for (long r = 0; r < kills; r++) {
        const long at = r * all_of_them / kills, n = 1 + at / 2;
        const bool before = (at + (kills < all_of_them ? r : 0)) % 2 == 0; // of each a half
        char *killed = a_life_killed_at(n, before);
        if (strcmp(killed, whole) != 0) {
            fail_msg("killed %s commit %ld of %ld, it is another life", before ? "before" : "after",
                     n, commits);
        }
        free(killed);
    }
    free(whole);
}

// Draws when the model is told of mother, who has written twice.
static const char OF_MOTHER[] =
    "[{\"when\":{\"place\":\"home\",\"memories.0.from\":\"mother\",\"memories.0.messages\":2,"
    "\"memories.0.text\":\"and eat\"},\"content\":\"{\\\"type\\\":\\\"draw\\\"}\","
    "\"repeat\":true},"
    " {\"content\":\"{\\\"type\\\":\\\"none\\\"}\",\"repeat\":true}]";

static void who_wrote_is_remembered(void **state)
{
    (void)state;
    life l;
    life_init(&l, NULL, NULL);
    l.real = true;
    life_open(&l, "2026-03-07T09:00", 1);
    say(&l, "sleep well", "mother", false);
    life_run(&l, "2026-03-07T10:00");
    say(&l, "and eat", "mother", false);
    life_run(&l, "2026-03-07T11:00");
    life_close(&l);
    pons_autovalue list = memories_of(&l, "companion.companion.memories");
    assert_int_equal(json_array_size(list), 1);
    const pons_value *item = json_array_get(list, 0);
    assert_string_equal(pons_get_str(item, "key", ""), "mother");
    assert_string_equal(pons_get_str(pons_get(item, "value"), "since", ""),
                        "2026-03-07T09:00+08:00");
    // Another process goes on with the life: its model is told.
    life_model(&l, OF_MOTHER);
    life_open(&l, "2026-03-07T09:00", 1);
    life_run(&l, "2026-03-07T14:00");
    assert_true(life_count(&l, "action.started", "draw") > 0);
    life_close(&l);
    // Until a person takes the memory away.
    const size_t drawn = life_count(&l, "action.started", "draw");
    const pons_items it = {.store = l.store, .clock = l.model_clock};
    assert_int_equal(pons_items_delete(&it, "companion.companion.memories", "mother", &l.err),
                     PONS_OK);
    life_open(&l, "2026-03-07T09:00", 1);
    life_run(&l, "2026-03-07T20:00");
    assert_int_equal(life_count(&l, "action.started", "draw"), drawn);
    life_fini(&l);
}

// A simulation neither begins with what an earlier one knew nor touches what a real life knows.
static void a_simulation_knows_nobody(void **state)
{
    (void)state;
    life l;
    life_init(&l, NULL, NULL);
    for (int n = 0; n < 3; n++) {
        l.real = n == 0;
        life_open(&l, "2026-03-07T09:00", 1);
        pons_autovalue begun = memories_of(&l, "companion.companion.simulated");
        assert_int_equal(json_array_size(begun), 0);
        say(&l, "hello", "mother", false);
        life_run(&l, "2026-03-07T10:00");
        life_close(&l);
        assert_int_equal(l.store.ops->thread_delete(l.store.self, PONS_COMPANION_THREAD, &l.err),
                         PONS_OK);
    }
    pons_autovalue simulated = memories_of(&l, "companion.companion.simulated");
    pons_autovalue real = memories_of(&l, "companion.companion.memories");
    assert_int_equal(json_array_size(simulated), 1);
    assert_int_equal(json_array_size(real), 1);
    assert_int_equal(pons_get_int(pons_get(json_array_get(simulated, 0), "value"), "messages", 0),
                     1);
    life_fini(&l);
}

// Whoever sends under ever new names fills no disk, and the newest stay.
static void a_flood_of_senders_is_forgotten(void **state)
{
    (void)state;
    life l;
    life_init(&l, NULL, NULL);
    l.real = true;
    life_open(&l, "2026-03-07T09:00", 1);
    for (int n = 0; n < 300; n++) {
        char name[16];
        snprintf(name, sizeof name, "n%d", n);
        say(&l, "buy", name, false);
        if (n % 100 == 99) {
            char until[32];
            snprintf(until, sizeof until, "2026-03-07T1%d:00", n / 100);
            life_run(&l, until);
        }
    }
    say(&l, "hello", "mother", false);
    life_run(&l, "2026-03-07T13:00");
    pons_autovalue list = memories_of(&l, "companion.companion.memories");
    assert_true(json_array_size(list) <= 201);
    assert_string_equal(pons_get_str(json_array_get(list, 0), "key", ""), "mother");
    life_fini(&l);
}

static void one_process_at_a_time(void **state)
{
    (void)state;
    life l;
    life_init(&l, NULL, NULL);
    life_open(&l, MONDAY, 1);
    pons_companion *first = l.c;
    assert_int_equal(life_try_open(&l, MONDAY, 1), PONS_EBUSY);
    l.c = first;
    life_fini(&l);
}

static void missed_minutes_are_lived_without_the_model(void **state)
{
    (void)state;
    life l;
    life_init(&l, NULL, NULL);
    life_model(&l, REPLIES);
    life_open(&l, "2026-03-06T20:00", 1);
    while (pons_companion_minute(l.c) < life_minute(&l, "2026-03-08")) {
        assert_int_equal(pons_companion_tick(l.c, false, &l.err), PONS_OK);
    }
    assert_int_equal(life_count(&l, "action.started", "draw"), 0);
    assert_int_equal(life_count(&l, "action.started", "wake"), 1);
    // A gap that nobody wants to live is left out; what lasted in it has ended.
    assert_int_equal(pons_companion_skip(l.c, life_minute(&l, "2026-03-20T10:00"), &l.err),
                     PONS_OK);
    life_run(&l, "2026-03-20T10:30");
    assert_int_equal(life_count(&l, "action.started", "draw"), 1);
    life_fini(&l);
}

static void why_a_minute_was_as_it_was(void **state)
{
    (void)state;
    life l;
    pons_value *w = NULL;
    life_init(&l, NULL, NULL);
    life_open(&l, MONDAY, 1);
    life_run(&l, "2026-03-03");
    assert_int_equal(pons_companion_flush(l.c, &l.err), PONS_OK);
    assert_int_equal(
        pons_companion_why(l.store, NULL, l.view, life_minute(&l, "2026-03-02T03:00"), &w, &l.err),
        PONS_OK);
    assert_string_equal(pons_get_str(pons_get(pons_get(w, "activity"), "action"), "type", ""),
                        "sleep");
    assert_string_equal(life_time(pons_get(w, "decision")), "2026-03-02T00:01");
    pons_value_unref(w);
    assert_int_equal(
        pons_companion_why(l.store, NULL, l.view, life_minute(&l, "2026-03-03"), &w, &l.err),
        PONS_ENOTFOUND);
    life_fini(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sleep_waits_for_a_reader),
        cmocka_unit_test(same_seed_same_week),
        cmocka_unit_test(a_school_day),
        cmocka_unit_test(weekends_and_holidays),
        cmocka_unit_test(personal_parameters),
        cmocka_unit_test(a_message_at_night),
        cmocka_unit_test(a_lesson_is_gone_on_with),
        cmocka_unit_test(sleep_survives),
        cmocka_unit_test(killed_at_every_commit),
        cmocka_unit_test(who_wrote_is_remembered),
        cmocka_unit_test(a_simulation_knows_nobody),
        cmocka_unit_test(a_flood_of_senders_is_forgotten),
        cmocka_unit_test(one_process_at_a_time),
        cmocka_unit_test(missed_minutes_are_lived_without_the_model),
        cmocka_unit_test(why_a_minute_was_as_it_was),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
