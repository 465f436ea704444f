import { decodeBody } from "../../../api/codec/stored-object.ts";
import type { Entry, Key } from "../../../api/entry.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../../../api/json.ts";
import { textOf } from "../../../api/json-reading.ts";
import { serviceAccountUserName } from "../../../request/service-account-user.ts";
import type { UserInfo } from "../../../request/user-info.ts";
import type { Store, StoreEvent } from "../../../storage/store.ts";
import type { Attributes } from "../attributes.ts";
import type { Decision } from "../authorizer.ts";
import { GrantIndex } from "./grant-index.ts";
import { type PolicyRule, policyRules } from "./policy-rule.ts";

/** Number of roles of one subject in one scope above which they are merged into a single index. */
const rolesAskedOneByOneMax = 4;

type RoleKind = "Role" | "ClusterRole";

/**
 * A role, or the placeholder of a missing role that a binding names. Its rules are read when they are first asked for:
 * most of the default roles never are.
 */
class Role {
  readonly kind: RoleKind;
  readonly name: string;
  readonly bindings = new Set<Binding>();
  #entry: Entry | undefined;
  #rules: readonly PolicyRule[] | undefined;
  #index: GrantIndex<true> | undefined;

  constructor(kind: RoleKind, name: string) {
    this.kind = kind;
    this.name = name;
  }

  /** Replaces the stored object. Undefined means that it was deleted. */
  put(entry: Entry | undefined): void {
    this.#entry = entry;
    this.#rules = undefined;
    this.#index = undefined;
  }

  get exists(): boolean {
    return this.#entry !== undefined;
  }

  /** Rules; undefined if the role does not exist. */
  get rules(): readonly PolicyRule[] | undefined {
    if (this.#rules === undefined && this.#entry !== undefined) {
      this.#rules = policyRules(decodeBody(this.#entry)["rules"]);
    }
    return this.#rules;
  }

  get index(): GrantIndex<true> | undefined {
    const { rules } = this;
    if (this.#index === undefined && rules !== undefined) {
      this.#index = new GrantIndex();
      for (const rule of rules) this.#index.add(rule, true);
    }
    return this.#index;
  }
}

interface Binding {
  readonly role: Role;
  readonly grants: readonly { readonly scope: Scope; readonly bound: BoundRole }[];
}

/** A role that a binding grants to a subject. */
interface BoundRole {
  readonly role: Role;
  readonly allow: Decision;
}

/** The roles of one subject in one namespace, or in the whole cluster. */
interface Scope {
  readonly subjects: Map<string, Subject>;
  readonly subject: string;
  readonly namespace: string;
  readonly bound: BoundRole[];
  merged: GrantIndex<BoundRole> | undefined;
}
/** Scopes by namespace; "" for the cluster. */
type Subject = Map<string, Scope>;

/** Key prefixes of the four kinds, each with a trailing slash. */
export interface RbacPrefixes {
  readonly roles: Key;
  readonly clusterRoles: Key;
  readonly roleBindings: Key;
  readonly clusterRoleBindings: Key;
}

export interface ResolvedRules {
  readonly rules: readonly PolicyRule[];
  /** The text for each bound role that does not exist. */
  readonly errors: readonly string[];
}

/**
 * Roles and bindings of the store, indexed for authorization and updated in the turn in which a change becomes visible.
 * Bindings point to their role, so a role is compiled only once.
 *
 *     user or group → namespace → bound roles → role → index of its rules
 */
export class RbacPolicy {
  readonly #prefixes: RbacPrefixes;
  /** Roles by `<namespace>/<name>`; cluster roles by `/<name>`. */
  readonly #roles = new Map<string, Role>();
  readonly #bindings = new Map<Key, Binding>();
  readonly #users = new Map<string, Subject>();
  readonly #groups = new Map<string, Subject>();
  /** Bound roles that do not exist; usually empty. */
  readonly #missing = new Set<Role>();

  constructor(prefixes: RbacPrefixes) {
    this.#prefixes = prefixes;
  }

