import { describe, expect, test } from "bun:test";
import type { Authorize } from "./authorization.ts";
import { certificateApproval } from "./certificate-approval.ts";
import { certificateSigning } from "./certificate-signing.ts";
import { certificateSubjectRestriction } from "./certificate-subject-restriction.ts";
import { ownerReferencesPermissionEnforcement } from "./owner-references-permission-enforcement.ts";
import { attributes, verdict } from "./testing.ts";

/** Returns an authorizer that allows each `verb group/resource[/subresource] name`. */
const allowing =
  (...permissions: string[]): Authorize =>
  async (_user, { verb, group, resource, subresource, name }) => {
    const text = `${verb} ${group}/${resource}${subresource === "" ? "" : `/${subresource}`} ${name}`;
    return { allowed: permissions.includes(text), reason: "because" };
  };

const csr = "certificates.k8s.io/certificatesigningrequests";
const request = (status: object = {}) => ({ metadata: { name: "r" }, spec: { signerName: "example.com/s" }, status });
const signed = request({ certificate: "abc" });

describe.each([
  ["approve", "approval", certificateApproval, request({ conditions: [{ type: "Approved" }] })],
  ["sign", "status", certificateSigning, signed],
] as const)("to %s", (verb, subresource, make, object) => {
  const change = attributes(csr, { operation: "UPDATE", subresource, object, oldObject: request() });
  test.each([
    [
      [],
      `${csr.split("/")[1]}.certificates.k8s.io "r" is forbidden: user not permitted to ${verb} requests with signerName "example.com/s"`,
    ],
    [[`${verb} certificates.k8s.io/signers example.com/s`], undefined],
    [[`${verb} certificates.k8s.io/signers example.com/*`], undefined],
    [[`${verb} certificates.k8s.io/signers example.com/other`], expect.stringContaining("not permitted")],
  ])("with %j", async (permissions, expected) => {
    expect(await verdict(make({ authorize: allowing(...permissions) }), change)).toEqual(expected as never);
  });
});

test("a status without a certificate needs no permission to sign", async () => {
  const change = attributes(csr, { operation: "UPDATE", subresource: "status", object: signed, oldObject: signed });
  expect(await verdict(certificateSigning({ authorize: allowing() }), change)).toBeUndefined();
});

/**
 * Returns a PKCS #10 request with one organization: nested sequences, see RFC 2986. The other parts are irrelevant
 * here.
 */
function signingRequestPem(organization: string): string {
  const element = (tag: number, ...parts: Buffer[]) => {
    const content = Buffer.concat(parts);
    return Buffer.concat([Buffer.from([tag, content.length]), content]);
  };
  const attribute = element(0x30, element(6, Buffer.from("55040a", "hex")), element(0x0c, Buffer.from(organization)));
  const info = element(0x30, element(2, Buffer.from([0])), element(0x30, element(0x31, attribute)), element(0x30));
  const pem = `-----BEGIN CERTIFICATE REQUEST-----\n${element(0x30, info).toString("base64")}\n-----END CERTIFICATE REQUEST-----\n`;
  return Buffer.from(pem).toString("base64");
}

test.each([
  [
    "kubernetes.io/kube-apiserver-client",
    "system:masters",
    "use of kubernetes.io/kube-apiserver-client signer with system:masters group is not allowed",
  ],
  ["kubernetes.io/kube-apiserver-client", "system:nodes", undefined],
  ["example.com/s", "system:masters", undefined],
])("signer %s, organization %s: %p", async (signerName, organization, problem) => {
  const object = { metadata: { name: "r" }, spec: { signerName, request: signingRequestPem(organization) } };
  const message = await verdict(certificateSubjectRestriction(), attributes(csr, { object, namespace: "" }));
  const expected = `certificatesigningrequests.certificates.k8s.io "r" is forbidden: ${problem}`;
  expect(message).toBe(problem === undefined ? (undefined as never) : expected);
});

test.each(["", "!!", Buffer.from("-----BEGIN CERTIFICATE REQUEST-----\nMIIB\n-----END").toString("base64")])(
  "the invalid request %j is not checked here",
  async (nonsense) => {
    const spec = { signerName: "kubernetes.io/kube-apiserver-client", request: nonsense };
    const object = { metadata: { name: "r" }, spec };
    expect(await verdict(certificateSubjectRestriction(), attributes(csr, { object }))).toBeUndefined();
  },
);

describe("owner references", () => {
  const owner = (blockOwnerDeletion: boolean, kind = "Deployment") => ({
    apiVersion: "apps/v1",
    kind,
    name: "d",
    uid: "1",
    blockOwnerDeletion,
  });
  const owned = (...ownerReferences: object[]) => ({ metadata: { name: "p", ownerReferences } });
  const refused = 'pods "p" is forbidden: ';
  const finalizers = "update apps/deployments/finalizers d";
  test.each([
    ["none", owned(), [], undefined],
    [
      "one, without the right to delete",
      owned(owner(false)),
      [],
      "cannot set an ownerRef on a resource you can't delete: because, <nil>",
    ],
    ["one", owned(owner(false)), ["delete /pods "], undefined],
    [
      "one that blocks",
      owned(owner(true)),
      ["delete /pods "],
      "cannot set blockOwnerDeletion if an ownerReference refers to a resource you can't set finalizers on: because, <nil>",
    ],
    ["one that blocks, with the right to", owned(owner(true)), ["delete /pods ", finalizers], undefined],
    [
      "one of an unknown kind",
      owned(owner(true, "Nothing")),
      ["delete /pods "],
      'cannot set blockOwnerDeletion in this case because cannot find RESTMapping for APIVersion apps/v1 Kind Nothing: no matches for kind "Nothing" in version "apps/v1"',
    ],
  ])("%s", async (_, object, permissions, problem) => {
    const plugin = ownerReferencesPermissionEnforcement({
      authorize: allowing(...permissions),
      resourceOfKind: ({ kind }) => (kind === "Deployment" ? { resource: "deployments", namespaced: true } : undefined),
    });
    const message = await verdict(plugin, attributes("/pods", { object }));
    expect(message).toBe(problem === undefined ? (undefined as never) : refused + problem);
    const unchanged = attributes("/pods", { operation: "UPDATE", object, oldObject: object });
    expect(await verdict(plugin, unchanged)).toBeUndefined();
  });
});
