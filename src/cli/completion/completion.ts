import type { Command } from "commander";
import { bashCompletion } from "./bash.ts";
import { commandTree } from "./command-tree.ts";
import { fishCompletion } from "./fish.ts";
import { zshCompletion } from "./zsh.ts";

const scripts = { bash: bashCompletion, fish: fishCompletion, zsh: zshCompletion } as const;

export type Shell = keyof typeof scripts;

export const shells = Object.keys(scripts) as readonly Shell[];

/** Returns the script that completes a program's commands and flags in a shell. */
export function completionScript(program: Command, shell: Shell): string {
  return scripts[shell](commandTree(program)).trimEnd();
}
