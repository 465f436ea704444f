import { join } from "node:path";
import type { Container, Pod } from "../../api/types/core-v1.ts";
import { abortable } from "../../process/abortable.ts";
import { thrownText } from "../../process/thrown-text.ts";
import { expandReferences } from "../files/expand-references.ts";
import { type ContainerConfig, type Runtime, RuntimeError, type RuntimeId, type Sandbox } from "../runtime/runtime.ts";
import type { ImagePuller } from "./image-puller.ts";
import type { RunHook } from "./lifecycle-hook.ts";
import { type PodContainer, podText } from "./pod-containers.ts";
import type { PodFiles } from "./pod-files.ts";
import type { RecordPodEvent } from "./pod-recorder.ts";
import { StartError } from "./start-error.ts";

export interface StartContainerParts {
  readonly runtime: Pick<Runtime, "createContainer" | "startContainer">;
  readonly files: Pick<PodFiles, "mountsOf" | "environmentOf">;
  readonly images: ImagePuller;
  readonly record: RecordPodEvent;
  readonly runHook: RunHook;
  /** Directory of the logs of all pods. */
  readonly logDirectory: string;
  /** Ends a container whose hook failed. */
  readonly stop: (pod: Pod, container: PodContainer, id: RuntimeId, message: string) => Promise<void>;
}

export interface ContainerStart {
  readonly pod: Pod;
  readonly container: PodContainer;
  readonly sandbox: Sandbox;
  readonly attempt: number;
  readonly ips: readonly string[];
  /** Called with the id of the container as soon as it exists. */
  readonly created: (id: RuntimeId) => void;
  /** Ends the wait for the image and for the hook, which may take forever. */
  readonly signal: AbortSignal;
}

/**
 * Pulls the image of a container, makes the container and starts it, with its hook.
 * @throws StartError or the reason of the signal
 */
export async function startContainer(parts: StartContainerParts, start: ContainerStart): Promise<void> {
  const { runtime, images, record, runHook } = parts;
  const { pod, container, sandbox, signal } = start;
  const fail = (reason: string, message: string, error: unknown): never => {
    record(pod, { type: "Warning", reason: "Failed", message: `Error: ${message}` }, container);
    throw new StartError(reason, message, error instanceof StartError ? error.retryAtMs : undefined);
  };
  const imageRef = await images.ensure(pod, container, signal).catch((error: unknown) => {
    signal.throwIfAborted();
    const reason = error instanceof StartError ? error.reason : "ErrImagePull";
    record(pod, { type: "Warning", reason: "Failed", message: `Error: ${reason}` }, container);
    throw error;
  });
  const config = await containerConfig(parts, start, imageRef).catch((error: unknown) =>
    fail("CreateContainerConfigError", thrownText(error), error),
  );
  signal.throwIfAborted();
  const id = await runtime
    .createContainer(sandbox, pod, config)
    .catch((error: unknown) => fail(reasonOf(error, "CreateContainerError"), thrownText(error), error));
  start.created(id);
  record(pod, { type: "Normal", reason: "Created", message: "Container created" }, container);
  await runtime
    .startContainer(id)
    .catch((error: unknown) => fail(reasonOf(error, "RunContainerError"), thrownText(error), error));
  record(pod, { type: "Normal", reason: "Started", message: "Container started" }, container);
  const hook = container.spec.lifecycle?.postStart;
  if (hook === undefined) return;
  const problem = await abortable(runHook(pod, container, id, hook, signal), signal);
  if (problem === undefined) return;
  // The message may hold secrets, which Events must not show.
  record(pod, { type: "Warning", reason: "FailedPostStartHook", message: "PostStartHook failed" }, container);
  await parts.stop(pod, container, id, "FailedPostStartHook");
  throw new StartError("PostStartHookError", problem);
}

function reasonOf(error: unknown, otherwise: string): string {
  return error instanceof RuntimeError && error.reason !== "" ? error.reason : otherwise;
}

async function containerConfig(
  { files, logDirectory }: StartContainerParts,
  { pod, container: { spec }, attempt, ips }: ContainerStart,
  imageRef: string,
): Promise<ContainerConfig> {
  requireUser(spec, pod);
  requireMounts(spec);
  const environment = await files.environmentOf(pod, spec, ips);
  const variables = new Map(environment);
  const expanded = (words: readonly string[] | undefined) =>
    words?.map((word) => expandReferences(word, (name) => variables.get(name)));
  return {
    spec,
    attempt,
    imageRef,
    command: expanded(spec.command),
    args: expanded(spec.args),
    environment,
    mounts: await files.mountsOf(pod, spec, ips),
    logPath: join(podLogDirectory(logDirectory, pod), spec.name, `${attempt}.log`),
  };
}

/** Rejects a container that must not run as root and is told to. */
function requireUser({ name, securityContext }: Container, pod: Pod): void {
  const ofPod = pod.spec?.securityContext;
  const isNonRoot = securityContext?.runAsNonRoot ?? ofPod?.runAsNonRoot;
  const user = securityContext?.runAsUser ?? ofPod?.runAsUser;
  if (isNonRoot !== true || user === undefined || Number(user) !== 0) return;
  throw new Error(`container's runAsUser breaks non-root policy (pod: "${podText(pod)}", container: ${name})`);
}

/** Rejects a container whose mounts must be read-only together with those below them, which no runtime is asked for. */
function requireMounts({ volumeMounts = [] }: Container): void {
  const recursive = volumeMounts.find(({ recursiveReadOnly }) => recursiveReadOnly === "Enabled");
  if (recursive === undefined) return;
  const name = JSON.stringify(recursive.name);
  throw new Error(`volume ${name} requested recursive read-only mode, but it is not supported by the runtime`);
}

/** Returns the directory of the logs of one pod, with the names that tools for logs expect. */
export function podLogDirectory(
  logDirectory: string,
  { metadata: { namespace, name, uid } }: { readonly metadata: Pick<Pod["metadata"], "namespace" | "name" | "uid"> },
): string {
  return join(logDirectory, `${namespace}_${name}_${uid}`);
}
