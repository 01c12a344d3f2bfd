// file_render.c - a file with changes of its records, and its stamp. It collects edits of the text: a
// piece that no change names is not touched.
#include "workspace/formats/parsed_file.h"

#include <string.h>

#define WHERE "workspace"

static void put_stamp(const pons_ws_doc *d, uint64_t generation, ws_edits *e)
{
    pons_autobuf b = PONS_BUF_INIT;
    if (d->bare && d->tree.json) {
        return;
    }
    pons_buf_printf(&b, d->bare ? "# pons generation=%llu" : "<!-- pons generation=%llu -->",
                    (unsigned long long)generation);
    if (d->page.generation) {
        pons__ws_doc_edit(d, e, d->page.stamp, d->page.stamp_end, &b);
        return;
    }
    pons_buf_byte(&b, '\n');
    if (d->bare) {
        pons__ws_doc_edit(d, e, 0, 0, &b);
        return;
    }
    pons_autobuf behind = PONS_BUF_INIT;
    pons_buf_str(&behind, d->len && d->text[d->len - 1] != '\n' ? "\n" : "");
    pons_buf_bytes(&behind, b.data, b.len);
    pons__ws_doc_edit(d, e, d->len, d->len, &behind);
}

// A file without a list is given one first.
static int with_body(const pons_ws_doc *d, pons_ws_doc **ret, pons_error *err)
{
    pons_autobuf text = PONS_BUF_INIT, fresh = PONS_BUF_INIT;
    pons_buf_bytes(&text, d->text, d->len);
    pons_buf_str(&text, d->len && d->text[d->len - 1] != '\n' ? "\n\n" : "\n");
    pons_ws_template(d->file, d->dialect, &fresh);
    const char *fence = strstr(fresh.data, "```");
    pons_buf_str(&text, fence ? fence : "");
    return pons_ws_read(d->file, text.data, text.len, d->name, ret, err);
}

int pons_ws_render(const pons_ws_doc *doc, const pons_ws_change *changes, size_t n,
                   uint64_t generation, pons_buf *out, pons_error *err)
{
    if (n && !doc->data && !doc->info->page) {
        pons_ws_doc *whole = NULL;
        int rc = with_body(doc, &whole, err);
        if (rc == PONS_OK && !whole->data) {
            rc = pons_error_set(err, PONS_EINVAL, WHERE, "%s has no place for records", doc->name);
        }
        rc = rc < 0 ? rc : pons_ws_render(whole, changes, n, generation, out, err);
        pons_ws_destroy(whole);
        return rc;
    }
    ws_edits edits = {.n = 0};
    int rc = n == 0      ? PONS_OK
             : doc->data ? pons__ws_data_render(doc, changes, n, &edits, err)
                         : pons__ws_page_render(doc, changes, n, &edits, err);
    if (rc == PONS_OK && generation) {
        put_stamp(doc, generation, &edits);
    }
    if (rc == PONS_OK && !pons__ws_edits_apply(&edits, doc->text, doc->len, out)) {
        rc = pons_error_set(err, PONS_EINVAL, WHERE,
                            "%s is written in a way that cannot be changed in place", doc->name);
    }
    pons__ws_edits_fini(&edits);
    return rc;
}
