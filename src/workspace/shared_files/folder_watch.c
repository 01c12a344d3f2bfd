// folder_watch.c - changes in a folder: inotify, and each second a look at every file, as inotify sees nothing
// of what another machine writes over a network.
//
// An edit is many writes: a file is due when nothing has come for 50 ms, or 500 ms after the first. One that was
// moved into place is whole: it is due at once, or 10 ms after it was due last.
#include "workspace/shared_files/folder_watch.h"

#include "pons/out_of_memory.h"
#include "workspace/shared_files/whole_file.h"

#include <dirent.h>
#include <fnmatch.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#define QUIET_MS      50
#define LATEST_MS     500
#define WHOLE_MS      10 // between two looks at a file that is renamed over
#define LOOK_MS       1000
#define STRANGERS_MAX 64

typedef struct seen {          // of a file
    int64_t first_ms, last_ms; // of events that were not looked at yet; first 0: none
    bool whole;                // it need not be waited for
    int64_t due_ms;            // when it was due last
    ino_t inode;
    off_t size;
    struct timespec changed;
} seen;

struct pons__ws_watch {
    char dir[PONS__WS_DIR_MAX];
    int fd; // -1: none
    seen files[PONS_WS_FILES];
    int64_t looked_ms;
    bool looked;
    char strangers[STRANGERS_MAX][NAME_MAX + 1];
    size_t n_strangers;
};

int pons__ws_watch_open(const char *dir, pons__ws_watch **ret, pons_error *err)
{
    pons__ws_watch *w = pons_need_zeroed(1, sizeof *w);
    snprintf(w->dir, sizeof w->dir, "%s", dir);
    w->fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    if (w->fd >= 0 &&
        inotify_add_watch(w->fd, dir, IN_CLOSE_WRITE | IN_MOVED_TO | IN_DELETE | IN_MOVED_FROM) <
            0) {
        close(w->fd); // too many watches on this machine: the look each second does
        w->fd = -1;
    }
    *ret = w;
    return PONS_OK;
}

void pons__ws_watch_close(pons__ws_watch *w)
{
    if (w && w->fd >= 0) {
        close(w->fd);
    }
    free(w);
}

int pons__ws_watch_fd(const pons__ws_watch *w)
{
    return w->fd;
}

static void touch(pons__ws_watch *w, int file, int64_t now_ms)
{
    seen *s = &w->files[file];
    s->whole = false;
    s->last_ms = now_ms;
    s->first_ms = s->first_ms ? s->first_ms : now_ms;
}

static bool stat_of(const pons__ws_watch *w, int file, struct stat *ret)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", w->dir, pons_ws_file_name((pons_ws_file)file));
    return stat(path, ret) == 0;
}

static bool is_as_seen(const seen *s, const struct stat *st)
{
    return s->inode == st->st_ino && s->size == st->st_size &&
           s->changed.tv_sec == st->st_mtim.tv_sec && s->changed.tv_nsec == st->st_mtim.tv_nsec;
}

void pons__ws_watch_wrote(pons__ws_watch *w, pons_ws_file file, const struct stat *is)
{
    seen *s = &w->files[file];
    s->inode = is->st_ino;
    s->size = is->st_size;
    s->changed = is->st_mtim;
}

void pons__ws_watch_again(pons__ws_watch *w, pons_ws_file file, int64_t now_ms)
{
    seen *s = &w->files[file];
    s->whole = true; // after a short pause, not after all of them
    s->first_ms = s->last_ms = now_ms;
}

// A file that was moved into place is whole, and need not wait for more.
static void happened(pons__ws_watch *w, int file, uint32_t mask, int64_t now_ms)
{
    seen *s = &w->files[file];
    struct stat st;
    const bool there = stat_of(w, file, &st);
    const bool gone = mask & (IN_MOVED_FROM | IN_DELETE);
    // Another file than the one that we know: nobody writes into what was moved here.
    const bool whole =
        there && mask & IN_MOVED_TO && st.st_ino != s->inode && (!s->first_ms || s->whole);
    if (there && (gone || is_as_seen(s, &st))) {
        return; // pons itself exchanged it, or what came after tells of itself
    }
    touch(w, file, now_ms);
    s->whole = whole;
}

