// scenario_events.c - what the events of a scenario's file do, and when.
//
// An event has a time of the robot's clock (at_s), or a condition (when) after which it waits for
// after_s. What is done goes through the doors that the real thing goes through: words and answers
// to the store's inbox, stops to the gate, a reset over the link, a kill at a commit. Only what is
// the world's own - a box, a wheel, the battery, a robot carried away - is told to the driver.
//
// What needs a body waits while there is none.
#include "pons/link_message.h"
#include "scenario/runner.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STEER_NS      (100 * PONS_NS_PER_MS)
#define MOVER_STEP_NS (50 * PONS_NS_PER_MS) // a moving box is put elsewhere this often
#define STANDS_NEAR_M                                                                              \
    0.6 // from the robot's middle: its radius, 0.1 s until it is seen, and its brakes
#define MOVES_NEAR_M 1.2                     // the same of a box that comes nearer by itself
#define EXCUSED_NS   (5 * PONS_NS_PER_S / 2) // what is touched so long after was not to be foreseen

typedef struct deed {
    const char *word;
    bool needs_body;
    bool needs_brain;     // in the story
    bool needs_brainless; // the runner is the body's controller
    int (*act)(pons__runner *r, const pons_value *what, pons_error *err);
} deed;

// ---- helpers ------------------------------------------------------------------------------------

static void excuse(pons__runner *r)
{
    r->excused_until_ns = r->robot_ns + EXCUSED_NS;
}

// What is put so near that nobody could stop before it is nobody's fault.
static int put_box(pons__runner *r, const pons_value *box, pons_error *err)
{
    pons_pose2 at = {0};
    pons_error none = PONS_ERROR_INIT;
    if (r->body && pons_body_truth(r->body, &at, &none) >= 0) {
        const double dx =
            fabs(pons_get_num(box, "x", 0.0) - at.x) - 0.5 * pons_get_num(box, "sx", 0.0);
        const double dy =
            fabs(pons_get_num(box, "y", 0.0) - at.y) - 0.5 * pons_get_num(box, "sy", 0.0);
        const bool moves = pons_get(box, "speed_mps") != NULL;
        if (hypot(fmax(dx, 0.0), fmax(dy, 0.0)) < (moves ? MOVES_NEAR_M : STANDS_NEAR_M)) {
            excuse(r);
        }
    }
    return r->wheels.ops.spawn(r->wheels.self, box, err);
}

static int move_boxes(pons__runner *r, pons_error *err)
{
    int rc = PONS_OK;
    for (size_t i = 0; r->body && i < PONS__MOVERS_MAX && rc >= 0; i++) {
        pons__mover *m = &r->movers[i];
        if (!m->box || r->robot_ns - m->last_ns < MOVER_STEP_NS) {
            continue;
        }
        const double far = hypot(m->to_x - m->x, m->to_y - m->y);
        const double step = m->speed_mps * (double)(r->robot_ns - m->last_ns) / 1e9;
        const double part = far <= step ? 1.0 : step / far;
        m->last_ns = r->robot_ns;
        m->x += part * (m->to_x - m->x);
        m->y += part * (m->to_y - m->y);
        json_object_set_new(m->box, "x", json_real(m->x));
        json_object_set_new(m->box, "y", json_real(m->y));
        rc = put_box(r, m->box, err);
        if (far <= step) { // there
            pons_value_unref(m->box);
            m->box = NULL;
        }
    }
    return rc;
}

// As the page does: ten times a second while the finger is down.
static int steer(pons__runner *r, pons_error *err)
{
    if (!r->control.link || r->manual.now_ns < r->steer_ns ||
        r->manual.now_ns > r->steer_until_ns) {
        return PONS_OK;
    }
    r->steer_ns += STEER_NS;
    return pons_message_send(
        r->control.link,
        &(pons_message){.type = PONS_MESSAGE_STEER, .as.steer = {.v = r->steer_v, .w = r->steer_w}},
        err);
}

