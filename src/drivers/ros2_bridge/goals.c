// goals.c - Nav2's actions as the body serves them.
//
//     send_goal --waits--> sent to the body --accepted--> EXECUTING --result--> SUCCEEDED, ABORTED, CANCELED
//                 |              | rejected, known: not accepted  |  ^            |
//                 | no control   v                                v  | adopt      v
//                 +-----> not accepted                   CANCELING, held       the body has gone: UNKNOWN
//
// The goal's UUID is its id in the body's ledger, which judges whether it was there before: also one of
// another life of the body is refused. Who asks for the result of a goal that is not here any more is
// answered by the ledger. A goal that the ledger has not seen end, and of which nobody hears any more, has
// the status UNKNOWN (0), error 9909: a robot that may have moved is not one that did not.
//
// A goal that no client has canceled is never CANCELED: one that another took the base from is ABORTED.
#include "drivers/ros2_bridge/goals.h"

#include "drivers/ros2_bridge/actions.h"
#include "drivers/ros2_bridge/common.h"
#include "drivers/ros2_bridge/hand.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ACCEPTED = 1, EXECUTING = 2, CANCELING = 3, SUCCEEDED = 4, CANCELED = 5, ABORTED = 6 };
enum { GOALS = 64, WAITING = 8, ASKERS = 8, QUESTIONS = 32, OUTCOME_UNKNOWN = 9909, REFUSED = 1 };
enum { CANCEL_OK = 0, CANCEL_REJECTED = 1, CANCEL_NO_GOAL = 2, CANCEL_OVER = 3 };

#define WAIT_NS (3 * PONS_NS_PER_S)       // for control, or the base
#define KEEP_NS (15 * 60 * PONS_NS_PER_S) // a goal that is over

typedef struct asker {
    uint64_t guid;
    int64_t seq;
} asker;

typedef enum phase { FREE, WAITS, SENT, RUNS, OVER } phase;

typedef struct goal {
    phase phase;
    int action;
    uint8_t uuid[16];
    char id[BRIDGE_ID];
    const char *skill;
    pons_value *args; // until it is sent
    bool topic;       // came over goal_pose: nobody waits for an answer
    bool resent;      // the link broke before its answer: the body may know it already
    asker client;     // who sent it
    int8_t status;
    int64_t stamp_ns; // ROS's time of its acceptance
    int64_t since_host_ns;
    double turned_rad; // at the start
    bridge_end end;
    asker askers[ASKERS]; // for its result
    int n_askers;
} goal;

typedef struct question { // a result that the ledger is asked for
    bool open;
    int action;
    char id[BRIDGE_ID];
    asker who;
    int64_t since_host_ns;
} question;

struct bridge_goals {
    struct {
        bridge_service send, result, cancel;
        dds_entity_t feedback_w, status_w;
        bool changed;
    } at[BRIDGE_ACTIONS];
    goal all[GOALS];
    question asked[QUESTIONS];
    double turned_rad, last_yaw;
    bool has_yaw;
};

// All requests of an action's services begin so.
typedef nav2_msgs_action_dds__NavigateToPose_GetResult_Request_ any_request;
typedef nav2_msgs_action_dds__NavigateToPose_SendGoal_Response_ send_response;

static int open_action(bridge *b, int i, const char *name, pons_error *err);
static void take_goals(bridge *b, int i);
static void take_cancels(bridge *b, int i);
static void take_result_requests(bridge *b, int i);
static void finish(bridge *b, goal *g, int8_t status, int64_t code, const char *text, double s);
static void publish_status(bridge *b, int i);
static goal *find(bridge *b, const char *id);

