/* SPDX-License-Identifier: MIT */
/*
 * fuzz_image.c - whatever bytes arrive: images, frames, JSON and node lists are
 * refused or hold what their headers promise.
 *
 * One entry point, two drivers.  With libFuzzer (`make fuzz`, clang) it explores
 * by itself.  Without (`make check`) a plain driver feeds it valid images and
 * frames with random mutations; the same seed makes the same run:
 *	t/fuzz_image [ROUNDS [SEED]]
 * The first byte of the input says what the rest is.  Images are put right before
 * a page that cannot be read, so that reading behind their end is fatal in every
 * build.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "make_image.h"
#include "nodelist.h"
#include "wire.h"

enum what { SNAPSHOT, PLAN, FRAME, JSON, NODELIST, WHATS };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MUST(condition) do {						\
	if (!(condition)) {						\
		fprintf(stderr, "fuzz_image: %s:%d: broken: %s\n", __FILE__, __LINE__, #condition); \
		abort();						\
	}								\
} while (0)

static unsigned long long accepted[WHATS];

/* -- invariants, checked by code that shares nothing with the validator ------ */

static const void *values_of(const struct sl_schema *schema, const void *view, int t, uint32_t c)
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
		memcpy(&u32, p + row * 4, 4);
		text = sl_image_str(image, u32);
		MUST((const unsigned char *) text < image->base + image->size);
		MUST((const unsigned char *) text + strlen(text) < image->base + image->size);
		break;
	case SL_TYPE_ref:
		memcpy(&u32, p + row * 4, 4);
		MUST(u32 == SL_NONE || u32 < rows_of(schema, view, col->target));
		break;
	case SL_TYPE_range:
		memcpy(&range, p + row * 8, 8);
		MUST(range.first <= rows_of(schema, view, col->target));
		MUST(range.count <= rows_of(schema, view, col->target) - range.first);
		break;
	case SL_TYPE_f64:
		memcpy(&f64, p + row * 8, 8);
		MUST(isfinite(f64));
		break;
	default:
		break;
	}
}

static void must_hold_all(const struct sl_image *image, const void *view)
{
	for (int t = 0; t < image->schema->tables; t++)
		for (uint32_t c = 0; c < image->schema->table[t].columns; c++)
			for (uint32_t r = 0; r < rows_of(image->schema, view, t); r++)
				must_hold(image, view, t, c, r);
}

static void must_be_a_snapshot(const struct sl_snapshot *s)
{
	MUST(s->meta.rows == 1);
	for (uint32_t r = 0; r < s->run.rows; r++)
		MUST(s->run.first[r] <= s->run.last[r] && s->run.last[r] < s->node.rows);
	for (uint32_t r = 0; r < s->queue.rows; r++)
		MUST(s->job.state[s->queue.job[r]] == SL_JOB_PENDING && s->queue.partition[r] < s->partition.rows);
	for (uint32_t j = 0; j < s->job.rows; j++) {
		const uint32_t *node = s->alloc.node + s->job.alloc[j].first;

		MUST(s->job.state[j] < SL_JOB_STATES);
		for (uint32_t a = 0; a < s->job.alloc[j].count; a++)
			for (uint32_t b = 0; b < a; b++)
				MUST(node[a] != node[b]);
		for (uint32_t i = 0; i < j; i++)
			MUST(s->job.id[i] != s->job.id[j]);
	}
}

static void must_be_a_plan(const struct sl_plan_image *p)
{
	uint64_t places = 0;

	MUST(p->meta.rows == 1);
	for (uint32_t r = 0; r < p->pending.rows; r++)
		MUST(strcmp(sl_why_word(p->pending.why[r]), "unknown"));
	for (uint32_t r = 0; r < p->action.rows; r++)
		MUST(strcmp(sl_do_word(p->action.verb[r]), "unknown"));
	for (uint32_t r = 0; r < p->log.rows; r++)
		MUST(p->log.level[r] < 3 && strlen(sl_image_str(&p->image, p->log.text[r])) <= SL_PLAN_TEXT_MAX);
	for (uint32_t r = 0; r < p->start.rows; r++)
		places += p->start.places[r].count;
	MUST(places <= p->place.rows);
}

/* -- images ------------------------------------------------------------------ */

/* A copy that ends where its memory ends, or up to 7 bytes before: images begin at
 * a multiple of 8.  The sanitizer guards those bytes. */
struct guarded {
	unsigned char *map, *bytes;
	size_t mapped;
};

