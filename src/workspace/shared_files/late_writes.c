// late_writes.c - what came out of a file instead of what was expected, or was written into it late.
//
//     .pons/old/ACTION.md.42.9f86d081884c7d65     what generation 42 has replaced, and the hash that it was to have
//     .pons/old/ACTION.md.<hash>.late             what a killed process had not looked at yet
//     .pons/old/….aside                           what nobody can read: a person has to
//
// A file stays there until what it says is part of a generation, and at least two seconds: an editor may have
// it open still.
#include "pons/out_of_memory.h"
#include "workspace/shared_files/shared_folder.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

typedef void (*settle_fn)(pons_ws_place *p, pons_ws_file file);

#define OLD_MS         2000  // how long a replaced file is watched
#define OLD_GIVE_UP_MS 60000 // when it cannot be read for so long, it is put aside

// Unix seconds; now, when nobody knows.
static int64_t written_at(const char *path)
{
    struct stat st;
    const time_t now = time(NULL);
    return stat(path, &st) == 0 && st.st_mtime < now ? st.st_mtime : now;
}

void pons__ws_pending_add(ws_state *s, const pons_buf *text, const char *path)
{
    s->pending = pons_need_more(s->pending, (s->n_pending + 1) * sizeof *s->pending);
    ws_late *to = &s->pending[s->n_pending++];
    to->text = (pons_buf)PONS_BUF_INIT;
    pons_buf_bytes(&to->text, text->data, text->len);
    snprintf(to->path, sizeof to->path, "%s", path);
    to->at = written_at(path);
}

static bool is_pending(const ws_state *s, const char *path)
{
    for (size_t i = 0; i < s->n_pending; i++) {
        if (strcmp(s->pending[i].path, path) == 0) {
            return true;
        }
    }
    return false;
}

void pons__ws_pending_drop(ws_state *s) // the first
{
    pons_buf_fini(&s->pending[0].text);
    s->n_pending--;
    memmove(s->pending, s->pending + 1, s->n_pending * sizeof *s->pending);
}

// ---- a file that was replaced -------------------------------------------------------------------

void pons__ws_old_watch(pons_ws_place *p, pons_ws_file file, const char *path, const char *taken)
{
    p->olds = pons_need_more(p->olds, (p->n_olds + 1) * sizeof(ws_old *));
    ws_old *o = p->olds[p->n_olds++] = pons_need(sizeof *o);
    *o = (ws_old){.file = file,
                  .due_ms = p->now_ms + OLD_MS,
                  .until_ms = p->now_ms + OLD_MS + OLD_GIVE_UP_MS};
    snprintf(o->path, sizeof o->path, "%s", path);
    snprintf(o->taken, sizeof o->taken, "%s", taken);
    o->at = written_at(path);
}

int64_t pons__ws_oldest(const pons_ws_place *p, pons_ws_file file)
{
    const ws_state *s = &p->files[file];
    int64_t oldest = time(NULL);
    for (size_t i = 0; i < s->n_pending; i++) {
        oldest = s->pending[i].at < oldest ? s->pending[i].at : oldest;
    }
    for (size_t i = 0; i < p->n_olds; i++) {
        const ws_old *o = p->olds[i];
        oldest = o && o->file == file && o->at < oldest ? o->at : oldest;
    }
    return oldest;
}

// Nothing was written into it since its name was made; or what was is part of a generation.
static bool is_done(const ws_old *o, const char *hash)
{
    const char *was = strrchr(o->path, '.') + 1;
    return strcmp(hash, was) == 0 || strcmp(hash, o->taken) == 0;
}

// It cannot be read as what it is to be, for so long that nobody goes on with it: a person has to look.
static bool put_aside(pons_ws_place *p, ws_old *o)
{
    char aside[PATH_MAX];
    snprintf(aside, sizeof aside, "%.*s.aside", PATH_MAX - 16, o->path);
    rename(o->path, aside);
    pons__ws_notice(p, pons_ws_file_name(o->file), "what was written late cannot be read; it is %s",
                    aside);
    return true;
}

