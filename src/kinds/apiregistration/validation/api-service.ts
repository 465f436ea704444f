import { type FieldError, fieldError } from "../../../api/field-error.ts";
import type { JsonObject } from "../../../api/json.ts";
import type { KubeObject } from "../../../api/object-meta.ts";
import { isPresent, numberOf, objectOf, objectsOf, textOf } from "../../../api/json-reading.ts";
import { requireTexts, validateText } from "../../../api/validation/field-rules.ts";
import { dnsLabel1035Problems, dnsSubdomainProblems, pathSegmentProblems } from "../../../api/validation/names.ts";
import { portNumberProblems } from "../../../api/validation/port.ts";

const groupPriorityMax = 20_000;
const versionPriorityMax = 1000;
const statuses = ["True", "False", "Unknown"];

export function validateApiService(service: KubeObject): FieldError[] {
  const spec = objectOf(service["spec"]);
  const [group, version] = [textOf(spec["group"]), textOf(spec["version"])];
  return [
    ...validateNames(service, `${version}.${group}`),
    ...(group === "" && version !== "v1"
      ? [fieldError.required("spec.group", "only v1 may have an empty group and it better be legacy kube")]
      : []),
    ...validateText(group, dnsSubdomainProblems, "spec.group"),
    ...dnsLabel1035Problems(version).map((problem) => fieldError.invalid("spec.version", version, problem)),
    ...validatePriority(spec, "groupPriorityMinimum", groupPriorityMax),
    ...validatePriority(spec, "versionPriority", versionPriorityMax),
    ...(isPresent(spec["service"]) ? validateRemote(spec, objectOf(spec["service"])) : validateLocal(spec)),
  ];
}

export function validateApiServiceStatus(service: KubeObject): FieldError[] {
  return objectsOf(objectOf(service["status"])["conditions"]).flatMap(({ status }, at) =>
    statuses.includes(textOf(status))
      ? []
      : [fieldError.notSupported(`status.conditions[${at}].status`, textOf(status), statuses)],
  );
}

/** One group version is served from one place: the name says which. */
function validateNames({ metadata }: KubeObject, required: string): FieldError[] {
  const text = `must be \`spec.version+"."+spec.group\`: ${JSON.stringify(required)}`;
  return (["generateName", "name"] as const).flatMap((field) => {
    const { [field]: name = "" } = metadata;
    const isRight = name === "" || name === required || pathSegmentProblems(name).length > 0;
    return isRight ? [] : [fieldError.invalid(`metadata.${field}`, name, text)];
  });
}

function validatePriority(spec: JsonObject, name: string, max: number): FieldError[] {
  const priority = numberOf(spec[name]);
  if (priority > 0 && priority <= max) return [];
  return [fieldError.invalid(`spec.${name}`, priority, `must be positive and less than ${max}`)];
}

/** Served by this server itself: there is no connection that could be trusted or not. */
function validateLocal({ caBundle, insecureSkipTLSVerify: insecure }: JsonObject): FieldError[] {
  const bytes = Buffer.byteLength(textOf(caBundle), "base64");
  return [
    ...(bytes > 0
      ? [fieldError.invalid("spec.caBundle", `${bytes} bytes`, "local APIServices may not have a caBundle")]
      : []),
    ...(insecure === true
      ? [
          fieldError.invalid(
            "spec.insecureSkipTLSVerify",
            insecure,
            "local APIServices may not have insecureSkipTLSVerify",
          ),
        ]
      : []),
  ];
}

function validateRemote({ caBundle, insecureSkipTLSVerify: insecure }: JsonObject, service: JsonObject): FieldError[] {
  const port = numberOf(service["port"]);
  const problems = portNumberProblems(port);
  return [
    ...requireTexts(service, ["namespace", "name"], "spec.service"),
    ...problems.map((problem) => fieldError.invalid("spec.service.port", port, `port is not valid: ${problem}`)),
    ...(insecure === true && textOf(caBundle) !== ""
      ? [fieldError.invalid("spec.insecureSkipTLSVerify", insecure, "may not be true if caBundle is present")]
      : []),
  ];
}
