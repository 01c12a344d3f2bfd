// react_fields.c - the tables of fields of what the inner loop knows: skills under way, decisions, and
// the mail between the two graphs. Any thread.
#include "brain/records/kernel_fields.h"
#include "brain/records/record_table.h"

#include <math.h>
#include <string.h>

const char *const pons__mail_words[] = {"", "activate", "preempt", NULL};
const char *const pons__decision_words[] = {
    "", "CONTINUE", "REPLAN", "RETRY", "SWITCH_TASK", "ASK_HUMAN", "FINISH", "ABORT", NULL};

const char *const pons__stage_words[] = {
    "",          "decided",    "proposed", "refused",   "asking",   "unclear",
    "edited",    "approved",   "rejected", "put_aside", "intended", "sent",
    "held_back", "taken_back", "settled",  "ended",     NULL};
const char *const pons__wake_words[] = {"", "look", "no_progress", NULL};

// clang-format off
static const pons__field running_fields[] = {
    {"goal_id",          TEXT,   NEVER, offsetof(pons__running, goal_id), .means = "of its effect, and at the body"},
    {"skill",            TEXT,   NEVER, offsetof(pons__running, skill), .means = "of the registry"},
    {"args",             JSON,   NEVER, offsetof(pons__running, args), .means = "by its schema"},
    {"goal_index",       INT,    NEVER, offsetof(pons__running, goal_index), .preset = -1, .means = "the goal of the task that it serves"},
    {"resources",        JSON,   NEVER, offsetof(pons__running, resources), .means = "that it holds"},
    {"started_ms",       INT,    NEVER, offsetof(pons__running, started_ms), .means = "Unix time"},
    {"started_robot_ms", INT,    NEVER, offsetof(pons__running, started_robot_ms), .means = "robot time"},
    {"timeout_s",        NUM,    NEVER, offsetof(pons__running, timeout_s), .means = "robot time; then it fails"},
    {"step_id",          JSON,   KEY,   offsetof(pons__running, step_id), .means = "of a plan's step"},
    {"fallback",         JSON,   KEY,   offsetof(pons__running, fallback), .means = "of a plan's step"},
    {"task_id",          NAME,   KEY,   offsetof(pons__running, task_id), .means = "that it was sent for"},
};
TABLE(running, "a skill under way");

static const pons__field unsettled_fields[] = {
    {"task_id", TEXT, NEVER, offsetof(pons__unsettled, task_id), .means = "of which nothing is sent without a person's word"},
    {"skill",   TEXT, NEVER, offsetof(pons__unsettled, skill), .means = "that has ended so"},
    {"why",     TEXT, NEVER, offsetof(pons__unsettled, why), .means = "nobody knows what came of it"},
    {"goal_id", NAME, KEY,   offsetof(pons__unsettled, goal_id), .means = "the newest one's"},
};
TABLE(unsettled, "an end that a person must settle");

static const pons__field skills_fields[] = {
    {"registry",    JSON,   NEVER, offsetof(pons__skills, registry), .means = "names"},
    {"running",     LIST,   NEVER, offsetof(pons__skills, running), .of = &pons__running_record, .means = "under way"},
    {"results",     LIST,   KEY,   offsetof(pons__skills, results), .of = &pons__result_record, .means = "all ends since the newest observation"},
    {"last_result", RECORD, NUL,   offsetof(pons__skills, last_result), .of = &pons__result_record, .means = "of those the one that matters most"},
    {"unsettled",   LIST,   KEY,   offsetof(pons__skills, unsettled), .of = &pons__unsettled_record, .means = "until a person has settled them"},
    {"to_cancel",   JSON,   NEVER, offsetof(pons__skills, to_cancel), .means = "goal ids, from R4 to R6"},
    {"to_dispatch", LIST,   NEVER, offsetof(pons__skills, to_dispatch), .of = &pons__op_record, .means = "from R4 to R6"},
};
TABLE(skills, "the inner loop's channel `skills`");

static const pons__field payload_fields[] = {
    {"question", TEXT,   NEVER, offsetof(pons__payload, question), .means = "for people"},
    {"options",  JSON,   KEY,   offsetof(pons__payload, options), .means = "what a person may choose"},
};
TABLE(payload, "what a decision asks a person");

