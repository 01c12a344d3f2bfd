// What is told becomes messages of topics whose schemas are there and fit; who tells never waits: a queue
// that is full drops and says so, a disk that is full is told once and ends the recording alone.
#include "pons/record.h"
#include "pons/schema.h"
#include "unit.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

static char folder[64];

static int setup(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/pons-recorder-XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static int teardown(void **state)
{
    char command[96];
    (void)state;
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command);
}

static const char *path_of(const char *name)
{
    static char path[160];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static pons_value *json(const char *text)
{
    pons_value *v = NULL;
    assert_int_equal(pons_value_parse(text, strlen(text), &v, NULL), PONS_OK);
    return v;
}

static pons_value *telemetry(void)
{
    return json("{\"type\":\"telemetry\",\"robot_ms\":50,\"pose\":{\"x\":1.5,\"y\":2,\"yaw\":0},"
                "\"obstacles\":[{\"x\":1,\"y\":1,\"r\":0.2}],\"stop\":{\"latched\":false}}");
}

// ---- topics -------------------------------------------------------------------------------------

typedef struct seen {
    int n;
    char topics[16][64];
    double x;
    double range, lidar_y;
} seen;

static void see(void *user, const char *topic, const char *schema, const pons_value *message)
{
    seen *s = user;
    char *text = pons_record_schema(schema);
    assert_non_null(text);
    pons_autovalue form = json(text);
    free(text);
    snprintf(s->topics[s->n++], sizeof s->topics[0], "%s", topic);
    // Every member of a message that is drawn is one that its schema has.
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)message, key, value) {
        if (!pons_get(pons_get(form, "properties"), key)) {
            fail_msg("%s: %s is not in %s", topic, key, schema);
        }
    }
    if (strcmp(topic, "/tf") == 0) {
        s->x = pons_get_num(pons_get(message, "translation"), "x", 0);
    }
    if (strcmp(topic, "/scan") == 0) {
        s->range = json_number_value(json_array_get(pons_get(message, "ranges"), 1));
        s->lidar_y = pons_get_num(pons_get(pons_get(message, "pose"), "position"), "y", 0);
    }
}

static void test_topics(void **state)
{
    (void)state;
    seen s = {0};
    pons_autovalue t = telemetry();
    pons_autovalue view =
        json("{\"type\":\"view\",\"robot_ms\":1,\"path\":[1,2,3,4],\"scan\":[],\"laser\":{"
             "\"angle_min\":0,\"angle_increment\":0.5,\"range_min\":0.1,\"range_max\":8,"
             "\"ranges\":[0,2.5,1],\"x\":0.2,\"y\":-0.1,\"yaw\":0.5}}");
    pons_autovalue world = json("{\"bounds\":[0,0,1,1],\"map\":{\"boxes\":[{\"x\":0.5,\"y\":0.5,"
                                "\"sx\":0.2,\"sy\":0.2}]}}");
    pons_autovalue payload = json("{\"why\":\"so\"}");
    pons_record_report(t, 5, see, &s);
    pons_record_report(view, 5, see, &s);
    pons_record_world(world, 5, see, &s);
    pons_record_picture("front", "\xff\xd8\xff", 3, 5, see, &s);
    pons_record_event_tell(&(pons_record_event){.thread = "t",
                                                .ns = "kernel",
                                                .type = "mode",
                                                .seq = 1,
                                                .ts_ms = 9,
                                                .payload = payload},
                           see, &s);
    static const char *const want[] = {"/body/telemetry", "/tf",     "/pose", "/obstacles",
                                       "/body/view",      "/path",   "/scan", "/map",
                                       "/camera/front",   "/events", "/log"};
    assert_int_equal(s.n, sizeof want / sizeof want[0]);
    for (int i = 0; i < s.n; i++) {
        assert_string_equal(s.topics[i], want[i]);
    }
    assert_true(s.x == 1.5 && s.range == 2.5 && s.lidar_y == -0.1);
    // What no body says is no topic; what is no report neither.
    pons_autovalue odd = json("{\"type\":\"tomorrow\"}");
    pons_record_report(odd, 5, see, &s);
    assert_int_equal(s.n, sizeof want / sizeof want[0]);
    assert_null(pons_record_schema("pons.tomorrow"));
    assert_null(pons_record_schema("foxglove.Nothing"));
}

// ---- a file -------------------------------------------------------------------------------------

typedef struct lines {
    pthread_mutex_t mtx;
    int n;
    char first[512];
} lines;

static void note(void *user, const char *line)
{
    lines *l = user;
    pthread_mutex_lock(&l->mtx);
    if (l->n++ == 0) {
        snprintf(l->first, sizeof l->first, "%s", line);
    }
    pthread_mutex_unlock(&l->mtx);
}

