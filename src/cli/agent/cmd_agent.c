// cmd_agent.c - `pons agent`: a turn, or a chat, with the planning agent; and what `pons resume`
// and `pons approve` do with its threads.
//
// One loop: poll the agent and what it names, standard input, and run/agent-THREAD.sock, on which
// other processes ring after they have posted an answer. Events go to a display: for programs a
// line each, for people tokens as they come, a plan as a list that ticks off, questions in place.
//
// Ctrl-C while the agent works stops the turn and keeps what was said; otherwise it leaves. A turn
// that another signal or a crash cut short is gone on with first.
#include "cli/agent/agent_cli.h"
#include "cli/cli.h"
#include "cli/served.h"
#include "pons/buf.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SESSION_DEFAULT "agent"
#define FDS_MAX         16
#define HISTORY_SHOWN   6             // messages shown when a session is taken up again
#define STDIN_LINE_MAX  (1024 * 1024) // bytes of a line of words; a longer one is not taken
#define STDIN_PIECE     65536

typedef struct chat {
    cli *c;
    const char *thread;
    pons_clock clock;
    pons_agent *a;
    cli_agent_view view;
    bool prompting, stdin_open, quit, asked;
    int wake_fd;
    pons_buf input; // read, and not taken yet
    size_t scanned; // of it, where no line ends
    bool too_long;  // the line that is being read is dropped up to its end
} chat;

static volatile sig_atomic_t interrupts; // Ctrl-C, so often
static volatile sig_atomic_t leave;      // another signal: what is unfinished is gone on with later

static int run_agent(cli *c, const char *thread, const char *llm, const char *words, bool resume,
                     pons_error *err);
static int talk(chat *s, const char *words, bool resume, pons_error *err);
static int loop(chat *s, bool one_turn, pons_error *err);
static int turn_outcome(chat *s);
static void on_event(void *user, const pons_event *ev);
static void read_input(chat *s);
static bool next_line(chat *s);
static void said_line(void *user, const char *line);
static int take_line(chat *s, const char *line);
static void show_history(chat *s);
static void ask_in_place(chat *s);
static void on_signal(int number);
static int open_wake(chat *s);
static void close_wake(chat *s);

// ---- the command --------------------------------------------------------------------------------

int cmd_agent(cli *c, pons_error *err)
{
    const char *thread = NULL, *session = NULL, *llm = NULL;
    cli_agent_prompt_words served = {.world = "house", .driver = "mujoco"};
    const cli_option options[] = {
        {"--session", "ID", "whose history is kept; default: agent", &session},
        {"--thread", "ID", "the same", &thread},
        {"--llm", "SPEC", "URL or script:FILE; default: the environment's model", &llm},
        CLI_SERVER_OPTIONS(&served.server),
        {"--world", "NAME", "with --serve, of a body that is started; default house",
         &served.world},
        {"--driver", "NAME", "the same; mujoco (default), kinematic, or a module driver-NAME",
         &served.driver},
        {NULL, NULL, NULL, NULL}};
    const int parsed = cli_parse(c, options, err);
    if (parsed < 0) {
        return parsed;
    }
    thread = session ? session : thread ? thread : SESSION_DEFAULT;
    const int named = cli_thread_name(thread, err);
    if (named < 0) {
        return named;
    }
    pons_autobuf words = PONS_BUF_INIT;
    for (int i = 0; i < c->argc; i++) {
        pons_buf_str(&words, i ? " " : "");
        pons_buf_str(&words, c->argv[i]);
    }
    if (words.failed || (c->argc > 0 && words.data[strspn(words.data, " \t\r\n")] == '\0')) {
        return cli_bad(err, "agent: there is nothing to say");
    }
    if (served.server.listen || served.server.open || served.server.token_file) {
        served.session = thread;
        served.llm = llm;
        served.words = c->argc > 0 ? words.data : NULL;
        return cli_agent_prompt(c, &served, err);
    }
    return run_agent(c, thread, llm, c->argc > 0 ? words.data : NULL, false, err);
}

int cli_agent_resume(cli *c, const char *thread, const char *llm, pons_error *err)
{
    return run_agent(c, thread, llm, NULL, true, err);
}

