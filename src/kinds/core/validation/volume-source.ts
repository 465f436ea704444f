import { type FieldError, fieldError } from "../../../api/field-error.ts";
import type * as core from "../../../api/types/core-v1.ts";
import {
  requireTexts,
  validateChoice,
  validateRange,
  validateRequiredChoice,
  validateText,
} from "../../../api/validation/field-rules.ts";
import { validateDescendingPath, validateNoBacksteps } from "../../../api/validation/local-path.ts";
import { dnsLabelProblems, dnsSubdomainProblems } from "../../../api/validation/names.ts";
import { parsedQuantity } from "../../../api/validation/quantity.ts";
import { validateClaimTemplate } from "./claim-template.ts";
import { pullPolicies } from "./container.ts";
import { validateDownwardFiles } from "./downward-volume.ts";
import { validateFileMode, validateKeysToPaths } from "./key-reference.ts";
import { validateProjectedVolume } from "./projected-volume.ts";

/** Sources of a pod's volume, by field. */
export type VolumeSources = Required<Omit<core.Volume, "name">>;
export type VolumeSourceName = keyof VolumeSources;

/** The empty text is also a type. */
const hostPathTypes = [
  "",
  "BlockDevice",
  "CharDevice",
  "Directory",
  "DirectoryOrCreate",
  "File",
  "FileOrCreate",
  "Socket",
];
const csiDriverBytesMax = 63;
const lunRange = { min: 0, max: 255 };

/** The rules of the sources, in the order in which upstream looks for them. Persistent volumes share most of them. */
export const volumeSourceRules: {
  readonly [Name in VolumeSourceName]: (source: VolumeSources[Name], field: string) => FieldError[];
} = {
  emptyDir: validateEmptyDir,
  hostPath: validateHostPath,
  gitRepo: (source, field) => [
    ...requireTexts(source, ["repository"], field),
    ...validateDescendingPath(source.directory ?? "", `${field}.directory`),
  ],
  gcePersistentDisk: (source, field) => [
    ...requireTexts(source, ["pdName"], field),
    ...validatePartition(source, field),
  ],
  awsElasticBlockStore: (source, field) => [
    ...requireTexts(source, ["volumeID"], field),
    ...validatePartition(source, field),
  ],
  secret: (source, field) => [...requireTexts(source, ["secretName"], field), ...validateFiles(source, field)],
  nfs: validateNfs,
  iscsi: (source, field) => validateIscsi(source, field, "must be valid format starting with iqn, eui, or naa"),
  glusterfs: (source, field) => requireTexts(source, ["endpoints", "path"], field),
  flocker: validateFlocker,
  persistentVolumeClaim: (source, field) => requireTexts(source, ["claimName"], field),
  rbd: (source, field) => [...requireMonitors(source, field), ...requireTexts(source, ["image"], field)],
  cinder: (source, field) => [...requireTexts(source, ["volumeID"], field), ...requireSecretName(source, field)],
  cephfs: requireMonitors,
  quobyte: validateQuobyte,
  downwardAPI: (source, field) => [
    ...validateFileMode(source.defaultMode, `${field}.defaultMode`),
    ...validateDownwardFiles(source.items ?? [], field),
  ],
  fc: validateFibreChannel,
  flexVolume: validateFlexVolume,
  configMap: (source, field) => [...requireTexts(source, ["name"], field), ...validateFiles(source, field)],
  azureFile: (source, field) => requireTexts(source, ["secretName", "shareName"], field),
  vsphereVolume: (source, field) => requireTexts(source, ["volumePath"], field),
  photonPersistentDisk: (source, field) => requireTexts(source, ["pdID"], field),
  portworxVolume: (source, field) => requireTexts(source, ["volumeID"], field),
  azureDisk: validateAzureDisk,
  storageos: validateStorageOs,
  projected: validateProjectedVolume,
  scaleIO: (source, field) => requireTexts(source, ["gateway", "system", "volumeName"], field),
  csi: (source, field) => [
    ...validateCsiDriverName(source.driver, `${field}.driver`),
    ...validateCsiSecret(source, field),
  ],
  ephemeral: ({ volumeClaimTemplate: template }, field) =>
    template === undefined
      ? [fieldError.required(`${field}.volumeClaimTemplate`)]
      : validateClaimTemplate(template, `${field}.volumeClaimTemplate`),
  image: ({ pullPolicy }, field) => validateRequiredChoice(pullPolicy, pullPolicies, `${field}.pullPolicy`),
};

