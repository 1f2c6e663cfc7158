/* SPDX-License-Identifier: MIT */
/*
 * page.js CHROMIUM BUILD - the report page in a browser; speaks TAP.
 *
 * BUILD is the build tree, with t/report/page_sample and the chart library in it.
 */
"use strict";

const assert = require("node:assert/strict");
const { execFileSync } = require("node:child_process");
const fs = require("node:fs");
const os = require("node:os");
const path = require("node:path");
const { pathToFileURL } = require("node:url");
const { open } = require("./browser.js");

const [chromium, build] = process.argv.slice(2);
const scratch = fs.mkdtempSync(path.join(os.tmpdir(), "test-report-"));
const tests = [];
const test = (name, body) => tests.push({ name, body });
let browser;

/* Pages are made once: NAME -> file. */
const made = new Map();

function sample(name, ...options) {
	if (!made.has(name)) {
		made.set(name, path.join(scratch, `${name}.html`));
		execFileSync(path.join(build, "t/report/page_sample"), [made.get(name), ...options]);
	}
	return made.get(name);
}

const small = () => sample("small", "synthetic:jobs=300", "32x16c");
const large = () => sample("large", "synthetic:jobs=50000", "128x32c");

const visit = async (file, options) => {
	const page = await browser.page(pathToFileURL(file).href, options);

	page.told = (key) => page.value(`document.documentElement.dataset.${key}`);
	page.window = async () => (await page.told("window")).split(" ").map(Number);
	page.focus = (selector) => page.value(`document.querySelector(${JSON.stringify(selector)}).focus()`);
	await page.drawn();
	return page;
};

const GANTT = "#gantts .chart";

/* The share of a chart's canvas that is neither idle nor background. */
const INK = (selector) => `(() => {
	const canvas = document.querySelector(${JSON.stringify(selector)}).querySelector("canvas");
	const { width, height } = canvas, seen = new Map();
	const { data } = canvas.getContext("2d").getImageData(0, 0, width, height);

	for (let i = 0; i < data.length; i += 4) {
		const key = data[i + 3] ? data[i] << 16 | data[i + 1] << 8 | data[i + 2] : -1;

		seen.set(key, (seen.get(key) || 0) + 1);
	}
	return { colours: seen.size, plain: Math.max(...seen.values()) / (width * height) };
})()`;

test("a page of 300 jobs is drawn, without a complaint or a request", async () => {
	const page = await visit(small());

	assert.equal(await page.told("ready"), "true");
	assert.equal(await page.told("jobs"), "300");
	assert.equal(await page.told("runs"), "2");
	assert.ok(Number(await page.told("rects")) >= 600, "a mark for each job of each run");
	assert.equal(await page.value("document.querySelectorAll('.chart canvas').length"), 5);
	assert.equal(await page.value("document.title"), "fcfs and firstfit on synthetic:jobs=300");
	for (const chart of [GANTT, "#utilization", "#queue", "#wait"]) {
		const { colours, plain } = await page.value(INK(chart));

		assert.ok(colours > 5 && plain < .99, `${chart} is not empty: ${colours} colours, ${plain} of one`);
	}
	assert.deepEqual(page.complaints, []);
});

test("a page of 50,000 jobs is a few MB and shows them all", async () => {
	assert.ok(fs.statSync(large()).size < 5e6);
	const page = await visit(large());

	assert.equal(await page.told("jobs"), "50000");
	assert.ok(Number(await page.told("rects")) >= 100000);
	assert.ok((await page.value(INK(GANTT))).plain < .6, "the machine is busy most of the time");
	assert.deepEqual(page.complaints, []);
});

test("same input, same bytes", () => {
	assert.deepEqual(fs.readFileSync(small()), fs.readFileSync(sample("again", "synthetic:jobs=300", "32x16c")));
});

test("the charts agree with the metrics", async () => {
	const page = await visit(small());
	const results = await page.value(`[...document.querySelectorAll("script.run")].map((e) => JSON.parse(e.textContent).result)`);
	const label = await page.value(`document.querySelector("#utilization .chart").getAttribute("aria-label")`);
	const means = [...label.matchAll(/mean ([\d.]+) %/g)].map((m) => Number(m[1]));

	/* The chart ends with the longest run; so is the mean that it tells. */
	const longest = Math.max(...results.map((r) => r.makespan_s));

	results.forEach((r, i) => {
		const expected = 100 * r.held_utilization * r.makespan_s / longest;

		assert.ok(Math.abs(means[i] - expected) < .1, `${means[i]} and ${expected}`);
	});
	assert.equal(await page.value("document.querySelector('#metrics [data-key=jobs]').textContent"), "300");
});

