// detector_supervisor.c - the parent of the detectors of pictures.
//
//     child: a line a picture --pipe, never waited for--> line --pose of its stamp--> places --sight_tell--> memory
//
// A child has `limit_s` for a line beyond its period (and START_MS at first, to load what it needs); then it is killed. One
// that has ended is started again after 1 s, 2, 4 … 64 s; a picture that it has found something out about makes that 1 s
// again. A line may be LINE_MAX_BYTES long. What a child has to complain of is said once a minute.
#include "app/sight/detector_supervisor.h"

#include "sight/box_position.h"
#include "sight/pose_history.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    START_MS = 30000,
    AGAIN_MS = 1000,
    AGAIN_MOST_MS = 64000,
    SOON_MS = 1000, // for which a picture waits for the report after it
    LINE_MAX_BYTES = 256 * 1024,
    READS = 4,       // of a child, in a round
    POSES_FIRST = 50 // before a child is started: a second, so that its first picture has one
};
static const double POSE_SD_M = 0.03, POSE_SD_RAD = 0.02; // of the robot, at least
static const double WALL_SD_S = 0.03; // between a camera's stamp and a report's arrival

typedef struct detector {
    const pons_value *config;
    const char *name;
    pons__camera camera;
    bool placed; // the world says where the camera is
    pid_t pid;   // 0: none runs
    int fd;      // -1: it is ending
    bool killed;
    char *text; // (LINE_MAX_BYTES)
    size_t n;
    pons__detector_line *line; // that waits for the pose after it, while waits is set
    bool waits;
    int64_t waits_until_ms, until_ms, again_ms, again_wait_ms, said_ms; // host
} detector;

struct sight_detectors {
    size_t n;
    detector at[SIGHT_DETECTORS_MAX];
    pons__pose_history poses;
};

static int64_t limit_ms(const detector *d)
{
    return (int64_t)(1000.0 * (pons_get_num(d->config, "limit_s", 10.0) +
                               pons_get_num(d->config, "period_s", 1.0)));
}

static void tell_of(sight *s, detector *d, const char *what)
{
    char line[256];
    snprintf(line, sizeof line, "detector %.40s: %.200s", d->name, what);
    sight_say(s, &d->said_ms, line);
}

// ---- places -------------------------------------------------------------------------------------

// The camera's frame in the map: where the base was, or the map itself.
typedef struct frame {
    pons_pose2 at;
    double sd_m, sd_rad;
    int64_t wall_ns;
    const pons_scan *scan;
} frame;

static void to_map(const frame *f, const double p[3], double ret[3])
{
    const double c = cos(f->at.yaw), s = sin(f->at.yaw);
    ret[0] = f->at.x + c * p[0] - s * p[1];
    ret[1] = f->at.y + s * p[0] + c * p[1];
    ret[2] = p[2];
}

static void detection_of(const frame *f, const pons__boxed *b, const pons__placed *p,
                         pons_detection *ret)
{
    const double c = cos(f->at.yaw), s = sin(f->at.yaw), *v = p->cov;
    *ret = (pons_detection){
        .label = b->what.label, .identity = b->what.identity, .score = b->what.score};
    to_map(f, p->position, ret->position);
    ret->cov[0] = c * c * v[0] - 2.0 * c * s * v[1] + s * s * v[4];
    ret->cov[1] = c * s * (v[0] - v[4]) + (c * c - s * s) * v[1];
    ret->cov[2] = s * s * v[0] + 2.0 * c * s * v[1] + c * c * v[4];
    ret->cov[3] = v[8];
}

// Where the camera was, and its lens: as the picture's source said, else as the world says.
static pons__camera view_of(const detector *d, const pons__detector_line *l, pons_lens *ret)
{
    pons__camera c = d->camera;
    *ret = l->view.placed ? l->view.lens : pons__camera_lens(c.entry, l->width, l->height);
    if (l->view.placed) {
        c.on_base = true;
        memcpy(c.eye, l->view.eye, sizeof c.eye);
        memcpy(c.axes, l->view.axes, sizeof c.axes);
    }
    return c;
}

static void remember(sight *s, detector *d, const pons__detector_line *l, const frame *f)
{
    pons_lens lens;
    const pons__camera camera = view_of(d, l, &lens);
    const double far_m = pons_get_num(d->config, "range_m", 6.0);
    pons_detection found[PONS_DETECTED_MAX];
    const char *id = pons_get_str(d->camera.entry, "id", ""), *why = NULL, *unplaced = NULL;
    char source[192];
    size_t n = 0;
    for (size_t i = 0; i < l->n; i++) {
        pons__placed p;
        if (pons__box_place(&camera, &lens, l->height, &l->found[i], f->scan, far_m, &p, &why)) {
            detection_of(f, &l->found[i], &p, &found[n++]);
        } else {
            unplaced = why;
        }
    }
    snprintf(source, sizeof source, "%.63s/%.63s@%.63s", d->name, id,
             l->wall ? "wall" : s->boot_id);
    pons_object_view v = {.detector = d->name,
                          .source = source,
                          .stamp_ns = l->stamp_ns,
                          .picture = *l->picture ? l->picture : NULL,
                          .at_ms = f->wall_ns / 1000000,
                          .yaw = pons_wrap_angle(f->at.yaw + atan2(camera.axes[5], camera.axes[2])),
                          .fov_rad = 2.0 * atan(0.5 * l->width / lens.fx),
                          .near_m = pons_get_num(d->config, "near_m", 0.2),
                          .far_m = far_m,
                          .pose_sd_m = f->sd_m,
                          .pose_sd_rad = f->sd_rad,
                          .miss = pons_get_num(d->config, "miss", 0.5)};
    to_map(f, camera.eye, v.eye);
    sight_tell(s, &v, found, n);
    if (unplaced || *l->error) {
        tell_of(s, d, *l->error ? l->error : unplaced);
    }
}

