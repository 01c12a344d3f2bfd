// namespaces.c - the child's way behind the wall, with namespaces that pons made itself.
//
// The mounts that are wanted are taken hold of first (open_tree), each made read-only while nobody
// sees it, and then put into an empty root, which takes the old one's place. Nothing of the old
// tree stays reachable: what was not taken is gone with it.
#include "tools/sandbox/plan.h"
#include "tools/sandbox/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/openat2.h>
#include <linux/seccomp.h>
#include <linux/securebits.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define EMPTY_FILE ".empty"
#define EMPTY_DIR  ".void"
#define CAPS       64

static const char *const devices[] = {"/dev/null", "/dev/zero", "/dev/full", "/dev/urandom",
                                      "/dev/random"};
#define DEVICES (sizeof devices / sizeof devices[0])

static void must(const pons__plan *p, bool done, const char *what)
{
    if (!done) {
        pons__wall_fail(p, what);
    }
}

static void put(const pons__plan *p, const char *path, const char *text)
{
    const int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0444);
    const size_t n = strlen(text);
    must(p, fd >= 0 && write(fd, text, n) == (ssize_t)n, path);
    close(fd);
}

// ---- users --------------------------------------------------------------------------------------

// The user is itself here too, and nobody else is anybody.
static void map_users(const pons__plan *p)
{
    char line[64];
    const struct {
        const char *path;
        unsigned id;
    } maps[] = {{"/proc/self/uid_map", p->uid}, {"/proc/self/gid_map", p->gid}};
    prctl(PR_SET_DUMPABLE, 1); // else these files are root's; execve sets it anyway
    const int fd = open("/proc/self/setgroups", O_WRONLY | O_CLOEXEC);
    must(p, fd >= 0 && write(fd, "deny", 4) == 4, "setgroups");
    close(fd);
    for (size_t i = 0; i < 2; i++) {
        const int n = snprintf(line, sizeof line, "%u %u 1\n", maps[i].id, maps[i].id);
        const int map = open(maps[i].path, O_WRONLY | O_CLOEXEC);
        must(p, map >= 0 && write(map, line, (size_t)n) == n, "mapping the user");
        close(map);
    }
}

// ---- mounts -------------------------------------------------------------------------------------

static int hold(const char *path)
{
    return open_tree(AT_FDCWD, path, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE);
}

static bool set(int fd, uint64_t attributes)
{
    struct mount_attr a = {.attr_set = attributes};
    return mount_setattr(fd, "", AT_EMPTY_PATH | AT_RECURSIVE, &a, sizeof a) == 0;
}

