// session.c - a brain at work in the foreground.
//
// One loop: poll what the brain names, the guests' descriptors, and run/brain.sock, on which
// other processes ring after they have posted to an inbox; then let the brain do what is due. The body is
// run_body.c's, the workspace's files are run_files.c's. Whoever shows what happens, hears a person, serves clients or
// records is a guest (session.h).
#include "app/session/session.h"

#include "app/agent/agent_setup.h"
#include "app/map/world_files.h"
#include "app/notify/notify.h"
#include "app/pictures/pictures.h"
#include "app/service/service.h"
#include "app/session/run_body.h"
#include "app/session/run_files.h"
#include "app/sight/sight.h"
#include "app/workspace/onboarded_workspace.h"
#include "app/workspace/workspace_scope.h"
#include "pons/rule_policy.h"
#include "pons/store.h"
#include "pons/traces.h"

#include <poll.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define BODY_BUSY_MAX_MS 3000 // how long another brain may have the body before this one gives up
#define FILES_NEVER_MS   60000
#define FDS_MAX          16

typedef struct session {
    const app_context *c;
    const app_session_options *o;
    app_robot meant;
    // {world, driver, skills, speed, seed, ros2}: what a resume goes on with
    pons_value *about;
    pons_clock clock;
    pons_value *config;
    pons_policy own_policy; // opened here
    const pons_policy *policy;
    pons_llm own_llm; // opened here
    pons_store store;
    pons_brain *brain;
    run_body body;
    run_files files;
    app_new_pictures pictures;
    char pictures_to[256]; // the server that gets them
    app_sight_child sight;
    pons_traces *traces; // NULL: none, or whoever is a guest has them
    app_notify *notify;  // NULL: nobody wants to be told
    int wake_fd;
    int schedule_lock; // the file; -1: none
    char schedules[64], places[64];
    bool refused, tasked; // a word about place, time or pace was refused; there was a task
} session;

// ---- guests -------------------------------------------------------------------------------------

static void note(void *user, const char *line)
{
    const session *s = user;
    for (size_t i = 0; i < s->o->n_guests; i++) {
        if (s->o->guests[i].note) {
            s->o->guests[i].note(s->o->guests[i].user, line);
        }
    }
}

static bool is_over(const session *s)
{
    bool over = *s->o->ended || s->body.failed;
    for (size_t i = 0; i < s->o->n_guests; i++) {
        const app_session_guest *g = &s->o->guests[i];
        over = over || (g->over && g->over(g->user));
    }
    return over;
}

static void on_commit(void *user, int rc, int64_t ns)
{
    const session *s = user;
    for (size_t i = 0; i < s->o->n_guests; i++) {
        if (s->o->guests[i].commit) {
            s->o->guests[i].commit(s->o->guests[i].user, rc, ns);
        }
    }
}

static int open_guests(const session *s, pons_error *err)
{
    int rc = PONS_OK;
    for (size_t i = 0; i < s->o->n_guests; i++) {
        if (s->o->guests[i].brain) {
            s->o->guests[i].brain(s->o->guests[i].user, s->brain);
        }
    }
    for (size_t i = 0; i < s->o->n_guests && rc >= 0; i++) {
        rc = s->o->guests[i].open ? s->o->guests[i].open(s->o->guests[i].user, s->store, err) : rc;
    }
    return rc;
}

static void close_guests(const session *s)
{
    for (size_t i = s->o->n_guests; i-- > 0;) {
        if (s->o->guests[i].close) {
            s->o->guests[i].close(s->o->guests[i].user);
        }
    }
}

static int tell_ready(const session *s, pons_error *err)
{
    int rc = PONS_OK;
    for (size_t i = 0; i < s->o->n_guests && rc >= 0; i++) {
        rc = s->o->guests[i].ready ? s->o->guests[i].ready(s->o->guests[i].user, err) : rc;
    }
    return rc;
}

static void tell_end(const session *s, const app_session_end *end)
{
    for (size_t i = 0; i < s->o->n_guests; i++) {
        if (s->o->guests[i].end) {
            s->o->guests[i].end(s->o->guests[i].user, end);
        }
    }
}

// ---- for the brain ------------------------------------------------------------------------------

