// goals.c - the goal protocol, and the life of a goal.
//
//   goal --> checks --refused--> rejected{code}
//              |
//              | known id: its stored state, nothing moves
//              v
//        ledger: accepted, started (one sync) --fails--> rejected{ledger}
//              v
//        skill starts --> accepted{state} --> feedback … --> result
//              | ^                                             ^
//        brain | | adopt                                       | done, failed, cancel,
//        lost  v | (ledger: adopted)                           | stop, brain lost for 30 s
//             held (no sync) ----------------------------------+ (ledger: the end first)
//
// A goal that the robot's own software carries out (ext/outside.h) ends when that software has answered: whoever
// ends it, a cancel, a stop or a time-out, asks for that, and the goal is `ending` until the answer comes. It
// wants no motion and holds nothing meanwhile. What comes of it is what the robot says; after ENDING_NS without an
// answer it is OUTCOME_UNKNOWN.
//
//        started --cancel, stop, ..--> ending --answer--> done | canceled | failed
//                                        | ENDING_NS
//                                        v
//                                      failed (OUTCOME_UNKNOWN)
//
// Nothing follows a cancel before its answer: a goal that needs what an ending one had is accepted, and started
// once that has ended; it is not started over one of which nobody knows. stop_base, which only stands, waits for nobody.
//
// The order of the checks is part of the protocol (docs/reference/link.md). The fence comes first: whoever
// is not the controller, or speaks with an old epoch, learns nothing else. A known id is answered
// before any check that could refuse it, for its sender wants to know what became of it.
#include "body/core/goals.h"

#include "body/core/body.h"
#include "body/core/gate_command.h"
#include "body/core/goal_reports.h"
#include "body/core/link_clients.h"
#include "body/core/telemetry.h"
#include "pons/buf.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define ENDING_NS (8 * PONS_NS_PER_S) // host time for the robot's own software to answer a cancel

// ---- life ---------------------------------------------------------------------------------------

static void reject_number(pons__client *c, const char *goal_id, const char *code, int number,
                          const char *text)
{
    pons__client_say(c, &(pons_report){.type = PONS_REPORT_REJECTED,
                                       .as.rejected = {.goal_id = goal_id,
                                                       .code = code,
                                                       .message = text,
                                                       .error_code = number}});
}

__attribute__((format(printf, 4, 5))) static void reject(pons__client *c, const char *goal_id,
                                                         const char *code, const char *fmt, ...)
{
    char text[PONS_ERROR_MESSAGE_MAX];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    reject_number(c, goal_id, code, 0, text);
}

// The goal that another one takes over from, when it asks to: of the same skill, one that navigates or a chunk.
static const pons__goal *preempted(const pons_body *b, const pons_message_goal *goal,
                                   const pons__skill *k)
{
    const pons__goal *had = k->needs_arm ? pons__goal_arm(b) : pons__goal_base(b);
    const bool navigates = k == &pons__skill_navigate || k == &pons__skill_navigate_through;
    const bool asks = (navigates && goal->preempt) || (k->chunk && pons_get(goal->args, "from_ms"));
    return asks && had && had->skill == k ? had : NULL;
}

static void speak(void *user, const char *text)
{
    pons__clients_say(user, &(pons_report){.type = PONS_REPORT_SPEAK, .as.speak = {.text = text}});
}

static int64_t *chunk_end(pons_body *b, const pons__skill *k)
{
    return k->needs_arm ? &b->chunk_end.arm_ns : &b->chunk_end.base_ns;
}

static void goal_env(pons_body *b, pons__skill_env *env)
{
    pons__body_env(b, env);
    env->speak = speak;
    env->user = b;
}

// before: what the goal that it takes over from wanted last; NULL: it takes over from none.
static void start_skill(pons_body *b, pons__goal *g, const pons__skill_output *before)
{
    pons__skill_env env;
    goal_env(b, &env);
    env.goal_id = g->msg.as.goal.goal_id;
    env.before = before;
    env.before_end_ns = *chunk_end(b, g->skill);
    pons__skill_start(g->skill, &g->run, g->msg.as.goal.args, &env);
}

