// kernel_fields.c - the tables of fields of what the kernel knows: tasks and how their operations ended, people, the
// queue. The inner loop's are in react_fields.c, the same way: one for each struct of kernel_fields.h.
//
// By these tables channels are read and written, stored threads are understood, and docs/internals/brain-state.md
// says what there is. A new member is a line here and a member there. Any thread.
#include "brain/records/kernel_fields.h"

#include "brain/records/record_table.h"

#include <math.h>
#include <string.h>

const char *const pons__mode_words[] = {"IDLE", "SAFE", "CHARGE", "EXEC", NULL};
const char *const pons__task_status_words[] = {"queued", "active",  "paused",    "succeeded",
                                               "failed", "aborted", "cancelled", NULL};
const char *const pons__end_words[] = {
    "", "done", "failed", "canceled", "outcome_unknown", "rejected", "refused", NULL};
const char *const pons__recovery_words[] = {"none", "retry", "replan", "ask_human", "abort", NULL};
const char *const pons__recovery_next_words[] = {"",    "other", "wait", "pause",
                                                 "ask", "abort", NULL};
const char *const pons__source_words[] = {"", "rule_engine", "llm", "ladder", "plan", NULL};
const char *const pons__interrupt_words[] = {"NONE", "PAUSE", "STOP", "NEW_GOAL", NULL};
const char *const pons__inner_words[] = {"idle", "active", "stopping", NULL};

// clang-format off
static const pons__field goal_fields[] = {
    {"intent",  TEXT,   NEVER, offsetof(pons__goal, intent), .means = "`go_to`, `bring`, … (docs/reference/intents.md), or `do`: a skill by its name"},
    {"text",    TEXT,   KEY,   offsetof(pons__goal, text), .means = "as it was said"},
    {"zone",    TEXT,   KEY,   offsetof(pons__goal, zone), .means = "of the world"},
    {"object",  TEXT,   KEY,   offsetof(pons__goal, object), .means = "of the world"},
    {"place",   TEXT,   KEY,   offsetof(pons__goal, place), .means = "a zone or an object"},
    {"pose",    JSON,   KEY,   offsetof(pons__goal, pose), .means = "{x, y, yaw?} in the map, where the very place was named"},
    {"seconds", NUM,    KEY,   offsetof(pons__goal, seconds), .means = "of a wait"},
    {"zones",   JSON,   KEY,   offsetof(pons__goal, zones), .means = "of a patrol; of find, see and look_at the places to look from, in order"},
    {"views",   JSON,   KEY,   offsetof(pons__goal, views), .means = "of those, {name: {x, y, yaw?, zone}} of each that is not its zone's target"},
    {"finding",    TEXT,   KEY,   offsetof(pons__goal, finding), .means = "of find, see and look_at: what was seen, in words, and is to be said"},
    {"since_ms", INT,   KEY,   offsetof(pons__goal, since_ms), .means = "of find: since when it counts as found that the thing is seen, Unix time"},
    {"visited", JSON,   KEY,   offsetof(pons__goal, visited), .means = "of those"},
    {"skill",   TEXT,   KEY,   offsetof(pons__goal, skill), .means = "the skill that meets it, where it was named"},
    {"args",    JSON,   KEY,   offsetof(pons__goal, args), .means = "its arguments"},
    {"left",    NUM,    KEY,   offsetof(pons__goal, left), .means = "of what its call is to do (metres, radians, seconds), since one was cut short; lacking: all of it"},
    {"done",    BOOL,   KEY,   offsetof(pons__goal, done), .means = "it is met"},
    {"reached", BOOL,   KEY,   offsetof(pons__goal, reached), .means = "of a pose: a motion to it has ended well; of find: it has turned round in the zone"},
    {"added",   BOOL,   KEY,   offsetof(pons__goal, added), .means = "a model's own, by a plan_patch: its end is no progress"},
    {"asks",    BOOL,   KEY,   offsetof(pons__goal, asks), .means = "of find: no is an answer too"},
};
TABLE(goal, "one part of a wish");

