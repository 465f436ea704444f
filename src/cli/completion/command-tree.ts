import type { Command, Option } from "commander";

/** A command as shells complete it. */
export interface CommandNode {
  /** The words, such as `member promote`; empty for the program. */
  readonly path: string;
  /** The subcommands, or the values of the argument. */
  readonly words: readonly { readonly name: string; readonly description: string }[];
  readonly flags: readonly FlagNode[];
  /** Whether the command takes a file name. */
  readonly takesFile: boolean;
}

export interface FlagNode {
  /** The name without dashes, such as `output`. */
  readonly long: string;
  /** The one-letter form, such as `o`. */
  readonly short: string | undefined;
  readonly description: string;
  /** `none` for a flag that works without a value. */
  readonly value: "none" | "file" | "directory" | "choice" | "text";
  readonly choices: readonly string[];
}

/**
 * Returns the program and all its commands, each after its parent. `help` is left out: its words are those of the command
 * that it explains.
 */
export function commandTree(command: Command, path = ""): CommandNode[] {
  const children = command.commands
    .filter((child) => child.name() !== "help")
    .map((child) => ({ child, path: `${path} ${child.name()}`.trimStart() }));
  const subcommands = command.commands.map((child) => ({ name: child.name(), description: child.description() }));
  const values = command.registeredArguments.flatMap(({ argChoices = [] }) => argChoices);
  const node: CommandNode = {
    path,
    words: [...subcommands, ...values.map((name) => ({ name, description: "" }))],
    flags: command.options.filter(({ hidden }) => !hidden).map(flagNode),
    takesFile: command.registeredArguments.some((argument) => argument.name() === "file"),
  };
  return [node, ...children.flatMap(({ child, path: childPath }) => commandTree(child, childPath))];
}

function flagNode(option: Option): FlagNode {
  const { argChoices: choices = [] } = option;
  return {
    long: option.name(),
    short: option.short?.slice(1),
    description: option.description,
    value: choices.length > 0 ? "choice" : valueOf(option),
    choices,
  };
}

function valueOf({ flags, required }: Option): FlagNode["value"] {
  if (!required) return "none";
  if (flags.endsWith("<file>")) return "file";
  return flags.endsWith("<dir>") ? "directory" : "text";
}