static int connect_body(void *user, pons_link **ret, pons_error *err)
{
    session *s = user;
    return run_body_connect(&s->body, pons_now_ms(&s->clock), ret, err);
}

// The workspace's documents, for a plan that asks them.
static int open_knowledge(void *user, pons_tools *ret, pons_error *err)
{
    const session *s = user;
    return app_core_tools(s->c, &s->clock, NULL, ret, err);
}

static void judge(void *user, const char *skill, const pons_value *args, bool asked,
                  pons_value *rules)
{
    const session *s = user;
    if (s->files.live) {
        pons_ws_live_judge(s->files.live, skill, args, asked, rules);
    }
}

static pons_value *context(void *user)
{
    const session *s = user;
    return s->files.live ? pons_ws_live_context(s->files.live) : NULL;
}

static int picture(void *user, pons_value **ret)
{
    session *s = user;
    pons_autovalue taken = NULL;
    const int rc = app_new_pictures_take(&s->pictures, &taken);
    *ret = pons_value_ref(json_array_get(taken, 0));
    return rc < 0 || *ret ? rc : PONS_ENOTFOUND;
}

static bool keep_schedules(void *user, bool take)
{
    const session *s = user;
    return app_schedules_take(s->schedule_lock, take);
}

static void on_event(void *user, const pons_event *ev)
{
    static const char *const refusals[] = {"place.refused", "schedule.refused", "tempo.refused"};
    session *s = user;
    for (size_t i = 0; i < sizeof refusals / sizeof refusals[0]; i++) {
        s->refused = s->refused || strcmp(ev->type, refusals[i]) == 0;
    }
    s->tasked = s->tasked || strcmp(ev->type, "task.queued") == 0;
    for (size_t i = 0; i < s->o->n_guests; i++) {
        if (s->o->guests[i].event) {
            s->o->guests[i].event(s->o->guests[i].user, ev);
        }
    }
    app_notify_event(s->notify, ev);
    if (s->files.live) {
        pons_ws_live_event(s->files.live, ev->type, ev->payload);
    }
    pons_traces_event(s->traces, ev);
}

// ---- begun --------------------------------------------------------------------------------------

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
    const app_session_options *o = s->o;
    const bool joins = app_robot_connect(s->c, &s->meant, &there, &none) == PONS_OK;
    pons_autovalue body = joins ? app_robot_reported(s->c) : NULL;
    pons_link_close(there);
    const char *skills = body ? pons_get_str(body, "skills", NULL) : o->skills;
    return pons_object("world", json_string(s->meant.world), "driver", json_string(s->meant.driver),
                       "no_charger", s->meant.charger ? NULL : json_true(), "skills",
                       skills ? json_string(skills) : NULL, "speed", json_real(o->speed), "seed",
                       json_integer((json_int_t)o->seed), "ros2", json_boolean(o->ros2), "llm",
                       model_kept(o->llm) ? json_string(model_kept(o->llm)) : NULL, NULL);
}

static int open_model(session *s, pons_error *err)
{
    pons_autovalue pictures = NULL;
    int rc = app_model_pictures(s->c, &pictures, err);
    if (rc < 0) {
        return rc;
    }
    rc = app_llm(s->o->llm, pictures, &s->clock, &s->own_llm, err);
    if (rc >= 0 || !s->o->llm_kept) {
        return rc;
    }
    app_tell_error(s->c, err); // the run's own model is gone: the rules go on, and say so
    *err = (pons_error)PONS_ERROR_INIT;
    return PONS_OK;
}

static int open_store(session *s, pons_error *err)
{
    if (!s->o->store) {
        return app_store(s->c, &s->store, err);
    }
    s->store = *s->o->store;
    *s->o->store = (pons_store){0};
    return PONS_OK;
}

// What stands beside the brain: who collects traces, who is told that a person is needed, who counts commits.
static int open_beside(session *s, pons_error *err)
{
    bool traces = false, commits = false;
    for (size_t i = 0; i < s->o->n_guests; i++) {
        traces = traces || s->o->guests[i].traces;
        commits = commits || s->o->guests[i].commit;
    }
    int rc = traces ? PONS_OK : pons_traces_from_environment(&s->traces, err);
    rc = rc < 0 ? rc : app_notify_open(s->c, s->store, s->o->thread, &s->notify, err);
    return rc >= 0 && commits ? pons_store_watch(&s->store, &s->clock, on_commit, s, err) : rc;
}

