// fuzz_urdf.c - whatever a robot's description holds, an arm or a base is read from it or one line says what is wrong
// and where; what was read is numbers, and the arm's kinematics work with it.
#include "pons/arm.h"
#include "pons/base_urdf.h"
#include "pons/value.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(int holds)
{
    if (!holds) {
        abort();
    }
}

static void refused(int rc, const pons_error *err)
{
    must(rc == PONS_EINVAL && err->message[0] && err->source[0]);
}

static void base_of(const char *path)
{
    pons_base_urdf u;
    pons_error err = PONS_ERROR_INIT;
    const int rc = pons_base_urdf_load(path, NULL, &u, &err);
    if (rc < 0) {
        refused(rc, &err);
        return;
    }
    must(u.links > 0 && u.base[0] && u.wheels >= 0 && u.meshes >= 0 && u.moving >= 0);
    for (int i = 0; i < 4; i++) {
        must(!u.has_lidar || isfinite(u.lidar_pose[i]));
    }
    must(u.wheels == 0 || (u.wheel_radius_m > 0.0 || isnan(u.wheel_radius_m)));
    must(u.wheels == 0 || (isfinite(u.track_m) && u.track_m > 0.0));
    if (u.has_footprint) { // what a world is told of it can be read again
        pons_footprint again;
        pons_value *v = pons_footprint_value(&u.footprint);
        must(v && !pons_footprint_read(v, &again));
        must(isfinite(again.circumscribed_m) && again.circumscribed_m >= again.inscribed_m);
        pons_value_unref(v);
    }
}

static void arm_of(const char *path)
{
    pons_arm *a = NULL;
    pons_error err = PONS_ERROR_INIT;
    const int rc = pons_arm_load(path, "a", "t", &a, &err);
    if (rc < 0) {
        refused(rc, &err);
        must(a == NULL);
        return;
    }
    must(pons_arm_find_link(a, "a") >= 0 && pons_arm_find_link(a, "t") >= 0);
    pons_arm_destroy(a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static int fd = -1;
    char path[32];
    if (fd < 0) {
        pons_value_init();
        fd = memfd_create("robot", MFD_CLOEXEC);
    }
    must(fd >= 0 && ftruncate(fd, 0) == 0 && pwrite(fd, data, size, 0) == (ssize_t)size);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    base_of(path);
    arm_of(path);
    return 0;
}
