// status.c - `pons status`: one object from the kernel's and the inner loop's channels and the
// newest telemetry, the same for the process that runs a thread and for one that only reads its
// store.
#include "brain/status.h"

#include "brain/records/inbox_fields.h"
#include "brain/records/observation_fields.h"
#include "brain/records/record_table.h"
#include "brain/recovery/recovery.h"
#include "brain/state/self.h"

#include <string.h>

typedef struct inner inner;

// clang-format off
static const pons__field status_task_fields[] = {
    {"id",       TEXT, NEVER, offsetof(pons__task, id), .means = "`task-N`"},
    {"text",     TEXT, NEVER, offsetof(pons__task, text), .means = "as it was said"},
    {"status",   WORD, NEVER, offsetof(pons__task, status), .words = pons__task_status_words, .means = "`queued`, `active`, `paused`"},
    {"priority", INT,  NEVER, offsetof(pons__task, priority), .means = "higher goes first"},
    {"deadline", INT,  NUL,   offsetof(pons__task, deadline_ms), .means = "Unix time [ms]"},
};
const pons__record pons__status_task_record = {
    .name = "status_task", .means = "one of `queue` in the status",
    .size = sizeof(struct pons__task), .fields = status_task_fields, .n = sizeof status_task_fields / sizeof status_task_fields[0]};

static const pons__field status_skill_fields[] = {
    {"goal_id",    TEXT, NEVER, offsetof(pons__running, goal_id), .means = "at the body"},
    {"skill",      TEXT, NEVER, offsetof(pons__running, skill), .means = "of the registry"},
    {"started_ms", INT,  NEVER, offsetof(pons__running, started_ms), .means = "Unix time"},
    {"timeout_s",  NUM,  NEVER, offsetof(pons__running, timeout_s), .means = "robot time; then it fails"},
};
const pons__record pons__status_skill_record = {
    .name = "status_skill", .means = "one of `skills` in the status: under way",
    .size = sizeof(struct pons__running), .fields = status_skill_fields, .n = sizeof status_skill_fields / sizeof status_skill_fields[0]};

static const pons__field status_failure_fields[] = {
    {"skill",      TEXT, NEVER, offsetof(pons__result, skill), .means = "of the registry"},
    {"status",     WORD, NEVER, offsetof(pons__result, status), .words = pons__end_words, .means = "`failed`, `outcome_unknown`, `rejected`, `refused`"},
    {"error_code", INT,  NEVER, offsetof(pons__result, error_code), .means = "Nav2's numbers; 0: none"},
    {"error_msg",  TEXT, NEVER, offsetof(pons__result, error_msg), .means = "for people"},
    {"recovery",   WORD, NEVER, offsetof(pons__result, recovery), .words = pons__recovery_words, .means = "what the skill's error map advises"},
};
const pons__record pons__status_failure_record = {
    .name = "status_failure", .means = "`last_failure` in the status",
    .size = sizeof(struct pons__result), .fields = status_failure_fields, .n = sizeof status_failure_fields / sizeof status_failure_fields[0]};

static const pons__field status_question_fields[] = {
    {"words",       BOOL, KEY,   offsetof(pons__question, words), .means = "any words answer it"},
    {"id",          TEXT, NEVER, offsetof(pons__question, id), .means = "for `pons approve`"},
    {"question",    TEXT, NEVER, offsetof(pons__question, question), .means = "for people"},
    {"reason",      TEXT, NEVER, offsetof(pons__question, reason), .means = "of the decision"},
    {"ops",         JSON, NEVER, offsetof(pons__question, ops), .means = "what would be sent: [{skill, args, goal_index, reason, asks}]"},
    {"cancels",     JSON, NEVER, offsetof(pons__question, cancels), .means = "skills that would be canceled"},
    {"options",     JSON, KEY,   offsetof(pons__question, options), .means = "what a person may choose"},
    {"deadline_ms", INT,  KEY,   offsetof(pons__question, deadline_ms), .means = "wall: then the answer is no"},
    {"asked_ms",    INT,  KEY,   offsetof(pons__question, asked_ms), .means = "wall, with a deadline"},
    {"refused",     TEXT, KEY,   offsetof(pons__question, refused), .means = "why the edit before was none"},
    {"task_id",     TEXT, NEVER, offsetof(pons__question, task_id), .means = "whose it is"},
};
const pons__record pons__status_question_record = {
    .name = "status_question", .means = "one of `approvals` in the status: a question that nobody has answered",
    .size = sizeof(struct pons__question), .fields = status_question_fields, .n = sizeof status_question_fields / sizeof status_question_fields[0]};

