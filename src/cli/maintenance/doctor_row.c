// doctor_row.c - one line of the doctor's list.
#include "cli/maintenance/doctor.h"

#include <string.h>

void doctor_say(doctor *d, const char *what, const char *state, const char *detail,
                const char *advice)
{
    d->healthy = d->healthy && strcmp(state, "missing") != 0;
    d->damaged = d->damaged || strcmp(state, "damaged") == 0;
    if (d->c->json) {
        pons_autovalue row =
            pons_object("check", json_string(what), "state", json_string(state), "detail",
                        json_string(detail), "advice", advice ? json_string(advice) : NULL, NULL);
        cli_print_json(row);
        return;
    }
    cli_out(advice ? "%-8s %-18s %-s; %-s\n" : "%-8s %-18s %-s%-s\n", state, what, detail,
            advice ? advice : "");
}
