// places.h - `pons places`, and worlds with the places that were named in them.
#ifndef CLI_RUN_PLACES_H
#define CLI_RUN_PLACES_H

#include "cli/cli.h"

// The namespace of this workspace's in its store.
void cli_places_space(const cli *c, char ret[64]);
// The world with the workspace's named places as further zones; as it is where there are none or nobody can tell.
// New reference.
pons_value *cli_places_in(cli *c, const pons_value *world);

#endif
