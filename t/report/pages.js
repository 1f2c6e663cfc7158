/* SPDX-License-Identifier: MIT */
/*
 * pages.js - the pages that are tested, each made when it is first asked for.
 *
 * makers(BUILD, SCRATCH): sample(NAME, OPTION...) by t/report/page_sample, tool(NAME, VERB, OPTION...)
 * by schedlua, live() and shadowed() of a cluster of which only its files are known.  Each returns
 * the page's file, in SCRATCH.
 */
"use strict";

const { execFileSync } = require("node:child_process");
const fs = require("node:fs");
const path = require("node:path");

function makers(build, scratch) {
	/* Pages are made once: NAME -> file. */
	const made = new Map();

	function sample(name, ...options) {
		if (!made.has(name)) {
			made.set(name, path.join(scratch, `${name}.html`));
			execFileSync(path.join(build, "t/report/page_sample"), [made.get(name), ...options]);
		}
		return made.get(name);
	}

	/* A page of a simulation, by the tool. */
	function tool(name, ...options) {
		const file = path.join(scratch, `${name}.html`);

		execFileSync(path.resolve(build, "schedlua"), [...options, `--report=${file}`]);
		return file;
	}

	/* A cluster of which only the journal and the last snapshot are known. */
	function live() {
		if (made.has("live"))
			return made.get("live");
		const state = path.join(scratch, "state"), now = 1793600000, cluster = {
			meta: { now, cluster: "home" }, nodes: [1, 2, 3, 4].map((i) => ({ name: `n${i}`, cores: 4 })),
			partitions: [{ name: "a", nodes: "n[1-2]" }, { name: "b", nodes: "n[3-4]" }],
			jobs: [[2, "bob", "a"], [3, "cat", "b"]].map(([id, user, partition]) => ({ id, user, partition, state: id === 3 ? "RUNNING" : "PENDING",
				submit_time: now - 3000, start_time: id === 3 ? now - 600 : 0, end_time: id === 3 ? now + 600 : 0, time_limit: 1200 })),
			reservations: [{ name: "maintenance", start_time: now + 300, end_time: now + 9000, nodes: "n1" }],
		};
		const lines = [
			{ full: true, pending: [{ job: 2, why: "policy", partition: "a" }, { job: 3, why: "resources", partition: "b" }], ago: 3000 },
			{ started: [{ job: 4, partition: "b", nodes: "n[3-4]", cores: 8, done: true }], ago: 1200 },
			{ stopped: [{ job: 4, preemptor: 3, cost: 1.1, mode: "requeue", done: true }], held: [{ job: 3, until: now, verdict: "optimal" }], ago: 660 },
			{ started: [{ job: 3, partition: "b", nodes: "n[3-4]", cores: 8, done: true }], ago: 600,
				reserved: [{ job: 2, partition: "a", start_time: now + 60, nodes: "n[1-2]", node_count: 2, cores: 8 }] },
		];

		fs.mkdirSync(state);
		fs.writeFileSync(path.join(scratch, "state.json"), JSON.stringify(cluster));
		fs.writeFileSync(path.join(state, "decisions.jsonl"), lines.map(({ ago, ...line }) =>
			`${JSON.stringify({ sequence: 1, now: now - ago, policy: "easy", ...line })}\n`).join(""));
		execFileSync(path.resolve(build, "schedlua"), ["show", `--output=${path.join(state, "last.snap")}`, path.join(scratch, "state.json")]);
		execFileSync(path.resolve(build, "schedlua"), ["report", `--dir=${state}`, "--last=45m", `--output=${path.join(scratch, "live.html")}`]);
		made.set("live", path.join(scratch, "live.html"));
		return made.get("live");
	}

	/* The same cluster in shadow mode: its book, with a text that would like to be a script. */
	function shadowed() {
		const state = path.join(scratch, "state"), now = 1793600000, file = path.join(scratch, "shadowed.html");
		const ran = (job, user, submit, start, more) => ({ job, user, partition: "a", submit: now - submit, start: now - start, ...more });
		const lines = [
			{ ago: 2600, begin: { stock: "backfill" }, plans: [{ job: 1, tasks: 1 }] },
			{ ago: 2000, sample: { policy: "easy", cores: 16, used: 8, planned: 4, cycles: 20, failures: 1, decide_us: 40000, decide_max_us: 9000 } },
			{ ago: 1500, ran: [ran(1, "ann", 2600, 1500), ran(2, "bob", 2000, 1600, { why: "policy", text: "over </script><b id=bold> its quota" })] },
			{ ago: 1450, stops: [{ job: 4, verdict: "optimal", cost: 2.5, victims: [{ job: 1, user: "ann", start: now - 1500, cost: 2.5, mode: "requeue" }] }] },
			{ ago: 1400, ran: [ran(3, "bob", 1401, 1400)], failed: "policy failed: no such job" },
			{ ago: 1000, ran: [ran(4, "bob", 1400, 1000, { why: "priority", expected: now - 400 })], ended: [{ job: 1, start: now - 1500, end: now - 1330 }] },
		];

		fs.writeFileSync(path.join(state, "shadow.jsonl"), lines.map(({ ago, ...line }) => `${JSON.stringify({ now: now - ago, ...line })}\n`).join(""));
		execFileSync(path.resolve(build, "schedlua"), ["report", `--dir=${state}`, "--last=45m", `--output=${file}`]);
		return file;
	}

	return { sample, tool, live, shadowed };
}

module.exports = { makers };
