import { type FieldError, fieldError } from "../../../api/field-error.ts";
import type { JsonObject, JsonValue } from "../../../api/json.ts";
import type { KubeObject } from "../../../api/object-meta.ts";
import { validateImmutable } from "../../../api/validation/immutable.ts";
import { fieldsOf } from "../../../api/validation/key-values.ts";
import { isPresent, numberOf, objectsOf, textOf, textsOf } from "../../../api/validation/fields.ts";
import { validateEach } from "../../../api/validation/validate-each.ts";

const fsGroupPolicies = ["File", "None", "ReadWriteOnceWithFSType"];
const lifecycleModes = ["Persistent", "Ephemeral"];
const tokenSecondsMin = 600;
const tokenSecondsMax = 2 ** 32;
const allocatableUpdateSecondsMin = 10;

export function validateCsiDriver(driver: KubeObject): FieldError[] {
  const spec = fieldsOf(driver["spec"]);
  const { fsGroupPolicy, volumeLifecycleModes, nodeAllocatableUpdatePeriodSeconds: period } = spec;
  return [
    ...(isPresent(spec["attachRequired"]) ? [] : [fieldError.required("spec.attachedRequired")]),
    ...["podInfoOnMount", "storageCapacity"].flatMap((name) =>
      isPresent(spec[name]) ? [] : [fieldError.required(`spec.${name}`)],
    ),
    ...(isPresent(fsGroupPolicy) && !fsGroupPolicies.includes(textOf(fsGroupPolicy))
      ? [fieldError.notSupported("spec.fsGroupPolicy", fsGroupPolicy, fsGroupPolicies)]
      : []),
    ...validateTokenRequests(objectsOf(spec["tokenRequests"]), "spec.tokenRequests"),
    ...textsOf(volumeLifecycleModes)
      .filter((mode) => !lifecycleModes.includes(mode))
      .map((mode) => fieldError.notSupported("spec.volumeLifecycleModes", mode, lifecycleModes)),
    ...validatePeriod(period, "spec.nodeAllocatableUpdatePeriodSeconds"),
    ...validateTokensInSecrets(spec, "spec.serviceAccountTokenInSecrets"),
  ];
}

export function validateCsiDriverUpdate(driver: KubeObject, old: KubeObject): FieldError[] {
  const [fresh, stored] = [fieldsOf(driver["spec"]), fieldsOf(old["spec"])];
  return [
    ...validateImmutable(fresh["attachRequired"], stored["attachRequired"], "spec.attachedRequired"),
    ...validateImmutable(fresh["volumeLifecycleModes"], stored["volumeLifecycleModes"], "spec.volumeLifecycleModes"),
  ];
}

function validateTokenRequests(requests: readonly JsonObject[], field: string): FieldError[] {
  const audiences = new Set<string>();
  return validateEach(requests, ({ audience, expirationSeconds: seconds }, at) => {
    const name = textOf(audience);
    if (audiences.has(name)) return [fieldError.duplicate(`${field}[${at}].audience`, name)];
    audiences.add(name);
    if (!isPresent(seconds)) return [];
    const refuse = (text: string) => [fieldError.invalid(`${field}[${at}].expirationSeconds`, seconds, text)];
    if (numberOf(seconds) < tokenSecondsMin) return refuse("may not specify a duration less than 10 minutes");
    return numberOf(seconds) > tokenSecondsMax ? refuse("may not specify a duration larger than 2^32 seconds") : [];
  });
}

function validatePeriod(period: JsonValue | undefined, field: string): FieldError[] {
  if (!isPresent(period) || numberOf(period) >= allocatableUpdateSecondsMin) return [];
  return [fieldError.invalid(field, period, "must be greater than or equal to 10 seconds")];
}

/** Where tokens are put is only a question when there are any. */
function validateTokensInSecrets(spec: JsonObject, field: string): FieldError[] {
  const value = spec["serviceAccountTokenInSecrets"];
  if (!isPresent(value) || objectsOf(spec["tokenRequests"]).length > 0) return [];
  return [
    fieldError.invalid(field, value, "serviceAccountTokenInSecrets can only be set when tokenRequests is configured"),
  ];
}
