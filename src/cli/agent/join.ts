import { readFileSync } from "node:fs";
import { parsePin } from "../../access/certificates/certificate-pin.ts";
import type { AgentOptions } from "../../agent/agent-options.ts";
import { agentPaths } from "../../agent/join/agent-paths.ts";
import { joinNode } from "../../agent/join/join-node.ts";
import { type JoinToken, parseJoinToken } from "../../cluster/join-token.ts";
import { parseClientUrl } from "../../cluster/member-address.ts";
import { systemClock } from "../../process/clock.ts";
import { StartupError } from "../../process/startup-error.ts";
import type { Terminal } from "../terminal.ts";
import { runAgent } from "./run.ts";

export interface AgentJoinOptions {
  readonly url: string;
  readonly token: string | undefined;
  readonly tokenFile: string | undefined;
  readonly caHash: string | undefined;
}

/** Runs `quorate agent join`. Later starts use `quorate agent` and the same flags. */
export async function joinAgent(
  options: AgentOptions,
  join: AgentJoinOptions,
  verbosity: number,
  terminal: Terminal,
): Promise<number> {
  const { kubeconfig, certificateDirectory, node } = options;
  const { caHash } = join;
  await joinNode({
    url: named("the URL to join", () => parseClientUrl(join.url)),
    token: tokenOf(join),
    caHash: caHash === undefined ? undefined : named("--ca-hash", () => parsePin(caHash)),
    nodeName: node.name,
    paths: agentPaths(kubeconfig, certificateDirectory),
    clock: systemClock,
    random: Math.random,
    tell: (text) => terminal.complain(text),
  });
  return runAgent(options, verbosity, terminal);
}

function tokenOf({ token, tokenFile }: AgentJoinOptions): JoinToken {
  if (token !== undefined && tokenFile !== undefined) {
    throw new StartupError("--token and --token-file: give only one of them");
  }
  if (token !== undefined) return named("--token", () => parseJoinToken(token));
  if (tokenFile === undefined) {
    throw new StartupError('--token: give the token that "quorate agent token create" printed');
  }
  return named("--token-file", () => parseJoinToken(readFileSync(tokenFile, "utf8").trim()));
}

function named<T>(what: string, parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    throw new StartupError(`${what}: ${(error as Error).message}`);
  }
}
