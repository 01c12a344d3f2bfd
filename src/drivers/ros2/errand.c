// errand.c - a goal at Nav2's NavigateToPose.
//
//     begun --server there--> sent --accepted--> runs --result--> done, failed
//       |                      |                  |  ^
//       | server_s: failed     | ANSWER_NS:       |  | server back: the result is asked for again
//       v (nothing was sent)   v unknown          v  |
//                                               server gone --server_s--> unknown
//
// The goal's UUID is the goal id: the 16 bytes that its 32 hex digits say, else the first 16 of its SHA-256.
// A request is written once and never again, whatever gets lost: rcl forgets a finished goal after some
// seconds, so a UUID that is not known is not one that never ran. What a lost answer leaves open is
// `unknown`, and the goal is canceled by its UUID, which does no harm when it is not there. A server that
// answers a question for the result with the status UNKNOWN was restarted, or has forgotten.
//
// Who no longer wants the goal says so once; if the answer to its sending comes only after that, once more:
// the two requests are on different topics, and may overtake each other.
#include "drivers/ros2/errand.h"

#include "pons/clock.h"
#include "pons/rand.h"
#include "ros2.h"

#include <ctype.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ANSWER_NS (5 * PONS_NS_PER_S) // within which a server answers

enum { ACCEPTED = 1, EXECUTING = 2, CANCELING = 3, SUCCEEDED = 4, CANCELED = 5, ABORTED = 6 };
enum { DUE = 4 };
enum { NAVIGATE_UNKNOWN = 9000 }; // docs/link.md

typedef nav2_msgs_action_dds__NavigateToPose_SendGoal_Request_ send_request;
typedef nav2_msgs_action_dds__NavigateToPose_SendGoal_Response_ send_response;
typedef nav2_msgs_action_dds__NavigateToPose_GetResult_Request_ result_request;
typedef nav2_msgs_action_dds__NavigateToPose_GetResult_Response_ result_response;
typedef nav2_msgs_action_dds__NavigateToPose_FeedbackMessage_ feedback_message;
typedef action_msgs_srv_dds__CancelGoal_Request_ cancel_request;
typedef humble_NavigateToPose_GetResult_Response_ humble_response;

typedef enum phase { IDLE, BEGUN, SENT, RUNS, OVER } phase;

struct ros2_errand {
    const ros2_config *c;
    ros2_node *n;
    dds_entity_t send_w, send_r, result_w, result_r, cancel_w, cancel_r, feedback_r, status_r;
    int64_t seq; // reader thread

    pthread_mutex_t mtx; // what follows
    phase phase;
    bool listed; // `uuid`, in the server's newest list
    pons_errand_goal goal;
    char goal_tree[1024];
    pons_errand told;
    uint8_t uuid[16], ended[16]; // `ended`: of a goal that was given up before its answer
    uint8_t due[DUE][16];        // to be canceled
    int n_due;
    int64_t since_ns; // host time of the phase
    int64_t lost_ns;  // since when the server is gone; 0: it is there
    int64_t send_seq, result_seq, ended_seq;
};

static bool server_there(const ros2_errand *e);
static void send(ros2_errand *e);
static void ask_result(ros2_errand *e);
static void cancel(ros2_errand *e, const uint8_t uuid[16]);
static void take_answers(ros2_errand *e);
static void take_results(ros2_errand *e);
static void take_feedback(ros2_errand *e);
static void take_status(ros2_errand *e);
static void drop_cancels(ros2_errand *e);
static void over(ros2_errand *e, pons_errand_state s, int code, const char *text);

