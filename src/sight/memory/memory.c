// memory.c - the object memory: what each picture does to it, and how it is kept.
//
//   view, detections --faults--> found --associate--> seen again: place fused, belief up
//                                      |              new: a candidate, known after its second sighting
//                                      +-- what the view covers and nobody saw: belief down, gone below 15 %
//                    --reunite--> what is gone here and new there has moved
//
// All of it lies in one array; a put changes the array alone, and makes room for what it will need before it changes
// anything. A save writes those objects that differ from their items, and the newest stamp of each source with them, in
// one commit: a batch that was taken and saved is never taken again, and one that was not saved has left nothing.
#include "pons/buf.h"
#include "pons/geometry.h"
#include "pons/growing_list.h"
#include "sight/memory/evidence.h"
#include "sight/memory/internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const int64_t CANDIDATE_MS = 24 * 3600 * 1000; // that is not seen again by then never was
// Between two looks that count against what is not seen.
static const int64_t AGAIN_NS = 300 * PONS_NS_PER_MS;
enum { SOURCES_MAX = 32, AGAIN_MS = 5000 };
static const char TAKEN[] = "taken";

static int no_memory(pons_error *err)
{
    return pons_error_set(err, PONS_ENOMEM, "sight", "no memory for what is seen");
}

double pons__object_odds_at(const pons_object_memory *m, const pons__object *o, int64_t at_ms)
{
    return pons__log_odds_of(pons__belief_faded(pons__belief_of(o->odds),
                                                pons__sight_half_life_s(&m->settings, o->label),
                                                at_ms - o->looked_ms));
}

// ---- put ----------------------------------------------------------------------------------------

static void find_zone(const pons_object_memory *m, pons__object *o)
{
    const char *id = "";
    pons_each(z, m->zones) {
        if (pons_polygon_contains(pons_get(z, "polygon"), o->position[0], o->position[1])) {
            id = pons_get_str(z, "id", "");
            break;
        }
    }
    if (strcmp(o->zone, id) != 0) {
        pons_utf8_copy(o->zone, sizeof o->zone, id);
        o->urgent = true;
    }
}

static void take_sighting(const pons_object_view *v, const pons__found *f, pons__object *o)
{
    pons__sighting s = {.at_ms = v->at_ms, .sd_m = pons__cov_sd(f->cov), .score = f->d->score};
    memcpy(s.position, f->d->position, sizeof s.position);
    pons_utf8_copy(s.detector, sizeof s.detector, v->detector);
    pons_utf8_copy(s.picture, sizeof s.picture, v->picture ? v->picture : "");
    pons__object_add_sighting(o, &s);
    if (f->d->identity && *f->d->identity) {
        pons_utf8_copy(o->identity, sizeof o->identity, f->d->identity);
    }
    // Who looks for it waits for that.
    o->urgent = o->urgent || (o->state == PONS__OBJECT_KNOWN && v->at_ms - o->last_ms >= AGAIN_MS);
    o->last_ms = o->looked_ms = v->at_ms;
    o->seen++;
    o->changed = true;
}

static void judge_seen(pons_object_memory *m, pons__object *o, double score, pons_object_seen *ret)
{
    const bool enough = o->seen >= m->settings.known_after || score >= m->settings.sure_score;
    if (o->state == PONS__OBJECT_KNOWN || !enough ||
        pons__belief_of(o->odds) < PONS__BELIEF_KNOWN) {
        return;
    }
    if (o->state == PONS__OBJECT_CANDIDATE) {
        o->number = m->next++;
    }
    o->state = PONS__OBJECT_KNOWN;
    o->urgent = o->turned = true;
    pons__object_count_zone(o);
    ret->known++;
}

static void see(pons_object_memory *m, const pons_object_view *v, const pons__found *f,
                pons_object_seen *ret)
{
    pons__object *o = f->object < 0 ? &m->all[m->n++] : &m->all[f->object];
    if (f->object < 0) {
        *o = (pons__object){.first_ms = v->at_ms, .odds = pons__odds_first(f->d->score)};
        memcpy(o->position, f->d->position, sizeof o->position);
        memcpy(o->cov, f->cov, sizeof o->cov);
        pons_utf8_copy(o->label, sizeof o->label, f->d->label);
        ret->candidates++;
    } else {
        o->odds = pons__odds_seen(pons__object_odds_at(m, o, v->at_ms), v->miss);
        pons__place_fuse(o->position, o->cov, f->d->position, f->cov);
        ret->merged++;
    }
    take_sighting(v, f, o);
    find_zone(m, o);
    judge_seen(m, o, f->d->score, ret);
}

static bool is_seen_by(const pons__object *o, const char *detector)
{
    for (int i = 0; i < o->n_sightings; i++) {
        if (strcmp(o->sightings[i].detector, detector) == 0) {
            return true;
        }
    }
    return false;
}

