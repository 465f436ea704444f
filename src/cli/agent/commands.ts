import type { Command } from "commander";
import { addConnectionFlags } from "../cluster/commands.ts";
import type { ConnectionOptions } from "../cluster/connection.ts";
import type { Terminal } from "../terminal.ts";
import { type AgentFlagValues, addAgentFlags, agentFlagValues } from "./agent-flags.ts";
import type { AgentJoinOptions } from "./join.ts";
import type { AgentTokenOptions } from "./token.ts";

/** The agent's commands by name. Each returns its exit code. */
export interface AgentCommands {
  run(flags: AgentFlagValues, terminal: Terminal): Promise<number>;
  join(flags: AgentFlagValues, join: AgentJoinOptions, terminal: Terminal): Promise<number>;
  createToken(at: ConnectionOptions, options: AgentTokenOptions, terminal: Terminal): Promise<number>;
}

/** Loads a command's code when it is called. */
export const agentCommands: AgentCommands = {
  run: async (...args) => (await import("./run.ts")).runAgent(...args),
  join: async (...args) => (await import("./join.ts")).joinAgent(...args),
  createToken: async (...args) => (await import("./token.ts")).createAgentToken(...args),
};

/** Adds `agent` to the program. */
export function addAgentCommands(
  program: Command,
  run: AgentCommands,
  terminal: Terminal,
  setExitCode: (code: number) => void,
): void {
  const done = (code: Promise<number>) => code.then(setExitCode);
  const agent = program
    .command("agent")
    .description("run this machine as a node of a cluster")
    .helpCommand(false)
    .enablePositionalOptions()
    .allowExcessArguments(false);
  addAgentFlags(agent).action((values) => done(run.run(agentFlagValues(values), terminal)));

  const join = agent
    .command("join <url>")
    .description("make this machine a node of the cluster of the server at <url>, and run it")
    .allowExcessArguments(false)
    .option("--token <token>", 'the token printed by "quorate agent token create"')
    .option("--token-file <file>", "file with the token; hides it from other users of the machine")
    .option("--ca-hash <hash>", "hash of the cluster's authority, checked before anything is sent");
  addAgentFlags(join).action((url, { token, tokenFile, caHash, ...values }) =>
    done(run.join(agentFlagValues(values), { url, token, tokenFile, caHash }, terminal)),
  );

  const token = agent.command("token").description("manage the tokens with which machines join").helpCommand(false);
  addConnectionFlags(
    token
      .command("create")
      .description("make a token, and print the command that joins a machine")
      .allowExcessArguments(false),
  )
    .option("--ttl <duration>", "lifetime of the token (default 24h)")
    .option("--description <text>", "purpose of the token")
    .action(({ ttl, description, ...at }) => done(run.createToken(at, { ttl, description }, terminal)));
}
