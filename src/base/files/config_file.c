// config_file.c - the places of a configuration file, and of a workspace that nobody names.
//
//     WORKSPACE/config/kernel.yaml          this robot's
//     ~/.config/pons/kernel.yaml            a person's, for every workspace without its own
//     /usr/share/pons/config/kernel.yaml    as it ships
//
// The first that is there counts, whole. One that is there and cannot be read is an error, never a
// reason to go on to the next: limits that a person has written down would be gone without a word.
// What the XDG base directory specification calls relative and therefore invalid is ignored.
#include "pons/config_file.h"

#include "pons/module.h"
#include "pons/protected_files.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define WHERE  "config"
#define FOLDER PONS_DIR_CONFIG "/"

// Of an environment variable; NULL: it says nothing that counts.
static const char *absolute(const char *variable)
{
    const char *value = getenv(variable);
    return value && value[0] == '/' ? value : NULL;
}

// $VARIABLE/pons, else ~/USUAL/pons.
static int home_of(const char *variable, const char *usual, char *buf, size_t cap, pons_error *err)
{
    const char *base = absolute(variable), *home = absolute("HOME");
    char path[PATH_MAX];
    if (!base && !home) {
        return pons_error_set(err, PONS_ENOTFOUND, WHERE, "neither %s nor HOME is an absolute path",
                              variable);
    }
    const int n = base ? snprintf(path, sizeof path, "%s/pons", base)
                       : snprintf(path, sizeof path, "%s/%s/pons", home, usual);
    if (n >= (int)sizeof path || (size_t)n >= cap) {
        return pons_error_set(err, PONS_EINVAL, WHERE, "the path in %s is too long",
                              base ? variable : "HOME");
    }
    memcpy(buf, path, (size_t)n + 1);
    return PONS_OK;
}

const char *pons_config_place_name(pons_config_place place)
{
    static const char *const names[PONS_CONFIG_PLACES] = {"workspace", "person", "shipped"};
    return names[place];
}

int pons_config_person_dir(char *buf, size_t cap, pons_error *err)
{
    return home_of("XDG_CONFIG_HOME", ".config", buf, cap, err);
}

// Whether it is there: a link that leads nowhere is.
static int there(const char *path, pons_error *err)
{
    struct stat st;
    if (lstat(path, &st) == 0) {
        return PONS_OK;
    }
    return errno == ENOENT || errno == ENOTDIR
               ? pons_error_set(err, PONS_ENOTFOUND, WHERE, "there is no %s", path)
               : pons_error_set(err, PONS_EENV, WHERE, "cannot look at %s: %s", path,
                                strerror(errno));
}

int pons_config_at(pons_config_place place, const char *workspace, const char *relative, char *buf,
                   size_t cap, pons_error *err)
{
    char dir[PATH_MAX], path[PATH_MAX];
    if (place == PONS_CONFIG_SHIPPED) {
        return pons_share_path(relative, buf, cap, err);
    }
    const bool person = place == PONS_CONFIG_PERSON;
    int rc = PONS_OK;
    if (person) {
        rc = pons_config_person_dir(dir, sizeof dir, err);
        relative += strncmp(relative, FOLDER, strlen(FOLDER)) == 0 ? strlen(FOLDER) : 0;
    } else if (!workspace || snprintf(dir, sizeof dir, "%s", workspace) >= (int)sizeof dir) {
        rc = pons_error_set(err, PONS_ENOTFOUND, WHERE, "there is no workspace");
    }
    if (rc >= 0 && snprintf(path, sizeof path, "%s/%s", dir, relative) >= (int)sizeof path) {
        rc = pons_error_set(err, PONS_ENOTFOUND, WHERE, "path of %s is too long", relative);
    }
    rc = rc < 0 ? rc : there(path, err);
    if (rc >= 0) {
        rc = person ? pons_file_check(path, err) : pons_workspace_check(dir, err);
    }
    if (rc >= 0 && strlen(path) >= cap) {
        rc = pons_error_set(err, PONS_EINVAL, WHERE, "path of %s is too long", relative);
    }
    if (rc >= 0) {
        strcpy(buf, path);
    }
    return rc;
}

int pons_config_find(const char *workspace, const char *relative, char *buf, size_t cap,
                     pons_config_place *ret_place, pons_error *err)
{
    int rc = PONS_ENOTFOUND;
    for (int place = 0; rc == PONS_ENOTFOUND && place < PONS_CONFIG_PLACES; place++) {
        pons_error fault = PONS_ERROR_INIT; // the last one's counts
        rc = pons_config_at((pons_config_place)place, workspace, relative, buf, cap, &fault);
        if (rc < 0 && (rc != PONS_ENOTFOUND || place == PONS_CONFIG_PLACES - 1) && err) {
            *err = fault;
        } else if (rc >= 0 && ret_place) {
            *ret_place = (pons_config_place)place;
        }
    }
    return rc;
}

int pons_workspace_default(char *buf, size_t cap, pons_error *err)
{
    const char *home = getenv("HOME");
    char old[PATH_MAX];
    struct stat st;
    const int n = snprintf(old, sizeof old, "%s/.pons", home && *home ? home : ".");
    pons_error none = PONS_ERROR_INIT;
    int rc = PONS_ENOTFOUND;
    if (n < (int)sizeof old && lstat(old, &st) < 0) { // whatever is there is what was always meant
        rc = home_of("XDG_DATA_HOME", ".local/share", buf, cap, &none);
    }
    if (rc != PONS_ENOTFOUND) {
        if (rc < 0 && err) {
            *err = none;
        }
        return rc;
    }
    if (n >= (int)sizeof old || (size_t)n >= cap) {
        return pons_error_set(err, PONS_EINVAL, "", "the workspace's path is too long");
    }
    strcpy(buf, old);
    return PONS_OK;
}
