// protected_files.c - the table of a workspace's own files, how names are held against it, and who may
// write there.
//
// A comparison of names must not be cleverer or duller than the file system below it: ext4 and
// others can fold case, and fold the Kelvin sign to k. So both sides are folded as far as any of
// them goes; a name too many is refused then, none too few.
#include "pons/protected_files.h"

#include <dirent.h>
#include <errno.h>
#include <fnmatch.h>
#include <grp.h>
#include <limits.h>
#include <pwd.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define WHERE   "workspace"
#define DEPTH   16    // of folders of the table that are looked into,
#define ENTRIES 20000 // and entries in them; a workspace that has more is refused
#define LINKS   16    // that lead to one another

static const pons_guard_entry table[] = {
#define ENTRY(pattern, guard, what) {pattern, guard, what},
    PONS_WORKSPACE_TABLE(ENTRY)
#undef ENTRY
};

const pons_guard_entry *pons_guard_entries(size_t *ret_n)
{
    *ret_n = sizeof table / sizeof table[0];
    return table;
}

// ---- names --------------------------------------------------------------------------------------

// One code point, leniently: a byte that is no UTF-8 stands for itself.
static uint32_t next_point(const unsigned char **at)
{
    const unsigned char *s = *at;
    const int more = s[0] >= 0xf0 ? 3 : s[0] >= 0xe0 ? 2 : s[0] >= 0xc0 ? 1 : 0;
    uint32_t c = s[0];
    c = more == 3 ? c & 7 : more == 2 ? c & 15 : more == 1 ? c & 31 : c;
    for (int i = 1; i <= more; i++) {
        if ((s[i] & 0xc0) != 0x80) {
            *at = s + 1;
            return s[0];
        }
        c = c << 6 | (s[i] & 0x3f);
    }
    *at = s + 1 + more;
    return c;
}

static bool invisible(uint32_t c)
{
    static const uint32_t ranges[][2] = {
        {0xad, 0xad},     {0x34f, 0x34f},   {0x61c, 0x61c},   {0x115f, 0x1160}, {0x17b4, 0x17b5},
        {0x180b, 0x180f}, {0x200b, 0x200f}, {0x202a, 0x202e}, {0x2060, 0x206f}, {0x3164, 0x3164},
        {0xfe00, 0xfe0f}, {0xfeff, 0xfeff}, {0xffa0, 0xffa0}, {0xfff0, 0xfff8}, {0xe0000, 0xe0fff}};
    for (size_t i = 0; i < sizeof ranges / sizeof ranges[0]; i++) {
        if (c >= ranges[i][0] && c <= ranges[i][1]) {
            return true;
        }
    }
    return false;
}

void pons_guard_fold(const char *name, char *ret, size_t cap)
{
    size_t n = 0;
    for (const unsigned char *at = (const unsigned char *)name; *at && n + 1 < cap;) {
        const unsigned char *from = at;
        uint32_t c = next_point(&at);
        c = c == 0x212a                  ? 'k'        // the Kelvin sign
            : c == 0x17f                 ? 's'        // the long s
            : c >= 0xff01 && c <= 0xff5e ? c - 0xfee0 // full width
            : c == 0x2024                ? '.'        // one dot leader
                                         : c;
        if (c < 0x80) {
            ret[n++] = (char)(c >= 'A' && c <= 'Z' ? c + 32 : c);
        } else if (!invisible(c)) {
            for (; from < at && n + 1 < cap; from++) {
                ret[n++] = (char)*from;
            }
        }
    }
    ret[n] = '\0';
}

// The pattern's components against the path's, from its beginning; the path may go on.
static bool begins_so(const char *pattern, const char *path)
{
    char want[NAME_MAX + 1], have[PATH_MAX];
    for (;;) {
        const size_t w = strcspn(pattern, "/"), h = strcspn(path, "/");
        if (w >= sizeof want || h >= sizeof have) {
            return false;
        }
        snprintf(want, sizeof want, "%.*s", (int)w, pattern);
        snprintf(have, sizeof have, "%.*s", (int)h, path);
        if (fnmatch(want, have, FNM_NOESCAPE) != 0) {
            return false;
        }
        if (!pattern[w]) {
            return true;
        }
        if (!path[h]) {
            return false;
        }
        pattern += w + 1;
        path += h + 1;
    }
}

