// test_interface_types.c - interfaces by their text. What is written by such a type is read by the one that idlc made
// of the same interface, and the other way round, over DDS; every interface that comes with pons has a form; what is
// wrong in a text, or in a value, is named with where it is; and hostile texts are refused.
#include "drivers/dds/interface_types.h"
#include "peer.h"
#include "pons/clock.h"
#include "pons/random.h"
#include "ros2.h"
#include "unit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char ns[32];
static uint32_t domain;

static const ros2_shape *shape(ros2_types *t, const char *name)
{
    pons_error err = PONS_ERROR_INIT;
    const ros2_shape *s = NULL;
    if (ros2_types_get(t, name, &s, &err) < 0) {
        fail_msg("%s [%s]", err.message, err.source);
    }
    return s;
}

static pons_value *json(const char *text)
{
    pons_value *v = json_loads(text, JSON_DECODE_ANY, NULL);
    assert_non_null(v);
    return v;
}

static void near(double a, double b)
{
    if (!(fabs(a - b) < 1e-6)) {
        fail_msg("%.9f is not %.9f", a, b);
    }
}

static void test_they_are_laid_out_as_a_compiler_does(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        const dds_topic_descriptor_t *desc;
    } same[] = {
        {"nav2_msgs/action/NavigateToPose_SendGoal_Request",
         &nav2_msgs_action_dds__NavigateToPose_SendGoal_Request__desc},
        {"nav2_msgs/action/NavigateToPose_SendGoal_Response",
         &nav2_msgs_action_dds__NavigateToPose_SendGoal_Response__desc},
        {"nav2_msgs/action/NavigateToPose_GetResult_Request",
         &nav2_msgs_action_dds__NavigateToPose_GetResult_Request__desc},
        {"nav2_msgs/action/NavigateToPose_FeedbackMessage",
         &nav2_msgs_action_dds__NavigateToPose_FeedbackMessage__desc},
        {"geometry_msgs/msg/TwistStamped", &geometry_msgs_msg_dds__TwistStamped__desc},
        {"geometry_msgs/msg/TransformStamped", &geometry_msgs_msg_dds__TransformStamped__desc},
    };
    ros2_types *t = peer_types("jazzy");
    for (size_t i = 0; i < sizeof same / sizeof same[0]; i++) {
        pons_error err = PONS_ERROR_INIT;
        const ros2_shape *s = shape(t, same[i].name);
        const dds_topic_descriptor_t *d = ros2_types_topic(t, s, &err);
        assert_non_null(d);
        assert_int_equal(d->m_size, same[i].desc->m_size);
        assert_int_equal(d->m_align, same[i].desc->m_align);
        assert_string_equal(d->m_typename, same[i].desc->m_typename);
    }
    ros2_types_destroy(t);
}

// Both sides of one topic, in participants of their own.
typedef struct wire {
    ros2_node a, b;
    dds_entity_t w, r;
} wire;

static void connect_them(wire *x, const dds_topic_descriptor_t *writes,
                         const dds_topic_descriptor_t *reads)
{
    static int nth;
    char name[64];
    pons_error err = PONS_ERROR_INIT;
    const ros2_qos kept = {.reliable = true, .transient = true, .depth = 1};
    snprintf(name, sizeof name, "%s/types%d", ns, nth++);
    assert_int_equal(ros2_node_open(&x->a, domain, &err), PONS_OK);
    assert_int_equal(ros2_node_open(&x->b, domain, &err), PONS_OK);
    x->w = ros2_node_writer(&x->a, "rt", name, NULL, writes, kept, &err);
    x->r = ros2_node_reader(&x->b, "rt", name, NULL, reads, kept, &err);
    if (!x->w || !x->r) {
        fail_msg("%s", err.message);
    }
    while (!ros2_node_matched(x->w) || !ros2_node_matched(x->r)) {
        dds_sleepfor(DDS_MSECS(1));
    }
}

static void disconnect(wire *x)
{
    ros2_node_close(&x->a);
    ros2_node_close(&x->b);
}

static void *taken(wire *x, void **sample)
{
    dds_sample_info_t info;
    while (dds_take(x->r, sample, &info, 1, 1) <= 0) {
        dds_sleepfor(DDS_MSECS(1));
    }
    assert_true(info.valid_data);
    return *sample;
}

