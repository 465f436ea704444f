import { type FieldError, fieldError } from "../../../api/field-error.ts";
import type * as networkingV1 from "../../../api/types/networking-v1.ts";
import { containsIp, networkOf, parseCidr } from "../../../api/validation/ip.ts";
import { validateLabelSelector } from "../../../api/validation/label-selector.ts";
import { validatePortNumber, validatePortNumberOrName } from "../../../api/validation/port.ts";
import { validateStrictCidr, warnAboutCidr } from "../../../api/validation/strict-ip.ts";
import { validateEach, validateEachInTurns, validateManyInTurns } from "../../../api/validation/validate-each.ts";

const protocols = ["TCP", "UDP", "SCTP"];
const policyTypes = ["Ingress", "Egress"];

export function* validateNetworkPolicy(
  policy: networkingV1.NetworkPolicy,
  old?: networkingV1.NetworkPolicy,
): Generator<void, FieldError[]> {
  const { podSelector, ingress = [], egress = [], policyTypes: types = [] } = policy.spec ?? {};
  const known = new Set(
    old === undefined ? [] : blocksOf(old).flatMap(({ block }) => [block.cidr, ...(block.except ?? [])]),
  );
  return [
    ...validateLabelSelector(podSelector, "spec.podSelector"),
    ...(yield* validateEachInTurns(ingress, ({ ports = [], from = [] }, at) =>
      validateRule(ports, from, known, { ports: `spec.ingress[${at}].ports`, peers: `spec.ingress[${at}].from` }),
    )),
    ...(yield* validateEachInTurns(egress, ({ ports = [], to = [] }, at) =>
      validateRule(ports, to, known, { ports: `spec.egress[${at}].ports`, peers: `spec.egress[${at}].to` }),
    )),
    ...validatePolicyTypes(types, "spec.policyTypes"),
  ];
}

function* validateRule(
  ports: readonly networkingV1.NetworkPolicyPort[],
  peers: readonly networkingV1.NetworkPolicyPeer[],
  known: ReadonlySet<string>,
  fields: { readonly ports: string; readonly peers: string },
): Generator<void, FieldError[]> {
  return [...validatePorts(ports, fields.ports), ...(yield* validatePeers(peers, known, fields.peers))];
}

/** Warns of ranges that are written in an unusual way. */
export function networkPolicyWarnings(policy: networkingV1.NetworkPolicy): string[] {
  return blocksOf(policy).flatMap(({ block, field }) => [
    ...warnAboutCidr(block.cidr, `${field}.cidr`),
    ...(block.except ?? []).flatMap((except, at) => warnAboutCidr(except, `${field}.except[${at}]`)),
  ]);
}

function blocksOf({ spec }: networkingV1.NetworkPolicy): { block: networkingV1.IPBlock; field: string }[] {
  const { ingress = [], egress = [] } = spec ?? {};
  const peers = [
    ...ingress.map(({ from = [] }, at) => ({ list: from, field: `spec.ingress[${at}].from` })),
    ...egress.map(({ to = [] }, at) => ({ list: to, field: `spec.egress[${at}].to` })),
  ];
  return peers.flatMap(({ list, field }) =>
    list.flatMap(({ ipBlock }, at) =>
      ipBlock === undefined ? [] : [{ block: ipBlock, field: `${field}[${at}].ipBlock` }],
    ),
  );
}

function validatePorts(ports: readonly networkingV1.NetworkPolicyPort[], field: string): FieldError[] {
  return validateEach(ports, (port, at) => validatePort(port, `${field}[${at}]`));
}

function validatePort({ protocol, port, endPort }: networkingV1.NetworkPolicyPort, field: string): FieldError[] {
  const errors =
    protocol !== undefined && !protocols.includes(protocol)
      ? [fieldError.notSupported(`${field}.protocol`, protocol, protocols)]
      : [];
  if (typeof port === "number") {
    errors.push(...validatePortNumber(port, `${field}.port`));
    if (endPort === undefined) return errors;
    if (endPort < port) {
      // The value in the text is that of `port`, as upstream has it.
      errors.push(fieldError.invalid(`${field}.endPort`, port, "must be greater than or equal to `port`"));
    }
    return [...errors, ...validatePortNumber(endPort, `${field}.endPort`)];
  }
  if (endPort !== undefined) {
    const why = port === undefined ? "not specified" : "non-numeric";
    errors.push(fieldError.invalid(`${field}.endPort`, endPort, `may not be specified when \`port\` is ${why}`));
  }
  return port === undefined ? errors : [...errors, ...validatePortNumberOrName(port, `${field}.port`)];
}

function validatePeers(
  peers: readonly networkingV1.NetworkPolicyPeer[],
  known: ReadonlySet<string>,
  field: string,
): Generator<void, FieldError[]> {
  return validateManyInTurns(peers, ({ podSelector, namespaceSelector, ipBlock }, at) => {
    const path = `${field}[${at}]`;
    const selects = podSelector !== undefined || namespaceSelector !== undefined;
    if (!selects && ipBlock === undefined) return [fieldError.required(path, "must specify a peer")];
    return [
      ...validateLabelSelector(podSelector, `${path}.podSelector`),
      ...validateLabelSelector(namespaceSelector, `${path}.namespaceSelector`),
      ...(ipBlock === undefined ? [] : validateIpBlock(ipBlock, known, `${path}.ipBlock`)),
      ...(selects && ipBlock !== undefined
        ? [fieldError.forbidden(path, "may not specify both ipBlock and another peer")]
        : []),
    ];
  });
}

/** @param known ranges of the stored policy, which may be written in ways that new ones may not */
function validateIpBlock(block: networkingV1.IPBlock, known: ReadonlySet<string>, field: string): FieldError[] {
  const { cidr: text, except: exceptions = [] } = block;
  if (text === "") return [fieldError.required(`${field}.cidr`)];
  const validate = (range: string, path: string) => (known.has(range) ? [] : validateStrictCidr(range, path));
  const errors = validate(text, `${field}.cidr`);
  const cidr = parseCidr(text);
  if (cidr === undefined) return errors;
  return [
    ...errors,
    ...validateEach(exceptions, (exception, at) => {
      const path = `${field}.except[${at}]`;
      const problems = validate(exception, path);
      const except = parseCidr(exception);
      if (except === undefined) return problems;
      const isInside = containsIp(cidr, networkOf(except)) && cidr.prefixBits < except.prefixBits;
      return isInside
        ? problems
        : [...problems, fieldError.invalid(path, exception, "must be a strict subset of `cidr`")];
    }),
  ];
}

function validatePolicyTypes(types: readonly string[], field: string): FieldError[] {
  if (types.length > policyTypes.length) {
    return [fieldError.invalid(field, [...types], "may not specify more than two policyTypes")];
  }
  return validateEach(types, (type, at) =>
    policyTypes.includes(type) ? [] : [fieldError.notSupported(`${field}[${at}]`, type, policyTypes)],
  );
}
