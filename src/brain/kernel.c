// kernel.c - the outer loop: nodes K1 to K6, ten times a second and on every event.
//
// The kernel decides what may be done, never a prompt:
//
//        SAFE      a stop that was said or is latched, collision risk, or a battery at its end
//          >
//        IDLE      a stop was reset, and nobody has said continue yet (stopped.c)
//          >
//        CHARGE    the battery is low (with hysteresis)
//          >
//        EXEC      there is a task
//          >
//        IDLE      there is none, or people said pause
//
// It never waits: a tick runs from K1 to K6 and ends. A tick in which nothing changed writes
// nothing to the store; a change of mode, a new task or a word from a person is committed with the
// very step that made it. The kernel speaks to the inner loop through its inbox only:
//
//     kernel -- activate{activation, mode, task, reason} --> react        start on this task
//     kernel -- preempt{reason, mode, end} ----------------> react        let go of it
//     react  -- task_result{activation, task_id, status, …} > kernel      it is over, or let go
//
//        idle --activate--> active --preempt--> stopping
//         ^                   |                    |
//         +----task_result----+--------------------+
#include "brain/brain_internal.h"

#include <string.h>

#define FINISHED_KEPT 50
#define TRACE_KEPT    20

static int hci_ingress(pons_cx *cx, void *user, pons_error *err);
static int sim_telemetry_sync(pons_cx *cx, void *user, pons_error *err);
static int world_model_update(pons_cx *cx, void *user, pons_error *err);
static int event_detect_and_mode_arbitrate(pons_cx *cx, void *user, pons_error *err);
static int task_queue_update(pons_cx *cx, void *user, pons_error *err);
static int kernel_route(pons_cx *cx, void *user, pons_error *err);

static const char *arbitrate(pons_brain *b, const pons_value *tasks, const char **reason);
static const char *safe_reason(pons_brain *b, const char *mode_now);
static bool charge_wanted(pons_brain *b, const char *mode_now);
static pons_value *handle_message(pons_brain *b, pons_cx *cx, pons_value *tasks,
                                  const pons_value *msg, pons_value **hci);
static pons_value *handle_words(pons_brain *b, pons_cx *cx, pons_value *tasks,
                                const pons_value *said, pons_value **hci);
static pons_value *handle_control(pons_brain *b, pons_cx *cx, pons_value *tasks,
                                  const pons_value *control, pons_value **hci);
static pons_value *cancel_tasks(pons_brain *b, pons_cx *cx, pons_value *tasks, const char *only);
static void word_ignored(pons_brain *b, pons_cx *cx, const char *word, const char *reason);
static pons_value *handle_run(pons_brain *b, pons_cx *cx, pons_value *tasks, const pons_value *run,
                              pons_value **hci);
static pons_value *handle_plan(pons_brain *b, pons_cx *cx, pons_value *tasks,
                               const pons_value *plan);
static pons_value *handle_result(pons_brain *b, pons_cx *cx, pons_value *tasks,
                                 const pons_value *result);
static pons_value *push_task(pons_brain *b, pons_cx *cx, pons_value *tasks, const char *text,
                             const pons_value *goals, const pons_value *plan, const char *source,
                             int priority);
static pons_value *finish_task(pons_brain *b, pons_cx *cx, pons_value *tasks,
                               const pons_value *task, const char *status, const char *reason);
static pons_value *choose_active(pons_brain *b, pons_cx *cx, pons_value *tasks);
static pons_value *end_charging(pons_brain *b, pons_cx *cx, pons_value *tasks);
static const pons_value *tasks_of(pons_cx *cx);

// ---- graph --------------------------------------------------------------------------------------

