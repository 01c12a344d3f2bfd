// test_safety_filter.c - every rule of the safety filter: a model (or a tree) proposes what breaks it, and
// the record names the rule; then models that throw, stall, repeat themselves, talk nonsense or
// propose the impossible, and world views that are written wrong.
#include "life_help.h"

typedef struct broken {
    const char *rule, *at, *proposal; // the first request is at this minute
    edit edits[4];
} broken;

static char *reply(const char *content)
{
    pons_autovalue list = json_pack("[{s:s,s:b}]", "content", content, "repeat", 1);
    char *text = NULL;
    assert_true(pons_value_line(list, &text) > 0);
    return text;
}

// Half an hour of a life in which the model proposes one thing.
static void propose(life *l, const broken *b, int minutes)
{
    char *text = reply(b->proposal);
    life_init(l, b->edits, NULL);
    life_model(l, text);
    free(text);
    life_open(l, b->at, 1);
    for (int i = 0; i < minutes; i++) {
        l->clock.now_ns = pons_companion_minute(l->c) * 60000 * PONS_NS_PER_MS;
        assert_int_equal(pons_companion_tick(l->c, true, &l->err), PONS_OK);
    }
}

#define IDLE_MONDAY "2026-03-02T10:00" // the bus has left: at home, on a school day

static void every_rule(void **state)
{
    (void)state;
    static const char ask_in_sleep_from[] = "ask_model: false\n    preemptive: true\n  - id: wake";
    static const char ask_in_sleep_to[] = "ask_model: true\n    preemptive: true\n  - id: wake";
    const broken table[] = {
        {.rule = "unknown_action", .at = IDLE_MONDAY, .proposal = "{\"type\":\"fly\"}"},
        {.rule = "reality", .at = IDLE_MONDAY, .proposal = "{\"type\":\"observe_reality\"}"},
        {.rule = "unknown_place",
         .at = IDLE_MONDAY,
         .proposal = "{\"type\":\"draw\",\"place\":\"moon\"}"},
        {.rule = "wrong_place",
         .at = IDLE_MONDAY,
         .proposal = "{\"type\":\"draw\",\"place\":\"school\"}"},
        {.rule = "wrong_place", .at = IDLE_MONDAY, .proposal = "{\"type\":\"library\"}"},
        {.rule = "place_closed",
         .at = "2026-03-08T10:00",
         .proposal = "{\"type\":\"go_to_school\"}"},
        {.rule = "already_there",
         .at = IDLE_MONDAY,
         .proposal = "{\"type\":\"go_home\"}",
         .edits = {{"place: school\n    to: home", "to: home"}}},
        {.rule = "unknown_device",
         .at = IDLE_MONDAY,
         .proposal = "{\"type\":\"read_message\",\"device\":\"tablet\"}"},
        {.rule = "device_incapable", .at = IDLE_MONDAY, .proposal = "{\"type\":\"send_message\"}"},
        {.rule = "device_incapable",
         .at = IDLE_MONDAY,
         .proposal = "{\"type\":\"draw\",\"device\":\"phone\"}"},
        {.rule = "asleep",
         .at = "2026-03-01T23:45",
         .proposal = "{\"type\":\"draw\",\"preemptive\":true}",
         .edits = {{ask_in_sleep_from, ask_in_sleep_to},
                   {"window_min: 30", "window_min: 7"},
                   {"rejection_cooldown_min: 120", "rejection_cooldown_min: 0"}}},
        {.rule = "too_early",
         .at = "2026-03-01T23:45",
         .proposal = "{\"type\":\"wake\"}",
         .edits = {{ask_in_sleep_from, ask_in_sleep_to},
                   {"rejection_cooldown_min: 120", "rejection_cooldown_min: 0"}}},
        {.rule = "not_lasting", .at = IDLE_MONDAY, .proposal = "{\"type\":\"wake\"}"},
        {.rule = "window", .at = IDLE_MONDAY, .proposal = "{\"type\":\"sleep\"}"},
        {.rule = "window", .at = IDLE_MONDAY, .proposal = "{\"type\":\"go_to_school\"}"},
        {.rule = "energy",
         .at = IDLE_MONDAY,
         .proposal = "{\"type\":\"exercise\"}",
         .edits = {{"energy: 60", "energy: 5"}}},
        {.rule = "same",
         .at = IDLE_MONDAY,
         .proposal = "{\"type\":\"draw\"}",
         .edits = {{"repeat_cooldown_min: 90", "repeat_cooldown_min: 0"}}},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        life l;
        propose(&l, &table[i], 40);
        bool found = false;
        for (size_t n = 0; !found && life_find(&l, "filtered", NULL, n); n++) {
            const pons_value *f = life_find(&l, "filtered", NULL, n);
            found = strcmp(pons_get_str(f, "rule", ""), table[i].rule) == 0 &&
                    strcmp(pons_get_str(f, "by", ""), "model") == 0;
        }
        if (!found) {
            fail_msg("row %zu: %s was not refused as %s", i, table[i].proposal, table[i].rule);
        }
        life_fini(&l);
    }
}

