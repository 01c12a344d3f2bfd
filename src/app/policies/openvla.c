// openvla.c - the protocol of OpenVLA's server (vla-scripts/deploy.py): one action an answer, over HTTP.
//
//     POST ENDPOINT {"image": {"__numpy__": base64, "dtype": "|u1", "shape": [h, w, 3]}, "instruction": "…",
//                    "unnorm_key"?: "…"}
//     200 {"__numpy__": base64, "dtype": "<f8", "shape": [7]} or [dx, dy, dz, droll, dpitch, dyaw, gripper]; "error"
//
// An array is as json_numpy has it; that of an answer may also be a list, of lists where a server gives several actions
// at once (OpenVLA-OFT).
#include "app/policies/policies.h"
#include "pons/buf.h"
#include "pons/ext/http.h"

#include <stdlib.h>
#include <string.h>

#define WHERE      "openvla"
#define CONNECT_MS 5000
#define WHOLE_MS   600000 // the session ends the process long before, unless the session has died

typedef struct server {
    const pons_http_ops *http;
    void *client;
    const pons_value *config;
    uint64_t calls;
} server;

static void server_close(void *self)
{
    server *s = self;
    if (s && s->client) {
        s->http->close(s->client);
    }
    if (s) {
        pons_value_unref(s->config);
    }
    free(s);
}

static int server_open(const pons_value *client, void **ret_self, pons_error *err)
{
    const char *url = pons_get_str(client, "endpoint", "");
    if (strncmp(url, "http://", 7) != 0 && strncmp(url, "https://", 8) != 0) {
        return pons_error_set(err, PONS_EINVAL, WHERE,
                              "policy_client.endpoint of openvla is http://HOST:PORT/act");
    }
    server *s = calloc(1, sizeof *s);
    if (!s) {
        return pons_error_set(err, PONS_ENOMEM, WHERE, "no memory for a connection");
    }
    s->config = pons_value_ref(client);
    int rc = pons_http_load(&s->http, err);
    rc = rc < 0 ? rc : s->http->open(NULL, NULL, &s->client, err);
    if (rc < 0) {
        server_close(s);
        return rc;
    }
    *ret_self = s;
    return PONS_OK;
}

static int add_input(pons_value *question, const pons_policy_input *in, pons_error *err)
{
    pons_autobuf text = PONS_BUF_INIT;
    pons_value *v = NULL;
    if (in->kind == PONS_POLICY_TEXT) {
        v = pons_string(in->text);
    } else if (in->kind == PONS_POLICY_PICTURE) {
        const size_t bytes = (size_t)in->width * (size_t)in->height * 3;
        if (pons_buf_base64(&text, in->rgb, bytes) == PONS_OK) {
            v = json_pack("{ss ss s[iii]}", "__numpy__", text.data, "dtype", "|u1", "shape",
                          in->height, in->width, 3);
        }
    } else {
        v = json_array();
        for (size_t i = 0; i < in->n; i++) {
            json_array_append_new(v, json_real(in->numbers[i]));
        }
    }
    return v && json_object_set_new(question, in->key, v) == 0
               ? PONS_OK
               : pons_error_set(err, PONS_ENOMEM, WHERE, "no memory for a question");
}

static int question_of(const server *s, const pons_policy_input *inputs, size_t n, char **ret,
                       pons_error *err)
{
    pons_autovalue v = json_object();
    const pons_value *key = pons_get(s->config, "unnorm_key");
    int rc = PONS_OK;
    for (size_t i = 0; rc >= 0 && i < n; i++) {
        rc = add_input(v, &inputs[i], err);
    }
    if (rc >= 0 && key) {
        json_object_set(v, "unnorm_key", (json_t *)(uintptr_t)key);
    }
    if (rc >= 0 && pons_value_line(v, ret) < 0) {
        rc = pons_error_set(err, PONS_ENOMEM, WHERE, "no memory for a question");
    }
    return rc;
}

static int post(server *s, const char *question, pons_buf *text, pons_error *err)
{
    static const char *const headers[] = {"Content-Type: application/json", NULL};
    const pons_http_request request = {.url = pons_get_str(s->config, "endpoint", ""),
                                       .headers = headers,
                                       .body = question,
                                       .body_n = strlen(question),
                                       .body_max = PONS_POLICY_ANSWER_MAX,
                                       .connect_ms = CONNECT_MS,
                                       .whole_ms = WHOLE_MS};
    int status = 0;
    const int rc = pons_http_call(s->http, s->client, ++s->calls, &request, -1, text, &status, err);
    if (rc < 0 || status == 200) {
        return rc;
    }
    return pons_error_set(err, PONS_EREFUSED, WHERE, "the server answers %d: %.120s", status,
                          text->data ? text->data : "");
}

