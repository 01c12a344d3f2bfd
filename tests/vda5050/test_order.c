// test_order.c - a vehicle's rules, as a master sees them in its states: orders taken, continued and refused;
// what is done next and under which key; pauses, cancels, people. A life that is cut short after any of its
// writes goes on where it was. Each test's vehicle keeps its state in a value, as a store would.
#include "pons/out_of_memory.h"
#include "pons/vda5050.h"
#include "rounds.h"
#include "unit.h"

#include <stdlib.h>
#include <string.h>

typedef struct rig {
    pons_vda5050 *v;
    pons_value *config, *kept;
    pons_schema *order, *actions;
    pons_value *state, *factsheet, *connection; // published last
    int states, keeps;
    int fails; // keeps from now on, till one fails; 0: none does
    int64_t now;
    pons_vda5050_seen seen;
    int placed;
    double place_x;
} rig;

static int keep(void *user, const pons_value *state, pons_error *err)
{
    rig *r = user;
    r->keeps++;
    if (r->fails > 0 && --r->fails == 0) {
        return pons_error_set(err, PONS_EIO, "test", "the disk is full");
    }
    pons_value_unref(r->kept);
    r->kept = json_deep_copy(state);
    return PONS_OK;
}

static void publish(void *user, pons_vda5050_topic topic, const pons_value *message)
{
    rig *r = user;
    pons_value **into = topic == PONS_VDA5050_STATE       ? &r->state
                        : topic == PONS_VDA5050_FACTSHEET ? &r->factsheet
                                                          : &r->connection;
    if (topic == PONS_VDA5050_VISUALIZATION) {
        return;
    }
    r->states += topic == PONS_VDA5050_STATE;
    pons_value_unref(*into);
    *into = json_deep_copy(message);
}

static void place(void *user, double x, double y, double yaw)
{
    rig *r = user;
    (void)y;
    (void)yaw;
    r->placed++;
    r->place_x = x;
}

static pons_schema *schema(const char *name)
{
    char path[512];
    pons_error err = PONS_ERROR_INIT;
    pons_value *rules = NULL;
    pons_schema *s = NULL;
    snprintf(path, sizeof path, "%s/schemas/%s.json", PONS_SOURCE_DIR, name);
    assert_int_equal(pons_value_load(path, &rules, &err), PONS_OK);
    assert_int_equal(pons_schema_compile(rules, &s, &err), PONS_OK);
    pons_value_unref(rules);
    return s;
}

static void tick(rig *r)
{
    pons_error err = PONS_ERROR_INIT;
    r->now += 200;
    assert_int_equal(pons_vda5050_tick(r->v, &r->seen, r->now, 1700000000000 + r->now, &err),
                     PONS_OK);
}

// A life: what was kept is all that it knows.
static void live(rig *r)
{
    pons_error err = PONS_ERROR_INIT;
    pons_vda5050_destroy(r->v);
    const pons_vda5050_options o = {.config = r->config,
                                    .kept = r->kept,
                                    .order = r->order,
                                    .actions = r->actions,
                                    .keep = keep,
                                    .publish = publish,
                                    .place = place,
                                    .user = r};
    assert_int_equal(pons_vda5050_create(&o, &r->v, &err), PONS_OK);
    assert_int_equal(pons_vda5050_online(r->v, true, r->now, 1700000000000, &err), PONS_OK);
    tick(r);
}

static void set_up(rig *r)
{
    pons_error err = PONS_ERROR_INIT;
    pons_yaml *yaml = NULL;
    pons_schema *s = schema("vda5050");
    *r = (rig){
        .seen = {.connected = true, .placed = true, .battery_pct = 80.0, .speed_max_mps = 0.6}};
    assert_int_equal(pons_yaml_load(PONS_SOURCE_DIR "/config/vda5050.yaml", &yaml, &err), PONS_OK);
    assert_int_equal(pons_schema_check_yaml(s, yaml, &err), PONS_OK);
    r->config = json_deep_copy(pons_yaml_value(yaml));
    json_object_set_new(r->config, "serial", json_string("r1"));
    json_object_set_new(r->config, "map", json_string("hall"));
    pons_yaml_destroy(yaml);
    pons_schema_destroy(s);
    r->order = schema("vda5050-order");
    r->actions = schema("vda5050-actions");
    live(r);
}

static void tear_down(rig *r)
{
    pons_vda5050_destroy(r->v);
    pons_schema_destroy(r->order);
    pons_schema_destroy(r->actions);
    pons_value_unref(r->config);
    pons_value_unref(r->kept);
    pons_value_unref(r->state);
    pons_value_unref(r->factsheet);
    pons_value_unref(r->connection);
}

// ---- what a master says -------------------------------------------------------------------------

static void say_bytes(rig *r, pons_vda5050_topic topic, const char *text, size_t n)
{
    pons_error err = PONS_ERROR_INIT;
    assert_int_equal(pons_vda5050_received(r->v, topic, text, n, false, &err), PONS_OK);
    tick(r);
}

