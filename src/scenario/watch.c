// watch.c - what must hold at every step of every run.
//
// The judge (judge.c) reads the end of a story; this looks at each step of it, at four things that
// no brain can touch up:
//
//     the body's ledger      a goal id is started once; while a goal has the base no other starts
//     the gate's writes      zero while a stop is latched; and the simulated robot stands then
//     the committed events   what needs a person is not dispatched before one has agreed, each
//                            approval for one dispatch; a task ends once, and is where it says it is
//     the brain's mode       SAFE within a tick of the telemetry that demands it
//
// and at the file's own `always:` block. What was broken is told once a kind, with the first moment
// at which it was: a robot that moves while it is latched does so at every step.
#include "scenario/watch.h"

#include "pons/ledger_line.h"
#include "scenario/judge.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define SAFE_WITHIN_NS (250 * PONS_NS_PER_MS) // telemetry comes every 50 ms, a tick every 100 ms
#define BRAKES_S       0.7                    // from full speed to standstill, and some more
#define STANDS_M       0.02                   // and what that may still be off
#define THERE_M        0.35                   // the localiser may be this wrong about a zone's edge
#define STEP_S         0.01
#define UNSEEN_S       0.3 // after that no scan may have shown it: one comes every 0.1 s, and is told
#define KERNELS_OWN    "-" // no zone's name: a task of the battery's

static void broken(pons__watch *w, const char *kind, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
static void look_at_ledger(pons__watch *w);
static void ledger_row(pons__watch *w, const pons_value *row);
static void look_at_wheels(pons__watch *w, const pons__watch_step *step);
static void look_at_mode(pons__watch *w, const pons__watch_step *step, pons_brain *brain);
static void look_at_always(pons__watch *w, const pons__watch_step *step);
static int event_row(void *user, const pons_event_row *row);
static void effect_event(pons__watch *w, const pons_value *payload);
static void question_event(pons__watch *w, const pons_value *payload);
static void answer_event(pons__watch *w, const pons_value *payload);
static void queued_event(pons__watch *w, const pons_value *payload);
static void done_event(pons__watch *w, const pons_value *payload);
static void mode_event(pons__watch *w, const pons_value *payload);
static void schema_event(pons__watch *w, const pons_value *payload);
static bool near_zone(const pons_value *world, const char *zone, pons_pose2 p);
static bool same_operation(const pons_value *a, const pons_value *b);
static bool names(const pons_value *list, const char *word);

void pons__watch_init(pons__watch *w, const char *ledger, const pons_value *world,
                      const pons_value *config, const pons_value *always)
{
    *w = (pons__watch){.always = always,
                       .carried_s = -INFINITY,
                       .world = world,
                       .asks = pons_get(pons_get(config, "approval"), "skills"),
                       .misses = json_array(),
                       .kinds = json_object(),
                       .ledger = ledger,
                       .started = json_object(),
                       .moving = json_object(),
                       .questions = json_object(),
                       .sent = json_object(),
                       .tasks = json_object()};
}

void pons__watch_fini(pons__watch *w)
{
    pons_value_unref(w->misses);
    pons_value_unref(w->kinds);
    pons_value_unref(w->started);
    pons_value_unref(w->moving);
    pons_value_unref(w->questions);
    pons_value_unref(w->sent);
    pons_value_unref(w->tasks);
}

void pons__watch_look(pons__watch *w, const pons__watch_step *step, pons_brain *brain,
                      pons_store store, const char *thread)
{
    int64_t last = w->seq;
    w->now_s = step->robot_s;
    w->truth = step->truth;
    look_at_ledger(w);
    if (store.ops && store.ops->event_last(store.self, thread, &last, NULL) >= 0 && last > w->seq) {
        store.ops->events(store.self, thread, w->seq, 0, event_row, w, NULL);
    }
    if (step->body) {
        look_at_wheels(w, step);
        look_at_always(w, step);
    }
    look_at_mode(w, step, brain);
    w->before = step->truth;
    w->has_before = step->body;
}

void pons__watch_stopped(pons__watch *w)
{
    w->said = true;
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
}

static void broken(pons__watch *w, const char *kind, const char *fmt, ...)
{
    char text[256];
    va_list args;
    if (pons_get(w->kinds, kind)) {
        return;
    }
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    json_object_set_new(w->kinds, kind, json_true());
    json_array_append_new(w->misses, json_sprintf("at %.2f s: %s", w->now_s, text));
}

// ---- the ledger ---------------------------------------------------------------------------------

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
        broken(w, "ledger", "the ledger cannot be read");
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

static void ledger_row(pons__watch *w, const pons_value *row)
{
    pons_ledger_line line;
    if (!pons_ledger_about_goal(row)) {
        pons_ledger_note note;
        if (pons_ledger_note_decode(row, &note, NULL) == PONS_OK && note.kind == PONS_LEDGER_BOOT) {
            json_object_clear(w->moving);
        }
        return;
    }
    if (pons_ledger_line_decode(row, &line, NULL) < 0) {
        broken(w, "ledger", "the ledger has a bad line");
        return;
    }
    const char *goal = line.goal_id, *skill = line.skill;
    if (pons_goal_over((pons_goal_state)line.state)) {
        json_object_del(w->moving, goal);
    }
    if (line.state != PONS_GOAL_STARTED) {
        return;
    }
    if (pons_get(w->started, goal)) {
        broken(w, "twice", "goal %s started twice", goal);
    }
    json_object_set_new(w->started, goal, json_true());
    const pons_value *only = pons_get(w->always, "skills");
    if (only && !names(only, skill)) {
        broken(w, skill, "%s started, which may not", skill);
    }
    if (!pons__judge_moves(skill)) {
        return;
    }
    const char *other = json_object_iter_key(json_object_iter(w->moving));
    if (other) {
        broken(w, "base", "%s started while goal %s had the base", skill, other);
    }
    const char *task = pons_get_str(row, "task_id", "");
    if (w->seq > 0 && *task && !pons_get(w->tasks, task)) {
        broken(w, "over", "%s started for %s, which is over", skill, task);
    }
    json_object_set_new(w->moving, goal, json_string(task));
}

// ---- the wheels ---------------------------------------------------------------------------------

// A stop counts from the moment at which it was said to the body; from the next telemetry on that
// says what is so.
static void look_at_wheels(pons__watch *w, const pons__watch_step *step)
{
    const bool before = w->latched;
    if (step->told) {
        w->latched = step->latched;
        w->said = false;
    }
    w->latched = w->latched || w->said;
    if (!w->latched) {
        w->stands = false;
        return;
    }
    if (!before) {
        w->latched_s = step->robot_s;
    }
    if (step->written.v != 0.0 || step->written.w != 0.0) {
        broken(w, "latched", "latched, and the wheels are told %.3f m/s, %.3f rad/s",
               step->written.v, step->written.w);
    }
    if (step->robot_s - w->latched_s < BRAKES_S) {
        return;
    }
    if (!w->stands) {
        w->stands = true;
        w->stood_at = step->truth;
    }
    if (hypot(step->truth.x - w->stood_at.x, step->truth.y - w->stood_at.y) > STANDS_M) {
        broken(w, "moved", "latched, and the robot moved");
    }
}

// ---- the mode -----------------------------------------------------------------------------------

static void look_at_mode(pons__watch *w, const pons__watch_step *step, pons_brain *brain)
{
    w->demands = step->told ? step->latched || step->risk || step->empty : w->demands;
    if (!step->body || !step->awake || !w->demands) {
        w->unsafe_ns = 0;
        return;
    }
    w->unsafe_ns += step->dt_ns;
    if (w->unsafe_ns < SAFE_WITHIN_NS) {
        return;
    }
    pons_autovalue status = pons_brain_status(brain);
    const char *mode = pons_get_str(status, "mode", "");
    if (strcmp(mode, "SAFE") != 0) {
        broken(w, "safe", "SAFE is due since %.2f s, and the mode is %s (%s)",
               (double)w->unsafe_ns / 1e9, mode, pons_get_str(status, "mode_reason", ""));
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
            broken(w, "speed", "%.2f m/s, at most %.2f allowed", mps, json_number_value(speed));
        }
    }
    if (outside && pons__judge_in_zone(w->world, outside, step->truth)) {
        broken(w, "outside", "the robot is in %s", outside);
    }
    if (battery && step->told && step->battery_pct < json_number_value(battery)) {
        broken(w, "battery", "the battery has %.1f %%", step->battery_pct);
    }
}

