// robot_tools.c - the body's skills as tools.
//
// Two connections. An observer's, kept as long as a body is there: its hello says which skills the
// body has (they are the tools) and its telemetry what is true now. A controller's, only while a
// goal is out: there is one controller at a time, and a chat that is idle must not keep a brain
// from its body.
//
//   start -> wanted --hello, epoch--> sent --accepted--> running --result--> an event
//   adopt -> asked (status) -- known, finished -----------------------------> an event
//                           -- known, held or running -> adopt -> running
//                           -- known, of another boot -> outcome not known
//                           -- unknown -> certainly never started (an older epoch is fenced off)
//
// A goal's id is the call's key, so the body's ledger does one key once, whoever sends it how
// often. A link that breaks is opened again and every goal that is out is asked about.
#include "agent/pending_calls.h"
#include "pons/agent.h"
#include "pons/buf.h"
#include "pons/geometry.h"
#include "pons/link_message.h"
#include "pons/link_report.h"
#include "pons/object_memory.h"
#include "pons/out_of_memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#define WHERE             "robot"
#define EXPIRES_MS        5000 // after which the body does not take a goal any more
#define ACCEPT_DEFAULT_MS 10000
#define BEAT_MS           100 // heartbeats of a controller, and the pace of reconnecting
#define RECONNECT_MS      1000
#define HELD_MS           300 // between two tries to take up what the body holds
#define MESSAGES_PER_LOOK 256

typedef enum goal_state { WANTED, ASKED, SENT, RUNNING, OVER } goal_state;

typedef struct goal {
    struct goal *next;
    uint64_t call;
    char key[PONS__CALL_ID_MAX], skill[80];
    pons_value *args;
    goal_state state;
    bool adopted;     // of an earlier life: asked about first
    bool quiet;       // canceled by the host: no event
    int64_t since_ms; // host time since it waits for the body's word
} goal;

typedef struct event {
    struct event *next;
    pons_tool_event e;
} event;

typedef struct robot {
    pons_robot_tools_options o;
    char name[64], thread[PONS_NAME_MAX], objects[64];
    int epoll, timer;
    pons_link *eye, *hand; // observer, controller; NULL: none
    int eye_fd, hand_fd;   // as epoll has them; -1: none
    int64_t eye_retry_ms, hand_retry_ms, beat_ms, held_ms;
    bool in_control; // the controller's hello was answered
    int64_t epoch;
    pons_report hello, telemetry; // the newest; of no type: none. hello stays when the body goes
    int64_t telemetry_ms;         // host time of its arrival
    pons_critic *critic;
    pons_value *policy, *list;
    uint64_t generation;
    goal *goals;
    event *first;
} robot;

// ---- results ------------------------------------------------------------------------------------

static int push(robot *r, pons_tool_event e)
{
    event *fresh = pons_need_zeroed(1, sizeof *fresh), **at = &r->first;
    fresh->e = e;
    while (*at) {
        at = &(*at)->next;
    }
    *at = fresh;
    return PONS_OK;
}

static void goal_end(robot *r, goal *g, pons_tool_event e)
{
    g->state = OVER;
    if (g->quiet) {
        pons_tool_event_clear(&e);
        return;
    }
    e.call = g->call;
    push(r, e);
}

__attribute__((format(printf, 4, 5))) static void goal_fail(robot *r, goal *g, int status,
                                                            const char *fmt, ...)
{
    char text[PONS_ERROR_MESSAGE_MAX];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    pons_tool_event e = {.kind = PONS_TOOL_FAILED};
    pons_error_set(&e.error, status, WHERE, "%s", text);
    goal_end(r, g, e);
}

