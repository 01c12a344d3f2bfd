// desk.c - a workspace's files for a model.
//
//     start --judged--> WANTED --written--> PENDING --somebody does it--> RUNNING --its end stands there--> an event
//                          |                   |                             |
//                          |                   +-- nobody does actions any more, or canceled: withdrawn
//                          +-- a file that somebody is just writing: tried again
//
// The call's key is the action's id, so a host that is started again finds what an earlier life had asked for (adopt);
// where it is not, nobody can say whether it was, and it is not asked for again. The folder is open while something is
// asked for, and looked at each 50 ms.
#include "pons/buf.h"
#include "pons/memory.h"
#include "pons/workspace_critic.h"
#include "pons/workspace_desk.h"
#include "workspace/hal/actions.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#define WHERE         "workspace"
#define READ          "read_workspace"
#define LOOK_MS       50
#define WRITE_TRY_MS  10000 // for a file that others keep writing
#define UNSERVED_MS   5000  // after which nobody is expected to do it any more
#define PARAMS_MAX    16384 // bytes
#define TYPE_MAX      64
#define TEXT_MAX      (256 * 1024)
#define ROBOT_DEFAULT "robot_001"

static const char LIST[] =
    "[{\"name\":\"" READ "\",\"category\":\"core\",\"risk\":\"safe\",\"read_only\":true,"
    "\"description\":\"Reads a protocol file of the workspace, a record a line: ENVIRONMENT (what "
    "is "
    "around the robot), EMBODIED (what it can do, its action types and limits), ACTION (what it "
    "was asked to do and what came of it), TASK, LESSONS, SESSIONS, TARGETS, SKILLS, ROBOTS.\","
    "\"parameters\":{\"type\":\"object\",\"additionalProperties\":false,\"required\":[\"file\"],"
    "\"properties\":{\"file\":{\"enum\":[\"ENVIRONMENT\",\"EMBODIED\",\"ACTION\",\"TASK\","
    "\"LESSONS\","
    "\"SESSIONS\",\"TARGETS\",\"SKILLS\",\"ROBOTS\"]},\"kind\":{\"type\":\"string\","
    "\"description\":"
    "\"only records of this kind, such as object or action\"},\"id\":{\"type\":\"string\"}}}},"
    "{\"name\":\"" PONS_WS_PROPOSE
    "\",\"category\":\"robot\",\"risk\":\"warn\",\"read_only\":false,"
    "\"description\":\"Proposes an action to the workspace's robot and waits for its end. A critic "
    "holds it against EMBODIED.md, ENVIRONMENT.md and LESSONS.md first; a refusal says why, with "
    "its "
    "numbers. Types: those of EMBODIED.md, such as move_to {target_pose: [x,y,z,r,p,y]}, pick_up "
    "{object_id}, place {target, or target_position: [x,y,z]}, target_navigation {target_label}, "
    "real_execute {nl_task: a task in words}, stop.\","
    "\"parameters\":{\"type\":\"object\",\"additionalProperties\":false,\"required\":[\"action_"
    "type\"],"
    "\"properties\":{\"action_type\":{\"type\":\"string\",\"minLength\":1,\"maxLength\":63},"
    "\"params\":{\"type\":\"object\"}}}}]";

typedef enum proposal_state { WANTED, PENDING, RUNNING } proposal_state;

typedef struct proposal {
    struct proposal *next;
    uint64_t call;
    char id[32];
    pons_value *args;
    proposal_state state;
    int64_t since_ms,
        unserved_ms; // since it is wanted; since nobody does actions, 0: somebody does
} proposal;

typedef struct event {
    struct event *next;
    pons_tool_event e;
} event;

typedef struct desk {
    pons_ws_desk_options o;
    char *dir, *robot_id, *who;
    pons_value *list;
    pons_ws_place *place; // while something is asked for; else NULL
    int timer;
    proposal *proposals;
    event *first;
} desk;

static void look(desk *d);
static int open_place(desk *d, pons_error *err);
static void pace(desk *d);
static bool is_served(const desk *d);

// ---- events -------------------------------------------------------------------------------------

static void push(desk *d, pons_tool_event e)
{
    event *fresh = pons_need_zeroed(1, sizeof *fresh), **at = &d->first;
    fresh->e = e;
    while (*at) {
        at = &(*at)->next;
    }
    *at = fresh;
}

static void fail(desk *d, uint64_t call, const pons_error *why)
{
    push(d, (pons_tool_event){.call = call, .kind = PONS_TOOL_FAILED, .error = *why});
}

static void drop(desk *d, proposal *p)
{
    proposal **at = &d->proposals;
    while (*at != p) {
        at = &(*at)->next;
    }
    *at = p->next;
    pons_value_unref(p->args);
    free(p);
}