int bridge_goals_open(bridge *b, pons_error *err)
{
    const char *const names[BRIDGE_ACTIONS] = {b->c.shown.navigate_to_pose, b->c.shown.spin,
                                               b->c.shown.back_up, b->c.shown.drive_on_heading};
    b->goals = calloc(1, sizeof *b->goals);
    if (!b->goals) {
        return pons_error_set(err, PONS_ENOMEM, "ros2", "no memory for actions");
    }
    for (int i = 0; i < BRIDGE_ACTIONS; i++) {
        const int rc = open_action(b, i, names[i], err);
        if (rc < 0) {
            return rc;
        }
        publish_status(b, i);
    }
    return PONS_OK;
}

static int open_action(bridge *b, int i, const char *name, pons_error *err)
{
    const ros2_qos sure = {.reliable = true, .depth = 10},
                   kept = {.reliable = true, .transient = true, .depth = 1};
    const bridge_action *a = &bridge_actions[i];
    char full[5][ROS2_NAME_MAX + 32];
    static const char *const parts[] = {"send_goal", "get_result", "cancel_goal", "feedback",
                                        "status"};
    for (int k = 0; k < 5; k++) {
        snprintf(full[k], sizeof full[k], "%s/_action/%s", name, parts[k]);
    }
    bridge_service *send = &b->goals->at[i].send, *result = &b->goals->at[i].result,
                   *cancel = &b->goals->at[i].cancel;
    bool ok = bridge_service_open(b, send, full[0], a->send_req, a->send_res, NULL, err);
    ok = ok && bridge_service_open(b, result, full[1], a->result_req,
                                   b->c.jazzy ? a->result_res : a->humble_res,
                                   a->result_res->m_typename, err);
    ok = ok &&
         bridge_service_open(b, cancel, full[2], &action_msgs_srv_dds__CancelGoal_Request__desc,
                             &action_msgs_srv_dds__CancelGoal_Response__desc, NULL, err);
    b->goals->at[i].feedback_w =
        ok ? ros2_node_writer(&b->node, "rt", full[3], NULL, a->feedback, sure, err) : 0;
    b->goals->at[i].status_w =
        ok ? ros2_node_writer(&b->node, "rt", full[4], NULL,
                              &action_msgs_msg_dds__GoalStatusArray__desc, kept, err)
           : 0;
    ok = ok && b->goals->at[i].feedback_w > 0 && b->goals->at[i].status_w > 0;
    return ok ? PONS_OK : PONS_EENV;
}

void bridge_goals_close(bridge *b)
{
    for (int i = 0; b->goals && i < GOALS; i++) {
        pons_value_unref(b->goals->all[i].args);
    }
    free(b->goals);
    b->goals = NULL;
}

void bridge_goals_flush(bridge *b)
{
    for (int i = 0; i < BRIDGE_ACTIONS; i++) {
        dds_wait_for_acks(b->goals->at[i].result.w, DDS_MSECS(300));
        dds_wait_for_acks(b->goals->at[i].status_w, DDS_MSECS(100));
    }
}

void bridge_goals_take(bridge *b)
{
    for (int i = 0; i < BRIDGE_ACTIONS; i++) {
        if (bridge_service_ready(b, &b->goals->at[i].send)) {
            take_goals(b, i);
        }
        if (bridge_service_ready(b, &b->goals->at[i].cancel)) {
            take_cancels(b, i);
        }
        if (bridge_service_ready(b, &b->goals->at[i].result)) {
            take_result_requests(b, i);
        }
    }
}

// ---- goals come ---------------------------------------------------------------------------------

static void id_of(const uint8_t uuid[16], char ret[BRIDGE_ID])
{
    for (int i = 0; i < 16; i++) {
        snprintf(ret + 2 * i, 3, "%02x", uuid[i]);
    }
}

static void answer(bridge *b, const goal *g, bool accepted)
{
    if (!g->topic) {
        const send_response m = {g->client.guid, g->client.seq, accepted,
                                 bridge_stamp(g->stamp_ns)};
        dds_write(b->goals->at[g->action].send.w, &m);
    }
}