int pons__kernel_graph(pons_brain *b, pons_graph **ret, pons_error *err)
{
    pons_graph_builder *g = pons_graph_builder_create("kernel");
    pons_autovalue tasks = pons__tasks_initial();
    const pons_channel_options last = PONS_CHANNEL_OPTIONS_INIT;
    const pons_channel_options untracked = {.kind = PONS_CHANNEL_UNTRACKED};
    const pons_channel_options queue = {.kind = PONS_CHANNEL_LAST, .initial = tasks};
    const pons_channel_options trace = {.kind = PONS_CHANNEL_REDUCE, .reduce = pons__trace_reduce};
    pons_graph_channel(g, "hci", &last);
    pons_graph_channel(g, "world", &untracked);
    pons_graph_channel(g, "robot", &untracked);
    pons_graph_channel(g, "tasks", &queue);
    pons_graph_channel(g, "trace", &trace);
    pons_graph_node(g, "hci_ingress", hci_ingress, b);
    pons_graph_node(g, "sim_telemetry_sync", sim_telemetry_sync, b);
    pons_graph_node(g, "world_model_update", world_model_update, b);
    pons_graph_node(g, "event_detect_and_mode_arbitrate", event_detect_and_mode_arbitrate, b);
    pons_graph_node(g, "task_queue_update", task_queue_update, b);
    pons_graph_node(g, "kernel_route", kernel_route, b);
    pons_graph_edge(g, PONS_START, "hci_ingress");
    pons_graph_edge(g, "hci_ingress", "sim_telemetry_sync");
    pons_graph_edge(g, "sim_telemetry_sync", "world_model_update");
    pons_graph_edge(g, "world_model_update", "event_detect_and_mode_arbitrate");
    pons_graph_edge(g, "event_detect_and_mode_arbitrate", "task_queue_update");
    pons_graph_edge(g, "task_queue_update", "kernel_route");
    pons_graph_edge(g, "kernel_route", PONS_END);
    const pons_graph_options opts = {.recursion_limit = 20, .quiet = true};
    const int rc = pons_graph_compile(g, &opts, ret, err);
    pons_graph_builder_destroy(g);
    return rc;
}

static const pons_value *tasks_of(pons_cx *cx)
{
    return pons_cx_get(cx, "tasks");
}

// ---- K1 hci_ingress -----------------------------------------------------------------------------

// Takes what people and the inner loop have sent. Recognises stop, pause and new goals; acts on
// none.
static int hci_ingress(pons_cx *cx, void *user, pons_error *err)
{
    pons_brain *b = user;
    const pons_value *inbox = pons_cx_inbox(cx, err);
    if (json_array_size(inbox) == 0) {
        return PONS_OK;
    }
    const char *said = NULL, *interrupt = "NONE";
    size_t i;
    json_t *msg;
    json_array_foreach(inbox, i, msg)
    {
        const char *kind = pons_get_str(msg, "kind", "");
        if (strcmp(kind, "say") != 0 && strcmp(kind, "goal") != 0) {
            continue;
        }
        said = pons_get_str(pons_get(msg, "value"), "text", "");
        pons_autovalue parsed = NULL;
        pons_error ignored = PONS_ERROR_INIT;
        const pons_value *world = pons_get(b->port.hello, "world");
        interrupt = "NEW_GOAL";
        if (b->opts.policy.ops->parse(b->opts.policy.self, said, world, &parsed, &ignored) >= 0) {
            const char *word = pons_get_str(parsed, "control", "");
            interrupt = strcmp(word, "stop") == 0    ? "STOP"
                        : strcmp(word, "pause") == 0 ? "PAUSE"
                        : *word                      ? "NONE"
                                                     : "NEW_GOAL";
        }
    }
    const pons_value *old = pons_cx_get(cx, "hci");
    const pons_value *response = pons_get(old, "approval_response");
    const pons_value *answers = pons_get(old, "answers"), *heard = pons_get(old, "heard");
    return pons_cx_put(
        cx, "hci",
        pons_object("user_utterance",
                    said ? json_string(said) : json_string(pons_get_str(old, "user_utterance", "")),
                    "user_interrupt",
                    pons_object("type", json_string(interrupt), "payload",
                                said ? json_string(said) : json_null(), NULL),
                    "approval_response", response ? pons_value_ref(response) : json_null(),
                    "answers", answers ? pons_value_ref(answers) : json_array(), "heard",
                    heard ? pons_value_ref(heard) : json_array(), "pending", pons_value_ref(inbox),
                    NULL));
}

// ---- K2 sim_telemetry_sync ----------------------------------------------------------------------

