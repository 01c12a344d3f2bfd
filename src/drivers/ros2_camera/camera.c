// camera.c - a camera of a ROS 2 robot (ext/camera.h): its topics in config/ros2.yaml, its pictures as they are wanted.
//
//     image --newest--> held --the transform at its stamp, the calibration, the depth of its stamp--> a picture
//                         |--------- not within SOON_NS, or no good: left out, and counted --------> a line
//
// One picture is held, and the reader keeps one more, the newest: memory is bounded, and who asks rarely gets what is
// new. What the picture shows was where it was at the picture's own stamp: the camera in the base then is what /tf says,
// the base in the map what the body says of that time (sight/pose_history.h). Robot time is what the driver's senses
// make of ROS's: the monotonic clock of this machine, or /clock.
//
// It publishes nothing and has no service. Each kind of trouble is said at once, and then once a minute with its count.
#include "pons/ext/camera.h"

#include "drivers/dds/dds_node.h"
#include "drivers/outlet.h"
#include "drivers/ros2/tf.h"
#include "drivers/ros2_camera/camera_info.h"
#include "drivers/ros2_camera/image.h"
#include "pons/clock.h"
#include "pons/module.h"
#include "pons/picture.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MODULE   "ros2"
#define FIRST    4.0                 // for the first picture: others must be found; in discovery_s
#define NEXT_NS  PONS_NS_PER_S       // for the next ones
#define SOON_NS  (PONS_NS_PER_S / 2) // for which a picture waits for what belongs to it
#define PAIR_NS  (20 * PONS_NS_PER_MS) // between the stamps of a picture and its depth
#define FAR_NS   (5 * PONS_NS_PER_S)   // a stamp this far from now is of another clock
#define ROUND_NS (5 * PONS_NS_PER_MS)  // what waits to be taken would end a wait for more
#define AGAIN_NS (60 * PONS_NS_PER_S)  // until the same trouble is said again

enum { LINE = 200, TF_DEPTH = 1000 }; // transforms are taken when a picture is wanted, not before

typedef enum trouble { // a kind that is said for itself
    NO_PICTURE,
    NO_VIEW,
    NO_CALIBRATION,
    NO_DEPTH,
    BAD_SIZE,
    BAD_ENCODING,
    BAD_STAMP,
    TROUBLES
} trouble;

typedef enum outcome { TAKEN, WAITS, LEFT_OUT, SKIPPED } outcome;

typedef struct received { // of a topic
    const char *name;
    dds_entity_t reader; // 0: it is not heard
    void *held;          // the newest that was taken, lent by DDS; its header comes first
    int64_t since_ns;    // host time
} received;

typedef struct camera {
    ros2_config c;
    const ros2_camera *k;
    ros2_node node;
    bool view;
    received image, info, depth, tf_moving, tf_static;
    ros2_tf *tf;
    ros2_calibration calibration;
    bool had;
    int64_t first_ns; // host time until which the first one is waited for
    int64_t last_ns;  // ROS's stamp of the picture that was given last
    trouble what;     // why the newest picture cannot be given, or not yet
    char why[LINE];   // "": nothing is wrong
    struct {
        int64_t said_ns; // host; 0: never
        uint64_t n;
    } troubles[TROUBLES];
} camera;

static int64_t ns_of(const std_msgs_msg_dds__Header_ *h)
{
    return (int64_t)h->stamp.sec * PONS_NS_PER_S + (int64_t)h->stamp.nanosec;
}

// ROS's time less the body's.
static int64_t offset_ns(const camera *c)
{
    struct timespec wall;
    clock_gettime(CLOCK_REALTIME, &wall);
    return c->c.sim_time ? 0
                         : (int64_t)wall.tv_sec * PONS_NS_PER_S + wall.tv_nsec - pons__host_now();
}

// ---- trouble ------------------------------------------------------------------------------------

__attribute__((format(printf, 4, 5))) static outcome is_wrong(camera *c, outcome o, trouble what,
                                                              const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    vsnprintf(c->why, sizeof c->why, fmt, args);
    va_end(args);
    c->what = what;
    return o;
}

