import { type FieldError, fieldError } from "../../../api/field-error.ts";
import { equalJson, type JsonObject } from "../../../api/json.ts";
import type * as resourceV1 from "../../../api/types/resource-v1.ts";
import { validateBoundedList, validateBoundedSet } from "../../../api/validation/bounded-list.ts";
import { validateConditions } from "../../../api/validation/conditions.ts";
import { requireTexts, validateRequiredChoice } from "../../../api/validation/field-rules.ts";
import { validateImmutable } from "../../../api/validation/immutable.ts";
import { validateNodeSelector } from "../../core/validation/node-selector.ts";
import { validateCsiDriverName } from "../../core/validation/volume-source.ts";
import { allocatedKeys, deviceKey, type SharedDevice } from "../device-key.ts";
import { validateBindingConditions } from "./binding-conditions.ts";
import {
  type RequestNames,
  requestNamesOf,
  validateRequestReference,
  validateRequestReferences,
} from "./device-claim.ts";
import { validateDeviceConfiguration, validateRawParameters } from "./device-configuration.ts";
import { validateDeviceLabel, validatePoolName } from "./device-names.ts";
import { validateNetworkData } from "./network-device-data.ts";
import { validateShareId } from "./share-id.ts";

const reservationsMax = 256;
const resultsMax = 32;
const configurationsMax = 64;
const conditionsMax = 8;
const devicesMax = 1024;
const sources = ["FromClaim", "FromClass"];
const field = "status";

type Status = resourceV1.ResourceClaimStatus;

/** Validates the status of a claim. An allocation cannot change while it exists. */
export function validateResourceClaimStatus(
  claim: resourceV1.ResourceClaim,
  old?: resourceV1.ResourceClaim,
): FieldError[] {
  const [status, stored] = [claim.status ?? {}, old?.status ?? {}];
  return [
    ...validateBoundedSet(
      status.reservedFor ?? [],
      {
        max: reservationsMax,
        keyOf: ({ uid }) => uid,
        validate: (user, path) => requireTexts(user, ["resource", "name", "uid"], path),
      },
      `${field}.reservedFor`,
    ),
    ...validateDevices(status),
    ...validateReservation(status, stored, claim.metadata.deletionTimestamp !== undefined),
    ...validateAllocation(status.allocation, stored.allocation, requestNamesOf(claim.spec.devices ?? {})),
  ];
}

function validateReservation(status: Status, stored: Status, isDeleting: boolean): FieldError[] {
  const { reservedFor: users = [] } = status;
  if (users.length === 0) return [];
  if (status.allocation === undefined) {
    return [fieldError.forbidden(`${field}.reservedFor`, "may not be specified when `allocated` is not set")];
  }
  const { reservedFor: before = [] } = stored;
  const added = users.filter((user) => !before.some((known) => equalJson(known, user)));
  if (!isDeleting || added.length === 0) return [];
  const text = "new entries may not be added while `deallocationRequested` or `deletionTimestamp` are set";
  return [fieldError.forbidden(`${field}.reservedFor`, text)];
}

function validateAllocation(
  allocation: resourceV1.AllocationResult | undefined,
  stored: resourceV1.AllocationResult | undefined,
  names: RequestNames,
): FieldError[] {
  if (allocation === undefined) return [];
  const path = `${field}.allocation`;
  if (stored !== undefined) {
    return validateImmutable(allocation, stored, path, "resource/v1.AllocationResult");
  }
  const { results = [], config = [] } = allocation.devices ?? {};
  return [
    ...validateBoundedList(
      results,
      resultsMax,
      (result, at) => validateResult(result, names, at),
      `${path}.devices.results`,
    ),
    ...validateBoundedList(
      config,
      configurationsMax,
      (configuration, at) => [
        ...validateRequiredChoice(configuration.source, sources, `${at}.source`),
        ...validateRequestReferences(configuration.requests ?? [], names, `${at}.requests`),
        ...validateDeviceConfiguration(configuration, at),
      ],
      `${path}.devices.config`,
    ),
    ...(allocation.nodeSelector === undefined
      ? []
      : validateNodeSelector(allocation.nodeSelector, `${path}.nodeSelector`)),
  ];
}

function validateResult(
  result: resourceV1.DeviceRequestAllocationResult,
  names: RequestNames,
  path: string,
): FieldError[] {
  return [
    ...validateRequestReference(result.request, names, `${path}.request`),
    ...validateDeviceId(result, path),
    ...validateBindingConditions(result, path),
    ...validateShareId(result.shareID, `${path}.shareID`),
  ];
}

function validateDeviceId({ driver, pool, device }: SharedDevice, path: string): FieldError[] {
  return [
    ...validateCsiDriverName(driver, `${path}.driver`),
    ...validatePoolName(pool, `${path}.pool`),
    ...validateDeviceLabel(device, `${path}.device`),
  ];
}

/** Drivers report on the devices that the claim was given, and on no others. */
function validateDevices(status: Status): FieldError[] {
  const { devices = [] } = status;
  const allocated = allocatedKeys(status);
  const validate = (device: resourceV1.AllocatedDeviceStatus, path: string) => {
    const { data, networkData = {} } = device;
    const conditions = device.conditions ?? [];
    return [
      ...validateDeviceId(device, path),
      ...validateShareId(device.shareID, `${path}.shareID`),
      ...(allocated.has(deviceKey(device))
        ? []
        : [fieldError.invalid(path, shownId(device), "must be an allocated device in the claim")]),
      ...(conditions.length > conditionsMax
        ? [fieldError.tooMany(`${path}.conditions`, conditions.length, conditionsMax)]
        : []),
      ...validateConditions(conditions, `${path}.conditions`),
      ...(data === undefined ? [] : validateRawParameters(data, `${path}.data`)),
      ...validateNetworkData(networkData, `${path}.networkData`),
    ];
  };
  return validateBoundedSet(
    devices,
    { max: devicesMax, keyOf: deviceKey, shownKey: shownId, validate },
    `${field}.devices`,
  );
}

/** Upstream shows the identifier as a struct. */
function shownId({ driver, pool, device, shareID = "" }: SharedDevice): JsonObject {
  return { Driver: driver, Pool: pool, Device: device, ShareID: shareID };
}
