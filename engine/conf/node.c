/* SPDX-License-Identifier: MIT */
/*
 * conf/node.c - what a NodeName line means, as _parse_nodename() of src/common/read_config.c and
 * _init_node_record() of src/common/node_conf.c have it; see conf/private.h.
 */
#include "conf/private.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/grow.h"
#include "base/order.h"

#define MOST_NODES (1u << 18)	/* four times what slurmctld takes */
#define MOST_CORES 65535u	/* Slurm counts the cores and CPUs of a node in 16 bits */

struct line {			/* a NodeName line at hand */
	struct sl_conf *c;
	struct sl_conf_where where;
	struct sl_conf_words words;
	struct sl_error *err;
	uint32_t kind;
};

static const char *said(const struct line *l, int key)
{
	return sl_conf_said(&sl_conf_node_table, &l->words, &l->c->own->node_default, key);
}

/* A number that was checked when the line was read; *usual* where nothing is said. */
static uint64_t number_of(const struct line *l, int key, uint64_t usual)
{
	const char *text = said(l, key);
	uint64_t n = usual;

	if (text)
		sl_conf_scan_number(sl_conf_node_table.key[key].type, text, &n);
	return n;
}

/* A number that cannot be 0. */
static uint32_t count_of(const struct line *l, int key)
{
	uint32_t n = (uint32_t) number_of(l, key, 1);

	if (n)
		return n;
	sl_conf_note(l->c, l->where, "%s=0: 1 is taken, as slurmctld does", sl_conf_node_table.key[key].name);
	return 1;
}

/* -- sockets, cores, CPUs ------------------------------------------------------ */

/* The sockets of all boards. */
static uint64_t count_sockets(const struct line *l, const struct sl_conf_kind *k, bool cpus_said)
{
	uint32_t per_board = count_of(l, SL_NODE_SOCKETS_PER_BOARD), sockets = count_of(l, SL_NODE_SOCKETS);
	uint64_t of_socket = (uint64_t) k->cores_per_socket * k->threads_per_core;

	if (said(l, SL_NODE_SOCKETS_PER_BOARD)) {
		if (said(l, SL_NODE_SOCKETS))
			sl_conf_note(l->c, l->where, "Sockets and SocketsPerBoard: the latter counts");
		return (uint64_t) k->boards * per_board;
	}
	if (said(l, SL_NODE_SOCKETS))
		return sockets;
	return cpus_said && k->cpus / of_socket && k->cpus % of_socket == 0 ? k->cpus / of_socket : k->boards;
}

static int count_cpus(const struct line *l, struct sl_conf_kind *k)
{
	/* the order of _parse_nodename(): CPUs of either line, then Procs of either */
	int key = said(l, SL_NODE_CPUS) ? SL_NODE_CPUS : SL_NODE_PROCS;
	bool cpus_said = said(l, key);
	uint64_t sockets, cores, threads;

	k->boards = count_of(l, SL_NODE_BOARDS);
	k->cores_per_socket = count_of(l, SL_NODE_CORES_PER_SOCKET);
	k->threads_per_core = count_of(l, SL_NODE_THREADS_PER_CORE);
	k->cpus = count_of(l, key);
	sockets = count_sockets(l, k, cpus_said);
	cores = sockets * k->cores_per_socket;
	threads = cores > MOST_CORES ? cores : cores * k->threads_per_core;
	if (threads > MOST_CORES)
		return sl_conf_fail(l->where, l->err, "%" PRIu64 " sockets of %" PRIu32 " cores of %" PRIu32 " threads: expected up to "
				    "%u CPUs in all", sockets, k->cores_per_socket, k->threads_per_core, MOST_CORES);
	k->sockets = (uint32_t) sockets;
	if (!cpus_said)
		k->cpus = (uint32_t) threads;
	if (k->sockets < k->boards) {
		sl_conf_note(l->c, l->where, "%" PRIu32 " sockets on %" PRIu32 " boards: 1 board is taken, as slurmctld does",
			     k->sockets, k->boards);
		k->boards = 1;
	}
	if (k->cpus != sockets && k->cpus != cores && k->cpus != threads) {
		sl_conf_note(l->c, l->where, "CPUs=%" PRIu32 " are neither the sockets nor the cores nor the threads: %" PRIu64
			     " is taken, as slurmctld does", k->cpus, threads);
		k->cpus = (uint32_t) threads;
	}
	return 0;
}

