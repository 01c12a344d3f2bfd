// detector-faulty.c - a detector that does what none should: options.does says what.
#include "pons/ext/detector.h"
#include "pons/module.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char does[16];

static int faulty_open(const pons_value *config, void **ret_self, pons_error *err)
{
    snprintf(does, sizeof does, "%s", pons_get_str(pons_get(config, "options"), "does", ""));
    *ret_self = does;
    return strcmp(does, "refuse") == 0
               ? pons_error_set(err, PONS_EINVAL, "faulty", "this it never takes")
               : PONS_OK;
}

static void flood(void) // into the pipe that the process prints to
{
    char much[4096];
    memset(much, 'x', sizeof much);
    for (int fd = 3; fd < 64; fd++) {
        struct stat is;
        while (fstat(fd, &is) == 0 && S_ISFIFO(is.st_mode) && write(fd, much, sizeof much) > 0) {
        }
    }
}

static int faulty_detect(void *self, const pons_picture_raw *p, const pons_lens *lens,
                         pons_detected ret[PONS_DETECTED_MAX], size_t *ret_n, pons_error *err)
{
    if (!*does) {
        printf("what a library says\n");
        fflush(stdout);
    }
    for (size_t i = 0; i < 2; i++) {
        ret[i] = (pons_detected){
            .label = "thing",
            .score = 0.9,
            .box = {0.4 * p->width, 0.5 * p->height, 0.2 * p->width, 0.2 * p->height}};
    }
    *ret_n = 1;
    if (strcmp(does, "slow") == 0) {
        sleep(5);
    } else if (strcmp(does, "hang") == 0) {
        for (;;) {
            pause();
        }
    } else if (strcmp(does, "crash") == 0) {
        raise(SIGSEGV);
    } else if (strcmp(does, "nan") == 0) {
        ret[0].box[1] = NAN;
        *ret_n = 2;
    } else if (strcmp(does, "many") == 0) {
        *ret_n = 10000;
    } else if (strcmp(does, "flood") == 0) {
        flood();
    } else if (strcmp(does, "fail") == 0) {
        return pons_error_set(err, PONS_EIO, "faulty", "this picture it does not like");
    }
    return PONS_OK;
}

static void faulty_close(void *self)
{
}

static const pons_detector_ops ops = {
    .abi = PONS_DETECTOR_ABI, .open = faulty_open, .detect = faulty_detect, .close = faulty_close};

PONS_MODULE_EXPORT("detector", "faulty", &ops);
