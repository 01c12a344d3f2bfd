// load.c - a text or a file becomes a definition; and the map of src/bt.
//
// The whole of src/bt in one picture:
//
//     mdsl/parse.c, mdsl/json.c -> ast --> mdsl/build.c ------------+
//     xml/xml_reader.c, xml/includes.c --> elements --> xml/build.c -----+
//                                                                   v
//     pons_bt (core/definition.h): nodes in pre-order, children by index, names interned, one
//     arena; immutable                                              |
//                                                                   |  pons_bt_tree_create
//                                                                   v
//     pons_bt_tree (core/tree.h): state[], mem[], slots[] beside it
//                                                                   |  pons_bt_tick (tree.c)
//                                                                   v
//     mdsl/tick.c, or xml/tick.c with control_nodes.c, decorator_nodes.c, nav2_nodes.c
//
// Nothing here has a thread of its own; a definition may be shared by threads, a tree may not.
//
// The two formats share the model, the save and the drawing, and differ in how a node is ticked:
// mistreevous keeps resolved children until the whole tree is reset, BehaviorTree.CPP resets the
// children of what completes. Neither is expressed by the other; each engine is one recursive
// function over the flat array.
//
// Every fault of a text is collected, not only the first: a loader goes on as far as it can with
// what it has read, and gives up the definition at the end.
#include "bt/xml/load.h"

#include "bt/core/load_faults.h"
#include "bt/core/source_text.h"
#include "bt/mdsl/read.h"
#include "pons/buf.h"

#include <stdlib.h>
#include <string.h>

static pons_bt_format format_of(const char *path)
{
    const char *dot = strrchr(path, '.');
    return !dot                        ? PONS_BT_AUTO
           : strcmp(dot, ".mdsl") == 0 ? PONS_BT_MDSL
           : strcmp(dot, ".json") == 0 ? PONS_BT_JSON
           : strcmp(dot, ".xml") == 0  ? PONS_BT_XML
                                       : PONS_BT_AUTO;
}

// ---- one text -----------------------------------------------------------------------------------

static bool is_readable(const char *text, size_t len, pons_bt_format format,
                        const pons_bt_load_options *o, pons__bt_pos *top, pons__bt_faults *f)
{
    if (len > PONS__BT_FILE_MAX) {
        pons__bt_fault(f, *top, "the file is larger than %d MiB", PONS__BT_FILE_MAX >> 20);
    } else if (o->bytes_max && len > o->bytes_max) {
        pons__bt_fault(f, *top, "the file is larger than %zu KiB", o->bytes_max >> 10);
    } else if (memchr(text, 0, len)) {
        pons__bt_fault(f, *top, "a zero byte in the text");
    } else if (format != PONS_BT_XML && !pons__bt_is_utf8(text, len, &top->line, &top->col)) {
        pons__bt_fault(f, *top, "the text is not UTF-8");
    } else {
        return true;
    }
    return false;
}

