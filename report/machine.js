/* SPDX-License-Identifier: MIT */
/*
 * machine.js - what becomes of nodes and blocks over time: free GPUs that a job of k GPUs
 * cannot have, and blocks with no job on them.
 */
"use strict";

const machine = (() => {
	/* All changes of what is held on a node, in the order of time: { time, rect, sign } of the lanes. */
	function changes(lanes) {
		const n = lanes.job.length, time = new Float64Array(2 * n);

		for (let i = 0; i < n; i++) {
			time[2 * i] = lanes.start[lanes.job[i]];
			time[2 * i + 1] = lanes.end[lanes.job[i]];
		}
		/* at one instant ends stand before starts */
		return { time, order: Uint32Array.from(time.keys()).sort((a, b) => time[a] - time[b] || (b & 1) - (a & 1)) };
	}

	/* Call change(node, units, time) for each change, in order; units < 0: given back. */
	function sweep(lanes, unitsOf, change) {
		const { time, order } = changes(lanes);

		for (const at of order) {
			const rect = at >> 1, sign = at & 1 ? -1 : 1;

			for (let node = lanes.node[rect], last = node + lanes.count[rect]; node < last; node++)
				change(node, sign * Math.round((lanes.high[rect] - lanes.low[rect]) * unitsOf[node]), time[at]);
		}
	}

	/* The rectangles of cores and then those of GPUs, *cores*: how many the former are, with their changes. */
	function joinUnits(run) {
		const byCores = series.whole(run), byGpus = series.whole(run.gpu), cores = byCores.job.length, both = { start: byCores.start, end: byCores.end };

		for (const column of ["job", "node", "count", "low", "high"]) {
			both[column] = new Float64Array(cores + byGpus.job.length);
			both[column].set(byCores[column]);
			both[column].set(byGpus[column], cores);
		}
		return { both, cores, ...changes(both) };
	}

	/*
	 * Call change(node, is it cores, 1: given back or -1: taken, from unit, to unit, time) for each change on nodes with GPUs, of
	 * both kinds of units in one order: that of the cores, whose every start and end has its GPUs too.
	 */
	function sweepBoth(workload, run, change) {
		const { both, cores, time, order } = run.bothUnits ??= joinUnits(run);

		for (const at of order) {
			const rect = at >> 1, sign = at & 1 ? 1 : -1, isCores = rect < cores, unitsOf = isCores ? workload.coresOf : workload.gpusOf;

			for (let node = both.node[rect], last = node + both.count[rect]; node < last; node++)
				if (workload.gpusOf[node])
					change(node, isCores, sign, Math.round(both.low[rect] * unitsOf[node]), Math.round(both.high[rect] * unitsOf[node]), time[at]);
		}
	}

	/* A figure that changes as a sweep goes: its steps. */
	class Tally {
		constructor(value, since) {
			this.times = [since];
			this.heights = [value];
		}

		add(by, time) {
			if (!by)
				return;
			if (this.times.at(-1) === time) {
				this.heights[this.heights.length - 1] += by;
			} else {
				this.times.push(time);
				this.heights.push(by);
			}
		}

		steps() {
			return new series.Steps(this.times, this.heights);
		}
	}

	/* The numbers of GPUs on one node that jobs may want: 1, 2, 4, ... up to the most that a node has. */
	function sizes(workload) {
		const most = workload.gpusOf.reduce((a, b) => Math.max(a, b), 0), out = [];

		for (let k = 1; k <= most; k *= 2)
			out.push(k);
		if (most && out.at(-1) !== most)
			out.push(most);
		return out;
	}

	/* For each of sizes(): how many GPUs are free on nodes where a job of so many cannot run, as too few are free
	 * or no core is. */
	function stranded(workload, run) {
		const ks = sizes(workload), nodes = workload.gpusOf.length;
		const gpus = Float64Array.from(workload.gpusOf), cores = Float64Array.from(workload.coresOf);
		const lost = (node, k) => (gpus[node] > 0 && (gpus[node] < k || cores[node] < 1) ? gpus[node] : 0);
		const tallies = ks.map((k) => {
			let sum = 0;

			for (let node = 0; node < nodes; node++)
				sum += lost(node, k);
			return new Tally(sum, workload.first);
		});
		sweepBoth(workload, run, (node, isCores, sign, from, to, time) => {
			const before = ks.map((k) => lost(node, k));

			(isCores ? cores : gpus)[node] += sign * (to - from);
			ks.forEach((k, i) => tallies[i].add(lost(node, k) - before[i], time));
		});
		return new Map(ks.map((k, i) => [k, tallies[i].steps()]));
	}

	/* The block that each node is in (-1: none), the first node of each run of nodes of one block but the first, and names. */
	function blocksOf(workload) {
		const of = new Int32Array(workload.coresOf.length).fill(-1), edges = [], rows = new Map();
		let node = 0;

		for (const [count, name] of workload.blocks ?? []) {
			if (node)
				edges.push(node);
			if (name && !rows.has(name))
				rows.set(name, rows.size);
			of.fill(rows.get(name) ?? -1, node, node += count);
		}
		return { of, edges, names: [...rows.keys()], count: rows.size };
	}

	/* How many blocks have no job on them. */
	function freeBlocks(workload, run) {
		const { of, count } = blocksOf(workload), held = new Float64Array(count), tally = new Tally(count, workload.first);

		sweep(series.whole(run), workload.coresOf, (node, cores, time) => {
			const block = of[node], before = held[block];

			if (block < 0)
				return;
			held[block] += cores;
			tally.add((held[block] <= 0) - (before <= 0), time);
		});
		return tally.steps();
	}

	return { Tally, sizes, sweepBoth, stranded, blocksOf, freeBlocks };
})();
