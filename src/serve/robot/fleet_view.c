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

static int look(pons__request *r)
{
    pons_value *is = NULL;
    const pons_serve_host *h = &r->s->o.host;
    if (!h->fleet) {
        return pons__reply_error(r, 404, "this is no fleet's workspace");
    }
    const int rc = h->fleet(h->user, r->word != NULL, &is, &r->err);
    return pons__reply_result(r, rc, is);
}

// Of what the path names, or of a task that gets its id here.
static int say(pons__request *r)
{
    const pons_serve_host *h = &r->s->o.host;
    char fresh[PONS_ID_MAX];
    const char *id = r->n_args > 0 ? r->args[0] : fresh;
    pons_autovalue v = r->body ? json_copy(r->body) : json_object();
    if (!h->fleet_say) {
        return pons__reply_error(r, 404, "this is no fleet's workspace");
    }
    if (id == fresh) {
        pons_rand rand;
        pons_id_source ids;
        pons_rand_seed_os(&rand);
        pons_id_source_init(&ids, r->s->o.clock, &rand);
        pons_id_make(&ids, fresh);
    }
    if (strlen(id) > NAME_MAX_BYTES || json_object_set_new(v, "id", json_string(id)) < 0) {
        return pons__reply_error(r, 422, "a name has 1 to %d bytes", NAME_MAX_BYTES);
    }
    const int rc = h->fleet_say(h->user, r->word, v, &r->err);
    return rc < 0 ? rc
                  : pons__reply_json(
                        r, 202,
                        pons_object("word", json_string(r->word), "id", json_string(id), NULL));
}

const pons__route pons__fleet_routes[] = {
    {"GET", "/v1/fleet", PONS__VIEWER, look},
    {"GET", "/v1/fleet/map", PONS__VIEWER, look, .word = "map"},
    {"POST", "/v1/fleet/tasks", PONS__OPERATOR, say, .word = "assign"},
    {"POST", "/v1/fleet/tasks/*/cancel", PONS__OPERATOR, say, .word = "cancel"},
    {"POST", "/v1/fleet/tasks/*/settle", PONS__OPERATOR, say, .word = "settle"},
    {"POST", "/v1/fleet/robots/*/clear", PONS__OPERATOR, say, .word = "clear"},
    {"POST", "/v1/fleet/zones/*/block", PONS__OPERATOR, say, .word = "block"},
    {NULL, NULL, PONS__NOBODY, NULL},
};
