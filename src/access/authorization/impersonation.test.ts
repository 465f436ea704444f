import { describe, expect, test } from "bun:test";
import { parseRequestInfo } from "../../http/parse-request-info.ts";
import type { UserInfo } from "../../request/user-info.ts";
import type { Attributes } from "./attributes.ts";
import type { Authorizer } from "./authorizer.ts";
import { impersonate, LastModes } from "./impersonation.ts";

const user = (name: string, more: Partial<UserInfo> = {}): UserInfo => ({
  name,
  uid: "",
  groups: [],
  extra: new Map(),
  ...more,
});
const alice = user("alice");
const listPods = parseRequestInfo("GET", "/api/v1/namespaces/ns/pods");

/** Formats `verb group/resource[/subresource] namespace/name` for the tests. */
function textOf(attributes: Attributes): string {
  if (attributes.kind === "nonResource") return `${attributes.verb} ${attributes.path}`;
  const { verb, group, resource, subresource, namespace, name } = attributes;
  return `${verb} ${group}/${resource}${subresource === "" ? "" : `/${subresource}`} ${namespace}/${name}`;
}

/** Returns an authorizer that allows these and records the questions. */
function allowing(...allowed: string[]): Authorizer & { asked: string[]; users: UserInfo[] } {
  const asked: string[] = [];
  const users: UserInfo[] = [];
  return {
    asked,
    users,
    authorize(who, attributes) {
      asked.push(textOf(attributes));
      users.push(who);
      return { kind: allowed.includes(textOf(attributes)) ? "allow" : "noOpinion", reason: "" };
    },
  };
}

const groupOf = "authentication.k8s.io";
const nodePod = user("system:serviceaccount:ns:agent", {
  extra: new Map([["authentication.kubernetes.io/node-name", ["n1"]]]),
});

describe("a constrained mode", () => {
  test.each<[string, UserInfo, UserInfo, string[], string, string[]]>([
    [
      "of other users",
      alice,
      user("bob", { uid: "1", groups: ["g"], extra: new Map([["k", ["v"]]]) }),
      [
        "impersonate-on:user-info:list /pods ns/",
        `impersonate:user-info ${groupOf}/users /bob`,
        `impersonate:user-info ${groupOf}/uids /1`,
        `impersonate:user-info ${groupOf}/groups /g`,
        `impersonate:user-info ${groupOf}/userextras/k /v`,
      ],
      "impersonate:user-info",
      ["g", "system:authenticated"],
    ],
    [
      "of accounts",
      alice,
      user("system:serviceaccount:ns:robot"),
      [
        "impersonate-on:serviceaccount:list /pods ns/",
        `impersonate:serviceaccount ${groupOf}/serviceaccounts ns/robot`,
      ],
      "impersonate:serviceaccount",
      ["system:serviceaccounts", "system:serviceaccounts:ns", "system:authenticated"],
    ],
    [
      "of any node",
      alice,
      user("system:node:n1"),
      ["impersonate-on:arbitrary-node:list /pods ns/", `impersonate:arbitrary-node ${groupOf}/nodes /n1`],
      "impersonate:arbitrary-node",
      ["system:nodes", "system:authenticated"],
    ],
    [
      "of one's own node",
      nodePod,
      user("system:node:n1"),
      ["impersonate-on:associated-node:list /pods ns/", `impersonate:associated-node ${groupOf}/nodes /*`],
      "impersonate:associated-node",
      ["system:nodes", "system:authenticated"],
    ],
  ])("%s needs every part and the request", async (_what, requestor, wanted, parts, constraint, groups) => {
    const all = await impersonate(
      { authorizer: allowing(...parts), constrained: true, lastModes: new LastModes() },
      requestor,
      wanted,
      listPods,
    );
    expect(all).toMatchObject({ constraint, user: { name: wanted.name, groups } });
    for (const missing of parts) {
      const authorizer = allowing(...parts.filter((part) => part !== missing));
      await expect(
        impersonate({ authorizer, constrained: true, lastModes: new LastModes() }, requestor, wanted, listPods),
      ).rejects.toThrow("cannot impersonate");
    }
    await expect(
      impersonate(
        { authorizer: allowing(...parts), constrained: false, lastModes: new LastModes() },
        requestor,
        wanted,
        listPods,
      ),
    ).rejects.toThrow();
  });

  test.each<[string, UserInfo, UserInfo]>([
    ["another node than one's own, as one's own", nodePod, user("system:node:n2")],
    ["a node with groups", alice, user("system:node:n1", { groups: ["g"] })],
    ["an account with groups", alice, user("system:serviceaccount:ns:robot", { groups: ["g"] })],
    ["system:masters", alice, user("bob", { groups: ["system:masters"] })],
    ["a group without a name", alice, user("bob", { groups: [""] })],
    ["a value without content", alice, user("bob", { extra: new Map([["k", [""]]]) })],
  ])("never allows %s", async (_what, requestor, wanted) => {
    const authorizer: Authorizer = {
      authorize: (_user, { verb }) => ({
        kind:
          verb.includes("associated-node") || verb.includes(":user-info") || verb.includes(":serviceaccount")
            ? "allow"
            : "noOpinion",
        reason: "",
      }),
    };
    await expect(
      impersonate({ authorizer, constrained: true, lastModes: new LastModes() }, requestor, wanted, listPods),
    ).rejects.toThrow("cannot impersonate");
  });

  test("does not tell an authorizer the node on which an account runs", async () => {
    const authorizer = allowing(
      "impersonate-on:associated-node:list /pods ns/",
      `impersonate:associated-node ${groupOf}/nodes /*`,
    );
    await impersonate(
      { authorizer, constrained: true, lastModes: new LastModes() },
      nodePod,
      user("system:node:n1"),
      listPods,
    );
    expect([...(authorizer.users[0]?.extra.keys() ?? [])]).toEqual([
      "authentication.kubernetes.io/associated-node-keys",
    ]);
  });
});

