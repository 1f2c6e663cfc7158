/* SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "bundle/bundle.h"

#define STRANGER 65534

/* A directory of its own for each test: DIR/policies, and files written there. */
static char dir[] = "/tmp/test_bundle.XXXXXX";

static const char *in_dir(const char *name)
{
	static char path[8][4096];
	static unsigned turn;
	char *p = path[turn++ % 8];

	snprintf(p, sizeof(path[0]), "%s/%s", dir, name);
	return p;
}

static void write_text(const char *name, const char *text)
{
	FILE *f = fopen(in_dir(name), "w");

	assert_non_null(f);
	fputs(text, f);
	fclose(f);
	chmod(in_dir(name), 0644);
}

static int set_up(void **state)
{
	(void) state;
	strcpy(dir + strlen(dir) - 6, "XXXXXX");
	umask(022);
	if (!mkdtemp(dir) || chmod(dir, 0755) || mkdir(in_dir("policies"), 0755) || mkdir(in_dir("bundled"), 0755) ||
	    mkdir(in_dir("bundled/lib"), 0755) || mkdir(in_dir("bundled/lib/sched"), 0755) ||
	    mkdir(in_dir("bundled/policies"), 0755))
		return -1;
	write_text("sched.lua", "return 1");
	write_text("policies/mine.lua", "return { mine = true }");
	write_text("bundled/policies/easy.lua", "return { bundled = true }");
	write_text("bundled/lib/sched/init.lua", "return {}");
	write_text("bundled/lib/sched/site.lua", "return {}");
	setenv("SCHEDLUA_PATH", in_dir("bundled"), 1);
	return 0;
}

static int tear_down(void **state)
{
	char command[200];

	(void) state;
	if (seteuid(getuid()))	/* a test may have failed as somebody else */
		return -1;
	snprintf(command, sizeof(command), "rm -rf %s", dir);
	return system(command);
}

static struct sl_bundle *open_as(const char *site, bool trust, struct sl_error *err)
{
	struct sl_bundle_source src = { .site = site, .check_trust = trust, .trusted_uid = geteuid() };

	memset(err, 0, sizeof(*err));
	return sl_bundle_open(&src, err);
}

static void refused(const char *site, enum sl_errno code, const char *text)
{
	struct sl_error err;
	struct sl_bundle *b = open_as(site, true, &err);

	if (b)
		fail_msg("%s was accepted", site);
	if (err.code != code || !strstr(err.text, text))
		fail_msg("%s: code %d: %s", site, err.code, err.text);
}

static void a_site_is_found_with_its_policies_and_the_bundled_ones(void **state)
{
	struct sl_error err;
	struct sl_bundle *b = open_as(in_dir("sched.lua"), false, &err);

	(void) state;
	assert_non_null(b);
	assert_string_equal(sl_bundle_site(b)->text, "return 1");
	assert_string_equal(sl_bundle_module(b, "mine", &err)->text, "return { mine = true }");
	assert_string_equal(sl_bundle_module(b, "easy", &err)->path, in_dir("bundled/policies/easy.lua"));
	assert_string_equal(sl_bundle_module(b, "sched", &err)->path, in_dir("bundled/lib/sched/init.lua"));
	assert_string_equal(sl_bundle_file(b, 0), in_dir("sched.lua"));
	assert_non_null(sl_bundle_file(b, 3));
	assert_null(sl_bundle_file(b, 4));
	sl_bundle_destroy(b);
}

static void a_sites_own_policy_goes_before_the_bundled_one_of_that_name(void **state)
{
	struct sl_error err;
	struct sl_bundle *b;

	(void) state;
	write_text("policies/easy.lua", "return { own = true }");
	b = open_as(in_dir("sched.lua"), false, &err);
	assert_string_equal(sl_bundle_module(b, "easy", &err)->text, "return { own = true }");
	sl_bundle_destroy(b);
}

