// service.h - what a process tells the service manager that started it (sd_notify(3)): that it is ready, that its loop
// goes round, that it ends. Without one each does nothing.
#pragma once

#include <stdbool.h>

// Takes NOTIFY_SOCKET and WATCHDOG_USEC out of the environment: no child speaks for the process; and a credential
// openai-api-key (LoadCredential=) becomes OPENAI_API_KEY. Before it has threads.
void app_service_open(void);
bool app_service_managed(void);
// From the loop's thread, once a round: tells the first time that the service is ready, then feeds the watchdog. Never
// blocks.
void app_service_alive(void);
void app_service_stopping(void);