static struct guarded guard(const uint8_t *data, size_t size)
{
	size_t page = sysconf(_SC_PAGESIZE), room = (size + 7 + page - 1) / page * page;
	struct guarded g = { .mapped = room + page };

	g.map = mmap(NULL, g.mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	MUST(g.map != MAP_FAILED);
	MUST(mprotect(g.map + room, page, PROT_NONE) == 0);
	g.bytes = g.map + room - (size + 7) / 8 * 8;
	memcpy(g.bytes, data, size);
	return g;
}

static char *json_of(const struct sl_image *image, const void *view)
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
	char *json = json_of(image, view), *again;
	union {
		struct sl_snapshot snapshot;
		struct sl_plan_image plan;
	} other;
	struct sl_image copy;
	struct sl_error err;
	const void *bytes;
	size_t size;

	if (sl_builder_from_json(b, "json", json, strlen(json), &err) == 0) {
		MUST(sl_builder_finish(b, &bytes, &size, &err) == 0);
		MUST(sl_image_open(&copy, &other, image->schema, bytes, size, &err) == 0);
		again = json_of(&copy, &other);
		MUST(!strcmp(json, again) || image->schema == &sl_snapshot_schema);
		free(again);
	} else {
		MUST(strstr(err.text, "a second") || strstr(err.text, "not empty") || !is_ascii(image));
	}
	free(json);
	sl_builder_destroy(b);
}

static void try_snapshot(const uint8_t *data, size_t size)
{
	struct guarded g = guard(data, size);
	struct sl_snapshot snap;
	struct sl_error err = { .code = SL_OK };

	if (sl_snapshot_open(&snap, g.bytes, size, &err) == 0) {
		accepted[SNAPSHOT]++;
		must_hold_all(&snap.image, &snap);
		must_be_a_snapshot(&snap);
		if (size < 65536)
			check_json(&snap.image, &snap);
	} else {
		MUST(err.code != SL_OK && *err.text);
	}
	munmap(g.map, g.mapped);
}

static void try_plan(const uint8_t *data, size_t size)
{
	struct guarded g = guard(data, size);
	struct sl_plan_image plan;
	struct sl_error err = { .code = SL_OK };

	if (sl_plan_image_open(&plan, g.bytes, size, &err) == 0) {
		accepted[PLAN]++;
		must_hold_all(&plan.image, &plan);
		must_be_a_plan(&plan);
		if (size < 65536)
			check_json(&plan.image, &plan);
	} else {
		MUST(err.code != SL_OK && *err.text);
	}
	munmap(g.map, g.mapped);
}

/* -- the rest ---------------------------------------------------------------- */

/* The first byte says how many descriptors are attached. */
static void try_frame(const uint8_t *data, size_t size)
{
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(3 * sizeof(int))];
	} control = { .bytes = { 0 } };
	int fds = size ? data[0] % 4 : 0, sock[2];
	struct iovec iov = { (void *) (uintptr_t) (data + 1), size ? size - 1 : 0 };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };
	struct sl_frame f;
	struct sl_error err = { .code = SL_OK };
	int rc;

	if (size > 2 * SL_FRAME_MAX)
		return;
	MUST(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sock) == 0);
	if (fds) {
		msg.msg_control = &control;
		msg.msg_controllen = CMSG_SPACE(fds * sizeof(int));
		control.align.cmsg_level = SOL_SOCKET;
		control.align.cmsg_type = SCM_RIGHTS;
		control.align.cmsg_len = CMSG_LEN(fds * sizeof(int));
		for (int i = 0; i < fds; i++)
			memcpy(CMSG_DATA(&control.align) + i * sizeof(int), &sock[0], sizeof(int));
	}
	MUST(sendmsg(sock[0], &msg, 0) >= 0);
	rc = sl_wire_recv(sock[1], &f, 0, &err);
	MUST(rc == 1 ? err.code == SL_OK : f.fd == -1);
	if (rc == 1) {
		accepted[FRAME]++;
		MUST(f.type >= SL_FRAME_HELLO && f.type <= SL_FRAME_RESTORE && f.length <= sizeof(f.body));
		MUST(sl_wire_send(sock[1], &f, 0, &err) == 0);	/* what is accepted may be said */
		if (f.type == SL_FRAME_LOAD)
			MUST(strlen(f.body.load.site) < sizeof(f.body.load.site));
		if (f.type == SL_FRAME_PLAN)
			MUST(strlen(f.body.plan.reload_text) < sizeof(f.body.plan.reload_text));
		if (f.fd >= 0)
			close(f.fd);
	}
	close(sock[0]);
	close(sock[1]);
}