static void say(rig *r, pons_vda5050_topic topic, pons_value *message)
{
    char *text = NULL;
    const long n = pons_value_line(message, &text);
    assert_true(n > 0);
    say_bytes(r, topic, text, (size_t)n);
    free(text);
    pons_value_unref(message);
}

static pons_value *header(void)
{
    return json_pack("{s:i, s:s, s:s, s:s, s:s}", "headerId", 1, "timestamp",
                     "2026-01-01T00:00:00.00Z", "version", "2.1.0", "manufacturer", "pons",
                     "serialNumber", "r1");
}

// Nodes at (2 i, 0) from `first` on, `base` of them released; names n0, n1 …
static pons_value *order(const char *id, int update, int first, int n, int base)
{
    pons_value *m = header(), *nodes = json_array(), *edges = json_array();
    for (int i = 0; i < n; i++) {
        char name[16], before[16], edge[16];
        snprintf(name, sizeof name, "n%d", first + i);
        snprintf(before, sizeof before, "n%d", first + i - 1);
        snprintf(edge, sizeof edge, "e%d", first + i);
        json_array_append_new(nodes, json_pack("{s:s, s:i, s:b, s:[], s:{s:f, s:f, s:s}}", "nodeId",
                                               name, "sequenceId", 2 * (first + i), "released",
                                               i < base, "actions", "nodePosition", "x",
                                               2.0 * (first + i), "y", 0.0, "mapId", "hall"));
        if (i > 0) {
            json_array_append_new(edges,
                                  json_pack("{s:s, s:i, s:b, s:s, s:s, s:[]}", "edgeId", edge,
                                            "sequenceId", 2 * (first + i) - 1, "released", i < base,
                                            "startNodeId", before, "endNodeId", name, "actions"));
        }
    }
    json_object_set_new(m, "orderId", json_string(id));
    json_object_set_new(m, "orderUpdateId", json_integer(update));
    json_object_set_new(m, "nodes", nodes);
    json_object_set_new(m, "edges", edges);
    return m;
}

static pons_value *action(const char *type, const char *id, const char *blocking)
{
    return json_pack("{s:s, s:s, s:s}", "actionType", type, "actionId", id, "blockingType",
                     blocking);
}

static pons_value *with(pons_value *a, const char *key, const char *value)
{
    json_object_set_new(a, "actionParameters",
                        json_pack("[{s:s, s:s}]", "key", key, "value", value));
    return a;
}

// The action stands at the part of this index.
static pons_value *has(pons_value *message, const char *parts, size_t i, pons_value *a)
{
    json_array_append_new(
        json_object_get(json_array_get(json_object_get(message, parts), i), "actions"), a);
    return message;
}

static void instant(rig *r, const char *type, const char *id)
{
    pons_value *m = header();
    json_object_set_new(m, "actions", json_pack("[o]", action(type, id, "NONE")));
    say(r, PONS_VDA5050_INSTANT_ACTIONS, m);
}

// ---- what it sees -------------------------------------------------------------------------------

static bool has_error(const rig *r, const char *type, const char *key, const char *value)
{
    size_t i = 0, k = 0;
    const pons_value *e = NULL, *ref = NULL;
    json_array_foreach(pons_get(r->state, "errors"), i, e) {
        if (strcmp(pons_get_str(e, "errorType", ""), type) != 0) {
            continue;
        }
        json_array_foreach(pons_get(e, "errorReferences"), k, ref) {
            if (key && strcmp(pons_get_str(ref, "referenceKey", ""), key) == 0 &&
                (!value || strcmp(pons_get_str(ref, "referenceValue", ""), value) == 0)) {
                return true;
            }
        }
        if (!key) {
            return true;
        }
    }
    return false;
}

static const char *status(const rig *r, const char *id)
{
    size_t i = 0;
    const pons_value *a = NULL;
    json_array_foreach(pons_get(r->state, "actionStates"), i, a) {
        if (strcmp(pons_get_str(a, "actionId", ""), id) == 0) {
            return pons_get_str(a, "actionStatus", "");
        }
    }
    return "";
}

static size_t left(const rig *r)
{
    return json_array_size(pons_get(r->state, "nodeStates"));
}

// The key of what is wanted, or "".
static const char *wants(const rig *r)
{
    pons_vda5050_work w;
    return pons_vda5050_want(r->v, &w) ? w.key : "";
}

static void ends(rig *r, bool ok)
{
    pons_error err = PONS_ERROR_INIT;
    char key[PONS_VDA5050_KEY_MAX];
    snprintf(key, sizeof key, "%s", wants(r));
    assert_true(*key);
    assert_int_equal(pons_vda5050_ended(r->v, key, ok, ok ? "" : "the way is blocked", &err),
                     PONS_OK);
    tick(r);
}

// ---- tests --------------------------------------------------------------------------------------

