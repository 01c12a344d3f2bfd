// session_history.h - what was said before, as words for a session that was not there.
#ifndef PONS_SERVE_CHAT_SESSION_HISTORY_H
#define PONS_SERVE_CHAT_SESSION_HISTORY_H

#include "pons/buf.h"
#include "pons/value.h"

// said: [{role, content}]. Nothing when nothing was said.
void pons__chat_past(const pons_value *said, pons_buf *ret);

#endif
