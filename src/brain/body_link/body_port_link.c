// body_port_link.c - the connection of the port: made, made again with rests between, and what is sent on it.
#include "brain/body_link/body_port.h"
#include "brain/body_link/heartbeat.h"
#include "brain/state/self.h"
#include "pons/log.h"

#define RETRY_FIRST_MS 20
#define RETRY_MAX_MS   500

void pons__port_connect(pons__port *p)
{
    pons_error err = PONS_ERROR_INIT;
    pons_brain *b = p->brain;
    int wait_ms = RETRY_FIRST_MS << (p->retries > 5 ? 5 : p->retries);
    if (wait_ms > RETRY_MAX_MS) {
        wait_ms = RETRY_MAX_MS;
    }
    p->retries++;
    p->retry_ns = pons_now_ns(&b->opts.clock) + wait_ms * PONS_NS_PER_MS;
    if (b->opts.connect(b->opts.user, &p->link, &err) < 0) {
        p->link = NULL;
        return;
    }
    pons__port_send(p, &(pons_message){.type = PONS_MESSAGE_HELLO,
                                       .as.hello = {.protocol = PONS_LINK_PROTOCOL,
                                                    .role = "controller",
                                                    .name = "pons run"}});
}

void pons__port_disconnect(pons__port *p, const char *why)
{
    if (!p->link) {
        return;
    }
    pons_log(PONS_LOG_INFO, "link", "the body is gone: %s", why);
    pons__heart_detach(&p->brain->heart);
    pons_link_close(p->link);
    p->link = NULL;
    p->ready = false;
    p->reset_sent = false;
    p->retries = 0;
    p->retry_ns = pons_now_ns(&p->brain->opts.clock) + RETRY_FIRST_MS * PONS_NS_PER_MS;
    for (pons__body_goal *g = p->goals; g; g = g->next) {
        g->recovering = !g->result;
    }
    p->brain->tick_now = true;
}

void pons__port_rest(pons__port *p)
{
    p->retry_ns = pons_now_ns(&p->brain->opts.clock) + RETRY_MAX_MS * PONS_NS_PER_MS;
}

void pons__port_bye(pons__port *p, bool stop_body)
{
    if (p->link) {
        pons__heart_detach(&p->brain->heart); // nothing comes after it
        pons__port_send(
            p, &(pons_message){.type = PONS_MESSAGE_BYE, .as.bye = {.stop_body = stop_body}});
    }
}

int pons__port_send(pons__port *p, const pons_message *m)
{
    pons_error err = PONS_ERROR_INIT;
    if (!p->link) {
        return PONS_ECLOSED;
    }
    const int rc = pons_message_send(p->link, m, &err);
    if (rc < 0) {
        pons__port_disconnect(p, err.message);
    }
    return rc;
}

void pons__port_cancel(pons__port *p, const char *goal_id)
{
    pons__port_about(p, PONS_MESSAGE_CANCEL, goal_id);
}

// Cancel, adopt, status.
void pons__port_about(pons__port *p, pons_message_type type, const char *goal_id)
{
    pons__port_send(
        p, &(pons_message){.type = type,
                           .as.about = {.goal_id = goal_id, .epoch = pons__port_epoch(p)}});
}
