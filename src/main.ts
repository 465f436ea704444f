#!/usr/bin/env bun
import { runCommand } from "./cli/program.ts";

// Whatever this process writes, the database's own files too, is for its owner only.
process.umask(0o077);
// No await at the top: a build with its bytecode cannot have one.
void runCommand(process.argv.slice(2)).then((code) => process.exit(code));
