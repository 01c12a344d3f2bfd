// place.c - a folder that others write in too: their edits taken in, ours written beside them.
//
// Everything that happens to a file goes through one loop, `settle`, under the file's lock:
//
//     read -> as we left it? --no--> merge: base (by its stamp), ours, theirs -> commands
//                  | yes                        |
//                  v                            v
//              our changes -------------> the new text: kept as a base, then exchanged with the file
//                                               |
//               done <-- what was expected -- what came out? -- something else -> it is theirs: again
//
// The old file is watched for two more seconds under .pons/old/: an editor that had it open and writes
// into it then wrote an edit too. A process that is killed anywhere leaves a base that is newer than the
// file (then the file is completed), or a text under .pons/ that no base is (then it is an edit).
#include "pons/memory.h"
#include "workspace/files/bases.h"
#include "workspace/files/disk.h"
#include "workspace/files/watch.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define WHERE          "workspace"
#define TRIES          50 // of a file that somebody keeps writing
#define QUIET_MS       50 // since the last write, before a text counts as whole
#define QUIET_TRIES    250
#define OLD_MS         2000  // how long a replaced file is watched
#define OLD_GIVE_UP_MS 60000 // when it cannot be read for so long, it is put aside
#define LOG_FILE       "LOG.md"

#define WRITES_MAX 16 // a second

typedef struct state {             // of a file
    int64_t writes_ms[WRITES_MAX]; // when the last changes were written, in a ring; 0: never
    size_t next_write;
    pons_ws_doc *newest;
    uint64_t generation;
    char suspended[PONS__WS_HASH]; // hash of the text that cannot be read; "": it can
    pons_buf *pending; // edits that wait: what came out instead of what was expected, written late
    size_t n_pending;
} state;

typedef struct old { // a file that was replaced
    char path[PATH_MAX];
    char hash[PONS__WS_HASH];
    pons_ws_file file;
    int64_t due_ms, until_ms;
} old;

struct pons_ws_place {
    char dir[PONS__WS_DIR_MAX];
    pons_ws_place_options o;
    state files[PONS_WS_FILES];
    pons__ws_watch *watch;
    old *olds;
    size_t n_olds;
    int64_t now_ms;
    pons_ws_file at; // for the merge's commands
    pons_ws_role as; // whose changes are being made
};

// patient: it may be half written, and is waited for.
static int settle(pons_ws_place *p, pons_ws_file file, const pons_ws_change *changes, size_t n,
                  bool patient, pons_error *err);

// ---- notices ------------------------------------------------------------------------------------

static void log_line(const pons_ws_place *p, const char *file, const char *text);

// A line of LOG.md, and the caller's.
static void notice(pons_ws_place *p, const char *file, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
static void notice(pons_ws_place *p, const char *file, const char *fmt, ...)
{
    pons_autobuf text = PONS_BUF_INIT;
    va_list ap;
    va_start(ap, fmt);
    pons_buf_vprintf(&text, fmt, ap);
    va_end(ap);
    log_line(p, file, text.data);
    if (p->o.notice) {
        p->o.notice(p->o.user, file, text.data);
    }
}

static void log_line(const pons_ws_place *p, const char *file, const char *text)
{
    pons_autobuf line = PONS_BUF_INIT;
    char path[PATH_MAX], when[32];
    const time_t now = time(NULL);
    struct tm tm;
    strftime(when, sizeof when, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &tm));
    pons_buf_printf(&line, "- %s %s: %s\n", when, file, text);
    snprintf(path, sizeof path, "%s/" LOG_FILE, p->dir);
    const int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd >= 0) {
        const ssize_t ignored = write(fd, line.data, line.len); // what it tells is in the store too
        (void)ignored;
        close(fd);
    }
}

void pons_ws_place_log(pons_ws_place *p, pons_ws_file file, const char *text)
{
    log_line(p, pons_ws_file_name(file), text);
}

static void on_command(void *user, const pons_ws_command *c)
{
    pons_ws_place *p = user;
    if (c->refused) {
        notice(p, pons_ws_file_name(p->at), "an edit of %s %s is put back: %s", c->kind, c->id,
               c->why);
    }
    if (p->o.command) {
        p->o.command(p->o.user, p->at, c);
    }
}

// Of this file's own: a clock that only goes on.
static int64_t clock_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

