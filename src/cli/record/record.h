// record.h - a recording of the robot in this workspace (recording.c), for commands that make one.
#ifndef PONS_CLI_RECORD_RECORD_H
#define PONS_CLI_RECORD_RECORD_H

#include "cli/cli.h"

#define CLI_RECORD_EVERY_S 2.0

// Whether it has ended by itself: the disk is full.
bool cli_recording_ended(cli_recording *r);

// What is wrong in a file that a person named is bad input: nothing of ours is damaged.
static inline int cli_recording_read(int rc, pons_error *err)
{
    if (rc == PONS_ECORRUPT || rc == PONS_EUNSUPPORTED) {
        rc = err->status = PONS_EINVAL;
    }
    return rc;
}

#endif
