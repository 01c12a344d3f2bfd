// brain_session.c - a brain at work in the foreground: for `pons run` and `pons resume`.
//
// One loop: poll what the brain names, standard input for the prompt, and run/brain.sock, on which
// other processes ring after they have posted to an inbox; then let the brain do what is due. A
// body is started when none answers on run/body.sock, and started again when it dies: a run's body
// is the run's business, and ends with it, unless it holds an object or a question is open. A body that somebody else
// had started is joined only when it is the robot that is meant (which_robot.h), and left alone.
//
// Ctrl-C leaves: nothing is lost, the robot holds, and `pons resume` goes on. A second one ends at
// once.
#include "cli/agent/agent_cli.h"
#include "cli/run/notify.h"
#include "cli/run/places.h"
#include "cli/run/prompt_completion.h"
#include "cli/run/workspace_profile.h"
#include "cli/run/workspace_scope.h"
#include "cli/service.h"
#include "cli/terminal/status_area.h"
#include "cli/which_robot.h"
#include "pons/language.h"
#include "pons/module.h"
#include "pons/rule_policy.h"
#include "pons/store.h"
#include "pons/traces.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define BODY_START_EVERY_MS 3000
#define BODY_STARTS_MAX     5
#define BODY_BUSY_MAX_MS    3000 // how long another brain may have the body before this one gives up
#define BODY_UNREADY_MAX_MS 15000 // how long a body that listens may take to say which robot it is
#define FILES_NEVER_MS      60000
#define FDS_MAX             10
#define STDIN_LINE_MAX      4096

typedef struct session {
    cli *c;
    const cli_session_options *o;
    cli_robot meant; // no other one is moved
    const pons_value
        *about; // {world, driver, skills, speed, seed, ros2}: what a resume goes on with
    cli_display *display;
    pons_brain *brain;
    const pons_policy *policy;
    pons_clock clock;
    pid_t body; // a child of ours that is alive, else 0
    int body_starts;
    int64_t body_tried_ms; // 0: never
    int64_t unready_ms;    // since when a body listens that is not ready; 0: there is none
    int body_failed;       // CLI_FAULTY or CLI_LACKING: a child could not start, and it was said
    int wake_fd;
    bool stdin_open;
    bool prompting;       // standard input is a person's terminal
    bool zh;              // what was said there last is Chinese
    int left;             // tasks that a prompt is left with
    bool left_idle;       // it is left with none
    bool refused, tasked; // a word about place, time or pace was refused; there was a task
    size_t line_length;
    char line[STDIN_LINE_MAX];
    pons_ws_live *files;      // of a workspace that has them, else NULL
    cli_recording *recording; // NULL: none
    pons_traces *traces;      // NULL: none, or whoever is a guest has them
    cli_notify *notify;       // NULL: nobody wants to be told
    int hal_lock;
    int schedule_lock; // the file; -1: none
    char schedules[64], places[64];
    // --step
    pons_store store;
    bool held, free_run; // announced and waiting for a word; not held any more
    pons_value *held_state, *held_next;
} session;

static volatile sig_atomic_t interrupted;

// ---- the workspace's files ----------------------------------------------------------------------

static int say_edit(void *user, const char *words, pons_error *err)
{
    const session *s = user;
    return pons_brain_wish(s->brain, words, err); // a model's tools write in TASK.md too
}

static int cancel_task(void *user, const char *task, pons_error *err)
{
    const session *s = user;
    pons_autovalue value =
        pons_object("word", json_string("cancel"), "task", json_string(task), NULL);
    const int rc = pons_inbox_post(s->store, s->o->thread, "kernel", "control", value, err);
    pons_brain_wake(s->brain);
    return rc;
}

static void file_notice(void *user, const char *file, const char *text)
{
    const session *s = user;
    cli_display_note(s->display, "%s: %s", file, text);
}

static void judge(void *user, const char *skill, const pons_value *args, bool asked,
                  pons_value *rules)
{
    const session *s = user;
    if (s->files) {
        pons_ws_live_judge(s->files, skill, args, asked, rules);
    }
}

static pons_value *context(void *user)
{
    const session *s = user;
    return s->files ? pons_ws_live_context(s->files) : NULL;
}

static bool keep_schedules(void *user, bool take)
{
    const session *s = user;
    return cli_schedules_take(s->schedule_lock, take);
}

