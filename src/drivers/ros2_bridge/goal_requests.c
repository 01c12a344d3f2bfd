// goal_requests.c - what clients ask of goals (action_server.c): that they are canceled, and how they ended.
#include "drivers/ros2_bridge/body_commands.h"
#include "drivers/ros2_bridge/goals_internal.h"

#include <stdio.h>
#include <string.h>

enum { CANCEL_OK = 0, CANCEL_REJECTED = 1, CANCEL_NO_GOAL = 2, CANCEL_OVER = 3 };

static int64_t ns_of(const builtin_interfaces_msg_dds__Time_ *t)
{
    return (int64_t)t->sec * PONS_NS_PER_S + (int64_t)t->nanosec;
}

// No UUID and no stamp: all; a stamp: what was accepted until then; a UUID: that one, too.
void bridge_goals_take_cancels(bridge *b, int i)
{
    static const uint8_t none[16];
    ROS2_RPC_TAKE(&b->goals->at[i].cancel.rpc, action_msgs_srv_dds__CancelGoal_Request_, r)
    {
        const uint8_t *uuid = r->goal_info.goal_id.uuid;
        const bool any = memcmp(uuid, none, 16) == 0;
        const int64_t until_ns = ns_of(&r->goal_info.stamp);
        action_msgs_msg_dds__GoalInfo_ infos[GOALS_MAX];
        uint32_t n = 0;
        int8_t code = any ? CANCEL_OK : CANCEL_NO_GOAL;
        for (int k = 0; k < GOALS_MAX; k++) {
            bridge_goal *g = &b->goals->all[k];
            const bool named = !any && memcmp(g->uuid, uuid, 16) == 0;
            if (g->action != i || g->phase == GOAL_FREE || g->phase == GOAL_WAITS ||
                g->phase == GOAL_SENT) {
                continue;
            }
            if (g->phase == GOAL_OVER) {
                code = named ? CANCEL_OVER : code;
                continue;
            }
            if (named || (any && until_ns == 0) || (until_ns != 0 && g->stamp_ns <= until_ns)) {
                if (!bridge_in_control(b)) {
                    code = CANCEL_REJECTED;
                    continue;
                }
                bridge_goal_cancel(b, g->id);
                g->status = STATUS_CANCELING;
                b->goals->at[i].changed = true;
                infos[n++] = bridge_goal_info(g);
            }
        }
        const action_msgs_srv_dds__CancelGoal_Response_ m = {
            r->guid_, r->seq_, n > 0 ? CANCEL_OK : code, {n, n, infos, false}};
        ros2_rpc_write(&b->goals->at[i].cancel.rpc, &m);
    }
}

// Asks the ledger; false: nobody can be asked.
static bool ask_ledger(bridge *b, int action, const char *id, bridge_asker who)
{
    const pons_message m = {.type = PONS_MESSAGE_STATUS, .as.about = {.goal_id = id}};
    for (int i = 0; b->greeted && i < QUESTIONS_MAX; i++) {
        bridge_question *q = &b->goals->asked[i];
        if (!q->open) {
            *q = (bridge_question){
                .open = true, .action = action, .who = who, .since_host_ns = b->host_ns};
            snprintf(q->id, sizeof q->id, "%s", id);
            q->open = bridge_send(b->eye, &m);
            return q->open;
        }
    }
    return false;
}

void bridge_goals_take_questions(bridge *b, int i)
{
    ROS2_RPC_TAKE(&b->goals->at[i].result.rpc, bridge_goal_request, r)
    {
        char id[BRIDGE_ID];
        const bridge_asker who = {r->guid_, r->seq_};
        bridge_goal_id(r->goal_id.uuid, id);
        bridge_goal *g = bridge_goal_find(b, id);
        if (g && g->phase == GOAL_OVER && g->action == i) {
            bridge_actions[i].write_result(b, &b->goals->at[i].result.rpc, who.guid, who.seq,
                                           &g->end);
        } else if (g && g->action == i && g->n_askers < ASKERS_MAX) {
            g->askers[g->n_askers++] = who;
        } else if ((g && g->action == i) || !ask_ledger(b, i, id, who)) {
            bridge_end end = {.error_code = OUTCOME_UNKNOWN};
            snprintf(end.text, sizeof end.text, "too many ask, or there is no body");
            bridge_actions[i].write_result(b, &b->goals->at[i].result.rpc, who.guid, who.seq, &end);
        }
    }
}

void bridge_goals_received_status(bridge *b, const pons_report_status *s)
{
    for (int i = 0; i < QUESTIONS_MAX; i++) {
        bridge_question *q = &b->goals->asked[i];
        if (!q->open || strcmp(q->id, s->goal_id) != 0) {
            continue;
        }
        q->open = false;
        bridge_end end = {.status = 0};
        if (s->known && pons_goal_over((pons_goal_state)s->state)) {
            end.status = bridge_goal_status(s->state, true); // who canceled it is not in the ledger
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
        bridge_actions[q->action].write_result(b, &b->goals->at[q->action].result.rpc, q->who.guid,
                                               q->who.seq, &end);
    }
}

void bridge_goals_nobody_knows(bridge *b, const char *why)
{
    for (int i = 0; i < QUESTIONS_MAX; i++) {
        bridge_question *q = &b->goals->asked[i];
        if (q->open) {
            bridge_end end = {.error_code = OUTCOME_UNKNOWN};
            snprintf(end.text, sizeof end.text, "%s", why);
            bridge_actions[q->action].write_result(b, &b->goals->at[q->action].result.rpc,
                                                   q->who.guid, q->who.seq, &end);
            q->open = false;
        }
    }
}