/* -- cores for the system -------------------------------------------------------- */

/* How many cores a list of CPUs such as "0-3,8" takes, of *cpus* with *threads* each; -1: it is no such list. */
static int64_t count_listed_cores(const char *list, uint32_t cpus, uint32_t threads)
{
	unsigned char *taken = calloc(cpus / threads + 1, 1);
	int64_t cores = 0;
	char *end;

	for (const char *p = list; taken; p = end + 1) {
		unsigned long from = strtoul(p, &end, 10), to = from;

		if (end == p || !isdigit((unsigned char) *p))
			break;
		if (*end == '-') {
			p = end + 1;
			to = strtoul(p, &end, 10);
			if (end == p || !isdigit((unsigned char) *p))
				break;
		}
		if (to < from || to >= cpus || (*end && *end != ','))
			break;
		for (unsigned long core = from / threads; core <= to / threads; core++) {
			cores += !taken[core];
			taken[core] = 1;
		}
		if (!*end) {
			free(taken);
			return cores;
		}
	}
	free(taken);
	return -1;
}

static void count_spec_cores(const struct line *l, struct sl_conf_kind *k)
{
	const char *list = said(l, SL_NODE_CPU_SPEC_LIST);
	uint32_t cores = k->sockets * k->cores_per_socket, threads = cores >= k->cpus ? 1 : k->threads_per_core;
	int64_t listed;

	k->core_spec = (uint32_t) number_of(l, SL_NODE_CORE_SPEC_COUNT, 0);
	if (k->core_spec >= cores) {
		sl_conf_note(l->c, l->where, "CoreSpecCount=%" PRIu32 " of %" PRIu32 " cores: 1 is taken, as slurmctld does",
			     k->core_spec, cores);
		k->core_spec = 1;
	}
	if (!list)
		return;
	listed = count_listed_cores(list, k->cpus, threads);
	if (listed < 0) {
		sl_conf_note(l->c, l->where, "CpuSpecList=%s: expected a list such as 0-3,8 of CPUs below %" PRIu32
			     "; it is left out, as slurmctld does", list, k->cpus);
		return;
	}
	if (k->core_spec)
		sl_conf_note(l->c, l->where, "CoreSpecCount and CpuSpecList: the latter counts");
	k->core_spec = (uint32_t) listed;
}

/* -- a line ---------------------------------------------------------------------- */

/* What state_str2int() of src/common/node_conf.c takes. */
static int check_state(const struct line *l, const char *state)
{
	static const char *const whole[] = {
		"UNKNOWN", "DOWN", "IDLE", "ALLOCATED", "ERROR", "MIXED", "FUTURE",
	};
	static const char *const begun[] = { "CLOUD", "DRAIN", "FAIL", "EXTERNAL" };

	for (size_t i = 0; i < sizeof(whole) / sizeof(whole[0]); i++)
		if (!strcasecmp(state, whole[i]))
			return 0;
	for (size_t i = 0; i < sizeof(begun) / sizeof(begun[0]); i++)
		if (!strncasecmp(state, begun[i], strlen(begun[i])))
			return 0;
	return sl_conf_fail(l->where, l->err, "State=%s: expected CLOUD, DOWN, DRAIN, FAIL, FUTURE, IDLE or UNKNOWN", state);
}

/* What changes which job can run where, and has no counterpart in a snapshot. */
static void note_others(const struct line *l)
{
	static const int keys[] = { SL_NODE_TOPOLOGY, SL_NODE_RESTRICTED_CORES };

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (said(l, keys[i]))
			sl_conf_note(l->c, l->where, "%s=%s is not modelled", sl_conf_node_table.key[keys[i]].name, said(l, keys[i]));
}

static const char *copy_of(const struct line *l, const char *text)
{
	return text && *text ? sl_conf_copy(l->c, text, l->err) : "";
}

