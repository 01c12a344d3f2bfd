// test_camera.c - cameras of a ROS 2 robot (ext/camera.h): a picture of every encoding becomes the same pixels; its view is
// that of its own stamp, with the camera on a link that turns; what cannot be used is a line, once, and nobody waits long
// for it. A thread plays the robot: it says its transforms, its calibration and the newest picture a hundred times a
// second, so that whoever asks late gets what is new.
#include "peer.h"
#include "pons/clock.h"
#include "pons/ext/camera.h"
#include "pons/module.h"
#include "ros2.h"
#include "unit.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { WIDTH = 6, HEIGHT = 4, PIXELS = WIDTH * HEIGHT, BYTES = 512 };
#define TURN_RADPS 1.0
#define SOON_S     0.2                    // in which others are found
#define DELAY_NS   (300 * PONS_NS_PER_MS) // of a picture against the newest transform

typedef sensor_msgs_msg_dds__Image_ image_msg;
typedef sensor_msgs_msg_dds__CameraInfo_ info_msg;

static const pons_camera_ops *ops; // from the module
static char ns[32];
static uint32_t domain;

typedef struct scene { // what is said from now on; the data of messages are the scene's own
    image_msg image, depth;
    uint8_t pixels[BYTES], metres[BYTES];
    info_msg info;
    double d[14];
    int64_t stamp_ns;       // of pictures; -1: DELAY_NS ago
    int64_t depth_after_ns; // its stamp after the picture's
    int64_t tf_until_ns;    // the last transform's; INT64_MAX: it goes on
    bool quiet;             // no pictures
} scene;

static struct {
    ros2_node node;
    dds_entity_t image, depth, info, compressed, tf, tf_static;
    pthread_t thread;
    pthread_mutex_t mtx;
    scene s;   // [mtx]
    bool wall; // stamps are of this machine's clock; else they begin at 1000 s
    bool quit; // [mtx]
    bool plays;
    _Atomic int64_t begun; // host
} robot = {.mtx = PTHREAD_MUTEX_INITIALIZER};

static int64_t ros_now(void)
{
    return robot.wall ? peer_clock_ns(CLOCK_REALTIME)
                      : 1000 * PONS_NS_PER_S + peer_clock_ns(CLOCK_MONOTONIC) - robot.begun;
}

// The pan link's, at that stamp.
static double yaw_at(int64_t stamp_ns)
{
    return TURN_RADPS * (double)(stamp_ns - 1000 * PONS_NS_PER_S) * 1e-9;
}

static builtin_interfaces_msg_dds__Time_ time_of(int64_t at)
{
    return (builtin_interfaces_msg_dds__Time_){(int32_t)(at / PONS_NS_PER_S),
                                               (uint32_t)(at % PONS_NS_PER_S)};
}

static void say_transform(dds_entity_t w, int64_t stamp, const char *parent, const char *child,
                          const double p[3], const double q[4])
{
    geometry_msgs_msg_dds__TransformStamped_ t = {
        .header = {time_of(stamp), (char *)(uintptr_t)parent},
        .child_frame_id = (char *)(uintptr_t)child,
        .transform = {{p[0], p[1], p[2]}, {q[0], q[1], q[2], q[3]}}};
    const tf2_msgs_msg_dds__TFMessage_ m = {{1, 1, &t, false}};
    assert_int_equal(dds_write(w, &m), 0);
}

static void say_all(const scene *s)
{
    const int64_t now = ros_now(), tf = now < s->tf_until_ns ? now : s->tf_until_ns;
    const int64_t stamp = s->stamp_ns < 0 ? now - DELAY_NS : s->stamp_ns;
    const double yaw = yaw_at(tf);
    say_transform(robot.tf, tf, "base_link", "pan", (double[3]){0.1, 0.0, 0.5},
                  (double[4]){0, 0, sin(0.5 * yaw), cos(0.5 * yaw)});
    image_msg m = s->image, depth = s->depth;
    info_msg info = s->info;
    m.header.stamp = info.header.stamp = time_of(stamp);
    depth.header.stamp = time_of(stamp + s->depth_after_ns);
    m.data._buffer = (uint8_t *)(uintptr_t)s->pixels;
    depth.data._buffer = (uint8_t *)(uintptr_t)s->metres;
    info.d._buffer = (double *)(uintptr_t)s->d;
    assert_int_equal(dds_write(robot.info, &info), 0);
    if (s->quiet) {
        return;
    }
    if (depth.data._length > 0) {
        assert_int_equal(dds_write(robot.depth, &depth), 0);
    }
    const sensor_msgs_msg_dds__CompressedImage_ small = {
        m.header,
        (char *)(uintptr_t) "png",
        {m.data._maximum, m.data._length, m.data._buffer, false}};
    assert_int_equal(dds_write(robot.compressed, &small), 0);
    assert_int_equal(dds_write(robot.image, &m), 0);
}

