/* SPDX-License-Identifier: MIT */
/*
 * page.js - the live page: asks for the data every few seconds and shows them.
 *
 * What users wrote (names of jobs, reasons) becomes text and nothing else: no part of it is ever read as HTML.
 */
"use strict";

const REFRESH_MS = 5000;
const SLOW_MS = 30000;		/* a page that nobody looks at */
const OLD_S = 30;		/* nodes and jobs that are older are said to be */
const PAST = 1 / 8;		/* of the time that the plan shows is past */

const $ = (id) => document.getElementById(id);
const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

let data = null, paused = false, drawn = [], chosen = "";

/* -- text -------------------------------------------------------------------- */

function make(tag, text, kind) {
	const e = document.createElement(tag);

	if (text !== undefined)
		e.textContent = text;
	if (kind)
		e.className = kind;
	return e;
}

function clock(seconds) {
	if (!seconds)
		return "–";
	const at = new Date(seconds * 1000), far = Math.abs(seconds - data.now);
	const time = at.toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });

	return far < 43200 ? time : `${at.toLocaleDateString([], { day: "numeric", month: "short" })} ${time}`;
}

function span(seconds) {
	const s = Math.max(0, Math.round(seconds));

	return s >= 86400 ? `${Math.floor(s / 86400)}d${Math.floor(s % 86400 / 3600)}h` :
		s >= 3600 ? `${Math.floor(s / 3600)}h${String(Math.floor(s % 3600 / 60)).padStart(2, "0")}m` :
		s >= 60 ? `${Math.floor(s / 60)}m${String(s % 60).padStart(2, "0")}s` : `${s}s`;
}

function show(id, text) {
	$(id).textContent = text;
	$(id).hidden = !text;
}

/* Fill a table: columns are [title, kind, what of a row], where what is text or an element. */
function fill(id, columns, rows) {
	const head = make("tr"), body = make("tbody");

	for (const [title, kind] of columns) {
		const cell = make("th", title, kind === "number" ? kind : "");

		cell.scope = "col";
		head.append(cell);
	}
	for (const row of rows) {
		const line = make("tr");

		for (const [, kind, of] of columns) {
			const cell = make("td", undefined, kind), what = of(row);

			cell.append(what instanceof Node ? what : String(what));
			line.append(cell);
		}
		body.append(line);
	}
	const top = make("thead");

	top.append(head);
	$(id).replaceChildren(top, body);
}

/* -- tables ------------------------------------------------------------------- */

function meter(used, all) {
	const m = make("meter"), box = make("span");

	m.max = all || 1;
	m.value = used;
	m.textContent = `${used} of ${all}`;
	box.append(m, ` ${used}/${all}`);
	return all ? box : make("span", "–");
}

function jobButton(job) {
	const b = make("button", job.label);

	b.type = "button";
	b.addEventListener("click", () => ask(job.label));
	return b;
}

function passes(job) {
	const user = $("by-user").value.trim(), partition = $("by-partition").value.trim();

	return (!user || job.user === user) && (!partition || job.partition === partition);
}

function count(id, shown, all, what) {
	$(id).textContent = shown === all ? `${all} ${what}.` : `${shown} shown of ${all} ${what}.`;
}

const FATES = { ending: "told to end", waiting: "waits to run again", running: "runs again", gone: "has ended" };

function showStops() {
	const stopped = data.stopped.filter(passes), held = data.held.filter(passes);

	fill("stopped", [["Job", "", jobButton], ["User", "", (j) => j.user], ["Told to end", "", (j) => clock(j.time)],
		["For job", "", (j) => (j.preemptor ? jobButton({ label: j.preemptor }) : "–")],
		["Place held until", "", (j) => clock(j.until)], ["Now", "", (j) => FATES[j.fate]]], stopped);
	fill("held", [["Place held for job", "", jobButton], ["User", "", (j) => j.user], ["Partition", "", (j) => j.partition],
		["Nodes", "text", (j) => j.nodes || "–"], ["Since", "", (j) => clock(j.since)], ["Until, at most", "", (j) => clock(j.until)],
		["Still to end", "text", (j) => j.ending.join(", ") || "–"]], held);
	count("stopped-count", stopped.length, data.all_stopped, data.all_stopped === 1 ? "job was stopped" : "jobs were stopped");
	count("held-count", held.length, data.all_held, data.all_held === 1 ? "place is held" : "places are held");
	$("s-stops").hidden = !data.all_stopped && !data.all_held;
}

