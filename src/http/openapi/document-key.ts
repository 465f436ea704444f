import { apiVersionOf, type GroupVersion } from "../../api/gvk.ts";

export const v3Root = "/openapi/v3";
export const v2Path = "/openapi/v2";
/** The form of `/openapi/v2` that kubectl asks for first. */
export const v2Protobuf = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf";
export const v3Protobuf = "application/com.github.proto-openapi.spec.v3.v1.0+protobuf";

/** `api/v1` or `apis/apps/v1`: the place of a document below `/openapi/v3`. */
export function documentKey(groupVersion: GroupVersion): string {
  return `${groupVersion.group === "" ? "api" : "apis"}/${apiVersionOf(groupVersion)}`;
}
