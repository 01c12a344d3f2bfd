// map.h - maps of nav2_map_server's kind: a YAML file beside a picture (docs/reference/maps.md).
//
// What is said of a cell is what map_server publishes: -1 unknown, 0 free … 100 occupied. Cells lie
// row by row from the map's lower left corner, which is its origin; a picture's last row is the
// first.
#pragma once

#include "pons/error.h"
#include "pons/geometry.h"
#include "pons/linkage.h"

#include <stdbool.h>
#include <stdint.h>

PONS_C_BEGIN

#define PONS_MAP_CELLS_MAX (16 * 1024 * 1024) // 200 × 200 m at 5 cm

typedef enum pons_map_mode { PONS_MAP_TRINARY, PONS_MAP_SCALE, PONS_MAP_RAW } pons_map_mode;

typedef struct pons_map pons_map;

typedef struct pons_map_info {
    int w, h;            // cells
    double resolution_m; // of a cell's edge
    pons_pose2 origin;   // of the lower left corner, in map; rows run along its x
    pons_map_mode mode;
    bool negate;
    double free_thresh, occupied_thresh;
    int64_t occupied, free, unknown; // cells, by what pons_map_rects calls so
    double bounds[4];                // xmin, ymin, xmax, ymax around all cells, in map
    const char *image;               // path of the picture; the map's
} pons_map_info;

// Reads and checks a map: PONS_EINVAL with file:line:col in the YAML, or with the picture's path and
// where in it; PONS_EIO when a file cannot be read. The picture must lie in the YAML's folder, or
// below it. *ret is the caller's.
int pons_map_load(const char *path, pons_map **ret, pons_error *err);
void pons_map_destroy(pons_map *m); // NULL-safe
// Writes a map: cells (h, w), -1 unknown, 0 free, else occupied, and a picture beside the YAML, in one of two names in turn.
// Who is killed meanwhile leaves the old map or the new one. PONS_EIO; PONS_EINVAL: a path that is too long; PONS_ENOMEM.
int pons_map_save(const char *path, const int8_t *cells, int w, int h, double resolution_m,
                  pons_pose2 origin, pons_error *err);
const pons_map_info *pons_map_about(const pons_map *m);
const int8_t *pons_map_cells(const pons_map *m); // (h, w)
// The cell at a point in map; -1 outside.
int pons_map_at(const pons_map *m, double x, double y);
// Is the cell there free by the map's thresholds? In raw mode that is more than 0.
bool pons_map_is_free(const pons_map *m, double x, double y);

typedef enum pons_map_kind {
    PONS_MAP_OCCUPIED, // at or above the occupied threshold: 100, but in raw mode
    PONS_MAP_UNKNOWN   // -1, and what lies between the thresholds
} pons_map_kind;
// Few rectangles that cover the cells of a kind, and only them; in the same order each time. *ret is
// the caller's, by free. PONS_EINVAL when there would be more than `most`.
int pons_map_rects(const pons_map *m, pons_map_kind kind, size_t most, pons_box2 **ret,
                   size_t *ret_n, pons_error *err);
// The same for cells whose value is low to high: a filter's mask.
int pons_map_rects_of(const pons_map *m, int low, int high, size_t most, pons_box2 **ret,
                      size_t *ret_n, pons_error *err);
// The same for other cells (h, w) in a frame like a map's: m says w, h, resolution_m and origin, and no more.
int pons_map_rects_of_cells(const pons_map_info *m, const int8_t *cells, int low, int high,
                            size_t most, pons_box2 **ret, size_t *ret_n, pons_error *err);
const char *pons_map_mode_word(pons_map_mode mode);

PONS_C_END
