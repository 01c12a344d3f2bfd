// world_view_read.c - reads config/world-view.yaml.
//
// The checks run from the outside in, and the first fault is reported with its file:line:col: the
// text (yaml), the shape (schemas/world-view.json), then the sense: an id means one thing, whatever
// is named exists. Whoever gets a world view may read it without ladders of checks.
#include "companion/calendar.h"
#include "companion/life.h"
#include "companion/own_guards.h"
#include "companion/world_view_queries.h"
#include "pons/schema.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static const char SCHEMA_FILE[] = "schemas/world-view.json";

typedef struct reader {
    pons_world_view *v;
    const pons_yaml *yaml;
    pons_error *err;
    int rc;
} reader;

// ---- sense --------------------------------------------------------------------------------------

// The first fault is the one that is told.
__attribute__((format(printf, 3, 4))) static void fault(reader *r, const char *pointer,
                                                        const char *fmt, ...)
{
    char text[256], position[PONS_ERROR_SOURCE_MAX];
    va_list ap;
    if (r->rc < 0) {
        return;
    }
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    r->rc = pons_error_set(r->err, PONS_EINVAL, PONS__COMPANION, "%s: %s", pointer, text);
    pons_error_source(r->err, "%s",
                      pons_yaml_position(r->yaml, pointer, position, sizeof position));
}

static void check_unique(reader *r, const char *list)
{
    const pons_value *all = pons_get(r->v->doc, list);
    pons_autovalue seen = json_object();
    for (size_t i = 0; i < json_array_size(all); i++) {
        const char *id = pons_get_str(json_array_get(all, i), "id", "");
        char pointer[64];
        if (json_object_get(seen, id)) {
            snprintf(pointer, sizeof pointer, "/%s/%zu/id", list, i);
            fault(r, pointer, "'%s' is there already", id);
        }
        json_object_set_new(seen, id, json_true());
    }
}

static bool knows_window(const pons_world_view *v, const char *id)
{
    for (size_t i = 0; i < v->n_windows; i++) {
        if (strcmp(v->windows[i].id, id) == 0) {
            return true;
        }
    }
    return false;
}

// Guards of one's own are made of the companion's, which keep their names.
static void check_conditions(reader *r)
{
    const pons_value *all = pons_get(r->v->doc, "conditions");
    pons_each(own, all) {
        const char *key = pons_get(own, "any") ? "any" : "all", *id = pons_get_str(own, "id", "");
        const pons_value *list = pons_get(own, key);
        char at[96], why[160];
        if (pons__co_own_leaf(id)) {
            snprintf(at, sizeof at, "/conditions/%zu/id", own_at);
            fault(r, at, "'%s' is a leaf of the companion's own", id);
        }
        for (size_t k = 0; k < json_array_size(list); k++) {
            pons__co_guard g;
            if (!pons__co_guard_read(json_string_value(json_array_get(list, k)), &g, why,
                                     sizeof why)) {
                snprintf(at, sizeof at, "/conditions/%zu/%s/%zu", own_at, key, k);
                fault(r, at, "%s", why);
            } else if (strcmp(g.name, "AtPlace") == 0 && !pons__co_place_of(r->v, g.arg)) {
                snprintf(at, sizeof at, "/conditions/%zu/%s/%zu", own_at, key, k);
                fault(r, at, "there is no place '%s'", g.arg);
            } else if (strstr(g.name, "Window") && !knows_window(r->v, g.arg)) {
                snprintf(at, sizeof at, "/conditions/%zu/%s/%zu", own_at, key, k);
                fault(r, at, "there is no window '%s'", g.arg);
            }
        }
    }
}

