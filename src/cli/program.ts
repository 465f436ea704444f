import { Argument, Command, CommanderError } from "commander";
import { escapeControls } from "../process/redact.ts";
import { StartupError } from "../process/startup-error.ts";
import type { ServerOptions } from "../server/config/server-options.ts";
import { type AgentCommands, addAgentCommands, agentCommands } from "./agent/commands.ts";
import { addClusterCommands, type ClusterCommands, clusterCommands } from "./cluster/commands.ts";
import { completionScript, type Shell, shells } from "./completion/completion.ts";
import { addMigrateCommand, migrate } from "./migrate/command.ts";
import type { MigrateOptions } from "./migrate/migrate-options.ts";
import { addServerFlags, toServerOptions } from "./server-flags.ts";
import { servingProcess } from "./serving-process.ts";
import { servingProcessCommand } from "./serving-process-command.ts";
import { startupFailureText } from "./startup-failure.ts";
import { processTerminal, type Terminal } from "./terminal.ts";
import { up } from "./up.ts";
import { version } from "./version.ts";

/** The commands by name. Each returns its exit code. */
export interface Commands {
  up(options: ServerOptions, terminal: Terminal): Promise<number>;
  servingProcess(terminal: Terminal): Promise<number>;
  version(terminal: Terminal): Promise<number>;
  migrate(options: MigrateOptions, terminal: Terminal): Promise<number>;
  readonly cluster: ClusterCommands;
  readonly agent: AgentCommands;
}

const commands: Commands = { up, servingProcess, version, migrate, cluster: clusterCommands, agent: agentCommands };

/**
 * Runs one command line.
 * @param args without the program's own name
 * @returns the exit code: 0 for success, or 1 with one line on standard error that says what to do
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
    await program.parseAsync(helpFirst(args, program).map(withoutShortEquals), { from: "user" });
    return exitCode;
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) return 0;
    const text =
      error instanceof CommanderError
        ? usageErrorText(error, args, program)
        : startupFailureText(error, prefixOf(args));
    terminal.complain(`quorate: ${escapeControls(text)}`);
    return error instanceof StartupError ? error.exitCode : 1;
  }
}

function buildProgram(terminal: Terminal, run: Commands, setExitCode: (code: number) => void): Command {
  const program = new Command("quorate")
    .description("A Kubernetes-API-compatible control plane in one process")
    .exitOverride()
    .showHelpAfterError(false)
    .configureHelp({ optionDescription: ({ description }) => description })
    .configureOutput({ writeOut: (text) => terminal.print(text.trimEnd()), writeErr: () => {} })
    .helpCommand(false)
    // Flags after a subcommand are the subcommand's, also where its parent has the same ones.
    .enablePositionalOptions();
  const upCommand = program
    .command("up")
    .description("run a control plane until interrupted, and write its kubeconfig")
    .allowExcessArguments(false)
    .action(async (values: Record<string, unknown>) => setExitCode(await run.up(toServerOptions(values), terminal)));
  addServerFlags(upCommand);
  addClusterCommands(program, run.cluster, terminal, setExitCode);
  addAgentCommands(program, run.agent, terminal, setExitCode);
  addMigrateCommand(program, async (options) => setExitCode(await run.migrate(options, terminal)));
  program
    .command(servingProcessCommand, { hidden: true })
    .description("serve requests for the quorate that starts this process")
    .allowExcessArguments(false)
    .action(async () => setExitCode(await run.servingProcess(terminal)));
  program
    .command("version")
    .description("print the versions of quorate and of the served API")
    .allowExcessArguments(false)
    .action(async () => setExitCode(await run.version(terminal)));
  program
    .command("completion")
    .description("print a script that completes commands and flags")
    .addHelpText("after", completionHelp)
    .addArgument(new Argument("<shell>", "shell that runs the script").choices(shells))
    .allowExcessArguments(false)
    .action((shell: Shell) => terminal.print(completionScript(program, shell)));
  program
    .command("help [command...]")
    .description("explain a command and its flags")
    .action((words: string[]) => commandNamed(words, program).outputHelp());
  return program;
}

const completionHelp = `
To load it in each new shell:

  bash   echo 'source <(quorate completion bash)' >>~/.bashrc
  zsh    echo 'autoload -U compinit; compinit; source <(quorate completion zsh)' >>~/.zshrc
  fish   quorate completion fish >~/.config/fish/completions/quorate.fish`;

/** Moves the word `help` to the front, as in `cluster help join`. An empty command line becomes `help`. */
function helpFirst(args: readonly string[], program: Command): readonly string[] {
  if (args.length === 0) return ["help"];
  const group = commandOf(args, program);
  const at = group === program ? 0 : nameOf(group).split(" ").length;
  const isGroup = group.commands.length > 0;
  return isGroup && at > 0 && args[at] === "help" ? ["help", ...args.slice(0, at), ...args.slice(at + 1)] : args;
}

/** Returns the command with exactly these words. @throws StartupError for others */
function commandNamed(words: readonly string[], program: Command): Command {
  let command = program;
  for (const word of words) {
    const next = command.commands.find((known) => known.name() === word);
    if (next === undefined) {
      const see = command === program ? "quorate help" : `quorate help ${nameOf(command)}`;
      throw new StartupError(`unknown command '${words.join(" ")}': see "${see}"`);
    }
    command = next;
  }
  return command;
}

/** Accepts `-v=4`, as other Kubernetes servers do; commander would read the value `=4`. */
function withoutShortEquals(argument: string): string {
  return argument.replace(/^-([a-z])=/, "-$1");
}

/** Turns commander's error into one line that ends with the remedy. */
function usageErrorText(error: CommanderError, args: readonly string[], program: Command): string {
  if (error.code === "commander.help") {
    const name = nameOf(commandOf(args, program));
    return `${name} needs a subcommand: see "quorate help ${name}"`;
  }
  const text = error.message
    .replace(/^error: /, "")
    .replace(/\s+/g, " ")
    // Omit excess arguments, which may be secrets.
    .replace(/(but got \d+): .*$/, "$1")
    .replace(/^unknown option/, "unknown flag")
    .replace(/^(required )?option /, "flag ")
    .replace(/argument missing$/, "needs a value")
    .replace(/' not specified$/, "' is missing")
    .replace(/^missing required argument/, "missing argument")
    .replace(/^command-argument value ('[^']*') is invalid for argument '[^']*'/, "$1 is invalid")
    .replace(/ argument ('[^']*') is invalid/, ": $1 is invalid")
    .replace(/ is invalid\. Allowed choices are (.*)\.$/, " is not one of $1")
    .replace(/'\. Expected (\d+) arguments? but got (\d+)$/, "': expected $1, got $2");
  const command = commandOf(args, program);
  if (command === program) return `${text}: see "quorate help"`;
  return `${text}: see "quorate help ${nameOf(command)}"`;
}

/** Returns the command that the arguments name. Stops at the first word that is not a command. */
function commandOf(args: readonly string[], program: Command): Command {
  let command = program;
  for (const word of args) {
    const next = command.commands.find((known) => known.name() === word);
    if (next === undefined || word === "help") return command;
    command = next;
  }
  return command;
}

/** Returns the full name, such as `member promote`. */
function nameOf(command: Command): string {
  const parent = command.parent?.parent === null || command.parent === null ? undefined : command.parent;
  return parent === undefined ? command.name() : `${nameOf(parent)} ${command.name()}`;
}

/** Returns the prefix for unknown errors, which tells a failed start from a failed command. */
function prefixOf([first]: readonly string[]): string {
  return first === "up" || first === "agent" ? "cannot start: " : "";
}
