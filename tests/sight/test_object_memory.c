// test_object_memory.c - the object memory on each store that there is: what becomes known, what stays two, what has moved,
// what fades, which words find it, what is refused, and what a process that is killed has left.
#include "killer.h"
#include "pons/object_memory.h"
#include "pons/random.h"
#include "rounds.h"
#include "sight/sighting_thumbnail.h"
#include "store/cluster.h"
#include "unit.h"

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static enum { MEMORY, SQLITE, POSTGRES, STORES } which;
static bool have_server;
#define NS    "pons-objects"
#define START 1700000000000

typedef struct bed {
    char dir[64], path[96];
    pons_items items;
    pons_clock_manual time;
    pons_value *config, *zones, *objects;
    pons_object_memory *memory;
    pons_object_seen seen; // of the last put
    int64_t stamp_ns;
    bool blind; // nothing is in sight: no look counts against anything
    pons_error err;
} bed;

static pons_value *json(const char *text) // '…' may stand for "…"
{
    char buf[2048];
    pons_value *v = NULL;
    snprintf(buf, sizeof buf, "%s", text);
    for (char *c = buf; *c; c++) {
        *c = *c == '\'' ? '"' : *c;
    }
    assert_int_equal(pons_value_parse(buf, strlen(buf), &v, NULL), PONS_OK);
    return v;
}

static void open_memory(bed *b)
{
    const pons_object_memory_options o = {
        .items = b->items, .ns = NS, .config = b->config, .zones = b->zones, .objects = b->objects};
    if (pons_object_memory_open(&o, &b->memory, &b->err)) {
        fail_msg("%s", b->err.message);
    }
}

static void reopen(bed *b)
{
    pons_object_memory_close(b->memory);
    open_memory(b);
}

static int setup(void **state)
{
    bed *b = calloc(1, sizeof *b);
    int rc = PONS_OK;
    b->time.wall_epoch_ms = START;
    b->items.clock = pons_clock_from_manual(&b->time);
    snprintf(b->dir, sizeof b->dir, "/tmp/pons-objects-XXXXXX");
    snprintf(b->path, sizeof b->path, "%s/t.db", mkdtemp(b->dir) ? b->dir : "");
    if (which == MEMORY) {
        rc = pons_store_memory_open(&b->items.store, &b->err);
    } else if (which == SQLITE) {
        rc = pons_store_sqlite_open(b->path, &b->items.store, &b->err);
    } else {
        rc = cluster_lend(&b->items.store, &b->err);
    }
    assert_int_equal(rc, PONS_OK);
    b->config = json("{'half_life_s':{'default':3600,'person':60},'merge_m':{'default':0.3},"
                     "'write_s':0,'synonyms':[['phone','手机','mobile']]}");
    b->zones = json("[{'id':'kitchen','polygon':[[0,-5],[10,-5],[10,5],[0,5]]},"
                    "{'id':'hall','polygon':[[-10,-5],[0,-5],[0,5],[-10,5]]}]");
    b->objects = json("[{'id':'c1','class':'cup','names':{'zh':['杯子','水杯'],'en':['cup','mug']},"
                      "'position':[1,1,1]}]");
    open_memory(b);
    *state = b;
    return 0;
}

static int teardown(void **state)
{
    bed *b = *state;
    char command[96];
    pons_object_memory_close(b->memory);
    pons_value_unref(b->config);
    pons_value_unref(b->zones);
    pons_value_unref(b->objects);
    pons_store_close(&b->items.store);
    snprintf(command, sizeof command, "rm -rf '%s'", b->dir);
    free(b);
    return system(command);
}

static bool is_clear(void *user, const double from[3], const double to[3])
{
    return !((const bed *)user)->blind;
}

// A second later: a view from the origin, ahead along x; from yaw pi it sees the hall.
static pons_object_view view(bed *b, double yaw)
{
    b->time.now_ns += PONS_NS_PER_S;
    b->stamp_ns += PONS_NS_PER_S;
    return (pons_object_view){.detector = "d",
                              .source = "d/eye@boot",
                              .stamp_ns = b->stamp_ns,
                              .at_ms = pons_wall_ms(&b->items.clock),
                              .eye = {0, 0, 1},
                              .yaw = yaw,
                              .fov_rad = 1.6,
                              .near_m = 0.2,
                              .far_m = 6.0,
                              .pose_sd_m = 0.03,
                              .pose_sd_rad = 0.01,
                              .miss = 0.2,
                              .clear = is_clear,
                              .user = b};
}