static void *play(void *user)
{
    (void)user;
    for (bool quit = false; !quit;) {
        pthread_mutex_lock(&robot.mtx);
        scene s = robot.s;
        quit = robot.quit;
        pthread_mutex_unlock(&robot.mtx);
        say_all(&s);
        dds_sleepfor(DDS_MSECS(10));
    }
    return NULL;
}

static void set_scene(const scene *s)
{
    pthread_mutex_lock(&robot.mtx);
    robot.s = *s;
    pthread_mutex_unlock(&robot.mtx);
}

static void set_image(image_msg *m, uint8_t *to, const char *encoding, uint32_t step,
                      const uint8_t *bytes)
{
    *m = (image_msg){.header.frame_id = (char *)(uintptr_t) "optical",
                     .width = WIDTH,
                     .height = HEIGHT,
                     .encoding = (char *)(uintptr_t)encoding,
                     .step = step};
    m->data._length = m->data._maximum = step * HEIGHT;
    memcpy(to, bytes, step * HEIGHT);
}

// Pixel i of the picture that every encoding shows.
static void colour(int i, uint8_t ret[3])
{
    ret[0] = (uint8_t)(10 * i), ret[1] = (uint8_t)(255 - 10 * i), ret[2] = (uint8_t)(3 * i);
}

static scene plain(void)
{
    scene s = {.stamp_ns = -1, .tf_until_ns = INT64_MAX};
    uint8_t bytes[BYTES] = {0};
    for (int i = 0; i < PIXELS; i++) {
        colour(i, bytes + 3 * i);
    }
    set_image(&s.image, s.pixels, "rgb8", 3 * WIDTH, bytes);
    s.depth.header.frame_id = s.depth.encoding = (char *)(uintptr_t) "";
    s.info = (info_msg){.header.frame_id = (char *)(uintptr_t) "optical",
                        .width = WIDTH,
                        .height = HEIGHT,
                        .distortion_model = (char *)(uintptr_t) "plumb_bob",
                        .k = {5.0, 0, 2.5, 0, 4.0, 1.5, 0, 0, 1},
                        .p = {6.0, 0, 2.0, 0, 0, 6.5, 1.0, 0, 0, 0, 1, 0}};
    return s;
}

static dds_entity_t writer(const char *name, const dds_topic_descriptor_t *desc, ros2_qos qos)
{
    char full[96];
    pons_error err = PONS_ERROR_INIT;
    snprintf(full, sizeof full, "%s%s", ns, name);
    const dds_entity_t w = ros2_node_writer(&robot.node, "rt", full, NULL, desc, qos, &err);
    assert_true(w > 0);
    return w;
}

static void begin_robot(bool reliable, bool wall)
{
    const double forward[4] = {-0.5, 0.5, -0.5, 0.5}; // ROS's optical frame in a link
    const ros2_qos said = {.reliable = reliable, .depth = 1},
                   kept = {.reliable = true, .transient = true, .depth = 1};
    const scene first = plain();
    robot.begun = peer_clock_ns(CLOCK_MONOTONIC);
    robot.wall = wall;
    robot.quit = false;
    peer_stay(&robot.node, domain);
    robot.image = writer("/camera/image_raw", &sensor_msgs_msg_dds__Image__desc, said);
    robot.compressed =
        writer("/camera/small/compressed", &sensor_msgs_msg_dds__CompressedImage__desc, said);
    robot.depth = writer("/camera/depth", &sensor_msgs_msg_dds__Image__desc, said);
    robot.info = writer("/camera/info", &sensor_msgs_msg_dds__CameraInfo__desc, said);
    robot.tf = writer("/tf", &tf2_msgs_msg_dds__TFMessage__desc,
                      (ros2_qos){.reliable = true, .depth = 100});
    robot.tf_static = writer("/tf_static", &tf2_msgs_msg_dds__TFMessage__desc, kept);
    say_transform(robot.tf_static, 1, "pan", "optical", (double[3]){0.2, 0.0, 0.0}, forward);
    set_scene(&first);
    robot.plays = pthread_create(&robot.thread, NULL, play, NULL) == 0;
    assert_true(robot.plays);
}

