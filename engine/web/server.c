/* SPDX-License-Identifier: MIT */
#include "web/server.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "tool/member.h"
#include "tool/statedir.h"
#include "web/answers.h"
#include "web/files.h"
#include "web/metrics.h"

#define LOOK_S 1.0	/* between two looks */
#define CONF_S 300.0	/* between two looks at slurm.conf */
#define FIRST_S 5.0	/* that the first look waits for a capture */

#define TEXT "text/plain; charset=utf-8"
#define JSON "application/json; charset=utf-8"

/* -- what is known ----------------------------------------------------------- */

static void forget(struct sl_server *s)
{
	sl_visible_clear(&s->seen);
	free(s->page);
	free(s->metrics);
	s->page = s->metrics = NULL;
}

/* What slurm.conf hides; what cannot be known is hidden. */
static unsigned read_conf(void)
{
	char words[500];

	return sl_statedir_private(words, sizeof(words)) ? SL_HIDE_ALL : sl_hides_read(words);
}

/* In a child: where slurm.conf is slurmctld's to hand out, scontrol may wait for ten seconds, and requests do not. */
static void begin_asking(struct sl_server *s)
{
	unsigned hidden;
	int way[2];

	if (pipe2(way, O_CLOEXEC))
		return;
	s->asking = fork();
	if (!s->asking) {
		hidden = read_conf();
		_exit(write(way[1], &hidden, sizeof(hidden)) != sizeof(hidden));
	}
	close(way[1]);
	s->answer = way[0];
	if (s->asking < 0) {
		close(way[0]);
		s->asking = 0;
	}
}

/* Have the child's answer if it has ended, or end it.  Without an answer all is hidden. */
static void end_asking(struct sl_server *s, bool now)
{
	unsigned hidden = SL_HIDE_ALL;

	if (!s->asking)
		return;
	if (now)
		kill(s->asking, SIGKILL);
	if (!waitpid(s->asking, NULL, now ? 0 : WNOHANG))
		return;
	if (read(s->answer, &hidden, sizeof(hidden)) != sizeof(hidden))
		hidden = SL_HIDE_ALL;
	close(s->answer);
	s->asking = 0;
	s->conf_hides = hidden;
}

static void ask_conf(struct sl_server *s)
{
	end_asking(s, false);
	if (!s->here) {
		s->conf_hides = SL_HIDE_ALL;
	} else if (!s->asked_s) {	/* nobody waits yet */
		s->conf_hides = read_conf();
	} else if (s->asking || sl_clock_s() - s->asked_s < CONF_S) {
		return;
	} else {
		begin_asking(s);
	}
	s->asked_s = sl_clock_s();
}

static void look(struct sl_server *s, double wait_s)
{
	forget(s);
	sl_look(&s->look, wait_s);
	if (!json_is_string(json_object_get(s->look.status, "private_data")))
		ask_conf(s);
	s->looked_s = sl_clock_s();
}

/* What is in force is what slurmctld says. */
static unsigned hides(const struct sl_server *s)
{
	const json_t *words = json_object_get(s->look.status, "private_data");

	return json_is_string(words) ? sl_hides_read(json_string_value(words)) : s->conf_hides;
}

int sl_server_open(struct sl_server *s, const char *dir, struct sl_error *err)
{
	s->here = !dir;
	s->explained = (struct sl_budget) { .most = SL_WEB_JOURNAL_MOST, .per_s = SL_WEB_JOURNAL_PER_S };
	if (sl_look_open(&s->look, dir, err))
		return -1;
	look(s, FIRST_S);
	return 0;
}

void sl_server_close(struct sl_server *s)
{
	forget(s);
	end_asking(s, true);
	sl_look_close(&s->look);
}

bool sl_server_tick(struct sl_server *s)
{
	end_asking(s, false);
	if (s->look.capture.pid)
		look(s, 0);
	return s->look.capture.pid != 0;
}

/* -- views ---------------------------------------------------------------------- */

/* The view of a user, or of everybody, which is kept; false: without memory, or there is no snapshot. */
static bool make_view(struct sl_server *s, const char *user, struct sl_visible *own, struct sl_page *p)
{
	struct sl_visible *v = user ? own : &s->seen;
	struct sl_error err;

	*p = (struct sl_page) { .look = &s->look, .hides = hides(s), .now = time(NULL) };
	if (!s->look.bytes || v->snap || !sl_visible_make(v, &s->look.snap, p->hides, user, &err)) {
		p->seen = v->snap ? v : NULL;
		return true;
	}
	sl_visible_clear(v);
	return false;
}