static int keep_charger(void *user, double x, double y, double yaw, pons_value **ret,
                        pons_error *err)
{
    const session *s = user;
    return app_charger_set(s->meant.world_file, (pons_pose2){x, y, yaw}, ret, err);
}

static int keep_room(void *user, double x, double y, const char *name, pons_value **ret_zones,
                     pons_error *err)
{
    const session *s = user;
    return app_room_call(s->c, s->meant.world_file, x, y, name, ret_zones, err);
}

static int open_brain(session *s, pons_error *err)
{
    const app_session_options *o = s->o;
    const pons_llm *model = o->opened ? o->opened : &s->own_llm;
    const int rc = model->ops ? app_new_pictures_open(s->c, s->meant.world_file, 1, &s->clock,
                                                      &s->pictures, err)
                              : PONS_OK;
    if (rc < 0) {
        return rc;
    }
    const char *to = app_agent_pictures_to(s->c, o->llm, s->pictures_to, sizeof s->pictures_to);
    const char *objects = s->sight.wanted ? s->sight.space : NULL;
    const pons_brain_options opts = {.store = s->store,
                                     .thread = o->thread,
                                     .clock = s->clock,
                                     .seed = o->seed,
                                     .config = s->config,
                                     .policy = *s->policy,
                                     .llm = model->ops ? model : NULL,
                                     .connect = connect_body,
                                     .knowledge = open_knowledge,
                                     .judge = judge,
                                     .context = context,
                                     .picture = s->pictures.tools.ops ? picture : NULL,
                                     .pictures_to = to,
                                     .on_event = on_event,
                                     .user = s,
                                     .about = s->about,
                                     .keep_running = o->keep_running,
                                     .resumed = o->resumed,
                                     // A watchdog's body is the watchdog's.
                                     .stop_body = s->files.hal_lock >= 0 || !app_onboarded(s->c),
                                     .stream = o->stream,
                                     .stream_kernel = o->stream_kernel,
                                     .step = o->step,
                                     .wait_ms = o->wait_ms,
                                     .priority = o->priority,
                                     .deadline_ms = o->deadline_ms,
                                     .schedules = s->schedules,
                                     .places = s->places,
                                     .charger_keep = keep_charger,
                                     .room_keep = keep_room,
                                     .objects = objects,
                                     .object_words = pons_get(s->sight.config, "synonyms"),
                                     .map = s->sight.world,
                                     .schedules_keep = keep_schedules};
    return pons_brain_open(&opts, &s->brain, err);
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
                            : app_lacks(err, "thread %s has been given goals before", s->o->thread);
}

// The goals are committed before a body is started.
static int give_goals(session *s, pons_error *err)
{
    const app_session_options *o = s->o;
    int rc = o->only_new ? must_be_new(s, err) : PONS_OK;
    if (rc >= 0 && o->n_goals > 0) {
        rc = pons_brain_add_goals(s->brain, o->goals, o->n_goals, err);
    }
    if (rc >= 0 && o->keep_running) { // so that a resume knows the world and the driver
        rc = pons_brain_add_goals(s->brain, NULL, 0, err);
    }
    return rc >= 0 && o->plan ? pons_brain_add_plan(s->brain, o->plan, err) : rc;
}

static int begin(session *s, pons_error *err)
{
    // A run of a watchdog that has died would keep the next one out.
    int rc = s->o->watched ? PONS_OK : app_files_lock(s->c, &s->files.hal_lock, err);
    if (rc < 0) {
        return rc;
    }
    app_schedules_space(s->c, s->schedules);
    app_places_space(s->c, s->places);
    s->schedule_lock = app_schedules_open(s->c);
    rc = open_brain(s, err);
    rc = rc < 0 ? rc : open_guests(s, err); // the thread is ours by now, and no event has been
    s->files.store = s->store;
    s->files.brain = s->brain;
    rc = rc < 0 ? rc : run_files_open(&s->files, s->c, &s->meant, &s->clock, err);
    rc = rc < 0 ? rc : give_goals(s, err);
    if (rc >= 0) {
        s->wake_fd = app_wake_listen(s->c);
    }
    return rc < 0 ? rc : tell_ready(s, err);
}

