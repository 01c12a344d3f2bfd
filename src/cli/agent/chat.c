// chat.c - the loop of a chat: turns, questions in place, what is typed meanwhile, signals.
//
// One loop: poll the agent and what it names, standard input, and run/agent-THREAD.sock, on which
// other processes ring after they have posted an answer. Events go to a display: for programs a
// line each, for people tokens as they come, a plan as a list that ticks off, questions in place.
//
//     typed, the agent hears ------------------------------------> a turn, or an answer
//     typed, a turn is under way ----> queue ----the turn is over---> a turn
//     /word -------------------------------------------------------> chat_commands.c
//     "stop" -------------------------------------------> the wheels, and the turn's end: chat_stop_words.c
//     "slower" -----------------------------------------> the body: chat_pace.c
//
// Ctrl-C while the agent works stops the turn, keeps what was said, and gives the queue up: what was
// meant to follow may not fit any more. On a line that has something it empties the line; otherwise it
// leaves. What waits in the queue is nowhere but here: it was not said yet.
#include "cli/agent/chat.h"

#include "pons/language.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FDS_MAX        16
#define HISTORY_SHOWN  6             // messages shown when a session is taken up again
#define QUEUE_MAX      32            // words that wait
#define STDIN_LINE_MAX (1024 * 1024) // bytes of a line of words; a longer one is not taken
#define STDIN_PIECE    65536

static volatile sig_atomic_t interrupts; // Ctrl-C, so often, and not looked at yet
static volatile sig_atomic_t leave;      // another signal: what is unfinished is gone on with later
static volatile sig_atomic_t resized, pauses;

// ---- a person's words ---------------------------------------------------------------------------

static void read_input(cli_chat *s)
{
    if (s->prompting) {
        cli_prompt_read();
        return;
    }
    if (pons_buf_reserve(&s->input, STDIN_PIECE) < 0) {
        s->stdin_open = false;
        return;
    }
    const ssize_t n = read(STDIN_FILENO, s->input.data + s->input.len, STDIN_PIECE);
    if (n < 0 && errno == EINTR) {
        return;
    }
    s->input.len += n > 0 ? (size_t)n : 0;
    if (n <= 0) {
        s->stdin_open = false;
        pons_buf_byte(&s->input, '\n'); // the last line may have no end
    }
}

static void note_error(cli_chat *s, const pons_error *err)
{
    char text[1024];
    cli_agent_view_note(&s->view, "%-s", pons_error_line(err, text, sizeof text));
}

int cli_chat_say(cli_chat *s, const char *words, pons_error *err)
{
    const int rc = pons_agent_say_with_pictures(s->a, words, s->pictures, err);
    if (rc >= 0 && json_array_size(s->pictures) > 0) { // the turn has them
        pons_value_unref(s->pictures);
        s->pictures = json_array();
    }
    return rc;
}

static int say(cli_chat *s, const char *words)
{
    pons_error err = PONS_ERROR_INIT;
    if (s->prompting) {
        cli_agent_view_said(&s->view, "agent > ", words);
    }
    s->view.chinese = pons_language_chinese(words);
    const int rc = cli_chat_say(s, words, &err);
    if (rc < 0) {
        note_error(s, &err);
    }
    return rc;
}

// Words are an answer while a question is open, wait while a turn is under way, and a turn otherwise.
static int take_line(cli_chat *s, const char *line)
{
    pons_error err = PONS_ERROR_INIT;
    const char *text = line + strspn(line, " \t\r\n");
    const pons_agent_state state = pons_agent_state_get(s->a);
    if (*text &&
        (cli_chat_stop(s, text) || (state != PONS_AGENT_IDLE && app_words_end(&s->policy, text)))) {
        interrupts += state != PONS_AGENT_IDLE;
        return PONS_OK;
    }
    if (!*text || cli_chat_command(s, text) || cli_chat_pace(s, text)) {
        return PONS_OK;
    }
    if (s->pace.link && state == PONS_AGENT_WAITING) { // which question it answers may change
        cli_agent_view_note(&s->view, "the body has not answered yet: say that again");
        return PONS_OK;
    }
    if (state == PONS_AGENT_WORKING || s->pace.link) {
        if (json_array_size(s->queue) >= QUEUE_MAX) {
            cli_agent_view_note(&s->view, "%d wait already: this was not taken", QUEUE_MAX);
            return PONS_OK;
        }
        pons_value *words = json_string(line);
        if (words) {
            json_array_append_new(s->queue, words);
        } else {
            cli_agent_view_note(&s->view, "the text is not valid UTF-8");
        }
        cli_agent_view_queue(&s->view, s->queue);
        return PONS_OK;
    }
    if (state != PONS_AGENT_WAITING) {
        return say(s, line);
    }
    pons_autovalue questions = pons_agent_questions(s->a);
    pons_autovalue answer = NULL;
    if (!cli_agent_answer(json_array_get(questions, 0), text, &answer, &err)) {
        cli_agent_view_note(&s->view, "%-s", err.message);
        return PONS_OK;
    }
    if (s->prompting) {
        cli_agent_view_said(&s->view, "answer > ", line);
        cli_prompt_show("agent");
    }
    const int rc = pons_agent_answer(s->a, NULL, answer, &err);
    s->asked = false;
    if (rc < 0) {
        note_error(s, &err);
    }
    return rc;
}

