// ledger.c - the goal ledger.
//
// The file is JSON lines, one for each transition of a goal, appended and synced before the robot
// moves because of it (`held` goes to the disk with the next: nothing moves, and a power cut that takes it leaves a goal
// that is as unfinished):
//
//   {"goal_id":"9f…","args_hash":"c2…","skill":"navigate_to_pose","state":"accepted","ts_ms":…,
//    "boot_id":"…","robot_id":"pons-1","epoch":3,"thread":"t1","task_id":"k1","attempt":0}\n
//
//   accepted -> started -> done | failed | canceled        a terminal line also has error_code,
//                  | ^                                     error_msg and metrics, so that a result
//                  v |                                     which nobody heard can be asked for
//                held -> adopted
//
// A goal id has at most one `started` line, ever, in all boots: an append that would write a second
// one fails. In memory a goal is 16 bytes of an index (ledger_index.c): the key of its id, its state,
// and where its newest line is, which is read when somebody asks.
//
// Lines without a state are about the body itself, {"kind":"boot"|"latch"|"reset"|"repair"|"part",…}.
// Each start writes one, so a ledger is empty only where no body ever ran; and the last latch, reset
// or repair is a second witness of whether a protective stop is in force (body.c).
//
// Each line ends in a checksum (epoch_file.h). Lines of a version that wrote none pass at the beginning
// of the file only, before the first one that has it.
//
// A file that has grown to part_bytes is sealed: it becomes body.ledger.N, read only, and body.ledger
// begins anew with a line that carries over what the parts before it say.
//
//   1  body.ledger.new    {"kind":"part","after":N,"epoch":…,"latched":…}, synced
//   2  body.ledger.N      a second name of body.ledger
//   3  body.ledger.new    renamed over body.ledger, the directory synced
//   4  body.ledger.N.ids  the part's goals as the index has them (ledger_files.c), so that a start
//                         reads no old line; what is missing or damaged there is made from the lines
//
// A crash before 3 leaves body.ledger as it was: a second name of it is taken away at the next start.
// Sealed parts are removed when they are older than audit_ms and all together are larger than size
// bytes, the oldest first. Their .ids stay, for ever: a goal of them is known, with its state, and
// never started again; only its lines are gone.
//
// After a crash the end of the file may be torn: a line without its newline. It was not acknowledged
// to anybody and the robot had not moved because of it, so it is cut away and the goal's state is
// the line before. Any other bad line is damage, and the ledger says where rather than guessing.
// When a sync fails, what is on the disk is unknown and cannot be found out by trying again, so the
// ledger takes no more lines, and the body no more goals, until the next start.
#include "body/ledger/ledger.h"

#include "body/ledger/ledger_memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MODULE    "ledger"
#define LINES_MAX 2 // of one append

// ---- lines --------------------------------------------------------------------------------------

// A goal's newest line, borrowed until the next one is read. PONS_ENOTFOUND: its part was removed.
static int read_line(pons__ledger *l, const pons__place *p, const char *goal_id, uint64_t key,
                     pons_ledger_line *ret)
{
    int fd = l->fd;
    if (p->part != l->part) {
        char *name = l->path ? pons__part_path(l->path, p->part, false) : NULL;
        fd = name ? open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1;
        const bool gone = name && fd < 0 && errno == ENOENT;
        free(name);
        if (fd < 0) {
            return gone ? PONS_ENOTFOUND : PONS_EIO;
        }
    }
    pons__lines r;
    const char *text;
    size_t n;
    off_t at;
    bool whole = false;
    pons_value_unref(l->lent);
    l->lent = NULL;
    pons__lines_init(&r, fd, (off_t)p->at);
    int rc = pons__lines_next(&r, &text, &n, &at, &whole) == 1 && whole &&
                     pons__sum_check(text, n) != PONS__SUM_BAD &&
                     pons_value_parse(text, n, &l->lent, NULL) == PONS_OK &&
                     pons_ledger_line_decode(l->lent, ret, NULL) == PONS_OK &&
                     ret->state == p->state &&
                     (goal_id ? strcmp(ret->goal_id, goal_id) == 0
                              : pons__index_key(ret->goal_id) == key)
                 ? PONS_OK
                 : PONS_ECORRUPT;
    pons__lines_fini(&r);
    if (fd != l->fd) {
        close(fd);
    }
    return rc;
}

