import { type FieldError, fieldError } from "../../../api/field-error.ts";
import { flowSchemas, mandatorySpec } from "../flow-control-objects.ts";
import { equalJson, type JsonObject } from "../../../api/json.ts";
import type { KubeObject } from "../../../api/object-meta.ts";
import { internalForm } from "../../../api/validation/internal-form.ts";
import { isPresent, numberOf, objectOf, objectsOf, textOf, textsOf } from "../../../api/json-reading.ts";
import { fieldErrorsMax } from "../../../api/validation/labels.ts";
import { dnsLabelProblems, dnsSubdomainProblems } from "../../../api/validation/names.ts";
import { validateEach } from "../../../api/validation/validate-each.ts";

const precedenceMax = 10_000;
const exemptName = "exempt";
const distinguisherMethods = ["ByNamespace", "ByUser"];
const subjectKinds = ["Group", "ServiceAccount", "User"];
const knownVerbs = ["create", "delete", "deletecollection", "get", "list", "patch", "proxy", "update", "watch"];
const all = "*";

export function validateFlowSchema(schema: KubeObject): FieldError[] {
  const spec = objectOf(schema["spec"]);
  const name = textOf(objectOf(spec["priorityLevelConfiguration"])["name"]);
  const field = "spec.priorityLevelConfiguration.name";
  const { distinguisherMethod } = spec;
  return [
    ...validatePrecedence(numberOf(spec["matchingPrecedence"]), schema.metadata.name ?? "", "spec.matchingPrecedence"),
    ...(isPresent(distinguisherMethod) && !distinguisherMethods.includes(textOf(objectOf(distinguisherMethod)["type"]))
      ? [
          fieldError.notSupported(
            "spec.distinguisherMethod.type",
            internalForm(distinguisherMethod, "flowcontrol/v1.FlowDistinguisherMethod"),
            distinguisherMethods,
          ),
        ]
      : []),
    ...(name === ""
      ? [fieldError.required(field, "must reference a priority level")]
      : dnsSubdomainProblems(name).map((problem) => fieldError.invalid(field, name, problem))),
    ...objectsOf(spec["rules"])
      .flatMap((rule, at) => validateRule(rule, `spec.rules[${at}]`))
      .slice(0, fieldErrorsMax),
    ...validateMandatory(schema),
  ];
}

/** Without these the server could lock out its own administrators. */
function validateMandatory({ metadata, spec }: KubeObject): FieldError[] {
  const known = mandatorySpec(flowSchemas, metadata.name);
  if (known === undefined || equalJson(objectOf(spec), known)) return [];
  return [
    fieldError.invalid(
      "spec",
      internalForm(spec, "flowcontrol/v1.FlowSchemaSpec"),
      `spec of '${metadata.name}' must equal the fixed value`,
    ),
  ];
}

function validatePrecedence(precedence: number, name: string, field: string): FieldError[] {
  const refuse = (text: string) => [fieldError.invalid(field, precedence, text)];
  if (precedence <= 0) return refuse("must be a positive value");
  if (precedence > precedenceMax) return refuse(`must not be greater than ${precedenceMax}`);
  return precedence === 1 && name !== exemptName
    ? refuse("only the schema named 'exempt' may have matchingPrecedence 1")
    : [];
}

function validateRule(rule: JsonObject, field: string): FieldError[] {
  const subjects = objectsOf(rule["subjects"]);
  const resourceRules = objectsOf(rule["resourceRules"]);
  const otherRules = objectsOf(rule["nonResourceRules"]);
  const errors =
    subjects.length === 0
      ? [fieldError.required(`${field}.subjects`, "subjects must contain at least one value")]
      : validateEach(subjects, (subject, at) => validateSubject(subject, `${field}.subjects[${at}]`));
  if (resourceRules.length + otherRules.length === 0) {
    const text = "at least one of resourceRules and nonResourceRules has to be non-empty";
    errors.push(fieldError.required(field, text));
  }
  return [
    ...errors,
    ...validateEach(resourceRules, (part, at) => validateResourceRule(part, `${field}.resourceRules[${at}]`)),
    ...validateEach(otherRules, (part, at) => validateOtherRule(part, `${field}.nonResourceRules[${at}]`)),
  ];
}