static const pons__field means_fields[] = {
    {"goal_index", INT,    NEVER, offsetof(pons__means, goal_index), .preset = -1, .means = "the goal of the task; -1: to pause, to look"},
    {"intent",     TEXT,   NEVER, offsetof(pons__means, intent), .means = "the goal's"},
    {"step",       INT,    KEY,   offsetof(pons__means, step), .preset = 1, .means = "in turn"},
    {"skill",      TEXT,   NEVER, offsetof(pons__means, skill), .means = "of the registry"},
    {"args",       JSON,   NEVER, offsetof(pons__means, args), .means = "filled from the goal"},
    {"test",       JSON,   KEY,   offsetof(pons__means, test), .means = "as the registry has it, filled"},
    {"each",       BOOL,   KEY,   offsetof(pons__means, each), .means = "there may be another one after it"},
    {"amount",     TEXT,   KEY,   offsetof(pons__means, amount), .means = "the argument that is a time in seconds"},
    {"says",       TEXT,   NEVER, offsetof(pons__means, says), .means = "what it does, for people"},
};
TABLE(means, "one of `means` in the observation: a skill that meets a goal, and how it is called");

static const pons__field others_fields[] = {
    {"skill",      TEXT,   NEVER, offsetof(pons__others, skill), .means = "that found no way"},
    {"goal_index", INT,    NEVER, offsetof(pons__others, goal_index), .preset = -1, .means = "the goal that it served"},
    {"next",       INT,    NEVER, offsetof(pons__others, next), .means = "how many of them were tried"},
    {"from",       JSON,   NEVER, offsetof(pons__others, from), .means = "the arguments that found no way"},
    {"args",       JSON,   NEVER, offsetof(pons__others, args), .means = "a list: the arguments of each, in order"},
};
TABLE(others, "calls that take the place of one that found no way");

static const pons__field recovery_state_fields[] = {
    {"step",          TEXT,   NEVER, offsetof(pons__recovery_state, step), .means = "`go`, `another_way`, `wait`, `ask`"},
    {"failures",      INT,    NEVER, offsetof(pons__recovery_state, failures), .means = "motions that ended without their goal since the last progress"},
    {"tries",         INT,    NEVER, offsetof(pons__recovery_state, tries), .preset = 1, .means = "failures at which a person is asked"},
    {"granted",       INT,    NEVER, offsetof(pons__recovery_state, granted), .means = "more of them, by people"},
    {"decisions",     INT,    NEVER, offsetof(pons__recovery_state, decisions), .means = "since the last progress"},
    {"decisions_max", INT,    NEVER, offsetof(pons__recovery_state, decisions_max), .means = "at which a person is asked"},
    {"best_m",        NUM,    NUL,   offsetof(pons__recovery_state, best_m), .preset = INFINITY, .means = "the shortest rest of the way so far"},
    {"met",           INT,    NEVER, offsetof(pons__recovery_state, met), .means = "the goals of a person's that were met"},
    {"battery_pct",   NUM,    NEVER, offsetof(pons__recovery_state, battery_pct), .means = "at the last progress"},
    {"want",          WORD,   NEVER, offsetof(pons__recovery_state, next), .words = pons__recovery_next_words, .means = "what it does next: nothing, `other`, `wait`, `pause`, `ask`, `abort`"},
    {"why",           TEXT,   NEVER, offsetof(pons__recovery_state, why), .means = "the last failure"},
    {"rules_decide",  BOOL,   KEY,   offsetof(pons__recovery_state, rules_decide), .means = "and not the model, whose decisions led nowhere"},
    {"been",          JSON,   KEY,   offsetof(pons__recovery_state, been), .means = "{x, y} in the map where motions have ended well since the last progress"},
    {"swings",        INT,    KEY,   offsetof(pons__recovery_state, swings), .means = "motions that ended well where one had before, without progress"},
    {"others",        RECORD, KEY,   offsetof(pons__recovery_state, others), .of = &pons__others_record, .means = "other approaches to a place to which there was no way"},
};
TABLE(recovery_state, "how far a task is from asking a person (docs/reference/safety.md)");

