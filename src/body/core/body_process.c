// body_process.c - the process around the core: four threads and two sockets.
//
//   thread       does                                              owns
//   loop         pons__body_poll(): links, control, telemetry      all of the body but the gate
//   safety       pons__gate_tick() at 200 Hz of robot time,       the gate, stop.sock,
//                stop.sock; SCHED_FIFO 80 where permitted          every write of a velocity
//   simulation   the driver's step(), at --speed; save()           the driver's stepping half
//   latch        body.epoch, written and synced (latch_thread.c)          nothing
//
// They meet in few places only: the gate's mailboxes (gate.h), the driver's own thread-safe
// functions (ext/robot.h), `saved`, the newest state of the simulated world on its way from the
// simulation to the file that the loop writes, and a lock around body.epoch, which the loop writes
// too when it gives out an epoch.
//
//     simulation --step--> driver <--read, scan-- safety --write_velocity--> driver
//          | saved                                 ^  | status
//          v                                       |  v
//        loop --command (mailbox, kick)------------+ loop --> links
//
// The safety thread sleeps in poll() on its timer, its socket and the kick, and does nothing else
// that could wait. Its stack is mapped by us, touched and locked beforehand, and so is the gate. Pages of code that
// are seldom run are the first that the kernel gives up, and the code of a stop is such a page: it would be read from
// the disk again, a few milliseconds, when a stop comes. So all that is mapped when the threads start is locked as it
// is touched, and a stop is rehearsed. What is allocated later is not locked: a small limit would make malloc fail.
// Where the limit does not allow it (no CAP_IPC_LOCK), the stack and the gate are locked alone.
//
// This is a protective stop in software, not a certified emergency stop. If this process dies, a
// robot whose own driver has no time-out goes on with the last velocity.
//
// The simulation keeps absolute deadlines (pace.h). After a stall it catches up a little and has
// lost the rest: a process that was stopped for ten seconds does not live them in one burst. Faster
// than real time it also waits for the loop and for the gate: on a loaded machine the world then
// slows down instead of the robot stuttering for want of commands. At real time it does not wait,
// as the real world would not.
#include "body/core/body.h"
#include "body/core/gate_command.h"
#include "body/core/goals.h"
#include "body/core/link_clients.h"
#include "body/core/pace.h"
#include "body/safety/stop_socket.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#define MODULE "body"

#define SAFETY_NS       (5 * PONS_NS_PER_MS)   // robot time between ticks of the gate
#define SAFETY_MIN_NS   (500000)               // host time: no faster, whatever the speed
#define SAFETY_PRIORITY 80                     // SCHED_FIFO
#define SAFETY_STACK    (2048u * 1024u)        // bytes
#define SIM_STEP_NS     (4 * PONS_NS_PER_MS)   // robot time of one step of the driver
#define SIM_MIN_NS      PONS_NS_PER_MS         // host time: several steps in one wake, if need be
#define SIM_WAKE_NS     (50 * PONS_NS_PER_MS)  // host time of computing in one wake, at the most
#define SIM_AHEAD_NS    (150 * PONS_NS_PER_MS) // robot time that a fast world may be ahead of others
#define LOOP_MAX_NS     (50 * PONS_NS_PER_MS)  // host time between polls at the most
#define LOOP_MIN_NS     (200000)               // and at the least, unless something comes
#define NAMED_NS        PONS_NS_PER_S          // host time between looks at body.sock
#define LOST_S          60.0 // host time that the body of a run that was killed waits for a resume
#define STAND_NS        PONS_NS_PER_S // host time that an ending body gives the wheels
#define STAND_MPS       0.01
#define STAND_RADPS     0.02

typedef struct process {
    pons_body *body;
    pons_listener *listener;
    const char *run_dir;
    const pons_value *config; // for body.json
    pons_clock clock;
    double speed;
    int stop_fd;  // stop.sock
    int kick_fd;  // eventfd: loop → safety
    int tick_fd;  // timerfd: the safety thread's rhythm
    int latch_fd; // eventfd: safety → loop, a stop came, or what is on the disk has changed
    pons__stop_senders senders; // safety thread
    void *stack;                // the safety thread's
    pthread_t sim_thread, safety_thread;
    bool sim_runs, safety_runs, all_locked;
    _Atomic bool sim_quit, safety_quit;
    _Atomic bool sim_failed;
    char sim_error[PONS__REASON_MAX]; // written before sim_failed
    _Atomic(pons_value *) saved;      // newest state of the world, for the loop to write
    _Atomic int64_t control_robot_ns; // robot time of the loop's last poll,
    _Atomic int64_t gate_robot_ns;    // and of the gate's last tick
    int64_t alone_since_ns;           // host time; -1: not alone
    int64_t first_epoch;              // the last one that earlier bodies gave
    pid_t starter;                    // whoever is our parent until it ends
    int64_t named_due_ns;             // and then: body.sock is looked for
} process;