// A goal of the skill may begin only when that one, which is ending, has ended.
static bool comes_after(const pons__skill *k, const pons__goal *ending)
{
    const pons__skill *its = ending->skill;
    return k != &pons__skill_stop_base &&
           (its == k || (its->needs_base && k->needs_base) || (its->needs_arm && k->needs_arm));
}

static bool has_to_wait(const pons_body *b, const pons__skill *k)
{
    pons__each_goal(g, b) {
        if (g->ending && comes_after(k, g)) {
            return true;
        }
    }
    return false;
}

static pons__goal *find_active(pons_body *b, const char *goal_id)
{
    pons__each_goal(g, b) {
        if (strcmp(g->msg.as.goal.goal_id, goal_id) == 0) {
            return g;
        }
    }
    return NULL;
}

static pons__goal *free_place(pons_body *b)
{
    for (size_t i = 0; i < PONS__GOALS_MAX; i++) {
        if (!pons__goal_active(&b->goals[i])) {
            return &b->goals[i];
        }
    }
    return NULL;
}

// The robot's own software has yet to say what became of it.
static bool still_ends(pons_body *b, pons__goal *g, pons_goal_state end, int code, const char *text)
{
    pons__skill_env env;
    pons_external_goal e;
    if (!*g->run.external_goal) {
        return false;
    }
    goal_env(b, &env);
    pons__external_goal_look(&g->run, &env, &e);
    if (e.state == PONS_ERRAND_NONE) { // it has said so, or it was never sent
        return false;
    }
    g->ending = true;
    g->ending_host_ns = b->host_ns;
    g->end = end;
    g->out.error_code = code;
    if (text != g->out.error_msg) {
        snprintf(g->out.error_msg, sizeof g->out.error_msg, "%s", text);
    }
    return true;
}

static pons_ledger_line ledger_line(const pons_body *b, const pons_message_goal *goal,
                                    int64_t epoch, pons_goal_state state)
{
    return (pons_ledger_line){.goal_id = goal->goal_id,
                              .args_hash = goal->args_hash,
                              .skill = goal->skill,
                              .state = state,
                              .ts_ms = pons_wall_ms(&b->clock),
                              .boot_id = b->boot_id,
                              .robot_id = b->caps.robot_id,
                              .epoch = epoch,
                              .thread = goal->thread,
                              .task_id = goal->task_id,
                              .attempt = goal->attempt};
}

static pons_value *metrics(const pons_body *b, const pons__goal *g)
{
    const pons_report_metrics m = {.distance_m = b->odometer_m - g->odometer_m,
                                   .duration_s = (double)(b->robot_ns - g->started_ns) /
                                                 (double)PONS_NS_PER_S,
                                   .recoveries = g->out.recoveries,
                                   .distance_remaining_m = g->out.distance_m,
                                   .remaining = g->out.remaining,
                                   .obstacles = g->skill == &pons__skill_look ? b->n_blobs : -1,
                                   .answer = g->run.answer};
    return pons_report_metrics_value(&m);
}

static void say_result(pons__client *c, const pons_ledger_line *line)
{
    pons__client_say(c, &(pons_report){.type = PONS_REPORT_RESULT,
                                       .as.result = {.goal_id = line->goal_id,
                                                     .skill = line->skill,
                                                     .status = line->state,
                                                     .end = line->end}});
}

// Its place is free after that.
static void settle(pons_body *b, pons__goal *g, pons_goal_state end, int code, const char *text)
{
    // Its message and the text outlive its place: an end may be told of by pieces of it.
    pons_message msg = g->msg;
    pons_autovalue took = metrics(b, g);
    pons_ledger_line line = ledger_line(b, &msg.as.goal, g->epoch, end);
    line.ended = true;
    line.end = (pons_report_end){.error_code = code, .error_msg = text, .metrics = took};
    // Without its end the goal counts as unfinished after a restart: reported, never repeated.
    pons__ledger_append(b->ledger, &line, 1, NULL);
    g->msg.type = PONS_MESSAGE_NONE; // it is active no more
    if (b->controller) {
        // A result is never read beside an older picture of the robot than its own.
        pons__body_tell(b, b->controller);
        say_result(b->controller, &line);
    }
    if (g->skill->chunk) {
        *chunk_end(b, g->skill) = b->robot_ns;
    }
    pons_value_unref(g->run.answer);
    *g = (pons__goal){0};
    pons_message_clear(&msg);
}

