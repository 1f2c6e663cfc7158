/* SPDX-License-Identifier: MIT */
/*
 * schedule.js - the workloads and runs in the page, decoded.
 *
 * The encoding is report/page_data.c's.  A workload has a column per property of its
 * jobs; a run has columns per job (start, end, ...) and per rectangle: r.job[i] is
 * the job that rectangle i is of, and r.first[job] its first rectangle.
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
		let time = w.origin_s, number = 0;

		for (let i = 0; i < n; i++) {
			submit[i] = time += r.signed();
			id[i] = number += r.signed();
			user[i] = rowOf[r.number()];
			partition[i] = r.number();
			limit[i] = r.number();
		}
		const coresOf = Uint32Array.from(w.cores.flatMap(([count, cores]) => Array(count).fill(cores)));

		return { ...w, users, submit, id, user, partition, limit, coresOf, cores: coresOf.reduce((a, b) => a + b, 0), runs: [] };
	}

	function decodeRun(w, run, text) {
		const r = new Reader(text), n = w.jobs;
		const start = new Float64Array(n).fill(NaN), end = new Float64Array(n).fill(NaN);
		const gpus = new Uint32Array(n), held = new Uint32Array(n), first = new Uint32Array(n + 1);
		const job = [], node = [], count = [], low = [], high = [];

		for (let i = 0; i < n; i++) {
			const wait = r.number();

			first[i] = job.length;
			if (!wait)
				continue;
			start[i] = w.submit[i] + wait - 1;
			end[i] = start[i] + r.number();
			gpus[i] = r.number();
			for (let left = r.number(), past = 0; left; left--) {
				const at = past + r.signed(), nodes = r.number(), all = w.coresOf[at];
				const cores = r.number() || all, core = cores < all ? r.number() : 0;

				job.push(i);
				node.push(at);
				count.push(nodes);
				low.push(core / all);
				high.push((core + cores) / all);
				held[i] += nodes * cores;
				past = at + nodes;
			}
		}
		first[n] = job.length;
		return {
			...run, start, end, gpus, held, first,
			job: Uint32Array.from(job), node: Uint32Array.from(node), count: Uint32Array.from(count),
			low: Float32Array.from(low), high: Float32Array.from(high),
		};
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
