import { X509Certificate } from "node:crypto";
import { rm } from "node:fs/promises";
import { createRequest, type KeyPair } from "../../access/certificates/authority.ts";
import type { CertificatePin } from "../../access/certificates/certificate-pin.ts";
import { readPrivateFile, writePrivateFile } from "../../access/certificates/private-file.ts";
import { StatusError } from "../../api/status.ts";
import { httpClient } from "../../client/http-client.ts";
import { type JoinToken, joinTokenText } from "../../cluster/join-token.ts";
import type { Clock } from "../../process/clock.ts";
import { StartupError } from "../../process/startup-error.ts";
import type { AgentPaths } from "./agent-paths.ts";
import { readCertificateFile, writeCertificateFile } from "./certificate-file.ts";
import { discoverAuthority } from "./discover-authority.ts";
import { nodeUser, requestCertificate } from "./request-certificate.ts";

/** Time that the first request may wait for its approval. */
const approvalMsMax = 3_600_000;

export interface JoinNodeParts {
  /** URL of the API server as `https://host:port`. */
  readonly url: string;
  readonly token: JoinToken;
  readonly caHash: CertificatePin | undefined;
  readonly nodeName: string;
  readonly paths: AgentPaths;
  readonly clock: Clock;
  readonly random: () => number;
  /** Tells people about the progress. */
  tell(text: string): void;
}

/**
 * Makes this machine a node's machine: verifies the server, requests a client certificate with the token, and writes a
 * kubeconfig. Does nothing if all that was done before and the certificate is still valid.
 * @throws StartupError that says what is wrong
 */
export async function joinNode(parts: JoinNodeParts): Promise<void> {
  const { url, token, caHash, nodeName, paths, clock, tell } = parts;
  if (await hasJoined(parts)) {
    tell(`this machine has joined before: using ${paths.kubeconfig}`);
    return;
  }
  const authority = await discoverAuthority(url, token, caHash, clock);
  tell(`requesting a certificate for the node ${nodeName}`);
  const pair = await firstCertificate(parts, authority);
  await writeCertificateFile(paths.clientCertificate, pair);
  await writePrivateFile(paths.kubeconfig, kubeconfigText(url, authority, paths.clientCertificate));
  await rm(paths.pendingKey, { force: true });
  tell(`joined as ${nodeUser(nodeName)}: wrote ${paths.kubeconfig}`);
}

async function hasJoined({ paths, nodeName, clock }: JoinNodeParts): Promise<boolean> {
  const pair = await readCertificateFile(paths.clientCertificate);
  if (pair === undefined || (await readPrivateFile(paths.kubeconfig)) === undefined) return false;
  if (new X509Certificate(pair.certificate).validToDate.getTime() <= clock.nowMs()) return false;
  requireNodeName(pair, nodeName, paths.clientCertificate);
  return true;
}

/** @throws StartupError if the certificate is of another node */
export function requireNodeName({ certificate }: KeyPair, nodeName: string, file: string): void {
  const { subject } = new X509Certificate(certificate);
  if (subject.split("\n").includes(`CN=${nodeUser(nodeName)}`)) return;
  const text = `${file} is a certificate of another node than ${nodeName}`;
  throw new StartupError(`${text}: choose its name with --hostname-override, or another --root-dir`);
}

async function firstCertificate(
  { url, token, nodeName, paths, clock, random, tell }: JoinNodeParts,
  ca: string,
): Promise<KeyPair> {
  // The key is kept, so that another attempt finds the request of this one.
  const key = (await readPrivateFile(paths.pendingKey)) ?? (await newKey(paths.pendingKey));
  const proof = { tls: { ca, rejectUnauthorized: true }, authorization: `Bearer ${joinTokenText(token)}` };
  using client = httpClient({ url, proof: async () => proof, renew: () => false }, { clock });
  try {
    return await requestCertificate(
      { client, clock, random, onError: (error) => tell((error as Error).message) },
      {
        signer: "kubernetes.io/kube-apiserver-client-kubelet",
        subject: { nodeName, dnsNames: [], ipAddresses: [] },
        key,
        waitMsMax: approvalMsMax,
      },
    );
  } catch (error) {
    const { cause } = error as Error;
    if (cause instanceof StatusError && cause.code === 401) {
      throw new StartupError(
        "the token was not accepted: it is wrong or has expired, or the server runs without --enable-bootstrap-token-auth",
      );
    }
    throw new StartupError((error as Error).message);
  }
}

async function newKey(file: string): Promise<string> {
  const { key } = createRequest({ commonName: "", organizations: [] });
  await writePrivateFile(file, key);
  return key;
}

/** Renders a kubeconfig with the names that kubelet uses. The certificate stays in its file, where it is renewed. */
function kubeconfigText(server: string, authority: string, certificateFile: string): string {
  return `apiVersion: v1
kind: Config
clusters:
- name: default-cluster
  cluster:
    server: ${JSON.stringify(server)}
    certificate-authority-data: ${Buffer.from(authority).toString("base64")}
contexts:
- name: default-context
  context:
    cluster: default-cluster
    namespace: default
    user: default-auth
current-context: default-context
users:
- name: default-auth
  user:
    client-certificate: ${JSON.stringify(certificateFile)}
    client-key: ${JSON.stringify(certificateFile)}
`;
}