// It ends so, or, when the robot's own software has it, as that answers.
static void finish(pons_body *b, pons__goal *g, pons_goal_state end, int code, const char *text)
{
    if (g->ending) {
        return; // that was asked for before
    }
    if (g->state == PONS_GOAL_ACCEPTED) { // nothing of it was begun
        settle(b, g, end, code, text);
        return;
    }
    if (g->skill->left) {
        pons__skill_env env;
        goal_env(b, &env);
        g->out.remaining = g->skill->left(&g->run, &env);
    }
    if (g->out.status == PONS__SKILL_RUNNING && !g->handed_over) {
        pons__skill_env env;
        goal_env(b, &env);
        pons__skill_stop(g->skill, &g->run, &env);
    }
    if (g->skill->needs_base &&
        !g->handed_over) { // no motion for it any more, whatever the disk says
        b->cmd.want = (pons_twist2){0};
        b->cmd.docking = false;
        pons__body_publish(b);
    }
    if (g->skill->needs_arm && !g->handed_over) {
        memset(b->cmd.arm.qd, 0, sizeof b->cmd.arm.qd);
        pons__body_publish(b);
    }
    if (!still_ends(b, g, end, code, text)) {
        settle(b, g, end, code, text);
    }
}

static void start_goal(pons_body *b, pons__client *c, const pons_message *msg, const pons__skill *k)
{
    const pons_message_goal *goal = &msg->as.goal;
    if (k == &pons__skill_stop_base && pons__goal_base(b)) {
        finish(b, find_active(b, pons__goal_base(b)->msg.as.goal.goal_id), PONS_GOAL_CANCELED,
               PONS__PREEMPTED, "PREEMPTED: stop_base took the base");
    }
    if (k == &pons__skill_stop_base && pons__goal_arm(b)) {
        finish(b, find_active(b, pons__goal_arm(b)->msg.as.goal.goal_id), PONS_GOAL_CANCELED,
               PONS__PREEMPTED, "PREEMPTED: stop_base took the arm");
    }
    pons__goal *old =
        preempted(b, goal, k) ? find_active(b, preempted(b, goal, k)->msg.as.goal.goal_id) : NULL;
    const bool takes_over = old && old->state != PONS_GOAL_ACCEPTED && !*old->run.external_goal;
    const bool goes_on = takes_over && old->state != PONS_GOAL_HELD;
    const pons__skill_output before = goes_on ? old->out : (pons__skill_output){0};
    if (old) {
        old->handed_over = takes_over;
        finish(b, old, PONS_GOAL_CANCELED, PONS__PREEMPTED, "PREEMPTED: another goal took over");
    }
    const bool waits = has_to_wait(b, k);
    const pons_ledger_line lines[2] = {ledger_line(b, goal, b->epoch, PONS_GOAL_ACCEPTED),
                                       ledger_line(b, goal, b->epoch, PONS_GOAL_STARTED)};
    pons_error err = PONS_ERROR_INIT;
    if (pons__ledger_append(b->ledger, lines, waits ? 1 : 2, &err) < 0) {
        if (takes_over) { // what was handed over has nobody to go on with it
            pons__nav_cancel(b->nav);
            b->cmd.want = (pons_twist2){0};
            memset(b->cmd.arm.qd, 0, sizeof b->cmd.arm.qd);
            pons__body_publish(b);
        }
        reject(c, goal->goal_id, "ledger", "%s: %s", err.message, err.cause);
        return;
    }
    pons__goal *g = free_place(b);
    *g = (pons__goal){.msg = pons_message_share(msg),
                      .skill = k,
                      .seq = ++b->goal_seq,
                      .state = waits ? PONS_GOAL_ACCEPTED : PONS_GOAL_STARTED,
                      .epoch = b->epoch,
                      .started_wall_ms = pons_wall_ms(&b->clock),
                      .started_ns = b->robot_ns,
                      .feedback_due_ns = b->robot_ns,
                      .odometer_m = b->odometer_m,
                      .out = {.distance_m = NAN, .remaining = NAN, .eta_s = NAN}};
    if (!waits) {
        start_skill(b, g, goes_on ? &before : NULL);
    }
    pons__client_say(c, &(pons_report){.type = PONS_REPORT_ACCEPTED,
                                       .as.answer = {.goal_id = goal->goal_id, .state = g->state}});
}