static pons_detection thing(const char *label, double x, double y)
{
    return (pons_detection){
        .label = label, .score = 0.7, .position = {x, y, 0.8}, .cov = {0.01, 0.0, 0.01, 0.01}};
}

static void put(bed *b, const pons_object_view *v, const pons_detection *d, size_t n)
{
    if (pons_object_memory_put(b->memory, v, d, n, &b->seen, &b->err)) {
        fail_msg("%s", b->err.message);
    }
    if (pons_object_memory_save(b->memory, true, &b->err)) {
        fail_msg("%s", b->err.message);
    }
}

static void look(bed *b, double yaw, const pons_detection *d, size_t n, int times)
{
    for (int i = 0; i < times; i++) {
        const pons_object_view v = view(b, yaw);
        put(b, &v, d, n);
    }
}

static pons_value *find(bed *b, pons_object_query q)
{
    pons_value *list = NULL;
    if (pons_objects_find(&b->items, NS, &q, &list, &b->err)) {
        fail_msg("%s", b->err.message);
    }
    return list;
}

// "obj-1 cup kitchen known" for each, best first.
static void assert_found(bed *b, pons_object_query q, const char *want)
{
    pons_autovalue list = find(b, q);
    char have[512] = "";
    size_t n = 0;
    pons_each(o, list) {
        n += (size_t)snprintf(have + n, sizeof have - n, "%s%s %s %s%s", n ? ", " : "",
                              pons_get_str(o, "id", ""), pons_get_str(o, "label", ""),
                              pons_get_str(o, "zone", "-"),
                              pons_get_bool(o, "known", false) ? " known" : "");
    }
    assert_string_equal(have, want);
}

static void assert_all(bed *b, const char *want)
{
    assert_found(b, (pons_object_query){0}, want);
}

// ---- what is known ------------------------------------------------------------------------------

static void test_second_sighting(void **state)
{
    bed *b = *state;
    const pons_detection cup = thing("cup", 2, 0);
    look(b, 0, &cup, 1, 1);
    assert_int_equal(b->seen.candidates, 1);
    assert_all(b, ""); // it may have been nothing
    look(b, 0, &cup, 1, 1);
    assert_int_equal(b->seen.known, 1);
    assert_all(b, "obj-1 cup kitchen known");
    const pons_detection phantom = thing("phone", 3, 1);
    look(b, 0, &phantom, 1, 1);
    look(b, 0, &cup, 1, 3); // its place was looked at, and it was not there
    look(b, 0, &phantom, 1, 1);
    assert_int_equal(b->seen.candidates, 1); // the first one is forgotten
    assert_all(b, "obj-1 cup kitchen known");
    pons_detection sure = thing("book", 2, -1);
    sure.score = 0.99;
    look(b, 0, &sure, 1, 1);
    assert_int_equal(b->seen.known, 1); // at once
}

// Places are averaged by how well they are known.
static void test_place(void **state)
{
    bed *b = *state;
    pons_detection cup = thing("cup", 2.1, 0.1);
    look(b, 0, &cup, 1, 1);
    for (int i = 0; i < 40; i++) {
        cup.position[0] = i % 2 ? 1.9 : 2.1;
        cup.position[1] = i % 2 ? -0.1 : 0.1;
        look(b, 0, &cup, 1, 1);
    }
    pons_detection vague = thing("cup", 2.2, 0.2);
    vague.cov[0] = vague.cov[2] = 1.0;
    look(b, 0, &vague, 1, 1); // counts little
    pons_autovalue list = find(b, (pons_object_query){.what = "cup"});
    const pons_value *o = json_array_get(list, 0), *at = pons_get(o, "position");
    assert_int_equal(json_array_size(list), 1);
    assert_true(fabs(json_number_value(json_array_get(at, 0)) - 2.0) < 0.05);
    assert_true(fabs(json_number_value(json_array_get(at, 1))) < 0.05);
    assert_true(pons_get_num(o, "sd_m", 9) < 0.08);
    assert_int_equal(pons_get_int(o, "seen", 0), 42);
    assert_int_equal(json_array_size(pons_get(o, "sightings")), 1); // one look, for 42 s
}

