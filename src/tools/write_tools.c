// write_tools.c - write_file and edit_file: a file's new text, and what it replaces.
//
//     arguments --> guards --> the old text --> the new one --> ledger: begun --> the version before
//                                |                               is kept (undo_versions.c) --> replaced
//                                +--> preview: the diff that a person is asked about
//
// The new text is made beside the old file, synced and renamed: a reader sees one or the other, and
// after a crash the file is whole. Between reading and renaming somebody else may have written: then
// the file is left as it is.
#include "tools/write_tools.h"

#include "tools/core/bytes_to_text.h"
#include "tools/core/call_ledger.h"
#include "tools/core/config.h"
#include "tools/core/diff.h"
#include "tools/core/path.h"
#include "tools/core/read_write_guards.h"
#include "tools/core/whole_file.h"
#include "tools/undo_versions.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define WRITE_KB   1024
#define DIFF_SHOWN 6000 // bytes of a diff in an output
#define HINT_LINES 100000

typedef struct change { // of one file
    char path[PATH_MAX];
    int dir;        // -1: it is not there yet
    bool exists;    // the file
    struct stat st; // of the old one
    pons_buf old, text;
    size_t places; // of an edit
} change;

// ---- what is to become of the file --------------------------------------------------------------

// Whether the file may be written, and what is in it.
static int check_place(pons__core *c, change *ch, pons_error *err)
{
    const char *slash = strrchr(ch->path, '/'), *name = slash ? slash + 1 : ch->path;
    char real[PATH_MAX];
    ch->exists = fstatat(ch->dir, name, &ch->st, AT_SYMLINK_NOFOLLOW) == 0;
    if (pons__guard_folder(c, ch->dir) || pons__guard_target(c, ch->exists ? &ch->st : NULL) ||
        (pons__guard_real(c, ch->dir, real) && pons__guard_of(c, real) != PONS_GUARD_NONE)) {
        return pons_error_set(err, PONS_EREFUSED, PONS__TOOLS,
                              "%s is protected by the configuration", ch->path);
    }
    if (ch->exists && !S_ISREG(ch->st.st_mode)) {
        return pons_error_set(err, PONS_EREFUSED, PONS__TOOLS, "%s is %s, not a file", ch->path,
                              pons__mode_name(ch->st.st_mode));
    }
    if (ch->exists && pons__path_hidden(c, ch->path, &ch->st)) {
        return pons_error_set(err, PONS_EREFUSED, PONS__TOOLS, "%s is hidden by the configuration",
                              ch->path);
    }
    return ch->exists
               ? pons__place_read(ch->dir, ch->path, PONS__VERSION_MAX, &ch->old, &ch->st, err)
               : PONS_OK;
}

// The line where the first line of what was not found stands in another spacing; 0: none.
static size_t hint(const pons_buf *text, const char *wanted)
{
    wanted += strspn(wanted, " \t\r\n");
    const size_t n = strcspn(wanted, "\r\n");
    size_t number = 1;
    const char *at = text->data, *end = text->data + text->len;
    for (; n > 0 && at < end && number < HINT_LINES; number++) {
        const char *nl = memchr(at, '\n', (size_t)(end - at));
        const char *stop = nl ? nl : end;
        while (at < stop && (*at == ' ' || *at == '\t')) {
            at++;
        }
        if ((size_t)(stop - at) >= n && memcmp(at, wanted, n) == 0) {
            return number;
        }
        at = stop + 1;
    }
    return 0;
}

