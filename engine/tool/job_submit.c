/* SPDX-License-Identifier: MIT */
#include "tool/job_submit.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "base/lines.h"

#define MOST_LINES 100000

/* What Slurm calls in such scripts, and who does. */
static const struct {
	const char *function, *who;
} calls[] = {
	{ "slurm_job_submit", "job_submit.lua: slurmctld calls it for each job that is submitted (JobSubmitPlugins=lua)" },
	{ "slurm_job_modify", "job_submit.lua: slurmctld calls it for each job that is changed (JobSubmitPlugins=lua)" },
	{ "slurm_cli_pre_submit", "cli_filter.lua: sbatch, salloc and srun call it (CliFilterPlugins=lua)" },
	{ "slurm_cli_post_submit", "cli_filter.lua: sbatch, salloc and srun call it (CliFilterPlugins=lua)" },
	{ "slurm_cli_setup_defaults", "cli_filter.lua: sbatch, salloc and srun call it (CliFilterPlugins=lua)" },
};

#define CALLS (sizeof(calls) / sizeof(calls[0]))

/* What stands in such functions, and what it would be in a policy. */
static const struct {
	const char *words, *becomes;
} parts[] = {
	{ "slurm.ERROR", "a refusal: admit(job, cluster) in a policy keeps a job waiting, with a reason that its user reads, and looks "
			 "again in each cycle; to refuse it at submission stays here" },
	{ "slurm.ESLURM", "a refusal, as above" },
	{ ".priority =", "a priority: rank(job, cluster) in a policy orders the queue anew in each cycle" },
	{ ".nice =", "a priority, as above" },
	{ "slurm.user_msg", "a message: the second value of admit() is what squeue shows of a job that waits" },
	{ "slurm.log_user", "a message, as slurm.user_msg" },
	{ "os.date", "a rule by the clock, which holds for when the job is submitted: cluster.clock and sched.when hold for when it "
		     "starts (doc/cookbook.md, By time)" },
	{ ".partition =", "a choice of partition: stays here; sched.borrow lets jobs have nodes of another one (doc/borrowing.md)" },
	{ ".qos =", "a choice of QOS: stays here" },
	{ ".features =", "a request: stays here" },
	{ ".time_limit =", "a time limit: stays here; a policy has plan:modify(), and alternatives in the comment (doc/requests.md)" },
};

#define PARTS (sizeof(parts) / sizeof(parts[0]))

static bool is_name_byte(char c)
{
	return isalnum((unsigned char) c) || c == '_';
}

/* Does the line define that function?  "function f(", "f = function". */
static bool defines(const char *line, const char *function)
{
	size_t n = strlen(function);

	for (const char *p = line; (p = strstr(p, function)) != NULL; p += n) {
		const char *before = p, *after = p + n;

		if ((p > line && is_name_byte(p[-1])) || is_name_byte(*after))
			continue;
		while (before > line && before[-1] == ' ')
			before--;
		if (before - line >= 8 && !strncmp(before - 8, "function", 8))
			return true;
		after += strspn(after, " \t");
		if (*after == '=' && after[1] != '=' && !strncmp(after + 1 + strspn(after + 1, " \t"), "function", 8))
			return true;
	}
	return false;
}

/* Is it there, with any blanks before "="? */
static bool has_words(const char *line, const char *words)
{
	const char *blank = strchr(words, ' ');
	size_t n = blank ? (size_t) (blank - words) : strlen(words);

	for (const char *p = line; *p; p++) {
		const char *after = p + n;

		if (strncmp(p, words, n))
			continue;
		if (!blank)
			return true;
		after += strspn(after, " \t");
		if (*after == '=' && after[1] != '=')
			return true;
	}
	return false;
}

struct found {
	uint64_t call[CALLS], part[PARTS];	/* the first line of each; 0: not there */
	bool any;
};

static void look_at(struct found *f, char *line, uint64_t number)
{
	char *comment = strstr(line, "--");

	if (comment)
		*comment = 0;
	for (size_t i = 0; i < CALLS; i++)
		if (!f->call[i] && defines(line, calls[i].function)) {
			f->call[i] = number;
			f->any = true;
		}
	for (size_t i = 0; i < PARTS; i++)
		if (!f->part[i] && has_words(line, parts[i].words))
			f->part[i] = number;
}

static void tell(const struct found *f, const char *path, FILE *out)
{
	for (size_t i = 0; i < CALLS; i++)
		if (f->call[i])
			fprintf(out, "%s:%" PRIu64 ": %s() is of a %s\n", path, f->call[i], calls[i].function, calls[i].who);
	fprintf(out, "%s: this is no policy of sched/lua, and nothing has to become of it: Slurm goes on calling it as before.\n"
		"What of it could be a policy, which sees the whole queue and the machine in each cycle:\n", path);
	for (size_t i = 0; i < PARTS; i++)
		if (f->part[i])
			fprintf(out, "  line %" PRIu64 ", %s: %s\n", f->part[i], parts[i].words, parts[i].becomes);
	fprintf(out, "doc/write-a-policy.md (From job_submit.lua) has an example of each, and a spec that tries them; "
		"doc/job-submit.md says\nhow to test this file itself.\n");
}

bool sl_job_submit_tell(const char *path, FILE *out)
{
	struct sl_lines *l = sl_lines_open(path, NULL);
	struct found f = { .any = false };
	char *line;

	if (!l || sl_lines_must_be_file(l, NULL)) {
		sl_lines_close(l);
		return false;
	}
	while (sl_lines_number(l) < MOST_LINES && sl_lines_next(l, &line, NULL) > 0)
		look_at(&f, line, sl_lines_number(l));
	sl_lines_close(l);
	if (f.any)
		tell(&f, path, out);
	return f.any;
}
