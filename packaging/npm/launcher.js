#!/usr/bin/env node
// Starts the program of this platform's package. No install script does it instead: npm 12 does not run them.
"use strict";
const { spawn } = require("node:child_process");
const { constants } = require("node:os");

const platform = `${process.platform}-${process.arch}`;
const { name, optionalDependencies } = require("../package.json");
const arguments_ = process.argv.slice(2);
const program = locate();

if (typeof process.execve === "function") {
  // Node is gone after this, and its 40 MiB with it. Without a word about the call being new: stderr is the program's.
  process.emitWarning = () => {};
  process.execve(program, [program, ...arguments_], process.env);
} else {
  run();
}

function locate() {
  const wanted = `${name}-${platform}`;
  if (!(wanted in optionalDependencies)) {
    fail(`there is no build for ${platform}. Build it from source with cargo: see the README.`);
  }
  try {
    return require.resolve(`${wanted}/bin/mcp-fs`);
  } catch {
    return fail(`the package ${wanted} is missing. Install ${name} again without --omit=optional or --no-optional.`);
  }
}

// Before Node 22.15: a child that has our stdin, stdout and stderr, gets our signals, and whose end is ours.
function run() {
  const child = spawn(program, arguments_, { stdio: "inherit" });
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
  child.on("error", (error) => fail(`cannot start ${program}: ${error.message}`));
  child.on("exit", (code, signal) => process.exit(code ?? 128 + constants.signals[signal]));
}

function fail(why) {
  console.error(`mcp-fs: ${why}`);
  process.exit(1);
}
