// cli.h - what the commands share: options, the workspace, exit statuses, wiring.
//
// The command line is a contract (`pons help`). Events and results go to stdout,
// everything else to stderr. Exit: 0 done, 1 the task ended without success, 2 bad input, 3
// environment, 4 waiting for a person.
//
// A command, and what it calls, returns PONS_OK, a status of pons/error.h with the error filled, or
// a app_outcome. All but PONS_OK are negative, so `rc = rc < 0 ? rc : next(…)` carries each of them
// to program.c, which prints the error and alone knows exit codes.
#pragma once

#include "app/fleet/fleet.h"
#include "app/operator/operator.h"
#include "app/session/session.h"
#include "app/workspace/which_robot.h"
#include "pons/buf.h"
#include "pons/critic.h"

#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>

#define CLI_HELPED (-1001) // --help was asked for: done; beside an app_outcome

struct cli_command;

typedef struct cli {
    const struct cli_command *self; // the command that runs
    const struct cli_command *word; // the word of it that does, NULL: the command itself
    // Which of the words of `self` is the first argument; without one the first. Negative: none.
    int (*which_word)(const struct cli *c, pons_error *err);
    const struct cli_describer *describer; // NULL, or who --help tells the options to
    bool json;
    app_context app; // driver, world: as typed
    int argc;        // the command's own words, without the global options
    char **argv;
} cli;

// One option of a command: "--speed X" has a value, "--once" has none. help is one line.
typedef struct cli_option {
    const char *name;
    const char *metavar; // NULL: a flag; "[ADDR:PORT]": an address when the next word is one
    const char *help;
    const char **value; // set to the argument, or to "yes" without one
    double *number;     // CLI_NUMBER: to the number that it is, which is within these
    double low, high;
} cli_option;
#define CLI_NUMBER(number, low, high) NULL, (number), (low), (high)

#define CLI_ROBOT_OPTIONS(c)                                                                       \
    {"--world", "NAME", "a world of worlds/, or a path; default: config.json's, else house",       \
     &(c)->app.world},                                                                             \
    {                                                                                              \
        "--driver", "NAME",                                                                        \
            "mujoco, kinematic, or a module driver-NAME; default: config.json's, else mujoco",     \
            &(c)->app.driver                                                                       \
    }

typedef int cli_run_fn(cli *c, pons_error *err);
typedef struct cli_command { // commands.c has the table
    const char *name;
    const char *args; // what follows the name; NULL: one of the words
    const char *help; // one line
    // NULL: of a command, one of its words runs; of a word, the command takes it among its arguments.
    cli_run_fn *run;
    const struct cli_command
        *words; // what its first argument may be, to a NULL name; NULL: anything
    bool any;   // words, or anything else
    bool says;  // its words are said to somebody, who answers in their language: no path, no id
    bool moves; // its exit status tells what became of the robot, whatever standard output takes
} cli_command;

typedef struct cli_describer { // --help hands the options over instead of showing them
    void (*take)(void *user, const cli_option *options);
    void *user;
} cli_describer;

// terminal/usage.c: what --help shows; CLI_HELPED.
int cli_usage(const cli *c, const cli_option *options);
// args.c. A moment of the real clock, in local time, as strftime writes it; returns buf.
#define CLI_MOMENT 64
const char *cli_moment(int64_t ms, char buf[CLI_MOMENT], const char *format)
    __attribute__((format(strftime, 3, 0)));
// args.c. Positional words are left in c->argv[0…c->argc). CLI_HELPED after --help.
int cli_parse(cli *c, const cli_option *options, pons_error *err);
int cli_number(const char *text, const char *option, double low, double high, double *ret,
               pons_error *err);
