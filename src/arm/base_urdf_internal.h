// base_urdf_internal.h - a base's links, joints and shapes, as a URDF has them: base_urdf.c reads them, base_sensor.c what
// Gazebo is told of its lidar, base_floor.c knows what they cover and drive on.
#pragma once

#include "arm/urdf_xml.h"
#include "pons/base_urdf.h"

enum { PONS__BASE_LINKS = 512, PONS__BASE_SHAPES = 1024, PONS__BASE_SENSORS = 32 };

typedef enum pons__base_kind {
    PONS__BASE_BOX,
    PONS__BASE_CYLINDER,
    PONS__BASE_SPHERE,
    PONS__BASE_MESH
} pons__base_kind;

typedef struct pons__base_shape {
    int link;
    pons__base_kind kind;
    bool visual;
    double size[3]; // full lengths; radius, length; radius
    pons_pose3 at;
} pons__base_shape;

typedef struct pons__base_link {
    char name[PONS_URDF_NAME];
    pons__urdf_place at;
    int by;          // the joint that carries it; -1
    bool placed;     // pose is there
    bool rigid;      // it hangs on the base by fixed joints alone
    bool collides;   // it has a collision shape
    pons_pose3 pose; // in the root, then in the base
} pons__base_link;

typedef struct pons__base_joint {
    char name[PONS_URDF_NAME], parent[PONS_URDF_NAME], child[PONS_URDF_NAME];
    char type[16];
    pons__urdf_place where;
    pons_pose3 at;
    double axis[3], speed_max; // NAN: no limit
    int from, to;
} pons__base_joint;

typedef struct pons__base_sensor {
    char link[PONS_URDF_NAME];
    double range_m[2]; // NAN: not said
} pons__base_sensor;

// Where the parser is in <gazebo reference="LINK"><sensor type="ray"><ray><range><min>0.12</min>.
typedef struct pons__base_gazebo {
    char link[PONS_URDF_NAME]; // "": in none
    pons__base_sensor *sensor; // that is open
    bool in_range;
    const char *number; // "min" or "max", that is open
    char text[64];
    size_t n; // of text; more than fits: sizeof text
} pons__base_gazebo;

typedef struct pons__base {
    pons__urdf_xml xml;
    char name[PONS_URDF_NAME];
    pons__base_link links[PONS__BASE_LINKS];
    pons__base_joint joints[PONS__BASE_LINKS];
    pons__base_shape shapes[PONS__BASE_SHAPES];
    pons__base_sensor sensors[PONS__BASE_SENSORS]; // Gazebo's lidars
    int n_links, n_joints, n_shapes, n_sensors, root;
    pons__base_gazebo gazebo;
    pons__base_link *link;   // that is open
    pons__base_joint *joint; // that is open
    bool in_shape, visual;
    pons_pose3 origin;
} pons__base;

// An element below <gazebo reference="…">, and the text in it. start: of <gazebo> itself, too.
void pons__base_gazebo_start(pons__base *b, const char *name, const char **attr);
void pons__base_gazebo_text(pons__base *b, const char *part, size_t n);
void pons__base_gazebo_end(pons__base *b, const char *name);
// What of a sensor at that link is said of its range; NULL: nothing.
const pons__base_sensor *pons__base_sensor_at(const pons__base *b, const char *link);

// Of links that have their poses in the base: wheels, lidar and footprint. on_floor: the base's z is 0 there.
int pons__base_understand(pons__base *b, bool on_floor, pons_base_urdf *ret);
