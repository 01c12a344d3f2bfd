// invariants.c - what must hold at every step of every run.
//
// The judge (expectations.c) reads the end of a story; this looks at each step of it, at four things that
// no brain can touch up:
//
//     the body's ledger      a goal id is started once; while a goal has the base no other starts;
//                            what was stopped goes on by a person's word alone
//     the gate's writes      zero while a stop is latched, or nobody drives; within every limit; and the
//                            simulated robot stands then, and drives into nothing (motion_invariants.c)
//     the committed events   what needs a person is not dispatched before one has agreed, each
//                            approval for one dispatch of what it showed; the queue has its order; a
//                            task ends once, in time, and is where it says it is (event_invariants.c)
//     the brain's mode       SAFE within a tick of the telemetry that demands it
//
// and at the file's own `always:` block. What was broken is told once a kind, with the first moment
// at which it was: a robot that moves while it is latched does so at every step.
#include "scenario/checks/invariants.h"

#include "pons/ledger_format.h"
#include "scenario/checks/expectations.h"
#include "scenario/checks/invariants_internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define SAFE_WITHIN_NS (250 * PONS_NS_PER_MS) // telemetry comes every 50 ms, a tick every 100 ms
#define HEARD_NS       (500 * PONS_NS_PER_MS) // a word is heard, done, and shown within that
#define SEEN_NS        (300 * PONS_NS_PER_MS) // a brain that was awake so long knows of it
#define READS_NS       (30 * PONS_NS_PER_MS)  // of what was said to it while it stood still
#define SETTLES_NS     PONS_NS_PER_S          // a reset that is under way has done what it does
#define SILENT_NS      PONS_NS_PER_S          // telemetry_age_max_ms of config/kernel.yaml
#define STEP_S         0.01

// ---- the ledger ---------------------------------------------------------------------------------

static void ledger_row(pons__watch *w, const pons_value *row)
{
    pons_ledger_line line;
    if (!pons_ledger_about_goal(row)) {
        pons_ledger_note note;
        if (pons_ledger_note_decode(row, &note, NULL) == PONS_OK && note.kind == PONS_LEDGER_BOOT) {
            json_object_clear(w->moving);
            json_object_clear(w->held);
            json_object_clear(w->open);
        }
        return;
    }
    if (pons_ledger_line_decode(row, &line, NULL) < 0) {
        pons__watch_broken(w, "ledger", "the ledger has a bad line");
        return;
    }
    const char *goal = line.goal_id, *skill = line.skill;
    if (pons_goal_over((pons_goal_state)line.state)) {
        json_object_del(w->moving, goal);
        json_object_del(w->open, goal);
    }
    if (line.state == PONS_GOAL_HELD) {
        json_object_set_new(w->held, goal, json_real(w->now_s));
    } else {
        json_object_del(w->held, goal);
    }
    if (line.state != PONS_GOAL_STARTED) {
        return;
    }
    if (pons_get(w->started, goal)) {
        pons__watch_broken(w, "twice", "goal %s started twice", goal);
    }
    json_object_set_new(w->started, goal, json_true());
    json_object_set_new(w->open, goal, json_string(skill));
    const pons_value *only = pons_get(w->always, "skills");
    if (only && !pons_list_has(only, skill)) {
        pons__watch_broken(w, skill, "%s started, which may not", skill);
    }
    if (!pons__judge_moves(skill)) {
        return;
    }
    const char *other = json_object_iter_key(json_object_iter(w->moving));
    if (other) {
        pons__watch_broken(w, "base", "%s started while goal %s had the base", skill, other);
    }
    const char *task = pons_get_str(row, "task_id", "");
    // What was sent before its task ended lies before the cancel in what a body reads that stood still.
    const bool reads = w->over_unheard && w->thawed_ns <= READS_NS;
    if (w->seq > 0 && *task && !pons_get(w->tasks, task) && !reads) {
        pons__watch_broken(w, "over", "%s started for %s, which is over", skill, task);
    }
    if (w->waits) {
        pons__watch_broken(w, "waits", "%s started after a stop, and nobody has said continue",
                           skill);
    }
    if (w->demanded_ns > SAFE_WITHIN_NS) {
        pons__watch_broken(w, "unsafe", "%s started, where SAFE is due", skill);
    }
    json_object_set_new(w->moving, goal, json_string(task));
}

