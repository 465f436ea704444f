import { parseJson } from "../../api/codec/json.ts";
import { apiVersionOf, type GroupVersionKind } from "../../api/gvk.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../../api/json.ts";
import type { DiscoveredResource, DiscoveredSubresource } from "../../client/aggregation/discovered-version.ts";

/** Maximum number of values of a document. */
const valuesMax = 200_000;
/** Maximum numbers of group versions, and of resources and subresources, of one extension server. */
const versionsMax = 500;
const resourcesMax = 5_000;
/** Maximum length of a name, and number of names in a list. */
const nameMax = 253;
const namesMax = 100;

/** The resources of an extension server by apiVersion. */
export type DiscoveredResources = ReadonlyMap<string, readonly DiscoveredResource[]>;

/**
 * Reads an aggregated discovery document. Both versions of its type have the same fields. Ignores unknown fields.
 * @throws Error for a document that does not have this type, or is too large
 */
export function readAggregatedDiscovery(bytes: Uint8Array): DiscoveredResources {
  const document = rootOf(bytes);
  const budget = new Budget();
  const versions = new Map<string, readonly DiscoveredResource[]>();
  for (const item of objects(document["items"], "items")) {
    const group = text(object(item["metadata"], "metadata")["name"], "metadata.name");
    for (const version of objects(item["versions"], "versions")) {
      if (versions.size >= versionsMax) throw new Error(`there are more than ${versionsMax} group versions`);
      const name = requiredText(version["version"], "version");
      const resources = objects(version["resources"], "resources");
      versions.set(
        apiVersionOf({ group, version: name }),
        resources.map((resource) => readResource(resource, budget)),
      );
    }
  }
  return versions;
}

/**
 * Reads the resources of one group version from an APIResourceList, which lists subresources beside their resource. A
 * subresource without a listed resource gets a resource without a kind.
 * @throws Error for a document that does not have this type, or is too large
 */
export function readResourceList(bytes: Uint8Array): readonly DiscoveredResource[] {
  const budget = new Budget();
  const found = new Map<string, DiscoveredResource & { readonly subresources: DiscoveredSubresource[] }>();
  const entries = objects(rootOf(bytes)["resources"], "resources").map((entry) => readListed(entry, budget));
  for (const { name, ...rest } of entries) {
    if (!name.includes("/")) found.set(name, { resource: name, ...rest, subresources: [] });
  }
  for (const { name, responseKind, scope, verbs } of entries) {
    const slash = name.indexOf("/");
    if (slash < 0) continue;
    const resource = name.slice(0, slash);
    const parent = found.get(resource) ?? { ...withoutKind, resource, scope, subresources: [] };
    if (parent.scope !== scope) throw new Error(`${resource} and ${name} differ in scope`);
    parent.subresources.push({ subresource: name.slice(slash + 1), responseKind, acceptedTypes: [], verbs });
    found.set(resource, parent);
  }
  return [...found.values()];
}

const noKind: GroupVersionKind = { group: "", version: "", kind: "" };
const withoutKind = { responseKind: noKind, singularResource: "", verbs: [], shortNames: [], categories: [] } as const;

/** Counts the resources of one document. */
class Budget {
  #left = resourcesMax;

  take(): void {
    if (--this.#left < 0) throw new Error(`there are more than ${resourcesMax} resources`);
  }
}

function readResource(value: JsonObject, budget: Budget): DiscoveredResource {
  budget.take();
  const subresources = objects(value["subresources"], "subresources").map((one): DiscoveredSubresource => {
    budget.take();
    return {
      subresource: requiredText(one["subresource"], "subresource"),
      responseKind: kindOf(one["responseKind"]),
      acceptedTypes: objects(one["acceptedTypes"], "acceptedTypes", namesMax).map(kindOf),
      verbs: texts(one["verbs"], "verbs"),
    };
  });
  return {
    resource: requiredText(value["resource"], "resource"),
    responseKind: kindOf(value["responseKind"]),
    scope: value["scope"] === "Namespaced" ? "Namespaced" : "Cluster",
    singularResource: text(value["singularResource"], "singularResource"),
    verbs: texts(value["verbs"], "verbs"),
    shortNames: texts(value["shortNames"], "shortNames"),
    categories: texts(value["categories"], "categories"),
    subresources,
  };
}

/** A resource or subresource of an APIResourceList. */
interface Listed extends Omit<DiscoveredResource, "resource" | "subresources"> {
  /** `pods` or `pods/status`. */
  readonly name: string;
}

function readListed(value: JsonObject, budget: Budget): Listed {
  budget.take();
  return {
    name: requiredText(value["name"], "name"),
    responseKind: kindOf(value),
    scope: value["namespaced"] === true ? "Namespaced" : "Cluster",
    singularResource: text(value["singularName"], "singularName"),
    verbs: texts(value["verbs"], "verbs"),
    shortNames: texts(value["shortNames"], "shortNames"),
    categories: texts(value["categories"], "categories"),
  };
}

function kindOf(value: JsonValue | undefined): GroupVersionKind {
  const { group, version, kind } = object(value, "responseKind") as Partial<JsonObject>;
  return { group: text(group, "group"), version: text(version, "version"), kind: text(kind, "kind") };
}

function rootOf(bytes: Uint8Array): JsonObject {
  const { value } = parseJson(bytes, { strict: false, valuesMax });
  if (!isJsonObject(value)) throw new Error("the document is not an object");
  return value;
}

function object(value: JsonValue | undefined, field: string): JsonObject {
  if (value === undefined || value === null) return {};
  if (!isJsonObject(value)) throw new Error(`${field} is not an object`);
  return value;
}

function objects(value: JsonValue | undefined, field: string, max = resourcesMax): JsonObject[] {
  return list(value, field, max).map((item) => object(item, field));
}

function texts(value: JsonValue | undefined, field: string): string[] {
  return list(value, field, namesMax).map((item) => text(item, field));
}

function list(value: JsonValue | undefined, field: string, max: number): JsonValue[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) throw new Error(`${field} is not a list`);
  if (value.length > max) throw new Error(`${field} has more than ${max} items`);
  return value;
}

function text(value: JsonValue | undefined, field: string): string {
  if (value === undefined || value === null) return "";
  if (typeof value !== "string") throw new Error(`${field} is not a text`);
  if (value.length > nameMax) throw new Error(`${field} is longer than ${nameMax} characters`);
  return value;
}

function requiredText(value: JsonValue | undefined, field: string): string {
  const found = text(value, field);
  if (found === "") throw new Error(`${field} is missing`);
  return found;
}
