// heartbeat.c - the heartbeat: a proof that the loop lives, sent by a thread that nothing starves.
//
// The body holds when no heartbeat comes for 300 ms. A decision, a prompt of a megabyte or a slow
// disk may keep the loop longer than that without anything being wrong; a loop that has come to a
// halt must not be covered up by a thread that goes on. So the loop leaves the time of each of its
// rounds, and the thread beats for as long as the last one is not older than LOOP_MAX_NS:
//
//     loop     round -- ticked_ns -- round -- ticked_ns -- (store hangs) …………………………………… round
//     heart    beat  beat  beat  beat  beat  beat  … 1 s … | nothing                     beat  beat
//     body                                                  300 ms later: brake, hold    adopt
//
// It is the time that is left and not a count: after the whole process was stopped and goes on, a
// count that moved just before would be taken for life.
//
// What the loop and the thread share is the link's sending half, which is safe for both (link.c),
// and which link it is, under a mutex that the thread holds for one send without blocking. In
// process (a link without a descriptor, the virtual clock) there is no thread: the loop's own round
// beats, by the same rule.
#include "brain/body_link/heartbeat.h"

#include "pons/link_message.h"
#include "pons/log.h"

#include <signal.h>
#include <string.h>

#define BEAT_EVERY_NS (100 * PONS_NS_PER_MS)
#define LOOP_MAX_NS   PONS_NS_PER_S // the age of the loop's last round from which it is no life

// ---- the thread ---------------------------------------------------------------------------------

static bool loop_lives(const pons__heart *h)
{
    const int64_t ticked_ns = atomic_load(&h->ticked_ns);
    return ticked_ns && pons_now_ns(&h->clock) - ticked_ns < LOOP_MAX_NS;
}

// Under mtx. What still waits to go out waits because the body does not read: a beat behind it
// would only be read later than it was true. A link that is broken is the loop's to find.
static void beat(pons__heart *h)
{
    pons_error ignored = PONS_ERROR_INIT;
    if (h->link && pons_link_flush(h->link, &ignored) >= 0 && !pons_link_wants_write(h->link)) {
        pons_message_send(h->link, &(pons_message){.type = PONS_MESSAGE_HEARTBEAT}, &ignored);
    }
}

static void *heart_main(void *arg)
{
    pons__heart *h = arg;
    struct timespec next;
    clock_gettime(CLOCK_MONOTONIC, &next);
    pthread_mutex_lock(&h->mtx);
    while (!h->stop) {
        if (loop_lives(h)) {
            beat(h);
        }
        // From now on, not from the last time: what was missed is not made up for.
        clock_gettime(CLOCK_MONOTONIC, &next);
        const int64_t until_ns = next.tv_sec * PONS_NS_PER_S + next.tv_nsec + BEAT_EVERY_NS;
        next = (struct timespec){.tv_sec = until_ns / PONS_NS_PER_S,
                                 .tv_nsec = until_ns % PONS_NS_PER_S};
        pthread_cond_timedwait(&h->stopped, &h->mtx, &next);
    }
    pthread_mutex_unlock(&h->mtx);
    return NULL;
}

// Signals are the loop's: it is the loop that a Ctrl-C must wake.
static bool start_thread(pons__heart *h)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const int rc = pthread_create(&h->thread, NULL, heart_main, h);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (rc != 0) {
        pons_log(PONS_LOG_WARN, "brain", "no thread for the heartbeat (%s): the loop beats itself",
                 strerror(rc));
    }
    return rc == 0;
}

void pons__heart_init(pons__heart *h, const pons_clock *clock)
{
    pthread_condattr_t monotonic;
    *h = (pons__heart){.clock = *clock};
    pthread_mutex_init(&h->mtx, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&h->stopped, &monotonic);
    pthread_condattr_destroy(&monotonic);
}

void pons__heart_fini(pons__heart *h)
{
    pons__heart_detach(h);
    if (h->threaded) {
        pthread_mutex_lock(&h->mtx);
        h->stop = true;
        pthread_cond_signal(&h->stopped);
        pthread_mutex_unlock(&h->mtx);
        pthread_join(h->thread, NULL);
    }
    pthread_cond_destroy(&h->stopped);
    pthread_mutex_destroy(&h->mtx);
}

void pons__heart_attach(pons__heart *h, pons_link *link)
{
    pthread_mutex_lock(&h->mtx);
    h->link = link;
    pthread_mutex_unlock(&h->mtx);
    if (!h->threaded && pons_link_fd(link) >= 0) {
        h->threaded = start_thread(h);
    }
}

void pons__heart_detach(pons__heart *h)
{
    pthread_mutex_lock(&h->mtx);
    h->link = NULL;
    pthread_mutex_unlock(&h->mtx);
}

void pons__heart_tick(pons__heart *h)
{
    const int64_t now_ns = pons_now_ns(&h->clock);
    atomic_store(&h->ticked_ns, now_ns);
    if (!h->threaded && now_ns >= h->next_ns) {
        h->next_ns = now_ns + BEAT_EVERY_NS;
        pthread_mutex_lock(&h->mtx);
        beat(h);
        pthread_mutex_unlock(&h->mtx);
    }
}