static const pons__field status_answered_fields[] = {
    {"id",       TEXT, NEVER, offsetof(pons__question, id), .means = "for `pons approve T --id ID reject`"},
    {"question", TEXT, NEVER, offsetof(pons__question, question), .means = "for people"},
    {"task_id",  TEXT, NEVER, offsetof(pons__question, task_id), .means = "whose it is"},
    {"answer",   JSON, NEVER, offsetof(pons__question, answer), .means = "{action, by, at_ms, …}"},
};
const pons__record pons__status_answered_record = {
    .name = "status_answered", .means = "one of `answered` in the status: a yes of which nothing has begun yet",
    .size = sizeof(struct pons__question), .fields = status_answered_fields, .n = sizeof status_answered_fields / sizeof status_answered_fields[0]};

static const pons__field status_body_fields[] = {
    {"driver",   JSON, NUL, offsetof(pons__status_body, driver), .means = "of the body"},
    {"robot_id", JSON, NUL, offsetof(pons__status_body, robot_id), .means = "of the robot"},
    {"world",    JSON, NUL, offsetof(pons__status_body, world), .means = "its name"},
    {"world_id", JSON, NUL, offsetof(pons__status_body, world_id), .means = "what tells it from others of that name"},
    {"started_ms", JSON, NUL, offsetof(pons__status_body, started_ms), .means = "the body's start, Unix time"},
    {"boot_id",  JSON, NUL, offsetof(pons__status_body, boot_id), .means = "of the body's life"},
    {"realtime", JSON, NUL, offsetof(pons__status_body, realtime), .means = "robot time for each second"},
};
TABLE(status_body, "`body` in the status");

static const pons__field status_fields[] = {
    {"thread",      NAME,   NUL,   offsetof(pons__status, thread), .means = "whose state this is"},
    {"mode",        WORD,   NEVER, offsetof(pons__status, mode), .words = pons__mode_words, .means = "`SAFE`, `CHARGE`, `EXEC`, `IDLE`"},
    {"mode_reason", TEXT,   NEVER, offsetof(pons__status, mode_reason), .means = "for people"},
    {"paused",      BOOL,   NEVER, offsetof(pons__status, paused), .means = "a person said pause"},
    {"stopped",     RECORD, NUL,   offsetof(pons__status, stopped), .of = &pons__stopped_record, .means = "a stop in force, as the kernel knows it"},
    {"pace_percent", JSON,  NUL,   offsetof(pons__status, pace_percent), .means = "of every speed limit, that a person has left"},
    {"stop",        JSON,   NEVER, offsetof(pons__status, stop), .means = "the body's latch: {latched, reason, …}; `latched` null: no body"},
    {"battery_pct", JSON,   NUL,   offsetof(pons__status, battery_pct), .means = "as the body tells"},
    {"battery_state", JSON, NUL,   offsetof(pons__status, battery_state), .means = "as the body tells"},
    {"pose",        JSON,   NUL,   offsetof(pons__status, pose), .means = "{x, y, yaw} in the map"},
    {"zone",        NAME,   NUL,   offsetof(pons__status, zone), .means = "where that is"},
    {"distance_to_target", JSON, NUL, offsetof(pons__status, distance_to_target), .means = "of the way that is driven [m]"},
    {"active_task", RECORD, NUL,   offsetof(pons__status, active_task), .of = &pons__task_record, .means = "whole"},
    {"queue",       LIST,   NEVER, offsetof(pons__status, queue), .of = &pons__status_task_record, .means = "in the order in which they were said"},
    {"finished",    JSON,   NUL,   offsetof(pons__status, finished), .means = "a list of `finished`"},
    {"skills",      LIST,   NEVER, offsetof(pons__status, skills), .of = &pons__status_skill_record, .means = "under way"},
    {"iter",        INT,    NEVER, offsetof(pons__status, iter), .means = "rounds of the task"},
    {"iter_ms",     INT,    KEY,   offsetof(pons__status, iter_ms), .means = "when that round began, Unix time"},
    {"decision",    RECORD, NUL,   offsetof(pons__status, decision), .of = &pons__decision_record, .means = "the newest"},
    {"decided_ms",  INT,    KEY,   offsetof(pons__status, decided_ms), .means = "when, Unix time"},
    {"last_failure", RECORD, NUL,  offsetof(pons__status, last_failure), .of = &pons__status_failure_record, .means = "where the newest end was one"},
    {"approvals",   LIST,   NEVER, offsetof(pons__status, approvals), .of = &pons__status_question_record, .means = "questions that are open"},
    {"answered",    LIST,   KEY,   offsetof(pons__status, answered), .of = &pons__status_answered_record, .means = "with a yes, while their task waits for its turn: a no takes it back"},
    {"ladder",      RECORD, NUL,   offsetof(pons__status, recovery), .of = &pons__recovery_brief_record, .means = "how far the task is from asking a person"},
    {"plan",        RECORD, NUL,   offsetof(pons__status, plan), .of = &pons__plan_brief_record, .means = "of the task"},
    {"body",        RECORD, NUL,   offsetof(pons__status, body), .of = &pons__status_body_record, .means = "the robot's"},
    {"unheard",     JSON,   KEY,   offsetof(pons__status, unheard), .means = "what was said and no tick has taken; of a store that is read"},
};
TABLE(status, "`pons status --json`");

