// dead_body_stop.c - stops a robot in Gazebo when nobody else can any more.
//
// Gazebo's DiffDrive obeys its last command for ever, so a body that is killed leaves a robot that drives on.
// This is a process of its own, which the driver starts (gazebo/keeper_process.c), and which does one thing:
//
//     driver --a byte with each velocity, over its standard input--> keeper --zero--> /model/robot/cmd_vel
//
//     the driver's end is closed (the process has died)   zero at once, and again for 200 ms
//     no byte for 300 ms from one whose robot moves       zero, until it says something, for a second at most
//     bye                                                 the robot stands: it ends
//
// It is a publisher from the first, for finding each other takes a while, and says again and again whether it is heard;
// without that the driver does not drive. Zero is said more than once, for the dead process's last word may be on its
// way; not for longer, for the next body's word counts then. Signals that end a session do not end it.
#include "drivers/gazebo/keeper.h"
#include "drivers/gazebo/transport.h"
#include "drivers/outlet.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#define LOOK_MS      50   // between looks at who hears it, and between zeros
#define HELD_MOST_MS 1000 // for a driver that hangs

typedef struct keeper {
    gazebo_wire *wire;
    int64_t beat_ns;  // host time of the newest byte,
    int64_t moved_ns; // and of the newest that says that the robot moves; 0: none
    int64_t said_ns;  // host time of its own newest word
    bool moves, received;
} keeper;

// One word of the driver's, if one comes. False: there is nothing more to keep.
static bool listen_to_driver(keeper *k)
{
    struct pollfd p = {.fd = STDIN_FILENO, .events = POLLIN};
    if (poll(&p, 1, LOOK_MS) <= 0) {
        return true;
    }
    char word = 0;
    const ssize_t n = recv(STDIN_FILENO, &word, 1, MSG_DONTWAIT);
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) {
        return true;
    }
    if (n > 0) {
        k->beat_ns = pons__host_now();
        k->moved_ns = word == GAZEBO_KEEPER_MOVES ? k->beat_ns : k->moved_ns;
        // One zero may still be on its way when the driver stops: a few were said, then it stands.
        k->moves =
            k->moved_ns && k->beat_ns - k->moved_ns < GAZEBO_KEEPER_QUIET_MS * PONS_NS_PER_MS;
        return word != GAZEBO_KEEPER_BYE;
    }
    for (int ms = 0; ms <= GAZEBO_KEEPER_ZEROS_MS; ms += LOOK_MS) {
        gazebo_wire_twist(k->wire, 0.0, 0.0);
        poll(NULL, 0, LOOK_MS);
    }
    return false;
}

static void look(keeper *k)
{
    const int64_t quiet_ns = pons__host_now() - k->beat_ns;
    if (k->moves && quiet_ns > GAZEBO_KEEPER_QUIET_MS * PONS_NS_PER_MS) {
        gazebo_wire_twist(k->wire, 0.0, 0.0);
        k->moves = quiet_ns < (GAZEBO_KEEPER_QUIET_MS + HELD_MOST_MS) * PONS_NS_PER_MS;
    }
    const int64_t now = pons__host_now();
    const bool received = gazebo_wire_listened(k->wire);
    if (received != k->received || now - k->said_ns >= GAZEBO_KEEPER_ALIVE_MS * PONS_NS_PER_MS) {
        const char word = received ? GAZEBO_KEEPER_HEARD : GAZEBO_KEEPER_UNHEARD;
        if (send(STDIN_FILENO, &word, 1, MSG_DONTWAIT | MSG_NOSIGNAL) == 1) {
            k->received = received;
            k->said_ns = now;
        }
    }
}

int main(int argc, char **argv)
{
    char why[128];
    const gazebo_ears deaf = {0};
    if (argc != 3) {
        return 2; // nobody starts it by hand
    }
    signal(SIGINT, SIG_IGN);
    signal(SIGTERM, SIG_IGN);
    signal(SIGHUP, SIG_IGN);
    signal(SIGPIPE, SIG_IGN);
    prctl(PR_SET_NAME, "gazebo-keeper");
    close_range(3, ~0U, 0); // it has nothing else of whoever started it
    keeper k = {.wire = gazebo_wire_open(argv[1], &deaf, why, sizeof why)};
    if (!k.wire || !gazebo_wire_drive(k.wire, argv[2])) {
        return 1;
    }
    k.beat_ns = pons__host_now();
    while (listen_to_driver(&k)) {
        look(&k);
    }
    _exit(0); // the transport's threads are not waited for
}
