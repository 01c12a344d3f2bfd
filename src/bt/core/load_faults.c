// load_faults.c - gathers what a reader complains of, up to a hundred.
#include "bt/core/load_faults.h"

#include "bt/core/source_text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void pons__bt_fault(pons__bt_faults *f, pons__bt_pos pos, const char *fmt, ...)
{
    if (f->n == PONS__BT_FAULTS_MAX) {
        return;
    }
    char text[400];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    pons__bt_keep_utf8(text);
    char *file = strdup(pos.file); // the loader's own names do not outlive it
    f->message[f->n] = strdup(text);
    if (!file || !f->message[f->n]) {
        free(file);
        free(f->message[f->n]);
        f->nomem = true;
        return;
    }
    f->pos[f->n++] = (pons__bt_pos){file, pos.line, pos.col};
}

void pons__bt_faults_fini(pons__bt_faults *f)
{
    while (f->n > 0) {
        free(f->message[--f->n]);
        free((char *)f->pos[f->n].file);
    }
}

pons_value *pons__bt_faults_list(const pons__bt_faults *f)
{
    pons_value *list = json_array();
    bool ok = list != NULL;
    for (int i = 0; i < f->n && ok; i++) {
        ok = json_array_append_new(list,
                                   pons_object_whole("file", json_string(f->pos[i].file), "line",
                                                     json_integer(f->pos[i].line), "col",
                                                     json_integer(f->pos[i].col), "message",
                                                     json_string(f->message[i]), NULL)) == 0;
    }
    if (!ok) {
        pons_value_unref(list);
        return NULL;
    }
    return list;
}

// Faults found later stay behind those found earlier at the same place.
void pons__bt_faults_sort(pons__bt_faults *f)
{
    for (int i = 1; i < f->n; i++) {
        for (int j = i; j > 0; j--) {
            const pons__bt_pos a = f->pos[j - 1], b = f->pos[j];
            if (strcmp(a.file, b.file) != 0 || a.line < b.line ||
                (a.line == b.line && a.col <= b.col)) {
                break;
            }
            char *m = f->message[j];
            f->pos[j] = a;
            f->pos[j - 1] = b;
            f->message[j] = f->message[j - 1];
            f->message[j - 1] = m;
        }
    }
}
