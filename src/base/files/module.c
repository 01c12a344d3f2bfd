// module.c - loading adapters once, and finding what belongs to the program on disk.
//
// A loaded module stays: its vtable is handed out as static storage, and libraries such as curl
// keep threads and exit handlers that would not survive an unload. The table of modules only grows;
// one lock guards it and makes two threads that ask for the same module load it once.
#include "pons/module.h"

#include "pons/protected_files.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define WHERE "module" // in errors

enum {
    MODULES_MAX = 32,
    NAME_BYTES = 64,   // of KIND-NAME, with its zero
    LOOKED_BYTES = 200 // of the list of places in a message
};

typedef struct loaded {
    char id[NAME_BYTES]; // KIND-NAME
    const pons_module *module;
} loaded;

static struct {
    pthread_mutex_t lock;
    loaded modules[MODULES_MAX]; // [lock]
    int n;                       // [lock]
    char workspace[PATH_MAX];    // [lock] whose lib/ is looked into last; "": none
} table = {.lock = PTHREAD_MUTEX_INITIALIZER};

static struct {
    pthread_once_t once;
    char dir[PATH_MAX];
    char library[PATH_MAX]; // libpons.so.0 that this code is in, resolved; "": it is in the program
    char library_dir[PATH_MAX];
} exe = {.once = PTHREAD_ONCE_INIT};

// A visitor of candidate paths: true ends the search.
typedef struct search {
    char path[PATH_MAX];
    char looked[LOOKED_BYTES]; // "a, b, c": the directories tried so far
} search;

// Whether the file ends before what it says of itself, or has zeros there, as a power cut leaves them: the linker would map
// it and the process die of it.
static bool cut_short(const char *path)
{
    ElfW(Ehdr) head;
    ElfW(Shdr) first = {.sh_type = SHT_NULL}; // the table of sections is at the end
    struct stat st;
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    const bool elf = fd >= 0 && fstat(fd, &st) == 0 &&
                     read(fd, &head, sizeof head) == (ssize_t)sizeof head &&
                     memcmp(head.e_ident, ELFMAG, SELFMAG) == 0;
    const bool has_table = elf && head.e_shnum > 1 &&
                           pread(fd, &first, sizeof first,
                                 (off_t)(head.e_shoff + head.e_shentsize)) == (ssize_t)sizeof first;
    if (fd >= 0) {
        close(fd);
    }
    return elf && head.e_shnum > 0 &&
           (!has_table || first.sh_type == SHT_NULL ||
            head.e_shoff + (uint64_t)head.e_shnum * head.e_shentsize > (uint64_t)st.st_size);
}

// Whether it is a module of this kind, and for this program.
static int judge(const pons_module *m, const char *kind, const char *name, pons_error *err)
{
    const uint32_t abi = m->abi & 0xff, of = m->abi >> 8;
    if (abi != PONS_MODULE_ABI) {
        return pons_error_set(err, PONS_EUNSUPPORTED, WHERE,
                              "%s '%s' was built for ABI %u, this program has %u", kind, name, abi,
                              PONS_MODULE_ABI);
    }
    if (of != 0 && of != PONS_VERSION_NUMBER) {
        return pons_error_set(
            err, PONS_EUNSUPPORTED, WHERE,
            "%s '%s' is of pons %u.%u.%u, this is %s: install both of one version and start again",
            kind, name, of / 10000, of / 100 % 100, of % 100, PONS_VERSION);
    }
    if (!m->kind || strcmp(m->kind, kind) != 0) {
        return pons_error_set(err, PONS_EUNSUPPORTED, WHERE, "'%s' is of kind %s, not %s", name,
                              m->kind ? m->kind : "nothing", kind);
    }
    return m->ops ? PONS_OK
                  : pons_error_set(err, PONS_EUNSUPPORTED, WHERE, "'%s' has no functions", name);
}

