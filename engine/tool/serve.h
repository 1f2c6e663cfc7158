/* SPDX-License-Identifier: MIT */
/*
 * serve.h - the command line of schedlua serve.  schedlua and schedlab have the verb, whose run() checks what is asked for and
 * becomes the program schedlua-serve (web/main.c), which reads the same words again.
 */
#ifndef SL_SERVE_H
#define SL_SERVE_H

#include <stdbool.h>

#include "tool/tool.h"

#define SL_SERVE_STANDARD "127.0.0.1:6822"

struct sl_serve {
	const char *dir, *listen, *socket, *user_header, *host;	/* NULL: not said */
	bool ignore_private_data;
};

extern const struct sl_verb sl_verb_serve;

/* Parse and check.  0; or -1 where there is nothing to serve, with the *status to exit with. */
int sl_serve_parse(const struct sl_verb *verb, struct sl_serve *v, int argc, char **argv, int *status);

#endif
