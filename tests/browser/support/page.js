// Opens pages in Debian's Chromium. A test fails on script errors, dialogs, CSP violations and requests to other hosts.

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
const NO_NETWORK = ["--disable-background-networking", "--disable-component-update", "--disable-sync"];

let launched = null;

/** Returns the browser that all tests share. */
function browser() {
  launched ??= chromium.launch({ executablePath: CHROMIUM, args: [...FLAGS, ...NO_NETWORK] });
  return launched;
}

after(async () => (await launched)?.close());

/**
 * Opens a page with its own profile for one test.
 * @param {any} t
 * @param {string} url
 * @param {{width?: number, height?: number, dark?: boolean, touch?: boolean, alsoAllowed?: string[]}} [options]
 *   alsoAllowed: other origins that the page may be sent to; requests to any other fail
 */
export async function openPage(
  t,
  url,
  { width = 1200, height = 800, dark = false, touch = false, alsoAllowed = [] } = {},
) {
  const allowed = [new URL(url).origin, ...alsoAllowed];
  const isAllowed = (target) => /^(data|blob):/.test(target) || allowed.includes(new URL(target).origin);
  /** Pages of others may want fonts of yet others: these requests fail, and are not the fault of our pages. */
  const isOfOthers = (request) =>
    !request.isNavigationRequest() && alsoAllowed.includes(new URL(request.frame().url()).origin);
  const context = await (
    await browser()
  ).newContext({
    viewport: { width, height },
    colorScheme: dark ? "dark" : "light",
    hasTouch: touch,
    reducedMotion: "reduce",
    acceptDownloads: true,
  });
  // For a machine with much other work.
  context.setDefaultTimeout(120_000);
  if (alsoAllowed.length) {
    await context.route(
      (target) => !isAllowed(target.href),
      (route) => route.abort(),
    );
  }
  const page = await context.newPage();
  const violations = [];
  page.on("pageerror", (error) => violations.push(`error: ${error.stack}`));
  page.on("dialog", (dialog) => {
    violations.push(`dialog: ${dialog.message()}`);
    dialog.dismiss();
  });
  page.on(
    "console",
    (message) => /Content Security Policy|Refused to/.test(message.text()) && violations.push(message.text()),
  );
  page.on("request", (request) => {
    const target = request.url();
    if (!isAllowed(target) && !isOfOthers(request)) violations.push(`request: ${target}`);
  });
  t.after(async () => {
    await context.close();
    assert.deepEqual(violations, []);
  });
  await page.goto(url);
  return { page, ...actions(page) };
}

function actions(page) {
  const message = page.getByRole("textbox", { name: "Message" });
  return {
    message,
    /** Sends a message. */
    async send(text) {
      await message.fill(text);
      await message.press("Enter");
    },
    turn: (number) => page.locator(".turn").nth(number),
    /** Waits until this number of turns has ended. */
    async waitForTurns(count) {
      await page
        .locator(".turn-footer:visible")
        .nth(count - 1)
        .waitFor();
    },
    /** Saves a screenshot for review by a person. */
    async screenshot(name) {
      mkdirSync(SHOTS, { recursive: true });
      await page.screenshot({ path: join(SHOTS, `${name}.png`) });
    },
    /** Asserts that axe finds no serious or critical violation. */
    async assertAccessible(where) {
      await page.evaluate(axe);
      const { violations } = await page.evaluate(() => globalThis.axe.run(document, { resultTypes: ["violations"] }));
      const severe = violations.filter((it) => it.impact === "serious" || it.impact === "critical");
      const report = severe.map(
        (it) => `${it.id}: ${it.nodes.map((node) => `${node.target} ${node.failureSummary}`).join("; ")}`,
      );
      assert.deepEqual(report, [], where);
    },
  };
}
