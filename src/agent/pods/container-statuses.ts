import { formatTime } from "../../api/time.ts";
import type { Container, ContainerState, ContainerStatus, Pod } from "../../api/types/core-v1.ts";
import type { RuntimeContainer } from "../runtime/runtime.ts";
import { isFinalPhase, isStarted, latestRun, type PodView } from "./pod-view.ts";
import { mustStart } from "./restart-rules.ts";

/** Total length of the messages of ended containers, as upstream limits it. */
const messageBytesMax = 12 * 1024;
const killedExitCode = 137;

export interface StatusOptions {
  /** Type of the runtime in `containerID`, such as `containerd`. */
  readonly runtimeType: string;
  /** Whether the pod has ended and nothing of it starts any more. */
  readonly isFinished: boolean;
}

type ContainersField = "initContainerStatuses" | "containerStatuses" | "ephemeralContainerStatuses";

/** Returns the statuses of containers of one list of the pod's spec. */
export function containerStatuses(
  view: PodView,
  containers: readonly Container[],
  field: ContainersField,
  options: StatusOptions,
): ContainerStatus[] {
  const old = view.old[field] ?? [];
  const isInit = field === "initContainerStatuses";
  const statuses = containers.map((container) => {
    const known = old.find(({ name }) => name === container.name);
    const status = containerStatus(view, container, known, options);
    const shown = asWaiting(view, container, isInit, status);
    return field === "ephemeralContainerStatuses" ? shown : withReadiness(view, container, isInit, shown);
  });
  // Clients see init containers in their order, all others by name.
  return isInit ? statuses : statuses.sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
}

function containerStatus(
  view: PodView,
  container: Container,
  old: ContainerStatus | undefined,
  options: StatusOptions,
): ContainerStatus {
  const run = latestRun(view, container.name);
  const status =
    run === undefined ? unseenStatus(view, container, old) : statusOfRun(view, run, container, old, options);
  return options.isFinished ? asEnded(status, view, container) : status;
}

function statusOfRun(
  view: PodView,
  run: RuntimeContainer,
  container: Container,
  old: ContainerStatus | undefined,
  { runtimeType }: StatusOptions,
): ContainerStatus {
  const containerID = `${runtimeType}://${run.id}`;
  const previous = view.containers.findLast(
    (one) => one.name === run.name && one.attempt < run.attempt && one.state.kind === "exited",
  );
  const bytesMax = Math.floor(messageBytesMax / containerCount(view.pod));
  return {
    ...base(container),
    state: stateOf(run, containerID, bytesMax),
    lastState:
      previous === undefined
        ? lastStateOf(old, containerID)
        : stateOf(previous, `${runtimeType}://${previous.id}`, bytesMax),
    restartCount: Math.max(run.attempt, old?.restartCount ?? 0),
    image: run.image,
    imageID: run.imageRef,
    containerID,
    ...(run.user === undefined ? {} : { user: { linux: run.user } }),
    ...resourcesOf(view, run, container, old, containerID),
  };
}

/** A container that ended may be gone from the runtime. The earlier status then knows how it ended. */
function lastStateOf(old: ContainerStatus | undefined, containerID: string): ContainerState {
  const { terminated } = old?.state ?? {};
  return terminated !== undefined && old?.containerID !== containerID ? { terminated } : (old?.lastState ?? {});
}

function unseenStatus(view: PodView, container: Container, old: ContainerStatus | undefined): ContainerStatus {
  if (old?.state?.terminated !== undefined) return { ...old, ready: false };
  const hasInit = (view.pod.spec?.initContainers ?? []).length > 0;
  const status: ContainerStatus = {
    ...base(container),
    state: { waiting: { reason: hasInit ? "PodInitializing" : "ContainerCreating" } },
    lastState: old?.lastState ?? {},
    restartCount: old?.restartCount ?? 0,
    imageID: "",
  };
  if (old?.state?.running === undefined || old.lastState?.terminated !== undefined) return status;
  const message = "The container could not be located when the pod was deleted.  The container used to be Running";
  status.lastState = { terminated: lost(message) };
  if (view.pod.metadata.deletionTimestamp === undefined) status.restartCount += 1;
  return status;
}

function base({ name, image = "", volumeMounts = [] }: Container) {
  const mounts = volumeMounts.map(({ name: volume, mountPath, readOnly }) => ({
    name: volume,
    mountPath,
    // The agent asks no runtime for more.
    ...(readOnly === true ? { readOnly, recursiveReadOnly: "Disabled" as const } : {}),
  }));
  return { name, image, ready: false, ...(mounts.length > 0 ? { volumeMounts: mounts } : {}) };
}

