// map.c - a map of nav2_map_server: the YAML, and what its picture's greys mean.
//
//     image: warehouse.pgm          PGM or PNG, in this folder or below it
//     resolution: 0.05              metres of a pixel's edge
//     origin: [-10.0, -10.0, 0.0]   x, y [m] and yaw [rad] of the lower left pixel's lower left corner
//     occupied_thresh: 0.65         shares of darkness (of brightness with negate: 1)
//     free_thresh: 0.25
//     negate: 0
//     mode: trinary                 or scale, or raw; without it trinary
//
// With p = 1 − grey / 255, or grey / 255 when negated, a cell is, as map_server has it:
//
//     trinary   100 where p ≥ occupied_thresh, 0 where p ≤ free_thresh, else −1
//     scale     the same, and between them 1 … 99 by how far p is from one to the other
//     raw       the grey itself where it is at most 100, else −1
//
// All of it in floats, as map_server computes it: a grey that lies on a threshold falls to the same side of it.
// A pixel that is not wholly opaque is −1, but in raw mode. The YAML may hold more keys, which other
// programs read. The picture may not lie outside the YAML's folder, through a link either: a map is
// a thing that is copied from others.
#include "map/image.h"
#include "map/merge.h"
#include "pons/yaml.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#define MODULE "map"

static const double RESOLUTION_MIN_M = 0.005, RESOLUTION_MAX_M = 1.0;
static const double ORIGIN_MAX_M = 1e6; // further away a double has no centimetres to spare

struct pons_map {
    pons_map_info info;
    int8_t *cells; // (h, w)
    char image[PATH_MAX];
};

typedef struct loader { // one map being loaded
    const pons_yaml *yaml;
    pons_map *map;
    pons_error *err;
} loader;

// ---- the YAML -----------------------------------------------------------------------------------

__attribute__((format(printf, 3, 4))) static int fault(loader *l, const char *pointer,
                                                       const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    const int rc = pons_yaml_vfault(l->yaml, pointer, MODULE, l->err, fmt, args);
    va_end(args);
    return rc;
}

// Quoted, too: map_server's own reader makes no difference.
static bool is_number(const pons_value *v, double *ret)
{
    const char *text = json_string_value(v);
    char *end = NULL;
    *ret = text ? strtod(text, &end) : json_number_value(v);
    return text ? *text && !*end && isfinite(*ret) : json_is_number(v);
}

static int read_number(loader *l, const char *key, const char *pointer, double *ret)
{
    const pons_value *v = pons_get(pons_yaml_value(l->yaml), key);
    if (!v) {
        return fault(l, "", "the map has no %s", key);
    }
    return is_number(v, ret) ? PONS_OK : fault(l, pointer, "%s should be a number", key);
}

// 0, 1, or a word of YAML 1.1, which is what map_server reads.
static int read_flag(loader *l)
{
    static const char *const words[] = {"no",  "off", "n", "false", "0",
                                        "yes", "on",  "y", "true",  "1"};
    const pons_value *v = pons_get(pons_yaml_value(l->yaml), "negate");
    const char *word = json_string_value(v);
    int is = !v ? 0 : json_is_boolean(v) ? json_is_true(v) : -1;
    if (json_is_integer(v) && json_integer_value(v) >= 0 && json_integer_value(v) <= 1) {
        is = json_integer_value(v) == 1;
    }
    for (int i = 0; word && i < 10; i++) {
        is = strcasecmp(word, words[i]) == 0 ? i >= 5 : is;
    }
    if (is < 0) {
        return fault(l, "/negate", "negate should be 0 or 1");
    }
    l->map->info.negate = is == 1;
    return PONS_OK;
}

static int read_origin(loader *l)
{
    const pons_value *v = pons_get(pons_yaml_value(l->yaml), "origin");
    if (!v) {
        return fault(l, "", "the map has no origin");
    }
    double at[3];
    if (json_array_size(v) != 3) {
        return fault(l, "/origin", "origin should be [x, y, yaw]");
    }
    for (size_t i = 0; i < 3; i++) {
        char pointer[24];
        snprintf(pointer, sizeof pointer, "/origin/%zu", i);
        if (!is_number(json_array_get(v, i), &at[i]) || !(fabs(at[i]) <= ORIGIN_MAX_M)) {
            return fault(l, pointer, "origin should be [x, y, yaw], numbers of at most %g",
                         ORIGIN_MAX_M);
        }
    }
    l->map->info.origin = (pons_pose2){at[0], at[1], pons_wrap_angle(at[2])};
    return PONS_OK;
}