// ---- small --------------------------------------------------------------------------------------

// Of modules skill-NAME, "NAME,NAME"; NULL: none. Those of the robot's own software come with its driver.
static pons_value *skill_names(const pons_body *b)
{
    pons_autobuf names = PONS_BUF_INIT;
    for (size_t i = 0; i < b->skills.n; i++) {
        const pons__skill *k = b->skills.at[i];
        if (k->module && !k->interface) {
            pons_buf_printf(&names, "%s%s", names.len ? "," : "", k->name);
        }
    }
    return names.len ? json_stringn(names.data, names.len) : NULL;
}

static int path_of(const process *p, const char *name, char *ret, size_t cap, pons_error *err)
{
    if (snprintf(ret, cap, "%s/%s", p->run_dir, name) < (int)cap) {
        return PONS_OK;
    }
    return pons_error_set(err, PONS_EINVAL, MODULE, "the run directory's path is too long");
}

static int write_body_json(process *p, pons_error *err)
{
    char path[4096], file[PATH_MAX];
    const pons_body *b = p->body;
    const char *of = pons_get_str(b->world, "path", "");
    int rc = path_of(p, "body.json", path, sizeof path, err);
    if (rc < 0) {
        return rc;
    }
    pons_autovalue v = pons_object(
        "pid", json_integer(getpid()), "driver", json_string(b->robot->name), "robot",
        json_string(b->caps.robot_id), "world", json_string(pons_get_str(b->world, "name", "")),
        "world_file", json_string(realpath(of, file) ? file : of), "world_id",
        json_string(b->world_id), "boot_id", json_string(b->boot_id), "started_ms",
        json_integer(b->started_ms), "for_run", json_boolean(b->for_run), "config",
        p->config ? pons_value_ref(p->config) : NULL, "skills", skill_names(b), NULL);
    char *text = NULL;
    const long n = v ? pons_value_line(v, &text) : -1;
    if (n < 0) {
        return pons_error_set(err, PONS_ENOMEM, MODULE, "no memory for body.json");
    }
    rc = pons__replace_file(path, text, (size_t)n, false, err);
    free(text);
    return rc;
}

static void world_changed(void *user)
{
    write_body_json(user, NULL); // until then a reader takes this body for another world's
}

static void signal_fd(int fd)
{
    const uint64_t one = 1;
    (void)!write(fd, &one, sizeof one); // a full counter wakes as well
}

static void kick(void *user)
{
    signal_fd(((process *)user)->kick_fd);
}

static void drain_fd(int fd)
{
    uint64_t count;
    (void)!read(fd, &count, sizeof count);
}

// ---- safety -------------------------------------------------------------------------------------

static void *run_safety(void *arg)
{
    process *p = arg;
    pons__gate *g = &p->body->guard;
    const struct sched_param priority = {.sched_priority = SAFETY_PRIORITY};
    g->safety.status.fifo = pthread_setschedparam(pthread_self(), SCHED_FIFO, &priority) == 0;
    struct pollfd fds[] = {{.fd = p->stop_fd, .events = POLLIN},
                           {.fd = p->tick_fd, .events = POLLIN},
                           {.fd = p->kick_fd, .events = POLLIN}};
    while (!atomic_load_explicit(&p->safety_quit, memory_order_acquire)) {
        if (poll(fds, 3, -1) < 0) {
            continue;
        }
        const uint64_t saved_gen = g->safety.status.saved_gen;
        const bool stopped =
            (fds[0].revents & POLLIN) && pons__stop_serve(p->stop_fd, g, &p->senders);
        if (fds[2].revents & POLLIN) {
            drain_fd(p->kick_fd);
        }
        if (fds[1].revents & POLLIN) {
            drain_fd(p->tick_fd);
        }
        pons__gate_tick(g);
        atomic_store_explicit(&p->gate_robot_ns, g->safety.last_ns, memory_order_relaxed);
        pons__stop_answer(p->stop_fd, g, &p->senders);
        if (stopped || saved_gen != g->safety.status.saved_gen) {
            signal_fd(p->latch_fd);
        }
    }
    pons__gate_still(g);
    return NULL;
}

