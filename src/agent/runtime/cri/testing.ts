import { mkdtempSync, rmSync } from "node:fs";
import { appendFile, mkdir, open, rename, writeFile } from "node:fs/promises";
import { createServer, type Server as NetServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { Server, ServerCredentials, type ServerUnaryCall, type ServerWritableStream, status } from "@grpc/grpc-js";
import { SpdyConnection } from "../../serving/streaming/spdy/spdy-connection.ts";
import type { SpdyStream } from "../../serving/streaming/spdy/spdy-stream.ts";
import type { Method } from "./cri-client.ts";
import { containerStates, sandboxStates } from "./enums.ts";
import { type Draft, type Message, messageCodec } from "./messages.ts";

/** A failure with one of gRPC's codes. */
export class CriFailure extends Error {
  readonly code: number;
  constructor(code: keyof typeof status, details: string) {
    super(details);
    this.code = status[code];
  }
}

type Handlers = {
  [Name in Method]?: (
    request: Message<`${Name}Request`>,
  ) => Draft<`${Name}Response`> | Promise<Draft<`${Name}Response`>>;
};

interface FakeSandbox {
  readonly id: string;
  readonly config: Message<"PodSandboxConfig">;
  state: number;
}

interface FakeContainer {
  readonly id: string;
  readonly sandboxId: string;
  readonly config: Message<"ContainerConfig">;
  readonly logPath: string;
  state: number;
  exitCode: number;
}

function userOf({ linux }: Message<"ContainerConfig">): Draft<"LinuxContainerUser"> {
  const { runAsUser, runAsGroup, supplementalGroups } = linux?.securityContext ?? {};
  return { uid: runAsUser?.value ?? 0, gid: runAsGroup?.value ?? 0, supplementalGroups };
}

/** The end of a session's command, by its first word; other commands echo their input and exit with 0. */
const failingCommand = "fail";
const createdAt = 1_700_000_000_000_000_000;
const nanosPerMs = 1_000_000;

/**
 * A container runtime without containers, behind a socket that speaks CRI v1. It keeps sandboxes and containers, writes
 * logs, and serves sessions over SPDY, as containerd does.
 */
export class FakeCri implements AsyncDisposable {
  readonly directory = mkdtempSync(join(tmpdir(), "cri-"));
  readonly endpoint = `unix://${join(this.directory, "cri.sock")}`;
  /** The methods that were called, in order. */
  readonly calls: string[] = [];
  readonly pods = new Map<string, FakeSandbox>();
  readonly runs = new Map<string, FakeContainer>();
  readonly images = new Map<string, Draft<"Image">>([
    ["docker.io/library/app:1", { id: "sha256:app", repoTags: ["docker.io/library/app:1"], size: 1_000 }],
  ]);
  /** Credentials of the pulls, `user:password`. */
  readonly logins: string[] = [];
  /** Replaces the answer to a method. */
  readonly answers: Handlers = {};
  isNetworkReady = true;
  hasEvents = false;
  readonly #server = new Server();
  readonly #sessions: NetServer;
  readonly #sockets = new Set<Socket>();
  readonly #watchers = new Set<ServerWritableStream<unknown, Draft<"GetContainerEventsResponse">>>();
  #sequence = 0;

  constructor() {
    this.#sessions = createServer((socket) => this.#serveSession(socket));
  }

  async start(): Promise<void> {
    const listening = Promise.withResolvers<void>();
    this.#sessions.listen(0, "127.0.0.1", listening.resolve);
    await listening.promise;
    const handlers = this.#handlers();
    for (const method of Object.keys(handlers) as (keyof typeof handlers)[]) this.#addMethod(method, handlers[method]);
    this.#addEvents();
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#server.bindAsync(this.endpoint, ServerCredentials.createInsecure(), (error) =>
      error === null ? resolve() : reject(error),
    );
    await promise;
  }

  /** Ends a container by itself. */
  exit(id: string, exitCode: number): void {
    const run = this.#run(id);
    run.state = containerStates.exited;
    run.exitCode = exitCode;
    const { config } = this.pods.get(run.sandboxId) as FakeSandbox;
    for (const watcher of this.#watchers) {
      watcher.write({ containerId: id, podSandboxStatus: { metadata: config.metadata ?? undefined } });
    }
  }

  async print(id: string, text: string): Promise<void> {
    const { logPath } = this.#run(id);
    for (const line of text.split("\n").filter((one) => one !== "")) {
      await appendFile(logPath, `2026-01-02T03:04:05.000000006Z stdout F ${line}\n`);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.forceShutdown();
    for (const socket of this.#sockets) socket.destroy();
    this.#sessions.close();
    rmSync(this.directory, { recursive: true, force: true });
  }

  #run(id: string): FakeContainer {
    const run = this.runs.get(id);
    if (run === undefined) throw new CriFailure("NOT_FOUND", `container "${id}" not found`);
    return run;
  }

  #pod(id: string): FakeSandbox {
    const pod = this.pods.get(id);
    if (pod === undefined) throw new CriFailure("NOT_FOUND", `sandbox "${id}" not found`);
    return pod;
  }

  #handlers() {
    const url = (what: string) => `http://127.0.0.1:${(this.#sessions.address() as { port: number }).port}/${what}`;
    const handlers = {
      Version: () => ({ runtimeName: "fake", runtimeVersion: "1.0", runtimeApiVersion: "v1" }),
      Status: () => ({
        status: {
          conditions: [
            { type: "RuntimeReady", status: true },
            this.isNetworkReady
              ? { type: "NetworkReady", status: true }
              : { type: "NetworkReady", reason: "NetworkPluginNotReady", message: "no network config" },
          ],
        },
        runtimeHandlers: [{ name: "" }, { name: "runc" }],
        features: { supplementalGroupsPolicy: true },
      }),
      RunPodSandbox: ({ config }) => {
        const id = `pod-${++this.#sequence}`;
        if (config !== null) this.pods.set(id, { id, config, state: sandboxStates.ready });
        return { podSandboxId: id };
      },
      StopPodSandbox: ({ podSandboxId }) => {
        this.#pod(podSandboxId).state = sandboxStates.notReady;
        return {};
      },
      RemovePodSandbox: ({ podSandboxId }) => {
        this.pods.delete(this.#pod(podSandboxId).id);
        return {};
      },
      PodSandboxStatus: ({ podSandboxId }) => {
        const { id, state, config } = this.#pod(podSandboxId);
        const network = { ip: "10.1.0.5", additionalIps: [{ ip: "fd00::5" }] };
        return { status: { id, state, metadata: config.metadata ?? undefined, network } };
      },
      ListPodSandbox: () => ({
        items: [...this.pods.values()].map(({ id, state, config }) => ({
          id,
          state,
          metadata: config.metadata ?? undefined,
          labels: config.labels,
        })),
      }),
      CreateContainer: async ({ podSandboxId, config, sandboxConfig }) => {
        if (config === null) throw new CriFailure("INVALID_ARGUMENT", "no config");
        const id = `run-${++this.#sequence}`;
        const logPath = join(sandboxConfig?.logDirectory ?? "", config.logPath);
        const sandboxId = this.#pod(podSandboxId).id;
        this.runs.set(id, { id, sandboxId, config, logPath, state: containerStates.created, exitCode: 0 });
        return { containerId: id };
      },
      StartContainer: async ({ containerId }) => {
        const run = this.#run(containerId);
        await mkdir(dirname(run.logPath), { recursive: true });
        await writeFile(run.logPath, "");
        run.state = containerStates.running;
        return {};
      },
      StopContainer: ({ containerId }) => {
        const run = this.#run(containerId);
        if (run.state === containerStates.running) this.exit(containerId, 143);
        return {};
      },
      RemoveContainer: ({ containerId }) => {
        this.runs.delete(this.#run(containerId).id);
        return {};
      },
      ListContainers: () => ({
        containers: [...this.runs.values()].map(({ id, sandboxId, config, state }) => ({
          id,
          podSandboxId: sandboxId,
          metadata: config.metadata ?? undefined,
          state,
          labels: config.labels,
          imageRef: config.image?.image ?? "",
        })),
      }),
      ContainerStatus: ({ containerId }) => {
        const { id, config, state, exitCode, logPath } = this.#run(containerId);
        const hasStarted = state !== containerStates.created;
        return {
          status: {
            id,
            metadata: config.metadata ?? undefined,
            state,
            createdAt,
            startedAt: hasStarted ? createdAt + 1_000 * nanosPerMs : 0,
            finishedAt: state === containerStates.exited ? createdAt + 2_000 * nanosPerMs : 0,
            exitCode,
            image: { image: config.image?.userSpecifiedImage ?? "" },
            imageRef: `${config.image?.userSpecifiedImage}@sha256:1`,
            labels: config.labels,
            annotations: config.annotations,
            mounts: config.mounts,
            logPath,
            user: { linux: userOf(config) },
          },
        };
      },
      ReopenContainerLog: async ({ containerId }) => {
        await (await open(this.#run(containerId).logPath, "a")).close();
        return {};
      },
      UpdateContainerResources: () => ({}),
      CheckpointContainer: async ({ location }) => {
        // Complete at once for readers, as a runtime's archive is.
        await writeFile(`${location}.part`, "archive");
        await rename(`${location}.part`, location);
        return {};
      },
      ExecSync: ({ cmd }) => ({ stdout: Buffer.from(cmd.join(" ")), exitCode: cmd[0] === failingCommand ? 3 : 0 }),
      Exec: ({ cmd }) => ({ url: url(`exec?command=${cmd[0]}`) }),
      Attach: () => ({ url: url("attach") }),
      PortForward: () => ({ url: url("portforward") }),
      ListContainerStats: () => ({
        stats: [...this.runs.keys()].map((id) => ({
          attributes: { id },
          cpu: { timestamp: createdAt, usageCoreNanoSeconds: { value: 5_000 } },
          memory: { timestamp: createdAt, workingSetBytes: { value: 4_096 } },
        })),
      }),
      ListImages: () => ({ images: [...this.images.values()] }),
      ImageStatus: ({ image }) => ({
        image: [...this.images].find(([name, { id }]) => name === image?.image || id === image?.image)?.[1],
      }),
      PullImage: ({ image, auth }) => {
        const name = image?.image ?? "";
        if (auth !== null) this.logins.push(`${auth.username}:${auth.password}`);
        if (name.includes("absent")) throw new CriFailure("NOT_FOUND", `failed to resolve reference "${name}"`);
        this.images.set(name, { id: `sha256:${name}`, repoTags: [name], size: 2_000 });
        return { imageRef: `sha256:${name}` };
      },
      RemoveImage: ({ image }) => {
        for (const [name, { id }] of this.images) if (id === image?.image) this.images.delete(name);
        return {};
      },
      ImageFsInfo: () => ({ imageFilesystems: [{ fsId: { mountpoint: this.directory } }] }),
    } satisfies Handlers;
    return handlers;
  }

  #addMethod<Name extends Method>(method: Name, handler: Handlers[Name]): void {
    type Request = Message<`${Name}Request`>;
    type Response = Draft<`${Name}Response`>;
    const definition = this.#definition(method, false);
    const handle = (
      call: ServerUnaryCall<Request, Response>,
      end: (error: { code: number; details: string } | null, answer?: Response) => void,
    ) => {
      this.calls.push(method);
      const answer = async () => (this.answers[method] ?? handler)?.(call.request);
      answer().then(
        (response) => end(null, response),
        (error: Error) =>
          end({ code: error instanceof CriFailure ? error.code : status.UNKNOWN, details: error.message }),
      );
    };
    this.#server.addService({ [method]: definition }, { [method]: handle });
  }

  #addEvents(): void {
    if (!this.hasEvents) return;
    const method = "GetContainerEvents";
    this.#server.addService(
      { [method]: this.#definition(method, true) },
      {
        [method]: (call: ServerWritableStream<unknown, Draft<"GetContainerEventsResponse">>) => {
          this.calls.push(method);
          this.#watchers.add(call);
          call.on("cancelled", () => this.#watchers.delete(call));
        },
      },
    );
  }

  #definition(method: Method, responseStream: boolean) {
    const isOfImages = /Image/.test(method);
    const request = messageCodec(`${method}Request`);
    const response = messageCodec(`${method}Response`);
    return {
      path: `/runtime.v1.${isOfImages ? "ImageService" : "RuntimeService"}/${method}`,
      requestStream: false,
      responseStream,
      requestSerialize: request.encode,
      requestDeserialize: request.decode,
      responseSerialize: response.encode,
      responseDeserialize: response.decode,
    };
  }

  #serveSession(socket: Socket): void {
    this.#sockets.add(socket);
    socket.on("error", () => {}).on("close", () => this.#sockets.delete(socket));
    socket.once("data", (head: Buffer) => {
      socket.pause();
      const path = /^POST (\S+)/.exec(head.toString())?.[1] ?? "";
      const protocol = /x-stream-protocol-version: (\S+)/i.exec(head.toString())?.[1] ?? "";
      if (path.includes("refuse")) return void socket.end("HTTP/1.1 404 Not Found\r\n\r\nthe session is gone");
      socket.write(
        `HTTP/1.1 101 Switching Protocols\r\nUpgrade: SPDY/3.1\r\nX-Stream-Protocol-Version: ${protocol}\r\n\r\n`,
      );
      void serveStreams(socket, path);
    });
  }
}

/** Echoes the input of a session to its output, and ends it with a status. */
async function serveStreams(socket: Socket, path: string): Promise<void> {
  const streams = new Map<string, SpdyStream>();
  const link = {
    input: socket as AsyncIterable<Uint8Array>,
    signal: new AbortController().signal,
    write: async (bytes: Uint8Array) => void socket.write(bytes),
  };
  const isForward = path.startsWith("/portforward");
  const connection: SpdyConnection = new SpdyConnection(link, {
    open(stream) {
      const type = stream.headers.get("streamtype") ?? "";
      streams.set(type, stream);
      // The stream that a client opens last, in these tests.
      if (type === "data" || type === "stdout") void run();
    },
  });
  const run = async () => {
    const [input, output] = isForward
      ? [streams.get("data"), streams.get("data")]
      : [streams.get("stdin"), streams.get("stdout")];
    const isRefused = isForward && output?.headers.get("port") === "1";
    if (!isRefused && input !== undefined) for await (const chunk of input.input) await output?.write(chunk);
    const isFailure = path.includes(failingCommand);
    const failure = {
      status: "Failure",
      reason: "NonZeroExitCode",
      details: { causes: [{ reason: "ExitCode", message: "3" }] },
    };
    if (isRefused) {
      await streams.get("error")?.write(Buffer.from("error forwarding port 1 to pod p, uid : connection refused"));
    } else if (!isForward) {
      await streams.get("error")?.write(Buffer.from(JSON.stringify(isFailure ? failure : { status: "Success" })));
    }
    connection.close();
    socket.end();
  };
  await connection.run();
}
