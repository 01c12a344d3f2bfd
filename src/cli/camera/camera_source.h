// camera_source.h - pictures of a camera, one after the other: drawn of the body's saved state, of a device, or of files.
// Every picture of a camera that pons keeps, shows or sends comes from here.
#pragma once

#include "cli/cli.h"
#include "pons/ext/camera.h"

typedef struct cli_source cli_source;

typedef struct cli_picture { // the caller's: cli_picture_clear
    pons_picture_raw raw;    // rgb NULL: jpeg is the picture
    void *jpeg;              // as a device gave it; NULL: rgb is
    size_t jpeg_n;
    pons_camera_view view; // from where, when its source says so
} cli_picture;

// o: as for cli_camera; pictures: a file, or a folder of JPEG and PNG files, in place of the camera's own; NULL: none.
// PONS_ENOTFOUND: no such camera; PONS_EENV: the driver draws none, or the device gives none.
int cli_source_open(cli *c, const cli_camera_options *o, const char *pictures, cli_source **ret,
                    pons_error *err);
void cli_source_close(cli_source *s); // NULL-safe
// 1: a picture, with the camera's regions blurred (config/vision.yaml); 0: none that is newer than the last one. Of a file that is no picture an error, once; then the next
// one is tried. PONS_ECLOSED: the body is in another world now.
int cli_source_next(cli_source *s, bool decoded, cli_picture *ret, pons_error *err);
bool cli_source_wall(const cli_source *s); // its stamps are the wall clock's; else the robot's
const pons_value *cli_source_camera(
    const cli_source *s); // its entry in the world; NULL: it is a device or a file alone
void cli_picture_clear(cli_picture *p);
