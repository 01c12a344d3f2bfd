// context.h - the workspace and the robot that a program works with, and what is opened from them.
//
// src/app has whole programs without a command line: what joins a brain or a body to stores, models, drivers and other
// adapters. Each takes an app_context, and says what goes on beside to its `tell`.
#pragma once

#include "pons/body.h"
#include "pons/brain.h"
#include "pons/graph_module.h"
#include "pons/link.h"

#include <limits.h>
#include <sys/types.h>

enum { // how a process of this program ends
    EXIT_DONE = 0,
    EXIT_NO_SUCCESS = 1,
    EXIT_BAD_INPUT = 2,
    EXIT_ENVIRONMENT = 3,
    EXIT_WAITING = 4
};

// How what a program does ends that neither is done nor has an error. By then all is said. Beside the numbers of
// pons/error.h.
typedef enum app_outcome {
    APP_NO_SUCCESS = -1002, // what was asked for ended without success
    APP_WAITING = -1003,    // it waits for a person
    APP_FAULTY = -1004,     // bad input, told fault by fault
    APP_LACKING = -1005     // something of the environment is not there
} app_outcome;

typedef struct app_context {
    char workspace[PATH_MAX];       // absolute
    char run_dir[PATH_MAX];         // workspace/run
    char db[PATH_MAX];              // workspace/pons.db
    const char *driver, *world;     // of the robot that is meant; NULL: not named
    void (*tell)(const char *line); // a line for people, without its end; NULL: nobody reads it
} app_context;

// ---- setup.c: a process -------------------------------------------------------------------------

// The first thing that a program does. workspace: as it was typed; NULL: $PONS_WORKSPACE, else the usual one.
int app_setup(const char *workspace, void (*tell)(const char *line), app_context *ret,
              pons_error *err);

// ---- tell.c: what is told to people -------------------------------------------------------------

// Fills the error with a line of its own, which no module stands before.
int app_bad(pons_error *err, const char *fmt, ...)
    __attribute__((format(printf, 2, 3))); // PONS_EINVAL
int app_lacks(pons_error *err, const char *fmt, ...)
    __attribute__((format(printf, 2, 3))); // PONS_EENV
