// session_run.c - one session from its claim to its end.
//
//     BODY --there--> LOOK --seen--> ASK --answer--> CALL … CALL --all done--> LOOK, or OVER
//       |               (a policy)                    ^ |
//       +---- builtin: a plan without questions ------+ +-- failed, too late, refused: OVER
//       +---- noted by an earlier life: adopt --------+
//
// A robot does not stand while its policy thinks: near the end of a chunk of actions its call becomes `ahead`, and the
// session goes on to LOOK while the body still does it. The next chunk says what it is about (from_ms), and takes over
// from the one ahead (body/skills/policy/chunk_blending.c). A policy that is late leaves the robot standing at the chunk's end;
// whatever ends the session stops the chunk ahead.
//
// A step is noted in the lane, fenced by the claim's epoch, before the body is asked for it under a key that is
// the session's, the attempt's and the step's. So whoever has the session next asks the body about just
// that key: it runs, it ended, it never began; and what nobody can say is OUTCOME_UNKNOWN.
//
// Another attempt follows a failure of a session that never moved anything, or whose skill says that it is
// idempotent; so long as there are attempts, after a pause.
#include "pons/file.h"
#include "pons/out_of_memory.h"
#include "pons/random.h"
#include "pons/workspace_critic.h"
#include "workspace/hal/action_skills.h"
#include "workspace/runtime/runtime_common.h"

#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define WAITS        "DEPENDENCY_WAITS" // it is tried again, however often
#define SESSION_S    600.0              // time-outs, unless the session says otherwise
#define SKILL_S      120.0
#define SECONDS_MAX  1e9
#define BODY_WAIT_MS 30000
#define FIXED_MS     1000
#define PAUSE_MAX_S  60.0
#define STEPS_MAX    1000 // of an episode
#define AHEAD_MOST   0.8  // of a chunk, at whose beginning the next is asked for
#define QUERY        "query_world"

// SEE: what the body says of itself, by which the next step is judged. LOOK: the same for a policy.
typedef enum phase { BODY, LOOK, PICTURE, ASK, SEE, CALL, OVER, LOST } phase;

struct rt_run {
    pons_runtime *r;
    char id[RT_ID_MAX], target[RT_ID_MAX];
    uint64_t epoch;
    int attempt;
    pons_value *session, *skill;
    const rt_kind *kind;
    rt_body *body;
    policy *policy;
    pons_tools eyes;            // ops NULL: not opened
    pons_value *robot, *images; // as they were looked at for the policy
    phase phase;
    rt_plan plan;
    size_t at;    // in the plan
    int64_t step; // of all of them
    bool acted;   // a step was asked of the body, as far as anybody can know
    bool resumed, adopts;
    bool ended, lasts,
        learnt;       // a step has just; its failure would be the same again; it is in LESSONS
    bool written;     // the end is, wherever people read
    int64_t stale_at; // the body's clock at the first look after a step's end; -1: none yet
    int64_t began_ms, phase_ms, spent_ms, wall_ms;
    uint64_t call;
    struct {           // the chunk that the body does while the policy is asked for the next
        uint64_t call; // 0: none
        pons_value *doing;
        int64_t step, began_ms;
    } ahead;
    int64_t looked_robot_ms; // the body's clock at the last look for the policy
    double latency_s;        // of that clock, from a look to the call that came of it
    pons_value *steps, *result;
    int32_t end; // OVER
    rt_refusal why;
    session_copy next; // of this lane, claimed by this one's end
};

const char *pons__rt_run_target(const rt_run *s)
{
    return s->target;
}

// ---- what is noted ------------------------------------------------------------------------------

static int64_t spent(const rt_run *s)
{
    return s->spent_ms + pons__rt_now(s->r) - s->began_ms;
}

static pons_value *note_of(const rt_run *s)
{
    return pons_object("attempt", json_integer(s->attempt), "step", json_integer(s->step), "at",
                       json_integer((json_int_t)s->at), "last", json_boolean(s->plan.last), "acted",
                       json_boolean(s->acted), "spent_ms", json_integer(spent(s)), "so_far",
                       pons_optional(s->result), "plan",
                       s->plan.calls ? pons_value_ref(s->plan.calls) : PONS_ABSENT, NULL);
}

static int write_note(rt_run *s, pons_error *err)
{
    char *text = NULL;
    pons_autovalue note = note_of(s);
    const long n = pons_value_line(note, &text);
    const pons_bytes bytes = {text, n > 0 ? (size_t)n : 0};
    const int rc = s->r->o.lanes.ops->note(s->r->o.lanes.self, s->id, s->epoch, bytes, err);
    free(text);
    return rc;
}

static pons_value *parsed(pons_bytes b)
{
    pons_value *v = NULL;
    return b.len && pons_value_parse(b.data, b.len, &v, NULL) == PONS_OK ? v : json_object();
}

