import { type FieldError, fieldError } from "../../../api/field-error.ts";
import type { JsonObject, JsonValue } from "../../../api/json.ts";
import { validateDownwardFile } from "./downward-volume.ts";
import { validateFileMode, validateKeysToPaths } from "./key-reference.ts";
import { isPresent, numberOf, objectOf, objectsOf, textOf } from "../../../api/json-reading.ts";
import { requireTexts } from "../../../api/validation/field-rules.ts";
import { validateLabelSelector } from "../../../api/validation/label-selector.ts";
import { validateUnreservedPath } from "../../../api/validation/local-path.ts";
import { dnsSubdomainProblems } from "../../../api/validation/names.ts";
import { validateSignerName } from "../../certificates/validation/signer-name.ts";
import { validateEach } from "../../../api/validation/validate-each.ts";

const tokenSecondsMin = 600;
const tokenSecondsMax = 2 ** 32;
const keyTypes = ["ECDSAP256", "ECDSAP384", "ECDSAP521", "ED25519", "RSA3072", "RSA4096"];
const certificateSecondsMin = 3600;
const certificateSecondsMax = 91 * 24 * 3600;

interface Projection {
  readonly source: JsonObject;
  /** Of the source in its list. */
  readonly field: string;
  /** Of the volume: some errors name it instead. */
  readonly volumeField: string;
  /** Paths of the files so far, over all sources. */
  readonly paths: Set<string>;
}

const projections: Readonly<Record<string, (projection: Projection) => FieldError[]>> = {
  secret: validateKeys,
  configMap: validateKeys,
  downwardAPI: validateDownward,
  serviceAccountToken: validateToken,
  clusterTrustBundle: validateTrustBundle,
  podCertificate: validateCertificate,
};

/** Several sources in one directory. */
export function validateProjectedVolume(volume: JsonObject, field: string): FieldError[] {
  const paths = new Set<string>();
  return [
    ...validateFileMode(volume["defaultMode"], `${field}.defaultMode`),
    ...validateEach(objectsOf(volume["sources"]), (source, at) => {
      const item = `${field}.sources[${at}]`;
      const set = Object.keys(projections).filter((name) => isPresent(source[name]));
      const errors = set.flatMap(
        (name) =>
          projections[name]?.({
            source: objectOf(source[name]),
            field: `${item}.${name}`,
            volumeField: field,
            paths,
          }) ?? [],
      );
      if (set.length > 1) errors.push(fieldError.forbidden(item, "may not specify more than 1 volume type per source"));
      return errors;
    }),
  ];
}

function validateKeys({ source, field, volumeField, paths }: Projection): FieldError[] {
  return [
    ...requireTexts(source, ["name"], field),
    ...validateKeysToPaths(source["items"], `${field}.items`),
    ...validateEach(objectsOf(source["items"]), (item) =>
      addPath(textOf(item["path"]), { paths, field: volumeField, shown: textOf(source["name"]) }),
    ),
  ];
}

function validateDownward({ source, field, volumeField, paths }: Projection): FieldError[] {
  return validateEach(objectsOf(source["items"]), (file) => {
    const path = textOf(file["path"]);
    return [...validateDownwardFile(file, field), ...addPath(path, { paths, field: volumeField, shown: path })];
  });
}

function validateToken({ source, field, volumeField }: Projection): FieldError[] {
  const seconds = numberOf(source["expirationSeconds"]);
  const path = textOf(source["path"]);
  const errors: FieldError[] = [];
  if (seconds < tokenSecondsMin) {
    const text = "may not specify a duration less than 10 minutes";
    errors.push(fieldError.invalid(`${field}.expirationSeconds`, source["expirationSeconds"] ?? 0, text));
  }
  if (seconds > tokenSecondsMax) {
    const text = "may not specify a duration larger than 2^32 seconds";
    errors.push(fieldError.invalid(`${field}.expirationSeconds`, source["expirationSeconds"], text));
  }
  if (path === "") return [...errors, fieldError.required(`${volumeField}.path`)];
  return [...errors, ...validateUnreservedPath(path, `${volumeField}.path`)];
}

