// doctor_modules.c - `pons doctor` on the modules of a person's own, in lib/ of the workspace: found,
// loaded, of this pons's ABI, or why not. Each is loaded, as naming it in an option would.
#include "cli/maintenance/doctor.h"
#include "pons/ext/detector.h"
#include "pons/ext/http.h"
#include "pons/ext/llm.h"
#include "pons/ext/robot.h"
#include "pons/ext/skill.h"
#include "pons/ext/slam.h"
#include "pons/ext/store.h"
#include "pons/ext/tool.h"
#include "pons/graph_module.h"
#include "pons/module.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct kind {
    const char *name;
    uint32_t abi; // the first member of what a module of this kind gives
} kind;

static const kind kinds[] = {
    {"detector", PONS_DETECTOR_ABI},
    {"driver", PONS_ROBOT_ABI},
    {"graph", PONS_GRAPH_MODULE_ABI},
    {"http", PONS_HTTP_ABI},
    {"llm", PONS_LLM_ABI},
    {"skill", PONS_SKILL_ABI},
    {"slam", PONS_SLAM_ABI},
    {"store", PONS_STORE_DRIVER_ABI},
    {"tool", PONS_TOOL_ABI},
};

static const kind *kind_of(const char *file, size_t n)
{
    for (size_t i = 0; file[n] == '-' && i < sizeof kinds / sizeof *kinds; i++) {
        if (strlen(kinds[i].name) == n && strncmp(file, kinds[i].name, n) == 0) {
            return &kinds[i];
        }
    }
    return NULL;
}

static void look(doctor *d, const char *file)
{
    const size_t n = strcspn(file, "-");
    const kind *k = kind_of(file, n);
    if (!k) {
        doctor_say(d, "module", "note", file, "it is no KIND-NAME.so, so nothing loads it");
        return;
    }
    char name[NAME_MAX], what[NAME_MAX + 16], detail[NAME_MAX + 64];
    const void *ops = NULL;
    pons_error err = PONS_ERROR_INIT;
    snprintf(name, sizeof name, "%.*s", (int)(strlen(file) - n - strlen("-.so")), file + n + 1);
    snprintf(what, sizeof what, "%s %s", k->name, name);
    if (pons_module_load(k->name, name, &ops, &err) < 0) {
        char line[512];
        doctor_say(d, what, "absent", pons_error_line(&err, line, sizeof line),
                   "it lies in lib/ and cannot be used");
        return;
    }
    const uint32_t abi = *(const uint32_t *)ops;
    snprintf(detail, sizeof detail, "lib/%s loads, ABI %u", file, abi);
    doctor_say(d, what, abi == k->abi ? "ok" : "absent", detail,
               abi == k->abi ? NULL : "build it again with the headers of this pons");
}

static int is_module(const struct dirent *e)
{
    const size_t n = strlen(e->d_name);
    return n > strlen(".so") && strcmp(e->d_name + n - strlen(".so"), ".so") == 0 &&
           e->d_name[0] != '.';
}

void doctor_modules(doctor *d)
{
    char dir[PATH_MAX + 8];
    struct dirent **found = NULL;
    snprintf(dir, sizeof dir, "%s/lib", d->c->app.workspace);
    const int n = scandir(dir, &found, is_module, alphasort);
    for (int i = 0; i < n; i++) {
        look(d, found[i]->d_name);
        free(found[i]);
    }
    free(found);
}
