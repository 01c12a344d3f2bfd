// session_lanes.c - what the stores' lanes share: checks and errors.
#include "store/store.h"

#include <string.h>

int pons__session_check_word(const char *word, const char *what, pons_error *err)
{
    if (!word || !word[0]) {
        return pons_error_set(err, PONS_EINVAL, "store", "a %s needs a name", what);
    }
    if (strlen(word) >= PONS_NAME_MAX) {
        return pons_error_set(err, PONS_EINVAL, "store",
                              "the name of a %s has %zu bytes (at most %d): %.40s…", what,
                              strlen(word), PONS_NAME_MAX - 1, word);
    }
    return PONS_OK;
}

static int check_bytes(pons_bytes b, const char *id, pons_error *err)
{
    return b.len <= PONS_SESSION_DATA_MAX
               ? PONS_OK
               : pons_error_set(err, PONS_EINVAL, "store", "session %s has %zu bytes (at most %d)",
                                id, b.len, PONS_SESSION_DATA_MAX);
}

int pons__session_check(const pons_session_row *row, pons_error *err)
{
    int rc = pons__session_check_word(row->id, "session", err);
    rc = rc ? rc : pons__session_check_word(row->lane, "lane", err);
    return rc ? rc : check_bytes(row->data, row->id, err);
}

int pons__session_check_rows(const pons_session_row *rows, size_t n, pons_error *err)
{
    int rc = PONS_OK;
    for (size_t i = 0; i < n && !rc; i++) {
        rc = pons__session_check(&rows[i], err);
    }
    return rc;
}

int pons__session_check_end(const pons_session_end *end, pons_error *err)
{
    int rc = pons__session_check_word(end->id, "session", err);
    if (!rc && end->next_for) {
        rc = pons__session_check_word(end->next_for, "runner", err);
    }
    if (!rc && (end->state < PONS_SESSION_WAITING || end->state == PONS_SESSION_RUNNING ||
                end->state > PONS_SESSION_UNKNOWN)) {
        rc = pons_error_set(err, PONS_EINVAL, "store", "session %s cannot end in state %d", end->id,
                            (int)end->state);
    }
    return rc ? rc : check_bytes(end->note, end->id, err);
}

int pons__session_check_reclaim(const char *gone, const char *runner, pons_error *err)
{
    int rc = pons__session_check_word(gone, "runner", err);
    rc = rc ? rc : pons__session_check_word(runner, "runner", err);
    return rc || strcmp(gone, runner) != 0 ? rc : pons__session_alive(err, gone);
}

int pons__session_check_trim(const pons_session_trim *what, pons_error *err)
{
    return what->limit > 0 && what->after >= 0
               ? PONS_OK
               : pons_error_set(err, PONS_EINVAL, "store", "a trim looks at %d sessions after %lld",
                                (int)what->limit, (long long)what->after);
}

static int64_t cut(int64_t newest, int64_t keep)
{
    return keep < 0 || keep >= newest ? 0 : newest - (keep ? keep : 1);
}

void pons__session_cuts(const pons_session_trim *what, int64_t newest, int64_t *ret,
                        int64_t *ret_failed)
{
    *ret = cut(newest, what->keep);
    *ret_failed = cut(newest, what->keep_failed);
}

int pons__session_not_found(pons_error *err, const char *id)
{
    return pons_error_set(err, PONS_ENOTFOUND, "store", "there is no session %s", id);
}

int pons__session_exists(pons_error *err, const char *id)
{
    return pons_error_set(err, PONS_EEXIST, "store", "there is a session %s already", id);
}

int pons__session_stale(pons_error *err, const char *id)
{
    return pons_error_set(err, PONS_ESTALE, "store", "session %s is not this runner's any more",
                          id);
}

int pons__session_fixed(pons_error *err, const char *id, int32_t state)
{
    return pons_error_set(err, PONS_EREFUSED, "store", "session %s %s", id,
                          state == PONS_SESSION_RUNNING ? "is running" : "has ended");
}

int pons__session_none(pons_error *err)
{
    return pons_error_set(err, PONS_ENOTFOUND, "store", "no session waits in a lane that is free");
}

int pons__session_alive(pons_error *err, const char *runner)
{
    return pons_error_set(err, PONS_ESTALE, "store", "runner %s is alive", runner);
}

bool pons__session_wanted(const pons_session_claim *how, const char *lane)
{
    for (size_t i = 0; how->lanes && i < how->n_lanes; i++) {
        if (strcmp(how->lanes[i], lane) == 0) {
            return true;
        }
    }
    return !how->lanes;
}
