import { type FieldError, fieldError } from "../../../api/field-error.ts";
import { isPresent } from "../../../api/json-reading.ts";
import type { Container, PodSecurityContext, PodSpec } from "../../../api/types/core-v1.ts";
import { validateEach } from "../../../api/validation/validate-each.ts";
import { containersOf } from "./container.ts";

const systems = ["linux", "windows"];
/** Fields of a container's security context that Windows does not support. */
const containerSettings = [
  "appArmorProfile",
  "seLinuxOptions",
  "seccompProfile",
  "capabilities",
  "readOnlyRootFilesystem",
  "privileged",
  "allowPrivilegeEscalation",
  "procMount",
  "runAsUser",
  "runAsGroup",
] as const satisfies readonly (keyof NonNullable<Container["securityContext"]>)[];

type PodSetting = `securityContext.${keyof PodSecurityContext}` | keyof PodSpec;
/** Fields of a pod that Windows does not support, in upstream's order. */
const podSettings: readonly PodSetting[] = [
  "securityContext.appArmorProfile",
  "securityContext.seLinuxOptions",
  "hostUsers",
  "hostPID",
  "hostIPC",
  "securityContext.seccompProfile",
  "securityContext.fsGroup",
  "securityContext.fsGroupChangePolicy",
  "securityContext.sysctls",
  "shareProcessNamespace",
  "securityContext.runAsUser",
  "securityContext.runAsGroup",
  "securityContext.supplementalGroups",
  "securityContext.supplementalGroupsPolicy",
  "securityContext.seLinuxChangePolicy",
  "resources",
];
const ofContext = "securityContext.";

/** Validates the operating system of a pod, and rejects settings that this system does not support. */
export function validatePodOs(spec: PodSpec, path: string): FieldError[] {
  if (spec.os === undefined) return [];
  const { name } = spec.os;
  if (name === "") return [fieldError.required(`${path}.os.name`)];
  if (!systems.includes(name)) return [fieldError.notSupported(`${path}.os`, name, systems)];
  return name === "linux" ? validateLinux(spec, path) : validateWindows(spec, path);
}

function validateLinux(spec: PodSpec, path: string): FieldError[] {
  return [{ container: spec, field: path }, ...containersOf(spec, path)]
    .filter(({ container }) => container.securityContext?.windowsOptions !== undefined)
    .map(({ field }) =>
      fieldError.forbidden(`${field}.securityContext.windowsOptions`, "windows options cannot be set for a linux pod"),
    );
}

function validateWindows(spec: PodSpec, path: string): FieldError[] {
  const text = "cannot be set for a windows pod";
  const ofContainers = validateEach(containersOf(spec, path), ({ container, field }) =>
    containerSettings
      .filter((name) => container.securityContext?.[name] !== undefined)
      .map((name) => fieldError.forbidden(`${field}.${ofContext}${name}`, text)),
  );
  const ofPod = podSettings
    .filter((setting) => isSet(spec, setting))
    .map((setting) => fieldError.forbidden(`${path}.${setting}`, text));
  return [...ofPod, ...ofContainers];
}

function isSet(spec: PodSpec, setting: PodSetting): boolean {
  const { securityContext = {} } = spec;
  const value = setting.startsWith(ofContext)
    ? securityContext[setting.slice(ofContext.length) as keyof PodSecurityContext]
    : spec[setting as keyof PodSpec];
  if (setting === "hostPID" || setting === "hostIPC") return value === true;
  return isPresent(value) && !(Array.isArray(value) && value.length === 0);
}
