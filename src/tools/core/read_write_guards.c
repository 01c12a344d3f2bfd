// read_write_guards.c - what of the workspace a model may not read or write: by name, by identity, and as a
// list of places for the terminal's wall.
//
// Names come from the one table (pons/protected_files.h) and from the configuration's lists, which only add
// to it. A file has other names too: a symbolic link is judged by where it leads, a hard link by
// the file's identity, for which the workspace is walked once in a while.
#include "tools/core/read_write_guards.h"

#include "pons/config_file.h"
#include "pons/growing_list.h"
#include "tools/core/config.h"
#include "tools/core/core.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define WALK_ENTRIES   200000 // entries of a workspace that are looked at
#define WALK_DEPTH     128
#define PERSON_ENTRIES 2000 // of a person's configuration
#define PERSON_DEPTH   4
#define FRESH_NS       (1000 * PONS_NS_PER_MS) // how long a walk's answer on hard links is believed
#define WALK_SHARE     10 // a walk for a file with one name takes a tenth of the time at most

typedef struct walk {
    char path[PATH_MAX]; // of the entry in hand, from the workspace's root
    const pons__core *core;
    pons__masks *into;
    size_t entries;
    bool linked;     // there are files with another name, or links to what is hidden
    bool second;     // the second look: only for what has a hidden file's identity
    bool failed;     // no memory
    const char *too; // "many", "deep"
} walk;

// ---- names --------------------------------------------------------------------------------------

static int add_pattern(pons__core *c, const char *prefix, const char *name, pons_guard guard)
{
    char text[PATH_MAX], folded[PATH_MAX];
    snprintf(text, sizeof text, "%s%s", prefix, name);
    pons_guard_fold(text, folded, sizeof folded);
    size_t n = strlen(folded);
    while (n > 1 && folded[n - 1] == '/') {
        folded[--n] = '\0';
    }
    if (!pons_list_reserve(&c->patterns, NULL, c->n_patterns + 1, sizeof *c->patterns)) {
        return PONS_ENOMEM;
    }
    c->patterns[c->n_patterns] = (pons__pattern){.text = strdup(folded), .guard = guard};
    return c->patterns[c->n_patterns++].text ? PONS_OK : PONS_ENOMEM;
}

// An entry of a list with no slash that begins with a dot (".cache") means that name anywhere.
static int add_list(pons__core *c, const char *key, pons_guard guard)
{
    int rc = PONS_OK;
    pons_each(entry, pons__conf_value(c, NULL, key)) {
        const char *name = json_string_value(entry);
        name += strncmp(name, "./", 2) == 0 ? 2 : 0;
        const bool anywhere = name[0] == '.' && !strchr(name, '/');
        rc = rc < 0 ? rc : add_pattern(c, anywhere ? "**/" : "", name, guard);
    }
    return rc;
}

// A workspace that lies in the working folder is neither read nor written: keys and memories are in it.
static int guard_workspace(pons__core *c)
{
    const size_t root = strlen(c->workspace);
    const char *rest = c->state + root;
    if (strcmp(c->workspace, "/") == 0) {
        rest = c->state;
    } else if (strncmp(c->state, c->workspace, root) != 0 || *rest != '/') {
        return PONS_OK;
    }
    return add_pattern(c, "", rest + 1, PONS_GUARD_HIDDEN);
}

// A place of this machine, by where it leads, where that is within what the tools reach. As much of it as
// there is is resolved: before it is there, too, nobody shall make one.
static int guard_place(pons__core *c, const char *path)
{
    char place[PATH_MAX], whole[PATH_MAX];
    const size_t root = strcmp(c->workspace, "/") == 0 ? 0 : strlen(c->workspace);
    for (size_t cut = strlen(path); cut > 0;) {
        char above[PATH_MAX];
        snprintf(above, sizeof above, "%.*s", (int)cut, path);
        if (realpath(above, place)) {
            const int n =
                snprintf(whole, sizeof whole, "%s%s", strcmp(place, "/") ? place : "", path + cut);
            const bool within = n < (int)sizeof whole && strncmp(whole, c->workspace, root) == 0 &&
                                whole[root] == '/' && whole[root + 1];
            return within ? add_pattern(c, "", whole + root + 1, PONS_GUARD_HIDDEN) : PONS_OK;
        }
        while (cut > 0 && path[--cut] != '/') {
        }
    }
    return PONS_OK;
}

