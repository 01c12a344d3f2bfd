// fuzz_workspace.c - the protocol files: any text is read or refused with a place; what was read and is
// rendered again has the same records, and so has what is converted.
#include "pons/out_of_memory.h"
#include "pons/workspace.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerInitialize(int *argc, char ***argv);
const char *__lsan_default_suppressions(void);

// libfyaml 0.7.12 loses a buffer when it refuses some quoted scalars of many lines.
const char *__lsan_default_suppressions(void)
{
    return "leak:libfyaml";
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    pons_value_init();
    pons_memory_of_a_process();
    return 0;
}

static void must_agree(const pons_ws_doc *a, const pons_buf *text, pons_ws_file file)
{
    pons_ws_doc *b = NULL;
    pons_error err = PONS_ERROR_INIT;
    size_t n, m;
    const pons_ws_record *r = pons_ws_records(a, &n);
    if (pons_ws_read(file, text->data ? text->data : "", text->len, "f", &b, &err) < 0) {
        fprintf(stderr, "%s: %s in\n%s\n", err.source, err.message, text->data);
        abort();
    }
    pons_ws_records(b, &m);
    if (n != m) {
        fprintf(stderr, "%zu records became %zu in\n%s\n", n, m, text->data);
        abort();
    }
    for (size_t i = 0; i < n; i++) {
        const pons_ws_record *same = pons_ws_find(b, r[i].kind, r[i].id);
        if (!same || !json_equal(same->value, r[i].value)) {
            fprintf(stderr, "%s %s is not the same in\n%s\n", r[i].kind, r[i].id, text->data);
            abort();
        }
    }
    pons_ws_destroy(b);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    pons_error err = PONS_ERROR_INIT;
    pons_ws_doc *d = NULL;
    if (size == 0) {
        return 0;
    }
    const pons_ws_file file = (pons_ws_file)((data[0] + 2u) % PONS_WS_FILES);
    const char *text = (const char *)data + 1;
    if (pons_ws_read(file, text, size - 1, "f", &d, &err) < 0) {
        if (!*err.message || !strstr(err.source, "f:")) {
            fprintf(stderr, "refused without a place: '%s' [%s]\n", err.message, err.source);
            abort();
        }
        return 0;
    }
    size_t n, faults;
    const pons_ws_record *r = pons_ws_records(d, &n);
    pons_ws_faults(d, &faults);
    pons_autobuf same = PONS_BUF_INIT, less = PONS_BUF_INIT;
    if (pons_ws_render(d, NULL, 0, 0, &same, &err) < 0 || same.len != size - 1 ||
        (same.len && memcmp(same.data, text, same.len) != 0)) {
        abort();
    }
    if (n > 0) { // without its first record, where the text lets it be taken out
        const pons_ws_change c = {r[0].kind, r[0].id, NULL};
        pons_ws_render(d, &c, 1, 1, &less, &err);
    }
    for (int to = 0; faults == 0 && to < PONS_WS_DIALECTS; to++) {
        pons_autobuf out = PONS_BUF_INIT;
        if (pons_ws_convert(d, (pons_ws_dialect)to, &out, &err) >= 0) {
            must_agree(d, &out, file);
        }
    }
    pons_ws_destroy(d);
    return 0;
}
