import { dnsLabelBytesMax, isDnsLabel, isDnsSubdomain } from "../dns-name.ts";
import { AddressError, parseAddress } from "../go-address.ts";
import { parseGoDuration } from "../go-duration.ts";
import { isRequestUrl } from "../go-url.ts";
import { parseCidr, parseIp } from "../validation/ip.ts";
import { wordedDuration } from "../worded-duration.ts";
import { isEmailAddress } from "./email-address.ts";

type FormatCheck = (text: string) => boolean;

const hostnameBytesMax = 255;
const labelBytesMax = 63;
const hostname =
  /^([a-zA-Z0-9\p{S}\p{L}]((-?[a-zA-Z0-9\p{S}\p{L}]{0,62})?)|([a-zA-Z0-9\p{S}\p{L}](([a-zA-Z0-9\-\p{S}\p{L}]{0,61}[a-zA-Z0-9\p{S}\p{L}])?)(\.)){1,}([a-zA-Z\p{L}]){2,63})$/u;
const uuid = /^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i;
const uuid3 = /^[0-9a-f]{8}-?[0-9a-f]{4}-?3[0-9a-f]{3}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i;
const uuid4 = /^[0-9a-f]{8}-?[0-9a-f]{4}-?4[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}$/i;
const uuid5 = /^[0-9a-f]{8}-?[0-9a-f]{4}-?5[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}$/i;
const creditCard =
  /^(?:4[0-9]{12}(?:[0-9]{3})?|5[1-5][0-9]{14}|6(?:011|5[0-9][0-9])[0-9]{12}|3[47][0-9]{13}|3(?:0[0-5]|[68][0-9])[0-9]{11}|(?:2131|1800|35\d{3})\d{11})$/;
const colorPart = /^(?:0|[1-9]\d?|1\d\d?|2[0-4]\d|25[0-5])$/;
const clockTime = /^([0-9]{2}):([0-9]{2}):([0-9]{2})(.[0-9]+)?(z|([+-][0-9]{2}:[0-9]{2}))$/;
const colorLengthMax = 256;
const hardwareAddressBytes = new Set([6, 8, 20]);

