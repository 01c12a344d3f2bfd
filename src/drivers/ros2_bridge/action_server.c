// action_server.c - Nav2's actions as the body serves them.
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
//
// goal.c has one goal and the lists of them, goal_requests.c what clients ask of a goal.
#include "drivers/ros2_bridge/action_server.h"

#include "drivers/ros2_bridge/body_commands.h"
#include "drivers/ros2_bridge/bridge_common.h"
#include "drivers/ros2_bridge/goals_internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WAITING_MAX = 8 };

#define WAIT_NS (3 * PONS_NS_PER_S)       // for control, or the base
#define KEEP_NS (15 * 60 * PONS_NS_PER_S) // a goal that is over

typedef nav2_msgs_action_dds__NavigateToPose_SendGoal_Response_ send_response;

// ---- goals come ---------------------------------------------------------------------------------

static void answer(bridge *b, const bridge_goal *g, bool accepted)
{
    if (!g->topic) {
        const send_response m = {g->client.guid, g->client.seq, accepted,
                                 bridge_stamp(g->stamp_ns)};
        ros2_rpc_write(&b->goals->at[g->action].send.rpc, &m);
    }
}

static int waiting(const bridge *b)
{
    int n = 0;
    for (int i = 0; i < GOALS_MAX; i++) {
        n += b->goals->all[i].phase == GOAL_WAITS || b->goals->all[i].phase == GOAL_SENT;
    }
    return n;
}

static void refuse(bridge *b, bridge_goal *g, const char *why)
{
    bridge_say(b, BRIDGE_WARN, "goal %.32s is not taken: %.180s", g->id, why);
    answer(b, g, false);
    bridge_goal_forget(g);
}

// A goal that was read; takes args.
static void begin(bridge *b, bridge_goal from, const char *skill, pons_value *args, const char *why)
{
    bridge_goal *g = NULL;
    from.skill = skill;
    from.phase = GOAL_WAITS;
    from.since_host_ns = b->host_ns;
    if (bridge_goal_find(b, from.id)) {
        why = "its UUID was used before";
    } else if (args && waiting(b) >= WAITING_MAX) {
        why = "too many goals come at once";
    } else if (args && !(g = bridge_goal_place(b))) {
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
    ROS2_RPC_TAKE(&b->goals->at[i].send.rpc, bridge_goal_request, r)
    {
        bridge_goal g = {.action = i, .client = {r->guid_, r->seq_}};
        char why[BRIDGE_TEXT] = "";
        const char *skill = "";
        memcpy(g.uuid, r->goal_id.uuid, 16);
        bridge_goal_id(g.uuid, g.id);
        pons_value *args = bridge_actions[i].read(b, r, &skill, why);
        begin(b, g, skill, args, why);
    }
}

void bridge_goal_pose(bridge *b, pons_pose2 at)
{
    bridge_goal g = {.action = BRIDGE_NAVIGATE, .topic = true};
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
    for (int i = 0; i < GOALS_MAX; i++) {
        if (b->goals->all[i].phase != GOAL_FREE && b->goals->all[i].phase != GOAL_OVER) {
            return true;
        }
    }
    return false;
}

bool bridge_goals_active(const bridge *b)
{
    for (int i = 0; i < GOALS_MAX; i++) {
        if (b->goals->all[i].phase == GOAL_SENT || b->goals->all[i].phase == GOAL_RUNS) {
            return true;
        }
    }
    return false;
}

void bridge_goals_refuse(bridge *b, const char *why)
{
    for (int i = 0; i < GOALS_MAX; i++) {
        if (b->goals->all[i].phase == GOAL_WAITS) {
            refuse(b, &b->goals->all[i], why);
        }
    }
}

void bridge_goals_lost(bridge *b, const char *why)
{
    for (int i = 0; i < GOALS_MAX; i++) {
        bridge_goal *g = &b->goals->all[i];
        if (g->phase == GOAL_SENT) { // the body may have begun it
            g->stamp_ns = bridge_ros_ns(b);
            answer(b, g, true);
        }
        if (g->phase == GOAL_SENT || g->phase == GOAL_RUNS) {
            bridge_goal_finish(b, g, 0, OUTCOME_UNKNOWN, why, 0.0);
        }
    }
    bridge_goals_nobody_knows(b, why);
}

void bridge_goals_adopt(bridge *b)
{
    for (int i = 0; i < GOALS_MAX; i++) {
        if (b->goals->all[i].phase == GOAL_RUNS) {
            const pons_message m = {
                .type = PONS_MESSAGE_ADOPT,
                .as.about = {.goal_id = b->goals->all[i].id, .epoch = b->hand.epoch}};
            bridge_send(b->hand.link, &m);
        } else if (b->goals->all[i].phase == GOAL_SENT) { // the same id, so it is done once
            b->goals->all[i].phase = GOAL_WAITS;
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
    for (int i = 0; i < GOALS_MAX; i++) {
        bridge_goal *g = &gs->all[i];
        if (g->phase == GOAL_WAITS && bridge_in_control(b) && !bridge_drive_wants(b) &&
            bridge_goal_send(b, g->id, g->skill, g->args, bridge_actions[g->action].preempts)) {
            g->phase = GOAL_SENT;
        } else if (g->phase == GOAL_WAITS && b->host_ns - g->since_host_ns > WAIT_NS) {
            refuse(b, g,
                   bridge_drive_wants(b)  ? "cmd_vel drives the robot"
                   : bridge_in_control(b) ? "it is too long to be told to the body"
                                          : "nobody answers");
        } else if (g->phase == GOAL_OVER && b->host_ns - g->since_host_ns > KEEP_NS) {
            gs->at[g->action].changed = true;
            bridge_goal_forget(g);
        }
    }
    for (int i = 0; i < BRIDGE_ACTIONS; i++) {
        if (gs->at[i].changed) {
            bridge_goals_publish(b, i);
        }
    }
}

// ---- public functions ---------------------------------------------------------------------------

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
        bridge_goals_publish(b, i);
    }
    return PONS_OK;
}

void bridge_goals_close(bridge *b)
{
    for (int i = 0; b->goals && i < GOALS_MAX; i++) {
        pons_value_unref(b->goals->all[i].args);
    }
    free(b->goals);
    b->goals = NULL;
}

void bridge_goals_flush(bridge *b)
{
    for (int i = 0; i < BRIDGE_ACTIONS; i++) {
        ros2_rpc_flush(&b->goals->at[i].result.rpc);
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
            bridge_goals_take_cancels(b, i);
        }
        if (bridge_service_ready(b, &b->goals->at[i].result)) {
            bridge_goals_take_questions(b, i);
        }
    }
}

