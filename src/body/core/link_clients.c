// link_clients.c - who is connected: places, and what is sent to them. What they say is in link_messages.c.
#include "body/core/link_clients.h"

#include <stdarg.h>
#include <stdio.h>

pons__client *pons__clients_place(pons_body *b)
{
    pons__client *silent = NULL;
    for (size_t i = 0; i < PONS__CLIENTS_MAX; i++) {
        pons__client *c = &b->clients[i];
        if (!c->link) {
            return c;
        }
        if (!c->greeted && (!silent || c->since_host_ns < silent->since_host_ns)) {
            silent = c;
        }
    }
    if (silent) {
        pons_link_close(silent->link);
        *silent = (pons__client){0};
    }
    return silent;
}

static void send_value(pons__client *c, pons_value *msg)
{
    // A client that does not read is a client that is gone. What one that has gone said before is still to be heard.
    c->gone = pons_link_send(c->link, msg, NULL) == PONS_EBUSY || c->gone;
}

void pons__client_say(pons__client *c, const pons_report *r)
{
    if (c && c->link && !c->gone) {
        send_value(c, pons_report_encode(r));
    }
}

static void say_all(pons_body *b, const pons_report *r, bool watchers)
{
    pons_autovalue msg = pons_report_encode(r);
    for (size_t i = 0; msg && i < PONS__CLIENTS_MAX; i++) {
        pons__client *c = &b->clients[i];
        // Telemetry is of the moment: who is behind gets the next one.
        const bool behind =
            c->link && pons_link_wants_write(c->link) && r->type == PONS_REPORT_TELEMETRY;
        if (c->link && c->greeted && !c->gone && !behind && (c->tree || !watchers)) {
            send_value(c, pons_value_ref(msg));
        }
    }
}

void pons__clients_say(pons_body *b, const pons_report *r)
{
    say_all(b, r, false);
}

void pons__clients_say_tree(pons_body *b, const pons_report *r)
{
    say_all(b, r, true);
}

void pons__client_error(pons__client *c, const char *re, const char *code, const char *fmt, ...)
{
    char text[PONS_ERROR_MESSAGE_MAX];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    pons__client_say(c, &(pons_report){.type = PONS_REPORT_ERROR,
                                       .as.error = {.code = code, .message = text, .re = re}});
}

size_t pons__clients_count(const pons_body *b)
{
    size_t n = 0;
    for (size_t i = 0; i < PONS__CLIENTS_MAX; i++) {
        n += b->clients[i].link != NULL;
    }
    return n;
}