static int open_files(session *s, pons_error *err)
{
    pons_ws_live_options o = {.hal = s->hal_lock >= 0,
                              .who = s->o->thread,
                              .clock = s->clock,
                              .say = say_edit,
                              .cancel = cancel_task,
                              .notice = file_notice,
                              .user = s};
    return cli_files_open(s->c, s->meant.driver, s->meant.world, &o, &s->files, err);
}

// ---- body ---------------------------------------------------------------------------------------

// The workspace's documents, for a plan that asks them.
static int open_knowledge(void *user, pons_tools *ret, pons_error *err)
{
    session *s = user;
    return cli_core_tools(s->c, &s->clock, NULL, ret, err);
}

static void start_body(session *s)
{
    const int64_t now = pons_now_ms(&s->clock);
    if (s->body_tried_ms && now - s->body_tried_ms < BODY_START_EVERY_MS) {
        return;
    }
    if (s->body_starts++ >= BODY_STARTS_MAX) {
        s->body_failed = CLI_LACKING;
        cli_display_note(s->display, "the body died %d times; see %s/body.log", BODY_STARTS_MAX,
                         s->c->run_dir);
        return;
    }
    if (s->meant.fallback && s->body_starts == 1) {
        cli_display_note(s->display,
                         "without physics (driver kinematic): the module driver-mujoco is not "
                         "installed; `pons doctor` says how");
    }
    s->body_tried_ms = now;
    const pid_t pid =
        cli_body_start(s->c, s->meant.driver, s->meant.world,
                       pons_get_str(s->about, "skills", NULL), s->o->speed, s->o->seed, s->o->ros2);
    s->body = pid > 0 ? pid : 0;
}

static int connect_body(void *user, pons_link **ret, pons_error *err)
{
    session *s = user;
    const int rc = cli_robot_connect(s->c, &s->meant, ret, err);
    const int64_t now = pons_now_ms(&s->clock);
    s->unready_ms = rc != PONS_EAGAIN ? 0 : s->unready_ms ? s->unready_ms : now;
    if (rc == PONS_EINVAL) { // another robot has come meanwhile
        cli_tell(err);
        s->body_failed = CLI_FAULTY;
    } else if (s->unready_ms && now - s->unready_ms > BODY_UNREADY_MAX_MS) {
        cli_bad(err, "the body here does not say which robot it is (%s/body.json)", s->c->run_dir);
        cli_tell(err);
        s->body_failed = CLI_FAULTY;
    } else if (cli_no_body(rc) && !s->o->body_by_hand && !s->body) {
        start_body(s);
    }
    return rc < 0 ? PONS_EAGAIN : rc;
}

// A child that ends with damaged data, bad input or a missing environment would only do so again: its
// last line says why.
static void reap_body(session *s)
{
    int status = 0;
    if (!s->body || waitpid(s->body, &status, WNOHANG) != s->body) {
        return;
    }
    s->body = 0;
    const int code = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
    if (code != EXIT_NO_SUCCESS && code != EXIT_BAD_INPUT && code != EXIT_ENVIRONMENT) {
        return;
    }
    char path[PATH_MAX + 16], last[1024] = "";
    snprintf(path, sizeof path, "%s/body.log", s->c->run_dir);
    FILE *log = fopen(path, "r");
    char text[1024];
    while (log && fgets(text, sizeof text, log)) {
        memcpy(last, text, sizeof last);
    }
    if (log) {
        fclose(log);
    }
    last[strcspn(last, "\n")] = '\0';
    pons_link *other = NULL; // lost a race for the socket: somebody else's body is there
    pons_error ignored = PONS_ERROR_INIT;
    snprintf(path, sizeof path, "%s/body.sock", s->c->run_dir);
    if (pons_link_connect(path, &other, &ignored) >= 0) {
        pons_link_close(other);
        return;
    }
    cli_err("%s\n", *last ? last : "pons: the body could not start");
    s->body_failed = code == EXIT_NO_SUCCESS  ? CLI_NO_SUCCESS
                     : code == EXIT_BAD_INPUT ? CLI_FAULTY
                                              : CLI_LACKING;
}

// A body that we have started and that does not listen yet. One that does ends when we do, unless it is another brain's
// by now.
static void end_unheard_body(session *s)
{
    char path[PATH_MAX + 16];
    pons_link *there = NULL;
    pons_error ignored = PONS_ERROR_INIT;
    snprintf(path, sizeof path, "%s/body.sock", s->c->run_dir);
    reap_body(s);
    if (s->body && pons_link_connect(path, &there, &ignored) < 0) {
        kill(s->body, SIGTERM);
    }
    pons_link_close(there);
}

// ---- other processes ----------------------------------------------------------------------------

