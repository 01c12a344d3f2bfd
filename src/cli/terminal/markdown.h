// markdown.h - what a model writes, in rows for a terminal, while it is being written.
#pragma once

#include "cli/terminal/styled_text.h"

// A text that grows. {0} is empty.
typedef struct cli_markdown {
    pons_buf open;    // what has no end yet: a block, or a line inside of a fence
    bool fenced;      // inside of a fence
    char fence[8];    // that closes it: "```"
    bool diff;        // its lines are a diff's
    bool gap;         // something stands above the next block
    bool ended_blank; // the newest line was blank
} cli_markdown;

void cli_markdown_fini(cli_markdown *m);
// Takes a piece. What has an end is appended to done, each row once.
void cli_markdown_add(cli_markdown *m, const char *text, size_t n, size_t width, bool style,
                      cli_rows *done);
// The rest, and it is empty again.
void cli_markdown_end(cli_markdown *m, size_t width, bool style, cli_rows *done);
// What has no end yet, as it would be now: to be drawn over.
void cli_markdown_open(const cli_markdown *m, size_t width, bool style, cli_rows *rows);
// A whole text of one or more blocks.
void cli_markdown_rows(const char *text, size_t n, size_t width, bool style, cli_rows *rows);
// A line of a unified diff: its ink by its first character.
cli_style cli_diff_style(const char *line);