// The line of what is wrong; 0: it was said a moment ago.
static int complain(camera *c, pons_error *err)
{
    const int64_t now = pons__host_now();
    const uint64_t n = c->troubles[c->what].n;
    if (c->troubles[c->what].said_ns && now - c->troubles[c->what].said_ns < AGAIN_NS) {
        return 0;
    }
    c->troubles[c->what].said_ns = now;
    if (n > 1) {
        return pons_error_set(err, PONS_EIO, MODULE, "camera %s: %s, %llu times by now", c->k->name,
                              c->why, (unsigned long long)n);
    }
    return pons_error_set(err, PONS_EIO, MODULE, "camera %s: %s", c->k->name, c->why);
}

static void why_silent(camera *c, const received *r, char ret[LINE])
{
    if (ros2_node_matched(r->reader)) {
        snprintf(ret, LINE, "%.100s: %s", r->name,
                 c->had ? "nothing comes any more" : "nothing has come yet");
    } else {
        ros2_node_why(&c->node, r->reader, ret, LINE);
    }
}

// ---- topics -------------------------------------------------------------------------------------

static void let_go(received *r)
{
    if (r->held) {
        dds_return_loan(r->reader, &r->held, 1);
        r->held = NULL;
    }
}

// Takes the newest, unless one is held; whether one is.
static bool hold(received *r)
{
    dds_sample_info_t info[1];
    while (r->reader && !r->held && dds_take(r->reader, &r->held, info, 1, 1) > 0) {
        r->since_ns = pons__host_now();
        if (!info[0].valid_data) {
            let_go(r);
        }
    }
    return r->held != NULL;
}

static void take_tf(camera *c, const received *r, bool is_static)
{
    const int64_t now = pons__host_now() + offset_ns(c);
    char why[LINE];
    ROS2_TAKE(r->reader, tf2_msgs_msg_dds__TFMessage_, m)
    {
        for (uint32_t i = 0; i < m->transforms._length; i++) {
            const geometry_msgs_msg_dds__TransformStamped_ *t = &m->transforms._buffer[i];
            const geometry_msgs_msg_dds__Transform_ *x = &t->transform;
            const ros2_transform is = {
                {x->translation.x, x->translation.y, x->translation.z},
                {x->rotation.x, x->rotation.y, x->rotation.z, x->rotation.w}};
            const int64_t stamp = ns_of(&t->header);
            if (is_static || c->c.sim_time || stamp - now < FAR_NS) { // the body says what is wrong
                ros2_tf_add(c->tf, t->header.frame_id, t->child_frame_id, stamp, &is, is_static,
                            why, sizeof why);
            }
        }
    }
}

static void take_others(camera *c)
{
    if (c->view) {
        take_tf(c, &c->tf_static, true);
        take_tf(c, &c->tf_moving, false);
    }
    if (hold(&c->info)) {
        const bool rectified = strstr(c->image.name, "/image_rect"); // image_proc's names
        ros2_calibration_of(c->info.held, rectified, &c->calibration);
        let_go(&c->info);
    }
}

// ---- a picture ----------------------------------------------------------------------------------

static outcome check_stamp(camera *c, int64_t stamp)
{
    const int64_t off = stamp - offset_ns(c) - pons__host_now();
    if (stamp <= 0) {
        return is_wrong(c, LEFT_OUT, BAD_STAMP, "%.100s: its stamp is zero", c->image.name);
    }
    if (!c->c.sim_time && (off > FAR_NS || off < -FAR_NS)) {
        return is_wrong(c, LEFT_OUT, BAD_STAMP,
                        "%.80s: its stamps are not by this machine's clock; look at use_sim_time, "
                        "or the clocks",
                        c->image.name);
    }
    if (stamp < c->last_ns - FAR_NS) { // /clock began anew
        ros2_tf_clear(c->tf);
        c->last_ns = stamp - 1;
    }
    return stamp != c->last_ns
               ? TAKEN
               : is_wrong(c, SKIPPED, BAD_STAMP, "%.100s: its stamp stays the same", c->image.name);
}