static int end_robot(void **state)
{
    (void)state;
    if (!robot.plays) {
        return 0;
    }
    robot.plays = false;
    pthread_mutex_lock(&robot.mtx);
    robot.quit = true;
    pthread_mutex_unlock(&robot.mtx);
    pthread_join(robot.thread, NULL);
    ros2_node_close(&robot.node);
    return 0;
}

static int open_camera(const char *cameras, const char *more, bool depth, bool view, void **ret,
                       pons_error *err)
{
    char yaml[640], workspace[64];
    snprintf(yaml, sizeof yaml,
             "domain: %u\nnamespace: %s\nuse_sim_time: %s\ntopics: {tf: tf, tf_static: tf_static}\n"
             "limits: {discovery_s: %g}\n%scameras:\n  front: {%s}\n",
             domain, ns, robot.wall ? "false" : "true", SOON_S, more, cameras);
    peer_workspace(yaml, workspace);
    const pons_camera_options o = {
        .workspace = workspace, .camera = "front", .depth = depth, .view = view};
    const int rc = ops->open(&o, ret, err);
    peer_workspace_remove(workspace);
    return rc;
}

static void *must_open(const char *cameras, const char *more, bool depth, bool view)
{
    void *camera = NULL;
    pons_error err = PONS_ERROR_INIT;
    if (open_camera(cameras, more, depth, view, &camera, &err) < 0) {
        fail_msg("%s [%s]", err.message, err.source);
    }
    return camera;
}

static void clear(pons_camera_picture *p)
{
    free(p->raw.rgb);
    free(p->raw.depth);
    *p = (pons_camera_picture){0};
}

// The next picture of what is said now: of no scene before.
static void must_take(void *camera, pons_camera_picture *ret)
{
    const int64_t now = ros_now() - DELAY_NS;
    for (int i = 0; i < 1000; i++) {
        pons_error err = PONS_ERROR_INIT;
        const int rc = ops->next(camera, ret, &err);
        if (rc < 0) {
            fail_msg("%s", err.message);
        }
        const int64_t off =
            robot.wall ? peer_clock_ns(CLOCK_REALTIME) - peer_clock_ns(CLOCK_MONOTONIC) : 0;
        if (rc > 0 && ret->raw.stamp_ns + off > now + 30 * PONS_NS_PER_MS) {
            return;
        }
        if (rc > 0) {
            clear(ret);
        }
    }
    fail_msg("no picture of %lld", (long long)now);
}

// One line, and no second one of it; the pictures before the trouble are passed over.
static void must_say(void *camera, const char *says)
{
    pons_camera_picture p;
    pons_error err = PONS_ERROR_INIT;
    int rc = 1;
    for (int i = 0; rc >= 0 && i < 1000; i++) {
        rc = ops->next(camera, &p, &err);
        if (rc > 0) {
            clear(&p);
        }
    }
    if (rc >= 0 || !strstr(err.message, says)) {
        fail_msg("'%s' is not '%s'", err.message, says);
    }
    assert_null(strchr(err.message, '\n'));
    rc = ops->next(camera, &p, &err);
    if (rc != 0) {
        fail_msg("%d, '%s', after '%s'", rc, err.message, says);
    }
}

// ---- pixels -------------------------------------------------------------------------------------

static void must_show(const pons_camera_picture *p, bool grey)
{
    assert_int_equal(p->raw.width, WIDTH);
    assert_int_equal(p->raw.height, HEIGHT);
    for (int i = 0; i < PIXELS; i++) {
        uint8_t is[3];
        colour(i, is);
        if (grey) {
            is[1] = is[2] = is[0];
        }
        assert_memory_equal(p->raw.rgb + 3 * i, is, 3);
    }
}

