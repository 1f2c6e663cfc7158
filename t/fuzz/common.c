/* SPDX-License-Identifier: MIT */
#include "t/fuzz/fuzz.h"

#include <ftw.h>
#include <math.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "image/plan_image.h"
#include "image/snapshot.h"
#include "workload/workload.h"

unsigned long long fuzz_accepted;

/* -- bytes, files, text ------------------------------------------------------ */

struct fuzz_guard fuzz_guard(const uint8_t *data, size_t size)
{
	size_t page = (size_t) sysconf(_SC_PAGESIZE), room = (size + 7 + page - 1) / page * page;
	struct fuzz_guard g = { .mapped = room + page };

	g.map = mmap(NULL, g.mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	MUST(g.map != MAP_FAILED);
	MUST(mprotect(g.map + room, page, PROT_NONE) == 0);
	g.bytes = g.map + room - (size + 7) / 8 * 8;
	if (size)
		memcpy(g.bytes, data, size);
	return g;
}

void fuzz_unguard(struct fuzz_guard *g)
{
	munmap(g->map, g->mapped);
}

static char dir[64], file[320];

static int remove_entry(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void) st, (void) type, (void) ftw;
	return remove(path);
}

static void leave(void)
{
	nftw(dir, remove_entry, 4, FTW_DEPTH | FTW_PHYS);
}

const char *fuzz_dir(void)
{
	if (!*dir) {
		strcpy(dir, "/tmp/fuzz.XXXXXX");
		MUST(mkdtemp(dir));
		atexit(leave);
	}
	return dir;
}

const char *fuzz_file(const char *name, const uint8_t *data, size_t size)
{
	FILE *f;

	snprintf(file, sizeof(file), "%s/%s", fuzz_dir(), name);
	f = fopen(file, "w");
	MUST(f && fwrite(data, 1, size, f) == size && fclose(f) == 0);
	return file;
}

size_t fuzz_text(uint8_t *to, const char *text)
{
	size_t n = strlen(text);

	MUST(n <= FUZZ_MAX);
	memcpy(to, text, n);
	return n;
}

void fuzz_write_made(int n, const char *directory)
{
	static uint8_t input[FUZZ_ROOM];
	char path[4096];

	for (int i = 0; i < n; i++) {
		uint64_t seed = (uint64_t) i + 1;
		size_t size = fuzz_make(input, &seed);
		FILE *f;

		snprintf(path, sizeof(path), "%s/made-%d", directory, i + 1);
		f = fopen(path, "w");
		MUST(f && fwrite(input, 1, size, f) == size && fclose(f) == 0);
	}
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	const char *directory = getenv("FUZZ_MADE");

	(void) argc, (void) argv;
	if (directory) {
		fuzz_write_made(40, directory);
		exit(0);
	}
	return 0;
}

void fuzz_refused(const struct sl_error *err)
{
	MUST(err->code != SL_OK && *err->text && memchr(err->text, 0, sizeof(err->text)));
}

/* -- workloads ------------------------------------------------------------------ */

static struct sl_workload *must_load(const char *name, const struct sl_workload_options *opt)
{
	struct sl_error err;
	struct sl_workload *w = sl_workload_load(name, opt, &err);

	if (!w)
		fprintf(stderr, "%s\n", err.text);
	MUST(w);
	return w;
}

static int write_swf(const struct sl_workload *w, FILE *out, struct sl_error *err)
{
	return sl_workload_write_swf(w, NULL, out, err);
}

/* What was loaded can be written, and read again; how many jobs there are then. */
static uint32_t check_written(const struct sl_workload *w, const char *name,
			  int write(const struct sl_workload *, FILE *, struct sl_error *))
{
	char path[320], *text = NULL;
	size_t n = 0;
	struct sl_error err;
	FILE *out = open_memstream(&text, &n);
	struct sl_workload *again;
	uint32_t rows;

	MUST(out && write(w, out, &err) == 0 && fclose(out) == 0);
	strcpy(path, fuzz_file(name, (uint8_t *) text, n));
	again = must_load(path, &(struct sl_workload_options) { .machine = NULL });
	rows = again->snap.job.rows;
	sl_workload_destroy(again);
	free(text);
	return rows;
}

void fuzz_try_workload(const char *name, const char *machine, const uint8_t *data, size_t size)
{
	struct sl_workload_options opt = { .machine = machine, .jobs = 200 };
	struct sl_error err = { .code = SL_OK };
	struct sl_workload *w = sl_workload_load(fuzz_file(name, data, size), &opt, &err);

	if (!w) {
		fuzz_refused(&err);
		return;
	}
	fuzz_accepted++;
	for (uint32_t i = 0; i < w->snap.job.rows; i++) {
		MUST(w->runtime_s[i] > 0 && w->snap.job.time_limit[i] >= w->runtime_s[i]);
		MUST(!i || w->snap.job.submit_time[i] >= w->snap.job.submit_time[i - 1]);
	}
	if (w->snap.job.rows) {		/* all may have been dropped, and counted */
		MUST(check_written(w, "again.json", sl_workload_write_json) == w->snap.job.rows);
		/* what SWF knows of the machine may be too small for some */
		MUST(check_written(w, "again.swf", write_swf) <= w->snap.job.rows);
	}
	sl_workload_destroy(w);
}