void pons__post(pons__runner *r, const char *kind, pons_value *value_taken)
{
    pons_error ignored = PONS_ERROR_INIT;
    pons_autovalue inbox_message = json_copy(value_taken);
    if (strcmp(kind, "answer") != 0 &&
        *r->control.boot_id) { // as the command line looks at the body
        json_object_set_new(inbox_message, "stop_boot", json_string(r->control.boot_id));
        json_object_set_new(inbox_message, "stop_number", json_integer(r->control.stop_number));
        json_object_set_new(inbox_message, "stop_latched", json_boolean(r->control.latched));
    }
    pons_inbox_post(r->memory, PONS__STORY_THREAD, "kernel", kind, inbox_message, &ignored);
    pons_value_unref(value_taken);
}

// What the judge must know of a person's words: as the policy understands them.
static void received(pons__runner *r, const char *text)
{
    pons_autovalue parsed = NULL;
    pons_error none = PONS_ERROR_INIT;
    const pons_policy *p = &r->env->policy;
    pons_autovalue pace = NULL; // "reset, at half speed" is a reset
    const bool paced = p->ops->pace && p->ops->pace(p->self, text, &pace, &none) >= 0;
    text = paced ? pons_get_str(pace, "before", text) : text;
    p->ops->parse(p->self, text, r->env->world, &parsed, &none);
    pons__watch_received(&r->watch, pons_get_str(parsed, "control", ""));
}

// ---- the deeds ----------------------------------------------------------------------------------

static int do_goal(pons__runner *r, const pons_value *what, pons_error *err)
{
    return pons__control_goal(&r->control, what, &r->clock, err);
}

static int do_cancel(pons__runner *r, const pons_value *what, pons_error *err)
{
    return pons__control_cancel(&r->control, json_string_value(what), err);
}

static int do_stuck_wheel(pons__runner *r, const pons_value *what, pons_error *err)
{
    const char *wheel = json_string_value(what);
    const bool both = strcmp(wheel, "both") == 0;
    r->wheels.left_stuck = both || strcmp(wheel, "left") == 0;
    r->wheels.right_stuck = both || strcmp(wheel, "right") == 0;
    excuse(r);
    return PONS_OK;
}

// People speak to the store itself: their words arrive also while the brain is dead.
static int do_say(pons__runner *r, const pons_value *what, pons_error *err)
{
    received(r, json_string_value(what));
    r->answered_ns = r->manual.now_ns; // it may be one
    pons__post(r, "say", pons_object("text", pons_value_ref(what), NULL));
    return PONS_OK;
}

// With a priority and a deadline, as `pons run --priority --deadline` asks for it.
static int do_wish(pons__runner *r, const pons_value *what, pons_error *err)
{
    const double deadline_s = pons_get_num(what, "deadline_s", 0.0);
    pons_value *said = pons_object("text", pons_value_ref(pons_get(what, "text")), NULL);
    if (pons_get(what, "priority")) {
        json_object_set(said, "priority", (json_t *)pons_get(what, "priority"));
    }
    if (deadline_s > 0.0) {
        const int64_t until_ms = pons_wall_ms(&r->clock) + (int64_t)(deadline_s * 1e3);
        json_object_set_new(said, "deadline_ms", json_integer(until_ms));
    }
    pons__post(r, "say", said);
    return PONS_OK;
}

static int do_control(pons__runner *r, const pons_value *what, pons_error *err)
{
    const char *word = pons_get_str(what, "word", "");
    pons__watch_received(&r->watch, strcmp(word, "resume") == 0 ? "continue" : word);
    pons__post(r, "control", pons_value_ref(what));
    return PONS_OK;
}

static int do_answer(pons__runner *r, const pons_value *what, pons_error *err)
{
    r->answered_ns = r->manual.now_ns;
    pons__post(r, "answer", pons_value_ref(what));
    return PONS_OK;
}

static int do_kill_brain(pons__runner *r, const pons_value *what, pons_error *err)
{
    pons__reported_kill(r, strcmp(json_string_value(what), "before") == 0);
    return PONS_OK;
}

static int do_kill_body(pons__runner *r, const pons_value *what, pons_error *err)
{
    pons__body_death(r, json_number_value(what));
    return PONS_OK;
}

static int do_pause_brain(pons__runner *r, const pons_value *what, pons_error *err)
{
    r->paused_until_ns = r->manual.now_ns + (int64_t)(json_number_value(what) * 1e9);
    return PONS_OK;
}