static goal *find(bridge *b, const char *id)
{
    for (int i = 0; i < GOALS; i++) {
        if (b->goals->all[i].phase != FREE && strcmp(b->goals->all[i].id, id) == 0) {
            return &b->goals->all[i];
        }
    }
    return NULL;
}

static void forget(goal *g)
{
    pons_value_unref(g->args);
    *g = (goal){0};
}

// A free place, or that of the goal which has been over for longest.
static goal *place(bridge *b)
{
    goal *oldest = NULL;
    for (int i = 0; i < GOALS; i++) {
        goal *g = &b->goals->all[i];
        if (g->phase == FREE) {
            return g;
        }
        if (g->phase == OVER && (!oldest || g->since_host_ns < oldest->since_host_ns)) {
            oldest = g;
        }
    }
    if (oldest) {
        b->goals->at[oldest->action].changed = true;
        forget(oldest);
    }
    return oldest;
}

static int waiting(const bridge *b)
{
    int n = 0;
    for (int i = 0; i < GOALS; i++) {
        n += b->goals->all[i].phase == WAITS || b->goals->all[i].phase == SENT;
    }
    return n;
}

static void refuse(bridge *b, goal *g, const char *why)
{
    bridge_say(b, BRIDGE_WARN, "goal %.32s is not taken: %.180s", g->id, why);
    answer(b, g, false);
    forget(g);
}

// A goal that was read; takes args.
static void begin(bridge *b, goal from, const char *skill, pons_value *args, const char *why)
{
    goal *g = NULL;
    from.skill = skill;
    from.phase = WAITS;
    from.since_host_ns = b->host_ns;
    if (find(b, from.id)) {
        why = "its UUID was used before";
    } else if (args && waiting(b) >= WAITING) {
        why = "too many goals come at once";
    } else if (args && b->latched) {
        why = b->latch_reason;
    } else if (args && !(g = place(b))) {
        why = "too many goals are active";
    } else if (args) {
        *g = from;
        g->args = args;
        return;
    }
    pons_value_unref(args);
    from.args = NULL;
    refuse(b, &from, why);
}

static void take_goals(bridge *b, int i)
{
    ROS2_TAKE(b->goals->at[i].send.r, any_request, r)
    {
        goal g = {.action = i, .client = {r->guid_, r->seq_}};
        char why[BRIDGE_TEXT] = "";
        const char *skill = "";
        memcpy(g.uuid, r->goal_id.uuid, 16);
        id_of(g.uuid, g.id);
        pons_value *args = bridge_actions[i].read(b, r, &skill, why);
        begin(b, g, skill, args, why);
    }
}

void bridge_goal_pose(bridge *b, pons_pose2 at)
{
    goal g = {.action = BRIDGE_NAVIGATE, .topic = true};
    bridge_new_id(b, g.id);
    for (int i = 0; i < 16; i++) {
        const char two[3] = {g.id[2 * i], g.id[2 * i + 1], '\0'};
        g.uuid[i] = (uint8_t)strtoul(two, NULL, 16);
    }
    begin(b, g, "navigate_to_pose",
          pons_object("pose",
                      pons_object("x", json_real(at.x), "y", json_real(at.y), "yaw",
                                  json_real(at.yaw), NULL),
                      NULL),
          "no memory");
}

bool bridge_goals_want(const bridge *b)
{
    for (int i = 0; i < GOALS; i++) {
        if (b->goals->all[i].phase != FREE && b->goals->all[i].phase != OVER) {
            return true;
        }
    }
    return false;
}

bool bridge_goals_active(const bridge *b)
{
    for (int i = 0; i < GOALS; i++) {
        if (b->goals->all[i].phase == SENT || b->goals->all[i].phase == RUNS) {
            return true;
        }
    }
    return false;
}

void bridge_goals_refuse(bridge *b, const char *why)
{
    for (int i = 0; i < GOALS; i++) {
        if (b->goals->all[i].phase == WAITS) {
            refuse(b, &b->goals->all[i], why);
        }
    }
}

