// v4l2.c - pictures of a camera of this machine, by V4L2's own calls.
//
//     open -> QUERYCAP -> S_FMT (MJPEG, else YUYV) -> S_PARM -> four buffers, mapped -> STREAMON
//          -> some pictures go by, while it finds its exposure (or which are of before) -> one is kept … -> STREAMOFF
#include "drivers/camera/camera.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/videodev2.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define MODULE  "camera"
#define BUFFERS 4
#define WARM    4    // pictures that go by
#define WAIT_MS 3000 // for one

typedef pons__v4l2 video;

struct pons__v4l2 {
    int fd;
    struct v4l2_format format;
    void *at[BUFFERS];
    size_t n[BUFFERS];
    unsigned buffers;
};

static int call(int fd, unsigned long what, void *arg)
{
    int rc;
    do {
        rc = ioctl(fd, what, arg);
    } while (rc < 0 && errno == EINTR);
    return rc;
}

static int open_device(video *v, const char *device, pons_error *err)
{
    struct stat is;
    struct v4l2_capability can = {0};
    if (stat(device, &is) < 0) {
        return pons_error_set(err, PONS_ENOTFOUND, MODULE, "there is no camera %s", device);
    }
    v->fd = S_ISCHR(is.st_mode) ? open(device, O_RDWR | O_NONBLOCK | O_CLOEXEC) : -1;
    if (v->fd < 0 && S_ISCHR(is.st_mode)) {
        return pons_error_set(err, PONS_EENV, MODULE, "cannot open %s: %s", device,
                              strerror(errno));
    }
    if (v->fd < 0 || call(v->fd, VIDIOC_QUERYCAP, &can) < 0) {
        return pons_error_set(err, PONS_EENV, MODULE, "%s is no camera", device);
    }
    const unsigned caps =
        can.capabilities & V4L2_CAP_DEVICE_CAPS ? can.device_caps : can.capabilities;
    if (!(caps & V4L2_CAP_VIDEO_CAPTURE) || !(caps & V4L2_CAP_STREAMING)) {
        return pons_error_set(err, PONS_EENV, MODULE, "%s gives no pictures", device);
    }
    return PONS_OK;
}

static int choose_format(video *v, const char *device, int width, int height, double fps,
                         pons_error *err)
{
    static const unsigned formats[] = {V4L2_PIX_FMT_MJPEG, V4L2_PIX_FMT_YUYV};
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++) {
        v->format = (struct v4l2_format){.type = V4L2_BUF_TYPE_VIDEO_CAPTURE};
        v->format.fmt.pix.width = (unsigned)width;
        v->format.fmt.pix.height = (unsigned)height;
        v->format.fmt.pix.pixelformat = formats[i];
        v->format.fmt.pix.field = V4L2_FIELD_ANY;
        if (call(v->fd, VIDIOC_S_FMT, &v->format) == 0 &&
            v->format.fmt.pix.pixelformat == formats[i]) {
            struct v4l2_streamparm rate = {.type = V4L2_BUF_TYPE_VIDEO_CAPTURE};
            rate.parm.capture.timeperframe.numerator = 1000;
            rate.parm.capture.timeperframe.denominator = (unsigned)(fps * 1000.0);
            call(v->fd, VIDIOC_S_PARM, &rate); // as near as it has it
            return PONS_OK;
        }
    }
    return pons_error_set(err, PONS_EENV, MODULE, "%s gives neither MJPEG nor YUYV", device);
}

static int start(video *v, pons_error *err)
{
    struct v4l2_requestbuffers want = {
        .count = BUFFERS, .type = V4L2_BUF_TYPE_VIDEO_CAPTURE, .memory = V4L2_MEMORY_MMAP};
    enum v4l2_buf_type type = V4L2_BUF_TYPE_VIDEO_CAPTURE;
    bool good = call(v->fd, VIDIOC_REQBUFS, &want) == 0 && want.count > 0;
    for (unsigned i = 0; good && i < want.count && i < BUFFERS; i++) {
        struct v4l2_buffer b = {.type = type, .memory = V4L2_MEMORY_MMAP, .index = i};
        good = call(v->fd, VIDIOC_QUERYBUF, &b) == 0;
        v->n[i] = b.length;
        v->at[i] =
            good ? mmap(NULL, b.length, PROT_READ, MAP_SHARED, v->fd, b.m.offset) : MAP_FAILED;
        good = v->at[i] != MAP_FAILED && call(v->fd, VIDIOC_QBUF, &b) == 0;
        v->buffers += v->at[i] != MAP_FAILED;
    }
    good = good && call(v->fd, VIDIOC_STREAMON, &type) == 0;
    return good ? PONS_OK
                : pons_error_set(err, PONS_EIO, MODULE, "the camera does not start: %s",
                                 strerror(errno));
}

void pons__v4l2_close(video *v)
{
    enum v4l2_buf_type type = V4L2_BUF_TYPE_VIDEO_CAPTURE;
    if (v && v->fd >= 0) {
        call(v->fd, VIDIOC_STREAMOFF, &type);
        for (unsigned i = 0; i < v->buffers; i++) {
            munmap(v->at[i], v->n[i]);
        }
        close(v->fd);
    }
    free(v);
}

