// topics.c - what the body says, and what happens, as messages of topics.
//
//     /body/TYPE    pons.TYPE                each report as it came; what `pons replay` goes by
//     /tf           foxglove.FrameTransform  map -> base, of each telemetry
//     /pose         foxglove.PoseInFrame     the same, for a trail
//     /obstacles    foxglove.SceneUpdate     what is seen that no map has
//     /scan         foxglove.LaserScan       of a view, as it was measured
//     /path         foxglove.PosesInFrame    of a view: the way ahead; empty: none is followed
//     /zones        foxglove.SceneUpdate     of a hello: outlines and names
//     /map          foxglove.Grid            of a world's file
//     /camera/NAME  foxglove.CompressedImage
//     /events       pons.event               every event of a thread
//     /log          foxglove.Log             the stored ones, for people
#include "pons/buf.h"
#include "pons/geometry.h"
#include "pons/link_report.h"
#include "pons/record.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GRID_CELLS_MAX (4 * 1024 * 1024)
#define GRID_CELL_M    0.05
#define UINT8          1 // of foxglove.Grid's fields
#define LINE_LOOP      1 // of foxglove.SceneUpdate's lines
#define PAYLOAD_MAX    400
#define DEGREE         (M_PI / 180.0)

static pons_value *stamp(int64_t ns)
{
    return pons_object("sec", json_integer(ns / PONS_NS_PER_S), "nsec",
                       json_integer(ns % PONS_NS_PER_S), NULL);
}

static pons_value *xyz(double x, double y, double z)
{
    return pons_object("x", json_real(x), "y", json_real(y), "z", json_real(z), NULL);
}

static pons_value *turned(double yaw)
{
    return pons_object("x", json_real(0), "y", json_real(0), "z", json_real(sin(yaw / 2)), "w",
                       json_real(cos(yaw / 2)), NULL);
}

static pons_value *pose_of(double x, double y, double yaw)
{
    return pons_object("position", xyz(x, y, 0), "orientation", turned(yaw), NULL);
}

static pons_value *color(double r, double g, double b, double a)
{
    return pons_object("r", json_real(r), "g", json_real(g), "b", json_real(b), "a", json_real(a),
                       NULL);
}

// Takes the message.
static void give(pons_record_put put, void *user, const char *topic, const char *schema,
                 pons_value *message)
{
    if (message) {
        put(user, topic, schema, message);
        pons_value_unref(message);
    }
}

// ---- reports ------------------------------------------------------------------------------------

static pons_value *scene(const char *id, int64_t ns, pons_value *lines, pons_value *texts,
                         pons_value *cylinders)
{
    pons_value *entity = pons_object(
        "timestamp", stamp(ns), "frame_id", json_string("map"), "id", json_string(id), "lifetime",
        pons_object("sec", json_integer(0), "nsec", json_integer(0), NULL), "frame_locked",
        json_false(), "lines", lines, "texts", texts, "cylinders", cylinders, NULL);
    // What an entity has none of is an empty list to who reads it by its schema.
    static const char *const none[] = {"metadata", "arrows",    "cubes",
                                       "spheres",  "triangles", "models"};
    for (size_t i = 0; i < sizeof none / sizeof none[0]; i++) {
        json_object_set_new(entity, none[i], json_array());
    }
    pons_value *entities = json_array();
    json_array_append_new(entities, entity);
    return pons_object("deletions", json_array(), "entities", entities, NULL);
}

static pons_value *outline(const pons_value *polygon, pons_value *of_color)
{
    pons_value *points = json_array();
    pons_each(p, polygon) {
        json_array_append_new(points, xyz(json_number_value(json_array_get(p, 0)),
                                          json_number_value(json_array_get(p, 1)), 0.01));
    }
    return pons_object("type", json_integer(LINE_LOOP), "pose", pose_of(0, 0, 0), "thickness",
                       json_real(0.03), "scale_invariant", json_false(), "points", points, "color",
                       of_color, "colors", json_array(), "indices", json_array(), NULL);
}

