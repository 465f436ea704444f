import { type FieldError, fieldError } from "../../../api/field-error.ts";
import { equalJson, type JsonValue } from "../../../api/json.ts";
import type { EndpointAddress, EndpointSubset, Endpoints } from "../../../api/types/core-v1.ts";
import { validateText } from "../../../api/validation/field-rules.ts";
import { validateNonSpecialIp } from "../../../api/validation/ip.ts";
import { fieldErrorsMax } from "../../../api/validation/labels.ts";
import { dnsLabelProblems, dnsSubdomainProblems } from "../../../api/validation/names.ts";
import { validateStrictIp } from "../../../api/validation/strict-ip.ts";
import { validateEach } from "../../../api/validation/validate-each.ts";
import { validateEndpointPorts } from "./service-port.ts";

/** @param old replaced object, whose subsets stay valid under newer rules */
export function validateEndpoints({ subsets = [] }: Endpoints, old?: Endpoints): FieldError[] {
  if (old !== undefined && equalJson(subsets as JsonValue, (old.subsets ?? []) as JsonValue)) return [];
  return subsets.flatMap((subset, at) => validateSubset(subset, `subsets[${at}]`)).slice(0, fieldErrorsMax);
}

function validateSubset(subset: EndpointSubset, field: string): FieldError[] {
  const { addresses: ready = [], notReadyAddresses: notReady = [], ports = [] } = subset;
  return [
    ...(ready.length + notReady.length === 0
      ? [fieldError.required(field, "must specify `addresses` or `notReadyAddresses`")]
      : []),
    ...validateEach(ready, (address, at) => validateAddress(address, `${field}.addresses[${at}]`)),
    ...validateEach(notReady, (address, at) => validateAddress(address, `${field}.notReadyAddresses[${at}]`)),
    ...validateEndpointPorts(ports, `${field}.ports`),
  ];
}

function validateAddress({ ip, hostname, nodeName }: EndpointAddress, field: string): FieldError[] {
  return [
    ...validateStrictIp(ip, `${field}.ip`),
    ...validateText(hostname, dnsLabelProblems, `${field}.hostname`),
    ...(nodeName === undefined
      ? []
      : dnsSubdomainProblems(nodeName).map((problem) => fieldError.invalid(`${field}.nodeName`, nodeName, problem))),
    ...validateNonSpecialIp(ip, `${field}.ip`),
  ];
}