// Which robot, which configuration, which model: everything that may be wrong before a store is opened.
static int prepare(session *s, pons_error *err)
{
    const app_session_options *o = s->o;
    int rc = app_robot_meant(s->c, o->driver, o->world, &s->meant, err);
    rc = rc < 0 ? rc : app_robot_check(s->c, &s->meant, err);
    if (rc < 0) {
        return rc;
    }
    s->about = about_run(s);
    s->body.how = (app_body_how){.driver = s->meant.driver,
                                 .world = s->meant.world,
                                 .skills = pons_get_str(s->about, "skills", NULL),
                                 .speed = o->speed,
                                 .seed = o->seed,
                                 .ros2 = o->ros2};
    rc = app_config(s->c, &s->config, err);
    rc = rc < 0 ? rc : app_sight_child_open(&s->sight, s->c, s->meant.world_file, err);
    if (rc >= 0 && !o->policy) {
        rc = app_policy(s->c, &s->own_policy, err);
    }
    return rc >= 0 && !o->opened ? open_model(s, err) : rc;
}

// ---- at work ------------------------------------------------------------------------------------

static bool turn_guests(const session *s)
{
    bool moved = false;
    for (size_t i = 0; i < s->o->n_guests; i++) {
        const app_session_guest *g = &s->o->guests[i];
        moved = (g->turn && g->turn(g->user)) || moved;
    }
    return moved;
}

// Until something is to be done, or is due.
static void wait_for_work(session *s)
{
    const int files_ms = s->files.live ? pons_ws_live_poll(s->files.live) : FILES_NEVER_MS;
    const int files_fd = s->files.live ? pons_ws_live_fd(s->files.live) : -1;
    struct pollfd fds[FDS_MAX];
    size_t n = pons_brain_fds(s->brain, fds, FDS_MAX - APP_SESSION_GUESTS_MAX - 2);
    fds[n++] = (struct pollfd){.fd = files_fd, .events = POLLIN};
    const size_t wake = n;
    fds[n++] = (struct pollfd){.fd = s->wake_fd, .events = POLLIN};
    const size_t guests = n;
    for (size_t i = 0; i < s->o->n_guests; i++) {
        const app_session_guest *g = &s->o->guests[i];
        fds[n++] = (struct pollfd){.fd = g->fd ? g->fd(g->user) : -1, .events = POLLIN};
    }
    int64_t wait_ns = pons_brain_next_due_ns(s->brain) - pons_now_ns(&s->clock);
    wait_ns = wait_ns > files_ms * PONS_NS_PER_MS ? files_ms * PONS_NS_PER_MS : wait_ns;
    wait_ns = wait_ns < 0 ? 0 : wait_ns;
    const struct timespec ts = {.tv_sec = wait_ns / PONS_NS_PER_S,
                                .tv_nsec = wait_ns % PONS_NS_PER_S};
    if (ppoll(fds, n, &ts, NULL) <= 0) {
        return;
    }
    if (fds[wake].revents) {
        app_wake_take(s->wake_fd);
        pons_brain_wake(s->brain);
    }
    for (size_t i = 0; i < s->o->n_guests; i++) {
        if (fds[guests + i].revents) {
            s->o->guests[i].work(s->o->guests[i].user);
        }
    }
}

static int loop(session *s, pons_error *err)
{
    while (!is_over(s)) {
        const char *why = NULL;
        const int rc = pons_brain_poll(s->brain, err);
        if (rc < 0) {
            return rc;
        }
        app_service_alive();
        if (pons_brain_outcome_get(s->brain) != PONS_BRAIN_RUNNING) {
            break;
        }
        if (pons_brain_busy_ms(s->brain, &why) > BODY_BUSY_MAX_MS) {
            return pons_error_set(err, PONS_EBUSY, "body",
                                  "%s; the goals are kept: `pons resume %s`", why, s->o->thread);
        }
        run_body_look(&s->body);
        app_sight_child_look(&s->sight, s->c, pons_now_ms(&s->clock));
        if (!turn_guests(s)) {
            wait_for_work(s);
        }
    }
    return s->body.failed;
}

// ---- ended --------------------------------------------------------------------------------------

