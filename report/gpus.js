/* SPDX-License-Identifier: MIT */
/*
 * gpus.js - the GPUs of a machine one by one: rows of a schedule, use by type, and what of the free ones is of no use.
 *
 * A shape is what a job asks for on each of its fewest nodes: [cores, GPUs, types that will do as bits, jobs].
 */
"use strict";

const gpus = (() => {
	const COVERS = .95, SHAPES_MOST = 500;	/* of all jobs with GPUs; as the engine's place = "fgd" has it */

	/* -- rows ------------------------------------------------------------------ */

	/* The first GPU of each node among all of the machine, one more; and the node of each. */
	function rowsOf(w) {
		if (!w.gpuRows) {
			const first = new Uint32Array(w.gpusOf.length + 1);

			w.gpusOf.forEach((n, node) => { first[node + 1] = first[node] + n; });
			w.gpuRows = { first, node: Uint32Array.from({ length: w.gpus }), count: w.gpus };
			w.gpusOf.forEach((n, node) => w.gpuRows.node.fill(node, first[node], first[node + 1]));
		}
		return w.gpuRows;
	}

	/* Rectangles of GPUs as those of whole rows, a row for each GPU: { first, job, node (a row), count, low, high }. */
	function rectsByRow(w, lanes) {
		const { first: row } = rowsOf(w), out = { first: new Uint32Array(lanes.first.length), job: [], node: [], count: [] };
		const add = (job, from, count) => { out.job.push(job); out.node.push(from); out.count.push(count); };

		for (let of = 0; of + 1 < lanes.first.length; of++) {
			out.first[of] = out.job.length;
			for (let rect = lanes.first[of]; rect < lanes.first[of + 1]; rect++) {
				const node = lanes.node[rect], end = node + lanes.count[rect], low = lanes.low[rect], high = lanes.high[rect];

				if (low === 0 && high === 1)
					add(of, row[node], row[end] - row[node]);
				for (let n = node; (low > 0 || high < 1) && n < end; n++)
					add(of, row[n] + Math.round(low * w.gpusOf[n]), Math.round((high - low) * w.gpusOf[n]));
			}
		}
		out.first[lanes.first.length - 1] = out.job.length;
		return { first: out.first, job: Uint32Array.from(out.job), node: Uint32Array.from(out.node), count: Uint32Array.from(out.count),
			low: new Float32Array(out.job.length), high: new Float32Array(out.job.length).fill(1) };
	}

	/* A run by GPU, for its schedule: what is planned is known only of jobs that run. */
	function byRow(w, run) {
		const view = Object.assign(Object.create(run.gpu), rectsByRow(w, run.gpu));

		view.stopped = { ...run.gpu.stopped, ...rectsByRow(w, run.gpu.stopped) };
		view.planned = run.planned.filter((plan) => plan.runs).map((plan) => ({ ...plan,
			rects: Array.from({ length: view.first[plan.job + 1] - view.first[plan.job] }, (_, i) =>
				[view.node[view.first[plan.job] + i], view.count[view.first[plan.job] + i], 0, 1]) }));
		return view;
	}

	/* Of runs of nodes [first, number, ...] those of their GPUs. */
	function runsByRow(w, nodes) {
		const { first } = rowsOf(w), out = [];

		for (let i = 0; i < nodes.length; i += 2)
			if (first[nodes[i] + nodes[i + 1]] > first[nodes[i]])
				out.push(first[nodes[i]], first[nodes[i] + nodes[i + 1]] - first[nodes[i]]);
		return out;
	}

	/* -- types ------------------------------------------------------------------ */

	/* What each node has: [[type, number]...], in the order of its GPUs. */
	function kindsOf(w) {
		if (!w.kindsOf) {
			const pairs = (list) => Array.from({ length: list.length / 2 }, (_, i) => [list[2 * i], list[2 * i + 1]]);

			w.kindsOf = w.gpu_kinds ? w.gpu_kinds.flatMap(([n, ...list]) => Array(n).fill(pairs(list))) :
				Array.from(w.gpusOf, (n) => (n ? [[0, n]] : []));
		}
		return w.kindsOf;
	}

	/* The types of which nodes have GPUs: [[type, name, number]...] */
	function typesOf(w) {
		const all = new Map();

		for (const kinds of kindsOf(w))
			for (const [type, n] of kinds)
				all.set(type, (all.get(type) ?? 0) + n);
		return [...all].sort(([a], [b]) => a - b).map(([type, n]) => [type, w.gpu_types?.[type] || "no type", n]);
	}

	/* Call each(kind, number) for the kinds of a node among whose GPUs *from* to *to* some are. */
	function eachKind(kinds, from, to, each) {
		let at = 0;

		kinds.forEach(([, n], kind) => {
			const some = Math.min(to, at + n) - Math.max(from, at);

			if (some > 0)
				each(kind, some);
			at += n;
		});
	}

	/* GPUs of a type that jobs hold. */
	function useOfType(w, run, type) {
		const lanes = series.whole(run.gpu), kinds = kindsOf(w), times = [], heights = [];

		lanes.job.forEach((job, rect) => {
			let held = 0;

			for (let node = lanes.node[rect], end = node + lanes.count[rect]; node < end; node++)
				eachKind(kinds[node], Math.round(lanes.low[rect] * w.gpusOf[node]), Math.round(lanes.high[rect] * w.gpusOf[node]),
					(kind, n) => { held += kinds[node][kind][0] === type ? n : 0; });
			if (held && lanes.start[job] < lanes.end[job]) {
				times.push(lanes.start[job], lanes.end[job]);
				heights.push(held, -held);
			}
		});
		return new series.Steps(times, heights);
	}

	/* -- what is free where -------------------------------------------------------- */

	const sum = (of) => of.reduce((a, b) => a + b, 0);

	/* The free cores and GPUs of each node with GPUs; key(node) is the same for nodes that are the same. */
	class Nodes {
		constructor(w) {
			this.kinds = kindsOf(w);
			this.cores = Float64Array.from(w.coresOf);
			this.free = this.kinds.map((kinds) => kinds.map(([, n]) => n));
		}

		key(node) {
			const kinds = this.kinds[node], free = this.free[node];

			return kinds.length === 1 ? (kinds[0][0] * 65536 + free[0]) * 65536 + this.cores[node] :
				`${kinds.map(([type], i) => `${type}:${free[i]}`)} ${this.cores[node]}`;
		}

		/* A copy of what decides what a node is good for. */
		state(node) {
			return { kinds: this.kinds[node], free: [...this.free[node]], cores: this.cores[node], gpus: sum(this.free[node]) };
		}
	}

	/* Call changed(node, time) after each change of what nodes with GPUs have free, in order. */
	function sweep(w, run, nodes, changed) {
		machine.sweepBoth(w, run, (node, isCores, sign, from, to, time) => {
			if (isCores)
				nodes.cores[node] += sign * (to - from);
			else
				eachKind(nodes.kinds[node], from, to, (kind, n) => { nodes.free[node][kind] += sign * n; });
			changed(node, time);
		});
	}

	/* How many of the GPUs in that state a job of the shape cannot use. */
	function lostTo({ kinds, free, cores, gpus: all }, [needsCores, needs, types]) {
		const usable = kinds.reduce((n, [type], i) => n + (types >> type & 1 ? free[i] : 0), 0);

		return cores < needsCores || usable < needs ? all : all - usable;
	}

	/* -- fragmentation ----------------------------------------------------------- */

	/* The shapes that jobs are expected to have, the most frequent that cover most of them: [shape, its share]. */
	function mixOf(w) {
		const jobs = sum(w.shapes.map((shape) => shape[3])), mix = [];
		let covered = 0;

		for (const shape of w.shapes) {
			if (covered >= COVERS * jobs || mix.length === SHAPES_MOST)
				break;
			mix.push(shape);
			covered += shape[3];
		}
		return mix.map((shape) => [shape, shape[3] / covered]);
	}

	/* The free GPUs that the average job with GPUs of this workload cannot use (Weng et al., ATC'23, section 4). */
	function fragmentation(w, run) {
		const mix = mixOf(w), nodes = new Nodes(w), known = new Map(), of = new Float64Array(w.gpusOf.length);
		const value = (node) => {
			const key = nodes.key(node);

			if (!known.has(key)) {
				const state = nodes.state(node);

				known.set(key, sum(mix.map(([shape, share]) => share * lostTo(state, shape))));
			}
			return known.get(key);
		};

		nodes.kinds.forEach((kinds, node) => { of[node] = kinds.length ? value(node) : 0; });
		const tally = new machine.Tally(sum(of), w.first);

		sweep(w, run, nodes, (node, time) => {
			const now = value(node);

			tally.add(now - of[node], time);
			of[node] = now;
		});
		return tally.steps();
	}

	/* -- what is of no use to whoever waits ---------------------------------------- */

	/* When a job of a shape begins (1) or ceases (-1) to wait: [time, shape, sign]..., in order. */
	function waits(w, run) {
		const events = [];

		w.shape.forEach((shape, job) => {
			if (!shape)
				return;
			events.push([w.submit[job], shape - 1, 1]);
			if (!isNaN(run.start[job]))
				events.push([run.start[job], shape - 1, -1]);
		});
		for (const stop of run.stops ?? [])
			if (!stop.own && w.shape[stop.job] && stop.end > stop.start)
				events.push([stop.start, w.shape[stop.job] - 1, -1], [stop.end, w.shape[stop.job] - 1, 1]);
		return events.sort((a, b) => a[0] - b[0]);
	}

	/* The shapes that wait, and what they want least: by type and number of GPUs the fewest cores. */
	class Waiting {
		constructor(w) {
			this.shapes = w.shapes;
			this.count = new Float64Array(w.shapes.length);
			this.active = new Set();
			this.most = w.gpusOf.reduce((a, b) => Math.max(a, b), 0);
			this.least = (w.gpu_types ?? [""]).map(() => new Float64Array(this.most + 1).fill(Infinity));
			this.mixed = kindsOf(w).some((kinds) => kinds.length > 1);
		}

		/* True if it may change what is of use to whom. */
		change(shape, sign) {
			this.count[shape] += sign;
			if (this.count[shape] === (sign > 0 ? 1 : 0))
				this.active[sign > 0 ? "add" : "delete"](shape);
			else
				return false;
			const before = this.least;

			this.least = before.map(() => new Float64Array(this.most + 1).fill(Infinity));
			for (const s of this.active) {
				const [cores, needs, types] = this.shapes[s];

				this.least.forEach((least, type) => {
					if (types >> type & 1 && needs <= this.most)
						least[needs] = Math.min(least[needs], cores);
				});
			}
			for (const least of this.least)
				for (let k = 1; k <= this.most; k++)
					least[k] = Math.min(least[k], least[k - 1]);
			return this.mixed || this.least.some((least, type) => least.some((cores, k) => cores !== before[type][k]));
		}

		/* True if somebody waits, and none of them could be there. */
		loses(state) {
			if (!this.active.size)
				return false;
			if (state.kinds.length === 1)
				return this.least[state.kinds[0][0]][state.free[0]] > state.cores;
			for (const s of this.active)
				if (lostTo(state, this.shapes[s]) < state.gpus)
					return false;
			return true;
		}
	}

	/* How many nodes are in each state, and the GPUs that are of no use in all. */
	class States {
		constructor(waiting) {
			this.waiting = waiting;
			this.of = new Map();
			this.lost = 0;
		}

		add(key, state) {
			const s = this.of.get(key) ?? { ...state, nodes: 0, loses: this.waiting.loses(state) };

			this.of.set(key, s);
			s.nodes++;
			this.lost += s.loses ? s.gpus : 0;
		}

		remove(key) {
			const s = this.of.get(key);

			this.lost -= s.loses ? s.gpus : 0;
			if (!--s.nodes)
				this.of.delete(key);
		}

		/* Others wait now. */
		judge() {
			for (const s of this.of.values()) {
				const loses = this.waiting.loses(s);

				this.lost += s.nodes * s.gpus * (loses - s.loses);
				s.loses = loses;
			}
		}
	}

	/* The free GPUs on nodes where none of the jobs that wait just then could have its share of what it asks for. */
	function noUse(w, run) {
		const nodes = new Nodes(w), waiting = new Waiting(w), states = new States(waiting), events = waits(w, run);
		const key = new Map(), tally = new machine.Tally(0, w.first);
		let next = 0, told = 0;
		const tell = (time) => { tally.add(states.lost - told, time); told = states.lost; };
		const enter = (node) => {
			if (key.has(node))
				states.remove(key.get(node));
			key.delete(node);
			if (!nodes.kinds[node].length || !sum(nodes.free[node]))
				return;
			key.set(node, nodes.key(node));
			states.add(key.get(node), nodes.state(node));
		};
		const waitUntil = (time) => {
			for (; next < events.length && events[next][0] <= time; next++) {
				const [at, shape, sign] = events[next];

				if (waiting.change(shape, sign))
					states.judge();
				tell(at);
			}
		};

		nodes.kinds.forEach((_, node) => enter(node));
		sweep(w, run, nodes, (node, time) => {
			waitUntil(time);
			enter(node);
			tell(time);
		});
		waitUntil(Infinity);
		return tally.steps();
	}

	/* -- at an instant ----------------------------------------------------------- */

	/* Of free GPUs by node (nodes without: 0): "8 GPUs are free on 8 nodes, at most 1 on one". */
	function sayFree(free) {
		const all = sum(free), nodes = free.filter((n) => n > 0).length, most = free.reduce((a, b) => Math.max(a, b), 0);

		if (!all)
			return "no GPU is free";
		return `${words.number(all)} GPU${all === 1 ? " is" : "s are"} free on ${words.number(nodes)} node${nodes === 1 ? "" : `s, at most ${most} on one`}`;
	}

	return { rowsOf, byRow, runsByRow, kindsOf, typesOf, useOfType, mixOf, fragmentation, noUse, sayFree };
})();
