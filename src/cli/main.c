// main.c - the program; all of it is in a library (program.c), which the tests call too.
#include "cli/commands.h"

int main(int argc, char **argv)
{
    return cli_main(argc, argv);
}
