// answer.h - what a person's answer to a question was, for another person.
#pragma once

#include "pons/value.h"

#define CLI_ANSWER_MAX 256

// Of what `pons approve` posts, of approval.resolved, or of the `first` of approval.late. Returns buf.
const char *cli_answer_text(const pons_value *answer, char buf[CLI_ANSWER_MAX]);