static void what_lasts_is_kept(void **state)
{
    (void)state;
    life l;
    life_init(&l, NULL, NULL);
    life_model(&l, "[{\"content\":\"{\\\"type\\\":\\\"draw\\\"}\"},"
                   "{\"content\":\"{\\\"type\\\":\\\"read_book\\\"}\"},"
                   "{\"content\":\"{\\\"type\\\":\\\"none\\\"}\",\"repeat\":true}]");
    life_open(&l, IDLE_MONDAY, 1);
    life_run(&l, "2026-03-02T11:30");
    const pons_value *f = life_find(&l, "filtered", "read_book", 0);
    assert_string_equal(pons_get_str(f, "rule", ""), "conflict");
    assert_string_equal(life_time(life_find(&l, "action.ended", "draw", 0)), "2026-03-02T10:50");
    assert_int_equal(life_count(&l, "action.started", "read_book"), 0);
    life_fini(&l);
}

// What was refused is kept from being tried again only as long as it would be refused, and the reason is today's.
static void a_refusal_that_is_over_is_none(void **state)
{
    (void)state;
    life l;
    life_init(&l, NULL, NULL);
    life_model(&l, "[{\"content\":\"{\\\"type\\\":\\\"draw\\\"}\"},"
                   "{\"content\":\"{\\\"type\\\":\\\"read_book\\\"}\",\"repeat\":true}]");
    life_open(&l, IDLE_MONDAY, 1);
    life_run(&l, "2026-03-02T11:30");
    assert_string_equal(pons_get_str(life_find(&l, "filtered", "read_book", 0), "rule", ""),
                        "conflict");
    assert_string_equal(life_time(life_find(&l, "action.ended", "draw", 0)), "2026-03-02T10:50");
    const char *began = life_time(life_find(&l, "action.started", "read_book", 0));
    assert_true(strcmp(began, "2026-03-02T10:50") >= 0);
    life_fini(&l);
}

// A mark that nothing needs is passed over; and the next request knows what was done and said.
static void a_needless_mark_and_what_was_done(void **state)
{
    (void)state;
    life l;
    life_init(&l, NULL, NULL);
    life_model(&l, "[{\"content\":\"{\\\"type\\\":\\\"draw\\\",\\\"preemptive\\\":true,"
                   "\\\"rationale\\\":\\\"colours\\\"}\"},"
                   "{\"when\":{\"activity\":null,\"recent.done.-1.type\":\"draw\","
                   "\"recent.done.-1.you_said\":\"colours\","
                   "\"recent.refused.0.type\":\"draw\",\"person.commute_min\":20},"
                   "\"content\":\"{\\\"type\\\":\\\"read_book\\\"}\"},"
                   "{\"content\":\"{\\\"type\\\":\\\"none\\\"}\",\"repeat\":true}]");
    life_open(&l, IDLE_MONDAY, 1);
    life_run(&l, "2026-03-02T12:00");
    assert_int_equal(life_count(&l, "filtered", "draw"), 0);
    assert_int_equal(life_count(&l, "action.started", "draw"), 1);
    assert_int_equal(life_count(&l, "action.started", "read_book"), 1);
    life_fini(&l);
}

