// bridge.c - pons's body as a robot of ROS 2: /scan, /odom, /tf, /map, … published, /cmd_vel and Nav2's
// actions served, without ROS (docs/ros2.md, "pons's body in ROS").
//
//     body <--observer: senses, telemetry ----------- bridge --DDS--> RViz, Nav2, ros2 topic …
//          <--controller, while somebody moves it --/         <----- cmd_vel, goals, initialpose
//
// The bridge is a process of its own and a client of the body's link. So no thread of DDS is in the
// process that has the safety thread; what they hand each other is lines on a socket, which the body's
// loop reads, and every velocity passes the gate as a brain's does. If DDS falls, or somebody makes it
// fall, a controller is lost, and the body holds what it had.
//
// **Who is in control.** The body has one controller. The bridge is it only while a goal of ROS is out or
// /cmd_vel comes; a brain that is in control keeps it, and ROS is told by whom it is refused.
//
// **Time.** Stamps are robot time where the clock is virtual (`use_sim_time`, or a simulation that does not
// run at the wall's speed), and then it is on /clock; else the wall's time at which the robot's clock read so.
//
// One thread: it waits for the links and an eventfd that DDS's listeners write. The heart has its own, and
// beats while the loop's last round is less than a second old, as a brain's does.
//
//     bridge.c endpoints, the loop   body.c the links, control   shown.c what is published
//     drive.c velocities, poses      goals.c, actions.c the actions   graph.c nodes, parameters, rosout
#include "drivers/ros2_bridge/bridge.h"

#include "pons/module.h"

#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define MODULE       "ros2"
#define ROUND_MS     50
#define BEAT_NS      (100 * PONS_NS_PER_MS)
#define STUCK_NS     PONS_NS_PER_S // a loop that has not come round is no sign of life
#define LAST_LOOK_MS 10
#define AGAIN_NS     (2 * PONS_NS_PER_S)
#define MEET_NS      (500 * PONS_NS_PER_MS) // in which both halves of a client are discovered

enum { REQUESTS = 100, LAST_LOOKS = 30 };

static int open_all(bridge *b, pons_error *err);
static void close_all(bridge *b);
static void loop(bridge *b);
static void *beat(void *arg);

static int run(const pons_bridge_options *o, pons_error *err)
{
    bridge *b = calloc(1, sizeof *b);
    if (!b) {
        return pons_error_set(err, PONS_ENOMEM, MODULE, "no memory for a bridge");
    }
    b->o = o;
    b->clock = pons_clock_real();
    b->wake = -1;
    pthread_mutex_init(&b->hand_mtx, NULL);
    pons_rand_seed_os(&b->rand);
    int rc = ros2_config_load(o->workspace, &b->c, err);
    rc = rc < 0 ? rc : open_all(b, err);
    if (rc >= 0) {
        o->ready(o->user);
        loop(b);
    }
    close_all(b);
    return rc;
}

static const pons_bridge_ops ops = {.abi = PONS_BRIDGE_ABI, .name = "ros2", .run = run};
PONS_MODULE_EXPORT("bridge", "ros2", &ops);

// DDS's threads; only this.
static void came(dds_entity_t reader, void *arg)
{
    const uint64_t one = 1;
    (void)reader;
    (void)!write(*(const int *)arg, &one, sizeof one);
}

static int open_all(bridge *b, pons_error *err)
{
    b->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (b->wake < 0) {
        return pons_error_set(err, PONS_EENV, MODULE, "cannot make a descriptor");
    }
    b->listener = dds_create_listener(&b->wake);
    dds_lset_data_available(b->listener, came);
    b->node.hashed = b->c.jazzy;
    int rc = ros2_node_open(&b->node, b->c.domain, err);
    rc = rc < 0 ? rc : bridge_graph_open(b, err);
    rc = rc < 0 ? rc : bridge_shown_open(b, err);
    rc = rc < 0 ? rc : bridge_drive_open(b, err);
    rc = rc < 0 ? rc : bridge_goals_open(b, err);
    rc = rc < 0 ? rc : bridge_graph_tell(b, err);
    if (rc < 0) {
        return rc;
    }
    b->beats = pthread_create(&b->heart, NULL, beat, b) == 0;
    return b->beats ? PONS_OK : pons_error_set(err, PONS_EENV, MODULE, "cannot start a thread");
}

static void close_all(bridge *b)
{
    atomic_store(&b->heart_quit, 1);
    if (b->beats) {
        pthread_join(b->heart, NULL);
    }
    bridge_body_close(b);
    ros2_node_close(&b->other);
    ros2_node_close(&b->node);
    bridge_goals_close(b);
    dds_delete_listener(b->listener);
    if (b->wake >= 0) {
        close(b->wake);
    }
    pthread_mutex_destroy(&b->hand_mtx);
    ros2_config_fini(&b->c);
    free(b);
}

dds_entity_t bridge_reader(bridge *b, ros2_node *n, const char *prefix, const char *name,
                           const char *type, const dds_topic_descriptor_t *desc, ros2_qos qos,
                           pons_error *err)
{
    const dds_entity_t r = ros2_node_reader(n, prefix, name, type, desc, qos, err);
    if (r > 0) {
        dds_set_status_mask(r, DDS_DATA_AVAILABLE_STATUS);
        dds_set_listener(r, b->listener);
    }
    return r;
}