// A time as long as this: seconds, or with s, m, min, h or d behind the number.
int cli_duration(const char *text, const char *option, double *ret_s, pons_error *err);
// The command's words from this one on, with a blank between two; ret->data is a text, also of none.
int cli_words(const cli *c, int from, size_t most, pons_buf *ret, pons_error *err);
// "updates,messages" as PONS_STREAM_… bits.
int cli_modes(const char *text, uint32_t *ret, pons_error *err);
// JSON given as an option's value: the text, @FILE, or - for standard input. *ret: the caller's.
int cli_value(const char *text, const char *option, pons_value **ret, pons_error *err);
// The same for what people answer: what does not begin like JSON is a string.
int cli_word_or_json(const char *text, const char *option, pons_value **ret, pons_error *err);

// How many bytes of a text to show when most are too many: no character is cut in two.
size_t cli_cut(const char *text, size_t most);

// A signal asks the command to end: set by SIGINT and SIGTERM from then on. flags: SA_RESTART, or 0: a wait or a write
// that is under way ends as well.
extern volatile sig_atomic_t cli_ended;
void cli_end_on_signals(int flags);
// The error as one line on stderr; for program.c, and where a command goes on after it.
void cli_tell(const pons_error *err);

int cli_config_check(cli *c,
                     pons_error *err); // all files of it; the first that is not sound is in *err
const char *cli_config_name(
    size_t i); // maintenance/cmd_config.c: of the i-th configuration file; NULL: the end
// A picture of a camera of the world, as a file (cmd_camera.c); NULL: as the body has them, the usual file.
typedef struct cli_camera_options {
    const char *name, *world, *driver, *out;
    const char *
        device; // of this machine, in place of the world's camera of that name; NULL: as the world has it
    int width, height; // of a device; 0: 640 x 480
    double fps;
    bool depth;
    bool
        view; // what a thing in the picture needs to get its place is wanted too, where the source has it
} cli_camera_options;
int cli_camera(cli *c, const cli_camera_options *o, pons_error *err);

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

// An event as a sentence: each %s of it is a member of the payload, by its path ("task.text"). A list of them ends with
// a NULL type.
typedef struct cli_event_row {
    const char *type, *label, *text, *paths[4];
} cli_event_row;
// *ret: its sentence; NULL: the list has none.
const cli_event_row *cli_event_sentence(const cli_event_row *rows, const char *type,
                                        const pons_value *payload, pons_buf *ret);