// Where the camera was at the stamp, of its optical frame.
static outcome find_view(camera *c, const std_msgs_msg_dds__Header_ *h, pons_camera_view *ret)
{
    char why[LINE];
    ros2_transform x;
    if (!ros2_tf_get(c->tf, c->c.base, h->frame_id, ns_of(h), &x, NULL, why, sizeof why)) {
        return is_wrong(c, WAITS, NO_VIEW, "%.70s: %.100s; it is left out", c->image.name, why);
    }
    const double *q = x.q;
    const double r[9] = {1.0 - 2.0 * (q[1] * q[1] + q[2] * q[2]), 2.0 * (q[0] * q[1] - q[2] * q[3]),
                         2.0 * (q[0] * q[2] + q[1] * q[3]),       2.0 * (q[0] * q[1] + q[2] * q[3]),
                         1.0 - 2.0 * (q[0] * q[0] + q[2] * q[2]), 2.0 * (q[1] * q[2] - q[0] * q[3]),
                         2.0 * (q[0] * q[2] - q[1] * q[3]),       2.0 * (q[1] * q[2] + q[0] * q[3]),
                         1.0 - 2.0 * (q[0] * q[0] + q[1] * q[1])};
    memcpy(ret->eye, x.p, sizeof ret->eye);
    memcpy(ret->axes, r, sizeof ret->axes);
    ret->placed = true;
    if (*c->calibration.why && !c->calibration.known) {
        return is_wrong(c, LEFT_OUT, NO_CALIBRATION, "%s", c->calibration.why);
    }
    if (c->info.reader && !c->calibration.known) {
        why_silent(c, &c->info, why);
        return is_wrong(c, WAITS, NO_CALIBRATION, "%s", why);
    }
    ret->calibrated = c->calibration.known;
    snprintf(ret->why, sizeof ret->why, "%s", c->calibration.why);
    return TAKEN;
}

// Holds the depth of that stamp.
static outcome find_depth(camera *c, int64_t stamp)
{
    char why[LINE];
    while (hold(&c->depth) && (ns_of(c->depth.held) < stamp - PAIR_NS ||
                               ns_of(c->depth.held) > stamp + FAR_NS)) { // no picture is of then
        let_go(&c->depth);
    }
    if (!c->depth.held && c->depth.since_ns == 0) {
        why_silent(c, &c->depth, why);
        return is_wrong(c, WAITS, NO_DEPTH, "%s", why);
    }
    if (c->depth.held && ns_of(c->depth.held) <= stamp + PAIR_NS) {
        return TAKEN;
    }
    return is_wrong(c, c->depth.held ? SKIPPED : WAITS, NO_DEPTH,
                    "%.100s: no depth has the stamp of a picture", c->depth.name);
}

static outcome bad_image(camera *c, const received *r, ros2_image_fault f, const char *why)
{
    return is_wrong(c, LEFT_OUT, f == ROS2_IMAGE_SIZE ? BAD_SIZE : BAD_ENCODING, "%.80s: %.110s",
                    r->name, why);
}

static outcome take_depth(camera *c, pons_picture_raw *p)
{
    char why[LINE];
    bool any = false;
    const sensor_msgs_msg_dds__Image_ *m = c->depth.held;
    const ros2_image_fault f = ros2_image_check(m, true, why, sizeof why);
    if (f != ROS2_IMAGE_GOOD) {
        return bad_image(c, &c->depth, f, why);
    }
    if ((int)m->width != p->width || (int)m->height != p->height) {
        return is_wrong(c, LEFT_OUT, BAD_SIZE,
                        "%.80s: %u × %u pixels are not aligned with a picture of %d × %d",
                        c->depth.name, m->width, m->height, p->width, p->height);
    }
    p->depth = ros2_image_depth(m, &any);
    return any ? TAKEN
               : is_wrong(c, LEFT_OUT, NO_DEPTH, "%.100s: it has no distance that is a number",
                          c->depth.name);
}

