/* SPDX-License-Identifier: MIT */
/*
 * schedules.js - the Gantt chart of each run: its axes, what is said of a job, its keys.
 *
 * makeSchedules() takes the page's state and the means with which it makes charts; how rectangles
 * are painted is gantt.js's.
 */
"use strict";

function makeSchedules({ state, told, tables, instant, swatch, colour, chartOf, draw, setWindow, setNodes, rowCount, timeKeys }) {
	const { number, duration, element } = words;
	const { makeChart, timeAxis, timeScale, cursor, zoomHooks, AXIS, LEFT } = chartOf;
	const $ = (id) => document.getElementById(id);

	const isByGpu = () => state.rows === "gpus" && state.workload.gpus > 0;

	/* True of a pool of processors: the chart is over cores. */
	const isPool = () => state.workload.nodes.length === 1 && !isByGpu();

	/* The run by nodes, or by GPUs if that is what is looked at; its rectangles are sorted by colour. */
	function viewOf(run) {
		const view = isByGpu() ? run.byGpu ??= gpus.byRow(state.workload, run) : run;

		if (!Object.hasOwn(view, "kinds") || view.kinds !== state.kinds)	/* (what a view by GPU does not have itself is the run's) */
			Object.assign(view, { kinds: state.kinds, sorted: gantt.sortByClass(view, state.kinds) });
		return view;
	}

	/* A node's name without what all names begin with, if names are long. */
	function shortName(w, node) {
		if (w.prefix === undefined) {
			let n = 0;

			while (w.nodes[0][n] && w.nodes.every((name) => name[n] === w.nodes[0][n]))
				n++;
			while (n && /\d/.test(w.nodes[0][n - 1]))
				n--;
			w.prefix = w.nodes.length > 1 && w.nodes.some((name) => name.length > 6) ? n : 0;
		}
		return w.nodes[node].slice(Math.max(w.prefix, w.nodes[node].length - 8));
	}

	function nodeTicks(u, splits) {
		const w = state.workload;

		if (isPool())
			return splits.map((v) => number(Math.round(v * w.cores)));
		if (isByGpu()) {
			const { first, node, count } = gpus.rowsOf(w);

			return splits.map((v) => (Number.isInteger(v) && v < count ? `${shortName(w, node[v])}:${v - first[node[v]]}` : ""));
		}
		return splits.map((v) => (Number.isInteger(v) && v < w.nodes.length ? w.nodes[v].slice(-9) : ""));
	}

	function ganttHeight() {
		const tall = isPool() ? state.workload.cores : rowCount();

		return Math.max(140, Math.min(state.shown.length > 1 ? 300 : 460, 60 + 14 * tall));
	}

	function ganttChart(run) {
		const w = state.workload, one = isPool();
		const holder = element("figure", { "data-run": run.label },
			element("figcaption", {}, swatch(run), ` ${run.label}`));

		$("gantts").append(holder);
		$("schedule-rows").hidden = !isByGpu();
		const chart = makeChart(holder, {
			height: ganttHeight(),
			legend: { show: false },
			scales: { x: timeScale(), y: { dir: -1, auto: false, range: () => [state.low, state.high] } },
			axes: [timeAxis(), { ...AXIS, size: one ? LEFT - 16 : LEFT, grid: { show: false }, label: one ? "cores" : undefined, labelSize: 16,
				labelFont: AXIS.font, incrs: one ? undefined : [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000, 50000],
				space: 22, values: nodeTicks,
				...(one ? { splits: (u, i, min, max) => coreTicks(min, max) } : {}) }],
			series: [{}, { show: false }],
			cursor: cursor({ drag: { setScale: false, x: true, y: true, dist: 5, uni: 40 }, y: true, points: { show: false },
				sync: { key: "time", scales: ["x", "y"] } }),
			hooks: { ...zoomHooks, drawClear: [paintIdle], drawAxes: [(u) => paintGantt(u, run)], draw: [(u) => outlineChosen(u, run)],
				setCursor: [(u) => hover(u, run)] },
		}, [[w.first, w.last], [0, 0]],
		`Schedule under ${run.label}: ${number(w.jobs)} jobs on ${one ? `${number(w.cores)} cores` : `${number(w.nodes.length)} nodes`}` +
			`${isByGpu() ? `, by GPU: ${number(w.gpus)} of them` : ""}. ` +
			"n and p go from job to job.", (e, u) => ganttKeys(e, u, run));

		chart.gantt = true;
		chart.over.addEventListener("click", () => choose(state.hovered));
		chart.refill = () => chart.setData([[w.first, w.last], [0, 0]]);
		chart.over.addEventListener("mouseleave", () => { $("tip").hidden = true; });
	}

	function coreTicks(min, max) {
		const { cores } = state.workload, step = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000, 20000]
			.find((s) => (max - min) * cores / s <= 10) || 50000;
		const first = Math.ceil(min * cores / step);

		return Array.from({ length: Math.floor(max * cores / step) - first + 1 }, (_, i) => (first + i) * step / cores);
	}

	function paintIdle(u) {
		u.ctx.fillStyle = colour("--idle");
		u.ctx.fillRect(u.bbox.left, u.bbox.top, u.bbox.width, u.bbox.height);
	}

	/* Over the grid, whose lines would look like the ends of jobs. */
	function paintGantt(u, run) {
		const view = viewOf(run), w = state.workload, colours = state.kinds.colour.map(colour);

		run.painted = gantt.paint(u, view, view.sorted, colours);
		run.stopsPainted = gantt.paintStopped(u, view.stopped, (stop) => colours[state.kinds.of(run, run.stops[stop].job)], colour("--warn"));
		for (const stop of run.stops.filter(({ own }) => own))	/* its run is the job's own */
			gantt.paintEnd(u, view, stop.job, colour("--warn"));
		gantt.paintReservations(u, isByGpu() ? w.reservations.map((r) => ({ ...r, nodes: gpus.runsByRow(w, r.nodes) })) : w.reservations, colour("--warn"));
		gantt.paintPlanned(u, view.planned, w.now, (job) => colours[state.kinds.of(run, job)], colour("--soft"));
		gantt.paintLines(u, w.now, isByGpu() ? w.block.edges.map((node) => gpus.rowsOf(w).first[node]) : w.block.edges, colour("--ink"), colour("--line"));
		gantt.paintInstant(u, state.at, colour("--ink"));
		told.rects = state.shown.reduce((sum, r) => sum + (r.painted || 0), 0);
		told.stops = state.shown.reduce((sum, r) => sum + (r.stopsPainted || 0), 0);
		told.reservations = w.reservations.length;
		told.planned = state.shown.reduce((sum, r) => sum + r.planned.length, 0);
	}

	/* Around the job that is chosen, and as far as its walltime would have let it run. */
	function outlineChosen(u, run) {
		const job = state.chosen, view = viewOf(run), w = state.workload;

		if (job < 0)
			return;
		run.stops.forEach((stop, i) => {
			if (stop.job === job)
				gantt.outline(u, view.stopped, i, colour("--ink"), colour("--sheet"));
		});
		if (isNaN(run.start[job]))
			return;
		gantt.outline(u, view, job, colour("--ink"), colour("--sheet"));
		if (w.limit[job] && run.start[job] + w.limit[job] > run.end[job])
			gantt.outlineLimit(u, view, job, run.start[job] + w.limit[job], colour("--ink"));
	}

	/* What the plan has for a job, in a line; "" where it has nothing. */
	function plannedFor(run, job) {
		const w = state.workload, plan = run.planned.find((p) => p.job === job);

		if (!plan)
			return "";
		if (plan.runs)
			return `to end by ${instant(plan.end)}`;
		return `planned to start ${instant(plan.start)} on ${plan.rects.map(([node, count]) =>
			(count > 1 ? `${w.nodes[node]} to ${w.nodes[node + count - 1]}` : w.nodes[node])).slice(0, 4).join(", ")}${plan.rects.length > 4 ? ", ..." : ""}`;
	}

	/* A run that was stopped, in a line. */
	function describeStop(stop) {
		const ran = stop.own ? "" : `started ${instant(stop.start)}, ran ${duration(stop.end - stop.start)}, `;

		return `${ran}${tables.stopWords(stop)}`;
	}

	/* What became of a job in a run, in lines. */
	function describe(run, job) {
		const w = state.workload, nodes = [], stops = run.stops.filter((stop) => stop.job === job).map(describeStop);

		if (isNaN(run.start[job]))
			return [...stops, plannedFor(run, job) || (w.until_s || stops.length ? "waits still" : "never started")];
		let last = -1;
		for (let i = run.first[job]; i < run.first[job + 1]; i++) {
			const to = run.node[i] + run.count[i] - 1;

			if (run.node[i] > last)
				nodes.push(run.count[i] > 1 ? `${w.nodes[run.node[i]]} to ${w.nodes[to]}` : w.nodes[to]);
			last = Math.max(last, to);
		}
		const list = nodes.length > 4 ? `${nodes.slice(0, 4).join(", ")} and ${number(nodes.length - 4)} more blocks` : nodes.join(", ");

		return [
			`${number(run.held[job])} cores${run.gpus[job] ? `, ${number(run.gpus[job])} GPUs` : ""} on ${list}`,
			`waited ${duration(run.began[job] - w.submit[job])}, ${stops.length && run.began[job] < run.start[job] ? "last " : ""}started ${instant(run.start[job])}, ` +
				`ran ${duration(run.end[job] - run.start[job])}`,
			...stops,
			...[plannedFor(run, job)].filter((text) => text),
		];
	}

	function whose(job) {
		const w = state.workload, user = w.users[w.user[job]];

		return `Job ${w.id[job]}${user ? ` of ${user}` : ""}, submitted ${instant(w.submit[job])}` +
			(w.limit[job] ? `, walltime ${duration(w.limit[job])}` : "");
	}

	/* Only the chart under the pointer has the tip, not those in step with it. */
	function hover(u, run) {
		const { left, top, event } = u.cursor, tip = $("tip");

		if (!u.over.matches(":hover") || left < 0 || !event)
			return;
		const time = u.posToVal(left, "x"), y = u.posToVal(top, "y"), view = viewOf(run);

		state.hovered = gantt.jobAt(view, time, y);
		const stop = gantt.jobAt(view.stopped, time, y);

		if (state.hovered < 0 && stop >= 0)
			state.hovered = run.stops[stop].job;
		if (state.hovered < 0)
			state.hovered = gantt.plannedAt(view.planned, time, y, state.workload.now);
		tip.hidden = state.hovered < 0;
		if (tip.hidden)
			return;
		tip.textContent = [whose(state.hovered), ...describe(run, state.hovered)].join("\n");
		const box = tip.getBoundingClientRect(), right = event.clientX + 14, below = event.clientY + 14;

		tip.style.left = `${Math.max(4, right + box.width < innerWidth ? right : right - box.width - 28)}px`;
		tip.style.top = `${Math.max(4, below + box.height < innerHeight ? below : below - box.height - 28)}px`;
	}

	function choose(job) {
		state.chosen = job;
		told.chosen = job < 0 ? "" : state.workload.id[job];
		$("job").textContent = job < 0 ? "" :
			[whose(job), ...state.shown.map((r) => `${r.label}: ${describe(r, job).reverse().join("; ")}`)].join("\n");
		draw();
	}

	/* The jobs of a run in the order of their starts. */
	function startOrder(run) {
		run.order ??= [...run.start.keys()].filter((job) => !isNaN(run.start[job]))
			.sort((a, b) => run.start[a] - run.start[b] || a - b);
		return run.order;
	}

	function step(run, by) {
		const order = startOrder(run);
		let i = order.indexOf(state.chosen);

		if (i < 0)
			i = order.findIndex((job) => run.start[job] >= state.from) - (by > 0 ? 1 : 0);
		const job = order[Math.min(Math.max(i + by, 0), order.length - 1)];

		if (job === undefined)
			return;
		const width = state.to - state.from;

		if (run.end[job] < state.from || run.start[job] > state.to)
			setWindow(run.start[job] - width / 2, run.start[job] + width / 2);
		choose(job);
	}

	/* The job, its wait before it and as much after it. */
	function zoomTo(run, job) {
		if (job < 0 || isNaN(run.start[job]))
			return;
		const run_s = run.end[job] - run.start[job], before = Math.min(state.workload.submit[job], run.start[job] - run_s);

		setWindow(Math.max(before, run.start[job] - 20 * run_s) - run_s, run.end[job] + 2 * run_s);
	}

	function ganttKeys(e, u, run) {
		const height = state.high - state.low, middle = (state.low + state.high) / 2;
		const lines = { ArrowUp: -1, ArrowDown: 1 }[e.key];

		if (e.key === "n" || e.key === "p")
			step(run, e.key === "n" ? 1 : -1);
		else if (e.key === "Enter")
			zoomTo(run, state.chosen);
		else if (e.key === "Escape")
			choose(-1);
		else if (lines && e.shiftKey)
			setNodes(middle - height / 2 * 2 ** -lines, middle + height / 2 * 2 ** -lines);
		else if (lines && height < rowCount())
			setNodes(state.low + lines * height / 4, state.high + lines * height / 4);
		else
			return timeKeys(e);
		return true;
	}

	return { ganttChart, viewOf, choose, zoomTo };
}
