import type { JsonObject } from "../../api/json.ts";
import { numberOf, objectsOf, textOf } from "../../api/validation/fields.ts";

/** With how many others of the same number a port is compared: more of them are a mistake that is told already. */
const othersMax = 100;

interface Port {
  readonly field: string;
  readonly hostIp: string;
  readonly hostPort: number;
}

/** Ports of a pod's containers that are the same, or come near it. @returns at most `max` */
export function portWarnings(
  containers: readonly { readonly container: JsonObject; readonly field: string }[],
  max: number,
): string[] {
  const warnings: string[] = [];
  const byNumber = new Map<string, Port[]>();
  for (const { container, field } of containers) {
    for (const [at, port] of objectsOf(container["ports"]).entries()) {
      const key = `${numberOf(port["containerPort"])}/${textOf(port["protocol"])}`;
      const others = byNumber.get(key) ?? [];
      const one: Port = {
        field: `${field}.ports[${at}]`,
        hostIp: textOf(port["hostIP"]),
        hostPort: numberOf(port["hostPort"]),
      };
      for (const other of others) warnings.push(...conflict(one, other));
      if (warnings.length >= max) return warnings.slice(0, max);
      if (others.length < othersMax) byNumber.set(key, [...others, one]);
    }
  }
  return warnings;
}

function conflict(one: Port, other: Port): string[] {
  const warn = (what: string) => [`${one.field}: ${what} port definition with ${other.field}`];
  if (one.hostIp === other.hostIp && one.hostPort === other.hostPort) return warn("duplicate");
  if (one.hostPort === 0 || other.hostPort === 0) return warn("overlapping");
  const oneAddress = (one.hostIp === "") !== (other.hostIp === "");
  return one.hostPort === other.hostPort && oneAddress ? warn("dangerously ambiguous") : [];
}
