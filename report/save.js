/* SPDX-License-Identifier: MIT */
/*
 * save.js - charts as SVG and PNG.
 *
 * A chart on a canvas is drawn once more while its context notes what it is told, as SVG; a
 * map is SVG already.  The PNG is that SVG, drawn at twice its size.
 */
"use strict";

const save = (() => {
	const escape = (text) => String(text).replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`);
	const short = (v) => Math.round(v * 100) / 100;
	const Native = globalThis.Path2D;

	/* A path that knows what it is, as SVG has it. */
	class NotedPath extends Native {
		constructor(path) {
			super(path);
			this.d = path?.d ?? "";
		}
		moveTo(x, y) { super.moveTo(x, y); this.d += `M${short(x)} ${short(y)}`; }
		lineTo(x, y) { super.lineTo(x, y); this.d += `L${short(x)} ${short(y)}`; }
		rect(x, y, w, h) { super.rect(x, y, w, h); this.d += `M${short(x)} ${short(y)}h${short(w)}v${short(h)}h${short(-w)}z`; }
		closePath() { super.closePath(); this.d += "z"; }
		arc(x, y, r, ...rest) {
			super.arc(x, y, r, ...rest);
			this.d += `M${short(x - r)} ${short(y)}a${short(r)} ${short(r)} 0 1 0 ${short(2 * r)} 0a${short(r)} ${short(r)} 0 1 0 ${short(-2 * r)} 0`;
		}
		bezierCurveTo(...p) { super.bezierCurveTo(...p); this.d += `C${p.map(short).join(" ")}`; }
	}

	const ANCHOR = { left: "start", start: "start", center: "middle", right: "end", end: "end" };
	const RISE = { top: .8, hanging: .8, middle: .35, bottom: -.2, alphabetic: 0, ideographic: 0 };

	/* Note what a 2D context draws, until stop(): SVG elements in turn. */
	class Notes {
		constructor(ctx) {
			Object.assign(this, { ctx, out: [], defs: [], clip: "", clips: [], path: "", last: null });
			const p = CanvasRenderingContext2D.prototype, own = {
				beginPath: () => { this.path = ""; },
				moveTo: (x, y) => { this.path += `M${short(x)} ${short(y)}`; },
				lineTo: (x, y) => { this.path += `L${short(x)} ${short(y)}`; },
				rect: (x, y, w, h) => { this.path += `M${short(x)} ${short(y)}h${short(w)}v${short(h)}h${short(-w)}z`; },
				closePath: () => { this.path += "z"; },
				fillRect: (x, y, w, h) => this.fill(`M${short(x)} ${short(y)}h${short(w)}v${short(h)}h${short(-w)}z`),
				fill: (path) => this.fill(path?.d ?? this.path),
				stroke: (path) => this.stroke(path?.d ?? this.path),
				clip: (path) => this.cut(path?.d ?? this.path),
				save: () => this.clips.push(this.clip),
				restore: () => { this.clip = this.clips.pop() ?? ""; },
				fillText: (text, x, y) => this.text(text, x, y),
			};

			this.names = Object.keys(own);
			for (const name of this.names)
				ctx[name] = (...args) => { own[name](...args); return p[name].apply(ctx, args); };
		}

		stop() {
			for (const name of this.names)
				delete this.ctx[name];
		}

		where() {
			const { a, b, c, d, e, f } = this.ctx.getTransform(), m = [a, b, c, d, e, f].map(short);

			return (this.clip ? ` clip-path="url(#${this.clip})"` : "") + (m.join() === "1,0,0,1,0,0" ? "" : ` transform="matrix(${m.join(" ")})"`);
		}

		alpha() {
			return this.ctx.globalAlpha === 1 ? "" : ` opacity="${short(this.ctx.globalAlpha)}"`;
		}

		/* Rectangles of one colour in turn are one path. */
		fill(d) {
			const attributes = ` fill="${this.ctx.fillStyle}"${this.alpha()}${this.where()}`;

			if (!d)
				return;
			if (this.last?.attributes !== attributes)
				this.out.push(this.last = { attributes, parts: [] });
			this.last.parts.push(d);
		}

		stroke(d) {
			const { ctx } = this, dash = ctx.getLineDash();

			if (!d || !ctx.lineWidth)
				return;
			this.last = null;
			this.out.push(`<path d="${d}" fill="none" stroke="${ctx.strokeStyle}" stroke-width="${short(ctx.lineWidth)}" stroke-linecap="${ctx.lineCap}" ` +
				`stroke-linejoin="${ctx.lineJoin}"${dash.length ? ` stroke-dasharray="${dash.map(short).join(" ")}"` : ""}${this.alpha()}${this.where()}/>`);
		}

		cut(d) {
			const outer = this.clip ? ` clip-path="url(#${this.clip})"` : "";

			this.clip = `c${this.defs.length}`;
			this.defs.push(`<clipPath id="${this.clip}"${outer}><path d="${d}"/></clipPath>`);
		}

		text(text, x, y) {
			const { ctx } = this, size = parseFloat(ctx.font.match(/([\d.]+)px/)?.[1] ?? 12);

			this.last = null;
			this.out.push(`<text x="${short(x)}" y="${short(y + size * (RISE[ctx.textBaseline] ?? 0))}" font-size="${size}" ` +
				`text-anchor="${ANCHOR[ctx.textAlign] ?? "start"}" fill="${ctx.fillStyle}"${this.where()}>${escape(text)}</text>`);
		}

		svg() {
			const body = this.out.map((e) => (typeof e === "string" ? e : `<path d="${e.parts.join("")}"${e.attributes}/>`));

			return `<defs>${this.defs.join("")}</defs>${body.join("\n")}`;
		}
	}

	/* The chart's drawing as SVG elements, in pixels of its canvas. */
	async function note(chart) {
		const notes = new Notes(chart.ctx);

		try {
			globalThis.Path2D = NotedPath;
			chart.setData(chart.data);	/* unlike redraw(), with paths made anew */
			await new Promise((done) => { setTimeout(done); });
		} finally {
			globalThis.Path2D = Native;
			notes.stop();
		}
		chart.setData(chart.data);	/* with paths of the browser's own again */
		return notes.svg();
	}

	/* A title above, lines with their names below: { title, lines: [[colour, dash, words]...], sheet, ink } */
	function frame(body, width, height, { title, lines, sheet, ink }) {
		const scale = width / 960, line = 24 * scale, margin = 14 * scale, size = 15 * scale;
		const rows = [];
		let x = margin, row = 0;

		for (const [colour, dash, text] of lines) {
			const wide = (46 + 9 * text.length) * scale;

			if (x > margin && x + wide > width) {
				x = margin;
				row++;
			}
			const y = height + line * (2.2 + row);

			rows.push(`<path d="M${short(x)} ${short(y - 5 * scale)}h${short(30 * scale)}" stroke="${colour}" stroke-width="${short(2.5 * scale)}" ` +
				`stroke-dasharray="${dash.map((v) => short(v * scale)).join(" ") || "none"}"/>` +
				`<text x="${short(x + 36 * scale)}" y="${short(y)}" font-size="${short(size)}" fill="${ink}">${escape(text)}</text>`);
			x += wide;
		}
		const all = height + line * (1.6 + (lines.length ? row + 1.2 : 0));

		return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${short(width)} ${short(all)}" width="${short(width / scale)}" ` +
			`height="${short(all / scale)}" font-family="system-ui, Liberation Sans, sans-serif"><rect width="100%" height="100%" fill="${sheet}"/>` +
			`<text x="${short(margin)}" y="${short(line)}" font-size="${short(size * 1.1)}" font-weight="600" fill="${ink}">${escape(title)}</text>` +
			`<g transform="translate(0 ${short(line * 1.4)})">${body}</g>${rows.join("")}</svg>\n`;
	}

	async function chartSvg(chart, about) {
		const { width, height } = chart.ctx.canvas;

		return frame(await note(chart), width, height, about);
	}

	/* A map's: what its colours are called becomes what they are. */
	function mapSvg(map, colour, about) {
		const [, , width, height] = map.getAttribute("viewBox").split(" ").map(Number);
		const copy = map.cloneNode(true);

		for (const cell of copy.querySelectorAll("[data-cell]")) {
			const title = document.createElementNS("http://www.w3.org/2000/svg", "title");

			title.textContent = cell.dataset.cell;
			cell.append(title);
			cell.removeAttribute("data-cell");
		}
		const body = [...copy.children].map((e) => new XMLSerializer().serializeToString(e)).join("\n")
			.replace(/var\((--\w+)\)/g, (_, name) => colour(name));

		return frame(body, width, height, about);
	}

	function png(svg) {
		return new Promise((done, fail) => {
			const image = new Image();

			image.onload = () => {
				const canvas = element("canvas", { width: 2 * image.width, height: 2 * image.height });

				canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
				canvas.toBlob((blob) => (blob ? done(blob) : fail(new Error("the picture is too large"))), "image/png");
			};
			image.onerror = () => fail(new Error("the picture cannot be drawn"));
			image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`;
		});
	}

	const { element } = words;

	function offer(blob, name) {
		const url = URL.createObjectURL(blob);

		element("a", { href: url, download: name }).click();
		setTimeout(() => URL.revokeObjectURL(url), 60000);
	}

	/* Offer a chart's or a map's SVG under *name*, as it is or as PNG. */
	async function picture(kind, svg, name) {
		offer(kind === "png" ? await png(svg) : new Blob([svg], { type: "image/svg+xml" }), `${name.replace(/[^\w.-]+/g, "_")}.${kind}`);
	}

	return { chartSvg, mapSvg, picture, offer };
})();