function validateTrustBundle({ source, field, volumeField, paths }: Projection): FieldError[] {
  const path = textOf(source["path"]);
  return [
    ...validateBundleSource(source, field),
    ...(path === "" ? [fieldError.required(`${field}.path`)] : []),
    ...validateUnreservedPath(path, `${field}.path`),
    ...addPath(path, { paths, field: volumeField, shown: path }),
  ];
}

function validateBundleSource(source: JsonObject, field: string): FieldError[] {
  const [name, signer] = [source["name"], source["signerName"]];
  if (isPresent(name) && isPresent(signer)) {
    return [fieldError.invalid(field, source, "only one of name and signerName may be used")];
  }
  if (isPresent(name)) {
    const errors = textOf(name) === "" ? [fieldError.required(`${field}.name`, "must be a valid object name")] : [];
    errors.push(...validateBundleName(textOf(name), `${field}.name`));
    if (!isPresent(source["labelSelector"])) return errors;
    const text = "labelSelector must be unset if name is specified";
    return [...errors, fieldError.invalid(`${field}.labelSelector`, source["labelSelector"], text)];
  }
  if (!isPresent(signer)) return [fieldError.required(field, "either name or signerName must be specified")];
  return [
    ...(textOf(signer) === "" ? [fieldError.required(`${field}.signerName`, "must be a valid signer name")] : []),
    ...validateSignerName(textOf(signer), `${field}.signerName`),
    ...validateLabelSelector(source["labelSelector"], `${field}.labelSelector`),
  ];
}

/** The part of a bundle's name behind the signer's. */
function validateBundleName(name: string, field: string): FieldError[] {
  const own = name.slice(name.lastIndexOf(":") + 1);
  return dnsSubdomainProblems(own).map((problem) =>
    fieldError.invalid(field, name, `not a valid clustertrustbundlename: ${problem}`),
  );
}

function validateCertificate({ source, field, volumeField, paths }: Projection): FieldError[] {
  const keyType = textOf(source["keyType"]);
  const files = ["credentialBundlePath", "keyPath", "certificateChainPath"].filter(
    (name) => textOf(source[name]) !== "",
  );
  const errors = requireTexts(source, ["signerName"], field);
  if (!keyTypes.includes(keyType)) errors.push(fieldError.notSupported(`${field}.keyType`, keyType, keyTypes));
  errors.push(...validateLifetime(source["maxExpirationSeconds"], `${field}.maxExpirationSeconds`));
  if (files.length === 0) {
    const text = "specify at least one of credentialBundlePath, keyPath, and certificateChainPath";
    errors.push(fieldError.required(field, text));
  }
  for (const name of files) {
    const path = textOf(source[name]);
    errors.push(...validateUnreservedPath(path, `${field}.${name}`));
    errors.push(...addPath(path, { paths, field: volumeField, shown: path }));
  }
  return errors;
}

function validateLifetime(value: JsonValue | undefined, field: string): FieldError[] {
  if (!isPresent(value)) return [];
  const seconds = numberOf(value);
  if (seconds < certificateSecondsMin) {
    return [fieldError.invalid(field, value, `if provided, maxExpirationSeconds must be >= ${certificateSecondsMin}`)];
  }
  if (seconds <= certificateSecondsMax) return [];
  return [fieldError.invalid(field, value, `if provided, maxExpirationSeconds must be <= ${certificateSecondsMax}`)];
}

function addPath(path: string, { paths, field, shown }: { paths: Set<string>; field: string; shown: string }) {
  if (path === "") return [];
  if (paths.has(path)) return [fieldError.invalid(field, shown, "conflicting duplicate paths")];
  paths.add(path);
  return [];
}
