import { type FieldError, fieldError } from "../../api/field-error.ts";
import type { JsonObject, JsonValue } from "../../api/json.ts";
import { labelKeyErrors, labelValueErrors } from "../../api/label-syntax.ts";
import type { KubeObject } from "../../api/object-meta.ts";
import { validateContainer } from "./container.ts";
import { fieldsOf } from "./key-values.ts";
import { validateLabels } from "./labels.ts";
import { dnsLabelProblems, dnsSubdomainProblems } from "./names.ts";
import { objectsOf, textOf, validateChoice, validateRange } from "./pod-fields.ts";

const restartPolicies = ["Always", "Never", "OnFailure"];
const dnsPolicies = ["ClusterFirst", "ClusterFirstWithHostNet", "Default", "None"];
const effects = ["NoExecute", "NoSchedule", "PreferNoSchedule"];
const int32Max = 2_147_483_647;

export function validatePod(pod: KubeObject): FieldError[] {
  return validatePodSpec(fieldsOf(pod["spec"]), "spec");
}

/** The spec of a pod, or of a pod template at another path. Defaults are expected to be filled in. */
export function validatePodSpec(spec: JsonObject, path: string): FieldError[] {
  return [
    ...validateVolumes(objectsOf(spec["volumes"]), `${path}.volumes`),
    ...validateContainers(spec, path),
    ...validateRestartPolicy(spec["restartPolicy"], `${path}.restartPolicy`),
    ...validateChoice(spec["dnsPolicy"], dnsPolicies, `${path}.dnsPolicy`),
    ...validateLabels(fieldsOf(spec["nodeSelector"]) as Record<string, string>, `${path}.nodeSelector`),
    ...["hostname", "subdomain"].flatMap((field) => validateText(spec[field], `${path}.${field}`, dnsLabelProblems)),
    ...["serviceAccountName", "nodeName", "priorityClassName", "runtimeClassName"].flatMap((field) =>
      validateText(spec[field], `${path}.${field}`, dnsSubdomainProblems),
    ),
    ...validateRange(spec["activeDeadlineSeconds"], { min: 1, max: int32Max }, `${path}.activeDeadlineSeconds`),
    ...validateTolerations(objectsOf(spec["tolerations"]), `${path}.tolerations`),
    ...validateSchedulingGates(spec, path),
  ];
}

export function validateTolerations(tolerations: readonly JsonObject[], field: string): FieldError[] {
  return tolerations.flatMap((toleration, at) => validateToleration(toleration, `${field}[${at}]`));
}

function validateText(
  value: JsonValue | undefined,
  field: string,
  problemsOf: (text: string) => readonly string[],
): FieldError[] {
  const text = textOf(value);
  return text === "" ? [] : problemsOf(text).map((problem) => fieldError.invalid(field, text, problem));
}

function validateVolumes(volumes: readonly JsonObject[], field: string): FieldError[] {
  const names = new Set<string>();
  return volumes.flatMap((volume, at) => {
    const name = textOf(volume["name"]);
    const errors: FieldError[] = [];
    if (name === "") errors.push(fieldError.required(`${field}[${at}].name`));
    else {
      for (const problem of dnsLabelProblems(name))
        errors.push(fieldError.invalid(`${field}[${at}].name`, name, problem));
      if (names.has(name)) errors.push(fieldError.duplicate(`${field}[${at}].name`, name));
    }
    names.add(name);
    const sources = Object.keys(volume).filter((key) => key !== "name" && volume[key] !== null);
    if (sources.length === 0) errors.push(fieldError.required(`${field}[${at}]`, "must specify a volume type"));
    for (const source of sources.slice(1)) {
      errors.push(fieldError.forbidden(`${field}[${at}].${source}`, "may not specify more than 1 volume type"));
    }
    return errors;
  });
}

function validateContainers(spec: JsonObject, path: string): FieldError[] {
  const volumeNames = new Set(objectsOf(spec["volumes"]).map((volume) => textOf(volume["name"])));
  const names = new Set<string>();
  const containers = objectsOf(spec["containers"]);
  const errors = containers.length === 0 ? [fieldError.required(`${path}.containers`)] : [];
  for (const list of ["containers", "initContainers", "ephemeralContainers"]) {
    const ephemeral = list === "ephemeralContainers";
    for (const [at, container] of objectsOf(spec[list]).entries()) {
      errors.push(...validateContainer(container, `${path}.${list}[${at}]`, { volumeNames, names, ephemeral }));
    }
  }
  return errors;
}

function validateRestartPolicy(policy: JsonValue | undefined, field: string): FieldError[] {
  return textOf(policy) === "" ? [fieldError.required(field)] : validateChoice(policy, restartPolicies, field);
}

function validateToleration(toleration: JsonObject, field: string): FieldError[] {
  const [key, value] = [textOf(toleration["key"]), textOf(toleration["value"])];
  const [operator, effect] = [textOf(toleration["operator"]), textOf(toleration["effect"])];
  const errors =
    key === "" ? [] : labelKeyErrors(key).map((problem) => fieldError.invalid(`${field}.key`, key, problem));
  if (key === "" && operator !== "Exists") {
    const text = 'operator must be Exists when `key` is empty, which means "match all values and all keys"';
    errors.push(fieldError.invalid(`${field}.operator`, operator, text));
  }
  if (
    toleration["tolerationSeconds"] !== undefined &&
    toleration["tolerationSeconds"] !== null &&
    effect !== "NoExecute"
  ) {
    errors.push(
      fieldError.invalid(`${field}.effect`, effect, "effect must be 'NoExecute' when `tolerationSeconds` is set"),
    );
  }
  if (operator === "Exists" && value !== "") {
    errors.push(fieldError.invalid(`${field}.operator`, value, "value must be empty when `operator` is 'Exists'"));
  }
  if (operator === "Equal" || operator === "") {
    for (const problem of labelValueErrors(value)) errors.push(fieldError.invalid(`${field}.operator`, value, problem));
  }
  const operators = validateChoice(operator, ["Equal", "Exists", "Gt", "Lt"], `${field}.operator`);
  return [...errors, ...operators, ...validateChoice(effect, effects, `${field}.effect`)];
}

function validateSchedulingGates(spec: JsonObject, path: string): FieldError[] {
  const gates = objectsOf(spec["schedulingGates"]).map((gate) => textOf(gate["name"]));
  const errors = gates.flatMap((name, at) =>
    labelKeyErrors(name).map((problem) => fieldError.invalid(`${path}.schedulingGates[${at}]`, name, problem)),
  );
  const seen = new Set<string>();
  for (const [at, name] of gates.entries()) {
    if (seen.has(name)) errors.push(fieldError.duplicate(`${path}.schedulingGates[${at}]`, name));
    seen.add(name);
  }
  if (gates.length > 0 && textOf(spec["nodeName"]) !== "") {
    errors.push(fieldError.forbidden(`${path}.nodeName`, "cannot be set until all schedulingGates have been cleared"));
  }
  return errors;
}
