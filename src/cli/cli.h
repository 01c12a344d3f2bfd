// cli.h - what the commands share: options, the workspace, exit statuses, wiring.
//
// The command line is a contract (`pons help`). Events and results go to stdout,
// everything else to stderr. Exit: 0 done, 1 the task ended without success, 2 bad input, 3
// environment, 4 waiting for a person.
//
// A command, and what it calls, returns PONS_OK, a status of pons/error.h with the error filled, or
// a cli_outcome. All but PONS_OK are negative, so `rc = rc < 0 ? rc : next(…)` carries each of them
// to main.c, which prints the error and alone knows exit codes.
#ifndef PONS_CLI_H
#define PONS_CLI_H

#include "pons/body.h"
#include "pons/brain.h"
#include "pons/buf.h"
#include "pons/critic.h"

#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>

enum { // given out by main.c; brain_session.c reads those of the body that it started
    EXIT_DONE = 0,
    EXIT_NO_SUCCESS = 1,
    EXIT_BAD_INPUT = 2,
    EXIT_ENVIRONMENT = 3,
    EXIT_WAITING = 4
};

// How a command ends that neither is done nor has an error. By then all is said: main.c adds
// nothing. Beside the numbers of pons/error.h.
typedef enum cli_outcome {
    CLI_HELPED = -1001,     // --help was asked for: done
    CLI_NO_SUCCESS = -1002, // what was asked for ended without success
    CLI_WAITING = -1003,    // it waits for a person
    CLI_FAULTY = -1004,     // bad input, told fault by fault
    CLI_LACKING = -1005     // something of the environment is not there
} cli_outcome;

struct cli_command;

typedef struct cli {
    const struct cli_command *self;        // the command that runs
    const struct cli_command *word;        // the word of it that does, NULL: the command itself
    const struct cli_describer *describer; // NULL, or who --help tells the options to
    bool json;
    char workspace[PATH_MAX];   // absolute
    char run_dir[PATH_MAX];     // workspace/run
    char db[PATH_MAX];          // workspace/pons.db
    const char *driver, *world; // of the robot that is meant, as typed; NULL: not named
    int argc;                   // the command's own words, without the global options
    char **argv;
} cli;

// One option of a command: "--speed X" has a value, "--once" has none. help is one line.
typedef struct cli_option {
    const char *name;
    const char *metavar; // NULL: a flag; "[ADDR:PORT]": an address when the next word is one
    const char *help;
    const char **value; // set to the argument, or to "yes" without one
} cli_option;

typedef struct cli_command { // commands.c has the table
    const char *name;
    const char *args; // what follows the name; NULL: one of the words
    const char *help; // one line
    // NULL: of a command, one of its words runs; of a word, the command takes it among its arguments.
    int (*run)(cli *c, pons_error *err);
    const struct cli_command
        *words; // what its first argument may be, to a NULL name; NULL: anything
    bool any;   // words, or anything else
    bool moves; // its exit status tells what became of the robot, whatever standard output takes
} cli_command;

typedef struct cli_describer { // --help hands the options over instead of showing them
    void (*take)(void *user, const cli_option *options);
    void *user;
} cli_describer;

// show/usage.c: what --help shows; CLI_HELPED.
int cli_usage(const cli *c, const cli_option *options);
// args.c. Positional words are left in c->argv[0…c->argc). CLI_HELPED after --help.
int cli_parse(cli *c, const cli_option *options, pons_error *err);
int cli_number(const char *text, const char *option, double low, double high, double *ret,
               pons_error *err);
// "updates,messages" as PONS_STREAM_… bits.
int cli_modes(const char *text, uint32_t *ret, pons_error *err);
// JSON given as an option's value: the text, @FILE, or - for standard input. *ret: the caller's.
int cli_value(const char *text, const char *option, pons_value **ret, pons_error *err);
// The same for what people answer: what does not begin like JSON is a string.
int cli_word_or_json(const char *text, const char *option, pons_value **ret, pons_error *err);

// Whether a new thread may be called so; PONS_EINVAL.
int cli_thread_name(const char *name, pons_error *err);
void cli_new_thread(char ret[PONS_NAME_MAX]); // "t-" and a random word
// How many bytes of a text to show when most are too many: no character is cut in two.
size_t cli_cut(const char *text, size_t most);

