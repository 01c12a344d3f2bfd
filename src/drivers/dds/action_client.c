// action_client.c - goals at a server of an action.
//
//     begun --server there--> sent --accepted--> runs --result--> over
//       |                      |                  |  ^
//       | server_s: no server  | answer_s:        |  | server back: the result is asked for again
//       v (nothing was sent)   v unknown          v  |
//                                               server gone --server_s--> unknown
//
// A server that was killed is there, for DDS, until its lease ends, and so may be the one that was started in its place: the
// result is asked for again whenever somebody comes or goes who answers. Where the server's list has the end of a goal
// and its result does not come, it is asked for once more, and then the list is believed.
//
// The goal's UUID is the goal id: the 16 bytes that its 32 hex digits say, else the first 16 of its SHA-256.
// A request is written once and never again, whatever gets lost: rcl forgets a finished goal after some
// seconds, so a UUID that is not known is not one that never ran. What a lost answer leaves open is
// `unknown`, and the goal is canceled by its UUID, which does no harm when it is not there. A cancel is said once a second
// until the server has answered it, also by one that went and is back. A server that
// answers a question for the result with the status UNKNOWN was restarted, or has forgotten.
//
// **Order.** Requests for goals and for cancels are on different topics, and may overtake each other; goals at different
// actions are at different servers. So whoever no longer wants a goal has it canceled, and what it was to end as is
// told only when the server has said what it did end as:
//
//     sent, runs --end--> canceling --result--> over: ended, or as the result says
//                           | answer_s: no answer, a no, or no result
//                           v unknown
//
// The cancel goes out when the goal's own answer has come, or a second after the goal. No goal that would move the robot
// is sent while a cancel of one that does has no answer, at whatever action (robot_actions.c); one that waits for that longer
// than answer_s ends as `behind`, and was not sent.
//
// action_goal.c has what is known of a goal, action_answers.c what comes from the server.
//
// Threads: the loop hands goals over and looks, the reader does the rest. The lock is never held over a write
// of DDS, which may wait: what is to be written is taken out of the goals first.
#include "drivers/dds/action_client.h"

#include "drivers/dds/action_internal.h"
#include "pons/clock.h"
#include "pons/random.h"
#include "ros2.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MODULE     "ros2"
#define CANCEL_NS  PONS_NS_PER_S        // between two cancels of a goal
#define CANCELS_NS (60 * PONS_NS_PER_S) // for which it is canceled

int ros2_action_open(ros2_node *n, ros2_types *t, const char *name, const char *type,
                     double server_s, double answer_s, ros2_action **ret, pons_error *err)
{
    static const char *const services[] = {"send_goal", "get_result", "cancel_goal"},
                             *const suffixes[] = {"SendGoal", "GetResult"};
    const ros2_qos sure = {.reliable = true, .depth = 10},
                   kept = {.reliable = true, .transient = true, .depth = 1};
    ros2_action *a = calloc(1, sizeof *a);
    if (!a) {
        return pons_error_set(err, PONS_ENOMEM, MODULE, "no memory for an action's client");
    }
    a->n = n;
    snprintf(a->name, sizeof a->name, "%s", name);
    a->patience_ns = (int64_t)(server_s * (double)PONS_NS_PER_S);
    a->answer_ns = (int64_t)(answer_s * (double)PONS_NS_PER_S);
    pthread_mutex_init(&a->mtx, NULL);
    int rc = PONS_OK;
    for (int i = 0; i < ACTION_SERVICES && rc >= 0; i++) {
        char topic[ROS2_NAME_MAX + 32], part[ROS2_TYPE_MAX + 32];
        const dds_topic_descriptor_t *asks = &action_msgs_srv_dds__CancelGoal_Request__desc,
                                     *answers = &action_msgs_srv_dds__CancelGoal_Response__desc;
        snprintf(topic, sizeof topic, "%s/_action/%s", name, services[i]);
        if (i != ACTION_CANCEL) {
            snprintf(part, sizeof part, "%s_%s_Request", type, suffixes[i]);
            rc = ros2_types_get(t, part, &a->asks[i], err);
            snprintf(part, sizeof part, "%s_%s_Response", type, suffixes[i]);
            rc = rc < 0 ? rc : ros2_types_get(t, part, &a->answers[i], err);
            asks = rc < 0 ? NULL : ros2_types_topic(t, a->asks[i], err);
            answers = asks ? ros2_types_topic(t, a->answers[i], err) : NULL;
        }
        rc = rc < 0 ? rc : ros2_rpc_open(&a->rpc[i], n, false, topic, asks, answers, NULL, err);
    }
    char topic[ROS2_NAME_MAX + 32], part[ROS2_TYPE_MAX + 32];
    snprintf(part, sizeof part, "%s_FeedbackMessage", type);
    rc = rc < 0 ? rc : ros2_types_get(t, part, &a->feedback, err);
    snprintf(part, sizeof part, "%s_Goal", type);
    rc = rc < 0 ? rc : ros2_types_get(t, part, &a->goal, err);
    const dds_topic_descriptor_t *d = rc < 0 ? NULL : ros2_types_topic(t, a->feedback, err);
    snprintf(topic, sizeof topic, "%s/_action/feedback", name);
    a->feedback_r = d ? ros2_node_reader(n, "rt", topic, NULL, d, sure, err) : 0;
    snprintf(topic, sizeof topic, "%s/_action/status", name);
    a->status_r = a->feedback_r
                      ? ros2_node_reader(n, "rt", topic, NULL,
                                         &action_msgs_msg_dds__GoalStatusArray__desc, kept, err)
                      : 0;
    if (!a->status_r) {
        ros2_action_close(a);
        return rc < 0 ? rc : PONS_EENV;
    }
    *ret = a;
    return PONS_OK;
}

