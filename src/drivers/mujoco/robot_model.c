// robot_model.c - a differential drive of any size, for worlds whose model is made.
//
// worlds/robot.xml is one robot; a world that describes another gets the same construction in its own
// measures: an ellipsoid of a wheel to each side, casters without friction 1 mm above the floor, where its
// footprint has most room ahead and behind, and what touches walls. That is a sphere for a round robot, as in
// robot.xml; for a polygon a prism of its corners, from the floor's clearance up to the lidar. The mass goes
// with the area, about that of robot.xml's robot.
#include "drivers/mujoco/mjcf_world.h"
#include "pons/footprint.h"

#include <math.h>

static const double SAME_M = 1e-9;
static const double RADIUS_M = 0.22, WHEEL_M = 0.08, TRACK_M = 0.34; // of worlds/robot.xml
static const double KG_M2 = 55.0;                                    // 8 kg on a circle of 0.22 m
static const double LIDAR_Z_M = 0.18; // above the floor, as in the drivers
static const double CASTER_M = 0.03, CASTER_ROOM_M = 0.06, LIFT_M = 0.001;
static const double UNDER_M = 0.03, TOP_M = 0.30; // of the prism, above the floor

static double number(const pons_value *robot, const char *key, double usual)
{
    return pons_get_num(robot, key, usual);
}

bool pons__mj_robot_is_usual(const pons_value *world)
{
    const pons_value *r = pons_get(world, "robot");
    return !pons_get(r, "footprint") && !pons__mj_camera_on(world, "base") &&
           fabs(number(r, "radius_m", RADIUS_M) - RADIUS_M) < SAME_M &&
           fabs(number(r, "wheel_radius_m", WHEEL_M) - WHEEL_M) < SAME_M &&
           fabs(number(r, "track_m", TRACK_M) - TRACK_M) < SAME_M;
}

// How far the footprint goes ahead (+1) or behind (−1) on the line through its base.
static double reach(const pons_footprint *f, int dir)
{
    double low = 0.0, high = f->circumscribed_m;
    while (high - low > 1e-4) {
        const double middle = 0.5 * (low + high);
        *(pons_footprint_distance(f, dir * middle, 0.0) < 0.0 ? &low : &high) = middle;
    }
    return low;
}

static double area(const pons_footprint *f)
{
    double twice = 0.0;
    for (int i = 0; i < f->n; i++) {
        const int k = (i + 1) % f->n;
        twice += f->x[i] * f->y[k] - f->x[k] * f->y[i];
    }
    return f->n > 0 ? 0.5 * twice : M_PI * f->circumscribed_m * f->circumscribed_m;
}

static void write_bumper(FILE *out, const pons_footprint *f, double wheel)
{
    if (f->n == 0) {
        const double up = fmax(f->circumscribed_m + 0.02, LIDAR_Z_M + 0.06) - wheel;
        fprintf(out,
                "<geom name=\"bumper\" type=\"sphere\" pos=\"0 0 %.9g\" size=\"%.9g\" group=\"1\" "
                "contype=\"2\" conaffinity=\"4\" condim=\"1\" rgba=\"0 0 0 0\"/>\n"
                "<geom name=\"chassis\" type=\"cylinder\" pos=\"0 0 %.9g\" size=\"%.9g .05\" "
                "group=\"1\" contype=\"0\" conaffinity=\"0\" rgba=\".20 .25 .30 1\"/>\n",
                up, f->circumscribed_m, UNDER_M + 0.05 - wheel + 0.02, f->circumscribed_m);
        return;
    }
    fputs("<geom name=\"bumper\" type=\"mesh\" mesh=\"footprint\" group=\"1\" contype=\"2\" "
          "conaffinity=\"4\" condim=\"1\" rgba=\".20 .25 .30 1\"/>\n",
          out);
}

static void write_asset(FILE *out, const pons_footprint *f, double wheel)
{
    if (f->n == 0) {
        return;
    }
    fputs("<asset><mesh name=\"footprint\" vertex=\"", out);
    for (int i = 0; i < f->n; i++) {
        fprintf(out, "%.9g %.9g %.9g %.9g %.9g %.9g ", f->x[i], f->y[i], UNDER_M - wheel, f->x[i],
                f->y[i], TOP_M - wheel);
    }
    fputs("\"/></asset>\n", out);
}

static void write_wheel(FILE *out, const char *name, double y, double wheel)
{
    fprintf(out,
            "<body name=\"%s\" pos=\"0 %.9g 0\">"
            "<joint name=\"%s\" type=\"hinge\" axis=\"0 1 0\" damping=\".002\" armature=\".005\"/>"
            "<geom name=\"%s\" type=\"ellipsoid\" size=\"%.9g %.9g %.9g\" mass=\".6\" group=\"1\" "
            "contype=\"1\" conaffinity=\"0\" condim=\"3\" friction=\"1.2 .005 .0001\" "
            "rgba=\".05 .05 .05 1\"/></body>\n",
            name, y, name, name, wheel, fmin(0.02, 0.25 * wheel), wheel);
}

