// documented.h - that docs/reference/link-messages.md, which tools/make-reference writes, has each row of a table.
#ifndef PONS_TESTS_DOCUMENTED_H
#define PONS_TESTS_DOCUMENTED_H

#include "unit.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// A row without its first cell, the message's name: that is a heading there.
static inline void documented_rows(char *table)
{
    char *doc = NULL, *state = NULL;
    size_t n = 0;
    FILE *f = fopen("docs/reference/link-messages.md", "r");
    assert_non_null(f);
    assert_true(getdelim(&doc, &n, '\0', f) > 0);
    fclose(f);
    for (char *row = strtok_r(table, "\n", &state); row; row = strtok_r(NULL, "\n", &state)) {
        char heading[80];
        char *cells = strchr(row + 1, '|');
        assert_non_null(cells);
        snprintf(heading, sizeof heading, "\n### %.*s\n", (int)(cells - row - 3), row + 2);
        const bool named = strchr(row, '`') == row + 2; // and not the table's own head
        if (named &&
            (!strstr(doc, heading) || (strcmp(cells, "| | | | |") != 0 && !strstr(doc, cells)))) {
            fail_msg("docs/reference/link-messages.md does not have: %s (tools/make-reference)",
                     row);
        }
    }
    free(doc);
}

#endif
