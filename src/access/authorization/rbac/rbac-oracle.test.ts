import { expect, test } from "bun:test";
import type { UserInfo } from "../../../request/user-info.ts";
import type { Attributes } from "../attributes.ts";
import { rbacAuthorizer } from "./rbac-authorizer.ts";
import { RbacPolicy } from "./rbac-policy.ts";
import { EntrySource, testPrefixes } from "./testing.ts";

/**
 * Compares the authorizer with a literal evaluation of every binding, subject and rule. `RBAC_PAIRS` sets the number of
 * questions, and `SEED` repeats a run.
 */
const pairs = Number(Bun.env["RBAC_PAIRS"] ?? 20_000);
const seed = Number(Bun.env["SEED"] ?? Date.now() % 1_000_000);

interface Rule {
  verbs: string[];
  apiGroups?: string[];
  resources?: string[];
  resourceNames?: string[];
  nonResourceURLs?: string[];
}
interface OracleBinding {
  namespace: string;
  roleRef: { kind: string; name: string };
  subjects: { kind: string; name: string; namespace?: string }[];
}

class Oracle {
  readonly roles = new Map<string, Rule[]>();
  readonly bindings = new Map<string, OracleBinding>();

  allows(user: UserInfo, attributes: Attributes): boolean {
    const namespace = attributes.kind === "resource" ? attributes.namespace : "";
    for (const binding of this.bindings.values()) {
      if (binding.namespace !== "" && binding.namespace !== namespace) continue;
      if (!binding.subjects.some((subject) => isSubject(user, subject, binding.namespace))) continue;
      const { kind, name } = binding.roleRef;
      const rules = this.roles.get(kind === "ClusterRole" ? `/${name}` : `${binding.namespace}/${name}`) ?? [];
      if (rules.some((rule) => ruleAllows(rule, attributes))) return true;
    }
    return false;
  }
}

function isSubject(user: UserInfo, subject: OracleBinding["subjects"][number], bindingNamespace: string): boolean {
  if (subject.kind === "User") return user.name === subject.name;
  if (subject.kind === "Group") return user.groups.includes(subject.name);
  const namespace = subject.namespace || bindingNamespace;
  return namespace !== "" && user.name === `system:serviceaccount:${namespace}:${subject.name}`;
}

function ruleAllows(rule: Rule, attributes: Attributes): boolean {
  if (!rule.verbs.includes("*") && !rule.verbs.includes(attributes.verb)) return false;
  if (attributes.kind === "nonResource") {
    return (rule.nonResourceURLs ?? []).some(
      (url) => url === attributes.path || (url.endsWith("*") && attributes.path.startsWith(url.replace(/\*+$/, ""))),
    );
  }
  const { group, resource, subresource, name } = attributes;
  const full = subresource === "" ? resource : `${resource}/${subresource}`;
  const groups = rule.apiGroups ?? [];
  const names = rule.resourceNames ?? [];
  return (
    (groups.includes("*") || groups.includes(group)) &&
    (rule.resources ?? []).some((r) => r === "*" || r === full || (subresource !== "" && r === `*/${subresource}`)) &&
    (names.length === 0 || names.includes(name))
  );
}

/** mulberry32 */
function randomFrom(start: number): (below: number) => number {
  let state = start;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) % below;
  };
}

const verbs = ["get", "list", "watch", "create", "impersonate", "*"];
const groups = ["", "apps", "rbac.authorization.k8s.io", "*"];
const resources = ["pods", "pods/log", "pods/scale", "*", "*/scale", "*/log", "secrets", "deployments/scale"];
const names = ["", "a", "b", "__proto__"];
const urls = ["/api", "/api/*", "/healthz", "*", "/metrics**", "/api/v1"];
const namespaces = ["n", "n2", "__proto__"];
const users = ["u", "v", "system:serviceaccount:n:sa", "system:serviceaccount:n2:sa", "__proto__"];
const userGroups = ["g", "h", "system:authenticated", "constructor"];