test("keys zoom and pan all charts, and stop at the ends", async () => {
	const page = await visit(small()), [from, to] = await page.window();

	await page.focus("#utilization .chart");
	await page.key("+");
	const [a, b] = await page.window();

	assert.ok(Math.abs((b - a) - (to - from) / 2) < 1 && a > from && b < to);
	await page.key("ArrowRight");
	assert.ok((await page.window())[0] > a);
	for (let i = 0; i < 5; i++)
		await page.key("ArrowRight");
	assert.equal((await page.window())[1], to);
	await page.key("0");
	assert.deepEqual(await page.window(), [from, to]);
	await page.key("-");
	assert.deepEqual(await page.window(), [from, to]);
	assert.deepEqual(page.complaints, []);
});

test("keys go from job to job, say what it is, and zoom to it", async () => {
	const page = await visit(small()), [from, to] = await page.window();

	await page.focus(GANTT);
	await page.key("n");
	const first = await page.told("chosen");

	assert.match(await page.value("document.getElementById('job').textContent"), new RegExp(`^Job ${first} of u\\d+, submitted .*\nfcfs: waited .*\nfirstfit: `));
	await page.key("n");
	assert.notEqual(await page.told("chosen"), first);
	await page.key("p");
	assert.equal(await page.told("chosen"), first);
	await page.key("Enter");
	const [a, b] = await page.window();

	assert.ok(b - a < to - from);
	await page.key("Escape");
	assert.equal(await page.told("chosen"), "");
	await page.key("ArrowUp", true);
	const [low, high] = (await page.told("nodes")).split(" ").map(Number);

	assert.ok(high - low === 16 || high - low === 32, `${low} ${high}`);
	assert.deepEqual(page.complaints, []);
});

test("Tab reaches every control and chart", async () => {
	const page = await visit(small()), seen = new Set();

	for (let i = 0; i < 40; i++) {
		await page.key("Tab");
		seen.add(await page.value(`(() => {
			const e = document.activeElement;
			return e.id || e.dataset.do || e.parentElement.id || e.closest("figure")?.dataset.run || e.textContent;
		})()`));
	}
	for (const what of ["in", "out", "all", "left", "right", "find", "colour", "fcfs", "firstfit", "utilization", "queue", "wait"])
		assert.ok(seen.has(what), `${what} among ${[...seen].join(", ")}`);
});

test("everything that takes the focus or draws has a name", async () => {
	const page = await visit(small());
	const { nodes } = await page.send("Accessibility.getFullAXTree");
	const nameless = nodes.filter((n) => !n.ignored && ["button", "checkbox", "combobox", "searchbox", "image", "img", "region", "link"]
		.includes(n.role?.value) && !n.name?.value).map((n) => n.role.value);

	assert.deepEqual(nameless, []);
	assert.equal(await page.value("[...document.querySelectorAll('.chart')].every((e) => e.getAttribute('aria-label').length > 20)"), true);
});

test("a job is found by its id, and one that is not there is said to be missing", async () => {
	const page = await visit(large());
	const find = async (id) => {
		await page.value(`(document.getElementById("find").value = ${JSON.stringify(id)}, document.getElementById("find").focus())`);
		await page.key("Enter");
		return page.value("document.getElementById('job').textContent");
	};

	assert.match(await find("25000"), /^Job 25000 of /);
	assert.equal(await page.told("chosen"), "25000");
	assert.match(await find("99999999"), /^There is no job 99999999 /);
});

test("dragging the mouse zooms, a double click shows everything, pointing names a job", async () => {
	const page = await visit(large()), [from, to] = await page.window();
	const box = await page.value(`(() => { const r = document.querySelector("${GANTT} .u-over").getBoundingClientRect();
		return { x: r.x, y: r.y, width: r.width, height: r.height }; })()`);
	const at = (share) => box.x + share * box.width, y = box.y + box.height / 2;

	await page.mouse("mouseMoved", at(.25), y);
	await page.mouse("mousePressed", at(.25), y, 1);
	await page.mouse("mouseMoved", at(.4), y, 1);
	await page.mouse("mouseMoved", at(.5), y, 1);
	await page.mouse("mouseReleased", at(.5), y);
	const [a, b] = await page.window();

	assert.ok(Math.abs((b - a) / (to - from) - .25) < .02, `a quarter: ${(b - a) / (to - from)}`);
	for (let x = .1; x < .9 && !await page.value("document.getElementById('tip').textContent"); x += .05)
		await page.mouse("mouseMoved", at(x), y);
	assert.match(await page.value("document.getElementById('tip').textContent"), /^Job \d+ of u\d+, submitted /);
	await page.value(`document.querySelector("${GANTT} .u-over").dispatchEvent(new MouseEvent("dblclick", { bubbles: true }))`);
	await page.drawn();
	assert.deepEqual(await page.window(), [from, to]);
	assert.deepEqual(page.complaints, []);
});

