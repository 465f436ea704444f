import type { JsonObject } from "../../api/json.ts";

/** Unions: the field that names the set member, and the name of each member there. */
const unions: Readonly<Record<string, { readonly discriminator?: string; readonly members: readonly string[] }>> = {
  "core/v1.AppArmorProfile": { discriminator: "type", members: ["localhostProfile"] },
  "core/v1.PodSchedulingGroup": { members: ["podGroupName"] },
  "core/v1.SeccompProfile": { discriminator: "type", members: ["localhostProfile"] },
  "flowcontrol/v1.LimitResponse": { discriminator: "type", members: ["queuing"] },
  "flowcontrol/v1.PriorityLevelConfigurationSpec": { discriminator: "type", members: ["exempt", "limited"] },
  "flowcontrol/v1.Subject": { discriminator: "kind", members: ["group", "serviceAccount", "user"] },
};

/** Topologies that upstream publishes although they equal the defaults. */
const topologies: Readonly<Record<string, JsonObject>> = {
  "apiregistration/v1.APIServiceSpec.caBundle": { "x-kubernetes-list-type": "atomic" },
  "core/v1.PersistentVolumeClaimStatus.allocatedResourceStatuses": { "x-kubernetes-map-type": "granular" },
  "core/v1.PersistentVolumeSpec.claimRef": { "x-kubernetes-map-type": "granular" },
};

/** Returns the union that documents announce for a type such as `core/v1.SeccompProfile`. */
export function publishedUnion(typeName: string): JsonObject {
  const union = unions[typeName];
  if (union === undefined) return {};
  const { discriminator, members } = union;
  const names = members.map((name) => [name, `${name.slice(0, 1).toUpperCase()}${name.slice(1)}`]);
  return {
    "x-kubernetes-unions": [
      {
        ...(discriminator === undefined ? {} : { discriminator }),
        "fields-to-discriminateBy": Object.fromEntries(names),
      },
    ],
  };
}

export function publishedTopology(typeName: string, field: string): JsonObject {
  return topologies[`${typeName}.${field}`] ?? {};
}