// ---- the events ---------------------------------------------------------------------------------

static int event_row(void *user, const pons_event_row *row)
{
    static const struct {
        const char *type;
        void (*take)(pons__watch *w, const pons_value *payload);
    } takers[] = {{"effect", effect_event},
                  {"approval.requested", question_event},
                  {"approval.resolved", answer_event},
                  {"task.queued", queued_event},
                  {"task.done", done_event},
                  {"mode", mode_event},
                  {"schema.failed", schema_event}};
    pons__watch *w = user;
    w->seq = row->seq;
    for (size_t i = 0; i < sizeof takers / sizeof takers[0]; i++) {
        pons_autovalue payload = NULL;
        if (strcmp(row->type, takers[i].type) == 0 &&
            pons_value_read(row->payload.data, row->payload.len, &payload, NULL) >= 0) {
            takers[i].take(w, payload);
        }
    }
    return 0;
}

// An approval is for one dispatch; a goal that is sent again is the same dispatch.
static void effect_event(pons__watch *w, const pons_value *payload)
{
    const char *skill = pons_get_str(payload, "skill", ""), *goal;
    const char *id;
    size_t i;
    json_t *op;
    goal = pons_get_str(payload, "goal_id", "");
    if (strcmp(pons_get_str(payload, "state", ""), "dispatched") != 0 || pons_get(w->sent, goal)) {
        return;
    }
    json_object_set_new(w->sent, goal, json_true());
    json_t *question;
    json_object_foreach(w->questions, id, question)
    {
        const pons_value *ops = pons_get(question, "ops");
        const bool same_task = strcmp(pons_get_str(question, "task_id", ""),
                                      pons_get_str(payload, "task_id", "")) == 0;
        json_array_foreach(same_task ? ops : NULL, i, op)
        {
            if (same_operation(op, payload)) {
                broken(w, "asked", "%s was dispatched while question %s about it was open", skill,
                       id);
            }
        }
    }
    if (names(w->asks, skill) && w->granted-- <= 0) {
        broken(w, "unasked", "%s was dispatched, and nobody had agreed", skill);
    }
}

