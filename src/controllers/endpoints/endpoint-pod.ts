import { decodeBody } from "../../api/codec/stored-object.ts";
import type { Entry } from "../../api/entry.ts";
import type { Container, Pod, ServicePort } from "../../api/types/core-v1.ts";
import { type IpAddress, parseIp } from "../../api/validation/ip.ts";

/** The facts of a pod that determine its endpoints. */
export interface EndpointPod {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly ips: readonly IpAddress[];
  readonly isReady: boolean;
  /** Time of the last change of readiness; undefined if the pod has never reported it. */
  readonly readySince: string | undefined;
  readonly isTerminating: boolean;
  readonly nodeName: string;
  readonly hostname: string;
  readonly subdomain: string;
  /** Ports that a service can refer to by name, in the order of the containers. */
  readonly namedPorts: readonly NamedPort[];
}

interface NamedPort {
  readonly name: string;
  readonly protocol: string;
  readonly number: number;
}

/** An entry never changes, so its facts are computed once for all services that select the pod. */
const facts = new WeakMap<Entry, EndpointPod>();

/** Returns the facts of a stored pod, or undefined if it has ended or has no address, and so is unreachable. */
export function endpointPodOf(entry: Entry): EndpointPod | undefined {
  const { fields = {} } = entry.index;
  const phase = fields["status.phase"];
  if (phase === "Succeeded" || phase === "Failed" || (fields["status.podIP"] ?? "") === "") return undefined;
  let pod = facts.get(entry);
  if (pod === undefined) facts.set(entry, (pod = readPod(decodeBody(entry) as unknown as Pod)));
  return pod;
}

/** Reports whether two states of a pod differ in what endpoints contain. */
export function endpointsDiffer(old: Entry | undefined, entry: Entry | undefined): boolean {
  const [before, after] = [old && endpointPodOf(old), entry && endpointPodOf(entry)];
  if (before === undefined || after === undefined) return before !== after;
  return (
    before.uid !== after.uid ||
    before.isReady !== after.isReady ||
    before.isTerminating !== after.isTerminating ||
    before.nodeName !== after.nodeName ||
    before.hostname !== after.hostname ||
    before.subdomain !== after.subdomain ||
    before.ips.length !== after.ips.length ||
    before.ips.some(({ text }, at) => text !== after.ips[at]?.text)
  );
}

/** Returns the number of a service's port on a pod; undefined if the pod has no port of that name. */
export function portOnPod(
  { namedPorts }: EndpointPod,
  { targetPort, protocol = "TCP" }: ServicePort,
): number | undefined {
  if (typeof targetPort !== "string") return targetPort ?? 0;
  return namedPorts.find((port) => port.name === targetPort && port.protocol === protocol)?.number;
}

/** Returns the hostname of a pod in a service, if the pod declares that it belongs to it. */
export function hostnameIn({ hostname, subdomain }: EndpointPod, service: string): string | undefined {
  return hostname !== "" && subdomain === service ? hostname : undefined;
}

function readPod({ metadata, spec, status }: Pod): EndpointPod {
  const ready = status?.conditions?.find(({ type }) => type === "Ready");
  const texts = status?.podIPs?.map(({ ip }) => ip ?? "") ?? [status?.podIP ?? ""];
  const sidecars = (spec?.initContainers ?? []).filter(({ restartPolicy }) => restartPolicy === "Always");
  return {
    namespace: metadata.namespace ?? "",
    name: metadata.name ?? "",
    uid: metadata.uid ?? "",
    ips: texts.flatMap((text) => parseIp(text) ?? []),
    isReady: ready?.status === "True",
    readySince: ready?.lastTransitionTime ?? undefined,
    isTerminating: metadata.deletionTimestamp !== undefined,
    nodeName: spec?.nodeName ?? "",
    hostname: spec?.hostname ?? "",
    subdomain: spec?.subdomain ?? "",
    namedPorts: [...(spec?.containers ?? []), ...sidecars].flatMap(namedPortsOf),
  };
}

function namedPortsOf({ ports = [] }: Container): NamedPort[] {
  return ports.flatMap(({ name = "", protocol = "TCP", containerPort }) =>
    name === "" ? [] : [{ name, protocol, number: containerPort }],
  );
}