// Fills the error with a line of the command's own, which no module stands before.
int cli_bad(pons_error *err, const char *fmt, ...)
    __attribute__((format(printf, 2, 3))); // PONS_EINVAL
int cli_lacks(pons_error *err, const char *fmt, ...)
    __attribute__((format(printf, 2, 3))); // PONS_EENV
// Makes a failure to reach something the environment's, whatever it was: PONS_EENV.
int cli_unreached(pons_error *err);
// body_request.c: sends one message to the body of this workspace, without a hello, and waits for its
// ok. What the body refuses, and that there is none, are PONS_EENV.
struct pons_message;
int cli_ask_body(cli *c, const struct pons_message *what, pons_error *err);
// The error as one line on stderr; for main.c, and where a command goes on after it.
void cli_tell(const pons_error *err);

// setup.c: the only place that wires adapters to engines.
int cli_workspace(cli *c, bool create, pons_error *err);
int cli_store(cli *c, pons_store *ret, pons_error *err);
// The workspace and its store for commands that only read: nothing is made or written.
int cli_store_read(cli *c, pons_store *ret, pons_error *err);
// Configuration files: config/NAME in the workspace when it is there, else the one that pons ships.
int cli_yaml(const cli *c, const char *relative, const char *schema, pons_value **ret,
             pons_error *err); // "config/NAME", checked by a file of schemas/, or NULL
int cli_config(const cli *c, pons_value **ret, pons_error *err); // kernel.yaml, checked
int cli_policy(const cli *c, pons_policy *ret, pons_error *err); // the rules, from intents.yaml
int cli_config_check(cli *c,
                     pons_error *err); // all files of it; the first that is not sound is in *err
// keep/builtin_names.c: the names of a kind that are files or words ("worlds", "drivers" …); an array of texts, the caller's.
pons_value *cli_shipped(cli *c, const char *kind);
void cli_name_add(pons_value *names, const char *name, size_t n); // once
// "there is no WHAT 'NAME'", with what was probably meant, else with all that there are. PONS_EINVAL.
int cli_no_such(cli *c, const char *kind, const char *what, const char *name, pons_error *err);
int cli_no_such_of(const pons_value *names, const char *what, const char *name, pons_error *err);
const char *
cli_config_name(size_t i); // keep/cmd_config.c: of the i-th configuration file; NULL: the end
// A name in worlds/ of the workspace, else of those that pons ships; or a path.
bool cli_is_path(const char *name); // it has a folder, or YAML's ending
int cli_world(const char *name, pons_value **ret, pons_error *err);
void cli_worlds_of(const char *workspace); // it outlives the commands
int cli_driver(const char *name, const pons_robot_ops **ret, pons_error *err);
// A picture of a camera of the world, as a file (cmd_camera.c); NULL: as the body has them, the usual file.
typedef struct cli_camera_options {
    const char *name, *world, *driver, *out;
    const char *
        device; // of this machine, in place of the world's camera of that name; NULL: as the world has it
    int width, height; // of a device; 0: 640 x 480
    double fps;
    bool depth;
} cli_camera_options;
int cli_camera(cli *c, const cli_camera_options *o, pons_error *err);
// The skills of modules that `--skills NAME,…` names; names NULL: none.
typedef struct cli_skills {
    const pons_skill *at[PONS_BODY_SKILLS_MAX];
    size_t n;
} cli_skills;
int cli_skills_load(const char *names, cli_skills *ret, pons_error *err);
// spec: NULL (environment, else rules), a URL, "rules", "script:FILE",
// "record:FILE:URL" or "replay:FILE" (docs/models.md). ret->ops NULL: rules.
int cli_llm(const char *spec, const pons_clock *clock, pons_llm *ret, pons_error *err);
// The model that was typed, or else the environment's; NULL: none, the rules decide. Borrowed.
const char *cli_llm_spec(const char *typed);
// What the kernel's rules say of a robot's actions, as the brain's R4 holds them: the critic's
// policy, from the workspace's kernel.yaml.
int cli_critic_policy(const cli *c, pons_value **ret, pons_error *err);
// An observer's look at the body: hello and one telemetry message, each NULL when no body answers.
int cli_observe(cli *c, int timeout_ms, pons_value **ret_hello, pons_value **ret_telemetry);
int cli_observe_on(struct pons_link *link, int timeout_ms, pons_value **ret_hello,
                   pons_value **ret_telemetry);
