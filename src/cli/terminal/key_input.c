// key_input.c - bytes of a terminal in, keys and pastes out.
//
// A key is given on only when all of it is there: whoever edits the line asks for whole ones and would
// wait for the rest of an ESC, with everything else. What a person pastes comes between ESC [200~ and
// ESC [201~: no line break in it says the line, no ESC in it is a key, and what a terminal would act on is not
// kept (pons_plain). A sequence that is none is dropped.
#include "cli/terminal/key_input.h"

#include "pons/printable.h"

#include <stdint.h>
#include <string.h>

#define PASTE_MAX    (1024 * 1024) // bytes
#define SEQUENCE_MAX 32            // bytes of an escape sequence
#define ESC          '\033'

static const char paste_begins[] = "\033[200~", paste_ends[] = "\033[201~";

void cli_keys_fini(cli_keys *k)
{
    pons_buf_fini(&k->in);
    pons_buf_fini(&k->paste);
}

void cli_keys_add(cli_keys *k, const char *bytes, size_t n)
{
    pons_buf_bytes(&k->in, bytes, n);
}

void cli_keys_reset(cli_keys *k)
{
    pons_buf_clear(&k->in);
    pons_buf_clear(&k->paste);
    k->pasting = k->too_long = false;
}

static void drop(cli_keys *k, size_t n)
{
    memmove(k->in.data, k->in.data + n, k->in.len - n);
    k->in.len -= n;
}

static void keep(cli_keys *k, size_t n)
{
    const size_t room = PASTE_MAX > k->paste.len ? PASTE_MAX - k->paste.len : 0;
    k->too_long |= n > room;
    pons_buf_bytes(&k->paste, k->in.data, n < room ? n : room);
    drop(k, n);
}

// Lines end with \n, whatever the terminal makes of them; one at the end is the habit of who copied it.
static void pasted(cli_keys *k, pons_buf *ret)
{
    pons_autobuf lines = PONS_BUF_INIT;
    for (size_t i = 0; i < k->paste.len; i++) {
        const char c = k->paste.data[i];
        const bool pair = c == '\r' && i + 1 < k->paste.len && k->paste.data[i + 1] == '\n';
        if (!pair) {
            pons_buf_byte(&lines, (uint8_t)(c == '\r' ? '\n' : c ? c : ' '));
        }
    }
    pons_plain(ret, lines.data ? lines.data : "", lines.len, true);
    if (ret->len > 0 && ret->data[ret->len - 1] == '\n') {
        ret->data[--ret->len] = '\0';
    }
    pons_buf_clear(&k->paste);
    k->pasting = false;
}

static cli_key paste(cli_keys *k, pons_buf *ret)
{
    const size_t mark = sizeof paste_ends - 1;
    const char *end = memmem(k->in.data, k->in.len, paste_ends, mark);
    if (end) {
        keep(k, (size_t)(end - k->in.data));
        drop(k, mark);
        pasted(k, ret);
        return CLI_KEY_PASTE;
    }
    size_t part = k->in.len < mark - 1 ? k->in.len : mark - 1; // of an end that is still coming
    while (part > 0 && memcmp(k->in.data + k->in.len - part, paste_ends, part) != 0) {
        part--;
    }
    keep(k, k->in.len - part);
    return CLI_KEY_NONE;
}

static cli_key give(cli_keys *k, size_t n, cli_key is, pons_buf *ret)
{
    pons_buf_bytes(ret, k->in.data, n);
    drop(k, n);
    return is;
}

// Of a sequence that begins with ESC: its bytes, 0 as long as some are missing; *ret_bad: it is none.
static size_t sequence(const char *s, size_t n, bool *ret_bad)
{
    *ret_bad = false;
    if (n < 2) {
        return 0;
    }
    if (s[1] == 'O') {
        return n < 3 ? 0 : 3;
    }
    if (s[1] != '[') {
        const size_t k = pons_utf8_sequence(s + 1, n - 1);
        *ret_bad = s[1] == ESC || (k == 0 && n > 4);
        return *ret_bad ? 1 : k == 0 ? 0 : 1 + k;
    }
    for (size_t i = 2; i < n; i++) {
        const unsigned char c = (unsigned char)s[i];
        if (c >= 0x40 && c <= 0x7E) {
            return i + 1;
        }
        if (c < 0x20 || c > 0x7E || i >= SEQUENCE_MAX) {
            *ret_bad = true;
            return i;
        }
    }
    return 0;
}

static cli_key escape(cli_keys *k, pons_buf *ret)
{
    const char *s = k->in.data;
    bool bad = false;
    const size_t n = sequence(s, k->in.len, &bad);
    if (n == 0 && !bad) {
        return CLI_KEY_NONE;
    }
    if (bad) {
        drop(k, n);
        return cli_keys_next(k, ret);
    }
    if (n == sizeof paste_begins - 1 && memcmp(s, paste_begins, n) == 0) {
        drop(k, n);
        k->pasting = true;
        k->too_long = false;
        return paste(k, ret);
    }
    if (n == sizeof paste_ends - 1 && memcmp(s, paste_ends, n) == 0) { // of none
        drop(k, n);
        return cli_keys_next(k, ret);
    }
    const bool arrow = n == 3 && (s[1] == '[' || s[1] == 'O');
    const cli_key is = arrow && s[2] == 'A'                       ? CLI_KEY_UP
                       : arrow && s[2] == 'B'                     ? CLI_KEY_DOWN
                       : n == 2 && (s[1] == '\r' || s[1] == '\n') ? CLI_KEY_NEWLINE
                                                                  : CLI_KEY_OTHER;
    return give(k, n, is, ret);
}

cli_key cli_keys_next(cli_keys *k, pons_buf *ret)
{
    enum { CTRL_D = 4, CTRL_L = 12, CTRL_V = 22, CTRL_X = 24 };
    for (;;) {
        pons_buf_clear(ret);
        if (k->pasting) {
            return paste(k, ret);
        }
        if (k->in.len == 0) {
            return CLI_KEY_NONE;
        }
        const char c = k->in.data[0];
        if (c == ESC) {
            return escape(k, ret);
        }
        if (c == '\r' || c == '\n') {
            return give(k, 1, c == '\n' && k->raw_newline ? CLI_KEY_NEWLINE : CLI_KEY_ENTER, ret);
        }
        if (c == CTRL_D || c == CTRL_L) {
            return give(k, 1, c == CTRL_D ? CLI_KEY_CTRL_D : CLI_KEY_CTRL_L, ret);
        }
        if (c == CTRL_V || c == CTRL_X) { // the editor would wait for the key that follows
            if (k->in.len < 2) {
                return CLI_KEY_NONE;
            }
            if (c == CTRL_V || k->in.data[1] == ESC) { // nothing raw gets in
                drop(k, 1);
                continue;
            }
            return give(k, 2, CLI_KEY_OTHER, ret);
        }
        const size_t n = pons_utf8_sequence(k->in.data, k->in.len);
        if (n > 0) {
            return give(k, n, CLI_KEY_OTHER, ret);
        }
        static const unsigned char leads[][2] = {{0xC2, 2}, {0xE0, 3}, {0xF0, 4}, {0xF5, 0}};
        size_t wants = 0;
        for (size_t i = 0; i < 4 && (unsigned char)c >= leads[i][0]; i++) {
            wants = leads[i][1];
        }
        if (k->in.len < wants) {
            return CLI_KEY_NONE; // its other bytes are coming
        }
        drop(k, 1);
    }
}
