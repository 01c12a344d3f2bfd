// test_topics.c - ROS 2's topics as they are on the wire, for recordings (ext/topics.h): what a robot publishes is
// heard as CDR, each topic with the text of its type and of all that is in it; what is another robot's, hidden, or of a
// type that nobody knows is not, and the last is told by its name. Who offers less than another publisher of the same
// topic is heard too.
#include "../conformance.h"
#include "peer.h"
#include "pons/clock.h"
#include "pons/ext/topics.h"
#include "pons/module.h"
#include "ros2.h"
#include "server.h"
#include "unit.h"

#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TOPICS = 32, LONG = 6000 };

static const pons_topics_ops *ops; // from the module
static char ns[32];
static uint32_t domain;

typedef struct topic { // one that is heard
    char name[128], type[128], schema[4096];
    size_t n, size; // how many; of the newest
    char data[4096];
} topic;

static struct {
    pthread_mutex_t mtx;
    topic at[TOPICS];    // [mtx] (n)
    int n;               // [mtx]
    char reported[2048]; // [mtx]
} received = {.mtx = PTHREAD_MUTEX_INITIALIZER};

static int on_topic(void *user, const pons_topic *t)
{
    (void)user;
    pthread_mutex_lock(&received.mtx);
    assert_true(received.n < TOPICS);
    topic *x = &received.at[received.n];
    *x = (topic){.n = 0};
    snprintf(x->name, sizeof x->name, "%s", t->name);
    snprintf(x->type, sizeof x->type, "%s %s %s", t->type, t->encoding, t->schema_encoding);
    snprintf(x->schema, sizeof x->schema, "%s", t->schema);
    const int number = received.n++;
    pthread_mutex_unlock(&received.mtx);
    return number;
}

static void on_message(void *user, int number, const void *data, size_t n)
{
    (void)user;
    pthread_mutex_lock(&received.mtx);
    topic *x = &received.at[number];
    x->n++;
    x->size = n;
    memcpy(x->data, data, n < sizeof x->data ? n : sizeof x->data);
    pthread_mutex_unlock(&received.mtx);
}

static void on_tell(void *user, const char *line)
{
    (void)user;
    pthread_mutex_lock(&received.mtx);
    const size_t n = strlen(received.reported);
    snprintf(received.reported + n, sizeof received.reported - n, "%s\n", line);
    pthread_mutex_unlock(&received.mtx);
}

static void *open_it(char workspace[64])
{
    char yaml[128];
    void *self = NULL;
    pons_error err = PONS_ERROR_INIT;
    snprintf(yaml, sizeof yaml, "domain: %u\nnamespace: %s\n", domain, ns);
    peer_workspace(yaml, workspace);
    received.n = 0;
    received.reported[0] = '\0';
    const pons_topics_options o = {
        .workspace = workspace, .topic = on_topic, .message = on_message, .tell = on_tell};
    if (ops->open(&o, &self, &err) < 0) {
        fail_msg("%s [%s]", err.message, err.source);
    }
    return self;
}

// How often it has come; the newest in ret.
static size_t come(const char *name, topic *ret)
{
    size_t n = 0;
    pthread_mutex_lock(&received.mtx);
    for (int i = 0; i < received.n; i++) {
        if (strcmp(received.at[i].name, name) == 0) {
            n = received.at[i].n;
            *ret = received.at[i];
        }
    }
    pthread_mutex_unlock(&received.mtx);
    return n;
}

static bool was_told(const char *what)
{
    pthread_mutex_lock(&received.mtx);
    const bool yes = strstr(received.reported, what) != NULL;
    pthread_mutex_unlock(&received.mtx);
    return yes;
}

