import { expect, test } from "bun:test";
import { generateKeyPairSync, sign } from "node:crypto";
import type { JsonObject, JsonValue } from "../../api/json.ts";
import { changed, refusal, updateRefusal } from "../testing.ts";

const path = "certificates.k8s.io/v1beta1/podcertificaterequests";
const asked: JsonObject = {
  signerName: "example.com/mesh",
  podName: "web-0",
  podUID: "uid-1",
  serviceAccountName: "default",
  serviceAccountUID: "uid-2",
  nodeName: "node-1",
  nodeUID: "uid-3",
  maxExpirationSeconds: 3600,
};
const request: JsonObject = {
  spec: {
    ...asked,
    stubPKCS10Request:
      "MIGOMEICAQAwDzENMAsGA1UEAwwEamFuZTAqMAUGAytlcAMhADRAShCeL9hS6uoqouwd3ArxsK1qABSjZa/2O7ON1TyJoAAw" +
      "BQYDK2VwA0EAdJbZP07YVRJXihK9zTh4J17oQEe8zJnqBzd648KIlMnr9tn4CEZjPKrDVe5gyajhtm0y45+y3x1cKXwKr28o" +
      "AQ==",
  },
};
const omitted = 'Invalid value: "<value omitted>"';

test("a request with a stub that its key has signed is accepted", async () => {
  expect(await refusal(path, request)).toEqual([]);
});

test("a key and the pod's uid signed with it will do", async () => {
  expect(await refusal(path, { spec: { ...asked, ...provenKey("uid-1") } })).toEqual([]);
  expect(await refusal(path, { spec: { ...asked, ...provenKey("uid-2") } })).toEqual([
    `spec.proofOfPossession: ${omitted}: could not verify proof-of-possession signature`,
  ]);
});

test.each<[field: string, value: JsonValue | undefined, causes: string[]]>([
  [
    "spec.signerName",
    "mesh",
    [
      "spec.signerName: Invalid value: \"mesh\": must be a fully qualified domain and path of the form 'example.com/signer-name'",
    ],
  ],
  ["spec.podUID", "", ['spec.podUID: Invalid value: "": must not be empty']],
  ["spec.nodeUID", "x".repeat(129), ["spec.nodeUID: Too long: may not be more than 128 bytes"]],
  [
    "spec.maxExpirationSeconds",
    60,
    ["spec.maxExpirationSeconds: Invalid value: 60: must be in the range [3600, 7862400]"],
  ],
  ["spec.stubPKCS10Request", "AAAA", [`spec.stubPKCS10Request: ${omitted}: must be a valid PKCS#10 CSR`]],
  [
    "spec.stubPKCS10Request",
    undefined,
    [`spec: ${omitted}: exactly one of (stubPKCS10Request) or (pkixPublicKey, proofOfPossession) must be set`],
  ],
])("a PodCertificateRequest with %s = %j is refused", async (field, value, causes) => {
  expect(await refusal(path, changed(request, field, value))).toEqual(causes);
});

test("signers of the project itself sign for a day", async () => {
  const daily = changed(request, "spec.signerName", "kubernetes.io/kube-apiserver-client-pod");
  expect(await refusal(path, changed(daily, "spec.maxExpirationSeconds", 86_400))).toEqual([]);
  expect(await refusal(path, changed(daily, "spec.maxExpirationSeconds", 86_401))).toEqual([
    "spec.maxExpirationSeconds: Invalid value: 86401: must be in the range [3600, 86400]",
  ]);
});

test("one outcome at most is reported, and it stays", async () => {
  const outcome = (type: string) => ({ type, status: "True", reason: "R", lastTransitionTime: "2030-01-01T00:00:00Z" });
  const both = { ...request, status: { conditions: [outcome("Denied"), outcome("Failed")] } };
  expect(await updateRefusal(path, request, both, "status")).toEqual([
    'status.conditions.[1].type: Invalid value: "Failed": There may be at most one condition with type "Issued", "Denied", or "Failed"',
  ]);
  const other = { ...request, status: { conditions: [outcome("Approved")] } };
  expect(await updateRefusal(path, request, other, "status")).toEqual([
    'status.conditions.[0].type: Unsupported value: "Approved": supported values: "Issued", "Denied", "Failed"',
  ]);
});

function provenKey(signed: string): JsonObject {
  const { publicKey, privateKey } = generateKeyPairSync("ed25519");
  return {
    pkixPublicKey: publicKey.export({ type: "spki", format: "der" }).toString("base64"),
    proofOfPossession: sign(null, Buffer.from(signed), privateKey).toString("base64"),
  };
}