static const pons__field spent_fields[] = {
    {"calls",      INT,    NEVER, offsetof(pons__spent, calls), .means = "of the model"},
    {"tokens",     INT,    NEVER, offsetof(pons__spent, tokens), .means = "of its prompts and answers, as the server counts them, or estimated"},
    {"calls_max",  INT,    NEVER, offsetof(pons__spent, calls_max), .means = "its budget; 0: none"},
    {"tokens_max", INT,    NEVER, offsetof(pons__spent, tokens_max), .means = "its budget; 0: none"},
    {"over",       BOOL,   KEY,   offsetof(pons__spent, over), .means = "it is used up: the rules decide, or a person is asked"},
    {"asked",      BOOL,   KEY,   offsetof(pons__spent, asked), .means = "a person was asked for more"},
};
TABLE(spent, "what asking a model has cost a task");

static const pons__field result_fields[] = {
    {"skill",      TEXT,   NEVER, offsetof(pons__result, skill), .means = "of the registry"},
    {"args",       JSON,   NEVER, offsetof(pons__result, args), .means = "by its schema"},
    {"goal_id",    TEXT,   NEVER, offsetof(pons__result, goal_id), .means = "empty: it was never sent"},
    {"goal_index", INT,    NEVER, offsetof(pons__result, goal_index), .preset = -1, .means = "the goal of the task that it served"},
    {"status",     WORD,   NEVER, offsetof(pons__result, status), .words = pons__end_words, .means = "`done`, `failed`, `canceled`, `outcome_unknown`, `rejected`, `refused`"},
    {"error_code", INT,    NEVER, offsetof(pons__result, error_code), .means = "Nav2's numbers; 0: none"},
    {"error_msg",  TEXT,   NEVER, offsetof(pons__result, error_msg), .means = "for people"},
    {"recovery",   WORD,   NEVER, offsetof(pons__result, recovery), .words = pons__recovery_words, .means = "what the skill's error map advises"},
    {"metrics",    JSON,   NEVER, offsetof(pons__result, metrics), .means = "the skill's own"},
    {"rules",      JSON,   KEY,   offsetof(pons__result, rules), .means = "of a plan's step that was refused: a list of `broken`"},
};
TABLE(result, "how an operation ended");

static const pons__field pend_fields[] = {
    {"kind",     TEXT,   NEVER, offsetof(pons__pend, kind), .means = "`skill`, `confirm`, `ask`, `unknown`"},
    {"step_id",  INT,    NEVER, offsetof(pons__pend, step_id), .preset = -1, .means = "the plan's step"},
    {"fallback", BOOL,   NEVER, offsetof(pons__pend, fallback), .means = "its fallback is in hand"},
    {"tries",    INT,    NEVER, offsetof(pons__pend, tries), .preset = 1, .means = "how often it was sent"},
    {"result",   RECORD, KEY,   offsetof(pons__pend, result), .of = &pons__result_record, .means = "what became of it"},
    {"answer",   JSON,   KEY,   offsetof(pons__pend, answer), .means = "what a person said"},
};
TABLE(pend, "what a plan's step in hand was asked for");

static const pons__field step_rest_fields[] = {
    {"step_id",  INT,  NEVER, offsetof(pons__step_rest, step_id), .preset = -1, .means = "the plan's step"},
    {"fallback", BOOL, NEVER, offsetof(pons__step_rest, fallback), .means = "it is its fallback's"},
    {"skill",    NAME, NEVER, offsetof(pons__step_rest, skill), .means = "as it was sent, whatever the plan says"},
    {"args",     JSON, NEVER, offsetof(pons__step_rest, args), .means = "for what is left of that"},
};
TABLE(step_rest, "the call that does what is left of a plan's step, where one was cut short");