// ---- what the body says -------------------------------------------------------------------------

void bridge_goals_received(bridge *b, const pons_report *r)
{
    if (r->type == PONS_REPORT_STATUS) {
        bridge_goals_received_status(b, &r->as.status);
        return;
    }
    bridge_goal *g = bridge_goal_find(b, pons_report_goal_id(r));
    if (!g) {
        return;
    }
    const int64_t at_ns = bridge_ros_ns(b);
    if (r->type == PONS_REPORT_REJECTED && g->phase == GOAL_SENT) {
        refuse(b, g, r->as.rejected.message);
    } else if (r->type == PONS_REPORT_REJECTED && g->phase == GOAL_RUNS) {
        bridge_say(b, BRIDGE_WARN, "goal %.32s: %.180s", g->id, r->as.rejected.message);
    } else if (r->type == PONS_REPORT_ACCEPTED && g->phase == GOAL_SENT) {
        if (r->as.answer.known && !g->resent) {
            refuse(b, g, "its UUID was used before");
            return;
        }
        g->phase = GOAL_RUNS;
        g->status = STATUS_EXECUTING;
        g->stamp_ns = at_ns;
        g->turned_rad = b->goals->turned_rad;
        pons_value_unref(g->args);
        g->args = NULL;
        answer(b, g, true);
        b->goals->at[g->action].changed = true;
        if (r->as.answer.known && !pons_goal_over((pons_goal_state)r->as.answer.state)) {
            bridge_goals_adopt(b);
        }
    } else if (r->type == PONS_REPORT_FEEDBACK && g->phase == GOAL_RUNS) {
        const bridge_way way = {&r->as.feedback, fabs(b->goals->turned_rad - g->turned_rad),
                                bridge_stamp(at_ns)};
        bridge_actions[g->action].write_feedback(b, b->goals->at[g->action].feedback_w, g->uuid,
                                                 &way);
    } else if (r->type == PONS_REPORT_RESULT && g->phase == GOAL_RUNS) {
        const pons_report_result *res = &r->as.result;
        bridge_goal_finish(b, g, bridge_goal_status(res->status, g->status == STATUS_CANCELING),
                           res->end.error_code, res->end.error_msg,
                           pons_get_num(res->end.metrics, "duration_s", 0.0));
        if (g->status == STATUS_ABORTED) {
            bridge_say(b, BRIDGE_WARN, "goal %.32s: %.180s", g->id, g->end.text);
        }
    }
}
