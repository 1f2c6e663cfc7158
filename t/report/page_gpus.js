/* SPDX-License-Identifier: MIT */
/*
 * page_gpus.js - what the report page shows of GPUs and blocks; tests for page.js.
 */
"use strict";

const assert = require("node:assert/strict");
const { execFileSync } = require("node:child_process");
const fs = require("node:fs");
const path = require("node:path");

/* A machine in JSON as a snapshot: *racks* blocks of three nodes; the first half of the nodes have four GPUs of one type, the others two of another. */
function machineOf(scratch, build, racks) {
	const file = path.join(scratch, `racks${racks}`), half = 3 * racks / 2;
	const nodes = Array.from({ length: 3 * racks }, (_, i) => ({ name: `cluster-n${i}`, cores: 8, topology: `core.rack${Math.floor(i / 3)}`,
		gres: [i < half ? { kind: "gpu:a100", count: 4 } : { kind: "gpu:h100", count: 2 }] }));

	fs.writeFileSync(`${file}.json`, JSON.stringify({ meta: { now: 1000, cluster: "toy" }, nodes, partitions: [{ name: "p", nodes: `cluster-n[0-${nodes.length - 1}]` }],
		gres_kinds: ["a100", "h100"].map((type) => ({ key: `gpu:${type}`, name: "gpu", type })) }));
	execFileSync(path.resolve(build, "schedlua"), ["show", `--output=${file}.snap`, `${file}.json`]);
	return `${file}.snap`;
}

/* The jobs of a schedule in CSV: { start, end, gpus, nodes: their numbers }. */
function readSchedule(file) {
	const [head, ...lines] = fs.readFileSync(file, "utf8").trim().split("\n").map((line) => line.match(/("[^"]*"|[^,]*)(,|$)/g).map((cell) => cell.replace(/,$/, "").replace(/"/g, "")));
	const column = (line, name) => line[head.indexOf(name)];
	const numbers = (list) => list.replace(/cluster-n/g, "").replace(/[[\]]/g, "").split(",").flatMap((run) => {
		const [first, last = first] = run.split("-").map(Number);

		return Array.from({ length: last - first + 1 }, (_, i) => first + i);
	});

	return lines.map((line) => ({ start: Number(column(line, "start_s")), end: Number(column(line, "end_s")), gpus: Number(column(line, "gpus")),
		nodes: numbers(column(line, "nodelist")) }));
}

/* In the page: a machine of unequal nodes, one of them with two types and one without GPUs, and jobs on it at random, counted GPU by GPU. */
const RANDOM = `
	let seed = 11;
	const random = (n) => (seed = seed * 48271 % 2147483647) % n;
	const T = 40, MOST = [1, 2, 4, 8];

	function drawMachine() {
		const kinds = Array.from({ length: 5 }, (_, n) => (n === 4 ? [] : n === 3 ? [[0, 2], [1, 2]] : [[random(2), MOST[random(4)]]]));
		const gpusOf = Uint32Array.from(kinds, (k) => k.reduce((sum, [, n]) => sum + n, 0));

		return { first: 0, coresOf: Uint32Array.from(kinds, () => 4 + random(5)), gpusOf, gpus: gpusOf.reduce((a, b) => a + b), gpu_types: ["a", "b"],
			gpu_kinds: kinds.map((k) => [1, ...k.flat()]), nodes: kinds.map((_, n) => "n" + n),
			shapes: Array.from({ length: 4 }, () => [1 + random(6), 1 + random(4), 1 + random(3), 1 + random(30)]).sort((a, b) => b[3] - a[3]) };
	}

	/* Jobs as rectangles; free.c[t][node], free.g[t][node]: a list of its free GPUs' numbers. */
	function drawRun(w) {
		const lanes = () => ({ first: [0], job: [], node: [], count: [], low: [], high: [] }), cores = lanes(), devices = lanes();
		const free = Array.from({ length: T }, () => ({ c: [...w.coresOf], g: Array.from(w.gpusOf, (n) => [...Array(n).keys()]) })), start = [], end = [];

		w.submit = [];
		w.shape = [];
		for (let job = 0; job < 12; job++) {
			const node = random(5), submit = random(T - 12), from = submit + random(6), to = from + 1 + random(6), c = random(4) + 1;
			const at = random(w.gpusOf[node] + 1), g = Math.min(random(4), w.gpusOf[node] - at), during = free.slice(from, to);
			const takes = [...Array(g).keys()].map((i) => at + i), waits = random(5) === 0;
			const can = !waits && during.every((f) => f.c[node] >= c && takes.every((u) => f.g[node].includes(u)));

			w.submit.push(submit);
			w.shape.push(random(5));
			start.push(can ? from : NaN);
			end.push(can ? to : NaN);
			if (can) {
				for (const f of during) {
					f.c[node] -= c;
					f.g[node] = f.g[node].filter((u) => !takes.includes(u));
				}
				const add = (to, low, high) => { to.job.push(job); to.node.push(node); to.count.push(1); to.low.push(low); to.high.push(high); };

				add(cores, 0, c / w.coresOf[node]);
				if (g)
					add(devices, at / w.gpusOf[node], (at + g) / w.gpusOf[node]);
			}
			cores.first.push(cores.job.length);
			devices.first.push(devices.job.length);
		}
		const run = { ...cores, start, end, stops: [], planned: [], gpu: { ...devices, start, end, stopped: { ...lanes(), start: [], end: [] } } };

		return { run, free };
	}
	const at = (steps, t) => steps.integral(t + 1) - steps.integral(t);
	const same = (what, got, expected) => {
		if (!(Math.abs(got - expected) < 1e-6))
			throw new Error(what + ": " + got + ", expected " + expected);
	};
	/* Of a node's free GPUs the types: [0, 0, 1] */
	const typesFree = (w, node, free) => {
		const all = [], [, ...list] = w.gpu_kinds[node];

		for (let i = 0; i < list.length; i += 2)
			all.push(...Array(list[i + 1]).fill(list[i]));
		return free.map((u) => all[u]);
	};
	const canUse = (types, cores, [needsCores, needs, mask]) => {
		const usable = types.filter((type) => mask >> type & 1).length;

		return cores >= needsCores && usable >= needs ? usable : 0;
	};
`;