static const pons__field task_plan_fields[] = {
    {"kind",   TEXT,   NEVER, offsetof(pons__task_plan, kind), .means = "`given`: the task is the plan; `patch`: a model's; `goals`: a view of several goals"},
    {"plan",   JSON,   NEVER, offsetof(pons__task_plan, plan), .means = "schemas/plan.json"},
    {"cursor", JSON,   NUL,   offsetof(pons__task_plan, cursor), .means = "where the engine is"},
    {"pend",   RECORD, NUL,   offsetof(pons__task_plan, pend), .of = &pons__pend_record, .means = "the step in hand"},
    {"rest",   RECORD, KEY,   offsetof(pons__task_plan, rest), .of = &pons__step_rest_record, .means = "of the step in hand, where a call of it was cut short"},
};
TABLE(task_plan, "a task's plan");

static const pons__field question_fields[] = {
    {"words",       BOOL, KEY,   offsetof(pons__question, words), .means = "any words answer it: a model wants to know something"},
    {"id",          TEXT,   NEVER, offsetof(pons__question, id), .means = "of its own"},
    {"question",    TEXT,   NEVER, offsetof(pons__question, question), .means = "for people"},
    {"reason",      TEXT,   NEVER, offsetof(pons__question, reason), .means = "of the decision"},
    {"ops",         JSON,   NEVER, offsetof(pons__question, ops), .means = "what would be sent: [{skill, args, goal_index, reason, asks}]"},
    {"cancels",     JSON,   NEVER, offsetof(pons__question, cancels), .means = "skills that would be canceled"},
    {"options",     JSON,   KEY,   offsetof(pons__question, options), .means = "what a person may choose"},
    {"deadline_ms", INT,    KEY,   offsetof(pons__question, deadline_ms), .means = "wall: then the answer is no"},
    {"asked_ms",    INT,    KEY,   offsetof(pons__question, asked_ms), .means = "wall, with a deadline: before it, the clock went back"},
    {"refused",     TEXT,   KEY,   offsetof(pons__question, refused), .means = "why the edit before was none"},
    {"decision",    JSON,   KEY,   offsetof(pons__question, decision), .means = "of a task that was put aside: what was decided"},
    {"source",      WORD,   KEY,   offsetof(pons__question, source), .words = pons__source_words, .means = "and by whom"},
    {"answer",      JSON,   KEY,   offsetof(pons__question, answer), .means = "and what a person has said since"},
    {"unsettled",   NAME,   KEY,   offsetof(pons__question, unsettled), .means = "the goal of which it shows that nobody knows what came"},
    {"beside",      JSON,   KEY,   offsetof(pons__question, beside), .means = "ids of those that were asked beside it, and answered, before it was asked again"},
};
TABLE(question, "a question to a person");

static const pons__field task_fields[] = {
    {"id",          TEXT,   NEVER, offsetof(pons__task, id), .means = "`task-N`"},
    {"text",        TEXT,   NEVER, offsetof(pons__task, text), .means = "as it was said"},
    {"goals",       LIST,   NEVER, offsetof(pons__task, goals), .of = &pons__goal_record, .means = "in order; empty: only a model understands it, or its plan says it"},
    {"priority",    INT,    NEVER, offsetof(pons__task, priority), .means = "higher goes first"},
    {"deadline_ms", INT,    NUL,   offsetof(pons__task, deadline_ms), .means = "Unix time"},
    {"resources",   JSON,   NEVER, offsetof(pons__task, resources), .means = "that it needs"},
    {"preemptible", BOOL,   NEVER, offsetof(pons__task, preemptible), .means = "a higher one may take over"},
    {"status",      WORD,   NEVER, offsetof(pons__task, status), .words = pons__task_status_words, .means = "`queued`, `active`, `paused`, and the ends"},
    {"created_ms",  INT,    NEVER, offsetof(pons__task, created_ms), .means = "Unix time"},
    {"source",      TEXT,   NEVER, offsetof(pons__task, source), .means = "`user`, `battery`, `background`, `schedule`"},
    {"schedule",    NAME,   KEY,   offsetof(pons__task, schedule), .means = "of `schedule`: whose time had come"},
    {"attempt",     INT,    NEVER, offsetof(pons__task, attempt), .preset = 1, .means = "raised by the kernel or a person alone"},
    {"said",        INT,    KEY,   offsetof(pons__task, said), .preset = 1, .means = "how often it was said while it waited"},
    {"unverified",  BOOL,   KEY,   offsetof(pons__task, unverified), .means = "nothing that can be checked says when it is done"},
    {"overdue",     BOOL,   KEY,   offsetof(pons__task, overdue), .means = "its deadline has passed"},
    {"plan",        RECORD, KEY,   offsetof(pons__task, plan), .of = &pons__task_plan_record, .means = "where it has one"},
    {"ladder",      RECORD, KEY,   offsetof(pons__task, recovery), .of = &pons__recovery_state_record, .means = "once it has begun"},
    {"spent",       RECORD, KEY,   offsetof(pons__task, spent), .of = &pons__spent_record, .means = "once a model was asked"},
    {"asks",        LIST,   KEY,   offsetof(pons__task, asks), .of = &pons__question_record, .means = "it was put aside with these questions: it goes on when each has its answer"},
};
TABLE(task, "one wish in the queue (schemas/task.json)");

