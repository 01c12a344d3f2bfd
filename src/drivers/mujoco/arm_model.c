// arm_model.c - the MJCF of a robot that stands and has an arm: made of its URDF.
//
//     world.robot.arm.urdf --pons_arm--> bodies, joints, shapes, motors
//     world.robot           ----------> a pedestal, the lidar's site
//     world.cameras         ----------> cameras, in the room or on a link (mjcf_cameras.c)
//
// A position motor for each joint, strong and well damped; the driver moves its set point and carries
// gravity (simulated_arm.c). What grasps does so by friction: elliptic cones, a high impratio and a few
// iterations against slip, which the pyramids of a default model do not have: they drop an apple.
// The pads (links of joints beside the chain) resist turning too. A cylinder of the URDF is a capsule
// here, as it is for the body's own reckoning (pons/arm.h).
#include "drivers/mujoco/mjcf_world.h"

#include <math.h>

#define PEDESTAL_SHARE 0.8 // of the footprint's radius
#define LIDAR_Z_M      0.18

static const char HEAD[] =
    "<mujoco><compiler angle=\"radian\" autolimits=\"true\"/>\n"
    "<option timestep=\".002\" integrator=\"implicit\" cone=\"elliptic\" impratio=\"10\" "
    "noslip_iterations=\"3\" solver=\"Newton\" iterations=\"30\"/>\n"
    "<size nconmax=\"300\" njmax=\"1500\" nstack=\"1500000\"/>\n"
    "<visual><quality shadowsize=\"0\" offsamples=\"0\"/>"
    "<global offwidth=\"1280\" offheight=\"960\"/><map znear=\".01\" zfar=\"30\"/></visual>\n"
    "<statistic extent=\"1\" center=\"1 1 0.5\"/>\n"
    "<default><geom friction=\"1 .005 .0001\"/>"
    "<default class=\"obstacle\"><geom type=\"box\" size=\".2 .2 .25\" group=\"0\" contype=\"0\" "
    "conaffinity=\"6\" rgba=\".9 .5 .1 1\"/></default>"
    "<default class=\"arm\"><geom group=\"1\" contype=\"2\" conaffinity=\"4\" rgba=\".92 .92 .94 "
    "1\"/>"
    "</default>"
    "<default class=\"pad\"><geom group=\"1\" contype=\"2\" conaffinity=\"4\" condim=\"6\" "
    "friction=\"1.5 .02 .001\" solref=\".008 1\" rgba=\".15 .15 .16 1\"/></default></default>\n"
    "<worldbody><light pos=\"0 0 4\" dir=\".2 .2 -1\" diffuse=\".7 .7 .7\" castshadow=\"false\"/>"
    "<light pos=\"3 3 4\" dir=\"-.2 -.2 -1\" diffuse=\".5 .5 .5\" castshadow=\"false\"/>\n"
    "<geom name=\"floor\" type=\"plane\" contype=\"0\" conaffinity=\"7\" size=\"20 20 .1\" "
    "group=\"3\" rgba=\".93 .91 .86 1\"/>\n";

static void place(FILE *out, const pons_pose3 *at)
{
    const double *r = at->r; // the x and y axes are enough
    fprintf(out, " pos=\"%.17g %.17g %.17g\" xyaxes=\"%.17g %.17g %.17g %.17g %.17g %.17g\"",
            at->p[0], at->p[1], at->p[2], r[0], r[3], r[6], r[1], r[4], r[7]);
}

static void write_shape(FILE *out, const pons_arm_shape *s, bool pad)
{
    fprintf(out, "<geom class=\"%s\"", pad ? "pad" : "arm");
    place(out, &s->at);
    if (s->kind == PONS_ARM_SPHERE) {
        fprintf(out, " type=\"sphere\" size=\"%.17g\"/>", s->size[0]);
    } else if (s->kind == PONS_ARM_CAPSULE) {
        fprintf(out, " type=\"capsule\" size=\"%.17g %.17g\"/>", s->size[0], 0.5 * s->size[1]);
    } else {
        fprintf(out, " type=\"box\" size=\"%.17g %.17g %.17g\"/>", 0.5 * s->size[0],
                0.5 * s->size[1], 0.5 * s->size[2]);
    }
}

// Big joints are stiffer than the wrist's; fingers are moved by force.
static double stiffness(const pons_arm_joint *j)
{
    return j->kind == PONS_ARM_PRISMATIC ? PONS__MJ_FINGER_KP
           : j->effort_max > 40.0        ? 1500.0
                                         : 500.0;
}

static void write_joint(FILE *out, const pons_arm_joint *j)
{
    const bool slides = j->kind == PONS_ARM_PRISMATIC;
    fprintf(out,
            "<joint name=\"%s\" type=\"%s\" axis=\"%.17g %.17g %.17g\" damping=\"%g\" "
            "armature=\".1\"",
            j->name, slides ? "slide" : "hinge", j->axis[0], j->axis[1], j->axis[2],
            slides                 ? 40.0
            : j->effort_max > 40.0 ? 80.0
                                   : 20.0);
    if (isfinite(j->lower) && isfinite(j->upper)) {
        fprintf(out, " range=\"%.17g %.17g\"", j->lower, j->upper);
    }
    fputs("/>", out);
}