function resourcesOf(
  view: PodView,
  run: RuntimeContainer,
  { name, resources = {} }: Container,
  old: ContainerStatus | undefined,
  containerID: string,
): Pick<ContainerStatus, "resources" | "allocatedResources"> {
  const applied = view.applied.get(name);
  const isRunning = run.state.kind === "running";
  let actual = resources;
  if (isRunning && applied?.containerId === run.id) actual = applied.resources ?? {};
  else if (isRunning && old?.containerID === containerID) actual = old.resources ?? resources;
  const { requests } = view.holdsResize ? actual : resources;
  return { resources: actual, ...(requests === undefined ? {} : { allocatedResources: requests }) };
}

function stateOf({ state }: RuntimeContainer, containerID: string, messageMax: number): ContainerState {
  switch (state.kind) {
    case "created":
      return { waiting: {} };
    case "running":
      return { running: { startedAt: formatTime(state.startedAtMs) } };
    case "exited":
      return {
        terminated: {
          exitCode: state.exitCode,
          ...(state.reason === "" ? {} : { reason: state.reason }),
          ...(state.message === "" ? {} : { message: limited(state.message, messageMax) }),
          startedAt: formatTime(state.startedAtMs),
          finishedAt: formatTime(state.finishedAtMs),
          containerID,
        },
      };
    case "unknown":
      return { terminated: { ...lost("The container could not be located when the pod was terminated"), containerID } };
  }
}

function lost(message: string) {
  const unknown = "1970-01-01T00:00:00Z";
  return {
    exitCode: killedExitCode,
    reason: "ContainerStatusUnknown",
    message,
    startedAt: unknown,
    finishedAt: unknown,
  };
}

/** Shows why a container has not been started again. */
function asWaiting(view: PodView, container: Container, isInit: boolean, status: ContainerStatus): ContainerStatus {
  const run = latestRun(view, container.name);
  if (isInit && run?.state.kind === "exited" && run.state.exitCode === 0 && container.restartPolicy !== "Always") {
    return status;
  }
  const waiting = view.waiting.get(container.name);
  const isDeleted = view.pod.metadata.deletionTimestamp !== undefined;
  const stays = isFinalPhase(view.old.phase) || isDeleted || !mustStart(container, view.pod, run);
  if (waiting === undefined || stays) return status;
  const { terminated } = status.state ?? {};
  const { reason, message } = waiting;
  return {
    ...status,
    ...(terminated === undefined ? {} : { lastState: { terminated } }),
    state: { waiting: { reason, ...(message === "" ? {} : { message }) } },
  };
}

/** Marks a container that has not been seen ending as ended, because its pod has. */
function asEnded(status: ContainerStatus, view: PodView, container: Container): ContainerStatus {
  if (status.state?.terminated !== undefined) return status;
  const hasRun = ({ name }: Container) =>
    latestRun(view, name) !== undefined ||
    view.old.containerStatuses?.some((one) => one.name === name && one.containerID !== undefined) === true;
  const wasSeen = latestRun(view, container.name) !== undefined || status.lastState?.terminated !== undefined;
  if (!wasSeen && !(view.pod.spec?.containers ?? []).some(hasRun)) return status;
  return { ...status, state: { terminated: lost("The container could not be located when the pod was terminated") } };
}

function withReadiness(view: PodView, container: Container, isInit: boolean, status: ContainerStatus): ContainerStatus {
  const run = latestRun(view, container.name);
  if (isInit && container.restartPolicy !== "Always") {
    const started = run !== undefined && status.state?.running !== undefined;
    return { ...status, started, ready: status.state?.terminated?.exitCode === 0 };
  }
  if (run === undefined || status.state?.running === undefined) return { ...status, started: false, ready: false };
  const started = isStarted(view, run);
  const ready = started && (view.probeResult(run, "readiness") ?? "success") === "success";
  return { ...status, started, ready };
}

function containerCount({ spec }: Pod): number {
  const { initContainers = [], containers, ephemeralContainers = [] } = spec ?? { containers: [] };
  return Math.max(1, (initContainers ?? []).length + (containers ?? []).length + (ephemeralContainers ?? []).length);
}

/** Cuts a text to a number of bytes. */
function limited(text: string, bytesMax: number): string {
  const bytes = Buffer.from(text);
  return bytes.length <= bytesMax
    ? text
    : bytes
        .subarray(0, bytesMax)
        .toString()
        .replace(/\uFFFD$/, "");
}
