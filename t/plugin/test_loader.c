/* SPDX-License-Identifier: MIT */
/*
 * test_loader.c - the loader, opened as slurmctld opens it: this program has what it takes from
 * slurmctld, and the plug-ins that it opens tell what was called.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define RELEASE 0x170b05u	/* 23.11.5 */
#define REAL "schedlua/sched_lua-23.11.5.so"

extern int slurm_error(const char *fmt, ...);
extern void slurm_print_ctl_conf(FILE *out, void *conf);
extern char slurm_conf[];
extern void fake_called(const char *file, const char *what);

char slurm_conf[4] = "me";
static char top[] = "/tmp/test_loader.XXXXXX", log_text[8192], calls[4096];
static const char *parameters = "defer,sched_interval=-1";
static void *loaded_before;	/* a plug-in of the release that runs */

int slurm_error(const char *fmt, ...)
{
	size_t used = strlen(log_text);
	va_list args;

	va_start(args, fmt);
	vsnprintf(log_text + used, sizeof(log_text) - used, fmt, args);
	va_end(args);
	strncat(log_text, "\n", sizeof(log_text) - strlen(log_text) - 1);
	return -1;
}

void slurm_print_ctl_conf(FILE *out, void *conf)
{
	assert_ptr_equal(conf, slurm_conf);
	fprintf(out, "Configuration data as of now\nPluginDir               = %s/plugins:%s/slurm\n", top, top);
	fprintf(out, "SchedulerParameters     = %s\n", parameters);
	fprintf(out, "StateSaveLocationOld    = /nowhere\nStateSaveLocation       = %s/state\n", top);
}

void fake_called(const char *file, const char *what)
{
	size_t used = strlen(calls);

	assert_int_equal(strncmp(file, top, strlen(top)), 0);
	snprintf(calls + used, sizeof(calls) - used, "%s %s\n", file + strlen(top) + 1, what);
}

/* -- files ------------------------------------------------------------------ */

static const char *in_top(const char *name)
{
	static char path[2][300];
	static int n;

	n = !n;
	snprintf(path[n], sizeof(path[n]), "%s/%s", top, name);
	return path[n];
}

static char *bytes_of(const char *path, size_t *size)
{
	FILE *in = fopen(path, "re");
	char *bytes = malloc(1 << 22);

	assert_non_null(in);
	assert_non_null(bytes);
	*size = fread(bytes, 1, 1 << 22, in);
	assert_in_range(*size, 1, (1 << 22) - 1);
	fclose(in);
	return bytes;
}

static void write_bytes(const char *name, const void *bytes, size_t size)
{
	FILE *out;

	unlink(in_top(name));
	assert_non_null(out = fopen(in_top(name), "we"));
	assert_int_equal(fwrite(bytes, 1, size, out), size);
	fclose(out);
}

static void install(const char *name, const char *module)
{
	char path[4096];
	size_t size;
	char *bytes;

	snprintf(path, sizeof(path), "%s/%s", getenv("LOADER_MODULES"), module);
	bytes = bytes_of(path, &size);
	write_bytes(name, bytes, size);
	free(bytes);
}

static bool status_has(const char *text)
{
	FILE *in = fopen(in_top("state/schedlua/status.json"), "re");
	char all[8192] = "";

	if (!in)
		return false;
	all[fread(all, 1, sizeof(all) - 1, in)] = '\0';
	fclose(in);
	return strstr(all, text);
}

/* A PluginDir of ours with the loader, and the one of Slurm with its backfill. */
static int begin(void **state)
{
	(void) state;
	setenv("FAKE_RELEASE", "0x170b05", 1);
	unsetenv("FAKE_FAILS");
	strcpy(top, "/tmp/test_loader.XXXXXX");
	assert_non_null(mkdtemp(top));
	chmod(top, 0755);
	mkdir(in_top("plugins"), 0755);
	mkdir(in_top("plugins/schedlua"), 0755);
	mkdir(in_top("slurm"), 0755);
	mkdir(in_top("state"), 0755);
	install("plugins/sched_lua.so", "loader.so");
	install("plugins/" REAL, "fake_plugin.so");
	install("slurm/sched_backfill.so", "fake_plugin.so");
	install("slurm/auth_fake.so", "fake_plugin.so");
	assert_non_null(loaded_before = dlopen(in_top("slurm/auth_fake.so"), RTLD_LAZY));
	*log_text = *calls = '\0';
	return 0;
}

