// fuzz_report.c - whatever JSON comes from a body, its decoder reads it or names its fault; what was read
// is written, and read, as the same; and a fault leaves a struct of which every member may be used.
//
// The input is one report, or a list of them: mutations of one half then meet the other.
#include "pons/link_report.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(int holds)
{
    if (!holds) {
        abort();
    }
}

// Reads every byte of what the table says that the struct has.
static size_t touch(const pons_field *fields, size_t n, const void *of)
{
    size_t sum = 0;
    for (size_t i = 0; i < n; i++) {
        const pons_field *f = &fields[i];
        const void *at = f->offset == PONS_FIELD_ALWAYS ? NULL : (const char *)of + f->offset;
        switch (f->kind) {
        case PONS_FIELD_STRING:
            sum += strlen(*(const char *const *)at);
            break;
        case PONS_FIELD_WORD: {
            const int word = *(const int *)at;
            for (int k = 0; k <= word; k++) {
                must(f->choices[k] != NULL);
            }
            sum += strlen(f->choices[word]);
            break;
        }
        case PONS_FIELD_INTEGER:
            sum += (size_t) * (const int64_t *)at;
            break;
        case PONS_FIELD_NUMBER:
            sum += isfinite(*(const double *)at) != 0;
            break;
        case PONS_FIELD_BOOLEAN:
            sum += *(const bool *)at;
            break;
        case PONS_FIELD_OBJECT:
            sum += json_object_size(*(const pons_value *const *)at);
            break;
        case PONS_FIELD_LIST:
            sum += json_array_size(*(const pons_value *const *)at);
            break;
        case PONS_FIELD_GROUP:
            sum += at ? *(const bool *)at : 0;
            sum += touch(f->fields, f->n_fields, of);
            break;
        }
    }
    return sum;
}

static void touch_items(const pons_report *r)
{
    const pons_report_tree *t = &r->as.tree;
    for (size_t i = 0; r->type == PONS_REPORT_TREE && i < json_array_size(t->changes); i++) {
        pons_report_change change;
        pons_report_change_read(json_array_get(t->changes, i), &change);
        must(strlen(change.path) + strlen(change.from) + strlen(change.to) < SIZE_MAX);
    }
    for (size_t i = 0; r->type == PONS_REPORT_TREE && i < json_array_size(t->nodes); i++) {
        pons_report_node node;
        pons_report_node_read(json_array_get(t->nodes, i), &node);
        must(strlen(node.path) + strlen(node.state) < SIZE_MAX);
    }
}

static void decode(const pons_value *json)
{
    pons_report r, again;
    size_t n = 0;
    const int rc = pons_report_decode(json, &r, NULL);
    must(rc == PONS_OK || rc == PONS_ENOTFOUND || rc == PONS_EPROTOCOL);
    must((rc == PONS_EPROTOCOL) == (r.fault.text[0] != '\0'));
    must((rc == PONS_EPROTOCOL) == (r.fault.code != NULL));
    must((rc == PONS_ENOTFOUND) == (r.type == PONS_REPORT_NONE));
    if (r.type != PONS_REPORT_NONE) {
        const pons_field *fields = pons_report_fields(r.type, &n);
        touch(fields, n, &r);
        touch_items(&r);
        pons_autovalue written = pons_report_encode(&r);
        must(written != NULL);
        const int second = pons_report_decode(written, &again, NULL);
        must(rc != PONS_OK || second == PONS_OK);
        pons_autovalue rewritten = pons_report_encode(&again);
        must(json_equal(written, rewritten));
        pons_report_clear(&again);
    }
    must(strlen(pons_report_goal_id(&r)) < SIZE_MAX);
    pons_report_clear(&r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static int ready;
    if (!ready) {
        pons_value_init();
        ready = 1;
    }
    pons_autovalue json = NULL;
    if (pons_value_parse((const char *)data, size, &json, NULL) < 0) {
        return 0;
    }
    if (json_is_array(json)) {
        for (size_t i = 0; i < json_array_size(json); i++) {
            decode(json_array_get(json, i));
        }
    } else {
        decode(json);
    }
    return 0;
}
