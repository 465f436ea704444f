import type { Container, ContainerImage, LinuxContainerUser, Pod } from "../../api/types/core-v1.ts";

/** Identity of a sandbox or a container, chosen by the runtime. */
export type RuntimeId = string;

/** The environment that the containers of one pod share. */
export interface Sandbox {
  readonly id: RuntimeId;
  readonly podUid: string;
  readonly namespace: string;
  readonly podName: string;
  readonly isReady: boolean;
  /** Addresses of the pod, the primary one first. Empty for a pod on the host's network. */
  readonly ips: readonly string[];
  /** 0 for the first sandbox of a pod. One that replaces another has the next number. */
  readonly attempt: number;
}

export type ContainerState =
  | { readonly kind: "created" }
  | { readonly kind: "running"; readonly startedAtMs: number }
  | {
      readonly kind: "exited";
      readonly startedAtMs: number;
      readonly finishedAtMs: number;
      readonly exitCode: number;
      /** `Completed`, `Error`, `OOMKilled`, or the runtime's own word. */
      readonly reason: string;
      readonly message: string;
    }
  /** The runtime has lost track of the container. */
  | { readonly kind: "unknown" };

/** One run of a container. A restart makes another one with the next attempt. */
export interface RuntimeContainer {
  readonly id: RuntimeId;
  readonly sandboxId: RuntimeId;
  /** Name in the pod's spec. */
  readonly name: string;
  readonly attempt: number;
  readonly image: string;
  /** Digest reference of the image. */
  readonly imageRef: string;
  readonly state: ContainerState;
  /** The identity with which its first process has started, if the runtime tells it. */
  readonly user?: LinuxContainerUser | undefined;
}

/** A file or directory of the host that a container sees. */
export interface Mount {
  readonly hostPath: string;
  readonly containerPath: string;
  readonly isReadOnly: boolean;
  readonly propagation: "None" | "HostToContainer" | "Bidirectional";
}

/** A container as it is to be made: its spec with everything resolved that the API server or the node knows. */
export interface ContainerConfig {
  readonly spec: Container;
  readonly attempt: number;
  readonly imageRef: string;
  /** Command and arguments with variables expanded; undefined to use the image's. */
  readonly command: readonly string[] | undefined;
  readonly args: readonly string[] | undefined;
  readonly environment: readonly (readonly [name: string, value: string])[];
  readonly mounts: readonly Mount[];
  /** File for the log, in CRI's format, on the host. */
  readonly logPath: string;
}

/** The streams of a process in a container. Absent ones are not connected. */
export interface ProcessStreams {
  readonly stdin?: AsyncIterable<Uint8Array> | undefined;
  readonly stdout?: ((chunk: Uint8Array) => Promise<void> | void) | undefined;
  readonly stderr?: ((chunk: Uint8Array) => Promise<void> | void) | undefined;
  /** Sizes of the client's terminal, if the process has one. */
  readonly resize?: AsyncIterable<{ readonly width: number; readonly height: number }> | undefined;
}

export interface LogLine {
  readonly timeMs: number;
  /** The time in RFC 3339 with nanoseconds, as it stands in the log. */
  readonly time: string;
  readonly stream: "stdout" | "stderr";
  /** Bytes of the line with its newline; without one, the next line continues it. */
  readonly text: Uint8Array;
}

export interface ContainerStats {
  readonly containerId: RuntimeId;
  readonly timeMs: number;
  readonly cpuNanoseconds: number;
  readonly memoryBytes: number;
  readonly workingSetBytes: number;
  /** The files that the container has written outside of its volumes, if the runtime knows them. */
  readonly writable?: { readonly bytes: number; readonly inodes: number } | undefined;
}

/** An error of a runtime, with the word that clients see as `reason`, such as `ErrImagePull` or `RunContainerError`. */
export class RuntimeError extends Error {
  override readonly name = "RuntimeError";
  readonly reason: string;
  /** The gRPC code, by which callers tell errors apart: a probe that took too long is `DeadlineExceeded`. */
  readonly code: "NotFound" | "ResourceExhausted" | "Unimplemented" | "Unavailable" | "DeadlineExceeded" | "Unknown";
  constructor(reason: string, message: string, code: RuntimeError["code"] = "Unknown") {
    super(message);
    this.reason = reason;
    this.code = code;
  }
}

export interface StoredImage {
  readonly id: string;
  readonly names: readonly string[];
  readonly sizeBytes: number;
  /** Reports whether the runtime needs the image for itself. */
  readonly isPinned: boolean;
  /** Reports whether a container, running or not, was made from the image. */
  readonly isUsed: boolean;
}

/** The images on the disk of a runtime that keeps any. */
export interface ImageStore {
  list(): Promise<readonly StoredImage[]>;
  remove(imageId: string): Promise<void>;
  /** Returns the size of the file system that holds the images. */
  fileSystem(): Promise<{ readonly capacityBytes: number; readonly availableBytes: number }>;
}

/** The abilities of a runtime that the status of the node shows. */
export interface RuntimeFeatures {
  /** Names of the handlers that a RuntimeClass may choose, in order; "" is the default one. */
  readonly handlers: readonly string[];
  /** Whether pods may have the SupplementalGroupsPolicy `Strict`. */
  readonly supplementalGroupsPolicy: boolean;
}