// A datagram on run/brain.sock means: look into the inboxes now.
static int open_wake(session *s)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    const int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    const int n =
        snprintf(address.sun_path, sizeof address.sun_path, "%s/brain.sock", s->c->run_dir);
    if (fd < 0 || n >= (int)sizeof address.sun_path) {
        return fd; // without it, the next tick looks
    }
    if (connect(fd, (struct sockaddr *)&address, sizeof address) == 0) {
        close(fd); // another brain of this workspace has it: ticks will do here
        return -1;
    }
    unlink(address.sun_path);
    if (bind(fd, (struct sockaddr *)&address, sizeof address) < 0) {
        close(fd);
        return -1;
    }
    chmod(address.sun_path, 0600);
    return fd;
}

static void read_wake(session *s)
{
    char byte[16];
    while (recv(s->wake_fd, byte, sizeof byte, 0) > 0) {
    }
    pons_brain_wake(s->brain);
}

// ---- prompt -------------------------------------------------------------------------------------

// The first of the lines that were read; false when there is no whole one.
static bool take_line(session *s, char ret[STDIN_LINE_MAX])
{
    char *end = strchr(s->line, '\n');
    if (!end) {
        return false;
    }
    snprintf(ret, STDIN_LINE_MAX, "%.*s", (int)(end - s->line), s->line);
    s->line_length = strlen(end + 1);
    memmove(s->line, end + 1, s->line_length + 1);
    return true;
}

// Whether they were a stop that has latched.
static bool speak_line(session *s, const char *text)
{
    pons_error err = PONS_ERROR_INIT;
    const bool latched = cli_stop_word(s->c, s->policy, text);
    if (pons_brain_say(s->brain, text, &err) < 0) {
        char line[1024];
        cli_display_note(s->display, "%s", pons_error_line(&err, line, sizeof line));
    }
    return latched;
}

// The question that is answered: of several that are open one must be named, as with `pons approve`. NULL, and that
// is said: it is not clear which, or there is none of that id. An object: no question is open.
static pons_value *question_meant(session *s, const char *id, bool no)
{
    pons_error err = PONS_ERROR_INIT;
    pons_autovalue status = pons_brain_status(s->brain);
    const pons_value *open = pons_get(status, "approvals"),
                     *one = id ? cli_question_named(open, id) : json_array_get(open, 0);
    if (id && !one && no) { // a no takes back a yes of which nothing has begun
        one = cli_question_named(pons_get(status, "answered"), id);
    }
    if (id && !one) {
        cli_question_unknown(s->o->thread, id, open, &err);
    } else if (!id && json_array_size(open) > 1) {
        cli_question_which(s->o->thread, open, &err);
    }
    if (err.status < 0) {
        char line[1024];
        cli_display_note(s->display, "%s", pons_error_line(&err, line, sizeof line));
        return NULL;
    }
    return one ? pons_value_ref(one) : json_object();
}

// "--id ID" or "--id=ID" at the front of what is left, taken off; *ret_id stays where there is none. An --id without
// ID names no question, and is no reason either.
static int take_id(char **rest, const char **ret_id, pons_error *err)
{
    const size_t n = strlen("--id");
    *rest += *rest ? strspn(*rest, " ") : 0;
    if (!*rest || strncmp(*rest, "--id", n) != 0 || !strchr(" =", (*rest)[n])) {
        return PONS_OK;
    }
    const char *word = strtok_r(NULL, " ", rest);
    const char *id = word[n] ? word + n + 1 : strtok_r(NULL, " ", rest);
    if (!id || !*id) {
        return cli_bad(err, "--id needs the ID of an open question; `status` shows them");
    }
    *ret_id = id;
    return PONS_OK;
}

// "approve", "approve edit JSON", "approve reject WHY", or the same without "approve"; --id ID behind the first word
// where several questions are open.
static void answer_line(session *s, char *text)
{
    pons_error err = PONS_ERROR_INIT;
    char *save = NULL;
    char *action = strtok_r(text, " ", &save);
    const char *id = NULL;
    int rc = take_id(&save, &id, &err);
    if (rc >= 0 && strcmp(action, "approve") == 0 && save && *save) {
        action = strtok_r(NULL, " ", &save);
        rc = take_id(&save, &id, &err);
    }
    pons_autovalue answer = NULL;
    if (rc < 0 ||
        cli_answer(action ? action : "approve", save && *save ? save : NULL, &answer, &err) < 0) {
        cli_tell(&err);
        return;
    }
    const char *words = pons_get_str(answer, "answer", NULL);
    if (words && cli_halts(s->policy, words)) {
        speak_line(s, words);
        return;
    }
    const bool no = strcmp(pons_get_str(answer, "action", ""), "reject") == 0;
    pons_autovalue meant = question_meant(s, id, no);
    if (!meant) {
        return;
    }
    cli_answer_sign(answer, "the prompt");
    const char *asked = pons_get_str(meant, "id", NULL);
    if (asked) {
        json_object_set_new(answer, "id", json_string(asked));
    }
    if ((asked && cli_question_fits(meant, answer, &err) < 0) ||
        pons_brain_answer(s->brain, answer, &err) < 0) {
        char line[1024];
        cli_display_note(s->display, "%s", pons_error_line(&err, line, sizeof line));
    }
}

