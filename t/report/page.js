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
const { gpuTests } = require("./page_gpus.js");
const { makers } = require("./pages.js");

const [chromium, build] = process.argv.slice(2);
const scratch = fs.mkdtempSync(path.join(os.tmpdir(), "test-report-"));
const tests = [];
const test = (name, body) => tests.push({ name, body });
const { sample, tool, live, shadowed } = makers(build, scratch);
let browser;

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
	assert.equal(await page.value("document.querySelectorAll('.chart canvas').length"), 6);
	assert.equal(await page.value("document.title"), "fcfs and firstfit on synthetic:jobs=300");
	for (const chart of [GANTT, "#utilization", "#queue", "#wait", "#slowdown"]) {
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

/* A fifth of the jobs may have the others stopped; two policies, of which one stops nobody. */
const stopping = () => {
	const site = path.join(scratch, "preempts.lua");

	fs.writeFileSync(site, 'local sched = require "sched"\nreturn sched.site { default = { sched.preempt { min_runtime = "10m" }, "easy" } }\n');
	return tool("stops", "compare", "--quiet", "--machine=16x8c2g", "--tiers=share=0.2,checkpoint=30,grace=30s", "--first=200",
		`--policies=site=${site} easy`, "esp-gpu");
};

test("runs that were stopped for other jobs are drawn, told and listed", async () => {
	const page = await visit(stopping());
	const run = await page.value(`JSON.parse(document.querySelector("script.run").textContent)`);
	const [from, to] = await page.window();
	const rows = await page.value(`[...document.querySelectorAll("#stops tbody tr")].map((row) => [...row.children].map((e) => e.textContent))`);
	const shown = (id) => page.value(`!document.querySelector("${id}").hidden && document.querySelector("${id}").getClientRects().length > 0`);

	assert.ok(run.result.stops > 5 && run.stops.length === run.result.stops);
	assert.ok(Number(await page.told("stops")) > 5, "some are in view");
	for (const id of ["#stopped", "#wasted", "#wasted-gpus"])
		assert.ok(await shown(id), `${id} is shown`);
	assert.equal(rows.length, run.stops.length);
	const [id, policy, , other] = rows[0];

	assert.match(policy, /preempts\.lua/);
	assert.match(rows[0].join("|"), /requeued\|.*(core|GPU)-hours lost\|(optimal|found)$/);
	/* the job says so, too */
	await page.value(`(() => { document.querySelector("#find").value = "${id}"; document.querySelector("#tools").requestSubmit(); })()`);
	await page.drawn();
	const says = await page.value(`document.querySelector("#job").textContent`);

	assert.match(says, new RegExp(`ran [^;]*, stopped for job ${other} \\(requeued\\), [\\d.]+ (core|GPU)-hours lost`));
	assert.match(says, /last started/);
	/* what the charts have is what the metrics have */
	const lost = run.stops.reduce((sum, [, , , , , , , s, cores]) => sum + s * cores, 0);
	const mean = async (figure) => Number((await page.value(`document.querySelector("${figure} .chart").getAttribute("aria-label")`)).match(/mean ([\d.]+) %/)[1]);

	assert.ok(Math.abs(lost - run.result.lost_core_s) < 1);
	assert.ok(Math.abs(await mean("#wasted") - 100 * lost / (128 * (to - from))) < .1);
	assert.ok(Math.abs(await mean("#utilization") - 100 * run.result.held_utilization * run.result.makespan_s / (to - from)) < .1);
	assert.equal(await page.value(`document.querySelector("#metrics [data-key=lost_core_s]").firstChild.textContent`),
		await page.value(`words.figure(${lost} / 3600)`));
	assert.deepEqual(page.complaints, []);
});

test("a page of a cluster says which run was stopped for which job", async () => {
	const page = await visit(live());
	const cells = await page.value(`[...document.querySelectorAll("#stops tbody tr")].map((row) => [...row.children].map((e) => e.textContent))`);

	assert.equal(cells.length, 1);
	assert.deepEqual([cells[0][0], cells[0][2], cells[0][5], cells[0][6], cells[0][7], cells[0][8]],
		["4", "3", "requeued", "9 min", "1.20 core-hours lost", "optimal"]);
	assert.match(await page.value(`(() => { document.querySelector("#find").value = "4"; document.querySelector("#tools").requestSubmit(); ` +
		`return document.querySelector("#job").textContent; })()`), /stopped for job 3 \(requeued\), 1.20 core-hours lost; .*ran 9 min/);
	assert.deepEqual(page.complaints, []);
});

test("where nobody was stopped nothing is said of stops", async () => {
	const page = await visit(small());

	for (const id of ["#stopped", "#wasted", "#wasted-gpus"])
		assert.ok(await page.value(`document.querySelector("${id}").hidden`), `${id} is not shown`);
	assert.equal(await page.value(`document.querySelectorAll("#metrics [data-key=stops], #metrics [data-key=lost_core_s]").length`), 0);
	assert.equal(await page.told("stops"), "0");
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
	assert.equal(await page.value("document.querySelectorAll('.chart').length"), 6);
	assert.equal(await page.value("document.getElementById('colour').value"), "size");
	assert.deepEqual(page.complaints, []);
});

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
	assert.match(jobs[1], /^"fcfs",\d+,"u\d+","[^"]*",\d+,\d+,\d+,\d+,\d+,\d+,\d+,\d+,0$/);
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
			const counted = series.overtaken({ submit, partition }, { began: start });

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

test("what happened on a cluster is drawn as a simulation is", async () => {
	const page = await visit(live());
	const text = (id) => page.value(`document.getElementById("${id}").textContent`);

	assert.equal(await page.value("document.title"), "home, the last 45m");
	/* a quarter of the time again, for what is planned: until when job 3 may run, where job 2 is to start, a reservation */
	assert.deepEqual(await page.window(), [1793600000 - 2700, 1793600000 + 675]);
	assert.equal(await page.told("planned"), "2");
	assert.equal(await page.told("reservations"), "1");
	assert.equal(await page.value("document.querySelectorAll('.chart canvas').length"), 7);
	for (const chart of [GANTT, "#reasons", "#queue"])
		assert.ok((await page.value(INK(chart))).colours > 4, chart);
	assert.match(await page.value(`document.querySelector("#reasons .chart").getAttribute("aria-label")`), /resources: mean 0\.77\d*; policy: mean 1\.00/);
	assert.match(await text("users"), /cat1.*bob0/s);
	assert.match(await text("partitions"), /^Partition.*b2.*a0/s);
	assert.match(await text("overtaken"), /31 job40 mincatb8/);
	assert.match(await text("notes"), /no ledger/);
	assert.match(await text("figures"), /21\.1 %/);
	assert.deepEqual(page.complaints, []);
});

test("what is planned is said of a job, and nothing is drawn over time that is still to come", async () => {
	const page = await visit(live());
	const said = async (id) => {
		await page.value(`(document.getElementById("find").value = ${id}, document.getElementById("find").focus())`);
		await page.key("Enter");
		return page.value("document.getElementById('job').textContent");
	};

	assert.match(await said(2), /planned to start 2026-11-02 06:14:20 on n1 to n2/);
	assert.match(await said(3), /to end by 2026-11-02 06:23:20/);
	assert.equal(await page.value(`(() => {
		const text = document.querySelector("#queue .chart").getAttribute("aria-label");
		return /mean \\d/.test(text);
	})()`), true);
	assert.deepEqual(page.complaints, []);
});

/* The files that were offered, as { name, type, size, text }. */
const NOTE_FILES = `(globalThis.files = [], URL.createObjectURL = (blob) => { blob.text().then((text) =>
	files.push({ type: blob.type, size: blob.size, text: blob.type === "image/png" ? text.slice(1, 4) : text })); return "data:,"; },
	HTMLAnchorElement.prototype.click = function () {})`;

test("each chart and map is saved as SVG and as PNG", async () => {
	const page = await visit(small());

	await page.value(NOTE_FILES);
	const buttons = await page.value("document.querySelectorAll('main figure:not([hidden]) [data-save]').length");

	assert.equal(buttons, 16);	/* two schedules, four charts, two maps */
	await page.value("document.querySelectorAll('main figure:not([hidden]) [data-save]').forEach((button) => button.click())");
	await page.until(`document.documentElement.dataset.saved === "${buttons}" && files.length === ${buttons}`);
	const files = await page.value(`files.map((f) => ({ ...f, elements: f.type === "image/svg+xml" ?
		(() => { const svg = new DOMParser().parseFromString(f.text, "image/svg+xml"); return svg.querySelector("parsererror") ? -1 :
			svg.querySelectorAll("path, rect, text").length; })() : 0, text: f.text.slice(0, 80) }))`);

	assert.equal(files.filter((f) => f.type === "image/png" && f.text === "PNG" && f.size > 4000).length, 8, JSON.stringify(files));
	assert.equal(files.filter((f) => f.elements > 15).length, 8, JSON.stringify(files));
	const points = await page.value(`files.filter((f) => f.type === "image/svg+xml").map((f) => f.text.split("L").length)`);

	assert.ok(points.filter((n) => n > 100).length === 4, `the lines of four charts are in them: ${points}`);
	assert.ok((await page.value(INK("#utilization"))).colours > 5, "a chart that was saved is still there");
	assert.deepEqual(page.complaints, []);
});

test("a map's cells are the mean waits that they say", async () => {
	const page = await visit(small());
	const cells = await page.value(`[...document.querySelectorAll("#heats figure:first-child [data-cell]")].map((e) => e.dataset.cell)`);
	const jobs = cells.map((text) => Number(text.match(/, ([\d,]+) jobs?$/)?.[1].replace(",", "") ?? 0));

	assert.equal(jobs.reduce((a, b) => a + b, 0), 300);
	const mean = await page.value(`(() => { const w = schedule, e = document.querySelector("script.run"); return JSON.parse(e.textContent).result.wait_mean_s; })()`);
	const seconds = (text) => [...text.matchAll(/([\d.]+) (d|h|min|s)\b/g)].reduce((sum, [, v, unit]) =>
		sum + v * { d: 86400, h: 3600, min: 60, s: 1 }[unit], 0);
	const sum = cells.reduce((all, text, i) => all + jobs[i] * seconds(text.match(/mean wait (.*),/)?.[1] ?? ""), 0);

	assert.ok(Math.abs(sum / 300 / mean - 1) < .05, `${sum / 300} and ${mean}`);
});

test("differences to a policy that is chosen stand in the tables, and job by job", async () => {
	const page = await visit(small());
	const choose = (value) => page.value(`(() => { const e = document.getElementById("baseline"); e.value = "${value}";
		e.dispatchEvent(new Event("change")); return document.querySelectorAll(".difference").length; })()`);

	assert.equal(await page.value("document.getElementById('paired').parentElement.hidden"), true);
	assert.ok(await choose(0) > 5);
	const [jobs, less, same, more] = await page.value(`[...document.querySelectorAll("#paired tbody td")].map((e) => parseFloat(e.textContent))`);

	assert.equal(jobs, 300);
	assert.ok(Math.abs(less + same + more - 100) < .3 && less > more, `${less} ${same} ${more}`);
	assert.equal(await choose(-1), 0);
	assert.deepEqual(page.complaints, []);
});

test("whose wait is sorted by the heading that is clicked, both ways", async () => {
	const page = await visit(small());
	const click = (i) => page.value(`(() => { document.querySelectorAll("#users th button")[${i}].click();
		return [...document.querySelectorAll("#users tbody tr")].map((row) => row.cells[${i}].textContent); })()`);
	const seconds = (text) => [...text.matchAll(/([\d.]+) (d|h|min|s)\b/g)].reduce((sum, [, v, unit]) =>
		sum + v * { d: 86400, h: 3600, min: 60, s: 1 }[unit], 0);
	const down = (await click(1)).map(seconds), up = (await click(1)).map(seconds);

	assert.ok(down.length > 3 && down.every((v, i) => !i || v <= down[i - 1]), `${down}`);
	assert.ok(up.every((v, i) => !i || v >= up[i - 1]), `${up}`);
	assert.equal(await page.value("document.querySelector('#users [aria-sort]').getAttribute('aria-sort')"), "ascending");
	assert.ok(await page.value("document.querySelectorAll('#users .spread').length") >= down.length);
});

test("the queue can be looked at in logarithmic scale", async () => {
	const page = await visit(small()), ink = await page.value(INK("#queue"));

	await page.value("document.getElementById('log').click()");
	await page.drawn();
	assert.notDeepEqual(await page.value(INK("#queue")), ink);
	assert.deepEqual(page.complaints, []);
});

gpuTests({ test, visit, tool, scratch, build, small, INK, GANTT });

test("without the chart library the figures, the tables and the maps are there, and it says what is missing", async () => {
	const assets = path.join(scratch, "assets"), file = path.join(scratch, "bare.html"), source = path.join(__dirname, "../../report");

	fs.mkdirSync(assets);
	for (const name of fs.readdirSync(source).filter((name) => /\.(js|css|html)$/.test(name) && !name.startsWith("uPlot")))
		fs.copyFileSync(path.join(source, name), path.join(assets, name));
	execFileSync(path.join(build, "t/report/page_sample"), [file, "synthetic:jobs=300", "32x16c"],
		{ env: { ...process.env, SCHEDLUA_REPORT: assets } });
	const page = await visit(file);

	assert.equal(await page.told("ready"), "true");
	assert.match(await page.value("document.getElementById('lacks').textContent"), /no charts over time.*make report-library/);
	assert.equal(await page.value("document.getElementById('lacks').hidden"), false);
	assert.equal(await page.value("document.querySelectorAll('canvas').length"), 0);
	assert.equal(await page.value("document.querySelectorAll('#heats svg').length"), 2);
	assert.ok(await page.value("document.querySelectorAll('#metrics tbody tr').length") > 10);
	assert.equal(await page.value("[...document.querySelectorAll('.drawn')].filter((e) => e.offsetParent).length"), 0);
	assert.deepEqual(page.complaints, []);
});

test("on a telephone a table that goes on to the right says so, and no other", async () => {
	const page = await visit(small(), { width: 390, height: 800 });
	const boxes = await page.value(`[...document.querySelectorAll(".scroll")].filter((e) => e.offsetParent).map((e) =>
		({ wide: e.scrollWidth - e.clientWidth > 2, more: e.classList.contains("more") }))`);

	assert.ok(boxes.some((b) => b.wide) && boxes.some((b) => !b.wide));
	assert.ok(boxes.every((b) => b.wide === b.more), JSON.stringify(boxes));
	assert.ok(await page.value("document.documentElement.scrollWidth") <= 390);
	await page.value("document.getElementById('figures').parentElement.scrollLeft = 1e6");
	await page.until("!document.getElementById('figures').parentElement.classList.contains('more')");
});

test("a page for one user has that user's jobs, and no name of anybody or anything else", async () => {
	live();
	const file = path.join(scratch, "cat.html");

	execFileSync(path.resolve(build, "schedlua"), ["report", `--dir=${path.join(scratch, "state")}`, "--last=45m", "--user=cat", `--output=${file}`]);
	assert.ok(!/bob|"n1"|"n2"|"a"|maintenance/.test(fs.readFileSync(file, "utf8").split('class="workload"')[1].split("uPlot")[0]));
	const page = await visit(file);

	assert.equal(await page.told("jobs"), "1");
	assert.equal(await page.told("planned"), "1");
	assert.equal(await page.value("document.title"), "home, jobs of cat, the last 45m");
	assert.ok(await page.value("document.getElementById('h-overtaken').parentElement.hidden"));
	assert.match(await page.value("document.querySelector('#utilization figcaption').textContent"), /^Cores held by the jobs on this page/);
	assert.match(await page.value("document.getElementById('facts').textContent"), /cat: no job of anybody else/);
	assert.deepEqual(page.complaints, []);
});

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
	assert.equal(figures[7], "Jobs they would have stopped||1|for 1 others, at a cost of 2.5");
	assert.match((await rows("shadow-stops")).join(), /^1\|ann\|4\|2026[^|]*\|2.50\|2 min later\|7 min 30 s later$/);
	assert.deepEqual(figures.slice(8, 10), ["Decisions||20|2.0 ms on average, 9.0 ms at most", "Decisions that failed||1|"]);
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
