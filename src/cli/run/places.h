// places.h - `pons places`, and worlds with the places that were named in them.
#pragma once

#include "cli/cli.h"

// The world with the workspace's named places as further zones; as it is where there are none or nobody can tell.
// New reference.
pons_value *cli_places_in(cli *c, const pons_value *world);