static bool says_yes_or_no(const session *s, const char *text)
{
    pons_error none = PONS_ERROR_INIT;
    pons_autovalue parsed = NULL;
    pons_autovalue world = json_object();
    const int rc = s->policy->ops->parse(s->policy->self, text, world, &parsed, &none);
    const char *word = rc < 0 ? "" : pons_get_str(parsed, "control", "");
    return json_array_size(pons_get(parsed, "goals")) == 0 &&
           (strcmp(word, "yes") == 0 || strcmp(word, "no") == 0);
}

static void say_line(session *s, char *text)
{
    pons_error err = PONS_ERROR_INIT;
    text += strspn(text, " \t\r");
    size_t length = strlen(text);
    while (length > 0 && strchr(" \t\r", text[length - 1])) { // Tab puts a space behind a word
        text[--length] = '\0';
    }
    if (!*text) {
        return;
    }
    if (strcmp(text, "quit") == 0 || strcmp(text, "exit") == 0) {
        interrupted = 1;
        return;
    }
    if (s->o->guest && s->o->guest->said) {
        if (!cli_stops(s->policy, text)) {
            s->o->guest->said(s->o->guest->user, text);
            return;
        }
        // The robot's, whatever the guest is asked or at work on.
        s->o->guest->stopped(s->o->guest->user, speak_line(s, text));
        return;
    }
    static const char *const answers[] = {"approve", "answer", "reject", "edit"};
    for (size_t i = 0; i < sizeof answers / sizeof answers[0]; i++) {
        const size_t n = strlen(answers[i]);
        if (strncmp(text, answers[i], n) == 0 && (text[n] == '\0' || text[n] == ' ')) {
            answer_line(s, text);
            return;
        }
    }
    if (strncmp(text, "cancel task-", strlen("cancel task-")) == 0) {
        pons_autovalue word = pons_object("word", json_string("cancel"), "task",
                                          json_string(text + strlen("cancel ")), NULL);
        if (pons_inbox_post(s->store, s->o->thread, "kernel", "control", word, &err) >= 0) {
            pons_brain_wake(s->brain);
            return;
        }
    }
    if (strcmp(text, "status") == 0) {
        pons_autovalue status = pons_brain_status(s->brain);
        cli_print_json(status);
        return;
    }
    if (says_yes_or_no(s, text)) { // to which?
        pons_autovalue meant = question_meant(s, NULL, false);
        if (!meant) {
            return;
        }
    }
    speak_line(s, text);
}

static void read_stdin(session *s)
{
    if (s->prompting) {
        cli_prompt_read();
        return;
    }
    const size_t had = s->line_length < sizeof s->line ? s->line_length : sizeof s->line - 1;
    const ssize_t n = read(STDIN_FILENO, s->line + had, sizeof s->line - had - 1);
    if (n <= 0) {
        s->stdin_open = false;
        if (!s->o->step) {
            say_line(s, s->line); // a last line without its end
        }
        if (!s->o->step && !(s->o->guest && s->o->guest->said)) {
            pons_brain_finish(s->brain);
        }
        return;
    }
    s->line_length += (size_t)n;
    s->line[s->line_length] = '\0';
    char text[STDIN_LINE_MAX];
    while (!s->o->step && take_line(s, text)) {
        say_line(s, text);
    }
    if (s->line_length + 1 >= sizeof s->line) {
        cli_display_note(s->display, "that line is too long");
        s->line_length = 0;
    }
}

static void step_line(session *s, const char *text)
{
    switch (cli_step_parse(text)) {
    case CLI_STEP_CONTINUE:
        s->free_run = true;
        break;
    case CLI_STEP_STATE:
        cli_print_json(s->held_state);
        break;
    case CLI_STEP_QUIT:
        interrupted = 1;
        break;
    case CLI_STEP_NEXT:
        if (s->held) {
            s->held = false;
            pons_brain_step(s->brain);
        }
        break;
    default:
        cli_display_note(s->display, CLI_STEP_HELP);
    }
}