static void driven_node_by_node_and_continued(void **state)
{
    (void)state;
    rig r;
    set_up(&r);
    say(&r, PONS_VDA5050_ORDER, order("o", 0, 0, 4, 3));
    assert_string_equal(pons_get_str(r.state, "orderId", ""), "o");
    assert_string_equal(pons_get_str(r.state, "lastNodeId", ""), "n0"); // it stands there
    assert_int_equal(left(&r), 3);
    assert_string_equal(wants(&r), "drive to n1 (vda5050 1.2.0)");
    ends(&r, true);
    assert_true(pons_get_bool(r.state, "newBaseRequest", false));
    ends(&r, true);
    assert_string_equal(wants(&r), ""); // n3 is not released
    assert_int_equal(left(&r), 1);
    say(&r, PONS_VDA5050_ORDER, order("o", 1, 2, 3, 3)); // other horizon, more base
    assert_int_equal(left(&r), 2);
    assert_int_equal(pons_get_int(r.state, "orderUpdateId", 0), 1);
    ends(&r, true);
    ends(&r, true);
    assert_int_equal(left(&r), 0);
    assert_string_equal(pons_get_str(r.state, "lastNodeId", ""), "n4");
    assert_int_equal(pons_get_int(r.state, "lastNodeSequenceId", 0), 8);
    say(&r, PONS_VDA5050_ORDER, order("o", 2, 4, 2, 2)); // of an order that was done
    assert_string_equal(wants(&r), "drive to n5 (vda5050 1.10.0)");
    tear_down(&r);
}

static void refused_as_the_standard_says(void **state)
{
    (void)state;
    rig r;
    set_up(&r);
    pons_value *m = order("a", 0, 3, 2, 2); // 6 m away
    say(&r, PONS_VDA5050_ORDER, m);
    assert_true(has_error(&r, "noRouteError", "nodeId", "n3"));
    say(&r, PONS_VDA5050_ORDER, order("o", 4, 0, 4, 2));
    assert_false(has_error(&r, "noRouteError", NULL, NULL)); // till one is accepted
    say(&r, PONS_VDA5050_ORDER, order("o", 3, 1, 2, 2));
    assert_true(has_error(&r, "orderUpdateError", "orderUpdateId", "3"));
    say(&r, PONS_VDA5050_ORDER, order("o", 5, 2, 2, 2)); // the base ends at n1
    assert_true(has_error(&r, "orderUpdateError", "orderUpdateId", "5"));
    say(&r, PONS_VDA5050_ORDER, order("p", 0, 0, 2, 2)); // another goes on
    assert_true(has_error(&r, "orderUpdateError", "orderId", "p"));
    assert_string_equal(pons_get_str(r.state, "orderId", ""), "o");
    assert_int_equal(left(&r), 3);
    const int states = r.states, keeps = r.keeps;
    say(&r, PONS_VDA5050_ORDER, order("o", 4, 0, 4, 2)); // it came twice: nothing is said
    assert_int_equal(r.states, states);
    assert_int_equal(r.keeps, keeps);
    tear_down(&r);
}

static void parts_that_do_not_fit(void **state)
{
    (void)state;
    rig r;
    set_up(&r);
    pons_value *m = order("o", 0, 0, 3, 3);
    json_array_remove(json_object_get(m, "edges"), 0);
    say(&r, PONS_VDA5050_ORDER, m);
    assert_true(has_error(&r, "validationError", "edges", NULL));
    m = order("o", 0, 0, 3, 3);
    json_object_set_new(json_array_get(json_object_get(m, "nodes"), 1), "sequenceId",
                        json_integer(4));
    say(&r, PONS_VDA5050_ORDER, m);
    assert_true(has_error(&r, "validationError", "nodeId", "n1"));
    m = order("o", 0, 0, 3, 3);
    json_object_set_new(json_array_get(json_object_get(m, "nodes"), 1), "released", json_false());
    json_object_set_new(json_array_get(json_object_get(m, "edges"), 0), "released", json_false());
    say(&r, PONS_VDA5050_ORDER, m);
    assert_true(has_error(&r, "validationError", "nodeId", "n2")); // behind what is not
    m = order("o", 0, 0, 3, 3);
    json_object_set_new(json_array_get(json_object_get(m, "edges"), 1), "endNodeId",
                        json_string("n9"));
    say(&r, PONS_VDA5050_ORDER, m);
    assert_true(has_error(&r, "validationError", "edgeId", "e2"));
    m = order("o", 0, 0, 3, 3);
    json_object_set_new(m, "serialNumber", json_string("r2"));
    say(&r, PONS_VDA5050_ORDER, m);
    assert_true(has_error(&r, "validationError", "serialNumber", "r2"));
    m = order("o", 0, 0, 3, 3);
    json_object_set_new(m, "version", json_string("3.0.0"));
    say(&r, PONS_VDA5050_ORDER, m);
    assert_true(has_error(&r, "validationError", "version", "3.0.0"));
    m = order("o", 0, 0, 3, 3);
    json_object_set_new(json_array_get(json_object_get(m, "edges"), 1), "corridor",
                        json_pack("{s:f, s:f}", "leftWidth", 1.0, "rightWidth", 1.0));
    say(&r, PONS_VDA5050_ORDER, m);
    assert_true(has_error(&r, "orderError", "field", "corridor"));
    m = order("o", 0, 0, 3, 3);
    json_object_set_new(json_array_get(json_object_get(m, "edges"), 1), "maxSpeed", json_real(0.3));
    say(&r, PONS_VDA5050_ORDER, m); // it drives at 0.6 m/s, and cannot be told
    assert_true(has_error(&r, "orderError", "field", "maxSpeed"));
    m = has(order("o", 0, 0, 3, 3), "nodes", 1, action("fly", "a1", "HARD"));
    say(&r, PONS_VDA5050_ORDER, m);
    assert_true(has_error(&r, "orderError", "actionId", "a1"));
    m = has(order("o", 0, 0, 3, 3), "nodes", 1, action("speak", "a1", "HARD"));
    say(&r, PONS_VDA5050_ORDER, m);
    assert_true(has_error(&r, "orderError", "actionParameters", "text"));
    assert_string_equal(pons_get_str(r.state, "orderId", ""), "");
    assert_string_equal(wants(&r), "");
    assert_int_equal(r.keeps, 0); // what is refused writes nothing
    tear_down(&r);
}

