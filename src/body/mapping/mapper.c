// mapper.c - the map that grows while a robot explores.
//
//     loop ---- the newest scan, with odometry ---->  [ inbox ]  ----> thread: slam->add
//     loop <--- map → odom, a layer, frontiers -----  [ outbox ] <---- at most once a second, and saved every SAVE_NS
//
// The loop copies a scan in and takes pointers out, under a lock that nobody holds for longer than that. What takes time is
// the thread's: matching, distances, frontiers, the disk. Under the virtual clock the same work is done within
// pons__mapper_scan, so a run can be repeated.
//
//            start                     stop                      saved
//     IDLE --------> RUNNING -----------------------> SAVING ---------------> IDLE
//                       | a graph that cannot be read, a map that cannot be written
//                       +-------------------------------> FAILED --- start ---> RUNNING
//
// The thread saves the pose graph, by rename, and then the map (pons_map_save). The map is drawn from the graph. A kill between
// the two leaves a map in the same frame that is a few seconds older. The robot's own map (robot_map.c) has no pose graph here.
#include "body/mapping/mapper.h"

#include "body/mapping/robot_map.h"
#include "pons/file.h"
#include "pons/map.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MODULE "mapper"

static const int64_t MAP_NS = PONS_NS_PER_S;       // robot time between maps
static const int64_t SAVE_NS = 10 * PONS_NS_PER_S; // and between saves
enum { REFUSED_MAX = 20 };                         // scans in a row, before it has failed
#define MAPPER_WAIT_S 2.0
#define ROBOT_WAIT_S  15.0 // slam_toolbox makes a map every 10 s by default

typedef struct inbox {
    bool start, stop, scan;
    pons_pose2 base, start_odom;
    pons_scan newest;
    pons_pose2 odom;
} inbox;

struct pons__mapper {
    const pons_slam_ops *slam;                                           /* const */
    void *self;                                                          /* thread */
    const pons__costmap *grid;                                           /* const: its frame */
    double room_m;                                                       /* const */
    pons_pose2 home;                                                     /* const */
    bool threaded;                                                       /* const */
    char map_path[PATH_MAX], graph_path[PATH_MAX], draft_path[PATH_MAX]; /* const */
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t wake;

    // [lock]
    inbox in;
    bool quit;
    pons__mapper_state state;
    char fault[PONS_ERROR_MESSAGE_MAX];
    pons__mapper_output out;
    pons__static_layer layer; // that nobody has taken yet
    bool fresh;               // there is one

    // thread
    bool loaded;  // the graph was read, or there is none
    bool changed; // since the last map,
    bool unsaved; // and since the last save
    int64_t mapped_ns, saved_ns;
    int refused; // scans in a row

    // loop
    pons__mapper_output newest;
    pons__mapper_state state_seen;
    char fault_seen[PONS_ERROR_MESSAGE_MAX];
};

// ---- the thread ---------------------------------------------------------------------------------

static void fail(pons__mapper *m, const pons_error *err)
{
    pthread_mutex_lock(&m->lock);
    m->state = PONS__MAPPER_FAILED;
    m->in.scan = false;
    pons_error_line(err, m->fault, sizeof m->fault);
    pthread_mutex_unlock(&m->lock);
}

static int sync_file(const char *path, pons_error *err)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    const bool good = fd >= 0 && fsync(fd) == 0;
    const int why = errno;
    if (fd >= 0) {
        close(fd);
    }
    return good ? PONS_OK
                : pons_error_set(err, PONS_EIO, MODULE, "cannot write %s: %s", path, strerror(why));
}

// Saves the map, unless it is empty.
static int save_map(const pons__mapper *m, const pons_slam_map *map, pons_error *err)
{
    return map->w == 0 ? PONS_OK
                       : pons_map_save(m->map_path, map->cells, map->w, map->h, map->resolution_m,
                                       (pons_pose2){map->x0, map->y0, 0.0}, err);
}

