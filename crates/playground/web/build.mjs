// Makes one page of what scripts/playground has built: node build.mjs FOLDER_OF_THE_COMPILER PAGE

import { readFileSync, writeFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { PGlite } from "@electric-sql/pglite";
import { build } from "esbuild";

const [compiler, page] = process.argv.slice(2);
const here = new URL(".", import.meta.url).pathname;
const modules = `${here}node_modules`;

const bundled = async (entry) => {
  const { outputFiles } = await build({
    entryPoints: [`${here}${entry}`],
    bundle: true,
    write: false,
    minify: true,
    format: "iife",
    target: "es2022",
    alias: { diglot: `${compiler}/playground.js` },
    nodePaths: [modules],
    // What these packages do in Node alone.
    external: ["fs", "fs/promises", "path", "url", "crypto", "module", "os", "stream", "util", "zlib", "node:*"],
    // Everything is handed in; nothing is looked for beside the script.
    define: { "import.meta.url": '"file:///"' },
    logLevel: "error",
  });
  return outputFiles[0].contents;
};

const packed = (name, bytes) =>
  `<script type="text/plain" id="packed-${name}">${gzipSync(bytes, { level: 9 }).toString("base64")}</script>\n`;
const pglite = `${modules}/@electric-sql/pglite/dist`;
// A cluster that is there already: making one takes a browser longer than all that follows.
const cluster = async () => {
  const postgres = await PGlite.create();
  const files = await postgres.dumpDataDir("none");
  await postgres.close();
  return Buffer.from(await files.arrayBuffer());
};
const assets = {
  diglot: readFileSync(`${compiler}/playground_bg.wasm`),
  worker: await bundled("worker.js"),
  sqlite: readFileSync(`${modules}/sql.js/dist/sql-wasm-browser.wasm`),
  pglite: readFileSync(`${pglite}/pglite.wasm`),
  data: readFileSync(`${pglite}/pglite.data`),
  cluster: await cluster(),
};
const main = new TextDecoder().decode(await bundled("main.js")).replaceAll("</script", "<\\/script");
const html = readFileSync(`${here}page.html`, "utf8")
  .replace("<!-- packed -->\n", () => Object.entries(assets).map(([name, bytes]) => packed(name, bytes)).join(""))
  .replace("/* main */", () => main);
writeFileSync(page, html);
console.log(`${page}: ${(html.length / 1e6).toFixed(1)} MB`);
