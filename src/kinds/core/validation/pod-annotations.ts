import { type FieldError, fieldError } from "../../../api/field-error.ts";
import type { AppArmorProfile, PodSpec, SeccompProfile } from "../../../api/types/core-v1.ts";
import { validateDescendingPath } from "../../../api/validation/local-path.ts";
import { containersOf } from "./container.ts";

/** Annotation of mirror pods, which node agents create for pods that they started themselves. */
export const mirrorAnnotation = "kubernetes.io/config.mirror";
const deletionCostAnnotation = "controller.kubernetes.io/pod-deletion-cost";
export const podSeccompAnnotation = "seccomp.security.alpha.kubernetes.io/pod";
export const seccompPrefix = "container.seccomp.security.alpha.kubernetes.io/";
export const appArmorPrefix = "container.apparmor.security.beta.kubernetes.io/";
const localhostPrefix = "localhost/";

type Annotations = Readonly<Record<string, string>>;

/** Validates annotations that mean something for a pod. */
export function validatePodAnnotations(annotations: Annotations, spec: PodSpec, field: string): FieldError[] {
  const mirror = annotations[mirrorAnnotation];
  const errors: FieldError[] = [];
  if (mirror !== undefined && (spec.nodeName ?? "") === "") {
    const text = "must set spec.nodeName if mirror pod annotation is set";
    errors.push(fieldError.invalid(`${field}[${mirrorAnnotation}]`, mirror, text));
  }
  const cost = annotations[deletionCostAnnotation];
  if (cost !== undefined && !isInt32Text(cost)) {
    errors.push(fieldError.invalid(`${field}[${deletionCostAnnotation}]`, cost, "must be a 32bit integer"));
  }
  return [
    ...errors,
    ...validateSeccompAnnotations(annotations, field),
    ...validateAppArmorAnnotations(annotations, spec, field),
  ];
}

/** Rejects changes of annotations that are fixed once the pod exists. */
export function validatePodAnnotationsUpdate(fresh: Annotations, old: Annotations, field: string): FieldError[] {
  const errors: FieldError[] = [];
  const forbid = (key: string, text: string) => errors.push(fieldError.forbidden(`${field}[${key}]`, text));
  for (const [key, value] of Object.entries(old)) {
    if (Object.hasOwn(fresh, key) && fresh[key] === value) continue;
    if (key.startsWith(appArmorPrefix)) forbid(key, "may not remove or update AppArmor annotations");
    if (key === mirrorAnnotation) forbid(key, "may not remove or update mirror pod annotation");
  }
  for (const key of Object.keys(fresh)) {
    if (Object.hasOwn(old, key)) continue;
    if (key.startsWith(appArmorPrefix)) forbid(key, "may not add AppArmor annotations");
    if (key === mirrorAnnotation) forbid(key, "may not add mirror pod annotation");
  }
  return errors;
}

/** Rejects a profile that differs between its annotation and its field. */
export function validateProfilesAgree(annotations: Annotations, spec: PodSpec, path: string): FieldError[] {
  const ofPod = spec.securityContext ?? {};
  const containers = containersOf(spec, path);
  const errors: FieldError[] = [];
  const podSeccomp = annotations[podSeccompAnnotation];
  if (podSeccomp !== undefined) {
    errors.push(...disagreement("seccomp", ofPod.seccompProfile, podSeccomp, `${path}.securityContext`));
  }
  for (const { container, field } of containers) {
    const annotation = annotations[seccompPrefix + container.name];
    const profile = container.securityContext?.seccompProfile;
    if (annotation !== undefined) {
      errors.push(...disagreement("seccomp", profile, annotation, `${field}.securityContext`));
    }
  }
  if (spec.os?.name === "windows") return errors;
  for (const { container, field } of containers) {
    const annotation = annotations[appArmorPrefix + container.name];
    const profile = container.securityContext?.appArmorProfile ?? ofPod.appArmorProfile;
    if (annotation !== undefined) {
      errors.push(...disagreement("apparmor", profile, annotation, `${field}.securityContext`));
    }
  }
  return errors;
}

function disagreement(
  what: "seccomp" | "apparmor",
  profile: SeccompProfile | AppArmorProfile | undefined,
  annotation: string,
  context: string,
): FieldError[] {
  const field = `${context}.${what === "seccomp" ? "seccompProfile" : "appArmorProfile"}`;
  const type = profile?.type ?? "";
  const expected = annotationsOf[what][type];
  if (expected?.includes(annotation)) return [];
  if (type === "Localhost" && annotation.startsWith(localhostPrefix)) {
    if (annotation.slice(localhostPrefix.length) === (profile?.localhostProfile ?? "")) return [];
    return [fieldError.forbidden(`${field}.localhostProfile`, `${what} profile in annotation and field must match`)];
  }
  const isType = expected !== undefined || type === "Localhost";
  return isType ? [fieldError.forbidden(`${field}.type`, `${what} type in annotation and field must match`)] : [];
}

/** Names that annotations have for the types of profiles. */
const annotationsOf: Readonly<Record<"seccomp" | "apparmor", Readonly<Record<string, readonly string[]>>>> = {
  seccomp: { Unconfined: ["unconfined"], RuntimeDefault: ["runtime/default", "docker/default"] },
  apparmor: { Unconfined: ["unconfined"], RuntimeDefault: ["runtime/default"] },
};

function validateSeccompAnnotations(annotations: Annotations, field: string): FieldError[] {
  return Object.entries(annotations)
    .filter(([key]) => key === podSeccompAnnotation || key.startsWith(seccompPrefix))
    .flatMap(([key, profile]) => {
      if (Object.values(annotationsOf.seccomp).flat().includes(profile)) return [];
      if (profile.startsWith(localhostPrefix)) {
        return validateDescendingPath(profile.slice(localhostPrefix.length), `${field}.${key}`);
      }
      return [fieldError.invalid(`${field}.${key}`, profile, "must be a valid seccomp profile")];
    });
}

function validateAppArmorAnnotations(annotations: Annotations, spec: PodSpec, field: string): FieldError[] {
  const names = new Set(containersOf(spec, "").map(({ container }) => container.name));
  return Object.entries(annotations)
    .filter(([key]) => key.startsWith(appArmorPrefix))
    .flatMap(([key, profile]) => {
      const name = key.slice(appArmorPrefix.length);
      const errors = names.has(name) ? [] : [fieldError.invalid(`${field}[${key}]`, name, "container not found")];
      const known = ["", ...Object.values(annotationsOf.apparmor).flat()].includes(profile);
      if (known || profile.startsWith(localhostPrefix)) return errors;
      const text = `invalid AppArmor profile name: ${JSON.stringify(profile)}`;
      return [...errors, fieldError.invalid(`${field}[${key}]`, profile, text)];
    });
}

/** In its shortest form: no plus sign and no leading zeros. */
function isInt32Text(text: string): boolean {
  return /^-?[0-9]{1,10}$/.test(text) && String(Number(text)) === text && (Number(text) | 0) === Number(text);
}

/** Returns the profile that an annotation names; undefined for a malformed one. */
export function appArmorProfileOf(annotation: string): AppArmorProfile | undefined {
  if (annotation === "unconfined") return { type: "Unconfined" };
  if (annotation === "runtime/default") return { type: "RuntimeDefault" };
  const localhostProfile = annotation.startsWith(localhostPrefix) ? annotation.slice(localhostPrefix.length) : "";
  return localhostProfile === "" ? undefined : { type: "Localhost", localhostProfile };
}