static int read_mode(loader *l)
{
    const pons_value *v = pons_get(pons_yaml_value(l->yaml), "mode");
    const char *word = v ? json_string_value(v) : "trinary";
    for (int mode = PONS_MAP_TRINARY; word && mode <= PONS_MAP_RAW; mode++) {
        if (strcasecmp(word, pons_map_mode_word((pons_map_mode)mode)) == 0) {
            l->map->info.mode = (pons_map_mode)mode;
            return PONS_OK;
        }
    }
    return fault(l, "/mode", "mode should be trinary, scale or raw");
}

static int read_meta(loader *l)
{
    pons_map_info *i = &l->map->info;
    if (!json_is_object(pons_yaml_value(l->yaml))) {
        return fault(l, "", "a map is a mapping with image, resolution, origin and thresholds");
    }
    int rc = read_number(l, "resolution", "/resolution", &i->resolution_m);
    if (rc == PONS_OK &&
        !(i->resolution_m >= RESOLUTION_MIN_M && i->resolution_m <= RESOLUTION_MAX_M)) {
        rc = fault(l, "/resolution", "resolution is %g m, not within %g … %g", i->resolution_m,
                   RESOLUTION_MIN_M, RESOLUTION_MAX_M);
    }
    rc = rc < 0 ? rc : read_origin(l);
    rc = rc < 0 ? rc : read_number(l, "occupied_thresh", "/occupied_thresh", &i->occupied_thresh);
    rc = rc < 0 ? rc : read_number(l, "free_thresh", "/free_thresh", &i->free_thresh);
    if (rc == PONS_OK && !(i->free_thresh >= 0.0 && i->occupied_thresh <= 1.0 &&
                           i->free_thresh < i->occupied_thresh)) {
        rc = fault(l, "/free_thresh",
                   "free_thresh %g and occupied_thresh %g should be 0 ≤ free_thresh < "
                   "occupied_thresh ≤ 1",
                   i->free_thresh, i->occupied_thresh);
    }
    rc = rc < 0 ? rc : read_flag(l);
    return rc < 0 ? rc : read_mode(l);
}

static int find_image(loader *l, const char *yaml_path)
{
    const pons_value *v = pons_get(pons_yaml_value(l->yaml), "image");
    const char *name = json_string_value(v);
    char dir[PATH_MAX], path[2 * PATH_MAX];
    if (!v) {
        return fault(l, "", "the map has no image");
    }
    if (!name || !*name || strlen(name) >= PATH_MAX) {
        return fault(l, "/image", "image should be the name of a PGM or PNG file");
    }
    if (!realpath(yaml_path, dir)) {
        return pons_error_set(l->err, PONS_EIO, MODULE, "cannot resolve %s: %s", yaml_path,
                              strerror(errno));
    }
    char *slash = strrchr(dir, '/');
    slash[slash == dir ? 1 : 0] = '\0';
    const size_t n = strlen(dir);
    snprintf(path, sizeof path, "%s%s%s", *name == '/' ? "" : dir, *name == '/' ? "" : "/", name);
    bool found = realpath(path, l->map->image);
    const int why = errno;
    if (!found && strrchr(name, '/')) { // of the machine that saved it: the one of that name here
        snprintf(path, sizeof path, "%s%s", dir, strrchr(name, '/'));
        found = realpath(path, l->map->image);
    }
    if (!found) {
        return fault(l, "/image", "cannot read the image %s: %s", name, strerror(why));
    }
    if (strncmp(l->map->image, dir, n) != 0 || (n > 1 && l->map->image[n] != '/')) {
        return fault(l, "/image", "the image %s is not in the map's folder: copy it there", name);
    }
    l->map->info.image = l->map->image;
    return PONS_OK;
}

// ---- the picture --------------------------------------------------------------------------------

