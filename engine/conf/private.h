/* SPDX-License-Identifier: MIT */
/*
 * conf/private.h - what the parts of the reader of slurm.conf share.
 *
 *	text.c		files, includes, comments and continuations: the lines
 *	keys.c		which options there are, and of what type
 *	words.c		KEY=VALUE, and the options of one line
 *	read.c		which line is what
 *	node.c, partition.c, gres.c, topology.c, topology_blocks.c, topology_yaml.c	what the lines mean
 */
#ifndef SL_CONF_PRIVATE_H
#define SL_CONF_PRIVATE_H

#include <stddef.h>

#include "base/map.h"
#include "conf/conf.h"

/* -- lines (text.c) -------------------------------------------------------- */

struct sl_conf_files {		/* read so far */
	char **path;
	uint32_t files, room;
	uint64_t bytes;
};

struct sl_conf_source {
	/* A line that is not empty, with comments and escapes removed; it may be written to.  Non-zero
	 * ends the reading with that value. */
	int (*line)(void *arg, struct sl_conf_where where, char *text, struct sl_error *err);
	/* The value of ClusterName so far, for "%c" in Include; NULL where it has not been said. */
	const char *(*cluster)(void *arg);
	void *arg;
	struct sl_conf_files *files;
	struct sl_notes *notes;
};

/* Call source->line for each line of a file and of those that it includes.  0, what line() returned, or -1 with *err. */
int sl_conf_each_line(const char *path, const struct sl_conf_source *source, struct sl_error *err);
void sl_conf_files_free(struct sl_conf_files *f);

/* A file beside another one: malloc'ed, or NULL without memory. */
char *sl_conf_beside(const char *path, const char *name);

/* -- options (keys.c) ------------------------------------------------------ */

enum sl_conf_type { SL_CONF_TEXT, SL_CONF_U16, SL_CONF_U32, SL_CONF_U64, SL_CONF_BOOLEAN };

struct sl_conf_key {
	const char *name;
	enum sl_conf_type type;
	bool alone;		/* slurmctld does not take it from a DEFAULT line */
};

/* The options that may stand in a line behind its first: "NodeName=...". */
struct sl_conf_table {
	const char *of;
	const struct sl_conf_key *key;
	uint32_t keys;
};

enum {
	SL_NODE_BCAST_ADDR, SL_NODE_BOARDS, SL_NODE_CORE_SPEC_COUNT, SL_NODE_CORES_PER_SOCKET, SL_NODE_CPU_BIND, SL_NODE_CPUS,
	SL_NODE_CPU_SPEC_LIST, SL_NODE_FEATURE, SL_NODE_FEATURES, SL_NODE_GRES, SL_NODE_GRES_CONF, SL_NODE_MEM_SPEC_LIMIT,
	SL_NODE_NODE_ADDR, SL_NODE_NODE_HOSTNAME, SL_NODE_PARAMETERS, SL_NODE_PORT, SL_NODE_PROCS, SL_NODE_REAL_MEMORY,
	SL_NODE_REASON, SL_NODE_RESTRICTED_CORES, SL_NODE_SOCKETS, SL_NODE_SOCKETS_PER_BOARD, SL_NODE_STATE,
	SL_NODE_SUSPEND_TIME, SL_NODE_THREADS_PER_CORE, SL_NODE_TMP_DISK, SL_NODE_TOPOLOGY, SL_NODE_TRES_WEIGHTS,
	SL_NODE_WEIGHT,
	SL_NODE_KEYS
};

enum {
	SL_PARTITION_ALLOC_NODES, SL_PARTITION_ALLOW_ACCOUNTS, SL_PARTITION_ALLOW_GROUPS, SL_PARTITION_ALLOW_QOS,
	SL_PARTITION_ALTERNATE, SL_PARTITION_CPU_BIND, SL_PARTITION_DEFAULT, SL_PARTITION_DEFAULT_TIME,
	SL_PARTITION_DEF_CPU_PER_GPU, SL_PARTITION_DEF_MEM_PER_CPU, SL_PARTITION_DEF_MEM_PER_GPU,
	SL_PARTITION_DEF_MEM_PER_NODE, SL_PARTITION_DENY_ACCOUNTS, SL_PARTITION_DENY_QOS, SL_PARTITION_DISABLE_ROOT_JOBS,
	SL_PARTITION_EXCLUSIVE, SL_PARTITION_EXCLUSIVE_TOPO, SL_PARTITION_EXCLUSIVE_USER, SL_PARTITION_GRACE_TIME,
	SL_PARTITION_HIDDEN, SL_PARTITION_LLN, SL_PARTITION_MAX_CPUS_PER_NODE, SL_PARTITION_MAX_CPUS_PER_SOCKET,
	SL_PARTITION_MAX_MEM_PER_CPU, SL_PARTITION_MAX_MEM_PER_NODE, SL_PARTITION_MAX_NODES, SL_PARTITION_MAX_TIME,
	SL_PARTITION_MIN_NODES, SL_PARTITION_NODES, SL_PARTITION_OVERSUBSCRIBE, SL_PARTITION_OVER_TIME_LIMIT,
	SL_PARTITION_POWER_DOWN_ON_IDLE, SL_PARTITION_PREEMPT_MODE, SL_PARTITION_PRIORITY,
	SL_PARTITION_PRIORITY_JOB_FACTOR, SL_PARTITION_PRIORITY_TIER, SL_PARTITION_QOS, SL_PARTITION_REQ_RESV,
	SL_PARTITION_RESUME_TIMEOUT, SL_PARTITION_ROOT_ONLY, SL_PARTITION_SELECT_TYPE_PARAMETERS, SL_PARTITION_SHARED,
	SL_PARTITION_STATE, SL_PARTITION_SUSPEND_TIME, SL_PARTITION_SUSPEND_TIMEOUT, SL_PARTITION_TOPOLOGY,
	SL_PARTITION_TRES_BILLING_WEIGHTS,
	SL_PARTITION_KEYS
};

