// model_files.c - a workspace's files for a model.
//
//     start --judged--> WANTED --written--> PENDING --somebody does it--> RUNNING --its end stands there--> an event
//                          |                   |                             |
//                          |                   +-- nobody does actions any more, or canceled: withdrawn
//                          +-- a file that somebody is just writing: tried again
//
// The call's key is the action's id, so a host that is started again finds what an earlier life had asked for (adopt);
// where it is not, nobody can say whether it was, and it is not asked for again. The folder is open while something is
// asked for, and looked at each 50 ms.
#include "workspace/model_access/model_files.h"

#include "pons/out_of_memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#define WHERE         PONS__DESK
#define READ          "read_workspace"
#define WRITE_TRY_MS  10000 // for a file that others keep writing
#define UNSERVED_MS   5000  // after which nobody is expected to do it any more
#define PARAMS_MAX    16384 // bytes
#define ROBOT_DEFAULT "robot_001"

static const char LIST[] = {
#include "workspace/model_access/model_files.json.h"
};

// ---- events -------------------------------------------------------------------------------------

static void fail(model_access *d, uint64_t call, const pons_error *why)
{
    pons__model_access_push(
        d, (pons_tool_event){.call = call, .kind = PONS_TOOL_FAILED, .error = *why});
}

static void drop(model_access *d, proposal *p)
{
    proposal **at = &d->proposals;
    while (*at != p) {
        at = &(*at)->next;
    }
    *at = p->next;
    pons_value_unref(p->args);
    free(p);
}

__attribute__((format(printf, 4, 5))) static void end_failed(model_access *d, proposal *p,
                                                             int status, const char *fmt, ...)
{
    char text[512];
    pons_error err = PONS_ERROR_INIT;
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    pons_error_set(&err, status, WHERE, "%s", text);
    fail(d, p->call, &err);
    drop(d, p);
}

// ---- ACTION.md ----------------------------------------------------------------------------------

static const pons_ws_record *record_of(const model_access *d, const char *id)
{
    const pons_ws_doc *doc = pons_ws_place_doc(d->place, PONS_WS_ACTION);
    return doc ? pons_ws_find(doc, "action", id) : NULL;
}

static int write_proposal(model_access *d, const proposal *p, pons_error *err)
{
    char when[PONS_UTC_TEXT];
    const pons_value *params = pons_get(p->args, "params");
    pons_utc_text((int64_t)time(NULL) * 1000, when);
    pons_autovalue v =
        pons_object("action_id", json_string(p->id), "action_type",
                    pons_value_ref(pons_get(p->args, "action_type")), "params",
                    params ? pons_value_ref(params) : json_object(), "status",
                    json_string("pending"), "robot_id", json_string(d->robot_id), "created_at",
                    json_string(when), "proposed_by", json_string(d->who), NULL);
    const pons_ws_change c = {"action", p->id, v};
    return pons_ws_place_change(d->place, PONS_WS_ACTION, &c, 1, err);
}

// What has not begun is taken back. PONS_EREFUSED: it runs.
static int withdraw(model_access *d, const proposal *p, pons_error *err)
{
    const pons_ws_record *r = record_of(d, p->id);
    if (!r || p->state == WANTED) {
        return PONS_OK;
    }
    pons_autovalue v = json_copy(r->value);
    json_object_set_new(v, "status", json_string("cancelled"));
    const pons_ws_change c = {"action", p->id, v};
    return pons_ws_place_change(d->place, PONS_WS_ACTION, &c, 1, err);
}