/* JSON that is accepted makes an image that is. */
static void try_json(const uint8_t *data, size_t size)
{
	struct sl_builder *b = sl_builder_create(&sl_snapshot_schema, NULL);
	struct sl_image image;
	struct sl_error err = { .code = SL_OK };
	const void *bytes;
	size_t n;

	if (sl_builder_from_json(b, "json", (const char *) data, size, &err) == 0) {
		accepted[JSON]++;
		MUST(sl_builder_finish(b, &bytes, &n, &err) == 0);
		MUST(sl_image_open(&image, NULL, &sl_snapshot_schema, bytes, n, &err) == 0);
	} else {
		MUST(err.code != SL_OK && *err.text);
	}
	sl_builder_destroy(b);
}

struct names {
	char *name[500];
	int n;
};

static int keep(const char *name, void *arg)
{
	struct names *names = arg;

	if (names->n == 500)
		return 1;
	names->name[names->n++] = strdup(name);
	return 0;
}

/* A list that was split and joined splits into the same names. */
static void try_nodelist(const uint8_t *data, size_t size)
{
	struct names in = { .n = 0 }, out = { .n = 0 };
	struct sl_error err;
	char *text = strndup((const char *) data, size), *joined;

	if (sl_nodelist_split(text, keep, &in, &err) == 0) {
		accepted[NODELIST]++;
		joined = sl_nodelist_join((const char *const *) in.name, in.n, &err);
		MUST(joined && sl_nodelist_split(joined, keep, &out, &err) == 0 && in.n == out.n);
		for (int i = 0; i < in.n; i++)
			MUST(!strcmp(in.name[i], out.name[i]));
		free(joined);
	}
	while (in.n)
		free(in.name[--in.n]);
	while (out.n)
		free(out.name[--out.n]);
	free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static void (*const try[WHATS])(const uint8_t *, size_t) = {
		[SNAPSHOT] = try_snapshot, [PLAN] = try_plan, [FRAME] = try_frame, [JSON] = try_json,
		[NODELIST] = try_nodelist,
	};

	if (size)
		try[data[0] % WHATS](data + 1, size - 1);
	return 0;
}

/* -- seeds: what is valid ------------------------------------------------------ */

#define SEED_MAX (256 << 10)

static size_t put_image(uint8_t *to, struct sl_builder *b)
{
	struct sl_error err;
	const void *bytes;
	size_t size;

	MUST(sl_builder_finish(b, &bytes, &size, &err) == 0);
	MUST(size <= SEED_MAX);
	memcpy(to, bytes, size);
	return size;
}

static size_t put_frame(uint8_t *to, uint64_t *seed)
{
	static const uint32_t length[] = {
		0, sizeof(struct sl_frame_hello), sizeof(struct sl_frame_load), sizeof(struct sl_frame_loaded),
		sizeof(struct sl_frame_decide), sizeof(struct sl_frame_plan), 0,
	};
	uint32_t type = 1 + make_below(seed, 6);
	struct {
		uint16_t magic, version;
		uint32_t type, length, zero;
	} head = { SL_WIRE_MAGIC, SL_WIRE_VERSION, type, length[type], 0 };

	to[0] = type == SL_FRAME_DECIDE ? 1 : 0;
	memcpy(to + 1, &head, sizeof(head));
	memset(to + 1 + sizeof(head), 0, length[type]);
	return 1 + sizeof(head) + length[type];
}

/* A valid input of some kind; its size. */
static size_t make_input(uint8_t *to, uint64_t *seed)
{
	static struct sl_builder *snapshot, *plan;
	static const char *const lists[] = { "n[1-4,7],m8", "a,b,c", "r[1-2]n", "gpu[01-08,10]" };
	struct sl_snapshot snap;
	struct sl_error err;
	size_t size;
	char *json;

	if (!snapshot) {
		snapshot = sl_builder_create(&sl_snapshot_schema, NULL);
		plan = sl_builder_create(&sl_plan_schema, NULL);
		MUST(snapshot && plan);
	}
	sl_builder_reset(snapshot);
	sl_builder_reset(plan);
	to[0] = make_below(seed, WHATS);
	switch (to[0]) {
	case SNAPSHOT:
		make_snapshot(snapshot, make_random(seed), make_below(seed, 12), make_below(seed, 8));
		return 1 + put_image(to + 1, snapshot);
	case PLAN:
		make_plan(plan, make_random(seed), 1 + make_below(seed, 12), make_below(seed, 16));
		return 1 + put_image(to + 1, plan);
	case FRAME:
		return 1 + put_frame(to + 1, seed);
	case JSON:
		make_snapshot(snapshot, make_random(seed), make_below(seed, 6), make_below(seed, 4));
		size = put_image(to + 8, snapshot);
		MUST(sl_snapshot_open(&snap, to + 8, size, &err) == 0);
		json = json_of(&snap.image, &snap);
		size = strlen(json);
		memcpy(to + 1, json, size);
		free(json);
		return 1 + size;
	default:
		strcpy((char *) to + 1, lists[make_below(seed, 4)]);
		return 1 + strlen((char *) to + 1);
	}
}

