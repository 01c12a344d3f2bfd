// brain_session.c - the terminal of a brain at work (app/session/): its events, its prompt, its end.
//
// The terminal is a guest of the session, the last one: its prompt begins when all else is open, and ends first.
//
// Ctrl-C drops the line that is being typed; on an empty line it leaves: nothing is lost, the robot holds, and `pons
// resume` goes on. One more ends at once. Where the terminal's own line editing is at work (TERM=dumb), what was typed
// cannot be seen, and the first one says that a second one leaves.
#include "cli/run/brain_session.h"

#include "cli/terminal/prompt_completion.h"
#include "cli/terminal/status_area.h"

#include <string.h>
#include <unistd.h>

typedef struct terminal {
    const cli_session_options *o;
    prompt_lines lines;
    stdin_lines in;
    step_hold hold;
    bool prompting; // standard input is a person's terminal
    bool plain;     // it is, and its lines are read as they come
    bool warned;    // a Ctrl-C has said that the next one leaves
    bool queued;    // a task is new: whether anything moves is still to be said
    bool ended;
    app_session_end end;
} terminal;

static volatile sig_atomic_t interrupted, knocked, typing;

static void on_signal(int number)
{
    if (interrupted) {
        _exit(128 + number);
    }
    if (number == SIGINT && typing && !knocked) {
        knocked = 1;
        return;
    }
    interrupted = 1;
}

// A Ctrl-C of who may be typing.
static void hear_knock(terminal *t)
{
    if (!knocked) {
        return;
    }
    knocked = 0;
    if (cli_prompt_typed()) {
        cli_prompt_give_up();
    } else if (t->plain && !t->warned) {
        t->warned = true;
        cli_display_note(t->lines.display, "once more Ctrl-C leaves; what was typed is dropped");
    } else {
        interrupted = 1;
    }
}

// ---- what happens -------------------------------------------------------------------------------

static void on_event(void *user, const pons_event *ev)
{
    terminal *t = user;
    if (!t->o->quiet) {
        cli_display_event(t->lines.display, ev);
        const bool over = strcmp(ev->type, "task.done") == 0;
        t->queued = !over && (t->queued || strcmp(ev->type, "task.queued") == 0);
    }
}

// Who says a goal while nothing may move is told at once why, and what to do.
static void tell_still(terminal *t)
{
    const pons_value *hello = NULL, *telemetry = NULL;
    if (!t->queued || pons_brain_body(t->lines.brain, &hello, &telemetry) < 0 || !telemetry) {
        return;
    }
    pons_autobuf why = PONS_BUF_INIT;
    pons_autovalue status = pons_brain_status(t->lines.brain);
    t->queued = false;
    cli_why_still(status, &why);
    if (why.len > 0 && json_array_size(pons_get(status, "queue")) > 0 && !t->lines.c->json) {
        cli_display_note(t->lines.display, "nothing moves for it yet: %-s", why.data);
    }
}

static void on_note(void *user, const char *line)
{
    const terminal *t = user;
    cli_display_note(t->lines.display, "%s", line);
}

// Below what is typed: which robot hears it, in the language of what was said last.
static void show_robot(const terminal *t)
{
    const pons_value *hello = NULL, *telemetry = NULL;
    char line[256];
    if (!t->prompting || t->o->owner) {
        return;
    }
    const bool there = pons_brain_body(t->lines.brain, &hello, &telemetry) >= 0;
    pons_autobuf text = PONS_BUF_INIT;
    if (there) {
        cli_text(&text, "%-s", app_robot_line(hello, line, sizeof line));
    }
    cli_screen_status(text.data);
}

// ---- what is typed ------------------------------------------------------------------------------

static void take(terminal *t, char *line)
{
    t->warned = false;
    interrupted = prompt_line(&t->lines, line) ? interrupted : 1;
}

static void on_prompt_line(void *user, const char *text)
{
    terminal *t = user;
    if (!text) { // Ctrl-D
        interrupted = 1;
        return;
    }
    char line[STDIN_LINE_MAX];
    snprintf(line, sizeof line, "%s", text);
    show_robot(t);
    take(t, line);
}

static void read_input(void *user)
{
    terminal *t = user;
    const bool step = t->o->run.step;
    char line[STDIN_LINE_MAX];
    hear_knock(t); // before what was typed after it
    if (t->prompting) {
        cli_prompt_read();
        return;
    }
    if (!stdin_read(&t->in)) {
        if (!step) {
            take(t, t->in.text); // a last line without its end
        }
        if (!step && !t->o->owner) {
            pons_brain_finish(t->lines.brain);
        }
        return;
    }
    while (!step && stdin_line(&t->in, line)) {
        take(t, line);
    }
    if (t->in.length + 1 >= sizeof t->in.text) {
        cli_display_note(t->lines.display, "that line is too long");
        t->in.length = 0;
    }
}