function showTables() {
	const waiting = data.waiting.filter(passes), running = data.running.filter(passes);

	fill("partitions", [["Partition", "", (p) => p.name], ["Nodes", "number", (p) => p.nodes],
		["Down or drained", "number", (p) => p.unusable || ""], ["Cores in use", "", (p) => meter(p.used, p.cores)],
		...(data.partitions.some((p) => p.gpus) ? [["GPUs in use", "", (p) => meter(p.gpus_used, p.gpus)]] : [])], data.partitions);
	fill("waiting", [["Job", "", jobButton], ["User", "", (j) => j.user], ["Name", "", (j) => j.name], ["Partition", "", (j) => j.partition],
		["Nodes", "number", (j) => j.nodes], ["CPUs", "number", (j) => j.cpus], ["GPUs", "number", (j) => j.gpus || ""],
		["Waited", "number", (j) => span(data.now - j.submit)],
		["Expected", "", (j) => (j.start ? `${clock(j.start)}${j.reserved ? " (reserved)" : ""}` : "–")],
		["Reason", "text", (j) => j.text || j.why]], waiting);
	fill("running", [["Job", "", jobButton], ["User", "", (j) => j.user], ["Name", "", (j) => j.name], ["Partition", "", (j) => j.partition],
		["Nodes", "number", (j) => j.nodes], ["Cores", "number", (j) => j.cpus], ["GPUs", "number", (j) => j.gpus || ""],
		["Ran", "number", (j) => span(data.now - j.start)], ["Ends by", "", (j) => (j.end ? clock(j.end) : "no limit")]], running);
	count("waiting-count", waiting.length, data.all_waiting, data.all_waiting === 1 ? "job waits" : "jobs wait");
	count("running-count", running.length, data.all_running, data.all_running === 1 ? "job runs" : "jobs run");
	showStops();
	$("events").replaceChildren(...data.events.map(([at, text]) => {
		const line = make("li");

		line.append(make("time", clock(at)), text);
		return line;
	}));
	$("s-events").hidden = !data.events.length;
}

function showHead() {
	const age = data.taken ? data.now - data.taken : 0;

	document.title = `${data.cluster || "sched/lua"}: ${data.all_waiting ?? 0} wait`;
	$("cluster").textContent = data.cluster || "sched/lua";
	$("state").textContent = data.state;
	$("state").className = data.state === "OK" ? "" : "bad";
	$("decided").textContent = data.shadow ? `Slurm's ${data.shadow} decides; shadow: ${data.policy} (${data.source})` :
		data.source ? `decided by ${data.policy} (${data.source})` : "";
	show("say", data.state === "OK" ? "" : data.say);
	show("hidden", data.hides.length ? `PrivateData of this cluster hides ${data.hides.join(", ")}` +
		`${data.user ? `: you see what Slurm shows to ${data.user}` : ""}.` : "");
	$("taken").textContent = data.taken ? `${clock(data.taken)}${age > OLD_S ? `, ${span(age)} ago${data.old ? `: ${data.old}` : ""}` : ""}` : "never";
}

/* -- pictures ------------------------------------------------------------------- */

/* The canvas's context, in CSS pixels, cleared: { ctx, width, height }. */
function begin(canvas) {
	const ratio = window.devicePixelRatio || 1, width = canvas.clientWidth, height = canvas.clientHeight;

	canvas.width = Math.round(width * ratio);
	canvas.height = Math.round(height * ratio);
	const ctx = canvas.getContext("2d");

	ctx.scale(ratio, ratio);
	return { ctx, width, height };
}

/* The largest cells with which all nodes fit. */
function grid(n, width, height) {
	let size = 24;

	while (size > 1 && Math.floor(width / size) * Math.floor(height / size) < n)
		size--;
	return { size, columns: Math.max(1, Math.floor(width / size)) };
}

function drawNodes() {
	const { ctx, width, height } = begin($("nodes")), nodes = data.nodes, { size, columns } = grid(nodes.length, width, height);
	const idle = colour("--idle"), use = colour("--use"), gpu = colour("--gpu"), bad = colour("--bad"), gap = size > 4 ? 1 : 0;

	nodes.forEach(([, cores, used, , gpusUsed, unusable], i) => {
		const x = i % columns * size, y = Math.floor(i / columns) * size, full = (size - gap) * Math.min(1, used / (cores || 1));

		ctx.fillStyle = unusable && !used ? bad : idle;
		ctx.fillRect(x, y, size - gap, size - gap);
		ctx.fillStyle = unusable ? bad : gpusUsed ? gpu : use;
		ctx.fillRect(x, y + size - gap - full, size - gap, full);
	});
}