static int take_size(void *user, uint64_t w, uint64_t h, pons_error *err)
{
    loader *l = user;
    if (w == 0 || h == 0 || w * h > PONS_MAP_CELLS_MAX) { // both below 2^20: no overflow
        pons_error_set(err, PONS_EINVAL, MODULE,
                       "the image has %llu × %llu pixels, not within 1 … %d in all",
                       (unsigned long long)w, (unsigned long long)h, PONS_MAP_CELLS_MAX);
        return pons_error_source(err, "%s", l->map->image);
    }
    l->map->info.w = (int)w;
    l->map->info.h = (int)h;
    l->map->cells = malloc((size_t)w * (size_t)h);
    return l->map->cells ? PONS_OK
                         : pons_error_set(err, PONS_ENOMEM, MODULE, "no memory for a map");
}

static int8_t cell_of(const pons_map_info *i, uint8_t grey, uint8_t alpha)
{
    if (i->mode == PONS_MAP_RAW) {
        return grey <= 100 ? (int8_t)grey : -1;
    }
    const float bright = (float)grey / 255.0F, p = i->negate ? bright : 1.0F - bright;
    const float open = (float)i->free_thresh, occupied = (float)i->occupied_thresh;
    if (alpha < 255) {
        return -1;
    }
    if (p <= open) {
        return 0;
    }
    if (p >= occupied) {
        return 100;
    }
    const float span = (float)(i->occupied_thresh - i->free_thresh);
    return i->mode == PONS_MAP_SCALE ? (int8_t)lroundf((p - open) / span * 100.0F) : -1;
}

static void take_row(void *user, int y, const uint8_t *grey, const uint8_t *alpha)
{
    pons_map *m = ((loader *)user)->map;
    int8_t *row = m->cells + (size_t)(m->info.h - 1 - y) * (size_t)m->info.w;
    for (int x = 0; x < m->info.w; x++) {
        row[x] = cell_of(&m->info, grey[x], alpha ? alpha[x] : 255);
    }
}

static int read_image(loader *l)
{
    static const uint8_t png_signature[] = {0x89, 'P', 'N', 'G'};
    const char *path = l->map->image;
    struct stat st;
    // Asked first, so that a pipe is not waited for.
    if (stat(path, &st) < 0 || !S_ISREG(st.st_mode)) {
        return fault(l, "/image", "the image is no file");
    }
    FILE *f = fopen(path, "re");
    if (!f) {
        return fault(l, "/image", "cannot read the image: %s", strerror(errno));
    }
    uint8_t first[sizeof png_signature] = {0};
    const size_t n = fread(first, 1, sizeof first, f);
    rewind(f);
    const pons__image_sink sink = {.size = take_size, .row = take_row, .user = l};
    const bool png = n == sizeof first && memcmp(first, png_signature, sizeof first) == 0;
    int rc;
    if (png) {
        rc = pons__png_read(f, path, &sink, l->err);
    } else if (first[0] == 'P') {
        rc = pons__pgm_read(f, path, &sink, l->err);
    } else {
        pons_error_set(l->err, PONS_EINVAL, MODULE, "%s",
                       n == 0 ? "the image is empty" : "the image is neither PGM nor PNG");
        rc = pons_error_source(l->err, "%s", path);
    }
    fclose(f);
    return rc;
}

// From where on a value is a wall, and up to where the floor is free: but in raw mode the thresholds
// have spoken already.
static void limits_of(const pons_map_info *i, int *ret_free, int *ret_occupied)
{
    const bool raw = i->mode == PONS_MAP_RAW;
    *ret_free = raw ? (int)floor(i->free_thresh * 100.0 + 1e-9) : 0;
    *ret_occupied = raw ? (int)ceil(i->occupied_thresh * 100.0 - 1e-9) : 100;
}

