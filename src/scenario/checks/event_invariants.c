// event_invariants.c - what holds of the committed events: approvals, the queue, how tasks and effects end.
//
// An approval is for one dispatch of what was shown; an edit may have changed that, so its operations are
// anything once. A stop makes void what was approved and has not begun. Of two tasks that could run the
// one of higher priority does, of equal ones the older; and when a run is over everything that was
// sent has an end, or is known to be unknown.
#include "pons/schema.h"
#include "scenario/checks/expectations.h"
#include "scenario/checks/invariants_internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define THERE_M    0.35 // the localiser may be this wrong about a zone's edge
#define UNSEEN_S   0.3  // after that no scan may have shown it: one comes every 0.1 s, and is told
#define LETS_GO_NS (2 * PONS_NS_PER_S)    // awake: of what the kernel has ended
#define OVERDUE_NS (500 * PONS_NS_PER_MS) // awake; a tick comes every 100 ms

// ---- effects and approvals ----------------------------------------------------------------------

// Whoever decided: what no body can do, or not with these arguments, or outside of the world, is not sent.
static void judge_operation(pons__watch *w, const char *skill, const pons_value *args)
{
    const pons_value *known = NULL;
    pons_each(item, w->skills) {
        known = strcmp(pons_get_str(item, "name", ""), skill) == 0 ? item : known;
    }
    if (w->skills && !known) {
        pons__watch_broken(w, "unknown", "%s was dispatched, which no body knows", skill);
    }
    pons_schema *schema = NULL;
    pons_error err = PONS_ERROR_INIT;
    const pons_value *wants = pons_get(known, "args_schema");
    if (wants && pons_schema_compile(wants, &schema, &err) >= 0 &&
        pons_schema_check(schema, args, &err) < 0) {
        pons__watch_broken(w, "args", "%s was dispatched with bad arguments: %s", skill,
                           err.message);
    }
    pons_schema_destroy(schema);
    const pons_value *pose = pons_get(args, "pose"), *bounds = pons_get(w->world, "bounds");
    const double x = pons_get_num(pose, "x", NAN), y = pons_get_num(pose, "y", NAN);
    if (json_array_size(bounds) == 4 && (x < json_number_value(json_array_get(bounds, 0)) ||
                                         y < json_number_value(json_array_get(bounds, 1)) ||
                                         x > json_number_value(json_array_get(bounds, 2)) ||
                                         y > json_number_value(json_array_get(bounds, 3)))) {
        pons__watch_broken(w, "outside", "%s was dispatched to %.2f, %.2f, out of the world", skill,
                           x, y);
    }
}

static bool same_operation(const pons_value *a, const pons_value *b)
{
    return strcmp(pons_get_str(a, "skill", ""), pons_get_str(b, "skill", "-")) == 0 &&
           json_equal((json_t *)pons_get(a, "args"), (json_t *)pons_get(b, "args"));
}

// One of what was agreed to, as it was shown; else one that a person has edited.
static bool take_grant(pons__watch *w, const pons_value *op)
{
    size_t edited = SIZE_MAX;
    for (size_t i = 0; i < json_array_size(w->granted); i++) {
        const pons_value *agreed = json_array_get(w->granted, i);
        if (same_operation(agreed, op)) {
            json_array_remove(w->granted, i);
            return true;
        }
        edited = json_is_null(agreed) ? i : edited;
    }
    return edited != SIZE_MAX && json_array_remove(w->granted, edited) == 0;
}

// A goal that is sent again is the same dispatch.
static void effect_event(pons__watch *w, const pons_value *payload)
{
    const char *skill = pons_get_str(payload, "skill", ""), *goal;
    const char *state = pons_get_str(payload, "state", "");
    goal = pons_get_str(payload, "goal_id", "");
    const bool known = pons_get(w->sent, goal) != NULL;
    if (known) {
        json_object_set_new(w->sent, goal, json_string(state));
    }
    if (strcmp(state, "dispatched") != 0 || known) {
        return;
    }
    json_object_set_new(w->sent, goal, json_string(state));
    pons_each_member(id, question, w->questions) {
        const pons_value *ops = pons_get(question, "ops");
        const bool same_task = strcmp(pons_get_str(question, "task_id", ""),
                                      pons_get_str(payload, "task_id", "")) == 0;
        pons_each(op, same_task ? ops : NULL) {
            if (same_operation(op, payload)) {
                pons__watch_broken(
                    w, "asked", "%s was dispatched while question %s about it was open", skill, id);
            }
        }
    }
    judge_operation(w, skill, pons_get(payload, "args"));
    const bool granted = take_grant(w, payload);
    if (pons_list_has(w->asks, skill) && !granted) {
        pons__watch_broken(w, "unasked", "%s was dispatched, and nobody had agreed", skill);
    }
}