// ---- what is kept -------------------------------------------------------------------------------

static bool is_text(const pons_ws_doc *d, const pons_buf *text)
{
    size_t len;
    const char *is = d ? pons_ws_text(d, &len) : NULL;
    return is && len == text->len && memcmp(is, text->data, len) == 0;
}

static int set_newest(pons_ws_place *p, pons_ws_file file, const pons_buf *text,
                      uint64_t generation, pons_error *err)
{
    pons_ws_doc *doc = NULL;
    const int rc = pons_ws_read(file, text->data ? text->data : "", text->len,
                                pons_ws_file_name(file), &doc, err);
    if (rc == PONS_OK) {
        pons_ws_destroy(p->files[file].newest);
        p->files[file].newest = doc;
        p->files[file].generation = generation;
    }
    return rc;
}

// Another process may have written since.
static int refresh(pons_ws_place *p, pons_ws_file file)
{
    pons_autobuf text = PONS_BUF_INIT;
    uint64_t generation = 0;
    state *s = &p->files[file];
    if (pons__ws_base_load(p->dir, pons_ws_file_name(file), 0, &text, &generation, NULL) ==
            PONS_OK &&
        generation > s->generation) {
        return set_newest(p, file, &text, generation, NULL);
    }
    return PONS_OK;
}

static void add_pending(state *s, const pons_buf *text)
{
    s->pending = pons_need_more(s->pending, (s->n_pending + 1) * sizeof *s->pending);
    s->pending[s->n_pending] = (pons_buf)PONS_BUF_INIT;
    pons_buf_bytes(&s->pending[s->n_pending++], text->data, text->len);
}

static void drop_pending(state *s) // the first
{
    pons_buf_fini(&s->pending[0]);
    s->n_pending--;
    memmove(s->pending, s->pending + 1, s->n_pending * sizeof *s->pending);
}

static int role_of_editor(pons_ws_file file)
{
    const bool peoples =
        file == PONS_WS_EMBODIED || file == PONS_WS_TARGETS || file == PONS_WS_SKILLS;
    return peoples ? PONS_WS_BY_PERSON : PONS_WS_BY_PLANNER;
}

// ---- a file that was replaced -------------------------------------------------------------------

static void watch_old(pons_ws_place *p, pons_ws_file file, const char *path, const char *hash)
{
    p->olds = pons_need_more(p->olds, (p->n_olds + 1) * sizeof *p->olds);
    old *o = &p->olds[p->n_olds++];
    *o = (old){.file = file,
               .due_ms = p->now_ms + OLD_MS,
               .until_ms = p->now_ms + OLD_MS + OLD_GIVE_UP_MS};
    snprintf(o->path, sizeof o->path, "%s", path);
    snprintf(o->hash, sizeof o->hash, "%s", hash);
}

// Whether it is done with.
static bool look_at_old(pons_ws_place *p, old *o)
{
    pons_autobuf text = PONS_BUF_INIT;
    char hash[PONS__WS_HASH];
    pons_error err = PONS_ERROR_INIT;
    if (pons__ws_read_file(o->path, &text, &err) < 0) {
        return true;
    }
    pons__ws_hash(text.data, text.len, hash);
    if (strcmp(hash, o->hash) == 0) {
        unlink(o->path);
        return true;
    }
    // An editor wrote into it after all. What it wrote is looked at again, as it may go on.
    pons_ws_doc *d = NULL;
    const bool readable =
        text.len > 0 && pons_ws_read(o->file, text.data, text.len, "old", &d, &err) == PONS_OK;
    pons_ws_destroy(d);
    if (readable) {
        add_pending(&p->files[o->file], &text);
        if (settle(p, o->file, NULL, 0, true, &err) == PONS_OK) {
            snprintf(o->hash, sizeof o->hash, "%s", hash);
        }
    } else if (p->now_ms >= o->until_ms) {
        notice(p, pons_ws_file_name(o->file), "what was written late cannot be read; it is %s",
               o->path);
        return true;
    }
    o->due_ms = p->now_ms + OLD_MS;
    return false;
}

