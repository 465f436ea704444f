import type { StatusError } from "../../api/status.ts";
import { serviceAccountGroups } from "../../request/service-account-user.ts";
import { anonymousUser, type UserInfo } from "../../request/user-info.ts";
import type { Attributes, ResourceAttributes } from "./attributes.ts";
import type { Authorizer } from "./authorizer.ts";
import { forbiddenError } from "./forbidden.ts";
import { systemMastersGroup } from "./system-masters.ts";
import { nodeNameExtra, nodeNameOf, serviceAccountOf } from "./user-names.ts";

const authenticationGroup = "authentication.k8s.io";
const authenticatedGroup = "system:authenticated";
const unauthenticatedGroup = "system:unauthenticated";

/** The impersonated user of a request. */
export interface Impersonated {
  readonly user: UserInfo;
  /** The constrained verb that allowed it; "" for `impersonate`, which allows every request. */
  readonly constraint: string;
}

export interface ImpersonationOptions {
  readonly authorizer: Authorizer;
  /** Whether the constrained modes are tried before the verb that allows everything. */
  readonly constrained: boolean;
  readonly lastModes: LastModes;
}

/**
 * A mode of impersonation. The constrained ones each apply to some kinds of users. Besides their verb on every part of
 * the user, they need `impersonate-on:<mode>:<verb>` on the requested resource.
 */
interface Mode {
  readonly name: "associated-node" | "arbitrary-node" | "serviceaccount" | "user-info";
  fits(wanted: UserInfo, requestor: UserInfo): boolean;
}

const constrainedModes: readonly Mode[] = [
  {
    name: "associated-node",
    fits(wanted, requestor) {
      const node = nodeNameOf(wanted.name);
      const own = requestor.extra.get(nodeNameExtra);
      const isAccount = serviceAccountOf(requestor.name) !== undefined;
      return node !== undefined && isNameOnly(wanted) && isAccount && own?.length === 1 && own[0] === node;
    },
  },
  { name: "arbitrary-node", fits: (wanted) => isNameOnly(wanted) && nodeNameOf(wanted.name) !== undefined },
  { name: "serviceaccount", fits: (wanted) => isNameOnly(wanted) && serviceAccountOf(wanted.name) !== undefined },
  {
    name: "user-info",
    fits: ({ name }) => nodeNameOf(name) === undefined && serviceAccountOf(name) === undefined,
  },
];

/** The mode that allowed a user's last impersonation. It is tried first the next time. */
export class LastModes {
  readonly #modes = new Map<string, Mode | undefined>();

