// workspace_actions.c - what a server's clients may do to the workspace, in the words of the command line.
//
// Each function is `pons status`, `say`, `approve`, `stop` or `reset` for a caller that has no
// terminal: the same inbox, the same sockets, the same order (a stop goes to the wheels before the
// words go anywhere). They run on the server's workers, several at once, and share nothing but the
// store and the rules, which may be called so.
#include "app/serve/workspace_actions.h"

#include "app/fleet/fleet.h"
#include "app/map/world_files.h"
#include "app/operator/operator.h"
#include "app/pictures/pictures.h"
#include "app/sight/sight.h"
#include "app/workspace/which_robot.h"
#include "pons/brain.h"
#include "pons/companion.h"
#include "pons/link_message.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define OBSERVE_MS 500
#define STOP_MS    1000
#define HEARD_MS   1500
#define LOOK_MS    10

#define FLEET_ENDED_MAX 20 // tasks that have ended, for a page

static int known(const app_host *h, const char **thread, pons_error *err)
{
    int64_t last = 0;
    *thread = *thread ? *thread : h->thread;
    if (strcmp(*thread, h->thread) == 0) {
        return PONS_OK;
    }
    const int rc = h->store.ops->event_last(h->store.self, *thread, &last, err);
    if (rc >= 0 && last == 0) { // a misspelt thread is bad input, not a new one
        return pons_error_set(err, PONS_ENOTFOUND, "threads", "there is no thread %s", *thread);
    }
    return rc;
}

static int status(void *user, const char *thread, pons_value **ret, pons_error *err)
{
    const app_host *h = user;
    pons_autovalue hello = NULL;
    pons_autovalue telemetry = NULL;
    int rc = known(h, &thread, err);
    if (rc < 0) {
        return rc;
    }
    app_observe(h->c, OBSERVE_MS, &hello, &telemetry);
    rc = pons_status_read(h->store, thread, telemetry, hello, ret, err);
    if (rc == PONS_ENOTFOUND && strcmp(thread, h->thread) == 0) { // its first commit is to come
        *err = (pons_error)PONS_ERROR_INIT;
        rc = pons_status_read(h->store, NULL, telemetry, hello, ret, err);
        if (rc >= 0) {
            json_object_set_new(*ret, "thread", json_string(thread));
        }
    }
    return rc;
}

static int post(const app_host *h, const char *thread, const char *kind, const pons_value *value,
                pons_error *err)
{
    const int rc = pons_inbox_post(h->store, thread, "kernel", kind, value, err);
    if (rc >= 0) {
        app_wake_brain(h->c);
    }
    return rc;
}

static int say_as(const app_host *h, const char *kind, const char *thread, const char *text,
                  pons_value **ret, pons_error *err)
{
    pons_error none = PONS_ERROR_INIT;
    pons_autovalue parsed = NULL;
    pons_autovalue world = json_object();
    pons_autovalue word = pons_object("text", json_string(text), "at_ms",
                                      json_integer(pons_wall_ms(&h->clock)), NULL);
    bool stopped = false;
    const int read = h->policy->ops->parse(h->policy->self, text, world, &parsed, &none);
    const char *control = read >= 0 ? pons_get_str(parsed, "control", "") : "";
    if (strcmp(control, "stop") == 0) {
        stopped = app_stop_robots(h->c, "a person said stop", STOP_MS, &none) >= 0;
    }
    int rc = known(h, &thread, err);
    if (rc < 0) {
        return rc;
    }
    json_object_set_new(word, "stop_sent", json_boolean(stopped));
    pons_autovalue telemetry = app_stop_state_note(h->c, thread, OBSERVE_MS, word);
    if (strcmp(control, "continue") == 0 && !telemetry) {
        rc = app_may_continue(h->store, thread, NULL, err);
        if (rc < 0) {
            err->status = PONS_EBUSY;
            return PONS_EBUSY;
        }
    }
    rc = !telemetry && strcmp(control, "reset") == 0
             ? pons_error_set(err, PONS_EBUSY, "stop", APP_UNSEEN_RESET)
             : post(h, thread, kind, word, err);
    if (rc >= 0) {
        *ret = pons_object("thread", json_string(thread), "text", json_string(text), "stopped",
                           json_boolean(stopped), NULL);
    }
    return rc;
}

static int say(void *user, const char *thread, const char *text, pons_value **ret, pons_error *err)
{
    return say_as(user, "say", thread, text, ret, err);
}