int ros2_errand_open(ros2_node *n, const ros2_config *c, ros2_errand **ret, pons_error *err)
{
    const ros2_qos sure = {.reliable = true, .depth = 10},
                   kept = {.reliable = true, .transient = true, .depth = 1};
    char name[3][ROS2_NAME_MAX + 32], topic[2][ROS2_NAME_MAX + 32];
    static const char *const services[] = {"send_goal", "get_result", "cancel_goal"};
    ros2_errand *e = calloc(1, sizeof *e);
    if (!e) {
        return pons_error_set(err, PONS_ENOMEM, "ros2", "no memory for a client of Nav2");
    }
    for (int i = 0; i < 3; i++) {
        snprintf(name[i], sizeof name[i], "%s/_action/%s", c->action, services[i]);
    }
    snprintf(topic[0], sizeof topic[0], "%s/_action/feedback", c->action);
    snprintf(topic[1], sizeof topic[1], "%s/_action/status", c->action);
    e->c = c;
    e->n = n;
    pthread_mutex_init(&e->mtx, NULL);
#define NAV(what) nav2_msgs_action_dds__NavigateToPose_##what##__desc
    e->send_w = ros2_node_writer(n, "rqRequest", name[0], NULL, &NAV(SendGoal_Request), sure, err);
    e->send_r = ros2_node_reader(n, "rrReply", name[0], NULL, &NAV(SendGoal_Response), sure, err);
    e->result_w =
        ros2_node_writer(n, "rqRequest", name[1], NULL, &NAV(GetResult_Request), sure, err);
    e->result_r = ros2_node_reader(
        n, "rrReply", name[1], "nav2_msgs::action::dds_::NavigateToPose_GetResult_Response_",
        c->jazzy ? &NAV(GetResult_Response) : &humble_NavigateToPose_GetResult_Response__desc, sure,
        err);
    e->cancel_w = ros2_node_writer(n, "rqRequest", name[2], NULL,
                                   &action_msgs_srv_dds__CancelGoal_Request__desc, sure, err);
    e->cancel_r = ros2_node_reader(n, "rrReply", name[2], NULL,
                                   &action_msgs_srv_dds__CancelGoal_Response__desc, sure, err);
    e->feedback_r = ros2_node_reader(n, "rt", topic[0], NULL, &NAV(FeedbackMessage), sure, err);
    e->status_r = ros2_node_reader(n, "rt", topic[1], NULL,
                                   &action_msgs_msg_dds__GoalStatusArray__desc, kept, err);
#undef NAV
    if (!e->send_w || !e->send_r || !e->result_w || !e->result_r || !e->cancel_w || !e->cancel_r ||
        !e->feedback_r || !e->status_r) {
        ros2_errand_close(e);
        return PONS_EENV;
    }
    *ret = e;
    return PONS_OK;
}