// Seconds of the robot's clock: so many have passed, and of how many, when the skill can tell.
static void goal_progress(robot *r, const goal *g, const pons_report_feedback *f)
{
    char metres[48] = "";
    if (!isnan(f->distance_remaining_m)) {
        snprintf(metres, sizeof metres, ", %.2f m to go", f->distance_remaining_m);
    }
    const double elapsed = isnan(f->elapsed_s) ? 0.0 : f->elapsed_s;
    char *text = NULL;
    if (asprintf(&text, "%s: %.1f s%s", g->skill, elapsed, metres) < 0) {
        text = NULL;
    }
    pons_tool_event ev = {
        .call = g->call,
        .kind = PONS_TOOL_PROGRESS,
        .text = text,
        .value = pons_object("progress", json_real(elapsed), "total",
                             isnan(f->eta_s) ? NULL : json_real(elapsed + f->eta_s), NULL)};
    if (g->quiet) {
        pons_tool_event_clear(&ev);
    } else {
        push(r, ev);
    }
}

static void goal_result(robot *r, goal *g, int status, const pons_report_end *end)
{
    if (status != PONS_GOAL_DONE) {
        pons_tool_event e = {.kind = PONS_TOOL_FAILED,
                             .value = pons_object("data", pons_optional(end->metrics), NULL)};
        pons_error_set(&e.error, status == PONS_GOAL_CANCELED ? PONS_ECANCELED : PONS_EIO, WHERE,
                       "%s %s: %s", g->skill, pons_goal_states[status], end->error_msg);
        goal_end(r, g, e);
        return;
    }
    const pons_value *metrics = end->metrics;
    char *text = NULL;
    if (!metrics || pons_value_line(metrics, &text) < 0) {
        text = NULL;
    }
    pons_value *output = json_sprintf("%s done %s", g->skill, text ? text : "");
    free(text);
    goal_end(r, g,
             (pons_tool_event){
                 .kind = PONS_TOOL_DONE,
                 .value = pons_object("output", output, "data",
                                      metrics ? pons_value_ref(metrics) : json_object(), NULL)});
}

// ---- small things -------------------------------------------------------------------------------

static int64_t now_ms(const robot *r)
{
    return pons_now_ms(&r->o.clock);
}

static const pons_value *skill_of(const robot *r, const char *name)
{
    const pons_value *skills = r->hello.as.hello.skills;
    for (size_t i = 0; i < json_array_size(skills); i++) {
        if (strcmp(pons_get_str(json_array_get(skills, i), "name", ""), name) == 0) {
            return json_array_get(skills, i);
        }
    }
    return NULL;
}

int pons_robot_tools_look(void *self, const char *name, pons_value **ret, pons_error *err)
{
    pons_autovalue status = pons_robot_tools_status(self);
    const pons_value *body = pons_get(status, "robot"), *world = pons_get(status, "world");
    pons_autovalue facts =
        json_is_object(body) ? json_copy((pons_value *)(uintptr_t)body) : json_object();
    json_object_set_new(facts, "robot",
                        json_is_object(body) ? pons_value_ref(body) : json_object());
    json_object_set_new(facts, "world",
                        json_is_object(world) ? pons_value_ref(world) : json_object());
    return pons_plan_look_in(facts, name, ret, err);
}

// ---- messages -----------------------------------------------------------------------------------

static pons_value *query_tool(void)
{
    return json_pack(
        "{ss ss ss s{ss s{} sb} ss sb}", "name", "query_world", "category", "robot", "description",
        "What the robot knows now: where it is, its battery, what it does, the zones and "
        "objects of its world.",
        "parameters", "type", "object", "properties", "additionalProperties", 0, "risk", "safe",
        "read_only", 1);
}

static pons_value *seen_tool(const char *name, const char *arg, const char *description)
{
    return json_pack("{ss ss ss s{ss s{s{ss si}} s[s] sb} ss sb}", "name", name, "category",
                     "robot", "description", description, "parameters", "type", "object",
                     "properties", arg, "type", "string", "minLength", 1, "required", arg,
                     "additionalProperties", 0, "risk", "safe", "read_only", 1);
}