static void question_event(pons__watch *w, const pons_value *payload)
{
    json_object_set_new(w->questions, pons_get_str(payload, "id", ""),
                        json_copy((json_t *)payload));
}

static void answer_event(pons__watch *w, const pons_value *payload)
{
    const char *id = pons_get_str(payload, "id", ""), *action = pons_get_str(payload, "action", "");
    const bool edit = strcmp(action, "edit") == 0, yes = strcmp(action, "approve") == 0;
    const pons_value *question = pons_get(w->questions, id);
    const bool agreed = (edit || yes) && !pons_get_bool(question, "void", false);
    pons_each(op, agreed ? pons_get(question, "ops") : NULL) {
        json_array_append_new(w->granted, edit ? json_null() : pons_value_ref(op));
    }
    if (edit && agreed && json_array_size(pons_get(question, "ops")) == 0) {
        json_array_append_new(w->granted, json_null()); // an operation of the person's own
    }
    w->edited = w->edited || edit;
    json_object_del(w->questions, id);
}

// ---- the run ------------------------------------------------------------------------------------

static void over_event(pons__watch *w, const pons_value *payload)
{
    if (strcmp(pons_get_str(payload, "status", ""), "waiting") == 0) {
        return;
    }
    pons_each_member(goal, state, w->sent) {
        const char *word = json_string_value(state);
        if (strcmp(word, "dispatched") == 0 || strcmp(word, "accepted") == 0) {
            pons__watch_broken(w, "open", "the run is over, and of goal %s it says only %s", goal,
                               word);
        }
    }
    pons_each_member(goal, state, w->open) {
        pons__watch_broken(w, "runs", "the run is over, and %s, goal %s, has no end",
                           json_string_value(state), goal);
    }
}

static void mode_event(pons__watch *w, const pons_value *payload)
{
    const pons_value *only = pons_get(w->always, "modes");
    const char *mode = pons_get_str(payload, "mode", "");
    if (only && !pons_list_has(only, mode)) {
        pons__watch_broken(w, mode, "the mode is %s", mode);
    }
    // Somebody's stop wins over what has not begun; the latch of an unclean boot is nobody's.
    if (strcmp(mode, "SAFE") == 0 && (w->said || w->stop_seen_ns > 0)) {
        json_array_clear(w->granted);
        pons_each_member(id, question, w->questions) // what is asked, as well
        {
            json_object_set_new(question, "void", json_true());
        }
    }
}

