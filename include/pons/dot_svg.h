// dot_svg.h - a drawing from dot text. The work is graphviz's: its program `dot` gets the text and
// gives the picture.
#ifndef PONS_DOT_SVG_H
#define PONS_DOT_SVG_H

#include "pons/error.h"

#ifdef __cplusplus
extern "C" {
#endif

// *ret: the svg text, the caller's (free). PONS_EENV, with what to install, without graphviz or
// when it cannot draw the text. Blocks until `dot` has ended.
int pons_picture_svg(const char *dot, char **ret, pons_error *err);

#ifdef __cplusplus
}
#endif

#endif