// Words that nobody has heard yet: goals, as a rule. Where there is one, there is something to resume.
static int count_words(void *user, const pons_inbox_row *row)
{
    *(int *)user += strcmp(row->kind, "say") == 0 || strcmp(row->kind, "wish") == 0;
    return 0;
}

// What was asked for is kept. When there is nothing, the run is over, and the body that it had started ends.
static int leave(session *s, app_session_end *end, pons_error *err)
{
    pons_autovalue status = pons_brain_status(s->brain);
    end->left = (int)json_array_size(pons_get(status, "queue"));
    const int rc = s->store.ops->inbox_read(s->store.self, s->o->thread, "kernel", 0, count_words,
                                            &end->left, err);
    if (rc < 0 || end->left > 0) {
        return rc;
    }
    end->left_idle = true;
    pons_brain_finish(s->brain);
    return pons_brain_poll(s->brain, err);
}

static int outcome(session *s, app_session_end *end)
{
    end->outcome = pons_brain_outcome_get(s->brain);
    tell_end(s, end);
    switch (end->outcome) {
    case PONS_BRAIN_SUCCEEDED: // all that it was told came to nothing, and there was nothing else
        return s->refused && !s->tasked && s->o->n_goals > 0 ? APP_NO_SUCCESS : PONS_OK;
    case PONS_BRAIN_WAITING:
        return APP_WAITING;
    default:
        return APP_NO_SUCCESS;
    }
}

// A body that a run had started and that outlives this one: until when, and why.
static void tell_body_stays(session *s)
{
    const char *why = s->brain ? pons_brain_body_stays(s->brain) : NULL;
    const pons_value *hello = NULL, *telemetry = NULL;
    pons_autovalue body = app_robot_reported(s->c);
    char until[16] = "", line[512];
    struct tm at;
    if (!why || pons_brain_body(s->brain, &hello, &telemetry) < 0 ||
        !pons_get_bool(body, "for_run", false)) {
        return;
    }
    const time_t end = (time_t)(pons_wall_ms(&s->clock) / 1000) + (time_t)PONS_BODY_ALONE_S;
    strftime(until, sizeof until, "%H:%M:%S", localtime_r(&end, &at));
    snprintf(line, sizeof line, "the robot stays on until %s: %s; `pons resume %s` goes on", until,
             why, s->o->thread);
    note(s, line);
}

static void end(session *s)
{
    tell_body_stays(s);
    if (s->store.ops) {
        close_guests(s);
    }
    app_sight_child_end(&s->sight);
    run_files_close(&s->files);
    run_body_close(&s->body);
    pons_brain_close(s->brain);
    app_new_pictures_close(&s->pictures);
    app_notify_close(s->notify);
    pons_traces_close(s->traces);
    if (s->schedule_lock >= 0) {
        close(s->schedule_lock);
    }
    if (s->wake_fd >= 0) {
        close(s->wake_fd);
    }
    if (s->own_llm.ops) {
        s->own_llm.ops->close(s->own_llm.self);
    }
    pons_rules_close(&s->own_policy);
    pons_store_close(&s->store);
    pons_value_unref(s->config);
    pons_value_unref(s->about);
}

int app_session_run(const app_context *c, const app_session_options *o, pons_error *err)
{
    session s = {
        .c = c,
        .o = o,
        .clock = pons_clock_real(),
        .wake_fd = -1,
        .schedule_lock = -1,
        .files = {.thread = o->thread, .hal_lock = -1, .note = note, .user = &s},
        .body = {.c = c, .meant = &s.meant, .by_hand = o->body_manual, .note = note, .user = &s}};
    app_session_end how = {0};
    s.policy = o->policy ? o->policy : &s.own_policy;
    int rc = prepare(&s, err);
    rc = rc < 0 ? rc : open_store(&s, err);
    rc = rc < 0 ? rc : open_beside(&s, err);
    rc = rc < 0 ? rc : begin(&s, err);
    rc = rc < 0 ? rc : loop(&s, err);
    if (rc >= 0 && o->leaves && pons_brain_outcome_get(s.brain) == PONS_BRAIN_RUNNING) {
        rc = leave(&s, &how, err);
    }
    rc = rc < 0 ? rc : outcome(&s, &how);
    end(&s);
    return rc;
}
