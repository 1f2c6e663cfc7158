/* SPDX-License-Identifier: MIT */
/*
 * gantt.js - the rectangles of a run: how they are coloured, painted by a chart's
 * hook, and found again under the pointer.
 */
"use strict";

const gantt = (() => {
	const USERS = 8;	/* that have a colour of their own */
	const OTHERS = ["--other0", "--other1", "--other2"];	/* in turn, so that neighbours can be told apart */
	const WAITS = [1, 60, 600, 3600, 4 * 3600, 86400];
	const WAIT_WORDS = ["none", "< 1 min", "< 10 min", "< 1 h", "< 4 h", "< 1 d", "1 d and more"];
	const SIZE_BINS = 7;

	/* The users with the most core-seconds, in that order. */
	function topUsers(workload) {
		const spent = new Float64Array(workload.users.length);

		workload.runs[0].start.forEach((start, job) => {
			if (!isNaN(start))
				spent[workload.user[job]] += (workload.runs[0].end[job] - start) * workload.runs[0].held[job];
		});
		return [...spent.keys()].sort((a, b) => spent[b] - spent[a] || a - b).slice(0, USERS);
	}

	/* Where bins of cores begin: powers of 2 as far apart as the jobs' sizes want. */
	function binsOf(workload) {
		let least = Infinity, most = 1;

		for (const run of workload.runs)
			for (const held of run.held)
				if (held) {
					least = Math.min(least, held);
					most = Math.max(most, held);
				}
		const first = Math.floor(Math.log2(Math.min(least, most))), last = Math.floor(Math.log2(most));
		const step = Math.max(1, Math.ceil((last - first + 1) / SIZE_BINS));

		return Array.from({ length: Math.floor((last - first) / step) + 1 }, (_, i) => 2 ** (first + i * step));
	}

	function binWords(bins) {
		return bins.map((from, i) => {
			const to = (bins[i + 1] || Infinity) - 1;

			return to === from ? `${from}` : to === Infinity ? `${from} and more` : `${from}–${to}`;
		});
	}

	/* { colour: css variable names, words for the first of them, of(run, job) } */
	function classes(workload, by) {
		const range = (name, n) => Array.from({ length: n }, (_, i) => `--${name}${i}`);

		if (by === "wait")
			return {
				colour: range("low", 7), words: WAIT_WORDS,
				of: (run, job) => series.rank(WAITS, run.began[job] - workload.submit[job]),
			};
		if (by === "size") {
			const bins = binsOf(workload);

			return { colour: range("low", bins.length), words: binWords(bins),
				of: (run, job) => Math.max(0, series.rank(bins, run.held[job]) - 1) };
		}

		const top = topUsers(workload), row = new Map(top.map((user, i) => [user, i]));
		const more = workload.users.length > top.length;

		return {
			colour: [...range("job", top.length), ...(more ? OTHERS : [])],
			words: [...top.map((user) => workload.users[user] || "(no user)"), ...(more ? ["others"] : [])],
			of: (run, job) => row.get(workload.user[job]) ?? top.length + job % OTHERS.length,
		};
	}

	/* The rectangles of each class in turn: { rects, ends }. */
	function sortByClass(run, kinds) {
		const kind = Uint8Array.from(run.start, (_, job) => kinds.of(run, job));
		const ends = new Uint32Array(kinds.colour.length);
		const rects = new Uint32Array(run.job.length);

		for (const job of run.job)
			ends[kind[job]]++;
		for (let i = 1; i < ends.length; i++)
			ends[i] += ends[i - 1];
		const at = Uint32Array.from(ends, (_, i) => (i ? ends[i - 1] : 0));
		run.job.forEach((job, rect) => { rects[at[kind[job]]++] = rect; });
		return { rects, ends };
	}

	/* Canvas pixels of a chart's scales. */
	function frame(u) {
		const { left, top, width, height } = u.bbox, x = u.scales.x, y = u.scales.y;

		return {
			left, top, width, height, right: left + width, bottom: top + height,
			x0: x.min, sx: width / (x.max - x.min), y0: y.min, sy: height / (y.max - y.min),
		};
	}

	/* One rectangle; jobs that are wide enough are told apart by a gap. */
	function paintRect(ctx, f, x, width, y, height) {
		const gapX = width > 4 ? 1 : 0, gapY = height > 5 ? 1 : 0;

		if (width > 2) {
			const right = Math.round(x + width);

			x = Math.round(x);
			width = right - x;
		}
		ctx.fillRect(x, y, width - gapX, Math.max(height - gapY, .5));
	}

	function paintPart(ctx, f, run, rect, x, width) {
		const low = run.low[rect], high = run.high[rect], whole = low === 0 && high === 1;
		const node = run.node[rect], count = run.count[rect];
		const y = f.top + (node - f.y0) * f.sy;

		if (y > f.bottom || y + count * f.sy < f.top)
			return 0;
		if (whole || count === 1) {
			paintRect(ctx, f, x, width, y + low * f.sy, (count - 1 + high - low) * f.sy);
		} else if (f.sy < 3) {		/* parts of nodes too low to be seen by themselves */
			ctx.globalAlpha = high - low;
			paintRect(ctx, f, x, width, y, count * f.sy);
			ctx.globalAlpha = 1;
		} else {
			for (let i = 0; i < count; i++)
				paintRect(ctx, f, x, width, y + (i + low) * f.sy, (high - low) * f.sy);
		}
		return 1;
	}

	/* Paint all rectangles that are in view; their number. */
	function paint(u, run, sorted, colours) {
		const ctx = u.ctx, f = frame(u);
		let painted = 0;

		ctx.save();
		ctx.beginPath();
		ctx.rect(f.left, f.top, f.width, f.height);
		ctx.clip();
		sorted.ends.forEach((end, kind) => {
			ctx.fillStyle = colours[kind];
			for (let i = kind ? sorted.ends[kind - 1] : 0; i < end; i++) {
				const rect = sorted.rects[i], job = run.job[rect];
				const x = f.left + (run.start[job] - f.x0) * f.sx, width = (run.end[job] - run.start[job]) * f.sx;

				if (x < f.right && x + width > f.left)
					painted += paintPart(ctx, f, run, rect, x, width);
			}
		});
		ctx.restore();
		return painted;
	}

	/* A bar where a job ended. */
	function paintEnd(u, run, job, bar) {
		const ctx = u.ctx, f = frame(u), px = devicePixelRatio, x = f.left + (run.end[job] - f.x0) * f.sx;

		if (x < f.left || x > f.right)
			return;
		ctx.save();
		ctx.beginPath();
		ctx.rect(f.left, f.top, f.width, f.height);
		ctx.clip();
		ctx.fillStyle = bar;
		for (let rect = run.first[job]; rect < run.first[job + 1]; rect++)
			paintPart(ctx, f, run, rect, x - 2 * px, 2 * px);
		ctx.restore();
	}

	/* A line around a job. */
	function outline(u, run, job, colour, paper) {
		const ctx = u.ctx, f = frame(u), px = devicePixelRatio;

		ctx.save();
		ctx.beginPath();
		ctx.rect(f.left, f.top, f.width, f.height);
		ctx.clip();
		ctx.beginPath();
		for (let rect = run.first[job]; rect < run.first[job + 1]; rect++) {
			const x = f.left + (run.start[job] - f.x0) * f.sx;
			const y = f.top + (run.node[rect] + run.low[rect] - f.y0) * f.sy;

			ctx.rect(x, y, Math.max((run.end[job] - run.start[job]) * f.sx, 2 * px),
				Math.max((run.count[rect] - 1 + run.high[rect] - run.low[rect]) * f.sy, 2 * px));
		}
		ctx.strokeStyle = paper;
		ctx.lineWidth = 5 * px;
		ctx.stroke();
		ctx.strokeStyle = colour;
		ctx.lineWidth = 2.5 * px;
		ctx.stroke();
		ctx.restore();
	}

	/* Runs that were stopped for other jobs: paler than others, with a bar where they ended; their number in view. */
	function paintStopped(u, stopped, colourOf, bar) {
		const ctx = u.ctx, f = frame(u), px = devicePixelRatio, seen = new Set();

		ctx.save();
		ctx.beginPath();
		ctx.rect(f.left, f.top, f.width, f.height);
		ctx.clip();
		stopped.job.forEach((stop, rect) => {
			const x = f.left + (stopped.start[stop] - f.x0) * f.sx, width = (stopped.end[stop] - stopped.start[stop]) * f.sx;

			if (x > f.right || x + width < f.left)
				return;
			ctx.globalAlpha = .55;
			ctx.fillStyle = colourOf(stop);
			if (paintPart(ctx, f, stopped, rect, x, width))
				seen.add(stop);
			ctx.globalAlpha = 1;
			ctx.fillStyle = bar;
			paintPart(ctx, f, stopped, rect, x + width - 2 * px, 2 * px);
		});
		ctx.restore();
		return seen.size;
	}

	/* What is planned: a pale rectangle with a broken edge, from *now* on. */
	function paintPlanned(u, planned, now, colourOf, edge) {
		const ctx = u.ctx, f = frame(u), px = devicePixelRatio;

		ctx.save();
		ctx.beginPath();
		ctx.rect(f.left, f.top, f.width, f.height);
		ctx.clip();
		ctx.lineWidth = px;
		ctx.strokeStyle = edge;
		for (const plan of planned) {
			const from = Math.max(plan.start, now), x = f.left + (from - f.x0) * f.sx, width = (plan.end - from) * f.sx;

			if (x > f.right || x + width < f.left || plan.end <= from)
				continue;
			ctx.fillStyle = colourOf(plan.job);
			ctx.setLineDash(plan.runs ? [2 * px, 3 * px] : [5 * px, 3 * px]);
			for (const [node, count, low, high] of plan.rects) {
				const y = f.top + (node + low - f.y0) * f.sy, height = (count - 1 + high - low) * f.sy;

				ctx.globalAlpha = plan.runs ? .3 : .18;
				ctx.fillRect(x, y, width, height);
				ctx.globalAlpha = 1;
				if (height > 4 * px && width > 4 * px) {
					ctx.beginPath();
					ctx.rect(x + px / 2, y + px / 2, Math.min(width, f.right - x + 9) - px, height - px);
					ctx.stroke();
				}
			}
		}
		ctx.restore();
	}

	/* Reservations: a frame, and their names where there is room. */
	function paintReservations(u, reservations, ink) {
		const ctx = u.ctx, f = frame(u), px = devicePixelRatio;

		ctx.save();
		ctx.beginPath();
		ctx.rect(f.left, f.top, f.width, f.height);
		ctx.clip();
		ctx.strokeStyle = ctx.fillStyle = ink;
		ctx.lineWidth = 1.5 * px;
		ctx.font = `${11 * px}px system-ui, sans-serif`;
		ctx.textAlign = "left";
		ctx.textBaseline = "top";
		for (const { name, start_s: from, end_s: to, nodes } of reservations) {
			const x = f.left + (from - f.x0) * f.sx, width = (to - from) * f.sx;

			for (let i = 0; i < nodes.length; i += 2) {
				const y = f.top + (nodes[i] - f.y0) * f.sy, height = nodes[i + 1] * f.sy;

				ctx.globalAlpha = .12;
				ctx.fillRect(x, y, width, height);
				ctx.globalAlpha = 1;
				ctx.beginPath();
				ctx.rect(x + px, y + px, width - 2 * px, height - 2 * px);
				ctx.stroke();
				if (width > 60 * px && height > 16 * px)
					ctx.fillText(name, Math.max(x, f.left) + 5 * px, y + 4 * px);
			}
		}
		ctx.restore();
	}

	/* A line across all nodes at an instant, and lines between blocks of nodes. */
	function paintLines(u, now, edges, ink, line) {
		const ctx = u.ctx, f = frame(u), px = devicePixelRatio;

		ctx.save();
		ctx.lineWidth = px;
		ctx.strokeStyle = line;
		ctx.beginPath();
		for (const edge of edges) {
			const y = Math.round(f.top + (edge - f.y0) * f.sy) + px / 2;

			if (y > f.top && y < f.bottom) {
				ctx.moveTo(f.left, y);
				ctx.lineTo(f.right, y);
			}
		}
		ctx.stroke();
		const x = f.left + (now - f.x0) * f.sx;

		if (x > f.left && x < f.right - 2) {
			ctx.strokeStyle = ink;
			ctx.lineWidth = 1.5 * px;
			ctx.beginPath();
			ctx.moveTo(x, f.top);
			ctx.lineTo(x, f.bottom);
			ctx.stroke();
		}
		ctx.restore();
	}

	/* A broken line at the instant of which the machine is shown, and its mark above. */
	function paintInstant(u, at, ink) {
		const ctx = u.ctx, f = frame(u), px = devicePixelRatio, x = f.left + (at - f.x0) * f.sx;

		if (!(x >= f.left && x <= f.right))
			return;
		ctx.save();
		ctx.strokeStyle = ctx.fillStyle = ink;
		ctx.lineWidth = px;
		ctx.setLineDash([2 * px, 2 * px]);
		ctx.beginPath();
		ctx.moveTo(x, f.top);
		ctx.lineTo(x, f.bottom);
		ctx.stroke();
		ctx.beginPath();
		ctx.moveTo(x - 4 * px, f.top - 6 * px);
		ctx.lineTo(x + 4 * px, f.top - 6 * px);
		ctx.lineTo(x, f.top);
		ctx.fill();
		ctx.restore();
	}

	/* The end that its walltime allows a job: a broken line from where it ended. */
	function outlineLimit(u, run, job, until, colour) {
		const ctx = u.ctx, f = frame(u), px = devicePixelRatio;

		ctx.save();
		ctx.beginPath();
		ctx.rect(f.left, f.top, f.width, f.height);
		ctx.clip();
		ctx.beginPath();
		for (let rect = run.first[job]; rect < run.first[job + 1]; rect++) {
			const x = f.left + (run.end[job] - f.x0) * f.sx, y = f.top + (run.node[rect] + run.low[rect] - f.y0) * f.sy;

			ctx.rect(x, y, Math.max((until - run.end[job]) * f.sx, px), Math.max((run.count[rect] - 1 + run.high[rect] - run.low[rect]) * f.sy, px));
		}
		ctx.strokeStyle = colour;
		ctx.setLineDash([4 * px, 3 * px]);
		ctx.lineWidth = 1.5 * px;
		ctx.stroke();
		ctx.restore();
	}

	/* The job at an instant and a height in nodes, or -1. */
	function jobAt(run, time, y) {
		const node = Math.floor(y), part = y - node;

		for (let rect = 0; rect < run.job.length; rect++) {
			const job = run.job[rect];

			if (run.node[rect] <= node && node < run.node[rect] + run.count[rect] &&
			    run.low[rect] <= part && part < run.high[rect] &&
			    run.start[job] <= time && time < run.end[job])
				return job;
		}
		return -1;
	}

	/* Likewise among what is planned. */
	function plannedAt(planned, time, y, now) {
		const node = Math.floor(y), part = y - node;
		const found = planned.find((plan) => Math.max(plan.start, now) <= time && time < plan.end && plan.rects.some(([first, count, low, high]) =>
			first <= node && node < first + count && low <= part && part < high));

		return found ? found.job : -1;
	}

	return { WAITS, WAIT_WORDS, classes, binsOf, binWords, sortByClass, paint, paintStopped, paintEnd, paintPlanned, paintReservations, paintLines, paintInstant,
		outline, outlineLimit, jobAt, plannedAt };
})();
