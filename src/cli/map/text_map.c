// text_map.c - the ground as text: a character is as many cells as it takes, twice as high as wide.
//
// Each shows the most forbidding of the cells that it overlaps, so that no wall is lost, however small or large the
// picture.
#include "cli/map/map.h"
#include "pons/footprint.h"

#include <stdlib.h>

enum { ROWS_MAX = 400, CELL_BYTES = 8 };

static const char *const MARKS[] = {
    [PONS_GROUND_FREE] = " ",     [PONS_GROUND_UNKNOWN] = "·", [PONS_GROUND_SLOW] = "░",
    [PONS_GROUND_KEEP_OUT] = "▒", [PONS_GROUND_WALL] = "█",
};

typedef struct sheet {
    double x0, y1, size; // the upper left corner in map, a character's width [m]
    int w, h;
    char (*at)[CELL_BYTES]; // (h, w)
} sheet;

static void put(sheet *s, double x, double y, const char *mark)
{
    const double cx = floor((x - s->x0) / s->size), cy = floor((s->y1 - y) / (2.0 * s->size));
    if (cx >= 0.0 && cy >= 0.0 && cx < s->w && cy < s->h) {
        snprintf(s->at[(int)cy * s->w + (int)cx], CELL_BYTES, "%s", mark);
    }
}

// The robot where it starts, when it is not round and larger than a character.
static void put_outline(sheet *s, const pons_value *world)
{
    const pons_value *robot = pons_get(world, "robot"), *start = pons_get(world, "start");
    pons_footprint f;
    if (!pons_get(robot, "footprint") || pons_footprint_read(pons_get(robot, "footprint"), &f) ||
        f.circumscribed_m < s->size) {
        return;
    }
    const double yaw = pons_get_num(start, "yaw", 0.0), c = cos(yaw), sn = sin(yaw);
    for (int i = 0; i < f.n; i++) {
        const int k = (i + 1) % f.n;
        const double ex = f.x[k] - f.x[i], ey = f.y[k] - f.y[i];
        const int parts = 1 + (int)(hypot(ex, ey) / (0.5 * s->size));
        for (int j = 0; j < parts; j++) {
            const double x = f.x[i] + ex * j / parts, y = f.y[i] + ey * j / parts;
            put(s, pons_get_num(start, "x", NAN) + c * x - sn * y,
                pons_get_num(start, "y", NAN) + sn * x + c * y, "o");
        }
    }
}

static void put_places(sheet *s, const pons_value *world)
{
    const pons_value *start = pons_get(world, "start");
    const pons_value *charger = pons_get(pons_get(world, "charger"), "pose");
    pons_each(zone, pons_get(world, "zones")) {
        const char mark[2] = {(char)('a' + zone_at % 26), '\0'};
        const pons_value *at = pons_get(zone, "target");
        put(s, pons_get_num(at, "x", NAN), pons_get_num(at, "y", NAN), mark);
    }
    put_outline(s, world);
    put(s, pons_get_num(charger, "x", NAN), pons_get_num(charger, "y", NAN), "C");
    put(s, pons_get_num(start, "x", NAN), pons_get_num(start, "y", NAN), "S");
}

static void print(const sheet *s, const pons_value *world)
{
    size_t i;
    json_t *zone;
    for (int y = 0; y < s->h; y++) {
        for (int x = 0; x < s->w; x++) {
            cli_out("%s", s->at[y * s->w + x]);
        }
        cli_out("\n");
    }
    cli_out("a column is %.2f m; S start, o the robot there, C charger, * path, █ wall, ▒ "
            "keep-out, ░ slow, · unknown\n",
            s->size);
    json_array_foreach(pons_get(world, "zones"), i, zone) {
        cli_out("%s%c %s", i ? "  " : "", (char)('a' + i % 26), pons_get_str(zone, "id", ""));
    }
    if (i > 0) {
        cli_out("\n");
    }
}

void map_draw(const pons_value *world, const pons_ground *g, const pons_ground_way *way,
              int columns)
{
    double b[4];
    for (size_t i = 0; i < 4; i++) {
        b[i] = json_number_value(json_array_get(pons_get(world, "bounds"), i));
    }
    sheet s = {.x0 = b[0], .y1 = b[3], .size = (b[2] - b[0]) / columns, .w = columns};
    s.size = fmax(s.size, (b[3] - b[1]) / (2.0 * ROWS_MAX));
    s.h = (int)ceil((b[3] - b[1]) / (2.0 * s.size));
    s.at = calloc((size_t)s.w * (size_t)s.h, sizeof *s.at);
    if (!s.at) {
        return;
    }
    for (int y = 0; y < s.h; y++) {
        for (int x = 0; x < s.w; x++) {
            const double left = s.x0 + s.size * x, top = s.y1 - 2.0 * s.size * y;
            const double area[4] = {left, top - 2.0 * s.size, left + s.size, top};
            snprintf(s.at[y * s.w + x], CELL_BYTES, "%s", MARKS[pons_ground_worst(g, area)]);
        }
    }
    for (int i = 0; way && i < way->n; i++) {
        put(&s, way->x[i], way->y[i], "*");
    }
    put_places(&s, world);
    print(&s, world);
    free(s.at);
}