static int end(void **state)
{
	char command[100];

	(void) state;
	dlclose(loaded_before);
	snprintf(command, sizeof(command), "rm -rf '%s'", top);
	return system(command);
}

/* What slurmctld does: open, compare, init; sched_p_reconfig; fini, close. */
static void run_loader(const char *name)
{
	void *h = dlopen(in_top(name), RTLD_LAZY);
	int (*f)(void);
	void (*leave)(void);

	if (!h)
		fail_msg("%s", dlerror());
	assert_int_equal(*(uint32_t *) dlsym(h, "plugin_version"), RELEASE);
	assert_non_null(dlsym(h, "plugin_name"));
	assert_non_null(dlsym(h, "plugin_type"));
	*(void **) &f = dlsym(h, "init");
	assert_int_equal(f(), 0);
	*(void **) &f = dlsym(h, "sched_p_reconfig");
	assert_int_equal(f(), 0);
	*(void **) &leave = dlsym(h, "fini");
	leave();
	dlclose(h);
}

static void expect_calls(const char *file)
{
	char want[400];

	snprintf(want, sizeof(want), "%s init\n%s reconfigure\n%s fini\n", file, file, file);
	assert_string_equal(calls, want);
}

/* Backfill schedules, and log and status say why. */
static void expect_stock(const char *why)
{
	expect_calls("slurm/sched_backfill.so");
	assert_non_null(strstr(log_text, "no policy decides on Slurm 23.11.5"));
	assert_non_null(strstr(log_text, "Slurm's own backfill schedules"));
	if (!strstr(log_text, why))
		fail_msg("expected \"%s\" in: %s", why, log_text);
	assert_true(status_has("\"source\": \"stock\""));
	assert_true(status_has("\"slurm_version\": \"23.11.5\""));
	assert_true(status_has(why));
}

/* -- tests ------------------------------------------------------------------ */

static void test_it_opens_the_plugin_of_the_running_release(void **state)
{
	(void) state;
	install("plugins/schedlua/sched_lua-22.05.8.so", "fake_plugin.so");
	run_loader("plugins/sched_lua.so");
	expect_calls("plugins/" REAL);
	assert_string_equal(log_text, "");
	assert_false(status_has(""));
}

static void test_under_the_name_of_backfill_it_opens_the_same(void **state)
{
	(void) state;
	install("plugins/schedlua/sched_backfill.so", "loader.so");
	run_loader("plugins/schedlua/sched_backfill.so");
	expect_calls("plugins/" REAL);
}

static void test_without_it_backfill_schedules_and_those_there_are_named(void **state)
{
	(void) state;
	unlink(in_top("plugins/" REAL));
	install("plugins/schedlua/sched_lua-22.05.8.so", "fake_plugin.so");
	install("plugins/schedlua/sched_lua-24.11.5.so", "fake_plugin.so");
	run_loader("plugins/sched_lua.so");
	expect_stock("sched_lua-23.11.5.so; there is 22.05.8 24.11.5");
}

static void test_a_loader_is_no_backfill(void **state)
{
	(void) state;
	unlink(in_top("plugins/" REAL));
	install("plugins/sched_backfill.so", "loader.so");
	run_loader("plugins/sched_lua.so");
	expect_stock("there is no");
}

static void test_one_of_another_release_under_a_wrong_name_is_refused(void **state)
{
	(void) state;
	setenv("FAKE_RELEASE", "0x170b06", 1);
	run_loader("plugins/sched_lua.so");
	assert_string_equal(calls, "");		/* nor is a backfill of another release called */
	assert_non_null(strstr(log_text, REAL ": built for Slurm 23.11.6"));
	assert_non_null(strstr(log_text, "nothing is started"));
	assert_true(status_has("\"source\": \"idle\""));
}

static void test_what_is_no_plugin_is_refused(void **state)
{
	(void) state;
	write_bytes("plugins/" REAL, "#!/bin/sh\n", 10);
	run_loader("plugins/sched_lua.so");
	expect_stock("no shared object");
	*log_text = *calls = '\0';
	write_bytes("plugins/" REAL, "", 0);
	run_loader("plugins/sched_lua.so");
	expect_stock("no shared object");
	*log_text = *calls = '\0';
	unlink(in_top("plugins/" REAL));
	mkdir(in_top("plugins/" REAL), 0755);
	run_loader("plugins/sched_lua.so");
	expect_stock("no regular file");
}

