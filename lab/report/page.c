/* SPDX-License-Identifier: MIT */
#include "report/page_private.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"

#define ASSET_MAX ((size_t) 16 << 20)	/* bytes of one asset */

/* -- where the assets are ------------------------------------------------------- */

struct places {
	char *dir[2];
};

static int no_memory(struct sl_error *err)
{
	return sl_fail(err, SL_ENOMEM, "report: out of memory");
}

static char *beside_the_program(char *exe)
{
	char *slash, *text;

	for (int up = 0; up < 2 && (slash = strrchr(exe, '/')); up++)
		*slash = 0;
	return asprintf(&text, "%s/share/schedlua/report", exe) < 0 ? NULL : text;
}

static int find_places(struct places *where, struct sl_error *err)
{
	const char *env = getenv("SCHEDLUA_REPORT");
	char exe[PATH_MAX] = "";

	where->dir[0] = where->dir[1] = NULL;
	if (env && *env) {
		where->dir[0] = strdup(env);
		where->dir[1] = strdup(env);
		return where->dir[0] && where->dir[1] ? 0 : no_memory(err);
	}
	if (!realpath("/proc/self/exe", exe))
		exe[0] = 0;
	if (sl_is_below(exe, SL_BUILD_DIR)) {
		where->dir[0] = strdup(SL_BUILD_DIR "/report");
		where->dir[1] = strdup(SL_SOURCE_DIR "/report");
	} else {
		where->dir[0] = strdup(SL_PKGDATA_DIR "/report");
		where->dir[1] = beside_the_program(exe);
	}
	return where->dir[0] && where->dir[1] ? 0 : no_memory(err);
}

static void forget_places(struct places *where)
{
	free(where->dir[0]);
	free(where->dir[1]);
}

/* -- reading them --------------------------------------------------------------- */

/* The text of an asset, malloc'ed; NULL with *err. */
static char *read_asset(const char *name, struct sl_error *err)
{
	struct places where;
	char *path = NULL, *text = NULL;
	size_t n;
	int fd = -1, rc = -1;

	if (find_places(&where, err) < 0)
		goto done;
	for (int i = 0; i < 2 && fd < 0; i++) {
		free(path);
		if (asprintf(&path, "%s/%s", where.dir[i], name) < 0) {
			path = NULL;
			no_memory(err);
			goto done;
		}
		fd = open(path, O_RDONLY | O_CLOEXEC);
	}
	if (fd >= 0)
		rc = sl_read_all(fd, path, ASSET_MAX, &text, &n, err);
	else
		sl_fail(err, SL_ENOENT, "report: no %s in %s or %s", name, where.dir[0], where.dir[1]);
	if (!rc && strlen(text) != n) {
		sl_fail(err, SL_EFORMAT, "report: %s is no text", path);
		free(text);
		text = NULL;
	}
done:
	if (fd >= 0)
		close(fd);
	free(path);
	forget_places(&where);
	return text;
}

/* -- the template --------------------------------------------------------------- */

static void put_escaped(const char *s, FILE *out)
{
	for (; *s; s++)
		switch (*s) {
		case '&': fputs("&amp;", out); break;
		case '<': fputs("&lt;", out); break;
		case '>': fputs("&gt;", out); break;
		case '"': fputs("&quot;", out); break;
		default: putc(*s, out);
		}
}

/* True if the asset is one of the chart library's, without which a page still has its tables. */
static bool is_library(const char *name)
{
	return !strncmp(name, "uPlot", 5);
}

/* A line "<!-- title -->", "<!-- data -->" or "<!-- css|js|text NAME -->": what
 * it stands for.  *lacks becomes true where it is the chart library and that is not there.
 * Returns 1 for the data, 0 for others, -1 with *err. */
static int put_placeholder(FILE *out, const char *kind, const char *name, const char *title, bool *lacks, struct sl_error *err)
{
	char *text;

	if (!strcmp(kind, "data"))
		return 1;
	if (!strcmp(kind, "title")) {
		fputs("<title>", out);
		put_escaped(title, out);
		fputs("</title>\n", out);
		return 0;
	}
	text = read_asset(name, err);
	if (!text && is_library(name) && err->code == SL_ENOENT) {
		*lacks = true;
		return 0;
	}
	if (!text)
		return -1;
	if (!strcmp(kind, "text")) {
		put_escaped(text, out);
	} else if (strcmp(kind, "css") && strcmp(kind, "js")) {
		sl_fail(err, SL_EFORMAT, "report: page.html: unknown place \"%s\"", kind);
		free(text);
		return -1;
	} else if (strstr(text, "</script") || strstr(text, "</style")) {
		sl_fail(err, SL_EFORMAT, "report: %s cannot stand in a page: it closes its own element", name);
		free(text);
		return -1;
	} else {
		const char *element = kind[0] == 'c' ? "style" : "script";

		fprintf(out, "<%s>\n%s</%s>\n", element, text, element);
	}
	free(text);
	return 0;
}

/* Write the template up to the data, or to its end.  Returns where it stopped
 * (after the line of the data), NULL with *err. */
