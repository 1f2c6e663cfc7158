/* SPDX-License-Identifier: MIT */
/*
 * tables.js - the tables of the page, and the same as CSV.
 *
 * makeTables() takes the page's state (which workload, which runs are shown), and how it
 * writes an instant and marks a run.
 */
"use strict";

function makeTables({ state, instant, swatch }) {
	const { number, figure, percent, duration, average, element } = words;
	const $ = (id) => document.getElementById(id);

	/* key, title, format, which is better (-1 less, 1 more), definition */
	const METRICS = [
		["The run"],
		["jobs", "Jobs", number, 0, "jobs that ended"],
		["unfinished", "Unfinished", number, 0, "jobs that had not ended when the run was stopped"],
		["killed", "Killed", number, 0, "jobs ended at their walltime"],
		["cycles", "Cycles", number, 0, "passes of the policy"],
		["started", "Started", number, 0, "jobs that started in the time shown"],
		["The machine"],
		["makespan_s", "Makespan", duration, -1, "last end − first submission"],
		["makespan_bound_s", "Makespan, bound", duration, 0, "no schedule of this workload on this machine is shorter"],
		["busy", "Cores in use", percent, 1, "sum of cores held × time / (cores × time), over the time shown"],
		["utilization", "Utilization", percent, 1, "sum of cores asked for × runtime / (cores × makespan)"],
		["held_utilization", "Utilization, held", percent, 1, "the same, with the cores that jobs held"],
		["utilization_bound", "Utilization, bound", percent, 0, "utilization if the makespan were its bound"],
		["gpu_utilization", "GPU utilization", percent, 1, "sum of GPUs held × runtime / (GPUs × makespan)"],
		["Waiting"],
		["wait_mean_s", "Wait, mean", duration, -1, "start − submission"],
		["wait_sd_s", "Wait, standard deviation", duration, -1, "over all jobs (divided by n)"],
		["wait_median_s", "Wait, median", duration, -1, "half of the jobs waited no longer"],
		["wait_p99_s", "Wait, 99th percentile", duration, -1, "99 % of the jobs waited no longer (nearest rank)"],
		["wait_max_s", "Wait, longest", duration, -1, "of any job: starvation shows here"],
		["slowdown_mean", "Slowdown, mean", figure, -1, "(wait + runtime) / runtime"],
		["slowdown_sd", "Slowdown, standard deviation", figure, -1, "over all jobs"],
		["bsld_mean", "Bounded slowdown, mean", figure, -1, "max(1, (wait + runtime) / max(runtime, 10 s))"],
		["bsld_sd", "Bounded slowdown, standard deviation", figure, -1, "over all jobs"],
		["Fairness"],
		["users", "Users", number, 0, "that have jobs among those that ended"],
		["user_wait_mean_s", "Wait, mean over users", duration, -1, "of each user's mean wait"],
		["user_wait_gini", "Gini of users' waits", figure, -1, "of those means: 0 when all are equal, 1 when one user does all the waiting"],
		["first_job_wait_mean_s", "Wait of the first job", duration, -1, "mean over users of the wait of the first job that each submitted"],
		["Placement"],
		["fragmentation_mean", "Fragmentation, mean", figure, -1, "blocks of consecutive nodes that a job has"],
		["spread_mean", "Spread, mean", figure, -1, "(last node − first node + 1) / nodes"],
		["packing_mean", "Packing, mean", figure, -1, "nodes / fewest nodes that could hold the job on the empty machine"],
	];

	function headRow(first, runs, last) {
		return element("thead", {}, element("tr", {}, element("th", { scope: "col" }, first),
			...runs.map((run) => element("th", { scope: "col", class: "figure" }, run.label)),
			...(last ? [element("th", { scope: "col" }, last)] : [])));
	}

	/* Those that are looked at first, a policy a row. */
	const FIRST = ["busy", "utilization", "wait_mean_s", "wait_median_s", "wait_p99_s", "wait_max_s", "bsld_mean", "jobs", "started"];

	/* Which of several values is the best, read as it is shown; -1: none by itself. */
	function bestOf(values, format, better) {
		const known = values.filter((v) => typeof v === "number"), best = better > 0 ? Math.max(...known) : Math.min(...known);

		return better && known.length > 1 && known.filter((v) => format(v) === format(best)).length === 1 ? values.indexOf(best) : -1;
	}

	function figureTable(w) {
		const columns = FIRST.map((key) => METRICS.find((metric) => metric[0] === key))
			.filter(([key]) => w.runs.some((run) => typeof run.result[key] === "number"))
			.map(([key, title, format, better, means]) => {
				const values = w.runs.map((run) => run.result[key]);

				return { title, format, means, values, best: bestOf(values, format, better) };
			});

		$("figures").replaceChildren(element("thead", {}, element("tr", {}, element("th", { scope: "col" }, w.until_s ? "Cluster" : "Policy"),
			...columns.map(({ title, means }) => element("th", { scope: "col", class: "figure", title: means }, title)))),
		element("tbody", {}, ...w.runs.map((run, row) => element("tr", {}, element("th", { scope: "row" }, swatch(run), ` ${run.label.replaceAll(",", ",\u200b")}`),
			...columns.map(({ values, format, best }) =>
				element("td", { class: row === best ? "figure best" : "figure" }, format(values[row])))))));
	}

	const SILENT = new Set(["unfinished", "killed", "cycles"]);	/* where they are 0 */

	function metricRow([key, title, format, better, means], runs) {
		const values = runs.map((run) => run.result[key]);
		const known = values.filter((v) => typeof v === "number");

		if (!known.length || (SILENT.has(key) && !known.some((v) => v)))
			return [];
		const best = bestOf(values, format, better);

		return [element("tr", {}, element("th", { scope: "row" }, title),
			...values.map((v, i) => element("td", { class: i === best ? "figure best" : "figure", "data-key": key },
				typeof v === "number" ? format(v) : "–")),
			element("td", { class: "means" }, means))];
	}

	function metricTable(w) {
		const rows = METRICS.flatMap((metric) => (metric.length > 1 ? metricRow(metric, w.runs) :
			[element("tr", { class: "group" }, element("th", { scope: "colgroup", colspan: w.runs.length + 2 }, metric[0]))]))
			.filter((row, i, all) => row.className !== "group" || (all[i + 1] ?? row).className !== "group");
		const partial = w.runs.filter((run) => run.result.partial).map((run) => run.label);

		$("metrics").replaceChildren(element("caption", { class: "skip" }, "Metrics by policy"),
			headRow("Metric", w.runs, "Definition"), element("tbody", {}, ...rows));
		$("better").textContent = (w.runs.length > 1 ? "✓ marks the one that is best in a row. " : "") + (partial.length ?
			`Partial: the run was stopped (${partial.join(", ")}); the figures are those of the jobs that had ended.` : "");
	}

	function quantileTable(w) {
		const shares = [[.5, "half of the jobs"], [.75, "75 %"], [.9, "90 %"], [.95, "95 %"], [.99, "99 %"], [1, "all jobs"]];
		const none = element("tr", {}, element("th", { scope: "row" }, "no wait at all"), ...w.runs.map((run) =>
			element("td", { class: "figure" }, percent(series.rank(run.waits, 0) / run.waits.length))));

		$("quantiles").replaceChildren(headRow("Waited no longer than", w.runs), element("tbody", {}, none,
			...shares.map(([share, words]) => element("tr", {}, element("th", { scope: "row" }, words),
				...w.runs.map((run) => element("td", { class: "figure" }, duration(series.quantile(run.waits, share))))))));
	}

	/* -- whose wait ----------------------------------------------------------- */

	const GROUPS = 25;	/* rows of a table */

	/* What became of the jobs of each group under a run. */
	function groupStats(w, run, groupOf, groups) {
		const stats = Array.from({ length: groups }, () => ({ waits: [], core_s: 0, overtaken: 0, waiting: 0 }));

		w.submit.forEach((submit, job) => {
			const s = stats[groupOf[job]], start = run.start[job];

			if (isNaN(start)) {
				s.waiting++;
			} else {
				s.core_s += run.held[job] * Math.max(0, Math.min(run.end[job], w.last) - Math.max(start, w.first));
				if (start < w.first)
					return;
				s.waits.push(start - submit);
			}
			s.overtaken += run.overtaken[job] > 0;
		});
		stats.forEach((s) => s.waits.sort((a, b) => a - b));
		return stats;
	}

	const OF_A_RUN = [
		["Started", (s) => number(s.waits.length)], ["Core-hours", (s) => figure(s.core_s / 3600)],
		["Wait, mean", (s) => duration(average(s.waits))], ["half within", (s) => duration(series.quantile(s.waits, .5))],
		["90 % within", (s) => duration(series.quantile(s.waits, .9))], ["longest", (s) => duration(s.waits.at(-1))],
		["Waiting", (s) => number(s.waiting)], ["Overtaken", (s) => `${number(s.overtaken)}`],
	];
	const OF_SEVERAL = [["", (s) => duration(average(s.waits))]];

	function groupTable(id, title, w, groupOf, names) {
		const several = w.runs.length > 1, columns = several ? OF_SEVERAL : OF_A_RUN;
		const stats = w.runs.map((run) => groupStats(w, run, groupOf, names.length));
		const order = [...names.keys()].filter((g) => stats[0][g].waits.length || stats[0][g].waiting || stats[0][g].core_s)
			.sort((a, b) => stats[0][b].core_s - stats[0][a].core_s || a - b);
		const rest = order.length > GROUPS ? [element("caption", {}, `The ${GROUPS} of ${number(order.length)} with the most core-hours`)] : [];

		$(id).parentElement.hidden = order.length < (several ? 2 : 1);
		$(id).replaceChildren(...rest, element("thead", {}, element("tr", {}, element("th", { scope: "col" }, title),
			...w.runs.flatMap((run) => columns.map(([words]) => element("th", { scope: "col", class: "figure" },
				several ? `Wait, mean: ${run.label}` : words))))),
		element("tbody", {}, ...order.slice(0, GROUPS).map((g) => element("tr", {}, element("th", { scope: "row" }, names[g] || "–"),
			...stats.flatMap((s) => columns.map(([, value]) => element("td", { class: "figure" }, value(s[g]))))))));
	}

	/* Of the first run that is ticked. */
	function overtakenTable(w) {
		const run = state.shown[0], most = [...run.overtaken.keys()].filter((job) => run.overtaken[job] && !(run.start[job] < w.first))
			.sort((a, b) => run.overtaken[b] - run.overtaken[a] || a - b).slice(0, 15);
		const wait = (job) => (isNaN(run.start[job]) ? `${duration(w.last - w.submit[job])}, waits still` : duration(run.start[job] - w.submit[job]));
		const head = ["Job", "Overtaken by", "Waited", "User", "Partition", "Cores", "Submitted"];

		$("under").textContent = w.runs.length > 1 ? `, under ${run.label}` : "";
		$("overtaken").replaceChildren(element("thead", {}, element("tr", {}, ...head.map((words) => element("th", { scope: "col" }, words)))),
			element("tbody", {}, ...(most.length ? most : [-1]).map((job) => element("tr", {}, ...(job < 0 ? [element("th", { scope: "row" }, "none")] :
				[element("th", { scope: "row" }, `${w.id[job]}`),
					...[`${number(run.overtaken[job])} job${run.overtaken[job] === 1 ? "" : "s"}`, wait(job), w.users[w.user[job]],
						w.partitions[w.partition[job]], run.held[job] ? number(run.held[job]) : "–", instant(w.submit[job])]
						.map((words) => element("td", {}, words))])))));
	}

	/* -- CSV ------------------------------------------------------------------ */

	/* What a spreadsheet would take for a formula is text. */
	const cell = (v) => (typeof v === "number" ? (isFinite(v) ? `${v}` : "") :
		`"${String(v ?? "").replace(/^[=+@\t\r-]/, "'$&").replaceAll("\"", "\"\"")}"`);

	const CSV = {
		metrics: (w) => [["policy", ...METRICS.filter((metric) => metric.length > 1).map(([key]) => key)],
			...w.runs.map((run) => [run.label, ...METRICS.filter((metric) => metric.length > 1).map(([key]) => run.result[key] ?? NaN)])],
		jobs: (w) => [["policy", "job", "user", "partition", "submit_s", "start_s", "end_s", "cores", "gpus", "nodes", "overtaken_by"],
			...w.runs.flatMap((run) => [...w.submit.keys()].map((job) => [run.label, w.id[job], w.users[w.user[job]],
				w.partitions[w.partition[job]], w.submit[job], run.start[job], run.end[job], run.held[job], run.gpus[job],
				run.count.subarray(run.first[job], run.first[job + 1]).reduce((a, b) => a + b, 0), run.overtaken[job]]))],
	};

	function download(what) {
		const text = CSV[what](state.workload).map((row) => row.map(cell).join(",")).join("\r\n");
		const url = URL.createObjectURL(new Blob([text, "\r\n"], { type: "text/csv" }));

		element("a", { href: url, download: `${state.workload.name.replace(/[^\w.-]+/g, "_")}-${what}.csv` }).click();
		setTimeout(() => URL.revokeObjectURL(url), 60000);
	}

	return { figureTable, metricTable, quantileTable, groupTable, overtakenTable, download };
}