static void the_way_is_not_left(void **state)
{
    (void)state;
    static const char tree[] =
        "root { selector { sequence { condition [InWindow, \"school_run\"] condition [Idle] "
        "action [Start, \"go_to_school\"] } action [Start, \"read_message\"] } }";
    life l;
    life_init(&l, NULL, tree);
    life_open(&l, "2026-03-02T07:20", 1);
    life_run(&l, "2026-03-02T07:30");
    const pons_value *f = life_find(&l, "filtered", "read_message", 0);
    assert_string_equal(pons_get_str(f, "rule", ""), "uninterruptible");
    assert_string_equal(pons_get_str(f, "by", ""), "tree");
    life_fini(&l);
}

// A tree of one's own: guards beside a leaf have arguments of their own.
static void guards_of_another_tree(void **state)
{
    (void)state;
    static const char tree[] =
        "root { selector { action [Start, \"draw\"] while(AtPlace, \"home\") "
        "until(InWindow, \"afternoon\") action [Start, \"nap\"] while(InWindow, \"afternoon\") "
        "action [Continue] } }";
    life l;
    life_init(&l, NULL, tree);
    life_open(&l, "2026-03-02T10:30", 1);
    life_run(&l, "2026-03-02T12:30");
    assert_string_equal(life_time(life_find(&l, "action.started", "draw", 0)), "2026-03-02T10:30");
    assert_string_equal(life_time(life_find(&l, "action.started", "draw", 1)), "2026-03-02T11:20");
    assert_string_equal(life_time(life_find(&l, "action.started", "nap", 0)), "2026-03-02T12:10");
    life_fini(&l);
}

// Guards that a world view adds: any, or all, of the companion's, as many times as a tree asks.
static void guards_of_ones_own(void **state)
{
    (void)state;
    static const char tree[] = "root { selector { action [Start, \"draw\"] while(MayDraw) "
                               "sequence { condition [IsAwayOrLate] action [Start, \"nap\"] } "
                               "action [Continue] } }";
    static const edit edits[] = {
        {"\nactivities:", "\nconditions:\n"
                          "  - {id: MayDraw, all: [AtPlace(home), not InWindow(afternoon)]}\n"
                          "  - {id: IsAwayOrLate, any: [AtPlace(school), InWindow(afternoon)]}\n"
                          "\nactivities:"},
        {NULL, NULL}};
    life l;
    life_init(&l, edits, tree);
    life_open(&l, "2026-03-02T10:30", 1);
    life_run(&l, "2026-03-02T12:30");
    assert_string_equal(life_time(life_find(&l, "action.started", "draw", 1)), "2026-03-02T11:20");
    assert_string_equal(life_time(life_find(&l, "action.started", "nap", 0)), "2026-03-02T12:10");
    assert_int_equal(life_count(&l, "action.started", "draw"), 2);
    char *text = life_text(&l); // and why says what they said
    assert_non_null(strstr(text, "IsAwayOrLate: yes"));
    free(text);
    life_fini(&l);
}

// The model is told what is refused at this minute, and why; not what was so an hour ago.
static void the_model_hears_no_reason_that_is_over(void **state)
{
    (void)state;
    life l;
    life_init(&l, NULL, NULL);
    life_model(&l, "[{\"content\":\"{\\\"type\\\":\\\"draw\\\"}\"},"
                   "{\"content\":\"{\\\"type\\\":\\\"read_book\\\"}\"},"
                   "{\"when\":{\"activity\":null,\"recent.refused.1.type\":\"read_book\"},"
                   "\"content\":\"{\\\"type\\\":\\\"listen_music\\\"}\",\"repeat\":true},"
                   "{\"content\":\"{\\\"type\\\":\\\"exercise\\\"}\",\"repeat\":true}]");
    life_open(&l, IDLE_MONDAY, 1);
    life_run(&l, "2026-03-02T12:00");
    assert_string_equal(pons_get_str(life_find(&l, "filtered", "read_book", 0), "rule", ""),
                        "conflict");
    assert_int_equal(life_count(&l, "action.started", "listen_music"), 0);
    life_fini(&l);
}