test("it is dark where the reader's system is, and changes with it", async () => {
	const page = await visit(small(), { dark: true });
	const light = () => page.value(`(() => { const [r, g, b] = getComputedStyle(document.body).backgroundColor.match(/\\d+/g).map(Number);
		return (r + g + b) / 3; })()`);
	const idle = `(() => { const c = document.querySelector("${GANTT} canvas");
		return c.getContext("2d").getImageData(c.width - 30, c.height / 2, 1, 1).data[0]; })()`;

	assert.equal(await page.told("dark"), "true");
	assert.ok(await light() < 60);
	assert.ok(await page.value(idle) < 80);
	await page.media(false);
	await page.until("document.documentElement.dataset.dark === 'false'");
	await page.drawn();
	assert.ok(await light() > 200);
	assert.ok(await page.value(idle) > 200);
	assert.deepEqual(page.complaints, []);
});

test("a policy can be left out, but not the last one", async () => {
	const page = await visit(small());
	const click = async (i) => {
		await page.value(`document.querySelectorAll("#runs input")[${i}].click()`);
		await page.drawn();
		return page.value(`document.querySelectorAll("${GANTT}").length`);
	};

	assert.equal(await click(0), 1);
	assert.equal(await click(1), 1);
	assert.equal(await click(0), 2);
	assert.deepEqual(page.complaints, []);
});

test("a narrow window has no sideways scrolling", async () => {
	const page = await visit(small(), { width: 360, height: 700 });

	assert.ok(await page.value("document.documentElement.scrollWidth") <= 360);
	assert.deepEqual(page.complaints, []);
});

test("a pool of processors is drawn by core", async () => {
	const page = await visit(sample("pool", "synthetic:jobs=2000", "1x128c", "3"));

	assert.match(await page.value(`document.querySelector("${GANTT}").getAttribute("aria-label")`), /on 128 cores/);
	assert.ok((await page.value(INK(GANTT))).plain < .7);
	assert.deepEqual(page.complaints, []);
});

test("of several workloads the reader chooses one", async () => {
	const page = await visit(sample("two", "synthetic:jobs=300+esp"));

	assert.equal(await page.told("jobs"), "300");
	await page.focus("#workload");
	await page.key("ArrowDown");
	assert.equal(await page.told("jobs"), "230");
	assert.match(await page.value("document.getElementById('facts').textContent"), /esp/);
	assert.equal(await page.value("document.querySelectorAll('.chart').length"), 5);
	assert.equal(await page.value("document.getElementById('colour').value"), "size");
	assert.deepEqual(page.complaints, []);
});

/* The same through the tool. */
function tool(name, ...options) {
	const file = path.join(scratch, `${name}.html`);

	execFileSync(path.resolve(build, "schedlua"), [...options, `--report=${file}`]);
	return file;
}

test("schedlua compare lays its policies over one another", async () => {
	const page = await visit(tool("compare", "compare", "--policies=easy fcfs conservative", "--machine=64x8c2g",
		"--seeds=2", "esp", "esp-gpu"));
	const label = () => page.value(`document.querySelector("#utilization .chart").getAttribute("aria-label")`);

	assert.equal(await page.value("document.title"), "3 policies on esp and others");
	assert.equal(await page.told("runs"), "3");
	assert.equal(await page.told("jobs"), "230");
	assert.equal(await page.value(`document.querySelectorAll("${GANTT}").length`), 3);
	for (const policy of ["easy", "fcfs", "conservative"])
		assert.match(await label(), new RegExp(policy));
	for (const chart of [GANTT, "#utilization", "#queue", "#wait"])
		assert.ok((await page.value(INK(chart))).colours > 5, chart);
	await page.focus("#workload");
	await page.key("ArrowDown");
	assert.equal(await page.told("jobs"), "458");
	assert.equal(await page.told("runs"), "3");
	assert.deepEqual(page.complaints, []);
});