static void measure(pons_map *m)
{
    pons_map_info *i = &m->info;
    int open = 0, occupied = 100;
    limits_of(i, &open, &occupied);
    const size_t n = (size_t)i->w * (size_t)i->h;
    for (size_t k = 0; k < n; k++) {
        i->occupied += m->cells[k] >= occupied;
        i->free += m->cells[k] >= 0 && m->cells[k] <= open;
    }
    i->unknown = (int64_t)n - i->occupied - i->free;
    i->bounds[0] = i->bounds[1] = INFINITY;
    i->bounds[2] = i->bounds[3] = -INFINITY;
    for (int corner = 0; corner < 4; corner++) {
        const pons_pose2 at = pons_pose_compose(
            i->origin, (pons_pose2){corner & 1 ? i->w * i->resolution_m : 0.0,
                                    corner & 2 ? i->h * i->resolution_m : 0.0, 0.0});
        i->bounds[0] = fmin(i->bounds[0], at.x);
        i->bounds[1] = fmin(i->bounds[1], at.y);
        i->bounds[2] = fmax(i->bounds[2], at.x);
        i->bounds[3] = fmax(i->bounds[3], at.y);
    }
}

// ---- maps ---------------------------------------------------------------------------------------

static void yaml_cleanup(pons_yaml **y)
{
    pons_yaml_destroy(*y);
}

int pons_map_load(const char *path, pons_map **ret, pons_error *err)
{
    __attribute__((cleanup(yaml_cleanup))) pons_yaml *yaml = NULL;
    struct stat st;
    if (stat(path, &st) == 0 && !S_ISREG(st.st_mode)) { // asked first: a pipe is not waited for
        pons_error_set(err, PONS_EINVAL, MODULE, "the map is no file");
        return pons_error_source(err, "%s", path);
    }
    int rc = pons_yaml_load(path, &yaml, err);
    if (rc < 0) {
        return rc;
    }
    loader l = {.yaml = yaml, .map = calloc(1, sizeof(pons_map)), .err = err};
    if (!l.map) {
        return pons_error_set(err, PONS_ENOMEM, MODULE, "no memory to load %s", path);
    }
    rc = read_meta(&l);
    rc = rc < 0 ? rc : find_image(&l, path);
    rc = rc < 0 ? rc : read_image(&l);
    if (rc < 0) {
        pons_map_destroy(l.map);
        return rc;
    }
    measure(l.map);
    *ret = l.map;
    return PONS_OK;
}

void pons_map_destroy(pons_map *m)
{
    if (m) {
        free(m->cells);
        free(m);
    }
}

const pons_map_info *pons_map_about(const pons_map *m)
{
    return &m->info;
}

const int8_t *pons_map_cells(const pons_map *m)
{
    return m->cells;
}

const char *pons_map_mode_word(pons_map_mode mode)
{
    static const char *const words[] = {"trinary", "scale", "raw"};
    return words[mode];
}

int pons_map_at(const pons_map *m, double x, double y)
{
    const pons_pose2 at =
        pons_pose_compose(pons_pose_inverse(m->info.origin), (pons_pose2){x, y, 0.0});
    const double cx = floor(at.x / m->info.resolution_m), cy = floor(at.y / m->info.resolution_m);
    if (!(cx >= 0.0 && cy >= 0.0 && cx < m->info.w && cy < m->info.h)) {
        return -1;
    }
    return m->cells[(size_t)cy * (size_t)m->info.w + (size_t)cx];
}

bool pons_map_is_free(const pons_map *m, double x, double y)
{
    int open = 0, occupied = 100;
    limits_of(&m->info, &open, &occupied);
    const int v = pons_map_at(m, x, y);
    return v >= 0 && v <= open;
}

int pons_map_rects(const pons_map *m, pons_map_kind kind, size_t most, pons_box2 **ret,
                   size_t *ret_n, pons_error *err)
{
    int open = 0, occupied = 100;
    limits_of(&m->info, &open, &occupied);
    if (kind == PONS_MAP_OCCUPIED) {
        return pons_map_rects_of(m, occupied, 100, most, ret, ret_n, err);
    }
    return pons__map_merge(&m->info, m->cells, open, occupied, true, most, ret, ret_n, err);
}

int pons_map_rects_of_cells(const pons_map_info *m, const int8_t *cells, int low, int high,
                            size_t most, pons_box2 **ret, size_t *ret_n, pons_error *err)
{
    return pons__map_merge(m, cells, low, high, false, most, ret, ret_n, err);
}

int pons_map_rects_of(const pons_map *m, int low, int high, size_t most, pons_box2 **ret,
                      size_t *ret_n, pons_error *err)
{
    return pons__map_merge(&m->info, m->cells, low, high, false, most, ret, ret_n, err);
}