static const pons__field proposed_fields[] = {
    {"to_cancel",     JSON,   NEVER, offsetof(pons__proposed, to_cancel), .means = "goal ids"},
    {"to_dispatch",   LIST,   NEVER, offsetof(pons__proposed, to_dispatch), .of = &pons__op_record, .means = "in order"},
    {"to_speak",      JSON,   NEVER, offsetof(pons__proposed, to_speak), .means = "texts; each is a `speak` of to_dispatch as well"},
    {"need_approval", BOOL,   NEVER, offsetof(pons__proposed, need_approval), .means = "the decision asks for a person"},
    {"approval_payload", RECORD, NUL,  offsetof(pons__proposed, approval_payload), .of = &pons__payload_record, .means = "what it asks"},
    {"more",          LIST,   KEY,   offsetof(pons__proposed, more), .of = &pons__payload_record, .means = "what it asks beside"},
    {"plan",          RECORD, KEY,   offsetof(pons__proposed, plan), .of = &pons__task_plan_record, .means = "a model's steps"},
    {"plan_fault",    TEXT,   KEY,   offsetof(pons__proposed, plan_fault), .means = "why they are none"},
};
TABLE(proposed, "what R3 makes of a decision");

static const pons__field claim_fields[] = {
    {"in_zone", NAME, KEY, offsetof(pons__claim, in_zone), .means = "the robot is there"},
    {"holding", NAME, KEY, offsetof(pons__claim, holding), .means = "it holds this"},
    {"battery", NUM,  KEY, offsetof(pons__claim, battery), .preset = NAN, .means = "per cent, or more"},
};
TABLE(claim, "one of `claims` in a decision: what is true now");

static const pons__field patch_fields[] = {
    {"goals", JSON, KEY, offsetof(pons__patch, goals), .means = "sub-goals: a list of `goal`"},
    {"steps", JSON, KEY, offsetof(pons__patch, steps), .means = "a plan's (schemas/plan.json, whose other members may stand beside)"},
};
TABLE(patch, "`plan_patch` in a decision");

static const pons__field decision_fields[] = {
    {"type",       WORD,   NEVER, offsetof(pons__decision, type), .words = pons__decision_words, .means = "`CONTINUE`, `REPLAN`, …"},
    {"reason",     TEXT,   NEVER, offsetof(pons__decision, reason), .means = "for people"},
    {"task_id",    TEXT,   KEY,   offsetof(pons__decision, task_id), .means = "of SWITCH_TASK"},
    {"claims",     JSON,   KEY,   offsetof(pons__decision, claims), .means = "of FINISH: what is true now, to be checked"},
    {"wake_s",     NUM,    KEY,   offsetof(pons__decision, wake_s), .means = "it wants to be asked again after this time, whatever happens"},
    {"plan_patch", JSON,   KEY,   offsetof(pons__decision, plan_patch), .means = "{goals} or {steps}"},
    {"ops",        JSON,   KEY,   offsetof(pons__decision, ops), .means = "what to do now"},
};
TABLE(decision, "what R2 decided (schemas/decision.json)");

static const pons__field mail_fields[] = {
    {"kind",  WORD, NEVER, offsetof(pons__mail, kind), .words = pons__mail_words, .means = "`activate`, `preempt`"},
    {"value", JSON, NUL,   offsetof(pons__mail, value), .means = "activate, or preempt"},
};
TABLE(mail, "what the inner loop's inbox brings");

static const pons__field activate_fields[] = {
    {"activation", INT,    NEVER, offsetof(pons__activate, activation), .means = "as the kernel counts"},
    {"mode",       WORD,   NEVER, offsetof(pons__activate, mode), .words = pons__mode_words, .preset = PONS_MODE_EXEC, .means = "of now"},
    {"reason",     TEXT,   NEVER, offsetof(pons__activate, reason), .means = "of the mode"},
    {"task",       RECORD, NUL,   offsetof(pons__activate, task), .of = &pons__task_record, .means = "to work on"},
};
TABLE(activate, "mail to the inner loop: start");