enum { SL_NODESET_FEATURE, SL_NODESET_NODES, SL_NODESET_KEYS };

enum {
	SL_GRES_AUTODETECT, SL_GRES_CORES, SL_GRES_COUNT, SL_GRES_CPUS, SL_GRES_FILE, SL_GRES_FILES, SL_GRES_FLAGS, SL_GRES_LINK,
	SL_GRES_LINKS, SL_GRES_MULTIPLE_FILES, SL_GRES_NAME, SL_GRES_TYPE,
	SL_GRES_KEYS
};

enum { SL_SWITCH_LINK_SPEED, SL_SWITCH_NODES, SL_SWITCH_SWITCHES, SL_SWITCH_KEYS };

enum { SL_BLOCK_NODES, SL_BLOCK_KEYS };

#define SL_CONF_KEYS ((int) SL_PARTITION_KEYS)	/* the most that a table has */

extern const struct sl_conf_table sl_conf_node_table, sl_conf_partition_table, sl_conf_nodeset_table, sl_conf_gres_table,
	sl_conf_switch_table, sl_conf_block_table, sl_conf_downnodes_table, sl_conf_frontend_table;

/* The name of a setting as slurm.conf(5) writes it, and its type; NULL where there is none. */
const char *sl_conf_find_setting(const char *key, enum sl_conf_type *type);

/* "of gres.conf" where a word that is no option of slurm.conf is one of another file or of older releases; or NULL. */
const char *sl_conf_other_home(const char *key);

/* A number as s_p_handle_uint16() and so on take it, decimal, octal or hexadecimal, INFINITE as all bits of the type. */
bool sl_conf_scan_number(enum sl_conf_type type, const char *text, uint64_t *n);
bool sl_conf_scan_boolean(const char *text, bool *is);

/* -- words (words.c) ------------------------------------------------------- */

struct sl_conf_word {
	char *key, *value;
};

/*
 * The next KEY=VALUE at *p, by keyvalue_pattern of src/common/parse_config.c, cut in place: 1; 0: nothing but blanks is
 * left; -1: what is at *p is none.
 */
int sl_conf_next_word(char **p, struct sl_conf_word *w);

/* The values of a line by the numbers of its table's options; NULL: not said. */
struct sl_conf_words {
	const char *value[SL_CONF_KEYS];
};

/* Read the rest of a line.  Options that the table does not have are noted.  0, or -1 with *err. */
int sl_conf_read_words(struct sl_conf *c, struct sl_conf_where where, const struct sl_conf_table *table, char *rest,
		       struct sl_conf_words *words, struct sl_error *err);

/* Lay what a DEFAULT line says over those before it; values are copied. */
int sl_conf_overlay(struct sl_conf *c, const struct sl_conf_table *table, struct sl_conf_where where,
		    struct sl_conf_words *usual, const struct sl_conf_words *words, struct sl_error *err);

/* The value of a line, or of the DEFAULT lines above it; NULL: neither says it. */
static inline const char *sl_conf_said(const struct sl_conf_table *table, const struct sl_conf_words *words,
				       const struct sl_conf_words *usual, int key)
{
	return words->value[key] ? words->value[key] : table->key[key].alone ? NULL : usual->value[key];
}

/* -- the whole (read.c) ---------------------------------------------------- */

struct sl_conf_nodeset {
	struct sl_conf_where where;
	const char *name, *feature, *nodes;	/* NULL: not said */
};

struct sl_conf_arena {		/* strings, and what else lives as long as the whole */
	char *block;
	size_t used, size;
};

#define SL_CONF_LEVELS 16		/* of blocks, MAX_BLOCK_LEVELS of topology/block */

