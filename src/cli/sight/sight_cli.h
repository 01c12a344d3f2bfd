// sight_cli.h - the words of `pons sight`.
#pragma once

#include "cli/cli.h"

// `pons sight detect NAME`: what one detector of pictures finds, a line a picture (sight/detection_json.h). once: of one
// picture. for_run: it ends with who reads it.
int cli_detect(cli *c, const char *name, bool once, bool for_run, pons_error *err);
// `pons sight tag IDENTITY`: what a thing of this identity looks like, as a PNG file of about `pixels` a side.
int cli_tag(cli *c, const char *identity, const char *out, int pixels, pons_error *err);
