// hal_watchdog.c - the HAL watchdog.
//
//     begin --observed--> look --pending--> write running --> start --event--> write its end --> observe
//                          ^                                                                       |
//                          +-----------------------------------------------------------------------+
//     an action that is running already when a life begins: adopt its key instead of starting it
#include "pons/out_of_memory.h"
#include "pons/watchdog.h"
#include "pons/workspace_critic.h"
#include "workspace/hal/action_skills.h"
#include "workspace/hal/environment_page.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define QUERY      "query_world"
#define ROBOT      "robot_001"
#define WAIT_MS    50
#define OBSERVE_MS 1000 // between two looks while something runs

#define FRESH_MS      100 // what was seen so long ago at most is what an action is judged by
#define LOOK_AGAIN_MS 10  // while the body has not looked again since an action's end

enum { CALL_OBSERVE = 1, CALL_PICTURE = 2, CALL_FIRST = 3 }; // numbers of calls

struct pons_hal {
    pons_hal_options o;
    uint64_t next_call, running_call; // 0: nothing runs
    char running[256];                // the action's id
    bool observing, observed, connected;
    const pons_tools *by; // who does what runs: the body, or errands
    bool first;           // actions that are running were begun in an earlier life
    bool adopts, unheard; // what runs is asked about; the body has never heard of it
    int64_t observed_ms;  // when that was asked for
    size_t failed, pending;
    struct {                // an end that the file has not taken yet
        const char *status; // NULL: none
        pons_value *error, *result;
        bool looks;   // how the robot stands is judged first
        bool written; // the lesson has still to be
    } end;
    pons_ws_judgement judged; // of what runs
    bool lasts;               // its failure would be the same again
    pons_value *world, *robot;
    bool blind, picturing, pictured; // no cameras; a picture is being taken; none is due
    bool dirty;                      // observe again before anything else
    bool ended;       // because something has ended: the body must have looked again itself
    int64_t stale_at; // the body's clock at the first look after that; -1: none yet
    int64_t seen_ms, ended_ms; // when the body was seen last; when what ran has ended
};

static int64_t now(const pons_hal *h)
{
    return pons_now_ms(&h->o.clock);
}

static const pons_ws_doc *doc(const pons_hal *h, pons_ws_file file)
{
    return pons_ws_place_doc(h->o.place, file);
}

// ---- what is written ----------------------------------------------------------------------------

// false: the file cannot be written as it stands; it is tried again.
static bool write_action(pons_hal *h, const char *id, const char *status, pons_value *error,
                         pons_value *result)
{
    pons_autovalue took_error = error;
    pons_autovalue took_result = result;
    const pons_ws_record *r = pons_ws_find(doc(h, PONS_WS_ACTION), "action", id);
    pons_error err = PONS_ERROR_INIT;
    char when[32];
    if (!r) {
        return true; // somebody took it away
    }
    pons_utc_text((int64_t)time(NULL) * 1000, when);
    pons_autovalue value = json_copy(r->value);
    json_object_set_new(value, "status", json_string(status));
    if (strcmp(status, "running") != 0) {
        json_object_set_new(value, "completed_at", json_string(when));
    }
    if (error) {
        json_object_set(value, "error", error);
    }
    if (result) {
        json_object_set(value, "result", result);
    }
    const pons_ws_change c = {"action", id, value};
    if (pons_ws_place_change(h->o.place, PONS_WS_ACTION, &c, 1, &err) < 0) {
        return false;
    }
    h->failed += strcmp(status, "failed") == 0;
    if (h->o.reported) {
        h->o.reported(h->o.user, id, status, value);
    }
    return true;
}

static pons_value *error_of(const char *code, const char *message, const char *trace)
{
    return pons_object("code", json_string(code), "message", pons_string(message), "trace",
                       *trace ? pons_string(trace) : PONS_ABSENT, NULL);
}

static void fail(pons_hal *h, const char *id, const char *code, const char *message,
                 const char *trace)
{
    write_action(h, id, "failed", error_of(code, message, trace), NULL);
}

static const char *own_id(const pons_hal *h)
{
    return h->o.robot_id ? h->o.robot_id : ROBOT;
}

// ---- observing ----------------------------------------------------------------------------------

static void observe(pons_hal *h)
{
    pons_error err = PONS_ERROR_INIT;
    pons_autovalue none = json_object();
    if (h->observing) {
        return;
    }
    h->observed_ms = now(h);
    h->observing =
        h->o.robot.ops->start(h->o.robot.self, CALL_OBSERVE, QUERY, none, QUERY, &err) >= 0;
}

