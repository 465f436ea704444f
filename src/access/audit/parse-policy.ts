import { parseYaml } from "../../api/codec/yaml.ts";
import { type FieldError, fieldError, fieldErrorText } from "../../api/field-error.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../../api/json.ts";
import { objectOf } from "../../api/json-reading.ts";
import { type AuditedResources, type AuditPolicy, type AuditRule, levels, type Stage, stages } from "./policy.ts";

const apiVersion = "audit.k8s.io/v1";
const policyFields = ["apiVersion", "kind", "metadata", "rules", "omitStages", "omitManagedFields"];
const ruleFields = [
  "level",
  "users",
  "userGroups",
  "verbs",
  "resources",
  "namespaces",
  "nonResourceURLs",
  "omitStages",
  "omitManagedFields",
];
const resourceFields = ["group", "resources", "resourceNames"];

/**
 * Parses a Policy of audit.k8s.io/v1, YAML or JSON.
 * @throws Error that lists every problem
 */
export function parseAuditPolicy(bytes: Uint8Array): AuditPolicy {
  const { value, duplicates } = parseYaml(bytes, { strict: true });
  if (!isJsonObject(value)) throw new Error("the file does not contain an object");
  if (duplicates.length > 0) throw new Error(`the field ${JSON.stringify(duplicates[0])} occurs twice`);
  if (value["apiVersion"] !== apiVersion || value["kind"] !== "Policy") {
    throw new Error(`the file is not a Policy of ${apiVersion}`);
  }
  const errors: FieldError[] = unknownFields(value, policyFields, "");
  const given = Array.isArray(value["rules"]) ? value["rules"] : [];
  if (given.length === 0) errors.push(fieldError.required("rules", "at least one rule is needed"));
  const everywhere = parseStages(value["omitStages"], "omitStages", errors);
  const rules = given.map((rule, at) => parseRule(objectOf(rule), `rules[${at}]`, errors));
  if (errors.length > 0) throw new Error(errors.map(fieldErrorText).join("; "));
  return {
    rules: rules.map((rule) => ({
      ...rule,
      omitStages: new Set([...everywhere, ...rule.omitStages]),
      omitManagedFields: rule.omitManagedFields ?? value["omitManagedFields"] === true,
    })),
  };
}

type ParsedRule = Omit<AuditRule, "omitManagedFields"> & { readonly omitManagedFields: boolean | undefined };

function parseRule(rule: JsonObject, path: string, errors: FieldError[]): ParsedRule {
  errors.push(...unknownFields(rule, ruleFields, path));
  const level = levels.find((known) => known === rule["level"]);
  if (level === undefined) {
    const given = rule["level"];
    const field = `${path}.level`;
    errors.push(given === undefined ? fieldError.required(field) : fieldError.notSupported(field, given, levels));
  }
  const texts = (name: string) => parseTexts(rule[name], `${path}.${name}`, errors);
  const parsed: ParsedRule = {
    level: level ?? "None",
    users: texts("users"),
    userGroups: texts("userGroups"),
    verbs: texts("verbs"),
    resources: parseResources(rule["resources"], `${path}.resources`, errors),
    namespaces: texts("namespaces"),
    nonResourceURLs: texts("nonResourceURLs"),
    omitStages: parseStages(rule["omitStages"], `${path}.omitStages`, errors),
    omitManagedFields: typeof rule["omitManagedFields"] === "boolean" ? rule["omitManagedFields"] : undefined,
  };
  const { nonResourceURLs, resources, namespaces } = parsed;
  for (const [at, url] of nonResourceURLs.entries()) errors.push(...urlErrors(url, `${path}.nonResourceURLs[${at}]`));
  if (nonResourceURLs.length > 0 && (resources.length > 0 || namespaces.length > 0)) {
    const detail = "rules cannot apply to both regular resources and non-resource URLs";
    errors.push(fieldError.invalid(`${path}.nonResourceURLs`, [...nonResourceURLs], detail));
  }
  return parsed;
}

function parseResources(value: JsonValue | undefined, path: string, errors: FieldError[]): AuditedResources[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) {
    errors.push(fieldError.typeInvalid(path, value, "must be a list"));
    return [];
  }
  return value.map((entry, at) => {
    const field = `${path}[${at}]`;
    const given = objectOf(entry);
    errors.push(...unknownFields(given, resourceFields, field));
    const group = typeof given["group"] === "string" ? given["group"] : "";
    if (group.includes("/")) errors.push(fieldError.invalid(`${field}.group`, group, "must not contain a version"));
    const resources = parseTexts(given["resources"], `${field}.resources`, errors);
    const resourceNames = parseTexts(given["resourceNames"], `${field}.resourceNames`, errors);
    if (resourceNames.length > 0 && resources.length === 0) {
      const detail = "using resourceNames requires at least one resource";
      errors.push(fieldError.invalid(`${field}.resourceNames`, resourceNames, detail));
    }
    return { group, resources, resourceNames };
  });
}

function parseStages(value: JsonValue | undefined, path: string, errors: FieldError[]): ReadonlySet<Stage> {
  const found = new Set<Stage>();
  for (const [at, text] of parseTexts(value, path, errors).entries()) {
    const stage = stages.find((known) => known === text);
    if (stage === undefined) errors.push(fieldError.notSupported(`${path}[${at}]`, text, stages));
    else found.add(stage);
  }
  return found;
}

function parseTexts(value: JsonValue | undefined, path: string, errors: FieldError[]): string[] {
  if (value === undefined || value === null) return [];
  if (Array.isArray(value) && value.every((item) => typeof item === "string")) return value;
  errors.push(fieldError.typeInvalid(path, value, "must be a list of strings"));
  return [];
}

function urlErrors(url: string, path: string): FieldError[] {
  if (url === "*") return [];
  if (!url.startsWith("/")) {
    return [fieldError.invalid(path, url, "non-resource URL rules must begin with a '/' character")];
  }
  const star = url.indexOf("*");
  if (star === -1 || star === url.length - 1) return [];
  return [fieldError.invalid(path, url, "non-resource URL wildcards '*' must be the final character of the rule")];
}

function unknownFields(value: JsonObject, known: readonly string[], path: string): FieldError[] {
  return Object.keys(value)
    .filter((name) => !known.includes(name))
    .map((name) => fieldError.invalidUnshown(path === "" ? name : `${path}.${name}`, "unknown field"));
}