static void the_projects_modules_cannot_be_replaced_by_a_site(void **state)
{
	struct sl_error err;
	struct sl_bundle *b;

	(void) state;
	mkdir(in_dir("sched"), 0755);
	write_text("sched/site.lua", "return 'forged'");
	b = open_as(in_dir("sched.lua"), false, &err);
	assert_string_equal(sl_bundle_module(b, "sched.site", &err)->text, "return {}");
	/* nor is the site file sched.lua the module "sched" */
	assert_string_equal(sl_bundle_module(b, "sched", &err)->path, in_dir("bundled/lib/sched/init.lua"));
	sl_bundle_destroy(b);
}

static void a_site_file_is_not_the_policy_of_its_name(void **state)
{
	struct sl_error err;
	struct sl_bundle *b;

	(void) state;
	write_text("easy.lua", "return 2");
	b = open_as(in_dir("easy.lua"), false, &err);
	assert_string_equal(sl_bundle_module(b, "easy", &err)->text, "return { bundled = true }");
	sl_bundle_destroy(b);
}

static void a_policy_alone_is_named_or_given_by_its_path(void **state)
{
	struct sl_bundle_source src = { .policy = in_dir("policies/mine.lua,a=1,b=2") };
	struct sl_error err;
	struct sl_bundle *b = sl_bundle_open(&src, &err);

	(void) state;
	assert_non_null(b);
	assert_string_equal(b->policy, "mine");
	assert_string_equal(b->options, "a=1,b=2");
	assert_non_null(sl_bundle_module(b, "mine", &err));
	sl_bundle_destroy(b);
	src.policy = NULL;
	b = sl_bundle_open(&src, &err);
	assert_string_equal(b->policy, "easy");
	sl_bundle_destroy(b);
}

static void a_module_is_read_once(void **state)
{
	struct sl_error err;
	struct sl_bundle *b = open_as(in_dir("sched.lua"), false, &err);
	const struct sl_bundle_file *f = sl_bundle_module(b, "mine", &err);

	(void) state;
	write_text("policies/mine.lua", "return 'changed'");
	assert_ptr_equal(sl_bundle_module(b, "mine", &err), f);
	assert_string_equal(f->text, "return { mine = true }");
	sl_bundle_destroy(b);
}

static void after_sealing_nothing_is_read(void **state)
{
	struct sl_error err;
	struct sl_bundle *b = open_as(in_dir("sched.lua"), false, &err);

	(void) state;
	assert_non_null(sl_bundle_module(b, "mine", &err));
	sl_bundle_seal(b);
	assert_non_null(sl_bundle_module(b, "mine", &err));
	assert_null(sl_bundle_module(b, "easy", &err));
	assert_int_equal(err.code, SL_ENOENT);
	assert_non_null(strstr(err.text, "was not loaded with the policy set"));
	sl_bundle_destroy(b);
}

static void a_changed_touched_or_missing_file_is_noticed(void **state)
{
	struct sl_error err;
	struct sl_bundle *b = open_as(in_dir("sched.lua"), false, &err);
	struct timespec times[2] = { { 5, 0 }, { 5, 0 } };

	(void) state;
	assert_non_null(sl_bundle_module(b, "mine", &err));
	assert_int_equal(sl_bundle_changed(b), 0);
	/* an older time counts too: somebody put the backup back */
	utimensat(AT_FDCWD, in_dir("policies/mine.lua"), times, 0);
	assert_int_equal(sl_bundle_changed(b), 1);
	sl_bundle_destroy(b);

	b = open_as(in_dir("sched.lua"), false, &err);
	assert_int_equal(sl_bundle_changed(b), 0);
	unlink(in_dir("sched.lua"));
	assert_int_equal(sl_bundle_changed(b), 1);
	sl_bundle_destroy(b);
}