static void read_note(rt_run *s, pons_bytes bytes)
{
    pons_autovalue note = parsed(bytes);
    s->spent_ms = pons_get_int(note, "spent_ms", 0);
    const pons_value *calls = pons_get(note, "plan");
    if (pons_get_int(note, "attempt", 0) != s->attempt || !pons_get_bool(note, "acted", false) ||
        !calls) {
        return;
    }
    s->resumed = s->adopts = s->acted = true;
    s->plan = (rt_plan){pons_value_ref(calls), pons_get_bool(note, "last", true)};
    s->at = (size_t)pons_get_int(note, "at", 0);
    s->step = pons_get_int(note, "step", 0);
    s->result = pons_value_ref(pons_get(note, "so_far"));
}

static void key_of(const rt_run *s, char ret[64])
{
    char hash[33];
    pons_autovalue what = pons_object(
        "session", json_string(s->id), "at", pons_optional(pons_get(s->session, "created_at")),
        "params", pons_optional(pons_get(pons_get(s->session, "execution"), "params")), "attempt",
        json_integer(s->attempt), "step", json_integer(s->step), NULL);
    pons_value_hash(what, hash);
    snprintf(ret, 64, "run-%s", hash);
}

// ---- begun --------------------------------------------------------------------------------------

static const pons_value *record_of(const pons_runtime *r, pons_ws_file file, const char *kind,
                                   const char *id)
{
    const pons_ws_doc *d = pons_ws_place_doc(r->o.place, file);
    const pons_ws_record *rec = d ? pons_ws_find(d, kind, id) : NULL;
    return rec ? rec->value : NULL;
}

static void enter(rt_run *s, phase p)
{
    s->phase = p;
    s->phase_ms = pons__rt_now(s->r);
}

__attribute__((format(printf, 4, 5))) static void over(rt_run *s, int32_t end, const char *code,
                                                       const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(s->why.why, sizeof s->why.why, fmt, ap);
    va_end(ap);
    s->why.code = code;
    s->end = end;
    if (s->ahead.call) { // the robot stops
        s->body->tools.ops->cancel(s->body->tools.self, s->ahead.call);
        s->ahead.call = 0;
    }
    enter(s, OVER);
}

rt_run *pons__rt_run_begin(pons_runtime *r, const pons_session_row *row)
{
    rt_run *s = pons_need_zeroed(1, sizeof *s);
    pons_error err = PONS_ERROR_INIT;
    s->r = r;
    strncpy(s->id, row->id, sizeof s->id - 1);
    strncpy(s->target, row->lane, sizeof s->target - 1);
    s->epoch = row->epoch;
    s->attempt = row->attempt;
    s->session = parsed(row->data);
    s->steps = json_array();
    s->began_ms = s->phase_ms = pons__rt_now(r);
    s->wall_ms = pons_wall_ms(&r->o.clock);
    read_note(s, row->note);
    const char *skill = pons_get_str(s->session, "skill_ref", "");
    const pons_value *target = record_of(r, PONS_WS_TARGETS, "target", s->target);
    const pons_value *runtime_skill = record_of(r, PONS_WS_SKILLRUNTIME, "skill", skill);
    s->skill = pons_value_ref(runtime_skill ? runtime_skill
                                            : record_of(r, PONS_WS_SKILLS, "skill", skill));
    rt_refusal why = {0};
    const rt_contract c = {.session = s->session,
                           .target = target,
                           .skill = s->skill,
                           .environment = pons_ws_place_doc(r->o.place, PONS_WS_ENVIRONMENT)};
    pons__rt_check(&c, &s->kind, &why);
    pons_value_unref(r->circles); // what was found of another text
    r->circles = NULL;
    const rt_depends may =
        why.code || s->resumed ? RT_READY : pons__rt_depends(r, s->id, s->session, &why);
    if (may == RT_WAITS) { // it has come into its lane another way, or depends on another one now
        over(s, PONS_SESSION_FAILED, WAITS, "those that it depends on have not ended");
    } else if (why.code &&
               !s->resumed) { // what has begun is asked about, whatever the files say now
        over(s, PONS_SESSION_FAILED, why.code, "%s", why.why);
    } else if (!target) {
        over(s, PONS_SESSION_UNKNOWN, "OUTCOME_UNKNOWN", "its target is registered no more");
    } else if (!(s->body = pons__rt_body(r, s->target, target, &err))) {
        over(s, s->resumed ? PONS_SESSION_UNKNOWN : PONS_SESSION_FAILED,
             s->resumed ? "OUTCOME_UNKNOWN" : "BACKEND_NOT_AVAILABLE", "%s", err.message);
    }
    return s;
}

bool pons__rt_run_next(rt_run *s, session_copy *ret)
{
    *ret = s->next;
    s->next.text = NULL;
    return ret->text != NULL;
}