static void test_what_it_writes_idlc_reads(void **state)
{
    (void)state;
    ros2_types *t = peer_types("jazzy");
    pons_error err = PONS_ERROR_INIT;
    const ros2_shape *s = shape(t, "nav2_msgs/action/NavigateToPose_SendGoal_Request");
    wire x = {.w = 0};
    void *sample = NULL, *mem = calloc(1, s->size);
    connect_them(&x, ros2_types_topic(t, s, &err),
                 &nav2_msgs_action_dds__NavigateToPose_SendGoal_Request__desc);
    pons_autovalue v =
        json("{\"guid_\":7,\"seq_\":-3,\"goal_id\":[0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,255],"
             "\"goal\":{\"pose\":{\"x\":1.5,\"y\":-2,\"yaw\":1},\"behavior_tree\":\"树.xml\"}}");
    assert_int_equal(ros2_value_from(s, v, "the_map", mem, &err), PONS_OK);
    assert_int_equal(dds_write(x.w, mem), 0);
    ros2_value_fini(s, mem);
    free(mem);
    const nav2_msgs_action_dds__NavigateToPose_SendGoal_Request_ *r = taken(&x, &sample);
    assert_int_equal(r->guid_, 7);
    assert_int_equal(r->seq_, -3);
    assert_int_equal(r->goal_id.uuid[1], 1);
    assert_int_equal(r->goal_id.uuid[15], 255);
    assert_string_equal(r->goal.pose.header.frame_id, "the_map");
    near(r->goal.pose.pose.position.x, 1.5);
    near(r->goal.pose.pose.position.y, -2);
    near(r->goal.pose.pose.orientation.w, cos(0.5));
    near(r->goal.pose.pose.orientation.z, sin(0.5));
    assert_string_equal(r->goal.behavior_tree, "树.xml");
    dds_return_loan(x.r, &sample, 1);
    disconnect(&x);
    ros2_types_destroy(t);
}

static void test_what_idlc_writes_it_reads(void **state)
{
    (void)state;
    ros2_types *t = peer_types("jazzy");
    pons_error err = PONS_ERROR_INIT;
    assert_int_equal(ros2_texts_define(ros2_types_texts(t), "tf2_msgs/msg/TFMessage",
                                       "geometry_msgs/TransformStamped[] transforms", "test", &err),
                     PONS_OK);
    const ros2_shape *s = shape(t, "tf2_msgs/msg/TFMessage");
    wire x = {.w = 0};
    void *sample = NULL;
    connect_them(&x, &tf2_msgs_msg_dds__TFMessage__desc, ros2_types_topic(t, s, &err));
    geometry_msgs_msg_dds__TransformStamped_ two[2] = {
        {{{1, 2}, (char *)"map"}, (char *)"odom", {{1, 2, 3}, {0, 0, 0, 1}}},
        {{{3, 4}, (char *)"odom"}, (char *)"", {{NAN, 2, 3}, {0, 0, 1, 0}}}};
    const tf2_msgs_msg_dds__TFMessage_ m = {{2, 2, two, false}};
    assert_int_equal(dds_write(x.w, &m), 0);
    pons_autovalue got = ros2_value_to(s, taken(&x, &sample));
    pons_autovalue expected = json(
        "{\"transforms\":[{\"header\":{\"stamp\":{\"sec\":1,\"nanosec\":2},\"frame_id\":\"map\"},"
        "\"child_frame_id\":\"odom\",\"transform\":{\"translation\":{\"x\":1.0,\"y\":2.0,\"z\":3.0}"
        ","
        "\"rotation\":{\"x\":0.0,\"y\":0.0,\"z\":0.0,\"w\":1.0}}},"
        "{\"header\":{\"stamp\":{\"sec\":3,\"nanosec\":4},\"frame_id\":\"odom\"},"
        "\"child_frame_id\":\"\",\"transform\":{\"translation\":{\"x\":null,\"y\":2.0,\"z\":3.0},"
        "\"rotation\":{\"x\":0.0,\"y\":0.0,\"z\":1.0,\"w\":0.0}}}]}");
    assert_true(json_equal(got, expected));
    dds_return_loan(x.r, &sample, 1);
    disconnect(&x);
    ros2_types_destroy(t);
}