static uint64_t count(const char *path, const char *topic)
{
    pons_error err = PONS_ERROR_INIT;
    pons_mcap_about a;
    uint64_t n = 0;
    assert_int_equal(pons_mcap_read(path, NULL, NULL, &a, &err), PONS_OK);
    for (size_t i = 0; i < json_array_size(a.topics); i++) {
        const pons_value *t = json_array_get(a.topics, i);
        n += strcmp(pons_get_str(t, "topic", ""), topic) == 0
                 ? (uint64_t)pons_get_int(t, "messages", 0)
                 : 0;
    }
    pons_mcap_about_clear(&a);
    return n;
}

// Other software's messages are there byte for byte, with their own schema, under the name that they have; what is
// drawn of ours has another one then, and what is called as one of ours is told apart.
typedef struct raws {
    int n;
    char scan[128], events[128];
    bool ours;
} raws;

static int look_at_raw(void *user, const pons_mcap_message *m)
{
    raws *r = user;
    if (strcmp(m->encoding, "cdr") == 0) {
        r->n++;
        snprintf(strcmp(m->topic, "/scan") == 0 ? r->scan : r->events, 128, "%s %s %zu %02x%02x",
                 m->topic, m->schema, m->n, (uint8_t)m->data[0], (uint8_t)m->data[1]);
    }
    r->ours = r->ours || (strcmp(m->topic, "/pons/tf") == 0 && strcmp(m->encoding, "json") == 0);
    return strcmp(m->topic, "/tf") == 0 ? PONS_EINVAL : PONS_OK;
}

static void test_what_others_say_is_there_as_it_was(void **state)
{
    (void)state;
    pons_recorder *r = NULL;
    pons_error err = PONS_ERROR_INIT;
    pons_autovalue t = telemetry();
    pons_mcap_about a;
    raws seen_raws = {0};
    const pons_recorder_options o = {.path = path_of("raw.mcap"), .clock = pons_clock_real()};
    assert_int_equal(pons_recorder_open(&o, &r, &err), PONS_OK);
    pons_recorder_apart(r);
    char type[] = "sensor_msgs/msg/LaserScan",
         text[] = "float32 angle_min\n"; // theirs, and gone soon
    const int scan = pons_recorder_topic(r, &(pons_topic){"/scan", type, "cdr", "ros2msg", text});
    const int events =
        pons_recorder_topic(r, &(pons_topic){"/events", "a/msg/B", "cdr", "ros2msg", "bool x\n"});
    assert_true(scan >= 0 && events >= 0 && scan != events);
    memset(type, 'x', sizeof type - 1);
    memset(text, 'x', sizeof text - 1);
    pons_recorder_report(r, t, 0);
    pons_recorder_event(r, &(pons_record_event){.thread = "t", .ns = "", .type = "x", .seq = 1});
    pons_recorder_raw(r, scan, "\x00\x01\x00\x00\x01\x02\x03\x04", 8);
    pons_recorder_raw(r, events, "\xff\x01\x00\x00\x01", 5);
    assert_int_equal(pons_recorder_close(r, NULL, &err), PONS_OK);
    assert_int_equal(pons_mcap_read(path_of("raw.mcap"), look_at_raw, &seen_raws, &a, &err),
                     PONS_OK);
    assert_true(a.whole);
    pons_mcap_about_clear(&a);
    assert_int_equal(seen_raws.n, 2);
    assert_string_equal(seen_raws.scan, "/scan sensor_msgs/msg/LaserScan 8 0001");
    assert_string_equal(seen_raws.events, "/ros2/events a/msg/B 5 ff01");
    assert_true(seen_raws.ours);
}

static void test_all_of_it_is_there(void **state)
{
    (void)state;
    lines l = {.mtx = PTHREAD_MUTEX_INITIALIZER};
    pons_recorder *r = NULL;
    pons_recorder_about about;
    pons_error err = PONS_ERROR_INIT;
    pons_autovalue t = telemetry();
    const pons_recorder_options o = {
        .path = path_of("a.mcap"), .clock = pons_clock_real(), .tell = note, .user = &l};
    assert_int_equal(pons_recorder_open(&o, &r, &err), PONS_OK);
    for (int i = 0; i < 1000; i++) {
        pons_recorder_report(r, t, 0);
    }
    assert_int_equal(pons_recorder_close(r, &about, &err), PONS_OK);
    assert_int_equal(about.received, 1000);
    assert_int_equal(count(path_of("a.mcap"), "/tf"), 1000 - about.dropped);
    assert_int_equal(about.dropped, 0);
    assert_int_equal(l.n, 0);
}