static void end_of(model_access *d, proposal *p, const pons_value *action)
{
    const char *status = pons_get_str(action, "status", "");
    const pons_value *error = pons_get(action, "error");
    const char *code = pons_get_str(error, "code", "");
    if (strcmp(status, "completed") == 0) {
        pons__model_access_push(
            d, (pons_tool_event){
                   .call = p->call,
                   .kind = PONS_TOOL_DONE,
                   .value = pons_object(
                       "output",
                       json_sprintf("%s %s: completed", p->id,
                                    pons_get_str(action, "action_type", "")),
                       "data",
                       pons_object("action_id", json_string(p->id), "status", json_string(status),
                                   "result", pons_optional(pons_get(action, "result")), NULL),
                       NULL)});
        drop(d, p);
    } else if (strcmp(code, "OUTCOME_UNKNOWN") == 0) {
        end_failed(d, p, PONS_ECLOSED, "%s: %s", p->id, pons_get_str(error, "message", ""));
    } else {
        const char *lesson = pons_get_str(error, "trace", "");
        end_failed(d, p, PONS_EREFUSED, "%s %s: %s %.300s%s%.100s", p->id, status, code,
                   pons_get_str(error, "message", ""), *lesson ? "; " : "", lesson);
    }
}

static void look_at_wanted(model_access *d, proposal *p)
{
    pons_error err = PONS_ERROR_INIT;
    const int rc = write_proposal(d, p, &err);
    if (rc >= 0) {
        p->state = PENDING;
    } else if (rc != PONS_EAGAIN || pons_now_ms(&d->o.clock) - p->since_ms > WRITE_TRY_MS) {
        fail(d, p->call, &err);
        drop(d, p);
    }
}

static void look_at(model_access *d, proposal *p)
{
    const int64_t now = pons_now_ms(&d->o.clock);
    pons_error err = PONS_ERROR_INIT;
    if (p->state == WANTED) {
        look_at_wanted(d, p);
        return;
    }
    const pons_ws_record *r = record_of(d, p->id);
    const char *status = r ? pons_get_str(r->value, "status", "pending") : "";
    const bool waits = strcmp(status, "pending") == 0, runs = strcmp(status, "running") == 0;
    if (!r && p->state == RUNNING) {
        end_failed(d, p, PONS_ECLOSED, "%s ran, and was taken out of ACTION.md", p->id);
    } else if (!r) {
        end_failed(d, p, PONS_EREFUSED, "%s was taken out of ACTION.md before it began", p->id);
    } else if (!waits && !runs) {
        end_of(d, p, r->value);
    } else {
        if (runs && p->state == PENDING) {
            p->state = RUNNING;
            pons__model_access_push(d, (pons_tool_event){.call = p->call,
                                                         .kind = PONS_TOOL_PROGRESS,
                                                         .text = pons_need_text("running")});
        }
        p->unserved_ms = pons__model_access_served(d) ? 0 : p->unserved_ms ? p->unserved_ms : now;
        const bool left = p->unserved_ms && now - p->unserved_ms > UNSERVED_MS;
        if (left && waits && withdraw(d, p, &err) >= 0) {
            end_failed(d, p, PONS_EREFUSED,
                       "nobody does this workspace's actions any more: %s is withdrawn", p->id);
        } else if (left && runs) {
            end_failed(d, p, PONS_ECLOSED,
                       "nobody does this workspace's actions any more, and %s ran: the next "
                       "watchdog takes it up",
                       p->id);
        }
    }
}

static void look(model_access *d)
{
    if (d->place) {
        pons_ws_place_poll(d->place, pons_now_ms(&d->o.clock));
    }
    for (proposal *p = d->proposals, *next; p; p = next) {
        next = p->next;
        look_at(d, p);
    }
    pons__model_access_pace(d);
}

// ---- the provider -------------------------------------------------------------------------------

static int model_access_list(void *self, pons_value **ret, pons_error *err)
{
    *ret = pons_value_ref(((const model_access *)self)->list);
    return PONS_OK;
}