static void test_every_encoding_is_the_same_picture(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        uint32_t bytes, pad; // of a pixel; behind a row
        uint8_t at[3];       // where red, green and blue go
    } all[] = {{"rgb8", 3, 0, {0, 1, 2}},
               {"bgr8", 3, 5, {2, 1, 0}},
               {"rgba8", 4, 0, {0, 1, 2}},
               {"bgra8", 4, 4, {2, 1, 0}},
               {"mono8", 1, 2, {0, 0, 0}}};
    begin_robot(false, false);
    void *camera = must_open("image: camera/image_raw", "", false, false);
    for (size_t k = 0; k < sizeof all / sizeof all[0]; k++) {
        const uint32_t step = all[k].bytes * WIDTH + all[k].pad;
        uint8_t bytes[BYTES] = {0};
        pons_camera_picture p;
        for (int i = 0; i < PIXELS; i++) {
            uint8_t is[3],
                *to = bytes + (uint32_t)(i / WIDTH) * step + all[k].bytes * (uint32_t)(i % WIDTH);
            colour(i, is);
            for (int c = 2; c >= 0; c--) {
                to[all[k].at[c]] = is[c];
            }
        }
        scene s = plain();
        set_image(&s.image, s.pixels, all[k].name, step, bytes);
        set_scene(&s);
        must_take(camera, &p);
        must_show(&p, all[k].bytes == 1);
        assert_null(p.raw.depth);
        assert_false(p.view.placed);
        clear(&p);
    }
    ops->close(camera);
}

// A depth of row-major metres: 0.5 + i / 8 but for the first four pixels, which are none.
static void put_depth(scene *s, const char *encoding, bool bigendian)
{
    const float none[] = {0.0F, NAN, INFINITY, -1.0F};
    const bool whole = strcmp(encoding, "16UC1") == 0;
    const uint32_t each = whole ? 2 : 4;
    uint8_t bytes[BYTES];
    for (uint32_t i = 0; i < PIXELS; i++) {
        const float z = i < 4 ? none[i] : 0.5F + (float)i / 8.0F;
        uint32_t bits = i < 4 ? 0 : (uint32_t)lround(1000.0 * (double)z);
        if (!whole) {
            memcpy(&bits, &z, sizeof bits);
        }
        for (uint32_t b = 0; b < each; b++) {
            bytes[each * i + b] = (uint8_t)(bits >> 8 * (bigendian ? each - 1 - b : b));
        }
    }
    set_image(&s->depth, s->metres, encoding, each * WIDTH, bytes);
    s->depth.is_bigendian = bigendian;
}

static void test_depth_comes_with_its_picture(void **state)
{
    (void)state;
    begin_robot(true, false);
    void *camera = must_open("image: camera/image_raw, depth: camera/depth", "", true, false);
    pons_camera_picture p;
    for (int k = 0; k < 4; k++) {
        scene s = plain();
        put_depth(&s, k % 2 ? "32FC1" : "16UC1", k / 2 == 1);
        s.depth_after_ns = k * PONS_NS_PER_MS;
        set_scene(&s);
        must_take(camera, &p);
        must_show(&p, false);
        for (int i = 0; i < PIXELS; i++) {
            const float z = p.raw.depth[i];
            assert_true(i < 4 ? isinf(z) && z > 0 : fabsf(z - 0.5F - (float)i / 8.0F) < 6e-4F);
        }
        clear(&p);
    }
    // Of another moment, of another size, without a number, and of colours.
    scene s = plain();
    put_depth(&s, "32FC1", false);
    s.depth_after_ns = 100 * PONS_NS_PER_S;
    set_scene(&s);
    must_say(camera, "no depth has the stamp of a picture");
    s.depth_after_ns = 0;
    s.depth.height = HEIGHT / 2;
    s.depth.step = 8 * WIDTH;
    set_scene(&s);
    must_say(camera, "6 × 2 pixels are not aligned with a picture of 6 × 4");
    s = plain();
    set_image(&s.depth, s.metres, "rgb8", 3 * WIDTH, s.pixels);
    set_scene(&s);
    must_say(camera, "its encoding 'rgb8' is not read, only 16UC1 and 32FC1");
    put_depth(&s, "32FC1", false);
    s.depth_after_ns = 0;
    memset(s.metres, 0xff, sizeof s.metres); // NaN
    set_scene(&s);
    ops->close(camera); // silence of a kind that was said
    camera = must_open("image: camera/image_raw, depth: camera/depth", "", true, false);
    must_say(camera, "it has no distance that is a number");
    ops->close(camera);
}

// ---- the view -----------------------------------------------------------------------------------

