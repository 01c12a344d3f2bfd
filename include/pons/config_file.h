// config_file.h - where a configuration file is: in the workspace, else among a person's own, else as pons
// ships it; and which workspace is meant when nobody names one.
#pragma once

#include "pons/error.h"
#include "pons/linkage.h"

#include <stddef.h>

PONS_C_BEGIN

// From the one that counts most to the one that counts least.
typedef enum pons_config_place {
    PONS_CONFIG_WORKSPACE, // WORKSPACE/config
    PONS_CONFIG_PERSON,    // $XDG_CONFIG_HOME/pons, else ~/.config/pons
    PONS_CONFIG_SHIPPED,   // pons_share_path
    PONS_CONFIG_PLACES
} pons_config_place;

// "workspace", "person", "shipped".
const char *pons_config_place_name(pons_config_place place);

// The folder of a person's own configuration, whether it is there or not. PONS_ENOTFOUND: neither
// XDG_CONFIG_HOME nor HOME is an absolute path; PONS_EINVAL: it does not fit.
int pons_config_person_dir(char *buf, size_t cap, pons_error *err);

// The file in that one place; relative begins with "config/", which a person's folder does not have, or
// is a name in the workspace's root. workspace: NULL for none. PONS_ENOTFOUND: it is not there;
// PONS_EREFUSED: others could change it (pons/protected_files.h); PONS_EENV: nobody can say whether it is.
// Writes buf only on success. Any thread.
int pons_config_at(pons_config_place place, const char *workspace, const char *relative, char *buf,
                   size_t cap, pons_error *err);
// The same in the first place that has it; ret_place may be NULL. A file is taken whole: what it
// leaves out is not looked for in the next place.
int pons_config_find(const char *workspace, const char *relative, char *buf, size_t cap,
                     pons_config_place *ret_place, pons_error *err);

// The workspace when nobody names one: ~/.pons where there is one, else $XDG_DATA_HOME/pons, else
// ~/.local/share/pons; ./.pons without a home. PONS_EINVAL: it does not fit.
int pons_workspace_default(char *buf, size_t cap, pons_error *err);

PONS_C_END
