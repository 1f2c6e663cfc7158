/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "t/report/made_page.h"

#define TEMPLATE "<html>\n<!-- title -->\n<!-- css a.css -->\n\n<!-- data -->\n<!-- js uPlot.js -->\n" \
	"<pre>\n<!-- text licence -->\n</pre>\n</html>\n"

/* -- a directory of assets, a workload ----------------------------------------- */

static char dir[64];

const char *in_dir(const char *name)
{
	static char path[4][400];
	static int next;

	next = (next + 1) % 4;
	snprintf(path[next], sizeof(path[next]), "%s/%s", dir, name);
	return path[next];
}

void put_file(const char *name, const char *text)
{
	FILE *out = fopen(in_dir(name), "w");

	assert_non_null(out);
	fputs(text, out);
	assert_int_equal(fclose(out), 0);
}

char *get_file(const char *name)
{
	char *text = calloc(1, 1 << 20);
	FILE *in = fopen(in_dir(name), "r");

	assert_non_null(in);
	assert_non_null(text);
	assert_true(fread(text, 1, (1 << 20) - 1, in) > 0);
	fclose(in);
	return text;
}

int files_in_dir(void)
{
	DIR *d = opendir(dir);
	int n = 0;

	assert_non_null(d);
	for (struct dirent *e; (e = readdir(d));)
		n += e->d_name[0] != '.';
	closedir(d);
	return n;
}

int made_page_setup(void **state)
{
	(void) state;
	strcpy(dir, "/tmp/test_page.XXXXXX");
	assert_non_null(mkdtemp(dir));
	setenv("SCHEDLUA_REPORT", dir, 1);
	put_file("page.html", TEMPLATE);
	put_file("a.css", "b { }\n");
	put_file("uPlot.js", "library();\n");
	put_file("licence", "Anybody <may>.\n");
	return 0;
}

int made_page_teardown(void **state)
{
	DIR *d = opendir(dir);

	(void) state;
	for (struct dirent *e; d && (e = readdir(d));)
		if (e->d_name[0] != '.')
			remove(in_dir(e->d_name));
	closedir(d);
	rmdir(dir);
	return 0;
}

struct fixture begin(const char *machine, uint32_t jobs, const char *user)
{
	struct fixture f = { .b = build_create(machine) };

	for (uint32_t i = 0; i < jobs; i++) {
		struct sl_job_row r = build_row(f.b, (struct build_job) { .id = 7 + i, .limit = 3600 });

		r.user = sl_builder_str(f.b->builder, user);
		r.submit_time = BUILD_NOW + 10 * i;
		build_append(f.b, &r);
	}
	f.w = (struct sl_workload) { .name = (char *) "by <hand>", .snap = *build_open(f.b), .origin_s = BUILD_NOW };
	return f;
}

struct sl_page *open_page(const struct fixture *f, const char *name)
{
	struct sl_error err = { 0 };
	struct sl_page *p = sl_page_open(in_dir(name), "a <title>", &err);

	if (!p)
		fail_msg("%s", err.text);
	assert_int_equal(sl_page_workload(p, &f->w, &(struct sl_page_about) { .seed = 5 }, &err), 0);
	assert_int_equal(sl_page_begin_run(p, "easy</script>", &err), 0);
	return p;
}

void add(struct sl_page *p, uint32_t row, int64_t start, int64_t end, uint32_t first, uint32_t count, uint32_t cores)
{
	struct sl_stretch stretch = { first, count, cores, 0 };
	struct sl_error err = { 0 };

	if (sl_page_job(p, &(struct sl_page_job) { .job = row, .start_s = BUILD_NOW + start,
			.end_s = end ? BUILD_NOW + end : 0, .stretch = &stretch, .stretches = 1 }, &err))
		fail_msg("%s", err.text);
}

void finish(struct sl_page *p)
{
	struct sl_result r = { .jobs = 1 };
	struct sl_error err = { 0 };

	if (sl_page_end_run(p, &r, BUILD_NOW + 1000, &err) || sl_page_finish(p, &err))
		fail_msg("%s", err.text);
	sl_page_destroy(p);
}

/* -- what was written ----------------------------------------------------------- */

/* The numbers of a <script class=CLASS>, space-separated. */
static char *numbers(const char *page, const char *class)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	char begin_tag[80], *out = calloc(1, 4096);
	uint64_t value = 0;
	unsigned shift = 0, bits = 0, have = 0;

	snprintf(begin_tag, sizeof(begin_tag), "<script type=\"text/plain\" class=\"%s\">", class);
	page = strstr(page, begin_tag);
	assert_non_null(page);
	for (page += strlen(begin_tag); *page != '<'; page++) {
		const char *digit = strchr(digits, *page);

		if (!digit || !*page)
			continue;
		bits = bits << 6 | (unsigned) (digit - digits);
		have += 6;
		if (have < 8)
			continue;
		have -= 8;
		unsigned byte = bits >> have & 255;
		value |= (uint64_t) (byte & 127) << shift;
		shift += 7;
		if (byte < 128) {
			sprintf(out + strlen(out), "%s%llu", *out ? " " : "", (unsigned long long) value);
			value = shift = 0;
		}
	}
	return out;
}

void assert_numbers(const char *name, const char *class, const char *expected)
{
	char *page = get_file(name), *got = numbers(page, class);

	assert_string_equal(got, expected);
	free(got);
	free(page);
}

