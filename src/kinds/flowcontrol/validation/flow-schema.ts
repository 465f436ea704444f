import { type FieldError, fieldError } from "../../../api/field-error.ts";
import { equalJson } from "../../../api/json.ts";
import type {
  FlowSchema,
  NonResourcePolicyRule,
  PolicyRulesWithSubjects,
  ResourcePolicyRule,
  ServiceAccountSubject,
  Subject,
} from "../../../api/types/flowcontrol-v1.ts";
import { internalForm } from "../../../api/validation/internal-form.ts";
import { fieldErrorsMax } from "../../../api/validation/labels.ts";
import { dnsLabelProblems, dnsSubdomainProblems } from "../../../api/validation/names.ts";
import { validateEach } from "../../../api/validation/validate-each.ts";
import { flowSchemas, mandatorySpec } from "../flow-control-objects.ts";

const precedenceMax = 10_000;
const exemptName = "exempt";
const distinguisherMethods = ["ByNamespace", "ByUser"];
/** In the order in which blocks that do not belong to the kind are reported. */
const blocks = [
  { kind: "ServiceAccount", field: "serviceAccount" },
  { kind: "User", field: "user" },
  { kind: "Group", field: "group" },
] as const;
type SubjectBlock = (typeof blocks)[number];
const subjectKinds = ["Group", "ServiceAccount", "User"];
const knownVerbs = ["create", "delete", "deletecollection", "get", "list", "patch", "proxy", "update", "watch"];
const all = "*";

export function validateFlowSchema(schema: FlowSchema): FieldError[] {
  const { matchingPrecedence = 0, priorityLevelConfiguration, distinguisherMethod, rules = [] } = schema.spec ?? {};
  const { name = "" } = priorityLevelConfiguration ?? {};
  const field = "spec.priorityLevelConfiguration.name";
  return [
    ...validatePrecedence(matchingPrecedence, schema.metadata.name ?? "", "spec.matchingPrecedence"),
    ...(distinguisherMethod !== undefined && !distinguisherMethods.includes(distinguisherMethod.type)
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
    ...rules.flatMap((rule, at) => validateRule(rule, `spec.rules[${at}]`)).slice(0, fieldErrorsMax),
    ...validateMandatory(schema),
  ];
}

/** Without these the server could lock out its own administrators. */
function validateMandatory({ metadata, spec }: FlowSchema): FieldError[] {
  const known = mandatorySpec(flowSchemas, metadata.name);
  if (known === undefined || equalJson(spec ?? {}, known)) return [];
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

function validateRule(rule: PolicyRulesWithSubjects, field: string): FieldError[] {
  const subjects = rule.subjects ?? [];
  const resourceRules = rule.resourceRules ?? [];
  const otherRules = rule.nonResourceRules ?? [];
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

/** Requires the block of the subject's kind and forbids the others. */
function validateSubject(subject: Subject, field: string): FieldError[] {
  const { kind = "" } = subject;
  const own = blocks.find((block) => block.kind === kind);
  if (own === undefined) return [fieldError.notSupported(`${field}.kind`, kind, subjectKinds)];
  const others = blocks.filter((block) => block !== own && subject[block.field] !== undefined);
  return [
    ...validateOwnBlock(subject, own, `${field}.${own.field}`),
    ...others.map((other) =>
      fieldError.forbidden(
        `${field}.${other.field}`,
        `${other.field} is forbidden when subject kind is not '${other.kind}'`,
      ),
    ),
  ];
}

function validateOwnBlock(subject: Subject, { kind, field: name }: SubjectBlock, field: string): FieldError[] {
  const block = subject[name];
  if (block === undefined) return [fieldError.required(field, `${name} is required when subject kind is '${kind}'`)];
  if (subject.serviceAccount === block) return validateServiceAccount(subject.serviceAccount, field);
  return (block.name ?? "") === "" ? [fieldError.required(`${field}.name`)] : [];
}

function validateServiceAccount({ namespace = "", name = "" }: ServiceAccountSubject, field: string): FieldError[] {
  const errors = name === "" ? [fieldError.required(`${field}.name`)] : [];
  if (name !== "" && name !== all) {
    for (const problem of dnsSubdomainProblems(name)) errors.push(fieldError.invalid(`${field}.name`, name, problem));
  }
  if (namespace === "") {
    return [...errors, fieldError.required(`${field}.namespace`, "must specify namespace for service account")];
  }
  const problems = dnsLabelProblems(namespace);
  return [...errors, ...problems.map((problem) => fieldError.invalid(`${field}.namespace`, namespace, problem))];
}

function validateResourceRule(rule: ResourcePolicyRule, field: string): FieldError[] {
  return [
    ...validateVerbs(rule.verbs ?? [], `${field}.verbs`),
    ...validateList(rule.apiGroups ?? [], "api group", `${field}.apiGroups`),
    ...validateList(rule.resources ?? [], "resource", `${field}.resources`),
    ...validateNamespaces(rule.namespaces ?? [], rule.clusterScope === true, `${field}.namespaces`),
  ];
}

function validateOtherRule(rule: NonResourcePolicyRule, field: string): FieldError[] {
  const urls = rule.nonResourceURLs ?? [];
  const path = `${field}.nonResourceURLs`;
  const errors = validateVerbs(rule.verbs ?? [], `${field}.verbs`);
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