void bridge_goals_lost(bridge *b, const char *why)
{
    for (int i = 0; i < GOALS; i++) {
        goal *g = &b->goals->all[i];
        if (g->phase == SENT) { // the body may have begun it
            g->stamp_ns = bridge_ros_ns(b);
            answer(b, g, true);
        }
        if (g->phase == SENT || g->phase == RUNS) {
            finish(b, g, 0, OUTCOME_UNKNOWN, why, 0.0);
        }
    }
    for (int i = 0; i < QUESTIONS; i++) {
        question *q = &b->goals->asked[i];
        if (q->open) {
            bridge_end end = {.error_code = OUTCOME_UNKNOWN};
            snprintf(end.text, sizeof end.text, "%s", why);
            bridge_actions[q->action].write_result(b, b->goals->at[q->action].result.w, q->who.guid,
                                                   q->who.seq, &end);
            q->open = false;
        }
    }
}

void bridge_goals_adopt(bridge *b)
{
    for (int i = 0; i < GOALS; i++) {
        if (b->goals->all[i].phase == RUNS) {
            const pons_message m = {
                .type = PONS_MESSAGE_ADOPT,
                .as.about = {.goal_id = b->goals->all[i].id, .epoch = b->hand.epoch}};
            bridge_send(b->hand.link, &m);
        } else if (b->goals->all[i].phase == SENT) { // the same id, so it is done once
            b->goals->all[i].phase = WAITS;
            b->goals->all[i].resent = true;
        }
    }
}

void bridge_goals_step(bridge *b)
{
    bridge_goals *gs = b->goals;
    if (b->seen) {
        const double yaw = b->odom_from_base.yaw;
        gs->turned_rad += gs->has_yaw ? pons_wrap_angle(yaw - gs->last_yaw) : 0.0;
        gs->last_yaw = yaw;
    }
    gs->has_yaw = b->seen;
    for (int i = 0; i < GOALS; i++) {
        goal *g = &gs->all[i];
        if (g->phase == WAITS && bridge_in_control(b) && !bridge_drive_wants(b)) {
            if (bridge_goal_send(b, g->id, g->skill, g->args, bridge_actions[g->action].preempts)) {
                g->phase = SENT;
            }
        } else if (g->phase == WAITS && b->host_ns - g->since_host_ns > WAIT_NS) {
            refuse(b, g, bridge_drive_wants(b) ? "cmd_vel drives the robot" : "nobody answers");
        } else if (g->phase == OVER && b->host_ns - g->since_host_ns > KEEP_NS) {
            gs->at[g->action].changed = true;
            forget(g);
        }
    }
    for (int i = 0; i < BRIDGE_ACTIONS; i++) {
        if (gs->at[i].changed) {
            publish_status(b, i);
        }
    }
}

// ---- what the body says -------------------------------------------------------------------------

static void finish(bridge *b, goal *g, int8_t status, int64_t code, const char *text, double s)
{
    bridge_goals *gs = b->goals;
    g->phase = OVER;
    g->status = status;
    g->since_host_ns = b->host_ns;
    g->end = (bridge_end){.status = status,
                          .error_code = (uint16_t)(code >= 0 && code <= UINT16_MAX ? code : 0),
                          .duration_s = s};
    snprintf(g->end.text, sizeof g->end.text, "%s", text);
    for (int i = 0; i < g->n_askers; i++) {
        bridge_actions[g->action].write_result(b, gs->at[g->action].result.w, g->askers[i].guid,
                                               g->askers[i].seq, &g->end);
    }
    g->n_askers = 0;
    publish_status(b, g->action);
}

static int8_t status_of(int state, bool canceling)
{
    return state == PONS_GOAL_DONE                    ? SUCCEEDED
           : state == PONS_GOAL_CANCELED && canceling ? CANCELED
                                                      : ABORTED;
}

