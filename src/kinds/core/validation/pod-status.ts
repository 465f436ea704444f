import { type FieldError, fieldError } from "../../../api/field-error.ts";
import type { JsonObject, JsonValue } from "../../../api/json.ts";
import { labelKeyErrors } from "../../../api/label-syntax.ts";
import type { KubeObject } from "../../../api/object-meta.ts";
import { isSidecar } from "./container.ts";
import { validateAllocated, validateUsers } from "./container-status.ts";
import { validateImmutable } from "../../../api/validation/immutable.ts";
import { validateDualStack, validateIp } from "../../../api/validation/ip.ts";
import { fieldsOf } from "../../../api/validation/key-values.ts";
import { dnsSubdomainProblems } from "../../../api/validation/names.ts";
import { validatePodAnnotations, validatePodAnnotationsUpdate } from "./pod-annotations.ts";
import { isPresent, numberOf, objectsOf, textOf } from "../../../api/validation/fields.ts";
import { validateEach } from "../../../api/validation/validate-each.ts";

const systemConditions: ReadonlySet<string> = new Set(["PodScheduled", "Ready", "Initialized"]);
const containerLists = ["containerStatuses", "initContainerStatuses", "ephemeralContainerStatuses"];

/** What the status of a pod may become: containers that ended stay so where nothing restarts them. */
export function validatePodStatusUpdate(pod: KubeObject, old: KubeObject): FieldError[] {
  const [status, stored] = [fieldsOf(pod["status"]), fieldsOf(old["status"])];
  const spec = fieldsOf(pod["spec"]);
  const annotations = pod.metadata.annotations ?? {};
  return [
    ...validatePodAnnotationsUpdate(annotations, old.metadata.annotations ?? {}, "metadata.annotations"),
    ...validatePodAnnotations(annotations, spec, "metadata.annotations"),
    // Upstream looks for the types of conditions in the metadata.
    ...validateConditions(status["conditions"], "metadata.conditions"),
    ...validateNominatedNode(status, stored),
    ...validateObserved(status, "status"),
    ...validateImmutable(status["qosClass"], stored["qosClass"], "status.qosClass"),
    ...validateTransitions(status, stored, fieldsOf(old["spec"])),
    ...validateClaimStatuses(status["resourceClaimStatuses"], spec, "status.resourceClaimStatuses"),
    ...validatePodIps(status),
    ...validateHostIps(status),
    ...containerLists.flatMap((list) => validateUsers(status[list], spec, `status.${list}`)),
    ...containerLists.flatMap((list) =>
      validateAllocated(status[list], spec[list.replace("Statuses", "s")], `status.${list}`),
    ),
  ];
}

function validateConditions(value: JsonValue | undefined, field: string): FieldError[] {
  return validateEach(objectsOf(value), (condition, at) => {
    const type = textOf(condition["type"]);
    const problems = systemConditions.has(type) ? [] : labelKeyErrors(type);
    return [
      ...validateObserved(condition, `${field}[${at}]`),
      ...problems.map((problem) => fieldError.invalid(`${field}[${at}].Type`, type, problem)),
    ];
  });
}

function validateObserved(owner: JsonObject, field: string): FieldError[] {
  const generation = owner["observedGeneration"];
  if (numberOf(generation) >= 0) return [];
  return [fieldError.invalid(`${field}.observedGeneration`, generation, "must be a non-negative integer")];
}

function validateNominatedNode(status: JsonObject, stored: JsonObject): FieldError[] {
  const name = textOf(status["nominatedNodeName"]);
  if (name === "" || name === stored["nominatedNodeName"]) return [];
  return dnsSubdomainProblems(name).map((problem) => fieldError.invalid("status.nominatedNodeName", name, problem));
}

function validateTransitions(status: JsonObject, stored: JsonObject, spec: JsonObject): FieldError[] {
  const policy = textOf(spec["restartPolicy"]);
  const restartable = new Set(
    ["containers", "initContainers"]
      .flatMap((list) => objectsOf(spec[list]))
      .filter(mayRestartByItself)
      .map((container) => textOf(container["name"])),
  );
  return containerLists.flatMap((list) =>
    validateEnded(status[list], stored[list], {
      field: `status.${list}`,
      // Nothing restarts an ephemeral container.
      policy: list === "ephemeralContainerStatuses" ? "Never" : policy,
      restartable,
    }),
  );
}

/** A policy of its own may let a container run again where that of the pod would not. */
function mayRestartByItself(container: JsonObject): boolean {
  const rules = objectsOf(container["restartPolicyRules"]);
  return isSidecar(container) || container["restartPolicy"] === "OnFailure" || rules.length > 0;
}

function validateEnded(
  fresh: JsonValue | undefined,
  stored: JsonValue | undefined,
  { field, policy, restartable }: { field: string; policy: string; restartable: ReadonlySet<string> },
): FieldError[] {
  if (policy === "Always") return [];
  const runningNow = new Set(
    objectsOf(fresh)
      .filter((container) => terminationOf(container) === undefined)
      .map((container) => textOf(container["name"])),
  );
  return validateEach(objectsOf(stored), (container, at) => {
    const ended = terminationOf(container);
    const name = textOf(container["name"]);
    if (ended === undefined || restartable.has(name) || !runningNow.has(name)) return [];
    if (policy === "OnFailure" && numberOf(ended["exitCode"]) !== 0) return [];
    return [fieldError.forbidden(`${field}[${at}].state`, "may not be transitioned to non-terminated state")];
  });
}

function terminationOf(container: JsonObject): JsonObject | undefined {
  const ended = fieldsOf(container["state"])["terminated"];
  return isPresent(ended) ? fieldsOf(ended) : undefined;
}

function validateClaimStatuses(value: JsonValue | undefined, spec: JsonObject, field: string): FieldError[] {
  const claims = new Set(objectsOf(spec["resourceClaims"]).map((claim) => textOf(claim["name"])));
  const seen = new Set<string>();
  return validateEach(objectsOf(value), (claim, at) => {
    const name = textOf(claim["name"]);
    const item = `${field}[${at}].name`;
    const errors: FieldError[] = [];
    if (!claims.has(name)) {
      errors.push(fieldError.invalid(item, name, "must match the name of an entry in `spec.resourceClaims`"));
    }
    if (seen.has(name)) errors.push(fieldError.duplicate(item, name));
    seen.add(name);
    const claimName = claim["resourceClaimName"];
    if (!isPresent(claimName)) return errors;
    const problems = dnsSubdomainProblems(textOf(claimName));
    return [...errors, ...problems.map((problem) => fieldError.invalid(item, claimName, problem))];
  });
}

function validatePodIps(status: JsonObject): FieldError[] {
  const addresses = objectsOf(status["podIPs"]).map(({ ip }) => textOf(ip));
  return [
    ...validateEach(addresses, (address, at) => validateIp(address, `status.podIPs[${at}]`)),
    ...validateDualStack(addresses, { value: status["podIPs"], field: "status.podIPs" }),
  ];
}

function validateHostIps(status: JsonObject): FieldError[] {
  const addresses = objectsOf(status["hostIPs"]).map(({ ip }) => textOf(ip));
  const [first] = addresses;
  if (first === undefined) return [];
  return [
    ...(first === textOf(status["hostIP"])
      ? []
      : [fieldError.invalid("status.hostIPs[0].ip", first, "must be equal to `hostIP`")]),
    ...validateEach(addresses, (address, at) => validateIp(address, `status.hostIPs[${at}]`)),
    ...validateDualStack(addresses, { value: status["hostIPs"], field: "status.hostIPs" }),
  ];
}
