// base_sensor.c - how far a base's lidar sees, as its URDF tells Gazebo:
//
//     <gazebo reference="base_scan"><sensor type="gpu_lidar"><lidar><range><min>0.12</min><max>3.5</max>
//
// of the kinds ray, gpu_ray (Gazebo Classic), lidar and gpu_lidar. What else Gazebo is told is passed over.
#include "arm/base_urdf_internal.h"

#include <math.h>
#include <string.h>

static const double RANGE_MAX_M = 1000.0;

static bool is_lidar(const char *type)
{
    static const char *const kinds[] = {"ray", "gpu_ray", "lidar", "gpu_lidar"};
    for (size_t i = 0; type && i < sizeof kinds / sizeof *kinds; i++) {
        if (strcmp(type, kinds[i]) == 0) {
            return true;
        }
    }
    return false;
}

static void begin_sensor(pons__base *b)
{
    if (b->n_sensors == PONS__BASE_SENSORS) {
        URDF_FAULT(&b->xml, "more than %d lidars", PONS__BASE_SENSORS);
        return;
    }
    b->gazebo.sensor = &b->sensors[b->n_sensors++];
    *b->gazebo.sensor = (pons__base_sensor){.range_m = {NAN, NAN}};
    memcpy(b->gazebo.sensor->link, b->gazebo.link, sizeof b->gazebo.link);
}

void pons__base_gazebo_start(pons__base *b, const char *name, const char **attr)
{
    pons__base_gazebo *g = &b->gazebo;
    if (strcmp(name, "gazebo") == 0) {
        if (pons__urdf_attribute(attr, "reference")) { // without: of the model as a whole
            pons__urdf_name(&b->xml, attr, "reference", PONS_URDF_NAME, g->link);
        }
    } else if (*g->link && strcmp(name, "sensor") == 0) {
        if (is_lidar(pons__urdf_attribute(attr, "type"))) {
            begin_sensor(b);
        }
    } else if (g->sensor && strcmp(name, "range") == 0) {
        g->in_range = true;
    } else if (g->in_range && (strcmp(name, "min") == 0 || strcmp(name, "max") == 0)) {
        g->number = name[1] == 'i' ? "min" : "max";
        g->n = 0;
    }
}

void pons__base_gazebo_text(pons__base *b, const char *part, size_t n)
{
    pons__base_gazebo *g = &b->gazebo;
    if (g->number && n < sizeof g->text - g->n) {
        memcpy(g->text + g->n, part, n);
        g->n += n;
    } else if (g->number) {
        URDF_FAULT(&b->xml, "<%s> is no number", g->number);
    }
}

static void end_number(pons__base *b)
{
    pons__base_gazebo *g = &b->gazebo;
    double *ret = &g->sensor->range_m[g->number[1] == 'i' ? 0 : 1];
    g->text[g->n] = '\0';
    const char *attr[] = {g->number, g->text, NULL};
    if (pons__urdf_numbers(&b->xml, attr, g->number, 1, ret) > 0 &&
        (*ret < 0.0 || *ret > RANGE_MAX_M)) {
        URDF_FAULT(&b->xml, "the lidar at link %s: a range is 0 to %g m, not %g", g->link,
                   RANGE_MAX_M, *ret);
    }
    g->number = NULL;
}

void pons__base_gazebo_end(pons__base *b, const char *name)
{
    pons__base_gazebo *g = &b->gazebo;
    if (g->number && strcmp(name, g->number) == 0) {
        end_number(b);
    } else if (g->in_range && strcmp(name, "range") == 0) {
        const double near = g->sensor->range_m[0], far = g->sensor->range_m[1];
        if (far <= near) {
            URDF_FAULT(&b->xml, "the lidar at link %s sees from %g m to %g m", g->link, near, far);
        }
        g->in_range = false;
    } else if (strcmp(name, "sensor") == 0) {
        g->sensor = NULL;
    } else if (strcmp(name, "gazebo") == 0) {
        *g = (pons__base_gazebo){0};
    }
}

const pons__base_sensor *pons__base_sensor_at(const pons__base *b, const char *link)
{
    for (int i = 0; i < b->n_sensors; i++) {
        if (strcmp(b->sensors[i].link, link) == 0) {
            return &b->sensors[i];
        }
    }
    return NULL;
}