int pons__v4l2_open(const char *device, int width, int height, double fps, video **ret,
                    pons_error *err)
{
    video *v = calloc(1, sizeof *v);
    if (!v) {
        return pons_error_set(err, PONS_ENOMEM, MODULE, "no memory for a camera");
    }
    v->fd = -1;
    int rc = open_device(v, device, err);
    rc = rc < 0 ? rc : choose_format(v, device, width, height, fps, err);
    rc = rc < 0 ? rc : start(v, err);
    if (rc < 0) {
        pons__v4l2_close(v);
        return rc;
    }
    *ret = v;
    return PONS_OK;
}

static uint8_t byte(double x)
{
    return (uint8_t)(x < 0.0 ? 0.0 : x > 255.0 ? 255.0 : x);
}

// Two pixels share their colour: Y U Y V, BT.601.
static int from_yuyv(const video *v, const uint8_t *bytes, size_t n, pons_picture_raw *ret,
                     pons_error *err)
{
    const size_t w = v->format.fmt.pix.width, h = v->format.fmt.pix.height;
    const size_t line = v->format.fmt.pix.bytesperline ? v->format.fmt.pix.bytesperline : 2 * w;
    if (line < 2 * w || n < line * h || w % 2 != 0) {
        return pons_error_set(err, PONS_EIO, MODULE, "the camera gave a part of a picture");
    }
    uint8_t *rgb = malloc(w * h * 3);
    if (!rgb) {
        return pons_error_set(err, PONS_ENOMEM, MODULE, "no memory for a picture");
    }
    for (size_t y = 0; y < h; y++) {
        for (size_t x = 0; x < w; x++) {
            const uint8_t *at = bytes + y * line + 4 * (x / 2);
            const double l = at[x % 2 ? 2 : 0], u = at[1] - 128.0, c = at[3] - 128.0;
            uint8_t *to = rgb + 3 * (y * w + x);
            to[0] = byte(l + 1.402 * c);
            to[1] = byte(l - 0.344 * u - 0.714 * c);
            to[2] = byte(l + 1.772 * u);
        }
    }
    ret->width = (int)w;
    ret->height = (int)h;
    ret->rgb = rgb;
    return PONS_OK;
}

static int64_t ns_of(int clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return t.tv_sec * 1000000000LL + t.tv_nsec;
}

// When it was taken, wall clock: the driver dates it by the monotonic one.
static int64_t stamp_of(const struct v4l2_buffer *b)
{
    const int64_t at = b->timestamp.tv_sec * 1000000000LL + b->timestamp.tv_usec * 1000LL;
    const int64_t age = ns_of(CLOCK_MONOTONIC) - at, now = ns_of(CLOCK_REALTIME);
    const bool dated =
        (b->flags & V4L2_BUF_FLAG_TIMESTAMP_MASK) == V4L2_BUF_FLAG_TIMESTAMP_MONOTONIC;
    return dated && age >= 0 && age < WAIT_MS * 1000000LL ? now - age : now;
}

static int keep(const video *v, const struct v4l2_buffer *b, pons_picture_raw *ret, void **ret_jpeg,
                size_t *ret_n, pons_error *err)
{
    const void *bytes = v->at[b->index];
    *ret = (pons_picture_raw){.stamp_ns = stamp_of(b)};
    if (v->format.fmt.pix.pixelformat == V4L2_PIX_FMT_YUYV) {
        return from_yuyv(v, bytes, b->bytesused, ret, err);
    }
    *ret_jpeg = malloc(b->bytesused ? b->bytesused : 1);
    if (!*ret_jpeg) {
        return pons_error_set(err, PONS_ENOMEM, MODULE, "no memory for a picture");
    }
    memcpy(*ret_jpeg, bytes, b->bytesused);
    *ret_n = b->bytesused;
    ret->width = (int)v->format.fmt.pix.width;
    ret->height = (int)v->format.fmt.pix.height;
    return PONS_OK;
}

int pons__v4l2_next(video *v, pons_picture_raw *ret, void **ret_jpeg, size_t *ret_n,
                    pons_error *err)
{
    for (int seen = 0;; seen++) {
        struct pollfd fd = {.fd = v->fd, .events = POLLIN};
        struct v4l2_buffer b = {.type = V4L2_BUF_TYPE_VIDEO_CAPTURE, .memory = V4L2_MEMORY_MMAP};
        if (poll(&fd, 1, WAIT_MS) <= 0 || call(v->fd, VIDIOC_DQBUF, &b) < 0 ||
            b.index >= v->buffers || b.bytesused > v->n[b.index]) {
            return pons_error_set(err, PONS_EIO, MODULE, "no picture came in %d s", WAIT_MS / 1000);
        }
        const int rc = seen < WARM ? PONS_OK : keep(v, &b, ret, ret_jpeg, ret_n, err);
        call(v->fd, VIDIOC_QBUF, &b);
        if (seen >= WARM) {
            return rc;
        }
    }
}
