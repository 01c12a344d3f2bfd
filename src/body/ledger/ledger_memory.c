// ledger_memory.c - the ledger as it is in memory: made, ended, and what each line that was written or read
// changes of it.
#include "body/ledger/ledger_memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define MODULE "ledger"

pons__ledger *pons__ledger_create(const char *path, pons_error *err)
{
    pons__ledger *l = calloc(1, sizeof *l);
    if (l) {
        l->part = 1;
        l->path = path ? strdup(path) : NULL;
        l->fd = path ? -1 : memfd_create("ledger", MFD_CLOEXEC);
    }
    if (!l || (path ? !l->path : l->fd < 0)) {
        pons__ledger_close(l);
        pons_error_set(err, PONS_ENOMEM, MODULE, "no memory for the ledger");
        return NULL;
    }
    return l;
}

void pons__ledger_close(pons__ledger *l)
{
    if (!l) {
        return;
    }
    if (l->fd >= 0) {
        close(l->fd);
    }
    pons__index_fini(&l->goals);
    pons_value_unref(l->lent);
    free(l->path);
    free(l);
}

int pons__ledger_keep_line(pons_buf *out, const pons_value *line)
{
    char *text = NULL;
    const long n = pons__sum_line(line, &text);
    if (n < 0) {
        return PONS_ENOMEM;
    }
    const int rc = pons_buf_bytes(out, text, (size_t)n);
    free(text);
    return rc;
}

int pons__ledger_note_text(const pons_ledger_note *note, pons_buf *out)
{
    pons_autovalue json = pons_ledger_note_encode(note);
    return json ? pons__ledger_keep_line(out, json) : PONS_ENOMEM;
}

// What a repair left out may have been a latch: it counts as one.
void pons__ledger_see_note(pons__ledger *l, const pons_ledger_note *note)
{
    const bool repair = note->kind == PONS_LEDGER_REPAIR, part = note->kind == PONS_LEDGER_PART;
    if (note->kind == PONS_LEDGER_RESET || (part && !note->latched)) {
        l->last = (pons__witness){0};
    } else if (repair || part || note->kind == PONS_LEDGER_LATCH) {
        l->last.latched = true;
        l->last.origin = repair ? PONS__ORIGIN_UNKNOWN : pons__origin_of(note->origin);
        snprintf(l->last.reason, sizeof l->last.reason, "%s",
                 repair ? "boot: lines of the ledger were lost" : note->reason);
    }
    if (note->percent >= PONS__PACE_LEAST_PCT) { // of a pace or a part; what is none says nothing
        l->pace = (int)note->percent;
    }
    l->epoch = note->epoch > l->epoch ? note->epoch : l->epoch;
    l->ts_ms = note->ts_ms;
}

// Room for it was reserved.
void pons__ledger_see_line(pons__ledger *l, const pons_ledger_line *line, uint32_t part, off_t at)
{
    pons__index_put(&l->goals, pons__index_key(line->goal_id),
                    (pons__place){.part = part,
                                  .at = (uint64_t)at,
                                  .state = line->state,
                                  .started = line->state == PONS_GOAL_STARTED});
    l->epoch = line->epoch > l->epoch ? line->epoch : l->epoch;
    l->ts_ms = line->ts_ms;
    l->lines++;
}

int pons__ledger_no_memory(pons_error *err)
{
    return pons_error_set(err, PONS_ENOMEM, MODULE, "no memory for a line");
}
