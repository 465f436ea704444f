import { parsePin } from "../../access/certificates/certificate-pin.ts";
import { agentPaths } from "../../agent/join/agent-paths.ts";
import { joinNode } from "../../agent/join/join-node.ts";
import { parseClientUrl } from "../../cluster/member-address.ts";
import { systemClock } from "../../process/clock.ts";
import { orStartupError } from "../../process/or-startup-error.ts";
import { type JoinTokenFlags, joinTokenOf } from "../join-token-flags.ts";
import type { Terminal } from "../terminal.ts";
import type { AgentFlagValues } from "./agent-flags.ts";
import { runAgent } from "./run.ts";
import { toAgentOptions } from "./to-agent-options.ts";

export interface AgentJoinOptions extends JoinTokenFlags {
  readonly url: string;
  readonly caHash: string | undefined;
}

/** Runs `quorate agent join`. Later starts use `quorate agent` and the same flags. */
export async function joinAgent(flags: AgentFlagValues, join: AgentJoinOptions, terminal: Terminal): Promise<number> {
  const { kubeconfig, certificateDirectory, node } = toAgentOptions(flags);
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
  return runAgent(flags, terminal);
}
