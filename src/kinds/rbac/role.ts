import type { KubeObject } from "../../api/object-meta.ts";
import { pathSegmentProblems } from "../../api/validation/names.ts";
import { defaultStrategy } from "../../registry/default-strategy.ts";
import { builtInKind, stored } from "../../registry/kind.ts";
import type { Strategy } from "../../registry/strategy.ts";
import { validateRole } from "./validation/role.ts";

/** The rules of Roles and ClusterRoles, without validation. */
export const roleStrategy: Strategy<KubeObject> = {
  ...defaultStrategy,
  coversSchema: true,
  allowCreateOnUpdate: true,
  validateName: pathSegmentProblems,
};

export const role = builtInKind("roles.rbac.authorization.k8s.io", {
  endpoint: stored({ ...roleStrategy, validate: validateRole }),
  descriptions: {
    "rbac/v1.Role": { "": "A set of permissions in one namespace.", rules: "The permissions." },
  },
});
