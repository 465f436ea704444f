import { type FieldError, fieldError } from "../../../api/field-error.ts";
import type * as resourceV1 from "../../../api/types/resource-v1.ts";
import { validateBoundedSet } from "../../../api/validation/bounded-list.ts";
import { parseCidr } from "../../../api/validation/ip.ts";

const interfaceNameBytesMax = 256;
const hardwareAddressBytesMax = 128;
const addressesMax = 16;

/** Validates a driver's report on a network device. */
export function validateNetworkData(data: resourceV1.NetworkDeviceData, path: string): FieldError[] {
  const { interfaceName = "", hardwareAddress = "", ips = [] } = data;
  const tooLong = (value: string, max: number, name: string) =>
    Buffer.byteLength(value) > max ? [fieldError.tooLong(`${path}.${name}`, max)] : [];
  return [
    ...tooLong(interfaceName, interfaceNameBytesMax, "interfaceName"),
    ...tooLong(hardwareAddress, hardwareAddressBytesMax, "hardwareAddress"),
    ...validateBoundedSet(
      ips,
      { max: addressesMax, keyOf: (ip) => ip, validate: validateInterfaceAddress },
      `${path}.ips`,
    ),
  ];
}

/** An address of an interface comes with the length of its network's prefix. */
function validateInterfaceAddress(text: string, path: string): FieldError[] {
  const cidr = parseCidr(text);
  if (cidr === undefined) {
    const detail = "must be a valid address in CIDR form, (e.g. 10.9.8.7/24 or 2001:db8::1/64)";
    return [fieldError.invalid(path, text, detail)];
  }
  const canonical = `${cidr.address.text}/${cidr.prefixBits}`;
  if (canonical === text) return [];
  return [fieldError.invalid(path, text, `must be in canonical form (${JSON.stringify(canonical)})`)];
}
