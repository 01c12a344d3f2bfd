// markdown_lines.h - a Markdown text as lines and fences, each with its bytes.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum ws_line_kind {
    WS_TEXT,
    WS_BLANK,
    WS_HEADING,
    WS_ROW,
    WS_BULLET,
    WS_FENCED
} ws_line_kind;

typedef struct ws_line {
    ws_line_kind kind;
    size_t start, end, next; // end: without the line's end; next: the next line
    size_t text, text_end;   // of a heading or a bullet: what it says
    int level;               // of a heading
} ws_line;

typedef struct ws_fence {
    size_t start, end;     // with its marks; end is the next line
    size_t body, body_end; // what is in it
    uint32_t body_line;    // its first line's number, from 1
    size_t info, info_end; // behind the opening mark
    bool closed;
} ws_fence;

typedef struct ws_page {
    ws_line *lines;
    size_t n;
    ws_fence *fences;
    size_t n_fences;
    bool crlf;                     // the text's first line ends so
    uint64_t generation;           // 0: no stamp
    size_t stamp, stamp_end;       // its bytes
    size_t kept, kept_end;         // the JSON in "<!-- pons kept: … -->"; kept_end 0: none
    size_t kept_start, kept_after; // the whole comment, with its line's end
} ws_page;

void pons__ws_page_read(const char *text, size_t len, ws_page *ret);
void pons__ws_page_fini(ws_page *p);

// The cells of a row of a table: spans without the blanks around them. Returns how many, at most max.
typedef struct ws_cell {
    size_t start, end;
} ws_cell;
size_t pons__ws_page_cells(const char *text, const ws_line *line, ws_cell *ret, size_t max);
bool pons__ws_page_is_rule(const char *text, const ws_line *line); // |---|:-:|