static int open_module(const char *path, const char *kind, const char *name,
                       const pons_module **ret, pons_error *err)
{
    // A module takes pons's functions from what is global. The program is; the library is not where a
    // plug-in, a Python module for one, has loaded it.
    pons_exe_dir();
    if (exe.library[0]) {
        dlopen(exe.library, RTLD_NOW | RTLD_NOLOAD | RTLD_GLOBAL | RTLD_NODELETE);
    }
    if (cut_short(path)) {
        return pons_error_set(err, PONS_EENV, WHERE,
                              "%s '%s' is cut short: its file is not whole, install it again", kind,
                              name);
    }
    // NOW: a library or function that is missing is told here, not at its first use in a run.
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (!handle) {
        const char *why = dlerror();
        pons_error_set(err, PONS_EENV, WHERE, "cannot load %s '%s'", kind, name);
        pons_error_cause(err, "%s", why ? why : "unknown reason");
        return PONS_EENV;
    }
    const pons_module *m = dlsym(handle, "pons_module");
    if (!m) {
        dlclose(handle);
        return pons_error_set(err, PONS_EUNSUPPORTED, WHERE, "not a pons module: no pons_module");
    }
    const int r = judge(m, kind, name, err);
    if (r < 0) {
        dlclose(handle);
        return r;
    }
    *ret = m;
    return PONS_OK;
}

// Whether DIR[/BELOW]/FILE can be read; s->path is then its name, otherwise the directory is added
// to s->looked.
static bool try_dir(search *s, const char *dir, size_t dir_len, const char *below, const char *file)
{
    while (dir_len > 1 && dir[dir_len - 1] == '/') {
        dir_len--;
    }
    const char *slash = *below ? "/" : "";
    const int n =
        snprintf(s->path, sizeof s->path, "%.*s%s%s/%s", (int)dir_len, dir, slash, below, file);
    if (n > 0 && (size_t)n < sizeof s->path && access(s->path, R_OK) == 0) {
        return true;
    }
    const size_t used = strlen(s->looked);
    snprintf(s->looked + used, sizeof s->looked - used, "%s%.*s%s%s", used ? ", " : "",
             (int)dir_len, dir, slash, below);
    return false;
}

static bool find_module(search *s, const char *id)
{
    char file[NAME_BYTES + sizeof ".so"];
    snprintf(file, sizeof file, "%s.so", id);
    const char *path = getenv("PONS_MODULE_PATH");
    while (path && *path) {
        const size_t n = strcspn(path, ":");
        if (n > 0 && try_dir(s, path, n, "", file)) {
            return true;
        }
        path += n + (path[n] == ':');
    }
    const char *dir = pons_exe_dir();
    return try_dir(s, dir, strlen(dir), "lib/pons", file) ||
           try_dir(s, dir, strlen(dir), "../lib/pons", file) ||
           (exe.library[0] && // in lib/, or in a Debian's lib/TRIPLET/
            (try_dir(s, exe.library_dir, strlen(exe.library_dir), "pons", file) ||
             try_dir(s, exe.library_dir, strlen(exe.library_dir), "../pons", file)));
}

static bool find_in_workspace(search *s, const char *id)
{
    char file[NAME_BYTES + sizeof ".so"];
    snprintf(file, sizeof file, "%s.so", id);
    return table.workspace[0] &&
           try_dir(s, table.workspace, strlen(table.workspace), PONS_DIR_LIB, file);
}

static int load_locked(const char *kind, const char *name, const char *id, const pons_module **ret,
                       pons_error *err)
{
    for (int i = 0; i < table.n; i++) {
        if (strcmp(table.modules[i].id, id) == 0) {
            *ret = table.modules[i].module;
            return PONS_OK;
        }
    }
    if (table.n == MODULES_MAX) {
        return pons_error_set(err, PONS_EUNSUPPORTED, WHERE, "more than %d modules", MODULES_MAX);
    }
    search s = {.path = ""};
    const bool installed = find_module(&s, id);
    if (!installed && !find_in_workspace(&s, id)) {
        return pons_error_set(err, PONS_ENOTFOUND, WHERE, "no %s '%s': no %s.so in %s", kind, name,
                              id, s.looked[0] ? s.looked : "any known place");
    }
    int r = installed ? PONS_OK : pons_workspace_check(table.workspace, err);
    if (r >= 0 && !installed) {
        r = pons_file_check(s.path, err);
    }
    r = r < 0 ? r : open_module(s.path, kind, name, ret, err);
    if (r < 0) {
        pons_error_source(err, "%s", s.path);
        return r;
    }
    loaded *l = &table.modules[table.n++];
    strcpy(l->id, id);
    l->module = *ret;
    return PONS_OK;
}

static bool is_plain_name(const char *s)
{
    return *s && strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") ==
                     strlen(s);
}