/** The streams of a session that a client wants. */
export interface SessionChoice {
  readonly stdin: boolean;
  readonly stdout: boolean;
  readonly stderr: boolean;
  readonly tty: boolean;
}

/** A connection that a client has to a port of a pod. */
export interface PortConnection {
  readonly input: AsyncIterable<Uint8Array>;
  readonly output: (chunk: Uint8Array) => Promise<void> | void;
  readonly signal: AbortSignal;
}

/** Carries out a session that the runtime has accepted. */
export type AcceptedSession<T> = (streams: ProcessStreams, signal: AbortSignal) => Promise<T>;

export interface ExecOptions {
  readonly tty: boolean;
  readonly signal: AbortSignal;
  /** Kills the command after so long, and rejects with `DeadlineExceeded`. Output may then arrive at the end only. */
  readonly timeoutSeconds?: number | undefined;
}

/**
 * Runs the containers of the pods of one node. The three implementations are `simulated`, `process` and `cri`. Every
 * call may reject with a RuntimeError. Stopping or removing something that is gone succeeds.
 */
export interface Runtime extends AsyncDisposable {
  /** `<type>://<version>`, for `status.nodeInfo.containerRuntimeVersion`. */
  readonly version: string;
  /** Features of containers that this machine does not let the runtime have, for the agent's log. */
  readonly shortcomings?: readonly string[] | undefined;
  /** Returns the problems that keep the node from being ready: none when all is well. */
  problems(): Promise<readonly string[]>;
  /** The abilities at the last look for problems; undefined before it, and for a runtime without any. */
  readonly features?: RuntimeFeatures | undefined;
  /** The problem, if any, for which pods could not have a network of their own at the last look for problems. */
  readonly networkProblem?: string | undefined;

  /** Reports whether the image is present, by returning its digest reference. */
  imageRef(image: string): Promise<string | undefined>;
  /** Pulls an image and returns its digest reference. `auth` is the base64 credential of a registry. The signal ends the pull. */
  pullImage(image: string, auth: string | undefined, signal: AbortSignal): Promise<string>;
  images(): Promise<readonly ContainerImage[]>;
  /** The images that the agent removes when their disk fills. */
  readonly imageStore?: ImageStore | undefined;

  runSandbox(pod: Pod, attempt: number): Promise<Sandbox>;
  /** Stops all containers of the sandbox that still run, at once. */
  stopSandbox(id: RuntimeId): Promise<void>;
  /** Removes a sandbox, and with the last one of a pod the directory of its logs. */
  removeSandbox(id: RuntimeId): Promise<void>;

  createContainer(sandbox: Sandbox, pod: Pod, config: ContainerConfig): Promise<RuntimeId>;
  startContainer(id: RuntimeId): Promise<void>;
  /** Sends the stop signal, and kills the container when the grace period is over. Resolves when it has exited. */
  stopContainer(id: RuntimeId, graceSeconds: number): Promise<void>;
  /** Removes a container with its log. */
  removeContainer(id: RuntimeId): Promise<void>;
  updateResources(id: RuntimeId, resources: NonNullable<Container["resources"]>): Promise<void>;

  sandboxes(): Promise<readonly Sandbox[]>;
  containers(): Promise<readonly RuntimeContainer[]>;
  /**
   * Calls the listener with the uid of a pod of which a container or sandbox has changed by itself. A runtime that
   * cannot tell compares its lists once a second.
   */
  subscribe(listener: (podUid: string) => void): Disposable;

  /** Yields the lines of a log, oldest first. With `follow`, waits for more until the container ends. */
  logs(container: RuntimeContainer, options: { follow: boolean; signal: AbortSignal }): AsyncIterable<LogLine>;
  /** Runs a command to its end and returns its exit code. */
  exec(id: RuntimeId, command: readonly string[], options: ExecOptions, streams: ProcessStreams): Promise<number>;
  attach(id: RuntimeId, options: { tty: boolean; signal: AbortSignal }, streams: ProcessStreams): Promise<void>;
  /**
   * Asks for a session before the client's connection is switched to it, so that the client gets a refusal as an HTTP
   * status. A runtime that refuses nothing by itself lacks these.
   */
  acceptExec?(id: RuntimeId, command: readonly string[], choice: SessionChoice): Promise<AcceptedSession<number>>;
  acceptAttach?(id: RuntimeId, choice: SessionChoice): Promise<AcceptedSession<void>>;
  /** Connects to a port inside the pod. Ends when either side closes. */
  portForward(sandboxId: RuntimeId, port: number, connection: PortConnection): Promise<void>;
  /**
   * Answers a probe itself, because its containers have no network; undefined to let the agent probe over the network.
   * Returns undefined for a probe that it does not answer, such as exec.
   */
  probe?(container: RuntimeContainer, kind: "startup" | "liveness" | "readiness"): boolean | undefined;
  stats(): Promise<readonly ContainerStats[]>;
  /** Returns the directory where a container writes outside of its volumes, if there is one on the host. */
  writableFolder?(id: RuntimeId): string | undefined;
  /** Writes an archive of a running container to `location`. A timeout of 0 is the runtime's own. */
  checkpoint(id: RuntimeId, location: string, timeoutSeconds: number): Promise<void>;
}
