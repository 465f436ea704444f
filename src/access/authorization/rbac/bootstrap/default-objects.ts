import type { JsonObject } from "../../../../api/json.ts";
import type { KubeObject } from "../../../../api/object-meta.ts";
import { aggregatedRules } from "../aggregate.ts";
import { type DefaultBinding, defaultBindings, type SubjectText } from "./bindings.ts";
import { type DefaultRole, defaultClusterRoles, type GatedRule } from "./cluster-roles.ts";
import { controllerAccount, controllerRoles } from "./controller-roles.ts";
import { defaultNamespaceRoles } from "./namespace-roles.ts";

const rbacGroup = "rbac.authorization.k8s.io";
const apiVersion = `${rbacGroup}/v1`;
export const autoUpdateAnnotation = "rbac.authorization.kubernetes.io/autoupdate";

export type IsGateOn = (gate: string) => boolean;

/** Returns the rules that have no gate, or one that is on. */
export function rulesOf(rules: readonly GatedRule[], isOn: IsGateOn): JsonObject[] {
  return rules.flatMap((rule) => {
    if (typeof rule["gate"] !== "string") return [rule as JsonObject];
    return isOn(rule["gate"]) ? [rule["rule"] as JsonObject] : [];
  });
}

/**
 * Returns every role and binding that a server ensures at its start. Roles come first, because bindings refer to them.
 */
export function defaultObjects(isOn: IsGateOn): KubeObject[] {
  const isMade = ({ gate }: { readonly gate?: string }) => gate === undefined || isOn(gate);
  const controllers = controllerRoles.filter(isMade);
  const clusterRoles = [...defaultClusterRoles.filter(isMade), ...controllers].map((role) => clusterRole(role, isOn));
  // From the inside out, so that one round is enough and the controller has nothing to change.
  for (const name of ["view", "edit", "admin"]) {
    const role = clusterRoles.find(({ metadata }) => metadata.name === name) as KubeObject;
    role["rules"] = aggregatedRules(role, clusterRoles) ?? [];
  }
  return [
    ...clusterRoles,
    ...defaultNamespaceRoles.map(({ namespace, name, rules }) => ({
      ...object("Role", name, namespace),
      rules: [...rules],
    })),
    ...defaultBindings.filter(isMade).map(binding),
    ...controllers.map(controllerBinding),
  ];
}

function clusterRole(role: DefaultRole, isOn: IsGateOn): KubeObject {
  const { name, aggregates, aggregateTo } = role;
  const labels = aggregateTo === undefined ? {} : { [aggregationLabel(aggregateTo)]: "true" };
  return {
    ...object("ClusterRole", name, "", labels),
    ...(aggregates === undefined
      ? { rules: rulesOf(role.rules, isOn) }
      : { aggregationRule: { clusterRoleSelectors: [{ matchLabels: { [aggregationLabel(aggregates)]: "true" } }] } }),
  };
}

function controllerBinding(role: DefaultRole): KubeObject {
  const { name } = role;
  return binding({
    namespace: "",
    name,
    role: name,
    subjects: [`ServiceAccount kube-system/${controllerAccount(role)}`],
  });
}

function binding({ namespace, name, role, subjects }: DefaultBinding): KubeObject {
  const kind = namespace === "" ? "ClusterRole" : "Role";
  return {
    ...object(`${kind}Binding`, name, namespace),
    ...(subjects.length === 0 ? {} : { subjects: subjects.map(subjectOf) }),
    roleRef: { apiGroup: rbacGroup, kind, name: role },
  };
}

function subjectOf(text: SubjectText): JsonObject {
  const [kind = "", full = ""] = text.split(" ");
  if (kind !== "ServiceAccount") return { kind, apiGroup: rbacGroup, name: full };
  const [namespace = "", name = ""] = full.split("/");
  return { kind, name, namespace };
}

function object(kind: string, name: string, namespace: string, labels: Record<string, string> = {}): KubeObject {
  return {
    apiVersion,
    kind,
    metadata: {
      name,
      ...(namespace === "" ? {} : { namespace }),
      labels: { "kubernetes.io/bootstrapping": "rbac-defaults", ...labels },
      annotations: { [autoUpdateAnnotation]: "true" },
    },
  };
}

function aggregationLabel(role: string): string {
  return `rbac.authorization.k8s.io/aggregate-to-${role}`;
}