static void hostile_bytes(void **state)
{
    (void)state;
    rig r;
    set_up(&r);
    static const char *const texts[] = {
        "",
        "{",
        "null",
        "[]",
        "\xff\xfe",
        "{\"headerId\":1e400}",
        "{\"nodes\":[],\"nodes\":[]}",
        "{\"headerId\":-1,\"timestamp\":\"\",\"version\":\"2.1.0\",\"manufacturer\":\"pons\","
        "\"serialNumber\":\"r1\",\"orderId\":\"o\",\"orderUpdateId\":0,\"nodes\":[],\"edges\":[]}",
        "{\"headerId\":1,\"timestamp\":\"\",\"version\":\"2.1.0\",\"manufacturer\":\"pons\","
        "\"serialNumber\":\"r1\",\"orderId\":\"o\",\"orderUpdateId\":99999999999,\"nodes\":[],"
        "\"edges\":[]}"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        say_bytes(&r, PONS_VDA5050_ORDER, texts[i], strlen(texts[i]));
        assert_true(has_error(&r, "validationError", "topic", "order"));
        say_bytes(&r, PONS_VDA5050_INSTANT_ACTIONS, texts[i], strlen(texts[i]));
        assert_true(has_error(&r, "validationError", "topic", "instantActions"));
    }
    char *deep = malloc(PONS_VDA5050_BYTES_MAX + 2);
    memset(deep, '[', PONS_VDA5050_BYTES_MAX + 1);
    say_bytes(&r, PONS_VDA5050_ORDER, deep, PONS_VDA5050_BYTES_MAX);
    say_bytes(&r, PONS_VDA5050_ORDER, deep, PONS_VDA5050_BYTES_MAX + 1);
    free(deep);
    pons_error none = PONS_ERROR_INIT;
    assert_int_equal(
        pons_vda5050_received(r.v, PONS_VDA5050_INSTANT_ACTIONS, NULL, 1 << 30, false, &none),
        PONS_OK); // nobody has read it
    tick(&r);
    assert_true(has_error(&r, "validationError", "topic", "instantActions"));
    assert_int_equal(pons_vda5050_missed(r.v, PONS_VDA5050_ORDER, 336, &none), PONS_OK);
    tick(&r);
    assert_true(has_error(&r, "messagesDropped", "topic", "order"));
    for (int i = 0; i < 100; i++) { // each of another kind: the state stays small
        pons_value *m = order("o", i, 50, 2, 2);
        say(&r, PONS_VDA5050_ORDER, m);
    }
    assert_true(json_array_size(pons_get(r.state, "errors")) <= 16);
    const long asked = rounds(ROUNDS_vda5050_requests);
    for (long i = 0; i < asked; i++) {
        char id[32];
        snprintf(id, sizeof id, "i%ld", i);
        instant(&r, "stateRequest", id);
    }
    assert_true(json_array_size(pons_get(r.state, "actionStates")) <= 40);
    char *text = NULL;
    assert_true(pons_value_line(r.kept, &text) < 65536);
    free(text);
    pons_error err = PONS_ERROR_INIT;
    pons_value *m = order("late", 0, 0, 2, 2);
    const long n = pons_value_line(m, &text);
    assert_int_equal(pons_vda5050_received(r.v, PONS_VDA5050_ORDER, text, (size_t)n, true, &err),
                     PONS_OK);
    assert_string_equal(wants(&r), ""); // retained: of any age
    free(text);
    pons_value_unref(m);
    tear_down(&r);
}

