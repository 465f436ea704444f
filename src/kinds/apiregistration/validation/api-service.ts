import { type FieldError, fieldError } from "../../../api/field-error.ts";
import type { APIService, APIServiceSpec, ServiceReference } from "../../../api/types/apiregistration-v1.ts";
import { requireTexts, validateText } from "../../../api/validation/field-rules.ts";
import { dnsLabel1035Problems, dnsSubdomainProblems, pathSegmentProblems } from "../../../api/validation/names.ts";
import { portNumberProblems } from "../../../api/validation/port.ts";

const groupPriorityMax = 20_000;
const versionPriorityMax = 1000;
const statuses = ["True", "False", "Unknown"];

const noSpec: APIServiceSpec = { groupPriorityMinimum: 0, versionPriority: 0 };

/** The name is that of the group version, so that each has at most one APIService. */
export function apiServiceNameProblems(name: string, { spec = noSpec }: APIService): string[] {
  const problems = pathSegmentProblems(name);
  const required = `${spec.version ?? ""}.${spec.group ?? ""}`;
  if (problems.length > 0 || name === required) return problems;
  return [`must be \`spec.version+"."+spec.group\`: ${JSON.stringify(required)}`];
}

export function validateApiService({ spec = noSpec }: APIService): FieldError[] {
  const { group = "", version = "", service } = spec;
  return [
    ...(group === "" && version !== "v1"
      ? [fieldError.required("spec.group", "only v1 may have an empty group and it better be legacy kube")]
      : []),
    ...validateText(group, dnsSubdomainProblems, "spec.group"),
    ...dnsLabel1035Problems(version).map((problem) => fieldError.invalid("spec.version", version, problem)),
    ...validatePriority(spec.groupPriorityMinimum, "spec.groupPriorityMinimum", groupPriorityMax),
    ...validatePriority(spec.versionPriority, "spec.versionPriority", versionPriorityMax),
    ...(service === undefined ? validateLocal(spec) : validateRemote(spec, service)),
  ];
}

export function validateApiServiceStatus(service: APIService): FieldError[] {
  return (service.status?.conditions ?? []).flatMap(({ status = "" }, at) =>
    statuses.includes(status) ? [] : [fieldError.notSupported(`status.conditions[${at}].status`, status, statuses)],
  );
}

function validatePriority(priority: number, field: string, max: number): FieldError[] {
  if (priority > 0 && priority <= max) return [];
  return [fieldError.invalid(field, priority, `must be positive and less than ${max}`)];
}

/** This server answers itself, so there cannot be settings of a connection. */
function validateLocal({ caBundle = "", insecureSkipTLSVerify: insecure }: APIServiceSpec): FieldError[] {
  const bytes = Buffer.byteLength(caBundle, "base64");
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

function validateRemote(
  { caBundle = "", insecureSkipTLSVerify: insecure }: APIServiceSpec,
  service: ServiceReference,
): FieldError[] {
  const { port = 0 } = service;
  const problems = portNumberProblems(port);
  return [
    ...requireTexts(service, ["namespace", "name"], "spec.service"),
    ...problems.map((problem) => fieldError.invalid("spec.service.port", port, `port is not valid: ${problem}`)),
    ...(insecure === true && caBundle !== ""
      ? [fieldError.invalid("spec.insecureSkipTLSVerify", insecure, "may not be true if caBundle is present")]
      : []),
  ];
}
