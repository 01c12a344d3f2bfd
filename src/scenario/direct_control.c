// direct_control.c - a scenario without a brain: the runner itself is the body's controller, and its events
// send goals and cancel them. What a brain would have been told is kept for the judge.
//
// The same link, the same messages: hello, heartbeats every 100 ms of simulated host time, goals
// with ids from the file. A run that has a brain is watched by the same object, as an observer,
// when the file asks for nodes of the navigator's tree.
#include "scenario/direct_control.h"

#include "pons/link_message.h"
#include "pons/link_report.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define HEARTBEAT_NS (100 * PONS_NS_PER_MS)
#define EXPIRES_MS   5000

static void hear_telemetry(pons__control *h, const pons_report_telemetry *t)
{
    h->distance_m = isnan(t->distance_remaining_m) ? -1.0 : t->distance_remaining_m;
    h->reported = true;
    h->latched = t->stop.latched;
    snprintf(h->boot_id, sizeof h->boot_id, "%s", t->boot_id);
    h->stop_number = t->stop.number;
    h->by_stop = strcmp(t->stop.origin, "stop") == 0;
    h->durable = t->latch_durable;
    h->pace_pct = t->pace_percent;
    h->risk = t->collision_risk;
    h->battery_pct = isnan(t->battery_pct) ? 100.0 : t->battery_pct;
    h->charging =
        strcmp(t->battery_state, "charging") == 0 || strcmp(t->battery_state, "full") == 0;
}

static void note_result(pons__control *h, const char *goal_id, const char *status, int64_t code,
                        const char *text)
{
    if (!h->controls) {
        return;
    }
    h->open--;
    json_array_append_new(h->results,
                          pons_object("goal", json_string(goal_id), "status", json_string(status),
                                      "error_code", json_integer(code), "error_msg",
                                      json_string(text), NULL));
}

// What an action is called: the end of "… > Action:Spin". NULL: no action.
static const char *leaf_name(const char *path)
{
    static const char word[] = "Action:";
    const char *last = path;
    for (const char *p = path; (p = strstr(p, " > ")) != NULL; p += 3) {
        last = p + 3;
    }
    return strncmp(last, word, sizeof word - 1) == 0 ? last + sizeof word - 1 : NULL;
}

// A leaf has begun when it leaves IDLE, whatever it answers.
static void hear_tree(pons__control *h, const pons_report_tree *t)
{
    h->trees += t->tree != h->tree;
    h->tree = t->tree;
    for (size_t i = 0; i < json_array_size(t->changes); i++) {
        pons_report_change x;
        pons_report_change_read(json_array_get(t->changes, i), &x);
        const char *name = leaf_name(x.path);
        if (name && strcmp(x.from, "IDLE") == 0) {
            json_array_append_new(h->nodes, json_string(name));
            json_array_append_new(h->now_nodes, json_string(name));
        }
    }
}

static void on_report(pons__control *h, const pons_report *r)
{
    switch (r->type) {
    case PONS_REPORT_HELLO:
        h->epoch = r->as.hello.epoch;
        h->ready = true;
        pons_value_unref(h->skills);
        h->skills = pons_value_ref(r->as.hello.skills);
        snprintf(h->robot_id, sizeof h->robot_id, "%s", r->as.hello.robot_id);
        break;
    case PONS_REPORT_RESULT:
        note_result(h, r->as.result.goal_id, pons_goal_states[r->as.result.status],
                    r->as.result.end.error_code, r->as.result.end.error_msg);
        break;
    case PONS_REPORT_REJECTED:
        note_result(h, r->as.rejected.goal_id, "rejected", r->as.rejected.error_code,
                    r->as.rejected.message);
        break;
    case PONS_REPORT_TREE:
        hear_tree(h, &r->as.tree);
        break;
    case PONS_REPORT_TELEMETRY:
        hear_telemetry(h, &r->as.telemetry);
        break;
    default:
        break;
    }
}

