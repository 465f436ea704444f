import { type FieldError, fieldError } from "../../../api/field-error.ts";
import type * as core from "../../../api/types/core-v1.ts";
import { requireTexts } from "../../../api/validation/field-rules.ts";
import { validateLabelSelector } from "../../../api/validation/label-selector.ts";
import { validateUnreservedPath } from "../../../api/validation/local-path.ts";
import { dnsSubdomainProblems } from "../../../api/validation/names.ts";
import { validateEach } from "../../../api/validation/validate-each.ts";
import { validateSignerName } from "../../certificates/validation/signer-name.ts";
import { validateDownwardFile } from "./downward-volume.ts";
import { validateFileMode, validateKeysToPaths } from "./key-reference.ts";

const tokenSecondsMin = 600;
const tokenSecondsMax = 2 ** 32;
const keyTypes = ["ECDSAP256", "ECDSAP384", "ECDSAP521", "ED25519", "RSA3072", "RSA4096"];
const certificateFiles = ["credentialBundlePath", "keyPath", "certificateChainPath"] as const;
const certificateSecondsMin = 3600;
const certificateSecondsMax = 91 * 24 * 3600;

interface Place {
  /** Path of the source in its list. */
  readonly field: string;
  /** Path of the volume, which some errors name instead. */
  readonly volumeField: string;
  /** Paths of the files so far, over all sources. */
  readonly paths: Set<string>;
}

type Projections = Required<core.VolumeProjection>;
type ProjectionName = keyof Projections;

/** The rules of the sources, in the order in which upstream looks for them. */
const projections: {
  readonly [Name in ProjectionName]: (source: Projections[Name], place: Place) => FieldError[];
} = {
  secret: validateKeys,
  configMap: validateKeys,
  downwardAPI: validateDownward,
  serviceAccountToken: validateToken,
  clusterTrustBundle: validateTrustBundle,
  podCertificate: validateCertificate,
};
const projectionNames = Object.keys(projections) as ProjectionName[];

/** Validates several sources in one directory. */
export function validateProjectedVolume(volume: core.ProjectedVolumeSource, field: string): FieldError[] {
  const paths = new Set<string>();
  return [
    ...validateFileMode(volume.defaultMode, `${field}.defaultMode`),
    ...validateEach(volume.sources ?? [], (source, at) => {
      const item = `${field}.sources[${at}]`;
      const set = projectionNames.filter((name) => source[name] !== undefined);
      const errors = set.flatMap((name) =>
        validateProjection(source, name, { field: `${item}.${name}`, volumeField: field, paths }),
      );
      if (set.length > 1) errors.push(fieldError.forbidden(item, "may not specify more than 1 volume type per source"));
      return errors;
    }),
  ];
}

function validateProjection<Name extends ProjectionName>(
  sources: Partial<Projections>,
  name: Name,
  place: Place,
): FieldError[] {
  const source = sources[name];
  return source === undefined ? [] : projections[name](source, place);
}

function validateKeys(
  source: core.ConfigMapProjection | core.SecretProjection,
  { field, volumeField, paths }: Place,
): FieldError[] {
  const { name: shown = "", items = [] } = source;
  return [
    ...requireTexts(source, ["name"], field),
    ...validateKeysToPaths(items, `${field}.items`),
    ...validateEach(items, ({ path }) => addPath(path, { paths, field: volumeField, shown })),
  ];
}

function validateDownward(
  { items = [] }: core.DownwardAPIProjection,
  { field, volumeField, paths }: Place,
): FieldError[] {
  return validateEach(items, (file) => [
    ...validateDownwardFile(file, field),
    ...addPath(file.path, { paths, field: volumeField, shown: file.path }),
  ]);
}

