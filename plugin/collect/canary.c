/* SPDX-License-Identifier: GPL-2.0-or-later */
/* collect/canary.c - are slurmctld's records laid out as this plug-in was compiled for? */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "plugin/collect/int.h"

/* Records of a kind that are looked at: more would prove little, and take long where there are many. */
#define ENOUGH 1000

struct record_probe {
	int pipe[2];
	bool seen;		/* a job with details was seen, which proves most */
	uint32_t jobs;
	struct sl_error *err;
};

/* True if *value* can be read at that address.  In a record of another layout the address may be any number: it is given
 * to the kernel, which returns EFAULT where reading it here would crash. */
static bool can_read(const struct record_probe *k, const uint32_t *at, uint32_t value)
{
	uint32_t found;

	return write(k->pipe[1], at, sizeof(*at)) == sizeof(*at) &&
		read(k->pipe[0], &found, sizeof(found)) == sizeof(found) && found == value;
}

static int check_job_layout(void *x, void *arg)
{
	job_record_t *job = x;
	struct record_probe *k = arg;

	if (job->magic != JOB_MAGIC || !job->job_id ||
	    (job->details ? !can_read(k, &job->details->magic, DETAILS_MAGIC) : !IS_JOB_FINISHED(job)))
		return sl_fail(k->err, SL_EVERSION, "job records");
	k->seen |= job->details != NULL;
	return ++k->jobs < ENOUGH ? 0 : -1;	/* (a negative number ends the walk) */
}

static int check_part_layout(void *x, void *arg)
{
	part_record_t *part = x;
	struct sl_error *err = arg;

	if (part->magic != PART_MAGIC || !part->name)
		return sl_fail(err, SL_EVERSION, "partition records");
	return 0;
}

int sl_collect_check_layout(struct sl_error *err)
{
	struct sl_error what = { SL_OK, "" };
	struct record_probe k = { .err = &what };
	int i;

	if (pipe2(k.pipe, O_CLOEXEC | O_NONBLOCK))
		return sl_fail(err, SL_EIO, "pipe: %s", strerror(errno));
	for (i = 0; i < MIN(node_record_count, ENOUGH); i++)
		if (node_record_table_ptr[i] && node_record_table_ptr[i]->magic != NODE_MAGIC) {
			sl_fail(&what, SL_EVERSION, "node records");
			break;
		}
	if (part_list && !what.code)
		list_for_each(part_list, check_part_layout, &what);
	if (job_list && !what.code)
		list_for_each(job_list, check_job_layout, &k);
	close(k.pipe[0]);
	close(k.pipe[1]);
	if (!what.code)
		return k.seen;
	return sl_fail(err, SL_EVERSION, "%s of this slurmctld are not laid out as those of Slurm %s, which this plug-in was built for; "
		       "rebuild it with the source of exactly the release that runs", what.text, SLURM_VERSION_STRING);
}
