// session.h - a brain at work in this process, and what goes along with it.
#pragma once

#include "app/workspace/which_robot.h"

#include <signal.h>

typedef struct app_session_end { // how a session stands that is about to close
    pons_brain_outcome outcome;
    int left;       // tasks and words that are kept for a resume
    bool left_idle; // there was nothing left, and it was ended so
} app_session_end;

// What goes along with a session, on the loop's thread where nothing else is said. Each function may be NULL. They are
// opened in their order, and closed from the last to the first.
typedef struct app_session_guest {
    void (*brain)(void *user, pons_brain *brain); // borrowed until close; before all opens
    int (*open)(void *user, pons_store store, pons_error *err); // before the thread's first event
    int (*ready)(void *user, pons_error *err); // its goals are kept, and the loop begins
    void (*event)(void *user, const pons_event *ev);
    void (*note)(void *user, const char *line); // what is wrong with a file, or with the body
    bool (*turn)(void *user);                   // before each wait; true: it has been moved on
    int (*fd)(void *user);                      // a descriptor that is looked at too, or -1
    void (*work)(void *user);                   // it can be read
    bool (*over)(void *user);                   // whether the session is to end
    void (*end)(void *user, const app_session_end *end); // the brain is still there
    void (*close)(void *user);                           // also after an open that failed
    void (*commit)(void *user, int rc, int64_t ns);      // of each commit, on any thread
    void *user;
    bool traces; // it has spans made of what it is told (pons/traces.h)
} app_session_guest;

enum { APP_SESSION_GUESTS_MAX = 4 };

typedef struct app_session_options {
    const char *thread;
    pons_store *store;         // already open: the session takes it over; NULL: it opens its own
    const pons_policy *policy; // opened by the caller
    const char *world,
        *driver; // of a thread that is resumed; NULL: of the robot that the context means
    const char *skills, *llm; // skills: NAME,… of modules, or NULL
    bool llm_kept;            // of the run that is resumed: it may be gone
    double speed;
    uint64_t seed;
    const char *const *goals; // NULL for resume
    size_t n_goals;
    const pons_plan *plan; // instead of goals; NULL: none
    bool keep_running;     // goals come by other ways: it goes on without any
    bool leaves;      // who ends it leaves what was asked for; with nothing left, the run is over
    bool resumed;     // a person typed resume
    bool body_manual; // never start one
    const pons_llm *opened; // a provider that the caller opened and closes; NULL: llm says which
    uint32_t stream;        // PONS_STREAM_… of the inner loop
    bool stream_kernel;
    bool step;            // hold before each superstep of the inner loop, until pons_brain_step
    const char *priority; // of the goals; NULL: as usual
    int64_t deadline_ms;  // of the goals, Unix time; 0: none
    bool only_new;        // the goals are those of a thread that has had none
    int64_t wait_ms;      // how long a stop or a pause may hold all up; 0: for ever
    bool ros2;            // the body that this starts is shown to ROS 2
    bool watched;         // a watchdog started it, and has the workspace's files
    const volatile sig_atomic_t *ended;
    app_session_guest guests[APP_SESSION_GUESTS_MAX];
    size_t n_guests;
} app_session_options;

// A body is started when none answers, and started again when it dies: a run's body is the run's business, and ends with
// it, unless it holds an object or a question is open. A body that somebody else had started is joined only when it is
// the robot that is meant, and left alone. An app_outcome: the body could not start, and that was said.
int app_session_run(const app_context *c, const app_session_options *o, pons_error *err);

// ---- recording.c: what the robot of this workspace does, into a new MCAP file -------------------
#define APP_RECORD_EVERY_S 2.0
typedef struct app_recording app_recording;
typedef struct app_recording_options {
    const char *path;
    const char *cameras; // "front,rear"; NULL: no pictures
    double every_s;      // between two rounds of pictures; 0: as usual
    bool ros2;           // ROS 2's topics too; those of a robot of --driver ros2 are in any case
    bool apart;          // ROS 2's topics will be there: ours have other names from the first
} app_recording_options;
int app_recording_open(const app_context *c, const app_recording_options *o, app_recording **ret,
                       pons_error *err);
void app_recording_event(app_recording *r, const pons_event *ev);
// Says on stderr what is in it, where there is an err. NULL-safe.
int app_recording_close(app_recording *r, pons_error *err);
// As a guest, which opens it before the first event; closed by who has it, when the session is over.
typedef struct app_recorded {
    const app_context *c;
    const char *driver, *world; // as of the session
    app_recording_options options;
    app_recording *recording; // NULL: not opened
} app_recorded;
app_session_guest app_recording_guest(app_recorded *r);
// Whether it has ended by itself: the disk is full.
bool app_recording_ended(app_recording *r);
