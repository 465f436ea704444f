import { parsePin } from "../../access/certificates/certificate-pin.ts";
import type { AgentOptions } from "../../agent/agent-options.ts";
import { agentPaths } from "../../agent/join/agent-paths.ts";
import { joinNode } from "../../agent/join/join-node.ts";
import { parseClientUrl } from "../../cluster/member-address.ts";
import { systemClock } from "../../process/clock.ts";
import { orStartupError } from "../../process/or-startup-error.ts";
import { type JoinTokenFlags, joinTokenOf } from "../join-token-flags.ts";
import type { Terminal } from "../terminal.ts";
import { runAgent } from "./run.ts";

export interface AgentJoinOptions extends JoinTokenFlags {
  readonly url: string;
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
    url: orStartupError("the URL to join", () => parseClientUrl(join.url)),
    token: joinTokenOf(join, '"quorate agent token create" printed'),
    caHash: caHash === undefined ? undefined : orStartupError("--ca-hash", () => parsePin(caHash)),
    nodeName: node.name,
    paths: agentPaths(kubeconfig, certificateDirectory),
    clock: systemClock,
    random: Math.random,
    tell: (text) => terminal.complain(text),
  });
  return runAgent(options, verbosity, terminal);
}
