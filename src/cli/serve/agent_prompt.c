// agent_prompt.c - `pons agent --serve`: the agent's prompt, and the page and the API, in one process.
//
//     terminal --lines--> [to the chat] --its thread--> pons_serve_chat, _answer, _stop
//     terminal <--view--- [events] <--on_chat-- the chat's thread, whoever speaks there
//
// It is `pons serve` whose terminal is a client: the session is the server's, so that the page chats
// in it too, and what one of them says and answers the other sees. The loop's thread has the brain and
// the terminal; what waits for a session (its tools start, its turn is heard) waits on a thread of its
// own.
#include "cli/agent/agent_cli.h"
#include "cli/served.h"
#include "pons/language.h"
#include "pons/out_of_memory.h"
#include "pons/rule_policy.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define THREAD "main" // the robot's

typedef enum what { SAY, ANSWER, STOP, END } what;

typedef struct word { // to the chat
    struct word *next;
    what what;
    char *text; // SAY
    pons_value *question, *answer;
} word;

typedef struct received { // from the chat
    struct received *next;
    char *type, *thread;
    int64_t seq, ts_ms;
    pons_value *payload;
    char *note; // in place of an event: what was wrong
} received;

typedef struct prompt {
    const cli_agent_prompt_words *w;
    const pons_policy *policy;
    cli_server *server;
    cli_agent_view view;
    bool running; // talker
    pthread_t talker;
    int wake;
    pthread_mutex_t mtx;
    pthread_cond_t more;
    word *first, *last;        // [mtx]
    received *oldest, *newest; // [mtx]
    pons_value *open;          // questions, the loop's
    bool turning;              // a turn was begun, and has not ended; the loop's
} prompt;

// ---- the chat's side ----------------------------------------------------------------------------

static void tell(prompt *p, received *h)
{
    pthread_mutex_lock(&p->mtx);
    if (p->newest) {
        p->newest->next = h;
    } else {
        p->oldest = h;
    }
    p->newest = h;
    pthread_mutex_unlock(&p->mtx);
    eventfd_write(p->wake, 1);
}

static void on_chat(void *user, const pons_event *ev)
{
    prompt *p = user;
    if (strcmp(ev->thread, p->w->session) != 0) {
        return;
    }
    received *h = pons_need_zeroed(1, sizeof *h);
    *h = (received){.type = pons_need_text(ev->type),
                    .thread = pons_need_text(ev->thread),
                    .seq = ev->seq,
                    .ts_ms = ev->ts_ms,
                    .payload = pons_value_ref(ev->payload)};
    tell(p, h);
}

static void complain(prompt *p, const pons_error *err)
{
    char line[1024];
    received *h = pons_need_zeroed(1, sizeof *h);
    h->note = pons_need_text(pons_error_line(err, line, sizeof line));
    tell(p, h);
}

static void carry(prompt *p, pons_serve *serve, const word *w)
{
    pons_error err = PONS_ERROR_INIT;
    const char *session = p->w->session;
    const char *plan = pons_get_str(w->question, "plan_id", NULL);
    const int rc =
        w->what == SAY    ? pons_serve_chat(serve, session, w->text, &err)
        : w->what == STOP ? pons_serve_chat_stop(serve, session, &err)
        : w->what == ANSWER
            ? pons_serve_chat_answer(serve, session,
                                     plan ? plan : pons_get_str(w->question, "request_id", ""),
                                     w->answer, &err)
            : PONS_OK;
    if (rc < 0) {
        complain(p, &err);
    }
}

static void word_free(word *w)
{
    free(w->text);
    pons_value_unref(w->question);
    pons_value_unref(w->answer);
    free(w);
}

