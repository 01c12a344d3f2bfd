// object.c - one object of the memory, and the item that is kept of it: one table of fields both ways.
#include "sight/memory/object.h"

#include "pons/buf.h"
#include "pons/fields.h"
#include "sight/memory/evidence.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const int64_t LOOK_MS = 60000;
static const double LOOK_M = 0.5;

typedef struct item { // the members that are single values
    const char *label, *identity, *zone, *state, *detector, *picture;
    const pons_value *names, *position, *cov, *zones, *sightings;
    int64_t first_ms, last_ms, looked_ms, seen, missed;
    double belief, half_life_s, sd_m;
} item;

#define FIELD(member, its_kind, its_use)                                                           \
    {                                                                                              \
        .name = #member, .kind = PONS_FIELD_##its_kind, .use = PONS_FIELD_##its_use,               \
        .offset = offsetof(item, member)                                                           \
    }
static const pons_field fields[] = {
    FIELD(label, STRING, REQUIRED),    FIELD(names, LIST, USUAL),
    FIELD(identity, STRING, OPTIONAL), FIELD(position, LIST, REQUIRED),
    FIELD(cov, LIST, REQUIRED),        FIELD(sd_m, NUMBER, USUAL),
    FIELD(zone, STRING, OPTIONAL),     FIELD(first_ms, INTEGER, REQUIRED),
    FIELD(last_ms, INTEGER, REQUIRED), FIELD(looked_ms, INTEGER, REQUIRED),
    FIELD(seen, INTEGER, REQUIRED),    FIELD(missed, INTEGER, USUAL),
    FIELD(belief, NUMBER, REQUIRED),   FIELD(half_life_s, NUMBER, REQUIRED),
    FIELD(state, STRING, REQUIRED),    FIELD(detector, STRING, USUAL),
    FIELD(picture, STRING, OPTIONAL),  FIELD(zones, OBJECT, USUAL),
    FIELD(sightings, LIST, USUAL),
};
enum { N_FIELDS = sizeof fields / sizeof *fields };

static double rounded(double v, double unit)
{
    return round(v * unit) / unit;
}

static pons_value *reals(const double *v, size_t n, double unit)
{
    pons_value *list = json_array();
    for (size_t i = 0; list && i < n; i++) {
        if (json_array_append_new(list, json_real(rounded(v[i], unit)))) {
            pons_value_unref(list);
            return NULL;
        }
    }
    return list;
}

static bool read_reals(const pons_value *list, double *ret, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const pons_value *v = json_array_get(list, i);
        ret[i] = json_number_value(v);
        if (!json_is_number(v) || !isfinite(ret[i])) {
            return false;
        }
    }
    return json_array_size(list) == n;
}

static pons_value *sighting_value(const pons__sighting *s)
{
    return pons_object_whole("at_ms", json_integer(s->at_ms), "position",
                             reals(s->position, 3, 1e3), "sd_m", json_real(rounded(s->sd_m, 1e3)),
                             "score", json_real(rounded(s->score, 1e3)), "detector",
                             json_string(s->detector), "picture",
                             *s->picture ? json_string(s->picture) : PONS_ABSENT, NULL);
}

static bool append(pons_value *list, pons_value *v) // takes v
{
    return v && list && !json_array_append_new(list, v);
}

pons_value *pons__object_value(const pons__object *o, const pons_value *names, double half_life_s)
{
    static const char *const states[] = {"candidate", "known", "gone", "dead"};
    pons_autovalue position = reals(o->position, 3, 1e3);
    pons_autovalue cov = reals(o->cov, 4, 1e6);
    pons_autovalue zones = json_object();
    pons_autovalue sightings = json_array();
    pons_autovalue ret = json_object();
    bool whole = position && cov && zones && sightings && ret;
    for (int i = 0; whole && i < o->n_zones; i++) {
        whole = !json_object_set_new(zones, o->zones[i].id, json_integer(o->zones[i].n));
    }
    for (int i = 0; whole && i < o->n_sightings; i++) {
        whole = append(sightings, sighting_value(&o->sightings[i]));
    }
    const item it = {.label = o->label,
                     .identity = o->identity,
                     .zone = o->zone,
                     .state = states[o->state],
                     .detector = o->sightings[0].detector,
                     .picture = o->sightings[0].picture,
                     .names = names,
                     .position = position,
                     .cov = cov,
                     .zones = zones,
                     .sightings = sightings,
                     .first_ms = o->first_ms,
                     .last_ms = o->last_ms,
                     .looked_ms = o->looked_ms,
                     .seen = o->seen,
                     .missed = o->missed,
                     .belief = rounded(pons__belief_of(o->odds), 1e4),
                     .half_life_s = half_life_s,
                     .sd_m = rounded(pons__cov_sd(o->cov), 1e3)};
    whole = whole && !pons_fields_encode(fields, N_FIELDS, &it, ret);
    return whole ? pons_value_ref(ret) : NULL;
}