void pons__rt_run_free(rt_run *s)
{
    pons__rt_copy_free(&s->next);
    pons__policy_close(s->policy);
    if (s->eyes.ops) {
        s->eyes.ops->close(s->eyes.self);
    }
    pons_value_unref(s->robot);
    pons_value_unref(s->images);
    pons_value_unref(s->session);
    pons_value_unref(s->skill);
    pons_value_unref(s->plan.calls);
    pons_value_unref(s->ahead.doing);
    pons_value_unref(s->steps);
    pons_value_unref(s->result);
    free(s);
}

// ---- steps of the body --------------------------------------------------------------------------

static const pons_value *call_now(const rt_run *s)
{
    return json_array_get(s->plan.calls, s->at);
}

static void add_step_of(rt_run *s, const pons_value *c, int64_t step, int64_t began_ms,
                        const pons_value *result, const char *error)
{
    if (json_array_size(s->steps) >= STEPS_MAX) {
        return;
    }
    json_array_append_new(s->steps, pons_object("step", json_integer(step), "skill",
                                                pons_optional(pons_get(c, "skill")), "args",
                                                pons_optional(pons_get(c, "args")), "ms",
                                                json_integer(pons__rt_now(s->r) - began_ms),
                                                "result", pons_optional(result), "error",
                                                error ? pons_string(error) : PONS_ABSENT, NULL));
}

static void add_step(rt_run *s, const pons_value *result, const char *error)
{
    add_step_of(s, call_now(s), s->step, s->phase_ms, result, error);
}

// The chunk ahead is the step that the session is at again.
static void back_to_ahead(rt_run *s)
{
    pons_value *calls = json_array();
    json_array_append(calls, s->ahead.doing);
    pons_value_unref(s->plan.calls);
    s->plan.calls = calls;
    s->at = 0;
    s->step = s->ahead.step;
    s->call = s->ahead.call;
    s->ahead.call = 0;
    enter(s, CALL);
}

// The plan is done.
static void next_plan(rt_run *s)
{
    if (s->plan.last && s->ahead.call) { // it is over when the chunk ahead is
        back_to_ahead(s);
    } else if (s->plan.last || !s->kind) {
        over(s, PONS_SESSION_SUCCEEDED, NULL, "%s", "");
    } else {
        enter(s, LOOK);
        s->call = 0;
    }
}

// The workspace's critic, when its files are about this body; false: it is refused, and a lesson says why.
static bool passes_files(rt_run *s, const char *skill, const pons_value *args,
                         const pons_value *robot)
{
    pons_autovalue params = NULL;
    pons_error ignored = PONS_ERROR_INIT;
    pons_ws_judgement j = {0};
    const char *type = NULL;
    if (s->r->o.described && !s->r->o.described(s->r->o.user, s->target)) {
        return true;
    }
    pons__ws_action_of(skill, args, &type, &params);
    const pons_ws_asked asked = {
        .action_type = type, .params = params, .robot_id = s->target, .robot = robot};
    pons_ws_judge(s->r->o.place, &asked, &j);
    const bool ok = j.ok;
    if (!ok) {
        s->learnt = pons_ws_learn(s->r->o.place, &asked, &j, &ignored) >= 0;
        over(s, PONS_SESSION_FAILED, "CRITIC_REFUSED", "%s", j.why);
    }
    pons_ws_judgement_clear(&j);
    return ok;
}

static bool judged(rt_run *s, const char *skill, const pons_value *args, const pons_value *robot)
{
    char why[RT_WHY_MAX] = "";
    if (!passes_files(s, skill, args, robot)) {
        return false;
    }
    if (s->r->o.judge && s->r->o.judge(s->r->o.user, &s->body->tools, skill, args, why,
                                       sizeof why) == PONS_EREFUSED) {
        over(s, PONS_SESSION_FAILED, "CRITIC_REFUSED", "%s", why);
        return false;
    }
    return true;
}

static void next_call(rt_run *s);

// Asks the body what it says of itself. False: it cannot be asked.
static bool query(rt_run *s)
{
    pons_error err = PONS_ERROR_INIT;
    pons_autovalue none = json_object();
    s->call = s->r->next_call++;
    if (s->body->tools.ops->start(s->body->tools.self, s->call, QUERY, none, QUERY, &err) < 0) {
        over(s, PONS_SESSION_FAILED, "BODY_NOT_THERE", "%s", err.message);
        return false;
    }
    return true;
}

static void next_call(rt_run *s)
{
    if (!call_now(s)) {
        next_plan(s);
        return;
    }
    enter(s, SEE);
    query(s);
}

static void start_call(rt_run *s, const pons_value *robot)
{
    const pons_value *c = call_now(s), *args = pons_get(c, "args");
    const char *skill = pons_get_str(c, "skill", "");
    const pons_tools *t = &s->body->tools;
    pons_error err = PONS_ERROR_INIT;
    char key[64];
    if (!judged(s, skill, args, robot)) {
        return;
    }
    const bool acted = s->acted;
    s->acted = true;
    const int rc = write_note(s, &err);
    if (rc == PONS_ESTALE) {
        s->phase = LOST;
        return;
    }
    if (rc < 0) { // nothing was asked of the body
        s->acted = acted;
        over(s, PONS_SESSION_FAILED, "STORE_FAILED", "%s", err.message);
        return;
    }
    enter(s, CALL);
    s->call = s->r->next_call++;
    key_of(s, key);
    if (t->ops->start(t->self, s->call, skill, args, key, &err) < 0) {
        s->acted = acted;
        over(s, PONS_SESSION_FAILED, "BODY_NOT_THERE", "%s", err.message);
    }
}

