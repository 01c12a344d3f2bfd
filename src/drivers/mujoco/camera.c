// camera.c - pictures of a simulated world, drawn by OSMesa: no screen, no graphics card.
//
//     scene <--mjv-- mjData (under the step's lock, some tenths of a millisecond)
//     scene --mjr--> OSMesa's memory --> colours, and the depth buffer
//
// MuJoCo gives rows from the bottom, and depth as the buffer has it: z in [0, 1], from which metres are
// zn / (1 − z (1 − zn / zf)), with the clipping planes zn and zf in units of the model's extent.
#include "drivers/mujoco/camera.h"

#include <math.h>
#include <stdlib.h>

#define MODULE "mujoco"

int pons__mj_cameras(const pons_value *world, pons_camera_caps *ret, int cap)
{
    const pons_value *all = pons_get(world, "cameras");
    int n = 0;
    for (size_t i = 0; i < json_array_size(all) && n < cap; i++) {
        const pons_value *c = json_array_get(all, i);
        if (pons_get(c, "device")) {
            continue;
        }
        ret[n] = (pons_camera_caps){.width = (int)pons_get_int(c, "width", 640),
                                    .height = (int)pons_get_int(c, "height", 480),
                                    .fps = pons_get_num(c, "fps", 15.0),
                                    .fovy_rad = pons_get_num(c, "fovy_deg", 45.0) * M_PI / 180.0,
                                    .depth = true};
        snprintf(ret[n].name, sizeof ret[n].name, "%s", pons_get_str(c, "id", ""));
        snprintf(ret[n].frame, sizeof ret[n].frame, "%s", pons_get_str(c, "on", "map"));
        n++;
    }
    return n;
}

#if __has_include(<GL/osmesa.h>) && defined(PONS_OSMESA)
#include <GL/osmesa.h>

struct pons__mj_eyes {
    OSMesaContext context;
    unsigned char *memory; // that OSMesa draws into
    int width, height;
    mjvScene scene;
    mjvOption option;
    mjrContext mjr;
};

static int open_eyes(pons__mj_eyes **ret, const mjModel *m, pons_error *err)
{
    pons__mj_eyes *e = calloc(1, sizeof *e);
    if (!e) {
        return pons_error_set(err, PONS_ENOMEM, MODULE, "no memory to draw");
    }
    e->width = m->vis.global.offwidth;
    e->height = m->vis.global.offheight;
    e->context = OSMesaCreateContextExt(OSMESA_RGBA, 24, 8, 8, NULL);
    e->memory = malloc((size_t)e->width * (size_t)e->height * 4);
    if (!e->context || !e->memory ||
        !OSMesaMakeCurrent(e->context, e->memory, GL_UNSIGNED_BYTE, e->width, e->height)) {
        if (e->context) {
            OSMesaDestroyContext(e->context);
        }
        free(e->memory);
        free(e);
        return pons_error_set(err, PONS_EENV, MODULE, "OSMesa does not draw here");
    }
    mjv_defaultScene(&e->scene);
    mjv_makeScene(m, &e->scene, 2000);
    mjv_defaultOption(&e->option);
    e->option.flags[mjVIS_RANGEFINDER] = 0;
    e->option.geomgroup[3] = 1; // the floor
    mjr_defaultContext(&e->mjr);
    mjr_makeContext(m, &e->mjr, mjFONTSCALE_100);
    mjr_setBuffer(mjFB_OFFSCREEN, &e->mjr);
    *ret = e;
    return PONS_OK;
}

void pons__mj_eyes_close(pons__mj_eyes *e)
{
    if (!e) {
        return;
    }
    OSMesaMakeCurrent(e->context, e->memory, GL_UNSIGNED_BYTE, e->width, e->height);
    mjr_freeContext(&e->mjr);
    mjv_freeScene(&e->scene);
    OSMesaDestroyContext(e->context);
    free(e->memory);
    free(e);
}