static void write_link(FILE *out, const pons_arm *a, int link, const pons_pose3 *at,
                       const pons_value *world)
{
    const pons_arm_link *l = &a->links[link];
    const pons_arm_joint *j = l->joint < 0 ? NULL : &a->joints[l->joint];
    fprintf(out, "<body name=\"%s\"", l->name);
    place(out, at);
    fputc('>', out);
    if (j && j->kind != PONS_ARM_FIXED) {
        write_joint(out, j);
    }
    if (l->mass > 0.0) {
        fprintf(out,
                "<inertial pos=\"%.17g %.17g %.17g\" mass=\"%.17g\" "
                "diaginertia=\"%.17g %.17g %.17g\"/>",
                l->com[0], l->com[1], l->com[2], l->mass, l->inertia[0], l->inertia[1],
                l->inertia[2]);
    }
    for (int i = 0; i < l->n_shapes; i++) {
        write_shape(out, &l->shapes[i], j && j->kind != PONS_ARM_FIXED && j->place < 0);
    }
    if (link == a->tool) {
        fputs("<site name=\"tool\" size=\".004\" rgba=\"0 0 0 0\"/>", out);
    }
    pons__mj_cameras_write(out, world, l->name, 0.0);
    fputc('\n', out);
    for (int i = 0; i < a->n_joints; i++) {
        if (a->joints[i].parent == link) {
            write_link(out, a, a->joints[i].child, &a->joints[i].at, world);
        }
    }
    fputs("</body>\n", out);
}

static int root_of(const pons_arm *a)
{
    int link = a->base;
    while (a->links[link].joint >= 0) {
        link = a->joints[a->links[link].joint].parent;
    }
    return link;
}

void pons__mj_arm_head(FILE *out, const pons_value *world, const pons_arm *a,
                       const pons_pose3 *mount)
{
    const pons_value *robot = pons_get(world, "robot"), *start = pons_get(world, "start");
    const double height = mount->p[2], radius = pons_get_num(robot, "radius_m", 0.1);
    fputs(HEAD, out);
    fprintf(out, "<body name=\"base\" pos=\"%.17g %.17g 0\" euler=\"0 0 %.17g\">",
            pons_get_num(start, "x", 0.0), pons_get_num(start, "y", 0.0),
            pons_get_num(start, "yaw", 0.0));
    if (height > 0.0) {
        fprintf(out,
                "<geom type=\"cylinder\" group=\"1\" contype=\"2\" conaffinity=\"4\" "
                "pos=\"%.17g %.17g %.17g\" size=\"%.17g %.17g\" rgba=\".3 .32 .35 1\"/>",
                mount->p[0], mount->p[1], 0.5 * height, PEDESTAL_SHARE * radius, 0.5 * height);
    }
    fprintf(out, "<site name=\"lidar\" pos=\"0 0 %g\" size=\".01\" rgba=\"0 0 0 0\"/>\n",
            LIDAR_Z_M);
    write_link(out, a, root_of(a), mount, world);
    if (pons_arm_find_link(a, "base") < 0) {
        pons__mj_cameras_write(out, world, "base", 0.0);
    }
    fputs("</body>\n", out);
    pons__mj_cameras_write(out, world, "", 0.0);
    for (int i = 0; i < PONS__MJ_POOL; i++) {
        fprintf(out,
                "<body name=\"obstacle_%d\" mocap=\"true\" pos=\"%d 0 -50\">"
                "<geom class=\"obstacle\"/></body>\n",
                i, i);
    }
}

void pons__mj_arm_tail(FILE *out, const pons_arm *a)
{
    fputs("</worldbody>\n<contact>", out);
    for (int i = 0; i < PONS__MJ_POOL; i++) {
        fprintf(out, "<exclude body1=\"world\" body2=\"obstacle_%d\"/>", i);
    }
    fputs("</contact>\n<equality>", out);
    for (int i = 0; i < a->n_joints; i++) {
        const pons_arm_joint *j = &a->joints[i];
        if (j->mimic >= 0) {
            fprintf(out,
                    "<joint joint1=\"%s\" joint2=\"%s\" polycoef=\"0 %.17g 0 0 0\" "
                    "solref=\".005 1\"/>",
                    j->name, a->joints[j->mimic].name, j->multiplier);
        }
    }
    fputs("</equality>\n<actuator>", out);
    for (int i = 0; i < a->n_joints; i++) {
        const pons_arm_joint *j = &a->joints[i];
        if (j->kind != PONS_ARM_FIXED) {
            fprintf(out,
                    "<position name=\"%s\" joint=\"%s\" kp=\"%g\" forcerange=\"%.17g %.17g\"/>\n",
                    j->name, j->name, stiffness(j), -j->effort_max, j->effort_max);
        }
    }
    fputs("</actuator></mujoco>\n", out);
}