// What a tree calls is looked at before the first minute, wherever in the tree it stands.
static void wrong_trees(void **state)
{
    (void)state;
    static const struct {
        const char *tree, *says, *where;
    } table[] = {
        {"root { selector { action [Continue] action [Fly] } }", "'Fly'", "t:1:37"},
        {"root { selector { action [Continue] condition [IsMornin] } }", "'IsMornin'", "t:1:37"},
        {"root { action [Continue] while(Alive) }", "'Alive'", "t:1:8"},
        {"root { action [Continue] entry(Hello) }", "'Hello'", "t:1:8"},
        {"root { selector { action [Continue] action [Start] } }", "Start needs", "t:1:37"},
        {"root { action [Continue] until(InWindow, 3) }", "InWindow needs", "t:1:8"},
        {"root { condition [EnergyBelow] }", "EnergyBelow needs", "t:1:8"},
        {"root { action [Continue] exit(Branch) }", "Branch needs", "t:1:8"},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        life l;
        life_init(&l, NULL, NULL);
        const pons_bt_load_options o = {.format = PONS_BT_MDSL, .name = "t"};
        pons_bt_unref(l.tree);
        assert_int_equal(
            pons_bt_load(table[i].tree, strlen(table[i].tree), &o, &l.tree, NULL, &l.err), PONS_OK);
        const pons_companion_options how = {
            .view = l.view, .tree = l.tree, .store = l.store, .simulated = true};
        pons_companion *c = NULL;
        assert_int_equal(pons_companion_open(&how, &c, &l.err), PONS_EINVAL);
        assert_null(c);
        assert_non_null(strstr(l.err.message, table[i].says));
        assert_string_equal(l.err.source, table[i].where);
        life_fini(&l);
    }
}

// ---- models -------------------------------------------------------------------------------------

static char *deeds(const char *replies, const char *rule)
{
    life l;
    life_init(&l, NULL, NULL);
    if (replies) {
        life_model(&l, replies);
    }
    life_open(&l, "2026-03-02", 1);
    life_run(&l, "2026-03-09");
    if (rule) {
        const pons_value *f = life_find(&l, "filtered", NULL, 0);
        assert_string_equal(pons_get_str(f, "rule", ""), rule);
        const pons_value *d = NULL;
        for (size_t n = 0; !(d = pons_get(life_find(&l, "decision", NULL, n), "model")); n++) {
            assert_non_null(life_find(&l, "decision", NULL, n));
        }
        assert_true(strlen(pons_get_str(d, "outcome", "")) > 0); // the log says why
    }
    char *text = life_deeds(&l);
    life_fini(&l);
    return text;
}

static void bad_models_cost_nothing(void **state)
{
    (void)state;
    const struct {
        const char *replies, *rule;
    } models[] = {
        {"[{\"error\":{\"status\":500,\"message\":\"down\"},\"repeat\":true}]", "model_failed"},
        {"[{\"content\":\"{}\",\"delay_ms\":3600000,\"repeat\":true}]", "model_failed"},
        {"[{\"content\":\"I would rather not\",\"repeat\":true}]", "model_failed"},
        {"[{\"content\":\"{\\\"type\\\": 7}\",\"repeat\":true}]", "model_failed"},
        {"[{\"content\":\"[1,2,3]\",\"repeat\":true}]", "model_failed"},
        {"[{\"content\":\"{\\\"type\\\":\\\"fly\\\"}\",\"repeat\":true}]", "unknown_action"},
        {"[{\"content\":\"{\\\"type\\\":\\\"observe_reality\\\"}\",\"repeat\":true}]", "reality"},
        {"[]", "model_failed"}, // it has nothing to say at all
    };
    char *alone = deeds(NULL, NULL);
    assert_non_null(strstr(alone, "go_to_school"));
    for (size_t i = 0; i < sizeof models / sizeof *models; i++) {
        char *with = deeds(models[i].replies, models[i].rule);
        assert_string_equal(with, alone);
        free(with);
    }
    free(alone);
}

static int64_t requests(const life *l)
{
    pons_autovalue s = pons_companion_state(l->c);
    return pons_get_int(pons_get(s, "policy"), "requests", -1);
}

static void asked_once_in_a_window(void **state)
{
    (void)state;
    const broken none = {.at = IDLE_MONDAY, .proposal = "{\"type\":\"none\"}"};
    const broken fails = {.at = IDLE_MONDAY, .proposal = "no"};
    life l;
    propose(&l, &none, 120); // windows of 30 minutes
    assert_int_equal(requests(&l), 4);
    life_fini(&l);
    propose(&l, &fails, 120); // after a failure an hour of peace
    assert_int_equal(requests(&l), 2);
    life_fini(&l);
}