// --step: a superstep is due and held. What the last one did is shown once; then it waits for a
// word, or goes on at once when nobody can say one. True: the brain is to be polled again at once.
static bool hold(session *s)
{
    pons_autovalue next = pons_brain_held(s->brain);
    if (!next) {
        return false;
    }
    if (!s->held) {
        pons_error none = PONS_ERROR_INIT;
        pons_value *state = NULL;
        pons_state_read(s->store, s->o->thread, "react", &state, &none); // none before its first
        cli_step_show(s->display, s->c, s->o->thread, "react", s->held_next, s->held_state, state,
                      next);
        if (!s->c->json && !s->free_run && !s->held_next && isatty(STDIN_FILENO)) {
            cli_display_note(s->display, CLI_STEP_HELP);
        }
        pons_value_unref(s->held_state);
        pons_value_unref(s->held_next);
        s->held_state = state;
        s->held_next = pons_value_ref(next);
        s->held = true;
    }
    char text[STDIN_LINE_MAX];
    while (s->held && !interrupted && take_line(s, text)) { // a word a step, in their order
        step_line(s, text);
    }
    s->free_run = s->free_run || !s->stdin_open; // nobody says anything more
    if (s->held && s->free_run) {
        s->held = false;
        pons_brain_step(s->brain);
    }
    return !s->held || interrupted;
}

// Below what is typed: which robot hears it, in the language of what was said last.
static void show_robot(const session *s)
{
    const pons_value *hello = NULL, *telemetry = NULL;
    char line[256];
    if (!s->prompting || (s->o->guest && s->o->guest->said)) {
        return;
    }
    const bool there = pons_brain_body(s->brain, &hello, &telemetry) >= 0;
    cli_screen_status(there ? cli_robot_line(hello, s->zh, line, sizeof line) : NULL);
}

static void on_prompt_line(void *user, const char *text)
{
    session *s = user;
    if (!text) { // Ctrl-D
        interrupted = 1;
        return;
    }
    char line[STDIN_LINE_MAX];
    snprintf(line, sizeof line, "%s", text);
    s->zh = *line ? pons_language_chinese(line) : s->zh;
    show_robot(s);
    say_line(s, line);
}

// ---- public functions ---------------------------------------------------------------------------

// What a resume opens again: not what would begin a recording anew, nor an address with a password in it.
static const char *model_kept(const char *spec)
{
    const bool kept =
        spec && strncmp(spec, "replay:", strlen("replay:")) != 0 && !strchr(spec, '@');
    return kept ? spec : NULL;
}

// Skills are those of the body that is there: a resume starts it with the same.
static pons_value *about_run(const session *s)
{
    pons_error none = PONS_ERROR_INIT;
    pons_link *there = NULL;
    const cli_session_options *o = s->o;
    const bool joins = cli_robot_connect(s->c, &s->meant, &there, &none) == PONS_OK;
    pons_autovalue body = joins ? cli_robot_told(s->c) : NULL;
    pons_link_close(there);
    const char *skills = body ? pons_get_str(body, "skills", NULL) : o->skills;
    return pons_object("world", json_string(s->meant.world), "driver", json_string(s->meant.driver),
                       "no_charger", s->meant.charger ? NULL : json_true(), "skills",
                       skills ? json_string(skills) : NULL, "speed", json_real(o->speed), "seed",
                       json_integer((json_int_t)o->seed), "ros2", json_boolean(o->ros2), "llm",
                       model_kept(o->llm) ? json_string(model_kept(o->llm)) : NULL, NULL);
}

static int see_start(void *user, const pons_event_row *row)
{
    *(bool *)user |= strcmp(row->type, "run.started") == 0;
    return *(bool *)user;
}

// Whoever is not sure whether its last life has said the goals says them again: with the thread's lease, they were said or
// were not.
static int must_be_new(session *s, pons_error *err)
{
    bool begun = false;
    const int rc = s->store.ops->events(s->store.self, s->o->thread, 0, 0, see_start, &begun, err);
    return rc < 0 || !begun ? rc
                            : cli_lacks(err, "thread %s has been given goals before", s->o->thread);
}