static const pons__field waiting_fields[] = {
    {"id",          TEXT,   NEVER, offsetof(pons__task, id), .means = "`task-N`"},
    {"text",        TEXT,   NEVER, offsetof(pons__task, text), .means = "as it was said"},
    {"priority",    INT,    NEVER, offsetof(pons__task, priority), .means = "higher goes first"},
    {"status",      WORD,   NEVER, offsetof(pons__task, status), .words = pons__task_status_words, .means = "`queued`, `paused`"},
    {"deadline_ms", INT,    KEY,   offsetof(pons__task, deadline_ms), .means = "Unix time"},
};
const pons__record pons__waiting_record = {
    .name = "waiting", .means = "one of `queue` in the observation: a task beside the one at hand",
    .size = sizeof(struct pons__task), .fields = waiting_fields, .n = sizeof waiting_fields / sizeof waiting_fields[0]};

static const pons__field place_fields[] = {
    {"id",     TEXT, NEVER, offsetof(pons__place, id), .means = "of the world"},
    {"state",  TEXT, NEVER, offsetof(pons__place, state), .means = "as far as it is seen: `clear`, obstacles in it, why there was no way"},
    {"target", JSON, KEY,   offsetof(pons__place, target), .means = "{x, y, yaw?}: where one goes"},
};
TABLE(place, "a zone, as K3 has it");

static const pons__field finished_fields[] = {
    {"id",       TEXT,   NEVER, offsetof(pons__finished, id), .means = "`task-N`"},
    {"text",     TEXT,   NEVER, offsetof(pons__finished, text), .means = "as it was said"},
    {"status",   TEXT,   NEVER, offsetof(pons__finished, status), .means = "`succeeded`, `failed`, `aborted`, `cancelled`"},
    {"reason",   TEXT,   NEVER, offsetof(pons__finished, reason), .means = "for people"},
    {"source",   TEXT,   NEVER, offsetof(pons__finished, source), .means = "as the task had it"},
    {"verified", JSON,   KEY,   offsetof(pons__finished, verified), .means = "false: nothing could be checked"},
};
TABLE(finished, "a task that has ended");

static const pons__field interrupt_fields[] = {
    {"type",    WORD, NEVER, offsetof(pons__interrupt, type), .words = pons__interrupt_words, .means = "`NONE`, `PAUSE`, `STOP`, `NEW_GOAL`"},
    {"payload", TEXT, NUL,   offsetof(pons__interrupt, payload), .means = "the words"},
};
TABLE(interrupt, "what the newest words are");

static const pons__field answer_fields[] = {
    {"question", TEXT, NEVER, offsetof(pons__answer, question), .means = "the id of a question"},
    {"action",   TEXT, NEVER, offsetof(pons__answer, action), .means = "`approve`, `edit`, `reject`"},
    {"reason",   TEXT, NEVER, offsetof(pons__answer, reason), .means = "with it"},
    {"by",       TEXT, NEVER, offsetof(pons__answer, by), .means = "who"},
    {"at_ms",    INT,  NEVER, offsetof(pons__answer, at_ms), .means = "wall: when it was given"},
    {"said",     JSON, KEY,   offsetof(pons__answer, said), .means = "the whole of it"},
};
TABLE(answer, "the answer to a question that counts");