// Whether it is done with.
static bool look_at_old(pons_ws_place *p, ws_old *o, settle_fn settle)
{
    ws_state *s = &p->files[o->file];
    pons_autobuf text = PONS_BUF_INIT;
    char hash[PONS__WS_HASH];
    pons_error err = PONS_ERROR_INIT;
    const int64_t until_ms = o->until_ms;
    if (is_pending(s, o->path)) { // the file cannot be read, or somebody writes it all the time
        settle(p, o->file);
    }
    o->due_ms = p->now_ms + OLD_MS;
    if (is_pending(s, o->path)) {
        return false;
    }
    if (pons__ws_read_file(o->path, &text, &err) < 0) {
        return true;
    }
    pons__ws_hash(text.data ? text.data : "", text.len, hash);
    if (is_done(o, hash)) {
        unlink(o->path);
        return true;
    }
    // An editor wrote into it after all. What it wrote is looked at again, as it may go on.
    pons_ws_doc *d = NULL;
    const bool readable =
        text.len > 0 && pons_ws_read(o->file, text.data, text.len, "old", &d, &err) == PONS_OK;
    pons_ws_destroy(d);
    if (readable) {
        snprintf(o->taken, sizeof o->taken, "%s", hash); // when it is pending no more
        pons__ws_pending_add(s, &text, o->path);
        settle(p, o->file);
    } else if (p->now_ms >= until_ms && text.len == 0) {
        unlink(o->path);
        return true;
    }
    return !readable && p->now_ms >= until_ms && put_aside(p, o);
}

void pons__ws_olds_look(pons_ws_place *p, settle_fn settle)
{
    size_t kept = 0;
    for (size_t i = 0; i < p->n_olds; i++) { // settling adds others
        if (p->now_ms >= p->olds[i]->due_ms && look_at_old(p, p->olds[i], settle)) {
            free(p->olds[i]);
            p->olds[i] = NULL;
        }
    }
    for (size_t i = 0; i < p->n_olds; i++) {
        if (p->olds[i]) {
            p->olds[kept++] = p->olds[i];
        }
    }
    p->n_olds = kept;
}

// What came out of a file cannot be read: half of a text, whose whole comes, or what a person has to look at.
void pons__ws_old_forget(pons_ws_place *p, const char *path)
{
    for (size_t i = 0; i < p->n_olds; i++) {
        if (p->olds[i] && strcmp(p->olds[i]->path, path) == 0) {
            p->olds[i]->taken[0] = '\0';
        }
    }
}

// ---- of earlier lives ---------------------------------------------------------------------------

// What a killed process left: its own new text, or one that came out and was not looked at. The latter
// is an edit like one that was written late.
void pons__ws_leftover(pons_ws_place *p, pons_ws_file file)
{
    char path[PATH_MAX], keep[PATH_MAX], hash[PONS__WS_HASH];
    pons_autobuf text = PONS_BUF_INIT;
    const char *name = pons_ws_file_name(file);
    snprintf(path, sizeof path, "%s/" PONS__WS_FOLDER "/%s.new", p->dir, name);
    if (access(path, F_OK) < 0 || pons__ws_read_file(path, &text, NULL) < 0 || text.len == 0 ||
        pons__ws_base_known(p->dir, name, text.data, text.len)) {
        return;
    }
    pons__ws_hash(text.data, text.len, hash);
    snprintf(keep, sizeof keep, "%s/" PONS__WS_FOLDER "/old/%s.%s.late", p->dir, name, hash);
    if (rename(path, keep) == 0) {
        pons__ws_old_watch(p, file, keep, "");
    }
}

void pons__ws_olds_find(pons_ws_place *p)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/" PONS__WS_FOLDER "/old", p->dir);
    DIR *d = opendir(path);
    for (struct dirent *e = d ? readdir(d) : NULL; e; e = readdir(d)) {
        for (int f = 0; f < PONS_WS_FILES; f++) {
            const char *name = pons_ws_file_name((pons_ws_file)f), *dot = strrchr(e->d_name, '.');
            char full[PATH_MAX];
            if (strncmp(e->d_name, name, strlen(name)) == 0 && dot && strcmp(dot, ".aside") != 0) {
                snprintf(full, sizeof full, "%.*s/%s", PATH_MAX / 2, path, e->d_name);
                pons__ws_old_watch(p, (pons_ws_file)f, full, "");
            }
        }
    }
    if (d) {
        closedir(d);
    }
}