static void heard_status(bridge *b, const pons_report_status *s)
{
    for (int i = 0; i < QUESTIONS; i++) {
        question *q = &b->goals->asked[i];
        if (!q->open || strcmp(q->id, s->goal_id) != 0) {
            continue;
        }
        q->open = false;
        bridge_end end = {.status = 0};
        if (s->known && pons_goal_over((pons_goal_state)s->state)) {
            end.status = status_of(s->state, true); // who canceled it is not in the ledger
            end.error_code = (uint16_t)s->end.error_code;
            end.duration_s = pons_get_num(s->end.metrics, "duration_s", 0.0);
            snprintf(end.text, sizeof end.text, "%s", s->end.error_msg);
        } else {
            end.error_code = s->known ? OUTCOME_UNKNOWN : REFUSED;
            snprintf(end.text, sizeof end.text, "%s",
                     !s->known      ? "there is no such goal"
                     : s->same_boot ? "the goal is not one of ROS"
                                    : "an earlier life of the body had it; what became of it is "
                                      "not known");
        }
        bridge_actions[q->action].write_result(b, b->goals->at[q->action].result.w, q->who.guid,
                                               q->who.seq, &end);
    }
}

void bridge_goals_heard(bridge *b, const pons_report *r)
{
    if (r->type == PONS_REPORT_STATUS) {
        heard_status(b, &r->as.status);
        return;
    }
    goal *g = find(b, pons_report_goal_id(r));
    if (!g) {
        return;
    }
    const int64_t at_ns = bridge_ros_ns(b);
    if (r->type == PONS_REPORT_REJECTED && g->phase == SENT) {
        refuse(b, g, r->as.rejected.message);
    } else if (r->type == PONS_REPORT_REJECTED && g->phase == RUNS) {
        bridge_say(b, BRIDGE_WARN, "goal %.32s: %.180s", g->id, r->as.rejected.message);
    } else if (r->type == PONS_REPORT_ACCEPTED && g->phase == SENT) {
        if (r->as.answer.known && !g->resent) {
            refuse(b, g, "its UUID was used before");
            return;
        }
        g->phase = RUNS;
        g->status = EXECUTING;
        g->stamp_ns = at_ns;
        g->turned_rad = b->goals->turned_rad;
        pons_value_unref(g->args);
        g->args = NULL;
        answer(b, g, true);
        b->goals->at[g->action].changed = true;
        if (r->as.answer.known && !pons_goal_over((pons_goal_state)r->as.answer.state)) {
            bridge_goals_adopt(b);
        }
    } else if (r->type == PONS_REPORT_FEEDBACK && g->phase == RUNS) {
        const bridge_way way = {&r->as.feedback, fabs(b->goals->turned_rad - g->turned_rad),
                                bridge_stamp(at_ns)};
        bridge_actions[g->action].write_feedback(b, b->goals->at[g->action].feedback_w, g->uuid,
                                                 &way);
    } else if (r->type == PONS_REPORT_RESULT && g->phase == RUNS) {
        const pons_report_result *res = &r->as.result;
        finish(b, g, status_of(res->status, g->status == CANCELING), res->end.error_code,
               res->end.error_msg, pons_get_num(res->end.metrics, "duration_s", 0.0));
        if (g->status == ABORTED) {
            bridge_say(b, BRIDGE_WARN, "goal %.32s: %.180s", g->id, g->end.text);
        }
    }
}

// ---- cancel, result, status ---------------------------------------------------------------------

static int64_t ns_of(const builtin_interfaces_msg_dds__Time_ *t)
{
    return (int64_t)t->sec * PONS_NS_PER_S + (int64_t)t->nanosec;
}

static action_msgs_msg_dds__GoalInfo_ info_of(const goal *g)
{
    action_msgs_msg_dds__GoalInfo_ info = {.stamp = bridge_stamp(g->stamp_ns)};
    memcpy(info.goal_id.uuid, g->uuid, 16);
    return info;
}

