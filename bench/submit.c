/* SPDX-License-Identifier: MIT */
/*
 * submit - many batch jobs, fast: one request to slurmctld each, from one process, where
 * sbatch would be a process each.
 *
 *   submit < JOBS       a job a line: "time=5 nodes=2 tasks=16 ..."; says how many there were
 *
 * Keys: time (minutes), nodes (N or N-M), tasks, cpus (per task), per_node (tasks), plane (tasks), memory (MiB of a
 * node), array (indices), exclusive (1), features, switches, partition, name, held (1).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <slurm/slurm.h>
#include <slurm/slurm_errno.h>

static char *const environment[] = { "PATH=/usr/bin:/bin", NULL };

static void set_nodes(job_desc_msg_t *job, const char *value)
{
	char *end;

	job->min_nodes = job->max_nodes = (uint32_t) strtoul(value, &end, 10);
	if (*end == '-')
		job->max_nodes = (uint32_t) strtoul(end + 1, NULL, 10);
}

static void set_plane(job_desc_msg_t *job, uint16_t tasks)
{
	job->task_dist = SLURM_DIST_PLANE;
	job->plane_size = tasks;
}

/* 0; -1: there is no such key. */
static int set_key(job_desc_msg_t *job, const char *key, char *value)
{
	uint32_t number = (uint32_t) strtoul(value, NULL, 10);

	if (!strcmp(key, "time"))
		job->time_limit = number;
	else if (!strcmp(key, "nodes"))
		set_nodes(job, value);
	else if (!strcmp(key, "tasks"))
		job->num_tasks = number;
	else if (!strcmp(key, "cpus"))
		job->cpus_per_task = (uint16_t) number;
	else if (!strcmp(key, "per_node"))
		job->ntasks_per_node = (uint16_t) number;
	else if (!strcmp(key, "plane"))
		set_plane(job, (uint16_t) number);
	else if (!strcmp(key, "memory"))
		job->pn_min_memory = number;
	else if (!strcmp(key, "array"))
		job->array_inx = value;
	else if (!strcmp(key, "exclusive"))
		job->shared = 0;
	else if (!strcmp(key, "features"))
		job->features = value;
	else if (!strcmp(key, "switches"))
		job->req_switch = number;
	else if (!strcmp(key, "partition"))
		job->partition = value;
	else if (!strcmp(key, "name"))
		job->name = value;
	else if (!strcmp(key, "held"))
		job->priority = 0;
	else
		return -1;
	return 0;
}

/* What tasks and cores a request implies, as sbatch says it. */
static void fill_in(job_desc_msg_t *job)
{
	uint32_t cpus = job->cpus_per_task == NO_VAL16 ? 1 : job->cpus_per_task;

	if (job->ntasks_per_node != NO_VAL16 && job->num_tasks == NO_VAL && job->min_nodes != NO_VAL)
		job->num_tasks = job->min_nodes * job->ntasks_per_node;
	job->min_cpus = (job->num_tasks == NO_VAL ? (job->min_nodes == NO_VAL ? 1 : job->min_nodes) :
			 job->num_tasks) * cpus;
}

static int submit_line(char *line, unsigned long number)
{
	submit_response_msg_t *answer = NULL;
	job_desc_msg_t job;
	char *rest = NULL, *word, *value;

	slurm_init_job_desc_msg(&job);
	job.name = "bench";
	job.script = "#!/bin/sh\nexec sleep 600\n";
	job.work_dir = "/";
	job.std_out = job.std_err = "/dev/null";
	job.user_id = getuid();
	job.group_id = getgid();
	job.environment = (char **) environment;
	job.env_size = 1;
	for (word = strtok_r(line, " \n", &rest); word; word = strtok_r(NULL, " \n", &rest)) {
		if ((value = strchr(word, '=')))
			*value++ = '\0';
		if (!value || set_key(&job, word, value)) {
			fprintf(stderr, "submit: line %lu: %s: no such key\n", number, word);
			return -1;
		}
	}
	fill_in(&job);
	if (slurm_submit_batch_job(&job, &answer)) {
		fprintf(stderr, "submit: line %lu: %s\n", number, slurm_strerror(slurm_get_errno()));
		return -1;
	}
	slurm_free_submit_response_response_msg(answer);
	return 0;
}

int main(void)
{
	unsigned long number = 0;
	char line[1024];

	slurm_init(NULL);
	while (fgets(line, sizeof(line), stdin))
		if (submit_line(line, ++number))
			return 1;
	printf("%lu\n", number);
	slurm_fini();
	return 0;
}