// ---- a life by the clock ------------------------------------------------------------------------

static const char DRAW_IN_10_S[] =
    "[{\"content\":\"{\\\"type\\\":\\\"draw\\\"}\",\"delay_ms\":10000,\"repeat\":true}]";
static const char NEVER[] = "[{\"content\":\"{}\",\"delay_ms\":3600000,\"repeat\":true}]";

static void live_by_the_clock(life *l, const char *replies)
{
    life_init(l, NULL, NULL);
    life_model(l, replies);
    l->by_clock = true;
    life_open(l, IDLE_MONDAY, 1);
}

// The outcome that the n-th decision with a model tells of.
static const char *outcome(const life *l, size_t n)
{
    for (size_t i = 0; i < json_array_size(l->events); i++) {
        const pons_value *model = pons_get(json_array_get(l->events, i), "model");
        if (model && n-- == 0) {
            return pons_get_str(model, "outcome", "");
        }
    }
    return "";
}

// One minute at a time; the tick itself must take no time of the model's clock.
static void tick_in_no_time(life *l)
{
    l->clock.now_ns = pons_companion_minute(l->c) * 60 * PONS_NS_PER_S;
    assert_int_equal(pons_companion_tick(l->c, true, &l->err), PONS_OK);
    assert_int_equal(l->clock.now_ns, (pons_companion_minute(l->c) - 1) * 60 * PONS_NS_PER_S);
}

static void an_answer_that_comes_between_ticks(void **state)
{
    (void)state;
    life l;
    live_by_the_clock(&l, DRAW_IN_10_S);
    const int64_t asked = pons_companion_minute(l.c);
    tick_in_no_time(&l);
    assert_string_equal(outcome(&l, 0), "asked; the answer is waited for");
    assert_int_equal(life_count(&l, "action.started", "draw"), 0);
    l.clock.now_ns += 11 * PONS_NS_PER_S; // the script has no descriptor: it is polled
    assert_int_equal(pons_companion_fd(l.c), -1);
    pons_companion_poll(l.c);
    tick_in_no_time(&l);
    const pons_value *draw = life_find(&l, "action.started", "draw", 0);
    assert_string_equal(outcome(&l, 1), "carried out");
    assert_string_equal(pons_get_str(draw, "branch", ""), "LLMDriven");
    assert_int_equal(life_minute(&l, life_time(draw)), asked + 1);
    life_fini(&l);
}

static void one_that_stalls_holds_nothing_up(void **state)
{
    (void)state;
    life l;
    live_by_the_clock(&l, NEVER);
    tick_in_no_time(&l);
    tick_in_no_time(&l);
    assert_string_equal(outcome(&l, 1), "failed: no answer within 20 s");
    const pons_value *no = life_find(&l, "filtered", NULL, 0);
    assert_string_equal(pons_get_str(no, "rule", ""), "model_failed");
    for (int i = 0; i < 30; i++) { // it has its peace
        tick_in_no_time(&l);
    }
    assert_int_equal(requests(&l), 1);
    life_fini(&l);
}

// What stalls, or answers a while later, leaves the days of the routine as they are.
static void the_routine_runs_meanwhile(void **state)
{
    (void)state;
    life alone, with;
    life_init(&alone, NULL, NULL);
    life_open(&alone, "2026-03-02", 1);
    life_run(&alone, "2026-03-04");
    life_init(&with, NULL, NULL);
    life_model(&with, NEVER);
    with.by_clock = true;
    life_open(&with, "2026-03-02", 1);
    life_run(&with, "2026-03-04");
    char *a = life_deeds(&alone), *b = life_deeds(&with);
    assert_string_equal(a, b);
    assert_true(life_count(&with, "filtered", NULL) > 0);
    free(a);
    free(b);
    life_fini(&alone);
    life_fini(&with);
}