// ret_at: where each one lies.
static int write_lines(pons__ledger *l, pons_value *const *lines, size_t n, bool sync,
                       off_t *ret_at, pons_error *err)
{
    if (l->dead) {
        return pons_error_set(err, PONS_EIO, MODULE, "the ledger failed before; restart the body");
    }
    pons_autobuf block = PONS_BUF_INIT;
    for (size_t i = 0; i < n; i++) {
        ret_at[i] = l->size + (off_t)block.len;
        if (pons__ledger_keep_line(&block, lines[i]) < 0) {
            return pons__ledger_no_memory(err);
        }
    }
    if (pons__write_all(l->fd, (const char *)block.data, block.len, l->size) < 0) {
        const int rc = pons__io_error("cannot append to", l->path ? l->path : "the ledger", err);
        // Half a line in the middle of the file would be damage: take it back, or stop.
        l->dead = ftruncate(l->fd, l->size) < 0;
        return rc;
    }
    if (sync && l->path && fdatasync(l->fd) < 0) {
        l->dead = true;
        return pons__io_error("cannot sync", l->path, err);
    }
    l->size += (off_t)block.len;
    return PONS_OK;
}

// ---- public functions ---------------------------------------------------------------------------

int pons__ledger_open(const char *path, pons__ledger **ret, pons_error *err)
{
    pons__ledger *l = pons__ledger_create(path, err);
    if (!l) {
        return PONS_ENOMEM;
    }
    const int rc = path ? pons__ledger_load(l, err) : PONS_OK;
    if (rc < 0) {
        pons__ledger_close(l);
        return rc;
    }
    *ret = l;
    return PONS_OK;
}

void pons__ledger_bound(pons__ledger *l, const pons__ledger_bounds *bounds)
{
    l->bounds = *bounds;
    pons__ledger_seal_when_full(l);
    pons__ledger_forget_parts(l);
}

// All that needs memory comes before the write: what is on the disk is known.
static int append(pons__ledger *l, const pons_ledger_line *lines, size_t n, bool sync,
                  pons_error *err)
{
    pons_value *json[LINES_MAX] = {NULL};
    pons_ledger_line again[LINES_MAX];
    off_t at[LINES_MAX];
    bool ends = false;
    int rc = n > LINES_MAX ? pons_error_set(err, PONS_EINVAL, MODULE, "too many lines") : PONS_OK;
    for (size_t i = 0; rc == PONS_OK && i < n; i++) {
        json[i] = pons_ledger_line_encode(&lines[i]);
        rc = json[i] ? pons_ledger_line_decode(json[i], &again[i], err)
                     : pons__ledger_no_memory(err);
        if (rc == PONS_OK && again[i].state == PONS_GOAL_STARTED &&
            pons__ledger_started(l, again[i].goal_id)) {
            rc = pons_error_set(err, PONS_EEXIST, MODULE, "goal %s was started before",
                                again[i].goal_id);
        }
    }
    if (rc == PONS_OK && pons__index_reserve(&l->goals, n) < 0) {
        rc = pons__ledger_no_memory(err);
    }
    rc = rc < 0 ? rc : write_lines(l, json, n, sync, at, err);
    for (size_t i = 0; i < n && i < LINES_MAX; i++) {
        if (rc == PONS_OK) {
            pons__ledger_see_line(l, &again[i], l->part, at[i]);
            ends = ends || pons_goal_over((pons_goal_state)again[i].state);
        }
        pons_value_unref(json[i]);
    }
    if (ends) { // nobody waits for it
        pons__ledger_seal_when_full(l);
    }
    return rc;
}

