// bench_share.h - a share's file (config/, worlds/) as a value, for the benches that run a brain or a body
// in their own process. Apart from bench.h, which programs without YAML use too.
#ifndef PONS_BENCH_SHARE_H
#define PONS_BENCH_SHARE_H

#include "bench.h"
#include "pons/module.h"
#include "pons/yaml.h"

// A configuration file; the caller's. What cannot be read ends the program.
static inline pons_value *bench_share(const char *relative)
{
    char path[4096];
    pons_yaml *yaml = NULL;
    pons_error err = PONS_ERROR_INIT;
    bench_must(pons_share_path(relative, path, sizeof path, &err), &err);
    bench_must(pons_yaml_load(path, &yaml, &err), &err);
    pons_value *v = pons_value_ref(pons_yaml_value(yaml));
    pons_yaml_destroy(yaml);
    return v;
}

#endif
