import { pinOf } from "../../access/certificates/certificate-pin.ts";
import { joinBindings, joinTokenObject } from "../../agent/join/join-objects.ts";
import { resourcePath } from "../../client/resource-path.ts";
import { ClusterRequestError } from "../../cluster/cluster-client.ts";
import { joinTokenText, newJoinToken } from "../../cluster/join-token.ts";
import { StartupError } from "../../process/startup-error.ts";
import { parseDurationMs } from "../../server/config/duration.ts";
import { type ConnectionOptions, openCluster } from "../cluster/connection.ts";
import type { Terminal } from "../terminal.ts";

export interface AgentTokenOptions {
  readonly ttl: string | undefined;
  readonly description: string | undefined;
}

const ttlDefault = "24h";
const ttlMsMin = 1_000;

/** Runs `quorate agent token create`: makes the token and what its bearer needs, and prints the command for machines. */
export async function createAgentToken(
  at: ConnectionOptions,
  { ttl = ttlDefault, description = "" }: AgentTokenOptions,
  terminal: Terminal,
): Promise<number> {
  const ttlMs = parseDurationMs(ttl);
  if (ttlMs === undefined || ttlMs < ttlMsMin) {
    throw new StartupError(`--ttl: ${JSON.stringify(ttl)} is not a duration such as 1h`);
  }
  const client = openCluster(at);
  const { ca } = await client.tls();
  if (ca === undefined) {
    throw new StartupError("the kubeconfig does not contain the server's authority: choose another with --kubeconfig");
  }
  const token = newJoinToken();
  const expirationMs = Date.now() + ttlMs;
  for (const { type, object } of [...joinBindings(), joinTokenObject(token, expirationMs, description)]) {
    const path = resourcePath(type, { namespace: object.metadata.namespace });
    try {
      await client.tell({ method: "POST", path, body: object });
    } catch (error) {
      // The bindings stay when a token expires.
      if (!(error instanceof ClusterRequestError) || error.code !== 409) throw error;
    }
  }
  terminal.complain(`run this on each new machine before ${new Date(expirationMs).toISOString()}:`);
  terminal.print(`quorate agent join ${client.url} --token ${joinTokenText(token)} --ca-hash ${pinOf(ca)}`);
  return 0;
}
