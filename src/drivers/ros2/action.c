// action.c - goals at a server of an action.
//
//     begun --server there--> sent --accepted--> runs --result--> over
//       |                      |                  |  ^
//       | server_s: no server  | ANSWER_NS:       |  | server back: the result is asked for again
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
// the two requests are on different topics, and may overtake each other. So a goal that was given up is kept
// in mind, as `ended`, until its answer has come.
//
// Threads: the loop hands goals over and looks, the reader does the rest. The lock is never held over a write
// of DDS, which may wait: what is to be written is taken out of the goals first.
#include "drivers/ros2/action.h"

#include "pons/clock.h"
#include "pons/rand.h"
#include "ros2.h"

#include <ctype.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MODULE    "ros2"
#define ANSWER_NS (5 * PONS_NS_PER_S) // within which a server answers

enum { SUCCEEDED = 4, CANCELED = 5, ABORTED = 6 }; // action_msgs/msg/GoalStatus
enum { SEND, RESULT, CANCEL, SERVICES };
enum { DUE = 4 * ROS2_GOALS_MAX };

typedef action_msgs_srv_dds__CancelGoal_Request_ cancel_request;

typedef enum phase { FREE, BEGUN, SENT, RUNS, OVER } phase;

typedef struct goal {
    phase phase;
    bool unwanted; // SENT, and given up before its answer
    bool listed;   // in the server's newest list
    char id[256];
    uint8_t uuid[16];
    void *mem;        // BEGUN: the request
    int64_t since_ns; // host time of the phase; 0: not looked at yet
    int64_t lost_ns;  // since when the server is gone; 0: it is there
    int64_t seq[2];   // of SEND, RESULT
    ros2_progress told;
} goal;

typedef struct due { // what is to be written
    int service;
    uint8_t uuid[16];
    int64_t seq;
    void *mem; // SEND
} due;

struct ros2_action {
    ros2_node *n;
    char name[ROS2_NAME_MAX];
    int64_t patience_ns;
    const ros2_shape *asks[SERVICES], *answers[SERVICES], *feedback,
        *goal; // CANCEL: idlc's, no shape
    dds_entity_t w[SERVICES], r[SERVICES], feedback_r, status_r;
    int64_t seq; // reader thread

    pthread_mutex_t mtx; // what follows
    goal goals[ROS2_GOALS_MAX];
    due due[DUE];
    int n_due;
};

static bool server_there(const ros2_action *a);
static void move_on(ros2_action *a, goal *g, bool there, bool held, int64_t host_ns);
static void over(goal *g, ros2_end end, const char *text);
static void owe(ros2_action *a, int service, goal *g);
static void take_answers(ros2_action *a, int64_t host_ns);
static void take_results(ros2_action *a);
static void take_feedback(ros2_action *a);
static void take_status(ros2_action *a);
static void drop_cancels(ros2_action *a);
static void write_due(ros2_action *a);

