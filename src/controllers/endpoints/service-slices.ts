import { equalJson } from "../../api/json.ts";
import type { Service } from "../../api/types/core-v1.ts";
import type { Endpoint, EndpointPort, EndpointSlice } from "../../api/types/discovery-v1.ts";
import type { IpFamily } from "../../api/validation/ip.ts";
import { managedByLabel, serviceNameLabel } from "../../kinds/discovery/endpoint-slice-labels.ts";
import { type EndpointPod, hostnameIn, portOnPod } from "./endpoint-pod.ts";
import { packEndpoints } from "./pack-endpoints.ts";
import { familiesOf, headlessLabel, isHeadless } from "./service-facts.ts";
import { endpointKey, newSlice, portsKey, reuseSlices, type SliceChanges } from "./slice-plan.ts";
import { trafficPreference, withTrafficHints } from "./traffic-hints.ts";

/** The label value of slices that this controller manages. */
export const serviceSliceManager = "endpointslice-controller.k8s.io";
const reservedLabels = new Set([serviceNameLabel, managedByLabel, headlessLabel]);

/** The facts of a node that endpoints contain. */
export interface EndpointNode {
  readonly zone: string | undefined;
}

export interface ServiceSlicesParts {
  readonly service: Service;
  /** Pods that the service selects. */
  readonly pods: readonly EndpointPod[];
  /** The service's slices that this controller manages and that are not being deleted. */
  readonly existing: readonly EndpointSlice[];
  readonly node: (name: string) => EndpointNode | undefined;
}

/** The changes for the slices of one service. */
export interface ServiceSlicesPlan extends SliceChanges {
  readonly added: number;
  readonly removed: number;
  /** Pods whose node does not exist. They are left out until it does. */
  readonly homeless: readonly EndpointPod[];
  /** Numbers of endpoints by set of ports and family. */
  readonly desired: readonly number[];
}

/** Compares the slices of a service with its pods. */
export function planServiceSlices(parts: ServiceSlicesParts): ServiceSlicesPlan {
  const { existing } = parts;
  const families = addressTypesOf(parts.service);
  const ofFamily = Map.groupBy(existing, ({ addressType }) => addressType);
  const plans = families.map((family) => planFamily(parts, family, ofFamily.get(family) ?? []));
  const outdated = existing.filter(({ addressType }) => !families.some((family) => family === addressType));
  return {
    create: plans.flatMap(({ create }) => create),
    update: plans.flatMap(({ update }) => update),
    remove: [...plans.flatMap(({ remove }) => remove), ...outdated],
    added: plans.reduce((total, { added }) => total + added, 0),
    removed: plans.reduce((total, { removed }) => total + removed, 0),
    homeless: plans[0]?.homeless ?? [],
    desired: plans.flatMap(({ desired }) => desired),
  };
}

function planFamily(
  { service, pods, node }: ServiceSlicesParts,
  family: IpFamily,
  existing: readonly EndpointSlice[],
): ServiceSlicesPlan {
  const own = existing.filter((slice) => isOwnedBy(slice, service));
  const byPorts = Map.groupBy(own, ({ ports }) => portsKey(ports));
  const groups = new Map<string, { ports: EndpointPort[]; endpoints: Map<string, Endpoint> }>();
  const homeless: EndpointPod[] = [];
  for (const pod of pods) {
    const ports = endpointPorts(service, pod);
    const key = portsKey(ports);
    const group = groups.get(key) ?? { ports, endpoints: new Map<string, Endpoint>() };
    groups.set(key, group);
    const home = node(pod.nodeName);
    if (home === undefined && service.spec?.publishNotReadyAddresses !== true) {
      homeless.push(pod);
      continue;
    }
    const endpoint = endpointOf(service, pod, home, family);
    if (endpoint !== undefined) group.endpoints.set(endpointKey(endpoint), endpoint);
  }
  const packings = [...groups].map(([key, { ports, endpoints }]) =>
    packEndpoints({
      existing: byPorts.get(key) ?? [],
      desired: endpoints,
      labelsOf: () => labelsOf(service),
      empty: () => emptySlice(service, family, ports),
    }),
  );
  const unwanted = [...byPorts].flatMap(([key, slices]) => (groups.has(key) ? [] : slices));
  const changes = withPlaceholder(service, family, existing, {
    create: packings.flatMap(({ create }) => create),
    update: packings.flatMap(({ update }) => update),
    remove: [
      ...existing.filter((slice) => !own.includes(slice)),
      ...packings.flatMap(({ remove }) => remove),
      ...unwanted,
    ],
  });
  const hinted = withTrafficHints(changes, own, trafficPreference(service.spec?.trafficDistribution));
  return {
    ...reuseSlices(hinted, (slice) => own.includes(slice)),
    added: packings.reduce((total, { added }) => total + added, 0),
    removed: packings.reduce((total, { removed }) => total + removed, 0),
    homeless,
    desired: [...groups.values()].map(({ endpoints }) => endpoints.size),
  };
}

