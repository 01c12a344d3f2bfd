// undo_versions.c - run/undo: what files were before write_file and edit_file wrote them.
//
//     run/undo/000000000042.bytes   the file before, whole; absent when there was none
//     run/undo/000000000042.json    {path, tool, before, after, mode, at_ms}: hashes of both
//     run/undo/lost-000000000042    what an undo by force threw away
//
// Both are synced before the file is written, so a write that anybody can see can be taken back. An
// entry whose file still has (or has again) the hash `before` stands for no change: the write did not
// come about, and the entry is dropped when somebody undoes. An undo marks its entry first, puts the
// old text in place, and removes the entry: cut short, the next one finishes it, and that counts.
//
// An undo refuses a file that is neither as it was written nor as it was before, and looks at all
// steps before it takes the first. Whoever keeps or undoes has a lock on the folder.
#include "tools/undo_versions.h"

#include "pons/growing_list.h"
#include "pons/value.h"
#include "tools/core/path.h"
#include "tools/core/read_write_guards.h"
#include "tools/core/whole_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#define KEEP      500                 // entries
#define KEEP_SIZE (256 * 1024 * 1024) // bytes of all of them
#define FOLDER    "run/undo"
#define META_MAX  (64 * 1024)
#define NAME_SIZE 64

typedef struct entries { // ascending
    int64_t *at;
    size_t n, room;
    int64_t bytes;
} entries;

static int name_of(int64_t seq, const char *suffix, char ret[NAME_SIZE])
{
    return snprintf(ret, NAME_SIZE, "%012" PRId64 ".%s", seq, suffix);
}

// ---- keeping ------------------------------------------------------------------------------------

