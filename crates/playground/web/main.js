// The page: four editors, what the compiler finds in them, and what both engines say.

import { EditorView, minimalSetup } from "codemirror";
import { PostgreSQL, sql, SQLite } from "@codemirror/lang-sql";
import { syntaxHighlighting } from "@codemirror/language";
import { lintKeymap, setDiagnostics } from "@codemirror/lint";
import { keymap, lineNumbers } from "@codemirror/view";
import { classHighlighter } from "@lezer/highlight";
import { check, initSync } from "diglot";
import { examples } from "./examples.js";

const CHECK_AFTER_MS = 200;
const RUN_AFTER_MS = 500;
// A run that takes longer is ended.
const RUN_AT_MOST_MS = 30_000;
const DATABASES = 1000;

const $ = (id) => document.getElementById(id);
const SIDES = { sqlite: SQLite, pg: PostgreSQL };
const KINDS = ["schema", "statements"];

const element = (name, attributes = {}, ...children) => {
  const made = Object.assign(document.createElement(name), attributes);
  made.append(...children);
  return made;
};

// Editors

const editors = {};
let isShown = false;
for (const [side, dialect] of Object.entries(SIDES)) {
  for (const kind of KINDS) {
    const id = `${side}-${kind}`;
    editors[id] = new EditorView({
      parent: $(id),
      extensions: [
        minimalSetup,
        lineNumbers(),
        keymap.of(lintKeymap),
        sql({ dialect }),
        syntaxHighlighting(classHighlighter),
        EditorView.lineWrapping,
        EditorView.contentAttributes.of({ "aria-labelledby": `${side}-title ${id}-title` }),
        EditorView.updateListener.of((update) => update.docChanged && isShown && changed()),
      ],
    });
  }
}

const project = () => {
  const page = (side) => Object.fromEntries(KINDS.map((kind) => [kind, editors[`${side}-${kind}`].state.doc.toString()]));
  return JSON.stringify({ sqlite: page("sqlite"), pg: page("pg"), evidence: null });
};

const show = (example) => {
  isShown = false;
  for (const side of Object.keys(SIDES)) {
    for (const kind of KINDS) {
      const view = editors[`${side}-${kind}`];
      view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: example.project[side][kind].trimEnd() } });
    }
  }
  isShown = true;
  checked();
};

// What was found

