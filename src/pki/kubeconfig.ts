import { open } from "node:fs/promises";
import { StartupError } from "../config/startup-error.ts";
import type { KeyPair } from "./authority.ts";
import { writePrivateFile } from "./private-file.ts";

export interface KubeconfigContents {
  /** `https://127.0.0.1:6443` */
  readonly server: string;
  /** Authorities that the client trusts, PEM. */
  readonly authority: string;
  readonly admin: KeyPair;
  readonly token: string;
}

/** The first line of each kubeconfig of ours, by which it is known as ours. */
const firstLine = "# Written by quorate and replaced at every start.";

/**
 * YAML text with two contexts for the same administrator: `quorate` by client certificate, which is current, and
 * `quorate-token` by bearer token.
 */
export function renderKubeconfig({ server, authority, admin, token }: KubeconfigContents): string {
  return `${firstLine}
apiVersion: v1
kind: Config
current-context: quorate
clusters:
- name: quorate
  cluster:
    server: ${JSON.stringify(server)}
    certificate-authority-data: ${base64(authority)}
contexts:
- name: quorate
  context:
    cluster: quorate
    user: quorate-admin
- name: quorate-token
  context:
    cluster: quorate
    user: quorate-token
users:
- name: quorate-admin
  user:
    client-certificate-data: ${base64(admin.certificate)}
    client-key-data: ${base64(admin.key)}
- name: quorate-token
  user:
    token: ${JSON.stringify(token)}
`;
}

/**
 * Replaces the kubeconfig at `path`, readable by its owner only.
 * @throws StartupError when a file is there that is not ours: it may hold the way to other clusters
 */
export async function writeKubeconfig(path: string, text: string): Promise<void> {
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