static void killed_while_it_asks(void **state)
{
    (void)state;
    life l;
    live_by_the_clock(&l, DRAW_IN_10_S);
    tick_in_no_time(&l);
    life_close(&l);
    life_model(&l, DRAW_IN_10_S); // another process, another model
    life_open(&l, IDLE_MONDAY, 1);
    tick_in_no_time(&l);
    assert_string_equal(outcome(&l, 1), "the answer was lost in a restart");
    assert_int_equal(life_count(&l, "action.started", "draw"), 0);
    for (int i = 0; i < 31; i++) { // the next window asks again
        tick_in_no_time(&l);
    }
    assert_int_equal(life_count(&l, "action.started", "draw"), 1);
    life_fini(&l);
}

static void one_that_repeats_itself(void **state)
{
    (void)state;
    const broken again = {.at = IDLE_MONDAY,
                          .proposal = "```json\n{\"action\":{\"type\":"
                                      "\"listen_music\",\"rationale\":\"好听\"}}"
                                      "\n```"};
    life l;
    propose(&l, &again, 130);
    assert_int_equal(life_count(&l, "action.started", "listen_music"), 2); // 10:00 and 11:30
    assert_string_equal(life_time(life_find(&l, "action.started", "listen_music", 1)),
                        "2026-03-02T11:30");
    assert_string_equal(pons_get_str(life_find(&l, "filtered", NULL, 0), "rule", ""), "repeated");
    assert_string_equal(pons_get_str(life_find(&l, "action.started", NULL, 0), "rationale", ""),
                        "好听");
    life_fini(&l);
}

static void free_time_at_school(void **state)
{
    (void)state;
    life l;
    life_init(&l, NULL, NULL);
    life_model(&l,
               "[{\"when\":{\"place\":\"school\"},\"content\":\"{\\\"type\\\":\\\"library\\\"}\"},"
               "{\"content\":\"{\\\"type\\\":\\\"none\\\"}\",\"repeat\":true}]");
    life_open(&l, "2026-03-02", 1);
    life_run(&l, "2026-03-03");
    assert_string_equal(life_time(life_find(&l, "action.started", "library", 0)),
                        "2026-03-02T16:30");
    assert_string_equal(life_time(life_find(&l, "action.started", "go_home", 0)),
                        "2026-03-02T17:30");
    life_fini(&l);
}

// ---- world views --------------------------------------------------------------------------------

