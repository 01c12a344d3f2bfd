// ledger_rotate.c - how the file that is written becomes a sealed part, and when old ones go. The order of
// what is written is in ledger.c.
#include "body/ledger/ledger_memory.h"
#include "pons/file.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define MODULE      "ledger"
#define SEALED_MODE 0400
#define SEAL_AGAIN                                                                                 \
    8 // a part that could not be sealed is tried again when it has grown by an eighth

static int seal(pons__ledger *l, pons_error *err)
{
    if (l->part >= PONS__PARTS_MAX) {
        return pons_error_set(err, PONS_EINVAL, MODULE, "the ledger has no numbers left");
    }
    char *name = pons__part_path(l->path, l->part, false);
    if (!name) {
        return pons__ledger_no_memory(err);
    }
    int rc = PONS_OK, fd = -1;
    off_t size = 0;
    if (link(l->path, name) < 0) {
        rc = pons__io_error("cannot seal", name, err);
    } else {
        rc = pons__ledger_begin_part(l, l->part, &fd, &size, err);
        if (rc < 0 && !l->dead) {
            unlink(name);
        }
    }
    free(name);
    if (rc < 0) {
        return rc;
    }
    (void)fchmod(l->fd, SEALED_MODE); // for people: nobody writes it any more
    close(l->fd);
    l->fd = fd;
    l->size = size;
    l->lines = 1;
    l->plain = 0;
    l->summed = true;
    l->parts++;
    (void)pons__ids_save(l->path, l->part, &l->goals, NULL); // or at the next start
    l->part++;
    return PONS_OK;
}

void pons__ledger_seal_when_full(pons__ledger *l)
{
    const off_t full = (off_t)l->bounds.part_bytes;
    if (full <= 0 || !l->path || l->looks || l->dead ||
        l->size < (l->seal_at > full ? l->seal_at : full)) {
        return;
    }
    l->seal_at = seal(l, NULL) == PONS_OK ? 0 : l->size + full / SEAL_AGAIN;
    pons__ledger_forget_parts(l);
}

int pons__ledger_begin_part(pons__ledger *l, int64_t after, int *ret_fd, off_t *ret_size,
                            pons_error *err)
{
    const pons_ledger_note note = {.kind = PONS_LEDGER_PART,
                                   .after = after,
                                   .epoch = l->epoch,
                                   .latched = l->last.latched,
                                   .origin = pons__origin_word(l->last.origin),
                                   .reason = l->last.reason,
                                   .percent = l->pace,
                                   .ts_ms = l->ts_ms};
    pons_autobuf text = PONS_BUF_INIT;
    char *fresh = NULL;
    if (pons__ledger_note_text(&note, &text) < 0 || asprintf(&fresh, "%s.new", l->path) < 0) {
        return pons__ledger_no_memory(err);
    }
    int rc = PONS_OK;
    const int fd = open(fresh, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, PONS__LEDGER_MODE);
    if (fd < 0 || pons__write_all(fd, (const char *)text.data, text.len, 0) < 0 || fsync(fd) < 0 ||
        rename(fresh, l->path) < 0) {
        rc = pons__io_error("cannot begin a new part of", l->path, err);
        unlink(fresh);
    } else if (pons_file_sync_folder(l->path) < 0) {
        rc = pons__io_error("cannot sync the directory of", l->path, err);
        l->dead = true; // which of the two has the name after a crash is not known
    }
    free(fresh);
    if (rc < 0) {
        if (fd >= 0) {
            close(fd);
        }
        return rc;
    }
    *ret_fd = fd;
    *ret_size = (off_t)text.len;
    return PONS_OK;
}

// Their goals are on the disk before their lines go.
void pons__ledger_forget_parts(pons__ledger *l)
{
    const pons__ledger_bounds *b = &l->bounds;
    pons__part *parts = NULL;
    size_t n = 0;
    if (b->audit_ms <= 0 || !l->path || l->looks || l->parts == 0 ||
        pons__parts_list(l->path, &parts, &n, NULL) < 0) {
        return;
    }
    int64_t size = l->size;
    for (size_t i = 0; i < n; i++) {
        size += parts[i].size;
    }
    const int64_t now_ms = pons_wall_ms(&b->clock);
    for (size_t i = 0; i < n && size > b->size_bytes; i++) {
        if (!parts[i].lines) {
            continue;
        }
        if (now_ms - parts[i].changed_ms <= b->audit_ms) {
            break;
        }
        pons__index known = {0};
        char *name = pons__part_path(l->path, parts[i].number, false);
        const bool safe = pons__ids_load(l->path, parts[i].number, &known) == PONS_OK ||
                          pons__ids_save(l->path, parts[i].number, &l->goals, NULL) == PONS_OK;
        if (name && safe && unlink(name) == 0) {
            size -= parts[i].size;
            l->parts--;
        }
        pons__index_fini(&known);
        free(name);
    }
    free(parts);
}
