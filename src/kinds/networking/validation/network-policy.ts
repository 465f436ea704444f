import { type FieldError, fieldError } from "../../../api/field-error.ts";
import type { JsonObject } from "../../../api/json.ts";
import type { KubeObject } from "../../../api/object-meta.ts";
import { containsIp, parseCidr, validateCidr } from "../../../api/validation/ip.ts";
import { fieldsOf } from "../../../api/validation/key-values.ts";
import { validateLabelSelector } from "../../../api/validation/label-selector.ts";
import { isPresent, numberOf, objectsOf, textOf, textsOf } from "../../../api/validation/fields.ts";
import { validatePortNumber, validatePortNumberOrName } from "../../../api/validation/port.ts";
import { validateEach } from "../../../api/validation/validate-each.ts";

const protocols = ["TCP", "UDP", "SCTP"];
const policyTypes = ["Ingress", "Egress"];

export function validateNetworkPolicy(policy: KubeObject): FieldError[] {
  const spec = fieldsOf(policy["spec"]);
  return [
    ...validateLabelSelector(spec["podSelector"], "spec.podSelector"),
    ...validateEach(objectsOf(spec["ingress"]), (rule, at) => validateRule(rule, "from", `spec.ingress[${at}]`)),
    ...validateEach(objectsOf(spec["egress"]), (rule, at) => validateRule(rule, "to", `spec.egress[${at}]`)),
    ...validatePolicyTypes(textsOf(spec["policyTypes"]), "spec.policyTypes"),
  ];
}

function validateRule(rule: JsonObject, peers: "from" | "to", field: string): FieldError[] {
  return [
    ...validateEach(objectsOf(rule["ports"]), (port, at) => validatePort(port, `${field}.ports[${at}]`)),
    ...validateEach(objectsOf(rule[peers]), (peer, at) => validatePeer(peer, `${field}.${peers}[${at}]`)),
  ];
}

function validatePort({ protocol, port, endPort }: JsonObject, field: string): FieldError[] {
  const errors =
    isPresent(protocol) && !protocols.includes(textOf(protocol))
      ? [fieldError.notSupported(`${field}.protocol`, protocol, protocols)]
      : [];
  if (typeof port === "number") {
    errors.push(...validatePortNumber(port, `${field}.port`));
    if (!isPresent(endPort)) return errors;
    if (numberOf(endPort) < port) {
      errors.push(fieldError.invalid(`${field}.endPort`, endPort, "must be greater than or equal to `port`"));
    }
    return [...errors, ...validatePortNumber(endPort, `${field}.endPort`)];
  }
  if (isPresent(endPort)) {
    const why = isPresent(port) ? "non-numeric" : "not specified";
    errors.push(fieldError.invalid(`${field}.endPort`, endPort, `may not be specified when \`port\` is ${why}`));
  }
  return isPresent(port) ? [...errors, ...validatePortNumberOrName(port, `${field}.port`)] : errors;
}

function validatePeer({ podSelector, namespaceSelector, ipBlock }: JsonObject, field: string): FieldError[] {
  const errors = [
    ...validateLabelSelector(podSelector, `${field}.podSelector`),
    ...validateLabelSelector(namespaceSelector, `${field}.namespaceSelector`),
    ...(isPresent(ipBlock) ? validateIpBlock(fieldsOf(ipBlock), `${field}.ipBlock`) : []),
  ];
  const selects = isPresent(podSelector) || isPresent(namespaceSelector);
  if (!selects && !isPresent(ipBlock)) return [fieldError.required(field, "must specify a peer")];
  if (selects && isPresent(ipBlock)) {
    errors.push(fieldError.forbidden(field, "may not specify both ipBlock and another peer"));
  }
  return errors;
}

function validateIpBlock(block: JsonObject, field: string): FieldError[] {
  const text = textOf(block["cidr"]);
  if (text === "") return [fieldError.required(`${field}.cidr`)];
  const cidr = parseCidr(text);
  if (cidr === undefined) return validateCidr(text, `${field}.cidr`);
  return validateEach(textsOf(block["except"]), (exceptText, at) => {
    const except = parseCidr(exceptText);
    if (except === undefined) return validateCidr(exceptText, `${field}.except[${at}]`);
    const isInside = containsIp(cidr, except.address) && cidr.prefixBits < except.prefixBits;
    return isInside
      ? []
      : [fieldError.invalid(`${field}.except[${at}]`, exceptText, "must be a strict subset of `cidr`")];
  });
}

function validatePolicyTypes(types: readonly string[], field: string): FieldError[] {
  if (types.length > policyTypes.length) {
    return [fieldError.invalid(field, [...types], "may not specify more than two policyTypes")];
  }
  return validateEach(types, (type, at) =>
    policyTypes.includes(type) ? [] : [fieldError.notSupported(`${field}[${at}]`, type, policyTypes)],
  );
}
