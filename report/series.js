/* SPDX-License-Identifier: MIT */
/*
 * series.js - schedules as functions of time, and waits as a distribution.
 */
"use strict";

const series = (() => {
	/* The number of elements of a sorted array that are <= x. */
	function rank(sorted, x) {
		let low = 0, high = sorted.length;

		while (low < high) {
			const middle = (low + high) >> 1;

			if (sorted[middle] <= x)
				low = middle + 1;
			else
				high = middle;
		}
		return low;
	}

	/* A sum of steps [time, height]: exact at every instant, and its mean over any
	 * interval in logarithmic time, so that a view has as many points as it has pixels. */
	class Steps {
		constructor(times, heights) {
			const order = Uint32Array.from(times.keys()).sort((a, b) => times[a] - times[b]);

			this.time = new Float64Array(order.length);
			this.value = new Float64Array(order.length);	/* from time[i] on */
			this.sum = new Float64Array(order.length);	/* integral up to time[i] */
			for (let i = 0, value = 0, sum = 0; i < order.length; i++) {
				const t = times[order[i]];

				if (i)
					sum += value * (t - this.time[i - 1]);
				value += heights[order[i]];
				this.time[i] = t;
				this.value[i] = value;
				this.sum[i] = sum;
			}
		}

		integral(t) {
			const i = rank(this.time, t) - 1;

			return i < 0 ? 0 : this.sum[i] + this.value[i] * (t - this.time[i]);
		}

		/* Means over the intervals between *edges*, the last one twice. */
		means(edges, scale) {
			const n = edges.length, out = new Float64Array(n);

			for (let i = 0, before = this.integral(edges[0]); i + 1 < n; i++) {
				const after = this.integral(edges[i + 1]);

				out[i] = Math.max(0, (after - before) / (edges[i + 1] - edges[i]) * scale);
				before = after;
			}
			out[n - 1] = out[n - 2];
			return out;
		}
	}

	/* A run by cores or by GPUs with the rectangles of runs that were stopped, as of further jobs. */
	function whole(view) {
		const { stopped, start, end } = view;

		if (!stopped?.job.length)
			return view;
		const joined = { start: [...start, ...stopped.start], end: [...end, ...stopped.end],
			job: [...view.job, ...Array.from(stopped.job, (i) => start.length + i)] };

		for (const column of ["node", "count", "low", "high"])
			joined[column] = [...view[column], ...stopped[column]];
		return joined;
	}

	/* Units ("cores", "gpus") at work that was to be done again since a run was stopped: of one that was requeued the last part,
	 * of one that was cancelled all of its runs. */
	function wasted(run, units) {
		const cancelled = new Set(run.stops.filter(({ own }) => own).map(({ job }) => job)), times = [], heights = [];

		for (const stop of run.stops) {
			times.push(cancelled.has(stop.job) ? stop.start : Math.max(stop.start, stop.end - stop.lost), stop.end);
			heights.push(stop[units], -stop[units]);
		}
		return new Steps(times, heights);
	}

	/* What jobs hold: *held* of each, and what runs held that were stopped. */
	function utilization(run, held = run.held) {
		const times = [], heights = [], units = held === run.held ? "cores" : "gpus";

		for (const stop of run.stops)
			if (!stop.own) {
				times.push(stop.start, stop.end);
				heights.push(stop[units], -stop[units]);
			}

		run.start.forEach((start, job) => {
			if (held[job] && start < run.end[job]) {
				times.push(start, run.end[job]);
				heights.push(held[job], -held[job]);
			}
		});
		return new Steps(times, heights);
	}

	function queue(workload, run) {
		const times = [...workload.submit], heights = Array(times.length).fill(1);

		const add = (time, height) => { times.push(time); heights.push(height); };

		for (const start of run.start)
			if (start >= 0 || start < 0)
				add(start, -1);
		for (const stop of run.stops)
			if (!stop.own && stop.end > stop.start) {	/* (who is suspended waits, too) */
				add(stop.start, -1);
				add(stop.end, 1);
			}
		return new Steps(times, heights);
	}

	/* Of the jobs that started in the time shown. */
	function sortedWaits(workload, run) {
		const from = workload.from_s ?? -Infinity;

		return run.began.map((start, job) => (start < from ? NaN : start - workload.submit[job])).filter((wait) => !isNaN(wait)).sort();
	}

	const TAU = 10;		/* seconds: shorter jobs count as that long */

	const boundedSlowdown = (workload, run, job) =>
		Math.max(1, (run.end[job] - workload.submit[job]) / Math.max(run.work[job], TAU));

	/* Likewise, of those that have run. */
	function sortedSlowdowns(workload, run) {
		const from = workload.from_s ?? -Infinity;

		return run.start.map((start, job) => (start >= from && run.end[job] > start ? boundedSlowdown(workload, run, job) : NaN))
			.filter((v) => !isNaN(v)).sort();
	}

	/* What of *all* is left by steps. */
	const rest = (all, steps) => ({ integral: (t) => all * t - steps.integral(t) });

	/* What is known as means over equal parts of a time. */
	function parts(values, from, to) {
		const size = (to - from) / values.length, at = Array.from(values, (_, i) => from + i * size);

		return new Steps([...at, to], [...values.map((v, i) => v - (values[i - 1] || 0)), -values.at(-1)]);
	}

	/* For each job: how many of its partition were submitted after it and started before it.  Those
	 * that wait still start after all others.  The later ones are counted by rank of start, in a
	 * tree of sums. */
	function overtaken(workload, run) {
		const { submit, partition } = workload, count = new Uint32Array(submit.length);
		const start = (job) => (isNaN(run.began[job]) ? Infinity : run.began[job]), groups = new Map();

		submit.forEach((_, job) => groups.get(partition[job])?.push(job) ?? groups.set(partition[job], [job]));
		for (const jobs of groups.values()) {
			const starts = Float64Array.from(jobs, start).sort(), tree = new Uint32Array(jobs.length + 1);
			const later = jobs.sort((a, b) => submit[b] - submit[a]);

			for (let i = 0, added = 0; i < later.length; i++) {
				for (; submit[later[added]] > submit[later[i]]; added++)
					for (let at = rank(starts, start(later[added])); at < tree.length; at += at & -at)
						tree[at]++;
				let before = rank(starts, start(later[i]));

				while (before && starts[before - 1] === start(later[i]))
					before--;
				for (; before; before -= before & -before)
					count[later[i]] += tree[before];
			}
		}
		return count;
	}

	/* By nearest rank. */
	function quantile(sorted, share) {
		return sorted.length ? sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] : NaN;
	}

	function edges(from, to, n) {
		return Float64Array.from({ length: n + 1 }, (_, i) => from + (to - from) * i / n);
	}

	return { rank, Steps, whole, wasted, utilization, queue, sortedWaits, boundedSlowdown, sortedSlowdowns, rest, parts, overtaken, quantile, edges };
})();
