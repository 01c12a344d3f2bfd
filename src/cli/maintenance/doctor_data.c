// doctor_data.c - what the workspace keeps: the store, the body's ledger and its latch. Each is read
// whole and held against its checksums; nothing is changed unless --repair asks for it.
#include "app/pictures/pictures.h"
#include "cli/maintenance/doctor.h"
#include "pons/body.h"
#include "pons/brain.h"
#include "pons/graph.h"
#include "pons/picture.h"
#include "pons/store.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define REPAIR_ADVICE "`pons doctor --repair` keeps a copy and saves what it can"
#define NEWER_ADVICE  "a newer pons wrote it: use that one"
#define LINES_SHOWN   40

// ---- the store ----------------------------------------------------------------------------------

typedef struct lines {
    doctor *d;
    int shown;
} lines;

static void say_line(void *user, bool damage, const char *line)
{
    lines *l = user;
    if (l->shown++ < LINES_SHOWN) {
        doctor_say(l->d, "store", damage ? "damaged" : "note", line, NULL);
    }
}

static void say_repair(void *user, bool damage, const char *line)
{
    doctor_say(user, "store", damage ? "damaged" : "repaired", line, NULL);
}

static int add_thread(void *user, const pons_thread_info *info)
{
    json_array_append_new((json_t *)user, json_string(info->thread));
    return 0;
}

static int add_space(void *user, const char *ns)
{
    json_array_append_new((json_t *)user, json_string(ns));
    return 0;
}

// Each checkpoint of each thread is unpacked as a resume would.
static void read_threads(doctor *d)
{
    pons_error err = PONS_ERROR_INIT;
    pons_store store = {0};
    char line[1024], detail[PATH_MAX + 128];
    pons_autovalue threads = json_array();
    int64_t checkpoints = 0;
    int rc = pons_store_open_read(d->c->app.db, &store, &err);
    rc = rc < 0 ? rc : store.ops->threads(store.self, add_thread, threads, &err);
    if (rc < 0) {
        doctor_say(d, "store", "missing", pons_error_line(&err, line, sizeof line), NULL);
        pons_store_close(&store);
        return;
    }
    bool good = true;
    pons_each(thread, threads) {
        const char *name = json_string_value(thread);
        pons_autovalue spaces = json_array();
        rc = store.ops->namespaces(store.self, name, add_space, spaces, &err);
        pons_each(ns, spaces) {
            pons_autovalue list = NULL;
            rc = rc < 0
                     ? rc
                     : pons_state_history(store, name, json_string_value(ns), 0, true, &list, &err);
            checkpoints += (int64_t)json_array_size(list);
        }
        pons_autovalue gone = NULL;
        pons_error none = PONS_ERROR_INIT;
        if (rc >= 0 && pons_brain_pruned(store, name, &gone, &none) >= 0) {
            snprintf(detail, sizeof detail,
                     "thread %s: %lld checkpoints and %lld effects of %lld ended tasks were pruned",
                     name, (long long)pons_get_int(gone, "checkpoints", 0),
                     (long long)pons_get_int(gone, "effects", 0),
                     (long long)pons_get_int(gone, "tasks", 0));
            doctor_say(d, "store", "note", detail, NULL);
        }
        if (rc < 0) {
            snprintf(detail, sizeof detail, "thread %s: %s", name,
                     pons_error_line(&err, line, sizeof line));
            doctor_say(d, "store", "damaged", detail, "`pons threads fork` or `rm` it");
            good = false;
        }
    }
    pons_store_close(&store);
    if (good) {
        snprintf(detail, sizeof detail,
                 "%s: whole; threads: %zu, checkpoints: %lld, all can be read", d->c->app.db,
                 json_array_size(threads), (long long)checkpoints);
        doctor_say(d, "store", "ok", detail, NULL);
    }
}

static void repair_store(doctor *d)
{
    pons_error err = PONS_ERROR_INIT;
    char line[1024], kept[PATH_MAX];
    if (pons_store_repair(d->c->app.db, kept, sizeof kept, say_repair, d, &err) < 0) {
        doctor_say(d, "store", "damaged", pons_error_line(&err, line, sizeof line),
                   "put a backup in its place (`pons backup` makes them)");
        return;
    }
    doctor_say(d, "store", "repaired",
               "what could be saved is in place; look at it with"
               " `pons threads` before you resume",
               NULL);
    read_threads(d);
}

static void look_at_store(doctor *d)
{
    pons_error err = PONS_ERROR_INIT;
    char line[1024];
    int64_t damage = 0;
    const bool before = d->damaged;
    lines l = {.d = d};
    int rc = pons_store_check(d->c->app.db, say_line, &l, &damage, &err);
    if (rc < 0) {
        doctor_say(d, "store", "missing", pons_error_line(&err, line, sizeof line),
                   rc == PONS_EUNSUPPORTED ? NEWER_ADVICE
                                           : "check the workspace's rights and disk");
        return;
    }
    if (damage == 0) {
        read_threads(d);
        return;
    }
    if (l.shown > LINES_SHOWN) {
        snprintf(line, sizeof line, "and %d lines more", l.shown - LINES_SHOWN);
        doctor_say(d, "store", "damaged", line, NULL);
    }
    if (!d->repair) {
        doctor_say(d, "store", "damaged", d->c->app.db, REPAIR_ADVICE);
        return;
    }
    d->damaged = before;
    repair_store(d);
}

