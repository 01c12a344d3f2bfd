// terminal.h - a terminal of so many columns and rows with a program on it: what a person would see.
#ifndef TESTS_CLI_TERMINAL_H
#define TESTS_CLI_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define TERMINAL_COLUMNS 200
#define TERMINAL_ROWS    100
#define TERMINAL_PAST    4000 // rows that have gone out at the top

typedef struct terminal_cell {
    unsigned point; // 0: nothing; 1: the second column of the one before
} terminal_cell;

typedef struct terminal {
    pid_t pid;
    int tty;
    int columns, rows, x, y;
    bool wraps; // the cursor stands behind the last column
    terminal_cell at[TERMINAL_ROWS][TERMINAL_COLUMNS];
    bool joined[TERMINAL_ROWS]; // the row goes on in the next: the terminal broke it
    char past[TERMINAL_PAST][TERMINAL_COLUMNS * 4];
    size_t n_past;
    size_t breaks; // rows that the terminal had to break: the program's lines were too long
    char bad[256]; // what no program should send, if anything came
    char part[64]; // of a sequence or a character that is not whole
    size_t n_part;
    char *raw; // every byte
    size_t n_raw, room_raw;
    bool pastes; // the program asked for marks around pasted text
    char shown[TERMINAL_ROWS * TERMINAL_COLUMNS * 4 + TERMINAL_PAST];
} terminal;

// argv ends with NULL. folder: where it is started; NULL: here. env: "NAME=value"s, NULL at the end, or
// NULL.
void terminal_open(terminal *t, const char *folder, int columns, int rows, const char *const *argv,
                   const char *const *env);
void terminal_type(terminal *t, const char *keys);
void terminal_paste(terminal *t, const char *text, size_t n);
// Reads until the rows on the screen have this (a row is trimmed, rows are joined by \n); fails after a
// while with what there is.
void terminal_await(terminal *t, const char *what);
void terminal_await_past(terminal *t, const char *what); // also above the screen
const char *terminal_screen(terminal *t);                // what is on it now
bool terminal_ever(terminal *t, const char *what);       // on the screen or above it
void terminal_resize(terminal *t, int columns, int rows);
int terminal_end(terminal *t); // reads to the end; the exit status, 128 + signal
void terminal_close(terminal *t);

#endif
