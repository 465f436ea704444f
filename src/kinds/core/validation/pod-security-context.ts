import { type FieldError, fieldError } from "../../../api/field-error.ts";
import type { PodSpec, Sysctl } from "../../../api/types/core-v1.ts";
import { validateEach } from "../../../api/validation/validate-each.ts";
import { containersOf } from "./container.ts";
import { validateAppArmorProfile, validateId, validateSeccompProfile } from "./security-context.ts";
import { validateWindowsOptions } from "./windows-options.ts";

const sysctlBytesMax = 253;
const sysctlForm = "[a-z0-9]([-_a-z0-9]*[a-z0-9])?";
const sysctlText = `must have at most ${sysctlBytesMax} characters and match regex ^(${sysctlForm}[\\./])*${sysctlForm}$`;
const networkSysctls = ["net."];
const ipcSysctls = ["kernel.shm", "kernel.msg", "fs.mqueue."];
const ipcSysctl = "kernel.sem";

/** Validates the security settings of a pod. Some of them are fields of its spec. */
export function validatePodSecurityContext(spec: PodSpec, field: string): FieldError[] {
  const { securityContext: context = {} } = spec;
  const { supplementalGroups: groups = [], sysctls = [] } = context;
  return [
    ...validateId(context.fsGroup, `${field}.fsGroup`),
    ...validateId(context.runAsUser, `${field}.runAsUser`),
    ...validateId(context.runAsGroup, `${field}.runAsGroup`),
    ...validateEach(groups, (id, at) => validateId(id, `${field}.supplementalGroups[${at}]`)),
    ...validateSharedProcesses(spec, `${field}.shareProcessNamespace`),
    ...validateSysctls(spec, sysctls, `${field}.sysctls`),
    ...validateValue(context.fsGroupChangePolicy, ["Always", "OnRootMismatch"], `${field}.fsGroupChangePolicy`),
    ...validateSeccompProfile(context.seccompProfile, `${field}.seccompProfile`),
    ...validateWindowsOptions(context.windowsOptions, `${field}.windowsOptions`),
    ...validateAppArmorProfile(context.appArmorProfile, `${field}.appArmorProfile`),
    ...validateValue(context.supplementalGroupsPolicy, ["Merge", "Strict"], `${field}.supplementalGroupsPolicy`),
    // The other policy, MountOption, belongs to the feature SELinuxMount.
    ...validateValue(context.seLinuxChangePolicy, ["Recursive"], `${field}.seLinuxChangePolicy`),
  ];
}

/** Rejects host namespaces and raw block devices for a pod with its own users. */
export function validateHostUsers(spec: PodSpec, path: string): FieldError[] {
  if (spec.hostUsers !== false) return [];
  const problem = "when `hostUsers` is false";
  // Upstream writes the second and third path with a capital.
  const fields = [
    ["hostNetwork", "hostNetwork"],
    ["hostPID", "HostPID"],
    ["hostIPC", "HostIPC"],
  ] as const;
  const devices = containersOf(spec, path).filter(({ container }) => (container.volumeDevices ?? []).length > 0);
  return [
    ...fields
      .filter(([name]) => spec[name] === true)
      .map(([, field]) => fieldError.forbidden(`${path}.${field}`, problem)),
    ...devices.map(({ field }) => fieldError.forbidden(`${field}.volumeDevices`, problem)),
  ];
}

/** Rejects an unknown value, the empty text among them. */
function validateValue(value: string | undefined, choices: readonly string[], field: string): FieldError[] {
  if (value === undefined || choices.includes(value)) return [];
  return [fieldError.notSupported(field, value, choices)];
}

function validateSharedProcesses(spec: PodSpec, field: string): FieldError[] {
  if (spec.shareProcessNamespace !== true || spec.hostPID !== true) return [];
  return [fieldError.invalid(field, true, "ShareProcessNamespace and HostPID cannot both be enabled")];
}

function validateSysctls(spec: PodSpec, sysctls: readonly Sysctl[], field: string): FieldError[] {
  const names = new Set<string>();
  return validateEach(sysctls, ({ name }, at) => {
    const errors: FieldError[] = [];
    if (name === "") errors.push(fieldError.required(`${field}[${at}].name`));
    else if (!isSysctlName(name)) errors.push(fieldError.invalid(`${field}[${at}].name`, name, sysctlText));
    else if (names.has(name)) errors.push(fieldError.duplicate(`${field}[${at}].name`, name));
    names.add(name);
    return [...errors, ...validateHostSysctl(spec, name, `${field}[${at}].name`)];
  });
}

function isSysctlName(name: string): boolean {
  if (Buffer.byteLength(name) > sysctlBytesMax) return false;
  return name
    .split(/[./]/)
    .every((part) => /^[-_a-z0-9]+$/.test(part) && /^[a-z0-9]/.test(part) && /[a-z0-9]$/.test(part));
}

/** Rejects settings of a namespace that the pod shares with its host. */
function validateHostSysctl(spec: PodSpec, name: string, field: string): FieldError[] {
  const dotted = name.replaceAll("/", ".");
  if (spec.hostNetwork === true && networkSysctls.some((prefix) => dotted.startsWith(prefix))) {
    return [fieldError.invalid(field, name, "may not be specified when 'hostNetwork' is true")];
  }
  const isIpc = dotted === ipcSysctl || ipcSysctls.some((prefix) => dotted.startsWith(prefix));
  if (spec.hostIPC === true && isIpc) {
    return [fieldError.invalid(field, name, "may not be specified when 'hostIPC' is true")];
  }
  return [];
}