// What is newest when a step ends is older than its end: the first report behind it counts.
static void seen(rt_run *s, const pons_value *robot)
{
    const int64_t at = pons_get_int(robot, "robot_ms", 0);
    if (s->ended && at > 0 && (s->stale_at < 0 || at == s->stale_at)) {
        s->stale_at = at; // s->call is 0: the next step asks again
        return;
    }
    s->ended = false;
    s->latency_s = (double)(at - s->looked_robot_ms) / 1000.0;
    start_call(s, robot);
}

// What an earlier life noted was certainly not started. A policy's answer is about what was seen then: it is asked anew.
static void never_began(rt_run *s)
{
    s->call = 0;
    s->adopts = false;
    if (s->kind && s->kind->asks) {
        enter(s, LOOK);
    } else {
        next_call(s);
    }
}

static void adopt(rt_run *s)
{
    const pons_value *c = call_now(s);
    const pons_tools *t = &s->body->tools;
    pons_error err = PONS_ERROR_INIT;
    char key[64];
    if (!c || !t->ops->adopt) {
        over(s, PONS_SESSION_UNKNOWN, "OUTCOME_UNKNOWN", "the body cannot be asked");
        return;
    }
    enter(s, CALL);
    s->call = s->r->next_call++;
    key_of(s, key);
    const int rc = t->ops->adopt(t->self, s->call, pons_get_str(c, "skill", ""), key, &err);
    if (rc == PONS_ENOTFOUND) {
        never_began(s);
    } else if (rc < 0) {
        over(s, PONS_SESSION_UNKNOWN, "OUTCOME_UNKNOWN", "%s", err.message);
    }
}

static void call_failed(rt_run *s, const pons_error *e)
{
    const bool adopted = s->adopts;
    s->adopts = false;
    if (adopted && e->status == PONS_ENOTFOUND) {
        never_began(s);
        return;
    }
    add_step(s, NULL, e->message);
    if (e->status == PONS_ECLOSED) {
        over(s, PONS_SESSION_UNKNOWN, "OUTCOME_UNKNOWN", "%s", e->message);
    } else if (e->status == PONS_EREFUSED || e->status == PONS_EBUSY || e->status == PONS_EENV) {
        s->acted = s->step > 0; // this step did not begin
        over(s, PONS_SESSION_FAILED, e->status == PONS_EREFUSED ? "BODY_REFUSED" : "BODY_NOT_THERE",
             "%s", e->message);
    } else {
        // What somebody stopped says nothing of the action.
        s->lasts = e->status == PONS_EIO && !strcasestr(e->message, "stop");
        over(s, PONS_SESSION_FAILED, "SKILL_FAILED", "%s", e->message);
    }
}

// What a step says of its own way, added to that of the steps before it: the session's result is the whole run's.
static pons_value *add_up(const rt_run *s, const pons_value *step)
{
    static const char *const sums[] = {"distance_m", "duration_s", "recoveries"};
    pons_value *all = json_is_object(step) ? json_copy((json_t *)(uintptr_t)step) : NULL;
    for (size_t i = 0; all && i < sizeof sums / sizeof *sums; i++) {
        const pons_value *before = pons_get(s->result, sums[i]), *is = pons_get(step, sums[i]);
        if (json_is_integer(before) && json_is_integer(is)) {
            json_object_set_new(all, sums[i],
                                json_integer(json_integer_value(before) + json_integer_value(is)));
        } else if (json_is_number(before)) {
            json_object_set_new(all, sums[i],
                                json_real(json_number_value(before) + json_number_value(is)));
        }
    }
    return all ? all : pons_value_ref(step);
}

// What a step that has ended says.
static const pons_value *take_result(rt_run *s, const pons_value *value)
{
    const pons_value *data = pons_get(value, "data");
    pons_value *result = add_up(s, data ? data : pons_get(value, "output"));
    pons_value_unref(s->result);
    s->result = result;
    return data;
}

static void call_done(rt_run *s, const pons_value *value)
{
    s->adopts = false;
    add_step(s, take_result(s, value), NULL);
    s->at++;
    s->step++;
    s->ended = true;
    s->stale_at = -1;
    next_call(s);
}

// ---- the chunk ahead ----------------------------------------------------------------------------