static int do_freeze_body(pons__runner *r, const pons_value *what, pons_error *err)
{
    r->body_frozen_until_ns = r->manual.now_ns + (int64_t)(json_number_value(what) * 1e9);
    return PONS_OK;
}

// The wall clock jumps; what measures time does not use it.
static int do_clock(pons__runner *r, const pons_value *what, pons_error *err)
{
    r->manual.wall_epoch_ms += (int64_t)(json_number_value(what) * 1e3);
    return PONS_OK;
}

static int do_steer(pons__runner *r, const pons_value *what, pons_error *err)
{
    r->steer_v = pons_get_num(what, "v", 0.0);
    r->steer_w = pons_get_num(what, "w", 0.0);
    r->steer_ns = r->manual.now_ns;
    r->steer_until_ns = r->manual.now_ns + (int64_t)(pons_get_num(what, "for_s", 1.0) * 1e9);
    return PONS_OK;
}

static int do_pace(pons__runner *r, const pons_value *what, pons_error *err)
{
    const pons_message pace = {.type = PONS_MESSAGE_PACE,
                               .as.pace = {.percent = json_integer_value(what)}};
    return pons_message_send(r->control.link, &pace, err);
}

// Somewhere, or so far ahead of the robot, wherever that is.
static int do_spawn(pons__runner *r, const pons_value *what, pons_error *err)
{
    const pons_value *ahead = pons_get(what, "ahead_m");
    pons_pose2 at = {0};
    if (!ahead) {
        return put_box(r, what, err);
    }
    const int rc = pons_body_truth(r->body, &at, err);
    pons_autovalue box = json_copy((json_t *)what);
    json_object_del(box, "ahead_m");
    json_object_set_new(box, "x", json_real(at.x + json_number_value(ahead) * cos(at.yaw)));
    json_object_set_new(box, "y", json_real(at.y + json_number_value(ahead) * sin(at.yaw)));
    return rc < 0 ? rc : put_box(r, box, err);
}

static int do_remove(pons__runner *r, const pons_value *what, pons_error *err)
{
    pons_error none = PONS_ERROR_INIT; // removing what is not there is no fault of a story
    pons_autovalue gone = pons_object("id", pons_value_ref(what), "remove", json_true(), NULL);
    for (size_t i = 0; i < PONS__MOVERS_MAX; i++) {
        const char *id = pons_get_str(r->movers[i].box, "id", "");
        if (strcmp(id, json_string_value(what)) == 0) {
            pons_value_unref(r->movers[i].box);
            r->movers[i].box = NULL;
        }
    }
    r->wheels.ops.spawn(r->wheels.self, gone, &none);
    return PONS_OK;
}

static int do_move(pons__runner *r, const pons_value *what, pons_error *err)
{
    for (size_t i = 0; i < PONS__MOVERS_MAX; i++) {
        pons__mover *m = &r->movers[i];
        if (m->box && strcmp(pons_get_str(m->box, "id", ""), pons_get_str(what, "id", "-")) != 0) {
            continue;
        }
        pons_value_unref(m->box);
        *m = (pons__mover){.box = json_copy((json_t *)what),
                           .x = pons_get_num(what, "x", 0.0),
                           .y = pons_get_num(what, "y", 0.0),
                           .to_x = pons_get_num(what, "to_x", 0.0),
                           .to_y = pons_get_num(what, "to_y", 0.0),
                           .speed_mps = pons_get_num(what, "speed_mps", 0.5),
                           .last_ns = r->robot_ns};
        return put_box(r, m->box, err);
    }
    return pons_error_set(err, PONS_EINVAL, "scenario", "%d boxes may move at once",
                          PONS__MOVERS_MAX);
}

static int do_battery(pons__runner *r, const pons_value *what, pons_error *err)
{
    r->wheels.ops.set_battery(r->wheels.self, json_number_value(what));
    return PONS_OK;
}

