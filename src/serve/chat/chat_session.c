// chat_session.c - one session with the agent: its thread's half of the desk (session_threads.c).
//
// An order opens the agent when it is not open, then is one of its functions. What the agent says goes to the
// page's events, to the host, and to those who listen: requests that stream a turn.
#include "serve/chat/chat_session.h"

#include "pons/log.h"
#include "serve/chat/session_lookup.h"

#include <poll.h>
#include <string.h>
#include <unistd.h>

#define BEAT_MS 15000
#define FDS_MAX 24

void pons__session_end(pons__session *s, int rc, const pons_error *err)
{
    while (s->listeners) {
        pons__listener *l = s->listeners;
        s->listeners = l->next;
        l->end(l, rc, err);
    }
}

// Those who listen are given an event (NULL: they are asked whether they are there) and leave when that was enough, or
// the last.
static void give(pons__session *s, const pons_event *ev, bool over)
{
    pons_error none = PONS_ERROR_INIT;
    for (pons__listener **at = &s->listeners; *at;) {
        pons__listener *l = *at;
        if ((ev ? l->hear(l, ev) : !l->beat || l->beat(l)) && !over) {
            at = &l->next;
        } else {
            *at = l->next;
            l->end(l, PONS_OK, &none);
        }
    }
}

static void on_event(void *user, const pons_event *ev)
{
    pons__session *s = user;
    const pons_serve_options *opts = &s->serve->o;
    pons_serve_event(s->serve, ev);
    if (opts->on_chat) {
        opts->on_chat(opts->chat_user, ev);
    }
    give(s, ev, strcmp(ev->type, "done") == 0);
}

// What a turn may do is settled when it begins; what is left of one that was cut short may no more
// than its session may by itself.
static int open_agent(pons__session *s, const pons__order *o, pons_error *err)
{
    const pons_serve_host *h = &s->serve->o.host;
    const bool looks =
        strncmp(s->name, PONS__DESK_LOOKS, strlen(PONS__DESK_LOOKS)) == 0 && !o->acts;
    const bool other = (o->what == PONS__ORDER_SAY || (o->what == PONS__ORDER_TURN && o->text)) &&
                       s->a.agent && (looks != s->looks || o->renews) &&
                       pons_agent_state_get(s->a.agent) != PONS_AGENT_WORKING;
    if ((s->failed || other) && s->a.agent) {
        h->agent_close(h->user, &s->a);
        s->a = (pons_serve_agent){0};
    }
    s->failed = false;
    if (s->a.agent) {
        return PONS_OK;
    }
    s->looks = looks;
    return h->agent_open(h->user, s->name, looks, on_event, s, &s->a, err);
}

typedef struct replaying {
    pons__session *s;
    pons__listener *l;
} replaying;

static int replay(void *user, const pons_event_row *row)
{
    const replaying *r = user;
    pons_autovalue payload = NULL;
    if (pons_value_read(row->payload.data, row->payload.len, &payload, NULL) < 0) {
        return 0;
    }
    const pons_event ev = {.seq = row->seq,
                           .thread = r->s->name,
                           .ns = row->ns,
                           .ts_ms = row->ts_ms,
                           .type = row->type,
                           .payload = payload};
    return !r->l->hear(r->l, &ev);
}

void pons__session_deaf(pons__listener *l, int rc, const pons_error *err)
{
    if (l) {
        l->end(l, rc, err);
    }
}

static int join(pons__session *s, pons__listener *l, pons_error *err)
{
    pons__ends ends;
    replaying r = {s, l};
    const pons_store store = s->serve->o.store;
    const bool idle = pons_agent_state_get(s->a.agent) == PONS_AGENT_IDLE;
    if (!l) {
        return PONS_OK; // it is open: that was all
    }
    int rc = pons__chat_ends(store, s->name, 0, &ends, err);
    rc = rc < 0 ? rc
                : store.ops->events(store.self, s->name, idle ? ends.before : ends.newest, 0,
                                    replay, &r, err);
    if (rc < 0 || idle) {
        l->end(l, rc, err);
    } else {
        l->next = s->listeners;
        s->listeners = l;
    }
    return rc;
}

static int say(pons__session *s, const char *text, const pons_value *pictures, pons__listener *l,
               pons_error *err)
{
    if (pons_agent_state_get(s->a.agent) == PONS_AGENT_WORKING) {
        const int rc =
            pons_error_set(err, PONS_EBUSY, PONS__SERVE, "a turn is under way in %s", s->name);
        pons__session_deaf(l, rc, err);
        return rc;
    }
    if (pons_agent_state_get(s->a.agent) ==
        PONS_AGENT_WAITING) { // given up; those who heard it hear its end
        const int rc = pons_agent_stop(s->a.agent, err);
        if (rc < 0) {
            pons__session_deaf(l, rc, err);
            return rc;
        }
    }
    if (l) {
        l->next = s->listeners;
        s->listeners = l;
    }
    const int rc = pons_agent_say_with_pictures(s->a.agent, text, pictures, err);
    if (rc < 0 && l && s->listeners == l) {
        s->listeners = l->next;
        l->end(l, rc, err);
    }
    return rc;
}