// The writer is held in its first line for people while more come than there is room for.
typedef struct gate {
    pthread_mutex_t mtx;
    pthread_cond_t moved;
    bool held, open;
    int lines;
    char last[512];
} gate;

static void hold(void *user, const char *line)
{
    gate *g = user;
    pthread_mutex_lock(&g->mtx);
    snprintf(g->last, sizeof g->last, "%s", line);
    g->lines++;
    g->held = true;
    pthread_cond_broadcast(&g->moved);
    while (!g->open) {
        pthread_cond_wait(&g->moved, &g->mtx);
    }
    pthread_mutex_unlock(&g->mtx);
}

static void test_a_full_queue_drops_and_says_so(void **state)
{
    (void)state;
    gate g = {.mtx = PTHREAD_MUTEX_INITIALIZER, .moved = PTHREAD_COND_INITIALIZER};
    pons_recorder *r = NULL;
    pons_recorder_about about;
    pons_error err = PONS_ERROR_INIT;
    pons_autovalue t = telemetry();
    const pons_recorder_options o = {.path = path_of("q.mcap"),
                                     .clock = pons_clock_real(),
                                     .tell = hold,
                                     .user = &g,
                                     .queue_max = 10};
    assert_int_equal(pons_recorder_open(&o, &r, &err), PONS_OK);
    while (pons_recorder_look(r).dropped == 0) { // until the writer has fallen behind once
        pons_recorder_report(r, t, 0);
    }
    pthread_mutex_lock(&g.mtx);
    while (!g.held) {
        pthread_cond_wait(&g.moved, &g.mtx);
    }
    pthread_mutex_unlock(&g.mtx);
    const pons_recorder_about before = pons_recorder_look(r);
    for (int i = 0; i < 100; i++) { // nobody writes now, and nobody waits
        pons_recorder_report(r, t, 0);
    }
    assert_true(pons_recorder_look(r).dropped >= before.dropped + 90);
    pthread_mutex_lock(&g.mtx);
    g.open = true;
    pthread_cond_broadcast(&g.moved);
    pthread_mutex_unlock(&g.mtx);
    assert_int_equal(pons_recorder_close(r, &about, &err), PONS_OK);
    assert_int_equal(g.lines, 1);
    assert_non_null(strstr(g.last, "no room"));
    assert_int_equal(count(path_of("q.mcap"), "/tf"), about.received - about.dropped);
    assert_true(count(path_of("q.mcap"), "/log") >= 1);
}

// A flood of large ones is bounded by its bytes: it is dropped, and counted.
static void test_a_flood_of_large_messages_is_dropped(void **state)
{
    (void)state;
    pons_recorder *r = NULL;
    pons_recorder_about about;
    pons_error err = PONS_ERROR_INIT;
    gate g = {.mtx = PTHREAD_MUTEX_INITIALIZER, .moved = PTHREAD_COND_INITIALIZER};
    const pons_recorder_options o = {.path = path_of("flood.mcap"),
                                     .clock = pons_clock_real(),
                                     .tell = hold,
                                     .user = &g,
                                     .queue_max = 100};
    assert_int_equal(pons_recorder_open(&o, &r, &err), PONS_OK);
    const int points =
        pons_recorder_topic(r, &(pons_topic){"/points", "a/msg/P", "cdr", "ros2msg", "byte x\n"});
    char *large = calloc(1, 8U << 20);
    assert_non_null(large);
    while (pons_recorder_look(r).dropped == 0) { // until the writer has fallen behind
        pons_recorder_raw(r, points, large, 8U << 20);
    }
    free(large);
    pthread_mutex_lock(&g.mtx);
    g.open = true;
    pthread_cond_broadcast(&g.moved);
    pthread_mutex_unlock(&g.mtx);
    assert_int_equal(pons_recorder_close(r, &about, &err), PONS_OK);
    assert_true(about.dropped > 0);
    assert_int_equal(count(path_of("flood.mcap"), "/points"), about.received - about.dropped);
}

// A disk on which each write stands still until it is let go on: `write` is the test's own.
static gate disk = {
    .mtx = PTHREAD_MUTEX_INITIALIZER, .moved = PTHREAD_COND_INITIALIZER, .open = true};
static int slow_fd = -1; // [disk.mtx] the file that lies on it

ssize_t write(int fd, const void *data, size_t n)
{
    pthread_mutex_lock(&disk.mtx);
    if (fd == slow_fd) {
        disk.held = !disk.open;
        pthread_cond_broadcast(&disk.moved);
        while (!disk.open) {
            pthread_cond_wait(&disk.moved, &disk.mtx);
        }
    }
    pthread_mutex_unlock(&disk.mtx);
    return syscall(SYS_write, fd, data, n);
}

