import type { Entry } from "../../../src/api/entry.ts";
import type { KubeObject } from "../../../src/api/object-meta.ts";

/** Key prefixes of the kinds that the rules name. */
export const prefixes = {
  namespaces: "/registry/namespaces/",
  nodes: "/registry/minions/",
  pods: "/registry/pods/",
  services: "/registry/services/specs/",
  slices: "/registry/endpointslices/",
  claims: "/registry/persistentvolumeclaims/",
  volumes: "/registry/persistentvolumes/",
  deviceClaims: "/registry/resourceclaims/",
  jobs: "/registry/jobs/",
  budgets: "/registry/poddisruptionbudgets/",
  events: "/registry/events/",
} as const;

const decoded = new WeakMap<Entry, KubeObject>();

/** Decodes an entry. The simulation asks for the same entries again and again. */
export function objectOf<T = KubeObject>(entry: Entry): T {
  const known = decoded.get(entry);
  if (known !== undefined) return known as T;
  const object = JSON.parse(Buffer.from(entry.body).toString()) as KubeObject;
  decoded.set(entry, object);
  return object as T;
}