static int wish(void *user, const char *thread, const char *text, pons_value **ret, pons_error *err)
{
    return say_as(user, "wish", thread, text, ret, err);
}

static int control(void *user, const char *thread, const char *word, const char *task,
                   pons_error *err)
{
    const app_host *h = user;
    int rc = known(h, &thread, err);
    if (rc < 0) {
        return rc;
    }
    pons_autovalue value =
        pons_object("word", json_string(word), "task", task ? json_string(task) : NULL, NULL);
    if (strcmp(word, "continue") == 0) {
        pons_autovalue telemetry = app_stop_state_note(h->c, thread, OBSERVE_MS, value);
        if (app_may_continue(h->store, thread, telemetry, err) < 0) {
            err->status = PONS_EBUSY;
            return PONS_EBUSY;
        }
    }
    return post(h, thread, "control", value, err);
}

// One that is open no more is told so by what becomes of the answer.
static int fits(const app_host *h, const char *thread, const char *question,
                const pons_value *answer, pons_error *err)
{
    pons_autovalue is = NULL;
    const int rc = pons_status_read(h->store, thread, NULL, NULL, &is, err);
    const pons_value *open =
        rc < 0 ? NULL : app_question_named(pons_get(is, "approvals"), question);
    return open ? app_question_fits(open, answer, err) : rc;
}

static int answer(void *user, const char *thread, const char *question, pons_value *answer,
                  const char *by, pons_value **ret, pons_error *err)
{
    const app_host *h = user;
    pons_lease holder = {0};
    pons_error none = PONS_ERROR_INIT;
    int rc = known(h, &thread, err);
    if (rc < 0) {
        return rc;
    }
    const char *words = pons_get_str(answer, "answer", NULL);
    if (words && app_words_stop_or_pause(h->policy, words)) {
        pons_value *said = NULL;
        rc = say_as(h, "say", thread, words, &said, err);
        pons_value_unref(said);
        *ret =
            rc < 0 ? NULL : pons_object("verdict", json_string("bound"), "said", json_true(), NULL);
        return rc;
    }
    json_object_set_new(answer, "id", json_string(question));
    app_answer_sign(answer, by);
    rc = fits(h, thread, question, answer, err);
    rc = rc < 0 ? rc : post(h, thread, "answer", answer, err);
    if (rc < 0) {
        return rc;
    }
    const bool held = h->store.ops->lease_peek(h->store.self, thread, &holder, &none) >= 0;
    const int64_t until = pons_now_ms(&h->clock) + (held ? HEARD_MS : 0);
    for (;;) {
        pons_value *got = NULL;
        rc = pons_answer_read(h->store, thread, question, pons_get_str(answer, "nonce", ""), &got,
                              err);
        if (rc < 0 || pons_get_bool(got, "heard", false) || pons_now_ms(&h->clock) >= until) {
            *ret = got;
            return rc;
        }
        pons_value_unref(got);
        poll(NULL, 0, LOOK_MS);
    }
}

static int reset(void *user, pons_error *err)
{
    const app_host *h = user;
    return app_reset_robots(h->c, err);
}

static int place(void *user, double x, double y, double yaw, pons_error *err)
{
    const app_host *h = user;
    return app_ask_body(
        h->c,
        &(pons_message){.type = PONS_MESSAGE_SET_POSE, .as.set_pose = {.x = x, .y = y, .yaw = yaw}},
        err);
}

static int stop(void *user, const char *reason, pons_error *err)
{
    const app_host *h = user;
    return app_stop_robots(h->c, reason, STOP_MS, err);
}

static bool stops(void *user, const char *text)
{
    const app_host *h = user;
    return app_words_stop(h->policy, text);
}

static int world(void *user, const char *name, pons_value **ret, pons_error *err)
{
    return app_world(name, ret, err);
}

// The file of the world that the body is in, or was in last.
static int body_world(const app_host *h, char ret[PATH_MAX], pons_error *err)
{
    pons_autovalue body = app_robot_reported(h->c);
    const char *file = app_robot_world(body);
    snprintf(ret, PATH_MAX, "%s", file ? file : "");
    return file ? PONS_OK
                : pons_error_set(err, PONS_ENOTFOUND, "serve",
                                 "no robot has run in this workspace yet");
}

