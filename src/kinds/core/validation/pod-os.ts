import { type FieldError, fieldError } from "../../../api/field-error.ts";
import type { JsonObject } from "../../../api/json.ts";
import { containersOf } from "./container.ts";
import { isPresent, objectOf, textOf } from "../../../api/json-reading.ts";
import { validateEach } from "../../../api/validation/validate-each.ts";

const systems = ["linux", "windows"];
/** What Windows has nothing of, in a container's security context. */
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
];
/** The same of a pod, with the fields that stand in its spec. */
const podSettings = [
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

/** The operating system that a pod is for, and what it therefore cannot ask for. */
export function validatePodOs(spec: JsonObject, path: string): FieldError[] {
  if (!isPresent(spec["os"])) return [];
  const name = textOf(objectOf(spec["os"])["name"]);
  if (name === "") return [fieldError.required(`${path}.os.name`, "cannot be empty")];
  if (!systems.includes(name)) return [fieldError.notSupported(`${path}.os`, name, systems)];
  return name === "linux" ? validateLinux(spec, path) : validateWindows(spec, path);
}

function validateLinux(spec: JsonObject, path: string): FieldError[] {
  return [{ container: spec, field: path }, ...containersOf(spec, path)]
    .filter(({ container }) => isPresent(objectOf(container["securityContext"])["windowsOptions"]))
    .map(({ field }) =>
      fieldError.forbidden(`${field}.securityContext.windowsOptions`, "windows options cannot be set for a linux pod"),
    );
}

function validateWindows(spec: JsonObject, path: string): FieldError[] {
  const text = "cannot be set for a windows pod";
  const context = objectOf(spec["securityContext"]);
  const ofPod = podSettings.filter((setting) => {
    const value = setting.startsWith("securityContext.") ? context[setting.slice(16)] : spec[setting];
    if (setting === "hostPID" || setting === "hostIPC") return value === true;
    return isPresent(value) && !(Array.isArray(value) && value.length === 0);
  });
  const ofContainers = validateEach(containersOf(spec, path), ({ container, field }) =>
    containerSettings
      .filter((name) => isPresent(objectOf(container["securityContext"])[name]))
      .map((name) => fieldError.forbidden(`${field}.securityContext.${name}`, text)),
  );
  return [...ofPod.map((setting) => fieldError.forbidden(`${path}.${setting}`, text)), ...ofContainers];
}