// The body does a chunk, of which so much is left: whether it is time to ask for the next.
static bool time_to_ask(const rt_run *s, const pons_value *progress)
{
    const pons_value *args = pons_get(call_now(s), "args");
    const double chunk_s =
        (double)json_array_size(pons_get(args, "actions")) / pons_get_num(args, "hz", 1.0);
    const double left_s =
        pons_get_num(progress, "total", INFINITY) - pons_get_num(progress, "progress", 0.0);
    // What is left is left out of the next one. A policy that is slower than its chunk would be asked for nothing.
    const double most_s = AHEAD_MOST * chunk_s;
    const double wants_s = fmin(fmax(chunk_s / 2.0, 2.0 * s->latency_s), most_s);
    return s->latency_s < most_s && left_s <= wants_s;
}

static void look_ahead(rt_run *s, const pons_value *progress)
{
    if (!s->kind || !s->kind->ahead || s->plan.last || s->ahead.call || !time_to_ask(s, progress)) {
        return;
    }
    pons_value_unref(s->ahead.doing);
    s->ahead.doing = pons_value_ref(call_now(s));
    s->ahead.call = s->call;
    s->ahead.step = s->step++;
    s->ahead.began_ms = s->phase_ms;
    s->call = 0;
    s->adopts = false;
    enter(s, LOOK);
}

static void ahead_ended(rt_run *s, const pons_tool_event *e)
{
    const bool taken_over =
        e->kind == PONS_TOOL_FAILED && e->error.status == PONS_ECANCELED && s->phase == CALL;
    if (e->kind == PONS_TOOL_DONE || taken_over) {
        s->ahead.call = 0;
        add_step_of(s, s->ahead.doing, s->ahead.step, s->ahead.began_ms, take_result(s, e->value),
                    NULL);
        s->ended = s->ended || !taken_over;
        s->stale_at = -1;
        return;
    }
    if (s->phase == CALL && s->call) { // the next one may drive on
        s->body->tools.ops->cancel(s->body->tools.self, s->call);
    }
    back_to_ahead(s); // the failure is that step's
    s->call = 0;
    call_failed(s, &e->error);
}

// ---- a policy -----------------------------------------------------------------------------------

static double seconds(const rt_run *s, const char *which, double otherwise)
{
    const double v = pons_get_num(pons_get(s->session, "timeouts"), which, otherwise);
    return v > 0 && isfinite(v) ? fmin(v, SECONDS_MAX) : otherwise;
}

static int64_t session_left_ms(const rt_run *s)
{
    return (int64_t)(seconds(s, "session", SESSION_S) * 1000.0) - spent(s);
}

static int64_t skill_ms(const rt_run *s)
{
    return (int64_t)(seconds(s, "skill", SKILL_S) * 1000.0);
}

static void ask(rt_run *s)
{
    const rt_question q = {.id = s->id,
                           .step = s->step,
                           .session = s->session,
                           .skill = s->skill,
                           .target = s->body->record,
                           .robot = s->robot,
                           .images = s->images,
                           .environment = pons_ws_place_doc(s->r->o.place, PONS_WS_ENVIRONMENT)};
    pons_autovalue question = pons__rt_question(&q);
    const int64_t left = session_left_ms(s), most = skill_ms(s);
    enter(s, ASK);
    pons__policy_ask(s->policy, question, s->phase_ms, left < most ? left : most);
}

static bool wants_picture(const rt_run *s)
{
    pons_each(v, json_object_get(pons_get(s->skill, "requires"), "sensors")) {
        const char *word = json_string_value(v) ? json_string_value(v) : "";
        if (strcmp(word, "rgb_camera") == 0 || strcmp(word, "depth_camera") == 0) {
            return true;
        }
    }
    return false;
}

// Pictures of the target's cameras first, when it has some and the skill requires them.
static void look_at_it(rt_run *s)
{
    pons_error err = PONS_ERROR_INIT;
    const pons_value *cameras = pons_get(pons_get(s->body->record, "perception"), "cameras");
    const bool sees = json_array_size(cameras) > 0 && wants_picture(s) && s->r->o.pictures;
    pons_autovalue args =
        sees ? pons_object("cameras", json_deep_copy(cameras), "depth", json_true(), NULL) : NULL;
    if (!sees) {
        ask(s);
        return;
    }
    int rc = s->eyes.ops ? PONS_OK : s->r->o.pictures(s->r->o.user, s->target, &s->eyes, &err);
    rc = rc < 0 ? rc : s->eyes.ops->start(s->eyes.self, 1, "picture", args, "", &err);
    if (rc < 0) {
        over(s, PONS_SESSION_FAILED, "REQUIRED_SENSOR_MISSING", "%s", err.message);
        return;
    }
    enter(s, PICTURE);
}

static void taken(rt_run *s)
{
    pons_tool_event e;
    if (!s->eyes.ops->next(s->eyes.self, &e)) {
        return;
    }
    const pons_value *all = pons_get(pons_get(e.value, "data"), "pictures");
    char dir[PATH_MAX];
    snprintf(dir, sizeof dir, "%s", pons_get_str(pons_get(e.value, "data"), "dir", s->r->o.dir));
    pons_value_unref(s->images);
    s->images = pons__rt_images(dir, all);
    pons_each(p, all) {
        if (!pons_get(s->images, pons_get_str(p, "name", ""))) {
            over(s, PONS_SESSION_FAILED, "REQUIRED_SENSOR_MISSING", "camera %.60s: %.200s",
                 pons_get_str(p, "name", ""), pons_get_str(p, "error", "no picture"));
            break;
        }
    }
    pons_tool_event_clear(&e);
    if (s->phase == PICTURE) {
        ask(s);
    }
}