static outcome take_colours(camera *c, pons_picture_raw *p)
{
    char why[LINE];
    pons_error err = PONS_ERROR_INIT;
    if (c->k->compressed) {
        const sensor_msgs_msg_dds__CompressedImage_ *m = c->image.held;
        if (m->data._length > PONS_PICTURE_BYTES_MAX) {
            return bad_image(c, &c->image, ROS2_IMAGE_SIZE, "a picture of more than 32 megabytes");
        }
        const int64_t stamp_ns = p->stamp_ns; // a file has none
        if (pons_picture_decode(m->data._buffer, m->data._length, 0, p, &err) < 0) {
            return bad_image(c, &c->image, ROS2_IMAGE_ENCODING, err.message);
        }
        p->stamp_ns = stamp_ns;
        return TAKEN;
    }
    const sensor_msgs_msg_dds__Image_ *m = c->image.held;
    const ros2_image_fault f = ros2_image_check(m, false, why, sizeof why);
    if (f != ROS2_IMAGE_GOOD) {
        return bad_image(c, &c->image, f, why);
    }
    p->width = (int)m->width;
    p->height = (int)m->height;
    p->rgb = ros2_image_rgb(m);
    return p->rgb ? TAKEN : bad_image(c, &c->image, ROS2_IMAGE_SIZE, "no memory for a picture");
}

// What is held becomes a picture, once all that belongs to it is there.
static outcome look(camera *c, pons_camera_picture *ret)
{
    const std_msgs_msg_dds__Header_ *h = c->image.held;
    const int64_t stamp = ns_of(h);
    *ret = (pons_camera_picture){.raw = {.stamp_ns = stamp - offset_ns(c)}};
    outcome o = check_stamp(c, stamp);
    if (o == TAKEN && c->view) {
        o = find_view(c, h, &ret->view);
    }
    if (o == TAKEN && c->depth.reader) {
        o = find_depth(c, stamp);
    }
    if (o == TAKEN) {
        o = take_colours(c, &ret->raw);
    }
    if (o == TAKEN && c->depth.reader) {
        o = take_depth(c, &ret->raw);
    }
    if (o == TAKEN) {
        ret->view.lens = ros2_calibration_lens(&c->calibration, ret->raw.width, ret->raw.height);
        c->last_ns = stamp;
        c->had = true;
    } else {
        free(ret->raw.rgb);
        free(ret->raw.depth);
        *ret = (pons_camera_picture){0};
    }
    return o;
}

// dropped: some came, and none could be given.
static int nothing(camera *c, bool dropped, pons_error *err)
{
    const bool lately = pons__host_now() - c->image.since_ns < FAR_NS;
    if (c->had && !dropped && (c->image.held || lately)) {
        return 0; // the next call has it, or it comes rarely
    }
    if (!*c->why) {
        why_silent(c, &c->image, c->why);
        c->what = NO_PICTURE;
    }
    let_go(&c->image);
    return complain(c, err);
}

// Somebody publishes the topic otherwise than it is needed: nothing will come.
static outcome misfit(camera *c, const received *r)
{
    char why[LINE];
    const bool is =
        !ros2_node_matched(r->reader) && ros2_node_why(&c->node, r->reader, why, sizeof why);
    return is ? is_wrong(c, LEFT_OUT, NO_PICTURE, "%s", why) : WAITS;
}

static int camera_next(void *self, pons_camera_picture *ret, pons_error *err)
{
    camera *c = self;
    const int64_t began = pons__host_now();
    const int64_t until = c->had || began >= c->first_ns ? began + NEXT_NS : c->first_ns;
    bool dropped = false;
    for (c->why[0] = '\0'; pons__host_now() < until;) {
        take_others(c);
        outcome o = hold(&c->image) ? look(c, ret) : misfit(c, &c->image);
        if (o == WAITS && c->image.held && pons__host_now() - c->image.since_ns >= SOON_NS) {
            o = SKIPPED; // a newer one may have what it needs: more is heard by now
        }
        if (o == WAITS) {
            dds_sleepfor(ROUND_NS);
            continue;
        }
        let_go(&c->image);
        c->troubles[c->what].n += o != TAKEN;
        dropped = dropped || o == SKIPPED;
        if (o == TAKEN || o == LEFT_OUT) {
            return o == TAKEN ? 1 : complain(c, err);
        }
    }
    return nothing(c, dropped, err);
}

