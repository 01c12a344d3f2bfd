// styled_text.h - styled text for a terminal, as rows that fit its width.
//
// Whatever is added goes through pons_plain first, so a row holds text that a terminal only shows, and
// the few commands that colour it, which styled_text.c alone writes.
#pragma once

#include "pons/buf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef uint16_t cli_style; // CLI_INK_… together

enum {
    CLI_INK_BOLD = 1 << 0,
    CLI_INK_DIM = 1 << 1,
    CLI_INK_ITALIC = 1 << 2,
    CLI_INK_UNDERLINE = 1 << 3,
    CLI_INK_STRIKE = 1 << 4,
    CLI_INK_CODE = 1 << 5,
    CLI_INK_HEAD = 1 << 6,
    CLI_INK_ADDED = 1 << 7,
    CLI_INK_TAKEN = 1 << 8,
    CLI_INK_PLACE = 1 << 9, // where in a file: @@ … @@
    CLI_INK_ASK = 1 << 10,
    CLI_INK_BAD = 1 << 11
};

// A paragraph: text with an ink for each byte. {0} is empty.
typedef struct cli_rich {
    pons_buf text;
    pons_buf inks; // a cli_ink a byte
} cli_rich;

// Rows as they go to a terminal, without line ends. {0} is none.
typedef struct cli_row {
    size_t from, n; // in bytes
    size_t columns;
} cli_row;
typedef struct cli_rows {
    pons_buf bytes;
    cli_row *at;
    size_t n, room;
} cli_rows;

void cli_rich_fini(cli_rich *r);
void cli_rich_clear(cli_rich *r);
// Appends up to n bytes, to a zero. Line breaks stay: they end a row. A tab becomes spaces.
void cli_rich_add(cli_rich *r, cli_style style, const char *text, size_t n);
void cli_rich_printf(cli_rich *r, cli_style style, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

void cli_rows_fini(cli_rows *rows);
void cli_rows_clear(cli_rows *rows);
// The paragraph in rows of at most `width` columns, broken where words are, between wide characters, and
// inside a word that has no room; first and rest stand before its rows, NULL: nothing. ink: with
// colours.
void cli_rows_wrap(cli_rows *rows, const cli_rich *r, size_t width, const cli_rich *first,
                   const cli_rich *rest, bool style);
// One row, cut with "…" where there is no more room.
void cli_rows_cut(cli_rows *rows, const cli_rich *r, size_t width, bool style);
// The paragraph broken wherever a row is full, as a person types it; rows but the first begin with
// `indent` blanks. Where the byte `mark` of its text is: *ret_row (of rows) and *ret_column.
void cli_rows_grid(cli_rows *rows, const cli_rich *r, size_t width, size_t indent, size_t mark,
                   bool style, size_t *ret_row, size_t *ret_column);
void cli_rows_copy(cli_rows *rows, const cli_rows *from, size_t first, size_t n);

// Where the row of so many columns ends that begins at i: where a word does, or beside a character of two columns.
// i: not even the first word fits. *ret_next: where the next row begins, there in the middle of that word.
size_t cli_row_end(const char *text, size_t n, size_t i, size_t most, size_t *ret_next);

// Columns of a text as it is shown; of the character at s, whose bytes *ret_n are.
size_t cli_columns(const char *text, size_t n);
size_t cli_columns_at(const char *s, size_t n, size_t *ret_n);
// Columns of the terminal that standard output, or standard error, is; 0: it is none.
size_t cli_width(bool of_errors);
// Whether colours are wanted on standard output: a terminal that is not dumb, and no NO_COLOR.
bool cli_style_wanted(void);
// Standard output is a terminal that can redraw a line: not TERM=dumb, which a screen reader in line mode has.
bool cli_moves(void);
void cli_style_locale(void); // so that characters have widths; idempotent

#define cli_autorich __attribute__((cleanup(cli_rich_fini))) cli_rich
#define cli_autorows __attribute__((cleanup(cli_rows_fini))) cli_rows