static void what_is_no_module_name_reaches_no_file(void **state)
{
	static const char *const bad[] = { "", ".", "..", "a..b", ".a", "a.", "../sched", "a/b", "a b", "/etc/passwd", "a\nb" };
	struct sl_error err;
	struct sl_bundle *b = open_as(in_dir("sched.lua"), false, &err);

	(void) state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_null(sl_bundle_module(b, bad[i], &err));
		assert_int_equal(err.code, SL_EINVAL);
	}
	sl_bundle_destroy(b);
}

static void a_module_that_is_nowhere_names_the_directories(void **state)
{
	struct sl_error err;
	struct sl_bundle *b = open_as(in_dir("sched.lua"), false, &err);

	(void) state;
	assert_null(sl_bundle_module(b, "nowhere", &err));
	assert_int_equal(err.code, SL_ENOENT);
	assert_non_null(strstr(err.text, dir));
	assert_non_null(strstr(err.text, "bundled"));
	sl_bundle_destroy(b);
}

static void texts_in_memory_go_before_files(void **state)
{
	const struct sl_bundle_text text[] = { { "site.lua", "return 'site'" }, { "mine", "return 'memory'" } };
	struct sl_bundle_source src = { .site = "site.lua", .text = text, .texts = 2 };
	struct sl_error err;
	struct sl_bundle *b = sl_bundle_open(&src, &err);

	(void) state;
	assert_non_null(b);
	assert_string_equal(sl_bundle_site(b)->text, "return 'site'");
	assert_string_equal(sl_bundle_module(b, "mine", &err)->text, "return 'memory'");
	assert_null(sl_bundle_file(b, 0));
	sl_bundle_destroy(b);
}

static void a_file_over_the_limit_is_refused(void **state)
{
	struct sl_error err;

	(void) state;
	assert_int_equal(truncate(in_dir("sched.lua"), SL_BUNDLE_FILE_MAX), 0);
	sl_bundle_destroy(open_as(in_dir("sched.lua"), false, &err));
	assert_int_equal(err.code, 0);
	assert_int_equal(truncate(in_dir("sched.lua"), SL_BUNDLE_FILE_MAX + 1), 0);
	assert_null(open_as(in_dir("sched.lua"), false, &err));
	assert_int_equal(err.code, SL_ELIMIT);
}

/* -- trust ------------------------------------------------------------- */

static void what_everybody_may_write_is_refused(void **state)
{
	(void) state;
	chmod(in_dir("sched.lua"), 0666);
	refused(in_dir("sched.lua"), SL_ETRUST, "writable by everybody (mode 0666)");
	chmod(in_dir("sched.lua"), 0664);
	refused(in_dir("sched.lua"), SL_ETRUST, "writable by its group (mode 0664)");
	chmod(in_dir("sched.lua"), 0644);
	chmod(dir, 0777);
	refused(in_dir("sched.lua"), SL_ETRUST, "writable by everybody (mode 0777)");
}

/* A set has the bundled policies in it, those of this source tree: that user may not get
 * there, as in a clone below /root. */
static void needs_bundled_policies_as(uid_t user)
{
	struct sl_bundle *b;
	struct sl_error err;

	assert_int_equal(seteuid(user), 0);
	b = open_as(in_dir("sched.lua"), true, &err);
	assert_int_equal(seteuid(getuid()), 0);
	if (!b) {
		print_message("# another user cannot read the source tree: %s\n", err.text);
		skip();
	}
	sl_bundle_destroy(b);
}

/* SlurmUser need not be root: what only root may read is refused with the reason, be it
 * the file, a module of it or the directory. */
