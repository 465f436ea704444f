import { createRequest, type KeyPair } from "../../access/certificates/authority.ts";
import { type NamedServer, renderUserKubeconfig } from "../../access/certificates/kubeconfig.ts";
import { isJsonObject, type JsonObject } from "../../api/json.ts";
import { objectOf, textOf } from "../../api/json-reading.ts";
import { type ClusterClient, ClusterRequestError } from "../../cluster/cluster-client.ts";
import { StartupError } from "../../process/startup-error.ts";
import type { Terminal } from "../terminal.ts";

const requests = "/apis/certificates.k8s.io/v1/certificatesigningrequests";
const signMsMax = 10_000;
const pollMs = 100;

export interface KubeconfigOptions {
  /** The server to name in place of the member that answers, such as a load balancer. */
  readonly address: string | undefined;
  /** The user to get a certificate for; the user of our own kubeconfig if absent. */
  readonly user: string | undefined;
  readonly groups: readonly string[];
  readonly ttlSeconds: number | undefined;
}

/** Runs `quorate kubeconfig`: prints a kubeconfig that names all members, for this user or another one. */
export async function printKubeconfig(
  client: ClusterClient,
  options: KubeconfigOptions,
  terminal: Terminal,
): Promise<number> {
  const { address, user: name, groups, ttlSeconds } = options;
  if (name === undefined && (groups.length > 0 || ttlSeconds !== undefined)) {
    throw new StartupError("--group and --ttl describe a new certificate: give --user too");
  }
  if (address !== undefined && !(address.startsWith("https://") && URL.canParse(address))) {
    throw new StartupError(`--address: ${JSON.stringify(address)} is not an https URL`);
  }
  const { ca, cert = "", key = "" } = await client.tls();
  if (ca === undefined)
    throw new StartupError(
      "the kubeconfig does not contain the server's authority: choose another one with --kubeconfig",
    );
  if (name === undefined && cert === "") {
    throw new StartupError("the kubeconfig's user has no certificate: give --user, or another --context");
  }
  const user = name === undefined ? { certificate: cert, key } : await certificateFor(name, client, options);
  const members = await membersOf(client);
  const server = address ?? client.url;
  const named = name === undefined ? {} : { userName: name };
  terminal.print(renderUserKubeconfig({ server, authority: ca, user, members, ...named }).trimEnd());
  return 0;
}

/** Makes a key and returns a certificate for it, signed by the server. */
async function certificateFor(name: string, client: ClusterClient, options: KubeconfigOptions): Promise<KeyPair> {
  const { groups, ttlSeconds } = options;
  const { request, key } = createRequest({ commonName: name, organizations: groups });
  const created = await client.tell({
    method: "POST",
    path: requests,
    body: {
      metadata: { generateName: "quorate-kubeconfig-" },
      spec: {
        request: Buffer.from(request).toString("base64"),
        signerName: "kubernetes.io/kube-apiserver-client",
        usages: ["client auth"],
        ...(ttlSeconds === undefined ? {} : { expirationSeconds: ttlSeconds }),
      },
    },
  });
  const path = `${requests}/${textOf(objectOf(created["metadata"])["name"])}`;
  const approved = { type: "Approved", status: "True", reason: "QuorateKubeconfig", message: "quorate kubeconfig" };
  try {
    const body = { ...created, status: { conditions: [approved] } };
    await client.tell({ method: "PUT", path: `${path}/approval`, body });
    return { certificate: await signed(path, client), key };
  } finally {
    await client.tell({ method: "DELETE", path }).catch(() => undefined);
  }
}

async function signed(path: string, client: ClusterClient): Promise<string> {
  for (const endMs = performance.now() + signMsMax; performance.now() < endMs; await Bun.sleep(pollMs)) {
    const status = objectOf((await client.get(path))["status"]);
    const certificate = textOf(status["certificate"]);
    if (certificate !== "") return Buffer.from(certificate, "base64").toString();
    const failure = conditionsOf(status).find(({ type }) => type === "Failed" || type === "Denied");
    if (failure !== undefined) throw new StartupError(`the certificate was refused: ${textOf(failure["message"])}`);
  }
  throw new StartupError(
    "the certificate was not signed in time: check that --controllers includes the signing controller",
  );
}

function conditionsOf({ conditions }: JsonObject): JsonObject[] {
  return Array.isArray(conditions) ? conditions.filter(isJsonObject) : [];
}

/** Returns the members; none for a server in memory, or if the user may not see them. */
async function membersOf(client: ClusterClient): Promise<NamedServer[]> {
  try {
    const { members } = await client.get("/cluster/members");
    const known = (Array.isArray(members) ? members : []).filter(isJsonObject).map(({ name, clientUrl }) => ({
      name: textOf(name),
      server: textOf(clientUrl),
    }));
    return known.length < 2 ? [] : known.filter(({ server }) => server !== "");
  } catch (error) {
    if (error instanceof ClusterRequestError) return [];
    throw error;
  }
}
