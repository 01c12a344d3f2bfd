// cmd_record.c - `pons record FILE.mcap`: whatever the robot of this workspace says and does, from
// outside; and `pons record info FILE.mcap`, which reads a recording whole and says what is in it.
//
// The events are those of the newest thread, from this moment on; they are read from the store, so the
// recorder may come, go and die as it likes.
#include "cli/cli.h"
#include "cli/record/record.h"
#include "pons/record.h"
#include "pons/store.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { LOOK_MS = 200 };

static volatile sig_atomic_t quit;

static void on_signal(int number)
{
    quit = 1;
}

typedef struct follower {
    app_recording *recording;
    pons_store store;
    char thread[PONS_NAME_MAX]; // "": none yet
    int64_t after;
    bool looked; // a thread that comes later is recorded from its first event on
} follower;

static int tell_event(void *user, const pons_event_row *row)
{
    follower *f = user;
    pons_autovalue payload = NULL;
    f->after = row->seq;
    if (pons_value_read(row->payload.data, row->payload.len, &payload, NULL) >= 0) {
        app_recording_event(f->recording, &(pons_event){.seq = row->seq,
                                                        .thread = f->thread,
                                                        .ns = row->ns,
                                                        .ts_ms = row->ts_ms,
                                                        .type = row->type,
                                                        .payload = payload});
    }
    return 0;
}

static void follow(cli *c, follower *f, const char *named)
{
    char newest[PONS_NAME_MAX] = "";
    pons_error none = PONS_ERROR_INIT;
    const char *url = getenv("PONS_STORE");
    // Where nobody has made a store yet, one for reading would be empty for ever.
    const bool there = (url && *url) || access(c->app.db, F_OK) == 0;
    if (!f->store.ops && (!there || app_store_read(&c->app, &f->store, &none) < 0)) {
        f->store.ops = NULL;
        f->looked = true;
        return;
    }
    if (named) {
        snprintf(newest, sizeof newest, "%s", named);
    } else if (app_latest_thread(f->store, newest, &none) < 0) {
        f->looked = true;
        return;
    }
    if (strcmp(newest, f->thread) != 0) {
        f->after = 0;
        if (!f->looked) {
            f->store.ops->event_last(f->store.self, newest, &f->after, &none);
        }
        snprintf(f->thread, sizeof f->thread, "%s", newest);
    }
    f->looked = true;
    f->store.ops->events(f->store.self, f->thread, f->after, 0, tell_event, f, &none);
}

static int make(cli *c, const app_recording_options *o, const char *thread, double for_s,
                pons_error *err)
{
    const struct sigaction act = {.sa_handler = on_signal};
    const pons_clock clock = pons_clock_real();
    follower f = {.after = 0};
    int rc = app_workspace(&c->app, true, err);
    rc = rc < 0 ? rc : app_recording_open(&c->app, o, &f.recording, err);
    if (rc < 0) {
        return rc;
    }
    sigaction(SIGINT, &act, NULL);
    sigaction(SIGTERM, &act, NULL);
    sigaction(SIGHUP, &act, NULL);
    cli_err("pons: recording what the robot of %s does into %s; Ctrl-C ends it\n", c->app.workspace,
            o->path);
    const int64_t until = for_s > 0.0 ? pons_now_ms(&clock) + (int64_t)(for_s * 1e3) : INT64_MAX;
    while (!quit && pons_now_ms(&clock) < until && !app_recording_ended(f.recording)) {
        follow(c, &f, thread);
        poll(NULL, 0, LOOK_MS);
    }
    follow(c, &f, thread);
    const bool ended = app_recording_ended(f.recording);
    rc = app_recording_close(f.recording, err);
    pons_store_close(&f.store);
    return rc < 0 ? rc : ended ? APP_LACKING : PONS_OK;
}

// ---- info ---------------------------------------------------------------------------------------

static void at_time(uint64_t ns, char ret[CLI_MOMENT])
{
    const size_t n = strlen(cli_moment((int64_t)(ns / 1000000U), ret, "%F %T"));
    snprintf(ret + n, CLI_MOMENT - n, ".%03u", (unsigned)(ns / 1000000U % 1000U));
}