void ros2_action_close(ros2_action *a)
{
    if (!a) {
        return;
    }
    for (int i = 0; i < ROS2_GOALS_MAX; i++) {
        ros2_goal_forget(a, &a->goals[i]);
    }
    for (int i = 0; i < a->n_due; i++) {
        if (a->due[i].mem) {
            ros2_value_fini(a->asks[ACTION_SEND], a->due[i].mem);
            free(a->due[i].mem);
        }
    }
    for (int i = 0; i < ACTION_SERVICES; i++) {
        ros2_rpc_close(&a->rpc[i]);
    }
    pthread_mutex_destroy(&a->mtx);
    free(a);
}

const ros2_shape *ros2_action_goal(const ros2_action *a)
{
    return a->goal;
}

// ---- the reader thread --------------------------------------------------------------------------

// Every request begins with who asks and the how manieth it is; then the goal.
typedef struct request_head {
    uint64_t guid;
    int64_t seq;
    uint8_t uuid[16];
} request_head;

void ros2_action_notice(ros2_action *a)
{
    pthread_mutex_lock(&a->mtx);
    for (int i = 0; i < ROS2_GOALS_MAX; i++) {
        a->goals[i].noticed = true;
    }
    pthread_mutex_unlock(&a->mtx);
}

static void begin_one(ros2_action *a, ros2_goal *g, bool there, ros2_hold held, int64_t host_ns)
{
    const int64_t for_ns = host_ns - g->since_ns;
    if (there && held == ROS2_FREE) {
        ros2_goal_owe(a, ACTION_SEND, g);
        g->phase = GOAL_SENT;
        g->since_ns = host_ns;
    } else if (held == ROS2_BEHIND_CANCEL && for_ns > a->answer_ns) {
        ros2_goal_over(a, g, ROS2_END_BEHIND, "the cancel of an earlier goal has no answer");
    } else if (!there && (for_ns > a->patience_ns || ros2_rpc_foreign(&a->rpc[ACTION_SEND]))) {
        char why[PONS_OUTSIDE_TEXT_MAX];
        ros2_rpc_why(&a->rpc[ACTION_SEND], why, sizeof why);
        ros2_goal_over(a, g, ROS2_END_NO_SERVER, why);
    }
}

static void move_on(ros2_action *a, ros2_goal *g, bool there, ros2_hold held, int64_t host_ns)
{
    if (g->phase == GOAL_FREE || g->phase == GOAL_OVER || !g->noticed) {
        return;
    }
    if (!g->since_ns ||
        (g->phase == GOAL_BEGUN && held == ROS2_HELD)) { // who holds it says how long
        g->since_ns = host_ns;
    }
    if (g->phase == GOAL_BEGUN) {
        begin_one(a, g, there, held, host_ns);
    } else if (g->phase == GOAL_SENT && host_ns - g->since_ns > a->answer_ns) {
        if (g->listed) { // the answer was lost, the goal was not
            g->phase = GOAL_RUNS;
            ros2_goal_owe(a, ACTION_RESULT, g);
        } else {
            ros2_goal_cancel(a, g);
            ros2_goal_over(a, g, ROS2_END_UNKNOWN, "did not answer the goal");
        }
    } else if (g->phase == GOAL_RUNS && !there) {
        g->lost_ns = g->lost_ns ? g->lost_ns : host_ns;
        if (host_ns - g->lost_ns > a->patience_ns) {
            ros2_goal_cancel(a, g); // should it come back with it
            ros2_goal_over(a, g, ROS2_END_UNKNOWN, "'s server is gone");
        }
    } else if (g->phase == GOAL_RUNS && g->lost_ns) {
        g->lost_ns = 0;
        g->asked = 0;
        ros2_goal_owe(a, ACTION_RESULT, g);
    }
}

