import { type FieldError, fieldError } from "../../../api/field-error.ts";
import type { Volume } from "../../../api/types/core-v1.ts";
import { fieldErrorsMax } from "../../../api/validation/labels.ts";
import { dnsLabelProblems, dnsSubdomainProblems } from "../../../api/validation/names.ts";
import type { VolumesByName } from "./volume-mounts.ts";
import { type VolumeSourceName, type VolumeSources, volumeSourceRules } from "./volume-source.ts";

/** Sources whose fields upstream names by another path. */
const pathOfSource: Readonly<Record<string, string>> = { gcePersistentDisk: "persistentDisk" };
/** Sources that upstream spells differently in the error for a second source. */
const pathOfSurplus: Readonly<Record<string, string>> = { cephfs: "cephFS", downwardAPI: "downwarAPI" };
const iscsiNameCharactersMax = 64;
const sourceNames = Object.keys(volumeSourceRules) as VolumeSourceName[];

export interface CheckedVolumes {
  /** The valid volumes only. A mount of another one names a volume that does not exist. */
  readonly volumes: VolumesByName;
  readonly errors: FieldError[];
}

/** Validates the volumes of a pod: unique names and one source each. The name of a pod becomes part of its claims' names. */
export function validateVolumes(
  list: readonly Volume[],
  { podName, isPod }: { podName: string; isPod: boolean },
  field: string,
): CheckedVolumes {
  const volumes = new Map<string, Volume>();
  const errors: FieldError[] = [];
  const created = new Set(
    list.filter(({ ephemeral }) => ephemeral !== undefined).map(({ name }) => `${podName}-${name}`),
  );
  for (const [at, volume] of list.entries()) {
    const item = `${field}[${at}]`;
    const problems = [
      ...validateSources(volume, { podName, isPod }, item),
      ...validateVolumeName(volume.name, volumes, `${item}.name`),
    ];
    if (problems.length === 0) volumes.set(volume.name, volume);
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

/** Rejects the claim of the pod's own ephemeral volume where an existing claim is wanted. */
function validateClaimNotCreated(
  { persistentVolumeClaim }: Volume,
  created: ReadonlySet<string>,
  field: string,
): FieldError[] {
  const { claimName: claim = "" } = persistentVolumeClaim ?? {};
  if (claim === "" || !created.has(claim)) return [];
  const text = "must not reference a PVC that gets created for an ephemeral volume";
  return [fieldError.invalid(`${field}.persistentVolumeClaim.claimName`, claim, text)];
}

function validateSources(
  volume: Volume,
  { podName, isPod }: { podName: string; isPod: boolean },
  field: string,
): FieldError[] {
  const names = sourceNames.filter((name) => volume[name] !== undefined);
  if (names.length === 0) return [fieldError.required(field, "must specify a volume type")];
  return names.flatMap((name, at) => {
    const errors =
      at === 0
        ? validateSource(volume, name, `${field}.${pathOfSource[name] ?? name}`)
        : [fieldError.forbidden(`${field}.${pathOfSurplus[name] ?? name}`, "may not specify more than 1 volume type")];
    if (name === "iscsi") errors.push(...validateIscsiName(volume, field));
    if (at > 0) return errors;
    if (name === "ephemeral") errors.push(...validateClaimName(podName, volume.name, field));
    if (name === "image" && isPod && (volume.image?.reference ?? "") === "") {
      errors.unshift(fieldError.required(`${field}.image.reference`));
    }
    return errors;
  });
}

function validateSource<Name extends VolumeSourceName>(
  volume: Partial<VolumeSources>,
  name: Name,
  field: string,
): FieldError[] {
  const source = volume[name];
  return source === undefined ? [] : volumeSourceRules[name](source, field);
}

function validateIscsiName({ name: volumeName, iscsi }: Volume, field: string): FieldError[] {
  if (iscsi?.initiatorName === undefined) return [];
  const name = `${volumeName}:${iscsi.targetPortal}`;
  if (name.length <= iscsiNameCharactersMax) return [];
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