static int run_agent(cli *c, const char *thread, const char *llm_spec, const char *words,
                     bool resume, pons_error *err)
{
    chat s = {.c = c,
              .thread = thread,
              .clock = pons_clock_real(),
              .stdin_open = true,
              .wake_fd = -1,
              .input = PONS_BUF_INIT};
    pons_store store = {0};
    pons_llm llm = {0};
    cli_agent_parts parts = {0};
    int rc = cli_agent_model(llm_spec, &s.clock, &llm, err);
    rc = rc < 0 ? rc : cli_workspace(c, true, err);
    rc = rc < 0 ? rc : cli_store(c, &store, err);
    rc = rc < 0 ? rc : cli_agent_parts_open(c, thread, &s.clock, &store, NULL, &parts, err);
    cli_agent_view_init(&s.view, c->json, isatty(STDOUT_FILENO));
    if (rc >= 0) {
        const char *model = getenv("PONS_LLM_MODEL");
        const pons_agent_options opts = {.store = store,
                                         .thread = thread,
                                         .clock = s.clock,
                                         .config = parts.config,
                                         .llm = &llm,
                                         .model = model && *model ? model : NULL,
                                         .tools = parts.tools,
                                         .n_tools = parts.n_tools,
                                         .prompts = parts.prompts,
                                         .judge = parts.judge,
                                         .judge_user = parts.judge_user,
                                         .on_event = on_event,
                                         .user = &s};
        cli_agent_parts_wait(&parts, &s.clock);
        rc = pons_agent_open(&opts, &s.a, err);
    }
    rc = rc < 0 ? rc : talk(&s, words, resume, err);
    cli_prompt_stop();
    cli_agent_view_fini(&s.view);
    pons_agent_close(s.a);
    pons_buf_fini(&s.input);
    close_wake(&s);
    cli_agent_parts_close(&parts);
    if (llm.ops) {
        llm.ops->close(llm.self);
    }
    pons_store_close(&store);
    return rc;
}

// A turn of words, what is left of one, or a chat; and how it ended.
static int talk(chat *s, const char *words, bool resume, pons_error *err)
{
    const bool chats = !words && !resume;
    int rc = PONS_OK;
    signal(SIGINT, on_signal);
    signal(SIGTERM, on_signal);
    signal(SIGHUP, on_signal);
    s->wake_fd = open_wake(s);
    if (chats && isatty(STDIN_FILENO) && isatty(STDOUT_FILENO) && !s->c->json) {
        show_history(s);
        cli_prompt_start("agent", said_line, s);
        s->prompting = cli_prompt_active();
        cli_prompt_words(json_pack("[ss]", "/exit", "/quit"));
        s->view.prompting = s->prompting;
    }
    cli_agent_view_plan(&s->view,
                        words ? NULL : pons_get(pons_agent_get(s->a, "plan_data"), "plan"));
    if (words && pons_agent_state_get(s->a) == PONS_AGENT_WORKING) {
        cli_agent_view_note(&s->view, "first the turn of %s that was cut short", s->thread);
        rc = loop(s, true, err);
    }
    rc = rc < 0 || !words || leave ? rc : pons_agent_say(s->a, words, err);
    rc = rc < 0 ? rc : loop(s, !chats, err);
    return rc < 0 ? rc : s->prompting ? PONS_OK : turn_outcome(s);
}

// ---- the loop -----------------------------------------------------------------------------------