static void write_caster(FILE *out, const char *name, double x, double wheel)
{
    const double size = fmin(CASTER_M, 0.5 * wheel);
    fprintf(out,
            "<geom name=\"%s\" type=\"sphere\" pos=\"%.9g 0 %.9g\" size=\"%.9g\" mass=\".05\" "
            "group=\"1\" contype=\"1\" conaffinity=\"0\" condim=\"1\" priority=\"1\"/>\n",
            name, x, size + LIFT_M - wheel, size);
}

static void write_pool(FILE *out)
{
    for (int i = 0; i < PONS__MJ_POOL; i++) {
        fprintf(out,
                "<body name=\"obstacle_%d\" mocap=\"true\" pos=\"%d 0 -50\"><geom type=\"box\" "
                "size=\".2 .2 .25\" group=\"0\" contype=\"0\" conaffinity=\"6\" "
                "rgba=\".90 .50 .10 1\"/></body>\n",
                i, i);
    }
}

void pons__mj_robot_write(FILE *out, const pons_value *world)
{
    const pons_value *r = pons_get(world, "robot");
    const double wheel = number(r, "wheel_radius_m", WHEEL_M),
                 half = 0.5 * number(r, "track_m", TRACK_M);
    pons_footprint f;
    if (!pons_get(r, "footprint") || pons_footprint_read(pons_get(r, "footprint"), &f)) {
        f = pons_footprint_circle(number(r, "radius_m", RADIUS_M));
    }
    const double ahead = fmax(reach(&f, 1) - CASTER_ROOM_M, 0.02);
    const double behind = fmax(reach(&f, -1) - CASTER_ROOM_M, 0.02);
    const double kg = fmax(KG_M2 * area(&f), 0.8), r2 = f.circumscribed_m * f.circumscribed_m;
    // Motors that move that mass as robot.xml's move theirs.
    const double force = 2.5 * fmax(kg / 8.0, 0.4) * fmax(wheel / WHEEL_M, 0.3);
    fputs("<compiler angle=\"radian\" autolimits=\"true\"/>\n"
          "<option timestep=\"0.002\" integrator=\"Euler\" cone=\"elliptic\" solver=\"Newton\" "
          "iterations=\"20\"/>\n<size nconmax=\"200\" njmax=\"800\" nstack=\"500000\"/>\n"
          "<default><geom friction=\"1 .005 .0001\"/></default>\n",
          out);
    write_asset(out, &f, wheel);
    fprintf(out,
            "<worldbody>\n<geom name=\"floor\" type=\"plane\" contype=\"0\" conaffinity=\"5\" "
            "size=\"20 20 .1\" group=\"3\" rgba=\".93 .91 .86 1\"/>\n"
            "<body name=\"base\" pos=\"0 0 %.9g\">\n<freejoint name=\"base\"/>\n"
            "<inertial pos=\"%.9g 0 .01\" mass=\"%.9g\" diaginertia=\"%.9g %.9g %.9g\"/>\n",
            wheel, 0.0, kg, 0.3 * kg * r2, 0.3 * kg * r2, 0.5 * kg * r2);
    write_bumper(out, &f, wheel);
    write_caster(out, "caster_front", ahead, wheel);
    write_caster(out, "caster_back", -behind, wheel);
    fprintf(out, "<site name=\"lidar\" pos=\"0 0 %.9g\" size=\".02\"/>\n", LIDAR_Z_M - wheel);
    write_wheel(out, "wheel_left", half, wheel);
    write_wheel(out, "wheel_right", -half, wheel);
    pons__mj_cameras_write(out, world, "base", wheel);
    fputs("</body>\n", out);
    write_pool(out);
    fputs("</worldbody>\n<contact>\n", out);
    for (int i = 0; i < PONS__MJ_POOL; i++) { // what waits need not be compared with every wall
        fprintf(out, "<exclude body1=\"world\" body2=\"obstacle_%d\"/>\n", i);
    }
    fprintf(out,
            "<exclude body1=\"base\" body2=\"wheel_left\"/><exclude body1=\"base\" "
            "body2=\"wheel_right\"/>\n</contact>\n<actuator>\n"
            "<velocity name=\"wheel_left\" joint=\"wheel_left\" kv=\"%.9g\" forcerange=\"%.9g "
            "%.9g\"/>\n<velocity name=\"wheel_right\" joint=\"wheel_right\" kv=\"%.9g\" "
            "forcerange=\"%.9g %.9g\"/>\n</actuator>\n",
            2.0 * kg / 8.0, -force, force, 2.0 * kg / 8.0, -force, force);
}
