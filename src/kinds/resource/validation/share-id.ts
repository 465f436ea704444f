import { type FieldError, fieldError } from "../../../api/field-error.ts";

const plainLength = 36;
const hexadecimal = /^[0-9a-fA-F]+$/;

/** Validates the identifier of a share of a device, if there is one: a UUID in lower case. */
export function validateShareId(id: string | undefined, field: string): FieldError[] {
  if (id === undefined) return [];
  const problem = parsingProblem(id);
  if (problem !== undefined) return [fieldError.invalid(field, id, `error validating uid: ${problem}`)];
  if (id.length === plainLength && id === id.toLowerCase()) return [];
  const text =
    "uid must be in RFC 4122 normalized form, `xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx` with lowercase hexadecimal characters";
  return [fieldError.invalid(field, id, text)];
}

/** Upstream's parser also reads UUIDs in braces, with a prefix and without hyphens. The texts are its own. */
function parsingProblem(id: string): string | undefined {
  const bytes = Buffer.byteLength(id);
  if (bytes === 32) return hexadecimal.test(id) ? undefined : "invalid UUID format";
  let plain = id;
  if (bytes === 45) {
    if (!id.toLowerCase().startsWith("urn:uuid:")) return `invalid urn prefix: ${JSON.stringify(id.slice(0, 9))}`;
    plain = id.slice(9);
  } else if (bytes === 38) {
    if (!id.startsWith("{") || !id.endsWith("}")) return "invalid bracketed UUID format";
    plain = id.slice(1, -1);
  } else if (bytes !== plainLength) {
    return `invalid UUID length: ${bytes}`;
  }
  const parts = plain.split("-");
  const lengths = [8, 4, 4, 4, 12];
  const isForm = parts.length === lengths.length && parts.every((part, at) => part.length === lengths[at]);
  return isForm && parts.every((part) => hexadecimal.test(part)) ? undefined : "invalid UUID format";
}
