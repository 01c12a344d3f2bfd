// robot_tool.c - the robot as one tool, for models that share a process with its brain.
//
//     start --say--> the brain's inbox            (as `pons say`: K5 reads the words, the critic judges
//       |                                           what comes of them, a person is asked as ever)
//       v
//     looks at the thread's events:  task.queued, with these words --> which task it is
//                                    decision, refusals, questions --> progress
//                                    task.done --> the call's end
//
// While a brain runs it has the body, so a model beside it has no skills of its own: it says what
// it wants, as a person would, and its wish has a person's priority and no more: "yes" and "continue" are
// a person's to say. A canceled call
// cancels its task. After a restart nobody knows which task a call had been: it is not said again
// (there is no adopt), and the model is told that the outcome is unknown.
#include "app/serve/robot_tool.h"

#include "pons/event_queue.h"

#include <stdlib.h>
#include <string.h>
#include <sys/timerfd.h>
#include <unistd.h>

#define WHERE    "robot"
#define LOOK_MS  100
#define BATCH    256
#define TEXT_MAX 4096

static const char LIST[] = {
#include "app/serve/robot_tool.json.h"
};

typedef struct goal {
    struct goal *next;
    uint64_t call;
    int64_t after; // events up to this one have been looked at
    int steps;
    char text[TEXT_MAX], task[64]; // task "": it has none yet
} goal;

typedef struct goals {
    app_goal_tools_options o;
    char thread[PONS_NAME_MAX];
    pons_value *list;
    int timer;
    goal *first;
    pons_event_queue events;
} goals;

// ---- events of a call ---------------------------------------------------------------------------

static void clear(void *event)
{
    pons_tool_event_clear(event);
}

static void progress(goals *g, goal *of, const char *text)
{
    if (*text) {
        const pons_tool_event ev = {.call = of->call,
                                    .kind = PONS_TOOL_PROGRESS,
                                    .text = strdup(text),
                                    .value =
                                        pons_object("progress", json_integer(++of->steps), NULL)};
        pons_event_queue_push(&g->events, of->call, &ev, false);
    }
}

static void end(goals *g, goal *of, bool good, const char *status, const char *reason)
{
    pons_tool_event ev = {.call = of->call, .kind = good ? PONS_TOOL_DONE : PONS_TOOL_FAILED};
    if (good) {
        ev.value =
            pons_object("output", json_sprintf("%s: %s", status, reason), "data",
                        pons_object("task_id", json_string(of->task), "status", json_string(status),
                                    "reason", json_string(reason), NULL),
                        NULL);
    } else {
        pons_error_set(&ev.error, PONS_EREFUSED, WHERE, "the task %s: %s", status, reason);
    }
    pons_event_queue_push(&g->events, of->call, &ev, true);
}

// ---- looking ------------------------------------------------------------------------------------

typedef struct looking {
    goals *g;
    goal *of;
    bool over;
} looking;

static void look_at_end(looking *l, const pons_value *p)
{
    const char *status = pons_get_str(p, "status", "failed");
    if (strcmp(pons_get_str(p, "task_id", ""), l->of->task) == 0 && l->of->task[0]) {
        end(l->g, l->of, strcmp(status, "succeeded") == 0, status, pons_get_str(p, "reason", ""));
        l->over = true;
    }
}

static int look_at(void *user, const pons_event_row *row)
{
    looking *l = user;
    goal *of = l->of;
    pons_autovalue p = NULL;
    of->after = row->seq;
    if (pons_value_read(row->payload.data, row->payload.len, &p, NULL) < 0) {
        return 0;
    }
    const char *type = row->type;
    const pons_value *task = pons_get(p, "task");
    if (!of->task[0]) {
        if (strcmp(type, "task.queued") == 0 &&
            strcmp(pons_get_str(task, "text", ""), of->text) == 0) {
            snprintf(of->task, sizeof of->task, "%s", pons_get_str(task, "id", ""));
        } else if (strcmp(type, "task.merged") == 0) { // it was said already
            snprintf(of->task, sizeof of->task, "%s", pons_get_str(p, "task_id", ""));
        } else if (strcmp(type, "control") == 0) { // a word, no goal
            end(l->g, of, true, "heard", pons_get_str(p, "word", ""));
            l->over = true;
        }
    } else if (strcmp(type, "decision") == 0) {
        progress(l->g, of, pons_get_str(pons_get(p, "decision"), "reason", ""));
    } else if (strcmp(type, "approval.requested") == 0) {
        progress(l->g, of, "a person is asked");
    } else if (strcmp(type, "task.done") == 0) {
        look_at_end(l, p);
    }
    return l->over;
}

static void look(goals *g)
{
    for (goal **at = &g->first; *at;) {
        goal *of = *at;
        looking l = {.g = g, .of = of};
        pons_error none = PONS_ERROR_INIT;
        g->o.store.ops->events(g->o.store.self, g->thread, of->after, BATCH, look_at, &l, &none);
        if (l.over) {
            *at = of->next;
            free(of);
        } else {
            at = &of->next;
        }
    }
}

