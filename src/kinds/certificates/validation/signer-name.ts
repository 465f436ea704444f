import { type FieldError, fieldError } from "../../../api/field-error.ts";
import { dnsLabelProblems, dnsSubdomainBytesMax, dnsSubdomainProblems } from "../../../api/validation/names.ts";

/** A domain, a slash, and room for the namespace and name of a resource. */
const signerNameBytesMax = 571;

/** `example.com/my-signer`. */
export function validateSignerName(name: string, field: string): FieldError[] {
  if (name === "") return [fieldError.required(field)];
  const [domain = "", path, ...rest] = name.split("/");
  if (path === undefined || rest.length > 0) {
    const text = "must be a fully qualified domain and path of the form 'example.com/signer-name'";
    return [fieldError.invalid(field, name, text)];
  }
  const labels = domain.split(".");
  return [
    ...(Buffer.byteLength(domain) > dnsSubdomainBytesMax ? [fieldError.tooLong(field, dnsSubdomainBytesMax)] : []),
    ...validateLabels(domain, dnsLabelProblems, field),
    ...(labels.length < 2
      ? [fieldError.invalid(field, domain, "should be a domain with at least two segments separated by dots")]
      : []),
    ...validateLabels(path, dnsSubdomainProblems, field),
    ...(Buffer.byteLength(name) > signerNameBytesMax ? [fieldError.tooLong(field, signerNameBytesMax)] : []),
  ];
}

/** Reports a name that is reserved for signers of the project itself. */
export function isProjectSigner(name: string): boolean {
  const [domain = ""] = name.split("/");
  return domain === "kubernetes.io" || domain.endsWith(".kubernetes.io");
}

/** Reports only the first wrong label, because further ones would say the same. */
function validateLabels(text: string, problemsOf: (label: string) => readonly string[], field: string): FieldError[] {
  const wrong = text.split(".").find((label) => problemsOf(label).length > 0);
  if (wrong === undefined) return [];
  const quoted = JSON.stringify(wrong);
  return problemsOf(wrong).map((problem) => fieldError.invalid(field, text, `validating label ${quoted}: ${problem}`));
}