static void miss(pons_object_memory *m, const pons_object_view *v, pons__object *o,
                 pons_object_seen *ret)
{
    if (o->state == PONS__OBJECT_GONE || o->looked_ms == v->at_ms ||
        llabs(v->stamp_ns - o->missed_ns) < AGAIN_NS || !is_seen_by(o, v->detector) ||
        !pons__view_covers(v, o->position, pons__cov_sd(o->cov))) {
        return;
    }
    o->odds = pons__odds_missed(pons__object_odds_at(m, o, v->at_ms), v->miss);
    o->looked_ms = v->at_ms;
    o->missed_ns = v->stamp_ns;
    o->missed++;
    o->changed = true;
    ret->missed++;
    if (pons__belief_of(o->odds) < PONS__BELIEF_GONE) {
        const bool known = o->state == PONS__OBJECT_KNOWN;
        o->state = known ? PONS__OBJECT_GONE : PONS__OBJECT_DEAD;
        o->urgent = o->turned = known;
        ret->gone += known;
    }
}

// The worst of those with a state goes, when there are more than may be.
static void drop_excess(pons_object_memory *m, bool candidates, size_t most)
{
    size_t n = 0;
    for (size_t i = 0; i < m->n; i++) {
        const pons__object_state s = m->all[i].state;
        n += s != PONS__OBJECT_DEAD && (s == PONS__OBJECT_CANDIDATE) == candidates;
    }
    for (; n > most; n--) {
        pons__object *worst = NULL;
        double least = INFINITY;
        for (size_t i = 0; i < m->n; i++) {
            pons__object *o = &m->all[i];
            const double worth =
                candidates ? (double)o->last_ms : pons__object_odds_at(m, o, m->now_ms);
            if (o->state != PONS__OBJECT_DEAD &&
                (o->state == PONS__OBJECT_CANDIDATE) == candidates && worth < least) {
                worst = o;
                least = worth;
            }
        }
        worst->state = PONS__OBJECT_DEAD;
    }
}

// Takes the dead out, and what is too old.
static void sweep(pons_object_memory *m)
{
    size_t kept = 0;
    drop_excess(m, true, PONS_OBJECT_CANDIDATES);
    drop_excess(m, false, PONS_OBJECTS_MAX);
    for (size_t i = 0; i < m->n; i++) {
        pons__object *o = &m->all[i];
        const int64_t age = m->now_ms - o->last_ms;
        const bool old = (o->state == PONS__OBJECT_CANDIDATE && age > CANDIDATE_MS) ||
                         (o->state == PONS__OBJECT_GONE && age > m->settings.forget_ms);
        if (o->state != PONS__OBJECT_DEAD && !old) {
            if (kept != i) {
                m->all[kept] = *o;
            }
            kept++;
        } else if (o->number > 0) {
            m->forgotten[m->n_forgotten++] = o->number;
        }
    }
    m->n = kept;
}

static void refuse(pons_object_seen *ret, size_t i, const char *why)
{
    if (!ret->refused++) {
        snprintf(ret->why, sizeof ret->why, "detection %zu: %s", i + 1, why);
    }
}

// Room for all that may come, and words for each label.
static int prepare(pons_object_memory *m, const pons_object_view *v, const pons__found *found,
                   size_t n)
{
    bool whole = pons_list_reserve(&m->all, &m->cap, m->n + n, sizeof *m->all) &&
                 pons_list_reserve(&m->forgotten, &m->cap_forgotten, m->n_forgotten + m->n + n,
                                   sizeof *m->forgotten);
    for (size_t i = 0; whole && i < n; i++) {
        whole = pons__sight_names(&m->settings, found[i].d->label, found[i].d->identity) != NULL;
    }
    if (whole && !pons_get(m->sources, v->source) && json_object_size(m->sources) >= SOURCES_MAX) {
        json_object_del(m->sources,
                        json_object_iter_key(json_object_iter(m->sources))); // the oldest
    }
    whole = whole && !json_object_set_new(m->sources, v->source, json_integer(v->stamp_ns));
    return whole ? PONS_OK : PONS_ENOMEM;
}