// ---- the provider -------------------------------------------------------------------------------

static void pace(const goals *g)
{
    const long ns = g->first || g->events.head ? LOOK_MS * 1000000L : 0;
    const struct itimerspec every = {.it_interval.tv_nsec = ns, .it_value.tv_nsec = ns};
    timerfd_settime(g->timer, 0, &every, NULL);
}

static int list(void *self, pons_value **ret, pons_error *err)
{
    *ret = pons_value_ref(((const goals *)self)->list);
    return PONS_OK;
}

static int start(void *self, uint64_t call, const char *tool, const pons_value *args,
                 const char *key, pons_error *err)
{
    goals *g = self;
    pons_autovalue said = NULL;
    const char *text = pons_get_str(args, "text", "");
    if (strcmp(tool, "robot_goal") != 0) {
        return pons_error_set(err, PONS_ENOTFOUND, WHERE, "there is no tool %.64s", tool);
    }
    if (text[strspn(text, " \t\r\n")] == '\0' || strlen(text) >= TEXT_MAX) {
        return pons_error_set(err, PONS_EINVAL, WHERE, "text: a goal, at most %d bytes", TEXT_MAX);
    }
    goal *of = calloc(1, sizeof *of);
    if (!of) {
        return pons_error_set(err, PONS_ENOMEM, WHERE, "no memory for a goal");
    }
    of->call = call;
    snprintf(of->text, sizeof of->text, "%s", text);
    int rc = g->o.store.ops->event_last(g->o.store.self, g->thread, &of->after, err);
    if (rc >= 0 && (rc = pons_event_queue_begin(&g->events, call)) < 0) {
        pons_error_set(err, rc, WHERE, "no room for a goal");
    } else if (rc >= 0 && (rc = g->o.host.wish(g->o.host.user, g->thread, text, &said, err)) < 0) {
        pons_event_queue_end(&g->events, call);
    }
    if (rc < 0) {
        free(of);
        return rc;
    }
    of->next = g->first;
    g->first = of;
    pace(g);
    return PONS_OK;
}

static void cancel(void *self, uint64_t call)
{
    goals *g = self;
    pons_error none = PONS_ERROR_INIT;
    look(g); // which task it is, if that is known by now
    for (goal **at = &g->first; *at; at = &(*at)->next) {
        goal *of = *at;
        if (of->call == call) {
            *at = of->next;
            if (of->task[0]) {
                g->o.host.control(g->o.host.user, g->thread, "cancel", of->task, &none);
            }
            free(of);
            break;
        }
    }
    pons_event_queue_end(&g->events, call);
    pace(g);
}

static int event_fd(void *self)
{
    return ((const goals *)self)->timer;
}

static bool next(void *self, pons_tool_event *ret)
{
    goals *g = self;
    uint64_t n = 0;
    if (pons_event_queue_next(&g->events, ret)) {
        return true;
    }
    const ssize_t got = read(g->timer, &n, sizeof n);
    (void)got;
    look(g);
    pace(g);
    return pons_event_queue_next(&g->events, ret);
}

// Tasks go on: they are the brain's, like those of a person who has left.
static void close_goals(void *self)
{
    goals *g = self;
    if (!g) {
        return;
    }
    while (g->first) {
        goal *of = g->first;
        g->first = of->next;
        free(of);
    }
    pons_event_queue_fini(&g->events);
    if (g->timer >= 0) {
        close(g->timer);
    }
    pons_value_unref(g->list);
    free(g);
}

int app_goal_tools_open(const app_goal_tools_options *o, pons_tools *ret, pons_error *err)
{
    static const pons_tools_ops ops = {.abi = PONS_TOOL_ABI,
                                       .name = "goals",
                                       .close = close_goals,
                                       .list = list,
                                       .start = start,
                                       .cancel = cancel,
                                       .event_fd = event_fd,
                                       .next = next};
    goals *g = calloc(1, sizeof *g);
    if (!g) {
        return pons_error_set(err, PONS_ENOMEM, WHERE, "no memory for the robot's tool");
    }
    g->o = *o;
    snprintf(g->thread, sizeof g->thread, "%s", o->thread);
    g->timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
    int rc = pons_event_queue_init(&g->events, sizeof(pons_tool_event), clear, err);
    rc = rc < 0 ? rc : pons_value_parse(LIST, sizeof LIST - 1, &g->list, err);
    if (rc < 0 || g->timer < 0) {
        close_goals(g);
        return rc < 0 ? rc : pons_error_set(err, PONS_EENV, WHERE, "no timer for the robot's tool");
    }
    *ret = (pons_tools){.ops = &ops, .self = g};
    return PONS_OK;
}