static void test_a_robot_is_heard(void **state)
{
    (void)state;
    peer p;
    char workspace[64], scan[64], odom[64], battery[64], transforms[64];
    pons_autovalue world = house_world();
    topic s, o, tf, b;
    bool all = false;
    peer_open(&p, world, NULL, ns, domain, false);
    void *self = open_it(workspace);
    snprintf(scan, sizeof scan, "%s/scan", ns);
    snprintf(odom, sizeof odom, "%s/odom", ns);
    snprintf(transforms, sizeof transforms, "%s/tf", ns);
    snprintf(battery, sizeof battery, "%s/battery_state", ns);
    for (int i = 0; i < LONG && !all; i++) {
        peer_step(&p, 20 * PONS_NS_PER_MS);
        peer_say(&p);
        peer_say_battery(&p);
        poll(NULL, 0, 5);
        all = come(scan, &s) > 3 && come(odom, &o) > 3 && come(transforms, &tf) > 3 &&
              come(battery, &b) > 0;
    }
    assert_true(all);
    ops->close(self);
    peer_workspace_remove(workspace);
    peer_close(&p);
    assert_string_equal(s.type, "sensor_msgs/msg/LaserScan cdr ros2msg");
    assert_non_null(strstr(s.schema, "float32[] ranges\n"));
    assert_non_null(strstr(s.schema, "====\nMSG: std_msgs/Header\n"));
    assert_non_null(strstr(s.schema, "====\nMSG: builtin_interfaces/Time\nint32 sec\n"));
    // Each type that is in it once, itself first.
    assert_null(
        strstr(strstr(o.schema, "MSG: geometry_msgs/Vector3") + 1, "MSG: geometry_msgs/Vector3"));
    assert_int_equal(strncmp(o.schema, "std_msgs/Header header\nstring child_frame_id\n", 45), 0);
    // Little-endian CDR, with what was said in it.
    const topic *const each[] = {&s, &o, &tf, &b};
    for (size_t i = 0; i < 4; i++) {
        assert_memory_equal(each[i]->data, "\0\1\0", 3);
    }
    assert_true(s.size > 4 * 72 && s.size < 4096);
    assert_non_null(memmem(o.data, o.size, "base_link", 10));
    assert_non_null(memmem(tf.data, tf.size, "odom", 5));
}

static void write_empty(dds_entity_t w, const dds_topic_descriptor_t *desc)
{
    void *m = calloc(1, desc->m_size);
    assert_non_null(m);
    assert_int_equal(dds_write(w, m), 0);
    free(m);
}

static dds_entity_t writer(ros2_node *n, const char *name, const char *type,
                           const dds_topic_descriptor_t *desc, bool reliable)
{
    pons_error err = PONS_ERROR_INIT;
    const ros2_qos qos = {.reliable = reliable, .depth = 10};
    const dds_entity_t w = ros2_node_writer(n, "rt", name, type, desc, qos, &err);
    assert_true(w > 0);
    return w;
}

static void test_what_is_not_ours_or_not_known(void **state)
{
    (void)state;
    char workspace[64], name[5][96];
    ros2_node n = {.hashed = false}, other = {.hashed = false};
    pons_error err = PONS_ERROR_INIT;
    topic x;
    const dds_topic_descriptor_t *clock = &rosgraph_msgs_msg_dds__Clock__desc;
    assert_int_equal(ros2_node_open(&n, domain, &err), PONS_OK);
    assert_int_equal(ros2_node_open(&other, domain, &err), PONS_OK);
    snprintf(name[0], sizeof name[0], "%s/time", ns);
    snprintf(name[1], sizeof name[1], "%s/_hidden", ns);
    snprintf(name[2], sizeof name[2], "%sother/time", ns);
    snprintf(name[3], sizeof name[3], "%s/odd", ns);
    dds_entity_t w[5];
    for (int i = 0; i < 4; i++) {
        w[i] = writer(&n, name[i], i == 3 ? "my_msgs::msg::dds_::Odd_" : NULL, clock, true);
    }
    void *self = open_it(workspace);
    for (int i = 0; i < LONG && !(come(name[0], &x) > 0 && was_told("my_msgs/msg/Odd")); i++) {
        for (int k = 0; k < 4; k++) {
            write_empty(w[k], clock);
        }
        poll(NULL, 0, 5);
    }
    assert_true(come(name[0], &x) > 0);
    assert_true(was_told("it is not recorded"));
    assert_int_equal(come(name[1], &x), 0);
    assert_int_equal(come(name[2], &x), 0);
    assert_int_equal(come(name[3], &x), 0);
    // One that offers less than the first, alone from now on; and one with another type, which is told.
    dds_delete(w[0]);
    w[0] = writer(&other, name[0], NULL, clock, false);
    const size_t before = come(name[0], &x);
    for (int i = 0; i < LONG && come(name[0], &x) < before + 3; i++) {
        write_empty(w[0], clock);
        poll(NULL, 0, 5);
    }
    assert_true(come(name[0], &x) >= before + 3);
    ros2_node third = {.hashed = false};
    assert_int_equal(ros2_node_open(&third, domain, &err), PONS_OK);
    w[4] = writer(&third, name[0], NULL, &std_msgs_msg_dds__Header__desc, true);
    for (int i = 0; i < LONG && !was_told("std_msgs/msg/Header too"); i++) {
        poll(NULL, 0, 5);
    }
    assert_true(was_told("std_msgs/msg/Header too, beside rosgraph_msgs/msg/Clock"));
    ops->close(self);
    peer_workspace_remove(workspace);
    ros2_node_close(&third);
    ros2_node_close(&other);
    ros2_node_close(&n);
}