test("schedlua sim and compare tell the same of a policy", async () => {
	const data = `[...document.querySelectorAll("script.run")].map((e) => JSON.parse(e.textContent).result)`;
	const one = await visit(tool("sim", "sim", "--policy=easy", "--machine=64x8c2g", "esp"));
	const several = await visit(tool("two-policies", "compare", "--policies=fcfs easy", "--machine=64x8c2g", "esp"));

	assert.deepEqual((await one.value(data))[0], (await several.value(data))[1]);
	assert.deepEqual(one.complaints, []);
});

test("figures stand before the charts, and the command line that made the page above them", async () => {
	const page = await visit(tool("command", "compare", "--policies=easy fcfs", "--machine=64x8c2g", "esp"));

	assert.equal(await page.value(`Boolean(document.getElementById("figures").compareDocumentPosition(document.querySelector("canvas")) & 4)`), true);
	assert.match(await page.value("document.getElementById('command').textContent"),
		/^schedlua compare '--policies=easy fcfs' --machine=64x8c2g esp --report=/);
	const results = await page.value(`[...document.querySelectorAll("script.run")].map((e) => JSON.parse(e.textContent).result.bsld_mean)`);
	const shown = await page.value(`[...document.querySelectorAll("#figures tbody tr")].map((row) => [...row.cells].map((c) => c.textContent))`);

	assert.deepEqual(shown.map((row) => row[0].trim()), ["easy", "fcfs"]);
	results.forEach((v, i) => assert.ok(shown[i].some((text) => Math.abs(parseFloat(text.replace(",", "")) / v - 1) < .01), `${v} in ${shown[i]}`));
});

test("the best of a row is marked, and none where several are as good", async () => {
	const page = await visit(tool("equal", "compare", "--policies=easy easy fcfs", "--machine=64x8c2g", "esp"));
	const rows = await page.value(`[...document.querySelectorAll("#metrics tbody tr")].map((row) =>
		[...row.querySelectorAll("[data-key]")].map((c) => ({ text: c.textContent, best: c.classList.contains("best") })))`);
	const marked = rows.map((cells) => cells.filter((c) => c.best));

	marked.forEach((best, i) => assert.ok(best.length <= 1 && best.every((b) =>
		rows[i].filter((c) => c.text === b.text).length === 1), JSON.stringify(rows[i])));
	assert.ok(rows.every(([a, b]) => !a || a.text === b.text), "easy and easy are the same");
	assert.ok(marked.some((best) => best.length), "fcfs is the best in something");
	assert.ok(!rows.some(([a, b]) => a && (a.best || b.best)), "easy is not better than easy");
});

test("on a phone the first column of a table stays, and is narrow", async () => {
	const page = await visit(small(), { width: 390, height: 800 });

	for (const id of ["figures", "users", "metrics"]) {
		const { stays, width, scrolled } = await page.value(`(() => {
			const table = document.getElementById("${id}"), box = table.parentElement;

			box.scrollLeft = 100;
			const cells = [...table.querySelectorAll("tr:not(.group) > th:first-child")].map((th) => th.getBoundingClientRect());

			return { stays: cells.every((r) => Math.abs(r.left - box.getBoundingClientRect().left) < 2), scrolled: box.scrollLeft,
				width: Math.max(...cells.map((r) => r.width)) };
		})()`);

		assert.ok(id === "users" || scrolled === 100, `${id} is wider than the screen`);
		assert.ok(stays && width <= 130, `${id}: ${stays} ${width}`);
	}
	assert.ok(await page.value("document.documentElement.scrollWidth") <= 390);
});