// ---- simulation ---------------------------------------------------------------------------------

// Steps up to a robot time, but not for longer than a wake should take; the time reached, or -1.
static int64_t simulate(process *p, int64_t robot_due_ns)
{
    const pons_robot_ops *robot = p->body->robot;
    const int64_t until_ns = pons_now_ns(&p->clock) + SIM_WAKE_NS;
    int64_t robot_ns = robot->time_ns(p->body->self);
    while (robot_ns + SIM_STEP_NS <= robot_due_ns && pons_now_ns(&p->clock) < until_ns) {
        const int64_t control_ns = atomic_load_explicit(&p->control_robot_ns, memory_order_relaxed);
        const int64_t gate_ns = atomic_load_explicit(&p->gate_robot_ns, memory_order_relaxed);
        const int64_t behind_ns = gate_ns < control_ns ? gate_ns : control_ns;
        if (p->speed > 1.0 && robot_ns - behind_ns > SIM_AHEAD_NS) {
            break;
        }
        pons_error err = PONS_ERROR_INIT;
        if (robot->step(p->body->self, SIM_STEP_NS, &err) < 0) {
            snprintf(p->sim_error, sizeof p->sim_error, "the simulation failed: %.60s",
                     err.message);
            atomic_store_explicit(&p->sim_failed, true, memory_order_release);
            return -1;
        }
        const int64_t now_ns = robot->time_ns(p->body->self);
        if (now_ns <= robot_ns) {
            break; // a driver whose steps are longer than ours owes this one
        }
        robot_ns = now_ns;
    }
    return robot_ns;
}

static void offer_state(process *p)
{
    pons_value *state = NULL;
    if (!p->body->robot->save || p->body->robot->save(p->body->self, &state, NULL) < 0) {
        return;
    }
    pons_value_unref(atomic_exchange_explicit(&p->saved, state, memory_order_acq_rel));
}

static void *run_simulation(void *arg)
{
    process *p = arg;
    pons__pace pace;
    int64_t save_due_ns = pons_now_ns(&p->clock);
    pons__pace_start(&pace, p->speed, save_due_ns, p->body->robot->time_ns(p->body->self));
    while (!atomic_load_explicit(&p->sim_quit, memory_order_acquire)) {
        const int64_t host_ns = pons_now_ns(&p->clock);
        const int64_t was_ns = p->body->robot->time_ns(p->body->self);
        const int64_t robot_ns = simulate(p, pons__pace_due(&pace, host_ns, was_ns));
        if (robot_ns < 0) {
            return NULL; // the loop latches and says why
        }
        if (host_ns >= save_due_ns) {
            offer_state(p);
            save_due_ns = host_ns + PONS__SAVE_NS;
        }
        // Sleep until the next step's deadline.
        int64_t wake_ns = pons__pace_wake(&pace, robot_ns + SIM_STEP_NS);
        if (wake_ns < host_ns + SIM_MIN_NS) {
            wake_ns = host_ns + SIM_MIN_NS;
        }
        const struct timespec until = {.tv_sec = wake_ns / PONS_NS_PER_S,
                                       .tv_nsec = wake_ns % PONS_NS_PER_S};
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
    }
    return NULL;
}

// ---- opening ------------------------------------------------------------------------------------

