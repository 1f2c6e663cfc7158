/* SPDX-License-Identifier: MIT */
/* http_none.c - without libmicrohttpd nothing is served (web/http.h). */
#include "web/http.h"

bool sl_http_available(void)
{
	return false;
}

struct sl_http *sl_http_start(int fd, const char *user_header, const char *hosts, sl_http_handler *handler, void *arg,
			      struct sl_error *err)
{
	(void) fd;
	(void) user_header;
	(void) hosts;
	(void) handler;
	(void) arg;
	sl_fail(err, SL_ENOENT, "serve: this program was built without libmicrohttpd");
	return NULL;
}

void sl_http_run(struct sl_http *h, int wait_ms)
{
	(void) h;
	(void) wait_ms;
}

void sl_http_stop(struct sl_http *h)
{
	(void) h;
}