// In the world; what it lacks there is told, of its place only when that is `needed`.
static void find_camera(sight *s, detector *d, bool needed)
{
    pons_error why = PONS_ERROR_INIT;
    d->camera = (pons__camera){.entry = NULL};
    d->placed =
        pons__camera_of(s->world, pons_get_str(d->config, "camera", ""), &d->camera, &why) >= 0;
    if (!d->placed && (needed || !d->camera.entry)) {
        tell_of(s, d, why.message);
    }
}

// Whether the line is dealt with: not while the report after its stamp may still come.
static bool place(sight *s, detector *d, const pons__detector_line *l, bool waited)
{
    frame f = {.wall_ns = l->wall ? l->stamp_ns : pons_wall_ms(&s->clock) * 1000000};
    pons__pose_at at;
    const char *why = NULL;
    bool soon = false;
    if (!d->placed && !l->view.placed) {
        find_camera(s, d, true); // its source does not say, either
        return true;
    }
    if (l->view.placed || d->camera.on_base) {
        if (!pons__pose_at_stamp(&s->detectors->poses, l->stamp_ns, l->wall, &at, &soon, &why)) {
            if (soon && !waited) {
                return false;
            }
            tell_of(s, d, why);
            return true;
        }
        f = (frame){.at = at.in_map,
                    .sd_m = fmax(at.sd_m, POSE_SD_M),
                    .sd_rad = POSE_SD_RAD,
                    .wall_ns = at.wall_ns,
                    .scan = pons__scan_at(&s->detectors->poses, at.robot_ns)};
        if (l->wall) {
            f.sd_m = hypot(f.sd_m, WALL_SD_S * at.speed_mps);
            f.sd_rad = hypot(f.sd_rad, WALL_SD_S * at.turn_radps);
        }
    }
    remember(s, d, l, &f);
    return true;
}

// ---- children -----------------------------------------------------------------------------------

// Nothing of it is heard any more; reap() sees its end.
static void close_child(sight *s, detector *d)
{
    close(d->fd);
    d->fd = -1;
    d->n = 0;
    d->until_ms = pons_now_ms(&s->clock) + AGAIN_MS;
}

static void kill_child(sight *s, detector *d, const char *what)
{
    kill(-d->pid, SIGKILL); // what it has started, too
    d->killed = true;
    close_child(s, d);
    if (what) {
        tell_of(s, d, what);
    }
}

// Its process may be slow to go, with a device that hangs: never waited for.
static void reap(sight *s, detector *d)
{
    const int64_t now = pons_now_ms(&s->clock);
    int status = 0;
    if (waitpid(d->pid, &status, WNOHANG) != d->pid) {
        if (now >= d->until_ms && !d->killed) { // it has closed its output and goes on
            kill(-d->pid, SIGKILL);
            d->killed = true;
        }
        return;
    }
    d->pid = 0;
    d->again_ms = now + d->again_wait_ms;
    d->again_wait_ms *= d->again_wait_ms < AGAIN_MOST_MS ? 2 : 1;
    if (!d->killed) {
        char what[128];
        snprintf(what, sizeof what,
                 "its process has ended (wait status %d); run/detect-%.40s.log has what it said",
                 status, d->name);
        tell_of(s, d, what);
    }
}

static void start_child(sight *s, detector *d)
{
    char log[128];
    const char *const argv[] = {"pons",      "sight",       "detect",        d->name,
                                "--for-run", "--workspace", s->c->workspace, NULL};
    const int64_t now = pons_now_ms(&s->clock);
    snprintf(log, sizeof log, "detect-%s.log", d->name);
    const pid_t pid = app_child_read(s->c, log, argv, &d->fd);
    if (pid > 0) {
        d->pid = pid;
        d->killed = false;
        d->until_ms = now + START_MS + limit_ms(d);
    } else {
        d->again_ms = now + AGAIN_MOST_MS;
        tell_of(s, d, "cannot start its process");
    }
}

