import { type FieldError, fieldError } from "../../../api/field-error.ts";
import type {
  ServerStorageVersion,
  StorageVersion,
  StorageVersionStatus,
} from "../../../api/types/apiserverinternal-v1alpha1.ts";
import { dnsLabel1035Problems, dnsSubdomainProblems } from "../../../api/validation/names.ts";

/** Checks a name of the form `<group>.<resource>`, as in `apps.deployments`. */
export function storageVersionNameProblems(name: string): string[] {
  const dot = name.lastIndexOf(".");
  if (dot < 0) return ["name must be in the form of <group>.<resource>"];
  return [
    ...dnsSubdomainProblems(name.slice(0, dot)).map((problem) => `the group segment ${problem}`),
    ...dnsLabel1035Problems(name.slice(dot + 1)).map((problem) => `the resource segment ${problem}`),
  ];
}

/** A server can read the version that it writes, and the common version is the one that all servers write. */
export function validateStorageVersionStatus({ status = {} }: StorageVersion): FieldError[] {
  const servers = status.storageVersions ?? [];
  return [
    ...servers.flatMap((server, at) => validateServer(server, `status.storageVersions[${at}]`)),
    ...validateCommon(status.commonEncodingVersion, servers),
  ];
}

function validateServer(
  { encodingVersion = "", decodableVersions }: ServerStorageVersion,
  field: string,
): FieldError[] {
  if (decodableVersions?.includes(encodingVersion)) return [];
  const text = `decodableVersions must include encodingVersion ${encodingVersion}`;
  return [fieldError.invalid(`${field}.decodableVersions`, decodableVersions, text)];
}

function validateCommon(
  common: StorageVersionStatus["commonEncodingVersion"],
  servers: readonly ServerStorageVersion[],
): FieldError[] {
  const field = "status.commonEncodingVersion";
  const versions = new Set(servers.map(({ encodingVersion = "" }) => encodingVersion));
  const [agreed] = versions.size === 1 ? versions : [];
  if (agreed === undefined) {
    if (common === undefined) return [];
    return [
      fieldError.invalid(
        field,
        common,
        "should be nil if servers do not agree on the same encoding version, or if there is no server reporting the supported versions yet",
      ),
    ];
  }
  if (common === undefined) {
    return [fieldError.invalid(field, null, `the common encoding version is ${agreed}`)];
  }
  return common === agreed
    ? []
    : [fieldError.invalid(field, common, `the actual common encoding version is ${agreed}`)];
}
