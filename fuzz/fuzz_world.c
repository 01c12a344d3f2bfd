// fuzz_world.c - whatever a world's file says, it is loaded or one line says what is wrong and where; what was loaded is
// a world that the kinematic robot can be opened in and stands in, and that has a name of its own.
//
// The world lies in a folder with a map, a mask and a robot's description, as map.yaml, map.pgm and base.urdf.
#include "pons/body.h"
#include "pons/drivers.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { STEPS = 3 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerInitialize(int *argc, char ***argv);
const char *__lsan_default_suppressions(void);

// libfyaml 0.7.12 loses a buffer when it refuses some quoted scalars of many lines.
const char *__lsan_default_suppressions(void)
{
    return "leak:libfyaml";
}

static char folder[32] = "/tmp/pons-fuzz-XXXXXX", path[64];

static void must(int holds)
{
    if (!holds) {
        abort();
    }
}

static void put(const char *name, const void *data, size_t n)
{
    char file[64];
    snprintf(file, sizeof file, "%s/%s", folder, name);
    FILE *f = fopen(file, "we");
    must(f && fwrite(data, 1, n, f) == n && fclose(f) == 0);
}

static void clean(void)
{
    static const char *const names[] = {"world.yaml", "map.yaml", "map.pgm", "base.urdf"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char file[64];
        snprintf(file, sizeof file, "%s/%s", folder, names[i]);
        unlink(file);
    }
    rmdir(folder);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    static const char map[] = "image: map.pgm\nresolution: 0.5\norigin: [0, 0, 0]\nnegate: 0\n"
                              "occupied_thresh: 0.65\nfree_thresh: 0.25\n",
                      picture[] = "P2 8 6 255\n"
                                  "0 0 0 0 0 0 0 0\n0 254 254 254 254 254 254 0\n"
                                  "0 254 254 254 254 254 254 0\n0 254 254 254 205 254 254 0\n"
                                  "0 254 254 254 254 254 254 0\n0 0 0 0 0 0 0 0\n",
                      urdf[] = "<robot name=\"r\"><link name=\"base_link\"><collision><geometry>"
                               "<cylinder radius=\"0.2\" length=\"0.1\"/></geometry></collision>"
                               "</link></robot>";
    (void)argc;
    (void)argv;
    pons_value_init();
    setenv("PONS_SHARE", PONS_SOURCE_DIR, 1); // schemas/
    must(mkdtemp(folder) != NULL);
    atexit(clean);
    snprintf(path, sizeof path, "%s/world.yaml", folder);
    put("map.yaml", map, sizeof map - 1);
    put("map.pgm", picture, sizeof picture - 1);
    put("base.urdf", urdf, sizeof urdf - 1);
    return 0;
}

static void live_in(const pons_value *world)
{
    pons_error err = PONS_ERROR_INIT;
    pons_value *config = json_pack("{s:i, s:f}", "seed", 1, "battery_pct", 50.0);
    void *robot = NULL;
    const int rc = pons_robot_kinematic.open(world, config, &robot, &err);
    pons_value_unref(config);
    if (rc < 0) {
        must(err.message[0]);
        return;
    }
    for (int i = 0; i < STEPS; i++) {
        pons_robot_state s;
        pons_pose2 p;
        must(pons_robot_kinematic.step(robot, 10 * PONS_NS_PER_MS, &err) == PONS_OK);
        pons_robot_kinematic.read(robot, &s);
        pons_robot_kinematic.truth(robot, &p);
        must(isfinite(p.x) && isfinite(p.y) && isfinite(p.yaw));
    }
    pons_robot_kinematic.close(robot);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    pons_value *world = NULL;
    pons_error err = PONS_ERROR_INIT;
    put("world.yaml", data, size);
    const int rc = pons_world_load(path, &world, &err);
    if (rc < 0) {
        must(!world && rc == PONS_EINVAL && err.message[0] && err.source[0]);
        return 0;
    }
    char id[PONS_WORLD_ID_MAX];
    must(pons_world_id(world, id, &err) == PONS_OK && strlen(id) == PONS_WORLD_ID_MAX - 1);
    live_in(world);
    pons_value_unref(world);
    return 0;
}