// Whoever tells something goes on while the disk stands still; when it moves again all that found room is
// there, and how much did not.
static void test_a_slow_disk_drops_and_holds_nobody(void **state)
{
    (void)state;
    lines l = {.mtx = PTHREAD_MUTEX_INITIALIZER};
    pons_recorder *r = NULL;
    pons_recorder_about about;
    pons_error err = PONS_ERROR_INIT;
    pons_autovalue t = telemetry();
    const pons_recorder_options o = {.path = path_of("slow.mcap"),
                                     .clock = pons_clock_real(),
                                     .tell = note,
                                     .user = &l,
                                     .queue_max = 50};
    const int next = dup(0); // the number that the file will have
    close(next);
    assert_int_equal(pons_recorder_open(&o, &r, &err), PONS_OK);
    pthread_mutex_lock(&disk.mtx);
    slow_fd = next;
    disk.open = false;
    while (!disk.held) { // the chunk of a second is being written
        pthread_mutex_unlock(&disk.mtx);
        pons_recorder_report(r, t, 0);
        poll(NULL, 0, 1);
        pthread_mutex_lock(&disk.mtx);
    }
    pthread_mutex_unlock(&disk.mtx);
    const pons_recorder_about before = pons_recorder_look(r);
    for (int i = 0; i < 1000; i++) {
        pons_recorder_report(r, t, 0);
    }
    const pons_recorder_about now = pons_recorder_look(r);
    assert_int_equal(now.received, before.received + 1000);
    assert_true(now.dropped >= before.dropped + 950 && now.dropped <= before.dropped + 1000);
    pthread_mutex_lock(&disk.mtx);
    disk.open = true;
    pthread_cond_broadcast(&disk.moved);
    pthread_mutex_unlock(&disk.mtx);
    assert_int_equal(pons_recorder_close(r, &about, &err), PONS_OK);
    slow_fd = -1;
    assert_false(about.ended);
    assert_int_equal(l.n, 1);
    assert_non_null(strstr(l.first, "found no room"));
    assert_int_equal(count(path_of("slow.mcap"), "/tf"), about.received - about.dropped);
    assert_true(count(path_of("slow.mcap"), "/log") >= 1);
}

static void test_a_full_disk_ends_the_recording_alone(void **state)
{
    (void)state;
    lines l = {.mtx = PTHREAD_MUTEX_INITIALIZER};
    struct rlimit was, little;
    pons_recorder *r = NULL;
    pons_recorder_about about;
    pons_error err = PONS_ERROR_INIT;
    signal(SIGXFSZ, SIG_IGN);
    const pons_recorder_options o = {.path = path_of("full.mcap"),
                                     .clock = pons_clock_real(),
                                     .at_once = true,
                                     .tell = note,
                                     .user = &l};
    assert_int_equal(pons_recorder_open(&o, &r, &err), PONS_OK);
    getrlimit(RLIMIT_FSIZE, &was);
    little = was;
    little.rlim_cur = 60000;
    setrlimit(RLIMIT_FSIZE, &little);
    unsigned char noise[30000];
    unsigned seed = 1;
    for (size_t i = 0; i < sizeof noise; i++) {
        seed = seed * 1103515245U + 12345U;
        noise[i] = (unsigned char)(seed >> 16);
    }
    for (int i = 0; i < 60; i++) {
        pons_recorder_picture(r, "front", noise, sizeof noise);
    }
    assert_true(pons_recorder_look(r).ended);
    assert_int_equal(pons_recorder_close(r, &about, &err), PONS_OK);
    setrlimit(RLIMIT_FSIZE, &was);
    assert_true(about.ended);
    assert_int_equal(l.n, 1);
    assert_non_null(strstr(l.first, "the robot goes on"));
    assert_int_equal(count(path_of("full.mcap"), "/none"), 0); // it is read without a fault
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_topics, setup, teardown),
        cmocka_unit_test_setup_teardown(test_all_of_it_is_there, setup, teardown),
        cmocka_unit_test_setup_teardown(test_what_others_say_is_there_as_it_was, setup, teardown),
        cmocka_unit_test_setup_teardown(test_a_flood_of_large_messages_is_dropped, setup, teardown),
        cmocka_unit_test_setup_teardown(test_a_full_queue_drops_and_says_so, setup, teardown),
        cmocka_unit_test_setup_teardown(test_a_slow_disk_drops_and_holds_nobody, setup, teardown),
        cmocka_unit_test_setup_teardown(test_a_full_disk_ends_the_recording_alone, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
