import type { RowTime } from "../../api/codec/table/row-time.ts";
import type { Cells } from "../../api/codec/table/table-rules.ts";
import type { JsonValue } from "../../api/json.ts";
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
  table: { cells: ipAddressCells, row: ipAddressRow },
  descriptions: {
    "networking/v1.IPAddress": { "": "An address that is in use; its name is the address." },
    "networking/v1.IPAddressSpec": { "": "The object that uses the address.", parentRef: "The object that uses it." },
  },
});

function ipAddressCells({ spec }: networkingV1.IPAddress): Cells {
  return { ParentRef: spec?.parentRef === undefined ? "<none>" : parentText(spec.parentRef) };
}

/** The age is there without a column, as upstream has it. */
function ipAddressRow(address: networkingV1.IPAddress, time: RowTime): readonly JsonValue[] {
  const { name = "", creationTimestamp } = address.metadata;
  return [name, ipAddressCells(address)["ParentRef"] ?? "", time.ageOf(creationTimestamp)];
}

/** Returns a text such as `services/default/kubernetes`: resource and group, namespace if there is one, name. */
function parentText({ group = "", resource = "", namespace = "", name = "" }: networkingV1.ParentReference): string {
  const type = `${resource}${group === "" ? "" : `.${group}`}`.toLowerCase();
  return `${type}${namespace === "" ? "" : `/${namespace}`}/${name}`;
}