static void look_at_olds(pons_ws_place *p)
{
    size_t kept = 0;
    const size_t n = p->n_olds;
    old *olds = p->olds;
    p->olds = NULL; // settling adds others
    p->n_olds = 0;
    for (size_t i = 0; i < n; i++) {
        if (p->now_ms < olds[i].due_ms || !look_at_old(p, &olds[i])) {
            olds[kept++] = olds[i];
        }
    }
    for (size_t i = 0; i < kept; i++) {
        p->olds = pons_need_more(p->olds, (p->n_olds + 1) * sizeof *p->olds);
        p->olds[p->n_olds++] = olds[i];
    }
    free(olds);
}

// ---- one file -----------------------------------------------------------------------------------

// Reads the file when nobody has just written it: half of a text is no edit.
static int read_quiet(const char *path, const pons_ws_doc *known, bool patient, pons_buf *text,
                      pons_error *err)
{
    for (int i = 0;; i++) {
        struct stat st;
        struct timespec now;
        pons_buf_clear(text);
        const int rc = pons__ws_read_file(path, text, err);
        if (rc < 0 || is_text(known, text) || !patient || i == QUIET_TRIES || stat(path, &st) < 0) {
            return rc;
        }
        clock_gettime(CLOCK_REALTIME, &now);
        const int64_t age_ms =
            (now.tv_sec - st.st_mtim.tv_sec) * 1000 + (now.tv_nsec - st.st_mtim.tv_nsec) / 1000000;
        if (age_ms < 0 || age_ms >= QUIET_MS) {
            return rc;
        }
        usleep(2000);
    }
}

// What a killed process left: its own new text, or one that came out and was not looked at. The latter
// is an edit like one that was written late.
static void take_leftover(pons_ws_place *p, pons_ws_file file)
{
    char path[PATH_MAX], keep[PATH_MAX], hash[PONS__WS_HASH];
    pons_autobuf text = PONS_BUF_INIT;
    const char *name = pons_ws_file_name(file);
    snprintf(path, sizeof path, "%s/" PONS__WS_FOLDER "/%s.new", p->dir, name);
    if (access(path, F_OK) < 0 || pons__ws_read_file(path, &text, NULL) < 0 || text.len == 0 ||
        pons__ws_base_known(p->dir, name, text.data, text.len)) {
        return;
    }
    pons__ws_hash(text.data, text.len, hash);
    snprintf(keep, sizeof keep, "%s/" PONS__WS_FOLDER "/old/%s.%s.late", p->dir, name, hash);
    if (rename(path, keep) == 0) {
        watch_old(p, file, keep, "late");
    }
}

static int suspend(pons_ws_place *p, pons_ws_file file, const pons_buf *text, const pons_error *why)
{
    char hash[PONS__WS_HASH];
    pons__ws_hash(text->data, text->len, hash);
    state *s = &p->files[file];
    if (strcmp(s->suspended, hash) != 0) {
        snprintf(s->suspended, sizeof s->suspended, "%s", hash);
        notice(p, pons_ws_file_name(file), "%s: %s; the last good state holds, nothing is written",
               why->source, why->message);
    }
    return PONS_EBUSY;
}

// How many records differ.
static size_t distance(const pons_ws_doc *a, const pons_ws_doc *b)
{
    const pons_ws_doc *const docs[] = {a, b};
    size_t apart = 0, n;
    for (size_t k = 0; k < 2; k++) {
        const pons_ws_record *all = pons_ws_records(docs[k], &n);
        for (size_t i = 0; i < n; i++) {
            const pons_ws_record *other = pons_ws_find(docs[1 - k], all[i].kind, all[i].id);
            apart += !other || (k == 0 && !json_equal(other->value, all[i].value));
        }
    }
    return apart;
}

// Whether theirs has all that an edit had made of its base.
static bool goes_on(const pons_ws_doc *base, const pons_ws_doc *edit, const pons_ws_doc *theirs)
{
    size_t n = 0;
    const pons_ws_record *all = pons_ws_records(edit, &n);
    for (size_t i = 0; i < n; i++) {
        const pons_ws_record *was = pons_ws_find(base, all[i].kind, all[i].id);
        const pons_ws_record *is = pons_ws_find(theirs, all[i].kind, all[i].id);
        const bool made = !was || !json_equal(was->value, all[i].value);
        if (made && (!is || !json_equal(is->value, all[i].value))) {
            return false;
        }
    }
    return true;
}