// Takes one line, if a whole one is there: what it begins must end before the next is heard.
static bool next_line(cli_chat *s)
{
    char *from = s->input.data + s->scanned;
    char *end = s->input.len > s->scanned ? memchr(from, '\n', s->input.len - s->scanned) : NULL;
    if (!end) {
        s->scanned = s->input.len;
        if (s->input.len >= STDIN_LINE_MAX) {
            s->too_long = true;
            s->input.len = s->scanned = 0;
        }
        return false;
    }
    const size_t n = (size_t)(end - s->input.data);
    char *line = strndup(s->input.data, n);
    const bool whole = line && strlen(line) == n;
    s->input.len -= n + 1;
    memmove(s->input.data, s->input.data + n + 1, s->input.len);
    s->scanned = 0;
    if (s->too_long) {
        cli_agent_view_note(&s->view, "a line of more than %d bytes was not taken", STDIN_LINE_MAX);
    } else if (!whole) {
        cli_agent_view_note(&s->view, "a line with a zero byte was not taken");
    } else {
        take_line(s, line);
    }
    s->too_long = false;
    free(line);
    return true;
}

static void said_line(void *user, const char *line)
{
    cli_chat *s = user;
    if (!line) { // Ctrl-D
        s->quit = true;
        return;
    }
    take_line(s, line);
}

static bool say_next(cli_chat *s)
{
    pons_autovalue words = pons_value_ref(json_array_get(s->queue, 0));
    if (!words) {
        return false;
    }
    json_array_remove(s->queue, 0);
    cli_agent_view_queue(&s->view, s->queue);
    say(s, json_string_value(words));
    return true;
}

static void ask_in_place(cli_chat *s)
{
    pons_autovalue questions = pons_agent_questions(s->a);
    pons_each(q, questions) {
        cli_agent_view_question(&s->view, q);
    }
}

static void show_history(cli_chat *s)
{
    const pons_value *list = pons_agent_messages(s->a);
    const size_t n = json_array_size(list);
    pons_autovalue status = s->parts.robot ? pons_robot_tools_status(s->parts.robot->self) : NULL;
    pons_autovalue body =
        pons_get_bool(status, "connected", false) ? app_robot_reported(&s->c->app) : NULL;
    char robot[256];
    cli_agent_view_head(&s->view, s->thread, n, s->folder,
                        body ? app_robot_line(body, robot, sizeof robot) : NULL);
    for (size_t i = n > HISTORY_SHOWN ? n - HISTORY_SHOWN : 0; i < n; i++) {
        const pons_value *m = json_array_get(list, i);
        const char *role = pons_get_str(m, "role", ""), *text = pons_get_str(m, "content", NULL);
        if (!text || strcmp(role, "tool") == 0) {
            continue;
        }
        if (strcmp(role, "user") == 0) {
            cli_agent_view_said(&s->view, "agent > ", text);
        } else {
            cli_agent_view_markdown(&s->view, text);
        }
    }
}

// ---- the loop -----------------------------------------------------------------------------------

// What signals asked for.
static void look_around(cli_chat *s)
{
    if (resized) {
        resized = 0;
        cli_agent_view_draw(&s->view);
    }
    if (pauses) { // Ctrl-Z: the terminal is the shell's until we are back
        pauses = 0;
        cli_prompt_pause(true);
        raise(SIGSTOP);
        cli_prompt_pause(false);
        cli_agent_view_draw(&s->view);
    }
}