function validateToken(source: core.ServiceAccountTokenProjection, { field, volumeField }: Place): FieldError[] {
  const { expirationSeconds = 0, path } = source;
  const errors: FieldError[] = [];
  if (expirationSeconds < tokenSecondsMin) {
    const text = "may not specify a duration less than 10 minutes";
    errors.push(fieldError.invalid(`${field}.expirationSeconds`, expirationSeconds, text));
  }
  if (expirationSeconds > tokenSecondsMax) {
    const text = "may not specify a duration larger than 2^32 seconds";
    errors.push(fieldError.invalid(`${field}.expirationSeconds`, expirationSeconds, text));
  }
  if (path === "") return [...errors, fieldError.required(`${volumeField}.path`)];
  return [...errors, ...validateUnreservedPath(path, `${volumeField}.path`)];
}

function validateTrustBundle(
  source: core.ClusterTrustBundleProjection,
  { field, volumeField, paths }: Place,
): FieldError[] {
  const { path } = source;
  return [
    ...validateBundleSource(source, field),
    ...(path === "" ? [fieldError.required(`${field}.path`)] : []),
    ...validateUnreservedPath(path, `${field}.path`),
    ...addPath(path, { paths, field: volumeField, shown: path }),
  ];
}

function validateBundleSource(source: core.ClusterTrustBundleProjection, field: string): FieldError[] {
  const { name, signerName: signer, labelSelector } = source;
  if (name !== undefined && signer !== undefined) {
    return [fieldError.invalid(field, source, "only one of name and signerName may be used")];
  }
  if (name !== undefined) {
    const errors = name === "" ? [fieldError.required(`${field}.name`, "must be a valid object name")] : [];
    errors.push(...validateBundleName(name, `${field}.name`));
    if (labelSelector === undefined) return errors;
    const text = "labelSelector must be unset if name is specified";
    return [...errors, fieldError.invalid(`${field}.labelSelector`, labelSelector, text)];
  }
  if (signer === undefined) return [fieldError.required(field, "either name or signerName must be specified")];
  return [
    ...(signer === "" ? [fieldError.required(`${field}.signerName`, "must be a valid signer name")] : []),
    ...validateSignerName(signer, `${field}.signerName`),
    ...validateLabelSelector(labelSelector, `${field}.labelSelector`),
  ];
}

/** Validates the part of a bundle's name that follows the signer's. */
function validateBundleName(name: string, field: string): FieldError[] {
  const own = name.slice(name.lastIndexOf(":") + 1);
  return dnsSubdomainProblems(own).map((problem) =>
    fieldError.invalid(field, name, `not a valid clustertrustbundlename: ${problem}`),
  );
}

function validateCertificate(
  source: core.PodCertificateProjection,
  { field, volumeField, paths }: Place,
): FieldError[] {
  const { keyType = "" } = source;
  const files = certificateFiles.filter((name) => (source[name] ?? "") !== "");
  const errors = requireTexts(source, ["signerName"], field);
  if (!keyTypes.includes(keyType)) errors.push(fieldError.notSupported(`${field}.keyType`, keyType, keyTypes));
  errors.push(...validateLifetime(source.maxExpirationSeconds, `${field}.maxExpirationSeconds`));
  if (files.length === 0) {
    const text = "specify at least one of credentialBundlePath, keyPath, and certificateChainPath";
    errors.push(fieldError.required(field, text));
  }
  for (const name of files) {
    const path = source[name] ?? "";
    errors.push(...validateUnreservedPath(path, `${field}.${name}`));
    errors.push(...addPath(path, { paths, field: volumeField, shown: path }));
  }
  return errors;
}

function validateLifetime(seconds: number | undefined, field: string): FieldError[] {
  if (seconds === undefined) return [];
  if (seconds < certificateSecondsMin) {
    const text = `if provided, maxExpirationSeconds must be >= ${certificateSecondsMin}`;
    return [fieldError.invalid(field, seconds, text)];
  }
  if (seconds <= certificateSecondsMax) return [];
  return [fieldError.invalid(field, seconds, `if provided, maxExpirationSeconds must be <= ${certificateSecondsMax}`)];
}

function addPath(path: string, { paths, field, shown }: { paths: Set<string>; field: string; shown: string }) {
  if (path === "") return [];
  if (paths.has(path)) return [fieldError.invalid(field, shown, "conflicting duplicate paths")];
  paths.add(path);
  return [];
}