static void test_two_of_a_kind(void **state)
{
    bed *b = *state;
    const pons_detection cups[] = {thing("cup", 2, 0.2), thing("cup", 2, -0.2)};
    look(b, 0, cups, 2, 3);
    assert_all(b, "obj-1 cup kitchen known, obj-2 cup kitchen known");
    for (int i = 0; i < 12; i++) { // one of them is missed now and then
        look(b, 0, i % 4 == 3 ? &cups[i % 2] : cups, i % 4 == 3 ? 1 : 2, 1);
    }
    assert_int_equal(pons_object_memory_count(b->memory, true), 2);
    const pons_detection far[] = {cups[0], cups[1], thing("cup", 4, 2)};
    look(b, 0, far, 3, 2);
    assert_int_equal(pons_object_memory_count(b->memory, true), 3);
    assert_int_equal(b->seen.moved, 0);
}

// A name of the one with a tag is no name of the other.
static void test_names_by_tag(void **state)
{
    bed *b = *state;
    pons_detection tags[2] = {thing("cup", 2, -1), thing("cup", 2, 1)};
    tags[0].identity = "7";
    tags[1].identity = "8";
    pons_value_unref(b->objects);
    b->objects = json("[{'id':'r','class':'cup','tag':'7','names':{'en':['red cup']}},"
                      "{'id':'b','class':'cup','tag':'8','names':{'en':['blue cup']}}]");
    reopen(b);
    look(b, 0, tags, 2, 2);
    assert_found(b, (pons_object_query){.what = "the red cup", .limit = 1},
                 "obj-1 cup kitchen known");
    assert_found(b, (pons_object_query){.what = "blue cup", .limit = 1}, "obj-2 cup kitchen known");
}

static void test_identity(void **state)
{
    bed *b = *state;
    pons_detection tags[] = {thing("tag", 2, 0), thing("tag", 2.1, 0.1)};
    tags[0].identity = "7";
    tags[1].identity = "8";
    look(b, 0, tags, 2, 3);
    assert_found(b, (pons_object_query){.what = "8"}, "obj-2 tag kitchen known");
    b->blind = true; // nobody has to look at the old place
    pons_detection elsewhere = thing("tag", -3, 0);
    elsewhere.identity = "8";
    look(b, M_PI, &elsewhere, 1, 2);
    assert_int_equal(b->seen.moved, 1);
    assert_found(b, (pons_object_query){.what = "8"}, "obj-2 tag hall known");
    assert_found(b, (pons_object_query){.what = "7"}, "obj-1 tag kitchen known");
}

// ---- what moves, what goes ----------------------------------------------------------------------

static void test_moved(void **state)
{
    bed *b = *state;
    const pons_detection cup = thing("cup", 2, 0), there = thing("cup", -3, 1);
    look(b, 0, &cup, 1, 5);
    look(b, 0, NULL, 0, 8); // it is not there any more
    assert_found(b, (pons_object_query){.what = "cup"}, "obj-1 cup kitchen");
    look(b, M_PI, &there, 1, 2);
    assert_int_equal(b->seen.moved, 1);
    assert_found(b, (pons_object_query){.what = "cup"}, "obj-1 cup hall known");
    look(b, 0, &cup, 1, 2); // another one
    assert_found(b, (pons_object_query){.zone = "kitchen"}, "obj-3 cup kitchen known");
    look(b, M_PI, NULL, 0,
         8); // the first goes again: it may be the one that turned up in the kitchen
    assert_all(b, "obj-1 cup kitchen known");
}

// The new place is seen before the old one is looked at.
static void test_moved_new_first(void **state)
{
    bed *b = *state;
    const pons_detection cup = thing("cup", 2, 0), there = thing("cup", -3, 1);
    look(b, 0, &cup, 1, 5);
    look(b, M_PI, &there, 1, 3);
    assert_int_equal(pons_object_memory_count(b->memory, false), 2);
    look(b, 0, NULL, 0, 8);
    assert_all(b, "obj-1 cup hall known");
    pons_autovalue list = find(b, (pons_object_query){.what = "cup"});
    const pons_value *zones = pons_get(json_array_get(list, 0), "zones");
    assert_int_equal(pons_get_int(zones, "kitchen", 0), 1);
    assert_int_equal(pons_get_int(zones, "hall", 0), 1);
    assert_int_equal(json_array_size(pons_get(json_array_get(list, 0), "sightings")), 2);
}

