#include "map/map_help.h"

#include "unit.h"

#include <png.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char dir[64];

void make_dir(void)
{
    snprintf(dir, sizeof dir, "/tmp/pons-map-XXXXXX");
    assert_non_null(mkdtemp(dir));
}

void remove_dir(void)
{
    char command[100];
    snprintf(command, sizeof command, "rm -rf '%s'", dir);
    assert_int_equal(system(command), 0);
}

const char *in_dir(const char *name)
{
    static char paths[4][200];
    static int turn;
    char *path = paths[turn++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", dir, name);
    return path;
}

void write_bytes(const char *name, const void *data, size_t n)
{
    FILE *f = fopen(in_dir(name), "we");
    assert_non_null(f);
    assert_int_equal(fwrite(data, 1, n, f), n);
    assert_int_equal(fclose(f), 0);
}

void write_text(const char *name, const char *text)
{
    write_bytes(name, text, strlen(text));
}

void write_map(const char *name, const char *image, const char *more)
{
    char text[1000];
    snprintf(text, sizeof text,
             "image: %s\nresolution: 0.5\norigin: [-1.0, 2.0, 0.0]\noccupied_thresh: 0.65\n"
             "free_thresh: 0.25\nnegate: 0\n%s",
             image, more);
    write_text(name, text);
}

void write_png(const char *name, int w, int h, int channels, int bits, int interlaced,
               const unsigned char *rows)
{
    static const int colours[] = {0, PNG_COLOR_TYPE_GRAY, PNG_COLOR_TYPE_GRAY_ALPHA,
                                  PNG_COLOR_TYPE_RGB, PNG_COLOR_TYPE_RGB_ALPHA};
    FILE *f = fopen(in_dir(name), "we");
    assert_non_null(f);
    png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
    png_infop info = png_create_info_struct(png);
    assert_non_null(info);
    png_init_io(png, f);
    png_set_IHDR(png, info, (png_uint_32)w, (png_uint_32)h, bits, colours[channels],
                 interlaced ? PNG_INTERLACE_ADAM7 : PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_BASE,
                 PNG_FILTER_TYPE_BASE);
    png_write_info(png, info);
    png_bytep *at = calloc((size_t)h, sizeof *at);
    assert_non_null(at);
    for (int y = 0; y < h; y++) {
        at[y] = (png_bytep)(uintptr_t)(rows + (size_t)y * (size_t)(w * channels * bits / 8));
    }
    png_write_image(png, at);
    png_write_end(png, NULL);
    png_destroy_write_struct(&png, &info);
    free(at);
    assert_int_equal(fclose(f), 0);
}