static void what_stops(void **state)
{
    (void)state;
    static const struct {
        pons_vda5050_topic topic;
        const char *text;
        bool stops;
    } all[] = {
        {PONS_VDA5050_INSTANT_ACTIONS, "{\"actions\":[{\"actionType\":\"cancelOrder\"}]}", true},
        {PONS_VDA5050_INSTANT_ACTIONS, "{\"instantActions\":[{\"actionType\":\"startPause\"}]}",
         true},
        {PONS_VDA5050_INSTANT_ACTIONS,
         "{\"actions\":[{\"actionType\":\"speak\"},3,{\"actionType\":\"cancelOrder\"}]}", true},
        {PONS_VDA5050_INSTANT_ACTIONS, "{\"actions\":[{\"actionType\":\"stopPause\"}]}", false},
        {PONS_VDA5050_INSTANT_ACTIONS, "{\"actions\":[{\"actionType\":7}]}", false},
        {PONS_VDA5050_INSTANT_ACTIONS, "{\"actions\":\"cancelOrder\"}", false},
        {PONS_VDA5050_INSTANT_ACTIONS, "{\"actions\":[{\"actionType\":\"cancelOrder\"}", false},
        {PONS_VDA5050_INSTANT_ACTIONS, "", false},
        {PONS_VDA5050_ORDER, "{\"actions\":[{\"actionType\":\"cancelOrder\"}]}", false},
        {PONS_VDA5050_TOPICS, "{\"actions\":[{\"actionType\":\"cancelOrder\"}]}", false},
    };
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        assert_int_equal(pons_vda5050_stops(all[i].topic, all[i].text, strlen(all[i].text)),
                         all[i].stops);
    }
}

static void actions_one_after_the_other(void **state)
{
    (void)state;
    rig r;
    set_up(&r);
    pons_value *m = order("o", 0, 0, 2, 2);
    has(m, "nodes", 0, with(action("speak", "first", "HARD"), "text", "hello"));
    has(m, "edges", 0, with(action("speak", "edge", "SOFT"), "text", "here I come"));
    has(m, "nodes", 1, with(action("speak", "soft", "NONE"), "text", "there"));
    has(m, "nodes", 1, with(action("pick", "pick", "HARD"), "loadId", "box1"));
    say(&r, PONS_VDA5050_ORDER, m);
    assert_string_equal(wants(&r), "do speak (vda5050 1.a0)");
    assert_string_equal(status(&r, "first"), "RUNNING");
    assert_string_equal(status(&r, "pick"), "WAITING");
    ends(&r, true);
    assert_string_equal(status(&r, "first"), "FINISHED");
    assert_string_equal(wants(&r), "do speak (vda5050 1.a1)");
    ends(&r, true);
    assert_string_equal(wants(&r), "drive to n1 (vda5050 1.2.0)");
    ends(&r, true);
    ends(&r, false); // NONE: it goes on without
    assert_string_equal(status(&r, "soft"), "FAILED");
    assert_true(has_error(&r, "actionError", "actionId", "soft"));
    pons_vda5050_work w;
    assert_true(pons_vda5050_want(r.v, &w));
    assert_string_equal(w.skill, "pick");
    assert_string_equal(pons_get_str(w.args, "object", ""), "box1");
    ends(&r, false); // HARD: the master decides
    assert_string_equal(status(&r, "pick"), "FAILED");
    assert_true(has_error(&r, "actionError", "actionId", "pick"));
    say(&r, PONS_VDA5050_ORDER, order("p", 0, 1, 2, 2));
    assert_true(has_error(&r, "orderUpdateError", "orderId", "p"));
    instant(&r, "cancelOrder", "c1");
    assert_string_equal(status(&r, "c1"), "FINISHED");
    r.seen.x = 2.0;
    tick(&r);
    say(&r, PONS_VDA5050_ORDER, order("p", 0, 1, 2, 2));
    assert_string_equal(pons_get_str(r.state, "orderId", ""), "p");
    assert_string_equal(status(&r, "pick"), ""); // those of the order before are gone
    tear_down(&r);
}