static void look(rt_run *s)
{
    pons_error err = PONS_ERROR_INIT;
    if (s->call) {
        return; // asked
    }
    if (!s->policy) {
        const int rc =
            pons__policy_open(pons_get(s->skill, "policy_client"), s->r->o.pons, &s->policy, &err);
        if (rc < 0) {
            over(s, PONS_SESSION_FAILED, "POLICY_NOT_AVAILABLE", "%s", err.message);
            return;
        }
        pons__rt_watch(s->r, pons__policy_fd(s->policy));
    }
    query(s);
}

// The code of a policy's error: its own, or one of ours where pons itself speaks with the server.
static const char *error_code(const char *said)
{
    static const char *const ours[] = {"POLICY_NOT_AVAILABLE", "POLICY_UNREACHABLE",
                                       "POLICY_BAD_ANSWER", "POLICY_ERROR"};
    for (size_t i = 0; i < sizeof ours / sizeof *ours; i++) {
        if (strcmp(ours[i], said) == 0) {
            return ours[i];
        }
    }
    return "POLICY_ERROR";
}

static void answered(rt_run *s)
{
    policy_answer a = {0};
    pons_autovalue tools = NULL;
    pons_error err = PONS_ERROR_INIT;
    rt_refusal why = {0};
    if (!pons__policy_answer(s->policy, pons__rt_now(s->r), &a)) {
        return;
    }
    const pons_value *error = pons_get(a.value, "error");
    if (a.code) {
        over(s, PONS_SESSION_FAILED, a.code, "%s", a.why);
    } else if (error && !json_is_null(error)) {
        const char *said = pons_get_str(error, "code", ""), *code = error_code(said);
        const char *text = pons_get_str(error, "message", "");
        if (strcmp(code, said) == 0) {
            over(s, PONS_SESSION_FAILED, code, "%.300s", text);
        } else {
            over(s, PONS_SESSION_FAILED, code, "%.60s: %.240s", said, text);
        }
    } else {
        s->body->tools.ops->list(s->body->tools.self, &tools, &err);
        pons_value_unref(s->plan.calls);
        s->plan = (rt_plan){0};
        s->at = 0;
        s->kind->plan(s->session, s->skill, s->body->record, a.value, tools, &s->plan, &why);
        if (s->kind->ahead && s->step > 0 && json_array_size(s->plan.calls)) {
            json_object_set_new(json_object_get(json_array_get(s->plan.calls, 0), "args"),
                                "from_ms", json_integer(s->looked_robot_ms));
        }
        if (why.code) {
            over(s, PONS_SESSION_FAILED, why.code, "%s", why.why);
        } else {
            next_call(s);
        }
    }
    pons_value_unref(a.value);
}

// ---- the body is there --------------------------------------------------------------------------

static void wait_body(rt_run *s)
{
    pons_autovalue tools = NULL;
    pons_error err = PONS_ERROR_INIT;
    s->body->tools.ops->list(s->body->tools.self, &tools, &err);
    if (json_array_size(tools) < 2) {
        if (pons__rt_now(s->r) - s->phase_ms > BODY_WAIT_MS) {
            over(s, s->acted ? PONS_SESSION_UNKNOWN : PONS_SESSION_FAILED,
                 s->acted ? "OUTCOME_UNKNOWN" : "BODY_NOT_THERE", "no body came for %s", s->target);
        }
        return;
    }
    if (s->resumed) {
        adopt(s);
        return;
    }
    rt_refusal why = {0};
    const rt_contract c = {.session = s->session,
                           .target = s->body->record,
                           .skill = s->skill,
                           .environment = pons_ws_place_doc(s->r->o.place, PONS_WS_ENVIRONMENT),
                           .tools = tools,
                           .arm = pons__rt_tool(tools, "pick") != NULL};
    pons__rt_check_body(&c, s->kind, &why);
    if (why.code) {
        over(s, PONS_SESSION_FAILED, why.code, "%s", why.why);
    } else if (s->kind->asks) {
        enter(s, LOOK);
        s->call = 0;
    } else {
        s->kind->plan(s->session, s->skill, s->body->record, NULL, tools, &s->plan, &why);
        next_call(s);
    }
}

