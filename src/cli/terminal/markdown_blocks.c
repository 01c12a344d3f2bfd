// markdown_blocks.c - whole blocks of Markdown as rows.
//
// md4c calls back for blocks, spans and texts. They become paragraphs of styled_text.c: a stack of prefixes
// (the bar of a quotation, the mark of an item) stands before the rows, a table's cells are kept until
// it ends and have the widths of their columns, or, where the terminal is too narrow, each a row
// "head: cell".
#include "cli/terminal/markdown.h"
#include "pons/out_of_memory.h"

#include <md4c.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEPTH_MAX  16   // of quotations and lists that have prefixes of their own
#define CELL_MAX   64   // columns of a table
#define FENCE_RULE "  " // before code

typedef struct level { // a quotation, or an item of a list
    cli_rich first, rest;
    bool used; // its first row is written
    unsigned next;
    bool ordered, tight;
} level;

typedef struct page {
    cli_rows *rows;
    size_t width;
    bool style;
    cli_rich text;
    cli_style inks[DEPTH_MAX]; // of spans
    size_t spans;
    level levels[DEPTH_MAX];
    size_t depth, lists; // depth: in use; lists: open ones, also beyond what has a level
    level list[DEPTH_MAX];
    size_t blocks; // written at the outermost level
    bool code, diff;
    // a table
    bool head, in_table;
    cli_rich *cells;
    size_t n_cells, room_cells, columns, heads;
    char url[512];
    size_t link_from;
} page;

// ---- text, spans --------------------------------------------------------------------------------

static cli_style style_now(const page *p)
{
    return p->spans > 0 ? p->inks[p->spans < DEPTH_MAX ? p->spans - 1 : DEPTH_MAX - 1] : 0;
}

static int on_text(MD_TEXTTYPE type, const MD_CHAR *text, MD_SIZE n, void *user)
{
    page *p = user;
    if (type == MD_TEXT_BR) {
        cli_rich_add(&p->text, 0, "\n", 1);
    } else if (type == MD_TEXT_SOFTBR) {
        cli_rich_add(&p->text, style_now(p), " ", 1);
    } else if (type == MD_TEXT_ENTITY) {
        static const struct {
            const char *entity, *text;
        } known[] = {{"&lt;", "<"},   {"&gt;", ">"},    {"&amp;", "&"},   {"&quot;", "\""},
                     {"&nbsp;", " "}, {"&copy;", "©"},  {"&deg;", "°"},   {"&times;", "×"},
                     {"&apos;", "'"}, {"&mdash;", "—"}, {"&ndash;", "–"}, {"&hellip;", "…"}};
        for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
            if (strlen(known[i].entity) == n && memcmp(known[i].entity, text, n) == 0) {
                cli_rich_add(&p->text, style_now(p), known[i].text, SIZE_MAX);
                return 0;
            }
        }
        cli_rich_add(&p->text, style_now(p), text, n);
    } else if (p->code) {
        cli_rich_add(&p->text, CLI_INK_CODE, text, n);
    } else {
        cli_rich_add(&p->text, style_now(p), text, n);
    }
    return 0;
}

static int on_span(MD_SPANTYPE type, void *detail, void *user)
{
    page *p = user;
    cli_style style = 0;
    switch (type) {
    case MD_SPAN_EM:
        style = CLI_INK_ITALIC;
        break;
    case MD_SPAN_STRONG:
        style = CLI_INK_BOLD;
        break;
    case MD_SPAN_CODE:
        style = CLI_INK_CODE;
        break;
    case MD_SPAN_DEL:
        style = CLI_INK_STRIKE;
        break;
    case MD_SPAN_A:
    case MD_SPAN_IMG: {
        const MD_ATTRIBUTE *to = type == MD_SPAN_A ? &((MD_SPAN_A_DETAIL *)detail)->href
                                                   : &((MD_SPAN_IMG_DETAIL *)detail)->src;
        const size_t n = to->size < sizeof p->url - 1 ? to->size : sizeof p->url - 1;
        memcpy(p->url, to->text ? to->text : "", to->text ? n : 0);
        p->url[to->text ? n : 0] = '\0';
        p->link_from = p->text.text.len;
        style = CLI_INK_UNDERLINE;
        break;
    }
    default:
        break;
    }
    const cli_style now = style_now(p);
    if (p->spans < DEPTH_MAX) {
        p->inks[p->spans] = now | style;
    }
    p->spans++;
    return 0;
}