static int input_fd(void *user)
{
    const terminal *t = user;
    return t->in.open && (!t->o->run.step || t->hold.held) ? STDIN_FILENO : -1;
}

// ---- along with the session ---------------------------------------------------------------------

static void note_brain(void *user, pons_brain *brain)
{
    ((terminal *)user)->lines.brain = brain;
}

static int note_store(void *user, pons_store store, pons_error *err)
{
    ((terminal *)user)->lines.store = store;
    return PONS_OK;
}

static int begin(void *user, pons_error *err)
{
    terminal *t = user;
    const cli *c = t->lines.c;
    const cli_prompt_owner *owner = t->o->owner;
    app_robot meant;
    if (!t->o->prompt || c->json || !isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO)) {
        return PONS_OK;
    }
    cli_prompt_start(owner ? owner->name : "pons", on_prompt_line, t);
    t->prompting = cli_prompt_active();
    t->plain = !t->prompting;
    typing = 1;
    if (!t->prompting || owner) {
        return PONS_OK;
    }
    const int rc = app_robot_meant(&c->app, t->o->run.driver, t->o->run.world, &meant, err);
    if (rc >= 0) {
        pons_value *words = cli_run_words(meant.world, t->o->run.skills);
        prompt_commands(words);
        cli_prompt_words(words);
        cli_display_prompting(t->lines.display);
    }
    return rc;
}

static bool on_turn(void *user)
{
    terminal *t = user;
    bool quit = false;
    const bool moved = t->o->run.step && step_hold_turn(&t->hold, &t->lines, &t->in, &quit);
    interrupted = quit ? 1 : interrupted;
    hear_knock(t);
    tell_still(t);
    if (!moved) {
        show_robot(t);
    }
    return moved;
}

static void on_end(void *user, const app_session_end *end)
{
    terminal *t = user;
    t->ended = true;
    t->end = *end;
    if (end->left_idle && (t->prompting || t->plain)) {
        cli_display_note(t->lines.display, "left; nothing waits");
    }
    if (end->outcome != PONS_BRAIN_RUNNING || t->o->serve) {
        return;
    }
    if (t->o->prompt) {
        cli_display_note(t->lines.display, "left with %d task(s); `pons resume %s` goes on",
                         end->left, t->lines.thread);
    } else {
        cli_display_note(t->lines.display, "left with work to do; `pons resume %s` goes on",
                         t->lines.thread);
    }
}

static void on_close(void *user)
{
    cli_prompt_stop();
}

// What a session that ended by itself, or was left, is to who has typed the command.
static int outcome(const terminal *t, int rc)
{
    if (!t->ended) {
        return rc;
    }
    if (t->end.left_idle && isatty(STDIN_FILENO)) {
        return PONS_OK; // whatever became of its tasks has been seen; of words from a pipe, the status says it
    }
    if (t->end.outcome != PONS_BRAIN_RUNNING) {
        return rc;
    }
    if (t->o->serve) {
        return PONS_OK; // whoever serves ends when told to; what is left goes on at the next start
    }
    return t->o->prompt ? APP_WAITING : APP_NO_SUCCESS;
}

int cli_session_run(cli *c, const cli_session_options *o, pons_error *err)
{
    app_session_options run = o->run;
    app_recorded recorded = {.c = &c->app,
                             .driver = run.driver,
                             .world = run.world,
                             .options = {.path = o->record, .ros2 = run.ros2}};
    terminal t = {.o = o,
                  .lines = {.c = c,
                            .thread = run.thread,
                            .policy = run.policy,
                            .owner = o->owner,
                            .display = cli_display_create(c, !run.step)},
                  .in = {.open = o->prompt || run.step}};
    signal(SIGINT, on_signal); // before anybody is told that it is ready
    signal(SIGTERM, on_signal);
    signal(SIGHUP, on_signal);
    run.ended = &interrupted;
    run.keep_running = o->prompt || o->serve;
    run.leaves = o->prompt;
    if (o->record) {
        run.guests[run.n_guests++] = app_recording_guest(&recorded);
    }
    run.guests[run.n_guests++] = (app_session_guest){.brain = note_brain,
                                                     .open = note_store,
                                                     .ready = begin,
                                                     .event = on_event,
                                                     .note = on_note,
                                                     .turn = on_turn,
                                                     .fd = input_fd,
                                                     .work = read_input,
                                                     .end = on_end,
                                                     .close = on_close,
                                                     .user = &t};
    const int rc = app_session_run(&c->app, &run, err);
    cli_prompt_stop();
    cli_display_destroy(t.lines.display);
    pons_error unwritten = PONS_ERROR_INIT;
    if (app_recording_close(recorded.recording, &unwritten) < 0) {
        cli_tell(&unwritten); // the run's own end is what it was
    }
    step_hold_clear(&t.hold);
    return outcome(&t, rc);
}