void pons__rt_run_event(rt_run *s, pons_tool_event *e)
{
    if (e->kind == PONS_TOOL_PROGRESS) {
        if (e->call == s->call && s->phase == CALL) {
            look_ahead(s, e->value);
        }
        return;
    }
    if (s->ahead.call && e->call == s->ahead.call) {
        ahead_ended(s, e);
        return;
    }
    if (e->call != s->call) {
        return;
    }
    if (s->phase == LOOK) {
        const pons_value *status = pons_get(e->value, "data");
        if (e->kind == PONS_TOOL_DONE && pons_get_bool(status, "connected", false)) {
            pons_value_unref(s->robot);
            s->robot = pons_value_ref(pons_get(status, "robot"));
            s->looked_robot_ms = pons_get_int(s->robot, "robot_ms", 0);
            s->call = 0;
            look_at_it(s);
        } else {
            s->call = 0; // the body is away: it is looked for again, until its time is over
        }
    } else if (s->phase == SEE) {
        const pons_value *status = pons_get(e->value, "data");
        s->call = 0;
        if (e->kind == PONS_TOOL_DONE && pons_get_bool(status, "connected", false)) {
            seen(s, pons_get(status, "robot"));
        }
    } else if (s->phase == CALL) {
        s->call = 0;
        if (e->kind == PONS_TOOL_DONE) {
            call_done(s, e->value);
        } else {
            call_failed(s, &e->error);
        }
    }
}

// ---- the end ------------------------------------------------------------------------------------

static bool waits(const rt_run *s)
{
    return s->why.code && strcmp(s->why.code, WAITS) == 0;
}

static bool may_try_again(const rt_run *s)
{
    static const char *const for_good[] = {// another attempt would find the same
                                           "TARGET_UNKNOWN",
                                           "SKILL_UNKNOWN",
                                           "TARGET_DISABLED",
                                           "SKILL_NOT_SUPPORTED_BY_TARGET",
                                           "ADAPTER_UNKNOWN",
                                           "RUNTIME_UNKNOWN",
                                           "REQUIRED_SENSOR_MISSING",
                                           "ENVIRONMENT_OUTPUT_MISSING",
                                           "ACTION_CONTRACT_UNSATISFIED",
                                           "BACKEND_NOT_AVAILABLE",
                                           "SESSION_TIMEOUT",
                                           "CRITIC_REFUSED",
                                           "DEPENDENCY_FAILED",
                                           "DEPENDENCY_UNKNOWN",
                                           "DEPENDENCY_CYCLE"};
    if (waits(s)) {
        return true;
    }
    const int64_t most = pons_get_int(pons_get(s->session, "retry"), "max_attempts", 1);
    if (s->end == PONS_SESSION_SUCCEEDED || s->attempt >= most) {
        return false;
    }
    for (size_t i = 0; i < sizeof for_good / sizeof *for_good; i++) {
        if (strcmp(s->why.code, for_good[i]) == 0) {
            return false;
        }
    }
    return !s->acted || pons_get_bool(s->skill, "idempotent", false);
}

static int64_t pause_ms(rt_run *s)
{
    const char *backoff = pons_get_str(pons_get(s->session, "retry"), "backoff", "none");
    if (waits(s) || strcmp(backoff, "fixed") == 0) {
        return FIXED_MS;
    }
    if (strcmp(backoff, "exponential") != 0) {
        return 0;
    }
    pons_rand rand;
    pons_rand_seed(&rand, s->r->seed++);
    const double scatter = 0.8 + 0.4 * pons_rand_unit(&rand);
    return (int64_t)(fmin(pow(2.0, s->attempt), PAUSE_MAX_S) * scatter * 1000.0);
}

static pons_value *error_of(const rt_run *s)
{
    return s->why.code ? pons_object("code", json_string(s->why.code), "message",
                                     pons_string(s->why.why), NULL)
                       : NULL;
}

static const char *end_word(int32_t end)
{
    return end == PONS_SESSION_SUCCEEDED ? "succeeded"
           : end == PONS_SESSION_WAITING ? "pending"
           : end == PONS_SESSION_UNKNOWN ? "outcome_unknown"
                                         : "failed";
}

// artifacts/sessions/ID/episode.json, whole or not at all.
static void write_episode(const rt_run *s, int32_t end)
{
    char path[PATH_MAX], from[32], to[32];
    const char *const parts[] = {"artifacts", "artifacts/sessions"};
    pons_value *error = error_of(s);
    pons_utc_text(s->wall_ms, from);
    pons_utc_text(pons_wall_ms(&s->r->o.clock), to);
    pons_autovalue v = pons_object(
        "session_id", json_string(s->id), "target_ref", json_string(s->target), "skill_ref",
        pons_optional(pons_get(s->session, "skill_ref")), "runtime",
        s->kind ? json_string(s->kind->name) : PONS_ABSENT, "attempt", json_integer(s->attempt),
        "runner", json_string(s->r->runner), "resumed", json_boolean(s->resumed), "started_at",
        json_string(from), "ended_at", json_string(to), "duration_ms", json_integer(spent(s)),
        "status", json_string(end_word(end)), "error", error ? error : PONS_ABSENT, "result",
        pons_optional(s->result), "steps", pons_value_ref(s->steps), NULL);
    for (size_t i = 0; i < 2; i++) {
        snprintf(path, sizeof path, "%s/%s", s->r->o.dir, parts[i]);
        mkdir(path, 0700);
    }
    snprintf(path, sizeof path, "%s/artifacts/sessions/%s", s->r->o.dir, s->id);
    mkdir(path, 0700);
    snprintf(path, sizeof path, "%s/artifacts/sessions/%s/episode.json", s->r->o.dir, s->id);
    char *text = NULL;
    const long n = pons_value_line(v, &text);
    if (n > 0) {
        pons_file_replace(path, text, (size_t)n, 0600);
    }
    free(text);
}