static const char *put_template(FILE *out, const char *text, const char *title, bool *data, bool *lacks, struct sl_error *err)
{
	*data = false;
	while (*text) {
		const char *end = strchrnul(text, '\n');
		char kind[8], name[64] = "";
		int rc;

		if (sscanf(text, "<!-- %7[a-z] %63[A-Za-z.] -->", kind, name) >= 1) {
			rc = put_placeholder(out, kind, name, title, lacks, err);
			if (rc < 0)
				return NULL;
		} else {
			rc = 0;
			fwrite(text, 1, (size_t) (end - text), out);
			putc('\n', out);
		}
		text = *end ? end + 1 : end;
		if (rc) {
			*data = true;
			return text;
		}
	}
	return text;
}

/* Try the rest of the template before the run, not after it: are all its assets there? */
static int try_template(const char *text, bool *lacks, struct sl_error *err)
{
	FILE *out = fopen("/dev/null", "we");
	const char *rest;
	bool data;

	if (!out)
		return sl_fail(err, SL_EIO, "report: /dev/null: %s", strerror(errno));
	rest = put_template(out, text, "", &data, lacks, err);
	fclose(out);
	if (!rest)
		return -1;
	return data ? sl_fail(err, SL_EFORMAT, "report: page.html has a second place for the data") : 0;
}

/* -- the file ------------------------------------------------------------------- */

static int check_path(const char *path, struct sl_error *err)
{
	struct stat st;

	if (!*path)
		return sl_fail(err, SL_EINVAL, "report: the name of the page is empty");
	if (stat(path, &st) < 0)
		return errno == ENOENT ? 0 : sl_fail(err, SL_EIO, "report: %s: %s", path, strerror(errno));
	if (!S_ISREG(st.st_mode))
		return sl_fail(err, SL_EIO, "report: %s is there and is no regular file", path);
	if (access(path, W_OK) < 0)
		return sl_fail(err, SL_EIO, "report: %s: %s", path, strerror(errno));
	return 0;
}

static int open_temporary(struct sl_page *p, struct sl_error *err)
{
	mode_t mask;
	int fd;

	if (asprintf(&p->temporary, "%s.XXXXXX", p->path) < 0) {
		p->temporary = NULL;
		return no_memory(err);
	}
	fd = mkostemp(p->temporary, O_CLOEXEC);
	if (fd < 0) {
		sl_fail(err, SL_EIO, "report: %s: %s", p->path, strerror(errno));
		free(p->temporary);
		p->temporary = NULL;
		return -1;
	}
	mask = umask(0);	/* as if it had been made by open() */
	umask(mask);
	p->out = fchmod(fd, 0666 & ~mask) < 0 ? NULL : fdopen(fd, "w");
	if (p->out)
		return 0;
	sl_fail(err, SL_EIO, "report: %s: %s", p->path, strerror(errno));
	close(fd);
	return -1;
}

const char *sl_page_lacks(const struct sl_page *p)
{
	return !p->lacks_library ? NULL : "the page has figures and tables, but no charts over time: the chart library is not installed; "
		"\"make report-library\" and \"make install\" fetch it with npm, packages and release tarballs bring it";
}

struct sl_page *sl_page_open(const char *path, const char *title, struct sl_error *err)
{
	struct sl_page *p = calloc(1, sizeof(*p));
	char *html = NULL;
	const char *rest;
	bool data;

	if (!p || !(p->path = strdup(path))) {
		no_memory(err);
		goto error;
	}
	p->json = sl_json_create(NULL, err);
	if (!p->json || check_path(path, err) < 0)
		goto error;
	html = read_asset("page.html", err);
	if (!html || open_temporary(p, err) < 0)
		goto error;
	rest = put_template(p->out, html, title, &data, &p->lacks_library, err);
	if (!rest)
		goto error;
	if (!data) {
		sl_fail(err, SL_EFORMAT, "report: page.html has no place for the data");
		goto error;
	}
	p->rest = strdup(rest);
	if (!p->rest) {
		no_memory(err);
		goto error;
	}
	if (try_template(p->rest, &p->lacks_library, err) < 0)
		goto error;
	free(html);
	return p;
error:
	free(html);
	sl_page_destroy(p);
	return NULL;
}

void sl_page_destroy(struct sl_page *p)
{
	if (!p)
		return;
	if (p->out)
		fclose(p->out);
	if (p->temporary)
		unlink(p->temporary);
	sl_page_forget(p);
	sl_json_destroy(p->json);
	free(p->temporary);
	free(p->path);
	free(p->rest);
	free(p);
}

int sl_page_finish(struct sl_page *p, struct sl_error *err)
{
	FILE *out = p->out;
	bool data;
	int rc;

	if (!out || p->label || !p->runs)
		return sl_fail(err, SL_EINVAL, "report: finished without a run, within one, or twice");
	if (!put_template(out, p->rest, "", &data, &p->lacks_library, err))
		return -1;
	rc = ferror(out) || p->failed;
	p->out = NULL;
	if (fclose(out) || rc)
		return sl_fail(err, SL_EIO, "report: %s: %s", p->path, errno ? strerror(errno) : "cannot be written");
	if (rename(p->temporary, p->path) < 0)
		return sl_fail(err, SL_EIO, "report: %s: %s", p->path, strerror(errno));
	free(p->temporary);
	p->temporary = NULL;
	return 0;
}