// What the body says of itself, as it came: the newest telemetry, and its hello.
static const pons__field reported_now_fields[] = {
    {"pose",          JSON, KEY, offsetof(pons__reported_now, pose), .means = "of telemetry"},
    {"pace_percent",  JSON, KEY, offsetof(pons__reported_now, pace_percent), .means = "of telemetry"},
    {"stop",          JSON, KEY, offsetof(pons__reported_now, stop), .means = "of telemetry"},
    {"battery_pct",   JSON, KEY, offsetof(pons__reported_now, battery_pct), .means = "of telemetry"},
    {"battery_state", JSON, KEY, offsetof(pons__reported_now, battery_state), .means = "of telemetry"},
    {"distance_remaining_m", JSON, KEY, offsetof(pons__reported_now, distance), .means = "of telemetry"},
    {"realtime",      JSON, KEY, offsetof(pons__reported_now, realtime), .means = "of telemetry"},
};
TABLE(reported_now, "telemetry, as far as the status has it");

static const pons__field greeted_fields[] = {
    {"driver",   JSON, KEY, offsetof(pons__greeted, driver), .means = "of hello"},
    {"robot_id", JSON, KEY, offsetof(pons__greeted, robot_id), .means = "of hello"},
    {"boot_id",  JSON, KEY, offsetof(pons__greeted, boot_id), .means = "of hello"},
    {"world_id", JSON, KEY, offsetof(pons__greeted, world_id), .means = "of hello"},
    {"started_ms", JSON, KEY, offsetof(pons__greeted, started_ms), .means = "of hello"},
    {"world",    JSON, KEY, offsetof(pons__greeted, world), .means = "of hello"},
};
TABLE(greeted, "a body's hello, as far as the status has it");
// clang-format on

// The two channels of the inner loop, as structs.
struct inner {
    pons__react *react;   // NULL: there is none yet
    pons__skills *skills; // NULL: there is none yet
};

static inner inner_read(const pons_value *react, const pons_value *skills)
{
    return (inner){react ? pons__record_read(&pons__react_record, react) : NULL,
                   skills ? pons__record_read(&pons__skills_record, skills) : NULL};
}

static void inner_free(inner *in)
{
    pons__record_free(&pons__react_record, in->react);
    pons__record_free(&pons__skills_record, in->skills);
}

// What people have said and no tick has taken.
static int read_words(void *user, const pons_inbox_row *row)
{
    pons_autovalue value = NULL;
    if (pons_value_read(row->value.data, row->value.len, &value, NULL) < 0) {
        return 0;
    }
    PONS__AUTO(said) said = pons__said_read(value);
    switch (pons__word_find(pons__inbox_message_words, row->kind, PONS_LETTER_OTHER)) {
    case PONS_LETTER_SAY:
    case PONS_LETTER_GOAL:
    case PONS_LETTER_WISH:
        if (*said->text) {
            json_array_append_new(user, json_string(said->text));
        }
        break;
    case PONS_LETTER_RUN:
        json_array_extend(user, (json_t *)said->goals);
        break;
    default:
        break;
    }
    return 0;
}