/** The block that belongs to the kind, and none of the others. */
function validateSubject(subject: JsonObject, field: string): FieldError[] {
  const kind = textOf(subject["kind"]);
  if (!subjectKinds.includes(kind)) return [fieldError.notSupported(`${field}.kind`, kind, subjectKinds)];
  const block = blockOf(kind);
  const own = isPresent(subject[block])
    ? validateBlock(kind, objectOf(subject[block]), `${field}.${block}`)
    : [fieldError.required(`${field}.${block}`, `${block} is required when subject kind is '${kind}'`)];
  const others = ["ServiceAccount", "User", "Group"].filter(
    (other) => other !== kind && isPresent(subject[blockOf(other)]),
  );
  return [
    ...own,
    ...others.map((other) =>
      fieldError.forbidden(
        `${field}.${blockOf(other)}`,
        `${blockOf(other)} is forbidden when subject kind is not '${other}'`,
      ),
    ),
  ];
}

function blockOf(kind: string): string {
  return kind.slice(0, 1).toLowerCase() + kind.slice(1);
}

function validateBlock(kind: string, block: JsonObject, field: string): FieldError[] {
  const name = textOf(block["name"]);
  const errors = name === "" ? [fieldError.required(`${field}.name`)] : [];
  if (kind !== "ServiceAccount") return errors;
  if (name !== "" && name !== all) {
    for (const problem of dnsSubdomainProblems(name)) errors.push(fieldError.invalid(`${field}.name`, name, problem));
  }
  const namespace = textOf(block["namespace"]);
  if (namespace === "") {
    return [...errors, fieldError.required(`${field}.namespace`, "must specify namespace for service account")];
  }
  const problems = dnsLabelProblems(namespace);
  return [...errors, ...problems.map((problem) => fieldError.invalid(`${field}.namespace`, namespace, problem))];
}

function validateResourceRule(rule: JsonObject, field: string): FieldError[] {
  return [
    ...validateVerbs(textsOf(rule["verbs"]), `${field}.verbs`),
    ...validateList(textsOf(rule["apiGroups"]), "api group", `${field}.apiGroups`),
    ...validateList(textsOf(rule["resources"]), "resource", `${field}.resources`),
    ...validateNamespaces(textsOf(rule["namespaces"]), rule["clusterScope"] === true, `${field}.namespaces`),
  ];
}

function validateOtherRule(rule: JsonObject, field: string): FieldError[] {
  const urls = textsOf(rule["nonResourceURLs"]);
  const path = `${field}.nonResourceURLs`;
  const errors = validateVerbs(textsOf(rule["verbs"]), `${field}.verbs`);
  if (urls.length === 0) {
    return [...errors, fieldError.required(path, "nonResourceURLs must contain at least one value")];
  }
  if (urls.includes(all)) return [...errors, ...validateAlone(urls, "non-resource URLs", path)];
  return [...errors, ...validateEach(urls, (url, at) => validateUrl(url, `${path}[${at}]`))];
}

function validateVerbs(verbs: readonly string[], field: string): FieldError[] {
  if (verbs.length === 0) return [fieldError.required(field, "verbs must contain at least one value")];
  if (verbs.includes(all)) return validateAlone(verbs, "verbs", field);
  return verbs.every((verb) => knownVerbs.includes(verb))
    ? []
    : [fieldError.notSupported(field, [...verbs], knownVerbs)];
}

function validateList(values: readonly string[], what: string, field: string): FieldError[] {
  if (values.length === 0) return [fieldError.required(field, `resource rules must supply at least one ${what}`)];
  return validateAlone(values, `${what}s`, field);
}

function validateNamespaces(namespaces: readonly string[], clusterScope: boolean, field: string): FieldError[] {
  if (namespaces.length === 0) {
    const text = "resource rules that are not cluster scoped must supply at least one namespace";
    return clusterScope ? [] : [fieldError.required(field, text)];
  }
  if (namespaces.includes(all)) return validateAlone(namespaces, "namespaces", field);
  return validateEach(namespaces, (namespace, at) =>
    dnsLabelProblems(namespace).map((problem) => {
      const text = `each member of this list must be '*' or a DNS-1123 label; ${problem}`;
      return fieldError.invalid(`${field}[${at}]`, namespace, text);
    }),
  );
}

function validateAlone(values: readonly string[], what: string, field: string): FieldError[] {
  if (values.length === 1 || !values.includes(all)) return [];
  return [fieldError.invalid(field, [...values], `if '*' is present, must not specify other ${what}`)];
}

function validateUrl(url: string, field: string): FieldError[] {
  const refuse = (text: string) => [fieldError.invalid(field, url, text)];
  if (url === "") return refuse("must not be empty");
  if (!url.startsWith("/")) return refuse("must start with slash");
  if (url.includes(" ")) return refuse("must not contain white-space");
  if (url.includes("//")) return refuse("must not contain double slash");
  const star = url.indexOf(all);
  return star < 0 || (star === url.length - 1 && url.endsWith("/*"))
    ? []
    : refuse("wildcard can only do suffix matching");
}