static void start_waiting(pons_body *b)
{
    pons__each_goal(g, b) {
        if (g->state != PONS_GOAL_ACCEPTED || has_to_wait(b, g->skill)) {
            continue;
        }
        const pons_ledger_line line = ledger_line(b, &g->msg.as.goal, g->epoch, PONS_GOAL_STARTED);
        pons_error err = PONS_ERROR_INIT;
        if (pons__ledger_append(b->ledger, &line, 1, &err) < 0) {
            finish(b, g, PONS_GOAL_CANCELED, 0, "its start cannot be recorded");
            continue;
        }
        g->state = PONS_GOAL_STARTED;
        g->started_ns = b->robot_ns;
        g->odometer_m = b->odometer_m;
        start_skill(b, g, NULL);
    }
}

// Nobody knows whether the robot still carries it out: what waits for its end is not started over it.
static void not_started(pons_body *b, const pons__goal *unknown)
{
    pons__each_goal(g, b) {
        if (g->state == PONS_GOAL_ACCEPTED && comes_after(g->skill, unknown)) {
            finish(b, g, PONS_GOAL_FAILED, PONS__ROBOT_LACKS,
                   "ROBOT_LACKS: not started, as the robot's software has not answered the cancel "
                   "of the goal before it");
        }
    }
}

static void watch_ending(pons_body *b, pons__goal *g)
{
    pons__skill_env env;
    pons_external_goal e;
    goal_env(b, &env);
    pons__external_goal_look(&g->run, &env, &e);
    if (g->skill->left) {
        g->out.remaining = g->skill->left(&g->run, &env);
    }
    const bool answered = e.state != PONS_ERRAND_RUNS && e.state != PONS_ERRAND_UNKNOWN;
    if (e.state == PONS_ERRAND_RUNS && b->host_ns - g->ending_host_ns < ENDING_NS) {
        return;
    }
    pons__external_goal_stop(&g->run, &env);
    pons_goal_state end = answered ? g->end : PONS_GOAL_FAILED;
    int code = answered ? g->out.error_code : PONS__OUTCOME_UNKNOWN;
    char text[sizeof g->out.error_msg];
    snprintf(text, sizeof text, "%s", g->out.error_msg);
    if (e.state == PONS_ERRAND_DONE) {
        end = PONS_GOAL_DONE;
        code = 0;
        text[0] = '\0';
    } else if (e.state == PONS_ERRAND_FAILED && end == PONS_GOAL_CANCELED) {
        end = PONS_GOAL_FAILED; // by itself, before the cancel
        code = e.error_code;
        snprintf(text, sizeof text, "%.160s", e.text);
    } else if (!answered) {
        snprintf(text, sizeof text, "OUTCOME_UNKNOWN: %.160s",
                 *e.text ? e.text : "the robot's software has not answered the cancel");
        not_started(b, g);
    }
    settle(b, g, end, code, text);
}

static int record_adopted(pons_body *b, const pons__goal *g)
{
    const pons_ledger_line line = ledger_line(b, &g->msg.as.goal, g->epoch, PONS_GOAL_ADOPTED);
    return pons__ledger_append(b->ledger, &line, 1, NULL);
}

static bool over(const pons__ledger_entry *received)
{
    return pons_goal_over((pons_goal_state)received->line.state);
}