function nodeAt(event) {
	const canvas = $("nodes"), { size, columns } = grid(data.nodes.length, canvas.clientWidth, canvas.clientHeight);

	return data.nodes[Math.floor(event.offsetY / size) * columns + Math.floor(event.offsetX / size)];
}

/* The users' jobs can be told apart. */
function hue(text) {
	let h = 0;

	for (const c of text)
		h = (h * 31 + c.codePointAt(0)) % 360;
	return h;
}

/* Paint the runs of nodes of one thing, and remember where it is. */
function paintRuns(f, thing, from, to, what) {
	const x = Math.max(0, (from - f.begin) * f.sx), right = Math.min(f.width, (to - f.begin) * f.sx);

	if (right <= 0 || x >= f.width)
		return;
	for (let i = 0; i + 1 < thing.runs.length; i += 2) {
		const y = f.top + thing.runs[i] * f.sy, h = Math.max(1, (thing.runs[i + 1] - thing.runs[i] + 1) * f.sy - (f.sy > 4 ? 1 : 0));

		f.ctx.fillRect(x, y, Math.max(1, right - x - 1), h);
		if (what === "plan")
			f.ctx.strokeRect(x + .5, y + .5, Math.max(1, right - x - 2), Math.max(1, h - 1));
		if (what !== "resv")
			drawn.push({ x, y, right: Math.max(x + 3, right), bottom: y + Math.max(3, h), job: thing, what });
	}
}

function paintTime(f, step) {
	f.ctx.fillStyle = colour("--soft");
	f.ctx.strokeStyle = colour("--grid");
	f.ctx.font = "11px sans-serif";
	for (let at = Math.ceil(f.begin / step) * step; at < f.begin + f.seconds; at += step) {
		const x = Math.round((at - f.begin) * f.sx) + .5;

		f.ctx.beginPath();
		f.ctx.moveTo(x, f.top);
		f.ctx.lineTo(x, f.height);
		f.ctx.stroke();
		f.ctx.fillText(clock(at), x + 2, 11);
	}
}

function drawPlan() {
	const { ctx, width, height } = begin($("plan")), seconds = Number($("span").value), top = 16;
	const begins = data.now - seconds * PAST;
	const f = { ctx, width, height, top, begin: begins, seconds, sx: width / seconds, sy: (height - top) / Math.max(1, data.nodes.length) };

	drawn = [];
	paintTime(f, seconds / 8);
	ctx.globalAlpha = .45;
	ctx.fillStyle = colour("--resv");
	data.reservations.forEach((r) => paintRuns(f, r, r.start, r.end || Infinity, "resv"));
	ctx.globalAlpha = 1;
	for (const job of data.running) {
		ctx.fillStyle = `hsl(${hue(job.user)} 45% 55%)`;
		paintRuns(f, job, job.start, job.end || Infinity, "runs");
	}
	ctx.globalAlpha = .7;
	ctx.fillStyle = ctx.strokeStyle = colour("--plan");
	for (const job of data.waiting)
		if (job.reserved)
			paintRuns(f, job, job.start, job.end || Infinity, "plan");
	ctx.globalAlpha = 1;
	ctx.fillStyle = colour("--accent");
	ctx.fillRect((data.now - begins) * f.sx, 0, 2, height);
}

function jobAt(event) {
	return drawn.findLast(({ x, y, right, bottom }) => event.offsetX >= x && event.offsetX <= right && event.offsetY >= y && event.offsetY <= bottom);
}

function tellJob(event) {
	const at = jobAt(event);

	$("plan-job").textContent = at ? `Job ${at.job.label} of ${at.job.user}: ${clock(at.job.start)} to ${at.job.end ? clock(at.job.end) : "no limit"}` +
		`${at.what === "plan" ? " (reserved)" : ""}` : "";
}

/* -- GPUs and blocks -------------------------------------------------------------- */

const many = (n, one, more = `${one}s`) => `${n} ${n === 1 ? one : more}`;