static void show(const char *path, const pons_mcap_about *a)
{
    char from[CLI_MOMENT], to[CLI_MOMENT];
    at_time(a->start_ns, from);
    at_time(a->end_ns, to);
    cli_out("%s: %llu messages in %llu chunks, %.1f kB\n", path, (unsigned long long)a->messages,
            (unsigned long long)a->chunks, (double)a->bytes / 1e3);
    if (a->messages > 0) {
        cli_out("from %s to %s, %.1f s\n", from, to, (double)(a->end_ns - a->start_ns) / 1e9);
    }
    pons_each(t, a->topics) {
        const char *encoding = pons_get_str(t, "encoding", "");
        const bool json = strcmp(encoding, "json") == 0;
        cli_out("%8lld  %-*s %s%s%s\n", (long long)pons_get_int(t, "messages", 0), 20,
                pons_get_str(t, "topic", ""), pons_get_str(t, "schema", ""), json ? "" : " ",
                json ? "" : encoding);
    }
    const char *dropped = pons_get_str(pons_get(a->metadata, "pons"), "dropped", "0");
    if (strcmp(dropped, "0") != 0) {
        cli_out("%s messages found no room when it was recorded\n", dropped);
    }
    if (a->whole) {
        cli_out("whole: every CRC, the index and the statistics fit\n");
    } else {
        cli_out("cut off: %s; %llu of %llu bytes are whole\n", a->why, (unsigned long long)a->read,
                (unsigned long long)a->bytes);
    }
}

static int info(cli *c, const char *path, pons_error *err)
{
    pons_mcap_about a;
    const int rc = cli_recording_read(pons_mcap_read(path, NULL, NULL, &a, err), err);
    if (rc >= 0 && c->json) {
        pons_autovalue out = pons_object(
            "type", json_string("recording"), "file", pons_string(path), "whole",
            json_boolean(a.whole), "why", pons_string(a.why), "bytes",
            json_integer((json_int_t)a.bytes), "bytes_whole", json_integer((json_int_t)a.read),
            "messages", json_integer((json_int_t)a.messages), "chunks",
            json_integer((json_int_t)a.chunks), "start_ns", json_integer((json_int_t)a.start_ns),
            "end_ns", json_integer((json_int_t)a.end_ns), "topics", pons_value_ref(a.topics),
            "metadata", pons_value_ref(a.metadata), NULL);
        cli_print_json(out);
    } else if (rc >= 0) {
        show(path, &a);
    }
    const bool whole = a.whole;
    pons_mcap_about_clear(&a);
    return rc < 0 ? rc : whole ? PONS_OK : APP_NO_SUCCESS;
}

int cmd_record(cli *c, pons_error *err)
{
    const char *thread = NULL, *every = NULL, *ros2 = NULL;
    app_recording_options o = {.every_s = APP_RECORD_EVERY_S};
    double for_s = 0.0;
    const cli_option options[] = {
        {"--thread", "ID", "the events of this thread; default: of the newest one", &thread},
        {"--camera", "NAME,…", "pictures of these cameras of the world too", &o.cameras},
        {"--every", "S", "seconds between two rounds of pictures; default 2", &every},
        {"--ros2", NULL, "the topics of ROS 2 too; a robot of --driver ros2 has them in any case",
         &ros2},
        {"--for", "S", "ends after so many seconds; default: with Ctrl-C",
         CLI_NUMBER(&for_s, 0.1, 1e9)},
        {NULL, NULL, NULL, NULL},
    };
    int rc = cli_parse(c, options, err);
    if (rc < 0) {
        return rc;
    }
    if (c->argc == 2 && strcmp(c->argv[0], "info") == 0 && !thread && !every && for_s == 0 &&
        !o.cameras && !ros2) {
        return info(c, c->argv[1], err);
    }
    if (c->argc != 1 || strcmp(c->argv[0], "info") == 0) {
        return app_bad(err, "record: use `pons record FILE.mcap` or `pons record info FILE.mcap`");
    }
    if (every && !o.cameras) {
        return app_bad(err, "record: --every is of --camera");
    }
    rc = every ? cli_number(every, "--every", 0.1, 1e6, &o.every_s, err) : PONS_OK;
    rc = rc >= 0 && thread ? app_thread_name(thread, err) : rc;
    o.path = c->argv[0];
    o.ros2 = ros2 != NULL;
    return rc < 0 ? rc : make(c, &o, thread, for_s, err);
}