int ros2_action_open(ros2_node *n, ros2_types *t, const char *name, const char *type,
                     double server_s, ros2_action **ret, pons_error *err)
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
    pthread_mutex_init(&a->mtx, NULL);
    int rc = PONS_OK;
    for (int i = 0; i < SERVICES && rc >= 0; i++) {
        char topic[ROS2_NAME_MAX + 32], part[ROS2_TYPE_MAX + 32];
        const dds_topic_descriptor_t *asks = &action_msgs_srv_dds__CancelGoal_Request__desc,
                                     *answers = &action_msgs_srv_dds__CancelGoal_Response__desc;
        snprintf(topic, sizeof topic, "%s/_action/%s", name, services[i]);
        if (i != CANCEL) {
            snprintf(part, sizeof part, "%s_%s_Request", type, suffixes[i]);
            rc = ros2_types_get(t, part, &a->asks[i], err);
            snprintf(part, sizeof part, "%s_%s_Response", type, suffixes[i]);
            rc = rc < 0 ? rc : ros2_types_get(t, part, &a->answers[i], err);
            asks = rc < 0 ? NULL : ros2_types_topic(t, a->asks[i], err);
            answers = asks ? ros2_types_topic(t, a->answers[i], err) : NULL;
        }
        a->w[i] = answers ? ros2_node_writer(n, "rqRequest", topic, NULL, asks, sure, err) : 0;
        a->r[i] = a->w[i] ? ros2_node_reader(n, "rrReply", topic, NULL, answers, sure, err) : 0;
        rc = rc >= 0 && !a->r[i] ? PONS_EENV : rc;
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

static void forget(ros2_action *a, goal *g)
{
    if (g->mem) {
        ros2_value_fini(a->asks[SEND], g->mem);
        free(g->mem);
    }
    pons_value_unref(g->told.feedback);
    pons_value_unref(g->told.result);
    *g = (goal){.phase = FREE};
}

void ros2_action_close(ros2_action *a)
{
    if (!a) {
        return;
    }
    for (int i = 0; i < ROS2_GOALS_MAX; i++) {
        forget(a, &a->goals[i]);
    }
    for (int i = 0; i < a->n_due; i++) {
        if (a->due[i].mem) {
            ros2_value_fini(a->asks[SEND], a->due[i].mem);
            free(a->due[i].mem);
        }
    }
    pthread_mutex_destroy(&a->mtx);
    free(a);
}

const ros2_shape *ros2_action_goal(const ros2_action *a)
{
    return a->goal;
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

static goal *find(ros2_action *a, const char *id)
{
    for (int i = 0; i < ROS2_GOALS_MAX; i++) {
        goal *g = &a->goals[i];
        if (g->phase != FREE && !g->unwanted && strcmp(g->id, id) == 0) {
            return g;
        }
    }
    return NULL;
}

static goal *place(ros2_action *a)
{
    for (int i = 0; i < ROS2_GOALS_MAX; i++) {
        if (a->goals[i].phase == FREE) {
            return &a->goals[i];
        }
    }
    for (int i = 0; i < ROS2_GOALS_MAX; i++) { // whose answer may never come
        if (a->goals[i].unwanted) {
            forget(a, &a->goals[i]);
            return &a->goals[i];
        }
    }
    return NULL;
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
    void *mem = calloc(1, a->asks[SEND]->size);
    if (!mem || ros2_value_from(a->asks[SEND], whole, map_frame, mem, err) < 0) {
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
    goal *g = find(a, goal_id) ? NULL : place(a);
    if (g) {
        *g = (goal){.phase = BEGUN, .mem = mem};
        snprintf(g->id, sizeof g->id, "%s", goal_id);
        memcpy(g->uuid, uuid, sizeof uuid);
        mem = NULL;
        if (!g->mem) {
            over(g, ROS2_END_BAD_GOAL, err.message);
        }
    }
    pthread_mutex_unlock(&a->mtx);
    if (mem) {
        ros2_value_fini(a->asks[SEND], mem);
        free(mem);
    }
}

bool ros2_action_look(ros2_action *a, const char *goal_id, ros2_progress *ret)
{
    pthread_mutex_lock(&a->mtx);
    const goal *g = find(a, goal_id);
    if (g) {
        *ret = g->told;
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
        const goal *g = &a->goals[i];
        busy = busy || (g->phase != FREE && g->phase != OVER && !g->unwanted);
    }
    pthread_mutex_unlock(&a->mtx);
    return busy;
}

void ros2_action_end(ros2_action *a, const char *goal_id)
{
    pthread_mutex_lock(&a->mtx);
    goal *g = find(a, goal_id);
    if (g && (g->phase == SENT || g->phase == RUNS)) {
        owe(a, CANCEL, g);
    }
    if (g && g->phase == SENT) {
        g->unwanted = true;
    } else if (g) {
        forget(a, g);
    }
    pthread_mutex_unlock(&a->mtx);
}

// ---- the reader thread --------------------------------------------------------------------------

void ros2_action_poll(ros2_action *a, bool held, int64_t host_ns)
{
    const bool there = server_there(a);
    pthread_mutex_lock(&a->mtx);
    take_answers(a, host_ns);
    take_status(a);
    take_feedback(a);
    take_results(a);
    drop_cancels(a);
    for (int i = 0; i < ROS2_GOALS_MAX; i++) {
        move_on(a, &a->goals[i], there, held, host_ns);
    }
    pthread_mutex_unlock(&a->mtx);
    write_due(a);
}

static void move_on(ros2_action *a, goal *g, bool there, bool held, int64_t host_ns)
{
    if (g->phase == FREE || g->phase == OVER) {
        return;
    }
    if (!g->since_ns || (g->phase == BEGUN && held)) { // who holds it says how long
        g->since_ns = host_ns;
    }
    const int64_t for_ns = host_ns - g->since_ns;
    if (g->phase == BEGUN && there && !held) {
        owe(a, SEND, g);
        g->phase = SENT;
        g->since_ns = host_ns;
    } else if (g->phase == BEGUN && for_ns > a->patience_ns) {
        char why[PONS_OUTSIDE_TEXT_MAX];
        ros2_node_why(a->n, ros2_node_matched(a->r[SEND]) ? a->w[SEND] : a->r[SEND], why,
                      sizeof why);
        over(g, ROS2_END_NO_SERVER, why);
    } else if (g->phase == SENT && for_ns > ANSWER_NS) {
        if (g->unwanted) {
            forget(a, g);
        } else if (g->listed) { // the answer was lost, the goal was not
            g->phase = RUNS;
            owe(a, RESULT, g);
        } else {
            owe(a, CANCEL, g);
            over(g, ROS2_END_UNKNOWN, "did not answer the goal");
        }
    } else if (g->phase == RUNS && !there) {
        g->lost_ns = g->lost_ns ? g->lost_ns : host_ns;
        if (host_ns - g->lost_ns > a->patience_ns) {
            over(g, ROS2_END_UNKNOWN, "'s server is gone");
        }
    } else if (g->phase == RUNS && g->lost_ns) {
        g->lost_ns = 0;
        owe(a, RESULT, g);
    }
}

static bool server_there(const ros2_action *a)
{
    return ros2_node_matched(a->w[SEND]) && ros2_node_matched(a->r[SEND]) &&
           ros2_node_matched(a->w[RESULT]) && ros2_node_matched(a->r[RESULT]) &&
           ros2_node_matched(a->w[CANCEL]) && ros2_node_matched(a->feedback_r) &&
           ros2_node_matched(a->status_r);
}

static void over(goal *g, ros2_end end, const char *text)
{
    g->phase = OVER;
    g->told.end = end;
    snprintf(g->told.text, sizeof g->told.text, "%.*s", (int)sizeof g->told.text - 1, text);
}

// With the lock. A cancel that finds no place is one of many for goals that nobody wants: the first ones count.
static void owe(ros2_action *a, int service, goal *g)
{
    if (a->n_due == DUE) {
        return;
    }
    due *d = &a->due[a->n_due++];
    *d = (due){.service = service, .seq = ++a->seq, .mem = service == SEND ? g->mem : NULL};
    memcpy(d->uuid, g->uuid, sizeof d->uuid);
    if (service == SEND) {
        g->mem = NULL;
    }
    if (service != CANCEL) {
        g->seq[service] = d->seq;
    }
}

// Every request begins with who asks and the how manieth it is; then the goal.
typedef struct request_head {
    uint64_t guid;
    int64_t seq;
    uint8_t uuid[16];
} request_head;

static bool written(ros2_action *a, const due *d)
{
    const request_head head = {.guid = ros2_node_guid(a->w[d->service]), .seq = d->seq};
    if (d->service == CANCEL) {
        cancel_request r = {.guid_ = head.guid, .seq_ = head.seq};
        memcpy(r.goal_info.goal_id.uuid, d->uuid, sizeof d->uuid);
        return dds_write(a->w[CANCEL], &r) >= 0;
    }
    request_head r = head;
    memcpy(r.uuid, d->uuid, sizeof d->uuid);
    memcpy(d->mem ? d->mem : &r, &r, sizeof r);
    return dds_write(a->w[d->service], d->mem ? d->mem : &r) >= 0;
}

static void write_due(ros2_action *a)
{
    due all[DUE];
    pthread_mutex_lock(&a->mtx);
    const int n = a->n_due;
    memcpy(all, a->due, sizeof all);
    a->n_due = 0;
    pthread_mutex_unlock(&a->mtx);
    for (int i = 0; i < n; i++) {
        const bool good = written(a, &all[i]);
        if (all[i].mem) {
            ros2_value_fini(a->asks[SEND], all[i].mem);
            free(all[i].mem);
        }
        if (good || all[i].service != SEND) {
            continue;
        }
        pthread_mutex_lock(&a->mtx);
        for (int k = 0; k < ROS2_GOALS_MAX; k++) {
            goal *g = &a->goals[k];
            if (g->phase == SENT && g->seq[SEND] == all[i].seq) {
                owe(a, CANCEL, g);
                over(g, ROS2_END_UNKNOWN, "may have the goal, which could not be written whole");
            }
        }
        pthread_mutex_unlock(&a->mtx);
    }
}

// ---- what comes ---------------------------------------------------------------------------------

typedef struct answer_head {
    uint64_t guid;
    int64_t seq;
} answer_head;

// The goal that an answer is for; NULL: another client's, or nobody's any more.
static goal *asked(ros2_action *a, int service, const void *answer)
{
    answer_head head;
    memcpy(&head, answer, sizeof head);
    for (int i = 0; i < ROS2_GOALS_MAX && head.guid == ros2_node_guid(a->w[service]); i++) {
        goal *g = &a->goals[i];
        if (g->phase != FREE && g->seq[service] == head.seq) {
            return g;
        }
    }
    return NULL;
}

static void take_answers(ros2_action *a, int64_t host_ns)
{
    ROS2_TAKE(a->r[SEND], void, answer)
    {
        goal *g = asked(a, SEND, answer);
        const bool *accepted = ros2_value_at(a->answers[SEND], answer, "accepted", ROS2_BOOL);
        if (!g || g->phase != SENT) {
            continue;
        }
        if (g->unwanted) {
            if (*accepted) {
                owe(a, CANCEL, g);
            }
            forget(a, g);
        } else if (*accepted) {
            g->phase = RUNS;
            g->since_ns = host_ns;
            owe(a, RESULT, g);
        } else {
            over(g, ROS2_END_REFUSED, "did not take the goal");
        }
    }
}

// Nobody waits for these, but what is not taken wakes the waitset again and again.
static void drop_cancels(ros2_action *a)
{
    ROS2_TAKE(a->r[CANCEL], void, answer)
    {
        (void)answer;
    }
}

static void take_results(ros2_action *a)
{
    const ros2_shape *s = a->answers[RESULT];
    ROS2_TAKE(a->r[RESULT], void, answer)
    {
        goal *g = asked(a, RESULT, answer);
        const int8_t *status = ros2_value_at(s, answer, "status", ROS2_INT8);
        if (!g || g->phase != RUNS) {
            continue;
        }
        if (*status == SUCCEEDED || *status == ABORTED || *status == CANCELED) {
            pons_autovalue whole = ros2_value_to(s, answer);
            g->told.result = pons_value_ref(pons_get(whole, "result"));
            over(g,
                 *status == SUCCEEDED ? ROS2_END_SUCCEEDED
                 : *status == ABORTED ? ROS2_END_ABORTED
                                      : ROS2_END_CANCELED,
                 "");
        } else {
            over(g, ROS2_END_UNKNOWN, "has forgotten the goal");
        }
    }
}

static void take_feedback(ros2_action *a)
{
    ROS2_TAKE(a->feedback_r, void, f)
    {
        for (int i = 0; i < ROS2_GOALS_MAX; i++) {
            goal *g = &a->goals[i];
            if ((g->phase == RUNS || g->phase == SENT) && memcmp(g->uuid, f, sizeof g->uuid) == 0) {
                pons_autovalue whole = ros2_value_to(a->feedback, f);
                pons_value_unref(g->told.feedback);
                g->told.feedback = pons_value_ref(pons_get(whole, "feedback"));
            }
        }
    }
}

// Which of the goals the server's newest list has.
static void take_status(ros2_action *a)
{
    ROS2_TAKE(a->status_r, action_msgs_msg_dds__GoalStatusArray_, s)
    {
        for (int k = 0; k < ROS2_GOALS_MAX; k++) {
            goal *g = &a->goals[k];
            g->listed = false;
            for (uint32_t i = 0; i < s->status_list._length && !g->listed; i++) {
                g->listed = memcmp(s->status_list._buffer[i].goal_info.goal_id.uuid, g->uuid,
                                   sizeof g->uuid) == 0;
            }
        }
    }
}
