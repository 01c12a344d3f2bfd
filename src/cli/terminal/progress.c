// progress.c - what takes longer than a second says so, on standard error of a terminal, until it is over.
//
//     pons: scenarios: 12 of 40, 9 s
//
// A terminal that can has one line, which is drawn again and goes; a plain one a line each five seconds. What takes long
// cannot be asked to look at a clock: a thread does. It starts where standard error is a terminal.
#include "cli/cli.h"
#include "cli/terminal/styled_text.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <unistd.h>

#define QUIET_MS 1000 // what is over by then says nothing
#define DRAW_MS  500
#define PLAIN_MS 5000

static struct {
    pthread_t thread;
    int ends[2]; // [1] closed: the thread ends
    bool on;     // main thread
    pons_clock clock;
    int64_t began_ms;
    const char *what;
    size_t of;
    _Atomic size_t done;
} busy;

int64_t cli_busy_line(const char *what, size_t done, size_t of, int64_t for_ms, bool moves,
                      pons_buf *ret)
{
    const long long s = (long long)for_ms / 1000;
    if (for_ms < QUIET_MS) {
        return QUIET_MS - for_ms;
    }
    if (of > 0) {
        cli_text(ret, "%-s: %zu of %zu, %lld s", what, done, of, s);
    } else {
        cli_text(ret, "%-s: %lld s", what, s);
    }
    return moves ? DRAW_MS : PLAIN_MS;
}

static void *watch(void *unused)
{
    struct pollfd over = {.fd = busy.ends[0], .events = POLLIN};
    const bool moves = cli_moves();
    for (int64_t next = QUIET_MS; poll(&over, 1, (int)next) <= 0;) { // a signal is no end
        pons_autobuf line = PONS_BUF_INIT;
        next = cli_busy_line(busy.what, busy.done, busy.of,
                             pons_now_ms(&busy.clock) - busy.began_ms, moves, &line);
        if (line.len > 0) {
            cli_err_live(line.data, moves);
        }
    }
    return NULL;
}

void cli_busy(const char *what, size_t of)
{
    cli_busy_end();
    busy.clock = pons_clock_real();
    busy.began_ms = pons_now_ms(&busy.clock);
    busy.what = what;
    busy.of = of;
    busy.done = 0;
    if (cli_err_seen() && pipe2(busy.ends, O_CLOEXEC) == 0) {
        busy.on = pthread_create(&busy.thread, NULL, watch, NULL) == 0;
        if (!busy.on) {
            close(busy.ends[0]);
            close(busy.ends[1]);
        }
    }
}

void cli_busy_count(size_t done)
{
    busy.done = done;
}

void cli_busy_end(void)
{
    if (busy.on) {
        close(busy.ends[1]);
        pthread_join(busy.thread, NULL);
        close(busy.ends[0]);
        cli_err_live(NULL, true);
        busy.on = false;
    }
}