export function validateCsiDriverName(name: string, field: string): FieldError[] {
  if (name === "") return [fieldError.required(field)];
  return [
    ...(Buffer.byteLength(name) > csiDriverBytesMax ? [fieldError.tooLong(field, csiDriverBytesMax)] : []),
    ...dnsSubdomainProblems(name.toLowerCase()).map((problem) => fieldError.invalid(field, name, problem)),
  ];
}

function validateEmptyDir({ sizeLimit }: core.EmptyDirVolumeSource, field: string): FieldError[] {
  const limit = parsedQuantity(sizeLimit);
  if (limit === undefined || limit.nanos >= 0n) return [];
  return [fieldError.forbidden(`${field}.sizeLimit`, "SizeLimit field must be a valid resource quantity")];
}

function validateHostPath({ path, type }: core.HostPathVolumeSource, field: string): FieldError[] {
  if (path === "") return [fieldError.required(`${field}.path`)];
  return [...validateNoBacksteps(path, `${field}.path`), ...validateChoice(type, hostPathTypes, `${field}.type`)];
}

function validatePartition({ partition = 0 }: { readonly partition?: number }, field: string): FieldError[] {
  if (partition >= 0 && partition <= 255) return [];
  return [fieldError.invalid(`${field}.partition`, partition, "must be between 1 and 255, inclusive")];
}

/** Validates keys of a ConfigMap or Secret as files. */
function validateFiles(
  { defaultMode, items = [] }: core.ConfigMapVolumeSource | core.SecretVolumeSource,
  field: string,
): FieldError[] {
  return [...validateFileMode(defaultMode, `${field}.defaultMode`), ...validateKeysToPaths(items, `${field}.items`)];
}

function validateNfs(source: core.NFSVolumeSource, field: string): FieldError[] {
  const { path } = source;
  const errors = requireTexts(source, ["server", "path"], field);
  if (!path.startsWith("/")) errors.push(fieldError.invalid(`${field}.path`, path, "must be an absolute path"));
  return errors;
}

/** The part that sources of pods and of persistent volumes have in common. */
type Iscsi = Omit<core.ISCSIVolumeSource, "secretRef"> & WithSecret;

/** @param formText what is wrong with a name of an unknown form, which upstream says in two ways */
export function validateIscsi(source: Iscsi, field: string, formText: string): FieldError[] {
  const { iqn, lun, chapAuthDiscovery, chapAuthSession, secretRef, initiatorName } = source;
  const errors = requireTexts(source, ["targetPortal", "iqn"], field);
  if (iqn !== "") errors.push(...validateIscsiName(iqn, `${field}.iqn`, formText));
  errors.push(...validateRange(lun, lunRange, `${field}.lun`));
  const usesChap = chapAuthDiscovery === true || chapAuthSession === true;
  if (usesChap && secretRef === undefined) errors.push(fieldError.required(`${field}.secretRef`));
  if (initiatorName === undefined) return errors;
  return [...errors, ...validateIscsiName(initiatorName, `${field}.initiatorname`, formText)];
}

function validateIscsiName(name: string, field: string, formText: string): FieldError[] {
  const form = iscsiForms[name.slice(0, 3)];
  if (form === undefined) return [fieldError.invalid(field, name, formText)];
  return form(name) ? [] : [fieldError.invalid(field, name, "must be valid format")];
}

const iscsiForms: Readonly<Record<string, (name: string) => boolean>> = {
  iqn: (name) => /^iqn\.\d{4}-\d{2}\.[0-9A-Za-z.-]+:[^,;*&$|\s]+$/.test(name),
  eui: (name) => /^eui.[0-9A-Za-z]{16}$/.test(name),
  naa: (name) => /^naa.[0-9A-Za-z]{32}$/.test(name),
};

function validateFlocker(source: core.FlockerVolumeSource, field: string): FieldError[] {
  const { datasetName: name = "", datasetUUID: id = "" } = source;
  const errors: FieldError[] = [];
  if (name === "" && id === "") {
    errors.push(fieldError.required(field, "one of datasetName and datasetUUID is required"));
  }
  if (name !== "" && id !== "") {
    const text = "datasetName and datasetUUID can not be specified simultaneously";
    errors.push(fieldError.invalid(field, "resource", text));
  }
  if (name.includes("/")) errors.push(fieldError.invalid(`${field}.datasetName`, name, "must not contain '/'"));
  return errors;
}

function requireMonitors({ monitors }: { readonly monitors: string[] | null }, field: string): FieldError[] {
  return (monitors ?? []).length === 0 ? [fieldError.required(`${field}.monitors`)] : [];
}