  /** Reads the stored objects and follows the store from then on. */
  follow(store: Pick<Store, "scan" | "subscribe">): Disposable {
    for (const prefix of Object.values(this.#prefixes)) {
      for (const entry of store.scan(prefix)) this.#put(entry);
    }
    return store.subscribe((events) => this.#receive(events));
  }

  /** Returns a decision with the binding that allows it, or undefined. */
  find(user: UserInfo, attributes: Attributes): Decision | undefined {
    const found = this.#findFor(this.#users.get(user.name), attributes);
    if (found !== undefined) return found;
    for (const group of user.groups) {
      const granted = this.#findFor(this.#groups.get(group), attributes);
      if (granted !== undefined) return granted;
    }
    return undefined;
  }

  /** Returns the user's rules in a namespace and in the cluster; for "" only in the cluster. */
  rulesFor(user: UserInfo, namespace: string): ResolvedRules {
    const rules: PolicyRule[] = [];
    const errors = new Set<string>();
    for (const { role } of this.#boundTo(user, namespace)) {
      if (role.rules === undefined) errors.add(missingText(role));
      else rules.push(...role.rules);
    }
    return { rules, errors: [...errors] };
  }

  /** Returns a text for each bound role of the user that does not exist. */
  missingRoles(user: UserInfo, namespace: string): readonly string[] {
    return this.#missing.size === 0 ? [] : this.rulesFor(user, namespace).errors;
  }

  /** Returns the rules of a role, or undefined if it does not exist. `namespace` is the binding's. */
  roleRules(kind: string, name: string, namespace: string): readonly PolicyRule[] | undefined {
    return this.#roles.get(roleKey(kind, name, namespace))?.rules;
  }

  #findFor(subject: Subject | undefined, attributes: Attributes): Decision | undefined {
    if (subject === undefined) return undefined;
    const found = findInScope(subject.get(""), attributes);
    if (found !== undefined || attributes.kind === "nonResource" || attributes.namespace === "") return found;
    return findInScope(subject.get(attributes.namespace), attributes);
  }

  *#boundTo(user: UserInfo, namespace: string): Generator<BoundRole> {
    const subjects = [this.#users.get(user.name), ...user.groups.map((group) => this.#groups.get(group))];
    for (const scope of namespace === "" ? [""] : ["", namespace]) {
      for (const subject of subjects) yield* subject?.get(scope)?.bound ?? [];
    }
  }

  #receive(events: readonly StoreEvent[]): void {
    for (const { type, entry } of events) {
      if (type === "DELETED") this.#remove(entry.key);
      else this.#put(entry);
    }
  }

  #put(entry: Entry): void {
    const { key } = entry;
    if (this.#roleKeyOf(key) !== undefined) this.#putRole(key, entry);
    else if (this.#bindingOf(key) !== undefined) this.#putBinding(key, decodeBody(entry));
  }

  #remove(key: Key): void {
    if (this.#roleKeyOf(key) !== undefined) this.#putRole(key, undefined);
    else if (this.#bindingOf(key) !== undefined) this.#removeBinding(key);
  }

  #putRole(key: Key, entry: Entry | undefined): void {
    const { kind, namespace, name } = this.#roleKeyOf(key) as RoleRef;
    const role = this.#role(kind, name, namespace);
    role.put(entry);
    for (const binding of role.bindings) {
      for (const { scope } of binding.grants) scope.merged = undefined;
    }
    this.#settle(role, namespace);
  }

  #putBinding(key: Key, body: JsonObject): void {
    this.#removeBinding(key);
    const { namespace, name } = this.#bindingOf(key) as { namespace: string; name: string };
    const ref = isJsonObject(body["roleRef"]) ? body["roleRef"] : {};
    const kind = textOf(ref["kind"]);
    if (kind !== "ClusterRole" && !(kind === "Role" && namespace !== "")) return;
    const role = this.#role(kind, textOf(ref["name"]), namespace);
    const grants = subjectsOf(body["subjects"]).flatMap((subject) => {
      const scope = this.#scope(subject, namespace);
      if (scope === undefined) return [];
      const bound: BoundRole = { role, allow: allowed(role, name, namespace, subject) };
      scope.bound.push(bound);
      scope.merged = undefined;
      return [{ scope, bound }];
    });
    const binding: Binding = { role, grants };
    role.bindings.add(binding);
    this.#bindings.set(key, binding);
    this.#settle(role, namespace);
  }

