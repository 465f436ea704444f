import type { Command, Option } from "commander";

/** A command as shells complete it. */
export interface CommandNode {
  /** Its words, such as `member promote`; empty for the program. */
  readonly path: string;
  /** Its subcommands, or the values of its argument. */
  readonly words: readonly { readonly name: string; readonly description: string }[];
  readonly flags: readonly FlagNode[];
  /** Whether it takes the name of a file. */
  readonly takesFile: boolean;
}

export interface FlagNode {
  /** Without dashes, such as `output`. */
  readonly long: string;
  /** One letter, such as `o`. */
  readonly short: string | undefined;
  readonly description: string;
  /** `none` for a flag that works without a value. */
  readonly value: "none" | "file" | "directory" | "choice" | "text";
  readonly choices: readonly string[];
}

/**
 * Returns the program and all its commands, each after its parent. `help` is not among them: the words after it are those
 * of the command that it explains.
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
