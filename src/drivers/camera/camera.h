// camera.h - pictures as files, and those of this machine's own cameras.
#pragma once

#include "pons/error.h"
#include "pons/ext/arm.h"

#include <stddef.h>

// Depth in metres as a NumPy array of float32, rows by columns.
int pons__picture_write_npy(const char *path, const pons_picture_raw *picture, pons_error *err);
int pons__picture_write(const char *path, const void *bytes, size_t n, pons_error *err);

typedef struct pons__v4l2 pons__v4l2; // a V4L2 camera that takes pictures

// width, height, fps: as near as the camera has them. PONS_ENOTFOUND: there is no such device; PONS_EENV: it is no camera,
// or gives no format that is read (MJPEG, YUYV); PONS_EIO. *ret is the caller's to close.
int pons__v4l2_open(const char *device, int width, int height, double fps, pons__v4l2 **ret,
                    pons_error *err);
void pons__v4l2_close(pons__v4l2 *v); // NULL-safe
// A picture of now: its JPEG as the camera gives it (*ret_jpeg, to be freed), or RGB in *ret, dated by the wall clock. PONS_EIO.
int pons__v4l2_next(pons__v4l2 *v, pons_picture_raw *ret, void **ret_jpeg, size_t *ret_n,
                    pons_error *err);
