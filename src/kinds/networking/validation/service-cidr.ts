import { type FieldError, fieldError } from "../../../api/field-error.ts";
import type { KubeObject } from "../../../api/object-meta.ts";
import { immutableText } from "../../../api/validation/immutable.ts";
import { parseCidr, validateCanonicalCidr } from "../../../api/validation/ip.ts";
import { fieldsOf } from "../../../api/validation/key-values.ts";
import { textsOf } from "../../../api/validation/fields.ts";

const field = "spec.cidrs";
/** One of each family. */
const cidrsMax = 2;
const familiesText = "may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64";

export function validateServiceCidr(serviceCidr: KubeObject): FieldError[] {
  const cidrs = cidrsOf(serviceCidr);
  if (cidrs.length === 0) return [fieldError.required(field, "at least one CIDR required")];
  if (cidrs.length > cidrsMax) {
    return [fieldError.invalid(field, { CIDRs: cidrs }, "may only hold up to 2 values")];
  }
  const families = cidrs.map((cidr) => parseCidr(cidr)?.family);
  if (cidrs.length === cidrsMax && (families.includes(undefined) || families[0] === families[1])) {
    return [fieldError.invalid(field, { CIDRs: cidrs }, familiesText)];
  }
  return cidrs.flatMap((cidr, at) => validateCanonicalCidr(cidr, `${field}[${at}]`));
}

/** A range stays, as addresses have been given out of it; a second family may come. */
export function validateServiceCidrUpdate(serviceCidr: KubeObject, old: KubeObject): FieldError[] {
  const [fresh, stored] = [cidrsOf(serviceCidr), cidrsOf(old)];
  const mayGrow = stored.length === 1 && fresh.length === cidrsMax;
  if (fresh.length !== stored.length && !mayGrow) return [fieldError.invalid(field, fresh, immutableText)];
  return stored.flatMap((cidr, at) =>
    fresh[at] === cidr ? [] : [fieldError.invalid(`${field}[${at}]`, fresh[at], immutableText)],
  );
}

function cidrsOf(serviceCidr: KubeObject): string[] {
  return textsOf(fieldsOf(serviceCidr["spec"])["cidrs"]);
}