// As the body's own tools are assessed: what a person must be asked about. A tree and what no body can be asked about
// are.
static pons_tool_risk model_access_assess(void *self, const char *tool, const pons_value *args,
                                          char *reason, size_t cap)
{
    model_access *d = self;
    pons__ws_call call;
    pons_error err = PONS_ERROR_INIT;
    pons_tool_risk risk = PONS_TOOL_SAFE; // at least the tool's own
    if (strcmp(tool, PONS_WS_PROPOSE) != 0 || !pons__model_access_served(d) ||
        pons__model_access_open_place(d, &err) < 0) {
        return PONS_TOOL_SAFE;
    }
    pons_autovalue status = pons__model_access_status(d);
    pons__model_access_call(d, args, status, &call);
    if (call.tree) {
        snprintf(reason, cap, "a behaviour tree: each of its leaves may move the robot");
        risk = PONS_TOOL_DANGEROUS;
    } else if (!call.code && !call.errand && !call.at_once) {
        if (!pons_get_bool(status, "connected", false)) {
            snprintf(reason, cap, "no body answers here: nobody knows what it would move");
            risk = PONS_TOOL_DANGEROUS;
        } else if (d->o.robot.ops && d->o.robot.ops->assess) {
            risk = d->o.robot.ops->assess(d->o.robot.self, call.skill, call.args, reason, cap);
        }
    }
    pons_value_unref(call.args);
    pons__model_access_pace(d);
    return risk;
}

static void id_of(const char *key, char ret[32])
{
    char hash[33];
    pons_autovalue name = json_string(key);
    pons_value_hash(name, hash);
    snprintf(ret, 32, "act_%.16s", hash);
}

static proposal *proposal_add(model_access *d, uint64_t call, const char *id,
                              const pons_value *args)
{
    proposal *p = pons_need_zeroed(1, sizeof *p);
    p->call = call;
    snprintf(p->id, sizeof p->id, "%s", id);
    p->args = pons_value_ref((pons_value *)(uintptr_t)args);
    p->since_ms = pons_now_ms(&d->o.clock);
    p->next = d->proposals;
    d->proposals = p;
    return p;
}

static int check_size(const pons_value *args, pons_error *err)
{
    char *line = NULL;
    const long n = pons_value_line(args, &line);
    free(line);
    if (n < 0 || n > PARAMS_MAX) {
        return pons_error_set(err, PONS_EINVAL, WHERE, "params: at most %d bytes", PARAMS_MAX);
    }
    return PONS_OK;
}

static int propose(model_access *d, uint64_t call, const pons_value *args, const char *key,
                   pons_error *err)
{
    char id[32];
    pons_autoverdict verdict = pons_verdict_create();
    id_of(key, id);
    if (!verdict) {
        return pons_error_set(err, PONS_ENOMEM, WHERE, "no memory for a judgement");
    }
    int rc = check_size(args, err);
    rc = rc < 0 ? rc : pons__model_access_open_place(d, err);
    if (rc < 0) {
        return rc;
    }
    if (record_of(d, id)) { // asked for in an earlier life
        proposal_add(d, call, id, args)->state = PENDING;
        return PONS_OK;
    }
    if (!pons__model_access_served(d)) {
        return pons_error_set(err, PONS_EENV, WHERE,
                              "nobody does this workspace's actions: `pons watchdog hal` or `pons "
                              "run` has to run in it");
    }
    // What was true when it was judged may not be after a person was asked.
    rc = pons__model_access_judge_proposal(d, args, verdict, err);
    rc = rc < 0 ? rc : pons_verdict_error(verdict, err);
    if (rc >= 0) {
        proposal_add(d, call, id, args);
    }
    return rc;
}

static int model_access_start(void *self, uint64_t call, const char *tool, const pons_value *args,
                              const char *key, pons_error *err)
{
    model_access *d = self;
    pons_error why = PONS_ERROR_INIT;
    int rc;
    if (strcmp(tool, READ) == 0) {
        rc = pons__model_access_read(d, call, args, &why);
    } else if (strcmp(tool, PONS_WS_PROPOSE) == 0) {
        rc = propose(d, call, args, key, &why);
    } else {
        return pons_error_set(err, PONS_ENOTFOUND, WHERE, "there is no tool %.64s", tool);
    }
    if (rc < 0) {
        fail(d, call, &why);
    }
    look(d);
    return PONS_OK;
}