void doctor_pictures(doctor *d)
{
    char folder[PATH_MAX + 32], line[128];
    size_t n = 0;
    uint64_t bytes = 0;
    app_pictures_folder(&d->c->app, folder, sizeof folder);
    pons_picture_usage(folder, &n, &bytes);
    if (n > 0) {
        snprintf(line, sizeof line, "%zu in run/pictures, %.1f MB", n, (double)bytes / 1e6);
        doctor_say(d, "pictures", "note", line, NULL);
    }
}

void doctor_store(doctor *d)
{
    pons_error err = PONS_ERROR_INIT;
    char line[1024];
    const char *url = getenv("PONS_STORE");
    struct stat st;
    if (stat(d->c->app.workspace, &st) < 0) {
        doctor_say(d, "workspace", "absent", d->c->app.workspace, "`pons run` makes it");
        return;
    }
    if (url && *url) {
        pons_store store = {0};
        const bool opens = pons_store_open_read(url, &store, &err) >= 0;
        doctor_say(d, "store", opens ? "ok" : "missing",
                   opens ? "the one that PONS_STORE names opens"
                         : pons_error_line(&err, line, sizeof line),
                   opens ? NULL : "check PONS_STORE");
        pons_store_close(&store);
        return;
    }
    char log[PATH_MAX + 8];
    snprintf(log, sizeof log, "%s-wal", d->c->app.db);
    if (stat(d->c->app.db, &st) < 0 && errno == ENOENT) {
        if (stat(log, &st) == 0 && st.st_size > 0) {
            doctor_say(d, "store", "damaged", "pons.db is gone; its log (-wal) is still there",
                       NULL);
        } else {
            doctor_say(d, "store", "absent", "nothing has run in this workspace yet", NULL);
        }
        return;
    }
    look_at_store(d);
}

// ---- the body's ---------------------------------------------------------------------------------

void doctor_body_files(doctor *d)
{
    pons_error err = PONS_ERROR_INIT;
    pons_body_files f = {0};
    char line[PATH_MAX + 128], copy[PATH_MAX];
    struct stat st;
    if (stat(d->c->app.run_dir, &st) < 0) {
        return;
    }
    int rc = pons_body_verify(d->c->app.run_dir, &f, &err);
    if (rc == PONS_ECORRUPT && d->repair) {
        int64_t lost = 0;
        rc = pons_body_repair(d->c->app.run_dir, &lost, copy, sizeof copy, &err);
        if (rc >= 0) {
            snprintf(line, sizeof line, "%lld damaged lines are left out; the old file is %s",
                     (long long)lost, copy);
            doctor_say(d, "ledger", "repaired", line, NULL);
            rc = pons_body_verify(d->c->app.run_dir, &f, &err);
        }
    }
    if (rc < 0) {
        const char *advice = rc == PONS_ECORRUPT ? REPAIR_ADVICE : NULL;
        advice = rc == PONS_EUNSUPPORTED ? NEWER_ADVICE : advice;
        doctor_say(d, "ledger", rc == PONS_ECORRUPT ? "damaged" : "missing",
                   pons_error_line(&err, line, sizeof line), advice);
        return;
    }
    if (f.lines == 0) {
        doctor_say(d, "ledger", "absent", "no body has run in this workspace yet", NULL);
        return;
    }
    snprintf(line, sizeof line, "%lld lines, %lld goals, %lld sealed parts", (long long)f.lines,
             (long long)f.goals, (long long)f.parts);
    doctor_say(d, "ledger", "ok", line, NULL);
    if (f.torn_bytes > 0) {
        snprintf(line, sizeof line, "%lld bytes of a last line that was never acknowledged",
                 (long long)f.torn_bytes);
        doctor_say(d, "ledger", "note", line, "the next body cuts them away");
    }
    const bool lost = f.state == PONS_ECORRUPT || f.state == PONS_ENOTFOUND;
    snprintf(line, sizeof line,
             f.reason[0] ? "%s: the next body starts: %s, %.96s" : "%s: the next body starts: %s",
             lost ? "body.epoch is lost or damaged" : "body.epoch is whole",
             f.boots_latched ? "latched" : "free", f.reason);
    doctor_say(d, "latch",
               lost                 ? "damaged"
               : f.state == PONS_OK ? "ok"
                                    : "missing",
               line,
               lost ? "the next body writes it anew; then `pons reset` lifts the latch" : NULL);
}
