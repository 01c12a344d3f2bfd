// fuzz_ledger.c - whatever the body's two files hold, its readers have an error or the truth: a ledger
// that loads gives the same again after it was written anew, a damaged one is repaired to one that
// loads, and no state passes but one whose every byte is as it was written.
//
// The input is a ledger, a zero byte, and a state; without the zero byte the text is both. "@" before
// a line of the ledger, or before the state, gives what follows its checksum, so that mutations
// reach what is behind it.
#include "body/ledger/ledger.h"
#include "body/safety/epoch_file.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(int holds)
{
    if (!holds) {
        abort();
    }
}

// Lines as they are, but those behind an "@" with the checksum that they should have.
static void with_sums(const char *text, size_t n, pons_buf *out)
{
    for (size_t at = 0; at < n;) {
        const char *newline = memchr(text + at, '\n', n - at);
        const size_t len = newline ? (size_t)(newline - text) - at : n - at;
        pons_value *v = NULL;
        char *line = NULL;
        long chars = -1;
        if (len > 0 && text[at] == '@' &&
            pons_value_parse(text + at + 1, len - 1, &v, NULL) == PONS_OK && json_is_object(v)) {
            json_object_del(v, "sum");
            chars = pons__sum_line(v, &line);
        }
        if (chars > 0) {
            pons_buf_bytes(out, line, (size_t)chars);
        } else {
            pons_buf_bytes(out, text + at, len + (newline != NULL));
        }
        free(line);
        pons_value_unref(v);
        at += len + 1;
    }
}

static void check_ledger(const char *text, size_t n)
{
    pons__ledger *l = NULL, *again = NULL;
    pons_error err = PONS_ERROR_INIT;
    const int rc = pons__ledger_parse(text, n, &l, &err);
    must((rc == PONS_OK) == (l != NULL));
    must(rc == PONS_OK || (rc == PONS_ECORRUPT && strstr(err.message, "doctor --repair") &&
                           strchr(err.source, ':')));
    pons_autobuf good = PONS_BUF_INIT;
    int64_t lost = -1;
    must(pons__ledger_salvage(text, n, &good, &lost, &err) == PONS_OK);
    must(pons__ledger_parse(good.data, good.len, &again, &err) == PONS_OK);
    must(pons__ledger_torn(again) == 0 && pons__ledger_plain(again) == 0);
    must(pons__ledger_epoch(again) >= 0 && pons__ledger_epoch(again) <= PONS__EPOCH_MAX);
    if (l) { // all of it, but for a torn end
        must(lost == (pons__ledger_torn(l) > 0));
        must(pons__ledger_lines(again) == pons__ledger_lines(l));
        must(pons__ledger_goals(again) == pons__ledger_goals(l));
        must(pons__ledger_epoch(again) == pons__ledger_epoch(l));
        must(pons__ledger_witness(again)->latched == pons__ledger_witness(l)->latched);
        must((pons__ledger_unfinished(again, NULL) == NULL) ==
             (pons__ledger_unfinished(l, NULL) == NULL));
    } else {
        must(lost > 0);
    }
    pons__ledger_close(l);
    pons__ledger_close(again);
}

static void check_state(const char *text, size_t n)
{
    pons__durable d = {0};
    pons_error err = PONS_ERROR_INIT;
    const int rc = pons__durable_parse(text, n, &d, &err);
    must(rc == PONS_OK || (rc == PONS_ECORRUPT && err.message[0]));
    if (rc < 0) {
        return;
    }
    must(d.epoch >= 0 && d.epoch <= PONS__EPOCH_MAX);
    must(memchr(d.reason, 0, sizeof d.reason) && memchr(d.boot_id, 0, sizeof d.boot_id));
    char *damaged = malloc(n);
    must(damaged != NULL);
    memcpy(damaged, text, n);
    const size_t at = (size_t)text[n / 2] * 31 % n;
    damaged[at] ^= (char)(1 << (at % 8));
    must(pons__durable_parse(damaged, n, &d, NULL) == PONS_ECORRUPT);
    must(pons__durable_parse(text, n - 1 - at % n, &d, NULL) == PONS_ECORRUPT);
    free(damaged);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static int ready;
    if (!ready) {
        pons_value_init();
        ready = 1;
    }
    const char *text = (const char *)data;
    const char *zero = size ? memchr(data, 0, size) : NULL;
    const size_t first = zero ? (size_t)(zero - text) : size;
    const char *second = zero ? zero + 1 : text;
    pons_autobuf ledger = PONS_BUF_INIT;
    pons_autobuf state = PONS_BUF_INIT;
    with_sums(text, first, &ledger);
    with_sums(second, size - (size_t)(second - text), &state);
    check_ledger(ledger.data ? ledger.data : "", ledger.len);
    check_state(state.data ? state.data : "", state.len);
    return 0;
}