static void copy(char *ret, size_t cap, const char *text)
{
    pons_utf8_copy(ret, cap, text);
}

bool pons__object_read(const char *key, const pons_value *value, pons__object *ret)
{
    item it;
    pons_field_fault fault = {0};
    char *end = NULL;
    *ret = (pons__object){0};
    ret->number = strncmp(key, "obj-", 4) == 0 ? strtoll(key + 4, &end, 10) : 0;
    pons_fields_decode(fields, N_FIELDS, value, &it, &fault);
    if (*fault.text || ret->number <= 0 || *end || !*it.label ||
        !read_reals(it.position, ret->position, 3) || !read_reals(it.cov, ret->cov, 4) ||
        !(ret->cov[0] > 0.0 && ret->cov[2] > 0.0 && ret->cov[3] > 0.0) ||
        !(ret->cov[1] * ret->cov[1] < ret->cov[0] * ret->cov[2]) || !isfinite(it.belief)) {
        return false;
    }
    ret->state = strcmp(it.state, "known") == 0 ? PONS__OBJECT_KNOWN : PONS__OBJECT_GONE;
    copy(ret->label, sizeof ret->label, it.label);
    copy(ret->identity, sizeof ret->identity, it.identity);
    copy(ret->zone, sizeof ret->zone, it.zone);
    ret->first_ms = it.first_ms, ret->last_ms = it.last_ms, ret->looked_ms = it.looked_ms;
    ret->seen = it.seen, ret->missed = it.missed;
    ret->odds = pons__log_odds_of(it.belief);
    pons_each_member(id, n, it.zones) {
        if (ret->n_zones < PONS__OBJECT_ZONES) {
            copy(ret->zones[ret->n_zones].id, PONS_OBJECT_TEXT, id);
            ret->zones[ret->n_zones++].n = json_integer_value(n);
        }
    }
    pons_each(s, it.sightings) {
        pons__sighting *to = &ret->sightings[ret->n_sightings];
        if (ret->n_sightings == PONS_OBJECT_SIGHTINGS ||
            !read_reals(pons_get(s, "position"), to->position, 3)) {
            break;
        }
        to->at_ms = pons_get_int(s, "at_ms", 0);
        to->sd_m = pons_get_num(s, "sd_m", 0.0);
        to->score = pons_get_num(s, "score", 0.0);
        copy(to->detector, sizeof to->detector, pons_get_str(s, "detector", ""));
        copy(to->picture, sizeof to->picture, pons_get_str(s, "picture", ""));
        ret->n_sightings++;
    }
    return true;
}

void pons__object_key(int64_t number, char ret[32])
{
    snprintf(ret, 32, "obj-%" PRId64, number);
}

// Of one look at a thing, which is many pictures, one sighting is enough.
static bool is_same_look(const pons__sighting *a, const pons__sighting *b)
{
    return a->at_ms - b->at_ms < LOOK_MS && strcmp(a->detector, b->detector) == 0 &&
           hypot(a->position[0] - b->position[0], a->position[1] - b->position[1]) < LOOK_M;
}

void pons__object_add_sighting(pons__object *o, const pons__sighting *s)
{
    int gap = 0; // which one makes room
    while (gap < o->n_sightings && !is_same_look(s, &o->sightings[gap])) {
        gap++;
    }
    if (gap == o->n_sightings && gap < PONS_OBJECT_SIGHTINGS) {
        o->n_sightings++;
    } else if (gap == o->n_sightings) {
        gap--;
    }
    memmove(&o->sightings[1], &o->sightings[0], (size_t)gap * sizeof *o->sightings);
    o->sightings[0] = *s;
}

void pons__object_count_zone(pons__object *o)
{
    int at = 0;
    while (at < o->n_zones && strcmp(o->zones[at].id, o->zone) != 0) {
        at++;
    }
    if (!*o->zone || at == PONS__OBJECT_ZONES) {
        return;
    }
    if (at == o->n_zones) {
        memcpy(o->zones[at].id, o->zone, sizeof o->zone);
        o->zones[at].n = 0;
        o->n_zones++;
    }
    o->zones[at].n++;
}
