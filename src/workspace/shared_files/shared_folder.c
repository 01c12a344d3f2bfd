// shared_folder.c - a folder that others write in too: their edits taken in, ours written beside them.
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
// into it then wrote an edit too. It stays there until what it says is part of a generation.
//
// A generation is there when its base is: with it the edits that it took in (taken_edits.c), and its commands are
// told. A process that is killed anywhere leaves a base that is newer than the file (then the file is
// completed), or a text under .pons/ that no base is (then it is an edit).
#include "workspace/shared_files/shared_folder.h"

#include "pons/out_of_memory.h"
#include "workspace/shared_files/taken_edits.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define WHERE        "workspace"
#define TRIES        50           // of a file that somebody keeps writing
#define QUIET_MS     50           // since the last write, before a text counts as whole
#define UNREADABLE   "unreadable" // where the hash of a text that cannot be read would stand
#define QUIET_MAX_MS 500          // somebody who writes all the time is read all the same
#define AGAIN_MS     10           // after a look that somebody else's writing was in the way of

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
    ws_state *s = &p->files[file];
    if (pons__ws_base_load(p->dir, pons_ws_file_name(file), 0, &text, &generation, NULL) ==
            PONS_OK &&
        generation > s->generation) {
        s->takes = s->takes ? s->takes : json_array();
        pons__ws_takes_load(p->dir, pons_ws_file_name(file), s->generation, s->takes);
        return set_newest(p, file, &text, generation, NULL);
    }
    return PONS_OK;
}

static int role_of_editor(pons_ws_file file)
{
    const bool peoples = file == PONS_WS_EMBODIED || file == PONS_WS_TARGETS ||
                         file == PONS_WS_SKILLS || file == PONS_WS_SKILLRUNTIME;
    return peoples ? PONS_WS_BY_PERSON : PONS_WS_BY_PLANNER;
}

// ---- one file -----------------------------------------------------------------------------------

// Whether somebody has just written it, and not been doing so for all too long.
static bool is_restless(ws_state *s, const char *path)
{
    struct stat st;
    struct timespec now;
    if (stat(path, &st) < 0) {
        return false;
    }
    clock_gettime(CLOCK_REALTIME, &now);
    const int64_t age_ms =
        (now.tv_sec - st.st_mtim.tv_sec) * 1000 + (now.tv_nsec - st.st_mtim.tv_nsec) / 1000000;
    const bool young = age_ms >= 0 && age_ms < QUIET_MS; // below 0: a clock that was set
    s->restless_ms = !young ? 0 : s->restless_ms ? s->restless_ms : clock_ms();
    if (young && clock_ms() - s->restless_ms < QUIET_MAX_MS) {
        return true;
    }
    s->restless_ms = 0;
    return false;
}

// Reads the file when nobody has just written it: half of a text is no edit.
static int read_quiet(pons_ws_place *p, pons_ws_file file, const char *path, bool patient,
                      pons_buf *text, pons_error *err)
{
    ws_state *s = &p->files[file];
    for (;;) {
        pons_buf_clear(text);
        const int rc = pons__ws_read_file(path, text, err);
        if (rc < 0 || is_text(s->newest, text) || !patient || !is_restless(s, path)) {
            return rc;
        }
        if (p->o.no_wait) {
            return pons_error_set(err, PONS_EAGAIN, WHERE, "somebody is just writing %s",
                                  pons_ws_file_name(file));
        }
        usleep(2000);
    }
}

static bool is_suspended(const ws_state *s, const pons_buf *text)
{
    char hash[PONS__WS_HASH];
    if (!s->suspended[0]) {
        return false;
    }
    pons__ws_hash(text->data ? text->data : "", text->len, hash);
    return strcmp(s->suspended, hash) == 0;
}

