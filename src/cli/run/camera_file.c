// camera_file.c - pictures as files: JPEG by libjpeg, depth as NumPy reads it.
#include "cli/run/camera_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MODULE  "camera"
#define QUALITY 90

static int io_error(const char *path, pons_error *err)
{
    pons_error_set(err, PONS_EIO, MODULE, "cannot write the picture: %s", strerror(errno));
    return pons_error_source(err, "%s", path);
}

int cli_write_bytes(const char *path, const void *bytes, size_t n, pons_error *err)
{
    FILE *f = fopen(path, "we");
    if (!f) {
        return io_error(path, err);
    }
    const bool whole = fwrite(bytes, 1, n, f) == n;
    return fclose(f) != 0 || !whole ? io_error(path, err) : PONS_OK;
}

// Version 1.0: magic, the header's length, a dictionary padded to 64 bytes, then the numbers.
int cli_write_npy(const char *path, const pons_picture_raw *p, pons_error *err)
{
    char header[128];
    const size_t n = (size_t)p->width * (size_t)p->height;
    memset(header, ' ', sizeof header);
    static const char magic[10] = {'\x93', 'N', 'U', 'M', 'P', 'Y', 1, 0, 118, 0}; // 128 − 10
    memcpy(header, magic, sizeof magic);
    const int used = snprintf(header + 10, sizeof header - 10,
                              "{'descr': '<f4', 'fortran_order': False, 'shape': (%d, %d), }",
                              p->height, p->width);
    header[10 + used] = ' ';
    header[sizeof header - 1] = '\n';
    FILE *f = fopen(path, "we");
    if (!f) {
        return io_error(path, err);
    }
    const bool whole = fwrite(header, 1, sizeof header, f) == sizeof header &&
                       fwrite(p->depth, sizeof *p->depth, n, f) == n;
    return fclose(f) != 0 || !whole ? io_error(path, err) : PONS_OK;
}

#ifdef PONS_JPEG
#include <jpeglib.h>

int cli_write_jpeg(const char *path, const pons_picture_raw *p, pons_error *err)
{
    struct jpeg_error_mgr handler;
    struct jpeg_compress_struct jpeg = {.err = jpeg_std_error(&handler)};
    unsigned char *bytes = NULL;
    unsigned long n = 0;
    jpeg_create_compress(&jpeg);
    jpeg_mem_dest(&jpeg, &bytes, &n); // no file: what libjpeg fails at, it fails at by exit
    jpeg.image_width = (JDIMENSION)p->width;
    jpeg.image_height = (JDIMENSION)p->height;
    jpeg.input_components = 3;
    jpeg.in_color_space = JCS_RGB;
    jpeg_set_defaults(&jpeg);
    jpeg_set_quality(&jpeg, QUALITY, TRUE);
    jpeg_start_compress(&jpeg, TRUE);
    while (jpeg.next_scanline < jpeg.image_height) {
        JSAMPROW row = p->rgb + (size_t)jpeg.next_scanline * (size_t)p->width * 3;
        jpeg_write_scanlines(&jpeg, &row, 1);
    }
    jpeg_finish_compress(&jpeg);
    jpeg_destroy_compress(&jpeg);
    const int rc = cli_write_bytes(path, bytes, n, err);
    free(bytes);
    return rc;
}
#else
int cli_write_jpeg(const char *path, const pons_picture_raw *p, pons_error *err)
{
    (void)path;
    (void)p;
    return pons_error_set(err, PONS_EENV, MODULE,
                          "no JPEG: built without libjpeg (libjpeg62-turbo-dev)");
}
#endif
