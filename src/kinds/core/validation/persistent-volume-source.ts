import { type FieldError, fieldError } from "../../../api/field-error.ts";
import type { JsonObject } from "../../../api/json.ts";
import { isPresent, objectOf, textOf } from "../../../api/json-reading.ts";
import { requireTexts, validateText } from "../../../api/validation/field-rules.ts";
import { validateNoBacksteps } from "../../../api/validation/local-path.ts";
import { dnsLabelProblems, dnsSubdomainProblems } from "../../../api/validation/names.ts";
import { validateCsiDriverName, type VolumeSourceRule, volumeSourceRules } from "./volume-source.ts";

/** In the order in which upstream looks for them; the rule of a pod's volume unless a persistent one has its own. */
const ownRules: Readonly<Record<string, VolumeSourceRule | undefined>> = {
  hostPath: undefined,
  gcePersistentDisk: undefined,
  awsElasticBlockStore: undefined,
  glusterfs: validateGlusterfs,
  flocker: undefined,
  nfs: undefined,
  rbd: undefined,
  quobyte: undefined,
  cephfs: undefined,
  iscsi: undefined,
  cinder: withSecretNamespace("cinder"),
  fc: undefined,
  flexVolume: undefined,
  azureFile: validateAzureFile,
  vsphereVolume: undefined,
  photonPersistentDisk: undefined,
  portworxVolume: undefined,
  azureDisk: undefined,
  scaleIO: undefined,
  local: validateLocal,
  storageos: withSecretNamespace("storageos"),
  csi: validateCsi,
};

export const persistentSourceNames: ReadonlySet<string> = new Set(Object.keys(ownRules));

/** Paths of sources that upstream spells differently from the field. */
const pathNames: Readonly<Record<string, string>> = { gcePersistentDisk: "persistentDisk" };
const surplusNames: Readonly<Record<string, string>> = { cephfs: "cephFS" };

/** Validates the source, of which there is one. A local volume also has to say where it is. */
export function validatePersistentSource(spec: JsonObject, field: string): FieldError[] {
  const names = [...persistentSourceNames].filter((name) => isPresent(spec[name]));
  if (names.length === 0) return [fieldError.required(field, "must specify a volume type")];
  return names.flatMap((name, at) => {
    // Upstream lets a flex volume stand beside another source.
    if (at === 0 || name === "flexVolume") return validateOneSource(spec, name, field);
    const text = "may not specify more than 1 volume type";
    return [fieldError.forbidden(`${field}.${surplusNames[name] ?? name}`, text)];
  });
}

function validateOneSource(spec: JsonObject, name: string, field: string): FieldError[] {
  const rule = ownRules[name] ?? volumeSourceRules[name];
  const errors = rule === undefined ? [] : rule(objectOf(spec[name]), `${field}.${pathNames[name] ?? name}`);
  if (name !== "local" || isPresent(spec["nodeAffinity"])) return errors;
  return [...errors, fieldError.required(`${field}.nodeAffinity`, "Local volume requires node affinity")];
}

/** Persistent volumes have no namespace in which the secret could be looked for. */
function withSecretNamespace(name: string): VolumeSourceRule {
  return (source, field) => {
    const errors = volumeSourceRules[name]?.(source, field) ?? [];
    if (!isPresent(source["secretRef"])) return errors;
    return [...errors, ...requireTexts(objectOf(source["secretRef"]), ["namespace"], `${field}.secretRef`)];
  };
}

function validateGlusterfs(source: JsonObject, field: string): FieldError[] {
  const errors = requireTexts(source, ["endpoints", "path"], field);
  const namespace = source["endpointsNamespace"];
  if (!isPresent(namespace)) return errors;
  if (textOf(namespace) === "") {
    const text = "if the endpointnamespace is set, it must be a valid namespace name";
    return [...errors, fieldError.invalid(`${field}.endpointsNamespace`, namespace, text)];
  }
  return [...errors, ...validateText(namespace, dnsLabelProblems, `${field}.endpointsNamespace`)];
}

function validateAzureFile(source: JsonObject, field: string): FieldError[] {
  const errors = requireTexts(source, ["secretName", "shareName"], field);
  return source["secretNamespace"] === "" ? [...errors, fieldError.required(`${field}.secretNamespace`)] : errors;
}

function validateLocal(source: JsonObject, field: string): FieldError[] {
  const path = textOf(source["path"]);
  return path === "" ? [fieldError.required(`${field}.path`)] : validateNoBacksteps(path, `${field}.path`);
}

const csiSecrets = [
  "controllerPublishSecretRef",
  "controllerExpandSecretRef",
  "nodePublishSecretRef",
  "nodeExpandSecretRef",
];

function validateCsi(source: JsonObject, field: string): FieldError[] {
  return [
    ...validateCsiDriverName(textOf(source["driver"]), `${field}.driver`),
    ...requireTexts(source, ["volumeHandle"], field),
    ...csiSecrets.flatMap((name) =>
      isPresent(source[name]) ? validateSecretReference(objectOf(source[name]), `${field}.${name}`) : [],
    ),
  ];
}

function validateSecretReference({ name, namespace }: JsonObject, field: string): FieldError[] {
  return [
    ...requireTexts({ name: name ?? "" }, ["name"], field),
    ...validateText(name, dnsSubdomainProblems, `${field}.name`),
    ...requireTexts({ namespace: namespace ?? "" }, ["namespace"], field),
    ...validateText(namespace, dnsLabelProblems, `${field}.namespace`),
  ];
}
