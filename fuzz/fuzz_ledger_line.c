// fuzz_ledger_line.c - whatever JSON stands in a line of the body's ledger, the reader of lines has it or
// an error; what was read is written, and read, as the same, a latch stays a latch; and a ledger takes
// what the reader takes: appended, it is found as it was.
//
// The input is JSON lines without checksums; those that are no JSON are passed over.
#include "body/ledger/ledger.h"
#include "pons/ledger_format.h"

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

static void check_goal(const pons_value *json, pons__ledger *l)
{
    pons_ledger_line line, again;
    pons_error err = PONS_ERROR_INIT;
    const int rc = pons_ledger_line_decode(json, &line, &err);
    must(rc == PONS_OK || (rc == PONS_EINVAL && err.message[0]));
    must(line.state >= PONS_GOAL_NONE && line.state <= PONS_GOAL_CANCELED);
    if (rc < 0) {
        return;
    }
    pons_autovalue written = pons_ledger_line_encode(&line);
    must(written && pons_ledger_line_decode(written, &again, NULL) == PONS_OK);
    pons_autovalue rewritten = pons_ledger_line_encode(&again);
    must(json_equal(written, rewritten));

    const bool started = pons__ledger_started(l, line.goal_id);
    const int put = pons__ledger_append(l, &line, 1, NULL);
    must(put == (started && line.state == PONS_GOAL_STARTED ? PONS_EEXIST : PONS_OK));
    pons__ledger_entry found;
    must(pons__ledger_find(l, line.goal_id, &found) && found.kept);
    must(put < 0 || (found.line.state == line.state && found.line.epoch == line.epoch &&
                     strcmp(found.line.skill, line.skill) == 0));
    must(pons__ledger_started(l, line.goal_id) == (started || line.state == PONS_GOAL_STARTED));
    must(pons__ledger_epoch(l) >= (put < 0 ? 0 : line.epoch));
}

static void check_note(const pons_value *json, pons__ledger *l)
{
    pons_ledger_note note, again;
    pons_ledger_note_decode(json, &note, NULL); // its kind counts, whatever else is wrong
    if (note.kind == PONS_LEDGER_OTHER) {
        return;
    }
    pons_autovalue written = pons_ledger_note_encode(&note);
    must(written && pons_ledger_note_decode(written, &again, NULL) == PONS_OK);
    must(again.kind == note.kind);
    pons_autovalue rewritten = pons_ledger_note_encode(&again);
    must(json_equal(written, rewritten));
    must(pons__ledger_note(l, &note, NULL) == PONS_OK);
    must(note.kind != PONS_LEDGER_LATCH || pons__ledger_witness(l)->latched);
    must(note.kind != PONS_LEDGER_REPAIR || pons__ledger_witness(l)->latched);
    must(note.kind != PONS_LEDGER_RESET || !pons__ledger_witness(l)->latched);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static int ready;
    if (!ready) {
        pons_value_init();
        ready = 1;
    }
    pons__ledger *l = NULL;
    must(pons__ledger_open(NULL, &l, NULL) == PONS_OK);
    const char *text = (const char *)data;
    for (size_t at = 0; at < size;) {
        const char *newline = memchr(text + at, '\n', size - at);
        const size_t n = newline ? (size_t)(newline - text) - at : size - at;
        pons_autovalue json = NULL;
        if (pons_value_parse(text + at, n, &json, NULL) == PONS_OK && json_is_object(json)) {
            if (pons_ledger_about_goal(json)) {
                check_goal(json, l);
            } else {
                check_note(json, l);
            }
        }
        at += n + 1;
    }
    pons__ledger_close(l);
    return 0;
}