// A prompt that stands already goes on with the next session.
static void start_prompt(cli_chat *s, const char *label)
{
    if (!cli_prompt_active()) {
        cli_prompt_lines(); // before anybody sees that they may type
        cli_prompt_start(label, said_line, s);
        cli_prompt_words(cli_chat_words());
    }
    s->prompting = cli_prompt_active();
    s->view.prompting = s->prompting;
    if (s->prompting) {
        cli_prompt_show(label);
    }
}

static int interrupted(cli_chat *s, bool one_turn, bool *ret_leaves, pons_error *err)
{
    const pons_agent_state state = pons_agent_state_get(s->a);
    interrupts = 0;
    if (state == PONS_AGENT_IDLE && s->prompting && cli_prompt_typed()) {
        cli_prompt_give_up();
        return PONS_OK;
    }
    if (state == PONS_AGENT_IDLE || (one_turn && state == PONS_AGENT_WAITING && !s->prompting)) {
        *ret_leaves = true;
        s->quit = true;
        return PONS_OK;
    }
    const size_t waiting = json_array_size(s->queue);
    json_array_clear(s->queue);
    cli_agent_view_queue(&s->view, NULL);
    const int rc = pons_agent_stop(s->a, err);
    if (rc >= 0 && waiting > 0) {
        cli_agent_view_note(&s->view, "%zu queued: not said; the up key brings them back", waiting);
    }
    return rc;
}

static int loop(cli_chat *s, bool one_turn, pons_error *err)
{
    while (!s->quit && !leave) {
        int rc = pons_agent_poll(s->a, err);
        if (rc < 0) {
            return rc;
        }
        if (rc > 0 && s->prompting) {
            pons_autovalue budget = pons_agent_budget(s->a);
            s->view.window = pons_get_int(budget, "context_tokens", 0);
        }
        look_around(s);
        cli_chat_pace_look(s);
        const pons_agent_state state = pons_agent_state_get(s->a);
        if (interrupts > 0) {
            bool leaves = false;
            rc = interrupted(s, one_turn, &leaves, err);
            if (rc < 0 || leaves) {
                return rc;
            }
            continue;
        }
        const bool person =
            s->prompting || (isatty(STDIN_FILENO) && isatty(STDOUT_FILENO) && !s->c->json);
        if (one_turn && !s->pace.link &&
            (state == PONS_AGENT_IDLE || (state == PONS_AGENT_WAITING && !person))) {
            break;
        }
        if (state == PONS_AGENT_WAITING && !s->asked) {
            s->asked = true;
            if (person &&
                !s->prompting) { // a single turn has no prompt until it is asked something
                start_prompt(s, "answer");
            }
            ask_in_place(s);
        } else if (state != PONS_AGENT_WAITING) {
            s->asked = false;
        }
        if (state == PONS_AGENT_IDLE && !s->pace.link && say_next(s)) {
            continue;
        }
        // Words are taken when the agent can hear them; a person may type at any time.
        const bool hears = (s->prompting || (state != PONS_AGENT_WORKING && !s->pace.link)) &&
                           !(one_turn && state != PONS_AGENT_WAITING);
        if (hears && next_line(s)) {
            continue;
        }
        if (!one_turn && !s->stdin_open && state != PONS_AGENT_WORKING && !s->pace.link) {
            break; // the end of what was piped in
        }
        const bool listens = s->stdin_open && hears;
        struct pollfd fds[FDS_MAX];
        size_t n = pons_agent_fds(s->a, fds, FDS_MAX - 3);
        const size_t wake = n;
        fds[n++] = (struct pollfd){.fd = s->wake_fd, .events = POLLIN};
        const size_t input = n;
        fds[n++] = (struct pollfd){.fd = listens ? STDIN_FILENO : -1, .events = POLLIN};
        fds[n++] =
            (struct pollfd){.fd = s->pace.link ? pons_link_fd(s->pace.link) : -1, .events = POLLIN};
        int64_t wait_ns = pons_agent_next_due_ns(s->a) - pons_now_ns(&s->clock);
        wait_ns = wait_ns < 0 ? 0 : wait_ns > PONS_NS_PER_S ? PONS_NS_PER_S : wait_ns;
        const struct timespec ts = {.tv_sec = wait_ns / PONS_NS_PER_S,
                                    .tv_nsec = wait_ns % PONS_NS_PER_S};
        const int ready = ppoll(fds, n, &ts, NULL);
        if (ready == 0 && state == PONS_AGENT_WORKING) {
            cli_agent_view_draw(&s->view); // a second has passed
        }
        if (ready <= 0) {
            continue;
        }
        if (fds[wake].revents) {
            char byte[16];
            const ssize_t got = read(s->wake_fd, byte, sizeof byte);
            (void)got;
            pons_agent_wake(s->a);
        }
        if (fds[input].revents) {
            read_input(s);
        }
    }
    return PONS_OK;
}

