// session_history.h - what was said before, as words for a session that was not there.
#pragma once

#include "pons/buf.h"
#include "pons/value.h"

// said: [{role, content}]. Nothing when nothing was said.
void pons__chat_past(const pons_value *said, pons_buf *ret);