static int do_teleport(pons__runner *r, const pons_value *what, pons_error *err)
{
    const pons_pose2 to = {pons_get_num(what, "x", 0.0), pons_get_num(what, "y", 0.0),
                           pons_get_num(what, "yaw", 0.0)};
    pons__watch_moved(&r->watch);
    excuse(r);
    return pons__wheels_teleport(&r->wheels, to, err);
}

static int do_stop(pons__runner *r, const pons_value *what, pons_error *err)
{
    pons_body_stop(r->body, json_string_value(what));
    pons__watch_stopped(&r->watch);
    return PONS_OK;
}

static int do_reset(pons__runner *r, const pons_value *what, pons_error *err)
{
    pons__watch_received(&r->watch, "reset");
    return pons_message_send(r->control.link, &(pons_message){.type = PONS_MESSAGE_RESET}, err);
}

static int do_model(pons__runner *r, const pons_value *what, pons_error *err)
{
    const char *word = json_string_value(what);
    r->model.state = strcmp(word, "away") == 0     ? PONS__MODEL_AWAY
                     : strcmp(word, "silent") == 0 ? PONS__MODEL_SILENT
                                                   : PONS__MODEL_THERE;
    return PONS_OK;
}

static const deed deeds[] = {
    {"goal", true, false, true, do_goal},
    {"cancel", true, false, true, do_cancel},
    {"say", false, true, false, do_say},
    {"wish", false, true, false, do_wish},
    {"control", false, true, false, do_control},
    {"answer", false, true, false, do_answer},
    {"kill_brain", false, true, false, do_kill_brain},
    {"pause_brain_s", false, true, false, do_pause_brain},
    {"model", false, true, false, do_model},
    {"kill_body", true, false, false, do_kill_body},
    {"freeze_body_s", true, false, false, do_freeze_body},
    {"clock_s", false, false, false, do_clock},
    {"pace", true, false, false, do_pace},
    {"steer", true, false, false, do_steer},
    {"spawn", true, false, false, do_spawn},
    {"move", true, false, false, do_move},
    {"remove", true, false, false, do_remove},
    {"battery", true, false, false, do_battery},
    {"teleport", true, false, false, do_teleport},
    {"stuck_wheel", false, false, false, do_stuck_wheel},
    {"stop", true, false, false, do_stop},
    {"reset", true, false, false, do_reset},
};

static const deed *deed_of(const pons_value *what)
{
    for (size_t i = 0; i < sizeof deeds / sizeof deeds[0]; i++) {
        if (pons_get(what, deeds[i].word)) {
            return &deeds[i];
        }
    }
    return NULL;
}

// ---- when ---------------------------------------------------------------------------------------

// What needs a brain in a story without one, and the other way round, is a mistake in the file.
int pons__happen_fits(const pons__runner *r, pons_error *err)
{
    for (size_t i = 0; i < r->n_events; i++) {
        const deed *d = deed_of(pons_get(r->events[i].value, "do"));
        char pointer[96];
        snprintf(pointer, sizeof pointer, "/events/%zu/do/%s", i, d ? d->word : "");
        if (d && r->brainless && d->needs_brain) {
            return pons__scenario_fault(r->s, pointer, err,
                                        "'%s' needs a brain, and a scenario without goals has none",
                                        d->word);
        }
        if (d && !r->brainless && d->needs_brainless) {
            return pons__scenario_fault(
                r->s, pointer, err,
                "'%s' is for a scenario without goals: the brain is the body's controller",
                d->word);
        }
    }
    return PONS_OK;
}

static int happen(pons__runner *r, pons__happening *e, pons_error *err)
{
    const pons_value *what = pons_get(e->value, "do");
    const deed *d = deed_of(what);
    const bool kills = pons_get(what, "kill_body") != NULL;
    if (d && d->needs_body && (!r->body || (pons__happen_frozen(r) && !kills))) {
        return PONS_OK; // later
    }
    e->done = true;
    return d ? d->act(r, pons_get(what, d->word), err) : PONS_OK;
}

