import { StatusError } from "../../api/status.ts";
import type { Pod, Secret } from "../../api/types/core-v1.ts";
import type { Client, ResourceType } from "../../client/client.ts";
import type { RecordPodEvent } from "./pod-recorder.ts";

const secrets: ResourceType<Secret> = { group: "", version: "v1", resource: "secrets" };
const timeoutMs = 10_000;
/** Number of secrets of one pod that are read. */
const secretsMax = 20;
const defaultRegistry = "docker.io";

interface RegistryLogin {
  readonly auth?: string;
  readonly username?: string;
  readonly password?: string;
}

/**
 * Returns a function that finds the credential for an image among the secrets that a pod names: the base64 form of
 * `user:password` for the longest place that the image lies in.
 */
export function imageCredentials(
  client: Pick<Client, "get">,
  record: RecordPodEvent,
): (pod: Pod, image: string) => Promise<string | undefined> {
  return async (pod, image) => {
    const names = (pod.spec?.imagePullSecrets ?? []).map(({ name = "" }) => name).filter((name) => name !== "");
    const logins: (readonly [place: string, login: RegistryLogin])[] = [];
    const missing: string[] = [];
    for (const name of names.slice(0, secretsMax)) {
      const secret = await read(client, pod.metadata.namespace, name);
      if (secret === undefined) missing.push(name);
      else logins.push(...loginsOf(secret));
    }
    if (missing.length > 0) {
      const list = missing.join(", ");
      const message = `Unable to retrieve some image pull secrets (${list}); attempting to pull the image may not succeed.`;
      record(pod, { type: "Warning", reason: "FailedToRetrieveImagePullSecret", message });
    }
    const place = placeOf(image);
    const fitting = logins.filter(([one]) => place === one || place.startsWith(`${one}/`));
    const [best] = fitting.sort(([a], [b]) => b.length - a.length);
    return best === undefined ? undefined : credentialOf(best[1]);
  };
}

async function read(client: Pick<Client, "get">, namespace = "", name: string): Promise<Secret | undefined> {
  try {
    return await client.get(secrets, { namespace, name }, { timeoutMs });
  } catch (error) {
    if (error instanceof StatusError) return undefined;
    throw error;
  }
}

function loginsOf({ type, data = {} }: Secret): (readonly [string, RegistryLogin])[] {
  const isOld = type === "kubernetes.io/dockercfg";
  const encoded = data[isOld ? ".dockercfg" : ".dockerconfigjson"];
  if (typeof encoded !== "string") return [];
  try {
    const document = JSON.parse(Buffer.from(encoded, "base64").toString());
    const logins = (isOld ? document : document.auths) as Record<string, RegistryLogin> | undefined;
    return Object.entries(logins ?? {}).map(([place, login]) => [normalized(place), login] as const);
  } catch {
    // A malformed secret has no credentials. The pull then says that it was refused.
    return [];
  }
}

/** Returns the registry and path of an image, without its tag and digest. */
function placeOf(image: string): string {
  const [named = ""] = image.split("@");
  const slash = named.indexOf("/");
  const first = slash < 0 ? "" : named.slice(0, slash);
  const isHost = /[.:]/.test(first) || first === "localhost";
  const full = isHost ? named : `${defaultRegistry}/${slash < 0 ? "library/" : ""}${named}`;
  const tagAt = full.indexOf(":", full.indexOf("/"));
  return tagAt < 0 ? full : full.slice(0, tagAt);
}

/** Returns a place as it is compared: without a scheme, without `/v1/` at its end, the default registry by one name. */
function normalized(place: string): string {
  const bare = place
    .replace(/^https?:\/\//, "")
    .replace(/\/+$/, "")
    .replace(/\/v[12]$/, "");
  return bare.replace(/^(index|registry-1)\.docker\.io/, defaultRegistry);
}

function credentialOf({ auth, username, password }: RegistryLogin): string | undefined {
  if (auth !== undefined && auth !== "") return auth;
  if (username === undefined || password === undefined) return undefined;
  return Buffer.from(`${username}:${password}`).toString("base64");
}
