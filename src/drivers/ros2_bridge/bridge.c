// bridge.c - pons's body as a robot of ROS 2: /scan, /odom, /tf, /map, … published, /cmd_vel and Nav2's
// actions served, without ROS (docs/reference/ros2.md, "pons's body in ROS").
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
// beats while the loop's last round is less than a second old, as a brain's does. A round takes so many messages
// of each reader and link and no more, so that a flood of one neither silences the others nor stops the heart.
//
// Calls go one way, each file's header saying what is asked of it:
//
//     bridge.c the loop
//       body_links.c what the body says ---> cmd_vel.c velocities, poses --> action_server.c, goal.c, goal_requests.c, nav2_actions.c the actions
//       published_senses.c what is published      discovery.c nodes, parameters     body_commands.c what the body is told
//         bridge_common.c what all of these use: endpoints, time, words     internal.h the one object
#include "drivers/ros2_bridge/action_server.h"
#include "drivers/ros2_bridge/body_links.h"
#include "drivers/ros2_bridge/cmd_vel.h"
#include "drivers/ros2_bridge/discovery.h"
#include "drivers/ros2_bridge/published_senses.h"
#include "pons/module.h"

#include <poll.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define MODULE       "ros2"
#define SOON_MS      10 // a velocity waits to be told
#define ROUND_MS     50
#define BEAT_NS      (100 * PONS_NS_PER_MS)
#define STUCK_NS     PONS_NS_PER_S // a loop that has not come round is no sign of life
#define LAST_LOOK_MS 10

enum { LAST_LOOKS = 30 };

// DDS's threads; only this.
static void came(dds_entity_t reader, void *arg)
{
    const uint64_t one = 1;
    (void)!write(*(const int *)arg, &one, sizeof one);
}

static void fast_came(void *wake)
{
    came(0, wake);
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

static int open_all(bridge *b, pons_error *err)
{
    b->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (b->wake < 0) {
        return pons_error_set(err, PONS_EENV, MODULE, "cannot make a descriptor");
    }
    b->listener = dds_create_listener(&b->wake);
    dds_lset_data_available(b->listener, came);
    b->node.hashed = b->c.jazzy;
    b->node.came = fast_came;
    b->node.came_user = &b->wake;
    int rc = ros2_node_open(&b->node, b->c.domain, err);
    rc = rc < 0 ? rc : bridge_graph_open(b, err);
    rc = rc < 0 ? rc : bridge_shown_open(b, err);
    rc = rc < 0 ? rc : bridge_drive_open(b, err);
    rc = rc < 0 ? rc : bridge_goals_open(b, err);
    rc = rc < 0 ? rc : ros2_node_tell(&b->node, &b->c, err);
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

static void loop(bridge *b)
{
    while (!*b->o->quit && !b->dead) {
        struct pollfd p[] = {
            {.fd = b->wake, .events = POLLIN},
            {.fd = b->eye ? pons_link_fd(b->eye) : -1, .events = POLLIN},
            {.fd = b->hand.link ? pons_link_fd(b->hand.link) : -1, .events = POLLIN}};
        uint64_t n;
        poll(p, 3, b->drive.fresh ? SOON_MS : ROUND_MS);
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
    // Who waits for the result of a goal that was under way is told, also when the question is on its way.
    for (int i = 0; b->moved && i < LAST_LOOKS; i++) {
        struct pollfd p = {.fd = b->wake, .events = POLLIN};
        uint64_t n;
        poll(&p, 1, LAST_LOOK_MS);
        (void)!read(b->wake, &n, sizeof n);
        b->host_ns = pons_now_ns(&b->clock);
        bridge_goals_take(b);
        bridge_goals_refuse(b, "the body has gone");
    }
    bridge_goals_flush(b);
}

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
