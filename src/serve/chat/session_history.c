// session_history.c - what was said before, as words for a session that was not there.
#include "serve/chat/session_history.h"

#define PAST_MAX (24UL * 1024UL)

void pons__chat_past(const pons_value *said, pons_buf *ret)
{
    const size_t n = json_array_size(said), begun = ret->len;
    if (n == 0) {
        return;
    }
    pons_buf_str(ret, "(Earlier in this conversation, as the program tells it:\n");
    for (size_t i = 0; i < n && ret->len - begun < PAST_MAX; i++) {
        const pons_value *m = json_array_get(said, i);
        pons_buf_printf(ret, "%s: %s\n", pons_get_str(m, "role", ""),
                        pons_get_str(m, "content", ""));
    }
    pons_buf_str(ret, ")\n\n");
}