static int open_descriptors(process *p, pons_error *err)
{
    char path[4096];
    int rc = path_of(p, "stop.sock", path, sizeof path, err);
    if (rc < 0) {
        return rc;
    }
    p->stop_fd = pons_datagram_bind(path, err); // body.sock is ours: a file there is stale
    if (p->stop_fd < 0) {
        return p->stop_fd;
    }
    struct stat run;
    if (stat(p->run_dir, &run) == 0 && (run.st_mode & S_IXGRP)) { // the group may stop the robot
        (void)chmod(path, 0660);
    }
    p->kick_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    p->latch_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    p->tick_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    if (p->kick_fd < 0 || p->latch_fd < 0 || p->tick_fd < 0) {
        return pons_error_set(err, PONS_EIO, MODULE, "cannot make descriptors: %s",
                              strerror(errno));
    }
    const int64_t asked_ns = (int64_t)((double)SAFETY_NS / p->speed);
    const int64_t tick_ns = asked_ns < SAFETY_MIN_NS ? SAFETY_MIN_NS : asked_ns;
    const struct timespec every = {.tv_sec = tick_ns / PONS_NS_PER_S,
                                   .tv_nsec = tick_ns % PONS_NS_PER_S};
    const struct itimerspec rhythm = {.it_interval = every, .it_value = every};
    if (timerfd_settime(p->tick_fd, 0, &rhythm, NULL) < 0) {
        return pons_error_set(err, PONS_EIO, MODULE, "cannot start the safety timer: %s",
                              strerror(errno));
    }
    p->body->kick = kick;
    p->body->kick_user = p;
    p->body->world_changed = world_changed;
    p->body->saver.done = kick;
    p->body->saver.done_ctx = p;
    p->body->guard.wake_saver = pons__saver_wake;
    p->body->guard.wake_ctx = &p->body->saver;
    return PONS_OK;
}

// body.sock first: its lock is what says that this run directory is ours.
static int open_process(process *p, const pons_body_options *opts, pons_error *err)
{
    char sock[4096], ledger[4096], sim[4096];
    int rc = path_of(p, "body.sock", sock, sizeof sock, err);
    if (rc == PONS_OK) {
        rc = path_of(p, "body.ledger", ledger, sizeof ledger, err);
    }
    if (rc == PONS_OK) {
        rc = path_of(p, "sim.json", sim, sizeof sim, err);
    }
    if (rc < 0) {
        return rc;
    }
    if (mkdir(p->run_dir, 0700) < 0 && errno != EEXIST) {
        pons_error_set(err, PONS_EIO, MODULE, "cannot make the run directory");
        pons_error_source(err, "%s", p->run_dir);
        pons_error_cause(err, "%s", strerror(errno));
        return PONS_EIO;
    }
    rc = pons_listener_open(sock, &p->listener, err);
    if (rc < 0) {
        return rc;
    }
    pons_body_options o = *opts;
    o.ledger_path = ledger;
    o.sim_state_path = opts->sim_state_path ? opts->sim_state_path : sim;
    rc = pons__body_open(&o, true, &p->body, err);
    if (rc < 0) {
        return rc;
    }
    p->first_epoch = p->body->last_epoch;
    atomic_init(&p->control_robot_ns, p->body->robot_ns);
    atomic_init(&p->gate_robot_ns, p->body->robot_ns);
    return open_descriptors(p, err);
}