// Makes a failure to reach something the environment's, whatever it was: PONS_EENV.
int app_unreached(pons_error *err);
// A line for people.
void app_tell(const app_context *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void app_tell_error(const app_context *c, const pons_error *err); // "pons: …", as one line

// ---- workspace.c: its folders, its store, its configuration -------------------------------------

int app_workspace(const app_context *c, bool create, pons_error *err);
int app_store(const app_context *c, pons_store *ret, pons_error *err);
// The workspace and its store for who only reads: nothing is made or written.
int app_store_read(const app_context *c, pons_store *ret, pons_error *err);
// Configuration files: config/NAME in the workspace when it is there, else the one that pons ships.
int app_yaml(const app_context *c, const char *relative, const char *schema, pons_value **ret,
             pons_error *err); // "config/NAME", checked by a file of schemas/, or NULL
int app_config(const app_context *c, pons_value **ret, pons_error *err); // kernel.yaml, checked
int app_policy(const app_context *c, pons_policy *ret,
               pons_error *err); // the rules, of intents.yaml
// What the kernel's rules say of a robot's actions, as the brain's R4 holds them: the critic's
// policy, from the workspace's kernel.yaml.
int app_critic_policy(const app_context *c, pons_value **ret, pons_error *err);

// ---- adapters.c: worlds, drivers, skills by their names -----------------------------------------

// A name in worlds/ of the workspace, else of those that pons ships; or a path.
bool app_is_path(const char *name); // it has a folder, or YAML's ending
int app_world(const char *name, pons_value **ret, pons_error *err);
void app_worlds_of(const char *workspace); // of this process; borrowed
int app_driver(const char *name, const pons_robot_ops **ret, pons_error *err);
// Loads the module slam-NAME that makes the map of this world. *ret is unchanged if the world's map does not grow, or if the
// module is not installed and the robot's own SLAM may give the map.
struct pons_slam_ops;
int app_slam(const pons_value *world, const pons_robot_ops *robot, const struct pons_slam_ops **ret,
             pons_error *err);
// The skills of modules "NAME,…"; names NULL: none.
typedef struct app_skills {
    const pons_skill *at[PONS_BODY_SKILLS_MAX];
    size_t n;
} app_skills;
int app_skills_load(const char *names, app_skills *ret, pons_error *err);

// ---- models.c -----------------------------------------------------------------------------------

// spec: NULL (environment, else rules), a URL, "rules", "script:FILE",
// "record:FILE:URL" or "replay:FILE" (docs/reference/models.md). ret->ops NULL: rules.
// pictures: as pons/llm.h has them, or NULL: it gets none.
int app_llm(const char *spec, const pons_value *pictures, const pons_clock *clock, pons_llm *ret,
            pons_error *err);
// The configuration that a spec stands for (pons_llm_factory_open), the caller's; spec: of app_llm_spec, not NULL.
int app_llm_config(const char *spec, const pons_value *pictures, pons_value **ret, pons_error *err);
// Whether a person is to be asked before pictures go to that model's server, and its address.
bool app_llm_asks(const char *spec, const pons_value *pictures, char *ret, size_t cap);
// The model that was typed, or else the environment's; NULL: none, the rules decide. Borrowed.
const char *app_llm_spec(const char *typed);

// ---- builtin_names.c: the names of a kind that are files or words ("worlds", "drivers" …) -------

pons_value *app_shipped(const app_context *c, const char *kind);  // an array of texts, the caller's
void app_name_add(pons_value *names, const char *name, size_t n); // once
// "there is no WHAT 'NAME'", with what was probably meant, else with all that there are. PONS_EINVAL.
int app_no_such(const app_context *c, const char *kind, const char *what, const char *name,
                pons_error *err);
int app_no_such_of(const pons_value *names, const char *what, const char *name, pons_error *err);

// ---- graph_modules.c: graphs of a person's own, and the threads that they run -------------------

#define APP_GRAPH_STARTED "graph.started"
// By name, or by the path of a module graph-NAME.so. *ret: the caller's.
int app_graph_load(const char *name, const pons_graph_module **ret_module, pons_graph **ret,
                   pons_error *err);
// The names of all modules that are found, {name: true}: the caller's.
pons_value *app_graph_modules(const app_context *c);
// "a/graph-x.so" as its directory and "x"; false: not such a file.
bool app_graph_module(const char *path, char *dir, size_t dir_cap, char *bare, size_t bare_cap);
// A thread's graph, by name or path; false: no graph of a person's own has begun it.
bool app_graph_name(pons_store store, const char *thread, char ret[PATH_MAX]);
bool app_graph_of(pons_store store, const char *thread); // whether there is one
// Thread `to` as `from`, such a thread, was at a checkpoint of its root namespace; NULL: as it is.
int app_graph_fork(pons_store store, const char *from, const char *at, const char *to,
                   pons_error *err);

// ---- threads.c ----------------------------------------------------------------------------------

// Whether a new thread may be called so; PONS_EINVAL.
int app_thread_name(const char *name, pons_error *err);
void app_new_thread(char ret[PONS_NAME_MAX]); // "t-" and a random word
// The newest thread of a brain; PONS_ENOTFOUND when there is none.
int app_latest_thread(pons_store store, char ret[PONS_NAME_MAX], pons_error *err);
// The store, and the thread that is meant: *thread, or where that is NULL the newest, in latest. The caller closes the
// store, also after a failure.
int app_thread_open(app_context *c, bool writes, const char **thread, char latest[PONS_NAME_MAX],
                    pons_store *ret, pons_error *err);
// The newest thread of a brain or of an agent: what `resume` and `approve` mean.
int app_latest_of_any(pons_store store, char ret[PONS_NAME_MAX], pons_error *err);
// The task that is called so in a brain's status, NULL: none; borrowed. *ret_over: it is
// neither at work nor queued.
const pons_value *app_task_called(const pons_value *status, const char *text, bool *ret_over);

// ---- body_request.c: the body of the workspace is asked -----------------------------------------

// Connects to run/body.sock, whoever's body it is. PONS_ENOTFOUND, PONS_ECLOSED: none is there.
int app_body_link(const app_context *c, pons_link **ret, pons_error *err);
// An observer's look at the body: hello and one telemetry message, each NULL when no body answers.
int app_observe(const app_context *c, int timeout_ms, pons_value **ret_hello,
                pons_value **ret_telemetry);
// Sends one message to the body, without a hello, and waits for its ok. What the body refuses, and
// that there is none, are PONS_EENV.
struct pons_message;
int app_ask_body(const app_context *c, const struct pons_message *what, pons_error *err);
int app_reset_body(const app_context *c, pons_error *err); // lifts the latch

// ---- child_process.c ----------------------------------------------------------------------------

// `pons body` as a child in a session of its own, so that Ctrl-C here is not its end; what it
// has to say goes to run/body.log.
typedef struct app_body_how {
    const char *driver, *world, *skills; // skills NULL: none
    double speed;
    uint64_t seed;
    bool ros2; // shown to ROS 2
} app_body_how;

typedef struct app_body_child {
    pid_t pid; // 0: none runs
    int starts;
    int64_t tried_ms; // 0: never
} app_body_child;

// Starts one when none of ours runs, fewer than `most` have been started, and the last start is so long ago.
void app_body_child_start(app_body_child *b, const app_context *c, const app_body_how *how,
                          int64_t now_ms, int most, int64_t every_ms);
// Whether it has ended since the last look; *ret_status (or NULL) is waitpid's.
bool app_body_child_ended(app_body_child *b, int *ret_status);
void app_body_child_end(app_body_child *b); // and waits for it; none is fine
// `pons ARGV…` (from "pons" on, NULL at its end), which says what it has to say into run/LOG. Its
// pid, or -1.
pid_t app_child_start(const app_context *c, const char *log, const char *const *argv);
// The same, and what it prints is read from *ret_fd, which does not block and is the caller's to close.
pid_t app_child_read(const app_context *c, const char *log, const char *const *argv, int *ret_fd);
// Waits so long until a child has ended, and kills it then. Whether it ended by itself; *ret_status (or NULL) is waitpid's.
bool app_child_await(pid_t pid, int most_ms, int *ret_status);

// ---- ros2_bridge.c ------------------------------------------------------------------------------

// `pons body ros2`: the body of the workspace is shown to ROS 2, until a signal, or `once` the body that it found has gone. world NULL: the body says.
int app_bridge_run(const app_context *c, const char *world, bool once, pons_error *err);
// The same as a child, which can be found by others when this returns; app_bridge_end() ends it.
int app_bridge_start(const app_context *c, const char *world, pid_t *ret, pons_error *err);
void app_bridge_end(pid_t pid); // 0: none

// ---- wake_brain.c -------------------------------------------------------------------------------

// A brain of this workspace looks into its inboxes; false: none is there.
bool app_wake_brain(const app_context *c);
// Whose brain it is: a descriptor that is readable when it is to look; -1: another brain of this workspace has it.
int app_wake_listen(const app_context *c);
void app_wake_take(int fd); // what has come
