// living.c - a companion's life in this process (living.h).
//
// It lives in real time, or simulates days in seconds, and the same seed gives the same days byte for byte.
#include "app/companion/living.h"

#include "pons/config_file.h"
#include "pons/log.h"
#include "pons/traces.h"

#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define VIEW "config/world-view.yaml"

enum {
    MS_A_MINUTE = 60000,
    MINUTES_A_DAY = 1440,
    AGAIN_MS = 500,
    CATCH_UP_DAYS = 31, // a life that stood still for longer leaves out what is older
    POLL_MS_MAX = 500,  // so that a signal is seen soon
    MODEL_POLL_MS = 20
};

typedef struct living {
    const app_context *c;
    const app_living_options *o;
    pons_world_view *view;
    pons_bt *tree;
    pons_store store;
    pons_companion *life;
    int64_t from, until;
    uint64_t seed;
    pons_clock real, model_clock;
    pons_clock_manual manual;
    pons_llm llm;
    char seen[PATH_MAX + 64]; // the world view's file as it was looked at last
    pons_traces *traces;      // NULL: nobody collects them
} living;

// A file of the workspace when it has its own, else a person's, else the one that pons ships.
static int own_file(const app_context *c, const char *given, const char *relative,
                    char path[PATH_MAX], pons_error *err)
{
    if (given) {
        snprintf(path, PATH_MAX, "%s", given);
        return PONS_OK;
    }
    return pons_config_find(c->workspace, relative, path, PATH_MAX, NULL, err);
}

int app_world_view_load(const app_context *c, const char *given, pons_world_view **ret,
                        pons_error *err)
{
    char path[PATH_MAX];
    const int rc = own_file(c, given, VIEW, path, err);
    return rc < 0 ? rc : pons_world_view_load(path, ret, err);
}

static int64_t minute_now(const living *l)
{
    return pons_wall_ms(&l->real) / MS_A_MINUTE;
}

// Which file the world view is, and how it stands: another text when it has changed. "": it is not there.
static void look_at_view(const living *l, char ret[PATH_MAX + 64])
{
    char path[PATH_MAX];
    struct stat st;
    pons_error none = PONS_ERROR_INIT;
    ret[0] = '\0';
    if (own_file(l->c, l->o->view, VIEW, path, &none) >= 0 && stat(path, &st) == 0) {
        snprintf(ret, PATH_MAX + 64, "%s %lld %lld.%09ld %lld", path, (long long)st.st_ino,
                 (long long)st.st_mtim.tv_sec, st.st_mtim.tv_nsec, (long long)st.st_size);
    }
}

static void trace(const living *l, const pons_value *ev)
{
    int64_t minute = 0;
    pons_error none = PONS_ERROR_INIT;
    if (!l->traces || pons_world_view_minute(l->view, pons_get_str(ev, "time", ""), l->from,
                                             &minute, &none) < 0) {
        return;
    }
    pons_traces_event(l->traces, &(pons_event){.thread = PONS_COMPANION_THREAD,
                                               .ns = PONS_TRACES_LIFE,
                                               .type = pons_get_str(ev, "type", ""),
                                               .ts_ms = minute * MS_A_MINUTE,
                                               .payload = ev});
}

static void on_event(void *user, const pons_value *ev)
{
    const living *l = user;
    trace(l, ev);
    l->o->event(l->o->user, l->view, ev);
}

// A scripted model has the simulation's own clock, which passes while it is waited for.
static int wait_for_model(void *user, int fd, int64_t ms)
{
    living *l = user;
    if (*l->o->ended) {
        return -1;
    }
    if (l->o->simulated && fd < 0) {
        l->manual.now_ns += (ms < MODEL_POLL_MS ? ms : MODEL_POLL_MS) * PONS_NS_PER_MS;
        return 0;
    }
    const int64_t most = fd < 0 ? MODEL_POLL_MS : POLL_MS_MAX;
    struct pollfd p = {.fd = fd, .events = POLLIN};
    poll(&p, fd >= 0, (int)(ms < most ? ms : most));
    return 0;
}

