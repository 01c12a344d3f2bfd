// remote_cancel.h - requests to cancel that come through a thread's inbox.
#pragma once

#include "graph/core/thread.h"

int pons__cancel_heeded(pons_thread *t, pons_error *err); // they have done what they were for
