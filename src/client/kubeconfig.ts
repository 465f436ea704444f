import { readFileSync } from "node:fs";
import { dirname, isAbsolute, join } from "node:path";
import { parseYaml } from "../api/codec/yaml.ts";
import { isJsonObject, type JsonObject } from "../api/json.ts";
import { objectOf, textOf } from "../api/json-reading.ts";
import { type Clock, systemClock } from "../process/clock.ts";
import { type Credential, ExecCredentials, parseExecPlugin } from "./exec-credential.ts";
import type { TlsOptions } from "./json-endpoint.ts";

/** A server and our credentials for it. */
export interface Proof {
  readonly tls: TlsOptions;
  /** Value of the header. */
  readonly authorization: string | undefined;
}

export interface KubeconfigServer {
  readonly url: string;
  /** Called for each request, because tokens and certificates are renewed. */
  proof(): Promise<Proof>;
  /** Discards credentials that the server rejected. Returns whether others can be had. */
  renew(proof: Proof): boolean;
}

export interface KubeconfigOptions {
  readonly clock?: Clock | undefined;
  /** Context; the current one by default. */
  readonly context?: string | undefined;
}

/**
 * Returns the server of a context with our credentials. Files that the kubeconfig names are relative to its folder. A
 * token file is read for each request.
 * @throws Error that says what is missing or wrong, without any credential
 */
export function readKubeconfig(file: string, options: KubeconfigOptions = {}): KubeconfigServer {
  const config = parseYaml(readFileSync(file), { strict: false }).value;
  if (!isJsonObject(config)) throw new Error(`${file} is not a kubeconfig`);
  const context = named(config, "contexts", options.context ?? textOf(config["current-context"]), "context");
  const cluster = named(config, "clusters", textOf(context["cluster"]), "cluster");
  const user = context["user"] === undefined ? {} : named(config, "users", textOf(context["user"]), "user");
  const folder = dirname(file);
  const url = textOf(cluster["server"]);
  if (!url.startsWith("https://")) throw new Error(`the server ${JSON.stringify(url)} is not an https URL`);
  const ca = material(cluster, "certificate-authority", folder);
  const serverName = textOf(cluster["tls-server-name"]);
  const tls: TlsOptions = {
    ...(ca === undefined ? {} : { ca }),
    ...clientCertificate(user, folder),
    ...(serverName === "" ? {} : { serverName }),
    rejectUnauthorized: cluster["insecure-skip-tls-verify"] !== true,
  };
  const exec = execOf(user);
  if (exec !== undefined) {
    const plugin = parseExecPlugin(exec, folder, clusterInfo(cluster, ca));
    return execServer(url, tls, new ExecCredentials(plugin, options.clock ?? systemClock));
  }
  return {
    url,
    proof: async () => ({ tls, authorization: authorization(user, folder) }),
    renew: () => false,
  };
}

/**
 * Returns the URLs of all servers with the same user and authority, the current context's first. They are the members
 * of a cluster, each with a context of its own.
 */
export function readServerUrls(file: string): readonly string[] {
  const config = parseYaml(readFileSync(file), { strict: false }).value;
  if (!isJsonObject(config)) throw new Error(`${file} is not a kubeconfig`);
  const contexts = Array.isArray(config["contexts"]) ? config["contexts"].filter(isJsonObject) : [];
  const current = named(config, "contexts", textOf(config["current-context"]), "context");
  const cluster = named(config, "clusters", textOf(current["cluster"]), "cluster");
  const urls = contexts
    .map(({ context }) => objectOf(context))
    .filter(({ user }) => user !== undefined && user === current["user"])
    .map((context) => objectOf(entryOf(config, "clusters", textOf(context["cluster"]))?.["cluster"]))
    .filter((other) => hasAuthorityOf(other, cluster))
    .map((other) => textOf(other["server"]));
  return [...new Set([textOf(cluster["server"]), ...urls])];
}

function hasAuthorityOf(one: JsonObject, other: JsonObject): boolean {
  const fields = ["certificate-authority-data", "certificate-authority"];
  return fields.some((name) => textOf(one[name]) !== "") && fields.every((name) => one[name] === other[name]);
}

/** The credentials of one user. */
export interface UserProof {
  readonly cert?: string;
  readonly key?: string;
  /** Value of the header. */
  readonly authorization?: string;
  /** Discards a credential that a server rejected, if another one can be had. */
  discard?(): void;
}

/** The users of a kubeconfig by name. Their files are read when credentials are needed. */
export interface UserProofs {
  readonly users: ReadonlyMap<string, () => Promise<UserProof>>;
  /** User of the current context; "" without one. */
  readonly currentUser: string;
}

