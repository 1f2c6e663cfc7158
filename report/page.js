/* SPDX-License-Identifier: MIT */
/*
 * page.js - the page: charts and controls of one workload at a time.
 *
 * All charts over time show one window, all schedules the same nodes.  What was
 * drawn is told in data-* attributes of <html> (ready, jobs, rects, window, ...).
 */
"use strict";

(() => {
	const { number, figure, percent, duration, average, element } = words;
	const $ = (id) => document.getElementById(id);
	const DAY = 86400, YEAR = 365 * DAY;
	const RUNS_SHOWN = 4;		/* at first */
	const DASH = [[], [8, 4], [2, 3], [10, 3, 2, 3], [14, 4], [5, 2], [1, 2], [12, 3, 3, 3, 3, 3]];
	const told = document.documentElement.dataset;

	const state = {
		workload: null, shown: [], from: 0, to: 1, low: 0, high: 1,
		by: "user", chosen: -1, hovered: -1, charts: [],
	};

	/* -- times ---------------------------------------------------------------- */

	/* Workloads of no known date count from their start. */
	const dated = () => state.workload.origin_s >= YEAR;

	function instant(t) {
		if (dated())
			return new Date(t * 1000).toISOString().slice(0, 19).replace("T", " ");
		const s = Math.round(t - state.workload.origin_s), two = (v) => String(Math.floor(v)).padStart(2, "0");

		return `${s >= DAY ? `${Math.floor(s / DAY)}-` : ""}${two(s / 3600 % 24)}:${two(s / 60 % 60)}:${two(s % 60)}`;
	}

	function span(from, to) {
		return `${instant(from)} to ${instant(to)}${dated() ? " UTC" : ""} (${duration(to - from)})`;
	}

	/* -- colours -------------------------------------------------------------- */

	let colours = new Map();

	function colour(name) {
		if (!colours.has(name))
			colours.set(name, getComputedStyle(document.documentElement).getPropertyValue(name).trim());
		return colours.get(name);
	}

	const colourOf = (run) => `--run${run.row % 8}`;

	/* As its line in the charts. */
	function swatch(run) {
		const style = ["solid", "dashed", "dotted", "dashed"][run.row % 4];

		return element("span", { class: "swatch", style: `border-color: var(${colourOf(run)}); border-top-style: ${style}` });
	}

	/* -- a workload and its runs ---------------------------------------------- */

	function prepare(w) {
		let first = Infinity, last = -Infinity;

		if (w.reasons)
			w.waiting = Object.values(w.reasons).reduce((sum, part) => sum.map((v, i) => v + part[i]));
		for (const t of w.submit)
			first = Math.min(first, t);
		w.runs.forEach((run, row) => {
			run.row = row;
			run.utilization = series.utilization(run);
			run.waits = series.sortedWaits(w, run);
			run.queue = w.reasons ? series.parts(w.waiting, w.from_s, w.until_s) : series.queue(w, run);
			run.overtaken = series.overtaken(w, run);
			if (w.until_s)
				run.result = happened(w, run);
			last = Math.max(last, run.now_s, ...run.utilization.time.slice(-1));
		});
		w.first = w.from_s ?? (isFinite(first) ? first : w.origin_s);
		w.last = w.until_s ?? (last > w.first ? last : w.first + 1);
		w.prepared = true;
	}

	/* The figures of what happened on a cluster: of the jobs that started in the time shown. */
	function happened(w, run) {
		const bounded = [];

		run.start.forEach((start, job) => {
			if (start >= w.from_s && run.end[job] > start)
				bounded.push(Math.max(1, (run.end[job] - w.submit[job]) / Math.max(run.end[job] - start, 10)));
		});
		return {
			started: run.waits.length,
			busy: (run.utilization.integral(w.until_s) - run.utilization.integral(w.from_s)) / (w.cores * (w.until_s - w.from_s)),
			wait_mean_s: average(run.waits), wait_median_s: series.quantile(run.waits, .5),
			wait_p99_s: series.quantile(run.waits, .99), wait_max_s: run.waits.at(-1), bsld_mean: average(bounded),
		};
	}

	function facts(w) {
		const kinds = new Map();

		for (const c of w.coresOf)
			kinds.set(c, (kinds.get(c) || 0) + 1);
		const nodes = [...kinds].map(([c, n]) => `${number(n)} × ${number(c)} cores`).join(", ");
		const gpus = w.runs[0].result.gpus ? `, ${number(w.runs[0].result.gpus)} GPUs` : "";
		const live = w.until_s !== undefined;
		const rows = [
			[live ? "Cluster" : "Workload", w.name],
			["Jobs", `${number(w.jobs)} of ${number(w.users.length)} user${w.users.length === 1 ? "" : "s"}`],
			["Machine", `${w.machine ? `${w.machine}: ` : ""}${nodes}${gpus}`],
			live ? ["Decided by", w.options] : ["Policies", w.runs.map((run) => run.label).join(", ")],
			...(live ? [] : [["Options", w.options || "none"], ["Seed", w.seed]]),
			[dated() ? "Dates" : "Time", span(w.first, w.last)],
		];

		$("facts").replaceChildren(...rows.map(([term, text]) =>
			element("div", {}, element("dt", {}, term), element("dd", {}, text))));
		$("issues").hidden = !w.issues.length;
		$("issues").textContent = `Of the source: ${w.issues.map(([n, words]) => `${number(n)} ${words}`).join("; ")}.`;
		$("notes").hidden = !w.notes;
		$("notes").textContent = w.notes;
		$("version").textContent = `schedlua ${w.version}${w.command ? ":" : ""}`;
		$("command").textContent = w.command;
		$("title").textContent = document.title;
	}

	const tables = makeTables({ state, instant, swatch });

	/* -- what charts have in common ------------------------------------------- */

	const AXIS = { stroke: () => colour("--soft"), grid: { stroke: () => colour("--grid"), width: 1 },
		ticks: { stroke: () => colour("--line"), width: 1, size: 5 }, font: "12px system-ui, sans-serif" };

	function timeAxis() {
		if (!dated())
			return { ...AXIS, space: 90, incrs: [1, 5, 10, 30, 60, 300, 600, 1800, 3600, 7200, 14400, 21600, 43200,
				...[1, 2, 5, 7, 14, 28, 56, 112, 364, 728].map((d) => d * DAY)], values: (u, splits) => splits.map((t) => instant(t)),
				splits: (u, i, min, max, incr) => {
					const origin = state.workload.origin_s, first = Math.ceil((min - origin) / incr);

					return Array.from({ length: Math.max(0, Math.floor((max - origin) / incr) - first + 1) },
						(_, k) => origin + (first + k) * incr);
				} };
		const date = "\n{D} {MMM}", dateAndYear = `${date} {YYYY}`, none = null;

		return { ...AXIS, space: 60, values: [
			[YEAR, "{YYYY}", none, none, none, none, none, none, 1],
			[28 * DAY, "{MMM}", "\n{YYYY}", none, none, none, none, none, 1],
			[DAY, "{D} {MMM}", "\n{YYYY}", none, none, none, none, none, 1],
			[60, "{HH}:{mm}", dateAndYear, none, date, none, none, none, 1],
			[1, "{HH}:{mm}:{ss}", dateAndYear, none, date, none, none, none, 1],
		] };
	}

	const timeScale = () => ({ time: dated(), auto: false, range: () => [state.from, state.to] });
	const tzDate = (t) => uPlot.tzDate(new Date(t * 1000), "Etc/UTC");

	/* Lines are told apart by dashes too. */
	function lineOf(run, value, paths) {
		return { label: run.label, stroke: () => colour(colourOf(run)), width: 2, dash: DASH[run.row % 8],
			paths, points: { show: false }, value: (u, v) => (v === null || v === undefined ? "–" : value(v)) };
	}

	const LEFT = 74;	/* of all charts, so that they line up */

	/* A chart in a frame that takes the focus; its keys are *keys*. */
	function makeChart(figureElement, options, data, label, keys) {
		const frame = element("div", { class: "chart", tabindex: 0, role: "group", "aria-roledescription": "chart",
			"aria-label": label });

		figureElement.append(frame);
		const chart = new uPlot({ ...options, width: frame.clientWidth - 8, tzDate, padding: [8, 16, 0, 0] }, data, frame);
		const canvas = frame.querySelector("canvas");

		canvas.setAttribute("role", "img");
		canvas.setAttribute("aria-label", label);
		frame.addEventListener("keydown", (e) => {
			if (e.ctrlKey || e.metaKey || e.altKey || !keys(e, chart))
				return;
			e.preventDefault();
		});
		state.charts.push({ chart, frame });
		return chart;
	}

	/* A selection becomes the window; the second click of two shows everything. */
	const zoomHooks = {
		setSelect: [(u) => {
			const { left, top, width, height } = u.select;

			if (width < 3 && height < 3)
				return;
			if (width >= 3)
				setWindow(u.posToVal(left, "x"), u.posToVal(left + width, "x"));
			if (u.gantt && height >= 3 && height < u.over.clientHeight)
				setNodes(u.posToVal(top, "y"), u.posToVal(top + height, "y"));
			u.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
		}],
	};
	const cursor = (more) => ({ drag: { setScale: false, x: true, y: false, dist: 5 },
		bind: { dblclick: () => () => { showAll(); return null; } }, y: false, ...more });

	/* -- the window ----------------------------------------------------------- */

	let due = 0;

	/* Once a frame, however many keys and wheels there were. */
	function draw() {
		if (!due)
			due = requestAnimationFrame(() => { due = 0; drawNow(); });
	}

	function setWindow(from, to) {
		const w = state.workload, whole = w.last - w.first, width = Math.min(Math.max(to - from, Math.min(60, whole)), whole);

		from = Math.min(Math.max((from + to - width) / 2, w.first), w.last - width);
		state.from = from;
		state.to = from + width;
		draw();
	}

	function setNodes(low, high) {
		const all = state.workload.nodes.length, height = Math.min(Math.max(high - low, Math.min(1, all)), all);

		low = Math.min(Math.max((low + high - height) / 2, 0), all - height);
		state.low = low;
		state.high = low + height;
		draw();
	}

	function showAll() {
		setWindow(state.workload.first, state.workload.last);
		setNodes(0, state.workload.nodes.length);
	}

	const pan = (by) => setWindow(state.from + by * (state.to - state.from), state.to + by * (state.to - state.from));
	const zoom = (by) => {
		const middle = (state.from + state.to) / 2, half = (state.to - state.from) / 2 * by;

		setWindow(middle - half, middle + half);
	};
	const ACTIONS = { left: () => pan(-.25), right: () => pan(.25), in: () => zoom(.5), out: () => zoom(2), all: showAll };
	const KEYS = { ArrowLeft: "left", ArrowRight: "right", "+": "in", "=": "in", "-": "out", "_": "out", 0: "all", Home: "all" };

	function timeKeys(e) {
		if (!KEYS[e.key])
			return false;
		ACTIONS[KEYS[e.key]]();
		return true;
	}

	/* -- charts over time ----------------------------------------------------- */

	function overTime(id, words, format, axisFormat, range, values, runs = state.shown) {
		const chart = makeChart($(id), {
			height: 240,
			scales: { x: timeScale(), y: { range } },
			axes: [timeAxis(), { ...AXIS, size: LEFT, values: (u, splits) => splits.map(axisFormat) }],
			series: [{ label: "time", value: (u, t) => (t === null || t === undefined ? "–" : instant(t)) },
				...runs.map((run) => lineOf(run, format, uPlot.paths.stepped({ align: 1 })))],
			cursor: cursor({ sync: { key: "time" }, points: { size: 6 } }),
			hooks: zoomHooks,
		}, [[state.from, state.to], ...runs.map(() => [0, 0])],
		`${words}. ${runs.map((run) => `${run.label}: mean ${format(mean(values(run)))}`).join("; ")}.`, timeKeys);

		chart.refill = () => {
			const n = bins(), edges = series.edges(state.from, state.to, n);

			chart.setData([edges, ...runs.map((run) => values(run).means(edges, 1))]);
		};
	}

	function mean(steps) {
		const w = state.workload;

		return (steps.integral(w.last) - steps.integral(w.first)) / (w.last - w.first);
	}

	const bins = () => Math.max(60, Math.min(1200, Math.floor((document.body.clientWidth - 120) / 2)));

	/* -- the distribution of waits -------------------------------------------- */

	const TICKS = [1, 10, 60, 600, 3600, 6 * 3600, DAY, 7 * DAY, 28 * DAY, 364 * DAY, 3640 * DAY];

	function waitChart() {
		const runs = state.shown, longest = Math.max(60, ...runs.map((run) => run.waits.at(-1) || 0));
		const n = 240, x = Float64Array.from({ length: n + 1 }, (_, i) => longest ** (i / n));

		x[n] = longest;
		makeChart($("wait"), {
			height: 240,
			scales: { x: { time: false, distr: 3, range: () => [1, longest] }, y: { range: [0, 100] } },
			axes: [{ ...AXIS, space: 40, splits: () => TICKS.filter((t) => t <= longest), filter: (u, splits) => splits,
				values: (u, splits) => splits.map(duration) },
			{ ...AXIS, size: LEFT, values: (u, splits) => splits.map((v) => `${v} %`) }],
			series: [{ label: "wait", value: (u, t) => (t === null || t === undefined ? "–" : `≤ ${duration(t)}`) },
				...runs.map((run) => lineOf(run, (v) => percent(v / 100)))],
			cursor: { drag: { setScale: false, x: false, y: false }, y: false, points: { size: 6 } },
		}, [x, ...runs.map((run) => Array.from(x, (t) => 100 * series.rank(run.waits, t) / run.waits.length))],
		`Share of jobs by wait. ${runs.map((run) => `${run.label}: half within ${duration(series.quantile(run.waits, .5))}, ` +
			`90 % within ${duration(series.quantile(run.waits, .9))}`).join("; ")}.`, waitKeys);
	}

	function waitKeys(e, chart) {
		const by = { ArrowLeft: -1, ArrowRight: 1 }[e.key];

		if (!by)
			return false;
		const i = Math.min(Math.max((chart.cursor.idx ?? (by > 0 ? -1 : 1)) + by * (e.shiftKey ? 1 : 5), 0), chart.data[0].length - 1);

		chart.setCursor({ left: chart.valToPos(chart.data[0][i], "x"), top: 10 });
		told.cursor = chart.cursor.idx;
		return true;
	}

	/* -- schedules ------------------------------------------------------------ */

	function nodeTicks(u, splits) {
		const w = state.workload;

		if (w.nodes.length === 1)
			return splits.map((v) => number(v * w.cores));
		return splits.map((v) => (Number.isInteger(v) && v < w.nodes.length ? w.nodes[v].slice(-9) : ""));
	}

	function ganttHeight() {
		const w = state.workload, tall = w.nodes.length === 1 ? w.cores : w.nodes.length;

		return Math.max(140, Math.min(state.shown.length > 1 ? 300 : 460, 60 + 14 * tall));
	}

	function ganttChart(run) {
		const w = state.workload, one = w.nodes.length === 1;
		const holder = element("figure", { "data-run": run.label },
			element("figcaption", {}, swatch(run), ` ${run.label}`));

		$("gantts").append(holder);
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
		`Schedule under ${run.label}: ${number(w.jobs)} jobs on ${one ? `${number(w.cores)} cores` : `${number(w.nodes.length)} nodes`}. ` +
			"n and p go from job to job.", (e, u) => ganttKeys(e, u, run));

		chart.gantt = true;
		chart.over.addEventListener("click", () => choose(state.hovered));
		chart.refill = () => chart.setData([[w.first, w.last], [0, 0]]);
		chart.over.addEventListener("mouseleave", () => { $("tip").hidden = true; });
	}

	function coreTicks(min, max) {
		const cores = state.workload.cores, step = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000, 20000]
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
		run.painted = gantt.paint(u, run, run.sorted, state.kinds.colour.map(colour));
		told.rects = state.shown.reduce((sum, r) => sum + (r.painted || 0), 0);
	}

	function outlineChosen(u, run) {
		if (state.chosen >= 0 && !isNaN(run.start[state.chosen]))
			gantt.outline(u, run, state.chosen, colour("--ink"), colour("--sheet"));
	}

	/* What became of a job in a run, in lines. */
	function describe(run, job) {
		const w = state.workload, nodes = [];

		if (isNaN(run.start[job]))
			return ["never started"];
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
			`waited ${duration(run.start[job] - w.submit[job])}, started ${instant(run.start[job])}, ` +
				`ran ${duration(run.end[job] - run.start[job])}`,
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
		state.hovered = gantt.jobAt(run, u.posToVal(left, "x"), u.posToVal(top, "y"));
		tip.hidden = state.hovered < 0;
		if (tip.hidden)
			return;
		tip.textContent = [whose(state.hovered), ...describe(run, state.hovered)].join("\n");
		const box = tip.getBoundingClientRect(), x = event.clientX + 14, y = event.clientY + 14;

		tip.style.left = `${Math.max(4, x + box.width < innerWidth ? x : x - box.width - 28)}px`;
		tip.style.top = `${Math.max(4, y + box.height < innerHeight ? y : y - box.height - 28)}px`;
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
		else if (lines && height < state.workload.nodes.length)
			setNodes(state.low + lines * height / 4, state.high + lines * height / 4);
		else
			return timeKeys(e);
		return true;
	}

	/* -- all of it ------------------------------------------------------------ */

	function drawNow() {
		for (const { chart } of state.charts)
			chart.refill?.();
		$("window").textContent = span(state.from, state.to);
		$("bins").textContent = bins();
		told.window = `${state.from} ${state.to}`;
		told.nodes = `${state.low} ${state.high}`;
	}

	function paintColours() {
		const w = state.workload, kinds = gantt.classes(w, state.by);

		state.kinds = kinds;
		for (const run of w.runs)
			run.sorted = gantt.sortByClass(run, kinds);
		$("colours").replaceChildren(element("li", {}, { user: "User", wait: "Wait", size: "Cores" }[state.by]),
			...kinds.words.map((words, i) => element("li", {}, element("i", { style: `background: var(${kinds.colour[i]})` }), words)));
	}

	/* Make the charts anew: other runs, or another workload. */
	function charts() {
		const w = state.workload;

		for (const { chart, frame } of state.charts) {
			chart.destroy();
			frame.remove();
		}
		state.charts = [];
		$("gantts").replaceChildren();
		state.shown.forEach(ganttChart);
		overTime("utilization", "Utilization over time", (v) => percent(v), (v) => `${Math.round(100 * v)} %`, [0, 1.02],
			(run) => (run.share ??= { integral: (t) => run.utilization.integral(t) / w.cores,
				means: (edges) => run.utilization.means(edges, 1 / w.cores) }));
		overTime("queue", "Queue length over time", figure, (v) => (Number.isInteger(v) ? number(v) : ""), (u, min, max) => [0, Math.max(1, max * 1.05)],
			(run) => run.queue);
		$("reasons").hidden = !w.reasons;
		if (w.reasons)
			overTime("reasons", "Why jobs waited", figure, (v) => (Number.isInteger(v) ? number(v) : ""), (u, min, max) => [0, Math.max(1, max * 1.05)],
				({ label }) => series.parts(w.reasons[label], w.from_s, w.until_s), Object.keys(w.reasons)
					.filter((label) => w.reasons[label].some((v) => v)).map((label, row) => ({ label, row })));
		waitChart();
		tables.overtakenTable(w);
		drawNow();
	}

	/* Why what is not ticked is not. */
	function tellUnticked() {
		const w = state.workload, untouched = w.runs.filter((run) => !state.shown.includes(run) && !run.touched).map((run) => run.label);
		const out = w.runs.filter((run) => !state.shown.includes(run) && run.touched).map((run) => run.label);

		$("unticked").hidden = !untouched.length && !out.length;
		$("unticked").textContent = [
			...(untouched.length ? [`Not drawn yet: ${untouched.join(", ")}. At first ${RUNS_SHOWN} of ${w.runs.length} policies are ticked, ` +
				"so that the charts can be read; tick others to draw them."] : []),
			...(out.length ? [`Not drawn, as you unticked it: ${out.join(", ")}.`] : []), "The tables have all."].join(" ");
	}

	function runBoxes() {
		const w = state.workload;
		const boxes = w.runs.map((run) => {
			const box = element("input", { type: "checkbox", checked: state.shown.includes(run) });

			box.addEventListener("change", () => {
				const others = state.shown.filter((r) => r !== run);

				if (!box.checked && !others.length) {
					box.checked = true;
					return;
				}
				run.touched = true;
				state.shown = box.checked ? [...others, run].sort((a, b) => a.row - b.row) : others;
				tellUnticked();
				charts();
			});
			return element("label", {}, box, swatch(run), run.label);
		});

		$("runs").replaceChildren($("runs").querySelector("legend"), ...boxes);
		$("runs").hidden = w.runs.length < 2;
		tellUnticked();
	}

	function open(w) {
		if (!w.prepared)
			prepare(w);
		Object.assign(state, { workload: w, shown: w.runs.slice(0, RUNS_SHOWN), from: w.first, to: w.last, low: 0,
			high: w.nodes.length, chosen: -1 });
		told.jobs = w.jobs;
		told.runs = w.runs.length;
		$("job").textContent = "";
		facts(w);
		tables.figureTable(w);
		tables.metricTable(w);
		tables.groupTable("users", "User", w, w.user, w.users);
		tables.groupTable("partitions", "Partition", w, w.partition, w.partitions);
		$("whose").hidden = $("users").parentElement.hidden && $("partitions").parentElement.hidden;
		tables.quantileTable(w);
		runBoxes();
		state.by = $("colour").value = w.users.length > 1 ? "user" : "size";
		paintColours();
		charts();
	}

	function find(e) {
		const w = state.workload, job = w.id.indexOf(Number($("find").value)), run = state.shown[0];

		e.preventDefault();
		if (job < 0 || !$("find").value.trim()) {
			$("job").textContent = `There is no job ${$("find").value} in this workload.`;
			return;
		}
		choose(job);
		zoomTo(run, job);
	}

	function connect(workloads) {
		const select = $("workload");

		select.append(...workloads.map((w, i) => element("option", { value: i }, `${w.name}, seed ${w.seed}`)));
		select.addEventListener("change", () => open(workloads[select.value]));
		$("choice").hidden = workloads.length < 2;
		for (const button of document.querySelectorAll("[data-do]"))
			button.addEventListener("click", ACTIONS[button.dataset.do]);
		for (const button of document.querySelectorAll("[data-csv]"))
			button.addEventListener("click", () => tables.download(button.dataset.csv));
		$("tools").addEventListener("submit", find);
		$("colour").addEventListener("change", () => {
			state.by = $("colour").value;
			paintColours();
			draw();
		});
		matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
			colours = new Map();
			charts();
			told.dark = matchMedia("(prefers-color-scheme: dark)").matches;
		});
		let width = document.body.clientWidth;
		new ResizeObserver(() => {
			if (width === document.body.clientWidth)
				return;
			width = document.body.clientWidth;
			for (const { chart, frame } of state.charts)
				chart.setSize({ width: frame.clientWidth - 8, height: chart.height });
			draw();
		}).observe(document.body);
	}

	function begin() {
		const workloads = schedule.read(document).filter((w) => w.runs.length);

		$("main").hidden = false;
		connect(workloads);
		open(workloads[0]);
		for (const { textContent } of document.querySelectorAll("script.shadow"))
			showShadow(JSON.parse(textContent), instant);
		told.dark = matchMedia("(prefers-color-scheme: dark)").matches;
		told.ready = "true";
	}

	try {
		begin();
	} catch (error) {
		$("trouble").hidden = false;
		$("trouble").textContent = `This page cannot be shown: ${error.message}`;
		throw error;
	}
})();