  #removeBinding(key: Key): void {
    const binding = this.#bindings.get(key);
    if (binding === undefined) return;
    this.#bindings.delete(key);
    for (const { scope, bound } of binding.grants) {
      scope.bound.splice(scope.bound.indexOf(bound), 1);
      scope.merged = undefined;
      if (scope.bound.length === 0) forgetScope(scope);
    }
    binding.role.bindings.delete(binding);
    const { namespace } = this.#bindingOf(key) as { namespace: string };
    this.#settle(binding.role, namespace);
  }

  #role(kind: RoleKind, name: string, namespace: string): Role {
    const key = roleKey(kind, name, namespace);
    let role = this.#roles.get(key);
    if (role === undefined) {
      role = new Role(kind, name);
      this.#roles.set(key, role);
    }
    return role;
  }

  /** Updates the missing roles after a change of the role or its bindings. */
  #settle(role: Role, namespace: string): void {
    const { exists } = role;
    if (exists || role.bindings.size === 0) this.#missing.delete(role);
    else this.#missing.add(role);
    if (!exists && role.bindings.size === 0) this.#roles.delete(roleKey(role.kind, role.name, namespace));
  }

  /** Returns the grants of a subject in `namespace`, or undefined for an impossible subject. */
  #scope(subject: SubjectRef, namespace: string): Scope | undefined {
    const name = subject.kind === "ServiceAccount" ? accountName(subject, namespace) : subject.name;
    if (name === undefined) return undefined;
    const subjects = subject.kind === "Group" ? this.#groups : this.#users;
    let scopes = subjects.get(name);
    if (scopes === undefined) {
      scopes = new Map();
      subjects.set(name, scopes);
    }
    let scope = scopes.get(namespace);
    if (scope === undefined) {
      scope = { subjects, subject: name, namespace, bound: [], merged: undefined };
      scopes.set(namespace, scope);
    }
    return scope;
  }

  #roleKeyOf(key: Key): RoleRef | undefined {
    const { roles, clusterRoles } = this.#prefixes;
    if (key.startsWith(clusterRoles)) {
      return { kind: "ClusterRole", namespace: "", name: key.slice(clusterRoles.length) };
    }
    return key.startsWith(roles) ? { kind: "Role", ...namespacedName(key, roles) } : undefined;
  }

  #bindingOf(key: Key): { readonly namespace: string; readonly name: string } | undefined {
    const { roleBindings, clusterRoleBindings } = this.#prefixes;
    if (key.startsWith(clusterRoleBindings)) return { namespace: "", name: key.slice(clusterRoleBindings.length) };
    return key.startsWith(roleBindings) ? namespacedName(key, roleBindings) : undefined;
  }
}

interface RoleRef {
  readonly kind: RoleKind;
  readonly namespace: string;
  readonly name: string;
}

interface SubjectRef {
  readonly kind: "User" | "Group" | "ServiceAccount";
  readonly name: string;
  readonly namespace: string;
}

function findInScope(scope: Scope | undefined, attributes: Attributes): Decision | undefined {
  if (scope === undefined) return undefined;
  const { bound } = scope;
  if (bound.length > rolesAskedOneByOneMax) return mergedIndex(scope).find(attributes)?.allow;
  for (const one of bound) if (one.role.index?.find(attributes) === true) return one.allow;
  return undefined;
}

function mergedIndex(scope: Scope): GrantIndex<BoundRole> {
  if (scope.merged === undefined) {
    scope.merged = new GrantIndex();
    for (const bound of scope.bound) for (const rule of bound.role.rules ?? []) scope.merged.add(rule, bound);
  }
  return scope.merged;
}

function forgetScope({ subjects, subject, namespace }: Scope): void {
  const scopes = subjects.get(subject);
  scopes?.delete(namespace);
  if (scopes?.size === 0) subjects.delete(subject);
}

function roleKey(kind: string, name: string, namespace: string): string {
  return kind === "ClusterRole" ? `/${name}` : `${namespace}/${name}`;
}

function namespacedName(key: Key, prefix: Key): { namespace: string; name: string } {
  const slash = key.indexOf("/", prefix.length);
  return { namespace: key.slice(prefix.length, slash), name: key.slice(slash + 1) };
}

function subjectsOf(value: JsonValue | undefined): SubjectRef[] {
  if (!Array.isArray(value)) return [];
  return value.filter(isJsonObject).flatMap((subject) => {
    const kind = textOf(subject["kind"]);
    if (kind !== "User" && kind !== "Group" && kind !== "ServiceAccount") return [];
    return [{ kind, name: textOf(subject["name"]), namespace: textOf(subject["namespace"]) }];
  });
}

/** Returns the user name of an account. Without a namespace it belongs to the RoleBinding's. */
function accountName(subject: SubjectRef, bindingNamespace: string): string | undefined {
  const namespace = subject.namespace === "" ? bindingNamespace : subject.namespace;
  return namespace === "" ? undefined : serviceAccountUserName(namespace, subject.name);
}

/** Returns a decision with a reason such as `RBAC: allowed by RoleBinding "b/ns" of ClusterRole "r" to User "u"`. */
function allowed(role: Role, binding: string, namespace: string, subject: SubjectRef): Decision {
  const bindingText =
    namespace === "" ? `ClusterRoleBinding ${quote(binding)}` : `RoleBinding ${quote(`${binding}/${namespace}`)}`;
  const subjectName =
    subject.kind === "ServiceAccount"
      ? `${subject.name}/${subject.namespace === "" ? namespace : subject.namespace}`
      : subject.name;
  const of = `of ${role.kind} ${quote(role.name)} to ${subject.kind} ${quote(subjectName)}`;
  return { kind: "allow", reason: `RBAC: allowed by ${bindingText} ${of}` };
}

function missingText({ kind, name }: Role): string {
  return `${kind.toLowerCase()}.rbac.authorization.k8s.io ${quote(name)} not found`;
}

function quote(name: string): string {
  return JSON.stringify(name);
}
