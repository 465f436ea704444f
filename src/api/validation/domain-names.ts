import { type FieldError, fieldError } from "../field-error.ts";
import { dnsSubdomainProblems } from "./names.ts";

/** Validates a DNS name of at least two labels; it may end with a dot. */
export function validateFullyQualifiedDomainName(name: string, field: string): FieldError[] {
  if (name === "") return [fieldError.required(field)];
  const plain = name.endsWith(".") ? name.slice(0, -1) : name;
  const problems = dnsSubdomainProblems(plain);
  if (problems.length > 0) return [fieldError.invalid(field, plain, problems.join(","))];
  const problem = "should be a domain with at least two segments separated by dots";
  return plain.includes(".") ? [] : [fieldError.invalid(field, plain, problem)];
}

/** Validates a DNS name of at least three labels, such as `webhook.example.com`. */
export function validateFullyQualifiedName(name: string, field: string): FieldError[] {
  if (name === "") return [fieldError.required(field)];
  const problems = dnsSubdomainProblems(name);
  if (problems.length > 0) return [fieldError.invalid(field, name, problems.join(","))];
  const problem = "should be a domain with at least three segments separated by dots";
  return name.split(".").length > 2 ? [] : [fieldError.invalid(field, name, problem)];
}

/** Validates `example.com/path`: a DNS subdomain, a slash, and a legal URL path. */
export function validateDomainPrefixedPath(path: string, field: string): FieldError[] {
  if (path === "") return [fieldError.required(field)];
  const slash = path.indexOf("/");
  if (slash < 1 || slash === path.length - 1) {
    return [fieldError.invalid(field, path, 'must be a domain-prefixed path (such as "acme.io/foo")')];
  }
  const host = path.slice(0, slash);
  const errors = dnsSubdomainProblems(host).map((problem) => fieldError.invalid(field, host, problem));
  const rest = path.slice(slash + 1);
  if (/^[A-Za-z0-9/\-._~%!$&'()*+,;=:]+$/.test(rest)) return errors;
  return [...errors, fieldError.invalid(field, rest, `Invalid path (regex used for validation is '${pathForm}')`)];
}

const pathForm = "[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+";
