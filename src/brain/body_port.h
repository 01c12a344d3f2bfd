// body_port.h - the brain's end of the body link, and the goals that are out (body_port.c).
#ifndef PONS_BRAIN_BODY_PORT_H
#define PONS_BRAIN_BODY_PORT_H

#include "brain/field_records.h"
#include "pons/brain.h"
#include "pons/link_message.h"
#include "pons/link_report.h"

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

void pons__port_init(pons__port *p, pons_brain *b);
void pons__port_fini(pons__port *p);
// Rebuilds what was under way from the ledger, before the first poll.
int pons__port_load(pons__port *p, pons_error *err);
int pons__port_poll(pons__port *p, pons_error *err); // connect, receive, answer awaits
// The first tick has heard what was said: now the body is asked about what is out.
void pons__port_heard(pons__port *p);
void pons__port_bye(pons__port *p, bool stop_body);
int64_t pons__port_robot_ms(const pons__port *p);
int pons__port_send(pons__port *p, const pons_message *m);  // errors close the link
void pons__port_cancel(pons__port *p, const char *goal_id); // asks the body, in the epoch in force
void pons__port_keep(pons__body_goal *g, const pons_message_goal *goal, const char *boot_id);
pons__body_goal *pons__port_goal(pons__port *p, const char *id); // NULL when not followed
pons__body_goal *pons__port_track(pons__port *p, const char *id);
#define PONS__REARBITRATED "rearbitrated" // the code of an operation that the kernel held back
// Ends a goal that was not sent, or whose sending the kernel would not allow any more.
void pons__port_refuse(pons__body_goal *g, const char *why);
// The connection (body_port_link.c).
void pons__port_connect(pons__port *p);
void pons__port_disconnect(pons__port *p, const char *why);
void pons__port_rest(pons__port *p); // the next attempt is as far away as it ever is
void pons__port_about(pons__port *p, pons_message_type type,
                      const char *goal_id); // cancel, adopt, status
// A goal's end (body_port_goals.c); status: done, failed, canceled or outcome_unknown.
void pons__goal_finish(pons__body_goal *g, const char *status, const pons_report_end *end);
void pons__goal_unknown(pons__body_goal *g, const char *why);
void pons__goals_clear(pons__port *p);
// Awaits of kind "body" (body_port_awaits.c).
void pons__port_await_start(void *user, pons_run *run, const char *id, const pons_value *request,
                            bool restarted);
void pons__port_await_cancel(void *user, pons_run *run, const char *id);
void pons__port_waits_clear(pons__port *p);
int pons__port_answer(pons__port *p, pons_error *err); // those that have one; 1: there was one
// Of the newest hello; 0 and "" before the first.
int64_t pons__port_epoch(const pons__port *p);
const char *pons__port_boot(const pons__port *p);
int64_t pons__port_next_due_ns(const pons__port *p);

#endif
