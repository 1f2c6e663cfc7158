/* SPDX-License-Identifier: MIT */
/*
 * live_page.js CHROMIUM BUILD - the page of schedlua serve in a browser; speaks TAP.
 *
 * Each server is started on a free port of this machine and ended by its process, whatever becomes of the test.
 */
"use strict";

const assert = require("node:assert/strict");
const { execFileSync, spawn } = require("node:child_process");
const fs = require("node:fs");
const os = require("node:os");
const path = require("node:path");
const { open } = require("../report/browser.js");

const [chromium, build] = process.argv.slice(2);
const schedlua = path.join(build, "schedlua");
const scratch = fs.mkdtempSync(path.join(os.tmpdir(), "test-serve-"));
const tests = [], servers = new Set();
const test = (name, body) => tests.push({ name, body });
let browser, number = 0;

const EVIL = `<img src=x onerror="document.title='owned'"><script>document.title='owned'</script>`;

/* A cluster of *nodes* nodes: job 1 runs on two of them, 7 has a reservation, 9 waits. */
function cluster(nodes, now, { gpus = true, blocks = 0 } = {}) {
	const gres = gpus ? { gres: [{ kind: "gpu", count: 2 }] } : {};

	return {
		meta: { now, cluster: "home" }, gres_kinds: [{ key: "gpu", name: "gpu" }],
		nodes: Array.from({ length: nodes }, (_, i) => ({ name: `n${i + 1}`, cores: 8, ...gres, ...(blocks ? { topology: `root.rack${i % blocks}` } : {}), ...(i === 2 ? { state: ["DOWN"] } : {}) })),
		partitions: [{ name: "long", nodes: `n[1-${nodes}]` }, { name: "short", nodes: "n[1-2]" }],
		jobs: [
			{ id: 1, user: "ann", name: EVIL, state: "RUNNING", partition: "long", start_time: now - 600, end_time: now + 6600, time_limit: 7200,
				alloc: [{ node: "n1", cores: 8 }, { node: "n2", cores: 4, ...(gpus ? { gres: [{ kind: "gpu", count: 1 }] } : {}) }] },
			{ id: 7, user: "bob", name: "bobs", partition: "long", submit_time: now - 7500, time_limit: 3600, min_nodes: 4, min_cpus: 32 },
			{ id: 9, user: "eve", name: "eves", partition: "short", submit_time: now - 70, time_limit: 60 },
		],
		held: [{ job: 7, partition: "long", since: now - 5, until: now + 300, places: [{ node: "n4", cores: 8 }, { node: "n5", cores: 8 }] }],
		stopped: [{ job: 1, preemptor: 7, time: now - 5, user: "ann", partition: "long" }, { job: 5, preemptor: 7, time: now - 5, user: EVIL, partition: "long" }],
		queue: [{ job: 7, partition: "long", priority: 2 }, { job: 9, partition: "short", priority: 1 }],
	};
}

/* Start one; returns { url, end(), dir }. */
async function serve({ hides = "", nodes = 40, machine = {}, ...status } = {}) {
	const dir = path.join(scratch, String(++number)), now = Math.floor(Date.now() / 1000);

	fs.mkdirSync(dir);
	fs.writeFileSync(path.join(dir, "now.json"), JSON.stringify(typeof machine === "function" ? machine(now) : cluster(nodes, now, machine)));
	execFileSync(schedlua, ["show", `--output=${dir}/last.snap`, `${dir}/now.json`]);
	fs.writeFileSync(path.join(dir, "decisions.jsonl"), `${JSON.stringify({ sequence: 1, now, policy: "easy", full: true,
		reserved: [{ job: 7, start_time: now + 3600, nodes: "n[4-7]" }],
		pending: [{ job: 7, why: "resources" }, { job: 9, why: "priority", text: `would delay job 7 ${EVIL}` }] })}\n`);
	fs.writeFileSync(path.join(dir, "status.json"), JSON.stringify({ source: "site", policy: "easy", pid: 0, written: now, last_cycle: now,
		private_data: hides, ...status }));
	const child = spawn(schedlua, ["serve", `--dir=${dir}`, "--listen=127.0.0.1:0"], { stdio: ["ignore", "pipe", "ignore"] });

	servers.add(child);
	const url = await new Promise((done, fail) => {
		let said = "";

		child.stdout.on("data", (data) => {
			said += data;
			const at = said.match(/serving on (http:\S+)/);

			if (at)
				done(at[1]);
		});
		child.on("exit", (code) => fail(new Error(`serve ended with ${code}`)));
	});

	return { url, dir, end: () => new Promise((done) => { child.on("exit", done); servers.delete(child); child.kill("SIGTERM"); }) };
}

