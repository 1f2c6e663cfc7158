/* SPDX-License-Identifier: MIT */
/*
 * browser.js - headless Chromium, driven over a pipe with the DevTools protocol:
 * what a page's tests need and no more.
 *
 *	const browser = await open("/usr/bin/chromium", directory);
 *	const page = await browser.page("file:///...", { dark: true, width: 1200 });
 *	await page.until("document.documentElement.dataset.ready");
 *	await page.key("ArrowRight");
 *	page.complaints		console errors, exceptions, requests but for the page itself
 *	await browser.close();
 */
"use strict";

const { spawn } = require("node:child_process");

const FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
	"--disable-background-networking", "--disable-component-update", "--disable-sync", "--hide-scrollbars",
	"--remote-debugging-pipe"];
const KEY_CODES = { ArrowLeft: 37, ArrowUp: 38, ArrowRight: 39, ArrowDown: 40, Enter: 13, Escape: 27, Tab: 9, Home: 36, " ": 32 };
const SHIFT = 8;
const LIMIT_MS = 60000;		/* of any wait: only a hung browser comes so far */

/* Messages are JSON, ended by a NUL: to descriptor 3, from descriptor 4. */
class Pipe {
	constructor(child) {
		this.to = child.stdio[3];
		this.waiting = new Map();
		this.listeners = [];
		this.last = 0;
		let rest = Buffer.alloc(0);

		child.stdio[4].on("data", (data) => {
			rest = Buffer.concat([rest, data]);
			for (let end; (end = rest.indexOf(0)) >= 0; rest = rest.subarray(end + 1))
				this.take(JSON.parse(rest.subarray(0, end).toString()));
		});
		child.on("exit", (code) => {
			for (const { fail } of this.waiting.values())
				fail(new Error(`the browser ended (${code})`));
		});
	}

	take(message) {
		const call = this.waiting.get(message.id);

		if (call) {
			this.waiting.delete(message.id);
			if (message.error)
				call.fail(new Error(message.error.message));
			else
				call.done(message.result);
		} else {
			this.listeners.forEach((listener) => listener(message));
		}
	}

	send(method, params = {}, sessionId = undefined) {
		const id = ++this.last;

		return new Promise((done, fail) => {
			const timer = setTimeout(() => fail(new Error(`${method}: no answer`)), LIMIT_MS);
			const end = (then) => (value) => { clearTimeout(timer); then(value); };

			this.waiting.set(id, { done: end(done), fail: end(fail) });
			this.to.write(`${JSON.stringify({ id, method, params, sessionId })}\0`);
		});
	}
}

class Page {
	constructor(pipe, session, url) {
		this.send = (method, params) => pipe.send(method, params, session);
		this.complaints = [];
		this.loaded = new Promise((done) => { this.load = done; });
		pipe.listeners.push((message) => {
			if (message.sessionId === session)
				this.notice(message, url);
		});
	}

	notice({ method, params }, url) {
		if (method === "Page.loadEventFired")
			this.load();
		else if (method === "Runtime.exceptionThrown")
			this.complaints.push(params.exceptionDetails.exception?.description || params.exceptionDetails.text);
		else if (method === "Runtime.consoleAPICalled" && ["error", "warning", "assert"].includes(params.type))
			this.complaints.push(params.args.map((arg) => arg.value ?? arg.description).join(" "));
		else if (method === "Log.entryAdded" && ["error", "warning"].includes(params.entry.level))
			this.complaints.push(params.entry.text);
		else if (method === "Network.requestWillBeSent" && params.request.url !== url && !params.request.url.startsWith("data:"))
			this.complaints.push(`a request for ${params.request.url}`);
	}

	async value(expression) {
		const { result, exceptionDetails } = await this.send("Runtime.evaluate",
			{ expression, returnByValue: true, awaitPromise: true });

		if (exceptionDetails)
			throw new Error(exceptionDetails.exception?.description || exceptionDetails.text);
		return result.value;
	}

	/* The value of an expression as soon as it is true; looked at once a frame. */
	until(expression) {
		return this.value(`new Promise((done, fail) => {
			const end = performance.now() + ${LIMIT_MS / 2};
			const look = () => {
				const value = (${expression});

				if (value)
					done(value);
				else if (performance.now() > end)
					fail(new Error(${JSON.stringify(`never came true: ${expression}`)}));
				else
					requestAnimationFrame(look);
			};
			look();
		})`);
	}

	/* Two frames: what was asked for has been drawn. */
	drawn() {
		return this.value("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))");
	}

	async key(key, shift = false) {
		const common = { key, modifiers: shift ? SHIFT : 0, windowsVirtualKeyCode: KEY_CODES[key] || key.toUpperCase().charCodeAt(0) };
		const text = key.length === 1 ? key : key === "Enter" ? "\r" : undefined;

		await this.send("Input.dispatchKeyEvent", { type: text ? "keyDown" : "rawKeyDown", text, ...common });
		await this.send("Input.dispatchKeyEvent", { type: "keyUp", ...common });
		await this.drawn();
	}

	async mouse(type, x, y, buttons = 0) {
		await this.send("Input.dispatchMouseEvent", { type, x, y, buttons, button: type === "mouseMoved" ? "none" : "left",
			clickCount: type === "mouseMoved" ? 0 : 1 });
		await this.drawn();
	}

	media(dark) {
		return this.send("Emulation.setEmulatedMedia",
			{ features: [{ name: "prefers-color-scheme", value: dark ? "dark" : "light" }] });
	}

	size(width, height) {
		return this.send("Emulation.setDeviceMetricsOverride", { width, height, deviceScaleFactor: 1, mobile: false });
	}

	/* A PNG of the whole page. */
	async picture() {
		return Buffer.from((await this.send("Page.captureScreenshot", { captureBeyondViewport: true, format: "png" })).data, "base64");
	}
}

async function open(program, directory) {
	const child = spawn(program, [...FLAGS, `--user-data-dir=${directory}`, "about:blank"],
		{ stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"] });
	const pipe = new Pipe(child), ended = new Promise((done) => child.on("exit", done));

	await new Promise((done, fail) => { child.on("spawn", done); child.on("error", fail); });
	return {
		async page(url, { dark = false, width = 1280, height = 900 } = {}) {
			const { targetId } = await pipe.send("Target.createTarget", { url: "about:blank" });
			const { sessionId } = await pipe.send("Target.attachToTarget", { targetId, flatten: true });
			const page = new Page(pipe, sessionId, url);

			for (const domain of ["Runtime", "Log", "Network", "Page"])
				await page.send(`${domain}.enable`);
			await page.size(width, height);
			await page.media(dark);
			await page.send("Page.navigate", { url });
			await page.loaded;
			return page;
		},
		async close() {
			await pipe.send("Browser.close").catch(() => child.kill("SIGKILL"));
			await ended;
		},
	};
}

module.exports = { open };
