// test_event_queue.c - what a host may rely on: events in order, none of a call that was ended, a
// descriptor that is readable exactly while there is something, and no event lost between threads.
#include "pons/event_queue.h"
#include "unit.h"

#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

typedef struct event {
    uint64_t call;
    char *text; // owned
} event;

static int alive; // texts that nobody freed

static void clear(void *e)
{
    event *ev = e;
    alive -= ev->text != NULL;
    free(ev->text);
    *ev = (event){0};
}

static void push(pons_event_queue *q, uint64_t call, const char *text, bool last)
{
    event e = {.call = call, .text = strdup(text)};
    alive++;
    pons_event_queue_push(q, call, &e, last);
}

static bool readable(const pons_event_queue *q)
{
    struct pollfd p = {.fd = q->fd, .events = POLLIN};
    return poll(&p, 1, 0) == 1;
}

static void expect(pons_event_queue *q, uint64_t call, const char *text)
{
    event e;
    assert_true(readable(q));
    assert_true(pons_event_queue_next(q, &e));
    assert_int_equal(e.call, call);
    assert_string_equal(e.text, text);
    clear(&e);
}

static void open_queue(pons_event_queue *q)
{
    pons_error err = PONS_ERROR_INIT;
    assert_int_equal(pons_event_queue_init(q, sizeof(event), clear, &err), PONS_OK);
}

static void test_in_order_behind_a_descriptor(void **state)
{
    (void)state;
    pons_event_queue q;
    open_queue(&q);
    event none;
    assert_false(readable(&q));
    assert_int_equal(pons_event_queue_begin(&q, 1), PONS_OK);
    assert_int_equal(pons_event_queue_begin(&q, 2), PONS_OK);
    assert_int_equal(pons_event_queue_begin(&q, 1), PONS_EEXIST);
    push(&q, 2, "a", false);
    push(&q, 1, "b", true);
    push(&q, 2, "c", true);
    push(&q, 1, "too late", false); // the last one was
    expect(&q, 2, "a");
    expect(&q, 1, "b");
    expect(&q, 2, "c");
    assert_false(readable(&q));
    assert_false(pons_event_queue_next(&q, &none));
    pons_event_queue_wake(&q);
    assert_true(readable(&q));
    assert_false(pons_event_queue_next(&q, &none));
    assert_false(readable(&q));
    assert_int_equal(pons_event_queue_begin(&q, 1), PONS_OK); // the number is free again
    pons_event_queue_fini(&q);
    assert_int_equal(alive, 0);
}

static void test_nothing_of_an_ended_call(void **state)
{
    (void)state;
    pons_event_queue q;
    open_queue(&q);
    for (uint64_t call = 1; call <= 9; call++) {
        assert_int_equal(pons_event_queue_begin(&q, call * 7 % 10), PONS_OK);
    }
    for (uint64_t call = 1; call <= 9; call++) {
        push(&q, call, "first", false);
        push(&q, call, "last", true);
    }
    for (uint64_t call = 1; call <= 9; call += 2) { // ended though their last event was pushed
        assert_false(pons_event_queue_end(&q, call));
    }
    for (uint64_t call = 2; call <= 8; call += 2) {
        expect(&q, call, "first");
        expect(&q, call, "last");
    }
    assert_false(readable(&q) && pons_event_queue_next(&q, &(event){0}));
    assert_int_equal(pons_event_queue_begin(&q, 5), PONS_OK);
    push(&q, 5, "again", false);
    assert_true(pons_event_queue_end(&q, 5));
    push(&q, 5, "unheard", true);
    assert_int_equal(pons_event_queue_begin(&q, 6), PONS_OK);
    push(&q, 6, "left in the queue", false);
    pons_event_queue_end_all(&q);
    push(&q, 6, "unheard", true);
    pons_event_queue_fini(&q);
    pons_event_queue_fini(&q);
    assert_int_equal(alive, 0);
}

enum { THREADS = 3, CALLS = 200, EACH = 20 };

typedef struct plain {
    uint64_t call;
    int n;
} plain;

static void clear_plain(void *e)
{
    (void)e;
}

static void *produce(void *arg)
{
    pons_event_queue *q = arg;
    static atomic_int next_thread;
    const int me = next_thread++;
    for (int c = 0; c < CALLS; c++) {
        const uint64_t call = (uint64_t)(c * THREADS + me);
        pons_event_queue_begin(q, call);
        for (int n = 0; n < EACH; n++) {
            pons_event_queue_push(q, call, &(plain){.call = call, .n = n}, n == EACH - 1);
        }
    }
    return NULL;
}

static void test_no_event_is_lost_between_threads(void **state)
{
    (void)state;
    pons_error err = PONS_ERROR_INIT;
    pons_event_queue q;
    assert_int_equal(pons_event_queue_init(&q, sizeof(plain), clear_plain, &err), PONS_OK);
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, produce, &q), 0);
    }
    static int received[THREADS * CALLS];
    for (int total = 0; total < THREADS * CALLS * EACH;) {
        struct pollfd p = {.fd = q.fd, .events = POLLIN};
        assert_int_equal(poll(&p, 1, 30000), 1); // a lost wake-up would end here
        plain e;
        while (pons_event_queue_next(&q, &e)) {
            assert_int_equal(e.n, received[e.call]);
            received[e.call]++;
            total++;
        }
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
    }
    assert_false(readable(&q));
    pons_event_queue_fini(&q);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_in_order_behind_a_descriptor),
        cmocka_unit_test(test_nothing_of_an_ended_call),
        cmocka_unit_test(test_no_event_is_lost_between_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
