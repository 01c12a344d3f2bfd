// clients.c - who is connected: places, and what is sent to them. What they say is in messages.c.
#include "body/core/clients.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

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

void pons__client_send(pons__client *c, pons_value *msg)
{
    if (!c || !c->link || c->gone) {
        pons_value_unref(msg);
        return;
    }
    // A client that does not read is a client that is gone.
    const int rc = pons_link_send(c->link, msg, NULL);
    if (rc == PONS_ECLOSED || rc == PONS_EBUSY) {
        c->gone = true;
    }
}

void pons__clients_send(pons_body *b, pons_value *msg)
{
    for (size_t i = 0; msg && i < PONS__CLIENTS_MAX; i++) {
        pons__client *c = &b->clients[i];
        // Telemetry is of the moment: who is behind gets the next one.
        const bool behind = c->link && pons_link_wants_write(c->link) &&
                            strcmp(pons_get_str(msg, "type", ""), "telemetry") == 0;
        if (c->link && c->greeted && !c->gone && !behind) {
            pons__client_send(c, pons_value_ref(msg));
        }
    }
    pons_value_unref(msg);
}

void pons__client_error(pons__client *c, const char *re, const char *code, const char *fmt, ...)
{
    char text[PONS_ERROR_MESSAGE_MAX];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    pons__client_send(c, pons_object("type", json_string("error"), "code", json_string(code),
                                     "message", pons__text(text), "re", re ? json_string(re) : NULL,
                                     NULL));
}

size_t pons__clients_count(const pons_body *b)
{
    size_t n = 0;
    for (size_t i = 0; i < PONS__CLIENTS_MAX; i++) {
        n += b->clients[i].link != NULL;
    }
    return n;
}
