// yaml_events.h - libfyaml's events of a text, one after the other: shared by the two readers of YAML.
#pragma once

#include "base/yaml/yaml_scalar.h"

#include <libfyaml.h>

typedef struct pons__yaml_reader {
    int (*take)(void *user, struct fy_event *ev); // PONS_OK: the next one
    // What is no YAML: why, and where, from 1. What it returns ends the reading.
    int (*refuse)(void *user, uint32_t line, uint32_t column, const char *why);
    void *user;
} pons__yaml_reader;

// PONS_ENOMEM where libfyaml has no memory.
int pons__yaml_events(const char *text, size_t len, const pons__yaml_reader *r);

pons__span pons__yaml_text(struct fy_token *token); // "" for NULL
bool pons__yaml_quoted(
    const struct fy_event *ev); // a scalar in quotes, within which libfyaml's marks stand
