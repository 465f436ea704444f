import { exceedsBytes } from "../code-points.ts";
import { dnsLabelBytesMax, dnsSubdomainBytesMax, isDnsLabel } from "../dns-name.ts";
import { quoteText } from "../go-literal.ts";

export { dnsLabelBytesMax, dnsSubdomainBytesMax, isDnsLabel };

const labelText =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
const label1035Text =
  "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')";
const subdomainText =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const wildcardText =
  "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which must consist of lower case alphanumeric characters, '-' or '.' and end with an alphanumeric character (e.g. '*.example.com', regex used for validation is '\\*\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const identifierText =
  "a valid C identifier must start with alphabetic character or '_', followed by a string of alphanumeric characters or '_' (e.g. 'my_name',  or 'MY_NAME',  or 'MyName', regex used for validation is '[A-Za-z_][A-Za-z0-9_]*')";
const configKeyText =
  "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')";
const httpHeaderText =
  "a valid HTTP header must consist of alphanumeric characters or '-' (e.g. 'X-Header-Name', regex used for validation is '[-A-Za-z0-9]+')";
const subdomainUnderscoreText =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '_', '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?(\\._?[a-z0-9]([-_a-z0-9]*[a-z0-9])?)*')";
const environmentNameText =
  "a valid environment variable name must consist only of printable ASCII characters other than '='";

/** Returns a message for each rule of a DNS label (RFC 1123) that the text breaks. */
export function dnsLabelProblems(text: string): string[] {
  if (isDnsLabel(text)) return tooLong(text, dnsLabelBytesMax);
  const problem = text.split(".").every((part) => isDnsLabel(part)) ? "must not contain dots" : labelText;
  return [...tooLong(text, dnsLabelBytesMax), problem];
}

/** Returns the same for a label whose first character must be a letter (RFC 1035). */
export function dnsLabel1035Problems(text: string): string[] {
  const valid = isDnsLabel(text) && /^[a-z]/.test(text);
  return [...tooLong(text, dnsLabelBytesMax), ...(valid ? [] : [label1035Text])];
}

/** Returns a message for each rule of a DNS subdomain (RFC 1123) that the text breaks. */
export function dnsSubdomainProblems(text: string): string[] {
  return [
    ...tooLong(text, dnsSubdomainBytesMax),
    ...(text.split(".").every((part) => isDnsLabel(part)) ? [] : [subdomainText]),
  ];
}

/** Returns the same in the words of rules that types declare, which count bytes. */
export function declaredSubdomainProblems(text: string): string[] {
  const problems = dnsSubdomainProblems(text);
  const isTooLong = Buffer.byteLength(text) > dnsSubdomainBytesMax;
  return isTooLong ? [`must be no more than ${dnsSubdomainBytesMax} bytes`, ...problems.slice(1)] : problems;
}

/** Returns the problems of a DNS subdomain that may start with a wildcard: `*.example.com`. */
export function wildcardDnsProblems(text: string): string[] {
  const labels = text.startsWith("*.") ? text.slice(2).split(".") : [];
  const valid = labels.length > 0 && labels.every((part) => isDnsLabel(part));
  return [...tooLong(text, dnsSubdomainBytesMax), ...(valid ? [] : [wildcardText])];
}

/** Returns the problems of a name that only has to fit one path segment, as those of roles. */
export function pathSegmentProblems(text: string): string[] {
  if (text === "." || text === "..") return [`may not be '${text}'`];
  const problems: string[] = [];
  if (text.includes("/")) problems.push("may not contain '/'");
  if (text.includes("%")) problems.push("may not contain '%'");
  return problems;
}

/** Returns client-go's refusal to ask for an object of this name; undefined if it asks. */
export function unaskableName(name: string): string | undefined {
  if (name === "") return "resource name may not be empty";
  const problems = pathSegmentProblems(name);
  return problems.length === 0 ? undefined : `invalid resource name ${quoteText(name)}: [${problems.join(" ")}]`;
}

/** Returns the problems of a key of a ConfigMap or Secret. */
export function configKeyProblems(key: string): string[] {
  const problems = tooLong(key, dnsSubdomainBytesMax);
  if (!/^[-._a-zA-Z0-9]+$/.test(key)) problems.push(configKeyText);
  if (key === "." || key === "..") problems.push(`must not be '${key}'`);
  else if (key.startsWith("..")) problems.push("must not start with '..'");
  return problems;
}

export function environmentNameProblems(name: string): string[] {
  return /^[\x20-\x3c\x3e-\x7e]+$/.test(name) ? [] : [environmentNameText];
}

export function identifierProblems(name: string): string[] {
  return /^[A-Za-z_][A-Za-z0-9_]*$/.test(name) ? [] : [identifierText];
}

/**
 * Returns the problems of a container port's name: at most 15 characters, with a letter, without two hyphens in a row.
 */
export function portNameProblems(name: string): string[] {
  const problems: string[] = [];
  if (name.length > 15) problems.push("must be no more than 15 characters");
  if (!/^[-a-z0-9]+$/.test(name))
    problems.push("must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)");
  if (!/[a-z]/.test(name)) problems.push("must contain at least one letter (a-z)");
  if (name.includes("--")) problems.push("must not contain consecutive hyphens");
  if (name.startsWith("-") || name.endsWith("-")) problems.push("must not begin or end with a hyphen");
  return problems;
}

/** Returns the problems of the name of an HTTP header field. */
export function httpHeaderProblems(name: string): string[] {
  return /^[-A-Za-z0-9]+$/.test(name) ? [] : [httpHeaderText];
}

/** Returns the problems of a resolver's search domain: a DNS subdomain whose labels may contain underscores. */
export function dnsSubdomainUnderscoreProblems(text: string): string[] {
  const valid = text
    .split(".")
    .every((part) => /^_?[a-z0-9][-_a-z0-9]*$/.test(part) && !part.endsWith("-") && !part.endsWith("_"));
  return [...tooLong(text, dnsSubdomainBytesMax), ...(valid ? [] : [subdomainUnderscoreText])];
}

/** Returns a name to check in place of a prefix, whose trailing hyphen will be followed by a suffix. */
export function prefixOfName(text: string): string {
  return text.length > 1 && text.endsWith("-") ? `${text.slice(0, -2)}a` : text;
}

function tooLong(text: string, max: number): string[] {
  return exceedsBytes(text, max) ? [`must be no more than ${max} characters`] : [];
}
