import { type FieldError, fieldError } from "../../api/field-error.ts";
import type { GroupResource } from "../../api/gvk.ts";
import { parseResourceName } from "./resource-name.ts";

/** Records of the allocators. They have no API. */
const withoutApi = ["apiserveripinfo", "serviceipallocations", "servicenodeportallocations"];

/** Checks the resources of one entry of an EncryptionConfiguration. */
export function checkResourceNames(names: readonly string[], path: string): FieldError[] {
  const errors: FieldError[] = [];
  const parsed = names.map(parseResourceName);
  if (new Set(names.map((name) => JSON.stringify(parseResourceName(name)))).size < names.length) {
    errors.push(fieldError.invalid(path, [...names], "the same resource cannot be specified multiple times"));
  }
  if (overlap(parsed)) {
    const detail =
      "using overlapping resources such as 'secrets' and '*.' in the same resource list is not allowed as they will be masked";
    errors.push(fieldError.invalid(path, [...names], detail));
  }
  for (const [at, name] of names.entries()) {
    const detail = problemOf(name);
    if (detail !== undefined) errors.push(fieldError.invalid(`${path}[${at}]`, name, detail));
  }
  return errors;
}

/** Reports whether a wildcard contains another resource of the list, or occurs twice. */
function overlap(resources: readonly GroupResource[]): boolean {
  return resources.some((one, at) => {
    if (one.resource !== "*") return false;
    return resources.some((other, otherAt) => otherAt !== at && (one.group === "*" || one.group === other.group));
  });
}

function problemOf(name: string): string | undefined {
  if (name.toLowerCase() !== name) return "resource name should not contain capital letters";
  if (name === "*") {
    return "use '*.' to encrypt all the resources from core API group or *.* to encrypt all resources";
  }
  if (withoutApi.includes(name)) return "resources which do not have REST API/s cannot be encrypted";
  const { group, resource } = parseResourceName(name);
  if (group === "events.k8s.io") {
    return "'*.events.k8s.io' objects are stored using the 'events' API group in etcd. Use 'events' instead in the config file";
  }
  if (group === "extensions") return "'extensions' group has been removed and cannot be used for encryption";
  if (group === "*" && resource !== "*") return "encrypting the same resource across groups is not supported";
  return undefined;
}