// A dead letter stays, with a lesson.
static void learn(const rt_run *s)
{
    pons_error ignored = PONS_ERROR_INIT;
    pons_ws_judgement j = {0};
    const char *skill = pons_get_str(call_now(s), "skill", ""), *type = "session";
    pons_autovalue params = NULL;
    if (s->learnt) {
        return;
    }
    if (s->lasts) { // the step itself: it is refused by this lesson's name under the same conditions
        pons__ws_action_of(skill, pons_get(call_now(s), "args"), &type, &params);
    } else {
        const pons_value *given = pons_get(pons_get(s->session, "execution"), "params");
        params = given ? json_copy((json_t *)given) : json_object();
        json_object_set_new(params, "skill",
                            json_string(pons_get_str(s->session, "skill_ref", "")));
    }
    const pons_ws_asked asked = {.action_type = type, .params = params, .robot_id = s->target};
    pons_ws_judge(s->r->o.place, &asked, &j);
    pons_ws_learn_failure(s->r->o.place, &asked, &j, s->why.code, s->why.why, &ignored);
    pons_ws_judgement_clear(&j);
}

static int show(void *user, const pons_session_row *row)
{
    pons__rt_file_show(user, row);
    return 0;
}

static int keep_next(void *user, const pons_session_row *row)
{
    pons__rt_copy(user, row);
    return 0;
}

// What ended is in the lanes when this returns true, or is somebody else's.
static bool finish(rt_run *s)
{
    pons_error err = PONS_ERROR_INIT;
    const bool again = may_try_again(s);
    const int32_t end = again ? PONS_SESSION_WAITING : s->end;
    const int64_t due = again ? pons_wall_ms(&s->r->o.clock) + pause_ms(s) : 0;
    char *text = NULL;
    pons_value *error = error_of(s);
    pons_autovalue note =
        pons_object("attempt", json_integer(s->attempt), "spent_ms", json_integer(spent(s)),
                    "error", error ? error : PONS_ABSENT, "result", pons_optional(s->result), NULL);
    if (!s->written) { // once, however long the store is away
        write_episode(s, end);
        if (end == PONS_SESSION_FAILED || end == PONS_SESSION_UNKNOWN) {
            learn(s);
        }
        s->written = true;
    }
    const long n = pons_value_line(note, &text);
    const pons_session_end e = {.id = s->id,
                                .epoch = s->epoch,
                                .state = end,
                                .due_ms = due,
                                .note = {text, n > 0 ? (size_t)n : 0},
                                .next_for = s->r->runner};
    const int rc = s->r->o.lanes.ops->finish(s->r->o.lanes.self, &e, keep_next, &s->next, &err);
    free(text);
    if (rc < 0 && rc != PONS_ESTALE) {
        return false; // the store is away: later
    }
    if (rc == PONS_OK) {
        s->r->failed += end == PONS_SESSION_FAILED || end == PONS_SESSION_UNKNOWN;
        s->r->due_ms = again && (!s->r->due_ms || due < s->r->due_ms) ? due : s->r->due_ms;
        s->r->o.lanes.ops->get(s->r->o.lanes.self, s->id, show, s->r, &err);
    }
    return true;
}

static void too_late(rt_run *s, const char *code, const char *what)
{
    if (s->phase == CALL && s->call) {
        s->body->tools.ops->cancel(s->body->tools.self, s->call); // the robot stops
    }
    over(s, PONS_SESSION_FAILED, code, "%s", what);
}

bool pons__rt_run_step(rt_run *s)
{
    const int64_t in_phase = pons__rt_now(s->r) - s->phase_ms;
    if (s->phase == LOST) {
        return true;
    }
    if (s->phase != OVER && session_left_ms(s) <= 0) {
        too_late(s, "SESSION_TIMEOUT", "the session's time is over");
    } else if ((s->phase == CALL || s->phase == LOOK || s->phase == SEE) &&
               in_phase > skill_ms(s)) {
        too_late(s, "SKILL_TIMEOUT", "a step took longer than it may");
    }
    if (s->phase == BODY) {
        wait_body(s);
    }
    if (s->phase == LOOK) {
        look(s);
    }
    if (s->phase == SEE && !s->call) {
        query(s);
    }
    if (s->phase == PICTURE) {
        taken(s);
    }
    if (s->phase == ASK) {
        answered(s);
    }
    return s->phase == LOST || (s->phase == OVER && finish(s));
}
