import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createAuthority, issueCertificate } from "../../src/access/certificates/authority.ts";
import { openEndpoint } from "../../src/agent/serving/endpoint.ts";
import { endpointOptions, KeptLog, type ScriptedDirectory } from "../../src/agent/serving/testing.ts";
import { httpClient, type RunningServer } from "../../src/index.ts";
import { ownAddress } from "../integration/own-address.ts";

/** Certificates of an agent whose authority API servers can verify. */
export interface AgentCertificates extends AsyncDisposable {
  /** The file for `--kubelet-certificate-authority`. */
  readonly authorityFile: string;
  /** A directory for the agent's own files. */
  readonly home: string;
  readonly certificate: string;
  readonly key: string;
}

export async function agentCertificates(): Promise<AgentCertificates> {
  const validity = { notBeforeMs: Date.now() - 60_000, notAfterMs: Date.now() + 3_600_000 };
  const authority = createAuthority({ commonName: "agents", ...validity });
  const { certificate, key } = issueCertificate(authority, {
    commonName: "system:node:n1",
    organizations: ["system:nodes"],
    usage: "server",
    dnsNames: [],
    ipAddresses: [ownAddress()],
    ...validity,
  });
  const home = await mkdtemp(join(tmpdir(), "quorate-agent-"));
  const authorityFile = join(home, "authority.crt");
  await writeFile(authorityFile, authority.certificate);
  return {
    authorityFile,
    home,
    certificate,
    key,
    [Symbol.asyncDispose]: () => rm(home, { recursive: true, force: true }),
  };
}

/** Opens the endpoint of node `n1`, which asks the API server who may use it. */
export async function openAgentEndpoint(
  directory: ScriptedDirectory,
  { certificate, key, home }: AgentCertificates,
  { url, ca, token }: Pick<RunningServer, "url" | "ca" | "token">,
): Promise<AgentEndpoint> {
  const client = httpClient({
    url,
    proof: async () => ({ tls: { ca, rejectUnauthorized: true }, authorization: `Bearer ${token}` }),
    renew: () => false,
  });
  const log = new KeptLog();
  const endpoint = await openEndpoint({
    ...endpointOptions(directory, { cert: certificate, key, ca: [ca] }),
    host: ownAddress(),
    rootDir: home,
    client,
    log,
    access: { anonymous: false, tokenWebhook: true, authorizationMode: "Webhook" },
  });
  return {
    port: endpoint.port,
    log,
    async [Symbol.asyncDispose]() {
      await endpoint.close(0);
      client[Symbol.dispose]();
    },
  };
}

export interface AgentEndpoint extends AsyncDisposable {
  readonly port: number;
  readonly log: KeptLog;
}

/** Makes the endpoint a node, and lets API servers use it. @param create sends a POST that must succeed */
export async function registerAgent(
  create: (path: string, object: object) => Promise<unknown>,
  port: number,
): Promise<void> {
  const status = {
    addresses: [{ type: "InternalIP", address: ownAddress() }],
    daemonEndpoints: { kubeletEndpoint: { Port: port } },
  };
  await create("/api/v1/nodes", { metadata: { name: "n1" }, status });
  const rbac = "rbac.authorization.k8s.io";
  await create(`/apis/${rbac}/v1/clusterrolebindings`, {
    metadata: { name: "api-servers-use-agents" },
    roleRef: { apiGroup: rbac, kind: "ClusterRole", name: "system:kubelet-api-admin" },
    subjects: [{ apiGroup: rbac, kind: "User", name: "kube-apiserver-kubelet-client" }],
  });
}