bool bridge_service_open(bridge *b, bridge_service *s, const char *name,
                         const dds_topic_descriptor_t *request,
                         const dds_topic_descriptor_t *response, const char *response_type,
                         pons_error *err)
{
    const ros2_qos all = {.reliable = true, .depth = REQUESTS},
                   sure = {.reliable = true, .depth = 10};
    s->r = bridge_reader(b, &b->node, "rqRequest", name, NULL, request, all, err);
    s->w = s->r > 0
               ? ros2_node_writer(&b->node, "rrReply", name, response_type, response, sure, err)
               : 0;
    return s->w > 0;
}

// A client's request may be here before its reader of replies has been discovered, and a reply that is
// written then is lost. Each client has one of both, so their numbers tell; who has no reader at all is
// not waited for.
bool bridge_service_ready(bridge *b, bridge_service *s)
{
    const dds_return_t ask = dds_get_matched_publications(s->r, NULL, 0),
                       hear = dds_get_matched_subscriptions(s->w, NULL, 0);
    const int missing = ask > hear ? ask - hear : 0;
    if (missing != s->missing) {
        s->missing = missing;
        s->since_host_ns = b->host_ns;
    }
    return missing == 0 || b->host_ns - s->since_host_ns > MEET_NS;
}

static void loop(bridge *b)
{
    while (!*b->o->quit && !b->dead) {
        struct pollfd p[] = {
            {.fd = b->wake, .events = POLLIN},
            {.fd = b->eye ? pons_link_fd(b->eye) : -1, .events = POLLIN},
            {.fd = b->hand.link ? pons_link_fd(b->hand.link) : -1, .events = POLLIN}};
        uint64_t n;
        poll(p, 3, ROUND_MS);
        (void)!read(b->wake, &n, sizeof n);
        b->host_ns = pons_now_ns(&b->clock);
        atomic_store(&b->round_host_ns, b->host_ns);
        bridge_body_poll(b);
        bridge_graph_take(b);
        bridge_drive_take(b);
        bridge_goals_take(b);
        bridge_drive_step(b);
        bridge_goals_step(b);
        bridge_control_step(b);
    }
    // Whoever kills the body ends this too, a moment before its sockets close.
    for (int i = 0; b->o->once && b->eye && !b->dead && i < LAST_LOOKS; i++) {
        struct pollfd p = {.fd = pons_link_fd(b->eye), .events = POLLIN};
        poll(&p, 1, LAST_LOOK_MS);
        bridge_body_poll(b);
    }
    bridge_goals_flush(b);
}

static void *beat(void *arg)
{
    bridge *b = arg;
    const pons_message m = {.type = PONS_MESSAGE_HEARTBEAT};
    while (!atomic_load(&b->heart_quit)) {
        const struct timespec t = {.tv_nsec = BEAT_NS};
        clock_nanosleep(CLOCK_MONOTONIC, 0, &t, NULL);
        if (pons_now_ns(&b->clock) - atomic_load(&b->round_host_ns) > STUCK_NS) {
            continue;
        }
        pthread_mutex_lock(&b->hand_mtx);
        if (b->beating) { // it never blocks
            pons_message_send(b->beating, &m, NULL);
        }
        pthread_mutex_unlock(&b->hand_mtx);
    }
    return NULL;
}

// ---- small --------------------------------------------------------------------------------------

bool bridge_sim_time(const bridge *b)
{
    return b->simulated && (b->c.sim_time || b->speed != 1.0);
}

int64_t bridge_ros_ns(const bridge *b)
{
    const int64_t wall = pons_wall_ms(&b->clock) * PONS_NS_PER_MS;
    return bridge_sim_time(b) ? b->robot_ns : wall;
}

builtin_interfaces_msg_dds__Time_ bridge_stamp(int64_t ns)
{
    ns = ns < 0 ? 0 : ns;
    return (builtin_interfaces_msg_dds__Time_){(int32_t)(ns / PONS_NS_PER_S),
                                               (uint32_t)(ns % PONS_NS_PER_S)};
}

void bridge_new_id(bridge *b, char ret[BRIDGE_ID])
{
    snprintf(ret, BRIDGE_ID, "%016llx%016llx", (unsigned long long)pons_rand_u64(&b->rand),
             (unsigned long long)pons_rand_u64(&b->rand));
}

void bridge_say(bridge *b, bridge_level level, const char *fmt, ...)
{
    char text[BRIDGE_TEXT];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    if (strcmp(text, b->said) == 0 && b->host_ns - b->said_host_ns < AGAIN_NS) {
        return;
    }
    snprintf(b->said, sizeof b->said, "%s", text);
    b->said_host_ns = b->host_ns;
    rcl_interfaces_msg_dds__Log_ m = {.stamp = bridge_stamp(bridge_ros_ns(b)),
                                      .level = (uint8_t)level,
                                      .name = b->c.shown.node,
                                      .msg = text,
                                      .file = WORDS(""),
                                      .function = WORDS("")};
    if (b->rosout_w > 0) {
        dds_write(b->rosout_w, &m);
    }
    if (level > BRIDGE_INFO) {
        b->o->tell(b->o->user, text);
    }
}
