// stopped.c - what a protective stop leaves behind in the kernel: a reset permits motion, and starts
// none.
//
// The body latches; the brain remembers. From the moment at which somebody said stop, or a latch was
// seen, `tasks.stopped` is an object, stored with the step that made it:
//
//     {reason, wanted, reset, released_ms}
//
//     wanted       said here, not yet seen latched: the loop sends `stop` until the body's telemetry
//                  says so, over reconnects and lives of the brain
//     reset        a person said reset since
//     released_ms  wall: a person let it go on (continue, resume), and the telemetry that shows the
//                  latch lifted is still to come; 0: not yet
//
//                  stop, a latch                reset               continue, resume
//        nothing ---------------> SAFE, latched -----> IDLE, waits ----------------> nothing
//                                       ^  a stop             |
//                                       +---------------------+
//
// While it is an object no goal but stop_base leaves the brain: not of a task, not for the battery.
// A `continue` that was said before the reset is none. The latch of an unclean boot that lifts itself
// (auto_reset: sim) is nobody's stop, and leaves nothing.
#include "brain/brain_internal.h"

#include <string.h>

#define STOP_AGAIN_MS 200 // host time between two stops that are sent for one word
#define STALE_MS      500 // telemetry that is this much younger than a release is not stale

static pons_value *with_stopped(pons_value *tasks, pons_value *stopped);
static pons_value *let_go(pons_value *tasks);
static pons_value *fresh(const char *reason, bool wanted);
static pons_value *seen(pons_brain *b, pons_cx *cx, const pons_value *stopped);
static bool latched_now(const pons_brain *b);

// Takes tasks and returns the next one, as everything here.
pons_value *pons__stopped_say(pons_brain *b, pons_value *tasks, const char *reason)
{
    b->stop_sent_ms = 0;
    return with_stopped(tasks, fresh(reason, !latched_now(b)));
}

// A goal ended by a stop that may have been lifted again before any telemetry showed it.
pons_value *pons__stopped_hear(pons_value *tasks, const pons_value *message)
{
    if (json_is_object(pons_get(tasks, "stopped")) ||
        pons_get_int(message, "activation", 0) <= pons_get_int(tasks, "let_go", 0)) {
        return tasks;
    }
    return with_stopped(tasks, fresh(pons_get_str(message, "reason", "stop"), false));
}

// K5, each tick: what the newest telemetry makes of it.
pons_value *pons__stopped_look(pons_brain *b, pons_cx *cx, pons_value *tasks, bool battery_low)
{
    const pons_value *stopped = pons_get(tasks, "stopped");
    const bool held = json_is_object(stopped), wanted = pons_get_bool(stopped, "wanted", false);
    const int64_t released_ms = pons_get_int(stopped, "released_ms", 0);
    if (!b->robot) {
        return tasks;
    }
    if (latched_now(b)) {
        const bool stale = released_ms && pons_cx_wall_ms(cx) - released_ms < STALE_MS;
        if (pons__latch_lifts_itself(b) || (held && !wanted && (!released_ms || stale))) {
            return tasks;
        }
        const char *reason = pons_get_str(pons_get(b->robot, "stop"), "reason", "stop");
        return with_stopped(tasks, wanted ? seen(b, cx, stopped) : fresh(reason, false));
    }
    if (!held || wanted) {
        return tasks;
    }
    const bool idle = json_array_size(pons_get(tasks, "queue")) == 0 && !battery_low;
    return released_ms || idle || b->rules.after_reset_continue ? let_go(tasks) : tasks;
}

// A person says that it may go on. seen_free: whoever posted it looked at the body, which was not
// latched. A word that comes before the reset is not kept for after it.
pons_value *pons__stopped_release(pons_brain *b, pons_cx *cx, pons_value *tasks, bool seen_free,
                                  const char **ret_ignored)
{
    const pons_value *stopped = pons_get(tasks, "stopped");
    const bool wanted = pons_get_bool(stopped, "wanted", false);
    *ret_ignored = NULL;
    if (!json_is_object(stopped)) {
        return tasks;
    }
    if (!latched_now(b) && !wanted) {
        return let_go(tasks);
    }
    if (!pons_get_bool(stopped, "reset", false) && (wanted || !seen_free)) {
        *ret_ignored = "a stop is in force: reset comes first";
        return tasks;
    }
    return with_stopped(tasks,
                        pons__with(stopped, "released_ms", json_integer(pons_cx_wall_ms(cx))));
}

// A person says reset: the loop sends it, and not before the stop that was said first is seen.
pons_value *pons__stopped_reset(pons_brain *b, pons_value *tasks)
{
    const pons_value *stopped = pons_get(tasks, "stopped");
    b->reset_wanted = !pons_get_bool(stopped, "wanted", false); // nodes of the kernel touch nothing
    return json_is_object(stopped) ? with_stopped(tasks, pons__with(stopped, "reset", json_true()))
                                   : tasks;
}

// The loop: a stop that was said is sent until it is seen.
void pons__stopped_send(pons_brain *b)
{
    const pons_value *stopped = pons_get(b->tasks, "stopped");
    const int64_t now = pons_now_ms(&b->opts.clock);
    if (!pons_get_bool(stopped, "wanted", false) || !b->port.ready ||
        (b->stop_sent_ms && now - b->stop_sent_ms < STOP_AGAIN_MS)) {
        return;
    }
    b->stop_sent_ms = now;
    pons__port_send(&b->port,
                    &(pons_message){.type = PONS_MESSAGE_STOP,
                                    .as.stop = {.reason = pons_get_str(stopped, "reason", NULL)}});
}

static bool latched_now(const pons_brain *b)
{
    return pons_get_bool(pons_get(b->robot, "stop"), "latched", false);
}

static pons_value *fresh(const char *reason, bool wanted)
{
    return pons_object("reason", json_string(reason), "wanted", json_boolean(wanted), "reset",
                       json_false(), "released_ms", json_integer(0), NULL);
}

// What was said is latched now; what was said after it comes next.
static pons_value *seen(pons_brain *b, pons_cx *cx, const pons_value *stopped)
{
    pons_value *next = pons__with(stopped, "wanted", json_false());
    b->reset_wanted = b->reset_wanted || pons_get_bool(stopped, "reset", false);
    if (pons_get_int(stopped, "released_ms", 0) > 0) {
        json_object_set_new(next, "released_ms", json_integer(pons_cx_wall_ms(cx)));
    }
    return next;
}

// Results of this activation that are still to come are of the stop that is over.
static pons_value *let_go(pons_value *tasks)
{
    const int64_t activation = pons_get_int(pons_get(tasks, "react"), "activation", 0);
    pons_value *next = pons__with(tasks, "let_go", json_integer(activation));
    pons_value_unref(tasks);
    return with_stopped(next, json_null());
}

static pons_value *with_stopped(pons_value *tasks, pons_value *stopped)
{
    pons_value *next = pons__with(tasks, "stopped", stopped);
    pons_value_unref(tasks);
    return next;
}
