/* SPDX-License-Identifier: MIT */
/*
 * whose.js - whose jobs waited: by user and by partition, sortable, with the spread; and who
 * was overtaken.
 *
 * makeWhose() takes the page's state, and how it writes an instant and a difference.
 */
"use strict";

function makeWhose({ state, instant, difference }) {
	const { number, figure, duration, average, element } = words;
	const $ = (id) => document.getElementById(id);
	const NS = "http://www.w3.org/2000/svg";
	const GROUPS = 25;	/* rows of a table, at first */
	const order = new Map();	/* table -> { column, down, all } */

	/* What became of the jobs of each group under a run. */
	function groupStats(w, run, groupOf, groups) {
		const stats = Array.from({ length: groups }, () => ({ waits: [], core_s: 0, gpu_s: 0, overtaken: 0, waiting: 0 }));

		w.submit.forEach((submit, job) => {
			const s = stats[groupOf[job]], start = run.start[job];

			if (isNaN(start)) {
				s.waiting++;
			} else {
				const spent = Math.max(0, Math.min(run.end[job], w.now) - Math.max(start, w.first));

				s.core_s += run.held[job] * spent;
				s.gpu_s += run.gpus[job] * spent;
				if (start < w.first)
					return;
				s.waits.push(run.began[job] - submit);
			}
			s.overtaken += run.overtaken[job] > 0;
		});
		for (const s of stats) {
			s.waits.sort((a, b) => a - b);
			s.mean = average(s.waits);
			[s.tenth, s.half, s.most] = [.1, .5, .9].map((share) => series.quantile(s.waits, share));
		}
		return stats;
	}

	/* From the wait that a tenth has not exceeded to the one that nine tenths have not, a mark at the half; in
	 * logarithmic scale, the same for all rows. */
	function spread(s, longest) {
		const WIDE = 110, at = (v) => 4 + (WIDE - 8) * Math.log1p(v) / Math.log1p(Math.max(longest, 1));
		const line = (x, to, y, more, width) => `<path d="M${at(x).toFixed(1)} ${y}H${Math.max(at(to), at(x) + 1).toFixed(1)}" stroke="currentColor" stroke-width="${width}" ${more}/>`;
		const svg = document.createElementNS(NS, "svg"), says = `a tenth within ${duration(s.tenth)}, half ${duration(s.half)}, nine tenths ${duration(s.most)}`;

		for (const [key, value] of Object.entries({ viewBox: `0 0 ${WIDE} 14`, class: "spread", role: "img", "aria-label": says }))
			svg.setAttribute(key, value);
		svg.innerHTML = `<title>${says}</title>${line(0, longest, 7, "opacity='.18'", 1)}${line(s.tenth, s.most, 7, "opacity='.55'", 5)}` +
			`<path d="M${at(s.half).toFixed(1)} 1v12" stroke="currentColor" stroke-width="2"/>`;
		return svg;
	}

	/* title, value to sort by, what is shown; figures that are not there are last */
	const MEAN = ["Wait, mean", (s) => s.mean, duration];
	const SPREAD = ["Spread", (s) => s.most, (v, s, longest) => (s.waits.length ? spread(s, longest) : "–")];

	function columnsOf(w) {
		const base = state.baseline;

		if (w.runs.length > 1)
			return w.runs.flatMap((run, i) => [[MEAN, SPREAD].map(([title, value, show], k) => ({
				title: k ? "Spread" : `Wait, mean: ${run.label}`, plain: k > 0, value: (g) => value(g.stats[i]),
				show: (v, g, longest) => (k || base < 0 || base === i ? [show(v, g.stats[i], longest)] :
					[show(v), difference(v, value(g.stats[base]), duration, -1)]),
			}))]).flat();
		return [
			["Started", (s) => s.waits.length, number], ["Core-hours", (s) => s.core_s / 3600, figure],
			...(w.gpus ? [["GPU-hours", (s) => s.gpu_s / 3600, figure]] : []),
			MEAN, ["half within", (s) => s.half, duration], ["90 % within", (s) => s.most, duration], SPREAD,
			["longest", (s) => s.waits.at(-1), duration], ["Waiting", (s) => s.waiting, number],
			...(w.only ? [] : [["Overtaken", (s) => s.overtaken, number]]),
		].map(([title, value, show]) => ({ title, plain: show === SPREAD[2], value: (g) => value(g.stats[0]),
			show: (v, g, longest) => [show === SPREAD[2] ? show(v, g.stats[0], longest) : show(v)] }));
	}

	function sorted(groups, columns, { column, down }) {
		const value = column < 0 ? null : columns[column]?.value;

		if (!value)
			return groups;
		const key = (g) => { const v = value(g); return v === undefined || isNaN(v) ? (down ? -Infinity : Infinity) : v; };

		return [...groups].sort((a, b) => (down ? key(b) - key(a) : key(a) - key(b)) || a.row - b.row);
	}

	function heading(words, figures, at, by, choose) {
		const button = element("button", { type: "button", class: "sort" }, words);
		const sort = by.column === at && (at >= 0 || !by.down) ? (by.down ? "descending" : "ascending") : undefined;

		button.addEventListener("click", () => choose(at));
		return element("th", { scope: "col", class: figures ? "figure" : undefined, "aria-sort": sort }, button);
	}

	function fill(id, title, groups, columns, longest) {
		const by = order.get(id) ?? { column: -1, down: true, all: false }, again = (change) => {
			order.set(id, { ...by, ...change });
			fill(id, title, groups, columns, longest);
			$(id).querySelectorAll("th button")[(change.column ?? -2) + 1]?.focus();
		};
		const choose = (column) => again({ column, down: by.column === column ? !by.down : column >= 0 });
		const rows = sorted(by.column < 0 && by.down === false ? [...groups].sort((a, b) => (a.name < b.name ? -1 : 1)) : groups, columns, by);
		const more = element("button", { type: "button" }, `All ${number(rows.length)}`);

		more.addEventListener("click", () => again({ all: true }));
		$(id).replaceChildren(...(rows.length > GROUPS && !by.all ? [element("caption", {},
			`The first ${GROUPS} of ${number(rows.length)}${by.column < 0 ? ", by core-hours" : ""}. `, more)] : []),
		element("thead", {}, element("tr", {}, heading(title, false, -1, by, choose),
			...columns.map((c, i) => heading(c.title, !c.plain, i, by, choose)))),
		element("tbody", {}, ...rows.slice(0, by.all ? rows.length : GROUPS).map((g) => element("tr", {},
			element("th", { scope: "row" }, g.name), ...columns.map((c) =>
				element("td", { class: c.plain ? undefined : "figure" }, ...c.show(c.value(g), g, longest)))))));
	}

	function groupTable(id, title, w, groupOf, names) {
		const stats = w.runs.map((run) => groupStats(w, run, groupOf, names.length));
		const groups = [...names.keys()].filter((g) => stats[0][g].waits.length || stats[0][g].waiting || stats[0][g].core_s)
			.sort((a, b) => stats[0][b].core_s - stats[0][a].core_s || a - b)
			.map((g, row) => ({ row, name: names[g] || "–", stats: stats.map((of) => of[g]) }));
		const longest = groups.reduce((most, g) => g.stats.reduce((m, s) => Math.max(m, s.most || 0), most), 0);

		order.delete(id);
		$(id).parentElement.hidden = groups.length < (w.runs.length > 1 ? 2 : 1);
		fill(id, title, groups, columnsOf(w), longest);
	}

	/* Of the first run that is ticked. */
	function overtakenTable(w) {
		const run = state.shown[0], most = [...run.overtaken.keys()].filter((job) => run.overtaken[job] && !(run.start[job] < w.first))
			.sort((a, b) => run.overtaken[b] - run.overtaken[a] || a - b).slice(0, 15);
		const wait = (job) => (isNaN(run.start[job]) ? `${duration(w.now - w.submit[job])}, waits still` : duration(run.began[job] - w.submit[job]));
		const head = ["Job", "Overtaken by", "Waited", "User", "Partition", "Cores", "Submitted"];

		$("under").textContent = w.runs.length > 1 ? `, under ${run.label}` : "";
		$("overtaken").replaceChildren(element("thead", {}, element("tr", {}, ...head.map((words) => element("th", { scope: "col" }, words)))),
			element("tbody", {}, ...(most.length ? most : [-1]).map((job) => element("tr", {}, ...(job < 0 ? [element("th", { scope: "row" }, "none")] :
				[element("th", { scope: "row" }, `${w.id[job]}`),
					...[`${number(run.overtaken[job])} job${run.overtaken[job] === 1 ? "" : "s"}`, wait(job), w.users[w.user[job]],
						w.partitions[w.partition[job]], run.held[job] ? number(run.held[job]) : "–", instant(w.submit[job])]
						.map((words) => element("td", {}, words))])))));
	}

	return { groupTable, overtakenTable };
}
