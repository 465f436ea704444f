import { existsSync, readFileSync } from "node:fs";
import type { Client } from "../client/client.ts";
import { httpClient } from "../client/http-client.ts";
import { type KubeconfigServer, readKubeconfig } from "../client/kubeconfig.ts";
import type { Clock } from "../process/clock.ts";
import { orStartupError } from "../process/or-startup-error.ts";
import { StartupError } from "../process/startup-error.ts";
import type { AgentOptions } from "./agent-options.ts";
import { type AgentPaths, agentPaths } from "./join/agent-paths.ts";
import { readCertificateFile } from "./join/certificate-file.ts";
import { requireNodeName } from "./join/join-node.ts";
import { requestCertificate } from "./join/request-certificate.ts";
import { RotatingCertificate } from "./join/rotating-certificate.ts";
import { rotatingServer } from "./join/rotating-server.ts";

/** The agent's connection to its cluster. */
export interface AgentClient extends Disposable {
  readonly client: Client;
  /** Authorities of the cluster, PEM; undefined if the kubeconfig names none. */
  readonly authority: string | undefined;
  readonly paths: AgentPaths;
}

export interface AgentClientParts {
  readonly options: Pick<AgentOptions, "kubeconfig" | "certificateDirectory" | "node" | "rotatesClientCertificate">;
  readonly clock: Clock;
  readonly random: () => number;
  readonly userAgent: string;
  readonly onError: (error: unknown) => void;
}

/**
 * Opens the client of a kubeconfig. If it uses the certificate that `quorate agent join` got, that is renewed from now on.
 * @throws StartupError if the kubeconfig is absent or unusable
 */
export async function openAgentClient(parts: AgentClientParts): Promise<AgentClient> {
  const { options, clock, random, userAgent, onError } = parts;
  const { kubeconfig, certificateDirectory, node } = options;
  const paths = agentPaths(kubeconfig, certificateDirectory);
  const server = serverOf(kubeconfig, clock);
  const { tls } = await server.proof();
  const isJoined = existsSync(paths.clientCertificate) && tls.cert === readFileSync(paths.clientCertificate, "utf8");
  const running = new DisposableStack();
  if (!isJoined) {
    const client = running.use(httpClient(server, { clock, userAgent }));
    return { client, authority: tls.ca, paths, [Symbol.dispose]: () => running.dispose() };
  }
  const joined = await readCertificateFile(paths.clientCertificate);
  if (joined === undefined) throw new StartupError(`${paths.clientCertificate} has no certificate with its key`);
  requireNodeName(joined, node.name, paths.clientCertificate);
  let rotation: RotatingCertificate | undefined;
  const current = () => rotation?.current ?? joined;
  const client = running.use(httpClient(rotatingServer(server, current), { clock, userAgent }));
  if (options.rotatesClientCertificate) {
    rotation = running.use(
      await RotatingCertificate.open({
        file: paths.clientCertificate,
        signer: "kubernetes.io/kube-apiserver-client-kubelet",
        clock,
        random,
        subject: () => ({ nodeName: node.name, dnsNames: [], ipAddresses: [] }),
        request: (wanted) => requestCertificate({ client, clock, random, onError }, wanted),
        onChanged() {},
        onError,
      }),
    );
  }
  return { client, authority: tls.ca, paths, [Symbol.dispose]: () => running.dispose() };
}

function serverOf(kubeconfig: string, clock: Clock): KubeconfigServer {
  if (!existsSync(kubeconfig)) {
    throw new StartupError(`there is no kubeconfig ${kubeconfig}: run "quorate agent join", or give --kubeconfig`);
  }
  return orStartupError(kubeconfig, () => readKubeconfig(kubeconfig, { clock }));
}
