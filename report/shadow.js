/* SPDX-License-Identifier: MIT */
/*
 * shadow.js - the section on shadow mode: Slurm's own scheduler decided, the policies looked on.
 *
 * showShadow() takes what `schedlua shadow report --json` prints, with the jobs that differ most
 * first, and how the page writes an instant.
 */
"use strict";

function showShadow(report, instant) {
	const { number, percent, duration, element } = words;
	const $ = (id) => document.getElementById(id);
	const cell = (text) => element("td", {}, text), count = (text) => element("td", { class: "figure" }, text);

	/* A row has its title first; the columns from the second on that hold figures are aligned as such. */
	function table(id, head, rows, figures) {
		$(id).parentElement.hidden = !rows.length;
		$(id).replaceChildren(element("thead", {}, element("tr", {}, ...head.map((text, i) =>
			element("th", figures.includes(i) ? { scope: "col", class: "figure" } : { scope: "col" }, text)))),
		element("tbody", {}, ...rows.map(([title, ...rest]) => element("tr", {}, element("th", { scope: "row" }, title),
			...rest.map((text, i) => (figures.includes(i + 1) ? count(text) : cell(text)))))));
	}

	function difference({ verdict, difference_s: by }) {
		if (verdict === "refused" || by === undefined)
			return verdict;
		return `${duration(Math.abs(by))} ${by < 0 ? "earlier" : "later"}`;
	}

	const known = (verdict) => report.per_job.filter((job) => job.verdict === verdict && job.difference_s !== undefined);

	/* Of all jobs, or of the page's, which are those that differ most: the longest is among them. */
	function longest(verdict) {
		const most = Math.max(...known(verdict).map((job) => Math.abs(job.difference_s)));

		return isFinite(most) ? `by ${duration(most)} at most` : "";
	}

	$("shadow").hidden = false;
	$("shadow-what").textContent = `sched/${report.scheduler || "?"} decided, ${report.policies || "the policies"} looked on, ` +
		`from ${instant(report.from)} to ${instant(report.to)}. Each decision was made on what Slurm's had left: had the policies ` +
		"started a job earlier, what followed would have been another week. So the differences do not add up; " +
		"schedlua shadow report --replay simulates it.";
	table("shadow-figures", ["", "Slurm", "The policies", ""], [
		["Jobs started", number(report.jobs), "", ""],
		["the same", "", number(report.same), ""],
		["earlier", "", number(report.earlier), longest("earlier")],
		["kept waiting", "", number(report.later), longest("later")],
		["refused", "", number(report.refused), ""],
		["Wait, mean", duration(report.wait_mean_s), duration(report.planned_wait_mean_s), ""],
		["Utilization", percent(report.utilization), percent(report.planned_utilization), "with what they would have started at once"],
		...(report.stops ? [["Jobs they would have stopped", "", number(report.stops), `for ${number(report.stopped_for)} others, at a cost of ` +
			number(report.stop_cost, 1)]] : []),
		["Decisions", "", number(report.decisions),
			`${number(report.decide_mean_us / 1000, 1)} ms on average, ${number(report.decide_max_us / 1000, 1)} ms at most`],
		["Decisions that failed", "", number(report.failures), ""],
		["Ends of the engine", "", number(report.engine_ends), `slurmctld began ${number(report.begins)} times`],
	], [1, 2]);
	table("shadow-failed", ["What failed", "Times", "Last"],
		report.failed.map(({ text, times, last }) => [text, number(times), instant(last)]), [1]);
	table("shadow-users", ["User", "Jobs", "Wait, mean", "The policies'"], report.users.slice(0, 25).map((user) =>
		[user.user, number(user.jobs), duration(user.wait_mean_s), duration(user.planned_wait_mean_s)]), [1, 2, 3]);
	const later = (time, since) => (time ? `${duration(Math.max(0, time - since))} later` : "not yet");

	table("shadow-stops", ["Would stop", "User", "For job", "At", "Cost", "It ended", "The other began"], (report.would_stop ?? []).map((stop) =>
		[`${stop.job}`, stop.user, `${stop.preemptor}`, instant(stop.time), number(stop.cost, 2), later(stop.end, stop.time),
			later(stop.preemptor_start, stop.time)]), [4]);
	table("shadow-jobs", ["Job", "User", "Partition", "Submitted", "Slurm's start", "The policies'", "Difference", "Why"],
		report.per_job.filter(({ verdict }) => verdict !== "same").map((job) => [`${job.job}`, job.user, job.partition,
			instant(job.submit_time), instant(job.start), job.planned_start ? instant(job.planned_start) : "–", difference(job), job.text ?? ""]), []);
}
