// restart.c - what the last body left, and what it means for the next one.
//
// A body starts unlatched only when it can prove that it may: the state is whole and says so, the
// ledger agrees, and no goal was left in the middle. What it finds, in this order:
//
//   body.epoch says latched                            its reason and origin go on
//   body.epoch is damaged                              unknown
//   body.epoch is missing, and the ledger has lines    unknown
//   the ledger's last word is a latch or a repair      that one's
//   body.epoch gave out epochs, and there is no ledger unknown
//   the body of body.epoch's boot id left a goal       boot
//   the ledger's last line was torn                    boot
//
// Only the origin `boot` may be lifted by auto_reset: sim, so what might hide a person's stop is
// `unknown`, and what a person latched stays a person's however often the body starts.
#include "body/core/body.h"
#include "pons/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define MODULE     "body"
#define COPIES_MAX 1000 // of damaged ledgers in one directory
#define LEDGER_MAX (1024UL * 1024UL * 1024UL)

static bool latch(pons__witness *ret, pons__origin origin, const char *reason)
{
    *ret = (pons__witness){.latched = true, .origin = origin};
    snprintf(ret->reason, sizeof ret->reason, "%s", reason);
    return true;
}

bool pons__boot_latched(pons__ledger *l, int state_rc, const pons__durable *d, pons__witness *ret)
{
    const pons__witness *said = pons__ledger_witness(l);
    if (state_rc == PONS_OK && d->latched) {
        return latch(ret, d->origin, d->reason);
    }
    if (state_rc != PONS_OK && state_rc != PONS_ENOTFOUND) {
        return latch(ret, PONS__ORIGIN_UNKNOWN, "boot: the latch's state (body.epoch) is damaged");
    }
    if (state_rc == PONS_ENOTFOUND && pons__ledger_lines(l) + (int64_t)pons__ledger_torn(l) > 0) {
        return latch(ret, PONS__ORIGIN_UNKNOWN, "boot: the latch's state (body.epoch) is missing");
    }
    if (said->latched) {
        return latch(ret, said->origin, said->reason);
    }
    if (state_rc == PONS_OK && d->epoch > 0 && pons__ledger_lines(l) == 0) {
        return latch(ret, PONS__ORIGIN_UNKNOWN, "boot: the ledger (body.ledger) is missing");
    }
    const char *goal_id = pons__ledger_unfinished(l, state_rc == PONS_OK ? d->boot_id : NULL);
    if (goal_id) {
        char reason[sizeof ret->reason];
        snprintf(reason, sizeof reason, "boot: the body had ended while goal %.36s was active",
                 goal_id);
        return latch(ret, PONS__ORIGIN_BOOT, reason);
    }
    if (pons__ledger_torn(l) > 0) {
        return latch(ret, PONS__ORIGIN_BOOT, "boot: the ledger's last line was torn");
    }
    *ret = (pons__witness){0};
    return false;
}

int pons__boot_taken(const pons__ledger *l, int state_rc, const pons__durable *d)
{
    // The slower of the two: a death between their writes is no word to be faster.
    const int said = pons__ledger_pace(l), reported = said > 0 ? 100 - said : 0;
    return state_rc == PONS_OK && d->taken_pct > reported ? d->taken_pct : reported;
}

// ---- without a body -----------------------------------------------------------------------------

static int path_in(const char *run_dir, const char *name, char *ret, size_t cap, pons_error *err)
{
    if (snprintf(ret, cap, "%s/%s", run_dir, name) < (int)cap) {
        return PONS_OK;
    }
    return pons_error_set(err, PONS_EINVAL, MODULE, "the run directory's path is too long");
}