// Somebody's edit of the base that was taken in already, and that they have gone on from: what it says is no
// command again. The nearest one; NULL: none.
static pons_ws_doc *taken_of(pons_ws_place *p, pons_ws_file file, const pons_ws_doc *base,
                             const pons_ws_doc *theirs)
{
    const char *name = pons_ws_file_name(file);
    pons_buf seen[PONS__WS_SEEN_MAX];
    pons_ws_doc *best = NULL;
    const size_t n = pons__ws_seen_load(p->dir, name, pons_ws_generation(theirs), seen);
    size_t least = n ? distance(base, theirs) : 0;
    for (size_t i = 0; i < n; i++) {
        pons_ws_doc *d = NULL;
        if (least && pons_ws_read(file, seen[i].data ? seen[i].data : "", seen[i].len, name, &d,
                                  NULL) == PONS_OK) {
            const size_t apart = distance(d, theirs);
            if (apart < least && goes_on(base, d, theirs)) {
                pons_ws_destroy(best);
                best = d;
                d = NULL;
                least = apart;
            }
        }
        pons_ws_destroy(d);
        pons_buf_fini(&seen[i]);
    }
    return best;
}

// Their text and what is ours since, as one.
static int take_theirs(pons_ws_place *p, pons_ws_file file, const pons_ws_doc *theirs,
                       uint64_t generation, pons_buf *out, pons_error *err)
{
    const state *s = &p->files[file];
    const char *name = pons_ws_file_name(file);
    const uint64_t stamp = pons_ws_generation(theirs);
    pons_autobuf text = PONS_BUF_INIT;
    pons_ws_doc *base = NULL;
    uint64_t is = 0;
    if (stamp && stamp != s->generation &&
        pons__ws_base_load(p->dir, name, stamp, &text, &is, NULL) == PONS_OK) {
        pons_ws_read(file, text.data, text.len, name, &base, NULL);
    }
    pons_ws_doc *taken = taken_of(p, file, base ? base : s->newest, theirs);
    pons_ws_merge m = {.role = (pons_ws_role)role_of_editor(file),
                       .generation = generation,
                       .taken = taken,
                       .no_deletions = !base && stamp != s->generation,
                       .command = on_command,
                       .user = p};
    p->at = file;
    const int rc = pons_ws_merge_docs(base ? base : s->newest, s->newest, theirs, &m, out, err);
    pons_ws_destroy(taken);
    if (rc == PONS_OK && m.clashes) {
        notice(p, pons_ws_file_name(file), "%zu places were changed by two: both are kept",
               m.clashes);
    }
    pons_ws_destroy(base);
    return rc;
}

// Of what a HAL observes, the entries of robots are theirs.
static int may_change(const pons_ws_place *p, pons_ws_role role, pons_ws_file file,
                      const pons_ws_change *c, const pons_value *before, pons_error *err)
{
    if (role == PONS_WS_BY_HAL && file == PONS_WS_ENVIRONMENT && p->o.robot_id &&
        strcmp(c->kind, "robot_state") == 0 && strcmp(c->id, p->o.robot_id) != 0) {
        return pons_error_set(err, PONS_EREFUSED, WHERE,
                              "the hal of %s may not change %s: it is another robot's",
                              p->o.robot_id, c->id);
    }
    return pons_ws_may_change(role, file, c->kind, before, c->value, err);
}

// Our changes, on a text.
static int put_changes(pons_ws_place *p, pons_ws_file file, const pons_buf *text,
                       const pons_ws_change *changes, size_t n, uint64_t generation, pons_buf *out,
                       pons_error *err)
{
    pons_ws_doc *doc = NULL;
    int rc = pons_ws_read(file, text->data ? text->data : "", text->len, pons_ws_file_name(file),
                          &doc, err);
    for (size_t i = 0; i < n && rc == PONS_OK; i++) {
        const pons_ws_record *r = pons_ws_find(doc, changes[i].kind, changes[i].id);
        rc = may_change(p, p->as, file, &changes[i], r ? r->value : NULL, err);
    }
    rc = rc < 0 ? rc : pons_ws_render(doc, changes, n, generation, out, err);
    pons_ws_destroy(doc);
    return rc;
}

