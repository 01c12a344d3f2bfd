// record_lines.c - records of a protocol file for a model, a line of JSON each.
#include "pons/buf.h"
#include "workspace/model_access/model_files.h"

#include <stdlib.h>
#include <string.h>

#define TEXT_MAX (256 * 1024)

static bool wanted(const char *want, const char *is)
{
    return !want || strcmp(want, is) == 0;
}

static bool put_line(pons_buf *text, pons_value *take)
{
    pons_autovalue row = take;
    char *line = NULL;
    const bool room = pons_value_line(row, &line) >= 0 && text->len + strlen(line) < TEXT_MAX;
    if (room) {
        pons_buf_printf(text, "%s\n", line);
    }
    free(line);
    return room;
}

int pons__model_access_read(model_access *d, uint64_t call, const pons_value *args, pons_error *err)
{
    pons_ws_file file;
    pons_ws_doc *doc = NULL;
    size_t n = 0;
    int rc = pons_ws_file_of(pons_get_str(args, "file", ""), &file);
    if (rc < 0) {
        return pons_error_set(err, PONS_EINVAL, PONS__DESK, "there is no protocol file %.40s",
                              pons_get_str(args, "file", ""));
    }
    rc = pons_ws_load(PONS_WS_BY_PLANNER, d->dir, file, &doc, err);
    if (rc < 0) {
        return rc;
    }
    pons_autobuf text = PONS_BUF_INIT;
    bool room = true;
    const char *kind = pons_get_str(args, "kind", NULL), *id = pons_get_str(args, "id", NULL);
    const pons_ws_record *all = pons_ws_records(doc, &n);
    for (size_t i = 0; i < n && room; i++) {
        if (wanted(kind, all[i].kind) && wanted(id, all[i].id)) {
            room = put_line(&text, pons_object("kind", json_string(all[i].kind), "id",
                                               pons_string(all[i].id), "value",
                                               pons_value_ref(all[i].value), NULL));
        }
    }
    const pons_ws_fault *faults = pons_ws_faults(doc, &n);
    for (size_t i = 0; i < n && room; i++) {
        room = put_line(&text, pons_object("refused", pons_string(faults[i].what), "line",
                                           json_integer(faults[i].line), NULL));
    }
    pons_ws_destroy(doc);
    pons__model_access_push(
        d, (pons_tool_event){
               .call = call,
               .kind = PONS_TOOL_DONE,
               .value = pons_object("output",
                                    pons_string(text.len ? text.data : "there is no such record"),
                                    "truncated", json_boolean(!room), NULL)});
    return PONS_OK;
}