static void check_activity(reader *r, size_t i)
{
    const pons_world_view *v = r->v;
    const pons__co_activity *a = &v->activities[i];
    char at[96];
#define AT(field) (snprintf(at, sizeof at, "/activities/%zu/" field, i), at)
    if (*a->place && !pons__co_place_of(v, a->place)) {
        fault(r, AT("place"), "there is no place '%s'", a->place);
    }
    if (*a->to && !pons__co_place_of(v, a->to)) {
        fault(r, AT("to"), "there is no place '%s'", a->to);
    }
    if (*a->device && !pons__co_device_of(v, a->device)) {
        fault(r, AT("device"), "there is no device '%s'", a->device);
    }
    if (*a->ends && !pons__co_activity_of(v, a->ends)) {
        fault(r, AT("ends"), "there is no activity '%s'", a->ends);
    }
    if (*a->until_window && !knows_window(v, a->until_window)) {
        fault(r, AT("until/window"), "there is no window '%s'", a->until_window);
    }
    for (size_t k = 0; k < json_array_size(a->windows); k++) {
        const char *id = json_string_value(json_array_get(a->windows, k));
        if (!knows_window(v, id)) {
            snprintf(at, sizeof at, "/activities/%zu/windows/%zu", i, k);
            fault(r, at, "there is no window '%s'", id);
        }
    }
    if ((a->minutes > 0) + a->commute + (*a->until_window != 0) > 1) {
        fault(r, AT("id"), "'%s' has more than one of minutes, commute and until", a->id);
    }
    if (pons__co_forbidden(v, a->id)) {
        fault(r, AT("id"), "'%s' is forbidden by reality", a->id);
    }
#undef AT
}

static void check_names(reader *r)
{
    const pons_world_view *v = r->v;
    if (r->rc < 0) {
        return;
    }
    check_unique(r, "places");
    check_unique(r, "devices");
    check_unique(r, "activities");
    check_unique(r, "conditions");
    check_conditions(r);
    if (!pons__co_place_of(v, v->start_place)) {
        fault(r, "/start/place", "there is no place '%s'", v->start_place);
    }
    for (size_t i = 0; i < v->n_activities; i++) {
        check_activity(r, i);
    }
}

static void *make(reader *r, size_t n, size_t size)
{
    void *p = r->rc < 0 ? NULL : calloc(n + 1, size);
    if (!p && r->rc >= 0) {
        r->rc = pons_error_set(r->err, PONS_ENOMEM, PONS__COMPANION, "cannot read the world view");
    }
    return p;
}

static void copy_id(char ret[PONS__CO_ID_MAX], const pons_value *o, const char *key)
{
    snprintf(ret, PONS__CO_ID_MAX, "%s", pons_get_str(o, key, ""));
}

// ---- reading ------------------------------------------------------------------------------------

static int check_shape(const pons_yaml *y, pons_error *err)
{
    pons_schema *schema = NULL;
    int rc = pons_schema_shipped(SCHEMA_FILE, &schema, err);
    rc = rc < 0 ? rc : pons_schema_check_yaml(schema, y, err);
    pons_schema_destroy(schema);
    return rc;
}

static void read_scalars(reader *r)
{
    pons_world_view *v = r->v;
    const pons_value *person = pons_get(v->doc, "person"), *model = pons_get(v->doc, "model");
    const pons_value *start = pons_get(v->doc, "start");
    const char *zone = pons_get_str(v->doc, "timezone", "+08:00");
    v->offset_min = pons__co_read_clock(zone + 1) * (*zone == '-' ? -1 : 1);
    copy_id(v->start_place, start, "place");
    v->start_energy = pons_get_num(start, "energy", 60);
    v->idle_energy_per_h = pons_get_num(v->doc, "idle_energy_per_h", -2);
    v->sleep_tendency_min = (int)pons_get_int(person, "sleep_tendency_min", 0);
    v->sleep_jitter_min = (int)pons_get_int(person, "sleep_jitter_min", 0);
    v->commute_min = (int)pons_get_int(person, "commute_min", 20);
    v->commute_jitter_min = (int)pons_get_int(person, "commute_jitter_min", 0);
    v->window_min = (int)pons_get_int(model, "window_min", 30);
    v->timeout_s = pons_get_num(model, "timeout_s", 20);
    v->failure_cooldown_min = (int)pons_get_int(model, "failure_cooldown_min", 60);
    v->rejection_cooldown_min = (int)pons_get_int(model, "rejection_cooldown_min", 120);
    v->repeat_cooldown_min = (int)pons_get_int(model, "repeat_cooldown_min", 90);
    v->interrupt = *pons_get_str(pons_get(v->doc, "messages"), "interrupt", "urgent");
}