static void *talk(void *user)
{
    prompt *p = user;
    pons_error err = PONS_ERROR_INIT;
    pons_serve *serve = cli_server_serve(p->server); // there as long as this thread is
    if (pons_serve_chat_open(serve, p->w->session, &err) < 0) {
        complain(p, &err);
    }
    for (bool goes_on = true; goes_on;) {
        pthread_mutex_lock(&p->mtx);
        while (!p->first) {
            pthread_cond_wait(&p->more, &p->mtx);
        }
        word *w = p->first;
        p->first = w->next;
        p->last = p->first ? p->last : NULL;
        pthread_mutex_unlock(&p->mtx);
        carry(p, serve, w);
        goes_on = w->what != END;
        word_free(w);
    }
    return NULL;
}

// ---- the loop's side ----------------------------------------------------------------------------

static void give(prompt *p, word order)
{
    word *w = pons_need_zeroed(1, sizeof *w);
    *w = order;
    pthread_mutex_lock(&p->mtx);
    if (p->last) {
        p->last->next = w;
    } else {
        p->first = w;
    }
    p->last = w;
    pthread_cond_signal(&p->more);
    pthread_mutex_unlock(&p->mtx);
}

static void said(void *user, const char *line)
{
    prompt *p = user;
    pons_error err = PONS_ERROR_INIT;
    pons_value *answer = NULL;
    pons_value *question = json_array_get(p->open, 0);
    if (strcmp(line, "/stop") == 0 || (p->turning && app_words_end(p->policy, line))) {
        give(p, (word){.what = STOP});
        return;
    }
    if (!question) {
        p->view.chinese = pons_language_chinese(line);
        p->turning = true;
        give(p, (word){.what = SAY, .text = pons_need_text(line)});
        return;
    }
    if (!cli_agent_answer(question, line, &answer, &err)) {
        cli_agent_view_note(&p->view, "%-s", err.message);
        return;
    }
    give(p, (word){.what = ANSWER, .question = pons_value_ref(question), .answer = answer});
    json_array_remove(p->open, 0);
    if (json_array_size(p->open) > 0) {
        cli_agent_view_question(&p->view, json_array_get(p->open, 0));
    }
}

static void stopped(void *user, bool latched)
{
    prompt *p = user;
    if (latched) {
        cli_agent_view_line(&p->view, "", APP_STOPPED);
    } else {
        cli_agent_view_note(&p->view, "the body has not said that it stopped; the brain sends it");
    }
    give(p, (word){.what = STOP});
}

// A turn that asks waits: whatever else happens in it, its questions are settled.
static void look_for_questions(prompt *p, const received *h)
{
    const bool plan = strcmp(h->type, "plan_approval_request") == 0;
    if (!plan && strcmp(h->type, "approval_request") != 0) {
        json_array_clear(p->open);
        return;
    }
    pons_value *question = json_copy(h->payload);
    const char *kind = strcmp(pons_get_str(h->payload, "tool", ""), "ask_user") == 0
                           ? "question"
                           : "tool_approval";
    json_object_set_new(question, "type", json_string(plan ? "plan_approval" : kind));
    json_array_append_new(p->open, question);
    if (json_array_size(p->open) == 1) {
        cli_agent_view_question(&p->view, question);
    }
}

// Whether a turn is under way, also one that the page began.
static bool goes_on(const received *h, bool turning)
{
    const bool ended = strcmp(h->type, "done") == 0 || strcmp(h->type, "error") == 0;
    const bool asks =
        strcmp(h->type, "approval_request") == 0 || strcmp(h->type, "plan_approval_request") == 0;
    return !ended && (turning || asks || strcmp(h->type, "llm_start") == 0);
}

static void work(void *user)
{
    prompt *p = user;
    uint64_t n = 0;
    if (read(p->wake, &n, sizeof n) < 0) {
        return;
    }
    pthread_mutex_lock(&p->mtx);
    received *h = p->oldest;
    p->oldest = p->newest = NULL;
    pthread_mutex_unlock(&p->mtx);
    while (h) {
        received *next = h->next;
        if (h->note) {
            p->turning = false;
            cli_agent_view_note(&p->view, "%s", h->note);
        } else {
            cli_agent_view_event(&p->view, &(pons_event){.seq = h->seq,
                                                         .thread = h->thread,
                                                         .ns = PONS_AGENT_NS,
                                                         .ts_ms = h->ts_ms,
                                                         .type = h->type,
                                                         .payload = h->payload});
            look_for_questions(p, h);
            p->turning = goes_on(h, p->turning);
        }
        free(h->type);
        free(h->thread);
        free(h->note);
        pons_value_unref(h->payload);
        free(h);
        h = next;
    }
    cli_flush();
}