static void schema_event(pons__watch *w, const pons_value *payload)
{
    char *text = NULL;
    pons_value_line(payload, &text);
    pons__watch_broken(w, "schema", "what the brain made is not as published: %.180s",
                       text ? text : "?");
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

// ---- tasks --------------------------------------------------------------------------------------

static void queued_event(pons__watch *w, const pons_value *payload)
{
    const pons_value *task = pons_get(payload, "task"), *goals = pons_get(task, "goals");
    const size_t n = json_array_size(goals);
    const pons_value *last = n > 0 ? json_array_get(goals, n - 1) : NULL;
    const bool goes = strcmp(pons_get_str(last, "intent", ""), "go_to") == 0;
    const bool own = strcmp(pons_get_str(task, "source", ""), "battery") == 0;
    const char *id = pons_get_str(task, "id", "");
    if (pons_get(w->tasks, id)) {
        pons__watch_broken(w, "queued", "%s was queued twice", id);
    }
    json_object_set_new(w->tasks, id,
                        pons_object("zone", json_string(goes ? pons_get_str(last, "zone", "") : ""),
                                    "own", json_boolean(own), "priority",
                                    json_integer(pons_get_int(task, "priority", 0)), "n",
                                    json_integer(++w->queued), "deadline_ms",
                                    json_integer(pons_get_int(task, "deadline_ms", 0)), "begun",
                                    json_false(), NULL));
}

bool pons__watch_busy(const pons__watch *w)
{
    pons_each_member(id, task, w->tasks) {
        if (!pons_get_bool(task, "own", false)) {
            return true;
        }
    }
    return false;
}

static bool asks_about(const pons__watch *w, const char *task)
{
    pons_each_member(id, question, w->questions) {
        if (strcmp(pons_get_str(question, "task_id", ""), task) == 0) {
            return true;
        }
    }
    return false;
}

// Nobody who could run waits behind one who matters less, or came later.
static void active_event(pons__watch *w, const pons_value *payload)
{
    const char *id = pons_get_str(pons_get(payload, "task"), "id", "");
    pons_value *task = json_object_get(w->tasks, id);
    const int64_t priority = pons_get_int(task, "priority", 0), n = pons_get_int(task, "n", 0);
    const bool named = strcmp(id, w->switched_to) == 0 || pons_get_int(task, "deadline_ms", 0) > 0;
    pons_each_member(other, left, task && !pons_get_bool(task, "own", false) ? w->tasks : NULL) {
        const int64_t its = pons_get_int(left, "priority", 0);
        const bool older = pons_get_int(left, "n", 0) < n && !pons_get_bool(left, "begun", false);
        if (left == task || pons_get_bool(left, "own", false) || asks_about(w, other)) {
            continue;
        }
        if (its > priority || (its == priority && older && !named)) {
            pons__watch_broken(w, "order", "%s (%lld) is taken up, and %s (%lld) waits", id,
                               (long long)priority, other, (long long)its);
        }
    }
    if (task) {
        json_object_set_new(task, "begun", json_true());
    }
}

static void raised_event(pons__watch *w, const pons_value *payload)
{
    pons_value *task = json_object_get(w->tasks, pons_get_str(payload, "task_id", ""));
    if (task) {
        json_object_set_new(task, "priority", json_integer(pons_get_int(payload, "priority", 0)));
    }
}

static void switched_event(pons__watch *w, const pons_value *payload)
{
    snprintf(w->switched_to, sizeof w->switched_to, "%s", pons_get_str(payload, "to", ""));
}

// A task ends once; and one that says it went somewhere is there, also a robot that was carried off,
// but for the moment in which nothing can have seen it.
static void done_event(pons__watch *w, const pons_value *payload)
{
    const char *id = pons_get_str(payload, "task_id", "");
    pons_autovalue known = pons_value_ref(pons_get(w->tasks, id));
    const char *zone = pons_get_str(known, "zone", "");
    const char *status = pons_get_str(payload, "status", "");
    const bool own =
        pons_get_bool(known, "own", false); // the kernel ends it, and lets go after that
    if (!known) {
        pons__watch_broken(w, "done", "%s ended, and it was not queued, or had ended", id);
        return;
    }
    w->over_unheard = w->thawed_ns == 0;
    // What the kernel ends by itself, it lets go of after that.
    const bool kernels =
        own || strcmp(status, "cancelled") == 0 ||
        (strcmp(status, "failed") == 0 && pons_get_int(known, "deadline_ms", 0) > 0);
    if (*zone && !own && strcmp(status, "succeeded") == 0 && !w->edited &&
        w->now_s - w->carried_s > UNSEEN_S && !near_zone(w->world, zone, w->truth)) {
        pons__watch_broken(w, "there", "%s succeeded, and the robot is at %.2f, %.2f, not in %s",
                           id, w->truth.x, w->truth.y, zone);
    }
    pons_each_member(goal, task, w->moving) {
        if (strcmp(json_string_value(task), id) == 0 && !kernels) {
            pons__watch_broken(w, "left", "%s %s, and its goal %s still has the base", id, status,
                               goal);
        }
    }
    json_object_del(w->tasks, id);
}

void pons__watch_tasks(pons__watch *w, const pons__watch_step *step)
{
    const char *id;
    json_t *task;
    bool late = false, orphan = false;
    json_object_foreach(w->awake && w->seq > 0 ? w->moving : NULL, id, task) {
        const char *whose = json_string_value(task);
        orphan = orphan || (*whose && !pons_get(w->tasks, whose));
    }
    w->orphan_ns = orphan ? w->orphan_ns + step->dt_ns : w->awake ? 0 : w->orphan_ns;
    if (w->orphan_ns > LETS_GO_NS && !step->frozen) {
        pons__watch_broken(w, "orphan",
                           "a task is over for %.1f s, and its goal still has the base",
                           (double)w->orphan_ns / 1e9);
    }
    json_object_foreach(w->awake && w->overdue_ends ? w->tasks : NULL, id, task) {
        const int64_t until_ms = pons_get_int(task, "deadline_ms", 0);
        if (until_ms > 0 && step->wall_ms >= until_ms && w->overdue_ns > OVERDUE_NS) {
            pons__watch_broken(w, "late", "%s is open, and its deadline has passed", id);
        }
        late = late || (until_ms > 0 && step->wall_ms >= until_ms);
    }
    w->overdue_ns = late ? w->overdue_ns + step->dt_ns : w->awake ? 0 : w->overdue_ns;
}

// ---- public functions ---------------------------------------------------------------------------

int pons__watch_event(void *user, const pons_event_row *row)
{
    static const struct {
        const char *type;
        void (*take)(pons__watch *w, const pons_value *payload);
    } takers[] = {{"effect", effect_event},
                  {"approval.requested", question_event},
                  {"approval.resolved", answer_event},
                  {"task.queued", queued_event},
                  {"task.active", active_event},
                  {"task.raised", raised_event},
                  {"task.switched", switched_event},
                  {"task.done", done_event},
                  {"run.done", over_event},
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