static int fill_kind(const struct line *l, struct sl_conf_kind *k)
{
	const char *state = said(l, SL_NODE_STATE), *features = l->words.value[SL_NODE_FEATURE];
	const struct sl_conf_words *usual = &l->c->own->node_default;

	if (count_cpus(l, k) || (state && check_state(l, state)))
		return -1;
	count_spec_cores(l, k);
	k->memory_said = said(l, SL_NODE_REAL_MEMORY);
	k->memory_mib = number_of(l, SL_NODE_REAL_MEMORY, 1);
	k->mem_spec_mib = number_of(l, SL_NODE_MEM_SPEC_LIMIT, 0);
	if (k->mem_spec_mib && k->mem_spec_mib >= k->memory_mib) {
		sl_conf_note(l->c, l->where, "MemSpecLimit=%" PRIu64 " of RealMemory=%" PRIu64 ": 0 is taken, as slurmctld does",
			     k->mem_spec_mib, k->memory_mib);
		k->mem_spec_mib = 0;
	}
	k->tmp_disk_mib = number_of(l, SL_NODE_TMP_DISK, 0);
	k->weight = (uint32_t) number_of(l, SL_NODE_WEIGHT, 1);
	k->weight -= k->weight == SL_CONF_UNLIMITED;
	k->future = state && !strcasecmp(state, "FUTURE");
	if (!features)
		features = l->words.value[SL_NODE_FEATURES];
	if (!features)
		features = usual->value[SL_NODE_FEATURE] ? usual->value[SL_NODE_FEATURE] : usual->value[SL_NODE_FEATURES];
	note_others(l);
	k->features = copy_of(l, features);
	k->gres_text = copy_of(l, said(l, SL_NODE_GRES));
	return k->features && k->gres_text ? 0 : -1;
}

uint32_t sl_conf_find_node(const struct sl_conf *c, const char *name)
{
	SL_MAP_EACH(&c->own->by_name, sl_hash_text(SL_HASH, name), at)
		if (!strcmp(c->node[at.value].name, name))
			return at.value;
	return SL_MAP_NOTHING;
}

static int add_node(const char *name, void *arg)
{
	struct line *l = arg;
	struct sl_conf *c = l->c;
	uint32_t n = c->own->all_nodes;

	if (n == MOST_NODES)
		return sl_conf_fail(l->where, l->err, "more than %u nodes", MOST_NODES);
	if (sl_conf_find_node(c, name) != SL_MAP_NOTHING)
		return sl_conf_fail(l->where, l->err, "node %s twice", name);
	if (sl_grow(&c->node, &c->own->node_room, n + UINT64_C(1), sizeof(*c->node), l->err))
		return -1;
	c->node[n] = (struct sl_conf_node) { .name = sl_conf_copy(c, name, l->err), .kind = l->kind, .topology = "", .nth = n };
	if (!c->node[n].name || sl_map_put(&c->own->by_name, sl_hash_text(SL_HASH, name), n, l->err))
		return -1;
	c->own->all_nodes++;
	return 0;
}

int sl_conf_node_line(struct sl_conf *c, struct sl_conf_where where, const char *name, char *rest, struct sl_error *err)
{
	struct line l = { .c = c, .where = where, .err = err, .kind = c->kinds };
	struct sl_conf_kind k = { .where = where };
	uint32_t before = c->own->all_nodes;

	if (sl_conf_read_words(c, where, &sl_conf_node_table, rest, &l.words, err))
		return -1;
	if (!strcasecmp(name, "DEFAULT"))
		return sl_conf_overlay(c, &sl_conf_node_table, where, &c->own->node_default, &l.words, err);
	if (!strcasecmp(name, "ALL"))
		return sl_conf_fail(where, err, "NodeName=%s: expected a node, since this word stands for all of them", name);
	if (fill_kind(&l, &k) || sl_grow(&c->kind, &c->own->kind_room, c->kinds + UINT64_C(1), sizeof(*c->kind), err))
		return -1;
	c->kind[c->kinds++] = k;
	if (sl_conf_split(name, where, add_node, &l, err))
		return -1;
	if (k.future)
		sl_conf_note(c, where, "%" PRIu32 " nodes of State=FUTURE are left out, as scontrol does",
			     c->own->all_nodes - before);
	return 0;
}