// The base's frame seen from the link at that yaw: eye and the axes' first column and last.
static void must_see_from(const pons_camera_view *v, double yaw)
{
    const double c = cos(yaw), s = sin(yaw);
    assert_true(v->placed);
    const double eye[3] = {0.1 + 0.2 * c, 0.2 * s, 0.5};
    const double axes[9] = {s, 0, c, -c, 0, s, 0, -1, 0}; // right, down, ahead
    for (int i = 0; i < 3; i++) {
        assert_true(fabs(v->eye[i] - eye[i]) < 1e-3);
    }
    for (int i = 0; i < 9; i++) {
        assert_true(fabs(v->axes[i] - axes[i]) < 2e-3);
    }
}

static void test_the_view_is_of_the_pictures_stamp(void **state)
{
    (void)state;
    begin_robot(false, false);
    void *camera = must_open("image: camera/image_raw, info: camera/info", "", false, true);
    pons_camera_picture p;
    for (int i = 0; i < 5; i++) {
        must_take(camera, &p);
        must_see_from(&p.view, yaw_at(p.raw.stamp_ns)); // DELAY_NS ago: that of now is 0.3 rad off
        assert_true(p.view.calibrated);
        assert_true(fabs(p.view.lens.fx - 5.0) < 1e-9 && fabs(p.view.lens.cx - 3.0) < 1e-9 &&
                    fabs(p.view.lens.fy - 4.0) < 1e-9 && fabs(p.view.lens.cy - 2.0) < 1e-9);
        clear(&p);
    }
    // Transforms that come no more: a picture waits, is left out, and counted; then they come again.
    scene s = plain();
    s.tf_until_ns = ros_now();
    set_scene(&s);
    must_say(camera, "/tf does not say where pan was at that time; it is left out");
    s.tf_until_ns = INT64_MAX;
    set_scene(&s);
    must_take(camera, &p);
    must_see_from(&p.view, yaw_at(p.raw.stamp_ns));
    clear(&p);
    robot.begun += 500 * PONS_NS_PER_S; // a simulator begins anew
    must_take(camera, &p);
    must_see_from(&p.view, yaw_at(p.raw.stamp_ns));
    clear(&p);
    // A frame that nobody knows, a camera that was never calibrated.
    s.image.header.frame_id = (char *)(uintptr_t) "nowhere";
    set_scene(&s);
    ops->close(camera);
    camera = must_open("image: camera/image_raw, info: camera/info", "", false, true);
    must_say(camera, "no frame nowhere is in /tf");
    ops->close(camera);
    s = plain();
    s.info.k[0] = s.info.k[4] = 0.0;
    set_scene(&s);
    camera = must_open("image: camera/image_raw, info: camera/info", "", false, true);
    must_say(camera, "the camera is not calibrated: K has no focal length");
    ops->close(camera);
}

// The same by this machine's clock: the stamp is the body's, its monotonic time.
static void test_stamps_of_this_machine(void **state)
{
    (void)state;
    begin_robot(true, true);
    void *camera = must_open("image: camera/image_raw", "qos: {cameras: {reliability: reliable}}\n",
                             false, true);
    pons_camera_picture p;
    must_take(camera, &p);
    const int64_t age = peer_clock_ns(CLOCK_MONOTONIC) - p.raw.stamp_ns;
    assert_true(age >= DELAY_NS && age < 60 * PONS_NS_PER_S);
    assert_false(p.view.calibrated);
    assert_true(p.view.placed);
    clear(&p);
    scene s = plain();
    s.stamp_ns = 1000 * PONS_NS_PER_S;
    set_scene(&s);
    must_say(camera, "its stamps are not by this machine's clock");
    ops->close(camera);
    s.stamp_ns = 0;
    set_scene(&s);
    camera = must_open("image: camera/image_raw", "", false, false);
    must_say(camera, "/camera/image_raw: its stamp is zero");
    ops->close(camera);
}

// ---- lenses -------------------------------------------------------------------------------------

static void bend(const double *d, double x, double y, double ret[2])
{
    const double r2 = x * x + y * y;
    const double f =
        (1 + r2 * (d[0] + r2 * (d[1] + r2 * d[4]))) / (1 + r2 * (d[5] + r2 * (d[6] + r2 * d[7])));
    ret[0] = f * x + 2 * d[2] * x * y + d[3] * (r2 + 2 * x * x);
    ret[1] = f * y + d[2] * (r2 + 2 * y * y) + 2 * d[3] * x * y;
}