// false: the child is gone.
static bool take_line(sight *s, detector *d, const char *text, size_t n)
{
    pons_error why = PONS_ERROR_INIT;
    const int64_t now = pons_now_ms(&s->clock);
    if (d->waits) { // two lines within a report: the later one counts
        place(s, d, d->line, true);
        d->waits = false;
    }
    if (pons__detector_line_read(text, n, d->line, &why) < 0) {
        kill_child(s, d, why.message);
        return false;
    }
    d->until_ms = now + limit_ms(d);
    if (d->line->stamp_ns == 0) {
        if (*d->line->error) {
            tell_of(s, d, d->line->error);
        }
        return true;
    }
    d->again_wait_ms = AGAIN_MS;
    d->waits = !place(s, d, d->line, false);
    d->waits_until_ms = now + SOON_MS;
    return true;
}

// Whole lines of what was read; false: the child is gone.
static bool take_lines(sight *s, detector *d)
{
    size_t from = 0;
    const char *end;
    while ((end = memchr(d->text + from, '\n', d->n - from)) != NULL) {
        const size_t n = (size_t)(end - (d->text + from));
        if (!take_line(s, d, d->text + from, n)) {
            return false;
        }
        from += n + 1;
    }
    d->n -= from;
    memmove(d->text, d->text + from, d->n);
    if (d->n == LINE_MAX_BYTES) {
        kill_child(s, d, "a line does not end; its process was killed");
        return false;
    }
    return true;
}

static void read_child(sight *s, detector *d)
{
    for (int i = 0; i < READS; i++) {
        const ssize_t got = read(d->fd, d->text + d->n, LINE_MAX_BYTES - d->n);
        if (got < 0) {
            return; // nothing, now
        }
        if (got == 0) {
            close_child(s, d);
            return;
        }
        d->n += (size_t)got;
        if (!take_lines(s, d)) {
            return;
        }
    }
}

int sight_detectors_open(sight *s, pons_error *err)
{
    s->detectors = calloc(1, sizeof *s->detectors);
    if (!s->detectors) {
        return pons_error_set(err, PONS_ENOMEM, "sight", "no memory for detectors");
    }
    pons_each(entry, pons_get(s->config, "detectors")) {
        detector *d = &s->detectors->at[s->detectors->n];
        if (strcmp(pons_get_str(entry, "kind", "sim"), "sim") == 0 ||
            s->detectors->n == SIGHT_DETECTORS_MAX) {
            continue;
        }
        s->detectors->n++;
        s->poses = true;
        *d = (detector){.config = entry,
                        .name = pons_get_str(entry, "name", ""),
                        .fd = -1,
                        .again_wait_ms = AGAIN_MS,
                        .text = malloc(LINE_MAX_BYTES),
                        .line = malloc(sizeof *d->line)};
        if (!d->text || !d->line) {
            return pons_error_set(err, PONS_ENOMEM, "sight", "no memory for detectors");
        }
    }
    return PONS_OK;
}

void sight_detectors_close(sight *s)
{
    for (size_t i = 0; s->detectors && i < s->detectors->n; i++) {
        detector *d = &s->detectors->at[i];
        if (d->pid > 0) {
            kill(-d->pid, SIGKILL);
        }
        free(d->text);
        free(d->line);
    }
    free(s->detectors);
    s->detectors = NULL;
}

void sight_detectors_world(sight *s)
{
    for (size_t i = 0; i < s->detectors->n; i++) {
        detector *d = &s->detectors->at[i];
        if (d->fd >= 0) {
            kill_child(s, d, NULL); // it draws the other world
        }
        d->waits = false;
        d->again_ms = 0;
        d->again_wait_ms = AGAIN_MS;
        find_camera(s, d, false);
    }
    s->detectors->poses.n = s->detectors->poses.n_scans = 0;
}

void sight_detectors_pose(sight *s, const pons_report_senses *r)
{
    pons__pose_add(&s->detectors->poses, r, pons_wall_ms(&s->clock) * 1000000);
}

void sight_detectors_look(sight *s)
{
    const uint64_t poses = s->detectors->poses.n;
    for (size_t i = 0; i < s->detectors->n; i++) {
        detector *d = &s->detectors->at[i];
        const int64_t now = pons_now_ms(&s->clock);
        if (d->waits && place(s, d, d->line, now >= d->waits_until_ms)) {
            d->waits = false;
        }
        if (d->fd >= 0) {
            read_child(s, d);
        }
        if (d->pid > 0 && d->fd < 0) {
            reap(s, d);
        }
        if (d->fd >= 0 && now >= d->until_ms) {
            kill_child(s, d, "it took longer than limit_s; its process was killed");
        }
        if (d->pid == 0 && d->camera.entry && now >= d->again_ms && poses >= POSES_FIRST) {
            start_child(s, d);
        }
    }
}

nfds_t sight_detectors_fds(const sight *s, struct pollfd *fds, nfds_t n)
{
    for (size_t i = 0; i < s->detectors->n; i++) {
        if (s->detectors->at[i].fd >= 0) {
            fds[n++] = (struct pollfd){.fd = s->detectors->at[i].fd, .events = POLLIN};
        }
    }
    return n;
}
