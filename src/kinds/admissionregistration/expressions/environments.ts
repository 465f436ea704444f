import { compatibleMinor } from "../../../api/release.ts";
import {
  authorizerType,
  celTypes,
  type Environment,
  newEnvironment,
  resourceCheckType,
  storedEnvironment,
} from "../../../cel/index.ts";
import { patchDeclarations } from "./patch-types.ts";
import { namespaceType, requestType, requestTypes } from "./request-types.ts";

/** Variables of a policy or webhook besides the request and its objects. */
export interface ExpressionPlace {
  readonly hasParams?: boolean;
  readonly hasAuthorizer?: boolean;
  readonly makesPatches?: boolean;
}

/** A new text is held to what an older server knows too; a stored one may use everything. */
export type ExpressionAge = "new" | "stored";

const made = new Map<string, Environment>();

/** Returns the environment of a place. There are few, and each is made once. */
export function expressionEnvironment(place: ExpressionPlace, age: ExpressionAge): Environment {
  const { hasParams = false, hasAuthorizer = false, makesPatches = false } = place;
  const key = `${hasParams} ${hasAuthorizer} ${makesPatches} ${age}`;
  const known = made.get(key);
  if (known !== undefined) return known;
  const base = age === "new" ? newEnvironment(compatibleMinor, { AuthorizeWithSelectors: true }) : storedEnvironment();
  const { dynType } = celTypes;
  const declared = base.extend({
    variables: new Map([
      ["object", dynType],
      ["oldObject", dynType],
      ["namespaceObject", namespaceType],
      ["request", requestType],
      ...(hasParams ? ([["params", dynType]] as const) : []),
      ...(hasAuthorizer
        ? ([
            ["authorizer", authorizerType],
            ["authorizer.requestResource", resourceCheckType],
          ] as const)
        : []),
    ]),
    provider: requestTypes,
  });
  const environment = makesPatches ? declared.extend(patchDeclarations) : declared;
  made.set(key, environment);
  return environment;
}
