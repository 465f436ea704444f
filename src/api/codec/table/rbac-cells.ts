import type { JsonObject } from "../../json.ts";
import type { Cells } from "./cells.ts";
import { structIn, structsIn, textIn } from "./reading.ts";

/** Bindings of Roles and of ClusterRoles. */
export function roleBindingCells(binding: JsonObject): Cells {
  const role = structIn(binding, "roleRef");
  const subjects = structsIn(binding, "subjects");
  const named = (kind: string, nameOf: (subject: JsonObject) => string) =>
    subjects
      .filter((subject) => textIn(subject, "kind") === kind)
      .map(nameOf)
      .join(", ");
  return {
    Role: `${textIn(role, "kind")}/${textIn(role, "name")}`,
    Users: named("User", (subject) => textIn(subject, "name")),
    Groups: named("Group", (subject) => textIn(subject, "name")),
    ServiceAccounts: named("ServiceAccount", (subject) => `${textIn(subject, "namespace")}/${textIn(subject, "name")}`),
  };
}
