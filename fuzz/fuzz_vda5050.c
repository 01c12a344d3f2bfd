// fuzz_vda5050.c - whatever a master control says, a vehicle takes it or says what is wrong with it, and its state stays
// small. A line of the input is a message or what happens:
//
//     o…  an order        i…  instant actions        O, I  the same, retained
//     t   time passes     e, f   what is wanted ends, with success or without
//     p, P   the robot is, or is not, where a master said       a, A   somebody takes it, gives it back
//     m   messages were dropped                                 k   the process is killed, and comes back
//
// A life that was cut short wants the same as before. What pauses a vehicle, or cancels its order, is a message that
// stops: it would have been let in beside any number of others.
#include "pons/schema.h"
#include "pons/vda5050.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define LINES_MAX  200
#define ERRORS_MAX 64 // of a state

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char config_text[] =
    "{\"interface\":\"uagv\",\"manufacturer\":\"pons\",\"serial\":\"r1\",\"map\":\"hall\","
    "\"visualization_s\":1,\"actions\":{\"speak\":{\"skill\":\"speak\",\"scopes\":[\"INSTANT\","
    "\"NODE\",\"EDGE\"],\"parameters\":{\"text\":\"text\"},\"required\":[\"text\"]},\"pick\":{"
    "\"skill\":\"pick\",\"scopes\":[\"NODE\"],\"parameters\":{\"loadId\":\"object\"},\"with\":{"
    "\"a\":1}}},\"nodes\":{\"n9\":{\"x\":18,\"y\":0}},\"ignored_fields\":[\"maxSpeed\"]}";

typedef struct rig {
    pons_vda5050 *v;
    pons_value *kept, *state;
    int64_t now;
    pons_vda5050_seen seen;
} rig;

static pons_value *config;
static pons_schema *order, *actions;

static void must(int holds)
{
    if (!holds) {
        abort();
    }
}

static int keep(void *user, const pons_value *state, pons_error *err)
{
    rig *r = user;
    (void)err;
    pons_value_unref(r->kept);
    r->kept = json_deep_copy(state);
    return PONS_OK;
}

static void publish(void *user, pons_vda5050_topic topic, const pons_value *message)
{
    rig *r = user;
    char *text = NULL;
    must(json_is_object(message) && pons_value_line(message, &text) > 0);
    free(text);
    if (topic == PONS_VDA5050_STATE) {
        must(json_array_size(pons_get(message, "errors")) <= ERRORS_MAX);
        pons_value_unref(r->state);
        r->state = json_deep_copy(message);
    }
}

static void place(void *user, double x, double y, double yaw)
{
    (void)user;
    must(isfinite(x) && isfinite(y) && isfinite(yaw));
}

static void tick(rig *r)
{
    r->now += 200;
    must(pons_vda5050_tick(r->v, &r->seen, r->now, 1700000000000 + r->now, NULL) == PONS_OK);
}

static void live(rig *r)
{
    pons_vda5050_destroy(r->v);
    const pons_vda5050_options o = {.config = config,
                                    .kept = r->kept,
                                    .order = order,
                                    .actions = actions,
                                    .keep = keep,
                                    .publish = publish,
                                    .place = place,
                                    .user = r};
    must(pons_vda5050_create(&o, &r->v, NULL) == PONS_OK);
    must(pons_vda5050_online(r->v, true, r->now, 1700000000000 + r->now, NULL) == PONS_OK);
}

static pons_value *wanted(const rig *r)
{
    pons_vda5050_work w;
    if (!pons_vda5050_want(r->v, &w)) {
        return json_null();
    }
    must(*w.key && *w.skill && json_is_object(w.args));
    return json_pack("{ss ss sO sb}", "key", w.key, "skill", w.skill, "args", w.args, "cancel",
                     w.cancel);
}

static bool is_over(const rig *r)
{
    return pons_get_bool(pons_get(r->kept, "order"), "over", true);
}

static void hear(rig *r, pons_vda5050_topic topic, const char *text, size_t n, bool retained)
{
    const bool paused = pons_get_bool(r->kept, "paused", false), over = is_over(r);
    must(pons_vda5050_received(r->v, topic, text, n, retained, NULL) == PONS_OK);
    if ((!paused && pons_get_bool(r->kept, "paused", false)) || (!over && is_over(r))) {
        must(topic == PONS_VDA5050_INSTANT_ACTIONS && pons_vda5050_stops(topic, text, n));
    }
}

static void end(rig *r, bool ok)
{
    pons_vda5050_work w;
    char key[PONS_VDA5050_KEY_MAX];
    if (pons_vda5050_want(r->v, &w)) {
        snprintf(key, sizeof key, "%s", w.key);
        must(pons_vda5050_ended(r->v, key, ok, "it fell", NULL) == PONS_OK);
    }
}

static void killed(rig *r)
{
    pons_autovalue before = wanted(r);
    live(r);
    pons_autovalue after = wanted(r);
    must(json_equal(before, after));
}

static void one(rig *r, const char *line, size_t n)
{
    const char *text = line + 1;
    switch (*line) {
    case 'o':
    case 'O':
        hear(r, PONS_VDA5050_ORDER, text, n - 1, *line == 'O');
        return;
    case 'i':
    case 'I':
        hear(r, PONS_VDA5050_INSTANT_ACTIONS, text, n - 1, *line == 'I');
        return;
    case 'e':
    case 'f':
        end(r, *line == 'e');
        return;
    case 'p':
    case 'P':
        must(pons_vda5050_placed(r->v, *line == 'p', "no", NULL) == PONS_OK);
        return;
    case 'a':
    case 'A':
        r->seen.away = *line == 'a';
        tick(r);
        return;
    case 'm':
        must(pons_vda5050_missed(r->v, PONS_VDA5050_ORDER, n, NULL) == PONS_OK);
        return;
    case 'k':
        killed(r);
        return;
    default:
        tick(r);
    }
}

static pons_schema *schema(const char *name)
{
    char path[512];
    pons_value *rules = NULL;
    pons_schema *s = NULL;
    snprintf(path, sizeof path, "%s/schemas/%s.json", PONS_SOURCE_DIR, name);
    must(pons_value_load(path, &rules, NULL) == PONS_OK);
    must(pons_schema_compile(rules, &s, NULL) == PONS_OK);
    pons_value_unref(rules);
    return s;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (!config) {
        pons_value_init();
        must(pons_value_parse(config_text, sizeof config_text - 1, &config, NULL) == PONS_OK);
        order = schema("vda5050-order");
        actions = schema("vda5050-actions");
    }
    rig r = {
        .seen = {.connected = true, .placed = true, .battery_pct = 80.0, .speed_max_mps = 0.6}};
    live(&r);
    tick(&r);
    const char *at = (const char *)data, *until = at + size;
    for (int i = 0; at < until && i < LINES_MAX; i++) {
        const char *newline = memchr(at, '\n', (size_t)(until - at));
        const size_t n = (size_t)((newline ? newline : until) - at);
        if (n > 0) {
            one(&r, at, n);
        }
        at += n + 1;
    }
    tick(&r);
    must(r.state != NULL);
    pons_vda5050_destroy(r.v);
    pons_value_unref(r.kept);
    pons_value_unref(r.state);
    return 0;
}
