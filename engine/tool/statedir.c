/* SPDX-License-Identifier: MIT */
#include "tool/statedir.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define KEY "StateSaveLocation"

/* The value of "StateSaveLocation=/path" or "StateSaveLocation = /path", or NULL. */
static char *value_of(char *line)
{
	char *value = line + strspn(line, " \t");

	if (strncasecmp(value, KEY, strlen(KEY)))
		return NULL;
	value += strlen(KEY);
	value += strspn(value, " \t");
	if (*value++ != '=')
		return NULL;
	value += strspn(value, " \t");
	value[strcspn(value, " \t\r\n#")] = 0;
	return *value ? value : NULL;
}

/* Look for it in a stream; the last one counts, as in Slurm.  1 when found. */
static int search_stream(FILE *in, char *dir, size_t size)
{
	char *line = NULL, *value;
	size_t room = 0;
	int found = 0;

	while (getline(&line, &room, in) >= 0) {
		value = value_of(line);
		if (value)
			found = snprintf(dir, size, "%s/schedlua", value) < (int) size;
	}
	free(line);
	return found;
}

int sl_statedir_find(const char *option, char *dir, size_t size, struct sl_error *err)
{
	const char *conf = getenv("SLURM_CONF");
	FILE *in;
	int found = 0;

	if (option) {
		if (snprintf(dir, size, "%s", option) >= (int) size)
			return sl_fail(err, SL_EINVAL, "--dir: the path is too long");
		return 0;
	}
	if (!conf || !*conf)
		conf = "/etc/slurm/slurm.conf";
	in = fopen(conf, "re");
	if (in) {
		found = search_stream(in, dir, size);
		fclose(in);
	}
	/* a value with %n or %h is for slurmctld to expand */
	if (!found || strchr(dir, '%')) {
		in = popen("scontrol show config 2>/dev/null", "re");
		found = in && search_stream(in, dir, size);
		if (in)
			pclose(in);
	}
	if (!found)
		return sl_fail(err, SL_ENOENT, "no " KEY " in %s, and \"scontrol show config\" gives none: "
			       "say --dir=DIRECTORY", conf);
	return 0;
}
