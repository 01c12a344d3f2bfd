// test_seqlock.c - the sequence lock that drivers publish through: readers get the newest whole
// value, never parts of two, and a writer that stands still in the middle of a write holds up
// nobody (that is the case where a plain sequence lock makes a real-time reader spin for ever).
#include "drivers/sim/seqlock.h"
#include "unit.h"

#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <stddef.h>

enum {
    WORDS = 40,
    WRITES = 20000,
    READS_AT_LEAST = 100 // of each reader, while the writer writes
};

typedef struct value {
    uint64_t all[WORDS]; // the same number in each
    char odd[3];         // a size that is no multiple of a word
} value;

static value filled(uint64_t n)
{
    value v;
    memset(&v, 0, sizeof v);
    for (int i = 0; i < WORDS; i++) {
        v.all[i] = n;
    }
    memset(v.odd, (int)(n & 0x7f), sizeof v.odd);
    return v;
}

static bool whole(const value *v)
{
    for (int i = 1; i < WORDS; i++) {
        if (v->all[i] != v->all[0]) {
            return false;
        }
    }
    return v->odd[2] == (char)(v->all[0] & 0x7f);
}

static void test_newest_value(void **unused)
{
    (void)unused;
    pons__seqlock lock;
    assert_true(pons__seqlock_init(&lock, sizeof(value)));
    value v = filled(77);
    assert_false(pons__seqlock_read(&lock, &v)); // nothing was written yet
    assert_int_equal(v.all[0], 77);
    for (uint64_t n = 1; n < 20; n++) {
        const value in = filled(n);
        pons__seqlock_write(&lock, &in);
        assert_true(pons__seqlock_read(&lock, &v));
        assert_memory_equal(&in, &v, sizeof v);
        assert_true(pons__seqlock_read(&lock, &v)); // reading takes nothing away
        assert_int_equal(v.all[0], n);
    }
    pons__seqlock_fini(&lock);
    pons__seqlock_fini(&lock);
}

static void test_writer_that_stands_still(void **unused)
{
    (void)unused;
    pons__seqlock lock;
    assert_true(pons__seqlock_init(&lock, sizeof(value)));
    for (uint64_t n = 1; n < 10; n++) {
        const value in = filled(n);
        pons__seqlock_write(&lock, &in);
        // The next write, as far as half of its words.
        const uint64_t next = atomic_load(&lock.done) + 1;
        atomic_store(&lock.begun, next);
        for (size_t i = 0; i < lock.words / 2; i++) {
            atomic_store(&lock.payload[next % PONS_SEQLOCK_SLOTS * lock.words + i], ~0u);
        }
        value v;
        assert_true(pons__seqlock_read(&lock, &v));
        assert_memory_equal(&in, &v, sizeof v);
    }
    pons__seqlock_fini(&lock);
}

typedef struct reader {
    pons__seqlock *lock;
    _Atomic bool *quit;
    _Atomic int reads;
    const char *complaint;
} reader;

static void *read_on(void *arg)
{
    reader *r = arg;
    uint64_t newest = 0;
    while (!atomic_load(r->quit)) {
        value v;
        if (!pons__seqlock_read(r->lock, &v)) {
            continue;
        }
        if (!whole(&v)) {
            r->complaint = "parts of two values";
        }
        if (v.all[0] < newest) {
            r->complaint = "an older value after a newer one";
        }
        newest = v.all[0];
        atomic_fetch_add(&r->reads, 1);
    }
    return NULL;
}

static void test_readers_beside_a_writer(void **unused)
{
    (void)unused;
    pons__seqlock lock;
    assert_true(pons__seqlock_init(&lock, sizeof(value)));
    _Atomic bool quit = false;
    reader readers[2] = {{.lock = &lock, .quit = &quit}, {.lock = &lock, .quit = &quit}};
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, read_on, &readers[i]), 0);
    }
    bool enough = false;
    for (uint64_t n = 1; n <= WRITES || !enough; n++) {
        const value v = filled(n);
        pons__seqlock_write(&lock, &v);
        enough = atomic_load(&readers[0].reads) >= READS_AT_LEAST &&
                 atomic_load(&readers[1].reads) >= READS_AT_LEAST;
        if (n > WRITES) {
            sched_yield();
        }
    }
    atomic_store(&quit, true);
    for (int i = 0; i < 2; i++) {
        pthread_join(threads[i], NULL);
    }
    for (int i = 0; i < 2; i++) {
        if (readers[i].complaint) {
            fail_msg("%s", readers[i].complaint);
        }
    }
    pons__seqlock_fini(&lock);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_newest_value),
        cmocka_unit_test(test_writer_that_stands_still),
        cmocka_unit_test(test_readers_beside_a_writer),
    };
    return cmocka_run_group_tests_name("seqlock", tests, NULL, NULL);
}
