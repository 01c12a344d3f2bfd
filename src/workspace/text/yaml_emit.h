// yaml_emit.h - values as people read them: JSON in lines, YAML in blocks.
#pragma once

#include "pons/buf.h"
#include "pons/value.h"

// The value as it stands behind what is already on its line, further lines indented beyond `indent`
// columns; without a line's end.
void pons__ws_emit_json(pons_buf *out, const pons_value *v, size_t indent);
// A map's members or a list's items, each on lines of its own that begin at `indent`; with the last
// line's end. Of an empty one, and of a scalar, the value and a line's end.
void pons__ws_emit_yaml(pons_buf *out, const pons_value *v, size_t indent);
void pons__ws_emit_yaml_item(pons_buf *out, const pons_value *v, size_t indent); // "- …"
void pons__ws_emit_yaml_member(pons_buf *out, const char *key, const pons_value *v, size_t indent);
void pons__ws_emit_text(pons_buf *out, const char *s); // a JSON string