static const pons__field outcome_fields[] = {
    {"activation", INT,    NEVER, offsetof(pons__outcome, activation), .preset = -1, .means = "that is over"},
    {"task_id",    TEXT,   NEVER, offsetof(pons__outcome, task_id), .means = "of the task; empty: none"},
    {"status",     TEXT,   NEVER, offsetof(pons__outcome, status), .means = "`succeeded`, `failed`, `aborted`, `cancelled`, `preempted`, `switched`"},
    {"reason",     TEXT,   NEVER, offsetof(pons__outcome, reason), .means = "for people"},
    {"mode",       WORD,   NEVER, offsetof(pons__outcome, mode), .words = pons__mode_words, .means = "in which it was let go of"},
    {"iterations", INT,    NEVER, offsetof(pons__outcome, iterations), .means = "rounds"},
    {"replans",    INT,    NEVER, offsetof(pons__outcome, replans), .means = "REPLAN and RETRY"},
    {"distance_m", NUM,    NEVER, offsetof(pons__outcome, distance_m), .means = "driven"},
    {"switch_to",  TEXT,   KEY,   offsetof(pons__outcome, switch_to), .means = "the task that it was let go of for"},
    {"verified",   JSON,   KEY,   offsetof(pons__outcome, verified), .means = "of a success: whether the world was asked"},
    {"goals",      LIST,   NEVER, offsetof(pons__outcome, goals), .of = &pons__goal_record, .means = "as far as they are met"},
    {"asks",       LIST,   KEY,   offsetof(pons__outcome, asks), .of = &pons__question_record, .means = "of a task that is put aside with them"},
    {"ladder",     RECORD, NUL,   offsetof(pons__outcome, recovery), .of = &pons__recovery_state_record, .means = "as the task has it"},
    {"spent",      RECORD, KEY,   offsetof(pons__outcome, spent), .of = &pons__spent_record, .means = "as the task has it"},
    {"plan",       RECORD, NUL,   offsetof(pons__outcome, plan), .of = &pons__task_plan_record, .means = "as far as it is"},
};
TABLE(outcome, "mail to the kernel: a task is over, or let go of");

static const pons__field preempt_fields[] = {
    {"activation", INT, KEY, offsetof(pons__preempt, activation), .preset = -1, .means = "that is meant"},
    {"mode",      WORD,   NEVER, offsetof(pons__preempt, mode), .words = pons__mode_words, .means = "as of then"},
    {"reason",    TEXT,   NEVER, offsetof(pons__preempt, reason), .means = "for people"},
    {"stop_base", BOOL,   NEVER, offsetof(pons__preempt, stop_base), .means = "and the base stopped"},
};
TABLE(preempt, "the kernel wants the inner loop back");

static const pons__field pace_fields[] = {
    {"ms",      INT,    NEVER, offsetof(pons__pace, ms), .means = "wall"},
    {"debt_ms", INT,    NEVER, offsetof(pons__pace, debt_ms), .means = "host time that its decisions were too fast"},
};
TABLE(pace, "how fast a model was asked");

static const pons__field human_fields[] = {
    {"question", TEXT,   NUL,   offsetof(pons__human, question), .means = "to what"},
    {"answer",   TEXT,   NUL,   offsetof(pons__human, answer), .means = "in words; `yes` or `no` where there were none"},
    {"reason",   TEXT,   NEVER, offsetof(pons__human, reason), .means = "with it"},
    {"also",     JSON,   KEY,   offsetof(pons__human, also), .means = "[{question, answer, reason}]: what the same decision asked beside"},
};
TABLE(human, "what a person said last");

static const pons__field message_fields[] = {
    {"id",      TEXT, NEVER, offsetof(pons__message, id), .means = "of its own"},
    {"role",    TEXT, NEVER, offsetof(pons__message, role), .means = "`user`, `assistant`"},
    {"content", TEXT, NEVER, offsetof(pons__message, content), .means = "what was seen, or decided, as JSON"},
};
TABLE(message, "one of the inner loop's channel `messages`");