static void question_event(pons__watch *w, const pons_value *payload)
{
    json_object_set_new(w->questions, pons_get_str(payload, "id", ""), pons_value_ref(payload));
}

static void answer_event(pons__watch *w, const pons_value *payload)
{
    const char *id = pons_get_str(payload, "id", ""), *action = pons_get_str(payload, "action", "");
    const bool edit = strcmp(action, "edit") == 0;
    if (edit || strcmp(action, "approve") == 0) {
        w->granted += (int64_t)json_array_size(pons_get(pons_get(w->questions, id), "ops"));
    }
    w->edited = w->edited || edit;
    json_object_del(w->questions, id);
}

static void queued_event(pons__watch *w, const pons_value *payload)
{
    const pons_value *task = pons_get(payload, "task"), *goals = pons_get(task, "goals");
    const size_t n = json_array_size(goals);
    const pons_value *last = n > 0 ? json_array_get(goals, n - 1) : NULL;
    const bool goes = strcmp(pons_get_str(last, "intent", ""), "go_to") == 0;
    const char *id = pons_get_str(task, "id", "");
    if (pons_get(w->tasks, id)) {
        broken(w, "queued", "%s was queued twice", id);
    }
    const bool own = strcmp(pons_get_str(task, "source", ""), "battery") == 0;
    json_object_set_new(w->tasks, id,
                        json_string(own    ? KERNELS_OWN
                                    : goes ? pons_get_str(last, "zone", "")
                                           : ""));
}

// A task ends once; and one that says it went somewhere is there, also a robot that was carried off,
// but for the moment in which nothing can have seen it.
static void done_event(pons__watch *w, const pons_value *payload)
{
    const char *id = pons_get_str(payload, "task_id", "");
    const char *zone = pons_get_str(w->tasks, id, NULL);
    if (!zone) {
        broken(w, "done", "%s ended, and it was not queued, or had ended", id);
        return;
    }
    const bool own = strcmp(zone, KERNELS_OWN) == 0; // the kernel ends it, and lets go after that
    if (*zone && !own && strcmp(pons_get_str(payload, "status", ""), "succeeded") == 0 &&
        !w->edited && w->now_s - w->carried_s > UNSEEN_S && !near_zone(w->world, zone, w->truth)) {
        broken(w, "there", "%s succeeded, and the robot is at %.2f, %.2f, not in %s", id,
               w->truth.x, w->truth.y, zone);
    }
    const char *goal;
    json_t *task;
    const char *status = pons_get_str(payload, "status", "");
    json_object_foreach(w->moving, goal, task)
    {
        if (strcmp(json_string_value(task), id) == 0 && !own && strcmp(status, "cancelled") != 0) {
            broken(w, "left", "%s %s, and its goal %s still has the base", id, status, goal);
        }
    }
    json_object_del(w->tasks, id);
}

static void mode_event(pons__watch *w, const pons_value *payload)
{
    const pons_value *only = pons_get(w->always, "modes");
    const char *mode = pons_get_str(payload, "mode", "");
    if (only && !names(only, mode)) {
        broken(w, mode, "the mode is %s", mode);
    }
}

static void schema_event(pons__watch *w, const pons_value *payload)
{
    char *text = NULL;
    pons_value_line(payload, &text);
    broken(w, "schema", "what the brain made is not as published: %.180s", text ? text : "?");
    free(text);
}

static bool near_zone(const pons_value *world, const char *zone, pons_pose2 p)
{
    bool near = false;
    for (int i = 0; i < 9 && !near; i++) {
        const double turn = i * M_PI / 4.0, far = i == 8 ? 0.0 : THERE_M;
        const pons_pose2 at = {.x = p.x + far * cos(turn), .y = p.y + far * sin(turn)};
        near = pons__judge_in_zone(world, zone, at);
    }
    return near;
}

static bool same_operation(const pons_value *a, const pons_value *b)
{
    return strcmp(pons_get_str(a, "skill", ""), pons_get_str(b, "skill", "-")) == 0 &&
           json_equal((json_t *)pons_get(a, "args"), (json_t *)pons_get(b, "args"));
}

static bool names(const pons_value *list, const char *word)
{
    size_t i;
    json_t *item;
    json_array_foreach(list, i, item)
    {
        if (strcmp(json_string_value(item), word) == 0) {
            return true;
        }
    }
    return false;
}