static int model_access_adopt(void *self, uint64_t call, const char *tool, const char *key,
                              pons_error *err)
{
    model_access *d = self;
    char id[32];
    if (strcmp(tool, PONS_WS_PROPOSE) != 0) {
        return pons_error_set(err, PONS_ENOTFOUND, WHERE, "reading is begun anew");
    }
    id_of(key, id);
    int rc = pons__model_access_open_place(d, err);
    if (rc >= 0 && !record_of(d, id)) { // written and taken out since, or never: nobody can tell
        rc = pons_error_set(err, PONS_ECLOSED, WHERE, "%s is not in ACTION.md", id);
    }
    if (rc >= 0) {
        proposal_add(d, call, id, NULL)->state = PENDING;
    }
    pons__model_access_pace(d);
    return rc;
}

static void model_access_cancel(void *self, uint64_t call)
{
    model_access *d = self;
    pons_error err = PONS_ERROR_INIT;
    for (event **at = &d->first; *at;) {
        event *e = *at;
        if (e->e.call == call) {
            *at = e->next;
            pons_tool_event_clear(&e->e);
            free(e);
        } else {
            at = &e->next;
        }
    }
    for (proposal *p = d->proposals, *next; p; p = next) {
        next = p->next;
        if (p->call == call) {
            withdraw(d, p, &err); // what runs goes on: it is stopped as everything that moves
            drop(d, p);
        }
    }
    pons__model_access_pace(d);
}

static int model_access_event_fd(void *self)
{
    return ((const model_access *)self)->timer;
}

static bool model_access_next(void *self, pons_tool_event *ret)
{
    model_access *d = self;
    uint64_t n;
    if (!d->first) {
        const ssize_t got = read(d->timer, &n, sizeof n);
        (void)got;
        look(d);
    }
    event *e = d->first;
    if (!e) {
        return false;
    }
    d->first = e->next;
    *ret = e->e;
    free(e);
    if (!d->first) {
        pons__model_access_pace(d);
    }
    return true;
}

// What is asked for stays so: the next life of the host finds it.
static void model_access_close(void *self)
{
    model_access *d = self;
    if (!d) {
        return;
    }
    while (d->proposals) {
        drop(d, d->proposals);
    }
    while (d->first) {
        event *e = d->first;
        d->first = e->next;
        pons_tool_event_clear(&e->e);
        free(e);
    }
    if (d->timer >= 0) {
        close(d->timer);
    }
    pons_ws_place_close(d->place);
    pons_value_unref(d->list);
    free(d->dir);
    free(d->robot_id);
    free(d->who);
    free(d);
}

int pons_ws_model_access_open(const pons_ws_model_access_options *o, pons_tools *ret,
                              pons_error *err)
{
    static const pons_tools_ops ops = {.abi = PONS_TOOL_ABI,
                                       .name = "workspace",
                                       .close = model_access_close,
                                       .list = model_access_list,
                                       .assess = model_access_assess,
                                       .start = model_access_start,
                                       .adopt = model_access_adopt,
                                       .cancel = model_access_cancel,
                                       .event_fd = model_access_event_fd,
                                       .next = model_access_next};
    model_access *d = pons_need_zeroed(1, sizeof *d);
    d->o = *o;
    d->dir = pons_need_text(o->dir);
    d->robot_id = pons_need_text(o->robot_id ? o->robot_id : ROBOT_DEFAULT);
    d->who = pons_need_text(o->who ? o->who : "");
    d->timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
    const int rc = pons_value_parse(LIST, sizeof LIST - 1, &d->list, err);
    if (rc < 0 || d->timer < 0) {
        model_access_close(d);
        return rc < 0 ? rc : pons_error_set(err, PONS_EENV, WHERE, "no timer for the workspace");
    }
    *ret = (pons_tools){&ops, d};
    return PONS_OK;
}
