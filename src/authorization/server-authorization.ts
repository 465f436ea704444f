import type { Scheme } from "../scheme/scheme.ts";
import type { Key, Store } from "../storage/store.ts";
import { alwaysAllowAuthorizer } from "./always-allow.ts";
import { alwaysDenyAuthorizer } from "./always-deny.ts";
import type { Authorizer } from "./authorizer.ts";
import { rbacAuthorizer } from "./rbac/rbac-authorizer.ts";
import { RbacPolicy } from "./rbac/rbac-policy.ts";
import { systemMastersAuthorizer } from "./system-masters.ts";
import { unionAuthorizer } from "./union.ts";

export type AuthorizationMode = "AlwaysAllow" | "AlwaysDeny" | "RBAC";

export interface AuthorizationParts {
  readonly modes: readonly AuthorizationMode[];
  readonly scheme: Scheme;
  readonly store: Store;
}

/** Who decides, and what roles and bindings say whatever decides: grants are checked against them in every mode. */
export interface ServerAuthorization extends Disposable {
  readonly authorizer: Authorizer;
  readonly policy: RbacPolicy;
}

export function openAuthorization({ modes, scheme, store }: AuthorizationParts): ServerAuthorization {
  const policy = new RbacPolicy(rbacPrefixes(scheme));
  const following = policy.follow(store);
  const byMode: Readonly<Record<AuthorizationMode, Authorizer>> = {
    AlwaysAllow: alwaysAllowAuthorizer,
    AlwaysDeny: alwaysDenyAuthorizer,
    RBAC: rbacAuthorizer(policy),
  };
  const authorizer = unionAuthorizer([systemMastersAuthorizer, ...modes.map((mode) => byMode[mode])]);
  return { authorizer, policy, [Symbol.dispose]: () => following[Symbol.dispose]() };
}

/** Where the four kinds are stored; a kind that is not served has no objects. */
function rbacPrefixes(scheme: Scheme): ConstructorParameters<typeof RbacPolicy>[0] {
  const prefixOf = (resource: string): Key =>
    scheme.find("rbac.authorization.k8s.io", "v1", resource)?.keyPrefix ?? `/not-served/${resource}/`;
  return {
    roles: prefixOf("roles"),
    clusterRoles: prefixOf("clusterroles"),
    roleBindings: prefixOf("rolebindings"),
    clusterRoleBindings: prefixOf("clusterrolebindings"),
  };
}