static int sim_telemetry_sync(pons_cx *cx, void *user, pons_error *err)
{
    (void)err;
    pons_brain *b = user;
    const pons_value *t = b->port.telemetry;
    if (!t) {
        return PONS_OK;
    }
    static const char *const keys[] = {
        "pose", "twist", "battery_pct",    "battery_state", "docked",    "resources",
        "stop", "held",  "collision_risk", "odometer_m",    "nearest_m", "scan_age_ms"};
    pons_value *robot = json_object();
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        const pons_value *v = pons_get(t, keys[i]);
        if (v) {
            json_object_set(robot, keys[i], (json_t *)v);
        }
    }
    const pons_value *pose = pons_get(t, "pose");
    const char *zone = pons__zone_at(pons_get(b->port.hello, "world"), pons_get_num(pose, "x", 0.0),
                                     pons_get_num(pose, "y", 0.0));
    json_object_set_new(robot, "zone", zone ? json_string(zone) : json_null());
    const pons_value *distance = pons_get(t, "distance_remaining_m");
    json_object_set_new(robot, "distance_to_target",
                        distance ? pons_value_ref(distance) : json_null());
    pons_value_unref(b->robot);
    b->robot = pons_value_ref(robot);
    return pons_cx_put(cx, "robot", robot);
}

// ---- K3 world_model_update ----------------------------------------------------------------------

static int world_model_update(pons_cx *cx, void *user, pons_error *err)
{
    (void)err;
    pons_brain *b = user;
    const pons_value *map = pons_get(b->port.hello, "world");
    if (!map || !b->robot) {
        return PONS_OK;
    }
    const pons_value *obstacles = pons_get(b->port.telemetry, "obstacles");
    char summary[256];
    const char *zone = pons_get_str(b->robot, "zone", NULL);
    snprintf(summary, sizeof summary, "robot in %s; %zu unmapped obstacles; %s",
             zone ? zone : "no zone", json_array_size(obstacles),
             pons_get_bool(b->robot, "docked", false) ? "on the charger" : "off the charger");
    const pons_value *zones = pons_get(map, "zones"), *objects = pons_get(map, "objects");
    pons_value *world = pons_object("summary", json_string(summary), "zones",
                                    zones ? pons_value_ref(zones) : json_array(), "objects",
                                    objects ? pons_value_ref(objects) : json_array(), "obstacles",
                                    obstacles ? pons_value_ref(obstacles) : json_array(), NULL);
    pons_value_unref(b->world);
    b->world = pons_value_ref(world);
    return pons_cx_put(cx, "world", world);
}

// ---- K4 -----------------------------------------------------------------------------------------
// event_detect_and_mode_arbitrate

static int event_detect_and_mode_arbitrate(pons_cx *cx, void *user, pons_error *err)
{
    (void)err;
    pons_brain *b = user;
    const pons_value *tasks = tasks_of(cx);
    const char *reason = "";
    const char *mode = arbitrate(b, tasks, &reason);
    const char *before = pons_get_str(tasks, "mode", "IDLE");
    const bool same_reason = strcmp(reason, pons_get_str(tasks, "mode_reason", "")) == 0;
    if (strcmp(mode, before) == 0 && same_reason) {
        return PONS_OK;
    }
    pons_value *next = pons__with(tasks, "mode_reason", json_string(reason));
    if (strcmp(mode, before) == 0) { // the same for another reason: what a person reads stays true
        return pons_cx_put(cx, "tasks", next);
    }
    json_object_set_new(next, "mode", json_string(mode));
    json_object_set_new(next, "safe_handled", json_false());
    const char *flag = strcmp(mode, "SAFE") == 0     ? "SAFETY"
                       : strcmp(mode, "CHARGE") == 0 ? "BATTERY"
                                                     : NULL;
    json_object_set_new(next, "preempt_flag", flag ? json_string(flag) : json_null());
    pons_cx_emit(
        cx, "mode",
        pons__event(b, pons_object("mode", json_string(mode), "reason", json_string(reason), "from",
                                   json_string(before), NULL)));
    pons_cx_put(cx, "trace",
                pons_object("ts_ms", json_integer(pons_cx_wall_ms(cx)), "arbitration",
                            json_sprintf("%s → %s: %s", before, mode, reason), NULL));
    return pons_cx_put(cx, "tasks", next);
}

