import { Command, CommanderError, Option } from "commander";
import { type Flag, type FlagName, flagNames, flags, optionName } from "../config/flags.ts";
import { formatDurationMs } from "../config/duration.ts";
import { parseFlag } from "../config/parse-flag.ts";
import type { ServerOptions } from "../config/server-options.ts";
import { escapeControls } from "../observability/redact.ts";
import { startupFailureText } from "./startup-failure.ts";
import { processTerminal, type Terminal } from "./terminal.ts";
import { up } from "./up.ts";
import { version } from "./version.ts";

/** The commands behind the names; each gives its exit code. */
export interface Commands {
  up(options: ServerOptions, terminal: Terminal): Promise<number>;
  version(terminal: Terminal): Promise<number>;
}

const commands: Commands = { up, version };

/**
 * Runs one command line.
 * @param args without the program's own name
 * @returns the exit code: 0 done, 1 with one line on standard error that says what to do
 */
export async function runCommand(
  args: readonly string[],
  terminal: Terminal = processTerminal,
  run: Commands = commands,
): Promise<number> {
  let exitCode = 0;
  const program = buildProgram(terminal, run, (code) => {
    exitCode = code;
  });
  try {
    await program.parseAsync(args.length === 0 ? ["help"] : args.map(withoutShortEquals), { from: "user" });
    return exitCode;
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) return 0;
    const text = error instanceof CommanderError ? usageErrorText(error, args) : startupFailureText(error);
    terminal.complain(`quorate: ${escapeControls(text)}`);
    return 1;
  }
}

function buildProgram(terminal: Terminal, run: Commands, setExitCode: (code: number) => void): Command {
  const program = new Command("quorate")
    .description("A Kubernetes-API-compatible control plane in one process")
    .exitOverride()
    .showHelpAfterError(false)
    .configureHelp({ optionDescription: ({ description }) => description })
    .configureOutput({ writeOut: (text) => terminal.print(text.trimEnd()), writeErr: () => {} })
    .helpCommand("help [command]", "show what a command does and which flags it has");
  const upCommand = program
    .command("up")
    .description("run a control plane until interrupted, and write a kubeconfig for it")
    .allowExcessArguments(false)
    .action(async (values: Record<string, unknown>) => setExitCode(await run.up(toServerOptions(values), terminal)));
  for (const name of flagNames) upCommand.addOption(toOption(name, flags[name]));
  program
    .command("version")
    .description("print the version of quorate and of the API that it serves")
    .allowExcessArguments(false)
    .action(async () => setExitCode(await run.version(terminal)));
  return program;
}

function toOption(name: FlagName, flag: Flag): Option {
  const placeholder = flag.value ?? "bool";
  const value = flag.type === "boolean" ? `[${placeholder}]` : `<${placeholder}>`;
  // Commander has one dash for short names only; `--v` works as well, as upstream has it.
  const option = new Option(`${flag.short === undefined ? "" : `-${flag.short}, `}--${name} ${value}`, helpText(flag))
    .helpGroup(`${flag.group}:`)
    .argParser((text, previous) => parseFlag(name, flag, text, previous));
  if (flag.type === "boolean") option.preset("true");
  return option;
}

function helpText(flag: Flag): string {
  const text = defaultText(flag);
  return text === undefined ? flag.help : `${flag.help} (default ${text})`;
}

function defaultText(flag: Flag): string | undefined {
  switch (flag.type) {
    case "duration":
      return formatDurationMs(flag.default);
    case "seconds":
      return String(flag.default / 1_000);
    case "choices":
    case "texts":
      return flag.default?.join(",");
    case "switches":
      return undefined;
    default:
      return flag.default === undefined ? undefined : String(flag.default);
  }
}

/** Commander names values in its own camel case; the options have names of their own. */
function toServerOptions(values: Record<string, unknown>): ServerOptions {
  const given = flagNames.flatMap((name) => {
    const value = values[toOption(name, flags[name]).attributeName()];
    return value === undefined ? [] : [[optionName(name), value] as const];
  });
  return Object.fromEntries(given) as ServerOptions;
}

/** `-v=4` as other servers of this kind take it; commander would read the value `=4`. */
function withoutShortEquals(argument: string): string {
  return argument.replace(/^-([a-z])=/, "-$1");
}

/** One line, in our words, with the way out. */
function usageErrorText(error: CommanderError, args: readonly string[]): string {
  if (error.code === "commander.help") return `unknown command '${args[1]}': see "quorate help"`;
  const text = error.message
    .replace(/^error: /, "")
    .replace(/\s+/g, " ")
    .replace(/^unknown option/, "unknown flag")
    .replace(/^option /, "flag ");
  return `${text}: see "quorate help${error.code === "commander.unknownCommand" ? "" : " up"}"`;
}