// Ids and values that a master may choose so as to confuse.
static void ids_and_values_of_a_hostile_master(void **state)
{
    (void)state;
    rig r;
    set_up(&r);
    pons_value *m = header();
    json_object_set_new(m, "actions",
                        json_pack("[o]", with(action("speak", "same", "NONE"), "text", "x")));
    say(&r, PONS_VDA5050_INSTANT_ACTIONS, m);
    assert_string_equal(wants(&r), "do speak (vda5050 i1)");
    m = has(order("o", 0, 0, 2, 2), "nodes", 0, with(action("speak", "same", "HARD"), "text", "y"));
    say(&r, PONS_VDA5050_ORDER, m);
    assert_true(has_error(&r, "validationError", "actionId", "same"));
    ends(&r, true);
    assert_string_equal(wants(&r), "");
    pons_value *deep = json_string("x");
    for (int i = 0; i < 200; i++) {
        deep = json_pack("[o]", deep);
    }
    pons_value *a = action("speak", "deep", "HARD");
    json_object_set_new(a, "actionParameters",
                        json_pack("[{s:s, s:o}]", "key", "text", "value", deep));
    say(&r, PONS_VDA5050_ORDER, has(order("o", 0, 0, 2, 2), "nodes", 0, a));
    assert_true(has_error(&r, "orderError", "actionParameters", "text"));
    m = order("o", 0, 0, 2, 2);
    json_object_set_new(json_array_get(json_object_get(m, "nodes"), 1), "nodeId",
                        json_string("a\nb\x1b[2J"));
    json_object_set_new(json_array_get(json_object_get(m, "edges"), 0), "endNodeId",
                        json_string("a\nb\x1b[2J"));
    say(&r, PONS_VDA5050_ORDER, m);
    assert_string_equal(wants(&r), "drive to a?b?[2J (vda5050 1.2.0)");
    ends(&r, true);
    assert_string_equal(pons_get_str(r.state, "lastNodeId", ""), "a\nb\x1b[2J");
    tear_down(&r);
}

static void cancelled_and_never_continued(void **state)
{
    (void)state;
    rig r;
    set_up(&r);
    instant(&r, "cancelOrder", "c0");
    assert_string_equal(status(&r, "c0"), "FAILED");
    assert_true(has_error(&r, "noOrderToCancel", "actionId", "c0"));
    say(&r, PONS_VDA5050_ORDER,
        has(order("o", 0, 0, 3, 3), "nodes", 2, with(action("speak", "s", "HARD"), "text", "x")));
    instant(&r, "cancelOrder", "c1");
    assert_string_equal(status(&r, "c1"), "RUNNING"); // till the robot has let go
    assert_string_equal(status(&r, "s"), "FAILED");
    assert_int_equal(left(&r), 0);
    pons_vda5050_work w;
    assert_true(pons_vda5050_want(r.v, &w) && w.cancel);
    say(&r, PONS_VDA5050_ORDER, order("p", 0, 0, 2, 2)); // not yet
    assert_true(has_error(&r, "orderUpdateError", "orderId", "p"));
    ends(&r, false);
    assert_string_equal(status(&r, "c1"), "FINISHED");
    instant(&r, "cancelOrder", "c1"); // it came twice
    assert_string_equal(status(&r, "c1"), "FINISHED");
    say(&r, PONS_VDA5050_ORDER, order("o", 1, 0, 3, 3));
    assert_true(has_error(&r, "orderUpdateError", "orderUpdateId", "1"));
    say(&r, PONS_VDA5050_ORDER, order("p", 0, 0, 2, 2));
    assert_string_equal(wants(&r), "drive to n1 (vda5050 2.2.0)");
    ends(&r, true);
    r.seen.x = 0.0;
    tick(&r);
    say(&r, PONS_VDA5050_ORDER, order("o", 0, 0, 3, 3)); // a message that came late
    assert_true(has_error(&r, "orderUpdateError", "orderId", "o"));
    assert_string_equal(wants(&r), "");
    tear_down(&r);
}

// A master with one id for all: what stops is done each time, the rest is refused. A message that comes twice at
// quality 1 is no error.
static void an_action_id_that_was_given_before(void **state)
{
    (void)state;
    static const struct {
        const char *type, *id;
        int header;          // of the message; the first of each id had 1
        bool refused, stops; // an error; the robot lets go of its way
        const char *status;
    } all[] = {
        {"cancelOrder", "c1", 2, false, true, "RUNNING"},
        {"cancelOrder", "c1", 1, false, true, "RUNNING"}, // twice, or a master that does not count
        {"cancelOrder", "beep", 2, false, true, "RUNNING"},
        {"startPause", "c1", 2, false, true, "RUNNING"},
        {"startPause", "node", 2, true, true, "WAITING"}, // of an action of the order
        {"stopPause", "c1", 2, true, false, ""},
        {"stopPause", "c1", 1, false, false, ""},
        {"speak", "beep", 2, true, false, ""},
        {"speak", "beep", 1, false, false, ""},
        {"stateRequest", "node", 2, true, false, "WAITING"},
        {"initPosition", "beep", 2, true, false, ""},
    };
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        pons_vda5050_work w;
        rig r;
        set_up(&r);
        pons_value *m = header();
        json_object_set_new(m, "actions",
                            json_pack("[o]", with(action("speak", "beep", "NONE"), "text", "x")));
        say(&r, PONS_VDA5050_INSTANT_ACTIONS, m);
        ends(&r, true);
        say(&r, PONS_VDA5050_ORDER, order("o1", 0, 0, 2, 2));
        instant(&r, "cancelOrder", "c1");
        ends(&r, false);
        assert_string_equal(status(&r, "c1"), "FINISHED");
        m = has(order("o2", 0, 0, 2, 2), "nodes", 1, action("detectObject", "node", "HARD"));
        say(&r, PONS_VDA5050_ORDER, m);
        live(&r);
        m = header();
        json_object_set_new(m, "headerId", json_integer(all[i].header));
        json_object_set_new(m, "actions", json_pack("[o]", action(all[i].type, all[i].id, "NONE")));
        say(&r, PONS_VDA5050_INSTANT_ACTIONS, m);
        assert_int_equal(has_error(&r, "validationError", "actionId", all[i].id), all[i].refused);
        assert_true(pons_vda5050_want(r.v, &w));
        assert_int_equal(w.cancel, all[i].stops);
        assert_string_equal(status(&r, all[i].id), all[i].status);
        if (all[i].stops) {
            instant(&r, all[i].type, all[i].id); // once more while it is at it
            assert_string_equal(status(&r, "c1"), strcmp(all[i].id, "c1") == 0 ? "RUNNING" : "");
            ends(&r, false);
            assert_string_equal(wants(&r), "");
            assert_int_equal(json_array_size(pons_get(r.state, "errors")), all[i].refused);
        }
        tear_down(&r);
    }
}

