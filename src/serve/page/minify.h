// minify.h - a page's file without what only its readers need.
#pragma once

#include <stddef.h>

// Takes comments and indentation out of a module or a style of the page, in place; the new length. Comments are
// lines that begin with // and what stands between "/* " or "/**" and the next end of one, which is how ui/ writes
// them; a text or a pattern with these signs in it, and a text over several lines, would be changed, and ui/ has none.
size_t pons__page_slim(char *text, size_t n);
