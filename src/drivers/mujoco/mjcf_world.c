// mjcf_world.c - where a world's MJCF comes from.
//
// A world with `mjcf` brings its own file. For any other a model is made here, in memory, of the
// boxes of its map: what `kinematic` collides with is then what physics collides with, and somebody
// who has drawn a floor plan in YAML can drive in it at once. Walls and furniture get a usual
// height where the file gives them none, objects become balls where it gives them no shape (loose_objects.c).
// A robot with an arm is made too (arm_model.c), and so is any that is not robot.xml's (robot_model.c).
#include "drivers/mujoco/mjcf_world.h"

#include "pons/file.h"
#include "pons/module.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MODULE "mujoco"

#define WALL_HEIGHT_M      1.0
#define FURNITURE_HEIGHT_M 0.75

enum { FILE_MAX_BYTES = 4 * 1024 * 1024 };
static const char MADE_NAME[] = "world.xml", ROBOT_NAME[] = "robot.xml"; // in the file system
static const char ROBOT_FILE[] = "worlds/robot.xml";                     // on the disk

// The collision bits are robot.xml's: 2 the robot, 4 loose objects.
static void write_box(FILE *out, const pons_value *box)
{
    const bool wall = !strcmp(pons_get_str(box, "kind", ""), "wall");
    const double half =
        0.5 * pons_get_num(box, "height_m", wall ? WALL_HEIGHT_M : FURNITURE_HEIGHT_M);
    fprintf(out,
            "<geom type=\"box\" pos=\"%.17g %.17g %.17g\" size=\"%.17g %.17g %.17g\" "
            "euler=\"0 0 %.17g\" contype=\"0\" conaffinity=\"%d\"/>\n",
            pons_get_num(box, "x", 0.0), pons_get_num(box, "y", 0.0), half,
            0.5 * pons_get_num(box, "sx", 0.0), 0.5 * pons_get_num(box, "sy", 0.0), half,
            pons_get_num(box, "yaw", 0.0), wall ? 2 : 6);
}

// Pictures as large as a camera's may be, depth from a centimetre on, light from two sides.
static const char VISUAL[] =
    "<visual><global offwidth=\"1280\" offheight=\"960\"/><map znear=\".01\" "
    "zfar=\"60\"/></visual><statistic extent=\"1\"/>\n";

static const char LIGHTS[] =
    "<light directional=\"true\" castshadow=\"false\" dir=\".4 .2 -1\" diffuse=\".4 .4 .4\"/>"
    "<light directional=\"true\" castshadow=\"false\" dir=\"-.3 -.4 -1\" diffuse=\".3 .3 .3\"/>\n";

// What is on the objects' fronts.
static void write_textures(FILE *out, const pons_value *world)
{
    fputs("</worldbody><asset>", out);
    for (size_t i = 0; i < json_array_size(pons_get(world, "objects")); i++) {
        char name[32];
        pons__mj_object_texture(world, i, name);
        if (*name) {
            fprintf(out,
                    "<texture name=\"%s\" type=\"2d\" file=\"%s\"/><material name=\"%s\" "
                    "texture=\"%s\"/>\n",
                    name, name, name, name);
        }
    }
    fputs("</asset><worldbody>\n", out);
}

// The MJCF text, to be freed; NULL: no memory.
static char *make_model(const pons_value *world, uint64_t seed, const pons_arm *arm,
                        const pons_pose3 *mount)
{
    char *text = NULL;
    size_t n = 0;
    FILE *out = open_memstream(&text, &n);
    if (!out) {
        return NULL;
    }
    const pons_value *boxes = pons_get(pons_get(world, "map"), "boxes");
    const pons_value *objects = pons_get(world, "objects");
    if (arm) {
        pons__mj_arm_head(out, world, arm, mount);
    } else if (pons__mj_robot_is_usual(world)) {
        fprintf(out, "<mujoco><include file=\"%s\"/><worldbody>\n", ROBOT_NAME);
    } else {
        fputs("<mujoco>\n", out);
        pons__mj_robot_write(out, world);
        fputs("<worldbody>\n", out);
    }
    if (!arm && pons_get(world, "cameras")) {
        fprintf(out, "</worldbody>%s<worldbody>%s", VISUAL, LIGHTS);
        pons__mj_cameras_write(out, world, "", 0.0);
    }
    write_textures(out, world);
    for (size_t i = 0; i < json_array_size(boxes); i++) {
        write_box(out, json_array_get(boxes, i));
    }
    for (size_t i = 0; i < json_array_size(objects); i++) {
        if (!pons_get_bool(json_array_get(objects, i), "fixed", false)) { // the map has it
            pons__mj_object_write(out, world, i, seed);
        }
    }
    if (arm) {
        pons__mj_arm_tail(out, arm);
    } else {
        fputs("</worldbody></mujoco>\n", out);
    }
    if (fclose(out) != 0) {
        free(text);
        return NULL;
    }
    return text;
}

