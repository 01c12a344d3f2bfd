// fuzz_html.c - whatever a page holds, fetch_url's text of it is no longer than the page, the same
// each time, and valid UTF-8 without control characters once it has passed the door of all texts
// that a model reads (pons__text_append).
#include "pons/buf.h"
#include "tools/core/bytes_to_text.h"

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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    pons_autobuf text = PONS_BUF_INIT, clean = PONS_BUF_INIT, again = PONS_BUF_INIT;
    must(pons__html_text(&text, (const char *)data, size) == PONS_OK);
    must(text.len <= size);
    pons__text_append(&clean, text.data ? text.data : "", text.len, NULL);
    for (size_t i = 0; i < clean.len;) {
        const size_t n = pons_utf8_sequence(clean.data + i, clean.len - i);
        must(n > 0 && ((unsigned char)clean.data[i] >= 0x20 || strchr("\n\t\r", clean.data[i])));
        i += n;
    }
    must(pons__html_text(&again, (const char *)data, size) == PONS_OK && again.len == text.len);
    must(text.len == 0 || memcmp(again.data, text.data, text.len) == 0);
    pons__binary_kind(data, size);
    must(pons__text_cut((const char *)data, size) <= size);
    return 0;
}