/** A service without endpoints gets an empty slice, so that clients can tell it from one without a controller. */
function withPlaceholder(
  service: Service,
  family: IpFamily,
  existing: readonly EndpointSlice[],
  changes: SliceChanges,
): SliceChanges {
  if (changes.create.length > 0 || changes.remove.length < existing.length) return changes;
  const placeholder = emptySlice(service, family, []);
  const [only, ...others] = changes.remove;
  if (only !== undefined && others.length === 0 && isPlaceholder(only, placeholder)) return { ...changes, remove: [] };
  return { ...changes, create: [placeholder] };
}

function isPlaceholder({ metadata, ports, endpoints }: EndpointSlice, placeholder: EndpointSlice): boolean {
  if ((ports ?? []).length > 0 || (endpoints ?? []).length > 0) return false;
  const [a, b] = [metadata, placeholder.metadata];
  return equalJson(a.labels, b.labels) && a.ownerReferences?.[0]?.uid === b.ownerReferences?.[0]?.uid;
}

function isOwnedBy({ metadata: { ownerReferences = [] } }: EndpointSlice, { metadata: { uid } }: Service): boolean {
  return ownerReferences.some((owner) => owner.uid === uid && owner.kind === "Service" && owner.apiVersion === "v1");
}

/** An undecided headless service has endpoints of both families. */
function addressTypesOf(service: Service): readonly IpFamily[] {
  const families = [...new Set(familiesOf(service))];
  return families.length > 0 ? families : ["IPv4", "IPv6"];
}

function emptySlice(service: Service, addressType: IpFamily, ports: EndpointPort[]): EndpointSlice {
  return newSlice(service, { labels: labelsOf(service), addressType, endpoints: [], ports });
}

function labelsOf(service: Service): Record<string, string> {
  const { name = "", labels = {} } = service.metadata;
  const copied = Object.fromEntries(Object.entries(labels).filter(([key]) => !reservedLabels.has(key)));
  return {
    ...copied,
    ...(isHeadless(service) && { [headlessLabel]: "" }),
    [serviceNameLabel]: name,
    [managedByLabel]: serviceSliceManager,
  };
}

function endpointPorts({ spec: { ports = [] } = {} }: Service, pod: EndpointPod): EndpointPort[] {
  return ports.flatMap((servicePort) => {
    const port = portOnPod(pod, servicePort);
    if (port === undefined) return [];
    const { name = "", protocol = "TCP", appProtocol } = servicePort;
    return [{ name, protocol, port, ...(appProtocol !== undefined && { appProtocol }) }];
  });
}

function endpointOf(
  service: Service,
  pod: EndpointPod,
  node: EndpointNode | undefined,
  family: IpFamily,
): Endpoint | undefined {
  const addresses = pod.ips.flatMap((ip) => (ip.family === family ? [ip.text] : []));
  if (addresses.length === 0) return undefined;
  const { namespace, name, uid, nodeName, isReady, isTerminating } = pod;
  const ready = service.spec?.publishNotReadyAddresses === true || (isReady && !isTerminating);
  const hostname = hostnameIn(pod, service.metadata.name ?? "");
  return {
    addresses,
    conditions: { ready, serving: isReady, terminating: isTerminating },
    ...(hostname !== undefined && { hostname }),
    targetRef: { kind: "Pod", namespace, name, uid },
    ...(nodeName !== "" && { nodeName }),
    ...(node?.zone !== undefined && { zone: node.zone }),
  };
}
