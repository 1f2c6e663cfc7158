/* SPDX-License-Identifier: MIT */
/*
 * schedule.js - the workloads and runs in the page, decoded.
 *
 * The encoding is report/page_data.c's.  A workload has a column per property of its
 * jobs; a run has columns per job (start, end, ...) and per rectangle: r.job[i] is
 * the job that rectangle i is of, and r.first[job] its first rectangle.  r.gpu is the
 * same run by GPUs, or null.  r.stops are the runs that were stopped for other jobs (none: an empty array), r.stopped their
 * rectangles, as those of a run whose jobs they are; r.began and r.work say of each job when it began first and how long it ran
 * without what was lost.
 */
"use strict";

const schedule = (() => {
	class Reader {
		constructor(text) {
			const s = atob(text);

			this.bytes = new Uint8Array(s.length);
			for (let i = 0; i < s.length; i++)
				this.bytes[i] = s.charCodeAt(i);
			this.at = 0;
		}

		/* Up to 2^53; shifts would end at 2^31. */
		number() {
			let value = 0;

			for (let scale = 1; ; scale *= 128) {
				const byte = this.bytes[this.at++];

				if (byte === undefined)
					throw new Error("the data of this page are cut off");
				value += (byte & 127) * scale;
				if (byte < 128)
					return value;
			}
		}

		signed() {
			const v = this.number();

			return v % 2 ? -(v + 1) / 2 : v / 2;
		}
	}

	/* Equal names share a row. */
	function uniqueUsers(names) {
		const rows = new Map();
		const rowOf = names.map((name) => {
			if (!rows.has(name))
				rows.set(name, rows.size);
			return rows.get(name);
		});

		return { users: [...rows.keys()], rowOf };
	}

	function decodeWorkload(w, text) {
		const r = new Reader(text), n = w.jobs;
		const { users, rowOf } = uniqueUsers(w.users);
		const submit = new Float64Array(n), id = new Float64Array(n);
		const user = new Uint32Array(n), partition = new Uint32Array(n), limit = new Float64Array(n);
		const shape = w.shapes ? new Uint32Array(n) : null;
		let time = w.origin_s, number = 0;

		for (let i = 0; i < n; i++) {
			submit[i] = time += r.signed();
			id[i] = number += r.signed();
			user[i] = rowOf[r.number()];
			partition[i] = r.number();
			limit[i] = r.number();
			if (shape)
				shape[i] = r.number();
		}
		const unroll = (runs) => Uint32Array.from(runs.flatMap(([count, units]) => Array(count).fill(units)));
		const coresOf = unroll(w.cores), gpusOf = w.gpus ? unroll(w.gpus) : new Uint32Array(coresOf.length);
		const sum = (of) => of.reduce((a, b) => a + b, 0);

		return { ...w, users, submit, id, user, partition, limit, shape, coresOf, gpusOf, cores: sum(coresOf), gpus: sum(gpusOf), runs: [] };
	}

	/* Rectangles of cores or of GPUs, in the order of their jobs; a job's begin at first[job] and end where the next one's begin. */
	class Lanes {
		constructor(unitsOf, jobs) {
			Object.assign(this, { unitsOf, first: new Uint32Array(jobs + 1), job: [], node: [], count: [], low: [], high: [] });
		}

		/* Those of a job; how many units it holds. */
		read(r, job) {
			let held = 0;

			for (let left = r.number(), past = 0; left; left--) {
				const at = past + r.signed(), nodes = r.number(), all = this.unitsOf[at];
				const units = r.number() || all, unit = units < all ? r.number() : 0;

				this.job.push(job);
				this.node.push(at);
				this.count.push(nodes);
				this.low.push(unit / all);
				this.high.push((unit + units) / all);
				held += nodes * units;
				past = at + nodes;
			}
			return held;
		}

		done() {
			return {
				first: this.first, job: Uint32Array.from(this.job), node: Uint32Array.from(this.node),
				count: Uint32Array.from(this.count), low: Float32Array.from(this.low), high: Float32Array.from(this.high),
			};
		}
	}

	/* What is planned: { job, start, end, runs, rects: [[first node, number of nodes, low, high]...] } */
	function decodePlanned(run) {
		return (run.planned ?? []).map(([job, start, end, ...stretches]) => {
			const rects = [];

			for (let i = 0; i < stretches.length; i += 2)
				rects.push([stretches[i], stretches[i + 1], 0, 1]);
			for (let i = run.first[job]; !stretches.length && i < run.first[job + 1]; i++)
				rects.push([run.node[i], run.count[i], run.low[i], run.high[i]]);
			return { job, start, end, runs: !stretches.length, rects };
		});
	}

	/* The runs that were stopped for other jobs: their rectangles come behind those of jobs. */
	function decodeStops(w, run, r, decoded) {
		const stops = (run.stops ?? []).map(([job, other, mode, verdict, start, told, end, lost, cores, own]) =>
			({ job, other, mode, verdict, start, told, end, lost, cores, own: own === 1, gpus: 0 }));
		const cores = new Lanes(w.coresOf, stops.length), devices = new Lanes(w.gpusOf, stops.length);

		stops.forEach((stop, i) => {
			cores.first[i] = cores.job.length;
			devices.first[i] = devices.job.length;
			stop.gpus = r.number();
			cores.read(r, i);
			if (stop.gpus)
				devices.read(r, i);
		});
		cores.first[stops.length] = cores.job.length;
		devices.first[stops.length] = devices.job.length;
		const times = { start: Float64Array.from(stops, (s) => s.start), end: Float64Array.from(stops, (s) => s.end) };

		decoded.stops = stops;
		decoded.stopped = { ...times, ...cores.done() };
		if (decoded.gpu)
			decoded.gpu.stopped = { ...times, ...devices.done() };
		decoded.began = Float64Array.from(decoded.start);
		decoded.work = decoded.end.map((end, job) => end - decoded.start[job]);
		decoded.stopCount = new Uint32Array(w.jobs);
		for (const stop of stops) {
			decoded.stopCount[stop.job]++;
			decoded.began[stop.job] = Math.min(stop.start, isNaN(decoded.began[stop.job]) ? Infinity : decoded.began[stop.job]);
			if (!stop.own)
				decoded.work[stop.job] += stop.end - stop.start - stop.lost;
		}
	}

	/* The run is the rectangles of its cores; run.gpu is the same with those of GPUs. */
	function decodeRun(w, run, text) {
		const r = new Reader(text), n = w.jobs;
		const start = new Float64Array(n).fill(NaN), end = new Float64Array(n).fill(NaN);
		const gpus = new Uint32Array(n), held = new Uint32Array(n);
		const cores = new Lanes(w.coresOf, n), devices = new Lanes(w.gpusOf, n);

		for (let i = 0; i < n; i++) {
			const wait = r.number();

			cores.first[i] = cores.job.length;
			devices.first[i] = devices.job.length;
			if (!wait)
				continue;
			start[i] = w.submit[i] + wait - 1;
			end[i] = start[i] + r.number();
			gpus[i] = r.number();
			held[i] = cores.read(r, i);
			if (gpus[i])
				devices.read(r, i);
		}
		cores.first[n] = cores.job.length;
		devices.first[n] = devices.job.length;
		const decoded = { ...run, start, end, gpus, held, ...cores.done() };

		decoded.planned = decodePlanned(decoded);
		decoded.gpu = w.gpus ? Object.assign(Object.create(decoded), devices.done()) : null;
		decodeStops(w, run, r, decoded);
		return decoded;
	}

	/* All that is in the document; the texts are dropped from it. */
	function read(document) {
		const workloads = [];

		for (const element of document.querySelectorAll("script.workload, script.run")) {
			const about = JSON.parse(element.textContent), rows = element.nextElementSibling;

			if (element.className === "workload")
				workloads.push(decodeWorkload(about, rows.textContent));
			else
				workloads.at(-1).runs.push(decodeRun(workloads.at(-1), about, rows.textContent));
			rows.remove();
		}
		return workloads;
	}

	return { read, Reader };
})();
