// cmd_detect.c - `pons sight detect NAME`: the process of one detector of pictures.
//
//     camera, device or files --every period_s--> picture --module detector-KIND--> detections --> a line on standard output
//
// `pons sight` starts one for each, reads the lines and kills who hangs; a person sees with it what a detector finds. A
// picture that cannot be had or used is a line too, and the next is tried. It is nice to others: it yields the
// processor to the body, and is the first to go where memory is short.
#include "app/pictures/pictures.h"
#include "app/sight/sight.h"
#include "cli/camera/camera_source.h"
#include "cli/sight/sight_cli.h"
#include "pons/buf.h"
#include "pons/ext/detector.h"
#include "pons/module.h"
#include "pons/picture.h"
#include "sight/camera_view.h"
#include "sight/detection_json.h"
#include "sight/sighting_thumbnail.h"

#include <fcntl.h>
#include <png.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

enum { NICE = 10, OUT_OF_MEMORY_FIRST = 500 };

typedef struct detect {
    cli *c;
    const pons_value *config;
    const pons_detector_ops *ops;
    void *self;
    cli_source *source;
    FILE *out; // standard output as it was: what a library prints does not come between
    bool once;
    pons__thumbnail kept;
} detect;

static int load(const char *kind, const pons_detector_ops **ret, pons_error *err)
{
    const void *found = NULL;
    const int rc = pons_module_load_of("detector", kind, PONS_DETECTOR_ABI, &found, err);
    *ret = found;
    return rc;
}

// What is none, and what is too unsure, does not go on.
static void keep(const detect *d, const pons_picture_raw *p, const pons_detected *found, size_t n,
                 pons__detector_line *l)
{
    const double least = pons_get_num(d->config, "min_score", 0.4);
    for (size_t i = 0; i < n; i++) {
        const char *wrong = pons__detected_wrong(&found[i], p->width, p->height);
        if (wrong) {
            snprintf(l->error, sizeof l->error, "detection %zu is left out: %s", i + 1, wrong);
        } else if (found[i].score >= least) {
            l->found[l->n].what = found[i];
            pons__boxed_depth(&l->found[l->n++], p);
        }
    }
}

// A small one of what is new, or was not kept for a while; durable before anybody hears of it.
static void keep_picture(detect *d, pons_picture_raw *p, pons__detector_line *l)
{
    char folder[PATH_MAX + 16];
    const pons_clock clock = pons_clock_real();
    const int64_t now = pons_now_ms(&clock);
    pons_error err = PONS_ERROR_INIT;
    void *jpeg = NULL;
    size_t n = 0;
    if (l->n == 0 || d->once) {
        return;
    }
    if (!pons__thumbnail_due(&d->kept, l->found, l->n, now)) {
        memcpy(l->picture, d->kept.name, sizeof l->picture); // the same things, as they were then
        return;
    }
    app_seen_folder(&d->c->app, folder, sizeof folder);
    int rc = pons_picture_scale(p, PONS__SEEN_EDGE_MAX, &err);
    rc = rc < 0 ? rc : pons_picture_jpeg(p, PONS__SEEN_BYTES_MAX, &jpeg, &n, &err);
    rc = rc < 0 ? rc : pons_picture_put(folder, jpeg, n, l->picture, &err);
    free(jpeg);
    if (rc < 0) {
        pons_utf8_copy(l->error, sizeof l->error, err.message);
        return;
    }
    pons__thumbnail_kept(&d->kept, l->found, l->n, now, l->picture);
}

static int look_at(detect *d, cli_picture *picture, pons__detector_line *l, pons_error *err)
{
    static pons_detected found[PONS_DETECTED_MAX];
    const pons_clock clock = pons_clock_real();
    const int64_t began = pons_now_ms(&clock);
    pons_picture_raw *p = &picture->raw;
    l->view = picture->view;
    if (!l->view.calibrated) {
        l->view.lens = pons__camera_lens(cli_source_camera(d->source), p->width, p->height);
    }
    size_t n = 0;
    if ((int64_t)p->width * p->height > PONS_DETECTOR_PIXELS) {
        return pons_error_set(err, PONS_EINVAL, "sight",
                              "a picture has %d × %d pixels, more than 16 million", p->width,
                              p->height);
    }
    memset(found, 0, sizeof found);
    const int rc = d->ops->detect(d->self, p, &l->view.lens, found, &n, err);
    if (rc < 0 || n > PONS_DETECTED_MAX) {
        return rc < 0
                   ? rc
                   : pons_error_set(
                         err, PONS_EINVAL, "sight",
                         "the detector says that it found %zu things, for which there is no room",
                         n);
    }
    l->stamp_ns = p->stamp_ns > 0 ? p->stamp_ns : 1; // the world's beginning
    l->wall = cli_source_wall(d->source);
    l->width = p->width;
    l->height = p->height;
    l->took_ms = (double)(pons_now_ms(&clock) - began);
    snprintf(l->error, sizeof l->error, "%s", l->view.why);
    keep(d, p, found, n, l);
    keep_picture(d, p, l);
    return PONS_OK;
}

static void show(const detect *d, const pons__detector_line *l)
{
    char *text = pons__detector_line_text(l);
    if (text) {
        fprintf(d->out, "%s\n", text);
        fflush(d->out);
    }
    free(text);
}