static int rooms(void *user, pons_value **ret, pons_error *err)
{
    char file[PATH_MAX];
    pons_value *all = NULL;
    int rc = body_world(user, file, err);
    rc = rc < 0 ? rc : app_rooms(file, &all, err);
    if (rc >= 0) {
        *ret = pons_object("world", json_string(file), "rooms", all, NULL);
    }
    return rc;
}

static int room_name(void *user, double x, double y, const char *en, const char *zh,
                     pons_value **ret, pons_error *err)
{
    const app_host *h = user;
    char file[PATH_MAX], path[PATH_MAX];
    bool known_now = false;
    pons_autovalue all = NULL;
    pons_autovalue zone = NULL;
    int rc = body_world(h, file, err);
    rc = rc < 0 ? rc : app_rooms(file, &all, err);
    const pons_value *room = app_room_at(all, x, y);
    if (rc >= 0 && !room) {
        rc = pons_error_set(err, PONS_ENOTFOUND, "serve", "there is no room at %.2f %.2f", x, y);
    }
    rc = rc < 0 ? rc : app_room_name(h->c, file, room, en, zh, APP_EDIT_MS, &zone, err);
    rc = rc < 0 ? rc : app_world_file(file, path, err);
    rc = rc < 0 ? rc : app_places_tell(h->c, path, &known_now, err);
    if (rc >= 0) {
        *ret = pons_object("zone", pons_value_ref(zone), "known", json_boolean(known_now), NULL);
    }
    return rc;
}

static int fork_thread(void *user, const char *thread, const char *checkpoint, const char *to,
                       const pons_value *edit, pons_error *err)
{
    const app_host *h = user;
    int rc = app_thread_name(to, err);
    rc = rc < 0 ? rc : known(h, &thread, err);
    return rc < 0 ? rc : app_thread_fork(h, thread, checkpoint, to, edit, err);
}

// What people call what the life's events have ids for: {id: {language: [name, …]}}, of the world view.
static pons_value *names_in(const pons_value *view)
{
    static const char *const lists[] = {"activities", "places", "devices"};
    pons_value *names = json_object();
    for (size_t l = 0; l < sizeof lists / sizeof *lists; l++) {
        pons_each(o, pons_get(view, lists[l])) {
            if (pons_get(o, "names")) {
                json_object_set(names, pons_get_str(o, "id", ""), (json_t *)pons_get(o, "names"));
            }
        }
    }
    return names;
}

static int life(void *user, pons_value **ret, pons_error *err)
{
    const app_host *h = user;
    pons_autovalue view = NULL;
    const int rc = pons_companion_read(h->store, NULL, ret, err);
    if (rc >= 0 && app_yaml(h->c, "config/world-view.yaml", NULL, &view, NULL) >= 0) {
        json_object_set_new(*ret, "names", names_in(view));
    }
    return rc;
}

static int objects(void *user, const char *what, const char *zone, int64_t since_ms, int64_t limit,
                   pons_value **ret, pons_error *err)
{
    const app_host *h = user;
    const pons_items items = {.store = h->store, .clock = h->clock};
    const pons_object_query q = {
        .what = what, .zone = zone, .since_ms = since_ms, .limit = (size_t)limit};
    char space[64];
    app_objects_space(h->c, space);
    return pons_objects_find(&items, space, &q, ret, err);
}

static int message(void *user, const char *text, const char *from, bool urgent, pons_error *err)
{
    const app_host *h = user;
    pons_autovalue is = NULL;
    const int rc = life(user, &is, err); // nobody would hear it
    return rc < 0 ? rc : pons_companion_message(h->store, NULL, text, from, urgent, err);
}

static int draw(void *user, const char *name, pons_value **ret, pons_error *err)
{
    pons_graph *g = NULL;
    char *text = NULL;
    int rc = pons_brain_graph(name, &g, err);
    rc = rc < 0 ? rc : pons_graph_draw(g, "json", &text, err);
    rc = rc < 0 ? rc : pons_value_parse(text, strlen(text), ret, err);
    free(text);
    pons_graph_destroy(g);
    return rc;
}

static pons_value *system_now(void *user)
{
    const app_host *h = user;
    const char *store = getenv("PONS_STORE"), *model = getenv("PONS_LLM_URL");
    // A store's address may have a password in it: only its kind is told.
    char kind[32] = "sqlite";
    if (store) {
        snprintf(kind, sizeof kind, "%.*s", (int)strcspn(store, ":"), store);
    }
    return pons_object("version", json_string(PONS_VERSION), "pid", json_integer(getpid()),
                       "workspace", json_string(h->c->workspace), "thread", json_string(h->thread),
                       "store", json_string(kind), "model",
                       model ? json_string("configured") : json_null(), "built",
                       json_string(__VERSION__), NULL);
}