// What cannot be seen, or is not looked for by this detector, does not go.
static void test_not_looked_at(void **state)
{
    bed *b = *state;
    const pons_detection cup = thing("cup", 2, 0);
    look(b, 0, &cup, 1, 3);
    look(b, M_PI, NULL, 0, 20); // the other way
    assert_int_equal(b->seen.missed, 0);
    b->blind = true; // something stands before it
    look(b, 0, NULL, 0, 20);
    b->blind = false;
    for (int i = 0; i < 20; i++) {
        pons_object_view v = view(b, 0);
        v.detector = "tags";
        v.source = "tags/eye";
        put(b, &v, NULL, 0);
    }
    pons_object_view v = view(b, 0);
    v.clear = NULL;
    put(b, &v, NULL, 0);
    v = view(b, 0);
    v.far_m = 1.5; // nearer than the cup
    put(b, &v, NULL, 0);
    assert_int_equal(b->seen.missed, 0);
    assert_all(b, "obj-1 cup kitchen known");
    look(b, 0, NULL, 0, 1);
    assert_int_equal(b->seen.missed, 1);
}

static void test_forgotten(void **state)
{
    bed *b = *state;
    const pons_detection cup = thing("cup", 2, 0), book = thing("book", -2, 0);
    look(b, 0, &cup, 1, 3);
    look(b, 0, NULL, 0, 8);
    assert_all(b, "obj-1 cup kitchen");
    b->time.now_ns += 31LL * 86400 * PONS_NS_PER_S;
    look(b, M_PI, &book, 1, 2);
    assert_all(b, "obj-2 book hall known"); // forget_s, thirty days, have passed
    reopen(b);
    assert_int_equal(pons_object_memory_count(b->memory, true), 1);
    look(b, 0, &cup, 1, 2);
    assert_found(b, (pons_object_query){.what = "cup"}, "obj-3 cup kitchen known"); // no id twice
}

static double belief(bed *b, const char *what)
{
    pons_autovalue list = find(b, (pons_object_query){.what = what});
    return pons_get_num(json_array_get(list, 0), "belief", -1);
}

static void test_fading(void **state)
{
    bed *b = *state;
    const pons_detection both[] = {thing("cup", 2, 0), thing("person", 3, 1)};
    look(b, 0, both, 2, 4);
    const double cup = belief(b, "cup"), person = belief(b, "person");
    assert_true(cup > 0.9 && person > 0.9);
    b->time.now_ns += 60 * PONS_NS_PER_S;
    assert_true(fabs(belief(b, "person") - person / 2) < 0.01); // its half-life
    assert_true(fabs(belief(b, "cup") - cup) < 0.02);
    b->time.now_ns += 3540 * PONS_NS_PER_S;
    assert_true(fabs(belief(b, "cup") - cup / 2) < 0.01);
    assert_found(b, (pons_object_query){.min_belief = 0.3}, "obj-1 cup kitchen");
    const int64_t now = pons_wall_ms(&b->items.clock);
    assert_found(b, (pons_object_query){.since_ms = now - 1000}, "");
    assert_found(b, (pons_object_query){.since_ms = now - 3700000, .limit = 1},
                 "obj-1 cup kitchen");
    char line[128];
    pons_autovalue list = find(b, (pons_object_query){.what = "cup"});
    pons_object_line(json_array_get(list, 0), line, sizeof line);
    assert_string_equal(line, "cup in kitchen, seen 60 min ago, 49 %");
    look(b, 0, both, 1, 1); // seen again: it is believed again, though not at once as before
    assert_true(belief(b, "cup") > 0.8);
}

// ---- words --------------------------------------------------------------------------------------

