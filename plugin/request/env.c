/* SPDX-License-Identifier: GPL-2.0-or-later */
/* env.c - see env.h */
#include "plugin/request/env.h"

static const char env_mark[] = "SCHEDLUA_SHAPE=";

static uint32_t mark_of(const sl_details_t *d)
{
	uint32_t i;

	for (i = 0; d->env_sup && i < d->env_cnt; i++)
		if (!xstrncmp(d->env_sup[i], env_mark, sizeof(env_mark) - 1))
			return i;
	return d->env_cnt;
}

uint32_t sl_env_shape(const sl_details_t *d)
{
	uint32_t i = mark_of(d);

	return i < d->env_cnt ? (uint32_t) strtoul(d->env_sup[i] + sizeof(env_mark) - 1, NULL, 10) : 0;
}

/* What is ours stands last. */
void sl_env_clear(sl_details_t *d)
{
	uint32_t i, from = mark_of(d);

	for (i = from; i < d->env_cnt; i++)
		xfree(d->env_sup[i]);
	d->env_cnt = (uint16_t) from;
}

static void add_env(sl_details_t *d, const char *name, uint32_t value)
{
	d->env_sup[d->env_cnt++] = xstrdup_printf("%s=%u", name, value);
}

static void add_text(sl_details_t *d, const char *name, const char *text)
{
	d->env_sup[d->env_cnt++] = xstrdup_printf("%s=%s", name, text);
}

/* The GPUs of the shape that are counted so, as srun's options have them: "2" or "a100:2,h100:1". */
static char *gpus_of(const struct sl_snapshot *snap, struct sl_range gres, uint32_t per, const char *prefix)
{
	char *text = xstrdup("");
	uint32_t i;

	for (i = gres.first; i < gres.first + gres.count; i++) {
		const char *type = sl_snapshot_str(snap, snap->job_gres.type[i]);

		if (snap->job_gres.per[i] == per && !strcmp(sl_snapshot_str(snap, snap->job_gres.name[i]), "gpu"))
			xstrfmtcat(text, "%s%s%s%s%u", *text ? "," : "", prefix, type, *type ? ":" : "",
				   snap->job_gres.count[i]);
	}
	return text;
}

static char *bind_of(const struct sl_snapshot *snap, struct sl_range gres)
{
	uint32_t i, gpus = 0;

	for (i = gres.first; i < gres.first + gres.count; i++)
		if (snap->job_gres.per[i] == SL_PER_TASK &&
		    !strcmp(sl_snapshot_str(snap, snap->job_gres.name[i]), "gpu"))
			gpus += snap->job_gres.count[i];
	return gpus ? xstrdup_printf(SL_ENV_BIND_GPU "%u", gpus) : xstrdup("");
}

/*
 * What srun would take from sbatch's command line.  Nothing can be taken away from an
 * environment, but srun takes an empty text for no option at all.
 */
static void add_gpus(sl_details_t *d, const struct sl_snapshot *snap, struct sl_range gres,
		     const struct sl_gpus_then *had)
{
	char *job = gpus_of(snap, gres, SL_PER_JOB, ""), *node = gpus_of(snap, gres, SL_PER_NODE, "");
	char *task = gpus_of(snap, gres, SL_PER_TASK, SL_ENV_PER_TASK_GPU);

	if (had->job || *job)
		add_text(d, "SLURM_GPUS", job);
	if (had->node || *node)
		add_text(d, "SLURM_GPUS_PER_NODE", node);
	if (had->task || *task)
		add_text(d, SL_ENV_PER_TASK, task);
	if (had->task) {	/* sbatch may have bound tasks to as many */
		char *bind = bind_of(snap, gres);

		add_text(d, "SLURM_TRES_BIND", bind);
		xfree(bind);
	}
	xfree(job);
	xfree(node);
	xfree(task);
}

void sl_env_set(sl_details_t *d, uint32_t n, bool per_node, const struct sl_snapshot *snap, uint32_t shape,
		const struct sl_gpus_then *had)
{
	sl_env_clear(d);
	xrecalloc(d->env_sup, d->env_cnt + 8, sizeof(*d->env_sup));
	add_env(d, "SCHEDLUA_SHAPE", n);
	add_env(d, "SLURM_NTASKS", d->num_tasks);
	add_env(d, "SLURM_NPROCS", d->num_tasks);
	if (per_node || d->ntasks_per_node)
		/* it cannot be taken away: a bound that does not bind */
		add_env(d, "SLURM_NTASKS_PER_NODE", d->ntasks_per_node ? d->ntasks_per_node : d->num_tasks);
	add_gpus(d, snap, snap->shape.gres[shape], had);
}
