// cli.h - what the commands share: options, the workspace, exit statuses, wiring.
//
// The command line is a contract (DESIGN, and `pons help`). Events and results go to stdout,
// everything else to stderr. Exit: 0 done, 1 the task ended without success, 2 bad input, 3
// environment, 4 waiting for a person.
#ifndef PONS_CLI_H
#define PONS_CLI_H

#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>

#include "pons/body.h"
#include "pons/brain.h"
#include "pons/critic.h"

enum {
    EXIT_DONE = 0,
    EXIT_NO_SUCCESS = 1,
    EXIT_BAD_INPUT = 2,
    EXIT_ENVIRONMENT = 3,
    EXIT_WAITING = 4
};

typedef struct cli {
    bool json;
    char workspace[PATH_MAX]; // absolute
    char run_dir[PATH_MAX];   // workspace/run
    char db[PATH_MAX];        // workspace/pons.db
    int argc;                 // the command's own words, without the global options
    char **argv;
} cli;

// One option of a command: "--speed X" has a value, "--once" has none. help is one line.
typedef struct cli_option {
    const char *name;
    const char *metavar; // NULL: a flag
    const char *help;
    const char **value; // set to the argument, or to "yes" for a flag
} cli_option;

typedef struct cli_command {
    const char *name;
    const char *usage;
    const char *help; // one line
    int (*run)(cli *c);
} cli_command;
extern const cli_command cli_commands[]; // ends with a NULL name

// args.c. Positional words are left in c->argv[0…c->argc). Returns -1, or an exit status: bad
// input, or done after --help.
int cli_parse(cli *c, const cli_command *self, const cli_option *options);
int cli_number(const char *text, const char *option, double low, double high, double *ret);
// "updates,messages" as PONS_STREAM_… bits. -1, or bad input.
int cli_modes(const char *text, uint32_t *ret);
// JSON given as an option's value: the text, @FILE, or - for standard input. -1 and the caller's
// *ret, or an exit status.
int cli_value(const char *text, const char *option, pons_value **ret);
// The same for what people answer: what does not begin like JSON is a string.
int cli_word_or_json(const char *text, const char *option, pons_value **ret);
const cli_command *cli_find(const char *name);

// Whether a new thread may be called so; PONS_EINVAL.
int cli_thread_name(const char *name, pons_error *err);
void cli_new_thread(char ret[PONS_NAME_MAX]); // "t-" and a random word
// How many bytes of a text to show when most are too many: no character is cut in two.
size_t cli_cut(const char *text, size_t most);

// Prints the error as one line on stderr and returns the exit status that its kind has.
int cli_fail(const pons_error *err);
int cli_bad(const char *fmt, ...) __attribute__((format(printf, 1, 2))); // EXIT_BAD_INPUT

// setup.c: the only place that wires adapters to engines.
int cli_workspace(cli *c, bool create, pons_error *err);
int cli_store(cli *c, pons_store *ret, pons_error *err);
// Configuration files: config/NAME in the workspace when it is there, else the one that pons ships.
int cli_config(const cli *c, pons_value **ret, pons_error *err);    // kernel.yaml, checked
int cli_policy(const cli *c, pons_policy *ret, pons_error *err);    // the rules, from intents.yaml
int cli_world(const char *name, pons_value **ret, pons_error *err); // "house" or a path
int cli_driver(const char *name, const pons_robot_ops **ret, pons_error *err);
// spec: NULL (environment, else rules), a URL, "rules", "script:FILE",
// "record:FILE:URL" or "replay:FILE" (docs/models.md). ret->ops NULL: rules.
int cli_llm(const char *spec, const pons_clock *clock, pons_llm *ret, pons_error *err);
// An observer's look at the body: hello and one telemetry message, each NULL when no body answers.
int cli_observe(cli *c, int timeout_ms, pons_value **ret_hello, pons_value **ret_telemetry);
// The newest thread of a brain; PONS_ENOTFOUND when there is none.
int cli_latest_thread(pons_store store, char ret[PONS_NAME_MAX], pons_error *err);
// The newest thread of a brain or of an agent: what `resume` and `approve` mean.
int cli_latest_of_any(pons_store store, char ret[PONS_NAME_MAX], pons_error *err);