int pons_object_memory_put(pons_object_memory *m, const pons_object_view *view,
                           const pons_detection *detections, size_t n, pons_object_seen *ret,
                           pons_error *err)
{
    pons__found found[PONS_OBJECT_DETECTIONS];
    pons_object_seen seen = {0};
    const char *fault = pons__view_fault(view);
    size_t used = 0;
    if (fault) {
        return pons_error_set(err, PONS_EINVAL, "sight", "no view: %s", fault);
    }
    if (n > PONS_OBJECT_DETECTIONS) {
        return pons_error_set(err, PONS_EINVAL, "sight",
                              "%zu detections in one picture of %s; at most %d", n, view->detector,
                              PONS_OBJECT_DETECTIONS);
    }
    const pons_value *last = pons_get(m->sources, view->source);
    if (last && view->stamp_ns <= json_integer_value(last)) {
        *ret = (pons_object_seen){.again = true};
        return PONS_OK;
    }
    for (size_t i = 0; i < n; i++) {
        fault = pons__detection_fault(view, &detections[i]);
        if (fault) {
            refuse(&seen, i, fault);
            continue;
        }
        found[used] = (pons__found){.d = &detections[i], .object = -1};
        pons__detection_cov(view, &detections[i], found[used].cov);
        used++;
    }
    if (pons__associate(m, found, used) || prepare(m, view, found, used)) {
        return no_memory(err);
    }
    m->now_ms = view->at_ms > m->now_ms ? view->at_ms : m->now_ms;
    m->taken = true;
    const size_t before = m->n;
    for (size_t i = 0; i < used; i++) {
        see(m, view, &found[i], &seen);
    }
    for (size_t i = 0; i < before; i++) {
        miss(m, view, &m->all[i], &seen); // what was seen just now is not looked at again
    }
    pons__objects_reunite(m, &seen);
    sweep(m);
    *ret = seen;
    return PONS_OK;
}

size_t pons_object_memory_count(const pons_object_memory *m, bool gone_too)
{
    size_t n = 0;
    for (size_t i = 0; i < m->n; i++) {
        n += m->all[i].state == PONS__OBJECT_KNOWN ||
             (gone_too && m->all[i].state == PONS__OBJECT_GONE);
    }
    return n;
}

// ---- save ---------------------------------------------------------------------------------------

typedef struct writes { // of one commit
    pons_item_write *v;
    void **blocks; // what each of them lies in
    size_t n;
} writes;

static void add_write(writes *w, pons_item_write *block) // takes it
{
    w->v[w->n] = *block;
    w->blocks[w->n++] = block;
}

static int add_put(const pons_object_memory *m, writes *w, const char *key, const pons_value *value,
                   const pons_item_put *how, pons_error *err)
{
    pons_item_write *block = NULL;
    const int st = pons_items_write_put(&m->items.opts, pons_wall_ms(&m->items.clock), m->ns, key,
                                        value, how, &block, err);
    if (!st) {
        add_write(w, block);
    }
    return st;
}

static int add_object(pons_object_memory *m, writes *w, const pons__object *o, pons_error *err)
{
    static const char *const searched[] = {"label", "names[*]", "identity", "zone", NULL};
    static const pons_item_put how = {.fields = searched};
    char key[32];
    const pons_value *names = pons__sight_names(&m->settings, o->label, o->identity);
    pons_autovalue value =
        names ? pons__object_value(o, names, pons__sight_half_life_s(&m->settings, o->label))
              : NULL;
    pons__object_key(o->number, key);
    return value ? add_put(m, w, key, value, &how, err) : no_memory(err);
}

static int add_taken(pons_object_memory *m, writes *w, pons_error *err)
{
    static const pons_item_put how = {.unsearched = true};
    pons_autovalue value = pons_object_whole("sources", pons_value_ref(m->sources), "next",
                                             json_integer(m->next), NULL);
    return value ? add_put(m, w, TAKEN, value, &how, err) : no_memory(err);
}

static bool is_to_write(const pons__object *o)
{
    return o->state != PONS__OBJECT_CANDIDATE && (o->urgent || o->changed);
}

// What has changed is written together, with the stamps: so none of it is taken twice, and none left out.
static bool is_due(const pons_object_memory *m, bool all)
{
    bool urgent = m->n_forgotten > 0, changed = false;
    for (size_t i = 0; i < m->n; i++) {
        urgent = urgent || (is_to_write(&m->all[i]) && m->all[i].urgent);
        changed = changed || is_to_write(&m->all[i]);
    }
    return urgent || (all && (changed || m->taken)) ||
           (changed && m->now_ms - m->written_ms >= m->settings.write_ms);
}

static int collect(pons_object_memory *m, writes *w, pons_error *err)
{
    int st = PONS_OK;
    for (size_t i = 0; i < m->n && !st; i++) {
        st = is_to_write(&m->all[i]) ? add_object(m, w, &m->all[i], err) : PONS_OK;
    }
    for (size_t i = 0; i < m->n_forgotten && !st; i++) {
        char key[32];
        pons_item_write *block = NULL;
        pons__object_key(m->forgotten[i], key);
        st = pons_items_write_delete(m->ns, key, &block, err);
        if (!st) {
            add_write(w, block);
        }
    }
    return st ? st : add_taken(m, w, err);
}