static void test_every_model_of_a_lens(void **state)
{
    (void)state;
    static const struct {
        const char *model;
        uint32_t n;
        double d[14];
        const char *why; // NULL: it can be used
    } all[] = {
        {"plumb_bob", 5, {-0.05, 0.06, 0.001, -0.002, 0.01}, NULL},
        {"rational_polynomial", 8, {8.1, 2.5, 1e-4, -2e-4, 0.02, 8.4, 4.6, 0.3}, NULL},
        {"rational_polynomial", 14, {0.1, 0, 0, 0, 0, 0.05, 0, 0, 0.01}, "is left out"},
        {"equidistant", 4, {0.01, -0.002, 0, 0}, "its distortion (equidistant, 4 numbers)"},
        {"ours", 3, {0.1, 0.2, 0.3}, "its distortion (ours, 3 numbers) is left out"},
    };
    begin_robot(false, false);
    void *camera = must_open("image: camera/image_raw, info: camera/info", "", false, true);
    for (size_t k = 0; k < sizeof all / sizeof all[0]; k++) {
        pons_camera_picture p;
        scene s = plain(); // of a sensor of 640 × 480, of which the picture is a hundredth
        s.info.width = 640, s.info.height = 480;
        memcpy(s.info.k, (double[9]){500, 0, 319.5, 0, 500, 239.5, 0, 0, 1}, sizeof s.info.k);
        s.info.distortion_model = (char *)(uintptr_t)all[k].model;
        memcpy(s.d, all[k].d, sizeof s.d);
        s.info.d._length = s.info.d._maximum = all[k].n;
        set_scene(&s);
        must_take(camera, &p);
        assert_true(fabs(p.view.lens.fx - 500.0 * WIDTH / 640) < 1e-9);
        assert_true(fabs(p.view.lens.cy - 0.5 * HEIGHT) < 1e-9);
        for (double x = -0.6; all[k].why == NULL && x <= 0.6; x += 0.2) {
            double at[2], ray[2];
            bend(all[k].d, x, 0.3, at);
            pons_lens_ray(&p.view.lens, p.view.lens.cx + p.view.lens.fx * at[0],
                          p.view.lens.cy + p.view.lens.fy * at[1], ray);
            assert_true(hypot(ray[0] - x, ray[1] - 0.3) < 2.0 / 500); // of the sensor's pixels
        }
        if (all[k].why) {
            assert_non_null(strstr(p.view.why, all[k].why));
            assert_true(p.view.lens.distortion[0] == 0.0);
        } else {
            assert_string_equal(p.view.why, "");
        }
        clear(&p);
    }
    ops->close(camera);
}

// ---- what is no picture -------------------------------------------------------------------------

static void test_what_is_no_picture_is_a_line(void **state)
{
    (void)state;
    begin_robot(false, false);
    void *camera = must_open("image: camera/image_raw", "", false, false);
    pons_camera_picture p;
    must_take(camera, &p);
    clear(&p);
    scene s = plain();
    s.image.encoding = (char *)(uintptr_t) "bayer_rggb8";
    set_scene(&s);
    must_say(camera, "its encoding 'bayer_rggb8' is not read");
    s = plain();
    s.image.data._length--;
    set_scene(&s);
    must_say(camera, "6 × 4 pixels in rows of 18 bytes are not 71 bytes");
    s = plain();
    s.stamp_ns = ros_now();
    set_scene(&s);
    must_say(camera, "its stamp stays the same");
    ops->close(camera);
    s = plain();
    s.image.width = s.image.height = 70000;
    s.image.step = 210000;
    set_scene(&s);
    camera = must_open("image: camera/image_raw", "", false, false);
    must_say(camera, "a picture of 70000 × 70000 pixels, more than 50 million");
    s = plain(); // and goes on
    set_scene(&s);
    must_take(camera, &p);
    must_show(&p, false);
    clear(&p);
    ops->close(camera);
    camera = must_open("image: camera/small/compressed", "", false, false);
    must_say(camera, "/camera/small/compressed: it is neither a JPEG nor a PNG");
    ops->close(camera);
    camera = must_open("image: camera/info", "", false, false);
    must_say(camera, "is sensor_msgs/msg/CameraInfo there, sensor_msgs/msg/Image is needed");
    ops->close(camera);
}