static int replace_text(change *ch, const pons_value *args, pons_error *err)
{
    const pons_value *from = pons_get(args, "old_text"), *to = pons_get(args, "new_text");
    const size_t n = json_string_length(from), n_to = json_string_length(to);
    const char *wanted = json_string_value(from);
    const char *kind = pons__binary_kind(ch->old.data ? ch->old.data : "", ch->old.len);
    const bool all = pons_get_bool(args, "all", false);
    if (kind) {
        return pons_error_set(err, PONS_EUNSUPPORTED, PONS__TOOLS, "%s is %s, not a text", ch->path,
                              kind);
    }
    if (n == 0) {
        return pons_error_set(err, PONS_EINVAL, PONS__TOOLS,
                              "old_text is empty: give the text that is to be replaced");
    }
    if (n == n_to && memcmp(wanted, json_string_value(to), n) == 0) {
        return pons_error_set(err, PONS_EINVAL, PONS__TOOLS,
                              "old_text and new_text are the same: nothing would change");
    }
    const char *at = ch->old.data, *end = at ? at + ch->old.len : NULL;
    while (at) {
        const char *found =
            (size_t)(end - at) >= n ? memmem(at, (size_t)(end - at), wanted, n) : NULL;
        pons_buf_bytes(&ch->text, at, (size_t)((found ? found : end) - at));
        if (!found) {
            break;
        }
        pons_buf_bytes(&ch->text, json_string_value(to), n_to);
        ch->places++;
        at = found + n;
    }
    if (ch->places == 0) {
        const size_t line = ch->old.data ? hint(&ch->old, wanted) : 0;
        char where[96] = "";
        if (line) {
            snprintf(where, sizeof where,
                     "; its first line is like line %zu: spaces or later lines differ", line);
        }
        return pons_error_set(err, PONS_ENOTFOUND, PONS__TOOLS,
                              "old_text is not in %s: it must be there letter for letter%s",
                              ch->path, where);
    }
    if (ch->places > 1 && !all) {
        return pons_error_set(err, PONS_EAMBIGUOUS, PONS__TOOLS,
                              "old_text is in %s %zu times: give more of its surroundings, or all: "
                              "true",
                              ch->path, ch->places);
    }
    return PONS_OK;
}

static int check_size(size_t n, size_t most, pons_error *err)
{
    return n <= most
               ? PONS_OK
               : pons_error_set(err, PONS_EREFUSED, PONS__TOOLS,
                                "%zu bytes are more than the %zu that may be written", n, most);
}

// Fills *ch, which the caller drops whatever comes of it.
static int prepare(pons__core *c, bool edit, const pons_value *args, bool make, change *ch,
                   pons_error *err)
{
    *ch = (change){.dir = -1, .old = PONS_BUF_INIT, .text = PONS_BUF_INIT};
    const size_t most = (size_t)pons__conf(c, NULL, "write_kb", WRITE_KB) * PONS__KIB;
    int rc = pons__path_normal(c, pons_get_str(args, "path", ""), ch->path, err);
    if (rc < 0) {
        return rc;
    }
    if (!edit) {
        const pons_value *content = pons_get(args, "content");
        const size_t n = json_string_length(content);
        rc = check_size(n, most, err);
        if (rc < 0) {
            return rc;
        }
        pons_buf_bytes(&ch->text, n > 0 ? json_string_value(content) : "", n);
    }
    if (strcmp(ch->path, ".") == 0 || pons__path_protected(c, ch->path)) {
        return pons_error_set(err, PONS_EREFUSED, PONS__TOOLS,
                              "%s is protected by the configuration", ch->path);
    }
    ch->dir = pons__place_folder(c, ch->path, make && !edit, err);
    if (ch->dir >= 0) {
        rc = check_place(c, ch, err);
    } else if (ch->dir != PONS_ENOTFOUND) {
        rc = ch->dir;
    }
    if (rc < 0) {
        return rc;
    }
    if (!ch->exists && (edit || (make && ch->dir < 0))) { // otherwise its folder would be made
        return pons_error_set(err, PONS_ENOTFOUND, PONS__TOOLS, "there is no %s", ch->path);
    }
    rc = edit ? replace_text(ch, args, err) : PONS_OK;
    rc = rc < 0 ? rc : check_size(ch->text.len, most, err);
    if (rc >= 0 && (ch->old.failed || ch->text.failed)) {
        rc = pons_error_set(err, PONS_ENOMEM, PONS__TOOLS, "no room for %s", ch->path);
    }
    return rc;
}

static void drop(change *ch)
{
    if (ch->dir >= 0) {
        close(ch->dir);
    }
    pons_buf_fini(&ch->old);
    pons_buf_fini(&ch->text);
    *ch = (change){.dir = -1};
}

// ---- the tools ----------------------------------------------------------------------------------