static const pons__field received_fields[] = {
    {"nonce",    TEXT, NEVER, offsetof(pons__received, nonce), .means = "of a message, by who sent it"},
    {"question", TEXT, NEVER, offsetof(pons__received, question), .means = "that it answers"},
    {"verdict",  TEXT, NEVER, offsetof(pons__received, verdict), .means = "`bound`, `late`, `overrides`, `closed`"},
};
TABLE(received, "what became of an answer");

static const pons__field hci_fields[] = {
    {"user_utterance",    TEXT,   NEVER, offsetof(pons__hci, user_utterance), .means = "the newest words of a person"},
    {"user_interrupt",    RECORD, NUL,   offsetof(pons__hci, user_interrupt), .of = &pons__interrupt_record, .means = "what they are"},
    {"approval_response", JSON,   NUL,   offsetof(pons__hci, approval_response), .means = "the newest answer, whole"},
    {"answers",           LIST,   NEVER, offsetof(pons__hci, answers), .of = &pons__answer_record, .means = "those that count, the newest last"},
    {"heard",             LIST,   NEVER, offsetof(pons__hci, received), .of = &pons__received_record, .means = "what became of messages"},
    {"pending",           JSON,   NEVER, offsetof(pons__hci, pending), .means = "messages that K1 has taken and K5 has not heard"},
};
TABLE(hci, "the kernel's channel `hci`");

static const pons__field stopped_fields[] = {
    {"reason",      TEXT,   NEVER, offsetof(pons__stopped, reason), .means = "for people"},
    {"wanted",      BOOL,   NEVER, offsetof(pons__stopped, wanted), .means = "said here, not yet seen latched"},
    {"reset",       BOOL,   NEVER, offsetof(pons__stopped, reset), .means = "a person said reset since"},
    {"reset_boot",  TEXT,   KEY,   offsetof(pons__stopped, reset_boot), .means = "of the body whose latch the reset means to lift, until that is free"},
    {"reset_number", INT,   KEY,   offsetof(pons__stopped, reset_number), .means = "and the number of that latch"},
    {"released_ms", INT,    NEVER, offsetof(pons__stopped, released_ms), .means = "wall: a person let it go on; 0: not yet"},
};
TABLE(stopped, "a stop in force (docs/reference/safety.md)");

static const pons__field speed_request_fields[] = {
    {"percent", INT,  NEVER, offsetof(pons__speed_request, percent), .means = "of every speed limit"},
    {"from",    INT,  NEVER, offsetof(pons__speed_request, from), .means = "in force when it was said"},
    {"by",      TEXT, NEVER, offsetof(pons__speed_request, by), .means = "who said so"},
    {"then",    JSON, KEY,   offsetof(pons__speed_request, then), .means = "letters: what was said with it and sets something free is heard when the body has it"},
};
TABLE(speed_request, "how fast a person wants it, until the body has it");

static const pons__field reported_fields[] = {
    {"state",      WORD,   NEVER, offsetof(pons__reported, state), .words = pons__inner_words, .means = "`idle`, `active`, `stopping`"},
    {"activation", INT,    NEVER, offsetof(pons__reported, activation), .means = "counts up"},
    {"task_id",    TEXT,   NUL,   offsetof(pons__reported, task_id), .means = "the task that it was given"},
    {"mode",       WORD,   NEVER, offsetof(pons__reported, mode), .words = pons__mode_words, .means = "as of then"},
    {"asks",       LIST,   KEY,   offsetof(pons__reported, asks), .of = &pons__question_record, .means = "its questions, until the inner loop has taken them up"},
};
TABLE(reported, "what the kernel has told the inner loop");

static const pons__field totals_fields[] = {
    {"iterations", INT,    NEVER, offsetof(pons__totals, iterations), .means = "decisions"},
    {"replans",    INT,    NEVER, offsetof(pons__totals, replans), .means = "REPLAN and RETRY"},
    {"distance_m", NUM,    NEVER, offsetof(pons__totals, distance_m), .means = "driven"},
};
TABLE(totals, "of a run");

