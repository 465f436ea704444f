import { type FieldError, fieldError } from "../../../api/field-error.ts";
import type { PodSpec, WindowsSecurityContextOptions } from "../../../api/types/core-v1.ts";
import { dnsSubdomainProblems } from "../../../api/validation/names.ts";
import type { PlacedContainer } from "./placed-container.ts";

const credentialSpecKibMax = 64;
const domainCharactersMax = 255;
const userCharactersMax = 104;

/** Validates the security settings that only Windows has. */
export function validateWindowsOptions(
  options: WindowsSecurityContextOptions | undefined,
  field: string,
): FieldError[] {
  if (options === undefined) return [];
  const { gmsaCredentialSpecName: name, gmsaCredentialSpec, runAsUserName } = options;
  const problems = name === undefined ? [] : dnsSubdomainProblems(name);
  return [
    ...problems.map((problem) => fieldError.invalid(`${field}.gmsaCredentialSpecName`, name, problem)),
    ...validateCredentialSpec(gmsaCredentialSpec, `${field}.gmsaCredentialSpec`),
    ...validateUserName(runAsUserName, `${field}.runAsUserName`),
  ];
}

/** If one container is a host process, requires the same of all others, and the host's network for the pod. */
export function validateHostProcesses(
  spec: PodSpec,
  containers: readonly PlacedContainer[],
  path: string,
): FieldError[] {
  const ofPod = hostProcessOf(spec);
  const errors: FieldError[] = [];
  let count = 0;
  for (const { container, field } of containers) {
    const own = hostProcessOf(container);
    if (ofPod !== undefined && own !== undefined && ofPod !== own) {
      const text = `pod hostProcess value must be identical if both are specified, was ${String(ofPod)}`;
      errors.push(fieldError.invalid(`${field}.securityContext.windowsOptions.hostProcess`, own, text));
    }
    if ((own ?? ofPod) === true) count++;
  }
  if (count === 0) return errors;
  if (count !== containers.length) {
    const text = "If pod contains any hostProcess containers then all containers must be HostProcess containers";
    errors.push(fieldError.invalid(path, "", text));
  }
  if (spec.hostNetwork !== true) {
    const text = "hostNetwork must be true if pod contains any hostProcess containers";
    errors.push(fieldError.invalid(`${path}.hostNetwork`, false, text));
  }
  return errors;
}

/** A pod or a container. */
type SecuredOwner = Pick<PodSpec | PlacedContainer["container"], "securityContext">;

function hostProcessOf({ securityContext }: SecuredOwner): boolean | undefined {
  return securityContext?.windowsOptions?.hostProcess;
}

function validateCredentialSpec(text: string | undefined, field: string): FieldError[] {
  if (text === undefined) return [];
  if (text === "") return [fieldError.invalid(field, text, "gmsaCredentialSpec cannot be an empty string")];
  if (Buffer.byteLength(text) <= credentialSpecKibMax * 1024) return [];
  return [fieldError.invalid(field, text, `gmsaCredentialSpec size must be under ${credentialSpecKibMax} KiB`)];
}

/** Validates `[domain\]user`. */
function validateUserName(name: string | undefined, field: string): FieldError[] {
  if (name === undefined) return [];
  return userNameProblems(name).map((problem) => fieldError.invalid(field, name, problem));
}

function userNameProblems(name: string): string[] {
  if (name === "") return ["runAsUserName cannot be an empty string"];
  if (/\p{Cc}/u.test(name)) return ["runAsUserName cannot contain control characters"];
  const parts = name.split("\\");
  if (parts.length > 2) return ["runAsUserName cannot contain more than one backslash"];
  return [...(parts.length === 2 ? domainProblems(parts[0] ?? "") : []), ...userProblems(parts.at(-1) ?? "")];
}

function domainProblems(domain: string): string[] {
  const problems: string[] = [];
  if (domain.length > domainCharactersMax) {
    problems.push(`runAsUserName's Domain length must be under ${domainCharactersMax + 1} characters`);
  }
  if (!isNetBiosName(domain) && !isDnsName(domain)) {
    problems.push("runAsUserName's Domain doesn't match the NetBios nor the DNS format");
  }
  return problems;
}

function isNetBiosName(domain: string): boolean {
  return /^[^\\/:*?"<>|.][^\\/:*?"<>|]{0,14}$/.test(domain);
}

function isDnsName(domain: string): boolean {
  return domain
    .split(".")
    .every((label) => /^[a-zA-Z0-9-]{1,63}$/.test(label) && !label.startsWith("-") && !label.endsWith("-"));
}

function userProblems(user: string): string[] {
  const problems: string[] = [];
  if (user === "") problems.push("runAsUserName's User cannot be empty");
  else if (user.length > userCharactersMax) {
    problems.push(`runAsUserName's User length must not be longer than ${userCharactersMax} characters`);
  }
  if (/^[. ]+$/.test(user)) problems.push("runAsUserName's User cannot contain only periods or spaces");
  if (/["/\\:;|=,+*?<>@[\]]/.test(user)) {
    problems.push("runAsUserName's User cannot contain the following characters: \"/\\:;|=,+*?<>@[]");
  }
  return problems;
}
