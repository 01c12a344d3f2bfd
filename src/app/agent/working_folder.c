// working_folder.c - the working folder: where file tools are rooted, when it is not the workspace.
//
// *Workspace* is state and configuration; the *working folder* is where the agent was started, and only
// has files: nothing of pons's is read from it as configuration, whatever it is called. It must be
// trusted, as what stands in it reaches the model: a person is asked once, and run/folders.json of the
// workspace keeps the yes (and the no).
//
//     {"trusted": {"/home/mara/src": true, "/tmp/x": false}, "sessions": {"agent": "/home/mara/src"}}
//
// sessions: where each worked last, so that what was cut short goes on in the same place. The file is
// replaced whole under a lock; it is in run/, which no tool writes.
#include "app/agent/agent_setup.h"
#include "pons/config_file.h"
#include "pons/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static void file_path(const app_context *c, const char *name, char ret[PATH_MAX])
{
    snprintf(ret, PATH_MAX, "%.*s/%s", PATH_MAX - 32, c->run_dir, name);
}

static pons_value *read_file(const app_context *c)
{
    char path[PATH_MAX];
    pons_error none = PONS_ERROR_INIT;
    pons_value *all = NULL;
    file_path(c, "folders.json", path);
    if (pons_value_load(path, &all, &none) < 0 || !json_is_object(all)) {
        pons_value_unref(all);
        all = json_object();
    }
    return all;
}

// One member of one of the two objects, for good; what can't be written is asked again.
static void note(const app_context *c, const char *kind, const char *key, pons_value *value)
{
    char lock[PATH_MAX], path[PATH_MAX];
    file_path(c, "folders.lock", lock);
    file_path(c, "folders.json", path);
    const int fd = open(lock, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0 || flock(fd, LOCK_EX) < 0) {
        if (fd >= 0) {
            close(fd);
        }
        pons_value_unref(value);
        return;
    }
    pons_autovalue all = read_file(c);
    pons_value *of = json_object_get(all, kind);
    if (!json_is_object(of)) {
        of = json_object();
        json_object_set_new(all, kind, of);
    }
    json_object_set_new(of, key, value);
    char *text = json_dumps(all, JSON_INDENT(1));
    if (text) {
        pons_file_replace(path, text, strlen(text), 0600);
    }
    free(text);
    close(fd);
}

bool app_folder_of_session(const app_context *c, const char *session, char ret[PATH_MAX])
{
    pons_autovalue all = read_file(c);
    const char *folder = pons_get_str(pons_get(all, "sessions"), session, NULL);
    if (folder) {
        snprintf(ret, PATH_MAX, "%s", folder);
    }
    return folder != NULL;
}

void app_folder_note_session(const app_context *c, const char *session, const char *folder)
{
    char had[PATH_MAX];
    if (!app_folder_of_session(c, session, had) || strcmp(had, folder) != 0) {
        note(c, "sessions", session, json_string(folder));
    }
}

static bool beneath(const char *path, const char *above)
{
    const size_t n = strlen(above);
    return strncmp(path, above, n) == 0 &&
           (path[n] == '\0' || path[n] == '/' || above[n - 1] == '/');
}

static bool in_configuration(const char *folder)
{
    char person[PATH_MAX], place[PATH_MAX];
    pons_error none = PONS_ERROR_INIT;
    return pons_config_person_dir(person, sizeof person, &none) >= 0 && realpath(person, place) &&
           beneath(folder, place);
}

int app_folder_find(const app_context *c, const char *wanted, app_folder_ask ask,
                    bool (*person)(const char *folder), char ret[PATH_MAX], const char **ret_why,
                    pons_error *err)
{
    char workspace[PATH_MAX], folder[PATH_MAX];
    struct stat st;
    if (!realpath(c->workspace, workspace)) {
        return app_lacks(err, "agent: cannot open the workspace %s: %s", c->workspace,
                         strerror(errno));
    }
    if (!realpath(wanted ? wanted : ".", folder) || stat(folder, &st) < 0) {
        return app_bad(err, "agent: cannot work in %s: %s", wanted ? wanted : "this folder",
                       strerror(errno));
    }
    if (!S_ISDIR(st.st_mode)) {
        return app_bad(err, "agent: %s is not a folder", folder);
    }
    const char *why = *ret_why = NULL;
    if (strcmp(folder, workspace) == 0) {
        snprintf(ret, PATH_MAX, "%s", workspace);
        return PONS_OK;
    }
    if (beneath(folder, workspace)) {
        why = "it is in the workspace";
    } else if (in_configuration(folder)) {
        why = "it is where your configuration of pons is";
    } else if (strcmp(folder, "/") == 0) {
        why = "it is the root of everything";
    } else if (st.st_uid != geteuid() && st.st_uid != 0) {
        why = "it is another user's";
    }
    pons_autovalue all = read_file(c);
    const pons_value *known = pons_get(pons_get(all, "trusted"), folder);
    bool yes = !why && (ask == APP_FOLDER_TRUST || json_is_true(known));
    if (!why && !yes && !known && ask == APP_FOLDER_ASK) {
        yes = person(folder);
        note(c, "trusted", folder, json_boolean(yes));
        why = yes ? NULL : "you did not trust it";
    } else if (yes && !json_is_true(known)) {
        note(c, "trusted", folder, json_true());
    } else if (!yes && !why) {
        why = known ? "you did not trust it" : "nobody was asked whether it is trusted";
    }
    snprintf(ret, PATH_MAX, "%s", yes ? folder : workspace);
    *ret_why = why;
    return PONS_OK;
}