// What has not been seen since something ended. A body without cameras is not asked again.
static void take_pictures(pons_hal *h)
{
    pons_error err = PONS_ERROR_INIT;
    pons_autovalue args = pons_object("depth", json_true(), NULL);
    const pons_tools *t = &h->o.pictures;
    if (!t->ops || h->blind || h->picturing || h->pictured) {
        return;
    }
    h->picturing = t->ops->start(t->self, CALL_PICTURE, "picture", args, "", &err) >= 0;
    h->blind = !h->picturing;
    h->pictured = true;
}

static void on_pictures(pons_hal *h, const pons_tool_event *e)
{
    pons_error err = PONS_ERROR_INIT; // the next one is as good
    const pons_value *all = pons_get(pons_get(e->value, "data"), "pictures");
    h->picturing = false;
    h->blind = pons__ws_observe_pictures(h->o.place, all, &err) == PONS_ENOTFOUND;
}

static void on_observed(pons_hal *h, const pons_tool_event *e)
{
    const pons_value *status = pons_get(e->value, "data");
    h->observing = false;
    h->connected = pons_get_bool(status, "connected", false);
    if (e->kind != PONS_TOOL_DONE || !h->connected) {
        return;
    }
    pons_value_unref(h->world);
    h->world = pons_value_ref(pons_get(status, "world"));
    pons_value_unref(h->robot);
    h->robot = pons_value_ref(pons_get(status, "robot"));
    // What is newest when an action ends is older than its end: the first report behind it counts.
    const int64_t at = pons_get_int(h->robot, "robot_ms", 0);
    if (h->dirty && h->ended && at > 0 && (h->stale_at < 0 || at == h->stale_at)) {
        h->stale_at = at;
        return;
    }
    pons_error err = PONS_ERROR_INIT;
    const int rc = pons__ws_observe(h->o.place, own_id(h), status, &err);
    h->observed = true; // a file that cannot be written holds nobody up
    h->dirty = rc == PONS_EAGAIN;
    h->ended = false;
    h->stale_at = -1;
    h->seen_ms = now(h);
    take_pictures(h);
}

// ---- actions ------------------------------------------------------------------------------------

static void on_event(pons_hal *h, const pons_tool_event *e, const pons_tools *by)
{
    if (by == &h->o.robot && e->call == CALL_OBSERVE) {
        on_observed(h, e);
        return;
    }
    if (by == &h->o.pictures) {
        on_pictures(h, e);
        return;
    }
    if (by != h->by || e->call != h->running_call || e->kind == PONS_TOOL_PROGRESS) {
        return;
    }
    const bool adopts = h->adopts;
    h->adopts = false;
    if (adopts && e->kind != PONS_TOOL_DONE && e->error.status == PONS_ENOTFOUND) {
        h->unheard = h->first = true; // the life before died before it asked: it is begun now
        h->running_call = 0;
        return;
    }
    h->ended_ms = now(h);
    h->pictured = false;
    if (e->kind == PONS_TOOL_DONE) {
        const pons_value *data = pons_get(e->value, "data");
        h->end.status = "completed";
        h->end.result = pons_value_ref(data ? data : pons_get(e->value, "output"));
        h->end.looks = h->dirty = h->ended = true;
        h->stale_at = -1;
    } else {
        const bool unknown = e->error.status == PONS_ECLOSED;
        // What somebody stopped, or what had no body to do it, says nothing of the action.
        h->lasts = e->error.status == PONS_EIO && !strcasestr(e->error.message, "stop");
        h->end.status = "failed";
        h->end.error = error_of(unknown ? "OUTCOME_UNKNOWN" : "SKILL_FAILED", e->error.message,
                                e->error.cause);
    }
}

// An arrival that was to look at its target: by where the robot stands now.
static void judge_heading(pons_hal *h)
{
    const pons_ws_record *r = pons_ws_find(doc(h, PONS_WS_ACTION), "action", h->running);
    double off = 0, most = 0;
    char what[160];
    h->end.looks = false;
    if (!r ||
        !pons__ws_heading(r->value, h->robot, h->world, doc(h, PONS_WS_ENVIRONMENT), &off, &most) ||
        off <= most) {
        return;
    }
    snprintf(what, sizeof what, "it stands %.1f degrees off its target; success_heading_deg is %g",
             off, most);
    pons_value_unref(h->end.result);
    h->end.result = NULL;
    h->end.status = "failed";
    h->end.error = error_of("HEADING_NOT_REACHED", what, "");
}

