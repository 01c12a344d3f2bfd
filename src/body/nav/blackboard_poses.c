// blackboard_poses.c - poses and paths as blackboard values, and the ports of leaves.
//
// A goal that stands in a tree as text is read as Nav2 writes them: "x;y;yaw", or a stamped pose
// "time;frame;x;y;z;qx;qy;qz;qw".
#include "body/nav/tree.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

pons_value *pons__nav_in(const pons_bt_call *call, const char *port)
{
    pons_value *v = NULL;
    return pons_bt_call_input(call, port, &v, NULL) < 0 ? NULL : v;
}

double pons__nav_in_num(const pons_bt_call *call, const char *port, double fallback)
{
    pons_autovalue v = pons__nav_in(call, port);
    if (json_is_number(v)) {
        return json_number_value(v);
    }
    const char *text = json_string_value(v);
    char *end = NULL;
    const double d = text ? strtod(text, &end) : 0.0;
    return text && end != text && *end == '\0' ? d : fallback;
}

bool pons__nav_in_bool(const pons_bt_call *call, const char *port, bool fallback)
{
    pons_autovalue v = pons__nav_in(call, port);
    if (json_is_boolean(v)) {
        return json_is_true(v);
    }
    if (json_is_integer(v)) {
        return json_integer_value(v) != 0;
    }
    const char *text = json_string_value(v);
    return !text ? fallback : strcasecmp(text, "true") == 0 || strcmp(text, "1") == 0;
}

char *pons__nav_in_text(const pons_bt_call *call, const char *port, char *buf, size_t cap)
{
    pons_autovalue v = pons__nav_in(call, port);
    snprintf(buf, cap, "%s", json_is_string(v) ? json_string_value(v) : "");
    return buf;
}

static bool pose_of_text(const char *text, pons_pose2 *ret, bool *ret_any_yaw)
{
    double x, y, z, q[4];
    int end = 0;
    const char *frame = strchr(text, ';');
    if (sscanf(text, "%lf;%lf;%lf%n", &x, &y, &z, &end) == 3 && text[end] == '\0') {
        *ret = (pons_pose2){x, y, pons_wrap_angle(z)};
    } else if (frame && (frame = strchr(frame + 1, ';')) &&
               sscanf(frame, ";%lf;%lf;%lf;%lf;%lf;%lf;%lf%n", &x, &y, &z, &q[0], &q[1], &q[2],
                      &q[3], &end) == 7 &&
               frame[end] == '\0') {
        const double yaw =
            atan2(2.0 * (q[3] * q[2] + q[0] * q[1]), 1.0 - 2.0 * (q[1] * q[1] + q[2] * q[2]));
        *ret = (pons_pose2){x, y, yaw};
    } else {
        return false;
    }
    if (ret_any_yaw) {
        *ret_any_yaw = false;
    }
    return isfinite(ret->x + ret->y + ret->yaw);
}

bool pons__nav_in_pose(const pons_bt_call *call, const char *port, pons_pose2 *ret,
                       bool *ret_any_yaw)
{
    pons_autovalue v = pons__nav_in(call, port);
    return json_is_string(v) ? pose_of_text(json_string_value(v), ret, ret_any_yaw)
                             : pons__nav_pose_read(v, ret, ret_any_yaw);
}

void pons__nav_out(const pons_bt_call *call, const char *port, pons_value *value)
{
    // A type that does not fit is the tree's mistake; its reader says so.
    if (value) {
        pons_bt_call_output(call, port, value, NULL);
    }
}

pons_value *pons__nav_pose_value(pons_pose2 p, bool any_yaw)
{
    return pons_object("x", json_real(p.x), "y", json_real(p.y), "yaw",
                       any_yaw ? NULL : json_real(p.yaw), NULL);
}

bool pons__nav_pose_read(const pons_value *v, pons_pose2 *ret, bool *ret_any_yaw)
{
    const pons_value *yaw = pons_get(v, "yaw");
    const double x = pons_get_num(v, "x", NAN), y = pons_get_num(v, "y", NAN);
    if (!isfinite(x) || !isfinite(y)) {
        return false;
    }
    *ret = (pons_pose2){x, y, json_is_number(yaw) ? pons_wrap_angle(json_number_value(yaw)) : 0.0};
    if (ret_any_yaw) {
        *ret_any_yaw = !json_is_number(yaw);
    }
    return true;
}

pons_value *pons__nav_path_value(pons_value *poses, double from_m, double length_m)
{
    return pons_object("poses", poses, "from_m", json_real(from_m), "length_m",
                       json_real(fmax(length_m, 0.0)), NULL);
}

pons_value *pons__nav_poses_of(const pons__path *path, double from_m, double to_m,
                               const double *end_yaw)
{
    pons_value *list = json_array();
    if (path->n == 0 || to_m < from_m) {
        return list;
    }
    double x, y;
    pons__path_at(path, from_m, &x, &y);
    json_array_append_new(list, pons_object("x", json_real(x), "y", json_real(y), NULL));
    for (int i = 0; i < path->n; i++) {
        if (path->s[i] > from_m + 1e-6 && path->s[i] < to_m - 1e-6) {
            json_array_append_new(
                list, pons_object("x", json_real(path->x[i]), "y", json_real(path->y[i]), NULL));
        }
    }
    pons__path_at(path, to_m, &x, &y);
    json_array_append_new(list, pons_object("x", json_real(x), "y", json_real(y), "yaw",
                                            end_yaw ? json_real(*end_yaw) : NULL, NULL));
    return list;
}

bool pons__nav_path_read(const pons_value *path, pons__path *ret, double *ret_yaw,
                         bool *ret_has_yaw)
{
    const pons_value *poses = pons__nav_poses(path);
    const size_t have = json_array_size(poses);
    if (have < 2) {
        return false;
    }
    // A path of more points than there is room for is thinned; its end stays.
    const size_t stride = (have + PONS__PATH_MAX - 2) / (PONS__PATH_MAX - 1);
    ret->n = 0;
    for (size_t i = 0; i < have; i = i + stride < have || i == have - 1 ? i + stride : have - 1) {
        const pons_value *p = json_array_get(poses, i);
        const double x = pons_get_num(p, "x", NAN), y = pons_get_num(p, "y", NAN);
        if (!isfinite(x + y)) {
            return false;
        }
        const int k = ret->n++;
        ret->x[k] = x;
        ret->y[k] = y;
        ret->s[k] = k == 0 ? 0.0 : ret->s[k - 1] + hypot(x - ret->x[k - 1], y - ret->y[k - 1]);
        ret->left[k] = 0.0;
    }
    const pons_value *yaw = pons_get(json_array_get(poses, have - 1), "yaw");
    *ret_has_yaw = json_is_number(yaw);
    *ret_yaw = *ret_has_yaw ? json_number_value(yaw) : 0.0;
    ret->moved_goal = false;
    return true;
}

// Humble's configurations write nav2_x/Y where later ones have nav2_x::Y.
static bool same_name(const char *known, const char *name)
{
    const char *colons = strstr(known, "::");
    const size_t n = colons ? (size_t)(colons - known) : 0;
    return strcmp(known, name) == 0 || (colons && strncmp(known, name, n) == 0 && name[n] == '/' &&
                                        strcmp(colons + 2, name + n + 1) == 0);
}

bool pons__nav_known(const char *name, const char *const *known)
{
    if (!*name) {
        return true;
    }
    for (; *known; known++) {
        if (same_name(*known, name)) {
            return true;
        }
    }
    return false;
}
