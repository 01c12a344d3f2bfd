// xml_text.h - XML as people have it, for a strict parser. What tinyxml2 takes (BehaviorTree.CPP's and urdfdom's reader)
// is more than XML: `<` and `&` that stand for themselves in attributes, `--` in comments, blank lines first.
#pragma once

#include "pons/linkage.h"

#include <stdbool.h>
#include <stddef.h>

PONS_C_BEGIN

#define PONS_XML_BARE '\x7f'

// Makes XML of it in place, every byte where it was. attributes: a bare `<` or `&` of an attribute becomes
// PONS_XML_BARE, and so does `&#127;` of which only the `&` is replaced; the caller puts back what was there, in the
// text's order. Else both stay, and are faults. What is not well-formed otherwise stays so. Linear.
void pons_xml_soften(char *text, size_t n, bool attributes);

PONS_C_END
