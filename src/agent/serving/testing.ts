import "reflect-metadata";
import type { ListenerTls } from "../../access/certificates/identity.ts";
import { StatusError, status } from "../../api/status.ts";
import type { ContainerStatus, Pod } from "../../api/types/core-v1.ts";
import type { Client } from "../../client/client.ts";
import { createAuthority, type TestAuthority } from "../../http/listener/testing.ts";
import { systemClock } from "../../process/clock.ts";
import type { Log, LogFields } from "../../process/logs.ts";
import type { KnownPod, PodDirectory } from "../pods/pod-directory.ts";
import {
  type ContainerStats,
  type LogLine,
  type Runtime,
  type RuntimeContainer,
  RuntimeError,
} from "../runtime/runtime.ts";
import type { EndpointOptions } from "./endpoint-options.ts";

/** The parts of a runtime that the endpoint uses. A test replaces the ones that it wants to script. */
export type ScriptedRuntime = Pick<
  Runtime,
  "logs" | "exec" | "attach" | "acceptExec" | "acceptAttach" | "portForward" | "checkpoint" | "stats"
>;

export function scriptedRuntime(script: Partial<ScriptedRuntime> = {}): Runtime {
  const refused = () => {
    throw new RuntimeError("Unscripted", "the test has not scripted this", "Unimplemented");
  };
  const parts: ScriptedRuntime = {
    logs: refused,
    exec: refused,
    attach: refused,
    portForward: refused,
    checkpoint: refused,
    stats: async (): Promise<ContainerStats[]> => [],
    ...script,
  };
  return parts as Runtime;
}

/** A directory of pods, each with the same runtime. */
export class ScriptedDirectory implements PodDirectory {
  readonly #known = new Map<string, KnownPod>();

  add(known: KnownPod): void {
    const { namespace, name } = known.pod.metadata;
    this.#known.set(`${namespace}/${name}`, known);
  }

  pods(): readonly KnownPod[] {
    return [...this.#known.values()];
  }

  find(namespace: string, name: string): KnownPod | undefined {
    return this.#known.get(`${namespace}/${name}`);
  }
}

/** Returns a pod that runs the containers `main` and `side`, with the runs of each. */
export function runningPod(runtime: Runtime, name: string, pod: Partial<Pod> = {}): KnownPod {
  const uid = `uid-of-${name}`;
  const containers = ["main", "side"].map((one) => runOf(name, one));
  return {
    pod: {
      kind: "Pod",
      apiVersion: "v1",
      metadata: { name, namespace: "default", uid, ...pod.metadata },
      spec: {
        nodeName: "n1",
        containers: [
          { name: "main", image: "image:1" },
          { name: "side", image: "image:1" },
        ],
        ...pod.spec,
      },
      status: {
        containerStatuses: containers.map((run) => runningStatus(run)),
        ...pod.status,
      },
    },
    runtime,
    sandbox: {
      id: `sandbox-of-${name}`,
      podUid: uid,
      namespace: "default",
      podName: name,
      isReady: true,
      ips: ["10.0.0.1"],
      attempt: 0,
    },
    containers,
    probes: [],
  };
}

function runOf(pod: string, name: string): RuntimeContainer {
  return {
    id: `${pod}-${name}`,
    sandboxId: `sandbox-of-${pod}`,
    name,
    attempt: 0,
    image: "image:1",
    imageRef: "image@sha256:1",
    state: { kind: "running", startedAtMs: 1_000 },
  };
}

function runningStatus({ id, name }: RuntimeContainer): ContainerStatus {
  return {
    name,
    image: "image:1",
    imageID: "",
    ready: true,
    restartCount: 0,
    containerID: `scripted://${id}`,
    state: { running: {} },
  };
}

/** Returns the lines of a log, one second apart from the epoch on. */
export async function* logLines(...texts: readonly string[]): AsyncGenerator<LogLine, void> {
  for (const [at, text] of texts.entries()) {
    const timeMs = at * 1_000;
    const time = new Date(timeMs).toISOString().replace(".000Z", ".123456789Z");
    yield { timeMs, time, stream: "stdout", text: Buffer.from(text) };
  }
}

/** A log that keeps its lines. */
export class KeptLog implements Log {
  readonly lines: string[] = [];
  readonly error = (message: string, fields?: LogFields) => this.#keep(message, fields);
  readonly warn = this.error;
  readonly info = this.error;
  readonly debug = this.error;
  readonly trace = this.error;

  requestLog(): void {}

  verbose(): boolean {
    return true;
  }

  for(): Log {
    return this;
  }

  #keep(message: string, fields: LogFields = {}): void {
    this.lines.push(`${message} ${JSON.stringify(fields)}`);
  }
}

/** Reviews as an API server answers them. */
export class ScriptedReviews {
  readonly asked: { readonly resource: string; readonly spec: any }[] = [];
  /** Users by token. */
  readonly tokens = new Map<string, { readonly username: string; readonly groups?: string[] }>();
  /** Allowed `<user> <verb> <subresource> <node>`. */
  readonly allowed = new Set<string>();
  isDown = false;

  /** A client that only creates reviews. */
  get client(): Client {
    const create: Client["create"] = async (type, object) => {
      if (this.isDown) throw new StatusError(status.serviceUnavailable("the server is down").status);
      const { spec } = object as unknown as { spec: any };
      this.asked.push({ resource: type.resource, spec });
      const answer = type.resource === "tokenreviews" ? this.#token(spec) : this.#access(spec);
      return { ...object, status: answer };
    };
    return { create } as Client;
  }

  #token({ token }: { token: string }): object {
    const user = this.tokens.get(token);
    return user === undefined ? { authenticated: false } : { authenticated: true, user };
  }

  #access({ user, resourceAttributes: { verb, subresource, name = "" } }: any): object {
    return { allowed: this.allowed.has(`${user} ${verb} ${subresource} ${name}`) };
  }
}

/** The certificates of a test's endpoint and its clients. */
export interface TestCertificates {
  readonly authority: TestAuthority;
  readonly tls: ListenerTls;
}

export async function testCertificates(): Promise<TestCertificates> {
  const authority = await createAuthority("CN=agents");
  const { key, cert } = await authority.issue("CN=system:node:n1, O=system:nodes", { usage: "server" });
  return { authority, tls: { key, cert, ca: [authority.cert] } };
}

/** Returns options for an endpoint on a free port, where everyone may do everything. */
export function endpointOptions(
  directory: PodDirectory,
  tls: ListenerTls,
  options: Partial<EndpointOptions> = {},
): EndpointOptions {
  return {
    host: "127.0.0.1",
    port: 0,
    tls,
    directory,
    client: new ScriptedReviews().client,
    clock: systemClock,
    log: new KeptLog(),
    nodeNameOf: () => "n1",
    nodeStats: async () => ({ timeMs: 5_000 }),
    configuration: () => ({ maxPods: 110 }),
    access: { anonymous: true, tokenWebhook: false, authorizationMode: "AlwaysAllow" },
    rootDir: "/nonexistent",
    logsDir: "/nonexistent",
    ...options,
  };
}
