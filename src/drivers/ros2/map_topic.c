// map_topic.c - /map: compares it with the world, or gives it to the body as the map of a world that grows.
//
// pons takes the coordinates of a zone from its own world, and Nav2 drives there in its own map. If these show two places, or
// one place with two origins, every pose means something else, and nothing else would reveal it. So points of the world's
// walls are looked up in the map. A map in the making knows few of them, another resolution or size is no contradiction,
// and furniture comes and goes. Only if the map has free floor at more than three tenths of the wall points that it knows,
// the two are not of the same place.
//
// If the world's map grows, the body gets each map whole. The reader thread keeps the newest until the body takes it. Once a
// map has agreed with the walls, later ones are not compared, because loop closures may move their walls.
#include "drivers/ros2/map_topic.h"

#include "pons/clock.h"
#include "ros2.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { POINTS = 4000, KNOWN_LEAST = 30, OCCUPIED = 65 };

#define EVERY_M   0.1   // along a wall
#define LONGEST_M 500.0 // half of the longest one
#define AROUND_M  0.15  // within which a wall may be drawn elsewhere
#define FAR_M     1e6   // an origin or a wall further away does not count
#define SHARE                                                                                      \
    0.3 // of the known points that are free: a wall that was moved along itself still lies on itself

typedef struct walls {
    int n;
    struct {
        double x, y; // in the map's frame
    } at[POINTS];
} walls;

struct ros2_map {
    ros2_node *n;                    /* const */
    const ros2_config *c;            /* const */
    dds_entity_t reader;             /* const */
    bool grows;                      /* const: the body wants it */
    walls *walls;                    // NULL: nothing to compare with; reader thread
    char bad[PONS_OUTSIDE_TEXT_MAX]; // why the newest does not fit this world; reader thread
    bool agreed;                     // a map has agreed with the walls; reader thread
    pthread_mutex_t lock;
    uint64_t number;                 // [lock] number of the newest; 0: none has come
    pons_robot_map newest;           // [lock] cells NULL: the body has taken them
    char why[PONS_OUTSIDE_TEXT_MAX]; // [lock] why no map comes
};

// Along the middle of its longer side: how many points that are; w: takes every so many of them.
static int64_t of_box(const pons_value *box, walls *w, int64_t nth, int64_t step)
{
    const double sx = pons_get_num(box, "sx", 0.0), sy = pons_get_num(box, "sy", 0.0),
                 yaw = pons_get_num(box, "yaw", 0.0) + (sx < sy ? 0.5 * M_PI : 0.0),
                 half = fmin(0.5 * fmax(sx, sy), LONGEST_M);
    int64_t n = 0;
    for (double d = EVERY_M * 0.5 - half; d <= half || n == 0; d += EVERY_M, n++) {
        const double at = fmin(d, half);
        if (w && (nth + n) % step == 0 && w->n < POINTS) {
            w->at[w->n].x = pons_get_num(box, "x", 0.0) + at * cos(yaw);
            w->at[w->n++].y = pons_get_num(box, "y", 0.0) + at * sin(yaw);
        }
    }
    return n;
}

static int64_t of_boxes(const pons_value *boxes, walls *w, int64_t step)
{
    int64_t n = 0;
    pons_each(box, boxes) {
        if (strcmp(pons_get_str(box, "kind", ""), "wall") == 0) {
            n += of_box(box, w, n, step);
        }
    }
    return n;
}

// Points on the world's boxes of the kind "wall", which were made from a map. NULL: the world has none, or no memory.
static walls *walls_of(const pons_value *world)
{
    const pons_value *boxes = pons_get(pons_get(world, "map"), "boxes");
    const int64_t n = of_boxes(boxes, NULL, 1);
    walls *w = n > 0 ? calloc(1, sizeof *w) : NULL;
    if (w) {
        of_boxes(boxes, w, n / POINTS + 1);
    }
    return w;
}

