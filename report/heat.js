/* SPDX-License-Identifier: MIT */
/*
 * heat.js - mean waits as a map: by hour and weekday of submission, or by cores and runtime.
 *
 * makeHeat() takes the page's state, whether the workload has dates, and how a run is marked.
 * A map is SVG, a cell of it a rectangle in the colours that waits have in the schedule.
 */
"use strict";

function makeHeat({ state, dated, swatch }) {
	const { number, duration, element } = words;
	const $ = (id) => document.getElementById(id);
	const NS = "http://www.w3.org/2000/svg";
	const DAYS = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];
	const LENGTHS = [0, 60, 600, 3600, 4 * 3600, 12 * 3600, 86400];
	const LENGTH_WORDS = ["< 1 min", "< 10 min", "< 1 h", "< 4 h", "< 12 h", "< 1 d", "1 d +"];
	const HEIGHT = 24, LEFT = 92, BELOW = 26, GAP = 2, WIDE = 720;

	/* { rows, columns: their words, label: what is written below, of(job): [row, column] } */
	function byHour(w) {
		const two = (h) => String(h).padStart(2, "0");

		return {
			rows: DAYS, columns: Array.from({ length: 24 }, (_, h) => two(h)), every: 3, rowWords: "", columnWords: "hour of submission, UTC",
			of: (run, job) => {
				const t = new Date(w.submit[job] * 1000);

				return [(t.getUTCDay() + 6) % 7, t.getUTCHours()];
			},
		};
	}

	function bySize(w) {
		const bins = gantt.binsOf(w);

		return {
			rows: gantt.binWords(bins).map((words) => words.replace(" and more", " +")), columns: LENGTH_WORDS, every: 1, rowWords: "cores, ", columnWords: "runtime, down: cores",
			of: (run, job) => (run.end[job] > run.start[job] || run.held[job] ?
				[Math.max(0, series.rank(bins, run.held[job]) - 1), series.rank(LENGTHS, run.end[job] - run.start[job]) - 1] : null),
		};
	}

	/* The mean wait and the number of jobs of each cell. */
	function count(w, run, kind) {
		const cells = Array.from({ length: kind.rows.length * kind.columns.length }, () => ({ jobs: 0, wait: 0 }));
		const from = w.from_s ?? -Infinity;

		run.began.forEach((start, job) => {
			const at = start >= from ? kind.of(run, job) : null;

			if (!at)
				return;
			const cell = cells[at[0] * kind.columns.length + at[1]];

			cell.jobs++;
			cell.wait += start - w.submit[job];
		});
		return cells;
	}

	function shape(name, attributes, ...children) {
		const e = document.createElementNS(NS, name);

		for (const [key, value] of Object.entries(attributes))
			e.setAttribute(key, value);
		e.append(...children);
		return e;
	}

	/* The worst cell is said where a map cannot be seen. */
	function draw(run, kind, cells) {
		const across = kind.columns.length, width = (WIDE - LEFT) / across, all = kind.rows.length * HEIGHT + BELOW;
		const mean = (cell) => cell.wait / cell.jobs;
		const says = (i) => `${kind.rowWords}${kind.rows[Math.floor(i / across)]}, ${kind.columns[i % across]}: ` +
			(cells[i].jobs ? `mean wait ${duration(Math.round(mean(cells[i])))}, ${number(cells[i].jobs)} job${cells[i].jobs === 1 ? "" : "s"}` : "no jobs");
		const worst = cells.reduce((a, c, i) => (c.jobs && (a < 0 || mean(c) > mean(cells[a])) ? i : a), -1);
		const svg = shape("svg", { viewBox: `0 0 ${WIDE} ${all}`, role: "img", class: "heat",
			"aria-label": `Mean waits under ${run.label}. ${worst < 0 ? "No jobs." : `The longest: ${says(worst)}.`}` });

		cells.forEach((cell, i) => {
			const x = LEFT + i % across * width, y = Math.floor(i / across) * HEIGHT;
			const colour = cell.jobs ? `--low${series.rank(gantt.WAITS, mean(cell))}` : "--idle";

			svg.append(shape("rect", { x: x.toFixed(1), y, width: (width - GAP).toFixed(1), height: HEIGHT - GAP, rx: 2, "data-cell": says(i),
				style: `fill: var(${colour})` }));
		});
		const text = (x, y, anchor, words) => svg.append(shape("text", { x, y, "text-anchor": anchor, "font-size": 14,
			style: "fill: var(--soft)" }, words));

		kind.rows.forEach((words, i) => text(LEFT - 8, i * HEIGHT + HEIGHT / 2 + 4, "end", words));
		kind.columns.forEach((words, i) => {
			if (i % kind.every === 0)
				text((LEFT + (i + (across > 12 ? 0 : .5)) * width).toFixed(1), all - 9, across > 12 ? "start" : "middle", words);
		});
		return svg;
	}

	function show() {
		const w = state.workload, kind = ($("heat-by").value === "hour" ? byHour : bySize)(w);

		$("heats").replaceChildren(...state.shown.map((run) => element("figure", {},
			element("figcaption", {}, swatch(run), ` ${run.label}`), draw(run, kind, count(w, run, kind)))));
		$("heat-what").textContent = kind.columnWords;
		$("heat-says").textContent = "";
	}

	/* What of a workload can be shown: hours are known of dates only. */
	function open() {
		const hour = $("heat-by").querySelector("[value=hour]");

		hour.disabled = hour.hidden = !dated();
		$("heat-by").value = dated() && state.workload.now - state.workload.first > 3 * 86400 ? "hour" : "size";
		$("heat-key").replaceChildren(element("li", {}, "Mean wait"), ...gantt.WAIT_WORDS.map((words, i) =>
			element("li", {}, element("i", { style: `background: var(--low${i})` }), words)));
	}

	$("heat-by").addEventListener("change", show);
	$("heats").addEventListener("pointerover", ({ target }) => {
		if (target.dataset?.cell)
			$("heat-says").textContent = target.dataset.cell;
	});
	return { open, show };
}