static int save_graph(const pons__mapper *m, pons_error *err)
{
    int rc = m->slam->save(m->self, m->draft_path, err);
    rc = rc < 0 ? rc : sync_file(m->draft_path, err);
    if (rc == PONS_OK && rename(m->draft_path, m->graph_path) < 0) {
        rc = pons_error_set(err, PONS_EIO, MODULE, "cannot write %s: %s", m->graph_path,
                            strerror(errno));
    }
    if (rc == PONS_OK && pons_file_sync_folder(m->graph_path) < 0) {
        rc = pons_error_set(err, PONS_EIO, MODULE, "cannot write %s: %s", m->graph_path,
                            strerror(errno));
    }
    return rc;
}

static int save(pons__mapper *m, pons_error *err)
{
    pons_slam_map map = {0};
    int rc = m->slam->save ? save_graph(m, err) : PONS_OK;
    rc = rc < 0 ? rc : m->slam->map(m->self, &map, err);
    rc = rc < 0 ? rc : save_map(m, &map, err);
    free(map.cells);
    m->unsaved = m->unsaved && rc < 0;
    return rc;
}

// A map, its layer and its frontiers, for the loop.
static int publish(pons__mapper *m, const pons_scan *scan, pons_pose2 robot, pons_error *err)
{
    pons_slam_map map = {0};
    pons__static_layer layer = {0};
    pons__frontiers frontiers;
    int rc = m->slam->map(m->self, &map, err);
    rc = rc < 0 ? rc : pons__static_layer_make(m->grid, &map, &layer, err);
    rc = rc < 0 ? rc
                : pons__frontiers_find(m->grid, &layer, robot, m->home, m->room_m, &frontiers, err);
    free(map.cells);
    if (rc < 0) {
        pons__static_layer_fini(&layer);
        return rc;
    }
    pthread_mutex_lock(&m->lock);
    const pons__static_layer old = m->layer;
    m->layer = layer;
    m->fresh = true;
    m->out.maps++;
    m->out.scan_ns = pons__mapper_is_robots(m) ? pons__robot_map_stamp_ns(m->self) : scan->stamp_ns;
    m->out.frontiers = frontiers;
    pthread_mutex_unlock(&m->lock);
    layer = old;
    pons__static_layer_fini(&layer);
    m->changed = false;
    m->mapped_ns = scan->stamp_ns;
    return PONS_OK;
}

static int begin(pons__mapper *m, const inbox *in, pons_error *err)
{
    int rc = m->loaded || !m->slam->load ? PONS_OK : m->slam->load(m->self, m->graph_path, err);
    if (rc == PONS_ENOTFOUND && access(m->map_path, F_OK) == 0) {
        return pons_error_set(err, PONS_EEXIST, MODULE,
                              "%s is there without its pose graph %s, and would be written over",
                              m->map_path, m->graph_path);
    }
    m->loaded = rc == PONS_OK || rc == PONS_ENOTFOUND;
    if (!m->loaded) {
        return rc;
    }
    m->refused = 0;
    m->changed = true;
    m->mapped_ns = m->saved_ns = INT64_MIN / 2;
    return m->slam->place(m->self, in->base, in->start_odom);
}

static int take_scan(pons__mapper *m, const inbox *in, pons_error *err)
{
    pons_pose2 map_from_odom;
    bool changed = false;
    int rc = m->slam->add(m->self, &in->newest, in->odom, &map_from_odom, &changed, err);
    if (rc < 0) {
        return ++m->refused < REFUSED_MAX ? PONS_OK : rc;
    }
    m->refused = 0;
    m->changed = m->changed || changed;
    m->unsaved = m->unsaved || changed;
    pthread_mutex_lock(&m->lock);
    m->out.map_from_odom = map_from_odom;
    m->out.placed = true;
    pthread_mutex_unlock(&m->lock);
    const int64_t now_ns = in->newest.stamp_ns;
    if (m->changed && now_ns - m->mapped_ns >= MAP_NS) {
        rc = publish(m, &in->newest, pons_pose_compose(map_from_odom, in->odom), err);
    }
    if (rc == PONS_OK && m->unsaved && now_ns - m->saved_ns >= SAVE_NS) {
        m->saved_ns = now_ns;
        rc = save(m, err);
    }
    return rc;
}

