// foxglove_channels.c - what the room tells its clients: what it is, its channels, and messages of them.
//
// Each function holds the room's lock for as long as it works, or is called under it; a socket's sending
// never blocks.
#include "pons/record.h"
#include "serve/foxglove/foxglove_protocol.h"
#include "serve/foxglove/room.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DROPPED_MS 5000

int64_t pons__fox_wall_ns(const pons__foxglove *f)
{
    return pons_wall_ms(&f->s->o.clock) * PONS_NS_PER_MS;
}

static bool is_reported_once(const char *topic)
{
    return strcmp(topic, "/map") == 0 || strcmp(topic, "/zones") == 0 ||
           strcmp(topic, "/body/hello") == 0;
}

bool pons__fox_may_see(const pons__fox_client *c, const char *topic)
{
    return c->role >= PONS__OPERATOR || strncmp(topic, "/camera/", strlen("/camera/")) != 0;
}

// Whether there was room for it.
static bool send_text(const pons__fox_client *c, char *line)
{
    const bool sent =
        line && c->f->s->http->socket_send(c->s, false, line, strlen(line)) != PONS_EAGAIN;
    free(line);
    return sent;
}

static void greet(pons__fox_client *c)
{
    pons__foxglove *f = c->f;
    if (!c->greeted) {
        c->greeted =
            send_text(c, pons__wire_server_info("pons", f->s->boot_id, c->role >= PONS__OPERATOR));
    }
    for (bool room = c->greeted; room && c->reported < f->n_channels; c->reported += room) {
        const pons__fox_channel *ch = &f->channels[c->reported];
        char *schema = pons_record_schema(ch->schema);
        if (schema && pons__fox_may_see(c, ch->topic)) { // what has no room is told later
            room = send_text(
                c, pons__wire_advertise((uint32_t)c->reported, ch->topic, ch->schema, schema));
        }
        free(schema);
    }
}

static bool send_message(const pons__fox_client *c, const pons__fox_subscription *sub, int64_t ns,
                         const char *json, size_t n)
{
    size_t len = 0;
    char *m = pons__wire_message(sub->id, ns, json, n, &len);
    const bool sent = m && c->f->s->http->socket_send(c->s, true, m, len) != PONS_EAGAIN;
    free(m);
    return sent;
}

static void catch_up(pons__fox_client *c)
{
    for (size_t i = 0; i < c->n; i++) {
        pons__fox_subscription *sub = &c->subs[i];
        const pons__fox_channel *ch = &c->f->channels[sub->channel];
        sub->fresh = sub->fresh && ch->json && !send_message(c, sub, ch->ns, ch->json, ch->n);
    }
}

static void tell_dropped(pons__fox_client *c, int64_t now)
{
    char text[96];
    if (c->dropped == c->reported_dropped || now - c->reported_ms < DROPPED_MS) {
        return;
    }
    snprintf(text, sizeof text, "%llu messages were not sent: this client reads too slowly",
             (unsigned long long)(c->dropped - c->reported_dropped));
    if (send_text(c, pons__wire_status(1, text))) { // else it reads too slowly for that, too
        c->reported_dropped = c->dropped;
        c->reported_ms = now;
    }
}

// The topic's number; < 0: there are too many.
int pons__fox_channel_of(pons__foxglove *f, const char *topic, const char *schema)
{
    for (size_t i = 0; i < f->n_channels; i++) {
        if (strcmp(f->channels[i].topic, topic) == 0) {
            return (int)i;
        }
    }
    char *name = f->n_channels < PONS__FOXGLOVE_CHANNELS ? strdup(topic) : NULL;
    char *of = name ? strdup(schema) : NULL;
    if (!of) {
        free(name);
        return PONS_ENOMEM;
    }
    f->channels[f->n_channels] = (pons__fox_channel){.topic = name, .schema = of};
    return (int)f->n_channels++;
}

void pons__fox_put(void *user, const char *topic, const char *schema, const pons_value *message)
{
    pons__foxglove *f = user;
    char *json = NULL;
    const long n = pons_value_line(message, &json);
    if (n < 0) {
        return;
    }
    pthread_mutex_lock(&f->mtx);
    const int64_t ns = pons__fox_wall_ns(f);
    const int id = pons__fox_channel_of(f, topic, schema);
    for (pons__fox_client *c = id >= 0 ? f->clients : NULL; c; c = c->next) {
        if (!c->s || c->over) {
            continue;
        }
        greet(c);
        catch_up(c);
        for (size_t i = 0; i < c->n; i++) {
            if (c->subs[i].channel == (uint32_t)id) {
                c->dropped += !send_message(c, &c->subs[i], ns, json, (size_t)n);
            }
        }
    }
    if (id >= 0 && is_reported_once(topic)) {
        pons__fox_channel *ch = &f->channels[id];
        free(ch->json);
        ch->json = json;
        ch->n = (size_t)n;
        ch->ns = ns;
        json = NULL;
    }
    pthread_mutex_unlock(&f->mtx);
    free(json);
}

void pons__fox_see_to(pons__fox_client *c, int64_t now)
{
    greet(c);
    catch_up(c);
    tell_dropped(c, now);
}