static const pons__field react_fields[] = {
    {"activation",        INT,    NEVER, offsetof(pons__react, activation), .means = "as the kernel counts"},
    {"mode",              WORD,   NEVER, offsetof(pons__react, mode), .words = pons__mode_words, .preset = PONS_MODE_EXEC, .means = "in which it was activated"},
    {"task",              RECORD, NUL,   offsetof(pons__react, task), .of = &pons__task_record, .means = "that it works on"},
    {"iter",              INT,    NEVER, offsetof(pons__react, iter), .means = "rounds"},
    {"iter_ms",           INT,    KEY,   offsetof(pons__react, iter_ms), .means = "when that round began, Unix time"},
    {"observation",       JSON,   NUL,   offsetof(pons__react, observation), .means = "schemas/observation.json"},
    {"decision",          RECORD, NUL,   offsetof(pons__react, decision), .of = &pons__decision_record, .means = "the newest"},
    {"decided_ms",        INT,    KEY,   offsetof(pons__react, decided_ms), .means = "when, Unix time"},
    {"source",            WORD,   NUL,   offsetof(pons__react, source), .words = pons__source_words, .means = "who made it"},
    {"proposed_ops",      RECORD, NUL,   offsetof(pons__react, proposed_ops), .of = &pons__proposed_record, .means = "what R3 made of it"},
    {"stop_reason",       TEXT,   NUL,   offsetof(pons__react, stop_reason), .means = "`done`, `impossible`, `need_human` (it was put aside with a question), `preempted`, `safety_override`"},
    {"failures",          INT,    NEVER, offsetof(pons__react, failures), .means = "in a row, of one skill"},
    {"human",             RECORD, NUL,   offsetof(pons__react, human), .of = &pons__human_record, .means = "what a person said last"},
    {"approved",          JSON,   NEVER, offsetof(pons__react, approved), .means = "hashes of operations that a person agreed to"},
    {"replans",           INT,    NEVER, offsetof(pons__react, replans), .means = "REPLAN and RETRY"},
    {"distance_m",        NUM,    NEVER, offsetof(pons__react, distance_m), .means = "driven"},
    {"model_retry_ms",    INT,    NEVER, offsetof(pons__react, model_retry_ms), .means = "wall: no model is asked before"},
    {"model_tries",       INT,    NEVER, offsetof(pons__react, model_tries), .preset = 2, .means = "answers that R2 may ask of a model; 0: there is none"},
    {"check_in_s",        NUM,    KEY,   offsetof(pons__react, check_in_s), .preset = -1, .means = "after which R7 wakes where the rules decide"},
    {"plan",              RECORD, NUL,   offsetof(pons__react, plan), .of = &pons__task_plan_record, .means = "the task's plan"},
    {"preempt",           RECORD, NUL,   offsetof(pons__react, preempt), .of = &pons__preempt_record, .means = "the kernel wants it back"},
    {"pace",              RECORD, KEY,   offsetof(pons__react, pace), .of = &pons__pace_record, .means = "of the model"},
    {"failed_skill",      TEXT,   KEY,   offsetof(pons__react, failed_skill), .means = "whose failures are counted"},
    {"stage",             WORD,   KEY,   offsetof(pons__react, stage), .words = pons__stage_words, .means = "of the decision; absent: there is none yet"},
    {"wake",              WORD,   KEY,   offsetof(pons__react, wake), .words = pons__wake_words, .means = "what R7 heard of what runs: `look` (nothing new), `no_progress`"},
    {"woke",              TEXT,   KEY,   offsetof(pons__react, woke), .means = "why R7 woke: `result`, `no_progress`, `time_out`, `check_in`"},
    {"approval",          RECORD, NUL,   offsetof(pons__react, asking.question), .of = &pons__question_record, .means = "the question that is open"},
    {"also",              LIST,   KEY,   offsetof(pons__react, asking.also), .of = &pons__question_record, .means = "what the same decision asks beside"},
    {"settles",           BOOL,   KEY,   offsetof(pons__react, answered.settles), .means = "a person said yes to go on where nobody knows what came of something"},
    {"answered",          TEXT,   KEY,   offsetof(pons__react, answered.question), .means = "the question that R6 is about to act on"},
    {"answered_also",     JSON,   KEY,   offsetof(pons__react, answered.also), .means = "ids of those that were asked beside it"},
    {"edit_before",       JSON,   KEY,   offsetof(pons__react, answered.edit_before), .means = "the inner loop when it asked"},
    {"unsent",            JSON,   KEY,   offsetof(pons__react, answered.unsent), .means = "{goals, plan} before the decision that a person has approved and that is not sent yet"},
    {"edit_refused",      TEXT,   KEY,   offsetof(pons__react, answered.again), .means = "why an edit was none"},
};
TABLE(react, "the inner loop's channel `react`");
// clang-format on

// ---- what is done often -------------------------------------------------------------------------

const pons__running *pons__running_find(const pons__skills *s, const char *goal_id)
{
    return pons__list_find(&s->running, offsetof(pons__running, goal_id), goal_id);
}

pons__decision_type pons__decided(const pons__react *r)
{
    return r->decision ? (pons__decision_type)r->decision->type : PONS_DECIDE_NONE;
}

void pons__human_say(pons__react *r, const char *question, const char *answer, const char *reason)
{
    if (!r->human) {
        r->human = pons__record_new(&pons__human_record);
    }
    pons__set_text(&r->human->question, question);
    pons__set_text(&r->human->answer, answer);
    pons__set_text(&r->human->reason, reason);
}

bool pons__reported_taken(const pons__reported *reported, const pons__react *inner)
{
    return reported->state == PONS_INNER_IDLE ||
           (inner && inner->activation >= reported->activation);
}

bool pons__answered_is(const pons__react *r, const char *question)
{
    bool is = strcmp(r->answered.question, question) == 0;
    pons_each(id, r->answered.also) {
        is = is || strcmp(json_string_value(id), question) == 0;
    }
    return *question && is;
}
