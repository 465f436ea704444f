import { structIn, structsIn, textIn } from "../../api/codec/table/reading.ts";
import type { Cells } from "../../api/codec/table/table-rules.ts";
import type { JsonObject } from "../../api/json.ts";

const roleLabelPrefix = "node-role.kubernetes.io/";

const roleLabel = "kubernetes.io/role";

export function nodeCells(node: JsonObject): Cells {
  const status = structIn(node, "status");
  const nodeInfo = structIn(status, "nodeInfo");
  return {
    Status: nodeStatusText(node, status),
    Roles: rolesText(structIn(structIn(node, "metadata"), "labels")),
    Version: textIn(nodeInfo, "kubeletVersion"),
    "Internal-IP": addressOf(status, "InternalIP"),
    "External-IP": addressOf(status, "ExternalIP"),
    "OS-Image": textIn(nodeInfo, "osImage") || "<unknown>",
    "Kernel-Version": textIn(nodeInfo, "kernelVersion") || "<unknown>",
    "Container-Runtime": textIn(nodeInfo, "containerRuntimeVersion") || "<unknown>",
  };
}

function nodeStatusText(node: JsonObject, status: JsonObject): string {
  const ready = structsIn(status, "conditions").find((condition) => textIn(condition, "type") === "Ready");
  const text = ready === undefined ? "Unknown" : textIn(ready, "status") === "True" ? "Ready" : "NotReady";
  return structIn(node, "spec")["unschedulable"] === true ? `${text},SchedulingDisabled` : text;
}

function rolesText(labels: JsonObject): string {
  const roles = new Set<string>();
  for (const [label, value] of Object.entries(labels)) {
    if (label.startsWith(roleLabelPrefix) && label !== roleLabelPrefix) roles.add(label.slice(roleLabelPrefix.length));
    else if (label === roleLabel && typeof value === "string" && value !== "") roles.add(value);
  }
  return roles.size === 0 ? "<none>" : [...roles].sort().join(",");
}

function addressOf(status: JsonObject, type: string): string {
  const found = structsIn(status, "addresses").find((address) => textIn(address, "type") === type);
  return (found && textIn(found, "address")) || "<none>";
}
