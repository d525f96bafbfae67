// Both engines and the compiler beside the page, so that the page answers while they run.

import { PGlite } from "@electric-sql/pglite";
import initSqlJs from "sql.js/dist/sql-wasm-browser.js";
import { initSync, run } from "diglot";

let SQL, sqlite, postgres;

// A value is a letter for its kind, and its text.
const hex = (bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
const told = (value) => {
  if (value === null) return "n";
  if (typeof value === "bigint") return `i${value}`;
  if (typeof value === "number") return `r${value}`;
  return typeof value === "string" ? `t${value}` : `b${hex(value)}`;
};
const given = (word) => {
  const text = word.slice(1);
  switch (word[0]) {
    case "n": return null;
    case "i": return BigInt(text);
    case "r": return Number(text);
    case "t": return text;
    default: return Uint8Array.from(text.match(/../g) ?? [], (digits) => parseInt(digits, 16));
  }
};

// A statement of several takes the first of the arguments of all.
const bind = (statement, values) => {
  for (let count = values.length; ; count--) {
    try {
      return statement.bind(values.slice(0, count));
    } catch (error) {
      if (count === 0 || error.code !== "SQLITE_RANGE") throw error;
    }
  }
};

const changes = () => {
  sqlite.total.step();
  const [count] = sqlite.total.get();
  sqlite.total.reset();
  return count;
};

const one = (text, values, most) => {
  const before = changes();
  const statement = sqlite.prepared.get(text) ?? sqlite.db.prepare(text);
  sqlite.prepared.set(text, statement);
  try {
    bind(statement, values);
    const rows = [];
    while (rows.length < most && statement.step()) rows.push(statement.get(null, { useBigInt: true }).map(told));
    // What only reads leaves the count of the statement before it.
    return { rows, changes: changes() === before ? 0 : sqlite.db.getRowsModified() };
  } finally {
    statement.reset();
  }
};

// What the compiler calls.
Object.assign(self, {
  openSqlite() {
    sqlite?.db.close();
    const db = new SQL.Database();
    sqlite = { db, prepared: new Map(), total: db.prepare("SELECT total_changes()") };
  },
  runSqlite(text, values, most) {
    try {
      if (values !== undefined) return JSON.stringify(one(text, JSON.parse(values).map(given), most));
      sqlite.db.exec(text);
      return JSON.stringify({ rows: [], changes: 0 });
    } catch (error) {
      return JSON.stringify({ code: error.code ?? "", words: error.message });
    }
  },
  talkToPostgres: (message) => postgres.execProtocolRawSync(message),
});

const unpacked = async (text) => {
  const packed = await fetch(`data:application/octet-stream;base64,${text}`);
  return new Response(packed.body.pipeThrough(new DecompressionStream("gzip"))).arrayBuffer();
};

const start = async ({ module, packed }) => {
  initSync({ module });
  const blob = async (name) => new Blob([await unpacked(packed[name])]);
  const [wasmBinary, pgliteWasmModule, fsBundle, loadDataDir] = await Promise.all([
    unpacked(packed.sqlite), unpacked(packed.pglite).then(WebAssembly.compile), blob("data"), blob("cluster"),
  ]);
  SQL = await initSqlJs({ wasmBinary });
  // What makes a cluster is asked for though one is there: a module with nothing in it will do.
  const initdbWasmModule = await WebAssembly.compile(Uint8Array.of(0, 0x61, 0x73, 0x6d, 1, 0, 0, 0));
  postgres = await PGlite.create({ pgliteWasmModule, initdbWasmModule, fsBundle, loadDataDir });
};

self.onmessage = async ({ data }) => {
  try {
    if (data.module) {
      await start(data);
      self.postMessage({ ready: true });
      return;
    }
    const today = Math.floor(Date.now() / 86_400_000);
    self.postMessage({ number: data.number, found: run(data.project, data.budget, today) });
  } catch (error) {
    self.postMessage({ number: data.number, error: String(error.message ?? error) });
  }
};
