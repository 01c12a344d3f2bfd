// client_pool.c - one client for each configuration, and a handle to it for each host.
//
//     handle - start(7) -> client: 7 is call 42 of handle h -> provider: start(42)
//     handle <- queue <---- client: 42 is h's call 7 <-------- provider: next → event of 42
//
// Whoever asks for events first takes them from the provider for everybody, and puts those of
// others into their queues. So that a host may sleep on its handle's descriptor, that is an epoll
// of two: the provider's (something has come for somebody) and an eventfd of the handle's own
// (somebody else has put something into your queue). A provider without a descriptor is polled, and
// so are its handles.
//
// Locks: the factory's for the list of clients and the counts of runs; a client's for everything
// below it, the provider's functions included, which never block. Neither is ever taken under the
// other. A provider is opened under the factory's, so that nobody opens a second one meanwhile.
#include "llm/pictures.h"
#include "pons/module.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define WHERE          "llm"
#define NAME_MAX_BYTES 64 // of a provider

typedef struct run_count {
    char run[PONS_LLM_FINGERPRINT_MAX]; // a hash of its name
    int64_t calls;
    uint64_t used; // when last; 0: a free place
} run_count;

typedef struct client client;
typedef struct handle handle;

struct pons_llm_factory {
    pons_clock clock; // const
    pthread_mutex_t mtx;
    unsigned refs;                     // [mtx] the owner and every client
    client *clients;                   // [mtx]
    run_count runs[PONS_LLM_RUNS_MAX]; // [mtx]
    uint64_t used;                     // [mtx]
};

typedef struct route { // a call that is running
    uint64_t shared, own;
    handle *of;
} route;

struct client {
    client *next;                               // [factory's mtx]
    unsigned refs;                              // [factory's mtx] its handles
    char fingerprint[PONS_LLM_FINGERPRINT_MAX]; // const
    pons_llm_factory *factory;                  // const
    pons_llm_ops ops;                           // const; its handles'
    pons_llm llm;                               // const; its functions under mtx
    pthread_mutex_t mtx;
    uint64_t next_call; // [mtx]
    route *routes;      // [mtx] (n_routes), ascending in shared
    size_t n_routes, cap_routes;
};

typedef struct queued {
    struct queued *next;
    pons_llm_event event;
} queued;

struct handle {
    client *client;               // const
    int own_fd, fd;               // const; -1: the provider is polled
    queued *events, **events_end; // [client's mtx]
};

// ---- clients ------------------------------------------------------------------------------------

// The provider that a configuration names.
static int provider_of(const pons_value *config, const pons_llm_ops **ret, pons_error *err)
{
    const bool scripted = pons_get(config, "path") || pons_get(config, "replies");
    const char *name = pons_get_str(config, "provider", scripted ? "script" : "openai");
    if (strcmp(name, "script") == 0) {
        *ret = &pons_llm_script;
        return PONS_OK;
    }
    if (strcmp(name, "replay") == 0) {
        *ret = &pons_llm_replay;
        return PONS_OK;
    }
    if (!*name || strchr(name, '/') || strlen(name) > NAME_MAX_BYTES) {
        return pons_error_set(err, PONS_EINVAL, WHERE, "'%.64s' is not the name of a provider",
                              name);
    }
    const void *ops = NULL;
    const int rc = pons_module_load_of("llm", name, PONS_LLM_ABI, &ops, err);
    if (rc >= 0) {
        *ret = ops;
    }
    return rc;
}

// The provider, opened, and recorded where that is asked for.
static int provider_open(const pons_value *config, const pons_clock *clock, pons_llm *ret,
                         pons_error *err)
{
    pons_llm llm = {0};
    int rc = provider_of(config, &llm.ops, err);
    if (rc == PONS_OK) {
        rc = llm.ops->open(config, clock, &llm.self, err);
    }
    if (rc == PONS_OK && pons_get(config, "pictures")) { // what is recorded names them alone
        rc = pons__llm_pictures(llm, config, &llm, err);
    }
    const char *path = pons_get_str(config, "record", NULL);
    if (rc == PONS_OK && path) {
        rc = pons_llm_record(llm, path, pons_get_str(config, "api_key", NULL), clock, &llm, err);
    }
    if (rc == PONS_OK) {
        *ret = llm;
    }
    return rc;
}

