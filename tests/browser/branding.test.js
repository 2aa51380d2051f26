// The branding of the console: title, logo, accent colour, greeting, suggestions and links.

import { describe, it } from "node:test";
import assert from "node:assert/strict";
import { openPage } from "./support/page.js";
import { startServerFor } from "./support/server.js";

const TOKEN = "a-token-of-the-test-0123456789";
const LOGO = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24">
  <script>document.documentElement.id = "ran"</script>
  <rect width="24" height="24" rx="5" fill="#c2410c"/><path d="M5 9h14l-2 10H7zM9 9a3 3 0 0 1 6 0" fill="none" stroke="#fff" stroke-width="2"/>
</svg>`;
const SETTINGS = `[console]
title = "Corner Shop"
logo = "logo.svg"
accent = "#f97316"
greeting = "What are you looking for?"
suggestions = ["What time is it in Tokyo?", "Refund order A-1042, 20 euros"]
links = [{ label = "Help", url = "https://shop.example.com/help" }, { label = "Terms", url = "/terms" }]
`;

const startShopFor = (t, options) => startServerFor(t, { settings: SETTINGS, files: { "logo.svg": LOGO }, ...options });

describe("a console with branding", () => {
  for (const dark of [false, true]) {
    const theme = dark ? "dark" : "light";

    it(`shows it, also to those who have to sign in, ${theme}`, async (t) => {
      const server = await startShopFor(t, { args: ["--token", TOKEN] });
      const { page, send, waitForTurns, turn, screenshot, assertAccessible } = await openPage(t, server.url, { dark });
      const brand = page.locator(".brand", { hasText: "Corner Shop" });
      await page.getByLabel("Token").fill(TOKEN);
      assert.equal(await page.title(), "Corner Shop");
      assert.equal(await brand.locator("img").evaluate((image) => image.naturalWidth > 0), true);
      await assertAccessible(`sign-in with branding, ${theme}`);
      await screenshot(`branded-sign-in-${theme}`);
      await page.getByRole("button", { name: "Go on" }).click();

      await page.getByRole("heading", { name: "What are you looking for?", exact: true }).waitFor();
      assert.equal(await page.title(), "New conversation · Corner Shop");
      const links = page.getByRole("navigation", { name: "Links" }).getByRole("link");
      const targets = await links.evaluateAll((nodes) => nodes.map((node) => node.href));
      assert.deepEqual(targets, ["https://shop.example.com/help", `${server.url}/terms`]);
      assert.equal(await page.locator(".suggestion").count(), 2);
      await assertAccessible(`start screen with branding, ${theme}`);
      await screenshot(`branded-welcome-${theme}`);
      await page.getByRole("button", { name: "What time is it in Tokyo?" }).click();
      await waitForTurns(1);
      await turn(0).locator(".prose", { hasText: "JST" }).waitFor();
      await send("Refund order A-1042, 20 euros");
      await page.getByRole("button", { name: "Approve" }).waitFor();
      await assertAccessible(`chat with branding, ${theme}`);
      await screenshot(`branded-chat-${theme}`);
    });
  }

  it("is text, whatever it looks like", async (t) => {
    const hostile = `<img src=x onerror="alert(1)">&amp;</title><script>alert(2)</script>`;
    const settings = ["title", "greeting"].map((key) => `${key} = '${hostile}'`).join("\n");
    const server = await startServerFor(t, { settings: `[console]\n${settings}\nsuggestions = ['${hostile}']` });
    const { page } = await openPage(t, server.url);
    await page.getByRole("heading", { name: hostile, exact: true }).waitFor();
    assert.equal(await page.locator(".brand span").textContent(), hostile);
    assert.equal(await page.locator(".suggestion").textContent(), hostile);
    assert.equal(await page.title(), `New conversation · ${hostile}`);
  });

  it("has a logo whose scripts do not run, even if it is opened as a page", async (t) => {
    const server = await startShopFor(t);
    const { page } = await openPage(t, server.url);
    // Chromium reports the blocked script in the console.
    page.removeAllListeners("console");
    const response = await page.goto(`${server.url}/logo`);
    assert.equal(response.headers()["content-type"], "image/svg+xml");
    assert.match(response.headers()["content-security-policy"], /default-src 'none'.*sandbox/);
    assert.equal(await page.evaluate(() => document.documentElement.id), "");
  });
});

describe("an accent colour", () => {
  it("is readable in both themes, whatever its hue and lightness are", async (t) => {
    const server = await startShopFor(t);
    for (const dark of [false, true]) {
      const { page } = await openPage(t, server.url, { dark });
      // The console needs the body until it is shown.
      await page.waitForFunction(() => document.title.startsWith("New conversation"));
      const css = await page.evaluate(async () => (await fetch("css/accent.css")).text());
      const formula = /--accent: (.*);/s.exec(css)[1];
      assert.ok(formula.includes("#f97316"), css);
      const tooLow = await page.evaluate((formula) => {
        const root = document.documentElement;
        document.body.remove();
        const context = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
        const luminance = (variable) => {
          root.style.color = `var(${variable})`;
          context.fillStyle = getComputedStyle(root).color;
          context.fillRect(0, 0, 1, 1);
          const [red, green, blue] = [...context.getImageData(0, 0, 1, 1).data].map((byte) =>
            byte <= 10 ? byte / 255 / 12.92 : ((byte / 255 + 0.055) / 1.055) ** 2.4,
          );
          return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
        };
        const contrast = (one, other) => (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05);
        const tooLow = [];
        const levels = ["00", "33", "66", "99", "cc", "ff"];
        for (const red of levels)
          for (const green of levels)
            for (const blue of levels) {
              const colour = `#${red}${green}${blue}`;
              root.style.setProperty("--accent", formula.replaceAll("#f97316", colour));
              const accent = luminance("--accent");
              for (const ground of ["--ground", "--surface", "--sunken", "--accent-soft", "--accent-ink"]) {
                const ratio = contrast(accent, luminance(ground));
                if (ratio < 4.5) tooLow.push(`${colour} on ${ground}: ${ratio.toFixed(2)}`);
              }
              const ink = contrast(luminance("--ink"), luminance("--accent-soft"));
              if (ink < 7) tooLow.push(`ink on the soft accent of ${colour}: ${ink.toFixed(2)}`);
            }
        return tooLow;
      }, formula);
      assert.deepEqual(tooLow, [], dark ? "dark" : "light");
    }
  });
});
