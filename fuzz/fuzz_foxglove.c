// fuzz_foxglove.c - whatever a client of Foxglove's protocol says, it is taken or answered with one status, its
// subscriptions stay within their list, and only an operator's whole pose becomes a goal or a place.
//
// The input is a byte for who it is (odd: an operator, else a viewer), then records: a byte (odd: a binary message,
// else text), two bytes for its length (little-endian), the message.
#include "serve/foxglove/room.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>

enum { MESSAGES_MAX = 64, STATUS_MAX = 1024 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int reported; // statuses, of one message
static bool operates;

static void must(int holds)
{
    if (!holds) {
        abort();
    }
}

static int send_to(pons_http_socket *s, bool binary, const void *data, size_t n)
{
    pons_value *v = NULL;
    must(s == NULL && !binary && n <= STATUS_MAX);
    must(pons_value_parse(data, n, &v, NULL) == PONS_OK);
    must(strcmp(pons_get_str(v, "op", ""), "status") == 0 && *pons_get_str(v, "message", ""));
    pons_value_unref(v);
    reported++;
    return PONS_OK;
}

static int say(void *user, const char *thread, const char *text, pons_value **ret, pons_error *err)
{
    double x, y;
    (void)user;
    (void)thread;
    (void)err;
    must(operates && sscanf(text, "go to %lf %lf", &x, &y) == 2 && isfinite(x) && isfinite(y));
    *ret = json_object();
    return PONS_OK;
}

static int place(void *user, double x, double y, double yaw, pons_error *err)
{
    (void)user;
    (void)err;
    must(operates && isfinite(x) && isfinite(y) && isfinite(yaw));
    return PONS_OK;
}

static const pons_http_server_ops http = {.socket_send = send_to};
static struct pons_serve serve = {.http = &http};
static pons__foxglove room = {.s = &serve, .wake = -1};

static void begin(void)
{
    static char topics[][16] = {"/robot", "/map", "/camera/front"};
    pons_value_init();
    room.wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    must(room.wake >= 0 && pthread_mutex_init(&room.mtx, NULL) == 0);
    for (size_t i = 0; i < sizeof topics / sizeof *topics; i++) {
        room.channels[room.n_channels++].topic = topics[i];
    }
    serve.o.host.say = say;
    serve.o.host.place = place;
}

static void check(const pons__fox_client *c)
{
    must(c->n <= PONS__FOXGLOVE_CHANNELS && c->n_offers <= PONS__FOXGLOVE_CHANNELS);
    must(c->n_offers == 0 || operates);
    for (size_t i = 0; i < c->n; i++) {
        must(c->subs[i].channel < room.n_channels);
        must(pons__fox_may_see(c, room.channels[c->subs[i].channel].topic));
        for (size_t k = 0; k < i; k++) {
            must(c->subs[i].id != c->subs[k].id);
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (room.wake < 0) {
        begin();
    }
    if (size == 0) {
        return 0;
    }
    operates = *data & 1;
    pons__fox_client *c = calloc(1, sizeof *c);
    must(c != NULL);
    c->f = &room;
    c->role = operates ? PONS__OPERATOR : PONS__VIEWER;
    size_t at = 1;
    for (int i = 0; size - at > 3 && i < MESSAGES_MAX; i++) {
        const bool binary = data[at] & 1;
        size_t n = (size_t)data[at + 1] | (size_t)data[at + 2] << 8;
        at += 3;
        n = n < size - at ? n : size - at;
        char *message = malloc(n ? n : 1); // of its own size: what is read behind it is seen
        must(message != NULL);
        memcpy(message, data + at, n);
        reported = 0;
        pons__fox_message(c, NULL, binary, message, n);
        must(reported <= 1);
        check(c);
        free(message);
        at += n;
    }
    pons__fox_over(c, NULL);
    must(c->over);
    free(c);
    return 0;
}
