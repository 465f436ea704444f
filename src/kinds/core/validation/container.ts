import { type FieldError, fieldError } from "../../../api/field-error.ts";
import type { JsonObject, JsonValue } from "../../../api/json.ts";
import { validateContainerPorts, validateHostPortsUnique } from "./container-ports.ts";
import { validateRestartRules } from "./container-restart.ts";
import { validateEnvironment, validateEnvironmentSources } from "./environment.ts";
import { fieldsOf } from "../../../api/validation/key-values.ts";
import { dnsLabelProblems } from "../../../api/validation/names.ts";
import { isPresent, objectsOf, textOf, validateRequiredChoice, validateText } from "../../../api/validation/fields.ts";
import { type ProbeKind, validateLifecycle, validateProbe } from "./probe.ts";
import { validateContainerResourceName } from "../../../api/validation/resource-name.ts";
import { validateResourceRequirements } from "./resource-requirements.ts";
import { validateSecurityContext } from "./security-context.ts";
import { validateEach } from "../../../api/validation/validate-each.ts";
import { type VolumesByName, validateVolumeDevices, validateVolumeMounts } from "./volume-mounts.ts";

export const pullPolicies: readonly string[] = ["Always", "IfNotPresent", "Never"];
const messagePolicies = ["File", "FallbackToLogsOnError"];
const probeKinds: readonly ProbeKind[] = ["livenessProbe", "readinessProbe", "startupProbe"];
const resizableResources = ["cpu", "memory"];
const resizePolicies = ["NotRequired", "RestartContainer"];

/** What containers are judged by besides their own fields. */
export interface ContainerContext {
  readonly volumes: VolumesByName;
  /** Names of the pod's resource claims. */
  readonly claims: ReadonlySet<string>;
  readonly restartPolicy: string;
  /** Undefined when the pod has none that makes sense. */
  readonly gracePeriodSeconds: number | undefined;
  /** The pod shares its users with its host. */
  readonly hostUsers: boolean;
  /** `spec.os.name`. */
  readonly os: string;
}

/** Every container of a pod with the path to it, in the order in which they are looked at. */
export function containersOf(spec: JsonObject, path: string): { container: JsonObject; field: string }[] {
  return ["initContainers", "containers", "ephemeralContainers"].flatMap((list) =>
    objectsOf(spec[list]).map((container, at) => ({ container, field: `${path}.${list}[${at}]` })),
  );
}

/** The containers that a pod is there for: at least one. */
export function validateContainers(
  containers: readonly JsonObject[],
  context: ContainerContext,
  field: string,
): FieldError[] {
  if (containers.length === 0) return [fieldError.required(field)];
  const names = new Set<string>();
  return [
    ...validateEach(containers, (container, at) => [
      ...validateCommon(container, context, `${field}[${at}]`),
      ...validateNameUnique(container, names, `${field}[${at}].name`),
      ...validateHooksAndProbes(container, context, `${field}[${at}]`),
      ...validateRestartRules(container, `${field}[${at}]`),
    ]),
    ...validateHostPortsUnique(containers, field),
  ];
}

/** What runs before the others; one that always restarts runs next to them. */
export function validateInitContainers(
  containers: readonly JsonObject[],
  others: readonly JsonObject[],
  context: ContainerContext,
  field: string,
): FieldError[] {
  const names = new Set(others.map((container) => textOf(container["name"])));
  return validateEach(containers, (container, at) => [
    ...validateCommon(container, context, `${field}[${at}]`),
    ...validateRestartRules(container, `${field}[${at}]`),
    ...validateNameUnique(container, names, `${field}[${at}].name`),
    // They run one after the other, so only the ports of one can be in each other's way; upstream names the first.
    ...validateHostPortsUnique([container], field),
    ...(isSidecar(container)
      ? validateHooksAndProbes(container, context, `${field}[${at}]`)
      : forbidHooksAndProbes(container, `${field}[${at}]`)),
  ]);
}

/** An init container that keeps running next to the others. */
export function isSidecar(container: JsonObject): boolean {
  return container["restartPolicy"] === "Always";
}

/** What all sorts of containers have in common. */
export function validateCommon(container: JsonObject, context: ContainerContext, field: string): FieldError[] {
  const rules = { validateName: validateContainerResourceName, claims: context.claims };
  return [
    ...(textOf(container["name"]) === "" ? [fieldError.required(`${field}.name`)] : []),
    ...validateText(container["name"], dnsLabelProblems, `${field}.name`),
    ...(textOf(container["image"]) === "" ? [fieldError.required(`${field}.image`)] : []),
    ...validateRequiredChoice(
      container["terminationMessagePolicy"],
      messagePolicies,
      `${field}.terminationMessagePolicy`,
    ),
    ...validateContainerPorts(container["ports"], `${field}.ports`),
    ...validateEnvironment(container["env"], `${field}.env`),
    ...validateEnvironmentSources(container["envFrom"], `${field}.envFrom`),
    ...validateVolumeMounts(container, context.volumes, `${field}.volumeMounts`),
    ...validateVolumeDevices(container, context.volumes, `${field}.volumeDevices`),
    ...validateRequiredChoice(container["imagePullPolicy"], pullPolicies, `${field}.imagePullPolicy`),
    ...validateResourceRequirements(fieldsOf(container["resources"]), `${field}.resources`, rules),
    ...validateResizePolicy(container["resizePolicy"], context.restartPolicy, `${field}.resizePolicy`),
    ...validateSecurityContext(container["securityContext"], context, `${field}.securityContext`),
  ];
}

/** An image name in a pod is what a node pulls; in a template it may still stand for something else. */
export function validateImageOfPod(container: JsonObject, field: string): FieldError[] {
  const image = textOf(container["image"]);
  if (image === image.trim()) return [];
  return [fieldError.invalid(`${field}.image`, image, "must not have leading or trailing whitespace")];
}

function validateNameUnique(container: JsonObject, names: Set<string>, field: string): FieldError[] {
  const name = textOf(container["name"]);
  if (names.has(name)) return [fieldError.duplicate(field, name)];
  if (name !== "") names.add(name);
  return [];
}

function validateHooksAndProbes(container: JsonObject, context: ContainerContext, field: string): FieldError[] {
  return [
    ...validateLifecycle(container["lifecycle"], context, `${field}.lifecycle`),
    ...probeKinds.flatMap((kind) => validateProbe(container[kind], kind, `${field}.${kind}`)),
  ];
}

function forbidHooksAndProbes(container: JsonObject, field: string): FieldError[] {
  return ["lifecycle", ...probeKinds]
    .filter((name) => isPresent(container[name]))
    .map((name) =>
      fieldError.forbidden(`${field}.${name}`, "may not be set for init containers without restartPolicy=Always"),
    );
}

/** Whether a container restarts when its resources change. Upstream names the list in all but one error. */
function validateResizePolicy(value: JsonValue | undefined, restartPolicy: string, field: string): FieldError[] {
  const seen = new Set<string>();
  return validateEach(objectsOf(value), (policy, at) => {
    const [resource, restart] = [textOf(policy["resourceName"]), textOf(policy["restartPolicy"])];
    const errors = seen.has(resource) ? [fieldError.duplicate(`${field}[${at}]`, resource)] : [];
    seen.add(resource);
    errors.push(...validateRequiredChoice(resource, resizableResources, field));
    errors.push(...validateRequiredChoice(restart, resizePolicies, field));
    if (restartPolicy === "Never" && restart !== "NotRequired") {
      const text = "must be 'NotRequired' when `restartPolicy` is 'Never'";
      errors.push(fieldError.invalid(field, restart, text));
    }
    return errors;
  });
}