// A person must see where a link leads: behind its words, unless they are the address.
static int off_span(MD_SPANTYPE type, void *detail, void *user)
{
    page *p = user;
    p->spans -= p->spans > 0;
    if ((type == MD_SPAN_A || type == MD_SPAN_IMG) && p->url[0] &&
        p->link_from <= p->text.text.len) {
        const size_t n = p->text.text.len - p->link_from;
        const char *shown = p->text.text.data ? p->text.text.data + p->link_from : "";
        if (strlen(p->url) != n || memcmp(shown, p->url, n) != 0) {
            cli_rich_printf(&p->text, CLI_INK_DIM, " (%s)", p->url);
        }
        p->url[0] = '\0';
    }
    return 0;
}

// ---- rows ---------------------------------------------------------------------------------------

// What stands before a row: the first of each level that has no row yet, the rest of the others.
static void prefixes(const page *p, bool first, cli_rich *into)
{
    for (size_t i = 0; i < p->depth && i < DEPTH_MAX; i++) {
        const cli_rich *from =
            first && !p->levels[i].used ? &p->levels[i].first : &p->levels[i].rest;
        if (from->text.data) {
            pons_buf_bytes(&into->text, from->text.data, from->text.len);
            pons_buf_bytes(&into->inks, from->inks.data, from->inks.len);
        }
    }
}

static void write_paragraph(page *p, const cli_rich *text)
{
    cli_autorich first = {0}, rest = {0};
    prefixes(p, true, &first);
    prefixes(p, false, &rest);
    cli_rows_wrap(p->rows, text, p->width, &first, &rest, p->style);
    for (size_t i = 0; i < p->depth && i < DEPTH_MAX; i++) {
        p->levels[i].used = true;
    }
}

static void flush(page *p, cli_style all)
{
    if (p->text.text.len == 0) {
        return;
    }
    for (size_t i = 0; all && i < p->text.text.len; i++) {
        cli_style style;
        memcpy(&style, p->text.inks.data + i * sizeof style, sizeof style);
        style |= all;
        memcpy(p->text.inks.data + i * sizeof style, &style, sizeof style);
    }
    write_paragraph(p, &p->text);
    cli_rich_clear(&p->text);
}

// Between two blocks of the outermost level; in lists and quotations between paragraphs.
static void blank(page *p)
{
    flush(p, 0);
    const bool inner = p->depth > 0 && p->depth <= DEPTH_MAX;
    const bool fresh = inner ? !p->levels[p->depth - 1].used : p->blocks == 0;
    p->blocks += !inner;
    if (fresh) {
        return;
    }
    const cli_rich nothing = {0};
    write_paragraph(p, &nothing);
}

static void code_rows(page *p)
{
    const char *text = p->text.text.data ? p->text.text.data : "";
    cli_autorich rule = {0};
    cli_rich_add(&rule, CLI_INK_DIM, FENCE_RULE, SIZE_MAX);
    for (size_t i = 0; i < p->text.text.len;) {
        const size_t n = strcspn(text + i, "\n");
        cli_autorich line = {0};
        cli_rich_add(&line, 0, FENCE_RULE, SIZE_MAX);
        cli_rich_add(&line, p->diff ? cli_diff_style(text + i) : CLI_INK_CODE, text + i, n);
        write_paragraph(p, &line);
        i += n + 1;
    }
    cli_rich_clear(&p->text);
}

static const cli_rich *cell(const page *p, size_t row, size_t column)
{
    const size_t i = row * p->columns + column;
    return i < p->n_cells ? &p->cells[i] : NULL;
}

static size_t cell_columns(const cli_rich *c)
{
    return c && c->text.data ? cli_columns(c->text.data, c->text.len) : 0;
}

static void append(cli_rich *into, const cli_rich *from, cli_style more)
{
    for (size_t i = 0; from && i < from->text.len; i++) {
        cli_style style;
        memcpy(&style, from->inks.data + i * sizeof style, sizeof style);
        style |= more;
        pons_buf_bytes(&into->inks, &style, sizeof style);
        pons_buf_byte(&into->text,
                      (uint8_t)(from->text.data[i] == '\n' ? ' ' : from->text.data[i]));
    }
}