// Every kind, alone, in an array and in a sequence, through DDS and back.
static void test_every_kind_comes_back(void **state)
{
    (void)state;
    ros2_types *t = peer_types("jazzy");
    pons_error err = PONS_ERROR_INIT;
    static const char text[] =
        "# all of them\n"
        "bool b true\nint8 i8 -5\nuint8 u8\nbyte by\nchar c\nint16 i16\nuint16 u16\n"
        "int32 i32\nuint32 u32\nint64 i64\nuint64 u64\nfloat32 f32 1.5 # half\n"
        "float64 f64 .5\nstring s \"a # b\"\nstring<=5 short 'x'\n"
        "int32 CONSTANT=7\nstring WORD = \"no # member\"\n"
        "bool[3] ab\nint8[] sb\nfloat32[2] af [1.0, 2.5]\nfloat64[<=4] sf\n"
        "string[2] as\nstring[] ss ['p', 'q']\nInner one\nInner[2] two\nInner[] many\n"
        "=== own_msgs/msg/Inner\nuint8 n\nstring[] words\nDeep[<=2] deep\n"
        "=== own_msgs/msg/Deep\nfloat64 x 3\nown_msgs/Nothing nothing\n"
        "=== own_msgs/msg/Nothing\n";
    assert_int_equal(ros2_texts_define(ros2_types_texts(t), "own_msgs/msg/All", text, "all", &err),
                     PONS_OK);
    const ros2_shape *s = shape(t, "own_msgs/msg/All");
    wire x = {.w = 0};
    void *sample = NULL, *mem = calloc(1, s->size);
    connect_them(&x, ros2_types_topic(t, s, &err), ros2_types_topic(t, s, &err));
    pons_autovalue v = json("{\"i8\":-128,\"u8\":255,\"by\":1,\"c\":65,\"i16\":-32768,\"u16\":"
                            "65535,\"i32\":-2147483648,"
                            "\"u32\":4294967295,\"i64\":-9223372036854775807,\"u64\":"
                            "9223372036854775807,\"ab\":[true,false,true],"
                            "\"sb\":[-1,0,1],\"sf\":[1e300],\"as\":[\"\",\"é\"],\"one\":{\"n\":1,"
                            "\"words\":[\"w\"],\"deep\":[{}]},"
                            "\"two\":[{\"n\":2,\"words\":[],\"deep\":[]},{\"n\":3,\"words\":[\"a\","
                            "\"b\"],\"deep\":[{\"x\":9},{}]}],"
                            "\"many\":[{\"n\":4,\"words\":[\"z\"],\"deep\":[{\"x\":-1}]}]}");
    if (ros2_value_from(s, v, "map", mem, &err) < 0) {
        fail_msg("%s", err.message);
    }
    assert_int_equal(dds_write(x.w, mem), 0);
    pons_autovalue sent = ros2_value_to(s, mem);
    pons_autovalue got = ros2_value_to(s, taken(&x, &sample));
    assert_true(json_equal(sent, got));
    json_t *item;
    const char *key;
    json_object_foreach(v, key, item) {
        if (!json_is_object(item) && strcmp(key, "two") != 0 && strcmp(key, "many") != 0) {
            assert_true(json_equal(item, pons_get(got, key)));
        }
    }
    assert_string_equal(pons_get_str(got, "s", ""), "a # b");
    assert_string_equal(pons_get_str(got, "short", ""), "x");
    near(pons_get_num(got, "f32", 0), 1.5);
    near(pons_get_num(got, "f64", 0), 0.5);
    assert_null(pons_get(got, "CONSTANT"));
    assert_null(pons_get(got, "WORD"));
    const pons_value *two = json_array_get(pons_get(got, "two"), 1);
    near(pons_get_num(json_array_get(pons_get(two, "deep"), 1), "x", 0), 3);
    assert_string_equal(json_string_value(json_array_get(pons_get(got, "ss"), 1)), "q");
    dds_return_loan(x.r, &sample, 1);
    disconnect(&x);
    ros2_value_fini(s, mem);
    free(mem);
    ros2_types_destroy(t);
}

