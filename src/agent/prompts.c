// prompts.c - what the model is told when nobody says otherwise: config/prompts/NAME.md of the
// workspace, or of the installation, stand in their place.
#include "agent/prompts.h"

#include "agent/event_output.h"
#include "agent/session.h"
#include "pons/agent.h"

#include <stdlib.h>
#include <string.h>

#define WORDS_MAX 4000 // characters of the user's words that a step sees

const char pons__prompt_agent[] = {
#include "agent/prompt_agent.md.h"
};

const char pons__prompt_executor[] = {
#include "agent/prompt_executor.md.h"
};

const char pons__prompt_replanner[] = {
#include "agent/prompt_replanner.md.h"
};

static const char prompt_compact[] = {
#include "agent/prompt_compact.md.h"
};

const char *pons__agent_prompt(const pons_agent *a, const char *which)
{
    const char *own = pons_get_str(a->prompts, which, NULL);
    if (own) {
        return own;
    }
    return which[0] == 'c'   ? prompt_compact
           : which[0] == 'a' ? pons__prompt_agent
           : which[0] == 'e' ? pons__prompt_executor
                             : pons__prompt_replanner;
}

char *pons__agent_system(const pons_agent *a, const char *which)
{
    const char *prompt = pons__agent_prompt(a, which);
    pons_buf text = PONS_BUF_INIT;
    char *about = a->opts.about ? a->opts.about(a->opts.about_user) : NULL;
    pons_buf_str(&text, prompt);
    if (about && *about) {
        pons_buf_printf(&text, "\n\n%s", about);
    }
    free(about);
    return pons_buf_take(&text, NULL);
}

void pons__agent_users_words(pons_buf *into, const pons_value *messages)
{
    for (size_t i = json_array_size(messages); i-- > 0;) {
        const pons_value *m = json_array_get(messages, i);
        if (strcmp(pons_get_str(m, "role", ""), "user") == 0) {
            pons_autovalue cut = pons__agent_cut(pons_get_str(m, "content", ""), WORDS_MAX);
            pons_buf_printf(into, "The user said: %s\n\n", json_string_value(cut));
            return;
        }
    }
}
