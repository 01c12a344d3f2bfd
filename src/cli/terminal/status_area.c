// status_area.c - draws the lower end of a terminal and takes it away again.
//
// Nothing is asked of the terminal but to go up, to the line's start, right, and to erase what is below.
// Each drawn row is shorter than the terminal is wide, so no row is ever wrapped by the terminal itself;
// but when a terminal becomes narrower it wraps what stands there, so what was drawn is remembered row
// by row, and how far up it begins is counted with the width that the terminal has when it is taken away.
#include "cli/terminal/status_area.h"

#include "cli/cli.h"
#include "pons/out_of_memory.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LABEL_SHARE 2 // of the width that the label may take beside the typed line: one in so many
#define INPUT_SHARE 2 // of the terminal's height that the typed line may take: one in so many

static struct {
    bool on, style;
    cli_rows live;
    char *status;
    char *label, *text; // NULL: nothing is typed here
    size_t n, cursor;
    // the typed line's rows, for these columns
    cli_rows input;
    size_t input_width, input_row, input_column;
    // what stands on the terminal
    size_t *columns; // of each drawn row
    size_t drawn, room, cursor_row, cursor_column;
} screen; // there is one terminal

bool cli_screen_start(void)
{
    screen.on = cli_moves();
    screen.style = cli_style_wanted();
    cli_style_locale();
    return screen.on;
}

void cli_screen_stop(void)
{
    cli_screen_hide();
    cli_flush();
    cli_rows_fini(&screen.live);
    cli_rows_fini(&screen.input);
    free(screen.status);
    free(screen.label);
    free(screen.text);
    free(screen.columns);
    memset(&screen, 0, sizeof screen);
}

bool cli_screen_style(void)
{
    return screen.on && screen.style;
}

// ---- what is drawn ------------------------------------------------------------------------------

void cli_screen_live(const cli_rows *rows)
{
    cli_rows_clear(&screen.live);
    if (rows) {
        cli_rows_copy(&screen.live, rows, 0, rows->n);
    }
}

void cli_screen_status(const char *text)
{
    free(screen.status);
    screen.status = pons_need_text(text);
}

void cli_screen_input(const char *label, const char *text, size_t n, size_t cursor)
{
    free(screen.label);
    free(screen.text);
    screen.label = pons_need_text(label);
    screen.text = NULL;
    screen.n = n;
    screen.cursor = cursor < n ? cursor : n;
    screen.input_width = 0;
    if (label) {
        screen.text = pons_need(n + 1);
        memcpy(screen.text, text, n);
        screen.text[n] = '\0';
    }
}

bool cli_screen_has_input(void)
{
    return screen.label != NULL;
}

static void lay_out(size_t width)
{
    if (!screen.label || screen.input_width == width) {
        return;
    }
    cli_autorich line = {0};
    cli_autorich above = {0};
    const size_t n = strlen(screen.label), end = strlen(CLI_PROMPT_END);
    size_t indent = cli_columns(screen.label, n);
    cli_rows_clear(&screen.input);
    if (indent > width / LABEL_SHARE && n > end) { // no room beside it: a row of its own
        cli_rich_add(&above, CLI_INK_BOLD, screen.label, n - end);
        cli_rows_cut(&screen.input, &above, width, screen.style);
        indent = end - 1;
    }
    const size_t rows_above = screen.input.n;
    cli_rich_add(&line, CLI_INK_BOLD, rows_above ? screen.label + n - indent : screen.label,
                 SIZE_MAX);
    cli_rich_add(&line, 0, screen.text, screen.cursor);
    const size_t mark = line.text.len;
    cli_rich_add(&line, 0, screen.text + screen.cursor, screen.n - screen.cursor);
    cli_rows_grid(&screen.input, &line, width, indent, mark, screen.style, &screen.input_row,
                  &screen.input_column);
    screen.input_width = width;
}

// ---- drawing ------------------------------------------------------------------------------------

void cli_screen_hide(void)
{
    if (screen.drawn == 0) {
        return;
    }
    size_t columns, rows, up = 0;
    cli_screen_size(&columns, &rows);
    for (size_t i = 0; i < screen.cursor_row; i++) {
        const size_t has = screen.columns[i];
        up += has > columns ? (has + columns - 1) / columns : 1;
    }
    up += screen.cursor_column / columns;
    cli_erase_below(up < rows ? up : rows - 1);
    screen.drawn = 0;
}

static void note_row(size_t columns)
{
    if (screen.drawn == screen.room) {
        screen.room = screen.room ? 2 * screen.room : 32;
        screen.columns = pons_need_more(screen.columns, screen.room * sizeof *screen.columns);
    }
    screen.columns[screen.drawn++] = columns;
}

void cli_screen_show(void)
{
    if (!screen.on) {
        return;
    }
    cli_screen_hide();
    size_t columns, height;
    cli_screen_size(&columns, &height);
    const size_t width = columns > 1 ? columns - 1 : 1;
    lay_out(width);
    cli_autorows all = {0};
    size_t room = height > 1 ? height - 1 : 1, cursor_row = 0;
    // The typed line: all of it, or what is around the cursor.
    const size_t typed = screen.label ? screen.input.n : 0;
    const size_t most = room / INPUT_SHARE > 0 ? room / INPUT_SHARE : 1;
    const size_t shown = typed < most ? typed : most;
    const size_t last = screen.input_row + 1 > shown ? screen.input_row + 1 : shown;
    room -= shown < room ? shown : room;
    const bool status = screen.status && room > 0;
    room -= status;
    const size_t live = screen.live.n < room ? screen.live.n : room;
    cli_rows_copy(&all, &screen.live, screen.live.n - live, live);
    if (typed > 0) {
        cursor_row = all.n + screen.input_row - (last - shown);
        cli_rows_copy(&all, &screen.input, last - shown, shown);
    }
    if (status) {
        cli_autorich line = {0};
        cli_rich_add(&line, CLI_INK_DIM, screen.status, SIZE_MAX);
        cli_rows_cut(&all, &line, width, screen.style);
    }
    for (size_t i = 0; i < all.n; i++) {
        note_row(all.at[i].columns);
    }
    if (all.n > 0) {
        screen.cursor_row = typed > 0 ? cursor_row : all.n - 1;
        screen.cursor_column = typed > 0 ? screen.input_column : all.at[all.n - 1].columns;
        cli_out_rows(&all, false);
        cli_cursor_to(all.n - 1 - screen.cursor_row, screen.cursor_column);
    }
    cli_flush();
}

void cli_screen_print(const cli_rows *rows)
{
    cli_screen_hide();
    cli_out_rows(rows, true);
}

void cli_screen_paste(bool on)
{
    if (screen.on) {
        cli_bracketed_paste(on);
    }
}
