// version.c - `pons --version`: the version and commit, then the modules that are installed, each with the libraries
// that it loads or why it can't be.
#include "cli/cli.h"
#include "pons/module.h"

#include <dirent.h>
#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// What every module needs, and pons itself.
static bool is_common(const char *library)
{
    static const char *const common[] = {"libc.so", "libm.so", "libjansson.so", "libgcc_s.so",
                                         "ld-linux"};
    for (size_t i = 0; i < sizeof common / sizeof common[0]; i++) {
        if (strncmp(library, common[i], strlen(common[i])) == 0) {
            return true;
        }
    }
    return false;
}

// The names of the libraries in the dynamic section of what has been loaded.
static void libraries(void *handle, char *ret, size_t cap)
{
    struct link_map *map = NULL;
    const char *strings = NULL;
    size_t used = 0;
    *ret = '\0';
    if (dlinfo(handle, RTLD_DI_LINKMAP, &map) < 0) {
        return;
    }
    for (const ElfW(Dyn) *d = map->l_ld; d->d_tag != DT_NULL; d++) {
        strings = d->d_tag == DT_STRTAB ? (const char *)d->d_un.d_ptr : strings;
    }
    for (const ElfW(Dyn) *d = map->l_ld; strings && d->d_tag != DT_NULL; d++) {
        const char *name = strings + d->d_un.d_val;
        if (d->d_tag == DT_NEEDED && !is_common(name) && used < cap) {
            used += (size_t)snprintf(ret + used, cap - used, "%s%s", used ? ", " : "", name);
        }
    }
}

static int is_module(const struct dirent *e)
{
    const size_t n = strlen(e->d_name);
    return e->d_name[0] != '.' && n > strlen(".so") &&
           strcmp(e->d_name + n - strlen(".so"), ".so") == 0;
}

static void show(const char *dir, const char *file)
{
    char path[2 * PATH_MAX], needs[1024] = "", kind[64];
    const void *ops = NULL;
    void *handle = NULL;
    pons_error err = PONS_ERROR_INIT;
    const int n = (int)(strlen(file) - strlen(".so")), k = (int)strcspn(file, "-");
    snprintf(kind, sizeof kind, "%.*s", n, file);
    if (k < n && n < (int)sizeof kind) {
        kind[k] = '\0';
        snprintf(path, sizeof path, "%s/%s", dir, file);
        const int rc = pons_module_load(kind, kind + k + 1, &ops, &err);
        handle = rc < 0 ? NULL : dlopen(path, RTLD_LAZY | RTLD_LOCAL);
    }
    if (handle) {
        libraries(handle, needs, sizeof needs);
    } else {
        pons_error_line(&err, needs, sizeof needs);
    }
    cli_out("%-18.*s %s\n", n, file, *needs ? needs : "-");
}

void cli_version(void)
{
    static const char *const below[] = {"lib/pons", "../lib/pons"};
    char dir[PATH_MAX];
    cli_out("pons " PONS_VERSION "%s\n", *PONS_COMMIT ? " (" PONS_COMMIT ")" : "");
    for (size_t i = 0; i < sizeof below / sizeof below[0]; i++) {
        struct dirent **found = NULL;
        snprintf(dir, sizeof dir, "%s/%s", pons_exe_dir(), below[i]);
        const int n = scandir(dir, &found, is_module, alphasort);
        for (int k = 0; k < n; k++) {
            show(dir, found[k]->d_name);
            free(found[k]);
        }
        free(found);
        if (n > 0) {
            return;
        }
    }
}
