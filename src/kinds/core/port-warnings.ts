import type { ContainerPort } from "../../api/types/core-v1.ts";
import type { PlacedContainer } from "./validation/placed-container.ts";

/** Number of ports with the same number that a port is compared with. More of them have been reported already. */
const othersMax = 100;

interface PlacedPort {
  readonly field: string;
  readonly port: ContainerPort;
}

/** Warns about ports of a pod's containers that are equal or almost equal. @returns at most `max` */
export function portWarnings(containers: readonly PlacedContainer[], max: number): string[] {
  const warnings: string[] = [];
  const byNumber = new Map<string, PlacedPort[]>();
  const ports = containers.flatMap(({ container, field }) =>
    (container.ports ?? []).map((port, at): PlacedPort => ({ field: `${field}.ports[${at}]`, port })),
  );
  for (const one of ports) {
    const { containerPort, protocol = "", hostIP = "", hostPort = 0 } = one.port;
    const key = `${containerPort}/${protocol}`;
    const others = byNumber.get(key) ?? [];
    if (hostIP !== "" && hostPort === 0) {
      warnings.push(`${one.field}: hostIP set without hostPort: ${portText(one.port)}`);
    }
    for (const other of others) warnings.push(...conflict(one, other));
    if (warnings.length >= max) return warnings.slice(0, max);
    if (others.length < othersMax) byNumber.set(key, [...others, one]);
  }
  return [...warnings, ...nameWarnings(ports)].slice(0, max);
}

/** A port as Go prints a struct. */
function portText({ name = "", hostPort = 0, containerPort, protocol = "", hostIP = "" }: ContainerPort): string {
  return `{Name:${name} HostPort:${hostPort} ContainerPort:${containerPort} Protocol:${protocol} HostIP:${hostIP}}`;
}

function conflict({ field, port: one }: PlacedPort, { field: otherField, port: other }: PlacedPort): string[] {
  const warn = (what: string) => [`${field}: ${what} port definition with ${otherField}`];
  const [hostPort, otherPort] = [one.hostPort ?? 0, other.hostPort ?? 0];
  const [hostIp, otherIp] = [one.hostIP ?? "", other.hostIP ?? ""];
  if (hostIp === otherIp && hostPort === otherPort) return warn("duplicate");
  if (hostPort === 0 || otherPort === 0) return warn("overlapping");
  const isOneBound = (hostIp === "") !== (otherIp === "");
  return hostPort === otherPort && isOneBound ? warn("dangerously ambiguous") : [];
}

/** Services and probes find a port by its name in the whole pod. */
function nameWarnings(ports: readonly PlacedPort[]): string[] {
  const first = new Map<string, string>();
  return ports.flatMap(({ field, port: { name = "" } }) => {
    if (name === "") return [];
    const other = first.get(name);
    if (other !== undefined) {
      const text = `duplicate port name ${JSON.stringify(name)} with ${other}`;
      return [`${field}: ${text}, services and probes that select ports by name will use ${other}`];
    }
    first.set(name, field);
    return [];
  });
}
