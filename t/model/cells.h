/* SPDX-License-Identifier: MIT */
/*
 * cells.h - what jobs ask for and what is wanted of them, a line for each.
 *
 *	CELLS(sockets_of_whole_nodes_are_a_number_of_cores,
 *		ON("4x8c2s2t n3.core_spec=1"),
 *		{ "tasks=9 exclusive ntasks_per_socket=3", "left=TASKS_PER_SOCKET" },
 *		{ "tasks=9 ntasks_per_socket=3", "max_nodes=3 tasks_per_node=3" })
 *
 * is a test. ON() says on what machine the following jobs are, each alone: a machine as build_create() has it, then
 * select=FLAG|FLAG, NODE.column=value (n*: all nodes), part.column=value, part.FLAG and kind=GRES[:TYPE]. A job is fields of
 * struct build_job, columns of a job, gres:NAME[:TYPE]=COUNT[/task|/socket|/job], cpus_with_gres, memory_with_gres, counted (as
 * slurmctld counts these from 24.11 on), plane=SIZE and flags by name. What is wanted:
 *
 *	left=WORD+WORD		that much is left to select; else nothing is
 *	why=WORD		why it cannot run; else it can
 *	text=TEXT		... to the end of the line
 *	eligible=NODES, required=NODES, parts=N, variants=N, method=N, time_limit=N, time_floor=N
 *	FIELD=N			of the request; vK.FIELD of its variant K; gK.FIELD of its gres
 *	never			it is asked to start, and told that it never will
 *	on=PLACES		it is started, and accepted by the checker, there: to the end of the line; memory=N on its first node
 *
 * What a test has no word for fails it.
 */
#ifndef CELLS_H
#define CELLS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "t/build.h"

struct cell {
	const char *job, *is;		/* is NULL: not a job, but the machine of those that follow */
};
#define ON(machine) { machine, NULL }

/* Job 1 of a line, on the machine of one. */
struct build *build_of(const char *machine, const char *job);

void try_cells(const struct cell *cells, size_t count);

#define CELLS(name, ...)							\
	static void name(void **state)						\
	{									\
		static const struct cell cells[] = { __VA_ARGS__ };		\
										\
		(void) state;							\
		try_cells(cells, sizeof(cells) / sizeof(cells[0]));		\
	}

#endif
