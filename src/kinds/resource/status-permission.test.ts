import { expect, test } from "bun:test";
import { resourceText } from "../../access/authorization/attributes.ts";
import type { Authorizer } from "../../access/authorization/authorizer.ts";
import type { JsonObject } from "../../api/json.ts";
import type { KubeObject } from "../../api/object-meta.ts";
import type { RuledWrite } from "../../registry/write-rule.ts";
import { statusPermissionRule } from "./status-permission.ts";

const account = "system:serviceaccount:n:driver";
const results = ["a", "b"].map((driver) => ({ request: "r", driver, pool: "p", device: "d" }));
const allocation = { devices: { results }, nodeSelector: nodes("n1") };
const [reportA, reportB] = ["a", "b"].map((driver) => ({ driver, pool: "p", device: "d" }));

function nodes(...values: string[]): JsonObject {
  return { nodeSelectorTerms: [{ matchFields: [{ key: "metadata.name", operator: "In", values }] }] };
}

/** Allows what is listed as `<verb> <resource> <namespace>/<name>`, and notes what is asked. */
function authorizerOf(allowed: readonly string[], asked: string[]): Authorizer {
  return {
    authorize(_, attributes) {
      if (attributes.kind === "nonResource") throw new Error("a path");
      const text = `${attributes.verb} ${resourceText(attributes)} ${attributes.namespace}/${attributes.name}`;
      asked.push(text);
      return allowed.includes(text) ? { kind: "allow", reason: "" } : { kind: "noOpinion", reason: "no rule" };
    },
  };
}

interface Case {
  readonly old?: JsonObject;
  readonly status: JsonObject;
  readonly allowed?: readonly string[];
  readonly write?: Partial<RuledWrite>;
  readonly hasDeviceStatus?: boolean;
}

async function judged({ old = {}, status, allowed = [], write, hasDeviceStatus = true }: Case) {
  const asked: string[] = [];
  const claims = { group: "resource.k8s.io", resource: "resourceclaims" };
  const rule = statusPermissionRule(claims, { authorizer: authorizerOf(allowed, asked), hasDeviceStatus });
  const claim = (content: JsonObject) => ({ metadata: {}, status: content }) as unknown as KubeObject;
  const errors = await rule?.({
    object: claim(status),
    old: claim(old),
    namespace: "n",
    subresource: "status",
    user: { name: account, uid: "", groups: [], extra: new Map() },
    verb: "patch",
    version: "v1",
    ...write,
  });
  return { asked, errors: errors?.map(({ field, message }) => `${field}: ${message}`) };
}

const bindClaim = "patch resourceclaims/binding /";
const reportAnywhere = "arbitrary-node:patch resourceclaims/driver n/a";
const reportHere = "associated-node:patch resourceclaims/driver n/a";
const onNode = (name: string) => ({
  user: { name: account, uid: "", groups: [], extra: new Map([["authentication.kubernetes.io/node-name", [name]]]) },
});

test.each<[change: string, asked: string[], change: Case]>([
  ["nothing", [], { old: { allocation }, status: { allocation, reservedFor: [] } }],
  ["the allocation", [bindClaim], { status: { allocation }, allowed: [bindClaim] }],
  ["reservations", [bindClaim], { old: { allocation }, status: { allocation, reservedFor: [{ uid: "u" }] } }],
  [
    "the report of a driver",
    [reportAnywhere],
    { old: { allocation }, status: { allocation, devices: [reportA] } as never },
  ],
  [
    "one report of two",
    ["arbitrary-node:patch resourceclaims/driver n/b"],
    { old: { allocation, devices: [reportA] } as never, status: { allocation, devices: [reportA, reportB] } as never },
  ],
  ["a removed report", [reportAnywhere], { old: { allocation, devices: [reportA] } as never, status: { allocation } }],
  [
    "a report with the gate off",
    [],
    { old: { allocation }, status: { allocation, devices: [reportA] } as never, hasDeviceStatus: false },
  ],
  ["a report without an allocation", [], { status: { devices: [reportA] } as never }],
  ["the allocation by the server", [], { status: { allocation }, write: { verb: undefined } }],
  ["the allocation through the object", [], { status: { allocation }, write: { subresource: "" } }],
])("a change of %s asks for %j", async (_, asked, change) => {
  expect((await judged(change)).asked).toEqual(asked);
});

test.each<[where: string, asked: string[], node: string, selector: JsonObject]>([
  ["on its node", [reportHere, reportAnywhere], "n1", nodes("n1")],
  ["on another node", [reportAnywhere], "n2", nodes("n1")],
  ["for two nodes", [reportAnywhere], "n1", nodes("n1", "n2")],
  ["for nodes with a label", [reportAnywhere], "n1", { nodeSelectorTerms: [{ matchExpressions: [{}] }] }],
])("a service account reports on a claim %s with %j", async (_, asked, node, nodeSelector) => {
  const mine = { allocation: { ...allocation, nodeSelector } };
  const status = { ...mine, devices: [reportA] } as never;
  expect((await judged({ old: mine, status, write: onNode(node) })).asked).toEqual(asked);
});

test("the permission for its own node is enough", async () => {
  const status = { allocation, devices: [reportA] } as never;
  const { errors } = await judged({ old: { allocation }, status, allowed: [reportHere], write: onNode("n1") });
  expect(errors).toEqual([]);
});

test("a refusal names the permission and the reason of the authorizer", async () => {
  const status = { allocation, devices: [reportA] } as never;
  expect((await judged({ status, write: onNode("n1") })).errors).toEqual([
    `status.allocation: Forbidden: changing status.allocation or status.reservedFor requires resource="resourceclaims/binding", verb="patch" permission: resourceclaims.resource.k8s.io is forbidden: User "${account}" cannot patch resource "resourceclaims/binding" in API group "resource.k8s.io" at the cluster scope: no rule`,
    `status.devices: Forbidden: changing status.devices requires resource="resourceclaims/driver", verb="[associated-node:patch arbitrary-node:patch]" permission: resourceclaims.resource.k8s.io "a" is forbidden: User "${account}" cannot associated-node:patch resource "resourceclaims/driver" in API group "resource.k8s.io" in the namespace "n": no rule`,
  ]);
});

test("an authorizer that fails allows nothing", async () => {
  const authorizer: Authorizer = { authorize: () => Promise.reject(new Error("no connection")) };
  const claims = { group: "resource.k8s.io", resource: "resourceclaims" };
  const rule = statusPermissionRule(claims, { authorizer, hasDeviceStatus: true });
  const write = { namespace: "n", subresource: "status", verb: "patch", version: "v1", ...onNode("n1") };
  const [object, old] = [{ metadata: {}, status: { allocation } }, { metadata: {} }] as unknown as [
    KubeObject,
    KubeObject,
  ];
  const [error] = (await rule?.({ ...write, object, old })) ?? [];
  expect(error?.message).toEndWith("at the cluster scope: no connection");
});
