// fuzz_link.c - whatever bytes come over the body link, its reader gives whole messages with a type, or
// a reason; it ends; and a good line after a bad one is found again. The same, and the same stops in
// bad lines, however it is cut. A message to the body is decoded or names its fault; what was decoded
// is written, and read, as the same.
#include "pons/link.h"
#include "pons/link_message.h"
#include "pons/value.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define MESSAGES_MAX 100000
#define STOP         1000 // that a bad line asks for, among the bad ones

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(int holds)
{
    if (!holds) {
        abort();
    }
}

static void decode(const pons_value *json)
{
    pons_message m, again;
    const int rc = pons_message_decode(json, &m, NULL);
    must(rc == PONS_OK || rc == PONS_ENOTFOUND || rc == PONS_EPROTOCOL);
    must((rc == PONS_EPROTOCOL) == (m.fault.text[0] != '\0'));
    must((rc == PONS_ENOTFOUND) == (m.type == PONS_MESSAGE_NONE));
    if (rc == PONS_OK) {
        pons_autovalue written = pons_message_encode(&m);
        must(pons_message_decode(written, &again, NULL) == PONS_OK && again.type == m.type);
        pons_autovalue rewritten = pons_message_encode(&again);
        must(json_equal(written, rewritten));
        pons_message_clear(&again);
    }
    pons_message_clear(&m);
}

// All that is there: the messages, one after the other, into a digest; how many bad lines.
static int read_all(pons_link *l, pons_value *into, int *ret_last)
{
    int bad = 0;
    for (int i = 0; i < MESSAGES_MAX; i++) {
        pons_value *v = NULL;
        pons_error err = PONS_ERROR_INIT;
        const int rc = pons_link_recv(l, &v, &err);
        must((rc == 1) == (v != NULL));
        if (rc == 1) {
            must(json_is_string(pons_get(v, "type")));
            decode(v);
            json_array_append_new(into, v);
            must(!pons_link_asks_stop(l));
        } else if (rc == PONS_EPROTOCOL) {
            must(err.message[0] != '\0');
            bad += pons_link_asks_stop(l) ? STOP : 1;
        } else {
            *ret_last = rc;
            return bad;
        }
    }
    abort();
}

static pons_value *deliver(const uint8_t *data, size_t size, size_t piece, int *ret_bad)
{
    int fds[2], last = 0;
    must(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds) == 0);
    pons_link *l = pons_link_from_fd(fds[1]);
    must(l != NULL);
    pons_value *got = json_array();
    *ret_bad = 0;
    for (size_t at = 0; at < size; at += piece) {
        const size_t n = size - at < piece ? size - at : piece;
        if (write(fds[0], data + at, n) != (ssize_t)n) {
            break; // it was closed: a line without end
        }
        *ret_bad += read_all(l, got, &last);
    }
    // A good line is found behind anything that ends in a newline.
    static const char good[] = "\n{\"type\":\"good\"}\n";
    if (last == 0 && write(fds[0], good, sizeof good - 1) == (ssize_t)sizeof good - 1) {
        *ret_bad += read_all(l, got, &last);
        if (last == 0) {
            const pons_value *v = json_array_get(got, json_array_size(got) - 1);
            must(strcmp(pons_get_str(v, "type", ""), "good") == 0);
        }
    }
    close(fds[0]);
    *ret_bad += read_all(l, got, &last);
    must(last == PONS_ECLOSED);
    pons_link_close(l);
    return got;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static int ready;
    if (!ready) {
        pons_value_init();
        ready = 1;
    }
    int bad = 0, bad_too = 0;
    pons_autovalue whole = deliver(data, size, size + 1, &bad);
    pons_autovalue cut = deliver(data, size, 1 + size / 7, &bad_too);
    must(json_equal(whole, cut) && bad == bad_too);
    return 0;
}