static ros2_end ended_as(int8_t status)
{
    return status == 4 ? ROS2_END_SUCCEEDED : status == 6 ? ROS2_END_ABORTED : ROS2_END_CANCELED;
}

// The server has not answered its cancel, or said no.
static bool owes_cancel(const ros2_action *a, const ros2_goal *g)
{
    for (int i = 0; i < ACTION_UNWANTED; i++) {
        if (a->unwanted[i].used && memcmp(a->unwanted[i].uuid, g->uuid, sizeof g->uuid) == 0) {
            return true;
        }
    }
    return false;
}

// A goal that was asked to end: for how long its server's word on that is waited for.
static void watch_canceling(ros2_action *a, ros2_goal *g, int64_t host_ns)
{
    if (!g->canceling || (g->phase != GOAL_SENT && g->phase != GOAL_RUNS)) {
        return;
    }
    g->cancel_ns = g->cancel_ns ? g->cancel_ns : host_ns;
    if (host_ns - g->cancel_ns <= a->answer_ns) {
        return;
    }
    if (g->status >= 4 && g->status <= 6) { // its result does not come: the list is believed
        ros2_goal_over(a, g, ended_as(g->status), "");
        return;
    }
    ros2_goal_over(a, g, ROS2_END_UNKNOWN,
                   owes_cancel(a, g) ? "did not cancel the goal"
                                     : "did not say how the canceled goal ended");
}

// A goal that runs, while its server is there.
static void watch_running(ros2_action *a, ros2_goal *g, uint64_t peers, int64_t host_ns)
{
    const bool ended = g->status >= 4 && g->status <= 6;
    if (g->asked && g->asked != peers) {
        ros2_goal_owe(a, ACTION_RESULT, g);
    }
    g->asked = peers;
    g->ended_ns = !ended ? 0 : g->ended_ns ? g->ended_ns : host_ns;
    if (!ended || host_ns - g->ended_ns < a->answer_ns) {
        return;
    }
    if (!g->again) {
        g->again = true;
        g->ended_ns = host_ns;
        ros2_goal_owe(a, ACTION_RESULT, g);
        return;
    }
    ros2_goal_over(a, g, ended_as(g->status), "");
}

// Its goal has been sent just now: that is to be there first.
static bool on_its_way(const ros2_action *a, const ros2_unwanted *u, int64_t host_ns)
{
    for (int i = 0; i < ROS2_GOALS_MAX; i++) {
        const ros2_goal *g = &a->goals[i];
        if (g->phase == GOAL_SENT && host_ns - g->since_ns < CANCEL_NS &&
            memcmp(g->uuid, u->uuid, sizeof g->uuid) == 0) {
            return true;
        }
    }
    return false;
}

static void cancel_again(ros2_action *a, int64_t host_ns)
{
    for (int i = 0; i < ACTION_UNWANTED; i++) {
        ros2_unwanted *u = &a->unwanted[i];
        if (!u->used) {
            continue;
        }
        u->since_ns = u->since_ns ? u->since_ns : host_ns;
        if (on_its_way(a, u, host_ns)) {
            continue;
        }
        if (host_ns - u->since_ns > CANCELS_NS) {
            u->used = false;
        } else if (!u->sent_ns || host_ns - u->sent_ns > CANCEL_NS) {
            u->sent_ns = host_ns;
            ros2_goal_owe_cancel(a, u);
        }
    }
}