// What the links of a person's configuration lead to, a file of it at a time: ~/.config/pons/notify.yaml
// that is ~/dots/notify.yaml.
static int guard_links(pons__core *c, const char *folder, int depth, int *left)
{
    DIR *dir = opendir(folder);
    int rc = PONS_OK;
    for (const struct dirent *d = dir ? readdir(dir) : NULL; d && rc >= 0; d = readdir(dir)) {
        char path[PATH_MAX], to[PATH_MAX], at[2 * PATH_MAX];
        struct stat st;
        if (strcmp(d->d_name, ".") == 0 || strcmp(d->d_name, "..") == 0) {
            continue;
        }
        if (snprintf(path, sizeof path, "%s/%s", folder, d->d_name) >= (int)sizeof path ||
            fstatat(dirfd(dir), d->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0) {
            continue;
        }
        if (--*left < 0) {
            rc = PONS_EREFUSED;
        } else if (S_ISDIR(st.st_mode) && depth > 0) {
            rc = guard_links(c, path, depth - 1, left);
        } else if (S_ISLNK(st.st_mode)) {
            const ssize_t n = readlink(path, to, sizeof to - 1);
            to[n > 0 ? n : 0] = '\0';
            snprintf(at, sizeof at, "%s%s%s", to[0] == '/' ? "" : folder, to[0] == '/' ? "" : "/",
                     to); // one that leads nowhere yet
            rc = guard_place(c, access(path, F_OK) == 0 ? path : at);
        }
    }
    if (dir) {
        closedir(dir);
    }
    return rc;
}

// A person's configuration that lies in what the tools reach is neither read nor written, by the name that
// pons looks under and by where that leads.
static int guard_person(pons__core *c)
{
    char dir[PATH_MAX];
    int left = PERSON_ENTRIES;
    pons_error none = PONS_ERROR_INIT;
    if (pons_config_person_dir(dir, sizeof dir, &none) < 0) {
        return PONS_OK;
    }
    const int rc = guard_place(c, dir);
    return rc < 0 ? rc : guard_links(c, dir, PERSON_DEPTH, &left);
}

int pons__guards_init(pons__core *c)
{
    size_t n;
    const pons_guard_entry *table = pons_guard_entries(&n);
    int rc = PONS_OK;
    const bool folder = c->tag[0] != '\0';
    for (size_t i = 0; i < n && rc >= 0; i++) {
        const bool anywhere = strncmp(table[i].pattern, "**/", 3) == 0;
        // pons reads nothing of a working folder, so its config/ is anybody's; keys are keys.
        if (!folder || anywhere || table[i].guard == PONS_GUARD_HIDDEN) {
            rc = add_pattern(c, "", table[i].pattern, table[i].guard);
        }
    }
    rc = rc < 0 || !folder ? rc : guard_workspace(c);
    rc = rc < 0 ? rc : guard_person(c);
    rc = rc < 0 ? rc : add_list(c, "hidden", PONS_GUARD_HIDDEN);
    return rc < 0 ? rc : add_list(c, "protected", PONS_GUARD_PROTECTED);
}

void pons__guards_fini(pons__core *c)
{
    for (size_t i = 0; i < c->n_patterns; i++) {
        free(c->patterns[i].text);
    }
    free(c->patterns);
    free(c->links);
}

pons_guard pons__guard_of(const pons__core *c, const char *normal)
{
    char folded[PATH_MAX];
    pons_guard most = PONS_GUARD_NONE;
    pons_guard_fold(normal, folded, sizeof folded);
    for (size_t i = 0; i < c->n_patterns; i++) {
        if (c->patterns[i].guard > most && pons_guard_matches(c->patterns[i].text, folded)) {
            most = c->patterns[i].guard;
        }
    }
    return most;
}

// ---- the walk -----------------------------------------------------------------------------------

static bool same(const pons__masks *m, const struct stat *st)
{
    for (size_t i = 0; i < m->n_ids; i++) {
        if (m->ids[i].dev == st->st_dev && m->ids[i].ino == st->st_ino) {
            return true;
        }
    }
    return false;
}

static void add_id(walk *w, const struct stat *st, bool hidden)
{
    pons__masks *m = w->into;
    for (size_t i = 0; i < m->n_ids; i++) {
        if (m->ids[i].dev == st->st_dev && m->ids[i].ino == st->st_ino) {
            m->ids[i].hidden |= hidden;
            return;
        }
    }
    if (!pons_list_reserve(&m->ids, NULL, m->n_ids + 1, sizeof *m->ids)) {
        w->failed = true;
        return;
    }
    m->ids[m->n_ids++] = (pons__id){.dev = st->st_dev, .ino = st->st_ino, .hidden = hidden};
}

static void add_mask(walk *w, const char *path, const struct stat *st)
{
    pons__masks *m = w->into;
    if (!pons_list_reserve(&m->at, &m->room, m->n + 1, sizeof *m->at)) {
        w->failed = true;
        return;
    }
    char *own = strdup(path);
    w->failed |= !own;
    if (own) {
        m->at[m->n++] = (pons__mask){.path = own, .dir = S_ISDIR(st->st_mode)};
    }
}

// One entry. Returns whether it is a folder that is looked into, and *ret_guarded how.
static bool judge(walk *w, int dir, const char *name, const char *path, struct stat *st,
                  bool guarded, bool *ret_guarded)
{
    const pons_guard guard = pons__guard_of(w->core, path);
    *ret_guarded = guarded;
    if (S_ISLNK(st->st_mode)) {
        struct stat target;
        if (w->second || guard == PONS_GUARD_NONE) {
            return false;
        }
        if (fstatat(dir, name, &target, 0) == 0) {
            add_id(w, &target, guard == PONS_GUARD_HIDDEN); // as hidden as the link is
            w->linked = true;
        } else {
            w->into->dangling = true; // who makes what it leads to makes this file
        }
        return false;
    }
    if (w->second) {
        if (same(w->into, st) && guard == PONS_GUARD_NONE) {
            add_mask(w, path, st);
            return false;
        }
        return S_ISDIR(st->st_mode) && guard == PONS_GUARD_NONE;
    }
    const bool special = !S_ISREG(st->st_mode) && !S_ISDIR(st->st_mode);
    if ((guard != PONS_GUARD_NONE || special) && !guarded) {
        add_mask(w, path, st);
    }
    if (S_ISREG(st->st_mode) && st->st_nlink > 1) {
        w->linked = true;
        if (guard == PONS_GUARD_HIDDEN) {
            add_id(w, st, true);
        }
    }
    *ret_guarded = guarded || guard != PONS_GUARD_NONE;
    // Of .git nothing is hidden but by being there.
    return S_ISDIR(st->st_mode) && !(guard == PONS_GUARD_PROTECTED && strcmp(name, ".git") == 0);
}

// Takes the descriptor of the folder whose path is the first `len` bytes of w->path: one buffer for
// all, since a worker's stack is small. guarded: below something that is masked as a whole.
static void look(walk *w, int fd, size_t len, int depth, bool guarded)
{
    DIR *dir = fdopendir(fd);
    if (!dir) {
        close(fd);
        return;
    }
    if (depth > WALK_DEPTH) {
        w->too = "deep";
    }
    for (const struct dirent *d = readdir(dir); d && !w->too && !w->failed; d = readdir(dir)) {
        struct stat st;
        bool below;
        if (strcmp(d->d_name, ".") == 0 || strcmp(d->d_name, "..") == 0) {
            continue;
        }
        if (++w->entries > WALK_ENTRIES) {
            w->too = "many";
            break;
        }
        const int n =
            snprintf(w->path + len, sizeof w->path - len, "%s%s", len ? "/" : "", d->d_name);
        if (n < 0 || (size_t)n >= sizeof w->path - len) {
            w->too = "deep";
        } else if (fstatat(dirfd(dir), d->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
                   judge(w, dirfd(dir), d->d_name, w->path, &st, guarded, &below)) {
            const int sub =
                openat(dirfd(dir), d->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
            if (sub >= 0) {
                look(w, sub, len + (size_t)n, depth + 1, below);
            }
        }
        w->path[len] = '\0';
    }
    closedir(dir);
}

static int start(const pons__core *c)
{
    return openat(c->root_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

int pons__guards_walk(const pons__core *c, pons__masks *ret, pons_error *err)
{
    *ret = (pons__masks){0};
    walk w = {.core = c, .into = ret};
    int fd = start(c);
    if (fd >= 0) {
        look(&w, fd, 0, 0, false);
    }
    if (fd >= 0 && w.linked && ret->n_ids > 0 && !w.too && !w.failed) {
        w.second = true;
        w.entries = 0;
        fd = start(c);
        if (fd >= 0) {
            look(&w, fd, 0, 0, false);
        }
    }
    int rc = PONS_OK;
    if (fd < 0) {
        rc = pons_error_set(err, PONS_EIO, PONS__TOOLS, "cannot read %s: %s", c->workspace,
                            strerror(errno));
    } else if (w.failed) {
        rc = pons_error_set(err, PONS_ENOMEM, PONS__TOOLS, "no room to look through %s",
                            c->workspace);
    } else if (w.too) {
        rc = pons_error_set(err, PONS_EREFUSED, PONS__TOOLS,
                            strcmp(w.too, "many") == 0
                                ? "%s has more than %d entries: what is hidden in it cannot be "
                                  "masked in time"
                                : "the folders of %s are deeper than %d",
                            c->workspace, strcmp(w.too, "many") == 0 ? WALK_ENTRIES : WALK_DEPTH);
    }
    if (rc < 0) {
        pons__masks_fini(ret);
    }
    return rc;
}

void pons__masks_fini(pons__masks *m)
{
    for (size_t i = 0; i < m->n; i++) {
        free(m->at[i].path);
    }
    free(m->at);
    free(m->ids);
    *m = (pons__masks){0};
}

// ---- identity -----------------------------------------------------------------------------------

// Whether the walk of a moment ago has found this file under a hidden name, or a hidden link that
// leads to it. A second name that cannot be looked for, in too large a workspace, is taken for the
// worst.
static bool found(const pons__core *c, const struct stat *st, bool several)
{
    pons__core *own = (pons__core *)(uintptr_t)c; // the cache alone changes, under its lock
    pthread_mutex_lock(&own->links_mtx);
    const int64_t now = pons_now_ns(&c->clock);
    if (c->links_until_ns <= now || (several && c->links_sure_until_ns <= now)) {
        pons__masks m = {0};
        pons_error ignored = PONS_ERROR_INIT;
        own->links_known = pons__guards_walk(c, &m, &ignored) >= 0;
        free(own->links);
        own->links = m.ids;
        own->n_links = m.n_ids;
        own->links_sure_until_ns = now + FRESH_NS;
        // In a large workspace it takes a while: reading must not become looking.
        const int64_t end = pons_now_ns(&c->clock);
        own->links_until_ns = end + FRESH_NS + WALK_SHARE * (end - now);
        m.ids = NULL;
        pons__masks_fini(&m);
    }
    bool guarded = !c->links_known && several;
    for (size_t i = 0; i < c->n_links && !guarded; i++) {
        guarded =
            c->links[i].hidden && c->links[i].dev == st->st_dev && c->links[i].ino == st->st_ino;
    }
    pthread_mutex_unlock(&own->links_mtx);
    return guarded;
}

bool pons__guard_linked(const pons__core *c, const struct stat *st)
{
    return S_ISREG(st->st_mode) && found(c, st, st->st_nlink > 1);
}

// The names of the table in the workspace's root, and the links in its folders: no walk of the whole,
// so that a write in a large workspace does not wait.
bool pons__guard_target(const pons__core *c, const struct stat *st)
{
    pons__masks m = {0};
    walk w = {.core = c, .into = &m};
    bool guarded = false;
    for (size_t i = 0; i < c->n_patterns && !guarded; i++) {
        struct stat own;
        char name[PATH_MAX];
        const char *text = c->patterns[i].text;
        snprintf(name, sizeof name, "%s", strncmp(text, "**/", 3) == 0 ? text + 3 : text);
        char *star = strchr(name, '*');
        if (star && (star[1] || star == name)) {
            continue;
        }
        if (star) { // pons.db*
            *star = '\0';
        }
        const bool there = fstatat(c->root_fd, name, &own, 0) == 0;
        guarded = there && st
                      ? own.st_dev == st->st_dev && own.st_ino == st->st_ino
                      : !there && !st && fstatat(c->root_fd, name, &own, AT_SYMLINK_NOFOLLOW) == 0;
        if (there && S_ISDIR(own.st_mode) && strcmp(name, ".git") != 0) {
            const int fd = openat(c->root_fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
            if (fd >= 0) {
                look(&w, fd, (size_t)snprintf(w.path, sizeof w.path, "%s", name), 0, true);
            }
        }
    }
    guarded = guarded || (st ? same(&m, st) : m.dangling);
    pons__masks_fini(&m);
    return guarded;
}

// The path under which the kernel knows a descriptor, relative to the workspace.
bool pons__guard_real(const pons__core *c, int fd, char ret[PATH_MAX])
{
    char self[64], full[PATH_MAX];
    const size_t root = strlen(c->workspace);
    snprintf(self, sizeof self, "/proc/self/fd/%d", fd);
    const ssize_t n = readlink(self, full, sizeof full - 1);
    if (n < 0) {
        return false;
    }
    full[n] = '\0';
    if (strncmp(full, c->workspace, root) != 0 || (full[root] != '/' && full[root] != '\0')) {
        return false;
    }
    snprintf(ret, PATH_MAX, "%s", full[root] ? full + root + 1 : ".");
    return true;
}

// Whether a folder, or one above it in the workspace, is the same as one of the table's: a bind
// mount, or a name that a file system takes for another.
bool pons__guard_folder(const pons__core *c, int dir)
{
    struct stat root, st;
    bool guarded = false;
    int at = fcntl(dir, F_DUPFD_CLOEXEC, 0);
    if (at < 0 || fstat(c->root_fd, &root) < 0) {
        guarded = true; // not known
    }
    for (int up = 0; !guarded && up < WALK_DEPTH && fstat(at, &st) == 0 &&
                     (st.st_dev != root.st_dev || st.st_ino != root.st_ino);
         up++) {
        for (size_t i = 0; i < c->n_patterns && !guarded; i++) {
            struct stat own;
            const char *text = c->patterns[i].text;
            guarded = !strchr(text, '*') && fstatat(c->root_fd, text, &own, 0) == 0 &&
                      own.st_dev == st.st_dev && own.st_ino == st.st_ino;
        }
        const int next = openat(at, "..", O_PATH | O_DIRECTORY | O_CLOEXEC);
        close(at);
        at = next;
        if (at < 0) {
            return true;
        }
    }
    if (at >= 0) {
        close(at);
    }
    return guarded;
}