// The tools of the newest hello, and the critic that judges by it.
static void remake(robot *r)
{
    pons_value *list = json_array();
    const pons_value *skills = r->hello.as.hello.skills;
    pons_error err = PONS_ERROR_INIT;
    pons_critic_destroy(r->critic);
    r->critic = NULL;
    pons_autovalue none = json_object();
    const pons_critic_options o = {
        .skills = skills,
        .world = r->hello.as.hello.world,
        .policy = r->policy,
        .resources = r->hello.as.hello.resources ? r->hello.as.hello.resources : none};
    if (skills) {
        pons_critic_create(&o, &r->critic, &err);
    }
    json_array_append_new(list, query_tool());
    if (*r->objects) {
        json_array_append_new(list,
                              seen_tool("where_is", "what",
                                        "Where a thing was seen last, and how long ago: "
                                        "answered from memory, nothing moves. Any language."));
        json_array_append_new(
            list, seen_tool("what_is_in", "zone",
                            "What was seen in a zone (its id, as query_world has "
                            "it), the most certain first: from memory, nothing moves."));
    }
    for (size_t i = 0; i < json_array_size(skills) && !r->o.look_only; i++) {
        const pons_value *s = json_array_get(skills, i), *schema = pons_get(s, "args_schema");
        const char *name = pons_get_str(s, "name", "");
        const bool moves = !r->critic || pons_critic_moves(r->critic, name);
        json_array_append_new(
            list,
            pons_object("name", json_string(name), "category", json_string("robot"), "description",
                        json_string(pons_get_str(s, "description", "")), "parameters",
                        schema ? pons_value_ref(schema)
                               : json_pack("{ss s{}}", "type", "object", "properties"),
                        "risk", json_string(moves ? "warn" : "safe"), "read_only", json_false(),
                        "stops", pons_get_bool(s, "stops", false) ? json_true() : NULL, NULL));
    }
    pons_value_unref(r->list);
    r->list = list;
    r->generation++;
}

// Cancel, adopt, status.
static void send_about(robot *r, const goal *g, pons_message_type type)
{
    pons_error ignored = PONS_ERROR_INIT;
    const pons_message about = {.type = type, .as.about = {.goal_id = g->key, .epoch = r->epoch}};
    pons_message_send(r->hand, &about, &ignored);
}

// This process came too late with a heartbeat, and the body holds what runs: one that comes back is not
// enough, it has to ask for its goals.
static void take_up_held(robot *r)
{
    if (!r->hand || !r->in_control || now_ms(r) - r->held_ms < HELD_MS) {
        return;
    }
    r->held_ms = now_ms(r);
    for (const goal *g = r->goals; g; g = g->next) {
        if (g->state == RUNNING && !g->quiet) {
            send_about(r, g, PONS_MESSAGE_ADOPT);
        }
    }
}

static void on_eye(robot *r, const pons_report *msg)
{
    if (msg->type == PONS_REPORT_HELLO) {
        const pons_report_hello *had = &r->hello.as.hello, *has = &msg->as.hello;
        const bool same =
            r->hello.type == PONS_REPORT_HELLO &&
            json_equal((pons_value *)(uintptr_t)had->skills,
                       (pons_value *)(uintptr_t)has->skills) &&
            json_equal((pons_value *)(uintptr_t)had->world, (pons_value *)(uintptr_t)has->world);
        pons_report_clear(&r->hello);
        r->hello = pons_report_share(msg);
        if (!same || !r->critic) {
            remake(r);
        }
    } else if (msg->type == PONS_REPORT_TELEMETRY) {
        pons_report_clear(&r->telemetry);
        r->telemetry = pons_report_share(msg);
        r->telemetry_ms = now_ms(r);
        if (msg->as.telemetry.held) {
            take_up_held(r);
        }
    }
}

static void lose(robot *r, pons_link **link, int *fd)
{
    if (*fd >= 0) {
        epoll_ctl(r->epoll, EPOLL_CTL_DEL, *fd, NULL);
    }
    *fd = -1;
    pons_link_close(*link);
    *link = NULL;
    if (link == &r->hand) {
        r->in_control = false;
        for (goal *g = r->goals; g; g = g->next) { // what was out is asked about
            g->state = g->state == SENT || g->state == RUNNING ? ASKED : g->state;
            g->since_ms = now_ms(r);
        }
    }
}