// Who answers questions for results, as one number: another one when somebody comes or goes.
static uint64_t peers_of(const ros2_action *a)
{
    enum { MOST = 16 };
    dds_instance_handle_t all[2][MOST];
    const ros2_rpc *result = &a->rpc[ACTION_RESULT];
    const dds_return_t n[] = {dds_get_matched_subscriptions(result->w, all[0], MOST),
                              dds_get_matched_publications(result->r, all[1], MOST)};
    uint64_t sum = 1;
    for (int k = 0; k < 2; k++) {
        for (int i = 0; i < n[k] && i < MOST; i++) {
            sum += all[k][i] * (k == 0 ? 1 : 3);
        }
    }
    int counts[2]; // Fast DDS meets a server, and loses it, at another time than Cyclone
    ros2_rpc_peers(result, counts);
    sum += 5 * (uint64_t)counts[0] + 7 * (uint64_t)counts[1];
    return sum ? sum : 1;
}

static bool server_there(ros2_action *a)
{
    return ros2_rpc_there(&a->rpc[ACTION_SEND]) && ros2_rpc_there(&a->rpc[ACTION_RESULT]) &&
           ros2_rpc_there(&a->rpc[ACTION_CANCEL]) && ros2_node_matched(a->feedback_r) &&
           ros2_node_matched(a->status_r);
}

static bool written(ros2_action *a, const ros2_due *d)
{
    const request_head head = {.guid = ros2_rpc_guid(&a->rpc[d->service]), .seq = d->seq};
    if (d->service == ACTION_CANCEL) {
        action_msgs_srv_dds__CancelGoal_Request_ r = {.guid_ = head.guid, .seq_ = head.seq};
        memcpy(r.goal_info.goal_id.uuid, d->uuid, sizeof d->uuid);
        return ros2_rpc_write(&a->rpc[ACTION_CANCEL], &r);
    }
    request_head r = head;
    memcpy(r.uuid, d->uuid, sizeof d->uuid);
    memcpy(d->mem ? d->mem : &r, &r, sizeof r);
    return ros2_rpc_write(&a->rpc[d->service], d->mem ? d->mem : &r);
}

static void write_due(ros2_action *a)
{
    ros2_due all[ACTION_DUE];
    pthread_mutex_lock(&a->mtx);
    const int n = a->n_due;
    memcpy(all, a->due, sizeof all);
    a->n_due = 0;
    pthread_mutex_unlock(&a->mtx);
    for (int i = 0; i < n; i++) {
        const bool good = written(a, &all[i]);
        if (all[i].mem) {
            ros2_value_fini(a->asks[ACTION_SEND], all[i].mem);
            free(all[i].mem);
        }
        if (good || all[i].service != ACTION_SEND) {
            continue;
        }
        pthread_mutex_lock(&a->mtx);
        for (int k = 0; k < ROS2_GOALS_MAX; k++) {
            ros2_goal *g = &a->goals[k];
            if (g->phase == GOAL_SENT && g->seq[ACTION_SEND] == all[i].seq) {
                ros2_goal_cancel(a, g);
                ros2_goal_over(a, g, ROS2_END_UNKNOWN,
                               "may have the goal, which could not be written whole");
            }
        }
        pthread_mutex_unlock(&a->mtx);
    }
}

void ros2_action_poll(ros2_action *a, ros2_hold held, int64_t host_ns)
{
    for (int i = 0; i < ACTION_SERVICES; i++) {
        ros2_rpc_meet(&a->rpc[i]);
    }
    const bool there = server_there(a);
    const uint64_t peers = peers_of(a);
    pthread_mutex_lock(&a->mtx);
    ros2_action_hear(a, host_ns);
    for (int i = 0; i < ROS2_GOALS_MAX; i++) {
        move_on(a, &a->goals[i], there, held, host_ns);
        watch_canceling(a, &a->goals[i], host_ns);
        if (there && a->goals[i].phase == GOAL_RUNS) {
            watch_running(a, &a->goals[i], peers, host_ns);
        }
    }
    if (there) {
        cancel_again(a, host_ns);
    }
    pthread_mutex_unlock(&a->mtx);
    write_due(a);
}

// ---- the loop thread ----------------------------------------------------------------------------

static void uuid_of(const char *id, uint8_t ret[16])
{
    uint8_t hash[32];
    bool hex = strlen(id) == 32;
    for (const char *p = id; hex && *p; p++) {
        hex = isxdigit((unsigned char)*p);
    }
    pons_sha256(id, strlen(id), hash);
    memcpy(ret, hash, 16);
    for (int i = 0; hex && i < 16; i++) {
        const char two[3] = {id[2 * i], id[2 * i + 1], '\0'};
        ret[i] = (uint8_t)strtoul(two, NULL, 16);
    }
}