/* Of the free GPUs in a sentence: how far they lie together. */
function sayGpus({ sorts, waiting, no_use: noUse }) {
	const all = sorts.at(-1), { free, most } = all;

	if (!free)
		return `All ${many(all.all, "GPU")} are in use${all.off ? ", down or drained" : ""}.`;
	const where = `${many(free, "GPU")} ${free === 1 ? "is" : "are"} free on ${many(all.free_nodes, "node")}`;
	const fits = most ? `; the largest job that fits has ${many(most, "GPU")} per node` : ", but no core beside them";
	const useless = waiting && noUse ? ` ${noUse} of them ${noUse === 1 ? "is" : "are"} on nodes where ` +
		`${waiting === 1 ? "the one job that waits for GPUs does not fit" : `none of the ${waiting} jobs that wait for GPUs fits`}.` : "";

	return `${where}${fits}.${useless}`;
}

function showGpus() {
	const gpus = data.gpus;

	$("s-gpus").hidden = !gpus;
	if (!gpus)
		return;
	const { sorts } = gpus, total = sorts.length > 1 ? sorts.at(-1) : null, any = (key) => sorts.some((s) => s[key]);
	const name = (s) => (s === total ? "all" : s.type || (total ? "no type" : "GPU"));

	$("gpus-say").textContent = sayGpus(gpus);
	fill("gpus", [["Type", "", name], ["In use", "", (s) => meter(s.used, s.all)],
		...(any("shared") ? [["of these in part", "number", (s) => s.shared]] : []),
		["Free", "number", (s) => s.free], ["on nodes", "number", (s) => s.free_nodes],
		["Most free on one node", "number", (s) => (s.most ? `${s.most} (on ${many(s.most_nodes, "node")})` : "–")],
		...(any("coreless") ? [["Free, but no core beside", "number", (s) => s.coreless]] : []),
		...(any("off") ? [["Down or drained", "number", (s) => s.off]] : [])], sorts);
}

/* The nodes of each block, as rows. */
function blockNodes({ names, of }) {
	const blocks = names.map(() => []);

	for (let i = 0, node = 0; i < of.length; i += 2)
		for (let left = of[i]; left; left--, node++)
			blocks[of[i + 1]]?.push(node);
	return blocks;
}

const FRAME = 4, TITLE = 14;	/* of a block: around its cells, and above them */

/* The largest cells with which the frames are not higher than a screen: { size, columns, across, width, height }, of a frame. */
function frames(blocks, width) {
	const most = Math.max(1, ...blocks.map((nodes) => nodes.length)), columns = Math.ceil(Math.sqrt(2 * most));

	for (let size = 16; ; size--) {
		const w = Math.max(56, columns * size) + 2 * FRAME + 8, h = Math.ceil(most / columns) * size + 2 * FRAME + TITLE + 8;
		const across = Math.max(1, Math.floor(width / w));

		if (size === 3 || Math.ceil(blocks.length / across) * h <= 600)
			return { size, columns, across, width: w, height: h };
	}
}

let laid = [];		/* the cells of blocks that are drawn: { x, y, size, node, name } */

const BLOCK_COLOURS = ["idle", "use", "sheet", "bad", "plan", "line", "ink"];

function drawBlock(ctx, paint, nodes, name, x, y, f) {
	let busy = 0, off = 0;

	nodes.forEach((node, i) => {
		const [, , used, , , unusable] = data.nodes[node], gap = f.size > 4 ? 1 : 0, side = f.size - gap;
		const left = x + FRAME + i % f.columns * f.size, top = y + TITLE + FRAME + Math.floor(i / f.columns) * f.size;

		busy += used > 0;
		off += !used && unusable;
		ctx.fillStyle = paint.idle;
		ctx.fillRect(left, top, side, side);
		ctx.fillStyle = paint.use;
		if (used)
			ctx.fillRect(left, top, side, side);
		ctx.strokeStyle = used ? paint.sheet : paint.bad;
		if (unusable) {
			ctx.beginPath();
			ctx.moveTo(left, top);
			ctx.lineTo(left + side, top + side);
			ctx.moveTo(left + side, top);
			ctx.lineTo(left, top + side);
			ctx.stroke();
		}
		laid.push({ x: left, y: top, size: f.size, node, name });
	});
	const whole = nodes.length && !busy && !off;

	ctx.strokeStyle = whole ? paint.plan : paint.line;
	ctx.lineWidth = whole ? 3 : 1;
	ctx.strokeRect(x + 1.5, y + TITLE + .5, f.width - 10, f.height - TITLE - 8);
	ctx.lineWidth = 1;
	ctx.fillStyle = paint.ink;
	ctx.fillText(name.length > 9 ? `…${name.slice(-8)}` : name, x + 1, y + 10, f.width - 8);
}

