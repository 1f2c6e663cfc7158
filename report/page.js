/* SPDX-License-Identifier: MIT */
/*
 * page.js - the page: charts and controls of one workload at a time.  Its schedules are
 * schedules.js's, maps heat.js's, tables tables.js's and whose.js's, downloads save.js's.
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
		by: "user", rows: "cores", chosen: -1, hovered: -1, charts: [], baseline: -1, size: "mix", unit: "gpus", type: "", at: NaN,
	};
	const hasCharts = typeof uPlot !== "undefined";		/* a build without npm may have none */

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
			run.gpuUse = w.gpus ? series.utilization(run, run.gpus) : null;
			run.waits = series.sortedWaits(w, run);
			run.slowdowns = series.sortedSlowdowns(w, run);
			run.queue = w.reasons ? series.parts(w.waiting, w.from_s, w.until_s) : series.queue(w, run);
			run.overtaken = series.overtaken(w, run);
			if (w.until_s)
				run.result = happened(w, run);
			last = Math.max(last, run.now_s, ...run.utilization.time.slice(-1));
		});
		w.first = w.from_s ?? (isFinite(first) ? first : w.origin_s);
		w.now = w.until_s ?? (last > w.first ? last : w.first + 1);
		w.last = w.now + future(w);
		w.reservations ??= [];
		w.usesGpus = w.gpus > 0 && w.runs.some((run) => run.gpu.job.length);
		w.block = machine.blocksOf(w);
		w.prepared = true;
	}

	/* How far what is planned is shown: of a cluster, a quarter of the time that it is about at most. */
	function future(w) {
		const ends = w.until_s ? [...w.runs.flatMap((run) => run.planned.map((plan) => plan.end)),
			...(w.reservations ?? []).map((r) => r.end_s)] : [];

		return Math.min(ends.reduce((a, b) => Math.max(a, b - w.now), 0), (w.now - w.first) / 4);
	}

	/* The figures of what happened on a cluster: of the jobs that started in the time shown. */
	function happened(w, run) {
		const inUse = (steps, units) => (steps.integral(w.until_s) - steps.integral(w.from_s)) / (units * (w.until_s - w.from_s));

		return {
			started: run.waits.length,
			...(w.only ? {} : { busy: inUse(run.utilization, w.cores), ...(w.gpus ? { gpus_busy: inUse(run.gpuUse, w.gpus) } : {}) }),
			wait_mean_s: average(run.waits), wait_median_s: series.quantile(run.waits, .5),
			wait_p99_s: series.quantile(run.waits, .99), wait_max_s: run.waits.at(-1), bsld_mean: average(run.slowdowns),
		};
	}

	function facts(w) {
		const kinds = new Map();

		w.coresOf.forEach((cores, i) => {
			const kind = `${number(cores)} core${cores === 1 ? "" : "s"}${w.gpusOf[i] ? ` and ${number(w.gpusOf[i])} GPU${w.gpusOf[i] === 1 ? "" : "s"}` : ""}`;

			kinds.set(kind, (kinds.get(kind) || 0) + 1);
		});
		const nodes = [...kinds].map(([kind, n]) => `${number(n)} × ${kind}`).join(", ");
		const blocks = w.block.count > 1 ? `, in ${number(w.block.count)} blocks` : "";
		const live = w.until_s !== undefined;
		const rows = [
			[live ? "Cluster" : "Workload", w.name],
			...(w.only ? [["User", `${w.only}: no job of anybody else is on this page`]] : []),
			["Jobs", `${number(w.jobs)} of ${number(w.users.length)} user${w.users.length === 1 ? "" : "s"}`],
			["Machine", `${w.machine ? `${w.machine}: ` : ""}${nodes}${blocks}`],
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

	const tables = makeTables({ state, swatch, instant });
	const whose = makeWhose({ state, instant, difference: tables.difference });
	const heat = makeHeat({ state, dated, swatch });

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
		addSaveButtons(figureElement);
		return chart;
	}

	function addSaveButtons(figureElement) {
		const caption = figureElement.querySelector("figcaption"), words = caption.firstChild?.textContent.trim() || caption.textContent.trim();

		if (!caption.querySelector(".save"))
			caption.append(element("span", { class: "save" }, ...["svg", "png"].map((kind) => element("button",
				{ type: "button", "data-save": kind, "aria-label": `${words}: download as ${kind.toUpperCase()}` }, kind.toUpperCase()))));
	}

	let saving = Promise.resolve();		/* one after the other: a chart is drawn for it */

	/* What a button of a figure asks for: its chart, or its map, as a file. */
	async function saveFigure(button) {
		const figureElement = button.closest("figure"), map = figureElement.querySelector("svg.heat");
		const caption = [...figureElement.querySelector("figcaption").childNodes].filter((e) => !e.classList?.contains("save") && !e.matches?.("label"))
			.map((e) => e.textContent.trim()).filter((text) => text).join(" ");
		const { chart } = state.charts.find(({ frame }) => figureElement.contains(frame)) ?? {};
		const about = { title: `${state.workload.name}: ${caption}`, sheet: colour("--sheet"), ink: colour("--ink"),
			lines: (chart?.lines ?? []).map((run) => [colour(colourOf(run)), DASH[run.row % 8], run.label]) };

		await save.picture(button.dataset.save, map ? save.mapSvg(map, colour, about) : await save.chartSvg(chart, about),
			`${state.workload.name}-${map ? "waits" : figureElement.id || "schedule"}${figureElement.dataset.run ? `-${figureElement.dataset.run}` : ""}`);
		told.saved = Number(told.saved || 0) + 1;
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

	/* Of the schedule: nodes, or GPUs. */
	const rowCount = () => (state.rows === "gpus" ? state.workload.gpus : state.workload.nodes.length);

	function setNodes(low, high) {
		const all = rowCount(), height = Math.min(Math.max(high - low, Math.min(1, all)), all);

		low = Math.min(Math.max((low + high - height) / 2, 0), all - height);
		state.low = low;
		state.high = low + height;
		draw();
	}

	function showAll() {
		setWindow(state.workload.first, state.workload.last);
		setNodes(0, rowCount());
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

	const SHARE = { format: (v) => percent(v), axis: (v) => `${Math.round(100 * v)} %`, range: [0, 1.02] };
	const SHARE_OF_WASTE = { ...SHARE, axis: (v) => `${number(100 * v, v && v < .01 ? 2 : 0)} %`, range: (u, min, max) => [0, Math.max(.01, max * 1.05)] };
	const AMOUNT = { format: figure, axis: (v) => (v === null ? "" : figure(v)), range: (u, min, max) => [0, Math.max(1, max * 1.05)] };
	const COUNT = { format: figure, axis: (v) => (v === null ? "" : Number.isInteger(v) ? number(v) : ""), range: (u, min, max) => [0, Math.max(1, max * 1.05)] };

	/* Logarithmic, with a 0. */
	const LOG = { scale: { distr: 100, fwd: Math.log1p, bwd: Math.expm1 },
		axis: { splits: (u, i, min, max) => [0, 1, 3, 10, 30, 100, 300, 1000, 3000, 1e4, 3e4, 1e5, 1e6].filter((v) => v <= max), filter: (u, splits) => splits } };

	/* *kind*: how values are written, their range, *log*; of the part of the time shown that is still to come nothing is drawn. */
	function overTime(id, words, kind, values, runs = state.shown) {
		const { now } = state.workload;
		const chart = makeChart($(id), {
			height: kind.height ?? 240,
			scales: { x: timeScale(), y: { range: kind.range, ...(kind.log ? LOG.scale : {}) } },
			axes: [timeAxis(), { ...AXIS, size: LEFT, values: (u, splits) => splits.map(kind.axis), ...(kind.log ? LOG.axis : {}) }],
			series: [{ label: "time", value: (u, t) => (t === null || t === undefined ? "–" : instant(t)) },
				...runs.map((run) => lineOf(run, kind.format, uPlot.paths.stepped({ align: 1 })))],
			cursor: cursor({ sync: { key: "time" }, points: { size: 6 } }),
			hooks: zoomHooks,
		}, [[state.from, state.to], ...runs.map(() => [0, 0])],
		`${words}. ${runs.map((run) => `${run.label}: mean ${kind.format(mean(values(run)))}`).join("; ")}.`, timeKeys);

		chart.lines = runs;
		chart.refill = () => {
			const edges = series.edges(state.from, state.to, bins());
			const known = (v) => (state.to > now ? Array.from(v, (y, i) => (edges[i] >= now ? null : y)) : v);

			chart.setData([edges, ...runs.map((run) => known(values(run).means(edges, 1)))]);
		};
	}

	/* Steps as a share of something. */
	const shareOf = (steps, all) => ({ integral: (t) => steps.integral(t) / all, means: (edges) => steps.means(edges, 1 / all) });

	function mean(steps) {
		const w = state.workload;

		return steps.mean?.(w.first, w.now) ?? (steps.integral(w.now) - steps.integral(w.first)) / (w.now - w.first);
	}

	/* A part of something that changes, too: the mean of one by that of the other. */
	function shareOfSteps(part, all) {
		const mean = (from, to) => {
			const whole = all.integral(to) - all.integral(from);

			return whole > 0 ? (part.integral(to) - part.integral(from)) / whole : 0;
		};

		return { mean, means: (edges) => Float64Array.from(edges, (t, i) => mean(edges[Math.min(i, edges.length - 2)], edges[Math.min(i + 1, edges.length - 1)])) };
	}

	/* On a user's page there is no share of a machine of which others' jobs are not shown. */
	function useCharts(w) {
		const [kind, all] = w.only ? [COUNT, 1] : [SHARE, 0];

		overTime("utilization", "Utilization over time", kind, (run) => (run.share ??= shareOf(run.utilization, all || w.cores)));
		$("gpus").hidden = !w.usesGpus;
		if (!w.usesGpus)
			return;
		const chosen = gpus.typesOf(w).find(([type]) => String(type) === state.type);
		const use = (run) => (chosen ? (run.useOfType ??= new Map()).get(chosen[0]) ?? run.useOfType.set(chosen[0], gpus.useOfType(w, run, chosen[0])).get(chosen[0]) : run.gpuUse);

		overTime("gpus", `GPUs ${chosen ? `of type ${chosen[1]} ` : ""}in use over time`, { ...kind, height: 180 },
			(run) => shareOf(use(run), all || (chosen ? chosen[2] : w.gpus)));
	}

	/* The free GPUs that are no use to whom the reader has chosen. */
	function strandedOf(w, run) {
		if (state.size === "mix")
			return (run.fragmentation ??= gpus.fragmentation(w, run));
		if (state.size === "wait")
			return (run.noUse ??= gpus.noUse(w, run));
		return (run.stranded ??= machine.stranded(w, run)).get(Number(state.size));
	}

	/* What the machine could not use, of others' jobs too: not on a user's page. */
	function fragmentCharts(w) {
		const stranded = w.usesGpus && !w.only, blocks = w.block.count > 1 && !w.only;

		$("stranded").hidden = !stranded;
		if (stranded)
			overTime("stranded", `Free GPUs that are no use to ${$("size").selectedOptions[0].textContent}`, { ...(state.unit === "share" ? SHARE : AMOUNT), height: 180 },
				(run) => (state.unit === "share" ? shareOfSteps(strandedOf(w, run), run.gpuFree ??= series.rest(w.gpus, run.gpuUse)) : strandedOf(w, run)));
		$("blocks").hidden = !blocks;
		if (blocks)
			overTime("blocks", "Blocks with no job on them", { ...COUNT, height: 180 }, (run) => (run.freeBlocks ??= machine.freeBlocks(w, run)));
	}

	/* Work that was to be done again, since runs were stopped for other jobs. */
	function wasteCharts(w) {
		const [kind, all] = w.only ? [COUNT, 1] : [SHARE_OF_WASTE, 0], stops = state.shown.some((run) => run.stops.length);

		$("wasted").hidden = !stops;
		$("wasted-gpus").hidden = !stops || !w.usesGpus;
		if (stops)
			overTime("wasted", "Cores at work that was lost to stops", { ...kind, height: 180 },
				(run) => (run.wasted ??= shareOf(series.wasted(run, "cores"), all || w.cores)));
		if (stops && w.usesGpus)
			overTime("wasted-gpus", "GPUs at work that was lost to stops", { ...kind, height: 180 },
				(run) => (run.wastedGpus ??= shareOf(series.wasted(run, "gpus"), all || w.gpus)));
	}

	const bins = () => Math.max(60, Math.min(1200, Math.floor((document.body.clientWidth - 120) / 2)));

	/* -- distributions -------------------------------------------------------- */

	const WAIT = { of: "waits", words: "Share of jobs by wait", least: 60, format: duration, name: "wait",
		ticks: [1, 10, 60, 600, 3600, 6 * 3600, DAY, 7 * DAY, 28 * DAY, 364 * DAY, 3640 * DAY] };
	const SLOWDOWN = { of: "slowdowns", words: "Share of jobs by bounded slowdown", least: 10, format: figure, tick: number, sparse: (t) => Number.isInteger(Math.log10(t)), name: "slowdown",
		ticks: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000, 100000, 1000000] };

	function distribution(id, kind) {
		const runs = state.shown, most = Math.max(kind.least, ...runs.map((run) => run[kind.of].at(-1) || 0));
		const n = 240, x = Float64Array.from({ length: n + 1 }, (_, i) => most ** (i / n));

		x[n] = most;
		const chart = makeChart($(id), {
			height: 240,
			scales: { x: { time: false, distr: 3, range: () => [1, most] }, y: { range: [0, 100] } },
			axes: [{ ...AXIS, space: 40, splits: (u) => kind.ticks.filter((t) => t <= most && (u.width > 460 || !kind.sparse || kind.sparse(t))), filter: (u, splits) => splits,
				values: (u, splits) => splits.map((v) => (kind.tick ?? kind.format)(v)) },
			{ ...AXIS, size: LEFT, values: (u, splits) => splits.map((v) => `${v} %`) }],
			series: [{ label: kind.name, value: (u, t) => (t === null || t === undefined ? "–" : `≤ ${kind.format(t)}`) },
				...runs.map((run) => lineOf(run, (v) => percent(v / 100)))],
			cursor: { drag: { setScale: false, x: false, y: false }, y: false, points: { size: 6 } },
		}, [x, ...runs.map((run) => Array.from(x, (t) => 100 * series.rank(run[kind.of], t) / run[kind.of].length))],
		`${kind.words}. ${runs.map((run) => `${run.label}: half within ${kind.format(series.quantile(run[kind.of], .5))}, ` +
			`90 % within ${kind.format(series.quantile(run[kind.of], .9))}`).join("; ")}.`, waitKeys);

		chart.lines = runs;
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

	const schedules = makeSchedules({ state, told, tables, instant, swatch, colour, draw, setWindow, setNodes, rowCount, timeKeys,
		chartOf: { makeChart, timeAxis, timeScale, cursor, zoomHooks, AXIS, LEFT } });

	const picture = makePicture({ state, told, instant, swatch, colour, draw });

	/* -- all of it ------------------------------------------------------------ */

	function drawNow() {
		for (const { chart } of state.charts)
			chart.refill?.();
		$("window").textContent = span(state.from, state.to);
		$("bins").textContent = bins();
		picture.draw();
		told.window = `${state.from} ${state.to}`;
		told.nodes = `${state.low} ${state.high}`;
	}

	function paintColours() {
		const w = state.workload, kinds = gantt.classes(w, state.by);

		state.kinds = kinds;
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
		picture.open();
		if (hasCharts)
			chartsOf(w);
		whose.overtakenTable(w);
		heat.show();
		document.querySelectorAll("#heats figure").forEach(addSaveButtons);
		drawNow();
	}

	function chartsOf(w) {
		state.shown.forEach(schedules.ganttChart);
		useCharts(w);
		overTime("queue", "Queue length over time", { ...COUNT, log: $("log").checked }, (run) => run.queue);
		fragmentCharts(w);
		wasteCharts(w);
		$("reasons").hidden = !w.reasons;
		if (w.reasons)
			overTime("reasons", "Why jobs waited", COUNT, ({ label }) => series.parts(w.reasons[label], w.from_s, w.until_s),
				Object.keys(w.reasons).filter((label) => w.reasons[label].some((v) => v)).map((label, row) => ({ label, row })));
		distribution("wait", WAIT);
		distribution("slowdown", SLOWDOWN);
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

	/* A list of [value, text], and whether there is anything to choose. */
	function chooseFrom(id, options, any) {
		$(id).replaceChildren(...options.map(([value, text]) => element("option", { value }, text)));
		$(id).closest("label").hidden = !any;
	}

	/* The tables that say how runs differ from the baseline. */
	function compareTables(w) {
		tables.figureTable(w);
		tables.metricTable(w);
		tables.pairedTable(w);
		tables.stopTable(w);
		whose.groupTable("users", "User", w, w.user, w.users);
		whose.groupTable("partitions", "Partition", w, w.partition, w.partitions);
		$("whose").hidden = $("users").parentElement.hidden && $("partitions").parentElement.hidden;
		scrolls();
	}

	/* A table that goes on to the right says so. */
	function scrolls() {
		for (const box of document.querySelectorAll(".scroll"))
			box.classList.toggle("more", box.scrollWidth - box.clientWidth - box.scrollLeft > 2);
	}

	function open(w) {
		if (!w.prepared)
			prepare(w);
		Object.assign(state, { workload: w, shown: w.runs.slice(0, RUNS_SHOWN), from: w.first, to: w.last, low: 0,
			high: w.nodes.length, chosen: -1, baseline: -1, rows: "cores", size: w.shapes?.length ? "mix" : String(machine.sizes(w).at(-1) ?? 0), unit: "gpus", type: "",
			at: w.until_s ? w.now : (w.first + w.last) / 2 });
		told.jobs = w.jobs;
		told.runs = w.runs.length;
		$("job").textContent = "";
		facts(w);
		compareTables(w);
		tables.quantileTable(w);
		chooseFrom("baseline", ["nothing", ...w.runs.map((run) => run.label)].map((text, i) => [i - 1, text]), w.runs.length > 1);
		chooseFrom("rows", [["cores", "cores"], ["gpus", "GPUs"]], w.usesGpus);
		chooseFrom("size", [...(w.shapes?.length ? [["mix", "the average job with GPUs"], ["wait", "any job that waits then"]] : []),
			...machine.sizes(w).map((k) => [k, `a job of ${k} GPU${k === 1 ? "" : "s"} on one node`])], true);
		$("size").value = state.size;
		$("unit").value = state.unit;
		chooseFrom("gpu-type", [["", "all types"], ...gpus.typesOf(w).map(([type, name, n]) => [type, `${name} (${number(n)})`])], gpus.typesOf(w).length > 1);
		for (const e of document.querySelectorAll(".everybody"))
			e.hidden = Boolean(w.only);
		$("utilization-unit").textContent = w.only ? "Cores held by the jobs on this page" : "Utilization: cores held by jobs, in percent of the machine";
		heat.open();
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
		schedules.choose(job);
		schedules.zoomTo(run, job);
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
		$("baseline").addEventListener("change", () => {
			state.baseline = Number($("baseline").value);
			compareTables(state.workload);
		});
		$("rows").addEventListener("change", () => {
			Object.assign(state, { rows: $("rows").value, low: 0 });
			state.high = rowCount();
			charts();
		});
		for (const [id, key] of [["size", "size"], ["unit", "unit"], ["gpu-type", "type"]])
			$(id).addEventListener("change", () => { state[key] = $(id).value; charts(); });
		picture.connect();
		$("log").addEventListener("change", charts);
		document.addEventListener("scroll", ({ target }) => target.classList?.contains("scroll") && scrolls(), true);
		document.addEventListener("click", ({ target }) => target.dataset?.save && (saving = saving.then(() => saveFigure(target)).catch((error) => trouble(error, "The picture was not saved"))));
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
			scrolls();
			draw();
		}).observe(document.body);
	}

	function begin() {
		const workloads = schedule.read(document).filter((w) => w.runs.length);

		$("main").hidden = false;
		document.documentElement.classList.toggle("no-charts", !hasCharts);
		$("lacks").hidden = hasCharts;
		connect(workloads);
		open(workloads[0]);
		for (const { textContent } of document.querySelectorAll("script.shadow"))
			showShadow(JSON.parse(textContent), instant);
		scrolls();
		told.dark = matchMedia("(prefers-color-scheme: dark)").matches;
		told.ready = "true";
	}

	function trouble(error, what = "This page cannot be shown") {
		$("trouble").hidden = false;
		$("trouble").textContent = `${what}: ${error.message}`;
		throw error;
	}

	try {
		begin();
	} catch (error) {
		trouble(error);
	}
})();