// What was appended since the last look, line by line.
static void look_at_ledger(pons__watch *w)
{
    struct stat st;
    if (stat(w->ledger, &st) != 0 || st.st_size <= w->read_bytes) {
        return;
    }
    FILE *f = fopen(w->ledger, "re");
    char *line = NULL;
    size_t cap = 0;
    ssize_t n;
    if (!f || fseek(f, (long)w->read_bytes, SEEK_SET) != 0) {
        pons__watch_broken(w, "ledger", "the ledger cannot be read");
    }
    while (f && (n = getline(&line, &cap, f)) > 0 && line[n - 1] == '\n') {
        pons_autovalue row = NULL;
        w->read_bytes += n;
        if (pons_value_parse(line, (size_t)n, &row, NULL) >= 0) {
            ledger_row(w, row);
        }
    }
    free(line);
    if (f) {
        fclose(f);
    }
}

// ---- the words of people ------------------------------------------------------------------------

// What is said to a brain that sleeps may be heard much later, and is judged kindly.
void pons__watch_received(pons__watch *w, const char *word)
{
    if (strcmp(word, "stop") == 0 && !w->latched) {
        w->stop_word = true;
        w->stop_word_ns = 0;
    } else if (strcmp(word, "reset") == 0) {
        w->stop_word = false;
        w->resetting = w->reset_since = true;
        w->kept = false;
        w->reset_ns = 0;
    } else if (strcmp(word, "continue") == 0) {
        const bool counts = !w->latched || w->reset_since;
        w->waits = w->waits && w->awake && !counts;
        w->asleep_word_ns = w->awake ? w->asleep_word_ns : SETTLES_NS;
        w->new_word_ns = w->awake ? HEARD_NS : 0;
    }
}

// The word stop is a stop.
static void look_at_stop_word(pons__watch *w, const pons__watch_step *step, int64_t awake_ns)
{
    w->stop_word = w->stop_word && !(step->reported && step->latched);
    w->stop_word_ns = w->stop_word ? w->stop_word_ns + awake_ns : 0;
    if (w->stop_word_ns > HEARD_NS) {
        pons__watch_broken(w, "word", "stop was said, and nothing is latched");
        w->stop_word = false;
    }
}

// After a reset, what it interrupted waits. Who dies before it has heard a word hears it when it lives again.
static void look_at_waits(pons__watch *w, bool stopped, int64_t awake_ns)
{
    if (w->new_word_ns > 0 && !w->awake) {
        w->asleep_word_ns = SETTLES_NS;
    }
    w->new_word_ns = w->awake && w->new_word_ns > awake_ns ? w->new_word_ns - awake_ns : 0;
    w->asleep_word_ns = w->asleep_word_ns > awake_ns ? w->asleep_word_ns - awake_ns : 0;
    if (stopped && w->stop_seen_ns == 0) {
        w->reset_since = false;
    }
    w->stop_seen_ns = stopped ? w->stop_seen_ns + awake_ns + (w->stop_seen_ns == 0) : 0;
    w->waits = (w->waits || (w->reset_waits && w->stop_seen_ns > SEEN_NS && !w->reset_since)) &&
               w->asleep_word_ns == 0 && pons__watch_busy(w);
}

// A stop that is on the disk is that of the next body too, and stays until somebody lifts it.
// So does a brain that sleeps: the stop and the reset that it was told meanwhile are both still to come.
static void look_at_reset(pons__watch *w, const pons__watch_step *step)
{
    const bool free = w->resetting && step->reported && step->awake && !step->latched;
    w->reset_ns = free ? w->reset_ns + SETTLES_NS / 20 : w->reset_ns;
    w->resetting = w->resetting && w->reset_ns < SETTLES_NS;
    if (!step->reported) {
        return;
    }
    if (w->kept && !step->latched) {
        pons__watch_broken(w, "forgot", "a stop was lifted, and nobody has said reset");
    }
    w->kept = (w->kept || (step->by_stop && step->durable)) && step->latched && !w->resetting;
}

static void look_at_words(pons__watch *w, const pons__watch_step *step)
{
    const int64_t awake_ns = step->awake ? step->dt_ns : 0;
    const bool stopped = step->reported ? step->latched && step->by_stop : w->stop_seen_ns > 0;
    look_at_stop_word(w, step, awake_ns);
    look_at_waits(w, stopped, awake_ns);
    look_at_reset(w, step);
}

// ---- the mode -----------------------------------------------------------------------------------