// To be freed; NULL when it cannot be read.
static char *read_all(const char *path, size_t *ret_n)
{
    FILE *f = pons_file_read(path);
    char *bytes = malloc(FILE_MAX_BYTES);
    *ret_n = f && bytes ? fread(bytes, 1, FILE_MAX_BYTES, f) : 0;
    const bool whole = f && bytes && feof(f) && !ferror(f);
    if (f) {
        fclose(f);
    }
    if (!whole) {
        free(bytes);
        bytes = NULL;
    }
    return bytes;
}

static bool add_file(mjVFS *vfs, const char *name, const char *bytes, size_t n)
{
    if (mj_makeEmptyFileVFS(vfs, name, (int)n) != 0) {
        return false;
    }
    const int i = mj_findFileVFS(vfs, name);
    if (i < 0) {
        return false;
    }
    memcpy(vfs->filedata[i], bytes, n);
    return true;
}

static int add_textures(mjVFS *vfs, const pons_value *world, pons_error *err)
{
    const pons_value *objects = pons_get(world, "objects");
    for (size_t i = 0; i < json_array_size(objects); i++) {
        char name[32], path[PONS__MJ_PATH_BYTES];
        size_t n = 0;
        pons__mj_object_texture(world, i, name);
        if (!*name) {
            continue;
        }
        const char *file =
            pons_get_str(pons_get(json_array_get(objects, i), "shape"), "texture", "");
        const char *dir = *file == '/' ? "" : pons_get_str(world, "dir", ".");
        snprintf(path, sizeof path, "%s/%s", dir, file);
        char *bytes = read_all(path, &n);
        const bool added = bytes && n > 0 && add_file(vfs, name, bytes, n);
        free(bytes);
        if (!added) {
            pons_error_set(err, PONS_EINVAL, MODULE, "cannot read the texture of %s",
                           pons_get_str(json_array_get(objects, i), "id", ""));
            return pons_error_source(err, "%s", path);
        }
    }
    return PONS_OK;
}

int pons__mj_source_init(pons__mj_source *s, const pons_value *world, uint64_t seed,
                         const pons_arm *arm, const pons_pose3 *mount, pons_error *err)
{
    memset(s, 0, sizeof *s);
    const char *mjcf = pons_get_str(world, "mjcf", NULL);
    if (mjcf) {
        const char *dir = *mjcf == '/' ? "" : pons_get_str(world, "dir", ".");
        snprintf(s->path, sizeof s->path, "%s%s%s", dir, *dir ? "/" : "", mjcf);
        return PONS_OK;
    }

    snprintf(s->path, sizeof s->path, "%s", pons_get_str(world, "path", "world"));
    char robot_path[PONS__MJ_PATH_BYTES];
    const bool included = !arm && pons__mj_robot_is_usual(world);
    if (included && pons_share_path(ROBOT_FILE, robot_path, sizeof robot_path, err) < 0) {
        if (err) {
            err->status = PONS_EENV;
        }
        return PONS_EENV;
    }
    size_t robot_n = 0;
    char *robot = included ? read_all(robot_path, &robot_n) : NULL,
         *made = make_model(world, seed, arm, mount);
    s->vfs = malloc(sizeof *s->vfs); // 2 MB: not for the stack
    if (s->vfs) {
        mj_defaultVFS(s->vfs);
    }
    const bool whole = made && s->vfs &&
                       (!included || (robot && add_file(s->vfs, ROBOT_NAME, robot, robot_n))) &&
                       add_file(s->vfs, MADE_NAME, made, strlen(made));
    free(robot);
    free(made);
    return whole ? add_textures(s->vfs, world, err)
                 : pons_error_set(err, PONS_ENOMEM, MODULE, "cannot make a model of the world");
}

void pons__mj_source_fini(pons__mj_source *s)
{
    if (s->vfs) {
        mj_deleteVFS(s->vfs);
    }
    free(s->vfs);
    s->vfs = NULL;
}

mjModel *pons__mj_source_load(const pons__mj_source *s, char why[PONS__MJ_ERROR_BYTES])
{
    return mj_loadXML(s->vfs ? MADE_NAME : s->path, s->vfs, why, PONS__MJ_ERROR_BYTES);
}
