import { createPrivateKey, X509Certificate } from "node:crypto";
import { isAbsolute, join } from "node:path";
import { isJsonObject, type JsonObject, type JsonValue } from "../api/json.ts";
import { listOf, textOf } from "../api/json-reading.ts";
import { parseTimeMs } from "../api/schema/time-text.ts";
import type { Clock } from "../process/clock.ts";

const group = "client.authentication.k8s.io";
const versions = [`${group}/v1`, `${group}/v1beta1`];
const infoVariable = "KUBERNETES_EXEC_INFO";
const interactiveModes = ["Never", "IfAvailable", "Always"];
/** Time after which a command is stopped; longer if a person may have to answer it. */
const runMsMax = 60_000;
const interactiveRunMsMax = 600_000;
const outputBytesMax = 1024 * 1024;

/** Credentials of a client: a token, a certificate, or both. */
export interface Credential {
  readonly token: string | undefined;
  readonly certificate: { readonly cert: string; readonly key: string } | undefined;
}

/** The validated `exec` part of a kubeconfig's user. */
export interface ExecPlugin {
  readonly apiVersion: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  readonly installHint: string;
  readonly interactiveMode: string;
  /** Cluster of the credential, passed to a command that requests it. */
  readonly cluster: JsonObject | undefined;
}

/**
 * @param folder folder of the kubeconfig, to which a relative command refers
 * @param cluster passed to the command if `provideClusterInfo` is set
 * @throws Error that says what is missing or wrong
 */
export function parseExecPlugin(exec: JsonObject, folder: string, cluster: JsonObject): ExecPlugin {
  const apiVersion = textOf(exec["apiVersion"]);
  if (!versions.includes(apiVersion)) throw new Error(`exec.apiVersion has to be one of ${versions.join(", ")}`);
  const command = textOf(exec["command"]);
  if (command === "") throw new Error("exec.command is required");
  const interactiveMode = textOf(exec["interactiveMode"]) || (apiVersion.endsWith("/v1") ? "" : "IfAvailable");
  if (!interactiveModes.includes(interactiveMode)) {
    throw new Error(`exec.interactiveMode has to be one of ${interactiveModes.join(", ")}`);
  }
  const environment = listOf(exec["env"])
    .filter(isJsonObject)
    .map(({ name, value }) => [textOf(name), textOf(value)] as const);
  if (environment.some(([name]) => name === "")) throw new Error("exec.env has a variable without a name");
  // A name alone is looked up in PATH.
  const isPath = command.includes("/");
  return {
    apiVersion,
    command: isPath && !isAbsolute(command) ? join(folder, command) : command,
    args: listOf(exec["args"]).map(textOf),
    environment: Object.fromEntries(environment),
    installHint: textOf(exec["installHint"]),
    interactiveMode,
    cluster: exec["provideClusterInfo"] === true ? cluster : undefined,
  };
}

/** A credential that a command prints. It is kept until it expires or a server rejects it. */
export class ExecCredentials {
  readonly #plugin: ExecPlugin;
  readonly #clock: Clock;
  readonly #hasTerminal: boolean;
  #current: { readonly credential: Credential; readonly endMs: number } | undefined;
  #running: Promise<Credential> | undefined;

  constructor(plugin: ExecPlugin, clock: Clock, hasTerminal: boolean = process.stdin.isTTY === true) {
    this.#plugin = plugin;
    this.#clock = clock;
    this.#hasTerminal = hasTerminal;
  }

