// cli_bench.h - the real program in a workspace of its own: what the command line's tests share.
//
// A bench is a mkdtemp directory with a workspace in it. Programs are started with their standard
// output on a pipe, read as JSON lines, and their standard error in a file. Every wait is for
// something to happen, with a limit that only a broken program reaches. What is left at the end (a
// body that waits for a resume) is ended by its pid.
#ifndef CLI_BENCH_H
#define CLI_BENCH_H

#include "pons/value.h"

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define BENCH_ARGS_MAX 24
#define BENCH_LIMIT_S  150

#define FAST      "--driver kinematic --seed 3 --speed 20"
#define QUICK     "--speed 40" // of a fleet, whose robots drive from one zone to the next one
#define WATCHABLE "--driver kinematic --seed 3 --speed 1" // long enough to say something meanwhile

typedef struct bench {
    char dir[64];
    char workspace[96];
    char share[128]; // "" or a share directory of the test's own
    int procs;
} bench;

typedef struct proc {
    pid_t pid; // 0: waited for
    int out;
    int status; // exit status; 128 + signal
    char err_path[128];
    char *text; // all of standard output so far
    size_t length, taken;
    pons_value *events; // its JSON lines
    size_t mark;
} proc;

void bench_open(bench *b);
void bench_close(bench *b);
// For cmocka, after each test: ends what a test that failed has left behind, and its directory.
int bench_teardown(void **state);

struct CMUnitTest;
// Runs tests that mostly wait for a robot, a few at the same time, each in a process of its own;
// shows what they said one after the other. For main: how many failed.
int bench_together(const char *group, const struct CMUnitTest *tests, size_t n);

// Words are split at spaces; a word in '…' keeps them. "pons" and --workspace are added in front.
// input: given on standard input, then closed; NULL: /dev/null.
void bench_start(bench *b, proc *p, const char *input, const char *words);
void bench_split(char *words, char **argv, size_t *argc); // as bench_start does, in place
// p->mark 1: with the standard input that is here.
void bench_start_program(bench *b, proc *p, const char *path, const char *words);
// Reads until a line with this type (and member, also inside its decision) comes; returns it.
const pons_value *bench_await(proc *p, const char *type, const char *key, const char *value);
int bench_count(const proc *p, const char *type, const char *key, const char *value);
const char *bench_line(proc *p); // the next line, not JSON; without its end; static storage
int bench_finish(proc *p);       // reads to the end and waits; returns the exit status
void bench_signal(proc *p, int number);
bool bench_alive(proc *p);  // and takes the status when it has ended
void bench_waited(proc *p); // somebody else has, and has set its status
void bench_free(proc *p);
char *bench_stderr(const proc *p);                // the caller frees
void bench_err_await(proc *p, const char *words); // until it has said so there
// Finishes it; another status fails the test with what it printed.
void bench_must_exit(proc *p, int status);
// `pons WORDS` ends with this status, nothing on standard output, and one line "pons: …" that has
// `says` in it.
void bench_must_fail(bench *b, const char *words, int status, const char *says);
// Start, finish, and the status.
int bench_run(bench *b, const char *words);
// The same; *ret: the one JSON line it printed, or NULL. The caller's.
int bench_run_json(bench *b, const char *words, pons_value **ret);

// tests/llm/scripted_model with these words; its port.
int bench_start_model(bench *b, proc *model, const char *words);
bool bench_no_model_module(void); // this build has no client for one

// config.json names the robot of these words of `pons body` or `pons watchdog`, so that every command means it.
void bench_name_robot(const bench *b, const char *words);
// A body of a person's own, with these words of `pons body`, and until it listens. config.json names it.
void bench_start_body(bench *b, proc *body, const char *words);
pid_t bench_body_pid(bench *b); // from run/body.json; 0: none
// A child of that process with this word on its command line; 0: none yet.
pid_t bench_child(pid_t parent, const char *word);
void bench_end_body(bench *b); // kill -9, and until it is gone
// A run of thread t to the kitchen, killed with its body as it drives: the store has a log.
void bench_killed_run(bench *b);
void bench_shell(const char *fmt, ...) __attribute__((format(printf, 1, 2))); // which must succeed
pons_value *bench_ledger(bench *b);
// Of the ledgers of a fleet's robots: goals of this skill with a line of this state. s: of `wait` alone those that wait
// so long, as a brain whose move failed waits by itself, too; 0: any.
int bench_fleet_count(const bench *b, const char *skill, int s, const char *state);
int bench_ledger_count(bench *b, const char *goal_id, const char *state); // goal_id NULL: any
// How often the skill was started. Where the machine is slow, stop_base is as well: the telemetry is old.
int bench_ledger_skill(bench *b, const char *skill);
int bench_ledger_in(bench *b, const char *skill,
                    const char *state); // how many of its goals came so far
void bench_ledger_await(bench *b, const char *state, int n);
// Each goal id was started once, and none twice at the same time.
void bench_ledger_check(bench *b);
// A share directory of the test's own, in which config/kernel.yaml has one text replaced.
void bench_share(bench *b, const char *replace, const char *with);
#define BENCH_ASKS "  skills: []", "  skills: [navigate_to_pose]"     // a person, before each drive
const char *bench_file(bench *b, const char *name, const char *text); // writes DIR/NAME
// WORKSPACE/NAME, as an editor saves it: whoever reads has the old one or the new one.
void bench_put(const bench *b, const char *name, const char *text);
// In the first place of WORKSPACE/NAME.
void bench_edit(const bench *b, const char *name, const char *was, const char *is);
// Opens a bench with the fleet of the house, r1 and r2; r1 has a bay nearer to the kitchen than the shipped map has.
void bench_fleet(bench *b);
void bench_rest(int64_t ms);
// A little rest before something is looked at again; fails the test when that has gone on too long. since: 0 at first.
void bench_again(int64_t *since, const char *awaited);

#endif