static void end_failed(desk *d, proposal *p, int status, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
static void end_failed(desk *d, proposal *p, int status, const char *fmt, ...)
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

// ---- what is asked for --------------------------------------------------------------------------

static pons_value *status_of(const desk *d)
{
    return d->o.status ? d->o.status(d->o.user) : json_object();
}

// The body's skill that it comes to. The caller frees ret->args.
static void call_of(desk *d, const pons_value *args, const pons_value *status, pons__ws_call *ret)
{
    pons_autovalue tools = NULL;
    pons_error err = PONS_ERROR_INIT;
    if (d->o.robot.ops) {
        d->o.robot.ops->list(d->o.robot.self, &tools, &err);
    }
    // A body whose skills nobody offers here is asked through the file all the same.
    const bool knows = json_array_size(tools) > 1;
    pons__ws_call_of(args, knows ? tools : NULL, pons_get(status, "world"),
                     pons_ws_place_doc(d->place, PONS_WS_ENVIRONMENT), ret);
}

static int open_place(desk *d, pons_error *err)
{
    static const pons_ws_file rests_on[] = {PONS_WS_EMBODIED, PONS_WS_ENVIRONMENT, PONS_WS_LESSONS,
                                            PONS_WS_ACTION};
    const pons_ws_place_options place = {
        .role = PONS_WS_BY_PLANNER, .dialect = d->o.dialect, .no_wait = true};
    if (!d->place) {
        return pons_ws_place_open(d->dir, &place, &d->place, err);
    }
    for (size_t i = 0; i < sizeof rests_on / sizeof rests_on[0]; i++) {
        pons_error ignored = PONS_ERROR_INIT; // the last good state holds
        pons_ws_place_look(d->place, rests_on[i], &ignored);
    }
    return PONS_OK;
}

// The files' word. Adds what is broken; a refusal is a lesson.
static void judge_by_files(desk *d, const char *type, const pons_value *params,
                           const pons_value *status, pons_verdict *v)
{
    pons_ws_judgement j;
    pons_error err = PONS_ERROR_INIT;
    const pons_value *robot = pons_get(status, "robot");
    const pons_ws_asked asked = {.action_type = type,
                                 .params = params,
                                 .robot_id = d->robot_id,
                                 .robot = json_object_size(robot) ? robot : NULL};
    size_t i;
    json_t *rule;
    pons_ws_judge(d->place, &asked, &j);
    if (!j.ok) {
        pons_ws_learn(d->place, &asked, &j, &err); // what cannot be written holds all the same
    }
    json_array_foreach(j.rules, i, rule)
    {
        pons_verdict_refuse(v, "workspace", pons_get_str(rule, "rule", ""),
                            pons_get_str(rule, "message", ""));
    }
    pons_ws_judgement_clear(&j);
}

static int judge_by_body(desk *d, const pons__ws_call *call, pons_verdict *v, pons_error *err)
{
    pons_autoverdict body = NULL;
    if (!d->o.judge || call->code || call->errand || call->at_once) {
        return PONS_OK;
    }
    const int rc = d->o.judge(d->o.user, call->skill, call->args, &body, err);
    if (rc == PONS_ENOTFOUND) { // who does it judges it
        *err = (pons_error)PONS_ERROR_INIT;
        return PONS_OK;
    }
    return rc < 0 ? rc : pons_verdict_add(v, body);
}

static int judge_proposal(desk *d, const pons_value *args, pons_verdict *v, pons_error *err)
{
    pons_autovalue status = status_of(d);
    pons__ws_call call;
    judge_by_files(d, pons_get_str(args, "action_type", ""), pons_get(args, "params"), status, v);
    call_of(d, args, status, &call);
    if (call.code) {
        pons_verdict_refuse(v, "workspace", call.code, call.what);
    }
    const int rc = judge_by_body(d, &call, v, err);
    pons_value_unref(call.args);
    return rc;
}

int pons_ws_desk_judge(void *self, const char *tool, const pons_value *args, pons_verdict *v,
                       pons_error *err)
{
    desk *d = self;
    int rc = open_place(d, err);
    if (rc < 0) {
        return rc;
    }
    if (strcmp(tool, PONS_WS_PROPOSE) == 0) { // where nobody does it, its start says so
        rc = is_served(d) ? judge_proposal(d, args, v, err) : PONS_OK;
    } else {
        pons_autovalue status = status_of(d);
        pons_autovalue params = NULL;
        const char *type = NULL;
        pons__ws_action_of(tool, args, &type, &params);
        judge_by_files(d, type, params, status, v);
    }
    pace(d);
    return rc;
}

// ---- ACTION.md ----------------------------------------------------------------------------------

static const pons_ws_record *record_of(const desk *d, const char *id)
{
    const pons_ws_doc *doc = pons_ws_place_doc(d->place, PONS_WS_ACTION);
    return doc ? pons_ws_find(doc, "action", id) : NULL;
}

static int write_proposal(desk *d, const proposal *p, pons_error *err)
{
    char when[32];
    const time_t t = time(NULL);
    struct tm tm;
    const pons_value *params = pons_get(p->args, "params");
    strftime(when, sizeof when, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&t, &tm));
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
static int withdraw(desk *d, const proposal *p, pons_error *err)
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

static void end_of(desk *d, proposal *p, const pons_value *action)
{
    const char *status = pons_get_str(action, "status", "");
    const pons_value *error = pons_get(action, "error");
    const char *code = pons_get_str(error, "code", "");
    if (strcmp(status, "completed") == 0) {
        push(d, (pons_tool_event){
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

static bool is_served(const desk *d)
{
    return !d->o.served || d->o.served(d->o.user);
}

static void look_at_wanted(desk *d, proposal *p)
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

static void look_at(desk *d, proposal *p)
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
            push(d, (pons_tool_event){.call = p->call,
                                      .kind = PONS_TOOL_PROGRESS,
                                      .text = pons_need_text("running")});
        }
        p->unserved_ms = is_served(d) ? 0 : p->unserved_ms ? p->unserved_ms : now;
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

static void look(desk *d)
{
    if (d->place) {
        pons_ws_place_poll(d->place, pons_now_ms(&d->o.clock));
    }
    for (proposal *p = d->proposals, *next; p; p = next) {
        next = p->next;
        look_at(d, p);
    }
    pace(d);
}

// The folder is open, and looked at, while something is asked for.
static void pace(desk *d)
{
    const bool busy = d->proposals || d->first;
    const long ns = busy ? LOOK_MS * 1000000L : 0;
    const struct itimerspec every = {.it_interval.tv_nsec = ns, .it_value.tv_nsec = ns};
    timerfd_settime(d->timer, 0, &every, NULL);
    if (!d->proposals) {
        pons_ws_place_close(d->place);
        d->place = NULL;
    }
}

// ---- reading ------------------------------------------------------------------------------------

static bool wanted(const char *want, const char *is)
{
    return !want || strcmp(want, is) == 0;
}

static bool put_line(pons_buf *text, pons_value *take)
{
    pons_autovalue row = take;
    char *line = NULL;
    const bool room = pons_value_line(row, &line) >= 0 && text->len + strlen(line) < TEXT_MAX;
    if (room) {
        pons_buf_printf(text, "%s\n", line);
    }
    free(line);
    return room;
}

static int read_records(desk *d, uint64_t call, const pons_value *args, pons_error *err)
{
    pons_ws_file file;
    pons_ws_doc *doc = NULL;
    size_t n = 0;
    int rc = pons_ws_file_of(pons_get_str(args, "file", ""), &file);
    if (rc < 0) {
        return pons_error_set(err, PONS_EINVAL, WHERE, "there is no protocol file %.40s",
                              pons_get_str(args, "file", ""));
    }
    rc = pons_ws_load(PONS_WS_BY_PLANNER, d->dir, file, &doc, err);
    if (rc < 0) {
        return rc;
    }
    pons_autobuf text = PONS_BUF_INIT;
    bool room = true;
    const char *kind = pons_get_str(args, "kind", NULL), *id = pons_get_str(args, "id", NULL);
    const pons_ws_record *all = pons_ws_records(doc, &n);
    for (size_t i = 0; i < n && room; i++) {
        if (wanted(kind, all[i].kind) && wanted(id, all[i].id)) {
            room = put_line(&text, pons_object("kind", json_string(all[i].kind), "id",
                                               pons_string(all[i].id), "value",
                                               pons_value_ref(all[i].value), NULL));
        }
    }
    const pons_ws_fault *faults = pons_ws_faults(doc, &n);
    for (size_t i = 0; i < n && room; i++) {
        room = put_line(&text, pons_object("refused", pons_string(faults[i].what), "line",
                                           json_integer(faults[i].line), NULL));
    }
    pons_ws_destroy(doc);
    push(d, (pons_tool_event){
                .call = call,
                .kind = PONS_TOOL_DONE,
                .value = pons_object("output",
                                     pons_string(text.len ? text.data : "there is no such record"),
                                     "truncated", json_boolean(!room), NULL)});
    return PONS_OK;
}

// ---- the provider -------------------------------------------------------------------------------

static int desk_list(void *self, pons_value **ret, pons_error *err)
{
    (void)err;
    *ret = pons_value_ref(((const desk *)self)->list);
    return PONS_OK;
}

// As the body's own tools are assessed: what a person must be asked about. A tree and what no body can be asked about
// are.
static pons_tool_risk desk_assess(void *self, const char *tool, const pons_value *args,
                                  char *reason, size_t cap)
{
    desk *d = self;
    pons__ws_call call;
    pons_error err = PONS_ERROR_INIT;
    pons_tool_risk risk = PONS_TOOL_SAFE; // at least the tool's own
    if (strcmp(tool, PONS_WS_PROPOSE) != 0 || !is_served(d) || open_place(d, &err) < 0) {
        return PONS_TOOL_SAFE;
    }
    pons_autovalue status = status_of(d);
    call_of(d, args, status, &call);
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
    pace(d);
    return risk;
}

static void id_of(const char *key, char ret[32])
{
    char hash[33];
    pons_autovalue name = json_string(key);
    pons_value_hash(name, hash);
    snprintf(ret, 32, "act_%.16s", hash);
}

static proposal *proposal_add(desk *d, uint64_t call, const char *id, const pons_value *args)
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

static int propose(desk *d, uint64_t call, const pons_value *args, const char *key, pons_error *err)
{
    char id[32];
    pons_autoverdict verdict = pons_verdict_create();
    id_of(key, id);
    if (!verdict) {
        return pons_error_set(err, PONS_ENOMEM, WHERE, "no memory for a judgement");
    }
    int rc = check_size(args, err);
    rc = rc < 0 ? rc : open_place(d, err);
    if (rc < 0) {
        return rc;
    }
    if (record_of(d, id)) { // asked for in an earlier life
        proposal_add(d, call, id, args)->state = PENDING;
        return PONS_OK;
    }
    if (!is_served(d)) {
        return pons_error_set(err, PONS_EENV, WHERE,
                              "nobody does this workspace's actions: `pons watchdog hal` or `pons "
                              "run` has to run in it");
    }
    // What was true when it was judged may not be after a person was asked.
    rc = judge_proposal(d, args, verdict, err);
    rc = rc < 0 ? rc : pons_verdict_error(verdict, err);
    if (rc >= 0) {
        proposal_add(d, call, id, args);
    }
    return rc;
}

static int desk_start(void *self, uint64_t call, const char *tool, const pons_value *args,
                      const char *key, pons_error *err)
{
    desk *d = self;
    pons_error why = PONS_ERROR_INIT;
    int rc;
    if (strcmp(tool, READ) == 0) {
        rc = read_records(d, call, args, &why);
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

static int desk_adopt(void *self, uint64_t call, const char *tool, const char *key, pons_error *err)
{
    desk *d = self;
    char id[32];
    if (strcmp(tool, PONS_WS_PROPOSE) != 0) {
        return pons_error_set(err, PONS_ENOTFOUND, WHERE, "reading is begun anew");
    }
    id_of(key, id);
    int rc = open_place(d, err);
    if (rc >= 0 && !record_of(d, id)) { // written and taken out since, or never: nobody can tell
        rc = pons_error_set(err, PONS_ECLOSED, WHERE, "%s is not in ACTION.md", id);
    }
    if (rc >= 0) {
        proposal_add(d, call, id, NULL)->state = PENDING;
    }
    pace(d);
    return rc;
}

static void desk_cancel(void *self, uint64_t call)
{
    desk *d = self;
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
    pace(d);
}

static int desk_event_fd(void *self)
{
    return ((const desk *)self)->timer;
}

static bool desk_next(void *self, pons_tool_event *ret)
{
    desk *d = self;
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
        pace(d);
    }
    return true;
}

// What is asked for stays so: the next life of the host finds it.
static void desk_close(void *self)
{
    desk *d = self;
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

int pons_ws_desk_open(const pons_ws_desk_options *o, pons_tools *ret, pons_error *err)
{
    static const pons_tools_ops ops = {.abi = PONS_TOOL_ABI,
                                       .name = "workspace",
                                       .close = desk_close,
                                       .list = desk_list,
                                       .assess = desk_assess,
                                       .start = desk_start,
                                       .adopt = desk_adopt,
                                       .cancel = desk_cancel,
                                       .event_fd = desk_event_fd,
                                       .next = desk_next};
    desk *d = pons_need_zeroed(1, sizeof *d);
    d->o = *o;
    d->dir = pons_need_text(o->dir);
    d->robot_id = pons_need_text(o->robot_id ? o->robot_id : ROBOT_DEFAULT);
    d->who = pons_need_text(o->who ? o->who : "");
    d->timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
    const int rc = pons_value_parse(LIST, sizeof LIST - 1, &d->list, err);
    if (rc < 0 || d->timer < 0) {
        desk_close(d);
        return rc < 0 ? rc : pons_error_set(err, PONS_EENV, WHERE, "no timer for the workspace");
    }
    *ret = (pons_tools){&ops, d};
    return PONS_OK;
}