static void test_words(void **state)
{
    bed *b = *state;
    const pons_detection all[] = {thing("cup", 2, 0), thing("phone", 2, 1), thing("cupboard", 4, 0),
                                  thing("桌子", 3, -1), thing("coffee_table", 5, 1)};
    look(b, 0, all, 5, 2);
    static const struct {
        const char *what, *found;
    } asked[] = {
        {"cup", "obj-1 cup kitchen known"},
        {"Cups", "obj-1 cup kitchen known"},
        {"my mug", "obj-1 cup kitchen known"},
        {"杯子", "obj-1 cup kitchen known"}, // 桌子 has one of its characters
        {"我的水杯在哪里", "obj-1 cup kitchen known"},
        {"mobile", "obj-2 phone kitchen known"},
        {"手机", "obj-2 phone kitchen known"},
        {"桌子", "obj-4 桌子 kitchen known"},
        {"coffee table", "obj-5 coffee_table kitchen known"},
        {"table", "obj-5 coffee_table kitchen known"},
        {"obj-3", "obj-3 cupboard kitchen known"},
        {"cat", ""},
        {"?!", ""},
        {"'; DROP TABLE item; --", ""},
    };
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
        print_message("%s\n", asked[i].what);
        assert_found(b, (pons_object_query){.what = asked[i].what}, asked[i].found);
    }
}

// Words of a configuration that has changed are found at the next start.
static void test_new_words(void **state)
{
    bed *b = *state;
    const pons_detection phone = thing("phone", 2, 0);
    look(b, 0, &phone, 1, 2);
    pons_value_unref(b->config);
    b->config = json("{'synonyms':[['phone','telefono']]}");
    reopen(b);
    assert_int_equal(pons_object_memory_save(b->memory, false, &b->err), PONS_OK);
    assert_found(b, (pons_object_query){.what = "telefono"}, "obj-1 phone kitchen known");
}

static int embed(void *user, const char *const *texts, size_t n, float *ret, pons_error *err)
{
    for (size_t i = 0; i < n; i++) { // what one drinks from lies along x
        const bool drinks = strstr(texts[i], "cup") || strstr(texts[i], "beaker");
        ret[2 * i] = drinks ? 1.0f : 0.0f;
        ret[2 * i + 1] = drinks ? 0.0f : 1.0f;
    }
    return PONS_OK;
}

static void test_meaning(void **state)
{
    bed *b = *state;
    b->items.opts.embed = embed;
    b->items.opts.dims = 2;
    reopen(b);
    const pons_detection both[] = {thing("cup", 2, 0), thing("book", 2, 1)};
    look(b, 0, both, 2, 2);
    assert_found(b, (pons_object_query){.what = "beaker"}, "obj-1 cup kitchen known");
}

// ---- what is refused ----------------------------------------------------------------------------

static void test_refused(void **state)
{
    bed *b = *state;
    pons_detection d[8];
    for (int i = 0; i < 8; i++) {
        d[i] = thing("cup", 2, 0.3 * i - 1);
    }
    d[0].position[0] = NAN;
    d[1].score = 1.5;
    d[2].label = "";
    d[3].position[0] = -2; // behind
    d[4].position[0] = 60; // out of reach
    d[5].cov[0] = -1;
    d[6].label = "\xff\xfe";
    look(b, 0, d, 8, 1);
    assert_int_equal(b->seen.refused, 7);
    assert_int_equal(b->seen.candidates, 1);
    assert_string_equal(b->seen.why, "detection 1: position is not finite");

    static pons_detection many[10000];
    for (int i = 0; i < 10000; i++) {
        many[i] = thing("cup", 2, 0);
    }
    pons_object_view v = view(b, 0);
    pons_object_seen seen = {.merged = 77};
    assert_int_equal(pons_object_memory_put(b->memory, &v, many, 10000, &seen, &b->err),
                     PONS_EINVAL);
    assert_string_equal(b->err.message, "10000 detections in one picture of d; at most 256");
    assert_int_equal(seen.merged, 77);
    v.yaw = NAN;
    assert_int_equal(pons_object_memory_put(b->memory, &v, d + 7, 1, &seen, &b->err), PONS_EINVAL);
    assert_string_equal(b->err.message, "no view: yaw, fov_rad, near_m, far_m make no cone");
    v = view(b, 0);
    v.source = NULL;
    assert_int_equal(pons_object_memory_put(b->memory, &v, d + 7, 1, &seen, &b->err), PONS_EINVAL);
    assert_int_equal(pons_object_memory_count(b->memory, true), 0);
    look(b, 0, d + 7, 1, 1); // the cup is as it was
    assert_int_equal(pons_object_memory_count(b->memory, true), 1);

    pons_object_memory *none = NULL;
    pons_autovalue wrong = json("{'half_life_s':{'cup':0}}");
    const pons_object_memory_options o = {.items = b->items, .ns = NS, .config = wrong};
    assert_int_equal(pons_object_memory_open(&o, &none, &b->err), PONS_EINVAL);
    assert_null(none);
}