static void send_feedback(pons_body *b, pons__goal *g)
{
    if (b->robot_ns < g->feedback_due_ns || !b->controller) {
        return;
    }
    // At most 10 Hz of robot time, and of host time too when the simulation is faster.
    const double rate = b->threaded && b->speed > 1.0 ? b->speed : 1.0;
    g->feedback_due_ns = b->robot_ns + (int64_t)(rate * (double)PONS__FEEDBACK_NS);
    const pons__skill_output *o = &g->out;
    const bool through = g->skill == &pons__skill_navigate_through;
    const pons_report_feedback feedback = {
        .goal_id = g->msg.as.goal.goal_id,
        .skill = g->skill->name,
        .robot_ms = b->robot_ns / PONS_NS_PER_MS,
        .distance_remaining_m = o->distance_m,
        .remaining = o->remaining,
        .distance_m = b->odometer_m - g->odometer_m,
        .eta_s = o->eta_s,
        .elapsed_s = (double)(b->robot_ns - g->started_ns) / (double)PONS_NS_PER_S,
        .recoveries = o->recoveries,
        .pose = pons__pose_shown(b->pose),
        .navigates = o->navigating,
        .number_of_recoveries = o->recoveries,
        .navigation_time = o->nav_time_s,
        .distance_remaining = o->distance_m,
        .estimated_time_remaining = o->eta_s,
        .number_of_poses_remaining = through ? o->poses_remaining : -1,
        .current_node = o->node};
    pons__client_say(b->controller,
                     &(pons_report){.type = PONS_REPORT_FEEDBACK, .as.feedback = feedback});
}

// ---- checks -------------------------------------------------------------------------------------

static bool in_control(pons_body *b, pons__client *c, const char *goal_id, int64_t epoch)
{
    if (b->controller != c) {
        reject(c, goal_id, "not_controller", "say hello as the controller first");
    } else if (epoch != b->epoch) {
        reject(c, goal_id, "stale_epoch", "epoch %lld is over, %lld is in force", (long long)epoch,
               (long long)b->epoch);
    } else {
        b->beat_host_ns = b->host_ns; // it lives
        return true;
    }
    return false;
}

static bool answer_known(pons_body *b, pons__client *c, const pons_message_goal *goal)
{
    const char *goal_id = goal->goal_id;
    pons__ledger_entry received;
    if (!pons__ledger_find(b->ledger, goal_id, &received)) {
        return false;
    }
    const pons_ledger_line *line = &received.line;
    if (!received.kept) {
        reject(c, goal_id, "forgotten", "this id was used before; its line %s",
               received.removed ? "is no longer kept" : "cannot be read");
        return true;
    }
    if (strcmp(line->args_hash, goal->args_hash) != 0 || strcmp(line->skill, goal->skill) != 0) {
        reject(c, goal->goal_id, "args_mismatch", "this id was used before with other arguments");
        return true;
    }
    pons__client_say(c, &(pons_report){.type = PONS_REPORT_ACCEPTED,
                                       .as.answer = {.goal_id = goal_id,
                                                     .state = line->state,
                                                     .known = true,
                                                     .boot_id = line->boot_id}});
    if (over(&received)) {
        say_result(c, line);
    }
    return true;
}

static bool check_goal(pons_body *b, pons__client *c, const pons_message *msg,
                       const pons__skill **ret)
{
    const pons_message_goal *goal = &msg->as.goal;
    if (msg->fault.text[0]) {
        reject(c, goal->goal_id, msg->fault.code, "%s", msg->fault.text);
    } else if (strcmp(goal->robot_id, b->caps.robot_id) != 0) {
        reject(c, goal->goal_id, "wrong_robot", "this is %s, not %.60s", b->caps.robot_id,
               *goal->robot_id ? goal->robot_id : "(none)");
    } else if (!(*ret = pons__skills_find(&b->skills, goal->skill, NULL))) {
        reject(c, goal->goal_id, "unknown_skill", "there is no skill %.60s",
               *goal->skill ? goal->skill : "(none)");
    } else {
        return true;
    }
    return false;
}

