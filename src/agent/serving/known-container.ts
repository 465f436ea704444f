import { TextError } from "../../api/status.ts";
import type { Container, Pod } from "../../api/types/core-v1.ts";
import { containersOf } from "../pods/pod-containers.ts";
import type { KnownPod, PodDirectory } from "../pods/pod-directory.ts";
import type { RuntimeContainer } from "../runtime/runtime.ts";

/** @throws TextError 404 for an unknown pod, or one with another uid */
export function podAt(directory: PodDirectory, nodeName: string, parameters: ReadonlyMap<string, string>): KnownPod {
  const found = directory.find(parameters.get("namespace") ?? "", parameters.get("pod") ?? "");
  const isOfNode = nodeName === "" || found?.pod.spec?.nodeName === nodeName;
  if (found === undefined || !isOfNode) throw new TextError(404, "pod does not exist");
  return found;
}

/** Reports whether the request names another pod of the same name. */
export function hasOtherUid({ pod }: KnownPod, parameters: ReadonlyMap<string, string>): boolean {
  const uid = parameters.get("uid");
  return uid !== undefined && uid !== pod.metadata.uid;
}

/** Returns the container of a pod's spec with this name, of whichever list. */
export function specOf(pod: Pod, name: string): Container | undefined {
  return containersOf(pod).find(({ spec }) => spec.name === name)?.spec;
}

/** Returns the last run of a container that is still running. */
export function runningContainer({ containers }: KnownPod, name: string): RuntimeContainer | undefined {
  return containers.findLast((container) => container.name === name && container.state.kind === "running");
}

/** `<pod>_<namespace>`, the name by which the agent calls a pod. */
export function fullName({ metadata: { name = "", namespace = "" } }: Pod): string {
  return `${name}_${namespace}`;
}
