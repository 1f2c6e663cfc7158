/* SPDX-License-Identifier: MIT */
/*
 * machine.c - the nodes that a workload runs on: from a few words, or from a file.
 */
#include "workload/private.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "image/copy.h"

#define POOL_CORES 65535	/* of a node, SL_MAX_NODE_CORES of timeline/timeline.h */
#define MACHINE_NODES ((uint32_t) 1 << 22)	/* of a machine */

struct kind {			/* 1024x8c64000m2g:a100 */
	uint32_t nodes, cores, threads, sockets, memory, weight, gpus;
	char type[32];
};

static int fail_expected(const char *text, const char *at, const char *what, struct sl_error *err)
{
	return sl_fail(err, SL_EINVAL, "machine \"%s\": at \"%s\": expected %s, as in 1024x8c2g or 16x64c256000m4g:a100",
		       text, at, what);
}

/* A number from *least* on; *p moves behind it. */
static bool scan_count(const char **p, uint32_t least, uint32_t most, uint32_t *n)
{
	const char *s = *p;
	int64_t v;

	if (*s < '0' || *s > '9' || !sl_scan_int(&s, &v) || v < least || v > most)
		return false;
	*p = s;
	*n = v;
	return true;
}

/* One number and its letter. */
static int parse_amount(const char *text, const char **at, struct kind *k, struct sl_error *err)
{
	const struct {
		char letter;
		uint32_t *to, most;
	} amounts[] = {
		{ 'c', &k->cores, POOL_CORES }, { 't', &k->threads, 16 }, { 's', &k->sockets, 1024 },
		{ 'm', &k->memory, UINT32_MAX - 1 }, { 'w', &k->weight, UINT32_MAX - 1 }, { 'g', &k->gpus, 65535 },
	};
	const char *p = *at;
	uint32_t n;
	size_t length;

	if (!scan_count(&p, 0, UINT32_MAX - 1, &n))
		return fail_expected(text, p, "a number", err);
	for (size_t i = 0; i < sizeof(amounts) / sizeof(amounts[0]); i++) {
		if (*p != amounts[i].letter)
			continue;
		if (n > amounts[i].most || (!n && *p != 'g'))
			return sl_fail(err, SL_EINVAL, "machine \"%s\": at \"%s\": expected a number up to %" PRIu32,
				       text, *at, amounts[i].most);
		*amounts[i].to = n;
		*at = ++p;
		if (p[-1] != 'g' || *p != ':')
			return 0;
		length = strcspn(++p, ",+:");
		if (!length || length >= sizeof(k->type) || !k->gpus)
			return fail_expected(text, p, "a type of GPU", err);
		memcpy(k->type, p, length);
		*at = p + length;
		return 0;
	}
	return fail_expected(text, p, "one of c (cores), g (GPUs), m (MiB of memory), s (sockets), t (threads), w (weight)",
			err);
}

static int parse_kind(const char *text, const char **at, struct kind *k, struct sl_error *err)
{
	*k = (struct kind) { .threads = 1, .sockets = 1, .weight = 1 };
	if (!scan_count(at, 1, MACHINE_NODES, &k->nodes) || **at != 'x')
		return fail_expected(text, *at, "a number of nodes and \"x\"", err);
	++*at;
	while (**at && **at != ',' && **at != '+')
		if (parse_amount(text, at, k, err) < 0)
			return -1;
	return k->cores ? 0 : fail_expected(text, *at, "a number of cores", err);
}

uint32_t sl_machine_gres_kind(struct sl_builder *b, const char *name, const char *type)
{
	struct sl_gres_kind_row row = sl_gres_kind_row();
	char key[160];
	uint32_t str;

	snprintf(key, sizeof(key), "%s%s%s", name, *type ? ":" : "", type);
	str = sl_builder_str(b, key);
	for (uint32_t i = 0; i < sl_builder_rows(b, SL_T_GRES_KIND); i++)
		if (!sl_builder_row(b, SL_T_GRES_KIND, i, &row) && row.key == str)
			return i;
	row.key = str;
	row.name = sl_builder_str(b, name);
	row.type = sl_builder_str(b, type);
	return sl_builder_append(b, SL_T_GRES_KIND, &row);
}

