// Tries the playground in a headless Chromium: node test.mjs PAGE [FOLDER_FOR_PICTURES]

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import puppeteer from "puppeteer-core";
import { examples } from "./examples.js";

const [file, pictures] = process.argv.slice(2);
const chromium = process.env.CHROMIUM ?? execFileSync("sh", ["-c", "command -v chromium || command -v google-chrome"], { encoding: "utf8" }).trim();
const browser = await puppeteer.launch({ executablePath: chromium, args: ["--no-sandbox"] });
const wide = { width: 1280, height: 1000 };
const narrow = { width: 390, height: 844, isMobile: true, hasTouch: true, deviceScaleFactor: 2 };

const ended = (page) => page.waitForSelector('#status[data-mood="done"], #status[data-mood="bad"]', { timeout: 120_000 });
const text = (page, selector) => page.$eval(selector, (element) => element.innerText);
const verdicts = (page) => page.$$eval(".pair", (cards) => cards.map((card) => card.dataset.verdict));

const picture = async (page, name) => {
  if (!pictures) return;
  mkdirSync(pictures, { recursive: true });
  await page.screenshot({ path: `${pictures}/${name}.png`, fullPage: name !== "light" });
};

// What is written into an editor takes the place of what it holds.
const write = async (page, editor, words) => {
  await page.click(`#${editor} .cm-content`);
  await page.keyboard.down("Control");
  await page.keyboard.press("a");
  await page.keyboard.up("Control");
  await page.keyboard.type(words);
};

const open = async (look, view) => {
  const page = await browser.newPage();
  const wrong = [];
  page.on("pageerror", (error) => wrong.push(error.message));
  page.on("console", (message) => message.type() === "error" && wrong.push(message.text()));
  page.on("request", (request) => /^https?:/.test(request.url()) && wrong.push(`it asks for ${request.url()}`));
  await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: look }]);
  await page.setViewport(view);
  await page.goto(pathToFileURL(resolve(file)).href);
  await ended(page);
  return { page, wrong };
};

try {
  const { page, wrong } = await open("light", wide);
  const [checked, answered] = await page.evaluate(() =>
    ["checked", "answered"].map((name) => Math.round(performance.getEntriesByName(name)[0]?.startTime)));
  console.log(`first finding after ${checked} ms, first database after ${answered} ms`);
  await picture(page, "light");

  for (const [at, { title, verdict }] of examples.entries()) {
    await page.select("#example", String(at));
    const begun = Date.now();
    await page.waitForSelector('#status[data-mood="busy"]');
    await ended(page);
    assert.deepEqual(await verdicts(page), [verdict], `${title}: ${await text(page, "main")}`);
    if (verdict === "differs") {
      assert.match(await text(page, "#findings"), /\^/, `${title}: no caret`);
      const answers = await page.$$eval(".answers pre", (both) => both.map((answer) => answer.innerText));
      assert.equal(answers.length, 2, title);
      assert.notEqual(answers[0], answers[1], title);
      assert.ok(await page.$(".cm-lintRange-error"), `${title}: nothing is marked in the editors`);
    } else {
      assert.equal(await text(page, "#findings"), "", title);
    }
    console.log(`${verdict.padEnd(14)} ${String(Date.now() - begun).padStart(6)} ms  ${title}`);
  }

  await page.select("#example", "0");
  await page.waitForSelector('#status[data-mood="busy"]');
  await ended(page);
  await write(page, "pg-statements", `-- name: note_due :many\nSELECT id, body FROM note WHERE due_ms <= :now_ms AND kind = ANY(:kinds) ORDER BY due_ms, id;`);
  await page.waitForSelector('.pair[data-verdict="same by law"]', { timeout: 60_000 });
  await ended(page);
  // A single statement needs no name.
  await write(page, "sqlite-statements", "SELECT id FROM note ORDER BY id");
  await write(page, "pg-statements", "SELECT id FROM note ORDER BY id DESC");
  await page.waitForSelector('.pair[data-verdict="differs"]', { timeout: 60_000 });
  assert.match(await text(page, ".pair"), /^statement/);
  await write(page, "pg-statements", "SELECT");
  await page.waitForFunction(() => document.getElementById("findings").innerText.includes("error"));
  assert.deepEqual(wrong, []);

  for (const [name, look, view] of [["dark", "dark", wide], ["phone", "light", narrow], ["phone-dark", "dark", narrow]]) {
    const { page, wrong } = await open(look, view);
    const [inner, all] = await page.evaluate(() => [innerWidth, document.documentElement.scrollWidth]);
    assert.ok(all <= inner, `${name}: ${all} pixels wide on a screen of ${inner}`);
    assert.deepEqual(wrong, [], name);
    await picture(page, name);
    await page.close();
  }
} finally {
  await browser.close();
}