/** A source that names a secret, in its own namespace or in another. */
export type WithSecret = { secretRef?: core.SecretReference };

function requireSecretName({ secretRef }: WithSecret, field: string): FieldError[] {
  return secretRef === undefined ? [] : requireTexts(secretRef, ["name"], `${field}.secretRef`);
}

function validateQuobyte(source: core.QuobyteVolumeSource, field: string): FieldError[] {
  const { registry, tenant = "" } = source;
  const text = "must be a host:port pair or multiple pairs separated by commas";
  const errors: FieldError[] = [];
  if (registry === "") errors.push(fieldError.required(`${field}.registry`, text));
  else if (tenant.length > 64) {
    errors.push(fieldError.required(`${field}.tenant`, "must be a UUID and may not exceed a length of 64 characters"));
  } else if (!registry.split(",").every(isHostAndPort)) {
    errors.push(fieldError.invalid(`${field}.registry`, registry, text));
  }
  return [...errors, ...requireTexts(source, ["volume"], field)];
}

/** `host:port` or `[ipv6]:port`. */
function isHostAndPort(text: string): boolean {
  return /^(\[[^[\]]*\]|[^:[\]]*):[^:]*$/.test(text);
}

function validateFibreChannel(source: core.FCVolumeSource, field: string): FieldError[] {
  const { targetWWNs: names = [], wwids: ids = [], lun } = source;
  const errors: FieldError[] = [];
  if (names.length === 0 && ids.length === 0) {
    errors.push(fieldError.required(`${field}.targetWWNs`, "must specify either targetWWNs or wwids, but not both"));
  }
  if (names.length > 0 && ids.length > 0) {
    const text = "targetWWNs and wwids can not be specified simultaneously";
    errors.push(fieldError.invalid(`${field}.targetWWNs`, names, text));
  }
  if (names.length === 0) return errors;
  if (lun !== undefined) return [...errors, ...validateRange(lun, lunRange, `${field}.lun`)];
  return [...errors, fieldError.required(`${field}.lun`, "lun is required if targetWWNs is specified")];
}

function validateFlexVolume(
  source: core.FlexVolumeSource | core.FlexPersistentVolumeSource,
  field: string,
): FieldError[] {
  const reserved = Object.keys(source.options ?? {}).filter((key) => {
    const domain = `.${(key.includes("/") ? key.slice(0, key.indexOf("/")) : key).toLowerCase()}`;
    return domain.endsWith(".kubernetes.io") || domain.endsWith(".k8s.io");
  });
  return [
    ...requireTexts(source, ["driver"], field),
    ...reserved.map((key) =>
      fieldError.invalid(`${field}.options[${key}]`, key, "kubernetes.io and k8s.io namespaces are reserved"),
    ),
  ];
}

function validateAzureDisk(source: core.AzureDiskVolumeSource, field: string): FieldError[] {
  const { cachingMode, kind = "", diskURI: uri } = source;
  const errors = [
    ...requireTexts(source, ["diskName", "diskURI"], field),
    ...validateChoice(cachingMode, ["None", "ReadOnly", "ReadWrite"], `${field}.cachingMode`),
    ...validateChoice(kind, ["Dedicated", "Managed", "Shared"], `${field}.kind`),
  ];
  if (kind === "") return errors;
  const managed = kind === "Managed";
  if (uri.startsWith(managed ? "/subscriptions/" : "https://")) return errors;
  return [...errors, fieldError.notSupported(`${field}.diskURI`, uri, [managed ? managedDiskForm : blobDiskForm])];
}

const managedDiskForm =
  "/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}";
const blobDiskForm = "https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd";

type StorageOs = Omit<core.StorageOSVolumeSource, "secretRef"> & WithSecret;

function validateStorageOs(source: StorageOs, field: string): FieldError[] {
  return [
    ...requireTexts(source, ["volumeName"], field),
    ...validateText(source.volumeName, dnsLabelProblems, `${field}.volumeName`),
    ...validateText(source.volumeNamespace, dnsLabelProblems, `${field}.volumeNamespace`),
    ...requireSecretName(source, field),
  ];
}

function validateCsiSecret({ nodePublishSecretRef }: core.CSIVolumeSource, field: string): FieldError[] {
  if (nodePublishSecretRef === undefined) return [];
  const { name = "" } = nodePublishSecretRef;
  if (name === "") return [fieldError.required(`${field}.nodePublishSecretRef.name`)];
  return validateText(name, dnsSubdomainProblems, `${field}.name`);
}