#ifndef SL_LIBFUZZER
/* -- the plain driver ------------------------------------------------------------ */

static uint64_t interesting(uint64_t *seed)
{
	static const uint64_t v[] = { 0, 1, 2, 7, 8, 64, 255, 0x7fffffff, 0x80000000, UINT32_MAX, SL_IMAGE_MAX_ROWS,
				      INT64_MAX, UINT64_MAX, UINT64_MAX - 7, (uint64_t) 1 << 40 };

	return make_below(seed, 4) ? v[make_below(seed, sizeof(v) / sizeof(v[0]))] : make_below(seed, 300);
}

/* Change the input a little; its new size. */
static size_t mutate(uint8_t *p, size_t size, uint64_t *seed)
{
	uint32_t at = make_below(seed, size), width, to;
	uint64_t v = interesting(seed);

	switch (make_below(seed, 8)) {
	case 0:			/* a bit */
		p[at] ^= 1 << make_below(seed, 8);
		return size;
	case 1:			/* a byte */
		p[at] = make_random(seed);
		return size;
	case 2: case 3: case 4:	/* a word of the image, which begins behind the first byte */
		width = make_below(seed, 3) ? 4 : 8;
		at = 1 + at / width * width;
		if (at + width <= size)
			memcpy(p + at, &v, width);
		return size;
	case 5:			/* a word of the header or the directory */
		at = 1 + 4 * make_below(seed, 80);
		if (at + 8 <= size)
			memcpy(p + at, &v, make_below(seed, 2) ? 4 : 8);
		return size;
	case 6:			/* some bytes are elsewhere too */
		to = make_below(seed, size);
		width = 1 + make_below(seed, 64);
		if (at + width <= size && to + width <= size)
			memmove(p + to, p + at, width);
		return size;
	default:		/* shorter or longer */
		if (make_below(seed, 2))
			return at ? at : 1;
		width = make_below(seed, 32);
		memset(p + size, make_below(seed, 2) ? 0 : 'x', width);
		return size + width;
	}
}

int main(int argc, char **argv)
{
	unsigned long rounds = argc > 1 ? strtoul(argv[1], NULL, 0) : 50000;
	uint64_t first = argc > 2 ? strtoull(argv[2], NULL, 0) : 1, seed;
	uint8_t *input = malloc(SEED_MAX + 4096);
	size_t size;

	MUST(input);
	printf("1..2\n# %lu rounds from seed %" PRIu64 "\n", rounds, first);
	fflush(stdout);
	for (unsigned long i = 0; i < 200; i++) {
		seed = first + i;
		size = make_input(input, &seed);
		LLVMFuzzerTestOneInput(input, size);
	}
	for (int w = 0; w < WHATS; w++)
		MUST(accepted[w] > 0);
	printf("ok 1 - valid images, frames, JSON and node lists are accepted\n");
	for (unsigned long i = 0; i < rounds; i++) {
		seed = first + i;
		size = make_input(input, &seed);
		for (uint32_t m = 1 + make_below(&seed, 4); m > 0; m--)
			size = mutate(input, size, &seed);
		LLVMFuzzerTestOneInput(input, size);
	}
	printf("# accepted: %llu snapshots, %llu plans, %llu frames, %llu JSON, %llu node lists\n", accepted[SNAPSHOT],
	       accepted[PLAN], accepted[FRAME], accepted[JSON], accepted[NODELIST]);
	printf("ok 2 - mutated ones are refused or hold what they promise\n");
	free(input);
	return 0;
}
#else
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed);

/* Without a corpus: begin with something valid now and then. */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed)
{
	static uint8_t input[SEED_MAX + 4096];
	uint64_t s = seed;
	size_t n;

	if (size > 16 && seed % 64)
		return LLVMFuzzerMutate(data, size, max);
	n = make_input(input, &s);
	n = n < max ? n : max;
	memcpy(data, input, n);
	return n;
}
#endif