static void goal_send(robot *r, goal *g)
{
    pons_error ignored = PONS_ERROR_INIT;
    char hash[33];
    pons_autovalue named = pons_object("skill", json_string(g->skill), "args",
                                       g->args ? pons_value_ref(g->args) : json_object(), NULL);
    pons_value_hash(named, hash);
    const int64_t boot_ms = r->o.clock.boot_ns(r->o.clock.ctx) / PONS_NS_PER_MS;
    g->state = SENT;
    g->since_ms = now_ms(r);
    const pons_message out = {.type = PONS_MESSAGE_GOAL,
                              .as.goal = {.goal_id = g->key,
                                          .epoch = r->epoch,
                                          .expires_ms = boot_ms + EXPIRES_MS,
                                          .robot_id = r->hello.as.hello.robot_id,
                                          .skill = g->skill,
                                          .args = pons_get(named, "args"),
                                          .args_hash = hash,
                                          .thread = r->thread,
                                          .attempt = 1}};
    pons_message_send(r->hand, &out, &ignored);
}

static void on_status(robot *r, goal *g, const pons_report_status *s)
{
    if (!s->known && g->adopted) {
        goal_fail(r, g, PONS_ENOTFOUND, "the body has never heard of this %s", g->skill);
    } else if (!s->known) {
        goal_send(r, g);
    } else if (pons_goal_over((pons_goal_state)s->state)) {
        goal_result(r, g, s->state, &s->end);
    } else if (!s->same_boot) {
        goal_fail(r, g, PONS_ECLOSED, "the body was restarted while %s was under way", g->skill);
    } else {
        g->state = RUNNING;
        g->adopted = false;
        send_about(r, g, PONS_MESSAGE_ADOPT);
    }
}

static void on_goal(robot *r, goal *g, const pons_report *msg)
{
    switch (msg->type) {
    case PONS_REPORT_ACCEPTED:
    case PONS_REPORT_ADOPTED:
        g->state = RUNNING;
        break;
    case PONS_REPORT_REJECTED:
        goal_fail(r, g, PONS_EREFUSED, "the body refuses %s: %s", g->skill,
                  *msg->as.rejected.message ? msg->as.rejected.message : msg->as.rejected.code);
        break;
    case PONS_REPORT_FEEDBACK:
        goal_progress(r, g, &msg->as.feedback);
        break;
    case PONS_REPORT_RESULT:
        goal_result(r, g, msg->as.result.status, &msg->as.result.end);
        break;
    case PONS_REPORT_STATUS:
        if (g->state == ASKED) {
            on_status(r, g, &msg->as.status);
        }
        break;
    default:
        break;
    }
}

static void goal_ask(robot *r, goal *g)
{
    g->state = ASKED;
    g->since_ms = now_ms(r);
    send_about(r, g, PONS_MESSAGE_STATUS);
}

// What came while another goal was out already: the body's hello was answered before.
static void send_wanted(robot *r)
{
    for (goal *g = r->goals; r->hand && r->in_control && g; g = g->next) {
        if (g->state == WANTED && g->adopted) {
            goal_ask(r, g);
        } else if (g->state == WANTED) {
            goal_send(r, g);
        }
    }
}

static void on_hand(robot *r, const pons_report *msg)
{
    if (msg->type == PONS_REPORT_HELLO) {
        r->in_control = true;
        r->epoch = msg->as.hello.epoch;
        r->beat_ms = 0;
        for (goal *each = r->goals; each; each = each->next) {
            if (each->state == WANTED && !each->adopted) {
                goal_send(r, each);
            } else if (each->state != OVER) {
                goal_ask(r, each);
            }
        }
    } else if (msg->type == PONS_REPORT_ERROR && !r->in_control) {
        for (goal *each = r->goals; each; each = each->next) {
            if (each->state == WANTED && !each->adopted) {
                goal_fail(r, each, PONS_EBUSY, "the body has another controller: %s",
                          msg->as.error.message);
            }
        }
        lose(r, &r->hand, &r->hand_fd);
    } else {
        goal *g = r->goals;
        while (g && strcmp(g->key, pons_report_goal_id(msg)) != 0) {
            g = g->next;
        }
        if (g && g->state != OVER) {
            on_goal(r, g, msg);
        }
    }
}

// ---- the links ----------------------------------------------------------------------------------