// One round of what is in the inbox.
static void work(pons__mapper *m, const inbox *in)
{
    pons_error err = PONS_ERROR_INIT;
    int rc = in->start ? begin(m, in, &err) : PONS_OK;
    rc = rc < 0 || !in->scan || !m->loaded ? rc : take_scan(m, in, &err);
    rc = rc < 0 || !in->stop || !m->unsaved ? rc : save(m, &err);
    if (rc < 0) {
        fail(m, &err);
    } else if (in->stop) {
        pthread_mutex_lock(&m->lock);
        m->state = m->state == PONS__MAPPER_SAVING ? PONS__MAPPER_IDLE : m->state;
        pthread_mutex_unlock(&m->lock);
    }
}

static void *run(void *user)
{
    pons__mapper *m = user;
    pthread_mutex_lock(&m->lock);
    for (;;) {
        while (!m->quit && !m->in.start && !m->in.stop && !m->in.scan) {
            pthread_cond_wait(&m->wake, &m->lock);
        }
        if (m->quit && !m->in.stop) {
            break;
        }
        const inbox in = m->in;
        m->in.start = m->in.stop = m->in.scan = false;
        pthread_mutex_unlock(&m->lock);
        work(m, &in);
        pthread_mutex_lock(&m->lock);
    }
    pthread_mutex_unlock(&m->lock);
    return NULL;
}

// ---- the loop -----------------------------------------------------------------------------------

// With the lock, which it gives back. Under the virtual clock what is in the inbox is done at once.
static void hand_over(pons__mapper *m)
{
    if (m->threaded) {
        pthread_cond_signal(&m->wake);
        pthread_mutex_unlock(&m->lock);
        return;
    }
    const inbox in = m->in;
    m->in.start = m->in.stop = m->in.scan = false;
    pthread_mutex_unlock(&m->lock);
    work(m, &in);
}

void pons__mapper_start(pons__mapper *m, pons_pose2 base_in_map, pons_pose2 odom_from_base)
{
    pthread_mutex_lock(&m->lock);
    m->in.start = true;
    m->in.base = base_in_map;
    m->in.start_odom = odom_from_base;
    m->state = PONS__MAPPER_RUNNING;
    m->fault[0] = '\0';
    m->out.placed = false;
    m->state_seen = m->state;
    m->newest.placed = false;
    hand_over(m);
}

void pons__mapper_stop(pons__mapper *m)
{
    pthread_mutex_lock(&m->lock);
    if (m->state == PONS__MAPPER_RUNNING) { // else one that waits goes on waiting
        m->in.stop = true;
        m->state = PONS__MAPPER_SAVING;
    }
    hand_over(m);
}

void pons__mapper_scan(pons__mapper *m, const pons_scan *scan, pons_pose2 odom_at_scan)
{
    pthread_mutex_lock(&m->lock);
    m->in.scan = m->state == PONS__MAPPER_RUNNING;
    m->in.newest = *scan;
    m->in.odom = odom_at_scan;
    hand_over(m);
}

bool pons__mapper_take(pons__mapper *m, pons__costmap *grid)
{
    pthread_mutex_lock(&m->lock);
    const bool fresh = m->fresh;
    pons__static_layer layer = m->layer;
    m->layer = (pons__static_layer){0};
    m->fresh = false;
    m->newest = m->out;
    m->state_seen = m->state;
    memcpy(m->fault_seen, m->fault, sizeof m->fault_seen);
    pthread_mutex_unlock(&m->lock);
    if (fresh) {
        pons__static_layer_swap(grid, &layer);
        pons__static_layer_fini(&layer);
    }
    return fresh;
}

