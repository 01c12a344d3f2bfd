// service_client.c - calls of a service.
//
//     begun --server there--> sent --its answer--> over
//       |                      |
//       | server_s: no server  | answer_s, or the server gone for server_s: unknown
//       v (nothing was sent)   v
//
// A request is written once and never again: a call has no name that its server would know it by, so a second one
// would be a second call. What a lost answer leaves open is `unknown`; and there is no cancel: a call that was sent and
// is no longer wanted ends as its answer says, for which LEFT_NS are left.
//
// The lock is never held over a write of DDS, which may wait: what is to be written is taken out of the call first.
#include "drivers/dds/service_client.h"

#include "drivers/dds/rpc.h"
#include "pons/clock.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MODULE  "ros2"
#define LEFT_NS (5 * PONS_NS_PER_S)

typedef enum phase { FREE, BEGUN, SENT, OVER } phase;

typedef struct call {
    phase phase;
    char id[256];
    void *mem; // BEGUN: the request
    int64_t since_ns,
        lost_ns; // host times: of the phase, 0: not looked at yet; since the server is gone
    bool ending, reported_end; // SENT: nobody wants it any more; OVER: and somebody has looked
    int64_t end_ns;            // ending: host time since when; 0: not looked at yet
    int64_t seq;
    ros2_progress reported;
} call;

struct ros2_service {
    ros2_node *n;
    int64_t patience_ns, answer_ns;
    const ros2_shape *request, *asks, *answers;
    ros2_rpc rpc;
    int64_t seq; // reader thread

    pthread_mutex_t mtx; // what follows
    call calls[ROS2_GOALS_MAX];
};

int ros2_service_open(ros2_node *n, ros2_types *t, const char *name, const char *type,
                      double server_s, double answer_s, ros2_service **ret, pons_error *err)
{
    ros2_service *s = calloc(1, sizeof *s);
    if (!s) {
        return pons_error_set(err, PONS_ENOMEM, MODULE, "no memory for a service's client");
    }
    s->n = n;
    s->patience_ns = (int64_t)(server_s * (double)PONS_NS_PER_S);
    s->answer_ns = (int64_t)(answer_s * (double)PONS_NS_PER_S);
    pthread_mutex_init(&s->mtx, NULL);
    char part[ROS2_TYPE_MAX + 16];
    snprintf(part, sizeof part, "%s_Request", type);
    int rc = ros2_types_get(t, part, &s->request, err);
    snprintf(part, sizeof part, "%s_Asked", type);
    rc = rc < 0 ? rc : ros2_types_get(t, part, &s->asks, err);
    snprintf(part, sizeof part, "%s_Answered", type);
    rc = rc < 0 ? rc : ros2_types_get(t, part, &s->answers, err);
    const dds_topic_descriptor_t *asks = rc < 0 ? NULL : ros2_types_topic(t, s->asks, err),
                                 *answers = asks ? ros2_types_topic(t, s->answers, err) : NULL;
    rc = rc < 0 ? rc : ros2_rpc_open(&s->rpc, n, false, name, asks, answers, NULL, err);
    if (rc < 0) {
        ros2_service_close(s);
        return rc;
    }
    *ret = s;
    return PONS_OK;
}

static void forget(ros2_service *s, call *k)
{
    if (k->mem) {
        ros2_value_fini(s->asks, k->mem);
        free(k->mem);
    }
    pons_value_unref(k->reported.result);
    *k = (call){.phase = FREE};
}

void ros2_service_close(ros2_service *s)
{
    if (!s) {
        return;
    }
    for (int i = 0; i < ROS2_GOALS_MAX; i++) {
        forget(s, &s->calls[i]);
    }
    ros2_rpc_close(&s->rpc);
    pthread_mutex_destroy(&s->mtx);
    free(s);
}

const ros2_shape *ros2_service_request(const ros2_service *s)
{
    return s->request;
}

// ---- the reader thread --------------------------------------------------------------------------

static void over(call *k, ros2_end end, const char *text)
{
    k->phase = OVER;
    k->reported.end = end;
    snprintf(k->reported.text, sizeof k->reported.text, "%.*s", (int)sizeof k->reported.text - 1,
             text);
}

// Only answers to what this client asked: others' are on the same topic.
static void take_answers(ros2_service *s)
{
    struct {
        uint64_t guid;
        int64_t seq;
    } head;
    ROS2_RPC_TAKE(&s->rpc, void, answer)
    {
        memcpy(&head, answer, sizeof head);
        for (int i = 0; i < ROS2_GOALS_MAX && head.guid == ros2_rpc_guid(&s->rpc); i++) {
            call *k = &s->calls[i];
            if (k->phase == SENT && k->seq == head.seq) {
                pons_autovalue whole = ros2_value_to(s->answers, answer);
                k->reported.result = pons_value_ref(pons_get(whole, "response"));
                over(k, ROS2_END_SUCCEEDED, "");
            }
        }
    }
}