static void watch(robot *r, pons_link *link, int *fd)
{
    *fd = pons_link_fd(link);
    struct epoll_event e = {.events = EPOLLIN};
    if (*fd >= 0) {
        epoll_ctl(r->epoll, EPOLL_CTL_ADD, *fd, &e);
    }
}

static bool connect_as(robot *r, const char *role, pons_link **link, int *fd)
{
    pons_error ignored = PONS_ERROR_INIT;
    if (r->o.connect(r->o.user, link, &ignored) < 0) {
        *link = NULL;
        return false;
    }
    const pons_message hello = {
        .type = PONS_MESSAGE_HELLO,
        .as.hello = {
            .protocol = PONS_LINK_PROTOCOL, .role = role, .name = r->name, .pid = getpid()}};
    pons_message_send(*link, &hello, &ignored);
    watch(r, *link, fd);
    return true;
}

static void receive(robot *r, pons_link **link, int *fd, void (*take)(robot *, const pons_report *))
{
    for (int n = 0; *link && n < MESSAGES_PER_LOOK; n++) {
        pons_autovalue msg = NULL;
        pons_error bad = PONS_ERROR_INIT;
        const int rc = pons_link_recv(*link, &msg, &bad);
        if (rc == 0) {
            return;
        }
        if (rc > 0) {
            pons_report report;
            if (pons_report_decode(msg, &report, &bad) == PONS_OK) {
                take(r, &report);
            }
            pons_report_clear(&report);
        } else if (rc != PONS_EPROTOCOL) {
            lose(r, link, fd);
        }
    }
}

static void set_timer(robot *r)
{
    // A body that is not there is looked for now and then; a controller beats.
    const int64_t every_ms = r->goals || r->hand ? BEAT_MS : r->eye ? 0 : RECONNECT_MS;
    const struct itimerspec t = {
        .it_interval = {every_ms / 1000, every_ms % 1000 * 1000000},
        .it_value = {every_ms / 1000, every_ms % 1000 * 1000000},
    };
    struct itimerspec is;
    uint64_t ticks;
    const ssize_t n = read(r->timer, &ticks, sizeof ticks);
    (void)n;
    if (timerfd_gettime(r->timer, &is) == 0 && (is.it_interval.tv_sec != t.it_interval.tv_sec ||
                                                is.it_interval.tv_nsec != t.it_interval.tv_nsec)) {
        timerfd_settime(r->timer, 0, &t, NULL);
    }
}

static void reap(robot *r)
{
    pons_error ignored = PONS_ERROR_INIT;
    for (goal **at = &r->goals; *at;) {
        goal *g = *at;
        const bool late = g->state != RUNNING && g->state != OVER &&
                          now_ms(r) - g->since_ms > r->o.accept_timeout_ms;
        if (late && (g->state == SENT || g->adopted)) {
            goal_fail(r, g, PONS_ECLOSED, "the body does not answer about %s", g->skill);
        } else if (late) {
            goal_fail(r, g, PONS_EENV, "the body takes no commands; %s was not started", g->skill);
        }
        if (g->state == OVER) {
            *at = g->next;
            pons_value_unref(g->args);
            free(g);
        } else {
            at = &g->next;
        }
    }
    if (r->hand && !r->goals) { // others may have the body now
        pons_message_send(r->hand, &(pons_message){.type = PONS_MESSAGE_BYE}, &ignored);
        lose(r, &r->hand, &r->hand_fd);
    }
}

static void look(robot *r)
{
    const int64_t now = now_ms(r);
    pons_error ignored = PONS_ERROR_INIT;
    if (!r->eye && now >= r->eye_retry_ms) {
        r->eye_retry_ms = now + RECONNECT_MS;
        connect_as(r, "observer", &r->eye, &r->eye_fd);
    }
    receive(r, &r->eye, &r->eye_fd, on_eye);
    if (r->goals && !r->hand && now >= r->hand_retry_ms) {
        r->hand_retry_ms = now + BEAT_MS;
        r->in_control = false;
        connect_as(r, "controller", &r->hand, &r->hand_fd);
    }
    receive(r, &r->hand, &r->hand_fd, on_hand);
    send_wanted(r);
    if (r->hand && r->in_control && now - r->beat_ms >= BEAT_MS) {
        r->beat_ms = now;
        pons_message_send(r->hand, &(pons_message){.type = PONS_MESSAGE_HEARTBEAT}, &ignored);
    }
    if (r->hand && pons_link_wants_write(r->hand)) {
        pons_link_flush(r->hand, &ignored);
    }
    reap(r);
    set_timer(r);
}