static void what_cannot_be_read_is_refused_as_that(void **state)
{
	uid_t user = getuid() ? getuid() : STRANGER;
	struct sl_bundle *b;
	struct sl_error err;
	bool readable;

	(void) state;
	write_text("sched.lua", "return require 'mine'");
	needs_bundled_policies_as(user);
	chmod(in_dir("sched.lua"), 0);
	assert_int_equal(seteuid(user), 0);
	refused(in_dir("sched.lua"), SL_EIO, "sched.lua: Permission denied");
	assert_int_equal(seteuid(getuid()), 0);
	chmod(in_dir("sched.lua"), 0644);
	chmod(in_dir("policies/mine.lua"), 0);
	assert_int_equal(seteuid(user), 0);
	b = open_as(in_dir("sched.lua"), true, &err);
	assert_non_null(b);
	readable = sl_bundle_module(b, "mine", &err) != NULL;
	sl_bundle_destroy(b);
	assert_false(readable);
	assert_int_equal(err.code, SL_EIO);
	assert_non_null(strstr(err.text, "mine.lua: Permission denied"));
	assert_int_equal(seteuid(getuid()), 0);
	chmod(in_dir("policies/mine.lua"), 0644);
	chmod(dir, 0700);
	if (!getuid()) {
		assert_int_equal(seteuid(user), 0);
		refused(in_dir("sched.lua"), SL_EIO, "Permission denied");
		assert_int_equal(seteuid(0), 0);
		/* and root reads what nobody may */
		chmod(in_dir("sched.lua"), 0);
		sl_bundle_destroy(open_as(in_dir("sched.lua"), true, &err));
		assert_int_equal(err.code, 0);
	}
}

static void a_symbolic_link_instead_of_the_file_is_refused(void **state)
{
	(void) state;
	assert_int_equal(symlink("sched.lua", in_dir("link.lua")), 0);
	refused(in_dir("link.lua"), SL_ETRUST, "a symbolic link");
}

static void a_missing_file_or_a_directory_is_refused_as_what_it_is(void **state)
{
	(void) state;
	refused(in_dir("none.lua"), SL_ENOENT, "none.lua: No such file");
	refused(in_dir("no/where.lua"), SL_ENOENT, "where.lua: no such file or directory");
	refused(in_dir("policies"), SL_ETRUST, "not a regular file");
	assert_int_equal(mkfifo(in_dir("fifo.lua"), 0644), 0);
	refused(in_dir("fifo.lua"), SL_ETRUST, "not a regular file");
	refused("sched.lua", SL_ETRUST, "absolute path");
}

static void needs_root(void)
{
	if (geteuid()) {
		print_message("# only root can give files away\n");
		skip();
	}
}

static void what_a_stranger_owns_is_refused(void **state)
{
	(void) state;
	needs_root();
	assert_int_equal(chown(in_dir("sched.lua"), STRANGER, 0), 0);
	refused(in_dir("sched.lua"), SL_ETRUST, "owned by uid 65534, must be owned by root");
	assert_int_equal(chown(in_dir("sched.lua"), 0, 0), 0);
	assert_int_equal(chown(dir, STRANGER, 0), 0);
	refused(in_dir("sched.lua"), SL_ETRUST, "owned by uid 65534, must be owned by root");
}

static void what_the_trusted_user_owns_is_accepted(void **state)
{
	struct sl_trust trust = { .check = true, .uid = STRANGER };
	struct sl_error err;
	struct stat st;
	int at, fd;

	(void) state;
	needs_root();
	assert_int_equal(chown(in_dir("sched.lua"), STRANGER, 0), 0);
	assert_int_equal(chown(dir, STRANGER, 0), 0);
	at = sl_trust_dir(&trust, dir, &err);
	assert_true(at >= 0);
	fd = sl_trust_file(&trust, at, dir, "sched.lua", &st, &err);
	assert_true(fd >= 0);
	close(fd);
	close(at);
}

static int open_dir(const char *path, struct sl_error *err)
{
	struct sl_trust trust = { .check = true, .uid = geteuid() };
	int fd = sl_trust_dir(&trust, path, err);

	if (fd >= 0)
		close(fd);
	return fd >= 0 ? 0 : -1;
}

