import { nodeLabels } from "../../api/node-labels.ts";
import type { ContainerImage, Node, NodeAddress, NodeStatus, ResourceList } from "../../api/types/core-v1.ts";
import type { RuntimeFeatures } from "../runtime/runtime.ts";
import type { MachineInfo } from "./machine.ts";
import { evaluateConditions, type NodeFindings } from "./node-conditions.ts";
import { nodeResources } from "./node-resources.ts";
import type { NodeSettings } from "./node-settings.ts";

const imagesMax = 50;
const namesPerImageMax = 5;
const requiredResources = ["cpu", "memory", "pods"];
const managedAnnotation = "volumes.kubernetes.io/controller-managed-attach-detach";

/** The observations of which a status is made. */
export interface NodeObservation extends NodeFindings {
  readonly machine: MachineInfo;
  /** `<type>://<version>` of the runtime. */
  readonly runtimeVersion: string;
  readonly images: readonly ContainerImage[];
  /** Abilities of the runtime, if it tells any. */
  readonly features: RuntimeFeatures | undefined;
}

export interface EvaluatedStatus {
  readonly status: NodeStatus;
  /** Reasons of Events, such as `NodeReady`. */
  readonly events: readonly string[];
  /** Whether the machine has been started again since the last report. */
  readonly isRebooted: boolean;
}

/** Returns the Node as it is registered, without a status. */
export function newNode(settings: NodeSettings, machine: MachineInfo): Node {
  const { name, labels, taints, annotations, providerId } = settings;
  return {
    kind: "Node",
    apiVersion: "v1",
    metadata: {
      name,
      labels: { ...defaultLabels(settings, machine), ...labels },
      annotations: { [managedAnnotation]: "true", ...annotations },
    },
    spec: {
      ...(providerId === undefined ? {} : { providerID: providerId }),
      ...(taints.length === 0 ? {} : { taints: taints.map((taint) => ({ ...taint })) }),
    },
  };
}

function defaultLabels(
  { hostname }: NodeSettings,
  { operatingSystem, architecture }: MachineInfo,
): Record<string, string> {
  return {
    "beta.kubernetes.io/arch": architecture,
    "beta.kubernetes.io/os": operatingSystem,
    "kubernetes.io/arch": architecture,
    "kubernetes.io/hostname": hostname,
    "kubernetes.io/os": operatingSystem,
  };
}

/**
 * Returns the changes that make an existing Node's labels and annotations those of a new one; undefined for none. A
 * label for which the agent has no value is somebody else's, and stays.
 */
export function reconciliation(
  existing: Node,
  wanted: Node,
): { labels: NameChanges; annotations: NameChanges } | undefined {
  const [old, next] = [existing.metadata, wanted.metadata];
  const labels = changesOf([...nodeLabels], old.labels ?? {}, next.labels ?? {});
  const annotations = changesOf([managedAnnotation], old.annotations ?? {}, next.annotations ?? {});
  const isSame = Object.keys(labels).length === 0 && Object.keys(annotations).length === 0;
  return isSame ? undefined : { labels, annotations };
}

type NameChanges = Record<string, string>;

function changesOf(
  names: readonly string[],
  old: Readonly<Record<string, string>>,
  next: Readonly<Record<string, string>>,
): NameChanges {
  const wanted = Object.entries(next).filter(([name]) => names.includes(name));
  return Object.fromEntries(wanted.filter(([name, value]) => old[name] !== value));
}

/** Returns the status that follows an older one. Fields of other components keep their values. */
export function evaluateStatus(
  old: NodeStatus,
  settings: NodeSettings,
  { machine, runtimeVersion, images, features, ...findings }: NodeObservation,
  now: string,
): EvaluatedStatus {
  const { capacity, allocatable } = nodeResources({ ...extendedOf(old.capacity), ...machine.capacity }, settings);
  const missing = requiredResources.filter((name) => capacity[name] === undefined);
  const problems =
    missing.length === 0
      ? findings.problems
      : [...findings.problems, `missing node capacity for resources: ${missing.join(", ")}`];
  const { conditions, events } = evaluateConditions(old.conditions ?? [], { ...findings, problems }, now);
  const { declaredFeatures, port } = settings;
  const status: NodeStatus = {
    ...old,
    capacity,
    allocatable,
    conditions,
    addresses: addressesOf(settings, machine),
    daemonEndpoints: port === undefined ? (old.daemonEndpoints ?? {}) : { kubeletEndpoint: { Port: port } },
    nodeInfo: {
      machineID: machine.machineId,
      systemUUID: machine.systemUuid,
      bootID: machine.bootId,
      kernelVersion: machine.kernelVersion,
      osImage: machine.osImage,
      containerRuntimeVersion: runtimeVersion,
      kubeletVersion: settings.version,
      kubeProxyVersion: "",
      operatingSystem: machine.operatingSystem,
      architecture: machine.architecture,
      swap: { capacity: machine.swapBytes },
    },
    // The server leaves out an empty list.
    ...(images.length === 0 && old.images === undefined ? {} : { images: largestFirst(images) }),
    ...runtimeFields(features),
    ...(declaredFeatures.length === 0 ? {} : { declaredFeatures: [...declaredFeatures].toSorted() }),
  };
  const bootId = old.nodeInfo?.bootID ?? "";
  return { status, events, isRebooted: bootId !== "" && bootId !== machine.bootId };
}

/** The agent uses neither of the handlers' abilities, so pods cannot have them on this node. */
function runtimeFields(features: RuntimeFeatures | undefined): Pick<NodeStatus, "runtimeHandlers" | "features"> {
  if (features === undefined) return {};
  const { handlers, supplementalGroupsPolicy } = features;
  const none = { recursiveReadOnlyMounts: false, userNamespaces: false };
  return {
    features: { supplementalGroupsPolicy },
    // The server leaves out an empty list.
    ...(handlers.length === 0 ? {} : { runtimeHandlers: handlers.map((name) => ({ name, features: { ...none } })) }),
  };
}

/** Returns the resources that others have added to the node, such as those of its devices. */
function extendedOf(capacity: ResourceList = {}): ResourceList {
  return Object.fromEntries(Object.entries(capacity).filter(([name]) => name.includes("/")));
}

function addressesOf({ hostname, addresses }: NodeSettings, machine: MachineInfo): NodeAddress[] {
  const internal = (addresses ?? machine.addresses).map((address) => ({ type: "InternalIP", address }));
  return [...internal, { type: "Hostname", address: hostname }];
}

function largestFirst(images: readonly ContainerImage[]): ContainerImage[] {
  return (
    images
      // Numbers, because the status is compared with one that was parsed.
      .map(({ names, sizeBytes }) => ({
        names: (names ?? []).slice(0, namesPerImageMax),
        sizeBytes: Number(sizeBytes ?? 0),
      }))
      .toSorted((a, b) => b.sizeBytes - a.sizeBytes)
      .slice(0, imagesMax)
  );
}