static void on_event(void *user, const pons_event *ev)
{
    session *s = user;
    s->refused = s->refused || strcmp(ev->type, "place.refused") == 0 ||
                 strcmp(ev->type, "schedule.refused") == 0 ||
                 strcmp(ev->type, "tempo.refused") == 0;
    s->tasked = s->tasked || strcmp(ev->type, "task.queued") == 0;
    if (!s->o->guest || !s->o->guest->quiet) {
        cli_display_event(s->display, ev);
    }
    cli_notify_event(s->notify, ev);
    if (s->recording) {
        cli_recording_event(s->recording, ev);
    }
    if (s->files) {
        pons_ws_live_event(s->files, ev->type, ev->payload);
    }
    pons_traces_event(s->traces, ev);
    if (s->o->guest) {
        s->o->guest->event(s->o->guest->user, ev);
    }
}

static int session_open(session *s, pons_store store, pons_value *config, pons_policy policy,
                        const pons_llm *llm, pons_value *about, pons_error *err)
{
    // An errand whose watchdog has died would keep the next one out.
    const int locked = s->o->errand ? PONS_OK : cli_files_lock(s->c, &s->hal_lock, err);
    if (locked < 0) {
        return locked;
    }
    cli_schedules_space(s->c, s->schedules);
    cli_places_space(s->c, s->places);
    s->schedule_lock = cli_schedules_open(s->c);
    const pons_brain_options opts = {.store = store,
                                     .thread = s->o->thread,
                                     .clock = s->clock,
                                     .seed = s->o->seed,
                                     .config = config,
                                     .policy = policy,
                                     .llm = llm,
                                     .connect = connect_body,
                                     .knowledge = open_knowledge,
                                     .judge = judge,
                                     .context = context,
                                     .on_event = on_event,
                                     .user = s,
                                     .about = about,
                                     .keep_running = s->o->prompt || s->o->serve,
                                     .resumed = s->o->resumed,
                                     // A watchdog's body is the watchdog's.
                                     .stop_body = s->hal_lock >= 0 || !cli_onboarded(s->c),
                                     .stream = s->o->stream,
                                     .stream_kernel = s->o->stream_kernel,
                                     .step = s->o->step,
                                     .wait_ms = s->o->wait_ms,
                                     .priority = s->o->priority,
                                     .deadline_ms = s->o->deadline_ms,
                                     .schedules = s->schedules,
                                     .places = s->places,
                                     .schedules_keep = keep_schedules};
    int rc = pons_brain_open(&opts, &s->brain, err);
    if (rc >= 0 && s->o->guest && s->o->guest->brain) {
        s->o->guest->brain(s->o->guest->user, s->brain);
    }
    if (rc >= 0 && s->o->guest) { // the thread is ours by now, and no event has been
        rc = s->o->guest->open(s->o->guest->user, store, err);
    }
    rc = rc < 0 ? rc : open_files(s, err);
    rc = rc >= 0 && s->o->only_new ? must_be_new(s, err) : rc;
    // The goal is committed before a body is started.
    if (rc >= 0 && s->o->n_goals > 0) {
        rc = pons_brain_add_goals(s->brain, s->o->goals, s->o->n_goals, err);
    }
    if (rc >= 0 &&
        (s->o->prompt || s->o->serve)) { // so that a resume knows the world and the driver
        rc = pons_brain_add_goals(s->brain, NULL, 0, err);
    }
    if (rc >= 0 && s->o->plan) {
        rc = pons_brain_add_plan(s->brain, s->o->plan, err);
    }
    if (rc >= 0) {
        s->wake_fd = open_wake(s);
    }
    return rc;
}