static bool condition_met(pons__runner *r, const pons_value *when)
{
    const pons_value *commit = pons_get(when, "commit");
    const pons_value *distance = pons_get(when, "distance_below_m");
    const pons_value *above = pons_get(when, "battery_above_pct");
    const pons_value *below = pons_get(when, "battery_below_pct");
    const char *node = pons_get_str(when, "node", NULL);
    if (node) {
        return r->control.link && pons_list_has(r->control.now_nodes, node);
    }
    if (commit) {
        return r->fault.commits >= json_integer_value(commit);
    }
    if (distance) {
        return r->control.reported && r->control.distance_m >= 0.0 &&
               r->control.distance_m < json_number_value(distance);
    }
    if (above) {
        return r->control.reported && r->control.battery_pct > json_number_value(above);
    }
    return below && r->control.reported && r->control.battery_pct < json_number_value(below);
}

int pons__happen_check(pons__runner *r, pons_error *err)
{
    int rc = move_boxes(r, err);
    rc = rc < 0 ? rc : steer(r, err);
    for (size_t i = 0; i < r->n_events && rc >= 0; i++) {
        pons__happening *e = &r->events[i];
        if (e->done) {
            continue;
        }
        const pons_value *at = pons_get(e->value, "at_s");
        if (!e->armed && at && (double)r->robot_ns >= json_number_value(at) * 1e9) {
            e->armed = true;
            e->due_ns = r->manual.now_ns;
        } else if (!e->armed && !at && condition_met(r, pons_get(e->value, "when"))) {
            e->armed = true;
            e->due_ns = r->manual.now_ns + (int64_t)(pons_get_num(e->value, "after_s", 0.0) * 1e9);
        }
        if (e->armed && r->manual.now_ns >= e->due_ns) {
            rc = happen(r, e, err);
        }
    }
    return rc;
}

// wanted: "SKILL STATE"
static bool names_effect(const char *wanted, const pons_value *payload)
{
    char word[160];
    snprintf(word, sizeof word, "%s %s", pons_get_str(payload, "skill", ""),
             pons_get_str(payload, "state", ""));
    return strcmp(word, wanted) == 0;
}

// A kill comes at once: the very next commit after the event's own is the one that it means.
void pons__happen_arm(pons__runner *r, const char *type, const pons_value *payload)
{
    for (size_t i = 0; i < r->n_events; i++) {
        pons__happening *e = &r->events[i];
        const pons_value *when = pons_get(e->value, "when");
        const char *event = pons_get_str(when, "event", NULL),
                   *effect = pons_get_str(when, "effect", NULL);
        const bool comes = (event && strcmp(event, type) == 0) ||
                           (effect && strcmp(type, "effect") == 0 && names_effect(effect, payload));
        if (e->armed || !comes) {
            continue;
        }
        const double after_s = pons_get_num(e->value, "after_s", 0.0);
        e->armed = true;
        e->due_ns = r->manual.now_ns + (int64_t)(after_s * 1e9);
        if (after_s <= 0.0 && pons_get(pons_get(e->value, "do"), "kill_brain")) {
            happen(r, e, NULL);
        }
    }
}

bool pons__happen_done(const pons__runner *r)
{
    for (size_t i = 0; i < r->n_events; i++) {
        if (!r->events[i].done) {
            return false;
        }
    }
    return true;
}

// Is there a person in the story who has not spoken yet, or was not heard?
bool pons__happen_answer_to_come(const pons__runner *r)
{
    if (pons_get(r->s->value, "peace_s")) {
        return true;
    }
    for (size_t i = 0; i < r->n_events; i++) {
        const pons_value *what = pons_get(r->events[i].value, "do");
        if (!r->events[i].done && (pons_get(what, "answer") || pons_get(what, "say"))) {
            return true;
        }
    }
    return r->manual.now_ns < r->answered_ns + PONS__ANSWER_HEARD_NS;
}

bool pons__happen_frozen(const pons__runner *r)
{
    return r->manual.now_ns < r->body_frozen_until_ns;
}

bool pons__happen_kills_body(const pons__runner *r)
{
    for (size_t i = 0; i < r->n_events; i++) {
        if (pons_get(pons_get(r->events[i].value, "do"), "kill_body")) {
            return true;
        }
    }
    return false;
}

void pons__happen_fini(pons__runner *r)
{
    for (size_t i = 0; i < PONS__MOVERS_MAX; i++) {
        pons_value_unref(r->movers[i].box);
    }
    free(r->events);
}