static const char *arbitrate(pons_brain *b, const pons_value *tasks, const char **reason)
{
    const char *now = pons_get_str(tasks, "mode", "IDLE");
    const pons_value *stopped = pons_get(tasks, "stopped");
    *reason = pons_get_bool(stopped, "wanted", false) ? "a person said stop" : safe_reason(b, now);
    if (*reason) {
        return "SAFE";
    }
    if (json_is_object(stopped)) {
        *reason = "stopped: waits for continue";
        return "IDLE";
    }
    if (charge_wanted(b, now)) {
        *reason = "battery low";
        return "CHARGE";
    }
    if (pons_get_bool(tasks, "paused", false)) {
        *reason = "paused";
        return "IDLE";
    }
    if (json_array_size(pons_get(tasks, "queue")) > 0) {
        *reason = "a task is waiting";
        return "EXEC";
    }
    *reason = "no task";
    return "IDLE";
}

// Why SAFE, or NULL. Static text.
static const char *safe_reason(pons_brain *b, const char *mode_now)
{
    if (!b->robot) {
        return NULL;
    }
    if (pons_get_bool(pons_get(b->robot, "stop"), "latched", false)) {
        return "protective stop is latched";
    }
    const int64_t now = pons_now_ns(&b->opts.clock);
    if (pons_get_bool(b->robot, "collision_risk", false)) {
        b->collision_seen_ns = now;
        return "collision risk";
    }
    if (strcmp(mode_now, "SAFE") == 0 && b->collision_seen_ns &&
        (double)(now - b->collision_seen_ns) < b->rules.collision_clear_s * 1e9) {
        return "collision risk";
    }
    // By the last look: a loop that was away itself says nothing of the body.
    if ((double)(b->port.looked_ns - b->port.telemetry_ns) > b->rules.telemetry_age_max_ms * 1e6) {
        return "the body is silent";
    }
    const char *state = pons_get_str(b->robot, "battery_state", "");
    const bool charging = strcmp(state, "charging") == 0 || strcmp(state, "full") == 0;
    if (!charging && pons_get_num(b->robot, "battery_pct", 100.0) <= b->rules.battery_safe_pct) {
        return "battery at its end";
    }
    return NULL;
}

static bool charge_wanted(pons_brain *b, const char *mode_now)
{
    const double pct = b->robot ? pons_get_num(b->robot, "battery_pct", 100.0) : 100.0;
    const double limit = strcmp(mode_now, "CHARGE") == 0 ? b->rules.battery_charged_pct
                                                         : b->rules.battery_charge_pct;
    return strcmp(mode_now, "CHARGE") == 0 ? pct < limit : pct <= limit;
}

// ---- K5 task_queue_update -----------------------------------------------------------------------

static int task_queue_update(pons_cx *cx, void *user, pons_error *err)
{
    (void)err;
    pons_brain *b = user;
    const pons_value *hci = pons_cx_get(cx, "hci"), *pending = pons_get(hci, "pending");
    pons_value *tasks = pons_value_ref(tasks_of(cx));
    pons_value *hci_next = NULL;
    if (json_array_size(pending) > 0) {
        hci_next = pons__with(hci, "pending", json_array());
        size_t i;
        json_t *msg;
        json_array_foreach(pending, i, msg)
        {
            tasks = handle_message(b, cx, tasks, msg, &hci_next);
        }
    }
    tasks = pons__stopped_look(b, cx, tasks, charge_wanted(b, pons_get_str(tasks, "mode", "IDLE")));
    tasks = choose_active(b, cx, tasks);
    if (hci_next) {
        pons_cx_put(cx, "hci", hci_next);
    }
    if (tasks == tasks_of(cx)) {
        pons_value_unref(tasks);
        return PONS_OK;
    }
    return pons_cx_put(cx, "tasks", tasks);
}

// Each handler takes `tasks` and returns the next one, perhaps the same.
static pons_value *handle_message(pons_brain *b, pons_cx *cx, pons_value *tasks,
                                  const pons_value *msg, pons_value **hci)
{
    const char *kind = pons_get_str(msg, "kind", "");
    const pons_value *value = pons_get(msg, "value");
    if (strcmp(kind, "say") == 0 || strcmp(kind, "goal") == 0) {
        return handle_words(b, cx, tasks, value, hci);
    }
    if (strcmp(kind, "control") == 0) {
        return handle_control(b, cx, tasks, value, hci);
    }
    if (strcmp(kind, "stopped") == 0) {
        return pons__stopped_hear(tasks, value);
    }
    if (strcmp(kind, "run") == 0) {
        return handle_run(b, cx, tasks, value, hci);
    }
    if (strcmp(kind, "answer") == 0) {
        pons__answer_hear(b, cx, *hci, value);
        return tasks;
    }
    if (strcmp(kind, "task_result") == 0) {
        return handle_result(b, cx, tasks, value);
    }
    return tasks;
}