static pons_ws_asked asked_of(const pons_hal *h, const pons_value *action)
{
    const char *who = pons_get_str(action, "robot_id", own_id(h));
    return (pons_ws_asked){.action_type = pons_get_str(action, "action_type", ""),
                           .params = pons_get(action, "params"),
                           .robot_id = who,
                           .robot = strcmp(who, own_id(h)) == 0 ? h->robot : NULL};
}

// false: the file is tried again.
static bool learn_failure(pons_hal *h)
{
    const pons_ws_record *r = pons_ws_find(doc(h, PONS_WS_ACTION), "action", h->running);
    const char *code = pons_get_str(h->end.error, "code", "");
    pons_error err = PONS_ERROR_INIT;
    if (!r || !h->end.error || !h->lasts || !h->judged.rules || strcmp(code, "SKILL_FAILED") != 0) {
        return true;
    }
    pons_autovalue action = pons_value_ref(r->value);
    const pons_ws_asked asked = asked_of(h, action);
    return pons_ws_learn_failure(h->o.place, &asked, &h->judged, code,
                                 pons_get_str(h->end.error, "message", ""), &err) != PONS_EAGAIN;
}

// Until the file takes it, the action counts as running.
static void write_end(pons_hal *h)
{
    if (!h->end.status || (h->end.looks && h->dirty && h->connected)) {
        return;
    }
    if (h->end.looks) {
        judge_heading(h);
    }
    h->end.written =
        h->end.written || write_action(h, h->running, h->end.status, pons_value_ref(h->end.error),
                                       pons_value_ref(h->end.result));
    if (!h->end.written || !learn_failure(h)) {
        return;
    }
    pons_ws_judgement_clear(&h->judged);
    pons_value_unref(h->end.error);
    pons_value_unref(h->end.result);
    h->end.status = NULL;
    h->end.error = h->end.result = NULL;
    h->end.written = false;
    h->running_call = 0;
    if (h->seen_ms <= h->ended_ms) { // else it was seen behind the end already
        h->dirty = h->ended = true;
        h->stale_at = -1;
    }
}

static void begin(pons_hal *h, const char *id, uint64_t call, const pons_tools *by)
{
    h->by = by;
    snprintf(h->running, sizeof h->running, "%s", id);
    h->running_call = call;
}

// It stands as running in the file, and did not come about.
static void end_failed(pons_hal *h, const char *id, const char *code, const pons_error *why)
{
    begin(h, id, h->next_call++, NULL);
    h->lasts = false;
    h->ended_ms = now(h);
    h->end.status = "failed";
    h->end.error = error_of(code, why->message, why->cause);
    write_end(h);
}

static const pons_tools *who_does(const pons_hal *h, const pons__ws_call *c)
{
    const pons_tools *by = c->tree ? &h->o.trees : c->errand ? &h->o.errands : &h->o.robot;
    return by->ops ? by : NULL;
}

// Whether nothing else is broken.
static bool says_only(const pons_value *rules, const char *rule)
{
    bool only = true;
    pons_each(r, rules) {
        const char *name = pons_get_str(r, "rule", "");
        only = only && (strcmp(name, rule) == 0 || strcmp(name, "lesson") == 0);
    }
    return only;
}

// The workspace's critic, then the body's. False: it is refused, the action has failed, and a lesson says why.
static bool passes(pons_hal *h, const pons_ws_record *r, const pons__ws_call *c)
{
    char id[sizeof h->running], why[512] = "";
    pons_error err = PONS_ERROR_INIT;
    pons_autovalue action = pons_value_ref(r->value);
    const pons_ws_asked asked = asked_of(h, action);
    snprintf(id, sizeof id, "%s", r->id); // the record goes with the next write
    pons_ws_judge(h->o.place, &asked, &h->judged);
    if (!h->judged.ok) {
        if (pons_ws_learn(h->o.place, &asked, &h->judged, &err) == PONS_EAGAIN) {
            return false; // it stays pending until the file can be written
        }                 // else LOG.md and the action say it
        const bool cannot = c->code && says_only(h->judged.rules, "supported_action");
        fail(h, id, cannot ? c->code : "CRITIC_REFUSED", cannot ? c->what : h->judged.why,
             h->judged.lesson);
        return false;
    }
    if (c->code) {
        fail(h, id, c->code, c->what, "");
        return false;
    }
    const int rc = !c->errand && h->o.judge
                       ? h->o.judge(h->o.user, c->skill, c->args, why, sizeof why)
                       : PONS_OK;
    if (rc == PONS_EREFUSED) {
        fail(h, id, "CRITIC_REFUSED", why, "");
    }
    return rc >= 0; // without a body it stays pending
}