test(`the authorizer agrees with a literal evaluation of the rules (SEED=${seed}, ${pairs} pairs)`, () => {
  const random = randomFrom(seed);
  const pick = <T>(list: readonly T[]): T => list[random(list.length)] as T;
  const some = <T>(list: readonly T[], max: number): T[] => Array.from({ length: random(max + 1) }, () => pick(list));
  const least = <T>(list: readonly T[], max: number): T[] => [pick(list), ...some(list, max - 1)];

  const randomRule = (): Rule => {
    if (random(5) === 0) return { verbs: least(verbs, 2), nonResourceURLs: least(urls, 2) };
    // Some rules are too wide to be indexed.
    const filler = random(12) === 0 ? Array.from({ length: 1_500 }, (_, at) => `filler${at}`) : [];
    return {
      verbs: least(verbs, 3),
      apiGroups: least(groups, 2),
      resources: [...least(resources, 3), ...filler],
      ...(random(2) === 0 ? { resourceNames: some(names, 2) } : {}),
    };
  };
  const randomAttributes = (): Attributes => {
    if (random(6) === 0) {
      return { kind: "nonResource", verb: pick(verbs), path: pick([...urls, "/api/v1/x", "/metricsx", "/"]) };
    }
    const [resource = "", subresource = ""] = pick(resources).split("/");
    const namespace = random(3) === 0 ? "" : pick(namespaces);
    const rest = { group: pick(groups), version: "v1", resource, subresource, namespace, name: pick(names) };
    return { kind: "resource", verb: pick(verbs), ...rest };
  };
  const randomUser = (): UserInfo => ({ name: pick(users), uid: "", groups: some(userGroups, 3), extra: new Map() });

  let asked = 0;
  while (asked < pairs) {
    const oracle = new Oracle();
    const source = new EntrySource();
    const policy = new RbacPolicy(testPrefixes);
    let following = false;
    for (let step = 0; step < 60; step++) {
      // Part of the state exists before the policy starts, and the rest arrives as events.
      if (!following && step >= 10) {
        policy.follow(source);
        following = true;
      }
      const inCluster = random(2) === 0;
      const namespace = inCluster ? "" : pick(namespaces);
      const name = `o${random(8)}`;
      if (random(2) === 0) {
        const key = inCluster ? testPrefixes.clusterRoles + name : `${testPrefixes.roles}${namespace}/${name}`;
        if (random(4) === 0) {
          oracle.roles.delete(`${namespace}/${name}`);
          source.delete(key);
        } else {
          const rules = Array.from({ length: random(4) }, randomRule);
          oracle.roles.set(`${namespace}/${name}`, rules);
          source.put(key, { rules: rules.length === 0 ? null : rules });
        }
      } else {
        const prefix = inCluster ? testPrefixes.clusterRoleBindings : `${testPrefixes.roleBindings}${namespace}/`;
        if (random(4) === 0) {
          oracle.bindings.delete(prefix + name);
          source.delete(prefix + name);
        } else {
          const kind = inCluster || random(2) === 0 ? "ClusterRole" : "Role";
          const subjects = Array.from({ length: random(4) }, () => randomSubject(pick, random));
          const roleRef = { kind, name: `o${random(8)}` };
          oracle.bindings.set(prefix + name, { namespace, roleRef, subjects });
          source.put(prefix + name, { roleRef, ...(subjects.length === 0 ? {} : { subjects }) });
        }
      }
      if (!following) continue;
      for (let at = 0; at < 12; at++, asked++) {
        const user = randomUser();
        const attributes = randomAttributes();
        const answer = rbacAuthorizer(policy).authorize(user, attributes);
        const allows = "kind" in answer && answer.kind === "allow";
        if (allows !== oracle.allows(user, attributes)) {
          expect({ asked, user, attributes, allows }).toEqual({ asked, user, attributes, allows: !allows });
        }
      }
    }
  }
  expect(asked).toBeGreaterThanOrEqual(pairs);
});

function randomSubject(
  pick: <T>(list: readonly T[]) => T,
  random: (below: number) => number,
): { kind: string; name: string; namespace?: string } {
  const kind = pick(["User", "Group", "ServiceAccount"]);
  if (kind === "User") return { kind, name: pick(users) };
  if (kind === "Group") return { kind, name: pick(userGroups) };
  return { kind, name: "sa", ...(random(2) === 0 ? {} : { namespace: pick(namespaces) }) };
}