// A wish may hold both, "cancel, go to the bedroom": the control word first, then its goals.
static pons_value *handle_words(pons_brain *b, pons_cx *cx, pons_value *tasks,
                                const pons_value *said, pons_value **hci)
{
    pons_autovalue parsed = NULL;
    pons_error why = PONS_ERROR_INIT;
    const char *text = pons_get_str(said, "text", "");
    const pons_value *world = pons_get(b->port.hello, "world");
    const int rc = b->opts.policy.ops->parse(b->opts.policy.self, text, world, &parsed, &why);
    const char *word = pons_get_str(parsed, "control", "");
    if (*word) {
        pons_autovalue control = pons__with(said, "word", json_string(word));
        tasks = handle_control(b, cx, tasks, control, hci);
        if (json_array_size(pons_get(parsed, "goals")) == 0) {
            return tasks;
        }
    }
    if (rc < 0 && !b->opts.llm) {
        // Nobody here understands it: the task is queued and ended at once, so that it is never
        // lost.
        tasks = push_task(b, cx, tasks, text, NULL, NULL, "user", b->rules.priority_user);
        const json_t *queue = pons_get(tasks, "queue");
        const pons_value *task = json_array_get(queue, json_array_size(queue) - 1);
        return finish_task(b, cx, tasks, task, "failed", why.message);
    }
    const bool urgent = pons_get_bool(parsed, "urgent", false);
    return push_task(b, cx, tasks, text, pons_get(parsed, "goals"), NULL, "user",
                     urgent ? b->rules.priority_urgent : b->rules.priority_user);
}

// control: {word, task? (cancel), seen_free? (continue: the body was not latched when it was said)}
static pons_value *handle_control(pons_brain *b, pons_cx *cx, pons_value *tasks,
                                  const pons_value *control, pons_value **hci)
{
    pons_value *next = tasks;
    const char *word = pons_get_str(control, "word", "");
    if (strcmp(word, "pause") == 0 || strcmp(word, "continue") == 0) {
        next = pons__with(tasks, "paused", json_boolean(strcmp(word, "pause") == 0));
        pons_value_unref(tasks);
    }
    if (strcmp(word, "continue") == 0 || strcmp(word, "resume") == 0) {
        const char *ignored = NULL;
        next = pons__stopped_release(b, cx, next, pons_get_bool(control, "seen_free", false),
                                     &ignored);
        if (ignored) {
            word_ignored(b, cx, word, ignored);
        }
    } else if (strcmp(word, "stop") == 0) {
        next = pons__stopped_say(b, next, "a person said stop");
    } else if (strcmp(word, "cancel") == 0) {
        next = cancel_tasks(b, cx, next, pons_get_str(control, "task", NULL));
    } else if (strcmp(word, "reset") == 0) {
        next = pons__stopped_reset(b, next);
    } else if (strcmp(word, "yes") == 0 || strcmp(word, "no") == 0) {
        const bool yes = strcmp(word, "yes") == 0;
        pons_autovalue said = pons_object(
            "action", json_string(yes ? "approve" : "reject"), "reason", json_string(word), "by",
            json_string(pons_get_str(control, "by", "a person")), NULL);
        pons__answer_hear(b, cx, *hci, said);
    }
    return next;
}

// Ends the task of this id, or (NULL) all that people have asked for so far; what is still moving is
// let go of by K6's preempt. Charging is the kernel's own and goes on.
static pons_value *cancel_tasks(pons_brain *b, pons_cx *cx, pons_value *tasks, const char *only)
{
    bool any = false;
    for (;;) {
        const pons_value *queue = pons_get(tasks, "queue");
        const pons_value *task =
            only ? pons__find(queue, "id", only) : pons__find(queue, "source", "user");
        if (!task || strcmp(pons_get_str(task, "source", ""), "user") != 0) {
            break;
        }
        pons_autovalue keep = pons_value_ref(task);
        tasks = finish_task(b, cx, tasks, keep, "cancelled", "the user said cancel");
        any = true;
    }
    if (!any) {
        word_ignored(b, cx, "cancel", only ? "there is no such task" : "there is no task");
    }
    return tasks;
}