// display.c: events for people and for programs.
typedef struct cli_display cli_display;
cli_display *cli_display_create(const cli *c, bool live_line);
void cli_display_prompting(cli_display *d); // the live line becomes the prompt
void cli_display_destroy(cli_display *d);   // NULL-safe; ends the live line
void cli_display_event(cli_display *d, const pons_event *ev);
void cli_display_note(cli_display *d, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
// One line that is redrawn in place: mode, battery, zone, distance, decision.
void cli_display_status(cli_display *d, char *buf, size_t cap);
void cli_display_line(cli_display *d, const char *label, const char *fmt, ...)
    __attribute__((format(printf, 3, 4))); // one line for people, as events are shown
// plain.c: text from outside (a model, a tool, a server) for a terminal: what would command it is
// shown as U+FFFD. Up to n bytes, ending at a zero; lines: line breaks and tabs may stay.
void cli_show(FILE *to, const char *text, size_t n, bool lines);
void cli_show_format(FILE *to, const char *fmt, va_list ap); // the same, formatted, with lines
void cli_print_json(const pons_value *v);                    // one line on stdout

// step.c: one superstep at a time, for `pons run --step` and `pons graph run --step`.
typedef enum cli_step_word {
    CLI_STEP_NEXT,     // an empty line, n, next
    CLI_STEP_CONTINUE, // c, continue: hold no more
    CLI_STEP_STATE,    // s, state
    CLI_STEP_QUIT,     // q, quit: leave; a resume goes on here
    CLI_STEP_OTHER
} cli_step_word;
cli_step_word cli_step_parse(const char *line);
#define CLI_STEP_HELP "Enter: the next superstep; c: go on without holding; s: the state; q: leave"
// Shows a held run: what the last superstep ran (NULL at the start) and changed, what is next. One
// object of the type "step" with --json. before and after are states, NULL when there is none yet.
void cli_step_show(cli_display *d, const cli *c, const char *thread, const char *ns,
                   const pons_value *ran, const pons_value *before, const pons_value *after,
                   const pons_value *next);

// prompt.c: the line that a person types in. said gets each line, NULL at the end of input.
void cli_prompt_start(const char *text, void (*said)(void *user, const char *line), void *user);
void cli_prompt_stop(void);             // idempotent
bool cli_prompt_active(void);           // false when the terminal would not be prompted on
void cli_prompt_read(void);             // standard input is readable
void cli_prompt_hide(void);             // before something is printed
void cli_prompt_show(const char *text); // after; NULL keeps the text

// cmd_plan.c. Reads a plan as `pons plan check` does, repairs on stderr; "-" is standard input.
// EXIT_DONE, or the exit status after an error was printed. *ret is the caller's to destroy.
// defaults: what was absent is told too.
int cli_plan_read(const char *path, const char *goal, bool defaults, pons_plan **ret);
// Holds a plan against what is known before anything moves: a body that answers, else the skills
// that pons brings and the world; embodiment: a file, or NULL. *ret is the caller's.
int cli_plan_judge(cli *c, const pons_plan *p, const char *world, const char *embodiment,
                   pons_verdict **ret, pons_error *err);
void cli_plan_verdict(const pons_verdict *v); // a line a rule on stderr

// session.c: a brain at work, for run and resume.
typedef struct cli_session_options {
    const char *thread;
    const pons_policy *policy; // opened by the caller; NULL: the session opens it
    const char *world, *driver, *llm;
    double speed;
    uint64_t seed;
    const char *const *goals; // NULL for resume
    size_t n_goals;
    const pons_plan *plan; // instead of goals; NULL: none
    bool prompt;
    bool body_by_hand;      // never start one
    const pons_llm *opened; // a provider that the caller opened and closes; NULL: llm says which
    uint32_t stream;        // PONS_STREAM_… of the inner loop
    bool stream_kernel;
    bool step;       // hold before each superstep of the inner loop
    int64_t wait_ms; // how long a stop or a pause may hold all up; 0: for ever
} cli_session_options;
int cli_session_run(cli *c, const cli_session_options *o);

// cmd_word.c: a person's answer from its words. -1 and *ret, or an exit status.
int cli_answer(const char *action, const char *rest, pons_value **ret);

// graph_run.c. Whether a thread is run by a graph of its own (`pons graph run`), not by the brain.
bool cli_graph_of(pons_store store, const char *thread);
// Thread `to` as `from`, such a thread, was at a checkpoint of its root namespace; NULL: as it is.
int cli_graph_fork(pons_store store, const char *from, const char *at, const char *to,
                   pons_error *err);

// bt_watch.c. Shows the tree of the body in the workspace as it changes, until the body goes or
// Ctrl-C; the exit status.
int cli_bt_watch(cli *c);

// Commands.
int cmd_run(cli *c);
int cmd_resume(cli *c);
int cmd_threads(cli *c);
int cmd_status(cli *c);
int cmd_say(cli *c);
int cmd_stop(cli *c);
int cmd_reset(cli *c);
int cmd_pause(cli *c);
int cmd_continue(cli *c);
int cmd_approve(cli *c);
int cmd_body(cli *c);
int cmd_scenario(cli *c);
int cmd_graph(cli *c);
int cmd_plan(cli *c);
int cmd_agent(cli *c);
int cmd_bt(cli *c);
int cmd_companion(cli *c);
int cmd_mcp(cli *c);
int cmd_doctor(cli *c);

#endif