// ---- the list -----------------------------------------------------------------------------------

static int robot_list(void *self, pons_value **ret, pons_error *err)
{
    robot *r = self;
    look(r);
    *ret = pons_value_ref(r->list);
    return PONS_OK;
}

static uint64_t robot_generation(void *self)
{
    robot *r = self;
    look(r);
    return r->generation;
}

// ---- judging ------------------------------------------------------------------------------------

int pons_robot_tools_judge(void *self, const char *tool, const pons_value *args,
                           const pons_plan_step *step, pons_verdict **ret, pons_error *err)
{
    robot *r = self;
    look(r);
    const char *action = tool ? tool : step->action;
    const bool skill = skill_of(r, action) != NULL;
    if (!r->critic || !r->eye || (tool && !skill)) {
        return pons_error_set(err, PONS_ENOTFOUND, WHERE, "there is no skill %.64s", action);
    }
    const pons_critic_situation s = {.live = true,
                                     .robot = r->telemetry.held,
                                     .telemetry_age_ms = (double)(now_ms(r) - r->telemetry_ms)};
    if (tool) {
        return pons_critic_judge(r->critic, tool, args, &s, ret, err);
    }
    pons_plan_step as = *step;
    if (!skill && as.tool_call_type == PONS_TOOL_EXECUTE) {
        as.tool_call_type = PONS_TOOL_NOOP; // words for the executor: only its preconditions count
    }
    return pons_critic_judge_step(r->critic, &as, &s, ret, err);
}

static pons_tool_risk robot_assess(void *self, const char *tool, const pons_value *args,
                                   char *reason, size_t cap)
{
    pons_autoverdict verdict = NULL;
    pons_error err = PONS_ERROR_INIT;
    if (pons_robot_tools_judge(self, tool, args, NULL, &verdict, &err) < 0) {
        return PONS_TOOL_SAFE; // at least the tool's own
    }
    const pons_value *why = json_array_get(pons_verdict_approvals(verdict), 0);
    if (!why) {
        return PONS_TOOL_SAFE;
    }
    snprintf(reason, cap, "%s", pons_get_str(why, "message", ""));
    return PONS_TOOL_DANGEROUS;
}

// The zone that the robot is in, as the brain has it; null: none.
static pons_value *zone_of(const pons_value *pose, const pons_value *zones)
{
    pons_each(zone, zones) {
        if (pons_polygon_contains(pons_get(zone, "polygon"), pons_get_num(pose, "x", 0.0),
                                  pons_get_num(pose, "y", 0.0))) {
            return pons_value_ref(pons_get(zone, "id"));
        }
    }
    return json_null();
}

pons_value *pons_robot_tools_status(void *self)
{
    static const char *const shown[] = {"pose", "battery_pct", "battery_state", "docked",
                                        "goal", "twist",       "stop",          "holding",
                                        "held", "nearest_m",   "robot_ms",      "arm"};
    static const char *const map[] = {"name", "bounds", "zones", "charger", "objects"};
    robot *r = self;
    look(r);
    pons_value *robot_now = json_object(), *world = json_object();
    for (size_t i = 0; i < sizeof shown / sizeof *shown; i++) {
        const pons_value *v = pons_get(r->telemetry.held, shown[i]);
        if (v && r->eye) {
            json_object_set_new(robot_now, shown[i], pons_value_ref(v));
        }
    }
    for (size_t i = 0; i < sizeof map / sizeof *map; i++) {
        const pons_value *v = pons_get(r->hello.as.hello.world, map[i]);
        if (v) {
            json_object_set_new(world, map[i], pons_value_ref(v));
        }
    }
    if (pons_get(robot_now, "pose")) {
        json_object_set_new(robot_now, "zone",
                            zone_of(pons_get(robot_now, "pose"), pons_get(world, "zones")));
    }
    if (r->eye && pons_get(r->telemetry.held, "scene")) {
        json_object_set_new(
            world, "objects",
            pons_critic_seen(pons_get(world, "objects"), pons_get(r->telemetry.held, "scene")));
    }
    return pons_object("connected", json_boolean(r->eye != NULL && r->telemetry.held != NULL),
                       "robot", robot_now, "world", world, NULL);
}