// ---- open and close -----------------------------------------------------------------------------

static void camera_close(void *self)
{
    camera *c = self;
    if (!c) {
        return;
    }
    let_go(&c->image);
    let_go(&c->depth);
    let_go(&c->info);
    ros2_node_close(&c->node);
    ros2_tf_destroy(c->tf);
    ros2_config_fini(&c->c);
    free(c);
}

static int listen_to_all(camera *c, bool depth, pons_error *err)
{
    const struct {
        received *r;
        const ros2_stream *s;
        const dds_topic_descriptor_t *type;
        bool wanted;
    } all[] = {{&c->image, &c->k->image,
                c->k->compressed ? &sensor_msgs_msg_dds__CompressedImage__desc
                                 : &sensor_msgs_msg_dds__Image__desc,
                true},
               {&c->depth, &c->k->depth, &sensor_msgs_msg_dds__Image__desc, depth},
               {&c->info, &c->k->info, &sensor_msgs_msg_dds__CameraInfo__desc, c->view},
               {&c->tf_moving, &c->c.t_tf, &tf2_msgs_msg_dds__TFMessage__desc, c->view},
               {&c->tf_static, &c->c.t_tf_static, &tf2_msgs_msg_dds__TFMessage__desc, c->view}};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        received *r = all[i].r;
        ros2_qos qos = all[i].s->qos;
        qos.depth = r == &c->tf_moving && qos.depth < TF_DEPTH ? TF_DEPTH : qos.depth;
        r->name = all[i].s->name;
        if (!all[i].wanted || !*r->name) {
            continue;
        }
        r->reader = ros2_node_reader(&c->node, "rt", r->name, NULL, all[i].type, qos, err);
        if (!r->reader) {
            return PONS_EENV;
        }
    }
    return PONS_OK;
}

static int choose(camera *c, const pons_camera_options *o, pons_error *err)
{
    for (int i = 0; i < c->c.n_cameras && !c->k; i++) {
        c->k = strcmp(c->c.cameras[i].name, o->camera) == 0 ? &c->c.cameras[i] : NULL;
    }
    if (!c->k) {
        return pons_error_set(err, PONS_ENOTFOUND, MODULE,
                              "config/ros2.yaml has no topics of camera '%.60s'", o->camera);
    }
    return o->depth && !*c->k->depth.name
               ? pons_error_set(err, PONS_ENOTFOUND, MODULE, "camera %s has no depth", o->camera)
               : PONS_OK;
}

static int camera_open(const pons_camera_options *o, void **ret, pons_error *err)
{
    camera *c = calloc(1, sizeof *c);
    if (!c || !(c->tf = ros2_tf_create())) {
        free(c);
        return pons_error_set(err, PONS_ENOMEM, MODULE, "no memory for a camera");
    }
    c->view = o->view;
    int rc = ros2_config_load(o->workspace, &c->c, err);
    rc = rc < 0 ? rc : choose(c, o, err);
    c->node.hashed = c->c.jazzy;
    c->first_ns = pons__host_now() + (int64_t)(FIRST * c->c.discovery_s * (double)PONS_NS_PER_S);
    rc = rc < 0 ? rc : ros2_node_open(&c->node, c->c.domain, err);
    rc = rc < 0 ? rc : listen_to_all(c, o->depth, err);
    if (rc < 0) {
        camera_close(c);
        return rc;
    }
    *ret = c;
    return PONS_OK;
}

static const pons_camera_ops ops = {.abi = PONS_CAMERA_ABI,
                                    .name = "ros2",
                                    .open = camera_open,
                                    .close = camera_close,
                                    .next = camera_next};
PONS_MODULE_EXPORT("camera", "ros2", &ops);
