import { TextError } from "../../../api/status.ts";
import type { ContainerStatus, Pod } from "../../../api/types/core-v1.ts";
import type { KnownPod } from "../../pods/pod-directory.ts";
import type { RuntimeContainer } from "../../runtime/runtime.ts";

/**
 * Returns the run of a container whose log is asked for: the current one, or the one before it.
 * @throws TextError 400 if there is none
 */
export function chooseRun(known: KnownPod, name: string, previous: boolean): RuntimeContainer {
  const what = `container ${JSON.stringify(name)} in pod ${JSON.stringify(known.pod.metadata.name ?? "")}`;
  const status = statusOf(known.pod, name);
  if (status === undefined) throw new TextError(400, `${what} is not available`);
  const id = runIdOf(status, previous, what);
  const run = known.containers.find((container) => container.id === id);
  if (run !== undefined) return run;
  throw new TextError(400, previous ? `previous terminated ${what} not found` : `${what} is not available`);
}

function statusOf({ status = {} }: Pod, name: string): ContainerStatus | undefined {
  const lists = [status.containerStatuses, status.initContainerStatuses, status.ephemeralContainerStatuses];
  return lists.flatMap((list) => list ?? []).find((one) => one.name === name);
}

function runIdOf({ state = {}, lastState, containerID }: ContainerStatus, previous: boolean, what: string): string {
  const last = lastState?.terminated?.containerID ?? "";
  if (previous) {
    if (last === "") throw new TextError(400, `previous terminated ${what} not found`);
    return withoutType(last);
  }
  if (state.running != null) return withoutType(containerID ?? "");
  if (state.terminated != null || lastState?.terminated != null) {
    // A restart that never started has no id.
    const id = state.terminated?.containerID || last;
    if (id === "") throw new TextError(400, `${what} is terminated`);
    return withoutType(id);
  }
  if (state.waiting == null) throw new TextError(400, `${what} is waiting to start - no logs yet`);
  throw new TextError(400, `${what} is waiting to start: ${waitingText(state.waiting.reason ?? "")}`);
}

function waitingText(reason: string): string {
  if (reason === "ErrImagePull") return "image can't be pulled";
  return reason === "ImagePullBackOff" ? "trying and failing to pull image" : reason;
}

/** Returns the runtime's id of `<type>://<id>`. */
function withoutType(containerId: string): string {
  const mark = containerId.indexOf("://");
  return mark === -1 ? containerId : containerId.slice(mark + 3);
}