static void table_rows(page *p)
{
    size_t widths[CELL_MAX] = {0}, all = 0;
    const size_t columns = p->columns < CELL_MAX ? p->columns : CELL_MAX;
    const size_t rows = p->columns ? p->n_cells / p->columns : 0;
    for (size_t k = 0; k < columns; k++) {
        for (size_t r = 0; r < rows; r++) {
            const size_t c = cell_columns(cell(p, r, k));
            widths[k] = c > widths[k] ? c : widths[k];
        }
        all += widths[k] + 2;
    }
    const bool fits = all <= p->width;
    for (size_t r = 0; r < rows; r++) {
        cli_autorich line = {0};
        for (size_t k = 0; k < columns; k++) {
            const cli_rich *c = cell(p, r, k);
            if (fits) {
                append(&line, c, r == 0 ? CLI_INK_BOLD : 0);
                for (size_t i = cell_columns(c); k + 1 < columns && i < widths[k] + 2; i++) {
                    cli_rich_add(&line, 0, " ", 1);
                }
            } else if (r > 0 && c) {
                append(&line, cell(p, 0, k), CLI_INK_BOLD);
                cli_rich_add(&line, 0, ": ", 2);
                append(&line, c, 0);
                cli_rich_add(&line, 0, "\n", k + 1 < columns);
            }
        }
        if (line.text.len > 0) {
            write_paragraph(p, &line);
        }
        const bool rule = fits ? r == 0 : r > 0 && r + 1 < rows;
        if (rule) {
            cli_autorich bar = {0};
            for (size_t i = 0; i + 2 < (fits ? all : 10); i++) {
                cli_rich_add(&bar, CLI_INK_DIM, "─", SIZE_MAX);
            }
            write_paragraph(p, &bar);
        }
    }
    for (size_t i = 0; i < p->n_cells; i++) {
        cli_rich_fini(&p->cells[i]);
    }
    p->n_cells = 0;
}

cli_style cli_diff_style(const char *line)
{
    return strncmp(line, "+++", 3) == 0 || strncmp(line, "---", 3) == 0 ? CLI_INK_BOLD
           : line[0] == '+'                                             ? CLI_INK_ADDED
           : line[0] == '-'                                             ? CLI_INK_TAKEN
           : line[0] == '@'                                             ? CLI_INK_PLACE
                                                                        : 0;
}

static void pop(page *p)
{
    if (p->depth <= DEPTH_MAX) {
        level *l = &p->levels[p->depth - 1];
        cli_rich_fini(&l->first);
        cli_rich_fini(&l->rest);
        *l = (level){0};
    }
    p->depth--;
}

static level *push(page *p)
{
    p->depth++;
    return p->depth <= DEPTH_MAX ? &p->levels[p->depth - 1] : NULL;
}

static void begin_item(page *p, const MD_BLOCK_LI_DETAIL *item)
{
    level *list = p->lists > 0 && p->lists <= DEPTH_MAX ? &p->list[p->lists - 1] : NULL;
    flush(p, 0); // the words of the item above it
    level *l = push(p);
    if (!l) {
        return;
    }
    char mark[24];
    if (item->is_task) {
        snprintf(mark, sizeof mark, "%s ", item->task_mark == ' ' ? "☐" : "☑");
    } else if (list && list->ordered) {
        snprintf(mark, sizeof mark, "%u. ", list->next++);
    } else {
        snprintf(mark, sizeof mark, "• ");
    }
    cli_rich_add(&l->first, CLI_INK_BOLD, mark, SIZE_MAX);
    for (size_t i = cli_columns(mark, strlen(mark)); i > 0; i--) {
        cli_rich_add(&l->rest, 0, " ", 1);
    }
}