// ---- an answer ----------------------------------------------------------------------------------

static int bad(pons_error *err, const char *what)
{
    return pons_error_set(err, PONS_EPROTOCOL, WHERE, "the answer is no action: %s", what);
}

static int take_rows(pons_policy_rows *ret, size_t n, size_t width, pons_error *err)
{
    if (n == 0 || n > PONS_POLICY_ROWS_MAX || width == 0 || width > PONS_POLICY_WIDTH_MAX) {
        return bad(err, "its shape is [7], or [n, 7]");
    }
    *ret = (pons_policy_rows){n, width, calloc(n * width, sizeof *ret->at)};
    return ret->at ? PONS_OK : pons_error_set(err, PONS_ENOMEM, WHERE, "no memory for an answer");
}

static int read_list(const pons_value *list, pons_policy_rows *ret, pons_error *err)
{
    const bool nested = json_is_array(json_array_get(list, 0));
    const pons_value *first = nested ? json_array_get(list, 0) : list;
    const size_t n = nested ? json_array_size(list) : 1, width = json_array_size(first);
    int rc = take_rows(ret, n, width, err);
    for (size_t i = 0; rc >= 0 && i < n; i++) {
        const pons_value *row = nested ? json_array_get(list, i) : list;
        rc = json_array_size(row) == width ? rc : bad(err, "its rows have several lengths");
        for (size_t k = 0; rc >= 0 && k < width; k++) {
            const pons_value *v = json_array_get(row, k);
            rc = json_is_number(v) ? rc : bad(err, "not all of it are numbers");
            ret->at[i * width + k] = json_number_value(v);
        }
    }
    return rc;
}

static int read_numpy(const pons_value *array, pons_policy_rows *ret, pons_error *err)
{
    const char *data = pons_get_str(array, "__numpy__", NULL),
               *dtype = pons_get_str(array, "dtype", "");
    const pons_value *shape = pons_get(array, "shape");
    const size_t dims = json_array_size(shape);
    const int64_t n = dims == 2 ? json_integer_value(json_array_get(shape, 0)) : 1;
    const int64_t width = dims ? json_integer_value(json_array_get(shape, dims - 1)) : 0;
    const bool wide = strcmp(dtype, "<f8") == 0;
    pons_autobuf bytes = PONS_BUF_INIT;
    if (!data || (!wide && strcmp(dtype, "<f4") != 0)) {
        return bad(err, "it is an array of dtype <f4 or <f8 in json_numpy's form, or a list");
    }
    if (dims < 1 || dims > 2 || n < 0 || width < 0) {
        return bad(err, "its shape is [7], or [n, 7]");
    }
    int rc = take_rows(ret, (size_t)n, (size_t)width, err);
    const size_t size = wide ? sizeof(double) : sizeof(float), all = (size_t)(n * width);
    if (rc >= 0 && (pons_buf_unbase64(&bytes, data, strlen(data)) < 0 || bytes.len != all * size)) {
        rc = bad(err, "its bytes are not those of its shape");
    }
    for (size_t i = 0; rc >= 0 && i < all; i++) {
        float narrow;
        memcpy(wide ? (void *)&ret->at[i] : (void *)&narrow, bytes.data + i * size, size);
        ret->at[i] = wide ? ret->at[i] : (double)narrow;
    }
    return rc;
}

static int server_ask(void *self, const pons_policy_input *inputs, size_t n, pons_policy_rows *ret,
                      pons_error *err)
{
    server *s = self;
    char *question = NULL;
    pons_autobuf text = PONS_BUF_INIT;
    pons_autovalue answer = NULL;
    int rc = question_of(s, inputs, n, &question, err);
    rc = rc < 0 ? rc : post(s, question, &text, err);
    free(question);
    if (rc < 0) {
        return rc;
    }
    answer = json_loadb(text.data ? text.data : "", text.len, JSON_DECODE_ANY, NULL);
    if (json_is_string(answer)) { // "error"; its own log has why
        return pons_error_set(err, PONS_EREFUSED, WHERE, "the server says: %.200s",
                              json_string_value(answer));
    }
    if (!json_is_array(answer) && !json_is_object(answer)) {
        return bad(err, "it is no JSON");
    }
    rc = json_is_array(answer) ? read_list(answer, ret, err) : read_numpy(answer, ret, err);
    if (rc < 0) {
        free(ret->at);
        *ret = (pons_policy_rows){0};
    }
    return rc;
}

const pons_policy_server_ops app_policy_openvla = {
    .abi = PONS_POLICY_SERVER_ABI, .open = server_open, .ask = server_ask, .close = server_close};