/** Checks of text formats, by name without hyphens. */
const textFormats: ReadonlyMap<string, FormatCheck> = new Map<string, FormatCheck>([
  ["bsonobjectid", (text) => /^[0-9a-fA-F]{24}$/.test(text)],
  ["uri", isRequestUrl],
  ["email", isEmailAddress],
  ["hostname", isHostname],
  ["ipv4", (text) => text.includes(".") && parseIp(text) !== undefined],
  ["ipv6", (text) => text.includes(":") && isStrictAddress(text)],
  ["cidr", (text) => parseCidr(text) !== undefined],
  ["mac", isHardwareAddress],
  ["uuid", (text) => uuid.test(text)],
  ["uuid3", (text) => uuid3.test(text)],
  ["uuid4", (text) => uuid4.test(text)],
  ["uuid5", (text) => uuid5.test(text)],
  ["isbn", (text) => isIsbn10(text) || isIsbn13(text)],
  ["isbn10", isIsbn10],
  ["isbn13", isIsbn13],
  ["creditcard", isCreditCard],
  ["ssn", (text) => text.length === 11 && /^\d{3}[- ]?\d{2}[- ]?\d{4}$/.test(text)],
  ["hexcolor", (text) => /^#?([0-9a-fA-F]{3}|[0-9a-fA-F]{6})$/.test(text)],
  ["rgbcolor", isRgbColor],
  ["byte", (text) => text.length > 0 && text.length % 4 === 0 && /^[A-Za-z0-9+/]+={0,2}$/.test(text)],
  ["password", () => true],
  ["date", isDate],
  ["duration", (text) => parseGoDuration(text) !== undefined || wordedDuration(text) !== undefined],
  ["datetime", isDateTime],
  ["k8sshortname", (text) => text.length <= dnsLabelBytesMax && isDnsLabel(text)],
  ["k8slongname", isDnsSubdomain],
]);
const integerFormats: ReadonlySet<string> = new Set(["int32", "int64"]);
const numberFormats: ReadonlySet<string> = new Set(["float", "double"]);

/** Reports whether a format is checked for values of a type. */
export function isKnownFormat(format: string, type: string | undefined): boolean {
  switch (type) {
    case undefined:
    case "string":
      return textFormats.has(normalized(format));
    case "integer":
      return integerFormats.has(format);
    case "number":
      return numberFormats.has(format);
    default:
      return false;
  }
}

/** Returns the check for a format of texts; undefined if there is none. */
export function textFormat(format: string): FormatCheck | undefined {
  return textFormats.get(normalized(format));
}

function normalized(format: string): string {
  return format.replaceAll("-", "");
}

function isHostname(text: string): boolean {
  if (Buffer.byteLength(text) > hostnameBytesMax || !hostname.test(text)) return false;
  return text.split(".").every((label) => Buffer.byteLength(label) <= labelBytesMax);
}

function isStrictAddress(text: string): boolean {
  try {
    return parseAddress(text).zone === "";
  } catch (error) {
    if (error instanceof AddressError) return false;
    throw error;
  }
}

/**
 * Reports whether a text is six, eight or twenty bytes: in pairs of digits with `:` or `-`, or in groups of four with
 * `.`.
 */
function isHardwareAddress(text: string): boolean {
  const separator = text[2] === ":" || text[2] === "-" ? text[2] : text[4] === "." ? "." : undefined;
  if (separator === undefined || text.length > 59) return false;
  const digits = separator === "." ? 4 : 2;
  const groups = text.split(separator);
  if (!hardwareAddressBytes.has((groups.length * digits) / 2)) return false;
  return groups.every((group) => group.length === digits && /^[0-9a-fA-F]+$/.test(group));
}

function withoutSeparators(text: string): string {
  return text.replaceAll(/[\t\n\f\r -]+/g, "");
}

function isIsbn10(text: string): boolean {
  const digits = withoutSeparators(text);
  if (!/^(?:[0-9]{9}X|[0-9]{10})$/.test(digits)) return false;
  let sum = digits[9] === "X" ? 100 : 10 * Number(digits[9]);
  for (let at = 0; at < 9; at++) sum += (at + 1) * Number(digits[at]);
  return sum % 11 === 0;
}

function isIsbn13(text: string): boolean {
  const digits = withoutSeparators(text);
  if (!/^[0-9]{13}$/.test(digits)) return false;
  let sum = 0;
  for (let at = 0; at < 12; at++) sum += (at % 2 === 0 ? 1 : 3) * Number(digits[at]);
  return Number(digits[12]) === (10 - (sum % 10)) % 10;
}

function isCreditCard(text: string): boolean {
  const digits = text.replaceAll(/[^0-9]+/g, "");
  if (!creditCard.test(digits)) return false;
  let sum = 0;
  for (let at = 0; at < digits.length; at++) {
    const digit = Number(digits[digits.length - 1 - at]);
    const doubled = 2 * digit;
    sum += at % 2 === 0 ? digit : doubled >= 10 ? (doubled % 10) + 1 : doubled;
  }
  return sum % 10 === 0;
}

function isRgbColor(text: string): boolean {
  if (text.length > colorLengthMax) return false;
  const match = /^rgb\(([^()]*)\)$/.exec(text);
  const parts = (match?.[1] ?? "").split(",");
  // Unlike trim(), removes only the blanks that the format allows.
  const isPart = (part: string) => colorPart.test(part.replace(/^[\t\n\f\r ]+/, "").replace(/[\t\n\f\r ]+$/, ""));
  return parts.length === 3 && parts.every(isPart);
}

function isDate(text: string): boolean {
  const match = /^(\d{4})-(\d{2})-(\d{2})$/.exec(text);
  if (match === null) return false;
  const [year, month, day] = [Number(match[1]), Number(match[2]), Number(match[3])];
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  return month >= 1 && day >= 1 && date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
}

function isDateTime(text: string): boolean {
  const [date = "", time] = text.toLowerCase().split("t");
  if (time === undefined || !isDate(date)) return false;
  const match = clockTime.exec(time);
  if (match === null) return false;
  const [, hour = "", minute = "", second = ""] = match;
  return hour <= "23" && minute <= "59" && second <= "59";
}
