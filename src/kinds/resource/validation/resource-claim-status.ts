import { type FieldError, fieldError } from "../../../api/field-error.ts";
import { equalJson, type JsonObject } from "../../../api/json.ts";
import type { KubeObject } from "../../../api/object-meta.ts";
import { validateBoundedList, validateBoundedSet } from "../../../api/validation/bounded-list.ts";
import { validateConditions } from "../../../api/validation/conditions.ts";
import {
  type RequestNames,
  requestNamesOf,
  validateRequestReference,
  validateRequestReferences,
} from "./device-claim.ts";
import { validateDeviceConfiguration, validateRawParameters } from "./device-configuration.ts";
import { validateDeviceLabel, validatePoolName } from "./device-names.ts";
import { immutableText } from "../../../api/validation/immutable.ts";
import { validateIp } from "../../../api/validation/ip.ts";
import { fieldsOf } from "../../../api/validation/key-values.ts";
import { validateNodeSelector } from "../../core/validation/node-selector.ts";
import {
  isPresent,
  objectsOf,
  requireTexts,
  textOf,
  textsOf,
  validateRequiredChoice,
} from "../../../api/validation/fields.ts";
import { validateCsiDriverName } from "../../core/validation/volume-source.ts";

const reservationsMax = 256;
const resultsMax = 32;
const configurationsMax = 64;
const conditionsMax = 8;
const interfaceNameBytesMax = 256;
const hardwareAddressBytesMax = 128;
const addressesMax = 16;
const devicesMax = 1024;
const sources = ["FromClaim", "FromClass"];
const field = "status";

/** What a claim was given is given for as long as it is set. */
export function validateResourceClaimStatus(claim: KubeObject, old?: KubeObject): FieldError[] {
  const [status, stored] = [fieldsOf(claim["status"]), fieldsOf(old?.["status"])];
  const names = requestNamesOf(fieldsOf(fieldsOf(claim["spec"])["devices"]));
  return [
    ...validateBoundedSet(
      objectsOf(status["reservedFor"]),
      {
        max: reservationsMax,
        keyOf: ({ uid }) => textOf(uid),
        validate: (user, path) => requireTexts(user, ["resource", "name", "uid"], path),
      },
      `${field}.reservedFor`,
    ),
    ...validateDevices(status),
    ...validateReservation(status, stored, claim.metadata.deletionTimestamp !== undefined),
    ...validateAllocation(status, stored, names),
  ];
}

function validateReservation(status: JsonObject, stored: JsonObject, isDeleting: boolean): FieldError[] {
  const users = objectsOf(status["reservedFor"]);
  if (users.length === 0) return [];
  if (!isPresent(status["allocation"])) {
    return [fieldError.forbidden(`${field}.reservedFor`, "may not be specified when `allocated` is not set")];
  }
  const before = objectsOf(stored["reservedFor"]);
  const added = users.filter((user) => !before.some((known) => equalJson(known, user)));
  if (!isDeleting || added.length === 0) return [];
  const text = "new entries may not be added while `deallocationRequested` or `deletionTimestamp` are set";
  return [fieldError.forbidden(`${field}.reservedFor`, text)];
}

function validateAllocation({ allocation }: JsonObject, stored: JsonObject, names: RequestNames): FieldError[] {
  if (!isPresent(allocation)) return [];
  if (isPresent(stored["allocation"])) {
    return equalJson(allocation, stored["allocation"])
      ? []
      : [fieldError.invalid(`${field}.allocation`, allocation, immutableText)];
  }
  const { devices, nodeSelector } = fieldsOf(allocation);
  const path = `${field}.allocation`;
  return [
    ...validateBoundedList(
      objectsOf(fieldsOf(devices)["results"]),
      resultsMax,
      (result, at) => validateResult(result, names, at),
      `${path}.devices.results`,
    ),
    ...validateBoundedList(
      objectsOf(fieldsOf(devices)["config"]),
      configurationsMax,
      (configuration, at) => [
        ...validateRequiredChoice(configuration["source"], sources, `${at}.source`),
        ...validateRequestReferences(configuration["requests"], names, `${at}.requests`),
        ...validateDeviceConfiguration(configuration, at),
      ],
      `${path}.devices.config`,
    ),
    ...(isPresent(nodeSelector) ? validateNodeSelector(nodeSelector, `${path}.nodeSelector`) : []),
  ];
}

function validateResult(result: JsonObject, names: RequestNames, path: string): FieldError[] {
  return [
    ...validateRequestReference(textOf(result["request"]), names, `${path}.request`),
    ...validateDeviceId(result, path),
  ];
}

function validateDeviceId({ driver, pool, device }: JsonObject, path: string): FieldError[] {
  return [
    ...validateCsiDriverName(textOf(driver), `${path}.driver`),
    ...validatePoolName(textOf(pool), `${path}.pool`),
    ...validateDeviceLabel(textOf(device), `${path}.device`),
  ];
}

/** Drivers report on the devices that the claim was given, and on no others. */
function validateDevices(status: JsonObject): FieldError[] {
  const allocated = new Set(
    objectsOf(fieldsOf(fieldsOf(status["allocation"])["devices"])["results"]).map((result) => deviceKey(result)),
  );
  const validate = (device: JsonObject, path: string) => [
    ...validateDeviceId(device, path),
    ...(allocated.has(deviceKey(device))
      ? []
      : [fieldError.invalid(path, deviceKey(device), "must be an allocated device in the claim")]),
    ...(objectsOf(device["conditions"]).length > conditionsMax
      ? [fieldError.tooMany(`${path}.conditions`, objectsOf(device["conditions"]).length, conditionsMax)]
      : []),
    ...validateConditions(device["conditions"], `${path}.conditions`),
    ...(isPresent(device["data"]) ? validateRawParameters(device["data"], `${path}.data`) : []),
    ...validateNetworkData(fieldsOf(device["networkData"]), `${path}.networkData`),
  ];
  return validateBoundedSet(
    objectsOf(status["devices"]),
    { max: devicesMax, keyOf: deviceKey, validate },
    `${field}.devices`,
  );
}

function deviceKey({ driver, pool, device, shareID }: JsonObject): string {
  const id = [driver, pool, device].map(textOf).join("/");
  return textOf(shareID) === "" ? id : `${id}/${textOf(shareID)}`;
}

function validateNetworkData({ interfaceName, hardwareAddress, ips }: JsonObject, path: string): FieldError[] {
  const tooLong = (value: string, max: number, name: string) =>
    Buffer.byteLength(value) > max ? [fieldError.tooLong(`${path}.${name}`, max)] : [];
  return [
    ...tooLong(textOf(interfaceName), interfaceNameBytesMax, "interfaceName"),
    ...tooLong(textOf(hardwareAddress), hardwareAddressBytesMax, "hardwareAddress"),
    ...validateBoundedSet(
      textsOf(ips),
      { max: addressesMax, keyOf: (ip) => ip, validate: validateInterfaceAddress },
      `${path}.ips`,
    ),
  ];
}

/** An address with the length of its network's prefix. */
function validateInterfaceAddress(text: string, path: string): FieldError[] {
  const [address = "", bits, ...rest] = text.split("/");
  const isForm = bits !== undefined && rest.length === 0 && /^[0-9]{1,3}$/.test(bits);
  if (isForm && validateIp(address, path).length === 0) return [];
  return [fieldError.invalid(path, text, "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)")];
}
