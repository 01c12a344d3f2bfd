// The arbiter (K4), for every state that it can be in, every combination of what the body says, and
// every word: 7 states × 32 bodies × 6 words, of which ROUNDS_brain_arbiter are tried. The mode that it settles on is held against an oracle
// that is a few lines long and written from docs, not from the kernel: SAFE over a stop's wait over
// CHARGE over pause over EXEC over IDLE. Along the way: the task of the battery is there when the
// mode is CHARGE and at no other time, and nothing of the base is dispatched in SAFE but a stop.
//
// Who stops waits for continue is test_stopped.c's; here a reset goes on by itself.
#include "brain_bench.h"
#include "unit.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define SETTLE_S  0.4 // telemetry, a few ticks, and the clear time of a risk
#define GOALS_TOP 90  // of what a bench's body remembers: then a new one

enum { LATCHED, RISK, EMPTY, CHARGING_MODE, WORKING, IDLE, PAUSED, STATES };
static const char *const state_words[STATES] = {"latched", "risk", "empty", "charging",
                                                "working", "idle", "paused"};
static const char *const words[] = {"", "stop", "pause", "continue", "cancel", "去厨房"};
static const double levels[] = {5.0, 15.0, 50.0, 90.0};

typedef struct facts {
    bool latched, risk, charging;
    double pct;
} facts;

static void open_it(bench *b)
{
    bench_open(b, NULL);
    json_t *safety = json_object_get(b->config, "safety");
    json_object_set_new(safety, "after_reset", json_string("continue"));
    json_object_set_new(safety, "collision_clear_s", json_real(0.1));
    b->lifts = true;
    bench_brain(b);
    b->base_ms = BENCH_NEVER;
    bench_run(b, SETTLE_S);
}

static void show(bench *b, const facts *f)
{
    b->latched = f->latched;
    b->stop_reason = f->latched ? "a test" : "";
    b->risk = f->risk;
    b->battery = f->pct;
    b->battery_state = f->charging ? "charging" : "discharging";
    b->docked = f->charging;
}

// Everything well, no task, nothing said.
static void calm(bench *b)
{
    show(b, &(facts){.pct = 90.0});
    bench_run(b, 0.2); // a continue that is said before the latch is seen to be free is none
    bench_say(b, "continue");
    bench_say(b, "cancel");
    bench_run(b, SETTLE_S);
    assert_string_equal(bench_mode(b), "IDLE");
}

static void bring_to(bench *b, int state)
{
    facts f = {.pct = state == EMPTY           ? 5.0
                      : state == CHARGING_MODE ? 15.0
                                               : 90.0,
               .latched = state == LATCHED,
               .risk = state == RISK};
    if (state != IDLE && state != CHARGING_MODE) {
        bench_say(b, "去卧室");
    }
    if (state == PAUSED) {
        bench_say(b, "pause");
    }
    show(b, &f);
    bench_run(b, SETTLE_S);
    static const char *const modes[STATES] = {"SAFE", "SAFE", "SAFE", "CHARGE",
                                              "EXEC", "IDLE", "IDLE"};
    assert_string_equal(bench_mode(b), modes[state]);
}

// Written from docs/reference/safety.md and config/kernel.yaml.
static const char *oracle(int state, const facts *f, const char *word)
{
    const bool charges = state == CHARGING_MODE;
    bool paused = state == PAUSED;
    int tasks = state != IDLE && state != CHARGING_MODE;
    tasks = strcmp(word, "cancel") == 0 ? 0 : tasks + (strcmp(word, "去厨房") == 0);
    paused = strcmp(word, "pause") == 0 || (paused && strcmp(word, "continue") != 0);
    if (f->latched || strcmp(word, "stop") == 0 || f->risk || (f->pct <= 10.0 && !f->charging)) {
        return "SAFE";
    }
    if (f->pct <= (charges ? 79.9 : 20.0)) {
        return "CHARGE";
    }
    return tasks > 0 && !paused ? "EXEC" : "IDLE";
}

static void must_hold(bench *b, int state, const facts *f, const char *word, size_t before)
{
    pons_autovalue status = pons_brain_status(b->brain);
    const char *mode = pons_get_str(status, "mode", ""), *due = oracle(state, f, word);
    if (strcmp(mode, due) != 0) {
        fail_msg("%s; latched %d, risk %d, %.0f %%, charging %d; “%s”: %s (%s), and %s is due",
                 state_words[state], f->latched, f->risk, f->pct, f->charging, word, mode,
                 pons_get_str(status, "mode_reason", ""), due);
    }
    int batteries = 0;
    size_t i;
    json_t *task;
    json_array_foreach(pons_get(status, "queue"), i, task) {
        batteries += strstr(pons_get_str(task, "text", ""), "battery") != NULL;
    }
    if (batteries != (strcmp(mode, "CHARGE") == 0 && !f->charging) && strcmp(mode, "SAFE") != 0 &&
        !f->charging) {
        fail_msg("%s → %s with %d tasks of the battery", state_words[state], mode, batteries);
    }
    for (size_t g = before; g < b->n_goals && strcmp(mode, "SAFE") == 0; g++) {
        if (strcmp(b->goals[g].state, "accepted") == 0 &&
            strcmp(b->goals[g].skill, "stop_base") != 0) {
            fail_msg("%s is under way in SAFE", b->goals[g].skill);
        }
    }
}

static void every_state_with_every_body_and_word(void **state)
{
    (void)state;
    enum { WORDS = sizeof words / sizeof words[0], BODIES = 32 };
    int cases = 0;
    bench b;
    open_it(&b);
    for (int from = 0; from < STATES; from++) {
        for (unsigned bits = 0; bits < BODIES; bits++) {
            const facts f = {.latched = bits & 1,
                             .risk = bits & 2,
                             .charging = bits & 4,
                             .pct = levels[bits >> 3 & 3]};
            for (int w = 0; w < WORDS; w++) {
                if (!bench_due(ROUNDS_brain_arbiter, (from * BODIES + (int)bits) * WORDS + w,
                               STATES * BODIES * WORDS)) {
                    continue;
                }
                if (b.n_goals > GOALS_TOP) {
                    bench_close(&b);
                    open_it(&b);
                }
                calm(&b);
                const size_t before = b.n_goals;
                bring_to(&b, from);
                show(&b, &f);
                if (*words[w]) {
                    bench_say(&b, words[w]);
                }
                bench_run(&b, SETTLE_S);
                must_hold(&b, from, &f, words[w], before);
                cases++;
            }
        }
    }
    print_message("%d cases\n", cases);
    bench_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_state_with_every_body_and_word),
    };
    pons_value_init();
    return cmocka_run_group_tests_name("the arbiter", tests, NULL, NULL);
}