// ---- calls --------------------------------------------------------------------------------------

static goal *goal_add(robot *r, uint64_t call, const char *tool, const char *key)
{
    goal *g = pons_need_zeroed(1, sizeof *g);
    g->call = call;
    snprintf(g->key, sizeof g->key, "%s", key);
    snprintf(g->skill, sizeof g->skill, "%s", tool);
    g->since_ms = now_ms(r);
    g->next = r->goals;
    r->goals = g;
    return g;
}

// What was seen: a line for each, and the objects as the memory has them.
static int tell_seen(robot *r, uint64_t call, const pons_object_query *q, pons_error *err)
{
    pons_autovalue found = NULL;
    pons_autobuf text = PONS_BUF_INIT;
    const int rc = pons_objects_find(&r->o.items, r->objects, q, &found, err);
    if (rc < 0) {
        return rc;
    }
    pons_each(object, found) {
        char line[256];
        const bool known = pons_get_bool(object, "known", false);
        const char *doubt = known ? "" : "; may not be there any more";
        pons_buf_printf(&text, "%s%s%s", text.len ? "\n" : "",
                        pons_object_line(object, line, sizeof line), doubt);
    }
    const char *says = text.len ? text.data : "nothing was seen";
    return push(
        r, (pons_tool_event){
               .call = call,
               .kind = PONS_TOOL_DONE,
               .value = pons_object("output", json_string(says), "data",
                                    pons_object("objects", pons_value_ref(found), NULL), NULL)});
}

static int robot_start(void *self, uint64_t call, const char *tool, const pons_value *args,
                       const char *key, pons_error *err)
{
    robot *r = self;
    if (strcmp(tool, "query_world") == 0) {
        pons_autovalue status = pons_robot_tools_status(r);
        char *text = NULL;
        if (pons_value_line(status, &text) < 0) {
            return pons_error_set(err, PONS_ENOMEM, WHERE, "no memory for an answer");
        }
        pons_value *output = json_string(text);
        free(text);
        return push(r, (pons_tool_event){.call = call,
                                         .kind = PONS_TOOL_DONE,
                                         .value = pons_object("output", output, "data",
                                                              pons_value_ref(status), NULL)});
    }
    if (*r->objects && strcmp(tool, "where_is") == 0) {
        return tell_seen(r, call,
                         &(pons_object_query){.what = pons_get_str(args, "what", "?"), .limit = 5},
                         err);
    }
    if (*r->objects && strcmp(tool, "what_is_in") == 0) {
        return tell_seen(
            r, call,
            &(pons_object_query){.zone = pons_get_str(args, "zone", "?"), .min_belief = 0.1}, err);
    }
    look(r);
    if (!r->eye) {
        return pons_error_set(err, PONS_EENV, WHERE, "no body runs here (`pons body` starts one)");
    }
    if (!skill_of(r, tool)) {
        return pons_error_set(err, PONS_ENOTFOUND, WHERE, "there is no skill %.64s", tool);
    }
    goal *g = goal_add(r, call, tool, key);
    g->args = pons_value_ref(args);
    look(r);
    return PONS_OK;
}

static int robot_adopt(void *self, uint64_t call, const char *tool, const char *key,
                       pons_error *err)
{
    robot *r = self;
    goal *g = goal_add(r, call, tool, key);
    g->adopted = true;
    look(r);
    return PONS_OK;
}

// What the call had said already and nobody has taken.
static void forget_events(robot *r, uint64_t call)
{
    for (event **at = &r->first; *at;) {
        event *e = *at;
        if (e->e.call != call) {
            at = &e->next;
            continue;
        }
        *at = e->next;
        pons_tool_event_clear(&e->e);
        free(e);
    }
}

