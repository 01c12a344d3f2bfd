// reference_brain.c - the brain's state and its events, as reference_tables.c prints them.
#include "brain_tables.h"

int pons__reference_brain(pons_buf *out);

static int records(const pons__record *const *list, const char *quote, pons_buf *out)
{
    int rc = PONS_OK;
    for (size_t i = 0; rc >= 0 && list[i]; i++) {
        rc = pons_buf_printf(out, "\n## %s%s%s\n\n%s.\n\n", quote, list[i]->name, quote,
                             list[i]->means ? list[i]->means : "");
        pons__record_describe(list[i], out);
    }
    return rc < 0 || !out->failed ? rc : PONS_ENOMEM;
}

int pons__reference_brain(pons_buf *out)
{
    int rc = pons_buf_str(out, "%% state\n");
    rc = rc < 0 ? rc : records(pons__state_records, "", out);
    rc = rc < 0 ? rc : pons_buf_str(out, "%% events\n");
    return rc < 0 ? rc : records(pons__event_records, "`", out);
}
