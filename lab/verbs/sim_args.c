/* SPDX-License-Identifier: MIT */
#include "verbs/sim_args.h"
#include "tool/tool.h"

#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

const char *sl_sim_args_wrong(const struct sl_sim_args *a)
{
	if (a->latency && a->latency >= a->interval)
		return "--latency: expected less than --interval";
	if (a->each_end && a->interval)
		return "--each-end: not with --interval";
	return a->arrivals_first && a->interval ? "--arrivals-first: not with --interval" : NULL;
}

int sl_sim_args_part(const char *text, uint32_t *part, uint32_t *parts, struct sl_error *err)
{
	char rest;

	if (text && (sscanf(text, "%" SCNu32 "/%" SCNu32 "%c", part, parts, &rest) != 2 || *part >= *parts))
		return sl_fail(err, SL_EINVAL, "--part=%s: expected I/N with I from 0 to N - 1, as in 3/10", text);
	return 0;
}

struct sl_sim_options sl_sim_args(const struct sl_sim_args *a)
{
	return (struct sl_sim_options) {
		.interval_s = a->interval, .latency_s = a->latency, .requeue_wait_s = a->requeue_wait, .each_end = a->each_end,
		.arrivals_first = a->arrivals_first,
	};
}

static void __attribute__((format(printf, 3, 4))) add(char *text, size_t size, const char *fmt, ...)
{
	size_t n = strlen(text);
	va_list ap;

	if (n && n + 3 < size)
		n += (size_t) snprintf(text + n, size - n, ", ");
	va_start(ap, fmt);
	vsnprintf(text + n, size - n, fmt, ap);
	va_end(ap);
}

/* Those that change what is simulated, in words. */
static void print_name(const struct sl_sim_args *a, const struct sl_workload_args *w, char *text, size_t size)
{
	*text = 0;
	if (a->interval)
		add(text, size, "interval %" PRId64 " s", a->interval);
	if (a->requeue_wait)
		add(text, size, "requeued after %" PRId64 " s", a->requeue_wait);
	if (a->latency)
		add(text, size, "latency %" PRId64 " s", a->latency);
	if (a->each_end)
		add(text, size, "a decision after each job that ends");
	if (a->arrivals_first)
		add(text, size, "arrivals before ends");
	if (w->estimate && strcmp(w->estimate, "user"))
		add(text, size, "estimate %s", w->estimate);
	if (w->outstay)
		add(text, size, "jobs outstay too small walltimes");
	else if (w->overrun)
		add(text, size, "overrun");
	if (w->tiers)
		add(text, size, "tiers %s", w->tiers);
	if (w->requested_procs)
		add(text, size, "requested processors");
	if (w->from)
		add(text, size, "from %s", w->from);
	if (w->to)
		add(text, size, "to %s", w->to);
	if (w->skip)
		add(text, size, "without the first %" PRId64 " jobs", w->skip);
	if (w->first)
		add(text, size, "first %" PRId64 " jobs", w->first);
}

int sl_sim_args_page(const struct sl_sim_args *a, const struct sl_workload_args *args, const struct sl_workload *w,
		     struct sl_page *page, struct sl_error *err)
{
	char options[256], pool[48];
	const struct sl_page_about about = {
		.command = sl_tool_command(), .machine = args->procs ? pool : args->machine, .options = options, .seed = (uint64_t) args->seed,
	};

	snprintf(pool, sizeof(pool), "a pool of %" PRId64 " processors", args->procs);
	print_name(a, args, options, sizeof(options));
	return sl_page_workload(page, w, &about, err);
}

const char *sl_sim_args_base(const char *workload)
{
	const char *slash = strrchr(workload, '/');

	return slash && slash[1] ? slash + 1 : workload;
}

void sl_sim_args_warn(uint64_t solves_cut)
{
	if (solves_cut)
		fprintf(stderr, "schedlua: warning: the clock ended %" PRIu64 " integer programs long before their work "
			"was done: on another machine the schedule may be another one\n", solves_cut);
}

void sl_sim_args_tell_lacks(const struct sl_page *page)
{
	const char *lacks = page ? sl_page_lacks(page) : NULL;

	if (lacks)
		fprintf(stderr, "schedlua: warning: %s\n", lacks);
}