static void factory_unref(pons_llm_factory *f)
{
    pthread_mutex_lock(&f->mtx);
    const bool last = --f->refs == 0;
    pthread_mutex_unlock(&f->mtx);
    if (last) {
        pthread_mutex_destroy(&f->mtx);
        free(f);
    }
}

static void client_unref(client *c)
{
    pons_llm_factory *f = c->factory;
    pthread_mutex_lock(&f->mtx);
    const bool last = --c->refs == 0;
    client **at = &f->clients;
    while (last && *at != c) {
        at = &(*at)->next;
    }
    if (last) {
        *at = c->next; // nobody finds it any more
    }
    pthread_mutex_unlock(&f->mtx);
    if (last) {
        c->llm.ops->close(c->llm.self);
        pthread_mutex_destroy(&c->mtx);
        free(c->routes);
        free(c);
        factory_unref(f);
    }
}

static void route_remove(client *c, size_t at)
{
    memmove(c->routes + at, c->routes + at + 1, (c->n_routes - at - 1) * sizeof *c->routes);
    c->n_routes--;
}

static void handle_close(void *self)
{
    handle *h = self;
    if (!h) {
        return;
    }
    client *c = h->client;
    pthread_mutex_lock(&c->mtx);
    for (size_t i = c->n_routes; i-- > 0;) {
        if (c->routes[i].of == h) {
            c->llm.ops->cancel(c->llm.self, c->routes[i].shared);
            route_remove(c, i);
        }
    }
    pthread_mutex_unlock(&c->mtx);
    while (h->events) {
        queued *q = h->events;
        h->events = q->next;
        pons_llm_event_clear(&q->event);
        free(q);
    }
    if (h->own_fd >= 0) {
        close(h->own_fd);
    }
    if (h->fd >= 0) {
        close(h->fd);
    }
    free(h);
    client_unref(c);
}

// Whether the run may make one more call; it is counted.
static bool count_call(pons_llm_factory *f, const char *run, int64_t most)
{
    char name[PONS_LLM_FINGERPRINT_MAX];
    pons_autovalue text = json_string(run);
    pons_value_hash(text, name);
    pthread_mutex_lock(&f->mtx);
    run_count *found = NULL, *oldest = &f->runs[0];
    for (size_t i = 0; i < PONS_LLM_RUNS_MAX && !found; i++) {
        run_count *r = &f->runs[i];
        found = r->used && strcmp(r->run, name) == 0 ? r : NULL;
        oldest = r->used < oldest->used ? r : oldest;
    }
    if (!found) {
        found = oldest;
        *found = (run_count){0};
        memcpy(found->run, name, sizeof name);
    }
    found->used = ++f->used;
    const bool may = found->calls < most;
    found->calls += may;
    pthread_mutex_unlock(&f->mtx);
    return may;
}

// [mtx] Where the call is among the routes, or would be.
static size_t route_find(const client *c, uint64_t shared)
{
    size_t from = 0, to = c->n_routes;
    while (from < to) {
        size_t mid = from + (to - from) / 2;
        if (c->routes[mid].shared < shared) {
            from = mid + 1;
        } else {
            to = mid;
        }
    }
    return from;
}

// [mtx] Numbers ascend, so a new route is the last.
static int route_add(client *c, route r)
{
    if (c->n_routes == c->cap_routes) {
        size_t cap = c->cap_routes ? 2 * c->cap_routes : 4;
        route *grown = realloc(c->routes, cap * sizeof *grown);
        if (!grown) {
            return PONS_ENOMEM;
        }
        c->routes = grown;
        c->cap_routes = cap;
    }
    c->routes[c->n_routes++] = r;
    return PONS_OK;
}

static int handle_start(void *self, uint64_t call, const pons_value *request, pons_error *err)
{
    handle *h = self;
    client *c = h->client;
    const char *run = pons_get_str(request, "run", NULL);
    const int64_t most = pons_get_int(request, "run_calls_max", PONS_LLM_RUN_CALLS_MAX);
    if (run && !count_call(c->factory, run, most)) {
        return pons_error_set(err, PONS_EREFUSED, WHERE,
                              "the run has made its %lld calls of a model", (long long)most);
    }
    pthread_mutex_lock(&c->mtx);
    const uint64_t shared = ++c->next_call;
    int rc = route_add(c, (route){.shared = shared, .own = call, .of = h});
    if (rc != PONS_OK) {
        pons_error_set(err, rc, WHERE, "cannot ask the model");
    } else if ((rc = c->llm.ops->start(c->llm.self, shared, request, err)) != PONS_OK) {
        route_remove(c, route_find(c, shared));
    }
    pthread_mutex_unlock(&c->mtx);
    return rc;
}

