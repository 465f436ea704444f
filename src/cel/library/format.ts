import { isDnsLabel } from "../../api/dns-name.ts";
import { parseRequestUrl, UrlError } from "../../api/go-url.ts";
import { labelKeyErrors, labelValueErrors } from "../../api/label-syntax.ts";
import type { Library } from "../environment.ts";
import { type CelType, listOf, optionalOf, stringType, structOf } from "../types/cel-type.ts";
import { member, overload } from "../types/declarations.ts";
import { ArrayList } from "../values/lists.ts";
import { isDate } from "../values/time-text.ts";
import { noSuchOverload, OpaqueValue, Optional, type Result, type Value } from "../values/value.ts";

const formatType = structOf("kubernetes.NamedFormat");

/** Says what is wrong with a text; nothing if it has the format. */
type Validate = (text: string) => readonly string[];

export class FormatValue extends OpaqueValue {
  readonly name: string;
  readonly validate: Validate;
  /** The length of the pattern that a validation is charged for. */
  readonly patternSize: number;

  constructor(name: string, patternSize: number, validate: Validate) {
    super();
    this.name = name;
    this.validate = validate;
    this.patternSize = patternSize;
  }

  get type(): CelType {
    return formatType;
  }

  equals(other: Value): Result {
    return other instanceof FormatValue ? this.name === other.name : noSuchOverload;
  }
}

const label = "[a-z0-9]([-a-z0-9]*[a-z0-9])?";
const labelRule =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an " +
  `alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '${label}')`;
const subdomainRule =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end " +
  `with an alphanumeric character (e.g. 'example.com', regex used for validation is '${label}(\\.${label})*')`;
const oldLabelRule =
  "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and " +
  "end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is " +
  "'[a-z]([-a-z0-9]*[a-z0-9])?')";

/** The formats by the names of their functions, and by those that `format.named` takes. */
const formats: ReadonlyMap<string, FormatValue> = new Map([
  ["dns1123Label", new FormatValue("DNS1123Label", 30, labelErrors)],
  ["dns1123Subdomain", new FormatValue("DNS1123Subdomain", 60, subdomainErrors)],
  ["dns1035Label", new FormatValue("DNS1035Label", 30, oldLabelErrors)],
  ["qualifiedName", new FormatValue("QualifiedName", 60, labelKeyErrors)],
  ["dns1123LabelPrefix", new FormatValue("DNS1123LabelPrefix", 30, (text) => labelErrors(maskDash(text)))],
  ["dns1123SubdomainPrefix", new FormatValue("DNS1123SubdomainPrefix", 60, (text) => subdomainErrors(maskDash(text)))],
  ["dns1035LabelPrefix", new FormatValue("DNS1035LabelPrefix", 30, (text) => oldLabelErrors(maskDash(text)))],
  ["labelValue", new FormatValue("LabelValue", 40, labelValueErrors)],
  ["uri", new FormatValue("URI", 1_103, uriErrors)],
  ["uuid", new FormatValue("uuid", 70, oneError(isUuid, "does not match the UUID format"))],
  ["byte", new FormatValue("byte", 84, oneError(isBase64, "invalid base64"))],
  ["date", new FormatValue("date", 71, oneError(isDateText, "invalid date"))],
  ["datetime", new FormatValue("datetime", 71, oneError(isDateTimeText, "invalid datetime"))],
]);

/** Named formats: `format.dns1123Label().validate(name)`. */
export const formatLibrary: Library = {
  functions: [
    {
      name: "validate",
      overloads: [
        member("format-validate", [formatType, stringType], optionalOf(listOf(stringType)), { binary: validate }),
      ],
    },
    {
      name: "format.named",
      overloads: [overload("format-named", [stringType], optionalOf(formatType), { unary: named })],
    },
    ...[...formats].map(([name, format]) => ({
      name: `format.${name}`,
      overloads: [overload(`format.${name}`, [], formatType, { variadic: () => format })],
    })),
  ],
};

function validate(format: Value, text: Value): Result {
  if (!(format instanceof FormatValue) || typeof text !== "string") return noSuchOverload;
  const errors = format.validate(text);
  return errors.length === 0 ? Optional.none : new Optional(new ArrayList(errors));
}

function named(name: Value): Result {
  if (typeof name !== "string") return noSuchOverload;
  const format = formats.get(name);
  return format === undefined ? Optional.none : new Optional(format);
}

function oneError(isValid: (text: string) => boolean, error: string): Validate {
  return (text) => (isValid(text) ? [] : [error]);
}

/** A prefix may end in a dash. */
function maskDash(text: string): string {
  return text.length > 1 && text.endsWith("-") ? `${text.slice(0, -2)}a` : text;
}

function lengthErrors(text: string, bytesMax: number): string[] {
  return Buffer.byteLength(text) > bytesMax ? [`must be no more than ${bytesMax} characters`] : [];
}

function isSubdomain(text: string): boolean {
  return text.split(".").every(isDnsLabel);
}

function labelErrors(text: string): readonly string[] {
  const errors = lengthErrors(text, 63);
  if (isDnsLabel(text)) return errors;
  return [...errors, isSubdomain(text) ? "must not contain dots" : labelRule];
}

function subdomainErrors(text: string): readonly string[] {
  const errors = lengthErrors(text, 253);
  return isSubdomain(text) ? errors : [...errors, subdomainRule];
}

function oldLabelErrors(text: string): readonly string[] {
  const errors = lengthErrors(text, 63);
  return isDnsLabel(text) && /^[a-z]/.test(text) ? errors : [...errors, oldLabelRule];
}

function uriErrors(text: string): readonly string[] {
  try {
    parseRequestUrl(text);
    return [];
  } catch (error) {
    if (error instanceof UrlError) return [error.message];
    throw error;
  }
}

function isUuid(text: string): boolean {
  return /^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i.test(text);
}

function isBase64(text: string): boolean {
  return text.length > 0 && text.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(text);
}

function isDateText(text: string): boolean {
  const match = /^(\d{4})-(\d{2})-(\d{2})$/.exec(text);
  return match !== null && isDate({ year: Number(match[1]), month: Number(match[2]), day: Number(match[3]) });
}

function isDateTimeText(text: string): boolean {
  const [date = "", time] = text.toLowerCase().split("t");
  const match = /^(\d{2}):(\d{2}):(\d{2})(.\d+)?(?:z|[+-]\d{2}:\d{2})$/.exec(time ?? "");
  if (match === null || !isDateText(date)) return false;
  return Number(match[1]) <= 23 && Number(match[2]) <= 59 && Number(match[3]) <= 59;
}

/** Whether a text may be the name of a service account, or of a namespace. */
export function isServiceAccountName(text: string): boolean {
  return subdomainErrors(text).length === 0;
}

export function isNamespaceName(text: string): boolean {
  return labelErrors(text).length === 0;
}