static void word_ignored(pons_brain *b, pons_cx *cx, const char *word, const char *reason)
{
    pons_cx_emit(cx, "control",
                 pons__event(b, pons_object("word", json_string(word), "ignored",
                                            json_string(reason), NULL)));
}

// A run begins: what it will be judged by starts here.
static pons_value *handle_run(pons_brain *b, pons_cx *cx, pons_value *tasks, const pons_value *run,
                              pons_value **hci)
{
    pons_autovalue fresh = pons__tasks_initial();
    pons_value *next = pons__with(tasks, "run_first", json_integer(pons_get_int(tasks, "next", 1)));
    json_object_set(next, "totals", (json_t *)pons_get(fresh, "totals"));
    pons_value_unref(tasks);
    size_t i;
    json_t *goal;
    json_array_foreach(pons_get(run, "goals"), i, goal)
    {
        pons_autovalue said = pons_object("text", pons_value_ref(goal), NULL);
        next = handle_words(b, cx, next, said, hci);
    }
    const pons_value *plan = pons_get(run, "plan");
    return plan ? handle_plan(b, cx, next, plan) : next;
}

// A plan is a task of its own: its goal is what the task says.
static pons_value *handle_plan(pons_brain *b, pons_cx *cx, pons_value *tasks,
                               const pons_value *plan)
{
    pons_value *next = push_task(b, cx, tasks, pons_get_str(plan, "goal", ""), NULL, plan, "user",
                                 b->rules.priority_user);
    pons_autovalue state = pons__task_plan_state("given", plan);
    pons__task_plan_created(b, cx, state);
    return next;
}

static pons_value *handle_result(pons_brain *b, pons_cx *cx, pons_value *tasks,
                                 const pons_value *result)
{
    const pons_value *react = pons_get(tasks, "react");
    if (pons_get_int(result, "activation", -1) != pons_get_int(react, "activation", 0)) {
        return tasks; // of an activation that was given up
    }
    const char *id = pons_get_str(result, "task_id", ""),
               *status = pons_get_str(result, "status", "");
    const char *reason = pons_get_str(result, "reason", "");
    pons_value *next = json_copy(tasks);
    json_object_set_new(next, "react", pons__with(react, "state", json_string("idle")));
    if (strcmp(pons_get_str(react, "mode", ""), "SAFE") == 0 ||
        strcmp(pons_get_str(result, "mode", ""), "SAFE") == 0) {
        json_object_set_new(next, "safe_handled", json_true());
    }
    const pons_value *totals = pons_get(tasks, "totals");
    json_object_set_new(next, "totals",
                        pons_object("iterations",
                                    json_integer(pons_get_int(totals, "iterations", 0) +
                                                 pons_get_int(result, "iterations", 0)),
                                    "replans",
                                    json_integer(pons_get_int(totals, "replans", 0) +
                                                 pons_get_int(result, "replans", 0)),
                                    "distance_m",
                                    json_real(pons_get_num(totals, "distance_m", 0.0) +
                                              pons_get_num(result, "distance_m", 0.0)),
                                    NULL));
    pons_value_unref(tasks);

    const pons_value *task = pons__find(pons_get(next, "queue"), "id", id);
    if (!task) {
        return next;
    }
    if (strcmp(status, "preempted") == 0) {
        // It keeps its place and what it has reached.
        const pons_value *goals = pons_get(result, "goals");
        if (json_is_array(goals)) {
            pons_autovalue reached = pons__with(task, "goals", pons_value_ref(goals));
            const pons_value *plan = pons_get(result, "plan");
            pons_autovalue kept =
                pons__with(reached, "plan", plan ? pons_value_ref(plan) : json_null());
            const pons_value *ladder = pons_get(result, "ladder"); // and how often it got nowhere
            json_object_set_new(kept, "ladder", ladder ? pons_value_ref(ladder) : json_null());
            pons_value *replaced = pons__tasks_replace(next, kept);
            pons_value_unref(next);
            next = replaced;
        }
        return next;
    }
    pons_autovalue keep = pons_value_ref(task);
    return finish_task(b, cx, next, keep, status, reason);
}

