// parsed_file.h - a file that was read: what the readers fill and the writers use.
#pragma once

#include "pons/yaml_tree.h"
#include "workspace/model/record_text.h"
#include "workspace/text/markdown_lines.h"
#include "workspace/text/text_edits.h"

#define WS_COLUMNS_MAX 16

typedef struct ws_entry { // beside the public record of the same index
    ws_kind kind;
    pons_value *raw;    // of data: as the file has it
    size_t node, list;  // of data: its node, and which of the doc's lists
    size_t first, last; // of a page: its lines
    size_t table;       // of a page: which of the doc's tables, when it is a row of one
} ws_entry;

typedef struct ws_list { // of data: where records of a kind are
    ws_kind kind;
    size_t node;
    bool map, single; // single: the node is the record
} ws_list;

typedef struct ws_table { // of a page
    ws_kind kind;
    size_t header, last; // lines; last: of its last row, or of its rule
    size_t n_columns;
    int field[WS_COLUMNS_MAX]; // of the kind; -1: nobody knows it, its heading is the key
} ws_table;

struct pons_ws_doc {
    pons_ws_file file;
    const ws_file_info *info;
    pons_ws_dialect dialect;
    char *name, *text;
    size_t len;
    ws_page page;

    bool data;             // it has a body of data
    bool bare;             // which is the whole file
    bool example;          // it has nothing of what the file is about
    size_t body, body_end; // its bytes
    uint32_t body_line;
    size_t fence; // which of the page's
    pons_tree tree;
    size_t base; // the node that has the lists: the root, mostly
    ws_list *lists;
    size_t n_lists;

    ws_table *tables;
    size_t n_tables;

    pons_ws_record *records;
    ws_entry *entries;
    size_t n, cap;
    pons_value *index; // "kind id": position in records
    pons_ws_fault *faults;
    size_t n_faults, cap_faults;
    size_t n_targets; // robots that the page has sections of
    char target[64];  // of a page about several robots, while it is read: whose section it is
    pons_value *kept; // what a dialect had no room for, by "kind id"
};

// parsed_file.c
// Adds a record, or a fault when the id is there already. Takes value and raw.
void pons__ws_doc_add(pons_ws_doc *d, ws_entry e, pons_value *value, uint32_t line,
                      uint32_t column);
void pons__ws_doc_fault(pons_ws_doc *d, const char *kind, const char *id, uint32_t line,
                        uint32_t column, const char *what);
// The position among the records, or SIZE_MAX.
size_t pons__ws_doc_find(const pons_ws_doc *d, ws_kind kind, const char *id);
// What was kept aside for a record, put back where it lacks it.
void pons__ws_doc_restore(const pons_ws_doc *d, ws_kind kind, const char *id, pons_value *value);

// data_read.c: PONS_OK, PONS_ENOTFOUND (no data in it), or PONS_EINVAL.
int pons__ws_data_find(pons_ws_doc *d, pons_error *err);
void pons__ws_data_read(pons_ws_doc *d);
size_t pons__ws_data_path(const pons_tree *t, size_t base,
                          const char *path); // SIZE_MAX: nothing there
// data_write.c
int pons__ws_data_render(const pons_ws_doc *d, const pons_ws_change *changes, size_t n,
                         ws_edits *edits, pons_error *err);
void pons__ws_data_body(pons_buf *out, const pons_value *root, bool json);
// Into a map keyed by id: the key (a buffer), and the record without what the key says.
void pons__ws_data_keyed(ws_kind kind, pons_ws_dialect d, pons_value *raw, const char *id,
                         pons_buf *key);
// page_read.c, page_write.c
void pons__ws_page_records(pons_ws_doc *d);
// Where line i has its label, and what it says: a bullet's, or the first two cells of a limit's row.
bool pons__ws_page_label(const pons_ws_doc *d, ws_kind kind, size_t i, ws_cell *ret_label,
                         ws_cell *ret_said);
int pons__ws_page_render(const pons_ws_doc *d, const pons_ws_change *changes, size_t n,
                         ws_edits *edits, pons_error *err);
// page_convert.c: a page's records in another dialect, in the place of these.
void pons__ws_page_convert(const pons_ws_doc *d, pons_ws_dialect to, ws_edits *edits);
// What a page has for all records of one kind: a table or sections.
void pons__ws_page_block(pons_buf *out, pons_ws_file file, ws_kind kind, pons_ws_dialect to,
                         const pons_ws_record *records, const ws_entry *entries, size_t n);
// What stands above a kind's table in a new page.
void pons__ws_page_heading(pons_buf *out, ws_kind kind, pons_ws_dialect to);

// An edit whose line ends are the text's.
void pons__ws_doc_edit(const pons_ws_doc *d, ws_edits *e, size_t start, size_t end,
                       const pons_buf *by);