static void wrong_world_views(void **state)
{
    (void)state;
    static const char good[] = "name: t\n"                                              // 1
                               "timezone: \"+08:00\"\n"                                 // 2
                               "start: { place: home, energy: 60 }\n"                   // 3
                               "places: [{ id: home }]\n"                               // 4
                               "windows: [{ id: w, from: \"01:00\", to: \"02:00\" }]\n" // 5
                               "activities: [{ id: a }]\n";                             // 6
    const struct {
        const char *from, *to, *where;
    } table[] = {
        {"start: { place: home", "start: { place: moon", "t.yaml:3:"},
        {"timezone: \"+08:00\"", "timezone: Mars", "t.yaml:2:"},
        {"energy: 60", "energy: 600", "t.yaml:3:"},
        {"{ id: home }", "{ id: home }, { id: home }", "t.yaml:4:"},
        {"\"01:00\"", "\"25:00\"", "t.yaml:5:"},
        {"{ id: a }", "{ id: a, place: b }", "t.yaml:6:"},
        {"{ id: a }", "{ id: a, to: b }", "t.yaml:6:"},
        {"{ id: a }", "{ id: a, device: b }", "t.yaml:6:"},
        {"{ id: a }", "{ id: a, ends: b }", "t.yaml:6:"},
        {"{ id: a }", "{ id: a, windows: [b] }", "t.yaml:6:"},
        {"{ id: a }", "{ id: a, until: { window: b, edge: opens } }", "t.yaml:6:"},
        {"{ id: a }", "{ id: a, minutes: 3, commute: true }", "t.yaml:6:"},
        {"{ id: a }", "{ id: a, colour: red }", "t.yaml:6:"},
        {"{ id: a }", "{ id: a }\nholidays: [{ from: \"2026-02-30\" }]", "t.yaml:"},
        {"activities: [{ id: a }]", "activities: [{ id: a }", "t.yaml:"},
        {"name: t", "name: t\nname: u", "t.yaml:2:"},
#define CONDITION(text) "{ id: a }]\nconditions:\n  - {" text "}\nholidays: []\ndevices: ["
        {"{ id: a }", CONDITION("id: IsNight, all: [Idle]"), "t.yaml:8:"},
        {"{ id: a }", CONDITION("id: Own, all: [Fly]"), "t.yaml:8:"},
        {"{ id: a }", CONDITION("id: Own, all: [Start(a)]"), "t.yaml:8:"},
        {"{ id: a }", CONDITION("id: Own, any: [AtPlace]"), "t.yaml:8:"},
        {"{ id: a }", CONDITION("id: Own, any: [EnergyBelow(much)]"), "t.yaml:8:"},
        {"{ id: a }", CONDITION("id: Own, any: [AtPlace(nowhere)]"), "t.yaml:8:"},
        {"{ id: a }", CONDITION("id: Own, all: [not InWindow(nowhen)]"), "t.yaml:8:"},
        {"{ id: a }", CONDITION("id: Own, any: [\"AtPlace(home\"]"), "t.yaml:8:"},
        {"{ id: a }", CONDITION("id: Own, any: [Idle], all: [Idle]"), "t.yaml:8:"},
    };
    pons_world_view *v = NULL;
    pons_error err = PONS_ERROR_INIT;
    assert_int_equal(pons_world_view_parse(good, strlen(good), "t.yaml", &v, &err), PONS_OK);
    pons_world_view_unref(v);
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        char text[1024];
        const char *at = strstr(good, table[i].from);
        assert_non_null(at);
        snprintf(text, sizeof text, "%.*s%s%s", (int)(at - good), good, table[i].to,
                 at + strlen(table[i].from));
        err = (pons_error)PONS_ERROR_INIT;
        if (pons_world_view_parse(text, strlen(text), "t.yaml", &v, &err) != PONS_EINVAL ||
            strncmp(err.source, table[i].where, strlen(table[i].where)) != 0) {
            fail_msg("row %zu: %s at %s, not %s", i, err.message, err.source, table[i].where);
        }
    }
}

static void times(void **state)
{
    (void)state;
    life l;
    char buf[32];
    int64_t m;
    life_init(&l, NULL, NULL);
    const int64_t at = life_minute(&l, "2024-02-29T23:59");
    assert_string_equal(pons_world_view_time(l.view, at, buf, sizeof buf),
                        "2024-02-29T23:59+08:00");
    assert_int_equal(life_minute(&l, "2024-02-29 15:59:30Z"), at);
    assert_int_equal(life_minute(&l, "1970-01-01T08:00"), 0);
    assert_int_equal(pons_world_view_minute(l.view, "23:58", at, &m, NULL), PONS_OK);
    assert_int_equal(m, at - 1);
    static const char *const bad[] = {
        "",    "2026-02-30", "yesterday", "2026-03-02T25:00", "2026-03-02x", "2026-03-02T07:20+8",
        "7:20"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(pons_world_view_minute(l.view, bad[i], at, &m, NULL), PONS_EINVAL);
    }
    assert_string_equal(pons_world_view_name(l.view, "school", "zh"), "学校");
    life_fini(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_rule),
        cmocka_unit_test(what_lasts_is_kept),
        cmocka_unit_test(a_refusal_that_is_over_is_none),
        cmocka_unit_test(a_needless_mark_and_what_was_done),
        cmocka_unit_test(the_way_is_not_left),
        cmocka_unit_test(guards_of_another_tree),
        cmocka_unit_test(guards_of_ones_own),
        cmocka_unit_test(the_model_hears_no_reason_that_is_over),
        cmocka_unit_test(wrong_trees),
        cmocka_unit_test(bad_models_cost_nothing),
        cmocka_unit_test(asked_once_in_a_window),
        cmocka_unit_test(one_that_repeats_itself),
        cmocka_unit_test(an_answer_that_comes_between_ticks),
        cmocka_unit_test(one_that_stalls_holds_nothing_up),
        cmocka_unit_test(the_routine_runs_meanwhile),
        cmocka_unit_test(killed_while_it_asks),
        cmocka_unit_test(free_time_at_school),
        cmocka_unit_test(wrong_world_views),
        cmocka_unit_test(times),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