static void look_at_mode(pons__watch *w, const pons__watch_step *step, pons_brain *brain)
{
    w->silent_ns = step->frozen && w->awake ? w->silent_ns + step->dt_ns : 0;
    w->demands = step->reported ? step->latched || step->risk || step->empty : w->demands;
    const bool due = w->demands || w->silent_ns > SILENT_NS;
    if ((!step->body && !step->frozen) || !w->awake || !due) {
        w->unsafe_ns = w->demanded_ns = 0;
        return;
    }
    w->unsafe_ns += step->dt_ns;
    w->demanded_ns = w->demands ? w->demanded_ns + step->dt_ns : 0;
    if (w->unsafe_ns < SAFE_WITHIN_NS) {
        return;
    }
    pons_autovalue status = brain ? pons_brain_status(brain) : NULL;
    const char *mode = pons_get_str(status, "mode", "");
    if (strcmp(mode, "SAFE") != 0) {
        pons__watch_broken(w, "safe", "SAFE is due since %.2f s, and the mode is %s (%s)",
                           (double)w->unsafe_ns / 1e9, mode,
                           pons_get_str(status, "mode_reason", ""));
    }
    w->unsafe_ns = 0; // and again after a while
}

// ---- the file's own -----------------------------------------------------------------------------

static void look_at_always(pons__watch *w, const pons__watch_step *step)
{
    const pons_value *speed = pons_get(w->always, "speed_max_mps");
    const char *outside = pons_get_str(w->always, "outside", NULL);
    const pons_value *battery = pons_get(w->always, "battery_above_pct");
    if (speed && w->has_before) {
        const double mps = hypot(step->truth.x - w->before.x, step->truth.y - w->before.y) / STEP_S;
        if (mps > json_number_value(speed)) {
            pons__watch_broken(w, "speed", "%.2f m/s, at most %.2f allowed", mps,
                               json_number_value(speed));
        }
    }
    if (outside && pons__judge_in_zone(w->world, outside, step->truth)) {
        pons__watch_broken(w, "outside", "the robot is in %s", outside);
    }
    if (battery && step->reported && step->battery_pct < json_number_value(battery)) {
        pons__watch_broken(w, "battery", "the battery has %.1f %%", step->battery_pct);
    }
}

// ---- public functions ---------------------------------------------------------------------------

void pons__watch_init(pons__watch *w, const char *ledger, const pons_value *world,
                      const pons_value *config, const pons_value *always)
{
    const char *after = pons_get_str(pons_get(config, "safety"), "after_reset", "wait");
    const char *overdue = pons_get_str(pons_get(config, "limits"), "overdue", "end");
    *w = (pons__watch){.always = always,
                       .carried_s = -INFINITY,
                       .world = world,
                       .asks = pons_get(pons_get(config, "approval"), "skills"),
                       .reset_waits = strcmp(after, "wait") == 0,
                       .overdue_ends = strcmp(overdue, "end") == 0,
                       .misses = json_array(),
                       .kinds = json_object(),
                       .ledger = ledger,
                       .started = json_object(),
                       .moving = json_object(),
                       .held = json_object(),
                       .open = json_object(),
                       .bumps = -1,
                       .questions = json_object(),
                       .sent = json_object(),
                       .granted = json_array(),
                       .tasks = json_object()};
}

void pons__watch_fini(pons__watch *w)
{
    pons_value_unref(w->misses);
    pons_value_unref(w->kinds);
    pons_value_unref(w->started);
    pons_value_unref(w->moving);
    pons_value_unref(w->held);
    pons_value_unref(w->open);
    pons_value_unref(w->questions);
    pons_value_unref(w->sent);
    pons_value_unref(w->granted);
    pons_value_unref(w->tasks);
}

void pons__watch_look(pons__watch *w, const pons__watch_step *step, pons_brain *brain,
                      pons_store store, const char *thread)
{
    int64_t last = w->seq;
    w->now_s = step->robot_s;
    w->truth = step->truth;
    // Before its first hello and telemetry a brain has no tick, so it does nothing and can know of nothing.
    w->awake = step->awake && step->met;
    w->skills = step->skills;
    w->thawed_ns = step->frozen ? 0 : w->thawed_ns + step->dt_ns;
    look_at_ledger(w);
    if (store.ops && store.ops->event_last(store.self, thread, &last, NULL) >= 0 && last > w->seq) {
        store.ops->events(store.self, thread, w->seq, 0, pons__watch_event, w, NULL);
    }
    if (step->body) {
        pons__watch_motion(w, step);
        look_at_words(w, step);
        look_at_always(w, step);
    }
    look_at_mode(w, step, brain);
    pons__watch_tasks(w, step);
    w->before = step->truth;
    w->has_before = step->body;
}

void pons__watch_stopped(pons__watch *w)
{
    w->said = true;
    w->reset_since = false;
}

void pons__watch_moved(pons__watch *w)
{
    w->stands = w->has_before = false;
    w->carried_s = w->now_s;
    w->latched_s = w->now_s;
}

void pons__watch_rebooted(pons__watch *w)
{
    w->latched = w->said = w->stands = w->has_before = false;
    w->wrote = (pons_twist2){0};
}