static void add_question(pons__list *list, const pons__question *q, const char *task, bool answered)
{
    pons__reply *reply = q->answer ? pons__reply_read(q->answer) : NULL;
    const bool no = reply && strcmp(reply->action, "reject") == 0;
    pons__record_free(&pons__reply_record, reply);
    if (answered ? q->answer && !no : !q->answer) {
        pons__question *reported = pons__record_copy(&pons__question_record, q);
        pons__set_text(&reported->task_id, task);
        pons__list_add(list, reported);
    }
}

static void add_questions(pons__list *list, const pons__list *asks, const char *task, bool answered)
{
    for (size_t i = 0; i < asks->n; i++) {
        add_question(list, asks->at[i], task, answered);
    }
}

// The inner loop's, then those of tasks that were put aside: those that nobody has answered, or those that have a yes.
// The caller clears.
static pons__list questions(const pons__tasks *tasks, const pons__react *react, bool answered)
{
    pons__list list = {0};
    const pons__reported *reported = tasks ? tasks->react : NULL;
    const char *task = react && react->task ? react->task->id : "";
    if (react && react->asking.question) {
        add_question(&list, react->asking.question, task, answered);
        add_questions(&list, &react->asking.also, task, answered);
    }
    if (reported && !pons__reported_taken(reported, react)) {
        add_questions(&list, &reported->asks, reported->task_id, answered);
    } else if (reported && reported->state != PONS_INNER_IDLE && react && react->task &&
               react->activation ==
                   reported->activation) { // put aside, and the kernel was not told yet
        add_questions(&list, &react->task->asks, task, answered);
    }
    for (size_t i = 0; tasks && i < tasks->queue.n; i++) {
        const pons__task *aside = tasks->queue.at[i];
        add_questions(&list, &aside->asks, aside->id, answered);
    }
    if (tasks) {
        add_questions(&list, &tasks->asks, "", answered);
    }
    return list;
}

// No member of their own table.
static void questions_clear(pons__list *list)
{
    for (size_t i = 0; i < list->n; i++) {
        pons__set_text(&((pons__question *)list->at[i])->task_id, NULL);
    }
    pons__list_clear(&pons__question_record, list);
}

// The inner loop's own is newer than the queue's.
static pons__recovery_brief *recovery_of(const pons__tasks *tasks, const pons__react *react)
{
    const pons__task *active = tasks ? pons__queue_active(tasks) : NULL;
    const pons__task *own = react ? react->task : NULL;
    const bool same = strcmp(own ? own->id : "", active ? active->id : "-") == 0;
    return pons__recovery_tell(same ? own : active);
}

static const pons__result *failure_of(const pons__skills *skills)
{
    const pons__result *last = skills ? skills->last_result : NULL;
    const bool none = !last || last->status == PONS_END_NONE || last->status == PONS_END_DONE ||
                      last->status == PONS_END_CANCELED;
    return none ? NULL : last;
}

// Where a pose is, in the world of a hello; NULL: nowhere that is known.
static const char *zone_of(const pons__list *zones, const pons_value *pose)
{
    const pons__pose at = pons__pose_of(pose);
    const pons__zone *zone = pose ? pons__zone_at(zones, &at) : NULL;
    return zone && *zone->id ? zone->id : NULL;
}