static void read_span(const pons_value *o, pons__co_span *s)
{
    const char *days = pons_get_str(o, "days", "any");
    copy_id(s->id, o, "id");
    s->days = *days == 's'   ? PONS__CO_DAYS_SCHOOL
              : *days == 'f' ? PONS__CO_DAYS_FREE
                             : PONS__CO_DAYS_ANY;
    s->from = pons__co_read_clock(pons_get_str(o, "from", ""));
    s->to = pons__co_read_clock(pons_get_str(o, "to", ""));
    s->to += s->to <= s->from ? PONS__CO_MINUTES_A_DAY : 0;
    s->follows_sleep = pons_get(o, "follows") != NULL;
}

static void read_places(reader *r)
{
    pons_world_view *v = r->v;
    const pons_value *list = pons_get(v->doc, "places");
    v->places = make(r, json_array_size(list), sizeof *v->places);
    for (size_t i = 0; r->rc >= 0 && i < json_array_size(list); i++) {
        const pons_value *o = json_array_get(list, i), *open = pons_get(o, "open");
        pons__co_place *p = &v->places[v->n_places];
        copy_id(p->id, o, "id");
        p->open = make(r, json_array_size(open), sizeof *p->open);
        v->n_places++;
        for (size_t k = 0; r->rc >= 0 && k < json_array_size(open); k++) {
            read_span(json_array_get(open, k), &p->open[p->n_open++]);
        }
    }
}

static void read_devices(reader *r)
{
    pons_world_view *v = r->v;
    const pons_value *list = pons_get(v->doc, "devices");
    v->devices = make(r, json_array_size(list), sizeof *v->devices);
    for (size_t i = 0; r->rc >= 0 && i < json_array_size(list); i++) {
        const pons_value *o = json_array_get(list, i);
        copy_id(v->devices[v->n_devices].id, o, "id");
        v->devices[v->n_devices++].can = pons_get(o, "can");
    }
}

static void read_days(reader *r)
{
    pons_world_view *v = r->v;
    const pons_value *off = pons_get(v->doc, "holidays"), *on = pons_get(v->doc, "school_days");
    char pointer[64];
    v->holidays = make(r, json_array_size(off), sizeof *v->holidays);
    v->school_days = make(r, json_array_size(on), sizeof *v->school_days);
    for (size_t i = 0; r->rc >= 0 && i < json_array_size(off); i++) {
        const pons_value *o = json_array_get(off, i);
        pons__co_holiday *h = &v->holidays[v->n_holidays++];
        const char *from = pons_get_str(o, "from", "");
        h->name = pons_get_str(o, "name", "holiday");
        snprintf(pointer, sizeof pointer, "/holidays/%zu", i);
        if (!pons__co_read_date(from, &h->from) ||
            !pons__co_read_date(pons_get_str(o, "to", from), &h->to)) {
            fault(r, pointer, "there is no such date");
        } else if (h->to < h->from) {
            fault(r, pointer, "it ends before it begins");
        }
    }
    for (size_t i = 0; r->rc >= 0 && i < json_array_size(on); i++) {
        snprintf(pointer, sizeof pointer, "/school_days/%zu", i);
        if (!pons__co_read_date(json_string_value(json_array_get(on, i)),
                                &v->school_days[v->n_school_days++])) {
            fault(r, pointer, "there is no such date");
        }
    }
}

static void read_windows(reader *r)
{
    pons_world_view *v = r->v;
    const pons_value *list = pons_get(v->doc, "windows");
    v->windows = make(r, json_array_size(list), sizeof *v->windows);
    for (size_t i = 0; r->rc >= 0 && i < json_array_size(list); i++) {
        read_span(json_array_get(list, i), &v->windows[v->n_windows++]);
    }
}