static void move_on(ros2_service *s, call *k, bool there, int64_t host_ns)
{
    if (k->phase == FREE || k->phase == OVER) {
        return;
    }
    k->since_ns = k->since_ns ? k->since_ns : host_ns;
    k->end_ns = k->ending && !k->end_ns ? host_ns : k->end_ns;
    k->lost_ns = there ? 0 : k->lost_ns ? k->lost_ns : host_ns;
    if (k->phase == BEGUN && !there &&
        (host_ns - k->since_ns > s->patience_ns || ros2_rpc_foreign(&s->rpc))) {
        char why[PONS_OUTSIDE_TEXT_MAX];
        ros2_rpc_why(&s->rpc, why, sizeof why);
        over(k, ROS2_END_NO_SERVER, why);
    } else if (k->phase == SENT && (host_ns - k->since_ns > s->answer_ns ||
                                    (k->ending && host_ns - k->end_ns > LEFT_NS))) {
        over(k, ROS2_END_UNKNOWN, "did not answer");
    } else if (k->phase == SENT && !there && host_ns - k->lost_ns > s->patience_ns) {
        over(k, ROS2_END_UNKNOWN, "'s server is gone");
    }
}

// False: there was none to send.
static bool send_one(ros2_service *s, int64_t host_ns)
{
    struct {
        uint64_t guid;
        int64_t seq;
    } head = {.guid = ros2_rpc_guid(&s->rpc)};
    void *mem = NULL;
    pthread_mutex_lock(&s->mtx);
    for (int i = 0; i < ROS2_GOALS_MAX && !mem; i++) {
        call *k = &s->calls[i];
        if (k->phase == BEGUN) {
            mem = k->mem;
            k->mem = NULL;
            k->phase = SENT;
            k->since_ns = host_ns;
            k->seq = head.seq = ++s->seq;
        }
    }
    pthread_mutex_unlock(&s->mtx);
    if (!mem) {
        return false;
    }
    memcpy(mem, &head, sizeof head);
    const bool good = ros2_rpc_write(&s->rpc, mem);
    ros2_value_fini(s->asks, mem);
    free(mem);
    pthread_mutex_lock(&s->mtx);
    for (int i = 0; i < ROS2_GOALS_MAX && !good; i++) {
        call *k = &s->calls[i];
        if (k->phase == SENT && k->seq == head.seq) {
            over(k, ROS2_END_UNKNOWN, "may have the call, which could not be written whole");
        }
    }
    pthread_mutex_unlock(&s->mtx);
    return true;
}

bool ros2_service_comes(ros2_service *s)
{
    return ros2_rpc_comes(&s->rpc);
}

void ros2_service_poll(ros2_service *s, int64_t host_ns)
{
    ros2_rpc_meet(&s->rpc);
    const bool there = ros2_rpc_there(&s->rpc);
    pthread_mutex_lock(&s->mtx);
    take_answers(s);
    for (int i = 0; i < ROS2_GOALS_MAX; i++) {
        move_on(s, &s->calls[i], there, host_ns);
    }
    pthread_mutex_unlock(&s->mtx);
    while (there && send_one(s, host_ns)) {
    }
}

// ---- any thread ---------------------------------------------------------------------------------

static call *find(ros2_service *s, const char *id)
{
    for (int i = 0; i < ROS2_GOALS_MAX; i++) {
        if (s->calls[i].phase != FREE && strcmp(s->calls[i].id, id) == 0) {
            return &s->calls[i];
        }
    }
    return NULL;
}

static call *place(ros2_service *s)
{
    for (int i = 0; i < ROS2_GOALS_MAX; i++) {
        if (s->calls[i].phase == FREE) {
            return &s->calls[i];
        }
    }
    return NULL;
}

void ros2_service_begin(ros2_service *s, const char *id, const pons_value *request,
                        const char *map_frame)
{
    pons_error err = PONS_ERROR_INIT;
    pons_autovalue whole = pons_object("request", json_incref((json_t *)request), NULL);
    void *mem = calloc(1, s->asks->size);
    if (!mem || ros2_value_from(s->asks, whole, map_frame, mem, &err) < 0) {
        free(mem);
        mem = NULL;
    }
    pthread_mutex_lock(&s->mtx);
    call *k = find(s, id) ? NULL : place(s);
    if (k) {
        *k = (call){.phase = BEGUN, .mem = mem};
        snprintf(k->id, sizeof k->id, "%s", id);
        if (!mem) {
            over(k, ROS2_END_BAD_GOAL, err.message);
        }
        mem = NULL;
    }
    pthread_mutex_unlock(&s->mtx);
    if (mem) {
        ros2_value_fini(s->asks, mem);
        free(mem);
    }
}

bool ros2_service_look(ros2_service *s, const char *id, ros2_progress *ret)
{
    pthread_mutex_lock(&s->mtx);
    call *k = find(s, id);
    if (k) {
        k->reported_end = k->phase == OVER;
        *ret = k->reported;
        pons_value_ref(ret->result);
    }
    pthread_mutex_unlock(&s->mtx);
    return k != NULL;
}

bool ros2_service_knows(ros2_service *s, const char *id)
{
    pthread_mutex_lock(&s->mtx);
    const bool knows = find(s, id) != NULL;
    pthread_mutex_unlock(&s->mtx);
    return knows;
}

void ros2_service_end(ros2_service *s, const char *id)
{
    pthread_mutex_lock(&s->mtx);
    call *k = find(s, id);
    if (k) {
        forget(s, k);
    }
    pthread_mutex_unlock(&s->mtx);
}

void ros2_service_leave(ros2_service *s, const char *id)
{
    pthread_mutex_lock(&s->mtx);
    call *k = find(s, id);
    if (k && (k->phase == BEGUN || k->reported_end)) {
        forget(s, k);
    } else if (k) {
        k->ending = true;
    }
    pthread_mutex_unlock(&s->mtx);
}
