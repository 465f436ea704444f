import { builtInKind, stored } from "../../registry/kind.ts";
import { validateClusterRole } from "./validation/role.ts";
import { roleStrategy } from "./role.ts";

export const clusterRole = builtInKind("clusterroles.rbac.authorization.k8s.io", {
  endpoint: stored({ ...roleStrategy, validate: validateClusterRole }),
});
