// loose_objects.c - loose things of a world: their shapes in the model, and where each began.
//
// A ball and a box are one geom. What holds something is a vessel: a floor and walls, all boxes, so
// that it meets a table in several points and does not rock; a basket has four walls, a cup eight,
// which fingers meet flatly. The friction is that of things one can hold.
#include "drivers/mujoco/mjcf_world.h"
#include "pons/random.h"

#include <math.h>

#define BALL_RADIUS_M 0.04
#define BALL_MASS_KG  0.2
#define WALL_M        0.006
#define FRONT_M       0.0005                // half of a plate
#define JITTER_SALT   0x6a69747465720000ull // so that a scan's noise does not depend on objects

static const char FEEL[] = "group=\"2\" contype=\"4\" conaffinity=\"6\" condim=\"6\" "
                           "friction=\"1 .02 .001\" solref=\".008 1\"";

static const pons_value *shape_of(const pons_value *object)
{
    return pons_get(object, "shape");
}

pons_robot_shape pons__mj_object_shape(const pons_value *object, double ret_half[3])
{
    const pons_value *s = shape_of(object), *size = pons_get(s, "size");
    const char *kind = pons_get_str(s, "kind", "ball");
    const double r = pons_get_num(s, "radius_m", BALL_RADIUS_M);
    const double h = pons_get_num(s, "height_m", 2.0 * r);
    for (size_t i = 0; i < 3; i++) {
        ret_half[i] = r;
        if (strcmp(kind, "box") == 0) {
            ret_half[i] = 0.5 * json_number_value(json_array_get(size, i));
        }
    }
    if (strcmp(kind, "cup") == 0 || strcmp(kind, "basket") == 0) {
        ret_half[2] = 0.5 * h;
    }
    return strcmp(kind, "box") == 0      ? PONS_SHAPE_BOX
           : strcmp(kind, "cup") == 0    ? PONS_SHAPE_CUP
           : strcmp(kind, "basket") == 0 ? PONS_SHAPE_BASKET
                                         : PONS_SHAPE_BALL;
}

static void write_vessel(FILE *out, const double half[3], int sides, double mass, const char *rgba)
{
    const double inner = half[0] - 0.5 * WALL_M, wide = half[0] * tan(M_PI / sides);
    const double floor_ = sides == 4 ? half[0] : half[0] * cos(M_PI / sides);
    fprintf(out,
            "<geom type=\"box\" pos=\"0 0 %.17g\" size=\"%.17g %.17g %.17g\" mass=\"%.17g\" %s "
            "rgba=\"%s\"/>",
            -half[2] + 0.5 * WALL_M, floor_, floor_, 0.5 * WALL_M, 0.5 * mass, FEEL, rgba);
    for (int i = 0; i < sides; i++) {
        const double a = 2.0 * M_PI * i / sides;
        fprintf(out,
                "<geom type=\"box\" pos=\"%.17g %.17g %.17g\" euler=\"0 0 %.17g\" "
                "size=\"%.17g %.17g %.17g\" mass=\"%.17g\" %s rgba=\"%s\"/>",
                inner * cos(a), inner * sin(a), 0.5 * WALL_M, a, 0.5 * WALL_M, wide,
                half[2] - 0.5 * WALL_M, 0.5 * mass / sides, FEEL, rgba);
    }
}

void pons__mj_object_place(const pons_value *world, size_t index, uint64_t seed, double ret[3])
{
    const pons_value *o = json_array_get(pons_get(world, "objects"), index);
    const pons_value *at = pons_get(o, "position");
    const double jitter = pons_get_num(o, "jitter_m", 0.0);
    pons_rand r;
    pons_rand_seed(&r, seed ^ (JITTER_SALT + index));
    for (size_t i = 0; i < 3; i++) {
        const double share = 2.0 * pons_rand_unit(&r) - 1.0;
        ret[i] = json_number_value(json_array_get(at, i)) + (i < 2 ? share * jitter : 0.0);
    }
}

void pons__mj_object_texture(const pons_value *world, size_t index, char ret[32])
{
    const pons_value *o = json_array_get(pons_get(world, "objects"), index);
    ret[0] = '\0';
    if (pons_get(shape_of(o), "texture")) {
        snprintf(ret, 32, "front%zu.png", index);
    }
}

// On the side that looks along x: a plate that touches nothing, its texture upright for who stands before it.
static void write_front(FILE *out, const pons_value *object, const double half[3],
                        const char *texture)
{
    const double side = pons_get_num(shape_of(object), "texture_m", 2.0 * fmin(half[1], half[2]));
    fprintf(
        out,
        "<geom type=\"box\" pos=\"%.17g 0 0\" xyaxes=\"0 1 0 0 0 1\" size=\"%.17g %.17g %.17g\" "
        "mass=\"0\" group=\"2\" contype=\"0\" conaffinity=\"0\" material=\"%s\"/>",
        half[0], 0.5 * side, 0.5 * side, FRONT_M, texture);
}

void pons__mj_object_write(FILE *out, const pons_value *world, size_t index, uint64_t seed)
{
    const pons_value *o = json_array_get(pons_get(world, "objects"), index);
    const char *rgba = pons_get_str(shape_of(o), "rgba", ".8 .2 .2 1");
    const double mass = pons_get_num(o, "mass_kg", BALL_MASS_KG);
    double half[3], p[3];
    const pons_robot_shape kind = pons__mj_object_shape(o, half);
    pons__mj_object_place(world, index, seed, p);
    char texture[32];
    pons__mj_object_texture(world, index, texture);
    fprintf(out, "<body name=\"object:%s\" pos=\"%.17g %.17g %.17g\" euler=\"0 0 %.17g\">%s",
            pons_get_str(o, "id", ""), p[0], p[1], p[2], pons_get_num(o, "yaw", 0.0),
            pons_get_bool(shape_of(o), "anchored", false) ? "" : "<freejoint/>");
    if (*texture) {
        write_front(out, o, half, texture);
    }
    if (kind == PONS_SHAPE_BALL) {
        fprintf(out, "<geom size=\"%.17g\" mass=\"%.17g\" %s rgba=\"%s\"/>", half[0], mass, FEEL,
                rgba);
    } else if (kind == PONS_SHAPE_BOX) {
        fprintf(out,
                "<geom type=\"box\" size=\"%.17g %.17g %.17g\" mass=\"%.17g\" %s rgba=\"%s\"/>",
                half[0], half[1], half[2], mass, FEEL, rgba);
    } else {
        write_vessel(out, half, kind == PONS_SHAPE_CUP ? 8 : 4, mass, rgba);
    }
    fputs("</body>\n", out);
}