// While it is ours still, its events are no edits.
static void note_own(const pons_ws_place *p, pons_ws_file file, const pons_buf *text)
{
    char path[PATH_MAX];
    pons_autobuf is = PONS_BUF_INIT;
    struct stat before, after;
    snprintf(path, sizeof path, "%s/%s", p->dir, pons_ws_file_name(file));
    if (p->watch && stat(path, &before) == 0 && pons__ws_read_file(path, &is, NULL) == PONS_OK &&
        stat(path, &after) == 0 && before.st_ino == after.st_ino && is.len == text->len &&
        memcmp(is.data, text->data, is.len) == 0) {
        pons__ws_watch_wrote(p->watch, file, &after);
    }
}

// The new text is kept, and takes the file's place. 1: something else came out, and is pending.
static int put_in_place(pons_ws_place *p, pons_ws_file file, const pons_buf *text,
                        uint64_t generation, const pons_buf *expect, pons_error *err)
{
    char keep[PATH_MAX], hash[PONS__WS_HASH];
    state *s = &p->files[file];
    const char *name = pons_ws_file_name(file);
    pons_autobuf came = PONS_BUF_INIT;
    int rc = pons__ws_base_save(p->dir, name, generation, text->data, text->len, err);
    pons__ws_hash(expect ? expect->data : "", expect ? expect->len : 0, hash);
    snprintf(keep, sizeof keep, "%s/" PONS__WS_FOLDER "/old/%s.%" PRIu64 ".%s", p->dir, name,
             generation, hash);
    rc =
        rc < 0 ? rc : pons__ws_swap(p->dir, name, text->data, text->len, !expect, keep, &came, err);
    if (rc < 0) {
        return rc;
    }
    rc = set_newest(p, file, text, generation, err);
    s->suspended[0] = '\0';
    if (rc < 0 || !expect) {
        return rc;
    }
    note_own(p, file, text);
    char came_hash[PONS__WS_HASH];
    pons__ws_hash(came.data, came.len, came_hash);
    watch_old(p, file, keep, came_hash);
    if (came.len == expect->len && memcmp(came.data, expect->data, came.len) == 0) {
        return PONS_OK;
    }
    add_pending(s, &came);
    return 1;
}

// The first time that a file is seen: as it is, with a stamp.
static int adopt(pons_ws_place *p, pons_ws_file file, const pons_buf *text, pons_error *err)
{
    state *s = &p->files[file];
    const int rc = set_newest(p, file, text, 0, err);
    if (rc < 0) {
        return suspend(p, file, text, err);
    }
    s->generation = pons_ws_generation(s->newest);
    s->suspended[0] = '\0';
    return pons__ws_base_save(p->dir, pons_ws_file_name(file), s->generation ? s->generation : 1,
                              text->data, text->len, err);
}

// An edit that is in what is written now is taken in: whoever goes on from it has edited it. Not before: who
// died in between would have forgotten it.
static void keep_seen(const pons_ws_place *p, const char *name, uint64_t stamp,
                      const pons_buf *took, int rc)
{
    pons_error err = PONS_ERROR_INIT; // without it an edit may be taken in twice
    if (rc >= 0 && took->len) {
        pons__ws_seen_save(p->dir, name, stamp, took->data, took->len, &err);
    }
}

