#!/usr/bin/env node
// Runs the program, which is in a package of its own for each platform.
"use strict";

const { spawnSync } = require("node:child_process");

function program() {
  const name = `cargo-diglot-${process.platform}-${process.arch}`;
  try {
    return require.resolve(`${name}/cargo-diglot`);
  } catch {
    console.error(`error: the package ${name} is not installed: install again without --omit=optional,`);
    console.error("or build the command where there is no package for the platform: cargo install cargo-diglot");
    process.exit(1);
  }
}

const { error, signal, status } = spawnSync(program(), process.argv.slice(2), { stdio: "inherit" });
if (error) throw error;
// What ended the program ends this one too.
if (signal) process.kill(process.pid, signal);
process.exit(status);
