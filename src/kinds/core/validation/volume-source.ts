import { type FieldError, fieldError } from "../../../api/field-error.ts";
import type { JsonObject } from "../../../api/json.ts";
import { validateClaimTemplate } from "./claim-template.ts";
import { pullPolicies } from "./container.ts";
import { validateDownwardFiles } from "./downward-volume.ts";
import { validateFileMode, validateKeysToPaths } from "./key-reference.ts";
import { isPresent, numberOf, objectOf, textOf, textsOf } from "../../../api/json-reading.ts";
import {
  requireTexts,
  validateChoice,
  validateRange,
  validateRequiredChoice,
  validateText,
} from "../../../api/validation/field-rules.ts";
import { validateDescendingPath, validateNoBacksteps } from "../../../api/validation/local-path.ts";
import { dnsLabelProblems, dnsSubdomainProblems } from "../../../api/validation/names.ts";
import { validateProjectedVolume } from "./projected-volume.ts";
import { parsedQuantity } from "../../../api/validation/quantity.ts";

/** The rules of one kind of volume source. Volumes of pods and persistent volumes share most of them. */
export type VolumeSourceRule = (source: JsonObject, field: string) => FieldError[];

/** The empty one is a type, and named as such. */
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

/** Kinds of sources that a pod may name, in the order in which upstream looks for them. */
export const volumeSourceRules: Readonly<Record<string, VolumeSourceRule>> = {
  emptyDir: validateEmptyDir,
  hostPath: validateHostPath,
  gitRepo: (source, field) => [
    ...requireTexts(source, ["repository"], field),
    ...validateDescendingPath(textOf(source["directory"]), `${field}.directory`),
  ],
  gcePersistentDisk: (source, field) => [
    ...requireTexts(source, ["pdName"], field),
    ...validatePartition(source, field),
  ],
  awsElasticBlockStore: (source, field) => [
    ...requireTexts(source, ["volumeID"], field),
    ...validatePartition(source, field),
  ],
  secret: (source, field) => validateFiles(source, "secretName", field),
  nfs: validateNfs,
  iscsi: validateIscsi,
  glusterfs: (source, field) => requireTexts(source, ["endpoints", "path"], field),
  flocker: validateFlocker,
  persistentVolumeClaim: (source, field) => requireTexts(source, ["claimName"], field),
  rbd: (source, field) => [...requireMonitors(source, field), ...requireTexts(source, ["image"], field)],
  cinder: (source, field) => [...requireTexts(source, ["volumeID"], field), ...requireSecretName(source, field)],
  cephfs: requireMonitors,
  quobyte: validateQuobyte,
  downwardAPI: (source, field) => [
    ...validateFileMode(source["defaultMode"], `${field}.defaultMode`),
    ...validateDownwardFiles(source["items"], field),
  ],
  fc: validateFibreChannel,
  flexVolume: validateFlexVolume,
  configMap: (source, field) => validateFiles(source, "name", field),
  azureFile: (source, field) => requireTexts(source, ["secretName", "shareName"], field),
  vsphereVolume: (source, field) => requireTexts(source, ["volumePath"], field),
  photonPersistentDisk: (source, field) => requireTexts(source, ["pdID"], field),
  portworxVolume: (source, field) => requireTexts(source, ["volumeID"], field),
  azureDisk: validateAzureDisk,
  storageos: validateStorageOs,
  projected: validateProjectedVolume,
  scaleIO: (source, field) => requireTexts(source, ["gateway", "system", "volumeName"], field),
  csi: (source, field) => [
    ...validateCsiDriverName(textOf(source["driver"]), `${field}.driver`),
    ...validateCsiSecret(source, field),
  ],
  ephemeral: (source, field) =>
    isPresent(source["volumeClaimTemplate"])
      ? validateClaimTemplate(objectOf(source["volumeClaimTemplate"]), `${field}.volumeClaimTemplate`)
      : [fieldError.required(`${field}.volumeClaimTemplate`)],
  image: (source, field) => validateRequiredChoice(source["pullPolicy"], pullPolicies, `${field}.pullPolicy`),
};

export function validateCsiDriverName(name: string, field: string): FieldError[] {
  if (name === "") return [fieldError.required(field)];
  return [
    ...(Buffer.byteLength(name) > csiDriverBytesMax ? [fieldError.tooLong(field, csiDriverBytesMax)] : []),
    ...dnsSubdomainProblems(name.toLowerCase()).map((problem) => fieldError.invalid(field, name, problem)),
  ];
}

function validateEmptyDir(source: JsonObject, field: string): FieldError[] {
  const limit = isPresent(source["sizeLimit"]) ? parsedQuantity(source["sizeLimit"]) : undefined;
  if (limit === undefined || limit.nanos >= 0n) return [];
  return [fieldError.forbidden(`${field}.sizeLimit`, "SizeLimit field must be a valid resource quantity")];
}

function validateHostPath(source: JsonObject, field: string): FieldError[] {
  const path = textOf(source["path"]);
  if (path === "") return [fieldError.required(`${field}.path`)];
  return [
    ...validateNoBacksteps(path, `${field}.path`),
    ...validateChoice(source["type"], hostPathTypes, `${field}.type`),
  ];
}

function validatePartition(source: JsonObject, field: string): FieldError[] {
  const partition = numberOf(source["partition"]);
  if (partition >= 0 && partition <= 255) return [];
  return [fieldError.invalid(`${field}.partition`, source["partition"], "must be between 1 and 255, inclusive")];
}

/** Keys of a ConfigMap or Secret as files. */
function validateFiles(source: JsonObject, name: string, field: string): FieldError[] {
  return [
    ...requireTexts(source, [name], field),
    ...validateFileMode(source["defaultMode"], `${field}.defaultMode`),
    ...validateKeysToPaths(source["items"], `${field}.items`),
  ];
}