static int on_block(MD_BLOCKTYPE type, void *detail, void *user)
{
    page *p = user;
    level *l = NULL;
    switch (type) {
    case MD_BLOCK_QUOTE:
        blank(p);
        l = push(p);
        if (l) {
            cli_rich_add(&l->first, CLI_INK_DIM, "│ ", SIZE_MAX);
            cli_rich_add(&l->rest, CLI_INK_DIM, "│ ", SIZE_MAX);
        }
        break;
    case MD_BLOCK_UL:
    case MD_BLOCK_OL:
        flush(p, 0);
        if (p->lists == 0) {
            blank(p);
        }
        if (p->lists < DEPTH_MAX) {
            p->list[p->lists] =
                (level){.ordered = type == MD_BLOCK_OL,
                        .next = type == MD_BLOCK_OL ? ((MD_BLOCK_OL_DETAIL *)detail)->start : 0};
        }
        p->lists++;
        break;
    case MD_BLOCK_LI:
        begin_item(p, detail);
        break;
    case MD_BLOCK_CODE: {
        const MD_BLOCK_CODE_DETAIL *code = detail;
        blank(p);
        p->code = true;
        p->diff = code->lang.size == 4 && memcmp(code->lang.text, "diff", 4) == 0;
        break;
    }
    case MD_BLOCK_HR:
        blank(p);
        cli_rich_add(&p->text, CLI_INK_DIM, "────────", SIZE_MAX);
        flush(p, 0);
        break;
    case MD_BLOCK_H:
    case MD_BLOCK_P:
    case MD_BLOCK_HTML:
        blank(p);
        break;
    case MD_BLOCK_TABLE:
        blank(p);
        p->in_table = true;
        p->columns = ((MD_BLOCK_TABLE_DETAIL *)detail)->col_count;
        p->n_cells = p->heads = 0;
        break;
    case MD_BLOCK_TH:
    case MD_BLOCK_TD:
        cli_rich_clear(&p->text);
        break;
    default:
        break;
    }
    return 0;
}

static void end_cell(page *p)
{
    if (p->n_cells == p->room_cells) {
        p->room_cells = p->room_cells ? 2 * p->room_cells : 32;
        p->cells = pons_need_more(p->cells, p->room_cells * sizeof *p->cells);
    }
    p->cells[p->n_cells++] = p->text;
    p->text = (cli_rich){0};
}

static int off_block(MD_BLOCKTYPE type, void *detail, void *user)
{
    page *p = user;
    switch (type) {
    case MD_BLOCK_QUOTE:
        flush(p, 0);
        pop(p);
        break;
    case MD_BLOCK_LI:
        if (p->depth <= DEPTH_MAX && !p->levels[p->depth - 1].used && p->text.text.len == 0) {
            cli_rich_add(&p->text, 0, " ", 1); // an item without words is one all the same
        }
        flush(p, 0);
        pop(p);
        break;
    case MD_BLOCK_UL:
    case MD_BLOCK_OL:
        p->lists--;
        break;
    case MD_BLOCK_CODE:
        code_rows(p);
        p->code = false;
        break;
    case MD_BLOCK_H:
        flush(p, CLI_INK_HEAD);
        break;
    case MD_BLOCK_P:
    case MD_BLOCK_HTML:
        flush(p, 0);
        break;
    case MD_BLOCK_TH:
        p->heads++;
        end_cell(p);
        break;
    case MD_BLOCK_TD:
        end_cell(p);
        break;
    case MD_BLOCK_TABLE:
        table_rows(p);
        p->in_table = false;
        break;
    default:
        break;
    }
    return 0;
}

void cli_markdown_rows(const char *text, size_t n, size_t width, bool style, cli_rows *rows)
{
    const MD_PARSER parser = {.flags = MD_FLAG_TABLES | MD_FLAG_STRIKETHROUGH | MD_FLAG_TASKLISTS |
                                       MD_FLAG_NOHTML | MD_FLAG_PERMISSIVEURLAUTOLINKS,
                              .enter_block = on_block,
                              .leave_block = off_block,
                              .enter_span = on_span,
                              .leave_span = off_span,
                              .text = on_text};
    page p = {.rows = rows, .width = width > 1 ? width : 1, .style = style};
    const size_t had = rows->n;
    if (md_parse(text, (MD_SIZE)n, &parser, &p) != 0 && rows->n == had) { // no memory: as it stands
        cli_rich_clear(&p.text);
        cli_rich_add(&p.text, 0, text, n);
    }
    flush(&p, 0);
    while (p.depth > 0) {
        pop(&p);
    }
    for (size_t i = 0; i < p.n_cells; i++) {
        cli_rich_fini(&p.cells[i]);
    }
    free(p.cells);
    cli_rich_fini(&p.text);
}