static void robot_cancel(void *self, uint64_t call)
{
    robot *r = self;
    forget_events(r, call);
    for (goal *g = r->goals; g; g = g->next) {
        if (g->call != call) {
            continue;
        }
        g->quiet = true;
        if (g->state == WANTED) {
            g->state = OVER;
        } else if (r->hand && r->in_control) {
            send_about(r, g, PONS_MESSAGE_CANCEL);
        }
    }
    look(r);
}

static int robot_event_fd(void *self)
{
    return ((robot *)self)->epoll;
}

static bool robot_next(void *self, pons_tool_event *ret)
{
    robot *r = self;
    look(r);
    event *e = r->first;
    if (!e) {
        return false;
    }
    r->first = e->next;
    *ret = e->e;
    free(e);
    return true;
}

static void robot_close(void *self)
{
    robot *r = self;
    if (!r) {
        return;
    }
    // Without a bye the body brakes and holds what runs: the next life takes it up again.
    if (r->hand && !r->goals) {
        pons_error ignored = PONS_ERROR_INIT;
        pons_message_send(r->hand, &(pons_message){.type = PONS_MESSAGE_BYE}, &ignored);
    }
    pons_link_close(r->eye);
    pons_link_close(r->hand);
    while (r->goals) {
        goal *g = r->goals;
        r->goals = g->next;
        pons_value_unref(g->args);
        free(g);
    }
    while (r->first) {
        event *e = r->first;
        r->first = e->next;
        pons_tool_event_clear(&e->e);
        free(e);
    }
    if (r->epoll >= 0) {
        close(r->epoll);
    }
    if (r->timer >= 0) {
        close(r->timer);
    }
    pons_critic_destroy(r->critic);
    pons_report_clear(&r->hello);
    pons_report_clear(&r->telemetry);
    pons_value_unref(r->policy);
    pons_value_unref(r->list);
    free(r);
}

static const pons_tools_ops robot_ops = {.abi = PONS_TOOL_ABI,
                                         .name = "robot",
                                         .close = robot_close,
                                         .list = robot_list,
                                         .generation = robot_generation,
                                         .assess = robot_assess,
                                         .start = robot_start,
                                         .adopt = robot_adopt,
                                         .cancel = robot_cancel,
                                         .event_fd = robot_event_fd,
                                         .next = robot_next};

// ---- life ---------------------------------------------------------------------------------------

int pons_robot_tools_open(const pons_robot_tools_options *opts, pons_tools *ret, pons_error *err)
{
    robot *r = calloc(1, sizeof *r);
    if (!r) {
        return pons_error_set(err, PONS_ENOMEM, WHERE, "no memory for the robot's tools");
    }
    r->o = *opts;
    r->o.accept_timeout_ms = opts->accept_timeout_ms ? opts->accept_timeout_ms : ACCEPT_DEFAULT_MS;
    snprintf(r->name, sizeof r->name, "%s", opts->name ? opts->name : "pons agent");
    snprintf(r->thread, sizeof r->thread, "%s", opts->thread ? opts->thread : "");
    snprintf(r->objects, sizeof r->objects, "%s", opts->objects ? opts->objects : "");
    r->policy = pons_value_ref(opts->policy);
    r->eye_fd = r->hand_fd = -1;
    r->epoll = epoll_create1(EPOLL_CLOEXEC);
    r->timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
    r->generation = 1;
    remake(r);
    if (r->epoll < 0 || r->timer < 0 || !r->list) {
        robot_ops.close(r);
        return pons_error_set(err, PONS_EENV, WHERE, "no descriptors for the robot's tools");
    }
    struct epoll_event e = {.events = EPOLLIN};
    epoll_ctl(r->epoll, EPOLL_CTL_ADD, r->timer, &e);
    look(r); // a body that is there is known before the first list
    *ret = (pons_tools){&robot_ops, r};
    return PONS_OK;
}

void pons_robot_tools_close(pons_tools *t)
{
    if (t && t->ops) {
        t->ops->close(t->self);
        *t = (pons_tools){0};
    }
}
