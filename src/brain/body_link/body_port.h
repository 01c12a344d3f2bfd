// body_port.h - the brain's end of the body link, and the goals that are out (body_port.c).
#pragma once

#include "brain/state/link_state.h"

void pons__port_init(pons__port *p, pons_brain *b);
void pons__port_fini(pons__port *p);
// Rebuilds what was under way from the ledger, before the first poll.
int pons__port_load(pons__port *p, pons_error *err);
int pons__port_poll(pons__port *p, pons_error *err); // connect, receive, answer awaits
// The first tick has heard what was said: now the body is asked about what is out.
void pons__port_inbox_read(pons__port *p);
void pons__port_bye(pons__port *p, bool stop_body);
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
int64_t pons__port_next_due_ns(const pons__port *p);