static int open_life(living *l, pons_error *err)
{
    const bool scripted = l->o->llm && strncmp(l->o->llm, "script:", strlen("script:")) == 0;
    l->model_clock = l->o->simulated && scripted ? pons_clock_from_manual(&l->manual) : l->real;
    int rc = l->llm.ops ? PONS_OK : app_llm(l->o->llm, NULL, &l->model_clock, &l->llm, err);
    if (rc < 0) {
        return rc;
    }
    // In a simulation a minute takes no time, so its tick waits for the model. Who lives by a clock
    // does not wait: the routine runs until the answer is there.
    const bool by_clock = !l->o->simulated || (l->o->speed > 0 && !scripted);
    const pons_companion_options o = {.view = l->view,
                                      .tree = l->tree,
                                      .store = l->store,
                                      .seed = l->seed,
                                      .start_min = l->from,
                                      .until_min = l->until,
                                      .simulated = l->o->simulated,
                                      .llm = l->llm.ops ? &l->llm : NULL,
                                      .clock = &l->model_clock,
                                      .wait = by_clock ? NULL : wait_for_model,
                                      .on_event = on_event,
                                      .user = l};
    return pons_companion_open(&o, &l->life, err);
}

// A world view that changes while it is lived by is taken up at the next minute: the life is closed and
// opened again, as a kill there would have it. One that is wrong, or that the life does not fit, is told
// and the old one stays. A simulation that outruns the clock keeps the one that it began with, so that a
// seed gives the same days.
static int take_up(living *l, pons_error *err)
{
    char now[PATH_MAX + 64];
    pons_error why = PONS_ERROR_INIT;
    pons_world_view *fresh = NULL, *old = l->view;
    if (l->o->simulated && l->o->speed <= 0) {
        return PONS_OK;
    }
    look_at_view(l, now);
    if (!now[0] || strcmp(now, l->seen) == 0) { // one that is being replaced is there again soon
        return PONS_OK;
    }
    memcpy(l->seen, now, sizeof now);
    if (app_world_view_load(l->c, l->o->view, &fresh, &why) < 0) {
        l->o->changed(l->o->user, &why);
        return PONS_OK;
    }
    int rc = pons_companion_flush(l->life, err);
    if (rc < 0) {
        pons_world_view_unref(fresh);
        return rc;
    }
    pons_companion_close(l->life);
    l->life = NULL;
    l->view = fresh;
    if (open_life(l, &why) >= 0) {
        pons_world_view_unref(old);
        l->o->changed(l->o->user, NULL);
        return PONS_OK;
    }
    pons_world_view_unref(fresh);
    l->view = old;
    l->o->changed(l->o->user, &why);
    return open_life(l, err);
}

// Sleeps until the minute has come; false when asked to stop.
static bool await_minute(living *l, int64_t minute, int64_t began_ns, int64_t began_min)
{
    for (;;) {
        int64_t left_ms = 0;
        if (!l->o->simulated) {
            left_ms = minute * MS_A_MINUTE - pons_wall_ms(&l->real);
        } else if (l->o->speed > 0) {
            const double due_ms = (double)(minute - began_min) * MS_A_MINUTE / l->o->speed;
            left_ms = (int64_t)due_ms - (pons_now_ns(&l->real) - began_ns) / PONS_NS_PER_MS;
        }
        if (*l->o->ended || left_ms <= 0) {
            return !*l->o->ended;
        }
        l->o->idle(l->o->user);
        // An answer of the model is taken as it comes; a model without a descriptor is asked again.
        struct pollfd p = {.fd = pons_companion_fd(l->life), .events = POLLIN};
        poll(&p, p.fd >= 0, (int)(left_ms < POLL_MS_MAX ? left_ms : POLL_MS_MAX));
        pons_companion_poll(l->life);
    }
}

static int live(living *l, pons_error *err)
{
    const int64_t began_ns = pons_now_ns(&l->real), began_min = pons_companion_minute(l->life);
    int rc = PONS_OK;
    if (!l->o->simulated) {
        rc = pons_companion_skip(l->life, minute_now(l) - CATCH_UP_DAYS * MINUTES_A_DAY, err);
    }
    for (;;) {
        const int64_t minute = pons_companion_minute(l->life);
        if (rc < 0 || (l->until > 0 && minute >= l->until) ||
            !await_minute(l, minute, began_ns, began_min)) {
            break;
        }
        l->manual.now_ns = minute * MS_A_MINUTE * PONS_NS_PER_MS;
        if ((rc = take_up(l, err)) < 0) {
            break;
        }
        // Minutes that were missed are lived by the routine alone.
        rc = pons_companion_tick(l->life, l->o->simulated || minute >= minute_now(l), err);
    }
    return rc < 0 ? rc : pons_companion_flush(l->life, err);
}

