import { type FieldError, fieldError } from "../../../api/field-error.ts";
import type { JsonObject, JsonValue } from "../../../api/json.ts";
import { isPresent, objectOf, objectsOf, textOf } from "../../../api/json-reading.ts";
import { fieldErrorsMax } from "../../../api/validation/labels.ts";
import { dnsLabelProblems, dnsSubdomainProblems } from "../../../api/validation/names.ts";
import type { VolumesByName } from "./volume-mounts.ts";
import { volumeSourceRules } from "./volume-source.ts";

/** Sources whose fields upstream names by another path. */
const pathOfSource: Readonly<Record<string, string>> = { gcePersistentDisk: "persistentDisk" };
/** Sources that upstream spells in its own way when they are one too many. */
const pathOfSurplus: Readonly<Record<string, string>> = { cephfs: "cephFS", downwardAPI: "downwarAPI" };
const iscsiNameCharactersMax = 64;

export interface CheckedVolumes {
  /** Only the valid ones: a mount of another does not exist. */
  readonly volumes: VolumesByName;
  readonly errors: FieldError[];
}

/** Volumes of a pod: unique names, and one source each. A pod that has a name already gives it to its claims. */
export function validateVolumes(
  value: JsonValue | undefined,
  { podName, isPod }: { podName: string; isPod: boolean },
  field: string,
): CheckedVolumes {
  const volumes = new Map<string, JsonObject>();
  const errors: FieldError[] = [];
  const list = objectsOf(value);
  const created = new Set(
    list.filter((volume) => isPresent(volume["ephemeral"])).map((volume) => `${podName}-${textOf(volume["name"])}`),
  );
  for (const [at, volume] of list.entries()) {
    const item = `${field}[${at}]`;
    const problems = [
      ...validateSources(volume, { podName, isPod }, item),
      ...validateVolumeName(textOf(volume["name"]), volumes, `${item}.name`),
    ];
    if (problems.length === 0) volumes.set(textOf(volume["name"]), volume);
    errors.push(...problems, ...(podName === "" ? [] : validateClaimNotCreated(volume, created, item)));
    if (errors.length >= fieldErrorsMax) break;
  }
  return { volumes, errors };
}

function validateVolumeName(name: string, volumes: VolumesByName, field: string): FieldError[] {
  const errors = name === "" ? [fieldError.required(field)] : [];
  if (name !== "") errors.push(...dnsLabelProblems(name).map((problem) => fieldError.invalid(field, name, problem)));
  if (volumes.has(name)) errors.push(fieldError.duplicate(field, name));
  return errors;
}

/** A claim that the pod's own ephemeral volume will become cannot be used as one that exists. */
function validateClaimNotCreated(volume: JsonObject, created: ReadonlySet<string>, field: string): FieldError[] {
  const claim = textOf(objectOf(volume["persistentVolumeClaim"])["claimName"]);
  if (claim === "" || !created.has(claim)) return [];
  const text = "must not reference a PVC that gets created for an ephemeral volume";
  return [fieldError.invalid(`${field}.persistentVolumeClaim.claimName`, claim, text)];
}

function validateSources(
  volume: JsonObject,
  { podName, isPod }: { podName: string; isPod: boolean },
  field: string,
): FieldError[] {
  const names = Object.keys(volumeSourceRules).filter((name) => isPresent(volume[name]));
  if (names.length === 0) return [fieldError.required(field, "must specify a volume type")];
  return names.flatMap((name, at) => {
    const source = objectOf(volume[name]);
    const errors =
      at === 0
        ? (volumeSourceRules[name]?.(source, `${field}.${pathOfSource[name] ?? name}`) ?? [])
        : [fieldError.forbidden(`${field}.${pathOfSurplus[name] ?? name}`, "may not specify more than 1 volume type")];
    if (name === "iscsi") errors.push(...validateIscsiName(source, textOf(volume["name"]), field));
    if (at > 0) return errors;
    if (name === "ephemeral") errors.push(...validateClaimName(podName, textOf(volume["name"]), field));
    if (name === "image" && isPod && textOf(source["reference"]) === "") {
      errors.unshift(fieldError.required(`${field}.image.reference`));
    }
    return errors;
  });
}

function validateIscsiName(source: JsonObject, volumeName: string, field: string): FieldError[] {
  const name = `${volumeName}:${textOf(source["targetPortal"])}`;
  if (!isPresent(source["initiatorName"]) || name.length <= iscsiNameCharactersMax) return [];
  const text =
    "Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if iscsi.initiatorName is specified.";
  return [fieldError.invalid(`${field}.name`, volumeName, text)];
}

function validateClaimName(podName: string, volumeName: string, field: string): FieldError[] {
  if (podName === "" || volumeName === "") return [];
  const claim = `${podName}-${volumeName}`;
  return dnsSubdomainProblems(claim).map((problem) =>
    fieldError.invalid(`${field}.name`, volumeName, `PVC name ${JSON.stringify(claim)}: ${problem}`),
  );
}
