// Opens a project with drift in an editor without a screen, with the extension installed from its file, and waits for what
// the panel of problems shows: the finding, and none when the page was mended.
//
// Usage: editor.js SERVER MODULES EXTENSION PROGRAM PROJECT, where the server is the folder of the editor's server, and the
// modules are the folder that playwright-core is in. Chromium is the one that CHROMIUM names, or the first on the PATH. The last
// picture goes into the file that SCREENSHOT names.
"use strict";

const { execFileSync, spawn } = require("node:child_process");
const fs = require("node:fs");
const os = require("node:os");
const path = require("node:path");

const [server, modules, extension, program, project] = process.argv.slice(2).map((part) => path.resolve(part));
const { chromium } = require(path.join(modules, "playwright-core"));

const data = fs.mkdtempSync(path.join(os.tmpdir(), "diglot-editor-"));
const own = ["--accept-server-license-terms", "--server-data-dir", data, "--extensions-dir", path.join(data, "extensions")];
const main = path.join(server, "out/server-main.js");

/** The address that a server tells when it listens. */
function address(child) {
  return new Promise((resolve, reject) => {
    let said = "";
    child.stdout.on("data", (text) => {
      said += text;
      const found = said.match(/Web UI available at (\S+)/);
      if (found) resolve(found[1].replace("localhost", "127.0.0.1"));
    });
    child.on("exit", () => reject(new Error(`the editor's server ended:\n${said}`)));
  });
}

async function drive(url) {
  const executablePath = process.env.CHROMIUM ?? execFileSync("which", ["chromium"], { encoding: "utf8" }).trim();
  const args = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"];
  const browser = await chromium.launch({ executablePath, args });
  const page = await browser.newPage();
  try {
    await page.goto(`${url}/?folder=${encodeURIComponent(project)}`);
    // A folder's extensions run programs only for people who trust it.
    await page.getByRole("button", { name: "Yes, I trust the authors" }).click({ timeout: 60_000 });
    // The bar counts the problems of all files, and opens their panel.
    await page.locator("[id='status.problems'] [aria-label*='Errors: 2']").click({ timeout: 60_000 });
    const finding = page.locator(".markers-panel .monaco-list-row", { hasText: "where-differs" });
    await finding.first().waitFor();
    console.log(await finding.first().innerText());
    // Its place is selected in the page that opens, Postgres's.
    await finding.first().dblclick();
    await page.locator(".editor-instance .view-line", { hasText: "due_ms" }).first().waitFor();
    await page.keyboard.type("<=");
    await page.getByText("No problems have been detected in the workspace.").first().waitFor();
    console.log("mended: no problem is left");
  } finally {
    if (process.env.SCREENSHOT) await page.screenshot({ path: process.env.SCREENSHOT });
    await browser.close();
  }
}

(async () => {
  execFileSync(process.execPath, [main, ...own, "--install-extension", extension], { stdio: "pipe" });
  fs.mkdirSync(path.join(data, "data/Machine"), { recursive: true });
  fs.writeFileSync(path.join(data, "data/Machine/settings.json"), JSON.stringify({ "diglot.command": program }));
  const flags = ["--host", "127.0.0.1", "--port", "0", "--without-connection-token", "--telemetry-level", "off"];
  const child = spawn(process.execPath, [main, ...own, ...flags], { stdio: ["ignore", "pipe", "ignore"] });
  try {
    await drive(await address(child));
  } finally {
    child.removeAllListeners("exit");
    child.kill();
    fs.rmSync(data, { recursive: true, force: true });
  }
})().catch((error) => {
  console.error(error);
  process.exit(1);
});