static void a_directory_may_be_a_link_that_we_own(void **state)
{
	struct sl_error err;

	(void) state;
	assert_int_equal(symlink("policies", in_dir("relative")), 0);
	assert_int_equal(symlink(in_dir("policies"), in_dir("absolute")), 0);
	assert_int_equal(symlink("loop", in_dir("loop")), 0);
	assert_int_equal(open_dir(in_dir("relative"), &err), 0);
	assert_int_equal(open_dir(in_dir("absolute"), &err), 0);
	assert_int_equal(open_dir(in_dir("absolute/../relative/."), &err), 0);
	assert_int_equal(open_dir(in_dir("loop"), &err), -1);
	assert_non_null(strstr(err.text, "symbolic links"));
}

static void a_directory_that_is_a_strangers_link_is_refused(void **state)
{
	struct sl_error err;

	(void) state;
	needs_root();
	assert_int_equal(symlink("policies", in_dir("theirs")), 0);
	assert_int_equal(lchown(in_dir("theirs"), STRANGER, 0), 0);
	assert_int_equal(open_dir(in_dir("theirs"), &err), -1);
	assert_int_equal(err.code, SL_ETRUST);
}

static void a_link_to_an_unsafe_place_is_refused(void **state)
{
	struct sl_error err;

	(void) state;
	assert_int_equal(symlink("unsafe/inner", in_dir("link")), 0);
	assert_int_equal(mkdir(in_dir("unsafe"), 0755), 0);
	assert_int_equal(mkdir(in_dir("unsafe/inner"), 0755), 0);
	chmod(in_dir("unsafe"), 0777);
	assert_int_equal(open_dir(in_dir("link"), &err), -1);
	assert_non_null(strstr(err.text, "writable by everybody"));
	chmod(in_dir("unsafe"), 01777);
	assert_int_equal(open_dir(in_dir("link"), &err), 0);
}

/* What is written is not read: others could make it first, or make what stands above anew. */
static void what_is_to_be_written_is_not_below_a_sticky_directory(void **state)
{
	const struct sl_trust trust = { .check = true, .uid = geteuid(), .no_sticky = true };
	static const char *const place[] = { "shared", "shared/inner" };
	struct sl_error err;
	int fd;

	(void) state;
	assert_int_equal(mkdir(in_dir("shared"), 0755), 0);
	assert_int_equal(mkdir(in_dir("shared/inner"), 0755), 0);
	for (size_t i = 0; i < sizeof(place) / sizeof(place[0]); i++) {
		assert_int_equal(chmod(in_dir("shared"), 0755), 0);
		/* of what is above the test's own directory nothing is known */
		if ((fd = sl_trust_dir(&trust, in_dir(place[i]), &err)) >= 0)
			close(fd);
		else if (!strstr(err.text, "writable by"))
			fail_msg("%s", err.text);
		assert_int_equal(chmod(in_dir("shared"), 01777), 0);
		assert_int_equal(open_dir(in_dir(place[i]), &err), 0);
		assert_int_equal(sl_trust_dir(&trust, in_dir(place[i]), &err), -1);
		assert_int_equal(err.code, SL_ETRUST);
	}
}

static void below_a_search_directory_no_link_is_followed(void **state)
{
	struct sl_trust trust = { .check = true, .uid = geteuid() };
	struct sl_error err;
	struct stat st;
	int at;

	(void) state;
	assert_int_equal(symlink("policies", in_dir("lib")), 0);
	assert_int_equal(symlink("mine.lua", in_dir("policies/link.lua")), 0);
	at = sl_trust_dir(&trust, dir, &err);
	assert_true(at >= 0);
	assert_int_equal(sl_trust_file(&trust, at, dir, "lib/mine.lua", &st, &err), -1);
	assert_int_equal(err.code, SL_ETRUST);
	assert_int_equal(sl_trust_file(&trust, at, dir, "policies/link.lua", &st, &err), -1);
	assert_int_equal(err.code, SL_ETRUST);
	assert_int_equal(sl_trust_file(&trust, at, dir, "sched.lua/mine.lua", &st, &err), -1);
	assert_int_equal(err.code, SL_ENOENT);
	close(at);
}