// One picture, or why there is none; PONS_ECLOSED: no later one comes.
static int round_of(detect *d, pons_error *err)
{
    static pons__detector_line line;
    cli_picture p = {0};
    memset(&line, 0, sizeof line);
    int rc = cli_source_next(d->source, true, &p, err);
    if (rc > 0) {
        rc = look_at(d, &p, &line, err);
        rc = rc < 0 ? rc : 1;
    }
    cli_picture_clear(&p);
    if (rc < 0) {
        char text[512];
        pons_utf8_copy(line.error, sizeof line.error, pons_error_line(err, text, sizeof text));
    }
    if (!d->once || rc > 0) {
        show(d, &line);
    }
    return rc;
}

static int run(detect *d, pons_error *err)
{
    const pons_clock clock = pons_clock_real();
    const int64_t period_ms = (int64_t)(1000.0 * pons_get_num(d->config, "period_s", 1.0));
    for (int64_t due = pons_now_ms(&clock); !cli_ended;) {
        pons_error why = PONS_ERROR_INIT;
        const int rc = round_of(d, d->once ? err : &why);
        if (d->once || rc == PONS_ECLOSED) {
            return rc == 0 ? app_lacks(err, "there is no picture") : rc;
        }
        const int64_t now = pons_now_ms(&clock);
        due = due + period_ms > now ? due + period_ms : now; // what was too slow is not made up for
        if (ferror(d->out)) {
            return PONS_OK; // nobody reads
        }
        poll(NULL, 0, (int)(due - now));
    }
    return PONS_OK;
}

static void be_modest(bool for_run)
{
    const int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
    if (fd >= 0) {
        dprintf(fd, "%d", OUT_OF_MEMORY_FIRST);
        close(fd);
    }
    setpriority(PRIO_PROCESS, 0, NICE);
    if (for_run) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
    }
}

int cli_detect(cli *c, const char *name, bool once, bool for_run, pons_error *err)
{
    pons_autovalue config = NULL;
    detect d = {.c = c, .once = once};
    int rc = app_workspace(&c->app, true, err);
    rc = rc < 0 ? rc : app_sight_config(&c->app, &config, err);
    if (rc < 0) {
        return rc;
    }
    pons_value *entry =
        (pons_value *)(uintptr_t)pons_find(pons_get(config, "detectors"), "name", name);
    const char *kind = pons_get_str(entry, "kind", "sim");
    d.config = entry;
    if (strcmp(kind, "sim") == 0) {
        return app_bad(err, "config/sight.yaml has no detector of pictures that is called '%.60s'",
                       name);
    }
    const int out = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
    d.out = out < 0 ? NULL : fdopen(out, "w");
    if (!d.out || dup2(STDERR_FILENO, STDOUT_FILENO) < 0 || chdir(c->app.workspace) < 0) {
        rc = pons_error_set(err, PONS_EENV, "sight", "cannot use the workspace or standard output");
    }
    signal(SIGPIPE, SIG_IGN);
    cli_end_on_signals(0);
    be_modest(for_run);
    const cli_camera_options o = {.name = pons_get_str(d.config, "camera", ""),
                                  .world = c->app.world,
                                  .driver = c->app.driver,
                                  .depth = pons_get_bool(d.config, "depth", false),
                                  .view = true};
    rc = rc < 0 ? rc : load(kind, &d.ops, err);
    rc = rc < 0 ? rc
                : cli_source_open(c, &o, pons_get_str(d.config, "pictures", NULL), &d.source, err);
    rc = rc < 0 || strcmp(kind, "model") != 0 ? rc : app_vision_of_detector(&c->app, entry, err);
    rc = rc < 0 ? rc : d.ops->open(d.config, &d.self, err);
    if (rc >= 0) {
        rc = run(&d, err);
        d.ops->close(d.self);
    }
    if (rc < 0 && for_run && d.out) { // who reads it has no other line to show
        pons__detector_line line = {0};
        char text[512];
        pons_utf8_copy(line.error, sizeof line.error, pons_error_line(err, text, sizeof text));
        show(&d, &line);
    }
    cli_source_close(d.source);
    if (d.out) {
        fclose(d.out);
    }
    return rc < 0 ? rc : PONS_OK;
}

// "tag36h11:7": what the module apriltag draws.
int cli_tag(cli *c, const char *identity, const char *out, int pixels, pons_error *err)
{
    const pons_detector_ops *ops = NULL;
    pons_picture_raw p = {0};
    int rc = load("apriltag", &ops, err);
    rc = rc < 0 ? rc : ops->draw(identity, &p, err);
    if (rc < 0) {
        return rc;
    }
    const int times = pixels / p.width > 1 ? pixels / p.width : 1, side = times * p.width,
              rows = times * p.height;
    uint8_t *big = malloc((size_t)side * (size_t)rows * 3);
    for (int i = 0; big && i < side * rows; i++) {
        memcpy(big + 3 * (size_t)i,
               p.rgb +
                   3 * ((size_t)(i / side / times) * (size_t)p.width + (size_t)(i % side / times)),
               3);
    }
    png_image image = {.version = PNG_IMAGE_VERSION,
                       .width = (png_uint_32)side,
                       .height = (png_uint_32)rows,
                       .format = PNG_FORMAT_RGB};
    const bool written = big && png_image_write_to_file(&image, out, 0, big, 0, NULL);
    free(big);
    free(p.rgb);
    if (!written) {
        return pons_error_set(err, PONS_EIO, "sight", "cannot write %.200s: %s", out,
                              image.message);
    }
    cli_out("%s: %s, %d × %d\n", out, identity, side, rows);
    return PONS_OK;
}