static int wake_fd(void *user)
{
    const prompt *p = user;
    return p->wake;
}

static int opened(void *user, pons_store store, pons_error *err)
{
    prompt *p = user;
    if (pthread_create(&p->talker, NULL, talk, p) != 0) {
        return pons_error_set(err, PONS_EENV, "agent", "no thread for the chat");
    }
    p->running = true;
    if (p->w->words) {
        p->turning = true;
        give(p, (word){.what = SAY, .text = pons_need_text(p->w->words)});
    }
    return PONS_OK;
}

static void closed(void *user)
{
    prompt *p = user;
    if (p->running) {
        give(p, (word){.what = END});
        pthread_join(p->talker, NULL);
        p->running = false;
    }
}

static int run(cli *c, prompt *p, const pons_policy *policy, pons_error *err)
{
    const cli_agent_prompt_words *w = p->w;
    const cli_prompt_owner owner = {.name = "agent", .said = said, .stopped = stopped, .user = p};
    const cli_session_options o = {
        .run =
            {.thread = THREAD,
             .policy = policy,
             .llm = w->llm,
             .speed = 1.0,
             .guests = {cli_server_guest(p->server, &(app_server_session){.thread = THREAD,
                                                                          .llm = w->llm,
                                                                          .policy = policy,
                                                                          .on_chat = on_chat,
                                                                          .user = p}),
                        {.open = opened, .close = closed, .fd = wake_fd, .work = work, .user = p}},
             .n_guests = 2},
        .prompt = true,
        .owner = &owner,
        .serve = true,
        .quiet = true};
    p->open = json_array();
    p->policy = policy;
    cli_agent_view_init(&p->view, c->json, isatty(STDOUT_FILENO));
    p->view.prompting = isatty(STDIN_FILENO) && isatty(STDOUT_FILENO) && !c->json;
    const int rc = cli_session_run(c, &o, err);
    work(p); // what was said last
    cli_agent_view_fini(&p->view);
    pons_value_unref(p->open);
    return rc;
}

// The chat opens a model of its own; without one there is nothing to talk with.
static int has_model(const cli *c, const char *spec, pons_error *err)
{
    const pons_clock clock = pons_clock_real();
    pons_llm llm = {0};
    const int rc = app_agent_model(&c->app, spec, &clock, &llm, err);
    if (llm.ops) {
        llm.ops->close(llm.self);
    }
    return rc;
}

int cli_agent_prompt(cli *c, const cli_agent_prompt_words *w, pons_error *err)
{
    prompt p = {.w = w, .mtx = PTHREAD_MUTEX_INITIALIZER, .more = PTHREAD_COND_INITIALIZER};
    pons_policy policy = {0};
    p.wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    int rc = p.wake < 0 ? pons_error_set(err, PONS_EENV, "agent", "no descriptor for the chat")
                        : cli_server_create(c, &w->server, &p.server, err);
    rc = rc < 0 ? rc : has_model(c, w->llm, err);
    rc = rc < 0 ? rc : app_policy(&c->app, &policy, err);
    rc = rc < 0 ? rc : app_workspace(&c->app, true, err);
    rc = rc < 0 ? rc : cli_server_claim(p.server, err);
    rc = rc < 0 ? rc : run(c, &p, &policy, err);
    while (p.first) { // a session that could not open
        word *next = p.first->next;
        word_free(p.first);
        p.first = next;
    }
    pons_rules_close(&policy);
    cli_server_destroy(p.server);
    if (p.wake >= 0) {
        close(p.wake);
    }
    return rc;
}
