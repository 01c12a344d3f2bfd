// recording.c - a recording of the robot in this workspace: who listens, and who takes the pictures.
//
//     body.sock --observer--> listener's thread ----> recorder's queue --> its thread --> FILE
//     cameras, one after the other: their thread ---/
//     events: whoever has them ---------------------/
//     ROS 2's topics, where the robot has some: the module's thread (ext/topics.h) --/
//
// Nothing of the robot waits for it: the body drops what an observer does not read, the listener reads
// and queues, and only the recorder's thread meets the disk. Where there is no body yet, or it has gone,
// the listener watches the directory of its socket, and attaches as soon as that is there: before a
// controller has said its first goal, mostly.
#include "app/pictures/pictures.h"
#include "app/session/session.h"
#include "pons/link_message.h"
#include "pons/module.h"
#include "pons/out_of_memory.h"
#include "pons/record.h"

#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <unistd.h>

#define RETRY_MS       300 // where nothing can be watched
#define BOUND_MS       5   // a socket that is there, and does not listen yet
#define BOUND_TRIES    400
#define NAME_MAX_BYTES 64

struct app_recording {
    const app_context *c;
    char path[PATH_MAX];
    char *cameras; // "a,b"; NULL: none
    double every_s;
    pons_recorder *recorder;
    const pons_topics_ops *topics; // NULL: none are listened to
    void *topics_self;
    bool no_topics; // was told
    int quit;       // readable when it ends
    pthread_t listener, photographer;
    bool listens, takes;
    bool no_picture; // the photographer's: was told
};

static void tell(void *user, const char *line)
{
    const app_recording *r = user;
    app_tell(r->c, "pons: %s", line);
}

// True: it ends. Waits so long otherwise.
static bool over(const app_recording *r, int64_t ms)
{
    struct pollfd p = {.fd = r->quit, .events = POLLIN};
    return poll(&p, 1, (int)ms) > 0;
}

static pons_link *attach(const app_recording *r)
{
    pons_error none = PONS_ERROR_INIT;
    pons_link *link = NULL;
    const pons_message hello = {.type = PONS_MESSAGE_HELLO,
                                .as.hello = {.protocol = PONS_LINK_PROTOCOL,
                                             .name = "pons record",
                                             .tree = true,
                                             .view = true,
                                             .laser = true}};
    if (app_body_link(r->c, &link, &none) < 0) {
        return NULL;
    }
    if (pons_message_send(link, &hello, &none) < 0) {
        pons_link_close(link);
        return NULL;
    }
    return link;
}

// ---- other software's topics --------------------------------------------------------------------

static int on_topic(void *user, const pons_topic *t)
{
    app_recording *r = user;
    return pons_recorder_topic(r->recorder, t);
}

static void on_topic_message(void *user, int topic, const void *data, size_t n)
{
    app_recording *r = user;
    pons_recorder_raw(r->recorder, topic, data, n);
}

static int listen_to_topics(app_recording *r, pons_error *err)
{
    const void *found = NULL;
    const int rc = pons_module_load_of("topics", "ros2", PONS_TOPICS_ABI, &found, err);
    const pons_topics_ops *ops = found;
    if (rc < 0) {
        return rc;
    }
    pons_recorder_apart(r->recorder); // before the first report is written
    const int opened = ops->open(&(pons_topics_options){.workspace = r->c->workspace,
                                                        .topic = on_topic,
                                                        .message = on_topic_message,
                                                        .tell = tell,
                                                        .user = r},
                                 &r->topics_self, err);
    r->topics = opened < 0 ? NULL : ops;
    return opened;
}

// ---- the body -----------------------------------------------------------------------------------

// A robot of ROS 2 has topics. The walls are in the world's file, where that can be found.
static void greet(app_recording *r, const pons_value *hello)
{
    pons_error err = PONS_ERROR_INIT;
    pons_autovalue world = NULL;
    char line[1024], text[1200];
    if (!r->topics && !r->no_topics && strcmp(pons_get_str(hello, "driver", ""), "ros2") == 0 &&
        listen_to_topics(r, &err) < 0) {
        r->no_topics = true;
        snprintf(text, sizeof text, "%s; ROS 2's topics are not recorded",
                 pons_error_line(&err, line, sizeof line));
        tell(r, text);
    }
    pons_recorder_report(r->recorder, hello, 0);
    if (app_world(pons_get_str(pons_get(hello, "world"), "name", ""), &world, &err) >= 0) {
        pons_recorder_world(r->recorder, world, 0);
    }
}

static void hear(app_recording *r, const pons_value *message)
{
    if (strcmp(pons_get_str(message, "type", ""), "hello") == 0) {
        greet(r, message);
    } else {
        pons_recorder_report(r->recorder, message, 0);
    }
}

// Takes what the watch has seen; true: something.
static bool stirred(int watch)
{
    char events[4096];
    bool some = false;
    while (watch >= 0 && read(watch, events, sizeof events) > 0) {
        some = true;
    }
    return some;
}

