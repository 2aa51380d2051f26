// Debian's Chromium, and a page that notices whatever must not happen on it.

import { createRequire } from "node:module";
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import assert from "node:assert/strict";
import { after } from "node:test";

const { MODULES, SHOTS, CHROMIUM } = process.env;
const require = createRequire(join(MODULES, "package.json"));
const { chromium } = require("playwright-core");
const axe = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");

const FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"];
const QUIET = ["--disable-background-networking", "--disable-component-update", "--disable-sync"];

let launched = null;

/** One browser for all tests. */
function browser() {
  launched ??= chromium.launch({ executablePath: CHROMIUM, args: [...FLAGS, ...QUIET] });
  return launched;
}

after(async () => (await launched)?.close());

/**
 * Opens a page in a profile of its own, for one test; it fails if anything happens that must not.
 * @param {any} t
 * @param {string} url
 * @param {{width?: number, height?: number, dark?: boolean, touch?: boolean}} [options]
 */
export async function open(t, url, { width = 1200, height = 800, dark = false, touch = false } = {}) {
  const context = await (
    await browser()
  ).newContext({
    viewport: { width, height },
    colorScheme: dark ? "dark" : "light",
    hasTouch: touch,
    reducedMotion: "reduce",
    acceptDownloads: true,
  });
  context.setDefaultTimeout(15_000);
  const page = await context.newPage();
  const faults = [];
  page.on("pageerror", (error) => faults.push(`error: ${error.stack}`));
  page.on("dialog", (dialog) => {
    faults.push(`dialog: ${dialog.message()}`);
    dialog.dismiss();
  });
  page.on(
    "console",
    (message) => /Content Security Policy|Refused to/.test(message.text()) && faults.push(message.text()),
  );
  page.on("request", (request) => {
    const asked = request.url();
    if (!asked.startsWith(new URL(url).origin) && !/^(data|blob):/.test(asked)) faults.push(`request: ${asked}`);
  });
  t.after(async () => {
    await context.close();
    assert.deepEqual(faults, []);
  });
  await page.goto(url);
  return { page, ...actions(page) };
}

function actions(page) {
  const message = page.getByRole("textbox", { name: "Message" });
  return {
    message,
    /** Writes and sends. */
    async ask(text) {
      await message.fill(text);
      await message.press("Enter");
    },
    turn: (number) => page.locator(".turn").nth(number),
    /** Waits until so many turns are over. */
    async answers(count) {
      await page
        .locator(".turn-foot:visible")
        .nth(count - 1)
        .waitFor();
    },
    /** Keeps what is seen, for a person to look at. */
    async shot(name) {
      mkdirSync(SHOTS, { recursive: true });
      await page.screenshot({ path: join(SHOTS, `${name}.png`) });
    },
    /** No serious or critical finding of axe. */
    async accessible(where) {
      await page.evaluate(axe);
      const { violations } = await page.evaluate(() => globalThis.axe.run(document, { resultTypes: ["violations"] }));
      const grave = violations.filter((it) => it.impact === "serious" || it.impact === "critical");
      const told = grave.map(
        (it) => `${it.id}: ${it.nodes.map((node) => `${node.target} ${node.failureSummary}`).join("; ")}`,
      );
      assert.deepEqual(told, [], where);
    },
  };
}
