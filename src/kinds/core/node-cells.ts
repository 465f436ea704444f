import { objectOf, objectsOf, textOf } from "../../api/json-reading.ts";
import type { Cells } from "../../api/codec/table/table-rules.ts";
import type { JsonObject } from "../../api/json.ts";

const roleLabelPrefix = "node-role.kubernetes.io/";

const roleLabel = "kubernetes.io/role";

export function nodeCells(node: JsonObject): Cells {
  const status = objectOf(node["status"]);
  const nodeInfo = objectOf(status["nodeInfo"]);
  return {
    Status: nodeStatusText(node, status),
    Roles: rolesText(objectOf(objectOf(node["metadata"])["labels"])),
    Version: textOf(nodeInfo["kubeletVersion"]),
    "Internal-IP": addressOf(status, "InternalIP"),
    "External-IP": addressOf(status, "ExternalIP"),
    "OS-Image": textOf(nodeInfo["osImage"]) || "<unknown>",
    "Kernel-Version": textOf(nodeInfo["kernelVersion"]) || "<unknown>",
    "Container-Runtime": textOf(nodeInfo["containerRuntimeVersion"]) || "<unknown>",
  };
}

function nodeStatusText(node: JsonObject, status: JsonObject): string {
  const ready = objectsOf(status["conditions"]).find((condition) => textOf(condition["type"]) === "Ready");
  const text = ready === undefined ? "Unknown" : textOf(ready["status"]) === "True" ? "Ready" : "NotReady";
  return objectOf(node["spec"])["unschedulable"] === true ? `${text},SchedulingDisabled` : text;
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
  const found = objectsOf(status["addresses"]).find((address) => textOf(address["type"]) === type);
  return (found && textOf(found["address"])) || "<none>";
}