// An action that an earlier life had begun, or was about to.
static void take_up(pons_hal *h, const pons_ws_record *r, const pons__ws_call *c, const char *key)
{
    pons_error err = PONS_ERROR_INIT;
    char id[sizeof h->running];
    pons_autovalue action = pons_value_ref(r->value);
    const bool unheard = h->unheard && strcmp(h->running, r->id) == 0;
    snprintf(id, sizeof id, "%s", r->id);
    if (unheard && !passes(h, r, c)) {
        return;
    }
    const uint64_t call = h->next_call++;
    const pons_tools *by = who_does(h, c);
    const pons_value *args = c->errand ? pons_get(action, "params") : c->args;
    int rc = PONS_ENOTFOUND;
    if (by && c->tree) { // started anew it finds what its leaves did
    } else if (!by || (!unheard && !by->ops->adopt)) {
        rc = pons_error_set(&err, PONS_EUNSUPPORTED, "watchdog", "nobody here knows of it");
    } else if (!unheard) {
        rc = by->ops->adopt(by->self, call, c->skill, key, &err);
        h->adopts = rc >= 0;
    }
    if (rc == PONS_ENOTFOUND) { // it was certainly not started
        rc = by->ops->start(by->self, call, c->skill, args, key, &err);
    }
    if (unheard && rc == PONS_EENV) {
        return; // the body has just gone
    }
    h->unheard = false;
    if (rc < 0) {
        end_failed(h, id, "OUTCOME_UNKNOWN", &err);
    } else {
        begin(h, id, call, by);
    }
}

static void do_pending(pons_hal *h, const pons_ws_record *r, const pons__ws_call *c,
                       const char *key)
{
    pons_error err = PONS_ERROR_INIT;
    char id[sizeof h->running];
    pons_autovalue action = pons_value_ref(r->value);
    const pons_tools *by = who_does(h, c);
    snprintf(id, sizeof id, "%s", r->id); // the record goes with the next write
    if (c->code && strcmp(c->code, "ACTION_NOT_SUPPORTED") != 0) { // it says nothing to judge
        fail(h, id, c->code, c->what, "");
        return;
    }
    if (c->at_once) {
        write_action(h, id, "completed", NULL, NULL); // a body answers, else nothing is looked at
        return;
    }
    if (!by && !c->code) {
        fail(h, id, "ACTION_NOT_SUPPORTED", "nobody here carries out tasks in words or trees", "");
        return;
    }
    pons_ws_judgement_clear(&h->judged);
    if (!passes(h, r, c)) {
        return;
    }
    if (!write_action(h, id, "running", NULL, NULL)) {
        return; // nothing has been asked of the body; it is still pending
    }
    const uint64_t call = h->next_call++;
    const pons_value *args = c->errand ? pons_get(action, "params") : c->args;
    const int rc = by->ops->start(by->self, call, c->skill, args, key, &err);
    if (rc == PONS_EENV) { // the body has just gone: it is taken up when there is one
        h->first = true;
        return;
    }
    if (rc < 0) {
        end_failed(h, id, "SKILL_FAILED", &err);
        return;
    }
    begin(h, id, call, by);
}

static bool is_ours(const pons_hal *h, const pons_value *action)
{
    const char *robot = pons_get_str(action, "robot_id", NULL);
    return !*pons_get_str(action, "claimed_by", "") &&
           (!h->o.only || !robot || strcmp(robot, h->o.only) == 0);
}

// An action without a name gets one, so that the same one can be asked for again: it is another action then.
static void give_name(pons_hal *h, const pons_ws_record *r)
{
    char id[48], when[32];
    pons_error err = PONS_ERROR_INIT;
    pons_autovalue value = json_copy(r->value);
    pons_utc_text((int64_t)time(NULL) * 1000, when);
    snprintf(id, sizeof id, "act_%llx", (unsigned long long)pons_wall_ms(&h->o.clock));
    json_object_set_new(value, "action_id", json_string(id));
    if (!pons_get(value, "created_at")) {
        json_object_set_new(value, "created_at", json_string(when));
    }
    const pons_ws_change c = {"action", r->id, value};
    pons_ws_place_change(h->o.place, PONS_WS_ACTION, &c, 1, &err); // else it is tried again
}

