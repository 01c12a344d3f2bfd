// past_states.c - what the robot was, and how it is made: for the page's views of threads and graphs.
//
//     GET  /v1/threads/T/history?ns=react&limit=N&before=ID    checkpoints, newest first, without values
//     GET  /v1/threads/T/state?ns=react&checkpoint=ID          one of them, whole; without ID the newest
//     POST /v1/threads/T/fork {to, checkpoint?, edit?: {ns, values, as_node?}}
//                                                              a thread of its own from there, with other values
//     GET  /v1/graphs/NAME                                     its nodes and edges, for a drawing
//     GET  /v1/system                                          what runs here, with which versions
//     POST /v1/doctor                                          `pons doctor`: looks at everything; one at a time
//
// The past is only read. A fork is another thread, of which nothing runs before somebody resumes it,
// and then each effect of its first run waits for a person: going back in time moves no robot.
#include "serve/access/reply.h"
#include "serve/robot/robot.h"

#include <stdatomic.h>

#define ROWS 100

static const char *space(const pons__request *r) // "" is a graph's own
{
    return pons_get_str(r->query, "ns", "react");
}

static int history(pons__request *r)
{
    pons_value *list = NULL;
    const pons_history_query q = {.before = pons_get_str(r->query, "before", NULL),
                                  .limit = pons_get_int(r->query, "limit", ROWS),
                                  .bare = true};
    const int rc = pons_state_history_find(r->s->o.store, r->args[0], space(r), &q, &list, &r->err);
    return pons__reply_result(r, rc, list);
}

static int state(pons__request *r)
{
    pons_value *snapshot = NULL;
    const pons_snapshot_options o = {.checkpoint = pons_get_str(r->query, "checkpoint", NULL)};
    const int rc = pons_state_snapshot(r->s->o.store, r->args[0], space(r), &o, &snapshot, &r->err);
    return pons__reply_result(r, rc, snapshot);
}

static int fork_thread(pons__request *r)
{
    const char *to = pons_get_str(r->body, "to", "");
    const pons_value *edit = pons_get(r->body, "edit");
    if (r->s->o.host.fork(r->s->o.host.user, r->args[0], pons_get_str(r->body, "checkpoint", NULL),
                          to, edit, &r->err) < 0) {
        return r->err.status;
    }
    return pons__reply_json(
        r, 201, pons_object("thread", json_string(to), "from", json_string(r->args[0]), NULL));
}

static int graph(pons__request *r)
{
    pons_value *drawing = NULL;
    const int rc = r->s->o.host.draw(r->s->o.host.user, r->args[0], &drawing, &r->err);
    return pons__reply_result(r, rc, drawing);
}

static int system_now(pons__request *r)
{
    pons_value *is = r->s->o.host.system(r->s->o.host.user);
    return pons__reply_json(r, 200, is);
}

static int doctor(pons__request *r)
{
    static atomic_flag looks = ATOMIC_FLAG_INIT;
    pons_value *rows = NULL;
    if (atomic_flag_test_and_set(&looks)) {
        return pons__reply_error(r, 409, "the doctor is looking already");
    }
    const int rc = r->s->o.host.doctor(r->s->o.host.user, &rows, &r->err);
    atomic_flag_clear(&looks);
    return pons__reply_result(r, rc, rows);
}

const pons__route pons__past_routes[] = {
    {"GET", "/v1/threads/*/history", PONS__VIEWER, history},
    {"GET", "/v1/threads/*/state", PONS__VIEWER, state},
    {"POST", "/v1/threads/*/fork", PONS__OPERATOR, fork_thread},
    {"GET", "/v1/graphs/*", PONS__VIEWER, graph},
    {"GET", "/v1/system", PONS__VIEWER, system_now},
    {"POST", "/v1/doctor", PONS__OPERATOR, doctor},
    {NULL, NULL, PONS__NOBODY, NULL},
};