/** @throws Error that says what is missing or wrong, without any credential */
export function readUserProofs(file: string, clock: Clock): UserProofs {
  const config = parseYaml(readFileSync(file), { strict: false }).value;
  if (!isJsonObject(config)) throw new Error(`${file} is not a kubeconfig`);
  const folder = dirname(file);
  const entries = Array.isArray(config["users"]) ? config["users"].filter(isJsonObject) : [];
  const users = entries.map(({ name, user }) => [textOf(name), proofOf(objectOf(user), folder, clock)] as const);
  const current = textOf(config["current-context"]);
  const currentUser = current === "" ? "" : textOf(named(config, "contexts", current, "context")["user"]);
  return { users: new Map(users), currentUser };
}

function proofOf(user: JsonObject, folder: string, clock: Clock): () => Promise<UserProof> {
  const certificate = clientCertificate(user, folder);
  const exec = execOf(user);
  if (exec === undefined) {
    return async () => {
      const value = authorization(user, folder);
      return { ...certificate, ...(value === undefined ? {} : { authorization: value }) };
    };
  }
  const credentials = new ExecCredentials(parseExecPlugin(exec, folder, {}), clock);
  return async () => {
    const credential = await credentials.get();
    const { token, certificate: issued } = credential;
    const discard = () => credentials.forget(credential);
    return { ...issued, ...(token === undefined ? {} : { authorization: `Bearer ${token}` }), discard };
  };
}

/** Returns the exec plugin of a user. Credentials that stand in the kubeconfig are used instead, as upstream does. */
function execOf(user: JsonObject): JsonObject | undefined {
  const given = ["token", "tokenFile", "username", "client-certificate", "client-certificate-data"];
  const { exec } = user;
  return isJsonObject(exec) && given.every((name) => textOf(user[name]) === "") ? exec : undefined;
}

function execServer(url: string, tls: TlsOptions, credentials: ExecCredentials): KubeconfigServer {
  const credentialOf = new WeakMap<Proof, Credential>();
  return {
    url,
    async proof() {
      const credential = await credentials.get();
      const { token, certificate } = credential;
      const authorization = token === undefined ? undefined : `Bearer ${token}`;
      const proof = { tls: { ...tls, ...certificate }, authorization };
      credentialOf.set(proof, credential);
      return proof;
    },
    renew(proof) {
      const credential = credentialOf.get(proof);
      if (credential !== undefined) credentials.forget(credential);
      return true;
    },
  };
}

const execExtension = "client.authentication.k8s.io/exec";

/** Returns the cluster as exec plugins see it. */
function clusterInfo(cluster: JsonObject, ca: string | undefined): JsonObject {
  const extensions = Array.isArray(cluster["extensions"]) ? cluster["extensions"].filter(isJsonObject) : [];
  const config = extensions.find(({ name }) => name === execExtension)?.["extension"];
  const copied = ["server", "tls-server-name", "insecure-skip-tls-verify", "proxy-url", "disable-compression"];
  return {
    ...Object.fromEntries(copied.flatMap((name) => (cluster[name] === undefined ? [] : [[name, cluster[name]]]))),
    ...(ca === undefined ? {} : { "certificate-authority-data": Buffer.from(ca).toString("base64") }),
    ...(config === undefined ? {} : { config }),
  };
}

function named(config: JsonObject, list: string, name: string, field: string): JsonObject {
  const value = entryOf(config, list, name)?.[field];
  if (!isJsonObject(value)) throw new Error(`there is no ${field} ${JSON.stringify(name)}`);
  return value;
}

function entryOf(config: JsonObject, list: string, name: string): JsonObject | undefined {
  const items = config[list];
  return Array.isArray(items) ? items.filter(isJsonObject).find((item) => item["name"] === name) : undefined;
}

/** Returns PEM from `<name>-data`, or from the file that `<name>` names. */
function material(source: JsonObject, name: string, folder: string): string | undefined {
  const data = textOf(source[`${name}-data`]);
  if (data !== "") return Buffer.from(data, "base64").toString("utf8");
  const file = textOf(source[name]);
  return file === "" ? undefined : readFileSync(pathFrom(folder, file), "utf8");
}

function clientCertificate(user: JsonObject, folder: string): { cert: string; key: string } | undefined {
  const cert = material(user, "client-certificate", folder);
  const key = material(user, "client-key", folder);
  if (cert === undefined && key === undefined) return undefined;
  if (cert === undefined || key === undefined) throw new Error("client certificate and key belong together");
  return { cert, key };
}

function authorization(user: JsonObject, folder: string): string | undefined {
  const token = textOf(user["token"]);
  if (token !== "") return `Bearer ${token}`;
  const tokenFile = textOf(user["tokenFile"]);
  if (tokenFile !== "") return `Bearer ${readFileSync(pathFrom(folder, tokenFile), "utf8").trim()}`;
  const name = textOf(user["username"]);
  return name === "" ? undefined : `Basic ${btoa(`${name}:${textOf(user["password"])}`)}`;
}

function pathFrom(folder: string, file: string): string {
  return isAbsolute(file) ? file : join(folder, file);
}