test("metrics and jobs are downloaded as CSV, and nothing in it is a formula", async () => {
	const page = await visit(small());
	const csv = (what) => page.value(`new Promise((done) => {
		URL.createObjectURL = (blob) => { blob.text().then(done); return "data:,"; };
		document.querySelector("[data-csv=${what}]").click();
	})`);
	const metrics = (await csv("metrics")).trim().split("\r\n"), jobs = (await csv("jobs")).trim().split("\r\n");

	assert.equal(metrics.length, 3);
	assert.match(metrics[0], /^"policy","jobs",.*"wait_mean_s"/);
	assert.equal(metrics[1].split(",")[1], "300");
	assert.equal(jobs.length, 601);
	assert.match(jobs[1], /^"fcfs",\d+,"u\d+","[^"]*",\d+,\d+,\d+,\d+,\d+,\d+,\d+$/);
	assert.doesNotMatch(jobs.join(), /"[=+@-]/);
});

test("why a policy is not ticked is said", async () => {
	const page = await visit(tool("many", "compare", "--policies=easy fcfs conservative easy,window=9 easy,window=8 easy,window=7",
		"--machine=64x8c2g", "esp"));
	const says = () => page.value(`(() => { const p = document.getElementById("unticked"); return p.hidden ? "" : p.textContent; })()`);

	assert.match(await says(), /^Not drawn yet: easy,window=8, easy,window=7\. At first 4 of 6 /);
	await page.value(`[4, 5, 0].forEach((i) => document.querySelectorAll("#runs input")[i].click())`);
	assert.match(await says(), /^Not drawn, as you unticked it: easy\. /);
	await page.value(`document.querySelectorAll("#runs input")[0].click()`);
	assert.equal(await says(), "");
	assert.deepEqual(page.complaints, []);
});

test("who was overtaken is counted right", async () => {
	const page = await visit(small());

	await page.value(`(() => {
		let seed = 7;
		const random = (n) => (seed = seed * 48271 % 2147483647) % n;

		for (let round = 0; round < 50; round++) {
			const n = 1 + random(40), submit = Float64Array.from({ length: n }, () => random(20));
			const start = submit.map((s) => (random(5) ? s + random(20) : NaN)), partition = submit.map(() => random(3));
			const early = (a, b) => (isNaN(start[b]) ? !isNaN(start[a]) : start[a] < start[b]);
			const counted = series.overtaken({ submit, partition }, { start });

			submit.forEach((s, job) => {
				const expected = submit.filter((t, other) => t > s && partition[other] === partition[job] && early(other, job)).length;

				if (counted[job] !== expected)
					throw new Error("round " + round + ", job " + job + ": " + counted[job] + ", expected " + expected);
			});
		}
	})()`);
	assert.match(await page.value("document.getElementById('overtaken').textContent"), /none$/);	/* under fcfs */
	await page.value(`document.querySelectorAll("#runs input")[0].click()`);
	assert.match(await page.value("document.getElementById('under').textContent"), /firstfit/);
	assert.ok(await page.value("document.querySelectorAll('#overtaken tbody tr').length") > 1);
});

/* A cluster of which only the journal and the last snapshot are known. */
function live() {
	if (made.has("live"))
		return made.get("live");
	const state = path.join(scratch, "state"), now = 1793600000, cluster = {
		meta: { now, cluster: "home" }, nodes: [1, 2, 3, 4].map((i) => ({ name: `n${i}`, cores: 4 })),
		partitions: [{ name: "a", nodes: "n[1-2]" }, { name: "b", nodes: "n[3-4]" }],
		jobs: [[2, "bob", "a"], [3, "cat", "b"]].map(([id, user, partition]) => ({ id, user, partition, state: id === 3 ? "RUNNING" : "PENDING",
			submit_time: now - 3000, start_time: id === 3 ? now - 600 : 0, end_time: id === 3 ? now + 600 : 0 })),
	};
	const lines = [
		{ full: true, pending: [{ job: 2, why: "policy", partition: "a" }, { job: 3, why: "resources", partition: "b" }], ago: 3000 },
		{ started: [{ job: 4, partition: "b", nodes: "n[3-4]", cores: 8, done: true }], ago: 1200 },
		{ started: [{ job: 3, partition: "b", nodes: "n[3-4]", cores: 8, done: true }], ago: 600 },
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

test("what happened on a cluster is drawn as a simulation is", async () => {
	const page = await visit(live());
	const text = (id) => page.value(`document.getElementById("${id}").textContent`);

	assert.equal(await page.value("document.title"), "home, the last 45m");
	assert.deepEqual(await page.window(), [1793600000 - 2700, 1793600000]);
	assert.equal(await page.value("document.querySelectorAll('.chart canvas').length"), 5);
	for (const chart of [GANTT, "#reasons", "#queue"])
		assert.ok((await page.value(INK(chart))).colours > 4, chart);
	assert.match(await page.value(`document.querySelector("#reasons .chart").getAttribute("aria-label")`), /resources: mean 0\.77\d*; policy: mean 1\.00/);
	assert.match(await text("users"), /cat1.*bob0/s);
	assert.match(await text("partitions"), /^Partition.*b2.*a0/s);
	assert.match(await text("overtaken"), /31 job40 mincatb8/);
	assert.match(await text("notes"), /no ledger/);
	assert.match(await text("figures"), /11\.1 %/);
	assert.deepEqual(page.complaints, []);
});

/* The same cluster in shadow mode: its book, with a text that would like to be a script. */
function shadowed() {
	const state = path.join(scratch, "state"), now = 1793600000, file = path.join(scratch, "shadowed.html");
	const ran = (job, user, submit, start, more) => ({ job, user, partition: "a", submit: now - submit, start: now - start, ...more });
	const lines = [
		{ ago: 2600, begin: { stock: "backfill" }, plans: [{ job: 1, tasks: 1 }] },
		{ ago: 2000, sample: { policy: "easy", cores: 16, used: 8, planned: 4, cycles: 20, failures: 1, decide_us: 40000, decide_max_us: 9000 } },
		{ ago: 1500, ran: [ran(1, "ann", 2600, 1500), ran(2, "bob", 2000, 1600, { why: "policy", text: "over </script><b id=bold> its quota" })] },
		{ ago: 1400, ran: [ran(3, "bob", 1401, 1400)], failed: "policy failed: no such job" },
		{ ago: 1000, ran: [ran(4, "bob", 1400, 1000, { why: "priority", expected: now - 400 })] },
	];

	fs.writeFileSync(path.join(state, "shadow.jsonl"), lines.map(({ ago, ...line }) => `${JSON.stringify({ now: now - ago, ...line })}\n`).join(""));
	execFileSync(path.resolve(build, "schedlua"), ["report", `--dir=${state}`, "--last=45m", `--output=${file}`]);
	return file;
}

test("a cluster in shadow mode: what the policies would have done", async () => {
	const before = await visit(live());

	assert.ok(await before.value("document.getElementById('shadow').hidden"), "a page of no shadow mode says nothing of it");
	const page = await visit(shadowed()), rows = (id) => page.value(`[...document.querySelectorAll("#${id} tbody tr")].map((row) =>
		[...row.children].map((cell) => cell.textContent).join("|"))`);

	assert.ok(!await page.value("document.getElementById('shadow').hidden"));
	assert.match(await page.value("document.getElementById('shadow-what').textContent"), /^sched\/backfill decided, easy looked on, from 2026-11-02 .* do not add up/);
	const figures = await rows("shadow-figures");

	assert.deepEqual(figures.slice(0, 5), ["Jobs started|4||", "the same||1|", "earlier||1|by 18 min 20 s at most",
		"kept waiting||1|by 10 min at most", "refused||1|"]);
	assert.deepEqual(figures.slice(7, 9), ["Decisions||20|2.0 ms on average, 9.0 ms at most", "Decisions that failed||1|"]);
	assert.match((await rows("shadow-failed")).join(), /^policy failed: no such job\|1\|2026/);
	assert.deepEqual((await rows("shadow-users")).map((row) => row.split("|").slice(0, 2).join(" ")), ["ann 1", "bob 3"]);
	const jobs = await rows("shadow-jobs");

	assert.deepEqual(jobs.map((row) => row.split("|")[0]), ["2", "1", "4"]);
	assert.match(jobs[0], /refused\|over <\/script><b id=bold> its quota$/);
	assert.match(jobs[1], /\|18 min 20 s earlier\|$/);
	assert.match(jobs[2], /\|10 min later\|/);
	assert.equal(await page.value("document.getElementById('bold')"), null);
	assert.deepEqual(page.complaints, []);
});

async function run({ name, body }, number) {
	try {
		await body();
		console.log(`ok ${number} - ${name}`);
		return true;
	} catch (error) {
		console.log(`not ok ${number} - ${name}`);
		console.log(String(error.stack || error).replace(/^/gm, "# "));
		return false;
	}
}

(async () => {
	let good = true;

	console.log(`1..${tests.length}`);
	try {
		browser = await open(chromium, path.join(scratch, "profile"));
		for (const [i, t] of tests.entries())
			good = await run(t, i + 1) && good;
		await browser.close();
	} catch (error) {
		console.log(`Bail out! ${error.message}`);
		good = false;
	}
	fs.rmSync(scratch, { recursive: true, force: true, maxRetries: 5 });
	process.exitCode = good ? 0 : 1;
})();