function validateNfs(source: JsonObject, field: string): FieldError[] {
  const path = textOf(source["path"]);
  const errors = requireTexts(source, ["server", "path"], field);
  if (!path.startsWith("/")) errors.push(fieldError.invalid(`${field}.path`, path, "must be an absolute path"));
  return errors;
}

function validateIscsi(source: JsonObject, field: string): FieldError[] {
  const errors = requireTexts(source, ["targetPortal", "iqn"], field);
  const iqn = textOf(source["iqn"]);
  if (iqn !== "") errors.push(...iscsiNameProblems(iqn).map((text) => fieldError.invalid(`${field}.iqn`, iqn, text)));
  errors.push(...validateRange(source["lun"] ?? 0, lunRange, `${field}.lun`));
  const usesChap = source["chapAuthDiscovery"] === true || source["chapAuthSession"] === true;
  if (usesChap && !isPresent(source["secretRef"])) errors.push(fieldError.required(`${field}.secretRef`));
  const initiator = source["initiatorName"];
  if (!isPresent(initiator)) return errors;
  const problems = iscsiNameProblems(textOf(initiator));
  return [...errors, ...problems.map((text) => fieldError.invalid(`${field}.initiatorname`, initiator, text))];
}

function iscsiNameProblems(name: string): string[] {
  const form = iscsiForms[name.slice(0, 3)];
  if (form === undefined) return ["must be valid format starting with iqn, eui, or naa"];
  return form(name) ? [] : ["must be valid format"];
}

const iscsiForms: Readonly<Record<string, (name: string) => boolean>> = {
  iqn: (name) => /^iqn\.\d{4}-\d{2}\.[0-9A-Za-z.-]+:[^,;*&$|\s]+$/.test(name),
  eui: (name) => /^eui.[0-9A-Za-z]{16}$/.test(name),
  naa: (name) => /^naa.[0-9A-Za-z]{32}$/.test(name),
};

function validateFlocker(source: JsonObject, field: string): FieldError[] {
  const [name, id] = [textOf(source["datasetName"]), textOf(source["datasetUUID"])];
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

function requireMonitors(source: JsonObject, field: string): FieldError[] {
  return textsOf(source["monitors"]).length === 0 ? [fieldError.required(`${field}.monitors`)] : [];
}

function requireSecretName(source: JsonObject, field: string): FieldError[] {
  if (!isPresent(source["secretRef"])) return [];
  return requireTexts(objectOf(source["secretRef"]), ["name"], `${field}.secretRef`);
}

function validateQuobyte(source: JsonObject, field: string): FieldError[] {
  const registry = textOf(source["registry"]);
  const text = "must be a host:port pair or multiple pairs separated by commas";
  const errors: FieldError[] = [];
  if (registry === "") errors.push(fieldError.required(`${field}.registry`, text));
  else if (textOf(source["tenant"]).length > 64) {
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

function validateFibreChannel(source: JsonObject, field: string): FieldError[] {
  const [names, ids] = [textsOf(source["targetWWNs"]), textsOf(source["wwids"])];
  const errors: FieldError[] = [];
  if (names.length === 0 && ids.length === 0) {
    errors.push(fieldError.required(`${field}.targetWWNs`, "must specify either targetWWNs or wwids, but not both"));
  }
  if (names.length > 0 && ids.length > 0) {
    const text = "targetWWNs and wwids can not be specified simultaneously";
    errors.push(fieldError.invalid(`${field}.targetWWNs`, names, text));
  }
  if (names.length === 0) return errors;
  if (isPresent(source["lun"])) return [...errors, ...validateRange(source["lun"], lunRange, `${field}.lun`)];
  return [...errors, fieldError.required(`${field}.lun`, "lun is required if targetWWNs is specified")];
}

function validateFlexVolume(source: JsonObject, field: string): FieldError[] {
  const reserved = Object.keys(objectOf(source["options"])).filter((key) => {
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

function validateAzureDisk(source: JsonObject, field: string): FieldError[] {
  const [kind, uri] = [textOf(source["kind"]), textOf(source["diskURI"])];
  const errors = [
    ...requireTexts(source, ["diskName", "diskURI"], field),
    ...validateChoice(source["cachingMode"], ["None", "ReadOnly", "ReadWrite"], `${field}.cachingMode`),
    ...validateChoice(source["kind"], ["Dedicated", "Managed", "Shared"], `${field}.kind`),
  ];
  if (kind === "") return errors;
  const managed = kind === "Managed";
  if (uri.startsWith(managed ? "/subscriptions/" : "https://")) return errors;
  return [...errors, fieldError.notSupported(`${field}.diskURI`, uri, [managed ? managedDiskForm : blobDiskForm])];
}

const managedDiskForm =
  "/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}";
const blobDiskForm = "https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd";

function validateStorageOs(source: JsonObject, field: string): FieldError[] {
  return [
    ...requireTexts(source, ["volumeName"], field),
    ...validateText(source["volumeName"], dnsLabelProblems, `${field}.volumeName`),
    ...validateText(source["volumeNamespace"], dnsLabelProblems, `${field}.volumeNamespace`),
    ...requireSecretName(source, field),
  ];
}

function validateCsiSecret(source: JsonObject, field: string): FieldError[] {
  if (!isPresent(source["nodePublishSecretRef"])) return [];
  const { name } = objectOf(source["nodePublishSecretRef"]);
  if (textOf(name) === "") return [fieldError.required(`${field}.nodePublishSecretRef.name`)];
  return validateText(name, dnsSubdomainProblems, `${field}.name`);
}
