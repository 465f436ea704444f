import { type FieldError, fieldError } from "../../../api/field-error.ts";
import type * as networkingV1 from "../../../api/types/networking-v1.ts";
import { immutableText } from "../../../api/validation/immutable.ts";
import { parseCidr } from "../../../api/validation/ip.ts";
import { validateCanonicalCidr } from "../../../api/validation/strict-ip.ts";

const field = "spec.cidrs";
/** One of each family. */
const cidrsMax = 2;
const familiesText = "may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64";

export function validateServiceCidr(serviceCidr: networkingV1.ServiceCIDR): FieldError[] {
  const cidrs = cidrsOf(serviceCidr);
  if (cidrs.length === 0) return [fieldError.required(field, "at least one CIDR required")];
  if (cidrs.length > cidrsMax) {
    return [fieldError.invalid(field, { CIDRs: cidrs }, "may only hold up to 2 values")];
  }
  const errors = cidrs.flatMap((cidr, at) => validateCanonicalCidr(cidr, `${field}[${at}]`));
  const [first, second] = cidrs.map((cidr) => parseCidr(cidr)?.family);
  if (first !== undefined && first === second) errors.push(fieldError.invalid(field, cidrs, familiesText));
  return errors;
}

/** A range stays, as addresses have been given out of it. A second family may come. */
export function validateServiceCidrUpdate(
  serviceCidr: networkingV1.ServiceCIDR,
  old: networkingV1.ServiceCIDR,
): FieldError[] {
  const [fresh, stored] = [cidrsOf(serviceCidr), cidrsOf(old)];
  const grows = stored.length === 1 && fresh.length === cidrsMax;
  if (fresh.length !== stored.length && !grows) return [fieldError.invalid(field, fresh, immutableText)];
  const errors = stored.flatMap((cidr, at) =>
    fresh[at] === cidr ? [] : [fieldError.invalid(`${field}[${at}]`, fresh[at], immutableText)],
  );
  return grows ? [...errors, ...validateServiceCidr(serviceCidr)] : errors;
}

function cidrsOf({ spec }: networkingV1.ServiceCIDR): string[] {
  return spec?.cidrs ?? [];
}
