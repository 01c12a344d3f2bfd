// reference_tables.c - prints the program's own tables for tools/make-reference, as Markdown: the messages of
// the link, the lines of the ledger, the brain's state and its events, the
// statuses of include/pons/error.h, and the body's registry of skills.
//
// A line "%% NAME" begins each part. The tables are those by which the program reads and writes.
#include "body/skills/skills.h"
#include "pons/buf.h"
#include "pons/error.h"
#include "pons/ledger_format.h"
#include "pons/link_message.h"
#include "pons/link_report.h"

#include <stdio.h>
#include <stdlib.h>

// reference_brain.c: the brain has types of the same names as the body.
int pons__reference_brain(pons_buf *out);

static int statuses(pons_buf *out)
{
    static const struct {
        const char *symbol, *word;
        int number;
    } rows[] = {
#define ROW(sym, num, text) {#sym, text, num},
        PONS_STATUS_TABLE(ROW)
#undef ROW
    };
    int rc = pons_buf_str(out, "| status | number | words |\n|---|---|---|\n");
    for (size_t i = 0; rc >= 0 && i < sizeof rows / sizeof rows[0]; i++) {
        rc = pons_buf_printf(out, "| `%s` | %d | %s |\n", rows[i].symbol, rows[i].number,
                             rows[i].word);
    }
    return rc;
}

// hello.skills of a robot with wheels, a charger and an arm, as one line of JSON.
static int skills(pons_buf *out)
{
    pons__skills s;
    pons_error err = PONS_ERROR_INIT;
    int rc = pons__skills_open(&s, PONS__WITH_WHEELS | PONS__WITH_CHARGER | PONS__WITH_ARM, NULL, 0,
                               &err);
    pons_value *registry = rc < 0 ? NULL : pons__skills_registry(&s);
    char *text = registry ? json_dumps(registry, JSON_COMPACT) : NULL;
    rc = text ? pons_buf_printf(out, "%s\n", text) : PONS_ENOMEM;
    free(text);
    pons_value_unref(registry);
    pons__skills_close(&s);
    return rc;
}

int main(void)
{
    pons_autobuf b = PONS_BUF_INIT;
    int rc = pons_buf_str(&b, "%% messages\n");
    rc = rc < 0 ? rc : pons_message_describe(&b);
    rc = rc < 0 ? rc : pons_buf_str(&b, "%% reports\n");
    rc = rc < 0 ? rc : pons_report_describe(&b);
    rc = rc < 0 ? rc : pons_buf_str(&b, "%% ledger\n");
    rc = rc < 0 ? rc : pons_ledger_describe(&b);
    rc = rc < 0 ? rc : pons__reference_brain(&b);
    rc = rc < 0 ? rc : pons_buf_str(&b, "%% statuses\n");
    rc = rc < 0 ? rc : statuses(&b);
    rc = rc < 0 ? rc : pons_buf_str(&b, "%% skills\n");
    rc = rc < 0 ? rc : skills(&b);
    return rc < 0 || fwrite(b.data, 1, b.len, stdout) != b.len;
}