/* Open the page; complaints are those about more than its own files. */
async function visit(server, options) {
	const page = await browser.page(server.url, options);

	await page.until("document.documentElement.dataset.ready");
	page.wrong = () => page.complaints.filter((c) => !c.startsWith(`a request for ${server.url}`));
	page.text = (selector) => page.value(`document.querySelector(${JSON.stringify(selector)}).innerText`);
	return page;
}

const colours = (id) => `(() => {
	const c = document.getElementById("${id}"), { data } = c.getContext("2d").getImageData(0, 0, c.width, c.height), seen = new Set();

	for (let i = 0; i < data.length; i += 4)
		seen.add(data[i + 3] ? data[i] << 16 | data[i + 1] << 8 | data[i + 2] : -1);
	return seen.size;
})()`;

test("the page shows partitions, nodes, plan, queue and running jobs, and asks nobody else for anything", async () => {
	const server = await serve(), page = await visit(server);

	assert.equal(await page.text("#state"), "OK");
	assert.match(await page.text("#decided"), /decided by easy \(site\)/);
	assert.match(await page.text("#partitions"), /long[^]*12\/320[^]*short/);
	assert.match(await page.text("#waiting"), /7\s+bob\s+bobs\s+long\s+4\s+32[^]*\(reserved\)[^]*9\s+eve/);
	assert.match(await page.text("#running"), /1\s+ann/);
	assert.equal(await page.text("#waiting-count"), "2 jobs wait.");
	assert.match(await page.text("#stopped"), /5\s[^]*7\s[^]*has ended[^]*1\s+ann[^]*7\s[^]*told to end/);
	assert.match(await page.text("#held"), /7\s+bob\s+long\s+n\[4-5\][^]*1$/);
	assert.equal(`${await page.text("#stopped-count")} ${await page.text("#held-count")}`, "2 jobs were stopped. 1 place is held.");
	assert.ok(await page.value(colours("nodes")) >= 4, "idle, in use, with GPUs, down");
	assert.ok(await page.value(colours("plan")) >= 4, "running, reserved, now, times");
	assert.deepEqual(page.wrong(), []);
	await server.end();
});

test("what users wrote is text", async () => {
	const server = await serve(), page = await visit(server);

	assert.ok((await page.text("#running")).includes("<script>"));
	assert.ok((await page.text("#waiting")).includes("onerror"));
	assert.equal(await page.value("document.querySelectorAll('main img, main script').length"), 0);
	assert.match(await page.value("document.title"), /^home: 2 wait$/);
	await server.end();
});

test("a job is explained by its id, by a click on it, and one that there is not by saying so", async () => {
	const server = await serve(), page = await visit(server);

	await page.value("document.getElementById('job').focus()");
	await page.key("7");
	await page.key("Enter");
	await page.until("document.getElementById('answer').innerText.includes('Job 7 waits for 4 nodes')");
	assert.match(await page.text("#answer"), /Expected \d\d:\d\d \(reserved, by walltimes\)[^]*waits: resources; expected to start at/);
	await page.value("[...document.querySelectorAll('#waiting button')].find((b) => b.textContent === '9').click()");
	await page.until("document.getElementById('answer').innerText.includes('Job 9 waits')");
	assert.ok((await page.text("#answer")).includes("<script>"));
	await page.value("document.getElementById('job').value = '4711'; document.getElementById('ask').requestSubmit()");
	await page.until("document.getElementById('answer').innerText.includes('no such job')");
	assert.equal(await page.value("document.title"), "home: 2 wait");
	await server.end();
});