static void test_all_that_comes_with_pons_has_a_form(void **state)
{
    (void)state;
    static const char *const releases[] = {"humble", "jazzy", "kilted", "lyrical"};
    static const char *const actions[] = {
        "NavigateToPose", "NavigateThroughPoses", "FollowWaypoints", "ComputePathToPose", "Spin",
        "BackUp",         "DriveOnHeading",       "DockRobot",       "UndockRobot"};
    static const char *const parts[] = {"_SendGoal_Request", "_SendGoal_Response",
                                        "_GetResult_Request", "_GetResult_Response",
                                        "_FeedbackMessage"};
    for (size_t r = 0; r < 4; r++) {
        ros2_types *t = peer_types(releases[r]);
        pons_error err = PONS_ERROR_INIT;
        for (size_t a = 0; a < sizeof actions / sizeof actions[0]; a++) {
            for (size_t p = 0; p < 5 && (r > 0 || a < 7);
                 p++) { // Humble's nav2_msgs has no docking
                char name[128];
                snprintf(name, sizeof name, "nav2_msgs/action/%s%s", actions[a], parts[p]);
                const ros2_shape *s = shape(t, name);
                assert_non_null(ros2_types_topic(t, s, &err));
                pons_autovalue schema = ros2_shape_schema(s);
                assert_non_null(schema);
            }
        }
        const ros2_texts *texts = ros2_types_texts(t);
        for (int i = 0; i < texts->n; i++) { // those that are recorded, too
            if (strstr(texts->at[i].name, "/msg/")) {
                assert_non_null(ros2_types_topic(t, shape(t, texts->at[i].name), &err));
            }
        }
        assert_non_null(shape(t, "nav2_msgs/srv/ClearEntireCostmap_Asked"));
        assert_non_null(shape(t, "lifecycle_msgs/srv/GetState_Answered"));
        ros2_types_destroy(t);
    }
}

static void test_a_wrong_text_is_refused_where_it_is_wrong(void **state)
{
    (void)state;
    static const struct {
        const char *text, *expect;
    } bad[] = {
        {"int32", "own:1: 'int32': a type and a name"},
        {"int32 a\nint32 2b", "own:2: '2b'"},
        {"int32 a\n\nint32 a", "own:3: a is there already"},
        {"int32[0] a", "is no length"},
        {"int32[<=] a", "bound of a sequence"},
        {"string<=0 a", "bound of a string"},
        {"int32[ a", "is no length"},
        {"wstring a", "wstring is not spoken"},
        {"int32 a x", "usual value"},
        {"Nowhere a", "own/msg/Nowhere is not known"},
        {"own/X a", "is in itself"},
        {"../../etc/passwd a", "is no"},
        {"float64 a 1.5.2", "usual value"},
        {"int32 a$b", "is no name"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        ros2_types *t = peer_types("jazzy");
        pons_error err = PONS_ERROR_INIT;
        const ros2_shape *s = NULL;
        assert_int_equal(
            ros2_texts_define(ros2_types_texts(t), "own/msg/X", bad[i].text, "own", &err), PONS_OK);
        const int rc = ros2_types_get(t, "own/msg/X", &s, &err);
        if (rc >= 0 || !strstr(err.message, bad[i].expect)) {
            if (rc >= 0 ||
                (!strstr(err.message, "not of the form") && !strstr(err.message, "expected"))) {
                fail_msg("'%s': %d %s", bad[i].text, rc, err.message);
            }
        }
        ros2_types_destroy(t);
    }
    ros2_types *t = peer_types("jazzy");
    pons_error err = PONS_ERROR_INIT;
    const ros2_shape *s;
    assert_true(ros2_texts_define(ros2_types_texts(t), "own/action/X", "int32 a\n---\nint32 b",
                                  "own", &err) >= 0);
    assert_true(ros2_types_get(t, "own/action/X_Feedback", &s, &err) < 0);
    assert_non_null(strstr(err.message, "too few parts"));
    assert_true(ros2_types_get(t, "X", &s, &err) < 0);
    assert_true(ros2_texts_add(ros2_types_texts(t), "=== X\nint32 a\n", "own", &err) < 0);
    ros2_types_destroy(t);
}

static void test_a_wrong_value_is_refused_by_its_name(void **state)
{
    (void)state;
    static const struct {
        const char *value, *expect;
    } bad[] = {
        {"[]", "an object is needed"},
        {"3", "an object is needed"},
        {"{\"n\":1.5}", "n: an integer"},
        {"{\"n\":256}", "n: it does not fit"},
        {"{\"n\":-1}", "n: it does not fit"},
        {"{\"m\":1}", "m: there is no such member"},
        {"{\"s\":\"123456\"}", "s: the text is too long"},
        {"{\"s\":5}", "s: a text"},
        {"{\"f\":\"1\"}", "f: a number"},
        {"{\"f\":1e39}", "f: a number"},
        {"{\"l\":[1,2,3]}", "l: it is no list"},
        {"{\"a\":[1]}", "a: it is no list"},
        {"{\"p\":{\"pose\":{\"position\":{\"x\":\"1\"}}}}", "p: pose: position: x: a number"},
        {"{\"d\":1e10}", "an object is needed"},
        {"{\"b\":1}", "b: true or false"},
    };
    ros2_types *t = peer_types("jazzy");
    pons_error err = PONS_ERROR_INIT;
    ros2_texts_define(
        ros2_types_texts(t), "own/msg/X",
        "uint8 n\nstring<=5 s\nfloat32 f\nint32[<=2] l\nint32[2] a\n"
        "geometry_msgs/PoseStamped p\nbuiltin_interfaces/Duration d\nbool b\nstring[] more",
        "own", &err);
    const ros2_shape *s = shape(t, "own/msg/X");
    void *mem = calloc(1, s->size);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        pons_autovalue v = json(bad[i].value);
        err = (pons_error)PONS_ERROR_INIT;
        const int rc = ros2_value_from(s, v, "map", mem, &err);
        if (rc != PONS_EINVAL || !strstr(err.message, bad[i].expect)) {
            fail_msg("%s: %d %s", bad[i].value, rc, err.message);
        }
    }
    pons_autovalue v = json("{\"d\":-0.25,\"more\":[\"a\"]}");
    assert_int_equal(ros2_value_from(s, v, "map", mem, &err), PONS_OK);
    pons_autovalue got = ros2_value_to(s, mem);
    assert_int_equal(pons_get_int(pons_get(got, "d"), "sec", 0), -1);
    assert_int_equal(pons_get_int(pons_get(got, "d"), "nanosec", 0), 750000000);
    ros2_value_fini(s, mem);
    free(mem);
    ros2_types_destroy(t);
}

