// fuzz_plain.c - whatever bytes come from outside, what a person is shown of them is valid UTF-8
// without what pons_plain_hides, shown again it is the same, and JSON that is made safe for a
// terminal is the same value.
#include "pons/printable.h"
#include "pons/value.h"

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

static void check(const pons_buf *b, bool lines)
{
    for (size_t i = 0; i < b->len;) {
        const size_t n = pons_utf8_sequence(b->data + i, b->len - i);
        uint32_t cp = n == 1 ? (unsigned char)b->data[i] : (unsigned char)b->data[i] & (0x7FU >> n);
        for (size_t k = 1; k < n; k++) {
            cp = cp << 6 | ((unsigned char)b->data[i + k] & 0x3FU);
        }
        must(n > 0 && (!pons_plain_hides(cp) || (lines && (cp == '\n' || cp == '\t'))));
        i += n;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *text = (const char *)data;
    for (int lines = 0; lines <= 1; lines++) {
        pons_autobuf once = PONS_BUF_INIT;
        pons_autobuf twice = PONS_BUF_INIT;
        must(pons_plain(&once, text, size, lines) == PONS_OK);
        check(&once, lines);
        must(pons_plain(&twice, once.data ? once.data : "", once.len, lines) == PONS_OK);
        must(once.len == twice.len && (!once.len || memcmp(once.data, twice.data, once.len) == 0));
    }
    pons_autovalue v = NULL;
    if (pons_value_parse(text, size, &v, NULL) == PONS_OK) {
        char *line = NULL;
        const long n = pons_value_line(v, &line);
        pons_autobuf safe = PONS_BUF_INIT;
        pons_autovalue again = NULL;
        must(n >= 0 && pons_plain_json(&safe, line, (size_t)n) == PONS_OK);
        check(&safe, false);
        must(pons_value_parse(safe.data, safe.len, &again, NULL) == PONS_OK &&
             json_equal(v, again));
        free(line);
    }
    return 0;
}