test("a job of the plan is explained by a click", async () => {
	const server = await serve(), page = await visit(server);
	const at = await page.value(`(() => {
		const c = document.getElementById("plan");
		c.scrollIntoView();
		const box = c.getBoundingClientRect(), d = drawn.find((x) => x.what === "plan");
		return { x: box.x + (d.x + d.right) / 2, y: box.y + (d.y + d.bottom) / 2 };
	})()`);

	await page.mouse("mouseMoved", at.x, at.y);
	assert.match(await page.text("#plan-job"), /^Job 7 of bob: .* \(reserved\)$/);
	await page.mouse("mousePressed", at.x, at.y, 1);
	await page.mouse("mouseReleased", at.x, at.y);
	await page.until("document.getElementById('answer').innerText.includes('Job 7 waits')");
	await server.end();
});

test("jobs of one user or partition are shown", async () => {
	const server = await serve(), page = await visit(server);

	await page.value("document.getElementById('by-user').value = 'eve'; document.getElementById('by-user').dispatchEvent(new Event('input'))");
	assert.equal(await page.text("#waiting-count"), "1 shown of 2 jobs wait.");
	assert.ok(!(await page.text("#waiting")).includes("bob"));
	await server.end();
});

test("under PrivateData=jobs,nodes it shows nobody's jobs, and says so", async () => {
	const server = await serve({ hides: "jobs,nodes" }), page = await visit(server);

	assert.match(await page.text("#hidden"), /hides jobs, nodes/);
	assert.equal(await page.text("#waiting-count"), "0 jobs wait.");
	assert.match(await page.text("#partitions"), /12\/320/);
	assert.ok(await page.value("document.getElementById('s-plan').hidden"));
	assert.ok(await page.value("document.getElementById('s-stops').hidden"));
	assert.ok(!/bob|ann|eve|n1\b/.test(await page.value("document.body.innerText")));
	await page.value("document.getElementById('job').value = '7'; document.getElementById('ask').requestSubmit()");
	await page.until("document.getElementById('answer').innerText.includes('no such job, or not one that you may see')");
	assert.deepEqual(page.wrong().filter((c) => !c.includes("404")), []);
	await server.end();
});

/* Eight nodes of two GPUs, of which one is in use, and a node of four of another type; jobs wait for two on a node, and for three. */
const apart = (now) => ({
	meta: { now, cluster: "home" }, gres_kinds: [{ key: "gpu:a100", name: "gpu", type: "a100" }, { key: "gpu:h100", name: "gpu", type: "h100" }],
	nodes: [...Array.from({ length: 8 }, (_, i) => ({ name: `a${i}`, cores: 8, gres: [{ kind: "gpu:a100", count: 2 }] })),
		{ name: "h0", cores: 8, gres: [{ kind: "gpu:h100", count: 4 }] }],
	partitions: [{ name: "p", nodes: "a[0-7],h0" }],
	jobs: [{ id: 1, user: "ann", state: "RUNNING", partition: "p", start_time: now - 60, end_time: now + 60,
		alloc: [...Array.from({ length: 8 }, (_, i) => ({ node: `a${i}`, cores: 1, gres: [{ kind: "gpu:a100", count: 1 }] })),
			{ node: "h0", cores: 8, gres: [{ kind: "gpu:h100", count: 2 }] }] },
	...[2, 3].map((count) => ({ id: 5 + count, user: "bob", partition: "p", gres: [{ name: "gpu", count, per: "node" }] }))],
	queue: [{ job: 7, partition: "p", priority: 2 }, { job: 8, partition: "p", priority: 1 }],
});