static bool check_args(pons_body *b, pons__client *c, const pons_message_goal *goal,
                       const pons__skill *k)
{
    const pons_schema *schema = NULL;
    pons__skills_find(&b->skills, k->name, &schema);
    pons_error err = PONS_ERROR_INIT;
    if (pons_schema_check(schema, goal->args, &err) < 0) {
        reject(c, goal->goal_id, "bad_args", "%s", err.message);
        return false;
    }
    const pons__goal *before = preempted(b, goal, k);
    pons__skill_env env;
    goal_env(b, &env);
    env.before = before && before->state != PONS_GOAL_HELD ? &before->out : NULL;
    env.before_end_ns = *chunk_end(b, k);
    pons__skill_refusal why = {0};
    if (!pons__skill_check(k, goal->args, &env, &why)) {
        reject_number(c, goal->goal_id, "bad_args", why.error_code, why.text);
        return false;
    }
    return true;
}

// The counted resource of which too little is left for another goal of the skill; NULL: none. What `but`
// takes is free by then. A resource that this robot does not count is somebody else's to share out.
static const char *lacking(const pons_body *b, const pons__skill *k, const pons__goal *but)
{
    pons_each_member(name, all, pons__body_resources(b)) {
        const int64_t needs = pons__skills_counted(&b->skills, k, name);
        if (needs > 0 && needs + pons__goals_counted(b, name, but) > json_integer_value(all)) {
            return name;
        }
    }
    return NULL;
}

// Is it the time for it, and is what it needs free?
static bool check_resources(pons_body *b, pons__client *c, const pons_message_goal *goal,
                            const pons__skill *k)
{
    const int64_t now_ms = b->clock.boot_ns(b->clock.ctx) / PONS_NS_PER_MS;
    const pons__goal *base = pons__goal_base(b);
    const char *lacks = NULL;
    if (now_ms > goal->expires_ms) {
        reject(c, goal->goal_id, "expired", "the goal expired %lld ms ago",
               (long long)(now_ms - (goal->expires_ms > 0 ? goal->expires_ms : 0)));
    } else if (k->moves && pons__body_latched(b)) {
        reject(c, goal->goal_id, "latched", "a protective stop is in force: %s",
               b->safety.latched ? b->safety.reason : b->cmd.reason);
    } else if (k->needs_base && k != &pons__skill_stop_base && base && !preempted(b, goal, k)) {
        reject(c, goal->goal_id, "busy", "the base is busy with %s (goal %.60s)", base->skill->name,
               base->msg.as.goal.goal_id);
    } else if (k->needs_arm && pons__goal_arm(b) && !preempted(b, goal, k)) {
        reject(c, goal->goal_id, "busy", "the arm is busy with %s (goal %.60s)",
               pons__goal_arm(b)->skill->name, pons__goal_arm(b)->msg.as.goal.goal_id);
    } else if ((lacks = lacking(b, k, preempted(b, goal, k)))) {
        reject(c, goal->goal_id, "busy", "%s needs %lld of %s; %lld of %lld are taken", k->name,
               (long long)pons__skills_counted(&b->skills, k, lacks), lacks,
               (long long)pons__goals_counted(b, lacks, NULL),
               (long long)pons_get_int(pons__body_resources(b), lacks, 0));
    } else if (!free_place(b) &&
               (!preempted(b, goal, k) || *preempted(b, goal, k)->run.external_goal)) {
        reject(c, goal->goal_id, "busy", "%d goals are active", PONS__GOALS_MAX);
    } else {
        return true;
    }
    return false;
}

// ---- messages -----------------------------------------------------------------------------------

void pons__goal_request(pons_body *b, pons__client *c, const pons_message *msg)
{
    const pons__skill *k = NULL;
    const pons_message_goal *goal = &msg->as.goal;
    if (in_control(b, c, goal->goal_id, goal->epoch) && !answer_known(b, c, goal) &&
        check_goal(b, c, msg, &k) && check_args(b, c, goal, k) && check_resources(b, c, goal, k)) {
        start_goal(b, c, msg, k);
    }
}

void pons__goal_cancel(pons_body *b, pons__client *c, const pons_message *msg)
{
    const char *goal_id = msg->as.about.goal_id;
    if (!in_control(b, c, goal_id, msg->as.about.epoch)) {
        return;
    }
    if (msg->fault.text[0]) {
        pons__client_error(c, "cancel", msg->fault.code, "%s", msg->fault.text);
        return;
    }
    pons__goal *g = find_active(b, goal_id);
    if (g) {
        finish(b, g, PONS_GOAL_CANCELED, 0, "canceled");
        return;
    }
    pons__ledger_entry received;
    if (pons__ledger_find(b->ledger, goal_id, &received) && over(&received)) {
        say_result(c, &received.line);
    } else {
        pons__client_error(c, "cancel", "unknown_goal", "goal %.80s is not active here", goal_id);
    }
}