bool pons_guard_matches(const char *pattern, const char *path)
{
    if (strncmp(pattern, "**/", 3) != 0) {
        return begins_so(pattern, path);
    }
    for (const char *at = path; at; at = strchr(at, '/') ? strchr(at, '/') + 1 : NULL) {
        if (begins_so(pattern + 3, at)) {
            return true;
        }
    }
    return false;
}

pons_guard pons_guard_of(const char *path, const pons_guard_entry **ret_entry)
{
    char have[PATH_MAX];
    pons_guard most = PONS_GUARD_NONE;
    pons_guard_fold(path, have, sizeof have);
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) { // the table is folded as it is
        if (table[i].guard > most && pons_guard_matches(table[i].pattern, have)) {
            most = table[i].guard;
            if (ret_entry) {
                *ret_entry = &table[i];
            }
        }
    }
    return most;
}

// ---- who may write there ------------------------------------------------------------------------

// A group that holds its user alone is that user.
static bool own_group(uid_t uid, gid_t gid)
{
    char text[4096], more[4096];
    struct passwd pw, *p = NULL;
    struct group gr, *g = NULL;
    return getpwuid_r(uid, &pw, text, sizeof text, &p) == 0 && p && p->pw_gid == gid &&
           getgrgid_r(gid, &gr, more, sizeof more, &g) == 0 && g &&
           strcmp(g->gr_name, p->pw_name) == 0 &&
           (!g->gr_mem[0] || (strcmp(g->gr_mem[0], p->pw_name) == 0 && !g->gr_mem[1]));
}

static int judge(const char *path, const struct stat *st, bool above, pons_error *err)
{
    const uid_t me = geteuid();
    if (st->st_uid != me && st->st_uid != 0) {
        return pons_error_set(err, PONS_EREFUSED, WHERE,
                              "%s belongs to another user (uid %u), who could change what pons "
                              "reads there",
                              path, (unsigned)st->st_uid);
    }
    if (above && (st->st_mode & S_ISVTX)) {
        return PONS_OK; // others may make entries, but not take this one away
    }
    const bool all = st->st_mode & S_IWOTH;
    if (all || ((st->st_mode & S_IWGRP) && !own_group(me, st->st_gid))) {
        return pons_error_set(err, PONS_EREFUSED, WHERE,
                              "%s may be written by %s (mode %04o), who could change what pons "
                              "reads there; `chmod %s` it",
                              path, all ? "everybody" : "its group",
                              (unsigned)(st->st_mode & 07777), all ? "go-w" : "g-w");
    }
    return PONS_OK;
}

// The folder itself, then each above it up to the root.
static int check_chain(const char *path, bool above, pons_error *err)
{
    char part[PATH_MAX];
    snprintf(part, sizeof part, "%s", path);
    for (;; above = true) {
        struct stat st;
        int rc = stat(part, &st) < 0
                     ? pons_error_set(err, PONS_EENV, WHERE, "cannot look at %s: %s", part,
                                      strerror(errno))
                     : judge(part, &st, above, err);
        char *slash = strrchr(part, '/');
        if (rc < 0 || !slash || !part[1]) {
            return rc;
        }
        slash[slash == part] = '\0';
    }
}

// Who may write in a folder on a link's way could turn it round: each is held against the same.
static int check_links(const char *path, pons_error *err)
{
    char at[PATH_MAX], target[PATH_MAX], folder[PATH_MAX];
    int rc = PONS_OK;
    snprintf(at, sizeof at, "%s", path);
    for (int links = 0; rc >= 0 && links < LINKS; links++) {
        const ssize_t n = readlink(at, target, sizeof target - 1);
        char *slash = strrchr(at, '/');
        if (n <= 0 || !slash) {
            break; // no link
        }
        target[n] = '\0';
        slash[1] = '\0'; // what the target is relative to
        const size_t room = sizeof at - strlen(at);
        if (target[0] == '/') {
            snprintf(at, sizeof at, "%s", target);
        } else if (snprintf(at + strlen(at), room, "%s", target) >= (int)room) {
            break;
        }
        slash = strrchr(at, '/');
        snprintf(target, sizeof target, "%.*s", (int)(slash - at) + 1, at);
        if (realpath(target, folder)) {
            rc = check_chain(folder, true, err);
        }
    }
    return rc < 0 ? pons_error_context(err, "%s is a link", path) : rc;
}