// Made where it is missing, and locked: closing it gives it back.
static int open_folder(const pons__core *c, pons_error *err)
{
    const int run =
        mkdirat(c->state_fd, "run", 0700) < 0 && errno != EEXIST
            ? -1
            : openat(c->state_fd, "run", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    int dir = -1;
    if (run >= 0) {
        char name[sizeof "undo" + sizeof c->tag];
        snprintf(name, sizeof name, "undo%s", c->tag);
        const bool made = mkdirat(run, name, 0700) == 0;
        if (made) {
            fsync(run);
        }
        dir = openat(run, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        const int saved = errno;
        close(run);
        errno = saved;
    }
    if (dir < 0 || flock(dir, LOCK_EX) < 0) {
        pons_error_set(err, PONS_EENV, PONS__TOOLS, "cannot open %s/" FOLDER ": %s", c->state,
                       strerror(errno));
        if (dir >= 0) {
            close(dir);
        }
        return PONS_EENV;
    }
    return dir;
}

static int ascending(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return x < y ? -1 : x > y;
}

static int scan(int dir, entries *ret, pons_error *err)
{
    const int own = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *d = own < 0 ? NULL : fdopendir(own);
    if (!d) {
        return pons_error_set(err, PONS_EIO, PONS__TOOLS, "cannot read " FOLDER ": %s",
                              strerror(errno));
    }
    int rc = PONS_OK;
    for (const struct dirent *e = readdir(d); e && rc >= 0; e = readdir(d)) {
        char *end = NULL;
        const int64_t seq = strtoll(e->d_name, &end, 10);
        struct stat st;
        if (seq <= 0 || end != e->d_name + 12) {
            continue;
        }
        if (strcmp(end, ".bytes") == 0 && fstatat(dir, e->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0) {
            ret->bytes += st.st_size;
        } else if (strcmp(end, ".json") == 0) {
            if (!pons_list_reserve(&ret->at, &ret->room, ret->n + 1, sizeof *ret->at)) {
                rc = pons_error_set(err, PONS_ENOMEM, PONS__TOOLS, "no room for " FOLDER);
                break;
            }
            ret->at[ret->n++] = seq;
        }
    }
    closedir(d);
    if (ret->n > 0) {
        qsort(ret->at, ret->n, sizeof *ret->at, ascending);
    }
    return rc;
}

static void forget(int dir, int64_t seq)
{
    char name[NAME_SIZE];
    name_of(seq, "json", name);
    unlinkat(dir, name, 0);
    name_of(seq, "bytes", name);
    unlinkat(dir, name, 0);
}

// A file of the folder, whole and durable, whether it was there or not.
static int put(int dir, const char *name, const void *bytes, size_t n, pons_error *err)
{
    unlinkat(dir, name, 0);
    return pons__place_put(dir, name, bytes, n, NULL, 0, NULL, err);
}

int pons__versions_keep(const pons__core *c, const pons__version *v, pons_error *err)
{
    entries all = {0};
    char name[NAME_SIZE];
    const int dir = open_folder(c, err);
    int rc = dir < 0 ? dir : scan(dir, &all, err);
    if (rc >= 0) {
        const int64_t seq = all.n > 0 ? all.at[all.n - 1] + 1 : 1;
        for (size_t i = 0; i < all.n && (all.n - i >= KEEP || all.bytes > KEEP_SIZE); i++) {
            struct stat st;
            name_of(all.at[i], "bytes", name);
            all.bytes -= fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0 ? st.st_size : 0;
            forget(dir, all.at[i]);
        }
        pons_autovalue meta =
            pons_object("path", json_string(v->path), "tool", json_string(v->tool), "before",
                        v->before ? json_string(v->before) : json_null(), "after",
                        json_string(v->after), "mode", json_integer((json_int_t)v->mode), "at_ms",
                        json_integer(pons_wall_ms(&c->clock)), NULL);
        char *text = NULL;
        const long n = pons_value_line(meta, &text);
        rc = n < 0 ? pons_error_set(err, PONS_ENOMEM, PONS__TOOLS, "no room to keep a version")
                   : PONS_OK;
        if (rc >= 0 && v->before) {
            name_of(seq, "bytes", name);
            rc = put(dir, name, v->old, v->n_old, err);
        }
        name_of(seq, "json", name);
        rc = rc < 0 ? rc : put(dir, name, text, (size_t)n, err);
        free(text);
    }
    free(all.at);
    if (dir >= 0) {
        close(dir);
    }
    return rc;
}

// ---- undoing ------------------------------------------------------------------------------------

static int load(int dir, int64_t seq, pons_value **ret, pons_error *err)
{
    char name[NAME_SIZE];
    struct stat st;
    pons_autobuf text = PONS_BUF_INIT;
    name_of(seq, "json", name);
    int rc = pons__place_read(dir, name, META_MAX, &text, &st, err);
    rc = rc < 0 ? rc : pons_value_parse(text.data ? text.data : "", text.len, ret, err);
    if (rc >= 0 && (!pons_get_str(*ret, "path", NULL) || !pons_get_str(*ret, "after", NULL))) {
        pons_value_unref(*ret);
        rc = pons_error_set(err, PONS_ECORRUPT, PONS__TOOLS, FOLDER "/%s is no entry", name);
    }
    return rc;
}

// The hash of a file ("" when there is none), as `known` has it: what is on disk at first, and what an
// undo makes of it then.
static int hash_now(const pons__core *c, const char *path, pons_value *known, const char **ret,
                    pons_error *err)
{
    *ret = pons_get_str(known, path, NULL);
    if (*ret) {
        return PONS_OK;
    }
    pons_autobuf text = PONS_BUF_INIT;
    struct stat st;
    char hash[65] = "";
    pons_error why = PONS_ERROR_INIT;
    const int dir = pons__place_folder(c, path, false, &why);
    int rc = dir < 0 ? dir : pons__place_read(dir, path, PONS__VERSION_MAX, &text, &st, &why);
    if (dir >= 0) {
        close(dir);
    }
    if (rc >= 0) {
        pons__place_hash(text.data, text.len, hash);
    } else if (rc ==
               PONS_EREFUSED) { // a folder, a link, something huge: surely not what was written
        snprintf(hash, sizeof hash, "?");
    } else if (rc != PONS_ENOTFOUND) {
        *err = why;
        return rc;
    }
    json_object_set_new(known, path, json_string(hash));
    *ret = pons_get_str(known, path, "");
    return PONS_OK;
}

int pons__versions_list(const pons__core *c, pons_value **ret, pons_error *err)
{
    entries all = {0};
    pons_value *list = json_array();
    pons_autovalue known = json_object();
    const int dir = open_folder(c, err);
    int rc = dir < 0 ? dir : scan(dir, &all, err);
    for (size_t i = all.n; i-- > 0 && rc >= 0;) {
        pons_autovalue meta = NULL;
        const char *now = "";
        rc = load(dir, all.at[i], &meta, err);
        const char *path = pons_get_str(meta, "path", ""),
                   *before = pons_get_str(meta, "before", "");
        rc = rc < 0 ? rc : hash_now(c, path, known, &now, err);
        if (rc < 0 || strcmp(now, before) == 0) {
            continue;
        }
        const bool changed = strcmp(now, pons_get_str(meta, "after", "")) != 0;
        json_array_append_new(list, pons_object("path", json_string(path), "tool",
                                                pons_value_ref(pons_get(meta, "tool")), "at_ms",
                                                pons_value_ref(pons_get(meta, "at_ms")), "created",
                                                json_boolean(!*before), "changed",
                                                json_boolean(changed), NULL));
        json_object_set_new(known, path, json_string(before)); // as older entries would find it
    }
    free(all.at);
    if (dir >= 0) {
        close(dir);
    }
    if (rc < 0) {
        pons_value_unref(list);
        return rc;
    }
    *ret = list;
    return PONS_OK;
}

// Which entries `steps` undoes take back, newest first: {seq, meta, drop}. Refuses as a whole.
static int plan(const pons__core *c, int dir, const entries *all, size_t steps, bool force,
                pons_value *todo, pons_error *err)
{
    pons_autovalue known = json_object();
    size_t found = 0;
    int rc = PONS_OK;
    for (size_t i = all->n; i-- > 0 && found < steps && rc >= 0;) {
        pons_autovalue meta = NULL;
        const char *now = "";
        rc = load(dir, all->at[i], &meta, err);
        const char *path = pons_get_str(meta, "path", ""),
                   *before = pons_get_str(meta, "before", "");
        rc = rc < 0 ? rc : hash_now(c, path, known, &now, err);
        if (rc < 0) {
            break;
        }
        const bool begun = pons_get_bool(meta, "undoing", false);
        const bool there = strcmp(now, before) == 0;
        if (!there && strcmp(now, pons_get_str(meta, "after", "")) != 0 && !force) {
            return pons_error_set(err, PONS_EREFUSED, PONS__TOOLS,
                                  "%.200s has been changed since %s wrote it: nothing was undone "
                                  "(force undoes it, and keeps what is there now)",
                                  path, pons_get_str(meta, "tool", "a tool"));
        }
        found += !there || begun;
        json_array_append_new(todo, pons_object("seq", json_integer(all->at[i]), "meta",
                                                pons_value_ref(meta), "drop",
                                                json_boolean(there && !begun), NULL));
        json_object_set_new(known, path, json_string(before));
    }
    if (rc >= 0 && found < steps) {
        rc = found == 0
                 ? pons_error_set(err, PONS_ENOTFOUND, PONS__TOOLS, "there is nothing to undo")
                 : pons_error_set(err, PONS_ENOTFOUND, PONS__TOOLS,
                                  "there are only %zu writes to undo, not %zu", found, steps);
    }
    return rc;
}

// What was kept of a file before it was changed; nothing of a file that was new.
static int read_kept(int dir, int64_t seq, const pons_value *meta, pons_buf *ret, pons_error *err)
{
    struct stat st;
    char bytes[NAME_SIZE], hash[65];
    const char *before = pons_get_str(meta, "before", "");
    if (!*before) {
        return PONS_OK;
    }
    name_of(seq, "bytes", bytes);
    const int rc = pons__place_read(dir, bytes, PONS__VERSION_MAX, ret, &st, err);
    if (rc < 0) {
        return rc;
    }
    pons__place_hash(ret->data, ret->len, hash);
    return strcmp(hash, before) == 0 ? PONS_OK
                                     : pons_error_set(err, PONS_ECORRUPT, PONS__TOOLS,
                                                      FOLDER "/%s is not what was kept of %.200s",
                                                      bytes, pons_get_str(meta, "path", ""));
}

// Marks an entry as being undone: in place, so that the entry is never away.
static int mark_undoing(int dir, int64_t seq, const pons_value *meta, pons_error *err)
{
    char name[NAME_SIZE], fresh[NAME_SIZE], *text = NULL;
    pons_autovalue marked = json_copy((pons_value *)(uintptr_t)meta);
    json_object_set_new(marked, "undoing", json_true());
    const long n = pons_value_line(marked, &text);
    if (n < 0) {
        return pons_error_set(err, PONS_ENOMEM, PONS__TOOLS, "no room to undo");
    }
    name_of(seq, "json", name);
    snprintf(fresh, sizeof fresh, "mark-%012" PRId64, seq);
    int rc = put(dir, fresh, text, (size_t)n, err);
    free(text);
    if (rc >= 0 && renameat(dir, fresh, dir, name) < 0) {
        rc = pons_error_set(err, PONS_EIO, PONS__TOOLS, "cannot mark " FOLDER "/%s: %s", name,
                            strerror(errno));
    }
    return rc;
}

static int remove_file(int folder, const char *path, pons_error *err)
{
    const char *slash = strrchr(path, '/');
    const int sync = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int rc = PONS_OK;
    if (unlinkat(folder, slash ? slash + 1 : path, 0) < 0) {
        rc = pons_error_set(err, PONS_EIO, PONS__TOOLS, "cannot remove %.200s: %s", path,
                            strerror(errno));
    }
    if (sync >= 0) {
        fsync(sync);
        close(sync);
    }
    return rc;
}

// Puts the old bytes into the folder, or removes the file that was new. With force, what somebody has written
// since the change goes to the file lost.
static int replace_file(const pons__core *c, int folder, int dir, const pons_value *meta,
                        const pons_buf *old, bool force, const char *lost, bool *ret_lost,
                        pons_error *err)
{
    const char *path = pons_get_str(meta, "path", ""), *before = pons_get_str(meta, "before", "");
    pons_autobuf now = PONS_BUF_INIT;
    pons_error why = PONS_ERROR_INIT;
    struct stat st;
    char hash[65];
    if (pons__guard_folder(c, folder)) {
        return pons_error_set(err, PONS_EREFUSED, PONS__TOOLS,
                              "%.200s is protected by the configuration", path);
    }
    const int there = pons__place_read(folder, path, PONS__VERSION_MAX, &now, &st, &why);
    if (there < 0 && there != PONS_ENOTFOUND) {
        *err = why;
        return there;
    }
    pons__place_hash(now.data, now.len, hash);
    const bool same = there >= 0 && strcmp(hash, before) == 0;
    if (there >= 0 && !same && strcmp(hash, pons_get_str(meta, "after", "")) != 0) {
        *ret_lost = force;
        const int rc = force ? put(dir, lost, now.data, now.len, err)
                             : pons_error_set(err, PONS_EBUSY, PONS__TOOLS,
                                              "%.200s has been changed at this moment", path);
        if (rc < 0) {
            return rc;
        }
    }
    if (*before && !same) {
        return pons__place_put(folder, path, old->data, old->len, there >= 0 ? &st : NULL,
                               (mode_t)pons_get_int(meta, "mode", 0600), NULL, err);
    }
    return !*before && there >= 0 ? remove_file(folder, path, err) : PONS_OK;
}

static int put_back(const pons__core *c, int dir, int64_t seq, const pons_value *meta, bool force,
                    pons_value **ret, pons_error *err)
{
    const char *path = pons_get_str(meta, "path", "");
    const bool existed = *pons_get_str(meta, "before", "") != '\0';
    pons_autobuf old = PONS_BUF_INIT;
    char lost[NAME_SIZE];
    bool is_lost = false;
    snprintf(lost, sizeof lost, "lost-%012" PRId64, seq);
    if (pons__path_protected(c, path)) {
        return pons_error_set(err, PONS_EREFUSED, PONS__TOOLS,
                              "%.200s is protected by the configuration", path);
    }
    int rc = read_kept(dir, seq, meta, &old, err);
    rc = rc < 0 ? rc : mark_undoing(dir, seq, meta, err);
    if (rc < 0) {
        return rc;
    }
    const int folder = pons__place_folder(c, path, existed, err);
    if (folder >= 0) {
        rc = replace_file(c, folder, dir, meta, &old, force, lost, &is_lost, err);
        close(folder);
    } else if (folder != PONS_ENOTFOUND) {
        rc = folder;
    }
    if (rc >= 0) {
        *ret = pons_object("path", json_string(path), "did",
                           json_string(existed ? "restored" : "removed"), "bytes",
                           json_integer((json_int_t)old.len), "lost",
                           is_lost ? json_sprintf(FOLDER "%s/%s", c->tag, lost) : NULL, NULL);
    }
    return rc;
}

int pons__versions_undo(const pons__core *c, size_t steps, bool force, pons_value **ret,
                        pons_error *err)
{
    entries all = {0};
    pons_autovalue todo = json_array();
    pons_value *done = json_array();
    const int dir = open_folder(c, err);
    int rc = dir < 0 ? dir : scan(dir, &all, err);
    rc = rc < 0 ? rc : plan(c, dir, &all, steps, force, todo, err);
    pons_each(item, todo) {
        const int64_t seq = pons_get_int(item, "seq", 0);
        pons_value *one = NULL;
        if (rc >= 0 && !pons_get_bool(item, "drop", false)) {
            rc = put_back(c, dir, seq, pons_get(item, "meta"), force, &one, err);
        }
        if (rc >= 0) {
            forget(dir, seq);
        }
        if (one) {
            json_array_append_new(done, one);
        }
    }
    if (dir >= 0) {
        fsync(dir);
        close(dir);
    }
    free(all.at);
    if (rc < 0) {
        pons_value_unref(done);
        return rc;
    }
    *ret = done;
    return PONS_OK;
}