int pons_object_memory_save(pons_object_memory *m, bool all, pons_error *err)
{
    const pons_store *store = &m->items.store;
    const size_t most = m->n + m->n_forgotten + 1;
    if (!is_due(m, all)) {
        return PONS_OK;
    }
    writes w = {.v = calloc(most, sizeof *w.v), .blocks = calloc(most, sizeof *w.blocks)};
    int st = w.v && w.blocks ? collect(m, &w, err) : no_memory(err);
    if (!st) {
        st = store->ops->items_write(store->self, w.v, w.n, PONS_SYNC_NORMAL, err);
    }
    for (size_t i = 0; !st && i < m->n; i++) {
        m->all[i].urgent = m->all[i].changed = false;
    }
    if (!st) {
        m->n_forgotten = 0;
        m->taken = false;
        m->written_ms = m->now_ms;
    }
    for (size_t i = 0; i < w.n; i++) {
        free(w.blocks[i]);
    }
    free(w.blocks);
    free(w.v);
    return st;
}

// ---- open and close -----------------------------------------------------------------------------

typedef struct loading {
    pons_object_memory *m;
    int st;
    pons_error *err;
} loading;

static void read_taken(pons_object_memory *m, const pons_value *value)
{
    pons_each_member(source, stamp, pons_get(value, "sources")) {
        if (json_is_integer(stamp)) {
            json_object_set_new(m->sources, source, pons_value_ref(stamp));
        }
    }
    const int64_t next = pons_get_int(value, "next", 1);
    m->next = next > m->next ? next : m->next;
}

static int load_row(void *user, const pons_item_row *row)
{
    loading *l = user;
    pons_object_memory *m = l->m;
    pons_autovalue value = NULL;
    if (strcmp(row->ns, m->ns) != 0 ||
        pons_value_read(row->value.data, row->value.len, &value, NULL)) {
        return 0; // a namespace below, or what somebody else has put there
    }
    if (strcmp(row->key, TAKEN) == 0) {
        read_taken(m, value);
        return 0;
    }
    if (!pons_list_reserve(&m->all, &m->cap, m->n + 1, sizeof *m->all)) {
        l->st = no_memory(l->err);
        return 1;
    }
    pons__object *o = &m->all[m->n];
    if (m->n >= PONS_OBJECTS_MAX || !pons__object_read(row->key, value, o)) {
        return 0;
    }
    const pons_value *names = pons__sight_names(&m->settings, o->label, o->identity);
    if (!names) {
        l->st = no_memory(l->err);
        return 1;
    }
    o->urgent = !json_equal(names, pons_get(value, "names")); // the words for it are others now
    m->next = o->number >= m->next ? o->number + 1 : m->next;
    m->now_ms = o->looked_ms > m->now_ms ? o->looked_ms : m->now_ms;
    m->n++;
    return 0;
}

static int by_number(const void *a, const void *b)
{
    const pons__object *x = a, *y = b;
    return (x->number > y->number) - (x->number < y->number);
}

int pons_object_memory_open(const pons_object_memory_options *options, pons_object_memory **ret,
                            pons_error *err)
{
    const pons_store *store = &options->items.store;
    if (!store->ops || !store->ops->items) {
        return pons_error_set(err, PONS_EUNSUPPORTED, "sight", "store %s has no items",
                              store->ops ? store->ops->name : "(none)");
    }
    if (!options->ns || !*options->ns || strlen(options->ns) >= PONS_ITEM_MAX) {
        return pons_error_set(err, PONS_EINVAL, "sight", "the memory needs a namespace");
    }
    pons_object_memory *m = calloc(1, sizeof *m);
    if (!m) {
        return no_memory(err);
    }
    m->items = options->items;
    m->next = 1;
    snprintf(m->ns, sizeof m->ns, "%s", options->ns);
    m->zones = pons_value_ref(options->zones);
    m->sources = json_object();
    int st = pons__sight_settings_init(&m->settings, options->config, options->objects, err);
    st = st || m->sources ? st : no_memory(err);
    if (!st) {
        loading l = {.m = m, .err = err};
        const pons_item_find find = {.prefix = m->ns, .now_ms = pons_wall_ms(&m->items.clock)};
        st = store->ops->items(store->self, &find, load_row, &l, err);
        st = st ? st : l.st;
    }
    if (st) {
        pons_object_memory_close(m);
        return st;
    }
    if (m->n) {
        qsort(m->all, m->n, sizeof *m->all, by_number); // the order of a run that was not cut
    }
    *ret = m;
    return PONS_OK;
}

void pons_object_memory_close(pons_object_memory *m)
{
    if (!m) {
        return;
    }
    pons__sight_settings_fini(&m->settings);
    pons_value_unref(m->zones);
    pons_value_unref(m->sources);
    free(m->forgotten);
    free(m->all);
    free(m);
}
