#!/usr/bin/env bun
import { runCommand } from "./cli/program.ts";

process.exit(await runCommand(process.argv.slice(2)));
