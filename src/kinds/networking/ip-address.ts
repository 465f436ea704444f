import { structIn, textIn } from "../../api/codec/table/reading.ts";
import type { Cells } from "../../api/codec/table/table-rules.ts";
import type { JsonObject } from "../../api/json.ts";
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
  table: { cells: ipAddressCells },
});

function ipAddressCells(address: JsonObject): Cells {
  const parent = structIn(address, "spec")["parentRef"];
  return { ParentRef: parent === undefined ? "<none>" : parentText(structIn(structIn(address, "spec"), "parentRef")) };
}

/** `services/default/kubernetes`: resource and group, namespace where there is one, name. */
function parentText(parent: JsonObject): string {
  const group = textIn(parent, "group");
  const resource = `${textIn(parent, "resource")}${group === "" ? "" : `.${group}`}`.toLowerCase();
  return [resource, textIn(parent, "namespace"), textIn(parent, "name")].filter((part) => part !== "").join("/");
}
