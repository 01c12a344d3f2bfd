// runtime_common.h - what the files of the Runtime watchdog share.
//
//   runtime_watchdog.c     essay; the loop: beats, claims, what others left
//   sessions_file.c        SESSIONS.md and the lanes made to say the same
//   admission.c    what a session is held against before anything moves; the table of names
//   session_dependencies.c     whether those that it depends on have succeeded
//   session_run.c         one session from its claim to its end
//   body_steps.c           steps of the body, from arguments or from a policy's answer
//   policy_observation.c what a policy is asked
//   policy_client.c      clients of policies
//   ended_sessions.c         sessions that ended long ago go from the lanes
//   runtime_common.c       what they share of bodies, time and rows
#pragma once

#include "pons/runtime.h"
#include "workspace/runtime/policy_client.h"

#define RT_WHY_MAX      400
#define RT_ID_MAX       PONS_NAME_MAX
#define RT_CHUNK_MAX    64    // actions of one answer
#define RT_PAUSE_MAX_MS 72000 // between two attempts: 60 s, and 20 % of scatter

// Why something cannot be, or did not come about; code NULL: it can, it did.
typedef struct rt_refusal {
    const char *code;
    char why[RT_WHY_MAX];
} rt_refusal;
void pons__rt_refuse(rt_refusal *r, const char *code, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

// ---- names bound to code (admission.c) ----------------------------------------------------------

typedef struct rt_adapter {
    const char *name;
    const char *type; // of targets that it is for
} rt_adapter;

// Calls of the body: [{skill, args}, …]; *last: nothing comes behind them.
typedef struct rt_plan {
    pons_value *calls;
    bool last;
} rt_plan;

typedef struct rt_kind {
    const char *name;
    bool asks; // a policy, before each plan
    bool
        ahead; // while the body still does the plan before: a chunk, which the next takes over from
    // session, skill: records. answer: the policy's, or NULL. tools: the body's.
    // target: its record.
    void (*plan)(const pons_value *session, const pons_value *skill, const pons_value *target,
                 const pons_value *answer, const pons_value *tools, rt_plan *ret, rt_refusal *why);
} rt_kind;

extern const rt_kind pons__rt_builtin, pons__rt_vla, pons__rt_rekep; // body_steps.c

typedef struct rt_contract {
    const pons_value *session, *target, *skill; // target, skill NULL: there is none
    const pons_ws_doc *environment;             // NULL: none
    const pons_value *tools;                    // of the body; NULL: not known yet
    bool arm;                                   // the body has joints
} rt_contract;

// What can be said without the body, then what needs it. *ret_kind is who runs it.
void pons__rt_check(const rt_contract *c, const rt_kind **ret_kind, rt_refusal *why);
void pons__rt_check_body(const rt_contract *c, const rt_kind *kind, rt_refusal *why);
// The skill that takes a policy's actions, by the target's config.control_mode; NULL: this body has none of that kind.
const pons_value *pons__rt_follow(const pons_value *target, const pons_value *tools);
const pons_value *pons__rt_tool(const pons_value *tools, const char *name); // NULL: it has none

// ---- what a policy is asked (policy_observation.c) ----------------------------------------------

typedef struct rt_question {
    const char *id;
    int64_t step;
    const pons_value *session, *skill, *target;
    const pons_value *robot, *images; // images NULL: none
    const pons_ws_doc *environment;   // NULL: none
} rt_question;
pons_value *pons__rt_question(const rt_question *q);
// {camera: {encoding, data, depth?}} of a provider's answer, whose files are below dir.
pons_value *pons__rt_images(const char *dir, const pons_value *pictures);

// A row that outlives the call that gave it; freed by pons__rt_copy_free.
typedef struct session_copy {
    pons_session_row row;
    char *text; // what it points to
} session_copy;
void pons__rt_copy(session_copy *ret, const pons_session_row *row);
void pons__rt_copy_free(session_copy *c);

// ---- one session (session_run.c) ----------------------------------------------------------------

typedef struct rt_run rt_run;

rt_run *pons__rt_run_begin(pons_runtime *r, const pons_session_row *row);
void pons__rt_run_free(rt_run *s);
void pons__rt_run_event(rt_run *s, pons_tool_event *e);
bool pons__rt_run_step(rt_run *s); // true: it is over, and no longer this watchdog's
bool pons__rt_run_next(rt_run *s, session_copy *ret); // when it is over: what its end has claimed
const char *pons__rt_run_target(const rt_run *s);

// ---- the watchdog (runtime_watchdog.c, runtime_common.c) ----------------------------------------

typedef struct rt_body {
    struct rt_body *next;
    char target[RT_ID_MAX];
    pons_value *record; // that it was made for
    pons_tools tools;
} rt_body;

struct pons_runtime {
    pons_runtime_options o;
    char runner[RT_ID_MAX], only[RT_ID_MAX];
    int epoll, lanes_fd;
    rt_body *bodies;
    rt_run **runs;
    size_t n_runs;
    uint64_t next_call, seed;
    int64_t beat_at_ms, beat_ok_ms, look_at_ms, due_ms;
    bool claims; // there may be something to claim
    size_t failed;
    struct { // another watchdog, and when its beats were seen to change
        char name[RT_ID_MAX];
        int64_t beats, since_ms;
    } *others;
    size_t n_others;

    pons_session_trim old; // ended_sessions.c
    pons_session_trimmed gone;
    int64_t tidy_at_ms;
    bool tidied; // all was looked at, at least once

    // sessions_file.c
    char generation[33]; // of SESSIONS.md, as it was held against the lanes last
    pons_value *known;   // ids that were pending in the file then
    pons_value *logged;  // ids whose end is in LOG.md, and not in the file yet
    pons_value *
        circles; // session_dependencies.c: by id, whether it waits for itself; NULL: nobody has asked
    pons_value *shows; // what the file is to say, in order: [{id, value}, …]
    bool looking;      // what is shown now was seen by a look, and is not this runtime's own
    bool unlooked;     // such a thing was written, and may have been over by then
    int64_t file_at_ms;
    size_t pending; // sessions in the file that this watchdog could do
};

rt_body *pons__rt_body(pons_runtime *r, const char *target, const pons_value *record,
                       pons_error *err);
int64_t pons__rt_now(const pons_runtime *r);
void pons__rt_watch(pons_runtime *r, int fd);

// ended_sessions.c: a little of what is old goes, when it is time.
void pons__rt_tidy(pons_runtime *r, int64_t now);

// sessions_file.c: makes file and lanes say the same, as far as may be.
void pons__rt_file_sync(pons_runtime *r, bool now);
void pons__rt_file_show(pons_runtime *r, const pons_session_row *row); // soon
void pons__rt_file_flush(pons_runtime *r); // in one write, as soon as the file may be written

// session_dependencies.c: whether a session may begin, by its depends_on.
typedef enum rt_depends { RT_READY, RT_WAITS, RT_NEVER } rt_depends; // RT_NEVER: why is filled
rt_depends pons__rt_depends(pons_runtime *r, const char *id, const pons_value *session,
                            rt_refusal *why);
