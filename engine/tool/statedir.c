/* SPDX-License-Identifier: MIT */
#include "tool/statedir.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "conf/conf.h"
#include "tool/member.h"

#define STATE_KEY "StateSaveLocation"
#define WORDS_KEY "SchedulerParameters"

static const char *conf_path(void)
{
	const char *conf = getenv("SLURM_CONF");

	return conf && *conf ? conf : "/etc/slurm/slurm.conf";
}

/* What scontrol says: "KEY   = value" in one of its lines.  malloc'ed, or NULL. */
static char *ask_scontrol(const char *key)
{
	FILE *in = popen("timeout 10 scontrol show config 2>/dev/null", "re");
	char *line = NULL, *value, *found = NULL;
	size_t room = 0, n = strlen(key);

	while (in && !found && getline(&line, &room, in) >= 0) {
		if (strncasecmp(line, key, n))
			continue;
		value = line + n + strspn(line + n, " ");
		if (*value++ != '=')
			continue;
		value += strspn(value, " ");
		value[strcspn(value, "\r\n")] = 0;
		found = *value ? strdup(value) : NULL;
	}
	free(line);
	if (in)
		pclose(in);
	return found;
}

/* What slurm.conf says; a value with %n or %h is for slurmctld to expand.  malloc'ed, or NULL. */
static char *ask_file(const char *key)
{
	struct sl_conf *c = sl_conf_read(conf_path(), SL_CONF_SETTINGS, NULL);
	const struct sl_conf_value *v = c ? sl_conf_get(c, key) : NULL;
	char *found = v && *v->value && !strchr(v->value, '%') ? strdup(v->value) : NULL;

	sl_conf_destroy(c);
	return found;
}

/* The same, or what scontrol says where that does not say it.  malloc'ed, or NULL. */
static char *ask_conf(const char *key)
{
	char *found = ask_file(key);

	return found ? found : ask_scontrol(key);
}

/* The value of a word such as lua_site.  0, or -1: it is not there. */
static int ask_word(const char *word, char *value, size_t size)
{
	char *words = ask_conf(WORDS_KEY), *save = NULL;
	size_t n = strlen(word);
	int rc = -1;

	for (char *w = words ? strtok_r(words, ", ", &save) : NULL; w; w = strtok_r(NULL, ", ", &save))
		if (!strncmp(w, word, n) && w[n] == '=' && snprintf(value, size, "%s", w + n + 1) < (int) size)
			rc = 0;
	free(words);
	return rc;
}

static int find_by(char *(*ask)(const char *key), const char *option, char *dir, size_t size, struct sl_error *err)
{
	char *state;
	int rc = 0;

	if (option) {
		if (snprintf(dir, size, "%s", option) >= (int) size)
			return sl_fail(err, SL_EINVAL, "--dir: the path is too long");
		return 0;
	}
	state = ask(STATE_KEY);
	if (!state || strchr(state, '%') || snprintf(dir, size, "%s/schedlua", state) >= (int) size)
		rc = sl_fail(err, SL_ENOENT, "no " STATE_KEY " in %s%s: say --dir=DIRECTORY", conf_path(),
			     ask == ask_conf ? ", and \"scontrol show config\" gives none" : "");
	free(state);
	return rc;
}

int sl_statedir_find(const char *option, char *dir, size_t size, struct sl_error *err)
{
	return find_by(ask_conf, option, dir, size, err);
}

int sl_statedir_find_here(const char *option, char *dir, size_t size, struct sl_error *err)
{
	return find_by(ask_file, option, dir, size, err);
}

/* May we read the journal there?  0, or why not. */
static int look_for_journal(const char *dir)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/decisions.jsonl", dir);
	return faccessat(AT_FDCWD, path, R_OK, AT_EACCESS) ? errno : 0;
}

int sl_statedir_find_journal(const char *option, char *dir, size_t size, struct sl_error *err)
{
	if (sl_statedir_find(option, dir, size, err))
		return -1;
	if (option || look_for_journal(dir) != EACCES)
		return 0;
	if (ask_word("lua_publish", dir, size))
		return sl_fail(err, SL_ETRUST, "%s: only root and SlurmUser may read the decisions (lua_publish=DIRECTORY "
			       "in slurm.conf shows them to all users)", dir);
	if (look_for_journal(dir))
		return sl_fail(err, SL_ETRUST, "%s: no decisions are published there (is there PrivateData in slurm.conf?)",
			       dir);
	return 0;
}

int sl_statedir_site(char *path, size_t size)
{
	const char *conf = conf_path(), *slash = strrchr(conf, '/');

	if (!ask_word("lua_site", path, size))
		return 0;
	return slash && snprintf(path, size, "%.*s/sched.lua", (int) (slash - conf), conf) < (int) size ? 0 : -1;
}

int sl_statedir_private(char *words, size_t size)
{
	struct sl_conf *conf = sl_conf_read(conf_path(), SL_CONF_SETTINGS, NULL);
	char *(*ask)(const char *key) = conf ? ask_file : ask_scontrol;
	char *data = ask("PrivateData"), *mcs = ask("MCSParameters");
	int rc = -1;

	/* Slurm prints a value for either; in slurm.conf none need be there */
	if (data || mcs || conf)
		rc = snprintf(words, size, "%s%s", data && strcasecmp(data, "(null)") ? data : "",
			      mcs && strcasestr(mcs, "privatedata") ? ",mcs" : "") < (int) size ? 0 : -1;
	sl_conf_destroy(conf);
	free(data);
	free(mcs);
	return rc;
}

void sl_statedir_shadow(const char *only, const char *dir, char *stock, size_t size)
{
	char path[PATH_MAX];
	json_t *status;

	*stock = 0;
	snprintf(path, sizeof(path), "%s/status.json", dir);
	status = *dir ? json_load_file(path, 0, NULL) : NULL;
	if (status)
		snprintf(stock, size, "%s", sl_member_text(status, "shadow"));
	else if (!only && ask_word("lua_shadow", stock, size))
		*stock = 0;
	json_decref(status);
}