static void read_activities(reader *r)
{
    pons_world_view *v = r->v;
    const pons_value *list = pons_get(v->doc, "activities");
    v->activities = make(r, json_array_size(list), sizeof *v->activities);
    for (size_t i = 0; r->rc >= 0 && i < json_array_size(list); i++) {
        const pons_value *o = json_array_get(list, i), *until = pons_get(o, "until");
        pons__co_activity *a = &v->activities[v->n_activities++];
        copy_id(a->id, o, "id");
        copy_id(a->place, o, "place");
        copy_id(a->to, o, "to");
        copy_id(a->device, o, "device");
        copy_id(a->ends, o, "ends");
        copy_id(a->until_window, until, "window");
        a->until_closes = *pons_get_str(until, "edge", "") == 'c';
        a->needs = pons_get_str(o, "needs", NULL);
        a->windows = pons_get(o, "windows");
        a->minutes = (int)pons_get_int(o, "minutes", 0);
        a->commute = pons_get_bool(o, "commute", false);
        a->interruptible = pons_get_bool(o, "interruptible", true);
        a->ask_model = pons_get_bool(o, "ask_model", a->interruptible);
        a->preemptive = pons_get_bool(o, "preemptive", false);
        a->reads_messages = pons_get_bool(o, "reads_messages", false);
        a->duty = pons_get_bool(o, "duty", false);
        a->energy_per_h = pons_get_num(o, "energy_per_h", v->idle_energy_per_h);
        a->energy_min = pons_get_num(o, "energy_min", 0);
    }
}

static int from_yaml(pons_yaml *y, pons_world_view **ret, pons_error *err)
{
    int rc = check_shape(y, err);
    if (rc < 0) {
        return rc;
    }
    pons_world_view *v = calloc(1, sizeof *v);
    if (!v) {
        return pons_error_set(err, PONS_ENOMEM, PONS__COMPANION, "cannot read the world view");
    }
    v->refs = 1;
    v->doc = pons_value_ref(pons_yaml_value(y));
    reader r = {.v = v, .yaml = y, .err = err};
    read_scalars(&r);
    read_places(&r);
    read_devices(&r);
    read_days(&r);
    read_windows(&r);
    read_activities(&r);
    check_names(&r);
    if (r.rc < 0) {
        pons_world_view_unref(v);
        return r.rc;
    }
    *ret = v;
    return PONS_OK;
}

// ---- public functions ---------------------------------------------------------------------------

int pons_world_view_load(const char *path, pons_world_view **ret, pons_error *err)
{
    pons_yaml *y = NULL;
    int rc = pons_yaml_load(path, &y, err);
    rc = rc < 0 ? rc : from_yaml(y, ret, err);
    pons_yaml_destroy(y);
    return rc;
}

int pons_world_view_parse(const char *text, size_t len, const char *name, pons_world_view **ret,
                          pons_error *err)
{
    pons_yaml *y = NULL;
    int rc = pons_yaml_parse(text, len, name, &y, err);
    rc = rc < 0 ? rc : from_yaml(y, ret, err);
    pons_yaml_destroy(y);
    return rc;
}

pons_world_view *pons_world_view_ref(pons_world_view *v)
{
    __atomic_add_fetch(&v->refs, 1, __ATOMIC_RELAXED);
    return v;
}

void pons_world_view_unref(pons_world_view *v)
{
    if (!v || __atomic_sub_fetch(&v->refs, 1, __ATOMIC_ACQ_REL) > 0) {
        return;
    }
    for (size_t i = 0; i < v->n_places; i++) {
        free(v->places[i].open);
    }
    free(v->places);
    free(v->devices);
    free(v->holidays);
    free(v->school_days);
    free(v->windows);
    free(v->activities);
    pons_value_unref(v->doc);
    free(v);
}

const char *pons_world_view_name(const pons_world_view *v, const char *id, const char *language)
{
    static const char *const lists[] = {"activities", "places", "devices"};
    for (size_t l = 0; l < sizeof lists / sizeof *lists; l++) {
        const pons_value *o = pons_find(pons_get(v->doc, lists[l]), "id", id);
        if (o) {
            const pons_value *names = pons_get(pons_get(o, "names"), language);
            const char *first = json_string_value(json_array_get(names, 0));
            return first ? first : id;
        }
    }
    return id;
}
