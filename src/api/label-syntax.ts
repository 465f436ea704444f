import { exceedsBytes } from "./code-points.ts";

/** Longest name part of a label key, and longest label value. */
export const labelNameBytesMax = 63;
export const labelPrefixBytesMax = 253;

const nameText =
  "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
const valueText =
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";
const subdomainText =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";

/** Matches a valid key, if it is no longer than a prefix may be: one test takes a fifth of the time of all rules. */
const validKey =
  /^(?:[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*\/)?[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/;

/** Returns the problems of a label or annotation key (`[<dns subdomain>/]<name>`), in upstream's words. */
export function labelKeyErrors(key: string): string[] {
  if (key.length <= labelPrefixBytesMax && validKey.test(key)) return [];
  const parts = key.split("/");
  if (parts.length > 2) {
    return [`a valid label key ${nameText} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`];
  }
  const name = parts[parts.length - 1] as string;
  return [...(parts.length === 2 ? prefixErrors(parts[0] as string) : []), ...nameErrors(name)];
}

/** Returns the problems of a label value, in upstream's words. */
export function labelValueErrors(value: string): string[] {
  const errors: string[] = [];
  if (exceedsBytes(value, labelNameBytesMax)) errors.push(`must be no more than ${labelNameBytesMax} bytes`);
  if (value !== "" && !isQualifiedPart(value)) errors.push(valueText);
  return errors;
}

function prefixErrors(prefix: string): string[] {
  if (prefix === "") return ["prefix part must be non-empty"];
  const errors: string[] = [];
  if (exceedsBytes(prefix, labelPrefixBytesMax)) {
    errors.push(`prefix part must be no more than ${labelPrefixBytesMax} bytes`);
  }
  if (!isSubdomain(prefix)) errors.push(`prefix part ${subdomainText}`);
  return errors;
}

function nameErrors(name: string): string[] {
  const errors: string[] = [];
  if (name === "") errors.push("name part must be non-empty");
  else if (exceedsBytes(name, labelNameBytesMax)) {
    errors.push(`name part must be no more than ${labelNameBytesMax} bytes`);
  }
  if (!isQualifiedPart(name)) errors.push(`name part ${nameText}`);
  return errors;
}

function isQualifiedPart(text: string): boolean {
  return (
    /^[-A-Za-z0-9_.]+$/.test(text) &&
    isAlphanumeric(text.charCodeAt(0)) &&
    isAlphanumeric(text.charCodeAt(text.length - 1))
  );
}

function isSubdomain(text: string): boolean {
  return text.split(".").every((part) => /^[-a-z0-9]+$/.test(part) && !part.startsWith("-") && !part.endsWith("-"));
}

function isAlphanumeric(code: number): boolean {
  return (code >= 48 && code <= 57) || (code >= 65 && code <= 90) || (code >= 97 && code <= 122);
}