int pons_body_verify(const char *run_dir, pons_body_files *ret, pons_error *err)
{
    char ledger[4096], state[4096];
    int rc = path_in(run_dir, "body.ledger", ledger, sizeof ledger, err);
    rc = rc < 0 ? rc : path_in(run_dir, "body.epoch", state, sizeof state, err);
    pons__ledger *l = NULL;
    rc = rc < 0 ? rc : pons__ledger_look(ledger, &l, err);
    if (rc < 0) {
        return rc;
    }
    pons__durable d = {0};
    pons__witness w;
    const int state_rc = pons__durable_load(state, &d, err);
    if (state_rc == PONS_EUNSUPPORTED) {
        pons__ledger_close(l);
        return state_rc;
    }
    pons_body_files f = {.lines = pons__ledger_lines(l),
                         .plain_lines = pons__ledger_plain(l),
                         .goals = (int64_t)pons__ledger_goals(l),
                         .parts = pons__ledger_parts(l),
                         .torn_bytes = (int64_t)pons__ledger_torn(l),
                         .state = state_rc};
    f.epoch = d.epoch;
    f.boots_latched = pons__boot_latched(l, f.state, &d, &w);
    snprintf(f.origin, sizeof f.origin, "%s", pons__origin_word(w.origin));
    snprintf(f.reason, sizeof f.reason, "%s", w.reason);
    pons__ledger_close(l);
    *ret = f;
    return PONS_OK;
}

static int keep_copy(const char *path, const char *text, size_t n, char *ret, size_t cap,
                     pons_error *err)
{
    for (int i = 1; i <= COPIES_MAX; i++) {
        if (snprintf(ret, cap, "%s.damaged-%d", path, i) >= (int)cap) {
            return pons_error_set(err, PONS_EINVAL, MODULE, "the copy's path is too long");
        }
        const int fd = open(ret, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        if (fd < 0 && errno == EEXIST) {
            continue;
        }
        if (fd < 0 || pons__write_all(fd, text, n, 0) < 0 || fsync(fd) < 0 ||
            pons_file_sync_folder(ret) < 0) {
            const int rc = pons__io_error("cannot keep a copy in", ret, err);
            if (fd >= 0) {
                close(fd);
                unlink(ret);
            }
            return rc;
        }
        close(fd);
        return PONS_OK;
    }
    return pons_error_set(err, PONS_EIO, MODULE, "there are %d damaged ledgers already",
                          COPIES_MAX);
}

// Each sealed part that is damaged, and then the one that is written, which says that there was damage.
static int repair(const char *path, int64_t *ret_lost, char *ret_copy, size_t cap, pons_error *err)
{
    int64_t lost = 0;
    pons_autobuf good = PONS_BUF_INIT;
    int rc = pons__ledger_mend_parts(path, keep_copy, ret_copy, cap, &lost, err);
    char *text = NULL;
    size_t n = 0;
    int64_t here = 0;
    rc = rc < 0 ? rc : pons__read_run_file(path, LEDGER_MAX, &text, &n, err);
    rc = rc == PONS_ENOTFOUND ? PONS_OK : rc;
    rc = rc < 0 ? rc : pons__ledger_salvage(text, n, &good, &here, err);
    rc = rc < 0 || here == 0 ? rc : keep_copy(path, text, n, ret_copy, cap, err);
    free(text);
    if (rc < 0) {
        return rc;
    }
    // What is left out may have been a latch: this line counts as one.
    const pons_clock clock = pons_clock_real();
    const pons_ledger_note note = {
        .kind = PONS_LEDGER_REPAIR, .lost = lost + here, .ts_ms = pons_wall_ms(&clock)};
    if (pons__ledger_note_text(&note, &good) < 0) {
        return pons_error_set(err, PONS_ENOMEM, MODULE, "no memory to repair the ledger");
    }
    rc = pons__replace_file(path, (const char *)good.data, good.len, true, err);
    if (rc == PONS_OK) {
        *ret_lost = lost + here;
    }
    return rc;
}

int pons_body_repair(const char *run_dir, int64_t *ret_lost, char *ret_copy, size_t cap,
                     pons_error *err)
{
    char ledger[4096], sock[4096];
    pons_listener *ours = NULL;
    int rc = path_in(run_dir, "body.ledger", ledger, sizeof ledger, err);
    rc = rc < 0 ? rc : path_in(run_dir, "body.sock", sock, sizeof sock, err);
    // While we listen in its place, no body starts here.
    rc = rc < 0 ? rc : pons_listener_open(sock, &ours, err);
    pons__ledger *l = NULL;
    if (rc == PONS_OK && pons__ledger_look(ledger, &l, NULL) == PONS_OK) {
        *ret_lost = 0;
    } else if (rc == PONS_OK) {
        rc = repair(ledger, ret_lost, ret_copy, cap, err);
    }
    pons__ledger_close(l);
    pons_listener_close(ours);
    return rc;
}
