import { type FieldError, fieldError } from "../../../api/field-error.ts";
import type { JsonObject } from "../../../api/json.ts";
import type { KubeObject } from "../../../api/object-meta.ts";
import { isPresent, objectOf, objectsOf, textOf, textsOf } from "../../../api/json-reading.ts";
import { dnsLabel1035Problems, dnsSubdomainProblems } from "../../../api/validation/names.ts";

/** `<group>.<resource>`, as in `apps.deployments`. */
export function storageVersionNameProblems(name: string): string[] {
  const dot = name.lastIndexOf(".");
  if (dot < 0) return ["name must be in the form of <group>.<resource>"];
  return [
    ...dnsSubdomainProblems(name.slice(0, dot)).map((problem) => `the group segment ${problem}`),
    ...dnsLabel1035Problems(name.slice(dot + 1)).map((problem) => `the resource segment ${problem}`),
  ];
}

/** What each server writes it can also read, and what all of them write is said once. */
export function validateStorageVersionStatus(version: KubeObject): FieldError[] {
  const status = objectOf(version["status"]);
  const servers = objectsOf(status["storageVersions"]);
  return [
    ...servers.flatMap((server, at) => validateServer(server, `status.storageVersions[${at}]`)),
    ...validateCommon(status, servers),
  ];
}

function validateServer(server: JsonObject, field: string): FieldError[] {
  const encoding = textOf(server["encodingVersion"]);
  if (textsOf(server["decodableVersions"]).includes(encoding)) return [];
  const text = `decodableVersions must include encodingVersion ${encoding}`;
  return [fieldError.invalid(`${field}.decodableVersions`, server["decodableVersions"], text)];
}

function validateCommon(status: JsonObject, servers: readonly JsonObject[]): FieldError[] {
  const field = "status.commonEncodingVersion";
  const common = status["commonEncodingVersion"];
  const versions = new Set(servers.map((server) => textOf(server["encodingVersion"])));
  const [agreed] = versions.size === 1 ? versions : [];
  if (agreed === undefined) {
    if (!isPresent(common)) return [];
    return [
      fieldError.invalid(
        field,
        common,
        "should be nil if servers do not agree on the same encoding version, or if there is no server reporting the supported versions yet",
      ),
    ];
  }
  if (!isPresent(common)) {
    return [fieldError.invalid(field, null, `the common encoding version is ${agreed}`)];
  }
  return common === agreed
    ? []
    : [fieldError.invalid(field, common, `the actual common encoding version is ${agreed}`)];
}
