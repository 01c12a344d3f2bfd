// room.h - what the files of the room share: its channels, and who has subscribed to them.
#pragma once

#include "serve/foxglove/foxglove.h"

#include <pthread.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define PONS__FOXGLOVE_CHANNELS 256 // topics, and what one client may subscribe to or advertise

typedef struct pons__fox_channel { // [mtx] each; its number is its id
    char *topic, *schema;
    char *json; // the newest of a topic that is told once: for who comes later. NULL: none
    size_t n;
    int64_t ns;
} pons__fox_channel;

typedef struct pons__fox_subscription {
    uint32_t id, channel;
    bool fresh; // has not been given what was told before it came
} pons__fox_subscription;

typedef struct pons__fox_offer { // a channel that the client publishes on
    uint32_t id;
    bool goal, place; // what a message of it asks for; neither: nothing
} pons__fox_offer;

typedef struct pons__fox_client {
    struct pons__fox_client *next; // [mtx]
    pons__foxglove *f;
    pons__role role;                                      // const
    pons_http_socket *s;                                  // [mtx] NULL: not known yet
    bool over;                                            // [mtx] its last callback was
    bool greeted;                                         // [mtx]
    size_t reported;                                      // [mtx] channels that it knows of
    pons__fox_subscription subs[PONS__FOXGLOVE_CHANNELS]; // [mtx] (n)
    size_t n;                                             // [mtx]
    uint64_t dropped;                                     // [mtx] messages that found no room
    uint64_t reported_dropped;                            // [mtx]
    int64_t reported_ms;                                  // [mtx] when that was last said
    pons__fox_offer offers[PONS__FOXGLOVE_CHANNELS];      // (n_offers) the socket's thread
    size_t n_offers;                                      // the socket's thread
} pons__fox_client;

struct pons__foxglove {
    pons_serve *s;
    pthread_t thread, photographer;
    bool has_thread, has_photographer;
    int wake;
    pthread_mutex_t mtx;
    pthread_cond_t news;                                 // [mtx] it closes
    bool closing;                                        // [mtx]
    pons__fox_client *clients;                           // [mtx]
    size_t n_clients;                                    // [mtx]
    pons__fox_channel channels[PONS__FOXGLOVE_CHANNELS]; // [mtx] (n_channels)
    size_t n_channels;                                   // [mtx]
    pons_value *cameras;                                 // [mtx] of the world; NULL: none
};

// foxglove_channels.c
int64_t pons__fox_wall_ns(const pons__foxglove *f);                   // since 1970
bool pons__fox_may_see(const pons__fox_client *c, const char *topic); // a picture is of a home
// Under the lock: the topic's number; < 0: there are too many.
int pons__fox_channel_of(pons__foxglove *f, const char *topic, const char *schema);
// Under the lock: what the client lacks, and how much it has missed.
void pons__fox_see_to(pons__fox_client *c, int64_t now);
// A message of a topic, to all who have subscribed (pons_record_put). Any thread; user: the room.
void pons__fox_put(void *user, const char *topic, const char *schema, const pons_value *message);

// foxglove_client.c: callbacks of a client's socket.
void pons__fox_message(void *client, pons_http_socket *s, bool binary, const char *data, size_t n);
void pons__fox_over(void *client, pons_http_socket *s);

// The room's thread looks.
static inline void pons__fox_wake(const pons__foxglove *f)
{
    eventfd_write(f->wake, 1);
}
