import { type FieldError, fieldError } from "../../../api/field-error.ts";
import type * as core from "../../../api/types/core-v1.ts";
import { requireTexts, validateText } from "../../../api/validation/field-rules.ts";
import { validateNoBacksteps } from "../../../api/validation/local-path.ts";
import { dnsLabelProblems, dnsSubdomainProblems } from "../../../api/validation/names.ts";
import { validateCsiDriverName, validateIscsi, volumeSourceRules, type WithSecret } from "./volume-source.ts";

/** Fields of a spec that are not sources. */
type OtherField =
  | "accessModes"
  | "capacity"
  | "claimRef"
  | "mountOptions"
  | "nodeAffinity"
  | "persistentVolumeReclaimPolicy"
  | "storageClassName"
  | "volumeAttributesClassName"
  | "volumeMode";
type PersistentSources = Required<Omit<core.PersistentVolumeSpec, OtherField>>;
type PersistentSourceName = keyof PersistentSources;

/** Rules of the sources, in the order in which upstream looks for them. */
const persistentSourceRules: {
  readonly [Name in PersistentSourceName]: (source: PersistentSources[Name], field: string) => FieldError[];
} = {
  hostPath: volumeSourceRules.hostPath,
  gcePersistentDisk: volumeSourceRules.gcePersistentDisk,
  awsElasticBlockStore: volumeSourceRules.awsElasticBlockStore,
  glusterfs: validateGlusterfs,
  flocker: volumeSourceRules.flocker,
  nfs: volumeSourceRules.nfs,
  rbd: volumeSourceRules.rbd,
  quobyte: volumeSourceRules.quobyte,
  cephfs: volumeSourceRules.cephfs,
  iscsi: (source, field) => validateIscsi(source, field, "must be valid format"),
  cinder: (source, field) => [...volumeSourceRules.cinder(source, field), ...requireSecretNamespace(source, field)],
  fc: volumeSourceRules.fc,
  flexVolume: volumeSourceRules.flexVolume,
  azureFile: validateAzureFile,
  vsphereVolume: volumeSourceRules.vsphereVolume,
  photonPersistentDisk: volumeSourceRules.photonPersistentDisk,
  portworxVolume: volumeSourceRules.portworxVolume,
  azureDisk: volumeSourceRules.azureDisk,
  scaleIO: (source, field) => requireTexts(source, ["gateway", "system", "volumeName"], field),
  local: validateLocal,
  storageos: (source, field) => [
    ...volumeSourceRules.storageos(source, field),
    ...requireSecretNamespace(source, field),
  ],
  csi: validateCsi,
};

const sourceNames = Object.keys(persistentSourceRules) as PersistentSourceName[];
export const persistentSourceNames: ReadonlySet<string> = new Set(sourceNames);

/** Paths of sources that upstream spells differently from the field. */
const pathNames: Readonly<Record<string, string>> = { gcePersistentDisk: "persistentDisk" };
const surplusNames: Readonly<Record<string, string>> = { cephfs: "cephFS" };

/** Validates the only source. A local volume must also name its nodes. */
export function validatePersistentSource(spec: core.PersistentVolumeSpec, field: string): FieldError[] {
  const names = sourceNames.filter((name) => spec[name] !== undefined);
  if (names.length === 0) return [fieldError.required(field, "must specify a volume type")];
  return names.flatMap((name, at) => {
    // Upstream accepts a flex volume beside another source.
    if (at > 0 && name !== "flexVolume") {
      const text = "may not specify more than 1 volume type";
      return [fieldError.forbidden(`${field}.${surplusNames[name] ?? name}`, text)];
    }
    const errors = validateOneSource(spec, name, `${field}.${pathNames[name] ?? name}`);
    if (name !== "local" || spec.nodeAffinity !== undefined) return errors;
    return [...errors, fieldError.required(`${field}.nodeAffinity`, "Local volume requires node affinity")];
  });
}

function validateOneSource<Name extends PersistentSourceName>(
  sources: Partial<PersistentSources>,
  name: Name,
  field: string,
): FieldError[] {
  const source = sources[name];
  return source === undefined ? [] : persistentSourceRules[name](source, field);
}

/** Requires the namespace of a secret: persistent volumes have none in which to look for it. */
function requireSecretNamespace({ secretRef }: WithSecret, field: string): FieldError[] {
  return secretRef === undefined ? [] : requireTexts(secretRef, ["namespace"], `${field}.secretRef`);
}

function validateGlusterfs(source: core.GlusterfsPersistentVolumeSource, field: string): FieldError[] {
  const errors = requireTexts(source, ["endpoints", "path"], field);
  const { endpointsNamespace: namespace } = source;
  if (namespace === undefined) return errors;
  if (namespace === "") {
    const text = "if the endpointnamespace is set, it must be a valid namespace name";
    return [...errors, fieldError.invalid(`${field}.endpointsNamespace`, namespace, text)];
  }
  return [...errors, ...validateText(namespace, dnsLabelProblems, `${field}.endpointsNamespace`)];
}

function validateAzureFile(source: core.AzureFilePersistentVolumeSource, field: string): FieldError[] {
  const errors = requireTexts(source, ["secretName", "shareName"], field);
  return source.secretNamespace === "" ? [...errors, fieldError.required(`${field}.secretNamespace`)] : errors;
}

function validateLocal({ path }: core.LocalVolumeSource, field: string): FieldError[] {
  return path === "" ? [fieldError.required(`${field}.path`)] : validateNoBacksteps(path, `${field}.path`);
}

const csiSecrets = [
  "controllerPublishSecretRef",
  "controllerExpandSecretRef",
  "nodePublishSecretRef",
  "nodeExpandSecretRef",
] as const;

function validateCsi(source: core.CSIPersistentVolumeSource, field: string): FieldError[] {
  return [
    ...validateCsiDriverName(source.driver, `${field}.driver`),
    ...requireTexts(source, ["volumeHandle"], field),
    ...csiSecrets.flatMap((name) => validateSecretReference(source[name], `${field}.${name}`)),
  ];
}

function validateSecretReference(reference: core.SecretReference | undefined, field: string): FieldError[] {
  if (reference === undefined) return [];
  return [
    ...requireTexts(reference, ["name"], field),
    ...validateText(reference.name, dnsSubdomainProblems, `${field}.name`),
    ...requireTexts(reference, ["namespace"], field),
    ...validateText(reference.namespace, dnsLabelProblems, `${field}.namespace`),
  ];
}
