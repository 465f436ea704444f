import { type FieldError, fieldError } from "../../../api/field-error.ts";
import { isGivenEmpty } from "../../../api/schema/given-empty.ts";
import type { EphemeralContainer, PodSpec } from "../../../api/types/core-v1.ts";
import { validateEach } from "../../../api/validation/validate-each.ts";
import { type ContainerContext, validateCommon, validateImageOfPod } from "./container.ts";

/** Fields that an ephemeral container cannot have, in the order of the type. */
const forbiddenFields = [
  "ports",
  "resources",
  "resizePolicy",
  "restartPolicy",
  "restartPolicyRules",
  "livenessProbe",
  "readinessProbe",
  "startupProbe",
  "lifecycle",
] as const;
const forbiddenText = "cannot be set for an Ephemeral Container";

export function validateEphemeralContainers(spec: PodSpec, context: ContainerContext, field: string): FieldError[] {
  const others = [...(spec.containers ?? []), ...(spec.initContainers ?? [])];
  const otherNames: ReadonlySet<string> = new Set(others.map(({ name }) => name));
  const names = new Set(otherNames);
  return validateEach(spec.ephemeralContainers ?? [], (container, at) => {
    const item = `${field}[${at}]`;
    const { name, targetContainerName: target = "" } = container;
    const errors = [...validateCommon(container, context, item), ...validateImageOfPod(container, item)];
    if (names.has(name)) errors.push(fieldError.duplicate(`${item}.name`, name));
    names.add(name);
    if (target !== "" && !otherNames.has(target)) {
      errors.push(fieldError.notFound(`${item}.targetContainerName`, target));
    }
    return [...errors, ...forbidFields(container, item), ...forbidSubPaths(container, `${item}.volumeMounts`)];
  });
}

function forbidFields(container: EphemeralContainer, field: string): FieldError[] {
  return forbiddenFields
    .filter((name) => isSet(container, name))
    .map((name) => fieldError.forbidden(`${field}.${name}`, forbiddenText));
}

function isSet(container: EphemeralContainer, name: (typeof forbiddenFields)[number]): boolean {
  if (name === "resources") return Object.keys(container.resources ?? {}).length > 0;
  return container[name] !== undefined || isGivenEmpty(container, name);
}

function forbidSubPaths({ volumeMounts = [] }: EphemeralContainer, field: string): FieldError[] {
  return validateEach(volumeMounts, (mount, at) =>
    (["subPath", "subPathExpr"] as const)
      .filter((name) => (mount[name] ?? "") !== "")
      .map((name) => fieldError.forbidden(`${field}[${at}].${name}`, forbiddenText)),
  );
}
