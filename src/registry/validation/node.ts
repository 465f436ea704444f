import { isIP } from "node:net";
import { type FieldError, fieldError } from "../../api/field-error.ts";
import { equalJson, type JsonObject, type JsonValue } from "../../api/json.ts";
import { labelKeyErrors, labelValueErrors } from "../../api/label-syntax.ts";
import type { KubeObject } from "../../api/object-meta.ts";
import { fieldsOf, isZero } from "./key-values.ts";
import { objectsOf, textOf } from "./pod-fields.ts";
import { parsedQuantity } from "./quantity.ts";

const taintEffects = ["NoSchedule", "PreferNoSchedule", "NoExecute"] as const;
const podCidrsMax = 2;

export function validateNode(node: KubeObject): FieldError[] {
  const spec = fieldsOf(node["spec"]);
  const status = fieldsOf(node["status"]);
  return [
    ...validateTaints(objectsOf(spec["taints"])),
    ...validatePodCidrs(spec),
    ...["capacity", "allocatable"].flatMap((field) => validateAmounts(fieldsOf(status[field]), `status.${field}`)),
  ];
}

/** podCIDRs and providerID can be set once; addresses of a status are unique. */
export function validateNodeUpdate(node: KubeObject, old: KubeObject): FieldError[] {
  const [fresh, stored] = [fieldsOf(node["spec"]), fieldsOf(old["spec"])];
  const errors: FieldError[] = [];
  if (!isEmptyList(stored["podCIDRs"]) && !equalJson(fresh["podCIDRs"] ?? [], stored["podCIDRs"])) {
    errors.push(fieldError.forbidden("spec.podCIDRs", 'node updates may not change podCIDR except from "" to valid'));
  }
  if (!isZero(stored["providerID"]) && fresh["providerID"] !== stored["providerID"]) {
    errors.push(
      fieldError.forbidden("spec.providerID", 'node updates may not change providerID except from "" to valid'),
    );
  }
  return [...errors, ...validateAddresses(objectsOf(fieldsOf(node["status"])["addresses"]))];
}

function isEmptyList(value: JsonValue | undefined): boolean {
  return !Array.isArray(value) || value.length === 0;
}

function validateTaints(taints: readonly JsonObject[]): FieldError[] {
  const errors: FieldError[] = [];
  const seen = new Set<string>();
  for (const [at, taint] of taints.entries()) {
    const field = `spec.taints[${at}]`;
    const [key, value, effect] = [textOf(taint["key"]), textOf(taint["value"]), textOf(taint["effect"])];
    for (const problem of labelKeyErrors(key)) errors.push(fieldError.invalid(`${field}.key`, key, problem));
    for (const problem of labelValueErrors(value)) errors.push(fieldError.invalid(`${field}.value`, value, problem));
    if (effect === "") errors.push(fieldError.required(`${field}.effect`));
    else if (!taintEffects.some((known) => known === effect)) {
      errors.push(fieldError.notSupported(`${field}.effect`, effect, taintEffects));
    }
    const identity = JSON.stringify([key, effect]);
    if (seen.has(identity)) errors.push(fieldError.duplicate(field, taint));
    seen.add(identity);
  }
  return errors;
}

function validatePodCidrs(spec: JsonObject): FieldError[] {
  const cidrs = (Array.isArray(spec["podCIDRs"]) ? spec["podCIDRs"] : []).map(textOf);
  const errors = cidrs.flatMap((cidr, at) =>
    isCidr(cidr)
      ? []
      : [
          fieldError.invalid(
            `spec.podCIDRs[${at}]`,
            cidr,
            "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)",
          ),
        ],
  );
  const families = new Set(cidrs.map((cidr) => cidr.includes(":")));
  if (cidrs.length > podCidrsMax || (cidrs.length === podCidrsMax && families.size < podCidrsMax)) {
    errors.push(fieldError.invalid("spec.podCIDRs", cidrs, "may specify no more than one CIDR for each IP family"));
  }
  const first = textOf(spec["podCIDR"]);
  if (cidrs.length > 0 && first !== "" && cidrs[0] !== first) {
    errors.push(fieldError.invalid("spec.podCIDRs[0]", cidrs[0], "must be the same as podCIDR"));
  }
  return errors;
}

function isCidr(text: string): boolean {
  const [address = "", bits = "", ...rest] = text.split("/");
  const family = isIP(address);
  return rest.length === 0 && family !== 0 && /^[0-9]{1,3}$/.test(bits) && Number(bits) <= (family === 4 ? 32 : 128);
}

function validateAmounts(amounts: JsonObject, field: string): FieldError[] {
  return Object.keys(amounts).flatMap((name) => {
    const quantity = parsedQuantity(amounts[name]);
    return quantity !== undefined && quantity.nanos < 0n
      ? [fieldError.invalid(`${field}[${name}]`, amounts[name], "must be greater than or equal to 0")]
      : [];
  });
}

function validateAddresses(addresses: readonly JsonObject[]): FieldError[] {
  const seen = new Set<string>();
  return addresses.flatMap((address, at) => {
    const identity = JSON.stringify([address["type"], address["address"]]);
    if (seen.has(identity)) return [fieldError.duplicate(`status.addresses[${at}]`, address)];
    seen.add(identity);
    return [];
  });
}