static int suspend(pons_ws_place *p, pons_ws_file file, const pons_buf *text, const pons_error *why)
{
    ws_state *s = &p->files[file];
    if (!is_suspended(s, text)) {
        pons__ws_hash(text->data ? text->data : "", text->len, s->suspended);
        pons__ws_notice(p, pons_ws_file_name(file),
                        "%s: %s; the last good state holds, nothing is written", why->source,
                        why->message);
    }
    return PONS_EBUSY;
}

// Their text and what is ours since, as one.
static int take_theirs(pons_ws_place *p, pons_ws_file file, const pons_ws_doc *theirs,
                       uint64_t generation, pons_buf *out, pons_value **ret_took, pons_error *err)
{
    const ws_state *s = &p->files[file];
    const char *name = pons_ws_file_name(file);
    const uint64_t stamp = pons_ws_generation(theirs);
    pons_autobuf text = PONS_BUF_INIT;
    pons_ws_doc *base = NULL;
    uint64_t is = 0;
    if (stamp && stamp != s->generation &&
        pons__ws_base_load(p->dir, name, stamp, &text, &is, NULL) == PONS_OK) {
        pons_ws_read(file, text.data, text.len, name, &base, NULL);
    }
    pons_autovalue taken = pons__ws_takes_since(s->takes, stamp);
    pons_ws_merge m = {.role = (pons_ws_role)role_of_editor(file),
                       .generation = generation,
                       .taken = taken,
                       .no_deletions = !base && stamp != s->generation,
                       .command = pons__ws_on_command,
                       .user = p};
    const int rc = pons_ws_merge_docs(base ? base : s->newest, s->newest, theirs, &m, out, err);
    *ret_took = m.took;
    if (rc == PONS_OK && m.clashes) {
        pons__ws_notice(p, pons_ws_file_name(file), "%zu places were changed by two: both are kept",
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

typedef struct next { // a generation that is to be
    uint64_t generation;
    pons_buf text;
    const pons_buf *edit; // somebody's text that it takes in; NULL: none
    pons_value *took;     // what that made of records; NULL: nothing
} next;

static void remember_take(pons_ws_place *p, pons_ws_file file, const next *x)
{
    ws_state *s = &p->files[file];
    char hash[PONS__WS_HASH];
    if (x->edit && json_array_size(x->took)) {
        pons__ws_hash(x->edit->data ? x->edit->data : "", x->edit->len, hash);
        s->takes = s->takes ? s->takes : json_array();
        json_array_append_new(s->takes, pons_object("g", json_integer((json_int_t)x->generation),
                                                    "at", json_integer((json_int_t)time(NULL)),
                                                    "text", json_string(hash), "records",
                                                    pons_value_ref(x->took), NULL));
        pons__ws_takes_prune(s->takes, x->generation, pons__ws_oldest(p, file));
    }
}

// From here on it is there, with what it takes in; the file is made to say it.
static int keep_next(pons_ws_place *p, pons_ws_file file, const next *x, pons_error *err)
{
    const char *name = pons_ws_file_name(file);
    const int rc =
        x->edit && json_array_size(x->took)
            ? pons__ws_take_save(p->dir, name, x->generation, &x->text, x->edit, x->took, err)
            : PONS_OK;
    return rc < 0 ? rc
                  : pons__ws_base_save(p->dir, name, x->generation, x->text.data, x->text.len,
                                       pons__ws_oldest(p, file), err);
}

// It is this place's newest.
static int step_on(pons_ws_place *p, pons_ws_file file, const next *x, pons_error *err)
{
    const int rc = set_newest(p, file, &x->text, x->generation, err);
    p->files[file].suspended[0] = '\0';
    remember_take(p, file, x);
    pons__ws_tell(p, file, true);
    return rc;
}

// The new text is kept, and takes the file's place. 1: something else came out, and is pending. An error:
// nothing has changed.
static int put_in_place(pons_ws_place *p, pons_ws_file file, const next *x, const pons_buf *expect,
                        pons_error *err)
{
    char keep[PATH_MAX], hash[PONS__WS_HASH];
    ws_state *s = &p->files[file];
    const char *name = pons_ws_file_name(file);
    const pons_buf *text = &x->text;
    pons_autobuf came = PONS_BUF_INIT;
    bool kept = true;
    int rc = keep_next(p, file, x, err);
    if (rc < 0) {
        return rc;
    }
    pons__ws_hash(expect ? expect->data : "", expect ? expect->len : 0, hash);
    snprintf(keep, sizeof keep, "%s/" PONS__WS_FOLDER "/old/%s.%" PRIu64 ".%s", p->dir, name,
             x->generation, hash);
    rc = pons__ws_swap(p->dir, name, text->data, text->len, !expect, keep, &came, &kept, err);
    if (rc < 0) {
        pons__ws_base_drop(p->dir, name, x->generation, text->data, text->len);
        return rc;
    }
    rc = step_on(p, file, x, err);
    s->leftover = !kept;
    if (rc < 0 || !expect || !kept) {
        return rc;
    }
    note_own(p, file, text);
    char came_hash[PONS__WS_HASH];
    pons__ws_hash(came.data ? came.data : "", came.len, came_hash);
    pons__ws_old_watch(p, file, keep, came_hash);
    if (came.len == expect->len && memcmp(came.data, expect->data, came.len) == 0) {
        return PONS_OK;
    }
    pons__ws_pending_add(s, &came, keep);
    return 1;
}

// The first time that a file is seen: as it is, with a stamp.
static int adopt(pons_ws_place *p, pons_ws_file file, const pons_buf *text, pons_error *err)
{
    ws_state *s = &p->files[file];
    const int rc = set_newest(p, file, text, 0, err);
    if (rc < 0) {
        return suspend(p, file, text, err);
    }
    s->generation = pons_ws_generation(s->newest);
    s->suspended[0] = '\0';
    return pons__ws_base_save(p->dir, pons_ws_file_name(file), s->generation ? s->generation : 1,
                              text->data, text->len, pons__ws_oldest(p, file), err);
}

// The text as it is to be: theirs and ours, and our changes. 1: there is more to be looked at first.
static int make_next(pons_ws_place *p, pons_ws_file file, const pons_buf *edited,
                     const pons_ws_change *changes, size_t n, next *x, pons_error *err)
{
    ws_state *s = &p->files[file];
    pons_autobuf merged = PONS_BUF_INIT;
    x->edit = edited ? edited : s->n_pending ? &s->pending[0].text : NULL;
    int rc = PONS_OK;
    if (x->edit) {
        pons_ws_doc *d = NULL;
        const char *text = x->edit->data ? x->edit->data : "";
        if (pons_ws_read(file, text, x->edit->len, pons_ws_file_name(file), &d, err) < 0) {
            if (edited) {
                return suspend(p, file, edited, err);
            }
            pons__ws_old_forget(p, s->pending[0].path);
            pons__ws_pending_drop(s);
            return 1;
        }
        if (!edited && pons__ws_takes_has(s->takes, pons_ws_generation(d), x->edit)) {
            pons__ws_pending_drop(s);
            rc = 1;
        } else {
            rc = take_theirs(p, file, d, x->generation, &merged, &x->took, err);
        }
        pons_ws_destroy(d);
    } else {
        size_t len;
        const char *text = pons_ws_text(s->newest, &len);
        pons_buf_bytes(&merged, text, len);
    }
    if (rc == PONS_OK && n > 0) {
        rc = put_changes(p, file, &merged, changes, n, x->generation, &x->text, err);
    } else if (rc == PONS_OK) {
        pons_buf_bytes(&x->text, merged.data, merged.len);
    }
    return rc;
}

static int read_now(pons_ws_place *p, pons_ws_file file, bool patient, pons_buf *now,
                    pons_error *err)
{
    ws_state *s = &p->files[file];
    char path[PATH_MAX], line[1024];
    const char *name = pons_ws_file_name(file);
    snprintf(path, sizeof path, "%s/%s", p->dir, name);
    const int rc = read_quiet(p, file, path, patient, now, err);
    if (rc < 0 && rc != PONS_ENOTFOUND && rc != PONS_EAGAIN &&
        strcmp(s->suspended, UNREADABLE) != 0) { // no file, or too large
        snprintf(s->suspended, sizeof s->suspended, UNREADABLE);
        pons__ws_notice(p, name, "%s%s", pons_error_line(err, line, sizeof line),
                        s->newest ? "; the last good state holds, nothing is written" : "");
    }
    return rc;
}

// The first state, where there is none yet.
static int begin(pons_ws_place *p, pons_ws_file file, bool missing, pons_buf *now, pons_error *err)
{
    if (p->files[file].newest) {
        if (missing) {
            pons__ws_notice(p, pons_ws_file_name(file), "it was taken away, and is put back");
        }
        return PONS_OK;
    }
    if (missing) {
        pons_ws_template(file, p->o.dialect, now);
    }
    return adopt(p, file, now, err);
}

// Puts x into the file. now: what is there; NULL: no file. 1: again.
static int put_next(pons_ws_place *p, pons_ws_file file, next *x, const pons_buf *now,
                    pons_error *err)
{
    const bool same = now && x->text.len == now->len &&
                      (now->len == 0 || memcmp(x->text.data, now->data, now->len) == 0);
    if (!same) {
        return put_in_place(p, file, x, now, err);
    }
    if (!x->edit) { // as it was before it could not be read
        p->files[file].suspended[0] = '\0';
        return PONS_OK;
    }
    // An edit of a bare file, whose text is already what it is to be.
    const int rc = keep_next(p, file, x, err);
    return rc < 0 ? rc : step_on(p, file, x, err);
}

// One round: what there is becomes what there is to be. 1: again.
static int round_of(pons_ws_place *p, pons_ws_file file, const pons_ws_change *changes, size_t n,
                    bool patient, bool *done, pons_error *err)
{
    ws_state *s = &p->files[file];
    pons_autobuf now = PONS_BUF_INIT;
    int rc = read_now(p, file, patient, &now, err);
    const bool missing = rc == PONS_ENOTFOUND;
    if (rc < 0 && !missing) {
        return rc;
    }
    const size_t n_due = *done ? 0 : n;
    if (missing && !s->newest && n_due == 0) {
        return PONS_OK;
    }
    if (n == 0 && is_suspended(s, &now)) { // it was read once, and is as it was
        return pons_error_set(err, PONS_EBUSY, WHERE, "%s cannot be read as it is",
                              pons_ws_file_name(file));
    }
    rc = begin(p, file, missing, &now, err);
    if (rc < 0) {
        return rc;
    }
    next x = {.generation = (s->generation ? s->generation : 1) + 1};
    const bool edited = !missing && !is_text(s->newest, &now);
    bool again = false;
    rc = make_next(p, file, edited ? &now : NULL, changes, n_due, &x, err);
    if (rc == PONS_OK) {
        rc = put_next(p, file, &x, missing ? NULL : &now, err);
    } else {
        again = rc == 1;
    }
    if (!again && rc >= 0) {
        *done = true;
        if (x.edit && !edited) {
            pons__ws_pending_drop(s);
        }
        rc = s->n_pending > 0 && !s->leftover;
    }
    pons__ws_tell(p, file, false); // of a generation that did not come about
    pons_buf_fini(&x.text);
    pons_value_unref(x.took);
    return rc;
}

// patient: it may be half written, and is waited for.
static int settle(pons_ws_place *p, pons_ws_file file, const pons_ws_change *changes, size_t n,
                  bool patient, pons_error *err)
{
    int lock = -1;
    bool done = false;
    int rc = pons__ws_lock(p->dir, pons_ws_file_name(file), p->o.no_wait ? 0 : PONS__WS_LOCK_MS,
                           &lock, err);
    if (rc < 0) {
        return rc;
    }
    refresh(p, file);
    pons__ws_leftover(p, file);
    p->files[file].leftover = false;
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
    pons__ws_olds_find(p);
    p->o.no_wait = false; // nothing runs yet
    for (int f = 0; f < PONS_WS_FILES; f++) {
        pons_error why = PONS_ERROR_INIT;
        settle(p, (pons_ws_file)f, NULL, 0, true,
               &why); // what cannot be read has been told
    }
    p->o.no_wait = options->no_wait;
    *ret = p;
    return PONS_OK;
}

bool pons_ws_place_seen(const pons_ws_place *p, const char *what, char *ret_line, size_t cap)
{
    *ret_line = '\0';
    return !p->o.seen || p->o.seen(p->o.user, what, ret_line, cap);
}

void pons_ws_place_close(pons_ws_place *p)
{
    if (!p) {
        return;
    }
    for (int f = 0; f < PONS_WS_FILES; f++) {
        pons_ws_destroy(p->files[f].newest);
        while (p->files[f].n_pending) {
            pons__ws_pending_drop(&p->files[f]);
        }
        free(p->files[f].pending);
        pons_value_unref(p->files[f].takes);
    }
    for (size_t i = 0; i < p->n_olds; i++) {
        free(p->olds[i]);
    }
    free(p->commands);
    pons__ws_watch_close(p->watch);
    free(p->olds);
    free(p);
}

int pons_ws_place_fd(const pons_ws_place *p)
{
    return pons__ws_watch_fd(p->watch);
}

static void settle_late(pons_ws_place *p, pons_ws_file file)
{
    pons_error ignored = PONS_ERROR_INIT; // it stays pending
    settle(p, file, NULL, 0, true, &ignored);
}

static void on_stranger(void *user, const char *name)
{
    pons__ws_notice(user, name, "%s", pons_ws_stranger(name));
}

int pons_ws_place_poll(pons_ws_place *p, int64_t now_ms)
{
    bool due[PONS_WS_FILES], whole[PONS_WS_FILES];
    p->now_ms = now_ms;
    int wait = pons__ws_watch_poll(p->watch, now_ms, due, whole, on_stranger, p);
    for (int f = 0; f < PONS_WS_FILES; f++) {
        pons_error err = PONS_ERROR_INIT;
        const int rc = due[f] ? settle(p, (pons_ws_file)f, NULL, 0, !whole[f], &err) : PONS_OK;
        if (rc == PONS_EAGAIN) {
            pons__ws_watch_again(p->watch, (pons_ws_file)f, now_ms);
            wait = wait < AGAIN_MS ? wait : AGAIN_MS;
        } else if (rc < 0 && rc != PONS_EBUSY) {
            char line[1024];
            pons__ws_notice(p, pons_ws_file_name((pons_ws_file)f), "%s",
                            pons_error_line(&err, line, sizeof line));
        }
    }
    pons__ws_olds_look(p, settle_late);
    for (size_t i = 0; i < p->n_olds; i++) {
        const int64_t in = p->olds[i]->due_ms - now_ms;
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
    ws_state *s = &p->files[file];
    if (rc >= 0) {
        s->writes_ms[s->next_write++ % PONS__WS_WRITES] = clock_ms();
    }
    return rc;
}

bool pons_ws_place_may_write(const pons_ws_place *p, pons_ws_file file)
{
    const ws_state *s = &p->files[file];
    const size_t most =
        (size_t)(p->o.writes_per_s < PONS__WS_WRITES ? p->o.writes_per_s : PONS__WS_WRITES);
    if (p->o.writes_per_s <= 0 || s->next_write < most) {
        return true;
    }
    return clock_ms() - s->writes_ms[(s->next_write - most) % PONS__WS_WRITES] >= 1000;
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