// One round: what there is becomes what there is to be. 1: again.
static int round_of(pons_ws_place *p, pons_ws_file file, const pons_ws_change *changes, size_t n,
                    bool patient, bool *done, pons_error *err)
{
    state *s = &p->files[file];
    char path[PATH_MAX];
    pons_autobuf now = PONS_BUF_INIT, merged = PONS_BUF_INIT, next = PONS_BUF_INIT;
    pons_autobuf took = PONS_BUF_INIT; // of theirs, with this stamp
    uint64_t stamp = 0;
    const char *name = pons_ws_file_name(file);
    snprintf(path, sizeof path, "%s/%s", p->dir, name);
    int rc = read_quiet(path, s->newest, patient, &now, err);
    const bool missing = rc == PONS_ENOTFOUND;
    if (rc < 0 && !missing) {
        return rc;
    }
    if (missing && !s->newest && (*done || n == 0)) {
        return PONS_OK;
    }
    if (missing && !s->newest) {
        pons_ws_template(file, p->o.dialect, &now);
    } else if (missing) {
        notice(p, name, "it was taken away, and is put back");
    }
    if (!s->newest) {
        rc = adopt(p, file, &now, err);
        if (rc < 0) {
            return rc;
        }
    }
    const uint64_t generation = (s->generation ? s->generation : 1) + 1;
    size_t len;
    bool edited = !missing && !is_text(s->newest, &now);
    const pons_buf *theirs = edited ? &now : s->n_pending ? &s->pending[0] : NULL;
    if (theirs) {
        pons_ws_doc *d = NULL;
        if (pons_ws_read(file, theirs->data, theirs->len, name, &d, err) < 0) {
            if (edited) {
                return suspend(p, file, theirs, err);
            }
            drop_pending(s); // half of a text that came out; the whole comes by .pons/old
            return 1;
        }
        rc = take_theirs(p, file, d, generation, &merged, err);
        stamp = pons_ws_generation(d);
        pons_buf_bytes(&took, theirs->data, theirs->len);
        pons_ws_destroy(d);
        if (rc < 0) {
            return rc;
        }
        if (!edited) {
            drop_pending(s);
        }
    } else {
        const char *text = pons_ws_text(s->newest, &len);
        pons_buf_bytes(&merged, text, len);
    }
    const bool change = n > 0 && !*done;
    if (change) {
        rc = put_changes(p, file, &merged, changes, n, generation, &next, err);
        if (rc < 0) {
            return rc;
        }
    } else {
        pons_buf_bytes(&next, merged.data, merged.len);
    }
    const bool same = next.len == now.len && memcmp(next.data, now.data, now.len) == 0;
    if (same && !missing) { // an edit of a bare file, whose text is already what it is to be
        *done = true;
        rc = edited ? pons__ws_base_save(p->dir, name, generation, next.data, next.len, err)
                    : PONS_OK;
        rc = rc < 0 || !edited ? rc : set_newest(p, file, &next, generation, err);
        keep_seen(p, name, stamp, &took, rc);
        return rc < 0 ? rc : s->n_pending > 0;
    }
    rc = put_in_place(p, file, &next, generation, missing ? NULL : &now, err);
    keep_seen(p, name, stamp, &took, rc);
    *done = *done || rc >= 0;
    return rc < 0 ? rc : rc == 1 || s->n_pending > 0;
}

static int settle(pons_ws_place *p, pons_ws_file file, const pons_ws_change *changes, size_t n,
                  bool patient, pons_error *err)
{
    int lock = -1;
    bool done = false;
    int rc = pons__ws_lock(p->dir, pons_ws_file_name(file), &lock, err);
    if (rc < 0) {
        return rc;
    }
    refresh(p, file);
    take_leftover(p, file);
    for (int i = 0; i < TRIES; i++) {
        rc = round_of(p, file, changes, n, patient && i == 0, &done, err);
        if (rc == PONS_ESTALE) { // made or taken away between our look and our write
            continue;
        }
        if (rc != 1) {
            break;
        }
    }
    close(lock);
    return rc == 1 ? PONS_OK : rc; // somebody writes all the time: the next look goes on
}

// ---- public -------------------------------------------------------------------------------------

static void find_olds(pons_ws_place *p)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/" PONS__WS_FOLDER "/old", p->dir);
    DIR *d = opendir(path);
    for (struct dirent *e = d ? readdir(d) : NULL; e; e = readdir(d)) {
        for (int f = 0; f < PONS_WS_FILES; f++) {
            const char *name = pons_ws_file_name((pons_ws_file)f), *dot = strrchr(e->d_name, '.');
            char full[PATH_MAX];
            if (strncmp(e->d_name, name, strlen(name)) == 0 && dot) {
                snprintf(full, sizeof full, "%.*s/%s", PATH_MAX / 2, path, e->d_name);
                watch_old(p, (pons_ws_file)f, full, dot + 1);
            }
        }
    }
    if (d) {
        closedir(d);
    }
}

int pons_ws_place_open(const char *dir, const pons_ws_place_options *options, pons_ws_place **ret,
                       pons_error *err)
{
    if (strlen(dir) >= PONS__WS_DIR_MAX) {
        return pons_error_set(err, PONS_EINVAL, WHERE, "the folder's path is too long");
    }
    pons_ws_place *p = pons_need_zeroed(1, sizeof *p);
    p->o = *options;
    snprintf(p->dir, sizeof p->dir, "%s", dir);
    int rc = pons__ws_bases_open(p->dir, err);
    rc = rc < 0 ? rc : pons__ws_watch_open(p->dir, &p->watch, err);
    if (rc < 0) {
        pons_ws_place_close(p);
        return rc;
    }
    find_olds(p);
    for (int f = 0; f < PONS_WS_FILES; f++) {
        pons_error why = PONS_ERROR_INIT;
        settle(p, (pons_ws_file)f, NULL, 0, true, &why); // what cannot be read has been told
    }
    *ret = p;
    return PONS_OK;
}