void pons__goal_adopt(pons_body *b, pons__client *c, const pons_message *msg)
{
    const char *goal_id = msg->as.about.goal_id;
    if (!in_control(b, c, goal_id, msg->as.about.epoch)) {
        return;
    }
    if (msg->fault.text[0]) {
        pons__client_error(c, "adopt", msg->fault.code, "%s", msg->fault.text);
        return;
    }
    pons__goal *g = find_active(b, goal_id);
    if (g && g->state == PONS_GOAL_HELD && !g->ending) {
        g->epoch = b->epoch;
        if (record_adopted(b, g) < 0) {
            reject(c, goal_id, "ledger", "the adoption cannot be recorded");
            return;
        }
        g->state = PONS_GOAL_ADOPTED;
        g->feedback_due_ns = b->robot_ns;
        pons__skill_env env;
        goal_env(b, &env);
        pons__skill_resume(g->skill, &g->run, &env);
    }
    pons__ledger_entry received;
    if (!pons__ledger_find(b->ledger, goal_id, &received)) {
        pons__client_error(c, "adopt", "unknown_goal", "goal %.80s was never heard of", goal_id);
        return;
    }
    pons__client_say(
        c, &(pons_report){.type = PONS_REPORT_ADOPTED,
                          .as.answer = {.goal_id = goal_id, .state = received.line.state}});
    if (over(&received)) {
        say_result(c, &received.line);
    }
}

void pons__goal_status(pons_body *b, pons__client *c, const pons_message *msg)
{
    const char *goal_id = msg->as.about.goal_id;
    pons__ledger_entry received;
    pons_report r = {.type = PONS_REPORT_STATUS,
                     .as.status = {.goal_id = goal_id, .boot_id = b->boot_id}};
    if (pons__ledger_find(b->ledger, goal_id, &received)) {
        const pons_ledger_line *line = &received.line;
        r.as.status = (pons_report_status){.goal_id = goal_id,
                                           .known = true,
                                           .state = line->state,
                                           .skill = line->skill,
                                           .boot_id = line->boot_id,
                                           .same_boot = strcmp(line->boot_id, b->boot_id) == 0,
                                           .started = received.started,
                                           .end = line->end};
    }
    pons__client_say(c, &r);
}

// ---- rhythm -------------------------------------------------------------------------------------

// What a goal wants of the arm; a wish of the gripper is handed on once.
static void take_arm(pons_body *b, const pons__goal *g)
{
    memcpy(b->cmd.arm.qd, g->out.qd, sizeof b->cmd.arm.qd);
    b->cmd.arm.goal_seq = g->seq;
    if (b->cmd.arm.grips != b->hand.grips) {
        b->cmd.arm.grips = b->hand.grips;
        b->cmd.arm.grip_seq = g->seq;
        b->cmd.arm.width_m = b->hand.grip_width;
        b->cmd.arm.force_n = b->hand.grip_force;
    }
}

// After a failed motion: adds what the lidar sees of the robot itself, because that may be the cause.
static void say_of_lidar(const pons_body *b, pons__goal *g)
{
    char says[200], why[PONS__SKILL_MSG_MAX - sizeof says - 1];
    pons_utf8_copy(why, sizeof why, g->out.error_msg);
    pons__near_returns_report(&b->near_returns, &b->scan, says, sizeof says);
    if (g->skill->needs_base && *says) {
        snprintf(g->out.error_msg, sizeof g->out.error_msg, "%s; %s", says, why);
    }
}