const char *pons_ws_stranger(const char *name)
{
    static const struct {
        const char *pattern, *what;
    } strangers[] = {
        {"*.sync-conflict-*",
         "a program that copies files left two versions; this one is not read"},
        {"*conflicted copy*",
         "a program that copies files left two versions; this one is not read"},
        {".#*", "an editor's lock or unsaved copy; it is not read"},
    };
    for (size_t i = 0; i < sizeof strangers / sizeof strangers[0]; i++) {
        if (fnmatch(strangers[i].pattern, name, FNM_CASEFOLD) == 0) {
            return strangers[i].what;
        }
    }
    return NULL;
}

static void tell_stranger(pons__ws_watch *w, const char *name,
                          void (*stranger)(void *user, const char *name), void *user)
{
    for (size_t i = 0; i < w->n_strangers; i++) {
        if (strcmp(w->strangers[i], name) == 0) {
            return;
        }
    }
    if (w->n_strangers < STRANGERS_MAX) {
        snprintf(w->strangers[w->n_strangers++], sizeof w->strangers[0], "%s", name);
        stranger(user, name);
    }
}

// Looks at all of them; what is not as it was is touched.
static void look(pons__ws_watch *w, int64_t now_ms, void (*stranger)(void *user, const char *name),
                 void *user)
{
    for (int f = 0; f < PONS_WS_FILES; f++) {
        struct stat st = {0};
        seen *s = &w->files[f];
        if (!stat_of(w, f, &st)) {
            st = (struct stat){0};
        }
        if (!is_as_seen(s, &st)) {
            pons__ws_watch_wrote(w, (pons_ws_file)f, &st);
            touch(w, f, now_ms);
        }
    }
    DIR *d = opendir(w->dir);
    for (struct dirent *e = d ? readdir(d) : NULL; e; e = readdir(d)) {
        if (pons_ws_stranger(e->d_name)) {
            tell_stranger(w, e->d_name, stranger, user);
        }
    }
    if (d) {
        closedir(d);
    }
    w->looked_ms = now_ms;
    w->looked = true;
}

static void read_events(pons__ws_watch *w, int64_t now_ms)
{
    _Alignas(struct inotify_event) char buf[16384];
    ssize_t n;
    while (w->fd >= 0 && (n = read(w->fd, buf, sizeof buf)) > 0) {
        for (char *at = buf; at < buf + n;) {
            const struct inotify_event *e = (const struct inotify_event *)(const void *)at;
            at += sizeof *e + e->len;
            for (int f = 0; f < PONS_WS_FILES; f++) {
                if (e->mask & IN_Q_OVERFLOW ||
                    (e->len && strcmp(e->name, pons_ws_file_name((pons_ws_file)f)) == 0)) {
                    happened(w, f, e->mask, now_ms);
                }
            }
        }
    }
}

int pons__ws_watch_poll(pons__ws_watch *w, int64_t now_ms, bool due[PONS_WS_FILES],
                        bool whole[PONS_WS_FILES], void (*stranger)(void *user, const char *name),
                        void *user)
{
    read_events(w, now_ms);
    if (!w->looked || now_ms - w->looked_ms >= LOOK_MS) {
        look(w, now_ms, stranger, user);
    }
    int64_t wait = LOOK_MS - (now_ms - w->looked_ms);
    for (int f = 0; f < PONS_WS_FILES; f++) {
        seen *s = &w->files[f];
        const int64_t quiet = s->last_ms + QUIET_MS, latest = s->first_ms + LATEST_MS;
        const int64_t last =
            s->due_ms + WHOLE_MS; // who renames all the time is not looked at each time
        const int64_t at = s->whole ? last : quiet < latest ? quiet : latest;
        due[f] = s->first_ms && now_ms >= at;
        whole[f] = due[f] && s->whole;
        if (due[f]) {
            s->first_ms = 0;
            s->due_ms = now_ms;
        } else if (s->first_ms && at - now_ms < wait) {
            wait = at - now_ms;
        }
    }
    return wait < 1 ? 1 : (int)wait;
}