describe("the verb that allows every request", () => {
  test("is checked for each part in order, and the first denial is reported", async () => {
    const wanted = user("bob", { groups: ["a", "b"] });
    const authorizer = allowing("impersonate /users /bob", "impersonate /groups /a");
    await expect(
      impersonate({ authorizer, constrained: false, lastModes: new LastModes() }, alice, wanted, listPods),
    ).rejects.toThrow(
      'groups "b" is forbidden: User "alice" cannot impersonate resource "groups" in API group "" at the cluster scope',
    );
    expect(authorizer.asked).toEqual(["impersonate /users /bob", "impersonate /groups /a", "impersonate /groups /b"]);
  });

  test.each<[string, string[], string[]]>([
    ["bob", [], ["system:authenticated"]],
    ["bob", ["g"], ["g", "system:authenticated"]],
    ["bob", ["system:authenticated", "g"], ["system:authenticated", "g"]],
    ["bob", ["system:unauthenticated"], ["system:unauthenticated"]],
    ["system:anonymous", [], ["system:unauthenticated"]],
    [
      "system:serviceaccount:ns:robot",
      [],
      ["system:serviceaccounts", "system:serviceaccounts:ns", "system:authenticated"],
    ],
    ["system:serviceaccount:ns:robot", ["g"], ["g", "system:authenticated"]],
    ["system:serviceaccount:ns:Not_A_Name", [], ["system:authenticated"]],
    ["system:serviceaccount:a:b:c", [], ["system:authenticated"]],
  ])("%s with %j is in %j", async (name, groups, expected) => {
    const authorizer: Authorizer = { authorize: () => ({ kind: "allow", reason: "" }) };
    const { user: made } = await impersonate(
      { authorizer, constrained: false, lastModes: new LastModes() },
      alice,
      user(name, { groups }),
      listPods,
    );
    expect(made.groups).toEqual(expected);
  });
});

test("the mode that allowed a user's last impersonation is tried first", async () => {
  const masters = user("admin", { groups: ["system:masters"] });
  const options = { authorizer: { authorize: () => ({ kind: "allow", reason: "" }) as const }, constrained: true };
  const lastModes = new LastModes();
  const made = (wanted: UserInfo) => impersonate({ ...options, lastModes }, masters, wanted, listPods);
  expect((await made(user("system:node:n1"))).user.groups).toEqual(["system:nodes", "system:authenticated"]);
  expect((await made(user("bob", { groups: ["system:masters"] }))).constraint).toBe("");
  expect((await made(user("system:node:n1"))).user.groups).toEqual(["system:authenticated"]);
});