static int load(const char *text, size_t len, const char *file, bool is_file,
                const pons_bt_load_options *opts, pons_bt **ret, pons_value **ret_faults,
                pons_error *err)
{
    const pons_bt_load_options none = {0};
    const pons_bt_load_options *o = opts ? opts : &none;
    const pons_bt_format format = o->format != PONS_BT_AUTO ? o->format : format_of(file);
    pons__bt_faults faults = {.n = 0};
    pons_bt *bt = NULL;
    pons__bt_pos top = {file, 1, 1};
    int rc = PONS_OK;
    const size_t mark = pons_utf8_mark(text, len);
    text += mark;
    len -= mark;
    if (!is_readable(text, len, format, o, &top, &faults)) {
        rc = PONS_OK; // the fault is told below
    } else if (format == PONS_BT_MDSL) {
        rc = pons__bt_load_mdsl(text, len, file, o, &faults, &bt);
    } else if (format == PONS_BT_JSON) {
        rc = pons__bt_load_json(text, len, file, o, &faults, &bt);
    } else if (format == PONS_BT_XML) {
        rc = pons__bt_load_xml(text, len, file, is_file, o, &faults, &bt);
    } else {
        return pons_error_set(err, PONS_EINVAL, "bt", "no format is given for '%s'", file);
    }
    if (rc == PONS_ENOMEM || faults.nomem) {
        rc = pons_error_set(err, PONS_ENOMEM, "bt", "no memory for the tree of '%s'", file);
    } else if (faults.n > 0) {
        pons__bt_faults_sort(&faults);
        rc = pons_error_set(err, PONS_EINVAL, "bt", "%s%s",
                            format == PONS_BT_XML ? "" : "invalid definition: ", faults.message[0]);
        pons_error_source(err, "%s:%u:%u", faults.pos[0].file, faults.pos[0].line,
                          faults.pos[0].col);
        pons_value *list = ret_faults ? pons__bt_faults_list(&faults) : NULL;
        if (ret_faults && !list) {
            rc = pons_error_set(err, PONS_ENOMEM, "bt", "no memory for the faults of '%s'", file);
        } else if (ret_faults) {
            *ret_faults = list;
        }
    }
    pons__bt_faults_fini(&faults);
    if (rc < 0) {
        pons_bt_unref(bt);
        return rc;
    }
    *ret = bt;
    return PONS_OK;
}

int pons_bt_load(const char *text, size_t len, const pons_bt_load_options *opts, pons_bt **ret,
                 pons_value **ret_faults, pons_error *err)
{
    return load(text, len, opts && opts->name ? opts->name : "text", false, opts, ret, ret_faults,
                err);
}

static int read_file(const char *path, char **ret, size_t *ret_len, pons_error *err)
{
    FILE *f = pons__bt_open(path);
    char *text = f ? malloc(PONS__BT_FILE_MAX + 2) : NULL;
    if (!f) {
        pons_error_set(err, PONS_ENOTFOUND, "bt", "cannot read the tree's file");
        pons_error_source(err, "%s", path);
        return PONS_ENOTFOUND;
    }
    const size_t n = text ? fread(text, 1, PONS__BT_FILE_MAX + 1, f) : 0;
    const bool bad = !text || ferror(f);
    fclose(f);
    if (bad) {
        const int rc = text ? PONS_EIO : PONS_ENOMEM;
        free(text);
        pons_error_set(err, rc, "bt", "cannot read the tree's file");
        pons_error_source(err, "%s", path);
        return rc;
    }
    text[n] = '\0';
    *ret = text;
    *ret_len = n;
    return PONS_OK;
}

int pons_bt_load_file(const char *path, const pons_bt_load_options *opts, pons_bt **ret,
                      pons_value **ret_faults, pons_error *err)
{
    char *text = NULL;
    size_t len = 0;
    pons_bt_load_options o = opts ? *opts : (pons_bt_load_options){0};
    if (o.format == PONS_BT_AUTO && (o.format = format_of(path)) == PONS_BT_AUTO) {
        pons_error_set(err, PONS_EINVAL, "bt", "a tree's file ends in .mdsl, .json or .xml");
        pons_error_source(err, "%s", path);
        return PONS_EINVAL;
    }
    int rc = read_file(path, &text, &len, err);
    rc = rc < 0 ? rc : load(text, len, path, true, &o, ret, ret_faults, err);
    free(text);
    return rc;
}

const char *pons_bt_status_word(pons_bt_format format, pons_bt_status status)
{
    static const char *const mdsl[] = {"READY", "RUNNING", "SUCCEEDED", "FAILED", "SKIPPED"};
    static const char *const xml[] = {"IDLE", "RUNNING", "SUCCESS", "FAILURE", "SKIPPED"};
    return (unsigned)status > PONS_BT_SKIPPED ? "?" : (format == PONS_BT_XML ? xml : mdsl)[status];
}
