// picture_child.h - pictures of cameras for who must not wait: `pons body camera` in processes of their own.
#ifndef CLI_RUN_PICTURES_H
#define CLI_RUN_PICTURES_H

#include "cli/cli.h"
#include "pons/ext/tool.h"

// A provider of "picture", one call at a time, of the body of this workspace. Arguments: {cameras: [{name, device?,
// resolution?: [w, h], fps?}], depth?: bool}; without cameras all of the body's world. The answer's data: {dir, pictures:
// [{name, rgb, depth?} | {name, error}]}, files by their paths below dir. PONS_ENOTFOUND: there are no cameras.
int cli_pictures_open(const cli *c, pons_tools *ret, pons_error *err);

#endif
