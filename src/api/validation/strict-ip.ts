import { type FieldError, fieldError } from "../field-error.ts";
import { type Cidr, cidrText, hasHostBits, ipText, networkOf, parseCidr, parseIp } from "./ip.ts";

/** An IPv4 octet or a prefix length with a zero in front. */
const leadingZero = /(^|[.:/])0[0-9]+([./]|$)/;

/** Rejects text that some programs read as another address. Other non-canonical spellings pass. */
export function validateStrictIp(text: string, field: string): FieldError[] {
  const problem = strictIpProblem(text);
  return problem === undefined ? [] : [fieldError.invalid(field, text, problem)];
}

/** Rejects any but the canonical text of an address. */
export function validateCanonicalIp(text: string, field: string): FieldError[] {
  const problem = canonicalIpProblem(text);
  return problem === undefined ? [] : [fieldError.invalid(field, text, problem)];
}

/** Returns the reason why the text is not the canonical one of an address. */
export function canonicalIpProblem(text: string): string | undefined {
  const problem = strictIpProblem(text);
  if (problem !== undefined) return problem;
  const canonical = parseIp(text)?.text;
  return canonical === text ? undefined : `must be in canonical form (${JSON.stringify(canonical)})`;
}

/** Rejects text that some programs read as another range, and ranges with bits beyond their prefix. */
export function validateStrictCidr(text: string, field: string): FieldError[] {
  const problem = strictCidrProblem(text);
  return problem === undefined ? [] : [fieldError.invalid(field, text, problem)];
}

/** Rejects any but the canonical text of a range. */
export function validateCanonicalCidr(text: string, field: string): FieldError[] {
  const problem = strictCidrProblem(text);
  if (problem !== undefined) return [fieldError.invalid(field, text, problem)];
  const canonical = canonicalCidr(parseCidr(text) as Cidr);
  if (canonical === text) return [];
  return [fieldError.invalid(field, text, `must be in canonical form (${JSON.stringify(canonical)})`)];
}

/** Returns a warning for a valid address whose text is not canonical. */
export function warnAboutIp(text: string, field: string): string[] {
  const ip = parseIp(text);
  if (ip === undefined) return [];
  if (strictIpProblem(text) !== undefined) {
    return [`${field}: non-standard IP address ${quote(text)} is invalid: use ${quote(ip.text)}`];
  }
  if (ip.family === "IPv4" || ip.text === text) return [];
  return [`${field}: IPv6 address ${quote(text)} should be in RFC 5952 canonical format (${quote(ip.text)})`];
}

/** Returns warnings for a valid range whose text is ambiguous or not canonical. */
export function warnAboutCidr(text: string, field: string): string[] {
  const cidr = parseCidr(text);
  if (cidr === undefined) return [];
  const { address, family, prefixBits } = cidr;
  const warnings: string[] = [];
  if (hasHostBits(cidr)) {
    const single = `${address.text}/${8 * address.bytes.length}`;
    const choice = `should be ${quote(canonicalCidr(cidr))} or ${quote(single)}?`;
    warnings.push(`${field}: CIDR value ${quote(text)} is ambiguous in this context (${choice})`);
  }
  if (leadingZero.test(text) || isMapped(text, family)) {
    warnings.push(`${field}: non-standard CIDR value ${quote(text)} is invalid: use ${quote(canonicalCidr(cidr))}`);
  }
  const plain = `${address.text}/${prefixBits}`;
  if (warnings.length > 0 || family === "IPv4" || plain === text) return warnings;
  return [`${field}: IPv6 CIDR value ${quote(text)} should be in RFC 5952 canonical format (${quote(plain)})`];
}

function strictIpProblem(text: string): string | undefined {
  const ip = parseIp(text);
  if (ip === undefined) return ipText;
  if (leadingZero.test(text)) return "must not have leading 0s";
  return isMapped(text, ip.family) ? "must not be an IPv4-mapped IPv6 address" : undefined;
}

function strictCidrProblem(text: string): string | undefined {
  const cidr = parseCidr(text);
  if (cidr === undefined) return cidrText;
  if (leadingZero.test(text)) return "must not have leading 0s in IP or prefix length";
  if (isMapped(text, cidr.family)) return "must not have an IPv4-mapped IPv6 address";
  return hasHostBits(cidr) ? "must not have bits set beyond the prefix length" : undefined;
}

function isMapped(text: string, family: Cidr["family"]): boolean {
  return family === "IPv4" && text.includes(":");
}

function canonicalCidr(cidr: Cidr): string {
  return `${networkOf(cidr).text}/${cidr.prefixBits}`;
}

function quote(text: string): string {
  return JSON.stringify(text);
}
