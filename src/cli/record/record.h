// record.h - between the commands that make and read recordings.
#pragma once

#include "app/session/session.h"

// What is wrong in a file that a person named is bad input: nothing of ours is damaged.
static inline int cli_recording_read(int rc, pons_error *err)
{
    if (rc == PONS_ECORRUPT || rc == PONS_EUNSUPPORTED) {
        rc = err->status = PONS_EINVAL;
    }
    return rc;
}