// What a terminal shows, line by line, with its colours as classes. Lines of prose may be broken, those with carets not.
const painted = (text) => {
  const pre = element("pre");
  let classes = [];
  for (const line of text.trimEnd().split("\n")) {
    const box = element("div");
    line.split(/\x1b\[([\d;]*)m/).forEach((piece, at) => {
      if (at % 2 === 0) {
        if (piece) box.append(element("span", { className: classes.join(" ") }, piece));
        return;
      }
      const codes = piece.split(";").map(Number);
      classes = codes.includes(0) ? [] : [...classes, ...codes.map((code) => `ansi-${code}`)];
    });
    box.className = /^(error|warning)|^ *= /.test(box.textContent) ? "prose" : "";
    if (line === "") box.append("\n");
    pre.append(box);
  }
  return pre;
};

const mark = (marks) => {
  for (const [id, view] of Object.entries(editors)) {
    const doc = view.state.doc;
    const at = ([line, character]) => Math.min(doc.line(Math.min(line + 1, doc.lines)).from + character, doc.length);
    const own = marks.filter((mark) => mark.editor === id);
    const diagnostics = own.map((mark) => ({ ...mark, from: at(mark.from), to: at(mark.to) }));
    view.dispatch(setDiagnostics(view.state, diagnostics));
  }
};

const grid = ({ name, columns, rows, more }) => {
  const row = (cells, kind) => element("tr", {}, ...cells.map((cell) => element(kind, {}, cell)));
  const table = element("table", {}, element("caption", {}, element("code", {}, name), " holds"));
  table.append(element("thead", {}, row(columns, "th")), element("tbody", {}, ...rows.map((cells) => row(cells, "td"))));
  if (more > 0) table.append(element("tfoot", {}, element("tr", {}, element("td", { colSpan: columns.length }, `and ${more} more`))));
  return table;
};

const database = ({ tables, arguments: given, answers }) => {
  const box = element("div", { className: "database" });
  box.append(element("div", { className: "tables" }, ...tables.map(grid)));
  if (tables.length === 0) box.append(element("p", {}, "All tables are empty."));
  if (given) box.append(element("p", {}, "with ", element("code", {}, given)));
  const answer = ({ heading, lines }) =>
    element("div", {}, element("h4", {}, heading), element("pre", {}, lines.join("\n")));
  box.append(element("div", { className: "answers" }, ...answers.map(answer)));
  return box;
};

const VERDICTS = {
  "differs": ["bad", "differs"],
  "same by law": ["good", "the same by law"],
  "same when run": ["good", "the same when run"],
  "unknown": ["open", "unknown"],
  "not run": ["open", "not run yet"],
};

const card = (pair) => {
  const [mood, words] = VERDICTS[pair.verdict];
  const box = element("article", { className: `pair ${mood}` });
  box.dataset.verdict = pair.verdict;
  box.append(element("h3", {}, element("code", {}, pair.name), " ", element("span", { className: "badge" }, words)));
  if (pair.words) box.append(element("p", {}, pair.words[0].toUpperCase() + pair.words.slice(1)));
  if (pair.database) box.append(database(pair.database));
  return box;
};

const found = (json) => {
  const { statements, alone, findings, marks, pairs } = JSON.parse(json);
  mark(marks);
  $("pairs").replaceChildren(...pairs.map(card));
  $("findings").replaceChildren(...findings.map(painted));
  $("nothing").hidden = findings.length > 0 || statements + alone === 0;
  $("empty").hidden = statements + alone > 0 || findings.length > 0;
  return pairs;
};

const summary = (pairs) => {
  const differ = pairs.filter((pair) => pair.verdict === "differs").map((pair) => pair.name);
  const open = pairs.filter((pair) => pair.verdict === "unknown").map((pair) => pair.name);
  if (pairs.length === 0) return "No statement stands on both sides, so nothing was run.";
  if (differ.length > 0) return `Ran on SQLite and Postgres: ${differ.join(", ")} ${differ.length === 1 ? "differs" : "differ"}.`;
  if (open.length > 0) return `Of ${open.join(", ")} running says nothing.`;
  return "Ran on SQLite and Postgres: no difference.";
};

const say = (words, mood, leads = false) => {
  $("status").replaceChildren(leads ? element("a", { href: "#pairs" }, words) : words);
  $("status").dataset.mood = mood;
};

// Both engines

let worker, module, packed, isReady, running, watchdog;
let number = 0;
// What took too long, and is not run again.
let ended;

const start = () => {
  isReady = false;
  running = undefined;
  say("Starting SQLite and Postgres in this page …", "busy");
  worker = new Worker(URL.createObjectURL(new Blob([packed.worker], { type: "text/javascript" })));
  worker.onmessage = ({ data }) => heard(data);
  worker.onerror = (event) => say(`The engines do not start: ${event.message}`, "bad");
  worker.postMessage({ module, packed });
};

const heard = ({ ready, number: of, found: json, error }) => {
  clearTimeout(watchdog);
  running = undefined;
  if (ready) isReady = true;
  else if (!isReady) return say(`The engines do not start: ${error}`, "bad");
  else if (of === number) {
    if (error) return say(error, "bad");
    say(summary(found(json)), "done", true);
    performance.mark("answered");
    return;
  }
  ran();
};

const ran = () => {
  if (!isReady || running !== undefined || ended === number) return;
  running = number;
  say("Running both pages on small databases …", "busy");
  worker.postMessage({ number, project: project(), budget: DATABASES });
  watchdog = setTimeout(() => {
    ended = number;
    worker.terminate();
    start();
    say("Ended: the statements ran for more than 30 seconds. Change something to run them again.", "bad");
  }, RUN_AT_MOST_MS);
};

let toCheck, toRun;
const changed = () => {
  number += 1;
  clearTimeout(toCheck);
  toCheck = setTimeout(checked, CHECK_AFTER_MS);
};

const checked = () => {
  number += 1;
  clearTimeout(toCheck);
  clearTimeout(toRun);
  found(check(project()));
  if (isReady) say("Waiting until you stop typing …", "busy");
  toRun = setTimeout(ran, RUN_AFTER_MS);
};

// Beginning

const stored = (name) => $(`packed-${name}`).textContent.trim();
const unpacked = async (text) => {
  const zipped = await fetch(`data:application/octet-stream;base64,${text}`);
  return new Response(zipped.body.pipeThrough(new DecompressionStream("gzip"))).arrayBuffer();
};

const begin = async () => {
  const names = ["sqlite", "pglite", "data", "cluster"];
  packed = Object.fromEntries(names.map((name) => [name, stored(name)]));
  const [compiler, script] = await Promise.all([unpacked(stored("diglot")), unpacked(stored("worker"))]);
  packed.worker = script;
  module = await WebAssembly.compile(compiler);
  initSync({ module });
  const options = (differ) =>
    examples.flatMap(({ title, verdict }, value) =>
      (verdict === "differs") === differ ? [element("option", { value }, title)] : []);
  $("example").append(
    element("optgroup", { label: "Both sides differ" }, ...options(true)),
    element("optgroup", { label: "Both sides mean the same" }, ...options(false)),
  );
  $("example").onchange = () => show(examples[$("example").value]);
  show(examples[0]);
  performance.mark("checked");
  start();
};

begin().catch((error) => say(`The page cannot begin: ${error.message}`, "bad"));