// mkdir -p of "/a/b" below the new root, which is the current directory; the last too when dir.
static bool make_way(const char *path, bool dir)
{
    char part[PATH_MAX];
    snprintf(part, sizeof part, "%s", path + 1);
    for (char *slash = strchr(part, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        if (mkdir(part, 0755) < 0 && errno != EEXIST) {
            return false;
        }
        *slash = '/';
    }
    if (dir) {
        return mkdir(part, 0755) == 0 || errno == EEXIST;
    }
    const int fd = open(part, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0444);
    if (fd >= 0) {
        close(fd);
    }
    return fd >= 0 || errno == EEXIST || errno == EROFS;
}

static bool place(int fd, const char *path, bool dir)
{
    return make_way(path, dir) &&
           move_mount(fd, "", AT_FDCWD, path + 1, MOVE_MOUNT_F_EMPTY_PATH) == 0;
}

static int beneath(int dir, const char *path, uint64_t flags, uint64_t resolve)
{
    struct open_how how = {.flags = flags | O_CLOEXEC,
                           .resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS | resolve};
    return (int)syscall(SYS_openat2, dir, path, &how, sizeof how);
}

// An empty file or folder over a place of the workspace.
static void mask(const pons__plan *p, int workspace, const char *path)
{
    struct stat st;
    const int target = beneath(workspace, path, O_PATH | O_NOFOLLOW, RESOLVE_NO_SYMLINKS);
    if (target < 0) {
        must(p, errno == ENOENT || errno == ENOTDIR || errno == ELOOP, "a hidden place");
        return; // it is gone, or below what is masked already
    }
    must(p, fstat(target, &st) == 0, "a hidden place");
    if (!S_ISLNK(st.st_mode)) { // a link leads to what is masked by itself
        const int cover = hold(S_ISDIR(st.st_mode) ? EMPTY_DIR : EMPTY_FILE);
        must(p,
             cover >= 0 &&
                 set(cover, MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV |
                                MOUNT_ATTR_NOEXEC) &&
                 move_mount(cover, "", target, "",
                            MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH) == 0,
             "masking");
        close(cover);
    }
    close(target);
}

// Over the workspace's own place, which is certainly there; the old root goes in a moment.
static void empty_root(pons__plan *p)
{
    must(p,
         mount("tmpfs", p->workspace, "tmpfs", MS_NOSUID | MS_NODEV | MS_NOEXEC,
               "size=1m,mode=0755") == 0 &&
             chdir(p->workspace) == 0 && mkdir("tmp", 0777) == 0 && mkdir("dev", 0755) == 0 &&
             mkdir("etc", 0755) == 0 && mkdir(EMPTY_DIR, 0555) == 0 &&
             mount("tmpfs", "tmp", "tmpfs", MS_NOSUID | MS_NODEV | MS_NOEXEC,
                   "size=64m,mode=1777") == 0,
         "a root of its own");
    put(p, EMPTY_FILE, "");
    put(p, "etc/passwd", p->passwd);
    put(p, "etc/group", p->group);
    put(p, "etc/nsswitch.conf", "passwd: files\ngroup: files\n");
}

static void build(pons__plan *p)
{
    struct stat st;
    int held[PONS__PLAN_PLACES], dev[DEVICES];
    const uint64_t closed = MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV;
    must(p, mount(NULL, "/", NULL, MS_REC | MS_SLAVE, NULL) == 0, "its mounts");
    const int ws = hold(p->workspace);
    must(p,
         ws >= 0 && fstat(ws, &st) == 0 && st.st_dev == p->root.st_dev &&
             st.st_ino == p->root.st_ino && set(ws, closed | MOUNT_ATTR_NOEXEC),
         "the workspace");
    for (size_t i = 0; i < p->n_places; i++) {
        held[i] = p->places[i].link[0] ? -1 : hold(p->places[i].path);
        must(p, p->places[i].link[0] || (held[i] >= 0 && set(held[i], closed)), p->places[i].path);
    }
    for (size_t i = 0; i < DEVICES; i++) {
        dev[i] = hold(devices[i]);
        must(p, dev[i] >= 0 && set(dev[i], MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC), devices[i]);
    }
    empty_root(p);
    for (size_t i = 0; i < p->n_places; i++) {
        const pons__place *at = &p->places[i];
        must(p,
             at->link[0] ? symlink(at->link, at->path + 1) == 0 : place(held[i], at->path, at->dir),
             at->path);
    }
    for (size_t i = 0; i < DEVICES; i++) {
        must(p, place(dev[i], devices[i], false), devices[i]);
    }
    must(p, place(ws, p->workspace, true), "the workspace");
    for (size_t i = 0; i < p->n_masks; i++) {
        mask(p, ws, p->masks[i].path);
    }
    must(p,
         syscall(SYS_pivot_root, ".", ".") == 0 && umount2(".", MNT_DETACH) == 0 && chdir("/") == 0,
         "leaving the old root");
    struct mount_attr read_only = {.attr_set = MOUNT_ATTR_RDONLY};
    must(p, mount_setattr(AT_FDCWD, "/", 0, &read_only, sizeof read_only) == 0, "its root");
    const int cwd = beneath(ws, p->run->cwd, O_RDONLY | O_DIRECTORY, 0);
    must(p, cwd >= 0 && fchdir(cwd) == 0, "its folder");
}

void pons__wall_enter(pons__plan *p)
{
    map_users(p);
    build(p);
    (void)!sethostname("wall", 4); // a name to look at, no more
}

// ---- what is taken away -------------------------------------------------------------------------

// Landlock's rights as of its ABIs; the headers of Debian 12 know the first three.
enum {
    RIGHTS_1 = (1 << 13) - 1,
    RIGHT_REFER = 1 << 13,
    RIGHT_TRUNCATE = 1 << 14,
    RIGHT_IOCTL = 1 << 15,
    READ = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR
};

typedef struct ruleset {
    uint64_t fs, net, scoped;
} ruleset;

static void rule(const pons__plan *p, int rules, const char *path, uint64_t rights)
{
    struct stat st;
    const int fd = open(path, O_PATH | O_CLOEXEC);
    if (fd < 0 && errno == ENOENT) {
        return;
    }
    must(p, fd >= 0 && fstat(fd, &st) == 0, "Landlock");
    if (!S_ISDIR(st.st_mode)) {
        rights &= LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE |
                  LANDLOCK_ACCESS_FS_WRITE_FILE;
    }
    const struct landlock_path_beneath_attr a = {.allowed_access = rights, .parent_fd = fd};
    must(p, syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &a, 0) == 0,
         "Landlock");
    close(fd);
}