/* Cores that select could not give anybody. */
static void note_selected(struct sl_conf *c)
{
	for (uint32_t i = 0; i < c->kinds && !c->select.whole_nodes; i++) {
		const struct sl_conf_kind *k = &c->kind[i];
		uint32_t cores = k->sockets * k->cores_per_socket;

		if (k->cpus != cores && k->cpus != cores * k->threads_per_core)
			sl_conf_note(c, k->where, "CPUs=%" PRIu32 " are neither the cores (%" PRIu32 ") nor the threads (%" PRIu32 "): "
				     "select/cons_tres up to 23.02 does not start with that", k->cpus, cores,
				     cores * k->threads_per_core);
		if (c->select.socket && k->core_spec > (k->sockets - 1) * k->cores_per_socket)
			sl_conf_note(c, k->where, "cores set aside on all sockets: CR_Socket does not start with that");
	}
}

/* -- their order ------------------------------------------------------------------- */

/* Runs of digits: those that begin with a zero are fractions, digit by digit; others are numbers. */
static int compare_digits(const char **a, const char **b)
{
	const char *p = *a, *q = *b;
	bool fractions = *p == '0' || *q == '0';
	int first = 0;

	for (;; p++, q++) {
		bool in_a = isdigit((unsigned char) *p), in_b = isdigit((unsigned char) *q);

		if (!in_a || !in_b) {
			if (in_a != in_b)
				first = in_a ? 1 : -1;
			break;
		}
		if (!first && *p != *q)
			first = *p < *q ? -1 : 1;
		if (first && fractions)
			break;
	}
	*a = p;
	*b = q;
	return first;
}

/* The order of strnatcmp(), which slurmctld sorts its table of nodes by: n2 before n10. */
static int compare_names(const char *a, const char *b)
{
	for (;;) {
		int d = 0;

		while (isspace((unsigned char) *a))
			a++;
		while (isspace((unsigned char) *b))
			b++;
		if (isdigit((unsigned char) *a) && isdigit((unsigned char) *b)) {
			d = compare_digits(&a, &b);
			if (d)
				return d;
			continue;
		}
		if (*a != *b)
			return (unsigned char) *a < (unsigned char) *b ? -1 : 1;
		if (!*a)
			return 0;
		a++;
		b++;
	}
}

static int by_future_and_name(const void *x, const void *y, void *arg)
{
	const struct sl_conf_node *a = x, *b = y;
	const struct sl_conf *c = arg;
	bool later = c->kind[a->kind].future, other = c->kind[b->kind].future;

	return later != other ? later - other : compare_names(a->name, b->name) ?: strcmp(a->name, b->name);
}

/* Find nodes by their names in the order that they have now. */
static int number_nodes(struct sl_conf *c, struct sl_error *err)
{
	struct sl_map *m = &c->own->by_name;

	sl_map_clear(m);
	for (uint32_t i = 0; i < c->own->all_nodes; i++)
		if (sl_map_put(m, sl_hash_text(SL_HASH, c->node[i].name), i, err))
			return -1;
	return 0;
}

int sl_conf_order_nodes(struct sl_conf *c, struct sl_error *err)
{
	note_selected(c);
	if (c->own->all_nodes)
		qsort_r(c->node, c->own->all_nodes, sizeof(*c->node), by_future_and_name, c);
	for (uint32_t i = 0; i < c->own->all_nodes; i++)
		c->nodes += !c->kind[c->node[i].kind].future;
	return number_nodes(c, err);
}

struct ranked {
	uint32_t rank;
	struct sl_conf_node node;
};

static int by_rank_and_place(const void *x, const void *y)
{
	const struct ranked *a = x, *b = y;

	return SL_ORDER(a->rank, b->rank) ?: SL_ORDER(a->node.nth, b->node.nth);
}

int sl_conf_rank_nodes(struct sl_conf *c, const uint32_t *rank, struct sl_error *err)
{
	struct ranked *list = malloc((c->nodes + 1) * sizeof(*list));

	if (!list)
		return sl_fail(err, SL_ENOMEM, "out of memory");
	for (uint32_t i = 0; i < c->nodes; i++)
		list[i] = (struct ranked) { .rank = rank[i], .node = c->node[i] };
	qsort(list, c->nodes, sizeof(*list), by_rank_and_place);
	for (uint32_t i = 0; i < c->nodes; i++)
		c->node[i] = list[i].node;
	free(list);
	return number_nodes(c, err);
}