// stop_note.c: what the body says of its stop when somebody says a word, put into the letter that carries it: looked
// at now, because what the brain has is some milliseconds old. thread: whose body it is, in the workspace of a fleet;
// may be NULL. The telemetry, the caller's; NULL: no body answers.
pons_value *cli_note_stop(const cli *c, const char *thread, int timeout_ms, pons_value *word);
#define CLI_UNSEEN_RESET                                                                           \
    "no body answers, so nobody can tell which stop is meant: `pons reset`, or say it again"
// A stop is in force, and nobody can tell whether it is lifted: why a continue is refused, or PONS_OK. looked: what
// cli_note_stop has returned.
int cli_may_continue(pons_store store, const char *thread, const pons_value *looked,
                     pons_error *err);
// cmd_status.c: the task that is called so in a brain's status, NULL: none; borrowed. *ret_over: it is
// neither at work nor queued.
const pons_value *cli_task_called(const pons_value *status, const char *text, bool *ret_over);
// The newest thread of a brain; PONS_ENOTFOUND when there is none.
int cli_latest_thread(pons_store store, char ret[PONS_NAME_MAX], pons_error *err);
// The newest thread of a brain or of an agent: what `resume` and `approve` mean.
int cli_latest_of_any(pons_store store, char ret[PONS_NAME_MAX], pons_error *err);

// event_lines.c: events for people and for programs.
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

