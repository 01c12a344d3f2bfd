// link_state.h - what the brain's loop keeps of its link to the body: the connection, the goals that are out, the
// heartbeat. What is done with them: body_link/.
#pragma once

#include "brain/records/field_records.h"
#include "pons/brain.h"
#include "pons/link.h"
#include "pons/link_message.h"
#include "pons/link_report.h"

#include <pthread.h>
#include <stdatomic.h>

// A goal that went out and is not settled yet, as the port follows it. The durable truth is the
// effect.
typedef struct pons__body_goal {
    struct pons__body_goal *next;
    char id[40];
    pons_message message; // the goal message as it was or would be sent; of no type: none yet
    char boot_id[40];     // of the body that it was made for
    pons_value *accept; // answer for "accept": {state} | {rejected,code,message} | terminal result
    pons_value *result; // terminal: {status,error_code,error_msg,metrics}
    pons_value *feedback; // the newest
    bool recovering;      // asked with status, no answer yet
    bool accepted;        // known to be at the body (or to have been)
    bool old;             // of a life before this one
    int64_t started_robot_ms;
    double left_m, driven_m; // as the newest feedback says; NAN: it does not
    double remaining;        // the same, of the argument that the registry's `remains` names
    double window_distance;  // distance at the window's start [m]; < 0: none
    int64_t window_robot_ms;
    bool no_progress;
} pons__body_goal;

typedef struct pons__port {
    pons_brain *brain;
    pons_link *link;  // NULL: none
    bool ready;       // hello was answered
    int64_t retry_ns; // host time of the next attempt
    int retries;
    pons_report greeting;        // the body's hello, kept over a reconnect; of no type: none yet
    pons_report newest;          // its newest telemetry, the same
    pons_value *hello;           // the greeting's JSON, with valid skills only; NULL: none yet
    pons__list skills, zones;    // the greeting's: pons__registered, pons__zone
    const pons_value *telemetry; // the newest's JSON; NULL: none yet
    int64_t telemetry_ns;        // host time of its arrival
    int64_t looked_ns;           // host time up to which all that the body said has been read
    int64_t telemetry_shown_ns;
    int64_t feedback_shown_ms; // host
    uint64_t doubts;       // names of the config that the body has not, as told last: their bits
    int64_t busy_since_ms; // host; another controller has the body since then; 0: no
    char busy[160];        // what the body said of it
    bool latched;          // last shown
    bool reset_sent;
    pons__body_goal *goals;
    struct pons__port_wait { // outstanding awaits that the port serves
        struct pons__port_wait *next;
        char await[64];
        struct pons__wait *request; // await_fields.h
        int64_t since_robot_ms, since_host_ms;
    } *waits;
} pons__port;

// Of the newest hello and telemetry; 0 and "" before the first (queries.c).
int64_t pons__port_robot_ms(const pons__port *p);
int64_t pons__port_epoch(const pons__port *p);
const char *pons__port_boot(const pons__port *p);

typedef struct pons__heart {
    pons_clock clock; // const
    pthread_mutex_t mtx;
    pthread_cond_t stopped;
    pons_link *link;           // [mtx] who hears it; NULL: nobody
    bool stop;                 // [mtx]
    _Atomic int64_t ticked_ns; // of the loop's last round; 0: none
    bool threaded;             // loop: there is a thread; else a tick beats
    pthread_t thread;          // loop
    int64_t next_ns;           // loop: without a thread, when the next beat is due
} pons__heart;
