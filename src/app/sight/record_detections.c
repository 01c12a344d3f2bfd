// record_detections.c - what every source of detections ends in: the memory, and a line where something is wrong.
#include "app/sight/sight_state.h"

enum { TELL_MS = 60000 };

void sight_say(sight *s, int64_t *last_ms, const char *what)
{
    const int64_t now = pons_now_ms(&s->clock);
    if (!*last_ms || now - *last_ms >= TELL_MS) {
        *last_ms = now;
        app_tell(s->c, "pons: sight: %s", what);
    }
}

void sight_tell(sight *s, pons_object_view *view, const pons_detection *found, size_t n)
{
    pons_object_seen seen;
    pons_error err = PONS_ERROR_INIT;
    if (!s->memory) {
        return;
    }
    view->clear = pons__walls_clear;
    view->user = &s->walls;
    if (pons_object_memory_put(s->memory, view, found, n, &seen, &err) < 0) {
        sight_say(s, &s->warned_ms, err.message);
    } else if (seen.refused) {
        sight_say(s, &s->warned_ms, seen.why);
    }
}