static void add_zones(const pons_value *list, pons_value *lines, pons_value *texts, double r,
                      double g, double b)
{
    for (size_t i = 0; i < json_array_size(list); i++) {
        const pons_value *zone = json_array_get(list, i), *polygon = pons_get(zone, "polygon");
        const size_t n = json_array_size(polygon);
        double x = 0.0, y = 0.0;
        for (size_t k = 0; k < n; k++) {
            const pons_value *p = json_array_get(polygon, k);
            x += json_number_value(json_array_get(p, 0)) / (double)n;
            y += json_number_value(json_array_get(p, 1)) / (double)n;
        }
        if (n < 3) {
            continue;
        }
        json_array_append_new(lines, outline(polygon, color(r, g, b, 1.0)));
        json_array_append_new(texts, pons_object("pose", pose_of(x, y, 0), "billboard", json_true(),
                                                 "font_size", json_real(0.25), "scale_invariant",
                                                 json_false(), "color", color(r, g, b, 1.0), "text",
                                                 json_string(pons_get_str(zone, "id", "")), NULL));
    }
}

static void on_hello(const pons_report_hello *h, int64_t ns, pons_record_put put, void *user)
{
    pons_value *lines = json_array(), *texts = json_array();
    add_zones(pons_get(h->world, "zones"), lines, texts, 0.3, 0.6, 1.0);
    add_zones(pons_get(h->world, "keep_out"), lines, texts, 1.0, 0.2, 0.2);
    add_zones(pons_get(h->world, "speed_zones"), lines, texts, 1.0, 0.7, 0.1);
    give(put, user, "/zones", "foxglove.SceneUpdate",
         scene("zones", ns, lines, texts, json_array()));
}

static void on_telemetry(const pons_report_telemetry *t, int64_t ns, pons_record_put put,
                         void *user)
{
    const pons_report_pose *p = &t->pose;
    pons_value *cylinders = json_array();
    give(put, user, "/tf", "foxglove.FrameTransform",
         pons_object("timestamp", stamp(ns), "parent_frame_id", json_string("map"),
                     "child_frame_id", json_string("base"), "translation", xyz(p->x, p->y, 0),
                     "rotation", turned(p->yaw), NULL));
    give(put, user, "/pose", "foxglove.PoseInFrame",
         pons_object("timestamp", stamp(ns), "frame_id", json_string("map"), "pose",
                     pose_of(p->x, p->y, p->yaw), NULL));
    for (size_t i = 0; i < json_array_size(t->obstacles); i++) {
        pons_report_obstacle o;
        pons_report_obstacle_read(json_array_get(t->obstacles, i), &o);
        json_array_append_new(cylinders, pons_object("pose", pose_of(o.x, o.y, 0), "size",
                                                     xyz(2 * o.r, 2 * o.r, 0.3), "bottom_scale",
                                                     json_real(1), "top_scale", json_real(1),
                                                     "color", color(1.0, 0.5, 0.0, 0.6), NULL));
    }
    give(put, user, "/obstacles", "foxglove.SceneUpdate",
         scene("obstacles", ns, json_array(), json_array(), cylinders));
}

static void on_view(const pons_report_view *v, int64_t ns, pons_record_put put, void *user)
{
    pons_value *poses = json_array();
    for (size_t i = 0; i + 1 < json_array_size(v->path); i += 2) {
        json_array_append_new(poses, pose_of(json_number_value(json_array_get(v->path, i)),
                                             json_number_value(json_array_get(v->path, i + 1)), 0));
    }
    give(put, user, "/path", "foxglove.PosesInFrame",
         pons_object("timestamp", stamp(ns), "frame_id", json_string("map"), "poses", poses, NULL));
    const pons_value *ranges = pons_get(v->laser, "ranges");
    const size_t n = json_array_size(ranges);
    if (n > 0) {
        const double from = pons_get_num(v->laser, "angle_min", 0.0);
        const double each = pons_get_num(v->laser, "angle_increment", DEGREE);
        give(put, user, "/scan", "foxglove.LaserScan",
             pons_object("timestamp", stamp(ns), "frame_id", json_string("base"), "pose",
                         pose_of(pons_get_num(v->laser, "x", 0.0), pons_get_num(v->laser, "y", 0.0),
                                 pons_get_num(v->laser, "yaw", 0.0)),
                         "start_angle", json_real(from), "end_angle",
                         json_real(from + each * (double)(n - 1)), "ranges", pons_value_ref(ranges),
                         "intensities", json_array(), NULL));
    }
}

