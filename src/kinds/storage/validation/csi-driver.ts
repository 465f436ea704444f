import { type FieldError, fieldError } from "../../../api/field-error.ts";
import type * as storageV1 from "../../../api/types/storage-v1.ts";
import { validateImmutable } from "../../../api/validation/immutable.ts";
import { validateEach } from "../../../api/validation/validate-each.ts";

const fsGroupPolicies = ["File", "None", "ReadWriteOnceWithFSType"];
const lifecycleModes = ["Persistent", "Ephemeral"];
const tokenSecondsMin = 600;
const tokenSecondsMax = 2 ** 32;
const allocatableUpdateSecondsMin = 10;

export function validateCsiDriver({ spec }: storageV1.CSIDriver): FieldError[] {
  const { fsGroupPolicy, volumeLifecycleModes = [], tokenRequests = [] } = spec;
  return [
    ...(spec.attachRequired === undefined ? [fieldError.required("spec.attachedRequired")] : []),
    ...(spec.podInfoOnMount === undefined ? [fieldError.required("spec.podInfoOnMount")] : []),
    ...(spec.storageCapacity === undefined ? [fieldError.required("spec.storageCapacity")] : []),
    ...(fsGroupPolicy !== undefined && !fsGroupPolicies.includes(fsGroupPolicy)
      ? [fieldError.notSupported("spec.fsGroupPolicy", fsGroupPolicy, fsGroupPolicies)]
      : []),
    ...validateTokenRequests(tokenRequests, "spec.tokenRequests"),
    ...volumeLifecycleModes
      .filter((mode) => !lifecycleModes.includes(mode))
      .map((mode) => fieldError.notSupported("spec.volumeLifecycleModes", mode, lifecycleModes)),
    ...validatePeriod(spec.nodeAllocatableUpdatePeriodSeconds, "spec.nodeAllocatableUpdatePeriodSeconds"),
    ...validateTokensInSecrets(spec, "spec.serviceAccountTokenInSecrets"),
  ];
}

export function validateCsiDriverUpdate(driver: storageV1.CSIDriver, old: storageV1.CSIDriver): FieldError[] {
  const [fresh, stored] = [driver.spec, old.spec];
  return [
    ...validateImmutable(fresh.attachRequired, stored.attachRequired, "spec.attachedRequired"),
    ...validateImmutable(fresh.volumeLifecycleModes, stored.volumeLifecycleModes, "spec.volumeLifecycleModes"),
  ];
}

function validateTokenRequests(requests: readonly storageV1.TokenRequest[], field: string): FieldError[] {
  const audiences = new Set<string>();
  return validateEach(requests, ({ audience, expirationSeconds: seconds }, at) => {
    if (audiences.has(audience)) return [fieldError.duplicate(`${field}[${at}].audience`, audience)];
    audiences.add(audience);
    if (seconds === undefined) return [];
    const refuse = (text: string) => [fieldError.invalid(`${field}[${at}].expirationSeconds`, seconds, text)];
    if (seconds < tokenSecondsMin) return refuse("may not specify a duration less than 10 minutes");
    return seconds > tokenSecondsMax ? refuse("may not specify a duration larger than 2^32 seconds") : [];
  });
}

function validatePeriod(period: number | bigint | undefined, field: string): FieldError[] {
  if (period === undefined || period >= allocatableUpdateSecondsMin) return [];
  return [fieldError.invalid(field, period, "must be greater than or equal to 10 seconds")];
}

/** `serviceAccountTokenInSecrets` is allowed only together with `tokenRequests`. */
function validateTokensInSecrets(spec: storageV1.CSIDriverSpec, field: string): FieldError[] {
  const { serviceAccountTokenInSecrets: value, tokenRequests = [] } = spec;
  if (value === undefined || tokenRequests.length > 0) return [];
  return [fieldError.invalid(field, value, "serviceAccountTokenInSecrets is set but no tokenRequests are specified")];
}