static const pons__field tasks_fields[] = {
    {"inbox",          JSON,   NEVER, offsetof(pons__tasks, inbox), .means = "always empty: goals come through the inbox of the thread"},
    {"queue",          LIST,   NEVER, offsetof(pons__tasks, queue), .of = &pons__task_record, .means = "in the order in which they were said"},
    {"active_task_id", TEXT,   NUL,   offsetof(pons__tasks, active_task_id), .means = "of the queue"},
    {"mode",           WORD,   NEVER, offsetof(pons__tasks, mode), .words = pons__mode_words, .means = "`SAFE`, `CHARGE`, `EXEC`, `IDLE`"},
    {"mode_reason",    TEXT,   NEVER, offsetof(pons__tasks, mode_reason), .means = "for people"},
    {"preempt_flag",   TEXT,   NUL,   offsetof(pons__tasks, preempt_flag), .means = "`SAFETY`, `BATTERY`, `USER`: why the active task is let go of"},
    {"paused",         BOOL,   NEVER, offsetof(pons__tasks, paused), .means = "a person said pause"},
    {"finished",       LIST,   NEVER, offsetof(pons__tasks, finished), .of = &pons__finished_record, .means = "the newest"},
    {"next",           INT,    NEVER, offsetof(pons__tasks, next), .preset = 1, .means = "number of the next task"},
    {"react",          RECORD, NEVER, offsetof(pons__tasks, react), .of = &pons__reported_record, .means = "the inner loop, as the kernel knows it"},
    {"safe_handled",   BOOL,   NEVER, offsetof(pons__tasks, safe_handled), .means = "the inner loop has stopped the base for this SAFE"},
    {"stopped",        RECORD, NUL,   offsetof(pons__tasks, stopped), .of = &pons__stopped_record, .means = "a stop in force"},
    {"seen_boot",      TEXT,   KEY,   offsetof(pons__tasks, seen_boot), .means = "of the body's newest telemetry"},
    {"seen_number",    INT,    KEY,   offsetof(pons__tasks, seen_number), .means = "its `stop.number`: one that has risen, and is free again, was a stop"},
    {"tempo",          RECORD, KEY,   offsetof(pons__tasks, speed_request), .of = &pons__speed_request_record, .means = "how fast a person wants it, until the body has it"},
    {"totals",         RECORD, NEVER, offsetof(pons__tasks, totals), .of = &pons__totals_record, .means = "of the run"},
    {"let_go",         INT,    KEY,   offsetof(pons__tasks, let_go), .means = "the activation at which a stop was let go of"},
    {"run_first",      INT,    KEY,   offsetof(pons__tasks, run_first), .means = "number of the run's first task"},
    {"switch_to",      TEXT,   KEY,   offsetof(pons__tasks, switch_to), .means = "the task that the active one was let go of for"},
    {"charge_again_ms", INT,   KEY,   offsetof(pons__tasks, charge_again_ms), .means = "wall: no charging begins before, as one was in vain"},
    {"asks",           LIST,   KEY,   offsetof(pons__tasks, asks), .of = &pons__question_record, .means = "questions of no task, with their answers: whether pictures may go to the model's server"},
    {"left_at",        JSON,   KEY,   offsetof(pons__tasks, left_at), .means = "where the robot stood when the last task began"},
};
TABLE(tasks, "the kernel's channel `tasks`");
// clang-format on

// ---- what is done often -------------------------------------------------------------------------

pons__task *pons__queue_find(const pons__tasks *t, const char *id)
{
    return *id ? pons__list_find(&t->queue, offsetof(pons__task, id), id) : NULL;
}

pons__task *pons__queue_active(const pons__tasks *t)
{
    return pons__queue_find(t, t->active_task_id);
}

const pons__answer *pons__answer_find(const pons__hci *hci, const char *question)
{
    for (size_t i = hci ? hci->answers.n : 0; i > 0; i--) {
        const pons__answer *a = hci->answers.at[i - 1];
        if (strcmp(a->question, question) == 0) {
            return a;
        }
    }
    return NULL;
}