static void paused_by_the_master_and_by_people(void **state)
{
    (void)state;
    rig r;
    set_up(&r);
    say(&r, PONS_VDA5050_ORDER,
        has(order("o", 0, 0, 2, 2), "nodes", 1, with(action("speak", "s", "HARD"), "text", "x")));
    instant(&r, "startPause", "p1");
    assert_string_equal(status(&r, "p1"), "RUNNING");
    assert_true(pons_get_bool(r.state, "paused", false));
    ends(&r, false);
    assert_string_equal(status(&r, "p1"), "FINISHED");
    assert_string_equal(wants(&r), ""); // and no error: it was asked to
    assert_int_equal(json_array_size(pons_get(r.state, "errors")), 0);
    r.seen.paused = true;
    r.seen.why = "a person has paused the robot";
    tick(&r);
    instant(&r, "stopPause", "p2");
    assert_string_equal(status(&r, "p2"), "FAILED");
    assert_true(pons_get_bool(r.state, "paused", false)); // the person's
    r.seen.paused = false;
    r.seen.why = NULL;
    tick(&r);
    assert_false(pons_get_bool(r.state, "paused", true));
    assert_string_equal(wants(&r), "drive to n1 (vda5050 1.2.1)"); // another try, another key
    r.seen.latched = true;
    r.seen.why = "stop";
    tick(&r);
    assert_string_equal(pons_get_str(pons_get(r.state, "safetyState"), "eStop", ""), "MANUAL");
    instant(&r, "stopPause", "p3");
    assert_string_equal(status(&r, "p3"), "FAILED");
    assert_true(has_error(&r, "emergencyStop", NULL, NULL));
    r.seen.latched = false;
    r.seen.why = NULL;
    tick(&r);
    ends(&r, true);
    assert_string_equal(wants(&r), "do speak (vda5050 1.a0)");
    tear_down(&r);
}

static void a_person_is_above_the_master(void **state)
{
    (void)state;
    rig r;
    set_up(&r);
    say(&r, PONS_VDA5050_ORDER, order("o", 0, 0, 3, 3));
    r.seen.away = true;
    r.seen.why = "a person has given the robot something to do";
    tick(&r);
    assert_string_equal(pons_get_str(r.state, "operatingMode", ""), "MANUAL");
    assert_int_equal(left(&r), 0);
    assert_true(has_error(&r, "orderDropped", "orderId", "o"));
    pons_vda5050_work w;
    assert_true(pons_vda5050_want(r.v, &w) && w.cancel);
    ends(&r, false);
    say(&r, PONS_VDA5050_ORDER, order("p", 0, 0, 2, 2));
    assert_true(has_error(&r, "orderError", "operatingMode", "MANUAL"));
    r.seen.away = false;
    r.seen.x = 5.0;
    tick(&r);
    assert_string_equal(pons_get_str(r.state, "operatingMode", ""), "AUTOMATIC");
    assert_string_equal(pons_get_str(r.state, "lastNodeId", "x"), ""); // nobody knows
    say(&r, PONS_VDA5050_ORDER, order("o", 1, 0, 3, 3));
    assert_string_equal(wants(&r), "");
    tear_down(&r);
}

static void told_where_it_is(void **state)
{
    (void)state;
    rig r;
    pons_error err = PONS_ERROR_INIT;
    set_up(&r);
    pons_value *m = header(), *a = action("initPosition", "i1", "HARD");
    json_object_set_new(a, "actionParameters",
                        json_pack("[{s:s, s:f}, {s:s, s:f}, {s:s, s:f}, {s:s, s:s}, {s:s, s:s}]",
                                  "key", "x", "value", 4.0, "key", "y", "value", 0.0, "key",
                                  "theta", "value", 0.0, "key", "mapId", "value", "hall", "key",
                                  "lastNodeId", "value", "n2"));
    json_object_set_new(m, "actions", json_pack("[o]", a));
    say(&r, PONS_VDA5050_INSTANT_ACTIONS, m);
    assert_int_equal(r.placed, 1);
    assert_true(r.place_x > 3.9 && r.place_x < 4.1);
    assert_string_equal(status(&r, "i1"), "RUNNING");
    assert_int_equal(pons_vda5050_placed(r.v, true, "", &err), PONS_OK);
    tick(&r);
    assert_string_equal(status(&r, "i1"), "FINISHED");
    assert_string_equal(pons_get_str(r.state, "lastNodeId", ""), "n2");
    tear_down(&r);
}