static void add_nodes(struct sl_builder *b, const struct kind *k, uint32_t *number, int width)
{
	struct sl_node_row node = sl_node_row();
	struct sl_node_gres_row gres = sl_node_gres_row();
	char name[32];

	node.cores = k->cores;
	node.threads = k->threads;
	node.sockets = k->sockets;
	node.memory = k->memory;
	node.weight = k->weight;
	if (k->gpus) {
		gres.kind = sl_machine_gres_kind(b, "gpu", k->type);
		gres.count = k->gpus;
	}
	for (uint32_t i = 0; i < k->nodes; i++) {
		snprintf(name, sizeof(name), "n%0*" PRIu32, width, ++*number);
		node.name = sl_builder_str(b, name);
		if (k->gpus)
			node.gres = (struct sl_range) { sl_builder_append(b, SL_T_NODE_GRES, &gres), 1 };
		sl_builder_append(b, SL_T_NODE, &node);
	}
}

void sl_machine_add_all(struct sl_builder *b)
{
	struct sl_partition_row part = sl_partition_row();
	struct sl_run_row run = sl_run_row();

	run.first = 0;
	run.last = sl_builder_rows(b, SL_T_NODE) - 1;
	part.name = sl_builder_str(b, "all");
	part.nodes = (struct sl_range) { sl_builder_append(b, SL_T_RUN, &run), 1 };
	part.flags = SL_PART_UP | SL_PART_DEFAULT;
	sl_builder_append(b, SL_T_PARTITION, &part);
}

static int count_digits(uint64_t n)
{
	int d = 1;

	for (; n >= 10; n /= 10)
		d++;
	return d;
}

int sl_machine_parse(struct sl_builder *b, const char *text, uint32_t *select_flags, struct sl_error *err)
{
	const char *p = text;
	struct kind k;
	uint64_t nodes = 0;
	uint32_t number = 0;

	for (;; p++) {
		if (parse_kind(text, &p, &k, err) < 0)
			return -1;
		nodes += k.nodes;
		if (k.memory)
			*select_flags |= SL_SELECT_MEMORY;
		if (!*p)
			break;
	}
	if (nodes > MACHINE_NODES)
		return sl_fail(err, SL_ELIMIT, "machine \"%s\": more than %" PRIu32 " nodes", text, MACHINE_NODES);
	for (p = text;; p++) {
		parse_kind(text, &p, &k, NULL);
		add_nodes(b, &k, &number, count_digits(nodes));
		if (!*p)
			break;
	}
	sl_machine_add_all(b);
	return 0;
}

int sl_machine_pool(struct sl_builder *b, uint32_t procs, struct sl_error *err)
{
	uint32_t nodes = procs / POOL_CORES + (procs % POOL_CORES != 0), number = 0;
	struct kind k = { .nodes = 1, .threads = 1, .sockets = 1, .weight = 1 };

	if (!procs)
		return sl_fail(err, SL_EINVAL, "a machine of no processors");
	for (uint32_t i = 0; i < nodes; i++) {
		k.cores = procs / nodes + (i < procs % nodes);
		add_nodes(b, &k, &number, count_digits(nodes));
	}
	sl_machine_add_all(b);
	return 0;
}

/* -- a captured snapshot -------------------------------------------------- */

/* Where each kind of generic resource of the snapshot stands in the builder; malloc'ed. */
static uint32_t *map_kinds(struct sl_builder *b, const struct sl_snapshot *s)
{
	uint32_t *map = calloc(s->gres_kind.rows + 1, sizeof(*map));

	for (uint32_t i = 0; map && i < s->gres_kind.rows; i++)
		map[i] = sl_machine_gres_kind(b, sl_snapshot_str(s, s->gres_kind.name[i]),
					      sl_snapshot_str(s, s->gres_kind.type[i]));
	return map;
}

/* Nodes as they were built, not as they were that day: all are up, and nobody's. */
static void copy_nodes(struct sl_image_copy *copy, uint32_t nodes)
{
	const struct sl_node_row fresh = sl_node_row();

	for (uint32_t i = 0; i < nodes; i++) {
		struct sl_node_row row;

		sl_image_copy_row(copy, SL_T_NODE, i, &row);
		row.state = fresh.state;
		row.owner = fresh.owner;
		row.boot_time = fresh.boot_time;
		row.reason = fresh.reason;
		sl_builder_append(copy->to, SL_T_NODE, &row);
	}
}