// Looks until Nav2 is there with so many publishers where it should publish.
static pons_topics_network looked_for(const char *workspace, int publishers)
{
    pons_topics_network found = {0};
    pons_error err = PONS_ERROR_INIT;
    for (int i = 0; i < 100 && !(found.nav2 && found.publishers == publishers); i++) {
        assert_int_equal(ops->look(workspace, 200, &found, &err), PONS_OK);
    }
    assert_true(found.nav2);
    assert_int_equal(found.publishers, publishers);
    return found;
}

// Nav2's server is there, and at first nobody publishes the velocity that it should.
static void test_who_is_there(void **state)
{
    (void)state;
    char workspace[64], yaml[128], serves[64], wants[64];
    pons_error err = PONS_ERROR_INIT;
    ros2_node n = {0};
    server s = {0};
    ros2_types *types = peer_types("jazzy");
    snprintf(yaml, sizeof yaml, "domain: %u\nnamespace: %s\n", domain, ns);
    snprintf(serves, sizeof serves, "%s/navigate_to_pose", ns);
    snprintf(wants, sizeof wants, "%s/cmd_vel_nav2", ns);
    peer_workspace(yaml, workspace);
    assert_int_equal(ros2_node_open(&n, domain, &err), PONS_OK);
    server_open(&s, &n, types, serves, "nav2_msgs/action/NavigateToPose");
    const pons_topics_network before = looked_for(workspace, 0);
    assert_string_equal(before.wants, wants);
    assert_int_equal(before.domain, domain);
    assert_true(before.rmw_cyclonedds >= 1);
    assert_int_equal(before.rmw_fastrtps + before.rmw_other, 0);
    writer(&n, wants, NULL, &geometry_msgs_msg_dds__Twist__desc, true);
    looked_for(workspace, 1);
    server_close(&s);
    ros2_node_close(&n);
    ros2_types_destroy(types);
    peer_workspace_remove(workspace);
}

static void test_a_wrong_configuration(void **state)
{
    (void)state;
    char workspace[64];
    void *self = NULL;
    pons_error err = PONS_ERROR_INIT;
    peer_workspace("domain: 4711\n", workspace);
    assert_int_equal(ops->open(&(pons_topics_options){.workspace = workspace}, &self, &err),
                     PONS_EINVAL);
    assert_non_null(strstr(err.source, "ros2.yaml:1"));
    assert_null(self);
    assert_int_equal(ops->look(workspace, 200, &(pons_topics_network){0}, &err), PONS_EINVAL);
    ops->close(NULL);
    peer_workspace_remove(workspace);
}

int main(void)
{
    const void *found = NULL;
    pons_error err = PONS_ERROR_INIT;
    setenv("PONS_SHARE", PONS_SOURCE_DIR, 1);
    unsetenv("AMENT_PREFIX_PATH");
    peer_surroundings(ns, &domain);
    if (pons_module_load("topics", "ros2", &found, &err) < 0) {
        fprintf(stderr, "%s\n", err.message);
        return 1;
    }
    ops = found;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_robot_is_heard),
        cmocka_unit_test(test_what_is_not_ours_or_not_known),
        cmocka_unit_test(test_who_is_there),
        cmocka_unit_test(test_a_wrong_configuration),
    };
    return cmocka_run_group_tests_name("drivers/ros2/topics", tests, NULL, NULL);
}