static int turn_outcome(cli_chat *s)
{
    if (pons_agent_state_get(s->a) == PONS_AGENT_WORKING) {
        cli_err("pons: left with work to do; `pons resume %s` goes on\n", s->thread);
        return APP_NO_SUCCESS;
    }
    if (pons_agent_state_get(s->a) == PONS_AGENT_WAITING) {
        if (!s->c->json) {
            cli_err("pons: %s waits for a person: pons approve %s [approve | edit JSON | "
                    "reject REASON], then pons resume %s\n",
                    s->thread, s->thread, s->thread);
        }
        return APP_WAITING;
    }
    switch (pons_agent_outcome_get(s->a)) {
    case PONS_AGENT_FAILED:
    case PONS_AGENT_STOPPED:
        return APP_NO_SUCCESS;
    default:
        return PONS_OK;
    }
}

static void on_signal(int number)
{
    if (interrupts > 2) { // nobody looked at three of them: somebody means it
        _exit(128 + number);
    }
    interrupts = interrupts + (number == SIGINT);
    leave = leave || number != SIGINT;
}

static void on_window(int number)
{
    resized = resized || number == SIGWINCH;
    pauses = pauses || number == SIGTSTP;
}

void cli_chat_signals(void)
{
    signal(SIGINT, on_signal);
    signal(SIGTERM, on_signal);
    signal(SIGHUP, on_signal);
    signal(SIGWINCH, on_window);
    if (isatty(STDIN_FILENO)) {
        signal(SIGTSTP, on_window);
    }
}

bool cli_chat_left(void)
{
    return leave;
}

static int open_wake(cli_chat *s)
{
    char path[PATH_MAX + PONS_NAME_MAX + 16];
    pons_error ignored = PONS_ERROR_INIT;
    snprintf(path, sizeof path, "%s/agent-%s.sock", s->c->app.run_dir, s->thread);
    const int fd = pons_datagram_bind(path, &ignored); // the thread's lease is ours
    return fd < 0 ? -1 : fd;
}

// ---- talking ------------------------------------------------------------------------------------

int cli_chat_talk(cli_chat *s, const char *words, bool resume, pons_error *err)
{
    const bool chats = !words && !resume;
    int rc = PONS_OK;
    s->wake_fd = open_wake(s);
    if (chats && isatty(STDIN_FILENO) && isatty(STDOUT_FILENO) && !s->c->json) {
        start_prompt(s, "agent");
        show_history(s);
    }
    cli_agent_view_plan(&s->view,
                        words ? NULL : pons_get(pons_agent_get(s->a, "plan_data"), "plan"));
    if (words && pons_agent_state_get(s->a) == PONS_AGENT_WORKING) {
        cli_agent_view_note(&s->view, "first the turn of %s that was cut short", s->thread);
        rc = loop(s, true, err);
    }
    const bool paced = rc >= 0 && words && !s->plan && !leave && cli_chat_pace(s, words);
    if (rc >= 0 && words && !leave && !paced) {
        rc = s->plan ? pons_agent_plan(s->a, s->plan, err) : cli_chat_say(s, words, err);
    }
    rc = rc < 0 ? rc : loop(s, !chats, err);
    if (rc >= 0 && paced) {
        return s->word_failed ? APP_NO_SUCCESS : PONS_OK;
    }
    return rc < 0 ? rc : chats && s->prompting ? PONS_OK : turn_outcome(s);
}

void cli_chat_close(cli_chat *s)
{
    char path[PATH_MAX + PONS_NAME_MAX + 16];
    if (s->wake_fd >= 0) {
        snprintf(path, sizeof path, "%s/agent-%s.sock", s->c->app.run_dir, s->thread);
        unlink(path);
        close(s->wake_fd);
    }
    s->wake_fd = -1;
    app_pace_end(&s->pace);
}