size_t fuzz_make_workload(uint8_t *to, uint64_t *seed, bool swf)
{
	char name[64], *text = NULL;
	size_t n = 0, size;
	struct sl_workload_options opt = { .machine = "4x8c2g", .seed = make_random(seed) };
	struct sl_error err;
	FILE *out = open_memstream(&text, &n);
	struct sl_workload *w;

	snprintf(name, sizeof(name), "synthetic:jobs=%u", 1 + make_below(seed, 12));
	w = must_load(name, &opt);
	MUST(out && (swf ? write_swf : sl_workload_write_json)(w, out, &err) == 0);
	fclose(out);
	size = fuzz_text(to, text);
	free(text);
	sl_workload_destroy(w);
	return size;
}

/* -- images -------------------------------------------------------------------- */

static const unsigned char *values_of(const struct sl_schema *schema, const void *view, int t, uint32_t c)
{
	const struct sl_table *table = &schema->table[t];
	const void *p;

	memcpy(&p, (const char *) view + table->view_offset + table->column[c].view_offset, sizeof(p));
	return p;
}

static uint32_t rows_of(const struct sl_schema *schema, const void *view, int t)
{
	uint32_t rows;

	memcpy(&rows, (const char *) view + schema->table[t].view_offset, sizeof(rows));
	return rows;
}

static void must_hold(const struct sl_image *image, const void *view, int t, uint32_t c, uint32_t row)
{
	const struct sl_schema *schema = image->schema;
	const struct sl_column *col = &schema->table[t].column[c];
	const unsigned char *p = values_of(schema, view, t, c);
	const char *text;
	struct sl_range range;
	uint32_t u32;
	double f64;

	MUST(p >= image->base && (uintptr_t) p % 8 == 0);
	switch (col->type) {
	case SL_TYPE_str:
		memcpy(&u32, p + (size_t) row * 4, 4);
		text = sl_image_str(image, u32);
		MUST((const unsigned char *) text < image->base + image->size);
		MUST((const unsigned char *) text + strlen(text) < image->base + image->size);
		break;
	case SL_TYPE_ref:
		memcpy(&u32, p + (size_t) row * 4, 4);
		MUST(u32 == SL_NONE || u32 < rows_of(schema, view, col->target));
		break;
	case SL_TYPE_range:
		memcpy(&range, p + (size_t) row * 8, 8);
		MUST(range.first <= rows_of(schema, view, col->target));
		MUST(range.count <= rows_of(schema, view, col->target) - range.first);
		break;
	case SL_TYPE_f64:
		memcpy(&f64, p + (size_t) row * 8, 8);
		MUST(isfinite(f64));
		break;
	default:
		break;
	}
}

char *fuzz_json(const struct sl_image *image, const void *view)
{
	struct sl_error err;
	char *text = NULL;
	size_t n = 0;
	FILE *out = open_memstream(&text, &n);

	MUST(out);
	MUST(sl_image_to_json(image, view, out, &err) == 0);
	fclose(out);
	return text;
}

static bool is_ascii(const struct sl_image *image)
{
	for (const char *p = image->pool; p < (const char *) image->base + image->size; p++)
		if (*p & 0x80)
			return false;
	return true;
}

/* What was accepted can be written as JSON.  Read back it is the same JSON, where
 * it can be read back: JSON has one row of a name, and no strange bytes. */
static void check_json(const struct sl_image *image, const void *view)
{
	struct sl_builder *b = sl_builder_create(image->schema, NULL);
	char *json = fuzz_json(image, view), *again;
	union {
		struct sl_snapshot snapshot;
		struct sl_plan_image plan;
	} other;
	struct sl_image copy;
	struct sl_error err;
	const void *bytes;
	size_t size;

	MUST(b);
	if (sl_builder_from_json(b, "json", json, strlen(json), &err) == 0) {
		MUST(sl_builder_finish(b, &bytes, &size, &err) == 0);
		MUST(sl_image_open(&copy, &other, image->schema, bytes, size, &err) == 0);
		again = fuzz_json(&copy, &other);
		MUST(!strcmp(json, again) || image->schema == &sl_snapshot_schema);
		free(again);
	} else {
		MUST(strstr(err.text, "a second") || strstr(err.text, "not empty") || !is_ascii(image));
	}
	free(json);
	sl_builder_destroy(b);
}

void fuzz_hold_image(const struct sl_image *image, const void *view)
{
	for (int t = 0; t < image->schema->tables; t++)
		for (uint32_t c = 0; c < image->schema->table[t].columns; c++)
			for (uint32_t r = 0; r < rows_of(image->schema, view, t); r++)
				must_hold(image, view, t, c, r);
	if (image->size < 65536)
		check_json(image, view);
}

void fuzz_hold_builder(struct sl_builder *b)
{
	struct sl_meta_row meta = sl_meta_row();
	struct sl_snapshot snap;
	struct sl_error err;
	const void *bytes;
	size_t size;

	if (!sl_builder_rows(b, SL_T_META))
		sl_builder_append(b, SL_T_META, &meta);
	if (sl_builder_finish(b, &bytes, &size, &err) < 0 || sl_snapshot_open(&snap, bytes, size, &err) < 0) {
		fprintf(stderr, "%s\n", err.text);
		MUST(!"what was accepted makes a snapshot");
	}
}