// Candidates are bounded: a detector that sees ghosts everywhere costs no memory.
static void test_ghosts(void **state)
{
    bed *b = *state;
    pons_detection d[PONS_OBJECT_DETECTIONS];
    char labels[PONS_OBJECT_DETECTIONS][16];
    b->blind = true;
    for (int round = 0; round < 8; round++) {
        for (int i = 0; i < PONS_OBJECT_DETECTIONS; i++) {
            snprintf(labels[i], sizeof labels[i], "g%d", round * 1000 + i);
            d[i] = thing(labels[i], 3, 0);
        }
        look(b, 0, d, PONS_OBJECT_DETECTIONS, 1);
    }
    look(b, 0, d, PONS_OBJECT_DETECTIONS, 1); // the newest are there, and are known now
    assert_int_equal(b->seen.known, PONS_OBJECT_DETECTIONS);
    for (int i = 0; i < PONS_OBJECT_DETECTIONS; i++) {
        snprintf(labels[i], sizeof labels[i], "g%d", i); // the oldest are not
        d[i] = thing(labels[i], 3, 0);
    }
    look(b, 0, d, PONS_OBJECT_DETECTIONS, 1);
    assert_int_equal(b->seen.candidates, PONS_OBJECT_DETECTIONS);
}

// ---- what is kept -------------------------------------------------------------------------------

static void test_again(void **state)
{
    bed *b = *state;
    const pons_detection cup = thing("cup", 2, 0);
    look(b, 0, &cup, 1, 2);
    const pons_object_view v = view(b, 0);
    put(b, &v, &cup, 1);
    assert_false(b->seen.again);
    put(b, &v, &cup, 1);
    assert_true(b->seen.again);
    reopen(b);
    put(b, &v, &cup, 1);
    assert_true(b->seen.again);
    pons_autovalue list = find(b, (pons_object_query){0});
    assert_int_equal(pons_get_int(json_array_get(list, 0), "seen", 0), 3);
    pons_object_view other = v;
    other.source = "d/eye@another-boot"; // whose clock began anew
    other.stamp_ns = 1;
    put(b, &other, &cup, 1);
    assert_false(b->seen.again);
}

// What nobody here has written is left alone, and does no harm.
static void test_foreign_items(void **state)
{
    bed *b = *state;
    static const char *const values[] = {"{'label':'cup'}", "{'state':'known','label':3}", "{}",
                                         "{'label':'cup','position':[1,'x',2],'cov':[1,0,1,1],"
                                         "'first_ms':1,'last_ms':1,'looked_ms':1,'seen':1,"
                                         "'belief':0.5,'half_life_s':1,'state':'known'}"};
    for (int i = 0; i < 4; i++) {
        char key[32];
        pons_autovalue v = json(values[i]);
        snprintf(key, sizeof key, "obj-%d", i + 5);
        assert_int_equal(pons_items_put(&b->items, NS, key, v, NULL, &b->err), PONS_OK);
    }
    reopen(b);
    assert_int_equal(pons_object_memory_count(b->memory, true), 0);
    const pons_detection cup = thing("cup", 2, 0);
    look(b, 0, &cup, 1, 2);
    assert_found(b, (pons_object_query){.what = "cup", .zone = "kitchen"},
                 "obj-1 cup kitchen known");
}

// ---- killed -------------------------------------------------------------------------------------

enum { BATCHES = 30 };

// What a robot sees in half a minute: two cups, and a book that is moved; the i-th look.
static size_t scene(int i, pons_detection d[3])
{
    d[0] = thing("cup", 2, 0.5);
    d[1] = thing("cup", 2, -0.5);
    d[2] = i < 12 ? thing("book", 3, 1) : thing("book", 4, -1.5);
    return 3;
}