static void handle_cancel(void *self, uint64_t call)
{
    handle *h = self;
    client *c = h->client;
    pthread_mutex_lock(&c->mtx);
    for (size_t i = c->n_routes; i-- > 0;) {
        if (c->routes[i].of == h && c->routes[i].own == call) {
            c->llm.ops->cancel(c->llm.self, c->routes[i].shared);
            route_remove(c, i);
        }
    }
    for (queued **at = &h->events; *at;) {
        queued *q = *at;
        if (q->event.call == call) {
            *at = q->next;
            pons_llm_event_clear(&q->event);
            free(q);
        } else {
            at = &q->next;
        }
    }
    h->events_end = &h->events;
    while (*h->events_end) {
        h->events_end = &(*h->events_end)->next;
    }
    pthread_mutex_unlock(&c->mtx);
}

static int handle_event_fd(void *self)
{
    return ((handle *)self)->fd;
}

// [mtx] Takes one event from the provider. Whether there was one; *ret_mine when it is h's, and
// then *ret is it.
static bool take_one(client *c, const handle *h, pons_llm_event *ret, bool *ret_mine)
{
    pons_llm_event ev = {0};
    *ret_mine = false;
    if (!c->llm.ops->next(c->llm.self, &ev)) {
        return false;
    }
    size_t at = route_find(c, ev.call);
    if (at == c->n_routes || c->routes[at].shared != ev.call) {
        pons_llm_event_clear(&ev); // of a handle that is closed
        return true;
    }
    handle *of = c->routes[at].of;
    ev.call = c->routes[at].own;
    if (ev.kind == PONS_LLM_DONE || ev.kind == PONS_LLM_ERROR) {
        route_remove(c, at);
    }
    if (of == h) {
        *ret = ev;
        *ret_mine = true;
        return true;
    }
    queued *q = malloc(sizeof *q);
    if (!q) {
        pons_llm_event_clear(&ev); // a live signal is lost; an end would be missed by its deadline
        return true;
    }
    *q = (queued){.event = ev};
    *of->events_end = q;
    of->events_end = &q->next;
    if (of->own_fd >= 0) {
        eventfd_write(of->own_fd, 1); // it only fails when it is readable already
    }
    return true;
}

static bool handle_next(void *self, pons_llm_event *ret)
{
    handle *h = self;
    client *c = h->client;
    bool mine = false;
    pthread_mutex_lock(&c->mtx);
    queued *q = h->events;
    if (q) {
        h->events = q->next;
        h->events_end = q->next ? h->events_end : &h->events;
    } else {
        uint64_t drained;
        ssize_t n = h->own_fd < 0 ? 0 : read(h->own_fd, &drained, sizeof drained);
        (void)n; // EAGAIN: it was not readable
        while (!mine && take_one(c, h, ret, &mine)) {
        }
    }
    pthread_mutex_unlock(&c->mtx);
    if (q) {
        *ret = q->event;
        free(q);
    }
    return q || mine;
}

// A provider behind handles is opened by the factory alone.
static int handle_reopen(const pons_value *config, const pons_clock *clock, void **ret_self,
                         pons_error *err)
{
    (void)config, (void)clock, (void)ret_self;
    return pons_error_set(err, PONS_EUNSUPPORTED, WHERE, "a handle is opened by its factory");
}

static const pons_llm_ops handle_ops = {.abi = PONS_LLM_ABI,
                                        .open = handle_reopen,
                                        .close = handle_close,
                                        .start = handle_start,
                                        .cancel = handle_cancel,
                                        .event_fd = handle_event_fd,
                                        .next = handle_next};

// [factory's mtx] A new client in the list, of which there is no handle yet.
static int client_open(pons_llm_factory *f, const pons_value *config, const char *fingerprint,
                       client **ret, pons_error *err)
{
    pons_llm llm;
    int rc = provider_open(config, &f->clock, &llm, err);
    if (rc != PONS_OK) {
        return rc;
    }
    client *c = calloc(1, sizeof *c);
    if (!c) {
        llm.ops->close(llm.self);
        return pons_error_set(err, PONS_ENOMEM, WHERE, "cannot open the model");
    }
    *c = (client){.next = f->clients, .factory = f, .llm = llm, .ops = handle_ops};
    c->ops.name = llm.ops->name;
    memcpy(c->fingerprint, fingerprint, sizeof c->fingerprint);
    pthread_mutex_init(&c->mtx, NULL);
    f->clients = c;
    f->refs++;
    *ret = c;
    return PONS_OK;
}