static void the_environment_does_not_say_where_trusted_policies_are(void **state)
{
	struct sl_error err;
	struct sl_bundle *b = open_as(in_dir("sched.lua"), true, &err);
	const struct sl_bundle_file *f;

	(void) state;
	/* Run from the build tree, the source tree's own are meant; not ours. */
	if (b) {
		f = sl_bundle_module(b, "easy", &err);
		assert_true(!f || !strstr(f->path, dir));
		sl_bundle_destroy(b);
	} else {
		assert_null(strstr(err.text, dir));
	}
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

static void a_kept_set_is_the_same_without_its_files(void **state)
{
	struct sl_error err;
	struct sl_bundle *b = open_as(in_dir("sched.lua"), false, &err), *again;
	struct sl_bundle_source src = { .site = in_dir("sched.lua") };
	char site[4096];
	size_t size;
	void *bytes;

	(void) state;
	assert_non_null(sl_bundle_module(b, "mine", &err));
	assert_non_null(sl_bundle_module(b, "easy", &err));
	assert_int_equal(sl_bundle_keep(b, &bytes, &size, &err), 0);
	sl_bundle_destroy(b);
	strcpy(site, in_dir("sched.lua"));
	assert_int_equal(unlink(site), 0);
	write_text("policies/mine.lua", "broken");
	src.site = site;
	src.kept = bytes;
	src.kept_size = size;
	again = sl_bundle_open(&src, &err);
	if (!again)
		fail_msg("%s", err.text);
	assert_string_equal(sl_bundle_site(again)->text, "return 1");
	assert_string_equal(sl_bundle_module(again, "mine", &err)->text, "return { mine = true }");
	/* what comes with the project is read where it is */
	assert_string_equal(sl_bundle_module(again, "easy", &err)->path, in_dir("bundled/policies/easy.lua"));
	assert_string_equal(sl_bundle_file(again, 0), in_dir("bundled/policies/easy.lua"));
	sl_bundle_destroy(again);
	free(bytes);
}

static void a_kept_set_that_was_cut_is_refused_wherever_the_cut_is(void **state)
{
	struct sl_error err;
	struct sl_bundle *b = open_as(in_dir("sched.lua"), false, &err);
	struct sl_bundle_source src = { .site = in_dir("sched.lua") };
	size_t size, cut;
	void *bytes;

	(void) state;
	assert_int_equal(sl_bundle_keep(b, &bytes, &size, &err), 0);
	sl_bundle_destroy(b);
	for (cut = 0; cut < size; cut++) {
		src.kept = bytes;
		src.kept_size = cut;
		b = cut ? sl_bundle_open(&src, &err) : NULL;
		if (b)
			fail_msg("cut at %zu of %zu", cut, size);
	}
	free(bytes);
}

/* The set's bytes with one text in place of another of the same length. */
static void *forged(const void *bytes, size_t size, const char *what, const char *with)
{
	char *copy = malloc(size), *at;

	assert_non_null(copy);
	memcpy(copy, bytes, size);
	at = memmem(copy, size, what, strlen(what));
	assert_non_null(at);
	memcpy(at, with, strlen(what));
	return copy;
}

/* The site, its policy and a plain file, kept. */
static void keep_all(const struct sl_bundle_source *src, void **bytes, size_t *size)
{
	struct sl_error err;
	struct sl_bundle *b = sl_bundle_open(src, &err);

	assert_non_null(b);
	assert_non_null(sl_bundle_module(b, "mine", &err));
	assert_int_equal(sl_bundle_keep(b, bytes, size, &err), 0);
	sl_bundle_destroy(b);
}

static void a_kept_set_is_vouched_for_only_as_it_stands_in_the_files(void **state)
{
	char *site = strdup(in_dir("sched.lua"));
	struct sl_bundle_source src = { .site = site, .check_trust = true, .trusted_uid = geteuid() };
	static const char *const forgery[][2] = {
		{ "return 1", "return 2" }, { "mine = true", "evil = true" },
		{ "policies/mine.lua", "policies/fine.lua" }, { "4 ", "9 " },
	};
	struct sl_error err;
	void *bytes, *bad;
	size_t size, i;

	(void) state;
	keep_all(&src, &bytes, &size);
	assert_int_equal(sl_bundle_vouch(&src, bytes, size, &err), 0);
	for (i = 0; i < sizeof(forgery) / sizeof(forgery[0]); i++) {
		bad = forged(bytes, size, forgery[i][0], forgery[i][1]);
		assert_int_equal(sl_bundle_vouch(&src, bad, size, &err), -1);
		free(bad);
	}
	assert_int_equal(sl_bundle_vouch(&src, "anything", 8, &err), -1);
	/* a module that is nowhere, and a plain file */
	bad = malloc(size + 100);
	assert_non_null(bad);
	memcpy(bad, bytes, size);
	i = size + (size_t) sprintf((char *) bad + size, "4 5 1\nevile.luax");
	assert_int_equal(sl_bundle_vouch(&src, bad, i, &err), -1);
	assert_int_equal(err.code, SL_ENOENT);
	i = size + (size_t) sprintf((char *) bad + size, "5 %zu 4\n:conf%sx=1\n", strlen(in_dir("conf")), in_dir("conf"));
	assert_int_equal(sl_bundle_vouch(&src, bad, i, &err), -1);
	write_text("conf", "x=2\n");
	assert_int_equal(sl_bundle_vouch(&src, bad, i, &err), -1);
	assert_int_equal(err.code, SL_ETRUST);
	write_text("conf", "x=1\n");
	assert_int_equal(sl_bundle_vouch(&src, bad, i, &err), 0);
	unlink(in_dir("conf"));
	free(bad);
	/* what another could have written is not believed, whatever it says */
	assert_int_equal(chmod(in_dir("policies/mine.lua"), 0666), 0);
	assert_int_equal(sl_bundle_vouch(&src, bytes, size, &err), -1);
	assert_int_equal(err.code, SL_ETRUST);
	assert_int_equal(chmod(in_dir("policies/mine.lua"), 0644), 0);
	write_text("sched.lua", "return 3");
	assert_int_equal(sl_bundle_vouch(&src, bytes, size, &err), -1);
	free(bytes);
	free(site);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_site_is_found_with_its_policies_and_the_bundled_ones),
		TEST(a_sites_own_policy_goes_before_the_bundled_one_of_that_name),
		TEST(the_projects_modules_cannot_be_replaced_by_a_site),
		TEST(a_site_file_is_not_the_policy_of_its_name),
		TEST(a_policy_alone_is_named_or_given_by_its_path),
		TEST(a_module_is_read_once),
		TEST(after_sealing_nothing_is_read),
		TEST(a_changed_touched_or_missing_file_is_noticed),
		TEST(what_is_no_module_name_reaches_no_file),
		TEST(a_module_that_is_nowhere_names_the_directories),
		TEST(texts_in_memory_go_before_files),
		TEST(a_file_over_the_limit_is_refused),
		TEST(what_everybody_may_write_is_refused),
		TEST(what_cannot_be_read_is_refused_as_that),
		TEST(a_symbolic_link_instead_of_the_file_is_refused),
		TEST(a_missing_file_or_a_directory_is_refused_as_what_it_is),
		TEST(what_a_stranger_owns_is_refused),
		TEST(what_the_trusted_user_owns_is_accepted),
		TEST(a_directory_may_be_a_link_that_we_own),
		TEST(a_directory_that_is_a_strangers_link_is_refused),
		TEST(a_link_to_an_unsafe_place_is_refused),
		TEST(what_is_to_be_written_is_not_below_a_sticky_directory),
		TEST(below_a_search_directory_no_link_is_followed),
		TEST(the_environment_does_not_say_where_trusted_policies_are),
		TEST(a_kept_set_is_the_same_without_its_files),
		TEST(a_kept_set_that_was_cut_is_refused_wherever_the_cut_is),
		TEST(a_kept_set_is_vouched_for_only_as_it_stands_in_the_files),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