// A second layer over the same: it names what may be read, executed and written, and nothing else.
static void landlock(const pons__plan *p)
{
    const long abi = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
    if (abi < 1) {
        return; // the kernel has none
    }
    const ruleset all = {.fs = RIGHTS_1 | (abi >= 2 ? RIGHT_REFER : 0) |
                               (abi >= 3 ? RIGHT_TRUNCATE : 0) | (abi >= 5 ? RIGHT_IOCTL : 0),
                         .net = abi >= 4 ? 3 : 0,     // bind, connect
                         .scoped = abi >= 6 ? 3 : 0}; // abstract sockets, signals
    const size_t size = abi >= 6 ? 24 : abi >= 4 ? 16 : 8;
    const int rules = (int)syscall(SYS_landlock_create_ruleset, &all, size, 0);
    must(p, rules >= 0, "Landlock");
    for (size_t i = 0; i < p->n_places; i++) {
        if (!p->places[i].link[0]) {
            rule(p, rules, p->places[i].path,
                 READ | (p->places[i].program ? LANDLOCK_ACCESS_FS_EXECUTE : 0));
        }
    }
    rule(p, rules, "/etc", READ);
    rule(p, rules, p->workspace, READ);
    for (size_t i = 0; i < DEVICES; i++) {
        rule(p, rules, devices[i], LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_WRITE_FILE);
    }
    rule(p, rules, "/tmp",
         READ | LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_MAKE_REG |
             LANDLOCK_ACCESS_FS_REMOVE_FILE | (abi >= 3 ? RIGHT_TRUNCATE : 0));
    must(p, syscall(SYS_landlock_restrict_self, rules, 0) == 0, "Landlock");
    close(rules);
}

void pons__wall_bolt(pons__plan *p)
{
    struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
    const struct __user_cap_data_struct nothing[2] = {{0}, {0}};
    for (unsigned long cap = 0; cap < CAPS; cap++) {
        prctl(PR_CAPBSET_DROP, cap, 0, 0, 0);
    }
    must(p,
         prctl(PR_SET_SECUREBITS,
               SECBIT_NOROOT | SECBIT_NOROOT_LOCKED | SECBIT_NO_SETUID_FIXUP |
                   SECBIT_NO_SETUID_FIXUP_LOCKED | SECBIT_KEEP_CAPS_LOCKED |
                   SECBIT_NO_CAP_AMBIENT_RAISE | SECBIT_NO_CAP_AMBIENT_RAISE_LOCKED,
               0, 0, 0) == 0 &&
             syscall(SYS_capset, &head, nothing) == 0 &&
             prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0,
         "giving up rights");
    landlock(p);
}

void pons__wall_filter(pons__plan *p)
{
    const struct sock_fprog program = {
        .len = (unsigned short)(p->filter_bytes / sizeof(struct sock_filter)),
        .filter = (struct sock_filter *)(uintptr_t)p->filter};
    must(p, syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) == 0,
         "the filter of system calls");
}

// What went wrong, through the pipe that closes at execve.
_Noreturn void pons__wall_fail(const pons__plan *p, const char *what)
{
    pons__wall_report r = {.error = errno};
    snprintf(r.what, sizeof r.what, "%s", what);
    (void)!write(p->report_fd, &r, sizeof r);
    _exit(126);
}