int pons_module_load(const char *kind, const char *name, const void **ret_ops, pons_error *err)
{
    char id[NAME_BYTES];
    const int n = snprintf(id, sizeof id, "%s-%s", kind, name);
    // A name comes from people (--driver NAME): it names a module, never a path.
    if (n < 0 || (size_t)n >= sizeof id || !is_plain_name(kind) || !is_plain_name(name)) {
        return pons_error_set(err, PONS_EINVAL, WHERE, "not a name of a %s: '%s'", kind, name);
    }
    const pons_module *module = NULL;
    pthread_mutex_lock(&table.lock);
    const int r = load_locked(kind, name, id, &module, err);
    pthread_mutex_unlock(&table.lock);
    if (r < 0) {
        return r;
    }
    *ret_ops = module->ops;
    return PONS_OK;
}

int pons_module_load_of(const char *kind, const char *name, uint32_t abi, const void **ret_ops,
                        pons_error *err)
{
    const void *ops = NULL;
    const int r = pons_module_load(kind, name, &ops, err);
    if (r >= 0 && *(const uint32_t *)ops != abi) {
        return pons_error_set(err, PONS_EUNSUPPORTED, WHERE,
                              "%s-%s.so is for version %u of its contract, this program has %u",
                              kind, name, *(const uint32_t *)ops, abi);
    }
    if (r >= 0) {
        *ret_ops = ops;
    }
    return r;
}

bool pons_module_installed(const char *kind, const char *name)
{
    char id[NAME_BYTES];
    search s = {.path = ""};
    const int n = snprintf(id, sizeof id, "%s-%s", kind, name);
    return n > 0 && (size_t)n < sizeof id && find_module(&s, id);
}

int pons_module_workspace(const char *workspace, pons_error *err)
{
    const char *path = workspace ? workspace : "";
    if (strlen(path) >= sizeof table.workspace) {
        return pons_error_set(err, PONS_EINVAL, WHERE, "the workspace's path is too long");
    }
    pthread_mutex_lock(&table.lock);
    strcpy(table.workspace, path);
    pthread_mutex_unlock(&table.lock);
    return PONS_OK;
}

// The program's own entry in the linker's list has no name.
static void find_library(void)
{
    Dl_info info;
    struct link_map *map = NULL;
    if (!dladdr1((void *)&table, &info, (void **)&map, RTLD_DL_LINKMAP) || !map ||
        !map->l_name[0] || !realpath(map->l_name, exe.library)) {
        exe.library[0] = '\0';
        return;
    }
    strcpy(exe.library_dir, exe.library);
    char *slash = strrchr(exe.library_dir, '/');
    slash[slash == exe.library_dir] = '\0';
}

static void find_exe(void)
{
    const ssize_t n = readlink("/proc/self/exe", exe.dir, sizeof exe.dir - 1);
    if (n <= 0) {
        strcpy(exe.dir, "."); // no /proc: the working directory is the best guess
        find_library();
        return;
    }
    exe.dir[n] = '\0';
    char *slash = strrchr(exe.dir, '/');
    if (slash == exe.dir) {
        slash++; // "/pons" lives in "/"
    }
    if (slash) {
        *slash = '\0';
    }
    find_library();
}

const char *pons_exe_dir(void)
{
    pthread_once(&exe.once, find_exe);
    return exe.dir;
}

int pons_share_path(const char *relative, char *buf, size_t cap, pons_error *err)
{
    static const char *const below[] = {"..", "../share/pons"};
    search s = {.path = ""};
    const char *share = getenv("PONS_SHARE");
    bool found = share && *share && try_dir(&s, share, strlen(share), "", relative);
    for (size_t i = 0; !found && i < sizeof below / sizeof *below; i++) {
        found = try_dir(&s, pons_exe_dir(), strlen(pons_exe_dir()), below[i], relative);
    }
    if (!found && exe.library[0]) {
        const size_t n = strlen(exe.library_dir); // lib/, or a Debian's lib/TRIPLET/
        found = try_dir(&s, exe.library_dir, n, "../share/pons", relative) ||
                try_dir(&s, exe.library_dir, n, "../../share/pons", relative);
    }
    if (!found) {
        return pons_error_set(err, PONS_ENOTFOUND, "share", "%s is not in %s", relative, s.looked);
    }
    if (strlen(s.path) >= cap) {
        return pons_error_set(err, PONS_EINVAL, "share", "path of %s is too long", relative);
    }
    strcpy(buf, s.path);
    return PONS_OK;
}
