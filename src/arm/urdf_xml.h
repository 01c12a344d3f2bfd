// urdf_xml.h - a URDF file as text: elements with their places, attributes as numbers, names and poses. What the
// elements mean is for whoever reads: an arm (urdf.c), a base (base_urdf.c).
#pragma once

#include "pons/arm.h"

#include <expat.h>

typedef struct pons__urdf_place {
    unsigned long line, col;
} pons__urdf_place;

typedef struct pons__urdf_xml {
    const char *module, *path;
    const char *what; // it describes: "arm"
    size_t size_max;  // bytes
    // depth: of the element; <robot> has 0. Not called again after a fault.
    void (*start)(void *user, int depth, const char *name, const char **attr);
    void (*end)(void *user, int depth, const char *name);
    void (*text)(void *user, const char *part, size_t n); // NULL: text between elements is nothing
    void *user;
    pons_error *err;

    int rc; // the first fault
    int depth;
    XML_Parser xml; // while it reads
} pons__urdf_xml;

// Reads the file to its end, or to the first fault.
int pons__urdf_read(pons__urdf_xml *x);

// Tells a fault, unless there is one already; returns the first one.
int pons__urdf_fault(pons__urdf_xml *x, pons__urdf_place at, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
pons__urdf_place pons__urdf_here(const pons__urdf_xml *x); // the element that is being told
#define URDF_FAULT(x, ...) pons__urdf_fault(x, pons__urdf_here(x), __VA_ARGS__)
#define URDF_NOWHERE       ((pons__urdf_place){0, 0}) // the file as a whole

const char *pons__urdf_attribute(const char **attr, const char *key); // NULL: none
// n (up to 3) finite numbers. 1; 0, and they stay: absent; negative: a fault was told.
int pons__urdf_numbers(pons__urdf_xml *x, const char **attr, const char *key, int n, double *ret);
// A name of less than size bytes.
bool pons__urdf_name(pons__urdf_xml *x, const char **attr, const char *key, size_t size, char *ret);
bool pons__urdf_origin(pons__urdf_xml *x, const char **attr, pons_pose3 *ret);
bool pons__urdf_axis(pons__urdf_xml *x, const char **attr, const char *joint, double ret[3]);