function drawBlocks() {
	const shown = data.blocks && data.nodes.length;

	$("s-blocks").hidden = !shown;
	if (!shown)
		return;
	const blocks = blockNodes(data.blocks), f = frames(blocks, $("blocks").clientWidth);

	$("blocks-say").textContent = `${data.blocks.whole} of ${many(data.blocks.all, "block")} ${data.blocks.whole === 1 ? "is" : "are"} free as a whole: ` +
		"all nodes are up and have no job.";
	$("blocks").style.height = `${Math.ceil(blocks.length / f.across) * f.height + 4}px`;
	const { ctx } = begin($("blocks")), paint = Object.fromEntries(BLOCK_COLOURS.map((name) => [name, colour(`--${name}`)]));

	laid = [];
	ctx.font = "11px sans-serif";
	blocks.forEach((nodes, i) => drawBlock(ctx, paint, nodes, data.blocks.names[i], i % f.across * f.width + 2, Math.floor(i / f.across) * f.height + 2, f));
}

function tellNode(node, block) {
	const [name, cores, used, gpus, gpusUsed, unusable] = data.nodes[node];

	return `${name}${block ? ` in ${block}` : ""}: ${used} of ${cores} cores${gpus ? `, ${gpusUsed} of ${gpus} GPUs` : ""}${unusable ? ", down or drained" : ""}`;
}

/* -- why a job waits --------------------------------------------------------------- */

function tell(answer) {
	const box = $("answer");

	if (answer.error) {
		box.replaceChildren(make("p", answer.error));
		return;
	}
	const list = make("ul");

	list.append(...answer.lines.map((line) => make("li", line)));
	box.replaceChildren(make("p", answer.when || `Job ${answer.job}: what was decided about it`), list);
	if (answer.cut)
		box.append(make("p", "What was decided longer ago is told by schedlua explain.", "about"));
}

async function ask(id) {
	chosen = id;
	$("job").value = id;
	try {
		const response = await fetch(`explain?job=${encodeURIComponent(id)}`, { headers: { Accept: "application/json" } });
		const answer = await response.json();

		if (chosen === id)
			tell(answer);
	} catch (error) {
		tell({ error: `No answer: ${error.message}` });
	}
	$("answer").scrollIntoView({ block: "nearest" });
}

/* -- again and again ------------------------------------------------------------------ */

function draw() {
	if (!data)
		return;
	showHead();
	$("s-nodes").hidden = $("s-plan").hidden = !data.nodes || !data.nodes.length;
	if (!data.partitions)
		return;		/* there is no snapshot yet */
	showTables();
	showGpus();
	drawBlocks();
	if (data.nodes.length) {
		drawNodes();
		drawPlan();
	}
}

async function refresh() {
	try {
		const response = await fetch("data", { headers: { Accept: "application/json" } });

		if (!response.ok)
			throw new Error(`status ${response.status}`);
		data = await response.json();
		show("trouble", "");
		draw();
		document.documentElement.dataset.ready = "yes";
	} catch (error) {
		show("trouble", `What is shown is not of now: the server does not answer (${error.message}).`);
	}
}

async function goOn() {
	if (!paused)
		await refresh();
	setTimeout(goOn, document.hidden ? SLOW_MS : REFRESH_MS);
}

$("ask").addEventListener("submit", (event) => {
	event.preventDefault();
	if ($("job").value.trim())
		ask($("job").value.trim());
});
$("pause").addEventListener("click", () => {
	paused = !paused;
	$("pause").setAttribute("aria-pressed", String(paused));
});
$("filter").addEventListener("submit", (event) => event.preventDefault());
for (const id of ["by-user", "by-partition", "span"])
	$(id).addEventListener("input", draw);
window.addEventListener("resize", draw);
$("nodes").addEventListener("pointermove", (event) => {
	const node = data && nodeAt(event);

	$("node").textContent = node ? tellNode(data.nodes.indexOf(node)) : "";
});
$("blocks").addEventListener("pointermove", ({ offsetX, offsetY }) => {
	const at = data && laid.find(({ x, y, size }) => offsetX >= x && offsetX < x + size && offsetY >= y && offsetY < y + size);

	$("block").textContent = at ? tellNode(at.node, at.name) : "";
});
$("plan").addEventListener("pointermove", (event) => { if (data) tellJob(event); });
$("plan").addEventListener("click", (event) => {
	const at = data && jobAt(event);

	if (at)
		ask(at.job.label);
});
goOn();