// output.c: the one door to standard output and standard error (pons/printable.h, docs/reference/security.md).
// A format's own line breaks stay; what a %s brings is text from outside and stays on its line.
void cli_out(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void cli_err(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void cli_vout(const char *fmt, va_list ap) __attribute__((format(printf, 1, 0)));
void cli_vnote(const char *fmt, va_list ap)
    __attribute__((format(printf, 1, 0))); // "pons: …" on stderr
bool cli_line(char *buf,
              size_t cap); // what a person answers, without its end; false: no more will come
struct pons_buf;
void cli_buf(struct pons_buf *b, const char *fmt, va_list ap) __attribute__((format(printf, 2, 0)));
void cli_text(struct pons_buf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
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
void cli_screen_size(size_t *columns, size_t *rows); // of standard output
size_t cli_screen_width(void);                       // columns that a row may have
void cli_bracketed_paste(bool on);                   // the terminal marks what is pasted
struct cli_rows;
void cli_out_rows(const struct cli_rows *rows, bool last_ends); // styled_text.h
void cli_live_line(const char *text); // dim, in place of the line that the cursor is on
bool cli_err_seen(void);              // standard error is a terminal
// A line of what is under way: drawn again, or one more; NULL: it goes. Any thread.
void cli_err_live(const char *text, bool redraw);

// progress.c: what takes longer than a second says so from then on. what: borrowed until the end. of: how many, or 0.
void cli_busy(const char *what, size_t of);
void cli_busy_count(size_t done);
void cli_busy_end(void); // idempotent
// Its line after so long; nothing within the first second. When to look again [ms].
int64_t cli_busy_line(const char *what, size_t done, size_t of, int64_t for_ms, bool moves,
                      pons_buf *ret);

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
// *ret is the caller's to destroy.
// The text of a file, or of stdin (-).
int cli_plan_text(const char *path, pons_buf *ret, pons_error *err);
typedef enum cli_plan_tell {
    CLI_PLAN_SILENT,  // who has read it before has told its repairs
    CLI_PLAN_REPAIRS, // on stderr
    CLI_PLAN_DEFAULTS // and what was absent
} cli_plan_tell;
int cli_plan_read(const char *path, const char *goal, cli_plan_tell tell, pons_plan **ret,
                  pons_error *err);
// Holds a plan against what is known before anything moves: a body that answers, else the skills
// that pons brings, those of modules (`--skills`, or NULL) and the world; embodiment: a file, or NULL.
// *ret is the caller's.
int cli_plan_judge(cli *c, const pons_plan *p, const char *world, const char *embodiment,
                   const char *skills, pons_verdict **ret, pons_error *err);
void cli_plan_verdict(const pons_verdict *v); // a line a rule on stderr

// Who has the prompt in place of the robot's brain: what is typed goes there.
typedef struct cli_prompt_owner {
    const char *name; // stands before it
    void (*said)(void *user, const char *line);
    // A line was a stop, and is the robot's; latched: that is on the disk.
    void (*stopped)(void *user, bool latched);
    void *user;
} cli_prompt_owner;

// brain_session.c: a brain at work, for run, resume and serve.
typedef struct cli_session_options {
    app_session_options run; // without what follows from the rest; its policy is the prompt's
    bool prompt;
    const cli_prompt_owner *owner; // of the prompt; NULL: the robot's brain
    bool serve;                    // goals come by other ways than the prompt, too
    bool quiet;                    // a guest shows what happens; the session shows nothing
    const char *record;            // a new MCAP file of it all; NULL: none
} cli_session_options;
int cli_session_run(cli *c, const cli_session_options *o, pons_error *err);

// cmd_word.c: what --priority and --deadline say; either may be NULL. *ret_ms: Unix time, 0: none.
int cli_wish(const char *priority, const char *deadline, int64_t *ret_ms, pons_error *err);
// cmd_status.c: why nothing moves, and what a person does about it; nothing: it may.
void cli_why_still(const pons_value *status, pons_buf *ret);
void cli_status_show(const pons_value *status); // {…, brain: whether one runs}
// cmd_approve.c: an answer that is said ("yes"), to the question that is open, if one is.
int cli_answer_open(cli *c, const char *thread, pons_value *answer, bool *ret_asked,
                    pons_error *err);

// bt_watch.c. Shows the tree of the body in the workspace as it changes, until the body goes or
// Ctrl-C.
int cli_bt_watch(cli *c, const char *groot, pons_error *err);

int cli_run_options(cli *c, pons_error *err); // of `run`: they are read, and what is left is words
void cli_version(void);                       // pons --version
// Commands.
cli_run_fn cmd_onboard, cmd_watchdog, cmd_workspace, cmd_fleet_run, cmd_fleet_status,
    cmd_fleet_assign, cmd_fleet_cancel, cmd_fleet_settle, cmd_fleet_clear, cmd_fleet_block,
    cmd_fleet_unblock, cmd_fleet_simulate, cmd_fleet_map, cmd_run, cmd_resume, cmd_threads,
    cmd_status, cmd_say, cmd_stop, cmd_reset, cmd_pace, cmd_pause, cmd_continue, cmd_cancel,
    cmd_raise, cmd_do, cmd_explore, cmd_approve, cmd_places, cmd_places_forget, cmd_schedule_add,
    cmd_schedule_list, cmd_schedule_remove, cmd_schedule_pause, cmd_schedule_continue, cmd_body,
    cmd_scenario, cmd_record, cmd_replay, cmd_map, cmd_graph, cmd_plan, cmd_agent, cmd_bt,
    cmd_companion, cmd_mcp_serve, cmd_mcp_tools, cmd_mcp_questions, cmd_vda5050, cmd_config,
    cmd_logs, cmd_doctor, cmd_backup, cmd_items, cmd_lessons, cmd_serve, cmd_seen, cmd_sight,
    cmd_ros2_setup;
