import type { GroupVersion } from "../../api/gvk.ts";
import { groupVersionPath } from "../../client/resource-path.ts";
import { groupTag, groupTitle, type Operation, operationGroup, operationTag, type TypeLookup } from "./operation.ts";

/** Operations whose answers are not objects, by the key of their document. */
export function generalOperations(typeOf: TypeLookup): ReadonlyMap<string, Operation> {
  return new Map([
    ["api", discovery("/api/", "getCoreAPIVersions", "core", typeOf("meta/v1.APIVersions"))],
    ["apis", discovery("/apis/", "getAPIVersions", "apis", typeOf("meta/v1.APIGroupList"))],
    ["version", { ...discovery("/version/", "getCodeVersion", "version", "version"), produces: ["application/json"] }],
    [
      ".well-known/openid-configuration",
      {
        ...discovery(
          "/.well-known/openid-configuration/",
          "getServiceAccountIssuerOpenIDConfiguration",
          "WellKnown",
          "text",
        ),
        produces: ["application/json"],
      },
    ],
    [
      "openid/v1/jwks",
      {
        ...discovery("/openid/v1/jwks/", "getServiceAccountIssuerOpenIDKeyset", "openid", "text"),
        produces: ["application/jwk-set+json"],
      },
    ],
  ]);
}

/** Returns the operation at `/apis/<group>/`. */
export function groupOperation(group: string, typeOf: TypeLookup): Operation {
  const id = `get${groupTitle(group)}APIGroup`;
  return discovery(`/apis/${group}/`, id, groupTag(group), typeOf("meta/v1.APIGroup"));
}

/** Returns the operation at `/apis/<group>/<version>/`. */
export function resourcesOperation(groupVersion: GroupVersion, typeOf: TypeLookup): Operation {
  const id = `get${operationGroup(groupVersion)}APIResources`;
  return discovery(
    `${groupVersionPath(groupVersion)}/`,
    id,
    operationTag(groupVersion),
    typeOf("meta/v1.APIResourceList"),
  );
}

function discovery(path: string, id: string, tag: string, response: Operation["response"]): Operation {
  return {
    path,
    method: "get",
    action: undefined,
    id,
    tag,
    description: "read what is served here",
    gvk: undefined,
    queryParameters: [],
    body: undefined,
    isBuiltIn: true,
    response,
  };
}
