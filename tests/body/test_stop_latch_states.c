// The latch, over every sequence of six of the nine things that can happen to it: stops by either
// way, a fault that comes and goes, a reset that is meant for the latch in force, one that is not,
// what the disk says now and what it said too late, and a new goal. After each the gate ticks, and:
//
//   latched     nothing is written but zero, and the zone says so
//   free        only by a reset that came after the last stop and was not taken back, and only when
//               the disk says free: whoever reads it then starts free, who read it before, latched
//   void        what was asked for before the latch, or while it lasted, moves nothing after it
//   numbers     each stop counts, each change of what the disk shall say has a number of its own
#include "body/safety/velocity_filter.h"
#include "unit.h"

#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define LENGTH  6
#define TICK_NS (5 * PONS_NS_PER_MS)

enum {
    SOCKET_STOP,
    LINK_STOP,
    FAULT,
    FAULT_GONE,
    RESET,
    TAKEN_BACK,
    DISK,
    DISK_LATE,
    GOAL,
    EVENTS
};
static const char letters[EVENTS + 1] = "SLFfRrDdG";

typedef struct model {
    pons__safety s;
    pons__command cmd;
    pons_robot_state state;
    pons_scan scan;
    int64_t now_ns;
    const char *fault;
    // the disk
    bool disk_latched;
    uint64_t disk_gen;
    // the story since the last stop
    bool reset_since;   // and not taken back
    uint64_t void_goal; // goals up to this were asked for before the end of the last latch
    uint64_t stops;
    char word[LENGTH + 1];
} model;

static pons__safety_params params;

static void begin(model *m)
{
    memset(m, 0, sizeof *m);
    pons__safety_init(&m->s, &params);
    m->now_ns = PONS_NS_PER_S;
    m->cmd.alive_until_host_ns = INT64_MAX;
    m->cmd.goal_seq = 1;
    m->cmd.want.v = 0.3;
    m->scan = (pons_scan){
        .n = 4, .angle_increment = (float)M_PI_2, .range_min = 0.05f, .range_max = 10.0f};
    for (int i = 0; i < m->scan.n; i++) {
        m->scan.ranges[i] = INFINITY;
    }
}

static void stopped(model *m)
{
    m->stops++;
    m->reset_since = false;
}

static void happen(model *m, int event)
{
    const pons__safety_status *st = &m->s.status;
    const pons__latch_want want = pons__safety_want(&m->s);
    switch (event) {
    case SOCKET_STOP:
        pons__safety_latch(&m->s, PONS__ORIGIN_STOP, "socket");
        stopped(m);
        break;
    case LINK_STOP:
        m->cmd.stop_count++;
        m->cmd.stop_origin = PONS__ORIGIN_STOP;
        snprintf(m->cmd.reason, sizeof m->cmd.reason, "link");
        stopped(m);
        break;
    case FAULT:
        m->fault = "broken";
        break;
    case FAULT_GONE:
        m->fault = NULL;
        break;
    case RESET:
        m->cmd.reset_count++;
        m->cmd.reset_latch = st->latch_count;
        m->cmd.reset_goal_seq = m->cmd.goal_seq;
        m->reset_since = st->latched;
        break;
    case TAKEN_BACK:
        m->cmd.reset_count++;
        m->cmd.reset_latch = 0;
        m->reset_since = false;
        break;
    case DISK:
        m->disk_gen = want.gen;
        m->disk_latched = want.latched;
        pons__safety_saved(&m->s, &(pons__latch_saved){.gen = want.gen});
        break;
    case DISK_LATE: // of the state before this one
        pons__safety_saved(
            &m->s, &(pons__latch_saved){.gen = m->disk_gen, .tried = want.gen, .why = "full"});
        break;
    default:
        m->cmd.goal_seq++;
        break;
    }
}

static void wrong(const model *m, const char *what)
{
    fail_msg("%s: %s (latched %d, lifting %d, gen %llu, saved %llu, disk %s)", m->word, what,
             m->s.status.latched, m->s.status.lifting, (unsigned long long)m->s.status.gen,
             (unsigned long long)m->s.status.saved_gen, m->disk_latched ? "latched" : "free");
}

static void tick(model *m)
{
    const pons__safety_status *st = &m->s.status;
    const pons__safety_status was = *st;
    const bool would_stop = m->cmd.stop_count != st->stops_seen || m->fault;
    m->now_ns += TICK_NS;
    m->state.stamp_ns = m->scan.stamp_ns = m->cmd.stamp_ns = m->now_ns;
    const pons_twist2 out =
        pons__safety_step(&m->s, &m->cmd, &m->state, &m->scan, m->fault, m->now_ns, m->now_ns);
    if (would_stop && !st->latched) {
        wrong(m, "a stop, and it is free");
    }
    if (m->fault && !was.latched) {
        m->reset_since = false;
    }
    if (st->latched && (out.v != 0.0 || out.w != 0.0 || st->zone != PONS__ZONE_LATCHED)) {
        wrong(m, "latched, and not zero");
    }
    if (st->latched) {
        m->void_goal = m->cmd.goal_seq;
    } else if (m->cmd.goal_seq <= m->void_goal && (out.v != 0.0 || out.w != 0.0)) {
        wrong(m, "what was asked for before the end of the latch moves");
    }
    if (!st->latched && m->disk_latched) {
        wrong(m, "free, and the disk says latched");
    }
    if (was.latched && !st->latched && !m->reset_since) {
        wrong(m, "free without a reset");
    }
    if (st->gen < was.gen || st->latch_count < m->stops) {
        wrong(m, "a number fell, or a stop did not count");
    }
    if (st->latched && !st->lifting && st->saved_gen == st->gen && !m->disk_latched) {
        wrong(m, "told as durable, and the disk says free");
    }
}

static void every_sequence(void **state)
{
    (void)state;
    const pons_robot_caps caps = {.radius_m = 0.22,
                                  .speed_max_mps = 0.6,
                                  .reverse_max_mps = 0.3,
                                  .yaw_rate_max_radps = 1.5,
                                  .accel_max_mps2 = 1.0,
                                  .brake_max_mps2 = 2.0,
                                  .yaw_accel_max_radps2 = 4.0};
    long sequences = 0, freed = 0, moved = 0;
    int digits[LENGTH] = {0};
    static model m;
    pons__safety_params_from_caps(&params, &caps);
    for (bool more = true; more; sequences++) {
        begin(&m);
        tick(&m);
        for (int i = 0; i < LENGTH; i++) {
            const bool latched = m.s.status.latched;
            m.word[i] = letters[digits[i]];
            happen(&m, digits[i]);
            tick(&m);
            freed += latched && !m.s.status.latched;
        }
        tick(&m);
        moved += m.s.status.out.v > 0.0;
        more = false;
        for (int i = LENGTH - 1; i >= 0 && !more; i--) {
            digits[i] = (digits[i] + 1) % EVENTS;
            more = digits[i] != 0;
        }
    }
    print_message("%ld sequences, %ld times lifted, %ld ended driving\n", sequences, freed, moved);
    assert_int_equal(sequences, 531441);
    assert_true(freed > 0 && moved > 0); // else nothing was tried
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_sequence),
    };
    return cmocka_run_group_tests_name("the latch's states", tests, NULL, NULL);
}