// Rows from the top, and depth in metres.
static void turn_over(const mjModel *m, pons_picture_raw *p)
{
    const double zn = m->vis.map.znear * m->stat.extent, zf = m->vis.map.zfar * m->stat.extent;
    const size_t row = 3 * (size_t)p->width;
    for (int y = 0; y < p->height / 2; y++) {
        uint8_t *a = p->rgb + row * (size_t)y, *b = p->rgb + row * (size_t)(p->height - 1 - y);
        for (size_t i = 0; i < row; i++) {
            const uint8_t keep = a[i];
            a[i] = b[i];
            b[i] = keep;
        }
        for (int x = 0; p->depth && x < p->width; x++) {
            float *u = p->depth + (size_t)y * (size_t)p->width + x;
            float *v = p->depth + (size_t)(p->height - 1 - y) * (size_t)p->width + x;
            const float keep = *u;
            *u = *v;
            *v = keep;
        }
    }
    for (size_t i = 0; p->depth && i < (size_t)p->width * (size_t)p->height; i++) {
        const double z = (double)p->depth[i];
        p->depth[i] = z >= 1.0 ? INFINITY : (float)(zn / (1.0 - z * (1.0 - zn / zf)));
    }
}

int pons__mj_take(pons__mj_eyes **eyes, const mjModel *m, mjData *d, pthread_mutex_t *lock,
                  const pons_camera_caps *camera, bool depth, pons_picture_raw *ret,
                  pons_error *err)
{
    const int id = mj_name2id(m, mjOBJ_CAMERA, camera->name);
    pons_picture_raw p = {.width = camera->width, .height = camera->height};
    const size_t pixels = (size_t)p.width * (size_t)p.height;
    if (id < 0) {
        return pons_error_set(err, PONS_ENOTFOUND, MODULE, "the model has no camera %s",
                              camera->name);
    }
    int rc = *eyes ? PONS_OK : open_eyes(eyes, m, err);
    if (rc < 0) {
        return rc;
    }
    pons__mj_eyes *e = *eyes;
    if (p.width > e->width || p.height > e->height) {
        return pons_error_set(err, PONS_EINVAL, MODULE, "a picture has at most %d × %d pixels",
                              e->width, e->height);
    }
    p.rgb = malloc(pixels * 3);
    p.depth = depth ? malloc(pixels * sizeof *p.depth) : NULL;
    if (!p.rgb || (depth && !p.depth)) {
        free(p.rgb);
        free(p.depth);
        return pons_error_set(err, PONS_ENOMEM, MODULE, "no memory for a picture");
    }
    mjvCamera view;
    mjv_defaultCamera(&view);
    view.type = mjCAMERA_FIXED;
    view.fixedcamid = id;
    const mjrRect all = {0, 0, p.width, p.height};
    OSMesaMakeCurrent(e->context, e->memory, GL_UNSIGNED_BYTE, e->width, e->height);
    pthread_mutex_lock(lock);
    mj_kinematics(m, d); // a step leaves things where they were before it, a restored state nowhere
    mj_comPos(m, d);
    mj_camlight(m, d);
    mjv_updateScene(m, d, &e->option, NULL, &view, mjCAT_ALL, &e->scene);
    pthread_mutex_unlock(lock);
    e->scene.flags[mjRND_SHADOW] = e->scene.flags[mjRND_REFLECTION] = 0;
    mjr_render(all, &e->scene, &e->mjr);
    mjr_readPixels(p.rgb, p.depth, all, &e->mjr);
    turn_over(m, &p);
    *ret = p;
    return PONS_OK;
}
#else
void pons__mj_eyes_close(pons__mj_eyes *eyes)
{
}

int pons__mj_take(pons__mj_eyes **eyes, const mjModel *m, mjData *d, pthread_mutex_t *lock,
                  const pons_camera_caps *camera, bool depth, pons_picture_raw *ret,
                  pons_error *err)
{
    (void)eyes, (void)m, (void)d, (void)lock, (void)camera, (void)depth, (void)ret;
    return pons_error_set(err, PONS_EENV, MODULE,
                          "no pictures: built without OSMesa (libosmesa6-dev)");
}
#endif