test("it says how far the free GPUs lie together, by type", async () => {
	const server = await serve({ machine: apart }), page = await visit(server);

	assert.equal(await page.text("#gpus-say"), "10 GPUs are free on 9 nodes; the largest job that fits has 1 GPU per node. " +
		"10 of them are on nodes where none of the 2 jobs that wait for GPUs fits.");
	assert.match(await page.text("#gpus"), /a100\s+8\/16\s+8\s+8\s+1 \(on 8 nodes\)\s+0\s+h100\s+2\/4\s+2\s+1\s+–\s+2\s+all\s+10\/20\s+10\s+9\s+1 \(on 8 nodes\)\s+2/);
	assert.ok(await page.value("document.getElementById('s-blocks').hidden"), "it has no blocks");
	assert.deepEqual(page.wrong(), []);
	await server.end();
});

test("blocks are drawn with their nodes, and those that are free as a whole are counted", async () => {
	const server = await serve({ machine: { blocks: 5 } }), page = await visit(server);

	assert.equal(await page.text("#blocks-say"), "2 of 5 blocks are free as a whole: all nodes are up and have no job.");
	assert.ok(await page.value(colours("blocks")) >= 5, "in use, idle, down, whole, others");
	const at = await page.value(`(() => {
		const c = document.getElementById("blocks");
		c.scrollIntoView();
		const box = c.getBoundingClientRect(), cell = laid.find((x) => data.nodes[x.node][0] === "n7");
		return { x: box.x + cell.x + cell.size / 2, y: box.y + cell.y + cell.size / 2 };
	})()`);

	await page.mouse("mouseMoved", at.x, at.y);
	assert.equal(await page.text("#block"), "n7 in rack1: 0 of 8 cores, 0 of 2 GPUs");
	assert.deepEqual(page.wrong(), []);
	await server.end();
});

test("a cluster without GPUs and blocks shows nothing of them", async () => {
	const server = await serve({ machine: { gpus: false } }), page = await visit(server);

	for (const id of ["s-gpus", "s-blocks"])
		assert.ok(await page.value(`document.getElementById('${id}').hidden`), id);
	assert.ok(!/GPU/.test(await page.text("#partitions")));
	assert.deepEqual(page.wrong(), []);
	await server.end();
});

test("under PrivateData=nodes GPUs are sums, and no block is shown", async () => {
	const server = await serve({ machine: { blocks: 5 }, hides: "nodes" }), page = await visit(server);

	assert.equal(await page.text("#gpus-say"), "77 GPUs are free on 39 nodes; the largest job that fits has 2 GPUs per node.");
	assert.ok(await page.value("document.getElementById('s-blocks').hidden && !data.blocks && data.gpus.waiting === undefined"));
	await server.end();
});

test("10,000 nodes are drawn, dark and on a narrow screen too", async () => {
	const server = await serve({ nodes: 10000, machine: { blocks: 500 } });

	for (const options of [{}, { dark: true }, { width: 400 }]) {
		const page = await visit(server, options);

		assert.ok(await page.value(colours("nodes")) >= 3);
		assert.ok(await page.value(colours("blocks")) >= 3);
		assert.ok(await page.value("document.documentElement.scrollWidth <= window.innerWidth"), "it does not scroll sideways");
		assert.deepEqual(page.wrong(), []);
	}
	await server.end();
});

test("when the server is gone the page says that what it shows is not of now", async () => {
	const server = await serve(), page = await visit(server);

	await server.end();
	await page.until("!document.getElementById('trouble').hidden");
	assert.match(await page.text("#trouble"), /is not of now/);
});

(async () => {
	let bad = 0;

	console.log(`1..${tests.length}`);
	try {
		browser = await open(chromium, path.join(scratch, "profile"));
		for (const [i, { name, body }] of tests.entries()) {
			try {
				await body();
				console.log(`ok ${i + 1} - ${name}`);
			} catch (error) {
				bad++;
				console.log(`not ok ${i + 1} - ${name}\n${String(error.stack).replace(/^/gm, "# ")}`);
			}
		}
		await browser.close();
	} finally {
		for (const child of servers)
			child.kill("SIGKILL");
		fs.rmSync(scratch, { recursive: true, force: true });
	}
	process.exitCode = bad ? 1 : 0;
})();
