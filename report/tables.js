/* SPDX-License-Identifier: MIT */
/*
 * tables.js - the tables of the page, and the same as CSV.
 *
 * makeTables() takes the page's state (which workload, which runs are shown, beside which one),
 * how it marks a run and how it writes an instant.
 */
"use strict";

function makeTables({ state, swatch, instant }) {
	const { number, figure, percent, duration, average, element } = words;
	const $ = (id) => document.getElementById(id);

	const hours = (s) => figure(s / 3600);

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
		["gpus_busy", "GPUs in use", percent, 1, "sum of GPUs held × time / (GPUs × time), over the time shown"],
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
		["Jobs that were stopped for others"],
		["stops", "Stops", number, -1, "runs that were ended for other jobs"],
		["stops_cancelled", "Stops, cancelled", number, -1, "those of them that were not requeued"],
		["stops_suspended", "Stops, suspended", number, -1, "those that went on later where they were"],
		["lost_core_s", "Core-hours lost", hours, -1, "cores × time of work that is to be done again"],
		["lost_gpu_s", "GPU-hours lost", hours, -1, "the same of GPUs"],
		["lost_core_share", "Work lost", percent, -1, "the core-hours lost / those that jobs held"],
		["lost_gpu_share", "Work of GPUs lost", percent, -1, "the GPU-hours lost / those that jobs held"],
		["holds_failed", "Places held in vain", number, -1, "places that were held for jobs that did not start there"],
		["preemptor_wait_mean_s", "Wait of preemptors, mean", duration, -1, "of jobs that may have others stopped: first start − submission"],
		["preemptor_wait_p99_s", "Wait of preemptors, 99th percentile", duration, -1, "99 % of them waited no longer (nearest rank)"],
	];

	function headRow(first, runs, last) {
		return element("thead", {}, element("tr", {}, element("th", { scope: "col" }, first),
			...runs.map((run) => element("th", { scope: "col", class: "figure" }, run.label)),
			...(last ? [element("th", { scope: "col" }, last)] : [])));
	}

	/* Those that are looked at first, a policy a row. */
	const FIRST = ["busy", "gpus_busy", "utilization", "gpu_utilization", "wait_mean_s", "wait_median_s", "wait_p99_s", "wait_max_s", "bsld_mean", "jobs", "started",
		"stops", "lost_core_s", "lost_gpu_s"];
	const ONLY_IF_ANY = /^(gpu|stops|lost_)/;

	/* Which of several values is the best, read as it is shown; -1: none by itself. */
	function bestOf(values, format, better) {
		const known = values.filter((v) => typeof v === "number"), best = better > 0 ? Math.max(...known) : Math.min(...known);

		return better && known.length > 1 && known.filter((v) => format(v) === format(best)).length === 1 ? values.indexOf(best) : -1;
	}

	function figureTable(w) {
		const columns = FIRST.map((key) => METRICS.find((metric) => metric[0] === key))
			.filter(([key]) => w.runs.some(({ result }) => typeof result[key] === "number" && (result[key] || !ONLY_IF_ANY.test(key))))
			.map(([key, title, format, better, means]) => {
				const values = w.runs.map((run) => run.result[key]);

				return { title, format, means, better, values, best: bestOf(values, format, better) };
			});

		$("figures").replaceChildren(element("thead", {}, element("tr", {}, element("th", { scope: "col" }, w.until_s ? "Cluster" : "Policy"),
			...columns.map(({ title, means }) => element("th", { scope: "col", class: "figure", title: means }, title)))),
		element("tbody", {}, ...w.runs.map((run, row) => element("tr", {}, element("th", { scope: "row" }, swatch(run), ` ${run.label.replaceAll(",", ",\u200b")}`),
			...columns.map(({ values, format, best, better }) =>
				element("td", { class: row === best ? "figure best" : "figure" }, ...withDifference(values, row, format, better)))))));
	}

	const SILENT = new Set(["unfinished", "killed", "cycles", "stops_cancelled", "stops_suspended", "lost_gpu_s", "lost_gpu_share", "holds_failed"]);	/* where they are 0 */

	function metricRow([key, title, format, better, means], runs) {
		const values = runs.map((run) => run.result[key]);
		const known = values.filter((v) => typeof v === "number");

		if (!known.length || (SILENT.has(key) && !known.some((v) => v)))
			return [];
		const best = bestOf(values, format, better);

		return [element("tr", {}, element("th", { scope: "row" }, title),
			...values.map((v, i) => element("td", { class: i === best ? "figure best" : "figure", "data-key": key },
				...(typeof v === "number" ? withDifference(values, i, format, better) : ["–"]))),
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

	/* -- beside a baseline ---------------------------------------------------- */

	/* A value's difference to the baseline's: shares in points, others in percent of it; "" where both read the same. */
	function difference(value, base, format, better) {
		if (typeof value !== "number" || typeof base !== "number" || isNaN(value) || isNaN(base) || format(value) === format(base))
			return "";
		const sign = value > base ? "+" : "−", kind = better * (value - base);
		const by = format === percent ? `${number(100 * Math.abs(value - base), 1)} points` :
			base ? `${number(Math.abs(100 * (value - base) / base), Math.abs(value / base - 1) < .1 ? 1 : 0)} %` : format(Math.abs(value - base));

		return element("small", { class: `difference ${kind > 0 ? "better" : kind < 0 ? "worse" : ""}` }, `${sign}${by}`);
	}

	/* A cell's text, and under it the difference to the baseline. */
	const withDifference = (values, i, format, better) => (state.baseline < 0 || state.baseline === i || !better ? [format(values[i])] :
		[format(values[i]), difference(values[i], values[state.baseline], format, better)]);

	/* Job by job: what the same jobs waited under a run and under the baseline. */
	function pairedTable(w) {
		const base = w.runs[state.baseline];

		$("paired").parentElement.hidden = $("paired-what").hidden = !base;
		if (!base)
			return;
		$("paired-what").textContent = `The same jobs under each policy and under ${base.label}: how much longer they waited (less than 0: shorter).`;
		const signed = (v) => (isNaN(v) ? "–" : v < 0 ? `−${duration(-Math.round(v))}` : duration(Math.round(v)));
		const head = ["Jobs", "waited less", "the same", "longer", "mean difference", "10 %", "half", "90 %"];

		$("paired").replaceChildren(element("thead", {}, element("tr", {}, element("th", { scope: "col" }, "Policy"),
			...head.map((text) => element("th", { scope: "col", class: "figure" }, text)))),
		element("tbody", {}, ...w.runs.filter((run) => run !== base).map((run) => {
			const by = run.began.map((start, job) => start - base.began[job]).filter((v) => !isNaN(v)).sort();
			const less = series.rank(by, -1), more = by.length - series.rank(by, 0);
			const share = (n) => `${percent(n / by.length)}`;

			return element("tr", {}, element("th", { scope: "row" }, swatch(run), ` ${run.label}`), ...[number(by.length), share(less),
				share(by.length - less - more), share(more), signed(average(by)), ...[.1, .5, .9].map((q) => signed(series.quantile(by, q)))]
				.map((text) => element("td", { class: "figure" }, text)));
		})));
	}

	/* -- runs that were stopped for other jobs --------------------------------- */

	const STOPS_SHOWN = 100;
	const HOW = { requeue: "requeued", cancel: "cancelled", suspend: "suspended", expedite: "requeued, first in line" };

	/* Hours lost to a stop: those of GPUs if it had any. */
	const lostHours = (stop) => (stop.gpus || stop.cores) * stop.lost / 3600;
	const lostWords = (stop) => (stop.lost ? `${figure(lostHours(stop))} ${stop.gpus ? "GPU" : "core"}-hours lost` : "nothing lost");

	/* "stopped for job 12 (requeued), 0.4 GPU-hours lost" */
	function stopWords(stop) {
		const who = stop.other < 0 ? "stopped" : `stopped for job ${state.workload.id[stop.other]}`;

		return `${who} (${HOW[stop.mode] ?? stop.mode}), ${lostWords(stop)}`;
	}

	function stopRow(w, run, stop) {
		const cells = [w.users[w.user[stop.job]] || "–", stop.other < 0 ? "–" : `${w.id[stop.other]}`, instant(stop.start), instant(stop.told),
			HOW[stop.mode] ?? stop.mode];

		return element("tr", {}, element("th", { scope: "row" }, `${w.id[stop.job]}`),
			...(w.runs.length > 1 ? [element("td", {}, swatch(run), ` ${run.label}`)] : []), ...cells.map((text) => element("td", {}, text)),
			...[duration(stop.lost), lostWords(stop)].map((text) => element("td", { class: "figure" }, text)),
			element("td", {}, stop.verdict || "–"));
	}

	/* Those that lost the most first; nothing where nobody was stopped. */
	function stopTable(w) {
		const all = w.runs.flatMap((run) => run.stops.map((stop) => [run, stop]));
		const most = all.sort(([, a], [, b]) => b.cores * b.lost - a.cores * a.lost || a.told - b.told || a.job - b.job).slice(0, STOPS_SHOWN);
		const sum = (units) => all.reduce((total, [, stop]) => total + stop[units] * stop.lost / 3600, 0);
		const head = ["Job", ...(w.runs.length > 1 ? ["Policy"] : []), "User", "For job", "Began", "Stopped", "How", "Time lost", "Work lost", "The set was"];

		$("stopped").hidden = !all.length;
		$("stopped-what").textContent = `${number(all.length)} run${all.length === 1 ? " was" : "s were"} ended for other jobs: ` +
			`${figure(sum("cores"))} core-hours${w.usesGpus ? ` and ${figure(sum("gpus"))} GPU-hours` : ""} of work are to be done again. ` +
			(all.length > most.length ? `The ${most.length} that lost the most:` : "");
		$("stops").replaceChildren(element("thead", {}, element("tr", {}, ...head.map((text) => element("th", { scope: "col" }, text)))),
			element("tbody", {}, ...most.map(([run, stop]) => stopRow(w, run, stop))));
	}

	/* -- CSV ------------------------------------------------------------------ */

	/* What a spreadsheet would take for a formula is text. */
	const cell = (v) => (typeof v === "number" ? (isFinite(v) ? `${v}` : "") :
		`"${String(v ?? "").replace(/^[=+@\t\r-]/, "'$&").replaceAll("\"", "\"\"")}"`);

	const CSV = {
		metrics: (w) => [["policy", ...METRICS.filter((metric) => metric.length > 1).map(([key]) => key)],
			...w.runs.map((run) => [run.label, ...METRICS.filter((metric) => metric.length > 1).map(([key]) => run.result[key] ?? NaN)])],
		jobs: (w) => [["policy", "job", "user", "partition", "submit_s", "start_s", "end_s", "cores", "gpus", "nodes", "overtaken_by", "first_start_s", "stops"],
			...w.runs.flatMap((run) => [...w.submit.keys()].map((job) => [run.label, w.id[job], w.users[w.user[job]],
				w.partitions[w.partition[job]], w.submit[job], run.start[job], run.end[job], run.held[job], run.gpus[job],
				run.count.subarray(run.first[job], run.first[job + 1]).reduce((a, b) => a + b, 0), run.overtaken[job],
				run.began[job], run.stopCount[job]]))],
	};

	function download(what) {
		const text = CSV[what](state.workload).map((row) => row.map(cell).join(",")).join("\r\n");

		save.offer(new Blob([text, "\r\n"], { type: "text/csv" }), `${state.workload.name.replace(/[^\w.-]+/g, "_")}-${what}.csv`);
	}

	return { figureTable, metricTable, quantileTable, pairedTable, stopTable, stopWords, difference, download };
}