// `pons doctor` in a process of its own: what it loads and starts is none of the server's.
static int doctor(void *user, pons_value **ret, pons_error *err)
{
    const app_host *h = user;
    const char *argv[] = {"pons", "doctor", "--json", "--workspace", h->c->workspace, NULL};
    int out[2];
    if (pipe2(out, O_CLOEXEC) < 0) {
        return pons_error_set(err, PONS_EENV, "serve", "no pipe for the doctor");
    }
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, out[1], 1);
    posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
    pid_t pid = 0;
    const int rc = posix_spawn(&pid, "/proc/self/exe", &actions, NULL,
                               (char *const *)(uintptr_t)argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    close(out[1]);
    FILE *f = fdopen(out[0], "r");
    pons_value *rows = json_array();
    char *line = NULL;
    size_t cap = 0;
    for (ssize_t n; rc == 0 && f && (n = getline(&line, &cap, f)) > 0;) {
        pons_value *row = NULL;
        if (pons_value_parse(line, (size_t)n, &row, NULL) >= 0) {
            json_array_append_new(rows, row);
        }
    }
    free(line);
    if (f) {
        fclose(f);
    } else {
        close(out[0]);
    }
    if (rc == 0) {
        waitpid(pid, NULL, 0);
    }
    *ret = rows;
    return rc == 0 ? PONS_OK : pons_error_set(err, PONS_EENV, "serve", "the doctor cannot start");
}

static int fleet(void *user, bool map, pons_value **ret, pons_error *err)
{
    const app_host *h = user;
    if (!app_fleet_here(h->c)) {
        return pons_error_set(err, PONS_ENOTFOUND, "fleet", "this is no fleet's workspace");
    }
    return map ? app_fleet_look_map(h->store, ret, err)
               : app_fleet_look(h->store, FLEET_ENDED_MAX, ret, err);
}

static int fleet_say(void *user, const char *word, const pons_value *value, pons_error *err)
{
    const app_host *h = user;
    pons_autovalue task = NULL;
    if (!app_fleet_here(h->c)) {
        return pons_error_set(err, PONS_ENOTFOUND, "fleet", "this is no fleet's workspace");
    }
    if (strcmp(word, "assign") != 0) {
        return app_fleet_say(h->store, word, value, err);
    }
    const int rc = app_fleet_task_of(h->c, value, &task, err);
    return rc < 0 ? rc : app_fleet_say(h->store, "task", task, err);
}

static int observe(void *user, bool laser, pons_link **ret, pons_error *err)
{
    const app_host *h = user;
    pons_link *link = NULL;
    int rc = app_body_link(h->c, &link, err);
    rc = rc < 0 ? rc
                : pons_message_send(link,
                                    &(pons_message){.type = PONS_MESSAGE_HELLO,
                                                    .as.hello = {.protocol = PONS_LINK_PROTOCOL,
                                                                 .name = "pons serve",
                                                                 .tree = true,
                                                                 .view = true,
                                                                 .laser = laser}},
                                    err);
    if (rc < 0) {
        pons_link_close(link);
        return rc;
    }
    *ret = link;
    return PONS_OK;
}

static int picture(void *user, const void *bytes, size_t n, pons_value **ret, pons_error *err)
{
    const app_host *h = user;
    return app_picture_keep(h->c, NULL, "sent by a person", bytes, n, ret, err);
}

static int camera(void *user, const char *name, char **ret, size_t *ret_n, pons_error *err)
{
    const app_host *h = user;
    return app_camera_picture(h->c, name, ret, ret_n, err);
}

pons_serve_host app_host_of(app_host *h)
{
    return (pons_serve_host){.user = h,
                             .status = status,
                             .say = say,
                             .wish = wish,
                             .control = control,
                             .answer = answer,
                             .reset = reset,
                             .place = place,
                             .stop = stop,
                             .stops = stops,
                             .fork = fork_thread,
                             .life = life,
                             .objects = objects,
                             .message = message,
                             .fleet = fleet,
                             .fleet_say = fleet_say,
                             .draw = draw,
                             .system = system_now,
                             .doctor = doctor,
                             .world = world,
                             .rooms = rooms,
                             .room_name = room_name,
                             .camera = camera,
                             .picture = picture,
                             .observe = observe};
}