// No UUID and no stamp: all; a stamp: what was accepted until then; a UUID: that one, too.
static void take_cancels(bridge *b, int i)
{
    static const uint8_t none[16];
    ROS2_TAKE(b->goals->at[i].cancel.r, action_msgs_srv_dds__CancelGoal_Request_, r)
    {
        const uint8_t *uuid = r->goal_info.goal_id.uuid;
        const bool any = memcmp(uuid, none, 16) == 0;
        const int64_t until_ns = ns_of(&r->goal_info.stamp);
        action_msgs_msg_dds__GoalInfo_ infos[GOALS];
        uint32_t n = 0;
        int8_t code = any ? CANCEL_OK : CANCEL_NO_GOAL;
        for (int k = 0; k < GOALS; k++) {
            goal *g = &b->goals->all[k];
            const bool named = !any && memcmp(g->uuid, uuid, 16) == 0;
            if (g->action != i || g->phase == FREE || g->phase == WAITS || g->phase == SENT) {
                continue;
            }
            if (g->phase == OVER) {
                code = named ? CANCEL_OVER : code;
                continue;
            }
            if (named || (any && until_ns == 0) || (until_ns != 0 && g->stamp_ns <= until_ns)) {
                if (!bridge_in_control(b)) {
                    code = CANCEL_REJECTED;
                    continue;
                }
                bridge_goal_cancel(b, g->id);
                g->status = CANCELING;
                b->goals->at[i].changed = true;
                infos[n++] = info_of(g);
            }
        }
        const action_msgs_srv_dds__CancelGoal_Response_ m = {
            r->guid_, r->seq_, n > 0 ? CANCEL_OK : code, {n, n, infos, false}};
        dds_write(b->goals->at[i].cancel.w, &m);
    }
}

// Asks the ledger; false: nobody can be asked.
static bool ask_ledger(bridge *b, int action, const char *id, asker who)
{
    const pons_message m = {.type = PONS_MESSAGE_STATUS, .as.about = {.goal_id = id}};
    for (int i = 0; b->greeted && i < QUESTIONS; i++) {
        question *q = &b->goals->asked[i];
        if (!q->open) {
            *q =
                (question){.open = true, .action = action, .who = who, .since_host_ns = b->host_ns};
            snprintf(q->id, sizeof q->id, "%s", id);
            q->open = bridge_send(b->eye, &m);
            return q->open;
        }
    }
    return false;
}

static void take_result_requests(bridge *b, int i)
{
    ROS2_TAKE(b->goals->at[i].result.r, any_request, r)
    {
        char id[BRIDGE_ID];
        const asker who = {r->guid_, r->seq_};
        id_of(r->goal_id.uuid, id);
        goal *g = find(b, id);
        if (g && g->phase == OVER && g->action == i) {
            bridge_actions[i].write_result(b, b->goals->at[i].result.w, who.guid, who.seq, &g->end);
        } else if (g && g->action == i && g->n_askers < ASKERS) {
            g->askers[g->n_askers++] = who;
        } else if ((g && g->action == i) || !ask_ledger(b, i, id, who)) {
            bridge_end end = {.error_code = OUTCOME_UNKNOWN};
            snprintf(end.text, sizeof end.text, "too many ask, or there is no body");
            bridge_actions[i].write_result(b, b->goals->at[i].result.w, who.guid, who.seq, &end);
        }
    }
}

static void publish_status(bridge *b, int i)
{
    action_msgs_msg_dds__GoalStatus_ list[GOALS];
    uint32_t n = 0;
    for (int k = 0; k < GOALS; k++) {
        const goal *g = &b->goals->all[k];
        if (g->action == i && (g->phase == RUNS || g->phase == OVER)) {
            list[n++] = (action_msgs_msg_dds__GoalStatus_){info_of(g), g->status};
        }
    }
    const action_msgs_msg_dds__GoalStatusArray_ m = {.status_list = {n, n, list, false}};
    b->goals->at[i].changed = false;
    dds_write(b->goals->at[i].status_w, &m);
}