// Whether all of the map around a point is free; *ret_known: all of it is known.
static bool is_free(const nav_msgs_msg_dds__OccupancyGrid_ *map, double x, double y,
                    bool *ret_known)
{
    const double res = (double)map->info.resolution;
    const int w = (int)map->info.width, h = (int)map->info.height,
              around = (int)ceil(AROUND_M / res), cx = (int)floor(x / res),
              cy = (int)floor(y / res);
    *ret_known = cx - around >= 0 && cy - around >= 0 && cx + around < w && cy + around < h;
    const int step = around / 6 + 1; // of a very fine one some are looked at
    bool free_ = *ret_known;
    for (int dy = -around; dy <= around && *ret_known && free_; dy += step) {
        for (int dx = -around; dx <= around && *ret_known && free_; dx += step) {
            const int8_t cell =
                map->data._buffer[(size_t)(cy + dy) * (size_t)w + (size_t)(cx + dx)];
            free_ = cell < OCCUPIED;
            *ret_known = !free_ || cell >= 0;
        }
    }
    return free_;
}

static pons_pose2 origin_of(const nav_msgs_msg_dds__OccupancyGrid_ *map)
{
    const geometry_msgs_msg_dds__Quaternion_ q = map->info.origin.orientation;
    return (pons_pose2){map->info.origin.position.x, map->info.origin.position.y,
                        2.0 * atan2(q.z, q.w)};
}

static bool is_map(const nav_msgs_msg_dds__OccupancyGrid_ *map)
{
    const pons_pose2 at = origin_of(map);
    const double res = (double)map->info.resolution;
    return res >= 1e-3 && res <= 10.0 && fabs(at.x) < FAR_M && fabs(at.y) < FAR_M &&
           isfinite(at.yaw) && map->info.width > 0 && map->info.height > 0 &&
           map->info.width <= 1 << 20 && map->info.height <= 1 << 20 &&
           (uint64_t)map->info.width * map->info.height == map->data._length;
}

// Sets why to "", or to a line: too much of the world's walls is free floor in the map. True: the map knows enough of them.
static bool compare(const walls *w, const nav_msgs_msg_dds__OccupancyGrid_ *map, char *ret,
                    size_t cap)
{
    const pons_pose2 at = origin_of(map);
    const double c = cos(at.yaw), s = sin(at.yaw);
    int known = 0, free_ = 0;
    for (int i = 0; i < w->n; i++) {
        const double dx = w->at[i].x - at.x, dy = w->at[i].y - at.y;
        bool is_known = false;
        if (!(fabs(dx) < FAR_M && fabs(dy) < FAR_M)) {
            continue;
        }
        const bool f = is_free(map, c * dx + s * dy, c * dy - s * dx, &is_known);
        known += is_known;
        free_ += is_known && f;
    }
    if (known >= KNOWN_LEAST && free_ > SHARE * known) {
        snprintf(ret, cap,
                 "it is of another place than the world: %d of %d points of walls are free", free_,
                 known);
    }
    return known >= KNOWN_LEAST;
}

// ---- the topic ----------------------------------------------------------------------------------

int ros2_map_open(ros2_node *n, const ros2_config *c, const pons_value *world, ros2_map **ret,
                  pons_error *err)
{
    const bool grows = pons_get_bool(pons_get(world, "map"), "grows", false);
    walls *w = c->place && *c->t_map.name ? walls_of(world) : NULL;
    if (!c->place || !*c->t_map.name || (!w && !grows)) {
        return PONS_OK;
    }
    ros2_map *m = calloc(1, sizeof *m);
    if (!m) {
        free(w);
        return pons_error_set(err, PONS_ENOMEM, "ros2", "no memory for a map");
    }
    pthread_mutex_init(&m->lock, NULL);
    m->n = n;
    m->c = c;
    m->walls = w;
    m->grows = grows;
    m->reader = ros2_node_reader(n, "rt", c->t_map.name, NULL,
                                 &nav_msgs_msg_dds__OccupancyGrid__desc, c->t_map.qos, err);
    if (!m->reader) {
        ros2_map_close(m);
        return PONS_EENV;
    }
    *ret = m;
    return PONS_OK;
}