/* dlopen() itself would end in a bus error. */
static void test_one_that_is_cut_off_anywhere_is_refused(void **state)
{
	size_t size;
	char *bytes = bytes_of(in_top("plugins/" REAL), &size);

	(void) state;
	for (size_t n = 1; n < size; n += 97) {
		write_bytes("plugins/" REAL, bytes, n);
		*log_text = *calls = '\0';
		run_loader("plugins/sched_lua.so");
		expect_stock(n < 64 ? "no shared object" : "cut off");
	}
	free(bytes);
}

static void test_partitions_that_are_to_be_held_start_nothing(void **state)
{
	(void) state;
	unlink(in_top("plugins/" REAL));
	mkdir(in_top("state/schedlua"), 0755);
	write_bytes("state/schedlua/last-good.hold", "only gpu", 8);
	run_loader("plugins/sched_lua.so");
	assert_string_equal(calls, "");
	assert_non_null(strstr(log_text, "only gpu is to be held"));
	assert_true(status_has("\"source\": \"idle\""));
	write_bytes("state/schedlua/last-good.hold", "nonsense", 8);
	run_loader("plugins/sched_lua.so");
	assert_string_equal(calls, "");
	assert_non_null(strstr(log_text, "all is to be held"));
	*log_text = '\0';
	parameters = "bf_interval=1,lua_shadow=backfill";	/* where Slurm decides, nothing is held */
	run_loader("plugins/sched_lua.so");
	expect_stock("there is no");
	parameters = "defer,sched_interval=-1";
	*log_text = *calls = '\0';
	write_bytes("state/schedlua/last-good.hold", "none", 4);
	run_loader("plugins/sched_lua.so");
	expect_stock("there is no");
}

static void test_without_backfill_nothing_is_started_and_slurmctld_goes_on(void **state)
{
	(void) state;
	unlink(in_top("plugins/" REAL));
	unlink(in_top("slurm/sched_backfill.so"));
	run_loader("plugins/sched_lua.so");
	assert_string_equal(calls, "");
	assert_non_null(strstr(log_text, "there is no sched_backfill.so in PluginDir"));
	assert_true(status_has("\"source\": \"idle\""));
}

static void test_one_that_does_not_begin_is_closed(void **state)
{
	(void) state;
	setenv("FAKE_FAILS", "1", 1);
	run_loader("plugins/sched_lua.so");
	assert_string_equal(calls, "plugins/" REAL " init\n");
	assert_non_null(strstr(log_text, "does not begin"));
}

/* slurmctld refuses it then, as it would without the loader. */
static void test_without_another_plugin_it_knows_no_release(void **state)
{
	void *h;

	(void) state;
	dlclose(loaded_before);
	assert_non_null(h = dlopen(in_top("plugins/sched_lua.so"), RTLD_LAZY));
	assert_int_equal(*(uint32_t *) dlsym(h, "plugin_version"), 0);
	dlclose(h);
	assert_non_null(loaded_before = dlopen(in_top("slurm/auth_fake.so"), RTLD_LAZY));
}

/* Root reads everything: as somebody else, in a process of its own. */
static void test_one_that_cannot_be_read_is_refused(void **state)
{
	int status;
	pid_t pid;

	(void) state;
	chmod(in_top("plugins/" REAL), 0);
	chmod(in_top("state"), 0777);
	pid = fork();
	if (!pid) {
		if (!getuid() && setuid(65534))
			_exit(3);
		run_loader("plugins/sched_lua.so");
		expect_stock("Permission denied");
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup_teardown(name, begin, end)
		T(test_it_opens_the_plugin_of_the_running_release),
		T(test_under_the_name_of_backfill_it_opens_the_same),
		T(test_without_it_backfill_schedules_and_those_there_are_named),
		T(test_a_loader_is_no_backfill),
		T(test_one_of_another_release_under_a_wrong_name_is_refused),
		T(test_what_is_no_plugin_is_refused),
		T(test_one_that_is_cut_off_anywhere_is_refused),
		T(test_partitions_that_are_to_be_held_start_nothing),
		T(test_without_backfill_nothing_is_started_and_slurmctld_goes_on),
		T(test_one_that_does_not_begin_is_closed),
		T(test_one_that_cannot_be_read_is_refused),
		T(test_without_another_plugin_it_knows_no_release),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