// ---- handles ------------------------------------------------------------------------------------

static int open_descriptors(handle *h, int provider_fd)
{
    struct epoll_event theirs = {.events = EPOLLIN}, own = {.events = EPOLLIN};
    h->own_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    h->fd = epoll_create1(EPOLL_CLOEXEC);
    return h->own_fd < 0 || h->fd < 0 ||
                   epoll_ctl(h->fd, EPOLL_CTL_ADD, provider_fd, &theirs) != 0 ||
                   epoll_ctl(h->fd, EPOLL_CTL_ADD, h->own_fd, &own) != 0
               ? PONS_EENV
               : PONS_OK;
}

static int handle_open(client *c, pons_llm *ret, pons_error *err)
{
    handle *h = calloc(1, sizeof *h);
    if (!h) {
        return pons_error_set(err, PONS_ENOMEM, WHERE, "cannot open the model");
    }
    *h = (handle){.client = c, .own_fd = -1, .fd = -1, .events_end = &h->events};
    const int provider_fd = c->llm.ops->event_fd(c->llm.self);
    if (provider_fd >= 0 && open_descriptors(h, provider_fd) != PONS_OK) {
        int why = errno;
        if (h->own_fd >= 0) {
            close(h->own_fd);
        }
        if (h->fd >= 0) {
            close(h->fd);
        }
        free(h);
        return pons_error_set(err, PONS_EENV, WHERE, "cannot open the model: %s", strerror(why));
    }
    *ret = (pons_llm){.ops = &c->ops, .self = h};
    return PONS_OK;
}

// ---- the factory --------------------------------------------------------------------------------

int pons_llm_factory_create(const pons_clock *clock, pons_llm_factory **ret, pons_error *err)
{
    pons_llm_factory *f = calloc(1, sizeof *f);
    if (!f) {
        return pons_error_set(err, PONS_ENOMEM, WHERE, "cannot make a factory");
    }
    f->clock = *clock;
    f->refs = 1;
    pthread_mutex_init(&f->mtx, NULL);
    *ret = f;
    return PONS_OK;
}

void pons_llm_factory_destroy(pons_llm_factory *f)
{
    if (f) {
        factory_unref(f);
    }
}

int pons_llm_factory_open(pons_llm_factory *f, const pons_value *config, pons_llm *ret,
                          pons_error *err)
{
    char fingerprint[PONS_LLM_FINGERPRINT_MAX];
    pons_llm_fingerprint(config, fingerprint);
    int rc = PONS_OK;
    pthread_mutex_lock(&f->mtx);
    client *c = f->clients;
    while (c && strcmp(c->fingerprint, fingerprint) != 0) {
        c = c->next;
    }
    if (!c) {
        rc = client_open(f, config, fingerprint, &c, err);
    }
    if (rc == PONS_OK) {
        c->refs++;
    }
    pthread_mutex_unlock(&f->mtx);
    if (rc == PONS_OK && (rc = handle_open(c, ret, err)) != PONS_OK) {
        client_unref(c);
    }
    return rc;
}

size_t pons_llm_factory_clients(pons_llm_factory *f)
{
    size_t n = 0;
    pthread_mutex_lock(&f->mtx);
    for (const client *c = f->clients; c; c = c->next) {
        n++;
    }
    pthread_mutex_unlock(&f->mtx);
    return n;
}

void pons_llm_fingerprint(const pons_value *config, char ret[PONS_LLM_FINGERPRINT_MAX])
{
    pons_autovalue same = json_object();
    pons_each_member(key, v, config) {
        const char *url = strcmp(key, "url") == 0 ? json_string_value(v) : NULL;
        size_t n = url ? strlen(url) : 0;
        while (n > 0 && url[n - 1] == '/') {
            n--;
        }
        if (!json_is_null(v)) {
            json_object_set_new(same, key, url ? json_stringn(url, n) : pons_value_ref(v));
        }
    }
    pons_value_hash(same, ret);
}