static int session_loop(session *s, pons_error *err)
{
    const cli_session_guest none = {0}, *guest = s->o->guest ? s->o->guest : &none;
    while (!interrupted && !s->body_failed && !(guest->over && guest->over(guest->user))) {
        const int rc = pons_brain_poll(s->brain, err);
        if (rc < 0) {
            return rc;
        }
        cli_service_alive();
        if (pons_brain_outcome_get(s->brain) != PONS_BRAIN_RUNNING) {
            break;
        }
        const char *why = NULL;
        if (pons_brain_busy_ms(s->brain, &why) > BODY_BUSY_MAX_MS) {
            return pons_error_set(err, PONS_EBUSY, "body",
                                  "%s; the goals are kept: `pons resume %s`", why, s->o->thread);
        }
        reap_body(s);
        if (s->o->step && hold(s)) {
            continue;
        }
        show_robot(s);
        const int files_ms = s->files ? pons_ws_live_poll(s->files) : FILES_NEVER_MS;
        struct pollfd fds[FDS_MAX];
        size_t n = pons_brain_fds(s->brain, fds, FDS_MAX - 4);
        fds[n++] =
            (struct pollfd){.fd = s->files ? pons_ws_live_fd(s->files) : -1, .events = POLLIN};
        const size_t wake = n;
        fds[n++] = (struct pollfd){.fd = s->wake_fd, .events = POLLIN};
        const size_t input = n;
        const bool listens = s->stdin_open && (!s->o->step || s->held);
        fds[n++] = (struct pollfd){.fd = listens ? STDIN_FILENO : -1, .events = POLLIN};
        const size_t other = n;
        fds[n++] = (struct pollfd){.fd = guest->fd ? guest->fd(guest->user) : -1, .events = POLLIN};
        int64_t wait_ns = pons_brain_next_due_ns(s->brain) - pons_now_ns(&s->clock);
        wait_ns = wait_ns > files_ms * PONS_NS_PER_MS ? files_ms * PONS_NS_PER_MS : wait_ns;
        wait_ns = wait_ns < 0 ? 0 : wait_ns;
        const struct timespec ts = {.tv_sec = wait_ns / PONS_NS_PER_S,
                                    .tv_nsec = wait_ns % PONS_NS_PER_S};
        if (ppoll(fds, n, &ts, NULL) <= 0) {
            continue;
        }
        if (fds[wake].revents) {
            read_wake(s);
        }
        if (fds[other].revents) {
            guest->work(guest->user);
        }
        if (fds[input].revents) {
            read_stdin(s);
        }
    }
    return s->body_failed;
}

// Words that nobody has heard yet: goals, as a rule. Where there is one, there is something to resume.
static int count_words(void *user, const pons_inbox_row *row)
{
    *(int *)user += strcmp(row->kind, "say") == 0 || strcmp(row->kind, "wish") == 0;
    return 0;
}

// Whoever leaves the prompt leaves what was asked for: it is kept. When there is nothing, the run is
// over, and the body that it had started ends.
static int leave_prompt(session *s, pons_error *err)
{
    pons_autovalue status = pons_brain_status(s->brain);
    s->left = (int)json_array_size(pons_get(status, "queue"));
    const int rc = s->store.ops->inbox_read(s->store.self, s->o->thread, "kernel", 0, count_words,
                                            &s->left, err);
    if (rc < 0 || s->left > 0) {
        return rc;
    }
    s->left_idle = true;
    pons_brain_finish(s->brain);
    return pons_brain_poll(s->brain, err);
}

static int session_outcome(session *s)
{
    if (s->left_idle && isatty(STDIN_FILENO)) {
        return PONS_OK; // whatever became of its tasks has been seen; of words from a pipe, the status says it
    }
    switch (pons_brain_outcome_get(s->brain)) {
    case PONS_BRAIN_SUCCEEDED: // all that it was told came to nothing, and there was nothing else
        return s->refused && !s->tasked && s->o->n_goals > 0 ? CLI_NO_SUCCESS : PONS_OK;
    case PONS_BRAIN_WAITING:
        return CLI_WAITING;
    case PONS_BRAIN_RUNNING:
        if (s->o->serve) {
            return PONS_OK; // whoever serves ends when told to; what is left goes on at the next start
        }
        if (s->o->prompt) {
            cli_display_note(s->display, "left with %d task(s); `pons resume %s` goes on", s->left,
                             s->o->thread);
            return CLI_WAITING;
        }
        cli_display_note(s->display, "left with work to do; `pons resume %s` goes on",
                         s->o->thread);
        return CLI_NO_SUCCESS;
    default:
        return CLI_NO_SUCCESS;
    }
}

// A body that a run had started and that outlives this one: until when, and why.
static void tell_body_stays(const session *s)
{
    const char *why = s->brain ? pons_brain_body_stays(s->brain) : NULL;
    const pons_value *hello = NULL, *telemetry = NULL;
    pons_autovalue body = cli_robot_told(s->c);
    char until[16] = "";
    struct tm at;
    if (!why || pons_brain_body(s->brain, &hello, &telemetry) < 0 ||
        !pons_get_bool(body, "for_run", false)) {
        return;
    }
    const time_t end = (time_t)(pons_wall_ms(&s->clock) / 1000) + (time_t)PONS_BODY_ALONE_S;
    strftime(until, sizeof until, "%H:%M:%S", localtime_r(&end, &at));
    cli_display_note(s->display, "the robot stays on until %s: %s; `pons resume %s` goes on", until,
                     why, s->o->thread);
}

static void on_signal(int number)
{
    if (interrupted) {
        _exit(128 + number);
    }
    interrupted = 1;
}

