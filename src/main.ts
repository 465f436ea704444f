#!/usr/bin/env bun
import { runCommand } from "./cli/program.ts";

// Whatever this process writes, the database's own files too, is for its owner only.
process.umask(0o077);
process.exit(await runCommand(process.argv.slice(2)));