void pons_record_report(const pons_value *report, int64_t ns, pons_record_put put, void *user)
{
    char topic[64], schema[64];
    pons_report r;
    pons_report_decode(report, &r, NULL); // what is wrong in it has its default
    const char *word = pons_report_word(r.type);
    if (!word) {
        return; // of a body that is newer
    }
    snprintf(topic, sizeof topic, "/body/%s", word);
    snprintf(schema, sizeof schema, "pons.%s", word);
    put(user, topic, schema, report);
    if (r.type == PONS_REPORT_TELEMETRY) {
        on_telemetry(&r.as.telemetry, ns, put, user);
    } else if (r.type == PONS_REPORT_VIEW) {
        on_view(&r.as.view, ns, put, user);
    } else if (r.type == PONS_REPORT_HELLO) {
        on_hello(&r.as.hello, ns, put, user);
    }
    pons_report_clear(&r);
}

// ---- what happens -------------------------------------------------------------------------------

void pons_record_line(const char *text, int level, int64_t ns, pons_record_put put, void *user)
{
    give(put, user, "/log", "foxglove.Log",
         pons_object("timestamp", stamp(ns), "level", json_integer(level), "message",
                     pons_string(text), "name", json_string("pons"), "file", json_string(""),
                     "line", json_integer(0), NULL));
}

void pons_record_event_tell(const pons_record_event *e, pons_record_put put, void *user)
{
    const int64_t ns = e->ts_ms * PONS_NS_PER_MS;
    give(put, user, "/events", "pons.event",
         pons_object("thread", pons_string(e->thread), "ns", pons_string(e->ns), "seq",
                     json_integer(e->seq), "ts_ms", json_integer(e->ts_ms), "type",
                     pons_string(e->type), "payload",
                     e->payload ? pons_value_ref(e->payload) : json_object(), NULL));
    char *payload = NULL;
    if (e->seq > 0 && e->payload && pons_value_line(e->payload, &payload) >= 0) {
        char text[PAYLOAD_MAX + 64];
        snprintf(text, sizeof text, "%s %.*s", e->type, PAYLOAD_MAX, payload);
        pons_record_line(text, strcmp(e->type, "stop") == 0 ? 3 : 2, ns, put, user);
    }
    free(payload);
}

// ---- pictures and maps --------------------------------------------------------------------------

void pons_record_picture(const char *name, const void *jpeg, size_t n, int64_t ns,
                         pons_record_put put, void *user)
{
    char topic[128];
    pons_autobuf data = PONS_BUF_INIT;
    const bool whole = pons_buf_base64(&data, jpeg, n) >= 0;
    snprintf(topic, sizeof topic, "/camera/%s", name);
    give(put, user, topic, "foxglove.CompressedImage",
         whole ? pons_object("timestamp", stamp(ns), "frame_id", json_string(name), "data",
                             json_string(data.data), "format", json_string("jpeg"), NULL)
               : NULL);
}

void pons_record_world(const pons_value *world, int64_t ns, pons_record_put put, void *user)
{
    const pons_value *bounds = pons_get(world, "bounds");
    const pons_value *boxes = pons_get(pons_get(world, "map"), "boxes");
    double b[4], cell = GRID_CELL_M;
    if (json_array_size(bounds) != 4) {
        return;
    }
    for (size_t i = 0; i < 4; i++) {
        b[i] = json_number_value(json_array_get(bounds, i));
    }
    while ((b[2] - b[0]) / cell * ((b[3] - b[1]) / cell) > GRID_CELLS_MAX) {
        cell *= 2;
    }
    const int w = (int)ceil((b[2] - b[0]) / cell), h = (int)ceil((b[3] - b[1]) / cell);
    int8_t *cells = w > 0 && h > 0 ? calloc((size_t)w, (size_t)h) : NULL;
    if (cells) {
        pons_boxes_draw(boxes, b, cell, w, h, cells);
    }
    pons_autobuf data = PONS_BUF_INIT;
    const bool whole = cells && pons_buf_base64(&data, cells, (size_t)w * (size_t)h) >= 0;
    pons_value *fields = json_array();
    json_array_append_new(fields, pons_object("name", json_string("occupied"), "offset",
                                              json_integer(0), "type", json_integer(UINT8), NULL));
    give(put, user, "/map", "foxglove.Grid",
         whole ? pons_object("timestamp", stamp(ns), "frame_id", json_string("map"), "pose",
                             pose_of(b[0], b[1], 0), "column_count", json_integer(w), "cell_size",
                             pons_object("x", json_real(cell), "y", json_real(cell), NULL),
                             "row_stride", json_integer(w), "cell_stride", json_integer(1),
                             "fields", pons_value_ref(fields), "data", json_string(data.data), NULL)
               : NULL);
    pons_value_unref(fields);
    free(cells);
}
