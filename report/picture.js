/* SPDX-License-Identifier: MIT */
/*
 * picture.js - the machine at an instant: a cell for each node, in frames that are blocks, or of GPUs of one type where the machine has no
 * blocks.
 *
 * makePicture() takes the page's state and the means with which it draws; the instant is state.at.
 */
"use strict";

function makePicture({ state, told, instant, swatch, colour, draw: drawAll }) {
	const { number, element } = words;
	const $ = (id) => document.getElementById(id);
	const FRAME = 4, TITLE = 15, GAP = 8;	/* pixels around the cells of a frame, above them, and between frames */
	const SIZES = [26, 20, 16, 14, 12, 10, 8, 7, 6, 5, 4, 3];
	const HIGHEST = 460;			/* a picture, if cells can be so small */
	const STEPS = 1000;			/* of the slider */

	let pictures = [];			/* { run, canvas, says } of those that are shown */
	let places = null;			/* the cells, as they were drawn last */

	const byBlock = (w) => w.block.count > 1;
	const isShown = (w) => !w.only && (byBlock(w) || w.usesGpus);

	/* -- frames -------------------------------------------------------------- */

	/* [{ name, nodes }...]; nodes that are in none are not drawn. */
	function framesOf(w) {
		if (byBlock(w)) {
			const frames = w.block.names.map((name) => ({ name, nodes: [] }));

			w.block.of.forEach((block, node) => { if (block >= 0) frames[block].nodes.push(node); });
			return frames;
		}
		const frames = new Map(), names = new Map(gpus.typesOf(w).map(([type, name]) => [type, name]));

		w.gpusOf.forEach((n, node) => {
			const name = gpus.kindsOf(w)[node].map(([type, some]) => `${some} × ${names.size > 1 || w.gpu_types?.[type] ? names.get(type) : "GPU"}`).join(" + ");

			if (n)
				(frames.get(name) ?? frames.set(name, []).get(name)).push(node);
		});
		return [...frames].sort((a, b) => b[1].length - a[1].length).map(([name, nodes]) => ({ name: `${name}: ${number(nodes.length)} node${nodes.length === 1 ? "" : "s"}`, nodes }));
	}

	/* Frames from left to right, line by line, with cells of that size: { size, height, frames: [{ x, y, width, height, columns }...] } */
	function layOut(frames, width, size, blocks) {
		const most = frames.reduce((a, { nodes }) => Math.max(a, nodes.length), 1);
		let x = 0, y = 0, line = 0;
		const laid = frames.map(({ name, nodes }) => {
			const columns = blocks ? Math.ceil(Math.sqrt(2 * most)) : Math.min(nodes.length, Math.max(1, Math.floor((width - 2 * FRAME - 2) / size)));
			const f = { name, nodes, columns, width: Math.max(blocks ? 60 : 150, columns * size) + 2 * FRAME,
				height: Math.ceil(nodes.length / columns) * size + 2 * FRAME + TITLE };

			if (x && x + f.width > width) {
				x = 0;
				y += line + GAP;
				line = 0;
			}
			Object.assign(f, { x, y });
			x += f.width + GAP;
			line = Math.max(line, f.height);
			return f;
		});

		return { size, height: y + line + 2, frames: laid };
	}

	/* With the largest cells with which the picture is not too high. */
	function fit(frames, width, blocks) {
		for (const size of SIZES) {
			const laid = layOut(frames, width, size, blocks);

			if (laid.height <= HIGHEST || size === SIZES.at(-1))
				return laid;
		}
		return null;
	}

	/* Where each node is drawn, as x and y in turn; -1: nowhere. */
	function cellsOf(laid, nodes) {
		const at = new Int32Array(2 * nodes).fill(-1);

		for (const f of laid.frames)
			f.nodes.forEach((node, i) => {
				at[2 * node] = f.x + FRAME + i % f.columns * laid.size;
				at[2 * node + 1] = f.y + TITLE + FRAME + Math.floor(i / f.columns) * laid.size;
			});
		return at;
	}

	/* -- what runs then ----------------------------------------------------------- */

	/* Call each(rectangle of the view, job) for what jobs hold at the instant.  On the page of a cluster those that run still end with it. */
	function eachHeld(view, jobs, each) {
		const w = state.workload, last = w.until_s && state.at >= w.now ? w.now : Infinity;

		for (let rect = 0; rect < view.job.length; rect++) {
			const of = view.job[rect];

			if (view.start[of] <= state.at && (state.at < view.end[of] || view.end[of] === last))
				each(rect, jobs ? jobs[of].job : of);
		}
	}

	const eachRun = (view, run, each) => {
		eachHeld(view, null, (rect, job) => each(view, rect, job));
		if (view.stopped)
			eachHeld(view.stopped, run.stops, (rect, job) => each(view.stopped, rect, job));
	};

	/* What is free then: nodes without a job, GPUs by node. */
	function freeThen(w, run) {
		const busy = new Uint8Array(w.coresOf.length), left = Array.from(w.gpusOf);

		eachRun(run, run, (view, rect) => busy.fill(1, view.node[rect], view.node[rect] + view.count[rect]));
		if (run.gpu)
			eachRun(run.gpu, run, (view, rect) => {
				for (let node = view.node[rect], end = node + view.count[rect]; node < end; node++)
					left[node] -= Math.round((view.high[rect] - view.low[rect]) * w.gpusOf[node]);
			});
		return { busy, left };
	}

	/* -- drawn ---------------------------------------------------------------------- */

	function begin(canvas, height) {
		const ratio = devicePixelRatio || 1, width = canvas.clientWidth;

		canvas.style.height = `${height}px`;
		canvas.width = Math.round(width * ratio);
		canvas.height = Math.round(height * ratio);
		const ctx = canvas.getContext("2d");

		ctx.scale(ratio, ratio);
		return ctx;
	}

	function paintFrames(ctx, laid, busy, free) {
		ctx.font = "11px system-ui, sans-serif";
		ctx.textBaseline = "top";
		for (const f of laid.frames) {
			const whole = free && f.nodes.every((node) => !busy[node]), room = Math.floor(f.width / 6.5);

			ctx.fillStyle = colour("--ink");
			ctx.fillText(f.name.length > room ? `…${f.name.slice(1 - room)}` : f.name, f.x, f.y + 1);
			ctx.strokeStyle = colour(whole ? "--ink" : "--line");
			ctx.lineWidth = whole ? 2 : 1;
			ctx.strokeRect(f.x + 1, f.y + TITLE, f.width - 2, f.height - TITLE - 1);
		}
	}

	function paintCells(ctx, laid, at, w, run, colours) {
		const side = laid.size - (laid.size > 4 ? 1 : 0), view = state.rows === "gpus" && run.gpu ? run.gpu : run;

		ctx.fillStyle = colour("--grid");
		for (const { nodes } of laid.frames)
			for (const node of nodes)
				ctx.fillRect(at[2 * node], at[2 * node + 1], side, side);
		eachRun(view, run, (lanes, rect, job) => {
			ctx.fillStyle = colours[state.kinds.of(run, job)];
			for (let node = lanes.node[rect], end = node + lanes.count[rect]; node < end; node++)
				if (at[2 * node] >= 0)
					ctx.fillRect(at[2 * node], at[2 * node + 1] + side * lanes.low[rect], side, side * (lanes.high[rect] - lanes.low[rect]));
		});
	}

	/* The sentence about a run. */
	function sayFree(w, laid, { busy, left }) {
		const whole = laid.frames.filter(({ nodes }) => nodes.every((node) => !busy[node])).length, says = [];

		if (byBlock(w))
			says.push(`${number(whole)} of ${number(laid.frames.length)} blocks ${whole === 1 ? "has" : "have"} no job`);
		if (w.usesGpus)
			says.push(gpus.sayFree(left));
		return says.join("; ");
	}

	function drawOne(w, { run, canvas, says }, frames) {
		const laid = fit(frames, canvas.clientWidth, byBlock(w)), at = cellsOf(laid, w.coresOf.length), free = freeThen(w, run);
		const ctx = begin(canvas, laid.height);

		paintCells(ctx, laid, at, w, run, state.kinds.colour.map(colour));
		paintFrames(ctx, laid, free.busy, byBlock(w));
		says.textContent = sayFree(w, laid, free);
		canvas.setAttribute("aria-label", `The machine at ${instant(state.at)} under ${run.label}: ${says.textContent}`);
		places = { size: laid.size, at };
	}

	function draw() {
		const w = state.workload;

		if (!isShown(w))
			return;
		if (!(state.at >= state.from && state.at <= state.to))
			state.at = (state.from + state.to) / 2;
		if (w.until_s)
			state.at = Math.min(state.at, w.now);
		const frames = framesOf(w);

		$("at").value = Math.round(STEPS * (state.at - state.from) / (state.to - state.from));
		$("at-time").textContent = instant(state.at);
		pictures.forEach((picture) => drawOne(w, picture, frames));
		told.at = state.at;
	}

	/* Other runs are shown, or another workload. */
	function open() {
		const w = state.workload;

		$("s-picture").hidden = !isShown(w);
		$("picture-says").textContent = "";
		if (!isShown(w)) {
			$("pictures").replaceChildren();
			pictures = [];
			return;
		}
		pictures = state.shown.map((run) => ({ run, canvas: element("canvas", { role: "img" }), says: element("span", { class: "option" }) }));
		$("picture-what").textContent = `A cell is a node, filled as far as ${state.rows === "gpus" ? "its GPUs are" : "its cores are"} held by jobs, in the colours of the schedule. ` +
			`${byBlock(w) ? "A frame is a block (the nodes of one switch or rack); its edge is thick where no job is on it." : "A frame has the nodes with GPUs of one type and number."} ` +
			"The mark ▼ in the schedule is the instant.";
		$("pictures").replaceChildren(...pictures.map(({ run, canvas, says }) => {
			canvas.addEventListener("pointermove", (event) => tell(run, event));
			return element("figure", { "data-run": run.label }, element("figcaption", {}, swatch(run), ` ${run.label} `, says), canvas);
		}));
	}

	/* The node under the pointer, and who is on it. */
	function tell(run, { offsetX: x, offsetY: y }) {
		const w = state.workload, { size, at } = places, jobs = new Set();
		const node = w.coresOf.findIndex((_, n) => at[2 * n] >= 0 && at[2 * n] <= x && x < at[2 * n] + size && at[2 * n + 1] <= y && y < at[2 * n + 1] + size);

		if (node < 0)
			return;
		eachRun(run, run, (view, rect, job) => { if (view.node[rect] <= node && node < view.node[rect] + view.count[rect]) jobs.add(job); });
		const left = w.gpusOf[node] ? `, ${freeThen(w, run).left[node]} of ${w.gpusOf[node]} GPUs free` : "";
		const who = [...jobs].slice(0, 4).map((job) => `${w.id[job]}${w.users[w.user[job]] ? ` of ${w.users[w.user[job]]}` : ""}`).join(", ");

		$("picture-says").textContent = `${w.nodes[node]}${w.block.of[node] >= 0 ? ` in ${w.block.names[w.block.of[node]]}` : ""}${left}: ` +
			`${jobs.size ? `job ${who}${jobs.size > 4 ? ` and ${jobs.size - 4} more` : ""}` : "no job"}`;
	}

	function connect() {
		$("at").addEventListener("input", () => {
			state.at = state.from + (state.to - state.from) * $("at").value / STEPS;
			drawAll();
		});
	}

	return { open, draw, connect };
}
