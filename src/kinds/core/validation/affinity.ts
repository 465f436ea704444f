import { type FieldError, fieldError } from "../../../api/field-error.ts";
import { labelKeyErrors } from "../../../api/label-syntax.ts";
import type { Affinity, NodeAffinity, PodAffinity, PodAffinityTerm } from "../../../api/types/core-v1.ts";
import { validateLabelSelector } from "../../../api/validation/label-selector.ts";
import { dnsLabelProblems } from "../../../api/validation/names.ts";
import { validateEach } from "../../../api/validation/validate-each.ts";
import { validateMatchLabelKeys } from "./match-label-keys.ts";
import { validateNodeSelector, validateNodeSelectorTerm } from "./node-selector.ts";

const required = "requiredDuringSchedulingIgnoredDuringExecution";
const preferred = "preferredDuringSchedulingIgnoredDuringExecution";
const weightMax = 100;

/** Validates the rules for nodes on which a pod must run, or should run if possible. */
export function validateAffinity(affinity: Affinity, field: string): FieldError[] {
  const { nodeAffinity = {}, podAffinity = {}, podAntiAffinity = {} } = affinity;
  return [
    ...validateNodeAffinity(nodeAffinity, `${field}.nodeAffinity`),
    ...validatePodAffinity(podAffinity, `${field}.podAffinity`),
    ...validatePodAffinity(podAntiAffinity, `${field}.podAntiAffinity`),
  ];
}

function validateNodeAffinity(affinity: NodeAffinity, field: string): FieldError[] {
  const { [required]: selector, [preferred]: terms = [] } = affinity;
  return [
    ...(selector === undefined ? [] : validateNodeSelector(selector, `${field}.${required}`)),
    ...validateEach(terms, ({ weight, preference }, at) => [
      ...validateWeight(weight, `${field}.${preferred}[${at}].weight`),
      ...validateNodeSelectorTerm(preference, `${field}.${preferred}[${at}].preference`, { anyValue: true }),
    ]),
  ];
}

function validatePodAffinity(affinity: PodAffinity, field: string): FieldError[] {
  const { [required]: terms = [], [preferred]: weightedTerms = [] } = affinity;
  return [
    ...validateEach(terms, (term, at) => validateTerm(term, `${field}.${required}[${at}]`)),
    ...validateEach(weightedTerms, ({ weight, podAffinityTerm }, at) => [
      ...validateWeight(weight, `${field}.${preferred}[${at}].weight`),
      ...validateTerm(podAffinityTerm, `${field}.${preferred}[${at}].podAffinityTerm`),
    ]),
  ];
}

function validateWeight(weight: number, field: string): FieldError[] {
  if (weight > 0 && weight <= weightMax) return [];
  return [fieldError.invalid(field, weight, `must be in the range 1-${weightMax}`)];
}

function validateTerm(term: PodAffinityTerm, field: string): FieldError[] {
  const { labelSelector, namespaceSelector, namespaces = [], topologyKey } = term;
  return [
    ...validateLabelSelector(labelSelector, `${field}.labelSelector`),
    ...validateLabelSelector(namespaceSelector, `${field}.namespaceSelector`),
    ...validateEach(namespaces, (name) =>
      dnsLabelProblems(name).map((problem) => fieldError.invalid(`${field}.namespace`, name, problem)),
    ),
    ...validateMatchLabelKeys(term, field),
    ...(topologyKey === "" ? [fieldError.required(`${field}.topologyKey`, "can not be empty")] : []),
    ...labelKeyErrors(topologyKey).map((problem) => fieldError.invalid(`${field}.topologyKey`, topologyKey, problem)),
  ];
}
