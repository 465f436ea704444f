import { type FieldError, fieldError } from "../../../api/field-error.ts";
import type { JsonObject, JsonValue } from "../../../api/json.ts";
import { isPresent, objectOf, objectsOf, textOf } from "../../../api/json-reading.ts";
import { validateAppArmorProfile, validateId, validateSeccompProfile } from "./security-context.ts";
import { validateEach } from "../../../api/validation/validate-each.ts";
import { validateWindowsOptions } from "./windows-options.ts";

const sysctlBytesMax = 253;
const sysctlForm = "[a-z0-9]([-_a-z0-9]*[a-z0-9])?";
const sysctlText = `must have at most ${sysctlBytesMax} characters and match regex ^(${sysctlForm}[\\./])*${sysctlForm}$`;
const networkSysctls = ["net."];
const ipcSysctls = ["kernel.shm", "kernel.msg", "fs.mqueue."];
const ipcSysctl = "kernel.sem";

/** The security settings of a pod, some of which stand in its spec. */
export function validatePodSecurityContext(spec: JsonObject, field: string): FieldError[] {
  const context = objectOf(spec["securityContext"]);
  const groups = Array.isArray(context["supplementalGroups"]) ? context["supplementalGroups"] : [];
  return [
    ...["fsGroup", "runAsUser", "runAsGroup"].flatMap((name) => validateId(context[name], `${field}.${name}`)),
    ...validateEach(groups, (id, at) => validateId(id, `${field}.supplementalGroups[${at}]`)),
    ...validateSharedProcesses(spec, `${field}.shareProcessNamespace`),
    ...validateSysctls(spec, objectsOf(context["sysctls"]), `${field}.sysctls`),
    ...validateValue(context["fsGroupChangePolicy"], ["Always", "OnRootMismatch"], `${field}.fsGroupChangePolicy`),
    ...validateSeccompProfile(context["seccompProfile"], `${field}.seccompProfile`),
    ...validateWindowsOptions(context["windowsOptions"], `${field}.windowsOptions`),
    ...validateAppArmorProfile(context["appArmorProfile"], `${field}.appArmorProfile`),
    ...validateValue(context["supplementalGroupsPolicy"], ["Merge", "Strict"], `${field}.supplementalGroupsPolicy`),
    ...validateValue(context["seLinuxChangePolicy"], ["MountOption", "Recursive"], `${field}.seLinuxChangePolicy`),
  ];
}

/** Users of its own do not go together with namespaces of the host. */
export function validateHostUsers(spec: JsonObject, path: string): FieldError[] {
  if (spec["hostUsers"] !== false) return [];
  // The second and third path are written with a capital upstream.
  const fields = { hostNetwork: "hostNetwork", hostPID: "HostPID", hostIPC: "HostIPC" };
  return Object.entries(fields)
    .filter(([name]) => spec[name] === true)
    .map(([, field]) => fieldError.forbidden(`${path}.${field}`, "when `hostUsers` is false"));
}

/** Unlike the empty text of a field that is not set, an empty value that is set counts. */
function validateValue(value: JsonValue | undefined, choices: readonly string[], field: string): FieldError[] {
  if (!isPresent(value) || choices.includes(textOf(value))) return [];
  return [fieldError.notSupported(field, value, choices)];
}

function validateSharedProcesses(spec: JsonObject, field: string): FieldError[] {
  if (spec["shareProcessNamespace"] !== true || spec["hostPID"] !== true) return [];
  return [fieldError.invalid(field, true, "ShareProcessNamespace and HostPID cannot both be enabled")];
}

function validateSysctls(spec: JsonObject, sysctls: readonly JsonObject[], field: string): FieldError[] {
  const names = new Set<string>();
  return validateEach(sysctls, (sysctl, at) => {
    const name = textOf(sysctl["name"]);
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

/** A setting of a namespace that the pod shares with its host would be one of the host. */
function validateHostSysctl(spec: JsonObject, name: string, field: string): FieldError[] {
  const dotted = name.replaceAll("/", ".");
  if (spec["hostNetwork"] === true && networkSysctls.some((prefix) => dotted.startsWith(prefix))) {
    return [fieldError.invalid(field, name, "may not be specified when 'hostNetwork' is true")];
  }
  const isIpc = dotted === ipcSysctl || ipcSysctls.some((prefix) => dotted.startsWith(prefix));
  if (spec["hostIPC"] === true && isIpc) {
    return [fieldError.invalid(field, name, "may not be specified when 'hostIPC' is true")];
  }
  return [];
}