void pons_ws_place_close(pons_ws_place *p)
{
    if (!p) {
        return;
    }
    for (int f = 0; f < PONS_WS_FILES; f++) {
        pons_ws_destroy(p->files[f].newest);
        while (p->files[f].n_pending) {
            drop_pending(&p->files[f]);
        }
        free(p->files[f].pending);
    }
    pons__ws_watch_close(p->watch);
    free(p->olds);
    free(p);
}

int pons_ws_place_fd(const pons_ws_place *p)
{
    return pons__ws_watch_fd(p->watch);
}

static void on_stranger(void *user, const char *name)
{
    notice(user, name, "a program that copies files left two versions; this one is not read");
}

int pons_ws_place_poll(pons_ws_place *p, int64_t now_ms)
{
    bool due[PONS_WS_FILES], whole[PONS_WS_FILES];
    p->now_ms = now_ms;
    int wait = pons__ws_watch_poll(p->watch, now_ms, due, whole, on_stranger, p);
    for (int f = 0; f < PONS_WS_FILES; f++) {
        pons_error err = PONS_ERROR_INIT;
        const int rc = due[f] ? settle(p, (pons_ws_file)f, NULL, 0, !whole[f], &err) : PONS_OK;
        if (rc < 0 && rc != PONS_EBUSY) {
            char line[1024];
            notice(p, pons_ws_file_name((pons_ws_file)f), "%s",
                   pons_error_line(&err, line, sizeof line));
        }
    }
    look_at_olds(p);
    for (size_t i = 0; i < p->n_olds; i++) {
        const int64_t in = p->olds[i].due_ms - now_ms;
        wait = in < wait ? (int)(in < 1 ? 1 : in) : wait;
    }
    return wait;
}

int pons_ws_place_look(pons_ws_place *p, pons_ws_file file, pons_error *err)
{
    return settle(p, file, NULL, 0, true, err);
}

const pons_ws_doc *pons_ws_place_doc(const pons_ws_place *p, pons_ws_file file)
{
    return p->files[file].newest;
}

bool pons_ws_place_suspended(const pons_ws_place *p, pons_ws_file file)
{
    return p->files[file].suspended[0] != '\0';
}

int pons_ws_place_change_as(pons_ws_place *p, pons_ws_role role, pons_ws_file file,
                            const pons_ws_change *changes, size_t n, pons_error *err)
{
    if (!pons_ws_may_write(role, file)) {
        return pons_error_set(err, PONS_EREFUSED, WHERE, "the %s may not write %s",
                              pons_ws_role_name(role), pons_ws_file_name(file));
    }
    if (!pons_ws_place_may_write(p, file)) {
        return pons_error_set(err, PONS_EAGAIN, WHERE, "%s was written %d times this second",
                              pons_ws_file_name(file), p->o.writes_per_s);
    }
    p->as = role;
    const int rc = settle(p, file, changes, n, true, err);
    state *s = &p->files[file];
    if (rc >= 0) {
        s->writes_ms[s->next_write++ % WRITES_MAX] = clock_ms();
    }
    return rc;
}

bool pons_ws_place_may_write(const pons_ws_place *p, pons_ws_file file)
{
    const state *s = &p->files[file];
    const size_t most = (size_t)(p->o.writes_per_s < WRITES_MAX ? p->o.writes_per_s : WRITES_MAX);
    if (p->o.writes_per_s <= 0 || s->next_write < most) {
        return true;
    }
    return clock_ms() - s->writes_ms[(s->next_write - most) % WRITES_MAX] >= 1000;
}

void pons_ws_place_unlimit(pons_ws_place *p)
{
    p->o.writes_per_s = 0;
}

int pons_ws_place_change(pons_ws_place *p, pons_ws_file file, const pons_ws_change *changes,
                         size_t n, pons_error *err)
{
    return pons_ws_place_change_as(p, p->o.role, file, changes, n, err);
}