/* The topology of the cluster: of partitions that name none. */
struct sl_conf_topology {
	bool not_modelled;		/* select places jobs by it, and nodes do not say where they are in it */
	uint32_t block_nodes;		/* of a base block; 0: these are no blocks */
	bool block_levels;		/* there are larger blocks than the base ones, and smaller ones than all nodes */
};

struct sl_conf_own {
	enum sl_conf_what what;
	struct sl_conf_topology topology;
	const char **name;		/* of all topologies, the cluster's own first */
	uint32_t names, name_room;
	struct sl_conf_files files;
	struct sl_conf_arena arena;
	char **blocks;			/* of the arena, full ones */
	uint32_t full, full_room;
	uint32_t setting_room, kind_room, node_room, gres_room, partition_room;
	struct sl_conf_words node_default, partition_default;
	struct sl_conf_nodeset *nodeset;
	uint32_t nodesets, nodeset_room;
	uint32_t default_partition;	/* the last that said Default=YES */
	uint32_t members;		/* nodes of all partitions, as often as they are named */
	struct sl_map by_partition, by_nodeset, by_gres;
	struct sl_map by_name;		/* nodes; FUTURE ones have the numbers from c->nodes on */
	uint32_t all_nodes;		/* FUTURE ones, too */
};

/* Memory that lives as long as *c*; NULL with *err. */
void *sl_conf_alloc(struct sl_conf *c, size_t size, struct sl_error *err);
char *sl_conf_copy(struct sl_conf *c, const char *text, struct sl_error *err);

/* -1 with *err: "slurm.conf:12: ..." */
int sl_conf_fail(struct sl_conf_where where, struct sl_error *err, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
void sl_conf_note(struct sl_conf *c, struct sl_conf_where where, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* The number of a node; SL_MAP_NOTHING: there is none of that name.  From c->nodes on: a FUTURE one. */
uint32_t sl_conf_find_node(const struct sl_conf *c, const char *name);

/* Call visit(name) for each name of a list as hostlist_create() would, with the error at *where*. */
int sl_conf_split(const char *list, struct sl_conf_where where, int (*visit)(const char *name, void *arg), void *arg,
		  struct sl_error *err);

/* -- lines of a kind ------------------------------------------------------- */

int sl_conf_node_line(struct sl_conf *c, struct sl_conf_where where, const char *name, char *rest, struct sl_error *err);
int sl_conf_partition_line(struct sl_conf *c, struct sl_conf_where where, const char *name, char *rest,
			   struct sl_error *err);
int sl_conf_nodeset_line(struct sl_conf *c, struct sl_conf_where where, const char *name, char *rest,
			 struct sl_error *err);

/* -- when all lines are there, in this order ------------------------------- */

int sl_conf_order_nodes(struct sl_conf *c, struct sl_error *err);
int sl_conf_resolve_topology(struct sl_conf *c, const char *path, struct sl_error *err);
int sl_conf_resolve_gres(struct sl_conf *c, const char *path, struct sl_error *err);
int sl_conf_resolve_partitions(struct sl_conf *c, struct sl_error *err);

/* Order nodes anew, by rank[i] of node i and then as they stand in the files. */
int sl_conf_rank_nodes(struct sl_conf *c, const uint32_t *rank, struct sl_error *err);

/* -- topologies (topology.c, topology_yaml.c) ------------------------------- */

struct sl_conf_switch {		/* of a tree, or a block */
	struct sl_conf_where where;
	const char *name, *nodes, *switches;	/* NULL: not said */
	int level;			/* 0: a leaf; -1: not known yet */
	uint32_t *child, children, *parent, parents;
};

struct sl_conf_switches {
	struct sl_conf_switch *at;
	uint32_t count, room;
	bool blocks;			/* they are blocks */
	bool not_modelled;		/* they are neither a tree nor blocks */
	uint64_t size[SL_CONF_LEVELS];	/* BlockSizes */
	uint32_t sizes;
};

/* The switches or blocks of the topology of a topology.yaml that holds for the whole cluster. */
int sl_conf_read_yaml(struct sl_conf *c, const char *path, struct sl_conf_switches *s, struct sl_error *err);
int sl_conf_add_switch(struct sl_conf_switches *s, const struct sl_conf_switch *one, struct sl_error *err);

/* Add sizes of blocks, separated by commas or blanks, as slurmctld takes them.  0, or -1 with *err. */
int sl_conf_add_block_sizes(struct sl_conf_switches *s, struct sl_conf_where where, const char *text, struct sl_error *err);

/*
 * What slurmctld makes of the blocks: nodes of a base block, and whether there are larger ones.  members[i] is how many nodes
 * block i has.
 */
struct sl_conf_topology sl_conf_resolve_blocks(struct sl_conf *c, const struct sl_conf_switches *s, const uint32_t *members);

/* Add the name of a topology; 0, or -1 with *err. */
int sl_conf_add_topology(struct sl_conf *c, const char *name, struct sl_error *err);

#endif
