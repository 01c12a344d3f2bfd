// fleet_view.c - the fleet whose shared workspace this is, for the page's view of it.
//
//     GET  /v1/fleet                          how it stands: robots, who holds which zone, tasks, who waits for what
//     GET  /v1/fleet/map                      its zones, and where each leads
//     POST /v1/fleet/tasks {name, stops, …}   a task more
//     POST /v1/fleet/tasks/ID/cancel
//     POST /v1/fleet/tasks/ID/settle {done}   of a task whose outcome nobody knows
//     POST /v1/fleet/robots/ID/clear          a person has carried it away: its zones are free
//     POST /v1/fleet/zones/ID/block {blocked} nobody may enter it, or they may again
//
// All of it is read from the store and said to the inbox of the thread `fleet`, as `pons fleet` does: the
// orchestrator is another process, which may not even run.
#include "pons/random.h"
#include "serve/access/reply.h"
#include "serve/robot/robot.h"

#include <string.h>

#define NAME_MAX_BYTES 64

static void look(pons__request *r, bool map)
{
    pons_error err = PONS_ERROR_INIT;
    pons_value *is = NULL;
    const pons_serve_host *h = &r->s->o.host;
    if (!h->fleet) {
        pons__reply_error(r, 404, "this is no fleet's workspace");
    } else if (h->fleet(h->user, map, &is, &err) < 0) {
        pons__reply_fault(r, &err);
    } else {
        pons__reply_json(r, 200, is);
    }
}

static void now(pons__request *r)
{
    look(r, false);
}

static void map(pons__request *r)
{
    look(r, true);
}

static void say(pons__request *r, const char *word, pons_value *value)
{
    pons_error err = PONS_ERROR_INIT;
    const pons_serve_host *h = &r->s->o.host;
    const size_t n = strlen(r->args[0]);
    pons_autovalue v = value;
    if (!h->fleet_say) {
        pons__reply_error(r, 404, "this is no fleet's workspace");
        return;
    }
    if (n == 0 || n > NAME_MAX_BYTES || json_object_set_new(v, "id", json_string(r->args[0])) < 0) {
        pons__reply_error(r, 422, "a name has 1 to %d bytes", NAME_MAX_BYTES);
        return;
    }
    if (h->fleet_say(h->user, word, v, &err) < 0) {
        pons__reply_fault(r, &err);
        return;
    }
    pons__reply_json(r, 202,
                     pons_object("word", json_string(word), "id", json_string(r->args[0]), NULL));
}

static void cancel(pons__request *r)
{
    say(r, "cancel", json_object());
}

static void assign(pons__request *r)
{
    pons_error err = PONS_ERROR_INIT;
    const pons_serve_host *h = &r->s->o.host;
    char id[PONS_ID_MAX];
    pons_autovalue v = json_copy(r->body);
    if (!h->fleet_say) {
        pons__reply_error(r, 404, "this is no fleet's workspace");
        return;
    }
    pons_rand rand;
    pons_id_source ids;
    pons_rand_seed_os(&rand);
    pons_id_source_init(&ids, r->s->o.clock, &rand);
    pons_id_make(&ids, id);
    json_object_set_new(v, "id", json_string(id));
    if (h->fleet_say(h->user, "assign", v, &err) < 0) {
        pons__reply_fault(r, &err);
        return;
    }
    pons__reply_json(r, 202,
                     pons_object("word", json_string("assign"), "id", json_string(id), NULL));
}

static void settle(pons__request *r)
{
    say(r, "settle", json_copy(r->body));
}

static void clear(pons__request *r)
{
    say(r, "clear", json_object());
}

static void block(pons__request *r)
{
    say(r, "block", json_copy(r->body));
}

const pons__route pons__fleet_routes[] = {
    {"GET", "/v1/fleet", PONS__VIEWER, now},
    {"GET", "/v1/fleet/map", PONS__VIEWER, map},
    {"POST", "/v1/fleet/tasks", PONS__OPERATOR, assign},
    {"POST", "/v1/fleet/tasks/*/cancel", PONS__OPERATOR, cancel},
    {"POST", "/v1/fleet/tasks/*/settle", PONS__OPERATOR, settle},
    {"POST", "/v1/fleet/robots/*/clear", PONS__OPERATOR, clear},
    {"POST", "/v1/fleet/zones/*/block", PONS__OPERATOR, block},
    {NULL, NULL, PONS__NOBODY, NULL},
};
