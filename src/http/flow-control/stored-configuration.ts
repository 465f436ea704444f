import { decodeEntry } from "../../api/codec/stored-object.ts";
import type { FlowSchema, PriorityLevelConfiguration } from "../../api/types/flowcontrol-v1.ts";
import type { Registries } from "../../registry/registries.ts";
import type { Registry } from "../../registry/registry.ts";
import type { FlowConfiguration } from "./flow-control.ts";

const group = "flowcontrol.apiserver.k8s.io";

/** Returns the stored levels and schemas; none if the API group is not served. */
export function storedConfiguration(registries: Pick<Registries, "find">): FlowConfiguration {
  const levels = registries.find({ group, resource: "prioritylevelconfigurations" });
  const schemas = registries.find({ group, resource: "flowschemas" });
  return {
    version: () => Math.max(levels?.cacher.changed ?? 0, schemas?.cacher.changed ?? 0),
    levels: () => objectsOf<PriorityLevelConfiguration>(levels),
    schemas: () => objectsOf<FlowSchema>(schemas),
  };
}

function objectsOf<T>(registry: Registry | undefined): T[] {
  const page = registry?.cacher.list({ prefix: registry.info.keyPrefix });
  if (registry === undefined || page === undefined || page instanceof Promise) return [];
  return page.entries.map((entry) => decodeEntry(entry, registry.info) as T);
}
