/* SPDX-License-Identifier: MIT */
/*
 * server.h - what is answered to a request: the page, its data, why a job waits, figures, how the scheduler is.
 *
 * The cluster is looked at when somebody asks, once a second at most (tool/look.h), and what is composed for everybody is
 * kept until then: a thousand requests cost the cluster nothing, and the server one look.
 *
 * Ownership: owns what it knows.  Threads: none.
 */
#ifndef SL_WEB_SERVER_H
#define SL_WEB_SERVER_H

#include <sys/types.h>

#include "web/budget.h"
#include "web/http.h"
#include "web/page_data.h"

struct sl_server {
	struct sl_look look;
	bool here;			/* of the cluster that slurm.conf names */
	bool ignore_private_data;	/* for /metrics */
	unsigned conf_hides;		/* what slurm.conf hides, where status.json does not say */
	double looked_s, asked_s;	/* when it was last looked, and slurm.conf asked; 0: never */
	pid_t asking;			/* the child that asks Slurm what slurm.conf hides, while it does; 0: none */
	int answer;			/* where it writes what it hears */
	struct sl_budget explained;	/* bytes of the journal that are read for /explain */

	struct sl_visible seen;		/* what everybody may see; {0}: not made since the last look */
	char *page, *metrics;		/* composed since the last look, or NULL */
	size_t page_size, metrics_size;
};

/* *dir* as sl_look_open() has it.  *s = {0} before.  0, or -1 with *err; to be closed in either case. */
int sl_server_open(struct sl_server *s, const char *dir, struct sl_error *err);
void sl_server_close(struct sl_server *s);

/* Between requests: take what a capture has brought.  True if one is under way. */
bool sl_server_tick(struct sl_server *s);

/* An sl_http_handler; *arg* is a struct sl_server. */
void sl_server_answer(void *arg, const struct sl_http_request *request, struct sl_http_answer *answer);

#endif