static int check_child(const char *path, const char *name, int depth, int *left, pons_error *err);

// An entry of the table, and what a folder of it holds. Links are followed: what they lead to is
// what is read. What is not looked at may be anybody's, so more than can be is refused.
static int check_entry(const char *path, int depth, int *left, pons_error *err)
{
    struct stat st;
    int rc = check_links(path, err);
    if (rc < 0 || stat(path, &st) < 0) {
        return rc; // not there
    }
    rc = judge(path, &st, false, err);
    if (rc < 0 || !S_ISDIR(st.st_mode)) {
        return rc;
    }
    if (depth == 0) {
        return pons_error_set(err, PONS_EREFUSED, WHERE,
                              "%s lies more than %d folders deep in what pons reads: who may write "
                              "below it is not looked at; move it out of the workspace",
                              path, DEPTH);
    }
    DIR *dir = opendir(path);
    for (const struct dirent *d = dir ? readdir(dir) : NULL; d && rc >= 0; d = readdir(dir)) {
        if (strcmp(d->d_name, ".") != 0 && strcmp(d->d_name, "..") != 0) {
            rc = check_child(path, d->d_name, depth, left, err);
        }
    }
    if (dir) {
        closedir(dir);
    }
    return rc;
}

static int check_child(const char *path, const char *name, int depth, int *left, pons_error *err)
{
    char child[PATH_MAX];
    struct stat own;
    if (--*left < 0) {
        return pons_error_set(
            err, PONS_EREFUSED, WHERE,
            "the files that pons reads are more than %d with those of %s: who may "
            "write them all is not looked at; move some out of the workspace",
            ENTRIES, path);
    }
    if (snprintf(child, sizeof child, "%s/%s", path, name) >= PATH_MAX) {
        return pons_error_set(err, PONS_EREFUSED, WHERE, "what is in %s has names too long", path);
    }
    // A socket's mode is its own protocol; run/ above it is closed to others.
    if (lstat(child, &own) == 0 && (S_ISSOCK(own.st_mode) || S_ISFIFO(own.st_mode))) {
        return PONS_OK;
    }
    return check_entry(child, depth - 1, left, err);
}

int pons_file_check(const char *path, pons_error *err)
{
    char full[PATH_MAX];
    if (!realpath(path, full)) {
        return pons_error_set(err, PONS_EENV, WHERE, "cannot open %s: %s", path, strerror(errno));
    }
    return check_chain(full, false, err);
}

int pons_workspace_check(const char *path, pons_error *err)
{
    char full[PATH_MAX], above[PATH_MAX];
    if (!realpath(path, full)) {
        return pons_error_set(err, PONS_EENV, WHERE, "cannot open the workspace %s: %s", path,
                              strerror(errno));
    }
    int rc = check_chain(full, false, err);
    // A link that somebody else could turn round leads elsewhere the next time.
    snprintf(above, sizeof above, "%s", path);
    char *slash = strrchr(above, '/');
    if (rc >= 0 && slash && slash != above) {
        char place[PATH_MAX];
        *slash = '\0';
        rc = realpath(above, place) ? check_chain(place, true, err) : rc;
    }
    DIR *dir = rc >= 0 ? opendir(full) : NULL;
    int left = ENTRIES;
    for (const struct dirent *d = dir ? readdir(dir) : NULL; d && rc >= 0; d = readdir(dir)) {
        char child[PATH_MAX];
        // .git is git's, and .env the user's: both are read by other programs than pons.
        if (pons_guard_of(d->d_name, NULL) != PONS_GUARD_NONE && d->d_name[0] != '.' &&
            snprintf(child, sizeof child, "%s/%s", full, d->d_name) < PATH_MAX) {
            rc = check_entry(child, DEPTH, &left, err);
        }
    }
    if (dir) {
        closedir(dir);
    }
    return rc;
}