static void *listen_to_body(void *user)
{
    app_recording *r = user;
    pons_link *link = NULL;
    int tries = 0; // that are left, soon after one another
    const int watch = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    bool watched = false;
    for (;;) {
        watched = watched || (watch >= 0 && inotify_add_watch(watch, r->c->run_dir,
                                                              IN_CREATE | IN_MOVED_TO) >= 0);
        link = link ? link : attach(r);
        struct pollfd p[] = {{.fd = r->quit, .events = POLLIN},
                             {.fd = link ? pons_link_fd(link) : -1, .events = POLLIN},
                             {.fd = link ? -1 : watch, .events = POLLIN}};
        poll(p, 3, !link && tries > 0 ? BOUND_MS : RETRY_MS);
        tries = stirred(watch) ? BOUND_TRIES : tries - (tries > 0);
        for (int rc = 1; link && rc > 0;) {
            pons_autovalue message = NULL;
            pons_error none = PONS_ERROR_INIT;
            rc = pons_link_recv(link, &message, &none);
            if (rc > 0) {
                hear(r, message);
            } else if (rc < 0 && rc != PONS_EPROTOCOL) {
                pons_link_close(link);
                link = NULL;
            }
        }
        if (p[0].revents) { // after what was there
            break;
        }
    }
    pons_link_close(link);
    if (watch >= 0) {
        close(watch);
    }
    return NULL;
}

static void *take_pictures(void *user)
{
    app_recording *r = user;
    const char *at = r->cameras;
    while (!over(r, (int64_t)(at == r->cameras ? r->every_s * 1e3 : 0.0))) {
        char name[NAME_MAX_BYTES];
        const size_t n = strcspn(at, ",");
        pons_error err = PONS_ERROR_INIT;
        char *data = NULL;
        size_t bytes = 0;
        snprintf(name, sizeof name, "%.*s", (int)n, at);
        at = at[n] ? at + n + 1 : r->cameras;
        if (app_camera_picture(r->c, name, &data, &bytes, &err) >= 0) {
            pons_recorder_picture(r->recorder, name, data, bytes);
        } else if (!r->no_picture) {
            r->no_picture = true;
            tell(r, err.message);
        }
        free(data);
    }
    return NULL;
}

int app_recording_open(const app_context *c, const app_recording_options *o, app_recording **ret,
                       pons_error *err)
{
    app_recording *r = pons_need_zeroed(1, sizeof *r);
    const pons_recorder_options opts = {
        .path = o->path, .clock = pons_clock_real(), .tell = tell, .user = r, .apart = o->apart};
    r->c = c;
    r->quit = -1;
    r->every_s = o->every_s > 0.0 ? o->every_s : APP_RECORD_EVERY_S;
    snprintf(r->path, sizeof r->path, "%s", o->path);
    const int rc = pons_recorder_open(&opts, &r->recorder, err);
    if (rc < 0) {
        free(r);
        return rc;
    }
    r->cameras = o->cameras && *o->cameras ? strdup(o->cameras) : NULL;
    const int received = o->ros2 ? listen_to_topics(r, err) : PONS_OK;
    if (received < 0) {
        app_recording_close(r, NULL);
        unlink(o->path); // it was made by us, and has nothing in it
        return received;
    }
    r->quit = eventfd(0, EFD_CLOEXEC);
    r->listens = r->quit >= 0 && pthread_create(&r->listener, NULL, listen_to_body, r) == 0;
    r->takes =
        r->listens && r->cameras && pthread_create(&r->photographer, NULL, take_pictures, r) == 0;
    if (!r->listens || (r->cameras && !r->takes)) {
        app_recording_close(r, NULL);
        return pons_error_set(err, PONS_EENV, "record", "no thread to listen with");
    }
    *ret = r;
    return PONS_OK;
}

void app_recording_event(app_recording *r, const pons_event *ev)
{
    pons_recorder_event(r->recorder, &(pons_record_event){.thread = ev->thread,
                                                          .ns = ev->ns,
                                                          .type = ev->type,
                                                          .seq = ev->seq,
                                                          .ts_ms = ev->ts_ms,
                                                          .payload = ev->payload});
}

bool app_recording_ended(app_recording *r)
{
    return pons_recorder_look(r->recorder).ended;
}

int app_recording_close(app_recording *r, pons_error *err)
{
    const uint64_t one = 1;
    pons_recorder_about about;
    if (!r) {
        return PONS_OK;
    }
    if (r->quit >= 0 && write(r->quit, &one, sizeof one) < 0) {
        app_tell(r->c, "pons: record: cannot tell its threads to end");
    }
    if (r->listens) {
        pthread_join(r->listener, NULL);
    }
    if (r->takes) {
        pthread_join(r->photographer, NULL);
    }
    if (r->topics) {
        r->topics->close(r->topics_self);
    }
    const int rc = pons_recorder_close(r->recorder, &about, err);
    if (rc >= 0 && err) {
        app_tell(r->c, "pons: recorded %llu messages in %s, %.1f kB; %llu found no room%s",
                 (unsigned long long)about.messages, r->path, (double)about.bytes / 1e3,
                 (unsigned long long)about.dropped,
                 about.ended ? "; it ended before its time" : "");
    }
    if (r->quit >= 0) {
        close(r->quit);
    }
    free(r->cameras);
    free(r);
    return rc;
}

// ---- as a guest of a session --------------------------------------------------------------------

static int open_recorded(void *user, pons_store store, pons_error *err)
{
    app_recorded *r = user;
    app_robot meant;
    const int rc = app_robot_meant(r->c, r->driver, r->world, &meant, err);
    if (rc < 0) {
        return rc;
    }
    r->options.apart = strcmp(meant.driver, "ros2") == 0;
    return app_recording_open(r->c, &r->options, &r->recording, err);
}

static void record_event(void *user, const pons_event *ev)
{
    const app_recorded *r = user;
    if (r->recording) {
        app_recording_event(r->recording, ev);
    }
}

app_session_guest app_recording_guest(app_recorded *r)
{
    return (app_session_guest){.open = open_recorded, .event = record_event, .user = r};
}