static void live(bed *b, int from)
{
    for (int i = 0; i < from; i++) {
        view(b, 0); // time passes as it did
    }
    for (int i = from; i < BATCHES; i++) {
        pons_detection d[3];
        const size_t n = scene(i, d);
        const pons_object_view v = view(b, 0);
        put(b, &v, d, n);
    }
}

// The process is killed at its nth writing call; the next life is told all of it once more.
static void test_killed(void **state)
{
    bed *b = *state;
    if (which != SQLITE) {
        return;
    }
    pons_object_memory_close(b->memory);
    b->memory = NULL;
    long calls = 0;
    for (long at = 0; at == 0 || at <= calls; at++) {
        if (at > 0 && !rounds_take(ROUNDS_sight_kills, at - 1, calls)) {
            continue;
        }
        const bed fresh = *b;
        snprintf(b->path, sizeof b->path, "%s/k%ld.db", b->dir, at);
        killer k = {.at = at};
        const pid_t pid = fork();
        if (pid == 0) {
            killer_wait();
            if (pons_store_sqlite_open(b->path, &b->items.store, &b->err) == PONS_OK) {
                open_memory(b);
                live(b, 0);
            }
            _exit(0);
        }
        assert_true(pid > 0);
        if (!killer_run(&k, pid)) {
            print_message("nobody may be traced here\n");
            return;
        }
        calls = at == 0 ? k.calls : calls;
        assert_int_equal(pons_store_sqlite_open(b->path, &b->items.store, &b->err), PONS_OK);
        open_memory(b);
        live(b, 0);
        pons_autovalue cups = find(b, (pons_object_query){.what = "cup"});
        pons_autovalue books = find(b, (pons_object_query){.what = "book"});
        assert_int_equal(json_array_size(cups), 2);
        assert_int_equal(json_array_size(books), 1);
        pons_each(cup,
                  cups) { // a candidate of the first life may be lost, nothing is counted twice
            const int64_t seen = pons_get_int(cup, "seen", 0);
            assert_true(seen <= BATCHES && seen >= BATCHES - 1);
        }
        assert_true(pons_get_int(json_array_get(books, 0), "seen", 0) <= BATCHES);
        assert_true(fabs(json_number_value(
                             json_array_get(pons_get(json_array_get(books, 0), "position"), 0)) -
                         4.0) < 0.1);
        pons_object_memory_close(b->memory);
        pons_store_close(&b->items.store);
        const pons_store first = fresh.items.store;
        *b = fresh;
        b->items.store = first;
    }
    open_memory(b);
}

// ---- a day --------------------------------------------------------------------------------------

static int64_t size_of(const char *path)
{
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    fseek(f, 0, SEEK_END);
    const int64_t n = ftell(f);
    fclose(f);
    return n;
}

static bool nobody(void *user, const char *name)
{
    return false;
}

// A picture as large as one may be, which is another one each time, dated by the day's clock.
static void keep_picture(const bed *b, const char *folder, pons__thumbnail *last,
                         const pons_detection *d, size_t n)
{
    static pons__boxed found[8];
    static char bytes[PONS__SEEN_BYTES_MAX];
    char name[PONS_PICTURE_NAME], path[256];
    pons_error err = PONS_ERROR_INIT;
    const int64_t now_ms = pons_wall_ms(&b->items.clock);
    for (size_t i = 0; i < n; i++) {
        snprintf(found[i].what.label, sizeof found[i].what.label, "%s", d[i].label);
    }
    if (!pons__thumbnail_due(last, found, n, now_ms)) {
        return;
    }
    snprintf(bytes, sizeof bytes, "%lld", (long long)now_ms);
    assert_int_equal(pons_picture_put(folder, bytes, sizeof bytes, name, &err), PONS_OK);
    const struct timespec put[2] = {{.tv_sec = now_ms / 1000}, {.tv_sec = now_ms / 1000}};
    snprintf(path, sizeof path, "%s/%s.jpg", folder, name);
    assert_int_equal(utimensat(AT_FDCWD, path, put, 0), 0);
    pons__thumbnail_kept(last, found, n, now_ms, name);
}

