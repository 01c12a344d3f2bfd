// openpi.c - the protocol of openpi's server (openpi_client, websocket_policy_server.py): MessagePack over a WebSocket.
//
//     connect    <-- a map: the server's metadata
//     question   --> {key: text | array, …}
//     answer     <-- {"actions": array (n, width), …}          a text frame is a traceback: an error
//
// An array is a map with keys of bytes, as msgpack_numpy of openpi-client has it: __ndarray__ true, data its bytes in
// C order, dtype as numpy's .str ("<f4"), shape a list. Pictures go out as |u1 (height, width, 3), numbers as <f4.
#include "policies/openpi/websocket_client.h"
#include "pons/ext/policy_server.h"
#include "pons/module.h"

#include <msgpack.h>
#include <stdlib.h>
#include <string.h>

#define WHERE "openpi"

static int bad(pons_error *err, const char *what)
{
    return pons_error_set(err, PONS_EPROTOCOL, WHERE, "the answer is no chunk of actions: %s",
                          what);
}

// ---- a question ---------------------------------------------------------------------------------

static void pack_word(msgpack_packer *p, const char *word)
{
    msgpack_pack_bin_with_body(p, word, strlen(word));
}

static void pack_array(msgpack_packer *p, const char *dtype, const void *data, size_t n,
                       const int *shape, size_t dims)
{
    msgpack_pack_map(p, 4);
    pack_word(p, "__ndarray__");
    msgpack_pack_true(p);
    pack_word(p, "data");
    msgpack_pack_bin_with_body(p, data, n);
    pack_word(p, "dtype");
    msgpack_pack_str_with_body(p, dtype, strlen(dtype));
    pack_word(p, "shape");
    msgpack_pack_array(p, dims);
    for (size_t i = 0; i < dims; i++) {
        msgpack_pack_int(p, shape[i]);
    }
}

static int pack_input(msgpack_packer *p, const pons_policy_input *in)
{
    msgpack_pack_str_with_body(p, in->key, strlen(in->key));
    if (in->kind == PONS_POLICY_TEXT) {
        return msgpack_pack_str_with_body(p, in->text, strlen(in->text));
    }
    if (in->kind == PONS_POLICY_PICTURE) {
        const int shape[] = {in->height, in->width, 3};
        pack_array(p, "|u1", in->rgb, (size_t)in->height * (size_t)in->width * 3, shape, 3);
        return 0;
    }
    const int shape[] = {(int)in->n};
    float *narrow = malloc(in->n * sizeof *narrow);
    for (size_t i = 0; narrow && i < in->n; i++) {
        narrow[i] = (float)in->numbers[i];
    }
    if (narrow) {
        pack_array(p, "<f4", narrow, in->n * sizeof *narrow, shape, 1);
    }
    free(narrow);
    return narrow ? 0 : -1;
}

// ---- an answer ----------------------------------------------------------------------------------

static bool says(const msgpack_object *o, const char *word)
{
    const size_t n = strlen(word);
    return (o->type == MSGPACK_OBJECT_STR && o->via.str.size == n &&
            memcmp(o->via.str.ptr, word, n) == 0) ||
           (o->type == MSGPACK_OBJECT_BIN && o->via.bin.size == n &&
            memcmp(o->via.bin.ptr, word, n) == 0);
}

static const msgpack_object *member(const msgpack_object *map, const char *key)
{
    for (uint32_t i = 0; map && map->type == MSGPACK_OBJECT_MAP && i < map->via.map.size; i++) {
        if (says(&map->via.map.ptr[i].key, key)) {
            return &map->via.map.ptr[i].val;
        }
    }
    return NULL;
}

// [n, width] or [width].
static bool read_shape(const msgpack_object *shape, size_t *ret_n, size_t *ret_width)
{
    size_t at[2] = {1, 1};
    const uint32_t dims = shape && shape->type == MSGPACK_OBJECT_ARRAY ? shape->via.array.size : 0;
    if (dims < 1 || dims > 2) {
        return false;
    }
    for (uint32_t i = 0; i < dims; i++) {
        const msgpack_object *o = &shape->via.array.ptr[i];
        const uint64_t most = i + 1 == dims ? PONS_POLICY_WIDTH_MAX : PONS_POLICY_ROWS_MAX;
        if (o->type != MSGPACK_OBJECT_POSITIVE_INTEGER || o->via.u64 < 1 || o->via.u64 > most) {
            return false;
        }
        at[i + 2 - dims] = (size_t)o->via.u64;
    }
    *ret_n = at[0];
    *ret_width = at[1];
    return true;
}