// The next action: one that runs without us, else the first that is pending.
static void look(pons_hal *h)
{
    size_t n = 0;
    const pons_ws_doc *d = doc(h, PONS_WS_ACTION);
    const pons_ws_record *all = d ? pons_ws_records(d, &n) : NULL, *next = NULL;
    bool taken_up = false;
    h->pending = 0;
    for (size_t i = 0; i < n; i++) {
        const char *status = pons_get_str(all[i].value, "status", "");
        const bool runs = strcmp(status, "running") == 0, waits = strcmp(status, "pending") == 0;
        if (!is_ours(h, all[i].value) || !(waits || (runs && h->first))) {
            continue;
        }
        h->pending++;
        if (!next || (runs && !taken_up)) {
            next = &all[i];
            taken_up = runs;
        }
    }
    if (h->running_call || pons_ws_place_suspended(h->o.place, PONS_WS_ACTION) ||
        !pons_ws_place_may_write(h->o.place, PONS_WS_ACTION)) {
        return;
    }
    if (!next) {
        h->first = false;
        return;
    }
    if (!taken_up && strncmp(next->id, PONS_WS_UNNAMED, strlen(PONS_WS_UNNAMED)) == 0) {
        give_name(h, next);
        return;
    }
    if (!taken_up && now(h) - h->seen_ms > FRESH_MS) {
        h->dirty = true; // others move the body too: it is judged by what is true now
        return;
    }
    pons_autovalue tools = NULL;
    pons__ws_call c;
    char key[64];
    pons_error err = PONS_ERROR_INIT;
    h->o.robot.ops->list(h->o.robot.self, &tools, &err);
    pons__ws_call_of(next->value, tools, h->world, doc(h, PONS_WS_ENVIRONMENT), &c);
    pons__ws_call_key(next->value, key);
    if (taken_up) {
        take_up(h, next, &c, key);
    } else {
        h->first = false; // all that ran when this life began is taken up
        do_pending(h, next, &c, key);
    }
    pons_value_unref(c.args);
}

// ---- public -------------------------------------------------------------------------------------

int pons_hal_open(const pons_hal_options *options, pons_hal **ret, pons_error *err)
{
    pons_hal *h = pons_need_zeroed(1, sizeof *h);
    h->o = *options;
    h->next_call = CALL_FIRST;
    h->first = true;
    h->dirty = true;
    h->stale_at = -1;
    *ret = h;
    return PONS_OK;
}

void pons_hal_close(pons_hal *h)
{
    if (!h) {
        return;
    }
    pons_ws_judgement_clear(&h->judged);
    pons_value_unref(h->world);
    pons_value_unref(h->robot);
    pons_value_unref(h->end.error);
    pons_value_unref(h->end.result);
    free(h);
}

int pons_hal_step(pons_hal *h)
{
    pons_tool_event e;
    int wait = pons_ws_place_poll(h->o.place, now(h));
    const pons_tools *const all[] = {&h->o.robot, &h->o.errands, &h->o.trees, &h->o.pictures};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        while (all[i]->ops && all[i]->ops->next(all[i]->self, &e)) {
            on_event(h, &e, all[i]);
            pons_tool_event_clear(&e);
        }
    }
    write_end(h);
    if (!h->observing && (!h->connected || h->dirty || now(h) - h->observed_ms >= OBSERVE_MS)) {
        const int64_t pause = !h->connected ? WAIT_MS : h->stale_at >= 0 ? LOOK_AGAIN_MS : 0;
        const bool early = h->observed_ms && now(h) - h->observed_ms < pause;
        if (!early) {
            observe(h);
        }
    }
    if (h->observed && !h->dirty) {
        look(h);
    }
    const int most = h->dirty && h->stale_at >= 0 ? LOOK_AGAIN_MS : WAIT_MS;
    wait = wait < most ? wait : most;
    return wait;
}

bool pons_hal_idle(const pons_hal *h)
{
    return h->observed && !h->picturing && !h->dirty && !h->running_call && h->pending == 0 &&
           !h->first;
}

size_t pons_hal_failed(const pons_hal *h)
{
    return h->failed;
}
