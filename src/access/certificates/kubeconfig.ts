import { createPrivateKey } from "node:crypto";
import { open, stat, writeFile } from "node:fs/promises";
import { StartupError } from "../../process/startup-error.ts";
import type { KeyPair } from "./authority.ts";
import { writePrivateFile } from "./private-file.ts";

export interface UserKubeconfig {
  /** URL such as `https://127.0.0.1:6443`. */
  readonly server: string;
  /** Authorities that the client trusts, PEM. */
  readonly authority: string;
  /** Name of the user's entry; `quorate-admin` by default. */
  readonly userName?: string;
  readonly user: KeyPair;
  /** Members of the cluster. Each has a context of its own, with its name, for the same administrator. */
  readonly members?: readonly NamedServer[];
}

/** The kubeconfig that a server writes for its administrator. */
export interface KubeconfigContents extends Omit<UserKubeconfig, "user" | "userName"> {
  readonly admin: KeyPair;
  readonly token: string;
}

export interface NamedServer {
  readonly name: string;
  readonly server: string;
}

/** Names of contexts that members must not take. */
const ownNames: ReadonlySet<string> = new Set(["quorate", "quorate-token"]);

/** The first line of each of our kubeconfigs, which identifies them. */
const firstLine = "# Written by quorate and replaced at every start.";

/**
 * Renders YAML with two contexts for the same administrator: `quorate`, the current one, with the client certificate, and
 * `quorate-token` with the bearer token. kubectl asks one server per context, so each member has a context too.
 */
export function renderKubeconfig({ admin, token, ...contents }: KubeconfigContents): string {
  return `${firstLine}\n${renderUserKubeconfig({ ...contents, user: admin }, token)}`;
}

/** Renders YAML for a user with a client certificate; for the administrator, with an additional context for the token. */
export function renderUserKubeconfig(contents: UserKubeconfig, token?: string): string {
  const { server, authority, user, userName = "quorate-admin", members = [] } = contents;
  const cluster = (name: string, url: string) => `- name: ${name}
  cluster:
    server: ${JSON.stringify(url)}
    certificate-authority-data: ${base64(authority)}
`;
  const others = members.map(({ name, server: url }) => ({ name: ownNames.has(name) ? `${name}-member` : name, url }));
  const context = (name: string, clusterName: string, userOf: string) => `- name: ${name}
  context:
    cluster: ${clusterName}
    user: ${JSON.stringify(userOf)}
`;
  const tokenContext = token === undefined ? "" : context("quorate-token", "quorate", "quorate-token");
  const tokenUser =
    token === undefined
      ? ""
      : `- name: quorate-token
  user:
    token: ${JSON.stringify(token)}
`;
  return `apiVersion: v1
kind: Config
current-context: quorate
clusters:
${cluster("quorate", server)}${others.map(({ name, url }) => cluster(name, url)).join("")}contexts:
${context("quorate", "quorate", userName)}${tokenContext}${others.map(({ name }) => context(name, name, userName)).join("")}users:
- name: ${JSON.stringify(userName)}
  user:
    client-certificate-data: ${base64(user.certificate)}
    client-key-data: ${base64(sec1(user.key))}
${tokenUser}`;
}

/**
 * Returns a key on an elliptic curve in its older form, `EC PRIVATE KEY`, and other keys unchanged. Some clients, such as
 * fabric8's for Java, take every `PRIVATE KEY` for an RSA key.
 */
function sec1(pem: string): string {
  const key = createPrivateKey(pem);
  return key.asymmetricKeyType === "ec" ? key.export({ type: "sec1", format: "pem" }).toString() : pem;
}

/**
 * Replaces the kubeconfig at `path`, readable only by its owner. Writes to a device, such as /dev/null, without
 * replacing it.
 * @throws StartupError if the file is not ours, because it may give access to other clusters
 */
export async function writeKubeconfig(path: string, text: string): Promise<void> {
  // Replacing a device would take it away from all other programs.
  if ((await stat(path).catch(() => undefined))?.isCharacterDevice() === true) return writeFile(path, text);
  const present = await firstBytes(path, firstLine.length);
  if (present !== undefined && present !== "" && present !== firstLine) {
    throw new StartupError(
      `${path} was not written by quorate and is left alone: choose another file with --kubeconfig`,
    );
  }
  await writePrivateFile(path, text);
}

async function firstBytes(path: string, length: number): Promise<string | undefined> {
  try {
    await using file = await open(path, "r");
    const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, 0);
    return buffer.toString("utf8", 0, bytesRead);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

function base64(text: string): string {
  return Buffer.from(text).toString("base64");
}