function gpuTests({ test, visit, tool, scratch, build, small, INK, GANTT }) {
	const choose = (page, id, value, event = "change") => page.value(`(() => { const e = document.getElementById("${id}"); e.value = "${value}";
		e.dispatchEvent(new Event("${event}")); })()`).then(() => page.drawn());

	test("GPUs have charts, a schedule of their own, and what of them is no use", async () => {
		const page = await visit(tool("gpus", "sim", "--policy=easy", "--machine=16x8c4g", "esp-gpu"));
		const rects = await page.told("rects");

		for (const chart of ["#gpus", "#stranded"])
			assert.ok((await page.value(INK(`${chart} .chart`))).colours > 4, chart);
		assert.deepEqual(await page.value("[...document.getElementById('size').options].map((o) => o.value)"), ["mix", "wait", "1", "2", "4"]);
		await page.value(`(() => { const e = document.getElementById("rows"); e.value = "gpus"; e.dispatchEvent(new Event("change")); })()`);
		await page.drawn();
		assert.notEqual(await page.told("rects"), rects);
		assert.match(await page.value(`document.querySelector("${GANTT}").getAttribute("aria-label")`), /by GPU: 64 of them/);
		assert.equal(await page.told("nodes"), "0 64");
		assert.deepEqual(page.complaints, []);
		const none = await visit(small());

		assert.equal(await none.value("document.getElementById('gpus').hidden && document.getElementById('rows').parentElement.hidden && " +
			"document.getElementById('s-picture').hidden && document.getElementById('stranded').hidden"), true);
	});

	test("free GPUs that are no use, and free blocks, are counted right", async () => {
		const page = await visit(small());

		await page.value(`(() => {
			let seed = 11;
			const random = (n) => (seed = seed * 48271 % 2147483647) % n;
			const NODES = 6, CORES = 4, GPUS = 4;

			for (let round = 0; round < 40; round++) {
				const w = { first: 0, coresOf: new Uint32Array(NODES).fill(CORES), gpusOf: new Uint32Array(NODES).fill(GPUS).fill(0, 5), blocks: [[2, "a"], [3, "b"], [1, "c"]] };
				const lanes = () => ({ job: [], node: [], count: [], low: [], high: [] }), cores = lanes(), gpus = lanes(), start = [], end = [];
				const free = { c: [], g: [] };

				for (let t = 0; t < 60; t++) {
					free.c.push(Array(NODES).fill(CORES));
					free.g.push([...w.gpusOf]);
				}
				for (let job = 0; job < 8; job++) {
					const node = random(NODES), from = random(50), to = from + 1 + random(9), c = 1 + random(2), g = random(3);
					const during = [...Array(to - from).keys()].map((i) => from + i);

					if (during.some((t) => free.c[t][node] < c || free.g[t][node] < g))
						continue;
					during.forEach((t) => { free.c[t][node] -= c; free.g[t][node] -= g; });
					const add = (to, units, all) => { to.job.push(start.length); to.node.push(node); to.count.push(1); to.low.push(0); to.high.push(units / all); };

					add(cores, c, CORES);
					if (g)
						add(gpus, g, GPUS);
					start.push(from);
					end.push(to);
				}
				const run = { ...cores, start, end };

				run.gpu = { ...gpus, start, end };
				const lost = machine.stranded(w, run), blocks = machine.freeBlocks(w, run);
				const at = (steps, t) => steps.integral(t + 1) - steps.integral(t);

				for (let t = 0; t < 60; t++) {
					for (const k of [1, 2, 4]) {
						const expected = free.g[t].reduce((sum, g, n) => sum + (g && (g < k || free.c[t][n] < 1) ? g : 0), 0);

						if (Math.abs(at(lost.get(k), t) - expected) > 1e-6)
							throw new Error("round " + round + ", " + k + " GPUs at " + t + ": " + at(lost.get(k), t) + ", expected " + expected);
					}
					const expected = [[0, 2], [2, 5], [5, 6]].filter(([a, b]) => free.c[t].slice(a, b).every((c) => c === CORES)).length;

					if (Math.abs(at(blocks, t) - expected) > 1e-6)
						throw new Error("round " + round + ", blocks at " + t + ": " + at(blocks, t) + ", expected " + expected);
				}
			}
		})()`);
	});

	test("fragmentation of a machine worked out by hand", async () => {
		const page = await visit(small());

		/* Two nodes of 4 GPUs; three jobs of one GPU for each job of four.  A GPU is taken of each node: to a quarter of the jobs
		 * the six that are left are no use, 6 / 4.  Then all of node 0 is free: 3 / 4.  Then it has no core: its GPUs are lost to all. */
		const got = await page.value(`(() => {
			const w = { first: 0, coresOf: [4, 4], gpusOf: [4, 4], gpus: 8, shapes: [[1, 1, 1, 3], [1, 4, 1, 1]], shape: [0, 0, 0], submit: [0, 0, 20] };
			const start = [0, 0, 20], end = [10, 30, 30], times = { start, end };
			const run = { first: [0, 1, 2, 3], job: [0, 1, 2], node: [0, 1, 0], count: [1, 1, 1], low: [0, 0, 0], high: [.25, .25, 1], ...times, stops: [],
				gpu: { first: [0, 1, 2, 2], job: [0, 1], node: [0, 1], count: [1, 1], low: [0, 0], high: [.25, .25], ...times } };
			const steps = gpus.fragmentation(w, run);

			return [5, 15, 25, 35].map((t) => steps.integral(t + 1) - steps.integral(t));
		})()`);

		[6 / 4, 3 / 4, 4 + 3 / 4, 0].forEach((expected, i) => assert.ok(Math.abs(got[i] - expected) < 1e-9, `${got}`));
	});

	test("fragmentation, and GPUs that are of no use to any job that waits, are those counted GPU by GPU", async () => {
		const page = await visit(small());

		await page.value(`(() => {
			${RANDOM}
			for (let round = 0; round < 60; round++) {
				const w = drawMachine(), { run, free } = drawRun(w), mix = gpus.mixOf(w);
				const lost = gpus.fragmentation(w, run), useless = gpus.noUse(w, run);

				for (let t = 0; t < T; t++) {
					const waiting = w.shape.map((shape, job) => (shape && w.submit[job] <= t && !(run.start[job] <= t) ? w.shapes[shape - 1] : null)).filter((s) => s);
					let expected = 0, none = 0;

					free[t].g.forEach((units, node) => {
						const types = typesFree(w, node, units), cores = free[t].c[node];

						for (const [shape, share] of mix)
							expected += share * (types.length - canUse(types, cores, shape));
						if (waiting.length && !waiting.some((shape) => canUse(types, cores, shape)))
							none += types.length;
					});
					same("round " + round + ", fragmentation at " + t, at(lost, t), expected);
					same("round " + round + ", no use at " + t, at(useless, t), none);
				}
			}
		})()`);
	});

	test("by GPU a job is drawn at its GPUs, and use by type is that of these", async () => {
		const page = await visit(small());

		await page.value(`(() => {
			${RANDOM}
			for (let round = 0; round < 60; round++) {
				const w = drawMachine(), { run, free } = drawRun(w), view = gpus.byRow(w, run), { first, count } = gpus.rowsOf(w);
				const use = [0, 1].map((type) => gpus.useOfType(w, run, type));

				same("rows", count, w.gpus);
				for (let t = 0; t < T; t++) {
					const held = [0, 0];

					for (let node = 0; node < 5; node++) {
						for (let u = 0; u < w.gpusOf[node]; u++)
							same("round " + round + ", GPU " + u + " of node " + node + " at " + t, gantt.jobAt(view, t, first[node] + u + .5) < 0, free[t].g[node].includes(u));
						for (const type of typesFree(w, node, [...Array(w.gpusOf[node]).keys()].filter((u) => !free[t].g[node].includes(u))))
							held[type]++;
					}
					held.forEach((n, type) => same("round " + round + ", type " + type + " at " + t, at(use[type], t), n));
				}
			}
		})()`);
	});

	test("GPUs of several types on unequal nodes have a row each, and their use can be looked at by type", async () => {
		const page = await visit(tool("types", "sim", "--policy=easy", `--machine=${machineOf(scratch, build, 4)}`, "synthetic:jobs=120,gpu=0.8,load=0.9"));
		const mean = async () => Number((await page.value(`document.querySelector("#gpus .chart").getAttribute("aria-label")`)).match(/mean ([\d.]+) %/)[1]);

		assert.deepEqual(await page.value("[...document.getElementById('gpu-type').options].map((o) => o.textContent)"), ["all types", "a100 (24)", "h100 (12)"]);
		const all = await mean(), means = [];

		for (const type of [0, 1]) {
			await choose(page, "gpu-type", type);
			means.push(await mean());
		}
		assert.ok(Math.abs(all - (24 * means[0] + 12 * means[1]) / 36) < .2, `${all} of ${means}`);
		await choose(page, "rows", "gpus");
		assert.equal(await page.told("nodes"), "0 36");
		/* pixels that have another colour than in the picture before */
		const others = () => page.value(`(() => {
			const c = document.querySelector("${GANTT} canvas"), { data } = c.getContext("2d", { willReadFrequently: true }).getImageData(0, 0, c.width, c.height);
			const n = window.before ? data.reduce((n, v, i) => n + (Math.abs(v - window.before[i]) > 16), 0) : 0;

			window.before ??= data;
			return n;
		})()`);

		await others();
		await choose(page, "colour", "size");
		assert.ok(await others() > 1000);
		await choose(page, "colour", "user");
		assert.equal(await others(), 0, "the colours are those of the jobs from the beginning");
		for (const [id, value] of [["size", "wait"], ["size", "2"], ["unit", "share"], ["size", "mix"]]) {
			await choose(page, id, value);
			assert.ok((await page.value(INK("#stranded .chart"))).colours > 4, `${id} ${value}`);
		}
		assert.deepEqual(page.complaints.filter((c) => !c.includes("willReadFrequently")), []);		/* this test reads the canvas */
	});

	test("blocks are drawn as they are at an instant, which a slider chooses", async () => {
		const csv = path.join(scratch, "blocks.csv");
		const page = await visit(tool("blocks", "sim", "--policy=easy", `--machine=${machineOf(scratch, build, 6)}`, `--jobs=${csv}`, "synthetic:jobs=80,gpu=0.5,load=0.4"));
		const [from, to] = await page.window(), origin = await page.value(`JSON.parse(document.querySelector("script.workload").textContent).origin_s`);
		const jobs = readSchedule(csv);

		for (let step = 0; step <= 990; step += 45) {
			await choose(page, "at", step, "input");
			const time = from + (to - from) * step / 1000;

			assert.ok(Math.abs(Number(await page.told("at")) - time) < 1e-3);
			const says = await page.value(`document.querySelector("#pictures figcaption .option").textContent`), then = jobs.filter((j) => j.start <= time - origin && time - origin < j.end);
			const busy = new Set(then.flatMap((j) => j.nodes)), whole = [0, 1, 2, 3, 4, 5].filter((r) => [0, 1, 2].every((i) => !busy.has(3 * r + i))).length;
			const left = 9 * 4 + 9 * 2 - then.reduce((sum, j) => sum + j.gpus, 0);

			assert.match(says, new RegExp(`^${whole} of 6 blocks ha(s|ve) no job; ${left || "no"} GPU(s are| is) free`));
			assert.ok((await page.value(`document.querySelector("#pictures canvas").getAttribute("aria-label")`)).endsWith(says), "the label says it, too");
		}
		assert.ok((await page.value(INK("#pictures"))).colours >= 3);
		const box = await page.value(`(() => { const c = document.querySelector("#pictures canvas"); c.scrollIntoView({ block: "center", behavior: "instant" });
			const b = c.getBoundingClientRect(); return { x: b.x, y: b.y }; })()`);

		await page.mouse("mouseMoved", box.x + 12, box.y + 26);
		assert.match(await page.value("document.getElementById('picture-says').textContent"), /^cluster-n0 in rack0, \d of 4 GPUs free: (job \d+|no job)/);
		assert.deepEqual(page.complaints, []);
	});
}

module.exports = { gpuTests };
