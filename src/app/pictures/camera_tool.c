// camera_tool.c - take_picture: what a camera sees, for a model that can look at it.
//
//     start --> a thread: `pons body camera`, blurred, kept --> DONE {output, pictures}    one picture at a time
//
// It changes nothing, so a call that died with its host is made again.
#include "app/pictures/pictures.h"
#include "pons/event_queue.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#define WHERE "camera"
#define TOOL  "take_picture"

typedef struct job {
    struct job *next;
    uint64_t call;
    char camera[64];
} job;

typedef struct cameras {
    const app_context *c; // const, as the next three
    pons_value *names;    // of the world's cameras
    pthread_t thread;
    pons_event_queue events;
    pthread_mutex_t mtx;
    pthread_cond_t more;
    job *jobs; // [mtx]
    bool ends; // [mtx]
} cameras;

static void clear_event(void *event)
{
    pons_tool_event_clear(event);
}

static void take(cameras *k, const job *j)
{
    pons_tool_event ev = {.call = j->call, .kind = PONS_TOOL_DONE};
    pons_value *picture = NULL;
    if (app_picture_take(k->c, j->camera, &picture, &ev.error) < 0) {
        ev.kind = PONS_TOOL_FAILED;
    } else {
        ev.value = pons_object(
            "output",
            json_sprintf("A picture of %s was taken.", pons_get_str(picture, "caption", "")),
            "pictures", json_pack("[o]", picture), NULL);
    }
    pons_event_queue_push(&k->events, j->call, &ev, true);
}

static void *work(void *user)
{
    cameras *k = user;
    pthread_mutex_lock(&k->mtx);
    while (!k->ends) {
        job *j = k->jobs;
        if (!j) {
            pthread_cond_wait(&k->more, &k->mtx);
            continue;
        }
        k->jobs = j->next;
        pthread_mutex_unlock(&k->mtx);
        take(k, j);
        free(j);
        pthread_mutex_lock(&k->mtx);
    }
    pthread_mutex_unlock(&k->mtx);
    return NULL;
}

static int list(void *self, pons_value **ret, pons_error *err)
{
    const cameras *k = self;
    pons_value *schema =
        json_pack("{ss s{s{ss sO}} s[s] sb}", "type", "object", "properties", "camera", "type",
                  "string", "enum", k->names, "required", "camera", "additionalProperties", 0);
    *ret = json_pack(
        "[o]",
        pons_object("name", json_string(TOOL), "category", json_string("robot"), "description",
                    json_string("Takes a picture with a camera of the robot and shows it to you."),
                    "parameters", schema, "risk", json_string("safe"), "read_only", json_true(),
                    NULL));
    return *ret ? PONS_OK : pons_error_set(err, PONS_ENOMEM, WHERE, "no memory for a tool");
}

static int start(void *self, uint64_t call, const char *tool, const pons_value *args,
                 const char *key, pons_error *err)
{
    cameras *k = self;
    if (strcmp(tool, TOOL) != 0) {
        return pons_error_set(err, PONS_ENOTFOUND, WHERE, "there is no tool %.64s here", tool);
    }
    job *j = calloc(1, sizeof *j);
    int rc = j ? pons_event_queue_begin(&k->events, call) : PONS_ENOMEM;
    if (rc < 0) {
        free(j);
        return pons_error_set(err, rc, WHERE, "no picture can be taken now");
    }
    *j = (job){.call = call};
    snprintf(j->camera, sizeof j->camera, "%s", pons_get_str(args, "camera", ""));
    pthread_mutex_lock(&k->mtx);
    job **at = &k->jobs;
    while (*at) {
        at = &(*at)->next;
    }
    *at = j;
    pthread_cond_signal(&k->more);
    pthread_mutex_unlock(&k->mtx);
    return PONS_OK;
}

static void cancel(void *self, uint64_t call)
{
    cameras *k = self;
    pthread_mutex_lock(&k->mtx);
    job **at = &k->jobs;
    while (*at && (*at)->call != call) {
        at = &(*at)->next;
    }
    job *waiting = *at;
    if (waiting) {
        *at = waiting->next;
    }
    pthread_mutex_unlock(&k->mtx);
    free(waiting);
    pons_event_queue_end(&k->events, call);
}

static int event_fd(void *self)
{
    return ((cameras *)self)->events.fd;
}

static bool next(void *self, pons_tool_event *ret)
{
    return pons_event_queue_next(&((cameras *)self)->events, ret);
}

static void close_cameras(void *self)
{
    cameras *k = self;
    if (!k) {
        return;
    }
    pthread_mutex_lock(&k->mtx);
    k->ends = true;
    pthread_cond_signal(&k->more);
    pthread_mutex_unlock(&k->mtx);
    pthread_join(k->thread, NULL); // a picture that is being taken ends first
    for (job *j = k->jobs, *after; j; j = after) {
        after = j->next;
        free(j);
    }
    pons_event_queue_fini(&k->events);
    pthread_cond_destroy(&k->more);
    pthread_mutex_destroy(&k->mtx);
    pons_value_unref(k->names);
    free(k);
}

static const pons_tools_ops ops = {.abi = PONS_TOOL_ABI,
                                   .name = "cameras",
                                   .close = close_cameras,
                                   .list = list,
                                   .start = start,
                                   .cancel = cancel,
                                   .event_fd = event_fd,
                                   .next = next};

static pons_value *cameras_of(const char *world)
{
    pons_value *names = json_array();
    pons_autovalue w = NULL;
    pons_error none = PONS_ERROR_INIT; // who needs the world says what is wrong with it
    if (app_world(world, &w, &none) >= 0) {
        pons_each(camera, pons_get(w, "cameras")) {
            json_array_append_new(names, pons_value_ref(pons_get(camera, "id")));
        }
    }
    return names;
}

int app_camera_tools(const app_context *c, const char *world, pons_tools *ret, pons_error *err)
{
    pons_autovalue vision = NULL;
    pons_autovalue names = cameras_of(world);
    int rc = app_vision(c, &vision, err);
    const bool seen = strcmp(pons_get_str(vision, "model", "auto"), "no") != 0 &&
                      strcmp(pons_get_str(vision, "send", ""), "never") != 0;
    if (rc < 0 || !seen || json_array_size(names) == 0) {
        return rc;
    }
    cameras *k = calloc(1, sizeof *k);
    if (!k) {
        return pons_error_set(err, PONS_ENOMEM, WHERE, "no memory for cameras");
    }
    *k = (cameras){.c = c, .names = pons_value_ref(names)};
    pthread_mutex_init(&k->mtx, NULL);
    pthread_cond_init(&k->more, NULL);
    rc = pons_event_queue_init(&k->events, sizeof(pons_tool_event), clear_event, err);
    sigset_t all, before; // signals are for the thread that waits for them
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const bool runs = rc >= 0 && pthread_create(&k->thread, NULL, work, k) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (runs) {
        *ret = (pons_tools){.ops = &ops, .self = k};
        return PONS_OK;
    }
    pons_event_queue_fini(&k->events);
    pons_value_unref(k->names);
    free(k);
    return rc < 0 ? rc : pons_error_set(err, PONS_EENV, WHERE, "no thread for the cameras");
}