int pons__control_open(pons__control *h, pons_body *body, bool controls, bool watches,
                       pons_error *err)
{
    pons_link *theirs = NULL;
    h->controls = controls;
    h->watches = watches;
    h->ready = false;
    h->results = h->results ? h->results : json_array(); // what an earlier body told stays
    h->nodes = h->nodes ? h->nodes : json_array();
    h->now_nodes = h->now_nodes ? h->now_nodes : json_array();
    int rc = pons_link_pair(&h->link, &theirs, err);
    rc = rc < 0 ? rc : pons_body_attach(body, theirs, err);
    if (rc < 0) {
        return rc;
    }
    const pons_message_hello hello = {.protocol = PONS_LINK_PROTOCOL,
                                      .role = controls ? "controller" : "observer",
                                      .name = "scenario",
                                      .tree = watches,
                                      .view = h->on_report != NULL,
                                      .laser = h->on_report != NULL};
    return pons_message_send(h->link,
                             &(pons_message){.type = PONS_MESSAGE_HELLO, .as.hello = hello}, err);
}

void pons__control_drop(pons__control *h)
{
    pons_link_close(h->link);
    h->link = NULL;
    h->reported = h->ready = false;
    h->open = 0; // they ended with it
    h->boot_id[0] = '\0';
    h->latched = false;
}

void pons__control_close(pons__control *h)
{
    pons_link_close(h->link);
    pons_value_unref(h->results);
    pons_value_unref(h->skills);
    pons_value_unref(h->nodes);
    pons_value_unref(h->now_nodes);
    *h = (pons__control){.link = NULL};
}

static void hear(pons__control *h, const pons_value *json)
{
    pons_report r;
    if (h->on_report) {
        h->on_report(h->user, json);
    }
    if (pons_report_decode(json, &r, NULL) == PONS_OK) {
        on_report(h, &r);
    }
    pons_report_clear(&r);
}

int pons__control_poll(pons__control *h, int64_t host_ns, pons_error *err)
{
    json_array_clear(h->now_nodes);
    h->reported = false;
    for (;;) {
        pons_autovalue msg = NULL;
        const int rc = pons_link_recv(h->link, &msg, err);
        if (rc < 0) {
            return rc;
        }
        if (rc == 0) {
            break;
        }
        hear(h, msg);
    }
    if (h->controls && host_ns >= h->beat_ns) {
        h->beat_ns = host_ns + HEARTBEAT_NS;
        return pons_message_send(h->link, &(pons_message){.type = PONS_MESSAGE_HEARTBEAT}, err);
    }
    return PONS_OK;
}

int pons__control_goal(pons__control *h, const pons_value *goal, const pons_clock *clock,
                       pons_error *err)
{
    const pons_value *args = pons_get(goal, "args");
    char hash[33] = "";
    pons_autovalue none = json_object();
    args = args ? args : none;
    pons_value_hash(args, hash);
    const char *id = pons_get_str(goal, "id", "goal");
    h->open++;
    const pons_message_goal out = {.goal_id = id,
                                   .epoch = h->epoch,
                                   .expires_ms =
                                       clock->boot_ns(clock->ctx) / PONS_NS_PER_MS + EXPIRES_MS,
                                   .robot_id = h->robot_id,
                                   .skill = pons_get_str(goal, "skill", "navigate_to_pose"),
                                   .args = args,
                                   .args_hash = hash,
                                   .task_id = id,
                                   .attempt = 1,
                                   .preempt = pons_get_bool(goal, "preempt", false)};
    return pons_message_send(h->link, &(pons_message){.type = PONS_MESSAGE_GOAL, .as.goal = out},
                             err);
}

int pons__control_cancel(pons__control *h, const char *goal_id, pons_error *err)
{
    const pons_message cancel = {.type = PONS_MESSAGE_CANCEL,
                                 .as.about = {.goal_id = goal_id, .epoch = h->epoch}};
    return pons_message_send(h->link, &cancel, err);
}