static void say(pons__work *w, const change *ch)
{
    pons_autobuf diff = PONS_BUF_INIT;
    pons_buf_printf(&w->out, "%s %s, %zu bytes", ch->exists ? "replaced" : "wrote", ch->path,
                    ch->text.len);
    if (ch->exists) {
        pons__diff(&diff, ch->path, ch->old.data, ch->old.len, true, ch->text.data, ch->text.len);
    }
    if (diff.len > DIFF_SHOWN) {
        const size_t n = pons__text_cut(diff.data, DIFF_SHOWN);
        pons_buf_printf(&w->out, "\n%.*s\n[cut here: the diff has %zu bytes]", (int)n, diff.data,
                        diff.len);
    } else if (diff.len > 0) {
        pons_buf_printf(&w->out, "\n%s", diff.data);
    } else if (ch->exists) {
        pons_buf_str(&w->out, ", as it was before");
    }
    w->data =
        pons_object("path", json_string(ch->path), "bytes", json_integer((json_int_t)ch->text.len),
                    "created", json_boolean(!ch->exists), NULL);
}

static int perform(pons__work *w, bool edit, pons_error *err)
{
    change ch = {.dir = -1, .old = PONS_BUF_INIT, .text = PONS_BUF_INIT};
    const bool refuse = strcmp(pons_get_str(w->args, "if_exists", "replace"), "refuse") == 0;
    int rc = pons__stopped(w) ? pons__stopped_error(err)
                              : prepare(w->core, edit, w->args, true, &ch, err);
    if (rc >= 0 && ch.exists && refuse) {
        rc = pons_error_set(err, PONS_EEXIST, PONS__TOOLS, "%s exists already", ch.path);
    }
    if (rc >= 0) {
        char before[65] = "", after[65];
        pons__place_hash(ch.text.data, ch.text.len, after);
        if (ch.exists) {
            pons__place_hash(ch.old.data, ch.old.len, before);
        }
        pons_autovalue what =
            pons_object("path", json_string(ch.path), "sha256", json_string(after), "bytes",
                        json_integer((json_int_t)ch.text.len), "before", json_string(before), NULL);
        const pons__version v = {.path = ch.path,
                                 .tool = edit ? "edit_file" : "write_file",
                                 .before = ch.exists ? before : NULL,
                                 .after = after,
                                 .old = ch.old.data,
                                 .n_old = ch.old.len,
                                 .mode = ch.exists ? ch.st.st_mode & 0777 : 0};
        rc = pons__call_ledger_begin(w->core->ledger, w->key, what, err);
        rc = rc < 0 ? rc : pons__versions_keep(w->core, &v, err);
        rc = rc < 0 ? rc
                    : pons__place_put(ch.dir, ch.path, ch.text.data, ch.text.len,
                                      ch.exists ? &ch.st : NULL, 0, w, err);
    }
    if (rc >= 0) {
        say(w, &ch);
    }
    drop(&ch);
    return rc;
}

int pons__write_file(pons__work *w, pons_error *err)
{
    return perform(w, false, err);
}

int pons__edit_file(pons__work *w, pons_error *err)
{
    return perform(w, true, err);
}

void pons__write_preview(pons__core *c, bool edit, const pons_value *args, pons_buf *ret)
{
    change ch;
    pons_error ignored = PONS_ERROR_INIT;
    if (prepare(c, edit, args, false, &ch, &ignored) >= 0) {
        pons__diff(ret, ch.path, ch.old.data, ch.old.len, ch.exists, ch.text.data, ch.text.len);
    }
    drop(&ch);
}

// ---- after a crash ------------------------------------------------------------------------------

int pons__write_fate(const pons__core *c, const pons_value *what)
{
    pons_error ignored = PONS_ERROR_INIT;
    const char *path = pons_get_str(what, "path", "."),
               *before = pons_get_str(what, "before", NULL);
    pons_autobuf now = PONS_BUF_INIT;
    struct stat st;
    char hash[65];
    const int dir = pons__place_folder(c, path, false, &ignored);
    int rc = dir < 0 ? dir : pons__place_read(dir, path, PONS__VERSION_MAX, &now, &st, &ignored);
    if (dir >= 0) {
        close(dir);
    }
    if (rc < 0 && rc != PONS_ENOTFOUND) {
        return PONS_ECLOSED;
    }
    const bool there = rc >= 0;
    pons__place_hash(now.data, now.len, hash);
    if (there && strcmp(hash, pons_get_str(what, "sha256", "")) == 0) {
        return PONS_OK;
    }
    // A ledger of an earlier version does not say what was there before.
    return !before || strcmp(there ? hash : "", before) == 0 ? PONS_ENOTFOUND : PONS_ECLOSED;
}
