import { readFileSync } from "node:fs";
import { dirname, isAbsolute, join } from "node:path";
import { type Clock, systemClock } from "../api/clock.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../api/json.ts";
import { parseYaml } from "../codec/yaml.ts";
import { type Credential, ExecCredentials, parseExecPlugin } from "./exec-credential.ts";
import { type JsonEndpoint, postJson, type TlsOptions } from "./json-endpoint.ts";

const serviceAccountDirectory = "/var/run/secrets/kubernetes.io/serviceaccount";

/**
 * The server of a kubeconfig's current context: where a webhook is and how we prove who we are. `server` may have a path.
 * Files that it names are relative to its own folder. A token file is read for each request, as tokens are renewed.
 * @throws Error that says what is missing or wrong, without any credential
 */
export function kubeconfigEndpoint(file: string, clock: Clock = systemClock): JsonEndpoint {
  const config = parseYaml(readFileSync(file), { strict: false }).value;
  if (!isJsonObject(config)) throw new Error(`${file} is not a kubeconfig`);
  const context = named(config, "contexts", textOf(config["current-context"]), "context");
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
  const { exec } = user;
  if (isJsonObject(exec)) {
    const plugin = parseExecPlugin(exec, folder, clusterInfo(cluster, ca));
    return execEndpoint(url, tls, new ExecCredentials(plugin, clock));
  }
  return { post: (body, signal) => postJson(url, { body, signal, tls, authorization: authorization(user, folder) }) };
}

/** Asks the plugin again, once, when its credential is not accepted. */
function execEndpoint(url: string, tls: TlsOptions, credentials: ExecCredentials): JsonEndpoint {
  const post = (body: string, signal: AbortSignal, { token, certificate }: Credential) => {
    const authorization = token === undefined ? undefined : `Bearer ${token}`;
    return postJson(url, { body, signal, tls: { ...tls, ...certificate }, authorization });
  };
  return {
    async post(body, signal) {
      const credential = await credentials.get();
      const answer = await post(body, signal, credential);
      if (answer.code !== 401) return answer;
      credentials.forget(credential);
      return post(body, signal, await credentials.get());
    },
  };
}

const execExtension = "client.authentication.k8s.io/exec";

/** The cluster as exec plugins are told of it. */
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

/** The API server that a pod is told of, with the account of the pod. */
export function inClusterEndpoint(
  environment: Readonly<Record<string, string | undefined>>,
  path: string,
): JsonEndpoint {
  const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port } = environment;
  if (host === undefined || port === undefined) {
    throw new Error("KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set: this is no pod");
  }
  const ca = readFileSync(join(serviceAccountDirectory, "ca.crt"), "utf8");
  const url = `https://${host.includes(":") ? `[${host}]` : host}:${port}${path}`;
  return {
    post(body, signal) {
      const token = readFileSync(join(serviceAccountDirectory, "token"), "utf8").trim();
      return postJson(url, { body, signal, tls: { ca, rejectUnauthorized: true }, authorization: `Bearer ${token}` });
    },
  };
}

function named(config: JsonObject, list: string, name: string, field: string): JsonObject {
  const items = config[list];
  const found = Array.isArray(items) ? items.filter(isJsonObject).find((item) => item["name"] === name) : undefined;
  const value = found?.[field];
  if (!isJsonObject(value)) throw new Error(`there is no ${field} ${JSON.stringify(name)}`);
  return value;
}

/** PEM from `<name>-data` or from the file that `<name>` names. */
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

function textOf(value: JsonValue | undefined): string {
  return typeof value === "string" ? value : "";
}