// The request whole: its numbers come when it is sent.
static void *request_of(ros2_action *a, const uint8_t uuid[16], const pons_value *value,
                        const char *map_frame, pons_error *err)
{
    pons_value *id = json_array();
    for (int i = 0; i < 16; i++) {
        json_array_append_new(id, json_integer(uuid[i]));
    }
    pons_autovalue whole = pons_object("goal_id", id, "goal", json_incref((json_t *)value), NULL);
    void *mem = calloc(1, a->asks[ACTION_SEND]->size);
    if (!mem || ros2_value_from(a->asks[ACTION_SEND], whole, map_frame, mem, err) < 0) {
        free(mem);
        return NULL;
    }
    return mem;
}

void ros2_action_begin(ros2_action *a, const char *goal_id, const pons_value *value,
                       const char *map_frame)
{
    pons_error err = PONS_ERROR_INIT;
    uint8_t uuid[16];
    uuid_of(goal_id, uuid);
    void *mem = request_of(a, uuid, value, map_frame, &err);
    pthread_mutex_lock(&a->mtx);
    ros2_goal *g = ros2_goal_find(a, goal_id) ? NULL : ros2_goal_place(a);
    if (g) {
        *g = (ros2_goal){.phase = GOAL_BEGUN, .mem = mem};
        snprintf(g->id, sizeof g->id, "%s", goal_id);
        memcpy(g->uuid, uuid, sizeof uuid);
        mem = NULL;
        if (!g->mem) {
            ros2_goal_over(a, g, ROS2_END_BAD_GOAL, err.message);
        }
    }
    pthread_mutex_unlock(&a->mtx);
    if (mem) {
        ros2_value_fini(a->asks[ACTION_SEND], mem);
        free(mem);
    }
}

bool ros2_action_look(ros2_action *a, const char *goal_id, ros2_progress *ret)
{
    pthread_mutex_lock(&a->mtx);
    ros2_goal *g = ros2_goal_find(a, goal_id);
    if (g) {
        g->reported_end = g->phase == GOAL_OVER;
        *ret = g->reported;
        pons_value_ref(ret->feedback);
        pons_value_ref(ret->result);
    }
    pthread_mutex_unlock(&a->mtx);
    return g != NULL;
}

bool ros2_action_busy(ros2_action *a)
{
    bool busy = false;
    pthread_mutex_lock(&a->mtx);
    for (int i = 0; i < ROS2_GOALS_MAX; i++) {
        const ros2_goal *g = &a->goals[i];
        busy = busy || (g->phase != GOAL_FREE && g->phase != GOAL_OVER);
    }
    pthread_mutex_unlock(&a->mtx);
    return busy;
}

bool ros2_action_cancels(ros2_action *a)
{
    const bool there = server_there(a);
    bool any = false;
    pthread_mutex_lock(&a->mtx);
    for (int i = 0; i < ROS2_GOALS_MAX; i++) {
        const ros2_goal *g = &a->goals[i];
        any = any || (g->canceling && (g->phase == GOAL_SENT || g->phase == GOAL_RUNS));
    }
    for (int i = 0; i < ACTION_UNWANTED; i++) {
        any = any || (there && a->unwanted[i].used);
    }
    pthread_mutex_unlock(&a->mtx);
    return any;
}

void ros2_action_end(ros2_action *a, const char *goal_id)
{
    pthread_mutex_lock(&a->mtx);
    ros2_goal *g = ros2_goal_find(a, goal_id);
    if (g && (g->phase == GOAL_BEGUN || (g->phase == GOAL_OVER && g->reported_end))) {
        ros2_goal_forget(a, g);
    } else if (g && g->phase != GOAL_OVER && !g->canceling) {
        ros2_goal_cancel(a, g);
    }
    pthread_mutex_unlock(&a->mtx);
}

void ros2_action_give_up(ros2_action *a, const char *why)
{
    pthread_mutex_lock(&a->mtx);
    for (int i = 0; i < ROS2_GOALS_MAX; i++) {
        ros2_goal *g = &a->goals[i];
        if ((g->phase == GOAL_SENT || g->phase == GOAL_RUNS) && !g->canceling) {
            ros2_goal_cancel(a, g);
            g->given_up = true;
            snprintf(g->reported.text, sizeof g->reported.text, "%s", why);
        }
    }
    pthread_mutex_unlock(&a->mtx);
}
