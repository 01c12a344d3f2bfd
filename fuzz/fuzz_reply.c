// fuzz_reply.c - whatever a chat completions server streams, the client has an error or a whole
// reply: calls of tools that were offered, ids that are each call's own, arguments that are
// objects, and something said; the same however it is cut; and never the key.
#include "llm/chat/chat.h"
#include "pons/sse.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define EVENT_BYTES 4096
#define KEY         "sk-0123"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char request_text[] =
    "{\"messages\":[],\"tools\":[{\"name\":\"a\",\"parameters\":{}},{\"name\":\"b.c\","
    "\"parameters\":{\"required\":[\"x\"]}}]}";

static void must(int holds)
{
    if (!holds) {
        abort();
    }
}

static void on_piece(void *user, pons_llm_event_kind kind, const char *text)
{
    must(*text != '\0' && (kind == PONS_LLM_TOKEN || kind == PONS_LLM_REASONING));
    pons_buf_str(user, text);
}

static void check_value(const pons_value *v)
{
    const pons_value *calls = pons_get(v, "tool_calls");
    must(json_is_array(calls) && *pons_get_str(v, "finish_reason", ""));
    must(json_array_size(calls) || pons_get_str(v, "content", NULL) ||
         pons_get_str(v, "refusal", NULL));
    for (size_t i = 0; i < json_array_size(calls); i++) {
        const pons_value *c = json_array_get(calls, i);
        const char *name = pons_get_str(c, "name", ""), *id = pons_get_str(c, "id", "");
        must(strcmp(name, "a") == 0 || strcmp(name, "b.c") == 0);
        must(*id && json_is_object(pons_get(c, "arguments")));
        for (size_t k = 0; k < i; k++) {
            must(strcmp(id, pons_get_str(json_array_get(calls, k), "id", "")) != 0 ||
                 strstr(id, "***"));
        }
    }
}

static pons_value *read_stream(const pons_value *request, const uint8_t *data, size_t size,
                               size_t piece, pons_buf *shown, pons_error *err)
{
    pons_sse sse;
    pons__reply r;
    pons_value *v = NULL;
    pons_sse_init(&sse, EVENT_BYTES);
    pons__reply_init(&r, request, on_piece, shown, KEY, err);
    r.from = "m at u";
    int rc = PONS_OK;
    for (size_t at = 0; rc == PONS_OK && at < size; at += piece) {
        const size_t n = size - at < piece ? size - at : piece;
        rc = pons_sse_feed(&sse, (const char *)data + at, n, pons__reply_event, &r);
    }
    rc = rc == PONS_OK ? pons__reply_finish(&r, 1, &v) : rc;
    must((rc == PONS_OK) == (v != NULL));
    pons__reply_fini(&r);
    pons_sse_fini(&sse);
    return v;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static pons_value *request;
    pons_error err = PONS_ERROR_INIT;
    if (!request) {
        pons_value_init();
        must(pons_value_parse(request_text, strlen(request_text), &request, &err) == PONS_OK);
    }
    pons_autobuf whole = PONS_BUF_INIT;
    pons_autovalue v = read_stream(request, data, size, size + 1, &whole, &err);
    must(!strstr(err.message, KEY) && (!whole.data || !strstr(whole.data, KEY)));
    if (v) {
        check_value(v);
    }
    for (size_t piece = 1; piece <= 7; piece += 3) {
        pons_autobuf cut = PONS_BUF_INIT;
        pons_error why = PONS_ERROR_INIT;
        pons_autovalue same = read_stream(request, data, size, piece, &cut, &why);
        must(v ? json_equal(v, same) : !same);
        must(cut.len == whole.len && (!cut.len || memcmp(cut.data, whole.data, cut.len) == 0));
    }
    return 0;
}