static int loop(chat *s, bool one_turn, pons_error *err)
{
    int stopped = 0;
    while (!s->quit && !leave) {
        int rc = pons_agent_poll(s->a, err);
        if (rc < 0) {
            return rc;
        }
        const pons_agent_state state = pons_agent_state_get(s->a);
        if (interrupts > stopped) {
            stopped = interrupts;
            if (state == PONS_AGENT_IDLE || (one_turn && state == PONS_AGENT_WAITING)) {
                break;
            }
            rc = pons_agent_stop(s->a, err);
            if (rc < 0) {
                return rc;
            }
            continue;
        }
        const bool person = s->prompting || (isatty(STDIN_FILENO) && !s->c->json);
        if (one_turn && (state == PONS_AGENT_IDLE || (state == PONS_AGENT_WAITING && !person))) {
            break;
        }
        if (state == PONS_AGENT_WAITING && !s->asked) {
            s->asked = true;
            ask_in_place(s);
        } else if (state != PONS_AGENT_WAITING) {
            s->asked = false;
        }
        // Words are taken when the agent can hear them; a person may type at any time.
        const bool hears = (s->prompting || state != PONS_AGENT_WORKING) &&
                           !(one_turn && state != PONS_AGENT_WAITING);
        if (hears && next_line(s)) {
            continue;
        }
        if (!one_turn && !s->stdin_open && state != PONS_AGENT_WORKING) {
            break; // the end of what was piped in
        }
        const bool listens = s->stdin_open && hears;
        struct pollfd fds[FDS_MAX];
        size_t n = pons_agent_fds(s->a, fds, FDS_MAX - 2);
        const size_t wake = n;
        fds[n++] = (struct pollfd){.fd = s->wake_fd, .events = POLLIN};
        const size_t input = n;
        fds[n++] = (struct pollfd){.fd = listens ? STDIN_FILENO : -1, .events = POLLIN};
        int64_t wait_ns = pons_agent_next_due_ns(s->a) - pons_now_ns(&s->clock);
        wait_ns = wait_ns < 0 ? 0 : wait_ns > PONS_NS_PER_S ? PONS_NS_PER_S : wait_ns;
        const struct timespec ts = {.tv_sec = wait_ns / PONS_NS_PER_S,
                                    .tv_nsec = wait_ns % PONS_NS_PER_S};
        if (ppoll(fds, n, &ts, NULL) <= 0) {
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

static int turn_outcome(chat *s)
{
    if (pons_agent_state_get(s->a) == PONS_AGENT_WORKING) {
        cli_err("pons: left with work to do; `pons resume %s` goes on\n", s->thread);
        return CLI_NO_SUCCESS;
    }
    if (pons_agent_state_get(s->a) == PONS_AGENT_WAITING) {
        if (!s->c->json) {
            cli_err("pons: %s waits for a person: pons approve %s [approve | edit JSON | "
                    "reject REASON], then pons resume %s\n",
                    s->thread, s->thread, s->thread);
        }
        return CLI_WAITING;
    }
    switch (pons_agent_outcome_get(s->a)) {
    case PONS_AGENT_FAILED:
    case PONS_AGENT_STOPPED:
        return CLI_NO_SUCCESS;
    default:
        return PONS_OK;
    }
}

static void on_event(void *user, const pons_event *ev)
{
    chat *s = user;
    cli_agent_view_event(&s->view, ev);
}

static void on_signal(int number)
{
    if (interrupts > 2) { // somebody means it
        _exit(128 + number);
    }
    interrupts = interrupts + (number == SIGINT);
    leave = leave || number != SIGINT;
}

static int open_wake(chat *s)
{
    char path[PATH_MAX + PONS_NAME_MAX + 16];
    pons_error ignored = PONS_ERROR_INIT;
    snprintf(path, sizeof path, "%s/agent-%s.sock", s->c->run_dir, s->thread);
    const int fd = pons_datagram_bind(path, &ignored); // the thread's lease is ours
    return fd < 0 ? -1 : fd;
}

static void close_wake(chat *s)
{
    char path[PATH_MAX + PONS_NAME_MAX + 16];
    if (s->wake_fd < 0) {
        return;
    }
    snprintf(path, sizeof path, "%s/agent-%s.sock", s->c->run_dir, s->thread);
    unlink(path);
    close(s->wake_fd);
}

// ---- a person's words ---------------------------------------------------------------------------

static void read_input(chat *s)
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

// Takes one line, if a whole one is there: what it begins must end before the next is heard.
static bool next_line(chat *s)
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
    chat *s = user;
    if (!line) { // Ctrl-D
        s->quit = true;
        return;
    }
    take_line(s, line);
}

// Words are an answer while a question is open, and a turn otherwise.
static int take_line(chat *s, const char *line)
{
    pons_error err = PONS_ERROR_INIT;
    line += strspn(line, " \t\r");
    if (!*line) {
        return PONS_OK;
    }
    const size_t word = strcspn(line, " \t\r"); // behind which Tab puts a space
    if (line[0] == '/' && line[word + strspn(line + word, " \t\r")] == '\0' && word == 5 &&
        (strncmp(line, "/quit", word) == 0 || strncmp(line, "/exit", word) == 0)) {
        s->quit = true;
        return PONS_OK;
    }
    int rc = PONS_OK;
    if (pons_agent_state_get(s->a) == PONS_AGENT_WAITING) {
        pons_autovalue questions = pons_agent_questions(s->a);
        pons_autovalue answer = NULL;
        if (!cli_agent_answer(json_array_get(questions, 0), line, &answer, &err)) {
            cli_agent_view_note(&s->view, "%s", err.message);
            return PONS_OK;
        }
        rc = pons_agent_answer(s->a, NULL, answer, &err);
        s->asked = false;
    } else {
        rc = pons_agent_say(s->a, line, &err);
    }
    if (rc < 0) {
        char text[1024];
        cli_agent_view_note(&s->view, "%s", pons_error_line(&err, text, sizeof text));
    }
    return rc;
}

static void ask_in_place(chat *s)
{
    pons_autovalue questions = pons_agent_questions(s->a);
    size_t i;
    pons_value *q;
    json_array_foreach(questions, i, q)
    {
        cli_agent_view_question(&s->view, q);
    }
}

static void show_history(chat *s)
{
    const pons_value *list = pons_agent_messages(s->a);
    const size_t n = json_array_size(list);
    cli_out("session %s, %zu messages. Ctrl-C stops the agent, /quit leaves.\n", s->thread, n);
    for (size_t i = n > HISTORY_SHOWN ? n - HISTORY_SHOWN : 0; i < n; i++) {
        const pons_value *m = json_array_get(list, i);
        const char *role = pons_get_str(m, "role", ""), *text = pons_get_str(m, "content", NULL);
        if (text && strcmp(role, "tool") != 0) {
            cli_out("%s", strcmp(role, "user") == 0 ? "you › " : "agent › ");
            cli_out_text(text, SIZE_MAX);
            cli_out("\n");
        }
    }
}