void pons__goals_step(pons_body *b)
{
    pons__skill_env env;
    goal_env(b, &env);
    bool hold = false, hold_arm = false;
    pons__each_goal(g, b) {
        if (g->ending || g->state == PONS_GOAL_ACCEPTED) {
            continue;
        }
        if (g->state == PONS_GOAL_HELD) {
            hold = hold || g->skill->needs_base;
            hold_arm = hold_arm || g->skill->needs_arm;
            continue;
        }
        pons__skill_step(g->skill, &g->run, &env, &g->out);
        if (g->skill->needs_base) {
            b->cmd.want = g->out.cmd;
            b->cmd.docking = g->out.docking;
            b->cmd.goal_seq = g->seq;
        }
        if (g->skill->needs_arm) {
            take_arm(b, g);
        }
        if (g->out.status == PONS__SKILL_DONE) {
            finish(b, g, PONS_GOAL_DONE, 0, g->out.error_msg);
        } else if (g->out.status == PONS__SKILL_FAILED) {
            say_of_lidar(b, g);
            finish(b, g, PONS_GOAL_FAILED, g->out.error_code, g->out.error_msg);
        } else {
            send_feedback(b, g);
        }
    }
    b->cmd.hold = hold;
    b->cmd.arm.hold = hold_arm;
}

void pons__goals_hold(pons_body *b)
{
    pons__skill_env env;
    goal_env(b, &env);
    bool any = false, fresh[PONS__GOALS_MAX] = {false};
    for (size_t i = 0; i < PONS__GOALS_MAX; i++) {
        pons__goal *g = &b->goals[i];
        if (!pons__goal_active(g) || g->ending || g->state == PONS_GOAL_HELD) {
            continue;
        }
        if (g->state == PONS_GOAL_ACCEPTED) {
            finish(b, g, PONS_GOAL_FAILED, PONS__BRAIN_LOST, "BRAIN_LOST: before it was started");
            continue;
        }
        any = fresh[i] = true;
        g->state = PONS_GOAL_HELD;
        g->held_host_ns = b->host_ns;
        pons__skill_hold(g->skill, &g->run, &env);
        g->out.cmd = (pons_twist2){0};
    }
    if (!any) {
        return;
    }
    // Brake first. The disk may take a while: it is not waited for, telemetry has to say that it stands.
    b->cmd.want = (pons_twist2){0};
    b->cmd.hold = b->cmd.arm.hold = true;
    pons__body_publish(b);
    if (b->kick) {
        b->kick(b->kick_user);
    }
    for (size_t i = 0; i < PONS__GOALS_MAX; i++) {
        if (fresh[i]) {
            const pons__goal *g = &b->goals[i];
            const pons_ledger_line line = ledger_line(b, &g->msg.as.goal, g->epoch, PONS_GOAL_HELD);
            pons__ledger_remark(b->ledger, &line, NULL);
        }
    }
}

void pons__goals_watch(pons_body *b)
{
    pons__each_goal(g, b) {
        if (g->ending) {
            watch_ending(b, g);
        } else if (g->state == PONS_GOAL_HELD &&
                   b->host_ns - g->held_host_ns >= PONS__BRAIN_LOST_NS) {
            finish(b, g, PONS_GOAL_FAILED, PONS__BRAIN_LOST, "BRAIN_LOST: held for 30 s");
        }
    }
    start_waiting(b);
}

void pons__goals_stopped(pons_body *b, const char *reason, uint64_t up_to_seq)
{
    char text[PONS__REASON_MAX + 16];
    snprintf(text, sizeof text, "STOPPED: %s", reason);
    pons__each_goal(g, b) {
        if (g->skill->moves && g->seq <= up_to_seq) {
            finish(b, g, PONS_GOAL_FAILED, PONS__STOPPED, text);
        }
    }
}

void pons__goals_end(pons_body *b, const char *why)
{
    pons__each_goal(g, b) {
        finish(b, g, PONS_GOAL_CANCELED, 0, why);
    }
}

bool pons__goals_ending(const pons_body *b)
{
    pons__each_goal(g, b) {
        if (g->ending) {
            return true;
        }
    }
    return false;
}

void pons__goals_give_up(pons_body *b)
{
    pons__each_goal(g, b) {
        if (g->ending) {
            settle(b, g, PONS_GOAL_FAILED, PONS__OUTCOME_UNKNOWN,
                   "OUTCOME_UNKNOWN: the body ended before the robot's software had answered the "
                   "cancel");
        }
    }
}