  /** Returns the modes in the order of the attempts; undefined stands for the verb that allows everything. */
  inOrder(userName: string): readonly (Mode | undefined)[] {
    if (!this.#modes.has(userName)) return allModes;
    const last = this.#modes.get(userName);
    return [last, ...allModes.filter((mode) => mode !== last)];
  }

  /** Forgets the oldest user if there are too many. */
  note(userName: string, mode: Mode | undefined): void {
    this.#modes.delete(userName);
    this.#modes.set(userName, mode);
    if (this.#modes.size <= rememberedUsersMax) return;
    const [oldest] = this.#modes.keys();
    if (oldest !== undefined) this.#modes.delete(oldest);
  }
}

const rememberedUsersMax = 10_000;
const allModes: readonly (Mode | undefined)[] = [...constrainedModes, undefined];
const onlyLegacy: readonly (Mode | undefined)[] = [undefined];

/**
 * Returns the user that `requestor` may impersonate for this request. Each part of `wanted` is authorized separately.
 * The requestor's own groups are dropped.
 * @throws StatusError 403 that names the first denied part, of the first mode that was tried
 */
export async function impersonate(
  { authorizer, constrained, lastModes }: ImpersonationOptions,
  requestor: UserInfo,
  wanted: UserInfo,
  request: Attributes,
): Promise<Impersonated> {
  let refusal: StatusError | undefined;
  for (const mode of constrained ? lastModes.inOrder(requestor.name) : onlyLegacy) {
    if (mode !== undefined && !mode.fits(wanted, requestor)) continue;
    const checks =
      mode === undefined ? legacyChecks(wanted) : [onRequest(mode, request), ...constrainedChecks(mode, wanted)];
    const refused = await firstRefused(authorizer, askedOf(mode, requestor), checks);
    refusal ??= refused;
    if (refused !== undefined || (mode !== undefined && isUnfit(wanted))) continue;
    lastModes.note(requestor.name, mode);
    const constraint = mode === undefined ? "" : `impersonate:${mode.name}`;
    return { user: withImpliedGroups(wanted, mode !== undefined), constraint };
  }
  throw refusal;
}

async function firstRefused(
  authorizer: Authorizer,
  requestor: UserInfo,
  checks: readonly Attributes[],
): Promise<StatusError | undefined> {
  for (const attributes of checks) {
    const decision = await authorizer.authorize(requestor, attributes);
    if (decision.kind !== "allow") return forbiddenError(requestor, attributes, decision.reason);
  }
  return undefined;
}

function legacyChecks(wanted: UserInfo): Attributes[] {
  const account = serviceAccountOf(wanted.name);
  const who =
    account === undefined
      ? check("impersonate", "", "users", wanted.name)
      : { ...check("impersonate", "", "serviceaccounts", account.name), namespace: account.namespace };
  return [
    who,
    ...uidChecks("impersonate", wanted),
    ...wanted.groups.map((group) => check("impersonate", "", "groups", group)),
    ...extraChecks("impersonate", wanted),
  ];
}

function constrainedChecks({ name: mode }: Mode, wanted: UserInfo): Attributes[] {
  const verb = `impersonate:${mode}`;
  return [
    constrainedNameCheck(mode, verb, wanted.name),
    ...uidChecks(verb, wanted),
    ...wanted.groups.map((group) => check(verb, authenticationGroup, "groups", group)),
    ...extraChecks(verb, wanted),
  ];
}

function constrainedNameCheck(mode: Mode["name"], verb: string, userName: string): Attributes {
  const node = nodeNameOf(userName);
  // In this mode, the requestor may impersonate its own node on every node.
  if (node !== undefined) return check(verb, authenticationGroup, "nodes", mode === "associated-node" ? "*" : node);
  const account = serviceAccountOf(userName);
  if (account === undefined) return check(verb, authenticationGroup, "users", userName);
  return { ...check(verb, authenticationGroup, "serviceaccounts", account.name), namespace: account.namespace };
}

function uidChecks(verb: string, { uid }: UserInfo): Attributes[] {
  return uid === "" ? [] : [check(verb, authenticationGroup, "uids", uid)];
}

function extraChecks(verb: string, { extra }: UserInfo): Attributes[] {
  return [...extra].flatMap(([key, values]) =>
    values.map((value) => ({ ...check(verb, authenticationGroup, "userextras", value), subresource: key })),
  );
}

function check(verb: string, group: string, resource: string, name: string): ResourceAttributes {
  return { kind: "resource", verb, group, version: "v1", resource, subresource: "", namespace: "", name };
}

function onRequest({ name }: Mode, request: Attributes): Attributes {
  return { ...request, verb: `impersonate-on:${name}:${request.verb}` };
}

/** Reports whether the constrained modes never allow this user. */
function isUnfit({ groups, extra }: UserInfo): boolean {
  if (groups.includes("") || groups.includes(systemMastersGroup)) return true;
  for (const [key, values] of extra) {
    if (key === "" || key !== key.toLowerCase() || values.includes("")) return true;
  }
  return false;
}

/** Returns the requestor without details of its node, because an account is authorized for all nodes equally. */
function askedOf(mode: Mode | undefined, requestor: UserInfo): UserInfo {
  if (mode?.name !== "associated-node") return requestor;
  const keys = [...requestor.extra.keys()].sort();
  return { ...requestor, extra: new Map([["authentication.kubernetes.io/associated-node-keys", keys]]) };
}

function isNameOnly({ uid, groups, extra }: UserInfo): boolean {
  return uid === "" && groups.length === 0 && extra.size === 0;
}

/** Adds the implied groups of every user, every account and, if nodes are impersonated as such, every node. */
function withImpliedGroups(wanted: UserInfo, constrained: boolean): UserInfo {
  let { groups } = wanted;
  const account = serviceAccountOf(wanted.name);
  if (account !== undefined && groups.length === 0) groups = serviceAccountGroups(account.namespace);
  if (constrained && nodeNameOf(wanted.name) !== undefined) groups = ["system:nodes"];
  if (wanted.name === anonymousUser.name) return { ...wanted, groups: withGroup(groups, unauthenticatedGroup) };
  if (groups.includes(unauthenticatedGroup)) return { ...wanted, groups };
  return { ...wanted, groups: withGroup(groups, authenticatedGroup) };
}

function withGroup(groups: readonly string[], group: string): readonly string[] {
  return groups.includes(group) ? groups : [...groups, group];
}