int pons__ledger_append(pons__ledger *l, const pons_ledger_line *lines, size_t n, pons_error *err)
{
    return append(l, lines, n, true, err);
}

int pons__ledger_remark(pons__ledger *l, const pons_ledger_line *line, pons_error *err)
{
    return append(l, line, 1, false, err);
}

int pons__ledger_note(pons__ledger *l, const pons_ledger_note *note, pons_error *err)
{
    pons_ledger_note again;
    off_t at;
    pons_autovalue json = pons_ledger_note_encode(note);
    int rc = json ? pons_ledger_note_decode(json, &again, err) : pons__ledger_no_memory(err);
    rc = rc < 0 ? rc : write_lines(l, &json, 1, true, &at, err);
    if (rc == PONS_OK) {
        pons__ledger_see_note(l, &again);
        l->lines++;
    }
    return rc;
}

bool pons__ledger_find(pons__ledger *l, const char *goal_id, pons__ledger_entry *ret)
{
    const uint64_t key = pons__index_key(goal_id);
    pons__place p;
    if (!pons__index_get(&l->goals, key, &p)) {
        return false;
    }
    *ret = (pons__ledger_entry){.started = p.started};
    const int rc = read_line(l, &p, goal_id, key, &ret->line);
    ret->kept = rc == PONS_OK;
    ret->removed = rc == PONS_ENOTFOUND;
    if (!ret->kept) {
        ret->line = (pons_ledger_line){.goal_id = goal_id,
                                       .args_hash = "",
                                       .skill = "",
                                       .state = p.state,
                                       .boot_id = "",
                                       .robot_id = "",
                                       .thread = "",
                                       .task_id = "",
                                       .ended = pons_goal_over((pons_goal_state)p.state),
                                       .end = {.error_msg = "its line is no longer kept"}};
    }
    return true;
}

bool pons__ledger_started(const pons__ledger *l, const char *goal_id)
{
    pons__place p;
    return pons__index_get(&l->goals, pons__index_key(goal_id), &p) && p.started;
}

bool pons__ledger_dead(const pons__ledger *l)
{
    return l->dead;
}

size_t pons__ledger_torn(const pons__ledger *l)
{
    return l->torn;
}

int64_t pons__ledger_lines(const pons__ledger *l)
{
    return l->lines;
}

int64_t pons__ledger_plain(const pons__ledger *l)
{
    return l->plain;
}

int64_t pons__ledger_parts(const pons__ledger *l)
{
    return l->parts;
}

size_t pons__ledger_goals(const pons__ledger *l)
{
    return l->goals.n;
}

const pons__witness *pons__ledger_witness(const pons__ledger *l)
{
    return &l->last;
}

int pons__ledger_pace(const pons__ledger *l)
{
    return l->pace;
}

int64_t pons__ledger_epoch(const pons__ledger *l)
{
    return l->epoch;
}

// A goal whose line cannot be read may be of that boot; one whose line was removed is too old to be.
const char *pons__ledger_unfinished(pons__ledger *l, const char *boot_id)
{
    uint64_t key;
    pons__place p;
    for (size_t at = 0; pons__index_next(&l->goals, &at, &key, &p);) {
        pons_ledger_line line;
        if (!p.started || pons_goal_over((pons_goal_state)p.state)) {
            continue;
        }
        const int rc = read_line(l, &p, NULL, key, &line);
        if (rc < 0 ? rc != PONS_ENOTFOUND : !boot_id || strcmp(line.boot_id, boot_id) == 0) {
            snprintf(l->unfinished, sizeof l->unfinished, "%s", rc < 0 ? "?" : line.goal_id);
            return l->unfinished;
        }
    }
    return NULL;
}