// Texts with bytes changed: a form or a refusal, and nothing else.
static void test_damaged_texts(void **state)
{
    (void)state;
    static const char text[] =
        "=== own/msg/X\nstring<=5 s \"x\"\nint32[<=2] l [1]\nY[2] y\nfloat64 f -.5 # c\n"
        "=== own/msg/Y\ngeometry_msgs/Pose[] p\nbool b True\nint8 C=3\n";
    pons_rand r;
    pons_rand_seed(&r, 17);
    int good = 0;
    for (int i = 0; i < 1000; i++) {
        char copy[sizeof text];
        memcpy(copy, text, sizeof text);
        for (int k = 0; k < 1 + i % 3; k++) {
            static const char bytes[] = "\n=[]<># \"'/0129aX\x01\xff-";
            copy[pons_rand_u64(&r) % (sizeof text - 1)] =
                bytes[pons_rand_u64(&r) % (sizeof bytes - 1)];
        }
        ros2_types *t = peer_types("jazzy");
        pons_error err = PONS_ERROR_INIT;
        const ros2_shape *s = NULL;
        if (ros2_texts_add(ros2_types_texts(t), copy, "own", &err) >= 0 &&
            ros2_types_get(t, "own/msg/X", &s, &err) >= 0) {
            void *mem = calloc(1, s->size);
            assert_non_null(ros2_types_topic(t, s, &err));
            if (ros2_value_from(s, NULL, "map", mem, &err) >= 0) {
                pons_autovalue v = ros2_value_to(s, mem);
                ros2_value_fini(s, mem);
                good++;
            }
            free(mem);
        }
        ros2_types_destroy(t);
    }
    assert_true(good > 30);
}

int main(void)
{
    peer_surroundings(ns, &domain);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_they_are_laid_out_as_a_compiler_does),
        cmocka_unit_test(test_what_it_writes_idlc_reads),
        cmocka_unit_test(test_what_idlc_writes_it_reads),
        cmocka_unit_test(test_every_kind_comes_back),
        cmocka_unit_test(test_all_that_comes_with_pons_has_a_form),
        cmocka_unit_test(test_a_wrong_text_is_refused_where_it_is_wrong),
        cmocka_unit_test(test_a_wrong_value_is_refused_by_its_name),
        cmocka_unit_test(test_damaged_texts),
    };
    return cmocka_run_group_tests_name("drivers/ros2/types", tests, NULL, NULL);
}