static int read_array(const msgpack_object *array, pons_policy_rows *ret, pons_error *err)
{
    const msgpack_object *is = member(array, "__ndarray__"), *data = member(array, "data"),
                         *dtype = member(array, "dtype");
    size_t n = 0, width = 0;
    if (!is || is->type != MSGPACK_OBJECT_BOOLEAN || !is->via.boolean || !data ||
        data->type != MSGPACK_OBJECT_BIN || !dtype) {
        return bad(err, "`actions` is no array of numpy's");
    }
    const bool wide = says(dtype, "<f8");
    if (!wide && !says(dtype, "<f4")) {
        return bad(err, "its dtype is not <f4 or <f8");
    }
    if (!read_shape(member(array, "shape"), &n, &width)) {
        return bad(err, "its shape is not [actions, numbers]");
    }
    const size_t size = wide ? sizeof(double) : sizeof(float);
    if (data->via.bin.size != n * width * size) {
        return bad(err, "its bytes are not those of its shape");
    }
    *ret = (pons_policy_rows){n, width, calloc(n * width, sizeof *ret->at)};
    if (!ret->at) {
        return pons_error_set(err, PONS_ENOMEM, WHERE, "no memory for an answer");
    }
    for (size_t i = 0; i < n * width; i++) {
        float narrow = 0;
        memcpy(wide ? (void *)&ret->at[i] : (void *)&narrow, data->via.bin.ptr + i * size, size);
        ret->at[i] = wide ? ret->at[i] : (double)narrow;
    }
    return PONS_OK;
}

// The last line of a traceback that says something.
static int refused(const ws_message *m, pons_error *err)
{
    size_t end = m->n;
    while (end > 0 && strchr(" \r\n", m->data[end - 1])) {
        end--;
    }
    size_t from = end;
    while (from > 0 && m->data[from - 1] != '\n') {
        from--;
    }
    return pons_error_set(err, PONS_EREFUSED, WHERE, "the server says: %.*s",
                          (int)(end - from < 200 ? end - from : 200), m->data + from);
}

static int read_answer(const ws_message *m, pons_policy_rows *ret, pons_error *err)
{
    msgpack_unpacked all;
    size_t at = 0;
    if (m->text) {
        return refused(m, err);
    }
    msgpack_unpacked_init(&all);
    int rc = PONS_OK;
    if (msgpack_unpack_next(&all, m->data, m->n, &at) != MSGPACK_UNPACK_SUCCESS || at != m->n) {
        rc = bad(err, "it is no MessagePack");
    } else if (!member(&all.data, "actions")) {
        rc = bad(err, "it has no `actions`");
    } else {
        rc = read_array(member(&all.data, "actions"), ret, err);
    }
    msgpack_unpacked_destroy(&all);
    return rc;
}

// ---- the server ---------------------------------------------------------------------------------

static void server_close(void *self)
{
    ws_close(self);
}

// The first message: what the server says of itself, a map.
static int read_metadata(ws_client *socket, pons_error *err)
{
    ws_message m;
    msgpack_unpacked all;
    size_t at = 0;
    const int rc = ws_receive(socket, &m, err);
    if (rc < 0) {
        return rc;
    }
    msgpack_unpacked_init(&all);
    const bool map = !m.text &&
                     msgpack_unpack_next(&all, m.data, m.n, &at) == MSGPACK_UNPACK_SUCCESS &&
                     all.data.type == MSGPACK_OBJECT_MAP;
    msgpack_unpacked_destroy(&all);
    return map ? PONS_OK
               : pons_error_set(err, PONS_EPROTOCOL, WHERE,
                                "the server does not begin with its metadata, as openpi's does");
}

static int server_open(const pons_value *client, void **ret_self, pons_error *err)
{
    const char *env = pons_get_str(client, "token_env", NULL), *token = env ? getenv(env) : NULL;
    char key[512];
    if (env && !token) {
        return pons_error_set(err, PONS_EINVAL, WHERE,
                              "token_env: there is no environment variable %.60s", env);
    }
    snprintf(key, sizeof key, "Api-Key %s", token ? token : "");
    ws_client *socket = NULL;
    int rc = ws_connect(pons_get_str(client, "endpoint", ""), token ? key : NULL,
                        PONS_POLICY_ANSWER_MAX, &socket, err);
    rc = rc < 0 ? rc : read_metadata(socket, err);
    if (rc < 0) {
        ws_close(socket);
        return rc;
    }
    *ret_self = socket;
    return PONS_OK;
}

static int server_ask(void *self, const pons_policy_input *inputs, size_t n, pons_policy_rows *ret,
                      pons_error *err)
{
    ws_client *socket = self;
    ws_message m;
    msgpack_sbuffer bytes;
    msgpack_packer p;
    msgpack_sbuffer_init(&bytes);
    msgpack_packer_init(&p, &bytes, msgpack_sbuffer_write);
    bool ok = msgpack_pack_map(&p, n) == 0;
    for (size_t i = 0; ok && i < n; i++) {
        ok = pack_input(&p, &inputs[i]) == 0;
    }
    int rc = ok ? ws_send(socket, bytes.data, bytes.size, err)
                : pons_error_set(err, PONS_ENOMEM, WHERE, "no memory for a question");
    msgpack_sbuffer_destroy(&bytes);
    rc = rc < 0 ? rc : ws_receive(socket, &m, err);
    return rc < 0 ? rc : read_answer(&m, ret, err);
}

static const pons_policy_server_ops ops = {
    .abi = PONS_POLICY_SERVER_ABI, .open = server_open, .ask = server_ask, .close = server_close};

PONS_MODULE_EXPORT("policy", "openpi", &ops);
