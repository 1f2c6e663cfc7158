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