pons__mapper_state pons__mapper_state_of(const pons__mapper *m)
{
    return m->state_seen;
}

const pons__mapper_output *pons__mapper_newest(const pons__mapper *m)
{
    return &m->newest;
}

double pons__mapper_wait_s(const pons__mapper *m)
{
    return pons__mapper_is_robots(m) ? ROBOT_WAIT_S : MAPPER_WAIT_S;
}

bool pons__mapper_is_robots(const pons__mapper *m)
{
    return m->slam == &pons__robot_map_ops;
}

const char *pons__mapper_fault(const pons__mapper *m)
{
    return m->fault_seen;
}

// ---- creation -----------------------------------------------------------------------------------

static int name_files(pons__mapper *m, const char *map_path, pons_error *err)
{
    const char *dot = strrchr(map_path, '.'), *slash = strrchr(map_path, '/');
    const int stem = dot && (!slash || dot > slash) ? (int)(dot - map_path) : (int)strlen(map_path);
    const bool fits = snprintf(m->map_path, PATH_MAX, "%s", map_path) < PATH_MAX &&
                      snprintf(m->graph_path, PATH_MAX, "%.*s.g2o", stem, map_path) < PATH_MAX &&
                      snprintf(m->draft_path, PATH_MAX, "%.*s.g2o.new", stem, map_path) < PATH_MAX;
    return fits ? PONS_OK
                : pons_error_set(err, PONS_EINVAL, MODULE, "the path %s is too long", map_path);
}

int pons__mapper_create(const pons__mapper_options *o, pons__mapper **ret, pons_error *err)
{
    pons__mapper *m = calloc(1, sizeof *m);
    pons_autovalue config = pons_object("resolution_m", json_real(o->grid->res), "radius_m",
                                        json_real(o->radius_m), NULL);
    if (!m || !config) {
        free(m);
        return pons_error_set(err, PONS_ENOMEM, MODULE, "no memory for a mapper");
    }
    m->slam = o->slam ? o->slam : &pons__robot_map_ops;
    m->grid = o->grid;
    m->room_m = o->room_m;
    m->home = o->home;
    pthread_mutex_init(&m->lock, NULL);
    pthread_cond_init(&m->wake, NULL);
    int rc = m->slam->abi == PONS_SLAM_ABI
                 ? name_files(m, o->map_path, err)
                 : pons_error_set(err, PONS_EUNSUPPORTED, MODULE,
                                  "the mapper's contract is version %u, this body's is %u",
                                  m->slam->abi, PONS_SLAM_ABI);
    if (rc == PONS_OK) {
        rc = o->slam ? o->slam->open(config, &m->self, err)
                     : pons__robot_map_open(o->robot, o->robot_self, o->grid, m->map_path, &m->self,
                                            err);
    }
    if (rc == PONS_OK && o->threaded) {
        m->threaded = pthread_create(&m->thread, NULL, run, m) == 0;
        rc = m->threaded
                 ? PONS_OK
                 : pons_error_set(err, PONS_EENV, MODULE, "cannot start the mapper's thread");
    }
    if (rc < 0) {
        pons__mapper_destroy(m);
        return rc;
    }
    *ret = m;
    return PONS_OK;
}

void pons__mapper_destroy(pons__mapper *m)
{
    if (!m) {
        return;
    }
    pons__mapper_stop(m);
    if (m->threaded) {
        pthread_mutex_lock(&m->lock);
        m->quit = true;
        pthread_cond_signal(&m->wake);
        pthread_mutex_unlock(&m->lock);
        pthread_join(m->thread, NULL);
    }
    if (m->self) {
        m->slam->close(m->self);
    }
    pons__static_layer_fini(&m->layer);
    pthread_cond_destroy(&m->wake);
    pthread_mutex_destroy(&m->lock);
    free(m);
}