int cli_session_run(cli *c, const cli_session_options *o, pons_error *err)
{
    session s = {
        .c = c,
        .o = o,
        .clock = pons_clock_real(),
        .wake_fd = -1,
        .hal_lock = -1,
        .schedule_lock = -1,
        .stdin_open = o->prompt || o->step,
    };
    pons_store store = {0};
    pons_policy policy = {0};
    pons_llm llm = {0};
    pons_autovalue config = NULL;
    pons_autovalue about = NULL;
    signal(SIGINT, on_signal); // before anybody is told that it is ready
    signal(SIGTERM, on_signal);
    signal(SIGHUP, on_signal);
    signal(SIGXFSZ, SIG_IGN); // a file that may not grow is an error, not an end
    int rc = cli_robot_meant(c, o->driver, o->world, &s.meant, err);
    rc = rc < 0 ? rc : cli_robot_check(c, &s.meant, err);
    about = rc < 0 ? NULL : about_run(&s);
    s.about = about;
    rc = rc < 0 ? rc : cli_config(c, &config, err);
    if (rc >= 0 && !o->policy) {
        rc = cli_policy(c, &policy, err);
    }
    if (rc >= 0 && !o->opened) {
        rc = cli_llm(o->llm, &s.clock, &llm, err);
        if (rc < 0 && o->llm_kept) { // the run's own model is gone: the rules go on, and say so
            cli_tell(err);
            *err = (pons_error)PONS_ERROR_INIT;
            rc = PONS_OK;
        }
    }
    if (rc >= 0 && o->store) {
        store = *o->store;
        *o->store = (pons_store){0};
    } else if (rc >= 0) {
        rc = cli_store(c, &store, err);
    }
    if (rc >= 0 && o->record) {
        rc = cli_recording_open(
            c,
            &(cli_recording_options){
                .path = o->record, .ros2 = o->ros2, .apart = strcmp(s.meant.driver, "ros2") == 0},
            &s.recording, err);
    }
    if (rc >= 0 && !(o->guest && o->guest->traces)) {
        rc = pons_traces_from_environment(&s.traces, err);
    }
    rc = rc < 0 ? rc : cli_notify_open(c, store, o->thread, &s.notify, err);
    if (rc >= 0 && o->guest && o->guest->commit) {
        rc = pons_store_watch(&store, &s.clock, o->guest->commit, o->guest->user, err);
    }
    if (rc >= 0) {
        const pons_llm *model = o->opened ? o->opened : &llm;
        s.display = cli_display_create(c, !o->step);
        s.store = store;
        s.policy = o->policy ? o->policy : &policy;
        rc = session_open(&s, store, config, o->policy ? *o->policy : policy,
                          model->ops ? model : NULL, about, err);
    }
    if (rc >= 0 && o->prompt && isatty(STDIN_FILENO) && isatty(STDOUT_FILENO) && !c->json) {
        const bool own = o->guest && o->guest->said;
        cli_prompt_start(own ? o->guest->prompt : "pons", on_prompt_line, &s);
        s.prompting = cli_prompt_active();
        if (s.prompting && !own) {
            cli_prompt_words(cli_run_words(s.meant.world, o->skills));
            cli_display_prompting(s.display);
        }
    }
    if (rc >= 0) {
        rc = session_loop(&s, err);
    }
    if (rc >= 0 && o->prompt && pons_brain_outcome_get(s.brain) == PONS_BRAIN_RUNNING) {
        rc = leave_prompt(&s, err);
    }
    rc = rc < 0 ? rc : session_outcome(&s);
    tell_body_stays(&s);
    cli_prompt_stop();
    if (o->guest && store.ops) {
        o->guest->close(o->guest->user);
    }
    cli_files_close(&s.files, &s.hal_lock);
    end_unheard_body(&s);
    pons_brain_close(s.brain);
    cli_notify_close(s.notify);
    pons_traces_close(s.traces);
    cli_display_destroy(s.display);
    pons_error unwritten = PONS_ERROR_INIT;
    if (cli_recording_close(s.recording, &unwritten) < 0) {
        cli_tell(&unwritten); // the run's own end is what it was
    }
    pons_value_unref(s.held_state);
    pons_value_unref(s.held_next);
    if (s.schedule_lock >= 0) {
        close(s.schedule_lock);
    }
    if (s.wake_fd >= 0) {
        close(s.wake_fd);
    }
    if (llm.ops) {
        llm.ops->close(llm.self);
    }
    pons_rules_close(&policy);
    pons_store_close(&store);
    return rc;
}
