// fuzz_sse.c - a stream of server-sent events gives the same events however it is cut.
#include "pons/sse.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define EVENT_MAX 512 // small, so that the limit is met

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int collect(void *user, const char *event, const char *data, size_t len)
{
    if (data[len] != '\0') {
        abort();
    }
    pons_buf_printf(user, "%s=", event);
    pons_buf_bytes(user, data, len);
    return pons_buf_byte(user, '|');
}

static int feed(const uint8_t *data, size_t size, size_t piece, pons_buf *out)
{
    pons_sse s;
    pons_sse_init(&s, EVENT_MAX);
    int rc = PONS_OK;
    for (size_t at = 0; rc == PONS_OK && at < size; at += piece) {
        const size_t n = size - at < piece ? size - at : piece;
        rc = pons_sse_feed(&s, (const char *)data + at, n, collect, out);
    }
    pons_sse_fini(&s);
    return rc;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    pons_autobuf whole = PONS_BUF_INIT;
    const int rc = feed(data, size, size + 1, &whole);
    for (size_t piece = 1; piece <= 7; piece += 3) {
        pons_autobuf cut = PONS_BUF_INIT;
        if (feed(data, size, piece, &cut) != rc || cut.len != whole.len ||
            (cut.len && memcmp(cut.data, whole.data, cut.len) != 0)) {
            abort();
        }
    }
    return 0;
}
