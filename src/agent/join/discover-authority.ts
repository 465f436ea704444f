import type { CertificatePin } from "../../access/certificates/certificate-pin.ts";
import { StatusError } from "../../api/status.ts";
import type { ConfigMap } from "../../api/types/core-v1.ts";
import type { ResourceType } from "../../client/client.ts";
import { httpClient } from "../../client/http-client.ts";
import { NoAnswerError } from "../../client/transport.ts";
import type { JoinToken } from "../../cluster/join-token.ts";
import { pinnedAuthority } from "../../cluster/pinned-authority.ts";
import type { Clock } from "../../process/clock.ts";
import { StartupError } from "../../process/startup-error.ts";
import { verifyClusterInfo } from "./verify-cluster-info.ts";

const configMaps: ResourceType<ConfigMap> = { group: "", version: "v1", resource: "configmaps" };
const clusterInfo = { namespace: "kube-public", name: "cluster-info" };
const timeoutMs = 10_000;

/**
 * Returns the authority of a cluster, as PEM, without trusting its server: from the ConfigMap kube-public/cluster-info
 * or, if the server shows none, from the handshake. Nothing secret is sent.
 * @throws StartupError that says what is wrong
 */
export async function discoverAuthority(
  url: string,
  token: JoinToken,
  caHash: CertificatePin | undefined,
  clock: Clock,
): Promise<string> {
  const proof = { tls: { rejectUnauthorized: false }, authorization: undefined };
  using client = httpClient({ url, proof: async () => proof, renew: () => false }, { clock });
  try {
    const shown = await client.get(configMaps, clusterInfo, { timeoutMs }).catch(absent);
    if (shown !== undefined) return verifyClusterInfo(shown, token, caHash);
    if (caHash !== undefined) return await pinnedAuthority(url, caHash);
  } catch (error) {
    throw error instanceof StartupError ? error : new StartupError((error as Error).message);
  }
  throw new StartupError(`${url} shows no cluster-info to everyone, so its authority is unknown: give --ca-hash`);
}

function absent(error: unknown): undefined {
  if (error instanceof NoAnswerError) throw error;
  if (error instanceof StatusError && error.code >= 400 && error.code < 500) return undefined;
  throw error;
}