// What it shows of channels stays theirs; what is made for it goes with it. rests: nobody runs the thread, and nothing
// waits in it.
static pons_value *build(const char *thread, const pons__tasks *tasks, const inner *in,
                         const pons_value *telemetry, const pons_value *hello,
                         const pons_value *unheard, bool rests)
{
    static const pons__list none = {0};
    const pons__react *react = in->react;
    PONS__AUTO(reported_now) now = pons__record_read(&pons__reported_now_record, telemetry);
    PONS__AUTO(greeted) greeted = pons__record_read(&pons__greeted_record, hello);
    PONS__AUTO_LIST(zone) zones = {0};
    pons__list_read(&pons__zone_record, pons_get(greeted->world, "zones"), &zones);
    pons__list approvals = questions(tasks, react, false), answered = questions(tasks, react, true);
    pons__recovery_brief *recovery = recovery_of(tasks, react);
    pons__plan_brief *plan = pons__plan_brief_of(react ? react->plan : NULL);
    pons_autovalue no_body = json_pack("{s:n, s:s}", "latched", "reason", "no body");
    pons_autovalue finished =
        tasks ? pons__list_write(&pons__finished_record, &tasks->finished) : NULL;
    const pons__status_body body = {.driver = greeted->driver,
                                    .robot_id = greeted->robot_id,
                                    .world = pons_get(greeted->world, "name"),
                                    .world_id = greeted->world_id,
                                    .started_ms = greeted->started_ms,
                                    .boot_id = greeted->boot_id,
                                    .realtime = now->realtime};
    const pons__status status = {
        .thread = thread,
        .mode = tasks && !rests ? tasks->mode : PONS_MODE_IDLE,
        .mode_reason = rests   ? "no task"
                       : tasks ? tasks->mode_reason
                               : "",
        .paused = tasks && tasks->paused,
        .stopped = tasks ? tasks->stopped : NULL,
        .pace_percent = now->pace_percent,
        .stop = now->stop ? now->stop : no_body,
        .battery_pct = now->battery_pct,
        .battery_state = now->battery_state,
        .pose = now->pose,
        .zone = zone_of(&zones, now->pose),
        .distance_to_target = now->distance,
        .active_task = tasks ? pons__queue_active(tasks) : NULL,
        .queue = tasks ? tasks->queue : none,
        .finished = finished,
        .skills = in->skills ? in->skills->running : none,
        .iter = react ? react->iter : 0,
        .iter_ms = react ? react->iter_ms : 0,
        .decided_ms = react ? react->decided_ms : 0,
        .decision = react ? react->decision : NULL,
        .last_failure = failure_of(in->skills),
        .approvals = approvals,
        .answered = answered,
        .recovery = recovery,
        .plan = plan,
        .body = hello ? &body : NULL,
        .unheard = unheard,
    };
    pons_value *reported = pons__record_write(&pons__status_record, &status);
    pons__record_free(&pons__plan_brief_record, plan);
    pons__record_free(&pons__recovery_brief_record, recovery);
    questions_clear(&approvals);
    questions_clear(&answered);
    return reported;
}

int pons_status_read(pons_store store, const char *thread, const pons_value *telemetry,
                     const pons_value *hello, pons_value **ret, pons_error *err)
{
    pons_autovalue kernel = NULL;
    pons_autovalue react = NULL;
    pons_lease holder = {0};
    pons_error none = PONS_ERROR_INIT;
    int rc = thread ? pons_state_read(store, thread, PONS_NS_KERNEL, &kernel, &none) : PONS_OK;
    int64_t last = 0;
    if (rc == PONS_ENOTFOUND && store.ops->event_last(store.self, thread, &last, err) >= 0 &&
        last > 0) {
        rc = PONS_OK; // it has begun, and no tick has heard anything yet
    }
    pons_autovalue unheard = json_array();
    if (rc >= 0 && thread) {
        rc = store.ops->inbox_read(store.self, thread, PONS_NS_KERNEL, 0, read_words, unheard,
                                   &none);
    }
    if (rc < 0) {
        *err = none;
        return rc;
    }
    if (thread) {
        pons_state_read(store, thread, PONS_NS_REACT, &react, &none); // none yet is no fault
    }
    pons__tasks *tasks = pons_get(kernel, "tasks")
                             ? pons__record_read(&pons__tasks_record, pons_get(kernel, "tasks"))
                             : NULL;
    inner in = inner_read(pons_get(react, "react"), pons_get(react, "skills"));
    // What the last tick of a life that is over was in is no news of now.
    const bool held = thread && store.ops->lease_peek(store.self, thread, &holder, &none) >= 0;
    const bool rests = !held && (!tasks || tasks->queue.n == 0);
    *ret = build(thread, tasks, &in, telemetry, hello, unheard, rests);
    inner_free(&in);
    pons__record_free(&pons__tasks_record, tasks);
    return PONS_OK;
}

pons_value *pons_brain_status(pons_brain *b)
{
    inner in = inner_read(pons__inner_channel(b, "react"), pons__inner_channel(b, "skills"));
    pons_value *status =
        build(b->opts.thread, b->tasks, &in, b->port.telemetry, b->port.hello, NULL, false);
    inner_free(&in);
    return status;
}