static pons_value *push_task(pons_brain *b, pons_cx *cx, pons_value *tasks, const char *text,
                             const pons_value *goals, const pons_value *plan, const char *source,
                             int priority)
{
    const int64_t n = pons_get_int(tasks, "next", 1);
    pons_autovalue task = pons_object(
        "id", json_sprintf("task-%lld", (long long)n), "text", json_string(text), "goals",
        goals ? pons_value_ref(goals) : json_array(), "priority", json_integer(priority),
        "deadline_ms", json_null(), "resources", json_pack("[s]", "base"), "preemptible",
        json_true(), "status", json_string("queued"), "created_ms",
        json_integer(pons_cx_wall_ms(cx)), "source", json_string(source), "attempt",
        json_integer(1), "plan", plan ? pons__task_plan_state("given", plan) : NULL, NULL);
    pons_value *next = pons__tasks_replace(tasks, task);
    json_object_set_new(next, "next", json_integer(n + 1));
    pons_value_unref(tasks);
    pons_cx_emit(cx, "task.queued",
                 pons__event(b, pons_object("task", pons_value_ref(task), NULL)));
    // What a person said may be more than a task can be: it is never lost, and ends at once.
    pons_error why = PONS_ERROR_INIT;
    return pons__door_check(b, PONS_DOOR_TASK, task, &why) >= 0
               ? next
               : finish_task(b, cx, next, task, "failed", why.message);
}

static pons_value *finish_task(pons_brain *b, pons_cx *cx, pons_value *tasks,
                               const pons_value *task, const char *status, const char *reason)
{
    const char *id = pons_get_str(task, "id", "");
    pons_value *next = pons__tasks_remove(tasks, id);
    pons_value *finished = json_array();
    const pons_value *old = pons_get(tasks, "finished");
    const size_t n = json_array_size(old);
    for (size_t i = n >= FINISHED_KEPT ? n - FINISHED_KEPT + 1 : 0; i < n; i++) {
        json_array_append(finished, json_array_get(old, i));
    }
    json_array_append_new(finished,
                          pons_object("id", json_string(id), "text",
                                      json_string(pons_get_str(task, "text", "")), "status",
                                      json_string(status), "reason", json_string(reason), "source",
                                      json_string(pons_get_str(task, "source", "user")), NULL));
    json_object_set_new(next, "finished", finished);
    if (strcmp(pons_get_str(next, "active_task_id", ""), id) == 0) {
        json_object_set_new(next, "active_task_id", json_null());
    }
    pons_cx_emit(
        cx, "task.done",
        pons__event(b, pons_object("task_id", json_string(id), "status", json_string(status),
                                   "reason", json_string(reason), "text",
                                   json_string(pons_get_str(task, "text", "")), NULL)));
    pons_value_unref(tasks);
    return next;
}

// The kernel made the charge task, and the kernel ends it when the battery is charged.
static pons_value *end_charging(pons_brain *b, pons_cx *cx, pons_value *tasks)
{
    const pons_value *charge = pons__find(pons_get(tasks, "queue"), "source", "battery");
    if (!charge) {
        return tasks;
    }
    char reason[64];
    snprintf(reason, sizeof reason, "charged to %.0f %%",
             pons_get_num(b->robot, "battery_pct", 0.0));
    pons_autovalue keep = pons_value_ref(charge);
    return finish_task(b, cx, tasks, keep, "succeeded", reason);
}

