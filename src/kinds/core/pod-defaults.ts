import { emptyMap } from "../../api/json.ts";
import { formatQuantity, type Quantity } from "../../api/quantity.ts";
import type {
  Container,
  EphemeralContainer,
  PersistentVolumeClaimTemplate,
  Pod,
  PodSpec,
  ResourceRequirements,
  Volume,
} from "../../api/types/core-v1.ts";
import { imageTagOf } from "./image-name.ts";
import { type Amounts, addAmounts, amountsOf, raiseAmounts, roundResourceList } from "./resource-list.ts";

/** Sets the defaults of pods that pod templates do not have. */
export function defaultPod({ spec }: Pod): void {
  if (spec === undefined) return;
  spec.enableServiceLinks ??= true;
  // Only in pods. A template keeps a negative period, with a warning.
  if (Number(spec.terminationGracePeriodSeconds) < 0) spec.terminationGracePeriodSeconds = 1;
  for (const container of [...(spec.containers ?? []), ...(spec.initContainers ?? [])]) {
    const { resources } = container;
    if (resources?.limits !== undefined) addMissing(resources, "requests", Object.entries(resources.limits));
    if (spec.hostNetwork === true) useContainerPortsOnHost(container);
  }
  if (spec.resources !== undefined) defaultPodResources(spec, spec.resources);
}

/** Sets the defaults of every pod spec, also inside templates. Plain values come from the generated data. */
export function defaultPodSpec(spec: PodSpec): void {
  mirrorServiceAccount(spec);
  roundResourceList(spec.overhead);
}

/** Sets the defaults of containers of every sort. */
export function defaultContainer(container: Container | EphemeralContainer): void {
  container.imagePullPolicy ??= pullPolicyOf(container.image);
  container.terminationMessagePath ??= "/dev/termination-log";
  container.terminationMessagePolicy ??= "File";
}

/** Makes a volume without a source an empty directory. */
export function defaultVolume(volume: Volume): void {
  const { name: _name, ...sources } = volume;
  if (Object.keys(sources).length === 0) volume.emptyDir = {};
  if (volume.image !== undefined) volume.image.pullPolicy ??= pullPolicyOf(volume.image.reference);
}

export function defaultClaimTemplate({ spec }: PersistentVolumeClaimTemplate): void {
  spec.volumeMode ??= "Filesystem";
}

/** An image with a moving tag is pulled each time. */
export function pullPolicyOf(image = ""): "Always" | "IfNotPresent" {
  return imageTagOf(image) === "latest" ? "Always" : "IfNotPresent";
}

/** Gives both names of the same field the same value. */
function mirrorServiceAccount(spec: PodSpec): void {
  const name = spec.serviceAccountName || spec.serviceAccount || "";
  if (name === "") return;
  spec.serviceAccountName = name;
  spec.serviceAccount = name;
}

/** On the host's network a container's port is the host's port. */
function useContainerPortsOnHost({ ports = [] }: Container): void {
  for (const port of ports) port.hostPort ||= port.containerPort;
}

/** Sets amounts for the pod as a whole where those of its containers, or its own limits, imply them. */
function defaultPodResources(spec: PodSpec, resources: ResourceRequirements): void {
  const asked = resources.requests ?? {};
  const hugePages = [...podTotalOf(spec, "limits")].filter(
    ([name]) => isHugePages(name) && !Object.hasOwn(asked, name),
  );
  if (hugePages.length > 0) addMissing(resources, "limits", textsOf(hugePages));
  if (resources.limits === undefined) return;
  const requests = [...podTotalOf(spec, "requests")].filter(([name]) => name === "cpu" || name === "memory");
  if (requests.length > 0) addMissing(resources, "requests", textsOf(requests));
  const limited = Object.entries(resources.limits).filter(([name]) => isPodResource(name));
  addMissing(resources, "requests", limited);
}

/** Reports whether a pod as a whole can have an amount of the resource. */
function isPodResource(name: string): boolean {
  return name === "cpu" || name === "memory" || isHugePages(name);
}

function isHugePages(name: string): boolean {
  return name.startsWith("hugepages-");
}

/**
 * Returns the amounts that the containers need together. Init containers run one after the other before the others,
 * next to those of them that keep running.
 */
export function podTotalOf(spec: PodSpec, field: "limits" | "requests"): Amounts {
  const total: Amounts = new Map();
  for (const { resources } of spec.containers ?? []) addAmounts(total, amountsOf(resources?.[field]));
  const running: Amounts = new Map();
  const starting: Amounts = new Map();
  for (const { resources, restartPolicy } of spec.initContainers ?? []) {
    const amounts = amountsOf(resources?.[field]);
    if (restartPolicy === "Always") {
      addAmounts(running, amounts);
      raiseAmounts(starting, running);
    } else {
      addAmounts(amounts, running);
      raiseAmounts(starting, amounts);
    }
  }
  addAmounts(total, running);
  raiseAmounts(total, starting);
  return total;
}

function textsOf(amounts: readonly (readonly [string, Quantity])[]): [string, string][] {
  return amounts.map(([name, amount]) => [name, formatQuantity(amount)]);
}

function addMissing(
  resources: ResourceRequirements,
  field: "limits" | "requests",
  amounts: readonly (readonly [string, string])[],
): void {
  const list = resources[field] ?? emptyMap<string>();
  for (const [name, amount] of amounts) if (!Object.hasOwn(list, name)) list[name] = amount;
  if (Object.keys(list).length > 0) resources[field] = list;
}
