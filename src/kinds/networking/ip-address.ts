import { ageOf } from "../../api/codec/table/human-duration.ts";
import type { JsonObject, JsonValue } from "../../api/json.ts";
import type * as networkingV1 from "../../api/types/networking-v1.ts";
import { defaultStrategy } from "../../registry/default-strategy.ts";
import { builtInKind, stored } from "../../registry/kind.ts";
import { ipAddressNameProblems, validateIpAddress, validateIpAddressUpdate } from "./validation/ip-address.ts";

export const ipAddress = builtInKind("ipaddresses.networking.k8s.io", {
  endpoint: stored({
    ...defaultStrategy,
    coversSchema: true,
    generatesNames: false,
    validateName: ipAddressNameProblems,
    validate: validateIpAddress,
    validateUpdate: validateIpAddressUpdate,
  }),
  table: { cells: () => ({}), row: ipAddressRow },
});

/** The age is there without a column, as upstream has it. */
function ipAddressRow(address: JsonObject, nowMs: number): readonly JsonValue[] {
  const { metadata, spec } = address as unknown as networkingV1.IPAddress;
  const parent = spec?.parentRef;
  return [
    metadata.name ?? "",
    parent === undefined ? "<none>" : parentText(parent),
    ageOf(metadata.creationTimestamp ?? undefined, nowMs),
  ];
}

/** `services/default/kubernetes`: resource and group, namespace where there is one, name. */
function parentText({ group = "", resource, namespace = "", name }: networkingV1.ParentReference): string {
  const type = `${resource}${group === "" ? "" : `.${group}`}`.toLowerCase();
  return `${type}${namespace === "" ? "" : `/${namespace}`}/${name}`;
}