/* Partitions that are up and open to all: the users of a log are others. */
static void copy_partitions(struct sl_image_copy *copy, uint32_t partitions)
{
	const struct sl_partition_row open = sl_partition_row();

	for (uint32_t i = 0; i < partitions; i++) {
		struct sl_partition_row row;

		sl_image_copy_row(copy, SL_T_PARTITION, i, &row);
		row.flags |= SL_PART_UP;
		row.allow_accounts = open.allow_accounts;
		row.deny_accounts = open.deny_accounts;
		row.allow_qos = open.allow_qos;
		row.deny_qos = open.deny_qos;
		row.allow_users = open.allow_users;
		sl_builder_append(copy->to, SL_T_PARTITION, &row);
	}
	if (!partitions)
		sl_machine_add_all(copy->to);
}

static int copy_machine(struct sl_builder *b, const struct sl_snapshot *s, struct sl_error *err)
{
	uint32_t *kinds = map_kinds(b, s);
	const uint32_t *map[SL_SNAPSHOT_TABLES] = { [SL_T_GRES_KIND] = kinds };
	struct sl_image_copy copy = { .image = &s->image, .view = s, .to = b, .map = map };

	if (!kinds)
		return sl_fail(err, SL_ENOMEM, "out of memory");
	copy_nodes(&copy, s->node.rows);
	copy_partitions(&copy, s->partition.rows);
	free(kinds);
	return 0;
}

static int load_snapshot(struct sl_builder *b, const char *path, uint32_t *select_flags, struct sl_error *err)
{
	struct sl_snapshot s;
	void *bytes;
	size_t size;
	int rc;

	if (sl_image_load(&sl_snapshot_schema, path, &bytes, &size, err) < 0)
		return -1;
	rc = sl_snapshot_open(&s, bytes, size, err);
	if (rc < 0) {
		sl_fail_in(err, "%s", path);
	} else if (!s.node.rows) {
		rc = sl_fail(err, SL_EFORMAT, "%s: a snapshot without nodes", path);
	} else {
		rc = copy_machine(b, &s, err);
		*select_flags = s.meta.select_flags[0];
	}
	free(bytes);
	return rc;
}

/* A snapshot begins with its magic number, or as JSON with a brace. */
static int is_snapshot(const char *path, struct sl_error *err)
{
	unsigned char head[64];
	uint32_t magic;
	size_t n, i = 0;
	struct stat st;
	FILE *f;

	if (stat(path, &st) == 0 && !S_ISREG(st.st_mode))	/* a pipe may have no writer, ever */
		return sl_fail(err, SL_EIO, "%s: expected a file: a slurm.conf or a snapshot", path);
	f = fopen(path, "re");
	if (!f)
		return sl_fail(err, errno == ENOENT ? SL_ENOENT : SL_EIO, "%s: %s", path, strerror(errno));
	n = fread(head, 1, sizeof(head), f);
	fclose(f);
	while (i < n && strchr(" \t\r\n", head[i]) && head[i])
		i++;
	if (i < n && head[i] == '{')
		return 1;
	if (n < sizeof(magic))
		return 0;
	memcpy(&magic, head, sizeof(magic));
	return magic == sl_snapshot_schema.magic || magic == __builtin_bswap32(sl_snapshot_schema.magic);
}

int sl_machine_load(struct sl_builder *b, const char *path, uint32_t *select_flags, struct sl_notes *notes,
		    struct sl_error *err)
{
	int snapshot = is_snapshot(path, err), openb = snapshot ? 0 : sl_machine_is_openb(path, err);

	if (snapshot < 0 || openb < 0)
		return -1;
	if (openb)
		return sl_machine_load_openb(b, path, select_flags, err);
	return snapshot ? load_snapshot(b, path, select_flags, err) :
			  sl_machine_load_conf(b, path, select_flags, notes, err);
}

int sl_machine_from_options(struct sl_builder *b, const struct sl_workload_options *opt, uint32_t *select_flags,
			    struct sl_notes *notes, struct sl_error *err)
{
	if (opt->machine && opt->procs)
		return sl_fail(err, SL_EINVAL, "a machine and a number of processors: expected one of them");
	if (opt->procs)
		return sl_machine_pool(b, opt->procs, err) < 0 ? -1 : 1;
	if (!opt->machine)
		return 0;
	if (access(opt->machine, F_OK) == 0)
		return sl_machine_load(b, opt->machine, select_flags, notes, err) < 0 ? -1 : 1;
	if (strchr(opt->machine, '/') || !strpbrk(opt->machine, "0123456789"))
		return sl_fail(err, SL_ENOENT, "machine \"%s\": no such file, and no machine such as 1024x8c2g",
			       opt->machine);
	return sl_machine_parse(b, opt->machine, select_flags, err) < 0 ? -1 : 1;
}