static int load_tree(const living *l, pons_bt **ret, pons_error *err)
{
    char path[PATH_MAX];
    const pons_bt_load_options o = {.format = PONS_BT_AUTO};
    const int rc = own_file(l->c, l->o->tree, "trees/companion.mdsl", path, err);
    return rc < 0 ? rc : pons_bt_load_file(path, &o, ret, NULL, err);
}

// From when to when, for the life that is, or is not, there.
static int read_times(living *l, const pons_value *state, pons_error *err)
{
    const bool there = state && pons_get_bool(state, "simulated", false);
    const int64_t at = there ? pons_get_int(state, "minute", 0) : minute_now(l);
    l->seed = l->o->seed ? *l->o->seed : 1;
    l->from = at;
    if (l->o->from && pons_world_view_minute(l->view, l->o->from, at, &l->from, err) < 0) {
        return PONS_EINVAL;
    }
    l->until = l->o->days > 0 ? l->from + (int64_t)(l->o->days * MINUTES_A_DAY) : 0;
    return PONS_OK;
}

// Does the command go on with the life that is there? A simulated one that is unfinished and was
// begun by the same words, or stands where --from says.
static bool goes_on(const living *l, const pons_value *state)
{
    const int64_t at = pons_get_int(state, "minute", 0);
    if (!l->o->from || at == l->from) {
        return !l->o->seed || (int64_t)l->seed == pons_get_int(state, "seed", 0);
    }
    return pons_get_int(state, "first", 0) == l->from &&
           pons_get_int(state, "until", 0) == l->until && at < l->until &&
           pons_get_int(state, "seed", 0) == (int64_t)l->seed;
}

static int prepare(living *l, pons_error *err)
{
    pons_autovalue state = NULL;
    pons_error none = PONS_ERROR_INIT;
    int rc = pons_companion_read(l->store, NULL, &state, &none);
    if (rc < 0 && rc != PONS_ENOTFOUND) {
        *err = none;
        return rc;
    }
    rc = read_times(l, state, err);
    if (rc < 0 || !state) {
        return rc;
    }
    const bool was_simulated = pons_get_bool(state, "simulated", false);
    if (l->o->simulated && !was_simulated) {
        return pons_error_set(err, PONS_EBUSY, "companion",
                              "a companion lives here in real time; simulate in another "
                              "--workspace");
    }
    if (was_simulated && (!l->o->simulated || !goes_on(l, state))) {
        return l->store.ops->thread_delete(l->store.self, PONS_COMPANION_THREAD, err);
    }
    if (l->o->simulated) {
        app_tell(l->c, "pons: the life goes on at %s", pons_get_str(state, "time", ""));
    }
    return PONS_OK;
}

// Until it is over or a signal came.
static int live_it(living *l, pons_error *err)
{
    look_at_view(l, l->seen);
    int rc = app_world_view_load(l->c, l->o->view, &l->view, err);
    rc = rc < 0 ? rc : load_tree(l, &l->tree, err);
    rc = rc < 0 ? rc : app_workspace(l->c, true, err);
    rc = rc < 0 ? rc : app_store(l->c, &l->store, err);
    rc = rc < 0 ? rc : prepare(l, err);
    rc = rc < 0 ? rc : pons_traces_from_environment(&l->traces, err);
    rc = rc < 0 ? rc : open_life(l, err);
    rc = rc < 0 ? rc : live(l, err);
    if (rc >= 0) {
        pons_autovalue state = pons_companion_state(l->life);
        l->o->end(l->o->user, l->view, state);
    }
    pons_companion_close(l->life);
    pons_traces_close(l->traces);
    if (l->llm.ops) {
        l->llm.ops->close(l->llm.self);
    }
    pons_store_close(&l->store);
    pons_bt_unref(l->tree);
    pons_world_view_unref(l->view);
    return rc;
}

// A store that cannot write (a full disk) is no reason to take the page, and its Stop, away: the life
// begins again from what is stored until it can.
int app_living_run(const app_context *c, const app_living_options *o, pons_error *err)
{
    for (bool reported = false;; reported = true) {
        living l = {.c = c, .o = o, .real = pons_clock_real()};
        const int rc = live_it(&l, err);
        if (!o->waits || rc != PONS_EIO || strcmp(err->module, "store") != 0 || *o->ended) {
            return rc;
        }
        if (!reported) {
            char line[1024];
            pons_log(PONS_LOG_WARN, "companion", "the life waits for the store: %s",
                     pons_error_line(err, line, sizeof line));
        }
        poll(NULL, 0, AGAIN_MS);
        *err = (pons_error)PONS_ERROR_INIT;
    }
}