  /** Returns a valid credential. Only one command runs at a time. @throws Error if it prints none */
  async get(): Promise<Credential> {
    const current = this.#current;
    if (current !== undefined && this.#clock.nowMs() < current.endMs) return current.credential;
    this.#running ??= this.#run().finally(() => {
      this.#running = undefined;
    });
    return this.#running;
  }

  /** Discards a credential that a server rejected, so that the command runs again. */
  forget(credential: Credential): void {
    if (this.#current?.credential === credential) this.#current = undefined;
  }

  async #run(): Promise<Credential> {
    const printed = await run(this.#plugin, this.#hasTerminal);
    const { credential, endMs } = parseCredential(printed, this.#plugin);
    this.#current = { credential, endMs };
    return credential;
  }
}

async function run(plugin: ExecPlugin, hasTerminal: boolean): Promise<string> {
  const { apiVersion, command, args, environment, interactiveMode, cluster, installHint } = plugin;
  if (interactiveMode === "Always" && !hasTerminal) {
    throw new Error(`the exec plugin ${command} needs a terminal, and there is none`);
  }
  const interactive = hasTerminal && interactiveMode !== "Never";
  const timeout = interactive ? interactiveRunMsMax : runMsMax;
  const info = {
    kind: "ExecCredential",
    apiVersion,
    spec: { ...(cluster === undefined ? {} : { cluster }), interactive },
  };
  let child: Bun.Subprocess<"inherit" | "ignore", "pipe", "inherit">;
  try {
    child = Bun.spawn([command, ...args], {
      env: { ...process.env, ...environment, [infoVariable]: JSON.stringify(info) },
      stdin: interactive ? "inherit" : "ignore",
      stdout: "pipe",
      stderr: "inherit",
      timeout,
      maxBuffer: outputBytesMax,
    });
  } catch (error) {
    const hint = installHint === "" ? "" : `\n${installHint}`;
    throw new Error(`the exec plugin ${command} cannot be run (${(error as { code?: string }).code})${hint}`);
  }
  const startedMs = performance.now();
  const [printed, code] = await Promise.all([child.stdout.text(), child.exited]);
  if (child.signalCode !== null) {
    const why = performance.now() - startedMs >= timeout ? `did not end within ${timeout / 1_000} s` : "was stopped";
    throw new Error(`the exec plugin ${command} ${why}`);
  }
  if (code !== 0) throw new Error(`the exec plugin ${command} ended with code ${code}`);
  return printed;
}

/** @throws Error that never quotes the output, which may be a secret */
function parseCredential(
  printed: string,
  { command, apiVersion }: ExecPlugin,
): { credential: Credential; endMs: number } {
  const fail = (why: string) => new Error(`the exec plugin ${command} ${why}`);
  let value: unknown;
  try {
    value = JSON.parse(printed);
  } catch {
    throw fail("printed no JSON");
  }
  if (!isJsonObject(value as JsonValue)) throw fail("printed no ExecCredential");
  const { kind, apiVersion: printedVersion, status } = value as JsonObject;
  if (kind !== "ExecCredential" || printedVersion !== apiVersion)
    throw fail(`printed no ExecCredential of ${apiVersion}`);
  if (!isJsonObject(status)) throw fail("printed no status");
  const token = textOf(status["token"]);
  const [cert, key] = [textOf(status["clientCertificateData"]), textOf(status["clientKeyData"])];
  if ((cert === "") !== (key === "")) throw fail("printed a certificate without its key, or the other way round");
  if (token === "" && cert === "") throw fail("printed neither a token nor a certificate");
  if (cert !== "" && !isPair(cert, key)) throw fail("printed a certificate and a key that are unusable together");
  const expiration = textOf(status["expirationTimestamp"]);
  const endMs = expiration === "" ? Number.POSITIVE_INFINITY : parseTimeMs(expiration);
  if (endMs === undefined) throw fail("printed an expirationTimestamp that is no time");
  return {
    credential: {
      token: token === "" ? undefined : token,
      certificate: cert === "" ? undefined : { cert, key },
    },
    endMs,
  };
}

/** Reports whether the first certificate and the key belong together. Further certificates are intermediate ones. */
function isPair(cert: string, key: string): boolean {
  try {
    return new X509Certificate(cert).checkPrivateKey(createPrivateKey(key));
  } catch {
    return false;
  }
}