void ros2_map_close(ros2_map *m)
{
    if (m) {
        free(m->newest.cells);
        free(m->walls);
        pthread_mutex_destroy(&m->lock);
        free(m);
    }
}

// Keeps the map for the body. Without memory the map is dropped.
static void keep(ros2_map *m, const nav_msgs_msg_dds__OccupancyGrid_ *map, int64_t now_ns,
                 int64_t ros_ns)
{
    const int64_t stamp_ns = (int64_t)map->header.stamp.sec * PONS_NS_PER_S +
                             (int64_t)map->header.stamp.nanosec - (ros_ns - now_ns);
    int8_t *cells = malloc(map->data._length);
    if (!cells) {
        return;
    }
    memcpy(cells, map->data._buffer, map->data._length);
    pthread_mutex_lock(&m->lock);
    int8_t *old = m->newest.cells;
    m->newest = (pons_robot_map){.number = ++m->number,
                                 .stamp_ns = stamp_ns < now_ns ? stamp_ns : now_ns,
                                 .w = (int)map->info.width,
                                 .h = (int)map->info.height,
                                 .resolution_m = (double)map->info.resolution,
                                 .origin = origin_of(map),
                                 .cells = cells};
    pthread_mutex_unlock(&m->lock);
    free(old);
}

// Reads the newest maps, and compares or keeps them.
void ros2_map_take(ros2_map *m, int64_t now_ns, int64_t ros_ns)
{
    ROS2_TAKE(m->reader, nav_msgs_msg_dds__OccupancyGrid_, map)
    {
        char why[100] = "";
        const bool framed = strcmp(map->header.frame_id, m->c->map) == 0;
        if (!framed && !m->grows) { // a map in another frame is not meant for this world
            continue;
        }
        if (!framed) {
            snprintf(why, sizeof why, "it is in the frame '%.30s', not '%.30s'",
                     map->header.frame_id, m->c->map);
        } else if (!is_map(map)) {
            snprintf(why, sizeof why, "its size, its resolution or its origin is not valid");
        } else if (m->walls && !(m->grows && m->agreed)) {
            m->agreed = compare(m->walls, map, why, sizeof why) && !*why;
        }
        snprintf(m->bad, sizeof m->bad, "%.50s%s%.90s", *why ? m->c->t_map.name : "",
                 *why ? ": " : "", why);
        if (m->grows && !*why) {
            keep(m, map, now_ns, ros_ns);
        }
    }
    char why[PONS_OUTSIDE_TEXT_MAX] = "";
    if (m->grows && !ros2_node_matched(m->reader)) {
        ros2_node_why(m->n, m->reader, why, sizeof why);
    } else if (m->grows && m->number == 0) { // only this thread changes it
        snprintf(why, sizeof why, "%.80s: %s", m->c->t_map.name, "nothing has come yet");
    }
    pthread_mutex_lock(&m->lock);
    memcpy(m->why, why, sizeof why);
    pthread_mutex_unlock(&m->lock);
}

const char *ros2_map_bad(const ros2_map *m)
{
    return m ? m->bad : "";
}

bool ros2_map_newest(ros2_map *m, uint64_t seen, pons_robot_map *ret,
                     char ret_why[PONS_OUTSIDE_TEXT_MAX])
{
    ret_why[0] = '\0';
    if (!m) {
        snprintf(ret_why, PONS_OUTSIDE_TEXT_MAX, "config/ros2.yaml has no topic for a map");
        return false;
    }
    pthread_mutex_lock(&m->lock);
    const bool newer = m->newest.cells && m->newest.number != seen;
    if (newer) {
        *ret = m->newest;
        m->newest.cells = NULL;
    } else {
        memcpy(ret_why, m->why, sizeof m->why);
    }
    pthread_mutex_unlock(&m->lock);
    return newer;
}