void ros2_errand_close(ros2_errand *e)
{
    if (e) {
        pthread_mutex_destroy(&e->mtx);
        free(e); // its endpoints end with the participant
    }
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

// With the lock. What was sent and has no answer yet is remembered.
static void give_up(ros2_errand *e)
{
    if (e->phase == SENT) {
        memcpy(e->ended, e->uuid, sizeof e->ended);
        e->ended_seq = e->send_seq;
    }
    if ((e->phase == SENT || e->phase == RUNS) && e->n_due < DUE) {
        memcpy(e->due[e->n_due++], e->uuid, sizeof e->uuid);
    }
    e->phase = IDLE;
}

void ros2_errand_begin(ros2_errand *e, const pons_errand_goal *goal)
{
    pthread_mutex_lock(&e->mtx);
    give_up(e);
    e->goal = *goal;
    snprintf(e->goal_tree, sizeof e->goal_tree, "%s", goal->behavior_tree);
    uuid_of(goal->goal_id, e->uuid);
    e->told =
        (pons_errand){.state = PONS_ERRAND_RUNS, .distance_m = NAN, .eta_s = NAN, .time_s = NAN};
    e->phase = BEGUN;
    e->listed = false;
    e->since_ns = e->lost_ns = 0;
    pthread_mutex_unlock(&e->mtx);
}

void ros2_errand_look(ros2_errand *e, pons_errand *ret)
{
    pthread_mutex_lock(&e->mtx);
    *ret = e->told;
    ret->want = (pons_twist2){0};
    pthread_mutex_unlock(&e->mtx);
}

void ros2_errand_end(ros2_errand *e)
{
    pthread_mutex_lock(&e->mtx);
    give_up(e);
    pthread_mutex_unlock(&e->mtx);
}

// ---- the reader thread --------------------------------------------------------------------------

void ros2_errand_poll(ros2_errand *e, int64_t host_ns)
{
    const bool there = server_there(e);
    const int64_t patience_ns = (int64_t)(e->c->server_s * (double)PONS_NS_PER_S);
    pthread_mutex_lock(&e->mtx);
    while (e->n_due > 0) { // a write may wait, so not on the loop
        cancel(e, e->due[--e->n_due]);
    }
    take_answers(e);
    take_status(e);
    drop_cancels(e);
    take_feedback(e);
    take_results(e);
    if (e->since_ns == 0) {
        e->since_ns = host_ns;
    }
    if (e->phase == BEGUN && there) {
        send(e);
        e->since_ns = host_ns;
    } else if (e->phase == BEGUN && host_ns - e->since_ns > patience_ns) {
        char why[PONS_OUTSIDE_TEXT_MAX], text[PONS_OUTSIDE_TEXT_MAX];
        ros2_node_why(e->n, ros2_node_matched(e->send_r) ? e->send_w : e->send_r, why, sizeof why);
        snprintf(text, sizeof text, "UNKNOWN: Nav2 does not serve it: %.120s", why);
        over(e, PONS_ERRAND_FAILED, NAVIGATE_UNKNOWN, text);
    } else if (e->phase == SENT && host_ns - e->since_ns > ANSWER_NS) {
        if (e->listed) { // the answer was lost, the goal was not
            e->phase = RUNS;
            ask_result(e);
        } else {
            cancel(e, e->uuid);
            over(e, PONS_ERRAND_UNKNOWN, 0, "Nav2 did not answer the goal");
        }
    } else if (e->phase == RUNS && !there) {
        e->lost_ns = e->lost_ns ? e->lost_ns : host_ns;
        if (host_ns - e->lost_ns > patience_ns) {
            over(e, PONS_ERRAND_UNKNOWN, 0, "Nav2's server is gone");
        }
    } else if (e->phase == RUNS && e->lost_ns) {
        e->lost_ns = 0;
        ask_result(e);
    }
    pthread_mutex_unlock(&e->mtx);
}

static bool server_there(const ros2_errand *e)
{
    return ros2_node_matched(e->send_w) && ros2_node_matched(e->send_r) &&
           ros2_node_matched(e->result_w) && ros2_node_matched(e->result_r) &&
           ros2_node_matched(e->cancel_w) && ros2_node_matched(e->feedback_r) &&
           ros2_node_matched(e->status_r);
}

static uint64_t guid(dds_entity_t writer)
{
    dds_instance_handle_t h = 0;
    dds_get_instance_handle(writer, &h);
    return h;
}

static void send(ros2_errand *e)
{
    const pons_pose2 at = e->goal.poses[e->goal.n > 0 ? e->goal.n - 1 : 0];
    send_request r = {.guid_ = guid(e->send_w), .seq_ = e->send_seq = ++e->seq};
    memcpy(r.goal_id.uuid, e->uuid, sizeof e->uuid);
    r.goal.pose.header.frame_id = (char *)e->c->map; // stamp 0: the newest
    r.goal.pose.pose.position.x = at.x;
    r.goal.pose.pose.position.y = at.y;
    r.goal.pose.pose.orientation.z = sin(0.5 * at.yaw);
    r.goal.pose.pose.orientation.w = cos(0.5 * at.yaw);
    r.goal.behavior_tree = e->goal_tree;
    e->phase = SENT;
    if (dds_write(e->send_w, &r) < 0) {
        cancel(e, e->uuid);
        over(e, PONS_ERRAND_UNKNOWN, 0, "the goal could not be written whole");
    }
}

static void ask_result(ros2_errand *e)
{
    result_request r = {.guid_ = guid(e->result_w), .seq_ = e->result_seq = ++e->seq};
    memcpy(r.goal_id.uuid, e->uuid, sizeof e->uuid);
    dds_write(e->result_w, &r);
}

static void cancel(ros2_errand *e, const uint8_t uuid[16])
{
    cancel_request r = {.guid_ = guid(e->cancel_w), .seq_ = ++e->seq};
    memcpy(r.goal_info.goal_id.uuid, uuid, 16);
    dds_write(e->cancel_w, &r);
}

static void over(ros2_errand *e, pons_errand_state s, int code, const char *text)
{
    e->phase = OVER;
    e->told.state = s;
    e->told.error_code = code;
    snprintf(e->told.text, sizeof e->told.text, "%s", text);
}

static void take_answers(ros2_errand *e)
{
    const uint64_t mine = guid(e->send_w);
    ROS2_TAKE(e->send_r, send_response, a)
    {
        if (a->guid_ != mine) {
            continue; // another client's
        }
        if (a->seq_ == e->ended_seq && a->accepted) {
            cancel(e, e->ended);
        } else if (e->phase == SENT && a->seq_ == e->send_seq) {
            if (a->accepted) {
                e->phase = RUNS;
                e->lost_ns = 0;
                ask_result(e);
            } else {
                over(e, PONS_ERRAND_FAILED, NAVIGATE_UNKNOWN,
                     "UNKNOWN: Nav2 did not take the goal");
            }
        }
    }
}

static void end_as(ros2_errand *e, int status, int code, const char *msg)
{
    char text[PONS_OUTSIDE_TEXT_MAX];
    if (status == SUCCEEDED) {
        over(e, PONS_ERRAND_DONE, 0, "");
    } else if (status == CANCELED) {
        over(e, PONS_ERRAND_FAILED, NAVIGATE_UNKNOWN, "UNKNOWN: somebody else canceled it in Nav2");
    } else if (status == ABORTED) {
        snprintf(text, sizeof text, "Nav2 gave up: %.120s",
                 msg && *msg   ? msg
                 : e->c->jazzy ? "it gives no reason"
                               : "Humble gives no reason");
        over(e, PONS_ERRAND_FAILED, code > 0 ? code : NAVIGATE_UNKNOWN, text);
    } else {
        over(e, PONS_ERRAND_UNKNOWN, 0, "Nav2 has forgotten the goal");
    }
}

static void take_results(ros2_errand *e)
{
    const uint64_t mine = guid(e->result_w);
    if (e->c->jazzy) {
        ROS2_TAKE(e->result_r, result_response, r)
        {
            if (r->guid_ == mine && r->seq_ == e->result_seq && e->phase == RUNS) {
                end_as(e, r->status, r->result.error_code, r->result.error_msg);
            }
        }
    } else {
        ROS2_TAKE(e->result_r, humble_response, r)
        {
            if (r->guid_ == mine && r->seq_ == e->result_seq && e->phase == RUNS) {
                end_as(e, r->status, 0, NULL);
            }
        }
    }
}

static double seconds(const builtin_interfaces_msg_dds__Duration_ *d)
{
    return (double)d->sec + 1e-9 * (double)d->nanosec;
}

static void take_feedback(ros2_errand *e)
{
    ROS2_TAKE(e->feedback_r, feedback_message, f)
    {
        if (memcmp(f->goal_id.uuid, e->uuid, 16) == 0 && isfinite(f->feedback.distance_remaining)) {
            e->told.distance_m = (double)f->feedback.distance_remaining;
            e->told.eta_s = seconds(&f->feedback.estimated_time_remaining);
            e->told.time_s = seconds(&f->feedback.navigation_time);
            e->told.recoveries = f->feedback.number_of_recoveries;
        }
    }
}

// Whether the server's newest list has it.
static void take_status(ros2_errand *e)
{
    ROS2_TAKE(e->status_r, action_msgs_msg_dds__GoalStatusArray_, s)
    {
        e->listed = false;
        for (uint32_t i = 0; i < s->status_list._length; i++) {
            e->listed = e->listed ||
                        memcmp(s->status_list._buffer[i].goal_info.goal_id.uuid, e->uuid, 16) == 0;
        }
    }
}

// Nobody waits for these, but what is not taken wakes the waitset again and again.
static void drop_cancels(ros2_errand *e)
{
    ROS2_TAKE(e->cancel_r, action_msgs_srv_dds__CancelGoal_Response_, c)
    {
        (void)c;
    }
}