// A PNG of one red pixel.
static void test_a_compressed_picture(void **state)
{
    (void)state;
    static const uint8_t png[] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n', 0,    0,    0,    13,
                                  'I',  'H', 'D', 'R', 0,    0,    0,    1,    0,    0,    0,    1,
                                  8,    2,   0,   0,   0,    0x90, 0x77, 0x53, 0xde, 0,    0,    0,
                                  12,   'I', 'D', 'A', 'T',  0x78, 0x9c, 0x63, 0xf8, 0xcf, 0xc0, 0,
                                  0,    3,   1,   1,   0,    0xc9, 0xfe, 0x92, 0xef, 0,    0,    0,
                                  0,    'I', 'E', 'N', 'D',  0xae, 0x42, 0x60, 0x82};
    begin_robot(false, false);
    scene s = plain();
    memcpy(s.pixels, png, sizeof png);
    s.image.data._length = s.image.data._maximum = sizeof png;
    set_scene(&s);
    void *camera = must_open("image: camera/small/compressed, info: camera/info", "", false, true);
    pons_camera_picture p;
    must_take(camera, &p);
    assert_int_equal(p.raw.width, 1);
    assert_memory_equal(p.raw.rgb, "\xff\0\0", 3);
    must_see_from(&p.view, yaw_at(p.raw.stamp_ns));
    assert_true(fabs(p.view.lens.fx - 5.0 / WIDTH) < 1e-9); // of that size
    clear(&p);
    ops->close(camera);
}

static void test_nobody_is_there(void **state)
{
    (void)state;
    robot.wall = false;
    void *camera = must_open("image: camera/image_raw", "", false, false);
    must_say(camera, "/camera/image_raw: nobody publishes it");
    ops->close(camera);
}

static void test_a_wrong_configuration(void **state)
{
    (void)state;
    static const struct {
        const char *cameras;
        int rc;
        const char *says, *source;
    } all[] = {
        {"info: x", PONS_EINVAL, "image", "ros2.yaml:7"},
        {"image: 'a b'", PONS_EINVAL, "", "ros2.yaml:7"},
        {"image: x, depht: y", PONS_EINVAL, "depht", "ros2.yaml:7"},
        {"image: x}\n  back: {image: y", PONS_ENOTFOUND, "camera front has no depth", ""},
        {"image: x, depth: camera/depth/compressedDepth", PONS_EINVAL, "depth", "ros2.yaml:7"},
    };
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        void *camera = NULL;
        pons_error err = PONS_ERROR_INIT;
        assert_int_equal(open_camera(all[i].cameras, "", true, false, &camera, &err), all[i].rc);
        assert_non_null(strstr(err.message, all[i].says));
        assert_non_null(strstr(err.source, all[i].source));
        assert_null(camera);
    }
    char workspace[64];
    void *camera = NULL;
    pons_error err = PONS_ERROR_INIT;
    peer_workspace("distro: jazzy\n", workspace);
    const pons_camera_options o = {.workspace = workspace, .camera = "front"};
    assert_int_equal(ops->open(&o, &camera, &err), PONS_ENOTFOUND);
    assert_string_equal(err.message, "config/ros2.yaml has no topics of camera 'front'");
    peer_workspace_remove(workspace);
    ops->close(NULL);
}

int main(void)
{
    const void *found = NULL;
    ros2_node stays;
    pons_error err = PONS_ERROR_INIT;
    setenv("PONS_SHARE", PONS_SOURCE_DIR, 1);
    unsetenv("AMENT_PREFIX_PATH");
    peer_surroundings(ns, &domain);
    if (pons_module_load("camera", "ros2", &found, &err) < 0) {
        fprintf(stderr, "%s\n", err.message);
        return 1;
    }
    ops = found;
    peer_stay(&stays, domain);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_every_encoding_is_the_same_picture, end_robot),
        cmocka_unit_test_teardown(test_depth_comes_with_its_picture, end_robot),
        cmocka_unit_test_teardown(test_the_view_is_of_the_pictures_stamp, end_robot),
        cmocka_unit_test_teardown(test_stamps_of_this_machine, end_robot),
        cmocka_unit_test_teardown(test_every_model_of_a_lens, end_robot),
        cmocka_unit_test_teardown(test_what_is_no_picture_is_a_line, end_robot),
        cmocka_unit_test_teardown(test_a_compressed_picture, end_robot),
        cmocka_unit_test_teardown(test_nobody_is_there, end_robot),
        cmocka_unit_test_teardown(test_a_wrong_configuration, end_robot),
    };
    const int failed = cmocka_run_group_tests_name("drivers/ros2/camera", tests, NULL, NULL);
    ros2_node_close(&stays);
    return failed;
}
