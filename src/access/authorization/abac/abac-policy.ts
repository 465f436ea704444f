import { parseJson } from "../../../api/codec/json.ts";
import { isJsonObject, type JsonObject } from "../../../api/json.ts";
import { textOf } from "../../../api/json-reading.ts";
import type { UserInfo } from "../../../request/user-info.ts";
import type { Attributes } from "../attributes.ts";

const apiVersion = "abac.authorization.kubernetes.io/v1beta1";
const authenticatedGroup = "system:authenticated";
const specFields = new Set(["user", "group", "readonly", "apiGroup", "resource", "namespace", "nonResourcePath"]);

/** One line of a policy file. "" matches nothing, `*` matches everything. */
export interface AbacPolicy {
  readonly user: string;
  readonly group: string;
  readonly readonly: boolean;
  readonly apiGroup: string;
  readonly resource: string;
  readonly namespace: string;
  readonly nonResourcePath: string;
}

/**
 * Parses a policy file with one JSON object per line. Skips empty lines and lines that begin with `#`. Lines without an
 * apiVersion have the first, unversioned form.
 * @throws Error that names the line
 */
export function parseAbacPolicies(text: string): AbacPolicy[] {
  return text.split("\n").flatMap((line, at) => {
    const trimmed = line.trim();
    if (trimmed === "" || trimmed.startsWith("#")) return [];
    try {
      return [parseLine(trimmed)];
    } catch (error) {
      throw new Error(`line ${at + 1}: ${(error as Error).message}`);
    }
  });
}

function parseLine(line: string): AbacPolicy {
  const { value } = parseJson(new TextEncoder().encode(line), { strict: true });
  if (!isJsonObject(value)) throw new Error("not a JSON object");
  if (value["apiVersion"] === undefined && value["kind"] === undefined) return unversionedPolicy(value);
  if (value["apiVersion"] !== apiVersion || value["kind"] !== "Policy") {
    throw new Error(`not a Policy of ${apiVersion}`);
  }
  const { spec } = value;
  if (!isJsonObject(spec)) throw new Error("spec is missing");
  const unknown = Object.keys(spec).find((name) => !specFields.has(name));
  if (unknown !== undefined) throw new Error(`unknown field "spec.${unknown}"`);
  return everybody({
    user: textOf(spec["user"]),
    group: textOf(spec["group"]),
    readonly: spec["readonly"] === true,
    apiGroup: textOf(spec["apiGroup"]),
    resource: textOf(spec["resource"]),
    namespace: textOf(spec["namespace"]),
    nonResourcePath: textOf(spec["nonResourcePath"]),
  });
}

/** Converts the first form. Omitted fields match everything, and a policy for everything includes the paths. */
function unversionedPolicy(value: JsonObject): AbacPolicy {
  const resource = textOf(value["resource"]);
  const namespace = textOf(value["namespace"]);
  const user = textOf(value["user"]);
  const group = textOf(value["group"]);
  return everybody({
    user,
    group: user === "" && group === "" ? "*" : group,
    readonly: value["readonly"] === true,
    apiGroup: "*",
    resource: resource === "" ? "*" : resource,
    namespace: namespace === "" ? "*" : namespace,
    nonResourcePath: resource === "" && namespace === "" ? "*" : "",
  });
}

/** Converts a star for users or groups, which means only authenticated users. */
function everybody(policy: AbacPolicy): AbacPolicy {
  if (policy.user !== "*" && policy.group !== "*") return policy;
  return { ...policy, user: policy.user === "*" ? "" : policy.user, group: authenticatedGroup };
}

export function abacAllows(policy: AbacPolicy, user: UserInfo, attributes: Attributes): boolean {
  return isFor(policy, user) && allowsVerb(policy, attributes) && covers(policy, attributes);
}

function isFor({ user, group }: AbacPolicy, who: UserInfo): boolean {
  if (user === "" && group === "") return false;
  return (user === "" || user === who.name) && (group === "" || who.groups.includes(group));
}

function allowsVerb({ readonly }: AbacPolicy, { verb }: Attributes): boolean {
  return !readonly || verb === "get" || verb === "list" || verb === "watch";
}

function covers(policy: AbacPolicy, attributes: Attributes): boolean {
  if (attributes.kind === "nonResource") return coversPath(policy.nonResourcePath, attributes.path);
  return (
    matches(policy.namespace, attributes.namespace) &&
    matches(policy.resource, attributes.resource) &&
    matches(policy.apiGroup, attributes.group)
  );
}

function matches(pattern: string, value: string): boolean {
  return pattern === "*" || pattern === value;
}

function coversPath(pattern: string, path: string): boolean {
  if (pattern === "*" || pattern === path) return true;
  return pattern.endsWith("*") && path.startsWith(pattern.slice(0, -1));
}
