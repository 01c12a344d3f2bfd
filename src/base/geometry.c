// geometry.c - what of planar geometry needs more than a line.
#include "pons/geometry.h"

bool pons_polygon_contains(const pons_value *polygon, double x, double y)
{
    const size_t n = json_array_size(polygon);
    bool inside = false;
    for (size_t i = 0, j = n - 1; n >= 3 && i < n; j = i++) {
        const json_t *a = json_array_get(polygon, i), *b = json_array_get(polygon, j);
        const double ax = json_number_value(json_array_get(a, 0));
        const double ay = json_number_value(json_array_get(a, 1));
        const double bx = json_number_value(json_array_get(b, 0));
        const double by = json_number_value(json_array_get(b, 1));
        if ((ay > y) != (by > y) && x < (bx - ax) * (y - ay) / (by - ay) + ax) {
            inside = !inside;
        }
    }
    return inside;
}