// Of a question in words a yes with a reason is answered by that; of any other it is a note.
static pons_value *in_words(const pons_value *question, const pons_value *answer)
{
    const pons_value *reason = pons_get(answer, "reason");
    const bool words = strcmp(pons_get_str(question, "type", ""), "question") == 0 && reason &&
                       strcmp(pons_get_str(answer, "action", ""), "approve") == 0 &&
                       !pons_get(answer, "answer");
    if (!words) {
        return pons_value_ref(answer);
    }
    pons_value *said = json_copy((pons_value *)(uintptr_t)answer);
    json_object_set_new(said, "answer", pons_value_ref(reason));
    return said;
}

static int answer(pons__session *s, const char *question, const pons_value *answer, pons_error *err)
{
    pons_autovalue open = pons_agent_questions(s->a.agent);
    pons_each(q, open) {
        if (pons__chat_is(q, question)) {
            pons_autovalue said = in_words(q, answer);
            return pons_agent_answer(s->a.agent, pons_get_str(q, "id", ""), said, err);
        }
    }
    return pons_error_set(err, PONS_ENOTFOUND, PONS__SERVE, "nobody asks %.100s", question);
}

// Whether words that were posted may have been said by a server before this one.
static bool was_said(const pons__session *s, const pons__order *o, pons_error *err)
{
    int64_t last = 0;
    const pons_store store = s->serve->o.store;
    return o->again &&
           (pons_agent_state_get(s->a.agent) == PONS_AGENT_WORKING ||
            (store.ops->event_last(store.self, s->name, &last, err) >= 0 && last > o->after));
}

// One that cannot be answered so stays open, and whoever asked for it hears why.
static int turn(pons__session *s, pons__order *o, pons_error *err)
{
    if (o->text && !was_said(s, o, err)) {
        return say(s, o->text, o->pictures, o->listener, err);
    }
    const int rc = o->question ? answer(s, o->question, o->answer, err) : PONS_OK;
    if (rc == PONS_EINVAL) {
        o->listener->end(o->listener, rc, err);
        return rc;
    }
    *err = (pons_error)PONS_ERROR_INIT;
    return join(s, o->listener, err);
}

void pons__session_forget(pons__listener **list, const char *thread)
{
    while (*list) {
        pons__listener *l = *list, *next = l->next;
        if (l->leaves && l->leaves(l, thread)) {
            *list = next;
        } else {
            list = &l->next;
        }
    }
}

void pons__session_do(pons__session *s, pons__order *o)
{
    if (o->what == PONS__ORDER_LEAVE) {
        pons__session_forget(&s->listeners, o->text);
        return;
    }
    o->rc = open_agent(s, o, &o->err);
    if (o->rc < 0) {
        pons__session_deaf(o->listener, o->rc, &o->err);
    } else if (o->what == PONS__ORDER_SAY) {
        o->rc = say(s, o->text, o->pictures, o->listener, &o->err);
    } else if (o->what == PONS__ORDER_JOIN) {
        o->rc = join(s, o->listener, &o->err);
    } else if (o->what == PONS__ORDER_ANSWER) {
        o->rc = answer(s, o->question, o->answer, &o->err);
    } else if (o->what == PONS__ORDER_TURN) {
        o->rc = turn(s, o, &o->err);
    } else {
        o->rc = pons_agent_stop(s->a.agent, &o->err);
    }
}

void pons__session_work(pons__session *s)
{
    pons_error err = PONS_ERROR_INIT;
    if (s->a.agent && !s->failed && pons_agent_poll(s->a.agent, &err) < 0) {
        char line[512];
        pons_log(PONS_LOG_WARN, PONS__SERVE, "session %s: %s", s->name,
                 pons_error_line(&err, line, sizeof line));
        pons__session_end(s, err.status, &err);
        s->failed = true;
    }
}

void pons__session_beat(pons__session *s, int64_t now)
{
    if (now - s->beat_ms >= BEAT_MS) {
        s->beat_ms = now;
        give(s, NULL, false);
    }
}

void pons__session_wait(pons__session *s)
{
    struct pollfd fds[FDS_MAX];
    uint64_t n = 0;
    const pons_clock *clock = &s->serve->o.clock;
    const bool runs = s->a.agent && !s->failed;
    size_t count = runs ? pons_agent_fds(s->a.agent, fds, FDS_MAX - 1) : 0;
    fds[count++] = (struct pollfd){.fd = s->wake, .events = POLLIN};
    int64_t ns = runs ? pons_agent_next_due_ns(s->a.agent) - pons_now_ns(clock) : PONS_NS_PER_S;
    ns = ns < 0 ? 0 : ns > PONS_NS_PER_S ? PONS_NS_PER_S : ns;
    const struct timespec ts = {.tv_sec = ns / PONS_NS_PER_S, .tv_nsec = ns % PONS_NS_PER_S};
    ppoll(fds, count, &ts, NULL);
    if (fds[count - 1].revents && read(s->wake, &n, sizeof n) < 0) {
        n = 0;
    }
}

bool pons__session_rests(const pons__session *s)
{
    return !s->a.agent || s->failed ||
           (pons_agent_state_get(s->a.agent) != PONS_AGENT_WORKING && !s->listeners);
}
