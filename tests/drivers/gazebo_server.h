// gazebo_server.h - a peer that speaks Gazebo's topics (gazebo/peer.cc), in a partition and with a workspace of its own.
// Each of these fails the test when it cannot be.
#ifndef TESTS_DRIVERS_GAZEBO_SERVER_H
#define TESTS_DRIVERS_GAZEBO_SERVER_H

#include "pons/ext/robot.h"

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

#define WAIT_MS 60000 // for what must come; a machine that is busy is no failure

typedef struct gazebo_server {
    pid_t pid;
    FILE *in;
    int out;
    char text[4096]; // what it said and nobody has taken yet
    size_t n;
    char workspace[96];
    struct gazebo_server *next; // for who has several:
    void *robot;                // whose it is
} gazebo_server;

extern const pons_robot_ops *gazebo_ops; // from the module, once it is loaded

// True: it is loaded. False: a message says why not, and the test's exit code is that.
bool gazebo_load(int *ret_code);
bool gazebo_begin(void); // the folder of the workspaces; before any of what follows
int gazebo_end(void);    // not 0: it cannot be removed

// A workspace with that configuration; nobody is there yet, and free() is its end.
gazebo_server *gazebo_set_up(const char *config, char partition[64]);
// With a peer, and more words for its command line; NULL ends them.
gazebo_server *gazebo_serve(const pons_value *world, const char *const *more, const char *config);
void gazebo_unserve(gazebo_server *s);
void gazebo_say(gazebo_server *s, const char *word);
void gazebo_expect(gazebo_server *s,
                   const char *what); // takes what it says up to a line that has this

#endif