/* -- answers --------------------------------------------------------------------- */

static void give(struct sl_http_answer *a, const char *type, const char *text, size_t size)
{
	*a = (struct sl_http_answer) { .status = 200, .type = type, .text = text, .size = size };
}

/* The answer owns its text. */
static void give_own(struct sl_http_answer *a, int status, char *text, size_t size)
{
	*a = (struct sl_http_answer) { .status = status, .type = JSON, .text = text, .size = size, .owned = text };
}

static void answer_page(struct sl_server *s, const struct sl_http_request *q, struct sl_http_answer *a)
{
	(void) s;
	(void) q;
	give(a, "text/html; charset=utf-8", (const char *) sl_web_page_html, sl_web_page_html_size);
}

static void answer_css(struct sl_server *s, const struct sl_http_request *q, struct sl_http_answer *a)
{
	(void) s;
	(void) q;
	give(a, "text/css; charset=utf-8", (const char *) sl_web_page_css, sl_web_page_css_size);
}

static void answer_js(struct sl_server *s, const struct sl_http_request *q, struct sl_http_answer *a)
{
	(void) s;
	(void) q;
	give(a, "text/javascript; charset=utf-8", (const char *) sl_web_page_js, sl_web_page_js_size);
}

static void answer_data(struct sl_server *s, const struct sl_http_request *q, struct sl_http_answer *a)
{
	struct sl_visible own = { 0 };
	struct sl_page p;
	struct sl_error err;
	size_t size = 0;
	char *text;

	if (!q->user && s->page) {
		give(a, JSON, s->page, s->page_size);
		return;
	}
	text = make_view(s, q->user, &own, &p) ? sl_page_data(&p, &size, &err) : NULL;
	if (q->user) {
		give_own(a, 200, text, size);
	} else {
		s->page = text;
		s->page_size = size;
		give(a, JSON, text, size);
	}
	sl_visible_clear(&own);
}

static void answer_explain(struct sl_server *s, const struct sl_http_request *q, struct sl_http_answer *a)
{
	struct sl_visible own = { 0 };
	struct sl_page p;
	int status = 500;
	char *text = make_view(s, q->user, &own, &p) ? sl_web_explain(&p, &s->look, &s->explained, q->job, &status) : NULL;

	give_own(a, status, text, text ? strlen(text) : 0);
	sl_visible_clear(&own);
}

static void answer_metrics(struct sl_server *s, const struct sl_http_request *q, struct sl_http_answer *a)
{
	(void) q;
	if (!s->metrics)
		s->metrics = sl_web_metrics(&s->look, s->ignore_private_data || !hides(s), time(NULL), &s->metrics_size);
	give(a, "application/openmetrics-text; version=1.0.0; charset=utf-8", s->metrics, s->metrics_size);
}

static void answer_health(struct sl_server *s, const struct sl_http_request *q, struct sl_http_answer *a)
{
	struct sl_page p = { .look = &s->look, .hides = hides(s), .now = time(NULL) };
	int status = 503;
	char *text = sl_web_health(&p, &status);

	(void) q;
	give_own(a, status, text, text ? strlen(text) : 0);
}

static const struct place {
	const char *path;
	void (*answer)(struct sl_server *s, const struct sl_http_request *q, struct sl_http_answer *a);
	bool fixed;		/* nothing has to be known */
} places[] = {
	{ "/", answer_page, true }, { "/page.css", answer_css, true }, { "/page.js", answer_js, true },
	{ "/data", answer_data, false }, { "/explain", answer_explain, false }, { "/metrics", answer_metrics, false },
	{ "/healthz", answer_health, false },
};

void sl_server_answer(void *arg, const struct sl_http_request *q, struct sl_http_answer *a)
{
	static const char nothing[] = "there is nothing here; what there is: / /explain?job=ID /data /metrics /healthz\n";
	struct sl_server *s = arg;

	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++)
		if (!strcmp(q->path, places[i].path)) {
			if (!places[i].fixed && sl_clock_s() - s->looked_s >= LOOK_S)
				look(s, 0);
			places[i].answer(s, q, a);
			return;
		}
	give(a, TEXT, nothing, sizeof(nothing) - 1);
	a->status = 404;
}
