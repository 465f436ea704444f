#!/usr/bin/env bun
import { runCommand } from "./cli/program.ts";

// Files of this process, including those of the database, are readable by its owner only.
process.umask(0o077);
// A build with bytecode cannot have a top-level await.
void runCommand(process.argv.slice(2)).then((code) => process.exit(code));