// A look a second, at five things with noise and a false alarm now and then: what it leaves in the store, and (folder)
// the most that it ever has in pictures. PONS_ROUNDS=sight_seconds=86400 is a day.
static void day(bed *b, const char *folder, uint64_t *ret_pictures)
{
    const long seconds = rounds(ROUNDS_sight_seconds);
    static pons__thumbnail last;
    size_t kept = 0;
    uint64_t bytes = 0;
    memset(&last, 0, sizeof last);
    pons_value_unref(b->config);
    b->config = NULL; // as it is where nothing is configured
    reopen(b);
    pons_rand rand;
    pons_rand_seed(&rand, 5);
    for (long s = 0; s < seconds; s++) {
        pons_detection d[6];
        size_t n = 0;
        for (int i = 0; i < 5; i++) {
            if (pons_rand_unit(&rand) < 0.8) {
                d[n++] = thing(i < 3 ? "cup" : "book",
                               2 + 0.1 * i + pons_rand_normal(&rand, 0, 0.05), 1.2 * i - 2.4);
            }
        }
        if (pons_rand_unit(&rand) < 0.02) {
            d[n++] = thing("cup", 1 + 4 * pons_rand_unit(&rand), 0.1);
        }
        pons_object_view v = view(b, 0);
        if (folder) {
            keep_picture(b, folder, &last, d, n);
            v.picture = *last.name ? last.name : NULL;
        }
        assert_int_equal(pons_object_memory_put(b->memory, &v, d, n, &b->seen, &b->err), PONS_OK);
        assert_int_equal(pons_object_memory_save(b->memory, false, &b->err), PONS_OK);
        if (folder && (s % 3600 == 3599 || s + 1 == seconds)) { // as `pons sight` does it
            pons_picture_usage(folder, &kept, &bytes);
            *ret_pictures = bytes > *ret_pictures ? bytes : *ret_pictures;
            const int64_t before_ms = pons_wall_ms(&b->items.clock) - 3600 * 1000;
            assert_true(pons__thumbnail_prune(&b->items, NS, folder, before_ms, &b->err) >= 0);
        }
    }
    assert_int_equal(pons_object_memory_count(b->memory, false), 5);
    pons_object_memory_close(b->memory);
    b->memory = NULL;
    pons_store_close(
        &b->items.store); // whose log, as long as it is open, is as long as its store lets it be
    print_message("%ld looks: %lld kB, and at most %lld kB of pictures\n", seconds,
                  (long long)size_of(b->path) / 1000, (long long)*ret_pictures / 1000);
}

static void test_day(void **state)
{
    bed *b = *state;
    uint64_t pictures = 0;
    if (which == SQLITE) {
        day(b, NULL, &pictures);
        assert_true(size_of(b->path) <= 5000000);
    }
}

static void test_day_with_pictures(void **state)
{
    bed *b = *state;
    char folder[] = "/tmp/pons-seen-XXXXXX";
    uint64_t pictures = 0;
    if (which == SQLITE) {
        assert_non_null(mkdtemp(folder));
        day(b, folder, &pictures);
        assert_true(pictures > 0 && (uint64_t)size_of(b->path) + pictures <= 50000000);
        pons_error err = PONS_ERROR_INIT;
        pons_picture_prune(folder, INT64_MAX, nobody, NULL, &err);
        rmdir(folder);
    }
}

int main(void)
{
    static const char *const names[] = {"memory", "sqlite", "postgres"};
    int failed = 0;
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_second_sighting),
        TEST(test_place),
        TEST(test_two_of_a_kind),
        TEST(test_names_by_tag),
        TEST(test_identity),
        TEST(test_moved),
        TEST(test_moved_new_first),
        TEST(test_not_looked_at),
        TEST(test_forgotten),
        TEST(test_fading),
        TEST(test_words),
        TEST(test_new_words),
        TEST(test_meaning),
        TEST(test_refused),
        TEST(test_ghosts),
        TEST(test_again),
        TEST(test_foreign_items),
        TEST(test_killed),
        TEST(test_day),
        TEST(test_day_with_pictures),
    };
#undef TEST
    have_server = cluster_share();
    for (int i = 0; i < STORES - !have_server; i++) {
        which = i;
        failed += cmocka_run_group_tests_name(names[i], tests, NULL, NULL);
    }
    if (have_server) {
        cluster_stop();
    }
    return failed;
}
