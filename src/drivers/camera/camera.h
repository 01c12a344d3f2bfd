// camera.h - pictures as files, and those of this machine's own cameras.
#pragma once

#include "pons/error.h"
#include "pons/ext/arm.h"

#include <stddef.h>

// Depth in metres as a NumPy array of float32, rows by columns.
int pons__picture_write_npy(const char *path, const pons_picture_raw *picture, pons_error *err);
int pons__picture_write(const char *path, const void *bytes, size_t n, pons_error *err);

// One picture of a V4L2 camera: its JPEG as the camera gives it (*ret_jpeg, to be freed), or RGB in
// *ret. width, height, fps: as near as the camera has them. PONS_ENOTFOUND: there is no such device;
// PONS_EENV: it is no camera, or gives no format that is read (MJPEG, YUYV); PONS_EIO.
int pons__v4l2_take(const char *device, int width, int height, double fps, pons_picture_raw *ret,
                    void **ret_jpeg, size_t *ret_n, pons_error *err);
