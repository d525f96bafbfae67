// Starts `cargo-diglot lsp` for the folders that are open, and hands it their SQL.
"use strict";

const vscode = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

let client;

function newClient() {
  const command = vscode.workspace.getConfiguration("diglot").get("command");
  return new LanguageClient(
    "diglot",
    "diglot",
    { command, args: ["lsp"] },
    { documentSelector: [{ scheme: "file", language: "sql" }, { scheme: "file", pattern: "**/diglot.toml" }] },
  );
}

async function start() {
  client = newClient();
  try {
    await client.start();
  } catch {
    // Why, the client has told; here is the way out.
    const settings = "Open Settings";
    const said = "Install the command cargo-diglot, or name it in the setting diglot.command.";
    if ((await vscode.window.showErrorMessage(said, settings)) === settings) {
      await vscode.commands.executeCommand("workbench.action.openSettings", "diglot.command");
    }
  }
}

async function stop() {
  const running = client;
  client = undefined;
  // A server that did not start has nothing to stop.
  if (running?.isRunning()) await running.stop();
}

async function restart() {
  await stop();
  await start();
}

function activate(context) {
  context.subscriptions.push(
    vscode.commands.registerCommand("diglot.restart", restart),
    vscode.workspace.onDidChangeConfiguration((event) => {
      if (event.affectsConfiguration("diglot.command")) restart();
    }),
  );
  // The message that it did not start waits for an answer; the editor does not wait for that.
  start();
}

module.exports = { activate, deactivate: stop };