// Who is active follows from the mode, the queue and the priorities alone.
static pons_value *choose_active(pons_brain *b, pons_cx *cx, pons_value *tasks)
{
    const char *mode = pons_get_str(tasks, "mode", "IDLE");
    const char *battery = pons_get_str(b->robot, "battery_state", "");
    const bool charging = strcmp(battery, "charging") == 0 || strcmp(battery, "full") == 0;
    if (strcmp(mode, "CHARGE") == 0 && !charging && !pons__tasks_pick(tasks, mode)) {
        pons_autovalue goals = json_pack("[{s:s, s:s, s:b}]", "intent", "charge", "text",
                                         "battery low: charge", "done", 0);
        tasks = push_task(b, cx, tasks, "battery low: charge", goals, NULL, "battery",
                          b->rules.priority_charge);
    }
    if (strcmp(mode, "EXEC") == 0 || strcmp(mode, "IDLE") == 0) {
        tasks = end_charging(b, cx, tasks);
    }
    const pons_value *pick = pons__tasks_pick(tasks, mode);
    const char *active = pons_get_str(tasks, "active_task_id", "");
    const char *wanted =
        pons_get_str(pick, "id", active); // outside EXEC and CHARGE it keeps its place
    if (!pick || strcmp(wanted, active) == 0) {
        return tasks;
    }
    pons_autovalue chosen = pons__with(pick, "status", json_string("active"));
    pons_autovalue queued = pons__tasks_replace(tasks, chosen);
    pons_value *next =
        pons__with(queued, "active_task_id", json_string(pons_get_str(chosen, "id", "")));
    pons_cx_emit(cx, "task.active",
                 pons__event(b, pons_object("task", pons_value_ref(chosen), NULL)));
    pons_value_unref(tasks);
    return next;
}

// ---- K6 kernel_route ----------------------------------------------------------------------------

// Compares what the inner loop should be doing with what it was told last, and tells it.
static int kernel_route(pons_cx *cx, void *user, pons_error *err)
{
    (void)user;
    (void)err;
    const pons_value *tasks = tasks_of(cx), *react = pons_get(tasks, "react");
    const char *mode = pons_get_str(tasks, "mode", "IDLE");
    const char *reason = pons_get_str(tasks, "mode_reason", "");
    const char *state = pons_get_str(react, "state", "idle");
    const char *told = pons_get_str(react, "task_id", "");
    const bool safe = strcmp(mode, "SAFE") == 0;
    const bool works = strcmp(mode, "EXEC") == 0 || strcmp(mode, "CHARGE") == 0;
    const pons_value *active = works ? pons__tasks_active(tasks) : NULL;
    const char *wanted = pons_get_str(active, "id", "");

    if (strcmp(state, "active") == 0) {
        const bool same_mode = strcmp(pons_get_str(react, "mode", ""), "SAFE") == 0 ? safe : !safe;
        if (same_mode && (safe || strcmp(wanted, told) == 0)) {
            return PONS_OK;
        }
        const bool ended = *told && !pons__find(pons_get(tasks, "queue"), "id", told);
        pons_cx_post(cx, PONS_NS_REACT, "preempt",
                     pons_object("mode", json_string(mode), "reason",
                                 json_string(ended ? "the task was ended" : reason), "activation",
                                 json_integer(pons_get_int(react, "activation", 0)), "stop_base",
                                 json_boolean(safe || ended), NULL));
        pons_value *told_now = pons__with(react, "state", json_string("stopping"));
        pons_value *next = pons__with(tasks, "react", told_now);
        json_object_set_new(next, "preempt_flag",
                            json_string(safe                          ? "SAFETY"
                                        : strcmp(mode, "CHARGE") == 0 ? "BATTERY"
                                                                      : "USER"));
        return pons_cx_put(cx, "tasks", next);
    }
    if (strcmp(state, "idle") != 0) {
        return PONS_OK;
    }
    const bool stop_now = safe && !pons_get_bool(tasks, "safe_handled", false);
    if (!stop_now && !active) {
        return PONS_OK;
    }
    const int64_t activation = pons_get_int(react, "activation", 0) + 1;
    pons_cx_post(cx, PONS_NS_REACT, "activate",
                 pons_object("activation", json_integer(activation), "mode", json_string(mode),
                             "reason", json_string(reason), "task",
                             active ? pons_value_ref(active) : json_null(), NULL));
    pons_value *next = pons__with(tasks, "react",
                                  pons_object("state", json_string("active"), "activation",
                                              json_integer(activation), "task_id",
                                              active ? json_string(wanted) : json_null(), "mode",
                                              json_string(mode), NULL));
    json_object_set_new(next, "preempt_flag", json_null());
    return pons_cx_put(cx, "tasks", next);
}
