/* SPDX-License-Identifier: MIT */
/*
 * words.js - figures in words, and elements of the page.
 */
"use strict";

const words = (() => {
	const DAY = 86400;

	const number = (v, digits = 0) => v.toLocaleString("en", { minimumFractionDigits: digits, maximumFractionDigits: digits });

	/* 3 significant digits */
	function figure(v) {
		if (v === null || v === undefined || !isFinite(v))
			return "–";
		return Math.abs(v) >= 100 ? number(v) : v === 0 ? "0" : number(v, Math.abs(v) >= 10 ? 1 : Math.abs(v) >= 1 ? 2 : 3);
	}

	const percent = (v) => (v === null || v === undefined || isNaN(v) ? "–" : `${number(100 * v, 1)} %`);

	/* 59 s, 12 min 5 s, 3 h 20 min, 2 d 4 h */
	function duration(s) {
		if (s === null || s === undefined || isNaN(s))
			return "–";
		if (s < 60)
			return `${number(s, Math.round(s * 10) % 10 ? 1 : 0)} s`;
		s = Math.round(s);
		const units = [["d", DAY], ["h", 3600], ["min", 60], ["s", 1]];
		const i = units.findIndex(([, size]) => s >= size);
		const [word, size] = units[i], rest = i < 3 ? Math.floor((s % size) / units[i + 1][1]) : 0;

		return `${number(Math.floor(s / size))} ${word}${rest ? ` ${rest} ${units[i + 1][0]}` : ""}`;
	}

	const average = (values) => values.reduce((sum, v) => sum + v, 0) / values.length;

	function element(name, attributes = {}, ...children) {
		const e = document.createElement(name);

		for (const [key, value] of Object.entries(attributes))
			if (value !== undefined && value !== false)
				e.setAttribute(key, value === true ? "" : value);
		e.append(...children);
		return e;
	}

	return { number, figure, percent, duration, average, element };
})();
