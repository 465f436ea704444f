import { type FieldError, fieldError } from "../../../api/field-error.ts";
import type { JsonObject, JsonValue } from "../../../api/json.ts";
import type { KubeObject } from "../../../api/object-meta.ts";
import { validateIp, validateNonSpecialIp } from "../../../api/validation/ip.ts";
import { fieldErrorsMax } from "../../../api/validation/labels.ts";
import { dnsLabelProblems, dnsSubdomainProblems } from "../../../api/validation/names.ts";
import { isPresent, objectsOf, textOf } from "../../../api/json-reading.ts";
import { validateText } from "../../../api/validation/field-rules.ts";
import { validateEndpointPorts } from "./service-port.ts";
import { validateEach } from "../../../api/validation/validate-each.ts";

export function validateEndpoints(endpoints: KubeObject): FieldError[] {
  return objectsOf(endpoints["subsets"] as JsonValue | undefined)
    .flatMap((subset, at) => validateSubset(subset, `subsets[${at}]`))
    .slice(0, fieldErrorsMax);
}

function validateSubset(subset: JsonObject, field: string): FieldError[] {
  const [ready, notReady] = [objectsOf(subset["addresses"]), objectsOf(subset["notReadyAddresses"])];
  return [
    ...(ready.length + notReady.length === 0
      ? [fieldError.required(field, "must specify `addresses` or `notReadyAddresses`")]
      : []),
    ...validateEach(ready, (address, at) => validateAddress(address, `${field}.addresses[${at}]`)),
    ...validateEach(notReady, (address, at) => validateAddress(address, `${field}.notReadyAddresses[${at}]`)),
    ...validateEndpointPorts(objectsOf(subset["ports"]), `${field}.ports`),
  ];
}

function validateAddress({ ip, hostname, nodeName }: JsonObject, field: string): FieldError[] {
  const node = textOf(nodeName);
  return [
    ...validateIp(ip, `${field}.ip`),
    ...validateText(hostname, dnsLabelProblems, `${field}.hostname`),
    ...(isPresent(nodeName)
      ? dnsSubdomainProblems(node).map((problem) => fieldError.invalid(`${field}.nodeName`, node, problem))
      : []),
    ...validateNonSpecialIp(textOf(ip), `${field}.ip`),
  ];
}