// The script of a master and its robot, cut short at each write: nothing is done twice, nothing is left out.
static void cut_short_at_each_write(void **state)
{
    (void)state;
    for (int at = 1; at < 14; at++) {
        rig r;
        pons_error err = PONS_ERROR_INIT;
        char done[16][PONS_VDA5050_KEY_MAX];
        size_t n = 0;
        set_up(&r);
        r.fails = at;
        pons_value *m = has(order("o", 0, 0, 3, 3), "nodes", 1,
                            with(action("speak", "s", "HARD"), "text", "x"));
        char *text = NULL;
        const long len = pons_value_line(m, &text);
        bool accepted = false;
        for (int round = 0; round < 40; round++) {
            int rc = accepted ? PONS_OK
                              : pons_vda5050_received(r.v, PONS_VDA5050_ORDER, text, (size_t)len,
                                                      false, &err);
            accepted = accepted || rc >= 0;
            pons_vda5050_work w;
            if (rc >= 0 && pons_vda5050_want(r.v, &w)) {
                bool known = false; // the brain's tasks
                char key[PONS_VDA5050_KEY_MAX];
                snprintf(key, sizeof key, "%s", w.key);
                for (size_t i = 0; i < n; i++) {
                    known = known || strcmp(done[i], key) == 0;
                }
                if (!known) {
                    assert_true(n < 16);
                    snprintf(done[n++], PONS_VDA5050_KEY_MAX, "%s", key);
                }
                rc = pons_vda5050_ended(r.v, key, true, "", &err);
            }
            if (rc < 0) {
                live(&r);
                accepted = false; // the master says it again
            }
        }
        assert_int_equal(n, 3);
        assert_string_equal(done[0], "drive to n1 (vda5050 1.2.0)");
        assert_string_equal(done[1], "do speak (vda5050 1.a0)");
        assert_string_equal(done[2], "drive to n2 (vda5050 1.4.0)");
        free(text);
        pons_value_unref(m);
        tear_down(&r);
    }
}

static void said_at_the_latest_and_not_too_often(void **state)
{
    (void)state;
    rig r;
    set_up(&r);
    tick(&r);
    const int before = r.states;
    for (int i = 0; i < 5 * 60; i++) { // a minute, driving about
        r.seen.x += 0.1;
        r.seen.battery_pct -= 0.001;
        tick(&r);
    }
    assert_in_range(r.states - before, 3, 6);
    r.seen.v = 0.5;
    tick(&r);
    assert_true(pons_get_bool(r.state, "driving", false));
    const int now = r.states;
    instant(&r, "stateRequest", "s1");
    assert_int_equal(r.states, now + 1);
    assert_string_equal(status(&r, "s1"), "FINISHED");
    pons_value *m = header(); // as the text of 2.0 has it
    json_object_set_new(m, "instantActions",
                        json_pack("[o]", action("stateRequest", "s2", "NONE")));
    say(&r, PONS_VDA5050_INSTANT_ACTIONS, m);
    assert_string_equal(status(&r, "s2"), "FINISHED");
    assert_string_equal(pons_get_str(r.state, "version", ""), "2.1.0");
    assert_string_equal(pons_get_str(r.connection, "connectionState", ""), "ONLINE");
    assert_true(json_array_size(pons_get(pons_get(r.factsheet, "protocolFeatures"), "agvActions")) >
                6);
    tear_down(&r);
}

int main(void)
{
    pons_memory_of_a_process();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(driven_node_by_node_and_continued),
        cmocka_unit_test(refused_as_the_standard_says),
        cmocka_unit_test(parts_that_do_not_fit),
        cmocka_unit_test(hostile_bytes),
        cmocka_unit_test(what_stops),
        cmocka_unit_test(actions_one_after_the_other),
        cmocka_unit_test(ids_and_values_of_a_hostile_master),
        cmocka_unit_test(cancelled_and_never_continued),
        cmocka_unit_test(an_action_id_that_was_given_before),
        cmocka_unit_test(paused_by_the_master_and_by_people),
        cmocka_unit_test(a_person_is_above_the_master),
        cmocka_unit_test(told_where_it_is),
        cmocka_unit_test(cut_short_at_each_write),
        cmocka_unit_test(said_at_the_latest_and_not_too_often),
    };
    return cmocka_run_group_tests_name("vda5050: orders", tests, NULL, NULL);
}
