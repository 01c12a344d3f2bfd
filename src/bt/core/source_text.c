// source_text.c - files and bytes before they are read as a tree.
#include "bt/core/source_text.h"

#include "pons/buf.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// A pipe or a device could keep its reader waiting for ever.
FILE *pons__bt_open(const char *path)
{
    struct stat st;
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    FILE *f = fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) ? fdopen(fd, "rb") : NULL;
    if (fd >= 0 && !f) {
        close(fd);
    }
    return f;
}

void pons__bt_keep_utf8(char *text)
{
    size_t len = strlen(text);
    for (size_t i = 0; i < len;) {
        const size_t n = pons_utf8_sequence(text + i, len - i);
        if (n == 0) {
            text[i] = '?';
        }
        i += n ? n : 1;
    }
}

// XML is checked by its parser. pos: where it is not, when it is not.
bool pons__bt_is_utf8(const char *text, size_t len, uint32_t *ret_line, uint32_t *ret_col)
{
    uint32_t line = 1, col = 1;
    for (size_t i = 0; i < len;) {
        const size_t n = (unsigned char)text[i] < 0x80 ? 1 : pons_utf8_sequence(text + i, len - i);
        if (n == 0) {
            *ret_line = line;
            *ret_col = col;
            return false;
        }
        line += text[i] == '\n';
        col = text[i] == '\n' ? 1 : col + (uint32_t)n;
        i += n;
    }
    return true;
}