// output.c: the one door to standard output and standard error (pons/printable.h, docs/security.md).
// A format's own line breaks stay; what a %s brings is text from outside and stays on its line.
void cli_out(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void cli_err(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void cli_vout(const char *fmt, va_list ap) __attribute__((format(printf, 1, 0)));
void cli_verr(const char *fmt, va_list ap) __attribute__((format(printf, 1, 0)));
struct pons_buf;
void cli_buf(struct pons_buf *b, const char *fmt, va_list ap) __attribute__((format(printf, 2, 0)));
void cli_out_text(const char *text, size_t n); // of several lines; up to n bytes
void cli_print_json(const pons_value *v);      // one line on stdout, safe on a terminal
void cli_out_json(const char *text, size_t n); // the same of a text that is JSON
// The same bytes for a program, and safe when standard output is a terminal.
void cli_out_canonical(const char *text, size_t n);
void cli_flush(void);
bool cli_out_broken(void); // standard output takes no more
// Why standard output did not take all that was shown (a full disk); NULL: it did, or nobody reads it any more.
const char *cli_out_lost(void);
void cli_erase_line(void); // the cursor at its start
// So many lines up, to the line's start, and all from there on is erased.
void cli_erase_below(size_t up);
void cli_cursor_to(size_t up, size_t column); // so many lines up, in this column of the line
void cli_clear_screen(void);
void cli_bracketed_paste(bool on); // the terminal marks what is pasted
struct cli_rows;
void cli_out_rows(const struct cli_rows *rows, bool last_ends); // styled_text.h
void cli_live_line(const char *text); // dim, in place of the line that the cursor is on

// held_run.c: one superstep at a time, for `pons run --step` and `pons graph run --step`.
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

// line_editor.c: the line that a person types in. said gets each line, NULL at the end of input.
void cli_prompt_start(const char *text, void (*said)(void *user, const char *line), void *user);
void cli_prompt_words(pons_value *words); // an array of strings, for Tab; takes it; NULL: none
void cli_prompt_stop(void);               // idempotent
void cli_prompt_lines(void);              // a line may have several rows; its owner echoes it
// A line that was typed, for good, above the prompt.
void cli_prompt_echo(const char *label, const char *line);
void cli_prompt_give_up(void); // what is typed is dropped
// The terminal as it was before the prompt, and back.
void cli_prompt_pause(bool on);
bool cli_prompt_typed(void);            // something is
bool cli_prompt_active(void);           // false when the terminal would not be prompted on
void cli_prompt_read(void);             // standard input is readable
void cli_prompt_hide(void);             // before something is printed
void cli_prompt_show(const char *text); // after; NULL keeps the text

// plan_read.c. Reads a plan as `pons plan check` does, repairs on stderr; "-" is standard input.
// *ret is the caller's to destroy. defaults: what was absent is told too.
// The text of a file, or of stdin (-).
int cli_plan_text(const char *path, pons_buf *ret, pons_error *err);
int cli_plan_read(const char *path, const char *goal, bool defaults, pons_plan **ret,
                  pons_error *err);
// Holds a plan against what is known before anything moves: a body that answers, else the skills
// that pons brings, those of modules (`--skills`, or NULL) and the world; embodiment: a file, or NULL.
// *ret is the caller's.
int cli_plan_judge(cli *c, const pons_plan *p, const char *world, const char *embodiment,
                   const char *skills, pons_verdict **ret, pons_error *err);
void cli_plan_verdict(const pons_verdict *v); // a line a rule on stderr

// What goes along with a session: told when its store is open, of each event, and before it closes.
typedef struct cli_session_guest {
    int (*open)(void *user, pons_store store, pons_error *err);
    void (*brain)(void *user, pons_brain *brain); // borrowed until close; just before open; or NULL
    void (*event)(void *user, const pons_event *ev);
    void (*close)(void *user);                      // also after an open that failed
    void (*commit)(void *user, int rc, int64_t ns); // of each commit, on any thread; or NULL
    void *user;
    bool quiet;  // the guest shows what happens; the session shows nothing
    bool traces; // the guest has spans made of what it is told (pons/traces.h)
    // The prompt is the guest's, with this name before it, and what is typed goes there; NULL: none of
    // its own.
    const char *prompt;
    void (*said)(void *user, const char *line);
    // With said: a line was a stop, and is the robot's; latched: that is on the disk.
    void (*stopped)(void *user, bool latched);
    // A descriptor that is looked at too, and what is done when it can be read; NULL: none.
    int (*fd)(void *user);
    void (*work)(void *user);
    bool (*over)(void *user); // whether the session is to end; or NULL
} cli_session_guest;

// record/recording.c: what the robot of this workspace does, into a new MCAP file.
typedef struct cli_recording cli_recording;
typedef struct cli_recording_options {
    const char *path;
    const char *cameras; // "front,rear"; NULL: no pictures
    double every_s;      // between two rounds of pictures; 0: as usual
    bool ros2;           // ROS 2's topics too; those of a robot of --driver ros2 are in any case
    bool apart;          // ROS 2's topics will be there: ours have other names from the first
} cli_recording_options;
int cli_recording_open(cli *c, const cli_recording_options *o, cli_recording **ret,
                       pons_error *err);
void cli_recording_event(cli_recording *r, const pons_event *ev);
// Says on stderr what is in it, where there is an err. NULL-safe.
int cli_recording_close(cli_recording *r, pons_error *err);

// brain_session.c: a brain at work, for run, resume and serve.
typedef struct cli_session_options {
    const char *thread;
    pons_store *store;         // already open: the session takes it over; NULL: it opens its own
    const pons_policy *policy; // opened by the caller; NULL: the session opens it
    const char *world,
        *driver; // of a thread that is resumed; NULL: of the robot that the command means
    const char *skills, *llm; // skills: NAME,… of modules, or NULL
    bool llm_kept;            // of the run that is resumed: it may be gone
    double speed;
    uint64_t seed;
    const char *const *goals; // NULL for resume
    size_t n_goals;
    const pons_plan *plan; // instead of goals; NULL: none
    bool prompt;
    const cli_session_guest *guest; // NULL: none
    bool serve;             // goals come by other ways than the prompt: it goes on without any
    bool resumed;           // a person typed resume
    bool body_by_hand;      // never start one
    const pons_llm *opened; // a provider that the caller opened and closes; NULL: llm says which
    uint32_t stream;        // PONS_STREAM_… of the inner loop
    bool stream_kernel;
    bool step;            // hold before each superstep of the inner loop
    const char *priority; // of the goals; NULL: as usual
    int64_t deadline_ms;  // of the goals, Unix time; 0: none
    bool only_new;        // the goals are those of a thread that has had none
    int64_t wait_ms;      // how long a stop or a pause may hold all up; 0: for ever
    const char *record;   // a new MCAP file of it all; NULL: none
    bool ros2;            // the body that this starts is shown to ROS 2
    bool errand;          // a watchdog started it, and has the workspace's files
} cli_session_options;
int cli_session_run(cli *c, const cli_session_options *o, pons_error *err);

// child_process.c: `pons body` as a child in a session of its own, so that Ctrl-C here is not its end; what it
// has to say goes to run/body.log. skills NULL: none. Its pid, or -1.
pid_t cli_body_start(const cli *c, const char *driver, const char *world, const char *skills,
                     double speed, uint64_t seed, bool ros2);

// ros2_bridge.c: `pons body ros2`, until a signal, or `once` the body that it found has gone. world NULL: the body says.
int cli_bridge_run(cli *c, const char *world, bool once, pons_error *err);
// The same as a child, which can be found by others when this returns; cli_bridge_end() ends it.
int cli_bridge_start(const cli *c, const char *world, pid_t *ret, pons_error *err);
void cli_bridge_end(pid_t pid); // 0: none

// The same file: `pons ARGV…` (from "pons" on, NULL at its end), which says what it has to say into run/LOG. Its
// pid, or -1.
pid_t cli_child_start(const cli *c, const char *log, const char *const *argv);

// stop_words.c: a text that says stop goes to the wheels first, past everything; what its thread makes of
// it comes after. policy NULL: opened here. Without a body the brain sends the stop when there is one.
// true: they were one, and the latch is on the disk.
bool cli_stop_word(cli *c, const pons_policy *policy, const char *text);
#define CLI_STOPPED "stopped; the latch holds until `pons reset`"
// Whether words stop or pause the robot: what is said so is no answer, whatever is asked. And saying them: a stop
// reaches the wheels first.
bool cli_halts(const pons_policy *policy, const char *text);
// Whether a person talks to the robot and means it to stop: no other words, or a mark behind the first of them
// ("stop! the cat"). In a talk about other things a word that stops may stand anywhere.
bool cli_stops(const pons_policy *policy, const char *text);
// The same, or a word that cancels: what a plan or a turn is ended with, whatever it asks.
bool cli_ends(const pons_policy *policy, const char *text);
bool cli_no_body(int rc); // of cli_stop_robots, cli_robot_connect: there is no robot
pons_value *cli_stopped(const char *reason); // what --json says of a stop that latched; new
int cli_halt(cli *c, pons_store store, const char *thread, const char *text, pons_error *err);
// body_request.c: lifts the latch; PONS_OK when the body says so.
int cli_reset_body(cli *c, pons_error *err);
// fleet_stop.c: the same, and pons_stop_send, to every robot of the fleet where the workspace is a fleet's; PONS_OK
// when all whose bodies run have stopped, their latches on the disk.
bool cli_fleet_here(const cli *c);
// The same command line at the robot of the fleet whose thread this is; *c as it is where it is none.
cli cli_fleet_at(const cli *c, const char *thread);
int cli_stop_robots(const cli *c, const char *reason, int timeout_ms, pons_error *err);
int cli_reset_robots(cli *c, pons_error *err);
// cmd_approve.c: a person's answer from its words.
// What --priority and --deadline say; either may be NULL. *ret_ms: Unix time, 0: none.
int cli_wish(const char *priority, const char *deadline, int64_t *ret_ms, pons_error *err);
int cli_answer(const char *action, const char *rest, pons_value **ret, pons_error *err);
// The same of an answer that is said ("yes"): to the question that is open, if one is.
int cli_answer_open(cli *c, const char *thread, pons_value *answer, bool *ret_asked,
                    pons_error *err);
// Adds who answers, when, and a nonce, before the answer is posted.
void cli_answer_sign(pons_value *answer, const char *where);
// A question for a person, line by line: its reason, each operation with its number and the rule that
// asks.
void cli_question_show(const pons_value *question, void (*show)(void *user, const char *text),
                       void *user);
// What `pons approve THREAD` takes for it.
const char *cli_question_takes(const pons_value *question);
// Of a list of open questions: that with this id, or NULL; bad input that names each of them; and bad input that
// none has this id.
const pons_value *cli_question_named(const pons_value *open, const char *id);
// Why this can be no answer to it: an edit of no operation, a number of no option, one behind its deadline.
int cli_question_fits(const pons_value *question, const pons_value *answer, pons_error *err);
int cli_question_which(const char *thread, const pons_value *open, pons_error *err);
int cli_question_unknown(const char *thread, const char *id, const pons_value *open,
                         pons_error *err);
// cmd_word.c: a brain of this workspace looks into its inboxes.
void cli_ring(const cli *c);

// graph_run.c. Whether a thread is run by a graph of its own (`pons graph run`), not by the brain.
bool cli_graph_of(pons_store store, const char *thread);
// Thread `to` as `from`, such a thread, was at a checkpoint of its root namespace; NULL: as it is.
int cli_graph_fork(pons_store store, const char *from, const char *at, const char *to,
                   pons_error *err);

// bt_watch.c. Shows the tree of the body in the workspace as it changes, until the body goes or
// Ctrl-C.
int cli_bt_watch(cli *c, const char *groot, pons_error *err);

// Commands.
int cmd_onboard(cli *c, pons_error *err);
int cmd_watchdog(cli *c, pons_error *err);
int cmd_workspace(cli *c, pons_error *err);
int cmd_fleet_run(cli *c, pons_error *err);
int cmd_fleet_status(cli *c, pons_error *err);
int cmd_fleet_assign(cli *c, pons_error *err);
int cmd_fleet_cancel(cli *c, pons_error *err);
int cmd_fleet_settle(cli *c, pons_error *err);
int cmd_fleet_clear(cli *c, pons_error *err);
int cmd_fleet_block(cli *c, pons_error *err);
int cmd_fleet_unblock(cli *c, pons_error *err);
int cmd_fleet_simulate(cli *c, pons_error *err);
int cmd_fleet_map(cli *c, pons_error *err);
int cmd_run(cli *c, pons_error *err);
int cli_run_options(cli *c,
                    const char **ret_thread, // the options of `run` are read: what is left is words
                    pons_error *err);
int cmd_resume(cli *c, pons_error *err);
int cmd_threads(cli *c, pons_error *err);
int cmd_status(cli *c, pons_error *err);
int cmd_say(cli *c, pons_error *err);
int cmd_stop(cli *c, pons_error *err);
int cmd_reset(cli *c, pons_error *err);
int cmd_pace(cli *c, pons_error *err);
int cmd_pause(cli *c, pons_error *err);
int cmd_continue(cli *c, pons_error *err);
int cmd_cancel(cli *c, pons_error *err);
int cmd_raise(cli *c, pons_error *err);
int cmd_do(cli *c, pons_error *err);
int cmd_approve(cli *c, pons_error *err);
int cmd_places(cli *c, pons_error *err);
int cmd_places_forget(cli *c, pons_error *err);
int cmd_schedule_add(cli *c, pons_error *err);
int cmd_schedule_list(cli *c, pons_error *err);
int cmd_schedule_remove(cli *c, pons_error *err);
int cmd_schedule_pause(cli *c, pons_error *err);
int cmd_schedule_continue(cli *c, pons_error *err);
int cmd_body(cli *c, pons_error *err);
int cmd_scenario(cli *c, pons_error *err);
int cmd_record(cli *c, pons_error *err);
int cmd_replay(cli *c, pons_error *err);
int cmd_map(cli *c, pons_error *err);
int cmd_graph(cli *c, pons_error *err);
int cmd_plan(cli *c, pons_error *err);
int cmd_agent(cli *c, pons_error *err);
int cmd_bt(cli *c, pons_error *err);
int cmd_companion(cli *c, pons_error *err);
int cmd_mcp_serve(cli *c, pons_error *err);
int cmd_mcp_tools(cli *c, pons_error *err);
int cmd_mcp_questions(cli *c, pons_error *err);
int cmd_vda5050(cli *c, pons_error *err);
int cmd_config(cli *c, pons_error *err);
int cmd_logs(cli *c, pons_error *err);
int cmd_doctor(cli *c, pons_error *err);
void cli_version(void); // pons --version
int cmd_backup(cli *c, pons_error *err);
int cmd_items(cli *c, pons_error *err);
int cmd_lessons(cli *c, pons_error *err);
int cmd_serve(cli *c, pons_error *err);

#endif