static int start_safety(process *p, pons_error *err)
{
    p->stack = mmap(NULL, SAFETY_STACK, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
    if (p->stack == MAP_FAILED) {
        p->stack = NULL;
        return pons_error_set(err, PONS_ENOMEM, MODULE, "no memory for the safety thread");
    }
    pons__gate *g = &p->body->guard;
    g->safety.status.memory_locked =
        mlock(p->stack, SAFETY_STACK) == 0 && mlock(g, sizeof *g) == 0 && mlock(p, sizeof *p) == 0;
    p->all_locked = mlockall(MCL_CURRENT | MCL_ONFAULT) == 0;
    pons__stop_rehearse(g);
    pthread_attr_t attr;
    pthread_attr_init(&attr);
    pthread_attr_setstack(&attr, p->stack, SAFETY_STACK);
    p->safety_runs = pthread_create(&p->safety_thread, &attr, run_safety, p) == 0;
    pthread_attr_destroy(&attr);
    return p->safety_runs ? PONS_OK
                          : pons_error_set(err, PONS_EIO, MODULE, "cannot start the safety thread");
}

// Signals go to the loop, whose poll they interrupt.
static int start_threads(process *p, pons_error *err)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    int rc = pons__saver_start(&p->body->saver, err);
    rc = rc < 0 ? rc : start_safety(p, err);
    if (rc == PONS_OK && p->body->caps.simulated && p->body->robot->step) {
        p->sim_runs = pthread_create(&p->sim_thread, NULL, run_simulation, p) == 0;
        if (!p->sim_runs) {
            rc = pons_error_set(err, PONS_EIO, MODULE, "cannot start the simulation thread");
        }
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return rc;
}

// ---- loop ---------------------------------------------------------------------------------------

// Whether somebody may have come.
static bool wait_for_work(process *p)
{
    const pons_body *b = p->body;
    struct pollfd fds[2 + PONS__CLIENTS_MAX];
    nfds_t n = 0;
    fds[n++] = (struct pollfd){.fd = pons_listener_fd(p->listener), .events = POLLIN};
    fds[n++] = (struct pollfd){.fd = p->latch_fd, .events = POLLIN};
    for (size_t i = 0; i < PONS__CLIENTS_MAX; i++) {
        const pons_link *l = b->clients[i].link;
        const bool reads = l && !b->clients[i].ended_ns, writes = l && pons_link_wants_write(l);
        if (reads || writes) { // the end of what is said would wake us for ever
            fds[n++] =
                (struct pollfd){.fd = pons_link_fd(l),
                                .events = (short)((reads ? POLLIN : 0) | (writes ? POLLOUT : 0))};
        }
    }
    const int64_t robot_ns = b->robot->time_ns(b->self);
    const int64_t host_ns = pons_now_ns(&p->clock);
    int64_t wait_ns = (int64_t)((double)(b->control_due_ns - robot_ns) / p->speed);
    if (b->telemetry_due_ns - host_ns < wait_ns) {
        wait_ns = b->telemetry_due_ns - host_ns;
    }
    wait_ns = b->thinking ? 0 : wait_ns;
    wait_ns = wait_ns < LOOP_MIN_NS ? LOOP_MIN_NS : wait_ns > LOOP_MAX_NS ? LOOP_MAX_NS : wait_ns;
    const struct timespec wait = {.tv_nsec = b->unread ? 0 : wait_ns};
    const int ready = ppoll(fds, n, &wait, NULL);
    if (ready > 0 && (fds[1].revents & POLLIN)) {
        drain_fd(p->latch_fd);
    }
    return ready > 0 && fds[0].revents != 0;
}

static void accept_clients(process *p)
{
    pons_link *l = NULL;
    while (pons_listener_accept(p->listener, &l, NULL) == 1) {
        pons_body_attach(p->body, l, NULL); // one too many is closed
    }
}

static void write_saved(process *p)
{
    pons_value *state = atomic_exchange_explicit(&p->saved, NULL, memory_order_acq_rel);
    if (state) {
        pons__body_save_sim(p->body, state, NULL); // the next one is due soon anyway
    }
}

static bool alone_too_long(process *p, double alone_timeout_s)
{
    const pons_body *b = p->body;
    // Its run has ended and nobody was ever in control: nothing is left to go on with, whoever looks on. What the
    // hand holds would fall with its end.
    if (b->for_run && b->last_epoch == p->first_epoch && b->hand.held < 0 &&
        getppid() != p->starter) {
        return true;
    }
    if (pons__clients_count(p->body) > 0) {
        p->alone_since_ns = -1;
        return false;
    }
    // It takes no goal any more, whoever comes; the next run starts another, which reads the disk anew.
    if (p->body->for_run && pons__ledger_dead(p->body->ledger)) {
        return true;
    }
    const int64_t now_ns = pons_now_ns(&p->clock);
    if (p->alone_since_ns < 0) {
        p->alone_since_ns = now_ns;
        p->named_due_ns = now_ns + NAMED_NS;
    }
    // Whoever removed the run directory can neither come nor stop it.
    if (now_ns >= p->named_due_ns) {
        p->named_due_ns = now_ns + NAMED_NS;
        if (!pons_listener_reachable(p->listener)) {
            return true;
        }
    }
    // Whoever started it was lost and does not come back.
    const bool lost = b->for_run && !b->left && b->hand.held < 0;
    const double most_s = lost ? fmin(alone_timeout_s, LOST_S) : alone_timeout_s;
    return (double)(now_ns - p->alone_since_ns) > most_s * (double)PONS_NS_PER_S;
}

static void run_loop(process *p, const volatile sig_atomic_t *quit, const pons_body_options *o)
{
    pons_body *b = p->body;
    while (!(quit && *quit) && !b->quit && !alone_too_long(p, o->alone_timeout_s)) {
        if (wait_for_work(p)) {
            accept_clients(p);
        }
        if (!b->sim_failed && atomic_load_explicit(&p->sim_failed, memory_order_acquire)) {
            b->sim_failed = true;
            pons__body_stop_request(b, PONS__ORIGIN_FAULT, p->sim_error);
        }
        pons__body_poll(b);
        atomic_store_explicit(&p->control_robot_ns, b->robot_ns, memory_order_relaxed);
        write_saved(p);
        if (o->on_round) {
            o->on_round(o->on_round_user);
        }
    }
}

// ---- end ----------------------------------------------------------------------------------------

// An end that was asked for is no crash: goals are canceled in the ledger, the wheels stand, and
// the world is saved as it is then. The robot's own software has as long to answer a cancel.
static void come_to_rest(process *p)
{
    pons_body *b = p->body;
    pons__goals_end(b, "the body was ended");
    const int64_t until_ns = pons_now_ns(&p->clock) + STAND_NS;
    while (pons_now_ns(&p->clock) < until_ns && !b->sim_failed &&
           (pons__goals_ending(b) || fabs(b->state.twist.v) > STAND_MPS ||
            fabs(b->state.twist.w) > STAND_RADPS)) {
        wait_for_work(p);
        pons__body_poll(b);
        atomic_store_explicit(&p->control_robot_ns, b->robot_ns, memory_order_relaxed);
    }
    pons__goals_give_up(b);
}

static void close_process(process *p)
{
    if (p->sim_runs) {
        atomic_store_explicit(&p->sim_quit, true, memory_order_release);
        pthread_join(p->sim_thread, NULL);
        if (!atomic_load(&p->sim_failed)) {
            offer_state(p);
            write_saved(p);
        }
    }
    if (p->safety_runs) {
        atomic_store_explicit(&p->safety_quit, true, memory_order_release);
        kick(p);
        pthread_join(p->safety_thread, NULL);
    }
    if (p->body) {
        pons__saver_stop(&p->body->saver);
        pons__gate_take_saved(&p->body->guard);
        pons__stop_answer(p->stop_fd, &p->body->guard, &p->senders);
    }
    char path[4096];
    if (p->stop_fd >= 0 && path_of(p, "stop.sock", path, sizeof path, NULL) == PONS_OK) {
        unlink(path);
    }
    if (p->body && path_of(p, "body.json", path, sizeof path, NULL) == PONS_OK) {
        unlink(path);
    }
    if (p->stack) {
        munmap(p->stack, SAFETY_STACK);
    }
    if (p->body) {
        munlock(&p->body->guard, sizeof p->body->guard);
    }
    pons_body_destroy(p->body);
    const int fds[] = {p->stop_fd, p->kick_fd, p->tick_fd, p->latch_fd};
    for (size_t i = 0; i < sizeof fds / sizeof fds[0]; i++) {
        if (fds[i] >= 0) {
            close(fds[i]);
        }
    }
    if (p->all_locked) {
        munlockall();
    }
    pons_value_unref(atomic_load(&p->saved));
    pons_listener_close(p->listener); // last: whoever gets the lock finds nothing of ours
    munlock(p, sizeof *p);
    free(p);
}

// ---- public functions ---------------------------------------------------------------------------

int pons_body_run(const pons_body_options *opts, const char *run_dir, volatile sig_atomic_t *quit,
                  pons_error *err)
{
    process *p = calloc(1, sizeof *p);
    if (!p) {
        return pons_error_set(err, PONS_ENOMEM, MODULE, "no memory for a body");
    }
    p->run_dir = run_dir;
    p->config = opts->config;
    p->starter = getppid(); // before anybody can find us
    p->clock = opts->clock;
    p->speed = opts->speed > 0.0 ? opts->speed : 1.0;
    p->stop_fd = p->kick_fd = p->tick_fd = p->latch_fd = -1;
    p->alone_since_ns = -1;
    int rc = open_process(p, opts, err);
    if (rc == PONS_OK) {
        rc = start_threads(p, err);
    }
    if (rc == PONS_OK) {
        rc = write_body_json(p, err);
    }
    if (rc == PONS_OK) {
        run_loop(p, quit, opts);
        come_to_rest(p);
    }
    close_process(p);
    return rc;
}
