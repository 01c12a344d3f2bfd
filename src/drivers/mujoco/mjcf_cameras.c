// mjcf_cameras.c - a world's cameras in its MJCF, and what their pictures want of it.
#include "drivers/mujoco/mjcf_world.h"

#include <math.h>

bool pons__mj_camera_on(const pons_value *world, const char *on)
{
    bool is = false;
    pons_each(c, pons_get(world, "cameras")) {
        is = is || (strcmp(pons_get_str(c, "on", ""), on) == 0 && !pons_get(c, "device"));
    }
    return is;
}

static void write_camera(FILE *out, const pons_value *c, double lift)
{
    const pons_value *at = pons_get(c, "at"), *to = pons_get(c, "look_at");
    double p[3], z[3], n = 0.0;
    if (pons_get(c, "device")) {
        return; // a real one
    }
    for (size_t i = 0; i < 3; i++) {
        p[i] = json_number_value(json_array_get(at, i));
        z[i] = p[i] - json_number_value(json_array_get(to, i)); // MuJoCo's look along -z
        n += z[i] * z[i];
    }
    p[2] -= lift;
    n = n > 0.0 ? sqrt(n) : 1.0;
    for (int i = 0; i < 3; i++) {
        z[i] /= n;
    }
    // x to the right: level, where that is possible
    double x[3] = {-z[1], z[0], 0.0};
    const double level = hypot(x[0], x[1]);
    if (level < 1e-6) {
        x[0] = 0.0;
        x[1] = -1.0;
    } else {
        x[0] /= level;
        x[1] /= level;
    }
    const double y[3] = {z[1] * x[2] - z[2] * x[1], z[2] * x[0] - z[0] * x[2],
                         z[0] * x[1] - z[1] * x[0]};
    fprintf(out,
            "<camera name=\"%s\" fovy=\"%g\" pos=\"%g %g %g\" "
            "xyaxes=\"%.9g %.9g %.9g %.9g %.9g %.9g\"/>\n",
            pons_get_str(c, "id", ""), pons_get_num(c, "fovy_deg", 45.0), p[0], p[1], p[2], x[0],
            x[1], x[2], y[0], y[1], y[2]);
}

void pons__mj_cameras_write(FILE *out, const pons_value *world, const char *on, double lift)
{
    const pons_value *all = pons_get(world, "cameras");
    for (size_t i = 0; i < json_array_size(all); i++) {
        const pons_value *c = json_array_get(all, i);
        if (strcmp(pons_get_str(c, "on", ""), on) == 0) {
            write_camera(out, c, lift);
        }
    }
}
